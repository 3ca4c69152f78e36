"""Gamma draws of the cells of confusion matrices: divided by their sum they are Dirichlet draws.

Metrics are ratios, so nothing is divided here. `Gammas` draws all cells, `class_draws` only what
most metrics of many classes look at: tp, fn, fp and tn of every class against the rest.
"""

from functools import cached_property

import numpy as np

_SPARSE_FROM = 100  # classes: from here on most cells are empty
_TINY = 0.1  # shape
_NEGLIGIBLE = 1e-20
_AT_ONCE = 2**17  # values: 1 MiB stays in cache


class Gammas:
    """Gamma draws, one per shape; only their ratios along `axes` are meant."""

    def __init__(self, shapes, axes):
        self.shapes = shapes
        sums = [shapes.sum(axis=axis) for axis in axes]
        self.sparse = shapes.shape[-1] >= _SPARSE_FROM and all(np.all(x >= 0.5) for x in sums)

    @cached_property
    def _parts(self):
        flat = self.shapes.ravel()
        return np.flatnonzero(flat >= _TINY), np.flatnonzero((flat > 0) & (flat < _TINY))

    def draw(self, rng, size):
        """Draws of shape (size, ...)."""
        if not self.sparse:
            return rng.standard_gamma(self.shapes, size=(size, *self.shapes.shape))
        flat, (rest, tiny) = self.shapes.ravel(), self._parts
        draws = np.zeros((size, flat.size))
        draws[:, rest] = rng.standard_gamma(flat[rest], size=(size, rest.size))
        if tiny.size:
            draw, cell, value = tiny_draws(rng, flat[tiny], size)
            draws[draw, tiny[cell]] = value
        return draws.reshape(size, *self.shapes.shape)


def tiny_draws(rng, shapes, size):
    """Gamma draws of tiny shapes that are not negligible: (draw, cell, value).

    G(a) = G(a + 1) U**(1/a), and for a tiny shape that is next to nothing unless U is close to 1.
    How many cells to skip until that happens is a geometric number, so only the others cost
    anything. What is left out moves a sum with a shape of 1/2 by a millionth of its value, or more,
    once in a million draws.
    """
    chance = _chance(shapes)
    draw, cell = np.divmod(_successes(rng, chance, size * shapes.size), shapes.size)
    shape = shapes[cell]
    uniform = 1.0 - chance * rng.random(cell.size)
    return draw, cell, uniform ** (1 / shape) * rng.standard_gamma(shape + 1)


def _chance(shapes):
    """Upper bound of the probability that a gamma draw of any of these shapes > _NEGLIGIBLE."""
    return -np.expm1(shapes.max() * np.log(_NEGLIGIBLE))


def _successes(rng, chance, trials):
    """Places of the successes in a row of trials."""
    found, last = [], -1
    while last < trials:
        expected = (trials - last) * chance
        gaps = rng.geometric(chance, int(expected + 4 * np.sqrt(expected)) + 1)
        found.append(last + np.cumsum(gaps))
        last = found[-1][-1]
    places = np.concatenate(found)
    return places[: np.searchsorted(places, trials)]


def class_draws(rng, shapes, size, folded=False):
    """Draws of tp, fn, fp and tn of every class against the rest, (size, ..., C) each.

    Parameters
    ----------
    rng : Generator
        Where random numbers come from.
    shapes : ndarray of shape (..., C, C)
        Dirichlet shapes of all cells.
    size : int
        Number of draws.
    folded : bool, default=False
        Whether only fn + fp is wanted. Then i taken for j and j taken for i are one gamma variate,
        whose shape is the sum of both: half as many draws. fn holds the sum, fp and tn are 0.

    Returns
    -------
    tuple of four
        tp, fn, fp and tn.
    """
    n_classes, stack = shapes.shape[-1], shapes.shape[:-2]
    if folded:
        shapes = np.triu(shapes + np.swapaxes(shapes, -2, -1), 1) + shapes * np.eye(n_classes)
    tp, fn = np.zeros((2, n_classes, size, *stack))
    fp = fn if folded else np.zeros_like(fn)
    largest = shapes.reshape(-1, n_classes, n_classes).max(axis=0)
    tiny = np.zeros_like(largest, dtype=bool)
    sums = [shapes.sum(axis=axis) for axis in (-2, -1)]
    many = n_classes >= _SPARSE_FROM and not stack
    if many and np.all(sums[0] + sums[1] >= 1 if folded else np.minimum(*sums) >= 0.5):
        tiny = (largest > 0) & (largest < _TINY)
    # One cell at a time: draws of one shape are faster than draws of many, and nothing is copied.
    for i, j in zip(*np.nonzero((largest > 0) & ~tiny), strict=True):
        drawn = rng.standard_gamma(shapes[..., i, j], size=(size, *stack))
        if i == j:
            tp[i] = drawn
        else:
            fn[i] += drawn
            fp[j] += drawn
    if tiny.any():
        row, column = np.nonzero(tiny)
        small = shapes[row, column]
        step = 1 + int(_AT_ONCE / (small.size * _chance(small)))
        for start in range(0, size, step):
            length = min(step, size - start)
            draw, cell, value = tiny_draws(rng, small, length)
            for sums, place in ((fn, row), (fp, column)):
                sums[:, start : start + length] += np.bincount(
                    place[cell] * length + draw, value, n_classes * length
                ).reshape(n_classes, length)
    tp, fn, fp = (np.moveaxis(part, 0, -1) for part in (tp, fn, fp))
    if folded:
        return tp, fn, 0.0, 0.0
    if n_classes == 2:
        return tp, fn, fp, tp[..., ::-1]
    total = (tp + fn).sum(axis=-1, keepdims=True)
    return tp, fn, fp, np.maximum(total - tp - fn - fp, 0)


def log_gamma(rng, shapes, size):
    """Logs of gamma draws. For small shapes G(a) = G(a + 1) exp(-E / a), which cannot underflow."""
    small, full = shapes < 0.1, (size, *shapes.shape)
    logs = np.log(rng.standard_gamma(np.where(small, shapes + 1, shapes), size=full))
    with np.errstate(divide="ignore", over="ignore"):
        drop = rng.standard_exponential(full) / shapes
    return np.where(small, logs - drop, logs)


def narrowed_exp(logs):
    """Exponentials of (..., C, C) up to a factor per matrix, all above 0.

    Where one cell is exp(40) times another their sum does not notice the smaller one. Wider gaps
    are narrowed, so that all cells, and products of two, are floats: which of two tiny cells is the
    larger one, and whether by far, is kept.
    """
    flat = logs.reshape(*logs.shape[:-2], -1)
    widest = max(600.0 / flat.shape[-1], 40.0)
    order = np.argsort(-flat, axis=-1)
    with np.errstate(invalid="ignore"):
        steps = np.diff(np.take_along_axis(flat, order, axis=-1), axis=-1)
    steps = np.maximum(np.nan_to_num(steps, nan=0.0, neginf=-widest), -widest)
    value = np.full(flat.shape, 300.0)
    np.put_along_axis(value, order[..., 1:], 300.0 + np.cumsum(steps, axis=-1), axis=-1)
    value = np.where(np.isneginf(flat), 0.0, np.exp(value))
    return np.where(np.isnan(flat), np.nan, value).reshape(logs.shape)
