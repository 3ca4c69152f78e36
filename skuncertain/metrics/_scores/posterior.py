"""Posterior of a metric of scores or probabilities, from the influence of every row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._scores.ranking import MOST_WARNED, of_estimate, warn_few
from skuncertain.metrics._scores.row_scores import RowScores
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import calibrated_beta
from skuncertain.posteriors._shifted_gamma import ShiftedGammaPosterior, negated

_FEW = 30  # rows: fewer say little about the tail of a loss
# Excess kurtosis over squared skewness (gamma variables have 1.5, and heavier tails show less of
# either than they have), and the fewest degrees of freedom that follow from it; with fewer than
# _HEAVY the interval was too short in simulations (benchmarks/score_coverage.py).
_KURTOSIS, _LEAST_DF, _HEAVY = 3.0, 3.0, 4.0
_TAIL = 0.975


def score_posterior(y_true, y_score, metric, *, labels=None, pos_label=None, oriented=False):
    """Posterior of a `ScoreMetric` on one test set; `oriented` as in `RowScores.of`."""
    rows = RowScores.of(
        y_true, y_score, metric, labels=labels, pos_label=pos_label, oriented=oriented
    )
    return posterior_of_rows(metric, rows)


def posterior_of_rows(metric, rows):
    """Posterior of checked rows, with a warning where they are few."""
    if metric.family in ("mean", "skill") and rows.codes.size < _FEW:
        warn_user(
            f"{metric.name} of {rows.codes.size} rows: so few may hold none of the large losses "
            "that decide it, and the interval is then too short.",
            SmallSampleWarning,
        )
    if metric.family == "share" and metric.k >= rows.n_classes:
        warn_user(
            f"{metric.name} is 1 whatever the scores are, as there are {rows.n_classes} classes.",
            UndefinedMetricWarning,
        )
    if metric.family == "ranking" and np.bincount(rows.codes).min() < MOST_WARNED:
        warn_few(checked_estimate(metric, rows), drawn=False)
    return of_rows(metric, rows, question_of_scores(metric, rows))


def question_of_scores(metric, rows):
    """What is asked of rows on one test set."""
    return About(
        metric=metric.name,
        range=metric.range_for(rows.n_classes),
        greater_is_better=metric.greater_is_better,
        pos_label=class_of_scores(metric, rows),
        estimand="final",
    )


def class_of_scores(metric, rows):
    """Class that is ranked against the rest; None where that is the same for both of two."""
    same = not metric.one_class and rows.n_classes == 2
    return None if same else rows.pos_label


def of_rows(metric, rows, about):
    """Posterior of the metric of some rows."""
    if metric.negated is not None:
        low, high = about.range
        base = about_changed(about, metric.negated, (0.0 - high, 0.0 - low))
        return negated(of_rows(metric.negated, rows, base), metric)
    found = checked_estimate(metric, rows)
    if metric.family == "ranking":
        return of_estimate(None, found, None, "logit_delong", None, about)
    if metric.family == "share":
        hits = round(found.value * rows.codes.size)
        return calibrated_beta(
            hits, rows.codes.size - hits, about=about_changed(about, observed=found.value)
        )
    about = about_changed(about, observed=found.value)
    moments = found.value, found.variance, found.third
    return loss_posterior(metric, *moments, rows.codes.size, found.variance, about)


def loss_posterior(metric, value, variance, third, n, needed, about):
    """Posterior of a mean of losses of n rows, or of their skill, with the variance it needs.

    `variance` and `third` are the cumulants of the mean of independent rows. Losses without a limit
    may be decided by rows that the sample does not hold: their variance is as uncertain as their
    skewness says.
    """
    if metric.limitless and variance > 0:
        skewness = third * n**2 / (variance * (n - 1)) ** 1.5
        df = 2 * n / max(_KURTOSIS * skewness**2, 1e-300)
        if df < _HEAVY:
            warn_user(
                f"a few rows with large losses decide {metric.name}: the interval may be too "
                "short. In simulations with overconfident learners such as naive Bayes 95 % "
                "intervals covered 86 to 89 %. Calibrate the probabilities "
                "(CalibratedClassifierCV), or ask for brier_score.",
                SmallSampleWarning,
            )
        if df < 1e6:
            needed = needed * (stdtrit(max(df, _LEAST_DF), _TAIL) / ndtri(_TAIL)) ** 2
    return ShiftedGammaPosterior(
        value, needed, third_moment(variance, third, n, needed), about=about
    )


def checked_estimate(metric, rows):
    """Value and influences; rows of a single class are refused where they leave it undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = metric.estimate(rows)
    if np.isnan(found.value):
        rows_of_class = np.bincount(rows.codes, minlength=rows.n_classes)
        absent = [rows.labels[c] for c in np.flatnonzero(rows_of_class == 0)]
        refuse_if(
            True,
            "y_true",
            f"metric {metric.name!r} is not defined: y_true must hold rows of every class, but has "
            "none of {value}.",
            value=absent,
        )
    return found


def about_changed(about, metric=None, limits=None, **changes):
    """The same about another metric."""
    if metric is not None:
        changes |= {
            "metric": metric.name,
            "range": limits,
            "greater_is_better": metric.greater_is_better,
        }
    return replace(about, **changes)


def third_moment(variance, third, n, needed):
    """Third central moment of a mean of n rows whose weights are gamma variables.

    `variance` and `third` are the cumulants of the mean of independent rows, `needed` the variance
    that it is to have: m2 / needed weights in place of n.
    """
    second, cubed = np.asarray(variance) * (n - 1), np.asarray(third) * n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        total = second / needed
        found = 2 * cubed / (total * (total + 1))
    return np.where(np.isfinite(found), found, 0.0)
