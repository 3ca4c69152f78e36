"""Cost of intervals from K folds, as ratios to what one would do without them.

Everything is CPU time of one thread, the median of repetitions that alternate between the two; only
ratios are meant to be compared between machines. Run: python benchmarks/bench_folds.py
"""

import warnings

import numpy as np
from scipy.special import betaincinv
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from timing import cpu_pair, seconds

from skuncertain import BayesianCrossValidator
from skuncertain.exceptions import FoldDisagreementWarning
from skuncertain.model_selection import fold_interval, fold_posterior

SEED = 0
PROBLEMS, N_FOLDS = 10_000, 10
METRICS = ("accuracy", "precision", "recall", "specificity", "f1")


def row(name, ours, baseline, at_most):
    """Print one line of the table."""
    ratio = ours / baseline
    verdict = "ok" if ratio <= at_most else "behind"
    print(
        f"| {name} | {seconds(ours)} | {seconds(baseline)} | {ratio:.3f} | <= {at_most:g} "
        f"| {verdict} |",
        flush=True,
    )


def cross_validation():
    X, y = make_classification(n_samples=10_000, random_state=SEED)
    ours, baseline = cpu_pair(
        lambda: BayesianCrossValidator(LogisticRegression(), cv=10, refit=False).fit(X, y),
        lambda: cross_validate(LogisticRegression(), X, y, cv=10, scoring="f1"),
        31,
    )
    row("BayesianCrossValidator vs cross_validate, 10,000 rows", ours, baseline, 1.05)


def fold_matrices(rng, rows):
    """Folds of classifiers of all kinds, shape (PROBLEMS, N_FOLDS, 2, 2)."""
    prevalence, recall, specificity = rng.uniform(
        [[[0.1]], [[0.5]], [[0.5]]], [[[0.9]], [[1]], [[1]]], (3, PROBLEMS, 1)
    )
    positives = rng.binomial(rows, prevalence, (PROBLEMS, N_FOLDS))
    true = np.stack([rows - positives, positives], axis=-1)
    predicted = rng.binomial(true, np.stack([1 - specificity, recall], axis=-1))
    return np.stack([true - predicted, predicted], axis=-1)


def intervals():
    rng = np.random.default_rng(SEED)
    for rows in (30, 1000):
        counts = fold_matrices(rng, rows)
        posteriors = [fold_posterior(counts, name) for name in METRICS]
        a, b = (np.stack([getattr(p, shape) for p in posteriors]) for shape in "ab")
        level = np.array([0.025, 0.975]).reshape(-1, 1, 1)
        ours, baseline = cpu_pair(
            lambda c=counts: [fold_interval(c, name) for name in METRICS],
            lambda a=a, b=b, q=level: betaincinv(a, b, q),
            11,
        )
        row(
            f"fold_interval of {len(METRICS)} metrics, {PROBLEMS:,} x {N_FOLDS} folds of "
            f"{rows:,} rows, vs betaincinv",
            ours,
            baseline,
            3,
        )


def main():
    warnings.simplefilter("ignore", FoldDisagreementWarning)  # expected among 10,000 problems
    print("| what | ours | baseline | ratio | target | |")
    print("|---|---|---|---|---|---|")
    cross_validation()
    intervals()


if __name__ == "__main__":
    main()
