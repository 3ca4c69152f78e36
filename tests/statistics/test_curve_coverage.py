"""How often intervals of areas and bands of curves hold the truth, with binormal scores.

Negatives are N(0, 1), positives N(d, 1): area Phi(d / sqrt(2)), curve Phi(d + Phi^-1(f)).
Every assertion allows for two standard errors of the share of the replications; seeds are fixed.
"""

import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import average_precision_score

from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    precision_recall_band,
    roc_band,
)
from skuncertain.metrics._scores.pointwise import RateAtRate, Technique

pytestmark = pytest.mark.slow
RUNS, BAND_RUNS = 1500, 300


def distance(area):
    """Distance of the means that has this area."""
    return np.sqrt(2) * norm.ppf(area)


def rows(rng, runs, area, m1, m0):
    """Labels, and scores of all replications."""
    y = np.repeat([1, 0], [m1, m0])
    return y, distance(area) * y + rng.normal(size=(runs, y.size))


def error(share, runs):
    """Two standard errors of a share of the runs."""
    return 2 * np.sqrt(share * (1 - share) / runs)


def held(intervals, truth):
    """Share of intervals that hold the truth, and their mean length."""
    low, high = np.array(intervals).T
    return np.mean((low <= truth) & (truth <= high)), np.mean(high - low)


def auc_intervals(y, scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateIntervalWarning)  # of method="delong"
        return [auc_posterior(y, score, **options).interval() for score in scores]


@pytest.mark.parametrize("m", [50, 100])
@pytest.mark.parametrize("area", [0.63, 0.86, 0.93, 0.97])
def test_area(area, m):
    y, scores = rows(np.random.default_rng(int(1000 * area) + m), RUNS, area, m, m)
    share, _ = held(auc_intervals(y, scores), area)
    assert share > 0.93 - error(0.93, RUNS)  # .013
    assert share < 0.97 + error(0.97, RUNS)  # .009


def test_area_of_few_positives():
    y, scores = rows(np.random.default_rng(15), RUNS, 0.93, 15, 200)
    share, _ = held(auc_intervals(y, scores), 0.93)
    assert share > 0.93 - error(0.93, RUNS)


def test_plain_delong_falls_short():
    y, scores = rows(np.random.default_rng(97), RUNS, 0.97, 50, 50)
    plain, _ = held(auc_intervals(y, scores, method="delong"), 0.97)
    default, _ = held(auc_intervals(y, scores), 0.97)
    # The same rows: the standard error of the difference is smaller than that of either.
    assert plain < 0.93 + error(0.93, RUNS)
    assert default > plain + error(0.05, RUNS)


def test_average_precision():
    """The truth is that of a population with this prevalence, by a large sample."""
    rng = np.random.default_rng(3)
    runs, n, area, prevalence = 800, 200, 0.86, 0.3
    many = rng.random(1_000_000) < prevalence
    truth = average_precision_score(many, distance(area) * many + rng.normal(size=many.size))
    intervals = []
    for _ in range(runs):
        y = rng.random(n) < prevalence
        score = distance(area) * y + rng.normal(size=n)
        intervals.append(average_precision_posterior(y, score).interval())
    share, _ = held(intervals, truth)
    assert share > 0.90 - error(0.90, runs)  # .021


def steps(x):
    """Where a step function of x is most extreme: next to both ends of every step."""
    return np.clip(np.r_[x[:-1] + 1e-12, x[1:] - 1e-12], 1e-12, 1 - 1e-12)


def dkw_width(y, score, level=0.95):
    """Mean width of the hull of boxes by Dvoretzky, Kiefer and Wolfowitz, for both classes."""
    y = y.astype(bool)
    cuts = np.r_[np.inf, np.sort(score)[::-1]]
    rates, grid = [], np.linspace(0, 1, 501)
    for part in (score[~y], score[y]):
        half = np.sqrt(np.log(2 / (1 - np.sqrt(level))) / (2 * part.size))
        reached = (part.size - np.searchsorted(np.sort(part), cuts)) / part.size
        rates.append((np.maximum(reached - half, 0), np.minimum(reached + half, 1)))
    (fpr_low, fpr_high), (tpr_low, tpr_high) = rates
    below = np.searchsorted(fpr_high, grid, side="right") - 1
    low = np.where(below >= 0, tpr_low[below], 0.0)
    return np.mean(tpr_high[np.searchsorted(fpr_low, grid, side="right") - 1] - low)


