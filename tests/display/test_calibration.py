"""Displays of calibration bands: what is drawn, against the bands."""

import io

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skuncertain import BayesianCrossValidator
from skuncertain.display import CalibrationBandDisplay
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import calibration_band

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1.5, 400)
    return (rng.random(400) < expit(0.6 * x)).astype(int), expit(x)


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, [1, 4, 8]], y


def texts(display):
    found = [text.get_text() for text in display.legend_.get_texts()]
    return [text.replace("\u00a0", " ").replace("\n", " ") for text in found]


def test_bars_show_the_band(sample):
    band = calibration_band(*sample, level=0.9)
    display = CalibrationBandDisplay.from_predictions(*sample, level=0.9)
    x, y = display.lines_[0].get_data()
    np.testing.assert_allclose(x, band.mean_predicted)
    np.testing.assert_allclose(y, band.observed)
    segments = np.array(display.fills_[0].get_segments())
    np.testing.assert_allclose(segments[:, 0], np.c_[x, band.low])
    np.testing.assert_allclose(segments[:, 1], np.c_[x, band.high])
    np.testing.assert_array_equal(display.diagonal_.get_data(), [[0, 1], [0, 1]])
    assert display.histogram_ax_ is None
    assert "90 %" in display.ax_.get_xlabel()


def test_points_are_those_of_scikit_learn(sample):
    ours = CalibrationBandDisplay.from_predictions(*sample, n_bins=7, strategy="uniform")
    theirs = CalibrationDisplay.from_predictions(*sample, n_bins=7, strategy="uniform")
    np.testing.assert_allclose(ours.lines_[0].get_data(), (theirs.prob_pred, theirs.prob_true))


def test_a_band_is_drawn_through_the_ends(sample):
    display = CalibrationBandDisplay.from_predictions(*sample, style="band")
    band = display.bands[None]
    corners = display.fills_[0].get_paths()[0].vertices
    for x, low, high in zip(band.mean_predicted, band.low, band.high, strict=True):
        at = corners[np.isclose(corners[:, 0], x), 1]
        assert (at.min(), at.max()) == (pytest.approx(low), pytest.approx(high))


def test_the_histogram_is_below_and_covers_nothing(sample):
    display = CalibrationBandDisplay.from_predictions(*sample, histogram=True)
    figure, strip = display.figure_, display.histogram_ax_
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    (stairs,) = strip.patches
    np.testing.assert_array_equal(stairs.get_data().values, display.bands[None].histogram)
    assert display.bands[None].histogram.sum() == 400
    label = display.ax_.xaxis.label.get_window_extent(renderer)
    ticks = display.ax_.xaxis.get_ticklabels()[0].get_window_extent(renderer)
    box = strip.get_window_extent(renderer)
    assert label.y1 < box.y0 < box.y1 < ticks.y0
    assert label.y0 >= 0


def test_the_legend_has_slope_and_intercept_of_every_model(sample):
    y, p = sample
    display = CalibrationBandDisplay.from_predictions(y, {"a": p, "b": p**2})
    band = display.bands["b"]
    low, high = band.slope.interval()
    assert texts(display)[1].startswith(
        f"b: slope {band.slope.observed:.2f} [{low:.2f}, {high:.2f}]"
    )
    assert "intercept" in texts(display)[0]
    frame = display.to_frame()
    assert frame.shape == (20, 8)
    assert list(frame["name"].unique()) == ["a", "b"]
    assert "b: slope" in display.alt_text().replace("\u00a0", " ")


def test_the_class_is_named(sample):
    y, p = sample
    names = np.array(["well", "ill"])[y]
    display = CalibrationBandDisplay.from_predictions(names, p, pos_label="ill")
    assert "of class ill" in display.ax_.get_xlabel()
    assert "of class ill" in display.ax_.get_ylabel()
    assert "of class ill" in display.alt_text()


def test_from_estimator_reads_the_column_of_the_class(data):
    X, y = data
    names = np.array(["malignant", "benign"])[y]
    model = GaussianNB().fit(X[:300], names[:300])
    display = CalibrationBandDisplay.from_estimator(
        model, X[300:], names[300:], pos_label="malignant", n_bins=5
    )
    expected = calibration_band(
        names[300:], model.predict_proba(X[300:]), pos_label="malignant", n_bins=5
    )
    np.testing.assert_allclose(display.bands[None].low, expected.low)
    assert texts(display)[0].startswith("GaussianNB: slope")
    with pytest.raises(InvalidParameterError, match="has no predict_proba"):
        CalibrationBandDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


def test_folds_are_pooled(data):
    X, y = data
    results = cross_validate(GaussianNB(), X, y, return_estimator=True, return_indices=True)
    display = CalibrationBandDisplay.from_cv_results(results, X, y)
    p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    np.testing.assert_allclose(display.bands[None].observed, calibration_band(y, p).observed)
    bcv = BayesianCrossValidator(GaussianNB(), cv=5, keep_predictions=True).fit(X, y)
    other = CalibrationBandDisplay.from_predictions(y, bcv)
    np.testing.assert_allclose(display.bands[None].low, other.bands[None].low)
    assert texts(other)[0].startswith("folds pooled: slope")
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    repeated = cross_validate(GaussianNB(), X, y, cv=cv, return_estimator=True, return_indices=True)
    with pytest.raises(InvalidParameterError, match="tested once"):
        CalibrationBandDisplay.from_cv_results(repeated, X, y)


def test_options_and_files(sample):
    display = CalibrationBandDisplay.from_predictions(
        *sample, line_kwargs={"c": "black"}, fill_kwargs={"lw": 3}
    )
    assert display.lines_[0].get_color() == "black"
    assert display.fills_[0].get_linewidths()[0] == 3
    with pytest.raises(TypeError, match=r"has no option 'styl' here\. Did you mean 'style'"):
        CalibrationBandDisplay.from_predictions(*sample, styl="band")
    buffer = io.BytesIO()
    display.save(buffer, format="png")
    assert b"Observed share against the predicted probability" in buffer.getvalue()


def test_it_draws_into_given_axes(sample):
    figure, (left, _) = plt.subplots(1, 2)
    display = CalibrationBandDisplay.from_predictions(*sample, ax=left, name="mine")
    assert (display.ax_, display.figure_) == (left, figure)
    CalibrationBandDisplay.from_predictions(*sample, ax=left, name="again")
    assert len(left.get_legend().get_texts()) == 2
