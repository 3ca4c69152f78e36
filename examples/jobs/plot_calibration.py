"""
Are the probabilities right?
============================

A calibration curve with an interval in every bin, slope and intercept, and an ECE beside what
chance alone makes of it.
"""

# %%
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skuncertain import BayesianCrossValidator
from skuncertain.display import CalibrationBandDisplay
from skuncertain.metrics import calibration_band

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :10]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
bayes = GaussianNB().fit(X_train, y_train)
repaired = CalibratedClassifierCV(GaussianNB(), ensemble=False).fit(X_train, y_train)
proba = {
    "naive Bayes": bayes.predict_proba(X_test),
    "recalibrated": repaired.predict_proba(X_test),
}
for name, p in proba.items():
    print(name, calibration_band(y_test, p, n_bins=5, strategy="uniform"), sep=": ")

# %%
# Naive Bayes counts ten features as if each one told something new, so its probabilities are too
# extreme: the slope is far below 1. Sigmoid calibration, learnt in cross-validation, mends that.

CalibrationBandDisplay.from_predictions(y_test, proba, n_bins=5, strategy="uniform", histogram=True)

# %%
# All numbers. The ECE is never 0: the column beside it has its mean if the model were calibrated.

print(calibration_band(y_test, proba["recalibrated"], n_bins=5, strategy="uniform").report())

# %%
# Out-of-fold probabilities of a cross-validation: rows of folds count less than 1 each.

weak = X[:, [1, 4, 8]]
bcv = BayesianCrossValidator(GaussianNB(), cv=10, keep_predictions=True).fit(weak, y)
CalibrationBandDisplay.from_predictions(y, bcv, style="band")
