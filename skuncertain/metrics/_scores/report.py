"""The part of a report that is about scores or probabilities of every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._reporting.build import interval_cell, section
from skuncertain._utils.validation import as_array, refuse_if
from skuncertain.metrics._labels import as_labels, check_pos_label, sorted_labels, to_numpy
from skuncertain.metrics._registry import get_metric
from skuncertain.metrics._scores.posterior import posterior_of_rows
from skuncertain.metrics._scores.row_scores import RowScores, scores_called

_LOSSES = ("log_loss", "brier_score")
_COMPUTED = "from influences of rows"
_RANKED = (
    "y_proba holds numbers outside [0, 1], so they are scores and no probabilities: log_loss and "
    "brier_score are left out"
)
_READING = (
    "roc_auc and average_precision tell how well the rows are ranked, log_loss and brier_score how "
    "good the probabilities themselves are. Their intervals come from the influence of every row."
)


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """True labels with scores or probabilities of one test set.

    Attributes
    ----------
    y_true, y_proba : array-like
        True labels; probabilities, or scores.
    labels : tuple
        All classes, in the order of the columns.
    pos_label : label or None
        The positive class, which a single column is about; without one it is the last class.
    """

    y_true: Any
    y_proba: Any
    labels: tuple
    pos_label: Any = None
    reading = _READING  # how to read the section

    @classmethod
    def of(cls, y_true, y_proba, labels=None, pos_label=None):
        """Find out the classes, and check the probabilities."""
        if labels is None:
            y = to_numpy("y_true", y_true)
            labels = sorted_labels(y, y)
            refuse_if(
                len(labels) < 2,
                "y_true",
                "y_true must hold rows of at least two classes for y_proba, got {value}. Name all "
                "classes with labels=[...].",
                labels,
            )
        labels = as_labels(labels)
        part = cls(y_true, y_proba, labels, check_pos_label(labels, pos_label, y_true))
        part.rows(get_metric("log_loss" if part.is_probability else "roc_auc"))
        return part

    @property
    def is_probability(self):
        """Whether all numbers could be probabilities; scores of decision_function could not."""
        values = as_array("y_proba", self.y_proba)
        number = values.dtype.kind in "iufb"
        with np.errstate(invalid="ignore"):
            return not (number and bool(np.any((values < 0) | (values > 1))))

    def rows(self, metric):
        """Rows for a metric; errors are about `y_proba`."""
        about = {"labels": self.labels, "pos_label": self.pos_label}
        with scores_called("y_proba"):
            return RowScores.of(self.y_true, self.y_proba, metric, **about)

    def predicted(self):
        """Class with the highest probability of every row, the first one of equal ones."""
        refuse_if(
            not self.is_probability,
            "y_pred",
            "y_pred is missing, and y_proba holds numbers outside [0, 1]: scores do not tell which "
            "class is predicted.",
        )
        best = self.rows(get_metric("log_loss")).scores.argmax(axis=1)
        return [self.labels[k] for k in best]

    def usual_metrics(self):
        """Metrics that apply: two classes without a positive one have no average precision."""
        two = len(self.labels) == 2
        names = ["roc_auc" if two else "roc_auc_ovr"]
        if not two or self.pos_label is not None:
            names.append("average_precision")
        return [*names, *_LOSSES] if self.is_probability else names

    def metric_rows(self, metrics, level, kind):
        """Rows of a table, one per metric."""
        rows = []
        for metric in metrics:
            posterior = posterior_of_rows(metric, self.rows(metric))
            cell = interval_cell(posterior.interval(level, kind), posterior.observed)
            rows.append({"metric": metric.name, "score": cell, "computed": _COMPUTED})
        return rows

    def notes(self, metrics):
        """What is to be known about these metrics."""
        losses = [metric.name for metric in metrics if metric.greater_is_better is False]
        notes = [f"of {' and '.join(losses)} less is better"] if losses else []
        if self.pos_label is not None and any(metric.one_class for metric in metrics):
            notes.insert(0, f"positive class {self.pos_label}")
        return notes

    def section(self, level, kind):
        """Table with the usual metrics."""
        found = [get_metric(name) for name in self.usual_metrics()]
        rows = self.metric_rows(found, level, kind)
        notes = self.notes(found) + ([] if self.is_probability else [_RANKED])
        kind_of_score = "probabilities" if self.is_probability else "ranking"
        return section(f"Scores of the {kind_of_score}", ["metric", "score"], rows, notes=notes)
