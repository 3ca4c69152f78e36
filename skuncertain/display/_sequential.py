"""`SequentialDisplay`: a metric over the batches of a watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import level_text, spoken, spoken_interval
from skuncertain._utils.validation import refuse_if
from skuncertain.display._base import COLOURS, Display, merged

_MOST_DOTS = 200  # batches of which the own values are drawn as dots that can be told apart


@dataclass(kw_only=True, eq=False, repr=False)
class SequentialDisplay(Display):
    """A metric batch by batch: estimate and interval of all rows so far, threshold and alarm.

    Parameters
    ----------
    step : array-like of shape (batches,)
        Numbers of the batches.
    overall, low, high : array-like of shape (batches,)
        Metric of all rows up to each batch, and its interval.
    level : float
        Probability of the intervals.
    metric : str, default="metric"
        Name of the metric, with its class.
    value : array-like of shape (batches,) or None, default=None
        Metric of each batch alone.
    anytime : bool, default=False
        Whether the intervals hold at all looks together.
    threshold : float or None, default=None
        What the metric must not be worse than.
    alarm, change : int or None, default=None
        Batch of the alarm, and batch by which the metric had changed.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    line_, band_, dots_, threshold_line_, alarm_line_, change_line_, legend_ : matplotlib artists
        What is drawn; None for what there is none of.

    See Also
    --------
    SequentialPosterior : Watches a model.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.display import SequentialDisplay
    >>> from skuncertain.monitoring import SequentialPosterior
    >>> watch = SequentialPosterior("recall", anytime=True, threshold=0.85)
    >>> for tp in (91, 88, 70, 60, 60):
    ...     _ = watch.update(ConfusionCounts.from_binary(tp=tp, fn=100 - tp, fp=20, tn=180))
    >>> display = SequentialDisplay.from_history(watch.history)
    >>> display.to_frame()[["batch", "overall", "low", "high"]].tail(2).round(3)
       batch  overall    low   high
    3      4    0.772  0.693  0.840
    4      5    0.738  0.664  0.804
    """

    step: ArrayLike
    overall: ArrayLike
    low: ArrayLike
    high: ArrayLike
    level: float
    metric: str = "metric"
    value: ArrayLike | None = None
    anytime: bool = False
    threshold: float | None = None
    alarm: int | None = None
    change: int | None = None

    @classmethod
    def from_history(
        cls, history: Any, *, ax: Any = None, name: str | None = None, **plot_kwargs: Any
    ) -> SequentialDisplay:
        """Plot a watch.

        Parameters
        ----------
        history : SequentialHistory
            Such as ``watch.history``.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        SequentialDisplay
            The display, plotted.
        """
        hint = " Pass its history." if hasattr(history, "history") else ""
        refuse_if(
            not hasattr(history, "columns") or not hasattr(history, "anytime"),
            "history",
            f"history must be a SequentialHistory, got {type(history).__name__}.{hint}",
        )
        columns = ("step", "overall", "low", "high", "value")
        known = ("level", "anytime", "threshold", "alarm", "change")
        data = {key: history.columns[key] for key in columns}
        data |= {key: getattr(history, key) for key in known} | {"metric": history.title}
        return cls._shown(data, ax, name, plot_kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        line_kwargs: dict | None = None,
        band_kwargs: dict | None = None,
        dots_kwargs: dict | None = None,
        threshold_kwargs: dict | None = None,
        alarm_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> SequentialDisplay:
        """Draw the watch.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Title.
        line_kwargs, band_kwargs, dots_kwargs : dict, default=None
            Options for the estimate of all rows, its intervals and the values of single batches.
        threshold_kwargs, alarm_kwargs, legend_kwargs : dict, default=None
            Options for the threshold, the lines of alarm and change, and the legend.

        Returns
        -------
        SequentialDisplay
            The display itself.
        """
        step, overall, low, high, value = self._numbers()
        ax = self._start(ax, 3.5)
        ax.grid(axis="y", color="0.9")
        limits = _limits([overall, low, high, value, [self._threshold()]])
        low, high = np.maximum(low, limits[0]), np.minimum(high, limits[1])
        ends = step, low, high
        if step.size == 1:  # a band needs a width
            ends = step[0] + np.array([-0.3, 0.3]), np.repeat(low, 2), np.repeat(high, 2)
        look = {"color": COLOURS[0], "alpha": 0.25, "linewidth": 0}
        self.band_ = ax.fill_between(*ends, **merged("band_kwargs", look, band_kwargs))
        look = {"color": COLOURS[0], "marker": "o" if step.size < 30 else "", "markersize": 4}
        (self.line_,) = ax.plot(step, overall, **merged("line_kwargs", look, line_kwargs))
        self.dots_ = self.threshold_line_ = self.alarm_line_ = self.change_line_ = None
        handles = [self.line_, self.band_]
        words = f"{level_text(self.level)} interval" + " at all looks" * self.anytime
        labels = ["all rows so far", words]
        if not np.isnan(value).all():
            size = 4 if step.size <= _MOST_DOTS else 1.5
            look = {"color": "0.45", "linestyle": "none", "marker": "x", "markersize": size}
            (self.dots_,) = ax.plot(step, value, **merged("dots_kwargs", look, dots_kwargs))
            handles, labels = [*handles, self.dots_], [*labels, "batch alone"]
        if self.threshold is not None:
            look = {"color": "0.2", "linestyle": "--", "linewidth": 1.2}
            look = merged("threshold_kwargs", look, threshold_kwargs)
            self.threshold_line_ = ax.axhline(self.threshold, **look)
            handles = [*handles, self.threshold_line_]
            labels = [*labels, f"threshold {self.threshold:g}"]
        events = (("alarm", self.alarm, COLOURS[1], "-"), ("change", self.change, COLOURS[3], "-."))
        for what, at, colour, line in events:
            if at is not None:
                look = {"color": colour, "linestyle": line, "linewidth": 1.4}
                drawn = ax.axvline(at, **merged("alarm_kwargs", look, alarm_kwargs))
                setattr(self, f"{what}_line_", drawn)
                handles, labels = [*handles, drawn], [*labels, f"{what}, batch {at}"]
        room = 0.03 * (limits[1] - limits[0])
        ax.set_ylim(limits[0] - room, limits[1] + room)
        ax.xaxis.get_major_locator().set_params(integer=True)
        return self._finish(
            xlabel="batch",
            ylabel=self.metric,
            title=name,
            legend=(handles, labels),
            legend_kwargs=legend_kwargs,
        )

    def _threshold(self):
        return np.nan if self.threshold is None else self.threshold

    def _numbers(self):
        """Columns as vectors of one length."""
        step = np.asarray(self.step, dtype=float)
        refuse_if(
            step.ndim != 1 or step.size == 0,
            "step",
            f"there must be at least one batch, got step of shape {step.shape}.",
        )
        value = np.full(step.shape, np.nan) if self.value is None else self.value
        found = [step]
        for name, given in (*((key, getattr(self, key)) for key in _ENDS), ("value", value)):
            array = np.asarray(given, dtype=float)
            refuse_if(
                array.shape != step.shape,
                name,
                f"{name} must have one number per batch, {step.size}, got shape {array.shape}.",
            )
            found.append(array)
        return found

    def _columns(self):
        step, overall, low, high, value = self._numbers()
        columns = {"batch": step.astype(np.int64), "overall": overall, "low": low, "high": high}
        columns["value"] = value
        if self.threshold is not None:
            columns["threshold"] = np.full(step.shape, self.threshold)
        return columns

    def _sentences(self):
        step, overall, low, high, _ = self._numbers()
        all_looks = " at all looks" * self.anytime
        count = f"{step.size} batch" + "es" * (step.size > 1)
        yield (
            f"{self.metric} over {count}, of all rows up to each, with {level_text(self.level)} "
            f"intervals{all_looks}."
        )
        texts = [
            f"after batch {step[k]:g} {spoken_interval(overall[k], low[k], high[k])}"
            for k in sorted({0, step.size // 2, step.size - 1})
        ]
        yield f"{'; '.join(texts)[:1].upper()}{'; '.join(texts)[1:]}."
        if self.threshold is not None:
            raised = "no alarm" if self.alarm is None else f"alarm since batch {self.alarm}"
            yield f"Threshold {spoken(self.threshold)}: {raised}."
        if self.change is not None:
            yield f"By batch {self.change} the metric had changed."


_ENDS = ("overall", "low", "high")


def _limits(values):
    """Lowest and highest finite number, at which infinite ends are cut."""
    values = np.concatenate([np.ravel(part) for part in values])
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)
