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
    """Coverage of interval methods against the true rate or the number of rows.

    Parameters
    ----------
    x : array-like of shape (points,)
        True rates, numbers of rows or anything else.
    coverage : dict
        By name of the method, the coverage at every point.
    level : float
        Nominal level, drawn as a line.
    x_name : str, default="true value"
        What `x` is.
    error : dict or None, default=None
        By name of the method, the standard error of the coverage at every point; None if it is
        exact.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    lines_, errors_ : list of matplotlib artists
        Curves and error bars, one entry per method.
    level_line_ : matplotlib Line2D
        The nominal level.
    legend_ : matplotlib Legend
        Names of the methods.

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
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> CoverageDisplay:
        """Plot the result of a coverage study.

        Parameters
        ----------
        study : CoverageStudy
            Its points may differ in one respect: the true value, the number of rows or a parameter
            of the truth.
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
        varied = [key for key, values in study.points.items() if np.unique(values).size > 1]
        refuse_if(
            len(varied) > 1,
            "study",
            f"the points differ in {' and '.join(varied)}, but a curve shows one of them. Draw "
            "study.coverage[k] as an image, or study a part of the grid.",
        )
        key = varied[0] if varied else next(iter(study.points))
        x_name = {"p": f"true {study.metric}", "n": "number of rows"}.get(key, key)
        coverage, error = (
            {m: row.ravel() for m, row in zip(study.methods, rows, strict=True)}
            for rows in (study.coverage, study.coverage_error)
        )
        data = {
            "x": study.points[key].ravel(),
            "coverage": coverage,
            "error": None if study.exact else error,
            "level": study.level,
            "x_name": x_name.replace("_", " "),
        }
        return cls._shown(data, ax, name, plot_kwargs)

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

        Returns
        -------
        CoverageDisplay
            The display itself.
        """
        check_choice("xscale", xscale, ("linear", "log", "logit"))
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

    def _columns(self):
        columns = {
            "method": np.repeat(np.array(list(self.coverage), dtype=object), np.size(self.x)),
            self.x_name: np.tile(self.x, len(self.coverage)),
            "coverage": np.concatenate(list(self.coverage.values())),
        }
        if self.error is not None:
            columns["error"] = np.concatenate([self.error[key] for key in self.coverage])
        return columns

    def _sentences(self):
        x = np.asarray(self.x)
        where = f"{self.x_name} from {x.min():g} to {x.max():g}"
        yield f"Coverage of nominal {level_text(self.level)} intervals against {where}."
        yield listed(
            f"{method}: mean {spoken(np.mean(values))}, lowest {spoken(np.min(values))} at "
            f"{x[np.argmin(values)]:g}, highest {spoken(np.max(values))}"
            for method, values in self.coverage.items()
        )


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
