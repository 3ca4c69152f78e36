"""Metrics along the threshold, as curves with pointwise intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import level_text, spoken_interval
from skuncertain._utils.typing import LabelLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain.display._base import Display, merged, style
from skuncertain.display._inputs import as_named, scores_of_folds
from skuncertain.display._text import listed, visible_label
from skuncertain.metrics._registry import is_symmetric
from skuncertain.metrics._scores.scored_rows import of_folds
from skuncertain.metrics._scores.thresholds import ThresholdIntervals, intervals_at_thresholds
from skuncertain.posteriors._about import label_text

_THRESHOLDS = 200  # of a curve, at most
GREY = "0.35"


class AlongThresholds(Display):
    """What displays along a threshold share; not constructed by users."""

    _wanted: ClassVar[type]
    _field: ClassVar[str]
    _response: ClassVar[str] = "auto"
    threshold_lines_: list
    all_lines_: list

    @classmethod
    def _of_results(cls, given, ax, name, plot_kwargs):
        entries = as_named(given, cls._wanted, cls._field)
        return cls._shown({cls._field: entries}, ax, name, plot_kwargs)

    @classmethod
    def _of_scores(cls, make, y_true, scores, options, ax, name, plot_kwargs):
        """Display of scores, of a cross-validator, or of a dict of them."""
        cls._check_options(plot_kwargs)
        if name is None and of_folds(scores):
            name = "folds pooled"
        named = scores if isinstance(scores, dict) else {None: scores}
        found = {key: make(y_true, one, **options) for key, one in named.items()}
        return cls._of_results(found, ax, name, plot_kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict,
        X: Any,
        y: ArrayLike,
        *,
        pos_label: LabelLike = None,
        **options: Any,
    ) -> Self:
        """Plot from the result of ``cross_validate``.

        Parameters
        ----------
        cv_results : dict
            Of ``cross_validate(..., return_estimator=True, return_indices=True)``, every row
            tested once. One threshold is applied to the models of all folds, and rows count less
            than independent ones.
        X : array-like of shape (n, features)
            The rows.
        y : array-like of shape (n,)
            True labels.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.
        **options : dict
            All other arguments of `from_predictions`.

        Returns
        -------
        Display
            The display, plotted.
        """
        scores = scores_of_folds(cv_results, X, y, pos_label, cls._response)
        return cls.from_predictions(y, scores, **options)

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, *args: Any, **options: Any) -> Self:
        """Plot from true labels and scores; every display has options of its own."""
        raise NotImplementedError

    def _results(self):
        return getattr(self, self._field)

    def _band(self, ax, k, x, ends, text, line_kwargs, fill_kwargs):
        """Draw a curve with its band in the k-th style; `ends` are values, low and high."""
        colour, marker, dashes = style(k)
        value, low, high = ends
        single = len(x) == 1  # neither a line nor a band would be seen
        fill = {"color": colour, "alpha": 0.18, "linewidth": 0.0}
        self.fills_.append(
            ax.fill_between(x, low, high, **merged("fill_kwargs", fill, fill_kwargs))
        )
        for end in (low, high):
            ax.plot(x, end, color=colour, linewidth=0.8, linestyle=dashes, alpha=0.8)
        line = {
            "color": colour,
            "linewidth": 1.8,
            "linestyle": dashes,
            "label": visible_label(text),
        }
        line |= {"marker": marker} if single else {}
        if single:
            ax.vlines(x, low, high, color=colour, linewidth=1.8)
        self.lines_ += ax.plot(x, value, **merged("line_kwargs", line, line_kwargs))

    def _shaded(self):
        first = next(iter(self._results().values()))
        return f"{level_text(first.level)} pointwise intervals"

    def _class(self):
        """Class that all curves are about, in words; empty for 1, the usual one."""
        found = {one.counts.pos_label for one in self._results().values()}
        return class_text(*found) if len(found) == 1 else ""

    def _limit_thresholds(self, ax, earlier):
        """Let the x axis hold the thresholds of these curves and of earlier ones."""
        x = np.concatenate([one.thresholds for one in self._results().values()])
        x = np.r_[x[np.isfinite(x)], earlier]
        if x.size and np.ptp(x) > 0:
            ax.set_xlim(x.min(), x.max())


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdDisplay(AlongThresholds):
    """Metrics along the threshold, as curves with pointwise intervals.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    intervals : dict
        :class:`ThresholdIntervals` by the name of the model; a single one has the name None.

    Attributes
    ----------
    ax_, figure_ : object
        Where it is drawn.
    lines_, fills_, threshold_lines_ : list
        Curves, bands, and thresholds in use.
    legend_ : object
        The legend.

    See Also
    --------
    intervals_at_thresholds : The numbers.
    NetBenefitDisplay : What treating rows from a threshold on is worth.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.display import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> score = y + rng.normal(size=200)
    >>> display = ThresholdDisplay.from_predictions(y, score, metrics=["precision", "recall"])
    >>> display.to_frame().shape
    (400, 6)
    """

    _wanted = ThresholdIntervals
    _field = "intervals"
    intervals: dict

    @classmethod
    def from_intervals(
        cls, intervals: Any, *, ax: Any = None, name: str | None = None, **plot_kwargs: Any
    ) -> Self:
        """Plot intervals that are computed already.

        Parameters
        ----------
        intervals : ThresholdIntervals or dict
            Those of one model, or of several by name.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        ThresholdDisplay
            The display, plotted.
        """
        return cls._of_results(intervals, ax, name, plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        thresholds: Any = None,
        metrics: MetricsLike = ("precision", "recall", "f1"),
        operating_threshold: float | None = None,
        level: float = 0.95,
        kind: str = "eti",
        prior: PriorLike = "auto",
        labels: Any = None,
        pos_label: LabelLike = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot from true labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_score : array-like of shape (n,), BayesianCrossValidator or dict
            Scores of the positive class, or scores by the name of the model.
        thresholds : array-like, int or None, default=None
            Thresholds, or how many; by default at most 200, spread evenly over the rows.
        metrics, operating_threshold, level, kind, prior : object
            See :func:`intervals_at_thresholds`.
        labels, pos_label, random_state : object, default=None
            See :func:`intervals_at_thresholds`.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        ThresholdDisplay
            The display, plotted.
        """
        options = {
            "thresholds": _THRESHOLDS if thresholds is None else thresholds,
            "metrics": metrics,
            "operating_threshold": operating_threshold,
            "level": level,
            "kind": kind,
            "prior": prior,
            "labels": labels,
            "pos_label": pos_label,
            "random_state": random_state,
        }
        make = intervals_at_thresholds
        return cls._of_scores(make, y_true, y_score, options, ax, name, plot_kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        thresholds: Any = None,
        ax: Any = None,
        name: str | None = None,
        legend_kwargs: dict | None = None,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        **options: Any,
    ) -> Self:
        """Plot from a fitted classifier and test rows.

        Parameters
        ----------
        estimator : object
            Fitted classifier with ``predict_proba`` or ``decision_function``. Its own threshold is
            marked.
        X : array-like of shape (n, features)
            Test rows.
        y : array-like of shape (n,)
            True labels.
        thresholds : array-like, int or None, default=None
            Thresholds, or how many; by default at most 200, spread evenly over the rows.
        ax, name, legend_kwargs, line_kwargs, fill_kwargs : object
            See `plot`; the name is that of the class of the estimator by default.
        **options : dict
            All other arguments of :func:`intervals_at_thresholds`.

        Returns
        -------
        ThresholdDisplay
            The display, plotted.
        """
        known = ("metrics", "operating_threshold", "level", "kind", "prior", "labels", "pos_label")
        cls._check_options([key for key in options if key not in (*known, "random_state")])
        thresholds = _THRESHOLDS if thresholds is None else thresholds
        found = intervals_at_thresholds(y, estimator, thresholds, X=X, **options)
        name = type(estimator).__name__ if name is None else name
        looks = {"line_kwargs": line_kwargs, "fill_kwargs": fill_kwargs}
        return cls.from_intervals(found, ax=ax, name=name, legend_kwargs=legend_kwargs, **looks)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> ThresholdDisplay:
        """Draw curves and bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Label of a single model, title of several.
        line_kwargs, fill_kwargs, legend_kwargs : dict, default=None
            Options for the curves, the bands and the legend.

        Returns
        -------
        ThresholdDisplay
            The display itself.
        """
        ax = self._start(ax, 4.2)
        self.lines_, self.fills_, self.threshold_lines_ = [], [], []
        before = len(ax.get_legend_handles_labels()[1])  # curves of an earlier display
        earlier = (ax.get_xlim(), ax.get_ylim()) if before else ((), ())
        for k, (key, found, metric) in enumerate(self._curves()):
            text = self._text(key if key is not None else name, found, metric)
            ends = (part[metric] for part in (found.values, found.low, found.high))
            self._band(ax, before + k, found.thresholds, ends, text, line_kwargs, fill_kwargs)
        self._mark_thresholds(ax)
        self._limit_thresholds(ax, earlier[0])
        self._limit_values(ax, earlier[1])
        metrics = {metric: None for _, _, metric in self._curves()}
        return self._finish(
            xlabel=f"threshold of the score{self._class()}; shaded: {self._shaded()}",
            ylabel=next(iter(metrics)) if len(metrics) == 1 else "metric",
            title=name if len(self.intervals) > 1 else None,
            legend=ax.get_legend_handles_labels(),
            legend_kwargs=legend_kwargs,
        )

    def _limit_values(self, ax, earlier):
        """Show the range of the metrics; what is below 0 as far as it is needed."""
        ranges = [found.metrics[metric].range for _, found, metric in self._curves()]
        top = max(max(high for _, high in ranges), *earlier, 0.0)
        if np.isfinite(top):
            lows = [found.low[metric] for _, found, metric in self._curves()]
            bottom = np.nanmin(np.concatenate([*lows, [0.0], earlier]))
            ax.set_ylim(bottom - 0.01 * (top - bottom), top + 0.01 * (top - bottom))

    def _curves(self):
        """Model, its intervals and the metric of every curve."""
        every = self.intervals.items()
        return [(key, found, metric) for key, found in every for metric in found.metrics]

    def _mark_thresholds(self, ax):
        """Draw the thresholds in use, each once, with a label."""
        used = {found.operating_threshold: None for found in self.intervals.values()}
        for threshold in (one for one in used if one is not None):
            label = f"threshold in use, {threshold:.3g}"
            self.threshold_lines_.append(
                ax.axvline(threshold, color=GREY, linewidth=1.0, linestyle=":", label=label)
            )

    def _text(self, name, found, metric):
        """Model, metric and class of a curve."""
        asked = found.metrics[metric]
        of_class = asked.average == "binary" and not is_symmetric(asked)
        text = metric + (class_text(found.counts.pos_label) if of_class else "")
        return f"{name}: {text}" if name else text

    def _columns(self):
        parts = [
            (
                key,
                metric,
                found.thresholds,
                *(p[metric] for p in (found.values, found.low, found.high)),
            )
            for key, found, metric in self._curves()
        ]
        sizes = [len(part[2]) for part in parts]
        words = [np.array([part[k] for part in parts], dtype=object) for k in (0, 1)]
        names, metrics = (np.repeat(word, sizes) for word in words)
        numbers = [np.concatenate([part[k] for part in parts]) for k in range(2, 6)]
        titles = ("threshold", "value", "low", "high")
        return {"name": names, "metric": metrics, **dict(zip(titles, numbers, strict=True))}

    def _sentences(self):
        yield f"Metrics along the threshold{self._class()} with {self._shaded()}."
        texts = []
        for key, found, metric in self._curves():
            used = found.operating_threshold
            k = len(found.thresholds) // 2 if used is None else found._place(used)
            text = spoken_interval(
                found.values[metric][k], found.low[metric][k], found.high[metric][k]
            )
            texts.append(f"{self._text(key, found, metric)} {text} at {found.thresholds[k]:.3g}")
        yield listed(texts)


def class_text(label):
    """Class in words; empty for 1, the usual one."""
    return "" if label in (1, None) else f" of class {label_text(label)}"
