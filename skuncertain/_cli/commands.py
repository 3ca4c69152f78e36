"""The commands: they turn options into calls of the library, and write its reports."""

import importlib
import os
import stat
import sys
import warnings
from pathlib import Path

from skuncertain._cli.options import UsageError, as_option, build_parser, say
from skuncertain._io.labels import labels_like, labels_of
from skuncertain._io.probabilities import read_probabilities
from skuncertain._io.search_results import read_search_results
from skuncertain._io.tables import read_folds, read_matrix, read_paired, read_predictions
from skuncertain._reporting import FORMATS, SUFFIXES
from skuncertain._reporting.markdown import plain_text
from skuncertain._utils.files import write_file
from skuncertain._utils.warnings import silence
from skuncertain.comparison._compare import compare
from skuncertain.comparison._paired import compare_paired
from skuncertain.exceptions import FoldDisagreementWarning
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import count_metric, get_metric, get_metric_names
from skuncertain.metrics._report_parts import MatrixReport
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.report import ScoredPart
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_val_report import tell_folds
from skuncertain.model_selection._search.posterior import search_posterior
from skuncertain.planning._comparison import comparison_sample_size
from skuncertain.planning._width import expected_width, required_sample_size

_ELSEWHERE = ("accuracy", "precision", "npv", "f1")  # what another prevalence changes
_ASIDE = "Also with --format html, markdown or json"
_CELLS = ("tp", "fn", "fp", "tn")


# --------------------------------------------------------------------------------------------------
# Input


