"""
Do the intervals overlap?
=========================

Two models, the same 1000 rows, intervals that overlap by two fifths. Yet one of them is better,
almost for sure. Overlap is not a test.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from skuncertain import ConfusionCounts, compare, compare_paired
from skuncertain.display import ComparisonDisplay, IntervalDisplay

y_true = np.ones(1000, dtype=int)
a = np.array([1] * 900 + [0] * 100)  # right in 900 rows
b = np.array([1] * 895 + [0] * 5 + [1] * 25 + [0] * 75)  # right in 920, wrong in 5 of the 900
counts = {
    "B": ConfusionCounts.from_predictions(y_true, b, labels=[0, 1]),
    "A": ConfusionCounts.from_predictions(y_true, a, labels=[0, 1]),
}
IntervalDisplay.from_counts(counts, metrics=["accuracy"], name="Two models, 1000 rows")

# %%
# The difference on the same rows. They disagree on 30 of them, and 25 of these go to B.

paired = compare_paired(y_true, a, b)
print(paired)
ComparisonDisplay.from_comparison(paired)

# %%
# If the same scores came from different rows, the answer would be less sure, and still surer than
# the overlap suggests.

independent = compare(counts["A"], counts["B"], metric="accuracy")
print(independent)
ComparisonDisplay.from_comparison(independent)

# %%
# How much may intervals overlap while the difference is clear? Here B improves on A's 900 of 1000;
# the line is the share of A's interval that B's covers.

better = np.arange(900, 945)
share, p_independent = [], []
for k in better:
    other = ConfusionCounts.from_binary(tp=int(k), fn=1000 - int(k), fp=0, tn=0)
    first, second = (one.posterior("accuracy").interval() for one in (counts["A"], other))
    share.append(max(0.0, first.high - second.low) / first.width)
    p_independent.append(compare(counts["A"], other, metric="accuracy").p_better)
figure, ax = plt.subplots(layout="constrained")
ax.plot(better / 1000, share, label="overlap of the 95 % intervals")
ax.plot(better / 1000, p_independent, "--", label="P(B better), different rows")
ax.axhline(0.975, color="0.7", linewidth=1)
ax.set(xlabel="accuracy of B (A: .900)", ylim=(0, 1.02))
ax.legend(loc="center right")
plt.show()
