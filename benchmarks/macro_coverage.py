"""Coverage of intervals of averages over classes with few rows.

Every cell is a population (a generator, a number of classes, rows per class), 2,000 samples,
nominal 95 %. "plain" is the equal-tailed interval of the posterior, "interval" what the package
returns. Cells were fixed, with their seeds, before any of them was run. A cell counts as warned if
more than half of its samples raise the warning of too few rows; the others must be covered.

"low at x": the one-sided 99 % Clopper-Pearson bound of the coverage is below x.

Run: python benchmarks/macro_coverage.py [--metric f1_macro] [--set fresh] [--replications 2000]
"""

import argparse
import warnings

import numpy as np
from scipy.stats import beta

from skuncertain import ConfusionCounts
from skuncertain.metrics import get_metric
from skuncertain.metrics._few_rows import not_mended

AT_ONCE = 1001  # samples: stacks of more than 1,000 need no cosine series


def spread(recall, weights, frequencies):
    """Cell probabilities from recalls, where the errors of a class go, and class frequencies."""
    errors = np.array(weights, dtype=float) * (1 - np.eye(len(recall)))
    errors /= errors.sum(axis=1, keepdims=True)
    cells = (1 - recall)[:, None] * errors + np.diag(recall)
    return (frequencies / frequencies.sum())[:, None] * cells


def zipf(n_classes, power):
    return np.arange(1.0, n_classes + 1) ** -power


def centroids(rng, n_classes, sharp=1.0, power=0.0):
    """Classes are points in a plane; near ones are confused."""
    points = rng.normal(size=(n_classes, 2)) * np.sqrt(n_classes)
    distance = ((points[:, None] - points) ** 2).sum(axis=-1)
    cells = np.exp(-sharp * distance) + 1e-3
    cells /= cells.sum(axis=1, keepdims=True)
    frequencies = rng.permutation(zipf(n_classes, power))
    return (frequencies / frequencies.sum())[:, None] * cells


def rare_is_bad(rng, n_classes, power=1.0, best=0.95, worst=0.25):
    """The rarer a class, the worse; errors go to frequent classes."""
    frequencies = zipf(n_classes, power)
    rank = np.linspace(0, 1, n_classes)
    return spread(
        best + (worst - best) * rank**0.7, np.tile(frequencies, (n_classes, 1)), frequencies
    )


def magnet(rng, n_classes, which=0, power=0.0, mean=0.75):
    """All errors go to one class."""
    recall = rng.beta(12 * mean, 12 * (1 - mean), n_classes)
    weights = np.full((n_classes, n_classes), 1e-9)
    weights[:, which] = 1
    weights[which] = 1
    return spread(recall, weights, zipf(n_classes, power))


def siblings(rng, n_classes, swapped=0.3):
    """Pairs of classes that are taken for each other, and hardly ever for another."""
    weights = np.full((n_classes, n_classes), 1e-3)
    for k in range(n_classes):
        weights[k, min(k ^ 1, n_classes - 1)] = 1
        weights[k, k - 1] += 1e-3
    return spread(np.full(n_classes, 1 - swapped), weights, np.ones(n_classes))


def haphazard(rng, n_classes, mean=0.7, power=0.5):
    """Recalls and errors at random."""
    recall = rng.beta(5 * mean, 5 * (1 - mean), n_classes)
    weights = rng.gamma(0.4, size=(n_classes, n_classes)) + 1e-6
    return spread(recall, weights, rng.permutation(zipf(n_classes, power)))


def majority(rng, n_classes, share=0.6, recall=0.6):
    """One class has most rows and gets most errors."""
    frequencies = np.full(n_classes, (1 - share) / (n_classes - 1))
    frequencies[0] = share
    rates = np.full(n_classes, recall)
    rates[0] = 0.95
    return spread(rates, np.tile(frequencies, (n_classes, 1)), frequencies)


def ladder(rng, n_classes, up=0.35):
    """Ordered classes; errors go up by one or two."""
    weights = np.full((n_classes, n_classes), 1e-4)
    for k in range(n_classes):
        weights[k, min(k + 1, n_classes - 1)] += 0.8
        weights[k, min(k + 2, n_classes - 1)] += 0.2
    return spread(np.full(n_classes, 1 - up), weights, np.ones(n_classes))


def even(rng, n_classes, recall=0.8, power=0.0):
    """All classes alike."""
    frequencies = zipf(n_classes, power)
    return spread(np.full(n_classes, recall), np.ones((n_classes, n_classes)), frequencies)


