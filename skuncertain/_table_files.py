"""Tables that people have: files of predictions, and confusion matrices with labels.

Fields are texts. They become integers if all of them are whole numbers ("1" and "1.0" are one
label, as in pandas), booleans if all are true or false, and stay texts otherwise.
"""

import itertools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._comparison import compare_cells
from skuncertain._comparison_result import ComparisonResult
from skuncertain._counts import ConfusionCounts
from skuncertain._csv_counts import TableFileError, count_cells, read_rows, shown_name
from skuncertain._labels import as_labels, complete_single_label, plain_label
from skuncertain._validation import check_choice, nearest_name, shown

_WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0*)?", re.ASCII)  # 007 is a name, not a number
_LONGEST_NUMBER = 300  # digits; Python reads no more than 4300, and a label has no use for them
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
NAME_IT = "name it with all others in labels"
_MISSING = {"", "na", "n/a", "#n/a", "nan", "<na>", "null"}
_MARGINS = {"total", "totals", "sum", "sums", "all", "margin", "margins"}
_LARGEST_MATRIX = 2**26  # bytes of the file


@dataclass(frozen=True, eq=False)
class PairedCounts:
    """How often two models gave which answers to which truth.

    Parameters
    ----------
    cells : ndarray of shape (m, 3)
        Places of the labels: truth, answer of a, answer of b.
    numbers : ndarray of shape (m,)
        How many rows.
    labels : tuple
        The labels.
    pos_label : label or None
        The positive class, if it was named.
    """

    cells: np.ndarray
    numbers: np.ndarray
    labels: tuple
    pos_label: Any = None

    def counts(self, model: int) -> ConfusionCounts:
        """Confusion matrix of one of the models.

        Parameters
        ----------
        model : {0, 1}
            Which one.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        matrix = np.zeros((len(self.labels),) * 2, dtype=np.int64)
        np.add.at(matrix, (self.cells[:, 0], self.cells[:, 1 + model]), self.numbers)
        return ConfusionCounts(matrix, labels=self.labels, pos_label=self.pos_label)

    def compare(self, **options: Any) -> ComparisonResult:
        """Compare the models, which predicted the same rows.

        Parameters
        ----------
        **options : dict
            ``metric``, ``rope``, ``prior``, ``names`` and others of :func:`compare_paired`.

        Returns
        -------
        ComparisonResult
            What `compare_paired` returns for the rows.
        """
        y, a, b = self.cells.T
        return compare_cells(
            y, a, b, self.numbers, self.labels, pos_label=self.pos_label, **options
        )


def read_predictions(
    file: Any,
    *,
    true: str | None = None,
    pred: str | None = None,
    labels: Any = None,
    pos_label: Any = None,
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
    >>> from skuncertain._table_files import read_predictions
    >>> read_predictions(io.StringIO("y,yhat\n1,1\n0,1\n0,0\n"), true="y", pred="yhat").n
    3
    """
    cells = count_cells(file, {"true": true, "pred": pred}, progress=progress)
    places, numbers, labels, pos_label = _encoded(cells, (true, pred), file, labels, pos_label)
    matrix = np.zeros((len(labels),) * 2, dtype=np.int64)
    np.add.at(matrix, tuple(places.T), numbers)
    return ConfusionCounts(matrix, labels=labels, pos_label=pos_label)


