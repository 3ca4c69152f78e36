"""Ratio of two sums with the same random weights, as the Bayesian bootstrap over groups has it.

A / (A + B) with A = sum of w_j x_j and B = sum of w_j y_j is at most p exactly when the sum of
w_j (x_j (1 - p) - y_j p) is at most 0. Gamma weights make that a sum of independent gamma variates,
whose moment generating function M is a product. So the cdf is an integral of M(s) / s along a line,

    P(sum > 0) = 1/(2 pi i) * integral of M(s) / s ds  over  Re s = c > 0.

All its singularities are real. A line through the saddle point of M, bent to follow the descent of
the integrand, meets one smooth bump, and the trapezoidal rule needs some tens of points, for two
groups as for a million.
"""

from functools import cached_property

import numpy as np
from scipy.special import ndtri

from skuncertain._numerics.quadrature import Link

_STEP = 0.12  # of the trapezoidal rule: exp(-pi**2 / 2 / 0.12) = 1e-18
_BLOCK = 24  # of its points at once
_MOST_BLOCKS = 60  # sinh(0.12 * 24 * 60) = 1e74
_AT_ONCE = 2**19  # values


class WeightedRatio:
    """Distribution of sum(w x) / sum(w (x + y)) with independent weights w_j ~ Gamma(shape_j).

    Parameters
    ----------
    x, y : ndarray of shape (terms,)
        Numbers >= 0; x / (x + y) must not be the same for all terms.
    shape : ndarray of shape (terms,)
        Positive shapes of the weights. Equal terms are one term with the sum of their shapes.
    """

    size = 1
    link = Link(0.0, 1.0)

    def __init__(self, x, y, shape):
        scale = max(x.max(), y.max())
        used = x + y > 0
        self.x, self.y, self.shape = x[used] / scale, y[used] / scale, shape[used]
        a, b = self.shape @ self.x, self.shape @ self.y
        self._middle = centre = a / (a + b)
        moved = self.x * (1 - centre) - self.y * centre  # first-order influence of every term
        sd = np.sqrt(self.shape @ moved**2) / (a + b)
        self._centre = self.link.to_line(np.clip(centre, 1e-15, 1 - 1e-15))
        self.scale = np.array([np.maximum(sd / (centre * (1 - centre)), 1e-12)])

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self._centre + ndtri(p) * self.scale[rows]

    def cdf(self, t, rows):
        """P(ratio <= t)."""
        return np.clip(self._of_points(t, self._cdf), 0.0, 1.0)

    def density(self, t, rows):
        """Density at `t`."""
        return np.maximum(self._of_points(t, self._density), 0.0)

    def moments(self):
        """Mean and variance: integrals over the Laplace transform of the denominator."""
        mean, second, _ = self._central
        return np.array([mean]), np.array([second])

    def skewness(self):
        """Skewness, by the same integrals."""
        _, second, third = self._central
        return np.array([third / second**1.5])

    @cached_property
    def _central(self):
        """Mean, and the mean of the square and of the cube of what differs from it."""
        mean = self._middle + self._deviations(self._middle)[0]
        return mean, *self._deviations(mean)[1:]

    def _deviations(self, centre):
        """Mean of the ratio less `centre`, and of the square and of the cube of that.

        1/T is the integral of exp(-tT) over t, 1/T**2 that of t exp(-tT), 1/T**3 that of half of
        t**2 exp(-tT), and the mean of a product with exp(-tT) only scales the weights.
        """
        total = self.x + self.y
        moved = self.x * (1 - centre) - self.y * centre
        # t = unit exp(v - exp(-v)): both ends die out exponentially or faster
        v, step = np.linspace(-4.0, min(6 + 40 / self.shape.sum(), 300.0), 600, retstep=True)
        t = np.exp(v - np.exp(-v)) / (self.shape @ total)
        weight = t * (1 + np.exp(-v)) * step
        first = second = third = 0.0
        chunk = max(1, _AT_ONCE // total.size)
        for start in range(0, t.size, chunk):
            s = t[start : start + chunk, None]
            damped = moved / (1 + s * total)
            transform = weight[start : start + chunk] * np.exp(-np.log1p(s * total) @ self.shape)
            mean = damped @ self.shape
            first += transform @ mean
            square, cube = damped**2 @ self.shape, 2 * damped**3 @ self.shape  # cumulants
            second += (transform * s[:, 0]) @ (mean**2 + square)
            third += (transform * s[:, 0] ** 2 / 2) @ (mean**3 + 3 * mean * square + cube)
        return first, second, third

    def sample(self, rng, size):
        """Independent draws of shape (size, 1)."""
        draws = np.empty((size, 1))
        step = max(1, _AT_ONCE // self.x.size)
        for start in range(0, size, step):
            weight = rng.standard_gamma(self.shape, (min(step, size - start), self.x.size))
            a, b = weight @ self.x, weight @ self.y
            draws[start : start + step, 0] = a / (a + b)
        return draws

    # ----------------------------------------------------------------------------------------------
    # The line integral

    def _of_points(self, t, function):
        """``function`` of the points, as many at once as fit into memory."""
        t = np.asarray(t, dtype=float)
        step = max(1, _AT_ONCE // (_BLOCK * self.x.size))
        parts = [function(t[start : start + step]) for start in range(0, t.size, step)]
        return np.concatenate([np.empty(0), *parts])

    def _coefficients(self, t):
        """Numbers of which the weighted sum must be <= 0, (points, terms)."""
        return self.x * (1 - t[:, None]) - self.y * t[:, None]

    def _cdf(self, t):
        a = self._coefficients(t)
        low, high = a.min(axis=1), a.max(axis=1)
        value = np.where(high <= 0, 1.0, 0.0)  # outside of the ratios that occur
        pick = np.flatnonzero((low < 0) & (high > 0))
        if pick.size:
            line = _Line(a[pick], self.shape, pole=True)
            above = line.integral(lambda s, relative: 1 / s)
            value[pick] = np.where(line.at > 0, 1 - above, -above)
        return value

    def _density(self, t):
        a = self._coefficients(t)
        value = np.zeros(t.shape)
        pick = np.flatnonzero((a.min(axis=1) < 0) & (a.max(axis=1) > 0))
        if pick.size:
            line = _Line(a[pick], self.shape, pole=False)
            weight = self.shape * (self.x + self.y) / (1 - line.a * line.at[:, None])

            def slope(s, relative):
                return (weight[:, None] / relative).sum(axis=-1)

            value[pick] = line.integral(slope)
        return value


class _Line:
    """Line Re s = `at` in the plane of s, one for each row of coefficients (points, terms)."""

    def __init__(self, a, shape, pole):
        self.a, self.shape = a, shape
        left, right = 1 / a.min(axis=1), 1 / a.max(axis=1)  # where M has branch points
        at, curvature = self._saddle(left, right)
        width = 1 / np.sqrt(curvature)
        if pole:  # M(s) / s: pass the pole at 0 in some distance, on the same side
            side = np.where(at > 0, right, left)
            near = np.minimum(1.2 * width, 0.5 * np.abs(side))
            at = np.where(np.abs(at) < near, np.copysign(near, side), at)
        gap = np.minimum(right - at, at - left)
        gap = np.minimum(gap, np.abs(at)) if pole else gap
        self.at, self.unit = at, np.minimum(gap, 1.5 * width)
        self.slope = a / (1 - a * at[:, None])
        self.top = -(np.log1p(-a * at[:, None]) @ shape)
        # The path of steepest descent bends as the third derivative of log M says.
        third, second = 2 * self.slope**3 @ shape, self.slope**2 @ shape
        self.bend = np.clip(-third * self.unit / (3 * second), -1.0, 1.0)

    def _saddle(self, left, right):
        """Where log M is lowest, to a fraction of its width, and its curvature there."""
        at = np.zeros(left.shape)
        for _ in range(100):
            part = self.a / (1 - self.a * at[:, None])
            slope, curvature = part @ self.shape, part**2 @ self.shape
            far = np.abs(slope) > 0.05 * np.sqrt(curvature)
            if not far.any():
                break
            left, right = np.where(slope < 0, at, left), np.where(slope > 0, at, right)
            new = at - slope / curvature
            inside = (new > left) & (new < right)
            at = np.where(far, np.where(inside, new, 0.5 * (left + right)), at)
        return at, curvature

    def integral(self, factor):
        """1/(2 pi i) times the integral of M(s) factor(s) along the line.

        `factor` gets s, and (1 - a s) / (1 - a at) of all terms. The trapezoidal rule in x, with
        s = at + i unit sinh(x) - bend unit (cosh(x) - 1): nothing singular is nearer to the line
        than `unit`, so that its error falls like exp(-pi**2 / (2 step)).
        """
        total, largest = np.zeros(self.at.shape), np.zeros(self.at.shape)
        unit, bend = self.unit[:, None], self.bend[:, None]
        for block in range(_MOST_BLOCKS):
            x = _STEP * np.arange(block * _BLOCK, (block + 1) * _BLOCK)
            shift = unit * (1j * np.sinh(x) - bend * (np.cosh(x) - 1))
            moved = -self.slope[:, None, :] * shift[:, :, None]
            log = np.log1p(moved) @ self.shape
            value = np.exp(-log) * factor(self.at[:, None] + shift, 1 + moved)
            term = value * (1j * np.cosh(x) - bend * np.sinh(x))
            size = np.abs(term)
            total += term.imag.sum(axis=1) - (0.5 * term[:, 0].imag if block == 0 else 0.0)
            largest = np.maximum(largest, size.max(axis=1))
            if np.all(size[:, -1] <= 1e-16 * largest):
                break
        return np.exp(self.top) * self.unit * _STEP / np.pi * total
