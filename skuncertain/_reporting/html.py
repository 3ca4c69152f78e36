"""A report as HTML: one page that needs nothing else, or a piece of one for a notebook.

Everything is built as a tree of elements and escaped when the tree is written, so labels and names
can only ever be text.
"""

from importlib.resources import files
from xml.etree import ElementTree

from skuncertain._reporting.figures import FIGURES, IntervalScale, element, interval_plot, scroll
from skuncertain._reporting.text import cell_text, clean, table_texts

_HTML_ROWS = 50
_POLICY = {
    "content": "default-src 'none'; style-src 'unsafe-inline'",
    "http-equiv": "Content-Security-Policy",
}


def page(summary):
    """Return the whole page as text."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # Belt and braces: even if markup got in, nothing would be run or fetched.
        element("meta", **_POLICY),
        element("title", clean(summary["title"])),
        element("style", _style()),
    )
    body = element("body", element("main", *_content(summary, "h1"), cls="sku"))
    return "<!DOCTYPE html>\n" + _write(element("html", head, body, lang="en")) + "\n"


def fragment(summary):
    """Return a piece of a page, in the colours of what surrounds it."""
    return _write(element("div", element("style", _style()), *_content(summary, "h2"), cls="sku"))


def _style():
    return files("skuncertain._reporting").joinpath("report.css").read_text(encoding="utf-8")


def _write(tree):
    text = ElementTree.tostring(tree, encoding="unicode", method="html")
    return text.encode("utf-8", "replace").decode("utf-8")


def _content(summary, heading):
    below = f"h{int(heading[1]) + 1}"
    settings = [
        element("div", element("dt", name), element("dd", clean(text)))
        for name, text in summary["settings"]["shown"]
    ]
    warnings = [element("li", clean(text)) for text in summary["warnings"]]
    told = [element(below, "Warnings"), element("ul", *warnings)]
    reading = [element("p", clean(text)) for text in summary["reading"]]
    return [
        element(heading, clean(summary["title"])),
        element("p", element("strong", "Question. "), clean(summary["question"]), cls="question"),
        element("dl", *settings, cls="settings"),
        element("section", *told, cls="warnings") if warnings else None,
        *(
            _section(name, section, summary["digits"], below)
            for name, section in summary["sections"].items()
        ),
        element("section", element(below, "How to read this"), *reading, cls="reading"),
        element("footer", f"Made with skuncertain {summary['skuncertain']}."),
    ]


def _section(name, section, digits, heading):
    parts, figure = [element(heading, clean(section["title"]))], section["figure"] or {}
    if figure:
        parts.append(FIGURES[figure["type"]](section, digits))
    if section["rows"] and not figure.get("instead"):
        table = _table(section, digits)
        if figure.get("numbers_aside"):
            table = element("details", element("summary", "The numbers"), table)
        parts.append(table)
    parts += [element("p", clean(note), cls="note") for note in section["notes"]]
    return element("section", *parts, cls=f"part {name}")


def _table(section, digits):
    """Table of texts; the only column with intervals is drawn as well."""
    header, rows, left_out = table_texts(section, digits, _HTML_ROWS)
    drawn = _drawn_column(section) or {}
    cells = [row.get(drawn.get("key")) for row in section["rows"][: len(rows)]]
    scale = IntervalScale.of(cells)
    head = [element("th", clean(title), scope="col") for title in header]
    lines = [
        element("tr", element("th", texts[0], scope="row"), *(element("td", t) for t in texts[1:]))
        for texts in rows
    ]
    foot = None
    if scale is not None:
        head.append(element("th", "plot", scope="col", cls="plot"))
        for line, cell in zip(lines, cells, strict=True):
            alt = cell_text(cell, digits if drawn["digits"] is None else drawn["digits"])
            line.append(element("td", interval_plot([cell], scale, alt), cls="plot"))
        empty = element("td", colspan=len(header), cls="empty")
        axis = element("tr", empty, element("td", scale.axis(), cls="plot"))
        foot = element("tfoot", axis)
    head, body = element("thead", element("tr", *head)), element("tbody", *lines)
    table = scroll(element("table", head, body, foot), section["title"])
    more = element("p", f"… and {left_out} more, in to_frame() and CSV.", cls="note")
    return element("div", table, more if left_out else None)


def _drawn_column(section):
    """Column that is drawn beside the numbers: the one and only with intervals."""
    found = [
        spec
        for spec in section["columns"]
        if any(isinstance(r.get(spec["key"]), dict) and "low" in r[spec["key"]]
               for r in section["rows"])
    ]  # fmt: skip
    return found[0] if len(found) == 1 and section["figure"] is None else None
