"""Fold values of scores and probabilities, with their moments, become one posterior.

Every fold brings four numbers per metric: value, variance of the value over rows, third moment and
rows. A mean of losses is pooled over all rows; rankings and skills are averaged over folds, because
scores of different models cannot be compared. How much the folds disagree widens both as it widens
counts, see `FoldVariance`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import digamma
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.scores.delong import Estimate, freedom
from skuncertain._utils.validation import is_real, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.posterior import loss_posterior
from skuncertain.metrics._scores.ranking import of_estimate
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._fold_methods import (
    FoldOptions,
    check_omega,
    make_fold_posterior,
)
from skuncertain.model_selection._fold_t import SCORE_METHODS, score_posterior
from skuncertain.model_selection._fold_variance import FoldVariance
from skuncertain.model_selection._folds import DISAGREEMENT, FoldDiagnostics, Folds
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._shifted_gamma import negated

_FEW_POSITIVES = 15  # in a fold
# Part of the first-order optimism of the average precision that is there, by the first set of
# benchmarks/score_coverage.py: precision falls along the ranking.
_OPTIMISM = 0.7
_MISSING = "a class is missing in the fold, or its rows could not be scored"


@dataclass(frozen=True, eq=False)
class FoldMoments:
    """What the folds say about a metric of scores; arrays ``(..., splits)``.

    Attributes
    ----------
    value : ndarray
        Value of every fold; NaN where it is undefined.
    variance, third : ndarray
        Variance and third cumulant of that value over rows.
    n : ndarray
        Rows.
    """

    value: np.ndarray
    variance: np.ndarray
    third: np.ndarray
    n: np.ndarray

    def negated(self) -> FoldMoments:
        """The same of minus the metric."""
        return replace(self, value=-self.value, third=-self.third)

    def take(self, folds: Any) -> FoldMoments:
        """Some of the folds."""
        return FoldMoments(*(part[..., folds] for part in self._parts))

    def of(self, candidate: int) -> FoldMoments:
        """One candidate of many."""
        return FoldMoments(*(part[candidate] for part in self._parts))

    @property
    def _parts(self):
        return self.value, self.variance, self.third, self.n


@dataclass(frozen=True, eq=False)
class ScoredFolds:
    """Folds of a metric of scores, as `Folds` are of a metric of counts.

    Attributes
    ----------
    metric : ScoreMetric
        The metric.
    moments : FoldMoments
        Of the metric, or of what it is the negative of, shape (splits,).
    class_counts : ndarray of shape (splits, C)
        Rows of every class.
    positive : int or None
        Class that is ranked against the rest; None for all classes, or for the second of two.
    n_repeats : int
        Repetitions R.
    pos_label : label or None
        Class that the metric depends on.
    """

    metric: ScoreMetric
    moments: FoldMoments
    class_counts: np.ndarray
    positive: int | None = None
    n_repeats: int = 1
    pos_label: Any = None

    shape = ()

    @property
    def base(self):
        """The metric itself, if this one is its negative."""
        return self.metric.negated or self.metric

    @property
    def range(self):
        """Smallest and largest value with so many classes."""
        return self.metric.range_for(self.class_counts.shape[-1])

    @cached_property
    def values(self):
        """Value of the metric in every fold."""
        return self.moments.value if self.metric.negated is None else -self.moments.value

    @cached_property
    def usable(self):
        """Folds that have a value."""
        return ~np.isnan(self.moments.value)

    @cached_property
    def _used(self):
        """Moments of the folds that have a value."""
        return self.moments.take(self.usable)

    @property
    def n_folds(self):
        """K, folds of one repetition that have a value."""
        return float(np.count_nonzero(self.usable) / self.n_repeats)

    @cached_property
    def n(self):
        """Rows in these folds, each counted once."""
        return float(self._used.n.sum()) / self.n_repeats

    @property
    def ranked(self):
        """Class that is ranked against the rest; None for all of more than two."""
        return 1 if self.positive is None and self.class_counts.shape[-1] == 2 else self.positive

    @property
    def pools_rows(self):
        """Whether rows of all folds are averaged, not folds."""
        return self.base.family in ("mean", "share")

    @cached_property
    def _estimate(self):
        """Value of the base metric, and its variance and third cumulant over independent rows."""
        used, r, k = self._used, self.n_repeats, self.n_folds
        if not self.usable.any():
            return np.nan, np.nan, np.nan
        if not self.pools_rows:
            variance = used.variance.sum() / r / k**2
            # One row of a class shows no spread within its fold: the folds themselves do.
            if self.base.family == "ranking" and k > 1 and self._lonely:
                variance = max(variance, used.value.var() / (k - 1))
            return used.value.mean(), variance, used.third.sum() / r / k**3
        # Equal losses have that mean, whatever the rounding of the weights.
        share = used.n / used.n.sum()
        mean = used.value[0] if np.ptp(used.value) == 0 else share @ used.value
        second, cubed = used.variance * (used.n - 1), used.third * used.n**2
        away = used.value - mean
        whole = share @ (second + away**2)
        skew = share @ (cubed + 3 * away * second + away**3)
        return mean, whole / max(self.n - 1, 1.0), skew / self.n**2

    @cached_property
    def optimism(self):
        """By how much the average precision of folds is too high, on average over them.

        The T-th positive row counts itself. With a precision P that adds P (1 - P) / T if the rows
        above it are as they would be in another sample; over all m positives P (1 - P) H(m) / m.
        """
        if self.base.base != "average_precision" or not self.usable.any():
            return 0.0
        counts = self.class_counts[self.usable]
        counts = counts if self.ranked is None else counts[:, [self.ranked]]
        m = np.maximum(counts, 1.0)
        harmonic = digamma(m + 1) + np.euler_gamma
        share = (harmonic / m).mean(axis=1)
        return float(np.mean(_OPTIMISM * self._used.value * (1 - self._used.value) * share))

    @property
    def _lonely(self):
        """Whether a fold has a class, of those that are ranked, with a single row."""
        counts = self.class_counts[self.usable]
        if self.ranked is not None:
            own = counts[:, self.ranked]
            counts = np.stack([own, counts.sum(axis=1) - own], axis=1)
        return bool((counts == 1).any())

    @property
    def observed(self):
        """Mean of all rows, or of all folds."""
        value = float(self._estimate[0])
        return value if self.metric.negated is None else -value

    @cached_property
    def variance(self) -> FoldVariance:
        """How much the folds disagree."""
        used, k = self._used, self.n_folds
        mean, rows, _ = self._estimate
        weight = used.n / self.n if self.pools_rows else np.full(used.value.shape, 1 / max(k, 1))
        unbiased = k / (k - 1) / self.n_repeats if k > 1 else 0.0
        between = unbiased * np.square(weight * (used.value - mean)).sum()
        statistic = (k - 1) * between / rows if rows > 0 else 0.0
        rows, between, statistic, n = map(np.asarray, (rows, between, statistic, self.n))
        return FoldVariance(rows, between, rows, statistic, n, k, self.n_repeats)

    def needed(self, options):
        """Variance of the value around what is asked for."""
        rows = float(self.variance.binomial)
        omega = check_omega(options.omega, self.n_folds)
        if omega == "auto":
            return float(self.variance.needed(options.estimand)) if self.n_folds > 1 else rows
        return rows / (wang_li_omega(self.n_folds) if omega == "wang_li" else omega)

    def diagnostics(self, method, weight, estimand):
        """What was done and how much the folds disagree."""
        return FoldDiagnostics(
            metric=self.metric.name,
            method=method,
            estimand=estimand,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            omega_wang_li=float(wang_li_omega(max(self.n_folds, 1))),
            omega=float(weight),
            pooled=self.observed,
            fold_mean=float(self.values[self.usable].mean()) if self.usable.any() else np.nan,
            variance_ratio=float(self.variance.ratio()),
            p_value=float(self.variance.p_value),
        )

    def disagreement(self):
        """Text if the folds disagree more than sampling explains, otherwise None."""
        if not self.variance.p_value < DISAGREEMENT:
            return None
        spread = self.variance.statistic / max(self.n_folds - 1, 1)
        return f"{self.metric.name}: {spread:.1f} times the variance of chance"

    def question(self, method, estimand):
        """What is asked of these folds, as fields of `About`."""
        return {
            "metric": self.metric.name,
            "range": self.range,
            "greater_is_better": self.metric.greater_is_better,
            "pos_label": self.pos_label,
            "method": method,
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "estimand": estimand,
        }


def posterior_of_folds(folds: Folds | ScoredFolds, options: FoldOptions) -> Posterior:
    """Posterior by a fold method, of a metric of counts or of scores."""
    if not isinstance(folds, ScoredFolds):
        return make_fold_posterior(folds, options)
    allowed = ("pooled", *SCORE_METHODS)
    refuse_if(
        options.method not in allowed,
        "method",
        f"method={options.method!r} looks at confusion matrices, which do not hold "
        f"{folds.metric.name!r}: use {', '.join(map(repr, allowed))}.",
    )
    if options.method != "pooled":
        found, weight = _of_values(folds, options), np.nan
    else:
        _warn_of_missing(folds)
        _warn_of_few(folds)
        needed = folds.needed(options) if folds.usable.any() else np.nan
        found = _pooled(folds, options, needed)
        weight = float(folds.variance.binomial) / needed if needed > 0 else 1.0
        if folds.base.family == "share" and folds.usable.any():
            weight = found.diagnostics.omega
    return found.with_about(
        diagnostics=folds.diagnostics(options.method, weight, options.question),
        **folds.question(options.method, options.question),
    )


def _warn_of_missing(folds):
    lost = np.flatnonzero(~folds.usable)
    if lost.size:
        fate = "they are left out"
        if not folds.usable.any():
            fate = "there is no answer. A warning of every fold says why; larger folds that hold "
            fate += "rows of every class (StratifiedKFold) have one"
        warn_user(
            f"{folds.metric.name} is undefined ({_MISSING}) in {lost.size} of {folds.usable.size} "
            f"folds ({', '.join(map(str, lost[:10]))}{', ...' * (lost.size > 10)}, counted from "
            f"0): {fate}.",
            UndefinedMetricWarning,
        )


def _warn_of_few(folds):
    """The average precision of few positives is too high, in every fold, and so is its mean."""
    if folds.base.base != "average_precision" or not folds.usable.any():
        return
    counts = folds.class_counts[folds.usable].mean(axis=0)
    positives = counts.min() if folds.ranked is None else counts[folds.ranked]
    if positives < _FEW_POSITIVES and folds.optimism > 0:
        rows = f"{positives:.3g} positive row{'' if positives == 1 else 's'}"
        warn_user(
            f"{folds.metric.name} of folds with {rows} each is about "
            f"{folds.optimism:.2g} too high on average: the interval allows for that, the value "
            "does not. Fewer folds are better.",
            SmallSampleWarning,
        )


def _pooled(folds, options, needed):
    """Posterior with the variance that is needed."""
    if folds.metric.negated is not None:
        inner = _pooled(replace(folds, metric=folds.base), options, needed)
        return negated(inner, folds.metric)
    value, rows, third = folds._estimate
    about = About(metric=folds.metric.name, range=folds.range, observed=float(value))
    if folds.metric.family == "share" and folds.usable.any():
        return _share(folds, options)
    if folds.metric.family == "ranking" and folds.usable.any():
        size, df, chance = _proof(folds)
        moved = float(value) if value in (0.0, 1.0) else float(value) - folds.optimism
        spread = np.sqrt(needed + (folds.optimism / 2) ** 2)
        estimate = Estimate(moved, np.array([spread]), size, df, chance)
        found = of_estimate(None, estimate, None, "logit_delong", None, about)
        return found.with_about(observed=float(value))
    moments = float(value), float(rows), float(third)
    return loss_posterior(folds.metric, *moments, folds.n, needed, about)


def _share(folds, options):
    """Beta of the rows that are hits, as that of a proportion of a confusion matrix."""
    used = folds._used
    hits = np.rint(used.value * used.n)
    matrices = np.zeros((hits.size, 2, 2))
    matrices[:, 1, 1], matrices[:, 1, 0] = hits, used.n - hits
    prior = options.prior if is_real(options.prior) else 1.0  # there are no cells
    whole = Folds(matrices, count_metric("recall"), 1, folds.n_repeats)
    return make_fold_posterior(whole, replace(options, prior=prior))


def _of_values(folds, options):
    """Student's t around the mean of the fold values."""
    n_test = folds.moments.n if options.n_test is None else options.n_test
    n_train = folds.n - folds.moments.n if options.n_train is None else options.n_train
    return score_posterior(
        folds.values,
        options.method,
        folds.n_repeats,
        rho=options.rho,
        n_train=n_train,
        n_test=n_test,
        metric=folds.metric.name,
        range=folds.range,
        missing=_MISSING,
    )


