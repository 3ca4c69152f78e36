"""Arithmetic on the cells of confusion matrices ``(..., C, C)``, rows true, columns predicted."""

import numpy as np


def one_vs_rest(matrix):
    """Cells (tp, fn, fp, tn) of every class against the rest, each of shape (..., C)."""
    tp = np.diagonal(matrix, axis1=-2, axis2=-1)
    if matrix.shape[-1] == 2:  # no subtraction, so no cancellation
        off = np.stack([matrix[..., 0, 1], matrix[..., 1, 0]], axis=-1)
        return tp, off, off[..., ::-1], tp[..., ::-1]
    ones = np.ones(matrix.shape[-1])
    row, column = matrix @ ones, ones @ matrix  # four times as fast as sums over short axes
    fn, fp = np.maximum(row - tp, 0), np.maximum(column - tp, 0)
    total = row.sum(axis=-1, keepdims=True)
    tn = np.maximum(total - row - fp, 0)
    little = tn < 1e-6 * total  # what is left of a large total would be rounding, or 0/0
    for k in np.flatnonzero(little.any(axis=tuple(range(little.ndim - 1)))):
        bad = little[..., k]
        for cell, exact in zip((fn, fp, tn), collapse(matrix[bad], k)[1:], strict=True):
            cell[..., k : k + 1][bad] = exact[..., None]
    return tp, fn, fp, tn


def collapse(matrix, positive):
    """Cells (tp, fn, fp, tn) of one class against the rest, by sums only."""
    rest = np.arange(matrix.shape[-1]) != positive
    return (
        matrix[..., positive, positive],
        matrix[..., positive, rest].sum(axis=-1),
        matrix[..., rest, positive].sum(axis=-1),
        matrix[..., rest, :][..., rest].sum(axis=(-2, -1)),
    )


def two_by_two(tp, fn, fp, tn):
    """Matrix of the four cells, the positive class last: what `collapse` takes apart."""
    rows = np.stack([tn, fp], axis=-1), np.stack([fn, tp], axis=-1)
    return np.stack(rows, axis=-2)


def divide(numerator, denominator, zero_division):
    """Quotient, with 0/0 replaced. A positive number over zero stays infinite."""
    quotient = np.asarray(numerator / denominator)
    if np.isnan(zero_division):
        return quotient
    return np.where((denominator == 0) & (numerator == 0), zero_division, quotient)


def linear_fractional(tp, fn, fp, tn, zero_division, *, numerator, denominator):
    cells = (tp, fn, fp, tn)
    top = sum(weight * cell for weight, cell in zip(numerator, cells, strict=True) if weight)
    bottom = sum(weight * cell for weight, cell in zip(denominator, cells, strict=True) if weight)
    return divide(top, bottom, zero_division)


def g_score(tp, fn, fp, tn, zero_division):
    return np.sqrt(divide(tp, tp + fp, zero_division) * divide(tp, tp + fn, zero_division))


def g_mean(tp, fn, fp, tn, zero_division):
    return np.sqrt(divide(tp, tp + fn, zero_division) * divide(tn, tn + fp, zero_division))


def informedness(tp, fn, fp, tn, zero_division):
    # recall + specificity - 1, without the rounding of the sum
    return divide(tp, tp + fn, zero_division) - divide(fp, tn + fp, 1 - zero_division)


def markedness(tp, fn, fp, tn, zero_division):
    return divide(tp, tp + fp, zero_division) - divide(fn, tn + fn, 1 - zero_division)


def lr_positive(tp, fn, fp, tn, zero_division):
    return divide(
        divide(tp, tp + fn, zero_division), divide(fp, tn + fp, zero_division), zero_division
    )


def lr_negative(tp, fn, fp, tn, zero_division):
    return divide(
        divide(fn, tp + fn, zero_division), divide(tn, tn + fp, zero_division), zero_division
    )


def odds_ratio(tp, fn, fp, tn, zero_division):
    return divide(tp * tn, fp * fn, zero_division)


