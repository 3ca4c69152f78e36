"""Posteriors of metrics: against published values, other integrators, draws and each other."""

import itertools
import pickle

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc, betaln
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import (
    BetaPosterior,
    ConfusionCounts,
    SmallSampleWarning,
    credible_interval,
    get_metric,
    make_metric,
    metric_posterior,
    prior_from_metrics,
)

CAELEN_A = {"tp": 65, "fn": 15, "fp": 35, "tn": 30}
CAELEN_B = {"tp": 50, "fn": 30, "fp": 30, "tn": 35}
SMALL = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}

EXACT_TWO_CLASSES = [
    "accuracy", "error_rate", "precision", "npv", "recall", "specificity", "fpr", "fnr", "fdr",
    "false_omission_rate", "prevalence", "predicted_positive_rate", "jaccard", "f1", "f0.5", "f2",
    "g_score", "g_mean", "balanced_accuracy", "informedness", "markedness", "matthews_corrcoef",
    "cohen_kappa", "positive_likelihood_ratio", "negative_likelihood_ratio",
    "diagnostic_odds_ratio", "prevalence_threshold", "precision_macro", "recall_macro",
    "recall_weighted", "f1_micro", "jaccard_micro",
]  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Published values


# Tötsch & Hoffmann (2021), Table S1, recomputed exactly: model three-beta, Beta(1, 1) on each of
# prevalence, TPR, TNR. Columns: tp, fn, tn, fp, then 95 % HDIs of TPR, TNR, prevalence and
# informedness, the equal-tailed interval of informedness, and P(informedness < 0).
TOETSCH = """
1 5 0 3 0 0.6070 1.0000 0.4729 1.0000 0.3146 0.8755 0.2630 0.9845 0.1817 0.9513 4.762e-03
2 10 0 3 1 0.7616 1.0000 0.3299 0.9740 0.4671 0.8952 0.2112 0.9270 0.1685 0.8995 2.747e-03
4a 5 1 10 1 0.4727 0.9867 0.6585 0.9945 0.1644 0.5798 0.2561 0.9044 0.2126 0.8773 1.687e-03
5b 8 9 4 1 0.2583 0.6905 0.4094 0.9822 0.5791 0.9092 -0.2022 0.5507 -0.2235 0.5333 1.711e-01
6a 2 12 19 1 0.0267 0.3726 0.7920 0.9974 0.2602 0.5756 -0.1170 0.3280 -0.1112 0.3344 1.854e-01
7a 26 0 6 2 0.8950 1.0000 0.4324 0.9458 0.6091 0.8831 0.3867 0.9196 0.3562 0.8994 4.313e-06
8 28 9 3 4 0.6069 0.8733 0.1488 0.7459 0.7164 0.9276 -0.1377 0.5217 -0.1340 0.5256 1.427e-01
9a 19 3 18 10 0.6866 0.9633 0.4631 0.7987 0.3098 0.5760 0.2404 0.6842 0.2286 0.6744 1.409e-04
11 40 7 15 8 0.7330 0.9326 0.4550 0.8190 0.5578 0.7730 0.2645 0.6827 0.2562 0.6755 1.506e-05
13b 89 4 16 3 0.9022 0.9866 0.6449 0.9567 0.7541 0.8918 0.5848 0.9117 0.5634 0.8981 8.137e-14
14a 136 2 2 12 0.9546 0.9978 0.0267 0.3726 0.8552 0.9470 0.0034 0.3550 0.0193 0.3842 6.741e-03
16 188 0 13 2 0.9843 1.0000 0.6478 0.9754 0.8847 0.9568 0.6419 0.9705 0.6110 0.9547 7.115e-20
"""


@pytest.mark.parametrize("line", TOETSCH.strip().splitlines(), ids=lambda line: line.split()[0])
def test_toetsch_and_hoffmann_table(line):
    _, *numbers = line.split()
    tp, fn, tn, fp = map(int, numbers[:4])
    tpr, tnr, prevalence, bm, bm_eti = np.array(numbers[4:14], dtype=float).reshape(5, 2)
    counts = ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn)
    given = {"prior": 1.0, "model": "three-beta"}
    for metric, expected in (("recall", tpr), ("specificity", tnr), ("prevalence", prevalence)):
        assert counts.posterior(metric, **given).interval(kind="hdi") == pytest.approx(
            tuple(expected), abs=6e-5
        )
    posterior = counts.posterior("informedness", **given)
    assert posterior.exact
    low, high = posterior._hdi(0.95)  # the paper's HDI is not closed at 1
    assert (low, high) == pytest.approx(tuple(bm), abs=6e-5)
    assert posterior.quantile([0.025, 0.975]) == pytest.approx(bm_eti, abs=6e-5)
    # The far tail is a difference of numbers near 1: absolute accuracy is what can be asked.
    assert posterior.cdf(0.0) == pytest.approx(float(numbers[14]), rel=1e-3, abs=1e-12)


def test_informative_probabilities_of_the_paper():
    counts = ConfusionCounts.from_binary(tp=28, fn=9, fp=4, tn=3)
    result = counts.informative(prior=1.0, model="three-beta")
    assert result.p_deceptive == pytest.approx(0.1427, abs=6e-5)
    assert result.p_uninformative == 0
    assert result.p_informative == pytest.approx(1 - 0.1427, abs=6e-5)
    with_rope = counts.informative(prior=1.0, model="three-beta", rope=0.1)
    assert sum(with_rope.to_dict().values()) == pytest.approx(1, abs=1e-12)
    assert with_rope.p_uninformative > 0.1


