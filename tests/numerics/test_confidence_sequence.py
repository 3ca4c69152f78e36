"""The closed form of Robbins' sequence against mpmath, its edges, and what the proofs rest on."""

import mpmath
import numpy as np
import pytest

from skuncertain._numerics.confidence_sequence import confidence_sequence, log_wealth_at_best


def _log_wealth(p, s, f):
    """Log wealth by its definition, with fifty digits; p is a number of mpmath."""
    half = mpmath.mpf("0.5")
    grown = mpmath.loggamma(s + half) + mpmath.loggamma(f + half) - mpmath.loggamma(s + f + 1)
    return grown - mpmath.log(mpmath.pi) - s * mpmath.log(p) - f * mpmath.log(1 - p)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001, 1e-12])
@pytest.mark.parametrize(
    ("s", "f"),
    [
        *((1, 1), (3, 7), (90, 10), (999, 1), (1, 10**6), (500_000, 3)),
        *((10**9 - 5, 5), (4 * 10**8, 6), (6 * 10**8, 4 * 10**8), (10**12, 10**12)),
    ],
)
def test_ends_against_mpmath(s, f, alpha):
    low, high = confidence_sequence(s, f, alpha)
    with mpmath.workdps(50):
        best = mpmath.mpf(s) / (s + f)

        def beyond(logit):
            return _log_wealth(1 / (1 + mpmath.exp(-logit)), s, f) + mpmath.log(alpha)

        centre = mpmath.log(mpmath.mpf(s) / f)
        step = mpmath.sqrt(mpmath.mpf(s + f) / s / f)
        ends = []
        for side in (-1, 1):
            far = step
            while beyond(centre + side * far) < 0:
                far *= 2
            root = mpmath.findroot(beyond, (centre, centre + side * far), solver="anderson")
            ends.append(1 / (1 + mpmath.exp(-root)))
        # What matters is the distance from the observed rate, however many rows there are.
        for found, wanted in zip((low, high), ends, strict=True):
            error = abs(mpmath.mpf(float(found)) - wanted)
            assert error <= 1e-9 * abs(wanted - best) + 2.3e-16 * wanted


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 10**9])
def test_without_a_hit_or_a_miss(n):
    low, high = confidence_sequence([0, n], [n, 0], 0.05)
    with mpmath.workdps(50):
        grown = mpmath.log(20) - _log_wealth(mpmath.mpf("1e-60"), 0, n)
        wanted = -mpmath.expm1(-grown / n)
    assert (low[0], high[1]) == (0, 1)
    assert float(abs(high[0] - wanted) / wanted) < 1e-13
    assert low[1] == pytest.approx(1 - high[0], abs=1e-15)


def test_nothing_seen():
    assert [float(end) for end in confidence_sequence(0, 0, 0.05)] == [0.0, 1.0]


def test_shapes_and_levels():
    low, high = confidence_sequence(np.arange(6).reshape(2, 3), 4, [[0.1], [0.01]])
    assert low.shape == high.shape == (2, 3)
    one = confidence_sequence(4, 4, 0.01)
    assert (low[1, 1], high[1, 1]) == (one[0], one[1])


def test_the_wealth_is_a_martingale():
    # After a hit with probability p, and a miss otherwise, it is on average what it was.
    s, f = (part.ravel() for part in np.meshgrid(np.arange(40), np.arange(40)))
    for p in (0.01, 0.3, 0.5, 0.98):

        def wealth(s, f, p=p):
            with np.errstate(divide="ignore", invalid="ignore"):
                best = np.where(s > 0, s * np.log(s / (s + f) / p), 0.0)
                best += np.where(f > 0, f * np.log(f / (s + f) / (1 - p)), 0.0)
            return np.exp(log_wealth_at_best(s, f) + best)

        then = p * wealth(s + 1, f) + (1 - p) * wealth(s, f + 1)
        np.testing.assert_allclose(then, wealth(s, f), rtol=1e-11)
    assert np.all(log_wealth_at_best(s, f) <= 1e-15)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
def test_ends_rise_with_the_hits(alpha):
    # An alarm rests on it: a rate that is higher now and then makes no alarm more likely.
    n = np.arange(1, 401)
    hits = np.concatenate([np.arange(k + 1) for k in n])
    n = np.repeat(n, n + 1)
    low, high = confidence_sequence(hits, n - hits, alpha)
    assert np.all((low <= hits / n) & (hits / n <= high))
    np.testing.assert_allclose(low, 1 - confidence_sequence(n - hits, hits, alpha)[1], atol=1e-14)
    same = np.diff(n) == 0
    assert np.all(np.diff(low)[same] > 0)
    assert np.all(np.diff(high)[same] > 0)
