"""The command line: options, help and messages."""

import argparse
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from skuncertain._reporting import FORMATS
from skuncertain._reporting.text import clean
from skuncertain._utils.address import USUAL_HOST, USUAL_PORT
from skuncertain._version import __version__

USAGE = 2
TICK = 1.0  # seconds between two signs of life

EXAMPLES = {
    "": """\
  skuncertain report --tp 26 --fn 0 --fp 2 --tn 6
  skuncertain report --file predictions.csv --true y --pred yhat --metric f1
  skuncertain compare --a 26 0 2 6 --b 20 6 1 7 --metric recall
  skuncertain plan --metric recall --expected 0.9 --width 0.1""",
    "report": """\
  skuncertain report --tp 26 --fn 0 --fp 2 --tn 6
  skuncertain report --tp 26 --fn 0 --fp 2 --tn 6 --metric recall precision mcc --kind hdi
  skuncertain report --tp 26 --fn 0 --fp 2 --tn 6 --metric precision --prevalence 0.01
  skuncertain report --file predictions.csv --true y --pred yhat --output report.html
  skuncertain report --file predictions.csv --true y --proba p --metric log_loss roc_auc f1
  zcat big.csv.gz | skuncertain report --file - --true y --pred yhat --metric f1
  skuncertain report --matrix matrix.csv --rows true --format markdown
  skuncertain report --tp 26 --fn 0 --fp 2 --tn 6 --metric precision --model three_beta
  skuncertain report --file predictions.csv --true y --pred yhat --fold fold
  skuncertain report --matrix folds.json --rows true --metric f1 --method nadeau_bengio""",
    "compare": """\
  skuncertain compare --a 26 0 2 6 --b 20 6 1 7 --metric recall --rope 0.02
  skuncertain compare --file predictions.csv --true y --pred model_a model_b
  skuncertain compare --file predictions.csv --true y --proba p_a p_b --metric log_loss
  skuncertain compare --file site_a.csv site_b.csv --true y --pred yhat --metric f1
  skuncertain compare --matrix a.csv b.csv --rows predicted --metric balanced_accuracy""",
    "plan": """\
  skuncertain plan --metric recall --expected 0.9 --width 0.1 --prevalence 0.2
  skuncertain plan --metric recall --expected 0.9 --n 100
  skuncertain plan --metric f1 --tp 26 --fn 0 --fp 2 --tn 6 --width 0.1
  skuncertain plan --difference 0.05 --disagreement 0.1
  skuncertain plan --difference 0.05 --rate 0.85""",
    "search": """\
  skuncertain search cv_results.csv
  skuncertain search cv_results.json --metric f1 --n-repeats 2 --rope 0.01
  skuncertain search cv_results.json --metric f1 --method nadeau_bengio""",
    "metrics": """\
  skuncertain metrics
  skuncertain metrics recall mcc""",
    "demo": "  skuncertain demo",
    "app": """\
  skuncertain app
  skuncertain app --port 8080 --no-browser""",
    "completion": """\
  source <(skuncertain completion bash)
  source <(skuncertain completion zsh)""",
}


class UsageError(Exception):
    """The program was called wrongly; the text is in the words of the command line."""


def as_option(name):
    """Option of the command line for a parameter of Python."""
    return "--" + name.replace("_", "-")


def say(text):
    """Print one line on stderr, if the process has one and somebody reads it."""
    if sys.stderr is not None:
        with suppress(OSError):  # the exit code tells as well
            print(f"skuncertain: {clean(' '.join(text.split()))}", file=sys.stderr, flush=True)


class Progress:
    """Line on a terminal that says how long the program has worked, if it takes a while."""

    def __init__(self, quiet):
        self.active = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.start = time.monotonic()
        self.read, self.shown = "", False
        self.done = threading.Event()
        self.clock = threading.Thread(target=self._tick, daemon=True)

    def __call__(self, n_bytes):
        """Note how much of a file was read."""
        self.read = f", {n_bytes / 1e6:,.0f} MB read"

    def __enter__(self):
        if self.active:
            self.clock.start()
        return self

    def __exit__(self, *_):
        """Wipe the line."""
        self.done.set()
        if self.active:
            self.clock.join()
        if self.shown:
            print("\r" + " " * 50 + "\r", end="", file=sys.stderr, flush=True)

    def _tick(self):
        while not self.done.wait(TICK):
            self.shown = True
            text = f"\rworking for {time.monotonic() - self.start:.0f} s{self.read}"
            print(text, end="", file=sys.stderr, flush=True)


