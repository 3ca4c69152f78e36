"""Tables with a column of folds: every fold is counted as scikit-learn counts it."""

import io

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from skuncertain import ConfusionCounts
from skuncertain._io import csv_counts as _csv_counts, json_counts as _json_counts
from skuncertain._io.tables import read_folds, read_matrix
from skuncertain.exceptions import InvalidParameterError, TableFileError
from skuncertain.model_selection import CrossValPosterior


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("chunk", [50, 2**18])
def test_folds_are_counted_as_scikit_learn_does(quoted, chunk, monkeypatch, global_random_seed):
    monkeypatch.setattr(_csv_counts, "_CHUNK", chunk)
    monkeypatch.setattr(_csv_counts, "_ROWS", 7)
    rng = np.random.default_rng(global_random_seed)
    y, p = rng.choice(["cat", "dog", "eel"], size=(2, 600))
    fold = rng.integers(12, size=600)
    mark = '"' if quoted else ""
    rows = [f"{mark}{t}{mark},{q},{k}" for t, q, k in zip(y, p, fold, strict=True)]
    if quoted:
        rows.insert(300, "")  # a blank line sends all that follows to the csv module
    text = "y,yhat,part\n" + "\n".join(rows) + "\n"
    counts, names = read_folds(io.StringIO(text), true="y", pred="yhat", fold="part")
    assert names == list(range(12))
    expected = [
        confusion_matrix(y[fold == k], p[fold == k], labels=["cat", "dog", "eel"]) for k in names
    ]
    np.testing.assert_array_equal(counts.counts, expected)


def test_spellings_of_folds():
    def names(*folds):
        text = "y,z,f\n" + "".join(f"{k % 2},1,{fold}\n" for k, fold in enumerate(folds))
        counts, found = read_folds(io.StringIO(text), true="y", pred="z", fold="f")
        assert counts.n.sum() == len(folds)
        return found

    assert names("10", "9", "1.0", "+1", "01") == [1, 9, 10]
    assert names("b", " a ", "a", "10") == ["10", "a", "b"]
    assert names("True", "False") == ["False", "True"]
    with pytest.raises(TableFileError, match=r"line 3: 'f', the fold, is missing \('NaN'\)"):
        names("1", "NaN")


def test_a_fold_does_not_change_the_labels():
    """Labels 0 and 1 stay numbers beside folds that are words."""
    text = "y,z,f\n1,1,a\n0,1,a\n0,0,b\n1,1,b\n"
    counts, _ = read_folds(io.StringIO(text), true="y", pred="z", fold="f")
    assert (counts.labels, counts.pos_label) == ((0, 1), 1)


def test_folds_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(_json_counts, "_MOST_CELLS", 20)
    text = "y,z,f\n" + "".join(f"{k % 3},1,{k % 3}\n" for k in range(9))
    with pytest.raises(TableFileError, match="3 folds of 3 classes, which are more than 20 cells"):
        read_folds(io.StringIO(text), true="y", pred="z", fold="f")
    with pytest.raises(TableFileError, match="6 folds of 2 classes"):
        read_matrix(io.StringIO(str([[[1, 2], [3, 4]]] * 6)), rows="true", folds=True)


def test_json_of_counts_goes_there_and_back():
    counts = ConfusionCounts([[[5, 1], [2, 2**53]], [[4, 0], [0, 3]]], labels=(-1, 1), pos_label=-1)
    text = str(counts.to_dict()).replace("'", '"')
    assert read_matrix(io.StringIO(text), rows="true", folds=True) == counts
    turned = read_matrix(io.StringIO(text), rows="true", folds=True, labels=["1", "-1"])
    np.testing.assert_array_equal(turned.counts, counts.counts[:, ::-1, ::-1])
    assert (turned.labels, turned.pos_label) == ((1, -1), -1)


def test_cross_validation_from_counts_is_checked():
    one = ConfusionCounts.from_binary(tp=5, fn=1, fp=2, tn=4)
    for wrong in (one, ConfusionCounts(one.counts[None]), one.counts):
        with pytest.raises(InvalidParameterError, match=r"^counts must"):
            CrossValPosterior.from_counts(wrong)
    folds = ConfusionCounts([one.counts, one.counts + 1])
    three = ConfusionCounts([one.counts, one.counts, one.counts + 1])
    with pytest.raises(InvalidParameterError, match="class 0 has 20 in all folds") as caught:
        CrossValPosterior.from_counts(three, n_repeats=3)
    assert caught.value.parameter == "n_repeats"
    assert CrossValPosterior.from_counts(folds).n == 28
