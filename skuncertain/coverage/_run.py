"""Running the tasks of a long study: in parallel, with progress, and so that it can be resumed."""

import errno
import functools
import hashlib
import inspect
import json
import os
import sys
import time
from pathlib import Path

import joblib
import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from skuncertain._utils.files import write_file
from skuncertain._utils.retry import retry_lost_workers
from skuncertain._utils.validation import refuse_if
from skuncertain.exceptions import InvalidParameterError

_SHOW_EVERY = 0.5  # seconds
_BAR, _LINE = 20, 80  # characters
_FIXED = (bool, int, float, str, bytes, tuple, np.ndarray)
_BATCH = 8  # tasks per worker where the backend cannot give back results one by one


class ProgressBar:
    """A bar on stderr, drawn again as tasks are done."""

    def __init__(self, total, verbose):
        self.total, self.verbose, self.done, self.known = total, verbose, 0, 0
        self.start, self.shown = time.monotonic(), 0.0

    def skip(self, number):
        """Count tasks that an earlier run has finished."""
        self.known += number
        self.step(number)

    def step(self, number=1):
        """Count finished tasks."""
        self.done += number
        now = time.monotonic()
        if self.verbose and (now - self.shown > _SHOW_EVERY or self.done == self.total):
            self.shown = now
            text, end = self._text(now - self.start), "\n" if self.done == self.total else ""
            print(f"\r{text}", end=end, file=sys.stderr, flush=True)

    def _text(self, seconds):
        bar = ("#" * (_BAR * self.done // max(self.total, 1))).ljust(_BAR, ".")
        text = f"coverage study: {self.done} of {self.total} tasks [{bar}] {seconds:.0f} s"
        here = self.done - self.known
        left = seconds / here * (self.total - self.done) if here else np.inf
        # Blanks cover the end of a longer text.
        return (text + (f", {left:.0f} s left" if 0 < left < np.inf else "")).ljust(_LINE)


class Checkpoint:
    """Results of finished tasks, kept in a file if there is one.

    A result is a pair: an array of floats and a list of texts. The file holds a line of JSON about
    the study, and one for every finished task, written at once: whatever ends the program, only
    tasks that were not finished are lost. A last line that is torn is left out.
    """

    def __init__(self, path):
        self.path = None if path is None else Path(path)
        self.results: dict = {}
        self.seed = None
        self._stored: dict = {}
        self._length = 0  # of the whole lines
        if self.path is None:
            return
        refuse_if(
            not self.path.parent.is_dir(),
            "checkpoint",
            f"checkpoint must be in a directory that exists, got {str(path)!r}.",
        )
        if self.path.exists() and self.path.stat().st_size:
            self._load()

    def _load(self):
        try:
            content = self.path.read_bytes()
            self._length = content.rfind(b"\n") + 1
            first, *others = content[: self._length].splitlines()
            head = json.loads(first)
            self._stored, self.seed = head["arguments"], head["seed"]
            for line in others:
                task = json.loads(line)
                self.results[task["task"]] = (np.array(task["sums"], dtype=float), task["texts"])
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise InvalidParameterError(
                f"checkpoint {str(self.path)!r} is not the file of a coverage study "
                f"({type(error).__name__}: {error}). Name another file.",
                parameter="checkpoint",
            ) from error

    def open(self, arguments, seed):
        """Refuse a file that belongs to other arguments."""
        self.seed = seed
        if self.path is None:
            return
        if not self.results:
            head = json.dumps({"arguments": arguments, "seed": seed}) + "\n"
            write_file(self.path, head.encode())
            return
        differing = [name for name in arguments if self._stored.get(name) != arguments[name]]
        refuse_if(
            differing,
            "checkpoint",
            f"checkpoint {str(self.path)!r} belongs to another study: {', '.join(differing)} "
            "differ. Repeat the call with the same arguments, name another file, or delete "
            "this one.",
        )
        os.truncate(self.path, self._length)

    def add(self, key, result):
        """Keep a result."""
        self.results[key] = result
        if self.path is None:
            return
        line = {"task": key, "sums": result[0].tolist(), "texts": list(result[1])}
        data = (json.dumps(line) + "\n").encode()
        try:
            with self.path.open("ab", buffering=0) as file:
                if file.write(data) < len(data):  # the torn line is dropped when the study goes on
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise OSError(
                error.errno,
                f"a finished task could not be kept, {error.strerror}; free some space and repeat "
                "the call, it goes on from there",
                str(self.path),
            ) from error


def run_tasks(tasks, n_jobs, checkpoint, progress):
    """Results of the tasks ``{key: (function, arguments)}``, by key."""
    progress.skip(sum(key in checkpoint.results for key in tasks))

    def run_missing():  # finished tasks are kept, so only the others are run again
        missing = {key: task for key, task in tasks.items() if key not in checkpoint.results}
        for key, result in _results(missing, n_jobs):
            checkpoint.add(key, result)
            progress.step()

    retry_lost_workers(run_missing, "its tasks are run again")
    return {key: checkpoint.results[key] for key in tasks}


def _results(tasks, n_jobs):
    """Yield (key, result) as tasks are finished."""
    calls = [delayed(_keyed)(key, *task) for key, task in tasks.items()]
    size = max(1, len(calls))
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:  # this backend gives back whole lists only
        parallel = Parallel(n_jobs=n_jobs)
        size = _BATCH * max(1, joblib.effective_n_jobs(n_jobs))
    for start in range(0, len(calls), size):
        yield from parallel(calls[start : start + size])


def _keyed(key, function, arguments):
    return key, function(*arguments)


def fingerprint(value):
    """Short text that differs for different arguments; functions count with their source."""
    return hashlib.sha256(repr(_described(value)).encode()).hexdigest()[:16]


def _described(value):
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        if array.dtype == object:
            return "array", [_described(item) for item in array.ravel().tolist()]
        return "array", array.shape, str(array.dtype), hashlib.sha256(array.tobytes()).hexdigest()
    if isinstance(value, functools.partial):
        return "partial", _described(value.func), _described(value.args), _described(value.keywords)
    if isinstance(value, dict):
        return "dict", [(str(key), _described(item)) for key, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return type(value).__name__, [_described(item) for item in value]
    if inspect.isroutine(value) or inspect.isclass(value):
        name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        try:
            source = inspect.getsource(value)
        except (OSError, TypeError):  # typed at a prompt, or not written in Python
            code = getattr(value, "__code__", None)
            source = "" if code is None else code.co_code.hex()
        held = inspect.getclosurevars(value).nonlocals if inspect.isfunction(value) else {}
        # Lists and the like may be records that grow while the function works.
        fixed = [(k, _described(v)) for k, v in sorted(held.items()) if isinstance(v, _FIXED)]
        return name, source, fixed
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "get_params") and not inspect.isclass(value):
        return kind, _described(value.get_params(deep=False))
    if hasattr(value, "__dict__") and not hasattr(value, "iloc"):  # data frames hide their data
        return kind, _described(vars(value))
    return kind, joblib.hash(value)
