"""Labels: checks, and the index of every label among all of them."""

import numbers

import numpy as np
from sklearn.utils.multiclass import type_of_target

from skuncertain._utils.validation import as_array, nearest_name, quoted, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import AVERAGED
from skuncertain.metrics._registry import is_symmetric


def frame_labels(frame):
    """Labels of a table of counts with the true classes in its index."""
    rows, columns = list(frame.index), list(frame.columns)
    refuse_if(
        rows != columns,
        "counts",
        "a table of counts must have the same labels, in the same order, in its index (true) "
        f"and columns (predicted); got {rows} and {columns}. Drop margins, and reindex.",
    )
    return rows


def as_labels(labels):
    """Return the labels of all classes as a tuple of at least two distinct ones."""
    what = "string" if isinstance(labels, str) else type(labels).__name__
    refuse_if(
        isinstance(labels, str | bytes | set | frozenset),  # sets have no order
        "labels",
        f"labels must be a sequence of labels, got the {what} {{value}}.",
        labels,
    )
    try:
        values = tuple(labels)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"labels must be a sequence of labels, got {quoted(labels)}.", parameter="labels"
        ) from None
    listed = [plain_label(label) for label in values]
    refuse_if(
        len(listed) < 2, "labels", "labels must name at least two classes, got {value}.", listed
    )
    refuse_if(
        len(set(listed)) != len(listed), "labels", "labels must be distinct, got {value}.", listed
    )
    return tuple(listed)


def plain_label(label, name="labels"):
    """Python value of a label, so that 1, np.int64(1) and np.float64(1.0) are one label."""
    value = label.item() if isinstance(label, np.generic) else label
    try:
        hash(value)
    except (TypeError, ValueError):  # the latter of memory that can be written to
        raise InvalidParameterError(
            f"{name} must be numbers or strings, got {quoted(label)}.", parameter=name
        ) from None
    if is_missing(value):
        text = "NaN" if isinstance(value, float) else repr(value)
        raise InvalidParameterError(
            f"{name} must not be {text}: drop or name the missing ones.", parameter=name
        )
    if isinstance(value, float) and value.is_integer():
        return int(value)
    # Python would not even print it
    refuse_if(
        isinstance(value, int) and abs(value) > 10**300,
        name,
        f"{name} must be strings or numbers within 1e300, got {{value}}.",
        value,
    )
    return value


_CODED = ({0, 1}, {-1, 1}, {1, 2})  # pairs of labels of which the larger one is positive


def check_pos_label(labels, pos_label=None, *columns):
    """Return the positive one of the labels, or None if nothing tells which one it is.

    The one place where it is decided. Two classes have a positive one if they are coded as 0 and 1,
    -1 and 1, 1 and 2 or as booleans, or if one of the columns of labels is an ordered categorical:
    the larger one. It is not guessed from the order of names.
    """
    if pos_label is not None:
        label = plain_label(pos_label, "pos_label")
        if label not in labels:
            raise InvalidParameterError(
                f"pos_label {quoted(pos_label)} is not one of the labels "
                f"{quoted(list(labels))}.{nearest_name(label, labels)}",
                parameter="pos_label",
            )
        return labels[labels.index(label)]
    if len(labels) != 2:
        return None
    order = _order(columns)
    if set(labels) <= set(order):
        return max(labels, key=order.index)
    return max(labels) if set(labels) in _CODED else None


def _order(columns):
    """Categories of the first column that is an ordered categorical; none without such."""
    return next((found for found in map(_categories, columns) if found), [])


def _categories(column):
    """Categories of an ordered categorical of pandas or an Enum of polars, in their order."""
    dtype = getattr(column, "dtype", None)
    kind = type(dtype)
    enum = kind.__name__ == "Enum" and kind.__module__.partition(".")[0] == "polars"
    if not enum and getattr(dtype, "ordered", None) is not True:
        return []
    return [plain_label(label) for label in dtype.categories]


def positive_of(metric, labels, pos_label=None, *columns):
    """Index of the positive class; None for a metric that needs none, if there is none.

    A metric of one class is refused without it. `columns` are those of `check_pos_label`.
    """
    label = check_pos_label(labels, pos_label, *columns)
    return index_without(metric, labels) if label is None else labels.index(label)


