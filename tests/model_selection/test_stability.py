"""What the models of the folds say about the same rows, and what it does to the intervals."""

import pickle

import joblib
import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import BayesianCrossValidator, ConfusionCounts, cross_val_posterior
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import get_metric
from skuncertain.model_selection import CrossValPosterior, fold_interval, fold_posterior
from skuncertain.model_selection._cross_val_report import vanishing_texts
from skuncertain.model_selection._stability import (
    MOST_CLASSES,
    MOST_ROWS,
    Reference,
    Stability,
    alike,
    jackknife,
    spread_rows,
)

X, Y = make_classification(150, 6, n_informative=3, flip_y=0.2, random_state=3)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
ESTIMANDS = ("fitted", "algorithm", "final")


def random_folds(rng, k, n_repeats=1, rows=30):
    """Matrices of K folds, and of their models on K times as many rows."""
    share = rng.dirichlet([8, 2, 3, 7], size=k * n_repeats)
    folds = np.array([rng.multinomial(rows, p) for p in share]).reshape(-1, 2, 2)
    truth = np.array([k * rows // 2, k * rows - k * rows // 2])
    recall = rng.beta(12, 4, size=(k * n_repeats, 2))
    right = rng.binomial(truth, recall)
    (tn, tp), (fp, fn) = right.T, (truth - right).T
    return folds, np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], axis=-2)


# --------------------------------------------------------------------------------------------------
# The variance


def slope_of(metric, base):
    """Derivatives with respect to the cells, by differences; of F1 those of the Jaccard index."""
    value = get_metric("jaccard" if metric == "f1" else metric)
    slope = np.empty_like(base)
    for cell in np.ndindex(base.shape):
        step = np.zeros_like(base)
        step[cell] = 1e-4 * base[cell]
        change = value(base + step, positive=1) - value(base - step, positive=1)
        slope[cell] = change / (2 * step[cell])
    return slope


def needed_by_hand(folds, models, metric, n_repeats, estimand):
    """Variance over binomial variance, from the definition and in plain loops."""
    k, pooled = len(folds) / n_repeats, folds.sum(axis=0) / n_repeats
    d = slope_of(metric, pooled + 0.5)
    pairs = {"accuracy": ([3, 0], [1, 2]), "recall": ([3], [2]), "f1": ([3], [1, 2])}
    if metric in pairs:
        a, b = (folds.reshape(-1, 4)[:, cells].sum(axis=1) for cells in pairs[metric])
        hits, misses = a.sum() / n_repeats, b.sum() / n_repeats
        n = hits + misses
        rate = (hits + 0.5) / (n + 1)
        binomial = rate * (1 - rate) / n
        influence = (a - hits / n * (a + b)) / n
        fewest = min(hits, misses)
    else:
        binomial = ((pooled + 0.5) * d**2).sum()
        share = folds.sum(axis=(1, 2)) / pooled.sum()
        influence = (folds * d).sum(axis=(1, 2)) - share * (pooled * d).sum()
        fewest = min(np.trace(pooled), pooled.sum() - np.trace(pooled))
    between = k / (k - 1) * (influence**2).sum() / n_repeats

    def spread(values):
        return (k - 1) / k * ((values - values.mean()) ** 2).sum() / n_repeats

    rows, n = models[0].sum(), pooled.sum()
    shares = models.sum(axis=1) / rows
    smooth = (shares.mean(axis=0) * rows + 0.5) / (rows + 1)
    chance = (smooth * (1 - smooth)).sum() / n
    movement = sum(spread(shares[:, c]) for c in (0, 1)) / chance
    at = slope_of(metric, models.mean(axis=0) + 0.5)
    moved = spread((models * at).sum(axis=(1, 2)))

    shared = (1 + 1 / n_repeats) / 2
    factor = min(1.3 + 0.56 * np.log(max(movement / 2, 1)), 3.2)
    factor = 1 + shared * max(factor - 1, k / (k - 1) * 2 / (2 + fewest))
    unusual = stats.chi2.ppf(0.9, k - 1) / (k - 1)
    needed = factor * binomial + 1.5 * max(0.0, between - unusual * binomial)
    if estimand == "algorithm":
        needed += min(min(1, max(3 / k, 0.3)) * moved, 6 * binomial)
    if estimand == "final":
        needed += (k + 1) / (k - 1) ** 2 * moved
    return binomial / needed, movement


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
@pytest.mark.parametrize("metric", ["accuracy", "recall", "f1", "balanced_accuracy", "mcc"])
@pytest.mark.parametrize(("k", "n_repeats"), [(5, 1), (10, 1), (4, 3), (2, 1)])
def test_omega_from_the_definition(metric, k, n_repeats):
    rng = np.random.default_rng(k)
    for _ in range(5):
        folds, models = random_folds(rng, k, n_repeats)
        for estimand in ESTIMANDS:
            about = fold_posterior(
                folds, metric, estimand=estimand, stability_counts=models, n_repeats=n_repeats
            ).diagnostics
            omega, movement = needed_by_hand(folds, models, metric, n_repeats, estimand)
            assert about.omega == pytest.approx(omega, rel=1e-6)
            assert about.movement == pytest.approx(movement, rel=1e-9)


