"""Textbook formulas of all metrics, written without the library and checked against it.

`counts` are arrays ``(..., C, C)`` of floats, rows true. NaN stands for 0/0.
"""

import math

import numpy as np


def ratio(top, bottom):
    with np.errstate(all="ignore"):
        return np.true_divide(top, bottom)


def cells(counts, k):
    """tp, fn, fp, tn of class k against the rest."""
    tp = counts[..., k, k]
    fn = counts[..., k, :].sum(-1) - tp
    fp = counts[..., :, k].sum(-1) - tp
    return tp, fn, fp, counts.sum((-1, -2)) - tp - fn - fp


def f_beta(beta):
    def value(tp, fn, fp, tn):
        return ratio((1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp)

    return value


def threshold_of_prevalence(tp, fn, fp, tn):
    tpr, fpr = ratio(tp, tp + fn), ratio(fp, fp + tn)
    return ratio(np.sqrt(fpr), np.sqrt(tpr) + np.sqrt(fpr))


OF_FOUR = {
    "precision": lambda tp, fn, fp, tn: ratio(tp, tp + fp),
    "npv": lambda tp, fn, fp, tn: ratio(tn, tn + fn),
    "recall": lambda tp, fn, fp, tn: ratio(tp, tp + fn),
    "specificity": lambda tp, fn, fp, tn: ratio(tn, tn + fp),
    "fpr": lambda tp, fn, fp, tn: 1 - ratio(tn, tn + fp),
    "fnr": lambda tp, fn, fp, tn: 1 - ratio(tp, tp + fn),
    "fdr": lambda tp, fn, fp, tn: 1 - ratio(tp, tp + fp),
    "false_omission_rate": lambda tp, fn, fp, tn: 1 - ratio(tn, tn + fn),
    "prevalence": lambda tp, fn, fp, tn: ratio(tp + fn, tp + fn + fp + tn),
    "predicted_positive_rate": lambda tp, fn, fp, tn: ratio(tp + fp, tp + fn + fp + tn),
    "predicted_negative_rate": lambda tp, fn, fp, tn: 1 - ratio(tp + fp, tp + fn + fp + tn),
    "jaccard": lambda tp, fn, fp, tn: ratio(tp, tp + fp + fn),
    "f1": f_beta(1.0),
    "fbeta": f_beta(2.0),
    "g_score": lambda tp, fn, fp, tn: np.sqrt(ratio(tp, tp + fp) * ratio(tp, tp + fn)),
    "g_mean": lambda tp, fn, fp, tn: np.sqrt(ratio(tp, tp + fn) * ratio(tn, tn + fp)),
    "informedness": lambda tp, fn, fp, tn: ratio(tp, tp + fn) + ratio(tn, tn + fp) - 1,
    "markedness": lambda tp, fn, fp, tn: ratio(tp, tp + fp) + ratio(tn, tn + fn) - 1,
    "positive_likelihood_ratio": lambda tp, fn, fp, tn: ratio(
        ratio(tp, tp + fn), ratio(fp, fp + tn)
    ),
    "negative_likelihood_ratio": lambda tp, fn, fp, tn: ratio(
        ratio(fn, tp + fn), ratio(tn, fp + tn)
    ),
    "true_positive_odds": lambda tp, fn, fp, tn: ratio(tp, fn),
    "false_positive_odds": lambda tp, fn, fp, tn: ratio(fp, tn),
    "diagnostic_odds_ratio": lambda tp, fn, fp, tn: ratio(tp * tn, fp * fn),
    "prevalence_threshold": threshold_of_prevalence,
    "net_benefit": lambda tp, fn, fp, tn: ratio(tp - 0.25 / 0.75 * fp, tp + fn + fp + tn),
}


def matthews(counts):
    """Pearson's correlation of the indicators of the classes, summed over them (Gorodkin)."""
    n, true, said = counts.sum((-1, -2)), counts.sum(-1), counts.sum(-2)
    right = np.trace(counts, axis1=-2, axis2=-1)
    top = right * n - (true * said).sum(-1)
    return ratio(top, np.sqrt(n**2 - (true**2).sum(-1)) * np.sqrt(n**2 - (said**2).sum(-1)))


def kappa(counts, power):
    index = np.arange(counts.shape[-1])
    weight = np.abs(index[:, None] - index) ** power if power else 1 - np.eye(len(index))
    expected = counts.sum(-1)[..., :, None] * counts.sum(-2)[..., None, :]
    expected = ratio(expected, counts.sum((-1, -2))[..., None, None])
    return 1 - ratio((weight * counts).sum((-1, -2)), (weight * expected).sum((-1, -2)))


OF_MATRIX = {
    "accuracy": lambda c: ratio(np.trace(c, axis1=-2, axis2=-1), c.sum((-1, -2))),
    "error_rate": lambda c: 1 - ratio(np.trace(c, axis1=-2, axis2=-1), c.sum((-1, -2))),
    "balanced_accuracy": lambda c: ratio(np.diagonal(c, 0, -2, -1), c.sum(-1)).mean(-1),
    "matthews_corrcoef": matthews,
    "cohen_kappa": lambda c: kappa(c, 0),
    "cohen_kappa_linear": lambda c: kappa(c, 1),
    "cohen_kappa_quadratic": lambda c: kappa(c, 2),
    "null_accuracy": lambda c: ratio(c.sum(-1).max(-1), c.sum((-1, -2))),
    "null_error_rate": lambda c: 1 - ratio(c.sum(-1).max(-1), c.sum((-1, -2))),
}


def value(name, counts, positive=1):
    """Value of the metric `name`; NaN also where a class without rows or predictions enters."""
    counts = np.asarray(counts, dtype=float)
    if name in OF_MATRIX:
        return OF_MATRIX[name](counts)
    base, _, average = name.rpartition("_")
    if average not in ("micro", "macro", "weighted"):
        return OF_FOUR[name](*cells(counts, positive))
    each = [cells(counts, k) for k in range(counts.shape[-1])]
    if average == "micro":
        return OF_FOUR[base](*(sum(parts) for parts in zip(*each, strict=True)))
    values = np.stack([OF_FOUR[base](*four) for four in each], axis=-1)
    if average == "macro":
        return values.mean(-1)
    weight = counts.sum(-1)
    return ratio((values * weight).sum(-1), weight.sum(-1))


def calibrated_ends(hits, misses, tail):
    """Ends of the default interval without a failure, or without a success; NaN elsewhere.

    The far end is the rate at which so many rows in a row have the probability `tail`.
    """
    low, high = np.full((2, len(hits)), np.nan)
    for k, (hit, miss) in enumerate(zip(hits.tolist(), misses.tolist(), strict=True)):
        if miss == 0:
            low[k], high[k] = tail ** (1 / hit) if hit else 0.0, 1.0
        elif hit == 0:
            low[k], high[k] = 0.0, -math.expm1(math.log(tail) / miss)
    return low, high
