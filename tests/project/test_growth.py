"""Work must not grow faster than the algorithms: calls, evaluations and bytes are counted.

No clock is read. Calls are counted by the interpreter, bytes by tracemalloc (numpy reports to it).
"""

import sys
import tracemalloc
from collections import Counter

import numpy as np
import pytest

from skuncertain import ConfusionCounts, confidence_interval, credible_interval, search_posterior
from skuncertain._numerics.gamma_draws import class_draws
from skuncertain.metrics import auc_posterior
from skuncertain.model_selection import fold_posterior
from skuncertain.posteriors._draws import default_draws


def calls(function):
    """Python calls during one call of `function`, by (module, name)."""
    found = Counter()

    def count(frame, event, _):
        if event == "call":
            found[frame.f_globals.get("__name__", ""), frame.f_code.co_name] += 1

    function()  # caches are filled
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def peak(function):
    """Bytes allocated at the peak of one call."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class CountedNumbers:
    """Generator that counts the random numbers that it is asked for."""

    def __init__(self):
        self.rng, self.n = np.random.default_rng(0), 0

    def __getattr__(self, name):
        method = getattr(self.rng, name)

        def counted(*args, **kwargs):
            found = method(*args, **kwargs)
            self.n += np.size(found)
            return found

        return counted


def _matrices(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.multinomial(500, [0.5, 0.1, 0.1, 0.3], size=shape).reshape(*shape, 2, 2)


def _labels(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return y, np.where(rng.random(n) < 0.9, y, 1 - y)


def _scores(m):
    scores = np.random.default_rng(0).normal(0.8, 0.03, (m, 10))
    return {f"split{k}_test_score": scores[:, k] for k in range(10)}


def test_the_counter_sees_loops():
    def loop(n):
        return [ConfusionCounts(matrix).posterior("f1").interval() for matrix in _matrices(n)]

    few, many = (calls(lambda n=n: loop(n)).total() for n in (10, 100))
    assert many > 8 * few


@pytest.mark.parametrize("metric", ["accuracy", "f1", "recall"])
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_closed_forms_take_as_many_calls_for_a_stack_as_for_a_few(metric, kind):
    def run(n):
        counts = ConfusionCounts(_matrices(n))
        return calls(lambda: counts.posterior(metric).interval(kind=kind)).total()

    assert run(5000) <= 1.3 * run(10)


def test_integrals_are_evaluated_in_chunks():
    def run(n):
        counts = ConfusionCounts(_matrices(n))
        return calls(lambda: counts.posterior("balanced_accuracy").interval()).total()

    assert run(5000) < 20 * run(10)  # 10,000 quantiles are 20 chunks of 512


@pytest.mark.parametrize(
    "metric",
    ["balanced_accuracy", "g_mean", "lr+", "lr-", "dor", "f2", "g_score", "prevalence_threshold"],
)
@pytest.mark.parametrize(
    "cells", [(80, 12, 9, 150), (4, 1, 2, 13), (26, 0, 2, 6), (3000, 300, 600, 9000)]
)
def test_an_exact_interval_takes_few_evaluations_of_its_integral(metric, cells):
    counts = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    found = calls(lambda: counts.posterior(metric).interval())
    evaluations = found["skuncertain._numerics.beta_pairs", "cdf"]
    assert 1 <= evaluations <= 6, evaluations  # both ends at once; six was the number of a secant


@pytest.mark.parametrize("metric", ["mcc", "kappa"])
@pytest.mark.parametrize("cells", [(80, 12, 9, 150), (4, 1, 2, 13), (3000, 300, 600, 9000)])
def test_a_double_integral_is_mostly_evaluated_roughly(metric, cells):
    counts = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    found = calls(lambda: counts.posterior(metric).interval())
    assert 1 <= found["skuncertain._numerics.beta_rates", "cdf"] <= 2
    assert 1 <= found["skuncertain._numerics.beta_rates", "rough_cdf"] <= 7


def test_rows_are_counted_without_copies_of_all_cells():
    def run(n):
        y, pred = _labels(n)
        return peak(lambda: credible_interval(y, pred, metric="f1"))

    small, large = run(100_000), run(1_000_000)
    assert large <= 10.5 * small
    assert large <= 6 * 2 * 8 * 1_000_000  # a few arrays like the two that were given


def test_calls_do_not_depend_on_the_rows():
    def run(n):
        y, pred = _labels(n)
        return calls(lambda: credible_interval(y, pred, metric="f1")).total()

    assert run(100_000) <= 1.05 * run(1000)


def test_a_bootstrap_of_counts_does_not_feel_the_rows():
    def run(n):
        counts = ConfusionCounts(_matrices()[()] * n)
        return peak(
            lambda: confidence_interval(counts, metric="f1", method="bootstrap", random_state=0)
        )

    assert run(10_000) <= 1.05 * run(1)


def test_an_area_needs_a_few_arrays_of_scores():
    def run(n):
        y, _ = _labels(n)
        score = y + np.random.default_rng(0).normal(size=n)
        return peak(lambda: auc_posterior(y, score).interval())

    assert run(400_000) <= 4.2 * run(100_000)


def test_folds_and_candidates_are_linear_in_memory_and_constant_in_calls():
    def folds(k):
        counts = ConfusionCounts(_matrices(k))
        return lambda: fold_posterior(counts, "f1").interval()

    def candidates(m):
        return lambda: search_posterior(_scores(m), n_repeats=1, random_state=0)

    assert calls(folds(5000)).total() <= 1.3 * calls(folds(50)).total()
    assert peak(folds(50_000)) <= 10.5 * peak(folds(5000))
    assert calls(candidates(20_000)).total() <= 12 * calls(candidates(2000)).total()
    assert peak(candidates(20_000)) <= 11 * peak(candidates(2000))


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")
def test_draws_of_many_classes_fit_into_a_fixed_memory():
    rng = np.random.default_rng(0)
    sizes = []
    for n_classes in (30, 300):
        matrix = rng.poisson(0.05, (n_classes, n_classes)) + np.diag(rng.poisson(30, n_classes) + 5)
        counts = ConfusionCounts(matrix)
        sizes.append(peak(lambda counts=counts: counts.posterior("f1_macro", n_draws=200)))
        assert default_draws(n_classes**2, 1) == (20_000 if n_classes == 30 else 1000)
        assert counts.posterior("f1_macro").n_draws is None
    assert sizes[1] < 60 * 2**20  # all draws at once would be 137 MiB
    assert sizes[1] < 100 * sizes[0]


@pytest.mark.parametrize("n_classes", [2, 10, 50])
def test_opposite_errors_are_one_number(n_classes):
    shapes, n = np.full((n_classes, n_classes), 2.0), 100
    for folded, cells in ((True, n_classes * (n_classes + 1) // 2), (False, n_classes**2)):
        rng = CountedNumbers()
        class_draws(rng, shapes, n, folded)
        assert rng.n == n * cells


def test_empty_cells_cost_few_numbers():
    n_classes, n = 300, 50
    shapes = np.full((n_classes, n_classes), 1 / n_classes**1.5) + 20 * np.eye(n_classes)
    shapes[:, 0] += 1.0
    rng = CountedNumbers()
    class_draws(rng, shapes, n, folded=True)
    drawn = n * (2 * n_classes - 1)  # the diagonal, and the errors with class 0
    empty = n * (n_classes - 1) * (n_classes - 2) / 2
    chance = 1 - 1e-20 ** (2 * shapes[1, 2])  # of not being next to nothing: a 60th
    # A gap, a uniform number and a gamma variate each, and a few gaps too many.
    assert drawn < rng.n < drawn + 1.1 * 3 * chance * empty
    assert rng.n < 0.1 * n * n_classes**2


def test_draws_of_a_search_are_made_in_parts():
    scores = _scores(10_000)
    for n_draws in (1000, 3000):
        parts = peak(lambda n=n_draws: search_posterior(scores, n_repeats=1, n_draws=n))
        assert parts < 50 * 2**20  # all draws at once would be 76 and 229 MiB
