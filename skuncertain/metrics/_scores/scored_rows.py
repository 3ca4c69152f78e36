"""Scores of rows, in the forms in which people have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.scores.delong import within_folds
from skuncertain._utils.validation import as_array, check_choice, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    encode,
    one_column,
    refuse_nameless,
    sorted_labels,
    to_numpy,
)

POOLINGS = ("folds", "pooled")


@dataclass(frozen=True, eq=False)
class OutOfFoldScores:
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
    options : FoldOptions or None
        How counts of these folds become a posterior: its `answer` and `weight`.
    """

    tests: list
    scores: list
    labels: tuple
    pos_label: Any
    n_folds: int
    oriented: bool = False
    options: Any = None

    @classmethod
    def of(cls, validator):
        """Scores of a cross-validator."""
        scores = getattr(validator, "scores_", None)
        refuse_if(
            scores is None,
            "y_score",
            "the cross-validator has no scores: use "
            "BayesianCrossValidator(..., keep_predictions=True) with an estimator that has "
            "predict_proba or decision_function.",
        )
        return cls(
            validator.cv_results_["indices"]["test"],
            scores,
            as_labels(list(validator.score_classes_)),
            validator.counts_.pos_label,
            validator.result_.n_folds,
            options=validator.result_.options,
        )


def of_folds(y_score):
    """Whether scores come from the folds of a cross-validation."""
    return isinstance(y_score, OutOfFoldScores) or hasattr(y_score, "cv_results_")


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
    tested_in : ndarray of shape (n,) or None
        Fold of every row, if rows of all folds are ranked together.
    options : FoldOptions or None
        How counts of these folds become a posterior, see `OutOfFoldScores`.
    """

    codes: np.ndarray
    scores: np.ndarray
    classes: np.ndarray
    labels: tuple
    fold: Any = None
    row: Any = None
    weight: float = 1.0
    tested_in: Any = None
    options: Any = None

    @classmethod
    def of(cls, y_true, y_score, labels=None, pos_label=None, pooling=None, *, what=None):
        """Check labels and scores, or take those of a cross-validator.

        `what` is said of one class, in words; None of what is the same for both of two classes, as
        the area under the ROC curve is.
        """
        y = one_column("y_true", to_numpy("y_true", y_true), "label")
        if of_folds(y_score):
            return cls._of_folds(y, y_score, labels, pos_label, pooling, what)
        refuse_if(
            pooling is not None,
            "pooling",
            "pooling is for a cross-validator; plain scores have no folds.",
        )
        if labels is None:
            labels = sorted_labels(y, y)
            refuse_if(
                len(labels) < 2,
                "y_true",
                f"y_true must hold rows of at least two classes, got {labels}: scores rank "
                "rows of one class above those of another.",
            )
        labels = as_labels(labels)
        refuse_shuffled("y_score", y_score, labels)
        pos_label = check_pos_label(labels, pos_label, y_true)
        scores, classes = _columns(as_array("y_score", y_score), labels, pos_label, what, y_score)
        refuse_if(
            len(scores) != len(y),
            "y_true",
            f"y_true and y_score must have the same length, got {len(y)} and {len(scores)}.",
        )
        return cls(encode(y, labels, "y_true"), scores, classes, labels)

    @classmethod
    def _of_folds(cls, y, given, labels, pos_label, pooling, what):
        pooling = check_choice("pooling", "folds" if pooling is None else pooling, POOLINGS)
        given = given if isinstance(given, OutOfFoldScores) else OutOfFoldScores.of(given)
        refuse_if(
            labels is not None, "labels", "labels are known to the cross-validator: leave them out."
        )
        parts, tests, labels = given.scores, given.tests, given.labels
        kept = [k for k, part in enumerate(parts) if part is not None]
        row = np.concatenate([np.asarray(tests[k]) for k in kept])
        refuse_if(
            row.max() >= len(y),
            "y_true",
            f"y_true must be what the cross-validator was fitted with, got {len(y)} rows, but "
            f"it has tested row {row.max()}.",
        )
        for k in kept:
            refuse_if(
                len(parts[k]) != len(tests[k]),
                "y_score",
                f"fold {k} has scores of {len(parts[k])} rows, but {len(tests[k])} were "
                "tested: the classifier does not answer every row.",
            )
        fold = np.repeat(kept, [len(tests[k]) for k in kept])
        pos_label = given.pos_label if pos_label is None else pos_label
        whole = np.concatenate([np.asarray(parts[k]) for k in kept])
        pos_label = check_pos_label(labels, pos_label)
        scores, classes = _columns(whole, labels, pos_label, what)
        if whole.ndim == 1 and len(labels) == 2 and classes[0] == 0 and not given.oriented:
            scores = -scores  # decision values speak for the last class
        codes = encode(y[row], labels, "y_true")
        if pooling == "pooled":
            refuse_if(
                np.unique(row).size < row.size,
                "pooling",
                "pooling='pooled' needs every row to be tested once; repeated folds go with "
                "pooling='folds'.",
            )
            weight, tested = wang_li_omega(given.n_folds), np.unique(fold, return_inverse=True)[1]
            return cls(codes, scores, classes, labels, None, None, weight, tested, given.options)
        return cls(codes, scores, classes, labels, fold, row, wang_li_omega(given.n_folds))

    def __post_init__(self):
        refuse_if(
            not np.all(np.isfinite(self.scores)),
            "y_score",
            "y_score must hold finite numbers, got NaN or infinity.",
        )
        for k in self.classes:
            positive = self.codes == k
            found = "only" if positive.all() else "no"
            refuse_if(
                positive.all() or not positive.any(),
                "y_true",
                f"a ranking needs rows of both kinds, but y_true holds {found} rows of class "
                f"{self.labels[k]!r}.",
            )

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
        # Folds that are ranked by themselves have a weight for every class.
        known = self.folded or self.weight == 1
        return method if known else f"{method}, omega {self.weight:.3g}"

    def question(self):
        """Folds and estimand, as fields of `About`."""
        if self.folded:
            return {"n_folds": float(np.unique(self.fold).size), "estimand": "algorithm"}
        together = "algorithm, folds ranked together"  # not the mean of the folds
        return {"estimand": "final" if self.weight == 1 else together}

    def class_weights(self, average):
        """Weights of the columns, with sum 1."""
        if average == "macro":
            return np.full(self.n_scored, 1 / self.n_scored)
        share = np.array([(self.codes == k).mean() for k in self.classes])
        return share / share.sum()

    def counts_at(self, thresholds):
        """Counts of the first column ``(k,)``, or ``(k, folds)`` if rows were tested in folds.

        A row is called positive if its score reaches the threshold.
        """
        positive, score = self.problem(0)
        label = self.labels[self.classes[0]]
        two = len(self.labels) == 2
        pair = self.labels if two else ("rest" if label != "rest" else "others", label)
        folds = [slice(None)]
        if self.tested_in is not None:
            folds = [self.tested_in == k for k in range(self.tested_in.max() + 1)]

        def reached(values):
            return values.size - np.searchsorted(np.sort(values), thresholds, side="left")

        cells = []
        for part in folds:
            mine, values = positive[part], score[part]
            tp, fp = reached(values[mine]), reached(values[~mine])
            cells.append((tp, mine.sum() - tp, fp, (~mine).sum() - fp))
        tp, fn, fp, tn = np.moveaxis(cells, 0, -1)
        if self.tested_in is None:
            tp, fn, fp, tn = (cell[..., 0] for cell in (tp, fn, fp, tn))
        return ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn, labels=pair, pos_label=label)

    def rate_weights(self):
        """Weight of the rows of the positive and of the other class, for single rates."""
        if self.options is None:
            return (self.weight,) * 2
        positive, score = self.problem(0)
        found = []
        for metric, rows in (("recall", positive), ("fpr", ~positive)):
            places = np.quantile(score[rows], np.linspace(0.1, 0.9, 9), method="nearest")
            found.append(self.options.weight(self.counts_at(np.unique(places)), metric))
        return tuple(found)

    def problem(self, column):
        """Which rows are positive for a column, and their scores."""
        return self.codes == self.classes[column], self.scores[:, column]

    def estimate(self, function, column, published=False):
        """Value and influences of a ranking metric for one column.

        Rows of folds have the weight that follows from the spread of the folds, or the `published`
        one: what two models have in common is to cancel in a comparison.
        """
        positive, score = self.problem(column)
        weight = self.weight
        if self.folded:
            found, lacking, weight = within_folds(function, positive, score, self.fold, self.row)
            if lacking:
                warn_user(
                    f"{len(lacking)} of {np.unique(self.fold).size} folds lack a class: they have "
                    "no ranking to judge and are left out.",
                    UndefinedMetricWarning,
                )
        else:
            found = function(positive, score)
        weight = self.weight if published else weight
        # Rows may count less than 1, as pooled counts of folds do.
        influence = found.influence / np.sqrt(weight)
        return replace(found, influence=influence, size=found.size * weight)


def classifier_scores(classifier, X, pos_label=None, response="auto", parameter="y_score", y=None):
    """Scores of one class by a fitted classifier, that class, and where the scores came from.

    `y` are labels whose order may tell the class.
    """
    refuse_if(
        not hasattr(classifier, "classes_"),
        parameter,
        f"{parameter}: a fitted classifier with classes_ is needed, got {{value}}.",
        value=classifier,
    )
    labels = as_labels(list(classifier.classes_))
    label = check_pos_label(labels, pos_label, y)
    if label is None and len(labels) == 2:
        refuse_nameless("a curve or a threshold", labels)
    refuse_if(
        label is None,
        "pos_label",
        f"there are {len(labels)} classes {{value}}: name the one that is meant with pos_label=.",
        value=list(labels),
    )
    names = ("predict_proba", "decision_function") if response == "auto" else (response,)
    name = next((name for name in names if hasattr(classifier, name)), None)
    refuse_if(
        name is None,
        parameter,
        f"{parameter}: {{value}} has neither predict_proba nor decision_function.",
        value=classifier,
    )
    found = np.asarray(getattr(classifier, name)(X))
    # A single decision value speaks for the last class.
    sides = found.T if found.ndim == 2 else (-found, found)
    return sides[labels.index(label)], label, name


def _columns(scores, labels, label, what=None, given=None):
    """Scores with a column per question, and the class that each one is about.

    `label` is the positive class, if there is one; `what` is said of it. `given` is what the scores
    were made of: in lists numpy may have rounded integers.
    """
    refuse_if(
        scores.dtype.kind not in "iufb",
        "y_score",
        f"y_score must hold numbers, got an array of type {scores.dtype}.",
    )
    scores = as_floats(scores, given)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    refuse_if(
        scores.ndim not in (1, 2),
        "y_score",
        f"y_score must have one or two dimensions, got shape {scores.shape}.",
    )
    size = len(labels)
    refuse_if(
        scores.ndim == 2 and scores.shape[-1] != size,
        "y_score",
        f"y_score must have one column per class, {size}, got {scores.shape[-1]}. Name all "
        "classes with labels=[...] if some do not occur.",
    )
    if scores.ndim == 2 and size > 2 and label is None:
        return scores, np.arange(size)
    if label is None and size == 2:
        if what is not None:
            refuse_nameless(what, labels)
        label = labels[-1]  # the scores of scikit-learn speak for it
    refuse_if(
        label is None,
        "pos_label",
        f"there are {size} classes {{value}} but one score per row: name the "
        "class that it is about with pos_label=, or give one column per class.",
        value=list(labels),
    )
    index = labels.index(label)
    column = scores[:, index] if scores.ndim == 2 else scores
    return column[:, None], np.array([index])


def refuse_shuffled(parameter, given, labels):
    """Refuse a frame whose columns are called like the classes, in another order."""
    names = list(getattr(given, "columns", ()))
    shuffled = names != list(labels) and sorted(map(str, names)) == sorted(map(str, labels))
    refuse_if(
        shuffled and all(isinstance(name, str) for name in (*names, *labels)),
        parameter,
        f"{parameter} must have its columns in the order {list(labels)}, got columns called "
        f"{{value}}: take them in that order, or name it with labels=.",
        names,
    )


def as_floats(scores, given):
    """Scores as floats; refused where that would tie scores that differ."""
    with np.errstate(over="ignore"):  # infinity is refused by its name
        floats = scores.astype(float)
    exact = scores
    if scores.dtype == float and isinstance(given, list | tuple) and np.any(abs(floats) >= 2**53):
        exact = np.asarray(given, dtype=object)
    wide = exact.dtype.kind in "iuO" or exact.dtype.itemsize > floats.itemsize
    if wide and np.isfinite(floats).all():
        for column, rounded in zip(np.atleast_2d(exact.T), np.atleast_2d(floats.T), strict=True):
            refuse_if(
                np.unique(column).size > np.unique(rounded).size,
                "y_score",
                "y_score holds different numbers that are equal as 64-bit floats, such as integers "
                "beyond 2**53: they would be tied. Give their ranks instead "
                "(scipy.stats.rankdata).",
            )
    return floats


def wang_li_omega(n_folds):
    """The published weight of pooled counts, (K + 1) / (2 K)."""
    return (n_folds + 1) / (2 * n_folds)
