"""The arithmetic of a coverage study: outcomes or samples, cut into tasks, and their sums.

Every task returns sums over its samples, never the samples themselves, so that memory does not grow
with the number of replications.
"""

from collections import Counter
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from skuncertain._utils.validation import refuse_if
from skuncertain.coverage._populations import Sample, sequence
from skuncertain.coverage._run import run_tasks
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import (
    proportion_counts,
    proportion_masks,
    proportion_odds,
)
from skuncertain.metrics._labels import positive_of

DEFAULT_REPLICATIONS = 1000
_OUTCOMES_PER_TASK = 4096
_MODELS_PER_TASK = 5
# Most outcomes to enumerate: of a proportion by its successes and failures; of a proportion by all
# cells (functions of the user); of a metric without a closed form, which takes about 1 ms each.
_MOST_REDUCED, _MOST_CELLS, _MOST_QUADRATURE = 1_000_000, 200_000, 6_000
_TOLERANCE = 1e-12  # a truth on an end of an interval is held, whatever the rounding

# The columns of the sums over samples (or outcomes, each with its probability as a weight). The two
# shifted ones count with the truth a standard error lower and higher.
COLUMNS = (
    "weight",
    "held",
    "held_truth_lower",
    "held_truth_higher",
    "defined",
    "width",
    "width_squared",
    "truth",
    "truth_squared",
)


