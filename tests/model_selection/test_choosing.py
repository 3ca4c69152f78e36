"""The best of many candidates: tie groups, shrunk P(best), the score of the selected one."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCountsScorer, search_posterior
from skuncertain._numerics.shrinkage import freedom_of, shrink_means
from skuncertain.model_selection import most_probable_best

X, Y = make_classification(200, 6, flip_y=0.2, random_state=3)
TREE = DecisionTreeClassifier(random_state=0)


def table(scores, name="score", **more):
    """What a search would save, from scores of shape (candidates, splits)."""
    columns = np.asarray(scores, dtype=float).T
    return {**{f"split{k}_test_{name}": column for k, column in enumerate(columns)}, **more}


def analysed(scores, **options):
    return search_posterior(table(scores), **{"n_repeats": 1, "random_state": 0, **options})


def wide(seed, m=6, n=10, gap=0.01):
    """Scores of candidates that share what a fold is like."""
    rng = np.random.default_rng(seed)
    fold = rng.normal(0.8, 0.04, n)
    return fold + gap * np.arange(m)[:, None] + rng.normal(0, 0.03, (m, n))


# --------------------------------------------------------------------------------------------------
# Tie groups


@pytest.mark.parametrize("shrinkage", [True, False])
def test_a_tie_group_wins_together(global_random_seed, shrinkage):
    scores = wide(global_random_seed)
    alone = analysed(scores, shrinkage=shrinkage)
    order = [0, 5, 1, 5, 2, 3, 5, 4]
    found = analysed(scores[order], shrinkage=shrinkage)
    np.testing.assert_array_equal(found.tie_group, [0, 1, 2, 1, 3, 4, 1, 5])
    first = [order.index(k) for k in range(6)]
    # The same groups in another order: equal up to the error of the draws.
    error = 4.5 * np.sqrt(0.5 / found.n_draws)
    np.testing.assert_allclose(found.p_best[first], alone.p_best, atol=error)
    assert found.p_best[first].sum() == pytest.approx(1, abs=1e-9)
    assert found.p_best[1] == found.p_best[3] == found.p_best[6]
    assert found.all_equal == alone.all_equal
    assert found.shrinkage_weight == pytest.approx(alone.shrinkage_weight)
    # Ranks are those of candidates: three share the places that the group takes.
    assert found.expected_rank.sum() == pytest.approx(36)
    np.testing.assert_allclose(found.rank_probabilities.sum(axis=0), 1)
    np.testing.assert_allclose(found.rank_probabilities.sum(axis=1), 1)
    shares = np.bincount(found.tie_group, weights=found.rank_probabilities[:, 0])
    np.testing.assert_allclose(shares, found.p_best[first][[0, 5, 1, 2, 3, 4]], atol=error)
    ranks = found.rank_probabilities @ np.arange(1, 9)
    np.testing.assert_allclose(found.expected_rank, ranks, atol=8 * error)


def test_rounding_breaks_no_ties():
    scores = wide(1)
    scores = np.concatenate([scores, np.nextafter(scores[:1], 1)])
    found = analysed(scores)
    assert found.tie_group[0] == found.tie_group[-1] == 0
    assert found.p_best[0] == found.p_best[-1]
    assert found.pairwise[0, -1] == 0.5


def test_equal_means_are_no_tie():
    scores = wide(2, m=2)
    scores[1] = scores[0][::-1]
    found = analysed(scores)
    np.testing.assert_array_equal(found.tie_group, [0, 1])
    np.testing.assert_allclose(found.p_best, 0.5, atol=4.5 * np.sqrt(0.25 / found.n_draws))


def test_a_saturated_grid_leads():
    """Eight depths that give the same tree are one candidate, and not one eighth each."""
    search = GridSearchCV(TREE, {"max_depth": [1, 2, 3, *range(30, 38)]}, cv=5).fit(X, Y)
    found = search_posterior(search, random_state=0)
    assert len(set(found.tie_group[3:])) == 1
    assert len(set(found.p_best[3:])) == 1
    first = [0, 1, 2, 3]
    assert found.p_best[first].sum() == pytest.approx(1, abs=1e-9)
    text = str(found.report())
    assert "tie group" in text
    rows = found.report().to_dict()["sections"]["candidates"]["rows"]
    assert {row["tie_group"] for row in rows} == {0, 1, 2, 3}


# --------------------------------------------------------------------------------------------------
# Shrinkage


def contrasts_of(scores):
    """Covariance of the errors of means without what all have in common, and its mean noise."""
    m, n = scores.shape
    centre = np.eye(m) - 1 / m
    contrasts = centre @ np.cov(scores) @ centre * (1 / n + 1 / (n - 1))
    return contrasts, np.trace(contrasts) / (m - 1)


def test_shrunk_values_by_simulation(global_random_seed):
    """Eight candidates that differ, the last two too far below to be contenders."""
    scores = wide(global_random_seed, m=6, gap=0.02)
    scores = np.concatenate([scores, wide(global_random_seed + 1, m=2, gap=0.02) - 0.3])
    found = analysed(scores)
    contrasts, noise = contrasts_of(scores)
    mean, variance = scores.mean(axis=1), np.full(8, noise)
    near = mean > mean.max() - 4 * np.sqrt(noise)
    assert 4 <= near.sum() <= 6
    freedom = freedom_of(scores[near] - mean[near, None])
    shrunk = shrink_means(mean[near], contrasts_of(scores[near])[1], freedom, 9)
    assert not shrunk.equal
    assert found.shrinkage_weight == pytest.approx(shrunk.weight)
    mean[near], variance[near] = shrunk.mean, shrunk.variance
    sd = np.sqrt(np.diag(contrasts) * 8 / 7)  # contrasts lack one eighth of the variance
    cov = contrasts / np.outer(sd, sd) * np.sqrt(np.outer(variance, variance))
    size = 200_000
    rng = np.random.default_rng(global_random_seed + 1)
    draws = rng.multivariate_normal(mean, cov, size, method="eigh")
    best = np.bincount(draws.argmax(axis=1), minlength=8) / size
    error = 4.5 * np.sqrt(best * (1 - best) * (1 / size + 1 / found.n_draws)) + 1e-9
    assert np.all(np.abs(found.p_best - best) < error)
    rank = 1 + (draws[:, None, :] > draws[:, :, None]).sum(axis=2)
    error = 4.5 * rank.std(axis=0) / np.sqrt(size) + 1e-9
    assert np.all(np.abs(found.expected_rank - rank.mean(axis=0)) < error)
    loss = draws.max(axis=1, keepdims=True) - draws
    error = 4.5 * loss.std(axis=0) * np.sqrt(1 / size + 1 / found.n_draws)
    assert np.all(np.abs(found.expected_loss - loss.mean(axis=0)) < error)
    places = np.stack([(rank == k + 1).mean(axis=0) for k in range(8)], axis=1)
    error = 4.5 * np.sqrt(0.25 * (1 / size + 1 / found.n_draws))
    np.testing.assert_allclose(found.rank_probabilities, places, atol=error)


def test_equal_contenders_share():
    """Twenty that differ by noise, and five that are far below."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0.8, 0.03, 10) + rng.normal(0, 0.02, (25, 10))
    scores[20:] -= 0.3
    found = analysed(scores, n_draws=2000)
    assert not found.all_equal
    np.testing.assert_allclose(found.p_best, [*[1 / 20] * 20, *[0] * 5], atol=1e-12)
    np.testing.assert_allclose(found.expected_loss[:20], 0, atol=1e-12)
    gap = scores[:20].mean() - scores[20:].mean(axis=1)
    np.testing.assert_allclose(found.expected_loss[20:], gap, atol=1e-3)
    np.testing.assert_allclose(found.expected_rank[:20], 10.5)
    np.testing.assert_allclose(
        found.rank_probabilities[:20, :20], 1 / 20, atol=4.5 * 0.05**0.5 / 44
    )
    np.testing.assert_allclose(found.rank_probabilities[:20, 20:], 0)
    alone = analysed(scores[:20], n_draws=2000)
    assert alone.all_equal
    np.testing.assert_allclose(alone.p_best, 1 / 20, atol=1e-12)
    assert "all are taken as equally good" in str(alone.report())