# Goutte & Gaussier's two systems with prior 1 per cell, exact: mean, 2.5 %, 50 %, 97.5 % of F1.
@pytest.mark.parametrize(
    ("cells", "mean", "quantiles"),
    [
        ((10, 5, 10, 5), 0.558, (0.3659, 0.5614, 0.7312)),
        ((3, 3, 2, 4), 0.5182, (0.2168, 0.5241, 0.7897)),
    ],
)
def test_f1_of_goutte_and_gaussier(cells, mean, quantiles):
    counts = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    posterior = counts.posterior("f1", prior=1)
    assert posterior.exact
    assert posterior.mean() == pytest.approx(mean, abs=6e-5)
    assert posterior.quantile([0.025, 0.5, 0.975]) == pytest.approx(quantiles, abs=6e-5)


def test_caelen_example_posterior():
    # Haldane prior; reference values by exact enumeration and 1e8 draws, four digits.
    posterior = ConfusionCounts.from_binary(**CAELEN_B).posterior("mcc", prior="haldane")
    assert posterior.exact
    assert posterior.prob(0, 1) == pytest.approx(0.9763, abs=6e-5)
    assert posterior.interval() == pytest.approx((0.0019, 0.3211), abs=6e-5)
    assert posterior.interval(kind="hdi") == pytest.approx((0.0033, 0.3225), abs=6e-5)
    assert posterior.mean() == pytest.approx(0.1634, abs=6e-5)
    assert posterior.std() == pytest.approx(0.0816, abs=6e-5)


def test_caelen_example_predictive(global_random_seed):
    # Exact over all 529,396 tables of 145 rows.
    counts = ConfusionCounts.from_binary(**CAELEN_B)
    n = 100_000
    posterior = counts.posterior("mcc", prior="haldane", n_draws=n, random_state=global_random_seed)
    predictive = posterior.predictive(145)
    for value, truth in ((predictive.prob(0, 1), 0.919), (predictive.cdf(-0.0658), 0.025)):
        assert value == pytest.approx(truth, abs=5e-4 + 4 * np.sqrt(truth * (1 - truth) / n))
    assert predictive.mean() == pytest.approx(0.1634, abs=5e-5 + 4 * 0.1157 / np.sqrt(n))
    assert predictive.std() == pytest.approx(0.1157, abs=5e-5 + 4 * 0.1157 / np.sqrt(2 * n))
    # Many intervals of this discrete distribution are almost equally short: a fixed seed.
    again = counts.posterior("mcc", prior="haldane", n_draws=n, random_state=0).predictive(145)
    assert again.interval(kind="hdi") == pytest.approx((-0.0672, 0.385), abs=0.01)
    assert posterior.predictive().interval().length == pytest.approx(
        predictive.interval().length, rel=0.03
    )


@pytest.mark.parametrize(("n", "truth"), [(None, 0.2574), (145, 0.2587)])
def test_caelen_correlation_of_precision_and_recall(n, truth, global_random_seed):
    draws = 200_000
    joint = ConfusionCounts.from_binary(**CAELEN_A).joint_posterior(
        ["precision", "recall"],
        n=n,
        prior="haldane",
        n_draws=draws,
        random_state=global_random_seed,
    )
    # standard error of a correlation: (1 - r**2) / sqrt(n)
    assert joint.correlation()[0, 1] == pytest.approx(truth, abs=5e-5 + 4 / np.sqrt(draws))


def test_caelen_prior_from_knowledge():
    counts = ConfusionCounts.from_binary(**CAELEN_B)
    prior = prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=72.5)
    posterior = counts.posterior("precision", prior=prior)
    # printed, truncated: TP 74.063, FP 46.042
    assert (float(posterior.a), float(posterior.b)) == pytest.approx((74.063, 46.042), abs=1e-3)
    assert posterior.prior == "array"


# --------------------------------------------------------------------------------------------------
# Against independent numbers


def _cell_draws(cells, n, seed):
    rng = np.random.default_rng(seed)
    tp, fn, fp, tn = rng.dirichlet(cells, size=n).T
    return np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2)


@pytest.mark.parametrize(
    "cells", [(26, 0, 2, 6), (4, 1, 2, 13), (300, 30, 60, 900), (1, 40, 3, 700)]
)
def test_exact_quantiles_against_a_million_draws(cells):
    # A fixed seed: among 96 comparisons at |z| < 4, one in 160 seeds would fail by chance.
    counts = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    prior, n = 0.75, 1_000_000
    draws = _cell_draws(np.array(cells) + prior, n, seed=20)
    scores = []
    for name in EXACT_TWO_CLASSES:
        posterior = counts.posterior(name, prior=prior)
        assert posterior.exact, name
        values = get_metric(name).evaluate(draws)
        for p in (0.025, 0.5, 0.975):
            q = posterior.quantile(p)
            assert posterior.cdf(q) == pytest.approx(p, abs=1e-9), (name, p)
            scores.append((np.mean(values <= q) - p) / np.sqrt(p * (1 - p) / n))
        if np.isfinite(posterior.std()):
            error = posterior.std() / np.sqrt(n)
            assert values.mean() == pytest.approx(posterior.mean(), abs=4 * error), name
    assert np.max(np.abs(scores)) < 4
    assert 0.3 < np.std(scores) < 2.5  # neither perfect nor poor: the comparison is alive


