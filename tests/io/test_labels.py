"""Labels in files: what is one label, what is two, and what is refused instead of guessed."""

import csv
import io
import itertools
import unicodedata
import warnings

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain._io import csv_counts as _csv_counts
from skuncertain._io.tables import read_matrix, read_paired, read_predictions
from skuncertain.exceptions import TableFileError

ONE = ["1", "+1", "1.0", "1.", "1e0", "1E+0", "10e-1", "0.1e1", " 1", "1\u00a0"]
ZERO = ["0", "-0", "+0", "0.0", "-0.0", "0e5", ".0"]


def read(rows, **options):
    text = "y,p\n" + "".join(f"{true},{predicted}\n" for true, predicted in rows)
    return read_predictions(io.StringIO(text), true="y", pred="p", **options)


@pytest.fixture(params=["numpy", "numpy, quoted", "csv module", "small chunks"])
def write(request, monkeypatch):
    """Function that makes a file, which is then read in one of the ways that there are."""
    if request.param == "small chunks":
        monkeypatch.setattr(_csv_counts, "_CHUNK", 16)
        monkeypatch.setattr(_csv_counts, "_ROWS", 3)

    def make(rows):
        file = io.StringIO()
        quoting = csv.QUOTE_ALL if "quoted" in request.param else csv.QUOTE_MINIMAL
        writer = csv.writer(file, quoting=quoting, lineterminator="\n")
        writer.writerow(["y", "p"])
        file.write("\n" if request.param == "csv module" else "")  # a blank line is its business
        writer.writerows(rows)
        return io.StringIO(file.getvalue())

    return make


def test_equal_numbers_are_one_label(write):
    """A perfect classifier is one, however its numbers are written, in whichever column."""
    rows = [*itertools.product(ONE, ONE), *itertools.product(ZERO, ZERO)]
    found = read_predictions(write(rows), true="y", pred="p")
    assert found == ConfusionCounts([[len(ZERO) ** 2, 0], [0, len(ONE) ** 2]])
    assert [type(label) for label in found.labels] == [int, int]


@pytest.mark.parametrize("other", ["+1", "1.0", "1e0"])
def test_one_other_spelling_changes_nothing(other, write):
    rows = [("1", "1"), ("-1", "-1")] * 50
    found = read_predictions(write([*rows, (other, "1")]), true="y", pred="p")
    assert found == ConfusionCounts([[50, 0], [0, 51]], labels=[-1, 1])
    assert found.score("accuracy") == 1


def test_numbers_beyond_floats_are_told_apart(write):
    large = 2**53
    rows = [(f"+{large}", f"{large}.0"), (str(large + 1), str(large + 1)), ("1e20", str(10**20))]
    found = read_predictions(write(rows), true="y", pred="p")
    assert found.labels == (large, large + 1, 10**20)
    np.testing.assert_array_equal(found.counts, np.eye(3))


@pytest.mark.parametrize("spelling", [("TRUE", "true"), ("True", "tRuE")])
def test_truth_values_in_any_case(spelling, write):
    found = read_predictions(write([spelling, ("False", "FALSE")]), true="y", pred="p")
    assert found.labels == (False, True)
    assert found.counts.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("rows", "one", "other"),
    [
        ([("01", "01"), ("1", "2")], r"'01' \(line 2, 'y'\)", r"'1' \(line 3, 'y'\)"),
        ([("007", "7"), ("10", "10")], r"'007' \(line 2, 'y'\)", r"'7' \(line 2, 'p'\)"),
        ([("1", "1.0"), ("unknown", "1")], r"'1' \(line 2, 'y'\)", r"'1.0' \(line 2, 'p'\)"),
        ([("1", "unknown"), ("+1", "1")], r"'\+1' \(line 3, 'y'\)", r"'1' \(line 2, 'y'\)"),
        ([("0.5", "low"), ("low", "0.50")], "'0.5' ", "'0.50' "),
        ([("inf", "low"), ("low", "+Infinity")], r"'\+Infinity' ", "'inf' "),
        ([("1e400", "1"), ("10e399", "1")], "'10e399' ", "'1e400' "),
        ([("True", "maybe"), ("TRUE", "True")], "'TRUE' ", "'True' "),
        ([("True", "1"), ("True", "True")], "'1' ", "'True' "),
        ([("True", "0"), ("True", "True")], "'True' ", "'0' "),
    ],
)  # fmt: skip
def test_two_spellings_among_texts_are_refused(rows, one, other, write):
    """Nobody can tell what is meant, so both are named with column and line."""
    with pytest.raises(TableFileError, match=f"holds {one}.*and {other}.*two spellings") as caught:
        read([*rows])
    assert caught.value.parameter == "labels"
    with pytest.raises(TableFileError, match="two spellings"):
        read_predictions(write(rows), true="y", pred="p")
    # Who names them means them.
    classes = sorted({label for row in rows for label in row})
    found = read_predictions(write(rows), true="y", pred="p", labels=classes)
    assert found.labels == tuple(classes)
    for true, predicted in rows:
        assert found.counts[classes.index(true), classes.index(predicted)] == 1


