"""Warnings of this package: given at the caller's line, kept or dropped, in any thread.

``warnings.catch_warnings`` changes the whole process (before Python 3.14): of two threads in it,
the one that leaves last brings back the filters of the other, for good. What this package wants to
keep or to drop are its own warnings, so they pass through `warn_user`, and the scopes around it
belong to one thread.
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
_INNER = (os.path.dirname(__file__) + os.sep, functools.__file__)
_SCOPES: ContextVar[tuple] = ContextVar("skuncertain_warning_scopes", default=())


def warn_user(message: str, category: type[Warning]) -> None:
    """Give a warning to the innermost scope that wants it, otherwise to the user."""
    for scope in reversed(_SCOPES.get()):
        if issubclass(category, scope.categories):
            scope.take(message, category)
            return
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_INNER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


class dropped:
    """Scope in which warnings of these categories, or all, are not given."""

    def __init__(self, *categories: type[Warning]):
        self.categories = categories or (Warning,)
        self._tokens: list[Token] = []

    def take(self, message, category):
        """Do nothing with it."""

    def __enter__(self):
        self._tokens.append(_SCOPES.set((*_SCOPES.get(), self)))
        return self

    def __exit__(self, *error):
        _SCOPES.reset(self._tokens.pop())


class kept(dropped):
    """Scope that keeps warnings instead of giving them: ``found``, without repetitions."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, type[Warning]]] = []

    def take(self, message, category):
        """Keep it."""
        if (message, category) not in self.found:
            self.found.append((message, category))

    @property
    def texts(self):
        """What they say."""
        return list(dict.fromkeys(text for text, _ in self.found))


class recorded(kept):
    """Scope that gives warnings when it ends, and adds their texts to a list."""

    def __init__(self, texts: list) -> None:
        super().__init__()
        self.into = texts

    def __exit__(self, *error):
        super().__exit__(*error)
        if error[0] is not None:
            return
        self.into += [text for text in self.texts if text not in self.into]
        for text, category in self.found:
            warn_user(text, category)


def remember_warnings(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the texts of the warnings in the attribute `warnings` of the result."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        texts: list = []
        with recorded(texts):
            result = function(*args, **kwargs)
        return replace(result, warnings=tuple(texts)) if texts else result  # type: ignore[type-var]

    return wrapper


# --------------------------------------------------------------------------------------------------
# Warnings of others

_LOCK = threading.RLock()
_OTHERS = {"inside": 0, "filters": None}


@contextmanager
def others_silenced():
    """Drop the warnings of the whole process, until the last thread has left.

    For learners that are fitted thousands of times. Filters come back as they were before the first
    thread came in.
    """
    with _LOCK:
        if not _OTHERS["inside"]:
            _OTHERS["filters"] = warnings.catch_warnings()
            _OTHERS["filters"].__enter__()
            warnings.simplefilter("ignore")
        _OTHERS["inside"] += 1
    try:
        yield
    finally:
        with _LOCK:
            _OTHERS["inside"] -= 1
            if not _OTHERS["inside"]:
                _OTHERS["filters"].__exit__(None, None, None)


@contextmanager
def others_kept():
    """Record the warnings of the whole process; one thread at a time."""
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
