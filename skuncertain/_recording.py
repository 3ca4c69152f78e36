"""Results that remember the warnings that were given while they were made."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def recorded(texts: list, stacklevel: int = 4) -> Iterator[None]:
    """Give warnings to the caller, each once, and add their texts to a list."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts += [text for w in caught if (text := str(w.message)) not in texts]
    once = {(warning.category, str(warning.message)): warning.message for warning in caught}
    for (category, _), message in once.items():
        warnings.warn(message, category, stacklevel=stacklevel)


def remember_warnings(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the texts of the warnings in the attribute `warnings` of the result."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        texts: list = []
        with recorded(texts):
            result = function(*args, **kwargs)
        return replace(result, warnings=tuple(texts)) if texts else result  # type: ignore[type-var]

    return wrapper
