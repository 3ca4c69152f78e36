"""Tables in files: counted as scikit-learn counts the same labels, or refused with a place."""

import csv
import gzip
import io
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import confusion_matrix

from skuncertain import ConfusionCounts, compare_paired
from skuncertain._io import csv_counts as _csv_counts
from skuncertain._io.csv_counts import MOST_LABELS, count_cells
from skuncertain._io.search_results import read_search_results
from skuncertain._io.tables import read_matrix, read_paired, read_predictions
from skuncertain.exceptions import TableFileError

LABELS = {
    "digits": [0, 1],
    "integers": [-1, 7, 12345678901],
    "words": ["cat", "dog"],
    "long words": ["a" * 7, "a" * 8, "a" * 9, "a" * 16 + "b", "a" * 16 + "c", "z" * 300],
    "letters": ["ä", "日本", "naïve café", "x y"],
}


@pytest.fixture
def small_chunks(monkeypatch):
    """Blocks of a few lines, so that their seams are everywhere."""
    monkeypatch.setattr(_csv_counts, "_CHUNK", 50)
    monkeypatch.setattr(_csv_counts, "_ROWS", 3)


def _text(columns, **options):
    file = io.StringIO()
    writer = csv.writer(file, **{"lineterminator": "\n", **options})
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _labels(name, rng, n=400):
    labels = np.array(LABELS[name])
    y = rng.integers(len(labels), size=n)
    p = np.where(rng.random(n) < 0.7, y, rng.integers(len(labels), size=n))
    return labels[y], labels[p]


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delimiter": ";"},
        {"delimiter": "\t", "lineterminator": "\r\n"},
        {"quoting": csv.QUOTE_ALL},
        {"quoting": csv.QUOTE_ALL, "lineterminator": "\r\n"},
        {"lineterminator": "\r"},
    ],
    ids=str,
)
@pytest.mark.parametrize("others", ["alone", "first", "around", "quoted"])
def test_counts_are_those_of_scikit_learn(name, options, others, small_chunks, global_random_seed):
    y, p = _labels(name, np.random.default_rng(global_random_seed))
    columns = {"y": y, "p": p}
    numbers = np.arange(len(y)) / 7
    if others == "first":
        columns = {"id": numbers, **columns}
    elif others == "around":
        columns = {"id": numbers, "p": p, "score": numbers, "y": y, "": numbers}
    elif others == "quoted":
        columns["text"] = [f'he said "{k};,\t",\nand left' if k % 10 == 9 else k for k in numbers]
    found = read_predictions(io.StringIO(_text(columns, **options)), true="y", pred="p")
    assert list(found.labels) == sorted(LABELS[name])
    np.testing.assert_array_equal(found.counts, confusion_matrix(y, p, labels=found.labels))


def test_the_usual_chunks_count_as_well(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y, p = rng.integers(200, size=(2, 100_000))
    found = read_predictions(io.StringIO(_text({"y": y, "p": p})), true="y", pred="p")
    np.testing.assert_array_equal(found.counts, confusion_matrix(y, p))


FIELDS = st.text(st.sampled_from('ab,;\t"\n\r é'), max_size=12).map("x{}x".format)


@settings(max_examples=200)
@given(
    rows=st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=30),
    delimiter=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    chunk=st.integers(1, 200),
)
def test_whatever_the_csv_module_writes_is_read(rows, delimiter, quoting, chunk):
    # A carriage return within quotes is kept by csv only if its writer quotes it: lineterminator.
    columns = dict(zip("ytp", zip(*rows, strict=True), strict=True))
    text = _text(columns, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv_counts, "_CHUNK", chunk)
        found = count_cells(io.BytesIO(text.encode()), {"true": "y", "pred": "p"})
    expected = Counter((y, p) for y, _, p in rows)
    assert {key: number for key, (number, _) in found.items()} == expected


@settings(max_examples=500)
@given(
    lines=st.lists(st.text(st.sampled_from('ab,"\n'), max_size=8), min_size=1, max_size=8),
    chunk=st.integers(1, 60),
)
def test_whatever_the_csv_module_reads_is_read(lines, chunk):
    text = "y,p\n" + "\n".join(lines) + "\n"
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))[1:]
    except csv.Error:
        rows = [["not", "a", "table"]]
    rows = [row for row in rows if len(row) > 1 or "".join(row).strip()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv_counts, "_CHUNK", chunk)
        try:
            found = count_cells(io.StringIO(text), {"true": "y", "pred": "p"})
        except TableFileError:
            found = {}
    good = bool(rows) and all(len(row) == 2 for row in rows)
    expected = Counter(map(tuple, rows)) if good else {}
    assert {key: number for key, (number, _) in found.items()} == expected


