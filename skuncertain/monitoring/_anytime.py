"""Confidence sequences of metrics: the streams of rows they rest on, and how these are combined.

A proportion is the rate of hits in the stream of those rows that are a hit or a miss; other rows
add nothing to either. A metric of several proportions is written as a function that rises with each
of them: its ends are the values at all lower and at all upper ends. Each of k sequences has 1 / k
of the probability of an error, so that all of them hold together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from skuncertain._numerics.beta import scale_odds
from skuncertain._numerics.confidence_sequence import confidence_sequence
from skuncertain._utils.validation import refuse_if
from skuncertain.metrics._formulas import (
    RATE_OF_ODDS,
    collapse,
    one_vs_rest,
    proportion_cells,
    proportion_counts,
    spread_cells,
)
from skuncertain.metrics._registry import count_metric

_MOST_COSTS = 100


def _root(u, v):
    return np.sqrt(u * v)


def _sum_less_one(u, v):
    return u + v - 1.0


def _odds(u):
    return u / (1.0 - u)


def _quotient(u, v):
    return u / (1.0 - v)


def _odds_ratio(u, v):
    return _odds(u) * _odds(v)


def _prevalence_threshold(fpr, fnr):
    return np.sqrt(fpr) / (np.sqrt(1.0 - fnr) + np.sqrt(fpr))


def _f_score(precision, recall, *, beta):
    return (1.0 + beta**2) / (1.0 / precision + beta**2 / recall)


def _matthews(recall, specificity, precision, npv):
    """Root of informedness times markedness, with their common sign."""
    u, v = recall + specificity - 1.0, precision + npv - 1.0
    above = np.sqrt(np.maximum(u, 0.0) * np.maximum(v, 0.0))
    return above - np.sqrt(np.maximum(-u, 0.0) * np.maximum(-v, 0.0))


# Metrics of several proportions, as functions that rise with each of them.
_RISING = {
    "g_mean": (("recall", "specificity"), _root),
    "informedness": (("recall", "specificity"), _sum_less_one),
    "markedness": (("precision", "npv"), _sum_less_one),
    "g_score": (("precision", "recall"), _root),
    "positive_likelihood_ratio": (("recall", "specificity"), _quotient),
    "negative_likelihood_ratio": (("fnr", "fpr"), _quotient),
    "diagnostic_odds_ratio": (("recall", "specificity"), _odds_ratio),
    "prevalence_threshold": (("fpr", "fnr"), _prevalence_threshold),
    "matthews_corrcoef": (("recall", "specificity", "precision", "npv"), _matthews),
    **{name: ((rate,), _odds) for name, rate in RATE_OF_ODDS.items()},
}


class Streams:
    """What all kinds share."""

    def counts(self, matrices):
        """Hits and misses of every stream, two arrays of shape (..., streams)."""
        raise NotImplementedError

    def combine(self, low, high):
        """Ends of the metric, from the ends of all rates of shape (..., streams)."""
        raise NotImplementedError

    def rates(self, matrices, level):
        """Ends of all rates, which hold together, and at all looks, with probability `level`."""
        hits, misses = self.counts(matrices)
        return confidence_sequence(hits, misses, (1.0 - level) / hits.shape[-1])

    def interval(self, matrices, level):
        """Ends of the metric."""
        return self.combine(*self.rates(matrices, level))


@dataclass(frozen=True, eq=False)
class _Proportion(Streams):
    """One proportion, or a metric whose odds are a multiple of its odds."""

    metric: Any
    positive: int | None

    def counts(self, matrices):
        found = proportion_counts(matrices, self.metric, self.positive)
        return tuple(part[..., None] for part in found[:2])

    def combine(self, low, high):
        odds = proportion_cells(self.metric)[2]
        return tuple(scale_odds(end[..., 0], odds) for end in (low, high))


@dataclass(frozen=True, eq=False)
class _Micro(Streams):
    """Micro average: every row is right in C - 1 or in C - 2 of C questions, so accuracy is all."""

    metric: Any
    n_classes: int

    def counts(self, matrices):
        return _Proportion(count_metric("accuracy"), None).counts(matrices)

    def combine(self, low, high):
        matrices = np.zeros((*low.shape[:-1], 2, self.n_classes, self.n_classes))
        matrices[..., 0, 0] = np.concatenate([low, high], axis=-1)
        matrices[..., 0, 1] = 1.0 - matrices[..., 0, 0]
        ends = np.sort(self.metric.evaluate(matrices), axis=-1)
        return ends[..., 0], ends[..., 1]


@dataclass(frozen=True, eq=False)
class _Rising(Streams):
    """Function of rates of one class, or its mean over all classes if `positive` is None."""

    rates_of_class: tuple
    function: Any
    positive: int | None

    def counts(self, matrices):
        if self.positive is None:
            cells = one_vs_rest(matrices)
        else:
            cells = [cell[..., None] for cell in collapse(matrices, self.positive)]
        cells, found = np.stack(cells), []
        for rate in self.rates_of_class:
            hits, misses, _ = proportion_cells(count_metric(rate))
            found.append((cells[hits].sum(axis=0), cells[misses].sum(axis=0)))
        return tuple(np.concatenate(part, axis=-1) for part in zip(*found, strict=True))

    def combine(self, low, high):
        with np.errstate(divide="ignore"):
            return tuple(
                self.function(*np.split(end, len(self.rates_of_class), axis=-1)).mean(axis=-1)
                for end in (low, high)
            )


@dataclass(frozen=True, eq=False)
class _MeanCost(Streams):
    """Mean of a number per row: a rate for every value but one, with which all are compared."""

    of_cell: np.ndarray
    range: tuple

    @property
    def _values(self):
        """The value to compare with, and the differences of the others from it."""
        values = np.unique(self.of_cell)
        base = 0.0 if 0.0 in values else values[0]
        return base, values[values != base] - base

    def counts(self, matrices):
        base, steps = self._values
        hits = np.stack(
            [matrices[..., self.of_cell - base == step].sum(axis=-1) for step in steps], axis=-1
        )
        return hits, matrices.sum(axis=(-2, -1))[..., None] - hits

    def combine(self, low, high):
        base, steps = self._values
        least = base + np.where(steps > 0, low, high) @ steps
        most = base + np.where(steps > 0, high, low) @ steps
        return np.maximum(least, self.range[0]), np.minimum(most, self.range[1])


@dataclass(frozen=True, eq=False)
class Verdict:
    """What all looks so far say together.

    Parameters
    ----------
    seen : int
        Number of looks.
    counts : ndarray or None
        Counts of all rows up to the last of them.
    low, high : ndarray or None
        Highest lower end and lowest upper end of every rate so far: no other rate has held at all
        looks, and if a lower end is above the upper one no constant rate has.
    alarm, change : int or None
        First look with an alarm, and first one at which no constant rate was left.
    """

    seen: int = 0
    counts: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    alarm: int | None = None
    change: int | None = None

    def follow(self, question, counts):
        """Verdict after more looks, a stack of counts, and flags of each: alarm, changed."""
        streams = question.streams(counts)
        low, high = streams.rates(counts.counts, question.level)
        alarms = np.zeros(len(low), dtype=bool)
        if question.threshold is not None:
            alarms = question.alarm(*streams.combine(low, high))
        if self.seen:
            low, high = np.concatenate([[self.low], low]), np.concatenate([[self.high], high])
        best = np.maximum.accumulate(low), np.minimum.accumulate(high)
        changed = np.any(best[0] > best[1], axis=-1)[-len(alarms) :]
        then = Verdict(
            self.seen + len(alarms),
            counts.counts[-1],
            best[0][-1],
            best[1][-1],
            self._first(self.alarm, alarms),
            self._first(self.change, changed),
        )
        return then, alarms, changed

    def _first(self, known, flags):
        if known is not None or not flags.any():
            return known
        return self.seen + 1 + int(np.argmax(flags))


def streams_of(metric, n_classes, positive):
    """Streams of a metric, or an error that says why it has none and what to watch instead."""
    base = metric.base or metric.name
    if proportion_cells(metric) is not None:
        return _Proportion(metric, positive)
    if metric.name == "balanced_accuracy":
        return _Rising(("recall",), np.asarray, None)
    if base in ("expected_cost", "net_benefit"):
        return _mean_cost(metric, n_classes, positive)
    refuse_without_streams(metric, n_classes)
    if metric.average == "micro":
        return _Micro(metric, n_classes)
    if metric.name == "matthews_corrcoef":
        positive = 1
    return _Rising(*_of_class(metric), None if metric.average == "macro" else positive)


def _of_class(metric):
    """Rates that a metric of one class rests on, and the function of them."""
    base = metric.base
    if base == "fbeta":
        return ("precision", "recall"), partial(_f_score, beta=metric.beta)
    if base in _RISING:
        return _RISING[base]
    return (base,), partial(scale_odds, odds=proportion_cells(count_metric(base))[2])


def _mean_cost(metric, n_classes, positive):
    if metric.cost is None:
        of_cell = spread_cells(np.array(metric.numerator), positive, n_classes)
    else:
        of_cell = np.asarray(metric.cost)
    refuse_if(
        np.unique(of_cell).size > _MOST_COSTS,
        "metric",
        f"anytime=True takes {metric.name} with at most {_MOST_COSTS} different costs, because "
        f"each has a sequence of its own, got {np.unique(of_cell).size}.",
        remedy="Round the costs, or use anytime=False.",
    )
    return _MeanCost(of_cell, metric.range)


def refuse_without_streams(metric, n_classes=2):
    """Refuse metrics that are no rising function of proportions of streams."""
    base = metric.base or metric.name
    several = metric.name == "matthews_corrcoef" and n_classes > 2
    of_class = base in ("fbeta", *_RISING) or metric.average in ("micro", "macro")
    of_rows = metric.name == "balanced_accuracy" or base in ("expected_cost", "net_benefit")
    known = (of_class or of_rows) and metric.average != "weighted" and not several
    if proportion_cells(metric) is not None or (known and not metric.user):
        return
    why = "it is no function of a few proportions that rises or falls with each of them"
    instead = "'accuracy', 'balanced_accuracy' or 'f1_macro'"
    if metric.average == "weighted":
        why = "its weights, the frequencies of the classes, are not known either"
        instead = f"'accuracy' or '{metric.name.removesuffix('_weighted')}_macro'"
    elif metric.user:
        why = "nothing is known about a function of your own"
    elif several:
        why = f"with {n_classes} classes {why}"
    refuse_if(
        True,
        "metric",
        f"metric {metric.name!r} has no confidence sequence: {why}.",
        remedy=f"Watch {instead} with anytime=True, or use anytime=False.",
    )
