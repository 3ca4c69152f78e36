"""ComparisonDisplay, RankDisplay, CoverageDisplay and JointDisplay against plain numbers."""

import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

from matplotlib.colors import to_rgba  # noqa: E402
from matplotlib.path import Path  # noqa: E402
from sklearn.exceptions import UndefinedMetricWarning  # noqa: E402

from display_cases import (  # noqa: E402
    FOREST,
    MANY,
    MODELS,
    PERFECT,
    TREE,
    A,
    B,
    legend_texts,
    pixels,
    segments,
)
from skuncertain import (  # noqa: E402
    ConfusionCounts,
    compare,
    compare_cv,
    compare_paired,
    leaderboard,
    search_posterior,
)
from skuncertain.display import (  # noqa: E402
    ComparisonDisplay,
    CoverageDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    RankDisplay,
)

# --------------------------------------------------------------------------------------------------
# ComparisonDisplay


def areas(display):
    """Ends and size of every filled area, found in the picture."""
    found = []
    for fill in display.fills_:
        corners = fill.get_paths()[0].vertices
        x, y = corners[:, 0], corners[:, 1]
        size = 0.5 * np.abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
        found.append((x.min(), x.max(), size))
    return found


@pytest.mark.parametrize(
    ("metric", "labels"),
    [("recall", ["tree better", "equivalent", "forest better"]),
     ("fnr", ["forest better", "equivalent", "tree better"])],
)  # fmt: skip
def test_areas_are_the_probabilities(metric, labels):
    result = compare(TREE, FOREST, metric=metric, rope=0.05, names=("tree", "forest"))
    display = ComparisonDisplay.from_counts(
        TREE, FOREST, metric=metric, rope=0.05, names=("tree", "forest")
    )
    left, middle, right = areas(display)
    assert left[1] == pytest.approx(-0.05)
    assert middle[:2] == pytest.approx((-0.05, 0.05))
    assert right[0] == pytest.approx(0.05)
    sides = {"tree better": result.p_worse, "forest better": result.p_better}
    expected = [sides.get(label, result.p_equivalent) for label in labels]
    assert [area[2] for area in (left, middle, right)] == pytest.approx(expected, abs=0.005)
    assert legend_texts(display) == [
        f"{label} {p:.2f}" for label, p in zip(labels, expected, strict=True)
    ]
    looks = [(fill.get_hatch(), tuple(fill.get_facecolor()[0])) for fill in display.fills_]
    assert len(set(looks)) == 3
    assert len({hatch for hatch, _ in looks}) == 3
    assert display.to_frame()["probability"].sum() == pytest.approx(1)
    assert display.to_frame()["area"].tolist() == labels
    assert f"{labels[0]} with probability {expected[0]:.2f}" in display.alt_text()
    assert np.allclose(segments(display.interval_), [result.interval()])


def test_looks_belong_to_the_model_not_to_the_side():
    up = ComparisonDisplay.from_counts(TREE, FOREST, metric="recall", rope=0.05)
    down = ComparisonDisplay.from_counts(TREE, FOREST, metric="fnr", rope=0.05)
    hatches = [[fill.get_hatch() for fill in display.fills_] for display in (up, down)]
    assert hatches[0] == hatches[1][::-1]
    both = PosteriorDisplay.from_counts({"A": TREE, "B": FOREST}, metric="recall")
    colours = [to_rgba(line.get_color())[:3] for line in both.lines_]
    for display, order in ((up, colours), (down, colours[::-1])):
        found = [tuple(display.fills_[k].get_facecolor()[0][:3]) for k in (0, 2)]
        assert found == order


def test_without_rope_there_are_two_areas():
    display = ComparisonDisplay.from_counts(TREE, FOREST, metric="f1")
    result = compare(TREE, FOREST, metric="f1")
    assert [area[2] for area in areas(display)] == pytest.approx(
        [result.p_worse, result.p_better], abs=0.005
    )
    assert len(legend_texts(display)) == 2


def test_surely_no_difference():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rope, word in ((0.0, "equal"), (0.01, "equivalent")):
            display = ComparisonDisplay.from_cross_validation(A, A, rope=rope)
            assert (display.line_.get_xdata() == 0).all()
            assert display.line_.get_ydata()[1] > 0
            assert legend_texts(display) == ["A better 0.000", f"{word} 1.000", "B better 0.000"]
            assert "surely 0.000" in display.alt_text()
            low, high = display.ax_.get_xlim()
            assert low < -rope
            assert high > rope


