"""The variance of differences between models that were cross-validated on the same splits.

To first order a metric is a sum over rows: each adds the derivative of the metric with respect to
its cell of the confusion matrix. So does a difference of two metrics, and sums of squares and
products over rows, folds and classes are enough for all pairs of many models at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skuncertain._utils.validation import check_choice, refuse_if
from skuncertain.comparison._fold_rows import FoldRows
from skuncertain.metrics._formulas import collapse, two_by_two
from skuncertain.metrics._gradients import (
    MAX_CLASSES_DIFFERENCED,
    value_slope,
    without_empty_cells,
)
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._fold_variance import (
    ESTIMANDS,
    DifferenceVariance,
    rules_of_pairs,
)
from skuncertain.model_selection._folds import FoldDiagnostics
from skuncertain.model_selection._stability import (
    alike,
    difference_jackknife,
    gain_of_tests,
    model_values,
    movement,
    optimism,
    share_of_rows,
)

_PSEUDO_ROWS = 0.5  # for each of: both right, only one, only the other, neither
_AT_ONCE = 2**18  # tests


def check_estimand(estimand, folded):
    """Estimand of a comparison: by default the algorithm in folds, otherwise the one model."""
    if estimand is None:
        return "algorithm" if folded else "final"
    check_choice("estimand", estimand, ESTIMANDS)
    refuse_if(
        not folded and estimand != "final",
        "estimand",
        f"estimand={estimand!r} is a question about folds: give folds=, or fitted "
        "cross-validators.",
    )
    return estimand


def collapsed(rows: FoldRows, metric: Any, positive: Any) -> tuple[FoldRows, Any]:
    """One class against the rest, if that is all the metric sees."""
    if metric.average != "binary" or len(rows.labels) == 2:
        return rows, positive
    models = rows.models and [two_by_two(*collapse(part, positive)) for part in rows.models]
    codes = [(code == positive).astype(np.intp) for code in rows.codes]
    truth = (rows.truth == positive).astype(np.intp)
    return replace(rows, truth=truth, codes=codes, models=models, labels=(0, 1)), 1


def difference_variance(rows: FoldRows, metric: Any, positive: Any) -> DifferenceVariance:
    """Variances of the differences of all pairs of models, arrays (m, m)."""
    refuse_if(
        metric.user and len(rows.labels) > MAX_CLASSES_DIFFERENCED,
        "metric",
        f"a function of your own can be compared over folds up to {MAX_CLASSES_DIFFERENCED} "
        f"classes, got {len(rows.labels)}.",
    )
    rows, positive = collapsed(rows, metric, positive)
    matrices = np.array([_matrix(rows, code) for code in rows.codes])
    slopes = value_slope(without_empty_cells(matrices), metric, positive)
    sums = _Sums.of(rows, slopes)
    k, r, n = rows.n_folds, rows.n_repeats, rows.truth.size / rows.n_repeats
    unbiased = k / (k - 1) / r
    known: dict = {}
    if rows.models is not None:
        known = _of_models(rows, slopes, n)
    return DifferenceVariance(
        binomial=_binomial(sums, slopes, r),
        between=unbiased * _squares(sums.centred_folds()),
        stratified=sums.within_classes() / r,
        statistic=_ratio(
            (k - 1) * unbiased * _squares(sums.unexplained()), sums.within_classes() / r
        ),
        fewest=_disagreeing(rows, slopes) / r,
        n_folds=k,
        n_repeats=r,
        **known,
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of the influences of m models over rows, folds and classes.

    Attributes
    ----------
    products : ndarray of shape (m, m)
        Sums of products over all tests.
    folds, classes : ndarray of shape (splits, m) and (C, m)
        Sums over the tests of a fold, and of a true class.
    number : ndarray of shape (splits, C)
        Tests.
    """

    products: np.ndarray
    folds: np.ndarray
    classes: np.ndarray
    number: np.ndarray

    @classmethod
    def of(cls, rows, slopes):
        """Go through the rows once, a part of them at a time."""
        m, size = len(slopes), len(rows.labels)
        products, sums = np.zeros((m, m)), np.zeros((rows.n_splits * size, m))
        number = np.zeros(rows.n_splits * size)
        step = max(1, _AT_ONCE // m)
        for first in range(0, rows.truth.size, step):
            part = slice(first, first + step)
            truth, place = rows.truth[part], rows.fold[part] * size + rows.truth[part]
            u = np.array([s[truth, code[part]] for s, code in zip(slopes, rows.codes, strict=True)])
            products += u @ u.T
            number += np.bincount(place, minlength=number.size)
            sums += np.array([np.bincount(place, v, minlength=number.size) for v in u]).T
        sums, number = sums.reshape(-1, size, m), number.reshape(-1, size)
        return cls(products, sums.sum(axis=1), sums.sum(axis=0), number)

    def centred_folds(self):
        """Influence of every fold, with the mean 0 over the tests."""
        share = self.number.sum(axis=1) / self.number.sum()
        return self.folds - share[:, None] * self.folds.sum(axis=0)

    def unexplained(self):
        """Influence of every fold that its class counts do not explain."""
        return self.folds - self.number @ self._class_means()

    def within_classes(self):
        """Sums of squares of differences around their means within the true classes."""
        centred = self.products - self._class_means().T @ self.classes
        return _of_differences(centred)

    def _class_means(self):
        total = self.number.sum(axis=0)
        return self.classes / np.maximum(total, 1)[:, None]


def _binomial(sums, slopes, n_repeats):
    """Variance of every difference as if rows were independent, with four kinds of pseudo-rows."""
    n, size = sums.number.sum() / n_repeats, slopes.shape[-1]
    true = np.arange(size)
    right, wrong = slopes[:, true, true], slopes[:, true, (true + 1) % size]  # (m, C)
    both = right + wrong
    weight = _PSEUDO_ROWS / size
    own = 2 * weight * np.square([right, wrong]).sum(axis=(0, 2))
    squares = own[:, None] + own - 2 * weight * both @ both.T
    squares = squares + _of_differences(sums.products) / n_repeats
    total = sums.classes.sum(axis=0) / n_repeats + 2 * weight * both.sum(axis=1)
    rows = n + 4 * _PSEUDO_ROWS
    return np.maximum(squares - np.square(total[:, None] - total) / rows, 0.0) * n / rows


def _of_differences(products):
    """Sums of squares of differences, from sums of products."""
    own = np.diagonal(products)
    return np.maximum(own[:, None] + own - 2 * products, 0.0)


def _squares(parts):
    """Sums of squares of the differences of columns."""
    return _of_differences(parts.T @ parts)


def _ratio(top, bottom):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, 0.0)


