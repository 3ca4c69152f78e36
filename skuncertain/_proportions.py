"""Metrics that are proportions: what counts as a success and what as a failure.

One description serves the Beta posteriors and the binomial intervals.
"""

from functools import lru_cache

import numpy as np

from skuncertain._metric_formulas import collapse


@lru_cache(maxsize=256)
def proportion_cells(metric):
    """Describe a metric that is a proportion: (success weights, failure weights, odds factor).

    A metric whose cells either count fully (weight c above and below), only below (weight 1) or not
    at all is a proportion S / (S + F) with its odds multiplied by c. The weights are tuples over
    (tp, fn, fp, tn), or the strings "trace" and "off" for a metric of the whole matrix. None if the
    metric is not of this kind.
    """
    if metric.average != "binary":
        micro = metric.average == "micro" and metric.base in ("precision", "recall", "f1", "fbeta")
        if metric.name in ("accuracy", "recall_weighted") or micro:
            return "trace", "off", 1.0
        if metric.name == "error_rate":
            return "off", "trace", 1.0
        if metric.name == "jaccard_micro":
            return "trace", "off", 0.5
        return None
    if metric.numerator is None:
        return None
    top, bottom = np.array(metric.numerator), np.array(metric.denominator)
    success = top > 0
    odds = float(top[success][0]) if success.any() else 0.0
    plain = (
        success.any()
        and np.array_equal(top[success], bottom[success])
        and np.all(top[success] == odds)
        and np.all(top[~success] == 0)
        and np.isin(bottom[~success], (0.0, 1.0)).all()
    )
    if not plain:
        return None
    failure = ~success & (bottom == 1)
    return tuple(success.astype(float)), tuple(failure.astype(float)), odds


def proportion_counts(matrix, metric, positive):
    """Successes, failures and odds factor of a proportion-like metric, or None."""
    found = proportion_cells(metric)
    if found is None:
        return None
    success, failure, odds = found
    if isinstance(success, str):
        diagonal = np.eye(matrix.shape[-1], dtype=bool)
        hits, misses = matrix[..., diagonal].sum(axis=-1), matrix[..., ~diagonal].sum(axis=-1)
        return (hits, misses, odds) if success == "trace" else (misses, hits, odds)
    index = metric.positive_index(matrix.shape[-1], positive)
    cells = np.stack(collapse(matrix, index), axis=-1)
    return cells @ np.array(success), cells @ np.array(failure), odds
