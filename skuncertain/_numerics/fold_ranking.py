"""Which candidate of a search is best: the joint model of fold scores on shared folds."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import ndtr, stdtr

from skuncertain._numerics.best_of_many import PAIR_LIMIT, RANK_LIMIT, DrawCounter
from skuncertain._numerics.shrinkage import LEAST_GROUPS, shrink_means

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
    _, first, group = np.unique(values, axis=0, return_index=True, return_inverse=True)
    number = np.empty(first.size, dtype=int)
    number[np.argsort(first)] = np.arange(first.size)
    return number[group.ravel()]


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
        """Values that were shrunk towards each other, or None: without shrinkage, or noise."""
        groups = self.sizes.size
        if not self.shrinkage or groups < LEAST_GROUPS:
            return None
        noise = np.square(self._contrasts).sum() / (groups - 1)
        return shrink_means(self.mean, noise) if noise > 0 else None

    @property
    def _contrasts(self):
        """Deviations without what all candidates have in common."""
        return self.deviations - self.deviations.mean(axis=0)

    @property
    def p_equal(self):
        """Probability that all candidates are equally good."""
        return 0.0 if self.shrunk is None else self.shrunk.p_equal

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
        """Chunks of joint draws of the groups, shape (groups, draws), if they are not all equal."""
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
        best, loss = counter.best / counter.n, counter.loss / counter.n
        p = self.p_equal
        return p / self.sizes.size + (1 - p) * best, (1 - p) * loss

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
        rank = 0.5 + pairs.sum(axis=0)  # how many are better, and one half for itself
        return self.p_equal * 0.5 * (self.m + 1) + (1 - self.p_equal) * rank

    @property
    def rank_probabilities(self):
        """Entry (i, k) is P(i has rank k + 1), members of a group share; None for too many."""
        return self._ranked[1] if self.m <= RANK_LIMIT else None

    @cached_property
    def _ranked(self):
        """Expected rank and rank probabilities from draws."""
        counter = DrawCounter(self.m, self.m <= RANK_LIMIT, keep_pairs=False)
        most = min(self.n_draws, max(1000, int(1e7 / self.m)))  # sorting is what costs
        alike = round(self.p_equal * most)  # draws in which any order is as good as any other
        rng = np.random.default_rng([self.seed, 1])
        for start, draws in self._draws():
            if start >= most:
                break
            draws = draws[:, : most - start]
            number = min(max(alike - start, 0), draws.shape[1])
            draws[:, :number] = rng.standard_normal((len(draws), number))
            counter.add(draws[self.tie_group])
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