# --------------------------------------------------------------------------------------------------
# The options


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message):
        say(f"error: {message}. See: {self.prog} --help")
        self.exit(USAGE)


def _whole(text):
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def _number(text):
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}{_share(text)}") from None


def _share(text):
    """Hint for somebody who has written a percentage, or a decimal comma."""
    number = text.strip().replace(",", ".")
    try:
        value = float(number.removesuffix("%"))
    except ValueError:
        return ""
    return f" (did you mean {value / 100 if number.endswith('%') else value:g}?)"


def _number_or_name(text):
    try:
        return float(text)
    except ValueError:
        return text  # a name; the library knows which there are


# Options that several commands have, by the names of their parameters in Python
_CELLS = {
    name: {"type": _whole, "metavar": "N", "help": text}
    for name, text in {
        "tp": "true positives",
        "fn": "false negatives",
        "fp": "false positives",
        "tn": "true negatives",
    }.items()
}
_LABELS = {
    "labels": {
        "nargs": "+",
        "metavar": "LABEL",
        "help": "all classes, in order; by default as found",
    },
    "pos_label": {"metavar": "LABEL", "help": "the positive class"},
}
_INTERVAL = {
    "level": {
        "type": _number,
        "default": 0.95,
        "metavar": "P",
        "help": "probability, default 0.95",
    },
    "kind": {
        "choices": ("eti", "hdi"),
        "default": "eti",
        "help": "equal-tailed (default) or highest-density",
    },
}
_PRIOR = {
    "prior": {
        "type": _number_or_name,
        "metavar": "PRIOR",
        "help": "auto (default), neutral, jeffreys, laplace, haldane, shared, total_one or "
        "a number",
    },
}
_OMEGA = {
    "type": _number_or_name,
    "metavar": "W",
    "help": "what a row counts, with pooled: auto (default), wang_li or a number",
}
_DRAWS = {
    "n_draws": {
        "type": _whole,
        "metavar": "N",
        "help": "random draws, where there is no exact form",
    },
    "random_state": {
        "type": _whole,
        "default": 0,
        "metavar": "SEED",
        "help": "their seed, default 0: the same call gives the same numbers",
    },
}


def _add(parser, **options):
    """Add options, which are settings of argparse by name."""
    for name, settings in options.items():
        parser.add_argument(as_option(name), **settings)


def _add_files(group, number, text):
    """Add the options of files with predictions, of confusion matrices, or of two of either."""
    _add(
        group,
        file={"nargs": number, "metavar": "PATH", "help": text},
        true={"metavar": "COLUMN", "help": "column with the true labels"},
        pred={
            "nargs": number,
            "metavar": "COLUMN",
            "help": "column with the predicted labels",
        },
        matrix={
            "nargs": 2 if number else None,
            "metavar": "PATH",
            "help": "confusion matrix as CSV, labels in the first line and the first column; or "
            "as JSON",
        },
        rows={"choices": ("true", "predicted"), "help": "what its rows are"},
    )


_PROBA = {
    "nargs": "+",
    "metavar": "COLUMN",
    "help": "with --file: column with the probability of the positive class (of the last one, if "
    "no class is positive), or one column per class, called like it or given as COLUMN=CLASS; for "
    "log_loss, roc_auc and the like",
}


def _add_table(parser, title="a table, one of", proba=False):
    group = parser.add_argument_group(title)
    _add(group, **_CELLS)
    _add_files(group, None, "CSV of predictions with a header, also gz; - for standard input")
    if proba:
        _add(group, proba=_PROBA)
    _add(parser, **_LABELS)


def _add_output(parser):
    parser.add_argument(
        "--format", choices=tuple(FORMATS), help="default text, or what --output says"
    )
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="write to a file (.txt, .md, .json, .csv, .html)"
    )
    parser.add_argument("--digits", type=_whole, metavar="N", help="decimals of the numbers")


