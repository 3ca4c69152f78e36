"""
A Bayesian interpretation of the confusion matrix: Caelen's figures
===================================================================

O. Caelen: A Bayesian interpretation of the confusion matrix. Annals of Mathematics and Artificial
Intelligence 81, 2017. Two classifiers, tested on the same 145 rows. The paper draws new confusion
matrices of 145 rows, so its distributions are *predictive* ones: of the metric on another test set.
It uses no prior, 0 per cell.
"""

# %%
# **Fig. 1.** MCC, and precision and recall together, of both on another test set of 145 rows: 1000
# new matrices each. The paper shows the cloud of A.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import StratifiedKFold

from skuncertain import ConfusionCounts
from skuncertain.display import JointDisplay, PosteriorDisplay
from skuncertain.metrics import get_metric, prior_from_metrics

A = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
B = ConfusionCounts.from_binary(tp=50, fn=30, fp=30, tn=35)
DRAWS = 30_000


def predictive(counts, prior="haldane"):
    """Distribution of the MCC on another test set of as many rows."""
    return counts.posterior("mcc", prior=prior, n_draws=DRAWS, random_state=0).predictive()


def densities(found, ax, **options):
    PosteriorDisplay.from_posterior(found, ax=ax, **options)
    ax.set_ylabel("predictive density")


figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
a, b = predictive(A), predictive(B)
densities({"A": a, "B": b}, left, kind="hdi")
joint = {
    name: counts.joint_posterior(["precision", "recall"], n=145, prior="haldane", random_state=0)
    for name, counts in (("A", A), ("B", B))
}
JointDisplay.from_posterior(joint, ax=right, point_kwargs={"markersize": 5, "alpha": 0.5})
plt.show()

# %%
# As in the paper, A and B are taken as independent although they share their rows.

draws = a.sample(DRAWS, random_state=1), b.sample(DRAWS, random_state=2)
low, high = b.interval(kind="hdi")
print(f"P(MCC of B > 0) = {b.prob(low=0):.2f} (paper .92)")
print(f"P(A better than B) = {np.mean(draws[0] > draws[1]):.2f} (paper .79)")
print(f"95 % interval of B: [{low:.2f}, {high:.2f}] (paper [-.07, .39])")
print(f"correlation of precision and recall of A: {joint['A'].correlation()[0, 1]:.2f}")

# %%
# **Fig. 2.** What the prior does: 0 against 1 per cell (left), and expected metrics with weights of
# 72.5 and 725 rows (right).

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
densities({f"{prior} per cell": predictive(A, prior=prior) for prior in (0, 1)}, left)
found = {"no prior": predictive(B)}
for weight in (72.5, 725):
    prior = prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=weight)
    found[f"weight {weight:g}"] = predictive(B, prior=prior)
densities(found, right)
plt.show()

for name, posterior in found.items():
    print(f"standard deviation of the MCC of B, {name}: {posterior.std():.3f}")

# %%
# **Fig. 3.** Bootstrap against Bayes as the matrix grows. The paper says that the curves will join.
# Their difference does vanish, but both shrink like 1 / √N: their ratio stays at √2, because the
# predictive distribution holds two sampling errors, that of the matrix and that of the new one.


def quartile_range(values):
    return np.subtract(*np.quantile(values, [0.75, 0.25]))


factors = np.unique(np.geomspace(1, 500, 20).astype(int))
rng = np.random.default_rng(0)
bayes, bootstrap, means = [], [], []
for factor in factors:
    counts = ConfusionCounts(factor * A.counts)
    drawn = predictive(counts).sample(DRAWS, random_state=int(factor))
    matrices = rng.multinomial(int(counts.n), A.counts.ravel() / A.n, size=DRAWS)
    values = get_metric("mcc")(matrices.reshape(-1, 2, 2))
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
axes[1].axhline(np.sqrt(2), color="0.3", linewidth=1, label="√2")
axes[1].set(ylabel="Bayes / bootstrap", title="their ratio stays", ylim=(1, 1.8))
axes[1].legend()
axes[2].semilogx(factors, means, "o-")
axes[2].axhline(0, color="0.3", linewidth=1)
axes[2].set(ylabel="difference of the means", title="the centres agree")
for ax in axes:
    ax.set_xlabel("matrix of A, times")
plt.show()

print(
    f"ratio for 145 rows {bayes[0] / bootstrap[0]:.3f}, for 72,500 {bayes[-1] / bootstrap[-1]:.3f}"
)

# %%
# **Fig. 4.** Predictive distributions near the end of the range (F1 of a nearly perfect classifier)
# and away from it. The rows are split in three, again and again: to train, to test, and to see
# whether the test foresaw the score of the third part. Breast cancer data take the place of the
# paper's sets.

warnings.simplefilter("ignore", UndefinedMetricWarning)  # prior 0 and empty cells, on purpose


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


X, y = load_breast_cancer(return_X_y=True)
rows = np.random.default_rng(0).permutation(len(y))[:150]
figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
cases = {"all inputs": X[rows], "two weak inputs": X[rows][:, [9, 11]]}
for ax, (title, inputs) in zip(axes, cases.items(), strict=True):
    seen, foreseen = split_again(inputs, y[rows], 60)
    bins = np.linspace(min(seen.min(), np.quantile(foreseen, 0.002)), 1, 18)
    ax.hist(foreseen, bins, density=True, alpha=0.5, label="foreseen, prior 0")
    ax.hist(seen, bins, density=True, histtype="step", linewidth=2, label="seen on new rows")
    ax.set(title=f"breast cancer, 150 rows, {title}", xlabel="F1", ylabel="density")
    ax.legend(loc="upper left")
    print(
        f"{title}: F1 = 1 in {np.mean(seen == 1):.0%} seen, {np.mean(foreseen == 1):.0%} foreseen"
    )
plt.show()
