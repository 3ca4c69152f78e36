"""How a metric changes with every cell of the confusion matrix, and what weighted rows tell of it.

Metrics of two classes, and averages of them over classes, are differentiated by the complex step,
f'(x) = Im f(x + ih) / h, which is exact to rounding; metrics of the whole matrix have their
derivative written out. A function of the user is differenced cell by cell.
"""

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain.metrics._formulas import (
    RATE_OF_ODDS,
    collapse,
    kappa_weights,
    one_vs_rest,
    proportion_masks,
    proportion_odds,
    spread_cells,
)
from skuncertain.metrics._model import given_frequencies
from skuncertain.metrics._priors import cell_prior
from skuncertain.metrics._registry import class_function, count_metric

MAX_CLASSES_DIFFERENCED = 100  # a user's function is evaluated twice per cell
_STEP = 1e-100


def without_empty_cells(matrix):
    """Matrices with a prior, so that every derivative exists.

    With many classes 1/2 per cell would be more errors than there are rows; one pseudo-row per
    class, as right as the others, is not.
    """
    return matrix + (0.5 if matrix.shape[-1] == 2 else cell_prior("shared", matrix))


def metric_slope(matrix, metric, positive):
    """Derivatives of a metric, or of the proportion that it is made of, as F1 of the Jaccard index.

    At matrices without empty cells.
    """
    masks = proportion_masks(metric, matrix.shape[-1], positive)
    if masks is None:
        return metric_gradient(matrix, metric, positive)
    success, failure = masks
    hits, misses = (_total(matrix * mask) for mask in masks)
    return (success * misses - failure * hits) / (hits + misses) ** 2


def value_slope(matrix, metric, positive):
    """Derivatives of the value of a metric, where two of them are to be subtracted."""
    slope, odds = metric_slope(matrix, metric, positive), proportion_odds(metric)
    if odds in (None, 1):
        return slope
    hits, misses = (
        _total(matrix * mask) for mask in proportion_masks(metric, matrix.shape[-1], positive)
    )
    # The value has odds times those of the proportion.
    return slope * odds * ((hits + misses) / (odds * hits + misses)) ** 2


def metric_gradient(matrix, metric, positive):
    """Derivatives ``(..., C, C)`` of a metric at matrices without empty cells.

    Not of accuracy and other proportions of the whole matrix, which need none: see
    `proportion_masks`.
    """
    n_classes = matrix.shape[-1]
    if metric.user:
        return _differenced(matrix, metric)
    if metric.average == "binary":
        cells = cell_gradients(metric.function, collapse(matrix, positive))
        return spread_cells(cells, positive, n_classes)
    if metric.average is not None:
        return _of_average(matrix, metric)
    if metric.cost is not None:
        n = matrix.sum(axis=(-2, -1), keepdims=True)
        return metric.cost / n - (matrix * metric.cost).sum(axis=(-2, -1), keepdims=True) / n**2
    return _OF_MATRIX[metric.name](matrix)


def metric_influence(matrix, metric, positive):
    """Influence of a row in every cell on a metric: the derivatives, times the number of rows.

    The mean over the rows is 0 in first order. For a mean over rows, such as accuracy, differences
    between cells are exact; for any other metric the matrix gets pseudo-counts.
    """
    base = without_empty_cells(matrix)
    whole = metric.average is None and metric.cost is None and not metric.user
    slope = metric_slope if whole else metric_gradient
    return base.sum(axis=(-2, -1), keepdims=True) * slope(base, metric, positive)


def cell_gradients(function, cells):
    """Derivatives of ``function(tp, fn, fp, tn, zero_division)`` with respect to the cells."""
    cells = np.broadcast_arrays(*cells)
    steps = (1j * _STEP * np.eye(4)).reshape(4, 4, *[1] * cells[0].ndim)  # one call for all four
    moved = (cell + steps[k] for k, cell in enumerate(cells))
    return tuple(np.asarray(function(*moved, np.nan)).imag / _STEP)