def test_what_is_not_shrunk(global_random_seed):
    scores = wide(global_random_seed)
    found, flat = analysed(scores), analysed(scores, shrinkage=False)
    for name in ("pairwise", "p_worse", "p_better", "as_good", "distinguishable", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(flat, name))
    assert np.any(found.p_best != flat.p_best)
    assert found.expected_loss.max() < flat.expected_loss.max()
    assert "of the variance is left" in str(found.report())
    assert "none, as asked" in str(flat.report())


def test_fewer_than_four_groups_are_not_shrunk():
    scores = wide(3, m=3)
    for rows in (scores, scores[[0, 1, 1, 2, 2]]):
        found, flat = analysed(rows), analysed(rows, shrinkage=False)
        np.testing.assert_array_equal(found.p_best, flat.p_best)
        assert (found.all_equal, found.shrinkage_weight) == (False, 1)


@pytest.mark.slow
def test_equal_candidates_are_not_told_apart(global_random_seed):
    """Twenty equal candidates: the leader of an unshrunk ranking says far too much."""
    rng = np.random.default_rng(global_random_seed)
    leaders = []
    for _ in range(60):
        scores = rng.normal(0.8, 0.03, 10) + rng.normal(0, 0.03, (20, 10))
        options = {"n_draws": 1000}
        leaders.append(
            [analysed(scores, shrinkage=s, **options).p_best.max() for s in (True, False)]
        )
    shrunk, flat = np.mean(leaders, axis=0)
    assert shrunk < 0.08  # 0.05 is right
    assert flat > 0.25


