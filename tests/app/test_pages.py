"""The web page without a browser: numbers, bad input, safety, downloads, the server."""

import csv
import io
import re

import html5lib
import numpy as np
import pytest
from scipy import integrate, stats

from skuncertain import (
    ConfusionCounts,
    compare,
    compare_paired,
    interval_report,
    required_sample_size,
)
from skuncertain.metrics._priors import NAMES as NAMED_PRIORS
from skuncertain.planning import expected_width

pytest.importorskip("flask")

from skuncertain.app import create_app
from skuncertain.app._forms import FIELDS, PRIORS, metric_options

PATHS = {"one": "/", "two": "/compare", "plan": "/plan"}
SAME = {"Sec-Fetch-Site": "same-origin"}
COUNTS = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
EVIL = "<script>document.title='hacked'</script>"


@pytest.fixture(scope="module")
def client():
    return create_app(workers=0).test_client()


def ask(client, page="one", **given):
    """Errors and answer, as the script gets them."""
    response = client.post(f"/answer/{page}", json=FIELDS[page] | given, headers=SAME)
    assert response.status_code == 200
    return response.json["errors"], response.json["answer"]


def answer(client, page="one", **given):
    errors, found = ask(client, page, **given)
    assert errors == {}
    return found


def parse(response):
    """Tree of a page that is valid HTML."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parse(response.get_data(as_text=True))
    for node in tree.iter():
        if isinstance(node.tag, str):
            node.tag = node.tag.rpartition("}")[2]
    return tree


def by_id(tree, name):
    (node,) = (node for node in tree.iter() if node.get("id") == name)
    return node


def text_of(node):
    return "".join(node.itertext()).strip()


def numbers(text):
    return [float(part) for part in re.findall(r"-?\d+\.\d+", text)]


def fact(found, start):
    (text,) = (text for name, text in found["facts"] if name.startswith(start))
    return text


# --------------------------------------------------------------------------------------------------
# The numbers


def test_spellings_of_labels(client):
    """Pasted and uploaded tables go through the reader of the command line."""
    spelled = "y,yhat\n" + "1,+1\n-1,-1.0\n" * 20
    given = {"source": "rows", "csv": spelled, "metric": "accuracy"}
    found = answer(client, **given)
    assert (found["value"], found["notes"]) == ("1.000", [])
    file = {
        **FIELDS["one"],
        **given,
        "csv": "",
        "file": (io.BytesIO(spelled.encode()), "table.csv"),
    }
    page = client.post("/", data=file, headers=SAME, content_type="multipart/form-data")
    assert found["sentence"] in page.get_data(as_text=True)
    alike = answer(client, source="rows", csv="y,yhat\nYes,yes\nno,no\n", metric="accuracy")
    assert "'Yes' and 'yes' are counted as different labels" in " ".join(alike["notes"])
    errors, _ = ask(client, source="rows", csv="y,yhat\n01,1\n2,2\n", metric="accuracy")
    assert "'01' (line 2, 'y') and '1' (line 2, 'yhat')" in errors["csv"]


def test_first_page_is_the_example(client):
    response = client.get("/")
    assert response.status_code == 200
    tree = parse(response)
    low, high = COUNTS.posterior("recall").interval()
    assert f"{low:.3f} to {high:.3f}" in text_of(by_id(tree, "out-span"))
    assert text_of(by_id(tree, "out-value")) == "1.000"
    said = (
        "Recall 1.00, 95 % credible interval 0.87–1.00, "
        "Jeffreys prior with calibrated ends, n = 26."
    )
    assert text_of(by_id(tree, "out-sentence")) == said
    for name, value in {"tp": "26", "fn": "0", "fp": "2", "tn": "6"}.items():
        assert by_id(tree, name).get("value") == value


@pytest.mark.parametrize("page", PATHS)
def test_pages_are_the_same_with_and_without_script(client, page):
    tree = parse(client.post(PATHS[page], data=FIELDS[page], headers=SAME))
    found = answer(client, page)
    for name in ("title", "value", "span", "sentence"):
        assert text_of(by_id(tree, f"out-{name}")) == found[name]
    shown = [[text_of(part) for part in row] for row in by_id(tree, "out-facts")]
    assert shown == found["facts"]
    cells = [text_of(cell) for cell in by_id(tree, "out-tables").iter() if cell.tag in ("th", "td")]
    assert cells == [
        text for table in found["tables"] for row in (table["head"], *table["rows"]) for text in row
    ]
    assert len(list(by_id(tree, "out-pictures").iter("figure"))) == len(found["pictures"])


NAMES = [name for group, names in metric_options("one") for name, _ in names]


@pytest.mark.parametrize("name", [n for n in NAMES if not n.endswith(("_micro", "_weighted"))])
def test_every_metric(client, name):
    cells = {"tp": 41, "fn": 9, "fp": 4, "tn": 46}
    counts = ConfusionCounts.from_binary(**cells)
    found = answer(client, metric=name, level="0.9", **{k: str(n) for k, n in cells.items()})
    posterior = counts.posterior(name, random_state=0)
    ends = numbers(found["span"])
    digits = len(found["span"].rpartition(".")[2])
    np.testing.assert_allclose(ends, posterior.interval(0.9), atol=0.5001 * 10.0**-digits)
    assert float(found["value"]) == pytest.approx(counts.score(name), abs=0.00051)
    assert found["formula"]
    assert found["pictures"][0][1].startswith("<div")


def test_probabilities_against_scipy(client):
    found = answer(client, low="0.9", high="0.99")
    beta = stats.beta(26.5, 0.5)
    p = beta.cdf(0.99) - beta.cdf(0.9)
    assert fact(found, "P(0.9 < recall < 0.99)") == f"{p:.2f}"
    cells = {"tp": "28", "fn": "9", "fp": "4", "tn": "3"}
    found = answer(client, **cells)
    recall, specificity = stats.beta(28 + 1 / 3, 9 + 1 / 3), stats.beta(3 + 1 / 3, 4 + 1 / 3)
    # recall + specificity < 1
    p = integrate.quad(lambda x: specificity.pdf(x) * recall.cdf(1 - x), 0, 1)[0]
    assert fact(found, "P(worse than guessing)") == f"{p:.2f}"
    assert fact(found, "P(better than guessing)") == f"{1 - p:.2f}"


def test_another_prevalence(client):
    counts = ConfusionCounts.from_binary(tp=40, fn=10, fp=5, tn=45)
    cells = {"tp": "40", "fn": "10", "fp": "5", "tn": "45"}
    found = answer(client, metric="precision", prevalence="0.01", **cells)
    hits, alarms = 0.8 * 0.01, 0.1 * 0.99  # Bayes
    assert found["value"] == f"{hits / (hits + alarms):.3f}"
    ends = counts.posterior("precision", prevalence=0.01).interval()
    np.testing.assert_allclose(numbers(found["span"]), ends, atol=0.0005)
    assert "at a prevalence of 0.01" in found["sentence"]
    assert "n = 100" in found["sentence"]
    found = answer(client, metric="recall", prevalence="0.01", **cells)
    assert (found["value"], found["sentence"][-8:]) == ("0.800", ", n = 50."[1:])
    # with the prevalence of the data nothing changes
    same = answer(client, metric="npv", prevalence="0.5", **cells)
    assert same["value"] == f"{45 / 55:.3f}"


def test_predictive_distribution_against_scipy(client):
    found = answer(client, metric="accuracy", show="predictive", n_new="20")
    exact = stats.betabinom(20, 32.5, 2.5)
    np.testing.assert_allclose(numbers(found["span"]), exact.ppf([0.025, 0.975]) / 20, atol=5e-4)
    assert float(fact(found, "P(accuracy > 0.9)")) == pytest.approx(exact.sf(18), abs=0.005)
    assert "for a new test set of 20 rows" in found["sentence"]
    empty = answer(client, metric="accuracy", show="predictive")
    assert "34 new rows" in empty["pictures"][0][0]


def test_kinds_levels_and_priors(client):
    for given, options in (
        ({"kind": "hdi"}, {}),
        ({"prior": "laplace"}, {"prior": "laplace"}),
        ({"prior": "number", "pseudo": "2.5"}, {"prior": 2.5}),
        ({"level": "0.5"}, {}),
    ):
        found = answer(client, metric="specificity", **given)
        posterior = COUNTS.posterior("specificity", **options)
        ends = posterior.interval(float(given.get("level", 0.95)), given.get("kind", "eti"))
        np.testing.assert_allclose(numbers(found["span"]), ends, atol=0.0005)


def test_drawn_numbers_do_not_flicker(client):
    given = {"metric": "null_accuracy", "low": "0.7"}
    first = answer(client, **given)
    assert first == answer(client, **given)
    assert fact(first, "Computed") == "20,000 draws, seed 0"


def test_picture_shows_interval_and_value(client):
    found = answer(client, metric="specificity", low="0.5")
    picture = html5lib.parse(found["pictures"][0][1], namespaceHTMLElements=False)
    for node in picture.iter():
        node.tag = str(node.tag).rpartition("}")[2]
    (axis,) = (node for node in picture.iter("svg") if "axis" in node.get("class", ""))
    marks = [(float(t.get("x").rstrip("%")), float(t.text)) for t in axis.iter("text")]
    slope, start = np.polyfit(*zip(*marks, strict=True), 1)
    (bar,) = (line for line in picture.iter("line") if "bar" in line.get("class", ""))
    ends = [start + slope * float(bar.get(x).rstrip("%")) for x in ("x1", "x2")]
    expected = COUNTS.posterior("specificity").interval()
    np.testing.assert_allclose(ends, expected, atol=slope * 0.02)
    areas = {}
    for path in picture.iter("path"):
        x, y = np.array(numbers(path.get("d"))).reshape(-1, 2).T
        name = path.get("class").split()[2]
        areas[name] = integrate.trapezoid(100 - y, x)
    assert areas["inside"] / areas["curve"] == pytest.approx(0.95, abs=0.003)
    (edge,) = (line for line in picture.iter("line") if line.get("class") == "edge")
    assert start + slope * float(edge.get("x1").rstrip("%")) == pytest.approx(0.5, abs=slope * 0.02)


# --------------------------------------------------------------------------------------------------
# Tables of rows

TABLE = "y,yhat\n" + "1,1\n" * 30 + "0,1\n" * 7 + "1,0\n" * 3 + "0,0\n" * 20


def test_rows_are_counted(client):
    found = answer(client, source="rows", csv=TABLE, metric="precision")
    counts = ConfusionCounts.from_binary(tp=30, fn=3, fp=7, tn=20)
    np.testing.assert_allclose(
        numbers(found["span"]), counts.posterior("precision").interval(), atol=0.0005
    )
    assert found["tables"][-1]["rows"] == [["0", "20", "7"], ["1", "3", "30"]]


def test_columns_without_a_choice_need_no_names(client):
    named = answer(client, source="rows", csv=TABLE, true="y", pred="yhat")
    assert answer(client, source="rows", csv=TABLE.replace("y,yhat", "truth,said")) == named
    errors, _ = ask(client, source="rows", csv=TABLE.replace("y,yhat", "id,y,yhat"))
    assert errors.keys() == {"true", "pred"}
    paired = "truth,old,new\n" + "1,1,0\n0,0,0\n1,0,1\n" * 5
    given = {"true": "truth", "pred_a": "old", "pred_b": "new"}
    assert answer(client, "two", source="rows", csv=paired) == answer(
        client, "two", source="rows", csv=paired, **given
    )


def test_a_table_of_the_size_that_is_promised(client):
    """The script sends JSON, in which the end of a line takes two letters."""
    rows = 499_900
    found = answer(client, source="rows", csv="y,z\n" + "1,1\n1,0\n" * (rows // 2))
    assert float(found["value"]) == 0.5
    assert f"{rows:,}" in fact(found, "Rows")


ILL = "y,yhat\n" + "ill,ill\n" * 30 + "well,ill\n" * 7 + "ill,well\n" * 3 + "well,well\n" * 20


def test_the_positive_class_is_chosen_from_a_list(client):
    given = FIELDS["one"] | {"source": "rows", "csv": ILL}
    found = client.post("/answer/one", json=given, headers=SAME).json
    assert found["answer"] is None
    assert found["errors"] == {
        "pos_label": "Choose the positive class: ill, well. Or ask for an average over classes."
    }
    assert found["classes"] == [["ill", "ill"], ["well", "well"]]
    page = parse(client.post("/", data=given, headers=SAME, content_type="multipart/form-data"))
    options = [(node.get("value"), text_of(node)) for node in by_id(page, "pos_label")]
    assert options == [("", "by the labels"), ("ill", "ill"), ("well", "well")]
    wrong = client.post("/answer/one", json=given | {"pos_label": "il"}, headers=SAME).json
    assert "not one of the labels" in wrong["errors"]["pos_label"]
    assert wrong["classes"] == found["classes"]
    for label, recall in (("ill", "0.909"), ("well", "0.741")):
        one = answer(client, source="rows", csv=ILL, pos_label=label)
        assert (one["title"], one["value"]) == (f"Recall of the class {label}", recall)
        assert one["sentence"].startswith(f"Recall of the class {label} ")
        assert one["pictures"][0][0] == f"Posterior distribution of recall of the class {label}"
        assert fact(one, f"P(recall of the class {label} > 0.9)")
    kept = client.post(
        "/", data=given | {"pos_label": "well"}, headers=SAME, content_type="multipart/form-data"
    )
    (chosen,) = (node for node in by_id(parse(kept), "pos_label") if node.get("selected") == "")
    assert chosen.get("value") == "well"


def test_what_needs_no_positive_class(client):
    found = answer(client, source="rows", csv=ILL, metric="accuracy")
    assert (found["title"], found["value"]) == ("Accuracy", "0.833")
    coded = answer(client, source="rows", csv=_coded(ILL), metric="accuracy")
    assert found["sentence"] == coded["sentence"]
    assert fact(found, "P(better than guessing)") == fact(coded, "P(better than guessing)")
    names = [row[0] for row in found["tables"][0]["rows"]]
    assert "f1_macro" in names
    assert not {"f1", "recall (sensitivity)"} & set(names)
    assert [row[0] for row in found["tables"][1]["rows"][:2]] == ["ill", "well"]
    for metric in ("informedness", "matthews_corrcoef"):
        found = answer(client, source="rows", csv=ILL, metric=metric)
        assert "class" not in found["title"]
        assert (
            found["value"] == answer(client, source="rows", csv=_coded(ILL), metric=metric)["value"]
        )
    errors, _ = ask(client, source="rows", csv=ILL, metric="accuracy", prevalence="0.1")
    assert errors.keys() == {"pos_label"}
    assert answer(client, source="rows", csv=TABLE)["title"] == "Recall"  # of the class 1


def _coded(table):
    return table.replace("ill", "1").replace("well", "0")


def test_two_classifiers_name_the_class(client):
    table = "y,a,b\n" + "ill,ill,well\n" * 12 + "ill,ill,ill\n" * 20 + "well,ill,well\n" * 9
    errors, _ = ask(client, "two", source="rows", csv=table, metric="recall")
    assert "ill, well" in errors["pos_label"]
    found = answer(client, "two", source="rows", csv=table, metric="recall", pos_label="ill")
    assert found["title"] == "P(A better in recall of the class ill by more than 0.01)"
    assert found["sentence"].startswith("Recall of the class ill, B minus A ")
    assert fact(found, "Recall of the class ill of A")
    folds = "y,yhat,k\n" + "".join(
        f"{line},{k % 4}\n" for k, line in enumerate(ILL.splitlines()[1:])
    )
    errors, _ = ask(client, source="rows", csv=folds, fold="k")
    assert errors.keys() == {"pos_label"}
    found = answer(client, source="rows", csv=folds, fold="k", pos_label="ill")
    assert found["title"] == "Recall of the class ill"
    found = answer(client, source="rows", csv=folds, fold="k", metric="accuracy")
    assert [row[0] for row in found["tables"][0]["rows"]][1:] == [
        "balanced_accuracy",
        "f1_macro",
        "mcc",
    ]


def test_three_classes(client):
    table = "y,yhat\n" + "cat,cat\ndog,dog\ndog,cat\nbird,bird\n" * 12
    errors, _ = ask(client, source="rows", csv=table)
    assert "bird, cat, dog" in errors.pop("pos_label")
    assert errors == {}
    found = answer(client, source="rows", csv=table, pos_label="dog")
    assert found["value"] == "0.500"
    assert "Recall of the class dog 0.50" in found["sentence"]
    found = answer(client, source="rows", csv=table, metric="f1_macro")
    rows = [line.split(",") for line in table.split()[1:]]
    report = interval_report(*zip(*rows, strict=True), random_state=0)
    macro = report.to_dict()["sections"]["scores"]["rows"][-2]["f1"]
    np.testing.assert_allclose(numbers(found["span"]), [macro["low"], macro["high"]], atol=0.005)
    assert [row[0] for row in found["tables"][1]["rows"]][:3] == ["bird", "cat", "dog"]
    assert found["notes"] == []  # the interval is wider instead


def test_hostile_labels_are_text(client):
    table = f'y,yhat\n"{EVIL}","{EVIL}"\n"{EVIL}",ok\nok,ok\n'
    given = {**FIELDS["one"], "source": "rows", "csv": table, "metric": "accuracy"}
    response = client.post("/", data=given, headers=SAME)
    tree = parse(response)
    scripts = [node for node in tree.iter("script") if node.get("src") != "/static/app.js"]
    assert scripts == []
    assert EVIL in text_of(by_id(tree, "out-tables"))
    assert text_of(by_id(tree, "csv")) == table.strip()
    page = client.post("/download/one/html", data=given, headers=SAME)
    assert not list(parse(page).iter("script"))


def test_uploaded_file_without_script(client):
    for data, shown in ((TABLE.encode(), TABLE), (b"\xef\xbb\xbf" + TABLE.encode(), TABLE)):
        given = {**FIELDS["one"], "source": "rows", "metric": "f1"}
        given["file"] = (io.BytesIO(data), "rows.csv")
        response = client.post("/", data=given, headers=SAME)
        assert response.status_code == 200
        tree = parse(response)
        assert text_of(by_id(tree, "csv")) == shown.strip()  # so that the next press has it, too
        assert text_of(by_id(tree, "out-value")) == f"{60 / 70:.3f}"
    for data in (b"\xff\xfe1\x00", b"\x1f\x8b\x08\x00\xff\xff"):
        given = {**FIELDS["one"], "source": "rows", "file": (io.BytesIO(data), "rows.csv")}
        response = client.post("/", data=given, headers=SAME)
        assert response.status_code == 422
        assert "not UTF-8" in text_of(by_id(parse(response), "csv-error"))


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"csv": ""}, "csv", "Paste a table"),
        ({"csv": "y,z\n1,1\n0,0\n", "true": "y"}, "pred", "Name a column of the table: 'y', 'z'."),
        ({"csv": "y,z\n1,1\n", "true": "y", "pred": "x"}, "pred", "its columns are 'y', 'z'"),
        ({"csv": "1,0\n1,1\n0,0\n"}, "csv", "first line must name the columns, but it is 1, 0."),
        ({"csv": "7,8\n1,1\n0,0\n"}, "csv", "first line must name the columns"),
        ({"csv": "cat,dog\ncat,cat\ndog,cat\n"}, "csv", "first line must name the columns"),
        ({"csv": "y,y\n1,1\n0,0\n"}, "csv", "2 columns called 'y'"),
        ({"csv": "y,z\nok,ok\n"}, "csv", "only the label 'ok' occurs: enter four counts instead."),
        ({"csv": TABLE + "1,1\n" * 500_000}, "csv", "at most 2 MB"),
        ({"csv": TABLE, "true": "truth", "pred": "yhat"}, "true", "'truth' is not a column"),
        ({"csv": TABLE, "true": " ", "pred": "yhat"}, "true", "Name a column"),
        ({"csv": TABLE, "pos_label": "2"}, "pos_label", "not one of the labels"),
        ({"csv": "y,yhat\n1,0.5\n0,0.7\n"}, "csv", "no class labels"),
        ({"csv": "y,yhat\n1\n"}, "csv", "1 field"),
        ({"csv": "y,yhat\n"}, "csv", "no rows"),
        ({"csv": "y,yhat\nok,\n"}, "csv", "if that is a class, give it another name."),
        ({"csv": "\0\0"}, "csv", "NUL"),
        ({"csv": "y,yhat\n" + "".join(f"c{k},c{k}\n" for k in range(21))}, "csv", "21 classes"),
        ({"csv": "y,yhat\nok," + "x" * 101 + "\n"}, "csv", "100 characters"),
        ({"csv": 'y,yhat\n"ok,ok\n'}, "csv", "line"),
    ],
)
def test_bad_tables(client, given, field, told):
    errors, found = ask(client, source="rows", **given)
    assert found is None
    assert list(errors) == [field]
    assert told in errors[field]


# --------------------------------------------------------------------------------------------------
# Two classifiers, and planning


def test_two_classifiers(client):
    a = ConfusionCounts.from_binary(tp=45, fn=5, fp=10, tn=40)
    b = ConfusionCounts.from_binary(tp=41, fn=9, fp=4, tn=46)
    for metric, rope in (("recall", 0.0), ("accuracy", 0.02), ("fpr", 0.01)):
        found = answer(client, "two", metric=metric, rope=f"{rope:g}")
        result = compare(a, b, metric=metric, rope=rope)
        assert fact(found, "P(A better") == f"{result.p_worse:.2f}"
        assert fact(found, "P(B better") == f"{result.p_better:.2f}"
        np.testing.assert_allclose(
            numbers(found["span"]), result.difference.interval(), atol=0.0005
        )
        if rope:
            assert fact(found, "P(equivalent") == f"{result.p_equivalent:.2f}"
        assert found["pictures"][0][1].count("curve") == 2
        assert fact(found, "Rows") == "100 and 100, different"


def test_paired(client):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    a, b = (np.where(rng.random(80) < p, y, 1 - y) for p in (0.8, 0.9))
    table = "y,a,b\n" + "".join(f"{t},{p},{q}\n" for t, p, q in zip(y, a, b, strict=True))
    found = answer(client, "two", source="rows", csv=table, metric="accuracy", rope="0")
    result = compare_paired(y, a, b)
    assert float(fact(found, "P(B better)")) == pytest.approx(result.p_better, abs=0.0051)
    np.testing.assert_allclose(numbers(found["span"]), result.difference.interval(), atol=0.0005)
    assert fact(found, "Accuracy of A").startswith(f"{np.mean(a == y):.3f}")
    assert any("same rows" in note for note in found["notes"])
    f1 = answer(client, "two", source="rows", csv=table, metric="f1", rope="0.01")
    result = compare_paired(y, a, b, metric="f1", rope=0.01, random_state=0)
    assert float(fact(f1, "P(B better")) == pytest.approx(result.p_better, abs=0.005)


def test_sample_size(client):
    found = answer(client, "plan", width="0.08", n="150", prevalence="0.2")
    plan = required_sample_size(metric="recall", expected=0.9, width=0.08, prevalence=0.2)
    assert found["value"] == f"{plan.n:,}"
    assert fact(found, "N for a width of 0.08, rule of thumb") == "625"
    assert fact(found, "Rows to collect") == f"{plan.rows:,}"
    width = expected_width(150, metric="recall", expected=0.9)
    assert fact(found, "Width with N = 150, median") == f"{width.median:.3g}"
    assert fact(found, "Width with N = 150, rule of thumb") == f"{2 / np.sqrt(150):.3g}"
    (row,) = (row for row in found["tables"][0]["rows"] if row[0].startswith("150"))
    np.testing.assert_allclose(
        [float(text) for text in row[1:3]], [width.median, width.quantile], atol=5e-5
    )
    unsure = answer(client, "plan", concentration="10")
    exact = required_sample_size(metric="recall", expected=(0.9, 10), width=0.1)
    assert unsure["value"] == f"{exact.n:,}"


# --------------------------------------------------------------------------------------------------
# Bad input

WHOLE = ("tp", "fn", "fp", "tn")
BAD = [
    *(("one", "tp", text, told) for text, told in (
        ("abc", "whole number"), ("-3", "negative"), ("2.5", "whole number"), ("1e12", "digits"),
        ("", "missing"), ("  ", "missing"), ("1000000000000", "999,999,999"), ("9" * 99, "At most"),
        ("1 000", "digits"), ("1,000", "digits"), ("٣", "digits"), ("0x10", "digits"),
        ("½", "digits"), ("+5", "whole number"), ("nan", "digits"), (EVIL, "digits"),
        ("9" * 201, "200 characters"),
    )),
    *(("one", "level", text, told) for text, told in (
        ("95", "Did you mean 0.95?"), ("0", "between"), ("1", "between"), ("-1", "between"),
        ("nan", "Write a number"), ("inf", "Write a number"), ("0,95", "decimal point: 0.95"),
        ("", "missing"), ("x", "Write a number"), ("1e999", "between"),
    )),
    ("one", "kind", "median", "Choose"),
    ("one", "prior", "flat", "Choose"),
    ("one", "metric", "auc", "roc_auc needs scores of every row"),
    ("two", "metric", "log_loss", "needs probabilities of every row"),
    ("one", "metric", "beauty", "Choose"),
    ("one", "metric", "expected_cost", "Choose"),
    ("one", "show", "x", "Choose"),
    ("one", "source", "x", "Choose"),
    ("one", "n_new", "0", "At least 1"),
    ("one", "n_new", "100001", "100,000"),
    ("one", "low", "x", "Write a number"),
    ("one", "high", "0.5", "more than 0.9"),
    ("one", "prevalence", "0", "between"),
    ("one", "prevalence", "1", "between"),
    ("one", "prevalence", "20", "Did you mean 0.2?"),
    ("two", "a_tp", "abc", "whole number"),
    ("two", "b_tn", "", "missing"),
    ("two", "rope", "-1", "between"),
    ("two", "rope", "1", "less than 1"),
    ("two", "metric", "prevalence", "Choose"),
    ("plan", "expected", "1.1", "between"),
    ("plan", "width", "0.001", "between"),
    ("plan", "width", "1", "less than 1"),
    ("plan", "n", "0", "At least 1"),
    ("plan", "n", "10000000", "100,000"),
    ("plan", "concentration", "2", "between"),
    ("plan", "power", "1", "between"),
    ("plan", "metric", "matthews_corrcoef", "Choose"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "field", "text", "told"), BAD)
def test_bad_input_is_told_beside_the_field(client, page, field, text, told):
    errors, found = ask(client, page, **{field: text})
    assert found is None
    assert list(errors) == [field]
    assert told in errors[field]
    response = client.post(PATHS[page], data={**FIELDS[page], field: text}, headers=SAME)
    assert response.status_code == 422
    tree = parse(response)
    assert text_of(by_id(tree, f"{field}-error")) == errors[field]
    if field not in ("show", "source"):
        node = by_id(tree, field)
        assert node.get("aria-invalid") == "true"
        assert f"{field}-error" in node.get("aria-describedby").split()
    assert by_id(tree, "result").get("hidden") is not None
    assert "Traceback" not in response.get_data(as_text=True)
    for kind in ("html", "csv"):
        download = client.post(
            f"/download/{page}/{kind}", data={**FIELDS[page], field: text}, headers=SAME
        )
        assert download.status_code == 422
        assert "Content-Disposition" not in download.headers


def test_several_problems_at_once(client):
    errors, _ = ask(client, tp="x", tn="-1", level="95", prior="number")
    assert set(errors) == {"tp", "tn", "level", "pseudo"}
    errors, _ = ask(client, tp="0", fn="0", fp="0", tn="0")
    assert "nothing to say" in errors["tp"]
    errors, _ = ask(client, metric="prevalence", prevalence="0.1")
    assert "metric itself" in errors["prevalence"]
    errors, _ = ask(client, "plan", metric="accuracy", prevalence="0.1")
    assert "prevalence" in errors


def test_extremes_have_answers(client):
    most = "999999999"
    for given in (
        {name: most for name in WHOLE},
        {"tp": most, "fn": "0", "fp": "0", "tn": "0"},
        {"tp": "0", "fn": "0", "fp": "0", "tn": "1"},
        {"prior": "haldane"},
        {"prior": "number", "pseudo": "1e12"},
        {"level": "0.999999999"},
        {"level": "1e-9"},
        {"metric": "diagnostic_odds_ratio"},
        {"metric": "matthews_corrcoef", "tp": most},
        {"prevalence": "1e-9", "metric": "precision"},
        {"show": "predictive", "n_new": "1", "metric": "npv"},
        {"tp": "0026"},
        {"tp": " 26 "},
    ):
        data = {**FIELDS["one"], **given}
        response = client.post("/download/one/html", data=data, headers=SAME)
        assert response.headers["Content-Type"].startswith("text/html")
        assert response.status_code == 200
        assert text_of(parse(response).find("head/title")).endswith(" of one classifier")


# --------------------------------------------------------------------------------------------------
# Downloads


def test_downloads(client):
    response = client.post("/download/one/csv", data=FIELDS["one"], headers=SAME)
    assert (
        response.headers["Content-Disposition"] == 'attachment; filename="skuncertain-recall.csv"'
    )
    rows = {
        row["name"]: row for row in csv.DictReader(io.StringIO(response.get_data(as_text=True)))
    }
    for name in ("recall", "npv", "f1", "matthews_corrcoef"):
        low, high = COUNTS.posterior(name).interval()
        assert float(rows[name]["value_low"]) == pytest.approx(low, rel=1e-12)
        assert float(rows[name]["value_high"]) == pytest.approx(high, rel=1e-12)
        assert float(rows[name]["value"]) == COUNTS.score(name)
    response = client.post("/download/one/html", data=FIELDS["one"], headers=SAME)
    tree = parse(response)
    assert text_of(tree.find("head/title")) == "Recall of one classifier"
    assert "1.000 [0.868, 1.000]" in text_of(tree.find("body"))
    for page in ("two", "plan"):
        for kind in ("html", "csv"):
            response = client.post(f"/download/{page}/{kind}", data=FIELDS[page], headers=SAME)
            assert response.status_code == 200
            assert response.headers["Content-Type"].startswith(f"text/{kind}")
    assert client.post("/download/one/pdf", data=FIELDS["one"], headers=SAME).status_code == 404


def test_warnings_are_in_the_downloaded_report(client):
    given = {**FIELDS["one"], "tp": "0", "fn": "0"}
    page = client.post("/download/one/html", data=given, headers=SAME)
    assert "recall is 0/0 in the data" in page.get_data(as_text=True)


def test_the_form_offers_every_prior():
    assert set(PRIORS) == {*NAMED_PRIORS, "number"}
