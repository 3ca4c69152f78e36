"""Areas and average precision, against scikit-learn, all pairs of rows, quadrature and draws."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, logit, ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skuncertain import (
    BayesianCrossValidator,
    DegenerateIntervalWarning,
    auc_posterior,
    average_precision_posterior,
    compare_auc,
    pr_band,
    roc_band,
)

METHODS = ["logit-delong", "bayesian-bootstrap", "delong"]
Z = stats.norm.ppf(0.975)


def sample(seed, m1=30, m0=40, shift=1.0, digits=None):
    """Labels 0 and 1 in random order, with scores; fewer digits make ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [m1, m0]))
    score = shift * y + rng.normal(size=y.size)
    return y, score if digits is None else score.round(digits)


def pairs(y, score):
    """Kernel of all pairs of a positive and a negative row: 1, 1/2 or 0."""
    y, score = np.asarray(y).astype(bool), np.asarray(score, dtype=float)
    gap = score[y][:, None] - score[~y][None, :]
    return 0.5 * (np.sign(gap) + 1)


def delong_covariance(y, one, two):
    """DeLong, DeLong and Clarke-Pearson (1988), over all pairs."""
    a, b = pairs(y, one), pairs(y, two)
    m1, m0 = a.shape
    of_positives = np.cov(a.mean(axis=1), b.mean(axis=1))[0, 1] / m1
    return of_positives + np.cov(a.mean(axis=0), b.mean(axis=0))[0, 1] / m0


def bootstrap(y, score, size, rng):
    """Areas with Dirichlet weights on the rows of both classes, by all pairs."""
    kernel = pairs(y, score)
    one, two = (rng.dirichlet(np.ones(m), size) for m in kernel.shape)
    return np.einsum("di,ij,dj->d", one, kernel, two, optimize=True)


def perfect_low(m):
    """Lower end for a ranking without error, with m rows in the smaller class."""
    return stats.beta(m + 0.5, 0.5).ppf(0.025)


def ends(posterior, *args, **kwargs):
    """Interval of any posterior, also where a normal one leaves its range."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateIntervalWarning)
        return np.array(posterior.interval(*args, **kwargs))


# --------------------------------------------------------------------------------------------------
# The value


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("method", METHODS)
def test_value_is_that_of_scikit_learn(digits, method, global_random_seed):
    y, score = sample(global_random_seed, digits=digits)
    expected = roc_auc_score(y, score)
    posterior = auc_posterior(y, score, method=method)
    assert posterior.observed == pytest.approx(expected, abs=1e-14)
    assert posterior.metric == "roc_auc"
    assert posterior.model == method
    ap = average_precision_posterior(y, score)
    assert ap.observed == pytest.approx(average_precision_score(y, score), abs=1e-14)
    assert ap.metric == "average_precision"


@pytest.mark.parametrize(
    "labels",
    [(-1, 1), (False, True), ("no", "yes"), ("yes", "no"), (1, 0), (0.0, 1.0), (3, 7)],
    ids=str,
)
def test_labels_of_all_kinds(labels):
    y, score = sample(0, digits=1)
    named = np.array(labels)[y]
    expected = roc_auc_score(y, score)
    for given in (named, named.tolist()):
        assert auc_posterior(given, score, pos_label=labels[1]).observed == pytest.approx(expected)
        assert auc_posterior(given, score, pos_label=labels[0]).observed == pytest.approx(
            1 - expected
        )
    # Without pos_label: 1 if there is a 1, otherwise the last.
    positive = 1 if 1 in labels else sorted(labels)[1]
    found = auc_posterior(named, score).observed
    assert found == pytest.approx(expected if positive == labels[1] else 1 - expected)
    two = np.c_[-score, score] if labels[0] < labels[1] else np.c_[score, -score]
    assert auc_posterior(named, two, pos_label=labels[1]).observed == pytest.approx(expected)
    both = np.c_[-score, score]
    assert auc_posterior(named, both, labels=labels, pos_label=labels[1]).observed == (
        pytest.approx(expected)
    )


def test_numbers_of_all_kinds():
    y, score = sample(0)
    for given in (
        (4 * score).astype(int),
        (4 * score).astype(np.int8),
        score > 0.5,
        score.astype(np.float32),
        score.tolist(),
        score[:, None],
    ):
        flat = np.ravel(given)
        assert auc_posterior(y, given).observed == pytest.approx(roc_auc_score(y, flat))
        expected = average_precision_score(y, flat)
        assert average_precision_posterior(y, given).observed == pytest.approx(expected)


def test_pandas():
    pd = pytest.importorskip("pandas")
    y, score = sample(0)
    frame = pd.DataFrame({"y": pd.Categorical(np.array(["a", "b"])[y]), "s": score})
    frame.index = frame.index[::-1]
    assert auc_posterior(frame["y"], frame["s"]).observed == pytest.approx(roc_auc_score(y, score))


def three_classes(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3]))
    raw = np.exp(1.2 * np.eye(3)[y] + rng.normal(size=(n, 3))).round(2)
    return y, raw / raw.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_several_classes(average):
    y, score = three_classes()
    names = np.array(["ant", "bee", "cat"])
    expected = roc_auc_score(y, score, multi_class="ovr", average=average)
    found = auc_posterior(names[y], score, average=average)
    assert found.observed == pytest.approx(expected, abs=1e-14)
    assert found.metric == "roc_auc_ovr" + ("" if average == "macro" else "_weighted")
    # Columns in another order.
    again = auc_posterior(names[y], score[:, [2, 0, 1]], labels=["cat", "ant", "bee"])
    macro = roc_auc_score(y, score, multi_class="ovr")
    assert again.observed == pytest.approx(macro, abs=1e-14)
    ap = average_precision_posterior(y, score, average=average)
    expected = average_precision_score(np.eye(3)[y], score, average=average)
    assert ap.observed == pytest.approx(expected, abs=1e-14)
    # The variance of the mean, from the covariances of the three areas.
    share = np.full(3, 1 / 3) if average == "macro" else np.bincount(y) / y.size
    spread = 0.0
    for i in range(3):
        for j in range(3):
            spread += share[i] * share[j] * row_covariance(y, score, i, j)
    delong = auc_posterior(y, score, average=average, method="delong")
    assert delong.std() == pytest.approx(np.sqrt(spread), rel=1e-8)


def influence(y, score):
    """What every row adds to the error of the area: squares add up to DeLong's variance."""
    y, kernel = np.asarray(y).astype(bool), pairs(y, score)
    m1, m0 = kernel.shape
    found = np.empty(y.size)
    found[y] = (kernel.mean(axis=1) - kernel.mean()) / np.sqrt(m1 * (m1 - 1))
    found[~y] = (kernel.mean(axis=0) - kernel.mean()) / np.sqrt(m0 * (m0 - 1))
    return found


