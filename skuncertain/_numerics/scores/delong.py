"""How well scores rank: area under the ROC curve and average precision, with influences of rows.

An estimate knows how much every row moves it. The sum of the squared influences is its variance
(for the area: DeLong's), sums of products are covariances of estimates on the same rows, and
averages of estimates have averaged influences. It also knows how much its variance is worth: the
degrees of freedom, and the rows that a ranking without any error stands on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skuncertain.exceptions import InvalidParameterError


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value, and what every row contributes to its error.

    Attributes
    ----------
    value : float
        The estimate.
    influence : ndarray of shape (n,)
        Scaled so that the sum of squares is the variance of the estimate.
    size : float
        Rows of the smaller class: all that even a perfect ranking can prove. Of an average: the
        rows of one class that would prove as much.
    df : float
        Degrees of freedom of the variance: rows of the smaller class less 1. One row shows no
        spread; there it is infinite, and the width comes from `size` alone.
    chance : float or None, default=None
        What a ranking at random has. None for the area, where 0 is as far from it as 1.
    unseen : float, default=0.0
        Variance that classes of few rows in an average hide.
    parts : tuple of (float, Estimate), default=()
        Weights and estimates that an average is made of.
    """

    value: float
    influence: np.ndarray
    size: float
    df: float
    chance: float | None = None
    unseen: float = 0.0
    parts: tuple = ()

    @property
    def variance(self):
        """Variance of the estimate."""
        return float(self.influence @ self.influence)

    @property
    def third(self):
        """Third cumulant of the estimate; that of a mean of n rows is their third moment over n^2.

        Influences are scaled for an unbiased variance, which the third power would exaggerate.
        """
        n = self.influence.size
        return float(np.sum(self.influence**3)) * ((n - 1) / n) ** 1.5 if n > 1 else 0.0


@dataclass(frozen=True, eq=False)
class TieGroups:
    """Rows grouped by equal scores, from the lowest score to the highest.

    Attributes
    ----------
    group : ndarray of shape (n,)
        Group of every row.
    positive, negative : ndarray of shape (groups,)
        Rows of both classes in every group.
    """

    group: np.ndarray
    positive: np.ndarray
    negative: np.ndarray

    @classmethod
    def of(cls, positive, score):
        """Groups of rows, in O(n log n)."""
        _, group = np.unique(score, return_inverse=True)
        hits = np.bincount(group, weights=positive)
        return cls(group, hits, np.bincount(group) - hits)

    @property
    def below(self):
        """Per group, the negatives below it, ties counting half."""
        return np.cumsum(self.negative) - 0.5 * self.negative

    @property
    def above(self):
        """Per group, the positives above it, ties counting half."""
        return self.positive.sum() - np.cumsum(self.positive) + 0.5 * self.positive


def freedom(size):
    """Degrees of freedom of the spread of so many rows; one row has none to estimate."""
    return float(size - 1) if size > 1 else np.inf


def area(positive, score):
    """Area under the ROC curve: P(a positive scores higher than a negative), ties half."""
    groups = TieGroups.of(positive, score)
    m1, m0 = groups.positive.sum(), groups.negative.sum()
    below, above = groups.below, groups.above
    value = (groups.positive @ below) / (m1 * m0)
    # DeLong's placements: the share of the other class that a row is on the right side of.
    place = np.where(positive, below[groups.group] / m0, above[groups.group] / m1)
    size = np.where(positive, m1, m0)
    influence = (place - value) / np.sqrt(size * np.maximum(size - 1, 1))
    smaller = int(min(m1, m0))
    return Estimate(float(value), influence, smaller, freedom(smaller))


def bootstrap_moments(positive, score):
    """Mean and variance of the area under the Bayesian bootstrap, without draws.

    Rows of both classes have independent Dirichlet(1, ..., 1) weights.
    """
    groups = TieGroups.of(positive, score)
    m1, m0 = groups.positive.sum(), groups.negative.sum()
    below, above = groups.below, groups.above
    total = groups.positive @ below
    squares = total - 0.25 * (groups.positive @ groups.negative)  # of single pairs: 1, 1/4 or 0
    second = (total**2 + groups.positive @ below**2 + groups.negative @ above**2 + squares) / (
        m1 * (m1 + 1) * m0 * (m0 + 1)
    )
    mean = total / (m1 * m0)
    return float(mean), float(max(second - mean**2, 0.0))


def average_precision(positive, score, prevalence=None):
    """Average precision, as scikit-learn computes it, by the infinitesimal jackknife.

    With a `prevalence` it is that of a population in which so many are positive. Rows of both
    classes then stand for their class alone, so influences are centred in each. What varies within
    a class of m rows is estimated with m - 1 degrees of freedom.
    """
    groups = TieGroups.of(positive, score)
    hits, others = groups.positive[::-1], groups.negative[::-1]  # from the highest score down
    m1, m0 = hits.sum(), others.sum()
    w1, w0 = (1.0, 1.0) if prevalence is None else (prevalence / m1, (1 - prevalence) / m0)
    true, false = w1 * np.cumsum(hits), w0 * np.cumsum(others)
    precision = true / (true + false)
    value = (hits @ precision) / m1
    # One more positive (negative) row raises (lowers) the precision from its own group down.
    gain = w1 * np.cumsum((hits * false / (true + false) ** 2)[::-1])[::-1]
    loss = w0 * np.cumsum((hits * true / (true + false) ** 2)[::-1])[::-1]
    own = precision - value + gain
    if prevalence is not None:
        own, loss = own - (hits @ gain) / m1, loss - (others @ loss) / m0
    place = len(hits) - 1 - groups.group
    influence = np.where(positive, own[place], -loss[place]) / m1
    for rows, m in ((np.asarray(positive, dtype=bool), m1), (~np.asarray(positive, bool), m0)):
        middle = influence[rows].mean()
        influence[rows] = middle + (influence[rows] - middle) * np.sqrt(m / max(m - 1, 1))
    smaller = int(min(m1, m0))
    chance = m1 / (m1 + m0) if prevalence is None else prevalence
    return Estimate(float(value), influence, smaller, freedom(smaller), float(chance))


