"""Predictions that several models made for the same rows, in the folds of a cross-validation.

People have them as fitted cross-validators, which know their folds and their models, or as arrays
from ``cross_val_predict``, whose folds are told beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from skuncertain._utils.validation import as_array, check_integer, is_integer, refuse_if
from skuncertain.metrics._labels import (
    check_pos_label,
    encode,
    encode_together,
    one_column,
    plain_label,
    to_numpy,
)
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_validator import BayesianCrossValidator
from skuncertain.model_selection._splits import as_rows
from skuncertain.model_selection._stability import MOST_ROWS, spread_rows

_NO_PREDICTIONS = (
    "{name} has not kept the predictions of its test rows, so rows cannot be paired: use "
    "BayesianCrossValidator(..., keep_predictions=True), or compare_cv, which needs the scores of "
    "the folds only."
)
_HOW = (
    "folds must be the fold of every row, the number of folds or the splitter that "
    "cross_val_predict was given, or the test rows of every fold"
)


def is_cross_validated(x: Any) -> bool:
    """Whether a model is given as a cross-validation, with or without its predictions."""
    return isinstance(x, BayesianCrossValidator | CrossValPosterior)


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Tested rows, the fold that tested them and what every model said.

    Attributes
    ----------
    truth : ndarray of shape (tests,)
        True classes; a row that was tested R times occurs R times.
    codes : list of ndarray of shape (tests,)
        Predicted classes, one array per model.
    fold : ndarray of shape (tests,)
        Fold of every test, of repetition r from r K on.
    n_repeats : int
        R, how often every row was tested.
    labels : tuple
        The classes.
    pos_label : label or None
        The positive class, if it is known.
    models : list of ndarray of shape (splits, halves, C, C), or None
        Confusion matrices of every model on the same reference rows, see `Stability`; None if they
        are not known of all of them.
    reference : ndarray of shape (tests,) or None
        Whether a test is that of a reference row.
    """

    truth: np.ndarray
    codes: list
    fold: np.ndarray
    n_repeats: int
    labels: tuple
    pos_label: Any = None
    models: list | None = None
    reference: np.ndarray | None = None

    @property
    def n_splits(self):
        """Folds of all repetitions."""
        return int(self.fold.max()) + 1

    @property
    def n_folds(self):
        """K, folds of one repetition; fractional if one of them failed."""
        return self.n_splits / self.n_repeats

    @property
    def n(self):
        """Rows, each counted once."""
        rows = self.truth.size / self.n_repeats
        return int(rows) if rows.is_integer() else rows

    def take(self, chosen):
        """Rows with the predictions of the chosen models only."""
        models = None if self.models is None else [self.models[k] for k in chosen]
        return replace(self, codes=[self.codes[k] for k in chosen], models=models)

    def matrices(self, model):
        """Confusion matrices ``(splits, C, C)`` of the folds of one model."""
        size = len(self.labels)
        place = (self.fold * size + self.truth) * size + self.codes[model]
        counts = np.bincount(place, minlength=self.n_splits * size**2)
        return counts.reshape(-1, size, size).astype(float)


