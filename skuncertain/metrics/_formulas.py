"""Arithmetic on the cells of confusion matrices ``(..., C, C)``, rows true, columns predicted.

Below the formulas stand the table of all metrics, and which of them are proportions: one
description serves the Beta posteriors and the binomial intervals.
"""

from functools import lru_cache, partial

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import refuse_if
from skuncertain._utils.warnings import warn_user


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


def spread_cells(values, index, n_classes):
    """Matrix ``(..., C, C)`` that holds the values of (tp, fn, fp, tn) where they are counted."""
    tp, fn, fp, tn = values
    result = np.empty((*np.shape(tp), n_classes, n_classes), dtype=np.asarray(tp).dtype)
    result[...] = tn[..., None, None]
    result[..., index, :] = fn[..., None]
    result[..., :, index] = fp[..., None]
    result[..., index, index] = tp
    return result


def divide(numerator, denominator, zero_division):
    """Quotient, with 0/0 replaced. A positive number over zero stays infinite."""
    quotient = np.asarray(numerator / denominator)
    if np.isnan(zero_division):
        return quotient
    return np.where((denominator == 0) & (numerator == 0), zero_division, quotient)


def linear_fractional(tp, fn, fp, tn, zero_division, *, numerator, denominator):
    top, bottom = (
        sum(weight * cell for weight, cell in zip(weights, (tp, fn, fp, tn), strict=True) if weight)
        for weights in (numerator, denominator)
    )
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


def score_of(metric, matrix, positive, zero_division):
    """Return the value (a float if scalar), with one warning if there is a 0/0 without a value.

    Averages then leave out the classes that are 0/0. The average over all classes, which posteriors
    are about, is undefined in that case.
    """
    value = metric.evaluate(matrix, positive=positive, zero_division=zero_division)
    undefined = np.isnan(value)
    if np.isnan(zero_division) and undefined.any():
        value = metric.evaluate(matrix, positive=positive, leave_out=True)
        nan = np.isnan(value[undefined]).all()
        what = "and therefore undefined" if nan else "for some classes"
        where = f" for {undefined.sum()} of {value.size} matrices" if value.ndim else ""
        then = "NaN" if nan else "the average leaves them out"
        warn_user(
            f"{metric.name} is 0/0 {what}{where}: {then}. "
            "Use zero_division= to choose another value.",
            UndefinedMetricWarning,
        )
    return float(value) if value.ndim == 0 else value


def of_classes(matrix, zero_division, *, function, **options):
    """Metric that sees nothing but the cells of every class against the rest."""
    return function(*one_vs_rest(matrix), zero_division, **options)


def averaged(tp, fn, fp, tn, zero_division, *, function, average, leave_out=False):
    """Average over classes; `leave_out` is for those with NaN, which scikit-learn leaves out."""
    cells = (tp, fn, fp, tn)
    if average == "micro":
        return np.asarray(function(*(cell.sum(axis=-1) for cell in cells), zero_division))
    values = np.asarray(function(*cells, zero_division))
    if leave_out:
        return mean_of_defined(values, None if average == "macro" else tp + fn)
    if average == "macro":
        return values.mean(axis=-1)
    support = tp + fn
    # A class without rows has weight 0: its value does not matter, defined or not.
    values = np.where(support == 0, 0.0, values)
    return divide((values * support).sum(axis=-1), support.sum(axis=-1), zero_division)


def mean_of_defined(values, weights=None):
    """Mean over the last axis without what is NaN; NaN where nothing is left."""
    weights = ~np.isnan(values) * (1.0 if weights is None else weights)
    return divide((np.nan_to_num(values) * weights).sum(axis=-1), weights.sum(axis=-1), np.nan)


def accuracy(matrix, zero_division):
    return divide(np.trace(matrix, axis1=-2, axis2=-1), matrix.sum(axis=(-2, -1)), zero_division)


def error_rate(matrix, zero_division):
    off = ~np.eye(matrix.shape[-1], dtype=bool)
    return divide(matrix[..., off].sum(axis=-1), matrix.sum(axis=(-2, -1)), zero_division)


def balanced_accuracy(matrix, zero_division, leave_out=False):
    recall = divide(np.diagonal(matrix, axis1=-2, axis2=-1), matrix.sum(axis=-1), zero_division)
    return mean_of_defined(recall) if leave_out else recall.mean(axis=-1)


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
    return 1.0 - divide(observed, expected, 1.0 - zero_division)


def null_accuracy(matrix, zero_division):
    return divide(matrix.sum(axis=-1).max(axis=-1), matrix.sum(axis=(-2, -1)), zero_division)


def null_error_rate(matrix, zero_division):
    return 1.0 - null_accuracy(matrix, 1.0 - zero_division)


