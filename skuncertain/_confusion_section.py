"""The confusion matrix as a part of a report."""

import numpy as np

from skuncertain._report import column, interval_cell, section

MOST_CLASSES = 20  # more do not fit on a page
_MOST_CONFUSIONS = 100


def confusion_section(matrix, names, rates, level, kind, notes=()):
    """Section with counts and rates of the cells; `rates` is a (C, C) posterior or None."""
    total = matrix.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares = matrix / total
    low, high = np.full(matrix.shape, np.nan), np.full(matrix.shape, np.nan)
    if rates is not None:
        low, high = (np.broadcast_to(end, matrix.shape) for end in rates.interval(level, kind))

    def cell(i, j):
        if rates is None:
            return {"value": shares[i, j]}
        return interval_cell((low[i, j], high[i, j]), shares[i, j])

    size = len(names)
    small = size <= MOST_CLASSES
    if small:
        places = [(i, j) for i in range(size) for j in range(size)]
    else:
        errors = np.where(np.eye(size, dtype=bool), 0, matrix)
        order = np.argsort(-errors, axis=None, kind="stable")[:_MOST_CONFUSIONS]
        places = [divmod(int(k), size) for k in order if errors.flat[k] > 0]
        notes = (*notes, f"{size} classes: the {len(places)} most frequent confusions.")
    rows = [
        {"true": names[i], "predicted": names[j], "count": matrix[i, j], "rate": cell(i, j)}
        for i, j in places
    ]
    figure = None
    if small:
        figure = {
            "type": "matrix",
            "instead": True,
            "labels": list(names),
            "counts": matrix,
            "rates": [[cell(i, j) for j in range(size)] for i in range(size)],
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