def prevalence_threshold(tp, fn, fp, tn, zero_division):
    root_tpr = np.sqrt(divide(tp, tp + fn, zero_division))
    root_fpr = np.sqrt(divide(fp, tn + fp, zero_division))
    return divide(root_fpr, root_tpr + root_fpr, zero_division)


def of_classes(matrix, zero_division, *, function):
    """Metric that sees nothing but the cells of every class against the rest."""
    return function(*one_vs_rest(matrix), zero_division)


def averaged(tp, fn, fp, tn, zero_division, *, function, average):
    cells = (tp, fn, fp, tn)
    if average == "micro":
        return np.asarray(function(*(cell.sum(axis=-1) for cell in cells), zero_division))
    values = np.asarray(function(*cells, zero_division))
    if average == "macro":
        return values.mean(axis=-1)
    support = tp + fn
    # A class without rows has weight 0: its value does not matter, defined or not.
    values = np.where(support == 0, 0.0, values)
    return divide((values * support).sum(axis=-1), support.sum(axis=-1), zero_division)


def accuracy(matrix, zero_division):
    return divide(np.trace(matrix, axis1=-2, axis2=-1), matrix.sum(axis=(-2, -1)), zero_division)


def error_rate(matrix, zero_division):
    off = ~np.eye(matrix.shape[-1], dtype=bool)
    return divide(matrix[..., off].sum(axis=-1), matrix.sum(axis=(-2, -1)), zero_division)


def balanced_accuracy(matrix, zero_division):
    recall = divide(np.diagonal(matrix, axis1=-2, axis2=-1), matrix.sum(axis=-1), zero_division)
    return recall.mean(axis=-1)


def matthews(tp, fn, fp, tn, zero_division):
    # Sums of products of cells instead of differences of squares: no cancellation at counts of 1e9.
    covariance = (tp * tn - fp * fn).sum(axis=-1)
    true = ((tp + fn) * (fp + tn)).sum(axis=-1)
    predicted = ((tp + fp) * (fn + tn)).sum(axis=-1)
    # Equal margins need no root: 1 stays 1 for a perfect classifier.
    scale = np.where(true == predicted, true, np.sqrt(true) * np.sqrt(predicted))
    return divide(np.clip(covariance, -scale, scale), scale, zero_division)


def kappa_weights(n_classes, weights):
    """Weights of disagreement between every two classes."""
    step = np.abs(np.subtract.outer(*2 * (np.arange(n_classes, dtype=float),)))
    return {"none": (step > 0) * 1.0, "linear": step, "quadratic": step**2}[weights]


def kappa(tp, fn, fp, tn, zero_division):
    true = tp + fn
    observed, expected = fn.sum(axis=-1) * true.sum(axis=-1), (true * (fn + tn)).sum(axis=-1)
    return 1.0 - divide(observed, expected, 1.0 - zero_division)


def weighted_kappa(matrix, zero_division, *, weights):
    weight = kappa_weights(matrix.shape[-1], weights)
    expected = np.einsum("...i,ij,...j->...", matrix.sum(axis=-1), weight, matrix.sum(axis=-2))
    observed = np.einsum("...ij,ij->...", matrix, weight) * matrix.sum(axis=(-2, -1))
    ratio = divide(observed, expected, 1.0 - zero_division)
    return 1.0 - ratio


def null_accuracy(matrix, zero_division):
    return divide(matrix.sum(axis=-1).max(axis=-1), matrix.sum(axis=(-2, -1)), zero_division)


def null_error_rate(matrix, zero_division):
    return 1.0 - null_accuracy(matrix, 1.0 - zero_division)


def expected_cost(matrix, zero_division, *, cost):
    if cost.shape != matrix.shape[-2:]:
        raise ValueError(
            f"cost must have the shape of the matrix, {matrix.shape[-2:]}, got {cost.shape}."
        )
    total = np.einsum("...ij,ij->...", matrix, cost)
    return divide(total, matrix.sum(axis=(-2, -1)), zero_division)
