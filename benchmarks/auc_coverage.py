"""Coverage of 95 % intervals of areas, average precision, their averages and differences.

Cells, seeds and replications are fixed in this file. A cell is low at 93 (90) % if the one-sided
99 % Clopper-Pearson upper bound of its coverage is below that. The rule that the default replaced
(normal quantiles, one guard for an average by its smallest class, a mirror at 1/2 for the average
precision) is measured on the same samples.

    python benchmarks/auc_coverage.py [--runs 2000] [--write docs/benchmark_tables]
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from proportion_coverage import table
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit

from skuncertain._numerics.scores.delong import Estimate, area, average_precision, freedom, mean_of
from skuncertain.comparison import compare_auc
from skuncertain.exceptions import DegenerateIntervalWarning, SmallSampleWarning
from skuncertain.metrics import auc_posterior, average_precision_posterior
from skuncertain.metrics._scores.ranking import _ends

SEED, RUNS = 20261118, 2000
POPULATIONS = ("normal", "wide", "exponential", "gamma", "seven levels")
AREAS = (0.6, 0.75, 0.9, 0.97, 0.99)
SIZES = (
    (3, 20), (3, 500), (5, 50), (5, 500), (10, 20), (10, 100), (20, 100), (20, 500), (50, 50),
    (50, 500), (100, 5), (500, 10),
)  # fmt: skip
SAMPLES = ((0.02, 250), (0.02, 500), (0.02, 2000), (0.1, 100), (0.1, 500), (0.5, 20), (0.5, 100))
PRECISION_AREAS = (0.6, 0.8, 0.95)
# Sizes of the classes, and what the last class is: as the others, worse, or good but for a share
# of its rows that are ranked at random.
CLASSES = {
    "5 x 300 + 3": (300,) * 5 + (3,),
    "4 x 100 + 10": (100,) * 4 + (10,),
    "6 x 4": (4,) * 6,
    "40, 20, 10, 5": (40, 20, 10, 5),
    "12 x 8": (8,) * 12,
}
LAST = {
    "all good (.999)": (4.4, 4.4, 0),
    "all fair (.92)": (2, 2, 0),
    "all weak (.76)": (1, 1, 0),
    "last worse (.76 instead of .92)": (2, 1, 0),
    "last good but for 20 %": (4.4, 4.4, 0.2),
}
PAIRS = tuple(product((5, 10, 20), (300,), (0.7, 0.9, 0.97)))


def shift(kind, value):
    """What makes the area of a population `value`; of seven levels, before they are cut."""
    if kind in ("normal", "seven levels"):
        return np.sqrt(2) * stats.norm.ppf(value)
    if kind == "wide":
        return np.sqrt(5) * stats.norm.ppf(value)
    if kind == "exponential":
        return value / (1 - value)
    return brentq(lambda c: stats.f.sf(1 / c, 4, 4) - value, 0.1, 1e4)


CUTS = np.array([-1.0, -0.25, 0.5, 1.25, 2.0, 2.75])


def draw(rng, kind, by, shape, positive):
    """Scores of positives or negatives."""
    if kind in ("normal", "seven levels"):
        score = rng.normal(by if positive else 0.0, 1.0, shape)
        return score if kind == "normal" else np.digitize(score, CUTS).astype(float)
    if kind == "wide":
        return rng.normal(by, 2.0, shape) if positive else rng.normal(size=shape)
    return rng.gamma(1 if kind == "exponential" else 2, by if positive else 1.0, shape)


def true_curve(kind, by):
    """False positive rates at (the middles of) many true positive rates, with weights."""
    if kind == "seven levels":
        tpr, fpr = stats.norm.sf(CUTS[::-1] - by), stats.norm.sf(CUTS[::-1])
        return np.r_[tpr, 1.0], np.r_[fpr, 1.0], np.diff(np.r_[0.0, tpr, 1.0])
    tpr = (np.arange(200_000) + 0.5) / 200_000
    if kind == "normal":
        fpr = stats.norm.sf(stats.norm.isf(tpr) + by)
    elif kind == "wide":
        fpr = stats.norm.sf(2 * stats.norm.isf(tpr) + by)
    else:
        a = 1 if kind == "exponential" else 2
        fpr = stats.gamma.sf(by * stats.gamma.isf(tpr, a), a)
    return tpr, fpr, np.full(tpr.size, 1 / tpr.size)


def true_area(kind, by, value):
    if kind != "seven levels":
        return value
    tpr, fpr, _ = true_curve(kind, by)
    return float(np.trapezoid(np.r_[0.0, tpr], np.r_[0.0, fpr]))


def true_precision(kind, by, prevalence):
    tpr, fpr, weight = true_curve(kind, by)
    return float(np.sum(weight * prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)))


def low_at(inside, percent):
    hits = int(np.sum(inside))
    return stats.beta.ppf(0.99, hits + 1, max(len(inside) - hits, 1e-9)) < percent / 100


class Tally:
    """Coverage and width of several methods in many cells."""

    def __init__(self):
        self.cells = []  # group, cell, method, coverage, width, low at 93, low at 90

    def add(self, group, cell, truth, found):
        for method, ends in found.items():
            low, high = np.asarray(ends, dtype=float).T
            inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
            flags = low_at(inside, 93), low_at(inside, 90)
            self.cells.append((group, cell, method, inside.mean(), np.mean(high - low), *flags))

    def of(self, method, group=None):
        return [c for c in self.cells if c[2] == method and group in (None, c[0])]

    def text(self, title, head, methods):
        groups = list(dict.fromkeys(c[0] for c in self.cells))
        rows = [[g, *(self._entry(m, g, methods[0]) for m in methods)] for g in groups]
        rows.append(["all cells", *(self._entry(m, None, methods[0]) for m in methods)])
        low = [
            f"{c[0]}, {c[1]}: {100 * c[3]:.1f} %{' (low at 90 %)' if c[6] else ''}"
            for c in self.of(methods[0])
            if c[5]
        ]
        note = "Low at 93 %: " + ("; ".join(low) if low else "no cell of the default") + ".\n"
        return table(title, [head, *methods], rows) + "\n" + note

    def _entry(self, method, group, first):
        cells, reference = self.of(method, group), self.of(first, group)
        share = [100 * c[3] for c in cells]
        width = np.mean([a[4] / b[4] for a, b in zip(cells, reference, strict=True)])
        flags = f"{sum(c[5] for c in cells)} / {sum(c[6] for c in cells)} of {len(cells)}"
        return (
            f"{min(share):.1f} to {max(share):.1f}, mean {np.mean(share):.1f}; {flags}; {width:.2f}"
        )


def previous(value, variance, size, mirrored=True):
    """The rule that the default replaced."""
    value, variance = np.asarray(value, dtype=float), np.asarray(variance, dtype=float)
    bound, z = stats.beta.ppf(0.025, size + 0.5, 0.5), stats.norm.ppf(0.975)
    with np.errstate(all="ignore"):
        share = value * (1 - value)
        spread = np.sqrt(np.where(variance == 0, share / (size + 1), variance)) / share
        scale = np.maximum(spread, (np.abs(logit(value)) - logit(bound)) / z)
        low, high = expit(logit(value) - z * scale), expit(logit(value) + z * scale)
    low = np.where(value == 1, bound, np.where(value == 0, 0.0, low))
    return np.c_[low, np.where(value == 0, 1 - bound, np.where(value == 1, 1.0, high))]


def placements(x, y):
    """Kernel of all pairs of all replications."""
    return (x[:, :, None] > y[:, None, :]) + 0.5 * (x[:, :, None] == y[:, None, :])


def area_ends(x, y):
    """Ends by all methods for replications in rows."""
    (m1, m0), value, variance, second = (x.shape[1], y.shape[1]), [], [], []
    for start in range(0, len(x), 100):
        kernel = placements(x[start : start + 100], y[start : start + 100])
        rows, columns, total = kernel.sum(2), kernel.sum(1), kernel.sum((1, 2))
        value.append(total / (m1 * m0))
        variance.append(rows.var(1, ddof=1) / m0**2 / m1 + columns.var(1, ddof=1) / m1**2 / m0)
        squares = total**2 + (rows**2).sum(1) + (columns**2).sum(1) + (kernel**2).sum((1, 2))
        second.append(squares / (m1 * (m1 + 1) * m0 * (m0 + 1)))
    value, variance, second = (np.concatenate(part) for part in (value, variance, second))
    m = min(m1, m0)
    default = [
        _ends(Estimate(v, np.sqrt([s]), m, freedom(m)))
        for v, s in zip(value, variance, strict=True)
    ]
    with np.errstate(all="ignore"):
        total = value * (1 - value) / np.maximum(second - value**2, 0) - 1
        bootstrap = np.c_[
            stats.beta.ppf(0.025, value * total, (1 - value) * total),
            stats.beta.ppf(0.975, value * total, (1 - value) * total),
        ]
    old = previous(value, variance, m)
    certain = (value == 0) | (value == 1)
    half = stats.norm.ppf(0.975) * np.sqrt(variance)
    plain = np.clip(np.c_[value - half, value + half], 0, 1)
    for ends in (bootstrap, plain):
        ends[certain] = old[certain]
    return {
        "default": default,
        "before": old,
        '"bayesian_bootstrap"': bootstrap,
        '"delong"': plain,
    }


def check_areas(x, y, found):
    """The vectorised ends are those of the public function."""
    labels = np.repeat([1, 0], [x.shape[1], y.shape[1]])
    for r in range(3):
        for name, method in (("default", "logit_delong"), ('"delong"', "delong"),
                             ('"bayesian_bootstrap"', "bayesian_bootstrap")):  # fmt: skip
            ends = auc_posterior(labels, np.r_[x[r], y[r]], method=method).interval()
            np.testing.assert_allclose(found[name][r], ends, atol=1e-7)


def areas(runs):
    tally = Tally()
    for (m1, m0), kind, value in product(SIZES, POPULATIONS, AREAS):
        rng = np.random.default_rng([SEED, m1, m0, POPULATIONS.index(kind), int(1000 * value)])
        by = shift(kind, value)
        x, y = draw(rng, kind, by, (runs, m1), True), draw(rng, kind, by, (runs, m0), False)
        found = area_ends(x, y)
        check_areas(x, y, found)
        tally.add(f"{m1} + {m0}", f"{kind}, {value:g}", true_area(kind, by, value), found)
    return tally


def precisions(runs):
    tally = Tally()
    for (prevalence, n), kind, value in product(SAMPLES, POPULATIONS, PRECISION_AREAS):
        rng = np.random.default_rng([SEED + 1, n, POPULATIONS.index(kind), int(1000 * value)])
        by, estimates, plain = shift(kind, value), [], []
        while len(estimates) < runs:
            y = rng.random(n) < prevalence
            if not 0 < y.sum() < n:
                continue
            score = np.where(y, draw(rng, kind, by, n, True), draw(rng, kind, by, n, False))
            estimates.append(average_precision(y, score))
            plain.append(uncorrected(y, estimates[-1].influence))
            if len(estimates) <= 3:
                ends = average_precision_posterior(y, score).interval()
                np.testing.assert_allclose(_ends(estimates[-1]), ends, atol=1e-7)
        old = [previous([e.value], [v], e.size)[0] for e, v in zip(estimates, plain, strict=True)]
        found = {"default": [_ends(e) for e in estimates], "before": old}
        truth = true_precision(kind, by, prevalence)
        tally.add(
            f"{n} rows, {100 * prevalence:g} %", f"{kind}, {value:g} ({truth:.2f})", truth, found
        )
    return tally


def uncorrected(y, influence):
    """Sum of squares with the divisor m within a class."""
    total = 0.0
    for rows in (y, ~y):
        part, m = influence[rows], rows.sum()
        total += m * part.mean() ** 2 + np.sum((part - part.mean()) ** 2) * max(m - 1, 1) / m
    return total


def averages(runs):
    tally = Tally()
    for (name, sizes), (last, (good, worst, share)) in product(CLASSES.items(), LAST.items()):
        rng = np.random.default_rng([SEED + 2, *sizes, int(10 * good), int(10 * worst)])
        shifts = np.array([good] * (len(sizes) - 1) + [worst], dtype=float)
        truths = stats.norm.cdf(shifts / np.sqrt(2))
        truths[-1] = (1 - share) * truths[-1] + 0.5 * share
        y, every = np.repeat(np.arange(len(sizes)), sizes), np.arange(sum(sizes))
        weights, estimates = np.full(len(sizes), 1 / len(sizes)), []
        for _ in range(runs):
            scores = rng.normal(size=(y.size, len(sizes)))
            moved = shifts[y] * ((y < len(sizes) - 1) | (rng.random(y.size) >= share))
            scores[every, y] += moved
            parts = [area(y == k, scores[:, k]) for k in range(len(sizes))]
            estimates.append(mean_of(parts, weights))
        ends = auc_posterior(y, scores).interval()
        np.testing.assert_allclose(_ends(estimates[-1]), ends, atol=1e-7)
        value, variance = np.array([(e.value, e.variance) for e in estimates]).T
        found = {
            "default": [_ends(e) for e in estimates],
            "before": previous(value, variance, min(sizes)),
        }
        tally.add(name, last, truths.mean(), found)
    return tally


def comparisons(runs):
    tally = Tally()
    for m1, m0, value in PAIRS:
        rng = np.random.default_rng([SEED + 3, m1, m0, int(1000 * value)])
        y, by, found = np.repeat([1, 0], [m1, m0]), shift("normal", value), {}
        for _ in range(runs):
            shared = rng.normal(size=y.size)
            one, two = (
                by * y + 0.7 * shared + np.sqrt(0.51) * rng.normal(size=y.size) for _ in range(2)
            )
            result = compare_auc(y, one, two)
            found.setdefault("default", []).append(result.interval())
            normal = stats.norm.ppf([0.025, 0.975]) * result.difference.scale
            found.setdefault('"delong"', []).append(np.clip(result.difference.loc + normal, -1, 1))
        again = compare_auc(y, one, two, method="delong").interval()
        np.testing.assert_allclose(found['"delong"'][-1], again, atol=1e-12)
        tally.add(f"{m1} + {m0}", f"{value:g}", 0.0, found)
    return tally


TABLES = (
    ("Area", "positives + negatives", areas,
     ("default", "before", '"bayesian_bootstrap"', '"delong"')),
    ("Average precision", "rows, prevalence", precisions, ("default", "before")),
    ("Macro average of areas", "rows of the classes", averages, ("default", "before")),
    ("Difference of the areas of two equally good models", "positives + negatives", comparisons,
     ("default", '"delong"')),
)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SmallSampleWarning)
    warnings.simplefilter("ignore", DegenerateIntervalWarning)
    parts, start = [], time.process_time()
    for title, head, measure, methods in TABLES:
        tally = measure(options.runs)
        parts.append(
            tally.text(
                f"{title}: coverage in %; cells low at 93 / 90 %; width relative to the default's",
                head,
                methods,
            )
        )
        for cell in tally.cells:
            print(f"{cell[0]:>16} {cell[1]:<34} {cell[2]:<22} {100 * cell[3]:5.1f} {cell[4]:.4f}")
        print(parts[-1], f"{time.process_time() - start:.0f} s of CPU time", flush=True)
    if options.write is not None:
        text = "\n".join(parts)
        (options.write / "auc.rst.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
