"""Plots of the HTML report: SVG and tables that keep their letters at any width.

Positions are percentages of the width, so a plot fits a phone and a page alike and its text is
never scaled. Colours come from the style sheet; nothing is told by colour alone.
"""

import math
from dataclasses import dataclass
from xml.etree import ElementTree

from skuncertain._report_cells import (
    cell_text,
    clean,
    number,
    row_name,
    share_cell,
    share_of,
    share_text,
)

_EDGE = 3.0  # per cent of the width that stay free on both sides
_MARKS = ("circle", "square", "diamond", "triangle", "cross")


def element(tag, *children, cls=None, **attributes):
    """Element with text and elements in it; a dict among the children holds more attributes."""
    tree = ElementTree.Element(tag)
    if cls is not None:
        tree.set("class", cls)
    for name, value in attributes.items():
        tree.set(name.rstrip("_").replace("_", "-"), value)
    last = None
    for child in children:
        if isinstance(child, dict):
            for name, value in child.items():
                tree.set(name, value)
        elif isinstance(child, str):
            if last is None:
                tree.text = (tree.text or "") + child
            else:
                last.tail = (last.tail or "") + child
        elif child is not None:
            tree.append(child)
            last = child
    return tree


def scroll(table, title):
    """Table that can be moved sideways where it is too wide, with the keyboard as well."""
    about = {"aria-label": clean(title)}
    return element("div", about, table, cls="scroll", tabindex="0", role="region")


