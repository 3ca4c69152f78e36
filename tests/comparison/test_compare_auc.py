"""Areas of two models and of cross-validators."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from auc_cases import delong_covariance, influence, pairs, sample, three_classes
from skuncertain import BayesianCrossValidator
from skuncertain.comparison import compare_auc
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    precision_recall_band,
    roc_band,
)

# --------------------------------------------------------------------------------------------------
# Two models


def two_models(seed, digits=None, m1=40, m0=50):
    y, one = sample(seed, m1, m0, digits=digits)
    rng = np.random.default_rng(seed + 1)
    two = 0.6 * one + 0.5 * y + rng.normal(scale=0.8, size=y.size)
    return y, one, two if digits is None else two.round(digits)


def two_sided(result):
    """DeLong's p-value, as the docstring says."""
    return 2 * min(result.p_worse, result.p_better) + result.p_equivalent


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_comparison_by_all_pairs(digits, global_random_seed):
    y, one, two = two_models(global_random_seed, digits)
    result = compare_auc(y, one, two, names=("old", "new"))
    gap = roc_auc_score(y, two) - roc_auc_score(y, one)
    spread = np.sqrt(
        delong_covariance(y, one, one)
        + delong_covariance(y, two, two)
        - 2 * delong_covariance(y, one, two)
    )
    assert result.difference.mean() == pytest.approx(gap, abs=1e-12)
    assert result.difference.scale == pytest.approx(spread, rel=1e-8)
    plain = compare_auc(y, one, two, method="delong")
    assert plain.difference.std() == pytest.approx(spread, rel=1e-8)
    p_value = 2 * stats.norm.sf(abs(gap) / spread)
    assert two_sided(plain) == pytest.approx(p_value, rel=1e-5)
    expected = stats.norm(gap, spread).ppf([0.025, 0.975])
    np.testing.assert_allclose(plain.interval(), expected, atol=1e-8)
    assert result.p_equivalent == plain.p_equivalent == 0
    expected = stats.t(39, gap, spread)
    np.testing.assert_allclose(result.interval(), expected.ppf([0.025, 0.975]), atol=1e-8)
    rope = compare_auc(y, one, two, rope=0.03)
    assert rope.p_worse == pytest.approx(expected.cdf(-0.03), abs=1e-8)
    assert rope.p_better == pytest.approx(expected.sf(0.03), abs=1e-8)
    assert rope.p_worse + rope.p_equivalent + rope.p_better == pytest.approx(1)
    assert (result.n, result.names, result.metric) == (y.size, ("old", "new"), "roc_auc")
    text = str(result.report())
    assert "roc_auc" in text
    assert "DeLong" in text


def test_comparison_is_antisymmetric(global_random_seed):
    y, one, two = two_models(global_random_seed)
    ab, ba = compare_auc(y, one, two, rope=0.01), compare_auc(y, two, one, rope=0.01)
    assert ab.p_better == pytest.approx(ba.p_worse, abs=1e-12)
    assert ab.p_equivalent == pytest.approx(ba.p_equivalent, abs=1e-12)
    np.testing.assert_allclose(ab.interval(), -np.array(ba.interval())[::-1], atol=1e-12)
    negated = compare_auc(y, -one, -two, rope=0.01)
    assert negated.p_worse == pytest.approx(ab.p_better, abs=1e-12)


def test_same_scores_are_equivalent_for_sure():
    for shift in (1, 100):  # with errors, and without any
        y, score = sample(0, shift=shift)
        result = compare_auc(y, score, score)
        assert (result.p_worse, result.p_equivalent, result.p_better) == (0, 1, 0)
        assert two_sided(result) == 1
        assert result.difference.mean() == 0
        assert result.interval() == (0, 0)
        assert "equivalent in roc_auc with probability 1.00" in repr(result)


