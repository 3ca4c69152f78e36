"""The command line: options, help and messages."""

import argparse
import sys
import threading
import time

from skuncertain._report_cells import clean
from skuncertain._version import __version__

USAGE = 2
TICK = 1.0  # seconds between two signs of life
FORMATS = ("text", "markdown", "json", "csv", "html")

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
  zcat big.csv.gz | skuncertain report --file - --true y --pred yhat --metric f1
  skuncertain report --matrix matrix.csv --rows true --format markdown""",
    "compare": """\
  skuncertain compare --a 26 0 2 6 --b 20 6 1 7 --metric recall --rope 0.02
  skuncertain compare --file predictions.csv --true y --pred model_a model_b
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
  skuncertain search cv_results.json --metric f1 --n-repeats 2 --rope 0.01""",
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


def say(text):
    """One line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"skuncertain: {clean(' '.join(text.split()))}", file=sys.stderr)


def warn(text):
    """Tell the user something that is not in the output."""
    say(f"warning: {text}")


class Progress:
    """How long it has worked, on a terminal, if that is longer than a moment."""

    def __init__(self, quiet):
        self.active = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.start = time.monotonic()
        self.read = ""
        self.shown = False
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


def _prior(text):
    try:
        return float(text)
    except ValueError:
        return text  # a name; the library knows which there are


def build_parser() -> argparse.ArgumentParser:
    """Make the parser.

    Returns
    -------
    ArgumentParser
        With all commands.
    """
    parser = _Parser(
        prog="skuncertain",
        description="How sure are you of that score? Intervals for classification metrics.",
        epilog=f"examples:\n{EXAMPLES['']}\n\nEvery command has its own --help.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skuncertain {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)

    def command(name, text, more=""):
        made = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + "." + (f" {more}" if more else ""),
            epilog=f"examples:\n{EXAMPLES[name]}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        made.add_argument(
            "-q", "--quiet", action="store_true", help="no warnings and no progress on stderr"
        )
        return made

    report = command("report", "scores of one classifier, each with its interval")
    _table(report)
    report.add_argument(
        "--metric", nargs="+", action="extend", metavar="NAME",
        help="metrics, one row each ('skuncertain metrics' lists them); without it a "
        "classification report of all classes",
    )  # fmt: skip
    _interval(report)
    report.add_argument(
        "--prevalence", nargs="+", type=_number, metavar="P",
        help="the same classifier in another population: share of the positive class there, or "
        "one share per class",
    )  # fmt: skip
    _draws(report)
    _output(report)

    compare = command(
        "compare",
        "which of two classifiers is better",
        "The difference is b - a. One file with two --pred columns is a paired comparison; two "
        "tables are compared as tested on different rows.",
    )
    tables = compare.add_argument_group("two tables, one of")
    for name in ("--a", "--b"):
        tables.add_argument(
            name, nargs=4, type=_whole, metavar=("TP", "FN", "FP", "TN"),
            help=f"counts of classifier {name[2:]}",
        )  # fmt: skip
    _files(tables, "+", "one file (then two --pred), or two files with the rows of a and of b")
    _matrix(tables, 2)
    _labels(compare)
    compare.add_argument(
        "--metric", default="accuracy", metavar="NAME", help="metric, default accuracy"
    )
    compare.add_argument(
        "--rope", type=_number, default=0.0, metavar="D",
        help="differences up to D count as none, default 0",
    )  # fmt: skip
    compare.add_argument("--names", nargs=2, metavar=("A", "B"), help="what to call them")
    _interval(compare)
    _draws(compare)
    _output(compare)

    plan = command(
        "plan",
        "how many samples, or how long the interval",
        "One of --width (how many samples?), --n (how long?) and --difference (how many to find "
        "the better of two?).",
    )
    plan.add_argument("--width", type=_number, metavar="W", help="wanted length, end to end")
    plan.add_argument("--n", type=_whole, metavar="N", help="number of samples")
    plan.add_argument(
        "--difference", type=_number, metavar="D", help="true difference b - a of two classifiers"
    )
    plan.add_argument("--metric", metavar="NAME", help="metric, default recall")
    plan.add_argument(
        "--expected", nargs="+", type=_number, metavar="VALUE",
        help="expected value of the metric; with a second number: how many samples this opinion "
        "is worth. Or a pilot study:",
    )  # fmt: skip
    _table(plan, "pilot study, one of")
    plan.add_argument("--power", type=_number, metavar="P", help="probability of success")
    plan.add_argument(
        "--prevalence", type=_number, metavar="P", help="share of positives, to tell the rows"
    )
    for_two = plan.add_argument_group("with --difference")
    for_two.add_argument(
        "--disagreement", type=_number, metavar="P",
        help="same rows: share on which exactly one is right",
    )  # fmt: skip
    for_two.add_argument("--rate", type=_number, metavar="P", help="different rows: rate of a")
    for_two.add_argument(
        "--probability", type=_number, metavar="P", help="P(b better) to reach, default 0.95"
    )
    for_two.add_argument("--rope", type=_number, metavar="D", help="b must be better by more")
    _interval(plan, defaults=False)
    plan.add_argument(
        "--n-studies", type=_whole, metavar="N", help="simulated studies, where not exact"
    )
    _draws(plan)
    _output(plan)

    search = command("search", "how sure the choice of a finished search is")
    search.add_argument("results", help="cv_results_ as CSV or JSON, - for standard input")
    search.add_argument("--metric", metavar="NAME", help="which score, if there are several")
    search.add_argument(
        "--n-repeats", type=_whole, metavar="N", help="repetitions of the folds, default 1"
    )
    search.add_argument(
        "--test-train-ratio", type=_number, metavar="R",
        help="test rows over training rows, default 1 / (folds - 1)",
    )  # fmt: skip
    search.add_argument(
        "--rope", type=_number, default=0.01, metavar="D",
        help="differences up to D count as none, default 0.01",
    )  # fmt: skip
    _labels(search)
    _interval(search, prior=False)
    _draws(search)
    _output(search)

    metrics = command("metrics", "list the names of the metrics with their formulas")
    metrics.add_argument("names", nargs="*", metavar="name", help="only these")

    command("demo", "a short demonstration on scikit-learn's breast cancer data")

    app = command("app", "the web page, on this computer")
    app.add_argument("--host", default="127.0.0.1", help="address to listen on, default 127.0.0.1")
    app.add_argument("--port", type=_whole, help="port, by default a free one")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")

    completion = command("completion", "print a completion script for a shell")
    completion.add_argument("shell", choices=("bash", "zsh"))
    return parser


