"""`IntervalReport`: one summary, several renderings; `HasReport`: what results inherit."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skuncertain._reporting import FORMATS, SUFFIXES
from skuncertain._reporting.html import fragment, page
from skuncertain._reporting.markdown import markdown, plain_text
from skuncertain._reporting.text import for_spreadsheet
from skuncertain._utils.files import write_file
from skuncertain._utils.validation import check_choice, check_integer, import_optional, refuse_if


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
    >>> counts = ConfusionCounts([[6, 2], [0, 26]], labels=["well", "ill"])
    >>> report = interval_report(counts)
    >>> report
    <IntervalReport: 'Classification report', 5 rows; print() it, or use to_frame(), save(path)>
    >>> rows = report.to_dict()["sections"]["scores"]["rows"]
    >>> rows[1]["name"], round(rows[1]["recall"]["low"], 3)
    ('ill', 0.868)
    """

    summary: dict

    def __repr__(self):
        rows = len(self._section(None)["rows"])
        return (
            f"<IntervalReport: {self.summary['title']!r}, {rows} rows; print() it, or use "
            "to_frame(), save(path)>"
        )

    def __str__(self):
        return plain_text(self.summary)

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
        frame.attrs = {
            key: copy.deepcopy(self.summary[key])
            for key in ("title", "question", "warnings", "skuncertain")
        }
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
            The columns of `to_frame`, with all digits. A text that a spreadsheet would take for a
            formula, such as a label "=1+1", has an apostrophe before it.
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
        return markdown(self.summary)

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
        rule = f"path must end with one of {', '.join(SUFFIXES)}, got {{value}}."
        refuse_if(suffix not in SUFFIXES, "path", rule, value=str(path))
        text = getattr(self, FORMATS[SUFFIXES[suffix]])()
        write_file(path, (text.rstrip("\n") + "\n").encode("utf-8", "backslashreplace"))
        return path

    def _section(self, name):
        sections = self.summary["sections"]
        first = next(iter(sections))
        return sections[check_choice("section", first if name is None else name, tuple(sections))]


class HasReport:
    """Base of the results: each has a report, which notebooks show."""

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """Result in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        raise NotImplementedError

    def _repr_html_(self):
        return self.report()._repr_html_()


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
        known = {part for cell in cells if isinstance(cell, dict) for part in cell}
        parts = [part for part in ("value", "low", "high") if part in known]
        for part in parts or ["value"]:
            header.append(spec["key"] if part == "value" else f"{spec['key']}_{part}")
            pieces.append([c.get(part) if isinstance(c, dict) else c for c in cells])
    return header, [list(row) for row in zip(*pieces, strict=True)]


def _csv_line(values):
    """One line; the writer quotes both line ends only if it ends its own lines with both."""
    file = io.StringIO()
    texts = ["" if value is None or value != value else value for value in values]
    texts = [for_spreadsheet(value) if isinstance(value, str) else value for value in texts]
    csv.writer(file, lineterminator="\r\n").writerow(texts)
    return file.getvalue().removesuffix("\r\n") + "\n"
