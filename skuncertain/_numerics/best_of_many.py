"""Which of many is best: on a shared grid for independent Betas, by counting for joint draws."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import legendre
from scipy.special import betaln

from skuncertain._numerics.beta import beta_cdf, beta_quantile, odds_slope, scale_odds
from skuncertain._numerics.shrinkage import freedom_of, shrink_means

RANK_LIMIT = 300  # the distribution of ranks costs m**2 per node
PAIR_LIMIT = 1000  # beyond, the pairwise matrix is not kept
_ORDER = 16  # of the Gauss rule of every panel
_TAIL = 1e-15
_ORDERS = 4000  # orders of equal groups that are drawn for the ranks of their members
_FREEDOM_DRAWS = 2000  # draws that tell how much the errors of models have in common


@dataclass(frozen=True, eq=False)
class Ranking:
    """What is known about the order of m candidates; the first rank is 1.

    Attributes
    ----------
    p_best : ndarray of shape (m,)
        Probability of being the best; of a tie group that one of its members is.
    expected_rank : ndarray of shape (m,)
        Mean of the rank.
    expected_loss : ndarray of shape (m,)
        Mean of how much the best one is better.
    pairwise : ndarray of shape (m, m) or None
        Entry (i, j) is the probability that i is better than j.
    rank_probabilities : ndarray of shape (m, m) or None
        Entry (i, k) is the probability that i has rank k + 1.
    """

    p_best: np.ndarray
    expected_rank: np.ndarray
    expected_loss: np.ndarray
    pairwise: np.ndarray | None
    rank_probabilities: np.ndarray | None


def rank_betas(a, b, mean, odds=1.0, keep_ranks=True, keep_pairs=True):
    """Ranking of independent metrics, more is better, without random numbers.

    Metric i has `odds` times the odds of a Beta(a_i, b_i), and its mean is ``mean[i]``. Of too many
    metrics the tables of ranks and pairs are not kept.

    In theta = arcsin(sqrt(x)) all densities are about normal with standard deviation
    1 / (2 sqrt(a + b)), so that panels of a few of these with a Gauss rule integrate them exactly.
    """
    m = a.size
    width = 3.0 if m <= 20 else 1.0 if 100 < m <= RANK_LIMIT else 1.5
    step = width * 0.5 / np.sqrt((a + b).max() + 1)
    start, panels = _panels(a, b, step)
    node, weight = legendre.leggauss(_ORDER)
    # Integrals from -1 to every node of the polynomials that are 1 at one node, 0 at others
    polynomials = np.linalg.inv(legendre.legvander(node, node.size - 1))
    integrate = legendre.legval(node, legendre.legint(polynomials, lbnd=-1))
    log_norm = np.log(2.0) - betaln(a, b)
    cdf = beta_cdf(np.full(m, np.sin(start) ** 2), a, b)
    p_best, expected_rank, gain = np.zeros(m), np.ones(m), 0.0
    pairwise = np.zeros((m, m)) if keep_pairs and m <= PAIR_LIMIT else None
    ranks = np.zeros((m, m)) if keep_ranks and m <= RANK_LIMIT else None
    for left, right, from_end in panels:
        half = 0.5 * (right - left)
        angle = left + half * (node + 1)
        sine, cosine = np.sin(angle), np.cos(angle)
        if from_end:  # angles counted down from pi / 2, where the cosine has its digits
            sine, cosine = cosine[::-1], sine[::-1]
        log_density = (2 * a - 1)[:, None] * np.log(sine) + (2 * b - 1)[:, None] * np.log(cosine)
        density = np.exp(log_density + log_norm[:, None]) * half
        below = np.clip(cdf[:, None] + density @ integrate, 0.0, 1.0)
        cdf = np.clip(cdf + density @ weight, 0.0, 1.0)
        mass = density * weight
        with np.errstate(divide="ignore"):
            log_below = np.log(below)
        together = log_below.sum(axis=0)
        alive = together > -80.0  # the product of all cdfs is not negligible
        if alive.any():
            others = together[alive] - np.maximum(log_below[:, alive], -700.0)
            p_best += (mass[:, alive] * np.exp(np.minimum(others, 0.0))).sum(axis=1)
        above = (1 - below).sum(axis=0)
        expected_rank += (mass * (above - (1 - below))).sum(axis=1)
        slope = odds_slope(sine**2, odds) * 2 * sine * cosine
        gain += (weight * half * slope * (1 - np.exp(together))).sum()
        if pairwise is not None:
            pairwise += mass @ below.T
        if ranks is not None:
            ranks += _rank_probabilities(mass, 1 - below)
    best = scale_odds(np.sin(start) ** 2, odds) + gain  # E[max] = start + integral of 1 - F
    if pairwise is not None:
        np.fill_diagonal(pairwise, 0.5)
    return Ranking(p_best, expected_rank, np.maximum(best - mean, 0.0), pairwise, ranks)


def rank_equals(group, seed=0):
    """Ranking if any order of the groups is as probable as any other.

    Member i belongs to ``group[i]``; members of a group share ranks.
    """
    m, n_groups = group.size, group.max() + 1
    ranks = np.full((m, m), 1 / m) if m <= PAIR_LIMIT else None
    if ranks is not None and n_groups < m:
        draws = np.random.default_rng([seed, 1]).random((n_groups, _ORDERS))
        ranks = rank_draws(draws, group).rank_probabilities
    return Ranking(np.full(m, 1 / n_groups), np.full(m, 0.5 * (m + 1)), np.zeros(m), None, ranks)


def shrink_betas(a, b):
    """Shapes of independent metrics after `shrink_means`, and what that found.

    In theta = arcsin(sqrt(x)) a Beta(a, b) is about normal with variance 1 / (4 (a + b + 1)),
    whatever its mean; a Beta with the shrunk mean and variance takes its place.
    """
    angle, total = np.arcsin(np.sqrt(a / (a + b))), a + b
    found = shrink_means(angle, 0.25 / (total + 1))
    if found.weight == 1 or found.equal:  # nothing to shrink, or no order at all
        return a, b, found
    total = np.maximum(0.25 / found.variance - 1, total)
    share = np.sin(np.clip(found.mean, 0.0, np.pi / 2)) ** 2
    # Shapes below 0.1 are nearly atoms at the ends, which the grid of `rank_betas` cannot see.
    return np.maximum(share * total, 0.1), np.maximum((1 - share) * total, 0.1), found


def shrink_draws(draws, shared):
    """Joint draws of m metrics after `shrink_means`, and what that found.

    `shared` says that the errors of all metrics have something in common, which does not matter.
    """
    mean = draws.mean(axis=1)
    errors = draws - mean[:, None]
    if shared:
        errors -= errors.mean(axis=0)
    m = len(draws)
    # Without what all have in common, the variance is smaller by the share 1 / m.
    variance = errors.var(axis=1) * (m / (m - 1) if shared and m > 1 else 1.0)
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    freedom = freedom_of(errors[:, :_FREEDOM_DRAWS] / scale[:, None]) if shared and m > 1 else None
    found = shrink_means(mean, variance, freedom)
    if found.weight == 1 or found.equal:
        return draws, found
    factor = np.sqrt(found.variance) / scale
    return found.mean[:, None] + factor[:, None] * errors, found


def rank_draws(draws, group=None):
    """Ranking from joint draws of shape (m, n_draws), more is better.

    With `group`, the draws are those of groups, and member i belongs to ``group[i]``: the group is
    the best, its members share ranks.
    """
    n_groups, n_draws = draws.shape
    group = np.arange(n_groups) if group is None else group
    m = group.size
    best = DrawCounter(n_groups, keep_ranks=False, keep_pairs=False)
    counter = DrawCounter(m, keep_ranks=m <= PAIR_LIMIT, keep_pairs=m <= RANK_LIMIT)
    step = max(1, 2_000_000 // m)
    for start in range(0, n_draws, step):
        part = draws[:, start : start + step]
        best.add(part, rank=False)
        counter.add(part[group])
    p_best, loss = best.best / n_draws, best.loss / n_draws
    return replace(counter.ranking(), p_best=p_best[group], expected_loss=loss[group])


def _panels(a, b, step):
    """Where to start, and panels (left, right, counted from the end) that cover all densities.

    Next to 0 and pi / 2 a density is a power of the angle, whole or not: there the panels double in
    width, away from the end, until they have the common width.
    """
    tails = [beta_quantile(_TAIL, p, q).min() for p, q in ((a, b), (b, a))]
    ends = [max(float(np.arcsin(np.sqrt(tail))), 1e-80) for tail in tails]
    middle = min(max(np.pi / 4, ends[0]), np.pi / 2 - ends[1])
    sides = []
    for end, reach in zip(ends, (middle, np.pi / 2 - middle), strict=True):
        edges = [end]
        while edges[-1] < reach:
            edges.append(min(edges[-1] + min(edges[-1], step), reach))
        sides.append(edges)
    left = [(low, high, False) for low, high in itertools.pairwise(sides[0])]
    right = [(low, high, True) for low, high in itertools.pairwise(sides[1])]
    return ends[0], left + right[::-1]


def _rank_probabilities(mass, p):
    """Sum over nodes of mass_i times P(k of the others are above), shape (m, m).

    The number above is a sum of independent Bernoulli variables: all together by the recursion of
    the Poisson binomial, then without i by undoing one step, forwards or backwards, whichever is
    stable.
    """
    m, nodes = p.shape
    q = np.zeros((m + 1, nodes))
    q[0] = 1.0
    for j in range(m):
        q[1 : j + 2] = q[1 : j + 2] * (1 - p[j]) + q[: j + 1] * p[j]
        q[0] *= 1 - p[j]
    result = np.zeros((m, m))
    small = p <= 0.5
    forward, backward = np.zeros((m, nodes)), np.zeros((m, nodes))
    safe_low, safe_high = np.where(small, 1 - p, 1.0), np.where(small, 1.0, p)
    for k in range(m):
        forward = (q[k] - p * forward) / safe_low
        result[:, k] += (np.where(small, mass, 0.0) * forward).sum(axis=1)
        last = m - 1 - k
        backward = (q[last + 1] - (1 - p) * backward) / safe_high
        result[:, last] += (np.where(small, 0.0, mass) * backward).sum(axis=1)
    return result


class DrawCounter:
    """Ranking of m candidates from joint draws that come in chunks ``(m, draws)``.

    Parameters
    ----------
    m : int
        Number of candidates.
    keep_ranks, keep_pairs : bool
        Whether to count the m x m tables.
    """

    def __init__(self, m, keep_ranks, keep_pairs):
        self.n = self.ranked = 0
        self.best, self.rank, self.loss = np.zeros((3, m))
        self.ranks = np.zeros((m, m + 1)) if keep_ranks else None
        self.pairs = np.zeros((m, m)) if keep_pairs else None

    def add(self, draws, rank=True):
        """Count a chunk of draws, more is better; ties are shared."""
        top = draws.max(axis=0)
        winners = draws == top
        number = winners.sum(axis=0)
        self.best += (winners / number if number.max() > 1 else winners).sum(axis=1)
        self.loss += top.sum() - draws.sum(axis=1)
        self.n += draws.shape[1]
        if rank:
            self._add_ranks(draws)

    def _add_ranks(self, draws):
        m, size = draws.shape
        falling = np.ascontiguousarray(-draws.T)
        order = np.argsort(falling, axis=1)
        ordered = np.take_along_axis(falling, order, axis=1)
        if np.any(ordered[:, 1:] == ordered[:, :-1]):
            first, last = (_put_back(place, order) for place in _shared_places(ordered))
        else:
            first = last = _put_back(np.broadcast_to(np.arange(1, m + 1), (size, m)), order)
        self.rank += 0.5 * (first + last).sum(axis=1)
        self.ranked += size
        if self.ranks is not None:  # ties share all their ranks: +1/k at the first, -1/k behind
            row, share = np.arange(m)[:, None] * (m + 1), 1 / (last - first + 1)
            for place, sign in ((first - 1, 1), (last, -1)):
                flat = np.bincount((row + place).ravel(), share.ravel(), m * (m + 1))
                self.ranks += sign * flat.reshape(m, m + 1)
        if self.pairs is not None:
            for i in range(m):
                self.pairs[i] += (draws[i] > draws).sum(axis=1) + 0.5 * (draws[i] == draws).sum(
                    axis=1
                )

    def ranking(self):
        """Shares instead of counts."""
        pairwise = None if self.pairs is None else self.pairs / self.ranked
        ranks = None if self.ranks is None else np.cumsum(self.ranks, axis=1)[:, :-1] / self.ranked
        return Ranking(
            self.best / self.n, self.rank / self.ranked, self.loss / self.n, pairwise, ranks
        )


def _put_back(place, order):
    """Places of the sorted candidates as places of the candidates, (m, draws)."""
    found = np.empty_like(order)
    np.put_along_axis(found, order, place, axis=1)
    return found.T


def _shared_places(ordered):
    """First and last place of every tie, in rows that are sorted from best to worst."""
    size, m = ordered.shape
    starts, ends = np.ones((2, size, m), dtype=bool)
    starts[:, 1:] = ends[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(1, m + 1)
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, place, m + 1)[:, ::-1], axis=1)[:, ::-1]
    return first, last
