"""Confidence intervals of metrics of scores and probabilities: Wald and the bootstrap of rows."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import refuse_if, resolve_seed
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics._bootstrap import bca_interval, percentile_interval
from skuncertain.metrics._labels import one_column, to_numpy
from skuncertain.metrics._scores.posterior import checked_estimate, question_of_scores

_CHUNK = 2**20  # numbers at once


def wald_interval(metric, rows, level):
    """Value and normal quantiles of the variance of the influences, within the range."""
    found = checked_estimate(metric, rows)
    if found.variance == 0:
        warn_user(
            f"the influences of rows on {metric.name} are all 0, so the interval has no width, "
            "which says nothing about uncertainty. Use credible_interval.",
            DegenerateIntervalWarning,
        )
    half = -ndtri((1 - level) / 2) * np.sqrt(found.variance)
    ends = np.array([found.value - half, found.value + half])
    return tuple(np.clip(ends, *question_of_scores(metric, rows).range).tolist())


def bootstrap_interval(metric, rows, resampling, groups):
    """Percentile or BCa interval of replicates."""
    found = checked_estimate(metric, rows)
    groups = group_codes(groups, rows)
    values = score_replicates(metric, rows, resampling, groups)
    if resampling.method == "bootstrap":
        low, high = percentile_interval(values, resampling.level, resampling.kind)
    else:
        # What a row takes away when it is left out is its influence, up to a factor.
        left_out = -found.influence
        strata = [left_out]
        if groups is not None:
            strata = [np.bincount(groups, weights=left_out)]
        elif resampling.stratified:
            strata = [left_out[rows.codes == c] for c in range(rows.n_classes)]
        parts = [(part, np.ones(part.size)) for part in strata]
        low, high = bca_interval(values, found.value, parts, resampling.level)
    if low == high:
        warn_user(
            f"the bootstrap of {metric.name} has no width: every replicate has the same value, "
            "because resampling cannot produce errors that were not observed. Use "
            "credible_interval.",
            DegenerateIntervalWarning,
        )
    return float(low), float(high)


def score_replicates(metric, rows, resampling, groups=None):
    """Values of the metric of rows, or of whole groups, that are drawn with replacement."""
    rng = np.random.default_rng(resolve_seed(resampling.random_state))
    draw = _drawing(rows, resampling, groups)
    if metric.family in ("mean", "share") and groups is None:
        values = _means(checked_estimate(metric, rows), draw, resampling.n_resamples, rng)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(
                [
                    metric.estimate(rows.take(draw(1, rng)[0])).value
                    for _ in range(resampling.n_resamples)
                ]
            )
    undefined = np.isnan(values).mean()
    if undefined > 0:
        warn_user(
            f"{metric.name} is not defined in {undefined:.1%} of the bootstrap replicates, which "
            "lack a class; they are left out.",
            UndefinedMetricWarning,
        )
    return values


def _means(found, draw, number, rng):
    """Means of the values of rows, which their influences tell."""
    n = found.influence.size
    values = found.value + found.influence * np.sqrt(n * max(n - 1, 1))
    step = max(1, _CHUNK // n)
    parts = [
        values[draw(min(step, number - start), rng)].mean(axis=1)
        for start in range(0, number, step)
    ]
    return np.concatenate(parts)


def _drawing(rows, resampling, groups):
    """Return a function of a number and a generator that draws so many lists of rows."""
    n = rows.codes.size
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(groups))[:-1])

        def of_groups(number, rng):
            chosen = rng.integers(len(members), size=(number, len(members)))
            return [np.concatenate([members[k] for k in one]) for one in chosen]

        return of_groups
    if not resampling.stratified:
        return lambda number, rng: rng.integers(n, size=(number, n))
    classes = [np.flatnonzero(rows.codes == c) for c in np.unique(rows.codes)]

    def of_classes(number, rng):
        parts = [one[rng.integers(one.size, size=(number, one.size))] for one in classes]
        return np.concatenate(parts, axis=1)

    return of_classes


def group_codes(groups, rows):
    """Numbers of the groups, or None."""
    if groups is None:
        return None
    names = one_column("groups", to_numpy("groups", groups), "group")
    n = rows.codes.size
    refuse_if(
        len(names) != n,
        "groups",
        f"groups must have one entry per row, {n}, got {len(names)}.",
    )
    return np.unique(names, return_inverse=True)[1]
