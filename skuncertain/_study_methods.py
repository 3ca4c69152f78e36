"""The interval methods of a coverage study: names, descriptions and functions become calls."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._counts import ConfusionCounts
from skuncertain._fold_methods import METHODS as FOLD_METHODS
from skuncertain._folds import fold_interval
from skuncertain._frequentist import confidence_interval
from skuncertain._functions import credible_interval
from skuncertain._priors import NAMES as PRIORS
from skuncertain._priors import PER_CELL
from skuncertain._proportions import proportion_cells
from skuncertain._truths import count_rows
from skuncertain._validation import as_list, check_integer, nearest_name, shown
from skuncertain._warnings import dropped, kept, others_kept

BINOMIAL = ("wilson", "clopper-pearson", "agresti-coull")
RESAMPLING = ("bootstrap", "bca")
FOLD_NAMES = {name: {"method": name} for name in FOLD_METHODS} | {
    "wang-li": {"method": "pooled", "omega": "wang-li"}
}
COUNT_NAMES = {name: {"prior": name} for name in PRIORS} | {
    name: {"method": name} for name in (*BINOMIAL, *RESAMPLING)
}
_GIVEN = ("level", "metric", "pos_label", "random_state")  # said once, for the whole study
_TAKEN = (*_GIVEN, "kind")  # what a user's function may ask for
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
        with dropped():
            known = {k: v for k, v in self.options.items() if k != "kind"}
            posterior = trial.posterior(
                question.metric, pos_label=question.pos_label, **known, random_state=0
            )
        return not posterior.exact

    def check_splits(self, splits):
        """Refuse what these splits do not allow."""
        if self.function is fold_interval and self.options.get("method") != "nadeau_bengio":
            splits.refuse_pooling(self.options.get("method", "pooled"))
        if self.on == "counts" and (splits.n_repeats > 1 or splits.obstacle):
            raise ValueError(
                f"method {self.name!r} takes every row for one observation, but this "
                "cross-validation tests rows several times. Use a fold method such as 'pooled' or "
                "'nadeau_bengio'."
            )

    def needs_all_cells(self, metric, n_classes):
        """Whether more than the successes and failures of a proportion decides the interval."""
        if proportion_cells(metric) is None or self.own:
            return True
        if self.function is confidence_interval:
            return False
        if set(self.options) - {"prior", "kind"}:
            return True
        prior = self.options.get("prior", "auto")
        if not isinstance(prior, str) or prior in PER_CELL or metric.average != "binary":
            return False
        return prior != "auto"  # "shared" and "total-one" look at the whole matrix

    def intervals(self, sample, question, seed):
        """Both ends for every sample, NaN where there is none, with reasons and warnings."""
        reasons: list = []
        if self.own:
            with others_kept() as caught:
                low, high = self._ends(sample, question, seed, reasons)
            found = [(w.message, w.category) for w in caught]
        else:
            with kept() as ours:
                low, high = self._ends(sample, question, seed, reasons)
            found = ours.found
        texts = {f"{category.__name__}: {text}" for text, category in found}
        return low, high, reasons, sorted(texts)

    def _ends(self, sample, question, seed, reasons):
        data, size = self._data(sample), len(sample.counts)
        arguments = self._arguments(sample, question, seed)

        def one(k):
            parts = [part[k] for part in data]
            if not self.own and self.function is confidence_interval and len(parts) == 2:
                parts = [tuple(parts)]
            found = self.function(*parts, **arguments)
            try:
                low, high = (float(end) for end in found)
            except (TypeError, ValueError):
                raise ValueError(
                    f"must return a pair (low, high) of numbers, got {type(found).__name__}"
                ) from None
            if low > high:
                raise ValueError(f"must return low <= high, got ({low:g}, {high:g})")
            return low, high

        if len(data) == 1:
            stacked = self._stacked(data[0], arguments, size, one)
            if stacked is not None:
                _note_undefined(stacked, reasons)
                return stacked
        ends = np.full((2, size), np.nan)
        for k in range(size):
            try:
                ends[:, k] = one(k)
            except Exception as error:  # the other samples are still worth having
                reasons.append(f"{type(error).__name__}: {error}")
                continue
            _note_undefined(ends[:, k : k + 1], reasons)
        return ends

    def _stacked(self, data, arguments, size, one):
        """Ends from one call for all samples, None if the function cannot do that."""
        try:
            found = self.function(data, **arguments)
            ends = np.array([np.asarray(end, dtype=float) for end in found])
        except Exception:  # one by one, the failing ones can be told from the others
            return None
        if ends.shape != (2, size) or np.any(ends[0] > ends[1]):
            return None
        if self.own:  # a function for one matrix may do something else with a stack of them
            for k in np.unique(np.linspace(0, size - 1, _CHECKED).astype(int)):
                try:
                    if not np.allclose(ends[:, k], one(k), rtol=1e-9, atol=1e-12, equal_nan=True):
                        return None
                except Exception:
                    return None
        return ends

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
        given = {
            "level": question.level,
            "kind": question.kind,
            "metric": question.metric,
            "pos_label": question.pos_label,
            "random_state": seed,
        }
        if self.own:
            return {k: v for k, v in given.items() if k in _parameters(self.function)}
        resampled = self.function is not confidence_interval or (
            self.options.get("method") in RESAMPLING
        )
        known = inspect.signature(self.function).parameters
        given = {k: v for k, v in given.items() if k in known}
        if not resampled:
            del given["random_state"]
        if self.block is not None:
            n = sample.rows[0].shape[1]
            given |= {"groups": np.arange(n) // self.block, "labels": sample.counts.labels}
        if self.function is fold_interval:
            splits = sample.splits
            method = self.options.get("method", "pooled")
            if method == "nadeau_bengio":
                given |= {"n_train": splits.n_train, "n_test": splits.n_test}
            else:
                given["n_repeats"] = splits.n_repeats
        return given | self.options


def _note_undefined(ends, reasons):
    undefined = int(np.isnan(ends).any(axis=0).sum())
    reasons.extend(["an end of the interval is NaN"] * undefined)


def _parameters(function):
    """Arguments, among those that a study can give, that a user's function asks for."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return []
    bound = set(function.keywords) if isinstance(function, functools.partial) else set()
    names = list(signature.parameters)
    first = 2 if names[:2] == ["y_true", "y_pred"] else 1
    return [name for name in names[first:] if name in _TAKEN and name not in bound]


