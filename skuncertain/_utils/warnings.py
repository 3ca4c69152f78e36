"""Warnings of this package: raised at the caller's line, collected or silenced, in any thread.

``warnings.catch_warnings`` changes the whole process (before Python 3.14): of two threads in it,
the one that leaves last brings back the filters of the other, for good. What this package
collects or silences are its own warnings, so they pass through `warn_user`, and the scopes around
it belong to one thread.
"""

import functools
import inspect
import os
import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import replace
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Frames that are not the caller's: functools has those of cached properties.
_INNER = (os.path.dirname(os.path.dirname(__file__)) + os.sep, functools.__file__)
_SCOPES: ContextVar[tuple] = ContextVar("skuncertain_warning_scopes", default=())


def warn_user(message: str, category: type[Warning]) -> None:
    """Pass a warning to the innermost scope that wants it, otherwise to the user."""
    for scope in reversed(_SCOPES.get()):
        if issubclass(category, scope.categories):
            scope.take(message, category)
            return
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_INNER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


class silence:
    """Scope in which warnings of some categories, by default of all, are not raised."""

    def __init__(self, *categories: type[Warning]):
        self.categories = categories or (Warning,)
        self._tokens: list[Token] = []

    def take(self, message, category):
        """Ignore a warning."""

    def __enter__(self):
        self._tokens.append(_SCOPES.set((*_SCOPES.get(), self)))
        return self

    def __exit__(self, *error):
        _SCOPES.reset(self._tokens.pop())


class collect(silence):
    """Scope that collects warnings in ``collected`` instead of raising them, each of them once."""

    def __init__(self) -> None:
        super().__init__()
        self.collected: list[tuple[str, type[Warning]]] = []

    def take(self, message, category):
        """Collect a warning."""
        if (message, category) not in self.collected:
            self.collected.append((message, category))

    @property
    def texts(self):
        """Texts of the warnings, each of them once."""
        return list(dict.fromkeys(text for text, _ in self.collected))


class collect_into(collect):
    """Scope that raises its warnings when it ends, and adds their texts to a given list."""

    def __init__(self, texts: list) -> None:
        super().__init__()
        self.into = texts

    def __exit__(self, *error):
        super().__exit__(*error)
        if error[0] is not None:
            return
        self.into += [text for text in self.texts if text not in self.into]
        for text, category in self.collected:
            warn_user(text, category)


def remember_warnings(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the texts of the warnings in the attribute `warnings` of the result."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        texts: list = []
        with collect_into(texts):
            result = function(*args, **kwargs)
        return replace(result, warnings=tuple(texts)) if texts else result  # type: ignore[type-var]

    return wrapper


# --------------------------------------------------------------------------------------------------
# Warnings of other packages

_LOCK = threading.RLock()
_FOREIGN = {"inside": 0, "filters": None}


@contextmanager
def silence_foreign():
    """Drop the warnings of the whole process, until the last thread has left.

    This is for learners that are fitted thousands of times. The last thread restores the filters
    that the first one has found.
    """
    with _LOCK:
        if not _FOREIGN["inside"]:
            _FOREIGN["filters"] = warnings.catch_warnings()
            _FOREIGN["filters"].__enter__()
            warnings.simplefilter("ignore")
        _FOREIGN["inside"] += 1
    try:
        yield
    finally:
        with _LOCK:
            _FOREIGN["inside"] -= 1
            if not _FOREIGN["inside"]:
                _FOREIGN["filters"].__exit__(None, None, None)


@contextmanager
def collect_foreign():
    """Record the warnings of the whole process; one thread at a time."""
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
