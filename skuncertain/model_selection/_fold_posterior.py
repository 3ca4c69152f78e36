"""K fold matrices, or K fold scores, become one posterior or interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    check_integer,
    check_kind,
    check_level,
    check_random_state,
    refuse_if,
)
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import Metric
from skuncertain.model_selection._fold_methods import FoldOptions, make_fold_posterior
from skuncertain.model_selection._fold_t import (
    MISSING,
    SCORE_METHODS,
    check_score_values,
    score_posterior,
    split_repeats,
)
from skuncertain.model_selection._folds import Folds
from skuncertain.model_selection._score_names import is_known, named_range
from skuncertain.model_selection._stability import check_models
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._interval import Interval


def fold_posterior(
    counts: Any,
    metric: MetricLike | None = None,
    *,
    method: str | None = None,
    omega: Any = "auto",
    estimand: str = "fitted",
    prior: PriorLike = 1.0,
    stability_counts: ArrayLike | None = None,
    n_repeats: int | None = None,
    rho: float | None = None,
    prior_per_fold: bool | None = None,
    n_train: ArrayLike | None = None,
    n_test: ArrayLike | None = None,
    pos_label: LabelLike = None,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> Posterior:
    r"""Posterior of a metric from the confusion matrices, or the scores, of K folds.

    Parameters
    ----------
    counts : ConfusionCounts or array-like of shape (..., K, C, C), (K,) or (problems, K)
        One confusion matrix per fold, rows true; leading axes are independent problems. Or fold
        scores, as of ``cross_val_score``; counts give better, as a rule shorter, intervals.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. Of scores the name, which tells their range; scikit-learn's too.
    method : str, default=None
        By default "pooled", and "nadeau_bengio" for scores, which allow t methods only.
        "pooled": Beta(ω·successes + λ, ω·failures + λ) of the summed folds. "averaged": a Beta with
        the moments of the average of K fold posteriors; "average_exact": that average itself.
        "dirichlet", "bootstrap": pooled counts as if rows were independent. "t", "corrected_t",
        "nadeau_bengio": Student's t around the mean of the fold values.
    omega : {"auto", "wang_li"} or float, default="auto"
        ω of "pooled": estimated (experimental), the published (K + 1) / (2 K), or in [1/K, 1].
    estimand : {"fitted", "algorithm", "final"}, default="fitted"
        What ω = "auto" is about: the K models that were fitted, on average; the same algorithm on
        other training sets of this size and class counts; the one model fitted on all rows.
    prior : float, str or array-like of shape (C, C), default=1.0
        Pseudo-counts λ on each side of the proportion, or per cell: an array, "dirichlet".
    stability_counts : array-like of shape (..., K, C, C) or (..., K, 2, C, C), default=None
        For ω = "auto": matrices of every model on the same rows, or on two halves of fewer rows.
    n_repeats : int, default=None
        Repetitions, K stands for all folds then. Scores of shape (n_repeats, K) are one problem.
    rho : float, default=None
        Correlation between folds, by default 1/K ("averaged") or 0.7 ("corrected_t").
    prior_per_fold : bool, default=None
        Whether every fold gets the whole prior or λ/K, the default for "averaged".
    n_train, n_test : int or array-like of shape (K,), default=None
        Rows per fold, for "nadeau_bengio". By default the folds partition the rows.
    pos_label, n_draws, random_state : object, default=None
        Positive class (its index if `counts` is an array); draws and seed where they are needed.

    Returns
    -------
    Posterior
        Its ``diagnostics`` say what was done. The method notes have formulas and coverage.

    See Also
    --------
    fold_interval : Only the interval.
    cross_val_posterior, BayesianCrossValidator : Run the cross-validation as well.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.model_selection import fold_posterior
    >>> folds = ConfusionCounts.from_binary(
    ...     tp=[12, 10, 14, 9, 13], fp=[3, 5, 2, 6, 4], fn=[4, 6, 2, 7, 3], tn=[21, 19, 22, 18, 20]
    ... )
    >>> posterior = fold_posterior(folds, "precision")
    >>> posterior.interval(), posterior.diagnostics.omega
    (Interval(low=0.602..., high=0.846...), 0.599...)
    >>> fold_posterior([0.81, 0.84, 0.79, 0.86, 0.83], "roc_auc").interval()
    Interval(low=0.775..., high=0.876...)
    """
    plain = metric is None or _are_scores(counts)
    if method is None:
        method = "nadeau_bengio" if plain else "pooled"
    options = FoldOptions(method, omega, estimand, prior, rho, prior_per_fold, n_train, n_test)
    refuse_if(
        stability_counts is not None and (plain or method != "pooled" or options.omega != "auto"),
        "stability_counts",
        "stability_counts are used by method='pooled' with omega='auto' only, got "
        f"method={method!r}, omega={omega!r}.",
    )
    check_random_state(random_state)
    if n_repeats is not None:
        n_repeats = check_integer("n_repeats", n_repeats, low=1)
    if plain:
        found = _of_scores(counts, metric, options, n_repeats)
        return found.with_about(pos_label=pos_label)
    n_repeats = n_repeats or 1
    if not isinstance(counts, ConfusionCounts):
        counts, pos_label = ConfusionCounts(counts, pos_label=pos_label), None
    refuse_if(
        not counts.shape,
        "counts",
        "counts must have one matrix per fold, shape (..., K, C, C), got a single matrix: "
        "use ConfusionCounts.posterior.",
    )
    refuse_if(
        counts.shape[-1] % n_repeats or counts.shape[-1] == 0,
        "n_repeats",
        f"n_repeats={n_repeats} must divide the number of folds, {counts.shape[-1]}.",
    )
    models = None
    if stability_counts is not None:
        models = check_models(stability_counts, counts)
    folds = Folds.of(counts, metric, n_repeats, pos_label, n_draws, random_state, models)
    return make_fold_posterior(folds, options, warn=True)


def fold_interval(
    counts: Any,
    metric: MetricLike | None = None,
    *,
    level: float = 0.95,
    kind: str = "eti",
    **options: Any,
) -> Interval:
    """Interval of a metric from the confusion matrices, or the scores, of K folds.

    Parameters
    ----------
    counts : ConfusionCounts or array-like of shape (..., K, C, C), (K,) or (problems, K)
        One confusion matrix per fold; or fold scores, such as ``cross_val_score`` returns.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. Of scores their name, as in ``scoring=``: an interval is cut off at
        the range of the metric. None: no range is known.
    level : float, default=0.95
        Probability of the interval.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    **options : dict
        All other arguments of :func:`fold_posterior`: ``method, omega, estimand, prior, n_repeats,
        stability_counts, rho, prior_per_fold, n_train, n_test, pos_label, n_draws, random_state``.

    Returns
    -------
    Interval
        Ends ``low`` and ``high``.

    See Also
    --------
    fold_posterior : The whole distribution.

    Examples
    --------
    >>> from skuncertain.model_selection import fold_interval
    >>> folds = [[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]]
    >>> fold_interval(folds, "recall")
    Interval(low=0.577..., high=0.867...)

    Scores alone allow Student's t with n_test / n_train = 1 / (K - 1); counts give intervals that
    are better calibrated and shorter as a rule:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fold_interval(cross_val_score(GaussianNB(), X, y, scoring="f1"), "f1")
    Interval(low=0.927..., high=0.976...)
    """
    level, kind = check_level(level), check_kind(kind)
    return fold_posterior(counts, metric, **options).interval(level, kind)


def _are_scores(counts):
    """Whether something that has a metric holds fold scores, not matrices."""
    if isinstance(counts, ConfusionCounts):
        return False
    array = as_array("counts", counts)
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.dtype.kind in "biuf"
    refuse_if(
        square and np.all(array == np.rint(array)),
        "counts",
        f"counts must have one matrix per fold, shape (..., K, C, C), got shape {array.shape}. "
        "If these are fold scores, leave out the metric.",
    )
    return array.ndim < 3


def _of_scores(scores, metric, options, n_repeats):
    """Posterior of the mean of plain scores."""
    scores = _check_scores(scores, options.method)
    if scores.ndim == 2 and n_repeats == len(scores) > 1:
        scores = scores.ravel()
    about: dict = {"metric": None}
    if metric is not None:
        refuse_if(
            not isinstance(metric, Metric) and not (isinstance(metric, str) and is_known(metric)),
            "metric",
            "metric of fold scores must be a name that get_metric or scikit-learn's scoring= "
            "knows, or a Metric, got {value}. Leave it out for another score.",
            metric,
        )
        limits, better = named_range(metric, scores, "counts", "counts that are fold scores")
        about = {"metric": getattr(metric, "name", metric), "range": limits}
        about["greater_is_better"] = better
    n_train, n_test = options.n_train, options.n_test
    if options.method == "nadeau_bengio" and n_train is None and n_test is None:
        n_repeats, (n_train, n_test) = split_repeats(scores.shape[-1], n_repeats)
    n_repeats = n_repeats or 1
    refuse_if(
        scores.shape[-1] % n_repeats,
        "n_repeats",
        f"n_repeats={n_repeats} must divide the number of folds, {scores.shape[-1]}.",
    )
    found = score_posterior(
        scores,
        options.method,
        n_repeats,
        rho=options.rho,
        n_train=n_train,
        n_test=n_test,
        metric=about["metric"],
        missing=MISSING,
    )
    return found.with_about(
        **about,
        method=options.method,
        n_folds=scores.shape[-1] / n_repeats,
        n_repeats=n_repeats,
        estimand="algorithm",
    )


def _check_scores(scores, method):
    if not isinstance(scores, ConfusionCounts):
        scores = as_array("counts", scores)
    refuse_if(
        isinstance(scores, ConfusionCounts) or scores.ndim > 2,
        "metric",
        "metric is missing: name the metric to compute from the counts. (Fold scores have "
        "shape (K,), (n_repeats, K) or (problems, K).)",
    )
    refuse_if(
        method not in SCORE_METHODS,
        "method",
        f"fold scores alone allow method {', '.join(map(repr, SCORE_METHODS))}; {method!r} needs "
        "confusion matrices and a metric.",
    )
    refuse_if(
        scores.dtype.kind not in "iuf" or scores.size == 0 or scores.ndim == 0,
        "counts",
        "counts that are fold scores must be an array of numbers, got {value}.",
        scores,
    )
    scores = scores.astype(float)
    check_score_values(scores, "counts")
    return scores
