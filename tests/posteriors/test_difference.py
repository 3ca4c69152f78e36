"""Differences of two exact posteriors: mirrored, and right where tables are tiny."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

from skuncertain import ConfusionCounts, compare
from skuncertain.posteriors import BetaPosterior
from skuncertain.posteriors._difference import difference_of
from skuncertain.posteriors._student_normal import (
    LogitNormalPosterior,
    NormalPosterior,
    StudentPosterior,
)

PAIRED = ["informedness", "balanced_accuracy", "g_mean", "g_score", "prevalence_threshold", "lr+"]
CELLS = ("tp", "fn", "fp", "tn")
TINY = [t for n in (0, 1, 2) for t in itertools.product(range(n + 1), repeat=4) if sum(t) == n]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def table(cells):
    return ConfusionCounts.from_binary(**dict(zip(CELLS, cells, strict=True)))


def assert_mirrored(a, b, atol=1e-12):
    result, swapped = compare(a, b), compare(b, a)
    assert result.difference.exact
    assert result.p_better == pytest.approx(swapped.p_worse, abs=atol)
    assert result.p_worse == pytest.approx(swapped.p_better, abs=atol)
    q = np.array([0.025, 0.5, 0.975])
    x = result.difference.quantile(q)
    np.testing.assert_allclose(swapped.difference.cdf(-x), 1 - q, atol=1e-10)
    if result.metric != "positive_likelihood_ratio":  # heavy tails: flat where the ends are
        np.testing.assert_allclose(x, -swapped.difference.quantile(q)[::-1], atol=1e-8)


@pytest.mark.parametrize("prior", ["auto", "jeffreys", "laplace", 0.1])
@pytest.mark.parametrize("name", ["accuracy", "f1", *PAIRED])
def test_identical_tiny_tables_are_even(name, prior):
    for cells in [*TINY[::4], (1, 1, 1, 2)]:
        posterior = table(cells).posterior(name, prior=prior)
        result = compare(posterior, posterior)
        assert result.difference.exact
        assert result.p_better == pytest.approx(0.5, abs=1e-12), cells
        assert result.p_worse == pytest.approx(0.5, abs=1e-12), cells


@pytest.mark.slow
@pytest.mark.parametrize("name", ["accuracy", "f1", *PAIRED])
def test_tiny_tables_are_mirrored(name):
    posteriors = [table(cells).posterior(name) for cells in [*TINY[::5], (2, 1, 0, 2)]]
    for a, b in itertools.pairwise(posteriors):
        assert_mirrored(a, b)
        assert_mirrored(a, a)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcc", "kappa"])
def test_tiny_tables_of_double_integrals_are_mirrored(name):
    a, b = table((0, 2, 0, 0)).posterior(name), table((0, 1, 0, 1)).posterior(name)
    assert_mirrored(a, b)
    assert compare(a, a).p_better == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("name", ["kappa", "mcc", "informedness", "lr+"])
def test_tiny_tables_against_draws(name, global_random_seed):
    a, b = table((0, 2, 0, 0)).posterior(name), table((1, 0, 0, 1)).posterior(name)
    n, difference = 200_000, compare(a, b).difference
    left, right = (x.sample(n, global_random_seed + k) for k, x in enumerate((a, b)))
    for t in (-0.7, -0.1, 0.0, 0.3, 1.2):
        p = np.mean(right - left <= t)
        assert difference.cdf(t) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n) + 1e-12)


def on(low, high, n=80):
    """Nodes and weights between `low` and `high`, crowded at both: roots there do no harm."""
    node, weight = np.polynomial.legendre.leggauss(n)
    x, slope = (2 + 3 * node - node**3) / 4, 3 * (1 - node**2) / 4
    return low + (high - low) * x, (high - low) * slope * weight


def share_below(g):
    """P(sin(u) sin(v) <= g) of two angles, uniform in a quarter of a circle."""
    edge = np.arcsin(min(g, 1.0))
    u, weight = on(edge, np.pi / 2)
    inner = weight @ np.arcsin(np.minimum(g / np.sin(u), 1.0))
    return (edge + inner * 2 / np.pi) * 2 / np.pi


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.1, 0.4])
def test_g_mean_of_an_empty_table_against_another_integrator(t):
    # Recall and specificity are squared sines of uniform angles with Jeffreys' prior.
    posterior = table((0, 0, 0, 0)).posterior("g_mean", prior="jeffreys")
    edge, expected = np.arcsin(1 - t), 0.0
    for ends in ((0, edge), (edge, np.pi / 2)):
        for u, weight in zip(*on(*ends, 24), strict=True):
            kink = np.arcsin(min((1 - t) / np.sin(u), 1.0))
            for v, share in itertools.chain(
                zip(*on(0, kink, 24), strict=True), zip(*on(kink, np.pi / 2, 24), strict=True)
            ):
                expected += weight * share * share_below(np.sin(u) * np.sin(v) + t)
    expected *= (2 / np.pi) ** 2
    assert difference_of(posterior, posterior).cdf(t) == pytest.approx(expected, abs=1e-8)


def test_two_normals_have_a_closed_form():
    a, b = NormalPosterior(0.7, 0.03), NormalPosterior(0.75, 0.04)
    result = compare(a, b)
    assert result.difference.exact
    assert isinstance(result.difference, NormalPosterior)
    assert result.p_better == pytest.approx(special.ndtr(1.0), abs=1e-15)
    assert result.difference.std() == pytest.approx(0.05, rel=1e-14)


def test_normal_and_student_against_another_integrator():
    normal, student = NormalPosterior(0.7, 0.03), StudentPosterior(4.0, 0.72, 0.02)
    result = compare(normal, student, rope=0.01)
    assert result.difference.exact
    t = stats.t(4, 0.72, 0.02)

    def above(x):
        return special.ndtr((x - 0.01 - 0.7) / 0.03) * t.pdf(x)

    expected = integrate.quad(above, 0.2, 1.2, points=[0.7, 0.72], epsabs=1e-13, limit=400)[0]
    expected += t.sf(1.2)
    assert result.p_better == pytest.approx(expected, abs=1e-9)
    assert_mirrored(normal, student)


def test_logit_normal_and_beta_against_another_integrator():
    curve, beta = LogitNormalPosterior(1.2, 0.4), BetaPosterior(30, 12)
    expected = integrate.quad(
        lambda x: special.ndtr((special.logit(x) - 1.2) / 0.4) * stats.beta(30, 12).pdf(x),
        0, 1, points=[0.7], epsabs=1e-13, limit=400,
    )[0]  # fmt: skip
    assert compare(beta, curve).p_worse == pytest.approx(expected, abs=1e-10)
    assert compare(curve, beta).p_better == pytest.approx(expected, abs=1e-10)


def test_differences_of_heavy_tails():
    # Likelihood ratios up to 1e300: next to 1e33 all of the other one is between two floats.
    a, b = ConfusionCounts([[2, 0], [0, 1]]), ConfusionCounts([[0, 3], [2, 0]])
    one, other = (x.posterior("lr+", prior=0.1) for x in (a, b))
    there = compare(a, b, metric="lr+", prior=0.1).difference
    back = compare(b, a, metric="lr+", prior=0.1).difference
    far = -(10.0 ** np.arange(0, 200, 8))
    assert np.all(np.diff(there.cdf(far)) < 1e-9)  # further down there is less
    # Far out the smaller ratio does not count: P(B - A <= t) is P(A >= -t).
    assert_allclose(there.cdf(far[3:]), 1 - one.cdf(-far[3:]), rtol=1e-3, atol=1e-8)
    tails = np.array([0.025, 0.3, 0.5, 0.7, 0.975])
    assert_allclose(there.quantile(tails), -back.quantile(1 - tails), rtol=1e-6)
    draws = other.sample(200_000, 0) - one.sample(200_000, 1)
    # 200,000 draws: the share below the median has a standard error of 0.0011
    assert np.mean(draws <= there.median()) == pytest.approx(0.5, abs=0.0055)
