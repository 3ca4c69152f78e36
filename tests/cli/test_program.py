"""The command line as a program: exit codes, streams, files, signals."""

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_cases import MODULE, TABLE, call, called, run, succeed
from skuncertain._cli import commands
from skuncertain._cli.main import main

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
    (f"report {TABLE} --output report.pdf", "--output must end with one of .html"),
    ("report --matrix matrix.csv", "--rows is missing (true or predicted"),
    ("report --file predictions.csv --true y", "pred is missing: name a column of predictions.csv"),
    ("report --file predictions.csv --true y --pred yhatt", "Did you mean 'yhat'?"),
    ("compare --a 1 2 3 4", "--b is missing"),
    ("compare --a 1 2 3 --b 1 2 3 4", "expected 4 arguments"),
    ("compare --file predictions.csv --true y --pred yhat", "two columns for a paired"),
    ("compare --a 1 2 3 4 --b 1 2 3 4 --metric prevalence", "cannot be compared by it"),
    ("plan --expected 0.9", "give one of --width"),
    ("plan --width 0.1", "--expected is missing"),
    ("plan --width 0.1 --metric mcc --expected 0.9", "Give a pilot study (--tp"),
    ("plan --difference 0.1", "give --disagreement (both classifiers predict the same rows) or"),
    (f"report {TABLE} --metric recall --digits -1", "digits must be an integer >= 0, got -1"),
    ("plan --width 0.1 --expected 0.9 --digits -1", "digits must be an integer >= 0, got -1"),
    (
        f"report --tp {10**20} --fn 0 --fp 0 --tn 0",
        "whole numbers, each at most 2**53",
    ),
    ("compare --file predictions.csv --true y --pred yhat yhat", "--pred 'yhat' is named twice"),
    ("plan --width 0.1 --expected 0.9 --rope 0.1", "--rope does not go with --width"),
    ("plan --difference 0.1 --rate 0.5 --expected 0.9", "--expected does not go with --difference"),
    ("plan --n 10 --expected 0.9 --tp 3", "--tp does not go with --expected"),
    ("search cv_results.csv --n-repeats 3", "--n-repeats 3 must divide"),
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

    monkeypatch.setattr("skuncertain._utils.files.os.replace", full)
    code, _, err = call(f"report {TABLE} --output {path}", capsys)
    told = "the file was not written, No space left on device"
    assert (code, err) == (1, f"skuncertain: error: {path}: {told}\n")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_output_to_a_device(capsys):
    assert called(f"report {TABLE} --format text --output {os.devnull}", capsys) == ""
    assert not Path(os.devnull).is_file()


def _another_name(path, kind):
    """Another name of a file."""
    if kind in ("", "./"):
        return f"{kind}{path}"
    if kind == "folder/":
        Path("folder").symlink_to(".")
        return f"folder/{path}"
    other, target = Path(f"{kind}{Path(path).suffix}"), path
    if kind == "hard":
        os.link(path, other)
        return str(other)
    if kind == "chain":
        target = f"between{other.suffix}"
        Path(target).symlink_to(path)
    other.symlink_to(target)
    return str(other)


FILES = {
    "report --file predictions.csv --true y --pred yhat": "predictions.csv",
    "report --matrix matrix.csv --rows true": "matrix.csv",
    "compare --file site_a.csv site_b.csv --true y --pred yhat": "site_b.csv",
    "compare --file predictions.csv --true y --pred model_a model_b": "predictions.csv",
    "compare --matrix a.csv b.csv --rows true": "a.csv",
    "plan --file predictions.csv --true y --pred yhat --width 0.2": "predictions.csv",
    "plan --matrix matrix.csv --rows true --width 0.2 --pos-label ill": "matrix.csv",
    "search cv_results.csv": "cv_results.csv",
    "search cv_results.json": "cv_results.json",
}


@pytest.mark.parametrize(("arguments", "name"), FILES.items(), ids=FILES)
@pytest.mark.parametrize("other", ["", "./", "link", "hard", "chain", "folder/"])
def test_an_input_is_no_output(arguments, name, other, files, capsys, monkeypatch):
    """By none of its names; and it is told before anything is read."""
    output = _another_name(name, other)
    before = Path(name).read_bytes()
    for reader in ("read_predictions", "read_paired", "read_matrix", "read_search_results"):
        monkeypatch.setattr(commands, reader, lambda *_, **__: pytest.fail("it was read"))
    code, out, err = call(f"{arguments} --output {output}", capsys)
    assert (code, out) == (2, "")
    told = f"--output {output} is the same file as the input, {name}"
    assert err.startswith(f"skuncertain: error: {told}")
    assert err.count("\n") == 1
    assert Path(name).read_bytes() == before


