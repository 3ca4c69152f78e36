"""A posterior that is fed batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.row_weights import running_sums
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    check_bool,
    check_draws,
    check_kind,
    check_level,
    check_number,
    check_rope,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import silence
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels, check_pos_label
from skuncertain.metrics._posterior import PosteriorOptions
from skuncertain.metrics._priors import describe_prior
from skuncertain.metrics._registry import count_metric
from skuncertain.monitoring._anytime import Verdict, refuse_without_streams
from skuncertain.monitoring._history import SequentialHistory, SequentialStep
from skuncertain.monitoring._question import Question
from skuncertain.monitoring._report import alarm_words, interval_words
from skuncertain.posteriors._base import Posterior, plain
from skuncertain.posteriors._interval import Interval

_CELLS_AT_ONCE = 2**20


class SequentialPosterior(HasReport):
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
    anytime : bool, default=False
        Whether the intervals hold at all looks together (a confidence sequence) instead of at one.
    threshold : float, default=None
        With ``anytime=True``: an alarm is raised once the whole interval is worse than this.

    See Also
    --------
    compare : The comparison of two sets of counts.
    ConfusionCounts.posterior : The posterior of one set.

    Notes
    -----
    Without discount the result is that of all rows together, whatever the batches were.

    A 95 % interval holds at one look. Looked at after each of 100 batches, it misses the truth at
    some time in 32 to 40 % of all watches; with ``anytime=True`` in 5 % at most, however long the
    watch is, and so often at most is an alarm a false one. `prior`, `kind` and `p_worse` are about
    the posterior, which knows nothing of looks.

    If nothing ever changes, one batch in twenty has P(worse) above .95.

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
        anytime: bool = False,
        threshold: float | None = None,
    ) -> None:
        metric = count_metric(metric)
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
        anytime = check_bool("anytime", anytime)
        if anytime:
            self._check_anytime(metric, kind)
        threshold = _check_threshold(threshold, metric, anytime)
        self._question = Question(
            metric, pos_label, prior, level, kind, rope, n_draws, seed, anytime, threshold
        )
        self._verdict = Verdict()
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

    def _check_anytime(self, metric, kind):
        refuse_without_streams(metric)
        refuse_if(
            self.discount != 1,
            "discount",
            f"discount={self.discount:g} does not go with anytime=True: discounted counts are no "
            "counts of rows.",
            remedy="Leave it out; a change shows in the property change.",
        )
        refuse_if(
            kind != "eti",
            "kind",
            f"kind={kind!r} does not go with anytime=True: a confidence sequence is no part of a "
            "posterior.",
            remedy="Leave it out.",
        )

    def _begin(self, counts):
        """Start from empty counts with the labels of `counts`, if the question can be asked."""
        asked = self._question
        options = PosteriorOptions(asked.prior, n_draws=asked.n_draws, random_state=asked.seed)
        options.checked(counts.n_classes)
        counts.positive_index(asked.metric, asked.pos_label)
        if asked.anytime:
            asked.streams(counts)  # refuses metrics that have none with so many classes
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
        refuse_if(
            self._question.anytime
            and (batch.weighted or np.any(batch.counts != np.rint(batch.counts))),
            "y_true",
            "the counts of a batch must be whole numbers of rows with anytime=True: weighted rows "
            "have no confidence sequence.",
            remedy="Count without weights, or use anytime=False.",
        )
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
            Equal-tailed or highest-density, by default that of the constructor; not with
            ``anytime=True``.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        return self._question.interval(self.counts, level=level, kind=kind)

    @property
    def alarm(self) -> int | None:
        """Number of the first batch after which the whole interval was worse than the threshold.

        None without an alarm, and without a threshold. If the metric is never worse than the
        threshold, there ever is an alarm with probability 1 - level at most.
        """
        return self._follow().alarm

    @property
    def change(self) -> int | None:
        """Number of the first batch after which no constant metric was within all intervals so far.

        None if one still is, and without ``anytime=True``. If nothing ever changes, there ever is
        such a batch with probability 1 - level at most.
        """
        return self._follow().change

    def _follow(self):
        """Verdict on all batches; only those since the last time are looked at."""
        verdict = self._verdict
        if self._question.anytime and verdict.seen < self.n_batches:
            for _, past, batch in self._chunks(verdict.seen, verdict.counts):
                verdict, *_ = verdict.follow(self._question, past + batch)
            self._verdict = verdict
        return verdict

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """Watch in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            Its title is the answer; its table has the newest batch first.
        """
        return self.history.report(digits=digits)

    def __repr__(self):
        if not self._batches:
            return f"SequentialPosterior({self.metric}, no batch yet)"
        value, asked = self._question.value(self.counts), self._question
        low, high = self.interval()
        number = f"{self.n_batches} batch" + ("es" if self.n_batches > 1 else "")
        rows = "rows" if self.discount == 1 else "effective rows"
        return (
            f"SequentialPosterior({asked.title(self.counts)} after {number}, "
            f"{self.counts.n:.10g} {rows}: "
            f"{value:.3f}, {interval_words(asked)} [{low:.3f}, {high:.3f}]"
            f"{alarm_words(asked, self.alarm)})"
        )

    @property
    def history(self) -> SequentialHistory:
        """What was known after every batch.

        It is computed from the counts, many batches at once: where a posterior has no exact form,
        or one that is slow (MCC, kappa), the figures come from draws.
        """
        asked = self._question
        verdict, parts = Verdict(), []
        for first, past, batch in self._chunks():
            rows = self._rows(first, past, batch)
            if asked.anytime:
                followed = verdict.follow(asked, past + batch)
                verdict, rows["worse_than_threshold"], rows["changed"] = followed
            parts.append(rows)
        names = ["step", "n", "effective_n", "value", "overall", "low", "high", "p_worse"]
        names += ["changed"] * asked.anytime
        names += ["worse_than_threshold"] * (asked.threshold is not None)
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
            anytime=asked.anytime,
            threshold=asked.threshold,
            alarm=verdict.alarm,
            change=verdict.change,
        )

    def _chunks(self, seen=0, total=None):
        """Number of the first step, and the counts of past and batch, for many steps at once.

        The first `seen` batches are left out; `total` is the matrix of them.
        """
        if not self._batches:
            return
        shape = self.counts.counts.shape
        size = max(1, _CELLS_AT_ONCE // shape[0] ** 2)
        total = None if total is None else total.ravel()
        for start in range(seen, len(self._batches), size):
            some = self._batches[start : start + size]
            past, batch, total = running_sums(some, total, self.discount, shape)
            yield start + 1, self._alike(past), self._alike(batch)

    def _rows(self, first, past, batch):
        """Columns of the history for a chunk."""
        asked, both = self._question, past + batch
        # Told where it concerns the present; a start without positives is not worth repeating.
        with silence(UndefinedMetricWarning):
            low, high = asked.interval(both)
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


def _check_threshold(threshold, metric, anytime):
    """Return the threshold, or None."""
    if threshold is None:
        return None
    refuse_if(
        not anytime,
        "threshold",
        "threshold needs anytime=True: an ordinary interval that is looked at again and again "
        "raises false alarms sooner or later. For one look there is posterior.prob(high=...).",
    )
    refuse_if(
        metric.greater_is_better is None,
        "threshold",
        f"threshold cannot be used for {metric.name!r}, of which neither more nor less is better.",
    )
    low, high = metric.range
    return check_number(
        "threshold", threshold, low=low, high=high, percent=0.1 if high == 1 else None
    )
