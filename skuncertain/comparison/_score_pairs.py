"""Two models by a metric of scores or probabilities of the same rows."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from skuncertain._utils.validation import check_names, check_number, refuse_if
from skuncertain.comparison._fold_rows import is_cross_validated
from skuncertain.comparison._result import judge
from skuncertain.comparison._score_gap import (
    difference_around,
    gap_of,
    loss_influence,
    ranking_variance,
    what_counts,
)
from skuncertain.metrics._registry import get_metric
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.posterior import checked_estimate, question_of_scores
from skuncertain.metrics._scores.row_scores import RowScores, scores_called
from skuncertain.posteriors._about import About
from skuncertain.posteriors._difference import discordance_posterior


def score_metric(metric):
    """The metric, if it is one of scores or probabilities; otherwise None."""
    found = None if metric is None else get_metric(metric)
    return found if isinstance(found, ScoreMetric) else None


def refuse_folds(metric, folds, models):
    """Refuse rows in folds: scores of different fold models belong to different scales."""
    folded = folds is not None or any(map(is_cross_validated, models))
    refuse_if(
        folded,
        "metric",
        f"metric {metric.name!r} is compared row by row on one test set, not in folds.",
        remedy=f"Compare the folds: compare_cv(a, b, metric={metric.name!r}), and the areas of "
        "two cross-validators with compare_auc.",
    )


def read_scores(y_true, scores, metric, names, labels, pos_label, parameter=None):
    """Checked rows of every model; errors name the model, or the parameter that holds them all."""
    about, found = {"labels": labels, "pos_label": pos_label}, []
    for name, score in zip(names, scores, strict=True):
        with scores_called(name, parameter):
            found.append(RowScores.of(y_true, score, metric, **about))
    return found


def compare_scores(y_true, score_a, score_b, metric, *, rope, prior, labels, pos_label, names):
    """Compare two models on the same rows; the difference is that of b and a."""
    names = check_names(names)
    sides = ("pred_a", "pred_b")
    rows = read_scores(y_true, (score_a, score_b), metric, sides, labels, pos_label)
    left, right = (checked_estimate(metric, one) for one in rows)
    n, asked = rows[0].codes.size, question_of_scores(metric, rows[0])
    low, high = asked.range
    about = About(
        metric=f"difference in {metric.name}",
        range=(low - high, high - low),
        closing=False,
        pos_label=asked.pos_label,
        estimand=asked.estimand,
    )
    told = {"metric": metric.name, "names": names, "n": n}
    told["greater_is_better"] = metric.greater_is_better
    if metric.family == "share":
        return _compare_shares(rows, metric, rope, prior, about, told)
    refuse_prior(metric, prior)
    counted = [what_counts(metric, *pair) for pair in zip(rows, (left, right), strict=True)]
    gap, alike = gap_of(left, right), np.array_equal(*counted)
    place, variance = (0.0, 0.0) if alike else (gap.value, _variance(metric, rows, left, right))
    difference, freedom = difference_around(place, variance, gap.df, about, normal=alike)
    return judge(
        difference,
        rope,
        method=f"{n} shared rows, influences of rows{freedom}",
        prior=f"none: {'t' if freedom else 'normal'} with the covariance of the influences",
        **told,
    )


def _variance(metric, rows, left, right):
    """Variance of the difference of two estimates."""
    gap = gap_of(left, right)
    if metric.family == "ranking":
        return ranking_variance(left, right, gap)
    if metric.family == "skill":
        pairs = zip(rows, (left, right), strict=True)
        first, second = (loss_influence(metric, *pair) for pair in pairs)
        return max(gap.variance, float(np.square(second - first).sum()))
    return gap.variance


def refuse_prior(metric, prior):
    """Refuse any prior but the default."""
    refuse_if(
        prior not in (0.5, "auto"),
        "prior",
        f"prior is for counts; metric {metric.name!r} has none.",
    )


def hits_of(metric, rows):
    """Whether every row is a hit, of a share of rows."""
    found = metric.estimate(rows)
    return (found.influence > 0) | (found.value == 1)


def _compare_shares(rows, metric, rope, prior, about, told):
    """Two shares of the same rows: only rows where they differ count, as for accuracy."""
    prior = check_number("prior", prior, low=0, high=1e12, closed=False)
    first, second = (hits_of(metric, one) for one in rows)
    only_a, only_b = (np.sum(first & ~second) + prior, np.sum(second & ~first) + prior)
    rest = first.size + 4 * prior - only_a - only_b
    return judge(
        discordance_posterior(only_a, only_b, rest, about=about),
        rope,
        method=f"{first.size} shared rows",
        prior=f"{prior:g} per agreement cell",
        below_zero=betainc(only_b, only_a, 0.5),
        **told,
    )
