"""Skewness and mode of all families of posteriors."""

from importlib import import_module
from pkgutil import iter_modules

import mpmath
import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit

from skuncertain import ConfusionCounts, _numerics
from skuncertain.comparison import compare
from skuncertain.exceptions import FewDrawsWarning
from skuncertain.metrics import calibration_band, metric_posterior
from skuncertain.posteriors import BetaPosterior, _difference
from skuncertain.posteriors._base import Posterior, StackedPosterior
from skuncertain.posteriors._beta import BetaBinomialPosterior
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._integral import IntegralPosterior
from skuncertain.posteriors._matched import MatchedPosterior
from skuncertain.posteriors._student_normal import (
    AffinePosterior,
    LogitNormalPosterior,
    LogitStudentPosterior,
    NormalPosterior,
    StudentDifferencePosterior,
    StudentPosterior,
)

COUNTS = ConfusionCounts.from_binary(tp=20, fn=5, fp=8, tn=30)
THREE = ConfusionCounts([[20, 3, 1], [4, 15, 2], [1, 5, 30]])


def of_groups(metric):
    """Posterior of groups of unequal sizes, which is a ratio of weighted sums."""
    y_true = [0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1]
    y_pred = [0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1]
    groups = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 6, 7, 7]
    return metric_posterior(y_true, y_pred, metric=metric, groups=groups)


def by_integration(posterior):
    """Skewness from the density, and the place of its maximum."""
    low, high = posterior.quantile([1e-9, 1 - 1e-9])

    def moment(power, centre=0.0):
        value, _ = integrate.quad(
            lambda x: (x - centre) ** power * posterior.pdf(x),
            *(low, high),
            limit=200,
            epsabs=1e-11,
            points=list(posterior.quantile([0.01, 0.5, 0.99])),
        )
        return value

    mean = moment(1)
    skewness = moment(3, mean) / moment(2, mean) ** 1.5
    ends = posterior.quantile([0.02, 0.98])
    mode = optimize.minimize_scalar(
        lambda x: -posterior.pdf(x), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    return skewness, mode.x


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("recall", {}),
        ("f1", {}),
        ("balanced_accuracy", {}),
        ("informedness", {}),
        ("g_mean", {}),
        ("mcc", {}),
        ("cohen_kappa", {}),
        ("precision", {"prevalence": 0.1}),
        ("precision", {"model": "three_beta", "prior": 0.5}),
        ("prevalence_threshold", {}),
        ("f2", {}),
    ],
)
def test_against_the_density(metric, options):
    posterior = COUNTS.posterior(metric, **options)
    assert posterior.exact
    skewness, mode = by_integration(posterior)
    assert posterior.skewness() == pytest.approx(skewness, abs=2e-6)
    assert posterior.mode() == pytest.approx(mode, abs=2e-7)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "precision_macro"])
def test_sums_of_betas(metric):
    posterior = THREE.posterior(metric)
    skewness, mode = by_integration(posterior)
    assert posterior.skewness() == pytest.approx(skewness, abs=1e-5)
    assert posterior.mode() == pytest.approx(mode, abs=1e-6)


@pytest.mark.parametrize("metric", ["positive_likelihood_ratio", "diagnostic_odds_ratio"])
def test_ratios_have_closed_forms(metric):
    posterior = COUNTS.posterior(metric)
    u, v = stats.beta(20 + 1 / 3, 5 + 1 / 3), stats.beta(8 + 1 / 3, 30 + 1 / 3)
    odds = metric != "positive_likelihood_ratio"

    def moment(power):
        of_u = u.expect(lambda x: (x / (1 - x if odds else 1)) ** power)
        return of_u * v.expect(lambda x: ((1 - x if odds else 1) / x) ** power)

    first, second, third = moment(1), moment(2), moment(3)
    central = third - 3 * first * second + 2 * first**3
    assert posterior.skewness() == pytest.approx(central / (second - first**2) ** 1.5, rel=1e-6)
    mode = by_integration(posterior)[1]
    assert posterior.mode() == pytest.approx(mode, rel=1e-6)


@pytest.mark.parametrize(("fp", "expected"), [(3, np.inf), (2, np.nan), (4, None)])
def test_ratios_without_a_third_moment(fp, expected):
    posterior = ConfusionCounts.from_binary(tp=20, fn=5, fp=fp, tn=30).posterior(
        "positive_likelihood_ratio", prior="haldane"
    )
    found = posterior.skewness()
    assert found > 2 if expected is None else found == pytest.approx(expected, nan_ok=True)


