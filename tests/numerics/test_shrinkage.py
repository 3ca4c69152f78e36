"""Shrinkage of many means, against numerical integrals, simulations and limits that are known."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from skuncertain._numerics.best_of_many import shrink_betas, shrink_draws
from skuncertain._numerics.shrinkage import freedom_of, shrink_means

NOISE = {"same": 0.7, "own": np.array([0.2, 1.0, 0.5, 1.5, 0.4, 0.9, 0.6, 0.3, 1.1, 0.8])}
MEANS = {
    "long lower tail": [5.0, 4.8, 4.7, 4.9, 4.2, 4.4, 3.5, 1.0, 4.6, -2.0],
    "long upper tail": [0.1, 0.0, -0.3, 0.2, 0.4, 1.0, 0.3, 6.0, 0.5, 3.0],
    "even": [-4.0, -3.0, -2.0, -1.0, 0.0, 0.4, 1.0, 2.0, 3.0, 4.0],
}


def by_integrals(mean, noise):
    """Posterior of every true value: population by root finding, moments by quadrature."""
    mean, m = np.array(mean), len(mean)
    noise = np.broadcast_to(noise, m)

    def centre(between):
        return np.average(mean, weights=1 / (noise + between))

    def excess(between):
        return np.sum((mean - centre(between)) ** 2 / (noise + between)) - (m - 3)

    between = optimize.brentq(excess, 0, 1e3, xtol=1e-13)
    weights = 1 / (noise + between)
    third = np.average((mean - centre(between)) ** 3, weights=weights) * m**2 / ((m - 1) * (m - 2))
    skewness = 1.5 * third**2 / between**3
    sign = np.sign(third)

    def gap(cut):
        return stats.truncnorm.stats(cut, np.inf, moments="s") - skewness

    cut = optimize.brentq(gap, -6, 6) if skewness < 1.9 else 6.0
    unit = stats.truncnorm(cut, np.inf)
    scale = np.sqrt(between) / unit.std()
    loc = sign * centre(between) - scale * unit.mean()
    population = stats.truncnorm(cut, np.inf, loc, scale)
    found = []
    for x, variance in zip(sign * mean, noise, strict=True):

        def density(value, power, x=x, variance=variance):
            return value**power * population.pdf(value) * stats.norm.pdf(value, x, variance**0.5)

        low, high = loc + cut * scale, max(x, loc) + 12 * max(scale, 1.0)
        points = [min(max(x, low), high)]
        total, first, second = (
            integrate.quad(density, low, high, (k,), points=points, epsabs=0, limit=400)[0]
            for k in range(3)
        )
        found.append([sign * first / total, second / total - (first / total) ** 2])
    return np.array(found).T


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("case", MEANS)
def test_posterior_by_integrals(case, noise):
    found = shrink_means(np.array(MEANS[case]), NOISE[noise])
    assert not found.equal
    mean, variance = by_integrals(MEANS[case], NOISE[noise])
    # Cuts come from a table with a step of 1/40.
    np.testing.assert_allclose(found.mean, mean, atol=2e-3)
    np.testing.assert_allclose(found.variance, variance, rtol=5e-3)
    assert found.weight == pytest.approx(np.mean(variance) / np.mean(NOISE[noise]), rel=5e-3)


def test_without_skewness_it_is_james_and_stein():
    mean = np.r_[-3.0, -2.5, -1.0, -0.3, 0.3, 1.0, 2.5, 3.0]
    found = shrink_means(mean, 1.0)
    share = 1 - 5 / np.sum(mean**2)
    np.testing.assert_allclose(found.mean, share * mean, atol=1e-6)
    np.testing.assert_allclose(found.variance, share, rtol=1e-6)


def test_a_crowd_at_the_top_comes_closer_than_a_crowd_at_the_bottom():
    mean = -2.4 * stats.halfnorm.ppf((np.arange(30) + 0.5) / 30)
    crowd, few = shrink_means(mean, 0.5), shrink_means(-mean[::-1], 0.5)
    left = np.ptp(crowd.mean[:5]) / np.ptp(mean[:5])
    np.testing.assert_allclose(few.mean, -crowd.mean[::-1])  # the mirror image
    top = np.ptp(few.mean[:5]) / np.ptp(mean[-5:])
    assert left < 0.8 * top


@pytest.mark.parametrize("m", [4, 6, 10, 20, 50])
def test_level_of_the_test(m, global_random_seed):
    """Equal means are found to differ as often as 0.7 to the power m - 3, at most 20 - 3."""
    runs = 4000
    mean = np.random.default_rng(global_random_seed).normal(size=(runs, m))
    differ = sum(not shrink_means(row, 1.0).equal for row in mean)
    level = 0.7 ** (min(m, 20) - 3)
    assert stats.binomtest(differ, runs, level).pvalue > 1e-4


def test_level_with_correlated_errors_and_estimated_noise(global_random_seed):
    """Groups of candidates that are nearly the same, and noise from ten folds."""
    rng = np.random.default_rng(global_random_seed)
    m, n, runs, differ = 24, 10, 1500, 0
    for _ in range(runs):
        shared = rng.normal(size=(6, n))[np.arange(m) % 6]
        scores = shared + 0.3 * rng.normal(size=(m, n)) + rng.normal(size=n)
        deviations = (scores - scores.mean(axis=1, keepdims=True)) / np.sqrt(n * (n - 1))
        contrasts = deviations - deviations.mean(axis=0)
        noise = np.square(contrasts).sum() / (m - 1)
        found = shrink_means(scores.mean(axis=1), noise, freedom_of(deviations), n - 1)
        differ += not found.equal
    # With 23 degrees of freedom instead of about 5 it would be many.
    assert stats.binomtest(differ, runs, 3 * 0.7**17, alternative="greater").pvalue > 1e-4


def test_degrees_of_freedom(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for n in (5, 10, 2000):
        independent = [freedom_of(rng.normal(size=(12, n))) for _ in range(200)]
        assert np.mean(independent) > 8
        pairs = [freedom_of(np.repeat(rng.normal(size=(3, n)), 4, axis=0)) for _ in range(200)]
        assert np.mean(1 / np.array(pairs)) == pytest.approx(1 / 2, abs=0.1)
    errors = rng.normal(size=(12, 4000))
    centre = np.eye(12) - 1 / 12
    values = np.linalg.eigvalsh(centre @ np.cov(errors) @ centre)
    expected = 1 / ((values**2).sum() / values.sum() ** 2 - 1 / 3999)
    assert freedom_of(errors) == pytest.approx(min(expected, 11), rel=1e-3)


def test_means_that_differ_less_than_their_noise_are_the_same():
    found = shrink_means(np.linspace(0.80, 0.81, 9), 0.02**2)
    assert found.equal
    assert found.weight == 0
    np.testing.assert_allclose(found.mean, 0.805)
    np.testing.assert_array_equal(found.variance, 0)


def test_few_candidates_and_no_noise_are_left_alone():
    for mean, noise in ((np.array([0.7, 0.8, 0.9]), 0.1), (np.linspace(0, 1, 9), 0.0)):
        found = shrink_means(mean, noise)
        assert (found.equal, found.weight) == (False, 1.0)
        np.testing.assert_array_equal(found.mean, mean)
        np.testing.assert_array_equal(found.variance, np.full(mean.size, noise))


def test_units_do_not_matter():
    mean, noise = np.array([0.8, 0.83, 0.79, 0.7, 0.81]), 0.01**2
    found, other = shrink_means(mean, noise), shrink_means(1000 * mean - 5, 1e6 * noise)
    assert not found.equal
    np.testing.assert_allclose(other.mean, 1000 * found.mean - 5)
    np.testing.assert_allclose(other.variance, 1e6 * found.variance)


def test_clear_differences_stay(global_random_seed):
    mean = np.random.default_rng(global_random_seed).permutation(np.arange(8) * 6.0)
    found = shrink_means(mean, 1.0)
    assert not found.equal
    np.testing.assert_allclose(found.mean, mean, atol=0.2)


def test_thousands_of_candidates_and_one_far_away(global_random_seed):
    mean = np.append(np.random.default_rng(global_random_seed).normal(size=2500), -1e6)
    found = shrink_means(mean, 0.5)
    assert np.all(np.isfinite(found.mean))
    assert np.all((found.variance > 0) & (found.variance <= 0.5))


def test_a_candidate_without_any_error():
    noise = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    found = shrink_means(np.array([3.0, 0.0, 5.0, -4.0, 9.0, -8.0]), noise)
    assert found.mean[0] == pytest.approx(3.0, abs=1e-5)
    assert np.all(np.isfinite(found.mean))


def test_shapes_of_betas_that_are_far_apart_stay():
    a, b = np.array([900.0, 500, 100, 700]), np.array([100.0, 500, 900, 300])
    new_a, new_b, found = shrink_betas(a, b)
    np.testing.assert_allclose(new_a / (new_a + new_b), a / (a + b), atol=0.004)  # 0.4 of its noise
    np.testing.assert_allclose(new_a + new_b, a + b, rtol=0.25)
    assert not found.equal


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
    alone = shrink_means(draws.mean(axis=1), 0.03**2)
    assert not found.equal
    np.testing.assert_allclose(found.mean, alone.mean, atol=1e-3)


def test_draws_that_are_far_apart_keep_their_differences(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    common = rng.normal(size=5000)
    draws = np.arange(5)[:, None] + 0.5 * common + 0.03 * rng.normal(size=(5, 5000))
    shrunk, found = shrink_draws(draws, shared=True)
    before, after = (np.cov(d[1:] - d[0]) for d in (draws, shrunk))
    np.testing.assert_allclose(after, before, rtol=0.05)
    assert 0.99 < found.weight < 1
