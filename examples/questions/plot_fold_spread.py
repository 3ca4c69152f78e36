"""
Mean ± 2·std is not an interval
===============================

The most frequent error bar in machine learning, measured. Two overlapping clouds, a decision tree,
150 rows, ten folds: the truth, the mean precision of trees trained on 135 rows, is known.
"""

# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.tree import DecisionTreeClassifier

from skuncertain.coverage import EstimatorPopulation, coverage_study


def two_std(counts):
    folds = counts.score("precision")
    return folds.mean() - 2 * folds.std(), folds.mean() + 2 * folds.std()


def two_errors(counts):
    folds = counts.score("precision")
    error = 2 * folds.std() / np.sqrt(folds.size)
    return folds.mean() - error, folds.mean() + error


methods = {
    "mean ± 2 std": two_std,
    "mean ± 2 std/√K": two_errors,
    "t": "t",
    "nadeau_bengio": "nadeau_bengio",
    "pooled, wang_li": "wang_li",
    "pooled, auto": "pooled",
}
population = EstimatorPopulation(
    DecisionTreeClassifier(max_depth=4),
    partial(make_blobs, centers=[[0, 0], [1.2, 1.2]]),
    cv=10,
    n_models=100,
    n_test=2000,
)
study = coverage_study(
    methods, population, metric="precision", n=150, n_replications=150, random_state=0
)

# %%
# Coverage should be .95. The interval should be as narrow as coverage allows.

for name, coverage, error, width in zip(
    study.methods, study.coverage, study.coverage_error, study.width, strict=True
):
    print(f"{name:18} covers {coverage:.2f} ± {error:.2f}, width {width:.2f}")

# %%
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for k, name in enumerate(study.methods):
    x, y = study.width[k], study.coverage[k]
    ax.errorbar(x, y, yerr=2 * study.coverage_error[k], fmt="o", capsize=3)
    away = (-6, 14, "right") if "auto" in name else (8, 6 if "wang" in name else -12, "left")
    ax.annotate(name, (x, y), away[:2], ha=away[2], textcoords="offset points")
ax.axhline(0.95, color="0.6", linewidth=1)
ax.set(xlabel="mean width", ylabel="coverage", xlim=(0.05, 0.62), ylim=(None, 1.03))
ax.set_title("Ten folds of 15 rows: precision of a tree")
plt.show()

# %%
# ± 2 std is the spread of single folds. It covers here because it answers another question, with an
# interval that is far too long; with folds of other sizes it would be something else again. Divided
# by √K it is too short. The pooled intervals use 150 rows instead of ten numbers.
