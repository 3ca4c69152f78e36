"""The confusion matrix as a part of a report."""

import numpy as np

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._report import column, interval_cell, section

MOST_CLASSES = 20  # more do not fit on a page
_MOST_CONFUSIONS = 100


def whole(value):
    """A number of rows: an int, unless rows have weights or were tested several times."""
    return int(value) if float(value).is_integer() else float(value)


def confusion_section(matrix, names, rates, level, kind, notes=()):
    """Section with counts and rates of the cells; `rates` is a (C, C) BetaPosterior or None."""
    size = len(names)
    small = size <= MOST_CLASSES
    if small:
        places = [(i, j) for i in range(size) for j in range(size)]
    else:
        errors = np.where(np.eye(size, dtype=bool), 0, matrix)
        order = np.argsort(-errors, axis=None, kind="stable")[:_MOST_CONFUSIONS]
        places = [divmod(int(k), size) for k in order if errors.flat[k] > 0]
        notes = (*notes, f"{size} classes: the {len(places)} most frequent confusions.")
    cells = _cells(matrix, rates, places, level, kind)
    rows = [
        {"true": names[i], "predicted": names[j], "count": whole(matrix[i, j]), "rate": cell}
        for (i, j), cell in zip(places, cells, strict=True)
    ]
    figure = None
    if small:
        figure = {
            "type": "matrix",
            "instead": True,
            "labels": list(names),
            "counts": matrix,
            "rates": [cells[i * size : (i + 1) * size] for i in range(size)],
        }
    told = "rate: share of the true class that was predicted so"
    notes = (*notes, f"{told}." if rates is None else f"{told}, with its interval.")
    return section(
        "Confusion matrix",
        ["true", "predicted", column("count", digits=0), "rate"],
        rows,
        notes=notes,
        figure=figure,
        ranked=not small,
        in_text=False,
    )


def _cells(matrix, rates, places, level, kind):
    """Rates at some places; a million cells have as many intervals, of which few are shown."""
    at = tuple(np.array(places, dtype=int).reshape(-1, 2).T)
    with np.errstate(invalid="ignore"):
        shares = matrix[at] / matrix.sum(axis=-1)[at[0]]
    if rates is None:
        return [{"value": share} for share in shares]
    shown = BetaPosterior(rates.a[at], rates.b[at], observed=rates.observed[at])
    ends = (np.broadcast_to(end, shares.shape) for end in shown.interval(level, kind))
    return [
        interval_cell((low, high), share) for low, high, share in zip(*ends, shares, strict=True)
    ]
