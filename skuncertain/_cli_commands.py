"""What the commands do: from options to the library, and from a report to a file or stdout."""

import importlib
import shlex
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

from skuncertain._cli_options import EXAMPLES, FORMATS, build_parser, warn
from skuncertain._comparison import compare
from skuncertain._counts import ConfusionCounts
from skuncertain._files import write_file
from skuncertain._interval_report import interval_report
from skuncertain._metrics import get_metric, get_metric_names
from skuncertain._metrics_report import metrics_report
from skuncertain._planning import expected_width, required_sample_size
from skuncertain._planning_comparison import comparison_sample_size
from skuncertain._planning_report import planning_report
from skuncertain._search import search_posterior
from skuncertain._search_files import read_search_results
from skuncertain._table_files import read_matrix, read_paired, read_predictions

_SUFFIXES = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".csv": "csv",
    ".html": "html",
    ".htm": "html",
}
_ELSEWHERE = ("accuracy", "precision", "npv", "f1")  # what another prevalence changes
_IN_PYTHON = "Also in to_html(), to_markdown() and to_dict(): "
_ON_COMMAND_LINE = "Also with --format html, markdown or json: "
_CELLS = ("tp", "fn", "fp", "tn")


# --------------------------------------------------------------------------------------------------
# Input


def _given(args, *names):
    """Options that were used, by their names in Python."""
    found = {name: getattr(args, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _option(name):
    return "--" + name.replace("_", "-")


def _source(args, *sources):
    """Return which one of several kinds of input was given, with all that belongs to it."""
    used = [names for names in sources if _given(args, *names)]
    if len(used) != 1:
        ways = "; or ".join(" ".join(map(_option, names)) for names in sources)
        problem = "a table is missing" if not used else "more than one table was given"
        raise ValueError(f"{problem}: give {ways}.")
    (names,) = used
    missing = [name for name in names if getattr(args, name) is None]
    if missing and not (missing == ["true"] or missing == ["pred"]):  # the reader lists the columns
        rule = " (true or predicted: published tables come both ways)" if "rows" in missing else ""
        raise ValueError(f"{_option(missing[0])} is missing{rule}.")
    return names[0]


def _read_table(args, progress):
    """Counts of the one table that was given."""
    about = {"labels": args.labels, "pos_label": args.pos_label}
    source = _source(args, _CELLS, ("file", "true", "pred"), ("matrix", "rows"))
    if source == "file":
        return read_predictions(
            args.file, true=args.true, pred=args.pred, progress=progress, **about
        )
    if source == "matrix":
        return read_matrix(args.matrix, rows=args.rows, **about)
    return _binary([getattr(args, name) for name in _CELLS], about)


def _binary(cells, about):
    labels, pos_label = about["labels"], about["pos_label"]
    if labels is None:
        labels = (0, 1)
        if pos_label is not None:  # the counts say what is positive, this is its name
            labels = ("rest", pos_label) if pos_label not in ("0", "1") else labels
            pos_label = {"0": 0, "1": 1}.get(pos_label, pos_label)
    counts = dict(zip(_CELLS, cells, strict=True))
    return ConfusionCounts.from_binary(**counts, labels=labels, pos_label=pos_label)


def _tell_empty(*tables):
    """Warn of a table without a single row: what is printed then is the prior."""
    if not all(counts.n for counts in tables):
        warnings.warn("there are no rows: the numbers are those of the prior.", stacklevel=2)


def _tell_positive(counts, args, metrics):
    """Warn if the order of two texts has decided what is positive; return that class.

    Of the labels 0 and 1 everybody knows; with --tp the counts tell.
    """
    label = counts.pos_label
    assumed = args.pos_label is None and isinstance(label, str) and len(counts.labels) == 2
    names = [name for name in metrics if get_metric(name).average == "binary"]
    if not assumed or not names:
        return None
    other = next(name for name in counts.labels if name != label)
    warnings.warn(
        f"{', '.join(names)}: {label!r} was taken as the positive class, the last one of "
        f"{list(counts.labels)}. Say --pos-label {shlex.quote(other)} for the other one, or "
        f"--pos-label {shlex.quote(label)} to confirm.",
        UserWarning,
        stacklevel=2,
    )
    return label


# --------------------------------------------------------------------------------------------------
# Output


def _emit(report, args, caught=()):
    """Print or write a report; what it does not tell goes to stderr."""
    form = _format(args)
    text = {
        "text": report.__str__,
        "markdown": report.to_markdown,
        "json": report.to_json,
        "csv": report.to_csv,
        "html": report.to_html,
    }[form]()
    text = text.replace(_IN_PYTHON, _ON_COMMAND_LINE, 1) if form == "text" else text
    told = [] if form == "csv" else report.summary["warnings"]
    every = dict.fromkeys([*report.summary["warnings"], *(str(w.message) for w in caught)])
    if not args.quiet:
        for message in every:
            if message not in told:
                warn(message)
    _write(text.rstrip("\n") + "\n", args.output)


def _format(args):
    suffix = "" if args.output is None else Path(args.output).suffix.lower()
    if args.format is not None:
        if _SUFFIXES.get(suffix, args.format) != args.format:
            raise ValueError(
                f"--output {args.output} is to be {_SUFFIXES[suffix]}, but --format says "
                f"{args.format}: leave --format out, or change the end of the name."
            )
        return args.format
    if args.output is None:
        return "text"
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"--output must end with one of {', '.join(_SUFFIXES)}, or --format must say one of "
            f"{', '.join(FORMATS)}; got {args.output!r}."
        )
    return _SUFFIXES[suffix]


def _write(text, path):
    """Write to stdout or, all or nothing, to a file."""
    if path is None:
        if sys.stdout is not None:
            sys.stdout.write(text)
        return
    write_file(path, text.encode("utf-8", "backslashreplace"))


@contextmanager
def _collected():
    """Collect warnings, to be told in the way of a program."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # nothing that a user could change
        yield caught


# --------------------------------------------------------------------------------------------------
# Commands


def _report(args, progress):
    _format(args)
    with progress, _collected() as caught:
        counts = _read_table(args, progress)
        _tell_empty(counts)
        options = _given(args, "level", "kind", "prior", "digits", "n_draws", "random_state")
        metrics = args.metric
        if args.prevalence is not None and metrics is None:
            metrics = _ELSEWHERE
        if metrics is None:
            if args.pos_label is not None and args.tp is None:  # beside --tp it is a name
                raise ValueError("--pos-label needs --metric: without, all classes are reported.")
            report = interval_report(counts, **options)
        else:
            prevalence = args.prevalence
            if prevalence is not None and len(prevalence) == 1:
                (prevalence,) = prevalence
            for name in metrics:
                if "," in name:
                    raise ValueError(
                        f"--metric takes names with spaces between them: {name.replace(',', ' ')}."
                    )
            if args.tp is None:
                _tell_positive(counts, args, metrics)
            report = metrics_report(counts, metrics, prevalence=prevalence, **options)
    _emit(report, args, caught)


def _compare(args, progress):
    _format(args)
    options = _given(args, "metric", "rope", "prior", "n_draws", "random_state")
    about = {"labels": args.labels, "pos_label": args.pos_label}
    with progress, _collected() as caught:
        source = _source(args, ("a", "b"), ("file", "true", "pred"), ("matrix", "rows"))
        names = args.names
        if source == "a":
            pair = [_binary(cells, about) for cells in (args.a, args.b)]
        elif source == "matrix":
            pair = [read_matrix(path, rows=args.rows, **about) for path in args.matrix]
            names = names or _different(_stems(args.matrix), args.matrix)
        else:
            pair = _read_files(args, about, progress)
            files = (_stems(args.file), args.pred, args.file) if isinstance(pair, list) else ()
            names = names or _different(*files, args.pred)
        if args.names and len(set(args.names)) < 2:
            raise ValueError(f"--names must be different, got {args.names[0]!r} twice.")
        options["names"] = names or ("A", "B")
        both = isinstance(pair, list)
        _tell_empty(*(pair if both else ()))
        first, positive = pair[0] if both else pair.counts(0), None
        if source != "a":
            positive = _tell_positive(first, args, [args.metric])
        result = compare(*pair, **options) if both else pair.compare(**options)
        report = result.report(**_given(args, "level", "kind", "digits"))
        if positive is not None:
            report.summary["settings"]["pos_label"] = positive
            report.summary["settings"]["shown"].append(["positive class", positive])
    _emit(report, args, caught)


def _stems(paths):
    """Short names of files."""
    return [Path(path).stem for path in paths]


def _different(*pairs):
    """The first of several pairs of names that are two different ones, or None."""
    return next((list(pair) for pair in pairs if pair and len(set(pair)) == 2), None)


def _one_file(paths):
    """Whether two paths lead to the same file."""
    if len(paths) != 2 or "-" in paths:
        return False
    first, second = map(Path, paths)
    return first == second or (first.exists() and second.exists() and first.samefile(second))


def _read_files(args, about, progress):
    """Two tables of counts in a list, or the counts of pairs."""
    files, columns = args.file, args.pred or [None]
    if len(files) > 2 or len(columns) > 2:
        raise ValueError("compare takes two classifiers: one file and two --pred, or two files.")
    options = {"true": args.true, "progress": progress, **about}
    if len(files) == 1 or _one_file(files):  # the same rows, however often the file is named
        if len(columns) != 2:
            raise ValueError(
                "one file needs two columns for a paired comparison: --pred A B. For different "
                "rows give two files."
            )
        return read_paired(files[0], pred=columns, **options)
    if files == ["-", "-"]:
        raise ValueError("only one of the files can be standard input.")
    columns = columns * (3 - len(columns))
    return [
        read_predictions(file, pred=column, **options)
        for file, column in zip(files, columns, strict=True)
    ]


_FOR_ONE = ("metric", "expected", "level", "kind", "prevalence", "n_studies", "n_draws")
_FOR_TWO = ("disagreement", "rate", "probability", "rope")


def _plan(args, progress):
    _format(args)
    asked = list(_given(args, "width", "n", "difference"))
    if len(asked) != 1:
        raise ValueError(
            "give one of --width (how many samples?), --n (how long?) and --difference (how many "
            "to find the better of two?)."
        )
    (question,) = asked
    pilot = (*_CELLS, "file", "true", "pred", "matrix", "rows", "labels", "pos_label")
    wrong = (*_FOR_ONE, *pilot) if question == "difference" else _FOR_TWO
    wrong = (*wrong, "prevalence") if question == "n" else wrong
    for name in _given(args, *wrong):
        raise ValueError(f"{_option(name)} does not go with {_option(question)}.")
    with progress, _collected() as caught:
        if question == "difference":
            if args.rate is None and args.disagreement is None:
                raise ValueError(
                    "give --disagreement (both classifiers predict the same rows) or --rate "
                    "(different rows)."
                )
            options = _given(args, "difference", "power", "prior", *_FOR_TWO)
            plan = comparison_sample_size(**options, paired=args.rate is None)
        else:
            options = _given(args, "power", "prior", "random_state", *_FOR_ONE)
            options["expected"] = _expected(args, pilot, progress)
            make = required_sample_size if question == "width" else expected_width
            plan = make(**{question: getattr(args, question)}, **options)
        report = planning_report(plan, args.digits)
    _emit(report, args, caught)


def _expected(args, pilot, progress):
    if args.expected is None:
        if not _given(args, *pilot):
            raise ValueError(
                "--expected is missing: the value that you expect, or a pilot study (--tp --fn "
                "--fp --tn, --file or --matrix)."
            )
        counts = _read_table(args, progress)
        if args.tp is None:
            _tell_positive(counts, args, [args.metric or "recall"])
        return counts
    for name in _given(args, *pilot):
        raise ValueError(f"{_option(name)} does not go with --expected: give one of them.")
    return args.expected[0] if len(args.expected) == 1 else tuple(args.expected)


def _search(args, progress):
    _format(args)
    options = _given(
        args, "metric", "n_repeats", "test_train_ratio", "rope", "level", "kind", "labels",
        "pos_label", "n_draws", "random_state",
    )  # fmt: skip
    with progress, _collected() as caught:
        result = search_posterior(read_search_results(args.results), **options)
        report = result.report(digits=args.digits)
    _emit(report, args, caught)


def _metrics(args, progress):
    found = []
    for name in args.names or get_metric_names():
        try:
            found.append(get_metric(name))
        except ValueError:  # one that takes parameters, which have no option here
            if args.names:
                raise
    width = max(len(metric.name) for metric in found)
    lines = [f"{metric.name:<{width}}  {metric.description}".rstrip() for metric in found]
    _write("\n".join(lines) + "\n", None)


def _demo(args, progress):
    from skuncertain._demo import demo

    demo()


def _app(args, progress):
    try:
        serve = importlib.import_module("skuncertain.app").serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("flask", "werkzeug"):
            raise
        raise ImportError(
            'the web page needs flask. Install it with: pip install "skuncertain[app]"'
        ) from error
    serve(host=args.host, port=args.port, open_browser=not args.no_browser)


def _completion(args, progress):
    """Complete commands and options; files and values are left to the shell."""
    actions = build_parser()._subparsers._group_actions[0].choices
    words = {name: " ".join(parser._option_string_actions) for name, parser in actions.items()}
    cases = "\n".join(f'    {name}) words="{options}" ;;' for name, options in words.items())
    zsh = "autoload -U +X bashcompinit && bashcompinit\n" if args.shell == "zsh" else ""
    _write(
        f"""{zsh}_skuncertain() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}"
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{" ".join(words)} --help --version" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _skuncertain skuncertain
""",
        None,
    )


COMMANDS = {
    "report": _report,
    "compare": _compare,
    "plan": _plan,
    "search": _search,
    "metrics": _metrics,
    "demo": _demo,
    "app": _app,
    "completion": _completion,
}
assert COMMANDS.keys() == EXAMPLES.keys() - {""}
