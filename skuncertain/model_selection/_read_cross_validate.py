"""Reading fold counts, or which scores there are, out of the result of ``cross_validate``."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skuncertain._utils.validation import check_integer, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    encode,
    one_column,
    plain_label,
    refuse_nameless,
    sorted_labels,
    to_numpy,
)
from skuncertain.metrics._scorer_keys import has_positive, numbered_labels, read_cells
from skuncertain.model_selection._fold_t import SCORE_METHODS
from skuncertain.model_selection._splits import Splits

HOW = (
    "Call cross_validate(estimator, X, y, cv=..., scoring=ConfusionCountsScorer(), "
    "return_indices=True), or with any scoring cross_validate(..., return_estimator=True, "
    "return_indices=True) and then CrossValPosterior.from_cv_results(results, X, y)."
)
ALL_FAILED = "all folds failed: there is nothing to count."


def read_counts(cv_results, X, y, labels, pos_label, splits=None):
    """Counts of every fold, its splits (None if unknown) and the folds that failed.

    `splits` of indices that were looked at before are not looked at again. Returns
    (ConfusionCounts, Splits or None, tuple of int).
    """
    refuse_if(
        not hasattr(cv_results, "keys"),
        "cv_results",
        f"cv_results must be the dict that cross_validate returns, got "
        f"{type(cv_results).__name__}. {HOW}",
    )
    if splits is None and "indices" in cv_results:
        splits = Splits.of(cv_results["indices"]["train"], cv_results["indices"]["test"])
    known = _labels(cv_results, y, labels)
    cv_results = _unpacked(cv_results)
    matrices = _cells(cv_results)
    if matrices is None:
        return _predicted_counts(cv_results, X, y, known, pos_label, splits)
    size, oriented = matrices.shape[-1], has_positive(_columns(cv_results))
    known = numbered_labels(size, oriented) if known is None else known
    refuse_if(
        len(known) != size,
        "labels",
        f"labels must name the {size} classes that were counted, got {len(known)}: {{value}}.",
        list(known),
    )
    if size == 2:
        refuse_if(
            pos_label is not None
            and labels is None
            and y is None
            and plain_label(pos_label, "pos_label") not in known,
            "pos_label",
            "pos_label={value} needs labels=[...], or y, to be known.",
            pos_label,
        )
        pos_label = check_pos_label(known, pos_label, y)
    if oriented:  # the scorer's cells have the positive class last
        if pos_label is None:
            refuse_nameless("the count tp", known)
        if known.index(pos_label) == 0:
            matrices = matrices[..., ::-1, ::-1]
    failed_folds = tuple(np.flatnonzero(np.isnan(matrices).any(axis=(-2, -1))).tolist())
    kept = np.delete(np.arange(len(matrices)), list(failed_folds))
    refuse_if(not kept.size, "cv_results", ALL_FAILED)
    _check_sums(cv_results, matrices[kept], splits, kept)
    counts = ConfusionCounts(matrices[kept], labels=known, pos_label=pos_label)
    if splits is None:
        return counts, None, failed_folds
    if y is not None:
        _check_orientation(counts, y, [cv_results["indices"]["test"][k] for k in kept])
    return counts, splits.without(failed_folds), failed_folds


def score_columns(cv_results):
    """Names of the test scores of a result of ``cross_validate``."""
    return [str(key)[5:] for key in cv_results if str(key).startswith("test_")]


def holds_only_scores(cv_results, X, y, method):
    """Whether there is nothing to count: scores, and neither counts nor estimators with their data.

    Estimators and indices were asked for in order to count, unless the method says otherwise.
    """
    if not hasattr(cv_results, "keys") or X is not None or y is not None:
        return False
    if not score_columns(cv_results) or _cells(_unpacked(cv_results)) is not None:
        return False
    if "estimator" in cv_results and "indices" in cv_results:
        return method in SCORE_METHODS
    return method is None or method in SCORE_METHODS


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
    packed = getattr(getattr(scores, "dtype", None), "kind", "") == "O"
    first = next((score for score in scores if isinstance(score, dict)), None) if packed else None
    if first is None:
        return cv_results
    empty = dict.fromkeys(first, np.nan)
    folds = [score if isinstance(score, dict) else empty for score in scores]
    columns = {f"test_{key}": np.array([fold[key] for fold in folds], float) for key in empty}
    return {**cv_results, **columns}


def _columns(cv_results):
    """Scores of the folds by the keys of the scorer."""
    return {
        str(key).removeprefix("test_"): value
        for key, value in cv_results.items()
        if str(key).startswith("test_")
    }


def _cells(cv_results):
    """Cells of the counts scorer as an array (splits, C, C), or None."""
    columns = _columns(cv_results)
    found = read_cells(columns)
    refuse_if(
        found is None and "tp_0" in columns,
        "cv_results",
        "the results hold tp, fp and fn per class, not the confusion matrix: call "
        "cross_validate(..., scoring=ConfusionCountsScorer(cells=True)).",
    )
    return found


def _check_orientation(counts, y, tests):
    """Refuse labels that are not those of the scorer: the classes would be mixed up."""
    y = to_numpy("y", y)
    for k, rows in enumerate(tests):
        true = np.bincount(encode(y[rows], counts.labels, "y"), minlength=counts.n_classes)
        counted = counts.counts[k].sum(axis=1)
        refuse_if(
            not np.array_equal(true, counted),
            "y",
            f"fold {k} has {true.tolist()} rows of the classes {list(counts.labels)}, but "
            f"{counted.tolist()} were counted. Give labels and pos_label as they were given to "
            "the scorer, and the same y.",
        )


def _check_sums(cv_results, matrices, splits, kept):
    """Refuse counts that do not add up: cross_validate drops keys that the first fold lacks."""
    expected = cv_results.get("test_n", getattr(splits, "n_test", None))
    refuse_if(
        expected is None,
        "cv_results",
        "the results hold neither 'test_n' nor 'indices', so it cannot be checked that no "
        f"count is missing. {HOW}",
    )
    pairs = zip(matrices.sum(axis=(-2, -1)), np.asarray(expected, float)[kept], strict=True)
    for k, (total, size) in enumerate(pairs):
        refuse_if(
            total != size,
            "cv_results",
            f"the counts of fold {k} add up to {total:g}, but it has {size:g} rows: some fold "
            "lacked a class. Name all classes: ConfusionCountsScorer(labels=[...]).",
        )


def _predicted_counts(cv_results, X, y, labels, pos_label, splits):
    """Counts from the fitted estimators and the indices of an ordinary result."""
    if "estimator" not in cv_results or splits is None:
        have = sorted(str(key) for key in cv_results)
        refuse_if(
            any(key.startswith("split0_test_") for key in have),
            "cv_results",
            "these are the results of a search: use search_posterior(search), which looks at "
            "all its candidates.",
        )
        raise InvalidParameterError(
            f"cv_results holds no counts, only {have}. {HOW}", parameter="cv_results"
        )
    refuse_if(
        X is None or y is None,
        "X",
        "X and y are missing: from_cv_results(cv_results, X, y) predicts the test rows with "
        "the estimators in cv_results; method='nadeau_bengio' looks at the scores alone.",
    )
    estimators, tests = list(cv_results["estimator"]), cv_results["indices"]["test"]
    # scikit-learn gives a fold NaN for all scores if its fit failed.
    scores = [
        np.asarray(value, dtype=float)
        for key, value in cv_results.items()
        if str(key).startswith("test_") and np.shape(value) == (len(estimators),)
    ]
    for k in np.flatnonzero(np.isnan(scores).all(axis=0)) if scores else ():
        estimators[k] = None  # it may look fitted: its fit can have failed half-way
    labels = as_labels(labels)
    pos_label = check_pos_label(labels, pos_label, y)
    predictions, y = predict_folds(estimators, X, tests), to_numpy("y", y)
    failed_folds = tuple(k for k, predicted in enumerate(predictions) if predicted is None)
    folds = [
        ConfusionCounts.from_predictions(y[rows], predicted, labels=labels, pos_label=pos_label)
        for rows, predicted in zip(tests, predictions, strict=True)
        if predicted is not None
    ]
    refuse_if(not folds, "cv_results", ALL_FAILED)
    matrices = np.stack([fold.counts for fold in folds])
    counts = ConfusionCounts(matrices, labels=folds[0].labels, pos_label=folds[0].pos_label)
    return counts, splits.without(failed_folds), failed_folds


def predict_folds(estimators: Any, X: Any, tests: Any, method: str = "predict") -> list:
    """Answer of every fold's estimator for its test rows; None where the fold failed to fit."""
    return [
        getattr(estimator, method)(take_rows(X, rows)) if _is_fitted(estimator) else None
        for estimator, rows in zip(estimators, tests, strict=True)
    ]


