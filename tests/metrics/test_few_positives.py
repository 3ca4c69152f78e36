"""Areas and average precisions of few rows: guards, degrees of freedom, warnings."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score, roc_auc_score

from auc_cases import delong_covariance, ends, influence, pairs, perfect_low, sample
from skuncertain.comparison import compare_auc
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics import auc_posterior, average_precision_posterior

quiet = pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")


def classes(seed, sizes, shifts):
    """Labels and normal scores, a column per class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return y, rng.normal(size=(y.size, len(sizes))) + np.eye(len(sizes))[y] * np.array(shifts)


def stratified_bootstrap(y, score, size, rng):
    """Macro areas of resampled rows, the classes keeping their sizes."""
    weights = np.empty((size, y.size))
    for k in np.unique(y):
        m = np.sum(y == k)
        weights[:, y == k] = rng.multinomial(m, np.full(m, 1 / m), size) / m
    found = 0.0
    for k in np.unique(y):
        others = weights[:, y != k] / weights[:, y != k].sum(axis=1, keepdims=True)
        found += np.einsum(
            "di,di->d", weights[:, y == k] @ pairs(y == k, score[:, k]), others, optimize=True
        )
    return found / np.unique(y).size


# --------------------------------------------------------------------------------------------------
# Averages over classes


@quiet
@pytest.mark.parametrize("seed", [0, 3])
def test_one_class_of_three_rows(seed):
    y, score = classes(seed, [300] * 5 + [3], [4.4] * 6)
    posterior = auc_posterior(y, score)
    assert 0.999 < posterior.observed < 0.9997
    draws = np.sort(stratified_bootstrap(y, score, 2000, np.random.default_rng(seed)))
    for end, q in zip(posterior.interval(), (0.025, 0.975), strict=True):
        # Order statistics 4.5 binomial standard errors away bound the resamples' quantile.
        reach = 4.5 * np.sqrt(q * (1 - q) * draws.size)
        first, last = np.clip([q * draws.size - reach, q * draws.size + reach], 0, 1999).astype(int)
        assert max(abs(end - draws[first]), abs(end - draws[last])) < 0.01


@quiet
def test_average_without_any_error():
    sizes = np.array([40, 12, 3])
    y = np.repeat(np.arange(3), sizes)
    for average, weights in (("macro", np.full(3, 1 / 3)), ("weighted", sizes / sizes.sum())):
        smaller = np.minimum(sizes, sizes.sum() - sizes)
        # The variance of the mean of rates 1 / (2 M), as one class of so many rows has it.
        size = np.sqrt(smaller.sum() / np.sum(weights**2 / smaller))
        posterior = auc_posterior(y, np.eye(3)[y], average=average)
        assert posterior.interval() == (pytest.approx(perfect_low(size)), 1)
        assert smaller.min() < size < smaller.sum() + 1e-9
    worst = auc_posterior(y, -np.eye(3)[y], average="weighted")
    assert worst.interval() == (0, pytest.approx(1 - perfect_low(size)))


@quiet
def test_small_class_without_error_borrows_the_spread_of_the_others():
    y, score = classes(1, [100, 100, 100, 3], [1.0, 1.0, 1.0, 50.0])
    assert roc_auc_score(y == 3, score[:, 3]) == 1
    parts = [influence(y == k, score[:, k]) for k in range(4)]
    sizes, seen = np.array([100, 100, 100, 3]), np.array([part @ part for part in parts])
    typical = np.average(sizes * seen, weights=sizes - 1) / sizes
    raised = np.maximum(seen, (2 * typical + (sizes - 1) * seen) / (sizes + 1))
    assert seen[3] == 0 < raised[3]
    total = sum(parts) / 4
    variance = total @ total + np.sum(raised - seen) / 16
    df = raised.sum() ** 2 / np.sum(raised**2 / (sizes - 1))
    posterior = auc_posterior(y, score)
    mean = posterior.observed
    reach = stats.t(df).ppf(0.975) * np.sqrt(variance) / (mean * (1 - mean))
    expected = expit(logit(mean) + np.array([-reach, reach]))
    np.testing.assert_allclose(posterior.interval(), expected, rtol=1e-9)
    # The normal as it is stays DeLong's.
    plain = auc_posterior(y, score, method="delong")
    assert plain.std() == pytest.approx(np.linalg.norm(total), rel=1e-9)