# --------------------------------------------------------------------------------------------------
# What a ranking can prove


def _proof(folds):
    """Size, degrees of freedom and value of chance of a ranking over all folds, see `Estimate`.

    Averages over classes take the spread of a row to be alike in all of them.
    """
    metric = folds.metric
    counts = folds.class_counts[folds.usable].sum(axis=0) / folds.n_repeats
    share = counts / counts.sum()
    chance = metric.base == "average_precision"
    if metric.base.startswith("precision_at"):
        size = metric.k * folds.n_folds
        return size, freedom(size), None
    if folds.ranked is not None:
        own, total = counts[folds.ranked], counts.sum()
        size = own if metric.k else min(own, total - own)
        return size, freedom(size), float(share[folds.ranked]) if chance else None
    if metric.base.startswith("roc_auc_ovo"):
        pairs = list(combinations(range(counts.size), 2))
        sizes = np.array([min(counts[a], counts[b]) for a, b in pairs])
        weights = np.array([counts[a] + counts[b] for a, b in pairs])
    else:
        sizes, weights = np.minimum(counts, counts.sum() - counts), counts
    weights = weights if metric.base.endswith("_weighted") else np.ones(sizes.size)
    weights = weights / weights.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        size = float(np.sqrt(sizes.sum() / np.sum(weights**2 / sizes)))
        terms = weights**2 / sizes
        df = terms.sum() ** 2 / np.sum(terms**2 / np.maximum(sizes - 1, 1.0))
    return size, float(df), float(weights @ share) if chance else None
