"""Nested cross-validation keeps what the inner search has chosen."""

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skuncertain import BayesianCrossValidator, cross_val_posterior

X, Y = make_classification(120, 5, flip_y=0.1, class_sep=0.5, random_state=2)
TREE = DecisionTreeClassifier(random_state=0)
SEARCH = GridSearchCV(TREE, {"max_depth": [1, 2, 5], "min_samples_leaf": [3]}, cv=3)
CV = StratifiedKFold(4, shuffle=True, random_state=0)


class Stubborn(DecisionTreeClassifier):
    """Fails to learn, or to predict, from a certain row."""

    def __init__(self, row=None, when="fit", max_depth=None, random_state=0):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.row = row
        self.when = when

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.when == "fit" and np.any(np.all(self.row == X, axis=1)):
            raise ValueError("no")
        return super().fit(X, y)

    def predict(self, X, check_input=True):
        found = super().predict(X)
        lost = self.when == "predict" and len(X) == 30 and np.any(np.all(self.row == X, axis=1))
        return found[:-1] if lost else found


def chosen_by_hand(search):
    return [clone(search).fit(X[train], Y[train]).best_params_ for train, _ in CV.split(X, Y)]


def test_choices_of_every_fold():
    expected = chosen_by_hand(SEARCH)
    assert len({params["max_depth"] for params in expected}) > 1
    bcv = BayesianCrossValidator(SEARCH, cv=CV).fit(X, Y)
    assert bcv.fold_params_ == expected
    assert not any("best_params" in key for key in bcv.cv_results_)
    assert pickle.loads(pickle.dumps(bcv)).fold_params_ == expected
    assert cross_val_posterior(SEARCH, X, Y, cv=CV).fold_params == expected
    inside = make_pipeline(StandardScaler(), SEARCH)
    assert BayesianCrossValidator(inside, cv=CV).fit(X, Y).fold_params_ == chosen_by_hand(SEARCH)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_choices_do_not_depend_on_the_backend(backend):
    with parallel_config(backend=backend):
        bcv = BayesianCrossValidator(SEARCH, cv=CV, n_jobs=2).fit(X, Y)
    assert bcv.fold_params_ == chosen_by_hand(SEARCH)


def test_random_candidates_and_progress(capsys):
    """Candidates that no other process could make again."""
    search = RandomizedSearchCV(TREE, {"max_depth": range(1, 50)}, n_iter=3, cv=3)
    bcv = BayesianCrossValidator(search, cv=CV, n_jobs=2, verbose=3).fit(X, Y)
    assert all(1 <= params["max_depth"] < 50 for params in bcv.fold_params_)


@pytest.mark.parametrize("when", ["fit", "predict"])
@pytest.mark.filterwarnings("ignore")  # of the fold that fails
def test_a_fold_that_fails_has_no_choice(when):
    tests = [test for _, test in CV.split(X, Y)]
    search = GridSearchCV(Stubborn(X[tests[1][0]], when), {"max_depth": [1, 2]}, cv=2)
    search.set_params(error_score="raise")
    bcv = BayesianCrossValidator(search, cv=CV, error_score=np.nan, refit=False, stability=False)
    bcv.fit(X, Y)
    lost = [params is None for params in bcv.fold_params_]
    expected = [False, True, False, False] if when == "predict" else [True, False, True, True]
    assert lost == expected


def test_what_chooses_nothing():
    assert BayesianCrossValidator(TREE, cv=CV).fit(X, Y).fold_params_ is None
    several = GridSearchCV(TREE, {"max_depth": [1]}, cv=3, scoring=["f1", "accuracy"], refit="f1")
    assert BayesianCrossValidator(several, cv=CV).fit(X, Y).fold_params_ == 4 * [{"max_depth": 1}]


def test_choices_in_words():
    report = BayesianCrossValidator(SEARCH, cv=CV).fit(X, Y).report()
    depths = [params["max_depth"] for params in chosen_by_hand(SEARCH)]
    most = max(set(depths), key=depths.count)
    text = f"the inner search chose max_depth={most} in {depths.count(most)} of 4 folds, "
    assert text in str(report)
    rows = report.to_dict()["sections"]["choices"]["rows"]
    assert sum(row["folds"] for row in rows) == 4
    same = GridSearchCV(TREE, {"max_depth": [2]}, cv=3)
    report = BayesianCrossValidator(same, cv=CV).fit(X, Y).report()
    assert "the inner search chose max_depth=2 in 4 of 4 folds" in str(report)
    plain = BayesianCrossValidator(TREE, cv=CV).fit(X, Y).report()
    assert "inner search" not in str(plain)