def _report(parser):
    _add_table(parser, proba=True)
    _add(
        parser,
        metric={
            "nargs": "+",
            "action": "extend",
            "metavar": "NAME",
            "help": "metrics, one row each ('skuncertain metrics' lists them); without it a "
            "classification report of all classes",
        },
        **_INTERVAL,
        **_PRIOR,
        prevalence={
            "nargs": "+",
            "type": _number,
            "metavar": "P",
            "help": "the same classifier in another population: share of the positive class "
            "there, or one share per class",
        },
        model={
            "choices": ("dirichlet", "three_beta", "rows"),
            "help": "with --metric: one Dirichlet over all cells (default); Betas of prevalence, "
            "recall and specificity; or a Dirichlet per true class and one for their frequencies",
        },
        **_DRAWS,
    )
    _add(
        parser.add_argument_group("a cross-validation"),
        fold={
            "metavar": "COLUMN",
            "help": "column of --file that tells the fold of a row; JSON of --matrix may hold one "
            "matrix per fold",
        },
        method={
            "metavar": "NAME",
            "help": "pooled (default), averaged, average_exact, bootstrap, dirichlet, t, "
            "corrected_t or nadeau_bengio",
        },
        omega=_OMEGA,
        estimand={
            "choices": ("fitted", "algorithm", "final"),
            "help": "the models of the folds on average (default), the algorithm on other training "
            "sets, or the one model fitted on all rows",
        },
        n_repeats={
            "type": _whole,
            "metavar": "N",
            "help": "repetitions of the folds, default 1",
        },
    )
    _add_output(parser)


def _compare(parser):
    tables = parser.add_argument_group("two tables, one of")
    cells = {"nargs": 4, "type": _whole, "metavar": ("TP", "FN", "FP", "TN")}
    _add(tables, **{k: {**cells, "help": f"counts of classifier {k}"} for k in ("a", "b")})
    _add_files(tables, "+", "one file (then two --pred), or two files with the rows of a and of b")
    _add(
        tables,
        proba={
            "nargs": 2,
            "metavar": "COLUMN",
            "help": "in place of --pred, for log_loss, roc_auc and the like: columns of one file "
            "with the probabilities of the positive class (or the last one) by a and by b",
        },
    )
    _add(
        parser,
        **_LABELS,
        metric={
            "default": "accuracy",
            "metavar": "NAME",
            "help": "metric, default accuracy",
        },
        rope={
            "type": _number,
            "default": 0.0,
            "metavar": "D",
            "help": "differences up to D count as none, default 0",
        },
        names={"nargs": 2, "metavar": ("A", "B"), "help": "what to call them"},
        **_INTERVAL,
        **_PRIOR,
        **_DRAWS,
    )
    _add_output(parser)


def _plan(parser):
    share = {"type": _number, "metavar": "P"}
    _add(
        parser,
        width={"type": _number, "metavar": "W", "help": "wanted length, end to end"},
        n={"type": _whole, "metavar": "N", "help": "number of samples"},
        difference={
            "type": _number,
            "metavar": "D",
            "help": "true difference b - a of two classifiers",
        },
        metric={"metavar": "NAME", "help": "metric, default recall"},
        expected={
            "nargs": "+",
            "type": _number,
            "metavar": "VALUE",
            "help": "expected value of the metric; with a second number: how many samples this "
            "opinion is worth. Or a pilot study:",
        },
    )
    _add_table(parser, "pilot study, one of")
    _add(
        parser,
        power={**share, "help": "probability of success"},
        prevalence={**share, "help": "share of positives, to tell the rows"},
        # What was not asked for is refused beside --difference: no defaults.
        **{name: {**settings, "default": None} for name, settings in _INTERVAL.items()},
        **_PRIOR,
        n_studies={
            "type": _whole,
            "metavar": "N",
            "help": "simulated studies, where not exact",
        },
        **_DRAWS,
    )
    _add(
        parser.add_argument_group("with --difference"),
        disagreement={**share, "help": "same rows: share on which exactly one is right"},
        rate={**share, "help": "different rows: rate of a"},
        probability={**share, "help": "P(b better) to reach, default 0.95"},
        rope={"type": _number, "metavar": "D", "help": "b must be better by more"},
    )
    _add_output(parser)


