"""The joint model of a confusion matrix, and draws of metrics from it.

A model is a Dirichlet for every row (the predictions given the true class) and a distribution of
the class frequencies. With Dirichlet frequencies whose shapes are the row sums it is the joint
Dirichlet over all cells ("matched"); other frequencies, or a prevalence given by the user, make it
Tötsch and Hoffmann's model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skuncertain._numerics.gamma_draws import Gammas, class_draws, log_gamma, narrowed_exp
from skuncertain._utils.validation import (
    as_array,
    check_draws,
    refuse_if,
    resolve_seed,
    share_hint,
)
from skuncertain.metrics._priors import cell_prior
from skuncertain.metrics._registry import class_function
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import default_draws, seeded_chunks

_CHUNK = 2**17  # cells drawn at once: 1 MiB stays in cache
_OF_A_CELL = 2**10, 2**12  # draws at once: fewer cost more for the calls than for the numbers
_FOLDED = ("f1_macro", "jaccard_macro")  # i taken for j and j taken for i count alike


@dataclass(frozen=True, eq=False)
class JointModel:
    """Shapes of the rows and of the class frequencies.

    Attributes
    ----------
    rows : ndarray of shape (..., C, C)
        Dirichlet shapes of every row.
    frequencies : ndarray of shape (..., C)
        Dirichlet shapes of the class frequencies, or the frequencies themselves.
    matched : bool
        Whether all cells together are one Dirichlet.
    fixed : bool
        Whether `frequencies` are known numbers.
    """

    rows: np.ndarray
    frequencies: np.ndarray
    matched: bool
    fixed: bool

    @property
    def shape(self):
        """Shape of the stack."""
        return self.rows.shape[:-2]

    @cached_property
    def _cells(self):
        return Gammas(self.rows, (-2, -1) if self.matched else (-1,))

    @cached_property
    def _weights(self):
        return Gammas(self.frequencies, (-1,))

    def sample(self, rng, size):
        """Unnormalised draws of all cells, shape (size, ..., C, C)."""
        if self.underflows():
            return self._sample_in_logs(rng, size)
        cells = self._cells.draw(rng, size)
        if self.matched:
            return cells
        with np.errstate(invalid="ignore"):
            cells /= cells.sum(axis=-1, keepdims=True)
        if self.fixed:
            return cells * self.frequencies[..., None]
        return cells * self._weights.draw(rng, size)[..., None]

    def underflows(self):
        """Whether a row or column could come out as 0, and make 0/0 of a ratio that exists."""
        totals = [self.rows.sum(axis=-1)]
        if self.matched:
            totals.append(self.rows.sum(axis=-2))
        elif not self.fixed:
            totals.append(self.frequencies)
        return any(np.any((total > 0) & (total <= 0.05)) for total in totals)

    def _sample_in_logs(self, rng, size):
        logs = log_gamma(rng, self.rows, size)
        if not self.matched:
            with np.errstate(divide="ignore", invalid="ignore"):
                top = logs.max(axis=-1, keepdims=True)
                logs -= top + np.log(np.exp(logs - top).sum(axis=-1, keepdims=True))
                weight = (
                    np.log(self.frequencies)
                    if self.fixed
                    else log_gamma(rng, self.frequencies, size)
                )
            logs += weight[..., None]
        return narrowed_exp(logs)


def build_model(matrix, prior, options, positive, rows=None):
    """Joint model of a stack of matrices under a resolved prior; `rows` is both together, if known.

    Model and prevalence (None, a number, a BetaPosterior or a vector) are those of the options.
    """
    rows = matrix + cell_prior(prior.value, matrix) if rows is None else rows
    if options.prevalence is not None:
        frequencies, fixed = given_frequencies(
            options.prevalence, matrix.shape[-1], positive, matrix.shape[:-2]
        )
        return JointModel(rows, frequencies, False, fixed)
    if options.one_dirichlet(prior):
        return JointModel(rows, rows.sum(axis=-1), True, False)
    # The same number on each side of every proportion, so also on every class frequency.
    before = prior.per_cell if prior.frequencies is None else prior.frequencies
    return JointModel(rows, matrix.sum(axis=-1) + before, False, False)


def given_frequencies(prevalence, n_classes, positive, shape):
    """Class frequencies from `prevalence`: (values, whether they are fixed)."""
    if isinstance(prevalence, BetaPosterior):
        refuse_if(
            n_classes != 2 or prevalence.odds != 1,
            "prevalence",
            "a Beta prevalence needs two classes and a plain Beta; for more classes give a "
            "vector of class frequencies with model='rows'.",
        )
        pair = np.stack(np.broadcast_arrays(prevalence.b, prevalence.a), axis=-1)
        refuse_if(
            np.any(pair <= 0),
            "prevalence",
            "prevalence must be a proper Beta, got {value}.",
            prevalence,
        )
        return np.broadcast_to(pair if positive == 1 else pair[..., ::-1], (*shape, 2)), False
    values = as_array("prevalence", prevalence)
    refuse_if(
        values.dtype.kind not in "iuf",
        "prevalence",
        "prevalence must be a number in (0, 1), a BetaPosterior or a vector of class "
        "frequencies, got {value}.",
        prevalence,
    )
    values = values.astype(float)
    if values.ndim == 0:
        refuse_if(
            n_classes != 2,
            "prevalence",
            f"prevalence is one number, but there are {n_classes} classes: give the "
            f"{n_classes} class frequencies in the order of the labels.",
        )
        refuse_if(
            not 0 < values < 1,
            "prevalence",
            f"prevalence must be in (0, 1), got {{value}}.{share_hint(values)}",
            prevalence,
        )
        values = np.array([1 - values, values] if positive == 1 else [values, 1 - values])
    refuse_if(
        values.shape != (n_classes,),
        "prevalence",
        f"prevalence must have one entry per class, {n_classes}, got shape {values.shape}.",
    )
    refuse_if(
        np.any(~(values >= 0)) or abs(values.sum() - 1) > 1e-6,
        "prevalence",
        "class frequencies must be >= 0 and sum to 1, got {value}.",
        prevalence,
    )
    return np.broadcast_to(values, (*shape, n_classes)), True


def draw_metrics(joint, metrics, positive, options, n=None):
    """Draws of several metrics from the same draws of the cells, and the seed.

    Returns an array of shape (metrics, ..., n_draws). With `n` every draw of the cells is replaced
    by a multinomial sample of `n` rows. The work is cut into fixed chunks with seeds of their own.
    """
    size = int(np.prod(joint.shape))
    n_classes = joint.rows.shape[-1]
    n_draws = options.n_draws
    n_draws = default_draws(n_classes**2, size) if n_draws is None else check_draws(n_draws, size)
    seed = resolve_seed(options.random_state)
    functions = [class_function(metric) for metric in metrics]
    by_class = n is None and joint.matched and all(functions) and not joint.underflows()
    if by_class:
        folded = all(metric.name in _FOLDED for metric in metrics)
        chunk = int(np.clip(_CHUNK // n_classes, *_OF_A_CELL)) // max(size, 1) or 1
    else:
        chunk = max(1, _CHUNK // (n_classes**2 * max(size, 1)))
    result = np.empty((len(metrics), *joint.shape, n_draws))
    for part, rng in seeded_chunks(n_draws, chunk, seed):
        number = part.stop - part.start
        if by_class:
            sample = class_draws(rng, joint.rows, number, folded)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                values = [function(*sample, np.nan) for function in functions]
        else:
            sample = joint.sample(rng, number)
            if n is not None:
                sample = _test_sets(rng, sample, n)
            values = [metric.evaluate(sample, positive=positive) for metric in metrics]
        for k, value in enumerate(values):
            result[k, ..., part] = np.moveaxis(value, 0, -1)
    return result, seed


def _test_sets(rng, sample, n):
    """Counts of `n` rows for every draw of the cells."""
    cells = sample.shape[-1] ** 2
    share = sample.reshape(*sample.shape[:-2], cells)
    total = share.sum(axis=-1, keepdims=True)
    exists = total > 0  # else there are neither counts nor a prior: 0/0
    share = np.where(exists, share, 1.0) / np.where(exists, total, cells)
    counts = rng.multinomial(n, share).astype(float)
    return np.where(exists, counts, np.nan).reshape(sample.shape)
