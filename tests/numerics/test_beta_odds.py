"""Odds of Beta variables: against scipy's beta prime distribution, mpmath, and the rate itself."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from skuncertain import ConfusionCounts, confidence_interval
from skuncertain._numerics.beta_odds import BetaOdds
from skuncertain.posteriors._integral import IntegralPosterior

COUNTS = ConfusionCounts.from_binary(tp=26, fn=3, fp=2, tn=6)
SHAPES = np.array([[26.3, 3.4], [0.4, 7.5], [2.5, 2.5], [1.0, 1.0], [900.5, 4.5], [3.3, 8000.5]]).T


def test_cdf_density_quantiles_and_moments():
    a, b = SHAPES
    posterior = IntegralPosterior(BetaOdds(a, b), a.shape)
    for p in (1e-6, 0.025, 0.5, 0.9, 0.999):
        expected = stats.betaprime.ppf(p, a, b)
        np.testing.assert_allclose(posterior.quantile(p), expected, rtol=1e-8)
        np.testing.assert_allclose(posterior.cdf(expected), p, rtol=1e-9)
        density = stats.betaprime.pdf(expected, a, b)
        np.testing.assert_allclose(posterior.pdf(expected), density, rtol=1e-9)
    np.testing.assert_allclose(posterior.mean(), stats.betaprime.mean(a, b), rtol=1e-12)
    finite = b > 2
    expected = stats.betaprime.std(a[finite], b[finite])
    np.testing.assert_allclose(posterior.std()[finite], expected, rtol=1e-12)
    assert np.isinf(posterior.std()[~finite]).all()


def test_counts_of_billions_against_mpmath():
    a, b = 3.5e9, 2.5e9
    posterior = IntegralPosterior(BetaOdds(np.array([a]), np.array([b])), (1,))
    mean, sd = a / (b - 1), np.sqrt(a * (a + b - 1) / (b - 2)) / (b - 1)
    with mpmath.workdps(30):
        for z in (-2, 0.5, 3):
            t = mpmath.mpf(mean + z * sd)
            log = (a - 1) * mpmath.log(t) - (a + b) * mpmath.log1p(t)
            log += mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)
            expected = float(mpmath.exp(log))
            assert posterior.pdf(float(t))[0] == pytest.approx(expected, rel=1e-5)
    z = (posterior.quantile(0.975)[0] - mean) / sd
    assert z == pytest.approx(stats.norm.ppf(0.975), abs=1e-3)
    assert posterior.mean()[0] == pytest.approx(mean, rel=1e-14)


def test_shortest_interval_is_shortest():
    a, b = SHAPES
    family = IntegralPosterior(BetaOdds(a, b), a.shape)
    low, high = family.interval(0.9, "hdi")
    p = np.linspace(0, 0.1, 2001)[:, None]
    width = stats.betaprime.ppf(np.minimum(p + 0.9, 1), a, b) - stats.betaprime.ppf(p, a, b)
    np.testing.assert_allclose(high - low, width.min(axis=0), rtol=1e-4)
    assert np.all(high - low <= width.min(axis=0) * (1 + 1e-9))
    np.testing.assert_allclose(family.cdf(high) - family.cdf(low), 0.9, rtol=1e-8)


def test_draws(global_random_seed):
    a, b = SHAPES
    posterior = IntegralPosterior(BetaOdds(a, b), a.shape)
    draws = posterior.sample(20_000, random_state=global_random_seed)
    for row, (p, q) in zip(draws, SHAPES.T, strict=True):
        assert stats.kstest(row, stats.betaprime(p, q).cdf).pvalue > 1e-6
    tiny = BetaOdds(np.array([1e-4]), np.array([1e-4]))
    assert not np.isnan(tiny.sample(np.random.default_rng(0), 10_000)).any()


RATES = {"true_positive_odds": "recall", "false_positive_odds": "fpr"}
THREE = ConfusionCounts([[30, 2, 3], [4, 25, 1], [2, 2, 40]])


@pytest.mark.parametrize("odds", RATES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior": "jeffreys"},
        {"prior": 0.0},
        {"model": "rows"},
        {"model": "three_beta", "prior": [[3, 1], [2, 5]]},
        {"prevalence": 0.2},
    ],
    ids=str,
)
def test_posterior_is_a_map_of_that_of_the_rate(odds, options):
    posterior, rate = (COUNTS.posterior(name, **options) for name in (odds, RATES[odds]))
    assert posterior.exact
    low, high = rate.interval()
    assert posterior.interval() == pytest.approx((low / (1 - low), high / (1 - high)), rel=1e-9)
    assert posterior.prob(low=1) == pytest.approx(rate.prob(low=0.5), rel=1e-9)
    assert posterior.prior == rate.prior
    assert posterior.observed == pytest.approx(rate.observed / (1 - rate.observed), rel=1e-14)


@pytest.mark.parametrize("odds", RATES)
def test_posterior_of_one_class_among_many(odds):
    posterior, rate = (THREE.posterior(name, pos_label=1) for name in (odds, RATES[odds]))
    assert posterior.exact
    assert posterior.median() == pytest.approx(rate.median() / (1 - rate.median()), rel=1e-9)
    assert posterior.prior == rate.prior


def test_posterior_without_errors_and_without_a_prior():
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    low, high = counts.posterior("true_positive_odds").interval()
    assert 0 < low < high == np.inf
    with pytest.warns(UserWarning, match="point mass"):
        posterior = counts.posterior("true_positive_odds", prior=0.0, random_state=0, n_draws=10)
    assert posterior.median() == np.inf


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "agresti_coull", "jeffreys"])
def test_binomial_intervals_are_those_of_the_rate(method):
    for odds, rate in RATES.items():
        low, high = confidence_interval(COUNTS, metric=rate, method=method)
        found = confidence_interval(COUNTS, metric=odds, method=method)
        assert found == pytest.approx((low / (1 - low), high / (1 - high)), rel=1e-12)
