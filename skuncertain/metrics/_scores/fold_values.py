"""Metrics of scores and probabilities in one fold: their values and moments, in one pass."""

from __future__ import annotations

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._labels import (
    check_pos_label,
    plain_label,
    positive_of,
    refuse_nameless,
)
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.probabilities import TOLERANCE
from skuncertain.metrics._scores.row_scores import RowScores, scores_called

_METHODS = {"decision_function": "scores", "predict_proba": "probabilities"}


def check_class_of(metric, labels, pos_label=None):
    """Refuse a metric of one class if nothing tells which one that is."""
    if not isinstance(metric, ScoreMetric):
        positive_of(metric, labels, pos_label)
        return
    label = check_pos_label(labels, pos_label)
    if label is None and metric.one_class and len(labels) == 2:
        refuse_nameless(f"metric {metric.name!r}", labels)
    refuse_if(
        label is None and metric.one_class and metric.k is not None,
        "pos_label",
        f"metric {metric.name!r} is about one class, but there are {len(labels)}: {list(labels)}.",
        remedy="Name the class with pos_label=....",
    )


def class_asked(metric, labels, pos_label):
    """Class that a metric is asked about in folds; None of an average over all classes.

    A positive class that other metrics need does not turn an average into one of its parts.
    """
    averages = len(labels) > 2 and not metric.one_class and metric.base != "roc_auc"
    return None if averages else pos_label


def scoring_method(metric, estimator):
    """Name of the method that gives what a metric needs, in scikit-learn's order, or None."""
    return next((name for name in metric.responses if hasattr(estimator, name)), None)


class Responses:
    """Scores and probabilities of an estimator for some rows; every method is called once.

    Parameters
    ----------
    estimator : object
        Fitted classifier.
    X : array-like
        Rows.
    predicted : ndarray
        Its predicted labels, which are known already.
    labels : tuple
        All classes: columns are put in their order.
    """

    def __init__(self, estimator, X, predicted, labels):
        self.estimator, self.X, self.labels = estimator, X, labels
        self._known = {"predict": predicted}

    def of(self, metric):
        """What the metric needs."""
        name = scoring_method(metric, self.estimator)
        refuse_if(name is None, "estimator", lacks_method(metric, self.estimator))
        if name not in self._known:
            try:
                self._known[name] = self._ask(name)
            except Exception as error:  # it is told of every metric, but asked for once
                self._known[name] = error
        found = self._known[name]
        if isinstance(found, Exception):
            raise found
        return _second_of_two(found) if metric.needs == "probabilities" else found

    def name_for(self, metric):
        """What gives the answer to a metric, in words."""
        name = type(self.estimator).__name__
        return f"{scoring_method(metric, self.estimator)} of {name}"

    def _ask(self, name):
        scores = np.asarray(getattr(self.estimator, name)(self.X))
        classes = getattr(self.estimator, "classes_", None)
        if classes is None or scores.dtype.kind not in "iufb":
            return scores
        classes = [plain_label(label) for label in classes]
        refuse_if(
            name == "decision_function" and len(classes) > 2 and _is_pairwise(self.estimator),
            "estimator",
            "decision_function has a column per pair of classes, which tells no score of a class.",
            remedy="Set decision_function_shape='ovr'.",
        )
        return aligned(scores, classes, self.labels, _METHODS[name])


def _is_pairwise(estimator):
    """Whether an estimator, or a part of it, scores pairs of classes: three pairs look as three."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return any(
        name.endswith("decision_function_shape") and isinstance(value, str) and value == "ovo"
        for name, value in params.items()
    )


def _second_of_two(scores):
    """The second column of two that sum to 1: scikit-learn's scorers take 1 - p for the first."""
    if scores.ndim != 2 or scores.shape[1] != 2 or scores.dtype.kind not in "fiub":
        return scores
    error = np.abs(scores.sum(axis=1) - 1).max(initial=0.0)
    return scores[:, 1] if error <= TOLERANCE else scores  # others are refused with the row


def lacks_method(metric, estimator):
    """Text for an estimator that cannot give what a metric needs."""
    name, methods = type(estimator).__name__, " or ".join(metric.responses)
    needs = "probabilities" if metric.responses == ("predict_proba",) else metric.needs
    return f"metric {metric.name!r} needs {needs}, but {name} has no {methods}."


def aligned(scores, classes, labels, needs):
    """Scores with a column for each of the labels, found by value among the classes of a model.

    A class that was not learnt has the probability 0, or a score below all others.
    """
    if tuple(classes) == tuple(labels) or (scores.ndim == 2 and scores.shape[1] != len(classes)):
        return scores
    unknown = [label for label in classes if label not in labels]
    refuse_if(
        unknown,
        "labels",
        f"the estimator knows classes that are not among the labels {list(labels)}: {unknown}.",
    )
    if scores.ndim == 1 and len(classes) == 2:  # speaks for the second class
        other = 1 - scores if needs == "probabilities" else -scores
        scores = np.stack([other, scores], axis=1)
    elif scores.ndim == 1:
        return scores
    empty = 0.0 if needs == "probabilities" else scores.min(initial=0.0) - 1.0
    full = np.full((len(scores), len(labels)), empty, dtype=scores.dtype)
    full[:, [labels.index(label) for label in classes]] = scores
    return full


def fold_moments(metric, responses, y_true, labels, pos_label):
    """Value, variance, third moment and number of rows of a metric in one fold.

    What leaves it undefined in this fold alone is told, and gives NaN; an unknown positive class is
    an error of whoever asks.
    """
    nothing = [np.nan, np.nan, np.nan, len(y_true)]
    try:
        asked, answer = class_asked(metric, labels, pos_label), responses.of(metric)
        with scores_called(responses.name_for(metric)):  # whoever asks has no y_score
            rows = RowScores.of(
                y_true, answer, metric, labels=labels, pos_label=asked, oriented=True
            )
        problem = _lacking(metric, rows)
        if problem is None:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                found = metric.estimate(rows)
                values = [found.value, found.variance, found.third, len(y_true)]
            if np.isfinite(values).all():
                return values
            problem = "it, or the spread of its rows, is no finite number"
    except InvalidParameterError as error:
        if error.parameter == "pos_label":
            raise
        problem = str(error)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    warn_undefined(metric.name, problem)
    return nothing


def warn_undefined(name, problem):
    """Tell that a score of a fold is lost, and nothing else."""
    warn_user(f"the score {name!r} of a fold cannot be computed and is NaN: {problem}", UserWarning)


def _lacking(metric, rows):
    """Why the classes of these rows leave a metric undefined, or None."""
    if not metric.needs_all_classes:
        return None
    number = np.bincount(rows.codes, minlength=rows.n_classes)
    if rows.positive is not None:
        here, rest = number[rows.positive], number.sum() - number[rows.positive]
        if here and rest:
            return None
        only = "no row" if rest else "no row of another class than"
        return f"the fold holds {only}{' of' if rest else ''} class {rows.pos_label!r}."
    if metric.family == "skill" and np.count_nonzero(number) > 1:
        return None
    empty = [rows.labels[c] for c in np.flatnonzero(number == 0)]
    return f"the fold holds no row of class {', '.join(map(repr, empty))}." if empty else None