def _of_average(matrix, metric):
    """A row of class i predicted as j is tp of i or fn of i and fp of j, and tn of the others."""
    function = class_function(metric).keywords["function"]
    n_classes = matrix.shape[-1]
    cells = one_vs_rest(matrix)
    diagonal = np.eye(n_classes)
    if metric.average == "micro":
        tp, fn, fp, tn = cell_gradients(function, [cell.sum(axis=-1) for cell in cells])
        right, wrong = tp + (n_classes - 1) * tn, fn + fp + (n_classes - 2) * tn
        return wrong[..., None, None] + (right - wrong)[..., None, None] * diagonal
    support, n = matrix.sum(axis=-1), matrix.sum(axis=(-2, -1))
    macro = metric.average == "macro"
    weight = np.full(support.shape, 1 / n_classes) if macro else support / n[..., None]
    tp, fn, fp, tn = (part * weight for part in cell_gradients(function, cells))
    result = (fn - tn)[..., :, None] + (fp - tn)[..., None, :] + tn.sum(axis=-1)[..., None, None]
    result = result + diagonal * (tp - fn - fp + tn)[..., None, :]
    if metric.average == "weighted":  # the weights move, too
        value = np.asarray(function(*cells, np.nan))
        mean = (weight * value).sum(axis=-1, keepdims=True)
        result = result + ((value - mean) / n[..., None])[..., :, None]
    return result


def _balanced_accuracy(matrix):
    support = matrix.sum(axis=-1, keepdims=True)
    recall = np.diagonal(matrix, axis1=-2, axis2=-1)[..., None] / support
    n_classes = matrix.shape[-1]
    return (np.eye(n_classes) - recall) / support / n_classes


def _matthews(matrix):
    row, column = matrix.sum(axis=-1), matrix.sum(axis=-2)
    n, trace = row.sum(axis=-1), np.trace(matrix, axis1=-2, axis2=-1)
    true = (row * (n[..., None] - row)).sum(axis=-1)
    predicted = (column * (n[..., None] - column)).sum(axis=-1)
    covariance = n * trace - (row * column).sum(axis=-1)
    n_, true_, predicted_ = (part[..., None, None] for part in (n, true, predicted))
    slope = trace[..., None, None] + n_ * np.eye(matrix.shape[-1])
    slope = slope - column[..., :, None] - row[..., None, :]
    # d(true) = 2 (n - row), d(predicted) = 2 (n - column), halved by the root
    loss = (n_ - row[..., :, None]) / true_ + (n_ - column[..., None, :]) / predicted_
    return (slope - covariance[..., None, None] * loss) / np.sqrt(true_ * predicted_)


def _kappa(kind):
    def gradient(matrix):
        weight = kappa_weights(matrix.shape[-1], kind)
        row, column = matrix.sum(axis=-1), matrix.sum(axis=-2)
        n = row.sum(axis=-1)[..., None, None]
        observed = (matrix * weight).sum(axis=(-2, -1), keepdims=True)
        expected = np.einsum("...i,ij,...j->...", row, weight, column)[..., None, None]
        slope = (column @ weight)[..., :, None] + (row @ weight)[..., None, :]
        return n * observed * slope / expected**2 - (observed + n * weight) / expected

    return gradient


def _null_accuracy(matrix):
    row = matrix.sum(axis=-1)
    n = row.sum(axis=-1)[..., None, None]
    largest = np.arange(row.shape[-1]) == np.argmax(row, axis=-1)[..., None]
    share = row.max(axis=-1)[..., None, None] / n
    return np.broadcast_to((largest[..., :, None] - share) / n, matrix.shape)


_OF_MATRIX = {
    "balanced_accuracy": _balanced_accuracy,
    "matthews_corrcoef": _matthews,
    "cohen_kappa": _kappa("none"),
    "cohen_kappa_linear": _kappa("linear"),
    "cohen_kappa_quadratic": _kappa("quadratic"),
    "null_accuracy": _null_accuracy,
    "null_error_rate": lambda matrix: -_null_accuracy(matrix),
}


def _differenced(matrix, metric):
    """Central differences, for a function that nothing is known about."""
    n_classes = matrix.shape[-1]
    refuse_if(
        n_classes > MAX_CLASSES_DIFFERENCED,
        "omega",
        f"omega='auto' needs the derivative of {metric.name!r} with respect to every cell, "
        f"which a function of your own has only up to {MAX_CLASSES_DIFFERENCED} classes, got "
        f"{n_classes}. Use omega='wang_li'.",
    )
    result = np.empty(matrix.shape)
    for i in range(n_classes):
        for j in range(n_classes):
            step = np.zeros(matrix.shape)
            step[..., i, j] = 1e-5 * matrix[..., i, j]
            change = metric.evaluate(matrix + step) - metric.evaluate(matrix - step)
            result[..., i, j] = change / (2 * step[..., i, j])
    return result


