"""Area under the ROC curve and average precision: posteriors, and two models compared."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri, stdtrit

from skuncertain._numerics.beta import beta_quantile
from skuncertain._numerics.scores.delong import (
    Estimate,
    area,
    average_precision,
    bootstrap_draws,
    bootstrap_moments,
    mean_of,
)
from skuncertain._utils.typing import LabelLike, RandomStateLike
from skuncertain._utils.validation import check_choice, check_draws, refuse_if, resolve_seed
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._scores.scored_rows import ScoredRows
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, StackedPosterior
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._student_normal import (
    AffinePosterior,
    LogitNormalPosterior,
    LogitStudentPosterior,
    NormalPosterior,
)

METHODS = ("logit_delong", "bayesian_bootstrap", "delong")
AVERAGES = ("macro", "weighted")
_TAIL = 0.025
# Coverage of nominal 95 % intervals, by benchmarks/auc_coverage.py
_BOOTSTRAP_COVERED, _PRECISION_COVERED, _BORROWED_COVERED = (
    "53 to 100 %",
    "90 to 100 %",
    "53 to 82 %",
)
MOST_WARNED = 20  # rows of a class; with so many or more nothing is said
NORMAL_DF = 1e6  # from here on Student's t is the normal


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
        Student's t on the logit scale with DeLong's variance; a Beta with the exact moments of the
        Bayesian bootstrap over rows (its draws if `n_draws` is given), too short with few rows; or
        normal as it is, with intervals cut off at 0 and 1 (and a warning).
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
    There are m - 1 degrees of freedom with m rows in the smaller class. An area of 0 or 1 has no
    DeLong variance: there the posterior is Beta(m + 1/2, 1/2), and an area next to 1 is not
    believed more than that. A class of few rows in an average is taken to vary as the others do.
    With a cross-validator the answer is about the algorithm on average, and a row counts
    (K + 1) / (2 K) or, where the folds differ more, less. The method notes have the formulas.

    Examples
    --------
    >>> from skuncertain.metrics import auc_posterior
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> posterior = auc_posterior(y, score)
    >>> round(posterior.observed, 2), posterior.interval()
    (0.88, Interval(low=0.27..., high=0.99...))
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
    return ranking_posterior(rows, area, "roc_auc", method, average, drawing, warning=True)


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
        Student's t on the logit scale.

    See Also
    --------
    precision_recall_band : The whole curve.
    auc_posterior : Area under the ROC curve.

    Notes
    -----
    The value is scikit-learn's ``average_precision_score``; its variance comes from the influence
    of every row (the infinitesimal jackknife), with the degrees of freedom of the area. A perfect
    ranking proves no more than that of the area, and no less than chance. It depends on the
    prevalence: the interval is for a population with the same share of positives.

    Examples
    --------
    >>> from skuncertain.metrics import average_precision_posterior
    >>> y = [0, 1] * 20
    >>> score = [row + 15 * label for row, label in enumerate(y)]
    >>> posterior = average_precision_posterior(y, score)
    >>> round(posterior.observed, 2), posterior.interval()
    (0.83, Interval(low=0.63..., high=0.93...))
    """
    what = "the average precision"
    rows = ScoredRows.of(y_true, y_score, labels, pos_label, pooling, what=what)
    return ranking_posterior(
        rows, average_precision, "average_precision", average=average, warning=True
    )


def ranking_posterior(
    rows, estimate, metric, method="logit_delong", average="macro", drawing=None, warning=False
):
    """Posterior of a ranking metric of two classes, of an average or of every class."""
    about = About(
        metric=metric, method=method, **rows.question(), description=rows.describe(method)
    )
    if average is not None:
        check_choice("average", average, AVERAGES)
    labels = tuple(rows.labels[k] for k in rows.classes)
    if rows.n_scored == 1:
        about = replace(about, pos_label=_class(metric, labels, rows))
        found, columns = [rows.estimate(estimate, 0)], [0]
    elif average is not None:
        about = replace(about, metric=_name(metric, average))
        found, columns = [_averaged(rows, estimate, average)], [None]
    else:
        columns = range(rows.n_scored)
        found = [rows.estimate(estimate, k) for k in columns]
    if warning and method != "delong" and rows.weight == 1:  # measured without folds
        warn_few(min(found, key=attrgetter("size")), drawing is not None)
    posteriors = [
        of_estimate(rows, one, column, method, drawing, about)
        for one, column in zip(found, columns, strict=True)
    ]
    stacked = rows.n_scored > 1 and average is None
    return (
        StackedPosterior(posteriors, replace(about, pos_label=labels)) if stacked else posteriors[0]
    )


def _class(metric, labels, rows):
    """Class of one ranking; the area of two classes is the same for both."""
    return None if metric == "roc_auc" and len(rows.labels) == 2 else labels[0]


def _name(metric, average):
    """Name of an average over classes."""
    return f"{metric}_ovr" + ("" if average == "macro" else "_weighted")


def _averaged(rows, estimate, average):
    estimates = [rows.estimate(estimate, k) for k in range(rows.n_scored)]
    return mean_of(estimates, rows.class_weights(average))


