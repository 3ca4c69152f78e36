"""The functional forms: from true and predicted labels straight to a posterior or an interval."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._counts import ConfusionCounts
from skuncertain._distributions import Posterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._intervals import Interval
from skuncertain._labels import check_whole, group_matrices
from skuncertain._metrics import get_metric
from skuncertain._posterior import MODELS, weak_prior
from skuncertain._priors import LARGEST, PER_CELL, cell_prior, check_prior, describe_prior
from skuncertain._resampling import group_posterior_draws
from skuncertain._validation import check_choice, check_kind, check_level, check_number


def metric_posterior(
    y_true: Any,
    y_pred: ArrayLike | None = None,
    *,
    metric: Any = "accuracy",
    prior: Any = "auto",
    model: str = "dirichlet",
    prevalence: Any = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> Posterior:
    """Posterior distribution of a metric, from true and predicted labels.

    Parameters
    ----------
    y_true : array-like of shape (n,) or ConfusionCounts
        True labels, or counts; with counts there is no `y_pred`.
    y_pred : array-like of shape (n,), default=None
        Predicted labels.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    prior : str, float or array-like of shape (C, C), default="auto"
        See :meth:`ConfusionCounts.posterior`.
    model : {"dirichlet", "three-beta", "rows"}, default="dirichlet"
        See :meth:`ConfusionCounts.posterior`.
    prevalence : float, BetaPosterior or array-like of shape (C,), default=None
        Prevalence of another population, see :meth:`ConfusionCounts.posterior`.
    labels : sequence, default=None
        All classes; by default those that occur.
    pos_label : label, default=None
        Positive class.
    sample_weight : array-like of shape (n,), default=None
        Weights, see :meth:`ConfusionCounts.from_predictions`.
    groups : array-like of shape (n,), default=None
        Group of every row (patient, document, user). Rows of a group are not independent: the
        Bayesian bootstrap over groups takes the place of the Dirichlet model, and the prior is in
        units of an average group.
    n_draws : int, default=None
        Number of draws where the posterior has no exact form.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    Posterior
        With ``mean median std pdf cdf quantile interval prob sample`` and ``exact``.

    See Also
    --------
    credible_interval : Only the interval.
    ConfusionCounts.posterior : From counts.

    Examples
    --------
    >>> from skuncertain import metric_posterior
    >>> y_true = ["cat"] * 40 + ["dog"] * 60
    >>> y_pred = ["cat"] * 35 + ["dog"] * 55 + ["cat"] * 10
    >>> posterior = metric_posterior(y_true, y_pred, metric="f1")
    >>> round(posterior.prob(0.8, 1.0), 2)
    0.96
    """
    if isinstance(y_true, ConfusionCounts):
        rows = {
            "y_pred": y_pred,
            "labels": labels,
            "sample_weight": sample_weight,
            "groups": groups,
        }
        given = [name for name, value in rows.items() if value is not None]
        if given:
            raise TypeError(f"{given[0]} cannot be combined with counts: pass labels instead.")
        counts = y_true
    elif y_pred is None:
        raise TypeError("y_pred is missing: pass y_true and y_pred, or ConfusionCounts alone.")
    else:
        counts = ConfusionCounts.from_predictions(
            y_true, y_pred, labels=labels, pos_label=pos_label, sample_weight=sample_weight
        )
    if groups is None:
        return counts.posterior(
            metric,
            pos_label=pos_label,
            prior=prior,
            model=model,
            prevalence=prevalence,
            n_draws=n_draws,
            random_state=random_state,
        )
    other_model = check_choice("model", model, MODELS) != "dirichlet"
    if other_model or prevalence is not None or sample_weight is not None:
        raise ValueError("groups cannot be combined with model, prevalence or sample_weight.")
    metric = get_metric(metric)
    prior = check_prior(prior, counts.n_classes)
    text = describe_prior(prior)
    if isinstance(prior, str) and prior == "auto":
        prior = "neutral" if counts.n_classes == 2 else "shared"
        text = f"auto: {prior}"
    positive = counts.positive_index(metric, pos_label)
    matrix = counts.counts.astype(float)
    matrices = group_matrices(y_true, y_pred, groups, counts.labels)
    draws, seed = group_posterior_draws(
        matrices, lambda m: metric.evaluate(m, positive=positive), prior, n_draws, random_state
    )
    return DrawsPosterior(
        draws,
        seed=seed,
        metric=metric.name,
        range=metric.range,
        observed=metric.evaluate(matrix, positive=positive),
        greater_is_better=metric.greater_is_better,
        closing=weak_prior(matrix, cell_prior(prior, matrix)),
        prior=f"{text}, in groups",
        model=f"Bayesian bootstrap over {len(matrices)} groups",
    )


def credible_interval(
    y_true: Any,
    y_pred: ArrayLike | None = None,
    *,
    metric: Any = "accuracy",
    level: float = 0.95,
    kind: str = "eti",
    prior: Any = "auto",
    model: str = "dirichlet",
    prevalence: Any = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> Interval:
    """Credible interval of a metric, from true and predicted labels.

    Parameters
    ----------
    y_true : array-like of shape (n,) or ConfusionCounts
        True labels, or counts; with counts there is no `y_pred`.
    y_pred : array-like of shape (n,), default=None
        Predicted labels.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    level : float, default=0.95
        Probability of the interval.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    prior, model, prevalence, labels, pos_label : object
        See :func:`metric_posterior`.
    sample_weight, groups, n_draws, random_state : object
        See :func:`metric_posterior`.

    Returns
    -------
    Interval
        Ends ``low`` and ``high``.

    See Also
    --------
    metric_posterior : The whole distribution.
    confidence_interval : Frequentist and bootstrap intervals.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, credible_interval
    >>> y_true = ["cat"] * 40 + ["dog"] * 60
    >>> y_pred = ["cat"] * 35 + ["dog"] * 55 + ["cat"] * 10
    >>> credible_interval(y_true, y_pred, metric="f1")
    Interval(low=0.79..., high=0.92...)
    >>> credible_interval(ConfusionCounts([[35, 5], [10, 50]]), metric="f1")
    Interval(low=0.79..., high=0.92...)
    """
    level, kind = check_level(level), check_kind(kind)
    posterior = metric_posterior(
        y_true,
        y_pred,
        metric=metric,
        prior=prior,
        model=model,
        prevalence=prevalence,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
        n_draws=n_draws,
        random_state=random_state,
    )
    return posterior.interval(level=level, kind=kind)


def proportion_posterior(
    successes: ArrayLike, failures: ArrayLike, *, prior: Any = 0.5
) -> BetaPosterior:
    """Posterior of a proportion, for whoever has only "accuracy .87 on 500 rows".

    Parameters
    ----------
    successes, failures : int or array-like of int
        Counts.
    prior : float or str, default=0.5
        Pseudo-count on each side: a number, or "haldane", "neutral", "jeffreys", "laplace".

    Returns
    -------
    BetaPosterior
        Beta(successes + prior, failures + prior).

    See Also
    --------
    ConfusionCounts.posterior : The same from a confusion matrix.

    Examples
    --------
    >>> from skuncertain import proportion_posterior
    >>> proportion_posterior(successes=435, failures=65).interval()  # 435 right out of 500
    Interval(low=0.838..., high=0.897...)
    """
    hits, misses = (
        check_whole(name, value)
        for name, value in (("successes", successes), ("failures", failures))
    )
    if isinstance(prior, str):
        prior = PER_CELL[check_choice("prior", prior, tuple(PER_CELL))]
    prior = check_number("prior", prior, low=0, high=LARGEST)
    try:
        hits, misses = np.broadcast_arrays(hits, misses)
    except ValueError:
        raise ValueError(
            "successes and failures must have shapes that fit, got "
            f"{hits.shape} and {misses.shape}."
        ) from None
    with np.errstate(invalid="ignore"):
        observed = hits / (hits + misses)
    return BetaPosterior(
        hits + prior,
        misses + prior,
        metric="proportion",
        observed=observed,
        prior=f"{prior:g} on each side",
    )
