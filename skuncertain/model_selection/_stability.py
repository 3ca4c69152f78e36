"""How much the models of the folds differ on the same rows: the reference rows.

The test rows of a fold tell how good its model is; they cannot tell whether the model would be
another one with other training rows. So every fold's model also predicts the same reference rows.
What differs there is the model alone, and the delete-a-fold jackknife turns it into the variance
between training sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import indexable

from skuncertain._utils.validation import as_numbers, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.metrics._labels import encode, plain_label, to_numpy
from skuncertain.model_selection._read_cross_validate import take_rows

MOST_ROWS = 2000  # reference rows
MOST_CLASSES = 100  # beyond, matrices of every model would cost more than the fits
_MARGIN_ROWS = 500  # of which scores are asked for, too
_SUREST = 0.02  # share of the rows that are called the surest of a class
_ALIKE = 0.15  # standard deviations between models that count as one
# Standard errors; nearer, the surest rows may change sides. Models that repeat each other in this
# sample vary less between folds than between samples, and need more of them: the share of equal
# pairs goes from one limit to the other.
_FAR, _FARTHER, _DIFFER, _REPEAT = 3.0, 4.0, 0.05, 0.25
_PREFIX, _MARGIN = "reference", "margin"


@dataclass(frozen=True, eq=False)
class Stability:
    """What the models of all folds say about the same rows.

    Parameters
    ----------
    counts : ndarray of shape (splits, halves, C, C)
        Confusion matrices of every model on the reference rows. All of them are one half; where
        they are fewer than the tested rows there are two, which tell the noise of so few.
    labels : tuple
        The classes.
    margins : ndarray of shape (splits, C), default=None
        How far the surest rows of every class are, in the scores of each model, from being
        predicted as another one.
    n_repeats : int, default=1
        Repetitions of the cross-validation.
    """

    counts: np.ndarray
    labels: tuple
    margins: np.ndarray | None = None
    n_repeats: int = 1

    @property
    def n_rows(self) -> int:
        """Number of reference rows."""
        return int(self.counts[0].sum())

    def without(self, failed: tuple) -> Stability | None:
        """What is left when folds have failed; None if another model could not predict the rows.

        Parameters
        ----------
        failed : tuple of int
            The folds.

        Returns
        -------
        Stability or None
            Without them.
        """
        keep = np.setdiff1d(np.arange(len(self.counts)), failed)
        silent = [int(k) for k in keep if np.isnan(self.counts[k]).any()]
        if silent:
            warn_user(
                f"the models of folds {silent} (counted from 0) failed to predict rows other than "
                "their test rows, so it is not known how much the models differ: intervals are "
                "made without it. stability=False does not ask.",
                UserWarning,
            )
            return None
        margins = None if self.margins is None else self.margins[keep]
        return Stability(self.counts[keep], self.labels, margins, self.n_repeats)

    def vanishing(self) -> list:
        """Classes that the learner may stop predicting on another sample of this size.

        Returns
        -------
        list of tuple
            (label, standard errors between its surest rows and another class); the second is None
            of a class that a model of these folds does not predict at all.
        """
        found = []
        predicted = self.counts.sum(axis=(1, 2))  # (splits, C)
        present = self.counts[0].sum(axis=(0, 2)) > 0
        for c, label in enumerate(self.labels):
            if not present[c]:
                continue
            if (predicted[:, c] == 0).any():
                found.append((label, None))
            elif self.margins is not None and self._is_near(self.margins, c):
                found.append((label, self._distance(self.margins[:, c])))
        return found

    def _is_near(self, margins, c):
        """Whether the surest rows of a class may change sides."""
        away = float(alike(self.counts, self.n_repeats)) - _DIFFER
        repeats = min(max(away / (_REPEAT - _DIFFER), 0.0), 1.0)
        return self._distance(margins[:, c]) < _FAR + repeats * (_FARTHER - _FAR)

    def _distance(self, margin):
        """Mean of the margins of the models in standard errors, by the jackknife."""
        if not np.isfinite(margin).all():
            return np.inf
        spread = np.sqrt(jackknife(margin[:, None], self.n_repeats)).item()
        middle = margin.mean().item()
        return middle / spread if spread > 0 else np.inf if middle > 0 else 0.0


def check_models(stability_counts, counts):
    """Matrices ``(..., splits, halves, C, C)`` of the folds' models, from those of a user."""
    matrices = as_numbers("stability_counts", stability_counts)
    expected = (*counts.shape, counts.n_classes, counts.n_classes)
    if matrices.shape == expected:
        matrices = matrices[..., None, :, :]
    refuse_if(
        matrices.shape != (*expected[:-2], 1, *expected[-2:])
        and matrices.shape != (*expected[:-2], 2, *expected[-2:]),
        "stability_counts",
        f"stability_counts must have the shape of counts, {expected}, or two halves of the rows, "
        f"{(*expected[:-2], 2, *expected[-2:])}, got {matrices.shape}.",
    )
    refuse_if(
        not np.all((matrices >= 0) & (matrices == np.rint(matrices)) & np.isfinite(matrices)),
        "stability_counts",
        "stability_counts must be whole numbers of rows, 0 or more, got {value}.",
        stability_counts,
    )
    rows = matrices.sum(axis=-1)
    refuse_if(
        np.any(rows != rows[..., :1, :, :]) or not rows.any(),
        "stability_counts",
        "stability_counts must be about the same rows in every fold: the numbers of rows of the "
        "true classes differ, or are 0.",
    )
    return matrices


