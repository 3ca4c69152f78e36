"""What was typed: every field is a text, and every problem has its place beside a field."""

import io
import re
from functools import cache

from skuncertain._csv_counts import column_names
from skuncertain._metric_table import ALIASES
from skuncertain._metrics import get_metric, get_metric_names
from skuncertain._priors import LARGEST, NAMES
from skuncertain._proportions import proportion_cells
from skuncertain._report_cells import clean
from skuncertain._sentence import metric_title
from skuncertain._table_files import NAME_IT, read_paired, read_predictions

LARGEST_COUNT = 999_999_999
MOST_CLASSES = 20
MOST_NEW_ROWS = 100_000
LONGEST_LABEL = 100
LONGEST_TEXT = 200
MOST_BYTES = 2_000_000  # of a table
TOO_LONG = (
    f"This is too much: at most {MOST_BYTES // 1_000_000} MB. For longer tables use the command "
    "line: skuncertain report --file."
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_PARAMETERS = ("expected_cost", "fbeta", "net_benefit")  # need more than a name
_AVERAGES = ("_micro", "_macro", "_weighted")

COUNTS = ("tp", "fn", "fp", "tn")
CELLS = {
    "tp": "True positives",
    "fn": "False negatives",
    "fp": "False positives",
    "tn": "True negatives",
}
KINDS = {"eti": "equal-tailed (eti)", "hdi": "highest-density (hdi)"}
PRIORS = {
    "auto": "auto (recommended)",
    "neutral": "neutral, 1/3 per cell",
    "jeffreys": "Jeffreys, 1/2 per cell",
    "laplace": "Laplace, 1 per cell",
    "haldane": "Haldane, 0 per cell",
    "shared": "shared",
    "total-one": "total-one",
    "number": "a number per cell",
}
assert set(PRIORS) == {*NAMES, "number"}

_COMMON = {"level": "0.95", "kind": "eti", "prior": "auto", "pseudo": ""}
_ROWS = {"source": "counts", "csv": "", "true": "", "pos_label": ""}
FIELDS = {
    "one": {
        **dict(zip(COUNTS, ("26", "0", "2", "6"), strict=True)),
        **_ROWS,
        "pred": "",
        "metric": "recall",
        **_COMMON,
        "show": "posterior",
        "n_new": "",
        "low": "0.9",
        "high": "",
        "prevalence": "",
    },
    "two": {
        **{f"a_{cell}": n for cell, n in zip(COUNTS, ("45", "5", "10", "40"), strict=True)},
        **{f"b_{cell}": n for cell, n in zip(COUNTS, ("41", "9", "4", "46"), strict=True)},
        **_ROWS,
        "pred_a": "",
        "pred_b": "",
        "metric": "accuracy",
        **_COMMON,
        "rope": "0.01",
    },
    "plan": {
        "metric": "recall",
        "expected": "0.9",
        "concentration": "",
        "width": "0.1",
        "n": "100",
        "power": "0.95",
        "prevalence": "",
        **_COMMON,
    },
}


@cache
def metric_options(page):
    """Return [(group, [(name, text)])] of the metrics that a page can answer."""
    usable = []
    for name in [*(n for n in get_metric_names() if n.partition("_")[0] != "fbeta"), "f0.5", "f2"]:
        if name in _PARAMETERS:
            continue
        metric = get_metric(name)
        if page == "two" and metric.greater_is_better is None:
            continue
        if page == "plan" and (proportion_cells(metric) is None or name.endswith(_AVERAGES)):
            continue
        usable.append(name)
    first = ["accuracy", "recall", "specificity", "precision", "npv", "f1"]
    usual = [name for name in first if name in usable]
    averages = [name for name in usable if name.endswith(_AVERAGES)]
    others = [name for name in usable if name not in (*usual, *averages)]
    groups = {"Usual": usual, "More": others, "Averages over classes": averages}
    return [(group, [(n, _option(n)) for n in names]) for group, names in groups.items() if names]


def _option(name):
    title = metric_title(name, start=True)
    more = [alias for alias, of in ALIASES.items() if of == name]
    if name.lower() not in (title.lower(), title.lower().replace(" ", "_")):
        more.insert(0, name)
    return f"{title} ({', '.join(more)})" if more and not name.endswith(_AVERAGES) else title


class Form:
    """The fields of a page with what is wrong about them.

    Parameters
    ----------
    page : {"one", "two", "plan"}
        Which fields there are.
    given : dict
        What was typed; by default the example.
    """

    def __init__(self, page, given=None):
        self.page = page
        self.values = dict(FIELDS[page])
        self.errors: dict = {}
        for name, value in (given or {}).items():
            if name not in self.values or not isinstance(value, str):
                raise ValueError(f"unknown field {clean(name)[:LONGEST_TEXT]!r}")
            self.values[name] = value
        for name, value in self.values.items():
            if name != "csv" and len(value) > LONGEST_TEXT:
                self.values[name] = value[:LONGEST_TEXT]
                self.fail(name, f"At most {LONGEST_TEXT} characters.")

    def fail(self, name, message):
        """Note a problem; the first one of a field is shown."""
        self.errors.setdefault(name, message)

    def text(self, name):
        """Text without blanks around it."""
        return self.values[name].strip()

    def choice(self, name, options):
        """One of the options, or the first of them with a problem."""
        value = self.values[name]
        if value not in options:
            self.fail(name, "Choose one of the list.")
            return next(iter(options))
        return value

    def count(self, name, largest=LARGEST_COUNT, low=0, optional=False):
        """Whole number, or None."""
        text = self.text(name)
        if not text:
            if not optional:
                self.fail(name, "A number is missing.")
            return None
        if text.isascii() and text.isdigit():
            digits = text.lstrip("0") or "0"
            if len(digits) > len(str(largest)) or int(digits) > largest:
                self.fail(name, f"At most {largest:,}.")
            elif int(digits) < low:
                self.fail(name, f"At least {low}.")
            else:
                return int(digits)
        elif _NUMBER.fullmatch(text) and text.startswith("-"):
            self.fail(name, "A count cannot be negative.")
        elif _NUMBER.fullmatch(text) and "e" not in text.lower():
            self.fail(name, "A count is a whole number, without a decimal point.")
        else:
            self.fail(name, "Write a whole number in digits only, such as 26.")
        return None

    def number(self, name, low, high, *, closed=True, optional=False):
        """Number in a range, or None."""
        text = self.text(name)
        if not text:
            if not optional:
                self.fail(name, "A number is missing.")
            return None
        if not _NUMBER.fullmatch(text):
            comma = _NUMBER.fullmatch(text.replace(",", ".", 1))
            hint = f"Write a decimal point: {text.replace(',', '.', 1)}" if comma else ""
            self.fail(name, f"{hint}." if hint else "Write a number, such as 0.9.")
            return None
        value = float(text)
        if not (low <= value <= high if closed else low < value < high):
            rule = f"between {low:g} and {high:g}"
            if high == float("inf"):
                rule = f"{low:g} or more" if closed else f"more than {low:g}"
            hint = f" Did you mean {value / 100:g}?" if high == 1 and 1 < value < 100 else ""
            self.fail(name, f"Must be {rule}{'' if closed else ', without the ends'}.{hint}")
            return None
        return value

    # What several pages have

    def metric(self):
        """Name of the metric."""
        options = [name for _, names in metric_options(self.page) for name, _ in names]
        return self.choice("metric", options)

    def interval(self):
        """Level, kind and prior."""
        level = self.number("level", 0, 1, closed=False)
        kind, prior = self.choice("kind", KINDS), self.choice("prior", PRIORS)
        if prior == "number":
            prior = self.number("pseudo", 0, LARGEST)
        return level, kind, prior

    def binary(self, prefix=""):
        """Four counts by name, or None if one of them is wrong."""
        found = {cell: self.count(prefix + cell) for cell in COUNTS}
        return None if None in found.values() else found

    def table(self, *columns):
        """Counts of the pasted rows, for one column of predictions or for two; or None."""
        names = {name: self.text(name) for name in ("true", *columns)}
        data = self.values["csv"].encode("utf-8", "surrogatepass")
        if not data.strip():
            self.fail("csv", "Paste a table, or choose a file.")
        elif len(data) > MOST_BYTES:
            self.fail("csv", TOO_LONG)
        if self.errors:
            return None
        pos_label = self.text("pos_label") or None
        try:
            found = column_names(io.BytesIO(data))
            assumed = not any(names.values()) and len(found) == len(names)
            if assumed:  # nothing to choose from
                names = dict(zip(names, found, strict=True))
            for name in (name for name, column in names.items() if not column):
                listed = ", ".join(map(repr, found[:20])) + (", ..." if len(found) > 20 else "")
                self.fail(name, clean(f"Name a column of the table: {listed}."))
            if self.errors:
                return None
            true, *pred = names.values()
            read, which = (read_predictions, pred[0]) if len(pred) == 1 else (read_paired, pred)
            counts = read(io.BytesIO(data), true=true, pred=which, pos_label=pos_label)
        except (ValueError, TypeError) as error:
            name = self._place(str(error), columns)
            told = str(error).replace(NAME_IT, "give it another name")  # no field for labels
            told = re.sub(r": give labels=\[\.\.\.\].*", ": enter four counts instead.", told)
            self.fail(name, clean(re.sub(r"^(true|pred( of [ab])?)=", "", told)))
            return None
        labels = set(map(str, counts.labels))
        if assumed and any(name in labels or _NUMBER.fullmatch(name) for name in found):
            listed = clean(", ".join(found))
            self.fail("csv", f"The first line must name the columns, but it is {listed}.")
        if len(counts.labels) > MOST_CLASSES:
            self.fail(
                "csv",
                f"{len(counts.labels)} classes; the page shows up to {MOST_CLASSES}. The command "
                "line has no such limit.",
            )
        if any(len(str(label)) > LONGEST_LABEL for label in counts.labels):
            self.fail("csv", f"A label has more than {LONGEST_LABEL} characters.")
        return None if self.errors else counts

    def _place(self, message, columns):
        """Field that a message of the reader belongs to."""
        if message.startswith("pos_label"):
            return "pos_label"
        for start, name in {
            "true=": "true",
            "pred of a=": "pred_a",
            "pred of b=": "pred_b",
        }.items():
            if message.startswith(start):
                return name
        return columns[0] if message.startswith("pred=") else "csv"
