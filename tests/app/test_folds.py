"""Cross-validations and models on the page: the numbers of Python."""

import io
import warnings

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.model_selection import CrossValPosterior
from skuncertain.model_selection._fold_methods import SIDE_BY_SIDE

pytest.importorskip("flask")

from skuncertain.app import create_app
from skuncertain.app._forms import FIELDS, FOLD_METHODS, MODELS
from skuncertain.metrics._posterior import MODELS as KNOWN_MODELS

SAME = {"Sec-Fetch-Site": "same-origin"}
CELLS = {"tp": "24", "fn": "3", "fp": "5", "tn": "9"}
COUNTS = ConfusionCounts.from_binary(tp=24, fn=3, fp=5, tn=9)


def _table(classes=("0", "1"), n_folds=5, n=200, shares=0.8):
    rng = np.random.default_rng(0)
    y = rng.integers(len(classes), size=n)
    p = np.where(rng.random(n) < shares, y, rng.integers(len(classes), size=n))
    fold = rng.integers(n_folds, size=n)
    rows = "".join(f"{k},{classes[t]},{classes[q]}\n" for k, t, q in zip(fold, y, p, strict=True))
    size = len(classes)
    matrices = np.zeros((n_folds, size, size), dtype=int)
    np.add.at(matrices, (fold, y, p), 1)
    return "part,y,yhat\n" + rows, matrices


TABLE, MATRICES = _table()


@pytest.fixture(scope="module")
def client():
    return create_app(workers=0).test_client()


def ask(client, **given):
    form = FIELDS["one"] | {"source": "rows", "csv": TABLE, "fold": "part"} | given
    response = client.post("/answer/one", json=form, headers=SAME)
    assert response.status_code == 200
    return response.json["errors"], response.json["answer"]


def answer(client, **given):
    errors, found = ask(client, **given)
    assert errors == {}
    return found


def _rows(report, key):
    """Numbers of a section as the text of the report prints them."""
    text = (
        report.to_markdown()
        .replace("\\", "")
        .split(f"## {report.to_dict()['sections'][key]['title']}")[1]
    )
    lines = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[part.strip() for part in line.strip("|").split("|")] for line in lines[2:]]


def _how(method):
    return SIDE_BY_SIDE.get(method, {"method": method})


@pytest.mark.parametrize("method", FOLD_METHODS)
def test_the_report_of_python(client, method):
    found = answer(client, method=method, metric="precision")
    names = ["precision", "accuracy", "recall", "f1", "mcc"]
    result = CrossValPosterior.from_counts(
        ConfusionCounts(MATRICES), metrics=names, random_state=0, **_how(method)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateIntervalWarning)  # t leaves the range of a rate
        low, high = result.interval("precision")
    drawn = method == "bootstrap"  # its third digit is not known
    digits = 2 if drawn else 3
    ends = f"interval: {low:.{digits}f} to {high:.{digits}f}"
    assert found["span"].endswith(f"{'bootstrap' if drawn else 'credible'} {ends}")
    report = result.report()
    tables = {table["title"]: table for table in found["tables"]}
    for key in ("scores", "methods"):
        title = report.to_dict()["sections"][key]["title"]
        assert tables[title]["rows"] == _rows(report, key)
    pooled = MATRICES.sum(axis=0)
    assert tables["Counts, all folds"]["rows"] == [
        [str(k), *map(str, row)] for k, row in enumerate(pooled)
    ]
    facts = dict(found["facts"])
    assert facts["All folds added up"] == f"{pooled[1, 1] / pooled[:, 1].sum():.3f}"
    assert float(facts["P(precision > 0.9)"].strip("<>")) == pytest.approx(
        result.posterior("precision").prob(0.9, np.inf), abs=0.006
    )
    assert "5-fold cross-validation" in found["sentence"]
    assert [title for title, _ in found["pictures"]][1:] == ["Fold spread", "Methods side by side"]


def test_choices_are_those_of_the_library():
    assert list(FOLD_METHODS) == [*SIDE_BY_SIDE, "nadeau_bengio"]
    assert list(MODELS) == list(KNOWN_MODELS)


def test_a_file_of_folds_without_script(client):
    given = {**FIELDS["one"], "source": "rows", "fold": "part"}
    given["file"] = (io.BytesIO(TABLE.encode()), "rows.csv")
    page = client.post("/", data=given, headers=SAME)
    assert page.status_code == 200
    text = page.get_data(as_text=True)
    assert answer(client)["sentence"] in text
    assert 'value="part"' in text
    given = {**FIELDS["one"], "source": "rows", "fold": "part", "csv": TABLE}
    for kind, told in (("html", "Cross-validation report"), ("csv", "metric,pooled,mean,")):
        file = client.post(f"/download/one/{kind}", data=given, headers=SAME)
        assert file.status_code == 200
        assert told in file.get_data(as_text=True)


