"""Families about what is written: never over the input, and no formulas in spreadsheets."""

import contextlib
import csv
import io
import os
import re
import tempfile
from pathlib import Path

import numpy as np

from skuncertain import ConfusionCounts, compare, interval_report, leaderboard, search_posterior
from skuncertain._cli.main import main
from tools.fuzz import make
from tools.fuzz.runner import family, require

PREDICTIONS = b"y,yhat,b\n1,1,0\n0,1,0\n0,0,0\n1,1,1\n1,0,1\n"
MATRIX = b",a,b\na,8,2\nb,1,9\n"
SEARCH = b"params,split0_test_score,split1_test_score\n\"{'C': 1}\",0.8,0.7\n\"{'C': 2}\",0.7,0.6\n"
# Words of a call, in which 0 and 1 stand for files, and what these hold.
CALLS = (
    (("report", "--file", 0, "--true", "y", "--pred", "yhat"), PREDICTIONS),
    (("report", "--matrix", 0, "--rows", "true"), MATRIX),
    (("compare", "--file", 0, "--true", "y", "--pred", "yhat", "b"), PREDICTIONS),
    (("compare", "--file", 0, 1, "--true", "y", "--pred", "yhat"), PREDICTIONS),
    (("compare", "--matrix", 0, 1, "--rows", "true"), MATRIX),
    (("search", 0), SEARCH),
    (("plan", "--metric", "accuracy", "--matrix", 0, "--rows", "true", "--width", "0.3"), MATRIX),
)


def other_name(source, path, folder):
    """Another name of a file, relative names included; None: the name of another file."""
    kind = source.below(6)
    link = folder / f"out{source.pick(('.csv', '.json', '.md', '.html', '.txt'))}"
    if kind == 0:
        return str(path)
    if kind == 1:
        return source.pick((path.name, f"./{path.name}", f"../{folder.name}/{path.name}"))
    if kind == 2:
        link.symlink_to(source.pick((path, path.name)))
    elif kind == 3:
        os.link(path, link)
    elif kind == 4:  # a link to the folder
        (folder / "again").symlink_to(folder)
        return str(folder / "again" / path.name)
    else:
        return None
    return source.pick((str(link), link.name))


@contextlib.contextmanager
def inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@family(share=40, malformed=True)
def output_over_input(source):
    """--output that is an input is refused, whatever it is called, and the input is as before."""
    words, data = source.pick(CALLS)
    with tempfile.TemporaryDirectory(prefix="skuncertain-fuzz-") as name:
        folder = Path(os.path.realpath(name))
        paths = [folder / "in0.csv", folder / "in1.csv"]
        for path in paths:
            path.write_bytes(data)
        own = paths[source.below(2) if 1 in words else 0]
        given = [source.pick((str(path), path.name)) for path in paths]
        output = other_name(source, own, folder)
        argv = [given[word] if isinstance(word, int) else word for word in words]
        argv += ["--output", "new.csv" if output is None else output]
        source.note(argv=[word.replace(str(folder), "FOLDER") for word in argv])
        out, err = io.StringIO(), io.StringIO()
        with inside(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(argv)
        require(all(path.read_bytes() == data for path in paths), "the input was written over")
        if output is None:
            require(
                code == 0 and (folder / "new.csv").read_bytes(), f"not written: {err.getvalue()}"
            )
            return
        require(code in (1, 2), f"exit code {code} for an output that is the input")
        require("output" in err.getvalue(), f"vague: {err.getvalue()}")
    raise ValueError(err.getvalue())


# --------------------------------------------------------------------------------------------------
# Spreadsheets take a cell for a formula that begins with one of these.

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")
NAMES = ("1+1", "cmd|' /C calc'!A0", "SUM(A1:A9)", "x", 'HYPERLINK("http://x")', "a,b", " 1")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?inf", re.IGNORECASE)
INTERVAL = re.compile(rf"({NUMBER.pattern}) \[.*\]", re.IGNORECASE)
CELL = re.compile(r"(?<!\\)\|")


def risky(source, n):
    """Different names that begin as formulas do."""
    return [f"{source.pick(BEGINNINGS)}{source.pick(NAMES)}{k}" for k in range(n)]


def report_of(source):
    """A report in which labels, models or parameters have such names."""
    kind = source.below(4)
    a, b = (ConfusionCounts(make.matrices(source, (), 2, largest=400)) for _ in range(2))
    draws = {"n_draws": 200, "random_state": 0}
    if kind == 0:
        names = risky(source, 2)
        labelled = ConfusionCounts(a.counts, labels=names)
        source.note(labels=names)
        return interval_report(labelled, **draws)
    if kind == 1:
        names = risky(source, 2)
        source.note(names=names)
        return interval_report(compare(a, b, metric="f1", names=names, **draws))
    if kind == 2:
        names = risky(source, 2)
        source.note(models=names)
        return leaderboard({names[0]: a, names[1]: b}, metric="f1", **draws).report()
    names = risky(source, 4)
    source.note(params=names)
    scores = make.fold_scores(source, (3, 2))
    results = {f"split{k}_test_score": scores[k] for k in range(3)}
    results["params"] = [{names[0]: names[1], "C": 1}, {names[0]: names[2], names[3]: -2}]
    return interval_report(search_posterior(results, n_repeats=1, **draws))


@family(share=20)
def spreadsheet_cells(source):
    """No text of a CSV or Markdown table is a formula, and numbers are still numbers."""
    report = report_of(source)
    numbers = 0
    for section in report.to_dict()["sections"]:
        for row in csv.reader(io.StringIO(report.to_csv(section), newline="")):
            for cell in row:
                numbers += NUMBER.fullmatch(cell) is not None
                harmless = not cell.startswith(BEGINNINGS) or NUMBER.fullmatch(cell)
                require(harmless, f"a formula in CSV: {cell!r}")
    require(numbers, "no number in CSV")
    for line in report.to_markdown().splitlines():
        if not line.startswith("|"):
            continue
        for cell in CELL.split(line)[1:-1]:
            text = cell.removeprefix(" ").removesuffix(" ")
            known = text == "-" or set(text) <= set(":-") or NUMBER.fullmatch(text)
            harmless = not text.startswith(BEGINNINGS) or known or INTERVAL.fullmatch(text)
            require(harmless, f"a formula in Markdown: {text!r}")
    frame = report.to_frame()
    require(any(np.issubdtype(kind, np.number) for kind in frame.dtypes), "no numbers in the frame")
