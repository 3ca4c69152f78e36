"""Probabilities on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from cli_cases import call, called
from skuncertain import compare_paired, credible_interval, interval_report


@pytest.fixture
def rows(tmp_path, monkeypatch, global_random_seed):
    """Labels and probabilities of two and of three classes, also in files."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(global_random_seed)
    three = np.array(["a", "b", "c"])[rng.integers(3, size=90)]
    p = np.round(rng.dirichlet([2, 1, 1], size=90), 3)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    two, q = np.where(three == "a", "yes", "no"), p[:, 0]
    head = "y,a,b,c,two,q,r\n"
    body = "".join(
        f"{t},{u!r},{v!r},{w!r},{s},{u!r},{v!r}\n"
        for t, (u, v, w), s in zip(three, p.tolist(), two, strict=True)
    )
    Path("p.csv").write_text(head + body)
    return three, p, two, q


def _scores(out):
    rows = json.loads(out)["sections"]["scores"]["rows"]
    return {row["metric"]: (row["score"]["low"], row["score"]["high"]) for row in rows}


def test_the_report_is_that_of_python(rows, capsys):
    three, p, _, _ = rows
    out = called("report --file p.csv --true y --proba a b c --format json", capsys)
    expected = interval_report(three, y_proba=p, random_state=0).to_dict()
    assert json.loads(out)["sections"] == json.loads(json.dumps(expected["sections"]))


@pytest.mark.parametrize("columns", ["q", "q=yes", "r=no,q=yes", "q=yes r=no"])
def test_columns_are_those_of_their_classes(columns, rows, capsys):
    _, _, two, q = rows
    if "r" in columns:  # two columns that sum to 1
        text = Path("p.csv").read_text().splitlines()
        pairs = zip(text[1:], q.tolist(), strict=True)
        changed = [f"{line.rpartition(',')[0]},{1 - share!r}" for line, share in pairs]
        Path("p.csv").write_text("\n".join([text[0], *changed]) + "\n")
    words = "report --file p.csv --true two --pos-label yes --metric log_loss average_precision "
    found = _scores(called(f"{words} f1 --format json --proba {columns}", capsys))
    assert sorted(found) == ["average_precision", "f1", "log_loss"]
    for name in ("log_loss", "average_precision"):
        expected = credible_interval(two, q, metric=name, pos_label="yes")
        np.testing.assert_allclose(found[name], expected, rtol=1e-12)


def test_a_column_of_the_other_class_is_turned_round(rows, capsys):
    _, _, two, q = rows
    words = "report --file p.csv --true two --metric log_loss roc_auc --format json --proba q=no"
    found = _scores(called(words, capsys))
    for name in found:
        np.testing.assert_allclose(
            found[name], credible_interval(two, 1 - q, metric=name), rtol=1e-12
        )


def test_two_columns_are_compared(rows, capsys):
    _, p, two, q = rows
    words = "compare --file p.csv --true two --proba q r --metric log_loss --format json"
    out = json.loads(called(words, capsys))
    expected = compare_paired(two, q, p[:, 1], metric="log_loss", names=("q", "r"))
    cell = out["sections"]["difference"]["rows"][0]["value"]
    np.testing.assert_allclose((cell["low"], cell["high"]), expected.interval(), rtol=1e-12)


def test_metrics_say_what_they_need(capsys):
    assert called("metrics log_loss", capsys).endswith("[probabilities]\n")
    assert called("metrics roc_auc", capsys).endswith("[scores]\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("report --file p.csv --true y --proba z", "its columns are 'y', 'a', 'b', 'c'"),
        ("report --file p.csv --true y --proba a b", "a column for every class; 'c' has none"),
        ("report --file p.csv --true y --proba a b q", "'q' is not called like a class"),
        ("report --file p.csv --true y --proba a a", "names a column of p.csv twice"),
        ("report --file p.csv --true y --proba a=x b c", "'a' has none"),
        ("report --file p.csv --true y --proba a", "a column for each, got one"),
        ("report --file p.csv --true y --proba y", "named twice"),
        ("report --file p.csv --true two --proba y", "'a' in column 'y' is no number"),
        ("report --file p.csv --proba q", "true is missing"),
        ("report --file p.csv --true two --proba q=maybe", "the class 'maybe'"),
        ("report --file p.csv --true two --proba q=no r=yes", "sum to 1 in every row"),
        ("report --file p.csv --true two --proba q --fold y", "--fold does not go with --proba"),
        ("report --tp 1 --fn 1 --fp 1 --tn 1 --proba q", "--proba names columns of --file"),
        ("report --file p.csv --true two --pred two --metric auc", "--proba"),
        (
            "report --file p.csv --true two --proba q --metric log_loss --prevalence 0.1",
            "--prevalence does not go with --metric log_loss",
        ),
        (
            "compare --file p.csv --true two --proba q r",
            "accuracy is computed from labels",
        ),
        ("compare --a 1 1 1 1 --b 1 1 1 1 --metric auc", "--metric roc_auc needs scores"),
        ("compare --file p.csv p.csv --true two --proba q r --metric auc", "of one --file"),
    ],
)
def test_slips(words, told, rows, capsys):
    code, out, err = call(words, capsys)
    assert code in (1, 2)  # a wrong file, or a wrong call
    assert (out, err.count("\n")) == ("", 1)
    assert told in err
