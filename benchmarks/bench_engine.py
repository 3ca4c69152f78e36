"""Speed and memory of the engine, as ratios to what one would do without it.

Everything is CPU time of one thread, measured in the same run, the minimum of a few repeats; only
ratios are meant to be compared between machines. Run: python benchmarks/bench_engine.py
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy.stats
from sklearn.metrics import f1_score

from skuncertain import ConfusionCounts, confidence_interval
from skuncertain.metrics import get_metric

N_DRAWS = 20_000
SEED = 0


def cpu(function, repeats=5):
    """Least CPU seconds of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def cpu_pair(one, other, repeats=7):
    """Least CPU seconds of two functions, called in turn: for ratios near 1."""
    times = [(cpu(one, 1), cpu(other, 1)) for _ in range(repeats)]
    return tuple(map(min, zip(*times, strict=True)))


def seconds(value):
    factor, unit = (1, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "us")
    return f"{value * factor:.3g} {unit}"


def row(name, ours, baseline, ratio, *, at_least=None, at_most=None):
    """Print one line of the table."""
    if at_least is not None:
        target, good = f">= {at_least:g}", ratio >= at_least
    elif at_most is not None:
        target, good = f"<= {at_most:g}", ratio <= at_most
    else:
        target, good = "-", None
    verdict = {True: "ok", False: "behind", None: "-"}[good]
    print(f"| {name} | {ours} | {baseline} | {ratio:.3g} | {target} | {verdict} |", flush=True)


def two_by_two(rng, size):
    """Matrices of classifiers of all kinds, 50 to 20,000 rows."""
    n = np.exp(rng.uniform(np.log(50), np.log(20_000), size)).astype(int)
    prevalence, recall, specificity = rng.uniform(
        [[0.1], [0.5], [0.5]], [[0.9], [1], [1]], (3, size)
    )
    positives = rng.binomial(n, prevalence)
    tp, tn = rng.binomial(positives, recall), rng.binomial(n - positives, specificity)
    return ConfusionCounts.from_binary(tp=tp, fn=positives - tp, fp=n - positives - tn, tn=tn)


def interval_by_draws(rng, matrix, metric):
    """Draw the cells with the default prior, evaluate the metric, take quantiles."""
    draws = rng.dirichlet(matrix.ravel() + 1 / 3, size=N_DRAWS).reshape(-1, 2, 2)
    return np.quantile(metric.evaluate(draws), [0.025, 0.975])


def many_posteriors():
    rng = np.random.default_rng(SEED)
    names = ("accuracy", "precision", "recall", "f1")
    stacks = [two_by_two(rng, 25_000) for _ in names]
    metrics = [get_metric(name) for name in names]

    def exact(kind):
        for counts, name in zip(stacks, names, strict=True):
            counts.posterior(name).interval(kind=kind)

    def draws():
        for counts, metric in zip(stacks, metrics, strict=True):
            for matrix in counts.counts[:25]:
                interval_by_draws(rng, matrix, metric)

    baseline = cpu(draws, 5) / 100
    for kind, target in (("eti", 500), ("hdi", 250)):
        ours = cpu(lambda kind=kind: exact(kind)) / 100_000
        row(
            f"{kind} of 1e5 mixed Beta/F1 posteriors vs {N_DRAWS:,} Dirichlet draws each",
            f"{1 / ours:,.0f}/s",
            f"{1 / baseline:,.0f}/s",
            baseline / ours,
            at_least=target,
        )


def bootstrap():
    cells = {"tp": 180_000, "fn": 40_000, "fp": 30_000, "tn": 750_000}
    counts = ConfusionCounts.from_binary(**cells)
    y_true = np.repeat([1, 1, 0, 0], list(cells.values()))
    y_pred = np.repeat([1, 0, 1, 0], list(cells.values()))
    ours = cpu(
        lambda: confidence_interval(
            counts, metric="f1", method="bootstrap", n_resamples=1000, random_state=SEED
        ),
        20,
    )
    few = 10
    rows = cpu(
        lambda: scipy.stats.bootstrap(
            (y_true, y_pred),
            f1_score,
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=few,
            batch=1,
        ),
        1,
    )
    baseline = rows * 1000 / few
    row(
        f"1,000 bootstrap replicates of F1, n = 1e6, vs scipy on rows (scaled up from {few})",
        seconds(ours),
        seconds(baseline),
        baseline / ours,
        at_least=1000,
    )


