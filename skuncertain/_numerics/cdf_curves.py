"""The difference of two independent variables whose cdfs are known: one integral.

A cdf is kept as polynomials on panels. Between the points where it may be singular (the ends of the
range and its middle, where metrics have their value by chance) a panel is straight in the logarithm
of the distance to them, in which powers of any order are smooth.
"""

import itertools

import numpy as np
from scipy.special import expit

_DEGREE = 16
_LONGEST = 0.5  # length of a piece of the integral on the line of its segment
_NEAREST = 2.0**-44  # relative distance from a singular point that floats can resolve
_DEEPEST = 40
_MOST = 400  # panels to be tried
_NOISE = 1e-6
_NARROW = 2.0**-30
_ORDER = np.arange(_DEGREE + 1)
_POINTS = -np.cos(np.pi * _ORDER / _DEGREE)  # Chebyshev points on [-1, 1], both ends among them
# From values at these points to a Chebyshev series
_SERIES = np.linalg.inv(np.polynomial.chebyshev.chebvander(_POINTS, _DEGREE))
_GAUSS, _WEIGHT = np.polynomial.legendre.leggauss(16)


class _Segment:
    """The line of an open interval: minus and plus infinity are its ends."""

    def __init__(self, low, high, unit):
        self.low, self.high, self.unit = low, high, unit

    def to_line(self, x):
        with np.errstate(divide="ignore", invalid="ignore"):
            if np.isinf(self.high):
                return np.log((x - self.low) / self.unit)
            if np.isinf(self.low):
                return -np.log((self.high - x) / self.unit)
            return np.log(x - self.low) - np.log(self.high - x)

    def to_range(self, e):
        if np.isinf(self.high):
            return self.low + self.unit * np.exp(e)
        if np.isinf(self.low):
            return self.high - self.unit * np.exp(-e)
        width = self.high - self.low
        return np.where(e < 0, self.low + width * expit(e), self.high - width * expit(-e))

    def slope(self, x):
        """Derivative of `to_line`."""
        left = 0.0 if np.isinf(self.low) else 1 / (x - self.low)
        return left + (0.0 if np.isinf(self.high) else 1 / (self.high - x))

    def reach(self):
        """Where its line starts and ends for floats."""
        ends = []
        for end, other in ((self.low, self.high), (self.high, self.low)):
            if np.isinf(end):
                ends.append(650.0)
            else:
                width = self.unit if np.isinf(other) else self.high - self.low
                ends.append(min(650.0, -np.log(max(abs(end) * _NEAREST / width, 1e-280))))
        return -ends[0], ends[1]