def test_odds_are_beta_prime():
    posterior = COUNTS.posterior("true_positive_odds", prior=0.5)
    a, b = 20.5, 5.5
    assert posterior.skewness() == pytest.approx(stats.betaprime(a, b).stats("s"), rel=1e-9)
    assert posterior.mode() == pytest.approx((a - 1) / (b + 1), rel=1e-6)


def test_skewness_of_large_counts_keeps_its_digits():
    a, b = 7e9, 3e9
    assert BetaPosterior(a, b).skewness() == pytest.approx(
        2 * (b - a) * np.sqrt(a + b) / ((a + b) * np.sqrt(a * b)), rel=1e-6
    )
    many = ConfusionCounts([[9 * 10**8, 10**8], [10**8, 9 * 10**8]])
    found = many.posterior("positive_likelihood_ratio", prior="haldane").skewness()
    with mpmath.workdps(80):
        a, b = mpmath.mpf(9 * 10**8), mpmath.mpf(10**8)

        def moment(k):  # E[u**k] E[v**-k], u ~ Beta(a, b), v ~ Beta(b, a)
            return mpmath.beta(a + k, b) * mpmath.beta(b - k, a) / mpmath.beta(a, b) ** 2

        first, second, third = (moment(k) for k in (1, 2, 3))
        truth = (third - 3 * first * second + 2 * first**3) / (second - first**2) ** 1.5
    assert found == pytest.approx(float(truth), rel=1e-6)


def test_beta_skewness_and_mode_are_the_textbook_ones():
    a, b = np.array([2.0, 5.0, 40.0]), np.array([3.0, 1.0, 1e4])
    posterior = BetaPosterior(a, b)
    np.testing.assert_allclose(posterior.skewness(), stats.beta(a, b).stats("s"), rtol=1e-12)
    np.testing.assert_allclose(posterior.mode(), (a - 1) / (a + b - 2))


@pytest.mark.parametrize("odds", [0.2, 2.0, 5.0])
@pytest.mark.parametrize(("a", "b"), [(3, 4), (1, 3), (4, 1), (1, 1), (1, 20), (2, 300)])
def test_mode_of_odds(a, b, odds):
    posterior = BetaPosterior(a, b, odds=odds)
    grid = np.linspace(0, 1, 400_001)
    at = grid[np.argmax(posterior.pdf(grid))]
    assert posterior.mode() == pytest.approx(at, abs=5e-6)


@pytest.mark.parametrize(
    ("a", "b", "mode"),
    [
        (0.5, 3, 0),
        (3, 0.5, 1),
        (0.3, 0.5, 0),  # two poles: the stronger one
        (0.5, 0.3, 1),
        (0.5, 0.5, np.nan),
        (1, 1, np.nan),
        (1, 2, 0),
        (0, 3, 0),
        (3, 0, 1),
        (0, 0, np.nan),
    ],
)
def test_modes_at_the_ends(a, b, mode):
    assert BetaPosterior(a, b).mode() == pytest.approx(mode, nan_ok=True)
    if a == 0 or b == 0:
        assert np.isnan(BetaPosterior(a, b).skewness())


def test_mode_of_an_integral_at_the_end():
    perfect = ConfusionCounts.from_binary(tp=12, fn=0, fp=0, tn=9)
    assert perfect.posterior("informedness").mode() == 1  # exponents 1/3 + 1/3 - 1 < 0: a pole
    assert perfect.posterior("informedness", prior="laplace").mode() < 1
    assert perfect.posterior("mcc").mode() == 1


def test_beta_binomial():
    a, b, n = 7.5, 3.5, 30
    posterior, peer = BetaBinomialPosterior(a, b, n), stats.betabinom(n, a, b)
    assert posterior.skewness() == pytest.approx(peer.stats("s"), rel=1e-12)
    assert posterior.mode() == np.argmax(peer.pmf(np.arange(n + 1))) / n
    assert np.isnan(BetaBinomialPosterior(1, 1, n).mode())  # uniform


def test_normal_student_and_their_maps():
    assert NormalPosterior(0.3, 0.1).skewness() == 0
    assert NormalPosterior(0.3, 0.1).mode() == 0.3
    assert np.isnan(StudentPosterior(3, 0.3, 0.1).skewness())
    assert StudentPosterior(4, 0.3, 0.1).skewness() == 0
    assert np.isnan(NormalPosterior(0.3, 0.0).skewness())
    posterior = LogitNormalPosterior(1.0, 0.4)
    skewness, mode = by_integration(posterior)
    assert posterior.skewness() == pytest.approx(skewness, abs=1e-6)
    assert posterior.mode() == pytest.approx(mode, abs=1e-6)
    stacked = LogitNormalPosterior([1.0, -1.0], [0.4, 0.0])
    np.testing.assert_allclose(stacked.mode(), [mode, expit(-1)], atol=1e-6)


