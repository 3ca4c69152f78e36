"""Two ways to keep t intervals of fold scores inside the range of the metric, measured.

"cut": the Nadeau-Bengio interval of the fold scores, cut off at 0 and 1. "logit": the same t on the
logit scale, its standard error carried over by the slope at the mean (fold scores themselves can be
1, where the logit ends). "t" is the interval as it is. The truth is the expected fold score: the
rate of the rows, or the mean over all runs of a learner. Folds that all agree give an interval
without width by all three, which misses.

Rows: every row is right with the true rate, and stays so in all repetitions, as with a learner that
is stable. Learners: fitted to two normal classes whose distance gives about the accuracy named.

The rule, fixed before the cells were run: "logit" is taken if its coverage is nowhere more than one
point below that of "cut" (nominal 95 %) and its intervals are on average over the cells not wider;
otherwise "cut", whose quantiles stay those of the t that was asked for.

A second table has what counts would add: the same rows, pooled (omega "auto").

    python benchmarks/t_scale.py [--counts] [--write docs/benchmark_tables]
"""

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from proportion_coverage import table
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain.model_selection import fold_interval

SCHEMES = {"K = 5": (1, 5), "K = 10": (1, 10), "5 x 2": (5, 2)}  # repetitions, folds
RATES = (0.5, 0.9, 0.99)
SIZES = (40, 200, 1000)  # rows
ROW_RUNS, COUNT_RUNS = 20_000, 4000
LEARNERS = {
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}
DISTANCES = {  # between the classes, in each of five features
    "naive Bayes": {0.5: 0.0, 0.9: 1.15, 0.99: 2.1},
    "tree": {0.5: 0.0, 0.9: 1.8, 0.99: 3.8},
}
LEARNER_ROWS, POSITIVE, LEARNER_RUNS = 200, 80, 1000
SEED = 20261118
LEVEL = 0.95


def ends(scores, n_repeats):
    """Intervals by the three ways, of fold scores (runs, splits)."""
    splits = scores.shape[1]
    mean, folds = scores.mean(axis=1), splits // n_repeats
    error = scores.std(axis=1, ddof=1) * np.sqrt(1 / splits + 1 / (folds - 1))
    reach = t.ppf((1 + LEVEL) / 2, splits - 1) * error
    inside = (mean > 0) & (mean < 1)
    centre = np.where(inside, mean, 0.5)
    stretched = reach / (centre * (1 - centre))
    mapped = [np.where(inside, expit(logit(centre) + s * stretched), mean) for s in (-1, 1)]
    plain = (mean - reach, mean + reach)
    return {"t": plain, "cut": tuple(np.clip(end, 0, 1) for end in plain), "logit": tuple(mapped)}


def row_scores(rng, rate, n, n_repeats, folds):
    """Fold accuracies of rows that are right or wrong once and for all, (runs, splits)."""
    right = (rng.random((ROW_RUNS, n)) < rate).astype(np.float32)
    parts = []
    for repetition in range(n_repeats):
        order = right if repetition == 0 else rng.permuted(right, axis=1)
        parts += [part.mean(axis=1) for part in np.array_split(order, folds, axis=1)]
    return np.stack(parts, axis=1).astype(float)


def learner_scores(rng, learner, distance, n_repeats, folds):
    """Fold accuracies and F1 of a learner, {metric: (runs, splits)}."""
    y = (np.arange(LEARNER_ROWS) < POSITIVE).astype(int)
    found = {"accuracy": [], "f1": []}
    for _ in range(LEARNER_RUNS):
        X = rng.standard_normal((LEARNER_ROWS, 5)) + distance * y[:, None]
        run = {name: [] for name in found}
        for _ in range(n_repeats):
            fold = np.empty(LEARNER_ROWS, dtype=int)  # stratified
            for label in (0, 1):
                rows = rng.permutation(np.flatnonzero(y == label))
                fold[rows] = np.arange(len(rows)) % folds
            for k in range(folds):
                test = fold == k
                predicted = learner.fit(X[~test], y[~test]).predict(X[test])
                run["accuracy"].append(np.mean(predicted == y[test]))
                run["f1"].append(f1_score(y[test], predicted, zero_division=0.0))
        for name, scores in run.items():
            found[name].append(scores)
    return {name: np.array(scores) for name, scores in found.items()}


