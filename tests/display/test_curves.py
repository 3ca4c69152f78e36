"""Displays of bands around curves: what is drawn, against the bands."""

import io
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import precision_recall_curve, roc_curve
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from auc_cases import curve_data, sample
from skuncertain import BayesianCrossValidator
from skuncertain.display import PrecisionRecallBandDisplay, RocBandDisplay
from skuncertain.metrics import RocBand, precision_recall_band, roc_band

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

DISPLAYS = [(RocBandDisplay, roc_band), (PrecisionRecallBandDisplay, precision_recall_band)]
LONG = [
    "an extremely long $name$ with_many_parts <and> more, which nobody would type",
    "GradientBoostingClassifier(learning_rate=0.05, n_estimators=300, max_depth=3)",
    "_hidden",
]
display_and_band = pytest.mark.parametrize(("cls", "make"), DISPLAYS)


@pytest.fixture(scope="module")
def data():
    return curve_data()


def legend_texts(display):
    texts = [text.get_text() for text in display.legend_.get_texts()]
    return [text.replace("\u00a0", " ").replace("\n", " ").strip() for text in texts]


def area_text(found):
    low, high = found.area.interval(found.level)
    kind = "AUC" if isinstance(found, RocBand) else "AP"
    return f"{kind} {found.area.observed:.3f} [{low:.3f}, {high:.3f}]"


def band_of(fill):
    """Lower and upper ends of a filled band, by its corners."""
    corners = fill.get_paths()[0].vertices
    table = pd.DataFrame(corners.round(9), columns=["x", "y"]).groupby("x")["y"]
    return table.min(), table.max()


@display_and_band
def test_artists_show_the_band(cls, make):
    y, score = sample(0, digits=1)
    display = cls.from_predictions(y, score, level=0.9)
    found = make(y, score, level=0.9)
    low, high = band_of(display.fills_[0])
    np.testing.assert_allclose((low, high), found.at(low.index.to_numpy()), atol=1e-8)
    assert (low.index[0], low.index[-1]) == (0, 1)
    assert len(low) > 300
    (line,) = display.lines_
    x, curve = line.get_data()
    if cls is RocBandDisplay:
        expected = roc_curve(y, score, drop_intermediate=False)[:2]
        np.testing.assert_allclose((x, curve), expected, atol=1e-15)
        assert line.get_drawstyle() == "default"
        np.testing.assert_array_equal(display.chance_line_.get_data(), [[0, 1], [0, 1]])
        bare = cls.from_predictions(y, score, plot_chance_level=False)
        assert bare.chance_line_ is None
    else:
        values, recall, _ = precision_recall_curve(y, score)
        used = recall > 0
        np.testing.assert_allclose(x[1:], recall[used][::-1])
        np.testing.assert_allclose(curve[1:], values[used][::-1])
        assert (x[0], curve[0]) == (0, curve[1])
        assert line.get_drawstyle() == "steps-pre"  # as average precision adds up
        assert display.iso_lines_ == []
    assert legend_texts(display) == [area_text(found)]
    ax = display.ax_
    names = ("false positive rate", "true positive rate")
    names = names if cls is RocBandDisplay else ("recall", "precision")
    assert ax.get_xlabel() == f"{names[0]}; shaded: 90 % simultaneous band"
    assert ax.get_ylabel() == names[1]
    assert ax.get_title() == ""
    assert ax.get_aspect() == 1


@pytest.mark.slow
@display_and_band
def test_several_models(cls, make):
    y, score = sample(0)
    rng = np.random.default_rng(1)
    scores = {"old": score, "new": score + y, "noise": rng.normal(size=y.size)}
    display = cls.from_predictions(y, scores, name="three", band="pointwise")
    bands = {name: make(y, one, band="pointwise") for name, one in scores.items()}
    assert legend_texts(display) == [f"{name}: {area_text(b)}" for name, b in bands.items()]
    assert display.ax_.get_title() == "three"
    assert len({line.get_color() for line in display.lines_}) == 3
    assert len({line.get_linestyle() for line in display.lines_}) == 3
    frame = display.to_frame()
    assert frame["name"].unique().tolist() == list(scores)
    for (name, found), fill in zip(bands.items(), display.fills_, strict=True):
        part = frame[frame["name"] == name]
        np.testing.assert_allclose(found.at(part.iloc[:, 1]), part[["low", "high"]].to_numpy().T)
        low, high = band_of(fill)
        np.testing.assert_allclose((low, high), found.at(low.index.to_numpy()), atol=1e-8)
    again = cls.from_band(bands)
    pd.testing.assert_frame_equal(again.to_frame(), frame)
    # One after the other on the same axes: other colours, one legend of both.
    first = cls.from_predictions(y, score, name="old")
    second = cls.from_predictions(y, score + y, name="new", ax=first.ax_)
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    assert [text.partition(":")[0] for text in legend_texts(second)] == ["old", "new"]


