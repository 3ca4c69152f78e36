"""Averages over classes, MCC and kappa without draws: their cumulants under one Dirichlet.

Three cumulants describe a sum of many small terms. They do not where one class with hardly a right
row decides: `three_cumulants` says so, and such a metric is drawn.
"""

from math import comb

import numpy as np

from skuncertain._numerics.averages import (
    beta_cumulants,
    f1_cumulants,
    linear_cumulants,
    match_beta,
    of_moments,
    root_product_cumulants,
    sum_cumulant,
    two_beta_cumulants,
)
from skuncertain.metrics._formulas import kappa_weights, one_vs_rest, proportion_cells
from skuncertain.metrics._gradients import cell_gradients, metric_gradient
from skuncertain.metrics._registry import class_function, count_metric

OF_MATRIX = ("matthews_corrcoef", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")
# Rows by which what classes have in common is less than its linear part says: variance, third
# cumulant. Fitted to draws; scores of the true negatives, which are many, need none.
_FEWER = 0.6, 1.5
_LINEAR = ("npv", "specificity", "fpr", "false_omission_rate")
# Largest sum over classes of (share of the variance)**2 / (right rows), and smallest shape of the
# Beta, for which quantiles are within a quarter of a standard deviation: macro, others.
_ROUGH = {"macro": 0.12, "weighted": 0.05, None: 0.05}
_SMALLEST = {"macro": 0.0, "weighted": 2.5, None: 2.5}
_ONE_SIDED = {"recall": 1, "fnr": 1, "precision": 2, "fdr": 2}
_CELLS = 2**20  # at once
_STEP = 1e-3  # of second differences, relative


def three_cumulants(shapes, metric):
    """Mean, variance and third cumulant of a metric, their Beta, and where it is not enough.

    Parameters
    ----------
    shapes : ndarray of shape (..., C, C)
        Dirichlet shapes of all cells.
    metric : Metric
        A macro or weighted average, MCC or kappa.

    Returns
    -------
    cumulants : tuple of three ndarrays of shape (...)
        NaN where a class has nothing right, or nothing wrong, and no prior for it.
    beta : tuple of four ndarrays of shape (...)
        The Beta that has them, see `match_beta`.
    rough : ndarray of bool of shape (...)
        Whether the distribution has another form than three cumulants tell.
    """
    flat = shapes.reshape(-1, *shapes.shape[-2:])
    step = max(1, _CELLS // shapes.shape[-1] ** 2)
    parts = [_of_chunk(flat[k : k + step], metric) for k in range(0, len(flat), step)]
    found = [np.concatenate(part).reshape(shapes.shape[:-2]) for part in zip(*parts, strict=True)]
    return tuple(found[:3]), tuple(found[3:7]), found[7]


def _of_chunk(shapes, metric):
    cells = one_vs_rest(shapes)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if metric.average is None:
            cumulants = matrix_cumulants(shapes, metric)
            own = beta_cumulants(cells[0], cells[1] + cells[2])[1]
        else:
            *cumulants, own = average_cumulants(shapes, cells, metric)
        share = own / own.sum(axis=-1, keepdims=True)
        rows = cells[0]
        if (
            metric.average == "macro" and metric.base in _ONE_SIDED
        ):  # only one kind of error counts: there may be none of it
            rows = 2 * np.minimum(rows, cells[_ONE_SIDED[metric.base]])
        roughness = (share**2 / rows).sum(axis=-1)
        beta = match_beta(*cumulants, *metric.range)
        shape = np.minimum(beta[2], beta[3])
        smooth = (roughness <= _ROUGH[metric.average]) & (shape > _SMALLEST[metric.average])
    least = np.minimum(np.minimum(cells[0], cells[1]), cells[2]).min(axis=-1)
    if not np.all((least > 0) & (cumulants[1] > 0)):
        missing = ~((least > 0) & (cumulants[1] > 0))
        cumulants = [np.where(missing, np.nan, part) for part in cumulants]
    return *cumulants, *beta, ~smooth


def average_cumulants(shapes, cells, metric):
    """Mean, variance and third cumulant of an average, and the variances of its terms.

    The terms of the classes have their own cumulants; what they have in common is linearised.
    """
    of_class, n_classes = class_function(metric).keywords["function"], shapes.shape[-1]
    shift = 0.0
    if metric.average == "macro":

        def term(tp, fn, fp, tn, zero_division=np.nan):
            return of_class(tp, fn, fp, tn, zero_division) / n_classes

        own = [part / n_classes**k for k, part in enumerate(_class_cumulants(cells, metric), 1)]
    else:
        # Weights sum to one: what all classes have in common is taken out of the scores.
        support, n = cells[0] + cells[1], sum(cells)
        shift = (support / n * of_class(*cells, np.nan)).sum(axis=-1, keepdims=True)

        def term(tp, fn, fp, tn, zero_division=np.nan):
            score = of_class(tp, fn, fp, tn, zero_division)
            return (tp + fn) / (tp + fn + fp + tn) * (score - shift)

        own = _weighted_cumulants(cells, metric, shift)
    slopes = cell_gradients(term, cells)
    linear = linear_cumulants(term, cells, slopes)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.where(linear[0] > 0, np.sqrt(own[1] / linear[0]), 1.0)
    found = [(own[0] + shift / n_classes).sum(axis=-1)]
    size = 2 * cells[0] + cells[1] + cells[2]
    shrinks = metric.average == "macro" and metric.base not in _LINEAR
    for order, part, less in zip((2, 3), linear, _FEWER, strict=True):
        scale = stretch * size / (size + less) if shrinks else stretch
        both = sum_cumulant(order, shapes, cells, term, slopes, scale)
        found.append(both + (own[order - 1] - scale**order * part).sum(axis=-1))
    return *found, own[1]


def _weighted_cumulants(cells, metric, shift):
    """Cumulants of weight * (score - shift) of every class.

    A Dirichlet density times one of its variables is a Dirichlet with one row more there: moments
    with the weight are those of the score with more rows in tp and fn.
    """
    tp, fn, n = cells[0], cells[1], sum(cells)
    more = [(hits, degree - hits) for degree in (1, 2, 3) for hits in range(degree + 1)]
    grown = [np.stack([cell + k[j] for k in more]) for j, cell in enumerate(cells[:2])]
    rest = [np.broadcast_to(cell, grown[0].shape) for cell in cells[2:]]
    scores = np.stack(_class_cumulants((*grown, *rest), metric), axis=1)
    moments = [0.0, 0.0, 0.0]
    for (hits, misses), (mean, variance, third) in zip(more, scores, strict=True):
        degree, away = hits + misses, mean - shift
        share = comb(degree, hits)
        for k in range(degree):
            share = share * (tp + k if k < hits else fn + k - hits) / (n + k)
        score = away, variance + away**2, third + 3 * variance * away + away**3
        moments[degree - 1] = moments[degree - 1] + share * score[degree - 1]
    return of_moments(*moments)


def _class_cumulants(cells, metric):
    """Mean, variance and third cumulant of the score of every class, as exact as may be."""
    tp, fn, fp, tn = cells
    base = metric.base
    if base == "informedness":
        return _difference((tp, fn), (fp, tn))
    if base == "markedness":
        return _difference((tp, fp), (fn, tn))
    if base == "g_mean":
        return root_product_cumulants((tp, fn), (tn, fp))
    if base in ("g_score", "fbeta"):
        # J and the share of the misses among the errors are independent.
        function = class_function(metric).keywords["function"]

        def score(j, miss):
            return function(j, (1 - j) * miss, (1 - j) * (1 - miss), 0.0, np.nan)

        return two_beta_cumulants(score, (tp, fn + fp), (fn, fp))
    success, failure, odds = proportion_cells(count_metric(base))
    a, b = (
        sum(cell for cell, used in zip(cells, mask, strict=True) if used)
        for mask in (success, failure)
    )
    return f1_cumulants(a, b) if odds == 2 else beta_cumulants(a, b)


def _difference(u, v):
    first, second = beta_cumulants(*u), beta_cumulants(*v)
    return first[0] - second[0], first[1] + second[1], first[2] - second[2]


def matrix_cumulants(shapes, metric):
    """Mean, variance and third cumulant of MCC or kappa."""
    slope = metric_gradient(shapes, metric, None)
    direction = shapes * slope
    n = shapes.sum(axis=(-2, -1))
    variance = (direction * slope).sum(axis=(-2, -1))
    cube = (direction * slope**2).sum(axis=(-2, -1))
    step = _STEP / np.abs(slope).max(axis=(-2, -1))
    at = [metric.evaluate(shapes + (s * step)[..., None, None] * direction) for s in (-1, 0, 1)]
    bend = (at[0] - 2 * at[1] + at[2]) / step / step
    mean = at[1] + 0.5 * _own_bends(shapes, metric)
    return mean, variance * n / (n + 1), 2 * cube + 3 * bend


def _own_bends(shapes, metric):
    """Sum over cells of shape times second derivative: twice what the mean lies off the value."""
    row, column = shapes.sum(axis=-1), shapes.sum(axis=-2)
    n = row.sum(axis=-1)[..., None, None]
    eye = np.eye(shapes.shape[-1])
    r_i, r_j = row[..., :, None], row[..., None, :]
    c_i, c_j = column[..., :, None], column[..., None, :]
    if metric.name == "matthews_corrcoef":
        trace = np.trace(shapes, axis1=-2, axis2=-1)[..., None, None]
        product = (row * column).sum(axis=-1)[..., None, None]
        rows, columns = ((x**2).sum(axis=-1)[..., None, None] for x in (row, column))

        def value(t):
            covariance = (n + t) * (trace + t * eye) - product - t * (c_i + r_j) - t * t * eye
            true = (n + t) ** 2 - rows - 2 * t * r_i - t * t
            predicted = (n + t) ** 2 - columns - 2 * t * c_j - t * t
            return covariance / np.sqrt(true * predicted)
    else:
        kind = metric.name.removeprefix("cohen_kappa").lstrip("_") or "none"
        weight = kappa_weights(shapes.shape[-1], kind)
        observed = (shapes * weight).sum(axis=(-2, -1))[..., None, None]
        by_row, by_column = (column @ weight)[..., :, None], (row @ weight)[..., None, :]
        expected = (row * (column @ weight)).sum(axis=-1)[..., None, None]

        def value(t):
            chance = expected + t * (by_row + by_column) + t * t * weight
            return 1 - (n + t) * (observed + t * weight) / chance

    step = _STEP * n
    second = (value(-step) - 2 * value(0.0) + value(step)) / step**2
    return (shapes * second).sum(axis=(-2, -1))
