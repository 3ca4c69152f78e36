"""Families about one number that a file spells in several ways."""

import io
import re

import numpy as np

from skuncertain._io.tables import read_paired, read_predictions
from skuncertain.exceptions import TableFileError
from tools.fuzz.runner import family, require

SPELLINGS = {
    0: ("0", "0.0", "00", "-0", "+0", "0e0", "0.", ".0"),
    1: ("1", "1.0", "+1", "01", "1e0", "1.", "1E+0", "10e-1", "001"),
    2: ("2", "2.0", "+2", "02", "2e0", "0.2e1"),
    -1: ("-1", "-1.0", "-01", "-1e0"),
    10: ("10", "1e1", "+10", "10.0", "010"),
}
PADDED = re.compile(r"[-+]?0\d")
TRUTHS = {True: ("true", "TRUE", "True"), False: ("false", "FALSE", "False")}


def spelt(source):
    """Labels of two or three classes, and how they are spelt in every row and column."""
    if source.rarely(5):
        ways, classes = TRUTHS, [False, True]
    else:
        ways, classes = SPELLINGS, sorted({0, 1, *(source.pick(list(SPELLINGS)) for _ in range(2))})
    usual = {label: ways[label][0] for label in classes}
    rows = []
    for k in range(source.integer(2, 12)):
        labels = [source.pick(classes) for _ in range(3)]
        labels[0] = classes[k] if k < 2 else labels[0]  # one class alone is no table
        rows.append([(k, source.pick(ways[k]) if source.rarely(4) else usual[k]) for k in labels])
    return rows


@family(share=60)
def spelled_numbers(source):
    """A file is counted as its numbers are, or refused with two of the spellings."""
    rows = spelt(source)
    data = "y,yhat,b\n" + "".join(",".join(text for _, text in row) + "\n" for row in rows)
    source.note(data=data)
    paired = source.below(2)
    ways = spellings_of([row[: 2 + paired] for row in rows])
    try:
        if paired:
            found = read_paired(io.StringIO(data), true="y", pred=("yhat", "b"))
        else:
            found = read_predictions(io.StringIO(data), true="y", pred="yhat")
    except TableFileError as error:
        if not are_names(ways):
            check_refusal(str(error), ways)
        return
    numbers = [value_of(label) for label in found.labels]
    require(len(set(numbers)) == len(numbers), f"one number, several classes: {list(found.labels)}")
    ordered = numbers == sorted(numbers) or are_names(ways)
    require(ordered, f"not in the order of the numbers: {list(found.labels)}")
    if not paired:
        expected = np.zeros_like(found.counts)
        for (true, _), (said, _), _ in rows:
            expected[numbers.index(true), numbers.index(said)] += 1
        require(np.array_equal(found.counts, expected), "the counts are not those of the numbers")


def value_of(label):
    """The number that a label stands for."""
    text = str(label).lower()
    return text == "true" if text in ("true", "false") else float(text)


def spellings_of(rows):
    """``{number: {spelling, ...}}``."""
    ways = {}
    for number, spelling in (pair for row in rows for pair in row):
        ways.setdefault(number, set()).add(spelling)
    return ways


def are_names(ways):
    """Whether labels may be names: 007 is one, as long as there is no 7 beside it."""
    padded = any(PADDED.match(word) for words in ways.values() for word in words)
    return padded and all(len(words) == 1 for words in ways.values())


def check_refusal(text, ways):
    """The message names two spellings of a number, or the one that is odd if there is no second."""
    most = max(map(len, ways.values()))
    named = max(sum(is_named(word, text) for word in words) for words in ways.values())
    require(named >= min(most, 2), f"refused without two spellings of a number: [{text}]")


def is_named(word, text):
    return re.search(rf"(?<![\w.+-]){re.escape(word)}(?!\w|\.\d)", text) is not None
