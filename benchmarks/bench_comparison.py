"""Cost of comparisons and rankings: of two models, of many, of all candidates of a search.

Everything is CPU time of one thread, the median of repetitions. Where there is a baseline, the two
alternate; the other goals are seconds. Run: python benchmarks/bench_comparison.py
"""

import resource
import statistics
import sys
import warnings

import numpy as np
from timing import cpu, cpu_pair, seconds

from skuncertain import ConfusionCounts, compare, leaderboard, search_posterior
from skuncertain.comparison import compare_datasets
from skuncertain.exceptions import FoldDisagreementWarning

SEED = 0
PAIRS, N_DRAWS = 1000, 20_000
CANDIDATES, N_FOLDS, FOLD_ROWS = 10_000, 10, 100
BAYCOMP = 0.75  # seconds that baycomp's two_on_multiple needs for 30 data sets, measured elsewhere


def cpu_median(function, repeats):
    """Median CPU seconds, after one call to warm up; a single call is not."""
    if repeats > 1:
        function()
    return statistics.median(cpu(function) for _ in range(repeats))


def row(name, ours, baseline="", goal="", reached=None):
    """Print one line of the table."""
    verdict = "" if reached is None else "ok" if reached else "behind"
    print(f"| {name} | {ours} | {baseline} | {goal} | {verdict} |", flush=True)


def faster_row(name, ours, baseline, at_least=None):
    ratio = baseline / ours
    goal = "report only" if at_least is None else f">= {at_least:g} x"
    reached = None if at_least is None else ratio >= at_least
    row(name, seconds(ours), f"{seconds(baseline)}, {ratio:.3g} x", goal, reached)


def limit_row(name, ours, at_most):
    row(name, seconds(ours), "", f"< {at_most:g} s", ours < at_most)


def peak_memory():
    """Largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def matrices(rng, shape, rows):
    """Confusion matrices of classifiers of all kinds, shape (*shape, 2, 2)."""
    prevalence, recall, specificity = rng.uniform(
        [[0.1], [0.5], [0.5]], [[0.9], [1], [1]], (3, shape[0])
    )
    extra = (1,) * (len(shape) - 1)
    positives = rng.binomial(rows, prevalence.reshape(-1, *extra), shape)
    true = np.stack([rows - positives, positives], axis=-1)
    rates = np.stack([1 - specificity, recall], axis=-1).reshape(-1, *extra, 2)
    predicted = rng.binomial(true, rates)
    return np.stack([true - predicted, predicted], axis=-1)


def pairs():
    rng = np.random.default_rng(SEED)
    for n, name, goal in ((PAIRS, f"{PAIRS:,} pairs", 20), (1, "one pair", None)):
        shape = (n,) if n > 1 else ()
        counts = (matrices(rng, (n,), 500).reshape(*shape, 2, 2) for _ in "ab")
        a, b = (ConfusionCounts(x).posterior("f1") for x in counts)
        difference = []

        def exact(a=a, b=b, difference=difference):
            difference[:] = [compare(a, b).p_better]

        def drawn(a=a, b=b):
            one, two = (p.sample(N_DRAWS, np.random.default_rng(k)) for k, p in enumerate((a, b)))
            return np.mean(two > one, axis=-1)

        ours, baseline = cpu_pair(exact, drawn, 5 if n > 1 else 51)
        error = np.max(np.abs(difference[0] - drawn()))
        assert error < 6 * 0.5 / np.sqrt(N_DRAWS), error  # the same question
        faster_row(f"compare: P(A > B) in F1, {name}, vs {N_DRAWS:,} draws", ours, baseline, goal)


def many_models():
    counts = matrices(np.random.default_rng(SEED), (CANDIDATES,), 1000)
    models = [ConfusionCounts(x) for x in counts]
    for metric in ("accuracy", "f1"):
        ours = cpu_median(lambda metric=metric: leaderboard(models, metric=metric), 3)
        limit_row(f"leaderboard of {CANDIDATES:,} models by {metric} from counts", ours, 1)


def searches():
    rng = np.random.default_rng(SEED)
    scores = rng.normal(rng.normal(0.8, 0.02, (CANDIDATES, 1)), 0.03, (CANDIDATES, N_FOLDS))
    plain = {f"split{k}_test_score": scores[:, k] for k in range(N_FOLDS)}
    size = f"{CANDIDATES:,} x {N_FOLDS}"
    ours = cpu_median(lambda: search_posterior(plain, n_repeats=1, random_state=SEED), 3)
    limit_row(f"search_posterior, {size} scores", ours, 3)
    cells = matrices(rng, (CANDIDATES, N_FOLDS), FOLD_ROWS)
    counted = {
        f"split{k}_test_{name}": cells[:, k, i, j]
        for name, (i, j) in {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}.items()
        for k in range(N_FOLDS)
    }
    for metric in ("accuracy", "f1", "mcc"):
        ours = cpu_median(
            lambda metric=metric: search_posterior(
                counted, metric=metric, n_repeats=1, random_state=SEED
            ),
            3 if metric != "mcc" else 1,
        )
        limit_row(f"search_posterior, {size} matrices, {metric}", ours, 3)
        memory = peak_memory()
        row(f"peak memory after {metric}", f"{memory / 2**20:.0f} MB", "", "< 1 GB", memory < 2**30)


def data_sets():
    rng = np.random.default_rng(SEED)
    a = rng.uniform(0.6, 0.9, (30, 10))
    b = a + rng.normal(0.01, 0.03, a.shape)
    for name, one, two in (("scores", a.mean(axis=1), b.mean(axis=1)), ("x 10 folds", a, b)):
        ours = cpu_median(
            lambda one=one, two=two: compare_datasets(one, two, rope=0.01, random_state=SEED), 5
        )
        limit_row(f"compare_datasets, 30 {name}", ours, BAYCOMP)


def main():
    warnings.simplefilter("ignore", FoldDisagreementWarning)  # expected among 10,000 candidates
    print("| what | ours | baseline | goal | |")
    print("|---|---|---|---|---|")
    searches()  # first: the peak of memory is that of the whole process
    many_models()
    pairs()
    data_sets()


if __name__ == "__main__":
    main()
