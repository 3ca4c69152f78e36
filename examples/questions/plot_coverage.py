"""
Does a 95 % interval cover 95 %?
================================

A nominal 95 % interval should hold the true value in 95 % of all samples. Some do, some do not.
"""

# %%
# **A proportion**, 100 rows. All 101 outcomes are counted with their probabilities, so the curves
# are exact. They wobble because counts are whole numbers.

import matplotlib.pyplot as plt
import numpy as np

from skuncertain import ConfusionCounts
from skuncertain.coverage import (
    BinomialPopulation,
    MarkovPopulation,
    MultinomialPopulation,
    coverage_study,
)
from skuncertain.display import CoverageDisplay
from skuncertain.model_selection import fold_posterior
from skuncertain.posteriors import BetaPosterior

methods = ["laplace", "jeffreys", "clopper_pearson", "agresti_coull", "wilson"]
study = coverage_study(methods, BinomialPopulation(np.arange(1, 100) / 100), n=100)
CoverageDisplay.from_study(study, name="A proportion of 100 rows")
print(study)

# %%
# **F1 over precision and recall**, exact as well. White is .95: too little is red, too much is
# blue. Pairs that would need more negatives than there are are hatched.

rates = np.arange(1, 30) / 30
population = MultinomialPopulation.from_rates(
    precision=rates[:, None], recall=rates, prevalence=0.5
)
study = coverage_study(["laplace", "auto"], population, metric="f1", n=100)
figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
for ax, method in zip(axes, study.methods, strict=True):
    CoverageDisplay.from_study(study, method=method, ax=ax, name=f"F1 of 100 rows, {method!r}")
    ax.set_aspect("equal")
plt.show()
print(study)

# %%
# **Rows that depend on each other**: frames of a video, days of a year. A chain of labels and a
# chain of hits; the more neighbours are alike, the less are 2000 rows worth. Thinning, groups of
# neighbouring rows and a design effect repair it, at the price of width.

BLOCK = 50  # rows


def design_effect(y_true, y_pred, level):
    """Beta interval of counts divided by how much more blocks disagree than chance explains."""
    hits = (y_true == y_pred).reshape(-1, BLOCK).sum(axis=1)
    blocks = ConfusionCounts.from_binary(tp=hits, fn=BLOCK - hits, fp=0 * hits, tn=0 * hits)
    effect = max(1, fold_posterior(blocks, "recall").diagnostics.variance_ratio)
    hits, n = hits.sum() / effect, hits.size * BLOCK / effect
    return BetaPosterior(hits + 0.5, n - hits + 0.5).interval(level)


study = coverage_study(
    {
        "all rows": "auto",
        "every 10th row": {"thin": 10},
        f"every {BLOCK}th row": {"thin": BLOCK},
        f"blocks of {BLOCK} are groups": {"block": BLOCK, "n_draws": 500},
        "design effect": design_effect,
    },
    MarkovPopulation(
        recall=0.8,
        specificity=0.8,
        label_correlation=0.9,
        hit_correlation=[0, 0.3, 0.6, 0.8, 0.9, 0.95],
    ),
    n=2000,
    n_replications=200,
    random_state=0,
)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
display = CoverageDisplay.from_study(study, ax=left)
for line, width in zip(display.lines_, study.width, strict=True):
    x = study.points["hit_correlation"]
    right.plot(x, width, color=line.get_color(), marker=line.get_marker())
right.set(xlabel="hit correlation", ylabel="mean width")
right.set_ylim(bottom=0)
plt.show()
print(study)
