"""What was typed: every field is a text, and every problem has its place beside a field."""

import io
import math
import re
from functools import cache

from skuncertain._io.csv_counts import column_names
from skuncertain._io.tables import read_folds, read_paired, read_predictions
from skuncertain._reporting.text import clean, kind_text
from skuncertain._utils.validation import share_hint
from skuncertain.app._sentence import metric_title
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.metrics._formulas import proportion_odds
from skuncertain.metrics._names import aliases_of
from skuncertain.metrics._priors import LARGEST
from skuncertain.metrics._registry import count_metric, get_metric, get_metric_names, is_symmetric

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
NO_CLASS = "by the labels"  # no class is chosen
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
KINDS = {kind: kind_text(kind) for kind in ("eti", "hdi")}
PRIORS = {
    "auto": "auto (recommended)",
    "neutral": "neutral, 1/3 per cell",
    "jeffreys": "Jeffreys, 1/2 per cell",
    "laplace": "Laplace, 1 per cell",
    "haldane": "Haldane, 0 per cell",
    "shared": "shared",
    "total_one": "total_one",
    "number": "a number per cell",
}
MODELS = {
    "dirichlet": "one Dirichlet over all cells",
    "three_beta": "three Betas: prevalence, recall, specificity",
    "rows": "a Dirichlet per true class",
}
FOLD_METHODS = {
    "auto": "pooled, row weight from the folds",
    "wang_li": "pooled, row weight of Wang and Li",
    "averaged": "average of the folds",
    "dirichlet": "pooled, one Dirichlet",
    "bootstrap": "pooled, bootstrap",
    "corrected_t": "corrected t",
    "nadeau_bengio": "Nadeau and Bengio's t",
}

