"""The rows of a cross-validation: their labels, and what the splits do with them.

What the splits allow is told from their indices, never from their class.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from skuncertain._utils.validation import refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.metrics._labels import as_labels, check_pos_label, encode, sorted_labels, to_numpy
from skuncertain.metrics._scorer import ConfusionCountsScorer
from skuncertain.metrics._scores.metrics import ScoreMetric


@dataclass(frozen=True, eq=False)
class Splits:
    """Sizes and repetitions of the splits.

    Attributes
    ----------
    n_train, n_test : ndarray of shape (splits,)
        Rows per split.
    n_repeats : int
        How often every tested row was tested; 1 if that differs between rows.
    obstacle : str or None
        Why counts of these splits cannot be pooled.
    tests : tuple of str or None
        Fingerprint of the test rows of every split, of failed ones too; None if they are not known.
    overlap : tuple of int
        Splits that test rows which they have trained on.
    """

    n_train: np.ndarray
    n_test: np.ndarray
    n_repeats: int
    obstacle: str | None = None
    tests: tuple | None = None
    overlap: tuple = ()

    @classmethod
    def of(cls, train, test):
        """Look at the indices, or boolean masks, of the training and test rows of every split."""
        train, test = [as_rows(part) for part in train], [as_rows(part) for part in test]
        refuse_if(not test, "cv", "cv gave no split at all: there is nothing to test.")
        size = 1 + max(int(np.max(part)) for part in (*train, *test) if len(part))
        tested = np.bincount(np.concatenate(test), minlength=size)
        trained = np.bincount(np.concatenate(train), minlength=size)[tested > 0]
        tested, obstacle = tested[tested > 0], None
        if tested.min() != tested.max():
            obstacle = (
                f"rows are tested between {tested.min()} and {tested.max()} times, as by "
                "ShuffleSplit"
            )
        elif trained.min() < trained.max() / 2:
            obstacle = (
                f"tested rows serve for training between {trained.min()} and {trained.max()} "
                "times, as with TimeSeriesSplit: the folds have learnt from different amounts of "
                "data"
            )
        pairs = zip(train, test, strict=True)
        return cls(
            np.array([len(part) for part in train]),
            np.array([len(part) for part in test]),
            1 if obstacle else int(tested.min()),
            obstacle,
            tuple(_fingerprint(part) for part in test),
            tuple(k for k, (known, asked) in enumerate(pairs) if np.isin(asked, known).any()),
        )

    def without(self, failed):
        """Splits that are left when some have failed."""
        n_train, n_test = (np.delete(n, list(failed)) for n in (self.n_train, self.n_test))
        return replace(self, n_train=n_train, n_test=n_test)

    def refuse_repeats(self, n_repeats):
        """Refuse a number of repetitions that is not that of the splits; None is any."""
        refuse_if(
            n_repeats not in (None, self.n_repeats),
            "n_repeats",
            f"n_repeats={n_repeats} does not fit the indices in cv_results, in which rows are "
            f"tested {self.n_repeats} times.",
        )

    def refuse_pooling(self, method):
        """Raise an error that offers the method which works."""
        refuse_if(
            self.obstacle,
            "method",
            f"method={method!r} adds up the folds, but {self.obstacle}. "
            "Use method='nadeau_bengio', which looks at the fold values.",
        )


def as_rows(part, n_rows=None):
    """Indices of rows from indices, which may count from the end, or from a boolean mask."""
    rows = np.asarray(part)
    if rows.dtype == bool:
        return np.flatnonzero(rows)
    if rows.size and rows.min() < 0:
        refuse_if(n_rows is None, "cv", f"cv must give indices of rows >= 0, got {rows.min()}.")
        rows = rows % n_rows
    return rows.astype(np.int64)


def _fingerprint(rows):
    """Short text that differs for different sets of rows."""
    return hashlib.sha256(np.sort(rows).tobytes()).hexdigest()[:16]


# --------------------------------------------------------------------------------------------------
# Labels, checked before the long work


@dataclass(frozen=True, eq=False)
class Target:
    """Class labels of the rows.

    Attributes
    ----------
    y : array-like of shape (n,)
        As given.
    codes : ndarray of shape (n,)
        Index of the class of every row.
    labels : tuple
        All classes.
    pos_label : label or None
        Positive class.
    """

    y: Any
    codes: np.ndarray
    labels: tuple
    pos_label: Any


def check_target(X, y, labels, pos_label, owner):
    """Target of a classification; `owner` is who needs it."""
    refuse_if(y is None, "y", f"{owner} requires y to be passed, but the target y is None.")
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    array = to_numpy("y", y)
    refuse_if(array.size == 0, "y", "y is empty: there are 0 sample(s), at least two are needed.")
    if array.dtype.kind == "f":
        assert_all_finite(array, input_name="y")
    check_classification_targets(array)
    refuse_if(
        array.ndim > 1,
        "y",
        f"y must hold one class label per row, got shape {array.shape}. Multilabel targets "
        "have one confusion matrix per label.",
    )
    found = sorted_labels(array, array)
    refuse_if(
        labels is None and len(found) < 2,
        "y",
        f"y holds only one class, {found[0]!r}, so there is nothing to learn. Name all "
        "classes with labels=[...] if this is meant.",
    )
    labels = as_labels(found if labels is None else labels)
    pos_label = check_pos_label(labels, pos_label, y)
    return Target(y, encode(array, labels, "y"), labels, pos_label)


def counting_scorer(target, metrics):
    """Scorer that counts all cells, and the metrics ``{name: Metric}`` that have a direction."""
    asked = {}
    for name, metric in metrics.items():
        scored = isinstance(metric, ScoreMetric)
        if scored or metric.greater_is_better is not None:
            # One column serves a loss and its negative; otherwise an alias stays the key.
            key = (metric.negated or metric).name if scored else name
            asked.setdefault(key, metric if metric.name == name else name)
    return ConfusionCountsScorer(
        labels=target.labels,
        pos_label=target.pos_label,
        metrics=list(asked.values()),
        cells=True,
    )


def warn_of_unknown_classes(splits, target, remedy="Use a stratified or shuffled splitter."):
    """Tell if a split tests rows of a class that it could not learn."""
    for k, (train, test) in enumerate(splits):
        known, tested = (
            np.bincount(target.codes[part], minlength=len(target.labels)) > 0
            for part in (train, test)
        )
        unknown = np.flatnonzero(tested & ~known)
        if unknown.size:
            warn_user(
                f"split {k} tests rows of class {target.labels[unknown[0]]!r} but trains on none: "
                f"no model can get them right. {remedy}",
                UserWarning,
            )
            return


def warn_of_splits(splits, failed_folds, left, reason):
    """Tell which folds failed, `left` being those that did not, and if rows were trained on."""
    if failed_folds:
        warn_user(
            f"left out, because they failed: folds {list(failed_folds)} of "
            f"{left + len(failed_folds)} (counted from 0). The answer rests on {left} "
            f"fold{'s' * (left != 1)}. {reason}".rstrip(),
            FitFailedWarning,
        )
    if splits.overlap:
        warn_user(
            f"split {splits.overlap[0]} tests rows that it has trained on: its score says "
            "nothing about new rows.",
            UserWarning,
        )


def align_columns(scores, estimators):
    """Give all folds the columns of all classes; a class that was not learnt has the score 0."""
    known = [list(getattr(estimator, "classes_", ())) for estimator in estimators]
    classes = sorted({label for labels in known for label in labels})
    for k, (part, labels) in enumerate(zip(scores, known, strict=True)):
        if part is not None and labels and part.ndim == 2 and labels != classes:
            scores[k] = np.zeros((len(part), len(classes)))
            scores[k][:, [classes.index(label) for label in labels]] = part
    return np.array(classes)
