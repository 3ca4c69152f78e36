"""Truths of coverage studies: simulated figures against exact ones."""

import pickle
from functools import partial

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCounts, confidence_interval
from skuncertain.coverage import (
    BinomialPopulation,
    EstimatorPopulation,
    MarkovPopulation,
    MultinomialPopulation,
    SubsamplePopulation,
    coverage_study,
)
from skuncertain.model_selection import fold_posterior
from skuncertain.posteriors import BetaPosterior

GRID = np.arange(1, 100) / 100
ARRAYS = ("coverage", "coverage_error", "width", "width_error", "failed", "truth", "truth_error")


def _same(a, b):
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in ARRAYS)


def _within(study, expected, errors=4.5):
    """Whether simulated coverages are within so many of their standard errors of exact ones."""
    return np.all(np.abs(study.coverage - expected) <= errors * study.coverage_error)


# --------------------------------------------------------------------------------------------------
# Rows that depend on each other


def _chain(n, rate, correlation):
    """Distribution of the number of hits in a two-state chain, by dynamic programming."""
    up, down = rate + correlation * (1 - rate), rate * (1 - correlation)
    hit, miss = np.zeros(n + 1), np.zeros(n + 1)
    hit[1], miss[0] = rate, 1 - rate
    for _ in range(n - 1):
        into_hit = up * hit + down * miss
        hit, miss = np.r_[0.0, into_hit[:-1]], (1 - up) * hit + (1 - down) * miss
    return hit + miss


def test_chain_against_dynamic_programming(global_random_seed):
    # With equal rates in both classes the hits are one chain, whatever the labels do.
    n, rate, correlations = 120, 0.8, np.array([0.0, 0.5, 0.8])
    k = np.arange(n + 1)
    counts = ConfusionCounts.from_binary(tp=k, fn=n - k, fp=0 * k, tn=0 * k)
    low, high = confidence_interval(counts, metric="recall", method="wilson")
    exact = [_chain(n, rate, c)[(low <= rate) & (rate <= high)].sum() for c in correlations]
    population = MarkovPopulation(
        recall=rate, specificity=rate, label_correlation=0.9, hit_correlation=correlations
    )
    study = coverage_study(
        ["wilson"], population, n=n, n_replications=3000, random_state=global_random_seed
    )
    assert _within(study, exact)
    assert exact[0] > 0.93  # independent
    assert exact[-1] < 0.6  # not
    assert list(study.points) == ["hit_correlation", "n"]


def test_chain_has_the_right_cells(global_random_seed):
    population = MarkovPopulation(
        recall=0.7, specificity=0.9, prevalence=0.2, label_correlation=0.5, hit_correlation=0.5
    )
    seen = []

    def keep(y_true, y_pred):
        seen.append((y_true, y_pred))
        return 0.0, 1.0

    coverage_study(
        {"keep": keep}, population, n=4000, n_replications=50, random_state=global_random_seed
    )
    y_true, y_pred = (np.concatenate(part) for part in zip(*seen, strict=True))
    found = np.bincount(2 * y_true + y_pred, minlength=4) / y_true.size
    # 200,000 rows that count for a third as much: errors below .0015
    assert_allclose(found, [0.72, 0.08, 0.06, 0.14], atol=0.008)
    pairs = np.corrcoef([seen[0][0][:-1].astype(float), seen[0][0][1:].astype(float)])[0, 1]
    assert abs(pairs - 0.5) < 0.1


def _design_effect(y_true, y_pred, level):
    """Beta interval of counts divided by how much blocks of 25 rows disagree."""
    hit = (y_true == y_pred).reshape(-1, 25).sum(axis=1)
    blocks = ConfusionCounts.from_binary(tp=hit, fn=25 - hit, fp=0 * hit, tn=0 * hit)
    effect = max(1.0, fold_posterior(blocks, "recall").diagnostics.variance_ratio)
    hits, misses = hit.sum() / effect, (25 - hit).sum() / effect
    return BetaPosterior(hits + 0.5, misses + 0.5).interval(level)


@pytest.mark.slow
def test_thinning_groups_and_design_effect(global_random_seed):
    population = MarkovPopulation(
        recall=0.8, specificity=0.8, label_correlation=0.9, hit_correlation=0.7
    )
    study = coverage_study(
        {
            "all rows": "neutral",
            "every tenth": {"thin": 10},
            "groups": {"block": 25, "n_draws": 1000},
            "design effect": _design_effect,
        },
        population,
        n=1000,
        n_replications=400,
        random_state=global_random_seed,
    )
    rows, thinned, groups, effect = study.coverage
    slack = 3 * 0.011  # three standard errors at 95 %
    assert rows < 0.7
    assert thinned > 0.94 - slack
    assert groups > 0.94 - slack
    assert effect > 0.92 - slack
    assert study.width[0] < study.width[3] < study.width[1]  # thinning wastes rows
    assert study.failures == ()


