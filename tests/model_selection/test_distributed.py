"""Other backends of joblib: a dask cluster, and workers that die."""

import os
import signal
import time
import warnings

import joblib
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs, make_classification
from sklearn.naive_bayes import GaussianNB

from skuncertain import BayesianCrossValidator
from skuncertain.coverage import EstimatorPopulation, coverage_study

X, Y = make_classification(400, 8, flip_y=0.1, random_state=0)


def kills_its_worker_once(flag=None):
    """Classifier that kills the process that fits it, the first time that any copy is fitted."""

    class Mortal(GaussianNB):  # a local class travels to the workers by value
        def __init__(self, flag=None):
            super().__init__()
            self.flag = flag

        def fit(self, X, y, sample_weight=None):
            if self.flag is not None:
                try:
                    os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    os.kill(os.getpid(), signal.SIGKILL)
            return super().fit(X, y)

    return Mortal(None if flag is None else str(flag))


@pytest.fixture(scope="module")
def expected():
    return BayesianCrossValidator(kills_its_worker_once(), cv=10, random_state=0).fit(X, Y)


@pytest.fixture
def cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(tmp_path),
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of the worker that dies
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the same
def test_dask_cluster(cluster, expected, tmp_path):
    with joblib.parallel_config(backend="dask"):
        found = BayesianCrossValidator(kills_its_worker_once(), cv=10, random_state=0).fit(X, Y)
    assert found.counts_ == expected.counts_
    assert found.intervals_ == expected.intervals_

    flag = tmp_path / "killed"
    start = time.monotonic()
    mortal = BayesianCrossValidator(kills_its_worker_once(flag), cv=10, refit=False)
    with warnings.catch_warnings(), joblib.parallel_config(backend="dask"):
        # It depends on where the data were whether dask repeats the lost folds, or we do.
        warnings.filterwarnings("ignore", "a worker was lost", RuntimeWarning)
        mortal.fit(X, Y)
    assert flag.exists()
    assert mortal.counts_ == expected.counts_
    assert time.monotonic() - start < 60  # a hang, not a speed, would show here


def blobs(n_samples, random_state):
    return make_blobs(n_samples, centers=[[0, 0], [1, 1]], random_state=random_state)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_coverage_study_on_a_dask_cluster(cluster, tmp_path):
    population = EstimatorPopulation(
        GaussianNB(), blobs, cv=3, estimand="algorithm", n_models=6, n_test=200
    )
    options = {"n": 40, "n_replications": 20, "random_state": 0}
    alone = coverage_study(["pooled", "t"], population, **options)
    file = tmp_path / "study.jsonl"
    with joblib.parallel_config(backend="dask"):
        found = coverage_study(["pooled", "t"], population, checkpoint=file, **options)
    for name in ("coverage", "width", "truth", "truth_error"):
        assert_array_equal(getattr(found, name), getattr(alone, name))
    assert len(file.read_text().splitlines()) == 1 + 2 + 4  # two tasks of models, four of samples


def test_a_local_worker_that_dies(expected, tmp_path):
    mortal = BayesianCrossValidator(
        kills_its_worker_once(tmp_path / "killed"), cv=10, n_jobs=2, refit=False
    )
    with pytest.warns(RuntimeWarning, match=r"a worker was lost .*attempt 2 of 3"):
        mortal.fit(X, Y)
    assert mortal.counts_ == expected.counts_
