"""Do intervals from K folds hold the truth? Learners on simulated data, defaults only.

The truth is what `fold_posterior` says its interval is about: the expected value of the metric
when the algorithm learns from n (K - 1) / K rows with the class counts of the sample.
"""

import functools

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Perceptron
from sklearn.tree import DecisionTreeClassifier

from skuncertain.exceptions import FoldDisagreementWarning
from skuncertain.metrics import get_metric
from skuncertain.model_selection import fold_interval, fold_posterior

pytestmark = pytest.mark.slow

METRICS = ("precision", "recall", "f1")
LEARNERS = {
    "linear": lambda seed: LinearDiscriminantAnalysis(),
    "tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
    # Unstable: a few passes over rows in random order, and the last ones have the last word.
    "perceptron": lambda seed: Perceptron(max_iter=5, tol=None, random_state=seed),
}
K = 5
NEGATIVE, POSITIVE = 48, 12  # rows of a fold: n = 300, a fifth of them positive
N_FEATURES, SHIFT = 7, 0.7  # two normal clouds, SHIFT apart in every feature
REPLICATIONS = 500
# Training sets behind the truth, each tested on 50 folds' worth of fresh rows. The standard error
# of the truth is 0.001 to 0.002 (linear, tree), 0.003 to 0.006 (perceptron); intervals are about
# 0.3 wide and wider.
TRAINING_SETS = 1000
TEST_FOLDS = 50


def _rows(rng, n_folds):
    """Rows of some folds, with their class counts: features and classes of shape (folds, ...)."""
    y = np.repeat([0, 1], [NEGATIVE, POSITIVE])
    X = rng.standard_normal((n_folds, y.size, N_FEATURES)) + SHIFT * y[:, None]
    return X, np.tile(y, (n_folds, 1))


def _matrix(rng, learner, train, test):
    """Confusion matrix on some folds of the learner trained on others."""
    (X_train, y_train), (X_test, y_test) = train, test
    model = LEARNERS[learner](int(rng.integers(2**31)))
    model.fit(X_train.reshape(-1, N_FEATURES), y_train.ravel())
    predicted = model.predict(X_test.reshape(-1, N_FEATURES))
    return np.bincount(2 * y_test.ravel() + predicted, minlength=4).reshape(2, 2)


@functools.cache
def _study(learner, seed):
    """Expected metrics, and fold matrices of independent samples, shape (replications, K, 2, 2)."""
    rng = np.random.default_rng([seed, list(LEARNERS).index(learner)])
    models = np.array(
        [
            _matrix(rng, learner, _rows(rng, K - 1), _rows(rng, TEST_FOLDS))
            for _ in range(TRAINING_SETS)
        ]
    )
    # The mean of every model's own value. Precision and F1 of the summed matrices, which pooled
    # folds estimate, differ from it by 0.02 to 0.03 for the perceptron, less for the others.
    truth = {}
    for name in METRICS:
        # One perceptron of a thousand finds no positive at all. It has no precision; its F1 is 0.
        defined = models[:, :, 1].sum(axis=1) > 0 if name == "precision" else slice(None)
        truth[name] = np.mean(get_metric(name)(models[defined]))
    counts = np.empty((REPLICATIONS, K, 2, 2), dtype=int)
    for folds in counts:
        X, y = _rows(rng, K)  # independent rows: any stratified split is as good as a random one
        for k in range(K):
            rest = np.arange(K) != k
            folds[k] = _matrix(rng, learner, (X[rest], y[rest]), (X[k], y[k]))
    return truth, counts


def _covered(counts, metric, truth, **options):
    low, high = fold_interval(counts, metric, **options)
    return (low <= truth) & (truth <= high)


# Folds of 500 samples: some disagree, with the perceptron many.
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
@pytest.mark.parametrize("learner", LEARNERS)
def test_coverage(learner, global_random_seed):
    truth, counts = _study(learner, global_random_seed)
    for name in METRICS:
        covered = _covered(counts, name, truth[name], omega="auto").mean()
        # less two Monte Carlo standard errors
        assert covered >= 0.945 - 2 * np.sqrt(0.945 * 0.055 / REPLICATIONS), name


# The same folds as above.
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_fixed_weight_fails_where_the_learner_is_unstable(global_random_seed):
    truth, counts = _study("perceptron", global_random_seed)
    auto = _covered(counts, "recall", truth["recall"], omega="auto")
    fixed = _covered(counts, "recall", truth["recall"], omega="wang_li")
    assert auto.mean() - fixed.mean() >= 0.05
    gained, lost = np.sum(auto & ~fixed), np.sum(fixed & ~auto)
    assert binomtest(gained, gained + lost, alternative="greater").pvalue < 0.01  # McNemar


def test_unstable_learner_is_reported(global_random_seed):
    _, counts = _study("perceptron", global_random_seed)
    with pytest.warns(FoldDisagreementWarning, match="recall"):
        p_value = fold_posterior(counts, "recall").diagnostics.p_value
    assert np.mean(p_value < 0.01) > 0.15  # three samples of ten, where chance makes it one of 100
    with pytest.warns(FoldDisagreementWarning, match="recall"):
        fold_interval(counts[np.argmin(p_value)], "recall")
    fold_interval(counts[np.argmax(p_value)], "recall")  # no warning, or it would be an error


# In 10,000 problems a few p-values are tiny.
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("n_folds", [5, 10])
def test_equal_folds_are_rarely_reported(n_folds, stratified, global_random_seed):
    problems = 10_000
    rows, share = NEGATIVE + POSITIVE, POSITIVE / (NEGATIVE + POSITIVE)
    rng = np.random.default_rng(global_random_seed)
    positive = rng.binomial(rows, share, size=(problems, n_folds))
    if stratified:
        positive[:] = POSITIVE
    true = np.stack([rows - positive, positive], axis=-1)
    predicted = rng.binomial(true, [0.1, 0.6])  # predicted positives of either class
    counts = np.stack([true - predicted, predicted], axis=-1)
    for name in METRICS:
        p_value = fold_posterior(counts, name).diagnostics.p_value
        assert np.mean(p_value < 0.01) <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / problems), name
