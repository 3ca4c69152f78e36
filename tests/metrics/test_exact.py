"""Exact posteriors against draws, mpmath and another integrator."""

import itertools

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import betainc, betaln, gammaincinv, loggamma
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts
from skuncertain.metrics import get_metric
from skuncertain.posteriors import BetaPosterior

EXACT_TWO_CLASSES = [
    "accuracy", "error_rate", "precision", "npv", "recall", "specificity", "fpr", "fnr", "fdr",
    "false_omission_rate", "prevalence", "predicted_positive_rate",
    "predicted_negative_rate", "true_positive_odds", "false_positive_odds", "jaccard", "f1", "f0.5",
    "f2",
    "g_score", "g_mean", "balanced_accuracy", "informedness", "markedness", "matthews_corrcoef",
    "cohen_kappa", "positive_likelihood_ratio", "negative_likelihood_ratio",
    "diagnostic_odds_ratio", "prevalence_threshold", "precision_macro", "recall_macro",
    "recall_weighted", "f1_micro", "jaccard_micro",
]  # fmt: skip


def _cell_draws(cells, n, seed):
    rng = np.random.default_rng(seed)
    tp, fn, fp, tn = rng.dirichlet(cells, size=n).T
    return np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2)


@pytest.mark.slow
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
    posterior = counts.posterior(name, prior=1, model="three_beta", prevalence=prevalence)
    assert posterior.exact
    values = get_metric(name).evaluate(matrix)
    for p in (0.025, 0.5, 0.975):
        q = posterior.quantile(p)
        assert posterior.cdf(q) == pytest.approx(p, abs=1e-9)
        assert abs(np.mean(values <= q) - p) < 4.5 * np.sqrt(p * (1 - p) / n)
    assert values.mean() == pytest.approx(posterior.mean(), abs=5 * posterior.std() / np.sqrt(n))


