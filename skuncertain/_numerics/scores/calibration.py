"""Calibration of probabilities: bins, chance deviations, and a logistic recalibration.

The recalibration is logit P(y = 1) = a + b x with x = logit p, under Jeffreys' prior, the root of
the determinant of the information. It is proper for any rows with two different x, separable ones
too. Marginal densities are integrals over the other coefficient, by Gauss's rule on both sides of
the ridge. Tests compare them with another quadrature.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import expit

_DEVIATION_BY_SUM = 400.0  # variance of a sum up to which its distribution is added up
_DROP = 38.0  # exp(-38) = 3e-17: what lies further down does not count
DEGREE = 15  # of the polynomials that log densities become, on each panel
CHEBYSHEV = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)  # on [-1, 1], both ends among them
TO_SERIES = np.linalg.inv(np.polynomial.chebyshev.chebvander(CHEBYSHEV, DEGREE))
_INNER_DROP = 24.0  # the same within an inner integral
# Nodes of one half of it, by its length in standard deviations
_INNER = ((9.0, 20), (16.0, 48), (np.inf, 128))
_AT_ONCE = 2**21
_TINY = 1e-300
_NARROW = 1.5  # largest slope times half of a panel of logits that polynomials stand for
_MOST_STEPS = 100
_MOST_HALVINGS, _CONVERGED = 8, 1e-9


# --------------------------------------------------------------------------------------------------
# Bins


def bin_edges(p, n_bins, strategy):
    """Edges of the bins, as ``sklearn.calibration.calibration_curve`` has them."""
    shares = np.linspace(0.0, 1.0, n_bins + 1)
    return np.percentile(p, shares * 100) if strategy == "quantile" else shares


def bin_numbers(p, edges):
    """Bin of every probability; one that lies on an edge belongs to the bin below it."""
    return np.searchsorted(edges[1:-1], p)


def mean_deviation(p):
    """E|S - E S| of the sum S of independent Bernoulli variables with probabilities `p`.

    Up to a variance of 400 the distribution of S is added up from its characteristic function. From
    there on it is normal with three corrections of relative order 1 / variance: skewness, kurtosis
    and the whole numbers that S is made of. What is left was below 1e-7 of it.
    """
    spread = p * (1 - p)
    variance, mean = spread.sum(), p.sum()
    if variance == 0:
        return 0.0
    if variance > _DEVIATION_BY_SUM:
        skewness = (spread * (1 - 2 * p)).sum() / variance**1.5
        kurtosis = (spread * (1 - 6 * spread)).sum() / variance**2
        smooth = np.sqrt(2 / np.pi * variance) * (1 - kurtosis / 24 + skewness**2 / 24)
        part = mean - np.floor(mean)
        return float(smooth - (part**2 - part + 1 / 6) / np.sqrt(2 * np.pi * variance))
    size = 2 * int(np.ceil(12 * np.sqrt(variance) + 30))
    angle = 2 * np.pi / size * np.arange(size // 2 + 1)
    centre = np.rint(mean)
    log_phi = -1j * angle * centre
    for part in np.array_split(p, 1 + p.size * angle.size // _AT_ONCE):
        # Its logarithm, as a product would underflow; a factor of 0 is one of the whole.
        with np.errstate(divide="ignore"):
            log_phi = log_phi + np.log1p(part[:, None] * np.expm1(1j * angle)).sum(axis=0)
    mass = np.fft.irfft(np.conj(np.exp(log_phi)), size)
    place = (np.arange(size) + size // 2) % size - size // 2
    return float(mass @ np.abs(place + centre - mean))


# --------------------------------------------------------------------------------------------------
# Densities on a line


def _reach(counts, size, first):
    """How far `size` ways lead before nothing counts any more, and hardly farther.

    ``counts(step)`` says where it does, for steps of shape (size,); `first` is the first one.
    """
    near, far = np.zeros(size), np.full(size, first)
    for _ in range(60):
        inside = counts(far)
        if not inside.any():
            break
        near, far = np.where(inside, far, near), np.where(inside, 1.4 * far, far)
    for _ in range(2):
        middle = 0.5 * (near + far)
        inside = counts(middle)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return far


@lru_cache(maxsize=len(_INNER))
def _gauss(number):
    """Gauss's rule on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(number)
    return (nodes + 1) / 2, weights / 2