def test_kinds_of_files(tmp_path, monkeypatch):
    data = b"y,p\n1,1\n0,1\n0,0\n"
    expected = ConfusionCounts([[1, 1], [0, 1]])
    (tmp_path / "a.csv").write_bytes(data)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(data[:9], mtime=0) + gzip.compress(data[9:]))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    for file in (
        tmp_path / "a.csv",
        str(tmp_path / "a.csv.gz"),  # of two parts, as cat a.gz b.gz makes it
        "-",
        io.BytesIO(data),
        io.BytesIO(gzip.compress(data, mtime=0)),
        io.StringIO(data.decode()),
        io.BytesIO(b"\xef\xbb\xbf" + data + b"\r\n\n  \n"),
        io.BytesIO(b"\n\n" + data.rstrip()),
        io.StringIO("p , y\n1, 1\n1,0\n\n0 ,0\n"),
    ):
        assert read_predictions(file, true="y", pred="p") == expected


@pytest.mark.parametrize(
    ("rows", "labels", "pos_label"),
    [
        ("1,1.0 0.0,0", (0, 1), 1),  # a column with missing values that were dropped
        ("-1,1 1,-1", (-1, 1), 1),
        ("1,2 2,1", (1, 2), 2),
        ("01,2 2,01", ("01", "2"), None),
        ("TRUE,False false,true", (False, True), True),
        ("no,yes yes,no", ("no", "yes"), None),
        ("10,10 unknown,10", ("10", "unknown"), None),
        ("1,1 1,1", (0, 1), 1),
    ],
)
def test_types_of_labels(rows, labels, pos_label):
    found = read_predictions(io.StringIO("y,p\n" + rows.replace(" ", "\n")), true="y", pred="p")
    assert found.labels == labels
    assert [type(label) for label in found.labels] == [type(label) for label in labels]
    assert found.pos_label == pos_label
    assert found.n == 2


def test_labels_and_pos_label_are_texts_of_the_files_type():
    text = "y,p\n1,1\n3,1\n"
    found = read_predictions(
        io.StringIO(text), true="y", pred="p", labels=["3", "1", "2"], pos_label="3"
    )
    assert (found.labels, found.pos_label) == ((3, 1, 2), 3)
    np.testing.assert_array_equal(found.counts, [[0, 1, 0], [0, 1, 0], [0, 0, 0]])
    alone = read_predictions(io.StringIO("y,p\na,a\n"), true="y", pred="p", pos_label="b")
    assert alone == ConfusionCounts([[1, 0], [0, 0]], labels=["a", "b"], pos_label="b")
    named = read_predictions(io.StringIO("y,p\nNA,x\n"), true="y", pred="p", labels=["NA", "x"])
    assert named.counts.tolist() == [[0, 1], [0, 0]]
    with pytest.raises(ValueError, match=r"label 3, which is not in labels=\[1, 2\]"):
        read_predictions(io.StringIO(text), true="y", pred="p", labels=["1", "2"])


