"""The numerical core, through the public posteriors: Beta quantiles, densities and HDIs."""

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc, logit, ndtr

from skuncertain import ConfusionCounts
from skuncertain.metrics import proportion_posterior
from skuncertain.posteriors import BetaPosterior
from skuncertain.posteriors._about import About

# successes, failures, prior, mean, mode, 2.5 % and 97.5 % quantile; six digits of exact values
BETA_POSTERIORS = [
    (50, 100, 1, 0.335526, 0.333333, 0.262884, 0.412268),
    (50, 5, 1, 0.894737, 0.909091, 0.803807, 0.959652),
    (10, 100, 1, 0.098214, 0.090909, 0.050516, 0.159442),
    (10, 5, 1, 0.647059, 0.666667, 0.413379, 0.848016),
    (1000, 100, 1, 0.908348, 0.909091, 0.890633, 0.924660),
    (26, 2, 1, 0.900000, 0.928571, 0.772338, 0.978136),
    (6, 2, 1, 0.700000, 0.750000, 0.399906, 0.925145),
    (50, 100, 0.5, 0.334437, 0.332215, 0.261639, 0.411390),
    (10, 5, 0.5, 0.656250, 0.678571, 0.415836, 0.859747),
    (26, 2, 0.5, 0.913793, 0.944444, 0.790053, 0.984859),
]


@pytest.mark.parametrize(
    ("hits", "misses", "prior", "mean", "mode", "low", "high"), BETA_POSTERIORS
)
def test_beta_reference_values(hits, misses, prior, mean, mode, low, high):
    posterior = proportion_posterior(hits, misses, prior=prior)
    assert posterior.mean() == pytest.approx(mean, abs=5e-7)
    assert posterior.quantile(0.025) == pytest.approx(low, abs=5e-7)
    assert posterior.quantile(0.975) == pytest.approx(high, abs=5e-7)
    # the density peaks at the mode, and every highest-density interval holds it
    assert posterior.pdf(mode) > max(posterior.pdf(mode - 1e-4), posterior.pdf(mode + 1e-4))
    low, high = posterior.interval(0.01, "hdi")
    assert low - 1e-6 <= mode <= high + 1e-6


# True values from mpmath with 40 digits; scipy 1.17.1 returns .25081, .12529 and .74919.
@pytest.mark.parametrize(
    ("a", "b", "p", "truth"),
    [
        (1000, 9090, 0.975, 0.10501284476865),
        (1000, 20160, 0.975, 0.05016),
        (9090, 1000, 0.025, 0.89498715523135),
    ],
)
def test_shape_of_exactly_1000(a, b, p, truth):
    quantile = BetaPosterior(a, b).quantile(p)
    assert quantile == pytest.approx(truth, abs=5e-6)
    assert betainc(a, b, quantile) == pytest.approx(p, abs=1e-9)


def _rounding(posterior, x):
    """How far the cdf moves within the rounding of a double."""
    with np.errstate(invalid="ignore"):
        return 2 * posterior.pdf(x) * np.spacing(x)