def test_two_different_perfect_rankings_are_not_surely_equal():
    y, score = sample(0, 10, 10, shift=100)
    other = score.copy()
    other[np.flatnonzero(y)[:2]] = other[np.flatnonzero(y)[1::-1]]
    result = compare_auc(y, score, other)
    assert result.p_equivalent == 0
    assert result.p_better == pytest.approx(0.5)
    low, high = result.interval()
    # Twice the variance of what one perfect ranking leaves open.
    t = stats.t(9).ppf(0.975)
    assert high == pytest.approx(t * np.sqrt(2 * stats.beta(10.5, 0.5).var()), rel=1e-6)
    assert low == pytest.approx(-high)
    assert 0 < compare_auc(y, score, other, rope=0.05).p_equivalent < 1


def test_nearly_perfect_rankings_are_not_surely_different():
    y, score = sample(0, 12, 12, shift=100)
    other = score.copy()
    order = np.argsort(score)
    other[order[[11, 12]]] = other[order[[12, 11]]]
    result = compare_auc(y, score, other)
    plain = np.sqrt(delong_covariance(y, other, other))
    assert result.difference.std() > 2 * plain
    assert 0.3 < result.p_better < 0.5
    y, _, two = two_models(0)
    assert compare_auc(y, two, 10 * y).p_better > 0.99  # perfect against mediocre


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_comparison_of_several_classes(average):
    y, one = three_classes(0)
    two = one + np.random.default_rng(5).normal(scale=0.15, size=one.shape)
    result = compare_auc(y, one, two, average=average)
    gap = auc_posterior(y, two, average=average).observed
    gap -= auc_posterior(y, one, average=average).observed
    assert result.difference.mean() == pytest.approx(gap)
    share = np.full(3, 1 / 3) if average == "macro" else np.bincount(y) / y.size
    moved = sum(
        share[k] * (influence(y == k, two[:, k]) - influence(y == k, one[:, k])) for k in range(3)
    )
    plain = compare_auc(y, one, two, average=average, method="delong")
    assert plain.difference.std() == pytest.approx(np.linalg.norm(moved), rel=1e-8)
    # The spread of all classes counts two rows in that of each.
    gaps = [influence(y == k, two[:, k]) - influence(y == k, one[:, k]) for k in range(3)]
    seen, sizes = np.array([gap @ gap for gap in gaps]), np.bincount(y)
    typical = np.average(sizes * seen, weights=sizes - 1) / sizes
    raised = np.maximum(seen, (2 * typical + (sizes - 1) * seen) / (sizes + 1))
    variance = moved @ moved + share**2 @ (raised - seen)
    assert result.difference.scale**2 == pytest.approx(variance, rel=1e-8)
    terms = share**2 * raised
    assert result.difference.df == pytest.approx(terms.sum() ** 2 / (terms**2 / (sizes - 1)).sum())
    assert result.metric.startswith("roc_auc_ovr")
    alike = compare_auc(y, one, one**3, average=average)
    assert alike.p_equivalent == 1


def test_comparison_errors():
    y, one, two = two_models(0)
    with pytest.raises(ValueError, match="names must be two names"):
        compare_auc(y, one, two, names="AB")
    with pytest.raises(ValueError, match="rope must be in units of roc_auc"):
        compare_auc(y, one, two, rope=2)
    with pytest.raises(ValueError, match="must have the same length"):
        compare_auc(y, one, two[1:])
    with pytest.raises(ValueError, match=r"average must be one of.*'macro'\?"):
        compare_auc(y, one, two, average="makro")
    y, score = three_classes()
    with pytest.raises(ValueError, match=r"3 classes \[0, 1, 2\] but one score per row"):
        compare_auc(y, score, score[:, 0])


# --------------------------------------------------------------------------------------------------
# Cross-validators


