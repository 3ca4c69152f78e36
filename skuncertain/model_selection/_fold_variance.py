"""How much the folds of a cross-validation disagree, and the variance that an answer needs.

Everything follows from the derivative d of the metric with respect to the cells. The influence of
fold k on the metric is u_k, its share of the first-order error; for a proportion with a successes
and b failures it is (a_k - theta n_k) / N. Three variances of the pooled value:

* ``binomial``: as if all rows were independent draws,
* ``between``: what the spread of the fold influences says,
* ``stratified``: as ``binomial``, but with the class counts held fixed.

Where the models of all folds have predicted the same rows, two more numbers are known:

* ``jackknife``: variance of the metric between training sets (delete-a-fold jackknife),
* ``movement``: the same of the predicted class shares, over the variance of chance.

The constants below were chosen on simulated cross-validations; benchmarks/fold_questions.py has the
cases, and others that they were not chosen on.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtrc, chdtri

from skuncertain.metrics._formulas import (
    collapse,
    proportion_counts,
    proportion_masks,
    two_by_two,
)
from skuncertain.metrics._gradients import metric_slope, without_empty_cells
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._stability import metric_jackknife, movement

ESTIMANDS = ("fitted", "algorithm", "final")
# Variance of stable models over the binomial one, its growth with the logarithm of the movement
# (in units of 2, which stable models stay below), and the most that it becomes.
_STABLE, _GROWTH, _STILL, _UNSTABLE = 1.3, 0.56, 2.0, 3.2
# Folds that differ more than in 90 % of the runs of independent rows hold rows that are not.
_UNUSUAL, _DEPENDENT = 0.9, 1.5
# The jackknife takes what is chaos in the models for what moves with the sample, K times: a part of
# it, and never more than some binomial variances.
_LEAST_PART, _PART_OF_FOLDS, _MOST_MOVED = 0.3, 3.0, 6.0
# Differences of two models. Their variance over the binomial one is at least _LEAST; a learner that
# makes only half of its errors on rows that it learnt from, and one that moves, need more.
_LEAST, _LEARNT, _MUCH, _APART, _MOST_FACTOR = 1.1, 0.6, 0.5, 1.0, 1.9
# Part of the variance between models that moves with the sample in all folds alike: of smooth
# learners, and of those with few rules to choose from, whose models repeat each other.
_SMOOTH, _LUMPS, _CHANCE, _CERTAIN, _MOST_APART = 2.0, 6.0, 0.15, 0.1, 40.0
# Learners whose models are mostly the same few rules, from this share of equal pairs on. Of rules
# that are about equally good the rows of a fold have tipped the scale, and they test the other one:
# half of the square of what a test loses that way is added to the variance.
_REPEATED, _SURELY, _TIPPED = 0.25, 0.25, 0.5


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
    fewest : ndarray
        Successes or failures in all folds, whichever are fewer: with few of them folds cannot
        disagree much.
    n_folds, n_repeats : float
        K, folds of one repetition, and R, repetitions. K is fractional if a fold was lost.
    jackknife, movement : ndarray or None
        See the module; None if the models did not predict the same rows.
    """

    binomial: np.ndarray
    between: np.ndarray
    stratified: np.ndarray
    statistic: np.ndarray
    fewest: np.ndarray
    n_folds: float
    n_repeats: int
    jackknife: np.ndarray | None = None
    movement: np.ndarray | None = None

    def omega(self, estimand):
        """Share of the pooled counts that is worth counting: binomial over needed variance."""
        if self.n_folds <= 1:
            return np.ones_like(self.binomial)
        needed = self.needed(estimand)
        with np.errstate(invalid="ignore"):
            return np.where(needed > 0, self.binomial / needed, 1.0)

    def needed(self, estimand):
        """Variance of the pooled value around what is asked for."""
        k = self.n_folds
        needed = self._fitted()
        if estimand == "fitted":
            return needed
        if self.jackknife is None:
            return np.maximum(needed, self._from_folds_alone(estimand))
        if estimand == "final":  # one more model like these
            return needed + (k + 1) / (k - 1) ** 2 * self.jackknife
        return needed + self._moved()

    def _moved(self):
        """Variance of the mean of the K models between training sets."""
        part = min(1.0, max(_PART_OF_FOLDS / self.n_folds, _LEAST_PART))
        return np.minimum(part * self.jackknife, _MOST_MOVED * self.binomial)

    def _factor(self):
        """Variance around the mean of the K models over the binomial one."""
        moved = np.log(np.maximum(self.movement / _STILL, 1.0))
        return np.minimum(_STABLE + _GROWTH * moved, _UNSTABLE)

    def _fitted(self):
        """Variance around the mean of the K models that were fitted."""
        k, shared = self.n_folds, self._shared
        if self.jackknife is None:  # nothing is known of the models
            factor = np.full_like(self.binomial, 1 / wang_li_omega(k))
        else:
            factor = self._factor()
        factor = np.maximum(1 + shared * (factor - 1), 1 + k / (k - 1) * shared * self._blind)
        usual = chdtri(k - 1, 1 - _UNUSUAL) / (k - 1)
        excess = np.maximum(self.between - usual * self.binomial, 0.0)
        return factor * self.binomial + _DEPENDENT * excess

    def _from_folds_alone(self, estimand):
        """Variance around the mean over training sets, or around one more model."""
        k, shared = self.n_folds, self._shared
        between = np.maximum(self.between, self._blind * self.binomial)
        needed = self.binomial + k / (k - 1) * shared * between
        if estimand == "final":
            weight = 1.0 if self.n_repeats >= 5 else 0.5
            needed = needed + weight * k * np.maximum(self.between - self.stratified, 0.0)
        return needed

    @property
    def _shared(self):
        """What R repetitions leave of the variance that a split adds."""
        return (1 + 1 / self.n_repeats) / 2

    @property
    def _blind(self):
        """How little folds can disagree: 1 without any failure, half with two, then less."""
        return 2 / (2 + self.fewest)

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


