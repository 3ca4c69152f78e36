"""Posteriors known through random draws."""

import itertools

import numpy as np

from skuncertain._numerics.mode import mode_of_sorted
from skuncertain._numerics.shortest_interval import shortest_of_sorted
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import FewDrawsWarning
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, check_probability, plain

_FEWEST_BEYOND = 50  # draws beyond a quantile
_USUAL_TAIL = 0.0249  # those of intervals at 95 % are left alone: their error is well known
_BATCHES = 20  # of the draws, to see how much an interval varies between them


class DrawsPosterior(Posterior):
    """Posterior known through random draws.

    Parameters
    ----------
    draws : ndarray of shape (..., n_draws)
        The draws. NaN draws (the metric is undefined there) are left out of every answer.
    seed : int, default=None
        Seed that produced them.
    about : About, default=About()
        Metric name, prior, observed value and the like.
    """

    exact = False

    def __init__(self, draws, *, seed=None, about=About()):
        draws = np.asarray(draws, dtype=float)
        super().__init__(draws.shape[:-1], about)
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

    def _skewness(self):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            away = (self.draws - self._mean()[..., None]) / self._std()[..., None]
            return np.where(
                self._std() > 0, np.mean(away**3, axis=-1, where=~np.isnan(self.draws)), np.nan
            )

    def _mode(self):
        if self._complete:
            return mode_of_sorted(self._sorted.reshape(-1, self.n_draws)).reshape(self.shape)
        return self._of_members(lambda draws: mode_of_sorted(draws[None])[0])

    def _of_members(self, function):
        """``function(draws)`` of the defined draws of every member; NaN where there are none."""
        flat = self._sorted.reshape(-1, self.n_draws)
        defined = [draws[~np.isnan(draws)] for draws in flat]
        values = [function(draws) if draws.size else np.nan for draws in defined]
        return np.reshape(values, self.shape)

    def _reduce(self, plain, skipping):
        with np.errstate(invalid="ignore", over="ignore"):  # an odds ratio may be infinite
            if self._complete:
                return plain(self.draws, axis=-1)
            empty = np.isnan(self.draws).all(axis=-1, keepdims=True)
            safe = np.where(empty, 0.0, self.draws)
            return np.where(empty[..., 0], np.nan, skipping(safe, axis=-1))

    def _monte_carlo_error(self, q):
        n = np.maximum(np.sum(~np.isnan(self.draws), axis=-1), 1)
        if q is None:
            return self._std() / np.sqrt(n)
        q = float(q)
        half = np.sqrt(q * (1 - q) / n)  # one standard error of the empirical cdf
        low, high = (self._empirical(np.clip(q + move, 0, 1)) for move in (-half, half))
        with np.errstate(invalid="ignore"):
            return np.where(low == high, 0.0, 0.5 * (high - low))  # both may be infinite

    def _interval_error(self, level, kind):
        if kind == "eti" or self.n_draws < 10 * _BATCHES:
            tails = (1 - level) / 2, (1 + level) / 2
            return np.maximum(*(self._monte_carlo_error(tail) for tail in tails))
        size = self.n_draws // _BATCHES
        batches = self.draws[..., : size * _BATCHES].reshape(*self.shape, _BATCHES, size)
        ends = DrawsPosterior(batches)._hdi(level)
        return np.maximum(*(np.std(end, axis=-1, ddof=1) for end in ends)) * _BATCHES ** (-1 / 3)

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

    def _for_members(self, function, x):
        """``function(points, draws)`` of the points and the defined draws of every member."""
        flat = self._sorted.reshape(-1, self.n_draws)
        members = np.arange(len(flat)).reshape(self.shape)
        x, member = np.broadcast_arrays(np.asarray(x, dtype=float), members)
        order = np.argsort(member, axis=None, kind="stable")
        bounds = np.searchsorted(member.ravel()[order], np.arange(len(flat) + 1))
        points, value = x.ravel(), np.empty(x.size)
        for draws, (start, stop) in zip(flat, itertools.pairwise(bounds), strict=True):
            place = order[start:stop]
            value[place] = function(points[place], draws[~np.isnan(draws)])
        return value.reshape(x.shape)

    def _pdf(self, x):
        return self._for_members(self._kernel_density, x)

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
        return self._for_members(_empirical_cdf, x)

    def quantile(self, q):
        """Quantile, with a warning where few draws lie beyond it; see `Posterior.quantile`."""
        self._warn_of_tail(check_probability(q))
        return super().quantile(q)

    def _ends(self, level, kind):
        self._warn_of_tail(np.array((1 - level) / 2))
        return super()._ends(level, kind)

    def _warn_of_tail(self, q):
        """Warn if so few draws lie beyond a quantile that it is mostly chance."""
        tail = np.minimum(q, 1 - q)
        far = tail[(tail > 0) & (tail < _USUAL_TAIL)]
        if far.size == 0:
            return
        beyond = self.n_draws * float(far.min())
        if beyond < _FEWEST_BEYOND:
            enough = int(np.ceil(_FEWEST_BEYOND / far.min() / 1000 - 1e-6)) * 1000
            warn_user(
                f"{beyond:.3g} of {self.n_draws} draws lie beyond the quantile that is asked for: "
                f"it is uncertain, see interval_error(). n_draws={enough} leaves "
                f"{_FEWEST_BEYOND} there.",
                FewDrawsWarning,
            )

    def _quantile(self, q):
        values = [self._empirical(p) for p in q.ravel()]
        return np.stack(values, axis=-1).reshape(self.shape + q.shape)

    def _quantile_each(self, p):
        parts = p.reshape(-1, *self.shape)
        return np.stack([self._empirical(part) for part in parts]).reshape(p.shape)

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
        return ends.reshape(2, *self.shape)


def _empirical_cdf(points, draws):
    """Share of the sorted draws that are not above the points."""
    if draws.size == 0:
        return np.full(points.size, np.nan)
    share = np.searchsorted(draws, points, side="right") / draws.size
    return np.where(np.isnan(points), np.nan, share)


def default_draws(cells, size):
    """20,000, fewer for matrices or stacks so large that it would take minutes."""
    return int(np.clip(min(5e7 / cells, 1e8 / max(size, 1)), 1000, 20_000))


def seeded_chunks(n_draws, size, seed):
    """Yield (place, generator) for chunks of draws, so that few of them are in memory at once.

    Every chunk has a stream of random numbers of its own.
    """
    starts = range(0, n_draws, size)
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        yield slice(start, min(start + size, n_draws)), np.random.default_rng(child)
