"""Reports of cross-validations, comparisons, leaderboards and searches: their numbers."""

import re

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

from report_cases import (
    CHANCES,
    FOLDS,
    GRID,
    MODELS,
    NB,
    PETS,
    RATES,
    TREE,
    TWO,
    X,
    Y,
    ends,
    quiet,
    rows_of,
    same,
    score_table,
    shared_rows,
    table,
    two_models,
    value,
)
from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_cv,
    compare_paired,
    interval_report,
    leaderboard,
    required_sample_size,
    search_posterior,
)
from skuncertain.comparison import compare_datasets
from skuncertain.metrics import make_metric
from skuncertain.model_selection import CrossValPosterior, fold_interval, fold_posterior
from skuncertain.planning import comparison_sample_size, expected_width
from skuncertain.posteriors import BetaPosterior

# --------------------------------------------------------------------------------------------------
# Cross-validation

REPEATED = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cv", "omega", "prior"),
    [
        (6, "auto", 1.0),
        (6, "wang_li", 1.0),
        (6, "auto", 0.5),
        (6, 0.7, "jeffreys"),
        (6, "auto", np.array([[3.0, 1.0], [0.5, 2.0]])),
        (REPEATED, "auto", 1.0),
        (REPEATED, "wang_li", 2.0),
    ],
)
def test_cross_validation(cv, omega, prior):
    options = {"omega": omega, "prior": prior, "random_state": 0}
    bcv = BayesianCrossValidator(NB, cv=cv, level=0.9, refit=False, **options).fit(X, Y)
    report, counts = bcv.report(), bcv.counts_
    repeats = 1 if cv == 6 else 3
    models = {"stability_counts": bcv.stability_.counts}
    known = {**options, **(models if omega == "auto" else {})}
    for name, row in table(report).items():
        posterior = fold_posterior(counts, name, n_repeats=repeats, **known)
        same(ends(row["interval"]), posterior.interval(0.9))
        same(row["omega"], posterior.diagnostics.omega)
        values = np.array([one.score(name) for one in counts])
        same(row["pooled"], counts.sum().score(name))
        same(row["mean"], values.mean())
        same([row["lowest_fold"], row["highest_fold"]], [values.min(), values.max()])
        same([fold[name] for fold in rows_of(report, "folds")], values)
    assert list(table(report)) == ["accuracy", "precision", "recall", "f1", "mcc"]
    assert [fold["n"] for fold in rows_of(report, "folds")] == counts.n.tolist()
    # The rates of the confusion matrix have the intervals of the metrics that they are.
    rates = rows_of(report, "confusion")
    for row, metric in zip(rates, RATES, strict=True):
        same(ends(row["rate"]), bcv.interval(metric))
        same(row["rate"]["value"], counts.sum().score(metric))
    same([row["count"] for row in rates], counts.counts.sum(axis=0).ravel() / repeats)
    # Methods side by side.
    row = table(report, "methods")["recall"]
    settings = {"level": 0.9, "n_repeats": repeats}
    own = {"averaged": {"prior": prior}, "dirichlet": {"prior": "auto"}, "corrected_t": {}}
    for method, more in own.items():
        same(ends(row[method]), fold_interval(counts, "recall", method=method, **settings, **more))
    resampled = fold_interval(
        counts, "recall", method="bootstrap", n_draws=1000, random_state=0, **settings
    )
    same(ends(row["bootstrap"]), resampled)
    for other, more in (("auto", models), ("wang_li", {})):
        expected = fold_interval(counts, "recall", omega=other, prior=prior, **settings, **more)
        same(ends(row[other]), expected)
    # The three questions.
    for estimand, found in list(table(report, "questions")["recall"].items())[1:]:
        expected = fold_interval(
            counts, "recall", estimand=estimand, prior=prior, **settings, **models
        )
        same(ends(found), expected)
    assert str(report) == str(interval_report(bcv))


