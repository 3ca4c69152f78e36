"""Posteriors of a cross-validation that is run, and of a finished cross_validate."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from skuncertain import BayesianCrossValidator, ConfusionCountsScorer, cross_val_posterior
from skuncertain.model_selection import CrossValPosterior

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
NB = GaussianNB()


class FailsOnSomeFolds(GaussianNB):
    """Fails when the row that is named is among the training rows' absentees."""

    def fit(self, X, y, sample_weight=None):
        if not np.any(X[:, -1] == 7777.0):
            raise ValueError("this fold fails")
        return super().fit(X, y)


def test_three_ways_to_the_same_result():
    bcv = BayesianCrossValidator(NB, cv=5, random_state=0, stability=False).fit(X, Y)
    counted = cross_validate(NB, X, Y, cv=5, scoring=ConfusionCountsScorer(), return_indices=True)
    ordinary = cross_validate(
        NB, X, Y, cv=5, scoring="roc_auc", return_estimator=True, return_indices=True
    )
    for found in (
        CrossValPosterior.from_cv_results(bcv.cv_results_),
        CrossValPosterior.from_cv_results(counted),
        CrossValPosterior.from_cv_results(counted, y=Y),
        CrossValPosterior.from_cv_results(ordinary, X, Y, stability=False),
    ):
        assert found.counts == bcv.counts_
        assert found.intervals == bcv.intervals_
        assert found.report().to_json() == bcv.report().to_json()
    assert "assumed" not in repr(CrossValPosterior.from_cv_results(counted))
    # Where there are models, they can be asked about the same rows.
    bcv.set_params(stability=True).fit(X, Y)
    found = CrossValPosterior.from_cv_results(ordinary, X, Y)
    np.testing.assert_array_equal(found.stability.counts, bcv.stability_.counts)
    np.testing.assert_array_equal(found.stability.margins, bcv.stability_.margins)
    assert found.report().to_json() == bcv.report().to_json()


def test_repeats_from_indices_or_by_hand():
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    options = {"cv": cv, "scoring": ConfusionCountsScorer()}
    known = CrossValPosterior.from_cv_results(
        cross_validate(NB, X, Y, return_indices=True, **options)
    )
    results = cross_validate(NB, X, Y, **options)
    told = CrossValPosterior.from_cv_results(results, n_repeats=3)
    assert known.interval("f1") == told.interval("f1")
    assert told.interval("f1", "nadeau_bengio") == known.interval("f1", "nadeau_bengio")
    assert "assumed to partition" in repr(told)
    assert "assumed to partition" in str(told.report())
    # Read as 12 folds of 720 rows the interval would be too short.
    with pytest.warns(UserWarning, match="taken to test every row once"):
        unaware = CrossValPosterior.from_cv_results(results)
    assert unaware.interval("f1").width < known.interval("f1").width
    with pytest.raises(ValueError, match="n_repeats=5 must divide the number of folds, 12"):
        CrossValPosterior.from_cv_results(results, n_repeats=5)
    with pytest.raises(ValueError, match="does not fit the indices"):
        CrossValPosterior.from_cv_results(
            cross_validate(NB, X, Y, return_indices=True, **options), n_repeats=2
        )


def test_labels_of_the_scorer():
    names = np.array(["a", "b"])[Y]
    scorer = ConfusionCountsScorer(pos_label="a")
    results = cross_validate(NB, X, names, cv=5, scoring=scorer, return_indices=True)
    found = CrossValPosterior.from_cv_results(results, y=names, pos_label="a")
    assert found.counts.pos_label == "a"
    plain = BayesianCrossValidator(NB, cv=5, stability=False).fit(X, Y)
    np.testing.assert_allclose(found.interval("recall"), plain.interval("specificity"))
    with pytest.raises(ValueError, match="as they were given to the scorer"):
        CrossValPosterior.from_cv_results(results, y=names, pos_label="b")
    with pytest.raises(ValueError, match=r"the count tp is about the positive class.*'a' or 'b'"):
        CrossValPosterior.from_cv_results(results, y=names)
    unnamed = CrossValPosterior.from_cv_results(results)
    np.testing.assert_allclose(unnamed.interval("recall"), found.interval("recall"))


