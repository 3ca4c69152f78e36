"""`IntervalReport`: one summary, several renderings."""

import copy
import csv
import io
import json
import math
import numbers
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skuncertain._files import write_file
from skuncertain._report_cells import clean, table_texts, text_width
from skuncertain._report_html import fragment, page
from skuncertain._validation import check_choice, check_integer, import_optional
from skuncertain._version import __version__

SCHEMA_VERSION = 1
_TEXT_ROWS = 20  # of a table that is sorted, best first
_SUFFIXES = {
    ".html": "to_html",
    ".htm": "to_html",
    ".md": "to_markdown",
    ".markdown": "to_markdown",
    ".json": "to_json",
    ".csv": "to_csv",
    ".txt": "__str__",
}


@dataclass(frozen=True, eq=False, repr=False)
class IntervalReport:
    """A result in words, numbers and plots.

    Made by :func:`interval_report` and by the ``report()`` of results. All renderings show one
    summary.

    Parameters
    ----------
    summary : dict
        What `to_dict` returns; also what ``json.load`` reads from a saved report.

    See Also
    --------
    interval_report : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, interval_report
    >>> counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6, labels=["well", "ill"])
    >>> report = interval_report(counts)
    >>> report
    <IntervalReport: 'Classification report', 5 rows; print() it, or use to_frame(), save(path)>
    >>> rows = report.to_dict()["sections"]["scores"]["rows"]
    >>> rows[1]["name"], round(rows[1]["recall"]["low"], 3)
    ('ill', 0.925)
    """

    summary: dict

    def __repr__(self):
        rows = len(self._section(None)["rows"])
        return (
            f"<IntervalReport: {self.summary['title']!r}, {rows} rows; print() it, or use "
            "to_frame(), save(path)>"
        )

    def __str__(self):
        summary = self.summary
        blocks = [_heading(summary["title"]), _aligned(summary["settings"]["shown"])]
        blocks.append([f"Question: {clean(summary['question'])}"])
        aside = []
        for section in summary["sections"].values():
            if section["in_text"]:
                blocks.append(_text_table(section, summary["digits"]))
            else:
                aside.append(section["title"].lower())
        if aside:
            blocks.append([f"Also in to_html(), to_markdown() and to_dict(): {', '.join(aside)}"])
        blocks.append(_listed("Warnings", summary["warnings"]))
        return "\n\n".join("\n".join(block) for block in blocks)

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            ``settings``, ``question``, ``sections`` (tables with ``columns`` and ``rows``),
            ``warnings`` and ``reading``; only texts, numbers, lists, dicts and None.
        """
        return copy.deepcopy(self.summary)

    def to_json(self, indent: int | None = 2) -> str:
        """Summary as JSON.

        Parameters
        ----------
        indent : int or None, default=2
            Spaces per level.

        Returns
        -------
        str
            Strict JSON: NaN is null, infinities are the texts "inf" and "-inf".
        """
        if indent is not None:
            indent = check_integer("indent", indent, low=0, high=100)
        return json.dumps(_strict(self.summary), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, section: str | None = None) -> Any:
        """One of the tables.

        Parameters
        ----------
        section : str, default=None
            A key of ``to_dict()["sections"]``; by default the first.

        Returns
        -------
        pandas.DataFrame
            An interval of column ``x`` is in ``x``, ``x_low`` and ``x_high``. What else the report
            says, warnings as well, is in ``frame.attrs``.
        """
        pandas = import_optional("pandas", "pandas", "IntervalReport.to_frame")
        header, rows = _flat(self._section(section))
        frame = pandas.DataFrame(rows, columns=header).set_index(header[0])
        known = ("title", "question", "warnings", "skuncertain")
        frame.attrs = {key: copy.deepcopy(self.summary[key]) for key in known}
        return frame

    def to_csv(self, section: str | None = None) -> str:
        """One of the tables as comma-separated values.

        Parameters
        ----------
        section : str, default=None
            A key of ``to_dict()["sections"]``; by default the first.

        Returns
        -------
        str
            The columns of `to_frame`, with all digits.
        """
        header, rows = _flat(self._section(section))
        return "".join(_csv_line(row) for row in [header, *rows])

    def to_markdown(self) -> str:
        """Report in Markdown.

        Returns
        -------
        str
            Headings, lists and tables.
        """
        summary = self.summary
        lines = [f"# {_markdown(summary['title'])}", ""]
        lines += [
            f"- {_markdown(name)}: {_markdown(text)}" for name, text in summary["settings"]["shown"]
        ]
        lines += ["", f"**Question.** {_markdown(summary['question'])}"]
        for section in summary["sections"].values():
            if section["rows"]:
                lines += ["", f"## {_markdown(section['title'])}", ""]
                lines += _markdown_table(section, summary["digits"])
        for title, texts in (("Warnings", summary["warnings"]), ("How to read this", None)):
            texts = summary["reading"] if texts is None else texts or ["none"]
            lines += ["", f"## {title}", "", *(f"- {_markdown(text)}" for text in texts)]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """Report as one self-contained page.

        Returns
        -------
        str
            HTML without scripts and without references to anything outside.
        """
        return page(self.summary)

    def _repr_html_(self):
        return fragment(self.summary)

    def save(self, path: Any) -> Path:
        """Write the report to a file.

        Parameters
        ----------
        path : str or Path
            The suffix says how: .html, .md, .json, .csv (the first table) or .txt. The file is
            written whole or not at all: if that fails, what was there before is still there.

        Returns
        -------
        Path
            Where it is now.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in _SUFFIXES:
            raise ValueError(
                f"path must end with one of {', '.join(_SUFFIXES)}, got {str(path)!r}."
            )
        text = getattr(self, _SUFFIXES[suffix])()
        write_file(path, (text.rstrip("\n") + "\n").encode("utf-8", "backslashreplace"))
        return path

    def _section(self, name):
        sections = self.summary["sections"]
        if name is None:
            name = next(iter(sections))
        return sections[check_choice("section", name, tuple(sections))]