def test_models_that_are_all_alike_and_models_that_are_not():
    models = random_folds(np.random.default_rng(0), 10)[1]
    folds = np.tile([[12, 3], [4, 11]], (10, 1, 1))
    alike = np.repeat(models[:1], 10, axis=0)
    weights = [
        fold_posterior(folds, "recall", estimand=e, stability_counts=alike).diagnostics.omega
        for e in ESTIMANDS
    ]
    assert weights == pytest.approx([1 / 1.3] * 3)  # nothing moves: one answer to all questions
    half = models.copy()
    half[::2] = [[150, 0], [150, 0]]  # every other model never says 1
    wide = [fold_interval(folds, "recall", estimand=e, stability_counts=half) for e in ESTIMANDS]
    fitted, algorithm, final = (one.width for one in wide)
    assert fitted < algorithm
    assert fitted < final
    assert fold_interval(folds, "recall", stability_counts=alike).width < fitted


def test_no_jump_between_no_failure_and_one():
    for estimand in ESTIMANDS:
        low = []
        for failures in range(4):
            missed = np.zeros(10, dtype=int)
            missed[:failures] = 1
            folds = ConfusionCounts.from_binary(tp=10 - missed, fn=missed, fp=[1] * 10, tn=[9] * 10)
            low.append(fold_interval(folds, "recall", estimand=estimand).low)
        steps = -np.diff(low)
        assert np.all(steps > 0)  # one more failure is never good news
        assert steps[0] < 1.5 * steps[1]
    perfect = fold_posterior(np.tile([[9, 1], [0, 10]], (10, 1, 1)), "recall").diagnostics
    assert perfect.omega == pytest.approx(1 / (1 + 10 / 9))


def test_halves_take_the_noise_of_few_rows_out(global_random_seed):
    # On few rows models seem to differ more than they do. The products of two halves do not care.
    rng = np.random.default_rng(global_random_seed)
    noise = 0.01 * rng.standard_normal((4000, 10, 2))
    truth = 0.01 * rng.standard_normal((4000, 10, 1))
    expected = 0.9 * 9 * 0.01**2  # (K - 1) / K times the sum of squares, whose relative sd is 1/2
    whole = jackknife((truth + noise).mean(axis=-1, keepdims=True), 1).mean()
    assert whole == pytest.approx(1.5 * expected, rel=4 * 0.5 / np.sqrt(4000))
    free = jackknife(truth + noise, 1, share=0.0)
    # Cut off at 0, which products of this size rarely reach: 1 % above.
    assert free.mean() == pytest.approx(expected, rel=0.05)
    part = jackknife(truth + noise, 1, share=0.25)
    assert part.mean() == pytest.approx(free.mean() + 0.25 * (whole - free.mean()), rel=0.05)


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_stacks_are_answered_like_their_members():
    rng = np.random.default_rng(1)
    folds, models = zip(*(random_folds(rng, 5) for _ in range(6)), strict=True)
    folds, models = np.stack(folds).reshape(2, 3, 5, 2, 2), np.stack(models).reshape(2, 3, 5, 2, 2)
    for shape in (models, np.stack([models, models], axis=-3)):
        stack = fold_posterior(folds, "f1", estimand="algorithm", stability_counts=shape)
        for place in np.ndindex(2, 3):
            one = fold_posterior(
                folds[place], "f1", estimand="algorithm", stability_counts=shape[place]
            )
            np.testing.assert_allclose(
                [end[place] for end in stack.interval()], one.interval(), rtol=1e-12
            )


