"""Area under the ROC curve and average precision: posteriors, and two models compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit, ndtri

from skuncertain._numerics.beta import beta_quantile
from skuncertain._numerics.delong import (
    Estimate,
    area,
    average_precision,
    bootstrap_draws,
    bootstrap_moments,
    mean_of,
)
from skuncertain._utils.typing import LabelLike, RandomStateLike
from skuncertain._utils.validation import check_choice, check_draws, refuse_if, resolve_seed
from skuncertain.metrics._scores import ScoredRows
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, StackedPosterior
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._student_normal import LogitNormalPosterior, NormalPosterior

METHODS = ("logit_delong", "bayesian_bootstrap", "delong")
AVERAGES = ("macro", "weighted")
_TAIL = 0.025


def auc_posterior(
    y_true: ArrayLike,
    y_score: Any,
    *,
    method: str = "logit_delong",
    average: str | None = "macro",
    pooling: str | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> Posterior:
    """Posterior of the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels. With a cross-validator: those that it was fitted with.
    y_score : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores, more for positives; with more than two classes a column per class. A fitted
        :class:`BayesianCrossValidator` with ``keep_predictions=True`` brings those of its test
        rows.
    method : {"logit_delong", "bayesian_bootstrap", "delong"}, default="logit_delong"
        Normal on the logit scale with DeLong's variance; a Beta with the exact moments of the
        Bayesian bootstrap over rows (its draws if `n_draws` is given); or normal as it is, with
        intervals cut off at 0 and 1 (and a warning).
    average : {"macro", "weighted"} or None, default="macro"
        Mean of the areas of every class against the rest, plain or weighted by the class counts;
        None gives a stack with one area per class. `pos_label` asks for one class.
    pooling : {"folds", "pooled"}, default=None
        With a cross-validator: "folds" (the default there) averages the areas of the folds;
        "pooled" ranks all rows together, as if scores of different models could be compared.
    labels : sequence, default=None
        All classes, in the order of the columns of `y_score`; by default those that occur, sorted.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`. The area is the same for both of two classes;
        scores in one column are those of the last label unless another one is named.
    n_draws : int, default=None
        With method="bayesian_bootstrap": draws instead of the matched Beta.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    Posterior
        With ``mean median std pdf cdf quantile interval prob sample``.

    See Also
    --------
    compare_auc : Two models on the same rows.
    roc_band : The whole curve.
    average_precision_posterior : Area under the precision-recall curve.

    Notes
    -----
    An area of 0 or 1 has no DeLong variance: there the posterior is Beta(m + 1/2, 1/2) with m the
    size of the smaller class, because the error of a worse model could sit in that class alone. An
    area next to 1 is not believed more than that. With a cross-validator the answer is about the
    algorithm on average, and a row counts (K + 1) / (2 K), as in Wang and Li's pooled counts. The
    method notes have the formulas.

    Examples
    --------
    >>> from skuncertain.metrics import auc_posterior
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> posterior = auc_posterior(y, score)
    >>> round(posterior.observed, 2), posterior.interval()
    (0.88, Interval(low=0.47..., high=0.98...))
    """
    check_choice("method", method, METHODS)
    if n_draws is not None:
        check_draws(n_draws, 1)
        refuse_if(
            method != "bayesian_bootstrap",
            "n_draws",
            "n_draws belongs to method='bayesian_bootstrap', got {value}.",
            value=method,
        )
    rows = ScoredRows.of(y_true, y_score, labels, pos_label, pooling)
    drawn = method == "bayesian_bootstrap"
    drawing = (n_draws, resolve_seed(random_state)) if drawn else None
    return ranking_posterior(rows, area, "roc_auc", method, average, drawing)


def average_precision_posterior(
    y_true: ArrayLike,
    y_score: Any,
    *,
    average: str | None = "macro",
    pooling: str | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
) -> Posterior:
    """Posterior of the average precision.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores, see :func:`auc_posterior`.
    average, pooling, labels : object
        See :func:`auc_posterior`.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`: if two classes have names it must be given.

    Returns
    -------
    Posterior
        Normal on the logit scale.

    See Also
    --------
    precision_recall_band : The whole curve.
    auc_posterior : Area under the ROC curve.

    Notes
    -----
    The value is scikit-learn's ``average_precision_score``; its variance comes from the influence
    of every row (the infinitesimal jackknife). It depends on the prevalence: the interval is for a
    population with the same share of positives.

    Examples
    --------
    >>> from skuncertain.metrics import average_precision_posterior
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> posterior = average_precision_posterior(y, score)
    >>> round(posterior.observed, 2), posterior.interval()
    (0.9, Interval(low=0.56..., high=0.98...))
    """
    what = "the average precision"
    rows = ScoredRows.of(y_true, y_score, labels, pos_label, pooling, what=what)
    return ranking_posterior(rows, average_precision, "average_precision", average=average)


def ranking_posterior(rows, estimate, metric, method="logit_delong", average="macro", drawing=None):
    """Posterior of a ranking metric of two classes, of an average or of every class."""
    about = About(
        metric=metric, method=method, **rows.question(), description=rows.describe(method)
    )
    if average is not None:
        check_choice("average", average, AVERAGES)
    labels = tuple(rows.labels[k] for k in rows.classes)
    if rows.n_scored == 1:
        about = replace(about, pos_label=_class(metric, labels, rows))
        return _of_estimate(rows, rows.estimate(estimate, 0), 0, method, drawing, about)
    if average is not None:
        about = replace(about, metric=_name(metric, average))
        return _of_estimate(rows, _averaged(rows, estimate, average), None, method, drawing, about)
    parts = [
        _of_estimate(rows, rows.estimate(estimate, k), k, method, drawing, about)
        for k in range(rows.n_scored)
    ]
    return StackedPosterior(parts, replace(about, pos_label=labels))


def _class(metric, labels, rows):
    """Class of one ranking; the area of two classes is the same for both."""
    return None if metric == "roc_auc" and len(rows.labels) == 2 else labels[0]


def _name(metric, average):
    """Name of an average over classes."""
    return f"{metric}_ovr" + ("" if average == "macro" else "_weighted")


def _averaged(rows, estimate, average):
    estimates = [rows.estimate(estimate, k) for k in range(rows.n_scored)]
    return mean_of(estimates, rows.class_weights(average))


def _of_estimate(rows, found, column, method, drawing, about):
    about = replace(about, observed=found.value)
    if found.value in (0.0, 1.0):
        return _certain(found, drawing, about)
    if found.variance == 0 and found.value == 0.5:
        return NormalPosterior(0.5, 0.0, about=about)  # scores that do not vary rank nothing
    if drawing is not None:
        return _bootstrap(rows, found, column, drawing, about)
    if method == "delong":
        return NormalPosterior(found.value, np.sqrt(found.variance), about=about)
    return LogitNormalPosterior(logit(found.value), logit_scale(found), about)


def _certain(found, drawing, about):
    """A ranking without any error, or with nothing but errors."""
    shapes = (found.size + 0.5, 0.5) if found.value == 1.0 else (0.5, found.size + 0.5)
    posterior = BetaPosterior(*shapes, about=about)
    if drawing is None or drawing[0] is None:
        return posterior
    draws = posterior.sample(drawing[0], drawing[1])
    return DrawsPosterior(draws, seed=drawing[1], about=about)


def logit_scale(found: Estimate) -> float:
    """Standard deviation of the logit; at least what a perfect ranking leaves open."""
    middle = abs(float(logit(found.value)))
    share = found.value * (1 - found.value)
    # Without any variance the worst that can be: all errors in one class.
    variance = found.variance or share / (found.size + 1)
    spread = np.sqrt(variance) / share
    bound = float(logit(beta_quantile(_TAIL, found.size + 0.5, 0.5)))
    return max(float(spread), (middle - bound) / -float(ndtri(_TAIL)))


def _bootstrap(rows, found, column, drawing, about):
    n_draws, seed = drawing
    refuse_if(
        rows.folded or column is None,
        "method",
        "method='bayesian_bootstrap' is for two classes, or one class (pos_label=), and one "
        "ranking: use method='logit_delong' for averages over classes or folds.",
    )
    positive, score = rows.problem(column)
    if n_draws is not None:
        rng = np.random.default_rng(seed)
        draws = bootstrap_draws(positive, score, n_draws, rng, rows.weight)
        return DrawsPosterior(draws, seed=seed, about=about)
    mean, variance = bootstrap_moments(positive, score)
    total = mean * (1 - mean) * rows.weight / variance - 1
    return BetaPosterior(mean * total, (1 - mean) * total, about=about)
