"""Posterior and credible interval of a metric, from labels or counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.typing import (
    LabelLike,
    LabelsLike,
    MetricLike,
    PrevalenceLike,
    PriorLike,
    RandomStateLike,
)
from skuncertain._utils.validation import (
    check_choice,
    check_kind,
    check_level,
    check_number,
    refuse_if,
)
from skuncertain.metrics._bootstrap import group_posterior
from skuncertain.metrics._count import GroupedRows, fitting_counts
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import proportion_odds
from skuncertain.metrics._labels import plain_label
from skuncertain.metrics._posterior import PosteriorOptions, PosteriorRequest
from skuncertain.metrics._priors import LARGEST, OWN, PER_CELL, rate_pair
from skuncertain.metrics._registry import count_metric, get_metric
from skuncertain.metrics._scores.metrics import ScoreMetric, data_needed
from skuncertain.metrics._scores.posterior import score_posterior
from skuncertain.metrics._scores.row_scores import scores_called
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, plain
from skuncertain.posteriors._beta import BetaPosterior, calibrated_beta
from skuncertain.posteriors._interval import Interval


def metric_posterior(
    y_true: ArrayLike | ConfusionCounts,
    y_pred: ArrayLike | None = None,
    *,
    metric: MetricLike = "accuracy",
    prior: PriorLike = "auto",
    model: str = "dirichlet",
    prevalence: PrevalenceLike | None = None,
    labels: LabelsLike | None = None,
    pos_label: LabelLike = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> Posterior:
    """Posterior distribution of a metric, from true labels and predictions.

    Parameters
    ----------
    y_true : array-like of shape (n,) or ConfusionCounts
        True labels, or counts; with counts there is no `y_pred`.
    y_pred : array-like of shape (n,) or (n, C), default=None
        Predicted labels; for metrics such as "roc_auc" or "log_loss" the scores or probabilities
        that they need, with a column per class in the order of `labels`. One column speaks for
        the positive class, see :class:`ConfusionCounts`; without one for the last of two.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    prior : str, float or array-like of shape (C, C), default="auto"
        See :meth:`ConfusionCounts.posterior`.
    model : {"dirichlet", "three_beta", "rows"}, default="dirichlet"
        See :meth:`ConfusionCounts.posterior`.
    prevalence : float, BetaPosterior or array-like of shape (C,), default=None
        Prevalence of another population, see :meth:`ConfusionCounts.posterior`.
    labels : sequence, default=None
        All classes; by default those that occur.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`.
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
    >>> from skuncertain.metrics import metric_posterior
    >>> y_true = ["cat"] * 40 + ["dog"] * 60
    >>> y_pred = ["cat"] * 35 + ["dog"] * 55 + ["cat"] * 10
    >>> posterior = metric_posterior(y_true, y_pred, metric="f1", pos_label="dog")
    >>> round(posterior.prob(0.8, 1.0), 2)
    0.96
    """
    found = get_metric(metric)
    if isinstance(found, ScoreMetric):
        others = {"model": model != "dirichlet", "prevalence": prevalence, "groups": groups}
        others |= {"sample_weight": sample_weight, "n_draws": n_draws}
        _refuse_for_scores(found, y_true, y_pred, prior, others)
        with scores_called("y_pred"):
            return score_posterior(y_true, y_pred, found, labels=labels, pos_label=pos_label)
    counts = counts_of(
        y_true, y_pred, groups, labels=labels, pos_label=pos_label, sample_weight=sample_weight
    )
    options = PosteriorOptions(prior, model, prevalence, n_draws, random_state).checked(
        counts.n_classes, one_metric=groups is None
    )
    # The positive class of labels is known by now.
    positive = counts._positive_for(found, options, pos_label if counts is y_true else None)
    if groups is None:
        return PosteriorRequest(counts, found, positive, options).posterior()
    refuse_if(
        model != "dirichlet" or prevalence is not None or sample_weight is not None,
        "groups",
        "groups cannot be combined with model, prevalence or sample_weight.",
    )
    grouped = GroupedRows(y_true, y_pred, groups, counts.labels)
    return group_posterior(grouped, counts.counts, found, positive, options)


def credible_interval(
    y_true: ArrayLike | ConfusionCounts,
    y_pred: ArrayLike | None = None,
    *,
    metric: MetricLike = "accuracy",
    level: float = 0.95,
    kind: str = "eti",
    prior: PriorLike = "auto",
    model: str = "dirichlet",
    prevalence: PrevalenceLike | None = None,
    labels: LabelsLike | None = None,
    pos_label: LabelLike = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> Interval:
    """Credible interval of a metric, from true labels and predictions.

    Parameters
    ----------
    y_true : array-like of shape (n,) or ConfusionCounts
        True labels, or counts; with counts there is no `y_pred`.
    y_pred : array-like of shape (n,) or (n, C), default=None
        Predicted labels, or the scores or probabilities that the metric needs; see
        :func:`metric_posterior`.
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
    >>> credible_interval(y_true, y_pred, metric="f1", pos_label="dog")
    Interval(low=0.79..., high=0.92...)
    >>> credible_interval(ConfusionCounts([[35, 5], [10, 50]]), metric="f1")
    Interval(low=0.79..., high=0.92...)
    >>> p_dog = [0.2] * 35 + [0.6] * 5 + [0.9] * 50 + [0.4] * 10
    >>> credible_interval(y_true, p_dog, metric="roc_auc")
    Interval(low=0.93..., high=0.99...)
    >>> credible_interval(y_true, p_dog, metric="log_loss")
    Interval(low=0.21..., high=0.33...)
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
    low, high = posterior._ends(level, kind)
    return Interval(plain(low), plain(high))


def proportion_posterior(
    successes: ArrayLike,
    failures: ArrayLike,
    *,
    prior: PriorLike = "auto",
    metric: MetricLike | None = None,
    pos_label: LabelLike = None,
) -> BetaPosterior:
    """Posterior of a proportion, for whoever has only "accuracy .87 on 500 rows".

    Parameters
    ----------
    successes, failures : int or array-like of int
        Counts.
    prior : float, str, tuple of two float or BetaPosterior, default="auto"
        Pseudo-count on each side: a number, or "haldane", "neutral", "jeffreys", "laplace"; or
        pseudo-counts (successes, failures), or the Beta that has them for shapes. "auto" is 1/2
        with intervals that are calibrated at 0 and 1, see :meth:`Posterior.interval`.
    metric : str, Metric or callable, default=None
        What the proportion is, so that comparisons, leaderboards and plots know its name and
        whether more is better: "accuracy", "recall", "fpr" (successes are then the false alarms).
        By default just "proportion".
    pos_label : label, default=None
        Class of a metric that depends on one, if it is known.

    Returns
    -------
    BetaPosterior
        Beta(successes + prior, failures + prior).

    See Also
    --------
    ConfusionCounts.posterior : The same from a confusion matrix.

    Examples
    --------
    >>> from skuncertain.metrics import proportion_posterior
    >>> proportion_posterior(successes=435, failures=65).interval()  # 435 right out of 500
    Interval(low=0.838..., high=0.897...)
    >>> proportion_posterior(10, 5, prior=(27, 2))  # what 29 earlier rows have shown
    BetaPosterior(metric='proportion', a=37, b=7, prior='27 and 2')
    >>> proportion_posterior(92, 8, metric="sensitivity", pos_label="ill")
    BetaPosterior(metric='recall', pos_label='ill', a=92.5, b=8.5, prior='default (half a success
    and half a failure; calibrated ends)')
    """
    hits, misses = fitting_counts("successes and failures", successes=successes, failures=failures)
    with np.errstate(invalid="ignore"):
        observed = hits / (hits + misses)
    about = About(observed=observed, **_question_of_proportion(metric, pos_label))
    if isinstance(prior, str) and prior == "auto":
        return calibrated_beta(hits, misses, about=replace(about, prior=OWN.text))
    if isinstance(prior, str):
        prior = PER_CELL[check_choice("prior", prior, ("auto", *PER_CELL))]
    if isinstance(prior, BetaPosterior | tuple | list | np.ndarray):
        a, b = rate_pair("the proportion", prior)
        text = f"{a:g} and {b:g}"
    else:
        a = b = check_number("prior", prior, low=0, high=LARGEST)
        text = f"{a:g} on each side"
    return BetaPosterior(hits + a, misses + b, about=replace(about, prior=text))


def _question_of_proportion(metric, pos_label):
    """What a proportion is, as fields of `About`."""
    found = None if metric is None else count_metric(metric)
    depends = found is not None and found.average == "binary"
    refuse_if(
        pos_label is not None and not depends,
        "pos_label",
        "pos_label belongs to a metric of one class, such as metric='recall', got "
        f"metric={found.name if found else None!r}.",
    )
    if found is None:
        return {"metric": "proportion"}
    unknown = found.user and tuple(found.range) == (0, 1)  # whoever made it knows what it counts
    refuse_if(
        proportion_odds(found) != 1 and not unknown,
        "metric",
        f"metric must be a share of rows, such as 'accuracy', 'recall' or 'fpr', got "
        f"{found.name!r}: it is no proportion of successes and failures.",
    )
    label = None if pos_label is None else plain_label(pos_label, "pos_label")
    return {
        "metric": found.name,
        "greater_is_better": found.greater_is_better,
        "pos_label": label,
    }


def _refuse_for_scores(metric, y_true, y_score, prior, others):
    """Refuse what belongs to counts in a question about scores or probabilities."""
    refuse_counts(metric, y_true, y_score)
    refuse_prior_for_scores(metric, prior)
    for name, value in others.items():
        refuse_if(
            value is not None and value is not False,
            name,
            f"{name} cannot be combined with metric {metric.name!r}, which is no metric of counts.",
        )


def refuse_counts(metric, y_true, y_score):
    """Refuse counts for a metric of scores or probabilities."""
    refuse_if(
        isinstance(y_true, ConfusionCounts) or y_score is None,
        "metric",
        f"metric {metric.name!r} needs {metric.needs}: no confusion matrix has it.",
        remedy=data_needed(metric),
    )


def refuse_prior_for_scores(metric, prior):
    """Refuse a prior that somebody has chosen."""
    weak = isinstance(prior, str) and prior == "auto"
    refuse_if(not weak, "prior", f"prior is for counts; metric {metric.name!r} has none.")


def counts_of(y_true, y_pred, groups, **options):
    """Counts of true and predicted labels, or those that were given in place of labels."""
    if not isinstance(y_true, ConfusionCounts):
        refuse_if(
            y_pred is None,
            "y_pred",
            "y_pred is missing: pass y_true and y_pred, or ConfusionCounts alone.",
        )
        return ConfusionCounts.from_predictions(y_true, y_pred, **options)
    for name, value in {"y_pred": y_pred, **options, "groups": groups}.items():
        refuse_if(
            value is not None and name != "pos_label",
            name,
            f"{name} cannot be combined with counts: pass labels instead.",
        )
    return y_true
