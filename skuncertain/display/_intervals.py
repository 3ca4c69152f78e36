"""`IntervalDisplay`: intervals of many metrics, methods or models in one forest plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import interval_name, spoken_interval
from skuncertain._utils.typing import LabelLike, MetricLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import check_integer, check_kind, check_level, resolve_seed
from skuncertain.comparison._leaderboard import Leaderboard
from skuncertain.display._base import (
    Display,
    draw_intervals,
    extent_in_points,
    label_rows,
    rows_to_show,
    set_limits,
    width_for,
)
from skuncertain.display._inputs import (
    FromCounts,
    FromFolds,
    FromRanking,
    as_cross_validations,
    as_named,
    fold_methods,
    fold_posterior,
    fold_question,
    numbers,
    with_own,
)
from skuncertain.display._text import listed
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.posteriors._question import shared_question

_PALETTE = 7  # more marks than that in a row cannot be told apart


@dataclass(kw_only=True, eq=False, repr=False)
class IntervalDisplay(FromCounts, FromFolds, FromRanking, Display):
    """Forest plot: point values with their intervals, a row per metric, model or candidate.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    rows : sequence of str
        Names of the rows, from the top.
    marks : sequence of str or None
        Names of the marks in a row: methods, models or metrics. None needs no name.
    estimate, low, high : array-like of shape (rows, marks)
        Point values and ends of the intervals; NaN where there is none.
    level : float
        Probability of the intervals.
    kind : {"eti", "hdi"} or None, default=None
        Equal-tailed or highest-density; None if it is not known.
    metric : str, default=None
        Metric on the axis, if all intervals have the same.
    row_name, mark_name : str, default="row", "mark"
        What rows and marks are: "metric", "model", "method" or "candidate".
    selected : int, default=None
        Row to be marked, the selected candidate of a search.
    not_considered : int, default=0
        How many candidates have no interval.
    question : str, default=None
        Metric with class, prevalence and the like; by default the metric.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    lines_, markers_ : list of matplotlib artists
        Intervals and point values, one entry per mark.
    legend_ : matplotlib Legend
        With marks that have names.

    See Also
    --------
    PosteriorDisplay : The whole distribution.
    FoldDisplay : The values of the folds.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.display import IntervalDisplay
    >>> tree = ConfusionCounts([[40, 10], [12, 38]])
    >>> forest = ConfusionCounts([[45, 5], [9, 41]])
    >>> display = IntervalDisplay.from_counts(
    ...     {"tree": tree, "forest": forest}, metrics=["accuracy", "recall"]
    ... )
    >>> display.to_frame().round(2)
         metric   model  estimate   low  high
    0  accuracy    tree      0.78  0.69  0.85
    1  accuracy  forest      0.86  0.78  0.92
    2    recall    tree      0.76  0.63  0.86
    3    recall  forest      0.82  0.70  0.91
    """

    rows: Any
    marks: Any
    estimate: ArrayLike
    low: ArrayLike
    high: ArrayLike
    level: float
    kind: str | None = None
    metric: str | None = None
    row_name: str = "row"
    mark_name: str = "mark"
    selected: int | None = None
    not_considered: int = 0
    question: str | None = None

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        metrics: MetricsLike | None = None,
        level: float = 0.95,
        kind: str = "eti",
        prior: PriorLike = "auto",
        pos_label: LabelLike = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> IntervalDisplay:
        """Plot the intervals of several metrics of one or several models.

        Parameters
        ----------
        counts : ConfusionCounts or dict
            Counts of one model, or of several by name.
        metrics : list of str, Metric or callable, default=None
            By default accuracy, precision, recall, f1 and mcc; without a positive class accuracy,
            balanced_accuracy, f1_macro and mcc.
        level : float, default=0.95
            Probability of the intervals.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        prior : str, float or array-like of shape (C, C), default="auto"
            See :meth:`ConfusionCounts.posterior`.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.
        random_state : int, Generator, RandomState or None, default=None
            Seed of metrics that are drawn.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        IntervalDisplay
            The display, plotted.
        """
        level, kind, seed = check_level(level), check_kind(kind), resolve_seed(random_state)
        models = as_named(counts, ConfusionCounts, "counts")
        first = next(iter(models.values()))
        label = first.pos_label if pos_label is None else pos_label
        asked = check_metrics(metrics, first.labels, label)
        options = {"prior": prior, "pos_label": pos_label, "random_state": seed}
        found = [
            [one.posterior(metric, **options) for one in models.values()]
            for metric in asked.values()
        ]
        table = [[numbers(one, level, kind) for one in row] for row in found]
        data = _arranged(asked, models, np.array(table), "model", _questions(found))
        return cls._shown(data | {"level": level, "kind": kind}, ax, name, plot_kwargs)

    _takes_scores = True

    @classmethod
    def _from_scores(
        cls, posteriors, metrics=None, level=0.95, kind="eti", ax=None, name=None, **plot_kwargs
    ):
        level, kind = check_level(level), check_kind(kind)
        found = [[one] for one in posteriors.values()]
        table = np.array([[numbers(one, level, kind) for one in row] for row in found])
        data = _arranged(posteriors, [None], table, "model", _questions(found))
        return cls._shown(data | {"level": level, "kind": kind}, ax, name, plot_kwargs)

    @classmethod
    def from_cross_validation(
        cls,
        results: Any,
        *,
        metrics: MetricsLike | None = None,
        methods: Any = None,
        level: float | None = None,
        kind: str | None = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> IntervalDisplay:
        """Plot the intervals of one cross-validation by several methods, or of several.

        Parameters
        ----------
        results : BayesianCrossValidator, CrossValPosterior or dict
            A fitted cross-validator or its result, or several by name.
        metrics : list of str, Metric or callable, default=None
            By default those of the (first) cross-validation.
        methods : list of str, default=None
            Methods of :func:`fold_posterior`, or "wang_li" for the pooled counts with the published
            weight. By default those of the text report; for several cross-validations the one that
            each was made with.
        level, kind : object, default=None
            Of the intervals; by default as in the (first) cross-validation.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        IntervalDisplay
            The display, plotted.
        """
        several = hasattr(results, "items")
        models = as_cross_validations(results)
        first = next(iter(models.values()))
        asked, level, kind = fold_question(first, metrics, level, kind)
        chosen = fold_methods(methods, first, several)
        if several:
            columns = {key: (one, *next(iter(chosen.values()))) for key, one in models.items()}
        else:
            columns = {text: (first, *how) for text, how in chosen.items()}
        found = [
            [fold_posterior(one, metric, how, quiet) for one, how, quiet in columns.values()]
            for metric in asked.values()
        ]
        silent = [quiet for _, _, quiet in columns.values()]
        table = [
            [numbers(one, level, kind, quiet) for one, quiet in zip(row, silent, strict=True)]
            for row in found
        ]
        word = "model" if several else "method"
        told = [[one and _of_its_method(one) for one in row] for row in found]
        data = _arranged(asked, columns, np.array(table), word, _questions(told))
        return cls._shown(data | {"level": level, "kind": kind}, ax, name, plot_kwargs)

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        metric: MetricLike | None = None,
        level: float | None = None,
        kind: str | None = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> IntervalDisplay:
        """Plot the intervals of the candidates of a search, the best first.

        Parameters
        ----------
        search : GridSearchCV, RandomizedSearchCV, halving search, dict or SearchPosterior
            A fitted search, its ``cv_results_``, or what :func:`search_posterior` returned.
        metric, level, kind, random_state : object, default=None
            See :func:`search_posterior`; not for a SearchPosterior.
        ax, name, **plot_kwargs : object
            See `plot`, in particular `max_items`.

        Returns
        -------
        IntervalDisplay
            The display, plotted. The selected candidate is marked.
        """
        options = {"metric": metric, "level": level, "kind": kind, "random_state": random_state}
        return cls._of_search(search, options, ax, name, plot_kwargs)

    @classmethod
    def _of_ranking(cls, found, order):
        ends = {"estimate": found.mean, "low": found.low, "high": found.high}
        return {key: values[order, None] for key, values in ends.items()} | {
            "rows": [str(found.names[k]) for k in order],
            "marks": [None],
            "row_name": "model" if isinstance(found, Leaderboard) else "candidate",
            "level": found.level,
            "kind": found.kind,
            "metric": found.metric,
            "question": getattr(found, "question", None),
        }

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        max_items: int = 30,
        line_kwargs: dict | None = None,
        marker_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> IntervalDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure whose height suits the number of rows.
        name : str, default=None
            Title.
        max_items : int, default=30
            Rows to draw at most; the plot says how many there are besides.
        line_kwargs, marker_kwargs, legend_kwargs : dict, default=None
            Options for the lines of the intervals, the markers of the point values and the legend.

        Returns
        -------
        IntervalDisplay
            The display itself.
        """
        most = check_integer("max_items", max_items, low=1)
        shown, labels = rows_to_show(self.rows, most, self.selected, self.not_considered)
        n_marks = len(self.marks)
        height = 1.0 + len(labels) * max(0.3, 0.15 * n_marks + 0.1) + 0.3 * (name is not None)
        ax = self._start(ax, max(height, 1.7), width_for(labels))
        selected = None if self.selected is None else shown.index(self.selected)
        label_rows(ax, labels, selected)
        if selected is not None:
            ax.axhspan(selected - 0.5, selected + 0.5, color="0.93", zorder=0)
        ax.grid(axis="x", color="0.9")
        values = [np.asarray(a)[shown] for a in (self.estimate, self.low, self.high)]
        set_limits(ax, values)
        row = extent_in_points(ax)[1] / len(labels)
        room = row if n_marks == 1 else 0.7 * row / n_marks
        spread = 0.7 * (np.arange(n_marks) - (n_marks - 1) / 2) / max(n_marks, 2)
        self.lines_, self.markers_ = [], []
        for k in range(n_marks):
            y = np.arange(len(shown)) + spread[k]
            ends = [array[:, k] for array in values]
            line, marker = draw_intervals(ax, y, ends, k, line_kwargs, marker_kwargs, room)
            self.lines_.append(line)
            self.markers_.append(marker)
        handles = list(zip(self.lines_, self.markers_, strict=True)) if self._named() else []
        return self._finish(
            xlabel=f"{self._asked('value')}, {interval_name(self.level, self.kind)}",
            title=name,
            legend=(handles, self.marks),
            legend_kwargs=legend_kwargs,
        )

    def _asked(self, unknown):
        return self.question or self.metric or unknown

    def _named(self):
        return len(self.marks) > 1 or self.marks[0] is not None

    def _columns(self):
        rows, marks = np.indices(np.shape(self.estimate))
        columns: dict = {self.row_name: [str(self.rows[k]) for k in rows.ravel()]}
        if self._named():
            columns[self.mark_name] = [str(self.marks[k]) for k in marks.ravel()]
        ends = {"estimate": self.estimate, "low": self.low, "high": self.high}
        columns |= {key: np.ravel(values).astype(float) for key, values in ends.items()}
        if self.selected is not None:
            columns["selected"] = rows.ravel() == self.selected
        return columns

    def _sentences(self):
        of = f" of {self._asked('')}" if self._asked("") else ""
        values = np.stack([np.asarray(a) for a in (self.estimate, self.low, self.high)], axis=-1)
        marks = [f", {mark}" if self._named() else "" for mark in self.marks]
        yield f"Forest plot of point values{of} with {interval_name(self.level, self.kind)}s."
        yield listed(
            f"{self.rows[row]}{marks[mark]}: {spoken_interval(*values[row, mark])}"
            for row, mark in np.ndindex(values.shape[:2])
        )
        yield from self._about_search(self.rows, [spoken_interval(*row[0]) for row in values])