# --------------------------------------------------------------------------------------------------
# Rows with weights


def effective_matrix(weights, metric, positive, prevalence=None):
    """Weighted shares of the cells, times the rows that the weights are worth to a metric.

    The rows of a proportion are those of its denominator: the cells within it have its size.
    """
    size, inside = _worth(weights, metric, positive, prevalence)
    # A class without rows has no size of its own.
    return np.where(size > 0, weights.scaled(size, inside), weights.counts)


def effective_folds(weights, metric, positive, n_repeats):
    """The same of folds ``(..., splits, C, C)``: all together they have the size of their sum."""
    pooled = weights.apply(lambda x: x.sum(axis=-3) / n_repeats)
    size, inside = _worth(pooled, metric, positive)
    everywhere = np.ones_like(inside)
    of_all = pooled.scaled(pooled.kish(everywhere), everywhere, weights)
    return np.where(np.expand_dims(size, -3) > 0, pooled.scaled(size, inside, weights), of_all)


def rows_behind(matrix, metric, positive):
    """Rows that a metric is made of: its denominator, or all."""
    metric = count_metric(RATE_OF_ODDS.get(metric.name, metric))
    masks = proportion_masks(metric, matrix.shape[-1], positive)
    return (matrix if masks is None else matrix[..., masks[0] | masks[1], None]).sum(axis=(-2, -1))


def _worth(weights, metric, positive, prevalence=None):
    """Rows that weighted rows are worth to a metric ``(..., 1, 1)``, and the cells that count."""
    metric = count_metric(RATE_OF_ODDS.get(metric.name, metric))
    n_classes = weights.total.shape[-1]
    masks = proportion_masks(metric, n_classes, positive)
    # At another prevalence only what lies within one true class is still a proportion of rows.
    if masks is not None and (prevalence is None or np.any(masks, axis=(0, 2)).sum() == 1):
        hits, misses = (_total(weights.total * mask) for mask in masks)
        share = misses / np.where(hits + misses > 0, hits + misses, 1.0)
        return weights.worth(masks, (share, 1 - share)), masks[0] | masks[1]
    right = np.eye(n_classes, dtype=bool)
    sides = right, ~right
    base = without_empty_cells(weights.counts)
    u2 = np.square(_influence(base, metric, positive, prevalence))
    known = np.all(np.isfinite(u2), axis=(-2, -1), keepdims=True)
    u2 = np.where(known & (_total(base * u2 * right) * _total(base * u2 * ~right) > 0), u2, 1.0)
    # Without derivatives all rows count alike.
    variance = [_total(base * u2 * side) for side in sides]
    relative = sum(
        u2 * side * _total(base * side) / v for side, v in zip(sides, variance, strict=True)
    )
    shares = [v / (variance[0] + variance[1]) for v in variance]
    return weights.worth(sides, shares, relative), right | ~right


def _influence(base, metric, positive, prevalence):
    """How a row of each cell moves a metric, with the mean 0; NaN if nobody knows."""
    n_classes = base.shape[-1]
    if metric.user and n_classes > MAX_CLASSES_DIFFERENCED:
        return np.full(base.shape, np.nan)
    if prevalence is None:
        slope = metric_slope(base, metric, positive)
    else:
        shares, _ = given_frequencies(prevalence, n_classes, positive, base.shape[:-2])
        # A class that does not occur there keeps a trace, so that derivatives exist.
        shares = np.maximum(shares / shares.sum(axis=-1, keepdims=True), 1e-9)[..., None]
        rows = base.sum(axis=-1, keepdims=True)
        there = metric_slope(base / rows * shares, metric, positive)
        slope = shares / rows * (there - (base / rows * there).sum(axis=-1, keepdims=True))
    return slope - _total(base * slope) / _total(base)


def _total(part):
    return part.sum(axis=(-2, -1), keepdims=True)
