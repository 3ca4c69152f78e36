"""Cross-validations and models on the command line: the numbers of Python, or a clear refusal."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats
from sklearn.datasets import make_classification
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from cli_cases import COUNTS, TABLE, call, called
from skuncertain import BayesianCrossValidator, ConfusionCounts
from skuncertain._cli.options import build_parser
from skuncertain.model_selection import CrossValPosterior
from skuncertain.model_selection._fold_methods import METHODS
from skuncertain.posteriors import BetaPosterior

FOLDS = [[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]]
FILE = "report --file folds.csv --true y --pred yhat --fold part"


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _cross_validated(cv, names=str, n_classes=2, **options):
    """Cross-validate in Python, and write what was predicted in every fold."""
    X, y = make_classification(
        150, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    rows = ["part,y,yhat"]
    for k, (train, test) in enumerate(cv.split(X, y)):
        said = tree.fit(X[train], y[train]).predict(X[test])
        rows += [f"{names(k)},{t},{p}" for t, p in zip(y[test], said, strict=True)]
    order = np.random.default_rng(0).permutation(np.arange(1, len(rows)))
    Path("folds.csv").write_text("\n".join([rows[0], *(rows[k] for k in order)]) + "\n")
    # A file does not hold the models: nobody can ask them about the same rows.
    return BayesianCrossValidator(tree, cv=cv, random_state=0, stability=False, **options).fit(X, y)


def _plain(report):
    """Sections and settings of a report as JSON holds them, without what only Python knows."""
    found = json.loads(report if isinstance(report, str) else report.to_json())
    found["settings"].pop("k", None)  # Python knows the splits, a file does not
    found["settings"].pop("shown", None)
    return {key: found[key] for key in ("sections", "settings", "question")}


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, ""),
        ({"omega": "wang_li", "level": 0.9}, "--omega wang_li --level 0.9"),
        ({"kind": "hdi"}, "--kind hdi"),
        ({"omega": 0.5, "prior": 0.5}, "--omega 0.5 --prior 0.5"),
        ({"method": "nadeau_bengio"}, "--method nadeau_bengio"),
        ({"method": "averaged", "metrics": ["f1"]}, "--method averaged --metric f1"),
    ],
)
def test_a_column_of_folds_gives_the_report_of_python(options, asked, capsys):
    bcv = _cross_validated(StratifiedKFold(5), **options)
    code, out, _ = call(f"{FILE} {asked} --format json", capsys)
    assert code == 0
    assert _plain(out) == _plain(bcv.report())
    code, text, _ = call(f"{FILE} {asked}", capsys)
    expected = str(bcv.report()).splitlines()
    start = expected.index("Scores")
    end = next(k for k, line in enumerate(expected) if line.startswith("Also "))
    assert text.splitlines()[start:end] == expected[start:end]
    assert "5 folds (assumed to partition the rows)" in text


def test_three_classes_and_repetitions(capsys):
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    bcv = _cross_validated(cv, n_classes=3, estimand="final")
    asked = f"{FILE} --n-repeats 3 --estimand final --format json"
    code, out, err = call(asked, capsys)
    assert (code, err) == (0, "")
    assert _plain(out) == _plain(bcv.report())
    for number, told in ((2, "--n-repeats 2 must divide the number of folds, 15."), (5, "class ")):
        code, out, err = call(f"{FILE} --n-repeats {number}", capsys)
        assert (code, out) == (2, "")
        assert told in err
    assert "which is no multiple of 5." in err


def test_names_of_folds_are_told(capsys):
    _cross_validated(StratifiedKFold(12), names=lambda k: f"site {k:02}")
    found = json.loads(call(f"{FILE} --format json", capsys)[1])
    splits = [row["split"] for row in found["sections"]["folds"]["rows"]]
    assert splits == [f"site {k:02}" for k in range(12)]
    _cross_validated(StratifiedKFold(12), names=lambda k: f"{k}.0")  # as pandas writes them
    found = json.loads(call(f"{FILE} --format json", capsys)[1])
    assert [row["split"] for row in found["sections"]["folds"]["rows"]] == list(range(12))


@pytest.mark.parametrize("form", ["array", "labels", "predicted"])
def test_matrices_in_json(form, capsys):
    folds = np.array(FOLDS)
    asked, labels = "--rows true --metric recall f1", (0, 1)
    given = folds
    if form == "labels":
        labels = ("well", "ill")
        given = ConfusionCounts(folds, labels=labels, pos_label="well").to_dict()
    elif form == "predicted":
        given, asked = folds.swapaxes(1, 2), asked.replace("true", "predicted")
    data = given if isinstance(given, dict) else given.tolist()
    Path("folds.json").write_text(json.dumps(data))
    out = called(f"report --matrix folds.json {asked} --format json", capsys)
    counts = ConfusionCounts(folds, labels=labels, pos_label=labels[0] if form == "labels" else 1)
    expected = CrossValPosterior.from_counts(counts, metrics=["recall", "f1"], random_state=0)
    assert _plain(out) == _plain(expected.report())
    (row, _) = json.loads(out)["sections"]["scores"]["rows"]
    pooled = folds.sum(axis=0)
    k = 0 if form == "labels" else 1
    assert row["pooled"] == pytest.approx(pooled[k, k] / pooled[k].sum())


def test_one_matrix_in_json(capsys):
    Path("matrix.json").write_text('{"counts": [[6, 2], [0, 26]], "labels": ["well", "ill"]}')
    asked = "--rows true --pos-label ill --metric recall precision --format json"
    found = json.loads(called(f"report --matrix matrix.json {asked}", capsys))
    for row in found["sections"]["scores"]["rows"]:
        expected = COUNTS.posterior(row["metric"]).interval()
        assert (row["score"]["low"], row["score"]["high"]) == pytest.approx(expected)
    named = "--labels ill well --rows true --pos-label ill --metric recall --format csv"
    Path("plain.json").write_text("[[26, 0], [2, 6]]")
    out = called(f"report --matrix plain.json {named}", capsys)
    assert float(out.split(",")[-3]) == COUNTS.posterior("recall").interval().low


def test_a_fold_without_a_class(capsys):
    rows = "0,1,1\n0,0,0\n0,1,0\n1,0,0\n1,0,1\n2,1,1\n2,0,0\n"
    Path("folds.csv").write_text("part,y,yhat\n" + rows)
    out = called(FILE, capsys)
    assert "- 1 of 3 folds hold no row of class 1: 1. The class has no recall there" in out
    counts = [[[1, 0], [1, 1]], [[1, 1], [0, 0]], [[1, 0], [0, 1]]]
    expected = CrossValPosterior.from_counts(ConfusionCounts(counts), random_state=0)
    rows = json.loads(called(f"{FILE} --format json", capsys))["sections"]["scores"]["rows"]
    for row in rows:
        ends = (row["interval"]["low"], row["interval"]["high"])
        assert ends == tuple(expected.intervals[row["metric"]])


def _few(rows="0,1,1\n1,0,0\n1,1,1\n0,0,1\n"):
    Path("folds.csv").write_text("part,y,yhat\n" + rows)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--fold prat", "--fold 'prat' is not a column of folds.csv; its columns are 'part', 'y', "
         "'yhat'. Did you mean 'part'?"),
        ("--fold y", "--fold 'y' is named twice, but truth and predictions and folds must be"),
        ("--method pooled", "--method needs folds: --fold, or JSON"),
        ("--n-repeats 2", "--n-repeats needs folds"),
        ("--fold part --prevalence 0.1", "--prevalence does not go with the folds"),
        ("--fold part --model rows", "--model does not go with the folds"),
        ("--fold part --n-draws 10", "--n-draws does not go with the folds"),
        ("--fold part --method poled", "--method must be one of 'pooled', "),
        ("--fold part --omega 0.1", "--omega must be in [1/K, 1] = [0.5, 1], got 0.1."),
        ("--fold part --omega half", "--omega must be one of 'auto', 'wang_li'"),
        ("--fold part --prior shared", "--prior 'shared' is a prior of one matrix"),
        ("--fold part --metric f1,recall", "--metric takes names with spaces"),
        ("--model rows", "--model rows needs --metric"),
    ],
)  # fmt: skip
def test_slips(options, told, capsys):
    _few()
    code, out, err = call(f"report --file folds.csv --true y --pred yhat {options}", capsys)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("0,1,1\n0,0,0\n", "'part' of folds.csv names one fold only, 0: a cross-validation has"),
        ("0,1,1\n,0,0\n1,1,1\n", "folds.csv, line 3: 'part', the fold, is missing ('')."),
        ("0.5,1,1\n1.5,0,0\n", "'part' of folds.csv holds numbers such as 0.5, which do not tell"),
        ("".join(f"{k},{k % 2},1\n" for k in range(1001)), "more than 1,000 different values, so"),
    ],
)
def test_files_that_hold_no_folds(rows, told, capsys):
    _few(rows)
    code, out, err = call(FILE, capsys)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert told in err


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([FOLDS[0]], "holds one fold only"),
        ([[[1, 2], [3, 4]], [[1, 2]]], "folds.json, matrix 2: all rows and columns"),
        ([[[1, 2], [3, 4]], [[1, 2], [3, 0.5]]], "folds.json, matrix 2: 0.5 is not a count"),
        ([[[1, 2], [3, 4]], [[1, 2], [3, True]]], "matrix 2: True is not a count"),
        ([FOLDS], "must hold confusion matrices: lists of rows"),
        ([[[1, 2], [3, 4]]] * 1001, "holds 1,001 folds; at most 1,000"),
        ({"counts": FOLDS, "names": ["a", "b"]}, "got the keys ['counts', 'names']"),
        ({"counts": FOLDS, "labels": ["a", "a"]}, "labels must be 2 different texts"),
        ({"counts": FOLDS, "labels": ["a", "b"], "pos_label": "c"}, "pos_label must be one of"),
        ("[[", "is not JSON"),
        ('{"counts": [[1, 2], [3, 4]], "counts": [[1, 2], [3, 5]]}', "'counts' is there twice"),
    ],
)
def test_json_that_holds_no_matrices(data, told, capsys):
    Path("folds.json").write_text(data if isinstance(data, str) else json.dumps(data))
    code, out, err = call("report --matrix folds.json --rows true", capsys)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert told in err


def test_folds_where_one_matrix_is_needed(capsys):
    Path("folds.json").write_text(json.dumps(FOLDS))
    for asked in ("compare --matrix folds.json folds.json", "plan --width 0.1 --matrix folds.json"):
        code, _, err = call(f"{asked} --rows true", capsys)
        assert code == 1
        assert "folds.json holds 3 matrices, one per fold, but one is needed here" in err


def test_help_names_all_methods():
    parser = build_parser()._subparsers._group_actions[0].choices["report"]
    (action,) = (action for action in parser._actions if action.dest == "method")
    for name in METHODS:
        assert name in action.help.replace(",", "").split() or f"{name}," in action.help


# --------------------------------------------------------------------------------------------------
# Models


def _scores(options, capsys, table=TABLE):
    out = called(f"report {table} {options} --format json", capsys)
    return {row["metric"]: row for row in json.loads(out)["sections"]["scores"]["rows"]}


def test_the_three_betas_by_hand(capsys):
    table = "--tp 24 --fn 3 --fp 5 --tn 9"
    numbers = ((27, 14), (24, 3), (9, 5))  # positives and negatives, right and wrong of each
    share, recall, specificity = (BetaPosterior(a + 0.5, b + 0.5) for a, b in numbers)
    asked = "--model three_beta --prior 0.5 --metric recall specificity prevalence precision"
    found = _scores(asked, capsys, table)
    for name, beta in (("recall", recall), ("specificity", specificity), ("prevalence", share)):
        ends = (found[name]["score"]["low"], found[name]["score"]["high"])
        assert ends == pytest.approx(tuple(beta.interval()), abs=1e-10)
    # P(precision <= x) is the average over recall and specificity of P(odds of a positive <= ...).
    nodes = []
    for beta in (recall, specificity):
        x, weight = special.roots_jacobi(150, beta.b - 1, beta.a - 1)
        nodes.append(((1 + x) / 2, weight / weight.sum()))
    (r, wr), (s, ws) = nodes
    frozen = stats.beta(share.a, share.b)

    def below(value):
        odds = value / (1 - value) * (1 - s)[None, :] / r[:, None]
        return float(wr @ frozen.cdf(odds / (1 + odds)) @ ws)

    low, high = (found["precision"]["score"][end] for end in ("low", "high"))
    assert (below(low), below(high)) == pytest.approx((0.025, 0.975), abs=1e-6)
    dirichlet = _scores("--prior 0.5 --metric precision", capsys, table)["precision"]["score"]
    assert dirichlet["low"] != pytest.approx(low, abs=1e-3)


@pytest.mark.parametrize("model", ["three_beta", "rows", "dirichlet"])
def test_models_are_those_of_python(model, capsys):
    names = ["accuracy", "precision", "f1", "f1_macro"]
    asked = f"--model {model} --metric {' '.join(names)}"
    for name, row in _scores(asked, capsys).items():
        posterior = COUNTS.posterior(name, model=model, random_state=0)
        assert (row["score"]["low"], row["score"]["high"]) == tuple(posterior.interval())
    for name, row in _scores(f"--model {model} --prevalence 0.05", capsys).items():
        posterior = COUNTS.posterior(name, model=model, prevalence=0.05, random_state=0)
        assert (row["value"]["low"], row["value"]["high"]) == tuple(posterior.interval())


def test_three_betas_of_three_classes_are_refused(capsys):
    Path("m.json").write_text("[[5, 1, 0], [1, 5, 0], [0, 1, 5]]")
    asked = "report --matrix m.json --rows true --metric accuracy --model three_beta"
    code, out, err = call(asked, capsys)
    assert (code, out) == (2, "")
    assert "--model 'three_beta' is for two classes, got 3" in err
