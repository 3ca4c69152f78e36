"""Area under the ROC curve and average precision: values, spread, answers."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score, roc_auc_score

from auc_cases import (
    METHODS,
    Z,
    bootstrap,
    delong_covariance,
    ends,
    influence,
    perfect_low,
    sample,
    three_classes,
)
from skuncertain.comparison import compare_auc
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics import auc_posterior, average_precision_posterior

# Few rows are told; tests/metrics/test_few_positives.py is about that.
pytestmark = pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")

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
    assert posterior.description == method
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
    # Without pos_label: 1 if there is a 1, otherwise the last, as in scikit-learn.
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
        y, score, average=None, method="bayesian_bootstrap", n_draws=50, random_state=3
    )
    assert drawn.shape == (3,)
    one = auc_posterior(
        y, score, pos_label=1, method="bayesian_bootstrap", n_draws=50, random_state=3
    )
    assert drawn.interval().low[1] == pytest.approx(one.interval().low)


def test_many_rows():
    y, score = sample(0, m1=5_000, m0=95_000)
    expected = roc_auc_score(y, score)
    assert auc_posterior(y, score).observed == pytest.approx(expected, abs=1e-12)
    matched = auc_posterior(y, score, method="bayesian_bootstrap").interval()
    np.testing.assert_allclose(auc_posterior(y, score).interval(), matched, atol=5e-5)
    drawn = auc_posterior(y, score, method="bayesian_bootstrap", n_draws=20, random_state=0)
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
    quantiles = stats.norm(area, expected).ppf([0.05, 0.95])
    np.testing.assert_allclose(posterior.quantile([0.05, 0.95]), quantiles, atol=1e-8)
    np.testing.assert_allclose(ends(posterior, 0.9), np.clip(quantiles, 0, 1), atol=1e-8)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_logit_delong_is_students_t_on_the_logit_scale(digits, level, global_random_seed):
    y, score = sample(global_random_seed, 40, 50, digits=digits)
    area, error = roc_auc_score(y, score), np.sqrt(delong_covariance(y, score, score))
    t = stats.t(39).ppf((1 + level) / 2)
    expected = expit(logit(area) + np.array([-t, t]) * error / (area * (1 - area)))
    assert expected[0] < perfect_low(40)  # the guard has nothing to do
    np.testing.assert_allclose(auc_posterior(y, score).interval(level), expected, rtol=1e-11)


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
    posterior = auc_posterior(y, score, method="bayesian_bootstrap")
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
    options = {"method": "bayesian_bootstrap", "n_draws": 20_000}
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
    ("method", "n_draws"), [(name, None) for name in METHODS] + [("bayesian_bootstrap", 4000)]
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
    t = stats.t(min(sizes) - 1).ppf(0.975)
    spread = (logit(high) - logit(low)) / (2 * t) * value * (1 - value)
    assert low < perfect_low(min(sizes)) - 1e-6  # not the guard
    # Within a class of m rows there are m - 1 degrees of freedom.
    slopes, variance = np.array(slopes), 0.0
    for part in (slopes[y == 1], slopes[y == 0]):
        variance += part.size * (part.mean() ** 2 + np.var(part, ddof=1))
    assert spread == pytest.approx(np.sqrt(variance), rel=1e-6)
    assert posterior.median() == pytest.approx(value)
    # The jackknife leaves rows out: equal up to terms of order 1 / (positive rows).
    left_out = np.array([weighted(i, 0) for i in range(n)])
    jackknife = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    assert spread == pytest.approx(jackknife, rel=6 / sizes[0])


def test_average_precision_of_a_perfect_ranking():
    y, score = sample(0, 8, 20, shift=100)
    posterior = average_precision_posterior(y, score)
    # Rows that could be ranked at random leave the precision of chance.
    chance = 8 / 28
    assert posterior.interval() == (pytest.approx(chance + (1 - chance) * perfect_low(8)), 1)
    worst = average_precision_posterior(y, -score)
    assert 0 < worst.interval().low < worst.observed < worst.interval().high < 1


# --------------------------------------------------------------------------------------------------
# What posteriors answer


def logit_students():
    perfect_but_one = np.arange(40.0)
    perfect_but_one[[19, 20]] = perfect_but_one[[20, 19]]
    yield auc_posterior(*sample(0))
    yield auc_posterior(*sample(1, 5, 6, shift=0.2))
    yield auc_posterior(*sample(2, 400, 600, shift=2))
    yield auc_posterior(np.repeat([0, 1], 20), perfect_but_one)
    yield average_precision_posterior(*sample(3, 16, 60))


def integral_of_quantiles(student, function):
    """Mean of a function of the value, over probabilities."""
    edges = [0, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6, 1]
    return sum(
        quad(lambda p: function(expit(student.ppf(p))), *ab, epsabs=1e-12, limit=200)[0]
        for ab in pairwise(edges)
    )


@pytest.mark.parametrize("posterior", logit_students(), ids=str)
def test_logit_student(posterior):
    median, standard = posterior.median(), stats.t(posterior.df)
    # From two of its quantiles everything else follows.
    scale = (logit(posterior.quantile(standard.cdf(1))) - logit(median)) / 1.0
    edges = np.r_[0.0, posterior.quantile([1e-4, 0.1, 0.5, 0.9, 1 - 1e-4]), 1.0]

    def integral(function):
        inner = pairwise(edges[1:-1])
        return sum(quad(function, *ab, epsabs=1e-12, limit=200)[0] for ab in inner)

    student = stats.t(posterior.df, logit(median), scale)
    tails = posterior.cdf(edges[1]) + 1 - posterior.cdf(edges[-2])
    assert integral(posterior.pdf) == pytest.approx(1 - tails, abs=1e-8)
    # Moments over the probabilities: the density has poles at 0 and 1.
    mean = integral_of_quantiles(student, lambda x: x)
    assert posterior.mean() == pytest.approx(mean, abs=1e-7)
    spread = np.sqrt(integral_of_quantiles(student, lambda x: (x - mean) ** 2))
    assert posterior.std() == pytest.approx(spread, abs=1e-7)
    x = np.linspace(0.01, 0.99, 23)
    np.testing.assert_allclose(posterior.cdf(x), student.cdf(logit(x)), atol=1e-11)
    np.testing.assert_allclose(posterior.pdf(x), student.pdf(logit(x)) / (x * (1 - x)), rtol=1e-7)
    q = np.array([0.0, 1e-6, 0.2, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, atol=1e-12)
    assert posterior.cdf(-1) == 0
    assert posterior.cdf(2) == 1
    assert posterior.prob(0.7, 0.8) == pytest.approx(posterior.cdf(0.8) - posterior.cdf(0.7))
    assert np.all(posterior.pdf([-0.1, 1.1]) == 0)
    for level in (0.5, 0.95):
        (a, b), (low, high) = posterior.interval(level, "hdi"), posterior.interval(level)
        assert posterior.prob(a, b) == pytest.approx(level, abs=1e-8)
        # Quantiles of Student's t have nine digits in the oldest SciPy.
        assert posterior.prob(low, high) == pytest.approx(level, abs=2e-9)
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
    assert low < posterior.observed < high == 1  # cut off there
    assert posterior.quantile(0.975) > 1  # the quantile stays that of the normal
    assert low == posterior.quantile(0.025)
    with pytest.warns(DegenerateIntervalWarning):
        mirrored = auc_posterior(y, -score, method="delong").interval(0.9, "hdi")
    assert mirrored.low == 0 < mirrored.high
    assert auc_posterior(y, score).interval().high < 1


# --------------------------------------------------------------------------------------------------
# Wrong and small input

Y, S = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8]
SCORE_ERRORS = [
    (([0, 1, 1], [1, 2, np.nan]), {}, ValueError, "finite numbers, got NaN"),
    (([0, 1, 1], [1, 2, np.inf]), {}, ValueError, "finite numbers, got NaN or infinity"),
    ((Y, S[:3]), {}, ValueError, "same length, got 4 and 3"),
    (([1, 1, 1], [1, 2, 3]), {}, ValueError, r"y_true must hold.*at least two classes, got \[1\]"),
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
    (([0, 1, np.nan, 1], S), {}, ValueError, "y_true has 1 missing label .*drop"),
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
    with pytest.raises(ValueError, match="n_draws belongs to method='bayesian_bootstrap'"):
        auc_posterior(Y, S, n_draws=100)
    with pytest.raises(ValueError, match="n_draws must be an integer >= 1"):
        auc_posterior(Y, S, method="bayesian_bootstrap", n_draws=0)
    y, score = three_classes()
    with pytest.raises(ValueError, match=r"for two classes, or one class \(pos_label=\)"):
        auc_posterior(y, score, method="bayesian_bootstrap")


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
    # Classes of the same size prove together what one class with all their rows would.
    assert posterior.mean() == pytest.approx(stats.beta(6 * classes + 0.5, 0.5).mean())
    assert posterior.interval() == (pytest.approx(perfect_low(6 * classes)), 1)


@pytest.mark.parametrize(
    "method",
    [
        "logit_delong",
        "bayesian_bootstrap",
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
        ("logit_delong", 1),
        ("logit_delong", -1),
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


def test_difference_of_areas_stays_in_its_range():
    y, score = [0, 0, 0, 1, 1, 1], np.array([1.0, 2, 4, 3, 5, 6])
    difference = compare_auc(y, -score, score).difference
    assert difference.quantile(0.9995) > 1
    with pytest.warns(DegenerateIntervalWarning, match="cut off there"):
        low, high = difference.interval(0.999)
    assert -1 <= low < high == 1


def test_different_rankings_with_the_same_placements():
    y = np.tile([0, 1, 1], 10)
    score = np.arange(30.0)
    other = score.copy()
    other[[1, 2]] = other[[2, 1]]  # two positives without a negative between them
    assert compare_auc(y, score, other).p_equivalent < 1


def test_average_is_checked_with_two_classes_too():
    with pytest.raises(ValueError, match="average must be one of"):
        auc_posterior(Y, S, average="micro")


def test_name_of_a_weighted_comparison():
    y, score = three_classes()
    expected = auc_posterior(y, score, average="weighted").metric
    assert compare_auc(y, score, score[::-1], average="weighted").metric == expected


def test_tied_scores_warn_that_there_is_no_width():
    with pytest.warns(DegenerateIntervalWarning, match="variance of 0"):
        low, high = auc_posterior([0, 1, 0, 1], [3.0, 3.0, 3.0, 3.0]).interval()
    assert low == high == 0.5


def test_a_stack_warns_once():
    y, score = [0, 1, 2, 0, 1, 2], np.zeros((6, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        auc_posterior(y, score, average=None).interval()
    assert len(caught) == 1