LONG = "".join(f"{k % 2},{k % 3 % 2},x\n" for k in range(60))
UNREADABLE = [
    (b"", "is empty"),
    (b"\n \n", "is empty"),
    (b"y,p,z", "has a header but no rows"),
    (b"y,p,z\r\n\r\n", "has a header but no rows"),
    (b"y,p,y\n1,1,1\n", "has 2 columns called 'y'"),
    (b"y,p\n1,1\n0,\n", "line 3: 'p' is missing"),
    (b"y,p\n1,1\n0,NaN\n", "line 3: 'p' is missing"),
    (b"y,p\n1,1\n0,0\n0\n", "line 4: 1 field, but the header has 2"),
    (b"y,p\n1,1\n0,0,\n", "line 3: 3 fields, but the header has 2"),
    (b"y,p\n1,1\n1,0.37\n", "numbers such as 0.37, no class labels. Turn scores into labels"),
    (b"y,p\n1,yes\n0,no\n", "different things: 'y' whole numbers, 'p' texts"),
    (b"y,p\n\xe9,b\n", "line 2: 'y' is not UTF-8"),
    (b"\xff\xfey\0,\0p\0", "UTF-16"),
    (b"y,p\n1,0\n\0,0\n", "NUL"),
    (b'y,p,"t\n1,0,x', "first line: a quotation mark is not closed"),
    (b'y,p,t\n1,0,"abc\n1,0,x\n', "line 3: unexpected end of data"),
    (b'y,p,t\n1,0,"abc"d\n', "line 2: "),
    (b'y,p,t\n\n1,0,"' + b"x" * 200_000 + b',"\n', "field larger than field limit"),
    (b"y,p,t\n" + b"x" * (2**24 + 2**19), "a line of more than"),
    (gzip.compress(b"y,p\n" + b"1,0\n" * 5000, mtime=0)[:-9], "truncated"),
    (b"\x1f\x8b" + b"x" * 100, "damaged gz"),
    (b"y,p\n" + b"".join(b"%d,0\n" % k for k in range(1200)), "'y' of the table has more than"),
    # The same after a line that only the csv module can read
    (f'y,p,t\n1,0,"a,b"\n{LONG}1,,x\n'.encode(), "line 63: 'p' is missing"),
    (f'y,p,t\n1,0,"a\nb"\n{LONG}1,,x\n'.encode(), "line 64: 'p' is missing"),
    (f'y,p,t\n1,0,"a,b"\n{LONG}1,0\n'.encode(), "line 63: 2 fields, but the header has 3"),
    (b'y,p,t\n1,0,","\n' + b"".join(b"1,%d,\n" % k for k in range(1200)), "Is it the right one"),
]


