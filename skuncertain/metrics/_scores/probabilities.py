"""Predicted probabilities of rows, checked: what is no probability is refused with the remedy."""

from __future__ import annotations

import numpy as np

from skuncertain._utils.validation import as_array, as_numbers, refuse_if, share_hint
from skuncertain.metrics._labels import as_labels, one_column, sorted_labels, to_numpy
from skuncertain.metrics._scores.scored_rows import (
    OutOfFoldScores,
    ScoredRows,
    of_folds,
    refuse_shuffled,
)

TOLERANCE = 1e-3  # what the probabilities of a row may add up to more or less than 1
_REMEDY = "use predict_proba; CalibratedClassifierCV gives probabilities to other classifiers."


def probability_rows(y_true, y_proba, labels=None, pos_label=None):
    """Rows with the probability of one class."""
    y = one_column("y_true", to_numpy("y_true", y_true), "label")
    present = sorted_labels(y, y)
    refuse_if(
        len(present) < 2,
        "y_true",
        f"y_true must hold rows of two classes, got only {present}: with one class there is no "
        "slope, and no share between 0 and 1, to be estimated. Use more rows.",
    )
    folds = of_folds(y_proba)
    if folds:
        y_proba = _of_folds(y_proba)
    else:
        refuse_shuffled("y_proba", y_proba, present if labels is None else as_labels(labels))
        y_proba = _checked(y_proba)
        refuse_if(
            len(y_proba) != len(y),
            "y_proba",
            f"y_proba must have as many rows as y_true, {len(y)}, got {len(y_proba)}.",
        )
        size = len(present if labels is None else as_labels(labels))
        refuse_if(
            y_proba.ndim == 2 and y_proba.shape[1] != size,
            "y_proba",
            f"y_proba must have one column per class, {size}, got {y_proba.shape[-1]}. Name all "
            "classes with labels=[...] if some do not occur in y_true.",
        )
    pooling, what = "pooled" if folds else None, "calibration"
    rows = ScoredRows.of(y_true, y_proba, labels, pos_label, pooling, what=what)
    refuse_if(
        rows.n_scored > 1,
        "pos_label",
        f"calibration is about one class, and there are {rows.n_scored}: name it with pos_label=.",
    )
    return rows


def _of_folds(given):
    """Out-of-fold probabilities of a cross-validation."""
    if not isinstance(given, OutOfFoldScores):
        refuse_if(
            getattr(given, "scores_", None) is None,
            "y_proba",
            "y_proba: the cross-validator has no probabilities: use "
            "BayesianCrossValidator(..., keep_predictions=True) with an estimator that has "
            "predict_proba.",
        )
        given = OutOfFoldScores.of(given)
    parts = [part for part in given.scores if part is not None]
    decisions = any(np.ndim(part) == 1 for part in parts) and not given.oriented
    wrong = decisions or any(np.any((part < 0) | (part > 1)) for part in parts)
    refuse_if(
        wrong,
        "y_proba",
        "y_proba: the scores of the cross-validator are those of decision_function, not "
        f"probabilities: {_REMEDY}",
    )
    for part in parts:
        check_sums(np.asarray(part))
    tests = np.concatenate([np.asarray(test) for test in given.tests])
    refuse_if(
        np.unique(tests).size < tests.size,
        "y_proba",
        "y_proba: every row must be tested once, and the folds are repeated: take one repetition.",
    )
    return given


def _checked(y_proba):
    """Probabilities as floats of shape (n,) or (n, C)."""
    found = as_array("y_proba", y_proba)
    found = as_numbers("y_proba", y_proba) if found.dtype.kind == "O" else found
    refuse_if(
        found.dtype.kind not in "biuf",
        "y_proba",
        f"y_proba must hold probabilities, got {{value}}: {_REMEDY}",
        y_proba,
    )
    refuse_if(
        found.ndim not in (1, 2) or found.size == 0,
        "y_proba",
        f"y_proba must have shape (n,) or (n, C), got shape {found.shape}.",
    )
    refuse_if(
        found.dtype.kind in "biu" and np.isin(found, (0, 1)).all(),
        "y_proba",
        f"y_proba must hold probabilities, got labels, {{value}}: {_REMEDY}",
        y_proba,
    )
    found = found.astype(float)
    refuse_if(
        not np.all(np.isfinite(found)),
        "y_proba",
        "y_proba must hold finite numbers, got NaN or infinity: leave these rows out.",
    )
    away = found[(found < 0) | (found > 1)]
    value = away[np.argmax(np.abs(away))] if away.size else 0.0
    hint = share_hint(value) if away.size and np.ptp(found) > 1 and found.min() >= 0 else ""
    refuse_if(
        away.size > 0,
        "y_proba",
        f"y_proba must hold probabilities in [0, 1], got {value:g}: {_REMEDY}{hint}",
    )
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    check_sums(found)
    return found


def check_sums(found):
    """Refuse rows that do not add up to 1."""
    if found.ndim == 1:
        return
    sums = found.sum(axis=1)
    worst = sums[np.argmax(np.abs(sums - 1))]
    refuse_if(
        abs(worst - 1) > TOLERANCE,
        "y_proba",
        f"the rows of y_proba must add up to 1 within {TOLERANCE:g}, got a row with sum {worst:g}: "
        "give one column with the probability of pos_label, or divide rows by their sums.",
    )
