"""Modes: of densities that can be evaluated, and of draws."""

import numpy as np

_GRID, _FINE, _ROUNDS = 33, 9, 5
_AT_ENDS = np.array([1e-12, 1e-10])  # shares of the range, from its ends
_OFTEN = 0.01  # share of the draws from which on one value is no coincidence
_AT_ONCE = 2**22  # draws worked on at once


def mode_on_line(log_density, low, high):
    """Where the log density is highest, between `low` and `high` of shape (rows,).

    ``log_density(e, rows)`` takes places on a line. A grid finds the highest peak, finer grids
    around it follow, and a parabola ends it: a mode is known to about the root of the rounding.
    """
    every, rows = np.arange(low.size)[:, None], np.arange(low.size)
    for number in (_GRID, *[_FINE] * _ROUNDS):
        share = np.linspace(0, 1, number)
        grid = low[:, None] + (high - low)[:, None] * share
        value = log_density(grid.ravel(), np.repeat(rows, number)).reshape(grid.shape)
        value = np.where(np.isnan(value), -np.inf, value)
        best = np.clip(np.argmax(value, axis=1), 1, number - 2)[:, None] + np.array([-1, 0, 1])
        grid, value = grid[every, best], value[every, best]
        low, high = grid[:, 0], grid[:, 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        step, (left, middle, right) = (high - low) / 2, value.T
        move = 0.5 * (left - right) / (left - 2 * middle + right)
    top = grid[rows, np.argmax(value, axis=1)]
    return np.where(np.abs(move) <= 1, grid[:, 1] + move * step, top)


def at_ends(log_density, low, high, size):
    """Log densities next to both ends of a range, and the exponents of poles there; (2, size) each.

    ``log_density(x, rows)`` takes values inside the range (low, high). Without a pole it is 0.
    """
    found, rows = np.zeros((2, size)), np.arange(size)
    value = np.full((2, size), -np.inf)
    span = high - low if np.isfinite(high) else 1.0
    for side, end, sign in ((0, low, 1.0), (1, high, -1.0)):
        if np.isfinite(end):
            near, far = (
                log_density(np.full(size, end + sign * span * share), rows) for share in _AT_ENDS
            )
            with np.errstate(invalid="ignore"):
                slope = (near - far) / np.log(_AT_ENDS[1] / _AT_ENDS[0])
            found[side], value[side] = np.where(slope > 1e-3, slope, 0.0), near
    return value, found


def mode_of_sorted(draws):
    """Mode of sorted draws ``(rows, n)``: the most frequent value, or the half-sample mode.

    Half of the draws are kept, those that lie closest together, then half of these, and so on.
    """
    step = max(1, _AT_ONCE // draws.shape[-1])
    parts = [draws[start : start + step] for start in range(0, len(draws), step)]
    return np.concatenate([_mode_of_sorted(part) for part in parts]) if parts else np.empty(0)


def _mode_of_sorted(draws):
    n, every = draws.shape[-1], np.arange(len(draws))[:, None]
    change = np.diff(draws, axis=-1, prepend=np.nan) != 0
    since = np.arange(n) - np.maximum.accumulate(np.where(change, np.arange(n), 0), axis=-1)
    last = np.argmax(since, axis=-1)[:, None]
    often = since[every, last] + 1 >= max(_OFTEN * n, 2)
    part = draws
    while part.shape[-1] > 3:
        size = (part.shape[-1] + 1) // 2
        with np.errstate(invalid="ignore"):  # two infinite draws: NaN, never the shortest
            width = part[:, size - 1 :] - part[:, : part.shape[-1] - size + 1]
        start = np.argmin(np.where(np.isnan(width), np.inf, width), axis=-1)
        part = part[every, start[:, None] + np.arange(size)]
    if part.shape[-1] == 3:  # the closer two of three
        with np.errstate(invalid="ignore"):
            nearer = part[:, 1] - part[:, 0] <= part[:, 2] - part[:, 1]
        part = np.where(nearer[:, None], part[:, :2], part[:, 1:])
    with np.errstate(invalid="ignore"):
        middle = part.mean(axis=-1)
    return np.where(often[:, 0], draws[every, last][:, 0], middle)