def _svg(height, alt, *children, cls="plot"):
    """Picture with a text for whoever does not see it."""
    return element(
        "svg",
        {"aria-label": alt},
        *children,
        cls=cls,
        role="img",
        width="100%",
        height=f"{height}",
    )


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
        values = [v for v in [*values, *include] if _finite(v)]
        within = [v for v in values if -1.0 <= v <= 1.0]
        values = within or values
        if not values:
            return None
        low, high = min(values), max(values)
        if low == high:
            low, high = low - 0.05, high + 0.05
        return cls(low, high)

    def __contains__(self, value):
        return _finite(value)

    def at(self, value):
        """Per cent from the left, kept inside the picture."""
        share = (value - self.low) / (self.high - self.low)
        return _EDGE + (100 - 2 * _EDGE) * min(max(share, -0.02), 1.02)

    def ticks(self):
        """Round numbers along the axis, and their decimals."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        values = []
        while (first + len(values)) * step <= self.high + 1e-9 * step:
            values.append((first + len(values)) * step)
        return values, max(0, -math.floor(math.log10(step) + 1e-9))

    def axis(self):
        """Picture of the axis."""
        values, digits = self.ticks()
        parts = [_line(self.low, 1, self.high, 1, self, "axis")]
        for value in values:
            x = _percent(self.at(value))
            parts.append(element("line", x1=x, x2=x, y1="1", y2="6", cls="axis"))
            parts.append(
                element("text", number(value, digits), {"text-anchor": "middle"}, x=x, y="18")
            )
        names = ", ".join(number(value, digits) for value in values)
        return _svg(22, f"axis with marks at {names}", *parts, cls="plot axis")


def _point(cell):
    """Where the mark of an interval is drawn; one without an estimate has none."""
    return cell.get("value", cell.get("point"))


def _finite(value):
    return isinstance(value, int | float) and math.isfinite(value)


def _percent(value):
    return f"{value:.2f}%"


def _line(low, y1, high, y2, scale, cls):
    return element(
        "line",
        x1=_percent(scale.at(low)),
        x2=_percent(scale.at(high)),
        y1=f"{y1}",
        y2=f"{y2}",
        cls=cls,
    )


def _mark(shape, x, y, cls):
    """Mark around a point that is given in per cent: a picture in the picture."""
    at = element("svg", x=_percent(x), y=f"{y}", overflow="visible", cls=cls)
    shapes = {
        "circle": ("circle", {"r": "4"}),
        "square": ("rect", {"x": "-3.5", "y": "-3.5", "width": "7", "height": "7"}),
        "diamond": ("path", {"d": "M0 -5L5 0L0 5L-5 0Z"}),
        "triangle": ("path", {"d": "M0 -4.5L4.5 4L-4.5 4Z"}),
        "cross": ("path", {"d": "M-4 -4L4 4M-4 4L4 -4", "class": "stroke"}),
    }
    tag, attributes = shapes[shape]
    at.append(element(tag, attributes))
    return at


def interval_plot(cells, scale, alt, band=None, first=0):
    """Picture of one interval, or of several below each other, with marks from `first` on."""
    step = 22 if len(cells) == 1 else 14
    height = step * len(cells)
    parts = []
    if band is not None:
        parts.append(_band(band, scale, height, "rope"))
    for k, cell in enumerate(cells):
        if not isinstance(cell, dict) or not (_finite(cell["low"]) or _finite(cell["high"])):
            continue
        y = step * k + step / 2
        low = cell["low"] if _finite(cell["low"]) else scale.low
        high = cell["high"] if _finite(cell["high"]) else scale.high
        mark = (first + k) % len(_MARKS)
        cls = f"mark m{mark}"
        parts.append(_line(low, y, high, y, scale, f"{cls} bar"))
        point = _point(cell)
        if _finite(point):
            parts.append(_mark(_MARKS[mark], scale.at(point), y, cls))
    return _svg(height, alt, *parts)


def _band(ends, scale, height, cls):
    left, right = scale.at(ends[0]), scale.at(ends[1])
    return element(
        "rect",
        x=_percent(left),
        width=_percent(max(right - left, 0.3)),
        y="0",
        height=f"{height}",
        cls=cls,
    )


def _with_axis(rows, scale, section, columns=2):
    """Table of pictures with the axis below."""
    table = element("table", *rows, cls="figure")
    axis = element("tr", element("td", cls="empty"), element("td", scale.axis(), cls="plot"))
    axis.extend(element("td", cls="empty") for _ in range(columns - 2))
    table.append(axis)
    return scroll(table, f"{section['title']}, plot")


def _legend(names):
    entries = []
    for k, name in enumerate(names):
        cls = f"mark m{k % len(_MARKS)}"
        sign = element(
            "svg",
            {"aria-hidden": "true"},
            element("line", x1="0", x2="22", y1="7", y2="7", cls=f"{cls} bar"),
            element("svg", _mark(_MARKS[k % len(_MARKS)], 0, 7, cls), x="11", overflow="visible"),
            width="22",
            height="14",
        )
        entries.append(element("span", sign, " " + clean(name)))
    return element("p", *entries, cls="legend")


# --------------------------------------------------------------------------------------------------
# The figures: each takes a section and draws what its "figure" describes


def methods_figure(section, digits):
    """Every row once, with the intervals of several columns below each other."""
    figure = section["figure"]
    keys = figure["columns"]
    titles = {spec["key"]: spec["title"] for spec in section["columns"]}
    name = section["columns"][0]["key"]
    scale = IntervalScale.of([row.get(key) for row in section["rows"] for key in keys])
    if scale is None:
        return None
    rows, legend = [], [titles[key] for key in keys]
    for row in section["rows"]:
        cells, first = [row.get(key) for key in keys], 0
        alt = f"{row[name]}: " + "; ".join(
            f"{titles[key]} {cell_text(cell, digits)}"
            for key, cell in zip(keys, cells, strict=True)
        )
        if row.get("aside"):  # in a column for want of one of its own: so it has its own mark
            cells, first = [cell for cell in cells if cell is not None], len(legend)
            alt = f"{row[name]} " + "; ".join(cell_text(cell, digits) for cell in cells)
            legend.append(row[name])
        rows.append(
            element(
                "tr",
                element("th", clean(row[name]), scope="row"),
                element("td", interval_plot(cells, scale, clean(alt), first=first), cls="plot"),
            )
        )
    return element("div", _with_axis(rows, scale, section), _legend(legend))


def folds_figure(section, digits):
    """Fold values as dots over the interval."""
    figure = section["figure"]
    cells = [entry["interval"] for entry in figure["entries"]]
    values = [v for entry in figure["entries"] for v in entry["values"]]
    scale = IntervalScale.of(cells, values)
    if scale is None:
        return None
    rows = []
    for entry in figure["entries"]:
        known = [v for v in entry["values"] if _finite(v)]
        interval = entry["interval"]
        parts = []
        if _finite(interval["low"]) and _finite(interval["high"]):
            parts.append(_band((interval["low"], interval["high"]), scale, 26, "band"))
        if _finite(interval.get("value")):
            x = _percent(scale.at(interval["value"]))
            parts.append(element("line", x1=x, x2=x, y1="0", y2="26", cls="pooled"))
        for k, value in enumerate(known):
            y = 13 + 5 * ((k % 3) - 1)  # three lines, so that equal values stay apart
            parts.append(
                element("circle", cx=_percent(scale.at(value)), cy=f"{y}", r="3", cls="fold")
            )
        undefined = len(entry["values"]) - len(known)
        spread = f"{number(min(known), 3)} to {number(max(known), 3)}" if known else "none defined"
        text = spread + (f", {undefined} undefined" if undefined else "")
        name = row_name(entry, "name")
        alt = f"{name}: {len(known)} folds, {text}; interval {cell_text(interval, digits)}"
        rows.append(
            element(
                "tr",
                element("th", clean(name), scope="row"),
                element("td", _svg(26, clean(alt), *parts), cls="plot"),
                element("td", text),
            )
        )
    return _with_axis(rows, scale, section, 3)


def matrix_figure(section, digits):
    """Confusion matrix: counts, and the rate of every cell with its interval."""
    figure = section["figure"]
    labels = figure["labels"]
    head = element("tr", element("td", "true \\ predicted", cls="corner"))
    head.extend(element("th", clean(label), scope="col") for label in labels)
    body = element("tbody")
    for label, counts, cells in zip(labels, figure["counts"], figure["rates"], strict=True):
        line = element("tr", element("th", clean(label), scope="row"))
        for count, cell in zip(counts, cells, strict=True):
            share = cell["value"] if _finite(cell["value"]) else 0.0
            text = number(count, 0 if float(count).is_integer() else 1)
            line.append(
                element(
                    "td",
                    element("b", text),
                    element("br"),
                    element("span", cell_text(cell, digits if digits is not None else 2)),
                    cls="cell",
                    style=f"--share: {share:.3f}",
                )
            )
        body.append(line)
    return scroll(element("table", element("thead", head), body, cls="matrix"), section["title"])


def density_figure(section, digits):
    """Density of a difference, cut by the region of practical equivalence."""
    figure = section["figure"]
    x, y, rope, looks = (figure[key] for key in ("x", "y", "rope", "looks"))
    scale = IntervalScale.of([], x) or IntervalScale(-1.0, 1.0)
    if len(x) > 1:
        scale = IntervalScale(min(x), max(x))
    parts = []
    if len(x) > 1:
        curves = element(
            "svg",
            {"viewBox": "0 0 100 100", "preserveAspectRatio": "none"},
            x="0",
            y="24",
            width="100%",
            height="130",
        )
        top = max(y) * 1.02
        for k, (low, high) in enumerate(((-math.inf, -rope), (-rope, rope), (rope, math.inf))):
            points = _piece(x, y, low, high)
            if len(points) > 1:
                path = " ".join(f"{scale.at(a):.2f} {100 - 100 * b / top:.2f}" for a, b in points)
                first, last = scale.at(points[0][0]), scale.at(points[-1][0])
                d = f"M{first:.2f} 100 L{path} L{last:.2f} 100 Z"
                curves.append(element("path", d=d, cls=f"area a{looks[k]}"))
        parts.append(curves)
        for value in sorted({-rope, rope}):
            if min(x) <= value <= max(x):
                place = _percent(scale.at(value))
                parts.append(element("line", x1=place, x2=place, y1="20", y2="154", cls="edge"))
    else:
        place = _percent(scale.at(x[0]))
        parts.append(element("line", x1=place, x2=place, y1="24", y2="154", cls="pooled"))
    labels = element("div", cls="areas")
    shares = [share for _, share in figure["areas"]]
    texts = [_share_text(share, figure) for share in shares]
    if rope == shares[1] == 0:  # nothing can be equivalent: that does not come from draws
        texts[1] = share_text(0.0, 2)
    for k, (name, _) in enumerate(figure["areas"]):
        sign = element("span", {"aria-hidden": "true"}, cls=f"swatch a{looks[k]}")
        labels.append(element("span", sign, f" {clean(name)}: {texts[k]}"))
    alt = "density of the difference; " + "; ".join(
        f"{name}: {text}" for (name, _), text in zip(figure["areas"], texts, strict=True)
    )
    return element(
        "div", labels, _svg(156, clean(alt), *parts, cls="plot tall"), scale.axis(), cls="density"
    )


def posteriors_figure(section, digits):
    """Densities over each other, the interval of each as an area and as a bar below."""
    figure = section["figure"]
    curves = [curve for curve in figure["curves"] if curve["x"]]
    if not curves:
        return None
    cells = [
        {key: curve[key] for key in ("low", "high", "value", "error")} for curve in figure["curves"]
    ]
    # Everything that is drawn, however large: all curves are of one metric.
    values = [v for curve in curves for v in (curve["x"][0], curve["x"][-1])]
    values += [v for cell in cells for v in (cell["low"], cell["high"], cell["value"])]
    values = [v for v in values if _finite(v)]
    low, high = min(values), max(values)
    scale = IntervalScale(low, high) if high > low else IntervalScale(low - 0.05, high + 0.05)
    height, top = 150, figure["top"] * 1.04
    canvas = element(
        "svg",
        {"viewBox": "0 0 100 100", "preserveAspectRatio": "none"},
        width="100%",
        height=f"{height}",
    )
    parts = [canvas]
    for k, curve in enumerate(figure["curves"]):
        cls = f"mark m{k % len(_MARKS)}"
        if len(curve["x"]) == 1:  # a point mass
            place = _percent(scale.at(curve["x"][0]))
            parts.append(
                element("line", x1=place, x2=place, y1="4", y2=f"{height}", cls=f"{cls} bar")
            )
        elif curve["x"]:
            # A pole leaves the picture at its upper edge.
            y = [min(v, 2 * top) if _finite(v) else 2 * top for v in curve["y"]]
            ends = [
                end if _finite(end) else other
                for end, other in zip((curve["low"], curve["high"]), (low, high), strict=True)
            ]
            area = _piece(curve["x"], y, *ends)
            if len(area) > 1:
                edge = (area[0][0], 0), (area[-1][0], 0)
                inside = [edge[0], *area, edge[1]]
                canvas.append(
                    element("path", d=f"{_path(inside, scale, top)} Z", cls=f"{cls} inside")
                )
            outline = list(zip(curve["x"], y, strict=True))
            canvas.append(element("path", d=_path(outline, scale, top), cls=f"{cls} curve c{k}"))
    for value in figure.get("asked", ()):
        if _finite(value) and low <= value <= high:
            place = _percent(scale.at(value))
            parts.append(element("line", x1=place, x2=place, y1="0", y2=f"{height}", cls="edge"))
    names = [curve["name"] for curve in figure["curves"]]
    texts = [cell_text(cell, digits) for cell in cells]
    alt = f"{figure['what']}; " + "; ".join(
        f"{name}: {text}" for name, text in zip(names, texts, strict=True)
    )
    return element(
        "div",
        _svg(height, clean(alt), *parts, cls="plot tall"),
        interval_plot(cells, scale, clean("; ".join(texts))),
        scale.axis(),
        _legend(names) if len(names) > 1 else None,
        cls="density",
    )


def _path(points, scale, top):
    return "M" + " L".join(f"{scale.at(x):.2f} {100 - 100 * y / top:.2f}" for x, y in points)


def _piece(x, y, low, high):
    """Points of a curve between two places, cut exactly there."""
    points = []
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        if k:
            for edge in (low, high):
                before = x[k - 1]
                if before < edge < a:
                    share = (edge - before) / (a - before)
                    points.append((edge, y[k - 1] + share * (b - y[k - 1])))
        if low <= a <= high:
            points.append((a, b))
    return points


def bars_figure(section, digits):
    """Bars of one column of probabilities."""
    figure = section["figure"]
    name, key = section["columns"][0]["key"], figure["column"]
    rows = []
    for row in section["rows"][: figure["most"]]:
        cell = row[key]
        share = share_of(cell)
        if not _finite(share):
            continue
        text, title = share_text(cell, digits), clean(row_name(row, name))
        bar = element("rect", x="0", y="3", width=_percent(100 * share), height="16", cls="filled")
        rows.append(
            element(
                "tr",
                element("th", title, scope="row"),
                element("td", _svg(22, f"{title}: {text}", bar), cls="plot"),
                element("td", text),
            )
        )
    return scroll(element("table", *rows, cls="figure"), section["title"])


def grid_figure(section, digits):
    """Heat map of probabilities, with its numbers."""
    figure = section["figure"]
    head = element("tr", element("td", figure["corner"], cls="corner"))
    head.extend(element("th", clean(name), scope="col") for name in figure["columns"])
    body = element("tbody")
    top = max((share or 0.0 for row in figure["shares"] for share in row), default=0.0) or 1.0
    selected = figure.get("selected") or [False] * len(figure["names"])
    for name, mark, row in zip(figure["names"], selected, figure["shares"], strict=True):
        name = f"* {name}" if mark else name
        line = element("tr", element("th", clean(name), scope="row"))
        for share in row:
            text = "" if share is None else _share_text(share, figure)
            style = f"--share: {(share or 0.0) / top:.3f}"
            line.append(element("td", text, cls="cell", style=style))
        body.append(line)
    grid = element("table", element("thead", head), body, cls="matrix grid")
    return scroll(grid, section["title"])


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
        rows.append(
            element(
                "tr",
                element("th", title, scope="row"),
                element("td", picture, cls="plot"),
                element("td", text),
            )
        )
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
