"""Keys of what the counts scorer returns, and reading it back."""

import re

import numpy as np

from skuncertain._utils.validation import as_numbers, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import two_by_two
from skuncertain.posteriors._base import plain

BINARY_KEYS = ("tn", "fp", "fn", "tp")
_RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")
MOMENTS = ("variance", "third", "n")  # of a metric of scores or probabilities, beside its value


def cell_keys(size):
    """Keys of all cells in the scorer's dict, for more than two classes."""
    return [f"n_{true}_{predicted}" for true in range(size) for predicted in range(size)]


def is_count_key(key: str) -> bool:
    """Whether a key of the scorer's dict is a count or a moment, and no score."""
    counted = key in (*BINARY_KEYS, "n") or key.startswith(("n_", "tp_", "fp_", "fn_"))
    return counted or is_moment_key(key)


def is_moment_key(key: str) -> bool:
    """Whether a key of the scorer's dict goes with a score: its variance, third moment or rows."""
    return key.endswith(tuple(f"__{moment}" for moment in MOMENTS))


def moment_keys(key: str) -> list[str]:
    """Keys of what goes with a score of scores or probabilities."""
    return [f"{key}__{moment}" for moment in MOMENTS]


def moments_of(columns, key):
    """Value, variance, third moment and rows of a score in the scorer's columns, or None."""
    keys = [key, *moment_keys(key)]
    return _alike(columns, keys) if all(name in columns for name in keys) else None


def _alike(columns, keys):
    """The columns as arrays of floats of one shape."""
    arrays = [as_numbers("cv_results", columns[key], what=f"numbers of {key!r}") for key in keys]
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{k!r} {a.shape}" for k, a in zip(keys, arrays, strict=True))
        raise InvalidParameterError(
            f"cv_results must hold as many numbers of every key, got {shapes[:200]}.",
            parameter="cv_results",
        )
    return arrays


def has_positive(columns):
    """Whether the counts of two classes tell which one is positive: it is then the last."""
    return all(key in columns for key in BINARY_KEYS)


def numbered_labels(size, oriented):
    """Labels of classes whose names are not known; two have a positive one only if oriented."""
    return tuple(range(size)) if size > 2 or oriented else ("class 0", "class 1")


def read_cells(columns):
    """Matrices ``(..., C, C)`` from arrays under the scorer's keys, or None if they are not there.

    Classes are in the order of the labels; of two classes with a positive one that is the last.
    """
    if has_positive(columns):
        tn, fp, fn, tp = _alike(columns, BINARY_KEYS)
        return two_by_two(tp, fn, fp, tn)
    found = [match for key in columns if (match := re.fullmatch(r"n_(\d+)_(\d+)", str(key)))]
    if not found:
        return None
    size = 1 + max(int(index) for match in found for index in match.groups())
    refuse_if(
        len(found) != size**2,
        "cv_results",
        f"the results hold {len(found)} of the {size**2} cells of {size} classes: a fold "
        "lacked a class. Name all classes: ConfusionCountsScorer(labels=[...]).",
    )
    cells = _alike(columns, cell_keys(size))
    return np.stack(cells, axis=-1).reshape(*cells[0].shape, size, size)


def fold_score(counts, metric):
    """Metric of the counts of folds, as scikit-learn's scorers give it.

    0/0 is 0. A likelihood ratio without a denominator, as of a fold without a false positive, is 1:
    an infinite one would leave no mean over folds.
    """
    if metric.base.removeprefix("neg_") not in _RATIOS:
        return counts.score(metric, zero_division=0.0)
    matrices = counts.counts.astype(float)
    value = metric.evaluate(matrices, positive=counts.positive_index(metric))
    undefined = -1.0 if metric.negated is not None else 1.0
    return plain(np.where(np.isfinite(value), value, undefined))
