"""Numerics of calibration against brute force: sums of Bernoulli variables, posteriors on grids."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import binom

from skuncertain._numerics.scores.calibration import (
    Recalibration,
    ShiftedMean,
    bin_edges,
    bin_numbers,
    compressed,
    mean_deviation,
    shift_density,
)
from skuncertain.posteriors._density import DensityPosterior


def deviation_by_convolution(p):
    mass = np.ones(1)
    for one in p:
        mass = np.convolve(mass, [1 - one, one])
    return mass @ np.abs(np.arange(mass.size) - p.sum())


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.random(12),
        lambda rng: rng.beta(0.3, 8, 700),
        lambda rng: np.full(40, 0.02),
        lambda rng: np.array([0.0, 1.0, 1.0, 0.5, 0.25]),
        lambda rng: rng.random(2000),
    ],
)
def test_mean_deviation_is_that_of_the_convolved_distribution(draw, global_random_seed):
    p = draw(np.random.default_rng(global_random_seed))
    assert mean_deviation(p) == pytest.approx(deviation_by_convolution(p), rel=1e-10)


def test_mean_deviation_of_certain_rows_is_zero():
    assert mean_deviation(np.array([0.0, 1.0, 1.0])) == 0.0


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_mean_deviation_of_many_rows_has_its_corrections(rate):
    # De Moivre: E|S - np| = 2 (k + 1) P(S = k + 1) q with k = floor(np).
    n = int(900 / (rate * (1 - rate))) + 7
    k = np.floor(n * rate)
    exact = 2 * (k + 1) * (1 - rate) * binom.pmf(k + 1, n, rate)
    found = mean_deviation(np.full(n, rate))
    assert found == pytest.approx(exact, rel=2e-6)
    plain = np.sqrt(2 / np.pi * n * rate * (1 - rate))
    assert abs(found - exact) < 0.05 * abs(plain - exact)


def test_bins_are_those_of_the_definition():
    p = np.array([0.0, 0.1, 0.1, 0.2, 0.2, 0.95, 1.0])
    edges = bin_edges(p, 10, "uniform")
    np.testing.assert_array_equal(bin_numbers(p, edges), [0, 0, 0, 1, 1, 9, 9])
    np.testing.assert_allclose(bin_edges(p, 2, "quantile"), [0.0, 0.2, 1.0])


def test_compressed_rows_have_the_same_sums(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    x, mass = np.unique(rng.normal(-1, 2, 20_000).round(3), return_counts=True)
    nodes, masses = compressed(x, mass.astype(float), 2.0)
    assert nodes.size < x.size / 4
    for a, b in ((0.0, 1.0), (1.5, -2.0), (-3.0, 0.1)):
        assert masses @ np.logaddexp(0, a + b * nodes) == pytest.approx(
            mass @ np.logaddexp(0, a + b * x), rel=1e-9
        )
    few = np.array([0.0, 1.0, 2.0])
    assert compressed(few, few, 2.0)[0] is few


def rows(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "separable":
        x = np.array([-2.0, -1.0, -0.5, 0.4, 1.0, 2.0])
        return x, x > 0
    if kind == "rare":
        x = rng.normal(-3.5, 1.0, 150)
        y = rng.random(150) < expit(x)
        y[np.argmax(x)] = True
        return x, y
    n = 3000 if kind == "many" else 40
    x = rng.normal(0.5, 1.5, n)
    y = rng.random(n) < expit(-0.3 + 0.7 * x)
    y[:2] = True, False
    return x, y


def log_posterior(a, b, x, y, weight):
    """Log posterior from the definition, one place at a time."""
    eta = a + b * x
    w = expit(eta) * expit(-eta)
    centre = (w * x).sum() / w.sum()
    det = max(w.sum() * (w * (x - centre) ** 2).sum(), 1e-300)
    return weight * (np.where(y, eta, 0.0).sum() - np.logaddexp(0, eta).sum()) + 0.5 * np.log(det)


def marginal_by_quad(t, which, x, y, weight, model):
    """Density of one coefficient, up to a constant, by scipy's adaptive quadrature."""
    estimate, spread = np.array(model.estimate), model.covariance
    other = 1 - which
    middle = estimate[other] + spread[0, 1] / spread[which, which] * (t - estimate[which])
    scale = np.sqrt(np.linalg.det(spread) / spread[which, which])
    top = log_posterior(*model.estimate, x, y, weight)

    def density(v):
        pair = (t, middle + v * scale) if which == 0 else (middle + v * scale, t)
        return np.exp(log_posterior(*pair, x, y, weight) - top)

    cuts = [-400.0, -60.0, -15.0, -5.0, -2.0, 0.0, 2.0, 5.0, 15.0, 60.0, 400.0]
    parts = itertools.pairwise(cuts)
    return sum(quad(density, *ends, epsabs=1e-12, epsrel=1e-9, limit=200)[0] for ends in parts)


