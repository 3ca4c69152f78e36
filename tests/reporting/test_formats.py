"""The renderings of reports: dict, JSON, frames, CSV, Markdown, text, files."""

import csv
import io
import json
import pickle
import re
import sys
import unicodedata

import numpy as np
import pandas as pd
import pytest

from report_cases import (
    BOARD,
    EMPTY,
    FOLDS,
    KINDS,
    MODELS,
    NB,
    PETS,
    TWO,
    X,
    Y,
    datasets_case,
    ends,
    quiet,
    same,
    score_table,
    value,
)
from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare,
    interval_report,
    leaderboard,
    search_posterior,
)
from skuncertain.metrics import IntervalReport

# --------------------------------------------------------------------------------------------------
# The renderings

HOSTILE = [
    *("a|b", "c`d`e", "f\ng", "h\ri", "\x1b[31mred\x1b[0m", "\x9b31m", "\u202egnp.exe", "中文标签"),
    *("*bold* _it_ [x](y)", "\x00", "\u2028", "lone \udc80", "<b>", "&lt;", "\\|", "e\u0301"),
]


@pytest.fixture(scope="module")
def hostile():
    matrix = 20 * np.eye(len(HOSTILE), dtype=int) + 1
    return interval_report(ConfusionCounts(matrix, labels=HOSTILE), n_draws=100, random_state=0)


def test_dict_is_a_copy_of_plain_types():
    report = interval_report(PETS, random_state=0)
    before, found = str(report), report.to_dict()
    found["sections"]["scores"]["rows"][0]["recall"]["low"] = -1
    found["warnings"].append("changed")
    assert str(report) == before

    def check(entry):
        assert type(entry) in (dict, list, str, int, float, bool, type(None))
        if isinstance(entry, dict | list):
            for inner in entry.values() if isinstance(entry, dict) else entry:
                check(inner)

    check(report.to_dict())


@quiet
@pytest.mark.parametrize("name", [*KINDS, "hostile", "undefined"])
def test_json_reads_back(name, hostile):
    if name in KINDS:
        report = KINDS[name][0]()
    else:
        report = hostile if name == "hostile" else interval_report(EMPTY, n_draws=100)
    text = report.to_json()
    text.encode("utf-8")
    again = IntervalReport(json.loads(text, parse_constant=lambda found: pytest.fail(found)))
    assert json.loads(report.to_json(indent=None)) == json.loads(text)
    assert str(again) == str(report)
    if name == "hostile":  # half a character stays an escape
        return
    assert again.to_markdown() == report.to_markdown()
    assert again.to_html() == report.to_html()
    pd.testing.assert_frame_equal(again.to_frame(), report.to_frame(), check_dtype=False)


def infinite():
    models = [ConfusionCounts([[20, 0], [0, 20]]), MODELS["tree"]]
    options = {"n_draws": 300, "random_state": 0}
    return leaderboard(models, metric="positive_likelihood_ratio", **options).report()


def test_infinities_are_texts_in_json():
    assert "∞]" in str(infinite())
    found = json.loads(infinite().to_json(), parse_constant=lambda text: pytest.fail(text))
    assert found["sections"]["models"]["rows"][0]["mean"]["high"] == "inf"


def test_infinities_read_back():
    report = infinite()
    assert str(IntervalReport(json.loads(report.to_json()))) == str(report)


def test_frames_and_csv():
    bcv = BayesianCrossValidator(NB, cv=5, metrics=["f1", "mcc"], random_state=0).fit(X, Y)
    for report in (interval_report(PETS, random_state=0), bcv.report(), BOARD.report()):
        for name, section in report.to_dict()["sections"].items():
            frame = report.to_frame(name)
            first, *keys = (column["key"] for column in section["columns"])
            assert frame.index.tolist() == [row[first] for row in section["rows"]]
            for line, row in zip(frame.to_dict("records"), section["rows"], strict=True):
                for key, cell in ((key, row[key]) for key in keys if row.get(key) is not None):
                    if isinstance(cell, dict):
                        same([line.get(f"{key}_{end}") for end in ("low", "high")], ends(cell))
                    if not isinstance(cell, dict) or "value" in cell:
                        assert line[key] == value(cell)
            text = {"true": str, "predicted": str}
            read = pd.read_csv(io.StringIO(report.to_csv(name)), dtype=text).set_index(first)
            pd.testing.assert_frame_equal(read, frame, check_dtype=False, check_index_type=False)
        assert report.to_frame().attrs["question"] == report.to_dict()["question"]
    with pytest.raises(ValueError, match="section must be one of 'models', 'ranks', 'pairs'"):
        BOARD.report().to_frame("nothing")


def test_csv_of_undefined_values():
    assert "nan" not in interval_report(EMPTY, n_draws=100).to_csv()