@quiet
def test_average_reaches_no_farther_than_its_classes():
    y, score = classes(2, [300] * 5 + [3], [5.0] * 6)
    score[y == 5, 5] = [9.0, 9.0, 1.0]  # one of three rows ranks low
    posterior = auc_posterior(y, score)
    # Whatever the area of the last class is, the others are nearly perfect.
    assert 0.8 < posterior.interval().low < posterior.observed < posterior.interval().high < 1


@quiet
def test_classes_that_cancel_are_not_certain():
    y = np.repeat([0, 1, 2], 8)
    score = np.c_[y == 0, y != 1, np.zeros(24)]
    posterior = auc_posterior(y, score)
    assert posterior.observed == pytest.approx(0.5)
    assert np.ptp(posterior.interval()) > 0.1


@quiet
def test_one_class_is_its_own_average():
    # Two columns with the same ranking have the variance of one.
    y, score = sample(5, 6, 40)
    three = np.where(y == 1, 2, np.arange(y.size) % 2)
    posterior = auc_posterior(three, np.c_[-score, -score, score], pos_label=2)
    expected = auc_posterior(y, score)
    np.testing.assert_allclose(posterior.interval(), expected.interval(), rtol=1e-12)
    assert (posterior.df, expected.df) == (5, 5)


# --------------------------------------------------------------------------------------------------
# Student's t


@quiet
@pytest.mark.parametrize("sizes", [(2, 30), (5, 200), (200, 5), (9, 9)])
@pytest.mark.parametrize("level", [0.8, 0.99])
def test_quantiles_of_few_rows(sizes, level):
    y, score = sample(11, *sizes, shift=0.3)
    area, error = roc_auc_score(y, score), np.sqrt(delong_covariance(y, score, score))
    m = min(sizes)
    scale = error / (area * (1 - area))
    bound, t = logit(perfect_low(m)), stats.t(m - 1).ppf(0.975)
    scale = max(scale, (logit(area) - bound) / t, (-bound - logit(area)) / t)
    reach = stats.t(m - 1).ppf((1 + level) / 2) * scale
    found = auc_posterior(y, score).interval(level)
    np.testing.assert_allclose(found, expit(logit(area) + np.array([-reach, reach])), rtol=1e-9)


@quiet
def test_one_row_has_the_guard():
    y, score = sample(0, 1, 60, shift=0.5)
    low, high = auc_posterior(y, score).interval()
    assert low <= perfect_low(1) + 1e-12
    assert high >= 1 - perfect_low(1) - 1e-12


@quiet
@pytest.mark.parametrize("m", [7, 30])
def test_difference_of_few_rows(m):
    y, one = sample(2, m, 60, shift=0.2)  # far from perfect
    two = one + np.random.default_rng(3).normal(scale=0.7, size=y.size)
    result = compare_auc(y, one, two)
    spread = np.linalg.norm(influence(y, two) - influence(y, one))
    expected = stats.t(m - 1, roc_auc_score(y, two) - roc_auc_score(y, one), spread)
    np.testing.assert_allclose(ends(result), np.clip(expected.ppf([0.025, 0.975]), -1, 1))
    assert result.p_better == pytest.approx(expected.sf(0), abs=1e-10)
    assert f"t with {m - 1} df" in repr(result)
    with pytest.raises(ValueError, match=r"method must be one of.*'delong'\?"):
        compare_auc(y, one, two, method="delon")


def test_nearly_perfect_hides_as_much_as_perfect():
    y = np.repeat([0, 1], 12)
    perfect = np.arange(24.0)
    nearly, weak = perfect.copy(), np.random.default_rng(0).normal(size=24)
    nearly[[11, 12]] = nearly[[12, 11]]  # one of 144 pairs is wrong
    first, second = (compare_auc(y, weak, good).difference.scale for good in (perfect, nearly))
    assert second == pytest.approx(first, rel=0.05)


