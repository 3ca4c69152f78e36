"""IntervalDisplay, PosteriorDisplay and FoldDisplay against numbers computed without them."""

import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

from matplotlib.colors import to_rgba  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

from display_cases import (  # noqa: E402
    FOREST,
    MANY,
    MODELS,
    PERFECT,
    TREE,
    legend_texts,
    pixels,
    segments,
)
from skuncertain import (  # noqa: E402
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    leaderboard,
    search_posterior,
)
from skuncertain.display import (  # noqa: E402
    FoldDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
)
from skuncertain.model_selection import CrossValPosterior  # noqa: E402
from skuncertain.posteriors import BetaPosterior  # noqa: E402

# --------------------------------------------------------------------------------------------------
# IntervalDisplay


def test_intervals_of_models():
    display = IntervalDisplay.from_counts(MODELS, metrics=["accuracy", "recall"], level=0.9)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["accuracy", "recall"]
    for k, counts in enumerate(MODELS.values()):
        expected = [counts.posterior(m).interval(0.9) for m in ("accuracy", "recall")]
        assert np.allclose(segments(display.lines_[k]), expected)
        point = [counts.score(m) for m in ("accuracy", "recall")]
        assert np.allclose(display.markers_[k].get_xdata(), point)
    assert legend_texts(display) == ["tree", "forest", "svm"]
    assert len({line.get_marker() for line in display.markers_}) == 3
    assert len({line.get_color() for line in display.markers_}) == 3
    rows = [np.round(line.get_ydata()) for line in display.markers_]
    assert (np.array(rows) == [0, 1]).all()
    assert len(np.unique([line.get_ydata() for line in display.markers_])) == 6  # dodged
    assert display.ax_.get_xlabel() == "value, 90 % equal-tailed interval"
    assert display.ax_.yaxis_inverted()


def test_one_metric_has_a_row_per_model():
    display = IntervalDisplay.from_counts(MODELS, metrics=["recall"], kind="hdi")
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list(MODELS)
    assert display.ax_.get_xlabel() == "recall, 95 % highest-density interval"
    assert display.ax_.get_legend() is None
    frame = display.to_frame()
    assert list(frame.columns) == ["model", "estimate", "low", "high"]
    low, high = FOREST.posterior("recall").interval(kind="hdi")
    assert frame.loc[1, ["low", "high"]].tolist() == [low, high]
    assert f"forest: 0.820 [{low:.3f}, {high:.3f}]" in display.alt_text()


def test_a_single_model_keeps_its_name(bcv):
    display = IntervalDisplay.from_counts({"tree": TREE}, metrics=["accuracy", "recall"])
    assert legend_texts(display) == ["tree"]
    assert display.to_frame()["model"].tolist() == ["tree", "tree"]
    assert "recall, tree: 0.760" in display.alt_text()
    display = IntervalDisplay.from_cross_validation(bcv, methods=["averaged"])
    assert legend_texts(display) == ["averaged"]
    display = IntervalDisplay.from_counts(TREE)
    assert display.ax_.get_legend() is None
    assert "model" not in display.to_frame()


def test_thirty_models_are_rows_in_a_taller_figure():
    small = IntervalDisplay.from_counts(MODELS, metrics=["recall"])
    display = IntervalDisplay.from_counts(MANY, metrics=["recall", "f1"])
    assert len(display.ax_.get_yticklabels()) == 30
    assert legend_texts(display) == ["recall", "f1"]
    assert display.figure_.get_figheight() > 3 * small.figure_.get_figheight()


def test_multiclass_defaults_and_positive_class():
    X, y = load_iris(return_X_y=True)
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], y[::2])
    counts = ConfusionCounts.from_predictions(y[1::2], fitted.predict(X[1::2]))
    display = IntervalDisplay.from_counts(counts, random_state=0)
    assert display.to_frame()["metric"].tolist() == [
        "accuracy",
        "balanced_accuracy",
        "f1_macro",
        "mcc",
    ]
    display = IntervalDisplay.from_counts(counts, metrics=["recall"], pos_label=1)
    assert display.to_frame()["low"][0] == counts.posterior("recall", pos_label=1).interval().low
    assert JointDisplay.from_counts(counts).metrics == ("recall_macro", "precision_macro")


