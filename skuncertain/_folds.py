"""K fold matrices, or K fold scores, become one posterior or interval."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._counts import ConfusionCounts
from skuncertain._distributions import Posterior
from skuncertain._fold_methods import METHODS, OPTIONS, Folds
from skuncertain._fold_scores import SCORE_METHODS, score_posterior
from skuncertain._fold_variance import ESTIMANDS
from skuncertain._intervals import Interval
from skuncertain._validation import (
    check_bool,
    check_choice,
    check_integer,
    check_kind,
    check_level,
    check_random_state,
    rectangular,
    shown,
)


def fold_posterior(
    counts: Any,
    metric: Any = None,
    *,
    method: str = "pooled",
    omega: Any = "auto",
    estimand: str = "algorithm",
    prior: Any = 1.0,
    n_repeats: int = 1,
    rho: float | None = None,
    prior_per_fold: bool | None = None,
    n_train: ArrayLike | None = None,
    n_test: ArrayLike | None = None,
    pos_label: Any = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> Posterior:
    r"""Posterior of a metric from the confusion matrices, or the scores, of K folds.

    Parameters
    ----------
    counts : ConfusionCounts or array-like of shape (..., K, C, C)
        One confusion matrix per fold, rows true. Leading axes are independent problems, answered
        together. Without a `metric`: fold scores of shape (..., K), of any metric.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. None means that `counts` are scores.
    method : str, default="pooled"
        "pooled": Beta(ω·successes + λ, ω·failures + λ) of the summed folds. "averaged": a Beta with
        the moments of the average of K fold posteriors. "average-exact": the distribution of that
        average, folds taken as independent. "dirichlet": pooled counts as if rows were independent.
        "bootstrap": resampled pooled counts. "t", "corrected_t", "nadeau_bengio": Student's t
        around the mean of the fold values.
    omega : {"auto", "wang-li"} or float, default="auto"
        ω of "pooled". "auto" estimates it from how much the folds disagree, "wang-li" is the
        published (K + 1) / (2 K), a number must lie in [1/K, 1].
    estimand : {"algorithm", "model"}, default="algorithm"
        The question that ω = "auto" answers: expected performance of the algorithm on training sets
        of this size and these class counts, or performance of the one model fitted on all rows.
    prior : float, str or array-like of shape (C, C), default=1.0
        Pseudo-counts λ on each side of the proportion; "jeffreys" is 1/2, "laplace" 1, "haldane" 0.
        Metrics that are no proportion (MCC, balanced accuracy) get λ times the default prior of a
        single matrix on ω·counts. An array is per cell, rows true; with "dirichlet" a number is,
        too.
    n_repeats : int, default=1
        Repetitions in which every row was tested once each; then K stands for all folds.
    rho : float, default=None
        Correlation between folds. "averaged": 1/K by default; "corrected_t": 0.7.
    prior_per_fold : bool, default=None
        Whether every fold posterior gets the whole prior, or λ/K. None: λ/K for "averaged", whole
        for "average-exact". Wang and Li apply it whole, which pulls towards 1/2 K times.
    n_train, n_test : int or array-like of shape (K,), default=None
        Training and test rows per fold, for "nadeau_bengio". By default the folds are taken to
        partition the rows.
    pos_label : label, default=None
        Positive class, by default that of the counts; index of the class if `counts` is an array.
    n_draws : int, default=None
        Number of draws where there is no exact form.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    Posterior
        With ``mean median std pdf cdf quantile interval prob sample``, ``exact``, and in
        ``diagnostics`` what was done: ω, K, how much the folds disagree.

    See Also
    --------
    fold_interval : Only the interval.
    BayesianCrossValidator : Runs the cross-validation as well.
    cross_val_posterior : From the result of ``cross_validate``.

    Notes
    -----
    "pooled" and "averaged" are Wang and Li's [1]_; ω = "auto" is not published, reports show the
    published ω beside it, and it is experimental until version 1.0. "nadeau_bengio" is from [2]_,
    "corrected_t" from [3]_. Formulas and measured coverage are in the method notes.

    References
    ----------
    .. [1] Y. Wang, J. Li (2016). Credible intervals for precision and recall based on a K-fold
       cross-validated beta distribution. Neural Computation 28.
    .. [2] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    .. [3] Y. Grandvalet, Y. Bengio (2006). Hypothesis testing for cross-validation. Technical
       report 1285, Université de Montréal.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, fold_posterior
    >>> folds = ConfusionCounts.from_binary(
    ...     tp=[12, 10, 14, 9, 13], fp=[3, 5, 2, 6, 4], fn=[4, 6, 2, 7, 3], tn=[21, 19, 22, 18, 20]
    ... )
    >>> posterior = fold_posterior(folds, "precision")
    >>> posterior.interval()
    Interval(low=0.581..., high=0.857...)
    >>> posterior.diagnostics.omega
    0.4605...
    >>> fold_posterior(folds, "precision", omega="wang-li").interval()
    Interval(low=0.602..., high=0.846...)

    Scores of any other metric:

    >>> auc = [0.81, 0.84, 0.79, 0.86, 0.83]
    >>> fold_posterior(auc, method="nadeau_bengio", n_train=160, n_test=40).interval()
    Interval(low=0.775..., high=0.876...)
    """
    check_choice("method", method, METHODS)
    given = {
        "omega": omega,
        "estimand": estimand,
        "prior": prior,
        "rho": rho,
        "prior_per_fold": prior_per_fold,
        "n_train": n_train,
        "n_test": n_test,
    }
    _refuse_foreign(method, given)
    check_choice("estimand", estimand, ESTIMANDS)
    check_random_state(random_state)
    if prior_per_fold is not None:
        check_bool("prior_per_fold", prior_per_fold)
    n_repeats = check_integer("n_repeats", n_repeats, low=1)
    if metric is None:
        return score_posterior(
            _check_scores(counts, method), method, n_repeats, rho, n_train, n_test
        )
    if not isinstance(counts, ConfusionCounts):
        counts = _as_folds(counts, metric, pos_label)
        pos_label = None
    if not counts.shape:
        raise ValueError(
            "counts must have one matrix per fold, shape (..., K, C, C), got a single matrix: "
            "use ConfusionCounts.posterior."
        )
    if counts.shape[-1] % n_repeats or counts.shape[-1] == 0:
        raise ValueError(
            f"n_repeats={n_repeats} must divide the number of folds, {counts.shape[-1]}."
        )
    folds = Folds.of(counts, metric, n_repeats, pos_label, n_draws, random_state)
    return folds.posterior(method, warn=True, **given)


def fold_interval(
    counts: Any,
    metric: Any = None,
    *,
    level: float = 0.95,
    kind: str = "eti",
    method: str = "pooled",
    omega: Any = "auto",
    estimand: str = "algorithm",
    prior: Any = 1.0,
    n_repeats: int = 1,
    rho: float | None = None,
    prior_per_fold: bool | None = None,
    n_train: ArrayLike | None = None,
    n_test: ArrayLike | None = None,
    pos_label: Any = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> Interval:
    """Interval of a metric from the confusion matrices, or the scores, of K folds.

    Parameters
    ----------
    counts : ConfusionCounts or array-like of shape (..., K, C, C)
        One confusion matrix per fold, or fold scores (..., K) if there is no `metric`.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`.
    level : float, default=0.95
        Probability of the interval.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    method, omega, estimand, prior, n_repeats, rho, prior_per_fold : object
        See :func:`fold_posterior`.
    n_train, n_test, pos_label, n_draws, random_state : object
        See :func:`fold_posterior`.

    Returns
    -------
    Interval
        Ends ``low`` and ``high``.

    See Also
    --------
    fold_posterior : The whole distribution.

    Examples
    --------
    >>> from skuncertain import fold_interval
    >>> folds = [[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]]
    >>> fold_interval(folds, "recall")
    Interval(low=0.502..., high=0.896...)
    """
    level, kind = check_level(level), check_kind(kind)
    posterior = fold_posterior(
        counts,
        metric,
        method=method,
        omega=omega,
        estimand=estimand,
        prior=prior,
        n_repeats=n_repeats,
        rho=rho,
        prior_per_fold=prior_per_fold,
        n_train=n_train,
        n_test=n_test,
        pos_label=pos_label,
        n_draws=n_draws,
        random_state=random_state,
    )
    return posterior.interval(level, kind)


def _refuse_foreign(method, given):
    for name, default, methods in OPTIONS:
        value = given[name]
        value = value.item() if isinstance(value, np.generic) else value
        is_default = value is default or (isinstance(value, str | int | float) and value == default)
        if not is_default and method not in methods:
            known = ", ".join(repr(m) for m in methods)
            raise ValueError(f"{name} is used by method {known} only, got method={method!r}.")
    automatic = isinstance(given["omega"], str) and given["omega"] == "auto"
    check_choice("estimand", given["estimand"], ESTIMANDS)
    if given["estimand"] != "algorithm" and not automatic:
        raise ValueError(
            f"estimand={given['estimand']!r} needs omega='auto': a given omega answers no other "
            f"question, got omega={given['omega']!r}."
        )


def _as_folds(counts, metric, pos_label):
    array = rectangular("counts", counts)
    if array.ndim < 3:
        raise ValueError(
            "counts must have one matrix per fold, shape (..., K, C, C), got shape "
            f"{array.shape}. For fold scores leave out the metric "
            f"({shown(metric)}) and name the method."
        )
    return ConfusionCounts(array, pos_label=pos_label)


def _check_scores(scores, method):
    if not isinstance(scores, ConfusionCounts):
        scores = rectangular("counts", scores)
    if isinstance(scores, ConfusionCounts) or scores.ndim > 2:
        raise TypeError(
            "metric is missing: name the metric to compute from the counts. (Fold scores have "
            "shape (K,) or (problems, K).)"
        )
    if method not in SCORE_METHODS:
        options = ", ".join(repr(name) for name in SCORE_METHODS)
        raise ValueError(
            f"fold scores alone allow method {options}; {method!r} needs confusion matrices and a "
            "metric."
        )
    if scores.dtype.kind not in "iuf" or scores.size == 0 or scores.ndim == 0:
        raise TypeError(f"fold scores must be an array of numbers, got {shown(scores)}.")
    return scores.astype(float)