def jackknife(values, n_repeats, share=1.0):
    """Delete-a-fold jackknife variance of values ``(..., splits, halves)`` of the fold models.

    With two halves of the rows, the product of their deviations is free of the noise of the rows;
    what remains of that noise is what `share`, reference rows over tested rows, leaves of it.
    """
    k = values.shape[-2] / n_repeats
    away = values - values.mean(axis=-2, keepdims=True)
    whole = np.square(away.mean(axis=-1)).sum(axis=-1)
    if values.shape[-1] == 2:
        free = np.maximum(away.prod(axis=-1).sum(axis=-1), 0.0)
        whole = free + share * np.maximum(whole - free, 0.0)
    return (k - 1) / k * whole / n_repeats


def movement(matrices, n_repeats, n):
    """Variance of the predicted class shares between training sets, over that of n rows' noise.

    `matrices` are those of every model, shape (..., splits, halves, C, C).
    """
    predicted = matrices.sum(axis=-2)
    rows = predicted.sum(axis=-1, keepdims=True)
    share = predicted / np.maximum(rows, 1)  # (..., splits, halves, C)
    total = rows.sum(axis=(-2, -1))[..., :1].mean(axis=-1)
    between = jackknife(np.moveaxis(share, -1, 0), n_repeats, share_of_rows(total, n)).sum(axis=0)
    mean = share.mean(axis=(-3, -2)) * total[..., None]
    smooth = (mean + 0.5) / (total + 1)[..., None]
    chance = (smooth * (1 - smooth)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, between / chance * n, 0.0)