@pytest.mark.parametrize(("data", "message"), UNREADABLE, ids=lambda part: str(part)[:30])
def test_unreadable_files_say_where_and_why(data, message):
    with pytest.raises(TableFileError) as error:
        read_predictions(io.BytesIO(data), true="y", pred="p")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "pred is missing: name a column of the table: 'y_true', 'y_pred'"),
        ({"true": "y_tru", "pred": "y_pred"}, "true='y_tru' is not a column of the table; its "
         "columns are 'y_true', 'y_pred'. Did you mean 'y_true'?"),
        ({"true": "y_true", "pred": "y_true"}, "different columns"),
    ],
)  # fmt: skip
def test_wrong_columns(columns, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the text is compared below
        read_predictions(io.StringIO("y_true,y_pred\n1,1\n"), **{"true": "y_true", **columns})
    assert not isinstance(error.value, TableFileError)
    assert message in str(error.value)


def test_a_file_without_header_is_told():
    with pytest.raises(ValueError, match="The first line must name the columns"):
        read_predictions(io.StringIO("0,1\n1,1\n"), true="y", pred="p")


def test_long_texts_beside_the_labels():
    one, other = "x, " * 200_000, "a\nb" * 200_000
    rows = f'1,0,"{one}"\n0,0,"{other}"\n'
    found = read_predictions(io.StringIO("y,p,t\n" + rows * 2), true="y", pred="p")
    assert found.counts.tolist() == [[2, 0], [2, 0]]


def test_as_many_labels_as_allowed():
    numbers = range(MOST_LABELS)
    text = _text({"y": numbers, "p": numbers})
    assert read_predictions(io.StringIO(text), true="y", pred="p").n_classes == MOST_LABELS


def test_progress_tells_the_bytes(small_chunks):
    for last in ("", '1,1,"a,b"\n'):
        told = []
        text = "y,p,t\n" + "1,0,x\n" * 100 + last
        read_predictions(io.StringIO(text), true="y", pred="p", progress=told.append)
        assert told == sorted(told)
        assert len(told) > 5
        assert told[-1] == len(text) - len("y,p,t\n")


@pytest.mark.parametrize("metric", ["accuracy", "recall", "fpr", "f1", "balanced_accuracy"])
def test_pairs_are_compared_like_their_rows(metric, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(2, size=300)
    a, b = (np.where(rng.random(300) < right, y, 1 - y) for right in (0.8, 0.85))
    text = _text({"y": y, "a": a, "b": [f"{k}.0" if k else k for k in b]})
    found = read_paired(io.StringIO(text), true="y", pred=["a", "b"])
    options = {"metric": metric, "rope": 0.01, "random_state": 3, "n_draws": 2000}
    ours, expected = found.compare(**options), compare_paired(y, a, b, **options)
    assert ours.to_dict() == expected.to_dict()
    for model, predicted in enumerate((a, b)):
        assert found.counts(model) == ConfusionCounts.from_predictions(y, predicted)


def test_pairs_of_many_classes(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y, a, b = rng.integers(40, size=(3, 500))  # more than fit into a table of all combinations
    found = read_paired(io.StringIO(_text({"y": y, "a": a, "b": b})), true="y", pred=["a", "b"])
    options = {"metric": "f1_macro", "random_state": 3, "n_draws": 200}
    assert found.compare(**options).to_dict() == compare_paired(y, a, b, **options).to_dict()


# --------------------------------------------------------------------------------------------------
# Matrices


def test_matrix_both_ways_round():
    text = "true,ill,well,dead\nwell,2,6,1\ndead,3,4,5\nill,26.0,0,9\n"  # rows in another order
    expected = ConfusionCounts([[26, 0, 9], [2, 6, 1], [3, 4, 5]], labels=["ill", "well", "dead"])
    assert read_matrix(io.StringIO(text), rows="true") == expected
    turned = read_matrix(io.StringIO(text), rows="predicted")
    np.testing.assert_array_equal(turned.counts, expected.counts.T)
    order = read_matrix(io.StringIO(text), rows="true", labels=["dead", "ill", "well"])
    np.testing.assert_array_equal(order.counts, [[5, 3, 4], [9, 26, 0], [1, 2, 6]])


def test_matrix_with_numbers_for_labels():
    found = read_matrix(io.StringIO(";0;1\n0;6;2\n1;0;26\n"), rows="true", pos_label="0")
    assert found == ConfusionCounts([[6, 2], [0, 26]], labels=[0, 1], pos_label=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (",a,b\n", "at least two classes"),
        (",a\na,1\n", "at least two classes"),
        (",a,b\na,1,2\n", "only one of them has 'b'"),
        (",a,b,total\na,1,2,3\nb,1,2,3\n", "column 'total' holds the sums of the others"),
        (",a,b,total\na,1,2,3\nb,1,2,4\n", "only one of them has 'total'. Leave the sums out"),
        (",cat,dog\ncat,1,2\ndogs,1,2\n", "has 'dog'. Did you mean 'dogs'?"),
        (",a,b\na,1,2\na,1,2\n", "line 3: a second row is called 'a'"),
        (",a,a\na,1,2\nb,1,2\n", "same label"),
        (",a,b\na,0.9,0.1\nb,0.2,0.8\n", "line 2: '0.9' is not a count"),
        (",a,b\na,1,-2\nb,1,2\n", "'-2' is not a count"),
        (",a,b\na,1\nb,1,2\n", "line 2: 2 fields, but the header has 3"),
    ],
)
def test_matrices_that_are_none(text, message):
    with pytest.raises(TableFileError) as error:
        read_matrix(io.StringIO(text), rows="true")
    assert message in str(error.value)


def test_rows_must_be_named():
    with pytest.raises(ValueError, match="rows must be one of 'true', 'predicted'; got 'pred'"):
        read_matrix(io.StringIO(",a,b\na,1,2\nb,3,4\n"), rows="pred")


# --------------------------------------------------------------------------------------------------
# Searches


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "no columns split0_test_score"),
        ("split0_test_score,split1_test_score\n", "no rows"),
        ("split0_test_score\nhigh\n", "must hold numbers, got 'high'"),
        ('{"split0_test_score": [1, 2], "params": [1]}', "must be JSON of a table"),
        ('{"split0_test_score": ', "is not JSON"),
        ("[1, 2]", "must be JSON of a table"),
    ],
)
def test_search_results_that_are_none(text, message):
    with pytest.raises(TableFileError) as error:
        read_search_results(io.StringIO(text))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "x,split0_test_score,split1_test_score,params\n"
        "0,0.5,0.75,\"{'C': 1}\"\n1,,1,\"{'C': 2}\"\n",
        "split0_test_score,split1_test_score,param_C\n0.5,0.75,1\nnan,1.0,2\n",
        '{"split0_test_score": [0.5, null], "split1_test_score": [0.75, 1], '
        '"params": [{"C": 1}, {"C": 2}]}',
        '{"split0_test_score": {"0": 0.5, "1": NaN}, "split1_test_score": {"0": 0.75, "1": 1}, '
        '"param_C": {"0": 1, "1": 2}}',
        '[{"split0_test_score": 0.5, "split1_test_score": 0.75, "params": {"C": 1}}, '
        '{"split1_test_score": 1, "params": {"C": 2}}]',
    ],
)
def test_forms_of_search_results(text):
    found = read_search_results(io.StringIO(text))
    np.testing.assert_array_equal(found["split0_test_score"], [0.5, np.nan])
    np.testing.assert_array_equal(found["split1_test_score"], [0.75, 1])
    assert [{key: int(value) for key, value in row.items()} for row in found["params"]] == [
        {"C": 1},
        {"C": 2},
    ]


