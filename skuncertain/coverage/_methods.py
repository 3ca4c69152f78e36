"""The interval methods of a coverage study: names, descriptions and functions become calls."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._utils.validation import as_list, check_integer, nearest_name, quoted, refuse_if
from skuncertain._utils.warnings import collect, collect_foreign, silence
from skuncertain.coverage._populations import count_rows
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._confidence import confidence_interval
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._credible import credible_interval
from skuncertain.metrics._formulas import proportion_odds
from skuncertain.metrics._priors import NAMES as PRIORS, PER_CELL, resolve_prior
from skuncertain.model_selection._fold_methods import METHODS as FOLD_METHODS
from skuncertain.model_selection._fold_posterior import fold_interval, fold_posterior

BINOMIAL = ("wilson", "clopper_pearson", "agresti_coull")
RESAMPLING = ("bootstrap", "bca")
FOLD_NAMES = {name: {"method": name} for name in FOLD_METHODS} | {
    "wang_li": {"method": "pooled", "omega": "wang_li"}
}
COUNT_NAMES = {name: {"prior": name} for name in PRIORS} | {
    name: {"method": name} for name in (*BINOMIAL, *RESAMPLING)
}
_GIVEN = ("level", "metric", "pos_label", "random_state")  # said once, for the whole study
_TAKEN = (*_GIVEN, "kind")  # what a user's function may ask for
_DATA = ("data", "counts", "y_true", "y_pred", "labels", "groups", "sample_weight")
# Filled in by the study, or handed on by fold_interval: not options of a method.
_FILLED_IN = (*_GIVEN, *_DATA, "n_repeats", "n_train", "n_test", "options")
_OF_FOLDS = {"omega", "estimand"}  # options that only fold_interval has
_ROW_OPTIONS = ("thin", "block")
_METHOD_OF: dict = {
    credible_interval: {},
    confidence_interval: {"method": "wilson"},
    fold_interval: {"method": "pooled"},
}
_CHECKED = 3  # samples on which a stacked answer is compared with single ones


@dataclass(frozen=True, eq=False)
class Question:
    """What every method is asked."""

    metric: Any
    pos_label: Any
    level: float
    kind: str


@dataclass(frozen=True, eq=False)
class Method:
    """One interval method.

    Attributes
    ----------
    name : str
        Its name in the results.
    function : callable
        What is called.
    options : dict
        Keyword arguments of the description.
    on : str
        What the function gets: "counts", "folds", "rows", or "labels" (one sample at a time).
    thin, block : int or None
        Look at every so many rows; take so many rows for one group.
    own : bool
        Whether the function is the user's.
    """

    name: str
    function: Callable
    options: dict
    on: str
    thin: int | None = None
    block: int | None = None
    own: bool = False

    def draws(self, question, n_classes):
        """Whether the answer depends on random numbers."""
        if self.own:
            return "random_state" in _parameters(self.function)
        if self.block is not None or self.options.get("method") in RESAMPLING:
            return True
        if self.function is confidence_interval:
            return False
        trial = ConfusionCounts(np.ones((n_classes, n_classes), dtype=int))
        known = {k: v for k, v in self.options.items() if k != "kind"}
        known |= {"pos_label": question.pos_label, "random_state": 0}
        with silence():
            return not trial.posterior(question.metric, **known).exact

    def check_splits(self, splits):
        """Refuse what these splits do not allow."""
        if self.function is fold_interval and self.options.get("method") != "nadeau_bengio":
            splits.refuse_pooling(self.options.get("method", "pooled"))
        refuse_if(
            self.on == "counts" and (splits.n_repeats > 1 or splits.obstacle),
            "methods",
            f"method {self.name!r} takes every row for one observation, but this "
            "cross-validation tests rows several times. Use a fold method such as 'pooled' or "
            "'nadeau_bengio'.",
        )

    def needs_all_cells(self, metric, n_classes):
        """Whether more than the successes and failures of a proportion decides the interval."""
        if proportion_odds(metric) is None or self.own:
            return True
        if self.function is confidence_interval:
            return False
        if set(self.options) - {"prior", "kind"}:
            return True
        prior = self.options.get("prior", "auto")
        if not isinstance(prior, str) or prior in PER_CELL or metric.average != "binary":
            return False
        return resolve_prior(prior, n_classes, metric).value in ("shared", "total_one")

    def intervals(self, sample, question, seed):
        """Both ends for every sample, NaN where there is none, with reasons and warnings."""
        with collect_foreign() if self.own else collect() as caught:
            (low, high), reasons = self._ends(sample, question, seed)
        found = [(w.message, w.category) for w in caught] if self.own else caught.collected
        texts = {f"{category.__name__}: {text}" for text, category in found}
        return low, high, reasons, sorted(texts)

    def _ends(self, sample, question, seed):
        data, size = self._data(sample), len(sample.counts)
        arguments = self._arguments(sample, question, seed)

        def one(k):
            found = self.function(*(part[k] for part in data), **arguments)
            try:
                low, high = (float(end) for end in found)
            except (TypeError, ValueError):
                raise ValueError(
                    f"must return a pair (low, high) of numbers, got {type(found).__name__}"
                ) from None
            if low > high:
                raise ValueError(f"must return low <= high, got ({low:g}, {high:g})")
            return low, high

        reasons = []
        ends = self._stacked(data[0], arguments, size, one) if len(data) == 1 else None
        if ends is None:
            ends = np.full((2, size), np.nan)
            for k in range(size):
                try:
                    ends[:, k] = one(k)
                except Exception as error:  # the other samples are still worth having
                    reasons.append(f"{type(error).__name__}: {error}")
        undefined = int(np.isnan(ends).any(axis=0).sum()) - len(reasons)
        return ends, reasons + ["an end of the interval is NaN"] * undefined

    def _stacked(self, data, arguments, size, one):
        """Ends from one call for all samples, None if the function cannot do that."""
        try:
            found = self.function(data, **arguments)
            ends = np.array([np.asarray(end, dtype=float) for end in found])
            # A function of the user for one matrix may do something else with a stack of them.
            tried = np.unique(np.linspace(0, size - 1, _CHECKED).astype(int)) if self.own else ()
            right = ends.shape == (2, size) and not np.any(ends[0] > ends[1])
            right = right and all(
                np.allclose(ends[:, k], one(k), rtol=1e-9, atol=1e-12, equal_nan=True)
                for k in tried
            )
        except Exception:  # one by one, the failing ones can be told from the others
            return None
        return ends if right else None

    def _data(self, sample):
        """What the function is called with: arrays whose first axis are the samples."""
        if self.on == "labels":
            return sample.rows
        counts = sample.counts
        if self.thin is not None:
            counts = count_rows(*(rows[:, :: self.thin] for rows in sample.rows))
        if self.on == "counts" and len(counts.shape) > 1:
            counts = counts.sum(axis=1)
        return (counts,)

    def _arguments(self, sample, question, seed):
        known = _parameters(self.function) if self.own else _all_parameters(self.function)
        given = {**vars(question), "random_state": seed}
        given = {k: v for k, v in given.items() if k in known}
        method = self.options.get("method", "pooled")
        if self.function is confidence_interval and method not in RESAMPLING:
            del given["random_state"]
        if self.block is not None:
            n = sample.rows[0].shape[1]
            given |= {"groups": np.arange(n) // self.block, "labels": sample.counts.labels}
        if self.function is fold_interval:
            splits = sample.splits
            sizes = {"n_train": splits.n_train, "n_test": splits.n_test}
            given |= sizes if method == "nadeau_bengio" else {"n_repeats": splits.n_repeats}
        return given | self.options


def _names(function):
    """Names of the arguments of a function."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some builtins have none
        return []