def cells():
    """Yield (name, rate, scheme, scores, truth); every cell has a seed of its own."""
    number = 0
    for n in SIZES:
        for rate in RATES:
            for scheme, (n_repeats, folds) in SCHEMES.items():
                rng, number = np.random.default_rng([SEED, number]), number + 1
                scores = row_scores(rng, rate, n, n_repeats, folds)
                yield f"{n} rows", rate, scheme, scores, rate
    for name, learner in LEARNERS.items():
        for rate in RATES:
            for scheme, (n_repeats, folds) in SCHEMES.items():
                rng, number = np.random.default_rng([SEED, number]), number + 1
                found = learner_scores(rng, learner, DISTANCES[name][rate], n_repeats, folds)
                for metric, scores in found.items():
                    yield f"{name}, {metric}", rate, scheme, scores, scores.mean()


def measure(scores, truth, n_repeats):
    """{way: (coverage, truth above, truth below, mean width)} and how often "t" leaves [0, 1]."""
    found = {}
    for way, (low, high) in ends(scores, n_repeats).items():
        above, below = truth > high, truth < low
        held = ~above & ~below & (low < high)
        found[way] = tuple(part.mean() for part in (held, above, below, high - low))
    low, high = ends(scores, n_repeats)["t"]
    return found, ((low < 0) | (high > 1)).mean()


def counts_table():
    """Coverage and width of pooled counts beside those of t on the scores, of the row cells."""
    rows = []
    for number, (n, rate, folds) in enumerate(product(SIZES, RATES, (5, 10))):
        rng = np.random.default_rng([SEED, 1000 + number])
        hits = rng.binomial(n // folds, rate, size=(COUNT_RUNS, folds))
        matrices = np.zeros((COUNT_RUNS, folds, 2, 2), dtype=int)
        matrices[..., 1, 1], matrices[..., 1, 0] = hits, n // folds - hits
        row = [f"{n} rows", f"{rate:g}", f"K = {folds}"]
        for method in ("pooled", "nadeau_bengio"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                low, high = fold_interval(matrices, "recall", method=method)
            held = (low <= rate) & (rate <= high) & (low < high)
            row += [f"{100 * held.mean():.1f}", f"{(high - low).mean():.4f}"]
        rows.append(row)
    head = ["scores", "rate", "folds", "counts, %", "width", "t on scores, %", "width"]
    return table("Counts beside scores, nominal 95 %", head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    parser.add_argument("--counts", action="store_true", help="the second table alone")
    arguments = parser.parse_args()
    folder = arguments.write
    if arguments.counts:
        print(text := counts_table())
        if folder is not None:
            (folder / "t_counts.rst.inc").write_text(text, encoding="utf-8")
        return
    rows, widths, worst = [], [], 0.0
    for name, rate, scheme, scores, truth in cells():
        found, outside = measure(scores, truth, SCHEMES[scheme][0])
        cut, mapped = found["cut"], found["logit"]
        widths.append((found["t"][3] / cut[3], mapped[3] / cut[3]))
        worst = min(worst, mapped[0] - cut[0])
        rows.append(
            [
                name,
                f"{rate:g}",
                scheme,
                *(f"{100 * way[0]:.1f}" for way in (cut, mapped)),
                *(f"{100 * way[1]:.1f} / {100 * way[2]:.1f}" for way in (cut, mapped)),
                *(f"{way[3]:.4f}" for way in (found["t"], cut, mapped)),
                f"{100 * outside:.0f}",
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    head = ["scores", "rate", "folds", "cut, %", "logit, %", "cut: above / below, %"]
    head += ["logit: above / below, %", "width of t", "of cut", "of logit", "t leaves [0, 1], %"]
    text = table("Coverage of the expected fold score, nominal 95 %", head, rows)
    plain, mapped = np.mean(widths, axis=0)
    print(f"logit less cut, at worst: {100 * worst:.1f} points")
    print(f"mean width against cut: t {plain:.3f}, logit {mapped:.3f}")
    if folder is not None:
        (folder / "t_scale.rst.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