def test_counts_of_a_billion():
    folds = np.tile([[4 * 10**8, 10**8], [10**8, 4 * 10**8]], (5, 1, 1))
    models = folds.sum(axis=0) + np.arange(5)[:, None, None] * [[1, -1], [1, -1]] * 10**4
    found = fold_posterior(folds, "mcc", estimand="algorithm", stability_counts=models)
    assert 0 < found.diagnostics.omega < 1
    assert found.interval().low < 0.6 < found.interval().high


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (np.ones((4, 2, 2)), r"must have the shape of counts, \(5, 2, 2\)"),
        (np.ones((5, 3, 2, 2)), "must have the shape of counts"),
        (np.full((5, 2, 2), 0.5), "whole numbers of rows"),
        (np.full((5, 2, 2), -1), "whole numbers of rows"),
        (np.zeros((5, 2, 2)), "the same rows in every fold"),
        (np.arange(20).reshape(5, 2, 2), "the same rows in every fold"),
        ("many", "must be a number or a rectangular array"),
    ],
)
def test_matrices_that_cannot_be_meant(given, rule):
    folds = np.full((5, 2, 2), 4)
    with pytest.raises(InvalidParameterError, match=rule) as error:
        fold_posterior(folds, "f1", stability_counts=given)
    assert error.value.parameter == "stability_counts"
    with pytest.raises(InvalidParameterError, match="omega='auto' only"):
        fold_posterior(folds, "f1", omega="wang_li", stability_counts=folds)
    with pytest.raises(InvalidParameterError, match="method='pooled'"):
        fold_posterior(folds, "f1", method="t", stability_counts=folds)
    with pytest.raises(InvalidParameterError, match="method='pooled'"):
        fold_posterior([0.8, 0.9], stability_counts=folds)


# --------------------------------------------------------------------------------------------------
# Asking the models


def by_hand(estimator, X, y, cv):
    labels = np.unique(y)
    found = []
    for train, _ in cv.split(X, y):
        model = clone(estimator).fit(X[train], y[train])
        predicted = model.predict(X)
        found.append([[np.sum((y == t) & (predicted == p)) for p in labels] for t in labels])
    return np.array(found)


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (TREE, Y),
        (GaussianNB(), np.where(Y == 1, "yes", "no")),
        (RidgeClassifier(), 2 * Y - 1),
        (LogisticRegression(), np.array([0, 1, 2])[np.arange(150) % 3]),
    ],
    ids=["numbers", "names", "signs", "three"],
)
def test_matrices_of_every_model(estimator, y):
    cv = StratifiedKFold(4)
    bcv = BayesianCrossValidator(estimator, cv=cv).fit(X, y)
    np.testing.assert_array_equal(bcv.stability_.counts[:, 0], by_hand(estimator, X, y, cv))
    assert bcv.stability_.n_rows == 150
    assert not [key for key in bcv.cv_results_ if "reference" in key]
    assert "estimator" not in bcv.cv_results_


