"""Counting: checks of counts, and from true and predicted labels to confusion matrices."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from skuncertain._numerics.row_weights import RowWeights
from skuncertain._utils.typing import LabelLike, MetricLike
from skuncertain._utils.validation import as_array, as_numbers, refuse_if, refuse_mask
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._gradients import effective_matrix, rows_behind
from skuncertain.metrics._groups import encode_groups, merged_groups, place_sums
from skuncertain.metrics._labels import (
    as_labels,
    check_targets,
    complete_single_label,
    encode,
    sorted_labels,
)
from skuncertain.metrics._registry import count_metric
from skuncertain.posteriors._base import plain

_FIRST = 1000  # groups


def check_whole(name, value):
    """Return whole numbers >= 0 as an array of integers."""
    array = as_array(name, value)
    refuse_if(
        array.dtype.kind == "b" or array.dtype.kind not in "iuf",
        name,
        f"{name} must hold whole numbers, each at most 2**53, got {{value}}.",
        value,
    )
    refuse_if(
        not np.all(np.isfinite(array)),
        name,
        f"{name} must be finite, but there is NaN or infinity in it.",
    )
    refuse_if(np.any(array < 0), name, f"{name} must be >= 0, got {array.min(initial=0)}.")
    if array.dtype.kind == "f":
        whole = np.rint(array)
        if np.any(whole != array):
            worst = array.ravel()[np.argmax(np.abs(whole - array).ravel())]
            raise InvalidParameterError(
                f"{name} must be whole numbers of rows, got {worst:g}. A normalised matrix has "
                "lost the sample size, on which every interval depends: pass the raw counts "
                "(confusion_matrix(..., normalize=None)).",
                parameter=name,
            )
    if np.any((array.astype(float) if array.dtype.kind == "f" else array) > 2**53):
        raise InvalidParameterError(
            f"{name} must be at most 2**53 to be exact, got {array.max():g}.", parameter=name
        )
    return array.astype(np.int64)


def fitting_counts(what, **given):
    """Whole numbers of several parameters, broadcast against each other."""
    cells = {name: check_whole(name, cell) for name, cell in given.items()}
    try:
        return np.broadcast_arrays(*cells.values())
    except ValueError:
        shapes = ", ".join(f"{name} {cell.shape}" for name, cell in cells.items())
        raise InvalidParameterError(
            f"{what} must have shapes that fit, got {shapes}.", parameter=next(iter(given))
        ) from None


def check_counts(counts):
    """Return confusion matrices ``(..., C, C)`` as an array of integers."""
    refuse_mask("counts", counts)
    try:
        array = np.asarray(counts)
    except ValueError as error:  # ragged
        raise InvalidParameterError(
            "counts must be a rectangular array of whole numbers.", parameter="counts"
        ) from error
    refuse_if(
        array.dtype == object,
        "counts",
        "counts must be a rectangular array of whole numbers, each at most 2**53.",
    )
    refuse_if(
        array.ndim < 2 or array.shape[-1] != array.shape[-2],
        "counts",
        f"counts must have shape (..., C, C), rows true, columns predicted; got shape "
        f"{array.shape}. A two-by-two table goes in with ConfusionCounts.from_binary.",
    )
    refuse_if(
        array.shape[-1] < 2,
        "counts",
        f"counts need at least two classes, got a matrix of {array.shape[-1]} x "
        f"{array.shape[-1]}. If all rows are of one class, name both classes: "
        "confusion_matrix(..., labels=[...]).",
    )
    return check_whole("counts", array)


def count_labels(y_true, y_pred, labels=None, sample_weight=None):
    """Confusion matrix of two columns of labels, and the labels of its classes.

    By default the classes are the labels that occur. With weights that are not all 1 it is
    `RowWeights` in place of the matrix.
    """
    given = y_true, y_pred
    y_true, y_pred = check_targets(y_true, y_pred)
    found = None if sample_weight is not None else count_pairs(y_true, y_pred)
    if labels is None:
        labels = sorted_labels(y_true, y_pred) if found is None else found[0]
        if len(labels) == 1:
            labels = complete_single_label(labels, *given)
    labels = as_labels(labels)
    size = len(labels)
    if found is not None and set(found[0]) <= set(labels):
        counts = np.zeros((size, size), dtype=np.int64)
        index = [labels.index(label) for label in found[0]]
        counts[np.ix_(index, index)] = found[1]
        return counts, labels
    cell = _cells(y_true, y_pred, labels)
    if sample_weight is None:
        counts = np.bincount(cell, minlength=size**2)
    else:
        weight = _check_weights(sample_weight, cell.size)
        if np.any(weight != 1):
            return RowWeights.of_cells(cell, weight, (size, size)), labels
        counts = np.bincount(cell, minlength=size**2)
    return counts.reshape(size, size), labels


def _cells(y_true, y_pred, labels):
    """Index of the cell of every row in the flat matrix."""
    return encode(y_true, labels, "y_true") * len(labels) + encode(y_pred, labels, "y_pred")


def _class_indices(y_true, y_pred, labels):
    """Columns of whole numbers that are the index of the class plus a number, and that number.

    All labels are known to be among these. Labels in a row, such as 0 and 1, need no copy.
    """
    size, low = len(labels), labels[0]
    whole = all(np.can_cast(y.dtype, np.int64) for y in (y_true, y_pred))
    if whole and list(labels) == [low + k for k in range(size)] and abs(low) <= 2**31:
        return y_true, y_pred, int(low)
    return encode(y_true, labels, "y_true"), encode(y_pred, labels, "y_pred"), 0


def count_pairs(y_true, y_pred):
    """Labels that occur, and the confusion matrix of them, for whole numbers in a small range.

    One pass over the rows; None if the labels are of another kind.
    """
    kinds = {y.dtype.kind for y in (y_true, y_pred)}
    if kinds not in ({"b"}, {"i"}, {"u"}):
        return None
    ends = [(int(y.min()), int(y.max())) for y in (y_true, y_pred)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    span = high - low + 1
    if span > 256 or max(abs(low), abs(high)) > 2**31:
        return None
    cell = y_true.astype(np.intp)
    cell *= span
    cell += y_pred.astype(np.intp, copy=False)
    cell -= low * (span + 1)
    matrix = np.bincount(cell, minlength=span * span).reshape(span, span)
    present = np.flatnonzero(matrix.sum(axis=0) + matrix.sum(axis=1))
    label = bool if kinds == {"b"} else int
    return [label(value + low) for value in present], matrix[np.ix_(present, present)]


def _check_weights(sample_weight, size):
    weight = as_numbers("sample_weight", sample_weight)
    refuse_if(
        weight.ndim != 1,
        "sample_weight",
        f"sample_weight must have shape ({size},), got shape {weight.shape}.",
    )
    refuse_if(
        weight.size != size,
        "sample_weight",
        f"sample_weight must have {size} entries, got {weight.size}.",
    )
    refuse_if(
        not np.all(np.isfinite(weight)) or np.any(weight < 0) or not np.any(weight),
        "sample_weight",
        "sample_weight must be finite, >= 0 and not all zero.",
    )
    return weight


class GroupedRows:
    """True and predicted labels of rows that come in groups."""

    def __init__(self, y_true, y_pred, groups, labels):
        self.y_true, self.y_pred = check_targets(y_true, y_pred)
        self.labels = labels
        self.codes, self.n_groups = encode_groups(groups, self.y_true.size)

    @cached_property
    def table(self):
        """Rows per group and cell of the flat matrix, (groups, C * C)."""
        size = len(self.labels)
        y_true, y_pred, low = _class_indices(self.y_true, self.y_pred, self.labels)
        place = self.codes * size  # one array of the rows' length, worked on in place
        place += y_true
        place *= size
        place += y_pred
        if low:
            place -= low * (size + 1)
        return place_sums(place, self.n_groups, size**2)

    @cached_property
    def merged(self):
        """Distinct rows of the table, and how many groups have them."""
        return merged_groups(self.table)

    @cached_property
    def size_if_alike(self):
        """Rows per group if all groups are of this size and each is in one cell; else 0.

        Such groups are as good as single rows.
        """
        size, rest = divmod(self.codes.size, self.n_groups)
        if rest or size == 1:
            return 0 if rest else 1
        # Most tables of other groups say so in their first rows.
        few = self.table[:_FIRST].max(axis=1)
        pure = self.table.max(axis=1) if _all_equal(few, size) else few
        return size if _all_equal(pure, size) else 0


def _all_equal(values, value):
    return bool(np.all((values if isinstance(values, np.ndarray) else values.data) == value))


class HasRowWeights:
    """Base of ConfusionCounts: rows with weights, and what they are worth."""

    counts: np.ndarray
    labels: tuple
    pos_label: Any
    _weights: RowWeights | None
    _make: Any
    positive_index: Any

    @property
    def weighted(self) -> bool:
        """Whether the rows had weights that are not all 1."""
        return self._weights is not None

    @property
    def _cells(self):
        """Counts, or the weights of rows."""
        return self.counts if self._weights is None else self._weights

    @property
    def _row_weights(self) -> RowWeights:
        """Sums of weights, their squares and rows in every cell; counted rows have the weight 1."""
        return RowWeights.of_counts(self.counts) if self._weights is None else self._weights

    def _apply(self, function, labels=None, pos_label=None):
        """Counts after adding or selecting cells of all sums alike."""
        cells = self._cells
        new = cells.apply(function) if self.weighted else function(cells)
        if labels is None:
            labels, pos_label = self.labels, self.pos_label
        return self._make(new, labels, pos_label)

    def _matrix_for(self, metrics, positive, prevalence=None):
        """Matrix of floats on which a posterior of the metrics rests.

        Without weights these are the counts. With weights they have the size of the metric; that of
        several together is the smallest.
        """
        if self._weights is None:
            return self.counts.astype(float)
        found = [effective_matrix(self._weights, m, positive, prevalence) for m in metrics]
        return np.take_along_axis(
            np.stack(found),
            np.argmin([m.sum(axis=(-2, -1), keepdims=True) for m in found], axis=0)[None],
            axis=0,
        )[0]

    @classmethod
    def from_dict(cls, known: Any) -> Any:
        """Counts from their plain representation.

        Parameters
        ----------
        known : dict
            What `to_dict` returned, also after a journey through JSON.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        needed, names = ("counts", "labels", "pos_label"), ("total", "squares", "cubes", "rows")
        weights = known.get("weights") if isinstance(known, dict) else None
        complete = isinstance(known, dict) and all(name in known for name in needed)
        if weights is not None:
            complete = complete and all(name in weights for name in (*names, "exponent"))
        refuse_if(
            not complete,
            "known",
            "known must be what ConfusionCounts.to_dict returned, got {value}.",
            known,
        )
        counted = weights is None
        cells = check_counts(known["counts"]) if counted else RowWeights.from_dict(weights)
        refuse_if(
            not counted and not cells.sound(),
            "known",
            "the weights of known must be sums of powers of weights for every cell of its tables.",
        )
        return cls._make(cells, known["labels"], known["pos_label"])

    @classmethod
    def stack(cls, parts: Any) -> Any:
        """Put counts of the same labels together, such as those of folds.

        Parameters
        ----------
        parts : sequence of ConfusionCounts
            Of one shape; weights of their rows have one scale.

        Returns
        -------
        ConfusionCounts
            With one more axis of the stack, the first one.
        """
        parts = list(parts) if hasattr(parts, "__iter__") else []
        refuse_if(
            not parts or not all(isinstance(part, HasRowWeights) for part in parts),
            "parts",
            "parts must be ConfusionCounts, at least one, got {value}.",
            parts,
        )
        same = {(part.labels, part.pos_label, part.counts.shape) for part in parts}
        refuse_if(
            len(same) > 1,
            "parts",
            "parts must have the same labels, pos_label and shape. Pass the same labels= when "
            "counting.",
        )
        if any(part.weighted for part in parts):
            cells = RowWeights.stack([part._row_weights for part in parts])
        else:
            cells = np.stack([part.counts for part in parts])
        return cls._make(cells, parts[0].labels, parts[0].pos_label)

    def effective_rows(self, metric: MetricLike, *, pos_label: LabelLike = None) -> Any:
        """Number of rows that the data are worth to a metric.

        Without weights, and with equal ones, it is the number of rows that the metric is made of:
        those of the class for recall, all for accuracy. With weights it is fewer, and depends on
        how the weights go with the errors; never more. The method notes have the formula.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        pos_label : label, default=None
            Positive class, by default that of the counts.

        Returns
        -------
        float or ndarray
            The number, of each matrix.
        """
        found = count_metric(metric)
        positive = self.positive_index(found, pos_label)
        return plain(rows_behind(self._matrix_for([found], positive), found, positive))
