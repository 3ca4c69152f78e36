"""The command line when it is asked for something slightly wrong."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from cli_cases import TABLE, call
from skuncertain import ConfusionCountsScorer, compare_paired, search_posterior


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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
    assert "--pred 'y' is named twice, but truth and predictions must be" in message
    assert "'y', 'old', 'new'" in message


def test_a_saved_search_is_judged_by_its_own_metric(capsys):
    search = _saved_search(["f1"])
    code, out, _ = call("search cv_results.json --format json", capsys)
    assert code == 0
    assert json.loads(out)["settings"]["metric"] == "f1"
    saved = search_posterior(json.loads(Path("cv_results.json").read_text()), random_state=0)
    np.testing.assert_allclose(saved.mean, search.cv_results_["mean_test_f1"])


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("--method averaged", {"method": "averaged"}),
        ("--method t", {"method": "t"}),
        ("--method corrected_t", {"method": "corrected_t"}),
        ("--method dirichlet", {"method": "dirichlet"}),
        (
            "--method averaged --prior 2 --prior-per-fold",
            {"method": "averaged", "prior": 2, "prior_per_fold": True},
        ),
        ("--omega wang_li", {"omega": "wang_li"}),
        ("--method pooled --omega 0.7 --prior 0.5", {"omega": 0.7, "prior": 0.5}),
    ],
)
def test_fold_method_of_the_candidates_of_a_search(words, options, capsys):
    _saved_search(["f1"])
    _, out, _ = call(f"search cv_results.json {words} --format json", capsys)
    results = json.loads(Path("cv_results.json").read_text())
    expected = search_posterior(results, random_state=0, **options)
    usual = search_posterior(results, random_state=0)
    found = json.loads(out)
    rows = next(iter(found["sections"].values()))["rows"]
    assert rows == next(iter(expected.report().to_dict()["sections"].values()))["rows"]
    assert rows != next(iter(usual.report().to_dict()["sections"].values()))["rows"]
    assert expected.method in found["settings"]["method"]


def test_a_fold_method_needs_what_the_search_has_saved(capsys):
    Path("cv_results.json").write_text(
        json.dumps({"split0_test_score": [0.9, 0.8], "split1_test_score": [0.7, 0.8]})
    )
    message = refused("search cv_results.json --method pooled", capsys)
    assert "--method 'pooled' needs the counts of every fold" in message
    message = refused("search cv_results.json --method avergaed", capsys)
    assert "--method must be one of" in message
    assert "Did you mean 'averaged'?" in message
    assert call("search cv_results.json --method corrected_t", capsys)[0] == 0


def test_a_saved_search_with_several_metrics(capsys):
    _saved_search(["f1", "recall"])
    message = refused("search cv_results.json", capsys)
    assert message == "--metric is missing: name one of the scores ['f1', 'recall']."
    assert call("search cv_results.json --metric recall", capsys)[0] == 0


def test_a_saved_search_with_counts_alone_is_judged_by_accuracy(capsys):
    _saved_search(None)
    _, out, _ = call("search cv_results.json --format json", capsys)
    assert json.loads(out)["settings"]["metric"] == "accuracy"


# --------------------------------------------------------------------------------------------------
# Two classifiers


@pytest.mark.parametrize("second", ["both.csv", "./both.csv", "link.csv"])
def test_the_same_file_twice_is_a_paired_comparison(second, capsys):
    y, old, new = _predictions()
    Path("link.csv").symlink_to("both.csv")
    once = call("compare --file both.csv --true y --pred old new --format csv", capsys)
    twice = call(f"compare --file both.csv {second} --true y --pred old new --format csv", capsys)
    assert once == twice
    code, out, err = twice
    assert (code, err) == (0, "")
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["difference"] == "new - old"
    low, _ = compare_paired(y, old, new, random_state=0).difference.interval(0.95)
    assert float(row["value_low"]) == pytest.approx(low, abs=1e-12)


def test_the_same_file_twice_needs_two_columns(capsys):
    _predictions()
    message = refused("compare --file both.csv both.csv --true y --pred old", capsys)
    assert message.startswith("one file needs two columns for a paired comparison")


def _title(arguments, capsys):
    code, out, _ = call(f"compare {arguments}", capsys)
    assert code == 0
    return out.splitlines()[0]


def test_names_of_classifiers_differ(capsys):
    Path("x").mkdir()
    for path in ("m.csv", "x/m.csv"):
        Path(path).write_text(",a,b\na,6,2\nb,0,26\n")
    _predictions("p.csv")
    _predictions("x/p.csv")
    title = _title("--matrix m.csv m.csv --rows true", capsys)
    assert title == "Comparison of B with A by accuracy"
    title = _title("--matrix m.csv x/m.csv --rows true", capsys)
    assert title == "Comparison of x/m.csv with m.csv by accuracy"
    title = _title("--file p.csv x/p.csv --true y --pred old new", capsys)
    assert title == "Comparison of new with old by accuracy"
    message = refused("compare --matrix m.csv m.csv --rows true --names x x", capsys)
    assert message == "--names must be different, got 'x' twice."


# --------------------------------------------------------------------------------------------------
# The positive class


def test_a_positive_class_is_not_guessed(capsys):
    Path("m.csv").write_text(",ill,well\nill,26,0\nwell,2,6\n")
    Path("m.json").write_text('{"counts": [[26, 0], [2, 6]], "labels": ["ill", "well"]}')
    folds = {"counts": [[[26, 0], [2, 6]]] * 3, "labels": ["ill", "well"]}
    Path("folds.json").write_text(json.dumps(folds))
    Path("rows.csv").write_text("y,a,b\n" + "ill,ill,well\nwell,ill,well\n" * 9)
    search = "split{k}_test_{key}"
    cells = {"n_0_0": 26, "n_0_1": 0, "n_1_0": 2, "n_1_1": 6, "n": 34}
    names = [search.format(k=k, key=key) for k in range(3) for key in cells]
    line = ",".join(str(cells[key]) for k in range(3) for key in cells)
    Path("search.csv").write_text(",".join(names) + f"\n{line}\n{line}\n")
    report = "report --matrix m.csv --rows true --metric recall"
    for arguments in (
        report,
        "report --matrix m.json --rows true --metric recall",
        "report --matrix folds.json --rows true --metric recall",
        "report --matrix m.csv --rows true --prevalence 0.1",
        "report --file rows.csv --true y --pred a --metric f1",
        "compare --matrix m.csv m.csv --rows true --metric recall",
        "compare --file rows.csv --true y --pred a b --metric recall",
        "plan --matrix m.csv --rows true --width 0.1",
        "search search.csv --metric f1 --labels ill well --n-repeats 1",
    ):
        code, out, err = call(arguments, capsys)
        assert (code, out) == (2, ""), arguments
        assert err.startswith("skuncertain: error:")
        for text in ("'ill' or 'well'", "--pos-label"):
            assert text in err
        code, out, err = call(f"{arguments} --pos-label ill", capsys)
        assert code == 0, err
    for label, recall in (("well", 6 / 8), ("ill", 1.0)):
        code, out, err = call(f"{report} --format csv --pos-label {label}", capsys)
        assert (code, err) == (0, "")
        assert f"recall,{recall}," in out
    assert call(report.replace("recall", "accuracy"), capsys)[::2] == (0, "")
    code, out, err = call("report --matrix m.csv --rows true", capsys)
    assert (code, err) == (0, "")
    assert "sensitivity" not in out
    out = call("report --matrix m.csv --rows true --pos-label ill", capsys)[1]
    assert "positive class ill: its recall is the sensitivity" in out
    pair = "compare --matrix m.csv m.csv --rows true --metric recall --pos-label well --format json"
    assert json.loads(call(pair, capsys)[1])["settings"]["pos_label"] == "well"


def test_numbers_need_no_word_about_the_positive_class(capsys):
    _predictions()
    arguments = "report --file both.csv --true y --pred old --metric recall"
    assert call(arguments, capsys)[2] == ""
    assert call(f"report {TABLE} --metric recall --labels 0 1", capsys)[2] == ""
    named = f"report {TABLE} --metric recall --labels well ill"
    assert "'well' or 'ill'" in call(named, capsys)[2]
    assert call(f"{named} --pos-label ill", capsys)[2] == ""


# --------------------------------------------------------------------------------------------------
# Messages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"report {TABLE} --metric fbeta", "The names 'f2' and 'f0.5' need none."),
        (f"report {TABLE} --metric f1score", "Did you mean 'f1'?"),
        (f"report {TABLE} --metric auc", "--metric roc_auc needs scores: give --file and --proba"),
        (f"report {TABLE} --metric log_loss", "needs probabilities: give --file and --proba"),
        (f"report {TABLE} --metric recall,precision", "spaces between them: recall precision."),
        ("compare --a 1 2 3 4 --b 4 3 2 1 --metric recall,f1", "names several metrics: give one."),
        (f"report {TABLE} --prevalence 1%", "got '1%' (did you mean 0.01?)"),
        (f"report {TABLE} --level 90%", "got '90%' (did you mean 0.9?)"),
        (f"report {TABLE} --level 0,9", "got '0,9' (did you mean 0.9?)"),
        (f"report {TABLE} --prevalence 5", "got 5.0. Did you mean 0.05?"),
        ("plan --width 0.1 --expected 90", "got 90.0. Did you mean 0.9?"),
        ("plan --width 0.1 --expected 0.9 --prevalence 5", "got 5.0. Did you mean 0.05?"),
        ("report --file one.csv --true y --pred a", "give --labels with all classes"),
        ("report --file both.csv --true y --pred old --labels 1 2", "not in --labels [1, 2]"),
        (
            "report --file both.csv --true y --pred old --pos-label 3 --metric f1",
            "--pos-label 3 is",
        ),
        ("report --matrix m3.csv --rows true --metric f1", "Name the class with --pos-label, or"),
        ("report --matrix m3.csv --rows true --labels a b", "--labels must be those of m3.csv"),
        (f"report {TABLE} --format json --output x.html", "x.html is to be html, but --format"),
        (f"report {TABLE} --format text --output x.CSV", "x.CSV is to be csv, but --format says"),
    ],
)
def test_a_slip_gets_its_remedy(arguments, message, capsys):
    _predictions()
    Path("one.csv").write_text("y,a\nx,x\nx,x\n")
    Path("m3.csv").write_text(",a,b,c\na,3,4,1\nb,5,6,1\nc,2,2,2\n")
    assert message in refused(arguments, capsys)
    assert not list(Path.cwd().glob("x.*"))


def test_other_words_in_rows_and_columns(capsys):
    Path("m.csv").write_text(",sick,healthy\npositive,3,4\nnegative,5,6\n")
    message = refused("report --matrix m.csv --rows predicted", capsys, 1)
    assert message.endswith("or, of two classes, give --tp --fn --fp --tn.")


def test_an_unknown_end_of_the_name_goes_with_every_format(capsys):
    assert call(f"report {TABLE} --format json --output x.out", capsys) == (0, "", "")
    assert json.loads(Path("x.out").read_text())["settings"]["n"] == 34
    assert call(f"report {TABLE} --format json --output x.json", capsys) == (0, "", "")


# --------------------------------------------------------------------------------------------------
# Tables for programs


def test_the_selected_candidate_has_its_own_column(capsys):
    _saved_search(["f1"])
    _, out, _ = call("search cv_results.json --format csv", capsys)
    rows = list(csv.DictReader(io.StringIO(out)))
    result = search_posterior(json.loads(Path("cv_results.json").read_text()), random_state=0)
    assert sorted(row["candidate"] for row in rows) == sorted(result.names)
    chosen = [row["candidate"] for row in rows if row["selected"] == "True"]
    assert chosen == [result.names[result.selected_index]]
    assert "interval" not in rows[0]
    for row in rows:
        k = result.names.index(row["candidate"])
        ends = [float(row[key]) for key in ("mean", "mean_low", "mean_high")]
        np.testing.assert_allclose(ends, [result.mean[k], result.low[k], result.high[k]])
    _, text, _ = call("search cv_results.json", capsys)
    assert f"\n* {chosen[0]}  " in text  # people see a star
    assert " selected\n" not in text
    _, out, _ = call("search cv_results.json --format json", capsys)
    assert '"* ' not in re.sub(r'"title": "[^"]*"', "", out)
    _, page, _ = call("search cv_results.json --format html", capsys)
    assert page.count(f">* {chosen[0]}<") >= 3  # tables and figures


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (2, "of 1 other, 1 is as good as the highest mean and 0 are distinguishable from it"),
        (3, "of 2 others, 2 are as good as the highest mean and 0 are distinguishable from it"),
    ],
)
def test_one_other_candidate(n, text, capsys):
    scores = np.random.default_rng(0).normal(0.8, 0.02, 5)
    columns = {f"split{k}_test_score": [float(score)] * n for k, score in enumerate(scores)}
    Path("cv_results.json").write_text(json.dumps(columns))
    assert f"*: selected; {text}" in call("search cv_results.json", capsys)[1]
