"""Plots of the HTML report: SVG and tables that keep their letters at any width.

Positions are percentages of the width, so a plot fits a phone and a page alike and its text is
never scaled. Colours come from the style sheet; nothing is told by colour alone.
"""

import math
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from skuncertain._reporting.text import (
    cell_text,
    clean,
    number,
    row_name,
    share_cell,
    share_of,
    share_text,
)

_EDGE = 3.0  # per cent of the width that stay free on both sides
_MARKS = (
    ("circle", {"r": "4"}),
    ("rect", {"x": "-3.5", "y": "-3.5", "width": "7", "height": "7"}),
    ("path", {"d": "M0 -5L5 0L0 5L-5 0Z"}),  # a diamond
    ("path", {"d": "M0 -4.5L4.5 4L-4.5 4Z"}),  # a triangle
    ("path", {"d": "M-4 -4L4 4M-4 4L4 -4", "class": "stroke"}),  # a cross
)


def element(tag, *children, cls=None, **attributes):
    """Element with texts and elements in it; what is None is left out."""
    about = attributes if cls is None else {"class": cls, **attributes}
    tree = ElementTree.Element(tag, {name: str(value) for name, value in about.items()})
    for child in children:
        if isinstance(child, ElementTree.Element):
            tree.append(child)
        elif child is not None and len(tree):
            tree[-1].tail = child
        elif child is not None:
            tree.text = child
    return tree


def scroll(table, title):
    """Table that can be moved sideways where it is too wide, with the keyboard as well."""
    about = {"aria-label": clean(title)}
    return element("div", table, cls="scroll", tabindex=0, role="region", **about)


def _svg(height, alt, *children, cls="plot"):
    """Picture with a text for whoever does not see it."""
    about = {"role": "img", "width": "100%", "height": height, "aria-label": alt}
    return element("svg", *children, cls=cls, **about)


# --------------------------------------------------------------------------------------------------
# The scale