def share_of_rows(rows, n):
    """Reference rows over tested rows, at most 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > rows, rows / n, 1.0)


def metric_jackknife(matrices, slope, n_repeats, n):
    """Variance of a metric between training sets, linear in the cells.

    `slope` are the derivatives with respect to the cells, at the mean of the matrices ``(...,
    splits, halves, C, C)``.
    """
    total = matrices.sum(axis=(-3, -2, -1)).mean(axis=-1)
    return jackknife(model_values(matrices, slope), n_repeats, share_of_rows(total, n))


def model_values(matrices, slope):
    """Metric of every model on every half ``(..., splits, halves)``, up to a constant."""
    halves = matrices.shape[-3]
    # A half stands for all rows: it counts as often as there are halves.
    return halves * np.einsum("...khij,...ij->...kh", matrices, slope)


def difference_jackknife(values, n_repeats, share):
    """Jackknife variances ``(m, m)`` of the differences of m metrics ``(m, splits, halves)``."""
    return jackknife(values[None] - values[:, None], n_repeats, share)


def alike(matrices, n_repeats):
    """Share of the pairs of models that predict the classes equally often, as far as models differ.

    A learner with few rules to choose from, such as a stump, repeats itself; others do not. Pairs
    are those of the same repetition.
    """
    predicted = matrices.sum(axis=(-3, -2))  # (..., splits, C)
    groups = 1 if predicted.shape[-2] % n_repeats else n_repeats  # a fold that failed
    parts = predicted.reshape(*predicted.shape[:-2], groups, -1, predicted.shape[-1])
    if parts.shape[-2] < 2:
        return np.ones(predicted.shape[:-2])
    spread = parts.var(axis=-2).sum(axis=-1)[..., None]
    first, second = np.triu_indices(parts.shape[-2], 1)
    apart = np.square(parts[..., first, :] - parts[..., second, :]).sum(axis=-1)
    return (apart <= _ALIKE**2 * spread).mean(axis=(-2, -1))


def optimism(matrices, tested, n_repeats):
    """Share of the errors on tested rows that the models do not make on rows they learnt from.

    `tested` is the confusion matrix of the tests of the reference rows, each once.
    """
    learnt = _on_learnt_rows(matrices, tested, n_repeats)
    errors = [
        part.sum(axis=(-2, -1)) - np.trace(part, axis1=-2, axis2=-1) for part in (tested, learnt)
    ]
    return np.clip((errors[0] - errors[1]) / (errors[0] + 2), 0.0, 1.0)


def gain_of_tests(matrices, tested, slope, n_repeats):
    """Metric on tested rows minus that on rows that the models learnt from, linear in the cells.

    `slope` are the derivatives with respect to the cells of the reference rows.
    """
    learnt = _on_learnt_rows(matrices, tested, n_repeats)
    rows = learnt.sum(axis=-1, keepdims=True)
    # A fold that failed is not tested: classes count as often as they were.
    weight = tested.sum(axis=-1, keepdims=True) / np.where(rows > 0, rows, 1.0)
    return (slope * (tested - weight * learnt)).sum(axis=(-2, -1))


def _on_learnt_rows(matrices, tested, n_repeats):
    """Mean confusion matrix of the models on rows that they learnt from."""
    folds = matrices.shape[-4] / n_repeats
    shown = matrices.sum(axis=(-4, -3)) / n_repeats  # every row by K models, K - 1 of which know it
    return (shown - tested) / max(folds - 1, 1)


# --------------------------------------------------------------------------------------------------
# Asking the models


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows that all models predict.

    Parameters
    ----------
    X, y : object
        The rows and their labels.
    half : ndarray of int
        The half that every row belongs to.
    labels : tuple
        All classes.
    """

    X: Any
    y: np.ndarray
    half: np.ndarray
    labels: tuple

    @classmethod
    def of(cls, X, codes, labels):
        """All rows, or a fixed stratified part of them; `codes` are the classes of the rows."""
        (X,) = indexable(X)  # not every sparse matrix has rows that can be taken
        rows, half = np.arange(len(codes)), np.zeros(len(codes), dtype=int)
        if len(codes) > MOST_ROWS:
            rows = spread_rows(codes, MOST_ROWS)
            half = np.empty(rows.size, dtype=int)
            for c in np.unique(codes[rows]):
                mine = np.flatnonzero(codes[rows] == c)
                half[mine] = (np.arange(mine.size) + c) % 2
        return cls(take_rows(X, rows), codes[rows], half, labels)

    @property
    def n_halves(self):
        """One or two."""
        return int(self.half.max(initial=0)) + 1

    def ask(self, model):
        """Matrices ``(halves, C, C)`` of a model, and its margins ``(C,)`` or None."""
        predicted = encode(to_numpy("y_pred", model.predict(self.X)), self.labels, "y_pred")
        size = len(self.labels)
        place = (self.half * size + self.y) * size + predicted
        counts = np.bincount(place, minlength=self.n_halves * size**2)
        return counts.reshape(-1, size, size), self._margins(model)

    def _margins(self, model):
        """How far the surest rows of each class are from another one, in scores of the model."""
        rows = spread_rows(self.y, _MARGIN_ROWS)
        scores = _scores(model, take_rows(self.X, rows), rows.size, self.labels)
        if scores is None:
            return None
        size, found = len(self.labels), np.full(len(self.labels), np.nan)
        shares = np.bincount(self.y, minlength=size) / max(self.y.size, 1)
        for c in range(size):
            others = np.delete(scores, c, axis=1).max(axis=1)
            with np.errstate(invalid="ignore"):  # a class that was not learnt
                margin = scores[:, c] - others
            surest = min(_SUREST, shares[c] / 5)
            if shares[c] > 0 and not np.isnan(margin).any():
                found[c] = np.quantile(margin, 1 - surest, method="lower")  # may be infinite
        return found


