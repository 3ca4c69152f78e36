"""
Training prevalence and test prevalence: a post's two tables
============================================================

A blog post of 2016, "Taking the confusion out of the confusion matrix", has two tables. In the
first the share of positives in the *training* data changes, in the second that in the *test* data.
Recall and specificity are properties of a trained classifier: they move in the first table and not
in the second. The post's second table still moves by a few points. Are these few points anything?
"""

# %%
# The post predicts late flights with a random forest. Here flights are made: noisy, with many rows,
# so that the tables are about prevalence and not about luck. Positives are about 20 %, as in the
# post.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from skuncertain import ConfusionCounts
from skuncertain.metrics import auc_posterior

X, y = make_classification(
    n_samples=20_000,
    n_features=8,
    n_informative=4,
    weights=[0.8],
    class_sep=0.5,
    flip_y=0.25,
    random_state=0,
)
train, test = np.arange(10_000), np.arange(10_000, 20_000)


def with_prevalence(rows, prevalence):
    """Drop negatives, or positives, at random until the share of positives is this."""
    rng = np.random.default_rng(0)
    positives, negatives = rows[y[rows] == 1], rows[y[rows] == 0]
    wanted = int(len(positives) * (1 - prevalence) / prevalence)
    if wanted <= len(negatives):
        return np.concatenate([positives, rng.choice(negatives, wanted, replace=False)])
    wanted = int(len(negatives) * prevalence / (1 - prevalence))
    return np.concatenate([rng.choice(positives, wanted, replace=False), negatives])


def trained(prevalence):
    rows = with_prevalence(train, prevalence)
    return RandomForestClassifier(30, max_depth=6, random_state=0).fit(X[rows], y[rows])


METRICS = ("recall", "specificity", "precision", "accuracy", "roc_auc")


def tested(model, prevalence):
    """Every metric with its interval: value, low, high."""
    rows = with_prevalence(test, prevalence)
    counts = ConfusionCounts.from_predictions(y[rows], model.predict(X[rows]))
    found = {name: counts.posterior(name) for name in METRICS[:-1]}
    found["roc_auc"] = auc_posterior(y[rows], model.predict_proba(X[rows])[:, 1])
    return {name: (p.observed, *p.interval()) for name, p in found.items()}


def draw(tables, xlabel):
    _, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    for name, marker in zip(METRICS, "o^sDv", strict=True):
        value, low, high = np.transpose([row[name] for row in tables.values()])
        line = ax.plot(list(tables), value, marker=marker, label=name)[0]
        ax.fill_between(list(tables), low, high, color=line.get_color(), alpha=0.2)
    ax.set(xlabel=xlabel, ylim=(0, 1), title="with 95 % intervals")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plt.show()


def print_table(tables):
    print("prevalence  " + "".join(f"{name:>22}" for name in METRICS))
    for prevalence, row in tables.items():
        cells = (f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in row.values())
        print(f"{prevalence:<12.2f}" + "".join(f"{cell:>22}" for cell in cells))


# %%
# **Training prevalence.** The test data have 30 % positives throughout. The same forest, fitted to
# other shares of positives, is another classifier: recall rises at the cost of specificity, while
# the ranking, and so the area under the ROC curve, stays as it is.

training = {p: tested(trained(p), 0.3) for p in (0.40, 0.42, 0.44, 0.46, 0.48, 0.50)}
print_table(training)
draw(training, "share of positives in the training data (test data: .30)")

# %%
# **Test prevalence.** One trained forest. Recall, specificity and area stay; precision and accuracy
# follow the prevalence.

model = trained(0.45)
testing = {p: tested(model, p) for p in (0.2, 0.3, 0.4, 0.5, 0.6)}
print_table(testing)
draw(testing, "share of positives in the test data (training data: .45)")

# %%
# **The post's residual variations.** Its second table has recalls of .50, .48, .45, .46 and .50.
# How many rows would make that a surprise? With 1000 positives per row of the table the intervals
# are:

for recall in (0.50, 0.48, 0.45, 0.46, 0.50):
    positives = ConfusionCounts.from_binary(
        tp=round(1000 * recall), fn=1000 - round(1000 * recall), fp=0, tn=0
    )
    low, high = positives.posterior("recall").interval()
    print(f"{recall:.2f} [{low:.3f}, {high:.3f}]")

# %%
# They all share .469 to .481: five points are what a thousand positives leave open.
#
# There is no need to test again for another prevalence. It can be computed from one test set:

counts = ConfusionCounts.from_predictions(y[test], model.predict(X[test]))
low, high = counts.posterior("precision", prevalence=0.6).interval()
print(f"all test rows have {counts.score('prevalence'):.0%} positives;")
print(f"precision at a prevalence of 60 %, computed from them: [{low:.2f}, {high:.2f}]")