class FailsOn(GaussianNB):
    """Fails if a row that is marked by its first feature is not among the training rows."""

    def fit(self, X, y):
        if X[:, 0].max() < 50:
            raise RuntimeError("the marked row is missing")
        return super().fit(X, y)


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """Has neither probabilities nor decision values."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.fixture(scope="module")
def data():
    return make_classification(120, n_features=6, flip_y=0.25, weights=[0.65], random_state=3)


def fitted(estimator, data, cv, **options):
    """Cross-validator that keeps its predictions; its own warnings are not the matter here."""
    options = {"keep_predictions": True, "refit": False, "random_state": 0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BayesianCrossValidator(estimator, cv=cv, **options).fit(*data)


FOLDS = [StratifiedKFold(5), RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)]


def row_weight(variance, values, k):
    """Variance of independent rows over the one that the spread of the folds asks for."""
    repeats = values.size / k
    between = k / (k - 1) * np.sum(np.square(values - values.mean())) / k**2 / repeats
    needed = variance + k / (k - 1) * (1 + 1 / repeats) / 2 * between
    return min((k + 1) / (2 * k), variance / needed)


@pytest.mark.parametrize("cv", FOLDS, ids=["folds", "repeated"])
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_mean_of_folds(cv, estimator, data):
    X, y = data
    bcv = fitted(estimator, data, cv)
    posterior = auc_posterior(y, bcv, method="delong")
    names = ["roc_auc", "average_precision"]
    scores = cross_validate(estimator, X, y, cv=cv, scoring=names, return_estimator=True)
    assert posterior.observed == pytest.approx(scores["test_roc_auc"].mean(), abs=1e-12)
    ap = average_precision_posterior(y, bcv)
    assert ap.observed == pytest.approx(scores["test_average_precision"].mean(), abs=1e-12)
    # A row's influences on several folds add up; models that share rows count less.
    total = np.zeros(y.size)
    for model, (_, test) in zip(scores["estimator"], cv.split(X, y), strict=True):
        score = model.predict_proba(X[test])[:, 1] if estimator.__class__ is GaussianNB else None
        score = model.decision_function(X[test]) if score is None else score
        total[test] += influence(y[test], score)
    k = 5 if cv is FOLDS[0] else 4
    variance = np.sum(np.square(total / cv.get_n_splits()))
    spread = np.sqrt(variance / row_weight(variance, scores["test_roc_auc"], k))
    assert posterior.std() == pytest.approx(spread, rel=1e-8)
    area = posterior.observed
    t = stats.t(min(np.bincount(y)) - 1).ppf(0.975)
    expected = expit(logit(area) + np.array([-t, t]) * spread / (area * (1 - area)))
    np.testing.assert_allclose(auc_posterior(y, bcv).interval(), expected, rtol=1e-9)
    assert f"mean of {cv.get_n_splits()} folds" in posterior.description


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_pooled(estimator, data):
    X, y = data
    bcv = fitted(estimator, data, StratifiedKFold(5))
    way = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    score = cross_val_predict(estimator, X, y, cv=StratifiedKFold(5), method=way)
    score = score if score.ndim == 1 else score[:, 1]
    posterior = auc_posterior(y, bcv, pooling="pooled", method="delong")
    assert posterior.observed == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    spread = np.sqrt(delong_covariance(y, score, score) / 0.6)
    assert posterior.std() == pytest.approx(spread, rel=1e-8)
    assert "folds pooled" in posterior.description
    ap = average_precision_posterior(y, bcv, pooling="pooled")
    assert ap.observed == pytest.approx(average_precision_score(y, score), abs=1e-12)
    # The first class as the positive one: decision values change their sign.
    first = auc_posterior(y, bcv, pooling="pooled", pos_label=0)
    assert first.observed == pytest.approx(roc_auc_score(y == 0, -score), abs=1e-12)
    again = fitted(estimator, data, StratifiedKFold(5), pos_label=0)
    folds = auc_posterior(y, again)
    assert folds.observed == pytest.approx(auc_posterior(y, bcv).observed, abs=1e-12)
    expected = average_precision_score(y == 0, -score)
    found = average_precision_posterior(y, again, pooling="pooled").observed
    assert found == pytest.approx(expected, abs=1e-12)
    # The area beside a curve knows of the folds, too.
    for make, area in (
        (roc_band, auc_posterior(y, bcv, pooling="pooled")),
        (precision_recall_band, average_precision_posterior(y, bcv, pooling="pooled")),
    ):
        assert make(y, bcv).area.interval() == area.interval()


def test_comparison_of_cross_validators(data):
    X, y = data
    shuffled = StratifiedKFold(4, shuffle=True, random_state=1)
    splits = {GaussianNB(): FOLDS[0], LinearSVC(): shuffled}
    parts = []  # mean of the folds, and the influence of every row on it
    for estimator, cv in splits.items():
        total, areas = np.zeros(y.size), []
        for train, test in cv.split(X, y):
            model = estimator.fit(X[train], y[train])
            bayes = hasattr(model, "predict_proba")
            score = (
                model.predict_proba(X[test])[:, 1] if bayes else model.decision_function(X[test])
            )
            total[test] += influence(y[test], score)
            areas.append(roc_auc_score(y[test], score))
        k = cv.get_n_splits()
        parts.append((np.mean(areas), total / k / np.sqrt((k + 1) / (2 * k))))
    one, two = (fitted(estimator, data, cv) for estimator, cv in splits.items())
    result = compare_auc(y, one, two)
    assert result.difference.mean() == pytest.approx(parts[1][0] - parts[0][0], abs=1e-12)
    spread = np.linalg.norm(parts[1][1] - parts[0][1])
    assert result.difference.scale == pytest.approx(spread, rel=1e-8)
    assert "120 shared rows, DeLong, mean of 5 folds and DeLong, mean of 4" in repr(result)
    assert compare_auc(y, one, one).p_equivalent == 1
    with pytest.raises(ValueError, match="both be scores, or both cross-validators"):
        compare_auc(y, one, X[:, 0])
    with pytest.raises(ValueError, match="cross-validators that tested the same rows"):
        compare_auc(y, one, fitted(GaussianNB(), data, PredefinedSplit(np.arange(120) % 5 - 1)))


def test_several_classes_of_a_cross_validator():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=1.5, size=X.shape)
    names = np.array(["x", "y", "z"])[y]
    for average, scoring in (("macro", "roc_auc_ovr"), ("weighted", "roc_auc_ovr_weighted")):
        bcv = fitted(GaussianNB(), (X, names), StratifiedKFold(5))  # 10 rows of each in every fold
        expected = cross_validate(GaussianNB(), X, names, cv=StratifiedKFold(5), scoring=scoring)
        found = auc_posterior(names, bcv, average=average)
        assert found.observed == pytest.approx(expected["test_score"].mean(), abs=1e-12)
    assert auc_posterior(names, bcv, average=None).shape == (3,)
    one = auc_posterior(names, bcv, pos_label="z")
    assert one.observed == pytest.approx(auc_posterior(names, bcv, average=None).observed[2])


def test_one_positive_per_fold_has_the_spread_of_the_folds():
    # A lone row shows no spread in its fold; taken as none, 77 to 83 % of intervals held the area.
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [10, 200])
    X = rng.normal(size=(210, 2)) + 0.8 * y[:, None]
    cv = StratifiedKFold(10)
    models = cross_validate(GaussianNB(), X, y, cv=cv, scoring="roc_auc", return_estimator=True)
    areas, negatives = models["test_score"], 0.0
    for model, (_, test) in zip(models["estimator"], cv.split(X, y), strict=True):
        placements = pairs(y[test], model.predict_proba(X[test])[:, 1])
        assert placements.shape == (1, 20)
        negatives += np.var(placements[0], ddof=1) / 20
    variance = np.var(areas, ddof=1) / 10 + negatives / 10**2
    bcv = fitted(GaussianNB(), (X, y), cv)
    found = auc_posterior(y, bcv, method="delong")
    weight = row_weight(variance, areas, 10)
    assert found.std() == pytest.approx(np.sqrt(variance / weight), rel=1e-9)
    # The average precision of a lone positive is 1 / its rank.
    precise = average_precision_posterior(y, bcv)
    ranks = [
        1 + np.sum(pairs(y[test], model.predict_proba(X[test])[:, 1]) == 0)
        for model, (_, test) in zip(models["estimator"], cv.split(X, y), strict=True)
    ]
    mean, low = precise.observed, precise.quantile(ndtr(-1))
    assert mean == pytest.approx(np.mean(1 / np.array(ranks)), abs=1e-12)
    spread = (logit(mean) - logit(low)) * mean * (1 - mean)
    assert spread**2 * 11 / 20 > np.var(1 / np.array(ranks), ddof=1) / 10


def test_folds_that_lack_a_class_are_left_out(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    tests = [order[:20], *np.array_split(np.random.default_rng(0).permutation(order[20:]), 3)]
    splits = [(np.setdiff1d(order, test), test) for test in tests]
    bcv = fitted(GaussianNB(), data, splits)
    with pytest.warns(UndefinedMetricWarning, match="1 of 4 folds lack a class"):
        posterior = auc_posterior(y, bcv)
    expected = [
        roc_auc_score(y[test], GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1])
        for train, test in splits[1:]
    ]
    assert posterior.observed == pytest.approx(np.mean(expected), abs=1e-12)
    assert auc_posterior(y, bcv, pooling="pooled").observed > 0  # needs no warning
    sorted_folds = fitted(GaussianNB(), (X[order], y[order]), KFold(30))
    with pytest.warns(UndefinedMetricWarning, match="29 of 30 folds lack a class"):
        auc_posterior(y[order], sorted_folds)
    alone = fitted(GaussianNB(), data, KFold(120), method="nadeau_bengio")
    with pytest.raises(ValueError, match="no fold holds both classes"):
        auc_posterior(y, alone)


def test_failed_folds_are_left_out(data):
    X, y = data
    X = X.copy()
    X[0, 0] = 99.0
    with pytest.warns(FitFailedWarning):
        scores = cross_validate(FailsOn(), X, y, cv=StratifiedKFold(5), scoring="roc_auc")
    bcv = fitted(FailsOn(), (X, y), StratifiedKFold(5), error_score=np.nan)
    assert np.isnan(scores["test_score"]).sum() == 1
    found = auc_posterior(y, bcv)
    assert found.observed == pytest.approx(np.nanmean(scores["test_score"]), abs=1e-12)
    assert "mean of 4 folds" in found.description


def test_cross_validators_without_scores(data):
    _, y = data
    lost = fitted(GaussianNB(), data, 3, keep_predictions=False)
    labels_only = fitted(LabelsOnly(), data, 3)
    for bcv in (lost, labels_only):
        for make in (auc_posterior, average_precision_posterior, roc_band, precision_recall_band):
            with pytest.raises(ValueError, match=r"no scores: use .*keep_predictions=True"):
                make(y, bcv)


def test_cross_validator_errors(data):
    _, y = data
    bcv = fitted(GaussianNB(), data, FOLDS[1])
    with pytest.raises(ValueError, match=r"pooling must be one of 'folds', 'pooled'.*'pooled'\?"):
        auc_posterior(y, bcv, pooling="pool")
    for call in (lambda: auc_posterior(y, bcv, pooling="pooled"), lambda: roc_band(y, bcv)):
        with pytest.raises(ValueError, match="every row to be tested once; repeated folds"):
            call()
    with pytest.raises(ValueError, match="must be what the cross-validator was fitted with, got"):
        auc_posterior(y[:50], bcv)
    with pytest.raises(ValueError, match="labels are known to the cross-validator"):
        auc_posterior(y, bcv, labels=[0, 1])
    with pytest.raises(ValueError, match=r"bayesian_bootstrap' is for two classes.*averages"):
        auc_posterior(y, bcv, method="bayesian_bootstrap")


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_labels_of_a_cross_validator_in_another_order(estimator, data):
    _, y = data
    expected = auc_posterior(y, fitted(estimator, data, 4)).observed
    turned = fitted(estimator, data, 4, labels=[1, 0])
    assert auc_posterior(y, turned).observed == pytest.approx(expected)


def test_labels_of_a_cross_validator_that_do_not_occur(data):
    _, y = data
    expected = auc_posterior(y, fitted(GaussianNB(), data, 4)).observed
    more = fitted(GaussianNB(), data, 4, labels=[0, 1, 2], pos_label=1)
    assert auc_posterior(y, more).observed == pytest.approx(expected)


@pytest.mark.parametrize("n_draws", [None, 2000])
def test_bootstrap_of_pooled_folds(n_draws, data):
    _, y = data
    bcv = fitted(GaussianNB(), data, StratifiedKFold(5))
    options = {"pooling": "pooled", "method": "bayesian_bootstrap", "n_draws": n_draws}
    spread = auc_posterior(y, bcv, random_state=0, **options).std()
    plain = auc_posterior(y, bcv, pooling="pooled", method="delong").std()
    assert spread == pytest.approx(plain, rel=0.1)