@pytest.mark.parametrize("odds", [1.0, 2.0, 0.5])
@pytest.mark.parametrize("p", [1e-6, 5e-4, 0.025, 0.5, 0.9, 0.975, 0.9995])
def test_quantile_inverts_cdf(odds, p, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a, b = np.exp(rng.uniform(np.log(0.5), np.log(1e6), size=(2, 5000)))
    a[:300], b[200:500] = 1000, 1000
    posterior = BetaPosterior(a, b, odds=odds)
    q = posterior.quantile(p)
    # A quantile next to 1 cannot be written in double precision better than to its spacing.
    assert np.all(np.abs(posterior.cdf(q) - p) <= 1e-9 + _rounding(posterior, q))


def _mpmath_cdf(a, b, x):
    """Beta cdf by adaptive quadrature of the density: no incomplete beta function involved."""
    a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
    mean, sd = a / (a + b), mpmath.sqrt(a * b / (a + b + 1)) / (a + b)
    log_norm = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)

    def density(t):
        return mpmath.exp(log_norm + (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log(1 - t))

    inner = [mean + k * sd for k in (-30, -10, -6, -3, 0, 3, 6, 10)]
    points = [mpmath.mpf(0)] + [point for point in inner if 0 < point < x] + [x]
    return mpmath.quad(density, points)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (0.5, 0.5),
        (0.5, 30),
        (3, 1),
        (10, 90),
        (26.5, 0.5),
        (999, 1000),
        (1000, 1000),
        (1000, 9090),
        (5e3, 2e5),
        (1e6, 1e6),
    ],
)
def test_quantile_against_mpmath(a, b):
    posterior = BetaPosterior(a, b)
    with mpmath.workdps(25):
        for p in (0.025, 0.5, 0.975):
            assert float(_mpmath_cdf(a, b, posterior.quantile(p))) == pytest.approx(p, abs=1e-9)


def test_f1_is_a_map_of_beta():
    # F1 = 2J / (1 + J), J ~ Beta(tp, fp + fn); scipy has the Beta.
    posterior = BetaPosterior(26.3, 5.6, odds=2)
    j = stats.beta(26.3, 5.6)
    x = np.array([0.6, 0.8, 0.9, 0.95])
    np.testing.assert_allclose(posterior.cdf(x), j.cdf(x / (2 - x)), rtol=1e-12)
    np.testing.assert_allclose(posterior.pdf(x), j.pdf(x / (2 - x)) * 2 / (2 - x) ** 2, rtol=1e-11)
    q = j.ppf([0.025, 0.5])
    np.testing.assert_allclose(posterior.quantile([0.025, 0.5]), 2 * q / (1 + q), rtol=1e-12)
    mean = j.expect(lambda v: 2 * v / (1 + v))
    square = j.expect(lambda v: (2 * v / (1 + v)) ** 2)
    assert posterior.mean() == pytest.approx(mean, abs=1e-9)
    assert posterior.std() == pytest.approx(np.sqrt(square - mean**2), abs=1e-8)


def test_density_at_large_shapes():
    a, b = 1e9, 3e9  # the logarithms of gamma functions have lost 7 digits here
    x = 0.25
    with mpmath.workdps(40):
        truth = mpmath.exp(
            (a - 1) * mpmath.log(x) + (b - 1) * mpmath.log(1 - x) - mpmath.log(mpmath.beta(a, b))
        )
    assert BetaPosterior(a, b).pdf(x) == pytest.approx(float(truth), rel=1e-6)


@pytest.mark.parametrize("odds", [1.0, 2.0, 0.5])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_extreme_shapes_give_finite_ordered_answers(odds, level):
    grid = np.logspace(-6, 10, 17)
    a, b = (part.ravel() for part in np.meshgrid(grid, grid))
    posterior = BetaPosterior(a, b, odds=odds)
    low, high = posterior.interval(level, "eti")
    assert np.all((low >= 0) & (low <= high) & (high <= 1))
    shortest = posterior.interval(level, "hdi")
    assert np.all((shortest.low >= 0) & (shortest.low <= shortest.high) & (shortest.high <= 1))
    assert np.all(shortest.width <= high - low + 1e-11)


