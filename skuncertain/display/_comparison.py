"""`ComparisonDisplay`: the difference of two models, cut into worse, equivalent and better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.density import density_curve, drawn_height
from skuncertain._reporting.text import interval_name, probability, spoken, spoken_interval
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import check_kind, check_level, refuse_if
from skuncertain.comparison._compare import compare, compare_cv
from skuncertain.comparison._paired import compare_paired
from skuncertain.comparison._result import ComparisonResult
from skuncertain.display._base import COLOURS, Display, draw_intervals, merged, set_limits
from skuncertain.display._text import shorten

# Who is better: a, neither, b. The look belongs to the model, not to the side.
_LONGEST = 24  # characters of a name below the axis
_LOOKS = ((COLOURS[0], "///"), ("0.75", "..."), (COLOURS[1], "\\\\\\"))


@dataclass(kw_only=True, eq=False, repr=False)
class ComparisonDisplay(Display):
    """Density of the difference of two models, with the probability of every verdict.

    It is usually made by one of the ``from_...`` methods, which compute and plot. The areas on both
    sides of the region of practical equivalence, and within it, are the three probabilities.

    Parameters
    ----------
    x, density : ndarray of shape (points,)
        Density of b - a; one point of infinite density if there is no doubt about it.
    p_worse, p_equivalent, p_better : float
        Probabilities that b is worse than a, equivalent and better.
    estimate, low, high : float
        Median of the difference and its interval.
    level : float
        Probability of the interval.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    rope : float, default=0.0
        Half-width of the region of practical equivalence.
    names : tuple of two str, default=("A", "B")
        What a and b are called.
    metric : str, default=None
        Name of the metric.
    greater_is_better : bool, default=True
        Direction of the metric.
    method : str, default=""
        How the two were compared.
    question : str, default=None
        Metric with class, prevalence and the like; by default the metric.
    differs : str, default=None
        In which prior, model or method the two differ.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    line_ : matplotlib Line2D
        The density.
    fills_ : list of matplotlib artists
        The areas from left to right; three, or two without a ROPE.
    interval_, marker_ : matplotlib artists
        Interval and median below the density.
    legend_ : matplotlib Legend
        Verdicts and probabilities.

    See Also
    --------
    ComparisonResult : The numbers.
    RankDisplay : Many models.

    Examples
    --------
    >>> from skuncertain.display import ComparisonDisplay
    >>> a = [0.80, 0.82, 0.79, 0.84, 0.81, 0.83, 0.78, 0.85, 0.80, 0.82]
    >>> b = [0.82, 0.83, 0.80, 0.83, 0.84, 0.85, 0.80, 0.86, 0.83, 0.81]
    >>> display = ComparisonDisplay.from_cross_validation(a, b, rope=0.01, names=("svm", "forest"))
    >>> display.to_frame().round(3)
              area    low   high  probability
    0   svm better   -inf  -0.01        0.003
    1   equivalent  -0.01   0.01        0.325
    2  forest better  0.01    inf        0.672
    """

    x: np.ndarray
    density: np.ndarray
    p_worse: float
    p_equivalent: float
    p_better: float
    estimate: float
    low: float
    high: float
    level: float
    kind: str = "eti"
    rope: float = 0.0
    names: tuple[str, str] = ("A", "B")
    metric: str | None = None
    greater_is_better: bool = True
    method: str = ""
    question: str | None = None
    differs: str | None = None

    @classmethod
    def from_comparison(
        cls,
        result: ComparisonResult,
        *,
        level: float = 0.95,
        kind: str = "eti",
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> ComparisonDisplay:
        """Plot the result of a comparison.

        Parameters
        ----------
        result : ComparisonResult
            What :func:`compare`, :func:`compare_paired` or :func:`compare_cv` returned.
        level : float, default=0.95
            Probability of the interval of the difference.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, plotted.
        """
        level, kind = check_level(level), check_kind(kind)
        refuse_if(
            not isinstance(result, ComparisonResult),
            "result",
            f"result must be a ComparisonResult, got {type(result).__name__}.",
        )
        refuse_if(
            result.difference.shape,
            "result",
            f"result must be a single comparison, got a stack of shape "
            f"{result.difference.shape}: compare one pair at a time to plot it.",
        )
        low, high = result.interval(level, kind)
        x, density = density_curve(result.difference, low, high)
        refuse_if(
            not x.size, "result", "the difference is undefined (NaN): there is nothing to plot."
        )
        fields = ("p_worse", "p_equivalent", "p_better", "rope", "names", "metric", "method")
        more = ("question", "differs", "greater_is_better")
        data = {key: getattr(result, key) for key in (*fields, *more)} | {
            "x": x,
            "density": density,
            "estimate": result.difference.median(),
            "low": low,
            "high": high,
            "level": level,
            "kind": kind,
        }
        return cls._shown(data, ax, name, plot_kwargs)

    @classmethod
    def from_counts(
        cls,
        a: Any,
        b: Any,
        *,
        metric: MetricLike | None = None,
        rope: float = 0.0,
        prior: PriorLike = "auto",
        pos_label: LabelLike = None,
        names: Any = ("A", "B"),
        random_state: RandomStateLike = None,
        **options: Any,
    ) -> ComparisonDisplay:
        """Compare two models that were tested on different rows.

        Parameters
        ----------
        a, b : ConfusionCounts or Posterior
            Counts, or posteriors of the same metric.
        metric, rope, prior, pos_label, names, random_state : object
            See :func:`compare`.
        **options : dict
            Arguments of `from_comparison` and `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, plotted.
        """
        result = compare(
            a,
            b,
            metric=metric,
            rope=rope,
            prior=prior,
            pos_label=pos_label,
            names=names,
            random_state=random_state,
        )
        return cls.from_comparison(result, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        pred_a: ArrayLike,
        pred_b: ArrayLike,
        *,
        metric: MetricLike = "accuracy",
        rope: float = 0.0,
        prior: float = 0.5,
        folds: Any = None,
        estimand: str | None = None,
        labels: Any = None,
        pos_label: LabelLike = None,
        names: Any = ("A", "B"),
        random_state: RandomStateLike = None,
        **options: Any,
    ) -> ComparisonDisplay:
        """Compare two models that predicted the same rows.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        pred_a, pred_b : array-like of shape (n,) or BayesianCrossValidator
            Predicted labels of the two models, or cross-validators; or the scores or probabilities
            that a metric such as "log_loss" needs.
        metric, rope, prior, folds, estimand, labels, pos_label, names, random_state : object
            See :func:`compare_paired`.
        **options : dict
            Arguments of `from_comparison` and `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, plotted.
        """
        result = compare_paired(
            y_true,
            pred_a,
            pred_b,
            metric=metric,
            rope=rope,
            prior=prior,
            folds=folds,
            estimand=estimand,
            labels=labels,
            pos_label=pos_label,
            names=names,
            random_state=random_state,
        )
        return cls.from_comparison(result, **options)

    @classmethod
    def from_cross_validation(
        cls,
        a: Any,
        b: Any,
        *,
        metric: MetricLike | None = None,
        rope: float = 0.0,
        n_train: ArrayLike | None = None,
        n_test: ArrayLike | None = None,
        n_repeats: int = 1,
        names: Any = ("A", "B"),
        **options: Any,
    ) -> ComparisonDisplay:
        """Compare two models by their scores on the same folds.

        Parameters
        ----------
        a, b : array-like of shape (K,), BayesianCrossValidator, CrossValPosterior or dict
            Fold scores, fitted cross-validators, or results of ``cross_validate``.
        metric, rope, n_train, n_test, n_repeats, names : object
            See :func:`compare_cv`.
        **options : dict
            Arguments of `from_comparison` and `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, plotted.
        """
        result = compare_cv(
            a,
            b,
            metric=metric,
            rope=rope,
            n_train=n_train,
            n_test=n_test,
            n_repeats=n_repeats,
            names=names,
        )
        return cls.from_comparison(result, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        marker_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> ComparisonDisplay:
        """Draw the difference.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Title.
        line_kwargs, fill_kwargs, marker_kwargs, legend_kwargs : dict, default=None
            Options for the density, the areas, the median and the legend.

        Returns
        -------
        ComparisonDisplay
            The display itself.
        """
        labels = [f"{text} {probability(p)}" for text, p in self._verdicts()]
        ax = self._start(ax, 3.3)
        x, density = np.asarray(self.x), np.asarray(self.density)
        top = drawn_height(density, self.level, self.low, self.high) or 1.0
        if x.size == 1:  # no doubt: a stem
            x, density = np.repeat(x, 2), np.array([0.0, top])
        edges = [0.0, -1.6 * self.rope, 1.6 * self.rope]
        edges += [-0.05, 0.05] if self.rope == 0 and x[0] == x[-1] else []
        set_limits(ax, [x, self.low, self.high, edges])
        line = {"color": "black", "linewidth": 1.6, "zorder": 2.5}
        (self.line_,) = ax.plot(x, density, **merged("line_kwargs", line, line_kwargs))
        self.fills_ = []
        for left, right, k in self._areas():
            colour, hatch = _LOOKS[k if self.greater_is_better else 2 - k]
            look = {"facecolor": colour, "hatch": hatch, "edgecolor": "0.25", "linewidth": 0.0}
            fill = merged("fill_kwargs", look | {"alpha": 0.55}, fill_kwargs)
            area, height = _within(x, density, left, right)
            self.fills_.append(ax.fill_between(area, 0.0, height, **fill))
        for edge in {0.0, -self.rope, self.rope}:
            ax.axvline(
                edge,
                color="0.3",
                linewidth=0.9,
                linestyle="-" if edge == 0 else "--",
                zorder=1.5,
            )
        self.interval_, self.marker_ = draw_intervals(
            ax, -0.07 * top, (self.estimate, self.low, self.high), 6, None, marker_kwargs
        )
        ax.axhline(0.0, color="0.4", linewidth=0.8)
        ax.set(ylim=(-0.14 * top, 1.06 * top), yticks=[])
        a, b = (shorten(str(name), _LONGEST) for name in self.names)  # the minus must stay
        asked = self.question or self.metric
        of = f"difference in {asked}" if asked else "difference"
        return self._finish(
            xlabel=f"{of}, {b} − {a}, {interval_name(self.level, self.kind)}",
            ylabel="posterior density",
            title=name,
            legend=(self.fills_, labels),
            legend_kwargs=legend_kwargs,
        )

    def _areas(self):
        """Ends of the areas from left to right, and which of the three it is."""
        rope = self.rope
        areas = [(-np.inf, -rope, 0), (-rope, rope, 1), (rope, np.inf, 2)]
        return areas if rope or self.p_equivalent else [areas[0], areas[2]]

    def _verdicts(self):
        """Text and probability of every area."""
        a, b = self.names
        middle = ("equivalent" if self.rope else "equal", self.p_equivalent)
        sides = [(f"{a} better", self.p_worse), (f"{b} better", self.p_better)]
        left, right = sides if self.greater_is_better else sides[::-1]
        return [(left, middle, right)[k] for _, _, k in self._areas()]

    def _columns(self):
        verdicts, areas = self._verdicts(), self._areas()
        return {
            "area": [text for text, _ in verdicts],
            "low": [left for left, _, _ in areas],
            "high": [right for _, right, _ in areas],
            "probability": [p for _, p in verdicts],
        }

    def _sentences(self):
        a, b = self.names
        asked = self.question or self.metric
        of = f" in {asked}" if asked else ""
        rope = f" and a region of practical equivalence of ±{self.rope:g}" if self.rope else ""
        yield f"Posterior density of the difference{of} between {b} and {a}{rope}."
        verdicts = [f"{text} with probability {probability(p)}" for text, p in self._verdicts()]
        yield "; ".join(verdicts) + "."
        if np.size(self.x) == 1:
            yield f"The difference is surely {spoken(self.estimate)}."
        else:
            numbers = spoken_interval(self.estimate, self.low, self.high)
            yield f"{b} − {a} = {numbers}, {interval_name(self.level, self.kind)}."
        if self.method:
            yield f"Compared on {self.method}."
        if self.differs:
            yield f"{self.differs}."


def _within(x, density, left, right):
    """Part of a curve between two ends, the ends among its points."""
    ends = np.array([end for end in (left, right) if x[0] < end < x[-1]])
    points = np.union1d(x[(x >= left) & (x <= right)], ends)
    if x[0] == x[-1]:  # a stem covers no area
        return np.array([]), np.array([])
    return points, np.interp(points, x, density)
