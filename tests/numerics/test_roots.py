"""Quantiles as roots of a distribution function."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr, ndtri

from skuncertain import ConfusionCounts
from skuncertain._numerics.roots import invert_cdf
from skuncertain.posteriors import _integral


def counted(cdf):
    calls = []

    def counting(e, rows):
        calls.append(e.size)
        return cdf(e, rows)

    return counting, calls


def test_normal_quantiles():
    p = np.array([1e-9, 0.025, 0.5, 0.9, 1 - 1e-9])
    cdf, calls = counted(lambda e, rows: ndtr((e - 3) / 2))
    found = invert_cdf(cdf, p, np.zeros(5), np.ones(5))
    np.testing.assert_allclose(found, 3 + 2 * ndtri(p), atol=1e-9)
    assert len(calls) <= 10


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-14])
def test_stairs_next_to_one(spread):
    """1 - X = spread · U³ on the logit scale, where a double next to 1 has many logits."""
    p = np.array([0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.999, 0.999999])
    below_one = np.nextafter(1, 0)

    def cdf(e, rows):
        x = np.clip(expit(e), 1e-300, below_one)
        return 1 - np.cbrt(np.clip((1 - x) / spread, 0, 1))

    def same(low, high):
        low, high = (np.clip(expit(e), 1e-300, below_one) for e in (low, high))
        return high - low <= 2 * np.spacing(high)

    exact = 1 - spread * (1 - p) ** 3
    start = np.full(p.shape, logit(1 - spread / 8))
    counting, calls = counted(cdf)
    found = expit(invert_cdf(counting, p, start, np.ones(p.shape), same=same))
    np.testing.assert_allclose(found, exact, rtol=0, atol=4 * np.spacing(below_one))
    assert len(calls) <= 40
    plainly, calls = counted(cdf)  # the same doubles, in more steps
    slow = expit(invert_cdf(plainly, p, start, np.ones(p.shape)))
    np.testing.assert_allclose(found, slow, rtol=0, atol=4 * np.spacing(below_one))


@pytest.mark.parametrize("prevalence", [1e-9, 0.1, 0.5])
def test_shortest_intervals_next_to_one_take_few_steps(monkeypatch, prevalence):
    """Without false negatives nearly all of the distribution of npv is next to 1."""
    calls = []

    def counting(cdf, *args, **options):
        def one(*places):
            calls.append(places)
            return cdf(*places)

        return invert_cdf(one, *args, **options)

    monkeypatch.setattr(_integral, "invert_cdf", counting)
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    posterior = counts.posterior("npv", prevalence=prevalence)
    low, high = posterior.interval(0.95, "hdi")
    assert high == 1
    assert posterior.prob(low, high) == pytest.approx(0.95, abs=1e-6)
    assert len(calls) <= 1500
