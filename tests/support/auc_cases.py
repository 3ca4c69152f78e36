"""Data and helpers of the tests of areas."""

import warnings

import numpy as np
from scipy import stats
from sklearn.datasets import make_classification

from skuncertain.exceptions import DegenerateIntervalWarning

METHODS = ["logit_delong", "bayesian_bootstrap", "delong"]
Z = stats.norm.ppf(0.975)


def sample(seed, m1=30, m0=40, shift=1.0, digits=None):
    """Labels 0 and 1 in random order, with scores; fewer digits make ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [m1, m0]))
    score = shift * y + rng.normal(size=y.size)
    return y, score if digits is None else score.round(digits)


def curve_data():
    """Rows and labels of two classes that are hard to tell apart."""
    return make_classification(160, n_features=6, flip_y=0.25, weights=[0.6], random_state=3)


def pairs(y, score):
    """Kernel of all pairs of a positive and a negative row: 1, 1/2 or 0."""
    y, score = np.asarray(y).astype(bool), np.asarray(score, dtype=float)
    gap = score[y][:, None] - score[~y][None, :]
    return 0.5 * (np.sign(gap) + 1)


def delong_covariance(y, one, two):
    """DeLong, DeLong and Clarke-Pearson (1988), over all pairs."""
    a, b = pairs(y, one), pairs(y, two)
    m1, m0 = a.shape
    of_positives = np.cov(a.mean(axis=1), b.mean(axis=1))[0, 1] / m1
    return of_positives + np.cov(a.mean(axis=0), b.mean(axis=0))[0, 1] / m0


def bootstrap(y, score, size, rng):
    """Areas with Dirichlet weights on the rows of both classes, by all pairs."""
    kernel = pairs(y, score)
    one, two = (rng.dirichlet(np.ones(m), size) for m in kernel.shape)
    return np.einsum("di,ij,dj->d", one, kernel, two, optimize=True)


def perfect_low(m):
    """Lower end for a ranking without error, with m rows in the smaller class."""
    return stats.beta(m + 0.5, 0.5).ppf(0.025)


def ends(posterior, *args, **kwargs):
    """Interval of any posterior, also where a normal one leaves its range."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateIntervalWarning)
        return np.array(posterior.interval(*args, **kwargs))


def three_classes(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3]))
    raw = np.exp(1.2 * np.eye(3)[y] + rng.normal(size=(n, 3))).round(2)
    return y, raw / raw.sum(axis=1, keepdims=True)


def influence(y, score):
    """What every row adds to the error of the area: squares add up to DeLong's variance."""
    y, kernel = np.asarray(y).astype(bool), pairs(y, score)
    m1, m0 = kernel.shape
    found = np.empty(y.size)
    found[y] = (kernel.mean(axis=1) - kernel.mean()) / np.sqrt(m1 * (m1 - 1))
    found[~y] = (kernel.mean(axis=0) - kernel.mean()) / np.sqrt(m0 * (m0 - 1))
    return found
