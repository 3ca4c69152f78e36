"""Metrics that a cross-validation shows: those that were asked for, or the usual ones."""

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain.metrics._labels import check_pos_label
from skuncertain.metrics._registry import get_metric, named_metrics
from skuncertain.metrics._scores.fold_values import check_class_of
from skuncertain.metrics._scores.metrics import ScoreMetric

TWO_CLASS_METRICS = ("accuracy", "precision", "recall", "f1", "mcc")
MANY_CLASS_METRICS = ("accuracy", "balanced_accuracy", "f1_macro", "mcc")


def usual_metrics(labels, pos_label):
    """Names of the metrics that are shown by default; without a positive class none needs one."""
    two = len(labels) == 2 and check_pos_label(labels, pos_label) is not None
    return TWO_CLASS_METRICS if two else MANY_CLASS_METRICS


def check_metrics(metrics, labels, pos_label, scored=False):
    """Return {name as asked: Metric}; None gives the usual ones.

    With `scored`, metrics of scores and probabilities are there as well.
    """
    if metrics is None:
        metrics = usual_metrics(labels, pos_label)
    refuse_if(
        not isinstance(metrics, str | list | tuple | set | dict) and not callable(metrics),
        "metrics",
        "metrics must be a list of metrics, got {value}.",
        metrics,
    )
    found = dict(named_metrics(metrics, find=get_metric if scored else None))
    for metric in found.values():
        check_class_of(metric, labels, pos_label)
        if metric.user and not isinstance(metric, ScoreMetric):
            size = len(labels)
            metric.evaluate(np.ones((2, size, size)))  # an early error if it is no metric
    return found
