"""Long studies: workers that die, interruptions, checkpoints, progress."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from skuncertain import (
    BinomialTruth,
    coverage_study,
    credible_interval,
)

ARRAYS = ("coverage", "coverage_error", "length", "length_error", "failed", "truth", "truth_error")


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
        found = coverage_study({"a": mortal}, BinomialTruth(0.8), n_jobs=2, **options)
    assert _same(found, coverage_study({"a": "jeffreys"}, BinomialTruth(0.8), **options))


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
    flag, file = tmp_path / "interrupt", tmp_path / "study.npz"
    flag.touch()
    truth, options = BinomialTruth(0.8), {"n": 30, "n_replications": 2000}
    method, calls = _interrupting(flag, 1 + 4 * 4)  # a chunk calls it four times: stack and checks
    with pytest.raises(KeyboardInterrupt):
        coverage_study({"a": method}, truth, checkpoint=file, **options)
    assert file.exists()
    before = len(calls)
    calls[:] = [0] * 100  # far from the call that interrupts
    study = coverage_study({"a": method}, truth, checkpoint=file, **options)  # the stored seed
    assert before == 17
    assert len(calls) - 100 == 4 * 4  # the other four of eight chunks
    whole = coverage_study({"a": "jeffreys"}, truth, random_state=study.seed, **options)
    assert _same(study, whole)
    done = len(calls)
    again = coverage_study({"a": method}, truth, checkpoint=file, **options)
    assert _same(again, study)
    assert len(calls) == done  # nothing left to do


def test_a_checkpoint_belongs_to_its_arguments(tmp_path):
    file = tmp_path / "study.npz"
    arguments = {"methods": {"a": "wilson"}, "truth": BinomialTruth(0.8), "n": 30}
    arguments |= {"n_replications": 300, "random_state": 1, "checkpoint": str(file)}
    coverage_study(**arguments)
    for name, value in {
        "methods": {"a": {"prior": 0.4}},
        "truth": BinomialTruth(0.81),
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
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="is not the file of a coverage study"):
        coverage_study(**arguments | {"checkpoint": tmp_path / "other.npz"})
    (tmp_path / "torn.npz").write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="is not the file of a coverage study"):
        coverage_study(**arguments | {"checkpoint": tmp_path / "torn.npz"})


SCRIPT = """
import sys, time
from skuncertain import BinomialTruth, coverage_study, credible_interval

def slow(counts):
    time.sleep(0.04)
    return credible_interval(counts, metric="recall", prior="jeffreys")

if __name__ == "__main__":
    study = coverage_study({"a": slow}, BinomialTruth(0.8), n=30, n_replications=10_000,
                           random_state=0, n_jobs=2, checkpoint=sys.argv[1], verbose=1)
    print(repr(float(study.coverage[0])))
"""


@pytest.mark.slow
def test_ctrl_c_with_two_workers(tmp_path):
    script, file = tmp_path / "script.py", tmp_path / "study.npz"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(file)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    with np.load(file) as stored:
        finished = len(stored.files) - 1
    assert 0 < finished < 40
    second = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert f"coverage study: {finished} of 40 tasks" in second.stderr
    whole = coverage_study(
        ["jeffreys"], BinomialTruth(0.8), n=30, n_replications=10_000, random_state=0
    )
    assert float(second.stdout) == whole.coverage[0]


def test_progress(capsys):
    coverage_study(["wilson"], BinomialTruth(0.8), n=30, n_replications=600, random_state=0)
    assert capsys.readouterr() == ("", "")
    coverage_study(
        ["wilson"], BinomialTruth(0.8), n=30, n_replications=600, random_state=0, verbose=1
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert "coverage study: 3 of 3 tasks" in captured.err
