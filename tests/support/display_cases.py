"""Models, displays of every kind, and what is seen of them; needs matplotlib."""

import io
import xml.etree.ElementTree as ET

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from skuncertain import ConfusionCounts, leaderboard, search_posterior
from skuncertain.coverage import MultinomialPopulation, coverage_study
from skuncertain.display import (
    ComparisonDisplay,
    CoverageDisplay,
    FoldDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    RankDisplay,
    SequentialDisplay,
)
from skuncertain.metrics import proportion_posterior
from skuncertain.monitoring import SequentialPosterior

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
        "best": lambda **k: RankDisplay.from_search(analysis, style="bars", **k),
        "coverage": lambda **k: coverage(**k),
        "coverage grid": lambda **k: coverage_grid(**k),
        "joint": lambda **k: JointDisplay.from_posterior(joint, **k),
        "joints": lambda **k: JointDisplay.from_counts(MODELS, random_state=0, iso_f1=True, **k),
        "watch": lambda **k: SequentialDisplay.from_history(watch().history, **k),
    }


def watch(hits=(91, 88, 92, 70, 60, 60), **options):
    options = {"anytime": True, "threshold": 0.85} | options
    found = SequentialPosterior("recall", **options)
    for tp in hits:
        found.update(ConfusionCounts.from_binary(tp=tp, fn=100 - tp, fp=20, tn=180))
    return found


def coverage(**options):
    truth = np.array([0.6, 0.7, 0.8, 0.9])
    hits = np.random.default_rng(0).binomial(30, truth[:, None], size=(4, 200))
    intervals = {
        "Jeffreys": proportion_posterior(hits, 30 - hits).interval(),
        "Laplace": proportion_posterior(hits, 30 - hits, prior=1).interval(),
    }
    return CoverageDisplay.from_intervals(intervals, truth, **options)


def coverage_grid(**options):
    rates = MultinomialPopulation.from_rates(precision=[[0.3], [0.6], [0.9]], recall=[0.3, 0.9])
    study = coverage_study(["laplace"], rates, metric="f1", n=10)
    return CoverageDisplay.from_study(study, **options)


NAMES = [
    *("intervals", "one interval", "methods", "board", "search", "posterior", "posteriors"),
    *("folds", "comparison", "ranks", "best", "coverage", "coverage grid", "joint", "joints"),
    "watch",
]