def _used(args, *names):
    """Options that were used, by their names in Python."""
    found = {name: getattr(args, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _source(args, *sources):
    """Return which one of several kinds of input was given, with all that belongs to it."""
    used = [names for names in sources if _used(args, *names)]
    if len(used) != 1:
        ways = "; or ".join(" ".join(map(as_option, names)) for names in sources)
        problem = "a table is missing" if not used else "more than one table was given"
        raise UsageError(f"{problem}: give {ways}.")
    (names,) = used
    missing = [name for name in names if getattr(args, name) is None]
    if missing and not (missing == ["true"] or missing == ["pred"]):  # the reader lists the columns
        rule = " (true or predicted: published tables come both ways)" if "rows" in missing else ""
        raise UsageError(f"{as_option(missing[0])} is missing{rule}.")
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
    labels, pos_label = _typed(**about)
    if labels is None:
        labels = (0, 1)
        if pos_label is not None:  # the counts say what is positive, this is its name
            labels = ("rest", pos_label) if pos_label not in ("0", "1") else labels
            pos_label = {"0": 0, "1": 1}.get(pos_label, pos_label)
    counts = dict(zip(_CELLS, cells, strict=True))
    return ConfusionCounts.from_binary(**counts, labels=labels, pos_label=pos_label)


def _typed(labels, pos_label):
    """Labels and positive class without a file that tells their type: 0 and 1 are numbers."""
    if labels is None:
        return labels, pos_label
    known = list(labels_of([labels], ["--labels"], "--labels", labels=labels).values())
    return known, None if pos_label is None else labels_like([pos_label], known)[0]


def _tell_empty(*tables):
    """Warn of a table without a single row: what is printed then is the prior."""
    if not all(counts.n for counts in tables):
        warnings.warn("there are no rows: the numbers are those of the prior.", stacklevel=2)


# --------------------------------------------------------------------------------------------------
# Output


def _emit(report, form, args, caught):
    """Print or write a report; what it does not tell goes to stderr."""
    as_text = form == "text"
    text = plain_text(report.summary, _ASIDE) if as_text else getattr(report, FORMATS[form])()
    if not args.quiet:
        noted = report.summary["warnings"]
        shown = () if form == "csv" else noted
        for message in dict.fromkeys([*noted, *(str(warning.message) for warning in caught)]):
            if message not in shown:
                say(f"warning: {message}")
    _write(text.rstrip("\n") + "\n", args.output)


def _format(args):
    suffix = "" if args.output is None else Path(args.output).suffix.lower()
    if args.format is not None:
        if SUFFIXES.get(suffix, args.format) != args.format:
            raise UsageError(
                f"--output {args.output} is to be {SUFFIXES[suffix]}, but --format says "
                f"{args.format}: leave --format out, or change the end of the name."
            )
        return args.format
    if args.output is None:
        return "text"
    if suffix not in SUFFIXES:
        raise UsageError(
            f"--output must end with one of {', '.join(SUFFIXES)}, or --format must say one of "
            f"{', '.join(FORMATS)}; got {args.output!r}."
        )
    return SUFFIXES[suffix]


def _refuse_same_file(args):
    """Refuse an output that is one of the inputs, by whatever name: it would be lost.

    `os.stat` follows links; standard streams may be files as well.
    """
    output = _stat(sys.stdout if args.output is None else args.output)
    if output is None or not stat.S_ISREG(output.st_mode):  # a terminal is read and written
        return
    for name in ("file", "matrix", "results"):
        given = getattr(args, name, None)
        for path in [given] if isinstance(given, str) else given or ():
            found = _stat(sys.stdin if path == "-" else path)
            if found is not None and os.path.samestat(found, output):
                what = "standard input" if path == "-" else path
                to = "standard output" if args.output is None else f"--output {args.output}"
                raise UsageError(
                    f"{to} is the same file as the input, {what}, which would be lost: write the "
                    "report to another file."
                )


def _stat(file):
    """Status of a path or of an open file; None if there is none."""
    try:
        return os.stat(file if isinstance(file, str) else file.fileno())
    except (OSError, ValueError, AttributeError):  # of files in memory, of no stream at all
        return None


def _write(text, path):
    """Write to stdout or, all or nothing, to a file."""
    if path is None:
        sys.stdout.write(text)
    else:
        write_file(path, text.encode("utf-8", "backslashreplace"))


# --------------------------------------------------------------------------------------------------
# Commands


_FOR_FOLDS = ("method", "omega", "estimand", "n_repeats")
_NOT_FOR_FOLDS = ("prevalence", "model", "n_draws")  # questions about one test set


def _read_report(args, progress):
    """Counts of one table, or of the folds of a cross-validation with the names of the folds."""
    about = {"labels": args.labels, "pos_label": args.pos_label}
    source = _source(args, _CELLS, ("file", "true", "pred"), ("matrix", "rows"))
    if args.fold is not None:
        if source != "file":
            raise UsageError("--fold names a column of --file.")
        columns = {"true": args.true, "pred": args.pred, "fold": args.fold}
        return read_folds(args.file, **columns, progress=progress, **about)
    if source == "matrix":
        counts = read_matrix(args.matrix, rows=args.rows, folds=True, **about)
        return counts, list(range(len(counts))) if counts.shape else None
    return _read_table(args, progress), None


def _check_options(args, folded):
    """Refuse options of folds without folds, and the other way round."""
    rule = "needs folds: --fold, or JSON with one matrix per fold in --matrix"
    rule = "does not go with the folds of a cross-validation" if folded else rule
    for name in _used(args, *(_NOT_FOR_FOLDS if folded else _FOR_FOLDS)):
        raise UsageError(f"{as_option(name)} {rule}.")


def _report(args, progress):
    _refuse_commas(args.metric or ())
    _check_scores(args.metric or (), args.proba)
    if args.proba is not None:
        return _scored_test_set(args)
    if args.matrix is None:  # told before a long file is read
        _check_options(args, args.fold is not None)
    counts, folds = _read_report(args, progress)
    _check_options(args, folds is not None)
    return _test_set(args, counts) if folds is None else _cross_validation(args, counts, folds)


def _refuse_commas(metrics):
    for name in metrics:
        if "," in name:
            right = name.replace(",", " ")
            raise UsageError(f"--metric takes names with spaces between them: {right}.")


def _check_scores(metrics, proba):
    """Refuse metrics of scores or probabilities where there are none."""
    for metric in map(get_metric, metrics):
        if isinstance(metric, ScoreMetric) and proba is None:
            raise UsageError(
                f"--metric {metric.name} needs {metric.needs}: give --file and --proba with the "
                "column that holds them."
            )


def _scored_test_set(args):
    """Report of rows with probabilities."""
    if args.file is None or _used(args, "matrix", *_CELLS):
        raise UsageError("--proba names columns of --file, and goes with no other table.")
    for name in _used(args, "fold", *_FOR_FOLDS):
        raise UsageError(f"{as_option(name)} does not go with --proba, which is for one test set.")
    table = read_probabilities(
        args.file, **_used(args, "true", "pred", "proba", "labels", "pos_label")
    )
    about = {"labels": table.labels, "pos_label": table.pos_label}
    scored = ScoredPart.of(table.y_true, table.y_proba, **about)
    predicted = scored.predicted() if table.y_pred is None else table.y_pred
    counts = ConfusionCounts.from_predictions(table.y_true, predicted, **about)
    if args.metric is None:
        return _test_set(args, counts, scored)
    found = list(map(get_metric, args.metric))
    of_scores = [metric for metric in found if isinstance(metric, ScoreMetric)]
    if of_scores:
        for name in _used(args, "prevalence"):
            raise UsageError(f"{as_option(name)} does not go with --metric {of_scores[0].name}.")
    options = _used(args, "level", "kind", "prior", "model", "n_draws", "random_state")
    others = [metric for metric in found if not isinstance(metric, ScoreMetric)]
    prevalence = _prevalence(args)
    parts = MatrixReport(counts, **options)
    return parts.by_metric(others, prevalence, args.digits, scored, of_scores)


def _prevalence(args):
    """Prevalence of another population: one number, one per class, or None."""
    return args.prevalence[0] if args.prevalence and len(args.prevalence) == 1 else args.prevalence


def _cross_validation(args, counts, folds):
    options = _used(args, "level", "kind", "prior", "random_state", *_FOR_FOLDS)
    with silence(FoldDisagreementWarning):  # the report tells it
        result = CrossValPosterior.from_counts(counts, metrics=args.metric, **options)
    report = result.report(digits=args.digits)
    tell_folds(report, counts, folds)
    return report


def _test_set(args, counts, scored=None):
    _tell_empty(counts)
    options = _used(args, "level", "kind", "prior", "digits", "n_draws", "random_state")
    if args.metric is None and args.prevalence is None:
        if args.model not in (None, "dirichlet"):
            raise UsageError(
                f"--model {args.model} needs --metric: without, all classes are reported, by the "
                "Dirichlet model."
            )
        digits = options.pop("digits", None)
        return MatrixReport(counts, **options).by_class(digits, scored)
    options |= _used(args, "model")
    metrics = args.metric or _ELSEWHERE
    return counts.report(list(map(count_metric, metrics)), prevalence=_prevalence(args), **options)


def _compare(args, progress):
    if args.names and len(set(args.names)) < 2:
        raise UsageError(f"--names must be different, got {args.names[0]!r} twice.")
    about = {"labels": args.labels, "pos_label": args.pos_label}
    _check_scores([args.metric], args.proba)
    if args.proba is not None:
        return _compare_scores(args, about)
    source = _source(args, ("a", "b"), ("file", "true", "pred"), ("matrix", "rows"))
    paired, possible = None, ()
    if source == "a":
        pair = [_binary(cells, about) for cells in (args.a, args.b)]
    elif source == "matrix":
        pair = [read_matrix(path, rows=args.rows, **about) for path in args.matrix]
        possible = (_stems(args.matrix), args.matrix)
    elif _same_rows(args):
        paired = read_paired(
            args.file[0], true=args.true, pred=args.pred, progress=progress, **about
        )
        pair, possible = [paired.counts(0)], (args.pred,)
    else:
        pair = _read_two(args, about, progress)
        possible = (_stems(args.file), args.pred, args.file)
    _tell_empty(*pair)
    options = _used(args, "metric", "rope", "prior", "n_draws", "random_state")
    different = (list(names) for names in possible if names and len(set(names)) == 2)
    options["names"] = args.names or next(different, ("A", "B"))
    result = compare(*pair, **options) if paired is None else paired.compare(**options)
    return result.report(**_used(args, "level", "kind", "digits"))


def _compare_scores(args, about):
    """Two columns of probabilities of the same rows."""
    if args.file is None or len(args.file) > 1 or _used(args, "pred", "matrix", "a", "b"):
        raise UsageError("--proba names two columns of one --file, and goes with no other table.")
    if not isinstance(get_metric(args.metric), ScoreMetric):
        raise UsageError(f"--metric {args.metric} is computed from labels: give --pred A B.")
    columns = {"true": args.true, "proba": args.proba, "single": True}
    table = read_probabilities(args.file[0], **columns, **about)
    options = _used(args, "metric", "rope", "prior", "n_draws", "random_state")
    result = compare_paired(
        table.y_true,
        *table.y_proba.T,
        labels=table.labels,
        pos_label=table.pos_label,
        names=args.names or args.proba,
        **options,
    )
    return result.report(**_used(args, "level", "kind", "digits"))


def _stems(paths):
    """Short names of files."""
    return [Path(path).stem for path in paths]


def _same_rows(args):
    """Whether two columns of one file are asked for, however often the file is named."""
    if len(args.file) > 2 or len(args.pred or ()) > 2:
        raise UsageError("compare takes two classifiers: one file and two --pred, or two files.")
    if len(args.file) == 2:
        first, second = map(Path, args.file)
        same = first == second or (first.exists() and second.exists() and first.samefile(second))
        if "-" in args.file or not same:
            return False
    if len(args.pred or ()) != 2:
        raise UsageError(
            "one file needs two columns for a paired comparison: --pred A B. For different rows "
            "give two files."
        )
    return True


def _read_two(args, about, progress):
    """Counts of two files, whose columns have the same name or two names."""
    if args.file == ["-", "-"]:
        raise UsageError("only one of the files can be standard input.")
    columns = args.pred or [None]
    return [
        read_predictions(file, true=args.true, pred=column, progress=progress, **about)
        for file, column in zip(args.file, (columns[0], columns[-1]), strict=True)
    ]


_FOR_ONE = ("metric", "expected", "level", "kind", "prevalence", "n_studies", "n_draws")
_FOR_TWO = ("disagreement", "rate", "probability", "rope")


def _plan(args, progress):
    asked = list(_used(args, "width", "n", "difference"))
    if len(asked) != 1:
        raise UsageError(
            "give one of --width (how many samples?), --n (how long?) and --difference (how many "
            "to find the better of two?)."
        )
    (question,) = asked
    pilot = (*_CELLS, "file", "true", "pred", "matrix", "rows", "labels", "pos_label")
    wrong = {
        "width": _FOR_TWO,
        "n": (*_FOR_TWO, "prevalence"),
        "difference": (*_FOR_ONE, *pilot),
    }[question]
    for name in _used(args, *wrong):
        raise UsageError(f"{as_option(name)} does not go with {as_option(question)}.")
    if question == "difference":
        if args.rate is None and args.disagreement is None:
            raise UsageError(
                "give --disagreement (both classifiers predict the same rows) or --rate (different "
                "rows)."
            )
        options = _used(args, "difference", "power", "prior", *_FOR_TWO)
        plan = comparison_sample_size(**options, paired=args.rate is None)
    else:
        options = _used(args, question, "power", "prior", "random_state", *_FOR_ONE)
        options["expected"] = _expected(args, pilot, progress)
        plan = (required_sample_size if question == "width" else expected_width)(**options)
    return plan.report(digits=args.digits)


def _expected(args, pilot, progress):
    if args.expected is None:
        if not _used(args, *pilot):
            raise UsageError(
                "--expected is missing: the value that you expect, or a pilot study (--tp --fn "
                "--fp --tn, --file or --matrix)."
            )
        return _read_table(args, progress)
    for name in _used(args, *pilot):
        raise UsageError(f"{as_option(name)} does not go with --expected: give one of them.")
    return args.expected[0] if len(args.expected) == 1 else tuple(args.expected)


def _search(args, progress):
    options = _used(
        args, "metric", "n_repeats", "test_train_ratio", "rope", "level", "kind", "labels",
        "pos_label", "n_draws", "random_state", "method", "omega", "prior", "prior_per_fold",
        "probability", "shrinkage",
    )  # fmt: skip
    named = {"labels": None, "pos_label": None} | _used(args, "labels", "pos_label")
    options |= dict(zip(named, _typed(**named), strict=True))
    found = search_posterior(read_search_results(args.results), **options)
    return found.report(digits=args.digits)


def _metrics(args):
    found = []
    for name in args.names or get_metric_names():
        try:
            found.append(get_metric(name))
        except ValueError:  # one that takes parameters, which have no option here
            if args.names:
                raise
    width = max(len(metric.name) for metric in found)
    lines = [
        f"{metric.name:<{width}}  {metric.description}"
        f"{'' if metric.depends_on_prevalence else ' [at any prevalence]'}"
        f"{'' if metric.needs == 'labels' else f' [{metric.needs}]'}"
        for metric in found
    ]
    _write("\n".join(lines) + "\n", None)


def _demo(args):
    from skuncertain._cli.demo import demo

    demo()


def _app(args):
    try:
        serve = importlib.import_module("skuncertain.app").serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("flask", "werkzeug"):
            raise
        raise ImportError(
            'the web page needs flask. Install it with: pip install "skuncertain[app]"'
        ) from error
    serve(host=args.host, port=args.port, open_browser=not args.no_browser)


def _completion(args):
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


_REPORTS = {"report": _report, "compare": _compare, "plan": _plan, "search": _search}
_OTHERS = {"metrics": _metrics, "demo": _demo, "app": _app, "completion": _completion}


def run_command(args, progress):
    """Do what the command line asks for."""
    if args.command in _OTHERS:
        _OTHERS[args.command](args)
        return
    form = _format(args)  # a wrong one is told before anything long
    _refuse_same_file(args)
    with progress, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # nothing that a user could change
        report = _REPORTS[args.command](args, progress)
    _emit(report, form, args, caught)