def test_methods_of_a_cross_validation(bcv):
    display = IntervalDisplay.from_cross_validation(bcv, metrics=["f1", "mcc"])
    assert legend_texts(display) == [
        *("pooled, ω auto", "pooled, ω wang_li", "averaged"),
        *("dirichlet", "bootstrap", "corrected_t"),
    ]
    frame = display.to_frame().set_index(["metric", "method"])
    found = frame.loc[("f1", "pooled, ω wang_li")]
    assert tuple(found[["low", "high"]]) == bcv.interval("f1", omega="wang_li")
    assert found["estimate"] == bcv.posterior("f1").diagnostics.pooled
    found = frame.loc[("mcc", "corrected_t")]
    assert tuple(found[["low", "high"]]) == bcv.interval("mcc", "corrected_t")
    display = IntervalDisplay.from_cross_validation(bcv.result_, methods=["wang_li", "dirichlet"])
    assert legend_texts(display) == ["pooled, ω wang_li", "dirichlet"]
    assert len(display.ax_.get_yticklabels()) == 5


def test_several_cross_validations_and_cv_results(bcv, data, tree):
    display = IntervalDisplay.from_cross_validation({"a": bcv, "b": bcv.result_}, metrics=["f1"])
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["a", "b"]
    results = cross_validate(
        tree, *data, scoring=ConfusionCountsScorer(), return_indices=True, cv=5
    )
    display = IntervalDisplay.from_cv_results(results, metrics=["f1"], methods="pooled", level=0.8)
    alone = CrossValPosterior.from_cv_results(results).interval("f1", level=0.8)
    assert np.allclose(segments(display.lines_[0]), [alone])
    with pytest.raises(ValueError, match="methods must name one method for several"):
        IntervalDisplay.from_cross_validation({"a": bcv, "b": bcv}, methods=["t", "pooled"])
    with pytest.raises(ValueError, match=r"methods must be one of .* Did you mean 'pooled'\?"):
        IntervalDisplay.from_cross_validation(bcv, methods=["poled"])
    with pytest.raises(TypeError, match=r"got BayesianCrossValidator\. Call its fit first"):
        IntervalDisplay.from_cross_validation(BayesianCrossValidator(tree))
    with pytest.raises(TypeError, match="from_cv_results"):
        IntervalDisplay.from_cross_validation(results)


def test_leaderboard_is_shown_best_first():
    board = leaderboard(MODELS, metric="fnr")
    display = IntervalDisplay.from_leaderboard(board)
    assert display.to_frame()["model"].tolist() == ["svm", "forest", "tree"]
    assert np.allclose(segments(display.lines_[0])[0], board.interval("svm"))
    assert display.ax_.get_xlabel() == "fnr, 95 % equal-tailed interval"
    with pytest.raises(TypeError, match="board must be a Leaderboard, got dict"):
        IntervalDisplay.from_leaderboard(MODELS)


def test_search_is_shown_best_first_with_the_rest_counted(search):
    analysis = search_posterior(search, random_state=0)
    display = IntervalDisplay.from_search(analysis, max_items=4)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[-1] == "… and 5 more"
    assert len(labels) == 5
    chosen = analysis.names[search.best_index_]
    marked = next(k for k, label in enumerate(labels) if label.endswith("selected)"))
    assert labels[marked].replace("\n", " ").startswith(chosen[:10])
    assert display.ax_.get_yticklabels()[marked].get_fontweight() == "bold"
    frame = display.to_frame()
    assert len(frame) == 9  # nothing is dropped
    # Of candidates with the same expected rank the one with the highest mean is the first.
    order = np.lexsort([-analysis.mean, analysis.expected_rank])
    assert np.allclose(np.sort(frame["estimate"]), np.sort(analysis.mean))
    assert frame["estimate"][0] == analysis.mean[order[0]]
    assert f"Selected: {chosen}" in display.alt_text()
    with pytest.raises(TypeError, match="level belongs to a search"):
        IntervalDisplay.from_search(analysis, level=0.9)
    assert IntervalDisplay.from_search(search, level=0.9, random_state=0).level == 0.9


def test_selected_candidate_is_always_drawn(search):
    data = {"estimate": np.ones((40, 1)), "low": np.zeros((40, 1)), "high": np.ones((40, 1)) * 2}
    display = IntervalDisplay(
        rows=[f"c{k}" for k in range(40)], marks=["mean"], level=0.95, selected=35, **data
    ).plot(max_items=5)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == ["c0", "c1", "c2", "c3", "c35 (selected)", "… and 35 more"]


def test_infinite_ends_are_arrows():
    counts = ConfusionCounts.from_binary(tp=26, fn=4, fp=0, tn=16)
    display = IntervalDisplay.from_counts(
        {"none": counts, "some": TREE}, metrics=["lr+"], random_state=0
    )
    assert np.isinf(display.to_frame()["high"][0])
    heads = [line for line in display.ax_.lines if line.get_marker() == ">"]
    assert len(heads) == 1
    assert heads[0].get_xdata()[0] == display.ax_.get_xlim()[1]
    assert "infinity" in display.alt_text()