class CdfCurve:
    """A cdf as polynomials on panels, from as few of its values as its shape needs.

    Parameters
    ----------
    cdf : callable
        Takes an array of values.
    singular : sequence of float
        Rising: the ends of the range, infinite ones allowed, and what lies between them.
    centre, unit : float
        Where most of the mass is, and how wide it is.
    accuracy : float
        Accepted error of the polynomials.
    """

    def __init__(self, cdf, singular, centre, unit, accuracy):
        self.cdf_of, self.accuracy = cdf, accuracy
        self.segments = [_Segment(low, high, unit) for low, high in itertools.pairwise(singular)]
        starts = [self._first_panels(number, centre, unit) for number in range(len(self.segments))]
        self._fit(np.concatenate(starts))

    def _first_panels(self, number, centre, unit):
        """Rows (segment, start, end) of panels on the line of a segment."""
        segment = self.segments[number]
        first, last = segment.reach()
        near = centre + unit * np.array([-8.0, -3.0, 0.0, 3.0, 8.0])
        near = segment.to_line(near[(near > segment.low) & (near < segment.high)])
        steps = np.array([-300.0, -80.0, -30.0, -10.0, -3.0, 0.0, 3.0, 10.0, 30.0, 80.0, 300.0])
        inside = np.concatenate([steps, near])
        inside = inside[(inside > first) & (inside < last)]
        ends = np.unique(np.concatenate([[first], inside, [last]]))
        return np.stack([np.full(ends.size - 1, number), ends[:-1], ends[1:]], axis=-1)

    def _at(self, panels, points):
        """Values of x at `points` in [-1, 1] of panels, shape (panels, points)."""
        number, start, end = panels.T
        line = 0.5 * (start + end)[:, None] + 0.5 * (end - start)[:, None] * points
        x = np.empty(line.shape)
        for k, segment in enumerate(self.segments):
            x[number == k] = segment.to_range(line[number == k])
        return x

    def _fit(self, panels):
        """Halve panels until the series of each one has converged."""
        kept, series, before, number_fitted = [], [], np.inf, 0
        for depth in range(_DEEPEST):
            ends = self.cdf_of(self._at(panels, np.array([-1.0, 1.0])).ravel()).reshape(-1, 2)
            poor = ends[:, 1] - ends[:, 0] > 0.01 * self.accuracy
            flat = np.zeros((len(panels), _DEGREE + 1))
            flat[:, 0], flat[:, 1] = ends.mean(axis=1), 0.5 * (ends[:, 1] - ends[:, 0])
            if poor.any():
                inner = self.cdf_of(self._at(panels[poor], _POINTS[1:-1]).ravel())
                values = np.column_stack(
                    [ends[poor, :1], inner.reshape(poor.sum(), -1), ends[poor, 1:]]
                )
                flat[poor] = values @ _SERIES.T
            error = np.abs(flat[:, -2:]).max(axis=1)
            # Half of a panel that is hardly better than the whole shows the noise of the cdf.
            noise = (error < _NOISE) & (error > 0.3 * before)
            number_fitted += len(panels)
            again = poor & (error > self.accuracy) & ~noise & (depth < _DEEPEST - 1)
            again &= (panels[:, 2] - panels[:, 1] > 1e-9) & (number_fitted < _MOST)
            kept.append(panels[~again])
            series.append(flat[~again])
            if not again.any():
                break
            before = np.tile(error[again], 2)
            number, start, end = panels[again].T
            middle = 0.5 * (start + end)
            panels = np.concatenate(
                [np.stack([number, *part], -1) for part in ((start, middle), (middle, end))]
            )
        self._sort(np.concatenate(kept), np.concatenate(series))

    def _sort(self, panels, series):
        """Panels from left to right, and straight lines over the gaps that floats leave."""
        order = np.lexsort((panels[:, 1], panels[:, 0]))
        panels, series = panels[order], series[order]
        low, high = self._at(panels, np.array([-1.0, 1.0])).T
        # Ends are where their floats are: a rounded end must not be a jump.
        for k, segment in enumerate(self.segments):
            own = panels[:, 0] == k
            panels[own, 1], panels[own, 2] = segment.to_line(low[own]), segment.to_line(high[own])
        left, right = self.segments[0].low, self.segments[-1].high
        start = np.concatenate([[left] if np.isfinite(left) else low[:1], high])
        stop = np.concatenate([low, [right] if np.isfinite(right) else high[-1:]])
        before = np.concatenate(
            [[0.0 if np.isfinite(left) else series[0] @ (-1.0) ** _ORDER], series.sum(axis=1)]
        )
        after = np.concatenate(
            [series @ (-1.0) ** _ORDER, [1.0 if np.isfinite(right) else series[-1].sum()]]
        )
        gap = np.flatnonzero(stop > start)
        straight = np.zeros((gap.size, _DEGREE + 1))
        straight[:, 0], straight[:, 1] = 0.5 * (before + after)[gap], 0.5 * (after - before)[gap]
        # Straight lines have the number -1 and are in x itself
        bridges = np.stack([np.full(gap.size, -1.0), start[gap], stop[gap]], axis=-1)
        low, high = np.concatenate([low, start[gap]]), np.concatenate([high, stop[gap]])
        panels, series = np.concatenate([panels, bridges]), np.concatenate([series, straight])
        order = np.argsort(low, kind="stable")
        order = order[high[order] > low[order]]
        self.panels, self.low, self.high = panels[order], low[order], high[order]
        self.series = series[order]
        slopes = np.polynomial.chebyshev.chebder(self.series, axis=1)
        self.slopes = slopes * (2 / (self.panels[:, 2] - self.panels[:, 1]))[:, None]
        self.mesh = self._mesh()

    def _mesh(self):
        """Ends of pieces on which every panel is close to a polynomial in x."""
        number, start, end = self.panels.T
        mass = 2 * np.abs(self.series[:, 1:]).sum(axis=1)
        cuts = np.where((number >= 0) & (mass > 1e-15), np.ceil((end - start) / _LONGEST), 1)
        row = np.repeat(np.arange(len(cuts)), cuts.astype(int))
        step = np.arange(row.size) - np.repeat(np.cumsum(cuts) - cuts, cuts.astype(int))
        inner = step > 0
        points = (2 * step / cuts[row] - 1)[inner]
        x = self._at(self.panels[row[inner]], points[:, None])
        return np.unique(np.concatenate([self.low, self.high, x.ravel()]))

    def _look_up(self, x):
        """Panel of every value, and its place in [-1, 1] there."""
        index = np.clip(np.searchsorted(self.low, x, side="right") - 1, 0, self.low.size - 1)
        number, start, end = self.panels[index].T
        line = x.copy()
        for k, segment in enumerate(self.segments):
            line[number == k] = segment.to_line(x[number == k])
        line = np.clip(line, start, end)  # values beyond all panels
        return index, ((line - start) - (end - line)) / (end - start)

    def cdf(self, x):
        """P(X <= x) for an array of one dimension."""
        index, place = self._look_up(x)
        value = _clenshaw(self.series, index, place)
        return np.where(x <= self.low[0], 0.0, np.where(x >= self.high[-1], 1.0, value))

    def density(self, x):
        """Density at x."""
        index, place = self._look_up(x)
        value = _clenshaw(self.slopes, index, place)
        number = self.panels[index, 0]
        with np.errstate(divide="ignore"):
            for k, segment in enumerate(self.segments):
                value[number == k] *= segment.slope(x[number == k])
        return np.where((x > self.low[0]) & (x < self.high[-1]), value, 0.0)

    def quantile(self, p):
        """Rough quantile, to start from."""
        value = np.maximum.accumulate(self.cdf(self.mesh))
        return float(np.interp(p, value, self.mesh))