# --------------------------------------------------------------------------------------------------
# Building a summary


def check_digits(digits):
    """Return the number of decimals that was asked for, or None."""
    return None if digits is None else check_integer("digits", digits, low=0)


def column(key, title=None, digits=None, share=False):
    """Describe a column of a table; a `share` is a probability, never rounded to certainty."""
    about = {"key": key, "title": key if title is None else title, "digits": digits}
    return about | ({"share": True} if share else {})


def section(title, columns, rows, *, notes=(), figure=None, ranked=False, in_text=True):
    """Describe a table; `ranked` ones may be cut in print, the best rows come first."""
    return {
        "title": title,
        "columns": [column(c) if isinstance(c, str) else c for c in columns],
        "rows": rows,
        "notes": list(notes),
        "figure": figure,
        "ranked": ranked,
        "in_text": in_text,
    }


def interval_cell(interval, value=None, error=0.0, value_error=0.0, point=None):
    """Describe an entry with an interval; the errors are those of its ends and of its value.

    A `point` is drawn and not printed, because it stands in another column.
    """
    cell = {"low": interval[0], "high": interval[1], "error": error}
    cell |= {} if point is None else {"point": point}
    return cell if value is None else {"value": value, **cell, "value_error": value_error}


def free_key(name, taken):
    """Key of a column that users name: not one of ours."""
    return f"{name} (metric)" if name in taken else name


def make_report(
    kind_of_report, title, *, settings, question, sections, warnings, reading, digits=None
):
    """Report of a summary.

    `settings` must tell level, kind, prior, method, omega, n and k, or what is to be ``shown``.
    """
    shown = settings["shown"] if "shown" in settings else shown_settings(settings)
    summary = {
        "schema_version": SCHEMA_VERSION,
        "skuncertain": __version__,
        "report": kind_of_report,
        "title": title,
        "settings": {**settings, "shown": shown},
        "question": question,
        "sections": sections,
        "warnings": list(dict.fromkeys(str(text) for text in warnings)),
        "reading": list(reading),
        "digits": check_digits(digits),
    }
    return IntervalReport(_plain(summary))


_KINDS = {"eti": "equal-tailed (eti)", "hdi": "highest-density (hdi)"}