def test_cross_validation_of_three_classes():
    rows, classes = load_iris(return_X_y=True)
    bcv = BayesianCrossValidator(NB, cv=5, metrics=["accuracy"]).fit(rows, classes)
    cells = rows_of(bcv.report(kind="hdi"), "confusion")
    for k in range(3):
        same(ends(cells[4 * k]["rate"]), bcv.interval("recall", kind="hdi", pos_label=k))


@quiet
def test_other_methods():
    bcv = BayesianCrossValidator(NB, cv=5, method="nadeau_bengio", random_state=0).fit(X, Y)
    report = bcv.report()
    same(ends(table(report)["f1"]["interval"]), bcv.interval("f1"))
    assert re.search(r"^prior +none$", str(report), flags=re.MULTILINE)
    # Rates have no fold values to make a t of.
    pooled = fold_interval(bcv.counts_, "recall", stability_counts=bcv.stability_.counts)
    same(ends(rows_of(report, "confusion")[3]["rate"]), pooled)
    assert "intervals of the rates are pooled with omega auto and prior 1" in report.to_markdown()


def test_splits_that_cannot_be_pooled():
    cv = ShuffleSplit(8, test_size=0.2, random_state=0)
    report = BayesianCrossValidator(NB, cv=cv, method="nadeau_bengio").fit(X, Y).report()
    assert "methods" not in report.to_dict()["sections"]
    assert "- the folds cannot be pooled" in str(report)
    assert all("low" not in row["rate"] for row in rows_of(report, "confusion"))


def test_finished_cross_validation_and_level():
    results = cross_validate(NB, X, Y, scoring=ConfusionCountsScorer(), return_indices=True)
    posterior = CrossValPosterior.from_cv_results(results, metrics=["f1", "npv"], random_state=0)
    for given in ({}, {"level": 0.5}, {"kind": "hdi"}, {"level": 0.8, "kind": "hdi"}):
        report = interval_report(posterior, **given)
        for name, row in table(report).items():
            same(ends(row["interval"]), posterior.interval(name, **given))
            published = posterior.interval(name, omega="wang_li", **given)
            same(ends(table(report, "methods")[name]["wang_li"]), published)
        assert f"{given.get('level', 0.95) * 100:g} %" in str(report)
        assert f"({given.get('kind', 'eti')})" in str(report)
    del results["indices"]
    assumed = CrossValPosterior.from_cv_results(results, n_repeats=1).report()
    assert "5 folds (assumed to partition the rows)" in str(assumed)


@pytest.mark.parametrize(
    "result",
    [
        compare(*TWO, metric="recall", rope=0.01),
        compare(*TWO, metric="fpr", rope=0.02),  # less is better
        compare(*TWO, metric="cohen_kappa", n_draws=500, random_state=1),
        compare_paired(*two_models()),
        compare_paired(*two_models(), metric="f1", rope=0.02, n_draws=800, random_state=0),
        compare_cv(*FOLDS, rope=0.01, names=("x", "y")),
        compare_cv(*FOLDS, n_repeats=2),
    ],
    ids=["recall", "fpr", "drawn", "paired", "paired f1", "folds", "repeated"],
)
def test_comparisons(result):
    for given in ({}, {"level": 0.8, "kind": "hdi"}):
        report = interval_report(result, **given)
        (row,) = table(report).values()
        same(ends(row["value"]), result.interval(**given))
        same(row["value"]["value"], result.difference.median())
        same([value(row[name]) for name in CHANCES], [getattr(result, name) for name in CHANCES])
        # What was counted has an error.
        assert isinstance(row["p_better"], dict) == (not result.difference.exact)
        assert f"{result.names[1]} - {result.names[0]}" in str(report)
        if not result.difference.exact:
            assert f"seed {result.difference.seed}" in str(report)
    # The areas of the plot are named by who is better there, also if less is better.
    left, _, right = report.to_dict()["sections"]["difference"]["figure"]["areas"]
    a, b = result.names if result.greater_is_better else result.names[::-1]
    assert (left[0], right[0]) == (f"{a} better", f"{b} better")
    same(left[1], result.difference.cdf(-result.rope), atol=1e-6)
    same(right[1], 1 - result.difference.cdf(result.rope), atol=1e-6)


