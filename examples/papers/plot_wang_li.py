"""
Precision and recall of K folds: Wang and Li's figures
======================================================

Wang and Li (2016) turn K confusion matrices into one Beta distribution. This is their experiment 1
(Fig. 2): two normal clouds in five dimensions, 200 rows, a classification tree, ten folds. And, as
a figure, what their Table 12 is about: how much should a row of pooled folds count?

``reproductions/wang_li.py`` repeats their tables with more samples and with R's pruning of trees.
"""

# %%
# 200 samples of 100 + 100 rows. Every one is cross-validated; only the fold matrices are kept.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gaussian_kde
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCounts
from skuncertain.model_selection import fold_interval, fold_posterior
from skuncertain.posteriors import BetaPosterior

SAMPLES, K = 200, 10
rng = np.random.default_rng(0)


def draw(size):
    """`size` rows of each class: N(0, I) and N(0.2, I)."""
    X = rng.standard_normal((2 * size, 5)) + np.repeat([[0.0], [0.2]], size, axis=0)
    return X.astype(np.float32), np.repeat([0, 1], size)


def tree():
    return DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7, random_state=0)


def count(y, predicted):
    return np.bincount(2 * y + predicted, minlength=4).reshape(2, 2)


matrices = []
for _ in range(SAMPLES):
    X, y = draw(100)
    folds = StratifiedKFold(K, shuffle=True, random_state=0).split(X, y)
    matrices.append([count(y[b], tree().fit(X[a], y[a]).predict(X[b])) for a, b in folds])
counts = ConfusionCounts(np.array(matrices), pos_label=0)

# %%
# The truth: mean precision and recall of trees that are trained on 90 + 90 rows.

found = []
for _ in range(SAMPLES):
    model, (X, y) = tree().fit(*draw(90)), draw(2000)
    found.append(count(y, model.predict(X)))
models = ConfusionCounts(np.array(found), pos_label=0)
truth = {metric: float(models.score(metric).mean()) for metric in ("precision", "recall")}
print({metric: round(value, 3) for metric, value in truth.items()})

# %%
# **Fig. 2.** The mean of ten fold posteriors has a distribution over samples, here the solid line.
# A Beta with its moments needs the correlation ρ of the folds. Wang and Li take ρ = 1/K and find it
# close; ρ = 0 is too narrow. That is right if a draw from every fold posterior is included, as
# here. The estimate alone, without those draws, scatters less (dotted).

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, metric in zip(axes, ("precision", "recall"), strict=True):
    hits = counts.counts[..., 0, 0]
    misses = counts.counts[..., 1, 0] if metric == "precision" else counts.counts[..., 0, 1]
    drawn = rng.beta(hits + 1, misses + 1).mean(axis=-1)
    estimate = ((hits + 1) / (hits + misses + 2)).mean(axis=-1)
    x = np.linspace(0.3, 0.75, 300)
    ax.plot(x, gaussian_kde(drawn)(x), "k-", label="simulated, with draws")
    ax.plot(x, gaussian_kde(estimate)(x), "k:", label="simulated, estimates")
    for rho, style in ((0, "C0--"), (1 / K, "C1-.")):
        options = {"method": "averaged", "rho": rho, "prior_per_fold": True}
        fitted = fold_posterior(counts, metric, **options)  # one Beta per sample
        mean, variance = fitted.mean().mean(), np.mean(fitted.std() ** 2)
        size = mean * (1 - mean) / variance - 1
        typical = BetaPosterior(mean * size, (1 - mean) * size)
        ax.plot(x, typical.pdf(x), style, label=f"Beta, ρ = {'1/K' if rho else '0'}")
    ax.set(xlabel=metric, ylabel="density")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
plt.show()

# %%
# **How much should a row count?** Pooled folds are Beta(ωA + 1, ωB + 1). With ω = 1 the intervals
# of recall are too short. Wang and Li propose ω = (K + 1) / (2K) = .55; the dots at the right are
# this library's default, which estimates ω from how the folds disagree.

omegas = np.array([0.1, 0.25, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1.0])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")


def study(metric, omega):
    interval = fold_interval(counts, metric, omega=omega)
    inside = (interval.low <= truth[metric]) & (truth[metric] <= interval.high)
    return inside.mean(), interval.width.mean()


for metric, colour in (("precision", "C0"), ("recall", "C1")):
    coverage, width = np.transpose([study(metric, omega) for omega in omegas])
    left.plot(omegas, coverage, color=colour, label=metric)
    right.plot(omegas, width, color=colour)
    coverage, width = study(metric, "auto")
    left.plot(1.1, coverage, "o", color=colour)
    right.plot(1.1, width, "o", color=colour)
    print(f"{metric}: ω = .55 covers {study(metric, 0.55)[0]:.3f}, auto {coverage:.3f}")
for ax in (left, right):
    ax.axvline(0.55, color="0.6", linestyle=":", linewidth=1)
    ax.set_xticks([0.1, 0.55, 1.0, 1.1], ["0.1", "0.55", "1", "auto"])
    ax.set_xlabel("weight ω of a row")
left.axhline(0.95, color="0.6", linewidth=1)
left.set(ylabel="coverage", ylim=(0.85, 1.01))
left.legend(loc="lower left")
right.set(ylabel="mean width", ylim=(0, None))
plt.show()