def test_comparisons_of_predictions_and_folds():
    y = np.repeat([0, 1], 50)
    a, b = y.copy(), y.copy()
    a[:12], b[60:65] = 1, 0
    result = compare_paired(y, a, b, rope=0.02)
    display = ComparisonDisplay.from_predictions(y, a, b, rope=0.02)
    assert display.p_better == result.p_better
    assert display.method == "100 shared rows"
    result = compare_cv(A, B, rope=0.01)
    display = ComparisonDisplay.from_comparison(result, level=0.5, kind="hdi")
    assert (display.low, display.high) == result.interval(0.5, "hdi")
    assert display.ax_.get_xlabel() == "difference, B − A, 50 % highest-density interval"


def test_comparisons_that_cannot_be_plotted():
    stack = ConfusionCounts([TREE.counts, FOREST.counts])
    with pytest.raises(ValueError, match=r"single comparison, got a stack of shape \(2,\)"):
        ComparisonDisplay.from_counts(stack, stack, metric="recall")
    with pytest.raises(TypeError, match="result must be a ComparisonResult, got float"):
        ComparisonDisplay.from_comparison(0.5)


# --------------------------------------------------------------------------------------------------
# RankDisplay


def test_heat_map_of_ranks():
    board = leaderboard(MODELS, metric="recall")
    display = RankDisplay.from_leaderboard(board)
    order = board.order()
    assert np.allclose(display.image_.get_array(), board.rank_probabilities[order])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == [board.names[k] for k in order]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["1", "2", "3"]
    shown = [float(text.get_text()) for text in display.texts_]
    assert np.allclose(shown, board.rank_probabilities[order].ravel(), atol=0.0051)
    assert len(display.figure_.axes) == 1
    frame = display.to_frame()
    assert np.allclose(frame[["p_rank_1", "p_rank_2", "p_rank_3"]].sum(axis=1), 1)
    assert f"svm: {board.p_best[2]:.2f}" in display.alt_text()
    assert display.ax_.get_xlabel() == "rank by recall"


