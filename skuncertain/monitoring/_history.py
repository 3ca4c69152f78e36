"""What is known after a batch, and after every batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.validation import data_frame
from skuncertain._version import __version__
from skuncertain.comparison._result import ComparisonResult
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.monitoring._report import alarm_words, interval_words, watch_report
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._interval import Interval


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

    @property
    def alarm(self) -> bool | None:
        """Whether the whole interval is worse than the threshold, None without a threshold."""
        asked = self.question
        return None if asked.threshold is None else bool(asked.alarm(*self.interval()))

    def interval(self, level: float | None = None, kind: str | None = None) -> Interval:
        """Interval after the batch.

        Parameters
        ----------
        level : float, default=None
            Probability of the interval, by default that of the SequentialPosterior.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density, by default that of the SequentialPosterior; not with
            ``anytime=True``.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        posterior = None if self.question.anytime else self.posterior
        return self.question.interval(self.counts, posterior, level, kind)

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            A row of the history.
        """
        low, high = self.interval()
        alarm = {} if self.question.threshold is None else {"worse_than_threshold": self.alarm}
        return {
            "step": self.step,
            "n": self.n,
            "effective_n": self.effective_n,
            "value": self.value,
            "overall": self.question.value(self.counts),
            "low": low,
            "high": high,
            "p_worse": self.p_worse,
            **alarm,
        }

    def __repr__(self):
        row, asked = self.to_dict(), self.question
        worse = ""
        if self.comparison is not None:
            by = f" by more than {asked.rope:g}" if asked.rope else ""
            worse = f", worse than before{by} with probability {row['p_worse']:.2f}"
        return (
            f"SequentialStep(batch {self.step}: {asked.title(self.counts)} {row['value']:.3f} on "
            f"{row['n']:g} rows{worse}; all in all {row['overall']:.3f}, {interval_words(asked)} "
            f"[{row['low']:.3f}, {row['high']:.3f}]{alarm_words(asked, self.alarm)})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SequentialHistory(HasReport):
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
        ``low`` and ``high`` (interval), ``p_worse`` (P(batch worse than the past)). With
        ``anytime=True`` also ``changed`` (whether a constant metric was refuted up to then), with a
        threshold ``worse_than_threshold`` (whether the whole interval is).
    pos_label : label, default=None
        Class of a metric that depends on it.
    anytime : bool
        Whether the intervals hold at all looks together.
    threshold : float or None
        What the metric must not be worse than.
    alarm, change : int or None
        See :class:`SequentialPosterior`.

    See Also
    --------
    SequentialPosterior.history : Makes it.
    SequentialDisplay : Plots it.

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
    anytime: bool = False
    threshold: float | None = None
    alarm: int | None = None
    change: int | None = None

    def __len__(self):
        return len(self.columns["step"])

    def __repr__(self):
        return f"SequentialHistory({self.title}, {len(self)} batches; use to_frame() or to_dict())"

    @property
    def title(self) -> str:
        """Metric with its class, in words."""
        return About(metric=self.metric, pos_label=self.pos_label).question()

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
        return watch_report(self, digits)
