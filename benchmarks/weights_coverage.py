"""Coverage of intervals of weighted metrics, and their width relative to Kish's effective size.

A population has weights (2,000 equally likely values, quantiles of a distribution) and an error
rate that depends on the weight of a row, so that the weighted metric is known exactly. Errors of
both classes follow the same rule; 40 % of the rows are positive. Every cell is a number of rows, a
weighted accuracy, a distribution and a rule, with 2,000 samples at nominal 95 %. Cells and seeds
were fixed before any of them was run. The rule of the package was chosen on the set "tuning", the
number of effective rows below which it warns on "tuning" and "fresh"; "second" was run at the end.
A cell counts as warned if more than half of its samples raise the warning.

"low at x": the one-sided 99 % Clopper-Pearson bound of the coverage is below x.

    python benchmarks/weights_coverage.py [--set fresh] [--write docs/benchmark_tables]
"""

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit

from skuncertain import ConfusionCounts
from skuncertain._numerics.row_weights import RowWeights
from skuncertain.metrics import get_metric
from skuncertain.metrics._few_rows import FEW_WEIGHTED

POSITIVE = 0.4
REPLICATIONS, OF_OTHERS = 2_000, 600  # of metrics that are proportions, and of the others
EVERY = 7  # cells of the others, which are slower
PROPORTIONS = ("accuracy", "recall", "f1")
OTHERS = ("balanced_accuracy", "matthews_corrcoef")
MID = (np.arange(2_000) + 0.5) / 2_000


def lognormal(sigma):
    return np.exp(sigma * stats.norm.ppf(MID))


def gamma(shape):
    return stats.gamma.ppf(MID, shape)


def two_point(heavy, share):
    return np.where(share > MID, float(heavy), 1.0)


def power(weight, slope, accuracy):
    """Errors in proportion to a power of the weight."""

    def rate(k):
        return np.minimum(np.exp(k) * weight**slope, 0.99)

    return _solved(rate, weight, accuracy)


def logistic(weight, slope, accuracy):
    """Log-odds of an error that are linear in the logarithm of the weight."""
    score = np.log(weight)
    score = (score - score.mean()) / score.std()
    return _solved(lambda k: expit(k + slope * score), weight, accuracy)


def half(weight, slope, accuracy):
    """One rate above the median weight and another one below."""
    above = weight > np.median(weight)
    above = above if above.any() else weight == weight.max()
    return _solved(
        lambda k: np.minimum(expit(k) * np.where(above, slope, 1), 0.99), weight, accuracy
    )


def _solved(rate, weight, accuracy):
    """Error rates with the weighted accuracy that is asked for."""
    k = brentq(lambda k: np.average(rate(k), weights=weight) - (1 - accuracy), -40, 40)
    return rate(k)


# Rows, weighted accuracies, distributions of weights, rules (heavy rows err less, alike, more).
SETS = {
    "tuning": (
        (60, 150, 500),
        (0.65, 0.8, 0.9, 0.95, 0.98),
        ((lognormal, 0.8), (two_point, 6, 0.15), (gamma, 1.5)),
        ((power, -0.8), (power, 0.0), (power, 0.8)),
        10_000,
    ),
    "fresh": (
        (50, 100, 300, 1000),
        (0.6, 0.75, 0.85, 0.92, 0.98),
        ((lognormal, 0.5), (lognormal, 1.0), (two_point, 4, 0.3), (two_point, 10, 0.1),
         (gamma, 1), (gamma, 3)),
        ((logistic, -1.0), (logistic, 0.0), (logistic, 1.0)),
        20_000,
    ),
    "second": (
        (55, 120, 250, 800),
        (0.62, 0.7, 0.88, 0.94, 0.97),
        ((lognormal, 0.7), (lognormal, 0.9), (two_point, 5, 0.2), (two_point, 8, 0.15),
         (gamma, 1.2), (gamma, 2)),
        ((half, 0.33), (half, 1.0), (half, 3.0)),
        30_000,
    ),
}  # fmt: skip


def sample(rng, weight, errors, n, size):
    """Row weights of `size` samples of n rows."""
    which = rng.integers(weight.size, size=(size, n))
    w, wrong = weight[which], rng.random((size, n)) < errors[which]
    positive = rng.random((size, n)) < POSITIVE
    cell = 2 * positive + (positive ^ wrong) + 4 * np.arange(size)[:, None]
    sums = [
        np.bincount(cell.ravel(), weights=part, minlength=4 * size).reshape(size, 2, 2)
        for part in (w.ravel(), w.ravel() ** 2, w.ravel() ** 3, None)
    ]
    return RowWeights(*sums[:3], sums[3].astype(float))