def test_standard_streams_are_files_as_well(files):
    before = Path("predictions.csv").read_bytes()
    columns = "--true y --pred yhat"
    with open("predictions.csv", "rb") as stdin:
        done = run(f"report --file - {columns} --output predictions.csv", stdin=stdin)
    assert done.returncode == 2
    assert "is the same file as the input, standard input" in done.stderr
    with open("predictions.csv", "ab") as stdout:
        done = run(
            f"report --file predictions.csv {columns}",
            stdout=stdout, stderr=subprocess.PIPE, capture_output=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "standard output is the same file as the input, predictions.csv" in done.stderr
    assert Path("predictions.csv").read_bytes() == before


def test_another_output_is_written(files, capsys):
    Path("other.csv").write_text("old")
    called("report --file predictions.csv --true y --pred yhat --output other.csv", capsys)
    assert Path("other.csv").read_text().startswith("name,precision,")


@pytest.mark.skipif(os.name == "nt", reason="shells close streams otherwise")
@pytest.mark.parametrize(
    "arguments", [f"report {TABLE}", "metrics", "demo", "completion bash", "--help", "--version"]
)
def test_standard_output_that_is_closed(arguments, tmp_path):
    done = run(f'-c "$0 -m skuncertain {arguments} >&-" {sys.executable}', program=["/bin/sh"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("skuncertain: error: standard output is closed\n")


@pytest.mark.skipif(os.name == "nt", reason="shells close streams otherwise")
def test_a_file_needs_no_standard_output(tmp_path):
    path = tmp_path / "report.txt"
    command = f"$0 -m skuncertain report {TABLE} --output {path} >&-"
    done = run(f'-c "{command}" {sys.executable}', program=["/bin/sh"])
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_text().startswith("Classification report")


@pytest.mark.parametrize(
    ("arguments", "code"), [("report", 2), ("report --file missing --true y --pred p", 1)]
)
def test_an_error_that_nobody_reads_is_an_error(arguments, code):
    reader, writer = os.pipe()
    os.close(reader)
    done = run(arguments, stdout=subprocess.PIPE, stderr=writer, capture_output=False)
    os.close(writer)
    assert (done.returncode, done.stdout) == (code, "")


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_output_to_the_name_of_standard_output():
    out = succeed(f"report {TABLE} --format csv --output /dev/stdout")
    assert out == succeed(f"report {TABLE} --format csv")


@pytest.mark.parametrize(
    ("rows", "said"),
    [("1,+1\n-1,-1\n", ""), ("Yes,yes\nno,no\n", "'Yes' and 'yes' are counted as different")],
)
def test_spellings_of_labels(rows, said, files, capsys):
    Path("spelled.csv").write_text("y,yhat\n" + rows)
    arguments = "report --file spelled.csv --true y --pred yhat --metric accuracy --format csv"
    code, out, err = call(arguments, capsys)
    assert code == 0
    assert out.splitlines()[1].startswith("accuracy,0.5," if said else "accuracy,1.0,")
    assert said in err
    assert bool(said) == bool(err)


def test_two_spellings_name_the_option(files, capsys):
    Path("spelled.csv").write_text("y,yhat\n01,1\n2,2\n")
    arguments = "report --file spelled.csv --true y --pred yhat"
    code, _, err = call(arguments, capsys)
    assert code == 1
    assert "'01' (line 2, 'y') and '1' (line 2, 'yhat')" in err
    assert "give --labels with all classes" in err
    assert call(f"{arguments} --labels 01 1 2", capsys)[0] == 0


def test_version_and_help_are_answered_at_once():
    code = (
        "import sys; from skuncertain._cli.main import main; code = main(sys.argv[1:]); "
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

    monkeypatch.setattr("skuncertain._cli.options.TICK", 0.001)
    for name in ("read_predictions", "required_sample_size"):
        path = f"skuncertain._cli.commands.{name}"
        monkeypatch.setattr(path, slowly(getattr(commands, name)))
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
    monkeypatch.setattr("skuncertain._cli.options.TICK", 0.001)
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

    monkeypatch.setattr("skuncertain._cli.commands.importlib.import_module", missing)
    code, out, err = call("app", capsys)
    assert (code, out) == (1, "")
    assert 'pip install "skuncertain[app]"' in err


def test_the_page_is_served_as_asked(capsys, monkeypatch):
    asked = {}

    class App:
        serve = staticmethod(lambda **options: asked.update(options))

    monkeypatch.setattr("skuncertain._cli.commands.importlib.import_module", lambda name: App)
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
        ("skuncertain report --pr", "--pred --proba --prior --prevalence"),
    ):
        command = script + ask.format(words, len(words.split()) - 1)
        found = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True)
        assert (found.stdout.strip(), found.stderr) == (expected, "")
