"""Shrinkage of many means, against sums over a fine grid and limits that are known."""

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

from skuncertain._numerics.best_of_many import shrink_betas, shrink_draws
from skuncertain._numerics.shrinkage import shrink_means, shrink_models

CASES = {
    "close": ([0.80, 0.81, 0.79, 0.805, 0.78], 0.01**2),
    "one far below": ([0.80, 0.81, 0.79, 0.65, 0.805, 0.802], 0.01**2),
    "own noise": ([3.0, 2.0, 2.5, 1.0], np.array([0.1, 1.0, 0.5, 0.2])),
    "equal": ([0.5] * 7, 0.02**2),
}


def by_sums(mean, noise):
    """P(equal), means and variances: every population on a fine grid of true values."""
    mean, noise = np.asarray(mean), np.broadcast_to(noise, len(mean))
    unit = np.sqrt(noise.mean())
    z, s = (mean - mean.max()) / unit, np.sqrt(noise) / unit
    lowest = min(z.min(), -1.0)
    values = np.linspace(lowest - 60, 60, 240_001)
    step = values[1] - values[0]
    likelihood = np.array([stats.norm.pdf(a, values, b) for a, b in zip(z, s, strict=True)])
    centres = lowest + 0.5 * np.arange(int((1.25 - lowest) / 0.5) + 1)
    centres = centres[centres < 1.25]
    p_same = 1 / 3 * (1 - 3 / len(mean))
    same = sum(np.prod(stats.norm.pdf(z, c, s)) for c in centres) * p_same / centres.size
    total, first, second = 0.0, 0.0, 0.0
    for c in centres:
        flat = stats.uniform.pdf(values, lowest - 1, c - lowest + 1)
        for spread, below in product((0.25, 0.5, 1, 2, 4), (0, 0.5, 0.8)):
            normal = stats.norm.pdf(values, c, spread)
            prior = np.sqrt(spread) / np.sqrt((0.25, 0.5, 1, 2, 4)).sum()
            prior *= 0.2 if below else 0.6
            joint = likelihood * ((1 - below) * normal + below * flat) * step
            marginal = joint.sum(axis=1)
            evidence = np.prod(marginal) * (1 - p_same) * prior / centres.size
            total += evidence
            first = first + evidence * (joint @ values) / marginal
            second = second + evidence * (joint @ values**2) / marginal
    first, second = first / total, second / total
    shrunk = mean.max() + unit * first
    return same / (same + total), shrunk, unit**2 * (second - first**2)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_against_sums_over_a_fine_grid(case):
    mean, noise = CASES[case]
    found = shrink_means(np.array(mean), noise)
    p_equal, shrunk, variance = by_sums(mean, noise)
    # The grid has a step of 5e-4 units of the noise, and the flat part jumps at its ends.
    unit = np.sqrt(np.mean(noise))
    assert found.p_equal == pytest.approx(p_equal, abs=1e-3)
    np.testing.assert_allclose(found.mean, shrunk, atol=1e-3 * unit)
    np.testing.assert_allclose(found.variance, variance, atol=2e-3 * unit**2)
    assert found.weight == pytest.approx((1 - found.p_equal) * variance.mean() / unit**2, abs=2e-3)


@pytest.mark.parametrize("own_noise", [False, True])
def test_models_against_integrals(own_noise):
    """Empirical Bayes, and the probability of equality by numerical integrals over the centre."""
    rng = np.random.default_rng(4)
    noise = rng.uniform(0.5, 2.0, 12) if own_noise else np.full(12, 1.3)
    mean = rng.normal(size=12) * np.sqrt(noise + 0.6)
    found = shrink_models(mean, noise)

    def evidence(spread):
        scale = np.sqrt(noise + spread**2 * noise.mean())

        def density(centre):
            return np.prod(stats.norm.pdf(mean, centre, scale))

        return integrate.quad(density, -12, 12, epsabs=0, epsrel=1e-10)[0]

    prior = 0.5 * (1 - 8 / 12)
    same = prior * evidence(0.0)
    widths = 0.25 * (5.6 / 0.25) ** (np.arange(10) / 9)
    others = (1 - prior) * np.mean([evidence(width) for width in widths])
    assert found.p_equal == pytest.approx(same / (same + others), rel=1e-7)
    between = np.var(mean, ddof=1) - noise.mean()
    assert between > 0
    weight = 1 / (between + noise)
    centre = (weight * mean).sum() / weight.sum()
    for k in range(12):  # the normal posterior of one value
        precision = 1 / between + 1 / noise[k]
        assert found.variance[k] == pytest.approx(1 / precision)
        expected = (centre / between + mean[k] / noise[k]) / precision
        assert found.mean[k] == pytest.approx(expected)