@pytest.mark.parametrize("name", ["f1", "accuracy", "precision", "npv", "mcc", "g_score", "kappa"])
@pytest.mark.parametrize("prevalence", [0.02, BetaPosterior(3, 40), None])
def test_other_prevalence_against_draws(name, prevalence, global_random_seed):
    counts = ConfusionCounts.from_binary(tp=40, fn=10, fp=20, tn=130)
    n = 400_000
    rng = np.random.default_rng(global_random_seed)
    tpr, fpr = rng.beta(41, 11, n), rng.beta(21, 131, n)
    if prevalence is None:  # three flat Betas
        phi = rng.beta(51, 151, n)
    else:
        phi = rng.beta(3, 40, n) if isinstance(prevalence, BetaPosterior) else prevalence
    cells = phi * tpr, phi * (1 - tpr), (1 - phi) * fpr, (1 - phi) * (1 - fpr)
    matrix = np.stack(
        [np.stack([cells[3], cells[2]], -1), np.stack([cells[1], cells[0]], -1)], axis=-2
    )
    posterior = counts.posterior(name, prior=1, model="three-beta", prevalence=prevalence)
    assert posterior.exact
    values = get_metric(name).evaluate(matrix)
    for p in (0.025, 0.5, 0.975):
        q = posterior.quantile(p)
        assert posterior.cdf(q) == pytest.approx(p, abs=1e-9)
        assert abs(np.mean(values <= q) - p) < 4.5 * np.sqrt(p * (1 - p) / n)
    assert values.mean() == pytest.approx(posterior.mean(), abs=5 * posterior.std() / np.sqrt(n))


@pytest.mark.parametrize("model", ["dirichlet", "three-beta", "rows"])
@pytest.mark.parametrize(
    "name", ["recall", "specificity", "lr+", "lr-", "dor", "informedness", "balanced_accuracy"]
)
def test_rates_do_not_feel_the_prevalence(name, model):
    counts = ConfusionCounts.from_binary(tp=40, fn=10, fp=20, tn=130)
    here = counts.posterior(name, prior=1, model=model)
    there = counts.posterior(name, prior=1, model=model, prevalence=0.01)
    assert here.interval() == pytest.approx(there.interval(), rel=1e-12)


def test_dirichlet_against_three_betas_documented_difference():
    # exact values: three flat Betas against Dirichlet(1, 1, 1, 1)
    counts = ConfusionCounts.from_binary(tp=4, fn=1, fp=2, tn=13)
    assert counts.posterior("precision", prior=1).interval() == pytest.approx(
        (0.2904, 0.9010), abs=6e-5
    )
    assert counts.posterior("precision", prior=1, model="three-beta").interval() == pytest.approx(
        (0.2598, 0.8942), abs=6e-5
    )


def _mp_pair_cdf(t, u, v, inner):
    """P(M <= t) as an integral of the density of v times the cdf of u, by mpmath.

    With v = sin(angle)**2 the poles of half-integer shapes are gone.
    """
    log_norm = mpmath.loggamma(v[0] + v[1]) - mpmath.loggamma(v[0]) - mpmath.loggamma(v[1])

    def integrand(angle):
        sine, cosine = mpmath.sin(angle), mpmath.cos(angle)
        x = inner(t, sine**2)
        if x <= 0 or sine <= 0 or cosine <= 0:
            return mpmath.mpf(0)
        below = 1 if x >= 1 else mpmath.betainc(u[0], u[1], 0, x, regularized=True)
        log_sine, log_cosine = mpmath.log(sine), mpmath.log(cosine)
        log_pdf = log_norm + (2 * v[0] - 1) * log_sine + (2 * v[1] - 1) * log_cosine
        return 2 * mpmath.exp(log_pdf) * below

    mean = v[0] / (v[0] + v[1])
    sd = np.sqrt(mean * (1 - mean) / (v[0] + v[1] + 1))
    inside = [mean + k * sd for k in (-6, -1, 0, 1, 6)] + _kinks(t, inner)
    angles = {mpmath.asin(mpmath.sqrt(point)) for point in inside if 0 < point < 1}
    return float(mpmath.quad(integrand, sorted({0, mpmath.pi / 2, *angles})))


def _kinks(t, inner):
    """Where the inner point passes 0 and 1 (found by bisection)."""
    found = []
    for level in (0, 1):
        low, high = mpmath.mpf("1e-12"), 1 - mpmath.mpf("1e-12")
        at_low, at_high = inner(t, low) - level, inner(t, high) - level
        if at_low * at_high < 0:
            for _ in range(80):
                middle = (low + high) / 2
                if (inner(t, middle) - level) * at_low > 0:
                    low = middle
                else:
                    high = middle
            found.append(low)
    return found


PAIR_SHAPES = [
    (26.5, 0.5, 2.5, 6.5), (0.5, 0.5, 0.5, 0.5), (3, 8, 1.5, 40), (30, 5, 4, 60), (0.5, 20, 7, 7),
    (200, 30, 15, 90), (1000, 40, 12, 1000), (7.3, 2.2, 0.9, 3.1), (60, 60, 60, 60),
    (2, 300, 40, 5),
]  # fmt: skip