def _matrix(rows, code):
    size = len(rows.labels)
    counts = np.bincount(rows.truth * size + code, minlength=size**2)
    return counts.reshape(size, size) / rows.n_repeats


def _disagreeing(rows, slopes):
    """Tests that two models answer differently, as far as the metric sees it."""
    mean = slopes.mean(axis=0)
    # Answers that move the metric alike are one answer.
    kinds = np.array(
        [np.unique(np.round(row / np.abs(mean).max(), 9), return_inverse=True)[1] for row in mean]
    )
    answers = [kinds[rows.truth, code] for code in rows.codes]
    found = np.zeros((len(answers),) * 2)
    for i, first in enumerate(answers):
        for j in range(i):
            found[i, j] = found[j, i] = np.count_nonzero(first != answers[j])
    return found


def _of_models(rows, slopes, n):
    """What the models of the folds say about the same rows."""
    r, total = rows.n_repeats, rows.models[0][0].sum()
    slopes = slopes * (n / total)  # the reference rows stand for all rows
    values = np.array(
        [model_values(part, slope) for part, slope in zip(rows.models, slopes, strict=True)]
    )
    signs, at = [], rows.reference
    reference = replace(rows, truth=rows.truth[at])
    for part, code, slope in zip(rows.models, rows.codes, slopes, strict=True):
        tested = _matrix(reference, code[at])
        gain = gain_of_tests(part, tested, slope, r)
        signs.append([movement(part, r, n), optimism(part, tested, r), alike(part, r), gain])
    jackknife = difference_jackknife(values, r, share_of_rows(total, n))
    return {"jackknife": jackknife, **rules_of_pairs(*np.array(signs, dtype=float).T, rows.n_folds)}


# --------------------------------------------------------------------------------------------------
# What a comparison says about it


def about_difference(rows, metric, positive, estimand):
    """Folds, weight of the rows and how much the folds of two models disagree, as fields."""
    variance = difference_variance(rows, metric, positive).pair(0, 1)
    found = [rows.matrices(model) for model in (0, 1)]
    pooled = [metric.evaluate(part.sum(axis=0), positive=positive) for part in found]
    a, b = (metric.evaluate(part, positive=positive) for part in found)
    gaps = (b - a)[np.isfinite(b - a)]
    diagnostics = FoldDiagnostics(
        metric=f"difference in {metric.name}",
        method="paired",
        estimand=estimand,
        n_folds=rows.n_folds,
        n_repeats=rows.n_repeats,
        omega_wang_li=wang_li_omega(rows.n_folds),
        omega=float(variance.omega(estimand)),
        pooled=float(pooled[1] - pooled[0]),
        fold_mean=float(gaps.mean()) if gaps.size else float("nan"),
        variance_ratio=float(variance.ratio()),
        p_value=float(variance.p_value),
        movement=None if variance.movement is None else float(variance.movement),
    )
    return {
        "method": "paired",
        "n_folds": rows.n_folds,
        "n_repeats": rows.n_repeats,
        "estimand": estimand,
        "diagnostics": diagnostics,
    }
