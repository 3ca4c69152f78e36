"""What all displays share: figures, room for texts, styles that survive printing in grey."""

from __future__ import annotations

import inspect
import io
from pathlib import Path
from typing import Any

import numpy as np

from skuncertain._utils.files import write_file
from skuncertain._utils.validation import data_frame, import_optional, nearest_name, refuse_if
from skuncertain.display._text import characters, fit, visible_label

# Okabe and Ito's colours can be told apart by colour-blind readers; the markers, lines and hatches
# beside them by readers of a grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))
HATCHES = ("///", "\\\\\\", "...", "xxx", "|||", "---", "ooo")

_ALIASES = {
    "c": "color",
    "ls": "linestyle",
    "lw": "linewidth",
    "ms": "markersize",
    "mec": "markeredgecolor",
    "mew": "markeredgewidth",
    "mfc": "markerfacecolor",
    "ec": "edgecolor",
    "fc": "facecolor",
    "ncol": "ncols",
}
_METADATA = {
    "png": ("Title", "Description"),
    "svg": ("Title", "Description"),
    "svgz": ("Title", "Description"),
    "pdf": ("Title", "Subject"),
}


_ISO_F1 = (0.2, 0.4, 0.6, 0.8, 0.9, 0.95)
_LONGEST = 40  # characters of a name beside a row