@pytest.mark.filterwarnings(
    "ignore::scipy.integrate.IntegrationWarning"
)  # pieces that hold nothing
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("kind", "weight", "error"),
    [
        ("few", 1.0, 1e-6),
        ("few", 0.55, 1e-6),
        ("rare", 1.0, 1e-6),
        ("many", 1.0, 1e-6),
        ("separable", 1.0, 1e-3),
    ],
)
def test_marginals_are_those_of_another_quadrature(kind, weight, error, which, global_random_seed):
    x, y = rows(kind, global_random_seed)
    model = Recalibration(x, y, weight)
    posterior = DensityPosterior(*model.marginal(which))
    places = posterior.quantile(np.array([0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.999]))
    expected = [marginal_by_quad(t, which, x, y, weight, model) for t in places]
    found = posterior.pdf(places)
    np.testing.assert_allclose(found / found[3], expected / np.array(expected[3]), rtol=error)


def test_the_mode_has_no_slope(global_random_seed):
    x, y = rows("few", global_random_seed)
    model = Recalibration(x, y, 0.7)
    at = np.array(model.estimate)
    for step in (np.array([1e-4, 0.0]), np.array([0.0, 1e-4])):
        up, down = (log_posterior(*(at + sign * step), x, y, 0.7) for sign in (1, -1))
        assert abs(up - down) / 2e-4 < 1e-5


def test_influences_are_what_leaving_a_row_out_does(global_random_seed):
    x, y = rows("many", global_random_seed)
    model = Recalibration(x, y)
    influence = model.influences(x, y)
    np.testing.assert_allclose(influence.sum(axis=0), 0, atol=0.01)
    without = [Recalibration(np.delete(x, k), np.delete(y, k)).estimate for k in range(25)]
    left_out = np.subtract(model.estimate, without)
    np.testing.assert_allclose(influence[:25], left_out, rtol=0.02, atol=3e-5)


def shift_by_quad(x, y, share):
    def density(a):
        eta = a + x
        information = (expit(eta) * expit(-eta)).sum()
        value = share * (np.where(y, eta, 0.0) - np.logaddexp(0, eta)).sum()
        return np.exp(value + 0.5 * np.log(information) - top)

    top = share * (np.where(y, x, 0.0) - np.logaddexp(0, x)).sum()
    return density


@pytest.mark.parametrize("kind", ["few", "rare", "many"])
def test_the_intercept_of_slope_1_is_that_of_another_quadrature(kind, global_random_seed):
    x, y = rows(kind, global_random_seed)
    mode, breaks, series, nodes = shift_density(x, y)
    rate = expit(mode + x)
    ratio = (rate * (1 - rate)).sum() / ((y - rate) ** 2).sum()
    posterior = DensityPosterior(breaks, series)
    for share in (min(1.0, ratio),):
        density = shift_by_quad(x, y, share)
        low, high = posterior.quantile(1e-13), posterior.quantile(1 - 1e-13)
        whole = quad(density, low, high, epsabs=0, epsrel=1e-11, limit=500, points=[mode])[0]
        for t in posterior.quantile(np.array([0.025, 0.3, 0.975])):
            below = quad(density, low, t, epsabs=0, epsrel=1e-11, limit=500)[0]
            # The mode that gives the share is found again with it: they differ a little.
            assert posterior.cdf(t) == pytest.approx(
                below / whole, abs=1e-8 if share == 1 else 2e-3
            )
    mean = ShiftedMean(*nodes, 0.1)
    a = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(
        mean.to_range(a), [expit(one + x).mean() - 0.1 for one in a], atol=1e-10
    )
    np.testing.assert_allclose(mean.to_line(mean.to_range(a)), a, atol=1e-9)
    assert mean.to_line(-0.1) == -np.inf
    assert mean.to_line(0.95) == np.inf


def test_rows_that_vary_more_than_slope_1_says_count_less():
    p = np.repeat([0.02, 0.98], 500)
    y = np.tile(np.arange(500) < 150, 2)
    y[500:] = ~y[500:]  # 30 % wrong on both sides
    _, breaks, series, nodes = shift_density(logit(p), y)
    mean = DensityPosterior(breaks, series, link=ShiftedMean(*nodes, 0.5))
    # The model alone, with rates of .02 and .98, would say sqrt(.0196 / 1000) = .0044. Residuals
    # vary by .277 per row; the posterior is longer than normal, as far intercepts change little.
    assert np.sqrt(0.277 / 1000) < mean.std() < 1.5 * np.sqrt(0.277 / 1000)
