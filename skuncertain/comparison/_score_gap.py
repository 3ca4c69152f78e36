"""Differences of scores of the same rows, from what every row contributes to each of the two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from skuncertain._numerics.scores.delong import mean_of
from skuncertain.metrics._registry import get_metric
from skuncertain.metrics._scores.ranking import NORMAL_DF, logit_scale
from skuncertain.posteriors._student_normal import NormalPosterior, StudentDifferencePosterior


def gap_of(left, right):
    """Difference of two estimates on the same rows, averages class by class."""
    found = _gap(left, right)
    return found if found.parts else mean_of([found], [1.0])


def _gap(left, right):
    """Difference of two estimates; the fewer rows count."""
    if left.parts:
        weights = [weight for weight, _ in right.parts]
        pairs = zip(left.parts, right.parts, strict=True)
        return mean_of([_gap(a, b) for (_, a), (_, b) in pairs], weights)
    return replace(
        right,
        value=right.value - left.value,
        influence=right.influence - left.influence,
        size=min(left.size, right.size),
        df=min(left.df, right.df),
    )


def ranking_variance(left, right, gap, *, moderated=True):
    """Variance of the difference of two rankings, with what (nearly) perfect ones hide."""
    variance = gap.variance + sum(_hidden(side) for side in (left, right))
    if moderated:
        variance += gap.unseen
    if gap.variance == 0:  # rankings that differ, but not in how they place rows
        variance = max(variance, _perfect_variance(gap.size, right.chance))
    return variance


def _perfect_variance(size, chance):
    """Variance of Beta(size + 1/2, 1/2), stretched from chance to 1."""
    variance = float((size + 0.5) * 0.5 / ((size + 1) ** 2 * (size + 2)))
    return variance * (1 - (chance or 0.0)) ** 2


def _hidden(found):
    """Variance that a (nearly) perfect ranking hides."""
    found = found if found.parts else mean_of([found], [1.0])
    if found.value not in (0.0, 1.0):
        spread = np.sqrt(found.variance + found.unseen) / (found.value * (1 - found.value))
        if spread == 0 or logit_scale(found) <= spread * (1 + 1e-12):
            return 0.0
    return max(_perfect_variance(found.size, found.chance) - found.variance, 0.0)


_LOSS_OF = {"d2_log_loss_score": "log_loss", "d2_brier_score": "brier_score"}


def loss_influence(metric, rows, found):
    """Influences on a skill if the loss of the class frequencies were known.

    Both models are measured by the same frequencies, so the better one has the smaller loss. With
    few rows of a class the influences of the ratio say too little: they vary at least as losses do.
    """
    loss = get_metric(_LOSS_OF[metric.name]).estimate(rows)
    plain = loss.value / (1 - found.value) if found.value < 1 else 1.0  # a skill of 1 has no losses
    return loss.influence / plain


def difference_around(place, variance, df, about, *, normal=False):
    """Posterior of a difference, and its degrees of freedom in words; the normal needs none."""
    if normal or df > NORMAL_DF:
        return NormalPosterior(place, np.sqrt(variance), about=about), ""
    scale = np.sqrt(variance)
    return StudentDifferencePosterior(df, place, scale, about=about), f", t with {df:.3g} df"


def what_counts(metric, rows, found):
    """Numbers that are equal exactly if two models are the same to the metric on these rows.

    Of a ranking the order of the rows, otherwise what every row contributes.
    """
    if metric.family != "ranking":
        return np.append(found.influence, found.value)
    classes = range(rows.n_classes) if rows.positive is None else [rows.positive]
    return np.concatenate([rankdata(rows.scores_of(c)) for c in classes])
