"""Bootstrap of confusion matrices, of rows or of whole groups of rows.

Rows with the same true and predicted label are interchangeable. Resampling them is a multinomial
draw of the matrix, so a replicate costs the same for a thousand rows as for a million.

Groups are drawn with replacement, or get random weights (Bayesian). They enter as counts of rows
per cell. Equal groups are merged, so that the work depends on how many different ones there are.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from skuncertain._numerics.shortest_interval import shortest_of_sorted
from skuncertain._numerics.weighted_ratio import WeightedRatio
from skuncertain._utils.validation import check_draws, resolve_seed
from skuncertain.metrics._formulas import proportion_counts, proportion_masks, proportion_odds
from skuncertain.metrics._gradients import metric_gradient
from skuncertain.metrics._groups import merged_groups
from skuncertain.metrics._posterior import (
    beta_of,
    class_of,
    posterior_of,
    posterior_of_draws,
    question_of,
    view_of,
    warn_undefined,
    weak_prior,
)
from skuncertain.metrics._priors import cell_prior
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import GroupedProportionPosterior
from skuncertain.posteriors._draws import default_draws
from skuncertain.posteriors._integral import IntegralPosterior
from skuncertain.posteriors._matched import MatchedPosterior

_CHUNK = 2**20  # cells worked on at once
_MANY = 1000  # different groups
_FEW_CELLS = 64
_SURE = 900  # squared mean over variance of a cell, from which on influences suffice
_STILL = 1e-9  # standard deviation that rounding may leave where nothing moves
_LEAST_SHAPE = 0.2  # of all weights together: below, the integral of a ratio does not converge


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


# --------------------------------------------------------------------------------------------------
# Groups


def group_replicates(grouped, value_of, n_resamples, random_state):
    """Values of a metric when whole groups are drawn with replacement."""
    rng = np.random.default_rng(resolve_seed(random_state))
    sums, n_classes = _WeightedSums(*grouped.merged), len(grouped.labels)

    def values(size):
        return value_of(sums.resampled(rng, size).reshape(size, n_classes, n_classes))

    return _in_chunks(n_resamples, sums.width, values)


class _WeightedSums:
    """Sums over groups with random weights.

    Equal groups share one weight, of the distribution of a sum. Where thousands of different ones
    remain, those that matter get a weight each. The rest are a crowd whose sum is normal: no group
    has more than a thousandth of the variance in any direction, so that the skewness in any is
    below 0.07.
    """

    def __init__(self, types, repeats):
        self.shape = types.shape
        own, crowd = slice(None), None
        if isinstance(types, np.ndarray):
            types = types.astype(float)
            if len(types) > _MANY and types.shape[1] <= _FEW_CELLS:
                crowd = _leverage(types, repeats) < 1 / _MANY
                own = ~crowd
        self.types, self.repeats = types[own], repeats[own]
        self.width = max(self.types.shape)
        self.crowd = None if crowd is None else _Crowd(types[crowd], repeats[crowd])
        self.n_groups = int(repeats.sum())

    def exponential(self, rng, size):
        """Every group has an exponential weight."""
        if np.all(self.repeats == 1):
            weights = rng.standard_exponential((size, self.repeats.size))
        else:
            weights = rng.standard_gamma(self.repeats, (size, self.repeats.size))
        sums = weights @ self.types
        return sums if self.crowd is None else sums + self.crowd.exponential(rng, size)

    def resampled(self, rng, size):
        """As many groups as there are, drawn with replacement."""
        others = 0 if self.crowd is None else self.crowd.number
        share = np.append(self.repeats, others) / self.n_groups
        weights = rng.multinomial(self.n_groups, share / share.sum(), size=size)
        sums = weights[:, :-1] @ self.types
        return sums if self.crowd is None else sums + self.crowd.sum_of(rng, weights[:, -1])


def _leverage(types, repeats):
    """Largest share that one group of a type has in the sum of squares of any linear combination.

    The leverages of all groups add up to the number of cells at most: few are large.
    """
    values, vectors = np.linalg.eigh((types.T * repeats) @ types)
    used = values > 1e-12 * values[-1]
    return ((types @ (vectors[:, used] / np.sqrt(values[used]))) ** 2).sum(axis=1)


class _Crowd:
    """Many small groups: sums of them with random weights are normal."""

    def __init__(self, types, repeats):
        self.number = int(repeats.sum())
        self.total = repeats @ types
        squares = (types.T * repeats) @ types
        mean = self.total / max(self.number, 1)
        self.all = _root(squares)
        self.one = mean, _root(squares / max(self.number, 1) - np.outer(mean, mean))

    def exponential(self, rng, size):
        """Every group has an exponential weight."""
        draws = self.total + rng.standard_normal((size, self.total.size)) @ self.all
        return np.maximum(draws, 0.0)

    def sum_of(self, rng, numbers):
        """Sums of so many groups, drawn with replacement."""
        mean, root = self.one
        noise = rng.standard_normal((numbers.size, mean.size)) @ root
        return np.maximum(numbers[:, None] * mean + np.sqrt(numbers)[:, None] * noise, 0.0)


def _root(covariance):
    values, vectors = np.linalg.eigh(covariance)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def jackknife_groups(grouped, value_of):
    """Leave-one-group-out values, and how many groups have each."""
    types, repeats = grouped.merged
    total, n_classes = repeats @ types, len(grouped.labels)
    left_out = np.empty(repeats.size)
    chunk = max(1, _CHUNK // n_classes**2)
    for start in range(0, repeats.size, chunk):
        part = types[start : start + chunk]
        rest = total - (part if isinstance(part, np.ndarray) else part.toarray())
        cells = rest.astype(float).reshape(-1, n_classes, n_classes)
        left_out[start : start + chunk] = value_of(cells)
    return [(left_out, repeats)]


def group_posterior(grouped, matrix, metric, positive, options):
    """Posterior of a metric by the Bayesian bootstrap over groups; `matrix` holds all rows.

    Every group gets an exponential weight, and every cell a gamma variate with the prior's shape,
    in units of an average group. With groups of one row each this is the Dirichlet posterior. Of a
    proportion it is known exactly, without draws.
    """
    matrix, size = matrix.astype(float), grouped.size_if_alike
    if size:  # each group is as good as a row
        posterior = posterior_of(matrix / size, metric, positive, options)
    else:
        posterior = _weighted_posterior(grouped, matrix, metric, positive, options)
    question = question_of(metric, options, class_of(metric, grouped.labels, positive))
    return posterior.with_about(
        prior=f"{posterior.prior}, in groups",
        **question | {"model": f"Bayesian bootstrap over {grouped.n_groups} groups"},
    )


def _weighted_posterior(grouped, matrix, metric, positive, options):
    observed = metric.evaluate(matrix, positive=positive)
    seen, index, prior = view_of(matrix, metric, positive, options)
    about = About(metric=metric.name, range=metric.range, observed=observed, prior=prior.text)
    if prior.own_proportion:
        before, proper = (prior.value, prior.value, proportion_odds(metric)), True
    else:
        pseudo = np.broadcast_to(cell_prior(prior.value, seen), seen.shape)
        about = replace(about, closing=weak_prior(seen, pseudo))
        before, proper = proportion_counts(pseudo, metric, index), bool(np.all(seen + pseudo > 0))
    warn_undefined(observed, metric, matrix, proper)
    if before is not None:
        masks = proportion_masks(metric, matrix.shape[-1], positive)
        posterior = _ratio_posterior(grouped, masks, before, about, prior.own_proportion)
        if posterior is not None:
            return posterior
    types, repeats = grouped.merged
    if seen.shape != matrix.shape:  # one class against the rest
        inside = np.arange(matrix.shape[-1]) == positive
        cell = (2 * inside[:, None] + inside).ravel()
        types, repeats = merged_groups(_times(grouped.table, np.eye(4)[cell]))
    unit = (repeats @ types).sum() / repeats.sum()
    if options.n_draws is None:
        posterior = _matched_posterior(types, repeats, unit * pseudo, unit, metric, index, about)
        if posterior is not None:
            return posterior
    return _drawn_posterior(types, repeats, pseudo, unit, metric, index, options, about)


def _times(table, columns):
    """Sums of cells per group: whole numbers, exact in floats."""
    return (table @ columns).astype(np.int64)


def _ratio_posterior(grouped, masks, before, about, calibrated):
    """Posterior of a proportion-like metric, without draws; None if that is not possible.

    `before` are the shapes of the prior's successes and failures, and the factor of the odds.
    """
    types, repeats = merged_groups(_times(grouped.table, np.stack(masks, -1).reshape(-1, 2) * 1.0))
    *prior, odds = before
    unit = grouped.codes.size / grouped.n_groups
    terms = np.concatenate([types, unit * np.eye(2)])
    shape = np.concatenate([repeats, prior])
    terms, shape = terms[(shape > 0) & terms.any(axis=1)], shape[(shape > 0) & terms.any(axis=1)]
    hits, misses = shape @ terms
    if hits == 0 or misses == 0:
        return beta_of(hits, misses, odds, about)
    share = terms[:, 0] / terms.sum(axis=1)
    if shape.sum() < _LEAST_SHAPE or share.min() == share.max():
        return None
    family = WeightedRatio(odds * terms[:, 0], terms[:, 1], shape)
    if not calibrated:
        return IntegralPosterior(family, (), about)
    sides, sizes = repeats @ types / unit, types.sum(axis=1)
    # Without a failure, or a success, groups are rows with weights.
    n = (repeats @ sizes) ** 2 / max(repeats @ np.square(sizes), 1)
    return GroupedProportionPosterior(
        family, float(n), odds, replace(about, successes_failures=tuple(sides))
    )


def _are_sure(types, repeats, added, unit):
    """Whether the sum of every cell has a standard deviation of at most a thirtieth.

    Then a metric is as good as linear in the weights of the groups.
    """
    if not isinstance(types, np.ndarray):
        return False
    mean = repeats @ types + added.ravel()
    variance = repeats @ np.square(types) + unit * added.ravel()
    return bool(np.all(_SURE * variance < np.square(mean, dtype=float)))


def _matched_posterior(types, repeats, added, unit, metric, positive, about):
    """Posterior from the influences of the groups: mean, variance and third cumulant of their sum.

    None unless groups are so many that `_are_sure`, for metrics without an end to their range, and
    where no group moves the metric. Proportions have a rule of their own.
    """
    smooth = not metric.user and proportion_odds(metric) is None
    if not (
        smooth and np.all(np.isfinite(metric.range)) and _are_sure(types, repeats, added, unit)
    ):
        return None
    cells = (repeats @ types).reshape(added.shape) + added
    gradient = metric_gradient(cells, metric, positive).ravel()
    influence = np.append(types @ gradient, unit * gradient)
    times = np.append(repeats, added / unit)
    variance = times @ influence**2
    if variance < _STILL**2:
        return None
    mean = metric.evaluate(cells, positive=positive)
    return MatchedPosterior((mean, variance, 2 * times @ influence**3), about=about)


def _drawn_posterior(types, repeats, pseudo, unit, metric, positive, options, about):
    """Posterior of any metric from draws."""
    n_draws = options.n_draws
    sums = _WeightedSums(types, repeats)
    n_draws = default_draws(sums.width, 1) if n_draws is None else check_draws(n_draws, 1)
    seed = resolve_seed(options.random_state)
    rng = np.random.default_rng(seed)

    def values(size):
        cells = sums.exponential(rng, size)
        cells += unit * rng.standard_gamma(pseudo.ravel(), size=(size, pseudo.size))
        return metric.evaluate(cells.reshape(size, *pseudo.shape), positive=positive)

    draws = _in_chunks(n_draws, sums.width, values)
    text = (
        "{name} is 0/0 in {share:.2%} of the draws; they are left out. A prior above 0 on every "
        "cell avoids this."
    )
    return posterior_of_draws(draws, seed, about, text)
