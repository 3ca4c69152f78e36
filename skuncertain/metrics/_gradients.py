"""How a metric changes with every cell of the confusion matrix.

Metrics of two classes, and averages of them over classes, are differentiated by the complex step,
f'(x) = Im f(x + ih) / h, which is exact to rounding; metrics of the whole matrix have their
derivative written out. A function of the user is differenced cell by cell.
"""

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain.metrics._formulas import collapse, kappa_weights, one_vs_rest, spread_cells
from skuncertain.metrics._registry import class_function

MAX_CLASSES_DIFFERENCED = 100  # a user's function is evaluated twice per cell
_STEP = 1e-100


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