@display_and_band
def test_display_of_an_estimator(cls, make, data):
    X, y = data
    names = np.array(["good", "bad"])[y]  # the first class is "bad"
    for estimator in (GaussianNB(), LinearSVC()):
        fitted = estimator.fit(X[:80], names[:80])
        for pos_label in ("good", "bad"):
            display = cls.from_estimator(fitted, X[80:], names[80:], pos_label=pos_label, level=0.8)
            if isinstance(estimator, LinearSVC):
                score = fitted.decision_function(X[80:]) * (1 if pos_label == "good" else -1)
            else:
                score = fitted.predict_proba(X[80:])[:, 1 if pos_label == "good" else 0]
            found = make(names[80:], score, pos_label=pos_label, level=0.8)
            assert legend_texts(display) == [f"{type(estimator).__name__}: {area_text(found)}"]
            np.testing.assert_array_equal(display.bands[None].low, found.low)
    own = cls.from_estimator(fitted, X, names, pos_label="good", name="mine")
    assert legend_texts(own)[0].startswith("mine: ")


@display_and_band
def test_display_of_one_class_of_three(cls, make):
    X, y = load_iris(return_X_y=True)
    fitted = GaussianNB().fit(X[::2, :2], y[::2])
    display = cls.from_estimator(fitted, X[1::2, :2], y[1::2], pos_label=1)
    found = make(y[1::2] == 1, fitted.predict_proba(X[1::2, :2])[:, 1])
    np.testing.assert_array_equal(display.bands[None].high, found.high)
    with pytest.raises(ValueError, match=r"3 classes \[0, 1, 2\]: name the one .* pos_label="):
        cls.from_estimator(fitted, X[:, :2], y)
    with pytest.raises(ValueError, match="a fitted classifier with classes_ is needed"):
        cls.from_estimator(GaussianNB(), X, y)


@display_and_band
def test_display_of_cross_validations(cls, make, data):
    X, y = data
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    options = {"cv": folds, "return_estimator": True, "return_indices": True}
    for estimator, way in ((GaussianNB(), "predict_proba"), (LinearSVC(), "decision_function")):
        results = cross_validate(estimator, X, y, **options)
        display = cls.from_cv_results(results, pd.DataFrame(X), y, pos_label=0, name="cv")
        score = cross_val_predict(estimator, X, y, cv=folds, method=way)
        plain = make(y, -score if score.ndim == 1 else score[:, 0], pos_label=0)
        assert np.all(plain.at(0.5)[0] > display.bands[None].at(0.5)[0])
        bcv = BayesianCrossValidator(
            estimator, cv=folds, pos_label=0, keep_predictions=True, refit=False
        )
        expected = make(y, bcv.fit(X, y))
        np.testing.assert_array_equal(display.bands[None].low, expected.low)
        np.testing.assert_array_equal(display.bands[None].high, expected.high)
        text = legend_texts(display)[0]
        assert text.startswith(f"cv: {'AUC' if make is roc_band else 'AP'} ")
        assert f"{expected.area.observed:.3f}" in text
        # Rows count less than independent ones.
        assert display.bands[None].area.interval() == expected.area.interval()
        assert expected.area.interval().width > plain.area.interval().width
        assert "folds pooled" in expected.area.description
    bcv = BayesianCrossValidator(GaussianNB(), cv=folds, keep_predictions=True, refit=False)
    display = cls.from_predictions(y, bcv.fit(X, y), name="bcv")
    np.testing.assert_array_equal(display.bands[None].low, make(y, bcv).low)
    # Without a name the legend says that this is not the mean of the areas of the folds.
    assert legend_texts(cls.from_predictions(y, bcv))[0].startswith("folds pooled: A")
    with pytest.raises(ValueError, match="return_estimator=True, return_indices=True"):
        cls.from_cv_results(cross_validate(GaussianNB(), X, y), X, y)
    options["cv"] = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    with pytest.raises(ValueError, match="every row must be tested once"):
        cls.from_cv_results(cross_validate(GaussianNB(), X, y, **options), X, y)


def test_lines_of_equal_f1():
    y, score = sample(0)
    display = PrecisionRecallBandDisplay.from_predictions(y, score, iso_f1=True)
    assert len(display.iso_lines_) > 3
    for line in display.iso_lines_:
        recall, values = line.get_data()
        f1 = 2 * recall * values / (recall + values)
        assert np.ptp(f1) < 1e-9
    labels = [text.get_text() for text in display.ax_.texts]
    assert "F1 0.8" in labels