def test_large_searches(global_random_seed):
    scores = np.random.default_rng(global_random_seed).normal(0.8, 0.03, (1100, 5))
    found = analysed(scores, n_draws=2000)
    assert found.pairwise is None
    assert found.expected_rank.sum() == pytest.approx(1100 * 1101 / 2)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.p_best, found.p_best)
    np.testing.assert_array_equal(again.expected_rank, found.expected_rank)


def test_equals_are_in_the_order_of_their_means():
    rng = np.random.default_rng(4)
    scores = rng.normal(0.8, 0.03, 10) + rng.normal(0, 0.02, (12, 10))
    found = analysed(scores, n_draws=1000)
    assert found.all_equal
    np.testing.assert_array_equal(found.order(), np.argsort(-scores.mean(axis=1)))
    assert most_probable_best("score", n_repeats=1)(table(scores)) == scores.mean(axis=1).argmax()


# --------------------------------------------------------------------------------------------------
# The selected candidate


def left_out(scores, n_repeats=1):
    """Leave one fold out, choose by the others of its repetition, score on it."""
    parts = []
    for block in np.split(scores, n_repeats, axis=1):
        for k in range(block.shape[1]):
            others = np.delete(block, k, axis=1).mean(axis=1)
            parts.append(block[others >= others.max() - 1e-9, k].mean())
    return np.mean(parts)


def f_test(scores, n_repeats):
    """P-value of equal means, by Greenhouse and Geisser's degrees of freedom."""
    m, n = scores.shape
    per_repeat = n / n_repeats
    centre = np.eye(m) - 1 / m
    cov = centre @ np.cov(scores) @ centre
    noise = np.trace(cov) / (m - 1) * (1 / n + 1 / (per_repeat - 1))
    inverse = np.trace(cov @ cov) / np.trace(cov) ** 2 - 1 / (n - 1)
    freedom = 1 / min(max(inverse, 1 / (m - 1)), 1)
    ratio = scores.mean(axis=1).var(ddof=1) / noise
    return stats.f.sf(ratio, freedom, freedom * (n - 1))


@pytest.mark.parametrize(("n_repeats", "n"), [(1, 10), (3, 15), (5, 10), (1, 2)])
def test_corrected_score_by_a_loop(n_repeats, n, global_random_seed):
    scores = wide(global_random_seed, m=12, n=n, gap=0.002)
    found = analysed(scores, n_repeats=n_repeats)
    equal = min(1.0, 2 * f_test(scores, n_repeats))
    expected = equal * scores.mean() + (1 - equal) * left_out(scores, n_repeats)
    best = scores.mean(axis=1).max()
    assert found.best_score_corrected == pytest.approx(min(best, expected), abs=1e-12)
    assert found.selection_bias == pytest.approx(best - found.best_score_corrected, abs=1e-12)
    flat = analysed(scores, n_repeats=n_repeats, shrinkage=False)
    expected = min(best, left_out(scores, n_repeats))
    assert flat.best_score_corrected == pytest.approx(expected, abs=1e-12)