def shown_settings(settings):
    """Pairs (name, text) of everything that was asked; what does not apply says so."""
    rows = settings["n"]
    known = {
        "level": f"{settings['level'] * 100:.12g} %",
        "kind": _KINDS[settings["kind"]],
        "prior": settings["prior"] or "none",
        "method": settings["method"],
        "omega": settings["omega"] or "not used",
        "n": "not known" if rows is None else f"{_count(rows, settings.get('weighted'))} rows",
        "K": settings["k"] or "no folds",
    }
    optional = {
        "metric": settings.get("metric"),
        "rope": None if settings.get("rope") is None else f"{settings['rope']:g}",
        "classes": settings.get("classes"),
        "positive class": settings.get("pos_label"),
        "draws": settings.get("draws"),
    }
    known |= {name: value for name, value in optional.items() if value is not None}
    return [[name, str(text)] for name, text in known.items()]


def _count(rows, weighted):
    if not isinstance(rows, numbers.Real):
        return str(rows)
    if weighted or not float(rows).is_integer():
        return f"{rows:.1f} (effective)"
    return f"{int(rows)}"


def _plain(value):
    """The same in types that JSON and other programs know."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return str(value)


def _strict(value):
    """The same without NaN and infinities, which JSON does not know."""
    if isinstance(value, dict):
        return {_strict(key): _strict(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_strict(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, str):  # half characters have no UTF-8
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _flat(section):
    """Header and rows with every interval in three columns."""
    header, pieces = [], []
    for spec in section["columns"]:
        cells = [row.get(spec["key"]) for row in section["rows"]]
        parts = {part for cell in cells if isinstance(cell, dict) for part in cell}
        parts &= {"value", "low", "high"}
        if not parts:
            header.append(spec["key"])
            pieces.append(cells)
            continue
        for part in ("value", "low", "high"):
            if part in parts:
                header.append(spec["key"] if part == "value" else f"{spec['key']}_{part}")
                pieces.append([c.get(part) if isinstance(c, dict) else c for c in cells])
    return header, [list(row) for row in zip(*pieces, strict=True)]


def _csv_line(values):
    """One line; the writer quotes both line ends only if it ends its own lines with both."""
    file = io.StringIO()
    missing = [value is None or value != value for value in values]
    texts = ["" if skip else value for skip, value in zip(missing, values, strict=True)]
    csv.writer(file, lineterminator="\r\n").writerow(texts)
    return file.getvalue().removesuffix("\r\n") + "\n"


# --------------------------------------------------------------------------------------------------
# Text and Markdown


def _heading(title):
    text = clean(title)
    return [text, "=" * text_width(text)]


def _aligned(pairs):
    width = max(text_width(name) for name, _ in pairs)
    return [f"{_pad(name, width)}  {clean(text)}" for name, text in pairs]


def _listed(title, texts):
    return [title, *(f"- {clean(text)}" for text in texts or ["none"])]


def _pad(text, width, right=False):
    space = " " * (width - text_width(text))
    return space + text if right else text + space


def _text_table(section, digits):
    header, rows, left_out = table_texts(section, digits, _TEXT_ROWS)
    table = [[clean(title) for title in header], *rows]
    widths = [max(text_width(row[k]) for row in table) for k in range(len(header))]
    lines = [
        "  ".join(
            _pad(text, width, right=k > 0)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    more = [f"... and {left_out} more"] if left_out else []
    return [section["title"], *lines, *more, *(clean(note) for note in section["notes"])]


def _markdown_table(section, digits):
    header, rows, left_out = table_texts(section, digits, _TEXT_ROWS, _markdown)
    lines = [_row(map(_markdown, header)), _row([":--"] + ["--:"] * (len(header) - 1))]
    lines += [_row(row) for row in rows]
    if left_out:
        lines += ["", f"... and {left_out} more"]
    if section["notes"]:
        lines += ["", *(_markdown(note) for note in section["notes"])]
    return lines


def _row(texts):
    return "| " + " | ".join(texts) + " |"


def _markdown(text):
    """Text that Markdown shows as it is."""
    text = clean(text)
    for letter in "\\`*_{}[]<>#|~$":
        text = text.replace(letter, "\\" + letter)
    return text.replace("&", "&amp;")