def test_stack_of_comparisons():
    many = ConfusionCounts([[[30, 5], [4, 40]], [[28, 7], [9, 35]], [[33, 2], [1, 43]]])
    result = compare(PETS.posterior("accuracy"), many.posterior("accuracy"), rope=0.01)
    rows = table(result.report(level=0.9))
    assert list(rows) == ["B - A [0]", "B - A [1]", "B - A [2]"]
    same([ends(row["value"]) for row in rows.values()], np.transpose(result.interval(0.9)))
    same([row["p_better"] for row in rows.values()], result.p_better)


@pytest.mark.parametrize("folds", [True, False])
def test_datasets(folds):
    rng = np.random.default_rng(0)
    a = rng.uniform(0.7, 0.8, size=(6, 10) if folds else 6)
    b = a + rng.normal(0.01, 0.02, size=a.shape)
    result = compare_datasets(a, b, rope=0.01, random_state=4, n_draws=2000)
    report = interval_report(result, level=0.8, kind="hdi")
    for name, expected in (("signed rank", result.signed_rank), ("sign", result.sign)):
        same([value(table(report, "tests")[name][key]) for key in CHANCES], expected)
    cells = [row["difference"] for row in rows_of(report, "datasets")]
    same([value(cell) for cell in cells], result.differences)
    if folds:
        intervals = np.transpose(result.per_dataset.interval(0.8, "hdi"))
        same([ends(cell) for cell in cells], intervals)


@pytest.mark.parametrize(
    "board",
    [
        leaderboard(MODELS, metric="f1", level=0.9, kind="hdi"),
        leaderboard(MODELS, metric="fpr"),
        leaderboard(MODELS, metric="mcc", n_draws=2000, random_state=1),
        shared_rows(n_draws=1000, random_state=0),
    ],
    ids=["exact", "less is better", "drawn", "shared rows"],
)
def test_leaderboards(board):
    report = interval_report(board)
    assert list(table(report)) == [board.names[k] for k in board.order()]
    for k, name in enumerate(board.names):
        row, ranks = table(report)[name], table(report, "ranks")[name]
        same(ends(row["mean"]), board.interval(name))
        same(row["mean"]["value"], board.mean[k])
        numbers = [row[key] for key in ("p_best", "rank", "loss")]
        expected = [board.p_best[k], board.expected_rank[k], board.expected_loss[k]]
        same([value(cell) for cell in numbers], expected)
        assert all(isinstance(cell, dict) == (board.n_draws is not None) for cell in numbers)
        shown = [value(ranks[f"rank {place + 1}"]) for place in range(len(board.names))]
        same(shown, board.rank_probabilities[k])
        for j, other in enumerate(board.names):
            pair = table(report, "pairs")[name][f"better than {other}"]
            same(value(pair), board.pairwise[k, j])
    assert board.method in str(report)


def test_models_of_the_same_name():
    board = leaderboard({1: TWO[0], "1": TWO[1], "x": MODELS["boost"]}, metric="f1")
    order = board.order()
    same(board.report().to_frame("pairs").to_numpy(), board.pairwise[np.ix_(order, order)])


def test_leaderboard_of_posteriors_with_different_priors():
    models = {prior: PETS.posterior("accuracy", prior=prior) for prior in ("jeffreys", "laplace")}
    assert "laplace" in leaderboard(models).report().to_dict()["settings"]["prior"]


@pytest.fixture(scope="module")
def searches():
    """Finished searches of several kinds."""
    scorer = ConfusionCountsScorer(metrics=["f1"])
    depths = {"max_depth": [1, 2, 3, 4, 5, 6]}
    found = {
        "counts": GridSearchCV(TREE, GRID, cv=5, scoring=scorer, refit="f1"),
        "repeated": GridSearchCV(TREE, GRID, cv=REPEATED, scoring=scorer, refit="f1"),
        "plain": GridSearchCV(TREE, GRID, cv=5, scoring="balanced_accuracy"),
        "random": RandomizedSearchCV(TREE, GRID, n_iter=2, cv=5, random_state=0),
        "halving": HalvingGridSearchCV(TREE, depths, cv=4, random_state=0),
    }
    return {name: search.fit(X, Y) for name, search in found.items()}