def test_parts_of_a_stack():
    parts = [BetaPosterior(3, 5), BetaPosterior(30, 5)]
    stacked = StackedPosterior(parts, parts[0].about)
    np.testing.assert_allclose(stacked.mode(), [2 / 6, 29 / 33])
    np.testing.assert_allclose(stacked.skewness(), [part.skewness() for part in parts])
    moved = AffinePosterior(parts[0], parts[0].with_about(range=(-1.0, 1.0)).about)
    assert moved.mode() == pytest.approx(2 * 2 / 6 - 1)
    assert moved.skewness() == parts[0].skewness()


def test_differences_subtract_third_cumulants():
    first, second = BetaPosterior(20, 4), BetaPosterior(9, 8)
    result = compare(first, second).difference
    third = [x.skewness() * x.std() ** 3 for x in (first, second)]
    expected = (third[1] - third[0]) / result.std() ** 3
    assert result.skewness() == pytest.approx(expected, rel=1e-6)
    assert result.mode() == pytest.approx(by_integration(result)[1], abs=1e-6)


def test_a_stack_of_integrals_is_a_loop():
    stack = ConfusionCounts(np.stack([COUNTS.counts, COUNTS.counts[::-1, ::-1]]))
    posterior = stack.posterior("balanced_accuracy")
    ones = [one.posterior("balanced_accuracy") for one in stack]
    np.testing.assert_allclose(posterior.mode(), [one.mode() for one in ones], rtol=1e-9)
    np.testing.assert_allclose(posterior.skewness(), [one.skewness() for one in ones], rtol=1e-9)


def test_draws(global_random_seed):
    peer = stats.beta(9, 3)
    draws = peer.rvs((3, 40_000), random_state=global_random_seed)
    draws[1, ::7] = np.nan
    draws[2] = 0.25
    posterior = DrawsPosterior(draws)
    np.testing.assert_allclose(
        posterior.skewness()[:2], stats.skew(draws[:2], axis=1, nan_policy="omit"), rtol=1e-9
    )
    assert np.isnan(posterior.skewness()[2])
    # About 1.5 n**(-1/3) standard deviations (.11) of error: five of them
    np.testing.assert_allclose(posterior.mode()[:2], 8 / 10, atol=0.11)
    assert posterior.mode()[2] == 0.25
    empty = DrawsPosterior(np.full((2, 5), np.nan))
    assert np.isnan(empty.mode()).all()


