"""Displays: what is drawn, against numbers that are computed without them."""

import io
import sys
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402
from matplotlib.path import Path  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_iris  # noqa: E402
from sklearn.exceptions import UndefinedMetricWarning  # noqa: E402
from sklearn.metrics import ConfusionMatrixDisplay  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    RepeatedStratifiedKFold,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

from skuncertain import (  # noqa: E402
    BayesianCrossValidator,
    BetaPosterior,
    ComparisonDisplay,
    ConfusionCounts,
    ConfusionCountsScorer,
    CoverageDisplay,
    FoldDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    RankDisplay,
    compare,
    compare_cv,
    compare_paired,
    leaderboard,
    proportion_posterior,
    search_posterior,
)

TREE = ConfusionCounts([[40, 10], [12, 38]])
FOREST = ConfusionCounts([[45, 5], [9, 41]])
SVM = ConfusionCounts([[44, 6], [8, 42]])
PERFECT = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
MODELS = {"tree": TREE, "forest": FOREST, "svm": SVM}
MANY = {f"model {k}": ConfusionCounts([[40 + k, 10], [30, 20 + k]]) for k in range(30)}
LONG = {
    "an extremely long $name$ with_many_parts <and> more, which nobody would type": TREE,
    "GradientBoostingClassifier(learning_rate=0.05, n_estimators=300, max_depth=3)": FOREST,
    "two\nlines": SVM,
}
A = [0.80, 0.82, 0.79, 0.84, 0.81, 0.83, 0.78, 0.85, 0.80, 0.82]
B = [0.82, 0.83, 0.80, 0.83, 0.84, 0.85, 0.80, 0.86, 0.83, 0.81]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def tree():
    return DecisionTreeClassifier(max_depth=2, random_state=0)


@pytest.fixture(scope="module")
def bcv(data, tree):
    return BayesianCrossValidator(tree, cv=5, random_state=0, refit=False).fit(*data)


@pytest.fixture(scope="module")
def search(data, tree):
    X, y = data
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 25]}
    return GridSearchCV(tree, grid, cv=5).fit(X[:250], y[:250])


def pixels(display):
    """Render a display and return its pixels."""
    buffer = io.BytesIO()
    display.figure_.savefig(buffer, dpi=60)
    buffer.seek(0)
    return plt.imread(buffer)


def painted(ax):
    """Share of the pixels within the axes that are not background, without grid and edges."""
    ax.grid(False)
    ax.figure.canvas.draw()
    image = np.asarray(ax.figure.canvas.buffer_rgba())[::-1, :, :3]
    (x0, y0), (x1, y1) = np.round(ax.get_window_extent().get_points()).astype(int)
    inner = image[y0 + 4 : y1 - 4, x0 + 4 : x1 - 4]
    return (inner < 250).any(axis=-1).mean()


def test_an_empty_plot_would_be_noticed():
    _, ax = plt.subplots()
    ax.set_title("a title")
    ax.grid(True)
    assert painted(ax) == 0


def texts_of(ax):
    """Every text that is drawn with the axes."""
    found = [ax.title, *ax.texts]
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
        found += [label for at, label in ticks if min(limits) <= at <= max(limits)]
    found += [ax.xaxis.label, ax.yaxis.label]
    legend = ax.get_legend()
    return found + ([] if legend is None else list(legend.get_texts()))


def svg_texts(display):
    """Texts as they are shown, read from an SVG file."""
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        display.figure_.savefig(buffer, format="svg")
    root = ET.fromstring(buffer.getvalue())
    return " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))


def legend_texts(display):
    return [text.get_text().replace("\u00a0", " ") for text in display.legend_.get_texts()]


def segments(lines):
    """Ends of the horizontal lines of a LineCollection."""
    return np.array([[part[0, 0], part[1, 0]] for part in lines.get_segments()])


