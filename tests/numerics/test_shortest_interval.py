"""Shortest intervals of posteriors that are integrals."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.stats import norm

from skuncertain import ConfusionCounts
from skuncertain._numerics.shortest_interval import shortest_of_quantiles

PAIRS = [
    "balanced_accuracy",
    "informedness",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "diagnostic_odds_ratio",
    "g_mean",
    "markedness",
    "prevalence_threshold",
    "g_score",
    "f2",
]
# A class with hardly any row beside a huge one, empty classes, perfect classifiers
TABLES = [
    (0, 1, 0, 10**5),
    (1, 0, 0, 10**5),
    (0, 1, 1, 10**5),
    (10**5, 0, 1, 0),
    (0, 2, 0, 10**9),
    (0, 0, 5, 10**5),
    (0, 0, 0, 5),
    (5, 0, 0, 5),
    (2, 1, 0, 100),
]


def posterior_of(table, metric, prior="auto"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ConfusionCounts.from_binary(
            **dict(zip(("tp", "fn", "fp", "tn"), table, strict=True))
        ).posterior(metric, prior=prior)


def check_shortest(posterior, low, high, level):
    """No equal-tailed or other interval is shorter, the mass is right, no end is in the void."""
    tails = (1 - level) * np.concatenate([[0, 1e-7, 1e-4], np.linspace(0.02, 0.98, 9), [1 - 1e-7]])
    below, above = posterior.quantile(tails), posterior.quantile(tails + level)
    narrowest = np.min(above - below)
    assert high - low <= narrowest * (1 + 1e-5)
    assert high - low <= np.diff(posterior.quantile([(1 - level) / 2, (1 + level) / 2])) * (
        1 + 1e-8
    )
    assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(level, abs=1e-7)
    step = 0.01 * (high - low)
    assert posterior.cdf(low + step) > 0
    assert posterior.cdf(high - step) < 1


def test_a_rare_class_beside_a_huge_one():
    posterior = posterior_of((0, 1, 0, 10**5), "balanced_accuracy")
    low, high = posterior.interval(kind="hdi")
    # Specificity is 1 to five digits, recall Beta(1/3, 4/3): half of its 95 % quantile above 1/2
    assert 0.4999 < low < 0.5
    assert high == pytest.approx(0.87425, abs=1e-4)
    draws = np.sort(posterior.sample(200_000, 0))
    inside = np.searchsorted(draws, [low, high])
    assert np.diff(inside)[0] / draws.size == pytest.approx(0.95, abs=0.0025)


@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize("prior", ["auto", 0.5, 1.0])
def test_highest_density_intervals_are_the_shortest(metric, prior):
    for table, level in zip(TABLES, itertools.cycle([0.95, 0.5, 0.8]), strict=False):
        posterior = posterior_of(table, metric, prior)
        assert posterior.exact
        check_shortest(posterior, *map(float, posterior._hdi(level)), level)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "positive_likelihood_ratio"])
def test_stacks_have_the_intervals_of_their_members(metric):
    tables = np.array(TABLES).reshape(-1, 2, 2)[:, ::-1, ::-1]  # rows: true negative, true positive
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack = ConfusionCounts(tables).posterior(metric).interval(0.9, "hdi")
    single = np.array([posterior_of(table, metric).interval(0.9, "hdi") for table in TABLES]).T
    np.testing.assert_allclose(stack.width, single[1] - single[0], rtol=1e-7)


def test_several_peaks():
    # Two normal peaks with weights 1/4 and 3/4
    weights, centres, scales = np.array([0.25, 0.75]), np.array([-10.0, 10.0]), np.array([0.1, 1.0])
    grid = np.sort(np.concatenate([np.linspace(-12, -8, 40001), np.linspace(2, 18, 40001)]))
    below = norm.cdf((grid[:, None] - centres) / scales) @ weights

    def log_density(x, rows):
        return np.log(norm.pdf((x[:, None] - centres) / scales) @ (weights / scales))

    for level, truth in ((0.2, -10.0), (0.7, 10.0)):
        low, high = shortest_of_quantiles(
            lambda p, rows: np.interp(p, below, grid), log_density, level, 1
        )
        assert abs(0.5 * (low + high) - truth) < 0.05
