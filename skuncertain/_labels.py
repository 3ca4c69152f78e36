"""Checks of counts, labels and targets."""

import numbers

import numpy as np
from sklearn.utils.multiclass import type_of_target

from skuncertain._validation import as_numbers, nearest_name, rectangular, refuse_mask, shown


def check_whole(name, value):
    array = rectangular(name, value)
    if array.dtype.kind == "b" or array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold whole numbers, each at most 2**53, got {shown(value)}.")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, but there is NaN or infinity in it.")
    if np.any(array < 0):
        raise ValueError(f"{name} must be >= 0, got {array.min()}.")
    if array.dtype.kind == "f":
        whole = np.rint(array)
        if np.any(whole != array):
            worst = array.ravel()[np.argmax(np.abs(whole - array).ravel())]
            raise ValueError(
                f"{name} must be whole numbers of rows, got {worst:g}. A normalised matrix has "
                "lost the sample size, on which every interval depends: pass the raw counts "
                "(confusion_matrix(..., normalize=None))."
            )
    if np.any((array.astype(float) if array.dtype.kind == "f" else array) > 2**53):
        raise ValueError(f"{name} must be at most 2**53 to be exact, got {array.max():g}.")
    return array.astype(np.int64)


def check_counts(counts):
    refuse_mask("counts", counts)
    try:
        array = np.asarray(counts)
    except ValueError as error:  # ragged
        raise ValueError("counts must be a rectangular array of whole numbers.") from error
    if array.dtype == object:
        raise TypeError("counts must be a rectangular array of whole numbers, each at most 2**53.")
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ValueError(
            f"counts must have shape (..., C, C), rows true, columns predicted; got shape "
            f"{array.shape}. A two-by-two table goes in with ConfusionCounts.from_binary."
        )
    if array.shape[-1] < 2:
        raise ValueError(
            f"counts need at least two classes, got a matrix of {array.shape[-1]} x "
            f"{array.shape[-1]}. If all rows are of one class, name both classes: "
            "confusion_matrix(..., labels=[...])."
        )
    return check_whole("counts", array)


def frame_labels(frame):
    """Labels of a table of counts with the true classes in its index."""
    rows, columns = list(frame.index), list(frame.columns)
    if rows != columns:
        raise ValueError(
            "a table of counts must have the same labels, in the same order, in its index (true) "
            f"and columns (predicted); got {rows} and {columns}. Drop margins, and reindex."
        )
    return rows


def as_labels(labels):
    if isinstance(labels, str | bytes | set | frozenset):  # sets have no order
        what = "string" if isinstance(labels, str) else type(labels).__name__
        raise TypeError(f"labels must be a sequence of labels, got the {what} {shown(labels)}.")
    try:
        values = tuple(labels)
    except (TypeError, ValueError):
        raise TypeError(f"labels must be a sequence of labels, got {shown(labels)}.") from None
    values = tuple(plain_label(label) for label in values)
    if len(values) < 2:
        raise ValueError(f"labels must name at least two classes, got {shown(list(values))}.")
    if len(set(values)) != len(values):
        raise ValueError(f"labels must be distinct, got {shown(list(values))}.")
    return values


def plain_label(label, name="labels"):
    """Python value of a label, so that 1, np.int64(1) and np.float64(1.0) are one label."""
    value = label.item() if isinstance(label, np.generic) else label
    try:
        hash(value)
    except (TypeError, ValueError):  # the latter of memory that can be written to
        raise TypeError(f"{name} must be numbers or strings, got {shown(label)}.") from None
    if _is_missing(value):
        text = "NaN" if isinstance(value, float) else repr(value)
        raise ValueError(f"{name} must not be {text}: drop or name the missing ones.")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and abs(value) > 10**300:  # Python would not even print it
        raise ValueError(f"{name} must be strings or numbers within 1e300, got {shown(value)}.")
    return value


def check_pos_label(labels, pos_label):
    if pos_label is not None:
        label = plain_label(pos_label, "pos_label")
        if label not in labels:
            hint = nearest_name(label, labels)
            raise ValueError(
                f"pos_label {shown(pos_label)} is not one of the labels "
                f"{shown(list(labels))}.{hint}"
            )
        return labels[labels.index(label)]
    if len(labels) > 2:
        return None
    for label in labels:
        if not isinstance(label, str) and label == 1:  # 1, 1.0 and True
            return label
    return labels[-1]