def many_classes(rng, n_classes, rows_per_class):
    """Four fifths right, the rest anywhere."""
    p = np.full((n_classes, n_classes), 0.2 / (n_classes - 1))
    np.fill_diagonal(p, 0.8)
    return ConfusionCounts(rng.multinomial(rows_per_class, p))


def draws():
    rng = np.random.default_rng(SEED)
    for n_classes, n_draws in ((10, 20_000), (30, 4000), (100, 400)):
        counts = many_classes(rng, n_classes, 100)
        share = (np.trace(counts.counts) + 0.5) / (counts.n + 1)
        shared = np.full((n_classes, n_classes), (1 - share) / (n_classes - 1))
        np.fill_diagonal(shared, share)
        for text, prior, pseudo in (("default prior", "auto", shared), ("prior 1/2", 0.5, 0.5)):
            shapes = counts.counts + pseudo
            buffer = np.zeros((n_draws, n_classes, n_classes))
            ours, baseline = cpu_pair(
                lambda c=counts, p=prior, d=n_draws: c.posterior(
                    "f1_macro", prior=p, n_draws=d, random_state=SEED
                ),
                lambda s=shapes, b=buffer: rng.standard_gamma(s, b.shape, out=b),
            )
            row(
                f"{n_draws:,} draws of f1_macro, {n_classes} classes, {text}, vs bare gammas",
                seconds(ours),
                seconds(baseline),
                baseline / ours,
                at_least=0.7,
            )


PEAK = """
import resource, sys
sys.path.insert(0, {folder!r})
from bench_engine import many_classes
import numpy as np
counts = many_classes(np.random.default_rng(0), 1000, 50)
counts.posterior("f1_macro", n_draws=200, random_state=0)
try:  # ru_maxrss of a child may include its parent
    lines = open("/proc/self/status").read().splitlines()
    print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
except OSError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def memory():
    folder = os.path.dirname(os.path.abspath(__file__))
    code = PEAK.format(folder=folder)
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    peak = int(result.stdout) / 1024**2
    row(
        "peak memory, f1_macro of 1,000 classes, 200 draws, in GB vs 2 GB",
        f"{peak:.2f} GB",
        "2 GB",
        peak / 2,
        at_most=1,
    )


def child_cpu(code):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports():
    ours, baseline = [], []
    for _ in range(9):
        ours.append(child_cpu("import skuncertain"))
        baseline.append(child_cpu("import sklearn.model_selection, scipy.stats"))
    one, other = statistics.median(ours), statistics.median(baseline)
    row(
        "import skuncertain vs sklearn.model_selection and scipy.stats",
        seconds(one),
        seconds(other),
        one / other,
        at_most=1.15,
    )


def single_calls():
    rng = np.random.default_rng(SEED)
    stack = two_by_two(rng, 20)
    singles = list(stack)
    for name in ("balanced_accuracy", "f2", "mcc"):
        metric = get_metric(name)
        ours, baseline = cpu_pair(
            lambda name=name: [one.posterior(name).interval() for one in singles],
            lambda metric=metric: [interval_by_draws(rng, one.counts, metric) for one in singles],
        )
        row(
            f"interval of one exact {name} posterior vs {N_DRAWS:,} draws",
            seconds(ours / 20),
            seconds(baseline / 20),
            baseline / ours,
        )


def main():
    print("| what | ours | baseline | ratio | target | |")
    print("|---|---|---|---|---|---|")
    many_posteriors()
    bootstrap()
    draws()
    memory()
    imports()
    single_calls()


if __name__ == "__main__":
    main()
