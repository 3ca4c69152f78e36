"""How much the folds of a cross-validation disagree, and how much they would by chance.

Everything follows from the derivative d of the metric with respect to the cells. The influence of
fold k on the metric is u_k, its share of the first-order error; for a proportion with a successes
and b failures it is (a_k - theta n_k) / N. Three variances of the pooled value:

* ``binomial``: as if all rows were independent draws,
* ``between``: what the spread of the fold influences says,
* ``stratified``: as ``binomial``, but with the class counts held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtrc

from skuncertain.metrics._formulas import (
    collapse,
    proportion_counts,
    proportion_masks,
    two_by_two,
)
from skuncertain.metrics._gradients import metric_slope, without_empty_cells


@dataclass(frozen=True, eq=False)
class FoldVariance:
    """Variances of a pooled metric; arrays of the shape of the stack.

    Attributes
    ----------
    binomial, between, stratified : ndarray
        See the module.
    statistic : ndarray
        (K - 1) times the between-fold variance that the folds' class counts do not explain, over
        the stratified variance: about chi-squared with K - 1 degrees of freedom if all folds share
        one error rate per class.
    at_end : ndarray of bool
        Whether the metric is at an end of its range, in all folds alike, so that they cannot
        disagree.
    n_folds, n_repeats : float
        K, folds of one repetition, and R, repetitions. K is fractional if a fold was lost.
    """

    binomial: np.ndarray
    between: np.ndarray
    stratified: np.ndarray
    statistic: np.ndarray
    at_end: np.ndarray
    n_folds: float
    n_repeats: int

    def omega(self, estimand):
        """Share of the pooled counts that is worth counting: binomial over needed variance."""
        k, r = self.n_folds, self.n_repeats
        if k <= 1:
            return np.ones_like(self.binomial)
        # Folds that cannot disagree say nothing: they get what independent folds have on average.
        between = np.where(self.at_end, self.binomial, self.between)
        needed = self.binomial + k / (k - 1) * (1 + 1 / r) / 2 * between
        if estimand == "model":
            weight = 1.0 if r >= 5 else 0.5
            needed = needed + weight * k * np.maximum(self.between - self.stratified, 0.0)
        with np.errstate(invalid="ignore"):
            return np.where(needed > 0, self.binomial / needed, 1.0)

    def ratio(self):
        """Between-fold variance over binomial variance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.between == 0, 0.0, self.between / self.binomial)

    @cached_property
    def p_value(self):
        """Probability of folds that differ that much by chance."""
        if self.n_folds <= 1:
            return np.ones_like(self.binomial)
        return chdtrc(self.n_folds - 1, self.statistic)


def fold_variance(folds, metric, positive, n_repeats):
    """Variances of a metric from fold matrices ``(..., splits, C, C)``, `n_repeats` times K."""
    if metric.average == "binary" and folds.shape[-1] > 2:
        folds, positive = two_by_two(*collapse(folds, positive)), 1
    n_classes, k = folds.shape[-1], folds.shape[-3] / n_repeats
    pooled = folds.sum(axis=-3) / n_repeats
    base = without_empty_cells(pooled)
    masks = proportion_masks(metric, n_classes, positive)
    slope = metric_slope(base, metric, positive)
    row_mean = _divided((base * slope).sum(axis=-1), base.sum(axis=-1))
    spread = slope - row_mean[..., None]
    stratified = (base * spread**2).sum(axis=(-2, -1))
    # Folds with their own class counts differ even if every class has one error rate: not their
    # fault, and not counted in the statistic.
    centre = _divided((pooled * slope).sum(axis=-1), pooled.sum(axis=-1))
    excess = np.einsum("...kij,...ij->...k", folds, slope - centre[..., None])
    if masks is None:
        binomial = (base * slope**2).sum(axis=(-2, -1))
        total = (pooled * slope).sum(axis=(-2, -1))
        share = _divided(folds.sum(axis=(-2, -1)), pooled.sum(axis=(-2, -1))[..., None])
        influence = np.einsum("...kij,...ij->...k", folds, slope) - share * total[..., None]
        # At an end of the range no fold can differ; only the pseudo-counts make it seem so.
        observed = metric.evaluate(pooled, positive=positive)
        at_end = np.isclose(observed, metric.range[0]) | np.isclose(observed, metric.range[1])
        between = np.where(at_end, 0.0, np.square(influence).sum(axis=-1))
        excess = np.where(at_end[..., None], 0.0, excess)
    else:
        a, b, _ = proportion_counts(folds, metric, positive)
        hits, misses = a.sum(axis=-1) / n_repeats, b.sum(axis=-1) / n_repeats
        n = hits + misses
        rate = (hits + 0.5) / (n + 1)
        binomial = _divided(rate * (1 - rate), n)
        influence = a - _divided(hits, n)[..., None] * (a + b)
        between = _divided(np.square(influence).sum(axis=-1), n**2)
        at_end = (hits == 0) ^ (misses == 0)
        if np.any(masks, axis=(0, 2)).sum() == 1:  # within one true class: simply binomial
            stratified = binomial
    unbiased = k / (k - 1) / n_repeats if k > 1 else 0.0
    statistic = _divided((k - 1) * unbiased * np.square(excess).sum(axis=-1), stratified)
    return FoldVariance(binomial, between * unbiased, stratified, statistic, at_end, k, n_repeats)


def _divided(top, bottom):
    """Quotient, 0 where nothing was counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, 0.0)
