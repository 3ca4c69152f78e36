"""Small result types."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._metrics import get_metric
from skuncertain._validation import import_optional, shown
from skuncertain._warnings import warn_user


def _plain_fields(result):
    """Fields of a dataclass as Python numbers, strings and lists."""
    return {
        name: np.asarray(getattr(result, name)).tolist() for name in result.__dataclass_fields__
    }


@dataclass(frozen=True)
class InformativeResult:
    """How sure it is that a classifier is better than guessing.

    Parameters
    ----------
    p_informative : float or ndarray
        P(informedness > rope).
    p_uninformative : float or ndarray
        P(-rope < informedness <= rope); 0 without a ROPE.
    p_deceptive : float or ndarray
        P(informedness <= -rope): worse than guessing.

    See Also
    --------
    ConfusionCounts.informative : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=28, fn=9, fp=4, tn=3)
    >>> round(counts.informative().p_deceptive, 2)
    0.16
    """

    p_informative: float | np.ndarray
    p_uninformative: float | np.ndarray
    p_deceptive: float | np.ndarray

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            The three probabilities.
        """
        return _plain_fields(self)


@dataclass(frozen=True, eq=False, repr=False)
class JointPosterior:
    """Joint draws of several metrics.

    Parameters
    ----------
    metrics : tuple of str
        Names, in the order of the first axis of `draws`.
    draws : ndarray of shape (metrics, ..., n_draws)
        The draws, read-only.
    seed : int
        Seed that produced them.
    prior : str
        Prior that was used.

    See Also
    --------
    ConfusionCounts.joint_posterior : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> joint = counts.joint_posterior(["precision", "recall"], random_state=0)
    >>> joint
    JointPosterior(metrics=('precision', 'recall'), n_draws=20000, prior='neutral', seed=0)
    >>> round(float(joint.correlation()[0, 1]), 1)
    0.3
    """

    metrics: tuple
    draws: np.ndarray
    seed: int
    prior: str

    def __repr__(self):
        return (
            f"JointPosterior(metrics={self.metrics}, n_draws={self.draws.shape[-1]}, "
            f"prior={self.prior!r}, seed={self.seed})"
        )

    def __getitem__(self, name):
        wanted = name if name in self.metrics else get_metric(name).name
        if wanted not in self.metrics:
            raise KeyError(f"{wanted!r} is not one of the drawn metrics {list(self.metrics)}.")
        return self.draws[self.metrics.index(wanted)]

    def correlation(self) -> np.ndarray:
        """Correlation matrix of the metrics.

        Returns
        -------
        ndarray of shape (..., metrics, metrics)
            Pearson correlations over the draws in which all metrics are defined and finite; NaN,
            with a warning, for a metric that does not vary.
        """
        draws = np.moveaxis(self.draws, 0, -2)
        flat, k = draws.reshape(-1, *draws.shape[-2:]), len(self.metrics)
        stack = np.full((len(flat), k, k), np.nan)
        for place, part in enumerate(flat):
            defined = part[:, np.isfinite(part).all(axis=0)]
            if defined.shape[1] > 1:
                largest = np.abs(defined).max(axis=1, keepdims=True)  # squares must not overflow
                with np.errstate(divide="ignore", invalid="ignore"):
                    stack[place] = np.corrcoef(defined / np.where(largest > 0, largest, 1.0))
        if np.any(np.isnan(stack)):
            warn_user(
                "a correlation is undefined: a metric does not vary over the draws, or is 0/0 or "
                "infinite in nearly all of them. NaN.",
                UndefinedMetricWarning,
            )
        return stack.reshape(*draws.shape[:-2], k, k)

    def prob(self, event: Callable) -> Any:
        """Probability of an event.

        Parameters
        ----------
        event : callable
            Maps the draws, one array per metric in order, to an array of booleans.

        Returns
        -------
        float or ndarray
            Share of draws in which the event holds.
        """
        if not callable(event):
            raise TypeError(
                f"event must be a function of the {len(self.metrics)} metrics, such as "
                f"lambda {', '.join(self.metrics)}: ..., got {shown(event)}."
            )
        holds = np.asarray(event(*self.draws))
        if holds.dtype != bool or holds.shape != self.draws.shape[1:]:
            raise ValueError("event must return one True or False per draw: compare the arrays.")
        value = holds.mean(axis=-1)
        return value.item() if value.ndim == 0 else value

    def to_frame(self) -> Any:
        """Table of the draws, a column per metric.

        Returns
        -------
        pandas.DataFrame
            The draws of a single matrix.
        """
        pandas = import_optional("pandas", "pandas", "JointPosterior.to_frame")
        if self.draws.ndim > 2:
            raise ValueError("to_frame needs a single matrix: index the stack of counts first.")
        return pandas.DataFrame(dict(zip(self.metrics, self.draws, strict=True)))


@dataclass(frozen=True, eq=False)
class FoldDiagnostics:
    """What a fold method did, and how much the folds disagree.

    Parameters
    ----------
    metric, method, estimand : str
        What was asked.
    n_folds : float
        K, folds per repetition; fractional if folds of a repetition were lost.
    n_repeats : int
        Repetitions of the cross-validation.
    omega_wang_li : float
        The published weight (K + 1) / (2 K).
    omega : float or ndarray
        Weight of the pooled counts; NaN for methods that look at fold values.
    micro : float or ndarray
        Metric of the pooled counts.
    macro : float or ndarray
        Mean of the fold values that exist.
    variance_ratio : float or ndarray
        Between-fold variance over binomial variance: about 1 for a stable learner.
    p_value : float or ndarray
        Probability of folds that disagree that much by chance.

    See Also
    --------
    fold_posterior : Makes it.

    Examples
    --------
    >>> from skuncertain import fold_posterior
    >>> folds = [[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]]
    >>> diagnostics = fold_posterior(folds, "recall").diagnostics
    >>> round(diagnostics.omega, 3), round(diagnostics.omega_wang_li, 3)
    (0.336, 0.667)
    """

    metric: str
    method: str
    estimand: str
    n_folds: float
    n_repeats: int
    omega_wang_li: float
    omega: Any
    micro: Any
    macro: Any
    variance_ratio: Any
    p_value: Any

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One entry per attribute.
        """
        return _plain_fields(self)
