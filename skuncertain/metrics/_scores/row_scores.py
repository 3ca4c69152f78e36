"""Rows with their scores or probabilities, checked, for metrics that need them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skuncertain._utils.validation import as_array, as_numbers, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    encode,
    one_column,
    refuse_nameless,
    sorted_labels,
    to_numpy,
)
from skuncertain.metrics._scores.probabilities import TOLERANCE
from skuncertain.metrics._scores.scored_rows import as_floats, refuse_shuffled


@dataclass(frozen=True, eq=False)
class RowScores:
    """True classes and what is predicted for them.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of every row.
    scores : ndarray of shape (n,) or (n, C)
        Scores, one column per class; a single one speaks for the last of two classes.
        Probabilities always have a column per class.
    labels : tuple
        All classes.
    positive : int or None
        Class that the metric is about, against the rest; None for all classes.
    y_true, given : ndarray
        Labels and scores, for a user's loss.
    """

    codes: np.ndarray
    scores: np.ndarray
    labels: tuple
    positive: int | None
    y_true: Any = None
    given: Any = None

    @property
    def n_classes(self):
        """Number of classes."""
        return len(self.labels)

    @property
    def probability(self):
        """Probabilities ``(n, C)``."""
        return self.scores

    def scores_of(self, c):
        """Scores that are higher for class `c`."""
        if self.scores.ndim == 2:
            return self.scores[:, c]
        return self.scores if c == 1 else -self.scores

    def take(self, index):
        """Some of the rows, or the same rows several times."""
        given = None if self.given is None else self.given[index]
        parts = {"codes": self.codes[index], "scores": self.scores[index]}
        return replace(self, **parts, y_true=self.y_true[index], given=given)

    @property
    def pos_label(self):
        """Class that the metric is about, or None."""
        return None if self.positive is None else self.labels[self.positive]

    @classmethod
    def of(cls, y_true, y_score, metric, *, labels=None, pos_label=None, oriented=False):
        """Check labels and scores.

        One column is the score of the positive class, if there is one (see `check_pos_label`), as
        in `ScoredRows`; otherwise of the last label, as in scikit-learn. With `oriented` it is
        always that of the last, as an estimator's is.
        """
        y = one_column("y_true", to_numpy("y_true", y_true), "label")
        if labels is None:
            labels = sorted_labels(y, y)
            refuse_if(
                len(labels) < 2,
                "y_true",
                f"y_true must hold rows of at least two classes for metric {metric.name!r}, got "
                f"{labels}. Name all classes with labels=[...].",
            )
        labels = as_labels(labels)
        pos_label = check_pos_label(labels, pos_label, y_true)
        user = metric.user and metric.needs == "labels"
        if user:
            given = to_numpy("y_pred", y_score)
            return cls(encode(y, labels, "y_true"), given, labels, None, y, given)
        refuse_shuffled("y_score", y_score, labels)
        scores = _numbers(y_score, labels, metric)
        if metric.needs == "probabilities" and not oriented:
            _refuse_labels(y_score, metric)
        refuse_if(
            len(scores) != len(y),
            "y_true",
            f"y_true and y_score must have the same length, got {len(y)} and {len(scores)}.",
        )
        positive = _positive(metric, labels, pos_label, scores)
        own = not oriented and pos_label is not None
        about = labels.index(pos_label) if own else len(labels) - 1
        if metric.needs == "probabilities":
            scores = _probabilities(scores, labels, about)
        elif scores.ndim == 1 and len(labels) == 2 and about == 0:
            scores = -scores  # from here on a single column speaks for the last class
        elif scores.ndim == 1 and len(labels) > 2:
            columns = np.full((len(scores), len(labels)), np.nan)
            columns[:, positive] = scores
            scores = columns
        return cls(encode(y, labels, "y_true"), scores, labels, positive, y, scores)


@contextmanager
def scores_called(name, parameter=None):
    """Errors about scores speak of `name`, which the caller calls them, and are of `parameter`."""
    try:
        yield
    except InvalidParameterError as error:
        told = error.message.replace("y_score", name)
        where = (parameter or name) if error.parameter == "y_score" else error.parameter
        raise InvalidParameterError(told, where, error.remedy) from None


def _positive(metric, labels, pos_label, scores):
    """Index of the class that is ranked against the rest; None for all classes, or if none is."""
    if metric.family != "ranking":
        return None
    if pos_label is None and len(labels) == 2:
        if metric.one_class:
            refuse_nameless(f"metric {metric.name!r}", labels)
        return 1  # the area is the same for both
    if pos_label is not None:
        return labels.index(pos_label)
    if scores.ndim == 2 and metric.k is None:
        return None
    raise InvalidParameterError(
        f"there are {len(labels)} classes {list(labels)} but metric {metric.name!r} of one score "
        "per row is about one of them.",
        parameter="pos_label",
        remedy="Name the class with pos_label=..., or give one column of scores per class.",
    )


def _refuse_labels(y_score, metric):
    """Refuse zeros and ones that are integers; of an estimator's predict_proba they may be."""
    given = np.asarray(y_score)
    refuse_if(
        given.dtype.kind in "biu" and np.isin(given, (0, 1)).all(),
        "y_score",
        f"y_score must hold the probabilities that metric {metric.name!r} needs, got zeros and "
        f"ones of type {given.dtype}: these look like labels. Use predict_proba, or floats.",
    )


