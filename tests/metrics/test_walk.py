"""A call from labels to an interval: how many modules it crosses, and what it decides how often."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import skuncertain
from skuncertain import ConfusionCounts, confidence_interval, credible_interval

PACKAGE = Path(skuncertain.__file__).parent
DECISIONS = ("check_level", "check_kind", "check_pos_label", "check_prior", "resolve_prior")
LABELS = ["cat"] * 40 + ["dog"] * 60, ["cat"] * 35 + ["dog"] * 55 + ["cat"] * 10


def _walk(function, *arguments, **options):
    """Names of the functions of the package that run, with their number, and their files."""
    calls, files = Counter(), set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            calls[frame.f_code.co_name] += 1
            files.add(path.relative_to(PACKAGE).as_posix())

    function(*arguments, **options)  # what is loaded on demand is loaded
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function(*arguments, **options)
    finally:
        sys.setprofile(before)
    return calls, files


@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize("pos_label", ["cat", "dog"])
def test_credible_interval_decides_everything_once(kind, pos_label):
    calls, files = _walk(credible_interval, *LABELS, metric="f1", kind=kind, pos_label=pos_label)
    assert {name: calls[name] for name in DECISIONS} == dict.fromkeys(DECISIONS, 1)
    assert calls["get_metric"] == 1
    assert calls["positive_index"] == 1
    files -= {"_numerics/shortest_interval.py"}  # the search for an HDI has a module of its own
    assert len(files) < 14, sorted(files)


@pytest.mark.parametrize("metric", ["mcc", "f1_macro", "informedness"])
def test_other_metrics_decide_everything_once(metric):
    calls, _ = _walk(credible_interval, *LABELS, metric=metric, n_draws=100, random_state=0)
    assert {name: calls[name] for name in DECISIONS} == dict.fromkeys(DECISIONS, 1)


def test_positive_class_of_counts():
    counts = ConfusionCounts.from_predictions(*LABELS, pos_label="dog")
    calls, _ = _walk(credible_interval, counts, metric="f1", pos_label="cat")
    assert calls["check_pos_label"] == calls["positive_index"] == 1
    calls, _ = _walk(credible_interval, counts, metric="f1")
    assert calls["check_pos_label"] == 0  # the counts know it


def test_confidence_interval_decides_everything_once():
    calls, _ = _walk(confidence_interval, *LABELS, metric="f1", pos_label="cat")
    assert calls["check_level"] == calls["check_pos_label"] == calls["get_metric"] == 1