REMEDIES = {
    "continuous": "Turn scores into labels with a threshold.",
    "multilabel": "Multilabel targets have one confusion matrix per label.",
    "multiclass": "Multioutput targets have one confusion matrix per column.",
}


def check_targets(y_true, y_pred):
    checked = []
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        y = to_numpy(name, y)
        if y.dtype.kind in "mM":
            raise TypeError(
                f"{name} must hold numbers or strings, got dates or times ({y.dtype}): name them."
            )
        whole = y.ndim == 1 and y.dtype.kind in "iub"  # whole numbers are labels
        if y.size and y.ndim <= 2 and not whole:
            kind = type_of_target(y, input_name=name)
            if kind not in ("binary", "multiclass"):
                raise ValueError(
                    f"{name} must hold one class label per row, got {kind} values. "
                    + REMEDIES.get(kind.partition("-")[0], "Labels are whole numbers or strings.")
                )
        checked.append(one_column(name, y))
    if checked[0].shape != checked[1].shape:
        raise ValueError(
            f"y_true and y_pred must have the same length, got {checked[0].size} and "
            f"{checked[1].size}."
        )
    if checked[0].size == 0:
        raise ValueError("y_true and y_pred are empty: there is nothing to count.")
    return checked


def _is_missing(value):
    """Whether a label is None, NaN or pandas' NA, which is not even equal or unequal to itself."""
    unequal = value is None or value != value
    return not isinstance(unequal, bool | np.bool_) or bool(unequal)


def _missing_text(name, number):
    rows = f"{number} missing label{'s' * (number != 1)}"
    return f"{name} has {rows} (None, NaN or NA): drop those rows, or name their class."


def to_numpy(name, y):
    """Array of labels; pandas' nullable and categorical types become plain ones."""
    array = rectangular(name, y)
    if array.ndim == 0:
        raise TypeError(f"{name} must be a sequence of labels, got {shown(y)}.")
    texts = array.dtype.kind == "U" and isinstance(y, list | tuple)
    if texts and not all(isinstance(value, str) for value in y):
        array = np.array(y, dtype=object)  # numpy had turned None and 1 into text
    if array.dtype == object:
        missing = [_is_missing(value) for value in array.ravel().tolist()]
        if any(missing):
            raise ValueError(_missing_text(name, sum(missing)))
        kinds = {type(value) for value in array.ravel().tolist()}
        if all(issubclass(kind, str) for kind in kinds):
            array = array.astype(str)
        elif all(issubclass(kind, numbers.Number) for kind in kinds):
            array = np.array(array.tolist())
        else:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(f"{name} must hold numbers or strings, all of one type, got {found}.")
    elif array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(_missing_text(name, int(np.isnan(array).sum())))
    if array.dtype.kind == "c":  # in the words of scikit-learn
        raise ValueError(f"{name} must hold labels. Complex data not supported, got {array.dtype}.")
    if array.dtype.kind == "V":
        raise TypeError(f"{name} must hold numbers or strings, got an array of {array.dtype}.")
    if array.dtype.kind == "f" and not np.all(np.abs(array.astype(float)) <= 2**53):
        raise ValueError(f"{name} must hold class labels, got a number beyond 2**53.")
    return array


def one_column(name, array):
    """Shape (n,), also from one column."""
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must have one entry per row, got shape {array.shape}.")
    return array


_SPAN = 4096  # of whole-number labels that are counted instead of sorted


def _from_smallest(y):
    """Whole-number labels less the smallest one, and that one; or None if they span too much."""
    if y.dtype.kind not in "iub" or y.size == 0:
        return None
    y = y.view(np.uint8) if y.dtype.kind == "b" else y
    low, high = int(y.min()), int(y.max())
    if high - low >= _SPAN:
        return None
    return y.astype(np.intp) - low if abs(low) < 2**62 else (y - y.min()).astype(np.intp), low


def _distinct(y):
    """Sorted labels that occur, of the type of `y`."""
    found = _from_smallest(y)
    if found is None:
        return np.unique(y)
    above, low = found
    values = np.flatnonzero(np.bincount(above)).tolist()
    return np.array([value + low for value in values], dtype=y.dtype)


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


