"""A cross-validation and a search to display."""

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from skuncertain import BayesianCrossValidator


@pytest.fixture(autouse=True)
def _needs_matplotlib():
    pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def tree():
    return DecisionTreeClassifier(max_depth=2, random_state=0)


@pytest.fixture(scope="module")
def bcv(data, tree):
    return BayesianCrossValidator(tree, cv=5, random_state=0, refit=False).fit(*data)


@pytest.fixture(scope="module")
def search(data, tree):
    X, y = data
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 25]}
    return GridSearchCV(tree, grid, cv=5).fit(X[:250], y[:250])