@pytest.mark.parametrize("sizes", [(50, 50), (200, 200), (50, 500)])
def test_roc_band(sizes):
    area = 0.9
    y, scores = rows(np.random.default_rng(sum(sizes)), BAND_RUNS, area, *sizes)
    inside, widths, grid = [], [], np.linspace(0, 1, 501)
    for score in scores:
        band = roc_band(y, score)
        x = steps(band.fpr)
        low, high = band.at(x)
        truth = norm.cdf(distance(area) + norm.ppf(x))
        inside.append(np.all((low <= truth) & (truth <= high)))
        low, high = band.at(grid)
        widths.append((np.mean(high - low), dkw_width(y, score)))
    assert np.mean(inside) >= 0.95 - error(0.95, BAND_RUNS)  # .025
    ours, theirs = np.mean(widths, axis=0)
    spread = np.std([a - b for a, b in widths]) / np.sqrt(BAND_RUNS)
    assert ours < theirs - 2 * spread
    assert ours < 0.95 * theirs


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_pointwise_roc_band(kind):
    """The true positive rate at fixed false positive rates, not at fixed thresholds.

    The band is asked where its `at` asks, without its grid. benchmarks/pointwise_bands.py has many
    more cases and samples.
    """
    rng, m, runs, fpr = np.random.default_rng(86), 100, 400, np.array([0.1, 0.2, 0.5])
    d, y, inside = distance(0.86), np.repeat([1, 0], m), []
    for _ in range(runs):
        if kind == "normal":
            score, truth = d * y + rng.normal(size=2 * m), norm.cdf(d + norm.ppf(fpr))
        else:
            score, truth = rng.exponential(1 + 3 * y), fpr**0.25
        low, high = RateAtRate.of(score[y == 1], score[y == 0], Technique()).interval(fpr, 0.95)
        inside.append((low <= truth) & (truth <= high))
    np.testing.assert_allclose((low, high), roc_band(y, score, band="pointwise").at(fpr), atol=1e-9)
    shares = np.mean(inside, axis=0)
    assert np.all(shares >= 0.93 - error(0.93, runs))  # .026
    assert np.all(shares <= 0.97 + error(0.97, runs))  # .017


@pytest.mark.parametrize("sizes", [(30, 30), (100, 100), (30, 200)])
def test_pointwise_precision_recall_band(sizes):
    """The precision at fixed recalls. The band is asked where its `at` asks, without its grid."""
    rng, runs, recall = np.random.default_rng(87), 1000, np.array([0.2, 0.5, 0.8])
    n, share, d = sum(sizes), sizes[0] / sum(sizes), distance(0.86)
    fpr, ends = norm.cdf(norm.ppf(recall) - d), []
    for _ in range(runs):
        k = rng.binomial(n, share)
        negatives, positives = rng.normal(size=n - k), d + rng.normal(size=k)
        rate = RateAtRate.of(negatives, positives, Technique())
        ends.append(rate.precision(recall, (k + 0.5, n - k + 0.5), 0.95))
    truth = share * recall / (share * recall + (1 - share) * fpr)
    low, high = np.moveaxis(ends, 1, 0)
    shares = np.mean((low <= truth) & (truth <= high), axis=0)
    assert np.all(shares >= 0.94 - error(0.94, runs))  # .015
    assert np.all(shares[1:] <= 0.975 + error(0.975, runs))  # .010
    # At a recall of 0.2 a few false positives decide: there it is too long.
    assert shares[0] <= 0.99 + error(0.99, runs)
    y = np.repeat([1, 0], [k, n - k])
    last = precision_recall_band(y, np.r_[positives, negatives], band="pointwise").at(recall)
    np.testing.assert_allclose(last, ends[-1], rtol=1e-9)


def test_precision_recall_band():
    rng = np.random.default_rng(5)
    area, n, prevalence, runs = 0.9, 120, 0.4, 300
    inside = []
    for _ in range(runs):
        y = rng.random(n) < prevalence
        band = precision_recall_band(y, distance(area) * y + rng.normal(size=n))
        x = steps(band.recall)
        low, high = band.at(x)
        false = norm.cdf(norm.ppf(x) - distance(area))
        truth = prevalence * x / (prevalence * x + (1 - prevalence) * false)
        inside.append(np.all((low <= truth + 1e-9) & (truth <= high + 1e-9)))
    assert np.mean(inside) >= 0.95 - error(0.95, runs)


def test_roc_band_of_rounded_scores():
    area, m = 0.9, 200
    y, scores = rows(np.random.default_rng(8), 100, area, m, m)
    cuts = np.array([-0.5, 0.5, 1.5, 2.5])
    fpr = np.r_[0, norm.sf(cuts)[::-1], 1]
    tpr = np.r_[0, norm.sf(cuts - distance(area))[::-1], 1]
    grid = np.linspace(0, 1, 501)
    truth = np.interp(grid, fpr, tpr)
    inside = []
    for score in scores:
        low, high = roc_band(y, np.digitize(score, cuts)).at(grid)
        inside.append(np.all((low <= truth + 1e-9) & (truth <= high + 1e-9)))
    assert np.mean(inside) >= 0.95 - error(0.95, 100)  # .044
