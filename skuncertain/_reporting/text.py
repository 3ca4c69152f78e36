"""The words of numbers: levels, probabilities, intervals and the cells of tables.

Nothing else in the package turns these into text. No digit is shown that is not known.
"""

import math
import re
import unicodedata
from collections import Counter

_DIGITS = 3  # of a number, unless its interval is narrower
_MOST_DIGITS = 9
_KINDS = {"eti": "equal-tailed", "hdi": "highest-density"}
_JOINERS = "\u200c\u200d"  # invisible, but parts of words and emoji

# What a spreadsheet takes for a formula, also in the wide letters of Japanese, and what starts a
# cell for one that has another delimiter than the comma.
_FORMULA = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_STARTS = re.compile(f"(?=\\A'*[\t\r\n])|(?:\\A|(?<=[;\t\r\n]))(?='*[ \"]*[{_FORMULA}])")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?|[-+]?inf", re.ASCII | re.IGNORECASE)


def level_text(level):
    """Level in per cent, such as "95 %"."""
    return f"{level * 100:.12g} %"


def kind_name(kind):
    """Kind of an interval in words, such as "equal-tailed"."""
    return _KINDS[kind]


def kind_text(kind):
    """Kind of an interval with its short name, such as "equal-tailed (eti)"."""
    return f"{_KINDS[kind]} ({kind})"


def interval_name(level, kind=None):
    """Such as "95 % equal-tailed interval"."""
    kinds = [] if kind is None else [_KINDS[kind]]
    return " ".join([level_text(level), *kinds, "interval"])


def folds_text(n_folds, n_repeats):
    """Such as "10 folds, repeated 3 times"."""
    repeats = f", repeated {n_repeats} times" if n_repeats > 1 else ""
    return f"{n_folds:g} fold{'s' * (n_folds != 1)}{repeats}"


def relative_text(share):
    """By how many per cent something is too high or too low, such as "+120%"."""
    return f"{share:+.0%}"


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


def for_spreadsheet(text):
    """Text that no spreadsheet takes for a formula: with an apostrophe before what could be one.

    Numbers stay what they are. Texts with apostrophes of their own get one more, so that taking
    one away always gives the text back.
    """
    return text if _NUMBER.fullmatch(text) else _STARTS.sub("'", text)


def distinct(names):
    """Texts of names; those that look alike, such as 1 and "1", get their place in the list."""
    texts = [str(name) for name in names]
    number = Counter(texts)
    return [text if number[text] == 1 else f"{text} [{k}]" for k, text in enumerate(texts)]


def params_texts(params):
    """Short texts of many dicts of parameters: those in which they differ."""
    texts = [{str(key): str(value) for key, value in row.items()} for row in params]
    keys = list(dict.fromkeys(key for row in texts for key in row))
    varying = [key for key in keys if len({row.get(key) for row in texts}) > 1]
    last = [key.rsplit("__", 1)[-1] for key in varying]
    short = [
        (key, end if last.count(end) == 1 else key) for key, end in zip(varying, last, strict=True)
    ]
    return [", ".join(f"{name}={row[key]}" for key, name in short if key in row) for row in texts]


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


def probability(p, n_draws=None):
    """Probability in a sentence: no digit that the draws do not support, never 0 or 1 by rounding.

    None of the draws is not the same as never.
    """
    if math.isnan(p):
        return "undefined"
    if n_draws is not None:
        if p not in (0, 1):
            return cell_text(share_cell(p, n_draws), 3)
        p = min(max(p, 0.5 / n_draws), 1 - 0.5 / n_draws)
    if 0 < p < 0.001 or 0.999 < p < 1:
        return "<0.001" if p < 0.5 else ">0.999"
    return f"{p:.3f}" if p < 0.01 or p > 0.99 else f"{p:.2f}"


def _digits_of_width(width, least, more=0):
    """Decimals that show the width of an interval, and some more."""
    if not (width > 0 and math.isfinite(width)):
        return least
    return min(max(least, math.ceil(-math.log10(width)) + more), _MOST_DIGITS)


def decimals(width, digits):
    """Decimals that were asked for, or enough to see the width of an interval."""
    return _digits_of_width(width, _DIGITS, 1) if digits is None else digits


def few_decimals(low, high):
    """Decimals in a sentence: two, or as many as show the width of the interval."""
    return _digits_of_width(high - low, 2)


def number(value, digits):
    """Text of a number with so many decimals; fewer than none round to tens, hundreds, ..."""
    if _missing(value):
        return "-"
    value = float(value)  # an infinity is a text in a JSON file
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}f}" if digits >= 0 else f"{round(value, digits):.0f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def number_text(value, error=0.0):
    """Text of one number without digits that its Monte Carlo error does not support."""
    return cell_text({"value": float(value), "error": error}) if value == value else "undefined"


def spoken(value, digits=3):
    """Number in a description: short, with infinity as a word."""
    if not math.isfinite(value):
        return {math.inf: "infinity", -math.inf: "-infinity"}.get(float(value), "undefined")
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.4g}"


def spoken_interval(estimate, low, high):
    """Such as "0.870 [0.802, 0.921]", kept on one line."""
    text = f"{spoken(estimate)} [{spoken(low)}, {spoken(high)}]"
    return text.replace(" ", "\u00a0")


def ends_text(low, high, digits):
    """Both ends in a sentence, such as "0.93–1.00" or "-0.04 to 0.24"."""
    ends = number(low, digits), number(high, digits)
    return " to ".join(ends) if low < 0 else "–".join(ends)


def cell_ends(cell):
    """Both ends of a cell, such as "0.925 to 1.000"."""
    ends = {key: cell[key] for key in ("low", "high", "error")}
    return cell_text(ends).strip("[]").replace(", ", " to ")


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
    rows, left_out = section["rows"], 0
    columns = [c for c in section["columns"] if c.get("printed", True)]
    first = columns[0]["key"]
    if most is not None and section["ranked"] and len(rows) > most:
        rows, left_out = rows[:most], len(rows) - most
    named = [{**row, first: row_name(row, first)} for row in rows]
    texts = [[_entry_text(row.get(c["key"]), c, digits, label) for c in columns] for row in named]
    return [c["title"] for c in columns], texts, left_out


def _entry_text(cell, spec, digits, label):
    own = digits if spec["digits"] is None else spec["digits"]
    if isinstance(cell, str):
        return label(cell)
    return label(share_text(cell, own)) if spec.get("share") else cell_text(cell, own)
