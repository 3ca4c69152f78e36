"""Tables that people have: files of predictions, and confusion matrices with labels.

Fields are texts. They become integers if all of them are whole numbers ("1" and "1.0" are one
label, as in pandas), booleans if all are true or false, and stay texts otherwise.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Any

import numpy as np

from skuncertain._io.csv_counts import count_cells, read_rows, refuse_file, shown_name
from skuncertain._utils.typing import LabelLike
from skuncertain._utils.validation import check_choice, nearest_name, quoted, refuse_if
from skuncertain.comparison._paired import PairedCounts
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels, complete_single_label, plain_label

_WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0*)?", re.ASCII)  # 007 is a name, not a number
_LONGEST_NUMBER = 300  # digits; Python reads no more than 4300, and a label has no use for them
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_MISSING = {"", "na", "n/a", "#n/a", "nan", "<na>", "null"}
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
    file: Any, *, rows: str, labels: Any = None, pos_label: LabelLike = None
) -> ConfusionCounts:
    r"""Read a confusion matrix whose first row and first column name the classes.

    Parameters
    ----------
    file : str, Path or file object
        See `read_predictions`. What stands in the corner does not matter.
    rows : {"true", "predicted"}
        What the rows are: published tables come both ways, and nothing in them tells.
    labels : sequence, default=None
        The classes in another order; by default that of the columns.
    pos_label : label, default=None
        The positive class.

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
    (_, header), *body = read_rows(file, _LARGEST_MATRIX)
    columns = [text.strip() for text in header[1:]]
    counts: dict = {}
    for line, fields in body:
        label, *numbers = (text.strip() for text in fields)
        text = f"{name}, line {line}: a second row is called {quoted(label)}."
        refuse_file(label in counts, text)
        counts[label] = [_whole(text, name, line) for text in numbers]
    twice = len(set(columns)) < len(columns)
    refuse_file(twice, f"{name}: two columns have the same label: {quoted(columns)}.")
    if labels is None:  # who names all classes means them
        _refuse_margins(columns, counts, name)
    _check_square(columns, list(counts), name)
    matrix = np.array([counts[label] for label in columns])
    found = _typed([columns], ["the labels"], name, allowed=columns)
    classes = tuple(found[text] for text in columns)
    if rows == "predicted":
        matrix = matrix.T
    if labels is not None:
        order = as_labels(_same_type(labels, classes))
        text = f"labels must be those of {name}, {list(classes)}, got {list(order)}."
        refuse_if(sorted(map(str, order)) != sorted(map(str, classes)), "labels", text)
        places = [classes.index(label) for label in order]
        matrix, classes = matrix[np.ix_(places, places)], order
    if pos_label is not None:
        (pos_label,) = _same_type([pos_label], classes)
    return ConfusionCounts(matrix, labels=classes, pos_label=pos_label)


def _whole(text, name, line):
    if not _WHOLE.fullmatch(text) or text.startswith("-"):
        raise TableFileError(
            f"{name}, line {line}: {quoted(text)} is not a count; counts are whole numbers >= 0, "
            "without separators. Shares have lost the sample size: use the raw counts."
        )
    whole = text.partition(".")[0]
    if len(whole.lstrip("+0")) > 16 or int(whole) > 2**53:
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
    only = [label for label in columns + rows if label not in rows or label not in columns]
    if only:
        hint = nearest_name(only[0], [label for label in columns + rows if label != only[0]])
        if only[0].lower() in _MARGINS:
            hint = " Leave the sums out."
        elif not set(columns) & set(rows):  # such as sick, healthy and positive, negative
            hint = " Call them alike; or, of two classes, give --tp --fn --fp --tn."
        raise TableFileError(
            f"{name} must have the same labels in its first line and in its first column; only one "
            f"of them has {quoted(only[0])}.{hint}"
        )


def _refuse_margins(columns, counts, name):
    """Refuse a first or last row or column that holds the sums of the others.

    Sums have many names. So the numbers decide; a name decides only where the numbers could be
    chance: a row of sums without its column, or a single other class.
    """
    table = np.array(list(counts.values())).reshape(len(counts), len(columns))
    rows = [label for k, label in enumerate(counts) if _is_sum(table, k)]
    sums = [label for k, label in enumerate(columns) if _is_sum(table.T, k)]
    for kind, found, others in (("row", rows, columns), ("column", sums, list(counts))):
        for label in found:
            named = label.lower().rstrip(":") in _MARGINS or not label
            both = label in rows and label in sums
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


