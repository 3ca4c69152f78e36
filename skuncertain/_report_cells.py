"""From the numbers of a report to texts, without digits that are not known."""

import math
import unicodedata
from collections import Counter

_DIGITS = 3  # of a number, unless its interval is narrower
_MOST_DIGITS = 9
_JOINERS = "\u200c\u200d"  # invisible, but parts of words and emoji


def clean(value):
    """Text of a label or name on one line: what a terminal or page could obey is spelled out."""
    text = []
    for letter in str(value):
        if unicodedata.category(letter) == "Zs":
            text.append(" ")
        elif letter.isprintable() or letter in _JOINERS:
            text.append(letter)
        else:
            text.append(letter.encode("unicode_escape").decode("ascii"))
    return "".join(text)


def distinct(names):
    """Texts of names; those that look alike, such as 1 and "1", get their place in the list."""
    texts = [str(name) for name in names]
    number = Counter(texts)
    return [text if number[text] == 1 else f"{text} [{k}]" for k, text in enumerate(texts)]


def known_digits(error, digits=_MOST_DIGITS):
    """Decimals of a number whose Monte Carlo error is less than half of the last one."""
    if not error > 0:
        return digits
    if not math.isfinite(error):
        return 0
    return min(digits, math.floor(-math.log10(2 * error)))


def share_cell(value, n_draws):
    """Entry of a probability; what was counted in draws has an error."""
    if n_draws is None or value is None or value != value:
        return value
    p = (value * n_draws + 1) / (n_draws + 2)  # so that 0 of n is not known for sure
    return {"value": value, "error": math.sqrt(p * (1 - p) / n_draws)}


def share_of(cell):
    """Probability in an entry that `share_cell` made."""
    return cell["value"] if isinstance(cell, dict) else cell


def share_text(cell, digits=None):
    """Text of a probability; what is rounded or was counted in draws is not certain."""
    text, share = cell_text(cell, digits), share_of(cell)
    decimal = text.partition(".")[2]
    certain = share in (0, 1) and not isinstance(cell, dict)
    if certain or not decimal or _missing(share):
        return text
    unit = 10.0 ** -len(decimal)
    if float(text) == 0:
        return f"<{number(unit, len(decimal))}"
    return f">{number(1 - unit, len(decimal))}" if float(text) == 1 else text


def decimals(width, digits):
    """Decimals that were asked for, or enough to see the width of an interval."""
    if digits is not None:
        return digits
    if not (width > 0 and math.isfinite(width)):
        return _DIGITS
    return min(max(_DIGITS, math.ceil(-math.log10(width)) + 1), _MOST_DIGITS)


def number(value, digits):
    """Text of a number with so many decimals; fewer than none round to tens, hundreds, ..."""
    if _missing(value):
        return "-"
    value = float(value)  # an infinity is a text in a JSON file
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}f}" if digits >= 0 else f"{round(value, digits):.0f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def cell_text(cell, digits=None):
    """Text of one entry of a table.

    An entry is a text, a number, None, or a dict with ``value``, ``low`` and ``high``, and
    ``error``, the Monte Carlo error of the ends (of the value, if there are no ends).
    """
    if isinstance(cell, dict):
        return _interval_text(cell, digits)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return number(cell, decimals(0, digits))
    return "-" if cell is None else clean(cell)


def _interval_text(cell, digits):
    error = float(cell.get("error") or 0.0)  # an infinite one is a text in a JSON file
    if "low" not in cell:
        return number(cell["value"], known_digits(error, decimals(0, digits)))
    low, high = cell["low"], cell["high"]
    both = isinstance(low, int | float) and isinstance(high, int | float)
    places = decimals(high - low if both else 0, digits)
    supported = known_digits(error, places)
    ends = f"[{number(low, supported)}, {number(high, supported)}]"
    if _missing(low) and _missing(high):
        ends = "undefined"
    if "value" not in cell:
        return ends
    value = cell["value"]
    own = known_digits(float(cell.get("value_error") or 0.0), places)
    return f"{'undefined' if _missing(value) else number(value, own)} {ends}"


def _missing(value):
    return value is None or value != value


def text_width(text):
    """Columns that a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(letter) or letter in _JOINERS
        else 2 if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )  # fmt: skip


def row_name(row, key):
    """Name of a row in print: the selected one has a star."""
    return f"* {row[key]}" if row.get("selected") is True else row[key]


def table_texts(section, digits, most=None, label=clean):
    """Header, rows of texts, and how many rows are left out; `label` makes texts fit to print."""
    rows = section["rows"]
    columns = [c for c in section["columns"] if c.get("printed", True)]
    first = columns[0]["key"]
    left_out = 0
    if most is not None and section["ranked"] and len(rows) > most:
        rows, left_out = rows[:most], len(rows) - most
    texts = []
    for row in rows:
        cells = [row.get(c["key"]) for c in columns]
        if row.get("selected") is True:
            cells[0] = row_name(row, first)
        line = []
        for cell, spec in zip(cells, columns, strict=True):
            own = digits if spec["digits"] is None else spec["digits"]
            if isinstance(cell, str):
                line.append(label(cell))
            elif spec.get("share"):
                line.append(label(share_text(cell, own)))
            else:
                line.append(cell_text(cell, own))
        texts.append(line)
    return [c["title"] for c in columns], texts, left_out
