"""The command line, run as a program: numbers of the library, exit codes, streams."""

import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skuncertain import (
    ConfusionCounts,
    _cli_commands,
    compare,
    compare_paired,
    comparison_sample_size,
    expected_width,
    interval_report,
    required_sample_size,
    search_posterior,
)
from skuncertain._cli import main
from skuncertain._cli_options import EXAMPLES

DOCS = Path(__file__).resolve().parents[1] / "docs" / "command_line.rst"
TABLE = "--tp 26 --fn 0 --fp 2 --tn 6"
COUNTS = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
MODULE = [sys.executable, "-m", "skuncertain"]
SCRIPT = Path(sys.executable).with_name("skuncertain")


def run(arguments, program=None, **options):
    """Run the program; nothing but what is expected may be on stderr."""
    options = {"capture_output": True, "text": True, "check": False, "timeout": 300} | options
    return subprocess.run([*(program or MODULE), *shlex.split(arguments)], **options)


def succeed(arguments, **options):
    done = run(arguments, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def call(arguments, capsys):
    """Do the same in this process, which saves the imports."""
    code = main(shlex.split(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def called(arguments, capsys):
    code, out, err = call(arguments, capsys)
    assert (code, err) == (0, "")
    return out


@pytest.fixture
def files(tmp_path, monkeypatch, global_random_seed):
    """A directory with the files that the examples name, and the labels in them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(2, size=200)
    a, b = (np.where(rng.random(200) < right, y, 1 - y) for right in (0.8, 0.9))
    rows = "".join(f"{t},{p},{q},{p}\n" for t, p, q in zip(y, a, b, strict=True))
    text = "y,model_a,model_b,yhat\n" + rows
    for name in ("predictions.csv", "site_a.csv", "site_b.csv"):
        Path(name).write_text(text)
    Path("big.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("matrix.csv", "a.csv", "b.csv"):
        Path(name).write_text(",well,ill\nwell,6,2\nill,0,26\n")
    scores = rng.normal(0.8, 0.02, size=(3, 10))
    columns = {f"split{k}_test_f1": scores[:, k].tolist() for k in range(10)}
    columns["params"] = [{"C": c} for c in (1, 10, 100)]
    Path("cv_results.json").write_text(json.dumps(columns))
    head = ",".join(columns)
    rows = "".join(
        ",".join(map(repr, row.tolist())) + f",\"{{'C': {c}}}\"\n"
        for row, c in zip(scores, (1, 10, 100), strict=True)
    )
    Path("cv_results.csv").write_text(f"{head}\n{rows}")
    return y, a, b, columns


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
    rows = {row["metric"]: row["median"] for row in found["sections"]["scores"]["rows"]}
    for name in ("precision", "npv", "accuracy", "f1"):
        posterior = COUNTS.posterior(name, prevalence=0.01)
        expected = (*posterior.interval(), posterior.median())
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
    # The last label, ill, is the positive one.
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
    out = called(
        f"search cv_results.{suffix} --metric f1 --n-repeats 2 --rope 0.02 --format json", capsys
    )
    expected = search_posterior(columns, metric="f1", n_repeats=2, rope=0.02, random_state=0)
    section = next(iter(json.loads(out)["sections"].values()))
    report = expected.report().to_dict()
    assert section["rows"] == next(iter(report["sections"].values()))["rows"]


def test_metrics_are_listed(capsys):
    out = called("metrics", capsys).splitlines()
    assert any(line.split() == ["recall", "tp", "/", "(tp", "+", "fn)"] for line in out)
    assert called("metrics ppv", capsys) == "precision  tp / (tp + fp)\n"


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
# A proper citizen


USAGE = [
    ("", "required: command"),
    ("reprot", "invalid choice: 'reprot'"),
    ("report", "a table is missing: give --tp --fn --fp --tn; or --file"),
    ("report --tp 1", "--fn is missing"),
    ("report --tp 1.5", "--tp: must be a whole number, got '1.5'"),
    ("report --tp 1e12", "--tp: must be a whole number, got '1e12'"),
    ("report --tp 1 --fn 1 --fp 1 --tn -1", "tn must be >= 0, got -1"),
    (f"report {TABLE} --matrix matrix.csv", "more than one table"),
    (f"report {TABLE} --level 95", "got 95.0. Did you mean 0.95?"),
    (f"report {TABLE} --kind hpd", "invalid choice: 'hpd'"),
    (f"report {TABLE} --prior jefreys", "Did you mean 'jeffreys'?"),
    (f"report {TABLE} --metric recal", "Did you mean 'recall'? 'skuncertain metrics' lists"),
    (f"report {TABLE} --levle 0.9", "unrecognized arguments: --levle"),
    (f"report {TABLE} --output report.pdf", "--output must end with one of .txt"),
    ("report --matrix matrix.csv", "--rows is missing (true or predicted"),
    ("report --file predictions.csv --true y", "pred is missing: name a column of predictions.csv"),
    ("report --file predictions.csv --true y --pred yhatt", "Did you mean 'yhat'?"),
    ("report --matrix matrix.csv --rows true --pos-label ill", "--pos-label needs --metric"),
    ("compare --a 1 2 3 4", "--b is missing"),
    ("compare --a 1 2 3 --b 1 2 3 4", "expected 4 arguments"),
    ("compare --file predictions.csv --true y --pred yhat", "two columns for a paired"),
    ("compare --a 1 2 3 4 --b 1 2 3 4 --metric prevalence", "nothing to compare"),
    ("plan --expected 0.9", "give one of --width"),
    ("plan --width 0.1", "--expected is missing"),
    ("plan --width 0.1 --metric mcc --expected 0.9", "matthews_corrcoef needs a pilot study (--tp"),
    ("plan --difference 0.1", "give --disagreement (both classifiers predict the same rows) or"),
    (f"report {TABLE} --metric recall --digits -1", "digits must be an integer >= 0, got -1"),
    ("plan --width 0.1 --expected 0.9 --digits -1", "digits must be an integer >= 0, got -1"),
    (
        f"report --tp {10**20} --fn 0 --fp 0 --tn 0",
        "whole numbers, each at most 2**53",
    ),
    ("compare --file predictions.csv --true y --pred yhat yhat", "--true and --pred must be diff"),
    ("plan --width 0.1 --expected 0.9 --rope 0.1", "--rope does not go with --width"),
    ("plan --difference 0.1 --rate 0.5 --expected 0.9", "--expected does not go with --difference"),
    ("plan --n 10 --expected 0.9 --tp 3", "--tp does not go with --expected"),
    ("search cv_results.csv --n-repeats 3", "n_repeats=3 must divide"),
    ("app --port x", "must be a whole number"),
]
FAILURES = [
    ("report --file missing.csv --true y --pred yhat", "missing.csv: No such file or directory"),
    ("report --file . --true y --pred yhat", ".: Is a directory"),
    ("report --file bad.csv --true y --pred yhat", "bad.csv, line 3: 'yhat' is missing"),
    ("report --matrix predictions.csv --rows true", "predictions.csv"),
    (f"report {TABLE} --output missing/report.html", "report.html: the directory does not exist"),
    ("search predictions.csv", "no columns split0_test_score"),
]


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [(*case, 2) for case in USAGE] + [(*case, 1) for case in FAILURES],
)
def test_errors_are_one_line(arguments, message, code, files, capsys):
    Path("bad.csv").write_text("y,yhat\n1,1\n1,\n")
    found, out, err = call(arguments, capsys)
    assert (found, out) == (code, "")
    assert err.startswith("skuncertain: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_errors_of_the_program(files):
    for arguments, code in (("report", 2), ("report --file missing.csv --true y --pred z", 1)):
        done = run(arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
        assert done.stderr.startswith("skuncertain: error: ")


def test_control_characters_of_a_file_do_not_reach_the_terminal(files, capsys):
    Path("bad.csv").write_text("y\x1b[2J,yhat\n1,1\n")
    _, _, err = call("report --file bad.csv --true y --pred yhat", capsys)
    assert "\x1b" not in err


def test_warnings_go_where_they_are_seen(capsys):
    zero = "report --tp 0 --fn 0 --fp 3 --tn 1 --metric recall"
    code, out, err = call(f"{zero} --format csv", capsys)
    assert code == 0
    assert re.fullmatch(r"skuncertain: warning: recall is 0/0 .*\n", err)
    assert call(f"{zero} --format csv --quiet", capsys) == (0, out, "")
    code, out, err = call(zero, capsys)
    assert (code, err) == (0, "")
    assert "- recall is 0/0" in out


def test_a_table_without_rows_is_told(capsys):
    none = "0 0 0 0"
    for arguments in (
        "report --tp 0 --fn 0 --fp 0 --tn 0 --metric recall",
        f"compare --a {none} --b 26 0 2 6",
    ):
        code, _, err = call(arguments, capsys)
        assert code == 0
        assert "skuncertain: warning: there are no rows: the numbers are those of the prior" in err
    assert call(f"compare --a 1 0 0 0 --b {none} --quiet", capsys)[2] == ""


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("txt", "Metrics"), ("md", "# Metrics"), ("json", "{"), ("csv", "metric,"), ("html", "<!DOC")],
)
def test_output_is_what_would_be_printed(suffix, start, tmp_path, capsys):
    path = tmp_path / f"report.{suffix}"
    path.write_text("old")
    path.chmod(0o640)
    assert called(f"report {TABLE} --metric recall --output {path}", capsys) == ""
    form = {"txt": "text", "md": "markdown"}.get(suffix, suffix)
    text = path.read_text(encoding="utf-8")
    assert text == called(f"report {TABLE} --metric recall --format {form}", capsys)
    assert text.startswith(start)
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == [path.name]  # no temporary file stays


def test_a_failed_write_leaves_the_old_file(tmp_path, capsys, monkeypatch):
    path = tmp_path / "report.txt"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("skuncertain._files.os.replace", full)
    code, _, err = call(f"report {TABLE} --output {path}", capsys)
    told = "the file was not written, No space left on device"
    assert (code, err) == (1, f"skuncertain: error: {path}: {told}\n")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_output_to_a_device(capsys):
    assert called(f"report {TABLE} --format text --output {os.devnull}", capsys) == ""
    assert not Path(os.devnull).is_file()


def test_version_and_help_are_answered_at_once():
    code = (
        "import sys; from skuncertain._cli import main; code = main(sys.argv[1:]); "
        "heavy = {'numpy', 'scipy', 'sklearn', 'joblib'} & set(sys.modules); "
        "sys.exit(code or ', '.join(heavy) or None)"
    )
    for arguments, start in (("--version", "skuncertain "), ("report --help", "usage: ")):
        out = succeed(arguments, program=[sys.executable, "-c", code])
        assert out.startswith(start)


def test_a_reader_that_has_seen_enough(files):
    long = " ".join(f"--metric f{k}" for k in range(2, 9))
    for arguments in ("report --help", f"report {TABLE} --format html {long}"):
        reader, writer = os.pipe()
        os.close(reader)  # nobody reads
        done = run(arguments, stdout=writer, stderr=subprocess.PIPE, capture_output=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_failure():
    with open("/dev/full", "w") as full:
        done = run(f"report {TABLE}", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 1
    assert done.stderr == "skuncertain: error: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="signals are different on Windows")
def test_interrupted():
    with subprocess.Popen(
        [*MODULE, *["report", "--file", "-", "--true", "y", "--pred", "p"]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        # It reads when it takes more than fits into a pipe.
        process.stdin.write(b"y,p\n" + b"1,0\n" * 500_000)
        process.stdin.flush()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"skuncertain: interrupted\n")


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_only_on_a_terminal(files, monkeypatch, capsys):
    """Reading and computing are slow here, and a sign of life is due at once."""

    def slowly(function):
        def wrapper(*args, **options):
            found = function(*args, **options)
            time.sleep(0.05)
            return found

        return wrapper

    monkeypatch.setattr("skuncertain._cli_options.TICK", 0.001)
    for name in ("read_predictions", "required_sample_size"):
        path = f"skuncertain._cli_commands.{name}"
        monkeypatch.setattr(path, slowly(getattr(_cli_commands, name)))
    for arguments, told in (
        ("report --file predictions.csv --true y --pred yhat --format csv", " s, 0 MB read"),
        ("plan --width 0.3 --expected 0.9 --format csv", "working for 0 s"),
    ):
        out = called(arguments, capsys)  # a pipe
        for quiet in ("", " --quiet"):
            terminal = _Terminal()
            monkeypatch.setattr("sys.stderr", terminal)
            assert main(shlex.split(arguments + quiet)) == 0
            assert capsys.readouterr().out == out
            assert (told in terminal.getvalue()) == (not quiet)
            assert not quiet or terminal.getvalue() == ""
            assert quiet or terminal.getvalue().endswith(" \r")


def test_an_error_ends_the_progress(files, monkeypatch):
    monkeypatch.setattr("skuncertain._cli_options.TICK", 0.001)
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert main(shlex.split("report --file missing.csv --true y --pred yhat")) == 1
    *_, last = terminal.getvalue().split("\r")
    assert last == "skuncertain: error: missing.csv: No such file or directory\n"


def test_standard_input_that_is_closed(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    code, out, err = call("report --file - --true y --pred yhat", capsys)
    assert (code, out, err) == (1, "", "skuncertain: error: standard input is closed.\n")


@pytest.mark.parametrize("module", ["flask", "werkzeug"])
def test_the_page_needs_its_extra(module, capsys, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named '{module}'", name=module)

    monkeypatch.setattr("skuncertain._cli_commands.importlib.import_module", missing)
    code, out, err = call("app", capsys)
    assert (code, out) == (1, "")
    assert 'pip install "skuncertain[app]"' in err


def test_the_page_is_served_as_asked(capsys, monkeypatch):
    asked = {}

    class App:
        serve = staticmethod(lambda **options: asked.update(options))

    monkeypatch.setattr("skuncertain._cli_commands.importlib.import_module", lambda name: App)
    assert called("app", capsys) == ""
    assert asked == {"host": "127.0.0.1", "port": None, "open_browser": True}
    called("app --host ::1 --port 8080 --no-browser", capsys)
    assert asked == {"host": "::1", "port": 8080, "open_browser": False}


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_completion_in_bash(capsys):
    script = called("completion bash", capsys)
    ask = 'COMP_WORDS=({}); COMP_CWORD={}; _skuncertain; echo "${{COMPREPLY[*]}}"'
    for words, expected in (
        ("skuncertain com", "compare completion"),
        ("skuncertain report --pr", "--pred --prior --prevalence"),
    ):
        command = script + ask.format(words, len(words.split()) - 1)
        found = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True)
        assert (found.stdout.strip(), found.stderr) == (expected, "")


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
