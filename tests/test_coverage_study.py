"""Coverage studies: exact figures against independent enumeration, simulation against exact."""

import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from functools import partial

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import (
    BetaPosterior,
    BinomialTruth,
    ConfusionCounts,
    CoverageDisplay,
    EstimatorTruth,
    MarkovTruth,
    MultinomialTruth,
    SubsampleTruth,
    confidence_interval,
    coverage_study,
    credible_interval,
    fold_posterior,
    get_metric,
    proportion_posterior,
)

GRID = np.arange(1, 100) / 100
ARRAYS = ("coverage", "coverage_error", "length", "length_error", "failed", "truth", "truth_error")


def _same(a, b):
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in ARRAYS)


def _within(study, expected, errors=4.5):
    """Whether simulated coverages are within so many of their standard errors of exact ones."""
    return np.all(np.abs(study.coverage - expected) <= errors * study.coverage_error)


# --------------------------------------------------------------------------------------------------
# Exact


@pytest.mark.parametrize(
    ("method", "mean", "lowest"),
    [
        # The figures of the five methods of an Idiap thesis on bob.measure (its Fig. 5, there by
        # simulation), n = 100, rates .01 to .99; computed independently with scipy's binomial.
        ("laplace", 0.9492, 0.9206),
        ("jeffreys", 0.9496, 0.9212),
        ("clopper-pearson", 0.9649, 0.9543),
        ("agresti-coull", 0.9543, 0.9398),
        ("wilson", 0.9492, 0.9206),
    ],
)
def test_five_methods_at_100_rows(method, mean, lowest):
    study = coverage_study([method], BinomialTruth(GRID), n=100)
    assert study.exact
    found = study.summary()[method]
    assert_allclose([found["mean_coverage"], found["min_coverage"]], [mean, lowest], atol=5e-5)
    assert_array_equal(study.coverage_error, 0)


def test_exact_coverage_against_scipy():
    n, k = 40, np.arange(41)
    mass = stats.binom.pmf(k, n, GRID[:, None])
    low, high = stats.beta.ppf([[0.025], [0.975]], k + 0.5, n - k + 0.5)
    low[0], high[-1] = 0, 1  # the rule at the ends
    inside = (low <= GRID[:, None]) & (GRID[:, None] <= high)
    study = coverage_study(["jeffreys"], BinomialTruth(GRID), n=n)
    assert_allclose(study.coverage[0], (mass * inside).sum(axis=1), rtol=1e-10)
    assert_allclose(study.length[0], mass @ (high - low), rtol=1e-10)
    assert_array_equal(study.n_replications, 41)


def test_plain_quantiles_differ_at_the_ends_only():
    # The thesis takes plain quantiles; the library closes intervals at 0 and 1. On the grid of its
    # figure, which starts at .01, that changes nothing; near 0 plain quantiles never hold the rate.
    def plain(counts, level):
        hits, misses = counts.counts[..., 1, 1], counts.counts[..., 1, 0]
        posterior = proportion_posterior(hits, misses, prior="laplace")
        return posterior.quantile((1 - level) / 2), posterior.quantile((1 + level) / 2)

    methods = {"plain": plain, "closed": "laplace"}
    study = coverage_study(methods, BinomialTruth(GRID), n=100)
    assert_allclose(study.coverage[0], study.coverage[1], rtol=1e-12)
    study = coverage_study(methods, BinomialTruth(1e-4), n=100)
    assert study.coverage[0] < 0.01
    assert study.coverage[1] > 0.99


