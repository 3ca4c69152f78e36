"""What all displays promise: contract, room, files, refusals, names."""

import io
import sys

import pytest

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.metrics import ConfusionMatrixDisplay  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

from display_cases import (  # noqa: E402
    FOREST,
    LONG,
    NAMES,
    TREE,
    examples,
    legend_texts,
    painted,
    svg_texts,
    texts_of,
)
from skuncertain import ConfusionCounts, leaderboard  # noqa: E402
from skuncertain.display import (  # noqa: E402
    ComparisonDisplay,
    CoverageDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    RankDisplay,
)


def test_an_empty_plot_would_be_noticed():
    _, ax = plt.subplots()
    ax.set_title("a title")
    ax.grid(True)
    assert painted(ax) == 0


@pytest.mark.parametrize("name", NAMES)
def test_contract(name, bcv, search):
    make = examples(bcv, search)[name]
    before = dict(matplotlib.rcParams)
    display = make(name="some title")
    assert dict(matplotlib.rcParams) == before
    assert display.figure_ is display.ax_.figure
    assert painted(display.ax_) > 0.005
    shown = [
        display.ax_.get_title(),
        *(legend_texts(display) if hasattr(display, "legend_") else []),
    ]
    assert any("some title" in text for text in shown)
    frame = display.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    text = display.alt_text()
    assert "\n" not in text
    assert text.endswith(".")
    assert len(text) < 1500
    assert any(character.isdigit() for character in text)
    assert display.plot() is display  # again, on a figure of its own
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize("name", NAMES)
def test_texts_stay_inside_the_figure_and_apart(name, bcv, search):
    display = examples(bcv, search)[name](name="a title that is long enough to need two lines " * 2)
    display.figure_.canvas.draw()
    edge = display.figure_.bbox
    boxes = []
    for text in texts_of(display.ax_):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent()
            assert box.x0 >= edge.x0 - 1, text
            assert box.x1 <= edge.x1 + 1, text
            assert box.y0 >= edge.y0 - 1, text
            assert box.y1 <= edge.y1 + 1, text
            if not text.get_text().startswith("F1"):
                boxes.append(box.shrunk(0.9, 0.9))
    overlapping = [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]
    assert overlapping == []


@pytest.mark.parametrize("name", NAMES)
def test_given_axes_beside_a_confusion_matrix(name, bcv, search):
    fig, axes = plt.subplots(1, 2, figsize=(9, 4))
    ConfusionMatrixDisplay(TREE.counts).plot(ax=axes[0])
    display = examples(bcv, search)[name](ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is fig
    assert len(plt.get_fignums()) == 1
    fig.canvas.draw()
    neighbour = max(ax.get_tightbbox().x1 for ax in fig.axes if ax.get_position().x1 < 0.5)
    assert axes[1].get_tightbbox().x0 >= neighbour - 1
    assert axes[1].get_tightbbox().x0 > 0
    assert axes[1].get_position().width > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_missing_packages_are_named(name, bcv, search, monkeypatch):
    display = examples(bcv, search)[name]()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot needs matplotlib.*skuncertain\[plot\]"):
        display.plot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"frame needs pandas.*skuncertain\[pandas\]"):
        display.to_frame()


@pytest.mark.parametrize(
    ("suffix", "title", "text"),
    [("png", "Title", "Description"), ("svg", "title", "description"), ("pdf", "Title", "Subject")],
)
def test_save_writes_the_alternative_text(tmp_path, suffix, title, text):
    display = PosteriorDisplay.from_counts(TREE, metric="recall", name="a $tree$")
    path = tmp_path / f"figure.{suffix}"
    display.save(path, dpi=50)
    raw = path.read_bytes()
    if suffix == "png":
        image = pytest.importorskip("PIL.Image").open(path)
        assert image.text[text] == display.alt_text()
        assert image.text[title] == "PosteriorDisplay"
    else:
        words = "Posterior density of recall"
        assert words.encode() in raw or words.encode("utf-16-be") in raw
        assert title.encode() in raw
        assert text.encode() in raw


