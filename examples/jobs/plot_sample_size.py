"""
How many samples do I need?
===========================

Tötsch and Hoffmann (2021) give a rule of thumb: the interval of a rate is about 2 / √N long (their
Fig. 7). It is good at a rate of one half. Good classifiers need far fewer samples.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from skuncertain import required_sample_size
from skuncertain.planning import expected_width

sizes = np.unique(np.geomspace(10, 10_000, 16).astype(int))
expectations = {
    "rate about .8 (their Fig. 7)": (0.8, 10),
    "rate .5": 0.5,
    "rate .9": 0.9,
    "rate .99": 0.99,
}
figure, ax = plt.subplots(layout="constrained")
for (name, expected), style in zip(
    expectations.items(), ("k-", "C0--", "C1-.", "C2:"), strict=True
):
    # Their settings: highest-density intervals, a flat prior, a power of 95 %.
    widths = [
        expected_width(int(n), metric="recall", expected=expected, kind="hdi", prior=1).quantile
        for n in sizes
    ]
    ax.loglog(sizes, widths, style, label=name)
ax.loglog(sizes, 2 / np.sqrt(sizes), color="0.7", linewidth=4, zorder=0, label="2 / √N")
ax.set(xlabel="samples N", ylabel="width of the 95 % interval (95 % power)")
ax.legend()
plt.show()

# %%
# The other way round: how many for a width of .1, plus or minus five points?

for expected in (0.5, 0.8, 0.9, 0.95, 0.99):
    plan = required_sample_size(metric="recall", expected=expected, width=0.1)
    print(f"expecting {expected:<5} {plan.n:4} positives (the rule says {plan.rule_n})")

# %%
# With 5 % positives these must be found first. ``rows`` is enough with probability .95:

print(required_sample_size(metric="recall", expected=0.9, width=0.1, prevalence=0.05))
