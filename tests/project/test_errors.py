"""Wrong arguments: the error knows which parameter it is about, here and in another process."""

import ast
import importlib
import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import MethodType

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import skuncertain
from skuncertain import comparison, coverage, display, metrics, model_selection, planning
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.monitoring import SequentialPosterior
from skuncertain.posteriors import BetaPosterior

Y, P = [0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0]
S = [0.1, 0.6, 0.7, 0.9, 0.4, 0.2]
X = np.arange(12.0).reshape(6, 2)
COUNTS = metrics.ConfusionCounts.from_predictions(Y, P)
THREE = metrics.ConfusionCounts([[5, 1, 0], [1, 6, 1], [0, 2, 7]], labels=["a", "b", "c"])
FOLDS = metrics.ConfusionCounts([COUNTS.counts] * 4)
POSTERIOR = COUNTS.posterior("recall")
RESULT = comparison.compare(COUNTS, COUNTS, metric="recall")
BOARD = comparison.leaderboard({"a": COUNTS, "b": COUNTS}, metric="recall")
THRESHOLDS = metrics.intervals_at_thresholds(Y, S)
SEARCH = {
    **{f"split{k}_test_score": np.array([0.7 + k / 100, 0.8]) for k in range(3)},
    "params": [{"C": 1}, {"C": 2}],
}
Z = coverage.BinomialPopulation(0.9)
RATIOS = {"precision": 0.9, "recall": 0.9, "weight": 10}
RATES = {"recall": 0.9, "specificity": 0.9, "prevalence": 0.5}


def _validator(**options):
    return model_selection.BayesianCrossValidator(LogisticRegression(), cv=2, **options).fit