def expected_cost(matrix, zero_division, *, cost):
    refuse_if(
        cost.shape != matrix.shape[-2:],
        "metric",
        f"cost must have the shape of the matrix, {matrix.shape[-2:]}, got {cost.shape}.",
    )
    total = np.einsum("...ij,ij->...", matrix, cost)
    return divide(total, matrix.sum(axis=(-2, -1)), zero_division)


def fraction(numerator, denominator, description, **more):
    """Keywords of a two-class metric that is a weighted sum of (tp, fn, fp, tn) over another."""
    weights = {
        "numerator": tuple(map(float, numerator)),
        "denominator": tuple(map(float, denominator)),
    }
    return _of_cells(partial(linear_fractional, **weights), description, **weights, **more)


def _of_cells(function, description, **more):
    return {"function": function, "average": "binary", "description": description, **more}


def _of_matrix(function, description, **more):
    return {"function": function, "description": description, **more}


_LESS, _NEITHER = {"greater_is_better": False}, {"greater_is_better": None}
_SIGNED, _UNBOUNDED = {"range": (-1.0, 1.0)}, {"range": (0.0, np.inf)}
_OF_RATES = {"depends_on_prevalence": False}  # of the rates within the true classes alone
# What is known about every metric: keywords of `Metric`.
TABLE = {
    "precision": fraction((1, 0, 0, 0), (1, 0, 1, 0), "tp / (tp + fp)"),
    "npv": fraction((0, 0, 0, 1), (0, 1, 0, 1), "tn / (tn + fn)"),
    "recall": fraction((1, 0, 0, 0), (1, 1, 0, 0), "tp / (tp + fn)", **_OF_RATES),
    "specificity": fraction((0, 0, 0, 1), (0, 0, 1, 1), "tn / (tn + fp)", **_OF_RATES),
    "fpr": fraction((0, 0, 1, 0), (0, 0, 1, 1), "fp / (fp + tn)", **_LESS, **_OF_RATES),
    "fnr": fraction((0, 1, 0, 0), (1, 1, 0, 0), "fn / (fn + tp)", **_LESS, **_OF_RATES),
    "fdr": fraction((0, 0, 1, 0), (1, 0, 1, 0), "fp / (fp + tp)", **_LESS),
    "false_omission_rate": fraction((0, 1, 0, 0), (0, 1, 0, 1), "fn / (fn + tn)", **_LESS),
    "prevalence": fraction((1, 1, 0, 0), (1, 1, 1, 1), "(tp + fn) / n", **_NEITHER),
    "predicted_positive_rate": fraction((1, 0, 1, 0), (1, 1, 1, 1), "(tp + fp) / n", **_NEITHER),
    "predicted_negative_rate": fraction((0, 1, 0, 1), (1, 1, 1, 1), "(fn + tn) / n", **_NEITHER),
    "jaccard": fraction((1, 0, 0, 0), (1, 1, 1, 0), "tp / (tp + fp + fn)"),
    "f1": fraction((2, 0, 0, 0), (2, 1, 1, 0), "2 tp / (2 tp + fp + fn)"),
    "g_score": _of_cells(g_score, "sqrt(precision * recall)"),
    "g_mean": _of_cells(g_mean, "sqrt(recall * specificity)", **_OF_RATES),
    "informedness": _of_cells(informedness, "recall + specificity - 1", **_SIGNED, **_OF_RATES),
    "markedness": _of_cells(markedness, "precision + npv - 1", **_SIGNED),
    "positive_likelihood_ratio": _of_cells(lr_positive, "recall / fpr", **_UNBOUNDED, **_OF_RATES),
    "negative_likelihood_ratio": _of_cells(
        lr_negative, "fnr / specificity", **_UNBOUNDED, **_LESS, **_OF_RATES
    ),
    "true_positive_odds": fraction(
        (1, 0, 0, 0), (0, 1, 0, 0), "tp / fn", **_UNBOUNDED, **_OF_RATES
    ),
    "false_positive_odds": fraction(
        (0, 0, 1, 0), (0, 0, 0, 1), "fp / tn", **_UNBOUNDED, **_LESS, **_OF_RATES
    ),
    "diagnostic_odds_ratio": _of_cells(odds_ratio, "tp tn / (fp fn)", **_UNBOUNDED, **_OF_RATES),
    "prevalence_threshold": _of_cells(
        prevalence_threshold, "sqrt(fpr) / (sqrt(recall) + sqrt(fpr))", **_LESS, **_OF_RATES
    ),
    "accuracy": _of_matrix(
        accuracy,
        "share of right predictions; of two classes (tp + tn) / n",
        numerator=(1, 0, 0, 1),
        denominator=(1, 1, 1, 1),
    ),
    "error_rate": _of_matrix(
        error_rate,
        "share of wrong predictions; of two classes (fn + fp) / n",
        numerator=(0, 1, 1, 0),
        denominator=(1, 1, 1, 1),
        **_LESS,
    ),
    "balanced_accuracy": _of_matrix(
        balanced_accuracy,
        "mean of the recalls; of two classes (recall + specificity) / 2",
        **_OF_RATES,
    ),
    "matthews_corrcoef": _of_matrix(
        partial(of_classes, function=matthews),
        "correlation of truth and prediction; of two classes "
        "(tp tn - fp fn) / sqrt((tp + fp) (tp + fn) (tn + fp) (tn + fn))",
        **_SIGNED,
    ),
    "cohen_kappa": _of_matrix(
        partial(of_classes, function=kappa),
        "(accuracy - chance) / (1 - chance), with the accuracy that chance would give",
        **_SIGNED,
    ),
    "cohen_kappa_linear": _of_matrix(
        partial(weighted_kappa, weights="linear"),
        "1 - disagreement / that of chance, errors weighted with |i - j|",
        **_SIGNED,
    ),
    "cohen_kappa_quadratic": _of_matrix(
        partial(weighted_kappa, weights="quadratic"),
        "1 - disagreement / that of chance, errors weighted with (i - j)**2",
        **_SIGNED,
    ),
    "null_accuracy": _of_matrix(
        null_accuracy,
        "share of the largest class; of two classes max(prevalence, 1 - prevalence)",
        **_NEITHER,
    ),
    "null_error_rate": _of_matrix(
        null_error_rate,
        "1 - share of the largest class; of two classes min(prevalence, 1 - prevalence)",
        **_NEITHER,
    ),
}
# Metrics that are the odds p / (1 - p) of a rate: what is known of the rate is known of them.
RATE_OF_ODDS = {"true_positive_odds": "recall", "false_positive_odds": "fpr"}
AVERAGES = ("micro", "macro", "weighted")
AVERAGED = (
    *("precision", "npv", "recall", "specificity", "fpr", "fnr", "fdr", "false_omission_rate"),
    *("f1", "fbeta", "jaccard", "g_score", "g_mean", "informedness", "markedness"),
)