def read_paired(
    file: Any,
    *,
    true: str | None = None,
    pred: Any = None,
    labels: Any = None,
    pos_label: Any = None,
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
    columns = {"true": true, "pred of a": pred_a, "pred of b": pred_b}
    cells = count_cells(file, columns, progress=progress)
    names = (true, pred_a, pred_b)
    return PairedCounts(*_encoded(cells, names, file, labels, pos_label))


def read_matrix(
    file: Any, *, rows: str, labels: Any = None, pos_label: Any = None
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
    >>> from skuncertain._table_files import read_matrix
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
    given: dict = {}
    for line, fields in body:
        if len(fields) != len(header):
            raise TableFileError(
                f"{name}, line {line}: {len(fields)} fields, but the header has {len(header)}."
            )
        label, *numbers = (text.strip() for text in fields)
        if label in given:
            raise TableFileError(f"{name}, line {line}: a second row is called {shown(label)}.")
        given[label] = [_whole(text, name, line) for text in numbers]
    if len(set(columns)) < len(columns):
        raise TableFileError(f"{name}: two columns have the same label: {shown(columns)}.")
    if labels is None:  # who names all classes means them
        _refuse_margins(columns, given, name)
    _check_square(columns, list(given), name)
    matrix = np.array([given[label] for label in columns])
    found = _typed({0: columns}, {0: "the labels"}, name, allowed=columns)
    classes = tuple(found[text] for text in columns)
    if rows == "predicted":
        matrix = matrix.T
    if labels is not None:
        order = as_labels(_same_type(labels, classes))
        if sorted(map(str, order)) != sorted(map(str, classes)):
            raise ValueError(f"labels must be those of {name}, {list(classes)}, got {list(order)}.")
        places = [classes.index(label) for label in order]
        matrix, classes = matrix[np.ix_(places, places)], order
    if pos_label is not None:
        (pos_label,) = _same_type([pos_label], classes)
    return ConfusionCounts(matrix, labels=classes, pos_label=pos_label)


def _whole(text, name, line):
    if not _WHOLE.fullmatch(text) or text.startswith("-"):
        raise TableFileError(
            f"{name}, line {line}: {shown(text)} is not a count; counts are whole numbers >= 0, "
            "without separators. Shares have lost the sample size: use the raw counts."
        )
    whole = text.partition(".")[0]
    if len(whole.lstrip("+0")) > 16 or int(whole) > 2**53:
        raise TableFileError(
            f"{name}, line {line}: {shown(text)} is beyond 2**53, the largest count."
        )
    return int(whole)


def _check_square(columns, rows, name):
    if len(columns) < 2 or not rows:
        raise TableFileError(
            f"{name} must have the labels of at least two classes in its first line and in its "
            f"first column, got the columns {shown(columns)} and the rows {shown(rows)}."
        )
    only = [label for label in columns if label not in rows]
    only += [label for label in rows if label not in columns]
    if only:
        hint = nearest_name(only[0], [label for label in columns + rows if label != only[0]])
        if only[0].lower() in _MARGINS:
            hint = " Leave the sums out."
        elif not set(columns) & set(rows):  # such as sick, healthy and positive, negative
            hint = " Call them alike; or, of two classes, give --tp --fn --fp --tn."
        raise TableFileError(
            f"{name} must have the same labels in its first line and in its first column; only one "
            f"of them has {shown(only[0])}.{hint}"
        )


def _refuse_margins(columns, given, name):
    """Refuse a first or last row or column that holds the sums of the others.

    Sums have many names. So the numbers decide; a name decides only where the numbers could be
    chance: a row of sums without its column, or a single other class.
    """
    table = np.array(list(given.values())).reshape(len(given), len(columns))
    rows = {label: k for k, label in enumerate(given) if _is_sum(table, k)}
    sums = {label: k for k, label in enumerate(columns) if _is_sum(table.T, k)}
    for kind, found, others in (("row", rows, columns), ("column", sums, list(given))):
        for label in found:
            named = label.lower().rstrip(":") in _MARGINS or not label
            both = label in rows and label in sums
            if named or (max(table.shape) > 2 and (both or label not in others)):
                what = "row and the column" if both else kind
                raise TableFileError(
                    f"{name}: the {what} {label!r} hold{'s' * (not both)} the sums of the others, "
                    "which is no class. Leave the sums out; or, if it is a class, name all classes "
                    "in labels."
                )


def _is_sum(table, k):
    """Whether row k, the first or the last one, is the sum of the other ones."""
    if k not in (0, len(table) - 1) or len(table) < 2 or not table.any():
        return False
    return bool(np.array_equal(2 * table[k], table.sum(axis=0)))


# --------------------------------------------------------------------------------------------------
# From texts to labels


def _encoded(cells, names, file, labels, pos_label):
    """Places of the labels in every cell, numbers of rows, labels, positive class."""
    name = shown_name(file)
    allowed = [] if labels is None else [str(label) for label in labels]
    columns: dict = {column: {} for column in range(len(names))}
    for key, (_, lines) in cells.items():
        for column, text in enumerate(key):
            columns[column].setdefault(text, lines)
    found = _typed(columns, dict(enumerate(map(repr, names))), name, allowed)
    seen = set(found.values())
    if pos_label is not None:
        (pos_label,) = _same_type([pos_label], seen)
    if labels is not None:
        labels = as_labels(_same_type(labels, seen))
    else:
        if len(seen) == 1 and pos_label is not None:
            seen.add(plain_label(pos_label))
        labels = sorted(seen) if len(seen) > 1 else complete_single_label(sorted(seen))
        labels = as_labels(labels)
    outside = [label for label in found.values() if label not in labels]
    if outside:
        raise ValueError(
            f"{name} holds the label {outside[0]!r}, which is not in labels={list(labels)}."
            f"{nearest_name(outside[0], labels)}"
        )
    place = {text: labels.index(label) for text, label in found.items()}
    numbers: dict = {}
    for key, (number, _) in cells.items():
        spot = tuple(place[text] for text in key)  # of "1" and of "1.0"
        numbers[spot] = numbers.get(spot, 0) + number
    return np.array(list(numbers)), np.array(list(numbers.values())), labels, pos_label


def _typed(columns, names, name, allowed):
    """``{text: label}`` for the texts of all columns.

    `columns` maps to the texts, or to ``{text: (first line, last line)}``.
    """
    kinds = {}
    for column, texts in columns.items():
        for text in texts:
            where = _place(texts, text, name)
            if text.strip().lower() in _MISSING and text.strip() not in allowed:
                raise TableFileError(
                    f"{where}: {names[column]} is missing ({text!r}). Drop such rows, or, if that "
                    f"is a class, {NAME_IT}."
                )
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                raise TableFileError(
                    f"{where}: {names[column]} is not UTF-8 text. Save the file as UTF-8."
                ) from None
        kinds[column] = _kind([text.strip() for text in texts], names[column], name)
    kind = next(iter(kinds.values()))
    if len(set(kinds.values())) > 1:
        # Classes "10" and "unknown", of which one column has only the first, are texts.
        sets = [{text.strip() for text in texts} for texts in columns.values()]
        if not all(one & other for one, other in itertools.combinations(sets, 2)):
            told = ", ".join(f"{names[column]} {kind}" for column, kind in kinds.items())
            raise TableFileError(f"the columns of {name} hold different things: {told}.")
        kind = "texts"
    every = dict.fromkeys(text for texts in columns.values() for text in texts)
    if kind == "whole numbers":
        return {text: int(text.strip().partition(".")[0]) for text in every}
    if kind == "true or false":
        return {text: text.strip().lower() == "true" for text in every}
    return {text: text.strip() for text in every}


def _place(texts, text, name):
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


def _same_type(given, classes):
    """Labels that a user has typed, as what the labels of the file are."""
    some = next(iter(classes))
    labels = []
    for label in given:
        if isinstance(label, str) and not isinstance(some, str):
            text = label.strip()
            if isinstance(some, bool) and text.lower() in ("true", "false"):
                label = text.lower() == "true"
            elif not isinstance(some, bool) and _is_whole(text):
                label = int(text.partition(".")[0])
        labels.append(label if isinstance(label, str | bool) else plain_label(label))
    return labels