def index_without(metric, labels):
    """Index that a metric may have although no class is known to be the positive one, or None."""
    if metric.average != "binary":
        return None
    if len(labels) == 2 and is_symmetric(metric):
        return 1  # the other one gives the same
    if len(labels) == 2:
        refuse_nameless(f"metric {metric.name!r}", labels, _average_instead(metric))
    return metric.positive_index(len(labels), None)  # it says what to do


def _average_instead(metric):
    return f", or ask for {metric.base + '_macro'!r}" if metric.base in AVERAGED else ""


def refuse_nameless(what, labels, instead=""):
    """Refuse a question about the positive one of two classes of which none is known to be it."""
    first, second = (quoted(label) for label in labels)
    raise InvalidParameterError(
        f"{what} is about the positive class, and nothing tells whether that is {first} or "
        f"{second}.",
        parameter="pos_label",
        remedy=f"Name it: pos_label={first} or pos_label={second}{instead}.",
    )


REMEDIES = {
    "continuous": "Turn scores into labels with a threshold.",
    "multilabel": "Multilabel targets have one confusion matrix per label.",
    "multiclass": "Multioutput targets have one confusion matrix per column.",
}


def check_targets(y_true, y_pred, predicted="y_pred"):
    """Return true and predicted labels as arrays; `predicted` is what errors call the latter."""
    checked = []
    for name, y in (("y_true", y_true), (predicted, y_pred)):
        y = to_numpy(name, y)
        refuse_if(
            y.dtype.kind in "mM",
            name,
            f"{name} must hold numbers or strings, got dates or times ({y.dtype}): name them.",
        )
        whole = y.ndim == 1 and y.dtype.kind in "iub"  # whole numbers are labels
        if y.size and y.ndim <= 2 and not whole:
            kind = type_of_target(y, input_name=name)
            if kind not in ("binary", "multiclass"):
                raise InvalidParameterError(
                    f"{name} must hold one class label per row, got {kind} values. "
                    + REMEDIES.get(kind.partition("-")[0], "Labels are whole numbers or strings."),
                    parameter=name,
                )
        checked.append(one_column(name, y))
    refuse_if(
        checked[0].shape != checked[1].shape,
        predicted,
        f"y_true and {predicted} must have the same length, got {checked[0].size} and "
        f"{checked[1].size}.",
    )
    refuse_if(
        checked[0].size == 0,
        "y_true",
        f"y_true and {predicted} are empty: there is nothing to count.",
    )
    return checked


def is_missing(value):
    """Whether a label is None, NaN or pandas' NA, which is not even equal or unequal to itself."""
    try:
        unequal = value is None or value != value
    except ArithmeticError:  # a signalling NaN of the decimal module
        return True
    return not isinstance(unequal, bool | np.bool_) or bool(unequal)


def to_numpy(name, y):
    """Array of labels; pandas' nullable and categorical types become plain ones."""
    array = as_array(name, y)
    refuse_if(array.ndim == 0, name, f"{name} must be a sequence of labels, got {{value}}.", y)
    texts = array.dtype.kind == "U" and isinstance(y, list | tuple)
    if texts and not all(isinstance(value, str) for value in y):
        array = np.array(y, dtype=object)  # numpy had turned None and 1 into text
    missing = 0
    if array.dtype == object:
        missing = sum(is_missing(value) for value in array.ravel().tolist())
    elif array.dtype.kind == "f":
        missing = int(np.isnan(array).sum())
    refuse_if(
        missing > 0,
        name,
        f"{name} has {missing} missing label{'s' * (missing != 1)} (None, NaN or NA): drop those "
        "rows, or name their class.",
    )
    if array.dtype == object:
        kinds = {type(value) for value in array.ravel().tolist()}
        if all(issubclass(kind, str) for kind in kinds):
            array = array.astype(str)
        elif all(issubclass(kind, numbers.Number) for kind in kinds):
            array = np.array(array.tolist())
        else:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InvalidParameterError(
                f"{name} must hold numbers or strings, all of one type, got {found}.",
                parameter=name,
            )
    # in the words of scikit-learn
    refuse_if(
        array.dtype.kind == "c",
        name,
        f"{name} must hold labels. Complex data not supported, got {array.dtype}.",
    )
    refuse_if(
        array.dtype.kind == "V",
        name,
        f"{name} must hold numbers or strings, got an array of {array.dtype}.",
    )
    refuse_if(
        array.dtype.kind == "f" and not np.all(np.abs(array.astype(float)) <= 2**53),
        name,
        f"{name} must hold class labels, got a number beyond 2**53.",
    )
    return array


