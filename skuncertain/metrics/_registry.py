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
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

import skuncertain.metrics._formulas as formulas
from skuncertain._utils.typing import MetricLike
from skuncertain._utils.validation import (
    as_list,
    as_numbers,
    check_bool,
    check_choice,
    check_integer,
    check_number,
    quoted,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import AVERAGED, AVERAGES
from skuncertain.metrics._metric import Metric
from skuncertain.metrics._names import name_hint, split_name
from skuncertain.metrics._scores.metrics import (
    RESPONSES,
    SCORE_METRICS,
    ScoreMetric,
    at_k_metric,
    data_needed,
    negative,
    row_metric,
    top_k_metric,
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


_REGISTRY |= SCORE_METRICS

_FBETA_NAME = re.compile(r"f(\d+\.?\d*|\.\d+)")
_K_NAME = re.compile(r"(precision|recall)_at_(\d+)|top_(\d+)_accuracy")
# Metrics with a parameter: its name, and what makes the metric of its value.
_PARAMETRISED = {
    "fbeta": ("beta", _fbeta),
    "cohen_kappa": ("weights", _weighted_kappa),
    "expected_cost": ("cost", _expected_cost),
    "net_benefit": ("threshold", _net_benefit),
    "top_k_accuracy": ("k", top_k_metric),
    "precision_at_k": ("k", partial(at_k_metric, "precision_at_k")),
    "recall_at_k": ("k", partial(at_k_metric, "recall_at_k")),
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
        probability at which one would act) for "net_benefit", ``k`` for "top_k_accuracy" (2 without
        it), "precision_at_k" and "recall_at_k".

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
    if key in _REGISTRY and not (key in _PARAMETRISED and params):
        _refuse_params(key, params)
        return _REGISTRY[key]
    beta, at_k = _FBETA_NAME.fullmatch(base), _K_NAME.fullmatch(base)
    if beta or at_k:
        _refuse_params(key, params)
        metric = _fbeta(float(beta[1])) if beta else _of_k(at_k)
    elif base.startswith("neg_") and (metric := _negative_of(name, base, average, params)):
        return metric
    elif base in _PARAMETRISED and (average is None or base == "fbeta"):
        metric = _of_parameter(name, base, average, params)
    else:
        raise InvalidParameterError(
            f"metric {quoted(name)} is not known.{name_hint(name, base, average, _KNOWN)}",
            parameter="metric",
            remedy="get_metric_names() lists all names.",
        )
    return metric if average is None else _average_of(metric, average)


def _of_k(name):
    """Metric of a name such as "precision_at_10"."""
    base, k, top = name.groups()
    return top_k_metric(int(top)) if base is None else at_k_metric(f"{base}_at_k", int(k))


def _negative_of(name, base, average, params):
    """Metric of a name such as "neg_log_loss"; None if it is not the negative of a loss."""
    ending = "" if average is None else f"_{average}"
    try:
        metric = get_metric(base.removeprefix("neg_") + ending, **params)
    except InvalidParameterError:
        return None
    found = negative(metric)
    refuse_if(
        found is None,
        "metric",
        f"metric {name!r} is not known: more of {metric.name!r} is better, so that its sign stays.",
        remedy=f"Ask for {metric.name!r}.",
    )
    return found


def count_metric(name: MetricLike, **params: Any) -> Metric:
    """Look up a metric that a confusion matrix tells; others are refused with what they need."""
    found = get_metric(name, **params)
    refuse_if(
        found.needs != "labels" or isinstance(found, ScoreMetric),
        "metric",
        f"metric {found.name!r} needs {found.needs}"
        + (", row by row" if found.needs == "labels" else "")
        + ": no confusion matrix has it.",
        remedy=data_needed(found),
    )
    return found


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


def named_metrics(metrics, least=1, find=None):
    """Return [(name as asked, Metric)] of one metric or of several; errors are of `metrics`.

    `find` looks a name up, by default among the metrics of a confusion matrix.
    """
    refuse_if(
        isinstance(metrics, dict),
        "metrics",
        "metrics must be a list of metrics, which have their own names, got the dict {value}.",
        metrics,
    )
    names = as_list("metrics", metrics)
    refuse_if(
        len(names) < least, "metrics", "metrics must name at least one metric, got an empty list."
    )
    try:
        found = [(find or count_metric)(name) for name in names]
    except InvalidParameterError as error:
        raise InvalidParameterError(error.message, "metrics", error.remedy) from None
    _refuse_same_names(found)
    pairs = zip(names, found, strict=True)
    return [(name if isinstance(name, str) else metric.name, metric) for name, metric in pairs]


def _refuse_same_names(metrics):
    """Refuse a user's metric that has the name of another one: results go by names."""
    known: dict = {}
    for metric in (one.negated or one for one in metrics):
        first = known.setdefault(metric.name, metric)
        refuse_if(
            first.function is not metric.function and (first.user or metric.user),
            "metrics",
            f"metrics must have different names, got {metric.name!r} for two of them.",
            remedy="Name a function of your own: make_metric(..., name='...').",
        )


def _refuse_params(name, params):
    refuse_if(params, "metric", f"metric {name!r} takes no parameters, got {sorted(params)}.")


def canonical_name(name):
    """Name of a metric in the registry, whatever alias it goes by."""
    return get_metric(name).name


def directed(name, parameter="metric", use="ranked", find=None):
    """Metric of which more, or less, is better; others are no scores. `find` as above."""
    metric = (find or count_metric)(name)
    check_direction(metric.name, metric.greater_is_better, use, parameter)
    return metric


def check_direction(name, greater_is_better, use="ranked", parameter="metric"):
    """Return whether more of a metric is better; metrics without a direction are refused."""
    message = f"metric {name!r} has no better or worse direction, so models cannot be {use} by it."
    refuse_if(greater_is_better is None, parameter, message)
    return greater_is_better


def get_metric_names(
    *,
    n_classes: int | None = None,
    depends_on_prevalence: bool | None = None,
    needs: str | None = None,
) -> list[str]:
    """All metric names.

    Parameters
    ----------
    n_classes : int, default=None
        If more than 2, only the names that need no positive class.
    depends_on_prevalence : bool, default=None
        Only the names of metrics that do, or do not, change with the class frequencies.
    needs : {"labels", "scores", "probabilities"}, default=None
        Only the names of metrics that are computed from these.

    Returns
    -------
    list of str
        Sorted canonical names. ``"fbeta"``, ``"expected_cost"``, ``"net_benefit"``,
        ``"precision_at_k"`` and ``"recall_at_k"`` need a parameter, see :func:`get_metric`. A loss
        with ``neg_`` before its name has its sign changed, as in scikit-learn.

    See Also
    --------
    get_metric : Look a metric up by name.

    Examples
    --------
    >>> from skuncertain.metrics import get_metric_names
    >>> get_metric_names(n_classes=3)[:3]
    ['accuracy', 'average_precision', 'balanced_accuracy']
    >>> get_metric_names(needs="probabilities")
    ['brier_score', 'd2_brier_score', 'd2_log_loss_score', 'log_loss']
    >>> get_metric_names(n_classes=3, depends_on_prevalence=False, needs="labels")
    ['balanced_accuracy', 'fnr_macro', 'recall_macro']
    """
    if n_classes is not None:
        n_classes = check_integer("n_classes", n_classes, low=2)
    two = n_classes in (None, 2)
    wanted = _REGISTRY | {name: _EXAMPLES[name] for name in _EXAMPLES}
    names = [
        name
        for name, metric in wanted.items()
        if two or metric.average != "binary" or name == "average_precision"
    ]
    if depends_on_prevalence is not None:
        moves = check_bool("depends_on_prevalence", depends_on_prevalence)
        names = [name for name in names if wanted[name].depends_on_prevalence is moves]
    if needs is not None:
        check_choice("needs", needs, tuple(RESPONSES))
        names = [name for name in names if wanted[name].needs == needs]
    return sorted(names)


# Metrics with a parameter, as examples of what is known about all of them.
_EXAMPLES = {
    "expected_cost": _expected_cost([[0, 1], [1, 0]]),
    "net_benefit": _net_benefit(0.5),
    "fbeta": _fbeta(2.0),
    **{f"fbeta_{average}": _average_of(_fbeta(2.0), average) for average in AVERAGES},
    "precision_at_k": at_k_metric("precision_at_k", 1),
    "recall_at_k": at_k_metric("recall_at_k", 1),
}


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
    module = getattr(function, "__module__", None) or ""
    if module.startswith("sklearn.metrics"):  # some have a default for their second argument
        needed = [p.name for p in takes]
    refuse_if(
        len(needed) > 1,
        "metric",
        f"a metric takes one argument, a matrix (..., C, C), but {{value}} needs "
        f"{needed}. For a metric of scikit-learn pass its name, such as 'f1'.",
        function,
    )


def make_metric(
    function: Callable | None = None,
    *,
    row_loss: Callable | None = None,
    needs: str | None = None,
    name: str | None = None,
    range: tuple[float, float] = (-np.inf, np.inf),
    greater_is_better: bool | str | None = "auto",
) -> Metric:
    """Turn a function of a confusion matrix, or a loss per row, into a metric.

    Parameters
    ----------
    function : callable, default=None
        Maps an array ``(..., C, C)`` of probabilities (rows true, the sum of each matrix is 1) to
        an array ``(...)``.
    row_loss : callable, default=None
        Instead of `function`: maps true labels ``(n,)`` and what is predicted to the losses
        ``(n,)`` of the rows. The metric is their mean.
    needs : {"probabilities", "scores", "labels"}, default=None
        What `row_loss` gets as its second argument: a probability ``(n, C)`` of every class (the
        default), scores ``(n,)`` or ``(n, C)``, or predicted labels ``(n,)``.
    name : str, default=None
        Name; by default the function's.
    range : tuple of float, default=(-inf, inf)
        Smallest and largest possible value. It closes intervals at the ends of the range.
    greater_is_better : bool, None or "auto", default="auto"
        Direction; None if neither end is better. "auto" is True for a `function` and False for a
        `row_loss`.

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

    Of losses less is better, unless `greater_is_better` says otherwise:

    >>> def surprise(y_true, p):
    ...     return 1 - p[range(len(y_true)), y_true]
    >>> from skuncertain import credible_interval
    >>> metric = make_metric(row_loss=surprise, range=(0, 1))
    >>> credible_interval([0, 1, 1, 0, 1] * 20, [0.2, 0.7, 0.9, 0.4, 0.6] * 20, metric=metric)
    Interval(low=0.25..., high=0.30...)
    """
    given: Any
    given, what = (function, "function") if row_loss is None else (row_loss, "row_loss")
    refuse_if(not callable(given), what, f"{what} must be callable, got {{value}}.", given)
    refuse_if(
        function is not None and row_loss is not None,
        "row_loss",
        "row_loss takes the place of function: give one of the two.",
    )
    refuse_if(
        row_loss is None and needs is not None,
        "needs",
        "needs belongs to row_loss; a function of a matrix sees labels, got {value}.",
        needs,
    )
    if row_loss is None:
        _check_one_argument(given)
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
    better: bool | None = None
    if isinstance(greater_is_better, str):
        check_choice("greater_is_better", greater_is_better, ("auto",))
        better = row_loss is None
    elif greater_is_better is not None:
        better = check_bool("greater_is_better", greater_is_better)
    name = name or getattr(given, "__name__", None) or type(given).__name__
    limits = tuple(ends.tolist())
    if row_loss is not None:
        needs = check_choice("needs", "probabilities" if needs is None else needs, tuple(RESPONSES))
        return row_metric(row_loss, name, limits, better, needs)
    return Metric(
        name=name,
        function=given,
        range=limits,
        greater_is_better=better,
        base=name,
        description="user's function",
        user=True,
        depends_on_prevalence=None,
    )
