"""Ctrl-C, full disks, and estimators that fail: clear messages, and what was done is kept."""

import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    interval_report,
    search_posterior,
)
from skuncertain.coverage import BinomialPopulation, coverage_study
from skuncertain.metrics import auc_posterior, intervals_at_thresholds
from skuncertain.model_selection import CrossValPosterior

X, Y = make_classification(120, 5, flip_y=0.1, random_state=0)
CHECKPOINT = "study.jsonl"
REPORT = interval_report(ConfusionCounts([[40, 6], [9, 45]]), random_state=0)


# --------------------------------------------------------------------------------------------------
# Ctrl-C


class Interrupted(GaussianNB):
    """Classifier during whose fit someone presses Ctrl-C, from the third fit on."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Interrupted.fits += 1
        if Interrupted.fits >= 3:
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_ctrl_c_during_cross_validation(error_score, monkeypatch):
    monkeypatch.setattr(Interrupted, "fits", 0)
    bcv = BayesianCrossValidator(Interrupted(), cv=10, error_score=error_score)
    with pytest.raises(KeyboardInterrupt):  # no attempt to run the folds again, no NaN score
        bcv.fit(X, Y)
    assert Interrupted.fits == 3
    assert not hasattr(bcv, "result_")
    with pytest.raises(AttributeError, match="not fitted"):
        bcv.intervals_  # noqa: B018
    # The same object can be fitted afterwards.
    monkeypatch.setattr(Interrupted, "fits", -1000)
    assert bcv.fit(X, Y).counts_.n.sum() == len(Y)


def test_ctrl_c_during_a_coverage_study_keeps_what_was_done(tmp_path):
    path = tmp_path / CHECKPOINT
    population = BinomialPopulation(np.linspace(0.1, 0.9, 9))
    seen = []

    def slow(counts):
        seen.append(len(counts.counts))
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)
        share = counts.score("recall", zero_division=0.0)
        return share - 0.1, share + 0.1

    arguments = {"n": 20, "n_replications": 50, "random_state": 0, "checkpoint": path}
    with pytest.raises(KeyboardInterrupt):
        coverage_study({"slow": slow}, population, **arguments)
    before = len(seen)
    left = [name.name for name in tmp_path.iterdir()]
    assert all(name == CHECKPOINT for name in left)  # no half-written file beside it
    resumed = coverage_study({"slow": slow}, population, **arguments)
    whole = coverage_study({"slow": slow}, population, **{**arguments, "checkpoint": None})
    np.testing.assert_array_equal(resumed.coverage, whole.coverage)
    assert before == 3


def test_ctrl_c_during_the_analysis_of_a_search(monkeypatch):
    results = {f"split{k}_test_score": np.linspace(0.7, 0.8, 30) + 0.01 * k for k in range(5)}
    results["params"] = [{"C": k} for k in range(30)]
    before = {key: np.array(value) for key, value in results.items()}

    def generator(seed=None):
        signal.raise_signal(signal.SIGINT)

    found = search_posterior(results, n_repeats=1, random_state=0)
    monkeypatch.setattr(np.random, "default_rng", generator)
    with pytest.raises(KeyboardInterrupt):
        found.p_best  # noqa: B018
    monkeypatch.undo()
    for key, value in before.items():
        np.testing.assert_array_equal(results[key], value)  # what was given is as it was
    assert found.p_best.sum() == pytest.approx(1)  # asked once more


PROGRAM = """
import numpy as np, sys, time
from sklearn.naive_bayes import GaussianNB
from skuncertain import BayesianCrossValidator

class Slow(GaussianNB):
    def fit(self, X, y):
        print("fitting", flush=True)
        time.sleep(60)
        return super().fit(X, y)

rng = np.random.default_rng(0)
BayesianCrossValidator(Slow(), cv=5).fit(rng.normal(size=(50, 2)), np.arange(50) % 2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_real_ctrl_c_ends_the_program():
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    try:
        assert program.stdout.readline() == "fitting\n"
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=30)
    finally:
        program.kill()
    assert err.strip().endswith("KeyboardInterrupt")
    assert program.returncode != 0


# --------------------------------------------------------------------------------------------------
# Full disks