def _of_its_method(posterior):
    """Without the estimand of a t method, which has no choice of it."""
    choice = posterior.about.method == "pooled"
    return posterior if choice else posterior.with_about(estimand=None)


def _questions(found):
    """Question of every metric, as far as all models share it, and what each has of its own."""
    shared, own = [], []
    for row in found:
        known = [one.about for one in row if one is not None]
        common, texts = shared_question(known) if known else (None, [])
        shared.append(common)
        left = iter(texts)
        own.append(["" if one is None else next(left) for one in row])
    return shared, [max(texts, key=len) for texts in zip(*own, strict=True)]


def _arranged(metrics, others, table, word, questions):
    """Rows and marks from numbers (metrics, others, 3): few marks in a row, one if possible."""
    metrics, (shared, own) = list(metrics), questions
    data = {"row_name": "metric", "mark_name": word}
    data["metric"] = metrics[0] if len(metrics) == 1 else None
    if data["metric"] and shared[0] is not None:
        data["question"] = shared[0].question(data["metric"])
    names = with_own([None if other is None else str(other) for other in others], own)
    rows, marks = metrics, names
    if len(others) > 1 and (len(metrics) == 1 or len(others) > _PALETTE >= len(metrics)):
        table = table.transpose(1, 0, 2)
        rows, marks = marks, rows
        data |= {"row_name": word, "mark_name": "metric"}
        if len(metrics) == 1:  # it stands below the axis
            data["metric"], marks = metrics[0], [None]
    elif len(metrics) == 1:
        data["metric"] = metrics[0]
    data |= {"rows": rows, "marks": marks}
    return data | {key: table[..., k] for k, key in enumerate(("estimate", "low", "high"))}
