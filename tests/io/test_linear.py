"""The work of the readers grows with the file, not with its square: steps are counted."""

import io
import types

import pytest

from skuncertain._io import csv_counts, search_results, tables
from skuncertain._io.csv_counts import count_cells
from skuncertain._io.search_results import read_search_results
from skuncertain.exceptions import TableFileError

COLUMNS = {"true": "y", "pred": "p"}
N = 2000


@pytest.fixture
def compared():
    """Number of comparisons, and types of texts and tuples that count them."""
    number = [0]

    def counting(base):
        def equal(self, other):
            number[0] += 1
            return base.__eq__(self, other)

        return type("Counting", (base,), {"__eq__": equal, "__hash__": base.__hash__})

    return number, counting


def test_a_key_that_is_there_twice(compared):
    number, counting = compared
    text = counting(str)
    names = [*range(N), N - 1]
    with pytest.raises(ValueError, match=f"the key '{N - 1}' is there twice"):
        search_results.unique_keys([(text(name), 0) for name in names])
    assert number[0] < 10 * N


def test_a_column_that_is_there_twice(compared, monkeypatch):
    number, counting = compared
    header = [counting(str)(name) for name in [*range(N), N - 1]]
    monkeypatch.setattr(search_results, "read_rows", lambda *_: [(1, header)])
    with pytest.raises(TableFileError, match=f"has 2 columns called '{N - 1}'"):
        read_search_results(io.StringIO("not read"))
    assert number[0] < 10 * N


@pytest.mark.parametrize(
    "text",
    [
        "[" + ", ".join(f'{{"split{k}_test_score": 1}}' for k in range(N)) + "]",
        "{" + ", ".join(f'"split{k}_test_score": {{"{k}": 1}}' for k in range(N)) + "}",
    ],
    ids=["rows", "columns"],
)
def test_a_table_that_is_almost_empty_is_not_filled_up(text):
    with pytest.raises(TableFileError, match="2,000 rows or columns should have the same keys"):
        read_search_results(io.StringIO(text))


def test_a_table_with_some_gaps_is_filled_up():
    rows = [f'{{"split0_test_score": 0.5, "param_{k % 40}": {k}}}' for k in range(N)]
    found = read_search_results(io.StringIO(f"[{', '.join(rows)}]"))
    assert found["params"][41] == {"1": 41}


def test_labels_of_a_matrix(compared):
    number, counting = compared
    columns, rows = ([counting(str)(name) for name in range(N)] for _ in range(2))
    tables._check_square(columns, rows[::-1], "the table")
    assert number[0] < 10 * N


def _pairs(n):
    """File in which all pairs of labels are new."""
    return "".join(f"{k % 40},{k // 40}\n" for k in range(n))


def test_lines_of_new_pairs_are_counted_once(monkeypatch):
    counted = [0]

    class Watched(bytes):
        def count(self, what, start=0, end=None):
            counted[0] += (len(self) if end is None else end) - start
            return bytes.count(self, what, start, len(self) if end is None else end)

    real = csv_counts._plain_fields

    def watched(*args):
        block, *rest = real(*args)
        return (Watched(block), *rest)

    monkeypatch.setattr(csv_counts, "_plain_fields", watched)
    text = "y,p\n" + _pairs(N)
    found = count_cells(io.StringIO(text), COLUMNS)
    lines = [line for _, line in found.values()]
    assert lines == [(k + 2, k + 2) for k in range(N)]
    assert counted[0] <= len(text)


def test_new_pairs_of_the_csv_module(compared, monkeypatch):
    number, counting = compared
    pair = counting(tuple)

    def itemgetter(*places):
        return lambda row: pair(row[place] for place in places)

    monkeypatch.setattr(csv_counts, "operator", types.SimpleNamespace(itemgetter=itemgetter))
    rows = csv_counts._ROWS
    text = "y,p\n\n" + "0,0\n" * (rows - 1) + _pairs(rows)  # the new pairs are read at once
    found = count_cells(io.StringIO(text), COLUMNS)
    assert [line for _, line in found.values()][1:] == [(rows + 2 + k,) * 2 for k in range(1, rows)]
    assert number[0] < 10 * rows


def test_lines_of_new_pairs_in_the_csv_module():
    rows = _pairs(1500)
    found = count_cells(io.StringIO("y,p\n" + '"0","0"\n' + rows[4:] + 'a"b,0\n0,0\n'), COLUMNS)
    assert [line for _, line in found.values()] == [(k + 2, k + 2) for k in range(1501)]


@pytest.mark.parametrize("size", [1, 50])
def test_a_long_quoted_text_is_searched_for_its_end_a_few_times(size, monkeypatch):
    looked, real = [0], csv_counts._plain_fields

    def watched(block, *args):
        looked[0] += len(block)
        return real(block, *args)

    monkeypatch.setattr(csv_counts, "_CHUNK", size)
    monkeypatch.setattr(csv_counts, "_plain_fields", watched)
    text = 'y,p,t\n1,0,"' + "x\n" * 2000 + '"\n0,1,x\n'
    found = count_cells(io.StringIO(text), COLUMNS)
    assert {key: number for key, (number, _) in found.items()} == {("1", "0"): 1, ("0", "1"): 1}
    assert looked[0] < 5 * len(text)