@contextmanager
def full_disk():
    """Files cannot grow beyond 1 kB: what a write gets then is the error of a full disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize("suffix", [".html", ".md", ".json", ".txt"])
def test_a_full_disk_leaves_the_old_report(tmp_path, suffix):
    path = tmp_path / f"report{suffix}"
    path.write_text("the old report", encoding="utf-8")
    with full_disk(), pytest.raises(OSError, match="report") as caught:
        REPORT.save(path)
    assert caught.value.errno == errno.EFBIG
    assert path.read_text(encoding="utf-8") == "the old report"
    assert [name.name for name in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_during_a_study(tmp_path):
    population = BinomialPopulation(np.linspace(0.01, 0.99, 300))
    arguments = {"n": [10, 20, 30], "checkpoint": tmp_path / CHECKPOINT}
    with full_disk(), pytest.raises(OSError, match=CHECKPOINT):
        coverage_study(["wilson"], population, **arguments)
    assert [name.name for name in tmp_path.iterdir()] in ([], [CHECKPOINT])
    resumed = coverage_study(["wilson"], population, **arguments)  # once there is space again
    whole = coverage_study(["wilson"], population, n=[10, 20, 30])
    np.testing.assert_array_equal(resumed.coverage, whole.coverage)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_a_reader_never_sees_half_a_report(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    REPORT.save(path)
    seen = []
    ordinary = os.replace

    def replace(source, target):
        seen.append(json.loads(path.read_text(encoding="utf-8")))
        return ordinary(source, target)

    monkeypatch.setattr(os, "replace", replace)
    REPORT.save(path)
    assert len(seen) == 1  # the whole old one, until the new one is complete
    assert seen[0] == json.loads(path.read_text(encoding="utf-8"))


# --------------------------------------------------------------------------------------------------
# Estimators that fail


class Faulty(ClassifierMixin, BaseEstimator):
    """Right half of the time; something is wrong in the fold that tests `row`, or in all."""

    def __init__(self, fault, row=0):
        self.fault = fault
        self.row = row

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.broken_ = self.row is None or self.row not in X[:, 0]
        if self.fault == "fit" and self.broken_:
            raise RuntimeError("singular matrix, of all things")
        return self

    def predict(self, X):
        said = self.classes_[(X[:, 0].astype(int) % 2)]
        if not self.broken_:
            return said
        if self.fault == "predict":
            raise RuntimeError("out of range")
        return {
            "short": said[:-1],
            "column": np.stack([said, said], axis=1),
            "nan": np.where(np.arange(len(said)) == 0, np.nan, said),
            "unknown": np.where(np.arange(len(said)) == 0, 7, said),
            "text": said.astype(str),
            "none": None,
        }.get(self.fault, said)

    def predict_proba(self, X):
        probability = np.full((len(X), 2), 0.5)
        if self.fault == "nan probabilities" and self.broken_:
            probability[0] = np.nan
        return probability[:-1] if self.fault == "short probabilities" else probability


ROWS = np.arange(60.0)[:, None]
CLASSES = np.arange(60) // 2 % 2
CV = KFold(5)


def _fit(fault, row=0, **options):
    return BayesianCrossValidator(
        Faulty(fault, row), cv=CV, refit=False, random_state=0, **options
    ).fit(ROWS, CLASSES)


def test_a_fold_that_fails_to_fit_is_named():
    with pytest.raises(RuntimeError, match="singular matrix"):
        _fit("fit")


@pytest.mark.parametrize("fault", ["fit", "predict"])
@pytest.mark.parametrize("fold", [0, 3])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_other_folds_are_kept(fault, fold, n_jobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _fit(fault, row=12 * fold, error_score=np.nan, n_jobs=n_jobs)
    texts = [str(warning.message) for warning in caught]
    assert any(f"folds [{fold}] of 5" in text for text in texts)
    if n_jobs is None:  # otherwise the reason is said in the worker
        reason = {"fit": "singular matrix", "predict": "out of range"}[fault]
        assert any(reason in text for text in texts)
    assert found.counts_.shape == (4,)
    assert found.result_.failed_folds == (fold,)
    low, high = found.interval("accuracy")
    assert 0 < low < high < 1
    assert "0" in str(found.report())  # and the report can be made


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_all_folds_fail():
    with pytest.raises(ValueError, match=r"[Aa]ll .*fail"):
        _fit("fit", error_score=np.nan, row=None)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("short", "same length"),
        ("column", "y_pred"),
        ("nan", "y_pred.*missing"),
        ("unknown", "y_pred holds the label 7"),
        ("text", "y_pred"),
        ("none", "y_pred"),
    ],
)
def test_wrong_predictions_are_named(fault, text):
    with pytest.raises((ValueError, TypeError), match=text):
        _fit(fault)
    for fold in (0, 4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _fit(fault, row=12 * fold, error_score=np.nan)
        assert any(re.search(text, str(warning.message)) for warning in caught)
        assert found.result_.failed_folds == (fold,)
        assert found.counts_.shape == (4,)


def test_nan_probabilities_are_named():
    found = _fit("nan probabilities", keep_predictions=True)
    assert found.counts_.n.sum() == len(CLASSES)  # labels are counted: these are right
    for ask in (auc_posterior, intervals_at_thresholds):
        with pytest.raises(ValueError, match=r"(?i)score.*nan|nan.*score"):
            ask(CLASSES, found)


def test_probabilities_of_the_wrong_shape_are_named():
    with pytest.raises(ValueError, match=r"predict_proba|scores|rows"):
        auc_posterior(CLASSES, _fit("short probabilities", keep_predictions=True))


def test_a_result_with_a_failed_fold_can_be_read_afterwards():
    from sklearn.model_selection import cross_validate

    with pytest.warns(FitFailedWarning):
        results = cross_validate(
            Faulty("fit"),
            ROWS,
            CLASSES,
            cv=CV,
            return_estimator=True,
            return_indices=True,
            error_score=np.nan,
        )
    with pytest.warns(FitFailedWarning, match=r"folds \[0\] of 5"):
        posterior = CrossValPosterior.from_cv_results(results, ROWS, CLASSES)
    assert posterior.failed_folds == (0,)
    assert posterior.counts.shape == (4,)
