"""`JointDisplay`: two metrics together, as a cloud of draws with a credible region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from skuncertain._reporting.text import level_text, spoken
from skuncertain._utils.typing import LabelLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_bool,
    check_integer,
    check_level,
    refuse_if,
    resolve_seed,
)
from skuncertain.display._base import COLOURS, Display, draw_iso_f1, merged, style
from skuncertain.display._inputs import FromCounts, as_named, with_own
from skuncertain.display._text import listed, visible_label
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import count_metric, named_metrics
from skuncertain.posteriors._about import circumstances
from skuncertain.posteriors._joint import JointPosterior
from skuncertain.posteriors._question import shared_question

_OUTLINE, _KNOTS = 361, 33  # points of a region, and of the quantile functions


@dataclass(kw_only=True, eq=False, repr=False)
class JointDisplay(FromCounts, Display):
    """Cloud of joint draws of two metrics, with the region that holds a share of them.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    draws : dict
        By name (None for a single one), the draws as an array of shape (2, n): x and y.
    region : dict
        By name, the outline of the region as an array of shape (2, points).
    inside : dict
        By name, whether every draw lies in the region.
    metrics : tuple of two str, default=("x", "y")
        Metrics on the x and y axes.
    observed : dict or None, default=None
        By name, the observed values ``(x, y)``.
    level : float, default=0.95
        Share of the draws within the region.
    n : int, default=None
        Number of rows of the new test sets that the draws are of; None for a posterior.
    population : str, default=""
        Which population all draws are of, such as "prevalence 0.01"; by default that of the data.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    points_, lines_, markers_ : list of matplotlib Line2D
        Draws, outlines of the regions and observed points, one entry per model.
    iso_lines_ : list of matplotlib Line2D
        Lines of equal F1.
    legend_ : matplotlib Legend
        With names.

    See Also
    --------
    ConfusionCounts.joint_posterior : The draws.
    PosteriorDisplay : One metric.

    Notes
    -----
    The region is an ellipse in the Mahalanobis distance of the normal scores of the draws, mapped
    back by their quantiles. It holds exactly the share `level` of the draws, never leaves the range
    of a metric, and does not depend on the scale on which a metric is measured.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.display import JointDisplay
    >>> counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> display = JointDisplay.from_counts(counts, random_state=0)
    >>> float(display.to_frame()["inside"].mean())
    0.95
    """

    draws: dict
    region: dict
    inside: dict
    metrics: tuple[str, str] = ("x", "y")
    observed: dict | None = None
    level: float = 0.95
    n: int | None = None
    population: str = ""

    @classmethod
    def from_posterior(
        cls,
        joint: Any,
        *,
        metrics: MetricsLike | None = None,
        observed: Any = None,
        level: float = 0.95,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> JointDisplay:
        """Plot joint draws.

        Parameters
        ----------
        joint : JointPosterior or dict
            What :meth:`ConfusionCounts.joint_posterior` returned, or several by name.
        metrics : sequence of two str, default=None
            Metrics for the x and the y axis; by default the two that were drawn.
        observed : pair of float or dict, default=None
            Observed values, x and y; by name if there are several.
        level : float, default=0.95
            Share of the draws within the region.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        JointDisplay
            The display, plotted.
        """
        level, found = check_level(level), as_named(joint, JointPosterior, "joint")
        chosen = next(iter(found.values())).metrics if metrics is None else metrics
        chosen = [_name_and_range(metric)[0] for metric in _two_metrics(chosen)]
        sizes = {one.n for one in found.values()}
        refuse_if(
            len(sizes) > 1,
            "joint",
            "joint must hold posteriors only, or draws of new test sets of one size only.",
        )
        single = observed is not None and not hasattr(observed, "items")
        observed = {None: observed} if single else observed or {}
        common, own = shared_question(one.about for one in found.values())
        told = dict(zip(found, with_own(list(found), own), strict=True))
        draws = {told[key]: _pick(one, chosen) for key, one in found.items()}
        regions = {key: credible_region(drawn, level) for key, drawn in draws.items()}
        data = {
            "draws": draws,
            "region": {key: outline for key, (outline, _) in regions.items()},
            "inside": {key: inside for key, (_, inside) in regions.items()},
            "metrics": tuple(chosen),
            "observed": {told.get(key, key): seen for key, seen in observed.items()} or None,
            "level": level,
            "n": sizes.pop(),
            "population": circumstances(common).get("prevalence", ""),
        }
        return cls._shown(data, ax, name, plot_kwargs)

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        metrics: MetricsLike | None = None,
        level: float = 0.95,
        prior: PriorLike = "auto",
        pos_label: LabelLike = None,
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> JointDisplay:
        """Plot two metrics of one or several models.

        Parameters
        ----------
        counts : ConfusionCounts or dict
            Counts of one model, or of several by name.
        metrics : sequence of two str, Metric or callable, default=None
            Metrics for the x and the y axis; by default recall and precision, without a
            positive class their macro averages.
        level : float, default=0.95
            Share of the draws within the region.
        prior, pos_label, n_draws, random_state : object
            See :meth:`ConfusionCounts.joint_posterior`.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        JointDisplay
            The display, plotted.
        """
        models, seed = as_named(counts, ConfusionCounts, "counts"), resolve_seed(random_state)
        first = next(iter(models.values()))
        if metrics is None:
            known = first.positive_index("accuracy", pos_label) is not None
            suffix = "" if known else "_macro"
            metrics = (f"recall{suffix}", f"precision{suffix}")
        chosen = [metric for _, metric in named_metrics(_two_metrics(metrics))]
        options = {"prior": prior, "pos_label": pos_label, "n_draws": n_draws}
        joints = {
            key: one.joint_posterior(chosen, random_state=seed, **options)
            for key, one in models.items()
        }
        observed = {
            key: tuple(one.score(metric, pos_label=pos_label) for metric in chosen)
            for key, one in models.items()
        }
        return cls.from_posterior(
            joints, metrics=chosen, observed=observed, level=level, ax=ax, name=name, **plot_kwargs
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        iso_f1: bool = False,
        max_points: int = 2000,
        point_kwargs: dict | None = None,
        line_kwargs: dict | None = None,
        marker_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> JointDisplay:
        """Draw cloud and region.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Label of a single model, title of several.
        iso_f1 : bool, default=False
            Whether to draw lines of equal F1; for precision and recall.
        max_points : int, default=2000
            Draws to show at most, shared by all models; the regions rest on all draws.
        point_kwargs, line_kwargs, marker_kwargs, legend_kwargs : dict, default=None
            Options for the draws, the regions, the observed points and the legend.

        Returns
        -------
        JointDisplay
            The display itself.
        """
        most = max(check_integer("max_points", max_points, low=1) // len(self.draws), 1)
        refuse_if(
            check_bool("iso_f1", iso_f1) and set(self.metrics) != {"precision", "recall"},
            "iso_f1",
            f"iso_f1 needs precision and recall, got {list(self.metrics)}.",
        )
        ax = self._start(ax, 4.2, 5.2)
        alone = len(self.draws) == 1 and name is not None
        before = len(ax.get_legend_handles_labels()[1])  # models of an earlier display
        self.points_: list = []
        self.lines_, self.markers_ = [], []
        for k, (key, draws) in enumerate(self.draws.items()):
            text = (
                name if alone else f"{level_text(self.level)} region" if key is None else str(key)
            )
            self._draw(
                key, before + k, draws[:, :most], text, point_kwargs, line_kwargs, marker_kwargs
            )
        self._limit(ax, before)
        self.iso_lines_ = draw_iso_f1(ax) if iso_f1 else []
        return self._finish(
            xlabel=f"{self.metrics[0]}; outline: {level_text(self.level)} {self._kind()} region"
            + ("" if self.n is None else f", new test sets of {self.n} rows")
            + (f", {self.population}" if self.population else ""),
            ylabel=self.metrics[1],
            title=None if alone else name,
            legend=ax.get_legend_handles_labels(),
            legend_kwargs=legend_kwargs,
        )

    def _draw(self, key, look, draws, text, point_kwargs, line_kwargs, marker_kwargs):
        ax, (colour, marker, line) = self.ax_, style(look)
        points = {
            "color": colour,
            "marker": ".",
            "linestyle": "none",
            "markersize": 3.0,
            "markeredgewidth": 0.0,
            "alpha": 0.3,
            "zorder": 1.5,
        }
        self.points_ += ax.plot(*draws, **merged("point_kwargs", points, point_kwargs))
        many = len(self.draws) > len(COLOURS)
        outline = {
            "color": colour,
            "linestyle": line,
            "linewidth": 1.0 if many else 1.8,
            "label": visible_label(text),
        }
        look = {"marker": marker, "markersize": 6.0 if many else 8.0, "markeredgecolor": "white"}
        observed = (self.observed or {}).get(key)
        if observed is not None:
            point = {"color": colour, "linestyle": "none", "clip_on": False, "zorder": 4, **look}
            self.markers_ += ax.plot(
                *([value] for value in observed), **merged("marker_kwargs", point, marker_kwargs)
            )
            # For the legend; there is no marker on the outline itself.
            outline |= {**look, "markevery": []}
        self.lines_ += ax.plot(*self.region[key], **merged("line_kwargs", outline, line_kwargs))

    def _limit(self, ax, before):
        """Axes that hold regions, observed points and nearly all draws."""
        for k, setter in enumerate((ax.set_xlim, ax.set_ylim)):
            values = [region[k] for region in self.region.values()]
            values += [np.nanquantile(draws[k], [0.005, 0.995]) for draws in self.draws.values()]
            values += [[point[k]] for point in (self.observed or {}).values()]
            values += [(ax.get_xlim, ax.get_ylim)[k]()] if before else []
            values = np.concatenate([np.ravel(part) for part in values])
            low, high = values[np.isfinite(values)].min(), values[np.isfinite(values)].max()
            room = 0.05 * (high - low) or 0.05
            _, (bottom, top) = _name_and_range(self.metrics[k])
            setter(max(low - room, bottom - 0.3 * room), min(high + room, top + 0.3 * room))

    def _kind(self):
        return "credible" if self.n is None else "predictive"

    def _columns(self):
        sizes = [draws.shape[1] for draws in self.draws.values()]
        names = np.repeat(np.array(list(self.draws), dtype=object), sizes)
        table = np.concatenate(list(self.draws.values()), axis=1)
        inside = np.concatenate(list(self.inside.values()))
        return {"name": names, **dict(zip(self.metrics, table, strict=True)), "inside": inside}

    def _sentences(self):
        x, y = self.metrics
        of = "posterior" if self.n is None else f"predictive distribution, n = {self.n},"
        at = f" at {self.population}" if self.population else ""
        yield f"Joint {of} of {x} and {y}{at} with the region that holds {level_text(self.level)}."
        texts = []
        for key, outline in self.region.items():
            text = "" if key is None else f"{key}: "
            if key in (self.observed or {}):
                seen = self.observed[key]
                text += f"observed {x} {spoken(seen[0])}, {y} {spoken(seen[1])}; "
            ends = [f"{spoken(part.min())} to {spoken(part.max())}" for part in np.asarray(outline)]
            texts.append(f"{text}region from {x} {ends[0]} and {y} {ends[1]}")
        yield listed(texts)


def credible_region(draws, level):
    """Outline (2, points) of the region that holds `level` of the draws, and which are inside."""
    known = ~np.isnan(draws).any(axis=0)
    refuse_if(
        not known.any(),
        "joint",
        "joint must hold draws that are defined for both metrics, got only NaN.",
    )
    values = draws[:, known]
    scores = ndtri((rankdata(values, axis=1) - 0.5) / values.shape[1])
    spread, axes = np.linalg.eigh(np.cov(scores) if known.sum() > 1 else np.zeros((2, 2)))
    scale = np.sqrt(np.where(spread > 1e-9, spread, 0.0))  # 0: the metrics depend on each other
    along = np.divide(axes.T @ scores, scale[:, None], where=scale[:, None] > 0, out=0 * scores)
    distance = np.square(along).sum(axis=0)
    cut = np.sort(distance)[int(np.ceil(level * distance.size - 1e-9)) - 1]
    angle = np.linspace(0, 2 * np.pi, _OUTLINE)
    circle = np.sqrt(cut) * scale[:, None] * np.stack([np.cos(angle), np.sin(angle)])
    inside = np.zeros(known.size, dtype=bool)
    inside[known] = distance <= cut
    return np.stack([_back(z, v) for z, v in zip(axes @ circle, values, strict=True)]), inside


def _back(z, values):
    """Quantiles of the draws at normal scores, along a smooth curve through some of them."""
    knots = np.linspace(-4.0, 4.0, _KNOTS)
    finite = np.nan_to_num(values, posinf=values[np.isfinite(values)].max(initial=0.0))
    at = np.quantile(finite, ndtr(knots))
    return PchipInterpolator(knots, at)(np.clip(z, knots[0], knots[-1]))


def _two_metrics(metrics):
    refuse_if(
        isinstance(metrics, str) or not hasattr(metrics, "__len__") or len(metrics) != 2,
        "metrics",
        f"metrics must name two metrics, for the x and the y axis, got {metrics!r}.",
    )
    return tuple(metrics)


def _name_and_range(metric):
    """Name of a metric as joint draws know it, and its range; users' own are in no registry."""
    try:
        found = count_metric(metric)
    except ValueError:
        return metric, (-np.inf, np.inf)
    return found.name, found.range


def _pick(joint, names):
    refuse_if(
        joint.draws.ndim > 2,
        "joint",
        f"joint must be of a single matrix, got a stack of shape {joint.draws.shape[1:-1]}: "
        "index the counts first.",
    )
    for name in names:
        refuse_if(
            name not in joint.metrics,
            "metrics",
            f"metrics must be among {list(joint.metrics)}, got {name!r}.",
        )
    return np.stack([joint.draws[joint.metrics.index(name)] for name in names])
