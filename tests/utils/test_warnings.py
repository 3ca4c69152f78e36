"""Warnings reach the user, at the user's line, whatever other threads do."""

import functools
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare_paired,
    confidence_interval,
    interval_report,
)
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.model_selection import fold_posterior
from skuncertain.monitoring import SequentialPosterior

SILENT = ConfusionCounts.from_binary(tp=0, fn=5, fp=0, tn=9)  # precision is 0/0
X, Y = make_classification(200, 5, flip_y=0.2, random_state=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: SILENT.score("precision"),
        lambda: SILENT.posterior("precision"),
        lambda: confidence_interval(SILENT, metric="precision", method="wilson"),
        lambda: fold_posterior(
            ConfusionCounts(np.tile(np.asarray(SILENT.counts), (3, 1, 1))), "precision"
        ),
        lambda: compare_paired([0, 0, 0], [0, 1, 0], [0, 0, 0], metric="recall", labels=[0, 1]),
    ],
)
def test_warnings_point_at_the_line_of_the_user(call):
    with pytest.warns(UndefinedMetricWarning) as caught:
        call()
    assert {w.filename for w in caught} == {__file__}


def test_warnings_of_cached_properties_point_at_the_line_of_the_user():
    watch = SequentialPosterior("f1_macro", labels=[0, 1, 2])
    with pytest.warns(SmallSampleWarning) as caught:
        repr(watch.update([0, 1, 2], [0, 1, 1]))
    assert {w.filename for w in caught} == {__file__}


def _reports(k):
    """Results that warn, keep warnings and drop them."""
    counts = ConfusionCounts.from_binary(tp=0, fn=5 + k, fp=0, tn=9)
    folds = ConfusionCounts(np.tile(np.asarray(counts.counts), (3, 1, 1)))
    report = interval_report(counts, random_state=0)
    return report.to_json(), fold_posterior(folds, "recall", method="averaged").interval()


def _fits(k):
    """Two estimators fitted at once must not share anything."""
    bcv = BayesianCrossValidator(GaussianNB(), cv=3 + k, random_state=0).fit(X, Y)
    return [bcv.interval(metric) for metric in ("precision", "f1", "mcc")], str(bcv.report())


@pytest.mark.parametrize("work", [_reports, _fits])
def test_threads_leave_each_other_alone(work):
    alone = [work(k) for k in range(2)]
    before = warnings.filters[:], warnings.showwarning
    barrier = threading.Barrier(4)

    def together(k):
        barrier.wait()
        return [work((k + j) % 2) for j in range(4)]

    with warnings.catch_warnings(), ThreadPoolExecutor(4) as pool:
        results = list(pool.map(together, range(4)))
        if work is _reports:  # scikit-learn's cross_validate is not so careful
            assert (warnings.filters[:], warnings.showwarning) == before
    for k, found in enumerate(results):
        assert found == [alone[(k + j) % 2] for j in range(4)]
    with pytest.warns(UndefinedMetricWarning):
        SILENT.score("precision")


def test_a_warning_of_one_thread_is_not_kept_by_another():
    """One thread warns while another makes a report, whose warnings are kept and not given."""
    inside, leave = threading.Event(), threading.Event()

    class Slow(str):
        def __str__(self):
            inside.set()
            assert leave.wait(60)
            return "slow"

    def report():
        return interval_report(SILENT, target_names=[Slow(), "b"]).to_dict()["warnings"]

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(report)
        assert inside.wait(60)
        with pytest.warns(UndefinedMetricWarning, match="precision"):
            SILENT.score("precision")
        leave.set()
        assert (
            future.result()
            == interval_report(SILENT, target_names=["a", "b"]).to_dict()["warnings"]
        )


def test_a_warning_that_is_an_error_is_raised():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UndefinedMetricWarning):
            SILENT.posterior("precision")
        report = functools.partial(interval_report, SILENT)
        assert report().to_dict()["warnings"]  # listed, not given