@pytest.mark.parametrize("cells", PAIR_SHAPES, ids=str)
@pytest.mark.parametrize(
    ("name", "inner"),
    [
        ("informedness", lambda t, y: t + y),
        ("lr+", lambda t, y: t * y),
        ("dor", lambda t, y: t * y / (t * y + 1 - y)),
        ("g_mean", lambda t, y: t * t / (1 - y) if y < 1 else mpmath.inf),
    ],
)
def test_two_beta_families_against_mpmath(name, inner, cells):
    tp, fn, fp, tn = cells
    prior = np.array([[tn, fp], [fn, tp]], dtype=float)
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    posterior = nothing.posterior(name, prior=prior)
    t = posterior.quantile(0.2)
    with mpmath.workdps(20):
        assert _mp_pair_cdf(t, (tp, fn), (fp, tn), inner) == pytest.approx(0.2, abs=1e-9)


def _f2_jaccard(t, s):  # Jaccard index given s = fp / (fp + fn), where F2 is t
    weight = (4 * (1 - s) + s) / 5
    return t * weight / (t * weight + 1 - t)


def _g_score_jaccard(t, s):  # t**2 = 1 / ((1 + r s) (1 + r (1 - s))), r = (1 - J) / J
    k = 1 / t**2 - 1
    if s * (1 - s) == 0:
        return 1 / (1 + k)
    root = mpmath.sqrt(1 + 4 * s * (1 - s) * k)
    return 1 / (1 + (root - 1) / (2 * s * (1 - s)))


@pytest.mark.parametrize("cells", PAIR_SHAPES, ids=str)
@pytest.mark.parametrize(("name", "inner"), [("f2", _f2_jaccard), ("g_score", _g_score_jaccard)])
def test_jaccard_families_against_mpmath(name, inner, cells):
    tp, fn, fp, tn = cells
    prior = np.array([[tn, fp], [fn, tp]], dtype=float)
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    t = nothing.posterior(name, prior=prior).quantile(0.8)
    with mpmath.workdps(25):
        value = _mp_pair_cdf(t, (tp, fp + fn), (fp, fn), inner)
    assert value == pytest.approx(0.8, abs=1e-9)


def _angle_rule(a, b, low, high, n):
    """Gauss-Legendre nodes for a Beta variable sin(angle)**2 between two values."""
    x, w = np.polynomial.legendre.leggauss(n)
    start, stop = np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high))
    angle = start + (stop - start) * (x + 1) / 2
    log_weight = (2 * a - 1) * np.log(np.sin(angle)) + (2 * b - 1) * np.log(np.cos(angle))
    weight = w * (stop - start) / 2 * 2 * np.exp(log_weight - betaln(a, b))
    return np.sin(angle) ** 2, weight


def _three_dimensional_cdf(name, t, cells):
    """P(metric <= t) by Gauss-Legendre over prevalence and fpr; recall by bisection."""
    tp, fn, fp, tn = cells
    metric = get_metric(name)
    total = 0.0
    phis, phi_weights = _angle_rule(tp + fn, fp + tn, 0.0, 1.0, 96)
    for phi, phi_weight in zip(phis, phi_weights, strict=True):

        def value(x, y, phi=phi):
            cell = (1 - phi) * (1 - y), (1 - phi) * y, phi * (1 - x), phi * x
            return metric.evaluate(np.stack(cell, axis=-1).reshape(*np.shape(x), 2, 2))

        # Where recall 0 or 1 just gives t, the integrand has a kink: break the range there.
        breaks = [0.0, 1.0]
        for end in (0.0, 1.0):
            low, high = np.array(1e-14), np.array(1 - 1e-14)
            if (value(np.full((), end), low) - t) * (value(np.full((), end), high) - t) < 0:
                for _ in range(60):
                    middle = (low + high) / 2
                    above = value(np.full((), end), middle) > t  # falls with fpr
                    low, high = (middle, high) if above else (low, middle)
                breaks.append(float(low))
        for start, stop in itertools.pairwise(sorted(breaks)):
            y, y_weight = _angle_rule(fp, tn, start, stop, 96)
            low, high = np.zeros_like(y), np.ones_like(y)
            for _ in range(50):
                middle = (low + high) / 2
                below = value(middle, y) <= t
                low, high = np.where(below, middle, low), np.where(below, high, middle)
            total += phi_weight * np.sum(y_weight * betainc(tp, fn, (low + high) / 2))
    return total


# Shapes for which the plain reference rule is exact itself: no pole of recall, positive values.
RATE_SHAPES = [
    (3, 8, 1.5, 40), (30, 5, 4, 60), (12, 5, 3.5, 20), (200, 30, 15, 90), (7.3, 2.2, 0.9, 3.1),
    (60, 20, 30, 60), (40, 6, 3, 220), (9.5, 2.5, 1.5, 3.5), (26.5, 2.5, 2.5, 6.5),
    (90, 4, 7, 150),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcc", "kappa"])
@pytest.mark.parametrize("cells", RATE_SHAPES, ids=str)
def test_mcc_and_kappa_against_another_integrator(name, cells):
    tp, fn, fp, tn = cells
    prior = np.array([[tn, fp], [fn, tp]], dtype=float)
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    posterior = nothing.posterior(name, prior=prior)
    assert posterior.exact
    t = posterior.quantile(0.3)
    assert _three_dimensional_cdf(name, t, cells) == pytest.approx(0.3, abs=1e-8)


@pytest.mark.parametrize("name", ["g_mean", "markedness", "g_score"])
@pytest.mark.parametrize("cells", PAIR_SHAPES[:4], ids=str)
def test_density_is_the_derivative_of_the_cdf(name, cells):
    tp, fn, fp, tn = cells
    prior = np.array([[tn, fp], [fn, tp]], dtype=float)
    posterior = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0).posterior(name, prior=prior)
    for p in (0.1, 0.35, 0.9):
        t = posterior.quantile(p)
        h = 1e-4 * posterior.std()
        slope = (posterior.cdf(t + h) - posterior.cdf(t - h)) / (2 * h)
        assert posterior.pdf(t) == pytest.approx(slope, rel=2e-4)


