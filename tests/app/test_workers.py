"""Processes that compute: they answer, are stopped, leave each other in peace, and end."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from skuncertain.app import _workers
from skuncertain.app._workers import Pool, Stopped
from worker_cases import wait_for

WORK = "worker_cases:work"
LONG = 600.0  # longer than any machine takes
NEVER = "a file that nobody writes"


@pytest.fixture
def make_pool():
    pools = []

    def make(most=1, seconds=LONG, function=WORK, **options):
        pools.append(Pool(function, most, seconds, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


@pytest.fixture
def in_background():
    with ThreadPoolExecutor(8) as executor:
        yield executor.submit


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    """Only the tests of a limit have one."""
    monkeypatch.setattr(_workers, "SHORT", LONG)
    monkeypatch.setattr(_workers, "PATIENCE", LONG)


def exists(pid):
    """Whether there is such a process, or what is left of it; of our own children only."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def test_answers(make_pool):
    pool = make_pool()
    task = {"echo": ["ü\n\ud800", 1.5, None], "print": "not an answer"}
    first, second = pool.run(task), pool.run(task)
    assert first["echo"] == task["echo"]
    assert second == first  # by the same process
    assert first["pid"] != os.getpid()


def test_an_exception_is_told_and_does_no_harm(make_pool):
    pool = make_pool()
    before = pool.run({})
    with pytest.raises(RuntimeError, match="ValueError: a secret"):
        pool.run({"raise": "a secret"})
    assert pool.run({}) == before


def test_a_process_that_ends_is_replaced(make_pool):
    pool = make_pool()
    before = pool.run({})["pid"]
    with pytest.raises(RuntimeError, match="has ended"):
        pool.run({"exit": True})
    after = pool.run({})["pid"]
    assert after != before
    if os.name != "nt":  # one that is killed while it waits is no problem of the next question
        os.kill(after, signal.SIGKILL)
        (worker,) = pool._idle
        worker._process.wait()
        assert pool.run({})["pid"] not in (before, after)


@pytest.mark.parametrize("function", ["no_such_module:work", "worker_cases:no_such_function"])
def test_processes_that_cannot_start(make_pool, function):
    pool = make_pool(function=function)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"create_app\(workers=0\)"):
            pool.run({})


def test_first_task_of_a_process(make_pool, tmp_path):
    pool = make_pool(first={"note": str(tmp_path / "note")})
    pool.start()
    pid = wait_for(tmp_path / "note")
    assert pool.run({})["pid"] == int(pid)


@pytest.mark.skipif(os.name == "nt", reason="Windows tells other things of processes")
def test_what_takes_too_long_is_stopped(make_pool, tmp_path):
    pool = make_pool(seconds=0.5)
    with pytest.raises(Stopped) as caught:
        pool.run({"note": str(tmp_path / "note"), "until": NEVER})
    assert caught.value.reason == "late"
    assert not (tmp_path / "note").exists() or not exists(wait_for(tmp_path / "note"))
    pool.seconds = LONG
    assert pool.run({"echo": 1})["echo"] == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows tells other things of processes")
def test_nobody_waits_any_more(make_pool, in_background, tmp_path):
    """Neither while it is computed nor in the line."""
    pool, left = make_pool(), threading.Event()
    running = in_background(
        pool.run, {"note": str(tmp_path / "running"), "until": NEVER}, left.is_set
    )
    pid = wait_for(tmp_path / "running")
    with pytest.raises(Stopped) as caught:
        pool.run({"note": str(tmp_path / "waiting")}, lambda: True)
    assert caught.value.reason == "left"
    assert not running.done()
    left.set()
    with pytest.raises(Stopped) as caught:
        running.result(LONG)
    assert caught.value.reason == "left"
    assert not exists(pid)
    pool.run({})
    assert not (tmp_path / "waiting").exists()


def test_short_ones_pass_long_ones(make_pool, in_background, tmp_path):
    pool, go = make_pool(most=4), tmp_path / "go"
    long = []
    for k in range(3):
        task = {"note": str(tmp_path / f"long{k}"), "until": str(go), "echo": k}
        long.append(in_background(pool.run, task))
        wait_for(tmp_path / f"long{k}")
    assert [pool.run({"echo": k})["echo"] for k in range(5)] == list(range(5))
    assert not any(future.done() for future in long)
    go.touch()
    assert [future.result(LONG)["echo"] for future in long] == [0, 1, 2]
    assert len(pool._all) <= 4


def test_the_last_process_is_for_short_ones(make_pool, in_background, tmp_path, monkeypatch):
    pool, go = make_pool(most=2), tmp_path / "go"
    long = in_background(pool.run, {"note": str(tmp_path / "long"), "until": str(go)})
    wait_for(tmp_path / "long")
    monkeypatch.setattr(_workers, "SHORT", 0.5)
    with pytest.raises(Stopped) as caught:
        pool.run({"until": NEVER})
    assert caught.value.reason == "busy"
    monkeypatch.setattr(_workers, "SHORT", LONG)
    assert pool.run({"echo": 1})["echo"] == 1
    assert not long.done()
    go.touch()
    long.result(LONG)


def test_a_long_line(make_pool, in_background, tmp_path, monkeypatch):
    pool, go = make_pool(), tmp_path / "go"
    running = in_background(pool.run, {"note": str(tmp_path / "note"), "until": str(go)})
    wait_for(tmp_path / "note")
    monkeypatch.setattr(_workers, "PATIENCE", 0.1)
    with pytest.raises(Stopped) as caught:
        pool.run({})
    assert caught.value.reason == "busy"
    monkeypatch.setattr(_workers, "PATIENCE", LONG)
    order, waiting = [], []
    for k in range(3):
        waiting.append(in_background(lambda k=k: order.append(pool.run({"echo": k})["echo"])))
        while len(pool._line) <= k:
            threading.Event().wait(0.01)
    go.touch()
    for future in (running, *waiting):
        future.result(LONG)
    assert order == [0, 1, 2]  # first come, first served


@pytest.mark.skipif(os.name == "nt", reason="Windows tells other things of processes")
def test_close(make_pool, in_background, tmp_path):
    pool = make_pool()
    running = in_background(pool.run, {"note": str(tmp_path / "note"), "until": NEVER})
    pid = wait_for(tmp_path / "note")
    waiting = in_background(pool.run, {})
    pool.close()
    assert not exists(pid)
    for future in (running, waiting):
        with pytest.raises(RuntimeError):
            future.result(LONG)
    with pytest.raises(RuntimeError):
        pool.run({})


PROGRAM = """
import sys, threading
sys.path.insert(0, {support!r})
from skuncertain.app._workers import Pool
pool = Pool("worker_cases:work", 2)
task = {{"note": sys.argv[1], "until": "never"}}
threading.Thread(target=pool.run, args=(task,), daemon=True).start()
pool.run({{}})
print("ready", flush=True)
threading.Event().wait()
"""


@pytest.mark.parametrize(
    "name", ["SIGKILL"] if os.name == "nt" else ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]
)
def test_they_end_with_the_server(tmp_path, name):
    """Also while they compute, and however it ends: they hold its stderr, which then closes."""
    support = os.path.dirname(sys.modules["worker_cases"].__file__)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(support=support), str(tmp_path / "note")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        wait_for(tmp_path / "note")
        assert process.stdout.readline().strip() == b"ready"
        process.kill() if name == "SIGKILL" else process.send_signal(getattr(signal, name))
        process.communicate(timeout=LONG)
        assert process.returncode != 0
    finally:
        with contextlib.suppress(OSError):
            process.kill()
        process.communicate()