@lru_cache(maxsize=256)
def _proportion(metric):
    """Which of (tp, fn, fp, tn) are successes and failures, and the factor of the odds; or None.

    A metric whose cells either count fully (weight c above and below), only below (weight 1) or not
    at all is a proportion S / (S + F) with its odds multiplied by c. Metrics of the whole matrix
    count what is right (tp, tn) and what is wrong (fn, fp).
    """
    if metric.user:
        return None
    right, wrong = np.array([True, False, False, True]), np.array([False, True, True, False])
    if metric.average != "binary":
        micro = metric.average == "micro" and metric.base in ("precision", "recall", "f1", "fbeta")
        if metric.name in ("accuracy", "recall_weighted") or micro:
            return right, wrong, 1.0
        others = {"error_rate": (wrong, right, 1.0), "jaccard_micro": (right, wrong, 0.5)}
        return others.get(metric.name)
    if metric.numerator is None:
        return None
    top, bottom = np.array(metric.numerator), np.array(metric.denominator)
    success = top > 0
    odds = float(top.max())
    plain = (
        success.any()
        and np.array_equal(top[success], bottom[success])
        and np.all(top[success] == odds)
        and np.all(top[~success] == 0)
        and np.isin(bottom[~success], (0.0, 1.0)).all()
    )
    return (success, ~success & (bottom == 1), odds) if plain else None


def proportion_cells(metric):
    """Which of (tp, fn, fp, tn) are successes and failures, and the factor of the odds; or None."""
    return _proportion(metric)


def proportion_odds(metric):
    """Factor c of a metric whose odds are c times successes over failures; None of any other."""
    found = _proportion(metric)
    return None if found is None else found[2]


def proportion_masks(metric, n_classes, positive):
    """Cells ``(C, C)`` that are successes and failures of a proportion-like metric, or None."""
    found = _proportion(metric)
    if found is None:
        return None
    if metric.average == "binary":
        return tuple(spread_cells(cells, positive, n_classes) for cells in found[:2])
    diagonal = np.eye(n_classes, dtype=bool)
    return tuple(diagonal if cells[0] else ~diagonal for cells in found[:2])


def proportion_counts(matrix, metric, positive):
    """Successes, failures and the factor of the odds of a proportion-like metric, or None."""
    masks = proportion_masks(metric, matrix.shape[-1], positive)
    if masks is None:
        return None
    hits, misses = (matrix[..., mask].sum(axis=-1) for mask in masks)
    return hits, misses, proportion_odds(metric)