@pytest.mark.parametrize("scale", [1, 30, 3000, 1e5])
def test_quantiles_of_all_exact_metrics_invert_the_cdf(scale, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    cells = np.exp(rng.uniform(np.log(0.5), np.log(10), size=4)) * scale
    cells[rng.integers(4)] = 1000 if scale > 100 else 0.5
    tp, fn, fp, tn = cells
    prior = np.array([[tn, fp], [fn, tp]])
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    for name in EXACT_TWO_CLASSES:
        posterior = nothing.posterior(name, prior=prior)
        for p in (0.001, 0.025, 0.5, 0.975, 0.999):
            q = posterior.quantile(p)
            slack = 4 * posterior.pdf(q) * np.spacing(abs(q))
            assert posterior.cdf(q) == pytest.approx(p, abs=1e-9 + slack), (name, p, cells)


# --------------------------------------------------------------------------------------------------
# More than two classes

THREE = [[50, 3, 2], [4, 40, 6], [1, 2, 30]]


@pytest.mark.filterwarnings("ignore::skuncertain.SmallSampleWarning")  # see the next test
@pytest.mark.parametrize(
    "matrix", [THREE, [[20, 0, 0], [0, 25, 0], [0, 0, 30]], [[9, 1, 0], [2, 7, 3], [0, 1, 8]]]
)
@pytest.mark.parametrize("prior", ["shared", 0.5, 1.0])
@pytest.mark.parametrize("name", ["balanced_accuracy", "precision_macro", "accuracy"])
def test_many_class_exact_against_draws(matrix, prior, name, global_random_seed):
    counts = ConfusionCounts(matrix)
    posterior = counts.posterior(name, prior=prior)
    assert posterior.exact
    pseudo = prior
    if prior == "shared":  # maths: one pseudo-observation per class, as right as the whole matrix
        total, trace = np.sum(matrix), np.trace(matrix)
        q = min((trace + 0.5) / (total + 1), 1 - 1 / 6)
        pseudo = np.where(np.eye(3, dtype=bool), q, (1 - q) / 2)
    n = 400_000
    rng = np.random.default_rng(global_random_seed)
    cells = rng.standard_gamma(np.asarray(matrix) + pseudo, size=(n, 3, 3))
    values = get_metric(name).evaluate(cells)
    for p in (0.025, 0.3, 0.5, 0.8, 0.975):
        q = posterior.quantile(p)
        assert abs(np.mean(values <= q) - p) < 4.5 * np.sqrt(p * (1 - p) / n), p
    assert values.mean() == pytest.approx(posterior.mean(), abs=5 * posterior.std() / np.sqrt(n))


def test_few_rows_per_class_earn_a_warning():
    few = ConfusionCounts([[9, 1, 0], [2, 7, 3], [0, 1, 8]])
    for name in ("balanced_accuracy", "f1_macro"):
        with pytest.warns(SmallSampleWarning, match="too short"):
            few.posterior(name, random_state=0)
    few.posterior("accuracy")  # no warning: it does not average over classes
    ConfusionCounts(np.array(THREE) * 2).posterior("balanced_accuracy")


def test_many_class_sum_agrees_with_two_class_integral():
    # With a third class of weight zero, accuracy at given frequencies is a sum of two terms.
    counts = ConfusionCounts([[30, 1, 0], [2, 8, 0], [0, 0, 5]])
    three = counts.posterior("accuracy", prior=0.4, model="rows", prevalence=[0.3, 0.7, 0.0])
    prior = np.array([[30.4, 1.8], [2.8, 8.4]])
    two = ConfusionCounts([[0, 0], [0, 0]]).posterior("accuracy", prior=prior, prevalence=0.7)
    for p in (0.025, 0.5, 0.975):
        assert two.cdf(three.quantile(p)) == pytest.approx(p, abs=1e-8)


def test_one_class_of_many():
    counts = ConfusionCounts(THREE, labels=["a", "b", "c"])
    tp, fn, fp = 40, 10, 5
    # Jeffreys on the score's own proportion
    for name, successes, failures in (("recall", tp, fn), ("precision", tp, fp)):
        posterior = counts.posterior(name, pos_label="b")
        expected = stats.beta(successes + 0.5, failures + 0.5).ppf([0.025, 0.975])
        assert posterior.interval() == pytest.approx(expected, abs=1e-9)
    j = stats.beta(tp + 0.5, fn + fp + 0.5).ppf([0.025, 0.975])
    assert counts.posterior("f1", pos_label="b").interval() == pytest.approx(2 * j / (1 + j))
    # others: 1/3 per cell of the collapsed table
    collapsed = counts.one_vs_rest("b")
    for name in ("specificity", "informedness", "dor"):
        one = counts.posterior(name, pos_label="b")
        assert one.exact
        assert one.interval() == pytest.approx(collapsed.posterior(name).interval(), rel=1e-12)
    there = counts.posterior("precision", pos_label="b", prevalence=0.05)
    assert there.interval() == collapsed.posterior("precision", prevalence=0.05).interval()
    # a fixed prior is per cell of the whole matrix
    fixed = counts.posterior("precision", pos_label="b", prior=1)
    assert (float(fixed.a), float(fixed.b)) == (tp + 1, fp + 2)
    whole = collapsed.posterior("informedness", prior=np.array([[4.0, 2.0], [2.0, 1.0]]))
    one = counts.posterior("informedness", pos_label="b", prior=1)
    assert one.exact
    assert one.interval() == whole.interval()
    assert one.prior == "1"
    predictive = counts.posterior("recall", pos_label="b", random_state=0).predictive(146)
    assert predictive.mean() == pytest.approx(tp / (tp + fn), abs=0.02)


def test_macro_f1_draws_against_direct_sampling(global_random_seed):
    counts = ConfusionCounts(THREE)
    posterior = counts.posterior("f1_macro", prior=0.5, n_draws=50_000, random_state=1)
    assert not posterior.exact
    assert posterior.n_draws == 50_000
    assert posterior.seed == 1
    rng = np.random.default_rng(global_random_seed + 1000)
    theta = rng.dirichlet(np.ravel(THREE) + 0.5, size=200_000).reshape(-1, 3, 3)
    f1 = 2 * np.diagonal(theta, axis1=1, axis2=2) / (theta.sum(1) + theta.sum(2))
    truth = f1.mean(axis=1)
    for p in (0.025, 0.5, 0.975):
        share = np.mean(truth <= posterior.quantile(p))
        assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) * (1 / 200_000 + 1 / 50_000))
    assert posterior.monte_carlo_error() == pytest.approx(posterior.std() / np.sqrt(50_000))
    wanted = np.sqrt(0.025 * 0.975 / 50_000) / stats.norm.pdf(1.96) * posterior.std()
    assert posterior.monte_carlo_error(0.025) == pytest.approx(wanted, rel=0.25)