def _is_fitted(estimator):
    try:
        return estimator is not None and check_is_fitted(estimator) is None
    except NotFittedError:
        return False


def take_rows(X, rows):
    """Rows of an array, sparse matrix, data frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]


def assumed_splits(counts, n_failed, n_repeats):
    """Splits that test every row `n_repeats` times, for results without indices."""
    repeats = 1 if n_repeats is None else check_integer("n_repeats", n_repeats, low=1)
    if n_repeats is None:
        warn_user(
            "cv_results does not hold the indices of the splits: the folds are taken to "
            "test every row once. Call cross_validate(..., return_indices=True), or give "
            "n_repeats=.",
            UserWarning,
        )
    n_folds = len(counts) + n_failed
    refuse_if(
        n_folds % repeats,
        "n_repeats",
        f"n_repeats={repeats} must divide the number of folds, {n_folds}.",
    )
    size = counts.counts if not counts.weighted else counts._row_weights.rows.astype(np.int64)
    size = size.sum(axis=(-2, -1))
    return Splits(size.sum() // repeats - size, size, repeats)


def check_fold_counts(counts):
    """Refuse what is not a matrix for each of at least two folds."""
    refuse_if(
        not isinstance(counts, ConfusionCounts),
        "counts",
        f"counts must be ConfusionCounts of shape (folds,), got {type(counts).__name__}.",
    )
    refuse_if(
        len(counts.shape) != 1 or counts.shape[0] < 2,
        "counts",
        "counts must hold one matrix per fold, of at least two folds, got the shape "
        f"{counts.shape}: a single matrix is not a cross-validation, use its own report().",
    )


def refuse_repeats(counts, n_repeats):
    """Refuse repetitions that cannot have tested the same rows: every class has R times its n."""
    rows = counts._row_weights.rows.sum(axis=(0, 2))
    for label, n in zip(counts.labels, rows, strict=True):
        refuse_if(
            n % n_repeats,
            "n_repeats",
            f"n_repeats={n_repeats} does not fit the counts: every repetition tests the same rows, "
            f"but class {label!r} has {n:g} in all folds, which is no multiple of {n_repeats}.",
        )