def check_methods(methods, layout, kind):
    """Return a list of `Method` from a name, names, or a dict of names, descriptions, functions."""
    if isinstance(methods, str):
        methods = [methods]
    if callable(methods):
        raise TypeError('methods must be a list of names or a dict: {"mine": function}.')
    if hasattr(methods, "items"):
        items = list(methods.items())
    else:
        items = [(name, name) for name in as_list("methods", methods)]
    if not items:
        raise ValueError("methods must name at least one method, got none.")
    for name, _ in items:
        if not isinstance(name, str):
            raise TypeError(
                f'methods must be names, or a dict {{"name": what}}; got {shown(name)} as a name.'
            )
    if len({name for name, _ in items}) != len(items):
        raise ValueError(f"methods must be distinct, got {shown([name for name, _ in items])}.")
    found = [_method(name, what, layout) for name, what in items]
    if kind != "eti" and not any(m.own or m.function is not confidence_interval for m in found):
        raise ValueError(f"kind={kind!r} is of credible intervals; none of the methods is one.")
    return found


def _method(name, what, layout):
    if callable(what):
        return _own(name, what, layout)
    if isinstance(what, str):
        return _described(name, _named(what, layout), layout)
    if hasattr(what, "keys"):
        return _described(name, dict(what), layout)
    raise TypeError(
        f"method {name!r} must be a name, a dict of options or a function of counts, got {what!r}."
    )


def _own(name, function, layout):
    inner = getattr(function, "func", function)
    if inner in _METHOD_OF and not getattr(function, "args", ()):
        options = dict(getattr(function, "keywords", {}))
        if not set(options) & set(_GIVEN):  # ours: it may be told apart from an unknown function
            return _described(name, _METHOD_OF[inner] | options, layout)
    on = layout
    if layout == "rows":
        try:
            names = list(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            names = []
        on = "labels" if names[:2] == ["y_true", "y_pred"] else "counts"
    return Method(name, function, {}, on, own=True)


def _named(name, layout):
    known = (FOLD_NAMES | COUNT_NAMES) if layout == "folds" else COUNT_NAMES
    if layout == "folds" and name in FOLD_NAMES:
        return FOLD_NAMES[name]
    if name not in known:
        folds = ""
        if name in FOLD_NAMES:
            folds = f" {name!r} needs folds: use EstimatorTruth or SubsampleTruth."
        options = ", ".join(repr(option) for option in known)
        raise ValueError(
            f"methods must be among {options}, or descriptions and functions of your own in a "
            f"dict; got {shown(name)}.{folds or nearest_name(name, known)}"
        )
    return known[name]


def _described(name, options, layout):
    """Method from keyword arguments of one of the three functions."""
    thin, block = (
        None if options.get(key) is None else check_integer(key, options[key], low=1)
        for key in ("thin", "block")
    )
    if (thin is not None or block is not None) and layout != "rows":
        raise ValueError(
            f"method {name!r}: thin and block need rows in an order. Use MarkovTruth, or a "
            "function of your own."
        )
    if thin is not None and block is not None:
        raise ValueError(f"method {name!r}: thin and block exclude each other.")
    options = {k: v for k, v in options.items() if k not in ("thin", "block")}
    method = options.get("method")
    of_folds = method in FOLD_METHODS or (method is None and set(options) & {"omega", "estimand"})
    function: Callable
    if layout == "folds" and of_folds:
        function, on = fold_interval, "folds"
    else:
        function = credible_interval if method is None else confidence_interval
        on = "labels" if block is not None else "counts"
    allowed = [
        key
        for key in inspect.signature(function).parameters
        if key not in (*_GIVEN, "data", "counts", "y_true", "y_pred", "labels", "groups")
        and key not in ("sample_weight", "n_repeats", "n_train", "n_test")
    ]
    for key in options:
        if key not in allowed:
            hint = nearest_name(key, allowed)
            of = " It is an argument of the whole study." if key in _GIVEN else ""
            raise ValueError(
                f"method {name!r} has the unknown option {key!r}.{of or hint} Options of "
                f"{function.__name__} are {', '.join(allowed)}"
                + (", thin, block." if layout == "rows" else ".")
            )
    return Method(name, function, options, on, thin, block)