@dataclass(frozen=True)
class IntervalScale:
    """Maps values to per cent of the width."""

    low: float
    high: float

    @classmethod
    def of(cls, cells, include=()):
        """Scale that shows all intervals, or None if there is nothing to draw.

        Values beyond [-1, 1] are not drawn beside ones within: a likelihood ratio would squeeze the
        rates into a point.
        """
        values = [
            value
            for cell in cells
            if isinstance(cell, dict)
            for value in (cell.get("low"), cell.get("high"), _point(cell))
        ]
        known = [v for v in [*values, *include] if _finite(v)]
        shown = [v for v in known if -1.0 <= v <= 1.0] or known
        return cls.around(shown) if shown else None

    @classmethod
    def around(cls, values):
        """Scale from the lowest to the highest of some numbers."""
        low, high = min(values), max(values)
        return cls(low, high) if high > low else cls(low - 0.05, high + 0.05)

    def ends(self, cell):
        """Ends of an interval; one that is not known reaches to the end of the scale."""
        low, high = cell["low"], cell["high"]
        return low if _finite(low) else self.low, high if _finite(high) else self.high

    def at(self, value):
        """Per cent from the left, kept inside the picture."""
        share = (value - self.low) / (self.high - self.low)
        return _EDGE + (100 - 2 * _EDGE) * min(max(share, -0.02), 1.02)

    def ticks(self):
        """Round numbers along the axis, and their texts."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return {k * step: number(k * step, digits) for k in range(first, last + 1)}

    def axis(self):
        """Picture of the axis."""
        ticks = self.ticks()
        parts = [_line(self.low, 1, self.high, 1, self, "axis")]
        for value, text in ticks.items():
            about = {"text-anchor": "middle", "x": _percent(self.at(value)), "y": "18"}
            parts += [_line(value, 1, value, 6, self, "axis"), element("text", text, **about)]
        alt = f"axis with marks at {', '.join(ticks.values())}"
        return _svg(22, alt, *parts, cls="plot axis")


def _point(cell):
    """Where the mark of an interval is drawn; one without an estimate has none."""
    return cell.get("value", cell.get("point"))


def _finite(value):
    return isinstance(value, int | float) and math.isfinite(value)


def _percent(value):
    return f"{value:.2f}%"


def _line(low, y1, high, y2, scale, cls):
    x1, x2 = _percent(scale.at(low)), _percent(scale.at(high))
    return element("line", x1=x1, x2=x2, y1=y1, y2=y2, cls=cls)


def _look(k):
    """Class of the curve, bar and mark with number k."""
    return f"mark m{k % len(_MARKS)}"


def _mark(k, x, y):
    """Mark around a point that is given in per cent: a picture in the picture."""
    tag, attributes = _MARKS[k % len(_MARKS)]
    return element(
        "svg", element(tag, **attributes), x=_percent(x), y=y, overflow="visible", cls=_look(k)
    )


def interval_plot(cells, scale, alt, band=None, first=0):
    """Picture of one interval, or of several below each other, with marks from `first` on."""
    step = 22 if len(cells) == 1 else 14
    height = step * len(cells)
    parts = [] if band is None else [_band(band, scale, height, "rope")]
    for k, cell in enumerate(cells):
        if isinstance(cell, dict) and (_finite(cell["low"]) or _finite(cell["high"])):
            y, (low, high) = step * k + step / 2, scale.ends(cell)
            parts.append(_line(low, y, high, y, scale, f"{_look(first + k)} bar"))
            if _finite(_point(cell)):
                parts.append(_mark(first + k, scale.at(_point(cell)), y))
    return _svg(height, alt, *parts)


def _band(ends, scale, height, cls):
    left, right = map(scale.at, ends)
    width = _percent(max(right - left, 0.3))
    return element("rect", x=_percent(left), width=width, y=0, height=height, cls=cls)


def _row(title, picture, *texts):
    """Row of a figure: its name, its picture, and numbers behind it."""
    cells = [element("td", picture, cls="plot"), *(element("td", text) for text in texts)]
    return element("tr", element("th", title, scope="row"), *cells)


def _grid(section, corner, columns, rows, cls):
    """Table with names above and beside; `rows` are pairs of a name and cells."""
    names = (element("th", clean(name), scope="col") for name in columns)
    head = element("thead", element("tr", element("td", corner, cls="corner"), *names))
    body = (element("tr", element("th", clean(n), scope="row"), *cells) for n, cells in rows)
    return scroll(element("table", head, element("tbody", *body), cls=cls), section["title"])


def _with_axis(rows, scale, section, columns=2):
    """Table of pictures with the axis below."""
    empty = [element("td", cls="empty") for _ in range(columns - 1)]
    axis = element("tr", empty[0], element("td", scale.axis(), cls="plot"), *empty[1:])
    return scroll(element("table", *rows, axis, cls="figure"), f"{section['title']}, plot")


def _legend(names):
    entries = []
    for k, name in enumerate(names):
        line = element("line", x1=0, x2=22, y1=7, y2=7, cls=f"{_look(k)} bar")
        mark = element("svg", _mark(k, 0, 7), x=11, overflow="visible")
        sign = element("svg", line, mark, width=22, height=14, **{"aria-hidden": "true"})
        entries.append(element("span", sign, f" {clean(name)}"))
    return element("p", *entries, cls="legend")


# --------------------------------------------------------------------------------------------------
# The figures: each takes a section and draws what its "figure" describes


def methods_figure(section, digits):
    """Every row once, with the intervals of several columns below each other."""
    keys, name = section["figure"]["columns"], section["columns"][0]["key"]
    titles = {spec["key"]: spec["title"] for spec in section["columns"]}
    scale = IntervalScale.of([row.get(key) for row in section["rows"] for key in keys])
    if scale is None:
        return None
    rows, legend = [], [titles[key] for key in keys]
    for row in section["rows"]:
        cells, first = [row.get(key) for key in keys], 0
        texts = [
            f"{titles[key]} {cell_text(cell, digits)}"
            for key, cell in zip(keys, cells, strict=True)
        ]
        alt = f"{row[name]}: {'; '.join(texts)}"
        if row.get("aside"):  # in a column for want of one of its own: so it has its own mark
            cells, first = [cell for cell in cells if cell is not None], len(legend)
            alt = f"{row[name]} {'; '.join(cell_text(cell, digits) for cell in cells)}"
            legend.append(row[name])
        rows.append(_row(clean(row[name]), interval_plot(cells, scale, clean(alt), first=first)))
    return element("div", _with_axis(rows, scale, section), _legend(legend))


def folds_figure(section, digits):
    """Fold values as dots over the interval."""
    entries = section["figure"]["entries"]
    values = [v for entry in entries for v in entry["values"]]
    scale = IntervalScale.of([entry["interval"] for entry in entries], values)
    if scale is None:
        return None
    rows = []
    for entry in entries:
        known = [v for v in entry["values"] if _finite(v)]
        undefined = len(entry["values"]) - len(known)
        text = f"{number(min(known), 3)} to {number(max(known), 3)}" if known else "none defined"
        text += f", {undefined} undefined" if undefined else ""
        name, interval = clean(row_name(entry, "name")), cell_text(entry["interval"], digits)
        alt = clean(f"{name}: {len(known)} folds, {text}; interval {interval}")
        picture = _svg(26, alt, *_fold_dots(known, entry["interval"], scale))
        rows.append(_row(name, picture, text))
    return _with_axis(rows, scale, section, 3)


def _fold_dots(values, interval, scale):
    if _finite(interval["low"]) and _finite(interval["high"]):
        yield _band((interval["low"], interval["high"]), scale, 26, "band")
    if _finite(interval.get("value")):
        yield _line(interval["value"], 0, interval["value"], 26, scale, "pooled")
    for k, value in enumerate(values):
        y = 13 + 5 * ((k % 3) - 1)  # three lines, so that equal values stay apart
        yield element("circle", cx=_percent(scale.at(value)), cy=y, r=3, cls="fold")


def matrix_figure(section, digits):
    """Confusion matrix: counts, and the rate of every cell with its interval."""
    figure = section["figure"]
    digits = 2 if digits is None else digits

    def show(count, cell):
        share = cell["value"] if _finite(cell["value"]) else 0.0
        text = element("b", number(count, 0 if float(count).is_integer() else 1))
        rate = element("span", cell_text(cell, digits))
        return element("td", text, element("br"), rate, cls="cell", style=f"--share: {share:.3f}")

    cells = (map(show, *both) for both in zip(figure["counts"], figure["rates"], strict=True))
    rows = zip(figure["labels"], cells, strict=True)
    return _grid(section, "true \\ predicted", figure["labels"], rows, "matrix")


def _canvas(height, y, *paths):
    """Curves, drawn in per cent of the picture."""
    about = {"viewBox": "0 0 100 100", "preserveAspectRatio": "none"}
    return element("svg", *paths, x=0, y=y, width="100%", height=height, **about)


def density_figure(section, digits):
    """Density of a difference, cut by the region of practical equivalence."""
    figure = section["figure"]
    x, y, rope, looks = (figure[key] for key in ("x", "y", "rope", "looks"))
    if len(x) > 1:
        scale, top = IntervalScale(min(x), max(x)), max(y) * 1.02
        ends = (-math.inf, -rope), (-rope, rope), (rope, math.inf)
        areas = [
            _area(_piece(x, y, *between), scale, top, f"area a{look}")
            for look, between in zip(looks, ends, strict=True)
        ]
        edges = [value for value in sorted({-rope, rope}) if min(x) <= value <= max(x)]
        lines = [_line(value, 20, value, 154, scale, "edge") for value in edges]
        parts = [_canvas(130, 24, *areas), *lines]
    else:
        scale = IntervalScale.of([], x) or IntervalScale(-1.0, 1.0)
        parts = [_line(x[0], 24, x[0], 154, scale, "pooled")]
    names, shares = zip(*figure["areas"], strict=True)
    texts = [_share_text(share, figure) for share in shares]
    if rope == shares[1] == 0:  # nothing can be equivalent: that does not come from draws
        texts[1] = share_text(0.0, 2)
    told = [f"{clean(name)}: {text}" for name, text in zip(names, texts, strict=True)]
    labels = [
        element("span", element("span", cls=f"swatch a{look}", **{"aria-hidden": "true"}), f" {t}")
        for look, t in zip(looks, told, strict=True)
    ]
    picture = _svg(156, "; ".join(["density of the difference", *told]), *parts, cls="plot tall")
    return element(
        "div", element("div", *labels, cls="areas"), picture, scale.axis(), cls="density"
    )


_HEIGHT = 150  # of the densities of posteriors


def posteriors_figure(section, digits):
    """Densities over each other, the interval of each as an area and as a bar below."""
    figure = section["figure"]
    curves = figure["curves"]
    if not any(curve["x"] for curve in curves):
        return None
    cells = [{key: curve[key] for key in ("low", "high", "value", "error")} for curve in curves]
    # Everything is drawn, however large: all curves are of one metric.
    values = [end for curve in curves for end in (*curve["x"][:1], *curve["x"][-1:])]
    values += [cell[key] for cell in cells for key in ("low", "high", "value")]
    scale = IntervalScale.around([v for v in values if _finite(v)])
    paths, lines = [], []
    for k, curve in enumerate(curves):
        if len(curve["x"]) == 1:  # a point mass
            at = curve["x"][0]
            lines.append(_line(at, 4, at, _HEIGHT, scale, f"{_look(k)} bar"))
        elif curve["x"]:
            paths += _curve(curve, scale, figure["top"] * 1.04, k)
    for value in figure.get("asked", ()):
        if _finite(value) and scale.low <= value <= scale.high:
            lines.append(_line(value, 0, value, _HEIGHT, scale, "edge"))
    names, texts = [curve["name"] for curve in curves], [cell_text(cell, digits) for cell in cells]
    told = [f"{name}: {text}" for name, text in zip(names, texts, strict=True)]
    alt, parts = clean("; ".join([figure["what"], *told])), [_canvas(_HEIGHT, 0, *paths), *lines]
    return element(
        "div",
        _svg(_HEIGHT, alt, *parts, cls="plot tall"),
        interval_plot(cells, scale, clean("; ".join(texts))),
        scale.axis(),
        _legend(names) if len(names) > 1 else None,
        cls="density",
    )


def _curve(curve, scale, top, k):
    """Area over the interval of a density, and its outline."""
    # A pole leaves the picture at its upper edge.
    y = [min(v, 2 * top) if _finite(v) else 2 * top for v in curve["y"]]
    outline = _path(zip(curve["x"], y, strict=True), scale, top)
    return [
        _area(_piece(curve["x"], y, *scale.ends(curve)), scale, top, f"{_look(k)} inside"),
        element("path", d=outline, cls=f"{_look(k)} curve c{k}"),
    ]


def _area(points, scale, top, cls):
    """Area below some points, or None if there are too few."""
    if len(points) < 2:
        return None
    outline = _path([(points[0][0], 0), *points, (points[-1][0], 0)], scale, top)
    return element("path", d=f"{outline} Z", cls=cls)


def _path(points, scale, top):
    return "M" + " L".join(f"{scale.at(x):.2f} {100 - 100 * y / top:.2f}" for x, y in points)


def _piece(x, y, low, high):
    """Points of a curve between two places, cut exactly there."""
    points = [(a, b) for a, b in zip(x, y, strict=True) if low <= a <= high]
    cuts = [edge for edge in (low, high) if x[0] < edge < x[-1] and edge not in x]
    points += [(edge, np.interp(edge, x, y)) for edge in cuts]
    return sorted(points, key=lambda point: point[0])


def bars_figure(section, digits):
    """Bars of one column of probabilities."""
    name, key = section["columns"][0]["key"], section["figure"]["column"]
    rows = []
    for row in section["rows"][: section["figure"]["most"]]:
        share = share_of(row[key])
        if _finite(share):
            text, title = share_text(row[key], digits), clean(row_name(row, name))
            bar = element("rect", x=0, y=3, width=_percent(100 * share), height=16, cls="filled")
            rows.append(_row(title, _svg(22, f"{title}: {text}", bar), text))
    return scroll(element("table", *rows, cls="figure"), section["title"])


def grid_figure(section, digits):
    """Heat map of probabilities, with its numbers."""
    figure = section["figure"]
    top = max((share or 0.0 for row in figure["shares"] for share in row), default=0.0) or 1.0
    selected = figure.get("selected") or [False] * len(figure["names"])
    names = [f"* {n}" if mark else n for n, mark in zip(figure["names"], selected, strict=True)]

    def show(share):
        text = "" if share is None else _share_text(share, figure)
        return element("td", text, cls="cell", style=f"--share: {(share or 0.0) / top:.3f}")

    rows = ((name, map(show, row)) for name, row in zip(names, figure["shares"], strict=True))
    return _grid(section, figure["corner"], figure["columns"], rows, "matrix grid")


def _share_text(share, figure):
    return share_text(share_cell(share, figure.get("n_draws")), 2)


def differences_figure(section, digits):
    """Intervals of differences with the region of practical equivalence behind them."""
    figure = section["figure"]
    name, key, rope = section["columns"][0]["key"], figure["column"], figure["rope"]
    shown = section["rows"][: figure["most"]]
    scale = IntervalScale.of([row[key] for row in shown], (-rope, rope))
    if scale is None:
        return None
    rows = []
    for row in shown:
        text, title = cell_text(row[key], digits), clean(row_name(row, name))
        picture = interval_plot([row[key]], scale, f"{title}: {text}", (-rope, rope))
        rows.append(_row(title, picture, text))
    return _with_axis(rows, scale, section, 3)


FIGURES = {
    "methods": methods_figure,
    "folds": folds_figure,
    "matrix": matrix_figure,
    "density": density_figure,
    "posteriors": posteriors_figure,
    "bars": bars_figure,
    "grid": grid_figure,
    "differences": differences_figure,
}