def luminance(colour):
    """Relative luminance of WCAG 2."""
    rgb = np.array(to_rgba(colour)[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("cmap", ["Blues", "Greys", "viridis"])
def test_numbers_in_cells_can_be_read(cmap):
    ranks = np.linspace(0, 0.4, 144).reshape(12, 12)
    data = {"names": list("abcdefghijkl"), "p_best": ranks[:, 0], "expected_rank": np.ones(12)}
    display = RankDisplay(**data, rank_probabilities=ranks).plot(image_kwargs={"cmap": cmap})
    cells = matplotlib.colormaps[cmap](ranks.ravel() / 0.4)
    for text, cell in zip(display.texts_, cells, strict=True):
        dark, light = sorted([luminance(text.get_color()), luminance(cell)])
        assert (light + 0.05) / (dark + 0.05) >= 4.5  # what WCAG 2 AA asks of small texts


def test_large_heat_map_has_a_colour_bar_and_says_what_is_missing():
    board = leaderboard(MANY, metric="recall")
    display = RankDisplay.from_leaderboard(board)
    assert display.image_.get_array().shape == (30, 30)
    assert len(display.figure_.axes) == 2
    assert display.texts_ == []
    display = RankDisplay.from_leaderboard(board, style="heatmap", max_items=13, colorbar=False)
    assert display.image_.get_array().shape == (13, 13)
    assert display.ax_.get_yticklabels()[-1].get_text() == "… and 17 more"
    assert len(display.figure_.axes) == 1


def test_bars_of_the_best(search):
    analysis = search_posterior(search, random_state=0)
    display = RankDisplay.from_search(analysis, style="bars", bar_kwargs={"color": "0.5"})
    widths = [bar.get_width() for bar in display.bars_]
    first = np.unique(analysis.tie_group, return_index=True)[1]
    assert len(first) < 9  # depths that the tree does not reach
    assert np.allclose(np.sort(widths), np.sort(analysis.p_best[first]))
    assert sum(widths) == pytest.approx(1)
    assert display.bars_[0].get_facecolor() == to_rgba("0.5")
    assert len(display.texts_) == len(first)
    labels = [t.get_text().replace("\n", " ") for t in display.ax_.get_yticklabels()]
    tied = int(np.max(np.bincount(analysis.tie_group))) - 1
    assert any(f"and {tied} with the same scores" in text for text in labels)
    assert "tie_group" in display.to_frame()
    assert "P(best) is that of the group" in display.alt_text()
    assert sum("selected)" in t.get_text() for t in display.ax_.get_yticklabels()) == 1
    with pytest.raises(ValueError, match="style must be one of"):
        display.plot(style="pie")


def test_ranks_of_candidates_that_were_not_considered(search):
    results = {key: np.array(value) for key, value in search.cv_results_.items()}
    for key in results:
        if key.startswith("split"):
            results[key] = results[key].astype(float)
            results[key][1] = np.nan  # a fit that failed
    analysis = search_posterior(results, random_state=0)
    display = RankDisplay.from_search(analysis, style="heatmap")
    assert display.image_.get_array().shape == (8, 8)
    first = np.bincount(display.tie_group, weights=display.rank_probabilities[:, 0])
    assert np.allclose(first[display.tie_group], display.p_best, atol=0.03)
    assert "1 not considered" in display.ax_.get_yticklabels()[-1].get_text()
    assert "1 candidates were not considered" in display.alt_text()
    assert not np.isnan(display.to_frame()["p_best"]).any()
    intervals = IntervalDisplay.from_search(analysis)
    assert len(intervals.to_frame()) == 8
    assert "1 not considered" in intervals.ax_.get_yticklabels()[-1].get_text()


def test_heat_map_needs_rank_probabilities():
    display = RankDisplay(names=["a", "b"], p_best=[0.8, 0.2], expected_rank=[1.2, 1.8]).plot()
    assert len(display.bars_) == 2
    with pytest.raises(ValueError, match="style='heatmap' needs rank probabilities"):
        display.plot(style="heatmap")
    with pytest.raises(ValueError, match="max_items must be an integer >= 1"):
        display.plot(max_items=0)


# --------------------------------------------------------------------------------------------------
# CoverageDisplay


def test_coverage_is_counted():
    truth = np.array([0.2, 0.5])
    low = np.array([[0.1, 0.3, 0.2, np.nan], [0.4, 0.4, 0.4, 0.6]])
    high = np.array([[0.3, 0.4, 0.2, np.nan], [0.6, 0.45, 0.5, 0.7]])
    display = CoverageDisplay.from_intervals({"m": (low, high)}, truth, x=[10, 20], x_name="n")
    assert display.coverage["m"].tolist() == [0.5, 0.5]
    assert display.error["m"] == pytest.approx(np.sqrt(0.25 / 4))
    assert display.lines_[0].get_xdata().tolist() == [10, 20]
    bar = display.errors_[0].get_segments()[0]
    assert bar[:, 1] == pytest.approx([0.0, 1.0])  # two standard errors
    assert list(display.to_frame().columns) == ["method", "n", "coverage", "error"]
    assert "m: mean 0.500, lowest 0.500 at 10, highest 0.500" in display.alt_text()


def test_coverage_curves():
    x = np.linspace(0.01, 0.99, 300)
    curves = {"a": 0.95 + 0.02 * np.sin(20 * x), "b": 0.94 + 0 * x}
    display = CoverageDisplay(x=x[::-1], coverage=curves, level=0.9, x_name="rate").plot()
    assert display.errors_ == []
    assert (np.diff(display.lines_[0].get_xdata()) > 0).all()
    assert display.level_line_.get_ydata() == [0.9, 0.9]
    assert legend_texts(display) == ["a", "b", "nominal 90 %"]
    assert display.ax_.get_ylabel() == "coverage of 90 % intervals"
    assert len({(line.get_marker(), line.get_linestyle()) for line in display.lines_}) == 2
    display.plot(xscale="log", level_kwargs={"ls": ":"})
    assert display.ax_.get_xscale() == "log"
    assert display.level_line_.get_linestyle() == ":"


def test_coverage_of_wrong_shapes():
    low = np.zeros((2, 5))
    with pytest.raises(ValueError, match=r"two arrays of shape \(3, replications\)"):
        CoverageDisplay.from_intervals({"m": (low, low)}, [0.1, 0.2, 0.3])
    with pytest.raises(TypeError, match="intervals must be a dict"):
        CoverageDisplay.from_intervals((low, low), [0.1, 0.2])
    with pytest.raises(TypeError, match=r"intervals\['m'\] must be a pair"):
        CoverageDisplay.from_intervals({"m": low[:1]}, [0.1])
    with pytest.raises(ValueError, match="x must have one value per point, 2, got 3"):
        CoverageDisplay.from_intervals({"m": (low, low)}, [0.1, 0.2], x=[1, 2, 3])
    with pytest.raises(ValueError, match="must have one value per point"):
        CoverageDisplay(x=[1, 2], coverage={"m": [0.9]}, level=0.95).plot()


# --------------------------------------------------------------------------------------------------
# JointDisplay


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("counts", [TREE, PERFECT, ConfusionCounts([[6, 0], [0, 26]])])
def test_region_holds_its_share(counts, level):
    display = JointDisplay.from_counts(counts, level=level, n_draws=4000, random_state=0)
    inside, draws = display.inside[None], display.draws[None]
    assert inside.sum() == 4000 * level
    outline = display.lines_[0].get_data()
    assert np.min(outline) >= 0
    assert np.max(outline) <= 1
    # The outline is where the region ends: nearly the same draws lie within the polygon.
    polygon = Path(np.column_stack(outline)).contains_points(draws.T)
    assert np.mean(polygon == inside) > 0.97
    # No draw is far from the others, so a region cannot be much larger than they are.
    for k in range(2):
        assert np.min(outline[k]) >= np.quantile(draws[k], 0.0005)
    assert display.markers_[0].get_xdata()[0] == counts.score("recall")
    assert display.markers_[0].get_ydata()[0] == counts.score("precision")
    assert np.array_equal(display.points_[0].get_xdata(), draws[0, :2000])
    assert display.to_frame()["inside"].mean() == level


def test_region_does_not_depend_on_the_scale():
    one = JointDisplay.from_counts(TREE, metrics=["f1", "recall"], random_state=0)
    two = JointDisplay.from_counts(TREE, metrics=["jaccard", "fnr"], random_state=0)
    assert np.mean(one.inside[None] == two.inside[None]) > 0.9999


def test_metrics_that_depend_on_each_other_and_point_masses():
    display = JointDisplay.from_counts(TREE, metrics=["f1", "jaccard"], random_state=0)
    x, y = display.lines_[0].get_data()
    assert np.allclose(y, x / (2 - x), atol=2e-3)
    assert display.inside[None].mean() == 0.95
    sure = ConfusionCounts([[6, 0], [0, 26]]).joint_posterior(
        ["recall", "precision"], prior="haldane", random_state=0
    )
    display = JointDisplay.from_posterior(sure)
    assert np.allclose(display.lines_[0].get_data(), 1.0)
    assert len(pixels(display)) > 0


def test_infinite_ranges_and_undefined_draws():
    counts = ConfusionCounts.from_binary(tp=26, fn=4, fp=0, tn=16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        display = JointDisplay.from_counts(counts, metrics=["lr+", "lr-"], random_state=0)
    assert np.min(display.region[None]) >= 0
    assert len(pixels(display)) > 0
    joint = TREE.joint_posterior(["recall", "precision"], random_state=0)
    draws = joint.draws.copy()
    draws[0, :1000] = np.nan
    display = JointDisplay.from_posterior(type(joint)(joint.metrics, draws, 0, ""))
    assert display.inside[None].sum() == 0.95 * 19_000
    assert not display.inside[None][:1000].any()


def test_joint_of_several_models():
    display = JointDisplay.from_counts(MODELS, random_state=0, iso_f1=True, name="all")
    assert legend_texts(display) == list(MODELS)
    assert display.ax_.get_title() == "all"
    assert len({line.get_linestyle() for line in display.lines_}) == 3
    assert len(display.iso_lines_) > 0
    for line, f1 in zip(display.iso_lines_, (0.8, 0.9, 0.95), strict=True):  # 0.6 is a corner
        x, y = line.get_data()
        assert np.allclose(2 * x * y / (x + y), f1)
    assert display.ax_.get_xlabel() == "recall; outline: 95 % credible region"
    assert display.ax_.get_ylabel() == "precision"
    assert "tree: observed recall 0.760, precision 0.792; region from recall" in display.alt_text()


def test_joint_errors():
    joint = TREE.joint_posterior(["recall", "precision", "f1"], random_state=0)
    with pytest.raises(ValueError, match="metrics must name two metrics"):
        JointDisplay.from_posterior(joint)
    display = JointDisplay.from_posterior(joint, metrics=["ppv", "f1"], observed=(0.79, 0.77))
    assert display.metrics == ("precision", "f1")
    assert display.markers_[0].get_xdata()[0] == 0.79
    with pytest.raises(ValueError, match="iso_f1 needs precision and recall"):
        display.plot(iso_f1=True)
    with pytest.raises(ValueError, match="metrics must be among"):
        JointDisplay.from_posterior(joint, metrics=["f1", "mcc"])
    stack = ConfusionCounts([TREE.counts, FOREST.counts])
    with pytest.raises(ValueError, match=r"of a single matrix, got a stack of shape \(2,\)"):
        JointDisplay.from_posterior(stack.joint_posterior(["recall", "precision"]))
