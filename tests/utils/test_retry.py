"""Workers that die: again, and not for ever."""

import os
import warnings
from concurrent.futures import BrokenExecutor

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from skuncertain._utils.retry import retry_lost_workers
from skuncertain.model_selection import BayesianCrossValidator


def test_after_three_attempts_the_error_is_raised_with_a_note():
    attempts = []

    def run():
        attempts.append(1)
        raise BrokenExecutor("gone")

    with (
        pytest.warns(RuntimeWarning, match="a worker was lost") as told,
        pytest.raises(BrokenExecutor, match="gone") as caught,
    ):
        retry_lost_workers(run, "it is run again")
    assert len(attempts) == 3
    assert len(told) == 2
    assert "n_jobs=1" in caught.value.__notes__[0]


class Deadly(DummyClassifier):
    """Ends every process but the one that it was made in."""

    def __init__(self, home=None):
        super().__init__()
        self.home = home

    def fit(self, X, y, sample_weight=None):
        if os.getpid() != self.home:
            os._exit(3)
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_a_worker_that_always_dies(error_score):
    y = np.resize([0, 1], 40)
    mortal = BayesianCrossValidator(
        Deadly(os.getpid()), cv=2, n_jobs=2, refit=False, error_score=error_score
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a worker was lost", RuntimeWarning)
        with pytest.raises(BrokenExecutor):
            mortal.fit(y[:, None], y)