def test_folds_of_three_classes_and_repetitions(client):
    table, matrices = _table(("cat", "dog", "eel"))
    body = table.split("\n", 1)[1]
    again = "".join(
        f"{int(line.partition(',')[0]) + 5},{line.partition(',')[2]}\n"
        for line in body.splitlines()
    )
    given = {"csv": table + again, "metric": "f1_macro", "n_repeats": "2"}
    found = answer(client, **given)
    counts = ConfusionCounts(np.concatenate([matrices] * 2), labels=("cat", "dog", "eel"))
    result = CrossValPosterior.from_counts(
        counts, n_repeats=2, metrics=["f1_macro"], random_state=0
    )
    rows = _rows(result.report(), "scores")
    assert found["tables"][0]["rows"][0] == rows[0]
    assert dict(found["facts"])["Folds"] == "5 x 2 repetitions"
    errors, _ = ask(client, csv=table, metric="recall")
    assert errors.keys() == {"pos_label"}


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"fold": "prat"}, "fold", "'prat' is not a column of the table: 'part', 'y', 'yhat'."),
        ({"fold": "y", "true": "y", "pred": "yhat"}, "fold", "'y' is named twice"),
        ({"csv": "part,y,yhat\n1,1,1\n1,0,0\n"}, "csv", "names one fold only, 1"),
        ({"csv": "part,y,yhat\n1,1,1\n,0,0\n"}, "csv", "line 3: 'part', the fold, is missing"),
        ({"csv": "part,y,yhat\n" + "".join(f"{k},1,0\n" for k in range(1001))}, "csv", "1,000"),
        ({"n_repeats": "3"}, "n_repeats", "must divide the number of folds, 5"),
        ({"n_repeats": "0"}, "n_repeats", "At least 1."),
        ({"method": "magic"}, "method", "Choose one of the list."),
        ({"prior": "shared"}, "prior", "is a prior of one matrix"),
        ({"prior": "laplace", "method": "corrected_t"}, "prior", "is used by method"),
        ({"show": "predictive"}, "show", "one test set"),
        ({"prevalence": "0.1"}, "prevalence", "one test set"),
        ({"model": "rows"}, "model", "one test set"),
        ({"metric": "positive_likelihood_ratio", "method": "averaged"}, "method", "finite range"),
    ],
)
def test_problems_stand_beside_their_field(client, given, field, told):
    errors, found = ask(client, **given)
    assert found is None
    assert told in errors[field]


def test_a_column_of_folds_belongs_to_rows(client):
    """Four counts have no columns, whatever was typed beside a table before."""
    assert answer(client, source="counts") == answer(client, source="counts", fold="")


def test_a_fold_without_a_class_is_told(client):
    table = "part,y,yhat\n0,1,1\n0,0,0\n0,1,0\n1,0,0\n1,0,1\n2,1,1\n2,0,0\n"
    notes = " ".join(answer(client, csv=table)["notes"])
    assert "1 of 3 folds hold no row of class 1: 1." in notes


@pytest.mark.parametrize("model", ["three_beta", "rows"])
def test_models_of_one_test_set(client, model):
    given = {**CELLS, "source": "counts", "fold": "", "model": model, "prior": "jeffreys"}
    for metric in ("recall", "precision", "accuracy", "f1"):
        found = answer(client, metric=metric, **given)
        posterior = COUNTS.posterior(metric, model=model, prior="jeffreys")
        low, high = posterior.interval()
        assert found["span"].endswith(f"interval: {low:.3f} to {high:.3f}")
    found = answer(client, metric="precision", **given)
    rested = "three-Beta model" if model == "three_beta" else "model of the rows"
    assert found["sentence"].endswith(f"{rested}, n = 41.")  # the prevalence rests on all rows
    later = answer(client, metric="precision", show="predictive", n_new="50", **given)
    assert "50 rows" in later["sentence"]
    assert answer(client, metric="recall", **given)["sentence"].endswith("n = 27.")


def test_models_of_three_classes(client):
    table, matrices = _table(("cat", "dog", "eel"))
    given = {"csv": table, "fold": "", "true": "y", "pred": "yhat", "metric": "balanced_accuracy"}
    errors, _ = ask(client, model="three_beta", **given)
    assert errors == {"model": "The three Betas are for two classes. Choose another model."}
    found = answer(client, model="rows", **given)
    counts = ConfusionCounts(matrices.sum(axis=0), labels=("cat", "dog", "eel"))
    low, high = counts.posterior("balanced_accuracy", model="rows", random_state=0).interval()
    assert found["span"].endswith(f"interval: {low:.3f} to {high:.3f}")
    assert [table["title"] for table in found["tables"]][1:] == ["Counts"]
