"""Bootstrap on counts, never on rows.

Drawing n rows with replacement and counting them is the same as one multinomial draw of the cells,
so a replicate costs the same for a thousand rows and for a billion.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from skuncertain._numerics.shortest_interval import shortest_of_sorted
from skuncertain._utils.validation import check_draws, resolve_seed
from skuncertain.metrics._posterior import weak_prior
from skuncertain.metrics._priors import cell_prior, resolve_prior
from skuncertain.posteriors._about import About
from skuncertain.posteriors._draws import DrawsPosterior, default_draws

_CHUNK = 2**20  # cells worked on at once


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

    return _in_chunks(n_resamples, n_classes**2, values)


def _in_chunks(number, width, values):
    """Values of many replicates, computed so many at once that their cells fit into memory."""
    chunk = max(1, _CHUNK // width)
    sizes = (min(chunk, number - start) for start in range(0, number, chunk))
    return np.concatenate([values(size) for size in sizes])


def group_replicates(groups, value_of, n_resamples, random_state):
    """Values of a metric when whole groups are drawn with replacement; `groups` is (G, C, C)."""
    rng = np.random.default_rng(resolve_seed(random_state))
    count, *shape = groups.shape
    flat = groups.reshape(count, -1).astype(float)

    def values(size):
        weight = rng.multinomial(count, np.full(count, 1 / count), size=size)
        return value_of((weight @ flat).reshape(size, *shape))

    return _in_chunks(n_resamples, max(flat.shape), values)


def group_posterior(groups, metric, positive, options):
    """Posterior of a metric by the Bayesian bootstrap over groups; `groups` is (G, C, C).

    Every group gets an exponential weight, and every cell a gamma variate with the prior's shape,
    in units of an average group. With groups of one row each this is the Dirichlet posterior.
    """
    total = groups.sum(axis=0).astype(float)
    prior = resolve_prior(options.prior, total.shape[-1])
    pseudo = cell_prior(prior.value, total)
    count, n_draws = groups.shape[0], options.n_draws
    unit = total.sum() / count
    n_draws = default_draws(total.size, 1) if n_draws is None else check_draws(n_draws, 1)
    seed = resolve_seed(options.random_state)
    rng = np.random.default_rng(seed)
    flat = groups.reshape(count, -1).astype(float)

    def values(size):
        cells = rng.standard_exponential((size, count)) @ flat
        cells += unit * rng.standard_gamma(pseudo.ravel(), size=(size, total.size))
        return metric.evaluate(cells.reshape(size, *total.shape), positive=positive)

    about = About(
        metric=metric.name,
        range=metric.range,
        observed=metric.evaluate(total, positive=positive),
        greater_is_better=metric.greater_is_better,
        closing=weak_prior(total, pseudo),
        prior=f"{prior.text}, in groups",
        description=f"Bayesian bootstrap over {count} groups",
    )
    draws = _in_chunks(n_draws, max(flat.shape), values)
    return DrawsPosterior(draws, seed=seed, about=about)


def percentile_interval(values, level, kind="eti"):
    """Percentile interval of the replicates that are defined, or their shortest one."""
    values = values[~np.isnan(values)]
    if values.size == 0:
        return np.nan, np.nan
    if kind == "hdi":
        return shortest_of_sorted(np.sort(values), level)
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
    chunk = max(1, _CHUNK // n_classes**2)
    for start in range(0, rows.size, chunk):
        i, j = rows[start : start + chunk], columns[start : start + chunk]
        reduced = np.repeat(matrix[None], i.size, axis=0)
        reduced[np.arange(i.size), i, j] -= 1
        left_out[start : start + chunk] = value_of(reduced)
    repeats = matrix[rows, columns]
    if not stratified:
        return [(left_out, repeats)]
    return [(left_out[rows == k], repeats[rows == k]) for k in range(n_classes)]


def jackknife_groups(groups, value_of):
    """Leave-one-group-out values."""
    total = groups.sum(axis=0)
    left_out = np.array([value_of((total - group)[None].astype(float))[0] for group in groups])
    return [(left_out, np.ones(len(groups)))]