def test_options_reach_the_artists():
    display = IntervalDisplay.from_counts(
        TREE,
        metrics=["recall"],
        line_kwargs={"lw": 7, "color": "red"},
        marker_kwargs={"ms": 11, "marker": "*"},
    )
    assert display.lines_[0].get_linewidth()[0] == 7
    assert tuple(display.lines_[0].get_color()[0]) == to_rgba("red")
    assert display.markers_[0].get_markersize() == 11
    assert display.markers_[0].get_marker() == "*"
    display = IntervalDisplay.from_counts(MODELS, legend_kwargs={"loc": "lower left", "ncol": 1})
    assert display.legend_._ncols == 1


# --------------------------------------------------------------------------------------------------
# PosteriorDisplay


@pytest.mark.parametrize("metric", ["recall", "f1", "mcc", "lr-"])
def test_density_and_area_of_the_interval(metric):
    posterior = TREE.posterior(metric, random_state=0)
    display = PosteriorDisplay.from_posterior(posterior, level=0.8, kind="hdi")
    x, height = display.lines_[0].get_data()
    inside = (x > posterior.range[0] + 1e-6) & (x < posterior.range[1] - 1e-6)
    assert np.allclose(height[inside], posterior.pdf(x[inside]))
    mass = np.sum(np.diff(x) * (height[1:] + height[:-1]) / 2)
    assert 0.97 < mass < 1.01
    low, high = posterior.interval(0.8, "hdi")
    area = display.fills_[0].get_paths()[0].vertices
    assert np.isclose(area[:, 0].min(), low)
    assert np.isclose(area[:, 0].max(), high)
    assert np.isclose(display.markers_[0].get_xdata()[0], TREE.score(metric))
    assert f"[{low:.3f}, {high:.3f}]" in legend_texts(display)[0]
    frame = display.to_frame()
    assert frame.loc[frame["inside"], "x"].min() == low


def test_several_posteriors_differ_in_more_than_colour():
    display = PosteriorDisplay.from_counts(MODELS, metric="recall", name="all")
    assert display.ax_.get_title() == "all"
    assert [text.partition(":")[0] for text in legend_texts(display)] == list(MODELS)
    assert len({line.get_linestyle() for line in display.lines_}) == 3
    assert len({line.get_color() for line in display.lines_}) == 3
    assert len({fill.get_hatch() for fill in display.fills_}) == 3
    assert len({line.get_marker() for line in display.markers_}) == 3
    with pytest.raises(ValueError, match="must hold one metric"):
        PosteriorDisplay.from_posterior({"a": TREE.posterior("f1"), "b": TREE.posterior("recall")})


def test_further_displays_on_the_same_axes():
    first = PosteriorDisplay.from_counts(TREE, metric="recall", name="tree")
    second = PosteriorDisplay.from_counts(FOREST, metric="recall", name="forest", ax=first.ax_)
    assert [text.partition(":")[0] for text in legend_texts(second)] == ["tree", "forest"]
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    left, right = second.ax_.get_xlim()
    assert left < FOREST.posterior("recall").interval().low
    assert second.ax_.get_ylim()[1] > max(second.lines_[0].get_ydata().max(), 0)
    assert right > FOREST.posterior("recall").interval().high


def test_many_posteriors_have_rows():
    display = PosteriorDisplay.from_counts(MANY, metric="recall")
    assert len(display.ax_.get_yticklabels()) == 30
    tops = [line.get_ydata().min() for line in display.lines_]
    assert (np.diff(tops) > 0.5).all()
    assert display.figure_.get_figheight() > 10
    assert len(PosteriorDisplay.from_counts(MODELS, layout="rows").ax_.get_yticklabels()) == 3


def test_poles_are_cut():
    display = PosteriorDisplay.from_counts(PERFECT, metric="recall")
    posterior = PERFECT.posterior("recall")
    assert posterior.pdf(1.0) == np.inf
    top = display.ax_.get_ylim()[1]
    assert np.isfinite(display.lines_[0].get_ydata()).all()
    # The cut leaves the density visible over most of the interval.
    assert posterior.pdf(0.99) < top < 20 * posterior.pdf(0.99)
    assert display.ax_.get_xlim()[1] > 1.0
    image = pixels(display)
    assert len(np.unique(image.reshape(-1, image.shape[-1]), axis=0)) > 30
    zero = ConfusionCounts.from_binary(tp=0, fn=26, fp=2, tn=6)
    display = PosteriorDisplay.from_counts(zero, metric="recall")
    assert display.ax_.get_ylim()[1] == pytest.approx(top)