def test_draws_with_tiny_shapes_are_defined(global_random_seed):
    # Plain gamma variates underflow: at this shape 0.26 % of the draws would be 0/0.
    counts = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    n = 50_000
    joint = counts.joint_posterior(
        ["precision"], prior=0.004, n_draws=n, random_state=global_random_seed
    )
    truth = stats.beta(0.004, 0.004)
    draws = joint["precision"]
    assert np.isnan(draws).mean() < 5e-4
    for x in (1e-3, 0.5, 0.999):
        share = np.mean(draws[~np.isnan(draws)] <= x)
        assert share == pytest.approx(truth.cdf(x), abs=4.5 * 0.5 / np.sqrt(n))


def test_rows_model_of_many_classes(global_random_seed):
    counts = ConfusionCounts(THREE)
    frequencies = np.array([0.1, 0.1, 0.8])
    posterior = counts.posterior("accuracy", prior=0.5, model="rows", prevalence=frequencies)
    assert posterior.exact
    rng = np.random.default_rng(global_random_seed)
    n = 300_000
    rows = np.asarray(THREE)
    recalls = np.stack(
        [rng.beta(rows[k, k] + 0.5, rows[k].sum() - rows[k, k] + 1.0, size=n) for k in range(3)], 1
    )
    values = recalls @ frequencies
    for p in (0.025, 0.5, 0.975):
        share = np.mean(values <= posterior.quantile(p))
        assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) / n)
    drawn = counts.posterior(
        "f1_macro", prior=0.5, model="rows", prevalence=frequencies, random_state=0
    )
    assert not drawn.exact
    plain = counts.posterior("f1_macro", prior=0.5, random_state=0)
    assert drawn.mean() != pytest.approx(plain.mean(), abs=0.01)


# --------------------------------------------------------------------------------------------------
# Predictive, updates, joint questions


def test_predictive_accuracy_is_beta_binomial():
    counts = ConfusionCounts.from_binary(**SMALL)
    predictive = counts.posterior("accuracy", prior=0.5).predictive(50)
    assert predictive.exact
    reference = stats.betabinom(50, 33, 3)
    assert predictive.mean() == pytest.approx(reference.mean() / 50)
    assert predictive.std() == pytest.approx(reference.std() / 50)
    for k in (30, 45, 50):
        assert predictive.pdf(k / 50) == pytest.approx(reference.pmf(k), rel=1e-9)
        assert predictive.cdf(k / 50) == pytest.approx(reference.cdf(k), rel=1e-9)
    assert predictive.quantile([0.025, 0.975]) * 50 == pytest.approx(reference.ppf([0.025, 0.975]))
    low, high = predictive.interval(kind="hdi")
    assert reference.cdf(high * 50) - reference.cdf(low * 50 - 1) >= 0.95


def test_predictive_of_a_single_row():
    # Tötsch & Hoffmann, Fig. 2: one true positive; a new test set of one row is right or wrong.
    counts = ConfusionCounts.from_binary(tp=1, fn=0, fp=0, tn=0)
    predictive = counts.posterior("accuracy", prior=1).predictive()
    assert predictive.pdf(1.0) == pytest.approx(3 / 5)
    assert predictive.pdf(0.0) == pytest.approx(2 / 5)
    flat = counts.posterior("accuracy", prior=1, model="three-beta")
    assert flat.mean() == pytest.approx(11 / 18, abs=1e-9)


def test_updates_add_up_for_fixed_priors():
    first, second = ConfusionCounts.from_binary(**SMALL), ConfusionCounts.from_binary(**CAELEN_A)
    for metric in ("f1", "informedness", "accuracy"):
        stepwise = first.posterior(metric, prior="jeffreys").updated(second)
        at_once = (first + second).posterior(metric, prior="jeffreys")
        assert stepwise.interval() == at_once.interval()
        assert stepwise.prior == "jeffreys"
    with pytest.raises(TypeError, match="made from counts"):
        BetaPosterior(2, 3).updated(second)
    with pytest.raises(TypeError, match="ConfusionCounts"):
        first.posterior("f1").updated([[1, 2], [3, 4]])