def _search(parser):
    parser.add_argument("results", help="cv_results_ as CSV or JSON, - for standard input")
    _add(
        parser,
        metric={"metavar": "NAME", "help": "which score, if there are several"},
        n_repeats={
            "type": _whole,
            "metavar": "N",
            "help": "repetitions of the folds, default 1",
        },
        test_train_ratio={
            "type": _number,
            "metavar": "R",
            "help": "test rows over training rows, default 1 / (folds - 1)",
        },
        rope={
            "type": _number,
            "default": 0.01,
            "metavar": "D",
            "help": "differences up to D count as none, default 0.01",
        },
        probability={
            "type": _number,
            "metavar": "P",
            "help": "as good: not worse by more than that with probability P, default 0.5",
        },
        no_shrinkage={
            "action": "store_false",
            "dest": "shrinkage",
            "default": None,
            "help": "P(best) takes every difference at face value",
        },
        **_LABELS,
        **_INTERVAL,
        **_DRAWS,
    )
    _add(
        parser.add_argument_group("the interval of every candidate"),
        method={
            "metavar": "NAME",
            "help": "with counts pooled (default), averaged, average_exact, bootstrap or "
            "dirichlet; nadeau_bengio (default of scores), t or corrected_t",
        },
        omega=_OMEGA,
        prior={
            **_PRIOR["prior"],
            "help": "pseudo-rows per cell, default 1, or a name as in skuncertain report",
        },
        prior_per_fold={
            "action": "store_true",
            "default": None,
            "help": "the prior in every fold, as Wang and Li do, with averaged",
        },
    )
    _add_output(parser)


def _metrics(parser):
    parser.add_argument("names", nargs="*", metavar="name", help="only these")


def _demo(parser):
    """Add nothing: the demonstration has no options."""


def _app(parser):
    _add(
        parser,
        host={"default": USUAL_HOST, "help": f"address to listen on, default {USUAL_HOST}"},
        port={
            "type": _whole,
            "help": f"port, by default {USUAL_PORT}, or a free one if that is taken",
        },
        no_browser={"action": "store_true", "help": "do not open a browser"},
    )


def _completion(parser):
    parser.add_argument("shell", choices=("bash", "zsh"))


_COMMANDS = {  # what a command does, more about it, and the function that adds its options
    "report": ("scores of one classifier, each with its interval", "", _report),
    "compare": (
        "which of two classifiers is better",
        " The difference is b - a. One file with two --pred columns is a paired comparison; two "
        "tables are compared as tested on different rows.",
        _compare,
    ),
    "plan": (
        "how many samples, or how long the interval",
        " One of --width (how many samples?), --n (how long?) and --difference (how many to find "
        "the better of two?).",
        _plan,
    ),
    "search": ("how sure the choice of a finished search is", "", _search),
    "metrics": (
        "list the names of the metrics with their formulas",
        "[at any prevalence]: the value does not change with it. [scores], [probabilities]: what "
        "it is computed from, in place of labels; see --proba of report.",
        _metrics,
    ),
    "demo": ("a short demonstration on scikit-learn's breast cancer data", "", _demo),
    "app": ("the web page, on this computer", "", _app),
    "completion": ("print a completion script for a shell", "", _completion),
}


def build_parser() -> argparse.ArgumentParser:
    """Make the parser.

    Returns
    -------
    ArgumentParser
        With all commands.
    """
    style: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    parser = _Parser(
        prog="skuncertain",
        description="How sure are you of that score? Intervals for classification metrics.",
        epilog=f"examples:\n{EXAMPLES['']}\n\nEvery command has its own --help.",
        **style,
    )
    parser.add_argument("--version", action="version", version=f"skuncertain {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, (text, more, add_options) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.{more}",
            epilog=f"examples:\n{EXAMPLES[name]}",
            **style,
        )
        command.add_argument(
            "-q", "--quiet", action="store_true", help="no warnings and no progress on stderr"
        )
        add_options(command)
    return parser
