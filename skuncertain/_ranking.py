"""Who is best of many? On a shared grid for independent Betas, by counting for joint draws."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from skuncertain._special import beta_cdf, beta_quantile, scale_odds

RANK_LIMIT = 300  # the distribution of ranks costs m**2 per node
PAIR_LIMIT = 1000  # beyond, the pairwise matrix is not kept
_ORDER = 16  # of the Gauss rule of every panel
_TAIL = 1e-15


@dataclass(frozen=True, eq=False)
class Ranking:
    """What is known about the order of m candidates; the first rank is 1.

    Attributes
    ----------
    p_best : ndarray of shape (m,)
        Probability of being the best.
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


def rank_betas(a, b, odds=1.0):
    """Ranking of independent Beta(a_i, b_i), more is better, without random numbers.

    In theta = arcsin(sqrt(x)) all densities are about normal with standard deviation
    1 / (2 sqrt(a + b)), so that panels of a few of these with a Gauss rule integrate them exactly.
    """
    m = a.size
    ends = beta_quantile(np.array([_TAIL, 1 - _TAIL]), a[:, None], b[:, None])
    low, high = np.arcsin(np.sqrt(ends)).T
    start, stop = low.min(), high.max()
    width = (3.0 if m <= 20 else 1.5 if m <= 100 else 1.0) if m <= RANK_LIMIT else 3.0
    step = width * 0.5 / np.sqrt((a + b).max() + 1)
    panels = max(int(np.ceil((stop - start) / step)), 1)
    edges = np.linspace(start, stop, panels + 1)
    node, weight = np.polynomial.legendre.leggauss(_ORDER)
    integrate = _integration_matrix(node)
    half = 0.5 * (edges[1] - edges[0])
    log_norm = np.log(2.0) - betaln(a, b)
    cdf = beta_cdf(np.full(m, np.sin(start) ** 2), a, b)
    p_best, rank, gain = np.zeros(m), np.ones(m), 0.0
    pairwise = np.zeros((m, m)) if m <= PAIR_LIMIT else None
    ranks = np.zeros((m, m)) if m <= RANK_LIMIT else None
    for left in edges[:-1]:
        theta = left + half * (node + 1)
        # Candidates far below or above this panel have a cdf of 1 or 0 and no density here.
        sine, cosine = np.log(np.sin(theta)), np.log(np.cos(theta))
        log_density = (2 * a - 1)[:, None] * sine + (2 * b - 1)[:, None] * cosine
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
        rank += (mass * (above - (1 - below))).sum(axis=1)
        slope = _slope(np.sin(theta) ** 2, odds) * np.sin(2 * theta)
        gain += (weight * half * slope * (1 - np.exp(together))).sum()
        if pairwise is not None:
            pairwise += mass @ below.T
        if ranks is not None:
            ranks += _rank_probabilities(mass, 1 - below)
    best = scale_odds(np.sin(start) ** 2, odds) + gain  # E[max] = start + integral of 1 - F
    if pairwise is not None:
        np.fill_diagonal(pairwise, 0.5)
    return p_best, rank, best, pairwise, ranks


def _slope(x, odds):
    """Derivative of the map that multiplies the odds."""
    return odds / (1 + (odds - 1) * x) ** 2


def _integration_matrix(node):
    """Integrals from -1 to every node of the polynomials that are 1 at one node, 0 at others."""
    vander = np.polynomial.legendre.legvander(node, node.size)
    degree = np.arange(node.size)
    ends = np.polynomial.legendre.legval(-1.0, np.eye(node.size + 1))
    integral = np.empty((node.size, node.size))
    for k in degree:
        upper = vander[:, k + 1] - ends[k + 1]
        lower = (vander[:, k - 1] - ends[k - 1]) if k else 0.0
        integral[k] = (upper - lower) / (2 * k + 1) if k else node + 1
    return np.linalg.solve(vander[:, : node.size].T, integral)


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
        self.best = np.zeros(m)
        self.rank = np.zeros(m)
        self.loss = np.zeros(m)
        self.ranks = np.zeros((m, m)) if keep_ranks else None
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
        place = np.broadcast_to(np.arange(1.0, m + 1), (size, m))
        if np.any(ordered[:, 1:] == ordered[:, :-1]):
            place = _shared_places(ordered.T).T
        position = np.empty((size, m))
        np.put_along_axis(position, order, place, axis=1)
        position = position.T
        self.rank += position.sum(axis=1)
        self.ranked += size
        if self.ranks is not None:
            for shift in (np.floor(position), np.ceil(position)):  # half ranks go to both sides
                flat = np.arange(m)[:, None] * m + shift.astype(int) - 1
                self.ranks += 0.5 * np.bincount(flat.ravel(), minlength=m * m).reshape(m, m)
        if self.pairs is not None:
            for i in range(m):
                self.pairs[i] += (draws[i] > draws).sum(axis=1) + 0.5 * (draws[i] == draws).sum(
                    axis=1
                )

    def tables(self):
        """Shares instead of counts: (p_best, expected rank, expected loss, pairwise, ranks)."""
        pairs = None if self.pairs is None else self.pairs / self.ranked
        ranks = None if self.ranks is None else self.ranks / self.ranked
        return self.best / self.n, self.rank / self.ranked, self.loss / self.n, pairs, ranks


def _shared_places(ordered):
    """Mean place of ties in columns that are sorted from best to worst."""
    m, size = ordered.shape
    fresh = np.ones((m, size), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    place = np.arange(1.0, m + 1)[:, None] * np.ones(size)
    first = np.maximum.accumulate(np.where(fresh, place, 0.0), axis=0)
    ends = np.ones((m, size), dtype=bool)
    ends[:-1] = fresh[1:]
    last = np.minimum.accumulate(np.where(ends, place, np.inf)[::-1], axis=0)[::-1]
    return 0.5 * (first + last)
