"""Slope and intercept of a logistic recalibration, of one test set or of folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from skuncertain._numerics.scores.calibration import Recalibration, ShiftedMean, shift_density
from skuncertain.posteriors._about import About
from skuncertain.posteriors._density import DensityPosterior

CLIP = 1e-6
PRIOR = "Jeffreys' prior"


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Posteriors by name, and what was done to get them.

    Attributes
    ----------
    posteriors : dict
        Posterior, or None, of "slope", "intercept", "intercept_in_the_large" and
        "observed_minus_predicted".
    n_clipped : int
        Rows whose probabilities were moved.
    omega : dict or None
        What a row of folds counts for each of them.
    warnings : tuple of str
        For the report.
    """

    posteriors: dict
    n_clipped: int
    omega: dict | None
    warnings: tuple


def recalibrate(rows, clip):
    """Coefficients of the first column of rows that hold probabilities."""
    positive, p = rows.problem(0)
    x = logit(np.clip(p, clip, 1 - clip))
    n_clipped = int(np.sum((p < clip) | (p > 1 - clip)))
    texts = []
    if n_clipped:
        texts.append(
            f"{n_clipped} of {p.size} probabilities were moved to {clip:g} or 1 - {clip:g}, as 0 "
            "and 1 have no logit: slope and intercept depend on that (clip=)."
        )
    question = {
        "prior": PRIOR,
        "range": (-np.inf, np.inf),
        "greater_is_better": None,
        "closing": False,
        "pos_label": rows.labels[rows.classes[0]],
        "estimand": "final" if rows.options is None else rows.options.pooling.question,
    }
    found, omega = {"slope": None, "intercept": None}, {}
    if np.ptp(x) > 1e-9 * np.abs(x).max():
        for which, name in enumerate(("intercept", "slope")):
            model = Recalibration(x, positive)
            omega[name] = _weight(rows, model.influences(x, positive)[:, which], model, which)
            model = model if omega[name] == 1 else Recalibration(x, positive, omega[name])
            about = About(metric=name, observed=model.estimate[which], **question)
            found[name] = DensityPosterior(*model.marginal(which), about)
        if found["slope"].quantile(0.999) < 0:
            texts.append(
                "the higher the predicted probability is, the rarer is the class: do the "
                "probabilities belong to another class? Columns are those of the sorted labels."
            )
    else:
        texts.append("all probabilities are equal: there is no slope.")
    found |= _in_the_large(rows, x, omega, question)
    return Coefficients(found, n_clipped, omega if rows.options else None, tuple(texts))


def _weight(rows, influence, model, which):
    """What a row counts for an estimate, given the influence of every row on it."""
    if rows.options is None:
        return 1.0
    return _of_folds(rows, influence, model.covariance[which, which])


def _of_folds(rows, influence, variance):
    """Weight by the spread of the sums of influences of the folds."""
    positive, _ = rows.problem(0)
    fewest = min(positive.sum(), (~positive).sum())
    return rows.options.weight_of(np.bincount(rows.tested_in, influence), variance, fewest)


def _in_the_large(rows, x, omega, question):
    """Intercept of slope 1, and share of positives less the mean of the probabilities."""
    positive, p = rows.problem(0)
    mode, *curve, nodes = shift_density(x, positive)
    if rows.options is not None:
        rate = expit(mode + x)
        information = (rate * (1 - rate)).sum()
        influence = (positive - rate) / information
        omega["intercept_in_the_large"] = weight = _of_folds(rows, influence, 1 / information)
        mode, *curve, nodes = shift_density(x, positive, weight)
    about = About(metric="intercept_in_the_large", observed=mode, **question)
    mean = float(p.mean())
    of_mean = question | {"range": (-mean, 1 - mean)}
    difference = About(
        metric="observed_minus_predicted", observed=float(positive.mean()) - mean, **of_mean
    )
    return {
        "intercept_in_the_large": DensityPosterior(*curve, about),
        "observed_minus_predicted": DensityPosterior(*curve, difference, ShiftedMean(*nodes, mean)),
    }
