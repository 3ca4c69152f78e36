"""How cost and memory grow with rows, classes, folds, candidates, draws and matrices.

Every line is measured over four decades (classes over three: their cells span six). CPU time is the
least of a few calls, memory the peak that Python and numpy allocated during one more call. The
exponent is the slope of the logarithms over the upper half of the sizes, where fixed costs do not
hide it. Run: python benchmarks/growth.py [--write DIRECTORY]
"""

import argparse
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from tables import markdown, restructured
from timing import cpu, seconds

from skuncertain import ConfusionCounts, confidence_interval, credible_interval, search_posterior
from skuncertain.metrics import auc_posterior
from skuncertain.model_selection import fold_posterior

SEED = 0


def labels(n):
    rng = np.random.default_rng(SEED)
    y = rng.random(n) < 0.3
    return y, np.where(rng.random(n) < 0.9, y, ~y)


def rows_to_interval(n):
    y, pred = labels(n)
    return lambda: credible_interval(y, pred, metric="f1")


def rows_to_bootstrap(n):
    y, pred = labels(n)
    return lambda: confidence_interval(y, pred, metric="f1", method="bootstrap", random_state=SEED)


def rows_to_auc(n):
    y, _ = labels(n)
    score = 1.8 * y + np.random.default_rng(SEED).normal(size=n)
    return lambda: auc_posterior(y, score).interval()


def argsort_alone(n):
    score = np.random.default_rng(SEED).normal(size=n)
    return lambda: np.argsort(score)


def many_classes(c):
    rng = np.random.default_rng(SEED)
    matrix = rng.poisson(200 / c, (c, c)) + np.diag(rng.poisson(100, c) + 5)
    return ConfusionCounts(matrix)


def classes_drawn(c):
    counts = many_classes(c)
    return lambda: counts.posterior("f1_macro", n_draws=200, random_state=SEED).interval()


def classes_exact(c):
    counts = many_classes(c)
    return lambda: counts.posterior("balanced_accuracy").interval()


def matrices(*shape):
    rng = np.random.default_rng(SEED)
    return rng.multinomial(100, [0.5, 0.1, 0.1, 0.3], size=shape).reshape(*shape, 2, 2)


def folds(k):
    counts = ConfusionCounts(matrices(k))
    return lambda: fold_posterior(counts, "f1").interval()


def candidates(m):
    scores = np.random.default_rng(SEED).normal(0.8, 0.03, (m, 10))
    results = {f"split{k}_test_score": scores[:, k] for k in range(10)}
    return lambda: search_posterior(results, n_repeats=1, n_draws=2000, random_state=SEED)


def draws(n):
    counts = many_classes(3)
    return lambda: counts.posterior("f1_macro", n_draws=n, random_state=SEED).interval()


def stack_closed(m):
    counts = ConfusionCounts(matrices(m))
    return lambda: counts.posterior("f1").interval()


def stack_integrals(m):
    counts = ConfusionCounts(matrices(m))
    return lambda: counts.posterior("balanced_accuracy").interval()


# What grows, the sizes, the exponents of time and memory that the algorithm has, and why.
LINES = {
    "rows: F1 interval": (rows_to_interval, 10.0 ** np.arange(3, 8), 1, 1, "counting"),
    "rows: bootstrap of F1": (rows_to_bootstrap, 10.0 ** np.arange(3, 8), 1, 1, "counting"),
    "rows: AUC interval": (
        rows_to_auc,
        10.0 ** np.arange(3, 8),
        argsort_alone,
        1,
        "numpy's argsort",
    ),
    "classes: macro F1, 200 draws": (
        *(classes_drawn, [2, 10, 30, 100, 300, 1000], 2, 2, "C² cells"),
    ),
    "classes: balanced accuracy": (
        *(classes_exact, [3, 10, 30, 100, 300, 1000, 3000], 2, 2, "C² cells are summed"),
    ),
    "folds: F1 interval": (folds, 10.0 ** np.arange(1, 6), 1, 1, "one matrix each"),
    "candidates: search of 10 folds": (
        candidates,
        [10, 100, 1000, 3000, 10_000, 30_000, 100_000],
        1,
        1,
        "2,000 joint draws; all pairs up to 1,000",
    ),
    "draws: macro F1 of 3 classes": (draws, 10.0 ** np.arange(3, 8), 1.1, 1, "sorted, n log n"),
    "matrices: F1 intervals": (stack_closed, 10.0 ** np.arange(1, 6), 1, 1, "one quantile each"),
    "matrices: balanced accuracy": (
        *(stack_integrals, 10.0 ** np.arange(0, 4.5, 0.5), 1, 1, "one integral each"),
    ),
}


def measure(make, size):
    function = make(int(size))
    first = cpu(function)
    best = min(
        [first, *(cpu(function) for _ in range(0 if first > 1 else 3 if first > 0.05 else 9))]
    )
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return best, peak


def exponent(sizes, values):
    """Slope of the logarithms over the upper half."""
    half = len(sizes) // 2
    return np.polyfit(np.log(sizes[half:]), np.log(values[half:]), 1)[0]


def figure(found, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    for name, (sizes, times, peaks) in found.items():
        axes[0].loglog(sizes, times, marker="o", markersize=3, label=name)
        axes[1].loglog(sizes, np.asarray(peaks) / 2**20, marker="o", markersize=3)
    axes[0].set(xlabel="size", ylabel="CPU seconds", title="Cost")
    axes[1].set(xlabel="size", ylabel="peak memory in MiB", title="Memory")
    for ax in axes:
        ax.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="directory for the table and the figure")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    found, rows = {}, []
    for name, (make, sizes, in_time, in_memory, why) in LINES.items():
        sizes = np.asarray(sizes)
        times, peaks = zip(*(measure(make, size) for size in sizes), strict=True)
        found[name] = sizes, times, peaks
        slopes = exponent(sizes, times), exponent(sizes, peaks)
        if callable(in_time):  # an operation that cannot be avoided, measured at the same sizes
            in_time = round(exponent(sizes, [measure(in_time, size)[0] for size in sizes]), 2)
        good = slopes[0] < in_time + 0.15 and slopes[1] < in_memory + 0.15
        rows.append(
            [
                name, f"{sizes[0]:,.0f} to {sizes[-1]:,.0f}", seconds(times[0]), seconds(times[-1]),
                f"{peaks[-1] / 2**20:,.0f} MiB", f"{slopes[0]:.2f} ({in_time})",
                f"{slopes[1]:.2f} ({in_memory})", why, "ok" if good else "worse than theory",
            ]
        )  # fmt: skip
        print(*rows[-1], sep=" | ", flush=True)
    header = [
        "what grows", "sizes", "least cost", "largest cost", "largest memory",
        "exponent of time (theory)", "of memory (theory)", "theory", "",
    ]  # fmt: skip
    print(f"\n{markdown(header, rows)}")
    if write:
        write.mkdir(parents=True, exist_ok=True)
        (write / "growth.rst.inc").write_text(restructured(header, rows))
        figure(found, write / "growth.png")


if __name__ == "__main__":
    main()
