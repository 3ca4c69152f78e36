"""The command line when it is asked for something slightly wrong: what it says, and what it does."""

import csv
import io
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCountsScorer, compare_paired, search_posterior
from skuncertain._cli import main

TABLE = "--tp 26 --fn 0 --fp 2 --tn 6"


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(arguments, capsys):
    code = main(shlex.split(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def refused(arguments, capsys, code=2):
    """The one line on stderr, without its start."""
    found, out, err = call(arguments, capsys)
    assert (found, out, err.count("\n")) == (code, "", 1)
    return err.removeprefix("skuncertain: error: ").rstrip("\n")


def _predictions(name="both.csv", seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=60)
    old, new = (np.where(rng.random(60) < right, y, 1 - y) for right in (0.7, 0.9))
    rows = "".join(f"{t},{p},{q}\n" for t, p, q in zip(y, old, new, strict=True))
    Path(name).write_text("y,old,new\n" + rows)
    return y, old, new


def _saved_search(metrics):
    X, y = make_classification(200, weights=[0.8], flip_y=0.2, random_state=0)
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 3]},
        scoring=ConfusionCountsScorer(metrics=metrics),
        refit=False,
        cv=3,
    ).fit(X, y)
    columns = {k: np.asarray(v).tolist() for k, v in search.cv_results_.items() if "_test_" in k}
    columns["params"] = search.cv_results_["params"]
    Path("cv_results.json").write_text(json.dumps(columns))
    return search


# --------------------------------------------------------------------------------------------------
# Tables


def test_a_matrix_with_sums(capsys):
    Path("m.csv").write_text(";well;ill;total\nwell;6;2;8\nill;0;26;26\ntotal;6;28;34\n")
    message = refused("report --matrix m.csv --rows true", capsys, 1)
    assert "m.csv: the row and the column 'total' hold the sums of the others" in message


def test_one_column_twice(capsys):
    _predictions()
    message = refused("report --file both.csv --true y --pred y", capsys)
    assert "must be different columns, got 'y' and 'y'" in message
    assert "'y', 'old', 'new'" in message


def test_a_saved_search_is_judged_by_its_own_metric(capsys):
    search = _saved_search(["f1"])
    code, out, _ = call("search cv_results.json --format json", capsys)
    assert code == 0
    assert json.loads(out)["settings"]["metric"] == "f1"
    saved = search_posterior(json.loads(Path("cv_results.json").read_text()), random_state=0)
    np.testing.assert_allclose(saved.mean, search.cv_results_["mean_test_f1"])


def test_a_saved_search_with_several_metrics(capsys):
    _saved_search(["f1", "recall"])
    message = refused("search cv_results.json", capsys)
    assert message == "metric is missing: name one of the scores ['f1', 'recall']."
    assert call("search cv_results.json --metric recall", capsys)[0] == 0


def test_a_saved_search_with_counts_alone_is_judged_by_accuracy(capsys):
    _saved_search(None)
    _, out, _ = call("search cv_results.json --format json", capsys)
    assert json.loads(out)["settings"]["metric"] == "accuracy"
