"""`FoldDisplay`: the values of the folds, with what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import interval_name, spoken, spoken_interval
from skuncertain._utils.typing import LabelLike, MetricsLike, RandomStateLike
from skuncertain._utils.validation import refuse_if
from skuncertain.display._base import (
    Display,
    draw_intervals,
    extent_in_points,
    label_rows,
    merged,
    set_limits,
    width_for,
)
from skuncertain.display._inputs import FromFolds, as_cross_validations, fold_question, numbers
from skuncertain.display._text import listed
from skuncertain.model_selection._cross_validator import BayesianCrossValidator

_BINS = 60  # dots within 1/60 of the width are stacked
_LANE = 0.3  # half the height of the dots of a row


@dataclass(kw_only=True, eq=False, repr=False)
class FoldDisplay(FromFolds, Display):
    """Values of the folds of a cross-validation with the pooled value and its interval.

    It is usually made by one of the ``from_...`` methods, which compute and plot. Dots that would
    hide each other are stacked, so that the dots of repeated cross-validation show a distribution.

    Parameters
    ----------
    metrics : sequence of str
        Names of the metrics, a row each.
    values : array-like of shape (metrics, splits)
        Value of every fold, NaN where it is 0/0.
    estimate, low, high : array-like of shape (metrics,)
        Value of all folds together and its interval.
    level : float
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    method : str, default="pooled"
        How the folds were put together.
    n_repeats : int, default=1
        Repetitions of the cross-validation.
    n_failed : int, default=0
        Folds that failed.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    dots_ : list of matplotlib Line2D
        Fold values, one entry per metric.
    line_, marker_ : matplotlib artists
        Intervals and values of all folds together.
    legend_ : matplotlib Legend
        What is what.

    See Also
    --------
    IntervalDisplay : The intervals by several methods.
    BayesianCrossValidator : Runs the cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.display import FoldDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> display = FoldDisplay.from_estimator(tree, X, y, metrics=["f1"])
    >>> display.to_frame().tail(2).round(2)
      metric    part  repeat  value   low  high
    4     f1    fold     1.0   0.95   NaN   NaN
    5     f1  pooled     NaN   0.94  0.92  0.96
    """

    metrics: Sequence[str]
    values: ArrayLike
    estimate: ArrayLike
    low: ArrayLike
    high: ArrayLike
    level: float
    kind: str = "eti"
    method: str = "pooled"
    n_repeats: int = 1
    n_failed: int = 0

    @classmethod
    def from_cross_validation(
        cls,
        results: Any,
        *,
        metrics: MetricsLike | None = None,
        method: str | None = None,
        level: float | None = None,
        kind: str | None = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> FoldDisplay:
        """Plot the folds of a cross-validation.

        Parameters
        ----------
        results : BayesianCrossValidator or CrossValPosterior
            A fitted cross-validator or its result.
        metrics : list of str, Metric or callable, default=None
            By default those of the cross-validation.
        method : str, default=None
            See :func:`fold_posterior`; by default that of the cross-validation.
        level, kind : object, default=None
            Of the intervals; by default as in the cross-validation.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        FoldDisplay
            The display, plotted.
        """
        refuse_if(
            hasattr(results, "items"),
            "results",
            "results must be one cross-validation, got a dict. That of cross_validate belongs "
            "to from_cv_results; several models to IntervalDisplay.from_cross_validation.",
        )
        (result,) = as_cross_validations(results).values()
        asked, level, kind = fold_question(result, metrics, level, kind)
        table = [numbers(result.posterior(m, method), level, kind) for m in asked.values()]
        estimate, low, high = np.array(table).T
        data = {
            "metrics": list(asked),
            "values": np.array([result.folds(metric).values for metric in asked.values()]),
            "estimate": estimate,
            "low": low,
            "high": high,
            "level": level,
            "kind": kind,
            "method": result.options.method if method is None else method,
            "n_repeats": result.n_repeats,
            "n_failed": len(result.failed_folds),
        }
        return cls._shown(data, ax, name, plot_kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        cv: Any = None,
        groups: ArrayLike | None = None,
        metrics: MetricsLike | None = None,
        method: str = "pooled",
        level: float = 0.95,
        kind: str = "eti",
        labels: Any = None,
        pos_label: LabelLike = None,
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> FoldDisplay:
        """Cross-validate a classifier and plot the folds.

        Parameters
        ----------
        estimator : object
            Classifier; it is cloned, not changed.
        X : array-like of shape (n, features)
            Rows.
        y : array-like of shape (n,)
            Class labels.
        cv : int, splitter or iterable, default=None
            As in ``cross_validate``.
        groups : array-like of shape (n,), default=None
            Groups for the splitter.
        metrics, method, level, kind, labels, pos_label, n_jobs, random_state : object
            See :class:`BayesianCrossValidator`.
        ax, name, **plot_kwargs : object
            See `plot`; the default title is the class of the estimator.

        Returns
        -------
        FoldDisplay
            The display, plotted.
        """
        cls._check_options(plot_kwargs)
        bcv = BayesianCrossValidator(
            estimator,
            cv=cv,
            metrics=metrics,
            method=method,
            level=level,
            kind=kind,
            labels=labels,
            pos_label=pos_label,
            n_jobs=n_jobs,
            random_state=random_state,
            refit=False,
        )
        bcv.fit(X, y, groups=groups)
        name = type(estimator).__name__ if name is None else name
        return cls.from_cross_validation(bcv, ax=ax, name=name, **plot_kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        dot_kwargs: dict | None = None,
        line_kwargs: dict | None = None,
        marker_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> FoldDisplay:
        """Draw the folds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Title.
        dot_kwargs, line_kwargs, marker_kwargs, legend_kwargs : dict, default=None
            Options for the dots of the folds, the intervals, the values of all folds together and
            the legend.

        Returns
        -------
        FoldDisplay
            The display itself.
        """
        values = np.asarray(self.values, dtype=float)
        labels = [self._label(k) for k in range(len(self.metrics))]
        ax = self._start(ax, 1.4 + 0.75 * len(self.metrics), width_for(labels))
        label_rows(ax, labels)
        ax.grid(axis="x", color="0.9")
        set_limits(ax, [values, self.estimate, self.low, self.high])
        row = extent_in_points(ax)[1] / len(labels)
        look = {
            "color": "0.35",
            "linestyle": "none",
            "marker": "o",
            "markersize": min(5.5 if values.shape[1] <= 30 else 3.5, max(0.13 * row, 1.5)),
            "markeredgewidth": 0.0,
            "alpha": 0.55,
        }
        dots = merged("dot_kwargs", look, dot_kwargs)
        self.dots_ = []
        for k, folds in enumerate(values):
            x = np.sort(folds[np.isfinite(folds)])
            y = k - 0.12 + _stacked(x, np.subtract(*ax.get_xlim()[::-1]))
            self.dots_ += ax.plot(x, y, **dots)
        y, ends = np.arange(len(self.metrics)) + 0.32, (self.estimate, self.low, self.high)
        self.line_, self.marker_ = draw_intervals(
            ax, y, ends, 0, line_kwargs, marker_kwargs, 0.3 * row
        )
        return self._finish(
            xlabel=f"value, {interval_name(self.level, self.kind)}",
            title=name,
            legend=(
                [self.dots_[0], (self.line_, self.marker_)],
                [self._folds(), f"all folds, {self.method}"],
            ),
            legend_kwargs=legend_kwargs,
        )

    def _folds(self):
        """Such as "value of a fold (10 folds x 5)"."""
        splits = np.shape(self.values)[1]
        count = f"{splits / self.n_repeats:g} folds"
        count += f", {self.n_repeats} times" if self.n_repeats > 1 else ""
        return f"one fold ({count}{f', {self.n_failed} failed' if self.n_failed else ''})"

    def _label(self, k):
        row = np.asarray(self.values)[k]
        lost = {"undefined": np.isnan(row).sum(), "infinite": np.isinf(row).sum()}
        notes = [
            f" ({number} of {row.size} folds {what})" for what, number in lost.items() if number
        ]
        return "".join([str(self.metrics[k]), *notes])

    def _columns(self):
        values = np.asarray(self.values, dtype=float)
        n_metrics, splits = values.shape
        nothing, each = np.full((n_metrics, splits), np.nan), np.arange(splits)
        repeat = 1.0 + each // max(splits // self.n_repeats, 1)
        return {
            "metric": np.repeat(np.array(self.metrics, dtype=object), splits + 1),
            "part": np.tile([*["fold"] * splits, self.method], n_metrics),
            "repeat": np.tile([*repeat, np.nan], n_metrics),
            "value": np.column_stack([values, self.estimate]).ravel(),
            "low": np.column_stack([nothing, self.low]).ravel(),
            "high": np.column_stack([nothing, self.high]).ravel(),
        }

    def _sentences(self):
        yield f"Values of {self._folds().partition('(')[2].rstrip(')')}, a row per metric,"
        yield f"with the {self.method} value and its {interval_name(self.level, self.kind)}."
        texts = []
        for k, row in enumerate(np.asarray(self.values, dtype=float)):
            finite = row[np.isfinite(row)]
            text = (
                f"{self._label(k)}: {spoken_interval(self.estimate[k], self.low[k], self.high[k])}"
            )
            if finite.size:
                text += f", folds from {spoken(finite.min())} to {spoken(finite.max())}"
            texts.append(text)
        yield listed(texts)


def _stacked(x, width):
    """Offsets of sorted dots, so that those that would hide each other lie side by side."""
    bins = np.round(x / width * _BINS)
    _, first, number = np.unique(bins, return_index=True, return_counts=True)
    rank = np.arange(x.size) - np.repeat(first, number)
    side = np.where(rank % 2, 1, -1) * ((rank + 1) // 2)  # 0, 1, -1, 2, ...
    return side * min(0.09, 2 * _LANE / max(number.max(initial=1) - 1, 1))