def ask_models(estimators, X, y, labels, splits, failed):
    """Stability of fitted estimators, without those of failed folds; None of very many classes."""
    if len(labels) > MOST_CLASSES:
        return None
    reference = Reference.of(X, encode(to_numpy("y", y), labels, "y"), labels)
    kept = [model for k, model in enumerate(estimators) if k not in failed]
    counts, margins = zip(*(reference.ask(model) for model in kept), strict=True)
    known = all(margin is not None for margin in margins)
    return Stability(
        np.array(counts, dtype=float),
        labels,
        np.array(margins) if known else None,
        splits.n_repeats,
    )


def spread_rows(codes, most):
    """At most so many rows, evenly spread over the rows of every class, in their order."""
    if len(codes) <= most:
        return np.arange(len(codes))
    chosen = []
    for c in np.unique(codes):
        mine = np.flatnonzero(codes == c)
        number = max(1, int(mine.size * most / len(codes)))
        chosen.append(mine[np.linspace(0, mine.size - 1, number).astype(int)])
    return np.sort(np.concatenate(chosen))


def _scores(model, X, n_rows, labels):
    """Scores ``(rows, C)`` by which a model decides, or None if it does not tell."""
    for name in ("predict_proba", "decision_function"):
        try:
            scores = np.asarray(getattr(model, name)(X), dtype=float)
            classes = [plain_label(label) for label in model.classes_]
        except Exception:  # what a model cannot tell is not asked for twice
            continue
        if scores.ndim == 1 and len(classes) == 2:
            scores = np.column_stack([-scores, scores])
        if scores.shape != (n_rows, len(classes)):
            continue
        full = np.full((n_rows, len(labels)), -np.inf)
        places = [k for k, label in enumerate(classes) if label in labels]
        full[:, [labels.index(classes[k]) for k in places]] = scores[:, places]
        return full
    return None


class StabilityScorer:
    """A counts scorer that also asks every model about the reference rows.

    Parameters
    ----------
    scorer : callable
        Counts of the test rows.
    reference : Reference
        The rows.
    """

    def __init__(self, scorer, reference):
        self.scorer, self.reference = scorer, reference

    def __call__(self, estimator, X, y):
        values, keys = self.scorer(estimator, X, y), self.keys
        try:
            counts, margins = self.reference.ask(estimator)
        except Exception:  # the fold has been tested: only its stability is lost
            return {**values, **dict.fromkeys(keys, np.nan)}
        if margins is None:
            margins = np.full(len(self.reference.labels), np.nan)
        told = [*counts.ravel().tolist(), *margins.tolist()]
        return {**values, **dict(zip(keys, told, strict=True))}

    @property
    def keys(self):
        """Keys of what is said about the reference rows."""
        size = len(self.reference.labels)
        cells = [
            f"{_PREFIX}_{half}_{true}_{predicted}"
            for half in range(self.reference.n_halves)
            for true in range(size)
            for predicted in range(size)
        ]
        return [*cells, *(f"{_PREFIX}_{_MARGIN}_{c}" for c in range(size))]

    def take(self, results, n_repeats):
        """Take the answers out of the result of ``cross_validate``; NaN where asking failed."""
        columns = np.array([results.pop(f"test_{key}") for key in self.keys], dtype=float).T
        size = len(self.reference.labels)
        cells = self.reference.n_halves * size**2
        counts = columns[:, :cells].reshape(len(columns), -1, size, size)
        margins = columns[:, cells:]
        if np.isnan(margins).all():
            margins = None
        return Stability(counts, self.reference.labels, margins, n_repeats)