_COMMON = {"level": "0.95", "kind": "eti", "prior": "auto", "pseudo": ""}
_ROWS = {"source": "counts", "csv": "", "true": "", "pos_label": ""}
FIELDS = {
    "one": {
        **dict(zip(COUNTS, ("26", "0", "2", "6"), strict=True)),
        **_ROWS,
        "pred": "",
        "fold": "",
        "method": "auto",
        "n_repeats": "",
        "metric": "recall",
        **_COMMON,
        "model": "dirichlet",
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
    fits = {
        "one": lambda _: True,
        "two": lambda metric: metric.greater_is_better is not None,
        "plan": lambda metric: (
            proportion_odds(metric) is not None and not metric.name.endswith(_AVERAGES)
        ),
    }[page]
    names = [
        *(n for n in get_metric_names(needs="labels") if n.partition("_")[0] != "fbeta"),
        "f0.5",
        "f2",
    ]
    usable = [name for name in names if name not in _PARAMETERS and fits(count_metric(name))]
    first = ["accuracy", "recall", "specificity", "precision", "npv", "f1"]
    usual = [name for name in first if name in usable]
    averages = [name for name in usable if name.endswith(_AVERAGES)]
    others = [name for name in usable if name not in (*usual, *averages)]
    groups = {"Usual": usual, "More": others, "Averages over classes": averages}
    return [(group, [(n, _option(n)) for n in names]) for group, names in groups.items() if names]


def _needed(name):
    """What a metric of scores or probabilities needs, in words; None of any other text."""
    try:
        found = get_metric(name)
    except InvalidParameterError:
        return None
    if found.needs == "labels":
        return None
    return f"{found.name} needs {found.needs} of every row, and this page has labels and counts."


def _option(name):
    title = metric_title(name, start=True)
    more = aliases_of(name)[:2]
    if name.lower() not in (title.lower(), title.lower().replace(" ", "_")):
        more.insert(0, name)
    text = f"{title} ({', '.join(more)})" if more and not name.endswith(_AVERAGES) else title
    return text if count_metric(name).depends_on_prevalence else f"{text}, at any prevalence"


class Form:
    """The fields of a page with what is wrong about them.

    Parameters
    ----------
    page : {"one", "two", "plan"}
        Which fields there are.
    given : dict
        What was typed, in all fields; by default the example.
    """

    def __init__(self, page, given=None):
        self.page = page
        self.values = dict(FIELDS[page])
        self.errors: dict = {}
        self.folds: list = []  # names of the folds, after the table was read
        self.classes: list = []  # [text, shown] of the classes, then
        if given is not None:
            # A field that is missing must not be taken from the example.
            if given.keys() != self.values.keys():
                raise ValueError("these are not the fields of the page")
            if not all(isinstance(value, str) for value in given.values()):
                raise ValueError("every field is a text")
            self.values = dict(given)
        for name, value in self.values.items():
            if name != "csv" and len(value) > LONGEST_TEXT:
                self.values[name] = value[:LONGEST_TEXT]
                self.fail(name, f"At most {LONGEST_TEXT} characters.")

    def fail(self, name, message, when=True):
        """Note a problem, where there is one; the first one of a field is shown."""
        if when:
            self.errors.setdefault(name, message)

    def text(self, name):
        """Text without blanks around it."""
        return self.values[name].strip()

    def choice(self, name, options):
        """One of the options, or the first of them with a problem."""
        value = self.values[name]
        self.fail(name, "Choose one of the list.", value not in options)
        return value if value in options else next(iter(options))

    def count(self, name, largest=LARGEST_COUNT, low=0, optional=False):
        """Whole number, or None."""
        text = self.text(name)
        value = int(text) if text.isascii() and text.isdigit() else None
        number = value is None and _NUMBER.fullmatch(text)
        problems = {
            "A count cannot be negative.": number and text.startswith("-"),
            "A count is a whole number, without a decimal point.": (
                number and "e" not in text.lower()
            ),
            "Write a whole number in digits only, such as 26.": value is None,
            f"At most {largest:,}.": value is not None and value > largest,
            f"At least {low}.": value is not None and value < low,
        }
        return self._checked(name, value, problems, optional)

    def number(self, name, low, high, *, closed=True, optional=False, percent=None):
        """Number in a range, or None; `percent` as in `check_number`."""
        text = self.text(name)
        dotted = text.replace(",", ".", 1)
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        inside = low <= value <= high if closed else low < value < high
        rule = f"between {low:g} and {high:g}"
        if high == math.inf:
            rule = f"{low:g} or more" if closed else f"more than {low:g}"
        hint = "" if percent is None else share_hint(value, percent)
        problems = {
            f"Write a decimal point: {dotted}.": dotted != text and _NUMBER.fullmatch(dotted),
            "Write a number, such as 0.9.": math.isnan(value),
            f"Must be {rule}{'' if closed else ', without the ends'}.{hint}": not inside,
        }
        return self._checked(name, value, problems, optional)

    def _checked(self, name, value, problems, optional):
        """Value of a field that has none of the problems and is not empty, or None."""
        filled = bool(self.text(name))
        told = problems if filled else {"A number is missing.": not optional}
        for message, found in told.items():
            self.fail(name, message, found)
        return value if filled and name not in self.errors else None

    # What several pages have

    def metric(self):
        """Name of the metric."""
        options = [name for _, names in metric_options(self.page) for name, _ in names]
        needed = _needed(self.text("metric")) if self.values["metric"] not in options else None
        self.fail("metric", f"{needed} On the command line: --proba.", needed is not None)
        return self.choice("metric", options)

    def interval(self):
        """Level, kind and prior."""
        level = self.number("level", 0, 1, closed=False, percent=0.5)
        kind, prior = self.choice("kind", KINDS), self.choice("prior", PRIORS)
        if prior == "number":
            prior = self.number("pseudo", 0, LARGEST)
        return level, kind, prior

    def needs_positive(self, counts, metric):
        """Note a problem if a metric of one class is asked and no class is named."""
        two = counts.n_classes == 2
        self.fail(
            "pos_label",
            f"{self.choose(counts)} Or ask for an average over classes.",
            counts.pos_label is None
            and metric.average == "binary"
            and not (two and is_symmetric(metric)),
        )

    @staticmethod
    def choose(counts):
        """Ask for a class."""
        names = ", ".join(clean(label) for label in counts.labels)
        return f"Choose the positive class: {names}."

    def class_options(self):
        """Options (value, text) of the positive class; the one that was chosen stays among them."""
        chosen = self.values.get("pos_label", "")
        known = [["", NO_CLASS], *self.classes]
        return known if chosen in dict(known) else [*known, [chosen, clean(chosen)]]

    def binary(self, prefix=""):
        """Four counts by name, or None if one of them is wrong."""
        found = {cell: self.count(prefix + cell) for cell in COUNTS}
        return None if None in found.values() else found

    def table(self, *columns):
        """Counts of the pasted rows, for one column of predictions or for two; or None.

        Where a column of folds is named they are a stack, one matrix per fold.
        """
        names = {name: self.text(name) for name in ("true", *columns)}
        data = self.values["csv"].encode("utf-8", "surrogatepass")
        self.fail("csv", "Paste a table, or choose a file.", not data.strip())
        self.fail("csv", TOO_LONG, len(data) > MOST_BYTES)
        if self.errors:
            return None
        pos_label = self.text("pos_label") or None
        try:
            found = column_names(io.BytesIO(data))
            fold = self.text("fold") if "fold" in self.values else ""
            free = [name for name in found if name != fold]
            assumed = not any(names.values()) and len(free) == len(names)
            if assumed:  # nothing to choose from
                names = dict(zip(names, free, strict=True))
            listed = ", ".join(map(repr, found[:20])) + (", ..." if len(found) > 20 else "")
            wrong = bool(fold) and fold not in found
            self.fail("fold", clean(f"{fold!r} is not a column of the table: {listed}."), wrong)
            for name in (name for name, column in names.items() if not column):
                self.fail(name, clean(f"Name a column of the table: {listed}."))
            if self.errors:
                return None
            counts = self._counted(data, names, fold, pos_label)
        except (InvalidParameterError, TableFileError) as error:
            self._fail_table(error)
            return None
        labels, listed = [str(label) for label in counts.labels], clean(", ".join(found))
        self.fail(
            "csv",
            f"The first line must name the columns, but it is {listed}.",
            assumed and any(name in labels or _NUMBER.fullmatch(name) for name in found),
        )
        self.fail(
            "csv",
            f"{len(labels)} classes; the page shows up to {MOST_CLASSES}. The command line has no "
            "such limit.",
            len(labels) > MOST_CLASSES,
        )
        long = any(len(label) > LONGEST_LABEL for label in labels)
        self.fail("csv", f"A label has more than {LONGEST_LABEL} characters.", long)
        return None if self.errors else counts

    def _counted(self, data, names, fold, pos_label):
        """Counts by the reader that fits the columns; it tells the classes to choose from."""
        try:
            counts = self._read(io.BytesIO(data), names, fold, pos_label)
        except InvalidParameterError as error:
            if error.parameter != "pos_label":
                raise
            self._counted(data, names, fold, None)  # another class can be chosen
            raise
        shown = counts.labels[:MOST_CLASSES]
        self.classes = [[str(label), clean(label)] for label in shown]
        return counts

    def _read(self, file, names, fold, pos_label):
        true, *pred = names.values()
        if fold:
            about = {"fold": fold, "pos_label": pos_label}
            counts, self.folds = read_folds(file, true=true, pred=pred[0], **about)
            return counts
        read, which = (read_predictions, pred[0]) if len(pred) == 1 else (read_paired, pred)
        return read(file, true=true, pred=which, pos_label=pos_label)

    def _fail_table(self, error):
        """Note what a reader of tables says beside the field that it is about."""
        name = error.parameter
        told = error.message.removeprefix(f"{name}=")
        if error.remedy:  # there is no field for labels
            unread = isinstance(error, TableFileError)
            told += " give it another name." if unread else " enter four counts instead."
        self.fail(name if name in self.values else "csv", clean(told))
