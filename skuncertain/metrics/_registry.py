"""The registry of metrics: one vectorised function of a matrix per metric.

A matrix is an array ``(..., C, C)`` of counts or probabilities, rows true, columns predicted. Every
registered metric is scale-free: counts, probabilities and unnormalised draws give the same value.

Most two-class metrics are *linear-fractional*, a weighted sum of cells over another one. They are
defined by these weights alone; the point value, the Beta shapes of the exact posterior and the
successes and failures of the binomial intervals all follow from them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import skuncertain.metrics._formulas as formulas
from skuncertain._utils.typing import MetricLike
from skuncertain._utils.validation import (
    as_list,
    as_numbers,
    check_bool,
    check_integer,
    check_number,
    check_zero_division,
    quoted,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import AVERAGED, AVERAGES, score_of
from skuncertain.metrics._names import name_hint, split_name


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


@lru_cache(maxsize=256)
def is_symmetric(metric):
    """Whether a metric of one class is the same for both of two classes."""
    cells = np.array([[7.0, 2.0], [3.0, 11.0]])
    values = [metric.evaluate(cells, positive=k) for k in (0, 1)]
    return bool(np.isclose(*values, rtol=1e-12, atol=0))


def class_function(metric):
    """Function of the cells (tp, fn, fp, tn) of all classes, if that is all a metric sees."""
    function = metric.function
    of_classes = isinstance(function, partial) and function.func is formulas.of_classes
    return function.keywords["function"] if of_classes else None


def _average_of(metric, average):
    of_cells = partial(formulas.averaged, function=metric.function, average=average)
    return replace(
        metric,
        name=f"{metric.name}_{average}",
        function=partial(formulas.of_classes, function=of_cells),
        average=average,
        numerator=None,  # the average of fractions is no linear fraction
        denominator=None,
        depends_on_prevalence=average != "macro" or metric.base not in ("recall", "fnr"),
        description=f"{average} average of {metric.description}",
    )


_REGISTRY = {name: Metric(name, base=name, **known) for name, known in formulas.TABLE.items()}
_REGISTRY |= {
    f"{base}_{average}": _average_of(_REGISTRY[base], average)
    for base in AVERAGED
    if base in _REGISTRY
    for average in AVERAGES
}


def _fbeta(beta):
    beta = check_number("beta", beta, low=0, high=np.inf, closed=False)
    if beta == 1:
        return _REGISTRY["f1"]
    b2 = beta * beta
    description = "(1 + b2) tp / ((1 + b2) tp + b2 fn + fp)"
    known = formulas.fraction((1 + b2, 0, 0, 0), (1 + b2, b2, 1, 0), description)
    return Metric(f"f{beta:g}", base="fbeta", beta=beta, **known)


def _weighted_kappa(weights):
    named = isinstance(weights, str) and weights in ("linear", "quadratic")
    refuse_if(
        weights is not None and not named,
        "weights",
        "weights must be None, 'linear' or 'quadratic', got {value}.",
        weights,
    )
    return _REGISTRY[f"cohen_kappa_{weights}" if named else "cohen_kappa"]


def _net_benefit(threshold):
    threshold = check_number("threshold", threshold, low=0, high=1, closed=False, percent=0)
    odds = threshold / (1 - threshold)
    description = "tp / n - fp / n * threshold / (1 - threshold)"
    known = formulas.fraction((1, 0, -odds, 0), (1, 1, 1, 1), description, range=(-odds, 1.0))
    return Metric(f"net_benefit_{threshold:g}", base="net_benefit", **known)


def _expected_cost(cost):
    cost = as_numbers("cost", cost)
    refuse_if(
        cost.ndim != 2 or cost.shape[0] != cost.shape[1] or cost.shape[0] < 2,
        "cost",
        f"cost must be a square matrix (C, C), rows true, got shape {cost.shape}.",
    )
    refuse_if(not np.all(np.isfinite(cost)), "cost", "cost must hold finite numbers only.")
    refuse_if(
        np.all(cost == cost.flat[0]),
        "cost",
        "cost must not be constant: every matrix would cost the same.",
    )
    cost.flags.writeable = False
    two = len(cost) == 2
    return Metric(
        "expected_cost",
        partial(formulas.expected_cost, cost=cost),
        range=(float(cost.min()), float(cost.max())),
        greater_is_better=False,
        base="expected_cost",
        numerator=(cost[1, 1], cost[1, 0], cost[0, 1], cost[0, 0]) if two else None,
        denominator=(1.0, 1.0, 1.0, 1.0) if two else None,
        description="mean cost of a row",
        cost=cost,
    )


_FBETA_NAME = re.compile(r"f(\d+\.?\d*|\.\d+)")
# Metrics with a parameter: its name, and what makes the metric of its value.
_PARAMETRISED = {
    "fbeta": ("beta", _fbeta),
    "cohen_kappa": ("weights", _weighted_kappa),
    "expected_cost": ("cost", _expected_cost),
    "net_benefit": ("threshold", _net_benefit),
}
_KNOWN = dict.fromkeys([*_REGISTRY, *_PARAMETRISED])  # in a fixed order


def get_metric(name: MetricLike, **params: Any) -> Metric:
    """Look a metric up by its name or alias.

    Parameters
    ----------
    name : str, Metric or callable
        A name of :func:`get_metric_names`, an alias such as ``"mcc"``, ``"ppv"`` or ``"tpr"``, or
        ``"f0.5"``, ``"f2"``. A :class:`Metric` is returned as it is, a function goes through
        :func:`make_metric`.
    **params : dict
        ``beta`` for "fbeta" (and its averages), ``weights`` ("linear" or "quadratic") for
        "cohen_kappa", ``cost`` (matrix of costs, rows true) for "expected_cost", ``threshold`` (the
        probability at which one would act) for "net_benefit".

    Returns
    -------
    Metric
        The metric.

    See Also
    --------
    get_metric_names : All names.
    make_metric : A metric from a function of your own.

    Examples
    --------
    >>> from skuncertain.metrics import get_metric
    >>> get_metric("mcc").name
    'matthews_corrcoef'
    >>> get_metric("fbeta", beta=2).name
    'f2'
    >>> get_metric("expected_cost", cost=[[0, 1], [10, 0]])([[6, 2], [0, 26]])
    0.058823529411764705
    """
    if isinstance(name, Metric):
        _refuse_params(name.name, params)
        return name
    if callable(name):
        _refuse_params("a function", params)
        return make_metric(name)
    refuse_if(
        not isinstance(name, str),
        "metric",
        "metric must be a name, a Metric or a function, got {value}.",
        name,
    )
    if name in _REGISTRY and not params:
        return _REGISTRY[name]
    base, average = split_name(name, _KNOWN)
    key = base if average is None else f"{base}_{average}"
    if key in _REGISTRY and not (key == "cohen_kappa" and params):
        _refuse_params(key, params)
        return _REGISTRY[key]
    beta = _FBETA_NAME.fullmatch(base)
    if beta:
        _refuse_params(key, params)
        metric = _fbeta(float(beta[1]))
    elif base in _PARAMETRISED and (average is None or base == "fbeta"):
        metric = _of_parameter(name, base, average, params)
    else:
        raise InvalidParameterError(
            f"metric {quoted(name)} is not known.{name_hint(name, base, average, _KNOWN)}",
            parameter="metric",
            remedy="get_metric_names() lists all names.",
        )
    return metric if average is None else _average_of(metric, average)


def _of_parameter(name, base, average, params):
    parameter, make = _PARAMETRISED[base]
    ending = "" if average is None else f"_{average}"
    short = f" The names 'f2{ending}' and 'f0.5{ending}' need none." * (base == "fbeta")
    refuse_if(
        set(params) != {parameter},
        "metric",
        f"metric {name!r} needs the parameter {parameter!r} and no other, "
        f"got {sorted(params)}.{short}",
        remedy=f"Example: get_metric({name!r}, {parameter}=...).",
    )
    return make(params[parameter])


def named_metrics(metrics, least=1):
    """Return [(name as asked, Metric)] of one metric or of several; errors are of `metrics`."""
    names = as_list("metrics", metrics)
    refuse_if(
        len(names) < least, "metrics", "metrics must name at least one metric, got an empty list."
    )
    try:
        found = [get_metric(name) for name in names]
    except InvalidParameterError as error:
        raise InvalidParameterError(error.message, "metrics", error.remedy) from None
    pairs = zip(names, found, strict=True)
    return [(name if isinstance(name, str) else metric.name, metric) for name, metric in pairs]


def _refuse_params(name, params):
    refuse_if(params, "metric", f"metric {name!r} takes no parameters, got {sorted(params)}.")


def canonical_name(name):
    """Name of a metric in the registry, whatever alias it goes by."""
    return get_metric(name).name


def directed(name, parameter="metric", use="ranked"):
    """Metric of which more, or less, is better; others are no scores."""
    metric = get_metric(name)
    check_direction(metric.name, metric.greater_is_better, use, parameter)
    return metric


def check_direction(name, greater_is_better, use="ranked", parameter="metric"):
    """Return whether more of a metric is better; metrics without a direction are refused."""
    message = f"metric {name!r} has no better or worse direction, so models cannot be {use} by it."
    refuse_if(greater_is_better is None, parameter, message)
    return greater_is_better


def get_metric_names(
    *, n_classes: int | None = None, depends_on_prevalence: bool | None = None
) -> list[str]:
    """All metric names.

    Parameters
    ----------
    n_classes : int, default=None
        If more than 2, only the names that need no positive class.
    depends_on_prevalence : bool, default=None
        Only the names of metrics that do, or do not, change with the class frequencies.

    Returns
    -------
    list of str
        Sorted canonical names. ``"fbeta"``, ``"expected_cost"`` and ``"net_benefit"`` need a
        parameter, see :func:`get_metric`.

    See Also
    --------
    get_metric : Look a metric up by name.

    Examples
    --------
    >>> from skuncertain.metrics import get_metric_names
    >>> get_metric_names(n_classes=3)[:3]
    ['accuracy', 'balanced_accuracy', 'cohen_kappa']
    >>> get_metric_names(n_classes=3, depends_on_prevalence=False)
    ['balanced_accuracy', 'fnr_macro', 'recall_macro']
    """
    if n_classes is not None:
        n_classes = check_integer("n_classes", n_classes, low=2)
    two = n_classes in (None, 2)
    names = [name for name, metric in _REGISTRY.items() if two or metric.average != "binary"]
    if depends_on_prevalence is not None:
        wanted = check_bool("depends_on_prevalence", depends_on_prevalence)
        names = [name for name in names if _REGISTRY[name].depends_on_prevalence is wanted]
    if depends_on_prevalence is None or wanted:  # as those with a parameter do
        names += ["expected_cost", *(f"fbeta_{average}" for average in AVERAGES)]
        names += ["fbeta", "net_benefit"] if two else []
    return sorted(names)


def _check_one_argument(function):
    """Refuse a scikit-learn metric: it takes labels, not a matrix."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return
    needed = [p.name for p in parameters if p.default is p.empty and p.kind in (0, 1, 3)]
    takes = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    refuse_if(
        not takes and not any(p.kind == p.VAR_POSITIONAL for p in parameters),
        "metric",
        "metric must be a function of a matrix (..., C, C), but {value} takes no argument.",
        function,
    )
    refuse_if(
        len(needed) > 1,
        "metric",
        f"a metric takes one argument, a matrix (..., C, C), but {{value}} needs "
        f"{needed}. For a metric of scikit-learn pass its name, such as 'f1'.",
        function,
    )