@pytest.mark.parametrize("model", ["dirichlet", "three_beta", "rows"])
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
    assert counts.posterior("precision", prior=1, model="three_beta").interval() == pytest.approx(
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


def _posterior_of_shapes(name, cells):
    """Posterior whose Dirichlet shapes are `cells` = (tp, fn, fp, tn): no counts, only a prior."""
    tp, fn, fp, tn = cells
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    return nothing.posterior(name, prior=np.array([[tn, fp], [fn, tp]], dtype=float))


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
    posterior = _posterior_of_shapes(name, cells)
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
    tp, fn, fp, _ = cells
    t = _posterior_of_shapes(name, cells).quantile(0.8)
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
    posterior = _posterior_of_shapes(name, cells)
    assert posterior.exact
    t = posterior.quantile(0.3)
    assert _three_dimensional_cdf(name, t, cells) == pytest.approx(0.3, abs=1e-8)


@pytest.mark.parametrize("name", ["g_mean", "markedness", "g_score"])
@pytest.mark.parametrize("cells", PAIR_SHAPES[:4], ids=str)
def test_density_is_the_derivative_of_the_cdf(name, cells):
    posterior = _posterior_of_shapes(name, cells)
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
    for name in EXACT_TWO_CLASSES:
        posterior = _posterior_of_shapes(name, cells)
        for p in (0.001, 0.025, 0.5, 0.975, 0.999):
            q = posterior.quantile(p)
            slack = 4 * posterior.pdf(q) * np.spacing(abs(q))
            assert posterior.cdf(q) == pytest.approx(p, abs=1e-9 + slack), (name, p, cells)


CELLS = ("tp", "fn", "fp", "tn")


@pytest.mark.parametrize("prior", ["auto", "jeffreys", "laplace", 2.0])
@pytest.mark.parametrize("cell", ["fn", "fp"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # 0/0 is the point
def test_kappa_of_one_huge_cell_against_gamma(cell, prior):
    # With N rows in fp the other shares are Gamma / N up to 1 / N, and kappa is -2 of that of fn.
    counts = ConfusionCounts.from_binary(**{key: 2**40 * (key == cell) for key in CELLS})
    posterior = counts.posterior("cohen_kappa", prior=prior)
    shape = {"auto": 1 / 3, "jeffreys": 0.5, "laplace": 1.0}.get(prior, prior)
    q = np.array([0.025, 0.25, 0.5, 0.75, 0.9])
    expected = -2 * gammaincinv(shape, 1 - q) / 2**40
    np.testing.assert_allclose(posterior.quantile(q), expected, rtol=1e-9)
    np.testing.assert_allclose(posterior.cdf(expected), q, atol=1e-10)
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, atol=1e-10)


@pytest.mark.parametrize("prior", ["auto", "jeffreys", 2.0])
@pytest.mark.parametrize("size", [2**20, 2**40])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # 0/0 is the point
def test_quantiles_of_one_huge_cell_invert_the_cdf(cell, size, prior):
    counts = ConfusionCounts.from_binary(**{key: size * (key == cell) for key in CELLS})
    q = np.array([0.025, 0.5, 0.975])
    for name in EXACT_TWO_CLASSES:
        posterior = counts.posterior(name, prior=prior, n_draws=100, random_state=0)
        if posterior.exact:  # next to 1 floats are few: q lies between the cdf of two neighbours
            x = posterior.quantile(q)
            assert np.all(posterior.cdf(x - 2 * np.spacing(np.abs(x))) <= q + 1e-9), name
            assert np.all(posterior.cdf(x + 2 * np.spacing(np.abs(x))) >= q - 1e-9), name


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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_steep_integrals_are_refined(global_random_seed):
    # cdf(quantile(0.3)) was 0.302, and the density jumped between 240 and 440.
    counts = ConfusionCounts([[977637, 414412], [0, 0]])
    posterior = counts.posterior("kappa", prior="shared", prevalence=BetaPosterior(2, 4000))
    x = np.linspace(3e-4, 6e-4, 7)
    cdf = posterior.cdf(x)
    n = 200_000
    draws = posterior.sample(n, global_random_seed)
    if posterior.exact:
        assert posterior.cdf(posterior.quantile(0.3)) == pytest.approx(0.3, abs=1e-6)
    share = np.mean(draws[:, None] <= x, axis=0)
    assert np.all(np.abs(cdf - share) < 5 * np.sqrt(cdf * (1 - cdf) / n))


def test_moments_of_f1_next_to_zero():
    # Beta(0.01, 6e14): the quadrature rule failed, and the mean was NaN. F1 is 2 X there.
    posterior = ConfusionCounts([[7621910466772, 0], [634040278236365, 0]]).posterior(
        "f1", prior=0.01
    )
    a, b = 0.01, 634040278236365 + 0.02
    assert posterior.mean() == pytest.approx(2 * a / (a + b), rel=1e-9)
    assert posterior.std() == pytest.approx(2 * np.sqrt(a * b / (a + b + 1)) / (a + b), rel=1e-9)


def test_sums_with_a_term_that_is_known_well(global_random_seed):
    # An ordinary matrix of three classes: "Array must not contain infs or nans", from a spline.
    cells = np.array([[4200, 19500, 0], [1, 1, 0], [1, 1, 1]])
    posterior = ConfusionCounts(cells).posterior(
        "balanced_accuracy", prior=1.0, random_state=global_random_seed
    )
    rng, n = np.random.default_rng(global_random_seed), 100_000
    shapes = cells + 1.0
    hits, total = np.diag(shapes), shapes.sum(axis=1)
    draws = rng.beta(hits, total - hits, size=(n, 3)).mean(axis=1)
    for q in (0.025, 0.5, 0.975):
        at = posterior.quantile(q)
        error = 5 * np.sqrt(q * (1 - q) * (1 / n + (0 if posterior.exact else 1 / 20_000)))
        assert np.mean(draws <= at) == pytest.approx(q, abs=error)


# --------------------------------------------------------------------------------------------------
# Weak priors and empty classes: half of the mass is next to an end


def odds_ratio_cdf(t, u, v):
    """P(odds(U) / odds(V) <= t) by Gil-Pelaez, from the gamma functions of the log odds."""
    (a, b), (c, d) = u, v
    gammas = ((a, 1), (b, -1), (c, -1), (d, 1))
    step = np.pi / (abs(np.log(t)) + 45 / min(a, b, c, d))
    s = (np.arange(int(60 / step) + 1) + 0.5) * step
    log_phi = sum(loggamma(shape + sign * 1j * s) - loggamma(shape) for shape, sign in gammas)
    return 0.5 - np.sum(np.imag(np.exp(log_phi - 1j * s * np.log(t))) / s) * step / np.pi


CORNERS = [(0, 0, 0, 0), (0, 0, 0, 5), (0, 5, 0, 0), (5, 0, 5, 0), (5, 0, 0, 5), (1000, 0, 0, 0)]
# P(LR+ <= t) of recall ~ Beta(0.1, 0.1) and false positive rate ~ Beta(0.1, 5.1), by mpmath
LR_TRUTHS = [
    (1e-12, 0.0132134076246081),
    (0.5, 0.195711863852229),
    (1e6, 0.771948972658178),
    (1e14, 0.963856338942073),
    (1e20, 0.990921122820351),
]
TAILS = np.array([0.001, 0.025, 0.3, 0.5, 0.9, 0.99, 0.999])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("cells", CORNERS)
@pytest.mark.parametrize(("prior", "accuracy"), [(1 / 3, 1e-11), (0.1, 1e-9), (0.02, 1e-6)])
def test_odds_ratio_of_empty_classes(cells, prior, accuracy):
    tp, fn, fp, tn = cells
    counts = ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn)
    posterior = counts.posterior("diagnostic_odds_ratio", prior=prior)
    assert posterior.exact
    for q, x in zip(TAILS, posterior.quantile(TAILS), strict=True):
        truth = odds_ratio_cdf(x, (tp + prior, fn + prior), (fp + prior, tn + prior))
        assert truth == pytest.approx(q, abs=accuracy)


@pytest.mark.parametrize(("t", "truth"), LR_TRUTHS)
def test_likelihood_ratio_of_an_empty_class_against_mpmath(t, truth):
    counts = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=5)
    with pytest.warns(UndefinedMetricWarning):
        posterior = counts.posterior("positive_likelihood_ratio", prior=0.1)
    assert posterior.cdf(t) == pytest.approx(truth, abs=1e-12)
    assert posterior.quantile(truth) == pytest.approx(t, rel=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("prior", [0.1, 0.05, 0.02])
@pytest.mark.parametrize(
    "name", ["lr+", "lr-", "dor", "informedness", "balanced_accuracy", "g_mean", "markedness"]
)
def test_weak_priors_have_rising_cdfs_and_quantiles(name, prior):
    for tp, fn, fp, tn in CORNERS:
        counts = ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn)
        posterior = counts.posterior(name, prior=prior)
        low, high = posterior.range
        x = posterior.quantile(TAILS)
        assert np.all(np.diff(x) >= 0)
        grid = np.logspace(-300, 300, 61) if np.isinf(high) else np.linspace(low, high, 61)
        assert np.all(np.diff(posterior.cdf(np.unique([*x, *grid]))) > -1e-9)
        inside = (x > low) & (x < high)
        # Quantiles are resolved to every other float; more mass than that may lie between two.
        above, below = (np.nextafter(np.nextafter(x, end), end) for end in (high, low))
        jump = posterior.cdf(above) - posterior.cdf(below)
        miss = np.abs(posterior.cdf(x) - TAILS)[inside]
        assert np.all(miss <= 1e-9 + np.abs(jump[inside]))


