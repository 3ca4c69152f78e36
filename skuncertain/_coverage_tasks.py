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

from skuncertain._counts import ConfusionCounts
from skuncertain._labels import positive_of
from skuncertain._proportions import proportion_cells, proportion_counts
from skuncertain._study_runs import run_tasks
from skuncertain._truths import Sample, sequence

DEFAULT_REPLICATIONS = 1000
_OUTCOMES_PER_TASK = 4096
_MODELS_PER_TASK = 5
# Most outcomes to enumerate: of a proportion by its successes and failures; of a proportion by all
# cells (functions of the user); of a metric without a closed form, which takes about 1 ms each.
_MOST_REDUCED, _MOST_CELLS, _MOST_QUADRATURE = 1_000_000, 200_000, 6_000
_TOLERANCE = 1e-12  # a truth on an end of an interval is held, whatever the rounding

# Columns of the sums
(_WEIGHT, _HELD, _HELD_BELOW, _HELD_ABOVE, _DEFINED, _LENGTH, _SQUARE, _TRUTH, _TRUTH_SQUARE) = (
    range(9)
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
        kinds = len(self.cells)
        return comb(n + kinds - 1, kinds - 1)


def _representatives(metric, positive, size):
    """Cells that stand for the successes, the failures and the other rows of a proportion."""
    success, failure, _ = proportion_cells(metric)
    if isinstance(success, str):
        places = [(0, 0), (0, 1)] if success == "trace" else [(0, 1), (0, 0)]
        places.append((1, 1))  # never used: every row is a success or a failure
    else:
        other = 0 if positive else 1
        four = [(positive, positive), (positive, other), (other, positive), (other, other)]
        neither = [not (s or f) for s, f in zip(success, failure, strict=True)]
        first = [int(np.argmax(success)), int(np.argmax(failure)), int(np.argmax(neither))]
        places = [four[k] for k in first]
    cells = np.zeros((3, size, size))
    cells[np.arange(3), [i for i, _ in places], [j for _, j in places]] = 1
    return cells


@dataclass(frozen=True, eq=False)
class Plan:
    """What a study has to do."""

    truth: Any
    sizes: np.ndarray
    methods: list
    question: Any
    metric: Any
    positive: int | None
    seed: int
    n_replications: int
    outcomes: Outcomes | None

    @classmethod
    def make(cls, truth, sizes, methods, question, metric, n_replications, seed):
        """Check the methods against the truth, and choose between enumeration and simulation."""
        positive = positive_of(metric, truth.labels, question.pos_label)
        matrices = truth._matrices(metric, positive)
        if truth._layout == "folds":
            for size in sizes.ravel().tolist():
                splits = truth._preview(size)
                for method in methods:
                    method.check_splits(splits)
            trial = np.full((1, len(splits.n_test), len(truth.labels), len(truth.labels)), 5)
            sample = Sample(ConfusionCounts(trial, labels=truth.labels), splits=splits)
        else:
            point = int(np.argmax(~np.isnan(matrices[..., 0, 0].ravel())))
            sample = truth._draw(point, 60, 1, (0,), metric, positive)
        for method in methods:
            if not method.own:  # a wrong option fails here, not after hours
                *_, reasons, _ = method.intervals(sample, question, 0)
                errors = [text for text in reasons if not text.startswith("an end")]
                if errors:
                    raise ValueError(f"method {method.name!r} does not work: {errors[0]}")
        outcomes = None
        if n_replications is None and truth._layout == "counts":
            outcomes = _enumerable(truth, sizes, methods, question, metric, positive, matrices)
        number = DEFAULT_REPLICATIONS if n_replications is None else n_replications
        return cls(truth, sizes, methods, question, metric, positive, seed, number, outcomes)

    @property
    def exact(self):
        """Whether all outcomes are enumerated."""
        return self.outcomes is not None

    @property
    def shape(self):
        """Shape of the whole grid; the number of rows is its last axis."""
        return (*self.truth.shape, *self.sizes.shape)

    @property
    def _n_points(self):
        return int(np.prod(self.truth.shape, dtype=int))

    @property
    def _models(self):
        """Whether the truth has to be estimated from models first."""
        return self.truth._layout == "folds" and self.truth.estimand == "algorithm"

    @property
    def n_tasks(self):
        """Number of tasks of all stages."""
        return sum(len(stage) for stage in (self._model_tasks(), self._main_tasks(None, None)))

    def run(self, n_jobs, store, progress):
        """Run everything; returns the arrays of `CoverageStudy`."""
        values, errors, notes = self._truths(n_jobs, store, progress)
        tasks = self._main_tasks(values, errors)
        done = run_tasks(_run, tasks, n_jobs, store, progress)
        sums = np.zeros((len(self.methods), self._n_points, self.sizes.size, 9))
        for key, (array, texts) in done.items():
            _, size, point, _ = key.split("-")
            columns = slice(None) if self.exact else int(point)
            sums[:, columns, int(size)] += array if self.exact else array[:, 0]
            notes += [tuple(text) for text in texts]
        return self._figures(sums, values, errors, notes)

    # ----------------------------------------------------------------------------------------------
    # The true values

    def _model_tasks(self):
        tasks = {}
        if self._models:
            for k, n in enumerate(self.sizes.ravel().tolist()):
                for chunk, size in _chunks(self.truth.n_models, _MODELS_PER_TASK):
                    seed = (self.seed, 0, k, chunk)
                    arguments = (self.truth, n, size, seed, self.metric, self.positive)
                    tasks[f"truth-{k}-0-{chunk}"] = (_models_of, arguments)
        return tasks

    def _truths(self, n_jobs, store, progress):
        """True values and their errors, each (points, sizes), and notes."""
        shape = (self._n_points, self.sizes.size)
        if self.truth._layout == "folds" and not self._models:  # they come with the samples
            return np.full(shape, np.nan), np.zeros(shape), []
        if not self._models:
            matrices = self.truth._matrices(self.metric, self.positive)
            value = self.metric.evaluate(matrices, positive=self.positive)
            return np.repeat(value.reshape(-1, 1), self.sizes.size, axis=1), np.zeros(shape), []
        done = run_tasks(_run, self._model_tasks(), n_jobs, store, progress)
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
        """Tasks by key; without the true values only their number is right."""
        tasks = {}
        for k, n in enumerate(self.sizes.ravel().tolist()):
            if self.exact:
                kinds = None if values is None else compositions(n, len(self.outcomes.cells))
                for chunk, size in _chunks(self.outcomes.number(n), _OUTCOMES_PER_TASK):
                    start, part = chunk * _OUTCOMES_PER_TASK, None
                    if kinds is not None:
                        part = (kinds[start : start + size], values[:, k])
                    tasks[f"exact-{k}-0-{chunk}"] = (_enumerate, (self, part))
                continue
            for point in range(self._n_points):
                if values is not None:
                    value, error = values[point, k], errors[point, k]
                    if np.isnan(value) and (self._models or self.truth._layout != "folds"):
                        value = None  # a point that cannot be
                else:
                    value = error = np.nan
                for chunk, size in _chunks(self.n_replications, self.truth._chunk):
                    where = (k, point, chunk)
                    tasks[f"sample-{k}-{point}-{chunk}"] = (
                        _simulate,
                        (self, n, size, where, value, error),
                    )
        return tasks

    def _figures(self, sums, values, errors, notes):
        """Arrays of the result from the sums (methods, points, sizes, columns)."""
        weight, defined = sums[..., _WEIGHT], sums[..., _DEFINED]
        failures, texts = _collected(notes)
        if not np.any(weight > 0):
            reasons = [reason for method, reason, _ in failures if not method]
            raise ValueError(
                "no sample could be drawn at any point"
                + (f": {reasons[0]}" if reasons else ", because the true metric is undefined.")
            )
        for m, method in enumerate(self.methods):
            if not np.any(defined[m] > 0):
                reasons = [reason for name, reason, _ in failures if name == method.name]
                raise ValueError(f"method {method.name!r} failed on every sample: {reasons[0]}")
        with np.errstate(divide="ignore", invalid="ignore"):
            coverage = sums[..., _HELD] / weight
            length = sums[..., _LENGTH] / defined
            figures = {
                "coverage": coverage,
                "coverage_error": np.where(np.isnan(coverage), np.nan, 0.0),
                "length": length,
                "length_error": np.where(np.isnan(length), np.nan, 0.0),
                "failed": 1 - defined / weight,
            }
            number = np.rint(weight[0]).astype(int)
            if self.exact:
                outcomes = [self.outcomes.number(n) for n in self.sizes.ravel().tolist()]
                number = np.where(np.isnan(values), 0, outcomes)
                figures["failed"] = np.maximum(figures["failed"], 0.0)
                figures["failed"][figures["failed"] < 1e-12] = 0.0
                figures["coverage"] = np.minimum(coverage, 1.0)
            else:
                # One success and one failure more, so that 100 % does not look certain.
                share = (sums[..., _HELD] + 1) / (weight + 2)
                shift = (sums[..., _HELD_ABOVE] - sums[..., _HELD_BELOW]) / (2 * weight)
                figures["coverage_error"] = np.hypot(np.sqrt(share * (1 - share) / weight), shift)
                variance = sums[..., _SQUARE] / defined - length**2
                figures["length_error"] = np.sqrt(np.maximum(variance, 0) / (defined - 1))
            if self.truth._layout == "folds" and not self._models:
                values = sums[0, ..., _TRUTH] / weight[0]
                spread = np.maximum(sums[0, ..., _TRUTH_SQUARE] / weight[0] - values**2, 0)
                errors = np.sqrt(spread / weight[0])
        figures = {k: v.reshape(len(self.methods), *self.shape) for k, v in figures.items()}
        return figures | {
            "truth": values.reshape(self.shape),
            "truth_error": errors.reshape(self.shape),
            "n_replications": number.reshape(self.shape),
            "failures": failures,
            "warnings": texts,
        }


def _enumerable(truth, sizes, methods, question, metric, positive, matrices):
    """Outcomes, if there are not too many of them and no method draws; otherwise None."""
    n_classes = matrices.shape[-1]
    if any(method.draws(question, n_classes) for method in methods):
        return None
    all_cells = any(method.needs_all_cells(metric, n_classes) for method in methods)
    outcomes = Outcomes.of(matrices, metric, positive, all_cells)
    most = _MOST_REDUCED
    if all_cells:
        most = _MOST_QUADRATURE if proportion_cells(metric) is None else _MOST_CELLS
    largest = outcomes.number(int(sizes.max()))
    return outcomes if largest <= most else None


def _chunks(total, size):
    """Yield (number, size) of pieces of fixed size."""
    for number, start in enumerate(range(0, total, size)):
        yield number, min(size, total - start)


def _run(function, arguments):
    return function(*arguments)


def _models_of(truth, n, size, seed, metric, positive):
    values, lost = truth._performances(n, size, seed, metric, positive)
    return np.array(values, dtype=float), _failures("", lost)


def _enumerate(plan, part):
    """Sums over a part of the outcomes, for all points at once."""
    kinds, truth = part
    outcomes, n = plan.outcomes, int(kinds[0].sum())
    share = outcomes.share
    matrices = np.einsum("mk,kij->mij", kinds, outcomes.cells)
    counts = ConfusionCounts(matrices, labels=plan.truth.labels, pos_label=plan.question.pos_label)
    sample = Sample(counts)
    ways = gammaln(n + 1) - gammaln(kinds + 1).sum(axis=1)
    sums = np.zeros((len(plan.methods), len(share), 9))
    notes: list = []
    ends = []
    for method in plan.methods:
        low, high, reasons, texts = method.intervals(sample, plan.question, 0)
        ends.append((low, high))
        notes += _failures(method.name, reasons) + _warned(method.name, texts)
    step = max(1, 2**20 // len(kinds))
    for start in range(0, len(share), step):
        rows = slice(start, start + step)
        p = share[rows, None, :]
        mass = np.exp(ways + xlogy(kinds[None], p).sum(axis=-1))  # (points, outcomes)
        value = truth[rows, None]
        mass = np.where(np.isnan(value), 0.0, mass)
        for m, (low, high) in enumerate(ends):
            sums[m, rows] = _sums(low, high, value, 0.0, mass)
    return sums, notes


def _simulate(plan, n, size, where, value, error):
    """Sums over a chunk of samples of one point."""
    sums = np.zeros((len(plan.methods), 1, 9))
    if value is None:
        return sums, []
    k, point, chunk = where
    sample = plan.truth._draw(
        point, n, size, (plan.seed, 1, k, point, chunk), plan.metric, plan.positive
    )
    notes = _failures("", sample.lost)
    if len(sample.counts) == 0:
        return sums, notes
    if plan.question.pos_label is not None:  # functions of the user may look at it
        counts = ConfusionCounts(
            sample.counts.counts, labels=plan.truth.labels, pos_label=plan.question.pos_label
        )
        sample = replace(sample, counts=counts)
    seed = int(sequence((plan.seed, 2, k, point, chunk)).generate_state(1)[0])
    truth = np.full(len(sample.counts), value) if sample.truth is None else sample.truth
    undefined = int(np.isnan(truth).sum())
    if undefined:
        text = f"{plan.metric.name} is undefined for the model of this sample"
        notes += _failures("", [text] * undefined)
    for m, method in enumerate(plan.methods):
        low, high, reasons, texts = method.intervals(sample, plan.question, seed)
        notes += _failures(method.name, reasons) + _warned(method.name, texts)
        mass = np.where(np.isnan(truth), 0.0, 1.0)[None]
        sums[m] = _sums(low, high, truth[None], error, mass)
    return sums, notes


def _sums(low, high, truth, error, mass):
    """Sums over the last axis of `mass`, (points, samples); the ends have one entry per sample."""
    defined = ~np.isnan(low) & ~np.isnan(high)
    length = np.where(defined, high - low, 0.0)

    def held(value):
        inside = (low - _TOLERANCE <= value) & (value <= high + _TOLERANCE)
        return np.where(inside, mass, 0.0).sum(axis=-1)

    known = np.where(np.isnan(truth), 0.0, truth) * np.ones_like(mass)
    at = held(truth)
    return np.stack(
        [
            mass.sum(axis=-1),
            at,
            at if error == 0 else held(truth - error),
            at if error == 0 else held(truth + error),
            mass @ defined,
            mass @ length,
            mass @ length**2,
            (mass * known).sum(axis=-1),
            (mass * known**2).sum(axis=-1),
        ],
        axis=-1,
    )


def _failures(method, reasons):
    return [("failure", method, text, number) for text, number in Counter(reasons).items()]


def _warned(method, texts):
    return [("warning", method, text, 1) for text in texts]


def _collected(notes):
    """Failures with their numbers, most frequent first, and warnings, each once per method."""
    failures: Counter = Counter()
    seen: dict = {}
    for kind, method, text, number in notes:
        if kind == "failure":
            failures[method, text] += number
        else:  # texts differ in their numbers: the first of a category tells enough
            seen.setdefault((method, text.partition(":")[0]), text)
    ordered = sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    found = tuple((method, text, number) for (method, text), number in ordered)
    return found, tuple(f"{method}: {text}" for (method, _), text in seen.items())
