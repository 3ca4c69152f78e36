"""Quantiles of averages over classes without draws, against draws.

108 tables, one sample from each of the populations of `macro_coverage` (others than those by which
the approximation was chosen), with 3 to 100 classes and 5 to 60 rows per class. What counts is the
worst of nine quantiles, in standard deviations of the posterior. Tables and seeds were fixed before
any of them was run. Up to 10 classes there are a million draws, beyond 100,000: these leave a
standard error of .009 on the quantile .025, and of .02 on .005.

Run: python benchmarks/macro_accuracy.py [--metrics f1_macro f1_weighted matthews_corrcoef]
"""

import argparse
import warnings

import numpy as np
from macro_coverage import (
    centroids,
    even,
    haphazard,
    ladder,
    magnet,
    majority,
    rare_is_bad,
    siblings,
)

from skuncertain import ConfusionCounts
from skuncertain.metrics import get_metric

SEED = 420_000
QUANTILES = np.array([0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995])
GENERATORS = (
    (centroids, {"sharp": 0.7, "power": 0.3}),
    (rare_is_bad, {"power": 0.9}),
    (magnet, {"which": 1, "power": 0.3}),
    (siblings, {"swapped": 0.35}),
    (haphazard, {"mean": 0.6, "power": 0.6}),
    (majority, {"share": 0.5, "recall": 0.5}),
    (ladder, {"up": 0.3}),
    (even, {"recall": 0.93, "power": 0.5}),
    (even, {"recall": 0.35}),
)
SIZES = ((3, 8), (3, 40), (4, 15), (5, 60), (6, 10), (8, 5), (10, 25), (20, 6), (20, 30), (35, 15))
SIZES += ((60, 10), (100, 20))
CELLS = [(generator, options, *size) for size in SIZES for generator, options in GENERATORS]
AT_ONCE = 2**22  # cells


def drawn(shapes, metrics, number, rng):
    """Quantiles and standard deviation of every metric from draws of the Dirichlet."""
    values = [[] for _ in metrics]
    step = max(1, AT_ONCE // shapes.size)
    for start in range(0, number, step):
        size = min(step, number - start)
        cells = rng.standard_gamma(shapes, size=(size, *shapes.shape))
        for found, metric in zip(values, metrics, strict=True):
            found.append(metric.evaluate(cells))
    joined = [np.concatenate(found) for found in values]
    return [(np.quantile(found, QUANTILES), found.std()) for found in joined]


def errors(cell, seed, metrics):
    """Worst error of every metric, NaN where the package draws."""
    generator, options, n_classes, rows = cell
    rng = np.random.default_rng(seed)
    share = generator(rng, n_classes, **options)
    table = rng.multinomial(n_classes * rows, share.ravel()).reshape(n_classes, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posteriors = [ConfusionCounts(table).posterior(metric) for metric in metrics]
    if all(posterior.n_draws for posterior in posteriors):
        return [np.nan] * len(metrics)
    number = 1_000_000 if n_classes <= 10 else 100_000
    reference = drawn(posteriors[0].alpha, metrics, number, rng)
    return [
        np.nan if posterior.n_draws else np.abs(posterior.quantile(QUANTILES) - q).max() / sd
        for posterior, (q, sd) in zip(posteriors, reference, strict=True)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--metrics", nargs="+", default=["f1_macro", "f1_weighted", "matthews_corrcoef"]
    )
    metrics = [get_metric(name) for name in parser.parse_args().metrics]
    found = []
    for k, cell in enumerate(CELLS):
        found.append(errors(cell, SEED + k, metrics))
        generator, _, n_classes, rows = cell
        shown = " ".join(f"{error:.3f}" for error in found[-1])
        print(f"{generator.__name__:12} {n_classes:4} {rows:4} {shown}", flush=True)
    for metric, column in zip(metrics, np.transpose(found), strict=True):
        kept = column[~np.isnan(column)]
        parts = *np.quantile(kept, [0.5, 0.9]), kept.max(), (kept <= 0.1).mean()
        print(f"{metric.name}: {kept.size} of {column.size} without draws;", end=" ")
        print("median {:.3f}, 90 % {:.3f}, largest {:.3f}; {:.0%} within .1".format(*parts))


if __name__ == "__main__":
    main()