def sorted_labels(y_true, y_pred):
    values = set(map(plain_label, _distinct(y_true))) | set(map(plain_label, _distinct(y_pred)))
    if len({isinstance(value, str) for value in values}) > 1:
        raise TypeError(
            "y_true and y_pred mix strings and numbers: "
            f"{', '.join(sorted(shown(value, 18) for value in values)[:6])}. Make them one type."
        )
    return sorted(values)


def complete_single_label(labels):
    """Second class when all rows are of one, as far as it is certain."""
    (only,) = labels
    partner = {0: 1, 1: 0, -1: 1}.get(only) if not isinstance(only, str) else None
    if partner is None:
        raise ValueError(
            f"only the label {only!r} occurs: give labels=[...] with all classes, otherwise there "
            "is no confusion matrix."
        )
    if isinstance(only, bool):
        return [False, True]
    return sorted([only, partner])


def encode(y, labels, name):
    """Index of every label; labels match by value, whatever their numpy type."""
    found = _from_smallest(y)
    if found is None:
        unique, inverse = np.unique(y, return_inverse=True)
    else:
        unique = _distinct(y)
        inverse = _ranks(found, unique)
    position = {label: index for index, label in enumerate(labels)}
    plain = [plain_label(value) for value in unique]
    unknown = [value for value in plain if value not in position]
    if unknown:
        hint = nearest_name(unknown[0], labels)
        raise ValueError(
            f"{name} holds the label {shown(unknown[0])}, which is not in "
            f"labels={shown(list(labels))}.{hint}"
        )
    return np.array([position[value] for value in plain])[inverse.ravel()]


def _ranks(found, unique):
    """Index of every label among the sorted ones, through a table of the few possible values."""
    above, low = found
    table = np.zeros(int(above.max()) + 1, dtype=np.intp)
    table[[int(value) - low for value in unique]] = np.arange(unique.size)
    return table[above]


def encode_together(y_true, predictions, labels=None, pos_label=None, names=None):
    """Codes of the true labels and of several models' predictions, and all labels.

    `names` say in errors whose prediction holds a label that is not among `labels`.
    """
    pairs = [check_targets(y_true, predicted) for predicted in predictions]
    if labels is None:
        found = {label for pair in pairs for label in sorted_labels(*pair)}
        if len(found) == 1 and pos_label is not None:
            found.add(plain_label(pos_label))
        labels = sorted(found)
    labels = as_labels(labels)
    names = [f"prediction {k}" for k in range(len(pairs))] if names is None else names
    codes = [encode(p, labels, name) for (_, p), name in zip(pairs, names, strict=True)]
    return encode(pairs[0][0], labels, "y_true"), codes, labels


def positive_of(metric, labels, pos_label):
    """Index of the positive class, or None for a metric that needs none."""
    pos_label = check_pos_label(labels, pos_label)
    positive = None if pos_label is None else labels.index(pos_label)
    if metric.average == "binary":
        return metric.positive_index(len(labels), positive)
    return positive


def check_weights(sample_weight, size):
    weight = as_numbers("sample_weight", sample_weight)
    if weight.ndim != 1:
        raise ValueError(f"sample_weight must have shape ({size},), got shape {weight.shape}.")
    if weight.size != size:
        raise ValueError(f"sample_weight must have {size} entries, got {weight.size}.")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0) or weight.sum() == 0:
        raise ValueError("sample_weight must be finite, >= 0 and not all zero.")
    return weight / weight.max()  # their scale is irrelevant, their squares must not overflow


def group_matrices(y_true, y_pred, groups, labels):
    """Confusion matrix of every group, shape (G, C, C)."""
    y_true, y_pred = check_targets(y_true, y_pred)
    groups = one_column("groups", to_numpy("groups", groups))
    if groups.shape != y_true.shape:
        raise ValueError(f"groups must have {y_true.size} entries, got {groups.size}.")
    names, index = np.unique(groups, return_inverse=True)
    if names.size < 2:
        raise ValueError("groups must name at least two groups, got one.")
    size = len(labels)
    cell = encode(y_true, labels, "y_true") * size + encode(y_pred, labels, "y_pred")
    flat = np.bincount(index * size**2 + cell, minlength=names.size * size**2)
    return flat.reshape(names.size, size, size)