def row_covariance(y, score, i, j):
    """Covariance of two areas of one class against the rest, whose positives differ."""
    return influence(y == i, score[:, i]) @ influence(y == j, score[:, j])


def test_a_stack_of_classes():
    y, score = three_classes()
    for make in (auc_posterior, average_precision_posterior):
        stack = make(y, score, average=None)
        assert stack.shape == (3,)
        single = [make(y, score, pos_label=k) for k in range(3)]
        np.testing.assert_allclose(stack.observed, [one.observed for one in single])
        for kind in ("eti", "hdi"):
            expected = np.array([one.interval(0.9, kind) for one in single]).T
            np.testing.assert_allclose(stack.interval(0.9, kind), expected, atol=1e-10)
    for method in METHODS[1:]:
        stack = auc_posterior(y, score, average=None, method=method)
        expected = [ends(auc_posterior(y, score, pos_label=k, method=method)) for k in range(3)]
        np.testing.assert_allclose(ends(stack).T, expected, atol=1e-12)
    drawn = auc_posterior(
        y, score, average=None, method="bayesian-bootstrap", n_draws=50, random_state=3
    )
    assert drawn.shape == (3,)
    one = auc_posterior(
        y, score, pos_label=1, method="bayesian-bootstrap", n_draws=50, random_state=3
    )
    assert drawn.interval().low[1] == pytest.approx(one.interval().low)


def test_many_rows():
    y, score = sample(0, m1=5_000, m0=95_000)
    expected = roc_auc_score(y, score)
    assert auc_posterior(y, score).observed == pytest.approx(expected, abs=1e-12)
    matched = auc_posterior(y, score, method="bayesian-bootstrap").interval()
    np.testing.assert_allclose(auc_posterior(y, score).interval(), matched, atol=5e-5)
    drawn = auc_posterior(y, score, method="bayesian-bootstrap", n_draws=20, random_state=0)
    # 20 draws: their mean is within 4.5 standard errors of the area.
    assert abs(drawn.mean() - expected) < 4.5 * drawn.std() / np.sqrt(20)
    expected = average_precision_score(y, score)
    assert average_precision_posterior(y, score).observed == pytest.approx(expected, abs=1e-12)


# --------------------------------------------------------------------------------------------------
# The spread


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("sizes", [(30, 40), (2, 50), (50, 3)])
def test_delong_variance_by_all_pairs(digits, sizes, global_random_seed):
    y, score = sample(global_random_seed, *sizes, shift=0.5, digits=digits)
    posterior = auc_posterior(y, score, method="delong")
    expected = np.sqrt(delong_covariance(y, score, score))
    area = roc_auc_score(y, score)
    assert posterior.std() == pytest.approx(expected, rel=1e-8)
    assert posterior.mean() == pytest.approx(area, abs=1e-14)
    np.testing.assert_allclose(
        ends(posterior, 0.9), stats.norm(area, expected).ppf([0.05, 0.95]), atol=1e-8
    )


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_logit_delong_is_a_normal_on_the_logit_scale(digits, level, global_random_seed):
    y, score = sample(global_random_seed, 40, 50, digits=digits)
    area, error = roc_auc_score(y, score), np.sqrt(delong_covariance(y, score, score))
    z = stats.norm.ppf((1 + level) / 2)
    expected = expit(logit(area) + np.array([-z, z]) * error / (area * (1 - area)))
    assert expected[0] < perfect_low(40)  # the guard has nothing to do
    np.testing.assert_allclose(auc_posterior(y, score).interval(level), expected, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(20, 20), (10, 200), (200, 10)])
