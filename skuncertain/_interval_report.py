"""`interval_report`: from labels, counts or any result to a report."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._comparison_result import ComparisonResult
from skuncertain._counts import ConfusionCounts
from skuncertain._counts_report import (
    counts_report,
    posteriors_of_averages,
    posteriors_of_classes,
)
from skuncertain._cross_val_posterior import CrossValPosterior
from skuncertain._cross_validation import BayesianCrossValidator
from skuncertain._dataset_comparison import DatasetComparison
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._functions import metric_posterior
from skuncertain._labels import to_numpy
from skuncertain._leaderboard import Leaderboard
from skuncertain._priors import check_prior
from skuncertain._report import IntervalReport, check_digits
from skuncertain._search import SearchPosterior, search_posterior
from skuncertain._validation import (
    as_list,
    check_kind,
    check_level,
    rectangular,
    resolve_seed,
    shown,
)
from skuncertain._warnings import dropped

_FREE_LEVEL = (BayesianCrossValidator, CrossValPosterior, ComparisonResult, DatasetComparison)
_FIXED_LEVEL = (Leaderboard, SearchPosterior)


def interval_report(
    y_true: Any,
    y_pred: ArrayLike | None = None,
    *,
    labels: Any = None,
    target_names: Any = None,
    level: float | None = None,
    kind: str | None = None,
    prior: Any = None,
    digits: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> IntervalReport:
    """Report with an interval beside every number.

    Parameters
    ----------
    y_true : array-like of shape (n,), ConfusionCounts or a result
        True labels; or counts; or a fitted :class:`BayesianCrossValidator`, a finished search, or
        what :func:`cross_val_posterior`, :func:`compare` (and its relatives), :func:`leaderboard`
        or :func:`search_posterior` returned. Only labels go with `y_pred`.
    y_pred : array-like of shape (n,), default=None
        Predicted labels.
    labels : sequence, default=None
        With labels: all classes, in order; by default those that occur.
    target_names : sequence of str, default=None
        With labels or counts: what to call the classes.
    level : float, default=None
        Probability of the intervals: by default 0.95, or what the result was made with.
    kind : {"eti", "hdi"}, default=None
        Equal-tailed or highest-density: by default "eti", or what the result was made with.
    prior : str, float or array-like of shape (C, C), default=None
        With labels or counts, see :meth:`ConfusionCounts.posterior`; by default "auto".
    digits : int, default=None
        Decimals: by default 3, more for narrow intervals. Never more than the Monte Carlo error
        supports.
    sample_weight, groups : array-like of shape (n,), default=None
        With labels, see :func:`metric_posterior`.
    n_draws : int, default=None
        With labels, counts or a search: draws for what has no exact form.
    random_state : int, Generator, RandomState or None, default=None
        With labels, counts or a search: seed of the draws.

    Returns
    -------
    IntervalReport
        ``print`` it, or use its `to_frame`, `to_html`, `to_markdown`, `to_json` and `save`. The
        HTML page is complete in itself. Warnings are listed in the report and not raised.

    See Also
    --------
    credible_interval : One interval.
    BayesianCrossValidator.report : The same for a cross-validation.

    Examples
    --------
    >>> from skuncertain import interval_report
    >>> y_true = ["cat"] * 40 + ["dog"] * 60
    >>> y_pred = ["cat"] * 35 + ["dog"] * 55 + ["cat"] * 10
    >>> report = interval_report(y_true, y_pred, random_state=0)
    >>> print(report)
    Classification report
    =====================
    <BLANKLINE>
    level    95 %
    kind     equal-tailed (eti)
    prior    auto: neutral, 1/3 per cell
    method   Dirichlet posterior of one test set
    ...
    class                    precision                recall                    f1  support
    cat           0.778 [0.643, 0.881]  0.875 [0.751, 0.953]  0.824 [0.719, 0.895]       40
    dog           0.909 [0.815, 0.966]  0.833 [0.726, 0.912]  0.870 [0.791, 0.923]       60
    accuracy                         -                     -  0.850 [0.769, 0.909]      100
    macro avg     0.843 [0.762, 0.904]  0.854 [0.773, 0.912]    0.847 [0.76, 0.91]      100
    weighted avg    0.857 [0.78, 0.91]  0.850 [0.769, 0.909]    0.851 [0.77, 0.91]      100
    ...
    >>> report.save("report.html")  # doctest: +SKIP
    """
    level = None if level is None else check_level(level)
    kind = None if kind is None else check_kind(kind)
    digits = check_digits(digits)
    for_rows = {"y_pred": y_pred, "labels": labels, "sample_weight": sample_weight}
    for_rows["groups"] = groups
    for_counts = {"target_names": target_names, "prior": prior, "n_draws": n_draws}
    for_counts["random_state"] = random_state
    if isinstance(y_true, ConfusionCounts):
        _refuse(for_rows, "counts", "pass true and predicted labels instead.")
        counts = y_true
        if counts.shape:
            raise ValueError(
                f"a report needs a single confusion matrix, got a stack of shape {counts.shape}: "
                "add it up with sum(), or use fold_posterior for folds."
            )
    elif y_pred is None:
        _check_result(y_true)
        given = {"level": level, "kind": kind}
        if _is_search(y_true):  # its posterior is still to be computed
            given |= {"n_draws": for_counts.pop("n_draws")}
            given |= {"random_state": for_counts.pop("random_state")}
        _refuse(for_rows | for_counts, "a finished result", "it was decided when it was made.")
        return _of_result(
            y_true, {name: value for name, value in given.items() if value is not None}, digits
        )
    else:
        counts = ConfusionCounts.from_predictions(
            y_true, y_pred, labels=labels, sample_weight=sample_weight
        )
    prior = check_prior("auto" if prior is None else prior, counts.n_classes)
    names = _check_names(target_names, counts.labels)
    seed = resolve_seed(random_state)
    how = None
    options: dict = {"prior": prior, "n_draws": n_draws, "random_state": seed}
    if groups is not None and sample_weight is not None:
        raise ValueError("groups cannot be combined with sample_weight.")
    if groups is not None:
        rows = {"labels": counts.labels, "groups": groups, **options}
        number = np.unique(to_numpy("groups", groups)).size
        how = f"Bayesian bootstrap over {number} groups"

        def average(metric):
            return metric_posterior(y_true, y_pred, metric=metric, **rows)

        def classes(base):
            return _stacked(
                [
                    metric_posterior(y_true, y_pred, metric=base, pos_label=label, **rows)
                    for label in counts.labels
                ]
            )
    else:
        average = posteriors_of_averages(counts, prior, n_draws, seed)
        classes = posteriors_of_classes(counts, prior)
    return counts_report(
        counts,
        names,
        average,
        classes,
        level=0.95 if level is None else level,
        kind=kind or "eti",
        prior=prior,
        digits=digits,
        how=how,
        weighted=sample_weight is not None,
    )


def _stacked(posteriors):
    """One posterior of drawn ones, a member per class."""
    first = posteriors[0]
    return DrawsPosterior(
        np.stack([posterior.draws for posterior in posteriors]),
        seed=first.seed,
        metric=first.metric,
        prior=first.prior,
        observed=np.array([float(posterior.observed) for posterior in posteriors]),
        closing=np.array([bool(posterior._closing) for posterior in posteriors]),
    )


def _is_search(result):
    return hasattr(result, "cv_results_") and not isinstance(result, BayesianCrossValidator)


def _of_result(result, given, digits):
    if isinstance(result, _FREE_LEVEL):
        return result.report(digits=digits, **given)
    if _is_search(result):
        with dropped():  # the report lists them
            found = search_posterior(result, **given)
        return found.report(digits=digits)
    for name, value in given.items():
        if value != getattr(result, name):
            raise ValueError(
                f"{name} must be that of the result, {getattr(result, name)!r}, got "
                f"{shown(value)}: give {name}= where the result is made."
            )
    return result.report(digits=digits)


def _check_result(result):
    """Refuse what has no report; it may be that the predicted labels were forgotten."""
    if not (isinstance(result, (*_FREE_LEVEL, *_FIXED_LEVEL)) or _is_search(result)):
        raise TypeError(
            "y_true must come with y_pred, or be ConfusionCounts, a fitted "
            "BayesianCrossValidator, a finished search or a result of compare, leaderboard, "
            f"cross_val_posterior or search_posterior; got {type(result).__name__} alone."
        )


def _refuse(options, what, why):
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise TypeError(f"{given[0]} cannot be combined with {what}: {why}")


def _check_names(target_names, labels):
    if target_names is None:
        return [str(label) for label in labels]
    names = as_list("target_names", target_names)
    unordered = isinstance(target_names, str | bytes | set | frozenset)
    if unordered or rectangular("target_names", names).shape != (len(labels),):
        raise ValueError(
            f"target_names must name the {len(labels)} classes {shown(list(labels))}, in this "
            f"order, got {shown(target_names)}."
        )
    return [str(name) for name in names]
