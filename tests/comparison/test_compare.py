"""Comparing two models: published values, numerical integration, symmetry and simulation."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, special, stats
from sklearn.datasets import make_moons
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    cross_validate,
)
from sklearn.svm import SVC

from skuncertain import ConfusionCounts, compare, compare_cv, compare_paired
from skuncertain.metrics import make_metric
from skuncertain.posteriors import BetaPosterior

# Caelen (2017), A Bayesian interpretation of the confusion matrix: his two classifiers.
A = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
B = ConfusionCounts.from_binary(tp=50, fn=30, fp=30, tn=35)
# Goutte and Gaussier (2005), A probabilistic interpretation of precision, recall and F-score.
SYSTEM_1 = ConfusionCounts.from_binary(tp=10, fn=5, fp=10, tn=5)
SYSTEM_2 = ConfusionCounts.from_binary(tp=3, fn=3, fp=2, tn=4)
SCORES_A = np.array([0.80, 0.82, 0.79, 0.84, 0.81, 0.83, 0.78, 0.85, 0.80, 0.82])
SCORES_B = np.array([0.82, 0.83, 0.80, 0.83, 0.84, 0.85, 0.80, 0.86, 0.83, 0.81])
OWN = make_metric(  # accuracy, but unknown to the package, so it is drawn
    lambda p: np.trace(p, axis1=-2, axis2=-1) / p.sum(axis=(-2, -1)), name="own", range=(0, 1)
)


def chances(result):
    return result.p_worse, result.p_equivalent, result.p_better


def assert_mirrored(result, swapped, atol=1e-9):
    """Check that (b, a) says the same as (a, b)."""
    np.testing.assert_allclose(np.sum(chances(result), axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(chances(swapped)[::-1], chances(result), atol=atol)
    low, high = result.interval()
    np.testing.assert_allclose(swapped.interval(), (-high, -low), atol=10 * atol)
    np.testing.assert_allclose(swapped.difference.mean(), -result.difference.mean(), atol=atol)


def integral(function, points, low=0.0, high=1.0):
    """Integrate over (low, high), cut where the integrand has kinks or peaks."""
    edges = sorted({low, high, *(p for p in points if low < p < high)})
    options = {"epsabs": 1e-13, "epsrel": 1e-12, "limit": 300}
    return sum(integrate.quad(function, *ends, **options)[0] for ends in pairwise(edges))


def around(distribution):
    return distribution.mean() + distribution.std() * np.array([-20, -8, -3, 0, 3, 8, 20])


# --------------------------------------------------------------------------------------------------
# Published values and values of other programs


def test_correlated_t_test():
    # Corani and Benavoli's correlated t test of these scores (correlated_t_test.json): worse,
    # equivalent, better.
    expected = {
        0.0: (0.03857848260835073, 0, 0.9614215173916493),
        0.01: (0.0032078094028709, 0.3248630197765392, 0.6719291708205899),
    }
    for rope, triple in expected.items():
        result = compare_cv(SCORES_A, SCORES_B, rope=rope)
        swapped = compare_cv(list(SCORES_B), list(SCORES_A), rope=rope)
        np.testing.assert_allclose(chances(result), triple, rtol=0, atol=1e-12)
        np.testing.assert_allclose(chances(swapped), triple[::-1], rtol=0, atol=1e-12)
        ends = -0.001739961616704656, 0.027739961616704632
        np.testing.assert_allclose(result.interval(), ends, rtol=0, atol=1e-12)
        assert_mirrored(result, swapped, atol=1e-12)


def test_grid_search_example_of_scikit_learn():
    # scikit-learn's "Statistical comparison of models using grid search", rbf - linear
    # (sklearn_grid_search_stats.json, scikit-learn 1.9.1).
    data = make_moons(noise=0.352, random_state=1, n_samples=100)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    linear, rbf = (
        cross_validate(
            SVC(kernel=kernel, random_state=0), *data, cv=cv, scoring="roc_auc", return_indices=True
        )
        for kernel in ("linear", "rbf")
    )
    scores = linear["test_score"], rbf["test_score"]
    for a, b, options in ((*scores, {"n_repeats": 10}), (linear, rbf, {})):
        result = compare_cv(a, b, **options)
        found = result.difference
        assert found.df == 99
        np.testing.assert_allclose(
            (found.mean(), found.scale, found.loc / found.scale, result.p_better),
            (0.009999999999999986, 0.013327776619887863, 0.7503126954482318, 0.7725770289866335),
            rtol=0,
            atol=1e-10,
        )
        triple = 0.06831754175730047, 0.43168245824269996, 0.49999999999999956
        found = chances(compare_cv(a, b, rope=0.01, **options))
        np.testing.assert_allclose(found, triple, rtol=0, atol=1e-10)
        for level, ends in (
            (0.5, (0.0009774152876124223, 0.01902258471238755)),
            (0.75, (-0.005422087500795406, 0.02542208750079538)),
            (0.95, (-0.016445200296138635, 0.03644520029613861)),
        ):
            np.testing.assert_allclose(result.interval(level), ends, rtol=0, atol=1e-10)


def agreement(only_a, only_b, both=0, neither=0):
    """Rows of class 1 on which A and B are right that often."""
    pred_a = np.repeat([1, 0, 1, 0], [only_a, only_b, both, neither])
    pred_b = np.repeat([0, 1, 1, 0], [only_a, only_b, both, neither])
    return np.ones(pred_a.size, dtype=int), pred_a, pred_b


def test_goutte_and_gaussier():
    # Exact values (goutte_gaussier_examples.json); their Monte Carlo gave .655, .239 and .426.
    for metric, value in (("precision", 0.652222), ("recall", 0.237182), ("f1", 0.426307)):
        result = compare(SYSTEM_1, SYSTEM_2, metric=metric, prior=0.5)
        assert result.difference.exact
        assert result.p_better == pytest.approx(value, abs=1e-6)
    flat = compare(SYSTEM_1, SYSTEM_2, metric="recall", prior=1.0)
    assert flat.p_better == pytest.approx(1774 / 7429, abs=1e-12)
    for prior, value in ((0.5, 0.796679), (0.25, 0.801306)):
        result = compare_paired(*agreement(8, 5, 37), prior=prior)
        assert result.p_worse == pytest.approx(value, abs=1e-6)


def test_caelen(global_random_seed):
    # P(mcc_A > mcc_B) of true values and of two new test sets, the latter by summing over all
    # 529396 tables (caelen_example.json; the paper has .79).
    result = compare(A, B, metric="mcc", prior="haldane")
    assert result.difference.exact
    assert result.p_worse == pytest.approx(0.8753, abs=5e-5)
    n, seeds = 400_000, np.random.SeedSequence(global_random_seed).generate_state(3)
    new = [
        counts.posterior("mcc", prior="haldane", n_draws=n, random_state=int(seed)).predictive()
        for counts, seed in zip((A, B), seeds, strict=False)
    ]
    result = compare(*new, n_draws=n, random_state=int(seeds[2]))
    # Two sets of draws and the pairs drawn from them: s.e. at most sqrt(3 p (1 - p) / n) = 0.0011.
    error = np.sqrt(3 * 0.7915 * 0.2085 / n)
    assert result.p_worse == pytest.approx(0.7915, abs=4 * error + 5e-5)


# --------------------------------------------------------------------------------------------------
# Symmetry


PROPORTIONS = ["recall", "precision", "npv", "accuracy", "jaccard", "fpr", "error_rate"]


@pytest.mark.parametrize("metric", [*PROPORTIONS, "f1", "balanced_accuracy", "g_score", "mcc"])
def test_swapping_mirrors(metric):
    for rope in (0.0, 0.05) if metric != "mcc" else (0.05,):
        options = {"metric": metric, "rope": rope, "prior": "haldane"}  # MCC: less slow
        result, swapped = compare(A, B, **options), compare(B, A, **options)
        assert result.difference.exact
        assert_mirrored(result, swapped)
        assert (result.p_equivalent > 0.01) == (rope > 0)


def test_swapping_mirrors_what_is_drawn(global_random_seed):
    n = 100_000
    options = {"metric": "f1_macro", "rope": 0.02, "n_draws": n, "random_state": global_random_seed}
    result, swapped = compare(A, B, **options), compare(B, A, **options)
    assert not result.difference.exact
    assert sum(chances(result)) == pytest.approx(1, abs=1e-9)
    for p, q in zip(chances(result), chances(swapped)[::-1], strict=True):
        assert p == pytest.approx(q, abs=4 * np.sqrt(2 * p * (1 - p) / n))  # s.e. below 0.0023


def test_less_can_be_better():
    result = compare(A, B, metric="fpr", rope=0.02)
    fpr_a, fpr_b = stats.beta(35.5, 30.5), stats.beta(30.5, 35.5)
    better = integral(lambda x: fpr_b.cdf(max(x - 0.02, 0)) * fpr_a.pdf(x), around(fpr_a))
    assert result.p_better == pytest.approx(better, abs=1e-10)
    assert not result.greater_is_better
    other = compare(A, B, metric="specificity", rope=0.02)
    np.testing.assert_allclose(chances(result), chances(other), atol=1e-12)
    np.testing.assert_allclose(result.interval(), np.negative(other.interval())[::-1], atol=1e-9)


def test_g_mean_and_prevalence_threshold_where_they_must_agree():
    # 1 - specificity of one is specificity of the other, so r_B s_B > r_A s_A is as likely as
    # r_B / (1 - s_B) > r_A / (1 - s_A), by which the prevalence threshold orders.
    found = [compare(A, B, metric=m).p_better for m in ("g_mean", "prevalence_threshold")]
    assert found[0] == pytest.approx(found[1], abs=1e-7)


@pytest.mark.parametrize("metric", ["recall", "f1", "fpr", "balanced_accuracy", "lr+"])
def test_stacks(metric, global_random_seed):
    stack = ConfusionCounts.from_binary(tp=[65, 50, 10], fn=[15, 30, 4], fp=[35, 30, 3], tn=9)
    n = 50_000
    options = {"metric": metric, "rope": 0.02, "n_draws": n, "random_state": global_random_seed}
    result, swapped = compare(stack, B, **options), compare(B, stack, **options)
    assert np.shape(result.p_better) == result.interval().low.shape == (3,)
    assert "shape=(3,)" in repr(result)
    if result.difference.exact:
        assert_mirrored(result, swapped)
    for k in range(3):
        p = np.array(chances(compare(stack[k], B, **options)))
        slack = 1e-10 if result.difference.exact else 4 * np.sqrt(3 * p * (1 - p) / n) + 1e-4
        assert np.all(np.abs(p - [x[k] for x in chances(result)]) <= slack)


@given(arrays(np.int64, (2, 2, 2), elements=st.integers(0, 300)), st.sampled_from([0.0, 0.01, 0.3]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_comparisons_are_distributions(pair, rope):
    a, b = (ConfusionCounts(matrix) for matrix in pair)
    for metric in ("recall", "f1", "fpr"):
        result = compare(a, b, metric=metric, rope=rope)
        assert all(0 <= p <= 1 for p in chances(result))
        assert_mirrored(result, compare(b, a, metric=metric, rope=rope), atol=1e-8)
        low, high = result.interval()
        assert -1 <= low < result.difference.median() < high <= 1
        same = compare(a, a, metric=metric, rope=rope)
        assert same.p_better == pytest.approx(same.p_worse, abs=1e-9)


# --------------------------------------------------------------------------------------------------
# Exact differences against numerical integration


@pytest.mark.parametrize(
    "shapes",
    [
        *[
            (0.5, 0.5, 0.5, 0.5),
            (1, 1, 1, 1),
            (0.5, 10, 3, 0.5),
            (66, 16, 51, 31),
            (3, 2, 1e4, 0.5),
        ],
        *[(9e3, 1e3, 27, 3), (1e4, 1e4, 1.02e4, 9.9e3), (0.5, 1e4, 0.5, 1e4)],
    ],
)
def test_difference_of_proportions(shapes):
    x, y = stats.beta(*shapes[:2]), stats.beta(*shapes[2:])
    difference = compare(BetaPosterior(*shapes[:2]), BetaPosterior(*shapes[2:])).difference
    mean, sd = y.mean() - x.mean(), np.hypot(x.std(), y.std())
    np.testing.assert_allclose((difference.mean(), difference.std()), (mean, sd), rtol=1e-9)
    for t in np.clip(mean + sd * np.array([-2, -0.3, 0.1, 1, 2.5]), -0.9999, 0.9999):
        below = integral(
            lambda v, t=t: y.cdf(np.clip(v + t, 0, 1)) * x.pdf(v),
            [*around(x), *(around(y) - t), -t, 1 - t],
        )
        assert difference.cdf(t) == pytest.approx(below, abs=1e-8)
        if below < 0.999:
            assert difference.quantile(below) == pytest.approx(t, abs=1e-6 * sd)


@pytest.mark.parametrize(
    "cells",
    [
        *[(8, 5, 37, 0.5), (8, 5, 37, 0.25), (0, 0, 50, 0.5), (0, 3, 10, 2), (2, 1, 0, 0.5)],
        *[(300, 250, 9000, 0.5), (5, 5, 100_000, 0.5), (1, 0, 2, 0.01)],
    ],
)
def test_paired_difference(cells):
    # Only A right, only B right and the rest are Dirichlet: d = D (2 s - 1), D and s Beta.
    *rows, prior = cells
    result = compare_paired(*agreement(*rows), labels=[0, 1], prior=prior)
    only_a, only_b, rest = np.array(rows) + prior * np.array([1, 1, 2])
    assert result.difference.exact
    assert result.p_better == pytest.approx(special.betainc(only_a, only_b, 0.5), abs=1e-12)
    n = only_a + only_b + rest
    mean = (only_b - only_a) / n
    sd = np.sqrt(((only_a + only_b) / n - mean**2) / (n + 1))
    found = result.difference.mean(), result.difference.std()
    np.testing.assert_allclose(found, (mean, sd), rtol=1e-9, atol=1e-15)
    disagree, share = stats.beta(only_a + only_b, rest), stats.beta(only_b, only_a)
    for t in np.clip(mean + sd * np.array([-2, -0.3, 0.1, 1, 2.5]), -0.99, 0.99):
        below = integral(
            lambda d, t=t: share.cdf(np.clip(0.5 * (1 + t / d), 0, 1)) * disagree.pdf(d),
            [*around(disagree), abs(t)],
        )
        assert result.difference.cdf(t) == pytest.approx(below, abs=1e-8)
    swapped = compare_paired(*agreement(rows[1], rows[0], rows[2]), labels=[0, 1], prior=prior)
    assert_mirrored(result, swapped)


def test_difference_of_f1_agrees_with_draws(global_random_seed):
    n, prior = 1_000_000, 0.5
    rng = np.random.default_rng(global_random_seed)
    x = rng.beta(65 + prior, 50 + 2 * prior, n), rng.beta(50 + prior, 60 + 2 * prior, n)
    drawn = 2 * x[1] / (1 + x[1]) - 2 * x[0] / (1 + x[0])
    result = compare(A, B, metric="f1", prior=prior, rope=0.02)
    shares = np.mean(drawn < -0.02), np.mean(abs(drawn) <= 0.02), np.mean(drawn > 0.02)
    for p, share in zip(chances(result), shares, strict=True):
        assert share == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / n))  # s.e. below 0.0005
    assert drawn.mean() == pytest.approx(result.difference.mean(), abs=4 * drawn.std() / 1000)
    assert drawn.std() == pytest.approx(result.difference.std(), rel=4 / np.sqrt(2 * n))


def test_a_sharp_and_a_vague_posterior():
    # 20 million rows against 40: balanced accuracy of the first is 0.65, of the second (u + v) / 2.
    sharp = ConfusionCounts.from_binary(tp=6_000_000, fn=4_000_000, fp=3_000_000, tn=7_000_000)
    vague = ConfusionCounts.from_binary(tp=12, fn=8, fp=6, tn=14)
    u, v = stats.beta(12 + 1 / 3, 8 + 1 / 3), stats.beta(14 + 1 / 3, 6 + 1 / 3)
    above = integral(lambda x: v.sf(2 * 0.7 - x) * u.pdf(x), [*around(u), 0.4])
    result = compare(sharp, vague, metric="balanced_accuracy", rope=0.05)
    assert result.p_better == pytest.approx(above, abs=1e-4)


def test_new_test_sets_can_tie():
    # Hits of 145 rows, beta-binomial: the tie of two such models has probability 0.035.
    new = A.posterior("accuracy").predictive()
    mass = stats.betabinom.pmf(np.arange(146), 145, 95 + 2 / 3, 50 + 2 / 3)
    result = compare(new, new, n_draws=100_000, random_state=0)
    tie = np.sum(mass**2)
    assert result.p_equivalent == pytest.approx(tie, abs=4 * np.sqrt(tie * (1 - tie) / 100_000))
    assert result.p_better == pytest.approx(result.p_worse, abs=0.01)


def test_posteriors_bring_the_direction_of_their_metric():
    # The same with get_metric("expected_cost", cost=...), which takes seconds.
    metric = make_metric(lambda p: p[..., 0, 1], name="o", range=(0, 1), greater_is_better=False)
    posteriors = [counts.posterior(metric, random_state=0) for counts in (A, B)]
    told = compare(*posteriors, metric=metric, random_state=0)
    assert chances(compare(*posteriors, random_state=0)) == chances(told)


def test_the_seed_repeats_the_answer():
    result = compare(A, B, metric=OWN)
    again = compare(A, B, metric=OWN, random_state=result.difference.seed)
    np.testing.assert_array_equal(result.difference.draws, again.difference.draws)


# --------------------------------------------------------------------------------------------------
# The same rows


def three_answers(n, n_classes, seed, rates=(0.85, 0.8)):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return y, *(np.where(rng.random(n) < r, y, rng.integers(n_classes, size=n)) for r in rates)


def test_exact_paired_metrics_and_their_signs():
    y, a, b = three_answers(300, 2, 0)
    right_a, right_b = a == y, b == y
    rows = {"accuracy": y >= 0, "recall": y == 1, "specificity": y == 0}
    opposite = {"accuracy": "error_rate", "recall": "fnr", "specificity": "fpr"}
    for metric, which in rows.items():
        only_a = np.sum(right_a & ~right_b & which) + 0.5
        only_b = np.sum(right_b & ~right_a & which) + 0.5
        result = compare_paired(y, a, b, metric=metric)
        other = compare_paired(y, a, b, metric=opposite[metric])
        assert result.difference.exact
        assert other.difference.exact
        assert result.greater_is_better
        assert not other.greater_is_better
        p = special.betainc(only_a, only_b, 0.5)
        assert result.p_better == pytest.approx(p, abs=1e-12)
        mean = (only_b - only_a) / (which.sum() + 2)
        assert result.difference.mean() == pytest.approx(mean, abs=1e-14)
        assert other.difference.mean() == pytest.approx(-mean, abs=1e-14)
        np.testing.assert_allclose(chances(other), chances(result), atol=1e-12)
    # One class among three.
    y, a, b = three_answers(300, 3, 0)
    result = compare_paired(y, a, b, metric="specificity", pos_label=2)
    same = compare_paired(y == 2, a == 2, b == 2, metric="specificity")
    assert chances(result) == chances(same)


def test_drawn_paired_accuracy_is_the_exact_one(global_random_seed):
    n = 40_000  # s.e. of a probability at most 0.0025
    options = {"rope": 0.01, "n_draws": n, "random_state": global_random_seed}
    for n_classes in (2, 3, 40):
        rows = three_answers(500, n_classes, global_random_seed)
        exact = compare_paired(*rows, rope=0.01)
        for metric in (OWN, "f1_micro"):
            drawn = compare_paired(*rows, metric=metric, **options)
            assert exact.difference.exact
            assert not drawn.difference.exact
            for p, q in zip(chances(exact), chances(drawn), strict=True):
                assert q == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / n) + 5 / n)
            slack = 4 * drawn.difference.monte_carlo_error()
            assert drawn.difference.mean() == pytest.approx(exact.difference.mean(), abs=slack)


def f1_by_hand(matrix, k=1):
    hits = matrix[:, k, k]
    return 2 * hits / (matrix[:, k].sum(axis=1) + matrix[:, :, k].sum(axis=1))


def mcc_by_hand(matrix):
    (tn, fp), (fn, tp) = np.moveaxis(matrix, 0, -1)
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


@pytest.mark.parametrize(
    ("metric", "n_classes", "score"),
    [
        ("f1", 2, f1_by_hand),
        ("mcc", 2, mcc_by_hand),
        ("f1_macro", 3, lambda m: np.mean([f1_by_hand(m, k) for k in range(3)], axis=0)),
    ],
)
def test_drawn_paired_metrics(metric, n_classes, score, global_random_seed):
    # The model written down with loops: half a row on each of four kinds of agreement.
    y, a, b = three_answers(60, n_classes, 3)
    cells = list(np.ndindex(n_classes, n_classes, n_classes))
    kinds = [(i == j, i == k) for i, j, k in cells]
    shapes = [
        np.sum((y == i) & (a == j) & (b == k)) + 0.5 / kinds.count((i == j, i == k))
        for i, j, k in cells
    ]
    n = 100_000
    rng = np.random.default_rng(global_random_seed)
    joint = rng.dirichlet(shapes, size=n).reshape(n, n_classes, n_classes, n_classes)
    drawn = score(joint.sum(axis=2)) - score(joint.sum(axis=3))
    result = compare_paired(
        y, a, b, metric=metric, n_draws=n, random_state=global_random_seed + 1000
    )
    error = np.sqrt(2 * 0.25 / n)  # of the difference of two shares: at most 0.0023
    for t in (-0.1, -0.03, 0.0, 0.05):
        assert result.difference.cdf(t) == pytest.approx(np.mean(drawn <= t), abs=4 * error)
    slack = 4 * np.sqrt(2 / n) * drawn.std()
    assert result.difference.mean() == pytest.approx(drawn.mean(), abs=slack)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [0.0, 1.0]])
def test_kinds_of_labels(labels):
    rows = three_answers(200, 2, 1)
    for metric in ("recall", "f1"):
        options = {"metric": metric, "random_state": 0}
        expected = compare_paired(*rows, **options)
        options["pos_label"] = labels[1] if isinstance(labels[1], str) else None
        found = compare_paired(*(np.array(labels)[part] for part in rows), **options)
        assert chances(found) == chances(expected)
        assert found.interval() == expected.interval()


def test_identical_and_perfect_predictions(global_random_seed):
    y, a, _ = three_answers(200, 2, 2)
    for pred in (a, y):
        for metric in ("accuracy", "recall", "fpr"):
            result = compare_paired(y, pred, pred, metric=metric)
            assert result.p_better == pytest.approx(result.p_worse, abs=1e-12)
            assert result.difference.mean() == 0
            low, high = result.interval()
            assert -0.05 < low < 0 < high < 0.05
            assert -low == pytest.approx(high, abs=1e-9)
        drawn = compare_paired(
            y, pred, pred, metric="mcc", n_draws=20_000, random_state=global_random_seed
        )
        assert drawn.p_better == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(20_000))  # s.e. 0.0035
    sure = compare_paired(y, a, a, prior=0, random_state=0)
    assert chances(sure) == (0, 1, 0)


def test_identical_predictions_with_a_tiny_prior():
    result = compare_paired(*agreement(0, 0, 3), labels=[0, 1], prior=1e-3)
    assert result.p_better == pytest.approx(result.p_worse, abs=1e-9)


def test_a_class_that_never_occurs_warns():
    rows = agreement(3, 5, 20)
    for metric in ("specificity", "fpr"):
        with pytest.warns(UndefinedMetricWarning, match=f"{metric} is 0/0: the class does not"):
            result = compare_paired(*rows, metric=metric)
        assert result.p_better == pytest.approx(0.5, abs=1e-12)
    with pytest.raises(ValueError, match="at least two classes"):
        compare_paired([1, 1], [1, 1], [1, 1])


@pytest.mark.parametrize("n_classes", [34, 35])
def test_one_row_is_no_proof_however_many_classes(n_classes, global_random_seed):
    y = np.arange(400) % n_classes
    a = y.copy()
    a[0] = 1
    expected = compare_paired(y, a, y).p_better  # 0.818
    options = {"metric": "f1_micro", "n_draws": 600, "random_state": global_random_seed}
    error = np.sqrt(expected * (1 - expected) / 600)  # 0.016
    assert compare_paired(y, a, y, **options).p_better == pytest.approx(expected, abs=4 * error)


def test_what_paired_comparisons_refuse():
    y, a, b = three_answers(50, 3, 0)
    for options, message in (
        ({"metric": "recall"}, "Name the class with pos_label"),
        ({"metric": "prevalence"}, "cannot be compared by it"),
        ({"prior": -1}, "prior must be"),
        ({"names": "AB"}, "names must be two names"),
        ({"metric": "f1_macro", "n_draws": 0}, "n_draws"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_paired(y, a, b, **options)
    with pytest.raises(ValueError, match="same length"):
        compare_paired(y, a, b[:-1])


@pytest.mark.slow
def test_pairing_finds_more(global_random_seed):
    # 1000 rows, 6 % disagreement; declared at P > 0.975. Answers depend on the counts only, so
    # each distinct table is asked once.
    rng = np.random.default_rng(global_random_seed)
    n_sim = 8000  # s.e. 0.005 at a power of 0.73, 0.002 at 2.5 %

    def paired(only_a, only_b):
        tables = rng.multinomial(1000, [only_a, only_b, 0.88, 0.06], size=n_sim)
        unique, inverse = np.unique(tables[:, :2], axis=0, return_inverse=True)
        results = [compare_paired(*agreement(i, j, 1000 - i - j)) for i, j in unique]
        answers = np.array([(r.p_worse, r.p_better) for r in results])
        return tables, (answers[inverse.ravel()] > 0.975).mean(axis=0)

    tables, (_, power) = paired(0.02, 0.04)  # accuracies 0.90 and 0.92
    assert power >= 0.70
    right = tables[:, 0] + tables[:, 2], tables[:, 1] + tables[:, 2]
    zero = np.zeros(n_sim, dtype=int)
    a, b = (ConfusionCounts.from_binary(tp=r, fn=1000 - r, fp=zero, tn=zero) for r in right)
    assert np.mean(compare(a, b, metric="accuracy").p_better > 0.975) <= 0.30
    _, alarms = paired(0.03, 0.03)
    assert np.all((alarms >= 0.015) & (alarms <= 0.035))


def test_difference_of_posteriors_that_fill_little_of_their_range(global_random_seed):
    # "The number of derivatives at boundaries does not match", from a spline
    a, b = ConfusionCounts([[34, 0], [221, 0]]), ConfusionCounts([[406702, 0], [21036, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = compare(a, b, metric="mcc")
        one, two = (
            x.posterior("mcc").sample(100_000, global_random_seed + k) for k, x in enumerate((a, b))
        )
    share = np.mean(two > one)
    assert result.p_better == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 100_000))