class Display:
    """What all displays share; not constructed by users."""

    # Set by `plot`; not every display has all of them.
    ax_: Any
    figure_: Any
    legend_: Any
    lines_: list
    fills_: list
    markers_: list

    def plot(self, ax: Any = None, *, name: str | None = None) -> Display:
        """Draw it; every display has options of its own."""
        raise NotImplementedError

    def _columns(self):
        """Columns of the tidy table."""

    def _sentences(self):
        """What the plot shows, in words."""

    def to_frame(self) -> Any:
        """Give the numbers of the plot as a tidy table.

        Returns
        -------
        pandas.DataFrame
            One row per mark of the plot.
        """
        return data_frame(self, self._columns())

    def alt_text(self) -> str:
        """Describe the plot for readers who cannot see it.

        Returns
        -------
        str
            One paragraph with the numbers, shortened where there are many.
        """
        return " ".join(" ".join(self._sentences()).split())

    def save(self, path: Any, **kwargs: Any) -> None:
        """Write the figure to a file that carries the text of `alt_text`.

        Parameters
        ----------
        path : str, path or file object
            Where to. PNG, SVG and PDF files hold the text in their metadata. A file is written
            whole or not at all.
        **kwargs : dict
            Arguments of ``Figure.savefig``.
        """
        if not hasattr(self, "figure_"):
            self.plot()
        figure = self.figure_.figure  # that of a subfigure, too
        is_file = hasattr(path, "write")
        known = kwargs.get("format") or Path(str(getattr(path, "name", path))).suffix[1:]
        if not known and not is_file:  # as matplotlib does
            known = figure.canvas.get_default_filetype()
            path = f"{path}.{known}"
        keys = _METADATA.get(str(known).lower())
        if keys is not None:
            title = self.ax_.get_title().replace("\\$", "$").replace("\n", " ")
            texts = zip(keys, (title or type(self).__name__, self.alt_text()), strict=True)
            kwargs["metadata"] = dict(texts) | (kwargs.get("metadata") or {})
        buffer = path if is_file else io.BytesIO()
        figure.savefig(buffer, **kwargs if is_file else kwargs | {"format": known})
        if not is_file:
            write_file(path, buffer.getvalue())

    @classmethod
    def _check_options(cls, options):
        """Refuse options that `plot` does not know, before anything long is computed."""
        known = [name for name in inspect.signature(cls.plot).parameters if name != "self"]
        for name in options:
            if name not in known:
                makers = [getattr(cls, maker) for maker in dir(cls) if maker.startswith("from_")]
                near = {*known, *(p for m in makers for p in inspect.signature(m).parameters)}
                hint = nearest_name(name, sorted(near - {name, "options", "plot_kwargs"}))
                raise TypeError(
                    f"{cls.__name__} has no option {name!r} here.{hint} "
                    f"The options of its plot are {', '.join(known)}."
                )
        import_optional("matplotlib.pyplot", "plot", f"{cls.__name__}.plot")

    @classmethod
    def _shown(cls, data, ax, name, options):
        """Make a display of computed data and plot it."""
        cls._check_options(options)
        return cls(**data).plot(ax, name=name, **options)

    def _start(self, ax, height, width=6.4):
        """Set `ax_` and `figure_`: those given, or a figure of its own."""
        pyplot = import_optional("matplotlib.pyplot", "plot", f"{type(self).__name__}.plot")
        self._own = ax is None
        if ax is None:
            _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
        hint = " Index the array of axes." if isinstance(ax, np.ndarray) else ""
        refuse_if(
            not hasattr(ax, "get_window_extent") or not hasattr(ax, "spines"),
            "ax",
            f"ax must be a matplotlib Axes, got {type(ax).__name__}.{hint}",
        )
        self.ax_, self.figure_ = ax, ax.figure
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        return ax

    def _finish(self, *, xlabel="", ylabel="", title=None, legend=None, legend_kwargs=None):
        """Write labels, title and a legend above the axes so that nothing overlaps."""
        ax, given = self.ax_, merged("legend_kwargs", {}, legend_kwargs)
        ax.set(xlabel=fit(xlabel, 60, 3), ylabel=fit(ylabel, 40, 3))
        self._settle()
        width, lift = self._fit_labels(xlabel, ylabel), 0.0
        if legend is not None and legend[0]:
            lift = self._legend_above(width, *legend, given)
            if self._own:  # the legend takes nothing from the axes
                self.figure_.set_figheight(self.figure_.get_figheight() + lift / 72)
        if title is not None:
            room = characters(width, ax.title.get_size())
            ax.set_title(fit(title, room, 3), pad=6 + lift)
        self._settle()
        self._fit_labels(xlabel, ylabel)  # legend and title have taken some of the room
        self._settle()
        return self

    def _fit_labels(self, xlabel, ylabel):
        """Break the labels to the size of the axes; returns their width in points."""
        ax = self.ax_
        width, height = extent_in_points(ax)
        ax.set_xlabel(fit(xlabel, characters(width, ax.xaxis.label.get_size()), 3))
        ax.set_ylabel(fit(ylabel, characters(height, ax.yaxis.label.get_size()), 3))
        return width

    def _settle(self):
        """Give labels the room that they need."""
        if self._own:
            self.figure_.draw_without_rendering()  # lays the figure out
        else:
            make_room(self.ax_)

    def _legend_above(self, width, handles, labels, given):
        """Legend with as many columns as fit; returns its height in points."""
        ax, dpi = self.ax_, self.figure_.dpi
        where = {} if "loc" in given else {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        usual = {"frameon": False, "borderaxespad": 0.2, "columnspacing": 1.2, **where}
        box = ax.get_window_extent()
        most = 0.45 * (_cell(ax, box)[3] - box.y0)  # of given axes; own figures grow
        fixed = self._own or not where or given.keys() & {"fontsize", "prop"}
        for size in (None,) if fixed else (None, 7.0, 5.5, 4.5):
            more = {} if size is None else {"fontsize": size, "handlelength": 2.4}
            self._legend_of_width(width, handles, labels, size, usual | more | given)
            box = self.legend_.get_window_extent()
            if box.height <= most:
                break
        return box.height * 72 / dpi if where else 0.0

    def _legend_of_width(self, width, handles, labels, size, options):
        """Set `legend_` with as many columns as fit."""
        room = characters(width, size or self.ax_.xaxis.label.get_size()) - 6
        most = min(len(handles), 5 if size is None else 8)
        tries = [(ncols, 1.0) for ncols in range(most, 0, -1)]
        for ncols, share in [*tries, (1, 0.85), (1, 0.7), (1, 0.5)]:
            texts = [visible_label(fit(label, share * room, 3)) for label in labels]
            self.legend_ = self.ax_.legend(handles, texts, **({"ncols": ncols} | options))
            box = self.legend_.get_window_extent()
            if box.width * 72 / self.figure_.dpi <= width or "ncols" in options:
                break


# --------------------------------------------------------------------------------------------------
# Axes


def extent_in_points(ax):
    """Width and height of the axes."""
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def label_rows(ax, names, selected=None):
    """Write names at rows 0, 1, ... from the top, in a size and a width that fit."""
    ax.set_yticks(np.arange(len(names)), [""] * len(names))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    width, height = extent_in_points(ax)
    row = height / len(names)
    size = min(ax.yaxis.get_ticklabels()[0].get_size(), max(0.8 * row, 4.5))
    lines = int(np.clip(row / (1.25 * size), 1, 3))
    room = min(characters(0.45 * width, size), _LONGEST)
    ax.set_yticks(np.arange(len(names)), [fit(name, room, lines) for name in names], fontsize=size)
    if selected is not None:
        ax.yaxis.get_ticklabels()[selected].set_fontweight("bold")


def width_for(labels):
    """Inches for a figure with these names beside its rows."""
    longest = min(max(len(str(label)) for label in labels), _LONGEST)
    return 6.4 + 0.08 * max(longest - 20, 0)


def rows_to_show(names, most, selected=None, not_considered=0):
    """Indices of the rows to draw, and their labels; nothing is dropped without a word."""
    shown = list(range(min(len(names), most)))
    if selected is not None and selected not in shown:
        shown[-1] = selected
    labels = [f"{names[k]} (selected)" if k == selected else str(names[k]) for k in shown]
    parts = [f"… and {len(names) - len(shown)} more"] if len(names) > len(shown) else []
    parts += [f"{not_considered} not considered"] if not_considered else []
    return shown, [*labels, ", ".join(parts)] if parts else labels


def make_room(ax, pad=3):
    """Shrink axes whose labels would leave the figure or reach a neighbour, as a colorbar does.

    Figures with a layout engine need none of this.
    """
    figure = ax.figure
    if figure.get_layout_engine() is not None:
        return
    box, taken = ax.get_window_extent(), ax.get_tightbbox()
    left, bottom, right, top = _cell(ax, box)
    x0, x1 = max(left + pad - taken.x0, 0.0), max(taken.x1 + pad - right, 0.0)
    y0, y1 = max(bottom + pad - taken.y0, 0.0), max(taken.y1 + pad - top, 0.0)
    # With more than that, nothing would be left of the axes.
    too_much = x0 + x1 > 0.7 * box.width or y0 + y1 > 0.7 * box.height
    if too_much or max(x0, x1, y0, y1) == 0:
        return
    spec, place = ax.get_subplotspec(), ax.get_position(original=True)
    if spec is not None and np.allclose(spec.get_position(figure).bounds, place.bounds):
        # A cell within the cell: a later tight_layout() knows it and keeps the room for the labels.
        inner = spec.subgridspec(
            *(3, 3),
            width_ratios=(x0, box.width - x0 - x1, x1),
            height_ratios=(y1, box.height - y0 - y1, y0),
            wspace=0.0,
            hspace=0.0,
        )
        ax.set_subplotspec(inner[1, 1])
    else:
        corners = [[box.x0 + x0, box.y0 + y0], [box.x1 - x1, box.y1 - y1]]
        (x0, y0), (x1, y1) = figure.transSubfigure.inverted().transform(corners)
        ax.set_position((x0, y0, x1 - x0, y1 - y0))


def _cell(ax, box):
    """Room of the axes, in pixels: up to the middle between it and its neighbours."""
    edge = ax.figure.bbox
    left, bottom, right, top = edge.x0, edge.y0, edge.x1, edge.y1
    for other in [one for one in ax.figure.axes if one is not ax and one.get_visible()]:
        near, taken = other.get_window_extent(), other.get_tightbbox()
        if near.y0 < box.y1 and near.y1 > box.y0:
            if near.x1 <= box.x0:
                left = max(left, taken.x1, 0.5 * (near.x1 + box.x0))
            elif near.x0 >= box.x1:
                right = min(right, taken.x0, 0.5 * (near.x0 + box.x1))
        if near.x0 < box.x1 and near.x1 > box.x0:
            if near.y1 <= box.y0:
                bottom = max(bottom, taken.y1, 0.5 * (near.y1 + box.y0))
            elif near.y0 >= box.y1:
                top = min(top, taken.y0, 0.5 * (near.y0 + box.y1))
    return left, bottom, right, top


def merged(parameter, defaults, given):
    """Options of an artist: the user's over the defaults, short names understood."""
    if given is None:
        return dict(defaults)
    refuse_if(
        not hasattr(given, "items"),
        parameter,
        f"{parameter} must be a dict of matplotlib options, got {given!r}.",
    )
    return {**defaults, **{_ALIASES.get(name, name): value for name, value in given.items()}}


def style(k):
    """Colour, marker and line of the k-th of several; colours with one of them repeat after 42."""
    return COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)], LINES[k % len(LINES)]