def test_codes_with_leading_zeros_are_texts(write):
    found = read_predictions(write([("01234", "98101"), ("98101", "98101")]), true="y", pred="p")
    assert found.labels == ("01234", "98101")


@pytest.mark.parametrize("score", ["0.37", "1e-3", "inf", "-Infinity", "1.5e0"])
def test_numbers_that_are_no_classes(score):
    with pytest.raises(TableFileError, match=r"holds numbers such as .*Turn scores into labels"):
        read([("1", "1"), ("0", score)])


@pytest.mark.parametrize("missing", ["", " ", "nan", "NaN", '""'])
def test_missing_numbers_stay_missing(missing):
    with pytest.raises(TableFileError, match="line 3: 'p' is missing"):
        read([("1", "1"), ("0", missing)])


@pytest.mark.parametrize(
    ("one", "other"),
    [("Yes", "yes"), ("STRASSE", "straße"), ("caf\u00e9", "cafe\u0301"), ("\uff21", "A")],
)
def test_words_are_taken_as_written_with_a_warning(one, other, write):
    rows = [(one, other), (other, other), ("no", "no")]
    with pytest.warns(UserWarning, match="counted as different labels") as caught:
        found = read_predictions(write(rows), true="y", pred="p")
    (warning,) = caught
    shown = [repr(label) for label in (one, other)]
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        shown = [ascii(label) for label in (one, other)]  # a reader could not tell them apart
    assert all(text in str(warning.message) for text in shown)
    assert found.labels == tuple(sorted([one, other, "no"]))
    assert found.score("accuracy") == pytest.approx(2 / 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_predictions(write(rows), true="y", pred="p", labels=[one, other, "no"])
        read([("yes", "no"), ("no", "yesterday")])


def test_a_storm_of_words_is_one_warning():
    rows = [(f"w{k}", f"W{k}") for k in range(400)]
    with pytest.warns(UserWarning, match="'W0' and 'w0'.*and 397 more pairs") as caught:
        assert read(rows).n_classes == 800
    assert len(caught) == 1
    assert len(str(caught[0].message)) < 300


def test_options_are_spelled_as_freely():
    found = read([("1", "+1"), ("0", "1")], labels=["+1", "0.0"], pos_label="1e0")
    assert (found.labels, found.pos_label) == ((1, 0), 1)
    with pytest.raises(ValueError, match="label 1, which is not in labels"):
        read([("1", "1"), ("0", "1")], labels=["0", "01"])


def test_pairs_of_models_with_their_own_spelling():
    text = "y,a,b\n1,+1,1.0\n0,0.0,-0\n1,0,1e0\n"
    found = read_paired(io.StringIO(text), true="y", pred=["a", "b"])
    assert found.counts(0) == ConfusionCounts([[1, 0], [1, 1]])
    assert found.counts(1) == ConfusionCounts([[1, 0], [0, 2]])


def test_matrix_with_two_spellings():
    found = read_matrix(io.StringIO(",+1,-1\n1.0,6,2\n-1,0,26\n"), rows="true")
    assert found == ConfusionCounts([[6, 2], [0, 26]], labels=[1, -1])
    with pytest.raises(TableFileError, match=r"two columns have the same label: \['1', '\+1'\]"):
        read_matrix(io.StringIO(",1,+1\n1,6,2\n0,0,26\n"), rows="true")
    with pytest.raises(TableFileError, match=r"line 3: a second row is called '\+1'"):
        read_matrix(io.StringIO(",1,0\n1,6,2\n+1,0,26\n"), rows="true")
    with pytest.raises(TableFileError, match=r"holds '01' .* and '1' .*two spellings"):
        read_matrix(io.StringIO(",01,2\n1,6,2\n2,0,26\n"), rows="true")
    named = read_matrix(io.StringIO(",01,1\n01,6,2\n1,0,26\n"), rows="true", labels=["01", "1"])
    assert named.labels == ("01", "1")
