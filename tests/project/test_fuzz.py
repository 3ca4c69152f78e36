"""A small run of the fuzzing harness in tools/fuzz, and the harness itself."""

import importlib.util

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

if importlib.util.find_spec("pandas") is None:  # tables are among the inputs
    pytest.skip("the harness makes tables of pandas", allow_module_level=True)

from tools.fuzz import families, runner
from tools.fuzz.guided import search
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
    "wrong_arguments": 2000,
    "wrong_arguments_of_methods": 500,
    "unknown_keywords": 400,
    "wrong_matrices": 400,
    "damaged_files": 2500,
    "command_line": 60,
}


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
    elif name not in ("wrong_matrices", "unknown_keywords"):  # malformed ones are mostly refused
        assert refused >= 0.5 * tally.cases[name]


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), name=st.sampled_from(["one_matrix", "wrong_arguments", "counts_arithmetic"]))
def test_hypothesis_finds_no_violation(data, name):
    assert judge(FAMILIES[name], HypothesisSource(data))[2] is None


def test_guided_search_finds_no_violation(global_random_seed):
    corpus, outcomes, violations, _ = search(1500, global_random_seed, SEEDS)
    assert violations == []
    assert outcomes["read"] > 0
    assert len(corpus) >= len(SEEDS)


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
            raise Violation("too much")

    monkeypatch.setitem(FAMILIES, "test", _family(make))
    tally = run_chunk("test", 0, 0, 50)
    assert tally.violations
    line = tally.violations[0]
    assert runner.replay(line) == "too much"
    assert '"choices": [1, 701]' in line


def test_shrinking_keeps_what_it_needs():
    assert shrink([5, 9, 3], lambda choices: len(choices) > 1 and choices[1] >= 4) == [0, 4]
