"""Processes that compute: unlike threads they can be stopped, and they do not wait for each other.

A process reads tasks as lines of JSON and writes its answers as such; it is started with the
interpreter of the server and does not import the program that started it. When the server ends, in
whatever way, the pipe to the process is closed, and it ends as well.
"""

import contextlib
import importlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections import deque

MOST = 4  # three long calculations, and one process for the short ones
SECONDS = 20.0  # for one calculation
SHORT = 3.0  # for one that holds the last process, which is for short ones
PATIENCE = 30.0  # in the line
_GRACE = 1.0  # what takes less is not worth a new process
_TICK = 0.2
_START = (
    "import json, sys; sys.path[:], *given = json.loads(sys.argv[1]); "
    "from skuncertain.app._workers import serve_tasks; serve_tasks(*given)"
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_ENDED = "a process that computes has ended."
_NO_START = "no process that computes could be started. create_app(workers=0) needs none."
# Ctrl-C is for the server alone.
_APART: dict = {"start_new_session": True}
if sys.platform == "win32":
    _APART = {"creationflags": subprocess.CREATE_NO_WINDOW}


class Stopped(Exception):
    """A calculation without an answer; `reason` is "late", "busy" or "left"."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Pool:
    """Processes that compute one function.

    They are started when they are needed, and one more than needed, so that a question rarely waits
    for the start of one.

    Parameters
    ----------
    function : str
        "module:name" of a function whose argument and result JSON can hold.
    most : int
        Number of processes.
    seconds : float
        After so many a calculation is stopped.
    first : object, default=None
        Task that a new process does before it counts as ready: first times are slow.
    """

    def __init__(self, function, most=MOST, seconds=SECONDS, first=None):
        self.function, self.most, self.seconds, self.first = function, most, seconds, first
        self._changed = threading.Condition()
        self._all: set = set()
        self._idle: list = []
        self._line: deque = deque()  # of those who wait
        self._starting = self._failures = 0
        self._closed = False

    def start(self):
        """Start a process, so that the first question need not wait."""
        with self._changed:
            self._keep_one_ready()

    def run(self, task, left=lambda: False):
        """Answer of a task.

        Parameters
        ----------
        task : object
            Argument of the function.
        left : callable
            Whether nobody waits for the answer any more.

        Returns
        -------
        object
            What the function returns.

        Raises
        ------
        Stopped
            If it took too long, if no process became free, or if nobody waits for it.
        RuntimeError
            If the function raised an exception, or the process ended.
        """
        worker, limit = self._take(left)
        try:
            reply = worker.ask(task, limit, left)
        except BaseException:
            self._discard(worker)
            raise
        with self._changed:
            self._idle.append(worker)
            self._changed.notify_all()
        if "bug" in reply:
            raise RuntimeError(reply["bug"])
        return reply["answer"]

    def close(self):
        """End all processes; those who wait for them get an error."""
        with self._changed:
            self._closed = True
            self._idle.clear()
            workers = list(self._all)
            self._changed.notify_all()
        for worker in workers:
            self._discard(worker)

    def _take(self, left):
        """Idle process, how long it may compute, and what to say if it does so for longer."""
        end, mine = time.monotonic() + PATIENCE, object()
        with self._changed:
            failures = self._failures
            self._line.append(mine)
            try:
                while not (worker := self._free(mine)):
                    if self._closed or self._failures > failures:
                        raise RuntimeError(_NO_START)
                    if left():
                        raise Stopped("left")
                    if time.monotonic() > end:
                        raise Stopped("busy")
                    self._changed.wait(_TICK)
            finally:
                self._line.remove(mine)
                self._changed.notify_all()
            self._keep_one_ready()
            last = self.most > 1 and not self._idle and not self._starting
            return worker, (min(SHORT, self.seconds), "busy") if last else (self.seconds, "late")

    def _free(self, mine):
        """Idle process for the first in the line, or None."""
        while self._idle and self._line[0] is mine:
            worker = self._idle.pop()
            if worker.alive():
                return worker
            self._all.discard(worker)
            worker.end()
        self._keep_one_ready()
        return None

    def _keep_one_ready(self):
        if not (self._closed or self._idle or self._starting) and len(self._all) < self.most:
            self._starting += 1
            try:
                self._all.add(_Worker(self.function, self.first, self._started))
            except BaseException:
                self._starting -= 1
                raise

    def _started(self, worker, well):
        with self._changed:
            self._starting -= 1
            if well and not self._closed:
                self._idle.append(worker)
            else:
                self._failures += 1
            self._changed.notify_all()
        if not well:
            self._discard(worker)

    def _discard(self, worker):
        worker.end()
        with self._changed:
            self._all.discard(worker)
            self._changed.notify_all()


class _Worker:
    """A process seen from the server."""

    def __init__(self, function, first, started):
        # The list of folders is that of the server: a program may have added some.
        given = json.dumps([sys.path, function, first])
        command = [sys.executable, "-c", _START, given]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_ONE_THREAD, **os.environ},  # whoever holds a slider must not take all cores
            **_APART,
        )
        self._lines: queue.SimpleQueue = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(started,), daemon=True)
        self._reader.start()

    def _read(self, started):
        """Pass lines on. A pipe cannot be waited for with a time limit on every system."""
        with self._process.stdout as lines:
            started(self, bool(lines.readline()))
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")

    def alive(self):
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, task, limit, left):
        """Reply to a task."""
        begin, (seconds, reason) = time.monotonic(), limit
        try:
            self._process.stdin.write(json.dumps(task).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise RuntimeError(_ENDED) from None
        while True:
            try:
                line = self._lines.get(timeout=_TICK)
            except queue.Empty:
                spent = time.monotonic() - begin
                if spent > _GRACE and left():
                    raise Stopped("left") from None
                if spent > seconds:
                    raise Stopped(reason) from None
                continue
            if not line:
                raise RuntimeError(_ENDED)
            return json.loads(line)

    def end(self):
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # what was not yet sent
            self._process.stdin.close()
        if self._reader is not threading.current_thread():
            self._reader.join()


# --------------------------------------------------------------------------------------------------
# In the process


def serve_tasks(function, first):
    """Answer one task after the other, until nobody can ask any more."""
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what somebody prints is no answer
    module, _, name = function.partition(":")
    work = getattr(importlib.import_module(module), name)
    if first is not None:
        work(first)
    answers.write(b"\n")  # ready
    answers.flush()
    while True:
        try:
            reply = {"answer": work(json.loads(tasks.get()))}
        except Exception:
            reply = {"bug": traceback.format_exc()}
        answers.write(json.dumps(reply).encode() + b"\n")
        answers.flush()


def _listen(tasks):
    for line in sys.stdin.buffer:
        tasks.put(line)
    os._exit(0)  # the server has ended
