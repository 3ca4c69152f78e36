"""Posteriors of a finished cross_validate."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCountsScorer,
    cross_val_posterior,
)

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
NB = GaussianNB()


class FailsOnSomeFolds(GaussianNB):
    """Fails when the row that is named is among the training rows' absentees."""

    def fit(self, X, y, sample_weight=None):
        if not np.any(X[:, -1] == 7777.0):
            raise ValueError("this fold fails")
        return super().fit(X, y)


def test_three_ways_to_the_same_result():
    bcv = BayesianCrossValidator(NB, cv=5, random_state=0).fit(X, Y)
    counted = cross_validate(NB, X, Y, cv=5, scoring=ConfusionCountsScorer(), return_indices=True)
    ordinary = cross_validate(
        NB, X, Y, cv=5, scoring="roc_auc", return_estimator=True, return_indices=True
    )
    for found in (
        cross_val_posterior(bcv.cv_results_),
        cross_val_posterior(counted),
        cross_val_posterior(counted, y=Y),
        cross_val_posterior(ordinary, X, Y),
    ):
        assert found.counts == bcv.counts_
        assert found.intervals == bcv.intervals_
        assert found.report().to_json() == bcv.report().to_json()
    assert "assumed" not in repr(cross_val_posterior(counted))


def test_repeats_from_indices_or_by_hand():
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    options = {"cv": cv, "scoring": ConfusionCountsScorer()}
    known = cross_val_posterior(cross_validate(NB, X, Y, return_indices=True, **options))
    results = cross_validate(NB, X, Y, **options)
    told = cross_val_posterior(results, n_repeats=3)
    assert known.interval("f1") == told.interval("f1")
    assert told.interval("f1", "nadeau_bengio") == known.interval("f1", "nadeau_bengio")
    assert "assumed to partition" in repr(told)
    assert "assumed to partition" in str(told.report())
    # Read as 12 folds of 720 rows the interval would be too short.
    with pytest.warns(UserWarning, match="taken to test every row once"):
        unaware = cross_val_posterior(results)
    assert unaware.interval("f1").length < known.interval("f1").length
    with pytest.raises(ValueError, match="n_repeats=5 must divide the number of folds, 12"):
        cross_val_posterior(results, n_repeats=5)
    with pytest.raises(ValueError, match="does not fit the indices"):
        cross_val_posterior(cross_validate(NB, X, Y, return_indices=True, **options), n_repeats=2)


def test_labels_of_the_scorer():
    names = np.array(["a", "b"])[Y]
    scorer = ConfusionCountsScorer(pos_label="a")
    results = cross_validate(NB, X, names, cv=5, scoring=scorer, return_indices=True)
    found = cross_val_posterior(results, y=names, pos_label="a")
    assert found.counts.pos_label == "a"
    plain = BayesianCrossValidator(NB, cv=5).fit(X, Y)
    np.testing.assert_allclose(found.interval("recall"), plain.interval("specificity"))
    with pytest.raises(ValueError, match="as they were given to the scorer"):
        cross_val_posterior(results, y=names)  # "b" would be positive
    unnamed = cross_val_posterior(results)
    np.testing.assert_allclose(unnamed.interval("recall"), found.interval("recall"))


def test_results_that_are_no_counts():
    plain = cross_validate(NB, X, Y, cv=3)
    call = r"scoring=ConfusionCountsScorer\(\), return_indices=True\)"
    with pytest.raises(ValueError, match=call):
        cross_val_posterior(plain)
    with pytest.raises(ValueError, match=call):
        cross_val_posterior(cross_validate(NB, X, Y, cv=3, return_estimator=True), X, Y)
    both = cross_validate(NB, X, Y, cv=3, return_estimator=True, return_indices=True)
    with pytest.raises(ValueError, match="X and y are missing"):
        cross_val_posterior(both)
    with pytest.raises(TypeError, match="must be the dict"):
        cross_val_posterior([0.8, 0.9])
    shuffled = cross_validate(
        NB,
        X,
        Y,
        cv=ShuffleSplit(4, random_state=0),
        scoring=ConfusionCountsScorer(),
        return_indices=True,
    )
    with pytest.raises(ValueError, match="Use method='nadeau_bengio'"):
        cross_val_posterior(shuffled)
    assert cross_val_posterior(shuffled, method="nadeau_bengio").interval("f1").length > 0


def test_failed_folds_of_an_ordinary_run():
    marked = X.copy()
    marked[5, -1] = 7777.0
    with pytest.warns(FitFailedWarning):
        results = cross_validate(
            FailsOnSomeFolds(), marked, Y, cv=KFold(5), return_estimator=True, return_indices=True
        )
    with pytest.warns(FitFailedWarning, match=r"folds \[0\] of 5"):
        found = cross_val_posterior(results, marked, Y)
    assert found.lost == (0,)
    assert found.n_folds == 4


def test_plain_representation():
    found = cross_val_posterior(
        cross_validate(NB, X, Y, cv=4, scoring=ConfusionCountsScorer(), return_indices=True),
        random_state=3,
    )
    plain = found.to_dict()
    assert plain["seed"] == 3
    assert plain["metrics"]["f1"]["low"] == found.interval("f1").low
    assert plain["metrics"]["f1"]["omega_wang_li"] == 0.625
    assert np.sum(plain["counts"]["counts"]) == 240
    with pytest.raises(AttributeError):
        found.seed = 4
