"""Pointwise bands: one rate where the other one is fixed."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import precision_recall_band, roc_band


def sample(seed, m1=40, m0=25):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [m1, m0])
    return y, 1.2 * y + rng.normal(size=y.size)


def in_plain_loops(y, score, u, p, prior=0.5):
    """Quantile of the true positive rate at the false positive rate u."""
    positives, negatives = score[y == 1], np.sort(score[y == 0])[::-1]
    n, m = len(positives), len(negatives)
    above = [0, *(int(np.sum(positives > t)) for t in negatives), n]
    middle = [(a + b) / 2 for a, b in pairwise(above)]
    weight = [stats.binom.pmf(j, m, u) for j in range(m + 1)]
    centre = sum(w * k for w, k in zip(weight, middle, strict=True))
    cross = sum(w * (j - m * u) * k for j, (w, k) in enumerate(zip(weight, middle, strict=True)))
    slope = cross / (m * u * (1 - u))
    hits = [min(max(centre + slope * (j - m * u), 0), n) for j in range(m + 1)]

    def cdf(x):
        betas = (stats.beta.cdf(x, k + prior, n - k + prior) for k in hits)
        return sum(w * b for w, b in zip(weight, betas, strict=True))

    return optimize.brentq(lambda x: cdf(x) - p, 1e-12, 1 - 1e-12, xtol=1e-13)


@pytest.mark.parametrize("prior", [0.5, 1.0])
@pytest.mark.parametrize("u", [0.04, 0.2, 0.6])
def test_against_plain_loops(u, prior, global_random_seed):
    y, score = sample(global_random_seed)
    low, high = roc_band(y, score, band="pointwise", level=0.9, prior=prior).at(u)
    assert low == pytest.approx(in_plain_loops(y, score, u, 0.05, prior), abs=1e-7)
    assert high == pytest.approx(in_plain_loops(y, score, u, 0.95, prior), abs=1e-7)


def test_the_variance_has_two_parts(global_random_seed):
    """Of many rows the band is normal: that of the rate, and the slope times that of the FPR."""
    rng = np.random.default_rng(global_random_seed)
    m1, m0, d, u = 40_000, 20_000, 1.2, 0.2
    y = np.repeat([1, 0], [m1, m0])
    low, high = roc_band(y, d * y + rng.normal(size=y.size), band="pointwise").at(u)
    z = stats.norm.ppf(u)
    tpr, slope = stats.norm.cdf(d + z), stats.norm.pdf(d + z) / stats.norm.pdf(z)
    variance = tpr * (1 - tpr) / m1 + slope**2 * u * (1 - u) / m0
    assert (high - low) / 2 / 1.96 == pytest.approx(np.sqrt(variance), rel=0.06)
    assert low < tpr + 2 * np.sqrt(variance)
    assert high > tpr - 2 * np.sqrt(variance)


def test_methods_agree_on_many_rows_and_differ_on_few():
    methods = ("beta", "wilson", "clopper_pearson", "agresti_coull", "jeffreys")
    for rows, close in ((20, False), (4000, True)):
        y, score = sample(0, rows, rows)
        ends = [roc_band(y, score, band="pointwise", method=method).at(0.3) for method in methods]
        assert np.ptp(ends, axis=0).max() < (0.002 if close else 0.1)
        widths = dict(zip(methods, np.diff(ends, axis=1)[:, 0], strict=True))
        assert widths["clopper_pearson"] > widths["beta"] == widths["jeffreys"]


def test_ties_are_the_line_between_the_corners():
    y = np.repeat([1, 0], 200)
    found = roc_band(y, np.zeros(400), band="pointwise")
    low, high = found.at([0.25, 0.5, 0.75])
    np.testing.assert_allclose((low + high) / 2, [0.25, 0.5, 0.75], atol=0.01)
    assert np.all(high - low > 0.1)


def test_ends_of_the_curve():
    y, score = sample(0)
    low, high = roc_band(y, score, band="pointwise").at([0.0, 1.0])
    assert low[0] == 0
    assert high[1] == 1
    assert 0 < high[0] < 1
    low, high = precision_recall_band(y, score, band="pointwise").at([0.0, 1.0])
    assert (low[0], high[0]) == (0, 1)
    assert 0 < low[1] < high[1] < 1
    perfect = roc_band(y, y, band="pointwise")
    assert perfect.at(0.3)[1] == 1
    assert perfect.at(0.3)[0] > 0.9


def test_precision_against_draws(global_random_seed):
    y, score = sample(1)
    recall, draws = 0.85, 200_000
    low, high = precision_recall_band(y, score, band="pointwise").at(recall)
    rng = np.random.default_rng(global_random_seed)
    positives, negatives = np.sort(score[y == 1])[::-1], score[y == 0]
    n, m = len(positives), len(negatives)
    above = np.r_[0, [np.sum(negatives > t) for t in positives], m]
    middle = (above[1:] + above[:-1]) / 2
    weight = stats.binom.pmf(np.arange(n + 1), n, recall)
    away = np.arange(n + 1) - n * recall
    slope = (weight * away * middle).sum() / (weight * away**2).sum()
    hits = np.clip((weight * middle).sum() + slope * away, 0, m)[rng.binomial(n, recall, draws)]
    fpr, share = rng.beta(hits + 0.5, m - hits + 0.5), rng.beta(n + 0.5, m + 0.5, draws)
    found = np.quantile(share * recall / (share * recall + (1 - share) * fpr), [0.025, 0.975])
    np.testing.assert_allclose((low, high), found, atol=0.004)
    known = precision_recall_band(y, score, band="pointwise", prevalence=40 / 65).at(recall)
    assert low < known[0] < known[1] < high


def test_thousands_of_places_are_interpolated():
    y, score = sample(0)
    found = roc_band(y, score, band="pointwise")
    grid = np.linspace(0.001, 0.999, 3000)
    for many, one in zip(found.at(grid), found.at(grid[::100]), strict=True):
        np.testing.assert_allclose(many[::100], one, atol=2e-5)


def test_thresholds_without_a_hit_are_kept():
    """The best row is negative: there precision and recall are 0, as scikit-learn has it."""
    y, score = np.array([0, 1, 1, 0]), np.array([4.0, 3.0, 2.0, 1.0])
    found = precision_recall_band(y, score)
    np.testing.assert_array_equal(found.thresholds, [4, 3, 2, 1])
    np.testing.assert_allclose(found.curve_recall, [0, 0.5, 1, 1])
    np.testing.assert_allclose(found.curve_precision, [0, 1 / 2, 2 / 3, 1 / 2])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "wilson"}, "method belongs to band='pointwise'"),
        ({"prior": 1}, "prior belongs to band='pointwise'"),
        ({"band": "pointwise", "method": "wald"}, "method must be one of"),
        ({"band": "pointwise", "method": "wilson", "prior": 1}, "prior belongs to method='beta'"),
        ({"band": "pointwise", "prior": -1}, "prior must be"),
    ],
)
@pytest.mark.parametrize("make", [roc_band, precision_recall_band])
def test_what_cannot_be_is_refused(make, options, match):
    with pytest.raises(InvalidParameterError, match=match):
        make(*sample(0), **options)
