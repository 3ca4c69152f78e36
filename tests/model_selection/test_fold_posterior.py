"""Fold methods against published values, closed forms, plain loops and simulation."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    FoldDisagreementWarning,
    SmallSampleWarning,
)
from skuncertain.metrics import get_metric, make_metric
from skuncertain.model_selection import fold_interval, fold_posterior

TP, FP, FN, TN = np.array(
    [(12, 3, 4, 21), (10, 5, 6, 19), (14, 2, 2, 22), (9, 6, 7, 18), (13, 4, 3, 20)]
).T
FOLDS = ConfusionCounts.from_binary(tp=TP, fp=FP, fn=FN, tn=TN)

# Computed independently of this package, K = 5, prior 1, 95 %.
GOLDEN = [
    ("precision", {"omega": "wang_li"}, 0.602556, 0.846538),
    ("precision", {"method": "averaged", "prior_per_fold": True}, 0.585738, 0.826854),
    ("precision", {"method": "averaged"}, 0.603549, 0.848537),
    ("precision", {"method": "t"}, 0.606103, 0.876446),
    ("precision", {"method": "corrected_t"}, 0.494486, 0.988063),
    ("precision", {"estimand": "algorithm"}, 0.581026, 0.857438),
    ("precision", {"estimand": "final"}, 0.556740, 0.868666),
    ("recall", {"omega": "wang_li"}, 0.584796, 0.830847),
    ("recall", {"method": "averaged", "prior_per_fold": True}, 0.573220, 0.812903),
    ("recall", {"estimand": "algorithm"}, 0.544947, 0.851843),
    ("f1", {"estimand": "algorithm"}, 0.577761, 0.847603),
]


@pytest.mark.parametrize(("metric", "options", "low", "high"), GOLDEN)
def test_golden_values(metric, options, low, high):
    np.testing.assert_allclose(fold_interval(FOLDS, metric, **options), (low, high), atol=1.01e-6)


def test_golden_omega():
    for metric, omega in (("precision", 0.460545), ("recall", 0.373899)):
        about = fold_posterior(FOLDS, metric, estimand="algorithm").diagnostics
        assert about.omega == pytest.approx(omega, abs=1e-6)
        # Folds that disagree no more than chance, and models that nobody knows: as published.
        assert fold_posterior(FOLDS, metric).diagnostics.omega == pytest.approx(0.6, rel=1e-12)


# Distribution of the average of five independent fold posteriors, before any moment matching
# (mean, 2.5 % and 97.5 % quantiles); for F1 the prior is on each of TP, FP and FN.
AVERAGE_FOLDS = ConfusionCounts.from_binary(
    tp=[10, 9, 11, 8, 10], fp=[2, 3, 1, 2, 4], tn=[20, 19, 21, 20, 18], fn=[3, 4, 2, 5, 3]
)
AVERAGES = {
    "precision": (0.758929, 0.657127, 0.848427),
    "recall": (0.706667, 0.603841, 0.800518),
    "specificity": (0.858333, 0.792798, 0.913596),
    "accuracy": (0.816216, 0.758596, 0.867801),
    "jaccard": (0.612195, 0.512038, 0.708003),
    "f1": (0.723942, 0.638486, 0.8004),
}


@pytest.mark.parametrize("metric", AVERAGES)
def test_average_exact(metric):
    posterior = fold_posterior(AVERAGE_FOLDS, metric, method="average_exact")
    assert posterior.exact
    found = posterior.mean(), *posterior.interval()
    np.testing.assert_allclose(found, AVERAGES[metric], atol=1.01e-6)


def test_average_exact_next_to_the_end_agrees_with_draws(global_random_seed):
    # Hardly an error: the other way of adding up Betas, here for F1 as well.
    tp, errors = np.array([30, 28, 31]), np.array([0, 0, 1])
    folds = ConfusionCounts.from_binary(tp=tp, fp=errors, fn=0 * tp, tn=40 + 0 * tp)
    rng = np.random.default_rng(global_random_seed)
    for metric, prior_b, odds in (("precision", 0.5, 1.0), ("f1", 1.0, 2.0)):
        posterior = fold_posterior(folds, metric, method="average_exact", prior=0.5)
        x = rng.beta(tp + 0.5, errors + prior_b, size=(400_000, 3))
        mean = (odds * x / (1 + (odds - 1) * x)).mean(axis=1)
        for q in (0.025, 0.5, 0.975):
            share = np.mean(mean <= posterior.quantile(q))
            assert share == pytest.approx(q, abs=4 * np.sqrt(q * (1 - q) / 400_000))


# --------------------------------------------------------------------------------------------------
# omega


def needed_by_hand(binomial, between, stratified, fewest, k, n_repeats, estimand):
    """Variance from the folds alone: nothing is known of their models."""
    shared, blind = (1 + 1 / n_repeats) / 2, 2 / (2 + fewest)
    published = 2 * k / (k + 1)
    factor = 1 + shared * max(published - 1, k / (k - 1) * blind)
    usual = stats.chi2.ppf(0.9, k - 1) / (k - 1)
    fitted = factor * binomial + 1.5 * max(0.0, between - usual * binomial)
    if estimand == "fitted":
        return fitted
    needed = binomial + k / (k - 1) * shared * max(between, blind * binomial)
    if estimand == "final":
        needed += (1.0 if n_repeats >= 5 else 0.5) * k * max(0.0, between - stratified)
    return max(fitted, needed)


def omega_by_loops(folds, metric, positive, n_repeats, estimand):
    """The definition, cell by cell, with numerical derivatives at counts + 1/2."""
    metric = get_metric(metric)
    k = len(folds) / n_repeats
    pooled = folds.sum(axis=0) / n_repeats
    base = pooled + 0.5
    slope = np.empty_like(base)
    for cell in np.ndindex(base.shape):
        step = np.zeros_like(base)
        step[cell] = 1e-4
        change = metric(base + step, positive=positive) - metric(base - step, positive=positive)
        slope[cell] = change / 2e-4
    binomial = (base * slope**2).sum()
    between = 0.0
    for fold in folds:
        u = (fold * slope).sum() - fold.sum() / pooled.sum() * (pooled * slope).sum()
        between += k / (k - 1) * u**2 / n_repeats
    stratified = sum(
        (row * d**2).sum() - (row * d).sum() ** 2 / row.sum()
        for row, d in zip(base, slope, strict=True)
    )
    fewest = min(np.trace(pooled), pooled.sum() - np.trace(pooled))
    needed = needed_by_hand(binomial, between, stratified, fewest, k, n_repeats, estimand)
    return binomial / needed


NO_PAIRS = [
    "balanced_accuracy",
    "mcc",
    "cohen_kappa",
    "cohen_kappa_linear",
    "informedness",
    "markedness",
    "g_mean",
    "g_score",
    "f2",
    "f0.5",
    "f1_macro",
    "f1_weighted",
    "precision_macro",
    "npv_weighted",
    "positive_likelihood_ratio",
    "diagnostic_odds_ratio",
    "true_positive_odds",
    "false_positive_odds",
    "prevalence_threshold",
]


@pytest.mark.parametrize("metric", NO_PAIRS)
@pytest.mark.parametrize("estimand", ["fitted", "algorithm", "final"])
@pytest.mark.parametrize("n_repeats", [1, 5])
def test_omega_of_metrics_that_are_no_proportion(metric, estimand, n_repeats):
    folds = np.tile(FOLDS.counts, (n_repeats, 1, 1)).astype(float)
    folds += np.random.default_rng(0).integers(0, 3, size=folds.shape)
    found = fold_posterior(
        folds, metric, estimand=estimand, n_repeats=n_repeats, n_draws=10, random_state=0
    )
    expected = omega_by_loops(folds, metric, 1, n_repeats, estimand)
    assert found.diagnostics.omega == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n_repeats", [1, 3, 5])
@pytest.mark.parametrize("estimand", ["fitted", "algorithm", "final"])
@pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.FoldDisagreementWarning"
)  # random folds
def test_omega_of_proportions(n_repeats, estimand):
    # Written from the definition with successes and failures, not through derivatives.
    rng = np.random.default_rng(1)
    folds = rng.integers(1, 30, size=(4 * n_repeats, 2, 2)).astype(float)
    (tn, fp), (fn, tp) = np.moveaxis(folds, 0, -1)
    k = 4
    for metric, a, b in (
        ("recall", tp, fn),
        ("precision", tp, fp),
        ("f1", tp, fp + fn),
        ("accuracy", tp + tn, fp + fn),
    ):
        hits, misses = a.sum() / n_repeats, b.sum() / n_repeats
        n = hits + misses
        rate = (hits + 0.5) / (n + 1)
        binomial = rate * (1 - rate) / n
        repetitions = ((a - hits / n * (a + b)) ** 2).reshape(n_repeats, k)
        between = np.mean(k / (k - 1) * repetitions.sum(axis=1) / n**2)
        stratified = np.nan
        if estimand == "final":
            if metric in ("f1", "accuracy"):
                continue  # covered by the derivative form
            t, f = tp.sum() / n_repeats + 0.5, fp.sum() / n_repeats + 0.5
            r = t / ((tp + fn).sum() / n_repeats + 1)
            q = f / ((fp + tn).sum() / n_repeats + 1)
            p = t / (t + f)
            stratified = {
                "recall": binomial,
                "precision": p**2 * (1 - p) ** 2 * ((1 - r) / t + (1 - q) / f),
            }[metric]
        fewest = min(hits, misses)
        needed = needed_by_hand(binomial, between, stratified, fewest, k, n_repeats, estimand)
        posterior = fold_posterior(folds, metric, estimand=estimand, n_repeats=n_repeats)
        omega = binomial / needed
        assert posterior.diagnostics.omega == pytest.approx(omega, rel=1e-12)
        np.testing.assert_allclose(
            (posterior.a, posterior.b), (omega * hits + 1, omega * misses + 1), rtol=1e-12
        )


def test_omega_needs_no_positive_class_in_every_fold():
    folds = [[[8, 2], [0, 0]], [[7, 1], [3, 9]], [[9, 0], [2, 8]]]
    posterior = fold_posterior(folds, "recall")
    assert 0 < posterior.diagnostics.omega < 1
    with pytest.warns(UndefinedMetricWarning, match="no case in 1 of 3 folds"):
        averaged = fold_posterior(folds, "recall", method="averaged")
    without = fold_posterior(folds[1:], "recall", method="averaged")
    assert averaged.interval() == without.interval()


def test_a_fold_without_predicted_positives_as_published():
    # Wang and Li's formulas by hand: Beta(5, 2), Beta(6, 3) and, for the empty fold, Beta(1, 1).
    folds = [[[9, 1], [2, 4]], [[8, 2], [1, 5]], [[10, 0], [6, 0]]]
    e = (5 / 7 + 6 / 9 + 1 / 2) / 3
    delta = (10 / (49 * 8) + 18 / (81 * 10) + 1 / 12) / 3
    v = delta / 3 * (1 + 2 / 3)  # rho = 1/K
    size = (e - e**2 - v) / v
    expected = stats.beta(e * size, (1 - e) * size).ppf([0.025, 0.975])
    assert expected.round(3).tolist() == [0.304, 0.895]
    with pytest.warns(UndefinedMetricWarning, match="1 of 3 folds: they count as their prior"):
        published = fold_posterior(folds, "precision", method="averaged", prior_per_fold=True)
    np.testing.assert_allclose(published.interval(), expected, rtol=1e-9)
    with pytest.warns(UndefinedMetricWarning, match="left out and K is adjusted"):
        shared = fold_posterior(folds, "precision", method="averaged")
    two = fold_posterior(folds[:2], "precision", method="averaged")
    assert shared.interval() == two.interval()
    # The average itself has the same mean; its folds are taken as independent.
    with pytest.warns(UndefinedMetricWarning, match="count as their prior"):
        exact = fold_posterior(folds, "precision", method="average_exact")
    assert exact.mean() == pytest.approx(e, abs=1e-9)
    assert exact.std() == pytest.approx(np.sqrt(delta / 3), abs=1e-7)
    # Without a prior an empty fold has no posterior, whoever gets it.
    with pytest.warns(UndefinedMetricWarning, match="left out"):
        none = fold_posterior(folds, "precision", method="averaged", prior=0.0, prior_per_fold=True)
    assert none.mean() == pytest.approx((4 / 5 + 5 / 7) / 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("per_fold", [False, True])
def test_folds_without_any_case_average_to_the_prior(per_fold):
    never = [[[9, 0], [2, 0]]] * 4
    found = fold_posterior(never, "precision", method="averaged", prior_per_fold=per_fold)
    assert (found.a, found.b) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["recall", "balanced_accuracy", "f1_macro", "mcc"])
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")
def test_omega_does_not_depend_on_the_number_of_classes(metric):
    # One stable error rate: about half of the needed variance comes from the folds, whatever C.
    rng = np.random.default_rng(0)
    for n_classes in (2, 10, 30):
        p = np.full((n_classes, n_classes), 0.1 / (n_classes * (n_classes - 1)))
        np.fill_diagonal(p, 0.9 / n_classes)
        shape = (200, 10, n_classes, n_classes)
        folds = rng.multinomial(60, p.ravel(), size=shape[:2]).reshape(shape)
        options = {"pos_label": 1} if metric == "recall" else {}
        posterior = fold_posterior(
            folds, metric, estimand="algorithm", n_draws=1, random_state=0, **options
        )
        assert 0.4 < np.median(posterior.diagnostics.omega) < 0.6


def test_metric_of_ones_own():
    own = make_metric(lambda p: p[..., 0, 0] + p[..., 1, 1], name="own", range=(0, 1))
    posterior = fold_posterior(FOLDS, own, random_state=0)
    expected = omega_by_loops(FOLDS.counts.astype(float), "accuracy", 1, 1, "fitted")
    assert posterior.diagnostics.omega == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="Use omega='wang_li'"):
        fold_posterior(np.ones((2, 101, 101), dtype=int), own, n_draws=1)


# --------------------------------------------------------------------------------------------------
# The other methods


def test_t_methods_are_those_of_scipy():
    values = TP / (TP + FN)
    low, high = fold_interval(FOLDS, "recall", method="t", level=0.9)
    expected = stats.t.interval(0.9, 4, values.mean(), values.std(ddof=1) / np.sqrt(5))
    np.testing.assert_allclose((low, high), expected, rtol=1e-12)
    spread = values.std(ddof=1) / np.sqrt(5) / np.sqrt(1 - 0.5)
    expected = stats.t.interval(0.95, 4, values.mean(), spread)
    found = fold_interval(FOLDS, "recall", method="corrected_t", rho=0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nadeau_bengio_with_unequal_folds():
    scores = np.array([0.8, 0.85, 0.7, 0.9])
    n_test = np.array([10, 20, 30, 40])
    found = fold_interval(scores, method="nadeau_bengio", n_train=100 - n_test, n_test=n_test)
    scale = scores.std(ddof=1) * np.sqrt(1 / 4 + np.mean(n_test / (100 - n_test)))
    np.testing.assert_allclose(found, stats.t.interval(0.95, 3, scores.mean(), scale), rtol=1e-12)
    # From counts the sizes are known: the folds partition the rows.
    counts = np.array([[[n - n // 4, n // 4], [n // 5, n - n // 5]] for n in n_test])
    sizes = counts.sum(axis=(1, 2))
    found = fold_interval(counts, "accuracy", method="nadeau_bengio")
    again = fold_interval(
        counts, "accuracy", method="nadeau_bengio", n_train=sizes.sum() - sizes, n_test=sizes
    )
    assert found == again


def test_correlated_t_with_repetitions():
    # scikit-learn's example of statistical comparison: n = all fold scores, not n_train + n_test.
    scores = np.random.default_rng(0).normal(0.8, 0.05, size=100)
    found = fold_posterior(scores, method="nadeau_bengio", n_repeats=10, n_train=90, n_test=10)
    scale = scores.std(ddof=1) * np.sqrt(1 / 100 + 1 / 9)
    np.testing.assert_allclose((found.df, found.scale), (99, scale), rtol=1e-12)
    # Plain t: repeating the same rows makes no further folds.
    found = fold_posterior(scores, method="t", n_repeats=10)
    np.testing.assert_allclose((found.df, found.scale), (9, scores.std(ddof=1) / np.sqrt(10)))


def test_student_posterior_answers_like_scipy():
    posterior = fold_posterior([0.7, 0.8, 0.75, 0.9], method="t")
    reference = stats.t(3, posterior.loc, posterior.scale)
    x = np.array([0.5, 0.78, 1.1])
    np.testing.assert_allclose(posterior.cdf(x), reference.cdf(x), rtol=1e-10)
    np.testing.assert_allclose(posterior.pdf(x), reference.pdf(x), rtol=1e-10)
    np.testing.assert_allclose(posterior.quantile([0.1, 0.9]), reference.ppf([0.1, 0.9]))
    assert posterior.std() == pytest.approx(reference.std())
    assert posterior.mean() == pytest.approx(0.7875)
    draws = posterior.sample(50_000, random_state=0)
    assert np.mean(draws <= reference.ppf(0.2)) == pytest.approx(0.2, abs=0.01)
    assert posterior.interval(kind="hdi") == posterior.interval(kind="eti")


def test_scores_without_variance_or_value():
    with pytest.warns(DegenerateIntervalWarning, match="no width"):
        low, high = fold_interval([0.8, 0.8, 0.8], method="t")
    assert low == high == pytest.approx(0.8)
    with pytest.warns(UndefinedMetricWarning, match="1 of 4 folds"):
        found = fold_interval([0.7, np.nan, 0.8, 0.9], method="t")
    assert found == fold_interval([0.7, 0.8, 0.9], method="t")
    with pytest.raises(ValueError, match="at least two folds, got 1"):
        fold_interval([0.7, np.nan], method="t")
    with pytest.warns(UndefinedMetricWarning, match="1 of 4 folds"):
        low, high = fold_interval([[0.7, np.nan], [0.7, 0.8]], method="corrected_t")
    assert np.isnan(low[0])
    assert (low[1], high[1]) == fold_interval([0.7, 0.8], method="corrected_t")
    with pytest.warns(DegenerateIntervalWarning, match="leaves its range"):
        fold_interval([[[9, 0], [0, 9]], [[8, 1], [0, 9]]], "accuracy", method="t")
    infinite = [[[9, 0], [2, 9]], [[8, 1], [1, 9]]]
    with pytest.warns(UndefinedMetricWarning, match="infinite in a fold"):
        assert np.isnan(fold_posterior(infinite, "lr+", method="t").interval().low)


def test_averaged_matches_the_moments_of_the_fold_posteriors():
    with pytest.raises(ValueError, match="needs a metric with a finite range"):
        fold_posterior(FOLDS, "lr+", method="averaged")
    for metric, (low, high) in (("mcc", (-1, 1)), ("balanced_accuracy", (0, 1))):
        found = fold_posterior(FOLDS, metric, method="averaged", prior_per_fold=True, rho=0.3)
        each = FOLDS.posterior(metric)  # the default prior on every fold
        variance = np.mean(np.square(each.std())) / 5 * (1 + 4 * 0.3)
        assert found.mean() == pytest.approx(np.mean(each.mean()), abs=1e-9)
        assert found.std() == pytest.approx(np.sqrt(variance), rel=1e-6)
        assert low <= found.interval().low < found.interval().high <= high
        middle = found.median()
        assert found.cdf(middle) == pytest.approx(0.5)
        width = 1e-4
        slope = (found.cdf(middle + width) - found.cdf(middle - width)) / (2 * width)
        assert found.pdf(middle) == pytest.approx(slope, rel=1e-4)
        draws = found.sample(20_000, random_state=0)
        assert draws.mean() == pytest.approx(found.mean(), abs=5 * found.std() / np.sqrt(20_000))


def test_averaged_warns_about_folds_of_hardly_any_row():
    single = [[[1, 0], [0, 0]], [[0, 0], [0, 1]], [[0, 1], [0, 0]]] * 5
    with pytest.warns(SmallSampleWarning, match="more than a few rows"):
        fold_interval(single, "accuracy", method="averaged")


def test_average_exact_of_drawn_metrics():
    found = fold_posterior(FOLDS, "mcc", method="average_exact", random_state=0)
    each = FOLDS.posterior("mcc")
    assert found.mean() == pytest.approx(np.mean(each.mean()), abs=4 * found.std() / np.sqrt(2e4))
    spread = np.sqrt(np.sum(np.square(each.std()))) / 5
    assert found.std() == pytest.approx(spread, rel=0.03)
    with pytest.raises(ValueError, match="n_repeats=5"):
        fold_posterior(FOLDS, "mcc", method="average_exact", n_repeats=5)


def test_dirichlet_and_bootstrap_are_those_of_the_pooled_counts():
    pooled = FOLDS.sum()
    found = fold_interval(FOLDS, "mcc", method="dirichlet")
    assert found == pooled.posterior("mcc", prior=1.0).interval()
    found = fold_interval(FOLDS, "precision", method="dirichlet", prior="jeffreys")
    assert found == pooled.posterior("precision", prior="jeffreys").interval()
    boot = fold_posterior(FOLDS, "recall", method="bootstrap", random_state=0)
    again = fold_posterior(FOLDS, "recall", method="bootstrap", random_state=0)
    np.testing.assert_array_equal(boot.draws, again.draws)
    # Successes are binomial given the positives, which vary as well: delta method, 2 % off.
    p, n = pooled.score("recall"), 80
    assert boot.std() == pytest.approx(np.sqrt(p * (1 - p) / n), rel=0.03)
    perfect = ConfusionCounts([[[9, 0], [0, 9]], [[9, 0], [0, 9]]])
    with pytest.warns(DegenerateIntervalWarning, match="cannot produce what was not observed"):
        fold_posterior(perfect, "recall", method="bootstrap", random_state=0)


# --------------------------------------------------------------------------------------------------
# Ends, sizes and stacks


def test_perfect_and_hopeless_folds():
    perfect = np.array([[[9, 0], [0, 7]], [[8, 0], [0, 9]], [[5, 0], [0, 9]]])
    for metric in ("accuracy", "f1", "mcc", "balanced_accuracy"):
        posterior = fold_posterior(perfect, metric)
        assert posterior.diagnostics.omega == pytest.approx(1 / (1 + 3 / 2))  # independent folds
        low, high = posterior.interval()
        assert 0.5 < low < 1
        assert high == 1
    low, high = fold_interval(perfect[:, ::-1], "recall")
    assert low == 0
    assert high == pytest.approx(stats.beta.ppf(0.975, 1, 22 / 2.5 + 1))  # all 22 were missed


def test_one_fold_and_no_rows():
    one = FOLDS[:1]
    posterior = fold_posterior(one, "recall")
    assert posterior.diagnostics.omega == 1
    assert (posterior.a, posterior.b) == (13, 5)
    assert fold_posterior(one, "mcc").interval() == one[0].posterior("mcc").interval()
    with pytest.warns(UndefinedMetricWarning, match="the answer is the prior"):
        posterior = fold_posterior(np.zeros((3, 2, 2), dtype=int), "recall")
    assert (posterior.a, posterior.b) == (1, 1)


def test_repetitions_count_rows_once():
    twice = np.concatenate([FOLDS.counts, FOLDS.counts])
    for omega in ("wang_li", 0.7):
        found = fold_posterior(twice, "recall", omega=omega, n_repeats=2)
        once = fold_posterior(FOLDS, "recall", omega=omega)
        assert (found.a, found.b) == (once.a, once.b)
    assert fold_posterior(twice, "recall", n_repeats=2).diagnostics.omega > 0.3739
    averaged = fold_interval(twice, "recall", method="averaged", n_repeats=2)
    np.testing.assert_allclose(averaged, fold_interval(FOLDS, "recall", method="averaged"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"omega": "wang_li"},
        {"omega": 0.5},
        {"estimand": "final"},
        {"method": "averaged"},
        {"method": "averaged", "prior_per_fold": True},
        {"method": "average_exact"},
        {"method": "t"},
        {"method": "corrected_t"},
        {"method": "nadeau_bengio"},
        {"method": "dirichlet"},
        {"prior": "jeffreys"},
        {"prior": [[1, 0.5], [0.25, 2]]},
    ],
)
@pytest.mark.parametrize("metric", ["precision", "f1", "balanced_accuracy"])
@pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.FoldDisagreementWarning"
)  # random folds
@pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.DegenerateIntervalWarning"
)  # t beyond 1
def test_a_stack_is_answered_like_its_members(metric, options):
    stack = np.random.default_rng(3).integers(2, 40, size=(2, 3, 4, 2, 2))
    together = fold_posterior(stack, metric, **options)
    low, high = together.interval()
    assert low.shape == (2, 3)
    for index in np.ndindex(2, 3):
        alone = fold_posterior(stack[index], metric, **options)
        expected = alone.interval()
        slack = 1e-12 if alone.exact else 6 * alone.monte_carlo_error(0.025)  # two drawn ends
        np.testing.assert_allclose((low[index], high[index]), expected, rtol=1e-9, atol=slack)
        assert together.diagnostics.pooled[index] == pytest.approx(alone.diagnostics.pooled)


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")  # 1e8 rows do
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")
def test_large_counts_and_many_classes():
    big = FOLDS.counts * 10**8
    low, high = fold_interval(big, "f1", omega="wang_li")
    assert 0 < high - low < 1e-3
    rng = np.random.default_rng(0)
    n_classes = 300
    folds = rng.integers(0, 2, size=(3, n_classes, n_classes))
    folds[:, np.arange(n_classes), np.arange(n_classes)] += 50
    for metric in ("accuracy", "balanced_accuracy", "f1_macro"):
        low, high = fold_interval(folds, metric, n_draws=50, random_state=0)
        assert 0 < low < high < 1


def test_labels_and_positive_class():
    folds = ConfusionCounts(FOLDS.counts, labels=["no", "yes"], pos_label="yes")
    assert fold_interval(folds, "recall") == fold_interval(FOLDS, "recall")
    assert fold_interval(folds, "recall", pos_label="no") == fold_interval(FOLDS, "specificity")
    three = np.random.default_rng(0).integers(1, 20, size=(4, 3, 3))
    with pytest.raises(ValueError, match="pos_label"):
        fold_interval(three, "recall")
    one = ConfusionCounts(three).one_vs_rest(2)
    for metric in ("recall", "g_mean"):
        found, expected = fold_interval(three, metric, pos_label=2), fold_interval(one, metric)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.slow
@given(
    arrays(
        np.int64, st.tuples(st.integers(2, 6), st.just(2), st.just(2)), elements=st.integers(0, 50)
    )
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_intervals_are_intervals(folds):
    for metric in ("precision", "recall", "f1", "accuracy", "informedness"):
        for options in ({}, {"omega": "wang_li"}, {"estimand": "final"}, {"kind": "hdi"}):
            posterior_options = {k: v for k, v in options.items() if k != "kind"}
            posterior = fold_posterior(folds, metric, **posterior_options)
            assert 0 < posterior.diagnostics.omega <= 1 + 1e-12
            low, high = fold_interval(folds, metric, **options)
            bottom, top = get_metric(metric).range
            assert bottom <= low < high <= top
            if options != {"kind": "hdi"}:
                assert low <= posterior.median() <= high


# --------------------------------------------------------------------------------------------------
# Disagreement


def test_folds_that_disagree_are_reported_once():
    wild = ConfusionCounts.from_binary(
        tp=[40, 5, 38, 4], fn=[2, 37, 4, 38], fp=[5, 5, 5, 5], tn=[50, 50, 50, 50]
    )
    with pytest.warns(FoldDisagreementWarning, match="recall: .* times the variance") as caught:
        posterior = fold_posterior(wild, "recall")
    assert len(caught) == 1
    assert "held out" in str(caught[0].message)
    assert posterior.diagnostics.p_value < 1e-6
    assert posterior.diagnostics.variance_ratio > 5
    fold_posterior(wild, "recall", method="t")  # looks at the folds themselves: no warning
    assert fold_posterior(FOLDS, "recall").diagnostics.p_value > 0.05


def test_class_counts_that_differ_are_no_disagreement():
    # Error rates per class are the same in all folds, only the mixture of classes differs.
    folds = [[[90, 10], [0, 0]], [[0, 0], [50, 50]], [[45, 5], [25, 25]]]
    assert fold_posterior(folds, "accuracy").diagnostics.p_value == pytest.approx(1)


# --------------------------------------------------------------------------------------------------
# Errors


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((FOLDS, "recall"), {"method": "pool"}, "Did you mean 'pooled'"),
        ((FOLDS, "recall"), {"omega": 0.1}, r"omega must be in \[1/K, 1\] = \[0.2, 1\], got 0.1"),
        ((FOLDS, "recall"), {"omega": 1.2}, r"omega must be in \[1/K, 1\], got 1.2"),
        ((FOLDS, "recall"), {"omega": 0.0}, r"omega must be in \[1/K, 1\], got 0.0"),
        ((FOLDS, "recall"), {"omega": np.nan}, r"omega must be in \[1/K, 1\], got nan"),
        ((FOLDS, "recall"), {"omega": [0.5]}, r"omega must be in \[1/K, 1\], got"),
        ((FOLDS, "recall"), {"omega": "wang"}, "'auto', 'wang_li'; got 'wang'"),
        (
            (FOLDS, "recall"),
            {"omega": "wang_li", "method": "t"},
            "omega is used by method 'pooled'",
        ),
        ((FOLDS, "recall"), {"prior": 2.0, "method": "t"}, "prior is used by"),
        ((FOLDS, "recall"), {"rho": 0.5}, "rho is used by method 'averaged', 'corrected_t' only"),
        ((FOLDS, "recall"), {"rho": 2.0, "method": "averaged"}, "rho must be a number in"),
        ((FOLDS, "recall"), {"rho": 1.0, "method": "corrected_t"}, "rho must be below 1"),
        ((FOLDS, "recall"), {"n_train": 9}, "n_train is used by method 'nadeau_bengio' only"),
        ((FOLDS, "recall"), {"estimand": "all"}, "estimand must be one of"),
        ((FOLDS, "recall"), {"estimand": "final", "omega": 0.5}, "needs omega='auto'"),
        ((FOLDS, "recall"), {"n_repeats": 2}, "n_repeats=2 must divide the number of folds, 5"),
        ((FOLDS, "recall"), {"prior": "shared"}, "is a prior of one matrix"),
        ((FOLDS, "recall"), {"prior": -1}, "prior must be a finite number >= 0"),
        ((FOLDS, "recal"), {}, "Did you mean 'recall'"),
        ((FOLDS[0], "recall"), {}, "one matrix per fold"),
        ((np.ones((2, 2)), "recall"), {}, "one matrix per fold"),
        (([0.5, 0.6], "recal"), {}, "metric of fold scores must be a name that get_metric or"),
        (([0.5, 0.6], np.trace), {}, "metric of fold scores must be a name that get_metric or"),
        (([0.5, 0.6],), {"method": "pooled"}, "'pooled' needs confusion matrices and a metric"),
        (([0.5, 0.6],), {"omega": 1.0}, "omega is used by method 'pooled' only"),
        (([0.5, 0.6],), {"method": "nadeau_bengio", "n_train": 9}, "needs n_test"),
        (([0.5, 0.6, 0.7],), {"n_repeats": 2}, "n_repeats=2 must divide the number of folds, 3"),
        (([0.5, 0.6, 0.7],), {"n_repeats": 2, "method": "t"}, "n_repeats=2 must divide"),
        (([0.5, 0.6],), {"n_repeats": 2}, "1 fold per repetition, so n_test / n_train is not"),
        (([0.5, np.inf],), {}, "infinite scores"),
        (([0.5, 2e100],), {}, "within 1e100"),
        (([0.5, 1.25], "f1"), {}, r"within the range of 'f1', \[0, 1\], got 1.25"),
        (([-0.5, -0.25], "fpr"), {}, "sign changed is called neg_<metric>"),
        (([-0.5, 0.25], "neg_log_loss"), {}, r"\[-inf, 0\], got 0.25"),
        (([0.5, 0.6],), {"method": "nadeau_bengio", "n_train": 9, "n_test": [1, 2, 3]}, "n_test"),
        (([0.5, 0.6],), {"method": "nadeau_bengio", "n_train": 0, "n_test": 3}, "n_train must"),
        ((FOLDS, "recall"), {"level": 95}, "Did you mean 0.95"),
    ],
)
def test_what_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        fold_interval(*arguments, **options)


def test_missing_metric_and_no_numbers():
    with pytest.raises(TypeError, match="metric is missing"):
        fold_posterior(FOLDS)
    with pytest.raises(TypeError, match="array of numbers"):
        fold_posterior(["a", "b"], method="t")


def test_haldane_prior_is_a_point_mass_with_a_warning():
    perfect = [[[9, 0], [0, 7]], [[8, 0], [0, 9]]]
    with pytest.warns(UndefinedMetricWarning, match="puts no mass"):
        posterior = fold_posterior(perfect, "recall", prior=0.0)
    assert posterior.interval() == (1, 1)
    with pytest.raises(ValueError, match="prior above 0"):
        fold_posterior(perfect, "recall", method="averaged", prior=0.0)


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_bootstrap_of_folds_with_infinite_odds(kind):
    folds = [[[240, 0], [0, 242]], [[3, 0], [0, 3]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        posterior = fold_posterior(folds, "dor", method="bootstrap", n_draws=300, random_state=1)
        assert posterior.interval(0.5, kind) == (np.inf, np.inf)  # all draws are


def test_folds_that_agree_have_no_spread():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        posterior = fold_posterior([0.9, 0.9, 0.9], method="t")
        assert posterior.std() == 0
        assert fold_posterior([0.9, 0.9], method="t").mean() == 0.9
