"""A report as HTML: one page that needs nothing else, or a piece of one for a notebook.

Everything is built as a tree of elements and escaped when the tree is written, so labels and names
can only ever be text.
"""

from importlib.resources import files
from xml.etree import ElementTree

from skuncertain._report_cells import cell_text, clean, table_texts
from skuncertain._report_figures import FIGURES, IntervalScale, element, interval_plot, scroll

_HTML_ROWS = 50


def page(summary):
    """Return the whole page as text."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # Belt and braces: even if markup got in, nothing would be run or fetched.
        element(
            "meta",
            {"http-equiv": "Content-Security-Policy"},
            content="default-src 'none'; style-src 'unsafe-inline'",
        ),
        element("title", clean(summary["title"])),
        element("style", _style()),
    )
    body = element("body", element("main", *_content(summary, "h1"), cls="sku"))
    return "<!DOCTYPE html>\n" + _write(element("html", head, body, lang="en")) + "\n"


def fragment(summary):
    """Return a piece of a page, in the colours of what surrounds it."""
    return _write(element("div", element("style", _style()), *_content(summary, "h2"), cls="sku"))


def _style():
    return files("skuncertain").joinpath("report.css").read_text(encoding="utf-8")


def _write(tree):
    text = ElementTree.tostring(tree, encoding="unicode", method="html")
    return text.encode("utf-8", "replace").decode("utf-8")


def _content(summary, heading):
    below = f"h{int(heading[1]) + 1}"
    settings = element("dl", cls="settings")
    for name, text in summary["settings"]["shown"]:
        settings.append(element("div", element("dt", name), element("dd", clean(text))))
    parts = [
        element(heading, clean(summary["title"])),
        element("p", element("strong", "Question. "), clean(summary["question"]), cls="question"),
        settings,
        _warnings(summary["warnings"], below),
    ]
    for name, section in summary["sections"].items():
        parts.append(_section(name, section, summary["digits"], below))
    parts.append(
        element(
            "section",
            element(below, "How to read this"),
            *(element("p", clean(text)) for text in summary["reading"]),
            cls="reading",
        )
    )
    made = f"Made with skuncertain {summary['skuncertain']}."
    return [*parts, element("footer", made)]


def _warnings(texts, heading):
    if not texts:
        return element("p", "Warnings: none.", cls="warnings")
    return element(
        "section",
        element(heading, "Warnings"),
        element("ul", *(element("li", clean(text)) for text in texts)),
        cls="warnings",
    )


def _section(name, section, digits, heading):
    parts = [element(heading, clean(section["title"]))]
    figure = section["figure"]
    if figure is not None:
        parts.append(FIGURES[figure["type"]](section, digits))
    if section["rows"] and not (figure or {}).get("instead"):
        table = _table(section, digits)
        if figure is not None and figure.get("numbers_aside"):
            table = element("details", element("summary", "The numbers"), table)
        parts.append(table)
    parts += [element("p", clean(note), cls="note") for note in section["notes"]]
    return element("section", *parts, cls=f"part {name}")


def _table(section, digits):
    """Table of texts; the first column with intervals is drawn as well."""
    header, rows, left_out = table_texts(section, digits, _HTML_ROWS)
    drawn = _drawn_column(section)
    cells = [row.get(drawn) for row in section["rows"][: len(rows)]] if drawn else []
    scale = IntervalScale.of(cells) if drawn else None
    head = element("tr", *(element("th", clean(title), scope="col") for title in header))
    if scale is not None:
        head.append(element("th", "plot", scope="col", cls="plot"))
    body = element("tbody")
    for k, texts in enumerate(rows):
        line = element("tr", element("th", texts[0], scope="row"))
        line.extend(element("td", text) for text in texts[1:])
        if scale is not None:
            column_digits = next(c["digits"] for c in section["columns"] if c["key"] == drawn)
            alt = cell_text(cells[k], digits if column_digits is None else column_digits)
            line.append(element("td", interval_plot([cells[k]], scale, alt), cls="plot"))
        body.append(line)
    table = element("table", element("thead", head), body)
    if scale is not None:
        axis = element("tr", element("td", colspan=str(len(header)), cls="empty"))
        axis.append(element("td", scale.axis(), cls="plot"))
        table.append(element("tfoot", axis))
    parts = [scroll(table, section["title"])]
    if left_out:
        parts.append(element("p", f"… and {left_out} more, in to_frame() and CSV.", cls="note"))
    return element("div", *parts)


def _drawn_column(section):
    """Key of the column that is drawn beside the numbers: the one and only with intervals."""
    found = [
        spec["key"]
        for spec in section["columns"]
        if any(isinstance(r.get(spec["key"]), dict) and "low" in r[spec["key"]]
               for r in section["rows"])
    ]  # fmt: skip
    figure = section["figure"]
    return found[0] if len(found) == 1 and figure is None else None