def _brute_force(matrix, n, metric, prior):
    """Coverage by a loop over all confusion matrices."""
    truth, covered = get_metric(metric)(matrix), 0.0
    for cells in itertools.product(range(n + 1), repeat=3):
        if sum(cells) <= n:
            counts = np.reshape([*cells, n - sum(cells)], (2, 2))
            mass = stats.multinomial.pmf(counts.ravel(), n, np.ravel(matrix))
            low, high = credible_interval(ConfusionCounts(counts), metric=metric, prior=prior)
            covered += mass * (low <= truth <= high)
    return covered


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("metric", ["f1", "precision", "accuracy", "balanced_accuracy", "npv"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_matrices_against_brute_force(metric, pos_label):
    matrix, n = np.array([[0.45, 0.2], [0.05, 0.3]]), 5
    study = coverage_study(
        {"a": {"prior": "neutral"}},
        MultinomialTruth(matrix),
        n=n,
        metric=metric,
        pos_label=pos_label,
    )
    assert study.exact
    turned = matrix if pos_label == 1 else matrix[::-1, ::-1]
    assert_allclose(study.coverage[0], _brute_force(turned, n, metric, "neutral"), rtol=1e-9)


def test_functions_of_counts_stacked_or_not():
    truth = MultinomialTruth([[0.5, 0.1], [0.15, 0.25]])

    def stacked(counts):
        return credible_interval(counts, metric="f1", prior="laplace")

    def one_by_one(counts):
        assert counts.shape == ()
        return tuple(credible_interval(counts, metric="f1", prior="laplace"))

    def deceptive(counts):  # has the right shape for a stack, but is right for one matrix only
        low, high = credible_interval(counts, metric="f1", prior="laplace")
        return (low, high) if counts.shape == () else (np.zeros_like(low), high)

    methods = {
        "name": "laplace",
        "options": {"prior": 1.0},
        "partial": partial(credible_interval, prior="laplace"),
        "stacked": stacked,
        "one by one": one_by_one,
        "deceptive": deceptive,
    }
    study = coverage_study(methods, truth, n=10, metric="f1")
    assert study.exact
    assert_allclose(study.coverage, study.coverage[0], rtol=1e-12)
    # three kinds of rows are enough for the first two: the same figures from fewer outcomes
    reduced = coverage_study(["laplace"], truth, n=10, metric="f1")
    assert reduced.n_replications < study.n_replications
    assert_allclose(reduced.coverage[0], study.coverage[0], rtol=1e-10)


def test_what_a_function_is_given():
    seen = {}

    def method(counts, *, level, kind, metric, pos_label):
        seen.update(level=level, kind=kind, metric=metric, pos_label=pos_label)
        return 0.0, 1.0

    coverage_study({"mine": method}, BinomialTruth(0.5), n=5, level=0.8, kind="hdi")
    assert seen == {"level": 0.8, "kind": "hdi", "metric": "recall", "pos_label": None}


def test_three_classes_accuracy():
    matrix = np.array([[0.3, 0.03, 0.02], [0.02, 0.3, 0.03], [0.03, 0.02, 0.25]])
    study = coverage_study(["wilson", "laplace"], MultinomialTruth(matrix), n=50)
    binomial = coverage_study(["wilson"], BinomialTruth(0.85), n=50)
    assert_allclose(study.coverage[0], binomial.coverage[0], rtol=1e-10)
    recall = coverage_study(
        ["jeffreys"], MultinomialTruth(matrix), n=25, metric="recall", pos_label=2
    )
    assert recall.exact
    assert_allclose(recall.truth, 25 / 30)


def test_surface_of_f1(global_random_seed):
    # Precision against recall; pairs that would need more negatives than there are stay empty.
    rates = np.array([0.1, 0.5, 0.9])
    truth = MultinomialTruth.from_rates(precision=rates[:, None], recall=rates)
    study = coverage_study(["laplace", "neutral"], truth, n=60, metric="f1")
    assert study.coverage.shape == (2, 3, 3)
    possible = rates * (1 - rates[:, None]) / rates[:, None] <= 1
    assert_array_equal(np.isfinite(study.coverage), np.stack([possible, possible]))
    p, r = rates[:, None], rates
    assert_allclose(study.truth[possible], (2 * p * r / (p + r))[possible])
    assert_array_equal(study.n_replications == 0, ~possible)
    drawn = coverage_study(
        ["laplace", "neutral"],
        truth,
        n=60,
        metric="f1",
        n_replications=1500,
        random_state=global_random_seed,
    )
    gap = np.abs(drawn.coverage - study.coverage) / drawn.coverage_error
    assert np.nanmax(gap) < 4.5  # 14 normal deviates
    assert_array_equal(np.isnan(gap), np.isnan(study.coverage))
    assert_allclose(drawn.length, study.length, atol=5 * np.nanmax(drawn.length_error))


def test_several_numbers_of_rows():
    study = coverage_study(["jeffreys"], BinomialTruth([0.2, 0.7]), n=[10, 20, 40])
    assert study.coverage.shape == (1, 2, 3)
    for k, n in enumerate((10, 20, 40)):
        one = coverage_study(["jeffreys"], BinomialTruth([0.2, 0.7]), n=n)
        assert_array_equal(study.coverage[..., k], one.coverage)
    assert_array_equal(study.points["n"], [[10, 20, 40]] * 2)
    assert_array_equal(study.points["p"], [[0.2] * 3, [0.7] * 3])


def test_methods_that_draw_are_simulated(global_random_seed):
    truth = MultinomialTruth([[0.45, 0.05], [0.1, 0.4]])
    study = coverage_study(
        {"bootstrap": {"method": "bootstrap", "n_resamples": 200}},
        truth,
        n=40,
        n_replications=60,
        random_state=global_random_seed,
    )
    assert not study.exact
    assert 0.7 < study.coverage[0] <= 1  # .93 expected, 60 samples
    perfect = coverage_study(
        {"bootstrap": {"method": "bootstrap", "n_resamples": 50}},
        MultinomialTruth([[0.5, 0.0], [0.0, 0.5]]),
        n=10,
        n_replications=5,
        random_state=0,
    )
    (text,) = perfect.warnings
    assert text.startswith("bootstrap: DegenerateIntervalWarning: ")


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
    low, high = confidence_interval(counts, "recall", method="wilson")
    exact = [_chain(n, rate, c)[(low <= rate) & (rate <= high)].sum() for c in correlations]
    truth = MarkovTruth(
        recall=rate, specificity=rate, label_correlation=0.9, hit_correlation=correlations
    )
    study = coverage_study(
        ["wilson"], truth, n=n, n_replications=3000, random_state=global_random_seed
    )
    assert _within(study, exact)
    assert exact[0] > 0.93  # independent
    assert exact[-1] < 0.6  # not
    assert list(study.points) == ["hit_correlation", "n"]


def test_chain_has_the_right_cells(global_random_seed):
    truth = MarkovTruth(
        recall=0.7, specificity=0.9, prevalence=0.2, label_correlation=0.5, hit_correlation=0.5
    )
    seen = []

    def keep(y_true, y_pred):
        seen.append((y_true, y_pred))
        return 0.0, 1.0

    coverage_study(
        {"keep": keep}, truth, n=4000, n_replications=50, random_state=global_random_seed
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
    truth = MarkovTruth(recall=0.8, specificity=0.8, label_correlation=0.9, hit_correlation=0.7)
    study = coverage_study(
        {
            "all rows": "neutral",
            "every tenth": {"thin": 10},
            "groups": {"block": 25, "n_draws": 1000},
            "design effect": _design_effect,
        },
        truth,
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
    assert study.length[0] < study.length[3] < study.length[1]  # thinning wastes rows
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
    truth = EstimatorTruth(ALWAYS_ONE, coin, cv=KFold(5), n_models=40, n_test=2000)
    study = coverage_study(
        {
            "wilson": "wilson",
            "laplace": {"prior": 0.5},
            "pooled": {"method": "pooled", "omega": 1.0},
        },
        truth,
        n=40,
        n_replications=300,
        random_state=global_random_seed,
    )
    assert abs(study.truth - 0.7) < 4.5 * study.truth_error
    assert_allclose(study.truth_error, np.sqrt(0.21 / 2000 / 40), rtol=0.5)
    wilson = coverage_study(["wilson"], BinomialTruth(0.7), n=40).coverage[0]
    flat = coverage_study(["laplace"], BinomialTruth(0.7), n=40).coverage[0]
    assert _within(study, [wilson, flat, flat])
    assert_array_equal(study.coverage[1], study.coverage[2])


def test_model_as_estimand():
    truth = EstimatorTruth(ALWAYS_ONE, coin, cv=KFold(5), estimand="model", n_test=1000)
    study = coverage_study(["pooled"], truth, n=40, n_replications=30, random_state=0)
    assert abs(study.truth - 0.7) < 5 * np.sqrt(0.21 / 1000 / 30)
    assert study.coverage[0] > 0.9


@pytest.mark.parametrize("random_state", [3, np.random.RandomState(0)])
def test_workers_do_not_matter(random_state):
    truth = EstimatorTruth(
        DecisionTreeClassifier(max_features=1),  # its random_state is None
        partial(make_blobs, centers=[[0, 0], [1, 1]]),
        cv=3,
        n_models=8,
        n_test=200,
    )
    methods = ["pooled", "wang-li", "t", "nadeau_bengio", "averaged", "bootstrap"]
    options = {"metric": "precision", "n": [24, 40], "n_replications": 8}
    seed = pickle.dumps(random_state)
    one = coverage_study(methods, truth, **options, random_state=pickle.loads(seed), n_jobs=1)
    two = coverage_study(methods, truth, **options, random_state=pickle.loads(seed), n_jobs=2)
    assert _same(one, two)
    assert one.seed == two.seed
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):  # no results one by one
        assert _same(one, coverage_study(methods, truth, **options, random_state=one.seed))


def test_subsamples_of_a_data_set(global_random_seed):
    y = np.r_[np.ones(700, dtype=int), np.zeros(300, dtype=int)]
    names = np.array(["no", "yes"])[y]
    truth = SubsampleTruth(
        DummyClassifier(strategy="constant", constant="yes"),
        np.zeros((1000, 1)),
        names,
        n_models=20,
    )
    study = coverage_study(
        ["pooled", "wilson"],
        truth,
        n=50,
        metric="accuracy",
        n_replications=60,
        random_state=global_random_seed,
    )
    assert abs(study.truth - 0.7) < 4.5 * study.truth_error
    assert study.truth_error < 0.002  # the rest of the data, 950 rows, 20 times
    assert np.all(study.coverage > 0.8)
    with pytest.raises(ValueError, match="n must be less than the 1000 rows"):
        coverage_study(["pooled"], truth, n=1000)


class Moody(GaussianNB):
    """Refuses every fit in which the first row is on the right."""

    def fit(self, X, y, sample_weight=None):
        if X[0, 0] > 1.3:
            raise RuntimeError("not today")
        return super().fit(X, y)


def test_fits_that_fail_are_counted():
    truth = EstimatorTruth(Moody(), coin, cv=3, n_models=30, n_test=100)
    study = coverage_study(["pooled"], truth, n=30, n_replications=60, random_state=0)
    (where, reason, number), *_ = study.failures
    assert (where, reason) == ("", "RuntimeError: not today")
    # of samples and of models for the truth: about a fifth of 60 and a tenth of 30
    assert 3 < number < 40
    assert 60 - number <= study.n_replications < 60
    assert 0.5 < study.coverage[0] <= 1
    assert f"{number} failed" in repr(study)


def test_splits_and_methods_must_fit():
    def data(n_samples, random_state):
        return coin(n_samples, random_state)

    shuffled = EstimatorTruth(GaussianNB(), data, cv=ShuffleSplit(9, random_state=0), n_models=4)
    with pytest.raises(ValueError, match="Use method='nadeau_bengio'"):
        coverage_study(["pooled"], shuffled, n=30)
    study = coverage_study(["nadeau_bengio"], shuffled, n=30, n_replications=5, random_state=0)
    assert study.failed[0] == 0
    repeated = EstimatorTruth(
        GaussianNB(), data, cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2), n_models=4
    )
    with pytest.raises(ValueError, match="tests rows several times"):
        coverage_study(["wilson"], repeated, n=30)
    coverage_study(["pooled", "t"], repeated, n=30, n_replications=5, random_state=0)


@pytest.mark.slow
def test_pooled_folds_cover_and_t_does_not(global_random_seed):
    # Gaussian classes, unpruned trees: t over folds is too short, pooled counts are not.
    truth = EstimatorTruth(
        DecisionTreeClassifier(), partial(make_blobs, centers=[[0] * 5, [1] * 5]), n_models=150
    )
    study = coverage_study(
        ["pooled", "wang-li", "corrected_t", "t"],
        truth,
        metric="precision",
        n=100,
        n_replications=200,
        n_jobs=2,
        random_state=global_random_seed,
    )
    error = 0.0155  # of a coverage of .95, 200 samples
    assert np.all(study.coverage[:3] > 0.95 - 3 * error)
    assert study.coverage[3] < study.coverage[:3].min()
    assert study.length[2] > 1.2 * study.length[1]  # the price of the corrected t


# --------------------------------------------------------------------------------------------------
# What fails


def test_methods_that_fail_are_counted():
    def picky(counts):
        hits = int(counts.counts[..., 1, 1])
        if hits == 3:
            raise ArithmeticError("three is too many")
        if hits == 4:
            return np.nan, np.nan
        return credible_interval(counts, metric="recall", prior="jeffreys")

    study = coverage_study({"picky": picky, "jeffreys": "jeffreys"}, BinomialTruth(0.5), n=10)
    mass = stats.binom.pmf(np.arange(11), 10, 0.5)
    assert study.exact
    assert_allclose(study.failed, [mass[3] + mass[4], 0], atol=1e-12)
    # an interval that is not there does not hold the truth
    assert_allclose(study.coverage[1] - study.coverage[0], mass[3] + mass[4])
    assert set(study.failures) == {
        ("picky", "ArithmeticError: three is too many", 1),
        ("picky", "an end of the interval is NaN", 1),
    }


def test_a_method_that_always_fails_is_an_error():
    with pytest.raises(ValueError, match="method 'mine' failed on every sample: ZeroDivisionError"):
        coverage_study({"mine": lambda counts: 1 / 0}, BinomialTruth(0.5), n=4)
    with pytest.raises(ValueError, match=r"must return a pair \(low, high\)"):
        coverage_study({"mine": lambda counts: 0.5}, BinomialTruth(0.5), n=4)
    broken = EstimatorTruth(GaussianNB(), coin, cv=3, n_models=4)
    broken.estimator = Moody(var_smoothing="much")
    with pytest.raises(ValueError, match="the truth could not be measured"):
        coverage_study(["pooled"], broken, n=20, n_replications=4)


def test_a_worker_that_dies(tmp_path):
    flag = tmp_path / "killed"

    def mortal(counts):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
        return credible_interval(counts, metric="recall", prior="jeffreys")

    options = {"n": 30, "n_replications": 1000, "random_state": 0}
    with pytest.warns(RuntimeWarning, match=r"a worker was lost .*attempt 2 of 3"):
        found = coverage_study({"a": mortal}, BinomialTruth(0.8), n_jobs=2, **options)
    assert _same(found, coverage_study({"a": "jeffreys"}, BinomialTruth(0.8), **options))


# --------------------------------------------------------------------------------------------------
# Interruptions


def _interrupting(path, after):
    """Return a method that is interrupted, once, at its so-manyeth call."""
    calls = []

    def method(counts):
        calls.append(1)
        if len(calls) == after and path.exists():
            path.unlink()
            raise KeyboardInterrupt
        return credible_interval(counts, metric="recall", prior="jeffreys")

    return method, calls


def test_interrupted_studies_go_on(tmp_path):
    flag, file = tmp_path / "interrupt", tmp_path / "study.npz"
    flag.touch()
    truth, options = BinomialTruth(0.8), {"n": 30, "n_replications": 2000}
    method, calls = _interrupting(flag, 1 + 4 * 4)  # a chunk calls it four times: stack and checks
    with pytest.raises(KeyboardInterrupt):
        coverage_study({"a": method}, truth, checkpoint=file, **options)
    assert file.exists()
    before = len(calls)
    calls[:] = [0] * 100  # far from the call that interrupts
    study = coverage_study({"a": method}, truth, checkpoint=file, **options)  # the stored seed
    assert before == 17
    assert len(calls) - 100 == 4 * 4  # the other four of eight chunks
    whole = coverage_study({"a": "jeffreys"}, truth, random_state=study.seed, **options)
    assert _same(study, whole)
    done = len(calls)
    again = coverage_study({"a": method}, truth, checkpoint=file, **options)
    assert _same(again, study)
    assert len(calls) == done  # nothing left to do


def test_a_checkpoint_belongs_to_its_arguments(tmp_path):
    file = tmp_path / "study.npz"
    arguments = {"methods": {"a": "wilson"}, "truth": BinomialTruth(0.8), "n": 30}
    arguments |= {"n_replications": 300, "random_state": 1, "checkpoint": str(file)}
    coverage_study(**arguments)
    for name, value in {
        "methods": {"a": {"prior": 0.4}},
        "truth": BinomialTruth(0.81),
        "n": 31,
        "level": 0.9,
        "metric": "accuracy",
        "kind": "hdi",
        "random_state": 2,
        "n_replications": 301,
        "pos_label": 0,
    }.items():
        changed = arguments | {name: value}
        if name == "kind":
            changed["methods"] = {"a": {"prior": 0.4}}
        with pytest.raises(ValueError, match=f"belongs to another study: .*{name}.* differ"):
            coverage_study(**changed)
    coverage_study(**arguments)
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="is not the file of a coverage study"):
        coverage_study(**arguments | {"checkpoint": tmp_path / "other.npz"})
    (tmp_path / "torn.npz").write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="is not the file of a coverage study"):
        coverage_study(**arguments | {"checkpoint": tmp_path / "torn.npz"})


