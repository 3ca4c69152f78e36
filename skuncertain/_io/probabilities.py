"""Tables whose rows hold probabilities or scores beside the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._io.csv_counts import find_columns, read_rows, refuse_file, shown_name
from skuncertain._io.labels import labels_like, labels_of
from skuncertain._io.tables import places_of
from skuncertain._utils.typing import LabelLike
from skuncertain._utils.validation import quoted, refuse_if
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.metrics._labels import check_pos_label

_LARGEST = 2**28  # bytes of the file: all rows are kept


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """Rows of a table.

    Attributes
    ----------
    y_true : list
        True labels.
    y_pred : list or None
        Predicted labels, if there is a column of them.
    y_proba : list of ndarray
        Probabilities or scores: one column for every class, or single columns.
    labels : tuple
        All classes.
    pos_label : label or None
        The positive class.
    """

    y_true: list
    y_pred: list | None
    y_proba: Any
    labels: tuple
    pos_label: Any


def read_probabilities(
    file: Any,
    *,
    true: str | None = None,
    pred: str | None = None,
    proba: Any = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    single: bool = False,
) -> ScoredTable:
    r"""Read labels and probabilities of every row of a table.

    Parameters
    ----------
    file, true : object
        See `read_predictions`.
    pred : str, default=None
        Name of the column with the predicted labels, if there is one.
    proba : sequence of str
        Names of columns, also several in one text with commas between them. One column is the
        probability of the positive class or, without one, of the last class. Several are those of
        the classes that they are named after, or of others: ``name=class``.
    labels, pos_label : object
        See `read_predictions`.
    single : bool, default=False
        Whether every column is the probability of the positive class, by another model each.

    Returns
    -------
    ScoredTable
        The rows.

    Examples
    --------
    >>> import io
    >>> from skuncertain._io.probabilities import read_probabilities
    >>> file = io.StringIO("y,p,q\na,0.9,0.1\nb,0.2,0.8\n")
    >>> read_probabilities(file, true="y", proba=["p=a,q=b"]).y_proba
    array([[0.9, 0.1],
           [0.2, 0.8]])
    """
    name = shown_name(file)
    (_, header), *body = read_rows(file, _LARGEST, name)
    header = [field.strip() for field in header]
    refuse_file(not body, f"{name} has a header but no rows.")
    asked = _columns(proba, header)
    known = {"true": true} if pred is None else {"true": true, "pred": pred}
    places = find_columns(known | {"proba": asked[0][0]}, header, name)[: len(known)]
    columns = [find_columns(known | {"proba": one}, header, name)[-1] for one, _ in asked]
    refuse_if(len(set(columns)) < len(columns), "proba", f"proba names a column of {name} twice.")
    texts = [[row[k] for _, row in body] for k in places]
    seen = [_first_lines(column, body) for column in texts]
    if labels is None and len(asked) > 1 and not single:
        labels = _named_classes(asked, seen, known, name)
    place, labels, pos_label = places_of(seen, known, name, labels, pos_label)
    numbers = np.array(
        [[_number(row[k], header[k], line, name) for k in columns] for line, row in body]
    )
    y_true, *others = [[labels[place[text]] for text in column] for column in texts]
    pos_label = check_pos_label(labels, pos_label)
    if not single:
        numbers = _in_order(numbers, asked, labels, pos_label)
    return ScoredTable(y_true, others[0] if others else None, numbers, labels, pos_label)


def _columns(proba, header):
    """Return [(column, class or None)] of what was asked for."""
    refuse_if(not proba, "proba", "proba must name at least one column.")
    found = []
    for text in proba:
        for part in [text] if text in header else text.split(","):
            part = part.strip()
            column, mark, label = part.rpartition("=")
            named = mark and part not in header
            found.append((column.strip(), label.strip()) if named else (part, None))
    return found


def _named_classes(asked, seen, known, name):
    """Classes in the order of the columns, if every column tells its own."""
    occurring = set(labels_of(seen, [quoted(one, 60) for one in known.values()], name).values())
    named = [column if label is None else label for column, label in asked]
    typed = labels_like(named, occurring)
    strange = [
        column
        for (column, label), one in zip(asked, typed, strict=True)
        if label is None and one not in occurring
    ]
    missing = sorted(occurring - set(typed), key=str)
    if missing:
        hint = (
            f" The column {quoted(strange[0], 60)} is not called like a class." if strange else ""
        )
        raise InvalidParameterError(
            f"proba must name a column for every class; {missing[0]!r} has none.{hint} Say whose "
            "probability a column holds with name=class.",
            parameter="proba",
        )
    return named


def _in_order(numbers, asked, labels, pos_label):
    """Columns in the order of the classes; a single one is that of the positive or last class."""
    own = labels_like([label or column for column, label in asked], labels)
    if len(asked) == 1:
        about = labels.index(pos_label) if pos_label is not None else len(labels) - 1
        numbers, (_, label) = numbers[:, 0], asked[0]
        if label is None or own[0] == labels[about]:
            return numbers
        _check_class(own[0], labels)
        share = numbers.min() >= 0 and numbers.max() <= 1
        return 1 - numbers if share else -numbers
    for label in own:
        _check_class(label, labels)
    refuse_if(
        sorted(map(labels.index, own)) != list(range(len(labels))),
        "proba",
        f"proba must name one column for each of the classes {quoted(list(labels))}, got "
        f"{quoted(own)}.",
    )
    return numbers[:, [own.index(label) for label in labels]]


def _check_class(label, labels):
    refuse_if(
        label not in labels,
        "proba",
        f"proba names the class {label!r}, which is not one of {quoted(list(labels))}. Say whose "
        "probability a column holds with name=class.",
    )


def _first_lines(column, body):
    """``{text: (first line, first line)}`` of a column."""
    seen: dict = {}
    for text, (line, _) in zip(column, body, strict=True):
        seen.setdefault(text, (line, line))
    return seen


def _number(text, column, line, name):
    try:
        return float(text)
    except ValueError:
        raise TableFileError(
            f"{name}, line {line}: {quoted(text, 60)} in column {quoted(column, 60)} is no number."
        ) from None