@pytest.mark.parametrize(("q", "end"), [(1e-9, 0.0), (1 - 1e-9, np.inf)])
def test_quantiles_beyond_floats_are_the_ends_of_the_range(q, end):
    posterior = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0).posterior("dor", prior=0.02)
    assert odds_ratio_cdf(1e-307, (0.02, 0.02), (0.02, 0.02)) > 2e-9  # so it is below floats
    assert posterior.quantile(q) == end
    assert 0 < posterior.quantile(0.001) < 1e-150


@pytest.mark.slow
@pytest.mark.parametrize("model", ["three_beta", "dirichlet"])
@pytest.mark.parametrize("metric", ["cohen_kappa", "matthews_corrcoef"])
def test_density_and_far_quantiles_beside_poles(metric, model):
    # Empty cells under a weak prior: poles at both ends of both rates.
    posterior = ConfusionCounts([[0, 2], [30, 0]]).posterior(metric, model=model, prior=0.1)
    x = posterior.quantile([0.2, 0.5, 0.8, 0.95])
    step = 1e-4 * np.minimum(1 + x, 1 - x)
    slope = (posterior.cdf(x + step) - posterior.cdf(x - step)) / (2 * step)
    assert_allclose(posterior.pdf(x), slope, rtol=2e-3)
    far = np.array([1 - 1e-6, 1 - 1e-7, 1 - 2e-8])  # all at once, as a shortest interval asks
    assert_allclose(posterior.cdf(posterior.quantile(far)), far, atol=2e-10)
    low, high = posterior.interval(0.8, "hdi")
    tails = np.linspace(0, 0.2, 41)
    widths = posterior.quantile(np.minimum(tails + 0.8, 1)) - posterior.quantile(tails)
    assert 0 < high - low <= widths.min() * (1 + 1e-4)
    assert posterior.prob(low, high) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_quantiles_of_a_cdf_that_is_not_nearly_normal():
    posterior = ConfusionCounts([[0, 2**20], [0, 0]]).posterior("matthews_corrcoef")
    tails = np.array([0.1, 0.5, 0.7, 0.8, 0.9])
    assert_allclose(posterior.cdf(posterior.quantile(tails)), tails, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("prior", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("metric", ["f2", "f0.5", "g_score", "lr-", "fdr"])
def test_quantiles_of_weak_priors_rise(metric, prior):
    tails = np.array([0.001, 0.025, 0.25, 0.5, 0.75, 0.975, 0.999])
    for cells in ([1, 0, 0, 0], [0, 0, 64, 0], [0, 64, 0, 1], [0, 0, 10**9, 2]):
        counts = ConfusionCounts(np.reshape(cells, (2, 2)))
        # Where only draws will do, 60 of them lie beyond the outermost quantiles.
        posterior = counts.posterior(metric, prior=prior, n_draws=60_000, random_state=0)
        x = posterior.quantile(tails)
        assert np.all(np.diff(x) >= 0)  # NaN does not rise either


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("metric", "table"),
    [
        ("cohen_kappa", [[10**9, 10**9], [0, 0]]),
        ("cohen_kappa", [[30, 30], [0, 0]]),
        ("cohen_kappa", [[0, 0], [0, 0]]),
        ("matthews_corrcoef", [[0, 0], [1, 1]]),
    ],
)
def test_the_median_beside_a_pole_is_0(metric, table):
    posterior = ConfusionCounts(table).posterior(metric, prior=0.1)
    assert posterior.cdf(0.0) == pytest.approx(0.5, abs=1e-11)  # by symmetry
    assert posterior.cdf(posterior.quantile(0.5)) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("threshold", [0.1, 0.25, 0.5, 0.8])
def test_tiny_net_benefits_have_all_their_digits(threshold):
    n = 2**43
    posterior = ConfusionCounts([[n, 0], [0, 0]]).posterior(
        get_metric("net_benefit", threshold=threshold)
    )
    for q in (0.001, 0.3, 0.7):
        assert posterior.cdf(posterior.quantile(q)) == pytest.approx(q, rel=1e-9)
    # Scaled by n: the difference of two gamma variates with the prior's shape, 1/3 each
    draws = np.random.default_rng(0).gamma(1 / 3, size=(2, 400_000))
    values = draws[0] - threshold / (1 - threshold) * draws[1]
    below = (values < n * posterior.quantile(0.3)).mean()
    assert below == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / values.size))


@pytest.mark.parametrize(
    ("metric", "model", "prior", "table"),
    [
        ("fdr", "rows", 0.1, [[30, 1000], [2, 0]]),
        ("false_omission_rate", "three_beta", 0.25, [[0, 5], [10**9, 2]]),
    ],
)
def test_shortest_intervals_at_the_end_of_floats_are_silent(metric, model, prior, table):
    posterior = ConfusionCounts(table).posterior(metric, model=model, prior=prior)
    low, high = posterior.interval(0.9, kind="hdi")
    first, last = posterior.interval(0.9)
    assert high - low <= last - first
    assert posterior.prob(low, high) == pytest.approx(0.9, abs=1e-6)
