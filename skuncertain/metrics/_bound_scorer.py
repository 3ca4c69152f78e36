"""Scorer for scikit-learn's ``scoring=`` that is a credible bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import make_scorer

from skuncertain._utils.typing import LabelLike, LabelsLike, MetricLike, PriorLike
from skuncertain._utils.validation import as_array, check_choice, check_kind, check_level
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._credible import refuse_prior_for_scores
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    check_targets,
    complete_single_label,
    plain_label,
    positive_of,
    refuse_nameless,
    sorted_labels,
    with_positive,
)
from skuncertain.metrics._priors import check_prior
from skuncertain.metrics._registry import directed, get_metric
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.posterior import score_posterior

BOUNDS = ("lower", "upper")


def make_bound_scorer(
    metric: MetricLike,
    *,
    bound: str = "lower",
    level: float = 0.95,
    prior: PriorLike = "auto",
    kind: str = "eti",
    labels: LabelsLike | None = None,
    pos_label: LabelLike = None,
) -> Callable:
    """Scorer for the end of a credible interval, so that a search can maximise the lower bound.

    Parameters
    ----------
    metric : str, Metric or callable
        See :func:`get_metric`. Metrics of scores or probabilities, such as "roc_auc" or "log_loss",
        take them from the methods of the estimator that scikit-learn's scorers take them from.
    bound : {"lower", "upper"}, default="lower"
        Which end. Of a metric of which less is better, the "lower" score is minus the upper end:
        the pessimistic view either way.
    level : float, default=0.95
        Probability of the interval.
    prior : str, float or array-like of shape (C, C), default="auto"
        See :meth:`ConfusionCounts.posterior`.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    labels : sequence, default=None
        All classes; by default those that occur in the test rows. With more than two classes
        metrics of scores need them if a class may be missing in a fold.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`. A metric that depends on it is refused without
        it if the classes have names: here if `labels` are given, otherwise when a fold is scored.

    Returns
    -------
    callable
        What :func:`sklearn.metrics.make_scorer` makes: a value for any ``scoring=``.

    See Also
    --------
    ConfusionCountsScorer : Scorer that returns counts.

    Notes
    -----
    The bound is that of one test fold on its own, and the search averages it over folds. It ranks
    candidates; it is no interval of the cross-validated score: use :func:`cross_val_posterior` for
    that. Metrics that are drawn use a fixed seed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.metrics import make_bound_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> cross_val_score(tree, X, y, cv=3, scoring=make_bound_scorer("f1")).round(3)
    array([0.884, 0.921, 0.867])
    >>> cross_val_score(tree, X, y, cv=3, scoring=make_bound_scorer("roc_auc")).round(3)
    array([0.83 , 0.915, 0.83 ])
    """
    check_choice("bound", bound, BOUNDS)
    check_level(level)
    check_kind(kind)
    if isinstance(prior, str) or as_array("prior", prior).ndim == 0:
        check_prior(prior, 2)
    found: Any = directed(metric, find=get_metric)
    scored = isinstance(found, ScoreMetric)
    if scored:
        refuse_prior_for_scores(found, prior)
    if pos_label is not None:
        plain_label(pos_label, "pos_label")
    if labels is not None:
        known = as_labels(labels)
        if not scored:
            positive_of(found, known, pos_label)
        elif check_pos_label(known, pos_label) is None and found.one_class and len(known) == 2:
            refuse_nameless(f"metric {found.name!r}", known)
    asked: dict = {"metric": found, "bound": bound, "level": level, "kind": kind}
    asked |= {"labels": labels, "pos_label": pos_label}
    if scored:
        return make_scorer(_bound_of_scores, response_method=found.responses, **asked)
    return make_scorer(_bound_score, prior=prior, **asked)


def _bound_of_scores(y_true, y_score, *, metric, bound, level, kind, labels, pos_label):
    # scikit-learn passes columns of sorted classes: that of pos_label or, without one, of the last.
    labels = None if labels is None else sorted(as_labels(labels))
    posterior = score_posterior(
        y_true, y_score, metric, labels=labels, pos_label=pos_label, oriented=pos_label is None
    )
    return _bound(posterior, metric, bound, level, kind)


def _bound_score(y_true, y_pred, *, metric, bound, level, prior, kind, labels, pos_label):
    given = y_true
    if labels is None:
        y_true, y_pred = check_targets(y_true, y_pred)
        labels = with_positive(sorted_labels(y_true, y_pred), pos_label)
        nameless = metric.average != "binary" and pos_label is None and isinstance(labels[0], str)
        if len(labels) == 1 and nameless:
            labels = [*labels, f"not {labels[0]}"]  # its name does not matter
        labels = complete_single_label(labels, given) if len(labels) == 1 else labels
    pos_label = check_pos_label(as_labels(labels), pos_label, given)
    counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels, pos_label=pos_label)
    posterior = counts.posterior(metric, prior=prior, random_state=0)
    return _bound(posterior, metric, bound, level, kind)


def _bound(posterior, metric, bound, level, kind):
    """One end of the interval, as a score: more is better."""
    low, high = posterior.interval(level, kind)
    lower, upper = (low, high) if metric.greater_is_better else (-high, -low)
    return lower if bound == "lower" else upper
