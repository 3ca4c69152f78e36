"""Reading fold counts out of the result of ``cross_validate``."""

from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from skuncertain._counts import ConfusionCounts
from skuncertain._labels import (
    as_labels,
    check_pos_label,
    encode,
    one_column,
    plain_label,
    sorted_labels,
    to_numpy,
)
from skuncertain._scorers import read_cells
from skuncertain._splits import Splits
from skuncertain._validation import shown
from skuncertain._warnings import warn_user

HOW = (
    "Call cross_validate(estimator, X, y, cv=..., scoring=ConfusionCountsScorer(), "
    "return_indices=True), or with any scoring cross_validate(..., return_estimator=True, "
    "return_indices=True) and then cross_val_posterior(results, X, y)."
)


def read_counts(cv_results, X, y, labels, pos_label):
    """Counts of every fold, its splits (None if unknown) and the folds that failed.

    Returns (ConfusionCounts, Splits or None, tuple of int).
    """
    if not hasattr(cv_results, "keys"):
        raise TypeError(
            f"cv_results must be the dict that cross_validate returns, got "
            f"{type(cv_results).__name__}. {HOW}"
        )
    splits = None
    if "indices" in cv_results:
        splits = Splits.of(cv_results["indices"]["train"], cv_results["indices"]["test"])
    known = _labels(cv_results, y, labels)
    cv_results = _unpacked(cv_results)
    found = _cells(cv_results)
    if found is None:
        return _predicted_counts(cv_results, X, y, known, pos_label, splits)
    matrices, size = found, found.shape[-1]
    if known is None:
        known = tuple(range(size))
    if len(known) != size:
        raise ValueError(
            f"labels must name the {size} classes that were counted, got {len(known)}: "
            f"{shown(list(known))}."
        )
    if size == 2:  # the scorer's cells have the positive class last
        if (
            pos_label is not None
            and labels is None
            and y is None
            and plain_label(pos_label, "pos_label") not in known
        ):
            raise ValueError(f"pos_label={shown(pos_label)} needs labels=[...], or y, to be known.")
        pos_label = check_pos_label(known, pos_label)
        if known.index(pos_label) == 0:
            matrices = matrices[..., ::-1, ::-1]
    lost = tuple(np.flatnonzero(np.isnan(matrices).any(axis=(-2, -1))).tolist())
    matrices = _without(matrices, lost)
    _check_sums(cv_results, matrices, splits, lost)
    counts = ConfusionCounts(matrices, labels=known, pos_label=pos_label)
    if splits is None:
        return counts, None, lost
    if y is not None:
        _check_orientation(counts, y, _without(list(cv_results["indices"]["test"]), lost))
    return counts, splits.without(lost), lost


def warn_of_lost_folds(lost, n_splits):
    """Name the folds that are left out."""
    if lost:
        left = n_splits - len(lost)
        warn_user(
            f"left out, because they failed: folds {list(lost)} of {n_splits} (counted from 0). "
            f"The answer rests on {left} fold{'s' * (left != 1)}.",
            FitFailedWarning,
        )


def _labels(cv_results, y, labels):
    if labels is not None:
        return as_labels(labels)
    if y is not None:
        array = one_column("y", to_numpy("y", y))
        return as_labels(sorted_labels(array, array))
    for estimator in cv_results.get("estimator", ()):
        classes = getattr(estimator, "classes_", None)
        if classes is not None:
            return as_labels(sorted(plain_label(label) for label in classes))
    return None


def _unpacked(cv_results):
    """Results whose counts scikit-learn left in dicts, because the first fold had none."""
    scores = cv_results.get("test_score")
    if getattr(getattr(scores, "dtype", None), "kind", "") != "O":
        return cv_results
    dicts = [score for score in scores if isinstance(score, dict)]
    if not dicts:
        return cv_results
    empty = dict.fromkeys(dicts[0], np.nan)
    folds = [score if isinstance(score, dict) else empty for score in scores]
    columns = {f"test_{key}": np.array([fold[key] for fold in folds], float) for key in empty}
    return {**cv_results, **columns}


def _cells(cv_results):
    """Cells of the counts scorer as an array (splits, C, C), or None."""
    prefix = "test_"
    columns = {
        str(key).removeprefix(prefix): value
        for key, value in cv_results.items()
        if str(key).startswith(prefix)
    }
    found = read_cells(columns)
    if found is None and "tp_0" in columns:
        raise ValueError(
            "the results hold tp, fp and fn per class, not the confusion matrix: call "
            "cross_validate(..., scoring=ConfusionCountsScorer(cells=True))."
        )
    return found