def examples(bcv, search):
    """One display of each kind, and more of some."""
    board, analysis = leaderboard(MODELS, metric="recall"), search_posterior(search, random_state=0)
    joint = TREE.joint_posterior(["recall", "precision"], random_state=0)
    return {
        "intervals": lambda **k: IntervalDisplay.from_counts(MODELS, random_state=0, **k),
        "one interval": lambda **k: IntervalDisplay.from_counts(TREE, metrics=["recall"], **k),
        "methods": lambda **k: IntervalDisplay.from_cross_validation(bcv, **k),
        "board": lambda **k: IntervalDisplay.from_leaderboard(board, **k),
        "search": lambda **k: IntervalDisplay.from_search(analysis, **k),
        "posterior": lambda **k: PosteriorDisplay.from_counts(TREE, metric="f1", **k),
        "posteriors": lambda **k: PosteriorDisplay.from_counts(MANY, metric="recall", **k),
        "folds": lambda **k: FoldDisplay.from_cross_validation(bcv, **k),
        "comparison": lambda **k: ComparisonDisplay.from_cross_validation(A, B, rope=0.01, **k),
        "ranks": lambda **k: RankDisplay.from_leaderboard(board, **k),
        "best": lambda **k: RankDisplay.from_search(analysis, kind="bars", **k),
        "coverage": lambda **k: coverage(**k),
        "joint": lambda **k: JointDisplay.from_posterior(joint, **k),
        "joints": lambda **k: JointDisplay.from_counts(MODELS, random_state=0, iso_f1=True, **k),
    }


def coverage(**options):
    truth = np.array([0.6, 0.7, 0.8, 0.9])
    hits = np.random.default_rng(0).binomial(30, truth[:, None], size=(4, 200))
    intervals = {
        "Jeffreys": proportion_posterior(hits, 30 - hits).interval(),
        "Laplace": proportion_posterior(hits, 30 - hits, prior=1).interval(),
    }
    return CoverageDisplay.from_intervals(intervals, truth, **options)


NAMES = [
    *("intervals", "one interval", "methods", "board", "search", "posterior", "posteriors"),
    *("folds", "comparison", "ranks", "best", "coverage", "joint", "joints"),
]


# --------------------------------------------------------------------------------------------------
# What all displays promise


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
    frame = display.frame()
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
        display.frame()


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
    assert "0.760 [0.631, 0.863]" in image.text["Description"]
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
    pd.testing.assert_frame_equal(one.frame(), two.frame())
    pd.testing.assert_frame_equal(two.frame(), three.frame())
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
    frame = display.frame()
    assert list(frame.columns) == ["model", "estimate", "low", "high"]
    low, high = FOREST.posterior("recall").interval(kind="hdi")
    assert frame.loc[1, ["low", "high"]].tolist() == [low, high]
    assert f"forest: 0.820 [{low:.3f}, {high:.3f}]" in display.alt_text()


def test_a_single_model_keeps_its_name(bcv):
    display = IntervalDisplay.from_counts({"tree": TREE}, metrics=["accuracy", "recall"])
    assert legend_texts(display) == ["tree"]
    assert display.frame()["model"].tolist() == ["tree", "tree"]
    assert "recall, tree: 0.760" in display.alt_text()
    display = IntervalDisplay.from_cross_validation(bcv, methods=["averaged"])
    assert legend_texts(display) == ["averaged"]
    display = IntervalDisplay.from_counts(TREE)
    assert display.ax_.get_legend() is None
    assert "model" not in display.frame()


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
    assert display.frame()["metric"].tolist() == [
        "accuracy",
        "balanced_accuracy",
        "f1_macro",
        "mcc",
    ]
    display = IntervalDisplay.from_counts(counts, metrics=["recall"], pos_label=1)
    assert display.frame()["low"][0] == counts.posterior("recall", pos_label=1).interval().low
    assert JointDisplay.from_counts(counts).metrics == ("recall_macro", "precision_macro")


def test_methods_of_a_cross_validation(bcv):
    display = IntervalDisplay.from_cross_validation(bcv, metrics=["f1", "mcc"])
    assert legend_texts(display) == [
        *("pooled, ω auto", "pooled, ω wang-li", "averaged", "corrected_t", "nadeau_bengio"),
    ]
    frame = display.frame().set_index(["metric", "method"])
    found = frame.loc[("f1", "pooled, ω wang-li")]
    assert tuple(found[["low", "high"]]) == bcv.interval("f1", omega="wang-li")
    assert found["estimate"] == bcv.posterior("f1").diagnostics.micro
    found = frame.loc[("mcc", "nadeau_bengio")]
    assert tuple(found[["low", "high"]]) == bcv.interval("mcc", "nadeau_bengio")
    display = IntervalDisplay.from_cross_validation(bcv.result_, methods=["wang-li", "dirichlet"])
    assert legend_texts(display) == ["pooled, ω wang-li", "dirichlet"]
    assert len(display.ax_.get_yticklabels()) == 5