SUFFIXES = {".html": "to_html", ".md": "to_markdown", ".json": "to_json", ".csv": "to_csv"}
SUFFIXES |= {".HTM": "to_html", ".markdown": "to_markdown", ".txt": "__str__"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_save(tmp_path, hostile, suffix):
    report = interval_report(PETS, random_state=0)
    path = tmp_path / f"report{suffix}"
    assert report.save(str(path)) == path
    expected = getattr(report, SUFFIXES[suffix])().rstrip("\n") + "\n"
    assert path.read_bytes().decode("utf-8") == expected
    hostile.save(path)  # half a character does not stop it
    assert "中文标签" in path.read_text(encoding="utf-8")


def test_unknown_suffix():
    with pytest.raises(ValueError, match=r"path must end with one of \.html, .*got 'report\.pdf'"):
        interval_report(PETS).save("report.pdf")


def test_labels_cannot_command_a_terminal(hostile):
    for text in (str(hostile), hostile.to_markdown(), hostile.to_html()):
        odd = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert odd == {"\n"}
        for shown in (r"x1b", r"u202egnp.exe", r"ng", r"ri", "x9b31m", "udc80"):
            assert "\\" + shown in text


def test_every_label_is_one_line_and_columns_are_aligned(hostile):
    def width(line):
        return sum(
            0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
            for c in line
        )

    lines = str(hostile).split("\nScores\n")[1].split("\n\n")[0].split("\n")
    assert len(lines) == 1 + len(HOSTILE) + 3
    assert len({width(line) for line in lines}) == 1


def test_markdown_tables_are_whole(hostile):
    text = hostile.to_markdown()
    for block in text.split("\n\n"):
        if block.startswith("|"):
            bars = [re.findall(r"(?<!\\)(?:\\\\)*\|", line) for line in block.split("\n")]
            assert len({len(found) for found in bars}) == 1, block
    for shown in (r"c\`d\`e", r"\*bold\* \_it\_ \[x\](y)", r"\<b\>", "&amp;lt;"):
        assert shown in text


@pytest.mark.parametrize("label", HOSTILE)
def test_csv_keeps_labels_as_they_are(label):
    report = interval_report(ConfusionCounts([[9, 1], [2, 8]], labels=[label, "x"]), n_draws=50)
    rows = list(csv.reader(io.StringIO(report.to_csv(), newline="")))
    assert rows[1][0] == label


FORMULAS = [
    *('=HYPERLINK("http://x.y";"z")', "+1+2", "-1+2", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1"),
    *("＝1+1", "＋1+1", "－1+1", "＠x", "'=1", "''+x", '"=1', "x;=1", 'x;"=1', "x\t@y", "-", "\tx"),
]
HARMLESS = ["-1", "+1", "-0.5", "-1e-5", "+120%", "-inf", "a=b", "B - A", "x@y", "'x", "C=-1, D=+2"]
STARTS = set("=+-@\t\r\n＝＋－＠")  # of a cell that a spreadsheet computes


def starts(text):
    """First letters of the cells that spreadsheets find, with any of their delimiters."""
    return {part.lstrip(' "')[:1] for part in re.split("[;\t\r\n]", text)} | {text[:1]}


@pytest.mark.parametrize("label", FORMULAS)
def test_no_cell_is_a_formula(label):
    """Labels in every table of CSV, also as names of columns; and taken back as they were."""
    report = interval_report(ConfusionCounts([[9, 1], [2, 8]], labels=[label, "x"]), n_draws=50)
    for name in report.to_dict()["sections"]:
        rows = list(csv.reader(io.StringIO(report.to_csv(name), newline="")))
        texts = [cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.e-]*", cell)]
        assert not set().union(*map(starts, texts)) & STARTS
    rows = list(csv.reader(io.StringIO(report.to_csv(), newline="")))
    pattern = "(^|[;\t\r\n])'(?='*(?:[ \"]*[=+\\-@＝＋－＠]))|^'(?='*[\t\r\n])"
    assert re.sub(pattern, r"\1", rows[1][0]) == label
    assert report.to_frame().index[0] == label
    for line in report.to_markdown().splitlines():
        cells = re.split(r"(?<!\\)\|", line) if line.startswith("|") else []
        texts = [cell for cell in map(str.strip, cells) if not re.match(r"-?[\d∞]|-+:|-$", cell)]
        assert not {text[:1] for text in texts} & STARTS


@pytest.mark.parametrize("label", HARMLESS)
def test_what_is_no_formula_stays(label):
    report = interval_report(ConfusionCounts([[9, 1], [2, 8]], labels=[label, "x"]), n_draws=50)
    assert list(csv.reader(io.StringIO(report.to_csv())))[1][0] == label
    assert f"| {label.replace('_', '')} |" in report.to_markdown()


def test_parameters_and_names_are_no_formulas(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    search = search_posterior(
        score_table(rng.normal(0.8, 0.02, (2, 5))) | {"params": [{"=cmd": 1}, {"-x": "@y"}]},
        random_state=0,
    )
    a, b = (ConfusionCounts([[n, 3], [2, 30]]) for n in (20, 30))
    pair = compare(a, b, metric="accuracy", names=("=a", "@b"))
    board = leaderboard({"=a": a, "@b": b}, metric="accuracy")
    for result in (search, pair, board):
        report = result.report()
        for name, section in report.to_dict()["sections"].items():
            text = report.to_csv(name)
            assert not re.search('(^|,)"?[=@]', text, re.MULTILINE)
            read = list(csv.reader(io.StringIO(text)))
            assert len(read) == 1 + len(section["rows"])
        assert not re.search(r"\| [=@]", report.to_markdown())
    values = [row[1] for row in csv.reader(io.StringIO(pair.report().to_csv()))][1:]
    assert all(float(number) == float(number) for number in values)


def test_negative_numbers_stay_numbers():
    a, b = (ConfusionCounts([[n, 10], [10, 30]]) for n in (60, 10))
    frame = pd.read_csv(io.StringIO(compare(a, b, metric="accuracy").report().to_csv()))
    assert frame["value_low"][0] < 0


def test_long_rankings_are_cut_in_text_but_not_in_frames(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    report = search_posterior(score_table(rng.normal(0.8, 0.02, (60, 5))), random_state=0).report()
    assert "... and 40 more" in str(report)
    assert "... and 40 more" in report.to_markdown()
    assert len(report.to_frame()) == 60
    assert len(report.to_csv().splitlines()) == 61


def test_without_optional_packages(monkeypatch, tmp_path):
    fitted = BayesianCrossValidator(NB, cv=5, random_state=0).fit(X, Y)  # scikit-learn looks for it
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for report in (fitted.report(), BOARD.report(), datasets_case(), interval_report(PETS)):
        for suffix in SUFFIXES:
            report.save(tmp_path / f"report{suffix}")
        assert report._repr_html_()
        with pytest.raises(ImportError, match=r"skuncertain\[pandas\]"):
            report.to_frame()


def test_pickles():
    bcv = BayesianCrossValidator(NB, cv=5, metrics=["f1", "mcc"], random_state=0).fit(X, Y)
    search = search_posterior(score_table(FOLDS), random_state=0)
    for result in (bcv, bcv.result_, BOARD, compare(*TWO, metric="f1"), search):
        report = result.report()
        assert str(pickle.loads(pickle.dumps(report))) == str(report)
        assert str(pickle.loads(pickle.dumps(result)).report()) == str(report)


def test_repr():
    text = repr(compare(*TWO, metric="f1", names=("a\n", "\x1b[2J")).report())
    assert "1 rows; print() it, or use to_frame(), save(path)>" in text
    assert text.isprintable()


def test_no_level_is_certain():
    assert "100 %" not in str(interval_report(PETS, level=0.9999999))


@pytest.mark.parametrize("pos_label", ["sick", "well"])
def test_two_classes_say_where_sensitivity_and_specificity_are(pos_label):
    counts = ConfusionCounts([[26, 0], [2, 6]], labels=["sick", "well"], pos_label=pos_label)
    report = interval_report(counts)
    other = {"sick": "well", "well": "sick"}[pos_label]
    rows = {row["name"]: row for row in report.to_dict()["sections"]["scores"]["rows"]}
    for base, name, label in (
        ("recall", "sensitivity", pos_label),
        ("recall", "specificity", other),
        ("precision", "ppv", pos_label),
        ("precision", "npv", other),
    ):
        low, high = counts.posterior(name).interval()
        assert (rows[label][base]["low"], rows[label][base]["high"]) == pytest.approx((low, high))
    assert f"positive class {pos_label}: its recall is the sensitivity" in str(report)
    assert f"precision of {other} are specificity and NPV" in str(report)


def test_half_characters_in_a_report():
    counts = ConfusionCounts([[4, 1], [2, 5]], labels=["\ud800", "b"])
    report = interval_report(counts, random_state=0)
    for text in (report.to_json(), report.to_html(), report.to_markdown()):
        assert text.encode("utf-8")
    results = {f"split{k}_test_score": [0.1 + 0.1 * k, 0.2] for k in range(3)}
    results["params"] = [{"C": "\ud800"}, {"C": "b"}]
    found = search_posterior(results, n_repeats=1, n_draws=50, random_state=0).report()
    assert found.to_json().encode("utf-8")  # in the name of a column, too
