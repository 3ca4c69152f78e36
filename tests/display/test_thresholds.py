"""Displays along the threshold: what is drawn, against the numbers."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    RepeatedStratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from auc_cases import curve_data, sample
from skuncertain import BayesianCrossValidator
from skuncertain.display import NetBenefitDisplay, ThresholdDisplay
from skuncertain.metrics import intervals_at_thresholds, net_benefit_curve

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

BOTH = pytest.mark.parametrize("cls", [ThresholdDisplay, NetBenefitDisplay])


def proba_sample(seed=0):
    y, score = sample(seed)
    return y, 1 / (1 + np.exp(-2 * score + 1))


@pytest.fixture(scope="module")
def data():
    return curve_data()


def legend_texts(display):
    texts = [text.get_text() for text in display.legend_.get_texts()]
    return [text.replace("\u00a0", " ").replace("\n", " ").strip() for text in texts]


def band_of(fill):
    """Lower and upper ends of a filled band, by its corners."""
    corners = pd.DataFrame(fill.get_paths()[0].vertices.round(9), columns=["x", "y"])
    table = corners.groupby("x")["y"]
    return table.min(), table.max()


# --------------------------------------------------------------------------------------------------
# Metrics


def test_metrics_and_their_bands():
    y, score = sample(0)
    names = ["precision", "mcc"]
    display = ThresholdDisplay.from_predictions(
        y, score, thresholds=[-0.5, 0.0, 0.4, 1.2], metrics=names, random_state=0, level=0.9
    )
    found = intervals_at_thresholds(
        y, score, [-0.5, 0.0, 0.4, 1.2], metrics=names, random_state=0, level=0.9
    )
    assert legend_texts(display) == names
    for name, line, fill in zip(names, display.lines_, display.fills_, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), found.thresholds)
        np.testing.assert_array_equal(line.get_ydata(), found.values[name])
        low, high = band_of(fill)
        np.testing.assert_allclose(low, found.low[name], atol=1e-8)
        np.testing.assert_allclose(high, found.high[name], atol=1e-8)
    ax = display.ax_
    assert "90 % pointwise intervals" in ax.get_xlabel()
    assert ax.get_xlim() == (-0.5, 1.2)
    assert ax.get_ylim()[0] <= min(found.low["mcc"].min(), 0)
    assert ax.get_ylim()[1] == pytest.approx(1, abs=0.05)
    frame = display.to_frame()
    assert list(frame) == ["name", "metric", "threshold", "value", "low", "high"]
    part = frame[frame["metric"] == "mcc"]
    np.testing.assert_array_equal(part["high"], found.high["mcc"])
    again = ThresholdDisplay.from_intervals(found)
    pd.testing.assert_frame_equal(again.to_frame(), frame)


def test_a_curve_has_many_thresholds():
    y, score = sample(0, 400, 400)
    display = ThresholdDisplay.from_predictions(y, score, metrics="recall")
    assert 190 <= len(display.to_frame()) <= 200
    assert len(ThresholdDisplay.from_predictions(y, score, thresholds=7).to_frame()) == 21
    assert display.ax_.get_ylabel() == "recall"


def test_the_class_is_in_the_legend(data):
    X, y = data
    names = np.array(["good", "bad"])[y]
    fitted = GaussianNB().fit(X[:80], names[:80])
    tuned = FixedThresholdClassifier(fitted, threshold=0.3, pos_label="bad").fit(X[:80], names[:80])
    display = ThresholdDisplay.from_estimator(
        tuned, X[80:], names[80:], pos_label="bad", metrics=["recall", "accuracy"]
    )
    assert legend_texts(display) == [
        "FixedThresholdClassifier: recall of class bad",
        "FixedThresholdClassifier: accuracy",  # the same for both classes
        "threshold in use, 0.3",
    ]
    assert display.threshold_lines_[0].get_xdata()[0] == 0.3
    assert "of class bad" in display.ax_.get_xlabel()
    assert "recall of class bad" in display.alt_text()
    assert "at 0.3" in display.alt_text()
    found = intervals_at_thresholds(
        names[80:], tuned, 200, X=X[80:], pos_label="bad", metrics=["recall", "accuracy"]
    )
    np.testing.assert_array_equal(display.intervals[None].low["recall"], found.low["recall"])
    with pytest.raises(ValueError, match=r"nothing tells whether that is 'bad' or 'good'"):
        ThresholdDisplay.from_estimator(fitted, X, names)


def test_metrics_of_any_range():
    y, score = sample(0)
    places = [0.0, 0.5, 1.0]
    display = ThresholdDisplay.from_predictions(
        y, score, thresholds=places, metrics="positive_likelihood_ratio"
    )
    low, high = display.ax_.get_ylim()  # without an end: as matplotlib likes it
    assert low <= display.intervals[None].low["positive_likelihood_ratio"].min()
    assert high >= display.intervals[None].values["positive_likelihood_ratio"].max()


# --------------------------------------------------------------------------------------------------
# Net benefits


def test_net_benefits_and_their_bands():
    y, proba = proba_sample()
    display = NetBenefitDisplay.from_predictions(y, proba, name="mine", level=0.8)
    found = net_benefit_curve(y, proba, level=0.8)
    assert legend_texts(display) == ["mine", "treat all", "treat none"]
    (line,), (fill,) = display.lines_, display.fills_
    np.testing.assert_array_equal(line.get_ydata(), found.values["net_benefit"])
    low, high = band_of(fill)
    np.testing.assert_allclose(low, found.low["net_benefit"], atol=1e-8)
    np.testing.assert_allclose(high, found.high["net_benefit"], atol=1e-8)
    (everyone,) = display.all_lines_
    np.testing.assert_array_equal(everyone.get_ydata(), found.values["treat_all"])
    assert set(display.none_line_.get_ydata()) == {0.0}
    ax = display.ax_
    assert ax.get_xlabel() == "threshold probability; shaded: 80 % pointwise intervals"
    assert ax.get_ylabel() == "net benefit"
    assert ax.get_xlim() == (0.01, 0.99)
    bottom, top = ax.get_ylim()
    assert top > found.high["net_benefit"].max()
    assert -0.25 * top <= bottom < 0  # treating all goes down to -50
    assert found.values["treat_all"].min() < -10
    frame = display.to_frame()
    np.testing.assert_array_equal(frame["p_useful"], found.p_useful)
    pd.testing.assert_frame_equal(NetBenefitDisplay.from_curve(found).to_frame(), frame)
    bare = NetBenefitDisplay.from_curve(found, plot_treat_all=False)
    assert legend_texts(bare) == ["model", "treat none"]
    assert bare.all_lines_ == []


def test_models_share_what_treating_all_is_worth():
    y, proba = proba_sample()
    curves = {name: net_benefit_curve(y, one) for name, one in (("a", proba), ("b", proba**2))}
    display = NetBenefitDisplay.from_curve(curves, name="two")
    assert legend_texts(display) == ["a", "b", "treat all", "treat none"]
    assert len(display.all_lines_) == 1
    assert display.ax_.get_title() == "two"
    curves["c"] = net_benefit_curve(y[::2], proba[::2])  # other rows
    assert len(NetBenefitDisplay.from_curve(curves).all_lines_) == 2
    # One after the other on the same axes: other colours, one legend.
    first = NetBenefitDisplay.from_predictions(y, proba, name="old", thresholds=[0.1, 0.2])
    second = NetBenefitDisplay.from_predictions(y, proba**2, name="new", ax=first.ax_)
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    assert sorted(legend_texts(second)) == ["new", "old", "treat all", "treat none"]
    assert second.ax_.get_xlim() == (0.01, 0.99)


def test_net_benefits_say_class_prevalence_and_where_it_is_useful(data):
    X, y = data
    names = np.array(["good", "bad"])[y]
    fitted = GaussianNB().fit(X[:80], names[:80])
    display = NetBenefitDisplay.from_estimator(
        fitted, X[80:], names[80:], pos_label="bad", prevalence=0.2, thresholds=[0.2, 0.4, 0.6]
    )
    proba = fitted.predict_proba(X[80:])[:, 0]
    found = net_benefit_curve(
        names[80:], proba, pos_label="bad", prevalence=0.2, thresholds=[0.2, 0.4, 0.6]
    )
    np.testing.assert_array_equal(display.curves[None].low["gain"], found.low["gain"])
    assert legend_texts(display)[0] == "GaussianNB"
    assert "of class bad" in display.ax_.get_xlabel()
    assert display.ax_.get_ylabel() == "net benefit at prevalence 0.2"
    text = display.alt_text()
    sure = found.thresholds[found.p_useful >= 0.95]
    reach = f"{sure.min():.3g} to {sure.max():.3g}" if sure.size else "no threshold"
    assert text.endswith(f"with 95 % probability at {reach}.")
    assert f"{found.values['net_benefit'][1]:.3f}" in text
    useless = net_benefit_curve(y, np.full(y.size, 0.5))
    assert "probability at no threshold" in NetBenefitDisplay.from_curve(useless).alt_text()
    with pytest.raises(ValueError, match=r"must have predict_proba.*CalibratedClassifierCV"):
        NetBenefitDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


# --------------------------------------------------------------------------------------------------
# Both


@BOTH
def test_cross_validations(cls, data):
    X, y = data
    options = {"cv": 4, "return_estimator": True, "return_indices": True}
    results = cross_validate(GaussianNB(), X, y, **options)
    bcv = BayesianCrossValidator(GaussianNB(), cv=4, keep_predictions=True, refit=False).fit(X, y)
    display = cls.from_cv_results(results, X, y, thresholds=[0.2, 0.5])
    expected = cls.from_predictions(y, bcv, thresholds=[0.2, 0.5])
    pd.testing.assert_frame_equal(display.to_frame(), expected.to_frame())
    assert legend_texts(display)[0].startswith("folds pooled")
    plain = cls.from_predictions(
        y,
        np.concatenate([bcv.scores_[k][:, 1] for k in range(4)])[
            np.argsort(np.concatenate(bcv.cv_results_["indices"]["test"]))
        ],
        thresholds=[0.2, 0.5],
    )
    first, other = (next(iter(one._results().values())) for one in (display, plain))
    key = "recall" if cls is ThresholdDisplay else "net_benefit"
    np.testing.assert_allclose(first.values[key], other.values[key])
    assert np.all(first.high[key] - first.low[key] > other.high[key] - other.low[key])
    options["cv"] = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    with pytest.raises(ValueError, match="every row must be tested once"):
        cls.from_cv_results(cross_validate(GaussianNB(), X, y, **options), X, y)
    with pytest.raises(ValueError, match="return_estimator=True"):
        cls.from_cv_results({}, X, y)


@BOTH
def test_what_all_displays_promise(cls, tmp_path):
    y, proba = proba_sample()
    before = dict(matplotlib.rcParams)
    long = {"a" * 90: proba, "_hidden": proba**2, "costs $ and $$": proba**3}
    display = cls.from_predictions(y, long, name="some title", thresholds=5)
    assert dict(matplotlib.rcParams) == before
    display.figure_.canvas.draw()
    edge = display.figure_.bbox
    ax = display.ax_
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *display.legend_.get_texts()):
        box = text.get_window_extent()
        assert box.x0 >= edge.x0 - 1
        assert box.x1 <= edge.x1 + 1
        assert box.y1 <= edge.y1 + 1
    assert any(text.startswith("_hidden") for text in legend_texts(display))
    text = display.alt_text()
    assert "95 % pointwise intervals" in text
    assert text.endswith(".")
    assert "\n" not in text
    display.save(tmp_path / "figure.png", dpi=50)
    with pytest.importorskip("PIL.Image").open(tmp_path / "figure.png") as saved:
        assert saved.text["Description"] == text
    assert display.plot() is display
    styles = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(styles) == len(display.lines_)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    given = cls.from_predictions(y, proba, ax=axes[1], thresholds=5)
    assert (given.ax_, given.figure_) == (axes[1], figure)
    single = cls.from_predictions(y, proba, thresholds=[0.4])  # still to be seen
    assert single.lines_[0].get_marker() not in ("", "None", None)


@BOTH
def test_options_and_errors(cls, monkeypatch):
    y, proba = proba_sample()
    looks = {"line_kwargs": {"c": "red", "lw": 5}, "fill_kwargs": {"alpha": 0.5}}
    fitted = LogisticRegression().fit(proba[:, None], y)
    for display in (
        cls.from_predictions(y, proba, thresholds=5, **looks),
        cls.from_estimator(fitted, proba[:, None], y, thresholds=5, **looks),
    ):
        assert display.lines_[0].get_color() == "red"
        assert display.lines_[0].get_linewidth() == 5
        assert display.fills_[0].get_alpha() == 0.5
    make = cls.from_intervals if cls is ThresholdDisplay else cls.from_curve
    other = net_benefit_curve if cls is ThresholdDisplay else intervals_at_thresholds
    with pytest.raises(TypeError, match=r"must be (ThresholdIntervals|NetBenefitCurve), or"):
        make(other(y, proba))
    with pytest.raises(ValueError, match="at least one, got an empty dict"):
        make({})
    with pytest.raises(TypeError, match=r"'line_kwarg' here. Did you mean 'line_kwargs'\?"):
        cls.from_predictions(y, proba, line_kwarg={})
    with pytest.raises(TypeError, match=r"no option 'threshold' here. Did you mean 'thresholds'"):
        cls.from_estimator(fitted, proba[:, None], y, threshold=5)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot needs matplotlib.*skuncertain\[plot\]"):
        display.plot()