def test_shared_prior_is_recomputed_by_updates():
    first, second = ConfusionCounts(THREE), ConfusionCounts(np.array(THREE) * 3)
    stepwise = first.posterior("accuracy").updated(second)
    assert stepwise.interval() == (first + second).posterior("accuracy").interval()


def test_joint_posterior_answers_questions_about_several_metrics():
    counts = ConfusionCounts.from_binary(**CAELEN_A)
    joint = counts.joint_posterior(["accuracy", "null_accuracy", "f1"], prior=0.5, random_state=3)
    assert joint.draws.shape == (3, 20_000)
    assert joint["f1"] is not None
    both = joint.prob(lambda accuracy, null, f1: (accuracy > null) & (f1 > 0.7))
    assert both <= min(joint.prob(lambda a, n, f: a > n), joint.prob(lambda a, n, f: f > 0.7))
    exact = counts.posterior("f1", prior=0.5).prob(0.7, 1)
    assert joint.prob(lambda a, n, f: f > 0.7) == pytest.approx(exact, abs=4.5 * 0.5 / np.sqrt(2e4))
    pytest.importorskip("pandas")
    assert list(joint.to_frame().columns) == ["accuracy", "null_accuracy", "f1"]


def test_prior_alone_can_be_asked_for():
    # Figs S1-S2 of Tötsch & Hoffmann: what three flat priors say about other metrics.
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    informedness = nothing.posterior("informedness", prior=1, model="three-beta")
    # difference of two uniforms: triangular
    assert informedness.cdf([-0.5, 0.0, 0.5]) == pytest.approx([0.125, 0.5, 0.875], abs=1e-10)
    precision = nothing.posterior("precision", prior=1, model="three-beta")
    assert precision.median() == pytest.approx(0.5, abs=1e-8)
    accuracy = nothing.posterior("accuracy", prior=1)
    assert accuracy.interval() == pytest.approx(stats.beta(2, 2).interval(0.95))


# --------------------------------------------------------------------------------------------------
# Undefined cases and bookkeeping


def test_haldane_prior_warns_and_is_never_invented():
    counts = ConfusionCounts.from_binary(**SMALL)
    with pytest.warns(UndefinedMetricWarning, match="no mass"):
        posterior = counts.posterior("recall", prior="haldane")
    assert posterior.interval() == (1.0, 1.0)
    never = ConfusionCounts.from_binary(tp=0, fn=5, fp=0, tn=9)
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(never.posterior("precision", prior=0).mean())


def test_class_never_predicted_gets_a_wide_interval_and_a_warning():
    counts = ConfusionCounts([[40, 5, 0], [3, 30, 0], [4, 6, 0]])
    with pytest.warns(UndefinedMetricWarning, match="0/0 in the data"):
        posterior = counts.posterior("precision", pos_label=2)
    # Beta(1/2, 1/2)
    assert posterior.interval() == pytest.approx((0.00154, 0.99846), abs=1e-5)
    with pytest.warns(UndefinedMetricWarning):
        macro = counts.posterior("precision_macro")
    assert np.isfinite(macro.interval()).all()


@pytest.mark.parametrize("name", EXACT_TWO_CLASSES)
@pytest.mark.parametrize(
    "cells", [(30, 0, 0, 30), (0, 30, 30, 0), (1, 0, 0, 0), (0, 0, 0, 40), (0, 12, 0, 30)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # 0/0 is the point
def test_extreme_matrices_have_width_and_stay_in_range(name, cells):
    counts = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    metric = get_metric(name)
    posterior = counts.posterior(metric)
    observed = metric.evaluate(counts.counts.astype(float))
    for kind in ("eti", "hdi"):
        low, high = posterior.interval(kind=kind)
        assert metric.range[0] <= low < high <= metric.range[1]
        if not np.isnan(observed) and kind == "eti":
            assert low <= observed <= high


def test_a_strong_prior_leaves_the_interval_open():
    counts = ConfusionCounts.from_binary(**SMALL)
    for prior in (5, prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=1000)):
        posterior = counts.posterior("recall", prior=prior)
        assert posterior.interval().high == posterior.quantile(0.975) < 1
    perfect = ConfusionCounts.from_binary(tp=30, fn=0, fp=0, tn=30)
    assert perfect.posterior("mcc").interval().high == 1
    strong = perfect.posterior("mcc", prior=2)
    assert strong.interval().high == strong.quantile(0.975) < 1
    assert perfect.posterior("accuracy", prior="jeffreys").interval().high == 1  # Beta(61, 1)
    assert perfect.posterior("accuracy", prior="laplace").interval().high < 1  # Beta(62, 2)


@pytest.mark.parametrize("name", ["dor", "lr+"])
def test_hdi_of_an_infinite_observation_is_one_sided(name):
    posterior = ConfusionCounts([[10, 0], [0, 10]]).posterior(name)
    low, high = posterior.interval(0.9, "hdi")
    assert high == np.inf
    assert posterior.cdf(low) == pytest.approx(0.1, abs=1e-9)


def test_interval_membership():
    interval = ConfusionCounts.from_binary(**SMALL).posterior("f1").interval()
    assert 0.95 in interval
    assert 0.5 not in interval


def test_predictive_says_how_often_it_is_undefined():
    counts = ConfusionCounts.from_binary(tp=3, fn=1, fp=2, tn=60)
    with pytest.warns(UndefinedMetricWarning, match="of the new test sets of 5 rows"):
        predictive = counts.posterior("recall", random_state=0).predictive(5)
    # P(no positives among 5) with prevalence ~ Beta(4 + 2/3, 62 + 2/3)
    a, b = 4 + 2 / 3, 62 + 2 / 3
    nothing = np.exp(betaln(a, b + 5) - betaln(a, b))
    error = 4.5 * np.sqrt(nothing * (1 - nothing) / predictive.n_draws)
    assert predictive.undefined == pytest.approx(nothing, abs=error)


def test_joint_posterior_refuses_what_is_no_event():
    joint = ConfusionCounts.from_binary(**CAELEN_A).joint_posterior(["recall"], random_state=0)
    with pytest.raises(KeyError, match="'f1' is not one of the drawn metrics"):
        joint["f1"]
    with pytest.raises(TypeError, match="event must be a function"):
        joint.prob("recall > 0.8")
    with pytest.raises(ValueError, match="one True or False per draw"):
        joint.prob(lambda recall: recall)


def test_stacks_equal_single_posteriors():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 60, size=(4, 5))
    stack = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    for name in ("f1", "balanced_accuracy", "mcc", "lr+", "precision"):
        together = stack.posterior(name).interval()
        for k, one in enumerate(stack):
            alone = one.posterior(name).interval()
            assert (together.low[k], together.high[k]) == pytest.approx(alone, rel=1e-9)
    assert stack.posterior("f1").cdf(0.5).shape == (5,)
    assert stack.posterior("g_mean").quantile([0.1, 0.2]).shape == (5, 2)