def _all_parameters(function):
    """Names of all arguments of one of our three functions."""
    handed_on = _names(fold_posterior) if function is fold_interval else []
    return list(dict.fromkeys([*_names(function), *handed_on]))


def _parameters(function):
    """Arguments, among those that a study can give, that a user's function asks for."""
    bound = function.keywords if isinstance(function, functools.partial) else ()
    names = _names(function)
    first = 2 if names[:2] == ["y_true", "y_pred"] else 1
    return [name for name in names[first:] if name in _TAKEN and name not in bound]


def check_methods(methods, layout, kind):
    """Return a list of `Method` from a name, names, or a dict of names, descriptions, functions."""
    methods = [methods] if isinstance(methods, str) else methods
    refuse_if(
        callable(methods),
        "methods",
        'methods must be a list of names or a dict: {"mine": function}.',
    )
    items = (
        list(methods.items())
        if hasattr(methods, "items")
        else [(name, name) for name in as_list("methods", methods)]
    )
    refuse_if(not items, "methods", "methods must name at least one method, got none.")
    names = [name for name, _ in items]
    for name in names:
        refuse_if(
            not isinstance(name, str),
            "methods",
            'methods must be names, or a dict {"name": what}; got {value} as a name.',
            value=name,
        )
    refuse_if(
        len(set(names)) != len(names),
        "methods",
        "methods must be distinct, got {value}.",
        value=names,
    )
    found = [_method(name, what, layout) for name, what in items]
    refuse_if(
        kind != "eti" and not any(m.own or m.function is not confidence_interval for m in found),
        "kind",
        f"kind={kind!r} is of credible intervals; none of the methods is one.",
    )
    return found