def read_fold_rows(y_true, predictions, names, folds, labels, pos_label):
    """Rows of models that were cross-validated on the same splits.

    `predictions` are labels ``(n,)`` or, of R repetitions, ``(n, R)``, or fitted cross-validators;
    `names` say whose they are.
    """
    known = [(name, x) for name, x in zip(names, predictions, strict=True) if is_cross_validated(x)]
    for name, x in known:
        refuse_if(
            isinstance(x, CrossValPosterior)
            or (hasattr(x, "result_") and not hasattr(x, "predictions_")),
            name,
            _NO_PREDICTIONS.format(name=name),
        )
        x._fitted("result_")
    refuse_if(
        known and folds is not None,
        "folds",
        f"folds are known to {known and known[0][0]}, a cross-validator: leave them out.",
    )
    if known:
        y_true = _shared_target(y_true, known)
        labels, pos_label = _shared_labels(known, labels, pos_label)
        tests = known[0][1].cv_results_["indices"]["test"]
    y = one_column("y_true", to_numpy("y_true", y_true), "label")
    tests = [as_rows(test) for test in tests] if known else read_folds(folds, y)
    n_repeats = _repeats(tests, y.size, all_rows=not known)
    failed = {k for _, x in known for k, part in enumerate(x.predictions_) if part is None}
    kept = [k for k in range(len(tests)) if k not in failed]
    refuse_if(
        not kept, "predictions", "no fold was tested by all models: there is nothing to compare."
    )
    columns = [
        _in_order(x, [tests[k] for k in kept], kept, name, y.size, n_repeats)
        for name, x in zip(names, predictions, strict=True)
    ]
    row = np.concatenate([tests[k] for k in kept])
    truth, codes, labels = encode_together(y[row], columns, labels, pos_label, names=names)
    originals = [y_true, *(x for x in predictions if not is_cross_validated(x))]
    pos_label = check_pos_label(labels, pos_label, *originals)
    models = _models(known, kept) if len(known) == len(names) else None
    reference = None
    if models is not None:
        chosen = np.zeros(y.size, dtype=bool)
        chosen[spread_rows(encode(y, labels, "y_true"), MOST_ROWS)] = True
        reference = chosen[row]
    fold = np.repeat(np.arange(len(kept)), [tests[k].size for k in kept])
    return FoldRows(truth, codes, fold, n_repeats, labels, pos_label, models, reference)


# --------------------------------------------------------------------------------------------------
# Cross-validators


def _shared_target(y_true, known):
    """Labels that all cross-validators were fitted with; those given must be the same."""
    first_name, first = known[0]
    for name, x in known[1:]:
        refuse_if(
            x.result_.splits.tests != first.result_.splits.tests,
            name,
            f"{first_name} and {name} were not tested on the same splits, so their rows cannot be "
            "paired fold by fold. Fit both with the same splitter and the same random_state.",
        )
        refuse_if(
            not _same(x.y_true_, first.y_true_),
            name,
            f"{first_name} and {name} were fitted with different labels y.",
        )
    refuse_if(
        first.result_.splits.obstacle,
        first_name,
        f"rows of {first_name} cannot be paired, because {first.result_.splits.obstacle}. Use "
        "compare_cv, which looks at the scores of the folds.",
    )
    if y_true is not None:
        refuse_if(
            not _same(y_true, first.y_true_),
            "y_true",
            f"y_true must be the labels that {first_name} was fitted with, got others.",
        )
    return first.y_true_


def _same(y, other):
    y, other = (to_numpy("y_true", part) for part in (y, other))
    return y.shape == other.shape and bool(np.all(y == other))


def _shared_labels(known, labels, pos_label):
    """Classes and positive class of cross-validators, which must be the same."""
    refuse_if(
        labels is not None, "labels", "labels are known to the cross-validators: leave them out."
    )
    first_name, first = known[0]
    counts = first.counts_
    for name, x in known[1:]:
        refuse_if(
            x.counts_.labels != counts.labels,
            name,
            f"{first_name} and {name} know different classes, {list(counts.labels)} and "
            f"{list(x.counts_.labels)}: give both the same labels=.",
        )
        refuse_if(
            pos_label is None and x.counts_.pos_label != counts.pos_label,
            name,
            f"the positive class of {first_name} is {counts.pos_label!r}, that of {name} "
            f"{x.counts_.pos_label!r}: name it with pos_label=.",
        )
    return counts.labels, counts.pos_label if pos_label is None else plain_label(pos_label)


def _models(known, kept):
    """Matrices of every cross-validator's models of the folds that are left; None if one lacks."""
    found = []
    for _, x in known:
        if x.stability_ is None:
            return None
        left = [k for k, part in enumerate(x.predictions_) if part is not None]
        found.append(x.stability_.counts[[left.index(k) for k in kept]])
    return found