def readable_on(colour):
    """Black or white, whichever has more contrast with a colour (WCAG 2, relative luminance)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                        for c in np.asarray(colour, dtype=float)[:3])  # fmt: skip
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"


def set_limits(ax, values, limits=(-np.inf, np.inf)):
    """Let the x axis hold all finite values, with some room but not far beyond the range."""
    values = np.concatenate([np.ravel(array) for array in values])
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return
    low, high = finite.min(), finite.max()
    room = 0.04 * (high - low) or 0.05 * max(abs(low), 0.1)
    ax.set_xlim(max(low - room, limits[0] - room), min(high + room, limits[1] + room))


def draw_intervals(ax, y, ends, k, line_kwargs=None, marker_kwargs=None, room=np.inf, **more):
    """Draw horizontal intervals with their point values, in the k-th style; an arrow has no end.

    `ends` are the point values, the lower and the upper ends. `room` is the distance of two
    intervals in points: where it is small, so are they.
    """
    y, estimate, low, high = (np.atleast_1d(part) for part in (y, *ends))
    colour, marker, _ = style(k)
    left, right = ax.get_xlim()
    size = min(6.5, max(0.95 * room, 2.0))
    thin = {"color": colour, "linewidth": 2.0 * size / 6.5}
    line = merged("line_kwargs", thin | more, line_kwargs)
    lines = ax.hlines(y, np.clip(low, left, right), np.clip(high, left, right), **line)
    point = {"color": colour, "marker": marker, "linestyle": "none", "markersize": size}
    point |= {"markeredgecolor": "white", "markeredgewidth": 0.1 * size, "zorder": 3, **more}
    (points,) = ax.plot(estimate, y, **merged("marker_kwargs", point, marker_kwargs))
    for end, infinite, head in ((left, np.isneginf(low), "<"), (right, np.isposinf(high), ">")):
        if infinite.any():
            at = np.full(infinite.sum(), end)
            ax.plot(at, y[infinite], linestyle="none", marker=head, color=colour, clip_on=False)
    ax.set_xlim(left, right)
    return lines, points


def draw_iso_f1(ax):
    """Draw lines of equal F1 into axes of recall and precision, as far as they are seen."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    lines = []
    for f1 in _ISO_F1:
        x = np.linspace(max(left, f1 / 2 + 1e-6), min(right, 1.0), 400)
        x = x[x > f1 / 2]
        y = f1 * x / (2 * x - f1)
        seen = (y >= bottom) & (y <= min(top, 1.0))
        x, y = x[seen], y[seen]
        # A corner of a line is no guide, and its label would lie on the axes.
        if x.size < 2 or np.ptp(x) / (right - left) + np.ptp(y) / (top - bottom) < 0.2:
            continue
        lines += ax.plot(x, y, color="0.6", linewidth=0.8, linestyle=":", zorder=1)
        ax.annotate(
            f"F1 {f1:g}",
            (x[-1], y[-1]),
            fontsize=8,
            color="0.35",
            ha="right",
            va="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.7},
        )
    return lines