@quiet
@pytest.mark.parametrize("name", ["counts", "repeated", "plain", "random", "halving"])
def test_searches(searches, name):
    search = searches[name]
    result = search_posterior(search, random_state=0)
    report = interval_report(result)
    rows = {row["index"]: row for row in rows_of(report, "candidates")}
    gaps, folds = table(report, "differences"), report.to_frame("folds")
    assert sorted(rows) == np.flatnonzero(np.isfinite(result.p_best)).tolist()
    assert np.all(np.diff([result.expected_rank[k] for k in rows]) >= 0)
    best = search.best_index_
    repeats = {"n_repeats": result.n_repeats}
    for k, row in rows.items():
        label = row["candidate"]
        assert (label, row["selected"]) == (result.names[k], k == best)
        same(ends(row["mean"]), (result.low[k], result.high[k]))
        same(value(row["p_best"]), result.p_best[k])
        assert row["equivalent"] == result.equivalent[k]
        same(folds[label], result.scores[k])
        if k != best:
            sizes = {"n_train": 1.0, "n_test": result.test_train_ratio}
            pair = compare_cv(result.scores[best], result.scores[k], rope=0.01, **sizes, **repeats)
            same(ends(gaps[label]["difference"]), pair.interval(), atol=1e-9)
            expected = [getattr(pair, key) for key in CHANCES]
            same([gaps[label][key] for key in CHANCES], expected, atol=1e-9)
    counted = name in ("counts", "repeated")
    assert ("confusion" in report.to_dict()["sections"]) == counted
    if counted:
        for row, metric in zip(rows_of(report, "confusion"), RATES, strict=True):
            same(ends(row["rate"]), fold_interval(result.counts[best], metric, **repeats))
        same(ends(rows[best]["mean"]), fold_interval(result.counts[best], "f1", **repeats))
        assert "240 rows" in str(report)
    assert ("halving search: only" in str(report)) == (name == "halving")
    # Another level and kind are a matter of the posterior.
    expected = search_posterior(search, random_state=0, level=0.8, kind="hdi")
    for row in rows_of(expected.report(), "candidates"):
        same(ends(row["mean"]), (expected.low[row["index"]], expected.high[row["index"]]))


