"""`PosteriorDisplay`: densities with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.density import density_curve, drawn_height
from skuncertain._reporting.text import interval_name, spoken_interval
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_choice,
    check_kind,
    check_level,
    refuse_if,
    resolve_seed,
)
from skuncertain.display._base import (
    HATCHES,
    Display,
    draw_intervals,
    extent_in_points,
    label_rows,
    merged,
    set_limits,
    style,
    width_for,
)
from skuncertain.display._inputs import FromCounts, as_named, with_own
from skuncertain.display._text import listed, visible_label
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._question import shared_question

_MOST_OVERLAID = 5  # more curves than that become rows of their own
_STRIP = 0.075  # of the height, for the interval of every curve


@dataclass(kw_only=True, eq=False, repr=False)
class PosteriorDisplay(FromCounts, Display):
    """Density of a metric, its interval as a filled area, and the point estimate.

    It is usually made by one of the ``from_...`` methods, which compute and plot. Up to five
    posteriors share a base line; of more, each has a row of its own.

    Parameters
    ----------
    names : sequence of str or None
        What the posteriors are called.
    x, density : sequence of ndarray
        Points of every curve. One point of infinite density is a point mass, none an undefined
        posterior.
    estimate, low, high : array-like of shape (posteriors,)
        Point estimates (the observed value or, without one, as of predictive distributions, the
        median) and ends of the intervals.
    level : float
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    metric : str, default=None
        Metric on the axis.
    question : str, default=None
        Metric with class, prevalence and the like, as far as all have them in common; by default
        the metric.
    predictive : bool, default=False
        Whether these are distributions of the metric on new test sets.
    range : tuple of float, default=(-inf, inf)
        Smallest and largest possible value.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    lines_, fills_, markers_ : list of matplotlib artists
        Curves, areas of the intervals and point estimates, one entry per posterior.
    legend_ : matplotlib Legend
        Names and numbers, if there are names and no rows.

    See Also
    --------
    IntervalDisplay : Only the intervals.
    ComparisonDisplay : The difference of two models.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.display import PosteriorDisplay
    >>> counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    >>> display = PosteriorDisplay.from_counts(counts, metric="recall")
    >>> display.low.round(3), display.high
    (array([0.868]), array([1.]))
    """

    names: Any
    x: Any
    density: Any
    estimate: ArrayLike
    low: ArrayLike
    high: ArrayLike
    level: float
    kind: str = "eti"
    metric: str | None = None
    question: str | None = None
    predictive: bool = False
    range: tuple[float, float] = (-np.inf, np.inf)

    @classmethod
    def from_posterior(
        cls,
        posterior: Any,
        *,
        level: float = 0.95,
        kind: str = "eti",
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> PosteriorDisplay:
        """Plot one or several posteriors.

        Parameters
        ----------
        posterior : Posterior or dict
            A single posterior of any family, or several of the same metric by name. Where class,
            prevalence and the like differ, the names say it.
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        PosteriorDisplay
            The display, plotted.
        """
        level, kind = check_level(level), check_kind(kind)
        found = as_named(posterior, Posterior, "posterior")
        metrics = {one.metric for one in found.values()}
        refuse_if(
            len(metrics) > 1,
            "posterior",
            f"posterior must hold one metric, to share an axis, got {sorted(map(str, metrics))}.",
        )
        common, own = shared_question(one.about for one in found.values())
        ends = np.array([one.interval(level, kind) for one in found.values()])
        curves = [density_curve(one, *end) for one, end in zip(found.values(), ends, strict=True)]
        data = {
            "names": with_own(list(found), own),
            "x": [curve[0] for curve in curves],
            "density": [curve[1] for curve in curves],
            "estimate": np.array([_estimate(one) for one in found.values()]),
            "low": ends[:, 0],
            "high": ends[:, 1],
            "level": level,
            "kind": kind,
            "metric": metrics.pop(),
            "question": common.metric and common.question(),
            "predictive": all(one.about.n_new is not None for one in found.values()),
            "range": next(iter(found.values())).range,
        }
        return cls._shown(data, ax, name, plot_kwargs)

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        metric: MetricLike = "accuracy",
        level: float = 0.95,
        kind: str = "eti",
        prior: PriorLike = "auto",
        pos_label: LabelLike = None,
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> PosteriorDisplay:
        """Plot the posterior of a metric of one or several models.

        Parameters
        ----------
        counts : ConfusionCounts or dict
            Counts of one model, or of several by name.
        metric : str, Metric or callable, default="accuracy"
            See :func:`get_metric`.
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        prior, pos_label, n_draws, random_state : object
            See :meth:`ConfusionCounts.posterior`.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        PosteriorDisplay
            The display, plotted.
        """
        models, seed = as_named(counts, ConfusionCounts, "counts"), resolve_seed(random_state)
        options = {"prior": prior, "pos_label": pos_label, "n_draws": n_draws}
        posteriors = {
            key: one.posterior(metric, random_state=seed, **options) for key, one in models.items()
        }
        return cls.from_posterior(
            posteriors, level=level, kind=kind, ax=ax, name=name, **plot_kwargs
        )

    _takes_scores = True

    @classmethod
    def _from_scores(cls, posteriors, metric=None, **options):
        (posterior,) = posteriors.values()
        return cls.from_posterior(posterior, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        layout: str = "auto",
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        marker_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> PosteriorDisplay:
        """Draw the densities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure. Further displays may be drawn on the same axes.
        name : str, default=None
            Label of a single posterior, title of several.
        layout : {"auto", "overlay", "rows"}, default="auto"
            All curves on one base line, or a row for each. "auto" overlays up to five.
        line_kwargs, fill_kwargs, marker_kwargs, legend_kwargs : dict, default=None
            Options for the curves (and the lines of the intervals), the areas of the intervals, the
            point estimates and the legend.

        Returns
        -------
        PosteriorDisplay
            The display itself.
        """
        check_choice("layout", layout, ("auto", "overlay", "rows"))
        number, alone = len(self.names), len(self.names) == 1 and name is not None
        rows = layout == "rows" or (layout == "auto" and number > _MOST_OVERLAID)
        unnamed = self._asked("posterior")
        labels = [name] if alone else [unnamed if n is None else str(n) for n in self.names]
        texts = [f"{label}: {self._numbers(k)}" for k, label in enumerate(labels)]
        width = width_for(labels) if rows else 6.4
        ax = self._start(ax, 1.2 + 0.5 * number if rows else 3.3, width)
        before = len(ax.get_legend_handles_labels()[1])  # curves of an earlier display
        if not before:
            set_limits(ax, [*self.x, self.estimate, self.low, self.high], self.range)
        top = self._top() or 1.0
        room = 0.3 * extent_in_points(ax)[1] / number if rows else np.inf
        self.lines_, self.fills_, self.markers_ = [], [], []
        for k in np.arange(number):
            base, scale = (k + 0.24, -0.7 / top) if rows else (0.0, 1.0)
            look = before + k * (not rows)
            self._draw(k, look, base, scale, texts[k], line_kwargs, fill_kwargs)
            y = base + 0.13 if rows else -_STRIP * top * (before + k + 0.7)
            self._draw_interval(k, look, y, line_kwargs, marker_kwargs, room)
        if rows:
            label_rows(ax, labels)
            handles = []
        else:
            bottom = -_STRIP * top * (before + number + 0.4)
            ax.set(ylim=(bottom, max(1.06 * top, ax.get_ylim()[1] * before)), yticks=[])
            ax.axhline(0.0, color="0.4", linewidth=0.8)
            handles, labels = ax.get_legend_handles_labels()
        return self._finish(
            xlabel=f"{self._asked('value')}, {interval_name(self.level, self.kind)}",
            ylabel="" if rows else f"{self._kind_of()} density",
            title=None if alone else name,
            legend=(handles, labels),
            legend_kwargs=legend_kwargs,
        )

    def _draw(self, k, look, base, scale, text, line_kwargs, fill_kwargs):
        """Curve and area of the interval of one posterior."""
        x, density = np.asarray(self.x[k]), np.asarray(self.density[k])
        colour, _, line = style(look)
        curve = {"color": colour, "linestyle": line, "linewidth": 1.6, "label": visible_label(text)}
        fill = {
            "facecolor": colour,
            "edgecolor": colour,
            "alpha": 0.22,
            "linewidth": 0.0,
            "hatch": HATCHES[look % len(HATCHES)],
        }
        if x.size == 1:  # a point mass
            x, density = np.repeat(x, 2), np.array([0.0, self._top() or 1.0])
        inside = (x >= self.low[k]) & (x <= self.high[k])
        heights = base + scale * density
        self.lines_ += self.ax_.plot(x, heights, **merged("line_kwargs", curve, line_kwargs))
        fill = merged("fill_kwargs", fill, fill_kwargs)
        self.fills_.append(self.ax_.fill_between(x, base, heights, where=inside, **fill))

    def _draw_interval(self, k, look, y, line_kwargs, marker_kwargs, room):
        ends = [part[k] for part in (self.estimate, self.low, self.high)]
        only = {key: v for key, v in (line_kwargs or {}).items() if key in ("color", "c")}
        drawn = draw_intervals(self.ax_, y, ends, look, only, marker_kwargs, room, clip_on=False)
        self.markers_.append(drawn[1])

    def _top(self):
        """Height of the highest curve, without poles."""
        heights = [
            drawn_height(np.asarray(density), self.level, low, high)
            for density, low, high in zip(self.density, self.low, self.high, strict=True)
        ]
        return max(heights, default=0.0)

    def _asked(self, unknown):
        return self.question or self.metric or unknown

    def _kind_of(self):
        return "predictive" if self.predictive else "posterior"

    def _numbers(self, k):
        if not np.size(self.x[k]):
            return "undefined"
        return spoken_interval(self.estimate[k], self.low[k], self.high[k])

    def _columns(self):
        sizes = [np.size(x) for x in self.x]
        which = np.repeat(np.arange(len(sizes)), sizes)
        x = np.concatenate([np.ravel(x) for x in self.x])
        return {
            "name": [self.names[k] for k in which],
            "x": x,
            "density": np.concatenate([np.ravel(density) for density in self.density]),
            "inside": (x >= np.asarray(self.low)[which]) & (x <= np.asarray(self.high)[which]),
        }

    def _sentences(self):
        of = f" of {self._asked('')}" if self._asked("") else ""
        point = "median" if self.predictive else "point estimate"
        yield f"{self._kind_of().capitalize()} density{of} with {point} and"
        yield f"{interval_name(self.level, self.kind)}."
        shapes = [", a point mass" if np.size(x) == 1 else "" for x in self.x]
        labels = ["" if name is None else f"{name}: " for name in self.names]
        yield listed(f"{a}{self._numbers(k)}{shapes[k]}" for k, a in enumerate(labels))


def _estimate(posterior):
    """Observed value or, where there is none, the median."""
    observed = float(posterior.observed)
    return observed if not np.isnan(observed) else float(posterior.median())
