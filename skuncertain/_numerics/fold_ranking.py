"""Which candidate of a search is best: the joint model of fold scores on shared folds."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr, stdtr

from skuncertain._numerics.best_of_many import PAIR_LIMIT, RANK_LIMIT, DrawCounter
from skuncertain._numerics.shrinkage import LEAST_GROUPS, freedom_of, shrink_means

_FAR = 4.0  # candidates that are further below the best, in units of the noise, are no contenders
_CHUNK = 500_000  # numbers worked on at once: 4 MiB, of which there are a few


def round_gaps(gaps, *scores):
    """Gaps without the rounding errors of their scores, so that equal ones are equal."""
    unit = 2.0**-47 * max(np.fmax.reduce(np.abs(part), axis=None) for part in scores) or 1.0
    return np.round(gaps / unit) * unit


def tie_groups(values):
    """Number the distinct rows of `values` in the order of their first occurrence.

    Numbers that differ by rounding errors are the same.
    """
    if values.dtype.kind == "f":
        values = np.round(values / (2.0**-36 * np.abs(values).max() or 1.0))
        values = values + 0.0  # -0 is 0
    number: dict = {}  # by their bytes: rows may be as long as a test set
    return np.array([number.setdefault(row.tobytes(), len(number)) for row in values], dtype=int)


class FoldRanking:
    """Order of the m candidates of a search; everything is computed when it is asked for.

    Candidate i has the value ``mean_i + deviations_i @ z``, where z is Student's t with n - 1
    degrees of freedom in n dimensions, the same for all candidates: every pair is the correlated t
    test. With `shrinkage`, all that is about the whole order comes from values that were shrunk
    towards each other (`shrink_means`) and keep the correlations of the folds.

    Parameters
    ----------
    scores : ndarray of shape (m, n)
        Fold scores, more is better.
    ratio : float
        Test rows over training rows.
    n_draws, seed : int
        Of what has no closed form.
    shrinkage : bool
        Whether to shrink.
    """

    def __init__(self, scores, ratio, n_draws, seed, shrinkage=True):
        self.tie_group = tie_groups(scores)
        self.sizes = np.bincount(self.tie_group)  # members of every group
        self.m, self.n = scores.shape
        first = np.unique(self.tie_group, return_index=True)[1]
        self.mean = scores[first].mean(axis=1)
        scale = np.sqrt((1 / self.n + ratio) / (self.n - 1))
        self.deviations = round_gaps(scores[first] - self.mean[:, None], scores) * scale
        self.n_draws, self.seed, self.shrinkage = n_draws, seed, shrinkage

    @cached_property
    def shrunk(self):
        """Values that were shrunk towards each other, or None: without shrinkage, or noise.

        Unless all are equal, only contenders are shrunk: in a grid others are far off, and say
        nothing about the best.
        """
        groups = self.sizes.size
        noise = np.square(self._contrasts).sum() / max(groups - 1, 1)
        if not self.shrinkage or groups < LEAST_GROUPS or not noise > 0:
            return None
        found = self._shrink(np.ones(groups, dtype=bool))
        if found.equal:
            return found
        contenders = self.mean >= self.mean.max() - _FAR * np.sqrt(noise)
        part = self._shrink(contenders)
        mean, variance = self.mean.copy(), np.full(groups, noise)
        mean[contenders], variance[contenders] = part.mean, part.variance
        return replace(part, mean=mean, variance=variance, p_value=found.p_value)

    def _shrink(self, which):
        """Shrink some of the groups."""
        deviations = self.deviations[which]
        contrasts = deviations - deviations.mean(axis=0)
        noise = np.square(contrasts).sum() / max(len(contrasts) - 1, 1)
        freedom = freedom_of(deviations) if noise > 0 else None
        return shrink_means(self.mean[which], noise, freedom, self.n - 1)

    @property
    def _contrasts(self):
        """Deviations without what all candidates have in common."""
        return self.deviations - self.deviations.mean(axis=0)

    @property
    def all_equal(self):
        """Whether the candidates differ by no more than their noise explains."""
        found = self.shrunk
        return found is not None and found.equal and float(np.ptp(found.mean)) == 0

    @property
    def weight(self):
        """Share of the variance that shrinkage has left."""
        return 1.0 if self.shrunk is None else self.shrunk.weight

    @cached_property
    def _normal(self):
        """Means, and deviations that a standard normal z turns into draws; of shrunk values."""
        contrasts, m = self._contrasts, self.sizes.size
        # Without what all have in common, variances are smaller by the share 1 / m.
        length = np.sqrt(np.square(contrasts).sum(axis=1) * m / (m - 1))
        factor = np.sqrt(self.shrunk.variance) / np.where(length > 0, length, 1.0)
        return self.shrunk.mean, contrasts * factor[:, None]

    def _draws(self):
        """Chunks of joint draws of the groups, shape (groups, draws)."""
        mean, deviations = (self.mean, self.deviations) if self.shrunk is None else self._normal
        size = max(1, _CHUNK // self.m)
        starts = range(0, self.n_draws, size)
        seeds = np.random.SeedSequence(self.seed).spawn(len(starts))
        for start, child in zip(starts, seeds, strict=True):
            rng, number = np.random.default_rng(child), min(size, self.n_draws - start)
            z = rng.standard_normal((self.n, number))
            if self.shrunk is None:
                z /= np.sqrt(rng.chisquare(self.n - 1, number) / (self.n - 1))
            yield start, mean[:, None] + deviations @ z

    @cached_property
    def _counted(self):
        """P(best) of the groups, and their expected loss."""
        counter = DrawCounter(self.sizes.size, keep_ranks=False, keep_pairs=False)
        for _, draws in self._draws():
            counter.add(draws, rank=False)
        return counter.best / counter.n, counter.loss / counter.n

    @property
    def p_best(self):
        """Probability that the group of a candidate is the best; sums to 1 over groups."""
        return self._counted[0][self.tie_group]

    @property
    def expected_loss(self):
        """How much worse than the best, on average."""
        return self._counted[1][self.tie_group]

    @cached_property
    def pairwise(self):
        """P(row better than column) by the correlated t, ties count half; None for too many."""
        return self._pairs(self.mean, self.deviations, t=True) if self.m <= PAIR_LIMIT else None

    @cached_property
    def expected_rank(self):
        """Mean of the rank, 1 is the best; in a group of equals, of its middle."""
        if self.m > PAIR_LIMIT:
            return self._ranked[0]
        pairs = self.pairwise if self.shrunk is None else self._pairs(*self._normal, t=False)
        return 0.5 + pairs.sum(axis=0)  # how many are better, and one half for itself

    @property
    def rank_probabilities(self):
        """Entry (i, k) is P(i has rank k + 1), members of a group share; None for too many."""
        return self._ranked[1] if self.m <= RANK_LIMIT else None

    @cached_property
    def _ranked(self):
        """Expected rank and rank probabilities from draws."""
        counter = DrawCounter(self.m, self.m <= RANK_LIMIT, keep_pairs=False)
        most = min(self.n_draws, max(1000, int(1e7 / self.m)))  # sorting is what costs
        rng = np.random.default_rng([self.seed, 1])
        for start, draws in self._draws():
            if start >= most:
                break
            if self.shrunk is not None and self.shrunk.equal:  # equal groups have any order
                draws += 1e-9 * np.ptp(self.mean) * rng.random(draws.shape)
            counter.add(draws[self.tie_group, : most - start])
        ranking = counter.ranking()
        return ranking.expected_rank, ranking.rank_probabilities

    def _pairs(self, mean, deviations, t):
        """P(row better than column) of all candidates."""
        pairs = np.empty((mean.size, mean.size))
        for i in range(mean.size):
            gap = round_gaps(mean[i] - mean, mean)
            noise = round_gaps(deviations[i] - deviations, deviations)
            spread = np.sqrt(np.square(noise).sum(axis=1))
            z = gap / np.where(spread > 0, spread, 1.0)
            p = stdtr(self.n - 1, z) if t else ndtr(z)
            pairs[i] = np.where(spread > 0, p, np.sign(gap) / 2 + 0.5)
        return pairs[np.ix_(self.tie_group, self.tie_group)]