def test_interval_of_the_selected_candidate(global_random_seed):
    scores = wide(global_random_seed, m=15, gap=0.0)
    found = analysed(scores)
    k, bias = found.selected_index, found.selection_bias
    assert bias > 0
    low, high = found.selected_interval
    assert (low, high) == pytest.approx((found.low[k] - bias, found.high[k] - bias / 2))
    assert low < found.best_score_corrected < high
    assert f"[{low:.3f}, {high:.3f}], corrected for choosing the best" in repr(found)
    assert f"[{low:.3f}, {high:.3f}], corrected" in str(found.report())


def test_if_less_is_better():
    places = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    rng = np.random.default_rng(5)
    right = rng.binomial(30, 0.8, (12, 6, 2))
    counts = np.stack([right[..., 0], 30 - right[..., 0], 30 - right[..., 1], right[..., 1]], -1)
    counts = counts.reshape(12, 6, 2, 2)
    results = {}
    for name, (i, j) in places.items():
        results |= table(counts[..., i, j], name)
    found = search_posterior(results, metric="error_rate", n_repeats=1, random_state=0)
    other = search_posterior(results, metric="accuracy", n_repeats=1, random_state=0)
    assert found.best_score_corrected == pytest.approx(1 - other.best_score_corrected)
    mirrored = [1 - end for end in other.selected_interval[::-1]]
    assert found.selected_interval == pytest.approx(mirrored)
    assert found.selection_bias == pytest.approx(other.selection_bias)
    np.testing.assert_array_equal(found.as_good, other.as_good)
    assert "the lowest mean" in repr(found)


def test_ends_stay_in_the_range_of_the_metric():
    scores = np.random.default_rng(2).binomial(4, 0.2, (30, 5)) / 4
    found = search_posterior(table(scores, "accuracy"), n_repeats=1, random_state=0)
    assert found.range == (0, 1)
    assert found.selected_interval.low == 0


def test_a_cautious_choice_is_charged_for_its_luck_alone():
    search = GridSearchCV(TREE, {"max_depth": [1, 2, 4, 8]}, scoring="f1", cv=5)
    plain = search_posterior(search.fit(X, Y), random_state=0)
    order = np.argsort(-plain.mean)
    for index in order:
        search.set_params(refit=lambda results, index=index: index).fit(X, Y)
        careful = search_posterior(search, random_state=0)
        assert careful.selected_index == index
        assert careful.reference_index == plain.selected_index
        np.testing.assert_array_equal(careful.difference, plain.difference)
        expected = min(plain.mean[index], plain.best_score_corrected)
        assert careful.best_score_corrected == pytest.approx(expected)
        if careful.selection_bias == 0:
            k = careful.selected_index
            assert careful.selected_interval == (careful.low[k], careful.high[k])
            assert "corrected for" not in repr(careful)


def test_small_folds_are_corrected():
    scorer = ConfusionCountsScorer(metrics=["accuracy"])
    search = GridSearchCV(TREE, {"max_depth": range(1, 9)}, cv=10, scoring=scorer, refit="accuracy")
    found = search_posterior(search.fit(X[:60], Y[:60]), random_state=0)
    assert np.isfinite(found.best_score_corrected)
    assert found.best_score_corrected <= found.mean[found.selected_index]


@pytest.mark.slow
def test_optimism_of_noise(global_random_seed):
    """Coins whose labels are noise: the best of forty looks good, and is not."""
    rng = np.random.default_rng(global_random_seed)
    found = []
    for _ in range(60):
        hits = rng.binomial(10, 0.5, (40, 8)) / 10
        one = analysed(hits)
        low, high = one.selected_interval
        found.append([one.mean.max() - 0.5, one.best_score_corrected - 0.5, low <= 0.5 <= high])
    observed, corrected, covered = np.mean(found, axis=0)
    error = np.std(found, axis=0)[1] / np.sqrt(60)
    assert observed > 0.08
    assert abs(corrected) < 0.02 + 3 * error
    assert covered >= 0.9


def test_repeated_folds_are_left_out_one_repetition_at_a_time():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    grid = {"var_smoothing": np.logspace(-9, 1, 8)}
    search = GridSearchCV(GaussianNB(), grid, cv=cv).fit(X, Y)
    found = search_posterior(search, random_state=0, shrinkage=False)
    assert found.n_repeats == 3
    expected = min(found.mean.max(), left_out(found.scores, 3))
    assert found.best_score_corrected == pytest.approx(expected, abs=1e-12)