CASES = [
    # One test set
    (metrics.credible_interval, (Y, P), {"level": 95}, "level"),
    (metrics.credible_interval, (Y, P), {"kind": "hpd"}, "kind"),
    (metrics.credible_interval, (Y, P), {"metric": "recal"}, "metric"),
    (metrics.credible_interval, (Y, P), {"prior": "jeffrey"}, "prior"),
    (metrics.credible_interval, (Y, P), {"prior": -1}, "prior"),
    (metrics.credible_interval, (Y, P), {"model": "row"}, "model"),
    (metrics.credible_interval, (Y, P), {"prevalence": 5}, "prevalence"),
    (metrics.credible_interval, (Y, P), {"labels": [1, 2]}, "labels"),
    (metrics.credible_interval, (Y, P), {"labels": 3}, "labels"),
    (metrics.credible_interval, (Y, P), {"pos_label": 3}, "pos_label"),
    (metrics.credible_interval, (Y, P), {"sample_weight": [1]}, "sample_weight"),
    (metrics.credible_interval, (Y, P), {"groups": [1]}, "groups"),
    (metrics.credible_interval, (Y, P), {"n_draws": 0, "metric": "mcc"}, "n_draws"),
    (metrics.credible_interval, (Y, P), {"random_state": "x", "metric": "mcc"}, "random_state"),
    (metrics.credible_interval, (Y,), {}, "y_pred"),
    (metrics.credible_interval, (Y, P[1:]), {}, "y_pred"),
    (metrics.credible_interval, ([None, *Y[1:]], P), {}, "y_true"),
    (metrics.credible_interval, (Y, S), {}, "y_pred"),
    (metrics.credible_interval, (THREE,), {"metric": "f1"}, "pos_label"),
    (metrics.metric_posterior, (COUNTS,), {"groups": Y}, "groups"),
    (metrics.metric_posterior, (Y, P), {"metric": lambda y, p: 1}, "metric"),
    (metrics.confidence_interval, (COUNTS,), {"metric": "recall", "level": 1}, "level"),
    (metrics.confidence_interval, (COUNTS,), {"metric": "recall", "method": "w"}, "method"),
    (
        metrics.confidence_interval,
        (COUNTS,),
        {"metric": "recall", "method": "bootstrap", "n_resamples": 0},
        "n_resamples",
    ),
    (metrics.proportion_posterior, (-1, 2), {}, "successes"),
    (metrics.proportion_posterior, (1, 2.5), {}, "failures"),
    (metrics.prior_from_metrics, (), {**RATIOS, "accuracy": 2}, "accuracy"),
    (metrics.interval_report, (Y, P), {"digits": -1}, "digits"),
    (metrics.interval_report, (Y, P), {"target_names": ["one"]}, "target_names"),
    (metrics.interval_report, (FOLDS,), {}, "y_true"),
    (metrics.ConfusionCounts, ([[1, 2], [3]],), {}, "counts"),
    (metrics.ConfusionCounts, ([[0.5, 0.5], [0.1, 0.9]],), {}, "counts"),
    (metrics.ConfusionCounts, ([[1, 2], [3, 4]],), {"labels": "ab"}, "labels"),
    (metrics.ConfusionCounts.from_binary, (), {"tp": -1, "fn": 0, "fp": 0, "tn": 0}, "tp"),
    (COUNTS.posterior, ("recall",), {"pos_label": "x"}, "pos_label"),
    (COUNTS.posterior, (["recall"],), {}, "metric"),
    (COUNTS.score, ("recall",), {"zero_division": "warn"}, "zero_division"),
    (COUNTS.joint_posterior, ([],), {}, "metrics"),
    (FOLDS.sum, (), {"axis": 3}, "axis"),
    (metrics.make_metric, (3,), {}, "function"),
    (metrics.make_metric, (np.sum,), {"range": (1, 0)}, "range"),
    (metrics.get_metric, ("fbeta",), {"beta": -1}, "beta"),
    (metrics.get_metric_names, (), {"n_classes": "two"}, "n_classes"),
    (metrics.ConfusionCountsScorer, (), {"metrics": "recal"}, "metrics"),
    (metrics.make_bound_scorer, ("recall",), {"bound": "middle"}, "bound"),
    (POSTERIOR.interval, (95,), {}, "level"),
    (POSTERIOR.quantile, (2,), {}, "q"),
    (POSTERIOR.predictive, (0,), {}, "n"),
    (BetaPosterior, (-1, 2), {}, "a"),
    (BetaPosterior, (1, 2), {"about": []}, "about"),
    # Scores
    (metrics.auc_posterior, (Y, S[1:]), {}, "y_true"),
    (metrics.auc_posterior, (Y, [np.nan, *S[1:]]), {}, "y_score"),
    (metrics.auc_posterior, (Y, S), {"method": "wald"}, "method"),
    (metrics.auc_posterior, (Y, S), {"n_draws": 100}, "n_draws"),
    (metrics.auc_posterior, (Y, S), {"pooling": "folds"}, "pooling"),
    (metrics.average_precision_posterior, ([1] * 6, S), {}, "y_true"),
    (metrics.roc_band, (Y, S), {"band": "wide"}, "band"),
    (metrics.precision_recall_band, (Y, S), {"prevalence": 1.5}, "prevalence"),
    (metrics.intervals_at_thresholds, (Y, S), {"thresholds": "x"}, "thresholds"),
    (metrics.intervals_at_thresholds, (Y, LogisticRegression()), {}, "X"),
    (metrics.intervals_at_thresholds, (Y, LogisticRegression()), {"X": X}, "y_score"),
    (metrics.intervals_at_thresholds, (Y, S), {"metrics": []}, "metrics"),
    (metrics.net_benefit_curve, (Y, S), {"thresholds": [0, 0.5]}, "thresholds"),
    (metrics.net_benefit_curve, (Y, S), {"thresholds": [0.5, np.nan]}, "thresholds"),
    (metrics.net_benefit_curve, (Y, S), {"prevalence": 20}, "prevalence"),
    (metrics.net_benefit_curve, (Y, S), {"prior": 0}, "prior"),
    (metrics.net_benefit_curve, (Y, [9 * s for s in S]), {}, "y_proba"),
    (metrics.net_benefit_curve, (Y, P), {}, "y_proba"),
    (metrics.net_benefit_curve, (Y, [np.nan, *S[1:]]), {}, "y_proba"),
    (metrics.net_benefit_curve, ([1] * 6, S), {}, "y_true"),
    (THRESHOLDS.best, ("mcc",), {}, "metric"),
    (THRESHOLDS.operating_point, (0.123,), {}, "threshold"),
    # Folds and searches
    (model_selection.fold_posterior, (COUNTS, "recall"), {}, "counts"),
    (model_selection.fold_posterior, (FOLDS, "recall"), {"omega": 2}, "omega"),
    (model_selection.fold_posterior, (FOLDS, "recall"), {"method": "pool"}, "method"),
    (model_selection.fold_posterior, (FOLDS, "recall"), {"n_repeats": 3}, "n_repeats"),
    (model_selection.fold_posterior, (["x", "y"],), {"method": "nadeau_bengio"}, "counts"),
    (model_selection.fold_interval, (FOLDS, "recall"), {"level": 0}, "level"),
    (_validator(level=0), (X, Y), {}, "level"),
    (_validator(metrics=[]), (X, Y), {}, "metrics"),
    (_validator(omega=3), (X, Y), {}, "omega"),
    (_validator(labels=[0, 2]), (X, Y), {}, "labels"),
    (_validator(), (X, [0] * 6), {}, "y"),
    (_validator(), (X, None), {}, "y"),
    (model_selection.cross_val_posterior, (LogisticRegression(), X, Y), {"prior": "x"}, "prior"),
    (model_selection.nested_cv_intervals, (LogisticRegression(), X, Y), {"n_folds": 2}, "n_folds"),
    (
        model_selection.conservative_z_intervals,
        (LogisticRegression(), X, Y),
        {"test_size": 10},
        "test_size",
    ),
    (model_selection.CrossValPosterior.from_cv_results, (3,), {}, "cv_results"),
    (model_selection.search_posterior, (3,), {}, "search"),
    (model_selection.search_posterior, (SEARCH,), {"n_repeats": 2}, "n_repeats"),
    (model_selection.search_posterior, (SEARCH,), {"n_repeats": 3}, "test_train_ratio"),
    (model_selection.search_posterior, (SEARCH,), {"rope": -1}, "rope"),
    (model_selection.search_posterior, (SEARCH,), {"rope": 5}, "rope"),
    (model_selection.search_posterior, ({**SEARCH, "params": [1]},), {}, "search"),
    (
        model_selection.simplest_equivalent,
        (),
        {"metric": "score", "rope": 0.01, "complexity": 3},
        "complexity",
    ),
    (model_selection.best_lower_bound, (3,), {}, "metric"),
    (model_selection.selection_corrected_score, (Y, [P]), {}, "predictions"),
    (model_selection.selection_corrected_score, (Y, [P, P]), {"level": 2}, "level"),
    # Comparisons
    (comparison.compare, (COUNTS, COUNTS), {"metric": "recall", "rope": 5}, "rope"),
    (comparison.compare, (COUNTS, COUNTS), {"metric": "prevalence"}, "metric"),
    (comparison.compare, (COUNTS, COUNTS), {}, "metric"),
    (comparison.compare, (Y, P), {"metric": "recall"}, "a"),
    (comparison.compare_paired, (Y, P, Y), {"names": "ab"}, "names"),
    (comparison.compare_paired, (Y, P, Y[1:]), {}, "pred_b"),
    (comparison.compare_cv, ([0.7, 0.8], [0.7]), {}, "b"),
    (comparison.compare_cv, ([0.7, 0.8], [0.7, 0.9]), {"n_repeats": 3}, "n_repeats"),
    (comparison.compare_cv, ([0.7, np.inf], [0.7, 0.9]), {}, "a"),
    (comparison.compare_auc, (Y, S, S), {"average": "mean"}, "average"),
    (comparison.compare_datasets, ([0.7, 0.8], [0.7]), {}, "b"),
    (comparison.compare_datasets, ([0.7], [0.7]), {}, "a"),
    (comparison.compare_datasets, ([0.7, np.nan], [0.7, 0.8]), {}, "a"),
    (comparison.compare_datasets, ([0.7, 0.8], [0.7, -np.inf]), {}, "b"),
    (comparison.leaderboard, ({"a": COUNTS},), {"metric": "recall"}, "results"),
    (comparison.leaderboard, ({"a": 1, "b": 2},), {"metric": "recall"}, "results"),
    (comparison.leaderboard, ({"a": FOLDS, "b": FOLDS},), {"metric": "recall"}, "results"),
    (BOARD.expected_prize, ("x",), {}, "prizes"),
    (RESULT.report, (), {"level": 7}, "level"),
    # Plans, monitoring, coverage
    (planning.required_sample_size, (), {"expected": 90, "width": 0.1}, "expected"),
    (planning.required_sample_size, (), {"expected": (2, 9), "width": 0.1}, "expected"),
    (planning.required_sample_size, (), {"expected": 0.9, "width": 2}, "width"),
    (
        planning.required_sample_size,
        (),
        {"metric": "mcc", "expected": 0.9, "width": 0.1},
        "expected",
    ),
    (planning.expected_width, (0,), {"expected": 0.9}, "n"),
    (planning.expected_width, (10,), {"expected": 0.9, "power": 0}, "power"),
    (planning.comparison_sample_size, (), {"difference": 0.1}, "disagreement"),
    (
        planning.comparison_sample_size,
        (),
        {"difference": 0.1, "disagreement": 0.2, "metric": "mcc"},
        "metric",
    ),
    (SequentialPosterior, ("recall",), {"discount": 2}, "discount"),
    (SequentialPosterior, ("recall",), {"rope": 5}, "rope"),
    (SequentialPosterior, ("recall",), {"anytime": "yes"}, "anytime"),
    (SequentialPosterior, ("recall",), {"anytime": True, "discount": 0.5}, "discount"),
    (SequentialPosterior, ("recall",), {"anytime": True, "threshold": 85}, "threshold"),
    (SequentialPosterior, ("recall",), {"threshold": 0.9}, "threshold"),
    (SequentialPosterior, ("kappa",), {"anytime": True}, "metric"),
    (SequentialPosterior("recall").update, (Y,), {}, "y_pred"),
    (SequentialPosterior("recall", labels=[0, 1]).update, ([2], [1]), {}, "y_true"),
    (coverage.BinomialPopulation, (2,), {}, "p"),
    (coverage.MultinomialPopulation, ([[1, 2], [3, 4]],), {}, "matrix"),
    (coverage.MarkovPopulation, (), {**RATES, "hit_correlation": 1}, "hit_correlation"),
    (coverage.coverage_study, (["wilso"], Z), {"n": 5}, "methods"),
    (coverage.coverage_study, ({"mine": 3}, Z), {"n": 5}, "methods"),
    (coverage.coverage_study, (["wilson"], Z), {"n": 0}, "n"),
    (coverage.coverage_study, (["wilson"], Z), {"n": 5, "level": 95}, "level"),
    # Displays
    (display.IntervalDisplay.from_counts, (3,), {}, "counts"),
    (display.IntervalDisplay.from_leaderboard, (3,), {}, "board"),
    (display.PosteriorDisplay.from_posterior, (3,), {}, "posterior"),
    (display.PosteriorDisplay.from_counts, (COUNTS,), {"ax": 3}, "ax"),
    (display.ComparisonDisplay.from_comparison, (3,), {}, "result"),
    (display.ComparisonDisplay.from_comparison, (RESULT,), {"level": 95}, "level"),
    (display.FoldDisplay.from_cross_validation, ({},), {}, "results"),
    (display.JointDisplay.from_counts, (COUNTS,), {"metrics": ["recall"]}, "metrics"),
    (display.RankDisplay.from_search, (3,), {}, "search"),
    (display.CoverageDisplay.from_study, (3,), {}, "study"),
    (display.CoverageDisplay.from_intervals, (3, [1]), {}, "intervals"),
    (display.RocBandDisplay.from_band, ({},), {}, "bands"),
    (display.ThresholdDisplay.from_intervals, (3,), {}, "intervals"),
    (display.NetBenefitDisplay.from_curve, (3,), {}, "curves"),
    (display.NetBenefitDisplay.from_estimator, (3, X, Y), {}, "estimator"),
    (display.SequentialDisplay.from_history, (3,), {}, "history"),
    (display.RocBandDisplay.from_estimator, (3, X, Y), {}, "estimator"),
]
_NAMES = [f"{getattr(call, '__qualname__', 'scorer')}-{name}" for call, _, _, name in CASES]


