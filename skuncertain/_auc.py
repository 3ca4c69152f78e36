"""Area under the ROC curve and average precision: posteriors, and two models compared."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit, ndtri
from scipy.stats import rankdata

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._comparison_result import ComparisonResult, check_names, judge
from skuncertain._distributions import Posterior, StackedPosterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._location_scale import LogitNormalPosterior, NormalPosterior
from skuncertain._ranked_scores import (
    Estimate,
    area,
    average_precision,
    bootstrap_draws,
    bootstrap_moments,
    mean_of,
)
from skuncertain._score_input import ScoredRows
from skuncertain._special import beta_quantile
from skuncertain._validation import check_choice, check_draws, resolve_seed, shown
from skuncertain._warnings import remember_warnings

METHODS = ("logit-delong", "bayesian-bootstrap", "delong")
AVERAGES = ("macro", "weighted")
_TAIL = 0.025


def auc_posterior(
    y_true: ArrayLike,
    y_score: Any,
    *,
    method: str = "logit-delong",
    average: str | None = "macro",
    pooling: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> Posterior:
    """Posterior of the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels. With a cross-validator: those that it was fitted with.
    y_score : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores of the positive class, more for positives: probabilities, decision values or any
        other. With more than two classes a column per class. A fitted
        :class:`BayesianCrossValidator` with ``keep_predictions=True`` brings the scores of its
        test rows.
    method : {"logit-delong", "bayesian-bootstrap", "delong"}, default="logit-delong"
        Normal on the logit scale with DeLong's variance; a Beta with the exact moments of the
        Bayesian bootstrap over rows (its draws if `n_draws` is given); or, as a baseline, normal
        on the scale of the area itself.
    average : {"macro", "weighted"} or None, default="macro"
        With more than two classes: mean of the areas of every class against the rest, plain or
        weighted by the class counts; None gives a stack with one area per class. `pos_label` asks
        for one class.
    pooling : {"folds", "pooled"}, default=None
        With a cross-validator: "folds" (the default there) ranks the rows of every fold by
        themselves and averages the areas; "pooled" ranks all rows together, which takes for granted
        that the scores of different models can be compared.
    labels : sequence, default=None
        All classes, in the order of the columns of `y_score`; by default those that occur, sorted.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`.
    n_draws : int, default=None
        With method="bayesian-bootstrap": draws instead of the matched Beta.
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
    Everything is computed in O(n log n), with ties counting half. An area of 0 or 1 has no
    DeLong variance: there the posterior is Beta(m + 1/2, 1/2) with m the size of the smaller class,
    because the error of a worse model could sit in that class alone. An area next to 1 is not
    believed more than that: the 2.5 % quantile never exceeds the one of a perfect ranking.

    With a cross-validator the answer is about the algorithm on average, trained on sets of the size
    of the training folds. They share most of their rows, so a row counts (K + 1) / (2 K), as in the
    pooled counts of Wang and Li: the variance is divided by that.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988). Comparing the areas under two or
       more correlated receiver operating characteristic curves. Biometrics 44.

    Examples
    --------
    >>> from skuncertain import auc_posterior
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> posterior = auc_posterior(y, score)
    >>> round(posterior.observed, 2), posterior.interval()
    (0.88, Interval(low=0.47..., high=0.98...))
    """
    check_choice("method", method, METHODS)
    if n_draws is not None:
        check_draws(n_draws, 1)
        if method != "bayesian-bootstrap":
            raise ValueError(
                f"n_draws belongs to method='bayesian-bootstrap', got {shown(method)}."
            )
    rows = ScoredRows.of(y_true, y_score, labels, pos_label, pooling)
    drawing = None
    if method == "bayesian-bootstrap":
        drawing = (n_draws, resolve_seed(random_state))
    return ranking_posterior(rows, area, "roc_auc", method, average, drawing)


def average_precision_posterior(
    y_true: ArrayLike,
    y_score: Any,
    *,
    average: str | None = "macro",
    pooling: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
) -> Posterior:
    """Posterior of the average precision.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores, see :func:`auc_posterior`.
    average, pooling, labels, pos_label : object
        See :func:`auc_posterior`.

    Returns
    -------
    Posterior
        Normal on the logit scale.

    See Also
    --------
    pr_band : The whole curve.
    auc_posterior : Area under the ROC curve.

    Notes
    -----
    The value is scikit-learn's ``average_precision_score``; its variance comes from the influence
    of every row (the infinitesimal jackknife). It depends on the prevalence: the interval is for a
    population with the same share of positives.

    Examples
    --------
    >>> from skuncertain import average_precision_posterior
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> posterior = average_precision_posterior(y, score)
    >>> round(posterior.observed, 2), posterior.interval()
    (0.9, Interval(low=0.56..., high=0.98...))
    """
    rows = ScoredRows.of(y_true, y_score, labels, pos_label, pooling)
    return ranking_posterior(rows, average_precision, "average_precision", average=average)


def ranking_posterior(rows, estimate, metric, method="logit-delong", average="macro", drawing=None):
    """Posterior of a ranking metric of two classes, of an average or of every class."""
    info = {"metric": metric, "model": rows.describe(method)}
    if average is not None:
        check_choice("average", average, AVERAGES)
    if rows.n_scored == 1:
        return _of_estimate(rows, rows.estimate(estimate, 0), 0, method, drawing, info)
    if average is not None:
        info["metric"] = _name(metric, average)
        return _of_estimate(rows, _averaged(rows, estimate, average), None, method, drawing, info)
    parts = [
        _of_estimate(rows, rows.estimate(estimate, k), k, method, drawing, info)
        for k in range(rows.n_scored)
    ]
    return StackedPosterior(parts, **info)


def _name(metric, average):
    """Name of an average over classes."""
    return f"{metric}_ovr" + ("" if average == "macro" else "_weighted")


def _averaged(rows, estimate, average):
    estimates = [rows.estimate(estimate, k) for k in range(rows.n_scored)]
    return mean_of(estimates, rows.class_weights(average))


def _of_estimate(rows, found, column, method, drawing, info):
    info = {**info, "observed": found.value}
    if found.value in (0.0, 1.0):
        return _certain(found, drawing, info)
    if found.variance == 0 and found.value == 0.5:
        return NormalPosterior(0.5, 0.0, **info)  # scores that do not vary rank nothing, for sure
    if drawing is not None:
        return _bootstrap(rows, found, column, drawing, info)
    if method == "delong":
        scale = np.sqrt(found.variance)
        return NormalPosterior(found.value, scale, **info)
    return LogitNormalPosterior(logit(found.value), logit_scale(found), **info)


def _certain(found, drawing, info):
    """A ranking without any error, or with nothing but errors."""
    shapes = (found.size + 0.5, 0.5) if found.value == 1.0 else (0.5, found.size + 0.5)
    posterior = BetaPosterior(*shapes, **info)
    if drawing is None or drawing[0] is None:
        return posterior
    draws = posterior.sample(drawing[0], drawing[1])
    return DrawsPosterior(draws, seed=drawing[1], **info)


def logit_scale(found: Estimate) -> float:
    """Standard deviation of the logit; at least what a perfect ranking leaves open."""
    middle = abs(float(logit(found.value)))
    share = found.value * (1 - found.value)
    # Without any variance the worst that can be: all errors in one class.
    variance = found.variance or share / (found.size + 1)
    spread = np.sqrt(variance) / share
    bound = float(logit(beta_quantile(_TAIL, found.size + 0.5, 0.5)))
    return max(float(spread), (middle - bound) / -float(ndtri(_TAIL)))


def _bootstrap(rows, found, column, drawing, info):
    n_draws, seed = drawing
    if rows.folded or column is None:
        raise ValueError(
            "method='bayesian-bootstrap' is for two classes, or one class (pos_label=), and one "
            "ranking: use method='logit-delong' for averages over classes or folds."
        )
    positive, score = rows.problem(column)
    if n_draws is not None:
        rng = np.random.default_rng(seed)
        draws = bootstrap_draws(positive, score, n_draws, rng, rows.weight)
        return DrawsPosterior(draws, seed=seed, **info)
    mean, variance = bootstrap_moments(positive, score)
    total = mean * (1 - mean) * rows.weight / variance - 1
    return BetaPosterior(mean * total, (1 - mean) * total, **info)


@remember_warnings
def compare_auc(
    y_true: ArrayLike,
    score_a: Any,
    score_b: Any,
    *,
    rope: float = 0.0,
    average: str = "macro",
    labels: Any = None,
    pos_label: Any = None,
    names: Any = ("A", "B"),
) -> ComparisonResult:
    """Compare the areas under the ROC curves of two models on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    score_a, score_b : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores of the two models, see :func:`auc_posterior`. Two cross-validators that tested the
        same rows are compared by the means of their folds; the splits may differ.
    rope : float, default=0.0
        Region of practical equivalence, in units of the area.
    average : {"macro", "weighted"}, default="macro"
        With more than two classes.
    labels, pos_label : object, default=None
        See :func:`auc_posterior`.
    names : tuple of two str, default=("A", "B")
        What to call the models.

    Returns
    -------
    ComparisonResult
        Difference is b - a; ``p_better`` is the probability that b is better. With ``rope=0``
        DeLong's two-sided p-value is ``2 * min(p_worse, p_better) + p_equivalent``; scores that
        rank all rows alike are equivalent for sure, with a p-value of 1.

    See Also
    --------
    auc_posterior : One model.
    compare_paired : Metrics of predicted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain import compare_auc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> good, weak = y + rng.normal(size=200), 0.5 * y + rng.normal(size=200)
    >>> compare_auc(y, weak, good, names=("weak", "good"))
    ComparisonResult(good better than weak in roc_auc with probability 0.84, worse 0.16,
    equivalent 0.00; good - weak = 0.054, 95 % interval [-0.050, 0.159]; 200 shared rows, DeLong,
    rope=0)
    """
    names = check_names(names)
    sides = [ScoredRows.of(y_true, score, labels, pos_label, None) for score in (score_a, score_b)]
    if sides[0].n_scored != sides[1].n_scored:
        raise ValueError(
            "score_a and score_b must have the same number of columns, got "
            f"{sides[0].n_scored} and {sides[1].n_scored}."
        )
    _check_same_rows(*sides)
    check_choice("average", average, AVERAGES)
    left, right = (
        side.estimate(area, 0) if side.n_scored == 1 else _averaged(side, area, average)
        for side in sides
    )
    metric = "roc_auc" if sides[0].n_scored == 1 else _name("roc_auc", average)
    gap = replace(right, value=right.value - left.value, influence=right.influence - left.influence)
    alike = all(
        np.array_equal(rankdata(a), rankdata(b))
        for a, b in zip(sides[0].scores.T, sides[1].scores.T, strict=True)
    )
    variance = 0.0 if alike else gap.variance + _unseen(left) + _unseen(right)
    if not alike and gap.variance == 0:  # rankings that differ, but not in how they place rows
        variance = max(variance, _perfect_variance(gap.size))
    difference = NormalPosterior(
        0.0 if alike else gap.value,
        np.sqrt(variance),
        metric=f"difference in {metric}",
        range=(-1.0, 1.0),
    )
    return judge(
        difference,
        rope,
        metric=metric,
        names=names,
        method=f"{sides[0].n} shared rows, {_how(*sides)}",
        n=sides[0].n,
        prior="none: normal with DeLong's covariance",
    )


def _check_same_rows(left, right):
    """Refuse models that were not asked the same."""
    if left.folded != right.folded:
        raise ValueError(
            "score_a and score_b must both be scores, or both cross-validators: the mean of folds "
            "and the area of one ranking are different things."
        )
    if left.folded and not np.array_equal(np.unique(left.row), np.unique(right.row)):
        raise ValueError("score_a and score_b must be cross-validators that tested the same rows.")


def _how(*sides):
    """Short text about the variance, the same for both models or one for each."""
    return " and ".join(dict.fromkeys(side.describe("DeLong") for side in sides))


def _perfect_variance(size):
    """Variance of Beta(size + 1/2, 1/2)."""
    return float((size + 0.5) * 0.5 / ((size + 1) ** 2 * (size + 2)))


def _unseen(found):
    """Variance that a (nearly) perfect ranking hides."""
    if found.value in (0.0, 1.0):
        return _perfect_variance(found.size)
    seen = np.sqrt(found.variance) / (found.value * (1 - found.value))
    if seen == 0:
        return 0.0
    return found.variance * ((logit_scale(found) / seen) ** 2 - 1)