# Generator, its parameters, classes, rows per class.
FRESH = [
    (centroids, {"sharp": 1.0}, 3, 4),
    (centroids, {"sharp": 0.6}, 12, 5),
    (centroids, {"sharp": 0.8, "power": 0.7}, 25, 8),
    (centroids, {"sharp": 1.5}, 60, 4),
    (centroids, {"sharp": 1.0, "power": 0.5}, 80, 12),
    (rare_is_bad, {"power": 0.8}, 4, 6),
    (rare_is_bad, {"power": 1.0}, 7, 10),
    (rare_is_bad, {"power": 1.0}, 12, 20),
    (rare_is_bad, {"power": 0.8}, 25, 15),
    (rare_is_bad, {"power": 0.6}, 50, 10),
    (rare_is_bad, {"power": 0.7}, 80, 25),
    (rare_is_bad, {"power": 0.5}, 100, 8),
    (magnet, {"which": 0}, 5, 5),
    (magnet, {"which": 2}, 9, 12),
    (magnet, {"which": 0}, 20, 4),
    (magnet, {"which": 3, "power": 0.5}, 40, 10),
    (magnet, {"which": 0, "mean": 0.6}, 70, 6),
    (magnet, {"which": 5}, 100, 20),
    (siblings, {"swapped": 0.3}, 4, 12),
    (siblings, {"swapped": 0.1}, 10, 8),
    (siblings, {"swapped": 0.4}, 30, 5),
    (siblings, {"swapped": 0.25}, 90, 3),
    (haphazard, {"mean": 0.7}, 3, 15),
    (haphazard, {"mean": 0.6}, 8, 6),
    (haphazard, {"mean": 0.85}, 16, 10),
    (haphazard, {"mean": 0.5}, 35, 7),
    (haphazard, {"mean": 0.75, "power": 0.8}, 100, 15),
    (majority, {"share": 0.6}, 3, 20),
    (majority, {"share": 0.5}, 6, 30),
    (majority, {"share": 0.4, "recall": 0.4}, 15, 12),
    (ladder, {"up": 0.35}, 5, 8),
    (ladder, {"up": 0.2}, 20, 20),
    (ladder, {"up": 0.5}, 45, 6),
    (even, {"recall": 0.97}, 6, 10),
    (even, {"recall": 0.995}, 26, 12),
    (even, {"recall": 0.3}, 10, 10),
    (even, {"recall": 0.9, "power": 0.9}, 30, 10),
    (even, {"recall": 0.8}, 100, 3),
    (even, {"recall": 0.8}, 5, 100),
    (even, {"recall": 0.85}, 30, 100),
    (siblings, {"swapped": 0.2}, 100, 100),
]
SETS = {"fresh": (FRESH, 810_000)}


def run_cell(generator, options, n_classes, rows, metric, replications, seed):
    """Coverage of both intervals and their mean widths, where the package warns and where not."""
    rng = np.random.default_rng(seed)
    cells = generator(rng, n_classes, **options)
    truth = float(metric.evaluate(cells))
    found = []
    for start in range(0, replications, AT_ONCE):
        size = min(AT_ONCE, replications - start)
        sample = rng.multinomial(n_classes * rows, cells.ravel(), size=size)
        sample = sample.reshape(size, n_classes, n_classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = ConfusionCounts(sample).posterior(metric, random_state=start)
            low, high = posterior.interval()
            plain = posterior.quantile([0.025, 0.975])
        found.append(
            np.stack(
                [
                    not_mended(sample.astype(float), metric),
                    (plain[:, 0] <= truth) & (truth <= plain[:, 1]),
                    (low <= truth) & (truth <= high),
                    plain[:, 1] - plain[:, 0],
                    high - low,
                ]
            )
        )
    return truth, np.concatenate(found, axis=1)


def low_at(hits, n, x):
    return hits < n and beta.ppf(0.99, hits + 1, n - hits) < x


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metric", default="f1_macro")
    parser.add_argument("--set", default="fresh", choices=SETS)
    parser.add_argument("--replications", type=int, default=2000)
    options = parser.parse_args()
    metric = get_metric(options.metric)
    cells, base = SETS[options.set]
    totals = []
    print("cell | classes | rows per class | truth | plain | interval | width | warned")
    for k, (generator, parameters, n_classes, rows) in enumerate(cells):
        truth, found = run_cell(
            generator, parameters, n_classes, rows, metric, options.replications, base + k
        )
        warned = found[0] > 0.5
        used = warned if warned.mean() > 0.5 else ~warned
        hits, n = int(found[2][used].sum()), int(used.sum())
        width = found[4][used].mean() / found[3][used].mean()
        flags = " ".join(f"low at {x:.0%}" for x in (0.93, 0.90) if low_at(hits, n, x))
        text = ", ".join(f"{key} {value:g}" for key, value in parameters.items())
        print(
            f"{generator.__name__} ({text}) | {n_classes} | {rows} | {truth:.3f} | "
            f"{100 * found[1][used].mean():.1f} | {100 * hits / n:.1f} | {width:.2f} | "
            f"{100 * warned.mean():.0f} % | {flags}",
            flush=True,
        )
        totals.append((warned.mean() > 0.5, found[1][used].mean(), hits / n, width, flags))
    for name, part in (("not warned", False), ("warned", True)):
        rows = [row for row in totals if row[0] == part]
        if rows:
            plain, cover, width = (np.array([row[k] for row in rows]) for k in (1, 2, 3))
            print(
                f"{name}: {len(rows)} cells; plain min {plain.min():.3f} mean {plain.mean():.3f}; "
                f"interval min {cover.min():.3f} mean {cover.mean():.3f}; low at 93 %: "
                f"{sum('93' in row[4] for row in rows)}, at 90 %: "
                f"{sum('90' in row[4] for row in rows)}; width {width.mean():.3f}, "
                f"at most {width.max():.2f}"
            )


if __name__ == "__main__":
    main()
