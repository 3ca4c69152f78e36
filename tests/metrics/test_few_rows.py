"""Intervals of averages over classes with few rows."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from skuncertain import ConfusionCounts
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics import get_metric
from skuncertain.metrics._few_rows import not_mended


def _balanced(n_classes, rows, recall=0.8):
    """Sample of a table whose classes are all alike, and the true macro F1."""
    off = (1 - recall) / (n_classes - 1)
    cells = (off + (recall - off) * np.eye(n_classes)) / n_classes
    sample = np.random.default_rng(8).multinomial(n_classes * rows, cells.ravel(), size=300)
    sample = sample.reshape(-1, n_classes, n_classes)
    seen = (sample.sum(axis=-1) > 0) | (sample.sum(axis=-2) > 0)
    return sample[seen.all(axis=-1)], recall


def test_the_interval_is_wider_than_the_quantiles_and_covers():
    sample, truth = _balanced(30, 5)
    posterior = ConfusionCounts(sample).posterior("f1_macro", random_state=0)
    low, high = posterior.interval()
    plain = posterior.quantile([0.025, 0.975])
    assert np.all(low <= plain[:, 0])
    assert np.all(high >= plain[:, 1])
    covered = np.mean((plain[:, 0] <= truth) & (truth <= plain[:, 1]))
    mended = np.mean((low <= truth) & (truth <= high))
    assert covered < 0.88  # measured 77 %, 2.4 points of Monte Carlo error
    assert mended > 0.91  # measured 96 %


def test_it_fades_with_the_number_of_rows():
    sample, _ = _balanced(10, 100)
    enough = ConfusionCounts(2 * sample[:3]).posterior("f1_macro")
    low, high = enough.interval()
    assert_allclose(np.stack([low, high], axis=-1), enough.quantile([0.025, 0.975]), rtol=1e-12)
    posterior = ConfusionCounts(sample).posterior("f1_macro")
    low, high = posterior.interval()
    plain = posterior.quantile([0.025, 0.975])
    assert np.mean(high - low) < 1.03 * np.mean(plain[:, 1] - plain[:, 0])


@pytest.mark.parametrize("name", ["f1_macro", "recall_macro", "balanced_accuracy", "fdr_macro"])
def test_only_equal_tails_and_only_the_default_prior(name):
    counts = ConfusionCounts(_balanced(12, 6)[0][0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        auto, shared = (counts.posterior(name, prior=prior) for prior in ("auto", "shared"))
    assert auto.interval().width > 1.02 * shared.interval().width
    assert_allclose(shared.interval(), shared.quantile([0.025, 0.975]), rtol=1e-9)
    assert_allclose(auto.interval(kind="hdi"), shared.interval(kind="hdi"), rtol=1e-9)
    for p in (0.1, 0.9):
        assert auto.quantile(p) == shared.quantile(p)
    assert auto.prob(0.5, 0.9) == shared.prob(0.5, 0.9)


def test_a_score_and_its_complement_have_mirrored_intervals():
    counts = ConfusionCounts(_balanced(6, 12)[0][1])
    for one, other in (("recall_macro", "fnr_macro"), ("precision_macro", "fdr_macro")):
        low, high = counts.posterior(one).interval()
        mirrored = counts.posterior(other).interval()
        assert_allclose((low, high), (1 - mirrored.high, 1 - mirrored.low), atol=2e-3)


def test_wider_levels_hold_narrower_ones():
    posterior = ConfusionCounts(_balanced(8, 4)[0][2]).posterior("f1_macro", random_state=0)
    ends = np.array([posterior.interval(level) for level in (0.5, 0.8, 0.95, 0.99)])
    assert np.all(np.diff(ends[:, 0]) < 0)
    assert np.all(np.diff(ends[:, 1]) > 0)


def test_the_ends_are_those_of_the_formula():
    # Of one table by hand: the hull of three intervals on the scale of normal scores.
    table = _balanced(8, 6)[0][4].astype(float)
    posterior = ConfusionCounts(table).posterior("f1_macro", random_state=0)
    right = (np.trace(table) + 0.5) / (table.sum() + 1)
    shapes = table + right * np.eye(8) + (1 - right) / 7 * (1 - np.eye(8))
    f1 = get_metric("f1_macro")
    bias = norm.ppf(posterior.cdf(float(f1.evaluate(shapes))))
    raw = norm.ppf(posterior.cdf(float(f1.evaluate(table))))
    rows = 1 / np.mean(1 / (table.sum(axis=1) + 1)) - 1
    reach = norm.ppf(0.975) * np.sqrt(1 + 1 / rows)
    low = posterior.quantile(norm.cdf(min(0, 2 * bias, bias + raw) - reach))
    high = posterior.quantile(norm.cdf(max(0, 2 * bias, bias + raw) + reach))
    assert_allclose(posterior.interval(), (low, high), rtol=1e-10)


def test_warnings_say_what_was_measured():
    table = np.diag([9, 9, 8, 9, 8, 0, 1, 0, 1, 0, 1, 0])
    table[5, 0] = table[7, 1] = table[9, 2] = table[11, 3] = 1
    assert not_mended(table.astype(float), get_metric("f1_macro"))
    with pytest.warns(SmallSampleWarning, match="covered 43 to 95 % here"):
        ConfusionCounts(table).posterior("f1_macro")
    sample = _balanced(12, 6)[0][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConfusionCounts(sample).posterior("f1_macro")
    with pytest.warns(SmallSampleWarning, match="covered 19 to 98 % here"):
        ConfusionCounts(sample).posterior("f1_macro", prior="shared")


def test_errors_that_all_fall_into_one_class_warn_for_precision():
    table = 10 * np.eye(20)
    table[1:, 0] = 3
    assert not_mended(table, get_metric("precision_macro"))
    assert not not_mended(table, get_metric("f1_macro"))
    assert not not_mended(10 * np.eye(20) + 1, get_metric("precision_macro"))


def test_a_perfect_classifier_reaches_one():
    posterior = ConfusionCounts(np.diag([4, 5, 6, 3])).posterior("f1_macro", random_state=0)
    low, high = posterior.interval()
    assert high == 1
    assert low < posterior.quantile(0.025)