def _table(parser, title="a table, one of"):
    group = parser.add_argument_group(title)
    for name, text in (
        ("tp", "true positives"),
        ("fn", "false negatives"),
        ("fp", "false positives"),
        ("tn", "true negatives"),
    ):
        group.add_argument(f"--{name}", type=_whole, metavar="N", help=text)
    _files(group, None, "CSV of predictions with a header, also gz; - for standard input")
    _matrix(group, None)
    _labels(parser)


def _files(group, number, text):
    group.add_argument("--file", nargs=number, metavar="PATH", help=text)
    group.add_argument("--true", metavar="COLUMN", help="column with the true labels")
    group.add_argument(
        "--pred", nargs=number, metavar="COLUMN", help="column with the predicted labels"
    )


def _matrix(group, number):
    group.add_argument(
        "--matrix", nargs=number, metavar="PATH",
        help="confusion matrix as CSV, labels in the first line and the first column",
    )  # fmt: skip
    group.add_argument("--rows", choices=("true", "predicted"), help="what its rows are")


def _labels(parser):
    parser.add_argument(
        "--labels", nargs="+", metavar="LABEL", help="all classes, in order; by default as found"
    )
    parser.add_argument("--pos-label", metavar="LABEL", help="the positive class")


def _interval(parser, prior=True, defaults=True):
    level, kind = (0.95, "eti") if defaults else (None, None)
    parser.add_argument(
        "--level", type=_number, default=level, metavar="P", help="probability, default 0.95"
    )
    parser.add_argument(
        "--kind", choices=("eti", "hdi"), default=kind,
        help="equal-tailed (default) or highest-density",
    )  # fmt: skip
    if prior:
        parser.add_argument(
            "--prior", type=_prior, metavar="PRIOR",
            help="auto (default), neutral, jeffreys, laplace, haldane, shared, total-one or "
            "a number",
        )  # fmt: skip


def _draws(parser):
    parser.add_argument(
        "--n-draws", type=_whole, metavar="N", help="random draws, where there is no exact form"
    )
    parser.add_argument(
        "--random-state", type=_whole, default=0, metavar="SEED",
        help="their seed, default 0: the same call gives the same numbers",
    )  # fmt: skip


def _output(parser):
    parser.add_argument("--format", choices=FORMATS, help="default text, or what --output says")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="write to a file (.txt, .md, .json, .csv, .html)"
    )
    parser.add_argument("--digits", type=_whole, metavar="N", help="decimals of the numbers")
