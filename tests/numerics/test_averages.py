"""Cumulants of averages over classes, against mpmath, closed forms and draws."""

import mpmath
import numpy as np
import pytest

from skuncertain._numerics.averages import (
    beta_cumulants,
    f1_cumulants,
    gauss_beta,
    match_beta,
    root_product_cumulants,
    two_beta_cumulants,
)

SHAPES = [(0.01, 0.01), (0.01, 5.0), (5.0, 0.01), (3.0, 2.0), (200.0, 7.0), (9000.0, 0.5)]
HUGE = [(1e9, 1e8), (1e8, 1e9), (1e9, 0.5), (0.01, 1e9), (3e4, 2e4), (2e4, 30.0)]


def _f1_of_mpmath(a, b):
    with mpmath.workdps(60):
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        first, second, third = (
            mpmath.rf(a, k)
            / mpmath.rf(a + b, k)
            * mpmath.hyp2f1(k, b, a + b + k, mpmath.mpf(1) / 2)
            for k in (1, 2, 3)
        )
        found = first, second - first**2, third - 3 * first * second + 2 * first**3
        return [float(x) for x in found]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_cumulants_of_f1(a, b):
    found = f1_cumulants(np.array([a]), np.array([b]))
    for value, truth, error in zip(found, _f1_of_mpmath(a, b), (1e-13, 1e-11, 1e-7), strict=True):
        assert value[0] == pytest.approx(truth, rel=error, abs=1e-15)


@pytest.mark.parametrize(("a", "b"), HUGE)
def test_cumulants_of_f1_at_huge_shapes(a, b):
    found = f1_cumulants(np.array([a]), np.array([b]))
    for value, truth, error in zip(found, _f1_of_mpmath(a, b), (1e-8, 1e-6, 1e-3), strict=True):
        assert value[0] == pytest.approx(truth, rel=error)


def test_cumulants_of_a_beta():
    a, b = np.array([2.5, 1e9, 0.01]), np.array([7.0, 3e8, 1e9])
    with mpmath.workdps(60):
        for k in range(3):
            p, q = mpmath.mpf(a[k]), mpmath.mpf(b[k])
            raw = [mpmath.rf(p, j) / mpmath.rf(p + q, j) for j in (1, 2, 3)]
            truth = raw[0], raw[1] - raw[0] ** 2, raw[2] - 3 * raw[0] * raw[1] + 2 * raw[0] ** 3
            for value, exact in zip(beta_cumulants(a, b), truth, strict=True):
                assert value[k] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.7), (0.5, 0.5), (1.0, 1.0), (2.0, 5.0), (1e9, 1e8)])
def test_gauss_rule_has_the_moments_of_the_beta(a, b):
    x, weight = gauss_beta(np.array([a]), np.array([b]))
    assert weight.sum() == pytest.approx(1, rel=1e-13)
    mean, variance, third = beta_cumulants(a, b)
    away = x - mean
    assert (weight * x).sum() == pytest.approx(mean, rel=1e-13)
    assert (weight * away**2).sum() == pytest.approx(variance, rel=1e-9)
    assert (weight * away**3).sum() == pytest.approx(third, rel=1e-4, abs=1e-15 * variance)


def test_two_betas_agree_with_closed_forms():
    u, v = (np.array([6.0]), np.array([3.0])), (np.array([4.0]), np.array([2.5]))
    exact = root_product_cumulants(u, v)
    found = two_beta_cumulants(lambda x, y: np.sqrt(x * y), u, v)
    for value, truth in zip(found, exact, strict=True):
        assert value[0] == pytest.approx(truth[0], rel=1e-4)
    product = two_beta_cumulants(lambda x, y: x * y, u, v)
    assert product[0][0] == pytest.approx(6 / 9 * 4 / 6.5, rel=1e-12)


@pytest.mark.parametrize("skew", [-1.5, -0.7, -0.2, 0.0, 0.4, 1.1])
@pytest.mark.parametrize("mean", [0.2, 0.5, 0.85])
def test_matched_beta_has_the_three_cumulants(mean, skew):
    sd = 0.06
    low, high, a, b = match_beta(mean, sd**2, skew * sd**3, 0.0, 1.0)
    assert 0 <= low < high <= 1
    first, variance, third = beta_cumulants(a, b)
    span = high - low
    assert low + span * first == pytest.approx(mean, rel=1e-12)
    assert span**2 * variance == pytest.approx(sd**2, rel=1e-10)
    assert span**3 * third == pytest.approx(skew * sd**3, rel=1e-8, abs=1e-18)


def test_impossible_skewness_still_gives_a_beta():
    low, high, a, b = match_beta(0.5, 0.04, -10 * 0.2**3, 0.0, 1.0)
    assert low == 0
    assert 0.5 < high <= 1
    assert a > 0
    assert b > 0
    span = high - low
    assert low + span * a / (a + b) == pytest.approx(0.5)
    assert span**2 * beta_cumulants(a, b)[1] == pytest.approx(0.04)
