"""A small run of the fuzzing harness in tools/fuzz, and the harness itself."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

if importlib.util.find_spec("pandas") is None:  # tables are among the inputs
    pytest.skip("the harness makes tables of pandas", allow_module_level=True)

from skuncertain.posteriors import BetaPosterior
from tools.fuzz import extremes, families, inverses, outputs, runner, shortest, spellings
from tools.fuzz.checks import check_quantiles
from tools.fuzz.guided import WATCHED, lines_of, search
from tools.fuzz.readers import SEEDS
from tools.fuzz.runner import FAMILIES, Family, Tally, Violation, judge, require, run_chunk
from tools.fuzz.source import HypothesisSource, Source, shrink

# Cases of every family: a stack counts as many as it holds matrices. All of them together take less
# than a minute.
CASES = {
    "stack_of_proportions": 4000,
    "stack_of_two_classes": 150,
    "stack_of_many_classes": 250,
    "one_matrix": 25,
    "shapes_of_betas": 1500,
    "proportions": 1000,
    "labels": 40,
    "confidence": 600,
    "counts_arithmetic": 60,
    "joint": 60,
    "own_metrics": 60,
    "folds": 30,
    "comparisons": 25,
    "leaderboards": 8,
    "searches": 8,
    "cross_validations": 10,
    "scorers": 15,
    "rankings": 20,
    "rankings_of_classes": 20,
    "thresholds": 20,
    "reports": 6,
    "planning": 4,
    "monitoring": 4,
    "studies": 40,
    "tables": 150,
    "shortest_intervals": 60,
    "shortest_of_betas": 500,
    "inverses": 60,
    "tiny_comparisons": 30,
    "spelled_numbers": 150,
    "spreadsheet_cells": 20,
    "groups": 40,
    "wrong_arguments": 2000,
    "wrong_arguments_of_methods": 500,
    "unknown_keywords": 400,
    "wrong_matrices": 400,
    "damaged_files": 2500,
    "command_line": 60,
    "output_over_input": 40,
    "extreme_weights": 60,
    "unusual_labels": 100,
    "huge_scores": 100,
    "nested_files": 60,
    "many_keys": 2,
}
# Extreme inputs that can be answered: these may be refused, but need not be.
MEANINGFUL = ("extreme_weights", "unusual_labels", "huge_scores", "nested_files")


def test_every_family_has_a_share():
    assert set(CASES) == set(FAMILIES)
    assert families.describe() == f"{len(CASES)} families"
    assert sum(CASES.values()) > 10_000


@pytest.mark.parametrize("name", sorted(CASES))
def test_no_violation(name, global_random_seed):
    tally, calls = Tally(), 0
    while tally.cases[name] < CASES[name]:
        tally.add(run_chunk(name, global_random_seed, calls, calls + 1, shrinking=False))
        calls += 1
        assert tally.violations == []
    refused = sum(
        number for (_, outcome), number in tally.outcomes.items() if outcome.endswith("Error")
    )
    if not FAMILIES[name].malformed:  # valid inputs are answered, most of them at least
        assert refused <= 0.6 * tally.cases[name]
    elif name not in ("wrong_matrices", "unknown_keywords", *MEANINGFUL):
        assert refused >= 0.5 * tally.cases[name]  # malformed ones are mostly refused


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), name=st.sampled_from(["one_matrix", "wrong_arguments", "counts_arithmetic"]))
def test_hypothesis_finds_no_violation(data, name):
    assert judge(FAMILIES[name], HypothesisSource(data))[2] is None


def test_guided_search_finds_no_violation(global_random_seed):
    corpus, outcomes, violations, _ = search(1500, global_random_seed, SEEDS)
    assert violations == []
    assert outcomes["read"] > 0
    assert len(corpus) >= len(SEEDS)


def test_guided_search_watches_the_readers():
    watched = {Path(name).name for name in WATCHED}
    assert {"csv_counts.py", "tables.py", "search_results.py"} <= watched
    assert lines_of(0, b"y,yhat\n1,1\n")[1]


# --------------------------------------------------------------------------------------------------
# A harness that cannot find anything proves nothing.


def _family(make, **options):
    return Family("test", make, 1.0, **{"malformed": False, "refusals": False} | options)


def _division(source):
    return 1 / source.below(1)


def _storm(source):
    import warnings

    for _ in range(20):
        warnings.warn("again and again", UserWarning, stacklevel=1)


def _forever(source):
    while True:
        pass


def _sleep(source):
    import time

    time.sleep(30)


def _many(source):
    import warnings

    for k in range(100):
        warnings.warn(f"number {k}", UserWarning, stacklevel=1)


def _numpy(source):
    np.log(np.zeros(1))


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_division, "ZeroDivisionError"),
        (_storm, "a storm of 20 warnings"),
        (_numpy, "warning RuntimeWarning"),
        (_many, "a storm of 100 different warnings"),
        (_forever, "hang"),
        (_sleep, "hang"),
        (lambda source: require(False, "broken"), "broken"),
        (lambda source: int("x"), "refused: ValueError"),
    ],
)
def test_violations_are_found(make, what):
    number, outcome, broken = judge(_family(make), Source(0), limit=0.05)
    assert (number, outcome) == (1, "violation")
    assert broken.startswith(what)


def test_refusals_are_proper_answers_to_bad_input():
    assert judge(_family(lambda source: int("x"), malformed=True, refusals=True), Source(0)) == (
        1,
        "ValueError",
        None,
    )


def test_violations_shrink_and_replay(monkeypatch):
    def make(source):
        values = [source.below(1000) for _ in range(source.below(20))]
        if sum(values) > 700:
            raise Violation(f"too much: [{sum(values)}]")

    monkeypatch.setitem(FAMILIES, "test", _family(make))
    tally = run_chunk("test", 0, 0, 50)
    assert tally.violations
    line = tally.violations[0]
    assert runner.replay(line) == "too much: [701]"
    assert '"choices": [1, 701]' in line


def test_shrinking_keeps_what_it_needs():
    assert shrink([5, 9, 3], lambda choices: len(choices) > 1 and choices[1] >= 4) == [0, 4]


# The properties, of answers that are wrong.


class _Wrong:
    """A Beta posterior of which one method answers something else."""

    def __init__(self, **answers):
        self._answers = answers
        self._right = BetaPosterior(8.0, 3.0)

    def __getattr__(self, name):
        return self._answers.get(name) or getattr(self._right, name)


def _interval(low, high):
    return lambda level, kind: (np.float64(low), np.float64(high))


RIGHT = BetaPosterior(8.0, 3.0)


def test_right_answers_pass():
    shortest.check_shortest(_Wrong(), 0.9)
    inverses.check_monotone(_Wrong())
    check_quantiles(_Wrong())
    spellings.check_refusal("'1' and '+1' are one number", {1: {"1", "+1"}})


@pytest.mark.parametrize(
    ("ends", "what"),
    [
        (RIGHT.quantile([0.05, 0.90]), "hdi with too little mass"),
        (RIGHT.quantile([0.05, 0.97]), "hdi with too much mass"),
        (RIGHT.quantile([0.01, 0.91]), "hdi longer than the equal-tailed one"),
        ((RIGHT.quantile(0.1), np.inf), "out of range"),
        # no mass to speak of below the interval, nor at its beginning
        ((0.001, RIGHT.quantile(0.9)), "hdi longer than the equal-tailed one"),
    ],
)
def test_wrong_intervals_are_found(ends, what):
    with pytest.raises(Violation, match=what):
        shortest.check_shortest(_Wrong(interval=_interval(*ends)), 0.9)


def test_intervals_that_end_without_mass_are_found():
    def quantile(p):  # so wide that the length is not what is wrong
        return np.where(np.asarray(p) < 0.5, 0.0, 1.0)

    wrong = _Wrong(interval=_interval(0.001, RIGHT.quantile(0.9)), quantile=quantile)
    with pytest.raises(Violation, match="no mass at the low end"):
        shortest.check_shortest(wrong, 0.9)


def test_wrong_distribution_functions_are_found():
    with pytest.raises(Violation, match="cdf falls"):
        inverses.check_monotone(_Wrong(cdf=lambda x: 0.5 + 0.1 * np.sin(50 * np.asarray(x))))
    with pytest.raises(Violation, match="cdf"):
        check_quantiles(_Wrong(quantile=lambda p: RIGHT.quantile(np.asarray(p) * 0.999)))


def test_vague_refusals_of_spellings_are_found():
    with pytest.raises(Violation, match="without two spellings"):
        spellings.check_refusal("'+1' is no label", {1: {"1", "+1"}})


def test_formulas_are_found(monkeypatch):
    from skuncertain import ConfusionCounts, interval_report

    labels = ["a", "=1+1"]
    made = interval_report(ConfusionCounts([[3, 1], [1, 4]], labels=labels), random_state=0)
    monkeypatch.setattr(type(made), "to_csv", lambda self, section=None: "name,x\n=1+1,0.5\n")
    monkeypatch.setattr(outputs, "report_of", lambda source: made)
    with pytest.raises(Violation, match="a formula in CSV"):
        outputs.spreadsheet_cells(Source(0))


def test_lost_inputs_are_found(monkeypatch):
    def overwrite(argv):
        Path(argv[-1]).write_text("gone")
        return 0

    monkeypatch.setattr(outputs, "main", overwrite)
    found = [judge(FAMILIES["output_over_input"], Source(seed))[1:] for seed in range(8)]
    assert {outcome for outcome, _ in found} == {"violation", "valid"}  # new names are written to
    assert all("written over" in broken for outcome, broken in found if outcome == "violation")


@pytest.mark.parametrize(("seconds", "outcome"), [((0.01, 3.0), "violation"), ((0.01, 0.03), None)])
def test_slow_readers_are_found(monkeypatch, seconds, outcome):
    took = iter(seconds)
    monkeypatch.setattr(extremes, "spent", lambda *_: next(took))
    found = judge(FAMILIES["many_keys"], Source(0))[1]
    assert found == (outcome or "TableFileError")
