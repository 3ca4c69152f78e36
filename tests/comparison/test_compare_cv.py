"""Comparing two models on the same folds, and the result of a comparison."""

import dataclasses
import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_cv,
    compare_paired,
)
from skuncertain.comparison import ComparisonResult
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics import make_metric
from skuncertain.model_selection import CrossValPosterior

# Caelen (2017), A Bayesian interpretation of the confusion matrix: his two classifiers.
A = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
B = ConfusionCounts.from_binary(tp=50, fn=30, fp=30, tn=35)
SCORES_A = np.array([0.80, 0.82, 0.79, 0.84, 0.81, 0.83, 0.78, 0.85, 0.80, 0.82])
SCORES_B = np.array([0.82, 0.83, 0.80, 0.83, 0.84, 0.85, 0.80, 0.86, 0.83, 0.81])
X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
NB, TREE = GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)
OWN = make_metric(  # accuracy, but unknown to the package, so it is drawn
    lambda p: np.trace(p, axis1=-2, axis2=-1) / p.sum(axis=(-2, -1)), name="own", range=(0, 1)
)


def chances(result):
    return result.p_worse, result.p_equivalent, result.p_better


def agreement(only_a, only_b, both=0, neither=0):
    """Rows of class 1 on which A and B are right that often."""
    pred_a = np.repeat([1, 0, 1, 0], [only_a, only_b, both, neither])
    pred_b = np.repeat([0, 1, 1, 0], [only_a, only_b, both, neither])
    return np.ones(pred_a.size, dtype=int), pred_a, pred_b


def student(values, ratio):
    """Correlated t of scipy for fold differences."""
    size = len(values)
    scale = np.std(values, ddof=1) * np.sqrt(1 / size + ratio)
    return stats.t(size - 1, np.mean(values), scale)


def assert_student(result, reference):
    np.testing.assert_allclose(result.interval(), reference.interval(0.95), rtol=0, atol=1e-12)
    assert result.p_better == pytest.approx(reference.sf(0), abs=1e-12)


def validated(cv, *models, **options):
    return [BayesianCrossValidator(m, cv=cv, refit=False, **options).fit(X, Y) for m in models]


@pytest.mark.parametrize("metric", ["f1", "accuracy", None])
def test_all_forms_of_a_cross_validation(metric):
    cv = StratifiedKFold(6)
    name = metric or "accuracy"
    scores = [cross_val_score(m, X, Y, cv=cv, scoring=name) for m in (NB, TREE)]
    reference = student(scores[1] - scores[0], 1 / 5)
    options = {"cv": cv, "return_indices": True}
    counted = [
        cross_validate(m, X, Y, scoring=ConfusionCountsScorer(), **options) for m in (NB, TREE)
    ]
    scored = [cross_validate(m, X, Y, scoring=[name], **options) for m in (NB, TREE)]
    fitted = validated(cv, NB, TREE)
    posteriors = [CrossValPosterior.from_cv_results(results) for results in counted]
    for pair in (fitted, posteriors, counted, scored, (fitted[0], counted[1])):
        result = compare_cv(*pair, metric=metric)
        assert_student(result, reference)
        assert result.metric == name
        assert result.method == "6 shared folds"
    assert_student(compare_cv(fitted[0], scored[1], metric=name), reference)
    assert_student(compare_cv(*scores), reference)
    less, more = (compare_cv(*fitted, metric=m, rope=0.01) for m in ("error_rate", "accuracy"))
    np.testing.assert_allclose(chances(less), chances(more), atol=1e-12)
    assert less.difference.mean() == pytest.approx(-more.difference.mean(), abs=1e-14)
    with pytest.raises(ValueError, match="has no better or worse direction"):
        compare_cv(*fitted, metric="prevalence")


def test_unequal_folds():
    cv = PredefinedSplit(np.repeat([0, 1, 2, 3], [20, 40, 60, 120]))
    n_test = np.array([20, 40, 60, 120])
    scores = [cross_val_score(m, X, Y, cv=cv) for m in (NB, TREE)]
    reference = student(scores[1] - scores[0], np.mean(n_test / (240 - n_test)))
    assert_student(compare_cv(*validated(cv, NB, TREE)), reference)
    assert_student(compare_cv(*scores, n_train=240 - n_test, n_test=n_test), reference)
    result = compare_cv(*scores, n_train=180, n_test=60)
    assert_student(result, student(scores[1] - scores[0], 1 / 3))


