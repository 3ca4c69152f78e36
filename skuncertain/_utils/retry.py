"""Parallel work that is run again when one of its worker processes has died."""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from typing import TypeVar

from skuncertain._utils.warnings import warn_user

Result = TypeVar("Result")

# A process that died (out of memory, a machine that went away) takes its tasks with it, and joblib
# its whole call: loky says BrokenExecutor, dask says CancelledError.
_WORKER_LOST = (BrokenExecutor, CancelledError)
_ATTEMPTS = 3


def retry_lost_workers(run: Callable[[], Result], remedy: str) -> Result:
    """Result of ``run()``, called again if a worker was lost; `remedy` is for the warning.

    Where every attempt has lost one, what joblib raised the last time is raised, with a note.
    """
    for attempt in range(2, _ATTEMPTS + 1):
        try:
            return run()
        except _WORKER_LOST as error:
            warn_user(
                f"a worker was lost ({type(error).__name__}: {str(error)[:100]}...): {remedy}, "
                f"attempt {attempt} of {_ATTEMPTS}.",
                RuntimeWarning,
            )
    try:
        return run()
    except _WORKER_LOST as error:
        error.add_note(
            f"A worker was lost in each of {_ATTEMPTS} attempts. n_jobs=1 needs no workers and "
            "shows what ends them; if memory does, fewer jobs help."
        )
        raise
