"""All classes, or all cells, of a confusion matrix at once."""

import numpy as np

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._metric_formulas import one_vs_rest, two_by_two
from skuncertain._metrics import get_metric
from skuncertain._posterior import posterior_of, warn_undefined
from skuncertain._priors import cell_prior, describe_prior
from skuncertain._proportions import proportion_counts


def _is_auto(prior):
    return isinstance(prior, str) and prior == "auto"


def class_posterior(matrix, metric, prior):
    """Posterior of precision, recall or F1 of every class, a stack of shape (C,).

    The same as asking for one class after the other with ``pos_label``, without going through the
    whole matrix for each.
    """
    metric = get_metric(metric)
    stack = two_by_two(*one_vs_rest(matrix))
    if _is_auto(prior) and matrix.shape[-1] > 2:
        hits, misses, odds = proportion_counts(stack, metric, 1)
        observed = metric.evaluate(stack, positive=1)
        warn_undefined(observed, metric, stack, proper=True)
        return BetaPosterior(
            hits + 0.5,
            misses + 0.5,
            odds=odds,
            metric=metric.name,
            observed=observed,
            prior="auto: 1/2 on each side of the proportion",
        )
    text = None if _is_auto(prior) else describe_prior(prior)
    if not _is_auto(prior):
        pseudo = np.broadcast_to(cell_prior(prior, matrix), matrix.shape)
        prior = two_by_two(*one_vs_rest(pseudo))
    posterior = posterior_of(
        stack,
        metric,
        positive=1,
        prior=prior,
        model="dirichlet",
        prevalence=None,
        n_draws=None,
        random_state=None,
    )
    posterior.prior = posterior.prior if text is None else text
    return posterior


def cell_rates(matrix, prior):
    """Posterior of P(predicted j | true i) for all cells, a stack of shape (C, C).

    On the diagonal it is the recall of the class.
    """
    n_classes = matrix.shape[-1]
    if _is_auto(prior):
        before = 1 / 3 if n_classes == 2 else 0.5
        pseudo, rest = np.full(matrix.shape, before), np.full(matrix.shape, before)
    else:
        pseudo = np.broadcast_to(cell_prior(prior, matrix), matrix.shape)
        rest = pseudo.sum(axis=-1, keepdims=True) - pseudo
    others = matrix.sum(axis=-1, keepdims=True) - matrix
    with np.errstate(invalid="ignore"):
        observed = matrix / (matrix + others)
    return BetaPosterior(matrix + pseudo, others + rest, metric="rate", observed=observed)


def cell_tables(matrices):
    """Two-by-two tables whose recall is the rate of a cell: shape (..., C, C, 2, 2).

    So everything that is known about the recall of folds serves the rates of cells.
    """
    others = matrices.sum(axis=-1, keepdims=True) - matrices
    nothing = np.zeros_like(matrices)
    return two_by_two(matrices, others, nothing, nothing)
