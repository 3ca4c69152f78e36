"""Cross-validations of which only the scores are known."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCountsScorer, compare_cv, search_posterior
from skuncertain.display import FoldDisplay
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics import get_metric
from skuncertain.model_selection import (
    CrossValPosterior,
    CrossValScores,
    fold_interval,
    fold_posterior,
)
from skuncertain.model_selection._score_names import known_range

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:400], Y[:400]
NB = GaussianNB()
F1 = np.array([0.90, 0.93, 0.88, 0.95, 0.91])
RESULTS = {"fit_time": np.zeros(5), "test_f1": F1, "test_neg_log_loss": -0.5 * F1}


def by_hand(scores, ratio, level=0.95):
    """Nadeau and Bengio's interval, by scipy's t."""
    scores = np.ravel(scores)
    scale = scores.std(ddof=1) * np.sqrt(1 / scores.size + ratio)
    return stats.t.interval(level, scores.size - 1, scores.mean(), scale)


# --------------------------------------------------------------------------------------------------
# Arrays of scores


def test_scores_of_one_cross_validation():
    np.testing.assert_allclose(fold_interval(F1), by_hand(F1, 1 / 4), rtol=1e-12)
    found = fold_posterior(F1, "f1")
    np.testing.assert_allclose(found.interval(0.8), by_hand(F1, 1 / 4, 0.8), rtol=1e-12)
    about = (found.metric, found.range, found.greater_is_better, found.about.n_folds)
    assert about == ("f1", (0.0, 1.0), True, 5)
    assert found.description == "nadeau_bengio, 5 folds"
    # The same correlation as in a comparison with a model that is always at 0.
    other = compare_cv(np.zeros(5), F1).difference
    np.testing.assert_allclose((other.loc, other.scale, other.df), (found.loc, found.scale, 4))
    two = [0.4, 0.5]
    np.testing.assert_allclose(fold_posterior(two).quantile([0.025, 0.975]), by_hand(two, 1))
    with pytest.warns(DegenerateIntervalWarning, match="cut off there"):
        assert fold_interval(two, "f1") == (0.0, 1.0)


def test_scores_of_a_scorer_run():
    scores = cross_val_score(NB, *load_breast_cancer(return_X_y=True), scoring="f1")
    np.testing.assert_allclose(fold_interval(scores, "f1"), by_hand(scores, 1 / 4), rtol=1e-12)


def test_repetitions_are_never_assumed_silently():
    scores = np.linspace(0.7, 0.9, 10) ** 2
    with pytest.warns(UserWarning, match=r"taken as the 10 folds .* as 2 x 5, say n_repeats=2"):
        found = fold_interval(scores)
    np.testing.assert_allclose(found, by_hand(scores, 1 / 9))
    assert fold_interval(scores, n_repeats=1) == found
    expected = by_hand(scores, 1)  # 5 x 2
    np.testing.assert_allclose(fold_interval(scores, n_repeats=5), expected)
    np.testing.assert_allclose(fold_interval(scores.reshape(5, 2), n_repeats=5), expected)
    assert fold_posterior(scores.reshape(5, 2), n_repeats=5).description.endswith("2 folds x 5")
    # Rows that are no repetitions are problems of their own.
    low, high = fold_interval(scores.reshape(2, 5))
    for k, row in enumerate(scores.reshape(2, 5)):
        np.testing.assert_allclose((low[k], high[k]), by_hand(row, 1 / 4))
    with pytest.warns(UserWarning, match="n_repeats=1 says that it was not"):
        CrossValPosterior.from_cv_results({"test_f1": scores})
    repeated = CrossValPosterior.from_cv_results({"test_f1": scores}, n_repeats=5)
    np.testing.assert_allclose(repeated.interval("f1"), expected)
    with pytest.raises(ValueError, match="n_repeats=3 must divide"):
        CrossValPosterior.from_cv_results({"test_f1": scores}, n_repeats=3)


def test_missing_scores_are_named():
    some = np.array([0.7, np.nan, 0.8, 0.9, np.nan])
    text = r"f1 is undefined \(NaN: 0/0, or a fit that failed\) in 2 of 5 folds \(folds 1, 4, count"
    with pytest.warns(UndefinedMetricWarning, match=text):
        found = fold_posterior(some, "f1")
    # The other folds have the size that they have.
    left = some[~np.isnan(some)]
    np.testing.assert_allclose(found.quantile([0.025, 0.975]), by_hand(left, 1 / 4))
    with pytest.warns(UndefinedMetricWarning, match=text):
        again = CrossValPosterior.from_cv_results({"test_f1": some}).posterior("f1")
    assert again.scale == found.scale
    with pytest.raises(ValueError, match="a score in at least two folds, got 1"):
        CrossValPosterior.from_cv_results({"test_f1": [0.7, np.nan, np.nan]}).posterior("f1")


def test_equal_scores_have_no_width():
    with pytest.warns(DegenerateIntervalWarning, match="all folds have the same f1"):
        assert fold_interval([1.0, 1.0, 1.0], "f1") == (1.0, 1.0)


def test_quantiles_stay_those_of_the_t():
    scores = [0.95, 1.0, 0.97]
    found = fold_posterior(scores, "f1")
    scale = np.std(scores, ddof=1) * np.sqrt(1 / 3 + 1 / 2)
    reference = stats.t(2, np.mean(scores), scale)
    tails = [0.025, 0.5, 0.975]
    np.testing.assert_allclose(found.quantile(tails), reference.ppf(tails), rtol=1e-12)
    assert found.quantile(0.975) > 1
    assert found.cdf(1.0) == pytest.approx(reference.cdf(1.0))
    for kind in ("eti", "hdi"):
        with pytest.warns(DegenerateIntervalWarning, match=r"f1 leaves its range \(0.0, 1.0\)"):
            low, high = found.interval(kind=kind)
        assert (low, high) == (pytest.approx(reference.ppf(0.025)), 1.0)
    # The same for counts, in stacks.
    folds = [[[[9, 0], [0, 9]], [[8, 1], [0, 9]]], [[[50, 40], [40, 50]], [[49, 41], [40, 50]]]]
    with pytest.warns(DegenerateIntervalWarning, match="cut off there"):
        low, high = fold_interval(folds, "accuracy", method="nadeau_bengio")
    np.testing.assert_array_equal(high <= 1, True)
    assert high[0] == 1
    assert low[1] == pytest.approx(by_hand([100 / 180, 99 / 180], 1)[0])


@pytest.mark.parametrize("name", get_scorer_names())
def test_ranges_of_scikit_learns_names(name):
    limits, better = known_range(name)
    clustering = ("mutual", "rand", "completeness", "homogeneity", "v_measure", "fowlkes")
    assert better
    if not name.startswith(clustering) and "adjusted" not in name and "normalized" not in name:
        assert np.isfinite(limits).any()
    assert (limits[1] <= 0) == name.startswith("neg_")


def test_ranges_hold_measured_scores():
    for name in ("roc_auc", "average_precision", "neg_log_loss", "neg_brier_score", "recall"):
        limits, _ = known_range(name)
        scores = cross_val_score(DecisionTreeClassifier(random_state=0), X, Y, scoring=name)
        assert np.all((limits[0] <= scores) & (scores <= limits[1]))
    assert known_range("neg_fpr") == ((-1.0, 0.0), True)
    assert known_range("fpr") == ((0.0, 1.0), False)
    assert known_range(get_metric("mcc")) == ((-1.0, 1.0), True)
    assert known_range("mine") == ((-np.inf, np.inf), True)


# --------------------------------------------------------------------------------------------------
# Results of cross_validate


def test_results_with_scores_alone():
    found = CrossValPosterior.from_cv_results(RESULTS)
    assert isinstance(found, CrossValScores)
    np.testing.assert_allclose(found.interval("f1"), by_hand(F1, 1 / 4))
    np.testing.assert_allclose(found.intervals["neg_log_loss"], by_hand(-0.5 * F1, 1 / 4))
    assert found.posteriors["neg_log_loss"].range == (-np.inf, 0.0)
    plain = stats.t.interval(0.9, 4, F1.mean(), stats.sem(F1))
    np.testing.assert_allclose(found.interval("f1", "t", 0.9), plain)
    corrected = stats.t.interval(0.95, 4, F1.mean(), stats.sem(F1) / np.sqrt(1 - 0.7))
    np.testing.assert_allclose(found.interval("f1", "corrected_t"), corrected)
    other = stats.t.interval(0.95, 4, F1.mean(), stats.sem(F1) / np.sqrt(0.5))
    np.testing.assert_allclose(found.interval("f1", "corrected_t", rho=0.5), other)
    assert (found.n_folds, found.n_repeats) == (5, 1)
    assert "With counts (scoring=ConfusionCountsScorer())" in repr(found)
    assert pickle.loads(pickle.dumps(found)).intervals == found.intervals


def test_indices_tell_the_sizes_of_the_folds():
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    results = cross_validate(NB, X, Y, cv=cv, scoring="f1", return_indices=True)
    found = CrossValPosterior.from_cv_results(results, metrics={"score": "f1"})
    assert (found.n_repeats, found.n_folds) == (5, 2)
    assert found.posteriors["score"].range == (0.0, 1.0)
    np.testing.assert_allclose(found.interval("score"), by_hand(results["test_score"], 1))
    assert "trained on 200 rows" in found.question
    with pytest.raises(ValueError, match="n_repeats=2 does not fit the indices"):
        CrossValPosterior.from_cv_results(results, n_repeats=2)
    shuffled = cross_validate(
        NB, X, Y, cv=ShuffleSplit(4, test_size=0.2, random_state=0), return_indices=True
    )
    found = CrossValPosterior.from_cv_results(shuffled)
    np.testing.assert_allclose(found.interval("score"), by_hand(shuffled["test_score"], 0.25))
    # Two such results are compared as the dicts are.
    other = cross_validate(
        DecisionTreeClassifier(random_state=0), X, Y, cv=cv, scoring="f1", return_indices=True
    )
    pair = [CrossValPosterior.from_cv_results(one) for one in (results, other)]
    assert compare_cv(*pair).p_better == compare_cv(results, other).p_better


def test_counts_come_first():
    counted = cross_validate(NB, X, Y, scoring=ConfusionCountsScorer(), return_indices=True)
    assert isinstance(CrossValPosterior.from_cv_results(counted), CrossValPosterior)
    ordinary = cross_validate(NB, X, Y, return_indices=True, return_estimator=True)
    assert isinstance(CrossValPosterior.from_cv_results(ordinary, X, Y), CrossValPosterior)
    with pytest.raises(ValueError, match="method='nadeau_bengio' looks at the scores alone"):
        CrossValPosterior.from_cv_results(ordinary)
    alone = CrossValPosterior.from_cv_results(ordinary, method="nadeau_bengio")
    np.testing.assert_allclose(alone.interval("score"), by_hand(ordinary["test_score"], 1 / 4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pooled"}, r"holds no counts.*ConfusionCountsScorer\(\)"),
        ({"X": X, "y": Y}, r"holds no counts.*ConfusionCountsScorer\(\)"),
        ({"metrics": ["recall"]}, "only the scores .* got 'recall'"),
        ({"metrics": []}, "at least one score"),
        ({"metrics": {"f1": 3}}, "names or Metric objects"),
        ({"metrics": {"neg_log_loss": "f1"}}, r"within the range of 'f1', \[0, 1\], got -0.45"),
        ({"labels": [0, 1]}, "labels belongs to counts"),
        ({"pos_label": 1}, "pos_label belongs to counts"),
        ({"prior": 0.5}, "prior is used by"),
        ({"omega": "wang_li"}, "omega is used by"),
        ({"level": 2}, "level"),
    ],
)
def test_what_scores_alone_do_not_allow(options, message):
    with pytest.raises(ValueError, match=message):
        CrossValPosterior.from_cv_results(RESULTS, **options)


def test_a_slip_in_the_name_of_a_score():
    found = CrossValPosterior.from_cv_results(RESULTS)
    with pytest.raises(ValueError, match=r"got 'neg_logloss'\. Did you mean 'neg_log_loss'\? Any"):
        found.interval("neg_logloss")


def test_bad_scores():
    call = CrossValPosterior.from_cv_results
    with pytest.raises(ValueError, match=r"say metrics=\{'score': 'f1'\}"):
        call({"test_score": F1}, metrics="f1")
    with pytest.raises(ValueError, match=r"test_f1.* within the range of 'f1'.* got 1.2"):
        call({"test_f1": [0.9, 1.2, 0.8]})
    with pytest.raises(ValueError, match="infinite"):
        call({"test_f1": [0.9, np.inf, 0.8]})
    with pytest.raises(ValueError, match="at least two folds"):
        call({"test_f1": [0.9]})
    with pytest.raises(ValueError, match="must be a number or a rectangular array"):
        call({"test_f1": ["a", "b"]})
    found = call(RESULTS)
    with pytest.raises(ValueError, match=r"'f1', 'neg_log_loss'.*Did you mean 'neg_log_loss'"):
        found.interval("neg_logloss")
    with pytest.raises(ValueError, match="scores and no counts, which allow method 't'"):
        found.interval("f1", "pooled")
    with pytest.raises(ValueError, match="holds no counts, only"):
        call({"fit_time": [1.0, 2.0]})
    with pytest.raises(TypeError, match="plots need counts"):
        FoldDisplay.from_cv_results(RESULTS)


def test_report_of_scores():
    near = {"test_f1": [0.99, 1.0, 0.96, 1.0, 0.97], "test_mine": [3.0, 4.0, 2.0, 6.0, 5.0]}
    found = CrossValPosterior.from_cv_results(near)
    report = found.report(level=0.9)
    text = str(report)
    assert "t intervals are cut off at the range of the metric" in text
    assert "With counts (scoring=ConfusionCountsScorer())" in text
    assert "5 folds (assumed to partition the rows)" in text
    rows = report.to_dict()["sections"]["scores"]["rows"]
    low, high = by_hand(near["test_f1"], 1 / 4, 0.9)
    assert high > 1
    assert rows[0]["interval"]["low"] == pytest.approx(low)
    assert rows[0]["interval"]["high"] == 1.0
    ends = [rows[1]["interval"][end] for end in ("low", "high")]
    np.testing.assert_allclose(ends, by_hand(near["test_mine"], 1 / 4, 0.9))
    assert "<html" in report.to_html()
    with pytest.warns(DegenerateIntervalWarning, match="cut off there"):
        frame = found.to_frame()
    assert frame.loc["f1", "high"] == 1.0
    far = CrossValPosterior.from_cv_results({"test_f1": F1}).report()
    assert "cut off" not in str(far)
    equal = CrossValPosterior.from_cv_results({"test_f1": [0.5, 0.5, 0.5]}).report()
    assert "all folds have the same f1" in str(equal)


# --------------------------------------------------------------------------------------------------
# Searches


@pytest.mark.parametrize("scoring", ["f1", ["f1", "roc_auc"], None])
def test_a_search_never_leaves_the_range(scoring):
    grid = {"max_depth": [1, 2, None]}
    tree = DecisionTreeClassifier(random_state=0)
    search = GridSearchCV(tree, grid, scoring=scoring, cv=3, refit="f1" if scoring else True)
    found = search_posterior(search.fit(X[:60], Y[:60]), random_state=0)
    wide = [by_hand(row, 1 / 2) for row in found.scores]
    assert np.max(wide) > 1, "otherwise there is nothing to cut off"
    np.testing.assert_allclose(found.low, np.clip(wide, 0, 1)[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.high, np.clip(wide, 0, 1)[:, 1], atol=1e-12)
    assert any("t intervals are cut off" in note for note in found.notes)
    assert np.all(np.abs(found.difference_low) <= 1)
    for row in found.report().to_dict()["sections"]["candidates"]["rows"]:
        assert 0 <= row["mean"]["low"] <= row["mean"]["high"] <= 1


def test_a_search_score_of_another_range_is_left_alone():
    columns = {f"split{k}_test_f1": np.array([1.5 + k, 2.5 * k]) for k in range(3)}
    found = search_posterior(columns, random_state=0)
    expected = by_hand([1.5, 2.5, 3.5], 1 / 2)
    np.testing.assert_allclose((found.low[0], found.high[0]), expected)
    # Whoever is the best of two folds has .05 in the third.
    columns = {f"split{k}_test_f1": 0.05 + 0.9 * (np.arange(3) == k) for k in range(3)}
    found = search_posterior(columns, random_state=0)
    assert found.best_score_corrected == pytest.approx(0.05)
    assert found.selected_interval.low == 0.0
