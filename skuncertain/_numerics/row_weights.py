"""Rows with weights: sums over the cells of a table that add up, and how many rows they are worth.

A weighted mean of row values u has the variance sum w^2 u^2 / (sum w)^2 (first order); n equally
weighted rows would have v / n with v = sum w u^2 / sum w. So the rows are worth

    n = v (sum w)^2 / sum w^2 u^2

to this statistic, and Kish's (sum w)^2 / sum w^2 if the weights have nothing to do with u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

PSEUDO_ROWS = 3.0  # on each side of a statistic, drawn in proportion to their weight
_SUMS = ("total", "squares", "cubes", "rows")
_ALIKE = 1e-12  # relative spread below which weights are equal but for rounding


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Sums of weights, of their powers and of rows in every cell of tables ``(..., C, C)``.

    Attributes
    ----------
    total, squares, cubes : ndarray
        Sums of w, w**2 and w**3, with w in units of ``2**exponent``.
    rows : ndarray
        Rows with a weight above 0.
    exponent : int
        So that weights of any size have squares.
    """

    total: np.ndarray
    squares: np.ndarray
    cubes: np.ndarray
    rows: np.ndarray
    exponent: int = 0

    @classmethod
    def of_cells(cls, cell, weight, shape):
        """Sums of rows in the cells of one flat table."""
        size = int(np.prod(shape))
        exponent = int(np.frexp(weight.max())[1])
        weight = np.ldexp(weight, -exponent)
        rows = np.bincount(cell[weight > 0], minlength=size).astype(float)
        if np.all(weight == weight[0]):  # products have one rounding, sums have many
            sums = [rows * weight[0] ** power for power in (1, 2, 3)]
        else:
            powers = weight, weight**2, weight**3
            sums = [np.bincount(cell, weights=power, minlength=size) for power in powers]
        return cls(*(part.reshape(shape) for part in (*sums, rows)), exponent)

    @classmethod
    def of_counts(cls, counts):
        """Rows without weights have the weight 1."""
        counts = np.asarray(counts, dtype=float)
        return cls(counts, counts, counts, counts)

    def apply(self, function):
        """The same function, which adds or selects cells, of all sums."""
        parts = (np.asarray(function(getattr(self, name))) for name in _SUMS)
        return RowWeights(*parts, self.exponent)

    def in_unit(self, exponent):
        """The same in another unit."""
        step = self.exponent - exponent
        powers = (self.total, 1), (self.squares, 2), (self.cubes, 3)
        sums = (np.ldexp(part, power * step) for part, power in powers)
        return RowWeights(*sums, self.rows, exponent)

    def __add__(self, other):
        one, two = _in_one_unit([self, other])
        parts = (getattr(one, name) + getattr(two, name) for name in _SUMS)
        return RowWeights(*parts, one.exponent)

    def alike(self, inside):
        """Whether all rows in some of the cells have one weight."""
        parts = self.total, self.squares, self.rows
        total, squares, rows = (_sum(np.where(inside, part, 0.0)) for part in parts)
        return total**2 >= (1 - _ALIKE) * squares * rows

    def scaled(self, size, inside, parts=None):
        """Weighted shares times `size`, the rows that some cells together are worth.

        With `parts` ``(..., splits, C, C)``, which add up to these tables, those of the parts.
        """
        total = _sum(np.where(inside, self.total, 0.0))
        factor = np.divide(size, total, out=np.zeros_like(total), where=total > 0)
        alike = self.alike(inside)
        if parts is None:
            parts = self
        else:
            factor, alike = np.expand_dims(factor, -3), np.expand_dims(alike, -3)
        # Rows of one weight are rows, to the last digit.
        return np.where(inside & alike, parts.rows, parts.total * factor)

    def same_spread(self, other):
        """Whether the squares say the same as those of others, where the shares are the same."""
        everywhere = np.ones(self.total.shape[-2:], dtype=bool)
        one, two = (
            np.where(x.alike(everywhere), x.rows, x.squares / _safe(x.total) ** 2)
            for x in (self, other)
        )
        return np.array_equal(self.rows, other.rows) and np.array_equal(one, two)

    @cached_property
    def counts(self):
        """Weighted shares of the cells, times Kish's size."""
        everywhere = np.ones(self.total.shape[-2:], dtype=bool)
        return self.scaled(self.kish(everywhere), everywhere)

    def kish(self, inside):
        """Kish's effective number of rows in some of the cells, shape ``(..., 1, 1)``."""
        total, squares = (_sum(np.where(inside, part, 0.0)) for part in (self.total, self.squares))
        return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)

    def to_dict(self):
        """Plain representation."""
        sums = {name: getattr(self, name).tolist() for name in _SUMS}
        return {**sums, "exponent": self.exponent}

    @classmethod
    def from_dict(cls, known):
        """The same from its plain representation."""
        sums = (np.array(known[name], dtype=float) for name in _SUMS)
        return cls(*sums, int(known["exponent"]))

    def sound(self):
        """Whether these can be sums over the rows of square tables."""
        parts = [getattr(self, name) for name in _SUMS]
        shapes = {part.shape for part in parts}
        square = len(shapes) == 1 and parts[0].ndim >= 2 and len({*parts[0].shape[-2:]}) == 1
        return square and all(np.all(np.isfinite(part) & (part >= 0)) for part in parts)

    @classmethod
    def stack(cls, tables):
        """Several of one shape as one, along a new first axis."""
        same = _in_one_unit(tables)
        parts = (np.stack([getattr(one, name) for one in same]) for name in _SUMS)
        return cls(*parts, same[0].exponent)

    def worth(self, sides, shares, size_of_u=1.0):
        """Rows that some cells are worth to a statistic, shape ``(..., 1, 1)``.

        The variance comes from two sides, such as hits and errors. What an error of average weight
        counts for cannot be told from a few errors: three pseudo-rows join each side, drawn from
        all rows in proportion to their weight, for the next error may be a heavy one.

        Parameters
        ----------
        sides : tuple of two ndarrays of bool, (C, C)
            The cells of either side.
        shares : tuple of two ndarrays of shape (..., 1, 1)
            How much of the variance of one row either side has, with the sum 1.
        size_of_u : ndarray of shape (..., C, C), default=1
            Square of a row's influence, relative to the mean of its side.
        """
        total, squares, cubes, rows = (
            _sum(np.where(sides[0] | sides[1], getattr(self, name), 0.0)) for name in _SUMS
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            weight, square = (PSEUDO_ROWS * part / total for part in (squares, cubes))
            means = [
                (_sum(self.squares * size_of_u * side) + square)
                / (_sum(self.total * size_of_u * side) + weight)
                for side in sides
            ]
            size = total / (means[0] * shares[0] + means[1] * shares[1])
        return np.where(total > 0, np.minimum(size, rows), 0.0)


def running_sums(batches, total, discount, shape):
    """What came before each batch, discounted, the batches, and the sum after them.

    Parameters
    ----------
    batches : list of (cells, values)
        Flat indices of cells of a table, and their counts or `RowWeights`.
    total : ndarray, RowWeights or None
        Flat sum of what came before, None at the start.
    discount : float
        Factor of the past before a batch is added.
    shape : tuple of int
        Shape of a table.
    """
    size = int(np.prod(shape))
    total = np.zeros(size) if total is None else total
    if not any(isinstance(part, RowWeights) for part in (total, *(v for _, v in batches))):
        past, batch = np.zeros((2, len(batches), size))
        for k, (cells, values) in enumerate(batches):
            past[k] = total = total * discount
            batch[k, cells] = values
            total = total + batch[k]
        return past.reshape(-1, *shape), batch.reshape(-1, *shape), total

    def dense(cells, values):
        values = values if isinstance(values, RowWeights) else RowWeights.of_counts(values)
        return values.apply(lambda x: np.bincount(cells, x, minlength=size))

    total = total if isinstance(total, RowWeights) else RowWeights.of_counts(total)
    before, added = [], [dense(*batch) for batch in batches]
    for batch in added:
        before.append(total.apply(lambda x: x * discount))
        total = before[-1] + batch
    stacks = (RowWeights.stack(part) for part in (before, added))
    return *(part.apply(lambda x: x.reshape(-1, *shape)) for part in stacks), total


def _sum(part):
    return part.sum(axis=(-2, -1), keepdims=True)


def _in_one_unit(tables):
    """The same in the unit of the heaviest rows: those of others may vanish beside them."""
    exponent = max((one.exponent for one in tables if one.rows.any()), default=0)
    return [one.in_unit(exponent) for one in tables]


def _safe(total):
    """Sum of each table, 1 where there is nothing."""
    found = _sum(total)
    return np.where(found > 0, found, 1.0)