def _half(far):
    """Nodes on (0, 1) and weights for a side of a density that is `far` standard deviations long.

    Separable rows have long tails, which bend wherever another row is no longer fitted.
    """
    return _gauss(next(number for length, number in _INNER if far < length))


def panels_of(log_density, centre, scale, rough=None):
    """Breaks, and Chebyshev series of the log density between them, where it counts.

    ``log_density(t)`` is evaluated at arrays; it has one peak next to `centre`, about `scale` wide.
    Panels on which the series has not converged are halved. `rough`, if given, is quicker, and good
    enough to find out where that is.
    """
    rough, sign = log_density if rough is None else rough, np.array([-1.0, 1.0])
    top = rough(np.array([centre]))[0]
    far = _reach(lambda step: rough(centre + sign * step * scale) > top - _DROP, 2, 9.0)
    top = log_density(np.array([centre]))[0]
    low, high = centre + sign * far * scale
    kept, series, pairs = [], [], np.array([[low, centre], [centre, high]])
    for depth in range(_MOST_HALVINGS):
        middle, half = pairs.mean(axis=1), np.diff(pairs, axis=1)[:, 0] / 2
        values = log_density((middle[:, None] + half[:, None] * CHEBYSHEV).ravel())
        found = (values.reshape(middle.size, -1) - top) @ TO_SERIES.T
        # Far down only the order of magnitude counts.
        height = np.exp(np.minimum(values.reshape(middle.size, -1).max(axis=1) - top, 0.0))
        again = np.abs(found[:, -2:]).max(axis=1) * height > _CONVERGED
        again &= depth < _MOST_HALVINGS - 1
        kept.append(pairs[~again])
        series.append(found[~again])
        if not again.any():
            break
        (left, right), middle = pairs[again].T, middle[again]
        pairs = np.concatenate([np.stack([left, middle], 1), np.stack([middle, right], 1)])
    kept, series = np.concatenate(kept), np.concatenate(series)
    order = np.argsort(kept[:, 0])
    return np.append(kept[order, 0], kept[order[-1], 1]), series[order]


# --------------------------------------------------------------------------------------------------
# Logistic recalibration


def _softplus(eta):
    """log(1 + exp(eta)), and the derivative of the logistic function."""
    e = np.exp(-np.abs(eta))
    return np.maximum(eta, 0.0) + np.log1p(e), e / (1 + e) ** 2