@dataclass(frozen=True, eq=False)
class DifferenceVariance(FoldVariance):
    """The same of the difference of two models that were tested on the same rows.

    Attributes
    ----------
    factor : ndarray or None
        Variance around the mean of the K differences over the binomial one; None if the models are
        not known.
    part : ndarray or None
        What part of the jackknife moves with the sample in all folds alike.
    tipped : ndarray or None
        Least variance between training sets of learners that choose between few rules.
    """

    factor: np.ndarray | None = None
    part: np.ndarray | None = None
    tipped: np.ndarray | None = None

    def _factor(self):
        return self.factor

    def _moved(self):
        # Models that are right or wrong in single rows differ by as much as rows do.
        moved = self.part * np.maximum(self.jackknife - self.binomial, 0.0)
        # Two rules that are equally good on all rows hide from the jackknife.
        return np.minimum(np.maximum(moved, self.tipped), _MOST_APART * self.binomial)

    def pair(self, i, j):
        """One pair of an array of pairs."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        picked = {
            name: value[i, j] for name, value in parts.items() if isinstance(value, np.ndarray)
        }
        return replace(self, **picked)


def rules_of_pairs(moved, optimism, alike, gain, n_folds):
    """Factor, part, least variance and movement ``(m, m)`` of all pairs of m models, as fields.

    `moved` is the movement of every model, `optimism` the share of its errors that it does not make
    on rows it learnt from, `alike` the share of the pairs of its fold models that are nearly equal,
    `gain` its metric on tested rows minus that on rows it learnt from.
    """
    still = _STILL / np.maximum(moved, _STILL)  # 1 of models that hardly move
    factor = _LEAST + _LEARNT * np.minimum(optimism / _MUCH, 1.0) - _APART * np.log(still)
    few = np.clip((alike - _CHANCE) / _CERTAIN, 0.0, 1.0)  # a learner with few rules
    part = _SMOOTH * still**2 + _LUMPS * (1 - still) * few
    repeated = np.clip((alike - _REPEATED) / _SURELY, 0.0, 1.0)
    between = n_folds / (n_folds - 1) ** 2  # variance between models over that of the jackknife
    return {
        "factor": np.minimum(_mean_of_pairs(factor), _MOST_FACTOR),
        "part": _mean_of_pairs(part) * between,
        # Only if both do: what a tree knows by heart, a stump beside it need not explain.
        "tipped": _TIPPED
        * np.minimum(repeated[:, None], repeated)
        * np.square(gain - gain[:, None]),
        "movement": np.maximum(moved[:, None], moved),
    }


def _mean_of_pairs(values):
    return 0.5 * (values[:, None] + values)


def fold_variance(folds, metric, positive, n_repeats, models=None):
    """Variances of a metric from fold matrices ``(..., splits, C, C)``, `n_repeats` times K.

    `models` are the matrices of the folds' models on the same rows, ``(..., splits, halves, C,
    C)``.
    """
    if metric.average == "binary" and folds.shape[-1] > 2:
        if models is not None:
            models = two_by_two(*collapse(models, positive))
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
        right = np.trace(pooled, axis1=-2, axis2=-1)
        fewest = np.where(at_end, 0.0, np.minimum(right, pooled.sum(axis=(-2, -1)) - right))
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
        fewest = np.minimum(hits, misses)
        if np.any(masks, axis=(0, 2)).sum() == 1:  # within one true class: simply binomial
            stratified = binomial
    unbiased = k / (k - 1) / n_repeats if k > 1 else 0.0
    statistic = _divided((k - 1) * unbiased * np.square(excess).sum(axis=-1), stratified)
    moved = [None, None] if models is None else _moved(models, metric, positive, n_repeats, pooled)
    return FoldVariance(
        binomial, between * unbiased, stratified, statistic, fewest, k, n_repeats, *moved
    )


def _moved(models, metric, positive, n_repeats, pooled):
    """Jackknife variance of the metric, and movement of the predicted class shares."""
    n = pooled.sum(axis=(-2, -1))
    mean = models.sum(axis=-3).mean(axis=-3)
    slope = metric_slope(without_empty_cells(mean), metric, positive)
    return (
        metric_jackknife(models, slope, n_repeats, n),
        movement(models, n_repeats, n),
    )


def _divided(top, bottom):
    """Quotient, 0 where nothing was counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, 0.0)