def _method(name, what, layout):
    if callable(what):
        return _own(name, what, layout)
    refuse_if(
        not isinstance(what, str) and not hasattr(what, "keys"),
        "methods",
        f"method {name!r} must be a name, a dict of options or a function of counts, got "
        "{value}.",
        value=what,
    )
    return _described(name, _named(what, layout) if isinstance(what, str) else what, layout)


def _own(name, function, layout):
    inner = getattr(function, "func", function)
    if inner in _METHOD_OF and not getattr(function, "args", ()):
        options = dict(getattr(function, "keywords", {}))
        if not set(options) & set(_GIVEN):  # ours: it may be told apart from an unknown function
            return _described(name, _METHOD_OF[inner] | options, layout)
    if layout == "rows":
        layout = "labels" if _names(function)[:2] == ["y_true", "y_pred"] else "counts"
    return Method(name, function, {}, on=layout, own=True)


def _named(name, layout):
    known = (COUNT_NAMES | FOLD_NAMES) if layout == "folds" else COUNT_NAMES
    if name not in known:
        hint = nearest_name(name, known)
        if name in FOLD_NAMES:
            hint = f" {name!r} needs folds: use EstimatorPopulation or SubsamplePopulation."
        options = ", ".join(map(repr, known))
        raise InvalidParameterError(
            f"methods must be among {options}, or descriptions and functions of your own in a "
            f"dict; got {quoted(name)}.{hint}",
            parameter="methods",
        )
    return known[name]


def _described(name, options, layout):
    """Method from keyword arguments of one of the three functions."""
    options = dict(options)
    given = {key: options.pop(key, None) for key in _ROW_OPTIONS}
    rows = {k: check_integer(k, number, low=1) for k, number in given.items() if number is not None}
    refuse_if(
        rows and layout != "rows",
        "methods",
        f"method {name!r}: thin and block need rows in an order. Use MarkovPopulation, or a "
        "function of your own.",
    )
    refuse_if(len(rows) > 1, "methods", f"method {name!r}: thin and block exclude each other.")
    function, on = _function_of(options, layout)
    _check_options(name, options, function, layout)
    return Method(name, function, options, "labels" if "block" in rows else on, **rows)


def _function_of(options, layout):
    """Which of the three functions the options belong to, and what it gets."""
    method = options.get("method")
    of_folds = method in FOLD_METHODS or (method is None and options.keys() & _OF_FOLDS)
    if layout == "folds" and of_folds:
        return fold_interval, "folds"
    return (credible_interval if method is None else confidence_interval), "counts"


def _check_options(name, options, function, layout):
    """Refuse an option that the function does not have, or that the study itself fills in."""
    allowed = [key for key in _all_parameters(function) if key not in _FILLED_IN]
    for key in options:
        if key not in allowed:
            hint = nearest_name(key, allowed)
            of = " It is an argument of the whole study." if key in _GIVEN else ""
            raise InvalidParameterError(
                f"method {name!r} has the unknown option {key!r}.{of or hint} Options of "
                f"{function.__name__} are {', '.join(allowed)}"
                + (", thin, block." if layout == "rows" else "."),
                parameter="methods",
            )