def test_several_cross_validations_and_cv_results(bcv, data, tree):
    display = IntervalDisplay.from_cross_validation({"a": bcv, "b": bcv.result_}, metrics=["f1"])
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["a", "b"]
    results = cross_validate(
        tree, *data, scoring=ConfusionCountsScorer(), return_indices=True, cv=5
    )
    display = IntervalDisplay.from_cv_results(results, metrics=["f1"], methods="pooled", level=0.8)
    assert np.allclose(segments(display.lines_[0]), [bcv.interval("f1", level=0.8)])
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
    assert display.frame()["model"].tolist() == ["svm", "forest", "tree"]
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
    frame = display.frame()
    assert len(frame) == 9  # nothing is dropped
    order = np.argsort(analysis.expected_rank, kind="stable")
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
    assert np.isinf(display.frame()["high"][0])
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
    frame = display.frame()
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
    assert display.marker_.get_xdata()[0] == bcv.posterior("f1").diagnostics.micro
    assert legend_texts(display) == ["one fold (5 folds)", "all folds, pooled"]
    low, high = expected[0]
    assert f"[{low:.3f}, {high:.3f}], folds from" in display.alt_text()
    frame = display.frame()
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
    assert sorted(display.frame()["repeat"].dropna().unique()) == [1, 2, 3]
    with pytest.raises(TypeError, match="results must be one cross-validation, got a dict"):
        FoldDisplay.from_cross_validation({"a": display})


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
    assert display.frame()["probability"].sum() == pytest.approx(1)
    assert display.frame()["area"].tolist() == labels
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
    frame = display.frame()
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
    display = RankDisplay.from_leaderboard(board, kind="heatmap", max_items=13, colorbar=False)
    assert display.image_.get_array().shape == (13, 13)
    assert display.ax_.get_yticklabels()[-1].get_text() == "… and 17 more"
    assert len(display.figure_.axes) == 1


def test_bars_of_the_best(search):
    analysis = search_posterior(search, random_state=0)
    display = RankDisplay.from_search(analysis, kind="bars", bar_kwargs={"color": "0.5"})
    widths = [bar.get_width() for bar in display.bars_]
    assert np.allclose(np.sort(widths), np.sort(analysis.p_best))
    assert sum(widths) == pytest.approx(1)
    assert display.bars_[0].get_facecolor() == to_rgba("0.5")
    assert len(display.texts_) == 9
    assert sum("selected)" in t.get_text() for t in display.ax_.get_yticklabels()) == 1
    with pytest.raises(ValueError, match="kind must be one of"):
        display.plot(kind="pie")


def test_ranks_of_candidates_that_were_not_considered(search):
    results = {key: np.array(value) for key, value in search.cv_results_.items()}
    for key in results:
        if key.startswith("split"):
            results[key] = results[key].astype(float)
            results[key][1] = np.nan  # a fit that failed
    analysis = search_posterior(results, random_state=0)
    display = RankDisplay.from_search(analysis, kind="heatmap")
    assert display.image_.get_array().shape == (8, 8)
    assert np.allclose(display.rank_probabilities[:, 0], display.p_best, atol=0.03)
    assert "1 not considered" in display.ax_.get_yticklabels()[-1].get_text()
    assert "1 candidates were not considered" in display.alt_text()
    assert not np.isnan(display.frame()["p_best"]).any()
    intervals = IntervalDisplay.from_search(analysis)
    assert len(intervals.frame()) == 8
    assert "1 not considered" in intervals.ax_.get_yticklabels()[-1].get_text()


def test_heat_map_needs_rank_probabilities():
    display = RankDisplay(names=["a", "b"], p_best=[0.8, 0.2], expected_rank=[1.2, 1.8]).plot()
    assert len(display.bars_) == 2
    with pytest.raises(ValueError, match="kind='heatmap' needs rank probabilities"):
        display.plot(kind="heatmap")
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
    assert list(display.frame().columns) == ["method", "n", "coverage", "error"]
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
    assert display.frame()["inside"].mean() == level


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
