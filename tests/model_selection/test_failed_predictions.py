"""Folds that are fitted and cannot predict are named once, whatever goes wrong and wherever."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold

from estimator_cases import Fails
from skuncertain.exceptions import InvalidParameterError
from skuncertain.model_selection import BayesianCrossValidator

ROWS = np.arange(60.0)[:, None]
Y = np.resize([0, 1, 1], 60)
WAYS = ["raises", "short", "unknown", "nan", "none"]


def fitted(estimator, stability=False, **options):
    validator = BayesianCrossValidator(
        estimator, cv=KFold(5), error_score=np.nan, stability=stability, **options
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        validator.fit(ROWS, Y)
    return validator, told


@pytest.mark.parametrize("keep_predictions", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_the_fold_is_named_once(way, keep_predictions):
    validator, told = fitted(Fails(way), keep_predictions=keep_predictions)
    assert [warning.category for warning in told] == [FitFailedWarning]
    assert "folds [2] of 5" in str(told[0].message)
    assert "cannot be counted" in str(told[0].message)  # and why
    assert validator.result_.failed_folds == (2,)
    assert str(validator.report()).count("folds [2] failed") == 1
    if keep_predictions:
        assert [kept is None for kept in validator.predictions_] == [
            False,
            False,
            True,
            False,
            False,
        ]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_fold_is_named_once_by_workers(backend):
    with joblib.parallel_config(backend=backend):
        validator, told = fitted(Fails(), n_jobs=2)
    assert [warning.category for warning in told] == [FitFailedWarning]
    assert "folds [2] of 5" in str(told[0].message)
    assert validator.result_.failed_folds == (2,)


@pytest.mark.parametrize("keep_predictions", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_all_folds_fail(way, keep_predictions):
    with pytest.raises(InvalidParameterError, match=r"all folds failed.*cannot be counted: \w+:"):
        fitted(Fails(way, marked=None), keep_predictions=keep_predictions)


def test_a_model_that_fails_on_other_rows_loses_no_fold():
    # Every model fails on the rows of fold 2, which are among the rows that all of them predict.
    validator, told = fitted(Fails("raises"), stability=True)
    assert [warning.category for warning in told] == [UserWarning, FitFailedWarning]
    assert "models of folds [0, 1, 3, 4]" in str(told[0].message)
    assert "stability=False" in str(told[0].message)
    assert validator.result_.failed_folds == (2,)
    assert validator.result_.stability is None
    plain, _ = fitted(Fails("raises"))
    assert validator.intervals_ == plain.intervals_
    assert "it is not known how much the models differ" in str(validator.report())
