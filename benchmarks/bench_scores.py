"""Cost of intervals of scores and probabilities over folds, as ratios to ``cross_validate``.

Both run the same ten folds with the same scorers: accuracy, roc_auc and neg_log_loss. Everything is
CPU time of one thread, the median of repetitions that alternate between the two; only ratios are
meant to be compared between machines. Run: python benchmarks/bench_scores.py
"""

import warnings

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from timing import cpu_pair, seconds

from skuncertain import BayesianCrossValidator

SEED, AT_MOST = 0, 1.1
NAMES = ["accuracy", "roc_auc", "neg_log_loss"]


def run(n, repeats):
    """One line of the table."""
    X, y = make_classification(n, random_state=SEED)
    model = LogisticRegression()

    def ours():
        options = {"metrics": NAMES, "stability": False, "refit": False}
        return BayesianCrossValidator(model, cv=10, **options).fit(X, y).intervals_

    def plain():
        return cross_validate(model, X, y, cv=10, scoring=NAMES)

    spent, baseline = cpu_pair(ours, plain, repeats)
    ratio = spent / baseline
    verdict = "ok" if ratio <= AT_MOST else "behind"
    print(
        f"| {n:,} rows | {seconds(spent)} | {seconds(baseline)} | {ratio:.3f} | <= {AT_MOST} "
        f"| {verdict} |",
        flush=True,
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| | BayesianCrossValidator | cross_validate | ratio | goal | |")
    print("|---|---|---|---|---|---|")
    run(1_000, 51)
    run(10_000, 31)