# --------------------------------------------------------------------------------------------------
# Learners


def coin(n_samples, random_state, share=0.7):
    """Labels that have nothing to do with the inputs."""
    rng = np.random.default_rng(random_state)
    return rng.normal(size=(n_samples, 2)), (rng.random(n_samples) < share).astype(int)


ALWAYS_ONE = DummyClassifier(strategy="constant", constant=1)


def test_a_constant_prediction_is_a_binomial(global_random_seed):
    # Accuracy of "always 1" is the share of ones: folds do not matter, coverage is binomial.
    population = EstimatorPopulation(
        ALWAYS_ONE, coin, cv=KFold(5), estimand="algorithm", n_models=40, n_test=2000
    )
    study = coverage_study(
        {
            "wilson": "wilson",
            "laplace": {"prior": 0.5},
            "pooled": {"method": "pooled", "omega": 1.0},
        },
        population,
        n=40,
        n_replications=300,
        random_state=global_random_seed,
    )
    assert abs(study.truth - 0.7) < 4.5 * study.truth_error
    assert_allclose(study.truth_error, np.sqrt(0.21 / 2000 / 40), rtol=0.5)
    wilson = coverage_study(["wilson"], BinomialPopulation(0.7), n=40).coverage[0]
    flat = coverage_study(["laplace"], BinomialPopulation(0.7), n=40).coverage[0]
    assert _within(study, [wilson, flat, flat])
    assert_array_equal(study.coverage[1], study.coverage[2])


@pytest.mark.parametrize("estimand", ["fitted", "final"])
def test_every_sample_has_its_own_truth(estimand):
    population = EstimatorPopulation(ALWAYS_ONE, coin, cv=KFold(5), estimand=estimand, n_test=1000)
    study = coverage_study(["pooled"], population, n=40, n_replications=30, random_state=0)
    assert abs(study.truth - 0.7) < 5 * np.sqrt(0.21 / 1000 / 30)
    assert study.coverage[0] > 0.9


@pytest.mark.parametrize("random_state", [3, np.random.RandomState(0)])
def test_workers_do_not_matter(random_state):
    population = EstimatorPopulation(
        DecisionTreeClassifier(max_features=1),  # its random_state is None
        partial(make_blobs, centers=[[0, 0], [1, 1]]),
        cv=StratifiedKFold(3, shuffle=True),  # nor has this one a seed
        n_models=8,
        n_test=200,
    )
    methods = ["pooled", "wang_li", "t", "nadeau_bengio", "averaged", "bootstrap"]
    options = {"metric": "precision", "n": [24, 40], "n_replications": 8}
    seed = pickle.dumps(random_state)
    one = coverage_study(methods, population, **options, random_state=pickle.loads(seed), n_jobs=1)
    two = coverage_study(methods, population, **options, random_state=pickle.loads(seed), n_jobs=2)
    assert _same(one, two)
    assert one.seed == two.seed
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):  # no results one by one
        assert _same(one, coverage_study(methods, population, **options, random_state=one.seed))


def test_subsamples_of_a_data_set(global_random_seed):
    y = np.r_[np.ones(700, dtype=int), np.zeros(300, dtype=int)]
    names = np.array(["no", "yes"])[y]
    population = SubsamplePopulation(
        DummyClassifier(strategy="constant", constant="yes"),
        np.zeros((1000, 1)),
        names,
        n_models=20,
    )
    study = coverage_study(
        ["pooled", "wilson"],
        population,
        n=50,
        metric="accuracy",
        n_replications=60,
        random_state=global_random_seed,
    )
    assert abs(study.truth - 0.7) < 4.5 * study.truth_error
    assert study.truth_error < 0.002  # the rest of the data, 950 rows, 20 times
    assert np.all(study.coverage > 0.8)
    with pytest.raises(ValueError, match="n must be less than the 1000 rows"):
        coverage_study(["pooled"], population, n=1000)


class Moody(GaussianNB):
    """Refuses every fit in which the first row is on the right."""

    def fit(self, X, y, sample_weight=None):
        if X[0, 0] > 1.3:
            raise RuntimeError("not today")
        return super().fit(X, y)


def test_fits_that_fail_are_counted():
    population = EstimatorPopulation(Moody(), coin, cv=3, n_models=30, n_test=100)
    study = coverage_study(["pooled"], population, n=30, n_replications=60, random_state=0)
    (where, reason, number), *_ = study.failures
    assert (where, reason) == ("", "RuntimeError: not today")
    # of samples and of models for the truth: about a fifth of 60 and a tenth of 30
    assert 3 < number < 40
    assert 60 - number <= study.n_replications < 60
    assert 0.5 < study.coverage[0] <= 1
    assert f"{number} intervals failed" in repr(study)