def compressed(x, mass, steepest):
    """Nodes and masses that give the same sums of smooth functions as `x` and `mass` do.

    The functions are those of a line with a slope of at most `steepest`. On panels of x on which it
    rises by 3 they are polynomials of degree 15 with an error of 1e-10, and a sum over rows becomes
    one over 16 nodes.
    """
    span = x[-1] - x[0]
    number = max(int(np.ceil(span * steepest / (2 * _NARROW))), 1)
    if 2 * number * (DEGREE + 1) >= x.size:  # little to be won
        return x, mass
    width = span / number
    panel = np.minimum((x - x[0]) // width, number - 1).astype(int)
    place = 2 * (x - x[0] - panel * width) / width - 1
    basis = np.polynomial.chebyshev.chebvander(place, DEGREE) * mass[:, None]
    sums = np.stack([np.bincount(panel, one, minlength=number) for one in basis.T])
    nodes = x[0] + width * (np.arange(number)[:, None] + 0.5 * (CHEBYSHEV + 1))
    return nodes.ravel(), (sums.T @ TO_SERIES).ravel()


class Recalibration:
    """Posterior of intercept a and slope b of logit P(y = 1) = a + b x.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Logits of the predicted probabilities, two different ones at least.
    y : ndarray of bool of shape (n,)
        Whether a row is positive.
    weight : float
        What a row counts.
    """

    def __init__(self, x, y, weight=1.0):
        self.weight, self.centre, self.scale = weight, x.mean(), x.std()
        z = (x - self.centre) / self.scale
        self.hits = np.array([y.sum(), z[y].sum()])
        nodes, mass = np.unique(z, return_counts=True)
        enough, steepest = 0.0, 4 * self.scale
        while enough < steepest:  # until no slope that counts is too steep for the panels
            enough = steepest
            self.z, self.mass = compressed(nodes, mass.astype(float), enough)
            self.mode, self.curvature = self._find_mode()
            spread = np.linalg.inv(self.curvature)
            steepest = abs(self.mode[1]) + 8 * np.sqrt(spread[1, 1])
        self.z, self.mass = compressed(nodes, mass.astype(float), steepest)

    @property
    def estimate(self):
        """Intercept and slope where the posterior is highest."""
        slope = self.mode[1] / self.scale
        return self.mode[0] - slope * self.centre, slope

    @property
    def covariance(self):
        """Covariance of intercept and slope by the curvature at the mode."""
        turn = np.array([[1.0, -self.centre / self.scale], [0.0, 1 / self.scale]])
        return turn @ np.linalg.inv(self.curvature) @ turn.T

    def _sums(self, theta):
        """Logits, bells, rises (m,), and information (m,), its centre (m,) and determinant (m,).

        Around its own centre it has no digits to lose where a single row has nearly all of it.
        """
        eta = theta[:, :1] + theta[:, 1:] * self.z
        rise, bell = _softplus(eta)
        powers = bell @ (self.mass[:, None] * self.z[:, None] ** np.arange(3))
        total = np.maximum(powers[:, 0], _TINY)
        centre = powers[:, 1] / total
        around = powers[:, 2] - centre * powers[:, 1]
        lost = around < 1e-4 * powers[:, 2]
        if lost.any():
            away = (self.z - centre[lost, None]) ** 2
            around[lost] = (away * bell[lost]) @ self.mass
        return eta, bell, rise @ self.mass, total, centre, np.maximum(around, _TINY)

    def log_posterior(self, theta):
        """Log density at places (m, 2) of the standardised logits, up to a constant."""
        step, found = max(_AT_ONCE // self.z.size, 1), []
        for start in range(0, len(theta), step):
            part = theta[start : start + step]
            _, _, rise, total, _, around = self._sums(part)
            prior = 0.5 * (np.log(total) + np.log(around))
            found.append(self.weight * (part @ self.hits - rise) + prior)
        return np.concatenate(found)

    def _derivatives(self, theta):
        """Gradient (m, 2) and curvature (m, 2, 2); the prior counts as h pseudo-rows per row.

        Half of them are positive. h is the leverage of the row, as in Firth's correction.
        """
        eta, bell, _, total, centre, around = self._sums(theta)
        away = (self.z - centre[:, None]) ** 2 / around[:, None]
        leverage = self.mass * bell * (1 / total[:, None] + away)
        rate, powers = expit(eta), self.z[:, None] ** np.arange(3)
        residual = leverage * (0.5 - rate) - self.weight * self.mass * rate
        gradient = self.weight * self.hits + residual @ powers[:, :2]
        bent = ((self.weight * self.mass + leverage) * bell) @ powers
        return gradient, bent[:, [[0, 1], [1, 2]]]

    def _find_mode(self):
        """Newton's method with halved steps where a whole one would go down."""
        theta = np.zeros((1, 2))
        value = self.log_posterior(theta)[0]
        for _ in range(_MOST_STEPS):
            gradient, bent = self._derivatives(theta)
            step = np.linalg.solve(bent[0], gradient[0])
            share = 1.0
            while share > 1e-10:
                new = self.log_posterior(theta + share * step)[0]
                if new >= value - 1e-12 * abs(value):
                    break
                share /= 2
            theta, value = theta + share * step, new
            if np.abs(step).max() < 1e-9 * (1 + np.abs(theta).max()):
                break
        return theta[0], self._derivatives(theta)[1][0]

    def marginal(self, which):
        """Breaks and series of the log density of the intercept (0) or of the slope (1)."""
        c = np.array([[1.0, -self.centre / self.scale], [0.0, 1 / self.scale]])[which]
        spread = np.linalg.inv(self.curvature)
        along = spread @ c / (c @ spread @ c)  # c of it is 1
        across = np.array([-c[1], c[0]])
        across = across / np.sqrt(across @ self.curvature @ across)

        def ridge(t):
            return self._ridge(self.mode + (t - c @ self.mode)[:, None] * along, across)

        return panels_of(
            lambda t: self._integrated(ridge(t), across),
            c @ self.mode,
            np.sqrt(c @ spread @ c),
            lambda t: self.log_posterior(ridge(t)),
        )

    def _ridge(self, start, across):
        """Where the posterior is about highest on every line ``start + v * across``."""
        v = np.zeros(len(start))
        for _ in range(_MOST_STEPS):
            gradient, bent = self._derivatives(start + v[:, None] * across)
            step = (gradient @ across) / np.einsum("i,mij,j->m", across, bent, across)
            v = v + np.clip(step, -5.0, 5.0)
            if np.abs(step).max() < 0.05:
                break
        return start + v[:, None] * across

    def _integrated(self, ridge, across):
        """Logarithm of the integral of the posterior along lines through the ridge."""
        top = self.log_posterior(ridge)
        total = np.zeros(len(ridge))
        for way in (-across, across):

            def counts(step, way=way):
                return self.log_posterior(ridge + step[:, None] * way) > top - _INNER_DROP

            far = _reach(counts, len(ridge), 7.0)[:, None]
            nodes, weights = _half(far.max())
            theta = ridge[:, None] + (far * nodes)[..., None] * way
            value = self.log_posterior(theta.reshape(-1, 2)).reshape(-1, nodes.size)
            total += far[:, 0] * (np.exp(value - top[:, None]) @ weights)
        return top + np.log(total)

    def influences(self, x, y):
        """First-order influence (n, 2) of every row on intercept and slope."""
        a, b = self.estimate
        rows = np.stack([np.ones_like(x), x], axis=1)
        return ((y - expit(a + b * x))[:, None] * rows) @ (self.weight * self.covariance)


class ShiftedMean:
    """Mean of expit(a + x), less a constant, as a function of the intercept a.

    Parameters
    ----------
    x, mass : ndarray of shape (m,)
        Logits and how many rows have them.
    constant : float
        What is taken away.
    """

    def __init__(self, x, mass, constant):
        self.x, self.share, self.constant = x, mass / mass.sum(), constant

    def to_range(self, a):
        """Value at intercepts."""
        return expit(np.asarray(a)[..., None] + self.x) @ self.share - self.constant

    def slope(self, a):
        """Derivative of `to_range`."""
        return _softplus(np.asarray(a)[..., None] + self.x)[1] @ self.share

    def to_line(self, value):
        """Intercepts that have values; infinite at the ends of the range and beyond."""
        wanted = np.asarray(value, dtype=float) + self.constant
        inside = (wanted > 0) & (wanted < 1)
        target = np.where(inside, wanted, 0.5)
        logit = np.log(target) - np.log1p(-target)
        low, high = logit - self.x.max(), logit - self.x.min()  # between them, as it is a mean
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.to_range(middle) + self.constant < target
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found = 0.5 * (low + high)
        return np.where(inside, found, np.where(wanted <= 0, -np.inf, np.inf))


def shift_density(x, y, weight=1.0):
    """Posterior of the intercept a of logit P(y = 1) = a + x.

    Returns the mode, breaks and series of the log density, and the compressed `ShiftedMean` parts
    (x, mass). Rows whose residuals vary more than the model says, because the slope is not 1, count
    less by that factor; they never count more.
    """
    nodes, mass = np.unique(x, return_counts=True)
    nodes, mass = compressed(nodes, mass.astype(float), 1.0)
    hits = y.sum()

    def log_density(a, share):
        rise, bell = _softplus(a[:, None] + nodes)
        return share * (hits * a - rise @ mass) + 0.5 * np.log(np.maximum(bell @ mass, _TINY))

    def mode(share):
        low, high = -60.0, 60.0
        for _ in range(80):
            a = 0.5 * (low + high)
            rate, bell = expit(a + nodes), _softplus(a + nodes)[1]
            prior = 0.5 * (bell * (1 - 2 * rate)) @ mass / max(bell @ mass, _TINY)
            up = share * (hits - rate @ mass) + prior > 0
            low, high = (a, high) if up else (low, a)
        return a, bell @ mass

    top, model = mode(weight)
    rate = expit(top + x)
    residual = ((y - rate) ** 2).sum()
    weight = weight * min(1.0, model / residual)
    top, model = mode(weight)
    scale = 1 / np.sqrt((weight + 1 / nodes.size) * model)
    breaks, series = panels_of(lambda a: log_density(a, weight), top, scale)
    return top, breaks, series, (nodes, mass)
