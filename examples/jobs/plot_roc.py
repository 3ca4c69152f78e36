"""
ROC curve, area and threshold
=============================

A band for the whole curve, an interval for its area, and metrics along the threshold.
"""

# %%
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skuncertain.comparison import compare_auc
from skuncertain.display import RocBandDisplay, ThresholdDisplay
from skuncertain.metrics import auc_posterior

X, y = load_breast_cancer(return_X_y=True)
X = X[:, [1, 4, 8]]  # three weak features
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
bayes = GaussianNB().fit(X_train, y_train)
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
scores = {
    "naive Bayes": bayes.predict_proba(X_test)[:, 1],
    "logistic": logistic.predict_proba(X_test)[:, 1],
}
for name, score in scores.items():
    posterior = auc_posterior(y_test, score)
    low, high = posterior.interval()
    print(f"{name:12} area {posterior.observed:.3f} [{low:.3f}, {high:.3f}]")

# %%
# The band holds the whole curve with probability .95. It is wide: a curve is much more than a
# number.

RocBandDisplay.from_predictions(y_test, scores["naive Bayes"], name="naive Bayes")

# %%
# Both models rank the same rows, so their errors move together. The difference of the areas is
# known better than the two areas are:

print(compare_auc(y_test, *scores.values(), names=tuple(scores), rope=0.01))

# %%
# Metrics along the threshold, with an interval at every point. They are for a threshold that was
# fixed before: the best of many is partly the luckiest.

ThresholdDisplay.from_predictions(
    y_test, scores["naive Bayes"], metrics=["precision", "recall"], name="naive Bayes"
)
