"""The registry of metrics: one vectorised function of a matrix per metric.

A matrix is an array ``(..., C, C)`` of counts or probabilities, rows true, columns predicted. Every
registered metric is scale-free: counts, probabilities and unnormalised draws give the same value.

Most two-class metrics are *linear-fractional*, a weighted sum of cells over another one. They are
defined by these weights alone; the point value, the Beta shapes of the exact posterior and the
successes and failures of the binomial intervals all follow from them.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import _metric_formulas as formulas
from skuncertain._metric_table import (
    ALIASES,
    AVERAGED,
    AVERAGES,
    LINEAR_FRACTIONAL,
    OF_CELLS,
    OF_MATRIX,
    TWO_CLASS_WEIGHTS,
)
from skuncertain._validation import (
    as_numbers,
    check_bool,
    check_integer,
    check_number,
    check_zero_division,
    nearest_name,
    shown,
)
from skuncertain._warnings import warn_user


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

    See Also
    --------
    get_metric : Look a metric up by name.
    make_metric : Turn a function into a metric.

    Examples
    --------
    >>> from skuncertain import get_metric
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
            Value of 0/0. NaN comes with one ``UndefinedMetricWarning``.

        Returns
        -------
        float or ndarray of shape (...)
            The value or values.
        """
        if hasattr(matrix, "pos_label"):
            raise TypeError(f"use counts.score({self.name!r}) for ConfusionCounts.")
        zero_division = check_zero_division(zero_division)
        array = as_numbers("matrix", matrix)
        if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
            raise ValueError(
                f"matrix must have shape (..., C, C), C at least 2, got shape {array.shape}."
            )
        value = self.evaluate(array, positive=positive, zero_division=zero_division)
        return warn_if_undefined(self.name, value, zero_division)

    def evaluate(
        self, matrix: np.ndarray, *, positive: int | None = None, zero_division: float = np.nan
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

        Returns
        -------
        ndarray of shape (...)
            The values.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.average == "binary":
                index = self.positive_index(matrix.shape[-1], positive)
                cells = formulas.collapse(matrix, index)
                return np.asarray(self.function(*cells, zero_division))
            if self.user:
                # Draws are unnormalised gammas: a user's function may expect probabilities.
                matrix = matrix / matrix.sum(axis=(-2, -1), keepdims=True)
                value = as_numbers(f"what metric {self.name!r} returns", self.function(matrix))
                if value.shape != matrix.shape[:-2]:
                    raise ValueError(
                        f"metric {self.name!r} must map an array of shape (..., C, C) to one of "
                        f"shape (...); for shape {matrix.shape} it returned shape {value.shape}. "
                        "Sum over the last two axes only (axis=(-2, -1))."
                    )
                return value
            return np.asarray(self.function(matrix, zero_division))

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
            if positive >= n_classes:
                raise ValueError(f"positive must be a class index < {n_classes}, got {positive}.")
            return positive
        if n_classes == 2:
            return 1
        raise ValueError(
            f"metric {self.name!r} is defined for one positive class, but there are {n_classes} "
            "classes. Name the class with pos_label=..."
            + (f", or ask for {self.base + '_macro'!r}." if self.base in AVERAGED else ".")
        )


def class_function(metric):
    """Function of the cells (tp, fn, fp, tn) of all classes, if that is all a metric sees."""
    function = metric.function
    of_classes = isinstance(function, partial) and function.func is formulas.of_classes
    return function.keywords["function"] if of_classes else None


def warn_if_undefined(name, value, zero_division):
    """Return the value (a float if scalar), with one warning if it holds an unasked NaN."""
    undefined = np.isnan(value)
    if np.any(undefined) and np.isnan(zero_division):
        where = "" if value.ndim == 0 else f" for {int(undefined.sum())} of {value.size} matrices"
        warn_user(
            f"{name} is 0/0 and therefore undefined{where}: NaN. "
            "Use zero_division= to choose another value.",
            UndefinedMetricWarning,
        )
    return float(value) if value.ndim == 0 else value


def _linear_fractional_metric(name, numerator, denominator, better, description, **more):
    numerator = tuple(float(weight) for weight in numerator)
    denominator = tuple(float(weight) for weight in denominator)
    function = partial(formulas.linear_fractional, numerator=numerator, denominator=denominator)
    return Metric(
        name=name,
        function=function,
        greater_is_better=better,
        average="binary",
        base=more.pop("base", name),
        numerator=numerator,
        denominator=denominator,
        description=description,
        **more,
    )


def _make_registry():
    registry = {
        name: _linear_fractional_metric(name, *row) for name, row in LINEAR_FRACTIONAL.items()
    }
    for name, (function, limits, better, description) in OF_CELLS.items():
        registry[name] = Metric(
            name,
            function,
            tuple(map(float, limits)),
            better,
            "binary",
            name,
            None,
            None,
            description,
        )
    for name, (function, limits, better, description) in OF_MATRIX.items():
        weights = TWO_CLASS_WEIGHTS.get(name, (None, None))
        limits = tuple(map(float, limits))
        registry[name] = Metric(name, function, limits, better, None, name, *weights, description)
    for base in AVERAGED:
        if base != "fbeta":
            for average in AVERAGES:
                registry[f"{base}_{average}"] = _average_of(registry[base], average)
    return registry


def _average_of(metric, average):
    of_cells = partial(formulas.averaged, function=metric.function, average=average)
    return replace(
        metric,
        name=f"{metric.name}_{average}",
        function=partial(formulas.of_classes, function=of_cells),
        average=average,
        numerator=None,  # the average of fractions is no linear fraction
        denominator=None,
        description=f"{average} average of {metric.description}",
    )


def _fbeta(beta, average=None):
    beta = check_number("beta", beta, low=0, high=np.inf, closed=False)
    if beta == 1:
        metric = _REGISTRY["f1"]
    else:
        b2 = beta * beta
        metric = _linear_fractional_metric(
            f"f{beta:g}",
            (1 + b2, 0, 0, 0),
            (1 + b2, b2, 1, 0),
            True,
            "(1 + b2) tp / ((1 + b2) tp + b2 fn + fp)",
            base="fbeta",
            beta=beta,
        )
    return metric if average is None else _average_of(metric, average)


_REGISTRY = _make_registry()
_FBETA_NAME = re.compile(r"f(\d+\.?\d*|\.\d+)(?:_(micro|macro|weighted))?")
_PARAMETERS = {
    "fbeta": ("beta",),
    "cohen_kappa": ("weights",),
    "expected_cost": ("cost",),
    "net_benefit": ("threshold",),
}


def get_metric(name: Any, **params: Any) -> Metric:
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
    >>> from skuncertain import get_metric
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
    if not isinstance(name, str):
        raise TypeError(f"metric must be a name, a Metric or a function, got {shown(name)}.")
    key = name.strip().lower().replace(" ", "_")
    base, _, suffix = key.rpartition("_")
    average = suffix if suffix in AVERAGES else None
    if average is None:
        base = key
    base = ALIASES.get(base, base)
    if base.endswith("_score") and base not in _REGISTRY:  # the name of scikit-learn's function
        base = ALIASES.get(base[:-6], base[:-6])
    key = base if average is None else f"{base}_{average}"
    found = _FBETA_NAME.fullmatch(key)
    if key in _REGISTRY and not (key == "cohen_kappa" and params):
        _refuse_params(key, params)
        return _REGISTRY[key]
    if found:
        _refuse_params(key, params)
        return _fbeta(float(found[1]), found[2])
    if base in _PARAMETERS and (average is None or base == "fbeta"):
        needed = _PARAMETERS[base]
        if set(params) != set(needed):
            ending = "" if average is None else f"_{average}"
            short = f" The names 'f2{ending}' and 'f0.5{ending}' need none." * (base == "fbeta")
            raise ValueError(
                f"metric {name!r} needs the parameter {needed[0]!r} and no other, "
                f"got {sorted(params)}.{short} Example: get_metric({name!r}, {needed[0]}=...)."
            )
        return _parametrised(base, average, params[needed[0]])
    raise ValueError(
        f"metric {shown(name)} is not known.{_hint(key)} get_metric_names() lists all names."
    )


def _hint(key):
    """What somebody may have meant who wrote an unknown name."""
    if key in ("auc", "roc_auc", "auroc", "rocauc", "auc_roc"):
        return " It needs scores, no confusion matrix has it: in Python, auc_posterior."
    names = [*_REGISTRY, *ALIASES, *_PARAMETERS, "f0.5", "f2"]
    parts = [part.strip("_") for part in key.split(",")]
    if len(parts) > 1 and all(part in names for part in parts):
        return " It names several metrics: give one."
    short = key.removesuffix("score").rstrip("_-")
    return f" Did you mean {short!r}?" if short in names else nearest_name(key, names)


def _refuse_params(name, params):
    if params:
        raise TypeError(f"metric {name!r} takes no parameters, got {sorted(params)}.")


def _parametrised(base, average, value):
    if base == "fbeta":
        return _fbeta(value, average)
    if base == "cohen_kappa":
        if value is None or (isinstance(value, str) and value in ("linear", "quadratic")):
            return _REGISTRY["cohen_kappa" if value is None else f"cohen_kappa_{value}"]
        raise ValueError(f"weights must be None, 'linear' or 'quadratic', got {shown(value)}.")
    if base == "net_benefit":
        threshold = check_number("threshold", value, low=0, high=1, closed=False)
        odds = threshold / (1 - threshold)
        return _linear_fractional_metric(
            f"net_benefit_{threshold:g}",
            (1, 0, -odds, 0),
            (1, 1, 1, 1),
            True,
            "tp / n - fp / n * threshold / (1 - threshold)",
            base="net_benefit",
            range=(-odds, 1.0),
        )
    cost = as_numbers("cost", value)
    if cost.ndim != 2 or cost.shape[0] != cost.shape[1] or cost.shape[0] < 2:
        raise ValueError(f"cost must be a square matrix (C, C), rows true, got shape {cost.shape}.")
    if not np.all(np.isfinite(cost)):
        raise ValueError("cost must hold finite numbers only.")
    if np.all(cost == cost.flat[0]):
        raise ValueError("cost must not be constant: every matrix would cost the same.")
    cost.flags.writeable = False
    numerator = None
    if len(cost) == 2:
        numerator = (cost[1, 1], cost[1, 0], cost[0, 1], cost[0, 0])
    return Metric(
        "expected_cost",
        partial(formulas.expected_cost, cost=cost),
        (float(cost.min()), float(cost.max())),
        False,
        None,
        "expected_cost",
        numerator,
        None if numerator is None else (1.0, 1.0, 1.0, 1.0),
        "mean cost of a row",
        cost=cost,
    )


def get_metric_names(*, n_classes: int | None = None) -> list[str]:
    """All metric names.

    Parameters
    ----------
    n_classes : int, default=None
        If more than 2, only the names that need no positive class.

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
    >>> from skuncertain import get_metric_names
    >>> get_metric_names(n_classes=3)[:3]
    ['accuracy', 'balanced_accuracy', 'cohen_kappa']
    """
    if n_classes is not None:
        n_classes = check_integer("n_classes", n_classes, low=2)
    names = [
        name
        for name, metric in _REGISTRY.items()
        if n_classes is None or n_classes <= 2 or metric.average != "binary"
    ]
    names += [f"fbeta_{average}" for average in AVERAGES] + ["expected_cost"]
    if n_classes is None or n_classes <= 2:
        names += ["fbeta", "net_benefit"]
    return sorted(names)


def _check_one_argument(function):
    """Refuse a scikit-learn metric: it takes labels, not a matrix."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return
    needed = [p.name for p in parameters if p.default is p.empty and p.kind in (0, 1, 3)]
    takes = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not takes and not any(p.kind == p.VAR_POSITIONAL for p in parameters):
        raise TypeError(
            f"metric must be a function of a matrix (..., C, C), but {shown(function)} takes no "
            "argument."
        )
    if len(needed) > 1:
        raise TypeError(
            f"a metric takes one argument, a matrix (..., C, C), but {shown(function)} needs "
            f"{needed}. For a metric of scikit-learn pass its name, such as 'f1'."
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
    >>> from skuncertain import ConfusionCounts, make_metric
    >>> def overcall(p):
    ...     return p[..., 0, 1] - p[..., 1, 0]
    >>> metric = make_metric(overcall, range=(-1, 1), greater_is_better=None)
    >>> counts = ConfusionCounts([[80, 20], [10, 90]])
    >>> counts.posterior(metric, random_state=0).mean()
    0.05
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {shown(function)}.")
    _check_one_argument(function)
    ends = as_numbers("range", range)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ValueError(f"range must be (low, high) with low < high, got {shown(range)}.")
    low, high = ends.tolist()
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a string, got {shown(name)}.")
    if greater_is_better is not None:
        greater_is_better = check_bool("greater_is_better", greater_is_better)
    name = name or getattr(function, "__name__", None) or type(function).__name__
    return Metric(
        name=name,
        function=function,
        range=(low, high),
        greater_is_better=greater_is_better,
        base=name,
        description="user's function",
        user=True,
    )
