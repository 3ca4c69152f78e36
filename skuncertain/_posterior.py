"""From the joint model of a confusion matrix to the posterior of a metric.

A model is a Dirichlet for every row (the predictions given the true class) and a distribution of
the class frequencies. With Dirichlet frequencies whose shapes are the row sums it is the joint
Dirichlet over all cells ("matched"); other frequencies, or a prevalence given by the user, make it
Tötsch and Hoffmann's model.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._beta_posteriors import BetaBinomialPosterior, BetaPosterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._gamma_draws import Gammas, class_draws, log_gamma, narrowed_exp
from skuncertain._metric_formulas import collapse, two_by_two
from skuncertain._metrics import class_function
from skuncertain._pairs import OPERATIONS, FBeta, Link, Pair
from skuncertain._priors import OWN_PROPORTION, PER_CELL, cell_prior, describe_prior
from skuncertain._proportions import proportion_cells, proportion_counts
from skuncertain._quadrature_posterior import QuadraturePosterior
from skuncertain._rates import Rates
from skuncertain._sums import BetaSum
from skuncertain._validation import (
    check_draws,
    check_integer,
    rectangular,
    resolve_seed,
    share_hint,
    shown,
)
from skuncertain._warnings import warn_user
from skuncertain.exceptions import SmallSampleWarning

MODELS = ("dirichlet", "three-beta", "rows")
SMALLEST = 0.05  # shape of a Beta variable; below, ratios of two need more than the range of floats
WIDEST = 1e14  # ratio of shapes beyond which the logit of a Beta variable has no digits left
EXACT_STACK = 16  # two-dimensional integrals (MCC, kappa) cost tens of milliseconds each
_CHUNK = 2**17  # cells drawn at once: 1 MiB stays in cache
_OF_A_CELL = 2**10, 2**12  # draws at once: fewer cost more for the calls than for the numbers
_FOLDED = ("f1_macro", "jaccard_macro")  # i taken for j and j taken for i count alike
_KAPPAS = ("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")


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


def build_model(matrix, prior, model, prevalence, positive):
    """Joint model of a stack of matrices.

    `prior` is not "auto" any more; `prevalence` is None, a number, a BetaPosterior or a vector.
    """
    pseudo = cell_prior(prior, matrix)
    rows = matrix + pseudo
    n_classes = matrix.shape[-1]
    totals = rows.sum(axis=-1)
    if prevalence is not None:
        frequencies, fixed = _given_frequencies(prevalence, n_classes, positive, matrix.shape[:-2])
        return JointModel(rows, frequencies, False, fixed)
    number = PER_CELL.get(prior) if isinstance(prior, str) else prior
    if model == "dirichlet" or not isinstance(number, float):
        return JointModel(rows, totals, True, False)
    # The same number on each side of every proportion, so also on every class frequency.
    return JointModel(rows, matrix.sum(axis=-1) + number, False, False)


def _given_frequencies(prevalence, n_classes, positive, shape):
    """Class frequencies from `prevalence`: (values, whether they are fixed)."""
    if isinstance(prevalence, BetaPosterior):
        if n_classes != 2 or prevalence.odds != 1:
            raise ValueError(
                "a Beta prevalence needs two classes and a plain Beta; for more classes give a "
                "vector of class frequencies with model='rows'."
            )
        pair = np.stack(np.broadcast_arrays(prevalence.b, prevalence.a), axis=-1)
        if np.any(pair <= 0):
            raise ValueError(f"prevalence must be a proper Beta, got {shown(prevalence)}.")
        pair = pair if positive == 1 else pair[..., ::-1]
        return np.broadcast_to(pair, (*shape, 2)), False
    values = rectangular("prevalence", prevalence)
    if values.dtype.kind not in "iuf":
        raise TypeError(
            "prevalence must be a number in (0, 1), a BetaPosterior or a vector of class "
            f"frequencies, got {shown(prevalence)}."
        )
    values = values.astype(float)
    if values.ndim == 0:
        if n_classes != 2:
            raise ValueError(
                f"prevalence is one number, but there are {n_classes} classes: give the "
                f"{n_classes} class frequencies in the order of the labels."
            )
        if not 0 < values < 1:
            raise ValueError(
                f"prevalence must be in (0, 1), got {shown(prevalence)}.{share_hint(values)}"
            )
        values = np.array([1 - values, values])
        values = values if positive == 1 else values[::-1]
    elif values.shape != (n_classes,):
        raise ValueError(
            f"prevalence must have one entry per class, {n_classes}, got shape {values.shape}."
        )
    if np.any(~(values >= 0)) or abs(values.sum() - 1) > 1e-6:
        raise ValueError(f"class frequencies must be >= 0 and sum to 1, got {shown(prevalence)}.")
    return np.broadcast_to(values, (*shape, n_classes)), True


def posterior_of(
    matrix, metric, *, positive, prior, model, prevalence, n_draws, random_state, origin=None
):
    """Posterior of one metric for a stack of matrices ``(..., C, C)`` of floats."""
    observed = metric.evaluate(matrix, positive=positive)
    info = {
        "metric": metric.name,
        "range": metric.range,
        "observed": observed,
        "model": model,
        "origin": origin,
        "greater_is_better": metric.greater_is_better,
    }
    view = _view(matrix, metric, positive, prior, model, prevalence)
    info["prior"] = view.text
    if view.own_proportion:
        hits, misses, odds = proportion_counts(view.matrix, metric, view.positive)
        warn_undefined(observed, metric, matrix, proper=True)
        return BetaPosterior(hits + 0.5, misses + 0.5, odds=odds, **info)
    joint = build_model(view.matrix, view.prior, model, prevalence, view.positive)
    info["closing"] = weak_prior(view.matrix, joint.rows - view.matrix)
    if isinstance(view.prior, str) and view.prior == "shared":
        warn_small(view.matrix, metric)
    warn_undefined(observed, metric, matrix, proper=bool(np.all(joint.rows > 0)))
    exact = _exact(joint, metric, view.positive, info)
    if exact is not None:
        return exact
    draws, seed = draw_metrics(joint, [metric], view.positive, n_draws, random_state)
    posterior = DrawsPosterior(draws[0], seed=seed, **info)
    if np.any(np.asarray(posterior.undefined) > 0):
        warn_user(
            f"{metric.name} is 0/0 in {np.max(posterior.undefined):.2%} of the draws; they are "
            "left out. A prior above 0 on every cell avoids this.",
            UndefinedMetricWarning,
        )
    return posterior


def weak_prior(matrix, pseudo):
    """Whether no empty cell has more than 1/2 a pseudo-row: then intervals may be closed."""
    return np.where(matrix == 0, pseudo, 0.0).max(axis=(-2, -1)) <= 0.5 + 1e-9


@dataclass(frozen=True, eq=False)
class _View:
    """Counts and prior as the models need them."""

    matrix: np.ndarray
    positive: int
    prior: Any
    text: str
    own_proportion: bool = False


def _view(matrix, metric, positive, prior, model, prevalence):
    """Resolve "auto", and see one class among many as two classes where nothing is lost by it."""
    n_classes = matrix.shape[-1]
    if metric.average == "binary":
        positive = metric.positive_index(n_classes, positive)
    elif positive is None:
        positive = n_classes - 1
    automatic = isinstance(prior, str) and prior == "auto"
    text = describe_prior(prior)
    one_number = isinstance(prevalence, BetaPosterior) or not (
        rectangular("prevalence", prevalence).ndim
    )
    if metric.average == "binary" and n_classes > 2 and model == "dirichlet" and one_number:
        if automatic and prevalence is None and metric.base in OWN_PROPORTION:
            text = "auto: 1/2 on each side of the proportion"
            return _View(matrix, positive, prior, text, own_proportion=True)
        if not automatic:  # the prior is per cell of the whole matrix
            prior = two_by_two(*collapse(cell_prior(prior, matrix), positive))
        matrix, positive, n_classes = two_by_two(*collapse(matrix, positive)), 1, 2
    if automatic:
        prior = "neutral" if n_classes == 2 else "shared"
        text = "auto: neutral, 1/3 per cell" if n_classes == 2 else "auto: shared"
    return _View(matrix, positive, prior, text)


def warn_small(matrix, metric):
    """One warning if an average over classes rests on few rows."""
    support = matrix.sum(axis=-1)
    total = support.sum(axis=-1)
    few = (total / matrix.shape[-1] < 20) | (support.min(axis=-1) < 5)
    averaged = metric.average == "macro" or metric.name == "balanced_accuracy"
    if averaged and np.any(few & (total > 0)):
        warn_user(
            f"{metric.name} averages over classes with few rows (fewer than 20 per class, or fewer "
            "than 5 in one class): its interval is known to be somewhat too short here.",
            SmallSampleWarning,
        )


def warn_undefined(observed, metric, matrix, proper):
    """One warning if the data say nothing about the metric (and there are data at all)."""
    silent = np.isnan(observed) & (matrix.sum(axis=(-2, -1)) > 0)
    if np.any(silent):
        warn_user(
            f"{metric.name} is 0/0 in the data (a class that never occurs or is never predicted)"
            + (": the interval leans on the prior." if proper else ": NaN."),
            UndefinedMetricWarning,
        )


def _exact(joint, metric, positive, info):
    """Posterior without random numbers, or None."""
    shape, n_classes = joint.shape, joint.rows.shape[-1]
    if metric.user:
        return None
    if joint.matched:
        found = proportion_counts(joint.rows, metric, positive)
        if found is not None:
            hits, misses, odds = found
            if np.any((hits == 0) | (misses == 0)):
                warn_user(
                    f"the prior puts no mass on an outcome of {metric.name} that was not observed: "
                    "its posterior is a point mass or undefined. Use a prior above 0.",
                    UndefinedMetricWarning,
                )
            return BetaPosterior(hits, misses, odds=odds, **info)
    family = None
    if n_classes > 2:
        family = _sum_family(joint, metric)
        if metric.base in ("recall", "fnr") and metric.average == "binary":
            tp, fn, _, _ = collapse(joint.rows, positive)
            return BetaPosterior(*((tp, fn) if metric.base == "recall" else (fn, tp)), **info)
    elif np.all(joint.rows > 0):
        cells = collapse(joint.rows, positive)
        if joint.fixed:
            phi = joint.frequencies[..., positive].ravel()
            if np.any((phi <= 0) | (phi >= 1)):
                return None
        else:
            phi = tuple(joint.frequencies[..., k].ravel() for k in (positive, 1 - positive))
        family = _two_class_family(joint, metric, positive, cells, phi, info)
    if family is None or isinstance(family, BetaPosterior):
        return family
    if not getattr(family, "resolved", True):
        return None
    return QuadraturePosterior(family, shape, **info)


def _two_class_family(joint, metric, positive, cells, phi, info):
    link = Link(*metric.range)
    tp, fn, fp, tn = (cell.ravel() for cell in cells)
    name = metric.name
    betas = {"recall": (tp, fn), "fnr": (fn, tp), "specificity": (tn, fp), "fpr": (fp, tn)}
    if name in betas:
        a, b = betas[name]
        return BetaPosterior(a.reshape(joint.shape), b.reshape(joint.shape), **info)
    if name == "prevalence":
        if joint.fixed:
            raise ValueError("metric 'prevalence' is what prevalence= fixes: ask for another one.")
        return BetaPosterior(*(part.reshape(joint.shape) for part in phi), **info)
    if _uneven(joint.rows, 0.99 * SMALLEST):
        return None
    pairs = {
        "balanced_accuracy": ("mean", (tp, fn), (fp, tn)),
        "recall_macro": ("mean", (tp, fn), (fp, tn)),
        "informedness": ("difference", (tp, fn), (fp, tn)),
        "g_mean": ("root_product", (tp, fn), (tn, fp)),
        "positive_likelihood_ratio": ("ratio", (tp, fn), (fp, tn)),
        "negative_likelihood_ratio": ("ratio", (fn, tp), (tn, fp)),
        "diagnostic_odds_ratio": ("odds_ratio", (tp, fn), (fp, tn)),
        "prevalence_threshold": ("threshold", (tp, fn), (fp, tn)),
    }
    if joint.matched:  # only then are the columns independent, too
        pairs |= {
            "markedness": ("difference", (tp, fp), (fn, tn)),
            "precision_macro": ("mean", (tp, fp), (fn, tn)),
            "g_score": ("g_score", (tp, fp + fn), (fp, fn)),
        }
        if metric.base == "fbeta" and metric.average == "binary":
            return Pair(FBeta(metric.beta), (tp, fp + fn), (fp, fn), link)
    if name in pairs:
        operation, u, v = pairs[name]
        return Pair(OPERATIONS[operation], u, v, link)
    if not joint.fixed and tp.size > EXACT_STACK:
        return None
    if name == "matthews_corrcoef" or name in _KAPPAS:
        kind = "matthews" if name == "matthews_corrcoef" else "kappa"
        if joint.matched:
            return Rates.of_dirichlet(kind, (tp, fn, fp, tn), link)
        return Rates(kind, phi, (tp, fn), (fp, tn), link).refine()
    if name == "g_score":
        return Rates("g_score", phi, (tp, fn), (fp, tn), link).refine()
    if metric.numerator is not None:
        weights = (metric.numerator, metric.denominator)
        if (
            metric.average is None and positive == 0
        ):  # weights of the whole matrix: last is positive
            weights = tuple(weight[::-1] for weight in weights)
        return Rates("linear", phi, (tp, fn), (fp, tn), link, weights).refine()
    return None


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
    if metric.name in ("balanced_accuracy", "recall_macro"):
        rest, weights = (shapes * off).sum(axis=-1), equal
    elif metric.name == "precision_macro" and joint.matched:
        rest, weights = (shapes * off).sum(axis=-2), equal
    elif proportion_cells(metric) == ("trace", "off", 1.0) and joint.fixed:
        rest = (shapes * off).sum(axis=-1)
        weights = joint.frequencies.reshape(-1, n_classes)
    else:
        return None
    empty = np.any(diagonal <= 0) or np.any(rest <= 0)
    if empty or len(shapes) > 1000 or _uneven(np.stack([diagonal, rest]), 1e-4):
        return None
    return BetaSum(diagonal, rest, weights, Link(0.0, 1.0))


def predictive_of(matrix, metric, n, *, positive, prior, model, prevalence, n_draws, random_state):
    """Distribution of a metric on a new test set of `n` rows."""
    if n is None:
        totals = np.unique(matrix.sum(axis=(-2, -1)))
        if totals.size > 1 or totals[0] != np.rint(totals[0]):
            raise ValueError("n must be given: the matrices have no common whole number of rows.")
        n = int(totals[0])
    n = check_integer("n", n, low=1, high=2**53)
    view = _view(matrix, metric, positive, prior, model, prevalence)
    if view.own_proportion:  # a new test set needs all cells
        cells = two_by_two(*collapse(view.matrix, view.positive))
        view = _View(cells, 1, "neutral", "auto: neutral, 1/3 per cell")
    positive = view.positive
    joint = build_model(view.matrix, view.prior, model, prevalence, positive)
    info = {
        "metric": metric.name,
        "range": metric.range,
        "prior": view.text,
        "model": f"{model}, predictive for n={n}",
        "greater_is_better": metric.greater_is_better,
    }
    found = proportion_counts(joint.rows, metric, positive) if joint.matched else None
    if found is not None and found[2] == 1 and n <= 1_000_000:  # else the table is too long
        hits, misses, _ = found
        if np.allclose(hits + misses, joint.rows.sum(axis=(-2, -1)), rtol=1e-12):
            return BetaBinomialPosterior(hits, misses, n, **info)
    draws, seed = draw_metrics(joint, [metric], positive, n_draws, random_state, n=n)
    posterior = DrawsPosterior(draws[0], seed=seed, **info)
    if np.any(np.asarray(posterior.undefined) > 0):
        warn_user(
            f"{metric.name} is 0/0 on {np.max(posterior.undefined):.2%} of the new test sets of "
            f"{n} rows; they are left out.",
            UndefinedMetricWarning,
        )
    return posterior


def draw_metrics(joint, metrics, positive, n_draws, random_state, n=None):
    """Draws of several metrics from the same draws of the cells, and the seed.

    Returns an array of shape (metrics, ..., n_draws). With `n` every draw of the cells is replaced
    by a multinomial sample of `n` rows. The work is cut into fixed chunks with seeds of their own.
    """
    size = int(np.prod(joint.shape))
    cells = joint.rows.shape[-1] ** 2
    n_draws = default_draws(cells, size) if n_draws is None else check_draws(n_draws, size)
    seed = resolve_seed(random_state)
    functions = [class_function(metric) for metric in metrics]
    by_class = n is None and joint.matched and all(functions) and not joint.underflows()
    if by_class:
        folded = all(metric.name in _FOLDED for metric in metrics)
        chunk = int(np.clip(_CHUNK // joint.rows.shape[-1], *_OF_A_CELL)) // max(size, 1) or 1
    else:
        chunk = max(1, _CHUNK // (cells * max(size, 1)))
    starts = range(0, n_draws, chunk)
    result = np.empty((len(metrics), *joint.shape, n_draws))
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        rng = np.random.default_rng(child)
        stop = min(start + chunk, n_draws)
        if by_class:
            sample = class_draws(rng, joint.rows, stop - start, folded)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                for k, function in enumerate(functions):
                    value = function(*sample, np.nan)
                    result[k, ..., start:stop] = np.moveaxis(value, 0, -1)
            continue
        sample = joint.sample(rng, stop - start)
        joint_shape = sample.shape
        if n is not None:
            share = sample.reshape(*sample.shape[:-2], cells)
            total = share.sum(axis=-1, keepdims=True)
            exists = total > 0  # else there are neither counts nor a prior: 0/0
            share = np.where(exists, share, 1.0) / np.where(exists, total, cells)
            sample = rng.multinomial(n, share).astype(float)
            sample = np.where(exists, sample, np.nan).reshape(joint_shape)
        for k, metric in enumerate(metrics):
            value = metric.evaluate(sample, positive=positive)
            result[k, ..., start:stop] = np.moveaxis(value, 0, -1)
    return result, seed


def default_draws(cells, size):
    """20,000, fewer for matrices or stacks so large that it would take minutes."""
    return int(np.clip(min(5e7 / cells, 1e8 / max(size, 1)), 1000, 20_000))


@dataclass(frozen=True, eq=False)
class PosteriorRequest:
    """What a posterior was asked for, so that it can be asked again with more data."""

    counts: Any  # ConfusionCounts
    metric: object
    prior: object
    model: str
    prevalence: object
    positive: int | None
    n_draws: int | None
    random_state: object

    def _arguments(self):
        return {
            "positive": self.positive,
            "prior": self.prior,
            "model": self.model,
            "prevalence": self.prevalence,
            "n_draws": self.n_draws,
            "random_state": self.random_state,
        }

    def posterior(self):
        matrix = self.counts.counts.astype(float)
        return posterior_of(matrix, self.metric, **self._arguments(), origin=self)

    def predictive(self, n):
        return predictive_of(self.counts.counts.astype(float), self.metric, n, **self._arguments())

    def updated(self, new_counts):
        if not isinstance(new_counts, type(self.counts)):
            raise TypeError(f"new_counts must be ConfusionCounts, got {type(new_counts).__name__}.")
        return replace(self, counts=self.counts + new_counts).posterior()