@pytest.mark.parametrize("margin", ["total", "Total", "sum", "All", "", "n", "alle"])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("which", ["both", "row", "column"])
def test_sums_are_no_class(margin, first, which):
    """Sums of the other rows and columns are refused, whatever they are called."""
    table = np.array([[6, 2, 1], [0, 26, 3], [4, 0, 9]])
    names = ["a", "b", "c"]
    columns, rows, place = list(names), list(names), 0 if first else 3
    if which != "row":
        table = np.insert(table, place, table.sum(axis=1), axis=1)
        columns.insert(place, margin)
    if which != "column":
        table = np.insert(table, place, table.sum(axis=0), axis=0)
        rows.insert(place, margin)
    lines = [";".join(["", *columns])]
    lines += [";".join([name, *map(str, row)]) for name, row in zip(rows, table, strict=True)]
    what = {"both": "row and the column", "row": "row", "column": "column"}[which]
    message = f"the {what} {margin!r} holds? the sums of the others.*Leave the sums out"
    with pytest.raises(TableFileError, match=message):
        read_matrix(io.StringIO("\n".join(lines)), rows="true")


def test_a_class_may_look_like_sums():
    """Equal counts of two classes are no sums, and naming all classes settles it."""
    half = io.StringIO(",a,n\na,5,5\nn,5,5\n")
    assert read_matrix(half, rows="true").n == 20
    text = ",a,b,c\na,1,0,1\nb,0,2,2\nc,1,2,3\n"
    with pytest.raises(TableFileError, match="row and the column 'c'"):
        read_matrix(io.StringIO(text), rows="true")
    assert read_matrix(io.StringIO(text), rows="true", labels=["a", "b", "c"]).n == 12


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1f", "empty"),  # str.strip takes control characters for blanks
        (b" \n\n", "empty"),
        (b",a,b\na,99999999999999999,1\nb,1,1\n", r"line 2.*2\*\*53"),
        (b",a,b\na," + b"9" * 5000 + b",1\nb,1,1\n", r"line 2.*2\*\*53"),
    ],
)
def test_matrix_files_that_hold_no_matrix(data, text):
    with pytest.raises(TableFileError, match=text):
        read_matrix(io.BytesIO(data), rows="true")


def test_labels_of_more_digits_than_python_reads_are_names():
    digits = "9" * 5000
    file = io.BytesIO(f"y,yhat\n{digits},1\n1,1\n".encode())
    assert read_predictions(file, true="y", pred="yhat").labels == ("1", digits)


@pytest.mark.parametrize(
    ("score", "text"),
    [
        ("9" * 400, "split0_test_score.*numbers"),  # OverflowError
        ("9" * 5000, "JSON"),
        ("true", "split0_test_score.*numbers, got True"),
        ('"1_0"', "split0_test_score.*numbers, got '1_0'"),
        ('0.1], "split0_test_score": [0.1', "twice"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_search_files_that_hold_no_scores(score, text):
    data = f'{{"split0_test_score": [{score}], "split1_test_score": [0.5]}}'
    with pytest.raises(TableFileError, match=text) as caught:
        read_search_results(io.StringIO(data))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("params", [r"{'C': '\d'}", "{'C': 1if 2else 3}", "{[]: 1}", "{{}}"])
def test_parameters_that_are_no_dict(params):
    # Remarks of Python's compiler, and a TypeError
    data = f'params,split0_test_score,split1_test_score\n"{params}",0.8,0.9\n"{{}}",0.7,0.9\n'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = read_search_results(io.StringIO(data))
    assert results["split1_test_score"] == [0.9, 0.9]
