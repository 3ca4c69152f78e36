"""Posteriors known through random draws."""

import numpy as np

from skuncertain._distributions import Posterior, check_probability, plain
from skuncertain._intervals import shortest_of_sorted

_BATCHES = 20  # of the draws, to see how much an interval varies between them


class DrawsPosterior(Posterior):
    """Posterior known through random draws.

    Parameters
    ----------
    draws : ndarray of shape (..., n_draws)
        The draws. NaN draws (the metric is undefined there) are left out of every answer.
    seed : int, default=None
        Seed that produced them.
    **info : dict
        Metric name, prior, observed value and the like.
    """

    exact = False

    def __init__(self, draws, *, seed=None, **info):
        draws = np.asarray(draws, dtype=float)
        super().__init__(draws.shape[:-1], **info)
        undefined = np.isnan(draws).mean(axis=-1)
        self.undefined = plain(undefined)
        self.draws = draws
        self.draws.flags.writeable = False
        self._complete = not np.any(undefined)
        self._sorted = np.sort(draws, axis=-1)  # NaN last
        self.seed, self.n_draws = seed, draws.shape[-1]

    def _describe(self):
        return [f"n_draws={self.n_draws}", f"seed={self.seed}"]

    def _mean(self):
        return self._reduce(np.mean, np.nanmean)

    def _std(self):
        return self._reduce(np.std, np.nanstd)

    def _reduce(self, plain, skipping):
        with np.errstate(invalid="ignore", over="ignore"):  # an odds ratio may be infinite
            if self._complete:
                return plain(self.draws, axis=-1)
            empty = np.isnan(self.draws).all(axis=-1, keepdims=True)
            safe = np.where(empty, 0.0, self.draws)
            return np.where(empty[..., 0], np.nan, skipping(safe, axis=-1))

    def monte_carlo_error(self, q=None):
        """Standard error that the number of draws leaves.

        Parameters
        ----------
        q : float, default=None
            Of the quantile at `q`; by default of the mean.

        Returns
        -------
        float or ndarray
            The standard error.
        """
        n = np.maximum(np.sum(~np.isnan(self.draws), axis=-1), 1)
        if q is None:
            return np.asarray(self.std()) / np.sqrt(n)
        q = float(check_probability(q))
        half = np.sqrt(q * (1 - q) / n)  # one standard error of the empirical cdf
        low, high = np.clip(q - half, 0, 1), np.clip(q + half, 0, 1)
        ends = self._empirical(low), self._empirical(high)
        with np.errstate(invalid="ignore"):
            spread = 0.5 * (ends[1] - ends[0])
        return np.where(ends[0] == ends[1], 0.0, spread)  # both may be infinite

    def interval_error(self, level=0.95, kind="eti"):
        """Monte Carlo error of the ends of an interval.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        float or ndarray
            Standard error of the less certain end. For highest-density intervals it is taken from
            the spread between batches of the draws, and shrinks with the cube root of their number.
        """
        if kind == "eti" or self.n_draws < 10 * _BATCHES:
            tails = (1 - level) / 2, (1 + level) / 2
            return plain(np.maximum(*(self.monte_carlo_error(tail) for tail in tails)))
        size = self.n_draws // _BATCHES
        batches = self.draws[..., : size * _BATCHES].reshape(*self.shape, _BATCHES, size)
        ends = DrawsPosterior(batches)._hdi(level)
        spread = np.maximum(*(np.std(end, axis=-1, ddof=1) for end in ends))
        return plain(spread * _BATCHES ** (-1 / 3))

    def _empirical(self, q):
        """Quantile by linear interpolation, one probability per member of the stack."""
        n = np.sum(~np.isnan(self._sorted), axis=-1)
        position = np.broadcast_to(q, n.shape) * np.maximum(n - 1, 0)
        below = np.floor(position).astype(int)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        left = np.take_along_axis(self._sorted, below[..., None], axis=-1)[..., 0]
        right = np.take_along_axis(self._sorted, above[..., None], axis=-1)[..., 0]
        with np.errstate(invalid="ignore"):
            mixed = left + (right - left) * (position - below)
        return np.where(left == right, left, mixed)

    def _pdf(self, x):
        x = np.asarray(x, dtype=float)
        x, index = np.broadcast_arrays(x, np.arange(int(np.prod(self.shape))).reshape(self.shape))
        flat = self._sorted.reshape(-1, self.n_draws)
        value = np.zeros(x.size)
        points, rows = x.ravel(), index.ravel()
        for row in np.unique(rows):
            value[rows == row] = self._kernel_density(points[rows == row], flat[row])
        return value.reshape(x.shape)

    def _kernel_density(self, points, draws):
        draws = draws[np.isfinite(draws)]
        if draws.size == 0:
            return np.full(points.size, np.nan)
        iqr = np.subtract(*np.quantile(draws, [0.75, 0.25]))
        width = 0.9 * min(draws.std(), iqr / 1.34 or np.inf) * draws.size**-0.2
        if width == 0:
            return np.where(points == draws[0], np.inf, 0.0)
        # Mirrored at the ends of the range, so that no mass leaks out.
        images = [draws, *(2 * end - draws for end in self.range if np.isfinite(end))]
        total = np.array(
            [
                sum(np.exp(-0.5 * ((point - image) / width) ** 2).sum() for image in images)
                for point in points
            ]
        )
        inside = (points >= self.range[0]) & (points <= self.range[1])
        return np.where(inside, total / (draws.size * width * np.sqrt(2 * np.pi)), 0.0)

    def _cdf(self, x):
        x = np.asarray(x, dtype=float)
        x, index = np.broadcast_arrays(x, np.arange(int(np.prod(self.shape))).reshape(self.shape))
        flat = self._sorted.reshape(-1, self.n_draws)
        n = np.sum(~np.isnan(flat), axis=-1)
        value = np.full(x.size, np.nan)
        for k, (point, row) in enumerate(zip(x.ravel(), index.ravel(), strict=True)):
            if n[row] and not np.isnan(point):
                value[k] = np.searchsorted(flat[row, : n[row]], point, side="right") / n[row]
        return value.reshape(x.shape)

    def _quantile(self, q):
        values = [self._empirical(p) for p in q.ravel()]
        return np.stack(values, axis=-1).reshape(self.shape + q.shape)

    def _sample(self, size, rng):
        return self.draws[..., rng.integers(self.n_draws, size=size)]

    def _hdi(self, level):
        if self._complete:
            return shortest_of_sorted(self._sorted, level)
        flat = self._sorted.reshape(-1, self.n_draws)
        ends = np.full((2, flat.shape[0]), np.nan)
        for row, draws in enumerate(flat):
            defined = draws[~np.isnan(draws)]
            if defined.size:
                ends[:, row] = shortest_of_sorted(defined, level)
        return ends[0].reshape(self.shape), ends[1].reshape(self.shape)