class StubbornTree(DecisionTreeClassifier):
    """Fails to fit with one depth."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth == 2:
            raise ValueError("no")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_failed_candidates():
    search = GridSearchCV(StubbornTree(random_state=0), GRID, cv=4, error_score=np.nan)
    with pytest.warns(FitFailedWarning):
        search.fit(X, Y)
    report = search_posterior(search).report()
    assert [row["index"] for row in rows_of(report, "candidates")] in ([0, 2], [2, 0])
    assert "- 1 of 3 candidates have missing scores and are left out" in str(report)


def test_candidates_of_the_same_name():
    scores = [[0.7, 0.71, 0.72], [0.6, 0.65, 0.64], [0.8, 0.82, 0.83]]
    params = [{"a": 1}, {"a": "1"}, {"a": 2}]
    report = search_posterior(score_table(scores, params=params)).report()
    same(report.to_frame("folds").to_numpy().T, [scores[2], scores[0], scores[1]])


class Verbose:
    """Parameter that counts how often it is printed."""

    printed = 0

    def __str__(self):
        Verbose.printed += 1
        return f"value {id(self)}"


def test_names_of_candidates_are_made_once():
    scores = np.random.default_rng(0).normal(0.8, 0.02, (50, 5))
    params = [{"a": Verbose()} for _ in range(50)]
    search_posterior(score_table(scores, params=params), n_draws=50).report()
    assert Verbose.printed <= 10 * 50


@pytest.mark.parametrize(
    ("plan", "named"),
    [
        (
            required_sample_size(metric="recall", expected=0.9, width=0.1, prevalence=0.2),
            {"real positives needed": "n", "rows that bring them on average": "rows_on_average"},
        ),
        (expected_width(50, expected=0.8), {"median width": "median", "mean width": "mean"}),
        (
            comparison_sample_size(difference=0.1, disagreement=0.2),
            {"rows that both models predict needed": "n", "chance of a success": "chance"},
        ),
    ],
    ids=["sample size", "width", "comparison"],
)
def test_plans(plan, named):
    report = interval_report(plan, digits=4)
    assert str(report) == str(plan.report(digits=4))
    rows = table(report)
    same([rows[what]["value"] for what in named], [getattr(plan, name) for name in named.values()])
    assert "Plan" in plan._repr_html_()


def test_counts_by_metric():
    report = PETS.report(["recall", "mcc", "recall"], level=0.9, kind="hdi", pos_label="cat")
    rows = table(report)
    assert list(rows) == ["recall", "matthews_corrcoef"]
    for name, row in rows.items():
        posterior = PETS.posterior(name, pos_label="cat")
        same(ends(row["score"]), posterior.interval(0.9, "hdi"))
        same(row["score"]["value"], PETS.score(name, pos_label="cat"))
    assert "positive class  cat: 40 real, 45 predicted" in str(report)
    elsewhere = table(PETS.report("precision", prevalence=0.01))["precision"]["value"]
    posterior = PETS.posterior("precision", prevalence=0.01)
    same(ends(elsewhere), posterior.interval())
    (tn, fp), (fn, tp) = PETS.counts  # Bayes' theorem
    alarms = 0.01 * tp / (tp + fn), 0.99 * fp / (fp + tn)
    same(elsewhere["value"], alarms[0] / sum(alarms))
    files = PETS.report("precision", prevalence=BetaPosterior(3, 197))
    assert files.to_dict()["settings"]["prevalence"] == {"a": 3.0, "b": 197.0}
    assert "prevalence      Beta(3, 197)" in str(files)
    assert "population with prevalence Beta(3, 197)?" in files.to_html()
    assert str(PETS.report(random_state=0)) == str(interval_report(PETS, random_state=0))
    with pytest.raises(ValueError, match="prevalence needs metrics"):
        PETS.report(prevalence=0.1)


@pytest.mark.parametrize("model", ["dirichlet", "three_beta"])
def test_table_of_chosen_metrics_by_hand(model):
    """Every number of the table: ratios of the counts, and quantiles of the Betas by SciPy."""
    (tn, fp), (fn, tp) = PETS.counts
    parts = {"recall": (tp, fn), "specificity": (tn, fp), "prevalence": (tp + fn, fp + tn)}
    lam = dict.fromkeys(parts, 1)
    if model == "dirichlet":
        parts |= {"accuracy": (tp + tn, fp + fn), "precision": (tp, fp), "npv": (tn, fn)}
        lam = dict.fromkeys(parts, 1) | {"prevalence": 2, "accuracy": 2}  # cells on either side
    report = PETS.report(list(parts), prior=1, model=model, level=0.9)
    rows = table(report)
    assert list(rows) == list(parts)
    for name, (right, wrong) in parts.items():
        known = stats.beta(right + lam[name], wrong + lam[name]).ppf([0.05, 0.95])
        score = rows[name]["score"]
        assert score["value"] == pytest.approx(right / (right + wrong), rel=1e-12)
        assert ends(score) == pytest.approx(known, rel=1e-8)
        shown = f"{score['value']:.3f} [{known[0]:.3f}, {known[1]:.3f}]"
        assert shown in PETS.report(name, prior=1, model=model, level=0.9, digits=3).to_markdown()


def test_metric_called_split():
    mine = make_metric(lambda m: m[..., 1, 1] / m[..., 1, :].sum(-1), name="split", range=(0, 1))
    bcv = BayesianCrossValidator(NB, cv=3, metrics=[mine], random_state=0).fit(X, Y)
    assert [row["split"] for row in rows_of(bcv.report(), "folds")] == [0, 1, 2]