def test_a_cross_validation_is_what_its_matrices_say():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    bcv = BayesianCrossValidator(TREE, cv=cv, random_state=0).fit(X, Y)
    again = CrossValPosterior.from_counts(
        bcv.counts_, n_repeats=2, stability_counts=bcv.stability_.counts, random_state=0
    )
    for estimand in ESTIMANDS:
        for metric in ("accuracy", "f1", "mcc", "fpr"):
            found = bcv.interval(metric, estimand=estimand)
            assert found == again.interval(metric, estimand=estimand)
            assert found == fold_interval(
                bcv.counts_,
                metric,
                estimand=estimand,
                n_repeats=2,
                stability_counts=bcv.stability_.counts,
                random_state=0,
            )
    off = BayesianCrossValidator(TREE, cv=cv, stability=False).fit(X, Y)
    assert off.stability_ is None
    assert off.counts_ == bcv.counts_
    assert off.interval("f1") == fold_interval(bcv.counts_, "f1", n_repeats=2)


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("routing", [False, True])
def test_workers_and_routing_change_nothing(backend, routing):
    expected = BayesianCrossValidator(TREE, cv=4).fit(X, Y)
    with (
        joblib.parallel_config(backend=backend),
        sklearn.config_context(enable_metadata_routing=routing),
    ):
        found = BayesianCrossValidator(TREE, cv=4, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(found.stability_.counts, expected.stability_.counts)
    np.testing.assert_array_equal(found.stability_.margins, expected.stability_.margins)
    assert found.intervals_ == expected.intervals_


def test_a_parameter_like_others():
    bcv = BayesianCrossValidator(TREE, stability=False)
    assert clone(bcv).get_params()["stability"] is False
    found = pickle.loads(pickle.dumps(BayesianCrossValidator(TREE).fit(X, Y)))
    assert found.interval("f1", estimand="final").width > 0
    for value in (1, "yes", None):
        with pytest.raises(InvalidParameterError, match="stability must be"):
            BayesianCrossValidator(TREE, stability=value).fit(X, Y)
    assert cross_val_posterior(TREE, X, Y, stability=False).stability is None


def test_reference_rows():
    codes = np.repeat([0, 1, 2], [9000, 900, 100])
    rows = np.arange(10_000.0)[:, None]
    reference = Reference.of(rows, codes, (0, 1, 2))
    assert MOST_ROWS - 3 <= len(reference.y) <= MOST_ROWS
    np.testing.assert_array_equal(np.bincount(reference.y), [1800, 180, 20])
    np.testing.assert_array_equal(codes[reference.X[:, 0].astype(int)], reference.y)
    for half in (0, 1):
        np.testing.assert_array_equal(
            np.bincount(reference.y[reference.half == half]), [900, 90, 10]
        )
    again = Reference.of(rows, codes, (0, 1, 2))
    np.testing.assert_array_equal(again.X, reference.X)  # fixed: nothing is drawn
    few = Reference.of(rows[::20], codes[::20], (0, 1, 2))
    assert (len(few.y), few.n_halves) == (500, 1)
    assert spread_rows(np.array([0] * 99 + [1]), 10)[-1] == 99  # no class is left out


def test_many_rows_cost_few_predictions():
    rng = np.random.default_rng(0)
    many = rng.standard_normal((5000, 2))
    y = (many[:, 0] + rng.standard_normal(5000) > 0).astype(int)
    asked = []

    class Counting(GaussianNB):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    bcv = BayesianCrossValidator(Counting(), cv=5, refit=False).fit(many, y)
    assert sorted(asked) == [1000] * 5 + [bcv.stability_.n_rows] * 5
    assert bcv.stability_.n_rows <= MOST_ROWS
    assert bcv.stability_.counts.shape == (5, 2, 2, 2)
    # A stable learner stays one: 2,000 rows are no reason for a longer interval.
    assert bcv.posterior("accuracy").diagnostics.omega == pytest.approx(1 / 1.3)
    final = bcv.posterior("accuracy", estimand="final").diagnostics.omega
    assert final > 0.7


def test_very_many_classes_are_not_asked():
    y = np.resize(np.arange(MOST_CLASSES + 1), 4 * (MOST_CLASSES + 1))
    rows = np.eye(MOST_CLASSES + 1)[y]
    result = cross_val_posterior(GaussianNB(), rows, y, cv=2, metrics=["accuracy"])
    assert result.stability is None
    assert "the models have not predicted the same rows" in str(result.report())


# --------------------------------------------------------------------------------------------------
# Learners that collapse


def test_a_class_that_is_never_predicted():
    counts = np.tile([[60, 0], [30, 10]], (5, 1, 1))[:, None]
    assert Stability(counts, ("no", "yes")).vanishing() == []
    counts[2] = [[60, 0], [40, 0]]
    assert Stability(counts, ("no", "yes")).vanishing() == [("yes", None)]
    # A class that does not occur among the rows is nobody's loss.
    counts = np.tile([[60, 0], [0, 0]], (5, 1, 1))[:, None]
    assert Stability(counts, ("no", "yes")).vanishing() == []


def test_surest_rows_that_may_change_sides():
    counts = np.tile([[60, 5], [30, 10]], (4, 1, 1))[:, None]
    margins = np.array([[0.9, 0.10], [0.9, 0.14], [0.9, 0.08], [0.9, 0.12]])
    ((label, errors),) = Stability(counts, (0, 1), margins).vanishing()
    spread = np.sqrt(0.75 * np.sum((margins[:, 1] - 0.11) ** 2))
    assert label == 1
    assert errors == pytest.approx(0.11 / spread)
    margins[:, 1] += 0.5
    assert Stability(counts, (0, 1), margins).vanishing() == []


def _with_errors(errors, n_folds=10):
    """Margins of ten models with mean 1/2, that many standard errors away from 0."""
    away = np.linspace(-1, 1, n_folds)
    spread = np.sqrt((n_folds - 1) / n_folds * np.sum(away**2))
    return 0.5 + away * 0.5 / (errors * spread)


def test_models_that_repeat_each_other_are_watched_more_closely():
    """One rule in all folds hides what another sample would choose; models that differ show it."""
    same = np.tile([[60, 5], [30, 10]], (10, 1, 1))[:, None]
    differ = np.array([[[60 - 2 * k, 5 + 2 * k], [30, 10]] for k in range(10)])[:, None]
    assert (alike(same, 1), alike(differ, 1)) == (1.0, 0.0)
    for counts, limit in ((same, 4.0), (differ, 3.0)):
        for errors, warned in ((0.9 * limit, True), (1.1 * limit, False)):
            margin = _with_errors(errors)
            margins = np.column_stack([1 - margin, margin])
            found = Stability(counts, (0, 1), margins).vanishing()
            assert [label for label, _ in found] == ([0, 1] if warned else [])
            assert all(value == pytest.approx(errors) for _, value in found)


def test_margins_are_those_of_the_surest_rows():
    cv = StratifiedKFold(3)
    bcv = BayesianCrossValidator(LogisticRegression(), cv=cv).fit(X, Y)
    for k, (train, _) in enumerate(cv.split(X, Y)):
        share = LogisticRegression().fit(X[train], Y[train]).predict_proba(X)[:, 1]
        for c, sign in enumerate((-1, 1)):
            margin = np.sort(sign * (2 * share - 1))
            assert bcv.stability_.margins[k, c] == pytest.approx(margin[int(0.98 * 149)])
    ridge = BayesianCrossValidator(RidgeClassifier(), cv=cv).fit(X, Y)  # decisions, no shares
    assert np.isfinite(ridge.stability_.margins).all()


class OnlyLabels(DecisionTreeClassifier):
    """A classifier whose scores cannot be had."""

    def predict_proba(self, X, check_input=True):
        raise RuntimeError("no scores today")


def test_learners_without_scores():
    bcv = BayesianCrossValidator(OnlyLabels(max_depth=2, random_state=0), cv=4).fit(X, Y)
    assert bcv.stability_.margins is None
    assert bcv.stability_.vanishing() == []
    assert bcv.interval("f1").width > 0


def test_the_report_says_it():
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((100, 5))
    y = np.repeat([0, 1], [70, 30])
    rows[y == 1, 0] += 0.5
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    weak = cross_val_posterior(stump, rows, y, cv=10)
    assert weak.stability.vanishing()
    assert "may stop predicting it on another sample of this size" in str(weak.report())
    strong = cross_val_posterior(GaussianNB(), rows + 3 * y[:, None], y, cv=10)
    text = str(strong.report())
    assert "may stop predicting" not in text
    assert "the 10 models agree" in text


def test_many_classes_that_may_vanish_are_told_together():
    counts = np.tile(np.diag([9, 9, 0, 0, 0, 0, 0, 0]), (4, 4, 1, 1))
    counts[..., 2:, 0] = 5
    (text,) = vanishing_texts(Stability(counts, tuple(range(8))))
    assert text.startswith("6 classes, such as 2, 3, 4, 5, 6, are never or hardly predicted")
    assert "may stop predicting them" in text
