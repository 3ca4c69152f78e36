"""Leaderboards of many models: tie groups, and P(best) that allows for luck."""

import numpy as np
import pytest
from scipy import stats

from skuncertain import ConfusionCounts, leaderboard
from skuncertain._numerics.best_of_many import shrink_betas
from skuncertain._numerics.shrinkage import shrink_means
from skuncertain.metrics import proportion_posterior


def predictions(seed, m=6, n=300, accuracy=0.8, step=0.02):
    """True labels, and predictions that are wrong on about the same rows."""
    rng = np.random.default_rng(seed)
    y, level = rng.integers(0, 2, n), rng.normal(size=(n, 1))
    score = 0.7 * level + 0.7 * rng.normal(size=(n, m))
    right = score < stats.norm.ppf(accuracy - step * np.arange(m))
    return y, list(np.where(right, y[:, None], 1 - y[:, None]).T)


def check_order(board, error):
    """What holds for P(best), ranks and pairs of any leaderboard."""
    m = len(board.names)
    first = np.unique(board.tie_group, return_index=True)[1]
    assert board.p_best[first].sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_array_equal(board.p_best, board.p_best[first][board.tie_group])
    np.testing.assert_allclose(board.rank_probabilities.sum(axis=0), 1, atol=1e-8)
    np.testing.assert_allclose(board.rank_probabilities.sum(axis=1), 1, atol=1e-8)
    share = np.bincount(board.tie_group, weights=board.rank_probabilities[:, 0])
    np.testing.assert_allclose(share, board.p_best[first], atol=error)
    ranks = board.rank_probabilities @ np.arange(1, m + 1)
    np.testing.assert_allclose(board.expected_rank, ranks, atol=m * error)
    np.testing.assert_allclose(board.pairwise + board.pairwise.T, 1, atol=1e-8)


def test_models_with_the_same_predictions_win_together(global_random_seed):
    y, models = predictions(global_random_seed)
    options = {"y_true": y, "metric": "f1", "random_state": 0, "n_draws": 4000}
    alone = leaderboard(models, **options)
    order = [3, 0, 0, 1, 2, 0, 4, 5]
    board = leaderboard([models[k] for k in order], **options)
    np.testing.assert_array_equal(board.tie_group, [0, 1, 1, 2, 3, 1, 4, 5])
    check_order(board, 4.5 * np.sqrt(0.25 / 4000))
    first = [order.index(k) for k in range(6)]
    error = 4.5 * np.sqrt(0.5 / 4000)
    np.testing.assert_allclose(board.p_best[first], alone.p_best, atol=error)
    assert board.to_dict()["tie_group"] == board.tie_group.tolist()
    assert "tie group" in str(board.report())
    assert "tie group" not in str(alone.report()).split("How to read")[0]
    np.testing.assert_array_equal(board.low[[1, 2, 5]], board.low[1])


def test_equal_counts_of_independent_models_are_no_tie():
    one = ConfusionCounts([[40, 10], [5, 45]])
    board = leaderboard([one] * 5, metric="accuracy")
    np.testing.assert_array_equal(board.tie_group, np.arange(5))
    np.testing.assert_allclose(board.p_best, 0.2, atol=1e-9)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "error_rate"])
def test_shrunk_betas_by_draws(metric, global_random_seed):
    """The exact ranking of shrunk Betas."""
    rng = np.random.default_rng(global_random_seed)
    right = np.linspace(0.36, 0.46, 8)
    cells = [rng.multinomial(150, [p, 0.5 - p, 0.48 - p, p + 0.02]) for p in right]
    models = [ConfusionCounts.from_binary(tp=a, fp=b, fn=c, tn=d) for a, b, c, d in cells]
    board = leaderboard(models, metric=metric)
    assert board.n_draws is None
    assert board.method == "independent, exact"
    check_order(board, 1e-7)
    posteriors = [model.posterior(metric) for model in models]
    shapes = [(p.b, p.a) if metric == "error_rate" else (p.a, p.b) for p in posteriors]
    a, b, found = shrink_betas(*np.array(shapes, dtype=float).T)
    assert not found.equal
    assert (board.all_equal, board.shrinkage_weight) == (False, found.weight)
    n = 400_000
    x = rng.beta(a, b, size=(n, 8))
    value = 2 * x / (1 + x) if metric == "f1" else x  # F1 is a function of the Jaccard index
    place = (-value).argsort(axis=1).argsort(axis=1)
    for k in (0, 3, 7):
        share = (place == k).mean(axis=0)
        error = 4.5 * np.sqrt(share * (1 - share) / n) + 1e-6
        assert np.all(np.abs(board.rank_probabilities[:, k] - share) < error)
    loss = value.max(axis=1, keepdims=True) - value
    error = 4.5 * loss.std(axis=0) / np.sqrt(n)
    assert np.all(np.abs(board.expected_loss - loss.mean(axis=0)) < error)
    flat = leaderboard(models, metric=metric, shrinkage=False)
    for name in ("pairwise", "mean", "low", "high"):
        np.testing.assert_array_equal(getattr(board, name), getattr(flat, name))
    assert (flat.all_equal, flat.shrinkage_weight) == (False, 1)