def _numbers(y_score, labels, metric):
    """Scores as floats of shape (n,) or (n, C), finite."""
    scores = as_array("y_score", y_score)
    if scores.dtype.kind == "O" and not any(isinstance(value, str) for value in scores.flat):
        scores = as_numbers("y_score", scores)
    refuse_if(
        scores.dtype.kind not in "iufb",
        "y_score",
        f"y_score must hold the {metric.needs} that metric {metric.name!r} needs, got an array of "
        f"type {scores.dtype}: "
        + ("these look like labels." if scores.dtype.kind in "OUS" else "they are no numbers."),
    )
    scores = as_floats(scores, y_score) if scores.dtype != np.float32 else scores
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    refuse_if(
        scores.ndim not in (1, 2),
        "y_score",
        f"y_score must have one or two dimensions, got shape {scores.shape}.",
    )
    refuse_if(
        scores.ndim == 2 and scores.shape[1] != len(labels),
        "y_score",
        f"y_score must have one column per class, {len(labels)}, got {scores.shape[-1]}. Name all "
        "classes with labels=[...] if some do not occur.",
    )
    bad = ~np.isfinite(scores)
    if bad.any():
        row = int(np.flatnonzero(bad.reshape(len(scores), -1).any(axis=1))[0])
        refuse_if(
            True, "y_score", f"y_score must hold finite numbers, got NaN or infinity in row {row}."
        )
    return scores


def _probabilities(scores, labels, about):
    """Probabilities ``(n, C)``, every row of which sums to 1; a single column is of one class."""
    outside = (scores < 0) | (scores > 1)
    if outside.any():
        row = int(np.flatnonzero(outside.reshape(len(scores), -1).any(axis=1))[0])
        refuse_if(
            True,
            "y_score",
            f"y_score must hold probabilities in [0, 1], got {scores[row].tolist()} in row {row}. "
            "Scores of decision_function are no probabilities: calibrate them "
            "(CalibratedClassifierCV).",
        )
    if scores.ndim == 1:
        refuse_if(
            len(labels) > 2,
            "y_score",
            f"there are {len(labels)} classes, so y_score must have a column for each, got one.",
        )
        columns = [1 - scores, scores] if about == 1 else [scores, 1 - scores]
        return np.stack(columns, axis=1)
    error = np.abs(scores.sum(axis=1) - 1)
    if error.max(initial=0.0) > TOLERANCE:
        row = int(np.argmax(error))
        refuse_if(
            True,
            "y_score",
            "y_score must hold probabilities that sum to 1 in every row, got a sum of "
            f"{scores[row].sum():g} in row {row}. Divide every row by its sum if they are shares.",
        )
    return scores