def test_models_that_differ_less_than_their_noise_are_the_same():
    found = shrink_models(np.linspace(0.80, 0.81, 9), 0.02**2)
    assert (found.p_equal, found.weight) == (1.0, 0.0)
    assert shrink_models(np.linspace(0.6, 0.9, 8), 0.01**2).p_equal == 0.0  # so few may not be


@pytest.mark.parametrize("shrink_means", [shrink_means, shrink_models])
def test_few_candidates_and_no_noise_are_left_alone(shrink_means):
    for mean, noise in ((np.array([0.7, 0.8, 0.9]), 0.1), (np.linspace(0, 1, 9), 0.0)):
        found = shrink_means(mean, noise)
        assert (found.p_equal, found.weight) == (0.0, 1.0)
        np.testing.assert_array_equal(found.mean, mean)
        np.testing.assert_array_equal(found.variance, np.full(mean.size, noise))


@pytest.mark.parametrize("shrink_means", [shrink_means, shrink_models])
def test_units_do_not_matter(shrink_means):
    mean, noise = np.array([0.8, 0.83, 0.79, 0.7, 0.81]), 0.02**2
    found, other = shrink_means(mean, noise), shrink_means(1000 * mean - 5, 1e6 * noise)
    assert other.p_equal == pytest.approx(found.p_equal, rel=1e-9)
    np.testing.assert_allclose(other.mean, 1000 * found.mean - 5)
    np.testing.assert_allclose(other.variance, 1e6 * found.variance)


def test_clear_differences_stay(global_random_seed):
    mean = np.random.default_rng(global_random_seed).permutation(np.arange(8) * 6.0)
    found = shrink_means(mean, 1.0)
    assert found.p_equal < 1e-9
    assert np.all(found.mean <= mean.max())
    np.testing.assert_allclose(found.mean, mean, atol=0.7)
    np.testing.assert_array_equal(np.argsort(found.mean), np.argsort(mean))


@pytest.mark.parametrize("shrink_means", [shrink_means, shrink_models])
def test_noise_alone_is_recognised(shrink_means, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    found = [shrink_means(rng.normal(size=30), 1.0) for _ in range(200)]
    assert np.mean([one.p_equal for one in found]) > 0.7
    spread = np.mean([one.mean.std() for one in found])  # 1 before
    assert spread < 0.3


def test_thousands_of_candidates_and_one_far_away(global_random_seed):
    mean = np.append(np.random.default_rng(global_random_seed).normal(size=2500), -1e6)
    found = shrink_means(mean, 0.5)
    assert found.mean[-1] == -1e6
    assert np.all(np.isfinite(found.mean))
    assert np.all((found.variance > 0) & (found.variance <= 0.5))


def test_shapes_of_betas_that_are_far_apart_stay():
    a, b = np.array([900.0, 500, 100, 700]), np.array([100.0, 500, 900, 300])
    new_a, new_b, found = shrink_betas(a, b)
    np.testing.assert_allclose(new_a / (new_a + new_b), a / (a + b), atol=0.004)  # 0.4 of its noise
    np.testing.assert_allclose(new_a + new_b, a + b, rtol=0.25)
    assert found.p_equal < 1e-12


def test_draws_have_the_moments_that_were_found(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    common = rng.normal(size=20_000)
    draws = (
        np.linspace(0.65, 0.83, 6)[:, None] + 0.05 * common + 0.03 * rng.normal(size=(6, 20_000))
    )
    shrunk, found = shrink_draws(draws, shared=True)
    np.testing.assert_allclose(shrunk.mean(axis=1), found.mean, atol=1e-12)
    # True values are independent given their population: variances of differences add up.
    for i, j in ((0, 1), (2, 4), (3, 5)):
        gap = (shrunk[i] - shrunk[j]).var()
        assert gap == pytest.approx(found.variance[i] + found.variance[j], rel=0.05)  # 1 % random
    # What all have in common is no noise: the same as without it.
    alone = shrink_models(draws.mean(axis=1), 0.03**2)
    assert found.p_equal == pytest.approx(alone.p_equal, abs=0.02)
    np.testing.assert_allclose(found.mean, alone.mean, atol=1e-3)


def test_draws_that_are_far_apart_keep_their_differences(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    common = rng.normal(size=5000)
    draws = np.arange(5)[:, None] + 0.5 * common + 0.03 * rng.normal(size=(5, 5000))
    shrunk, found = shrink_draws(draws, shared=True)
    before, after = (np.cov(d[1:] - d[0]) for d in (draws, shrunk))
    np.testing.assert_allclose(after, before, rtol=0.05)
    assert 0.99 < found.weight < 1