def make_metric(
    function: Callable,
    *,
    name: str | None = None,
    range: tuple[float, float] = (-np.inf, np.inf),
    greater_is_better: bool | None = True,
) -> Metric:
    """Turn a function of a confusion matrix into a metric.

    Parameters
    ----------
    function : callable
        Maps an array ``(..., C, C)`` of probabilities (rows true, the sum of each matrix is 1) to
        an array ``(...)``.
    name : str, default=None
        Name; by default the function's.
    range : tuple of float, default=(-inf, inf)
        Smallest and largest possible value. It closes intervals at the ends of the range.
    greater_is_better : bool or None, default=True
        Direction.

    Returns
    -------
    Metric
        The metric. Every ``metric=`` parameter takes it.

    See Also
    --------
    get_metric : Metrics that are there already.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.metrics import make_metric
    >>> def overcall(p):
    ...     return p[..., 0, 1] - p[..., 1, 0]
    >>> metric = make_metric(overcall, range=(-1, 1), greater_is_better=None)
    >>> counts = ConfusionCounts([[80, 20], [10, 90]])
    >>> counts.posterior(metric, random_state=0).mean()
    0.05
    """
    refuse_if(
        not callable(function), "function", "function must be callable, got {value}.", function
    )
    _check_one_argument(function)
    ends = as_numbers("range", range)
    refuse_if(
        ends.shape != (2,) or not ends[0] < ends[1],
        "range",
        "range must be (low, high) with low < high, got {value}.",
        range,
    )
    refuse_if(
        name is not None and not isinstance(name, str),
        "name",
        "name must be a string, got {value}.",
        name,
    )
    if greater_is_better is not None:
        greater_is_better = check_bool("greater_is_better", greater_is_better)
    name = name or getattr(function, "__name__", None) or type(function).__name__
    return Metric(
        name=name,
        function=function,
        range=tuple(ends.tolist()),
        greater_is_better=greater_is_better,
        base=name,
        description="user's function",
        user=True,
        depends_on_prevalence=None,
    )
