"""Families about files and the command line: bytes that are nearly tables, arguments gone wrong.

`SEEDS` are the inputs of `corpus.json`, each of which reaches lines of the readers that no other
reaches; ``python -m tools.fuzz.guided`` looks for more of them.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
from sklearn.metrics import confusion_matrix

from skuncertain._cli.main import main
from skuncertain._cli.options import EXAMPLES
from skuncertain._io.search_results import read_search_results
from skuncertain._io.tables import read_matrix, read_paired, read_predictions
from skuncertain.exceptions import TableFileError
from tools.fuzz import make
from tools.fuzz.checks import close
from tools.fuzz.runner import ERRORS, family, require

NUMBER = re.compile(r"(?=.{1,300}$)[-+]?(?!0[0-9])([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,4})?")
WORD = re.compile(rb"[^\s,;:{}\[\]]+")
USER = re.compile("label|is not a column")  # what the user asked for, not what the file holds
CORPUS = Path(__file__).with_name("corpus.json")
SEEDS = [text.encode("latin-1") for text in json.loads(CORPUS.read_text(encoding="utf-8"))]
PIECES = (
    b",", b"\n", b'"', b"\r\n", b"\r", b";", b"\t", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\x1f\x8b", b"nan", b"NaN", b"inf", b"-1", b"0.5", b"1e400", b"9" * 30, b"y", b"yhat", b"true",
    b"\xf0\x9f\x98\x80", b"\xc3", b"a" * 300, b"{", b"}", b"[", b"]", b"null",
    b'"split0_test_score"',     b"split1_test_score", b"params", b"1,1\n" * 50, b" ", b"",
    b"9" * 400, b"9" * 5000, b"1_0", b"\\d", b"{[]: 1}", b"1if 2else 3", b"Infinity", b"-0",
    b"\xc2\xa0", b"\xe2\x80\xa8", b"\x0b", b"\x1a", b'""', b"\n\r", b"\xed\xa0\x80", b"[" * 3000,
    b'"params":', b"\\ud800", b"\xd9\xa1", b"1.0", b"007", b"+1", b"1e0", b"total",
    b"9007199254740993",
)  # fmt: skip


def damaged(source, data):
    """A few bytes changed, lost, moved or doubled."""
    data = bytearray(data)
    for _ in range(1 + source.below(4)):
        at = source.below(len(data) + 1)
        kind = source.below(6)
        if kind == 0:
            data[at:at] = source.pick(PIECES)
        elif kind == 1:
            del data[at : at + 1 + source.below(8)]
        elif kind == 2 and data:
            data[at % len(data)] = source.below(256)
        elif kind == 3:
            piece = data[at : at + 1 + source.below(40)]
            data[at:at] = piece
        elif kind == 4:
            data = data[:at]
        else:
            other = source.pick(SEEDS)
            data[at:] = other[source.below(len(other) + 1) :]
    return bytes(data)


def respelt(source):
    """A proper file in which one word is another."""
    data = source.pick(SEEDS[:9])
    words = list(WORD.finditer(data))
    start, end = words[source.below(len(words))].span()
    return data[:start] + source.pick(PIECES) + data[end:]


def read(kind, data):
    """The reader of a kind of file."""
    file = io.BytesIO(data)
    if kind == 0:
        return read_predictions(file, true="y", pred="yhat")
    if kind == 1:
        return read_paired(file, true="y", pred=("yhat", "b"))
    if kind == 2:
        return read_matrix(file, rows="true")
    return read_search_results(file)


def kind_of(source, data):
    """Mostly the reader that the file is for."""
    if source.rarely(4):
        return source.below(4)
    if b"split" in data or b"{" in data:
        return 3
    if b"yhat" in data:
        return 1 if b"b\n" in data or b"\tb" in data else 0
    return 2


@family(share=500, malformed=True)
def damaged_files(source):
    """A reader answers, or says in one line where and why it does not."""
    data = respelt(source) if source.rarely(4) else damaged(source, source.pick(SEEDS))
    if source.rarely(20):
        data = gzip.compress(data, mtime=0)[: -1 - source.below(3) if source.below(2) else None]
    kind = kind_of(source, data)
    source.note(kind=kind, data=data if len(data) < 300 else f"{len(data)} bytes")
    check_file(kind, data)


def check_file(kind, data):
    """A reader answers as the csv module would, or raises an error that says where and why."""
    try:
        result = read(kind, data)
    except ERRORS as error:
        text = str(error)
        require(isinstance(error, TableFileError) or USER.search(text), f"vague: {text}")
        require("\n" not in text and 0 < len(text) < 2000, f"a message of {len(text)}: {text[:99]}")
        raise
    if kind == 2:
        require(np.all(result.counts >= 0), "negative counts")
    if kind == 0:
        require(plainly(result) == naively(data), "not what the csv module reads")


def plainly(counts):
    """Rows by labels, as the texts that a file can hold."""
    found = Counter()
    for (i, j), number in np.ndenumerate(counts.counts):
        if number:
            found[tuple(str(counts.labels[k]).lower() for k in (i, j))] += int(number)
    return found


def naively(data):
    """The same with nothing but the standard library, one row at a time."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    forms = [list(csv.reader(io.StringIO(text, newline=""), delimiter=d)) for d in ",\t;"]
    rows = [[row for row in form if any(field.strip() for field in row)] for form in forms]
    (header, *rows) = max(rows, key=lambda form: len(form[0]))
    places = [[name.strip() for name in header].index(name) for name in ("y", "yhat")]
    pairs = [tuple(row[place].strip() for place in places) for row in rows]
    fields = {field for pair in pairs for field in pair}
    if all(NUMBER.fullmatch(field) and abs(Fraction(field)) < 10**300 for field in fields):
        pairs = [tuple(str(int(Fraction(field))) for field in pair) for pair in pairs]
    return Counter(tuple(field.lower() for field in pair) for pair in pairs)


