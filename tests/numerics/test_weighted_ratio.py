"""Ratio of two sums with the same gamma weights."""

import mpmath
import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from skuncertain._numerics.weighted_ratio import WeightedRatio
from skuncertain.posteriors._integral import IntegralPosterior

P = np.array([1e-6, 0.001, 0.025, 0.3, 0.45, 0.5, 0.55, 0.9, 0.975, 0.999])


@pytest.mark.parametrize("a", [0.4, 1, 3.3, 100, 1e5])
@pytest.mark.parametrize("b", [0.33, 2 / 3, 1, 3.3, 40, 1e5])
@pytest.mark.parametrize("unit", [1.0, 7.0])
def test_two_pure_terms_are_a_beta(a, b, unit):
    ratio = WeightedRatio(unit * np.array([1.0, 0]), unit * np.array([0.0, 1]), np.array([a, b]))
    exact = scipy.stats.beta(a, b)
    x = exact.ppf(P)
    x = x[(x > 1e-9) & (x < 1 - 1e-9)]
    below = np.where(x < 0.5, exact.cdf(x), scipy.stats.beta(b, a).sf(1 - x))
    assert_allclose(ratio.cdf(x, None), below, rtol=1e-6, atol=1e-9)
    assert_allclose(ratio.density(x, None), exact.pdf(x), rtol=1e-6)
    mean, variance = ratio.moments()
    assert_allclose(mean, exact.mean(), rtol=1e-10)
    assert_allclose(variance, exact.var(), rtol=1e-9)


def _by_partial_fractions(x, y, t):
    """P(ratio <= t) of exponential weights: a sum of exponentials has a sum of exponentials."""
    a = [
        mpmath.mpf(u) * (1 - mpmath.mpf(t)) - mpmath.mpf(v) * mpmath.mpf(t)
        for u, v in zip(x, y, strict=True)
    ]
    above = mpmath.mpf(0)
    for j, one in enumerate(a):
        if one > 0:
            above += mpmath.fprod(one / (one - other) for k, other in enumerate(a) if k != j)
    return float(1 - above)


@pytest.mark.parametrize("size", [3, 8, 30])
def test_exponential_weights_have_a_closed_form(size):
    rng = np.random.default_rng(size)
    x, y = rng.uniform(0, 20, size), rng.uniform(0, 3, size)  # no two terms alike
    ratio = WeightedRatio(x, y, np.ones(size))
    points = IntegralPosterior(ratio, ()).quantile(P)
    with mpmath.workdps(80):
        expected = [_by_partial_fractions(x, y, float(t)) for t in points]
    assert_allclose(ratio.cdf(points, None), expected, atol=1e-9)
    assert_allclose(expected, P, atol=1e-8)


def test_density_is_the_slope_of_the_cdf():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 12) * 1.0, rng.integers(0, 3, 12) * 1.0
    ratio = WeightedRatio(
        np.append(x, [4, 0]), np.append(y, [0, 4]), np.append(np.ones(12), [0.3, 0.3])
    )
    t, h = np.linspace(0.3, 0.97, 9), 1e-5
    slope = (ratio.cdf(t + h, None) - ratio.cdf(t - h, None)) / (2 * h)
    assert_allclose(ratio.density(t, None), slope, rtol=1e-4)


def test_outside_of_the_ratios_that_occur():
    ratio = WeightedRatio(np.array([1.0, 3.0]), np.array([1.0, 1.0]), np.ones(2))
    assert_allclose(ratio.cdf(np.array([0.1, 0.5, 0.75, 0.9]), None), [0, 0, 1, 1], atol=1e-12)
    assert_allclose(ratio.density(np.array([0.1, 0.9]), None), 0)


def test_draws_are_of_the_same_distribution(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    ratio = WeightedRatio(np.array([3.0, 1, 0]), np.array([0.0, 1, 2]), np.array([5, 2.5, 0.7]))
    below = ratio.cdf(ratio.sample(rng, 4000)[:, 0], None)
    assert scipy.stats.kstest(below, "uniform").pvalue > 1e-4
