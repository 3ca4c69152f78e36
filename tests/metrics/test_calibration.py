"""Calibration bands against scikit-learn, closed forms and simulations."""

import pickle

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skuncertain import BayesianCrossValidator
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import CalibrationBand, calibration_band, proportion_posterior
from skuncertain.model_selection import fold_posterior


def sample(seed, n=300, slope=1.0, centre=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(centre, 1.5, n)
    y = (rng.random(n) < expit(slope * x)).astype(int)
    y[:2] = 0, 1
    return y, expit(x)


# --------------------------------------------------------------------------------------------------
# Bins


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("n_bins", [1, 3, 10])
def test_points_are_those_of_scikit_learn(strategy, digits, n_bins, global_random_seed):
    y, p = sample(global_random_seed)
    p = p if digits is None else p.round(digits)
    band = calibration_band(y, p, n_bins=n_bins, strategy=strategy)
    share, mean = calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
    np.testing.assert_allclose(band.observed, share, rtol=1e-12)
    np.testing.assert_allclose(band.mean_predicted, mean, rtol=1e-12)
    assert band.n_rows.sum() == band.n == 300
    little = 1e-12  # means of equal numbers are rounded
    assert np.all(band.left - little <= band.mean_predicted)
    assert np.all(band.mean_predicted <= band.right + little)


def test_empty_bins_are_left_out():
    y, p = [0, 1, 0, 1, 1, 1], [0.02, 0.03, 0.04, 0.93, 0.96, 0.97]
    band = calibration_band(y, p, strategy="uniform")
    np.testing.assert_array_equal(band.n_rows, [3, 3])
    np.testing.assert_allclose(band.left, [0.0, 0.9])
    np.testing.assert_allclose(band.right, [0.1, 1.0])


@pytest.mark.parametrize("prior", ["auto", "laplace", 2.0])
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_intervals_are_those_of_proportions(prior, kind, global_random_seed):
    y, p = sample(global_random_seed)
    band = calibration_band(y, p, prior=prior, kind=kind, level=0.9)
    hits = np.rint(band.observed * band.n_rows).astype(int)
    expected = proportion_posterior(hits, band.n_rows - hits, prior=prior).interval(0.9, kind)
    np.testing.assert_allclose([band.low, band.high], expected)


def test_intervals_are_nested_in_the_level(global_random_seed):
    y, p = sample(global_random_seed)
    narrow, wide = (calibration_band(y, p, level=level) for level in (0.8, 0.95))
    assert np.all((wide.low <= narrow.low) & (narrow.high <= wide.high))
    for name in ("slope", "intercept", "intercept_in_the_large", "observed_minus_predicted"):
        low, high = getattr(narrow, name).interval(0.8)
        lower, higher = getattr(wide, name).interval(0.95)
        assert lower < low < high < higher


def test_outside_says_which_bins_miss_the_prediction():
    y = np.r_[np.zeros(50, int), np.arange(50) % 2]
    p = np.r_[np.full(50, 0.4), np.full(50, 0.5)]
    np.testing.assert_array_equal(calibration_band(y, p, n_bins=2).outside, [True, False])


# --------------------------------------------------------------------------------------------------
# The class


def test_columns_are_read_by_the_sorted_labels():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    model = GaussianNB().fit(X[:300, :3], names[:300])
    proba = model.predict_proba(X[300:, :3])
    truth = names[300:]
    for k, label in enumerate(model.classes_):
        band = calibration_band(truth, proba, pos_label=label)
        alone = calibration_band(truth == label, proba[:, k])
        np.testing.assert_allclose([band.low, band.high], [alone.low, alone.high])
        assert band.pos_label == label
        assert f"pos_label='{label}'" in repr(band)
    with pytest.raises(InvalidParameterError, match="pos_label"):
        calibration_band(truth, proba)


def test_one_class_of_many_is_against_the_rest():
    X, y = load_iris(return_X_y=True)
    proba = GaussianNB().fit(X, y).predict_proba(X)
    band = calibration_band(y, proba, pos_label=1, n_bins=4, strategy="uniform")
    share, mean = calibration_curve(y == 1, proba[:, 1], n_bins=4)
    np.testing.assert_allclose(band.observed, share)
    np.testing.assert_allclose(band.mean_predicted, mean)
    with pytest.raises(InvalidParameterError, match="name it with pos_label="):
        calibration_band(y, proba)


def test_the_other_class_is_the_mirror_image(global_random_seed):
    y, p = sample(global_random_seed)
    one, other = (
        calibration_band(y, np.c_[1 - p, p], pos_label=label, n_bins=1) for label in (1, 0)
    )
    np.testing.assert_allclose([one.low, one.high], 1 - np.array([other.high, other.low]))
    level = 0.95
    np.testing.assert_allclose(one.slope.interval(level), other.slope.interval(level), atol=1e-7)
    np.testing.assert_allclose(
        one.intercept.interval(level), -np.array(other.intercept.interval(level))[::-1], atol=1e-7
    )


# --------------------------------------------------------------------------------------------------
# Slope and intercept


def test_with_many_rows_the_posterior_is_the_maximum_likelihood(global_random_seed):
    y, p = sample(global_random_seed, n=20_000, slope=0.6)
    band = calibration_band(y, p)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(p)[:, None], y)
    rate = model.predict_proba(logit(p)[:, None])[:, 1]
    rows = np.c_[np.ones(p.size), logit(p)]
    spread = np.sqrt(np.diag(np.linalg.inv((rows * (rate * (1 - rate))[:, None]).T @ rows)))
    for posterior, mean, std in zip(
        (band.intercept, band.slope), (model.intercept_[0], model.coef_[0, 0]), spread, strict=True
    ):
        assert posterior.mean() == pytest.approx(mean, abs=0.02 * std)
        assert posterior.std() == pytest.approx(std, rel=0.01)