@family(share=50)
def tables(source):
    """Labels written as CSV are counted as scikit-learn counts them."""
    _, labels, true, (predicted,) = make.rows(source)
    labels = [str(label).replace("\t", " ") for label in labels]
    if source.below(2):
        labels = list(range(len(labels)))
    form = {
        "delimiter": source.pick((",", ";", "\t")),
        "lineterminator": source.pick(("\n", "\r\n", "\r")),
        "quoting": source.pick((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
    }
    file = io.StringIO()
    writer = csv.writer(file, **form)
    writer.writerow(["id", "y", "yhat"])
    times = 20_000 // len(true) if source.rarely(30) else 1  # more than is read at once
    y, yhat = ([labels[k] for k in codes] * times for codes in (true, predicted))
    writer.writerows(zip(range(len(y)), y, yhat, strict=True))
    data = file.getvalue().encode()
    data = gzip.compress(data) if source.rarely(6) else data
    source.note(data=data[:500])
    found = read_predictions(io.BytesIO(data), true="y", pred="yhat", labels=labels)
    order = [str(label) for label in found.labels]
    expected = confusion_matrix([str(k) for k in y], [str(k) for k in yhat], labels=order)
    close(found.counts, expected, "the counts differ")


COMMANDS = [
    shlex.split(line)[1:]
    for name, lines in EXAMPLES.items()
    if name not in ("app", "demo", "completion")
    for line in lines.splitlines()
    if line.strip().startswith("skuncertain ") and "--output" not in line and "app" not in line
]
WORDS = (
    "", "nan", "inf", "-1", "0", "1", "0.5", "1e309", "-0.1", "99999999999999999999", "x", "é",
    "x" * 3000, "--", "--metric", "--level", "--kind", "hdi", "--prior", "--format", "json", "csv",
    "html", "markdown", "--labels", "--pos-label", "--rows", "predicted", "--quiet", "mcc", "f1",
    "f1_macro", "--n-draws", "--random-state", "--tp", "3", "--bogus", "0x10", "١٢", "\x00", "\n",
    "--digits", "jeffreys", "haldane", "--rope", "--power", "--prevalence", "lr+", "2,5",
)  # fmt: skip
_FOLDER = None


def files(source):
    """Names of files with a damaged table each."""
    global _FOLDER
    if _FOLDER is None:
        _FOLDER = tempfile.TemporaryDirectory(prefix="skuncertain-fuzz-")
    names = {}
    for name in ("predictions.csv", "matrix.csv", "cv_results.csv", "cv_results.json", "a.csv"):
        path = Path(_FOLDER.name) / f"{os.getpid()}-{name}"
        data = source.pick(SEEDS)
        path.write_bytes(damaged(source, data) if source.below(2) else data)
        names[name] = str(path)
    names.update(
        {
            "b.csv": names["matrix.csv"],
            "site_a.csv": names["a.csv"],
            "site_b.csv": names["predictions.csv"],
        }
    )
    return names


@family(share=20, malformed=True)
def command_line(source):
    """Exit codes 0, 1 or 2; one line of complaint; nothing on stdout if it failed."""
    names = files(source)
    argv = [names.get(word, word) for word in source.pick(COMMANDS)]
    for _ in range(source.below(4)):
        at = source.below(len(argv) + 1)
        kind = source.below(3)
        if kind == 0:
            argv[at:at] = [source.pick(WORDS)]
        elif kind == 1 and at < len(argv):
            argv[at] = source.pick(WORDS)
        else:
            del argv[at : at + 1]
    require("app" not in argv, "no server")
    source.note(argv=argv)
    out, err = io.StringIO(), io.StringIO()
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(source.pick(SEEDS)))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(argv)
    finally:
        sys.stdin = stdin
    said = err.getvalue()
    require(code in (0, 1, 2), f"exit code {code}")
    require("SKUNCERTAIN_TRACEBACK" not in said, f"no documented error: {said[:300]}")
    lines = said.splitlines()
    require(all(line.startswith("skuncertain: ") for line in lines), f"stderr: {said[:300]}")
    require(len(lines) <= 8, f"a storm of {len(lines)} lines on stderr")
    if code:
        complaints = [line for line in lines if "error:" in line]
        require(len(complaints) == 1, f"not one complaint: {said[:200]}")
        require(not out.getvalue(), f"output beside an error: {out.getvalue()[:100]!r}")
        raise (TypeError if code == 2 else ValueError)(said)
    require(out.getvalue().strip(), "success without output")


def unknown(kind, data):
    """What a reader says about bytes, for the guided search: a text, or a violation."""
    try:
        check_file(kind, data)
    except ERRORS:
        return "refused"
    return "read"