_BORROWED = 2.0  # rows that the spread of the other classes counts in that of one class


def mean_of(estimates, weights):
    """Weighted mean of estimates on the same rows, some of which may rest on few of them.

    Two of three rows next to each other, or a ranking without error, show hardly any spread. So
    the spread per row of all classes together counts `_BORROWED` rows in each, and what it adds is
    `unseen`. Degrees of freedom are Satterthwaite's, over the terms of the classes.

    Errors that none of M rows shows have a rate p with p = 1 / (2 M) on average; a mean of rates p
    over m_k rows has the variance p sum(w_k**2 / m_k). One class of S rows with the same variance
    has S**2 = M / sum(w_k**2 / m_k): the size of the average.
    """
    values, sizes, df, seen = (
        np.array([getattr(e, name) for e in estimates])
        for name in ("value", "size", "df", "variance")
    )
    weights = np.asarray(weights, dtype=float)
    # Equal values have that mean, whatever the rounding of the weights.
    value = values[0] if np.ptp(values) == 0 else float(np.dot(weights, values))
    influence = sum(w * e.influence for w, e in zip(weights, estimates, strict=True))
    known = np.where(np.isfinite(df), df, 0.0)
    trusted = known if known.any() else np.ones_like(known)
    typical = np.average(sizes * seen, weights=trusted) / sizes
    moderated = (_BORROWED * typical + known * seen) / (_BORROWED + known)
    terms = weights**2 * np.maximum(seen, moderated)
    spread = terms**2 / np.maximum(known, 1.0)
    chances = [e.chance for e in estimates]
    return Estimate(
        float(value),
        influence,
        float(np.sqrt(sizes.sum() / np.sum(weights**2 / sizes))),
        float(terms.sum() ** 2 / spread.sum()) if spread.any() else float(known.sum() or np.inf),
        None if chances[0] is None else float(np.dot(weights, chances)),
        float(np.sum(terms - weights**2 * seen)),
        tuple(zip(weights.tolist(), estimates, strict=True)),
    )


def within_folds(estimate, positive, score, fold, row):
    """Mean over folds of an estimate, the folds that lack a class, and the weight of a row.

    The weight is the variance that independent rows have over that with the spread of the folds,
    as `FoldVariance` has it for the algorithm, and at most the published (K + 1) / (2 K).

    A row that is tested several times (repeated folds) is one row: its influences add up. A row
    that is alone of its class in a fold shows no spread there. How far the fold is from the mean of
    all folds tells it instead.
    """
    parts, lacking = [], []
    for name in np.unique(fold):
        here = fold == name
        truth = positive[here]
        if truth.all() or not truth.any():
            lacking.append(name)
        else:
            parts.append((row[here], truth, estimate(truth, score[here])))
    if not parts:
        raise InvalidParameterError(
            "no fold holds both classes, so no fold has a ranking to judge.", parameter="y_true"
        )
    found = np.array([part.value for _, _, part in parts])
    distance = (found - found.mean()) * np.sqrt(found.size / max(found.size - 1, 1))
    total = np.zeros(int(row.max()) + 1)
    for (rows, truth, part), far in zip(parts, distance, strict=True):
        alone = np.where(truth, truth.sum(), (~truth).sum()) == 1
        # With one row of each class the fold's distance is shared by both.
        own = far / np.sqrt(max(alone.sum(), 1)) if found.size > 1 else part.influence
        np.add.at(total, rows, np.where(alone, own, part.influence))
    _, first = np.unique(row, return_index=True)  # a row is of one class, however often tested
    size = int(min(positive[first].sum(), (~positive[first]).sum()))
    chances = [part.chance for _, _, part in parts]
    chance = None if chances[0] is None else float(np.mean(chances))
    value = float(found.mean())
    estimate_of_all = Estimate(value, total / found.size, size, freedom(size), chance)
    repeats = row.size / first.size
    return estimate_of_all, lacking, _weight(estimate_of_all.variance, found, repeats)


def _weight(variance, values, repeats):
    """Weight of a row, from the variance of independent rows and the values of all folds."""
    k = values.size / repeats
    most = (k + 1) / (2 * k)
    if k <= 1 or variance == 0:
        return most
    between = k / (k - 1) * np.square((values - values.mean()) / k).sum() / repeats
    needed = variance + k / (k - 1) * (1 + 1 / repeats) / 2 * between
    return min(most, float(variance / needed))


def bootstrap_draws(positive, score, n_draws, rng, shape=1.0, chunk=2**22):
    """Areas under the Bayesian bootstrap over rows that count `shape`, one per draw."""
    order = np.argsort(score, kind="stable")
    positive, score = positive[order], score[order]
    starts = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    step = max(1, chunk // positive.size)
    draws = np.empty(n_draws)
    for start in range(0, n_draws, step):
        stop = min(start + step, n_draws)
        weight = rng.standard_gamma(shape, (stop - start, positive.size))
        hits = np.add.reduceat(np.where(positive, weight, 0.0), starts, axis=1)
        others = np.add.reduceat(np.where(positive, 0.0, weight), starts, axis=1)
        below = np.cumsum(others, axis=1) - 0.5 * others
        draws[start:stop] = (hits * below).sum(axis=1) / (hits.sum(axis=1) * others.sum(axis=1))
    return draws
