"""Designs of nested cross-validation and of conservative-z, and what their counts say.

A design says which rows are trained on and tested, and what the counts of the tests mean. The
formulas take stacks of problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import check_bool, check_integer, check_number, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.metrics._gradients import metric_influence

# --------------------------------------------------------------------------------------------------
# Formulas


def nested_estimate(outer, inner, metric, positive, bias_correction=True):
    """Value, standard error and more of nested cross-validation.

    `outer` are the counts ``(..., R, K, C, C)`` of the folds, `inner` those ``(..., R, K, K, C,
    C)`` of fold j by a model that has seen neither it nor fold i. Other metrics than means over the
    rows are linear in first order: a row counts as its influence on the metric.
    """
    outer, inner = np.asarray(outer, dtype=float), np.asarray(inner, dtype=float)
    k, n = outer.shape[-3], outer.sum(axis=(-3, -2, -1))[..., 0]
    pooled, pooled_inner = outer.mean(axis=-4).sum(axis=-3), inner.sum(axis=(-5, -4, -3))
    value = metric_influence(pooled, metric, positive)[..., None, None, :, :]
    tested, size, spread = _moments(outer, value)
    left = _moments(inner.sum(axis=-3), value)[0]
    error = (k - 1) / k * (np.square(left - tested) - spread / size).mean(axis=(-2, -1))
    least = np.sqrt(_moments(pooled_inner, value[..., 0, 0, :, :])[2] / n)
    found = np.sqrt(np.maximum(error, 0.0))
    plain = metric.evaluate(pooled, positive=positive)
    nested = metric.evaluate(pooled_inner, positive=positive)
    # From models of K - 2 parts of the rows to those of K, if errors fall with one over the rows.
    bias = 2 * (k - 1) / k * (nested - plain)
    return {
        "estimate": nested - bias if bias_correction else plain,
        "standard_error": np.clip(found, least, np.sqrt(k) * least),
        "mean_squared_error": error,
        "cross_validation": plain,
        "independent_error": least,
    }


def _moments(counts, value):
    """Mean of a value over counted rows, their number, and their unbiased variance."""
    size = counts.sum(axis=(-2, -1))
    mean = (counts * value).sum(axis=(-2, -1)) / size
    away = np.square(value - mean[..., None, None])
    return mean, size, (counts * away).sum(axis=(-2, -1)) / (size - 1)


def conservative_z_estimate(splits, halves, metric, positive):
    """Value and standard error of conservative-z.

    `splits` are the counts ``(..., J, C, C)`` of splits of all rows, `halves` those ``(..., M, 2,
    J, C, C)`` of splits of two halves. Values that are 0/0 are left out.
    """
    whole = metric.evaluate(np.asarray(splits, dtype=float), positive=positive)
    parts = metric.evaluate(np.asarray(halves, dtype=float), positive=positive)
    gap = np.diff(_mean(parts), axis=-1)[..., 0]
    undefined = np.isnan(whole).sum(axis=-1) + np.isnan(parts).sum(axis=(-3, -2, -1))
    return {
        "estimate": _mean(whole),
        "standard_error": np.sqrt(_mean(np.square(gap)) / 2),
        "undefined": undefined,
    }


def normal_ends(estimate, error, level, limits):
    """Ends of a normal interval that is cut off at the range of the metric."""
    away = ndtri((1 + level) / 2) * np.asarray(error)
    return np.clip(estimate - away, *limits), np.clip(estimate + away, *limits)


def _mean(values):
    """Mean over the last axis of what is defined, NaN of nothing."""
    number = (~np.isnan(values)).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nansum(values, axis=-1) / number


# --------------------------------------------------------------------------------------------------
# Designs


@dataclass(frozen=True)
class NestedDesign:
    """K folds, R times; every fold, and every pair of folds, is left out once."""

    n_folds: int
    n_repeats: int
    bias_correction: bool
    method: ClassVar[str] = "nested_cv"
    estimand: ClassVar[str] = "final"

    def check(self, n):
        """Refuse what cannot be done with so many rows."""
        check_integer("n_folds", self.n_folds, low=3)
        check_integer("n_repeats", self.n_repeats, low=1)
        check_bool("bias_correction", self.bias_correction)
        refuse_if(
            n < 2 * self.n_folds,
            "n_folds",
            f"n_folds must leave at least two rows in every fold, got n_folds={self.n_folds} for "
            f"{n} rows: use at most {n // 2}, or more rows.",
        )

    @property
    def n_fits(self):
        """A pair of folds needs one model: it has seen neither."""
        return self.n_repeats * self.n_folds * (self.n_folds + 1) // 2

    def splits(self, n, rng):
        """Training and test rows; of a pair the larger fold is tested first."""
        found = []
        for _ in range(self.n_repeats):
            fold = rng.permutation(np.arange(n) % self.n_folds)
            rows = [np.flatnonzero(fold == i) for i in range(self.n_folds)]
            for i in range(self.n_folds):
                found.append((np.flatnonzero(fold != i), rows[i]))
                for j in range(i):
                    train = np.flatnonzero((fold != i) & (fold != j))
                    found.append((train, np.concatenate([rows[j], rows[i]])))
        return found

    def estimate(self, halves, metric, positive):
        """Estimate of the counts ``(fits, 2, C, C)`` of the two halves of every test."""
        r, k, size = self.n_repeats, self.n_folds, halves.shape[-1]
        tests = iter(halves)
        outer, inner = np.zeros((r, k, size, size)), np.zeros((r, k, k, size, size))
        for repeat in range(r):
            for i in range(k):
                outer[repeat, i] = next(tests).sum(axis=0)
                for j in range(i):
                    inner[repeat, i, j], inner[repeat, j, i] = next(tests)
        return nested_estimate(outer, inner, metric, positive, self.bias_correction)

    def question(self, n):
        """What the intervals are about."""
        if self.bias_correction:
            return f"How well does the model do that is fitted on all {n} rows?"
        train = n - n // self.n_folds
        return f"How well does a model do that is fitted on {train} of the {n} rows?"

    def text(self):
        """The design in words."""
        return f"{self.n_repeats} x {self.n_folds} folds, pairs of folds left out"


@dataclass(frozen=True)
class ConservativeDesign:
    """J random splits of all rows, and of both halves of the rows, M times."""

    n_splits: int
    n_pairs: int
    test_size: float
    method: ClassVar[str] = "conservative_z"
    estimand: ClassVar[str] = "algorithm"

    def check(self, n):
        """Refuse what cannot be done with so many rows."""
        check_integer("n_splits", self.n_splits, low=1)
        check_integer("n_pairs", self.n_pairs, low=1)
        check_number("test_size", self.test_size, low=0, high=0.5, closed=False)
        refuse_if(
            self.n_test(n) < 1 or n // 2 - self.n_test(n) < 1,
            "test_size",
            f"test_size must leave rows to train on in every half, and at least one to test, got "
            f"test_size={self.test_size:g} for {n} rows: 0.1 will do, with at least 5 rows.",
        )

    def n_test(self, n):
        """Rows of every test."""
        return n - round((1 - self.test_size) * n)

    @property
    def n_fits(self):
        """Of all rows, and of two halves per pair."""
        return self.n_splits * (2 * self.n_pairs + 1)

    def splits(self, n, rng):
        """Training and test rows: first those of all rows, then those of the halves."""
        found = self._random(np.arange(n), n, rng)
        for _ in range(self.n_pairs):
            mixed, half = rng.permutation(n), n // 2
            for rows in (mixed[:half], mixed[half : 2 * half]):
                found += self._random(rows, n, rng)
        return found

    def _random(self, rows, n, rng):
        mixed = [rng.permutation(rows) for _ in range(self.n_splits)]
        return [(part[self.n_test(n) :], part[: self.n_test(n)]) for part in mixed]

    def estimate(self, halves, metric, positive):
        """Estimate of the counts ``(fits, 2, C, C)`` of the two halves of every test."""
        counts = halves.sum(axis=1)
        shape = (self.n_pairs, 2, self.n_splits, *counts.shape[1:])
        splits, pairs = counts[: self.n_splits], counts[self.n_splits :].reshape(shape)
        found = conservative_z_estimate(splits, pairs, metric, positive)
        undefined, number = int(found.pop("undefined")), len(counts)
        if undefined:
            warn_user(
                f"{metric.name} is undefined (0/0) in {undefined} of {number} tests: they are left "
                "out.",
                UndefinedMetricWarning,
            )
        return found

    def question(self, n):
        """What the intervals are about."""
        train = n - self.n_test(n)
        return f"How well does the algorithm do on average when it is trained on {train} rows?"

    def text(self):
        """The design in words."""
        return (
            f"{self.n_splits} splits, and {self.n_pairs} pairs of halves with {self.n_splits} each"
        )
