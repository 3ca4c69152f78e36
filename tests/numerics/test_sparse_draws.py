"""Draws of large matrices, most cells of which are empty, against exact posteriors."""

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain.metrics import make_metric

pytestmark = pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")


def _counts(n_classes, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), 30)
    pred = np.where(rng.random(y.size) < 0.8, y, rng.integers(n_classes, size=y.size))
    return ConfusionCounts.from_predictions(y, pred, labels=np.arange(n_classes))


def _ratio(of, among):
    def function(matrix):
        return (matrix * of).sum(axis=(-2, -1)) / (matrix * among).sum(axis=(-2, -1))

    return make_metric(function, name="ratio")


@pytest.mark.parametrize(
    ("n_classes", "prior"), [(99, "auto"), (120, "auto"), (120, 0.002), (101, 0.05)]
)
def test_shares_of_drawn_cells_have_their_beta_distribution(n_classes, prior, global_random_seed):
    counts = _counts(n_classes, 1)
    n_draws, shape = 500, (n_classes, n_classes)
    row, column, hit, everything = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.ones(shape)
    row[3], column[:, 3], hit[3, 3] = 1, 1, 1
    empty = (counts.counts == 0) * 1.0  # thousands of tiny shapes together
    shapes = counts.counts + _pseudo_counts(counts, prior)
    for of, among in ((hit, row), (hit, column), (empty, everything), (row * empty, row)):
        posterior = counts.posterior(
            _ratio(of, among), prior=prior, n_draws=n_draws, random_state=global_random_seed
        )
        assert not posterior.exact
        a, total = (shapes * of).sum(), (shapes * among).sum()
        mean, sd = a / total, np.sqrt(a * (total - a) / (total**2 * (total + 1)))
        assert abs(posterior.mean() - mean) < 5 * sd / np.sqrt(n_draws)
        # The sd of a sample sd is at most sqrt((kurtosis - 1) / 4n); small shares have long tails.
        kurtosis = 3 + 6 * (total - 2 * a) ** 2 * (total + 1) / (a * (total - a) * (total + 2))
        assert abs(posterior.std() / sd - 1) < 5 * np.sqrt((kurtosis - 1) / (4 * n_draws))


def _pseudo_counts(counts, prior):
    """What the documentation says of "auto": mass C, q on the diagonal, the rest off it."""
    n_classes = counts.n_classes
    if prior != "auto":
        return np.full((n_classes, n_classes), prior)
    hits = np.trace(counts.counts)
    q = min((hits + 0.5) / (counts.n + 1), 1 - 1 / (2 * n_classes))
    off = np.full((n_classes, n_classes), (1 - q) / (n_classes - 1))
    return np.where(np.eye(n_classes, dtype=bool), q, off)


@pytest.mark.parametrize("name", ["recall_macro", "precision_macro"])
def test_drawn_averages_agree_with_exact_ones(name, global_random_seed):
    counts, n_draws = _counts(110, 2), 1000
    exact = counts.posterior(name)
    assert exact.exact
    axis = -1 if name == "recall_macro" else -2

    def function(matrix):
        hits = np.diagonal(matrix, axis1=-2, axis2=-1)
        return (hits / matrix.sum(axis=axis)).mean(axis=-1)

    drawn = counts.posterior(
        make_metric(function, name="average"), n_draws=n_draws, random_state=global_random_seed
    )
    assert abs(drawn.mean() - exact.mean()) < 5 * exact.std() / np.sqrt(n_draws)
    for p in (0.025, 0.5, 0.975):
        below = np.mean(drawn.cdf(exact.quantile(p)))
        assert abs(below - p) < 5 * np.sqrt(p * (1 - p) / n_draws)