def test_point_masses_and_undefined_posteriors():
    posteriors = {"sure": BetaPosterior(5, 0), "unknown": BetaPosterior(0, 0)}
    display = PosteriorDisplay.from_posterior(posteriors)
    assert (display.lines_[0].get_xdata() == 1.0).all()
    assert display.lines_[0].get_ydata()[1] > 0
    assert "sure: 1.000 [1.000, 1.000], a point mass" in display.alt_text()
    assert legend_texts(display)[1] == "unknown: undefined"
    display = PosteriorDisplay.from_posterior({**posteriors, "other": BetaPosterior(9, 3)})
    assert display.lines_[0].get_ydata()[1] == pytest.approx(
        display.lines_[2].get_ydata().max(), rel=1e-3
    )


def test_predictive_shares_are_steps():
    posterior = TREE.posterior("accuracy").predictive(20)
    display = PosteriorDisplay.from_posterior(posterior)
    x, height = display.lines_[0].get_data()
    width = np.diff(x)
    assert np.sum(width * height[1:] * (width > 0)) == pytest.approx(1, abs=1e-9)


def test_infinite_ranges_end_somewhere():
    counts = ConfusionCounts.from_binary(tp=26, fn=4, fp=0, tn=16)
    display = PosteriorDisplay.from_counts(counts, metric="lr+", random_state=0)
    assert np.isfinite(display.x[0]).all()
    assert display.x[0].max() < 100 * counts.posterior("lr+").median()
    assert "infinity" in legend_texts(display)[0]


# --------------------------------------------------------------------------------------------------
# FoldDisplay


def test_folds(bcv):
    display = FoldDisplay.from_cross_validation(bcv, metrics=["f1", "recall"])
    for k, metric in enumerate(["f1", "recall"]):
        values = bcv.counts_.score(metric)
        assert np.allclose(display.dots_[k].get_xdata(), np.sort(values))
        assert np.allclose(display.dots_[k].get_ydata(), k, atol=0.45)
    expected = [bcv.interval("f1"), bcv.interval("recall")]
    assert np.allclose(segments(display.line_), expected)
    assert display.marker_.get_xdata()[0] == bcv.posterior("f1").diagnostics.pooled
    assert legend_texts(display) == ["one fold (5 folds)", "all folds, pooled"]
    low, high = expected[0]
    assert f"[{low:.3f}, {high:.3f}], folds from" in display.alt_text()
    frame = display.to_frame()
    assert frame["part"].tolist() == [*["fold"] * 5, "pooled"] * 2
    assert frame["value"][5] == display.estimate[0]


def test_dots_that_would_hide_each_other_are_stacked():
    values = np.array([[0.9] * 30 + [0.8] * 10])
    display = FoldDisplay(
        metrics=["f1"], values=values, estimate=[0.87], low=[0.8], high=[0.9], level=0.95
    ).plot()
    x, y = display.dots_[0].get_data()
    assert len(np.unique(np.column_stack([x, y]), axis=0)) == 40
    assert np.abs(y).max() < 0.45
    again = display.plot()
    assert np.array_equal(again.dots_[0].get_ydata(), y)  # nothing random


def test_repeated_and_undefined_folds_are_mentioned(data, tree):
    X, y = data
    rare = np.concatenate([np.flatnonzero(y == 1)[:60], np.flatnonzero(y == 0)[:6]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cv = RepeatedStratifiedKFold(n_splits=6, n_repeats=3, random_state=0)
        display = FoldDisplay.from_estimator(
            tree, X[rare], 1 - y[rare], cv=cv, metrics=["precision", "lr+"]
        )
    values = np.asarray(display.values)
    undefined, infinite = np.isnan(values[0]).sum(), np.isinf(values[1]).sum()
    assert undefined > 0
    assert infinite > 0
    labels = " ".join(text.get_text() for text in display.ax_.get_yticklabels()).replace("\n", " ")
    assert f"({undefined} of 18 folds undefined)" in labels
    assert f"({infinite} of 18 folds infinite)" in labels
    assert legend_texts(display)[0] == "one fold (6 folds, 3 times)"
    assert display.ax_.get_title() == "DecisionTreeClassifier"
    assert sorted(display.to_frame()["repeat"].dropna().unique()) == [1, 2, 3]
    with pytest.raises(TypeError, match="results must be one cross-validation, got a dict"):
        FoldDisplay.from_cross_validation({"a": display})