def test_splits_and_methods_must_fit():
    def data(n_samples, random_state):
        return coin(n_samples, random_state)

    shuffled = EstimatorPopulation(
        GaussianNB(), data, cv=ShuffleSplit(9, random_state=0), n_models=4
    )
    with pytest.raises(ValueError, match="Use method='nadeau_bengio'"):
        coverage_study(["pooled"], shuffled, n=30)
    study = coverage_study(["nadeau_bengio"], shuffled, n=30, n_replications=5, random_state=0)
    assert study.failed[0] == 0
    repeated = EstimatorPopulation(
        GaussianNB(), data, cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2), n_models=4
    )
    with pytest.raises(ValueError, match="tests rows several times"):
        coverage_study(["wilson"], repeated, n=30)
    coverage_study(["pooled", "t"], repeated, n=30, n_replications=5, random_state=0)


@pytest.mark.slow
def test_pooled_folds_cover_and_t_does_not(global_random_seed):
    # Gaussian classes, unpruned trees: t over folds is too short, pooled counts are not.
    population = EstimatorPopulation(
        DecisionTreeClassifier(), partial(make_blobs, centers=[[0] * 5, [1] * 5]), n_models=150
    )
    study = coverage_study(
        ["pooled", "wang_li", "corrected_t", "t"],
        population,
        metric="precision",
        n=100,
        n_replications=200,
        n_jobs=2,
        random_state=global_random_seed,
    )
    error = 0.0155  # of a coverage of .95, 200 samples
    assert np.all(study.coverage[:3] > 0.95 - 3 * error)
    assert study.coverage[3] < study.coverage[:3].min()
    assert study.width[2] > 1.2 * study.width[1]  # the price of the corrected t


def test_a_learner_that_always_fails_is_an_error():
    broken = EstimatorPopulation(GaussianNB(), coin, cv=3, estimand="algorithm", n_models=4)
    broken.estimator = Moody(var_smoothing="much")
    with pytest.raises(ValueError, match="the truth could not be measured"):
        coverage_study(["pooled"], broken, n=20, n_replications=4)


# --------------------------------------------------------------------------------------------------
# Bad input


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: BinomialPopulation(1.2), ValueError, r"p must be in \[0, 1\], got 1.2"),
        (lambda: BinomialPopulation("a"), TypeError, r"p must be in \[0, 1\], got 'a'"),
        (lambda: BinomialPopulation([]), TypeError, "p must be in"),
        (lambda: BinomialPopulation(np.nan), ValueError, "p must be in"),
        (lambda: MultinomialPopulation([[5, 1], [1, 3]]), ValueError, "Divide counts by their sum"),
        (
            lambda: MultinomialPopulation([[1.1, -0.1], [0, 0]]),
            ValueError,
            "a negative or missing one",
        ),
        (lambda: MultinomialPopulation([0.5, 0.5]), ValueError, r"shape \(..., C, C\)"),
        (
            lambda: MultinomialPopulation.from_rates(precision=0.0, recall=0.5),
            ValueError,
            "precision must be above 0",
        ),
        (
            lambda: MarkovPopulation(recall=0.5, specificity=0.5, hit_correlation=1.0),
            ValueError,
            "hit_correlation must be below 1",
        ),
        (lambda: EstimatorPopulation(GaussianNB(), 3), TypeError, "use SubsamplePopulation"),
        (lambda: EstimatorPopulation(3, coin), TypeError, "estimator must be a scikit-learn"),
        (
            lambda: EstimatorPopulation(GaussianNB(), coin, estimand="x"),
            ValueError,
            "estimand must be",
        ),
        (
            lambda: EstimatorPopulation(GaussianNB(), lambda n_samples, random_state: coin(5, 0)),
            ValueError,
            "must return n_samples=1000 rows, got 5",
        ),
        (
            lambda: SubsamplePopulation(GaussianNB(), np.ones((4, 1)), [0, 1]),
            ValueError,
            "same number of rows, got 4 and 2",
        ),
        (
            lambda: SubsamplePopulation(GaussianNB(), np.ones((2, 1)), [1, 1]),
            ValueError,
            "two classes",
        ),
    ],
)
def test_bad_populations(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_populations_have_short_reprs():
    for population in (
        BinomialPopulation(GRID),
        MultinomialPopulation([[0.5, 0.1], [0.1, 0.3]]),
        MarkovPopulation(recall=0.8, specificity=0.9, hit_correlation=[0.1, 0.2]),
        EstimatorPopulation(GaussianNB(), coin),
        SubsamplePopulation(GaussianNB(), np.zeros((4, 1)), [0, 1, 0, 1]),
    ):
        text = repr(population)
        assert text.startswith(type(population).__name__ + "(")
        assert "\n" not in text
        assert len(text) < 150