def test_calibration_in_the_large_is_one_posterior_seen_twice(global_random_seed):
    y, p = sample(global_random_seed, centre=-1.0)
    band = calibration_band(y, p)
    low, high = band.intercept_in_the_large.interval()
    ends = [expit(a + logit(p)).mean() - p.mean() for a in (low, high)]
    np.testing.assert_allclose(band.observed_minus_predicted.interval(), ends, atol=1e-9)
    assert band.observed_minus_predicted.observed == pytest.approx(y.mean() - p.mean())
    assert band.observed_minus_predicted.prob(*ends) == pytest.approx(0.95, abs=1e-9)


def test_separable_rows_have_a_posterior():
    p = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    band = calibration_band(p > 0.5, p, n_bins=2)
    low, high = band.slope.interval()
    assert 0 < low < 1 < high < 100
    assert np.isfinite(band.intercept.interval()).all()


def test_probabilities_of_0_and_1_are_clipped_and_told():
    y = np.array([0, 0, 1, 0, 1, 1, 1, 0] * 5)
    p = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 0.0, 1.0] * 5)
    band = calibration_band(y, p)
    assert band.n_clipped == 20
    assert any("20 of 40 probabilities were moved to 1e-06" in text for text in band.warnings)
    moved = calibration_band(y, np.clip(p, 1e-6, 1 - 1e-6))
    assert moved.n_clipped == 0
    assert band.slope.interval() == pytest.approx(moved.slope.interval())
    farther = calibration_band(y, p, clip=0.01)
    assert farther.slope.mean() > band.slope.mean()
    np.testing.assert_array_equal(farther.low, band.low)  # bins are of what was predicted


def test_equal_probabilities_have_no_slope():
    band = calibration_band([0, 0, 0, 1, 1, 0, 0, 0], np.full(8, 0.25))
    assert band.slope is None
    assert band.intercept is None
    assert "slope=undefined" in repr(band)
    assert band.observed_minus_predicted.observed == 0
    assert band.to_dict()["slope"] is None
    assert len(band.report().to_dict()["sections"]["recalibration"]["rows"]) == 3