@display_and_band
def test_what_all_displays_promise(cls, make, tmp_path):
    y, score = sample(0)
    before = dict(matplotlib.rcParams)
    display = cls.from_predictions(y, {"a": score, "b": -score}, name="some title")
    assert dict(matplotlib.rcParams) == before
    buffer = io.BytesIO()
    display.figure_.savefig(buffer, dpi=60)
    buffer.seek(0)
    image = plt.imread(buffer)
    assert len(np.unique(image.reshape(-1, image.shape[-1]), axis=0)) > 30
    text = display.alt_text()
    assert "\n" not in text
    assert text.endswith(".")
    for name, found in display.bands.items():
        assert f"{name}: {area_text(found)}" in text.replace("\u00a0", " ")
        low, high = found.at(0.5)
        assert f"0.5 from {low:.3f} to {high:.3f}" in text
    assert "95 % simultaneous band" in text
    display.save(tmp_path / "figure.png", dpi=50)
    with pytest.importorskip("PIL.Image").open(tmp_path / "figure.png") as saved:
        assert saved.text["Description"] == text
        assert saved.text["Title"] == "some title"
    assert display.plot() is display  # again, on a figure of its own
    assert len(plt.get_fignums()) == 2
    many = cls.from_predictions(y, {f"model {k}": score + k * y for k in range(12)})
    assert "and 2 more" in many.alt_text()


@display_and_band
def test_names_stay_inside_the_figure(cls, make):
    y, score = sample(0)
    display = cls.from_predictions(y, {name: score for name in LONG}, name="costs in $ or $$ " * 3)
    display.figure_.canvas.draw()
    edge = display.figure_.bbox
    ax = display.ax_
    legend = display.legend_.get_texts()
    assert len(legend) == 3
    boxes = []
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *legend):
        box = text.get_window_extent()
        assert box.x0 >= edge.x0 - 1
        assert box.x1 <= edge.x1 + 1
        assert box.y0 >= edge.y0 - 1
        assert box.y1 <= edge.y1 + 1
        boxes.append(box.shrunk(0.9, 0.9))
    assert not [a for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]
    assert legend[2].get_text().strip().startswith("_hidden")
    assert all(area_text(display.bands[LONG[0]])[:9] in text for text in legend_texts(display))


@display_and_band
def test_given_axes(cls, make):
    y, score = sample(0)
    figure, axes = plt.subplots(1, 2, figsize=(10, 5))
    display = cls.from_predictions(y, score, ax=axes[1], name="given")
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    figure.canvas.draw()
    assert axes[1].get_tightbbox().x0 >= axes[0].get_tightbbox().x1 - 1
    assert axes[1].get_tightbbox().y1 <= figure.bbox.y1 + 1


@display_and_band
def test_options_reach_the_artists(cls, make):
    y, score = sample(0)
    display = cls.from_predictions(
        y,
        score,
        line_kwargs={"c": "red", "lw": 5},
        fill_kwargs={"alpha": 0.5},
        legend_kwargs={"loc": "lower right"},
    )
    assert display.lines_[0].get_color() == "red"
    assert display.lines_[0].get_linewidth() == 5
    assert display.fills_[0].get_alpha() == 0.5


@display_and_band
def test_display_errors(cls, make, monkeypatch):
    y, score = sample(0)
    other = precision_recall_band if make is roc_band else roc_band
    message = r"bands must be .*Band, or bands a dict of them by name, got"
    with pytest.raises(TypeError, match=message):
        cls.from_band(other(y, score))
    with pytest.raises(ValueError, match="at least one, got an empty dict"):
        cls.from_band({})
    with pytest.raises(TypeError, match=r"'line_kwarg' here. Did you mean 'line_kwargs'\?"):
        cls.from_predictions(y, score, line_kwarg={})
    fitted = GaussianNB().fit(score[:, None], y)
    with pytest.raises(TypeError, match=r"no option 'bands' here."):
        cls.from_estimator(fitted, score[:, None], y, bands="pointwise")
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, got ndarray"):
        cls.from_predictions(y, score, ax=plt.subplots(1, 2)[1])
    display = cls.from_predictions(y, score)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot needs matplotlib.*skuncertain\[plot\]"):
        display.plot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"frame needs pandas.*skuncertain\[pandas\]"):
        display.to_frame()
    with pytest.raises(ImportError, match=r"to_frame needs pandas.*skuncertain\[pandas\]"):
        make(y, score).to_frame()
