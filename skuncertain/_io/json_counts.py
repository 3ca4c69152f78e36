"""Confusion matrices in JSON: one, or one per fold of a cross-validation."""

import json

import numpy as np

from skuncertain._io.csv_counts import MOST_LABELS, refuse_file
from skuncertain._io.labels import labels_like, labels_of
from skuncertain._io.search_results import unique_keys
from skuncertain._utils.validation import quoted, refuse_if
from skuncertain.exceptions import TableFileError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels

_MOST_CELLS = 2**24  # of all folds together: 128 MiB
_FORM = (
    "lists of rows, [[6, 2], [0, 26]]; one such matrix per fold, [[[6, 2], [0, 26]], ...]; or "
    '{"counts": either of them, "labels": [...], "pos_label": ...}'
)


def read_json_matrix(text, name, rows, labels, pos_label, folds):
    """Counts of a matrix or, if `folds` says that there may be several, of all of them."""
    try:
        found = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise TableFileError(f"{name} is not JSON: {error}.") from None
    about = found if isinstance(found, dict) else {"counts": found}
    unknown = [key for key in about if key not in ("counts", "labels", "pos_label")]
    refuse_file(
        unknown or "counts" not in about,
        f"{name} must hold confusion matrices: {_FORM}; got the keys {quoted(list(about))}.",
    )
    matrix = _matrices(about["counts"], name)
    if matrix.ndim == 3:
        _check_folds(matrix, name, folds)
    matrix = np.swapaxes(matrix, -2, -1) if rows == "predicted" else matrix
    size, classes = matrix.shape[-1], about.get("labels")
    if classes is None:  # the file has no names: those of the caller are in its order
        classes, labels = _named(labels, size, name), None
    plain = isinstance(classes, list) and len(classes) == size
    plain = plain and all(isinstance(label, str | int) for label in classes)
    refuse_file(
        not plain or len(set(map(str, classes))) < size,
        f"{name}: labels must be {size} different texts or whole numbers, got {quoted(classes)}.",
    )
    if pos_label is None:
        pos_label = about.get("pos_label")
        refuse_file(
            pos_label is not None and pos_label not in classes,
            f"{name}: pos_label must be one of its labels, got {quoted(pos_label)}.",
        )
    return in_order(matrix, as_labels(classes), labels, pos_label, name)


def _named(labels, size, name):
    """Classes of a file without names."""
    if labels is None:
        return list(range(size))
    texts = [str(label) for label in labels]
    text = f"labels must name the {size} classes of {name}, got {quoted(texts)}."
    refuse_if(len(texts) != size, "labels", text)
    found = labels_of([texts], ["the labels"], name, labels=texts)
    return [found[text] for text in texts]


def in_order(matrix, classes, labels, pos_label, name):
    """Counts of matrices with the `classes`, in the order of `labels` if there are any."""
    if labels is not None:
        order = as_labels(labels_like(labels, classes))
        text = f"labels must be those of {name}, {list(classes)}, got {list(order)}."
        refuse_if(sorted(map(str, order)) != sorted(map(str, classes)), "labels", text)
        place = {label: k for k, label in enumerate(classes)}
        places = [place[label] for label in order]
        matrix, classes = matrix[..., places, :][..., places], order
    if pos_label is not None:
        (pos_label,) = labels_like([pos_label], classes)
    return ConfusionCounts(matrix, labels=classes, pos_label=pos_label)


def refuse_large(n_folds, n_classes, name):
    """Refuse folds that would fill the memory with zeros."""
    refuse_file(
        n_folds * n_classes**2 > _MOST_CELLS,
        f"{name} holds {n_folds:,} folds of {n_classes:,} classes, which are more than "
        f"{_MOST_CELLS:,} cells: join folds, or classes.",
    )


def _check_folds(matrix, name, allowed):
    n_folds = len(matrix)
    refuse_file(
        not allowed,
        f"{name} holds {n_folds} matrices, one per fold, but one is needed here: add them up.",
    )
    refuse_file(
        n_folds < 2,
        f"{name} holds one fold only: a cross-validation has at least two. Leave the outer "
        "brackets out for one test set.",
    )
    refuse_file(
        n_folds > MOST_LABELS,
        f"{name} holds {n_folds:,} folds; at most {MOST_LABELS:,} can be read. Join small folds "
        "to larger ones, such as those of leave-one-out.",
    )


def _matrices(found, name):
    """Array of shape (C, C) or (folds, C, C) of whole numbers."""
    depth, part = 0, found
    while isinstance(part, list) and part and depth < 4:
        depth, part = depth + 1, part[0]
    refuse_file(depth not in (2, 3), f"{name} must hold confusion matrices: {_FORM}.")
    matrices = found if depth == 3 else [found]
    size = len(matrices[0])
    if depth == 3:
        refuse_large(len(matrices), size, name)
    for k, matrix in enumerate(matrices):
        where = f"{name}, matrix {k + 1}" if depth == 3 else name
        square = isinstance(matrix, list) and len(matrix) == size
        square = square and all(isinstance(row, list) and len(row) == size for row in matrix)
        refuse_file(
            not square or size < 2,
            f"{where}: all rows and columns must be those of the same classes, of at least two; "
            f"the first matrix has {size} row{'s' * (size != 1)}.",
        )
        for row in matrix:
            for number in row:
                _check_count(number, where)
    return np.array(found, dtype=np.float64).astype(np.int64)


def _check_count(number, where):
    """Refuse what is no count; 3.0 is one, as some programs write it."""
    real = isinstance(number, int | float) and not isinstance(number, bool)
    whole = real and 0 <= number <= 2**53 and number == int(number)
    refuse_file(
        not whole,
        f"{where}: {quoted(number)} is not a count; counts are whole numbers from 0 to 2**53. "
        "Shares have lost the sample size: use the raw counts.",
    )