def compositions(n, size):
    """All ways to write n as an ordered sum of `size` non-negative numbers, one per row."""
    rows, left = np.zeros((1, 0), dtype=np.int64), np.array([n])
    for _ in range(size - 1):
        index = np.repeat(np.arange(len(left)), left + 1)
        start = np.cumsum(left + 1) - (left + 1)
        value = np.arange(index.size) - start[index]
        rows, left = np.column_stack([rows[index], value]), left[index] - value
    return np.column_stack([rows, left])


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Kinds of rows that are told apart in an enumeration, and what stands for them.

    Attributes
    ----------
    cells : ndarray of shape (kinds, C, C)
        A matrix with a single one for every kind.
    share : ndarray of shape (points, kinds)
        Probability of every kind at every point.
    """

    cells: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, matrices, metric, positive, all_cells):
        size = matrices.shape[-1]
        flat = matrices.reshape(-1, size, size)
        if all_cells:
            cells, share = np.eye(size**2).reshape(-1, size, size), flat.reshape(-1, size**2)
        else:
            hits, misses, _ = proportion_counts(flat, metric, positive)
            share = np.column_stack([hits, misses, np.maximum(1 - hits - misses, 0.0)])
            cells = _representatives(metric, positive, size)
            share[np.abs(share) < 1e-15] = 0.0
        used = np.nansum(share, axis=0) > 0
        return cls(cells[used].astype(np.int64), share[:, used])

    def number(self, n):
        """How many outcomes n rows have."""
        return comb(n + len(self.cells) - 1, n)


def _representatives(metric, positive, size):
    """Cells that stand for the successes, the failures and the other rows of a proportion."""
    success, failure = proportion_masks(metric, size, positive)
    cells = np.zeros((3, size, size))
    for cell, mask in zip(cells, (success, failure, ~(success | failure)), strict=True):
        cell[np.unravel_index(np.argmax(mask), mask.shape)] = 1
    return cells


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """What a study has to do."""

    population: Any
    sizes: np.ndarray
    methods: list
    question: Any
    metric: Any
    positive: int | None
    seed: int
    n_replications: int
    outcomes: Outcomes | None

    @classmethod
    def make(cls, population, sizes, methods, question, metric, n_replications, seed):
        """Try the methods on the population, and choose between enumeration and simulation."""
        positive = positive_of(metric, population.labels, question.pos_label)
        matrices = population._matrices(metric, positive)
        if population._layout == "folds":
            sample = _trial_folds(population, sizes, methods)
        else:
            point = int(np.argmax(~np.isnan(matrices[..., 0, 0].ravel())))
            sample = population._draw(point, 60, 1, (0,), metric, positive)
        for method in [one for one in methods if not one.own]:
            # A wrong option fails here, not after hours.
            *_, reasons, _ = method.intervals(sample, question, 0)
            error = next((text for text in reasons if not text.startswith("an end")), "")
            refuse_if(error, "methods", f"method {method.name!r} does not work: {error}")
        outcomes = None
        if n_replications is None and population._layout == "counts":
            outcomes = _enumerable(sizes, methods, question, metric, positive, matrices)
        number = DEFAULT_REPLICATIONS if n_replications is None else n_replications
        return cls(population, sizes, methods, question, metric, positive, seed, number, outcomes)

    @property
    def exact(self):
        """Whether all outcomes are enumerated."""
        return self.outcomes is not None

    @property
    def shape(self):
        """Shape of the whole grid; the number of rows is its last axis."""
        return (*self.population.shape, *self.sizes.shape)

    @property
    def _n_points(self):
        return int(np.prod(self.population.shape, dtype=int))

    @property
    def _models(self):
        """Whether the truth has to be estimated from models first."""
        return self.population._layout == "folds" and self.population.estimand == "algorithm"

    @property
    def _by_sample(self):
        """Whether every sample has a truth of its own."""
        return self.population._layout == "folds" and not self._models

    @property
    def n_tasks(self):
        """Number of tasks of all stages."""
        parts = [(self.n_replications, self.population._chunk)] * self._n_points * self.sizes.size
        if self.exact:
            numbers = [self.outcomes.number(n) for n in self.sizes.ravel().tolist()]
            parts = [(number, _OUTCOMES_PER_TASK) for number in numbers]
        return len(self._model_tasks()) + sum(-(-total // size) for total, size in parts)

    def run(self, n_jobs, store, progress):
        """Run everything; returns the arrays of `CoverageStudy`."""
        values, errors, notes = self._truths(n_jobs, store, progress)
        done = run_tasks(self._main_tasks(values, errors), n_jobs, store, progress)
        sums = np.zeros((len(self.methods), self._n_points, self.sizes.size, len(COLUMNS)))
        for key, (array, texts) in done.items():
            _, size, point, _ = key.split("-")
            columns = slice(None) if self.exact else int(point)
            sums[:, columns, int(size)] += array if self.exact else array[:, 0]
            notes += [tuple(text) for text in texts]
        return self._figures(sums, values, errors, notes)

    # ----------------------------------------------------------------------------------------------
    # The true values

    def _model_tasks(self):
        if not self._models:
            return {}
        return {
            f"truth-{k}-0-{chunk}": (_models_of, (self, n, size, (self.seed, 0, k, chunk)))
            for k, n in enumerate(self.sizes.ravel().tolist())
            for chunk, size in _chunks(self.population.n_models, _MODELS_PER_TASK)
        }

    def _truths(self, n_jobs, store, progress):
        """True values and their errors, each (points, sizes), and notes."""
        shape = (self._n_points, self.sizes.size)
        if self._by_sample:
            return np.full(shape, np.nan), np.zeros(shape), []
        if not self._models:
            matrices = self.population._matrices(self.metric, self.positive)
            value = self.metric.evaluate(matrices, positive=self.positive)
            return np.repeat(value.reshape(-1, 1), self.sizes.size, axis=1), np.zeros(shape), []
        done = run_tasks(self._model_tasks(), n_jobs, store, progress)
        values, errors, notes = np.empty(shape), np.empty(shape), []
        for k in range(self.sizes.size):
            parts = [result for key, result in done.items() if key.startswith(f"truth-{k}-")]
            found = np.concatenate([array for array, _ in parts])
            texts = [tuple(text) for _, part in parts for text in part]
            notes += texts
            defined = found[~np.isnan(found)]
            if defined.size < 2:
                reason = texts[0][2] if texts else f"{self.metric.name} is undefined for all models"
                raise ValueError(f"the truth could not be measured: {reason}.")
            if defined.size < found.size:
                text = f"{self.metric.name} is undefined for this model: left out of the truth"
                notes.append(("failure", "", text, found.size - defined.size))
            values[0, k] = defined.mean()
            errors[0, k] = defined.std(ddof=1) / np.sqrt(defined.size)
        return values, errors, notes

    # ----------------------------------------------------------------------------------------------
    # Outcomes or samples

    def _main_tasks(self, values, errors):
        """Tasks by key."""
        sizes = self.sizes.ravel().tolist()
        if self.exact:
            step, cells = _OUTCOMES_PER_TASK, self.outcomes.cells
            return {
                f"exact-{k}-0-{chunk}": (_enumerate, (self, kinds[start:][:step], values[:, k]))
                for k, kinds in enumerate(compositions(n, len(cells)) for n in sizes)
                for chunk, start in enumerate(range(0, len(kinds), step))
            }
        return {
            f"sample-{k}-{point}-{chunk}": (
                _simulate,
                (self, n, size, (k, point, chunk), values[point, k], errors[point, k]),
            )
            for k, n in enumerate(sizes)
            for point in range(self._n_points)
            for chunk, size in _chunks(self.n_replications, self.population._chunk)
        }

    # ----------------------------------------------------------------------------------------------
    # The result

    def _figures(self, sums, values, errors, notes):
        """Arrays of the result from the sums (methods, points, sizes, columns)."""
        total = dict(zip(COLUMNS, np.moveaxis(sums, -1, 0), strict=True))
        failures, texts = _collected(notes)
        self._refuse_nothing(total, failures)
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = total["weight"][0]
            if self.exact:
                outcomes = [self.outcomes.number(n) for n in self.sizes.ravel().tolist()]
                number = np.where(np.isnan(values), 0, outcomes)
                figures = _exact_figures(total)
            else:
                number = np.rint(weight).astype(int)
                figures = _simulated_figures(total)
            if self._by_sample:
                values = total["truth"][0] / weight
                spread = np.maximum(total["truth_squared"][0] / weight - values**2, 0)
                errors = np.sqrt(spread / weight)
        figures = {k: v.reshape(len(self.methods), *self.shape) for k, v in figures.items()}
        return figures | {
            "truth": values.reshape(self.shape),
            "truth_error": errors.reshape(self.shape),
            "n_replications": number.reshape(self.shape),
            "failures": failures,
            "warnings": texts,
        }

    def _refuse_nothing(self, total, failures):
        """Refuse a study without a sample, or a method without an interval."""
        if not np.any(total["weight"] > 0):
            reasons = [reason for method, reason, _ in failures if not method]
            raise ValueError(
                "no sample could be drawn at any point"
                + (f": {reasons[0]}" if reasons else ", because the true metric is undefined.")
            )
        for method, defined in zip(self.methods, total["defined"], strict=True):
            reason = next((reason for name, reason, _ in failures if name == method.name), "")
            message = f"method {method.name!r} failed on every sample: {reason}"
            refuse_if(not np.any(defined > 0), "methods", message)


def _exact_figures(total):
    """Coverage and width from sums over all outcomes."""
    coverage, width = total["held"] / total["weight"], total["width"] / total["defined"]
    failed = np.maximum(1 - total["defined"] / total["weight"], 0.0)
    failed[failed < 1e-12] = 0.0
    return {
        "coverage": np.minimum(coverage, 1.0),
        "coverage_error": np.where(np.isnan(coverage), np.nan, 0.0),
        "width": width,
        "width_error": np.where(np.isnan(width), np.nan, 0.0),
        "failed": failed,
    }


def _simulated_figures(total):
    """Coverage and width, with their standard errors, from sums over samples."""
    weight, defined = total["weight"], total["defined"]
    # One success and one failure more, so that 100 % does not look certain.
    share = (total["held"] + 1) / (weight + 2)
    shift = (total["held_truth_higher"] - total["held_truth_lower"]) / (2 * weight)
    width = total["width"] / defined
    variance = np.maximum(total["width_squared"] / defined - width**2, 0)
    return {
        "coverage": total["held"] / weight,
        "coverage_error": np.hypot(np.sqrt(share * (1 - share) / weight), shift),
        "width": width,
        "width_error": np.sqrt(variance / (defined - 1)),
        "failed": 1 - defined / weight,
    }


def _trial_folds(population, sizes, methods):
    """Check the methods against the splits of every size; returns a sample to try them on."""
    for size in sizes.ravel().tolist():
        splits = population._preview(size)
        for method in methods:
            method.check_splits(splits)
    n_classes = len(population.labels)
    trial = np.full((1, len(splits.n_test), n_classes, n_classes), 5)
    return Sample(ConfusionCounts(trial, labels=population.labels), splits=splits)


def _enumerable(sizes, methods, question, metric, positive, matrices):
    """Outcomes, if there are not too many of them and no method draws; otherwise None."""
    n_classes = matrices.shape[-1]
    if any(method.draws(question, n_classes) for method in methods):
        return None
    all_cells = any(method.needs_all_cells(metric, n_classes) for method in methods)
    outcomes = Outcomes.of(matrices, metric, positive, all_cells)
    most = _MOST_REDUCED
    if all_cells:
        most = _MOST_QUADRATURE if proportion_odds(metric) is None else _MOST_CELLS
    return outcomes if outcomes.number(int(sizes.max())) <= most else None


def _chunks(total, size):
    """Yield (number, size) of pieces of fixed size."""
    for number, start in enumerate(range(0, total, size)):
        yield number, min(size, total - start)


def _models_of(plan, n, size, seed):
    found = plan.population._performances(n, size, seed, plan.metric, plan.positive)
    return np.array(found[0], dtype=float), _notes("", found[1])


def _enumerate(plan, kinds, truth):
    """Sums over a part of the outcomes, for all points at once."""
    share = plan.outcomes.share
    matrices = np.einsum("mk,kij->mij", kinds, plan.outcomes.cells)
    sample = Sample(
        ConfusionCounts(matrices, labels=plan.population.labels, pos_label=plan.question.pos_label)
    )
    ways = gammaln(int(kinds[0].sum()) + 1) - gammaln(kinds + 1).sum(axis=1)
    sums = np.zeros((len(plan.methods), len(share), len(COLUMNS)))
    notes, ends = [], []
    for method in plan.methods:
        low, high, reasons, texts = method.intervals(sample, plan.question, 0)
        ends.append((low, high))
        notes += _notes(method.name, reasons, texts)
    step = max(1, 2**20 // len(kinds))
    for start in range(0, len(share), step):
        rows = slice(start, start + step)
        value = truth[rows, None]
        mass = np.exp(ways + xlogy(kinds[None], share[rows, None, :]).sum(axis=-1))
        mass = np.where(np.isnan(value), 0.0, mass)  # (points, outcomes)
        for m, (low, high) in enumerate(ends):
            sums[m, rows] = _sums(low, high, value, 0.0, mass)
    return sums, notes


def _simulate(plan, n, size, where, value, error):
    """Sums over a chunk of samples of one point."""
    sums = np.zeros((len(plan.methods), 1, len(COLUMNS)))
    if np.isnan(value) and not plan._by_sample:  # a point that cannot be
        return sums, []
    k, point, chunk = where
    sample = plan.population._draw(
        point, n, size, (plan.seed, 1, k, point, chunk), plan.metric, plan.positive
    )
    notes = _notes("", sample.failures)
    if len(sample.counts) == 0:
        return sums, notes
    if plan.question.pos_label is not None:  # functions of the user may look at it
        counts = ConfusionCounts(
            sample.counts.counts, labels=plan.population.labels, pos_label=plan.question.pos_label
        )
        sample = replace(sample, counts=counts)
    seed = int(sequence((plan.seed, 2, k, point, chunk)).generate_state(1)[0])
    truth = np.full(len(sample.counts), value) if sample.truth is None else sample.truth
    text = f"{plan.metric.name} is undefined for the model of this sample"
    notes += _notes("", [text] * int(np.isnan(truth).sum()))
    for m, method in enumerate(plan.methods):
        low, high, reasons, texts = method.intervals(sample, plan.question, seed)
        notes += _notes(method.name, reasons, texts)
        mass = np.where(np.isnan(truth), 0.0, 1.0)[None]
        sums[m] = _sums(low, high, truth[None], error, mass)
    return sums, notes


def _sums(low, high, truth, error, mass):
    """Sums over the last axis of `mass`, (points, samples); the ends have one entry per sample."""
    defined = ~np.isnan(low) & ~np.isnan(high)
    width = np.where(defined, high - low, 0.0)

    def held(value):
        inside = (low - _TOLERANCE <= value) & (value <= high + _TOLERANCE)
        return np.where(inside, mass, 0.0).sum(axis=-1)

    known = np.where(np.isnan(truth), 0.0, truth) * np.ones_like(mass)
    at = held(truth)
    found = {
        "weight": mass.sum(axis=-1),
        "held": at,
        "held_truth_lower": at if error == 0 else held(truth - error),
        "held_truth_higher": at if error == 0 else held(truth + error),
        "defined": mass @ defined,
        "width": mass @ width,
        "width_squared": mass @ width**2,
        "truth": (mass * known).sum(axis=-1),
        "truth_squared": (mass * known**2).sum(axis=-1),
    }
    return np.stack([found[name] for name in COLUMNS], axis=-1)


def _notes(method, reasons, warnings=()):
    """What is to be told about a task: failures with their numbers, and warnings."""
    failures = [("failure", method, text, number) for text, number in Counter(reasons).items()]
    return failures + [("warning", method, text, 1) for text in warnings]


def _collected(notes):
    """Failures with their numbers, most frequent first, and warnings, each once per method."""
    failures, seen = Counter(), {}
    for kind, method, text, number in notes:
        if kind == "failure":
            failures[method, text] += number
        else:  # texts differ in their numbers: the first of a category tells enough
            seen.setdefault((method, text.partition(":")[0]), text)
    ordered = sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    texts = tuple(f"{method}: {text}" for (method, _), text in seen.items())
    return tuple((*key, number) for key, number in ordered), texts