@pytest.mark.filterwarnings("ignore:cv_results does not hold the indices")
def test_different_splits_are_refused():
    def run(model, cv, scoring="accuracy", **options):
        return cross_validate(model, X, Y, cv=cv, scoring=scoring, **options)

    first, second = (StratifiedKFold(6, shuffle=True, random_state=seed) for seed in (0, 1))
    indices = {"return_indices": True}
    with pytest.raises(ValueError, match=r"NB and T were not tested .*test rows differ"):
        compare_cv(run(NB, first, **indices), run(TREE, second, **indices), names=("NB", "T"))
    with pytest.raises(ValueError, match="test rows differ"):
        compare_cv(*validated(first, NB), *validated(second, TREE))
    with pytest.raises(ValueError, match="A has 6 folds and B 5"):
        compare_cv(*validated(6, NB), *validated(5, TREE))
    with pytest.raises(ValueError, match="a does not hold the indices of its splits"):
        compare_cv(run(NB, first), run(TREE, first))
    scorer = ConfusionCountsScorer()
    with pytest.raises(ValueError, match="a does not hold the indices of its splits"):
        compare_cv(run(NB, first, scorer), run(TREE, first, scorer))
    other = cross_validate(TREE, X, 1 - Y, cv=list(first.split(X, Y)), scoring=scorer, **indices)
    with pytest.raises(ValueError, match="different numbers of the classes"):
        compare_cv(run(NB, first, scorer, **indices), other)
    with pytest.raises(ValueError, match="n_repeats=3 does not fit a"):
        compare_cv(*validated(first, NB, TREE), n_repeats=3)


def test_folds_without_variance():
    same = compare_cv(SCORES_A, SCORES_A)
    assert chances(same) == (0, 1, 0)
    better = compare_cv(np.zeros(5), np.full(5, 0.02))
    assert chances(better) == (0, 0, 1)
    assert chances(compare_cv(np.full(5, 0.02), np.zeros(5), rope=0.01)) == (1, 0, 0)
    assert chances(compare_cv(np.zeros(5), np.full(5, 0.02), rope=0.02)) == (0, 1, 0)
    for result in (same, better):
        with pytest.warns(DegenerateIntervalWarning, match="no width"):
            result.interval()
        assert "1.00" in repr(result)  # without a warning


def test_one_more_hit_in_every_fold_is_no_variance():
    hits = np.array([11, 27, 13, 22, 6, 25])
    result = compare_cv(hits / 30, (hits + 1) / 30)
    with pytest.warns(DegenerateIntervalWarning, match="no width"):
        result.interval()


def test_missing_scores():
    scores = SCORES_A.copy()
    scores[[2, 5]] = np.nan
    sizes = np.arange(10, 20)
    keep = np.isfinite(scores)
    values = (SCORES_B - scores)[keep]
    for options, ratio in (
        ({}, 1 / 9),
        ({"n_train": 100, "n_test": sizes}, np.mean(sizes[keep]) / 100),
    ):
        with pytest.warns(UndefinedMetricWarning, match="missing in 2 of 10 folds") as caught:
            result = compare_cv(scores, SCORES_B, **options)
        assert len(caught) == 1
        assert_student(result, student(values, ratio))
        assert result.method == "8 shared folds"


def test_missing_scores_of_a_stack_warn_once():
    stack = np.stack([SCORES_A, SCORES_A])
    stack[0, 3] = np.nan
    with pytest.warns(UndefinedMetricWarning) as caught:
        compare_cv(stack, np.stack([SCORES_B, SCORES_B]))
    assert len(caught) == 1