def one_column(name, array, what="entry"):
    """Shape (n,), also from one column."""
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    refuse_if(
        array.ndim != 1, name, f"{name} must have one {what} per row, got shape {array.shape}."
    )
    return array


_SPAN = 4096  # of whole-number labels that are counted instead of sorted


def _distinct(y, inverse=False):
    """Sorted labels that occur, of the type of `y`, and on demand the place of each row's label."""
    whole = y.view(np.uint8) if y.dtype.kind == "b" else y
    small = y.dtype.kind in "iub" and y.size and int(whole.max()) - int(whole.min()) < _SPAN
    if not small:
        return np.unique(y, return_inverse=True) if inverse else (np.unique(y), None)
    low = int(whole.min())
    far = abs(low) >= 2**62  # less the smallest one, labels are small in any case
    above = (whole - whole.min()).astype(np.intp) if far else whole.astype(np.intp) - low
    present = np.bincount(above) > 0
    values = np.array([value + low for value in np.flatnonzero(present).tolist()], dtype=y.dtype)
    return values, (np.cumsum(present) - 1)[above] if inverse else None


def sorted_labels(y_true, y_pred):
    """Return the labels that occur, sorted."""
    values = {plain_label(value) for y in (y_true, y_pred) for value in _distinct(y)[0]}
    if len({isinstance(value, str) for value in values}) > 1:
        raise InvalidParameterError(
            "y_true and y_pred mix strings and numbers: "
            f"{', '.join(sorted(quoted(value, 18) for value in values)[:6])}. Make them one type.",
            parameter="y_true",
        )
    return sorted(values)


def with_positive(labels, pos_label):
    """Sorted labels, with the positive class if all rows are of another one."""
    one = len(labels) == 1 and pos_label is not None
    return sorted({*labels, plain_label(pos_label)} if one else labels)


def complete_single_label(labels, *columns):
    """Second class when all rows are of one, as far as it is certain."""
    (only,) = labels
    order = _order(columns)
    if len(order) == 2 and only in order:
        return sorted(order)
    partner = {0: 1, 1: 0, -1: 1}.get(only) if not isinstance(only, str) else None
    refuse_if(
        partner is None,
        "labels",
        f"only the label {only!r} occurs:",
        remedy="give labels=[...] with all classes, otherwise there is no confusion matrix.",
    )
    return [False, True] if isinstance(only, bool) else sorted([only, partner])


def encode(y, labels, name):
    """Index of every label; labels match by value, whatever their numpy type."""
    unique, inverse = _distinct(y, inverse=True)
    position = {label: index for index, label in enumerate(labels)}
    plain = [plain_label(value) for value in unique]
    unknown = [value for value in plain if value not in position]
    if unknown:
        raise InvalidParameterError(
            f"{name} holds the label {quoted(unknown[0])}, which is not in "
            f"labels={quoted(list(labels))}.{nearest_name(unknown[0], labels)}",
            parameter="labels",
        )
    return np.array([position[value] for value in plain])[inverse.ravel()]


def encode_together(y_true, predictions, labels=None, pos_label=None, names=None, parameter=None):
    """Codes of the true labels and of several models' predictions, and all labels.

    `names` say in errors whose predictions are wrong; `parameter` holds all of them.
    """
    names = [f"prediction {k}" for k in range(len(predictions))] if names is None else names
    try:
        pairs = [
            check_targets(y_true, predicted, name)
            for predicted, name in zip(predictions, names, strict=True)
        ]
    except InvalidParameterError as error:
        if parameter is None or error.parameter == "y_true":
            raise
        raise InvalidParameterError(error.message, parameter, error.remedy) from None
    if labels is None:
        found = {label for pair in pairs for label in sorted_labels(*pair)}
        labels = with_positive(found, pos_label)
    labels = as_labels(labels)
    codes = [encode(p, labels, name) for (_, p), name in zip(pairs, names, strict=True)]
    return encode(pairs[0][0], labels, "y_true"), codes, labels
