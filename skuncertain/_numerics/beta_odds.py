"""The odds X / (1 - X) of a Beta variable X: a beta prime variable, a map of X."""

import numpy as np
from scipy.special import digamma, ndtri, polygamma

from skuncertain._numerics.beta import (
    beta_cdf,
    beta_quantile,
    log_beta_density_at_mean,
    logit_density_drop,
)
from skuncertain._numerics.quadrature import Link, power_skewness


class BetaOdds:
    """Odds of Beta variables; `IntegralPosterior` turns them into a posterior.

    Parameters
    ----------
    a, b : ndarray of shape (rows,)
        Positive shapes.
    """

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.size = a.size
        self.link = Link(0.0, np.inf)
        self.scale = np.sqrt(polygamma(1, a) + polygamma(1, b))  # of the logarithm

    def guess(self, p, rows):
        """Quantiles of the logarithm, rough only where those of X have lost their digits."""
        a, b = self.a[rows], self.b[rows]
        x = beta_quantile(p, a, b)
        upper = x > 0.5  # there the complement has the digits
        x = np.where(upper, beta_quantile(1 - p, b, a), x)
        with np.errstate(divide="ignore"):
            logit = np.log(x) - np.log1p(-x)
        logit = np.where(upper, -logit, logit)
        rough = digamma(a) - digamma(b) + ndtri(p) * self.scale[rows]
        return np.where(np.isfinite(logit), logit, rough)

    def cdf(self, t, rows):
        """P(M <= t) for values `t` strictly inside the range."""
        return beta_cdf(t / (1 + t), self.a[rows], self.b[rows], complement=1 / (1 + t))

    def density(self, t, rows):
        """Density at values `t` strictly inside the range."""
        a, b = self.a[rows], self.b[rows]
        drop = logit_density_drop(np.log(t) - np.log(a / b), a, b)
        return np.exp(log_beta_density_at_mean(a, b) + drop - np.log(t))

    def moments(self):
        """Mean and variance of every row; infinite where the integral diverges."""
        a, b = self.a, self.b
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(b > 1, a / (b - 1), np.inf)
            variance = a * (a + b - 1) / ((b - 2) * (b - 1) ** 2)
        return mean, np.where(b > 2, variance, np.inf)

    def skewness(self):
        """Skewness of every row."""
        return power_skewness(((self.a, self.b), 1, -1))

    def sample(self, rng, size):
        """Independent draws of shape (size, rows)."""
        # A gamma of shape a is one of shape a + 1 times U**(1/a): no ratio of two zeros.
        with np.errstate(over="ignore", divide="ignore"):
            up, down = (
                np.log(rng.standard_gamma(shape + 1, size=(size, self.size)))
                - rng.standard_exponential((size, self.size)) / shape
                for shape in (self.a, self.b)
            )
            return np.exp(up - down)
