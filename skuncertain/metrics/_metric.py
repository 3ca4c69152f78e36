"""What a metric is: a function of a confusion matrix, with what is known about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import skuncertain.metrics._formulas as formulas
from skuncertain._utils.validation import as_numbers, check_integer, check_zero_division, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import AVERAGED, score_of


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A function of a confusion matrix, with what is known about it.

    Obtain one from :func:`get_metric` or, for your own function, from :func:`make_metric`.

    Parameters
    ----------
    name : str
        Canonical name.
    function : callable
        ``function(matrix, zero_division)`` for a stack of matrices ``(..., C, C)``; with
        ``average="binary"`` the function of the four cells ``(tp, fn, fp, tn, zero_division)``.
    range : tuple of float
        Smallest and largest possible value.
    greater_is_better : bool or None
        Direction; None for descriptions such as the prevalence.
    average : {None, "binary", "micro", "macro", "weighted"}
        None: a metric of the whole matrix. "binary": a metric of one positive class. The others
        average the one-against-rest values over classes.
    base : str
        Name without the averaging suffix.
    numerator, denominator : tuple of float or None
        Weights of the cells (tp, fn, fp, tn) if the two-class metric is linear-fractional.
    description : str
        Formula in words.
    beta : float or None
        Weight of recall in an F-score.
    cost : ndarray or None
        Cost matrix of ``expected_cost``.
    user : bool
        Whether the function was supplied by the user (it then sees probabilities that sum to one).
    depends_on_prevalence : bool or None
        Whether the value changes with the frequencies of the true classes while the rates within
        each of them stay; of averages, with three classes or more. None: not known, of your own.
    needs : {"labels", "scores", "probabilities"}
        What it is computed from: predicted labels, scores that rank rows, or a probability of every
        class.
    negated : Metric or None
        The metric of which this one is the negative, as ``neg_log_loss`` is.

    See Also
    --------
    get_metric : Look a metric up by name.
    make_metric : Turn a function into a metric.

    Examples
    --------
    >>> from skuncertain.metrics import get_metric
    >>> f1 = get_metric("f1")
    >>> f1
    Metric('f1', range=(0, 1), greater_is_better=True, average='binary')
    >>> f1([[6, 2], [0, 26]])  # rows true, columns predicted, as in scikit-learn
    0.9629629629629629
    """

    name: str
    function: Callable
    range: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool | None = True
    average: str | None = None
    base: str = ""
    numerator: tuple[float, ...] | None = None
    denominator: tuple[float, ...] | None = None
    description: str = ""
    beta: float | None = None
    cost: np.ndarray | None = None
    user: bool = False
    depends_on_prevalence: bool | None = True
    needs: str = "labels"
    negated: Metric | None = None

    def __repr__(self):
        low, high = (f"{end:g}" for end in self.range)
        return (
            f"Metric({self.name!r}, range=({low}, {high}), "
            f"greater_is_better={self.greater_is_better}, average={self.average!r})"
        )

    def __call__(
        self, matrix: ArrayLike, *, positive: int | None = None, zero_division: float = np.nan
    ) -> Any:
        """Value of the metric for one matrix or a stack of them.

        Parameters
        ----------
        matrix : array-like of shape (..., C, C)
            Counts or probabilities, rows true, columns predicted.
        positive : int, default=None
            Index of the positive class. For two classes the default is 1, the last.
        zero_division : float, default=nan
            Value of 0/0. NaN comes with one ``UndefinedMetricWarning``; macro and weighted
            averages leave such classes out.

        Returns
        -------
        float or ndarray of shape (...)
            The value or values.
        """
        refuse_if(
            hasattr(matrix, "pos_label"),
            "matrix",
            f"use counts.score({self.name!r}) for ConfusionCounts.",
        )
        zero_division = check_zero_division(zero_division)
        array = as_numbers("matrix", matrix)
        refuse_if(
            array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2,
            "matrix",
            f"matrix must have shape (..., C, C), C at least 2, got shape {array.shape}.",
        )
        if self.average == "binary":
            positive = self.positive_index(array.shape[-1], positive)
        return score_of(self, array, positive, zero_division)

    def evaluate(
        self,
        matrix: np.ndarray,
        *,
        positive: int | None = None,
        zero_division: float = np.nan,
        leave_out: bool = False,
    ) -> np.ndarray:
        """Value for a float array, without checks of the data and without warnings.

        Parameters
        ----------
        matrix : ndarray of shape (..., C, C)
            Counts, probabilities or unnormalised draws.
        positive : int, default=None
            Index of the positive class.
        zero_division : float, default=nan
            Value of 0/0.
        leave_out : bool, default=False
            Whether averages leave out classes for which they are NaN, as scikit-learn does.

        Returns
        -------
        ndarray of shape (...)
            The values.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.average == "binary":
                if positive is None:
                    positive = self.positive_index(matrix.shape[-1], None)
                cells = formulas.collapse(matrix, positive)
                return np.asarray(self.function(*cells, zero_division))
            if self.user:
                # Draws are unnormalised gammas: a user's function may expect probabilities.
                matrix = matrix / matrix.sum(axis=(-2, -1), keepdims=True)
                value = as_numbers(
                    "metric", self.function(matrix), what=f"what metric {self.name!r} returns"
                )
                refuse_if(
                    value.shape != matrix.shape[:-2],
                    "metric",
                    f"metric {self.name!r} must map an array of shape (..., C, C) to one of "
                    f"shape (...); for shape {matrix.shape} it returned shape {value.shape}. "
                    "Sum over the last two axes only (axis=(-2, -1)).",
                )
                return value
            averages = self.average in ("macro", "weighted") or self.name == "balanced_accuracy"
            options = {"leave_out": True} if leave_out and averages else {}
            return np.asarray(self.function(matrix, zero_division, **options))

    def positive_index(self, n_classes: int, positive: int | None) -> int:
        """Index of the positive class, or an error that says how to name it.

        Parameters
        ----------
        n_classes : int
            Number of classes C.
        positive : int or None
            What the caller asked for.

        Returns
        -------
        int
            The index.
        """
        if positive is not None:
            positive = check_integer("positive", positive, low=0)
            refuse_if(
                positive >= n_classes,
                "positive",
                f"positive must be a class index < {n_classes}, got {positive}.",
            )
            return positive
        if n_classes == 2:
            return 1
        raise InvalidParameterError(
            f"metric {self.name!r} is defined for one positive class, but there are {n_classes} "
            "classes.",
            parameter="pos_label",
            remedy="Name the class with pos_label=..."
            + (f", or ask for {self.base + '_macro'!r}." if self.base in AVERAGED else "."),
        )
