"""Posteriors from log densities on panels, against the normal and a Beta on the logit scale."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta, norm

from skuncertain._numerics.scores.calibration import panels_of
from skuncertain.posteriors import About
from skuncertain.posteriors._density import DensityPosterior

LINE = About(range=(-np.inf, np.inf), closing=False)


class Logistic:
    """Link of a rate."""

    to_range = staticmethod(expit)

    @staticmethod
    def to_line(x):
        with np.errstate(divide="ignore"):
            return logit(x)

    @staticmethod
    def slope(e):
        return expit(e) * expit(-e)


def normal(mean, std):
    panels = panels_of(lambda t: -0.5 * ((t - mean) / std) ** 2, mean + 0.3 * std, std)
    return DensityPosterior(*panels, LINE)


def rate(a, b):
    panels = panels_of(
        lambda e: a * e - (a + b) * np.logaddexp(0, e), np.log(a / b), np.sqrt(1 / a + 1 / b)
    )
    return DensityPosterior(*panels, About(closing=False), Logistic())


CASES = [
    (normal(-2.0, 0.01), norm(-2.0, 0.01)),
    (normal(5.0, 30.0), norm(5.0, 30.0)),
    (rate(3.5, 20.5), beta(3.5, 20.5)),
    (rate(1.5, 400.0), beta(1.5, 400.0)),
]


@pytest.mark.parametrize(("ours", "theirs"), CASES)
def test_answers_are_those_of_the_distribution(ours, theirs):
    # Asked together and one by one: what is found early must not move while others are sought.
    q = np.concatenate([[1e-9, 1e-6], np.linspace(0.001, 0.999, 500), [1 - 1e-6]])
    scale = theirs.std()
    np.testing.assert_allclose(ours.quantile(q), theirs.ppf(q), atol=1e-9 * scale)
    np.testing.assert_allclose([ours.quantile(p) for p in q[::50]], theirs.ppf(q[::50]),
                               atol=1e-9 * scale)  # fmt: skip
    x = theirs.ppf([0.001, 0.2, 0.5, 0.9])
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), atol=1e-11)
    np.testing.assert_allclose(ours.pdf(x), theirs.pdf(x), rtol=1e-8)
    mean, variance, skewness = theirs.stats("mvs")
    assert ours.mean() == pytest.approx(mean, abs=1e-10 * scale)
    assert ours.std() == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert ours.skewness() == pytest.approx(skewness, abs=1e-7)
    mode = {"norm": mean}.get(theirs.dist.name)
    if mode is None:
        a, b = theirs.args
        mode = (a - 1) / (a + b - 2)
    assert ours.mode() == pytest.approx(mode, abs=1e-5 * scale)


@pytest.mark.parametrize(("ours", "theirs"), CASES)
def test_shortest_intervals_have_their_level_and_equal_densities(ours, theirs):
    low, high = ours.interval(0.9, "hdi")
    assert theirs.cdf(high) - theirs.cdf(low) == pytest.approx(0.9, abs=1e-8)
    assert theirs.pdf(low) == pytest.approx(theirs.pdf(high), rel=1e-4)


def test_ends_and_beyond():
    ours = CASES[0][0]
    assert (ours.quantile(0), ours.quantile(1)) == (-np.inf, np.inf)
    assert (ours.cdf(-3), ours.cdf(3), ours.pdf(3)) == (0, 1, 0)
    bounded = CASES[2][0]
    assert (bounded.quantile(0), bounded.quantile(1)) == (0, 1)
    assert (bounded.cdf(0), bounded.cdf(1), bounded.pdf(0)) == (0, 1, 0)


def test_draws_have_the_moments(global_random_seed):
    draws = CASES[2][0].sample(4000, random_state=global_random_seed)
    error = CASES[2][1].std() / np.sqrt(4000)
    assert abs(draws.mean() - CASES[2][1].mean()) < 4.5 * error
