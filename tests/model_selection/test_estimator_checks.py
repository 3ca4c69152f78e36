"""scikit-learn's own checks of our estimators."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skuncertain import BayesianCrossValidator


@pytest.mark.filterwarnings(
    # The checks fit on a handful of random rows: classes smaller than the number of folds, folds
    # that disagree, and solvers that stop early are theirs, not ours.
    "ignore:The least populated class:UserWarning",
    "ignore::skuncertain.exceptions.FoldDisagreementWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::sklearn.exceptions.UndefinedMetricWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
)
@parametrize_with_checks(
    [
        BayesianCrossValidator(LogisticRegression(), cv=2),
        BayesianCrossValidator(
            DecisionTreeClassifier(random_state=0), cv=3, metrics=["accuracy"], omega="wang_li"
        ),
        BayesianCrossValidator(GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2), cv=2),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
