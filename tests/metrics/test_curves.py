"""Bands around curves, against scikit-learn, brute force and simulation."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from auc_cases import curve_data, sample
from skuncertain import BayesianCrossValidator
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    precision_recall_band,
    roc_band,
)

BANDS = ["simultaneous", "pointwise"]
MAKERS = [roc_band, precision_recall_band]


def precision(recall, fpr, prevalence):
    """Precision by the theorem of Bayes."""
    hits, false = prevalence * recall, (1 - prevalence) * fpr
    total = np.maximum(hits + false, 1e-300)
    return np.where(hits + false > 0, hits / total, 1.0)


def local_tail(n):
    """Tail probability of single order statistics that a simultaneous band uses for n rows.

    Where all negatives are accepted the true positive rate is at least its quantile for n of n,
    which is ``tail ** (1 / n)``.
    """
    y = np.repeat([1, 0], [n, 1])
    return roc_band(y, np.arange(n + 1.0)).low[-1] ** n


def boxes(y, score):
    """Ranges of both rates between all neighbouring scores, in plain loops: (thresholds, 2, 2)."""
    y = np.asarray(y).astype(bool)
    found = []
    for threshold in [np.inf, *sorted(set(score), reverse=True), -np.inf]:
        ranges = []
        for part in (score[~y], score[y]):
            n, k = len(part), int(np.sum(part >= threshold))
            tail = local_tail(n)
            # One row on a side does not prove that the rate is off the end.
            low = stats.beta(k, n + 1 - k).ppf(tail) if k > 1 else 0.0
            high = stats.beta(k + 1, n - k).ppf(1 - tail) if n - k > 1 else 1.0
            ranges.append((low, high))
        found.append(ranges)
    return np.array(found)


# --------------------------------------------------------------------------------------------------
# Curves


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_empirical_roc_curve(digits, global_random_seed):
    y, score = sample(global_random_seed, digits=digits)
    found = roc_band(y, score)
    fpr, tpr, thresholds = roc_curve(y, score, drop_intermediate=False)
    np.testing.assert_allclose(found.curve_fpr, fpr, atol=1e-15)
    np.testing.assert_allclose(found.curve_tpr, tpr, atol=1e-15)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert (found.n_positive, found.n_negative) == (30, 40)
    assert found.area.interval() == auc_posterior(y, score).interval()


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_empirical_precision_recall_curve(digits, global_random_seed):
    y, score = sample(global_random_seed, digits=digits)
    found = precision_recall_band(y, score)
    values, recall, thresholds = precision_recall_curve(y, score)
    np.testing.assert_allclose(found.curve_recall, recall[:-1][::-1], atol=1e-15)
    np.testing.assert_allclose(found.curve_precision, values[:-1][::-1], atol=1e-14)
    np.testing.assert_array_equal(found.thresholds, thresholds[::-1])
    assert found.area.interval() == average_precision_posterior(y, score).interval()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("sizes", [(30, 40), (1, 8), (9, 1), (100, 5)])
def test_band_holds_the_curve(make, band, digits, sizes, global_random_seed):
    """A simultaneous band holds the empirical curve, and rises as every curve does.

    A pointwise band has an interval for every place by itself. Nothing makes these rise, or hold
    the steps of the curve: what is asked of them is coverage, see tests/statistics.
    """
    y, score = sample(global_random_seed, *sizes, digits=digits)
    found = make(y, score, band=band)
    if make is roc_band:
        x, curve = found.curve_fpr, found.curve_tpr
        if band == "simultaneous":
            assert np.all(np.diff(found.low) >= 0)
            assert np.all(np.diff(found.high) >= 0)
        where = found.fpr
    else:
        x, curve = found.curve_recall, found.curve_precision
        assert np.all(np.diff(found.recall) > 0)
        assert found.prevalence[0] < sizes[0] / sum(sizes) < found.prevalence[1]
        where = found.recall
    assert np.all(np.diff(where) > 0)
    assert (where[0], where[-1]) == (0, 1)
    low, high = found.at(x)
    if band == "simultaneous":
        # A rate of 1 is reached by every curve: only the upper end of a vertical piece counts.
        beyond = (x == 1) & (make is roc_band)
        assert np.all(low <= np.where(beyond, 1.0, curve) + 1e-12)
        assert np.all(curve <= high + 1e-12)
    for ends in ((found.low, found.high), found.at(np.linspace(0, 1, 301))):
        assert np.all(ends[0] >= 0)
        assert np.all(ends[0] <= ends[1])
        assert np.all(ends[1] <= 1)
    at_steps = found.at(where)
    np.testing.assert_allclose(at_steps, (found.low, found.high), atol=1e-15)


@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("sizes", [(4, 5), (7, 3)])
def test_simultaneous_roc_band_is_the_hull_of_boxes(digits, sizes, global_random_seed):
    y, score = sample(global_random_seed, *sizes, digits=digits)
    found = roc_band(y, score)
    fpr, tpr = np.moveaxis(boxes(y, score), 1, 0)
    for f in np.r_[np.linspace(0, 1, 57), fpr.ravel() - 1e-9, fpr.ravel() + 1e-9].clip(0, 1):
        low = max(tpr[fpr[:, 1] <= f, 0], default=0.0)
        high = max(tpr[fpr[:, 0] <= f, 1])
        # Rows with equal scores cannot be parted: a line joins the boxes before and behind them.
        for k, value in enumerate(sorted(set(score), reverse=True), start=1):
            left, right = fpr[k - 1, 0], fpr[k, 0]
            if np.sum(score == value) > 1 and left <= f < right:
                share = (f - left) / (right - left)
                high = max(high, tpr[k - 1, 1] + share * (tpr[k, 1] - tpr[k - 1, 1]))
        assert found.at(f) == (pytest.approx(low, abs=1e-8), pytest.approx(high, abs=1e-8))


@pytest.mark.parametrize("prevalence", [0.02, 0.4, 0.9])
def test_simultaneous_pr_band_is_the_image_of_the_roc_band(prevalence, global_random_seed):
    y, score = sample(global_random_seed, 12, 15)
    found = precision_recall_band(y, score, prevalence=prevalence)
    assert found.prevalence == (prevalence, prevalence)
    roc = roc_band(y, score)
    np.testing.assert_allclose(
        found.curve_precision,
        precision(roc.curve_tpr[1:], roc.curve_fpr[1:], prevalence),
        atol=1e-14,
    )
    # A point (f, t) is inside both or outside both.
    fpr, recall = np.meshgrid(np.linspace(0.001, 0.999, 211), np.linspace(0.001, 0.999, 207))
    low, high = roc.at(fpr)
    inside = (low < recall) & (recall < high)
    value = precision(recall, fpr, prevalence)
    low, high = found.at(recall)
    also = (low < value) & (value < high)
    assert np.mean(inside != also) < 1e-3  # but for edges
    assert 0.05 < inside.mean() < 0.95


def test_a_negative_on_top_proves_nothing_about_small_recalls():
    """The best rows are negative ones, and still there may be positives above all negatives."""
    y, score = np.repeat([0, 1], 30), np.r_[np.arange(28), 100.0, 101.0, 10 + np.arange(30)]
    found = precision_recall_band(y, score)
    _, high = found.at([0, 1e-12, 1e-6, 1e-3])
    np.testing.assert_array_equal(high, 1)
    assert found.high[0] == 1
    # As many positives as could be above the best row: the rate of 0 hits among 30. The rate of
    # false positives may be 0 with one of them above the threshold, not with two.
    edge = found.boxes.tpr[1][0]
    assert 0.05 < edge < 0.3
    assert found.at(edge)[1] == 1
    assert found.at(edge + 1e-9)[1] < 1


def test_unknown_prevalence_widens_the_band(global_random_seed):
    y, score = sample(global_random_seed)
    unknown, known = (
        precision_recall_band(y, score),
        precision_recall_band(y, score, prevalence=30 / 70),
    )
    grid = np.linspace(0.01, 1, 100)
    (a, b), (c, d) = unknown.at(grid), known.at(grid)
    assert np.all(a <= c)
    assert np.all(b >= d)
    share = 0.95 ** (1 / 3)
    expected = stats.beta(30.5, 40.5).ppf([(1 - share) / 2, (1 + share) / 2])
    np.testing.assert_allclose(unknown.prevalence, expected, rtol=1e-9)


@pytest.mark.parametrize("make", MAKERS)
def test_levels_and_kinds_of_bands_are_nested(make, global_random_seed):
    y, score = sample(global_random_seed)
    grid = np.linspace(0, 1, 51)
    for band in BANDS:
        ends = [make(y, score, band=band, level=p).at(grid) for p in (0.5, 0.8, 0.95, 0.99)]
        for (low, high), (lower, higher) in pairwise(ends):
            assert np.all(lower <= low + 1e-9)
            assert np.all(higher >= high - 1e-9)
            inner = slice(1, -1)
            if band == "pointwise":  # an interval of a higher level is longer at every place
                assert np.all((higher - lower)[inner] > (high - low)[inner])
    for level in (0.8, 0.95):
        wide, narrow = (make(y, score, band=band, level=level).at(grid) for band in BANDS)
        assert np.mean(wide[1] - wide[0]) > 1.1 * np.mean(narrow[1] - narrow[0])


@pytest.mark.parametrize("n", [10, 50])
def test_all_order_statistics_hold_together(n):
    tail, samples = local_tail(n), 100_000
    uniform = np.sort(np.random.default_rng(n).random((samples, n)), axis=1)
    place = np.arange(1, n + 1)
    low = stats.beta(place, n + 1 - place).ppf(tail)
    high = stats.beta(place, n + 1 - place).ppf(1 - tail)
    held = np.mean(np.all((low <= uniform) & (uniform <= high), axis=1))
    # The level was found by 4,000 simulated samples, of which 2.5 % fall outside: s.e. .0025;
    # those here add .0005.
    wanted = np.sqrt(0.95)
    error = np.sqrt(wanted * (1 - wanted) * (1 / 4000 + 1 / samples))
    assert abs(held - wanted) < 4 * error


def test_simultaneous_band_of_many_rows(global_random_seed):
    """Beyond 400 rows the order statistics are looked at in 400 places: still enough."""
    n, samples = 1500, 2000
    tail = local_tail(n)
    rng = np.random.default_rng(global_random_seed)
    place = np.arange(1, n + 1)
    low = stats.beta(place, n + 1 - place).ppf(tail)
    uniform = np.sort(rng.random((samples, n)), axis=1)
    held = np.mean(np.all((low <= uniform) & (uniform <= 1 - low[::-1]), axis=1))
    wanted = np.sqrt(0.95)
    error = np.sqrt(wanted * (1 - wanted) * (1 / 4000 + 1 / samples))  # .0043
    assert abs(held - wanted) < 4 * error


def test_same_band_for_everybody():
    y, score = sample(0)
    np.testing.assert_array_equal(roc_band(y, score).high, roc_band(y, score).high)
    rank = stats.rankdata(score)
    np.testing.assert_array_equal(roc_band(y, rank).high, roc_band(y, score).high)
    np.testing.assert_array_equal(
        precision_recall_band(y, rank).low, precision_recall_band(y, score).low
    )


def test_labels_and_classes():
    y, score = sample(0)
    expected = roc_band(y, score)
    named = np.array(["yes", "no"])[y]
    for found in (
        roc_band(named, score, pos_label="no"),
        roc_band(np.array(["no", "yes"])[y], np.c_[-score, score], pos_label="yes"),
        roc_band(2 * y - 1, score),
    ):
        np.testing.assert_array_equal(found.low, expected.low)
    turned = roc_band(y, -score, pos_label=0)
    assert (turned.n_positive, turned.n_negative) == (40, 30)
    assert turned.area.observed == pytest.approx(expected.area.observed)
    X, y = load_iris(return_X_y=True)
    proba = GaussianNB().fit(X[:, 1:2], y).predict_proba(X[:, 1:2])
    one = precision_recall_band(y, proba, pos_label=2)
    np.testing.assert_array_equal(one.low, precision_recall_band(y == 2, proba[:, 2]).low)
    for make in MAKERS:
        with pytest.raises(ValueError, match="a curve is about one class, and there are 3"):
            make(y, proba)


def test_rows_beyond_all_others():
    y = np.repeat([0, 1], [6, 8])
    best, worst = roc_band(y, y), roc_band(y, 1 - y)
    assert best.at(0.9)[1] == 1
    assert worst.at(0.1)[0] == 0
    for found in (best, worst):
        assert np.all(found.high > found.low)
    assert precision_recall_band(y, y).at(0.5)[1] == 1


@pytest.mark.parametrize("make", MAKERS)
def test_many_rows(make):
    y, score = sample(0, 2_000, 98_000)
    found = make(y, score, band="pointwise")
    x, curve = (
        (found.curve_fpr[1:-1], found.curve_tpr[1:-1])
        if make is roc_band
        else (found.curve_recall, found.curve_precision)
    )
    low, high = found.at(x)
    middle = (x > 0.02) & (x < 0.98)
    assert np.mean(((low <= curve) & (curve <= high))[middle]) > 0.99


@pytest.mark.parametrize("make", MAKERS)
def test_band_errors(make):
    y, score = sample(0)
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\), got 95"):
        make(y, score, level=95)
    with pytest.raises(ValueError, match=r"band must be one of .* Did you mean 'pointwise'\?"):
        make(y, score, band="point")
    with pytest.raises(ValueError, match="finite numbers"):
        make(y, np.where(score > 1, np.nan, score))
    with pytest.raises(ValueError, match="no rows of class 1"):
        make([0, 0, 0], [1, 2, 3], labels=[0, 1])
    for prevalence in (0, 1, 1.5, np.nan):
        with pytest.raises(ValueError, match="prevalence must be a number in"):
            precision_recall_band(y, score, prevalence=prevalence)


@pytest.mark.parametrize("make", MAKERS)
def test_tables_of_bands(make):
    pytest.importorskip("pandas")
    y, score = sample(0, digits=1)
    found = make(y, score, level=0.9, band="pointwise")
    low, high = found.area.interval(0.9)
    name = "roc_auc" if make is roc_band else "average_precision"
    kind = "RocBand" if make is roc_band else "PrecisionRecallBand"
    assert repr(found) == (
        f"{kind}(pointwise, level=0.9, 30 positives, 40 negatives, "
        f"{name}={found.area.observed:.3f} [{low:.3f}, {high:.3f}])"
    )
    frame = found.to_frame()
    x = frame.columns[0]
    assert x == ("fpr" if make is roc_band else "recall")
    np.testing.assert_allclose(found.at(frame[x]), frame[["low", "high"]].to_numpy().T)
    plain = found.to_dict()
    assert plain["low"] == found.low.tolist()
    assert (plain["band"], plain["level"]) == ("pointwise", 0.9)
    assert (plain["n_positive"], plain["n_negative"]) == (30, 40)
    assert plain["area"]["level"] == 0.9
    assert plain["area"]["low"] == low
    assert plain["thresholds"][-1] == score.min()


# --------------------------------------------------------------------------------------------------
# Cross-validation


@pytest.fixture(scope="module")
def data():
    return curve_data()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_band_of_pooled_folds(make, estimator, pos_label, data):
    X, y = data
    folds = StratifiedKFold(4)
    bcv = BayesianCrossValidator(
        estimator, cv=folds, omega=1.0, keep_predictions=True, refit=False, pos_label=pos_label
    ).fit(X, y)
    found = make(y, bcv)
    way = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    score = cross_val_predict(estimator, X, y, cv=folds, method=way)
    if score.ndim == 2:
        score = score[:, pos_label]
    elif pos_label == 0:
        score = -score
    expected = make(y, score, pos_label=pos_label)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.high, expected.high)
    assert found.area.observed == pytest.approx(expected.area.observed)
    # Rows count less in the area, whatever the omega of the band.
    assert np.ptp(found.area.interval()) > np.ptp(expected.area.interval())


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("band", BANDS)
def test_rows_of_folds_count_less_in_bands(make, band, data):
    X, y = data
    bcv = BayesianCrossValidator(
        GaussianNB(), cv=StratifiedKFold(4), keep_predictions=True, refit=False
    ).fit(X, y)
    found = make(y, bcv, band=band)
    score = np.empty(len(y))
    for test, part in zip(bcv.cv_results_["indices"]["test"], bcv.scores_, strict=True):
        score[test] = part[:, 1]
    plain = make(y, score, band=band)
    grid = np.linspace(0.05, 0.95, 19)
    (low, high), (low_1, high_1) = found.at(grid), plain.at(grid)
    assert all(0.3 < weight < 0.75 for weight in found.omega)
    assert plain.omega == (1, 1)
    assert "omega" in repr(found)
    assert "omega" not in repr(plain)
    assert found.to_dict()["omega"] == list(found.omega)
    # As many rows as all of them are worth: about 1 / sqrt(omega) times as wide.
    assert 1.1 < np.mean(high - low) / np.mean(high_1 - low_1) < 1.8
    np.testing.assert_array_equal(
        getattr(found, f"curve_{found._axes[0]}"), getattr(plain, f"curve_{found._axes[0]}")
    )


def test_band_with_the_published_weight_is_that_of_fewer_rows():
    # 200 + 200 rows of 4 folds count 5/8 each: as 125 + 125 rows on the same curve.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 1)), np.tile([0, 1], 200)
    X[:, 0] += y
    bcv = BayesianCrossValidator(
        GaussianNB(), cv=4, omega="wang_li", keep_predictions=True, refit=False
    ).fit(X, y)
    band = roc_band(y, bcv, band="pointwise")
    assert band.omega == (0.625, 0.625)
    places = np.array([0.1, 0.3, 0.6])
    low, high = band.at(places)
    ranked = (np.arange(125) + 0.5) / 125
    fewer = [
        stats.norm.ppf(ranked),
        stats.norm.ppf(ranked) + 1,
    ]  # the true curve, as evenly as can be
    known = roc_band(np.repeat([0, 1], 125), np.concatenate(fewer), band="pointwise")
    low_125, high_125 = known.at(places)
    np.testing.assert_allclose(high - low, high_125 - low_125, rtol=0.25)


# --------------------------------------------------------------------------------------------------
# Found by looking for trouble


@pytest.mark.parametrize("cuts", [[], [0.5], [0.0, 1.0]], ids=["constant", "two", "three"])
@pytest.mark.parametrize("band", BANDS)
def test_band_holds_the_line_between_tied_rows(cuts, band):
    y, score = sample(0, 200, 200)
    score = np.digitize(score, cuts)
    found = roc_band(y, score, band=band)
    grid = np.linspace(0, 1, 101)
    line = np.interp(grid, found.curve_fpr, found.curve_tpr)
    low, high = found.at(grid)
    assert np.all(low <= line + 1e-12)
    assert np.all(line <= high + 1e-12)


@pytest.mark.parametrize("band", BANDS)
def test_pr_band_holds_the_step_between_tied_rows(band):
    y = np.repeat([0, 1], 200)
    found = precision_recall_band(y, np.zeros(400), band=band)
    low, high = found.at(np.linspace(0.05, 1, 96))
    assert np.all(low <= 0.5)
    assert np.all(high >= 0.5)


def test_area_beside_a_curve_of_another_prevalence():
    y, score = sample(0)
    found = precision_recall_band(y, score, prevalence=0.01)
    weight = np.where(y == 1, 0.01 / 30, 0.99 / 40)
    expected = average_precision_score(y, score, sample_weight=weight)
    assert found.area.observed == pytest.approx(expected)
