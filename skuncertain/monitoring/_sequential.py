"""A posterior that is fed batch by batch, and what is known after a batch and after all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.row_weights import running_sums
from skuncertain._reporting.text import level_text
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    check_draws,
    check_kind,
    check_level,
    check_number,
    check_rope,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import silence
from skuncertain._version import __version__
from skuncertain.comparison._result import ComparisonResult
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels, check_pos_label
from skuncertain.metrics._posterior import PosteriorOptions
from skuncertain.metrics._priors import describe_prior
from skuncertain.metrics._registry import get_metric
from skuncertain.monitoring._question import Question
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, plain
from skuncertain.posteriors._interval import Interval

_CELLS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class SequentialStep:
    """What is known after a batch.

    Parameters
    ----------
    step : int
        Number of the batch, from 1.
    batch : ConfusionCounts
        Counts of the batch.
    past : ConfusionCounts
        Counts of all batches before it, discounted.
    counts : ConfusionCounts
        Both together: what the posterior rests on.
    question : object
        Metric, prior and so on.

    See Also
    --------
    SequentialPosterior : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.monitoring import SequentialPosterior
    >>> watch = SequentialPosterior("recall")
    >>> _ = watch.update(ConfusionCounts.from_binary(tp=90, fn=10, fp=20, tn=180))
    >>> step = watch.update(ConfusionCounts.from_binary(tp=35, fn=15, fp=20, tn=180))
    >>> step
    SequentialStep(batch 2: recall 0.700 on 250 rows, worse than before with probability 1.00; all
    in all 0.833, 95 % interval [0.768, 0.886])
    >>> step.comparison.p_better < 0.01
    True
    """

    step: int
    batch: ConfusionCounts
    past: ConfusionCounts
    counts: ConfusionCounts
    question: Any

    @property
    def n(self) -> float:
        """Rows of the batch."""
        return self.batch.n

    @property
    def effective_n(self) -> float:
        """Rows that the posterior rests on: all of them, the discounted ones in part."""
        return self.counts.n

    @property
    def value(self) -> float:
        """Metric of the batch alone, NaN if it is 0/0."""
        return self.question.value(self.batch)

    @cached_property
    def posterior(self) -> Posterior:
        """Posterior after the batch."""
        return self.question.posterior(self.counts)

    @cached_property
    def comparison(self) -> ComparisonResult | None:
        """Comparison of the batch (b) with the past (a).

        None if there is nothing to compare: the first batch, a batch or past in which the metric is
        0/0, or a metric of which neither more nor less is better.
        """
        return self.question.compare(self.past, self.batch)

    @property
    def p_worse(self) -> float:
        """P(the batch is worse than the past by more than the ROPE), NaN without a comparison."""
        return np.nan if self.comparison is None else self.comparison.p_worse

    def interval(self, level: float | None = None, kind: str | None = None) -> Interval:
        """Interval after the batch.

        Parameters
        ----------
        level : float, default=None
            Probability of the interval, by default that of the SequentialPosterior.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density, by default that of the SequentialPosterior.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        return self.question.interval_of(self.posterior, level, kind)

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            A row of the history.
        """
        low, high = self.interval()
        return {
            "step": self.step,
            "n": self.n,
            "effective_n": self.effective_n,
            "value": self.value,
            "overall": self.question.value(self.counts),
            "low": low,
            "high": high,
            "p_worse": self.p_worse,
        }

    def __repr__(self):
        row, asked = self.to_dict(), self.question
        worse = ""
        if self.comparison is not None:
            by = f" by more than {asked.rope:g}" if asked.rope else ""
            worse = f", worse than before{by} with probability {row['p_worse']:.2f}"
        return (
            f"SequentialStep(batch {self.step}: {asked.title(self.counts)} {row['value']:.3f} on "
            f"{row['n']:g} rows{worse}; all in all {row['overall']:.3f}, {level_text(asked.level)} "
            f"interval [{row['low']:.3f}, {row['high']:.3f}])"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SequentialHistory:
    """What was known after every batch.

    Parameters
    ----------
    metric : str
        Name of the metric.
    level, kind, prior, discount, rope : object
        What was asked.
    seed : int
        Seed of the draws, where the metric has no exact posterior.
    columns : dict of ndarray
        ``step``, ``n`` (rows of the batch), ``effective_n`` (rows that the posterior rests on),
        ``value`` (metric of the batch alone), ``overall`` (metric of all counts, discounted),
        ``low`` and ``high`` (interval), ``p_worse`` (P(batch worse than the past)).
    pos_label : label, default=None
        Class of a metric that depends on it.

    See Also
    --------
    SequentialPosterior.history : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.monitoring import SequentialPosterior
    >>> watch = SequentialPosterior("recall")
    >>> for tp in (90, 92, 70):
    ...     _ = watch.update(ConfusionCounts.from_binary(tp=tp, fn=100 - tp, fp=20, tn=180))
    >>> watch.history
    SequentialHistory(recall, 3 batches; use to_frame() or to_dict())
    >>> watch.history.columns["p_worse"].round(2)
    array([ nan, 0.31, 1.  ])
    """

    metric: str
    level: float
    kind: str
    prior: str
    discount: float
    rope: float
    seed: int
    columns: dict
    pos_label: Any = None

    def __len__(self):
        return len(self.columns["step"])

    def __repr__(self):
        what = About(metric=self.metric, pos_label=self.pos_label).question()
        return f"SequentialHistory({what}, {len(self)} batches; use to_frame() or to_dict())"

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One list per column, and what was asked.
        """
        return {
            **{name: value for name, value in vars(self).items() if name != "columns"},
            **{name: values.tolist() for name, values in self.columns.items()},
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Table with one row per batch.

        Returns
        -------
        pandas.DataFrame
            The columns, indexed by ``step``.
        """
        return data_frame(self, self.columns).set_index("step")


class SequentialPosterior:
    """Posterior of a metric that learns batch by batch, and compares each with the past.

    Parameters
    ----------
    metric : str, Metric or callable
        See :func:`get_metric`.
    labels : sequence, default=None
        All classes. By default those of the first batch; a batch with another label is then
        refused.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`.
    prior : str, float or array-like of shape (C, C), default="auto"
        See :meth:`ConfusionCounts.posterior`. It is not discounted; the calibrated ends of
        proportions under "auto" go by what is left of the counts.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    discount : float, default=1.0
        Forgetting: all counts are multiplied by it before a new batch is added, so that the
        posterior rests on about 1 / (1 - discount) batches. 1 forgets nothing.
    rope : float, default=0.0
        Region of practical equivalence, in units of the metric: a batch is worse if it is worse by
        more than this.
    n_draws : int, default=None
        Number of draws where the posterior has no exact form.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    See Also
    --------
    compare : The comparison of two sets of counts.
    ConfusionCounts.posterior : The posterior of one set.

    Notes
    -----
    Without discount the result is the posterior of all rows together, whatever the batches were.

    A comparison asks whether *this batch* differs from the past. If nothing ever changes, about one
    batch in twenty still has P(worse) above .95: look at several in a row, or ask for .999.

    Only counts are stored: the objects are small, and can be pickled and resumed.

    Examples
    --------
    >>> from skuncertain.monitoring import SequentialPosterior
    >>> watch = SequentialPosterior("accuracy", labels=["cat", "dog"])
    >>> step = watch.update(["cat", "dog", "dog"], ["cat", "dog", "cat"])
    >>> step = watch.update(["cat"] * 20 + ["dog"] * 20, ["cat"] * 18 + ["dog"] * 22)
    >>> watch
    SequentialPosterior(accuracy after 2 batches, 43 rows: 0.930, 95 % interval [0.825, 0.980])
    >>> round(step.p_worse, 2)
    0.05
    """

    def __init__(
        self,
        metric: MetricLike,
        *,
        labels: Any = None,
        pos_label: LabelLike = None,
        prior: PriorLike = "auto",
        level: float = 0.95,
        kind: str = "eti",
        discount: float = 1.0,
        rope: float = 0.0,
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
    ) -> None:
        metric = get_metric(metric)
        low, high = metric.range
        rope = check_rope(rope, high - low, metric.name)
        refuse_if(
            rope and metric.greater_is_better is None,
            "rope",
            f"rope cannot be used for {metric.name!r}, of which neither more nor less is "
            "better: batches are not compared.",
        )
        if n_draws is not None:
            n_draws = check_draws(n_draws, 1)
        self.discount = check_number("discount", discount, low=0, high=1)
        level, kind, seed = check_level(level), check_kind(kind), resolve_seed(random_state)
        self._question = Question(metric, pos_label, prior, level, kind, rope, n_draws, seed)
        self._counts: ConfusionCounts | None = None
        self._remedy = (
            f"The classes were fixed by {'the first batch' if labels is None else 'labels='}: make "
            "a new SequentialPosterior with labels=[...] that names all of them, and feed the "
            "batches again."
        )
        # The cells of a batch that are not empty: a few numbers, however many classes there are.
        self._batches: list[tuple[np.ndarray, Any]] = []
        if labels is not None:
            labels = as_labels(labels)
            empty = np.zeros((len(labels), len(labels)), dtype=np.int64)
            self._begin(ConfusionCounts._make(empty, labels, check_pos_label(labels, pos_label)))

    def _begin(self, counts):
        """Start from empty counts with the labels of `counts`, if the question can be asked."""
        asked = self._question
        options = PosteriorOptions(asked.prior, n_draws=asked.n_draws, random_state=asked.seed)
        options.checked(counts.n_classes)
        counts.positive_index(asked.metric, asked.pos_label)
        empty = np.zeros_like(counts.counts, dtype=np.int64)
        if asked.metric.cost is not None:
            asked.metric.evaluate(empty)  # refuses costs of another number of classes
        self._counts = ConfusionCounts._make(empty, counts.labels, counts.pos_label)

    def update(self, y_true: Any, y_pred: Any = None) -> SequentialStep:
        """Feed a batch.

        Parameters
        ----------
        y_true : array-like of shape (n,) or ConfusionCounts
            True labels of the batch, or its counts; with counts there is no `y_pred`. A batch may
            be empty, and may lack classes.
        y_pred : array-like of shape (n,), default=None
            Predicted labels.

        Returns
        -------
        SequentialStep
            What is known after it. Posterior and comparison are computed when they are asked for.
        """
        batch = self._count(y_true, y_pred)
        if self._counts is None:
            self._begin(batch)
        past = self.counts
        if self.discount != 1:  # whole numbers stay whole
            past = past._apply(lambda x: x * self.discount)
        self._counts = past + batch
        cells = np.flatnonzero(batch.counts)
        kept = batch._row_weights.apply(lambda x: x.ravel()[cells]) if batch.weighted else None
        self._batches.append((cells, batch.counts.ravel()[cells] if kept is None else kept))
        return SequentialStep(len(self._batches), batch, past, self._counts, self._question)

    def _alike(self, matrices):
        """Counts with the labels of the others."""
        return ConfusionCounts._make(matrices, self.counts.labels, self.counts.pos_label)

    def _count(self, y_true, y_pred):
        """Counts of a batch, with the labels of the others."""
        known, pos_label = self._counts, self._question.pos_label
        if isinstance(y_true, ConfusionCounts):
            refuse_if(
                y_pred is not None,
                "y_pred",
                "y_pred cannot be combined with counts: pass labels instead.",
            )
            refuse_if(
                y_true.shape,
                "y_true",
                f"a batch must be one matrix, got a stack of shape {y_true.shape}: sum() it, "
                "or feed its matrices one by one.",
            )
            if pos_label is not None:
                y_true = y_true._apply(np.asarray, y_true.labels, pos_label)
            if known is not None:
                refuse_if(
                    (y_true.labels, y_true.pos_label) != (known.labels, known.pos_label),
                    "y_true",
                    f"the batch has the labels {list(y_true.labels)} (pos_label={{value}}), but "
                    f"the posterior {list(known.labels)} (pos_label={known.pos_label!r}). "
                    + self._remedy,
                    value=y_true.pos_label,
                )
            return y_true
        refuse_if(
            y_pred is None,
            "y_pred",
            "y_pred is missing: pass y_true and y_pred, or ConfusionCounts alone.",
        )
        batch = {"y_true": y_true, "y_pred": y_pred}
        if all(as_array(name, y).shape == (0,) for name, y in batch.items()):
            refuse_if(
                known is None,
                "y_true",
                "the first batch is empty, so the classes are not known: give labels=[...] "
                "when making the SequentialPosterior.",
            )
            return self._alike(np.zeros_like(known.counts))
        if known is None:
            return ConfusionCounts.from_predictions(y_true, y_pred, pos_label=pos_label)
        try:
            return ConfusionCounts.from_predictions(
                y_true, y_pred, labels=known.labels, pos_label=known.pos_label
            )
        except InvalidParameterError as error:
            if error.parameter != "labels":
                raise
            raise InvalidParameterError(f"{error} {self._remedy}", parameter="y_true") from error

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self._question.metric.name

    @property
    def n_batches(self) -> int:
        """Number of batches so far."""
        return len(self._batches)

    @property
    def counts(self) -> ConfusionCounts:
        """All counts, discounted."""
        if self._counts is None:
            raise InvalidParameterError(
                "there are no counts yet: call update(...), or give labels=[...].",
                parameter="labels",
            )
        return self._counts

    @property
    def posterior(self) -> Posterior:
        """Posterior after all batches; without a batch it is the prior."""
        return self._question.posterior(self.counts)

    def interval(self, level: float | None = None, kind: str | None = None) -> Interval:
        """Interval after all batches.

        Parameters
        ----------
        level : float, default=None
            Probability of the interval, by default that of the constructor.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density, by default that of the constructor.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        return self._question.interval_of(self.posterior, level, kind)

    def __repr__(self):
        if not self._batches:
            return f"SequentialPosterior({self.metric}, no batch yet)"
        value, level = self._question.value(self.counts), self._question.level
        low, high = self.interval()
        number = f"{self.n_batches} batch" + ("es" if self.n_batches > 1 else "")
        rows = "rows" if self.discount == 1 else "effective rows"
        return (
            f"SequentialPosterior({self._question.title(self.counts)} after {number}, "
            f"{self.counts.n:.10g} {rows}: "
            f"{value:.3f}, {level_text(level)} interval [{low:.3f}, {high:.3f}])"
        )

    @property
    def history(self) -> SequentialHistory:
        """What was known after every batch.

        It is computed from the counts, many batches at once: where a posterior has no exact form,
        or one that is slow (MCC, kappa), the figures come from draws.
        """
        asked = self._question
        parts = [self._rows(*chunk) for chunk in self._chunks()]
        names = ("step", "n", "effective_n", "value", "overall", "low", "high", "p_worse")
        columns = {
            name: np.concatenate([part[name] for part in parts]) if parts else np.empty(0)
            for name in names
        }
        return SequentialHistory(
            metric=self.metric,
            level=asked.level,
            kind=asked.kind,
            prior=describe_prior(asked.prior),
            discount=self.discount,
            rope=asked.rope,
            seed=asked.seed,
            columns=columns,
            pos_label=None if self._counts is None else asked.class_in(self._counts),
        )

    def _chunks(self):
        """Number of the first step, and the counts of past and batch, for many steps at once."""
        if not self._batches:
            return
        shape = self.counts.counts.shape
        size = max(1, _CELLS_AT_ONCE // shape[0] ** 2)
        total = None
        for start in range(0, len(self._batches), size):
            some = self._batches[start : start + size]
            past, batch, total = running_sums(some, total, self.discount, shape)
            yield start + 1, self._alike(past), self._alike(batch)

    def _rows(self, first, past, batch):
        """Columns of the history for a chunk."""
        asked, both = self._question, past + batch
        # Told where it concerns the present; a start without positives is not worth repeating.
        with silence(UndefinedMetricWarning):
            low, high = asked.interval_of(asked.posterior(both))
        value = asked.value(batch)
        clear = ~np.isnan(value) & ~np.isnan(asked.value(past))
        worse = np.full(len(batch), np.nan)
        if clear.any():
            result = asked.compare(past[clear], batch[clear])
            if result is not None:
                worse[clear] = plain(result.p_worse)
        return {
            "step": np.arange(first, first + len(batch)),
            "n": _whole(batch.counts.sum(axis=(-2, -1))),
            "effective_n": _whole(both.counts.sum(axis=(-2, -1))),
            "value": value,
            "overall": asked.value(both),
            "low": np.asarray(low),
            "high": np.asarray(high),
            "p_worse": worse,
        }


def _whole(rows):
    """Numbers of rows as integers, unless discount or weights made fractions of them."""
    return rows.astype(np.int64) if np.all(rows == np.rint(rows)) else rows
