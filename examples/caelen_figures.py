"""The figures of a paper on the confusion matrix, drawn again.

O. Caelen: A Bayesian interpretation of the confusion matrix. Annals of Mathematics and Artificial
Intelligence 81, 2017. Two classifiers, tested on the same 145 rows:

* Fig. 1: MCC of both, on another test set of 145 rows; precision and recall of both together.
* Fig. 2: what the prior does: 0 against 1 per cell, and expected metrics with weights 72.5 and 725.
* Fig. 3: bootstrap against Bayes as the matrix grows. The paper says that the curves will join.
  Their difference does vanish, but both shrink like 1 / sqrt(N): their ratio stays at sqrt(2),
  because the predictive distribution holds two sampling errors, that of the matrix and that of the
  new one.
* Fig. 4: predictive distributions near the end of the range (F1 of a nearly perfect classifier)
  and away from it. Breast cancer data take the place of the paper's sets.

Run: python examples/caelen_figures.py [DIRECTORY for the PNG files]
"""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import StratifiedKFold

from skuncertain import (
    ConfusionCounts,
    JointDisplay,
    PosteriorDisplay,
    get_metric,
    prior_from_metrics,
)

A = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
B = ConfusionCounts.from_binary(tp=50, fn=30, fp=30, tn=35)
DRAWS = 30_000


def predictive(counts, metric="mcc", prior="haldane", n=None):
    """Distribution of the metric on another test set, by default of as many rows."""
    posterior = counts.posterior(metric, prior=prior, n_draws=DRAWS, random_state=0)
    return posterior.predictive(n)


def densities(found, ax, **options):
    PosteriorDisplay.from_posterior(found, ax=ax, **options)
    ax.set_ylabel("predictive density")


def two_systems():
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    a, b = predictive(A), predictive(B)
    densities({"A": a, "B": b}, left, kind="hdi")
    joint = {
        name: counts.joint_posterior(["precision", "recall"], prior="haldane", random_state=0)
        for name, counts in (("A", A), ("B", B))
    }
    JointDisplay.from_posterior(joint, ax=right)
    draws = a.sample(DRAWS, random_state=1), b.sample(DRAWS, random_state=2)
    low, high = b.interval(kind="hdi")
    print(f"Fig. 1. P(MCC of B > 0) = {b.prob(low=0):.2f} (paper .92)")
    # As in the paper, A and B are taken as independent although they share their rows.
    print(f"        P(A better than B) = {np.mean(draws[0] > draws[1]):.2f} (paper .79)")
    print(f"        95 % interval of B: [{low:.2f}, {high:.2f}] (paper [-.07, .39])")
    print(f"        correlation of precision and recall of A: {joint['A'].correlation()[0, 1]:.2f}")
    return figure


def priors():
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    found = {f"{name} per cell": predictive(A, prior=prior) for name, prior in (("0", 0), ("1", 1))}
    densities(found, left)
    found = {"no prior": predictive(B)}
    for weight in (72.5, 725):
        prior = prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=weight)
        found[f"weight {weight:g}"] = predictive(B, prior=prior)
    densities(found, right)
    spread = {name: float(posterior.std()) for name, posterior in found.items()}
    print(
        "Fig. 2. Standard deviation of the MCC of B:", {k: round(v, 3) for k, v in spread.items()}
    )
    return figure


def quartile_range(values):
    return np.subtract(*np.quantile(values, [0.75, 0.25]))


