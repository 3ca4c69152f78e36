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
    width = 3.0 if m <= 20 else 1.0 if 100 < m <= RANK_LIMIT else 1.5
    step = width * 0.5 / np.sqrt((a + b).max() + 1)
    start, panels = _panels(a, b, step)
    node, weight = np.polynomial.legendre.leggauss(_ORDER)
    integrate = _integration_matrix(node)
    log_norm = np.log(2.0) - betaln(a, b)
    cdf = beta_cdf(np.full(m, np.sin(start) ** 2), a, b)
    p_best, rank, gain = np.zeros(m), np.ones(m), 0.0
    pairwise = np.zeros((m, m)) if m <= PAIR_LIMIT else None
    ranks = np.zeros((m, m)) if m <= RANK_LIMIT else None
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
        rank += (mass * (above - (1 - below))).sum(axis=1)
        slope = _slope(sine**2, odds) * 2 * sine * cosine
        gain += (weight * half * slope * (1 - np.exp(together))).sum()
        if pairwise is not None:
            pairwise += mass @ below.T
        if ranks is not None:
            ranks += _rank_probabilities(mass, 1 - below)
    best = scale_odds(np.sin(start) ** 2, odds) + gain  # E[max] = start + integral of 1 - F
    if pairwise is not None:
        np.fill_diagonal(pairwise, 0.5)
    return p_best, rank, best, pairwise, ranks


def _panels(a, b, step):
    """Where to start, and panels (left, right, counted from the end) that cover all densities.

    Next to 0 and pi / 2 a density is a power of the angle, whole or not: there the panels double in
    width, away from the end, until they have the common width.
    """
    ends = []
    for p, q in ((a, b), (b, a)):
        tail = np.sqrt(beta_quantile(_TAIL, p, q).min())
        ends.append(max(float(np.arcsin(tail)), 1e-80))
    middle = min(max(np.pi / 4, ends[0]), np.pi / 2 - ends[1])
    sides = []
    for end, reach in zip(ends, (middle, np.pi / 2 - middle), strict=True):
        edges = [end]
        while edges[-1] < reach:
            edges.append(min(edges[-1] + min(edges[-1], step), reach))
        sides.append(np.array(edges))
    left = [(low, high, False) for low, high in zip(sides[0][:-1], sides[0][1:], strict=True)]
    right = [(low, high, True) for low, high in zip(sides[1][:-1], sides[1][1:], strict=True)]
    return ends[0], left + right[::-1]


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
        first = last = np.broadcast_to(np.arange(1, m + 1), (size, m))
        if np.any(ordered[:, 1:] == ordered[:, :-1]):
            first, last = _shared_places(ordered)
        tied = last is not first
        first = _put_back(first, order)
        last = _put_back(last, order) if tied else first
        self.rank += 0.5 * (first + last).sum(axis=1)
        self.ranked += size
        if self.ranks is not None:  # ties share all their ranks: +1/k at the first, -1/k behind
            row, share = np.arange(m)[:, None] * (m + 1), 1 / (last - first + 1)
            for place, sign in ((first - 1, 1), (last, -1)):
                flat = np.bincount(
                    (row + place).ravel(), weights=share.ravel(), minlength=m * (m + 1)
                )
                self.ranks += sign * flat.reshape(m, m + 1)
        if self.pairs is not None:
            for i in range(m):
                self.pairs[i] += (draws[i] > draws).sum(axis=1) + 0.5 * (draws[i] == draws).sum(
                    axis=1
                )

    def tables(self):
        """Shares instead of counts: (p_best, expected rank, expected loss, pairwise, ranks)."""
        pairs = None if self.pairs is None else self.pairs / self.ranked
        ranks = None
        if self.ranks is not None:
            ranks = np.cumsum(self.ranks, axis=1)[:, :-1] / self.ranked
        return self.best / self.n, self.rank / self.ranked, self.loss / self.n, pairs, ranks


def _put_back(place, order):
    """Places of the sorted candidates as places of the candidates, (m, draws)."""
    found = np.empty_like(order)
    np.put_along_axis(found, order, place, axis=1)
    return found.T


def _shared_places(ordered):
    """First and last place of every tie, in rows that are sorted from best to worst."""
    size, m = ordered.shape
    fresh = np.ones((size, m), dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.broadcast_to(np.arange(1, m + 1), (size, m))
    first = np.maximum.accumulate(np.where(fresh, place, 0), axis=1)
    ends = np.ones((size, m), dtype=bool)
    ends[:, :-1] = fresh[:, 1:]
    last = np.minimum.accumulate(np.where(ends, place, m + 1)[:, ::-1], axis=1)[:, ::-1]
    return first, last
