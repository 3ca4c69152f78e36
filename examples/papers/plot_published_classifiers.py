"""
24 published classifiers: how uncertain, and which may be deceptive?
====================================================================

Tötsch and Hoffmann (2021) collected 24 confusion matrices from the literature, most of them with
few rows. Two of their figures, with exact posteriors instead of draws.
"""

# %%
# **How uncertain?** (their Fig. 3) The width of the 95 % highest-density interval of prevalence,
# recall and specificity, in percentage points. The classifiers are sorted by the size of the test
# set. Their model: three Betas with flat priors.

import matplotlib.pyplot as plt
import numpy as np

from skuncertain.datasets import load_published_classifiers
from skuncertain.display import PosteriorDisplay

table = load_published_classifiers()
order = np.argsort(table.counts.n, kind="stable")
names = [table.names[k] for k in order]
counts = table.counts[order]
model = {"model": "three_beta", "prior": "laplace"}

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(9, 5), layout="constrained", sharex=True, height_ratios=[1, 2]
)
top.bar(names, counts.n, color="0.6")
top.set(yscale="log", ylabel="rows")
for metric, marker in (("prevalence", "s"), ("recall", "o"), ("specificity", "^")):
    width = counts.posterior(metric, **model).interval(kind="hdi").width
    bottom.plot(names, 100 * width, marker, label=metric)
bottom.set(ylabel="uncertainty, points", ylim=(0, 100), xlabel="classifier")
bottom.grid(axis="y", color="0.9")
bottom.legend()
plt.show()

# %%
# A single number for recall or specificity says little in most of these cases:

widths = np.array(
    [counts.posterior(m, **model).interval(kind="hdi").width for m in ("recall", "specificity")]
)
print(f"recall or specificity uncertain by more than 20 points: {np.mean(widths.max(0) > 0.2):.0%}")

# %%
# **Which may be deceptive?** (their Fig. 5) Informedness is recall + specificity - 1: 0 for a
# guess, negative for a classifier that is worse. The probability of that:

deceptive = counts.better_than_chance(**model).p_worse
for k in np.argsort(-deceptive)[:6]:
    print(f"{names[k]:>4}  {deceptive[k]:6.1%}  of {int(counts[k].n)} rows")

# %%
posteriors = {
    f"{name} ({chance:.1%})": counts[k].posterior("informedness", **model)
    for k, (name, chance) in enumerate(zip(names, deceptive, strict=True))
}
display = PosteriorDisplay.from_posterior(posteriors, kind="hdi", name="P(deceptive) in brackets")
display.ax_.axvline(0, color="0.3", linewidth=1)