def test_draws_of_counts_have_a_most_frequent_value(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    posterior = DrawsPosterior(rng.choice([0.1, 0.2, 0.3], p=[0.4, 0.5, 0.1], size=20_000))
    assert posterior.mode() == 0.2


def test_mode_of_draws_at_a_pole(global_random_seed):
    draws = stats.beta(8, 0.3).rvs(20_000, random_state=global_random_seed)
    assert DrawsPosterior(draws).mode() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("metric", ["accuracy", "recall", "f1"])
def test_groups(metric):
    posterior = of_groups(metric)
    assert posterior.exact
    skewness, mode = by_integration(posterior)
    assert posterior.skewness() == pytest.approx(skewness, abs=1e-5)
    assert posterior.mode() == pytest.approx(mode, abs=1e-6)


def test_matched_cumulants():
    posterior = MatchedPosterior((0.8, 2e-3, -3e-5))
    skewness, mode = by_integration(posterior)
    assert posterior.skewness() == pytest.approx(-3e-5 / 2e-3**1.5, rel=1e-12)
    assert posterior.skewness() == pytest.approx(skewness, abs=1e-5)
    assert posterior.mode() == pytest.approx(mode, abs=1e-6)


def test_drawn_members_among_matched_ones(global_random_seed):
    draws = stats.beta(9, 3).rvs((1, 5000), random_state=global_random_seed)
    drawn = DrawsPosterior(draws)
    cumulants = np.array([0.8, 0.7]), np.array([2e-3, 2e-3]), np.array([-3e-5, 0.0])
    posterior = MatchedPosterior(cumulants, drawn=drawn, members=np.array([1]))
    alone = MatchedPosterior((0.8, 2e-3, -3e-5))
    np.testing.assert_allclose(posterior.skewness(), [alone.skewness(), drawn.skewness()[0]])
    np.testing.assert_allclose(posterior.mode(), [alone.mode(), drawn.mode()[0]])


def test_few_draws_of_a_member_among_matched_ones():
    drawn = DrawsPosterior(np.linspace(0.5, 0.7, 2000)[None])
    cumulants = np.array([0.8, 0.7]), np.array([2e-3, 2e-3]), np.array([-3e-5, 0.0])
    posterior = MatchedPosterior(cumulants, drawn=drawn, members=np.array([1]))
    with pytest.warns(FewDrawsWarning):
        posterior.interval(0.999)
    with pytest.warns(FewDrawsWarning):
        posterior.quantile(0.001)
    MatchedPosterior(cumulants).interval(0.999)  # no draws, no warning


def test_differences_of_integrals_subtract_third_cumulants():
    other = ConfusionCounts.from_binary(tp=10, fn=5, fp=2, tn=30)
    parts = [COUNTS.posterior("mcc"), other.posterior("mcc")]
    posterior = compare(*parts).difference
    third = [by_integration(part)[0] * part.std() ** 3 for part in parts]
    variance = sum(part.std() ** 2 for part in parts)
    assert posterior.skewness() == pytest.approx((third[1] - third[0]) / variance**1.5, abs=1e-5)
    at, step = np.array([-0.1, 0.05, 0.3]), 1e-3
    slope = (posterior.cdf(at + step) - posterior.cdf(at - step)) / (2 * step)
    np.testing.assert_allclose(posterior.pdf(at), slope, rtol=1e-4)
    grid = np.linspace(*posterior.quantile([0.2, 0.8]), 401)
    assert posterior.mode() == pytest.approx(grid[np.argmax(posterior.pdf(grid))], abs=2e-3)


def every_class():
    """A posterior of every class, and of every family of integrals."""
    beta, normal = BetaPosterior(9, 4), NormalPosterior(0.7, 0.05)
    other = ConfusionCounts.from_binary(tp=10, fn=5, fp=2, tn=30)
    return [
        beta,
        BetaBinomialPosterior(9, 4, 30),
        normal,
        StudentPosterior(9, 0.7, 0.05),
        LogitNormalPosterior(1.0, 0.4),
        LogitStudentPosterior(9, 1.0, 0.4),
        StudentDifferencePosterior(9, 0.1, 0.05),
        AffinePosterior(beta, beta.with_about(range=(-1.0, 1.0)).about),
        StackedPosterior([beta, normal], beta.about),
        DrawsPosterior(beta.quantile(np.linspace(0.0, 1.0, 60_002)[1:-1])),
        MatchedPosterior((0.8, 2e-3, -3e-5)),
        COUNTS.posterior("true_positive_odds"),
        COUNTS.posterior("informedness"),
        COUNTS.posterior("mcc"),
        THREE.posterior("balanced_accuracy"),
        of_groups("accuracy"),
        compare(COUNTS.posterior("mcc"), other.posterior("mcc")).difference,
        metric_posterior([0, 1] * 30, np.linspace(0.1, 0.9, 60), metric="brier_score"),
        metric_posterior([0, 1] * 30, np.linspace(0.1, 0.9, 60), metric="neg_brier_score"),
        calibration_band([0, 1, 1, 0] * 20, np.linspace(0.1, 0.9, 80), n_bins=3).slope,
    ]


def classes_below(kind):
    own = set() if kind.__name__.startswith("_") or kind is Posterior else {kind}
    return own.union(*(classes_below(sub) for sub in kind.__subclasses__()))


def test_every_class_has_skewness_and_mode():
    made = every_class()
    for posterior in made:
        skewness, mode = posterior.skewness(), posterior.mode()
        assert np.shape(skewness) == np.shape(mode) == posterior.shape
        assert np.isfinite(skewness).all()
        ends = posterior.quantile([0.001, 0.999])
        assert np.all((mode >= ends[..., 0]) & (mode <= ends[..., 1]))
    package = {kind for kind in classes_below(Posterior) if kind.__module__.startswith("skuncert")}
    assert package == {type(posterior) for posterior in made}


def test_every_family_of_integrals_has_skewness():
    rooms = [
        _difference,
        *(
            import_module(f"{_numerics.__name__}.{part.name}")
            for part in iter_modules(_numerics.__path__)
        ),
    ]
    families = {
        kind
        for room in rooms
        for kind in vars(room).values()
        if isinstance(kind, type) and hasattr(kind, "density") and hasattr(kind, "guess")
    }
    seen = {type(one._family) for one in every_class() if isinstance(one, IntegralPosterior)}
    assert families == seen


def test_mode_of_f1_where_failures_are_two_more_than_successes():
    # Odds of 2: the coefficients of its quadratic equation cancel, the mode is not 0.
    posterior = BetaPosterior(10.5, 12.5, odds=2.0)
    x = np.linspace(0.3, 0.9, 60_001)
    assert posterior.mode() == pytest.approx(x[np.argmax(posterior.pdf(x))], abs=1e-5)