SCRIPT = """
import sys, time
from skuncertain import BinomialTruth, coverage_study, credible_interval

def slow(counts):
    time.sleep(0.04)
    return credible_interval(counts, metric="recall", prior="jeffreys")

if __name__ == "__main__":
    study = coverage_study({"a": slow}, BinomialTruth(0.8), n=30, n_replications=10_000,
                           random_state=0, n_jobs=2, checkpoint=sys.argv[1], verbose=1)
    print(repr(float(study.coverage[0])))
"""


@pytest.mark.slow
def test_ctrl_c_with_two_workers(tmp_path):
    script, file = tmp_path / "script.py", tmp_path / "study.npz"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(file)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    with np.load(file) as stored:
        finished = len(stored.files) - 1
    assert 0 < finished < 40
    second = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert f"coverage study: {finished} of 40 tasks" in second.stderr
    whole = coverage_study(
        ["jeffreys"], BinomialTruth(0.8), n=30, n_replications=10_000, random_state=0
    )
    assert float(second.stdout) == whole.coverage[0]


def test_progress(capsys):
    coverage_study(["wilson"], BinomialTruth(0.8), n=30, n_replications=600, random_state=0)
    assert capsys.readouterr() == ("", "")
    coverage_study(
        ["wilson"], BinomialTruth(0.8), n=30, n_replications=600, random_state=0, verbose=1
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert "coverage study: 3 of 3 tasks" in captured.err


# --------------------------------------------------------------------------------------------------
# The result


def test_result():
    study = coverage_study(
        ["jeffreys", "wilson"], BinomialTruth([0.3, 0.6]), n=20, n_replications=500, random_state=7
    )
    assert study.seed == 7
    again = pickle.loads(pickle.dumps(study))
    assert _same(study, again)
    plain = json.loads(json.dumps(study.to_dict()))
    assert plain["coverage"] == study.coverage.tolist()
    assert plain["points"] == {"p": [0.3, 0.6], "n": [20, 20]}
    assert plain["seed"] == 7
    with pytest.raises(AttributeError):
        study.level = 0.9
    frame = study.to_frame()
    assert len(frame) == 4
    assert_array_equal(frame["coverage"], study.coverage.ravel())
    assert list(frame["method"]) == ["jeffreys"] * 2 + ["wilson"] * 2
    assert "\n" not in repr(study)
    assert "500 replications" in repr(study)


def test_errors_of_simulated_figures(global_random_seed):
    # Twenty studies of the same point scatter as much as their errors say.
    studies = [
        coverage_study(
            ["jeffreys"],
            BinomialTruth(0.9),
            n=30,
            n_replications=400,
            random_state=100 * global_random_seed + k,
        )
        for k in range(40)
    ]
    exact = coverage_study(["jeffreys"], BinomialTruth(0.9), n=30)
    for name in ("coverage", "length"):
        values = np.array([getattr(s, name)[0] for s in studies])
        errors = np.array([getattr(s, f"{name}_error")[0] for s in studies])
        score = (values - getattr(exact, name)[0]) / errors
        # sum of squares: chi-squared with 40 degrees of freedom, once in a hundred thousand
        assert np.sum(score**2) < stats.chi2.ppf(1 - 1e-5, 40)
        assert np.sum(score**2) > stats.chi2.ppf(1e-5, 40)


def test_plot():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    exact = coverage_study(["jeffreys", "wilson"], BinomialTruth(GRID), n=30)
    display = exact.plot(name="thirty rows")
    assert isinstance(display, CoverageDisplay)
    assert_array_equal(display.lines_[0].get_ydata(), exact.coverage[0])
    assert display.error is None
    assert display.ax_.get_title() == "thirty rows"
    sizes = coverage_study(
        ["wilson"], BinomialTruth(0.9), n=[10, 50], n_replications=200, random_state=0
    ).plot()
    assert_array_equal(sizes.x, [10, 50])
    assert len(sizes.errors_) == 1
    surface = coverage_study(
        ["neutral"],
        MultinomialTruth.from_rates(precision=[[0.5], [0.9]], recall=[0.5, 0.9]),
        metric="f1",
        n=20,
    )
    with pytest.raises(ValueError, match="differ in precision and recall"):
        surface.plot()
    pyplot.close("all")


# --------------------------------------------------------------------------------------------------
# Bad input


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"truth": 0.5}, TypeError, r"truth must be a BinomialTruth.*BinomialTruth\(p\)"),
        ({"n": 0}, ValueError, "n must be at least 1, got 0"),
        ({"n": 2.5}, TypeError, "n must be a number of rows"),
        ({"level": 95}, ValueError, "Did you mean 0.95"),
        ({"kind": "central"}, ValueError, "kind must be one of"),
        ({"n_replications": 1}, ValueError, "n_replications must be an integer >= 2"),
        ({"n_replications": 10.0}, TypeError, "n_replications must be an integer"),
        ({"verbose": -1}, ValueError, "verbose must be an integer >= 0"),
        ({"metric": "f1"}, ValueError, "BinomialTruth needs a metric that is a proportion"),
        ({"metric": "acuracy"}, ValueError, "accuracy"),
        ({"pos_label": 7}, ValueError, "pos_label 7 is not one of the labels"),
        ({"random_state": "x"}, TypeError, "random_state must be"),
        ({"checkpoint": "study.txt"}, ValueError, "must be the name of an .npz file"),
        ({"checkpoint": "no/such/place/a.npz"}, ValueError, "directory that exists"),
        ({"methods": []}, ValueError, "at least one method"),
        ({"methods": ["wilsn"]}, ValueError, "Did you mean 'wilson'"),
        ({"methods": ["pooled"]}, ValueError, "'pooled' needs folds: use EstimatorTruth"),
        ({"methods": ["wilson", "wilson"]}, ValueError, "distinct"),
        ({"methods": lambda counts: (0, 1)}, TypeError, "must be a list of names or a dict"),
        ({"methods": {"a": 3}}, TypeError, "must be a name, a dict of options or a function"),
        ({"methods": {"a": {"priors": 1}}}, ValueError, "unknown option 'priors'.*'prior'"),
        ({"methods": {"a": {"level": 0.9}}}, ValueError, "argument of the whole study"),
        (
            {"methods": {"a": {"prior": "jefreys"}}},
            ValueError,
            "method 'a' does not work.*jeffreys",
        ),
        ({"methods": {"a": {"thin": 3}}}, ValueError, "need rows in an order. Use MarkovTruth"),
        ({"kind": "hdi", "methods": ["wilson"]}, ValueError, "none of the methods is one"),
    ],
)
def test_bad_arguments(change, error, match):
    arguments = {"methods": ["jeffreys"], "truth": BinomialTruth([0.5]), "n": 10} | change
    with pytest.raises(error, match=match):
        coverage_study(**arguments)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: BinomialTruth(1.2), ValueError, r"p must be in \[0, 1\], got 1.2"),
        (lambda: BinomialTruth("a"), TypeError, r"p must be in \[0, 1\], got 'a'"),
        (lambda: BinomialTruth([]), TypeError, "p must be in"),
        (lambda: BinomialTruth(np.nan), ValueError, "p must be in"),
        (lambda: MultinomialTruth([[5, 1], [1, 3]]), ValueError, "Divide counts by their sum"),
        (lambda: MultinomialTruth([[1.1, -0.1], [0, 0]]), ValueError, "a negative or missing one"),
        (lambda: MultinomialTruth([0.5, 0.5]), ValueError, r"shape \(..., C, C\)"),
        (
            lambda: MultinomialTruth.from_rates(precision=0.0, recall=0.5),
            ValueError,
            "precision must be above 0",
        ),
        (
            lambda: MarkovTruth(recall=0.5, specificity=0.5, hit_correlation=1.0),
            ValueError,
            "hit_correlation must be below 1",
        ),
        (lambda: EstimatorTruth(GaussianNB(), 3), TypeError, "use SubsampleTruth"),
        (lambda: EstimatorTruth(3, coin), TypeError, "estimator must be a scikit-learn"),
        (lambda: EstimatorTruth(GaussianNB(), coin, estimand="x"), ValueError, "estimand must be"),
        (
            lambda: EstimatorTruth(GaussianNB(), lambda n_samples, random_state: coin(5, 0)),
            ValueError,
            "must return n_samples=1000 rows, got 5",
        ),
        (
            lambda: SubsampleTruth(GaussianNB(), np.ones((4, 1)), [0, 1]),
            ValueError,
            "same number of rows, got 4 and 2",
        ),
        (lambda: SubsampleTruth(GaussianNB(), np.ones((2, 1)), [1, 1]), ValueError, "two classes"),
    ],
)
def test_bad_truths(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_truths_have_short_reprs():
    for truth in (
        BinomialTruth(GRID),
        MultinomialTruth([[0.5, 0.1], [0.1, 0.3]]),
        MarkovTruth(recall=0.8, specificity=0.9, hit_correlation=[0.1, 0.2]),
        EstimatorTruth(GaussianNB(), coin),
        SubsampleTruth(GaussianNB(), np.zeros((4, 1)), [0, 1, 0, 1]),
    ):
        text = repr(truth)
        assert text.startswith(type(truth).__name__ + "(")
        assert "\n" not in text
        assert len(text) < 150