@quiet
@pytest.mark.parametrize("seed", range(5))
def test_plain_delong_stays_inside(seed):
    y, score = classes(seed, [4, 5, 30], [2.0, 3.0, -3.0])
    for average in (None, "macro"):
        low, high = ends(auc_posterior(y, score, average=average, method="delong"), 0.999)
        assert np.all((low >= 0) & (high <= 1) & (low < high))


# --------------------------------------------------------------------------------------------------
# Average precision


@pytest.mark.parametrize("sizes", [(20, 2000), (40, 4000)])
def test_small_average_precision_is_nothing_special(sizes):
    y, score = sample(4, *sizes, shift=0.2)
    value, m1 = average_precision_score(y, score), sizes[0]
    assert value < 1 - perfect_low(m1)  # an area that small would be mirrored
    posterior = average_precision_posterior(y, score)
    # By hand: the derivative by the weight of every row, in O(n) per positive.
    order = np.argsort(-score)
    hit = y[order].astype(float)
    total, true = np.arange(1, y.size + 1), np.cumsum(hit)
    precision = true / total
    gain = np.cumsum((hit * (total - true) / total**2)[::-1])[::-1]
    loss = np.cumsum((hit * true / total**2)[::-1])[::-1]
    slope = np.where(hit == 1, precision - value + gain, -loss) / m1
    variance = sum(
        part.size * (part.mean() ** 2 + np.var(part, ddof=1))
        for part in (slope[hit == 1], slope[hit == 0])
    )
    reach = stats.t(m1 - 1).ppf(0.975) * np.sqrt(variance) / (value * (1 - value))
    expected = expit(logit(value) + np.array([-reach, reach]))
    np.testing.assert_allclose(posterior.interval(), expected, rtol=1e-9)


@quiet
def test_perfect_average_precision_is_not_below_chance():
    y = np.repeat([1, 0], [97, 3])
    low, high = average_precision_posterior(y, y).interval()
    assert (low, high) == (pytest.approx(0.97 + 0.03 * perfect_low(3)), 1)
    nearly = np.r_[np.arange(97.0) + 3, 0, 1, 3.5]  # one positive below one negative
    posterior = average_precision_posterior(y, nearly)
    assert posterior.observed < 1
    assert posterior.interval().low <= low + 1e-12


# --------------------------------------------------------------------------------------------------
# Warnings


def told(make, *args, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(*args, **options)
    return [str(one.message) for one in caught if one.category is SmallSampleWarning]


def test_bootstrap_of_few_rows_is_told():
    for options in ({}, {"n_draws": 50, "random_state": 0}):
        few = {"method": "bayesian_bootstrap", **options}
        (text,) = told(auc_posterior, *sample(0, 8, 60), **few)
        assert "too short: in simulations its 95 % intervals covered" in text
        assert told(auc_posterior, *sample(0, 60, 60), **few) == []
    assert told(auc_posterior, *sample(0, 8, 60)) == []
    y, score = classes(0, [6, 7, 60], [1.0, 1.0, 1.0])
    texts = told(auc_posterior, y, score, average=None, method="bayesian_bootstrap")
    assert len(texts) == 1


def test_average_precision_of_few_rows_is_told():
    (text,) = told(average_precision_posterior, *sample(0, 8, 60))
    assert "average precision of 8" in text
    assert told(average_precision_posterior, *sample(0, 30, 60)) == []


def test_small_class_without_error_is_told():
    y, score = classes(0, [300] * 5 + [3], [4.4] * 6)
    (text,) = told(auc_posterior, y, score)
    assert "a class with 3 rows is ranked without error" in text
    # Classes of one size hide nothing that the average does not know of.
    equal = np.repeat(np.arange(4), 6)
    assert told(auc_posterior, equal, np.eye(4)[equal]) == []
    assert told(auc_posterior, *classes(0, [40, 40, 40], [1.0, 1.0, 1.0])) == []