def _clenshaw(series, index, place):
    """Chebyshev series of the rows `index` at `place`."""
    terms, first, second = series[index].T, 0.0, 0.0
    for term in terms[:0:-1]:
        first, second = 2 * place * first - second + term, first
    return place * first - second + terms[0]


def difference_integral(a, b, t, density=False):
    """P(B - A <= t) of two curves, or the density of B - A there.

    The pieces end wherever a panel of one of the two does, so that both are smooth on each of them.
    The probability is the mean of the integral over A and of the integral over B, by parts: that
    takes what rounding leaves of nodes next to the ends of the range out of the exchange of both.
    """
    ends = np.unique(np.concatenate([a.mesh, b.mesh - t]))
    ends = ends[(ends >= a.mesh[0]) & (ends <= a.mesh[-1])]
    at_a, at_b = a.cdf(ends), b.cdf(ends + t)
    mass_a, mass_b = np.diff(at_a), np.diff(at_b)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    # Pieces that hold few floats have no room for nodes: straight lines.
    narrow = half < _NARROW * np.maximum(np.abs(middle), np.abs(middle + t))
    pick = ~narrow & ((np.abs(mass_a) > 1e-17) | (np.abs(mass_b) > 1e-17))
    x = (middle[pick, None] + half[pick, None] * _GAUSS).ravel()
    weight, rate_a, rate_b = (half[pick, None] * _WEIGHT).ravel(), a.density(x), b.density(x + t)
    if density:
        # Next to a singular point of one the other is smooth: the mass of the first counts with the
        # density of the other, as its own is a difference of rounded values over next to nothing.
        own, other = (0.5 * (at[1:] + at[:-1]) for at in (a.density(ends), b.density(ends + t)))
        lines = np.where(np.abs(other) <= np.abs(own), mass_a * other, mass_b * own)
        return weight @ (rate_a * rate_b) + lines[narrow].sum()
    shape = (-1, _GAUSS.size)
    over_a, over_b, seen_a, seen_b = (
        (weight * part).reshape(shape).sum(axis=1)
        for part in (rate_a * b.cdf(x + t), rate_b * a.cdf(x), rate_a, rate_b)
    )
    # Far from 0 floats are coarse, and all of one variable may lie between two nodes. Then it is
    # integrated over the other one, whose density the nodes do see.
    miss_a, miss_b = (
        np.abs(seen - mass[pick]) > 0.01 * np.abs(mass[pick]) + 1e-9
        for seen, mass in ((seen_a, mass_a), (seen_b, mass_b))
    )
    whole = (at_a[1:] * at_b[1:] - at_a[:-1] * at_b[:-1])[pick]
    lines = 0.5 * mass_a * (at_b[1:] + at_b[:-1])
    # Half of it is what both have gained between the ends, half the difference of the integrals.
    value = 0.5 * (over_a - over_b + whole)
    value = np.where(miss_b, over_a, np.where(miss_a, whole - over_b, value))
    value = np.where(miss_a & miss_b, lines[pick], value)
    return value.sum() + lines[~pick].sum()