def test_save_of_other_formats_buffers_and_users_metadata(tmp_path):
    display = IntervalDisplay.from_counts(TREE, metrics=["recall"], name="a $tree$")
    display.save(tmp_path / "figure.jpg")
    buffer = io.BytesIO()
    display.save(buffer, format="png", metadata={"Author": "me"})
    image = pytest.importorskip("PIL.Image").open(buffer)
    assert image.text["Author"] == "me"
    assert image.text["Title"] == "a $tree$"
    assert "0.760 [0.629, 0.862]" in image.text["Description"]
    unplotted = CoverageDisplay(x=[0.5, 0.6], coverage={"a": [0.9, 0.95]}, level=0.95)
    unplotted.save(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match=r"no option 'metrics' here. Did you mean 'metric'\?"):
        PosteriorDisplay.from_counts(TREE, metrics=["f1"])
    with pytest.raises(TypeError, match=r"no option 'metric' here. Did you mean 'metrics'\?"):
        IntervalDisplay.from_counts(TREE, metric="f1")
    with pytest.raises(TypeError, match=r"option 'line_kwarg' here. Did you mean 'line_kwargs'\?"):
        IntervalDisplay.from_counts(TREE, line_kwarg={})
    with pytest.raises(TypeError, match="line_kwargs must be a dict of matplotlib options, got 3"):
        IntervalDisplay.from_counts(TREE, metrics=["recall"], line_kwargs=3)
    with pytest.raises(TypeError, match=r"ax must be a matplotlib Axes, got ndarray\. Index"):
        IntervalDisplay.from_counts(TREE, metrics=["recall"], ax=plt.subplots(1, 2)[1])
    with pytest.raises(ValueError, match="level must be a number in"):
        PosteriorDisplay.from_counts(TREE, level=95)
    with pytest.raises(ValueError, match="kind must be one of"):
        IntervalDisplay.from_counts(TREE, kind="central")


@pytest.mark.parametrize("cls", [IntervalDisplay, PosteriorDisplay, JointDisplay])
def test_stacks_and_wrong_types_are_refused(cls):
    with pytest.raises(
        ValueError, match=r"counts must be a single one, got a stack of shape \(2,\)"
    ):
        cls.from_counts(ConfusionCounts([TREE.counts, FOREST.counts]))
    with pytest.raises(TypeError, match=r"counts\['a'\] must be ConfusionCounts, .* got list"):
        cls.from_counts({"a": [[1, 2], [3, 4]]})
    with pytest.raises(ValueError, match="counts must hold at least one, got an empty dict"):
        cls.from_counts({})
    with pytest.raises(TypeError, match="estimator must be a fitted classifier with predict"):
        cls.from_estimator("tree", [[1]], [1])


@pytest.mark.parametrize("cls", [IntervalDisplay, PosteriorDisplay, JointDisplay])
def test_predictions_estimator_and_counts_agree(cls, data, tree):
    X, y = data
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:300], y[:300])
    one = cls.from_estimator(fitted, X[300:], y[300:], random_state=0)
    two = cls.from_predictions(y[300:], fitted.predict(X[300:]), random_state=0)
    counts = ConfusionCounts.from_predictions(y[300:], fitted.predict(X[300:]))
    three = cls.from_counts(counts, random_state=0)
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
    pd.testing.assert_frame_equal(two.to_frame(), three.to_frame())
    assert "DecisionTreeClassifier" in svg_texts(one)


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: IntervalDisplay.from_counts(LONG, metrics=["recall", "f1"], **k),
        lambda **k: IntervalDisplay.from_counts(LONG, metrics=["recall"], **k),
        lambda **k: PosteriorDisplay.from_counts(LONG, metric="recall", **k),
        lambda **k: PosteriorDisplay.from_counts(LONG, metric="recall", layout="rows", **k),
        lambda **k: ComparisonDisplay.from_counts(
            TREE, FOREST, metric="recall", names=tuple(LONG)[:2], **k
        ),
        lambda **k: RankDisplay.from_leaderboard(leaderboard(LONG, metric="recall"), **k),
        lambda **k: JointDisplay.from_counts(LONG, random_state=0, **k),
    ],
)
def test_long_names_with_signs_are_shown_inside_the_figure(make):
    display = make(name="costs in $ or $$, x_1 < x_2")
    display.figure_.canvas.draw()
    edge = display.figure_.bbox
    for text in texts_of(display.ax_):
        if text.get_text():
            box = text.get_window_extent()
            assert box.x0 >= edge.x0 - 1
            assert box.x1 <= edge.x1 + 1
            assert box.y1 <= edge.y1 + 1
    shown = svg_texts(display)
    assert "costs in $ or $$, x_1 < x_2" in shown
    assert "$name$" in shown or "…" in shown  # literally, or shortened in the middle
    assert "\\$" not in shown


def test_names_that_matplotlib_would_hide():
    display = PosteriorDisplay.from_counts({"_hidden": TREE, "shown": FOREST}, metric="recall")
    assert [text.strip().partition(":")[0] for text in legend_texts(display)] == [
        "_hidden",
        "shown",
    ]
    display = IntervalDisplay.from_counts({"_hidden": TREE, "shown": FOREST})
    assert [text.strip() for text in legend_texts(display)] == ["_hidden", "shown"]