def truth_of(metric, accuracy):
    wrong = 1 - accuracy
    positive, negative = POSITIVE, 1 - POSITIVE
    cells = [[negative * accuracy, negative * wrong], [positive * wrong, positive * accuracy]]
    return float(metric.evaluate(np.array(cells), positive=1))


def counted(cells):
    return ConfusionCounts._make(cells, (0, 1), 1)


def interval(cells, metric):
    """Ends for many samples; few draws suffice for those that have no exact form."""
    counts = counted(cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return counts.posterior(metric, n_draws=2_000, random_state=0).interval()


def run(name, metrics, replications, every=1):
    """What was found in all cells, or in every n-th."""
    sizes, accuracies, distributions, rules, seed = SETS[name]
    found = []
    cells = list(enumerate(product(sizes, accuracies, distributions, rules)))
    for k, (n, p, (distribution, *given), (rule, slope)) in cells[::every]:
        weight = distribution(*given)
        rng = np.random.default_rng(seed + k)
        weights = sample(rng, weight, rule(weight, slope, p), n, replications)
        for metric in map(get_metric, metrics):
            truth = truth_of(metric, p)
            low, high = interval(weights, metric)
            old_low, old_high = interval(weights.counts, metric)
            found.append(
                {
                    "metric": metric.name,
                    "n": n,
                    "p": p,
                    "weights": f"{distribution.__name__} {' '.join(map(str, given))}",
                    "rule": ("alike", "more", "less")[int(np.sign(slope - (rule is half)))],
                    "covered": int(((low <= truth) & (truth <= high)).sum()),
                    "kish": int(((old_low <= truth) & (truth <= old_high)).sum()),
                    "runs": replications,
                    "warned": bool(
                        np.median(counted(weights).effective_rows(metric)) < FEW_WEIGHTED
                    ),
                    "width": float((high - low).mean() / (old_high - old_low).mean()),
                }
            )
    return found


def low_at(cell, x, key="covered"):
    hits, n = cell[key], cell["runs"]
    return hits < n and stats.beta.ppf(0.99, hits + 1, n - hits) < x


HEAD = (
    "",
    "cells",
    "coverage, mean / minimum",
    "low at 93 %",
    "with Kish's size",
    "low at 93 %",
    "width / Kish",
)


def summary(name, cells):
    """Figures of some cells as a row of a table."""
    own, kish = (np.array([c[key] / c["runs"] for c in cells]) for key in ("covered", "kish"))
    return [
        name,
        len(cells),
        f"{100 * own.mean():.1f} / {100 * own.min():.1f}",
        sum(low_at(c, 0.93) for c in cells),
        f"{100 * kish.mean():.1f} / {100 * kish.min():.1f}",
        sum(low_at(c, 0.93, "kish") for c in cells),
        f"{np.mean([c['width'] for c in cells]):.2f}",
    ]


def table(title, cells):
    """A list-table of reStructuredText."""
    enough = [c for c in cells if not c["warned"]]
    proportions = [c for c in enough if c["metric"] in PROPORTIONS]
    parts = [(name, [c for c in enough if c["metric"] == name]) for name in PROPORTIONS + OTHERS]
    parts += [
        (f"heavy rows err {rule}", [c for c in proportions if c["rule"] == rule])
        for rule in ("less", "alike", "more")
    ]
    parts += [(f"{n} rows", [c for c in proportions if c["n"] == n]) for n in SETS[title][0]]
    parts.append((f"fewer than {FEW_WEIGHTED} effective rows", [c for c in cells if c["warned"]]))
    lines = [f".. list-table:: {TITLES[title]}", "   :header-rows: 1", ""]
    for line in [HEAD, *(summary(name, part) for name, part in parts if part)]:
        lines += [f"   {'* -' if k == 0 else '  -'} {x}".rstrip() for k, x in enumerate(line)]
    return "\n".join(lines) + "\n"


TITLES = {
    "tuning": "Nominal 95 %, cells on which the rule was chosen",
    "fresh": "Nominal 95 %, fresh cells: log-odds of an error linear in log weight",
    "second": "Nominal 95 %, other fresh cells: one error rate above the median weight, one below",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs="+", default=["fresh", "second"], choices=SETS)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    given = parser.parse_args()
    parts = []
    for name in given.set:
        cells = run(name, PROPORTIONS, REPLICATIONS) + run(name, OTHERS, OF_OTHERS, EVERY)
        for cell in cells:
            if low_at(cell, 0.93):
                print(cell)
        parts.append(table(name, cells))
        print(parts[-1], flush=True)
    if given.write is not None:
        (given.write / "weights.rst.inc").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