def warn_few(found, drawn):
    """One warning about few rows, where intervals were measured to be short; see the guide."""
    told = None
    if found.parts:
        told = _warn_borrowed(found)
    elif drawn and found.size <= 50 and found.variance > 0:
        told = (
            f"the Bayesian bootstrap of the area with {found.size:g} rows in the smaller class is "
            f"too short: in simulations its 95 % intervals covered {_BOOTSTRAP_COVERED} with 3 to "
            "50, least next to 1, those of method='logit_delong' 93 to 100 %."
        )
    elif found.chance is not None and found.size < 15:
        told = (
            f"the average precision of {found.size:g} positive or negative rows: in simulations "
            f"with fewer than 15 its 95 % intervals covered {_PRECISION_COVERED}, least where few "
            "positives rank far above the rest."
        )
    if told is not None:
        warn_user(told, SmallSampleWarning)


def _warn_borrowed(found):
    """Text for a class without errors that could move the average more than its interval says."""
    low, high = _ends(found)
    reach = max(found.value - low, high - found.value)
    for weight, part in found.parts:
        alone = 1 - float(beta_quantile(_TAIL, part.size + 0.5, 0.5))
        if part.value in (0.0, 1.0) and part.size < MOST_WARNED and weight * alone > 1.5 * reach:
            return (
                f"a class with {part.size:g} rows is ranked without error, and the average takes "
                "its errors to be as rare as those of the other classes: where they were not, 95 % "
                f"intervals covered {_BORROWED_COVERED} in simulations."
            )
    return None


def of_estimate(rows, found, column, method, drawing, about):
    """Posterior of the estimate of a ranking; only a bootstrap looks at the rows again."""
    about = replace(about, observed=found.value)
    if found.value in (0.0, 1.0):
        return _certain(found, drawing, about)
    if found.chance is None and _ranks_nothing(found):
        return NormalPosterior(0.5, 0.0, about=about)  # scores that do not vary
    if drawing is not None:
        return _bootstrap(rows, found, column, drawing, about)
    if method == "delong":
        return NormalPosterior(found.value, np.sqrt(found.variance), about=about)
    centre, scale = logit(found.value), logit_scale(found)
    if found.df > NORMAL_DF:
        return LogitNormalPosterior(centre, scale, about)
    return LogitStudentPosterior(found.df, centre, scale, about)


def _ranks_nothing(found):
    """Whether all scores are tied, in every class."""
    if found.parts:
        return all(_ranks_nothing(part) for _, part in found.parts)
    return found.variance == 0 and found.value == 0.5


def _certain(found, drawing, about):
    """A ranking without any error, or with nothing but errors."""
    shapes = (found.size + 0.5, 0.5) if found.value == 1.0 else (0.5, found.size + 0.5)
    posterior = BetaPosterior(*shapes, about=about)
    if found.chance:
        posterior = AffinePosterior(posterior, about, low=found.chance).with_about(closing=True)
    if drawing is None or drawing[0] is None:
        return posterior
    draws = posterior.sample(drawing[0], drawing[1])
    return DrawsPosterior(draws, seed=drawing[1], about=about)


def quantile_of(df: float) -> float:
    """The .975 quantile of Student's t, or of the normal."""
    return float(-ndtri(_TAIL) if df > NORMAL_DF else stdtrit(df, 1 - _TAIL))


def _guards(found):
    """What a perfect ranking leaves open: no 95 % interval begins above, or ends below, these.

    An area of 0 is as perfect as one of 1. The average precision is that of chance where rows are
    ranked at random, and small values are nothing special.
    """
    open_ = 1 - float(beta_quantile(_TAIL, found.size + 0.5, 0.5))
    if found.chance is None:
        return 1 - open_, open_
    return 1 - (1 - found.chance) * open_, 0.0


def logit_scale(found: Estimate) -> float:
    """Scale of the logit; at least what a perfect ranking leaves open."""
    share = found.value * (1 - found.value)
    # Without any variance the worst that can be: all errors in one class.
    variance = found.variance + found.unseen or share / (found.size + 1)
    spread = float(np.sqrt(variance)) / share
    middle, t = logit(found.value), quantile_of(found.df)
    if found.parts:
        low, high = _farthest(found)
        spread = min(spread, max(middle - logit(low), logit(high) - middle) / t)
    low, high = _guards(found)
    with np.errstate(divide="ignore"):
        return max(spread, float(middle - logit(low)) / t, float(logit(high) - middle) / t)


def _ends(found):
    """Ends of the 95 % interval of one class."""
    low, high = _guards(found)
    if found.value in (0.0, 1.0):
        return (low, 1.0) if found.value == 1.0 else (0.0, high)
    reach = quantile_of(found.df) * logit_scale(found) * np.array([-1, 1])
    return tuple(expit(logit(found.value) + reach))


def _farthest(found):
    """How far the intervals of the classes allow the 95 % interval of their average to go.

    On the logit scale of the average a class of few rows could reach farther than its own area.
    """
    distance = np.array(
        [w * (np.array(_ends(part)) - part.value) for w, part in found.parts if w > 0]
    )
    apart = sum(w**2 * part.variance for w, part in found.parts)
    together = max(found.variance / apart, 1.0) if apart else 1.0  # classes that err together
    low, high = np.sqrt(together * np.square(distance).sum(axis=0)) * np.array([-1, 1])
    return np.clip(found.value + np.array([low, high]), 1e-300, 1 - 1e-16)


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
