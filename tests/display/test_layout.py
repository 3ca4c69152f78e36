"""Displays with many items, long names and little room."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.metrics import RocCurveDisplay  # noqa: E402

from skuncertain import ConfusionCounts, leaderboard  # noqa: E402
from skuncertain.display import (  # noqa: E402
    ComparisonDisplay,
    CoverageDisplay,
    FoldDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    RankDisplay,
)

TREE = ConfusionCounts([[40, 10], [12, 38]])
FOREST = ConfusionCounts([[45, 5], [9, 41]])
MANY = {f"model {k}": ConfusionCounts([[40 + k, 10], [30, 20 + k]]) for k in range(30)}
LONG = (
    "GradientBoostingClassifier(learning_rate=0.05, n_estimators=300, max_depth=3)",
    "HistGradientBoostingClassifier(learning_rate=0.05, max_leaf_nodes=31)",
    "pipeline-standardscaler-columntransformer-onehotencoder-logisticregression__C=0.001",
)


def coverage(names, **options):
    x = np.linspace(0.5, 0.95, 12)
    curves = {name: 0.95 - 0.001 * k * x for k, name in enumerate(names)}
    error = {name: np.full(12, 0.01) for name in names}
    return CoverageDisplay(x=x, coverage=curves, level=0.95, error=error).plot(**options)


def folds(metrics, **options):
    rng = np.random.default_rng(0)
    size = len(metrics)
    data = {"estimate": np.full(size, 0.8), "low": np.full(size, 0.7), "high": np.full(size, 0.9)}
    values = rng.uniform(0.7, 0.9, (size, 10))
    return FoldDisplay(metrics=metrics, values=values, level=0.95, **data).plot(**options)


def intervals(rows, marks, **options):
    estimate = np.linspace(0.6, 0.8, rows)[:, None] + np.linspace(0, 0.05, marks)
    data = {"estimate": estimate, "low": estimate - 0.1, "high": estimate + 0.1, "level": 0.95}
    names = {"rows": [f"row {k}" for k in range(rows)], "marks": [f"m{k}" for k in range(marks)]}
    return IntervalDisplay(**names, **data).plot(**options)


FULL = {
    "intervals": lambda **k: intervals(30, 5, **k),
    "posteriors": lambda **k: PosteriorDisplay.from_counts(MANY, metric="recall", **k),
    "long posteriors": lambda **k: PosteriorDisplay.from_counts(
        dict.fromkeys(LONG, TREE), metric="recall", **k
    ),
    "folds": lambda **k: folds([f"metric {j}" for j in range(30)], **k),
    "long comparison": lambda **k: ComparisonDisplay.from_counts(
        TREE, FOREST, metric="recall", rope=0.02, names=LONG[:2], **k
    ),
    "ranks": lambda **k: RankDisplay.from_leaderboard(leaderboard(MANY, metric="recall"), **k),
    "coverage": lambda **k: coverage([f"method {j}" for j in range(30)], **k),
    "long coverage": lambda **k: coverage(LONG, **k),
    "joint": lambda **k: JointDisplay.from_counts(MANY, random_state=0, n_draws=200, **k),
    "long joint": lambda **k: JointDisplay.from_counts(
        dict.fromkeys(LONG, TREE), random_state=0, n_draws=200, **k
    ),
}


def beside_a_roc_curve(make):
    fig, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    RocCurveDisplay(fpr=[0, 0.1, 1], tpr=[0, 0.8, 1]).plot(ax=axes[0])
    display = make(ax=axes[1])
    fig.canvas.draw()
    return display, axes[0]


@pytest.mark.parametrize("name", FULL)
def test_everything_is_inside_the_figure_and_beside_the_neighbour(name):
    display, neighbour = beside_a_roc_curve(FULL[name])
    ax, edge = display.ax_, display.figure_.bbox
    parts = [ax.xaxis.label, ax.yaxis.label, *ax.get_yticklabels(), ax.get_legend()]
    for part in parts:
        if part is None or (hasattr(part, "get_text") and not part.get_text()):
            continue
        box = part.get_window_extent()
        assert box.x0 >= neighbour.get_tightbbox().x1 - 1, part
        assert box.y0 >= edge.y0 - 1, part
        assert box.x1 <= edge.x1 + 1, part
        assert box.y1 <= edge.y1 + 1, part
    assert ax.get_window_extent().height > 0.3 * edge.height


def overlapping(fig):
    """Pairs of axes whose labels, titles and legends lie on each other."""
    fig.canvas.draw()
    boxes = [ax.get_tightbbox().shrunk(0.98, 0.98) for ax in fig.axes]
    return [(i, j) for i, a in enumerate(boxes) for j in range(i) if a.overlaps(boxes[j])]


@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
def test_four_plots_in_a_figure(layout):
    fig, axes = plt.subplots(2, 2, figsize=(11, 8), layout=layout)
    RocCurveDisplay(fpr=[0, 0.1, 1], tpr=[0, 0.8, 1]).plot(ax=axes[0, 0])
    for ax, name in zip(
        axes.ravel()[1:], ("long posteriors", "long comparison", "folds"), strict=True
    ):
        FULL[name](ax=ax)
    assert overlapping(fig) == []
    assert all(ax.get_window_extent().height > 100 for ax in fig.axes)


def test_tight_layout_afterwards():
    fig, axes = plt.subplots(2, 2, figsize=(11, 8))
    RocCurveDisplay(fpr=[0, 0.1, 1], tpr=[0, 0.8, 1]).plot(ax=axes[0, 0])
    FULL["long posteriors"](ax=axes[0, 1])
    FULL["long comparison"](ax=axes[1, 0])
    folds(LONG, ax=axes[1, 1])
    fig.tight_layout()
    assert overlapping(fig) == []


def test_axes_that_were_placed_by_hand():
    fig = plt.figure(figsize=(8, 4))
    ax = fig.add_axes((0.0, 0.0, 1.0, 1.0))
    folds(LONG, ax=ax)
    box = ax.get_tightbbox()
    assert min(box.x0, box.y0) >= -1
    assert box.x1 <= fig.bbox.x1 + 1
    assert box.y1 <= fig.bbox.y1 + 1


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("marks", [1, 5])
def test_marks_of_neighbouring_rows_stay_apart(marks, own):
    make = lambda **k: intervals(30, marks, **k)  # noqa: E731
    display = make() if own else beside_a_roc_curve(make)[0]
    ax = display.ax_
    y = np.sort(np.concatenate([line.get_ydata() for line in display.markers_]))
    pixels = ax.transData.transform(np.column_stack([np.zeros_like(y), y]))[:, 1]
    distance = np.abs(np.diff(pixels)).min() * 72 / display.figure_.dpi
    size = display.markers_[0].get_markersize()
    assert size <= max(1.5 * distance, 2.0)
    assert size >= 2.0


def test_models_can_be_told_apart_by_the_legend():
    display = JointDisplay.from_counts(MANY, random_state=0, n_draws=200)
    looks = [
        (line.get_color(), line.get_linestyle(), line.get_marker())
        for line in display.legend_.get_lines()
    ]
    assert len(looks) == len(set(looks)) == 30
    shown = [(line.get_color(), line.get_marker()) for line in display.markers_]
    assert [(colour, marker) for colour, _, marker in looks] == shown
    # The markers are those of the observed points, not points of the outline.
    assert all(list(line.get_markevery()) == [] for line in display.lines_)
    joint = TREE.joint_posterior(["recall", "precision"], random_state=0)
    (line,) = JointDisplay.from_posterior(joint).legend_.get_lines()
    assert line.get_marker() in ("", "None", None)


def test_models_share_the_draws_that_are_shown():
    for models in (1, 10):
        some = {f"model {k}": TREE for k in range(models)}
        display = JointDisplay.from_counts(some, random_state=0, max_points=500)
        assert sum(len(points.get_xdata()) for points in display.points_) == 500


def test_difference_keeps_its_minus():
    make = FULL["long comparison"]
    for display in (make(), beside_a_roc_curve(make)[0]):
        label = display.ax_.get_xlabel().replace("\n", " ")
        before, minus, after = label.partition(" − ")
        assert minus
        assert "HistGradient" in before
        assert "Gradient" in after
        assert after.endswith("95 % equal-tailed interval")


def test_bars_are_sorted_and_the_longest_is_never_cut():
    """One that is rarely good, and then the best, has a poor mean rank."""
    p_best, rank = [0.2, 0.1, 0.7], [1.5, 2.0, 2.5]
    data = {"names": ["a", "b", "c"], "p_best": p_best, "expected_rank": rank}
    display = RankDisplay(**data).plot(style="bars", max_items=2)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == ["c", "a", "… and 1 more"]
    assert [bar.get_width() for bar in display.bars_] == [0.7, 0.2]
    display = RankDisplay(**data, selected=1).plot(style="bars", max_items=2)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == ["c", "b (selected)", "… and 1 more"]
    assert display.ax_.get_yticklabels()[1].get_fontweight() == "bold"


def test_lines_end_between_words_where_that_is_possible():
    counts = dict(zip(LONG, (TREE, FOREST, TREE), strict=True))
    display = IntervalDisplay.from_counts(counts, metrics=["recall", "f1"])
    text = display.legend_.get_texts()[0].get_text()
    assert text == LONG[0].replace("300, ", "300,\n")


@pytest.mark.parametrize("kind", ["coverage", "joint", "posteriors", "intervals"])
def test_a_legend_takes_nothing_from_the_axes(kind):
    """However many lines it needs: the figure grows with it."""

    def height(names):
        counts = {name: FOREST for name in names}
        if kind == "coverage":
            display = coverage(names)
        elif kind == "joint":
            display = JointDisplay.from_counts(counts, random_state=0, n_draws=50)
        elif kind == "posteriors":
            display = PosteriorDisplay.from_counts(counts, metric="recall", layout="overlay")
        else:
            metrics = [f"f{k}" for k in range(1, 9)]  # as many rows as there are marks at most
            display = IntervalDisplay.from_counts(counts, metrics=metrics)
        display.figure_.canvas.draw()
        assert display.figure_.bbox.y1 >= display.legend_.get_window_extent().y1
        return display.ax_.get_window_extent().height

    many = 7 if kind == "intervals" else 30
    names = [f"{LONG[k % 3]} #{k}" for k in range(many)]
    assert height(names) > 0.9 * height([f"m{k}" for k in range(many)])


def test_fonts_that_users_choose_stay():
    _, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    names = [f"method {j}" for j in range(30)]
    display = coverage(names, ax=axes[1], legend_kwargs={"fontsize": 9, "ncol": 3})
    assert {text.get_fontsize() for text in display.legend_.get_texts()} == {9}