@pytest.mark.parametrize("odds", [1.0, 2.0, 0.5])
def test_hdi_is_the_shortest_interval(odds, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a, b = np.exp(rng.uniform(np.log(0.4), np.log(3e4), size=(2, 300)))
    posterior = BetaPosterior(a, b, odds=odds)
    low, high = posterior.interval(0.9, "hdi")
    mass = posterior.cdf(high) - posterior.cdf(low)
    inside = (low > 1e-10) & (high < 1 - 1e-10)
    assert inside.sum() > 200
    slack = _rounding(posterior, high)[inside] + _rounding(posterior, low)[inside]
    assert np.all(np.abs(mass[inside] - 0.9) <= 1e-9 + slack)
    np.testing.assert_allclose(mass[~inside], 0.9, atol=1e-7)  # next to a pole
    # No interval of the same mass on a grid of lower tails is shorter.
    tails = np.linspace(0, 0.1, 401)
    widths = posterior.quantile(tails + 0.9) - posterior.quantile(tails)
    assert np.all(high - low <= widths.min(axis=1) + 1e-12)
    peaked = inside & (a > 1) & (b > 1)
    ratio = posterior.pdf(low)[peaked] / posterior.pdf(high)[peaked]
    np.testing.assert_allclose(ratio, 1, rtol=1e-5)


def test_hdi_conventions():
    assert BetaPosterior(1, 1).interval(0.8, "hdi") == pytest.approx((0.1, 0.9))
    falling = BetaPosterior(1, 5).interval(0.8, "hdi")
    assert falling == pytest.approx((0, 1 - 0.2**0.2))
    rising = BetaPosterior(5, 1).interval(0.8, "hdi")
    assert rising == pytest.approx((0.2**0.2, 1))


@pytest.mark.parametrize("odds", [1.0, 2.0, 0.5])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_two_poles_give_the_shorter_one_sided_interval(odds, level):
    grid = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
    a, b = (part.ravel() for part in np.meshgrid(grid, grid))
    a, b = a[(a < 1) | (b < 1)], b[(a < 1) | (b < 1)]
    posterior = BetaPosterior(a, b, odds=odds)
    low, high = posterior.interval(level, "hdi")
    assert np.all((low == 0) | (high == 1))
    np.testing.assert_allclose(posterior.cdf(high) - posterior.cdf(low), level, atol=1e-8)
    tails = (1 - level) * np.linspace(0, 1, 201)
    widths = posterior.quantile(np.minimum(tails + level, 1)) - posterior.quantile(tails)
    assert np.all(high - low <= widths.min(axis=1) + 1e-8)


def test_equally_short_intervals():
    # Both one-sided intervals of a symmetric density with two poles: the lower one
    assert BetaPosterior(0.5, 0.5).interval(0.5, "hdi") == pytest.approx((0, 0.5))
    assert BetaPosterior(0.5, 0.5).interval(0.8, "hdi") == pytest.approx(
        (0, np.sin(0.4 * np.pi) ** 2)
    )
    # ... unless its upper end is rounded to 1, so that it would hold everything
    sharp = BetaPosterior(0.01, 0.01)
    assert sharp.interval(0.5, "hdi") == pytest.approx((0, 0.5))
    low, high = sharp.interval(0.8, "hdi")
    assert 0 < low < 1e-30
    assert high == 1
    assert sharp.cdf(high) - sharp.cdf(low) == pytest.approx(0.8)


def test_one_sided_interval_is_on_the_side_that_was_observed():
    # F1 with hardly any error has its shorter interval at 1, yet 0 was observed.
    posterior = BetaPosterior(0.5, 0.55, odds=2.0, about=About(observed=0.0))
    assert BetaPosterior(0.5, 0.55, odds=2.0).interval(0.5, "hdi").high == 1
    low, high = posterior.interval(0.5, "hdi")
    assert low == 0
    assert posterior.cdf(high) == pytest.approx(0.5)


def test_degenerate_shapes():
    point = BetaPosterior([0.0, 3.0], [2.0, 0.0])
    np.testing.assert_array_equal(point.quantile(0.3), [0, 1])
    np.testing.assert_array_equal(point.mean(), [0, 1])
    np.testing.assert_array_equal(point.cdf(0.5), [1, 0])
    nothing = BetaPosterior(0, 0)
    assert np.isnan(nothing.mean())
    assert np.isnan(nothing.quantile(0.5))
    assert np.isnan(nothing.cdf(0.5))
    with pytest.raises(ValueError, match=r"shape a must be finite and >= 0"):
        BetaPosterior(-1, 2)


def test_stacks_answer_like_their_members():
    a, b = np.array([[3.0, 40.0], [500.0, 0.7]]), np.array([[2.0, 7.0], [20.0, 9.0]])
    stack = BetaPosterior(a, b, odds=2)
    assert stack.quantile([0.1, 0.2, 0.3]).shape == (2, 2, 3)
    assert stack.sample(5, random_state=0).shape == (2, 2, 5)
    for index in np.ndindex(2, 2):
        one = BetaPosterior(a[index], b[index], odds=2)
        assert stack.mean()[index] == pytest.approx(one.mean(), rel=1e-12)
        assert stack.quantile([0.1, 0.2])[index] == pytest.approx(one.quantile([0.1, 0.2]))
        for kind in ("eti", "hdi"):
            interval = stack.interval(kind=kind)
            expected = one.interval(kind=kind)
            assert (interval.low[index], interval.high[index]) == pytest.approx(expected, abs=1e-12)


def test_boundary_rule_closes_the_interval_but_not_the_quantile():
    perfect = proportion_posterior(26, 0)
    assert perfect.interval().high == 1.0
    assert perfect.quantile(0.975) < 1.0
    assert proportion_posterior(0, 26).interval().low == 0.0
    assert proportion_posterior(25, 1).interval().high == 1.0  # calibrated: one failure, too
    assert proportion_posterior(25, 1, prior=0.5).interval().high < 1.0
    assert proportion_posterior(24, 2).interval().high < 1.0
    assert (
        ConfusionCounts.from_binary(tp=26, fn=0, fp=0, tn=9).posterior("mcc").interval().high == 1
    )


def test_sample_follows_the_distribution(global_random_seed):
    posterior = BetaPosterior(8.3, 2.7, odds=2)
    draws = posterior.sample(200_000, random_state=global_random_seed)
    for p in (0.025, 0.5, 0.975):
        z = (np.mean(draws <= posterior.quantile(p)) - p) / np.sqrt(p * (1 - p) / draws.size)
        assert abs(z) < 4


def test_quantile_next_to_the_smallest_floats():
    # log x from mpmath with 40 digits: I_x(0.01, 1.02) = 0.001
    posterior = BetaPosterior(0.01, 1.02)
    assert np.log(posterior.quantile(0.001)) == pytest.approx(-690.80772223804068806, abs=1e-9)
    assert posterior.quantile(1e-9) == 0  # about 1e-900


@pytest.mark.parametrize("shape", [1e9, 1e11, 1e13, 1e15])
@pytest.mark.parametrize("z", [-2.5, -0.3, 0.0, 1.7])
def test_cdf_of_huge_counts(shape, z):
    # Equal shapes: logit X is symmetric, and normal up to 1/shape. betainc was off by 0.1 at 1e15.
    sd = np.sqrt(2 / shape)
    x = 0.5 + 0.25 * z * sd
    expected = ndtr(logit(x) / sd)
    assert BetaPosterior(shape, shape).cdf(x) == pytest.approx(expected, abs=3e-8)


def test_quantiles_and_cdf_of_huge_counts_agree():
    posterior = proportion_posterior([3 * 10**14, 10**11], [10**13, 4 * 10**12])
    for q in (0.001, 0.3, 0.975):
        assert posterior.cdf(posterior.quantile(q)) == pytest.approx([q, q], abs=1e-7)


def test_quantiles_of_a_beta_next_to_one():
    # The error that the interpolation of the root finder told was too small by far.
    posterior = BetaPosterior(80646101.18854785, 0.0034706343914195983)
    x = posterior.quantile(0.025)
    ulp = posterior.cdf(np.nextafter(x, 1)) - posterior.cdf(x)
    assert posterior.cdf(x) == pytest.approx(0.025, abs=2 * ulp)