def test_large_stacks_of_mcc_are_drawn():
    cells = np.full(40, 30)
    stack = ConfusionCounts.from_binary(tp=cells, fn=cells, fp=cells, tn=cells)
    posterior = stack.posterior("mcc", n_draws=4000, random_state=0)
    assert not posterior.exact
    exact = stack[0].posterior("mcc")
    error = exact.std() * 4.5 * np.sqrt(0.25 / 4000) / stats.norm.pdf(0)
    assert posterior.median() == pytest.approx(exact.median(), abs=error)


def test_same_seed_same_draws_and_records():
    counts = ConfusionCounts(THREE)
    first = counts.posterior("f1_macro", random_state=5)
    again = counts.posterior("f1_macro", random_state=5)
    np.testing.assert_array_equal(first.draws, again.draws)
    fresh = counts.posterior("f1_macro")
    np.testing.assert_array_equal(
        fresh.draws, counts.posterior("f1_macro", random_state=fresh.seed).draws
    )
    generator = counts.posterior("f1_macro", random_state=np.random.default_rng(0))
    assert generator.seed is not None
    with pytest.raises(ValueError, match="read-only"):
        first.draws[0] = 1
    assert repr(first) == (
        "DrawsPosterior(metric='f1_macro', n_draws=20000, seed=5, prior='auto: shared')"
    )


def test_fewer_draws_do_not_change_the_first_chunks():
    counts = ConfusionCounts(THREE)
    many = counts.posterior("f1_macro", n_draws=40_000, random_state=5).draws
    few = counts.posterior("f1_macro", n_draws=20_000, random_state=5).draws
    assert np.mean(many[:10_000] == few[:10_000]) == 1


@pytest.mark.parametrize("name", ["f1", "mcc", "g_mean", "balanced_accuracy", "f1_macro"])
def test_posteriors_can_be_pickled(name):
    posterior = ConfusionCounts.from_binary(**SMALL).posterior(name, random_state=0)
    restored = pickle.loads(pickle.dumps(posterior))
    assert restored.interval() == posterior.interval()
    assert repr(restored) == repr(posterior)


def test_memory_guard():
    counts = ConfusionCounts(np.ones((20_000, 2, 2), dtype=int))
    with pytest.raises(ValueError, match=r"n_draws=100000 for 20000 matrices would need 16 GB"):
        counts.posterior("mcc", n_draws=100_000)


def test_functional_form_equals_the_method():
    y_true, y_pred = [0, 0, 1, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1, 0]
    counts = ConfusionCounts.from_predictions(y_true, y_pred)
    posterior = metric_posterior(y_true, y_pred, metric="f1", prior="laplace")
    assert posterior.interval() == counts.posterior("f1", prior="laplace").interval()
    again = credible_interval(counts, metric="f1", prior="laplace", pos_label=1)
    assert again == posterior.interval()
    other = credible_interval(counts, metric="f1", prior="laplace", pos_label=0)
    assert other == counts.posterior("f1", prior="laplace", pos_label=0).interval()
    with pytest.raises(TypeError, match="labels cannot be combined with counts"):
        credible_interval(counts, labels=[0, 1])
    with pytest.raises(TypeError, match="y_pred is missing"):
        credible_interval(y_true)


def test_user_metrics_see_probabilities():
    seen = []

    def share_right(p):
        seen.append(np.allclose(p.sum(axis=(-2, -1)), 1))
        return p[..., 0, 0] + p[..., 1, 1]

    counts = ConfusionCounts.from_binary(**CAELEN_A)
    posterior = counts.posterior(make_metric(share_right, range=(0, 1)), prior=0.5, random_state=0)
    assert all(seen)
    exact = counts.posterior("accuracy", prior=0.5)
    assert posterior.mean() == pytest.approx(exact.mean(), abs=4.5 * exact.std() / np.sqrt(20_000))
