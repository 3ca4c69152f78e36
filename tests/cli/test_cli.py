"""The command line answers with the numbers of the library, and as its page shows."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from cli_cases import COUNTS, MODULE, SCRIPT, TABLE, call, called, run, succeed
from skuncertain import (
    ConfusionCounts,
    compare,
    compare_paired,
    interval_report,
    required_sample_size,
    search_posterior,
)
from skuncertain._cli.options import EXAMPLES
from skuncertain.planning import comparison_sample_size, expected_width

DOCS = Path(__file__).resolve().parents[2] / "docs" / "command_line.rst"


# --------------------------------------------------------------------------------------------------
# Numbers


@pytest.mark.parametrize("program", ["module", "script"])
def test_report_of_a_published_table(program):
    if program == "script" and not SCRIPT.exists():
        pytest.skip(f"the package is not installed beside {sys.executable}")
    out = succeed(f"report {TABLE}", program=MODULE if program == "module" else [SCRIPT])
    expected = str(interval_report(COUNTS, random_state=0))
    assert out.splitlines()[:20] == expected.splitlines()[:20]
    low, high = COUNTS.posterior("recall").interval()
    assert f"1.000 [{low:.3f}, {high:.3f}]" in out
    assert "to_html" not in out  # nobody can call it here


def test_metrics_as_json(capsys):
    options = "--metric recall f1 --metric mcc --level 0.9 --kind hdi --prior jeffreys"
    found = json.loads(called(f"report {TABLE} {options} --format json", capsys))
    rows = found["sections"]["scores"]["rows"]
    assert [row["metric"] for row in rows] == ["recall", "f1", "matthews_corrcoef"]
    for row in rows:
        low, high = COUNTS.posterior(row["metric"], prior="jeffreys").interval(0.9, "hdi")
        assert (row["score"]["low"], row["score"]["high"]) == pytest.approx((low, high), abs=1e-12)
        assert row["score"]["value"] == pytest.approx(COUNTS.score(row["metric"]))
    assert found["settings"]["level"] == 0.9


def test_another_prevalence(capsys):
    found = json.loads(called(f"report {TABLE} --prevalence 0.01 --format json", capsys))
    rows = {row["metric"]: row["value"] for row in found["sections"]["scores"]["rows"]}
    for name in ("precision", "npv", "accuracy", "f1"):
        posterior = COUNTS.posterior(name, prevalence=0.01)
        expected = (*posterior.interval(), posterior.observed)
        assert tuple(rows[name][key] for key in ("low", "high", "value")) == pytest.approx(expected)


def test_the_same_call_gives_the_same_numbers(capsys):
    first, second = (
        called(f"report {TABLE} --metric f1_macro --format csv", capsys) for _ in range(2)
    )
    assert first == second
    header, row = first.splitlines()
    assert header == "metric,score,score_low,score_high,computed"
    low = float(row.split(",")[2])
    assert low == COUNTS.posterior("f1_macro", random_state=0).interval().low


@pytest.mark.parametrize("rows", ["true", "predicted"])
def test_report_of_a_matrix(rows, files, capsys):
    asked = "--metric recall --pos-label ill --format json"
    out = called(f"report --matrix matrix.csv --rows {rows} {asked}", capsys)
    cells = {"fn": 0, "fp": 2} if rows == "true" else {"fn": 2, "fp": 0}
    expected = ConfusionCounts.from_binary(tp=26, tn=6, **cells).posterior("recall").interval()
    (row,) = json.loads(out)["sections"]["scores"]["rows"]
    assert (row["score"]["low"], row["score"]["high"]) == pytest.approx(expected)


def test_report_of_predictions(files):
    y, a, _, _ = files
    expected = ConfusionCounts.from_predictions(y, a).posterior("f1").interval()
    options = "--true y --pred yhat --metric f1 --format json"
    for out in (
        succeed(f"report --file predictions.csv {options}"),
        succeed(f"report --file big.csv.gz {options}"),
        succeed(f"report --file - {options}", input=Path("predictions.csv").read_text()),
    ):
        (row,) = json.loads(out)["sections"]["scores"]["rows"]
        assert (row["score"]["low"], row["score"]["high"]) == pytest.approx(expected)


def _difference(out):
    (row,) = json.loads(out)["sections"]["difference"]["rows"]
    return [row["value"]["low"], row["value"]["high"], *_chances(row)]


def _chances(row):
    cells = (row[name] for name in ("p_worse", "p_equivalent", "p_better"))
    return [cell["value"] if isinstance(cell, dict) else cell for cell in cells]


def _expected(result):
    return [*result.interval(), result.p_worse, result.p_equivalent, result.p_better]


def test_compare_tables(capsys):
    other = ConfusionCounts.from_binary(tp=20, fn=6, fp=1, tn=7)
    out = called(
        "compare --a 26 0 2 6 --b 20 6 1 7 --metric recall --rope 0.02 --format json", capsys
    )
    expected = compare(COUNTS, other, metric="recall", rope=0.02)
    assert _difference(out) == pytest.approx(_expected(expected), abs=1e-9)


def test_compare_files(files, capsys):
    y, a, b, _ = files
    paired = called(
        "compare --file predictions.csv --true y --pred model_a model_b --format json", capsys
    )
    assert _difference(paired) == pytest.approx(_expected(compare_paired(y, a, b)), abs=1e-9)
    assert "200 shared rows" in paired
    apart = called(
        "compare --file site_a.csv site_b.csv --true y --pred model_a model_b --metric f1 "
        "--format json", capsys,
    )  # fmt: skip
    sides = [ConfusionCounts.from_predictions(y, p) for p in (a, b)]
    assert _difference(apart) == pytest.approx(_expected(compare(*sides, metric="f1")), abs=1e-9)
    assert "Comparison of site_b with site_a by f1" in apart


def test_plans(capsys):
    def settings(arguments):
        return json.loads(called(f"plan {arguments} --format json", capsys))["settings"]

    found = settings("--metric recall --expected 0.9 --width 0.1 --prevalence 0.2")
    plan = required_sample_size(metric="recall", expected=0.9, width=0.1, prevalence=0.2)
    assert (found["n"], found["rows"], found["rule_n"]) == (plan.n, plan.rows, plan.rule_n)
    found = settings("--n 100 --expected 0.8 10 --kind hdi --prior 1")
    width = expected_width(100, expected=(0.8, 10), kind="hdi", prior=1)
    assert (found["quantile"], found["rule"]) == pytest.approx((width.quantile, width.rule))
    found = settings(f"--metric f1 {TABLE} --width 0.1")
    assert found["n"] == required_sample_size(metric="f1", expected=COUNTS, width=0.1).n
    found = settings("--difference 0.05 --disagreement 0.1")
    assert found["n"] == comparison_sample_size(difference=0.05, disagreement=0.1).n
    found = settings("--difference 0.1 --rate 0.85 --power 0.7")
    rate = comparison_sample_size(difference=0.1, rate=0.85, paired=False, power=0.7)
    assert found["n"] == rate.n


def test_a_simulated_plan_tells_its_error(capsys):
    """The error stands beside a number: a probability of 0.95 must not be rounded to 1.0."""
    size = "--width 0.3 --n-studies 100 --n-draws 500"
    out = called(f"plan --metric mcc {TABLE} {size}", capsys)
    plan = required_sample_size(
        metric="mcc", expected=COUNTS, width=0.3, n_studies=100, n_draws=500, random_state=0
    )
    assert 0.001 < plan.probability_error < 0.1
    error, p = f"± {plan.probability_error:.1g}", f"{plan.probability:.3f}"
    assert f"probability of an interval that narrow ({error})  {p}\n" in re.sub("  +", "  ", out)
    assert re.search(rf"\nrows needed \(± [\d.]+\) +{plan.n}\n", out)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_search(suffix, files, capsys):
    columns = files[3]
    for words, options in (
        ("", {}),
        ("--probability 0.9 --no-shrinkage", {"probability": 0.9, "shrinkage": False}),
    ):
        out = called(
            f"search cv_results.{suffix} --metric f1 --n-repeats 2 --rope 0.02 --format json "
            + words,
            capsys,
        )
        expected = search_posterior(
            columns, metric="f1", n_repeats=2, rope=0.02, random_state=0, **options
        )
        section = next(iter(json.loads(out)["sections"].values()))
        report = expected.report().to_dict()
        assert section["rows"] == next(iter(report["sections"].values()))["rows"]
        assert json.loads(out)["settings"]["probability"] == expected.probability


def test_metrics_are_listed(capsys):
    out = called("metrics", capsys).splitlines()
    assert any(line.split() == ["precision", "tp", "/", "(tp", "+", "fp)"] for line in out)
    assert any(line.startswith("recall ") and line.endswith("[at any prevalence]") for line in out)
    assert called("metrics ppv", capsys) == "precision  tp / (tp + fp)\n"
    recall = "recall  tp / (tp + fn) [at any prevalence]\n"
    assert called("metrics true_positive_rate", capsys) == recall


def test_demo(capsys):
    out = called("demo", capsys)
    assert "breast cancer" in out
    assert "Probability that recall is above 0.9: " in out
    assert "10 folds" in out


@pytest.mark.parametrize("command", sorted(EXAMPLES))
def test_help_has_examples_that_run(command, files, capsys):
    out = called(f"{command} --help", capsys)
    assert EXAMPLES[command] in out
    for line in EXAMPLES[command].splitlines():
        words = line.split("|")[-1].strip()
        if command in ("app", "completion"):  # not to be run here
            continue
        if "--file -" in words:
            words = words.replace("--file -", "--file big.csv.gz")
        if "demo" not in words:
            called(words.removeprefix("skuncertain "), capsys)


# --------------------------------------------------------------------------------------------------
# Long files


# A process starts with the memory of the one that it was forked from, so a small one starts it.
LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def _peak_memory(arguments):
    """Output and peak memory in MB of the program."""
    done = run(arguments, program=[sys.executable, "-c", LAUNCHER, *MODULE])
    assert done.returncode == 0, done.stderr
    return done.stdout, int(done.stderr) / (2**20 if sys.platform == "darwin" else 2**10)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs os.wait4")
def test_five_million_rows_need_no_more_memory_than_few(tmp_path, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(2, size=100_000)
    p = np.where(rng.random(y.size) < 0.9, y, 1 - y)
    body = "".join(
        f"{k},{t},{q},{s:.6f}\n"
        for k, (t, q, s) in enumerate(zip(y, p, rng.random(y.size), strict=True))
    ).encode()
    peaks = []
    for times in (1, 50):
        path = tmp_path / "predictions.csv"
        with path.open("wb") as file:
            file.write(b"id,y,yhat,score\n")
            for _ in range(times):
                file.write(body)
        arguments = f"report --file {path} --true y --pred yhat --metric recall --format json"
        out, peak = _peak_memory(arguments)
        rows = json.loads(out)["sections"]["confusion"]["rows"]
        expected = ConfusionCounts.from_predictions(y, p).counts * times
        assert [row["count"] for row in rows] == expected.ravel().tolist()
        peaks.append(peak)
    assert peaks[1] < 500
    assert peaks[1] - peaks[0] < 50  # the file is 120 MB


# --------------------------------------------------------------------------------------------------
# The page about it


def _console_blocks():
    text = DOCS.read_text(encoding="utf-8")
    for block in re.findall(r"\.\. code-block:: console\n\n((?:    .*\n|\n)+)", text):
        lines = [line[4:] for line in block.rstrip().splitlines()]
        while lines:
            command = lines.pop(0)
            assert command.startswith("$ "), command
            output = []
            while lines and not lines[0].startswith("$ "):
                output.append(lines.pop(0))
            yield command[2:], "\n".join(output).rstrip()


def test_the_documentation_shows_what_is_printed(files, capsys):
    """Run the blocks in order; ``cat`` shows what a file is made of, ... stands for anything."""
    ran = 0
    for command, expected in _console_blocks():
        words = shlex.split(command)
        if words[0] == "cat":
            Path(words[1]).write_text(expected + "\n")
            continue
        assert words[0] == "skuncertain", command
        _, out, err = call(command.removeprefix("skuncertain "), capsys)
        pattern = re.escape(expected).replace(r"\.\.\.", r"[\s\S]*")
        assert re.fullmatch(pattern, (out + err).rstrip()), f"{command}\n{out}{err}"
        ran += 1
    assert ran > 8