def _parameters(call):
    """Names that somebody has typed: of the function and, of a method, of its class."""
    names = set(inspect.signature(call).parameters)
    if isinstance(call, MethodType) and not isinstance(call.__self__, type):
        names |= set(inspect.signature(type(call.__self__)).parameters)
    if not callable(getattr(call, "__qualname__", None)) and call is metrics.get_metric:
        names |= {"metric", "beta", "cost", "threshold", "weights"}  # its keywords
    return names


@pytest.mark.parametrize(("call", "args", "options", "parameter"), CASES, ids=_NAMES)
def test_the_error_knows_its_parameter(call, args, options, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        call(*args, **options)
    error = caught.value
    assert (error.parameter, parameter in _parameters(call)) == (parameter, True)
    words = {"search": "cv_results"}.get(parameter, parameter), parameter.removesuffix("s")
    assert any(word in str(error) for word in words)
    assert str(error) == " ".join(filter(None, [error.message, error.remedy]))
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is InvalidParameterError
    kept = (back.message, back.parameter, back.remedy, str(back))
    assert kept == (error.message, error.parameter, error.remedy, str(error))


def test_there_are_enough_cases():
    assert len(CASES) >= 60
    assert len({call for call, *_ in CASES}) >= 40


def _public_parameters():
    """Names of all parameters of public functions, classes and their methods."""
    rooms = "metrics model_selection comparison posteriors planning monitoring coverage display app"
    names = {"beta", "cost", "threshold", "weights"}  # keywords of get_metric
    for room in rooms.split():
        module = importlib.import_module(f"skuncertain.{room}")
        for found in (getattr(module, name) for name in module.__all__):
            members = [getattr(found, name) for name in dir(found) if not name.startswith("_")]
            methods = filter(inspect.isroutine, members if isinstance(found, type) else ())
            for call in filter(callable, [found, *methods]):
                names |= set(inspect.signature(call).parameters)
    return names


def test_errors_are_about_parameters_that_somebody_can_type():
    names, wrong = _public_parameters(), []
    for path in Path(skuncertain.__file__).parent.rglob("*.py"):
        if path.parent.name in ("_io", "_cli"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            function = getattr(getattr(node, "func", None), "id", None)
            if function == "InvalidParameterError":
                parts = [part.value for part in node.keywords if part.arg == "parameter"]
                parts += node.args[1:2]
            else:
                parts = node.args[1:2] if function == "refuse_if" else []
            parts = [part.value for part in parts if isinstance(part, ast.Constant)]
            wrong += [(path.name, node.lineno, part) for part in parts if part not in names]
    assert wrong == []


def _fail(level):
    return POSTERIOR.interval(level)


def test_an_error_comes_back_from_another_process():
    with ProcessPoolExecutor(1) as pool, pytest.raises(InvalidParameterError) as caught:
        pool.submit(_fail, 95).result()
    assert caught.value.parameter == "level"


def test_an_error_of_a_file_has_the_same_parts():
    error = pickle.loads(pickle.dumps(TableFileError("t.csv: no class.", "labels", "Name all.")))
    assert (str(error), error.parameter) == ("t.csv: no class. Name all.", "labels")
    assert (error.message, error.remedy) == ("t.csv: no class.", "Name all.")
    assert TableFileError("t.csv is empty.").remedy == ""


# --------------------------------------------------------------------------------------------------
# Odd values, all of them found by fuzzing

RAGGED = [[1, 2], [3]]
HUGE = 10**400
UNSHOWN = 10**5000  # Python writes no integer of more than 4300 digits
SPAN = np.timedelta64(3, "D")  # an integer, says numpy
MASKED = np.ma.array(Y, mask=[0, 1, 0, 0, 0, 0])


class Unshown:
    def __repr__(self):
        raise RuntimeError("no repr")


REFUSED = [
    (lambda: metrics.get_metric_names(n_classes=[1, 2]), "n_classes"),
    (lambda: metrics.credible_interval(Y, P, level=np.full((9, 9), 0.5)), "level"),
    (lambda: metrics.credible_interval(Y, P, labels=RAGGED), "labels"),
    (lambda: metrics.credible_interval(Y, P, labels=3.5), "labels"),
    (lambda: metrics.credible_interval(Y, P, pos_label=np.zeros(3)), "pos_label"),
    (lambda: metrics.credible_interval(Y, P, pos_label=float("nan")), "pos_label"),
    (lambda: metrics.credible_interval(Y, P, sample_weight={"a": None}), "sample_weight"),
    (lambda: metrics.credible_interval(Y, P, groups=np.zeros((2, 2))), "groups"),
    (lambda: metrics.credible_interval([0, [1], 1, 0, 1, 1], P), "y_true"),
    (lambda: metrics.credible_interval(np.array(Y) * 1e300, P), "y_true"),
    (lambda: metrics.credible_interval(np.array(Y) * 1j, P), "y_true"),
    (lambda: metrics.metric_posterior(Y, P, metric="x" * 5000), "metric"),
    (lambda: metrics.metric_posterior(Y, P, metric=lambda: 1), "metric"),
    (lambda: metrics.metric_posterior(Y, P, prior=RAGGED), "prior"),
    (lambda: metrics.proportion_posterior(3, 4, prior=1e308), "prior"),
    (lambda: BetaPosterior("a", 1), "shape a"),
    (lambda: BetaPosterior(1, HUGE), "shape b"),
    (lambda: BetaPosterior([1, 2], [1, 2, 3]), "shapes a and b"),
    (lambda: BetaPosterior(1, 2, odds=-HUGE), "odds"),
    (lambda: COUNTS.posterior("f1").quantile(RAGGED), "q"),
    (lambda: COUNTS.posterior("f1").cdf("x"), "x"),
    (lambda: COUNTS.posterior("f1").pdf(1j), "x"),
    (lambda: COUNTS.posterior("f1").prob(-HUGE, 1), "low"),
    (lambda: COUNTS.posterior("f1").prob([0, 0], [1, 1, 1]), "low and high"),
    (lambda: FOLDS.posterior("f1").cdf([0.1, 0.2]), "x"),
    (lambda: COUNTS.posterior("f1").predictive(10**30), "n"),
    (lambda: COUNTS.joint_posterior(5), "metrics"),
    (lambda: COUNTS.score("f1", zero_division=HUGE), "zero_division"),
    (lambda: FOLDS.sum(0.5), "axis"),
    (lambda: metrics.ConfusionCounts.from_binary(tp=b"3", fn=1, fp=1, tn=1), "tp"),
    (lambda: metrics.ConfusionCounts.from_binary(tp=[1, 2], fn=[1, 2, 3], fp=1, tn=1), "cells"),
    (lambda: metrics.get_metric("f1")([["a", 1], [2, 3]]), "matrix"),
    (lambda: metrics.get_metric("f1")([[1, 1], [2, 3]], positive=1.5), "positive"),
    (lambda: metrics.get_metric("f1")([[1, 1], [2, 3]], positive=-1), "positive"),
    (lambda: metrics.get_metric("expected_cost", cost=RAGGED), "cost"),
    (lambda: metrics.get_metric("kappa", weights=np.zeros(2)), "weights"),
    (lambda: metrics.make_metric(len, range=(1, "a")), "range"),
    (lambda: metrics.make_metric(len, name=5), "name"),
    (lambda: metrics.make_metric(len, greater_is_better="yes"), "greater_is_better"),
    (lambda: model_selection.fold_posterior(FOLDS, "f1", estimand=np.zeros(2)), "estimand"),
    (lambda: model_selection.fold_posterior(FOLDS, "f1", rho=RAGGED), "rho"),
    (lambda: model_selection.fold_posterior(RAGGED, method="t"), "counts"),
    (
        lambda: model_selection.fold_posterior(
            [0.1, 0.2], method="nadeau_bengio", n_train=RAGGED, n_test=1
        ),
        "n_tr",
    ),
    (lambda: comparison.compare(COUNTS, COUNTS, metric="f1", rope=np.zeros(2)), "rope"),
    (lambda: comparison.compare_cv([0.1, 0.2], [0.1, 0.2], names=np.zeros((9, 9))), "names"),
    (lambda: comparison.compare_cv([0.1, 0.2], [0.1, [0.2]]), "scores of b"),
    (
        lambda: comparison.compare_datasets([0.1, 0.2], [0.1, 0.2], n_repeats=np.zeros(2)),
        "n_repeats",
    ),
    (lambda: comparison.compare_paired(Y, P, Y, metric="f1", n_draws=10**30), "n_draws"),
    (lambda: planning.comparison_sample_size(difference=5e-324, disagreement=0.5), "rows"),
    (lambda: metrics.confidence_interval(COUNTS, stratified=np.zeros(2)), "stratified"),
    (lambda: coverage.coverage_study(["wilson"], coverage.BinomialPopulation(0.5), n=RAGGED), "n"),
    (
        lambda: coverage.coverage_study(
            ["wilson"], coverage.BinomialPopulation(0.5), n=9, n_replications=10**30
        ),
        "n_replications",
    ),
    (lambda: coverage.coverage_study(5, coverage.BinomialPopulation(0.5), n=9), "methods"),
    (lambda: coverage.MultinomialPopulation([[0.5, [0.1]], [0.2, 0.2]]), "matrix"),
    (lambda: comparison.leaderboard(5, metric="f1"), "results"),
    (lambda: comparison.leaderboard([COUNTS, COUNTS], metric="f1").expected_prize(["a"]), "prizes"),
    (lambda: metrics.interval_report(COUNTS, target_names=5), "target_names"),
    (lambda: metrics.interval_report(COUNTS).to_json(indent=RAGGED), "indent"),
    (lambda: model_selection.selection_corrected_score(Y, lambda: 1), "predictions"),
    (lambda: COUNTS.posterior("f1").sample(10**30), "size"),
    (lambda: metrics.make_bound_scorer("f1", prior=RAGGED), "prior"),
    (lambda: comparison.compare_cv([0.1, 0.2], [0.1, 0.3], rope=1e308), "rope"),
    (lambda: comparison.compare_cv([0.1, 0.2], [0.1, 0.3], n_train=RAGGED, n_test=1), "n_train"),
    (lambda: metrics.ConfusionCounts.from_predictions([0], [1], labels=[0, Unshown()]), "y_pred"),
    (
        lambda: model_selection.search_posterior(
            {"split0_test_score": [0.1, 0.2], "split1_test_score": [0.1, 0.2], "params": len}
        ),
        "params",
    ),
    (lambda: model_selection.selection_corrected_score([0], [[0], [1]], labels=[0, 1]), "y_true"),
    (lambda: metrics.roc_band(Y, [0.1, 0.9, 0.3, 0.2, 0.8, 0.7]).at("x"), "fpr"),
    (
        lambda: metrics.intervals_at_thresholds(Y, [0, 1, 0, 0, 1, 1], [0.5]).operating_point(
            [1, 2]
        ),
        "threshold",
    ),
    (lambda: metrics.make_bound_scorer("f1", pos_label=np.zeros(2)), "pos_label"),
    (lambda: model_selection.most_probable_best("score", test_train_ratio="x"), "test_train_ratio"),
    (lambda: SequentialPosterior("f1").update(RAGGED, [0, 1]), "y_true"),
    (lambda: metrics.credible_interval(Y, P, level=UNSHOWN), "level"),
    (lambda: metrics.credible_interval(Y, P, level=SPAN), "level"),
    (lambda: metrics.credible_interval(Y, P, level=1 - 2**-53), "level"),
    (lambda: metrics.credible_interval(Y, P, prior=SPAN), "prior"),
    (lambda: metrics.credible_interval(Y, P, kind=UNSHOWN), "kind"),
    (lambda: metrics.credible_interval(Y, P, pos_label=UNSHOWN), "pos_label"),
    (lambda: metrics.credible_interval(Y, P, pos_label=memoryview(bytearray(2))), "pos_label"),
    (lambda: metrics.credible_interval(Y, P, random_state=SPAN), "random_state"),
    (lambda: metrics.credible_interval(Y, P, random_state=UNSHOWN), "random_state"),
    (lambda: metrics.credible_interval(Y, P, labels={0, 1}), "labels.*set"),
    (lambda: metrics.credible_interval(Y, P, labels=b"ab"), "labels"),
    (lambda: metrics.credible_interval(Y, P, labels=["x" * 5000] * 2), "labels must be distinct"),
    (lambda: metrics.credible_interval(MASKED, P), "y_true.*masked"),
    (lambda: metrics.credible_interval(Y, MASKED), "y_pred.*masked"),
    (lambda: metrics.credible_interval(Y, P, sample_weight=MASKED), "sample_weight.*masked"),
    (lambda: metrics.credible_interval(Y, P, groups=MASKED), "groups.*masked"),
    (lambda: metrics.credible_interval(np.arange(6).astype("M8[ns]"), P), "y_true.*dates"),
    (lambda: metrics.credible_interval(np.arange(6).astype("m8[s]"), P), "y_true.*dates"),
    (lambda: metrics.credible_interval([UNSHOWN, *Y[1:]], P), "y_true"),
    (lambda: metrics.auc_posterior(Y, MASKED), "y_score.*masked"),
    (lambda: metrics.credible_interval(Y, P, groups=Y, model=np.zeros(2)), "model"),
    (lambda: metrics.ConfusionCounts(COUNTS.counts, labels=[0, UNSHOWN]), "labels"),
    (lambda: comparison.compare_datasets([0.1, 0.2], [0.1, 1e308]), "scores"),
    (lambda: comparison.compare_cv([0.1, 0.2], [0.1, 1e308]), "scores"),
    (
        lambda: comparison.compare_datasets([0.1, 0.2], np.ma.array([0.1, 0.2], mask=[0, 1])),
        "scores",
    ),
    (lambda: metrics.roc_band([UNSHOWN, *Y[1:]], Y), "label|class"),
    (
        lambda: metrics.ConfusionCounts(np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])),
        "counts",
    ),
    (lambda: metrics.ConfusionCounts.from_binary(tp=np.ma.masked, fn=1, fp=1, tn=1), "tp.*masked"),
    (lambda: metrics.ConfusionCounts.from_binary(tp=np.ones((1,) * 31), fn=1, fp=1, tn=1), "tp"),
    (lambda: BetaPosterior(np.ones((1,) * 31), 1), "shape a"),
    (lambda: BetaPosterior(1, 2, odds=UNSHOWN), "odds"),
    (lambda: model_selection.fold_posterior(np.zeros((0, 0)), method="t"), "fold scores"),
    (
        lambda: model_selection.fold_posterior([0.1, 0.2], method="t", n_repeats=UNSHOWN),
        "n_repeats",
    ),
    (lambda: metrics.get_metric("f1")([[5]]), "matrix"),
    (
        lambda: comparison.leaderboard([COUNTS, COUNTS], metric="f1").expected_prize([np.inf, 1]),
        "prizes",
    ),
    (lambda: metrics.interval_report(COUNTS, target_names={"a", "b"}), "target_names"),
    (lambda: metrics.interval_report(COUNTS, target_names=np.eye(2)), "target_names"),
    (lambda: metrics.metric_posterior(Y, P, prevalence=np.ones((1,) * 31)), "prevalence"),
    (
        lambda: model_selection.selection_corrected_score(
            Y, [P, Y], metric=metrics.make_metric(lambda p: np.full(p.shape[:-2], np.nan))
        ),
        "metric.*NaN",
    ),
    (
        lambda: model_selection.search_posterior(
            {"split0_test_score": [0.1], "split2_test_score": [0.2]}
        ),
        "cv_results",
    ),
    (
        lambda: model_selection.search_posterior(
            {"split0_test_score": [0.1], "split1_test_score": [0.2, 0.3]}
        ),
        "cv_results",
    ),
]


@pytest.mark.parametrize(("call", "word"), REFUSED)
def test_bad_input_is_refused_in_one_line_that_names_it(call, word):
    with pytest.raises((TypeError, ValueError), match=word) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500


def test_an_object_without_a_repr_is_named_by_its_type():
    with pytest.raises(TypeError, match=r"level.*Unshown"):
        metrics.credible_interval(Y, P, level=Unshown())