def _in_order(x, tests, kept, name, n, n_repeats):
    """Predictions of the tests, fold after fold."""
    if is_cross_validated(x):
        parts = [np.asarray(x.predictions_[k]) for k in kept]
        refuse_if(
            any(part.shape != test.shape for part, test in zip(parts, tests, strict=True)),
            name,
            f"{name} does not predict one label for every test row.",
        )
        return np.concatenate(parts)
    array = to_numpy(name, x)
    if array.ndim == 1:
        array = array[:, None]
    refuse_if(
        array.ndim != 2 or array.shape != (n, n_repeats),
        name,
        f"{name} must hold one prediction for each of the {n} rows"
        + (f" and {n_repeats} repetitions, shape ({n}, {n_repeats})" if n_repeats > 1 else "")
        + f", got shape {np.shape(x)}.",
    )
    seen, parts = np.zeros(n, dtype=np.intp), []
    for test in tests:
        parts.append(array[test, seen[test]])
        seen[test] += 1
    return np.concatenate(parts)


# --------------------------------------------------------------------------------------------------
# Folds that are told


def read_folds(folds, y):
    """Test rows of every fold, from any way in which people tell them."""
    if is_integer(folds):
        folds = check_cv(check_integer("folds", folds, low=2, high=y.size), y, classifier=True)
    if hasattr(folds, "split") and not isinstance(folds, str):
        return _of_splitter(folds, y)
    entries = folds if isinstance(folds, list | tuple) else None
    if entries is not None and entries and np.ndim(_first(entries)) > 0:
        return _of_tests(entries, y.size)
    array = as_array("folds", folds)
    refuse_if(
        array.ndim not in (1, 2) or len(array) != y.size,
        "folds",
        f"{_HOW}; got an array of shape {array.shape} for {y.size} rows.",
    )
    refuse_if(
        array.dtype.kind in "if" and not np.all(array >= 0),
        "folds",
        "folds must not be negative or NaN: rows that no fold tests have to be left out of y_true "
        "and of the predictions.",
    )
    odd = next((x for x in array.ravel() if not isinstance(x, str | int)), None)
    refuse_if(
        array.dtype.kind == "O" and odd is not None,
        "folds",
        "folds must be numbers or names, got {value}.",
        odd,
    )
    tests = []
    for column in array.reshape(y.size, -1).T:
        _, place = np.unique(column, return_inverse=True)
        order = np.argsort(place, kind="stable")
        tests += np.split(order, np.cumsum(np.bincount(place))[:-1])
    return tests


def _first(entries):
    try:
        return np.asarray(entries[0])
    except ValueError:  # a pair of training and test rows
        return np.empty((2, 0))


def _of_splitter(splitter, y):
    """Test rows of a splitter; refused if it splits differently every time."""
    rows = np.zeros((y.size, 1))
    try:
        found = [[as_rows(test) for _, test in splitter.split(rows, y)] for _ in range(2)]
    except (TypeError, ValueError) as error:
        refuse_if(
            True,
            "folds",
            f"folds={splitter!r} cannot split these rows ({error}). Give the test rows of every "
            "fold: folds=[test for _, test in cv.split(X, y, groups)].",
        )
    refuse_if(
        len(found[0]) != len(found[1]) or not all(map(np.array_equal, *found)),
        "folds",
        f"folds={splitter!r} splits differently every time, so nobody knows the folds of these "
        "predictions: give it a random_state, or the test rows of every fold.",
    )
    return found[0]


def _of_tests(entries, n):
    """Test rows of every fold, or pairs of training and test rows as splitters give them."""
    pairs = all(isinstance(part, tuple) and len(part) == 2 for part in entries)
    tests = [as_rows(as_array("folds", part[1] if pairs else part), n) for part in entries]
    refuse_if(
        any(test.ndim != 1 or (test.size and test.max() >= n) for test in tests),
        "folds",
        f"{_HOW}; got rows beyond the {n} of y_true.",
    )
    return tests


def _repeats(tests, n, all_rows):
    """How often every tested row is tested."""
    number = np.bincount(np.concatenate(tests), minlength=n)
    number = number if all_rows else number[number > 0]
    refuse_if(
        number.min() != number.max() or number.min() == 0,
        "folds",
        f"rows are tested between {number.min()} and {number.max()} times: every row must be "
        "tested equally often. Rows that no fold tests have to be left out; folds of ShuffleSplit "
        "go to compare_cv.",
    )
    refuse_if(
        len(tests) < 2 * number.min(),
        "folds",
        f"at least two folds are needed, got {len(tests) / number.min():g}.",
    )
    return int(number.min())
