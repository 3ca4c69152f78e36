"""Bands at one place of a curve: the rate of one class where that of the other one is fixed.

The number J of rows of the first class above the threshold whose true rate is u is binomial,
whatever the scores are. Which rows of the other class are above it as well is seen in the data:
around J = n u, a line through their numbers, weighted with the probabilities of J. So the
other rate has a mixture of Beta (or other) distributions, one for every J. Its variance is that of
the rate at a known threshold and the squared slope of the curve times the variance of J / n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln, ndtr, ndtri, xlog1py, xlogy

from skuncertain._numerics.beta import beta_cdf, beta_quantile
from skuncertain._numerics.roots import invert_cdf
from skuncertain._utils.validation import check_choice, check_number, refuse_if
from skuncertain.metrics._confidence import BINOMIAL, binomial_interval
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import BetaPosterior

METHODS = ("beta", *BINOMIAL)
_REACH, _NODES, _FEWER = 5.0, 64, 32  # standard deviations of J, and groups of values of J
_AT_ONCE = 2**8  # places


@dataclass(frozen=True)
class Technique:
    """How a single rate gets its interval.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    prior : float
        Pseudo-rows on each side, for "beta".
    """

    method: str = "beta"
    prior: float = 0.5

    @classmethod
    def checked(cls, method, prior, band):
        """Technique of a pointwise band, None for another one; what does not fit is refused."""
        for name, value in (("method", method), ("prior", prior)):
            refuse_if(
                band != "pointwise" and value is not None,
                name,
                f"{name} belongs to band='pointwise', not to band={band!r}.",
            )
        if band != "pointwise":
            return None
        method = check_choice("method", "beta" if method is None else method, METHODS)
        refuse_if(
            prior is not None and method != "beta",
            "prior",
            f"prior belongs to method='beta', not to method={method!r}.",
        )
        number = 0.5 if prior is None else prior
        return cls(method, check_number("prior", number, low=1e-6, high=1e12))

    def interval(self, hits, n, level):
        """Interval of the rates of `hits` out of `n`."""
        if self.method != "beta":
            return binomial_interval(hits, n - hits, level, self.method)
        about = About(observed=hits / n)
        shapes = hits + self.prior, n - hits + self.prior
        return BetaPosterior(*shapes, about=about).interval(level)

    def cdf(self, e, hits, n, level, upper):
        """Confidence distribution of a rate at the logit `e`, for its upper or its lower end."""
        x, other = expit(e), expit(-e)
        if self.method in ("beta", "jeffreys"):
            prior = self.prior if self.method == "beta" else 0.5
            return beta_cdf(x, hits + prior, n - hits + prior, complement=other)
        if self.method == "clopper_pearson":
            return beta_cdf(x, hits + upper, n - hits + (not upper), complement=other)
        if self.method == "wilson":
            return ndtr((x - hits / n) / np.sqrt(np.maximum(x * other, 1e-300) / n))
        z2 = ndtri((1 + level) / 2) ** 2  # Agresti and Coull
        centre = (hits + z2 / 2) / (n + z2)
        return ndtr((x - centre) / np.sqrt(centre * (1 - centre) / (n + z2)))


@dataclass(frozen=True, eq=False)
class RateAtRate:
    """Rate of one class at the threshold that gives the other class a known rate.

    Attributes
    ----------
    above : ndarray of shape (m + 2,)
        Rows of the first class above each row of the other one, from the highest down, with 0 and n
        at the ends.
    n : float
        Rows of the first class.
    technique : Technique
        How a single rate gets its interval.
    """

    above: np.ndarray
    n: float
    technique: Technique

    @classmethod
    def of(cls, scores, at_scores, technique, omega=(1.0, 1.0)):
        """Rates of `scores` at rates of `at_scores`, whose rows count `omega` each."""
        values, number = np.unique(at_scores, return_counts=True)
        ranked = np.sort(scores)
        above = len(ranked) - np.searchsorted(ranked, values, side="right")
        equal = len(ranked) - np.searchsorted(ranked, values, side="left") - above
        # Rows with equal scores cannot be parted: on average they alternate.
        rank = np.concatenate([np.arange(1, k + 1) for k in number[::-1]])
        share = rank / np.repeat(number[::-1] + 1.0, number[::-1])
        inner = np.repeat(above[::-1], number[::-1]) + share * np.repeat(equal[::-1], number[::-1])
        found = cls(np.r_[0.0, inner, float(len(ranked))], len(ranked), technique)
        return found if omega == (1.0, 1.0) else found._thinned(*omega)

    def _thinned(self, own, other):
        """The same curve by fewer rows, evenly spread over those of both classes."""
        m = len(self.above) - 2
        fewer = max(round(other * m), 1)
        places = (np.arange(fewer) + 0.5) * m / fewer + 0.5
        inner = np.interp(places, np.arange(m + 2), self.above)
        above = own * np.r_[0.0, inner, self.above[-1]]
        return RateAtRate(above, own * self.n, self.technique)

    @property
    def middle(self):
        """Rows above a threshold between neighbouring rows of the other class."""
        return 0.5 * (self.above[1:] + self.above[:-1])

    def observed(self, rate):
        """Rows of the first class above the threshold, on the line between neighbours."""
        m = len(self.above) - 2
        return np.interp(m * rate, np.arange(m + 1), self.middle)

    def mixture(self, rate, nodes=_NODES):
        """Numbers of rows above the threshold, and their probabilities; (rates, nodes) each."""
        hits, weight = np.zeros((2, rate.size, nodes))
        for place, u in enumerate(rate):
            k, w = self._line(u, nodes)
            hits[place, : k.size], weight[place, : k.size] = k, w
        return hits, weight

    def _line(self, u, nodes):
        """Mixture at one rate, in groups of values of J where there are many."""
        m = len(self.above) - 2
        reach = _REACH * np.sqrt(m * u * (1 - u)) + 6
        first, last = max(int(m * u - reach), 0), min(int(m * u + reach) + 1, m)
        j = np.arange(first, last + 1)
        log = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1)
        weight = np.exp(log + xlogy(j, u) + xlog1py(m - j, -u))
        weight /= weight.sum()
        away, seen = j - m * u, self.middle[first : last + 1]
        square = (weight * away**2).sum()
        slope = (weight * away * seen).sum() / square if square > 0 else 0.0
        centre = (weight * seen).sum()
        if j.size > nodes:
            starts = np.linspace(0, j.size, nodes, endpoint=False).astype(int)
            total = np.add.reduceat(weight, starts)
            away = np.add.reduceat(weight * away, starts) / np.maximum(total, 1e-300)
            weight = total
        return np.clip(centre + slope * away, 0, self.n), weight

    def interval(self, rate, level):
        """Ends of the rate of the first class at rates of the other one, (2, rates)."""
        rate = np.clip(rate, 0.0, 1.0)
        (hits, weight), seen = self.mixture(rate), self.observed(rate)

        def cdf(e, rows, upper):
            at = self.technique.cdf(e[:, None], hits[rows], self.n, level, upper)
            return (weight[rows] * at).sum(axis=1)

        low, high = _ends(cdf, level, seen / self.n, self.n)
        low = np.where((seen <= 0) | (rate <= 0), 0.0, low)
        return low, np.where((seen >= self.n) | (rate >= 1), 1.0, high)

    def precision(self, recall, prevalence, level):
        """Ends of the precision at recalls; the rates are false positive rates, (2, recalls).

        `prevalence` is a number, or shapes of a Beta variable. Odds of precision are recall / fpr
        times those of the prevalence.
        """
        recall = np.clip(recall, 0.0, 1.0)
        (hits, weight), seen = self.mixture(recall, _FEWER), self.observed(recall)
        shares, chance = _nodes_of(prevalence)
        with np.errstate(divide="ignore"):
            log_odds = np.log(recall)[:, None, None] + np.log(shares / (1 - shares))[:, None]

        def cdf(e, rows, upper):
            # Precision is low where the false positive rate is high.
            fpr = log_odds[rows] - e[:, None, None]  # its logarithm
            logit = np.where(fpr < 0, fpr - np.log(-np.expm1(np.minimum(fpr, -1e-300))), np.inf)
            at = self.technique.cdf(logit, hits[rows][:, None], self.n, level, not upper)
            return 1 - ((weight[rows][:, None] * at).sum(axis=2) * chance).sum(axis=1)

        middle = (shares * chance).sum()
        guess = middle * recall / (middle * recall + (1 - middle) * (seen + 0.5) / self.n)
        low, high = _ends(cdf, level, guess, self.n)
        low = np.where(recall > 0, low, 0.0)
        return low, np.where((recall > 0) & (seen > 0), high, 1.0)


def _ends(cdf, level, guess, n):
    """Where ``cdf(e, rows, upper)`` leaves half of 1 - level below or above: both ends."""
    share = np.clip(guess, 0.5 / n, 1 - 0.5 / n)
    scale = 1 / np.sqrt(n * share * (1 - share) + 0.5)
    ends = []
    for upper in (False, True):
        p = np.full(share.size, (1 + level) / 2 if upper else (1 - level) / 2)
        start = np.log(share / (1 - share)) + ndtri(p) * scale
        end = np.empty(share.size)
        for first in range(0, share.size, _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            rows = np.arange(share.size)[part]
            end[part] = invert_cdf(
                lambda e, at, rows=rows, upper=upper: cdf(e, rows[at], upper),
                *(p[part], start[part], scale[part]),
                tol=1e-10,
                measured=True,
            )
        ends.append(expit(end))
    return ends


def _nodes_of(prevalence):
    """Nodes of the prevalence, and their weights."""
    if np.ndim(prevalence) == 0:
        return np.array([float(prevalence)]), np.ones(1)
    z, weight = np.polynomial.hermite_e.hermegauss(9)
    return beta_quantile(ndtr(z), *prevalence), weight / weight.sum()
