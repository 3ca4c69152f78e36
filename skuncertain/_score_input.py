"""Scores of rows, in the forms in which people have them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._fold_variance import wang_li_omega
from skuncertain._labels import as_labels, check_pos_label, encode, sorted_labels, to_numpy
from skuncertain._ranked_scores import within_folds
from skuncertain._validation import check_choice, rectangular, shown
from skuncertain._warnings import warn_user

POOLINGS = ("folds", "pooled")


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores of the test rows of a cross-validation.

    Attributes
    ----------
    tests : list of ndarray
        Rows that every fold tests.
    scores : list of ndarray or None
        Their scores; None for a fold that failed.
    labels : tuple
        All classes.
    pos_label : label
        Positive class.
    n_folds : int
        Folds of one repetition.
    oriented : bool
        Whether scores in one column are about `pos_label`; otherwise about the last class.
    """

    tests: list
    scores: list
    labels: tuple
    pos_label: Any
    n_folds: int
    oriented: bool = False

    @classmethod
    def of(cls, validator):
        """Scores of a cross-validator."""
        scores = getattr(validator, "scores_", None)
        if scores is None:
            raise ValueError(
                "the cross-validator has no scores: use "
                "BayesianCrossValidator(..., keep_predictions=True) with an estimator that has "
                "predict_proba or decision_function."
            )
        return cls(
            validator.cv_results_["indices"]["test"],
            scores,
            as_labels(list(validator.score_classes_)),
            validator.counts_.pos_label,
            validator.result_.n_folds,
        )


def of_folds(y_score):
    """Whether scores come from the folds of a cross-validation."""
    return isinstance(y_score, FoldScores) or hasattr(y_score, "cv_results_")


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """True classes and scores.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of every row.
    scores : ndarray of shape (n, columns)
        One column for two classes or one class against the rest, otherwise one per class.
    classes : ndarray of shape (columns,)
        Class that is positive for the column.
    labels : tuple
        All classes.
    fold, row : ndarray of shape (n,) or None
        Fold and original row, if every fold is ranked by itself.
    weight : float
        What a row counts: less than 1 if the models share training rows.
    """

    codes: np.ndarray
    scores: np.ndarray
    classes: np.ndarray
    labels: tuple
    fold: Any = None
    row: Any = None
    weight: float = 1.0

    @classmethod
    def of(cls, y_true, y_score, labels=None, pos_label=None, pooling=None):
        """Check labels and scores, or take those of a cross-validator."""
        y = to_numpy("y_true", y_true)
        if y.ndim == 2 and y.shape[1] == 1:  # a column, as everywhere else
            y = y[:, 0]
        if y.ndim != 1:
            raise ValueError(f"y_true must hold one label per row, got shape {y.shape}.")
        if of_folds(y_score):
            return cls._of_folds(y, y_score, labels, pos_label, pooling)
        if pooling is not None:
            raise ValueError("pooling is for a cross-validator; plain scores have no folds.")
        if labels is None:
            labels = sorted_labels(y, y)
            if len(labels) < 2:
                raise ValueError(
                    f"y_true must hold rows of at least two classes, got {labels}: scores rank "
                    "rows of one class above those of another."
                )
        labels = as_labels(labels)
        scores, classes = _columns(rectangular("y_score", y_score), labels, pos_label)
        if len(scores) != len(y):
            raise ValueError(
                f"y_true and y_score must have the same length, got {len(y)} and {len(scores)}."
            )
        made = cls(encode(y, labels, "y_true"), scores, classes, labels)
        return made._check()

    @classmethod
    def _of_folds(cls, y, given, labels, pos_label, pooling):
        pooling = check_choice("pooling", "folds" if pooling is None else pooling, POOLINGS)
        given = given if isinstance(given, FoldScores) else FoldScores.of(given)
        parts, tests = given.scores, given.tests
        if labels is not None:
            raise ValueError("labels are known to the cross-validator: leave them out.")
        labels = given.labels
        kept = [k for k, part in enumerate(parts) if part is not None]
        row = np.concatenate([np.asarray(tests[k]) for k in kept])
        if row.max() >= len(y):
            raise ValueError(
                f"y_true must be what the cross-validator was fitted with, got {len(y)} rows, but "
                f"it has tested row {int(row.max())}."
            )
        for k in kept:
            if len(parts[k]) != len(tests[k]):
                raise ValueError(
                    f"fold {k} has scores of {len(parts[k])} rows, but {len(tests[k])} were "
                    "tested: the classifier does not answer every row."
                )
        fold = np.repeat(kept, [len(tests[k]) for k in kept])
        pos_label = given.pos_label if pos_label is None else pos_label
        whole = np.concatenate([np.asarray(parts[k]) for k in kept])
        scores, classes = _columns(whole, labels, pos_label)
        if whole.ndim == 1 and len(labels) == 2 and classes[0] == 0 and not given.oriented:
            scores = -scores  # decision values speak for the last class
        codes = encode(y[row], labels, "y_true")
        weight = wang_li_omega(given.n_folds)
        if pooling == "pooled":
            if np.unique(row).size < row.size:
                raise ValueError(
                    "pooling='pooled' needs every row to be tested once; repeated folds go with "
                    "pooling='folds'."
                )
            return cls(codes, scores, classes, labels, weight=weight)._check()
        return cls(codes, scores, classes, labels, fold, row, weight)._check()

    def _check(self):
        if not np.all(np.isfinite(self.scores)):
            raise ValueError("y_score must hold finite numbers, got NaN or infinity.")
        for k in range(self.n_scored):
            positive = self.codes == self.classes[k]
            if positive.all() or not positive.any():
                label = self.labels[self.classes[k]]
                found = "only" if positive.all() else "no"
                raise ValueError(
                    f"a ranking needs rows of both kinds, but y_true holds {found} rows of class "
                    f"{label!r}."
                )
        return self

    @property
    def n(self):
        """Number of rows."""
        return len(self.codes) if self.row is None else int(np.unique(self.row).size)

    @property
    def n_scored(self):
        """Number of columns of scores."""
        return self.scores.shape[1]

    @property
    def folded(self):
        """Whether every fold is ranked by itself."""
        return self.fold is not None

    def describe(self, method):
        """Short text for reprs and reports."""
        if self.folded:
            method += f", mean of {np.unique(self.fold).size} folds"
        elif self.weight != 1:
            method += ", folds pooled"
        return method if self.weight == 1 else f"{method}, omega {self.weight:.3g}"

    def class_weights(self, average):
        """Weights of the columns, with sum 1."""
        if average == "macro":
            return np.full(self.n_scored, 1 / self.n_scored)
        share = np.array([(self.codes == k).mean() for k in self.classes])
        return share / share.sum()

    def problem(self, column):
        """Which rows are positive for a column, and their scores."""
        return self.codes == self.classes[column], self.scores[:, column]

    def estimate(self, function, column):
        """Value and influences of a ranking metric for one column."""
        positive, score = self.problem(column)
        if not self.folded:
            return self._weighted(function(positive, score))
        found, lacking = within_folds(function, positive, score, self.fold, self.row)
        if lacking:
            warn_user(
                f"{len(lacking)} of {np.unique(self.fold).size} folds lack a class: they have no "
                "ranking to judge and are left out.",
                UndefinedMetricWarning,
            )
        return self._weighted(found)

    def _weighted(self, found):
        """Estimate of rows that count less than 1, as pooled counts of folds do."""
        influence = found.influence / np.sqrt(self.weight)
        return replace(found, influence=influence, size=found.size * self.weight)