def test_results_that_are_no_counts():
    plain = cross_validate(NB, X, Y, cv=3)
    call = r"scoring=ConfusionCountsScorer\(\), return_indices=True\)"
    with pytest.raises(ValueError, match=call):
        CrossValPosterior.from_cv_results(plain, method="pooled")
    with pytest.raises(ValueError, match=call):
        CrossValPosterior.from_cv_results(
            cross_validate(NB, X, Y, cv=3, return_estimator=True), X, Y
        )
    both = cross_validate(NB, X, Y, cv=3, return_estimator=True, return_indices=True)
    with pytest.raises(ValueError, match="X and y are missing"):
        CrossValPosterior.from_cv_results(both)
    with pytest.raises(TypeError, match="must be the dict"):
        CrossValPosterior.from_cv_results([0.8, 0.9])
    shuffled = cross_validate(
        NB,
        X,
        Y,
        cv=ShuffleSplit(4, random_state=0),
        scoring=ConfusionCountsScorer(),
        return_indices=True,
    )
    with pytest.raises(ValueError, match="Use method='nadeau_bengio'"):
        CrossValPosterior.from_cv_results(shuffled)
    assert (
        CrossValPosterior.from_cv_results(shuffled, method="nadeau_bengio").interval("f1").width > 0
    )


def test_failed_folds_of_an_ordinary_run():
    marked = X.copy()
    marked[5, -1] = 7777.0
    with pytest.warns(FitFailedWarning):
        results = cross_validate(
            FailsOnSomeFolds(), marked, Y, cv=KFold(5), return_estimator=True, return_indices=True
        )
    with pytest.warns(FitFailedWarning, match=r"folds \[0\] of 5"):
        found = CrossValPosterior.from_cv_results(results, marked, Y)
    assert found.failed_folds == (0,)
    assert found.n_folds == 4


def test_plain_representation():
    found = CrossValPosterior.from_cv_results(
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


# --------------------------------------------------------------------------------------------------
# cross_val_posterior


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cv": 4, "method": "nadeau_bengio", "metrics": ["f1", "npv"], "level": 0.9},
        {"cv": RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0), "kind": "hdi"},
        {"omega": "wang_li", "prior": "jeffreys", "pos_label": 0, "n_jobs": 2},
        {"estimand": "final", "labels": [1, 0], "metrics": ["accuracy", "f1_macro"]},
    ],
)
def test_the_numbers_of_the_validator(options):
    found = cross_val_posterior(NB, X, Y, random_state=0, **options)
    bcv = BayesianCrossValidator(NB, random_state=0, refit=False, **options).fit(X, Y)
    assert isinstance(found, CrossValPosterior)
    assert found.counts == bcv.counts_
    assert found.intervals == bcv.intervals_
    assert found.report().to_json() == bcv.report().to_json()


def test_groups_reach_the_splitter():
    groups = np.arange(240) // 12
    found = cross_val_posterior(NB, X, Y, groups=groups, cv=GroupKFold(5))
    bcv = BayesianCrossValidator(NB, cv=GroupKFold(5)).fit(X, Y, groups)
    assert found.splits.tests == bcv.result_.splits.tests
    assert found.intervals == bcv.intervals_


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_fit(routing):
    weight = np.where(Y == 1, 50.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = GaussianNB()
        if routing:
            model.set_fit_request(sample_weight=True)
        found = cross_val_posterior(model, X, Y, params={"sample_weight": weight})
    plain = cross_val_posterior(GaussianNB(), X, Y)
    assert found.n == plain.n == 240  # weights are for the fit, not for the counts
    assert found.interval("recall").low > plain.interval("recall").low


def test_arguments_that_are_not_requested_are_refused():
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="sample_weight"),
    ):
        cross_val_posterior(GaussianNB(), X, Y, params={"sample_weight": np.ones(240)})


def test_a_fold_that_fails():
    marked = X.copy()
    marked[5, -1] = 7777.0
    with pytest.raises(ValueError, match="this fold fails"):
        cross_val_posterior(FailsOnSomeFolds(), marked, Y, cv=KFold(5))
    with pytest.warns(FitFailedWarning) as caught:
        found = cross_val_posterior(FailsOnSomeFolds(), marked, Y, cv=KFold(5), error_score=np.nan)
    assert sum("folds [0] of 5" in str(warning.message) for warning in caught) == 1
    assert found.failed_folds == (0,)


def test_a_finished_run_is_sent_to_its_own_door():
    results = cross_validate(NB, X, Y, scoring=ConfusionCountsScorer(), return_indices=True)
    with pytest.raises(TypeError, match=r"use CrossValPosterior.from_cv_results\(results\)"):
        cross_val_posterior(results, X, Y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        cross_val_posterior(NB, X, None)
