"""Draws of tp, fn, fp and tn of every class against the moments that gamma sums have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaincc

from skuncertain import ConfusionCounts
from skuncertain._numerics.gamma_draws import Gammas, class_draws, tiny_draws
from skuncertain.metrics import get_metric, make_metric
from skuncertain.metrics._model import _FOLDED
from skuncertain.metrics._registry import class_function

pytestmark = pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")
N = 4000


def _shapes(n_classes, empty, seed=0):
    rng = np.random.default_rng(seed)
    shapes = rng.poisson(20 / n_classes, (n_classes, n_classes)) + rng.uniform(0.01, 0.02) * 1.0
    shapes[rng.random(shapes.shape) < empty] = 0.004
    return shapes + np.diag(rng.uniform(5, 30, n_classes))


def _sums(shapes):
    """Shapes of tp, fn, fp and tn of every class, added up cell by cell."""
    found = np.zeros((4, len(shapes)))
    for k in range(len(shapes)):
        for i in range(len(shapes)):
            for j in range(len(shapes)):
                found[(3, 2, 1, 0)[2 * (i == k) + (j == k)], k] += shapes[i, j]
    return found


def _assert_gamma(draws, shape):
    """Mean and variance of a gamma variable are its shape; five standard errors."""
    n = len(draws)
    assert np.all(abs(draws.mean(axis=0) - shape) < 5 * np.sqrt(shape / n))
    error = np.sqrt((2 * shape**2 + 6 * shape) / n)  # of the variance
    assert np.all(abs(draws.var(axis=0) - shape) < 5 * error)


@pytest.mark.parametrize(("n_classes", "empty"), [(2, 0.0), (3, 0.3), (7, 0.5), (110, 0.9)])
def test_cells_of_all_classes(n_classes, empty, global_random_seed):
    shapes = _shapes(n_classes, empty)
    expected = _sums(shapes)
    rng = np.random.default_rng(global_random_seed)
    tp, fn, fp, tn = class_draws(rng, shapes, N)
    for drawn, shape in zip((tp, fn, fp, tn), expected, strict=True):
        _assert_gamma(drawn, shape)
    total = (tp + fn + fp + tn)[:, 0]
    assert_allclose(total, (tp + fn).sum(axis=-1))  # every cell is in one row
    assert_allclose(total, (tp + fp).sum(axis=-1))  # and in one column
    # i taken for j is in fn of i and in fp of j: their covariance is its shape.
    i, j = 0, 1
    x, y = fn[:, i] - expected[1, i], fp[:, j] - expected[2, j]
    assert abs(np.mean(x * y) - shapes[i, j]) < 5 * np.std(x * y) / np.sqrt(N)


@pytest.mark.parametrize(("n_classes", "empty"), [(2, 0.0), (3, 0.3), (7, 0.5), (110, 0.9)])
def test_folded_errors(n_classes, empty, global_random_seed):
    shapes = _shapes(n_classes, empty)
    hits, missed, alarms, _ = _sums(shapes)
    rng = np.random.default_rng(global_random_seed)
    tp, errors, *nothing = class_draws(rng, shapes, N, folded=True)
    assert nothing == [0.0, 0.0]
    _assert_gamma(tp, hits)
    _assert_gamma(errors, missed + alarms)
    # Two classes share what is taken for the other one, both ways.
    x, y = (errors[:, k] - (missed + alarms)[k] for k in (0, 1))
    shared = shapes[0, 1] + shapes[1, 0]
    assert abs(np.mean(x * y) - shared) < 5 * np.std(x * y) / np.sqrt(N)


def test_stacks(global_random_seed):
    shapes = np.stack([_shapes(4, 0.2, seed) for seed in range(6)]).reshape(2, 3, 4, 4)
    for folded in (False, True):
        tp, fn, fp, _ = class_draws(np.random.default_rng(global_random_seed), shapes, N, folded)
        assert tp.shape == (N, 2, 3, 4)
        for at in np.ndindex(2, 3):
            hits, missed, alarms, _ = _sums(shapes[at])
            _assert_gamma(tp[(slice(None), *at)], hits)
            _assert_gamma((fn + fp)[(slice(None), *at)], missed + alarms)


def test_folded_metrics_see_only_the_sum_of_opposite_errors():
    rng = np.random.default_rng(0)
    matrix = rng.uniform(0, 5, (20, 6, 6))
    share = rng.random((20, 6, 6))
    errors = np.triu(matrix + np.swapaxes(matrix, -2, -1), 1)
    upper, lower = share * errors, (1 - share) * errors
    other = upper + np.swapaxes(lower, -2, -1) + matrix * np.eye(6)
    macro = [f"{base}_macro" for base in ("f1", "jaccard", "f2", "precision", "g_score", "recall")]
    for name in (*macro, "f1_weighted", "mcc", "kappa"):
        metric = get_metric(name)
        same = np.allclose(metric.evaluate(matrix), metric.evaluate(other), rtol=1e-12)
        assert same == (metric.name in _FOLDED), name


@pytest.mark.parametrize("name", ["f1_macro", "jaccard_macro", "f1_weighted", "f2_macro", "mcc"])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_metrics_agree_with_draws_of_all_cells(name, n_classes, global_random_seed):
    counts = ConfusionCounts(_shapes(n_classes, 0.3).astype(int))
    metric, n_draws = get_metric(name), 10_000
    assert class_function(metric) is not None
    user = make_metric(lambda matrix: metric.evaluate(matrix), name="user", range=metric.range)
    options = {"prior": 0.3, "n_draws": n_draws}
    found = counts.posterior(metric, random_state=global_random_seed, **options)
    other = counts.posterior(user, random_state=global_random_seed + 1, **options)
    assert not other.exact
    spread = other.std() * np.sqrt(2 / n_draws)
    assert abs(found.mean() - other.mean()) < 5 * spread
    for p in (0.025, 0.5, 0.975):
        below = np.mean(other.draws <= found.quantile(p))
        assert abs(below - p) < 5 * np.sqrt(2 * p * (1 - p) / n_draws)


@pytest.mark.parametrize("largest", [0.0003, 0.004, 0.09])
def test_tiny_shapes_are_drawn_rarely_and_rightly(largest, global_random_seed):
    shapes = np.random.default_rng(0).uniform(0.2, 1, 500) * largest
    rng = np.random.default_rng(global_random_seed)
    draw, cell, value = tiny_draws(rng, shapes, N)
    assert np.all(np.diff(draw * 500 + cell) > 0)  # no place twice
    assert draw.max() < N
    assert cell.max() < 500
    # A largest shape of 1e-4 times log(1e20) = 46: so many of the cells are looked at.
    chance = 1 - 1e-20 ** shapes.max()
    assert abs(draw.size / (N * 500) - chance) < 5 * np.sqrt(chance / (N * 500))
    sums = np.bincount(draw, value, N)
    _assert_gamma(sums, shapes.sum())
    single = np.zeros((N, 500))
    single[draw, cell] = value
    seen = (single > 1e-3).mean(axis=0)
    tail = gammaincc(shapes, 1e-3)
    assert np.all(abs(seen - tail) < 5.5 * np.sqrt(tail / N) + 3 / N)


def test_dense_draws_of_a_large_matrix_use_the_same(global_random_seed):
    shapes = _shapes(101, 0.9)
    gammas = Gammas(shapes, (-2, -1))
    assert gammas.sparse
    draws = gammas.draw(np.random.default_rng(global_random_seed), 500)
    _assert_gamma(draws.sum(axis=-1), shapes.sum(axis=-1))
    _assert_gamma(draws.sum(axis=-2), shapes.sum(axis=-2))