def classifier_scores(classifier, X, pos_label=None, response="auto"):
    """Scores of one class by a fitted classifier, that class, and where the scores came from."""
    if not hasattr(classifier, "classes_"):
        raise ValueError(f"a fitted classifier with classes_ is needed, got {shown(classifier)}.")
    labels = as_labels(list(classifier.classes_))
    label = check_pos_label(labels, pos_label)
    if label is None:
        raise ValueError(
            f"there are {len(labels)} classes {shown(list(labels))}: name the one that is meant "
            "with pos_label=."
        )
    names = ("predict_proba", "decision_function") if response == "auto" else (response,)
    name = next((name for name in names if hasattr(classifier, name)), None)
    if name is None:
        raise ValueError(f"{classifier!r} has neither predict_proba nor decision_function.")
    found = np.asarray(getattr(classifier, name)(X))
    # A single decision value speaks for the last class.
    sides = found.T if found.ndim == 2 else (-found, found)
    return sides[labels.index(label)], label, name


def _columns(scores, labels, pos_label):
    """Scores with a column per question, and the class that each one is about."""
    if scores.dtype.kind not in "iufb":
        raise TypeError(f"y_score must hold numbers, got an array of type {scores.dtype}.")
    scores = scores.astype(float)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim not in (1, 2):
        raise ValueError(f"y_score must have one or two dimensions, got shape {scores.shape}.")
    size = len(labels)
    if scores.ndim == 2 and scores.shape[1] != size:
        raise ValueError(
            f"y_score must have one column per class, {size}, got {scores.shape[1]}. Name all "
            "classes with labels=[...] if some do not occur."
        )
    if scores.ndim == 2 and size > 2 and pos_label is None:
        return scores, np.arange(size)
    label = check_pos_label(labels, pos_label)
    if label is None:
        raise ValueError(
            f"there are {size} classes {shown(list(labels))} but one score per row: name the class "
            "that it is about with pos_label=, or give one column per class."
        )
    index = labels.index(label)
    if scores.ndim == 2:
        return scores[:, [index]], np.array([index])
    return scores[:, None], np.array([index])
