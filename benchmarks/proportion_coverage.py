"""Coverage of intervals of a proportion, by summation over all outcomes: nothing is drawn.

For every true rate of a fine grid the probability of each outcome is added up where its interval
holds the rate. The minimum is over the whole grid, the mean over equally spaced rates. Accuracy of
C classes is asked for with matrices of C classes that have the same successes and failures.

    python benchmarks/proportion_coverage.py [--write docs/benchmark_tables]
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import binom

from skuncertain import ConfusionCounts, confidence_interval
from skuncertain.metrics import proportion_posterior

SIZES = (10, 20, 50, 100, 300, 1000)
LEVELS = (0.8, 0.9, 0.95, 0.99)
CLASSES = (2, 3, 10, 30, 100)
EVEN = np.linspace(0.0005, 0.9995, 1999)
NEAR_0 = np.geomspace(1e-5, 0.1, 600)
GRID = np.concatenate([EVEN, NEAR_0, 1 - NEAR_0])  # finer where outcomes are few


def default(n, level, kind="eti"):
    hits = np.arange(n + 1)
    return proportion_posterior(hits, n - hits).interval(level, kind)


def plain_jeffreys(n, level):
    hits = np.arange(n + 1)
    posterior = proportion_posterior(hits, n - hits, prior=0.5)
    return posterior.quantile((1 - level) / 2), posterior.quantile((1 + level) / 2)


def bootstrap(n, level):
    """Percentiles of resampled rows: the hits of a resample are binomial."""
    rate = np.arange(n + 1) / n
    return tuple(binom.ppf(tail, n, rate) / n for tail in ((1 - level) / 2, (1 + level) / 2))


def frequentist(method):
    def ends(n, level):
        hits = np.arange(n + 1)
        nothing = np.zeros_like(hits)
        counts = ConfusionCounts.from_binary(tp=hits, fn=n - hits, fp=nothing, tn=nothing)
        return confidence_interval(counts, metric="recall", method=method, level=level)

    return ends


METHODS = {
    "default": default,
    "default, hdi": lambda n, level: default(n, level, "hdi"),
    "Jeffreys, plain": plain_jeffreys,
    "Wilson": frequentist("wilson"),
    "Clopper-Pearson": frequentist("clopper_pearson"),
    "bootstrap": bootstrap,
}


def accuracy_ends(n, n_classes, level=0.95):
    """Ends of the accuracy of n rows, all outcomes, in matrices of so many classes."""
    hits = np.arange(n + 1)
    matrices = np.zeros((n + 1, n_classes, n_classes), dtype=int)
    matrices[:, 0, 0], matrices[:, 0, 1] = hits, n - hits
    return ConfusionCounts(matrices).posterior("accuracy").interval(level)


def coverage(ends, n, rates=GRID):
    """Probability, at every rate, of an outcome whose interval holds it."""
    low, high = ends
    mass = binom.pmf(np.arange(n + 1), n, rates[:, None])
    return (mass * ((low <= rates[:, None]) & (rates[:, None] <= high))).sum(axis=1)


def mean_width(ends, n):
    low, high = ends
    return float((binom.pmf(np.arange(n + 1), n, EVEN[:, None]) @ (high - low)).mean())


def cell(ends, n):
    found = coverage(ends, n)
    return f"{100 * found.min():.1f} / {100 * found[: EVEN.size].mean():.1f}"


def table(title, head, rows):
    """A list-table of reStructuredText."""
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for line in [head, *rows]:
        lines += [f"   {'* -' if k == 0 else '  -'} {entry}" for k, entry in enumerate(line)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    folder = parser.parse_args().write
    sizes = [f"n = {n}" for n in SIZES]
    parts = [
        table(
            f"Nominal {100 * level:g} %: minimum / mean coverage over true rates, in %",
            ["method", *sizes],
            [[name, *(cell(ends(n, level), n) for n in SIZES)] for name, ends in METHODS.items()],
        )
        for level in LEVELS
    ]
    parts.append(
        table(
            "Mean width of 95 % intervals over true rates, relative to the default",
            ["method", *sizes],
            [
                [
                    name,
                    *(
                        f"{mean_width(ends(n, 0.95), n) / mean_width(default(n, 0.95), n):.3f}"
                        for n in SIZES
                    ),
                ]
                for name, ends in METHODS.items()
            ],
        )
    )
    parts.append(
        table(
            "Accuracy of C classes, default, nominal 95 %: minimum / mean coverage, in %",
            ["classes", *sizes[:4]],
            [[c, *(cell(accuracy_ends(n, c), n) for n in SIZES[:4])] for c in CLASSES],
        )
    )
    text = "\n".join(parts)
    print(text)
    if folder is not None:
        (folder / "proportions.rst.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
