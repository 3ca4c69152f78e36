"""Bootstrap on counts, never on rows.

Drawing n rows with replacement and counting them is the same as one multinomial draw of the cells,
so a replicate costs the same for a thousand rows and for a billion.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from skuncertain._utils.validation import resolve_seed

CHUNK = 2**20  # cells worked on at once


def multinomial_replicates(matrix, value_of, n_resamples, random_state, stratified=False):
    """Values of a metric on bootstrap replicates of one matrix.

    `value_of` maps matrices (m, C, C) to values (m,). With `stratified` the rows of each true class
    are drawn separately, so that class counts stay as they are.
    """
    rng = np.random.default_rng(resolve_seed(random_state))
    n_classes = matrix.shape[-1]
    used, total = matrix > 0, matrix.sum()  # empty cells stay empty

    def values(size):
        sample = np.zeros((size, n_classes, n_classes))
        if not stratified:
            sample[:, used] = rng.multinomial(int(total), matrix[used] / total, size=size)
            return value_of(sample)
        for k in np.flatnonzero(matrix.any(axis=-1)):
            row = matrix[k]
            sample[:, k] = rng.multinomial(int(row.sum()), row / row.sum(), size=size)
        return value_of(sample)

    return in_chunks(n_resamples, n_classes**2, values)


def in_chunks(number, width, values):
    """Values of many replicates, computed so many at once that their cells fit into memory."""
    chunk = max(1, CHUNK // width)
    sizes = (min(chunk, number - start) for start in range(0, number, chunk))
    return np.concatenate([values(size) for size in sizes])


def percentile_interval(values, level):
    """Percentile interval of the replicates that are defined."""
    values = values[~np.isnan(values)]
    if values.size == 0:
        return np.nan, np.nan
    return tuple(np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf"))


def bca_interval(values, observed, influence, level):
    """Bias-corrected and accelerated interval (Efron 1987).

    `influence` is a list of strata; each is a pair of leave-one-out values and how many rows have
    that value.
    """
    values = values[~np.isnan(values)]
    if values.size == 0 or np.isnan(observed):
        return np.nan, np.nan
    below = (np.sum(values < observed) + np.sum(values <= observed)) / (2 * values.size)
    if not 0 < below < 1:  # all replicates on one side: nothing to correct with
        return percentile_interval(values, level)
    bias = ndtri(below)
    cubes = squares = 0.0
    for left_out, repeats in influence:
        keep = np.isfinite(left_out)  # an odds ratio without one row may be infinite
        left_out, repeats = left_out[keep], repeats[keep]
        n = repeats.sum()
        if n < 2:
            continue
        d = (n - 1) * ((repeats * left_out).sum() / n - left_out)
        cubes += (repeats * d**3).sum() / n**3
        squares += (repeats * d**2).sum() / n**2
    acceleration = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    z = bias + ndtri([(1 - level) / 2, (1 + level) / 2])
    probabilities = ndtr(bias + z / (1 - acceleration * z))
    return tuple(np.quantile(values, probabilities, method="inverted_cdf"))


def jackknife_cells(matrix, value_of, stratified):
    """Leave-one-row-out values: one per occupied cell, with its count."""
    n_classes = matrix.shape[-1]
    rows, columns = np.nonzero(matrix)
    left_out = np.empty(rows.size)
    chunk = max(1, CHUNK // n_classes**2)
    for start in range(0, rows.size, chunk):
        i, j = rows[start : start + chunk], columns[start : start + chunk]
        reduced = np.repeat(matrix[None], i.size, axis=0)
        reduced[np.arange(i.size), i, j] -= 1
        left_out[start : start + chunk] = value_of(reduced)
    repeats = matrix[rows, columns]
    if not stratified:
        return [(left_out, repeats)]
    return [(left_out[rows == k], repeats[rows == k]) for k in range(n_classes)]