def _check_orientation(counts, y, tests):
    """Refuse labels that are not those of the scorer: the classes would be mixed up."""
    y = to_numpy("y", y)
    for k, rows in enumerate(tests):
        true = np.bincount(encode(y[rows], counts.labels, "y"), minlength=counts.n_classes)
        if not np.array_equal(true, counts.counts[k].sum(axis=1)):
            raise ValueError(
                f"fold {k} has {true.tolist()} rows of the classes {list(counts.labels)}, but "
                f"{counts.counts[k].sum(axis=1).tolist()} were counted. Give labels and pos_label "
                "as they were given to the scorer, and the same y."
            )


def _without(folds, lost):
    if isinstance(folds, list):
        kept = [fold for k, fold in enumerate(folds) if k not in lost]
    else:
        kept = np.delete(folds, list(lost), axis=0)
    if len(kept) == 0:
        raise ValueError("all folds failed: there is nothing to count.")
    return kept


def _check_sums(cv_results, matrices, splits, lost):
    """Refuse counts that do not add up: cross_validate drops keys that the first fold lacks."""
    total = matrices.sum(axis=(-2, -1))
    if "test_n" in cv_results:
        expected = _without(np.asarray(cv_results["test_n"], float), lost)
    elif splits is not None:
        expected = _without(splits.n_test, lost)
    else:
        raise ValueError(
            "the results hold neither 'test_n' nor 'indices', so it cannot be checked that no "
            f"count is missing. {HOW}"
        )
    wrong = np.flatnonzero(total != expected)
    if wrong.size:
        k = int(wrong[0])
        raise ValueError(
            f"the counts of fold {k} add up to {total[k]:g}, but it has {expected[k]:g} rows: "
            "some fold lacked a class. Name all classes: ConfusionCountsScorer(labels=[...])."
        )


def _predicted_counts(cv_results, X, y, labels, pos_label, splits):
    """Counts from the fitted estimators and the indices of an ordinary result."""
    if "estimator" not in cv_results or splits is None:
        have = sorted(str(key) for key in cv_results)
        if any(key.startswith("split0_test_") for key in have):
            raise ValueError(
                "these are the results of a search: use search_posterior(search), which looks at "
                "all its candidates."
            )
        raise ValueError(f"cv_results holds no counts, only {have}. {HOW}")
    if X is None or y is None:
        raise ValueError(
            "X and y are missing: cross_val_posterior(cv_results, X, y) predicts the test rows "
            "with the estimators in cv_results."
        )
    estimators, tests = list(cv_results["estimator"]), cv_results["indices"]["test"]
    for k in _failed(cv_results, len(estimators)):
        estimators[k] = None  # it may look fitted: its fit can have failed half-way
    predictions = predict_folds(estimators, X, tests)
    lost = tuple(k for k, predicted in enumerate(predictions) if predicted is None)
    y = to_numpy("y", y)
    folds = [
        ConfusionCounts.from_predictions(y[rows], predicted, labels=labels, pos_label=pos_label)
        for rows, predicted in zip(tests, predictions, strict=True)
        if predicted is not None
    ]
    if not folds:
        raise ValueError("all folds failed: there is nothing to count.")
    matrices = np.stack([fold.counts for fold in folds])
    counts = ConfusionCounts(matrices, labels=folds[0].labels, pos_label=folds[0].pos_label)
    return counts, splits.without(lost), lost


def _failed(cv_results, n_folds):
    """Folds without any score: scikit-learn gives them NaN if their fit failed."""
    scores = [
        np.asarray(value, dtype=float)
        for key, value in cv_results.items()
        if str(key).startswith("test_") and np.shape(value) == (n_folds,)
    ]
    return np.flatnonzero(np.isnan(scores).all(axis=0)).tolist() if scores else []


def predict_folds(estimators: Any, X: Any, tests: Any, method: str = "predict") -> list:
    """Answer of every fold's estimator for its test rows; None where the fold failed to fit."""
    return [
        None if estimator is None or not _is_fitted(estimator) else getattr(estimator, method)(rows)
        for estimator, rows in zip(estimators, (take_rows(X, t) for t in tests), strict=True)
    ]


def _is_fitted(estimator):
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def take_rows(X, rows):
    """Rows of an array, sparse matrix, data frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]
