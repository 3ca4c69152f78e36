"""Rows in groups: the cost of ``groups=``, against what numpy needs for the codes alone.

CPU time of one thread, the median of repetitions; the two sides of a ratio alternate. Encoding is
compared with ``np.unique(groups, return_inverse=True)``. The rest of an interval (what it costs
more than without groups, less the encoding) is compared with ``np.bincount`` of the codes. Coverage
is that of 95 % intervals, with its standard error in brackets.
Run: python benchmarks/bench_groups.py [replications, default 1000]
"""

import argparse

import numpy as np
from timing import cpu, cpu_pair, seconds

from skuncertain import credible_interval
from skuncertain.metrics._groups import encode_groups

SEED, N = 0, 10**6
SIZES = (10**5, 10**6)
METRICS = ("accuracy", "f1", "matthews_corrcoef", "balanced_accuracy")
RATES, NUMBERS = (0.9, 0.99), (8, 15, 30, 100)


def line(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def header(title, *cells):
    print(f"\n{title}\n")
    line(*cells)
    line(*["---"] * len(cells))


def named(codes):
    """The same groups under names of several types."""
    texts = np.char.add("p", codes.astype(str))
    objects = texts.astype(object)
    kinds = {"integers": codes, "strings": texts, "objects": objects, "list": objects.tolist()}
    try:
        import pandas
    except ImportError:
        return kinds
    series = {kind: pandas.Series(objects, dtype=kind) for kind in ("string", "category")}
    return kinds | {f"pandas {kind}": values for kind, values in series.items()}


def in_groups(rng, n_groups):
    """Groups of a million rows, and labels whose errors cluster in them."""
    codes = rng.permutation(N) if n_groups == N else rng.integers(0, n_groups, N)
    y_true = rng.integers(0, 2, N)
    wrong = rng.random(N) < 0.3 * rng.random(n_groups)[codes]
    return codes, y_true, np.where(wrong, 1 - y_true, y_true)


def encoding():
    header("Encoding of 1e6 rows", "groups", "named by", "ours", "np.unique", "ratio", "target")
    rng = np.random.default_rng(SEED)
    for n_groups in SIZES:
        codes, _, _ = in_groups(rng, n_groups)
        for kind, groups in named(codes).items():
            ours, baseline = cpu_pair(
                lambda groups=groups: encode_groups(groups, N),
                lambda groups=groups: np.unique(groups, return_inverse=True),
                3,
            )
            ratio = f"{ours / baseline:.2f}"
            line(f"{n_groups:,}", kind, seconds(ours), seconds(baseline), ratio, "<= 1.5")


def intervals():
    header("Interval of 1e6 rows", "groups", "metric", "with groups", "without", "rest / bincount")
    rng = np.random.default_rng(SEED)
    for n_groups in SIZES:
        groups, y_true, y_pred = in_groups(rng, n_groups)
        codes, _ = encode_groups(groups, N)
        for metric in METRICS:
            options = {"metric": metric, "random_state": SEED}
            calls = (
                lambda o=options, g=groups, t=y_true, p=y_pred: credible_interval(
                    t, p, groups=g, **o
                ),
                lambda o=options, t=y_true, p=y_pred: credible_interval(t, p, **o),
                lambda g=groups: encode_groups(g, N),
                lambda c=codes: np.bincount(c),
            )
            times = [[cpu(call) for call in calls] for _ in range(8)]
            ours, without, encode, bare = np.median(times[1:], axis=0)
            ratio = f"{(ours - without - encode) / bare:.1f}"
            line(f"{n_groups:,}", metric, seconds(ours), seconds(without), ratio)


def coverage(replications):
    header("Coverage and width", "metric", "rate", *(f"{number} groups" for number in NUMBERS))
    for metric in ("accuracy", "recall"):
        for rate in RATES:
            line(metric, rate, *(_covered(metric, rate, k, replications) for k in NUMBERS))


def _covered(metric, rate, n_groups, replications):
    """1 to 19 rows per group, whose rates vary: a Beta with a total of 4."""
    rng, hits, width = np.random.default_rng([n_groups, int(1000 * rate)]), 0, 0.0
    for _ in range(replications):
        groups = np.repeat(np.arange(n_groups), rng.integers(1, 20, n_groups))
        right = rng.beta(4 * rate, 4 * (1 - rate), n_groups)[groups]
        y_true = rng.integers(0, 2, groups.size)
        y_true[:2] = 0, 1
        y_pred = np.where(rng.random(groups.size) < right, y_true, 1 - y_true)
        low, high = credible_interval(y_true, y_pred, metric=metric, groups=groups, labels=[0, 1])
        hits += low <= rate <= high
        width += high - low
    share = hits / replications
    error = np.sqrt(share * (1 - share) / replications)
    return f"{share:.3f} ({error:.3f}), {width / replications:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("replications", nargs="?", type=int, default=1000)
    replications = parser.parse_args().replications
    encoding()
    intervals()
    coverage(replications)


if __name__ == "__main__":
    main()
