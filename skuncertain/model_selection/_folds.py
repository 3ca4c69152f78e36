"""Fold matrices with the metric that they are asked for, and what a fold method did with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skuncertain._utils.validation import plain_fields
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import FoldDisagreementWarning
from skuncertain.metrics._gradients import effective_folds
from skuncertain.metrics._posterior import class_of
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._fold_variance import FoldVariance, fold_variance
from skuncertain.posteriors._about import About

DISAGREEMENT = 0.01  # chance of a false alarm per metric


@dataclass(frozen=True, eq=False)
class FoldDiagnostics:
    """What a fold method did, and how much the folds disagree.

    Parameters
    ----------
    metric, method, estimand : str
        What was asked.
    n_folds : float
        K, folds per repetition; fractional if folds of a repetition failed.
    n_repeats : int
        Repetitions of the cross-validation.
    omega_wang_li : float
        The published weight (K + 1) / (2 K).
    omega : float or ndarray
        Weight of the pooled counts; NaN for methods that look at fold values.
    pooled : float or ndarray
        Metric of the pooled counts.
    fold_mean : float or ndarray
        Mean of the fold values that exist.
    variance_ratio : float or ndarray
        Between-fold variance over binomial variance: about 1 for a stable learner.
    p_value : float or ndarray
        Probability of folds that disagree that much by chance.
    movement : float, ndarray or None
        How much the predicted class shares move with the training set, over the noise of the rows:
        below 2 or so for stable models; None if the models have not predicted the same rows.

    See Also
    --------
    fold_posterior : Makes it.

    Examples
    --------
    >>> from skuncertain.model_selection import fold_posterior
    >>> folds = [[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]]
    >>> diagnostics = fold_posterior(folds, "recall").diagnostics
    >>> round(diagnostics.omega, 3), round(diagnostics.omega_wang_li, 3)
    (0.667, 0.667)
    """

    metric: str
    method: str
    estimand: str
    n_folds: float
    n_repeats: int
    omega_wang_li: float
    omega: Any
    pooled: Any
    fold_mean: Any
    variance_ratio: Any
    p_value: Any
    movement: Any = None

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One entry per attribute.
        """
        return plain_fields(self)


@dataclass(frozen=True, eq=False)
class Folds:
    """Fold matrices and the metric that they are asked for.

    Attributes
    ----------
    matrices : ndarray of shape (..., splits, C, C)
        Counts as floats.
    metric : Metric
        The metric.
    positive : int or None
        Index of the positive class.
    n_repeats : int
        Repetitions R; there are K = splits / R folds in each.
    n_draws, random_state : object
        For methods that draw.
    pos_label : label or None
        Class that the metric depends on.
    rows : ndarray of shape (..., C, C) or None
        Pooled numbers of rows behind matrices of weighted ones.
    models : ndarray of shape (..., splits, halves, C, C) or None
        Matrices of every fold's model on the same rows, see `Stability`.
    """

    matrices: np.ndarray
    metric: Any
    positive: int | None
    n_repeats: int = 1
    n_draws: int | None = None
    random_state: Any = None
    pos_label: Any = None
    rows: np.ndarray | None = None
    models: np.ndarray | None = None

    @classmethod
    def of(
        cls, counts, metric, n_repeats, pos_label=None, n_draws=None, random_state=None, models=None
    ):
        """Folds of counts whose shape ends with the number of splits."""
        metric = count_metric(metric)
        positive = counts.positive_index(metric, pos_label)
        label = class_of(metric, counts.labels, positive)
        matrices = fold_matrices(counts, metric, positive, n_repeats)
        rows = counts._row_weights.rows.sum(axis=-3) / n_repeats if counts.weighted else None
        return cls(
            matrices, metric, positive, n_repeats, n_draws, random_state, label, rows, models
        )

    @property
    def n_folds(self):
        """K, folds of one repetition; fractional if one was lost."""
        return self.matrices.shape[-3] / self.n_repeats

    @property
    def shape(self):
        """Shape of the stack of problems."""
        return self.matrices.shape[:-3]

    @cached_property
    def pooled(self):
        """Summed folds; a row that was tested R times counts once."""
        return self.matrices.sum(axis=-3) / self.n_repeats

    @cached_property
    def values(self):
        """Value of the metric in every fold."""
        return self.metric.evaluate(self.matrices, positive=self.positive)

    @cached_property
    def observed(self):
        """Value of the metric in the pooled counts."""
        return self.metric.evaluate(self.pooled, positive=self.positive)

    @cached_property
    def variance(self) -> FoldVariance:
        """How much the folds disagree."""
        return fold_variance(self.matrices, self.metric, self.positive, self.n_repeats, self.models)

    def diagnostics(self, method, weight, estimand):
        """What was done and how much the folds disagree."""
        finite = np.isfinite(self.values)
        number = finite.sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            fold_mean = np.where(finite, self.values, 0.0).sum(axis=-1) / number
        plain = {
            "omega": weight,
            "pooled": self.observed,
            "fold_mean": np.where(number > 0, fold_mean, np.nan),
            "variance_ratio": self.variance.ratio(),
            "p_value": self.variance.p_value,
            "movement": self.variance.movement,
        }
        return FoldDiagnostics(
            metric=self.metric.name,
            method=method,
            estimand=estimand,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            omega_wang_li=wang_li_omega(self.n_folds),
            **{name: v.item() if getattr(v, "ndim", 1) == 0 else v for name, v in plain.items()},
        )

    def disagreement(self):
        """Text if the folds disagree more than sampling explains, otherwise None."""
        p_value = np.asarray(self.variance.p_value)
        if not np.any(p_value < DISAGREEMENT / p_value.size):
            return None
        worst = np.unravel_index(np.argmin(p_value), p_value.shape)
        spread = self.variance.statistic[worst] / max(self.n_folds - 1, 1)
        where = "" if p_value.ndim == 0 else f" (problem {tuple(map(int, worst))} of the stack)"
        return (
            f"{self.metric.name}{where}: {spread:.1f} times the variance of chance, given class "
            "counts"
        )

    def question(self, method, estimand):
        """What is asked of these folds, as fields of `About`."""
        return {
            "metric": self.metric.name,
            "range": self.metric.range,
            "greater_is_better": self.metric.greater_is_better,
            "pos_label": self.pos_label,
            "method": method,
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "estimand": estimand,
        }

    def about(self, prior_text, closing=True):
        """What a posterior from these folds is about, besides the question."""
        return About(
            metric=self.metric.name,
            range=self.metric.range,
            observed=self.observed,
            prior=prior_text,
            closing=closing,
        )


def fold_matrices(counts, metric, positive, n_repeats, view=np.asarray):
    """Fold matrices ``(..., splits, C, C)`` of floats, or what `view` makes of them.

    Rows with weights have the size that all folds together are worth to the metric.
    """
    if not counts.weighted:
        return view(counts.counts.astype(float))
    return effective_folds(counts._row_weights.apply(view), metric, positive, n_repeats)


def pooled_counts(counts, n_repeats):
    """Sum of all folds; a row that was tested R times counts once."""
    return counts._apply(lambda x: x.sum(axis=-3) / n_repeats)


def warn_of_disagreement(found):
    """Tell once which metrics differ between folds more than sampling explains."""
    warn_user(
        "the folds disagree more than sampling explains on " + "; ".join(found) + ". The learner "
        "may be unstable, or the folds may differ (groups, time). Test the one model that you will "
        "use on rows that were held out, or repeat the cross-validation 5 times and ask for "
        "estimand='final'.",
        FoldDisagreementWarning,
    )
