"""Tables that people have: files of predictions, and confusion matrices with labels.

What the texts in a file mean as labels is decided in `_io.labels`.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import Any

import numpy as np

from skuncertain._io.csv_counts import (
    count_cells,
    read_rows,
    read_text,
    refuse_file,
    shown_name,
)
from skuncertain._io.json_counts import in_order, read_json_matrix, refuse_large
from skuncertain._io.labels import folds_of, labels_like, labels_of
from skuncertain._utils.typing import LabelLike
from skuncertain._utils.validation import check_choice, nearest_name, quoted
from skuncertain.comparison._paired import PairedCounts
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels, complete_single_label, plain_label

_COUNT = re.compile(r"(0|[1-9]\d*)(\.0*)?", re.ASCII)
_MARGINS = {"total", "totals", "sum", "sums", "all", "margin", "margins"}
_LARGEST_MATRIX = 2**26  # bytes of the file


def read_predictions(
    file: Any,
    *,
    true: str | None = None,
    pred: str | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    progress: Any = None,
) -> ConfusionCounts:
    r"""Count the labels of a table of predictions, however long it is.

    Parameters
    ----------
    file : str, Path or file object
        CSV with a header, also with tabs or semicolons, also compressed with gz; "-" is standard
        input. An open file may be binary or text.
    true, pred : str
        Names of the columns with the true and the predicted labels.
    labels : sequence, default=None
        All classes, in order; by default those that occur, sorted.
    pos_label : label, default=None
        The positive class.
    progress : callable, default=None
        Called with the number of bytes that were read.

    Returns
    -------
    ConfusionCounts
        The counts.

    Examples
    --------
    >>> import io
    >>> from skuncertain._io.tables import read_predictions
    >>> read_predictions(io.StringIO("y,yhat\n1,1\n0,1\n0,0\n"), true="y", pred="yhat").n
    3
    """
    columns = {"true": true, "pred": pred}
    places, numbers, labels, pos_label = _count(file, columns, labels, pos_label, progress)
    matrix = np.zeros((len(labels),) * 2, dtype=np.int64)
    np.add.at(matrix, tuple(places.T), numbers)
    return ConfusionCounts(matrix, labels=labels, pos_label=pos_label)


def read_folds(
    file: Any,
    *,
    true: str | None = None,
    pred: str | None = None,
    fold: str | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    progress: Any = None,
) -> tuple[ConfusionCounts, list]:
    r"""Count the labels of every fold of a cross-validation, however long the table is.

    Parameters
    ----------
    file, true, pred : object
        See `read_predictions`.
    fold : str
        Name of the column that tells in which fold a row was tested; up to 1,000 folds.
    labels, pos_label, progress : object
        See `read_predictions`.

    Returns
    -------
    counts : ConfusionCounts of shape (folds,)
        One matrix per fold.
    names : list
        The folds, sorted: whole numbers if all of them are, otherwise texts.

    Examples
    --------
    >>> import io
    >>> from skuncertain._io.tables import read_folds
    >>> table = io.StringIO("part,y,yhat\na,1,1\na,0,1\nb,0,0\nb,1,1\n")
    >>> counts, names = read_folds(table, true="y", pred="yhat", fold="part")
    >>> counts.n.tolist(), names
    ([2, 2], ['a', 'b'])
    """
    name, columns = shown_name(file), {"true": true, "pred": pred, "fold": fold}
    cells = count_cells(file, columns, progress=progress)
    *seen, parts = _texts(cells, columns)
    folds = folds_of(parts, quoted(fold, 60), name)
    names = list(dict.fromkeys(folds.values()))
    refuse_file(
        len(names) < 2,
        f"the column {quoted(fold, 60)} of {name} names one fold only, {quoted(names[0])}: a "
        "cross-validation has at least two. Without a column of folds it is one test set.",
    )
    columns.pop("fold")
    place, labels, pos_label = places_of(seen, columns, name, labels, pos_label)
    refuse_large(len(names), len(labels), name)
    order = {part: k for k, part in enumerate(names)}
    matrices = np.zeros((len(names), len(labels), len(labels)), dtype=np.int64)
    for (real, said, part), (number, _) in cells.items():
        matrices[order[folds[part]], place[real], place[said]] += number
    return ConfusionCounts(matrices, labels=labels, pos_label=pos_label), names


def read_paired(
    file: Any,
    *,
    true: str | None = None,
    pred: Any = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    progress: Any = None,
) -> PairedCounts:
    """Count the labels of two models that predicted the same rows.

    Parameters
    ----------
    file, true : object
        See `read_predictions`.
    pred : sequence of two str
        Names of the columns with the predictions of a and of b.
    labels, pos_label, progress : object
        See `read_predictions`.

    Returns
    -------
    PairedCounts
        The counts.
    """
    pred_a, pred_b = (None, None) if pred is None else pred
    columns = {"true": true, "pred_a": pred_a, "pred_b": pred_b}
    return PairedCounts(*_count(file, columns, labels, pos_label, progress))


def read_matrix(
    file: Any,
    *,
    rows: str,
    labels: Any = None,
    pos_label: LabelLike = None,
    folds: bool = False,
) -> ConfusionCounts:
    r"""Read a confusion matrix whose first row and first column name the classes.

    Parameters
    ----------
    file : str, Path or file object
        See `read_predictions`. What stands in the corner does not matter. Also JSON: lists of
        rows, or what ``ConfusionCounts.to_dict`` returns.
    rows : {"true", "predicted"}
        What the rows are: published tables come both ways, and nothing in them tells.
    labels : sequence, default=None
        The classes in another order; by default that of the columns.
    pos_label : label, default=None
        The positive class.
    folds : bool, default=False
        Whether JSON may hold several matrices, one per fold; then the counts are a stack.

    Returns
    -------
    ConfusionCounts
        The counts, rows true.

    Examples
    --------
    >>> import io
    >>> from skuncertain._io.tables import read_matrix
    >>> read_matrix(io.StringIO(",ill,well\nill,26,0\nwell,2,6\n"), rows="true", pos_label="ill")
    ConfusionCounts(n=34, pos_label='ill': 26 real positives, 28 predicted positives)
     true \ predicted    ill   well
                  ill     26      0
                 well      2      6
    """
    check_choice("rows", rows, ("true", "predicted"))
    name = shown_name(file)
    text = read_text(file, _LARGEST_MATRIX)
    if text.lstrip()[:1] in ("[", "{"):
        return read_json_matrix(text, name, rows, labels, pos_label, folds)
    (_, header), *body = read_rows(io.StringIO(text), _LARGEST_MATRIX, name)
    found = _matrix_labels(header, body, name, labels)
    columns = [found[text] for text in header[1:]]
    counts: dict = {}
    for line, (text, *numbers) in body:
        told = f"{name}, line {line}: a second row is called {quoted(text.strip())}."
        refuse_file(found[text] in counts, told)
        counts[found[text]] = [_whole(number.strip(), name, line) for number in numbers]
    if len(set(columns)) < len(columns):
        told = quoted([text.strip() for text in header[1:]])
        raise TableFileError(f"{name}: two columns have the same label: {told}.")
    if labels is None:  # who names all classes means them
        _refuse_margins(list(map(str, columns)), list(map(str, counts)), counts.values(), name)
    _check_square(list(map(str, columns)), list(map(str, counts)), name)
    matrix, classes = np.array([counts[label] for label in columns]), tuple(columns)
    if rows == "predicted":
        matrix = matrix.T
    return in_order(matrix, classes, labels, pos_label, name)


def _matrix_labels(header, body, name, labels):
    """``{text: label}`` of the first line and the first column, which may differ in spelling."""
    texts = dict.fromkeys([*header[1:], *(fields[0] for _, fields in body)])
    allowed = {text.strip() for text in texts}  # a class called NA is one: the table says so
    return labels_of([list(texts)], ["the labels"], name, labels=labels, allowed=allowed)


def _whole(text, name, line):
    if not _COUNT.fullmatch(text):
        raise TableFileError(
            f"{name}, line {line}: {quoted(text)} is not a count; counts are whole numbers >= 0, "
            "without separators. Shares have lost the sample size: use the raw counts."
        )
    whole = text.partition(".")[0]
    if len(whole) > 16 or int(whole) > 2**53:
        raise TableFileError(
            f"{name}, line {line}: {quoted(text)} is beyond 2**53, the largest count."
        )
    return int(whole)


def _check_square(columns, rows, name):
    refuse_file(
        len(columns) < 2 or not rows,
        f"{name} must have the labels of at least two classes in its first line and in its first "
        f"column, got the columns {quoted(columns)} and the rows {quoted(rows)}.",
    )
    both = set(columns) & set(rows)
    only = [label for label in columns + rows if label not in both]
    if only:
        hint = nearest_name(only[0], [label for label in columns + rows if label != only[0]])
        if only[0].lower() in _MARGINS:
            hint = " Leave the sums out."
        elif not both:  # such as sick, healthy and positive, negative
            hint = " Call them alike; or, of two classes, give --tp --fn --fp --tn."
        raise TableFileError(
            f"{name} must have the same labels in its first line and in its first column; only one "
            f"of them has {quoted(only[0])}.{hint}"
        )


def _refuse_margins(columns, rows, counts, name):
    """Refuse a first or last row or column that holds the sums of the others.

    Sums have many names. So the numbers decide; a name decides only where the numbers could be
    chance: a row of sums without its column, or a single other class.
    """
    table = np.array(list(counts)).reshape(len(rows), len(columns))
    sum_rows = [label for k, label in enumerate(rows) if _is_sum(table, k)]
    sum_columns = [label for k, label in enumerate(columns) if _is_sum(table.T, k)]
    for kind, found, others in (("row", sum_rows, columns), ("column", sum_columns, rows)):
        for label in found:
            named = label.lower().rstrip(":") in _MARGINS or not label
            both = label in sum_rows and label in sum_columns
            if named or (max(table.shape) > 2 and (both or label not in others)):
                what = "row and the column" if both else kind
                raise TableFileError(
                    f"{name}: the {what} {label!r} hold{'s' * (not both)} the sums of the others, "
                    "which is no class. Leave the sums out; or, if it is a class,",
                    parameter="labels",
                    remedy="name all classes in labels.",
                )


def _is_sum(table, k):
    """Whether row k, the first or the last one, is the sum of the other ones."""
    outer = k in (0, len(table) - 1) and len(table) > 1 and table.any()
    return outer and np.array_equal(2 * table[k], table.sum(axis=0))


def _texts(cells, columns):
    """``{text: lines}`` of every column."""
    seen_in: list = [{} for _ in columns]
    for key, (_, lines) in cells.items():
        for texts, text in zip(seen_in, key, strict=True):
            texts.setdefault(text, lines)
    return seen_in


def places_of(seen_in, columns, name, labels, pos_label):
    """``{text: place of its label}``, labels, positive class."""
    names = [quoted(column, 60) for column in columns.values()]
    found = labels_of(seen_in, names, name, labels=labels)
    seen = set(found.values())
    if pos_label is not None:
        (pos_label,) = labels_like([pos_label], seen)
    if labels is not None:
        labels = as_labels(labels_like(labels, seen))
    else:
        if len(seen) == 1 and pos_label is not None:
            seen.add(plain_label(pos_label))
        labels = as_labels(sorted(seen) if len(seen) > 1 else complete_single_label(sorted(seen)))
    order = {label: k for k, label in enumerate(labels)}
    outside = [label for label in found.values() if label not in order]
    if outside:
        raise InvalidParameterError(
            f"{name} holds the label {outside[0]!r}, which is not in labels={list(labels)}."
            f"{nearest_name(outside[0], labels)}",
            parameter="labels",
        )
    return {text: order[label] for text, label in found.items()}, labels, pos_label


def _count(file, columns, labels, pos_label, progress):
    """Places of the labels in every cell, numbers of rows, labels, positive class."""
    cells = count_cells(file, columns, progress=progress)
    seen_in = _texts(cells, columns)
    place, labels, pos_label = places_of(seen_in, columns, shown_name(file), labels, pos_label)
    numbers: Counter = Counter()
    for key, (number, _) in cells.items():
        numbers[tuple(place[text] for text in key)] += number  # of "1" and of "+1"
    return np.array(list(numbers)), np.array(list(numbers.values())), labels, pos_label
