"""Long studies: workers that die, interruptions, checkpoints, progress."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from skuncertain import credible_interval
from skuncertain.coverage import BinomialPopulation, coverage_study

ARRAYS = ("coverage", "coverage_error", "width", "width_error", "failed", "truth", "truth_error")


def _same(a, b):
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in ARRAYS)


def test_a_worker_that_dies(tmp_path):
    flag = tmp_path / "killed"

    def mortal(counts):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
        return credible_interval(counts, metric="recall", prior="jeffreys")

    options = {"n": 30, "n_replications": 1000, "random_state": 0}
    with pytest.warns(RuntimeWarning, match=r"a worker was lost .*attempt 2 of 3"):
        found = coverage_study({"a": mortal}, BinomialPopulation(0.8), n_jobs=2, **options)
    assert _same(found, coverage_study({"a": "jeffreys"}, BinomialPopulation(0.8), **options))


def _interrupting(path, after):
    """Return a method that is interrupted, once, at its so-manyeth call."""
    calls = []

    def method(counts):
        calls.append(1)
        if len(calls) == after and path.exists():
            path.unlink()
            raise KeyboardInterrupt
        return credible_interval(counts, metric="recall", prior="jeffreys")

    return method, calls


def test_interrupted_studies_go_on(tmp_path):
    flag, file = tmp_path / "interrupt", tmp_path / "study.jsonl"
    flag.touch()
    population, options = BinomialPopulation(0.8), {"n": 30, "n_replications": 2000}
    method, calls = _interrupting(flag, 1 + 4 * 4)  # a chunk calls it four times: stack and checks
    with pytest.raises(KeyboardInterrupt):
        coverage_study({"a": method}, population, checkpoint=file, **options)
    assert file.exists()
    before = len(calls)
    calls[:] = [0] * 100  # far from the call that interrupts
    study = coverage_study({"a": method}, population, checkpoint=file, **options)  # the stored seed
    assert before == 17
    assert len(calls) - 100 == 4 * 4  # the other four of eight chunks
    whole = coverage_study({"a": "jeffreys"}, population, random_state=study.seed, **options)
    assert _same(study, whole)
    done = len(calls)
    again = coverage_study({"a": method}, population, checkpoint=file, **options)
    assert _same(again, study)
    assert len(calls) == done  # nothing left to do


def test_a_checkpoint_belongs_to_its_arguments(tmp_path):
    file = tmp_path / "study.jsonl"
    arguments = {"methods": {"a": "wilson"}, "population": BinomialPopulation(0.8), "n": 30}
    arguments |= {"n_replications": 300, "random_state": 1, "checkpoint": str(file)}
    coverage_study(**arguments)
    for name, value in {
        "methods": {"a": {"prior": 0.4}},
        "population": BinomialPopulation(0.81),
        "n": 31,
        "level": 0.9,
        "metric": "accuracy",
        "kind": "hdi",
        "random_state": 2,
        "n_replications": 301,
        "pos_label": 0,
    }.items():
        changed = arguments | {name: value}
        if name == "kind":
            changed["methods"] = {"a": {"prior": 0.4}}
        with pytest.raises(ValueError, match=f"belongs to another study: .*{name}.* differ"):
            coverage_study(**changed)
    coverage_study(**arguments)
    other = tmp_path / "other.csv"
    for content in ("a,b\n1,2\n", '{"a": 1}\n', "[1, 2]\n", file.read_text()[:40], "\xff\n"):
        other.write_text(content, encoding="latin-1")
        with pytest.raises(ValueError, match="is not the file of a coverage study"):
            coverage_study(**arguments | {"checkpoint": other})
        assert other.read_text(encoding="latin-1") == content


def test_a_checkpoint_that_is_torn(tmp_path):
    file, options = tmp_path / "study.jsonl", {"n": 30, "n_replications": 1000}
    population = BinomialPopulation([0.2, 0.8])
    study = coverage_study(["wilson"], population, checkpoint=file, **options)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 1 + 2 * 4  # the study, and four tasks at each of two points
    for length in (len(whole) - 1, len(whole) - len(lines[-1]) + 1, len(lines[0])):
        file.write_bytes(whole[:length])
        again = coverage_study(["wilson"], population, checkpoint=file, **options)
        assert again.seed == study.seed
        assert _same(again, study)
        assert sorted(file.read_bytes().splitlines()) == sorted(whole.splitlines())
    file.write_bytes(lines[0])  # nothing is done: it may become another study
    coverage_study(["wilson"], BinomialPopulation(0.5), checkpoint=file, **options)
    file.write_bytes(b"")
    coverage_study(["wilson"], BinomialPopulation(0.5), checkpoint=file, **options)
    assert len(file.read_bytes().splitlines()) == 1 + 4


SCRIPT = """
import os, sys, time
from skuncertain import credible_interval
from skuncertain.coverage import BinomialPopulation, coverage_study

def slow(counts):
    with open(sys.argv[2], "ab", buffering=0) as log:
        log.write(b".")
    time.sleep(0.1)
    return credible_interval(counts, metric="recall", prior="jeffreys")

if __name__ == "__main__":
    study = coverage_study({"a": slow}, BinomialPopulation(0.8), n=30, n_replications=5000,
                           random_state=0, n_jobs=2, checkpoint=sys.argv[1], verbose=1)
    print(repr(float(study.coverage[0])))
"""
CALLS = 4  # of a user's function per task: all samples at once, and three of them to check that


def _finished(file):
    """Number of tasks in a checkpoint; the first line is about the study."""
    return max(0, file.read_bytes().count(b"\n") - 1) if file.exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_stopping_loses_only_what_is_in_flight(stop, tmp_path):
    script, file, log = (tmp_path / name for name in ("script.py", "study.jsonl", "log"))
    script.write_text(SCRIPT)
    log.touch()
    command = [sys.executable, str(script), str(file), str(log)]
    with open(tmp_path / "errors", "w") as errors:  # orphaned workers would keep a pipe open
        process = subprocess.Popen(command, stderr=errors, stdout=errors)
        deadline = time.monotonic() + 120
        while _finished(file) < 5 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        begun = len(log.read_bytes())
        process.send_signal(stop)
        process.wait(timeout=60)
    finished = _finished(file)
    assert 5 <= finished < 20
    # Two workers, one task each, and one whose result is on its way.
    assert begun <= CALLS * (finished + 3)
    if stop == signal.SIGINT:
        assert "KeyboardInterrupt" in (tmp_path / "errors").read_text()
    second = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert f"coverage study: {finished} of 20 tasks" in second.stderr
    whole = coverage_study(
        ["jeffreys"], BinomialPopulation(0.8), n=30, n_replications=5000, random_state=0
    )
    assert float(second.stdout) == whole.coverage[0]


def test_progress(capsys):
    coverage_study(["wilson"], BinomialPopulation(0.8), n=30, n_replications=600, random_state=0)
    assert capsys.readouterr() == ("", "")
    coverage_study(
        ["wilson"], BinomialPopulation(0.8), n=30, n_replications=600, random_state=0, verbose=1
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert f"coverage study: 3 of 3 tasks [{'#' * 20}]" in captured.err
    assert captured.err.startswith("\r")