def test_probabilities_of_the_other_class_are_told(global_random_seed):
    y, p = sample(global_random_seed)
    assert calibration_band(y, p).warnings == ()
    assert "belong to another class" in calibration_band(y, 1 - p).warnings[0]


# --------------------------------------------------------------------------------------------------
# ECE


def test_ece_of_one_bin_is_a_binomial_mean():
    y, p = np.arange(20) < 7, np.full(20, 0.3)
    band = calibration_band(y, p, n_bins=1)
    assert band.ece == pytest.approx(0.05)
    mass = binom.pmf(np.arange(21), 20, 0.3)
    assert band.expected_ece == pytest.approx(mass @ np.abs(np.arange(21) / 20 - 0.3))


def test_expected_ece_is_the_mean_over_calibrated_labels(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    p = rng.beta(1, 3, 200)
    band = calibration_band(rng.random(200) < p, p)
    number = np.searchsorted(band.right[:-1], p)
    runs = 4000
    drawn = np.zeros(runs)
    for y in np.array_split(rng.random((runs, 200)) < p, 1):
        for k in range(band.n_rows.size):
            drawn += np.abs((y - p)[:, number == k].sum(axis=1)) / 200
    error = drawn.std() / np.sqrt(runs)
    assert abs(drawn.mean() - band.expected_ece) < 4.5 * error


# --------------------------------------------------------------------------------------------------
# Folds


@pytest.fixture(scope="module")
def cross_validated():
    X, y = make_classification(400, 6, flip_y=0.2, random_state=1)
    return X, y, BayesianCrossValidator(GaussianNB(), cv=5, keep_predictions=True).fit(X, y)


def test_folds_bring_their_probabilities_and_weights(cross_validated):
    _, y, bcv = cross_validated
    band = calibration_band(y, bcv, n_bins=4)
    p, fold = np.empty(len(y)), np.empty(len(y), int)
    for k, (test, part) in enumerate(
        zip(bcv.cv_results_["indices"]["test"], bcv.scores_, strict=True)
    ):
        p[test], fold[test] = part[:, 1], k
    share, mean = calibration_curve(y, p, n_bins=4, strategy="quantile")
    np.testing.assert_allclose(band.observed, share)
    np.testing.assert_allclose(band.mean_predicted, mean)
    assert (band.n_folds, band.n) == (5, 400)
    # The share of a bin is the precision of the rule that calls its rows positive.
    inside = (p > band.left[2]) & (p <= band.right[2])
    counts = [
        [[((fold == k) & (y == t) & (inside == c)).sum() for c in (0, 1)] for t in (0, 1)]
        for k in range(5)
    ]
    expected = fold_posterior(counts, "precision")
    np.testing.assert_allclose((band.low[2], band.high[2]), expected.interval())
    assert band.omega["shares"][2] == pytest.approx(expected.diagnostics.omega)


def test_weights_of_coefficients_widen_them(cross_validated):
    _, y, bcv = cross_validated
    band = calibration_band(y, bcv)
    p = np.empty(len(y))
    for test, part in zip(bcv.cv_results_["indices"]["test"], bcv.scores_, strict=True):
        p[test] = part[:, 1]
    plain = calibration_band(y, p)
    for name in ("slope", "intercept", "intercept_in_the_large"):
        omega = band.omega[name]
        assert 0.2 < omega <= 0.6 + 1e-12  # (K + 1) / (2 K) at most
        ratio = getattr(band, name).std() / getattr(plain, name).std()
        assert ratio == pytest.approx(omega**-0.5, rel=0.1)
    assert plain.omega is None


def test_given_weights_are_used():
    X, y = make_classification(200, 6, flip_y=0.3, random_state=1)
    bcv = BayesianCrossValidator(GaussianNB(), cv=5, keep_predictions=True, omega="wang_li")
    assert calibration_band(y, bcv.fit(X, y)).omega["slope"] == pytest.approx(0.6)
    bcv = BayesianCrossValidator(GaussianNB(), cv=5, keep_predictions=True, omega=0.4)
    assert calibration_band(y, bcv.fit(X, y)).omega["intercept"] == 0.4


def test_folds_without_probabilities_are_refused(cross_validated):
    X, y, _ = cross_validated
    decisions = BayesianCrossValidator(LinearSVC(), cv=3, keep_predictions=True).fit(X, y)
    with pytest.raises(InvalidParameterError, match=r"decision_function.*predict_proba"):
        calibration_band(y, decisions)
    nothing = BayesianCrossValidator(GaussianNB(), cv=3).fit(X, y)
    with pytest.raises(InvalidParameterError, match="keep_predictions=True"):
        calibration_band(y, nothing)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    repeated = BayesianCrossValidator(GaussianNB(), cv=cv, keep_predictions=True).fit(X, y)
    with pytest.raises(InvalidParameterError, match="every row must be tested once"):
        calibration_band(y, repeated)


def test_decision_values_of_many_classes_are_refused():
    X, y = load_iris(return_X_y=True)
    svm = BayesianCrossValidator(LinearSVC(), cv=3, keep_predictions=True).fit(X, y)
    with pytest.raises(InvalidParameterError, match="decision_function"):
        calibration_band(y, svm, pos_label=1)


# --------------------------------------------------------------------------------------------------
# The result


def test_results_are_plain_and_portable(cross_validated):
    _, y, bcv = cross_validated
    y_small, p = sample(0)
    for band in (calibration_band(y_small, p), calibration_band(y, bcv)):
        back = pickle.loads(pickle.dumps(band))
        assert isinstance(back, CalibrationBand)
        assert repr(back) == repr(band)
        assert "\n" not in repr(band)
        told = band.to_dict()
        assert told["low"] == band.low.tolist()
        assert told["slope"]["low"] == band.slope.interval(band.level).low
        assert band.report().to_dict()["report"] == "calibration"
        with pytest.raises(AttributeError):
            band.level = 0.5


def test_the_report_shows_ece_beside_its_mean_by_chance():
    y, p = sample(0)
    band = calibration_band(y, p)
    text = str(band.report())
    assert f"{band.ece:.3f}" in text
    assert f"{band.expected_ece:.3f}" in text
    rows = band.report().to_dict()["sections"]["recalibration"]["rows"]
    assert rows[-1] == {"name": "ECE", "if calibrated": band.expected_ece, "found": band.ece}


def test_frame_has_a_row_per_bin():
    pytest.importorskip("pandas")
    y, p = sample(0)
    frame = calibration_band(y, p, n_bins=5).to_frame()
    assert frame.shape == (5, 7)
    assert frame["n_rows"].sum() == 300


# --------------------------------------------------------------------------------------------------
# Coverage, in short; benchmarks/calibration_coverage.py has more


@pytest.mark.slow
@pytest.mark.slow
def test_intervals_hold_the_truth(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    hits, runs = np.zeros(3), 300
    for _ in range(runs):
        x = rng.normal(-1, 1.3, 250)
        true = expit(0.4 + 0.7 * x)
        y = rng.random(250) < true
        band = calibration_band(y, expit(x), n_bins=5)
        number = np.searchsorted(band.right[:-1], expit(x))
        truth = np.bincount(number, true) / band.n_rows
        inside = [
            np.mean((band.low <= truth) & (truth <= band.high)),
            *(low <= t <= high for (low, high), t in (
                (band.slope.interval(), 0.7), (band.intercept.interval(), 0.4))),
        ]  # fmt: skip
        hits += np.array(inside, dtype=float)
    # Four standard errors of 300 runs are .05.
    assert np.all(np.abs(hits / runs - 0.955) < 0.05)
