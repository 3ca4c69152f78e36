"""
From the test set to the clinic
===============================

A classifier for tumours is tested on rows of which 37 % are malignant. In a screening programme it
may be one in a hundred. Recall and specificity stay as they are; what an alarm is worth does not.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skuncertain import ConfusionCounts
from skuncertain.posteriors import BetaPosterior

X, y = load_breast_cancer(return_X_y=True)
malignant = 1 - y
X = X[:, :4]  # four measurements, so that there is something to miss
X_train, X_test, y_train, y_test = train_test_split(X, malignant, test_size=0.5, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
counts = ConfusionCounts.from_predictions(y_test, model.predict(X_test))
print(counts)

# %%
# Precision (how many alarms are right) and negative predictive value (how many all-clears are
# right), from the same 285 rows, for every prevalence.

prevalences = np.geomspace(0.001, 0.5, 25)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
for ax, metric, title in zip(
    axes, ("precision", "npv"), ("alarms that are right", "all-clears that are right"), strict=True
):
    posteriors = [counts.posterior(metric, prevalence=p) for p in prevalences]
    low, high = np.transpose([posterior.interval() for posterior in posteriors])
    ax.fill_between(prevalences, low, high, alpha=0.3, label="95 % interval")
    ax.plot(prevalences, [posterior.median() for posterior in posteriors], label="median")
    ax.axvline(counts.score("prevalence"), color="0.4", linestyle=":", label="test set")
    ax.set(xscale="log", xlabel="prevalence", title=title)
axes[0].set_ylim(0, 1)
axes[0].legend(loc="upper left")
plt.show()

# %%
# In numbers:

for p in (0.37, 0.1, 0.01, 0.001):
    low, high = counts.posterior("precision", prevalence=p).interval()
    print(f"prevalence {p:<6} precision {low:.3f} to {high:.3f}")

# %%
# Nobody knows the prevalence exactly. Here 9 of 1000 persons of the last year had a tumour. A Beta
# instead of a number makes the interval a little longer.

last_year = BetaPosterior(9 + 0.5, 991 + 0.5)
for prevalence in (0.009, last_year):
    print(counts.posterior("precision", prevalence=prevalence).interval())