def test_equal_models_share_and_keep_the_order_of_their_means():
    hits = np.array([161, 158, 164, 160, 155, 162, 159, 163, 157, 165])
    board = leaderboard([proportion_posterior(k, 200 - k) for k in hits])
    assert board.all_equal
    np.testing.assert_allclose(board.p_best, 0.1, atol=1e-12)
    np.testing.assert_allclose(board.rank_probabilities, 0.1, atol=1e-12)
    np.testing.assert_allclose(board.expected_rank, 5.5)
    np.testing.assert_array_equal(board.expected_loss, 0)
    np.testing.assert_array_equal(board.order(), np.argsort(-hits))
    assert "all are taken as equally good" in str(board.report())


def test_equal_models_with_ties(global_random_seed):
    y, models = predictions(global_random_seed, m=12, step=0.0)
    models[3] = models[0] = models[7]
    board = leaderboard(models, y_true=y, random_state=0, n_draws=2000)
    assert board.all_equal
    np.testing.assert_allclose(board.p_best, 0.1, atol=1e-12)
    check_order(board, 4.5 * np.sqrt(0.25 / 4000))


def test_angles_of_betas():
    """Means and variances are shrunk where the variance does not depend on the mean."""
    a, b = np.array([90.0, 80, 85, 70]), np.array([10.0, 20, 15, 30])
    new_a, new_b, found = shrink_betas(a, b)
    angle = np.arcsin(np.sqrt(a / 100))
    expected = shrink_means(angle, np.full(4, 0.25 / 101))
    assert not found.equal
    np.testing.assert_allclose(np.arcsin(np.sqrt(new_a / (new_a + new_b))), expected.mean)
    np.testing.assert_allclose(0.25 / (new_a + new_b + 1), expected.variance)


def test_a_better_known_model_is_shrunk_less():
    """The same share in ten times the rows."""
    models = [proportion_posterior(k, 50 - k) for k in (36, 38, 40)]
    models += [proportion_posterior(90, 10), proportion_posterior(900, 100)]
    board = leaderboard(models)
    assert board.p_best[4] > board.p_best[3]


def test_perfect_models():
    models = [ConfusionCounts.from_binary(tp=20, fn=0, fp=0, tn=20 + k) for k in range(6)]
    board = leaderboard(models, metric="recall")
    np.testing.assert_allclose(board.p_best, 1 / 6, atol=1e-6)
    check_order(board, 1e-6)


@pytest.mark.parametrize("metric", ["mcc", "lr+", "lr-"])
def test_drawn_posteriors_are_shrunk(metric, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    cells = rng.multinomial(120, [0.4, 0.1, 0.1, 0.4], size=7)
    models = [ConfusionCounts.from_binary(tp=a, fp=b, fn=c, tn=d) for a, b, c, d in cells]
    options = {"metric": metric, "n_draws": 4000, "random_state": 0}
    board, flat = (leaderboard(models, shrinkage=s, **options) for s in (True, False))
    check_order(board, 4.5 * np.sqrt(0.25 / 4000))
    assert 0 <= board.shrinkage_weight < 1
    assert board.p_best.max() < flat.p_best.max()
    np.testing.assert_array_equal(board.pairwise, flat.pairwise)
    assert np.all(np.isfinite(board.expected_loss))


def test_fewer_than_four_groups_are_not_shrunk(global_random_seed):
    y, models = predictions(global_random_seed, m=3)
    options = {"y_true": y, "random_state": 0, "n_draws": 1000}
    five = [models[k] for k in (0, 1, 1, 2, 2)]
    board, flat = (leaderboard(five, shrinkage=s, **options) for s in (True, False))
    np.testing.assert_array_equal(board.p_best, flat.p_best)
    assert (board.all_equal, board.shrinkage_weight) == (False, 1)
    assert "fewer than four tie groups" in str(board.report())
    assert "none, as asked" in str(flat.report())


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_equal_models_are_not_told_apart(shared, global_random_seed):
    """Twenty equal models, of which the luckiest leads; right is 1/20."""
    rng = np.random.default_rng(global_random_seed)
    leaders = []
    for _ in range(40):
        if shared:
            y, models = predictions(int(rng.integers(2**31)), m=20, n=200, step=0.0)
            given = {"y_true": y, "n_draws": 1000, "random_state": 0}
        else:
            hits = rng.binomial(200, 0.8, 20)
            models, given = [proportion_posterior(k, 200 - k) for k in hits], {}
        both = (leaderboard(models, shrinkage=s, **given) for s in (True, False))
        leaders.append([board.p_best.max() for board in both])
    shrunk, flat = np.mean(leaders, axis=0)
    assert shrunk < 0.08  # one board in 400 is told apart
    assert flat > 0.28


def test_four_hundred_shrunk_models(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    models = [proportion_posterior(k, 1000 - k) for k in rng.integers(850, 960, 400)]
    board = leaderboard(models, random_state=0)
    assert "rank probabilities from 4000 draws" in board.method
    error = 4.5 * np.sqrt(board.p_best * (1 - board.p_best) / 4000) + 5 / 4000
    assert np.all(np.abs(board.rank_probabilities[:, 0] - board.p_best) < error)


def test_shrinkage_is_true_or_false():
    with pytest.raises(TypeError, match=r"shrinkage must be True or False, got 0\.5"):
        leaderboard([proportion_posterior(8, 2)] * 4, shrinkage=0.5)
