"""`CoverageDisplay`: how often intervals hold the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import level_text, spoken
from skuncertain._utils.validation import check_choice, check_level, refuse_if
from skuncertain.display._base import COLOURS, Display, merged, style
from skuncertain.display._text import listed

_MOST_MARKERS = 15  # on a curve of many points


@dataclass(kw_only=True, eq=False, repr=False)
class CoverageDisplay(Display):
    """Coverage of interval methods: curves over one respect, or an image over two.

    Parameters
    ----------
    x : array-like of shape (points,)
        True rates, numbers of rows or anything else.
    coverage : dict
        By name of the method, the coverage at every point; of an image one method, (rows, points).
    level : float
        Nominal level, drawn as a line or in white.
    x_name : str, default="true value"
        What `x` is.
    error : dict or None, default=None
        By name of the method, the standard error of the coverage at every point; None if it is
        exact.
    y : array-like of shape (rows,) or None, default=None
        The other respect, of an image.
    y_name : str, default="y"
        What `y` is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    lines_, errors_, level_line_, legend_ : matplotlib artists
        Of curves: themselves and their error bars, the nominal level, names of the methods.
    image_, colorbar_, marks_ : matplotlib artists
        Of an image: itself, its scale, and crosses where the coverage is below the scale.

    See Also
    --------
    coverage_study : Measures it.
    credible_interval : Credible intervals.
    confidence_interval : Frequentist and bootstrap intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.display import CoverageDisplay
    >>> from skuncertain.metrics import proportion_posterior
    >>> truth = np.array([0.7, 0.8, 0.9])
    >>> rng = np.random.default_rng(0)
    >>> hits = rng.binomial(30, truth[:, None], size=(3, 500))
    >>> posterior = proportion_posterior(hits, 30 - hits)
    >>> display = CoverageDisplay.from_intervals(
    ...     {"default": posterior.interval()}, truth, x_name="true accuracy"
    ... )
    >>> display.to_frame().round(2)
        method  true accuracy  coverage  error
    0  default            0.7      0.95   0.01
    1  default            0.8      0.94   0.01
    2  default            0.9      0.97   0.01
    """

    x: ArrayLike
    coverage: dict
    level: float
    x_name: str = "true value"
    error: dict | None = None
    y: ArrayLike | None = None
    y_name: str = "y"

    @classmethod
    def from_intervals(
        cls,
        intervals: dict,
        truth: ArrayLike,
        *,
        x: ArrayLike | None = None,
        level: float = 0.95,
        x_name: str | None = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> CoverageDisplay:
        """Count how often simulated intervals hold the truth, and plot it.

        Parameters
        ----------
        intervals : dict
            By name of the method, ``(low, high)``: arrays of shape (points, replications). An
            interval that is NaN does not hold the truth.
        truth : array-like of shape (points,)
            True value at every point.
        x : array-like of shape (points,), default=None
            What to plot against, such as the number of rows; by default the true value.
        level : float, default=0.95
            Nominal level of the intervals.
        x_name : str, default=None
            What `x` is; by default "true value" or "x".
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        CoverageDisplay
            The display, plotted. Error bars are two binomial standard errors.
        """
        level, true = check_level(level), _check_numbers("truth", truth, None)
        refuse_if(
            not hasattr(intervals, "items") or not intervals,
            "intervals",
            f"intervals must be a dict {{name: (low, high)}}, got {type(intervals).__name__}.",
        )
        x_name = ("true value" if x is None else "x") if x_name is None else x_name
        coverage, error = {}, {}
        for method, ends in intervals.items():
            low, high = _check_ends(method, ends, true.size)
            held = ((low <= true[:, None]) & (true[:, None] <= high)).mean(axis=1)
            coverage[method] = held
            error[method] = np.sqrt(held * (1 - held) / low.shape[1])
        data = {
            "x": true if x is None else _check_numbers("x", x, true.size),
            "coverage": coverage,
            "error": error,
            "level": level,
            "x_name": x_name,
        }
        return cls._shown(data, ax, name, plot_kwargs)

    @classmethod
    def from_study(
        cls,
        study: Any,
        *,
        method: str | None = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> CoverageDisplay:
        """Plot the result of a coverage study.

        Parameters
        ----------
        study : CoverageStudy
            Its points may differ in one respect (the true value, the number of rows or a parameter
            of the truth), which gives curves, or in two, such as precision and recall.
        method : str, default=None
            Only this method; needed for an image if the study has several.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        CoverageDisplay
            The display, plotted. Error bars are two standard errors; an exact study has none.
        """
        refuse_if(
            not hasattr(study, "points") or not hasattr(study, "coverage_error"),
            "study",
            f"study must be a CoverageStudy, got {type(study).__name__}. "
            "Intervals of your own go into from_intervals.",
        )
        methods = study.methods
        if method is not None:
            methods = (check_choice("method", method, study.methods),)
        varied = [key for key, values in study.points.items() if np.unique(values).size > 1]
        data = _of_curves(study, varied) if len(varied) < 2 else _of_image(study, varied, methods)
        shape = study.truth.size if len(varied) < 2 else (len(data["y"]), len(data["x"]))
        for what, rows in (("coverage", study.coverage), ("error", study.coverage_error)):
            kept = zip(study.methods, rows, strict=True)
            data[what] = {m: row.reshape(shape) for m, row in kept if m in methods}
        if study.exact:
            data["error"] = None
        return cls._shown(data | {"level": study.level}, ax, name, plot_kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        xscale: str = "linear",
        line_kwargs: dict | None = None,
        error_kwargs: dict | None = None,
        level_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
        image_kwargs: dict | None = None,
    ) -> CoverageDisplay:
        """Draw the coverage.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Title.
        xscale : {"linear", "log", "logit"}, default="linear"
            Scale of the x axis.
        line_kwargs, error_kwargs, level_kwargs, legend_kwargs : dict, default=None
            Options for the curves, the error bars, the line of the nominal level and the legend.
        image_kwargs : dict, default=None
            Options for the image, as of ``Axes.pcolormesh``.

        Returns
        -------
        CoverageDisplay
            The display itself. In an image white is the nominal level, less of it is red and more
            is blue; what cannot be, such as a pair that needs more negatives than there are, is
            hatched.
        """
        check_choice("xscale", xscale, ("linear", "log", "logit"))
        of_curves = {"line_kwargs": line_kwargs, "error_kwargs": error_kwargs}
        of_curves |= {"level_kwargs": level_kwargs, "legend_kwargs": legend_kwargs}
        others = {"image_kwargs": image_kwargs} if self.y is None else of_curves
        for option, value in others.items():
            shown = "curves" if self.y is None else "an image"
            refuse_if(
                value is not None, option, f"{option} does not go with {shown}: leave it out."
            )
        if self.y is not None:
            return self._plot_image(ax, name, xscale, image_kwargs)
        return self._plot_curves(ax, name, xscale, **of_curves)

    def _plot_curves(
        self, ax, name, xscale, line_kwargs, error_kwargs, level_kwargs, legend_kwargs
    ):
        x = _check_numbers("x", self.x, None)
        order = np.argsort(x, kind="stable")
        ax = self._start(ax, 3.5)
        ax.set_xscale(xscale)
        ax.grid(axis="y", color="0.9")
        level = merged("level_kwargs", {"color": "0.3", "linewidth": 1.0}, level_kwargs)
        self.level_line_ = ax.axhline(self.level, **level)
        many = len(self.coverage) > len(COLOURS)
        self.lines_, self.errors_ = [], []
        for k, (method, values) in enumerate(self.coverage.items()):
            values = _check_numbers(f"coverage[{method!r}]", values, x.size)[order]
            colour, marker, line = style(k)
            look = {
                "color": colour,
                "linestyle": line,
                "marker": marker,
                "markevery": max(1, -(-x.size // _MOST_MARKERS)),
                "markersize": 3.5 if many else 5.5,
                "linewidth": 0.8 if many else 1.4,
            }
            options = merged("line_kwargs", look, line_kwargs)
            self.lines_ += ax.plot(x[order], values, **options)
            if self.error is not None:
                half = 2 * _check_numbers(f"error[{method!r}]", self.error[method], x.size)[order]
                thin = {"linewidth": 0.6, "alpha": 0.5} if many else {"linewidth": 1, "alpha": 0.8}
                bars = merged("error_kwargs", {"colors": options["color"], **thin}, error_kwargs)
                ends = np.clip([values - half, values + half], 0.0, 1.0)
                self.errors_.append(ax.vlines(x[order], *ends, **bars))
        note = "; bars: 2 standard errors" if self.error is not None else ""
        return self._finish(
            xlabel=f"{self.x_name}{note}",
            ylabel=f"coverage of {level_text(self.level)} intervals",
            title=name,
            legend=(
                [*self.lines_, self.level_line_],
                [*map(str, self.coverage), f"nominal {level_text(self.level)}"],
            ),
            legend_kwargs=legend_kwargs,
        )

    def _plot_image(self, ax, name, xscale, image_kwargs):
        x, y = (_check_numbers(what, getattr(self, what), None) for what in ("x", "y"))
        (method, values), *more = self.coverage.items()
        values = np.asarray(values, dtype=float)
        refuse_if(
            bool(more) or values.shape != (y.size, x.size),
            "coverage",
            f"coverage must hold one method with an array of shape ({y.size}, {x.size}).",
        )
        ax = self._start(ax, 4.4, 5.8)
        ax.set_xscale(xscale)
        ax.set_axisbelow(False)
        ax.patch.set(facecolor="0.93", hatch="////", edgecolor="0.8")
        columns, rows = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
        values = np.ma.masked_invalid(values[np.ix_(rows, columns)])
        scale = {"cmap": "RdBu", "vmin": 2 * self.level - 1, "vmax": 1.0, "shading": "nearest"}
        scale = merged("image_kwargs", scale, image_kwargs)
        self.image_ = ax.pcolormesh(x[columns], y[rows], values, **scale)
        below = (values < self.image_.norm.vmin).filled(False)
        at = np.argwhere(below)
        look = {"color": "white", "marker": "x", "linestyle": "none", "markersize": 3.5}
        (self.marks_,) = ax.plot(x[columns][at[:, 1]], y[rows][at[:, 0]], **look)
        extend = "min" if below.any() else "neither"
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, extend=extend)
        self.colorbar_.set_label(f"coverage of {level_text(self.level)} intervals, {method}")
        notes = ["hatched: not possible"] if values.mask.any() else []
        notes += [f"x: below {self.image_.norm.vmin:.3g}"] if below.any() else []
        xlabel = "; ".join([self.x_name, *notes])
        return self._finish(xlabel=xlabel, ylabel=self.y_name, title=name)

    def _columns(self):
        number = len(self.coverage)
        at = {self.x_name: np.asarray(self.x)}
        if self.y is not None:
            y, x = np.meshgrid(self.y, self.x, indexing="ij")
            at = {self.y_name: y.ravel(), self.x_name: x.ravel()}
        points = at[self.x_name].size
        columns = {"method": np.repeat(np.array(list(self.coverage), dtype=object), points)}
        columns |= {key: np.tile(values, number) for key, values in at.items()}
        columns["coverage"] = np.concatenate([np.ravel(one) for one in self.coverage.values()])
        if self.error is not None:
            columns["error"] = np.concatenate([np.ravel(self.error[key]) for key in self.coverage])
        return columns

    def _sentences(self):
        x, where = np.asarray(self.x), []
        for key, ends in ((self.y_name, self.y), (self.x_name, self.x)):
            if ends is not None:
                where.append(f"{key} from {np.min(ends):g} to {np.max(ends):g}")
        over = "against" if self.y is None else "over"
        where = f"{over} {' and '.join(where)}"
        yield f"Coverage of nominal {level_text(self.level)} intervals {where}."
        texts = []
        for method, values in self.coverage.items():
            values = np.asarray(values)
            if np.isnan(values).all():
                texts.append(f"{method}: no point is possible")
                continue
            place = np.unravel_index(np.nanargmin(values), values.shape)
            at = f"{x[place[-1]]:g}"
            if self.y is not None:
                at = f"{self.y_name} {np.asarray(self.y)[place[0]]:g} and {self.x_name} {at}"
            texts.append(
                f"{method}: mean {spoken(np.nanmean(values))}, lowest {spoken(np.nanmin(values))} "
                f"at {at}, highest {spoken(np.nanmax(values))}"
            )
        yield listed(texts)
        if self.y is not None and np.isnan(values).any():
            yield f"{np.isnan(values).sum()} of {values.size} points are not possible."


def _axis_name(study, key):
    """What stands beside an axis."""
    found = {"p": f"true {study.metric}", "n": "number of rows"}.get(key, key)
    return found.replace("_", " ")


def _of_curves(study, varied):
    """Axis of a study whose points differ in one respect at most."""
    key = varied[0] if varied else next(iter(study.points))
    return {"x": study.points[key].ravel(), "x_name": _axis_name(study, key)}


def _along(values, axis):
    """What varies along one axis only, as a vector."""
    return np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)[:, 0]


def _of_image(study, varied, methods):
    """Axes of a study whose points differ in two respects."""
    axes = {}
    for key in varied:
        values = study.points[key]
        found = [k for k in range(values.ndim) if np.any(values != values.take([0], axis=k))]
        if len(found) == 1:
            axes[found[0]] = (key, _along(values, found[0]))
    refuse_if(
        len(varied) > 2 or len(axes) != 2,
        "study",
        f"the points differ in {' and '.join(varied)}, but a picture shows one of them as curves, "
        "or two as an image if each has an axis of its own, such as precision[:, None] and recall. "
        "Study a part of the grid.",
    )
    refuse_if(
        len(methods) > 1,
        "method",
        f"an image shows one method, and the study has {', '.join(methods)}: choose by method=.",
    )
    (y_key, y), (x_key, x) = (axes[k] for k in sorted(axes))
    names = {"x_name": _axis_name(study, x_key), "y_name": _axis_name(study, y_key)}
    return {"x": x, "y": y, **names}


def _check_numbers(what, values, size):
    """Return a vector of finite numbers."""
    array, parameter = np.asarray(values), what.partition("[")[0]
    refuse_if(
        array.dtype.kind not in "iuf" or array.ndim != 1 or array.size == 0,
        parameter,
        f"{what} must be a vector of numbers, got shape {array.shape}, {array.dtype}.",
    )
    refuse_if(
        size is not None and array.size != size,
        parameter,
        f"{what} must have one value per point, {size}, got {array.size}.",
    )
    refuse_if(not np.isfinite(array).all(), parameter, f"{what} must hold finite numbers only.")
    return array.astype(float)


def _check_ends(method, ends, points):
    """Return both ends of the intervals of a method as arrays (points, replications)."""
    refuse_if(
        not hasattr(ends, "__len__") or len(ends) != 2,
        "intervals",
        f"intervals[{method!r}] must be a pair (low, high), got {{value}}.",
        value=ends,
    )
    low, high = (np.asarray(end, dtype=float) for end in ends)
    refuse_if(
        low.shape != high.shape or low.ndim != 2 or len(low) != points or not low.size,
        "intervals",
        f"intervals[{method!r}] must be two arrays of shape ({points}, replications), one row "
        f"per entry of truth, got {low.shape} and {high.shape}.",
    )
    return low, high