def test_nearly_perfect_is_not_believed_more_than_perfect(sizes):
    m1, m0 = sizes
    y = np.repeat([0, 1], [m0, m1])
    score = np.arange(y.size, dtype=float)
    score[m0 - 1], score[m0] = score[m0], score[m0 - 1]  # one of all pairs is wrong
    area, error = roc_auc_score(y, score), np.sqrt(delong_covariance(y, score, score))
    plain = expit(logit(area) - Z * error / (area * (1 - area)))
    bound = perfect_low(min(sizes))
    assert plain > bound
    posterior = auc_posterior(y, score)
    low, high = posterior.interval()
    assert low == pytest.approx(bound, rel=1e-9)
    assert posterior.median() == pytest.approx(area)
    assert high < 1
    np.testing.assert_allclose(auc_posterior(y, -score).interval(), (1 - high, 1 - low), atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_lower_end_is_never_above_that_of_a_perfect_ranking(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, 2)
    y, score = sample(seed, *sizes, shift=rng.uniform(0, 4), digits=rng.choice([0, 1, 5]))
    posterior = auc_posterior(y, score)
    low, high = posterior.interval()
    bound = perfect_low(min(sizes))
    assert low <= bound + 1e-12
    assert high >= 1 - bound - 1e-12
    assert low <= posterior.observed <= high


@pytest.mark.parametrize("digits", [None, 0])
def test_bootstrap_moments_by_draws(digits, global_random_seed):
    y, score = sample(global_random_seed, 12, 18, digits=digits)
    posterior = auc_posterior(y, score, method="bayesian-bootstrap")
    n = 200_000
    draws = bootstrap(y, score, n, np.random.default_rng(global_random_seed))
    squares = (draws - draws.mean()) ** 2
    # Both within 4.5 standard errors of the draws.
    assert abs(posterior.mean() - draws.mean()) < 4.5 * draws.std() / np.sqrt(n)
    assert abs(posterior.std() ** 2 - squares.mean()) < 4.5 * squares.std() / np.sqrt(n)
    assert posterior.mean() == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    # The Beta has quantiles within a tenth of a standard deviation (exact.md: .06 for 60 rows).
    q = np.array([0.025, 0.25, 0.5, 0.75, 0.975])
    error = posterior.quantile(q) - np.quantile(draws, q)
    assert np.all(np.abs(error) < 0.15 * draws.std())


@pytest.mark.parametrize("digits", [None, 0])
def test_bootstrap_draws(digits, global_random_seed):
    y, score = sample(global_random_seed, 12, 18, digits=digits)
    options = {"method": "bayesian-bootstrap", "n_draws": 20_000}
    found = auc_posterior(y, score, random_state=global_random_seed, **options)
    expected = bootstrap(y, score, 20_000, np.random.default_rng(1000 + global_random_seed))
    assert stats.ks_2samp(found.draws, expected).pvalue > 1e-5
    assert (found.seed, found.n_draws) == (global_random_seed, 20_000)
    again = auc_posterior(y, score, random_state=found.seed, **options)
    np.testing.assert_array_equal(found.draws, again.draws)
    fresh = auc_posterior(y, score, **options)
    assert isinstance(fresh.seed, int)
    assert not np.array_equal(fresh.draws, found.draws)


@pytest.mark.parametrize(
    ("method", "n_draws"), [(name, None) for name in METHODS] + [("bayesian-bootstrap", 4000)]
)
@pytest.mark.parametrize("sizes", [(7, 9), (1, 12), (30, 4)])
def test_without_any_error_there_is_still_a_width(method, n_draws, sizes):
    m = min(sizes)
    y = np.repeat([1, 0], sizes)
    score = 10.0 * y + np.arange(y.size) / y.size
    options = {"method": method, "n_draws": n_draws, "random_state": 0}
    best, worst = auc_posterior(y, score, **options), auc_posterior(y, -score, **options)
    assert (best.observed, worst.observed) == (1, 0)
    assert best.interval().high == 1
    assert worst.interval().low == 0
    # Drawn ends are within 4.5 standard errors.
    q, n = 0.025, n_draws or np.inf
    beta = stats.beta(m + 0.5, 0.5)
    error = 4.5 * np.sqrt(q * (1 - q) / n) / beta.pdf(beta.ppf(q)) + 1e-9
    assert best.interval().low == pytest.approx(perfect_low(m), abs=error)
    assert worst.interval().high == pytest.approx(1 - perfect_low(m), abs=error)
    if n_draws is None:
        assert best.mean() == pytest.approx(beta.mean())
        low, high = best.interval(kind="hdi")
        assert (low, high) == (pytest.approx(beta.ppf(0.05)), 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize("digits", [None, 0])
def test_complement(method, kind, digits, global_random_seed):
    y, score = sample(global_random_seed, digits=digits)
    low, high = ends(auc_posterior(y, score, method=method), 0.9, kind)
    for other in ((y, -score), (1 - y, score)):
        mirrored = ends(auc_posterior(*other, method=method), 0.9, kind)
        np.testing.assert_allclose(mirrored, (1 - high, 1 - low), atol=1e-7)
    same = ends(auc_posterior(1 - y, -score, method=method), 0.9, kind)
    np.testing.assert_allclose(same, (low, high), atol=1e-12)


def test_only_the_order_matters(global_random_seed):
    y, score = sample(global_random_seed, digits=1)
    rng = np.random.default_rng(global_random_seed)
    shuffled = rng.permutation(y.size)
    for other in (3 * score - 7, np.exp(score), score**3, stats.rankdata(score), score * 1e-300):
        for method in METHODS:
            options = {"method": method}
            expected = ends(auc_posterior(y, score, **options))
            found = ends(auc_posterior(y[shuffled], other[shuffled], **options))
            np.testing.assert_allclose(found, expected, rtol=1e-12)
        expected = average_precision_posterior(y, score).interval()
        found = average_precision_posterior(y, other).interval()
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        result = compare_auc(y, score, other)
        assert (result.p_worse, result.p_equivalent, result.p_better) == (0, 1, 0)


def test_level_and_number_of_rows():
    y, score = sample(1)
    posterior = auc_posterior(y, score)
    widths = [np.ptp(posterior.interval(level)) for level in (0.5, 0.8, 0.95, 0.99)]
    assert np.all(np.diff(widths) > 0)
    more = auc_posterior(np.tile(y, 100), np.tile(score, 100))
    assert np.ptp(more.interval()) == pytest.approx(np.ptp(posterior.interval()) / 10, rel=0.05)


# --------------------------------------------------------------------------------------------------
# Average precision


@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("sizes", [(30, 40), (12, 60)])
def test_spread_of_the_average_precision(digits, sizes, global_random_seed):
    y, score = sample(global_random_seed, *sizes, digits=digits)
    value, n, step = average_precision_score(y, score), y.size, 1e-4

    def weighted(row, weight):
        weights = np.ones(n)
        weights[row] = weight
        return average_precision_score(y, score, sample_weight=weights)

    # scikit-learn's own derivative by the weight of every row.
    slopes = [(weighted(i, 1 + step) - weighted(i, 1 - step)) / (2 * step) for i in range(n)]
    posterior = average_precision_posterior(y, score)
    low, high = posterior.interval()
    spread = (logit(high) - logit(low)) / (2 * Z) * value * (1 - value)
    assert low < perfect_low(min(sizes)) - 1e-6  # not the guard
    assert spread == pytest.approx(np.linalg.norm(slopes), rel=1e-6)
    assert posterior.median() == pytest.approx(value)
    # The jackknife leaves rows out: equal up to terms of order 1 / (positive rows).
    left_out = np.array([weighted(i, 0) for i in range(n)])
    jackknife = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    assert spread == pytest.approx(jackknife, rel=6 / sizes[0])


def test_average_precision_of_a_perfect_ranking():
    y, score = sample(0, 8, 20, shift=100)
    posterior = average_precision_posterior(y, score)
    assert posterior.interval() == (pytest.approx(perfect_low(8)), 1)
    worst = average_precision_posterior(y, -score)
    assert 0 < worst.interval().low < worst.observed < worst.interval().high < 1


# --------------------------------------------------------------------------------------------------
# What posteriors answer


def logit_normals():
    perfect_but_one = np.arange(40.0)
    perfect_but_one[[19, 20]] = perfect_but_one[[20, 19]]
    yield auc_posterior(*sample(0))
    yield auc_posterior(*sample(1, 5, 6, shift=0.2))
    yield auc_posterior(*sample(2, 400, 600, shift=2))
    yield auc_posterior(np.repeat([0, 1], 20), perfect_but_one)
    yield average_precision_posterior(*sample(3, 6, 60))


@pytest.mark.parametrize("posterior", logit_normals(), ids=str)
def test_logit_normal(posterior):
    median = posterior.median()
    # From two of its quantiles everything else follows.
    scale = (logit(posterior.quantile(stats.norm.cdf(1))) - logit(median)) / 1.0
    edges = np.r_[0.0, posterior.quantile([1e-9, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-4, 1 - 1e-9]), 1.0]

    def integral(function):
        return sum(quad(function, *ab, epsabs=1e-12, limit=200)[0] for ab in pairwise(edges))

    assert integral(posterior.pdf) == pytest.approx(1, abs=1e-8)
    mean = integral(lambda x: x * posterior.pdf(x))
    assert posterior.mean() == pytest.approx(mean, abs=1e-8)
    spread = np.sqrt(integral(lambda x: (x - mean) ** 2 * posterior.pdf(x)))
    assert posterior.std() == pytest.approx(spread, abs=1e-7)
    x = np.linspace(0.01, 0.99, 23)
    normal = stats.norm(logit(median), scale)
    np.testing.assert_allclose(posterior.cdf(x), normal.cdf(logit(x)), atol=1e-12)
    np.testing.assert_allclose(posterior.pdf(x), normal.pdf(logit(x)) / (x * (1 - x)), rtol=1e-9)
    q = np.array([0.0, 1e-6, 0.2, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, atol=1e-12)
    assert posterior.cdf(-1) == 0
    assert posterior.cdf(2) == 1
    assert posterior.prob(0.7, 0.8) == pytest.approx(posterior.cdf(0.8) - posterior.cdf(0.7))
    assert np.all(posterior.pdf([-0.1, 0.0, 1.0, 1.1]) == 0)
    for level in (0.5, 0.95):
        (a, b), (low, high) = posterior.interval(level, "hdi"), posterior.interval(level)
        assert posterior.prob(a, b) == pytest.approx(level, abs=1e-8)
        assert posterior.prob(low, high) == pytest.approx(level, abs=1e-12)
        tails = np.linspace(0, 1 - level, 2001)
        assert b - a <= np.min(posterior.quantile(tails + level) - posterior.quantile(tails)) + 1e-6
    n = 100_000
    draws = posterior.sample(n, 0)
    assert abs(draws.mean() - posterior.mean()) < 4.5 * posterior.std() / np.sqrt(n)
    assert stats.kstest(draws, posterior.cdf).pvalue > 1e-5
    assert posterior.to_dict()["interval_error"] == 0


def test_normal():
    y, score = sample(0)
    posterior = auc_posterior(y, score, method="delong")
    normal = stats.norm(roc_auc_score(y, score), np.sqrt(delong_covariance(y, score, score)))
    x = normal.ppf([1e-6, 0.1, 0.5, 0.8, 0.999])
    np.testing.assert_allclose(posterior.cdf(x), normal.cdf(x), atol=1e-8)
    np.testing.assert_allclose(posterior.pdf(x), normal.pdf(x), rtol=1e-5)
    q = np.array([0.001, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(posterior.quantile(q), normal.ppf(q), atol=1e-8)
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, atol=1e-9)
    np.testing.assert_allclose(posterior.interval(0.9, "hdi"), posterior.interval(0.9), atol=1e-12)
    assert posterior.mean() == pytest.approx(normal.mean())
    assert posterior.std() == pytest.approx(normal.std())
    n = 100_000
    assert stats.kstest(posterior.sample(n, 0), normal.cdf).pvalue > 1e-5


def test_normal_interval_beyond_the_range_is_told():
    y, score = sample(0, 10, 10, shift=1.5)
    posterior = auc_posterior(y, score, method="delong")
    with pytest.warns(DegenerateIntervalWarning, match=r"roc_auc leaves its range \(0.0, 1.0\)"):
        low, high = posterior.interval()
    assert low < posterior.observed < 1 < high
    assert auc_posterior(y, score).interval().high < 1


# --------------------------------------------------------------------------------------------------
# Two models


def two_models(seed, digits=None, m1=40, m0=50):
    y, one = sample(seed, m1, m0, digits=digits)
    rng = np.random.default_rng(seed + 1)
    two = 0.6 * one + 0.5 * y + rng.normal(scale=0.8, size=y.size)
    return y, one, two if digits is None else two.round(digits)


def two_sided(result):
    """DeLong's p-value, as the docstring says."""
    return 2 * min(result.p_worse, result.p_better) + result.p_equivalent


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_comparison_by_all_pairs(digits, global_random_seed):
    y, one, two = two_models(global_random_seed, digits)
    result = compare_auc(y, one, two, names=("old", "new"))
    gap = roc_auc_score(y, two) - roc_auc_score(y, one)
    spread = np.sqrt(
        delong_covariance(y, one, one)
        + delong_covariance(y, two, two)
        - 2 * delong_covariance(y, one, two)
    )
    assert result.difference.mean() == pytest.approx(gap, abs=1e-12)
    assert result.difference.std() == pytest.approx(spread, rel=1e-8)
    p_value = 2 * stats.norm.sf(abs(gap) / spread)
    assert two_sided(result) == pytest.approx(p_value, rel=1e-5)
    assert result.p_equivalent == 0
    expected = stats.norm(gap, spread)
    np.testing.assert_allclose(result.interval(), expected.ppf([0.025, 0.975]), atol=1e-8)
    rope = compare_auc(y, one, two, rope=0.03)
    assert rope.p_worse == pytest.approx(expected.cdf(-0.03), abs=1e-8)
    assert rope.p_better == pytest.approx(expected.sf(0.03), abs=1e-8)
    assert rope.p_worse + rope.p_equivalent + rope.p_better == pytest.approx(1)
    assert (result.n, result.names, result.metric) == (y.size, ("old", "new"), "roc_auc")
    text = str(result.report())
    assert "roc_auc" in text
    assert "DeLong" in text


def test_comparison_is_antisymmetric(global_random_seed):
    y, one, two = two_models(global_random_seed)
    ab, ba = compare_auc(y, one, two, rope=0.01), compare_auc(y, two, one, rope=0.01)
    assert ab.p_better == pytest.approx(ba.p_worse, abs=1e-12)
    assert ab.p_equivalent == pytest.approx(ba.p_equivalent, abs=1e-12)
    np.testing.assert_allclose(ab.interval(), -np.array(ba.interval())[::-1], atol=1e-12)
    negated = compare_auc(y, -one, -two, rope=0.01)
    assert negated.p_worse == pytest.approx(ab.p_better, abs=1e-12)


def test_same_scores_are_equivalent_for_sure():
    for shift in (1, 100):  # with errors, and without any
        y, score = sample(0, shift=shift)
        result = compare_auc(y, score, score)
        assert (result.p_worse, result.p_equivalent, result.p_better) == (0, 1, 0)
        assert two_sided(result) == 1
        assert result.difference.mean() == 0
        assert result.interval() == (0, 0)
        assert "equivalent in roc_auc with probability 1.00" in repr(result)


def test_two_different_perfect_rankings_are_not_surely_equal():
    y, score = sample(0, 10, 10, shift=100)
    other = score.copy()
    other[np.flatnonzero(y)[:2]] = other[np.flatnonzero(y)[1::-1]]
    result = compare_auc(y, score, other)
    assert result.p_equivalent == 0
    assert result.p_better == pytest.approx(0.5)
    low, high = result.interval()
    # Twice the variance of what one perfect ranking leaves open.
    assert high == pytest.approx(Z * np.sqrt(2 * stats.beta(10.5, 0.5).var()), rel=1e-6)
    assert low == pytest.approx(-high)
    assert 0 < compare_auc(y, score, other, rope=0.05).p_equivalent < 1


def test_nearly_perfect_rankings_are_not_surely_different():
    y, score = sample(0, 12, 12, shift=100)
    other = score.copy()
    order = np.argsort(score)
    other[order[[11, 12]]] = other[order[[12, 11]]]
    result = compare_auc(y, score, other)
    plain = np.sqrt(delong_covariance(y, other, other))
    assert result.difference.std() > 2 * plain
    assert 0.3 < result.p_better < 0.5
    y, _, two = two_models(0)
    assert compare_auc(y, two, 10 * y).p_better > 0.99  # perfect against mediocre


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_comparison_of_several_classes(average):
    y, one = three_classes(0)
    two = one + np.random.default_rng(5).normal(scale=0.15, size=one.shape)
    result = compare_auc(y, one, two, average=average)
    gap = auc_posterior(y, two, average=average).observed
    gap -= auc_posterior(y, one, average=average).observed
    assert result.difference.mean() == pytest.approx(gap)
    share = np.full(3, 1 / 3) if average == "macro" else np.bincount(y) / y.size
    moved = sum(
        share[k] * (influence(y == k, two[:, k]) - influence(y == k, one[:, k])) for k in range(3)
    )
    assert result.difference.std() == pytest.approx(np.linalg.norm(moved), rel=1e-8)
    assert result.metric.startswith("roc_auc_ovr")
    alike = compare_auc(y, one, one**3, average=average)
    assert alike.p_equivalent == 1


def test_comparison_errors():
    y, one, two = two_models(0)
    with pytest.raises(ValueError, match="names must be two names"):
        compare_auc(y, one, two, names="AB")
    with pytest.raises(ValueError, match="rope must be in units of roc_auc"):
        compare_auc(y, one, two, rope=2)
    with pytest.raises(ValueError, match="must have the same length"):
        compare_auc(y, one, two[1:])
    with pytest.raises(ValueError, match=r"average must be one of.*'macro'\?"):
        compare_auc(y, one, two, average="makro")
    y, score = three_classes()
    with pytest.raises(ValueError, match=r"3 classes \[0, 1, 2\] but one score per row"):
        compare_auc(y, score, score[:, 0])


# --------------------------------------------------------------------------------------------------
# Cross-validators


class FailsOn(GaussianNB):
    """Fails if a row that is marked by its first feature is not among the training rows."""

    def fit(self, X, y):
        if X[:, 0].max() < 50:
            raise RuntimeError("the marked row is missing")
        return super().fit(X, y)


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """Has neither probabilities nor decision values."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.fixture(scope="module")
def data():
    return make_classification(120, n_features=6, flip_y=0.25, weights=[0.65], random_state=3)


def fitted(estimator, data, cv, **options):
    """Cross-validator that keeps its predictions; its own warnings are not the matter here."""
    options = {"keep_predictions": True, "refit": False, "random_state": 0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BayesianCrossValidator(estimator, cv=cv, **options).fit(*data)


FOLDS = [StratifiedKFold(5), RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)]


@pytest.mark.parametrize("cv", FOLDS, ids=["folds", "repeated"])
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_mean_of_folds(cv, estimator, data):
    X, y = data
    bcv = fitted(estimator, data, cv)
    posterior = auc_posterior(y, bcv, method="delong")
    names = ["roc_auc", "average_precision"]
    scores = cross_validate(estimator, X, y, cv=cv, scoring=names, return_estimator=True)
    assert posterior.observed == pytest.approx(scores["test_roc_auc"].mean(), abs=1e-12)
    ap = average_precision_posterior(y, bcv)
    assert ap.observed == pytest.approx(scores["test_average_precision"].mean(), abs=1e-12)
    # A row's influences on several folds add up; models that share rows: (K + 1) / (2 K).
    total = np.zeros(y.size)
    for model, (_, test) in zip(scores["estimator"], cv.split(X, y), strict=True):
        score = model.predict_proba(X[test])[:, 1] if estimator.__class__ is GaussianNB else None
        score = model.decision_function(X[test]) if score is None else score
        total[test] += influence(y[test], score)
    k = 5 if cv is FOLDS[0] else 4
    spread = np.linalg.norm(total / cv.get_n_splits()) / np.sqrt((k + 1) / (2 * k))
    assert posterior.std() == pytest.approx(spread, rel=1e-8)
    area = posterior.observed
    expected = expit(logit(area) + np.array([-Z, Z]) * spread / (area * (1 - area)))
    np.testing.assert_allclose(auc_posterior(y, bcv).interval(), expected, rtol=1e-9)
    assert f"mean of {cv.get_n_splits()} folds" in posterior.model


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_pooled(estimator, data):
    X, y = data
    bcv = fitted(estimator, data, StratifiedKFold(5))
    way = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    score = cross_val_predict(estimator, X, y, cv=StratifiedKFold(5), method=way)
    score = score if score.ndim == 1 else score[:, 1]
    posterior = auc_posterior(y, bcv, pooling="pooled", method="delong")
    assert posterior.observed == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    spread = np.sqrt(delong_covariance(y, score, score) / 0.6)
    assert posterior.std() == pytest.approx(spread, rel=1e-8)
    assert "folds pooled" in posterior.model
    ap = average_precision_posterior(y, bcv, pooling="pooled")
    assert ap.observed == pytest.approx(average_precision_score(y, score), abs=1e-12)
    # The first class as the positive one: decision values change their sign.
    first = auc_posterior(y, bcv, pooling="pooled", pos_label=0)
    assert first.observed == pytest.approx(roc_auc_score(y == 0, -score), abs=1e-12)
    again = fitted(estimator, data, StratifiedKFold(5), pos_label=0)
    folds = auc_posterior(y, again)
    assert folds.observed == pytest.approx(auc_posterior(y, bcv).observed, abs=1e-12)
    expected = average_precision_score(y == 0, -score)
    found = average_precision_posterior(y, again, pooling="pooled").observed
    assert found == pytest.approx(expected, abs=1e-12)
    # The area beside a curve knows of the folds, too.
    for make, area in (
        (roc_band, auc_posterior(y, bcv, pooling="pooled")),
        (pr_band, average_precision_posterior(y, bcv, pooling="pooled")),
    ):
        assert make(y, bcv).area.interval() == area.interval()


def test_comparison_of_cross_validators(data):
    X, y = data
    shuffled = StratifiedKFold(4, shuffle=True, random_state=1)
    splits = {GaussianNB(): FOLDS[0], LinearSVC(): shuffled}
    parts = []  # mean of the folds, and the influence of every row on it
    for estimator, cv in splits.items():
        total, areas = np.zeros(y.size), []
        for train, test in cv.split(X, y):
            model = estimator.fit(X[train], y[train])
            bayes = hasattr(model, "predict_proba")
            score = (
                model.predict_proba(X[test])[:, 1] if bayes else model.decision_function(X[test])
            )
            total[test] += influence(y[test], score)
            areas.append(roc_auc_score(y[test], score))
        k = cv.get_n_splits()
        parts.append((np.mean(areas), total / k / np.sqrt((k + 1) / (2 * k))))
    one, two = (fitted(estimator, data, cv) for estimator, cv in splits.items())
    result = compare_auc(y, one, two)
    assert result.difference.mean() == pytest.approx(parts[1][0] - parts[0][0], abs=1e-12)
    spread = np.linalg.norm(parts[1][1] - parts[0][1])
    assert result.difference.std() == pytest.approx(spread, rel=1e-8)
    assert "120 shared rows, DeLong, mean of 5 folds, omega 0.6 and DeLong, mean of 4" in repr(
        result
    )
    assert compare_auc(y, one, one).p_equivalent == 1
    with pytest.raises(ValueError, match="both be scores, or both cross-validators"):
        compare_auc(y, one, X[:, 0])
    with pytest.raises(ValueError, match="cross-validators that tested the same rows"):
        compare_auc(y, one, fitted(GaussianNB(), data, PredefinedSplit(np.arange(120) % 5 - 1)))


def test_several_classes_of_a_cross_validator():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=1.5, size=X.shape)
    names = np.array(["x", "y", "z"])[y]
    for average, scoring in (("macro", "roc_auc_ovr"), ("weighted", "roc_auc_ovr_weighted")):
        bcv = fitted(GaussianNB(), (X, names), StratifiedKFold(5))  # 10 rows of each in every fold
        expected = cross_validate(GaussianNB(), X, names, cv=StratifiedKFold(5), scoring=scoring)
        found = auc_posterior(names, bcv, average=average)
        assert found.observed == pytest.approx(expected["test_score"].mean(), abs=1e-12)
    assert auc_posterior(names, bcv, average=None).shape == (3,)
    one = auc_posterior(names, bcv, pos_label="z")
    assert one.observed == pytest.approx(auc_posterior(names, bcv, average=None).observed[2])


def test_one_positive_per_fold_has_the_spread_of_the_folds():
    # A lone row shows no spread in its fold; taken as none, 77 to 83 % of intervals held the area.
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [10, 200])
    X = rng.normal(size=(210, 2)) + 0.8 * y[:, None]
    cv = StratifiedKFold(10)
    models = cross_validate(GaussianNB(), X, y, cv=cv, scoring="roc_auc", return_estimator=True)
    areas, negatives = models["test_score"], 0.0
    for model, (_, test) in zip(models["estimator"], cv.split(X, y), strict=True):
        placements = pairs(y[test], model.predict_proba(X[test])[:, 1])
        assert placements.shape == (1, 20)
        negatives += np.var(placements[0], ddof=1) / 20
    variance = np.var(areas, ddof=1) / 10 + negatives / 10**2
    bcv = fitted(GaussianNB(), (X, y), cv)
    found = auc_posterior(y, bcv, method="delong")
    assert found.std() == pytest.approx(np.sqrt(variance / (11 / 20)), rel=1e-9)
    # The average precision of a lone positive is 1 / its rank.
    precise = average_precision_posterior(y, bcv)
    ranks = [
        1 + np.sum(pairs(y[test], model.predict_proba(X[test])[:, 1]) == 0)
        for model, (_, test) in zip(models["estimator"], cv.split(X, y), strict=True)
    ]
    mean, low = precise.observed, precise.quantile(ndtr(-1))
    assert mean == pytest.approx(np.mean(1 / np.array(ranks)), abs=1e-12)
    spread = (logit(mean) - logit(low)) * mean * (1 - mean)
    assert spread**2 * 11 / 20 > np.var(1 / np.array(ranks), ddof=1) / 10


def test_folds_that_lack_a_class_are_left_out(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    tests = [order[:20], *np.array_split(np.random.default_rng(0).permutation(order[20:]), 3)]
    splits = [(np.setdiff1d(order, test), test) for test in tests]
    bcv = fitted(GaussianNB(), data, splits)
    with pytest.warns(UndefinedMetricWarning, match="1 of 4 folds lack a class"):
        posterior = auc_posterior(y, bcv)
    expected = [
        roc_auc_score(y[test], GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1])
        for train, test in splits[1:]
    ]
    assert posterior.observed == pytest.approx(np.mean(expected), abs=1e-12)
    assert auc_posterior(y, bcv, pooling="pooled").observed > 0  # needs no warning
    sorted_folds = fitted(GaussianNB(), (X[order], y[order]), KFold(30))
    with pytest.warns(UndefinedMetricWarning, match="29 of 30 folds lack a class"):
        auc_posterior(y[order], sorted_folds)
    alone = fitted(GaussianNB(), data, KFold(120), method="nadeau_bengio")
    with pytest.raises(ValueError, match="no fold holds both classes"):
        auc_posterior(y, alone)


def test_failed_folds_are_left_out(data):
    X, y = data
    X = X.copy()
    X[0, 0] = 99.0
    with pytest.warns(FitFailedWarning):
        scores = cross_validate(FailsOn(), X, y, cv=StratifiedKFold(5), scoring="roc_auc")
    bcv = fitted(FailsOn(), (X, y), StratifiedKFold(5), error_score=np.nan)
    assert np.isnan(scores["test_score"]).sum() == 1
    found = auc_posterior(y, bcv)
    assert found.observed == pytest.approx(np.nanmean(scores["test_score"]), abs=1e-12)
    assert "mean of 4 folds" in found.model


def test_cross_validators_without_scores(data):
    _, y = data
    lost = fitted(GaussianNB(), data, 3, keep_predictions=False)
    labels_only = fitted(LabelsOnly(), data, 3)
    for bcv in (lost, labels_only):
        for make in (auc_posterior, average_precision_posterior, roc_band, pr_band):
            with pytest.raises(ValueError, match=r"no scores: use .*keep_predictions=True"):
                make(y, bcv)


def test_cross_validator_errors(data):
    _, y = data
    bcv = fitted(GaussianNB(), data, FOLDS[1])
    with pytest.raises(ValueError, match=r"pooling must be one of 'folds', 'pooled'.*'pooled'\?"):
        auc_posterior(y, bcv, pooling="pool")
    for call in (lambda: auc_posterior(y, bcv, pooling="pooled"), lambda: roc_band(y, bcv)):
        with pytest.raises(ValueError, match="every row to be tested once; repeated folds"):
            call()
    with pytest.raises(ValueError, match="must be what the cross-validator was fitted with, got"):
        auc_posterior(y[:50], bcv)
    with pytest.raises(ValueError, match="labels are known to the cross-validator"):
        auc_posterior(y, bcv, labels=[0, 1])
    with pytest.raises(ValueError, match=r"bayesian-bootstrap' is for two classes.*averages"):
        auc_posterior(y, bcv, method="bayesian-bootstrap")


# --------------------------------------------------------------------------------------------------
# Wrong and small input

Y, S = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8]
SCORE_ERRORS = [
    (([0, 1, 1], [1, 2, np.nan]), {}, ValueError, "finite numbers, got NaN"),
    (([0, 1, 1], [1, 2, np.inf]), {}, ValueError, "finite numbers, got NaN or infinity"),
    ((Y, S[:3]), {}, ValueError, "same length, got 4 and 3"),
    (([1, 1, 1], [1, 2, 3]), {}, ValueError, "at least two classes"),
    (([1, 1, 1], [1, 2, 3]), {"labels": [0, 1]}, ValueError, "only rows of class 1"),
    (([0, 0, 0], [1, 2, 3]), {"labels": [0, 1]}, ValueError, "no rows of class 1"),
    (([], []), {}, ValueError, "at least two classes"),
    (([0, 1, 2], [1, 2, 3]), {}, ValueError, r"3 classes \[0, 1, 2\] but one score per row"),
    (([0, 1, 2], np.eye(3)[:, :2]), {}, ValueError, "one column per class, 3, got 2"),
    (([0, 1, 0], np.eye(3)), {}, ValueError, r"2, got 3. Name all classes with labels"),
    (([0, 1, 2], S[:3]), {"labels": [0, 1]}, ValueError, "label 2, which is not in labels"),
    ((Y, S), {"pos_label": 2}, ValueError, "pos_label 2 is not one of the labels"),
    ((Y, list("abcd")), {}, TypeError, "y_score must hold numbers, got an array of type"),
    ((Y, np.zeros((4, 2, 2))), {}, ValueError, "one or two dimensions"),
    (([Y], S), {}, ValueError, "one label per row, got shape"),
    (([0, 1, np.nan, 1], S), {}, ValueError, "missing labels"),
    ((Y, S), {"pooling": "folds"}, ValueError, "pooling is for a cross-validator"),
    (([0, 1, 2], np.eye(3)), {"average": "micro"}, ValueError, r"average must be.*'macro'\?"),
]


@pytest.mark.parametrize("make", [auc_posterior, average_precision_posterior])
@pytest.mark.parametrize(("given", "options", "error", "message"), SCORE_ERRORS)
def test_score_errors(make, given, options, error, message):
    with pytest.raises(error, match=message):
        make(*given, **options)


def test_method_errors():
    with pytest.raises(ValueError, match=r"method must be one of .* Did you mean 'delong'\?"):
        auc_posterior(Y, S, method="delongs")
    with pytest.raises(ValueError, match="n_draws belongs to method='bayesian-bootstrap'"):
        auc_posterior(Y, S, n_draws=100)
    with pytest.raises(ValueError, match="n_draws must be an integer >= 1"):
        auc_posterior(Y, S, method="bayesian-bootstrap", n_draws=0)
    y, score = three_classes()
    with pytest.raises(ValueError, match=r"for two classes, or one class \(pos_label=\)"):
        auc_posterior(y, score, method="bayesian-bootstrap")


@pytest.mark.parametrize("place", [0, 2, 5])
@pytest.mark.parametrize("method", METHODS)
def test_one_positive_row(place, method):
    y = np.zeros(6, dtype=int)
    y[place] = 1
    score = np.arange(6.0)
    posterior = auc_posterior(y, score, method=method)
    low, high = ends(posterior)
    assert posterior.observed == pytest.approx(place / 5)
    assert low <= posterior.observed <= high
    assert high - low > 0.3
    ap = average_precision_posterior(y, score)
    assert ap.interval().low < ap.observed <= ap.interval().high
    result = compare_auc(y, score, score[::-1])
    assert 0 <= result.p_better <= 1


# --------------------------------------------------------------------------------------------------
# Found by looking for trouble


@pytest.mark.parametrize(
    ("classes", "average"), [(6, "macro"), (7, "macro"), (11, "macro"), (6, "weighted")]
)
def test_many_classes_without_any_error(classes, average):
    y = np.repeat(np.arange(classes), 6)
    posterior = auc_posterior(y, np.eye(classes)[y], average=average)
    assert posterior.observed == pytest.approx(1)
    assert posterior.mean() == pytest.approx(stats.beta(6.5, 0.5).mean())
    assert posterior.interval() == (pytest.approx(perfect_low(6)), 1)


@pytest.mark.parametrize(
    "method",
    [
        "logit-delong",
        "bayesian-bootstrap",
        "delong",
    ],
)
def test_constant_scores(method):
    y = np.repeat([0, 1], [8, 12])
    posterior = auc_posterior(y, np.full(20, 0.3), method=method)
    assert posterior.observed == posterior.median() == 0.5
    assert (posterior.cdf(0.49), posterior.cdf(0.51)) == (0, 1)
    assert posterior.pdf(0.4) == 0
    for kind in ("eti", "hdi"):
        with pytest.warns(DegenerateIntervalWarning, match="variance of 0"):
            low, high = posterior.interval(kind=kind)
        assert low <= 0.5 <= high


@pytest.mark.parametrize(
    ("method", "sign"),
    [
        ("logit-delong", 1),
        ("logit-delong", -1),
        ("delong", 1),
        ("delong", -1),
    ],
)
def test_stack_with_a_class_without_any_error(method, sign):
    y, score = three_classes()
    score = sign * np.c_[y == 0, score[:, 1:]]
    stack = auc_posterior(y, score, average=None, method=method)
    single = [auc_posterior(y, score, pos_label=k, method=method) for k in range(3)]
    # Families differ, so the far end of a one-sided posterior is not the same.
    expected = np.array([ends(one) for one in single]).T
    np.testing.assert_allclose(ends(stack), expected, atol=0.02)


def test_stack_of_normals_that_leave_their_range():
    y = [0, 0, 1, 1, 2, 2]
    score = np.array([[1, 0, 0], [1, 0, 1], [0, 2, 1], [0, 0, 3], [0, 1, 2], [0, 1, 0]])
    assert np.all(np.isfinite(ends(auc_posterior(y, score, average=None, method="delong"))))


def test_different_rankings_with_the_same_placements():
    y = np.tile([0, 1, 1], 10)
    score = np.arange(30.0)
    other = score.copy()
    other[[1, 2]] = other[[2, 1]]  # two positives without a negative between them
    assert compare_auc(y, score, other).p_equivalent < 1


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_labels_of_a_cross_validator_in_another_order(estimator, data):
    _, y = data
    expected = auc_posterior(y, fitted(estimator, data, 4)).observed
    turned = fitted(estimator, data, 4, labels=[1, 0])
    assert auc_posterior(y, turned).observed == pytest.approx(expected)


def test_labels_of_a_cross_validator_that_do_not_occur(data):
    _, y = data
    expected = auc_posterior(y, fitted(GaussianNB(), data, 4)).observed
    more = fitted(GaussianNB(), data, 4, labels=[0, 1, 2], pos_label=1)
    assert auc_posterior(y, more).observed == pytest.approx(expected)


@pytest.mark.parametrize("n_draws", [None, 2000])
def test_bootstrap_of_pooled_folds(n_draws, data):
    _, y = data
    bcv = fitted(GaussianNB(), data, StratifiedKFold(5))
    options = {"pooling": "pooled", "method": "bayesian-bootstrap", "n_draws": n_draws}
    spread = auc_posterior(y, bcv, random_state=0, **options).std()
    plain = auc_posterior(y, bcv, pooling="pooled", method="delong").std()
    assert spread == pytest.approx(plain, rel=0.1)


def test_average_is_checked_with_two_classes_too():
    with pytest.raises(ValueError, match="average must be one of"):
        auc_posterior(Y, S, average="micro")


def test_name_of_a_weighted_comparison():
    y, score = three_classes()
    expected = auc_posterior(y, score, average="weighted").metric
    assert compare_auc(y, score, score[::-1], average="weighted").metric == expected