class Picky(ClassifierMixin, BaseEstimator):
    """Naive Bayes that fails if a row is not among its training rows."""

    def __init__(self, row=None):
        self.row = row

    def fit(self, X, y):
        if self.row is not None and not np.any(X[:, 0] == self.row):
            raise ValueError("the row is missing")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("lost", [(5,), (5, 100), (5, 5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_failed_folds_are_left_out_of_both(lost):
    cv = KFold(6)  # rows 5 and 100 are tested in folds 0 and 2
    rows = [X[row, 0] for row in lost]
    models = [Picky(rows[0]), Picky(rows[1]) if len(rows) > 1 else TREE]
    pair = validated(cv, *models, error_score=np.nan)
    plain = [NB, NB if len(rows) > 1 else TREE]
    scores = [cross_val_score(m, X, Y, cv=cv) for m in plain]
    keep = [k for k in range(6) if k not in {row // 40 for row in lost}]
    with pytest.warns(UndefinedMetricWarning, match=f"missing in {6 - len(keep)} of 6 folds"):
        result = compare_cv(*pair)
    assert result.method == f"{len(keep)} shared folds"
    assert result.difference.mean() == pytest.approx(np.mean((scores[1] - scores[0])[keep]))


def test_one_fold_is_not_enough():
    pair = validated([(np.arange(100), np.arange(100, 200))], NB, TREE, method="nadeau_bengio")
    with pytest.raises(ValueError, match="at least two folds"):
        compare_cv(*pair)


@pytest.mark.parametrize(
    ("b", "options", "message"),
    [
        (SCORES_B, {"n_repeats": 3}, "n_repeats=3 must divide the number of folds, 10"),
        (SCORES_B, {"n_repeats": 10}, "Give n_train and n_test"),
        (SCORES_B, {"n_train": 9}, "given together"),
        (SCORES_B, {"n_train": 0, "n_test": 1}, "n_train must hold positive"),
        (SCORES_B, {"metric": "f1"}, "metric is for results of a cross-validation"),
        (SCORES_B, {"rope": -1}, r"rope must be a number in \[0, inf\), got -1"),
        (SCORES_B, {"names": ("A",)}, "two names"),
        (SCORES_B[:9], {}, "A has 10 folds and B 9"),
        (
            SCORES_B,
            {"n_train": [90, 90], "n_test": [10, 10]},
            "one entry per fold",
        ),
    ],
)
def test_what_fold_comparisons_refuse(b, options, message):
    with pytest.raises(ValueError, match=message):
        compare_cv(SCORES_A, b, **options)


def test_wrong_kinds_of_arguments():
    for wrong in ("abc", NB, BayesianCrossValidator(NB), 0.8, [True, False]):
        with pytest.raises(TypeError, match="a must be fold scores, a fitted BayesianCrossVal"):
            compare_cv(wrong, SCORES_B)
    two = [
        cross_validate(m, X, Y, scoring=["f1", "accuracy"], return_indices=True) for m in (NB, TREE)
    ]
    with pytest.raises(ValueError, match=r"a holds the scores \['f1', 'accuracy'\]: name one"):
        compare_cv(*two)
    with pytest.raises(TypeError, match="metric is missing"):
        compare(A, B)
    with pytest.raises(TypeError, match="got list"):
        compare(A, [1, 0], metric="f1")
    with pytest.raises(ValueError, match="posteriors of the same metric, got 'f1' and 'recall'"):
        compare(A.posterior("f1"), B.posterior("recall"))
    with pytest.raises(ValueError, match="metric is 'recall', but a posterior of 'f1'"):
        compare(A.posterior("f1"), B, metric="recall")
    with pytest.raises(ValueError, match="cannot be compared by it"):
        compare(A, B, metric="prevalence")


# --------------------------------------------------------------------------------------------------
# ComparisonResult


def test_repr_says_the_likeliest_first():
    for scores, words in (
        ((SCORES_A, SCORES_B, 0.0), "new better than old with probability 0.96, worse 0.04"),
        ((SCORES_B, SCORES_A, 0.0), "new worse than old with probability 0.96, equivalent 0.00"),
        ((SCORES_A, SCORES_B, 0.05), "old and new equivalent with probability 1.00, worse 0.00"),
    ):
        text = repr(compare_cv(*scores[:2], rope=scores[2], names=("old", "new")))
        assert text.startswith(f"ComparisonResult({words}")
        assert f"10 shared folds, rope={scores[2]:g})" in text
        assert "new - old = " in text
    assert "B worse than A in f1 " in repr(compare(A, B, metric="f1"))


def results():
    return [
        compare(A, B, metric="f1", rope=0.01),
        compare(A, B, metric=OWN, n_draws=500, random_state=0),
        compare(A, B, metric="balanced_accuracy"),
        compare_paired(*agreement(8, 5, 37), names=("x", "y")),
        compare_cv(SCORES_A, SCORES_B, rope=0.01),
    ]


def test_plain_forms_pickling_and_frozen():
    for result in results():
        assert isinstance(result, ComparisonResult)
        again = pickle.loads(pickle.dumps(result))
        assert repr(again) == repr(result)
        assert again.to_dict() == result.to_dict()
        found = result.to_dict(level=0.8)
        assert (found["a"], found["b"], found["level"]) == (*result.names, 0.8)
        assert (found["p_worse"], found["p_equivalent"], found["p_better"]) == chances(result)
        assert (found["low"], found["high"]) == result.interval(0.8)
        assert found["difference"] == result.difference.median()
        assert all(isinstance(v, str | float | int | list | None) for v in found.values())
        low, high = result.interval(0.8, "hdi")
        assert high - low <= found["high"] - found["low"] + 1e-9
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.p_better = 1.0


def test_table():
    pytest.importorskip("pandas")
    for result in results():
        frame = result.to_frame()
        plain = {name: v for name, v in result.to_dict().items() if name != "warnings"}
        assert frame.to_dict("records") == [plain]
    stack = ConfusionCounts.from_binary(tp=[65, 50, 10], fn=[15, 30, 4], fp=5, tn=9)
    result = compare(stack, B, metric="recall", names=("many", "one"))
    frame = result.to_frame(level=0.5)
    assert list(frame["a"]) == ["many"] * 3
    np.testing.assert_array_equal(frame["p_better"], result.p_better)
    np.testing.assert_array_equal(frame["low"], result.interval(0.5).low)