# --------------------------------------------------------------------------------------------------
# From texts to labels


def _count(file, columns, labels, pos_label, progress):
    """Places of the labels in every cell, numbers of rows, labels, positive class."""
    name, cells = shown_name(file), count_cells(file, columns, progress=progress)
    allowed = [] if labels is None else [str(label) for label in labels]
    seen_in: list = [{} for _ in columns]  # {text: lines} of every column
    for key, (_, lines) in cells.items():
        for texts, text in zip(seen_in, key, strict=True):
            texts.setdefault(text, lines)
    found = _typed(seen_in, list(map(repr, columns.values())), name, allowed)
    seen = set(found.values())
    if pos_label is not None:
        (pos_label,) = _same_type([pos_label], seen)
    if labels is not None:
        labels = as_labels(_same_type(labels, seen))
    else:
        if len(seen) == 1 and pos_label is not None:
            seen.add(plain_label(pos_label))
        labels = as_labels(sorted(seen) if len(seen) > 1 else complete_single_label(sorted(seen)))
    outside = [label for label in found.values() if label not in labels]
    if outside:
        raise InvalidParameterError(
            f"{name} holds the label {outside[0]!r}, which is not in labels={list(labels)}."
            f"{nearest_name(outside[0], labels)}",
            parameter="labels",
        )
    place = {text: labels.index(label) for text, label in found.items()}
    numbers: Counter = Counter()
    for key, (number, _) in cells.items():
        numbers[tuple(place[text] for text in key)] += number  # of "1" and of "1.0"
    return np.array(list(numbers)), np.array(list(numbers.values())), labels, pos_label


def _typed(columns, names, name, allowed):
    """``{text: label}`` for the texts of all columns.

    `columns` holds the texts of every column, or ``{text: (first line, last line)}``; `names` says
    what to call them.
    """
    kinds = []
    for column, texts in zip(names, columns, strict=True):
        for text in texts:
            where = _lines(texts, text, name)
            if text.strip().lower() in _MISSING and text.strip() not in allowed:
                raise TableFileError(
                    f"{where}: {column} is missing ({text!r}). Drop such rows, or, if that "
                    "is a class,",
                    parameter="labels",
                    remedy="name it with all others in labels.",
                )
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                raise TableFileError(
                    f"{where}: {column} is not UTF-8 text. Save the file as UTF-8."
                ) from None
        kinds.append(_kind([text.strip() for text in texts], column, name))
    kind = kinds[0]
    if len(set(kinds)) > 1:
        # Classes "10" and "unknown", of which one column has only the first, are texts.
        sets = [{text.strip() for text in texts} for texts in columns]
        if not all(one & other for one, other in itertools.combinations(sets, 2)):
            told = ", ".join(map(" ".join, zip(names, kinds, strict=True)))
            raise TableFileError(f"the columns of {name} hold different things: {told}.")
        kind = "texts"
    every = dict.fromkeys(text for texts in columns for text in texts)
    if kind == "whole numbers":
        return {text: int(text.strip().partition(".")[0]) for text in every}
    if kind == "true or false":
        return {text: text.strip().lower() == "true" for text in every}
    return {text: text.strip() for text in every}


def _lines(texts, text, name):
    """Where in the file a text was first seen."""
    if not isinstance(texts, dict):
        return name
    first, last = texts[text]
    return f"{name}, line {first}" if first == last else f"{name}, lines {first} to {last}"


def _kind(texts, column, name):
    if all(map(_is_whole, texts)):
        return "whole numbers"
    if all(_NUMBER.fullmatch(text) for text in texts) and any("." in text for text in texts):
        other = next(text for text in texts if not _is_whole(text))
        raise TableFileError(
            f"{column} of {name} holds numbers such as {other[:40]}, no class labels. Turn scores "
            "into labels with a threshold."
        )
    if all(text.lower() in ("true", "false") for text in texts):
        return "true or false"
    return "texts"


def _is_whole(text):
    return len(text) <= _LONGEST_NUMBER and _WHOLE.fullmatch(text) is not None


def _same_type(typed, classes):
    """Labels that a user has typed, as what the labels of the file are."""
    known = type(next(iter(classes)))

    def convert(label):
        text = label.strip() if isinstance(label, str) else ""
        if known is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if known is int and _is_whole(text):
            return int(text.partition(".")[0])
        return label if isinstance(label, str | bool) else plain_label(label)

    return [convert(label) for label in typed]