def bootstrap_and_bayes():
    factors = np.unique(np.geomspace(1, 500, 25).astype(int))
    rng = np.random.default_rng(0)
    bayes, bootstrap, means = [], [], []
    for factor in factors:
        counts = ConfusionCounts(factor * A.counts)
        drawn = predictive(counts).sample(DRAWS, random_state=int(factor))
        n, share = int(counts.n), A.counts.ravel() / A.n
        matrices = rng.multinomial(n, share, size=DRAWS).reshape(-1, 2, 2)
        values = get_metric("mcc")(matrices)
        bayes.append(quartile_range(drawn))
        bootstrap.append(quartile_range(values))
        means.append(drawn.mean() - values.mean())
    bayes, bootstrap = np.array(bayes), np.array(bootstrap)
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.5), layout="constrained")
    axes[0].loglog(factors, bayes, "o-", label="Bayes, predictive")
    axes[0].loglog(factors, bootstrap, "s--", label="bootstrap")
    axes[0].loglog(factors, bayes - bootstrap, "^:", label="difference")
    axes[0].set(ylabel="interquartile range of the MCC", title="both shrink")
    axes[0].legend()
    axes[1].semilogx(factors, bayes / bootstrap, "o-")
    axes[1].axhline(np.sqrt(2), color="0.3", linewidth=1, label="sqrt(2)")
    axes[1].set(ylabel="Bayes / bootstrap", title="their ratio stays", ylim=(1, 1.8))
    axes[1].legend()
    axes[2].semilogx(factors, means, "o-")
    axes[2].axhline(0, color="0.3", linewidth=1)
    axes[2].set(ylabel="difference of the means", title="the centres agree to .002")
    for ax in axes:
        ax.set_xlabel("matrix of A, times")
    print(
        f"Fig. 3. Ratio of interquartile ranges: {bayes[0] / bootstrap[0]:.3f} for 145 rows, "
        f"{bayes[-1] / bootstrap[-1]:.3f} for {500 * 145} (sqrt(2) = {np.sqrt(2):.3f}); "
        f"difference {bayes[0] - bootstrap[0]:.4f} and {bayes[-1] - bootstrap[-1]:.5f}."
    )
    return figure


def split_again(X, y, loops):
    """F1 on a new part, and predictions of it from the part before, as in algorithm 3."""
    seen, foreseen = [], []
    for seed in range(loops):
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        train, test, new = (rows for _, rows in folds.split(X, y))
        forest = RandomForestClassifier(20, random_state=seed).fit(X[train], y[train])
        tested, again = (
            ConfusionCounts.from_predictions(y[rows], forest.predict(X[rows]), labels=[0, 1])
            for rows in (test, new)
        )
        seen.append(again.score("f1"))
        posterior = tested.posterior("f1", prior="haldane", n_draws=1000, random_state=seed)
        foreseen.append(posterior.predictive(int(again.n)).sample(1000, random_state=seed))
    return np.array(seen), np.concatenate(foreseen)


def near_the_end_and_away():
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))[:150]
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    cases = {"all inputs": X[rows], "two weak inputs": X[rows][:, [9, 11]]}
    for ax, (title, inputs) in zip(axes, cases.items(), strict=True):
        seen, foreseen = split_again(inputs, y[rows], 100)
        bins = np.linspace(min(seen.min(), np.quantile(foreseen, 0.002)), 1, 18)
        ax.hist(foreseen, bins, density=True, alpha=0.5, label="foreseen, prior 0")
        ax.hist(seen, bins, density=True, histtype="step", linewidth=2, label="seen on new rows")
        ax.set(title=f"breast cancer, 150 rows, {title}", xlabel="F1", ylabel="density")
        ax.legend(loc="upper left")
        shares = f"{np.mean(seen == 1):.0%} seen, {np.mean(foreseen == 1):.0%} foreseen"
        print(f"Fig. 4. {title}: F1 = 1 in {shares}")
    return figure


def main():
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    warnings.simplefilter("ignore", UndefinedMetricWarning)  # prior 0 and empty cells, on purpose
    for make in (two_systems, priors, bootstrap_and_bayes, near_the_end_and_away):
        figure = make()
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            figure.savefig(directory / f"caelen_{make.__name__}.png", dpi=100)
    if directory is None:
        plt.show()


if __name__ == "__main__":
    main()
