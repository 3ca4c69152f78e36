"""Estimators for tests in worker processes, which import them from here."""

import numpy as np
from sklearn.dummy import DummyClassifier


class Fails(DummyClassifier):
    """Predicts nonsense for the row `marked`, which is in fold 2 of 5; for all if it is None."""

    def __init__(self, way="raises", marked=25.0):
        super().__init__()
        self.way, self.marked = way, marked

    def predict(self, X):
        found = np.resize([0, 1], len(X))
        if self.marked is not None and self.marked not in X:
            return found
        if self.way == "raises":
            raise RuntimeError("cannot predict")
        return {
            "short": found[:-1],
            "unknown": found + 5,
            "nan": np.where(found == 0, np.nan, 1.0),
            "none": None,
        }[self.way]


class CountsFits(DummyClassifier):
    """Guesses the larger class, and counts how often it was fitted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)
