"""Rows with weights: sums over the cells of a table that add up, and how many rows they are worth.

A weighted mean of row values u has the variance sum w^2 u^2 / (sum w)^2 (first order); n equally
weighted rows would have v / n with v = sum w u^2 / sum w. So the rows are worth

    n_lin = v (sum w)^2 / sum w^2 u^2

to this statistic, and Kish's (sum w)^2 / sum w^2 if the weights have nothing to do with u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

KISH_ROWS = 5.0  # Kish's size counts like so many rows on the scarcer side
_SUMS = ("total", "squares", "rows")
_ALIKE = 1e-12  # relative spread below which weights are equal but for rounding


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Sums of weights, of their squares and of rows in every cell of tables ``(..., C, C)``.

    Attributes
    ----------
    total, squares : ndarray
        Sums of w and w**2, with w in units of ``2**exponent``.
    rows : ndarray
        Rows with a weight above 0.
    exponent : int
        So that weights of any size have squares.
    """

    total: np.ndarray
    squares: np.ndarray
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
            total, squares = rows * weight[0], rows * weight[0] ** 2
        else:
            total, squares = (
                np.bincount(cell, weights=w, minlength=size) for w in (weight, weight**2)
            )
        return cls(total.reshape(shape), squares.reshape(shape), rows.reshape(shape), exponent)

    @classmethod
    def of_counts(cls, counts):
        """Rows without weights have the weight 1."""
        counts = np.asarray(counts, dtype=float)
        return cls(counts, counts, counts)

    def apply(self, function):
        """The same function, which adds or selects cells, of all three sums."""
        parts = (np.asarray(function(part)) for part in (self.total, self.squares, self.rows))
        return RowWeights(*parts, self.exponent)

    def in_unit(self, exponent):
        """The same in another unit."""
        step = self.exponent - exponent
        total, squares = np.ldexp(self.total, step), np.ldexp(self.squares, 2 * step)
        return RowWeights(total, squares, self.rows, exponent)

    def __add__(self, other):
        exponent = max(self.exponent, other.exponent)
        one, two = self.in_unit(exponent), other.in_unit(exponent)
        parts = (getattr(one, name) + getattr(two, name) for name in _SUMS)
        return RowWeights(*parts, exponent)

    def alike(self, inside):
        """Whether all rows in some of the cells have one weight."""
        total, squares, rows = (
            np.where(inside, part, 0.0).sum(axis=(-2, -1), keepdims=True)
            for part in (self.total, self.squares, self.rows)
        )
        return total**2 >= (1 - _ALIKE) * squares * rows

    def scaled(self, size, inside, parts=None):
        """Weighted shares times `size`, the rows that some cells together are worth.

        With `parts` ``(..., splits, C, C)``, which add up to these tables, those of the parts.
        """
        total = np.where(inside, self.total, 0.0).sum(axis=(-2, -1), keepdims=True)
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
        total, squares = (
            np.where(inside, part, 0.0).sum(axis=(-2, -1), keepdims=True)
            for part in (self.total, self.squares)
        )
        return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)

    def to_dict(self):
        """Plain representation."""
        sums = {name: getattr(self, name).tolist() for name in _SUMS}
        return {**sums, "exponent": self.exponent}

    @classmethod
    def stack(cls, tables):
        """Several of one shape as one, along a new first axis."""
        exponent = max(one.exponent for one in tables)
        same = [one.in_unit(exponent) for one in tables]
        parts = (np.stack([getattr(one, name) for one in same]) for name in _SUMS)
        return cls(*parts, exponent)

    def worth(self, influence, inside, scarce):
        """Rows that some cells are worth to a statistic, shape ``(..., 1, 1)``.

        Few rows on one side say little about their weights: the linearised size is blended with
        Kish's, and neither can exceed the number of rows.

        Parameters
        ----------
        influence : ndarray of shape (..., C, C)
            How a row of each cell moves the statistic, with the weighted mean 0 `inside`.
        inside : ndarray of bool, (C, C)
            Cells that the statistic is made of.
        scarce : ndarray of shape (..., 1, 1)
            Rows that carry the variance, such as the errors of an accuracy.
        """
        u2 = np.where(inside, np.square(influence), 0.0)
        total, v, spread, rows = (
            part.sum(axis=(-2, -1), keepdims=True)
            for part in (
                np.where(inside, self.total, 0.0),
                self.total * u2,
                self.squares * u2,
                np.where(inside, self.rows, 0.0),
            )
        )
        kish = self.kish(inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            linear = v * total / spread
            usable = np.isfinite(linear) & (linear > 0)
            inverse = scarce / np.where(usable, linear, kish) + KISH_ROWS / kish
            size = (scarce + KISH_ROWS) / inverse
        return np.where(kish > 0, np.minimum(size, rows), 0.0)


def _safe(total):
    """Sum of each table, 1 where there is nothing."""
    found = total.sum(axis=(-2, -1), keepdims=True)
    return np.where(found > 0, found, 1.0)
