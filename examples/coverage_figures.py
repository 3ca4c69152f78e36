"""Does a 95 % interval cover 95 %? Three figures.

1. Coverage of five intervals of a proportion, 100 rows, exact.
2. Coverage of F1 over precision and recall, exact; pairs that cannot be stay empty.
3. Rows that depend on each other: what thinning, groups and a design effect give.

Run: python examples/coverage_figures.py [DIRECTORY for the PNG files]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skuncertain import (
    BetaPosterior,
    BinomialTruth,
    ConfusionCounts,
    MarkovTruth,
    MultinomialTruth,
    coverage_study,
    fold_posterior,
)

BLOCK = 50  # rows


def proportion():
    methods = ["laplace", "jeffreys", "clopper-pearson", "agresti-coull", "wilson"]
    study = coverage_study(methods, BinomialTruth(np.arange(1, 100) / 100), n=100)
    print(study)
    return study.plot(name="A proportion of 100 rows").figure_


def f1_surface():
    rates = np.arange(1, 40) / 40
    truth = MultinomialTruth.from_rates(precision=rates[:, None], recall=rates, prevalence=0.5)
    study = coverage_study(["laplace", "auto"], truth, metric="f1", n=100)
    print(study)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
    for ax, method, coverage in zip(axes, study.methods, study.coverage, strict=True):
        # .95 is white: too little is red, too much is blue
        image = ax.pcolormesh(rates, rates, coverage, cmap="RdBu", vmin=0.9, vmax=1.0)
        ax.set(title=f"prior {method!r}", xlabel="recall", aspect="equal")
        ax.text(0.55, 0.08, "impossible:\ntoo few negatives", ha="left", color="0.4")
    axes[0].set_ylabel("precision")
    figure.colorbar(image, ax=axes, label="coverage of 95 % intervals of F1, 100 rows")
    return figure


def design_effect(y_true, y_pred, level):
    """Beta interval of counts divided by how much more blocks disagree than chance explains."""
    hits = (y_true == y_pred).reshape(-1, BLOCK).sum(axis=1)
    blocks = ConfusionCounts.from_binary(tp=hits, fn=BLOCK - hits, fp=0 * hits, tn=0 * hits)
    effect = max(1, fold_posterior(blocks, "recall").diagnostics.variance_ratio)
    hits, n = hits.sum() / effect, hits.size * BLOCK / effect
    return BetaPosterior(hits + 0.5, n - hits + 0.5).interval(level)


def dependent_rows():
    truth = MarkovTruth(
        recall=0.8,
        specificity=0.8,
        label_correlation=0.9,
        hit_correlation=[0, 0.3, 0.6, 0.8, 0.9, 0.95],
    )
    study = coverage_study(
        {
            "all rows": "auto",
            "every 10th row": {"thin": 10},
            f"every {BLOCK}th row": {"thin": BLOCK},
            f"blocks of {BLOCK} are groups": {"block": BLOCK, "n_draws": 500},
            "design effect": design_effect,
        },
        truth,
        n=2000,
        n_replications=300,
        random_state=0,
    )
    print(study)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    display = study.plot(ax=left)
    x = study.points["hit_correlation"]
    for line, length in zip(display.lines_, study.length, strict=True):
        look = {key: getattr(line, f"get_{key}")() for key in ("color", "marker", "linestyle")}
        right.plot(x, length, **look)
    right.set(xlabel="hit correlation", ylabel="mean length")
    right.set_ylim(bottom=0)
    right.spines[["top", "right"]].set_visible(False)
    return figure


def main():
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for make in (proportion, f1_surface, dependent_rows):
        figure = make()
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            figure.savefig(directory / f"coverage_{make.__name__}.png", dpi=110)
    if directory is None:
        plt.show()


if __name__ == "__main__":
    main()
