"""Weighted sums of independent Beta variables: balanced accuracy and accuracy of many classes.

The characteristic function of the sum is a product of those of its terms, and the cdf a cosine
series on an interval that holds all the mass (Fang and Oosterlee's COS method).
"""

import numpy as np

from skuncertain._quadrature import BetaRule

_MAX_TERMS = 1024


class BetaSum:
    """Sum over k of w_k X_k with X_k ~ Beta(a_k, b_k).

    Parameters
    ----------
    a, b : ndarray of shape (rows, C)
        Positive shapes.
    weights : ndarray of shape (rows, C)
        Positive weights.
    link : Link
        Maps the range of the metric to the real line.
    """

    def __init__(self, a, b, weights, link):
        self.a, self.b, self.weights, self.link = a, b, weights, link
        self.size = a.shape[0]
        mean, variance = self.moments()
        sd = np.sqrt(variance)
        centre = np.clip(mean, 1e-12, 1 - 1e-12)
        self.start = link.to_line(centre)
        self.scale = np.maximum(sd / (centre * (1 - centre)), 1e-12)
        self.low = np.maximum(mean - 20 * sd, 0.0)
        self.high = np.minimum(mean + 20 * sd, weights.sum(axis=1))
        series = [self._coefficients(row, mean[row]) for row in range(self.size)]
        # Where the characteristic function has not died out the series is not to be trusted.
        self.resolved = all(last < 1e-10 for _, last in series)
        terms = max(len(part) for part, _ in series)
        self.series = np.zeros((self.size, terms))
        for row, (part, _) in enumerate(series):
            self.series[row, : len(part)] = part

    def _coefficients(self, row, mean):
        """Cosine coefficients of the density, and what the last ones amount to."""
        span = self.high[row] - self.low[row]
        shift = mean - self.low[row]
        a, b, w = self.a[row], self.b[row], self.weights[row]
        centre = w * a / (a + b)
        rule = BetaRule(a, b)
        terms = 128
        while True:
            frequency = np.pi / span
            # A node must not skip a wave of the highest frequency.
            spread = np.max(w * np.sqrt(a * b / (a + b + 1)) / (a + b))
            n = int(np.clip(1.5 * terms * frequency * 18 * spread, 128, 4096))
            x, _, weight = rule.nodes(n)
            step = np.exp(1j * frequency * (w[:, None] * x - centre[:, None]))
            wave = weight.astype(complex)
            product = np.empty(terms, dtype=complex)
            for j in range(terms):
                product[j] = np.prod(wave.sum(axis=1))
                wave *= step
            last = np.abs(product[-16:]).max()
            if last < 1e-13 or terms >= _MAX_TERMS:
                break
            terms *= 2
        j = np.arange(terms)
        series = 2 / span * (product * np.exp(1j * frequency * j * shift)).real
        series[0] *= 0.5
        return series, last

    def _angles(self, t, rows):
        low, span = self.low[rows], self.high[rows] - self.low[rows]
        inside = np.clip(t - low, 0.0, span)
        order = np.arange(1, self.series.shape[1])
        return inside, span, order, np.pi * order * (inside / span)[:, None]

    def cdf(self, t, rows):
        """P(sum <= t)."""
        inside, span, order, angle = self._angles(t, rows)
        series = self.series[rows]
        waves = (series[:, 1:] * np.sin(angle) * (span[:, None] / (np.pi * order))).sum(axis=1)
        return np.clip(series[:, 0] * inside + waves, 0.0, 1.0)

    def density(self, t, rows):
        """Density at `t`."""
        inside, span, _, angle = self._angles(t, rows)
        series = self.series[rows]
        value = series[:, 0] + (series[:, 1:] * np.cos(angle)).sum(axis=1)
        return np.where((inside > 0) & (inside < span), np.maximum(value, 0.0), 0.0)

    def moments(self):
        """Mean and variance of every row."""
        total = self.a + self.b
        mean = (self.weights * self.a / total).sum(axis=1)
        variance = self.weights**2 * self.a * self.b / (total**2 * (total + 1))
        return mean, variance.sum(axis=1)

    def sample(self, rng, size):
        """Independent draws of shape (size, rows)."""
        draws = rng.beta(self.a, self.b, size=(size, *self.a.shape))
        return np.einsum("src,rc->sr", draws, self.weights)
