"""What the processes of the web page compute in tests."""

import os
import time
from pathlib import Path


def work(task):
    """Do what the task says: "note" the process in a file, then wait for a file, fail or return."""
    if "note" in task:
        path = Path(task["note"])
        path.with_suffix(".new").write_text(str(os.getpid()))
        path.with_suffix(".new").rename(path)
    if "print" in task:
        print(task["print"], flush=True)
    if "raise" in task:
        raise ValueError(task["raise"])
    if "exit" in task:
        os._exit(3)
    if "until" in task:  # a file that may never exist
        while not Path(task["until"]).exists():
            sum(range(100_000))  # busy, as a calculation is
            time.sleep(0.001)
    return {"pid": os.getpid(), "echo": task.get("echo")}


def wait_for(path, seconds=120):
    """Text of a file, as soon as it exists."""
    end = time.monotonic() + seconds
    while not Path(path).exists():
        assert time.monotonic() < end, f"{path} was never written"
        time.sleep(0.02)
    return Path(path).read_text()
