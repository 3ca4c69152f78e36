"""Posteriors without random numbers: which family a metric has under a joint model.

Some are exact; averages over classes, MCC and kappa of many classes have three cumulants.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.beta_pairs import Pair, operation
from skuncertain._numerics.beta_rates import Rates
from skuncertain._numerics.beta_sums import BetaSum
from skuncertain._numerics.quadrature import Link
from skuncertain._utils.validation import refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.metrics._averages import OF_MATRIX, three_cumulants
from skuncertain.metrics._formulas import collapse, proportion_odds
from skuncertain.metrics._model import draw_metrics
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._integral import IntegralPosterior
from skuncertain.posteriors._matched import MatchedPosterior

SMALLEST = 0.02  # shape of a Beta variable; below, ratios of two need more than the range of floats
SMALLEST_OF_THREE = 0.05  # the same where three variables meet: prevalence, or tp, fp and fn
WIDEST = 1e14  # ratio of shapes beyond which the logit of a Beta variable has no digits left
MOST_DRAWN = 18_000  # cells of members of a stack: 2,000 tables of three classes take seconds
EXACT_STACK = 16  # two-dimensional integrals (MCC, kappa) cost tens of milliseconds each
# Metrics that a two-class model makes of two independent Betas, given by their cells.
_OF_ROWS = {
    "balanced_accuracy": ("mean", ("tp", "fn"), ("fp", "tn")),
    "recall_macro": ("mean", ("tp", "fn"), ("fp", "tn")),
    "informedness": ("difference", ("tp", "fn"), ("fp", "tn")),
    "g_mean": ("root_product", ("tp", "fn"), ("tn", "fp")),
    "positive_likelihood_ratio": ("ratio", ("tp", "fn"), ("fp", "tn")),
    "negative_likelihood_ratio": ("ratio", ("fn", "tp"), ("tn", "fp")),
    "diagnostic_odds_ratio": ("odds_ratio", ("tp", "fn"), ("fp", "tn")),
    "prevalence_threshold": ("threshold", ("tp", "fn"), ("fp", "tn")),
}
_OF_COLUMNS = {  # independent only if all cells are one Dirichlet
    "markedness": ("difference", ("tp", "fp"), ("fn", "tn")),
    "precision_macro": ("mean", ("tp", "fp"), ("fn", "tn")),
    "g_score": ("g_score", ("tp", "wrong"), ("fp", "fn")),
}
_WITHIN_A_ROW = {
    "recall": ("tp", "fn"),
    "fnr": ("fn", "tp"),
    "specificity": ("tn", "fp"),
    "fpr": ("fp", "tn"),
}
_KINDS = {
    "matthews_corrcoef": "matthews",
    "cohen_kappa": "kappa",
    "cohen_kappa_linear": "kappa",
    "cohen_kappa_quadratic": "kappa",
    "g_score": "g_score",
}


def exact_posterior(joint, metric, positive, about):
    """Posterior without random numbers, or None.

    Proportions of one Dirichlet are not asked for here: they are Betas, see `posterior_of`.
    """
    two_classes = joint.rows.shape[-1] == 2
    if metric.user or (two_classes and not _both_occur(joint, positive)):
        return None
    shapes = _beta_shapes(joint, metric, positive)
    if shapes is not None:  # whatever the other rates are
        return beta_of(*shapes, 1.0, about)
    if two_classes and not np.all(joint.rows > 0):
        return None
    family = (
        _two_class_family(joint, metric, positive) if two_classes else _sum_family(joint, metric)
    )
    if family is None or not getattr(family, "resolved", True):
        return None
    return IntegralPosterior(family, joint.shape, about)


def matched_posterior(joint, metric, options, about):
    """Posterior by three cumulants, or None where only draws will do.

    Members of a stack that three cumulants do not describe are drawn, unless that took minutes.
    """
    averaged = metric.average in ("macro", "weighted") or metric.name in OF_MATRIX
    if metric.user or not (averaged and joint.matched):
        return None
    cumulants, beta, rough = three_cumulants(joint.rows, metric)
    if not np.isfinite(cumulants).all():
        return None
    members = np.flatnonzero(rough)
    most = max(1, MOST_DRAWN // joint.rows.shape[-1] ** 2)
    if members.size == 0 or members.size > most:
        return MatchedPosterior(cumulants, beta=beta, about=about)
    if members.size == rough.size:
        return None
    rows = joint.rows.reshape(-1, *joint.rows.shape[-2:])[members]
    part = replace(joint, rows=rows, frequencies=rows.sum(axis=-1))
    draws, seed = draw_metrics(part, [metric], None, options)
    drawn = DrawsPosterior(draws[0], seed=seed, about=About(range=about.range))
    return MatchedPosterior(cumulants, beta=beta, drawn=drawn, members=members, about=about)


def beta_of(hits, misses, odds, about):
    """Posterior of a proportion; a warning if the prior leaves an outcome out."""
    if np.any((hits == 0) | (misses == 0)):
        warn_user(
            f"the prior puts no mass on an outcome of {about.metric} that was not observed: "
            "its posterior is a point mass or undefined. Use a prior above 0.",
            UndefinedMetricWarning,
        )
    return BetaPosterior(hits, misses, odds=odds, about=about)


def _both_occur(joint, positive):
    """Whether no given prevalence leaves a class out."""
    share = joint.frequencies[..., positive] if joint.fixed else 0.5
    return np.all((share > 0) & (share < 1))


def _cells(joint, positive):
    """Shapes of the four cells by their names."""
    tp, fn, fp, tn = collapse(joint.rows, positive)
    return {"tp": tp, "fn": fn, "fp": fp, "tn": tn, "wrong": fp + fn}


def _beta_shapes(joint, metric, positive):
    """Shapes of a metric that is a Beta variable: a rate within one true class, or one of them."""
    two_classes = joint.rows.shape[-1] == 2
    if two_classes and metric.name == "prevalence":
        refuse_if(
            joint.fixed,
            "metric",
            "metric 'prevalence' is what prevalence= fixes: ask for another one.",
        )
        return [joint.frequencies[..., k] for k in (positive, 1 - positive)]
    if metric.name in (_WITHIN_A_ROW if two_classes else ("recall", "fnr")):
        cells = _cells(joint, positive)
        return [cells[name] for name in _WITHIN_A_ROW[metric.name]]
    return None


def _two_class_family(joint, metric, positive):
    """Integral over the rates of two classes: of a pair of Betas where one suffices."""
    of_three = metric.base in ("fbeta", "g_score")
    if _uneven(joint.rows, 0.99 * (SMALLEST_OF_THREE if of_three else SMALLEST)):
        return None
    link, name = Link(*metric.range), metric.name
    cells = {key: shape.ravel() for key, shape in _cells(joint, positive).items()}
    tp, fn, fp, tn = (cells[key] for key in ("tp", "fn", "fp", "tn"))
    if joint.matched and metric.base == "fbeta" and metric.average == "binary":
        return Pair(operation("f_beta", metric.beta), (tp, fp + fn), (fp, fn), link)
    pairs = _OF_ROWS | _OF_COLUMNS if joint.matched else _OF_ROWS
    if name in pairs:
        which, u, v = pairs[name]
        return Pair(
            operation(which),
            tuple(cells[key] for key in u),
            tuple(cells[key] for key in v),
            link,
        )
    if _uneven(joint.rows, 0.99 * SMALLEST_OF_THREE):
        return None
    if not joint.fixed and tp.size > EXACT_STACK:
        return None
    if joint.matched and name in _KINDS:
        return Rates.of_dirichlet(_KINDS[name], (tp, fn, fp, tn), link)
    weights = None
    if name not in _KINDS:
        if metric.numerator is None:
            return None
        last = metric.average is None and positive == 0  # of the whole matrix: last is positive
        step = -1 if last else 1
        weights = metric.numerator[::step], metric.denominator[::step]
    share = [joint.frequencies[..., k].ravel() for k in (positive, 1 - positive)]
    phi = share[0] if joint.fixed else tuple(share)
    return Rates(_KINDS.get(name, "linear"), phi, (tp, fn), (fp, tn), link, weights).refine()


def _uneven(shapes, smallest):
    """Whether integrals over these Betas are beyond doubles."""
    return shapes.max() > WIDEST * shapes.min() or shapes.min() < smallest


def _sum_family(joint, metric):
    """Balanced accuracy, macro precision and accuracy at given class frequencies."""
    shapes = joint.rows.reshape(-1, *joint.rows.shape[-2:])
    diagonal = np.diagonal(shapes, axis1=-2, axis2=-1)
    n_classes = shapes.shape[-1]
    off = 1.0 - np.eye(n_classes)
    equal = np.full(diagonal.shape, 1.0 / n_classes)
    if metric.name in ("balanced_accuracy", "recall_macro", "fnr_macro"):
        rest, weights = (shapes * off).sum(axis=-1), equal
    elif metric.name in ("precision_macro", "fdr_macro") and joint.matched:
        rest, weights = (shapes * off).sum(axis=-2), equal
    elif joint.fixed and _is_share_right(metric):
        rest = (shapes * off).sum(axis=-1)
        weights = joint.frequencies.reshape(-1, n_classes)
    else:
        return None
    empty = np.any(diagonal <= 0) or np.any(rest <= 0)
    if empty or len(shapes) > 1000 or _uneven(np.stack([diagonal, rest]), 1e-4):
        return None
    if metric.name in ("fnr_macro", "fdr_macro"):
        diagonal, rest = rest, diagonal
    return BetaSum(diagonal, rest, weights, Link(0.0, 1.0))


def _is_share_right(metric):
    """Whether a metric is the accuracy, by whatever name."""
    of_matrix = metric.average != "binary" and metric.name != "error_rate"
    return of_matrix and proportion_odds(metric) == 1
