"""leaderboard and compare_datasets, against quadrature, plain loops and simulation."""

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts, compare, compare_cv, compare_paired, leaderboard
from skuncertain.comparison import DatasetComparison, Leaderboard, compare_datasets
from skuncertain.metrics import make_metric, proportion_posterior

MODELS = {
    "tree": ConfusionCounts.from_binary(tp=40, fp=3, fn=5, tn=60),
    "forest": ConfusionCounts.from_binary(tp=42, fp=6, fn=2, tn=58),
    "boost": ConfusionCounts.from_binary(tp=39, fp=1, fn=7, tn=60),
}
FOUR_TIES = ConfusionCounts.from_binary(tp=10, fp=0, fn=0, tn=10)


def check_tables(board, atol=1e-8):
    """What has to hold for any ranking without ties."""
    m = len(board.names)
    ranks, places = board.rank_probabilities, np.arange(1, m + 1)
    assert board.p_best.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(ranks.sum(axis=0), 1, atol=atol)
    np.testing.assert_allclose(ranks.sum(axis=1), 1, atol=atol)
    np.testing.assert_allclose(ranks[:, 0], board.p_best, atol=atol)
    np.testing.assert_allclose(ranks @ places, board.expected_rank, atol=m * atol)
    np.testing.assert_allclose(board.pairwise + board.pairwise.T, 1, atol=atol)
    np.testing.assert_allclose(board.pairwise.sum(axis=0) + 0.5, board.expected_rank, atol=m * atol)
    assert board.expected_rank.sum() == pytest.approx(m * (m + 1) / 2)
    assert np.all(board.expected_loss >= 0)


def best_by_quadrature(betas, k):
    """P(k is the largest of independent Betas), over the k-th one's own probability."""
    others = [beta for i, beta in enumerate(betas) if i != k]

    def inner(u):
        x = betas[k].ppf(u)
        return np.prod([beta.cdf(x) for beta in others])

    cuts = [1e-6, 1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6]
    edges = [0.0, *cuts, 1.0]
    return sum(quad(inner, low, high, epsabs=1e-12)[0] for low, high in pairwise(edges))


# --------------------------------------------------------------------------------------------------
# Independent models


@pytest.mark.parametrize(
    "metric", ["accuracy", "f1", "recall", "precision", "jaccard", "fpr", "error_rate"]
)
def test_two_models_are_a_comparison(metric):
    two = {name: MODELS[name] for name in ("tree", "forest")}
    board = leaderboard(two, metric=metric)
    expected = compare(two["tree"], two["forest"], metric=metric).p_better
    np.testing.assert_allclose(board.p_best, [1 - expected, expected], atol=1e-9)
    np.testing.assert_allclose(board.expected_rank, [1 + expected, 2 - expected], atol=1e-9)
    check_tables(board)
    assert board.method == "independent, exact"
    for name, counts in two.items():
        posterior = counts.posterior(metric)
        np.testing.assert_allclose(board.interval(name), posterior.interval(), atol=1e-12)
        assert board.mean[board.names.index(name)] == pytest.approx(posterior.mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    "trials",
    [((40, 5), (42, 7), (41, 4)), ((900, 100), (12, 1), (3, 3)), ((30, 0), (29, 1), (9, 0))],
)
@pytest.mark.parametrize("prior", [0.5, 1.0])
def test_three_models_by_quadrature(trials, prior):
    board = leaderboard([proportion_posterior(x, y, prior=prior) for x, y in trials])
    betas = [stats.beta(x + prior, y + prior) for x, y in trials]
    expected = [best_by_quadrature(betas, k) for k in range(3)]
    np.testing.assert_allclose(board.p_best, expected, atol=1e-9)
    check_tables(board)
    best = quad(lambda x: 1 - np.prod([b.cdf(x) for b in betas]), 0, 1, epsabs=1e-12, limit=200)
    loss = best[0] - np.array([beta.mean() for beta in betas])
    np.testing.assert_allclose(board.expected_loss, loss, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["f1", "accuracy", "fpr"])
def test_twenty_models_by_draws(metric, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    cells = rng.multinomial(120, [0.42, 0.08, 0.07, 0.43], size=20)
    models = [ConfusionCounts.from_binary(tp=a, fp=b, fn=c, tn=d) for a, b, c, d in cells]
    board = leaderboard(models, metric=metric, shrinkage=False)
    check_tables(board)
    n = 400_000
    posteriors = [model.posterior(metric) for model in models]
    draws = np.stack([posterior.sample(n, rng) for posterior in posteriors])
    signed = -draws if metric == "fpr" else draws

    def close(found, values):
        """Within 4.5 standard errors of the mean over the draws, and a few rare events."""
        error = 4.5 * values.std(axis=-1) / np.sqrt(n) + 5 / n
        assert np.all(np.abs(found - values.mean(axis=-1)) < error)

    close(board.p_best, signed == signed.max(axis=0))
    loss = signed.max(axis=0) - signed
    close(board.expected_loss, loss)
    place = (-signed).argsort(axis=0).argsort(axis=0)
    close(board.expected_rank, place + 1)
    for k in (0, 1, 9, 19):
        close(board.rank_probabilities[:, k], place == k)
    close(np.delete(board.pairwise[3], 3), signed[3] > np.delete(signed, 3, axis=0))


@pytest.mark.slow
def test_drawn_metrics(global_random_seed):
    board = leaderboard(MODELS, metric="mcc", n_draws=40_000, random_state=global_random_seed)
    assert board.method == f"independent, 40000 draws, seed {global_random_seed}"
    check_tables(board)
    expected = compare(MODELS["forest"], MODELS["tree"], metric="mcc", random_state=1).p_better
    # Both are drawn: 40,000 pairs here, about 20,000 or more values of each model there.
    assert board.pairwise[0, 1] == pytest.approx(expected, abs=4.5 * np.sqrt(0.25 / 10_000))
    again = leaderboard(MODELS, metric="mcc", n_draws=40_000, random_state=global_random_seed)
    np.testing.assert_array_equal(board.p_best, again.p_best)


def test_metric_of_the_users():
    mine = make_metric(lambda m: m[..., 1, 1] / m[..., 1, :].sum(-1), name="mine", range=(0, 1))
    board = leaderboard(MODELS, metric=mine, random_state=0)
    recall = leaderboard(MODELS, metric="recall", prior="laplace")
    assert board.metric == "mine"
    assert np.argmax(board.p_best) == np.argmax(recall.p_best)


@pytest.mark.parametrize(
    ("metric", "prior"),
    [
        ("recall", "jeffreys"),
        ("recall", "laplace"),
        *[
            pytest.param(
                *case,
            )
            for case in [("f1", "auto"), ("accuracy", "auto"), ("fpr", "auto"), ("npv", "neutral")]
        ],
    ],
)
def test_perfect_models_are_tied(metric, prior):
    board = leaderboard([FOUR_TIES] * 4, metric=metric, prior=prior)
    np.testing.assert_allclose(board.p_best, 0.25, atol=1e-9)
    np.testing.assert_allclose(board.expected_rank, 2.5, atol=1e-9)
    np.testing.assert_allclose(board.pairwise, 0.5, atol=1e-8)
    np.testing.assert_allclose(board.rank_probabilities, 0.25, atol=1e-8)


@pytest.mark.parametrize("prior", ["neutral", 0.1])
def test_small_priors(prior):
    one, two = (proportion_posterior(100 - k, k, prior=prior) for k in (0, 1))
    assert leaderboard([one, two]).p_best[1] == pytest.approx(compare(one, two).p_better, abs=1e-8)


def test_tiny_priors_are_drawn():
    one, two = (proportion_posterior(100 - k, k, prior=0.01) for k in (0, 1))
    board = leaderboard([one, two], n_draws=40_000, random_state=0)
    expected = compare(one, two).p_better
    error = 4.5 * np.sqrt(expected * (1 - expected) / 40_000)
    assert board.p_best[1] == pytest.approx(expected, abs=error)


def test_no_prior_and_nothing_observed():
    with pytest.warns(UndefinedMetricWarning, match="puts no mass"):
        board = leaderboard([FOUR_TIES] * 2, metric="recall", prior=0.0, random_state=0)
    np.testing.assert_array_equal(board.p_best, [0.5, 0.5])
    np.testing.assert_array_equal(board.expected_loss, [0, 0])
    np.testing.assert_array_equal(board.rank_probabilities, 0.5)


def test_tied_models_share_prizes():
    board = leaderboard({k: [0, 1, 1, 0] for k in "abc"}, y_true=[0, 1, 1, 0], prior=0)
    np.testing.assert_array_equal(board.p_best, 1)  # of the group that they are
    np.testing.assert_array_equal(board.tie_group, 0)
    np.testing.assert_allclose(board.expected_prize([90, 0, 0]), 30)


@pytest.mark.slow
@pytest.mark.parametrize(
    "trials",
    [
        ((10**6, 0), (10**6 - 1, 1)),
        ((3, 10**6), (1, 2)),
        ((10**5, 2), (0, 10**5)),
        ((0, 0), (0, 30)),
        ((5, 10**5), (10**5, 5)),
        ((0, 0), (10**4, 10**4)),
        ((10, 4), (3 * 10**7, 10**7)),
    ],
)
def test_extreme_shapes(trials):
    one, two = (proportion_posterior(*counts) for counts in trials)
    board = leaderboard([one, two])
    check_tables(board, atol=1e-7)
    reference = best_by_quadrature([stats.beta(*(np.array(t) + 0.5)) for t in trials], 1)
    assert board.p_best[1] == pytest.approx(reference, abs=1e-8)
    assert board.p_best[1] == pytest.approx(compare(one, two).p_better, abs=1e-8)


def test_a_billion_rows():
    hits = np.array([10**9, 10**9 + 10**4, 10**9 + 3 * 10**4])
    board = leaderboard([proportion_posterior(k, 10**9) for k in hits])
    share = hits / (hits + 10**9)
    spread = np.sqrt(share * (1 - share) / (hits + 10**9))
    z = (share - share[:, None]) / np.hypot(spread, spread[:, None])
    # Densities with shapes of 1e9 are good to about 1e-5 in doubles
    np.testing.assert_allclose(board.pairwise.T, stats.norm.cdf(z), atol=1e-5)


@pytest.mark.slow
def test_two_thousand_models(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    cells = rng.integers(100, 400, (2000, 4))
    models = [ConfusionCounts.from_binary(tp=a, fp=b, fn=c, tn=d) for a, b, c, d in cells]
    board = leaderboard(models, metric="f1", shrinkage=False)
    assert board.pairwise is None
    assert board.rank_probabilities is None
    assert board.p_best.sum() == pytest.approx(1, abs=1e-9)
    assert board.expected_rank.sum() == pytest.approx(2000 * 2001 / 2)
    n = 5000
    stack = ConfusionCounts(np.stack([model.counts for model in models]))
    draws = stack.posterior("f1").sample(n, rng)
    share = np.bincount(draws.argmax(axis=0), minlength=2000) / n
    top = np.argsort(board.p_best)[-5:]
    error = np.sqrt(board.p_best[top] * (1 - board.p_best[top]) / n)
    assert np.all(np.abs(board.p_best[top] - share[top]) < 4.5 * error)
    assert "... and 1980 more" in repr(board)
    with pytest.raises(ValueError, match=r"up to \d+ models"):
        board.expected_prize([1])


def test_four_hundred_models(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    models = [proportion_posterior(k, 1000 - k) for k in rng.integers(850, 960, 400)]
    board = leaderboard(models, random_state=global_random_seed, shrinkage=False)
    assert board.method == (
        f"independent, exact; rank probabilities from 4000 draws, seed {global_random_seed}"
    )
    np.testing.assert_allclose(board.rank_probabilities.sum(axis=0), 1)
    np.testing.assert_allclose(board.pairwise + board.pairwise.T, 1, atol=1e-8)
    np.testing.assert_allclose(board.pairwise.sum(axis=0) + 0.5, board.expected_rank, atol=1e-6)
    error = 4.5 * np.sqrt(board.p_best * (1 - board.p_best) / 4000) + 5 / 4000
    assert np.all(np.abs(board.rank_probabilities[:, 0] - board.p_best) < error)


def test_prizes_from_accuracies_alone(global_random_seed):
    n_rows, known = 15123, (0.99763, 0.99761, 0.99742, 0.99734)
    hits = [round(p * n_rows) for p in known]
    posteriors = {
        f"team {k}": proportion_posterior(hit, n_rows - hit) for k, hit in enumerate(hits)
    }
    board = leaderboard(posteriors, shrinkage=False)
    betas = [stats.beta(hit + 0.5, n_rows - hit + 0.5) for hit in hits]
    expected = [best_by_quadrature(betas, k) for k in range(4)]
    np.testing.assert_allclose(board.p_best, expected, atol=1e-9)
    check_tables(board)
    prizes = np.array([10_000, 2_000, 1_000])
    rng = np.random.default_rng(global_random_seed)
    draws = np.stack([beta.rvs(400_000, random_state=rng) for beta in betas])
    won = np.append(prizes, 0)[(-draws).argsort(axis=0).argsort(axis=0)]
    error = won.std(axis=1) / np.sqrt(400_000)
    assert np.all(np.abs(board.expected_prize(prizes) - won.mean(axis=1)) < 4.5 * error)
    assert board.expected_prize(prizes).sum() == pytest.approx(13_000, abs=1e-3)
    assert board.expected_prize([1, 1, 1, 1]) == pytest.approx(np.ones(4), abs=1e-8)
    for wrong in ([1] * 5, 3, [[1]]):
        with pytest.raises(ValueError, match="at most 4 numbers"):
            board.expected_prize(wrong)


# --------------------------------------------------------------------------------------------------
# The same rows


def shared_rows(seed, n=300, n_classes=2):
    """True labels and two models that are wrong on about the same rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    wrong = (y + 1) % n_classes
    one = np.where(rng.random(n) < 0.2, wrong, y)
    two = one.copy()
    for label, gained, lost in ((0, 5, 2), (1, 4, 1)):
        gain = np.flatnonzero((one != y) & (y == label))[:gained]
        loss = np.flatnonzero((one == y) & (y == label))[:lost]
        two[gain], two[loss] = y[gain], wrong[loss]
    return y, one, two


@pytest.mark.parametrize("metric", ["accuracy", "error_rate", "recall"])
def test_two_models_on_the_same_rows(metric, global_random_seed):
    y, one, two = shared_rows(global_random_seed)
    n_draws = 40_000
    options = {"metric": metric, "n_draws": n_draws, "random_state": 0, "prior": 0.0}
    board = leaderboard([one, two], y_true=y, **options)
    rows = y == 1 if metric == "recall" else np.ones(y.shape, bool)
    only_one = np.sum((one == y) & (two != y) & rows)
    only_two = np.sum((two == y) & (one != y) & rows)
    expected = stats.beta(only_two, only_one).sf(0.5)
    error = 4.5 * np.sqrt(expected * (1 - expected) / n_draws) + 1e-12
    assert board.p_best[1] == pytest.approx(expected, abs=error)
    paired = compare_paired(y, one, two, metric=metric, prior=1e-6)
    assert board.pairwise[1, 0] == pytest.approx(paired.p_better, abs=error + 1e-5)
    check_tables(board)
    names = np.array(["no", "yes"])
    text = leaderboard([names[one], names[two]], y_true=names[y], pos_label="yes", **options)
    np.testing.assert_array_equal(text.p_best, board.p_best)
    other = leaderboard(
        [one, two], y_true=y, metric="recall", pos_label=0, n_draws=500, random_state=0
    )
    assert other.mean[0] == pytest.approx(np.mean(one[y == 0] == 0), abs=0.02)


def test_three_classes_on_the_same_rows(global_random_seed):
    y, one, two = shared_rows(global_random_seed, n_classes=3)
    options = {"metric": "f1_macro", "random_state": 0, "prior": 0.0}
    board = leaderboard({"one": one, "two": two, "true": y}, y_true=y, n_draws=20_000, **options)
    assert board.metric == "f1_macro"
    np.testing.assert_allclose(board.mean[2], 1)
    paired = compare_paired(y, one, two, n_draws=20_000, **options)
    assert board.pairwise[1, 0] == pytest.approx(paired.p_better, abs=4.5 * np.sqrt(0.5 / 20_000))
    labelled = leaderboard([one, two], y_true=y, labels=[0, 1, 2, 3], **options)
    assert labelled.mean[0] == pytest.approx(0.75 * board.mean[0], abs=0.01)


def test_identical_models_on_the_same_rows():
    y, one, _ = shared_rows(0)
    for prior in (0.5, 0):
        board = leaderboard([one, one], y_true=y, prior=prior, random_state=0)
        np.testing.assert_array_equal(board.p_best, [1, 1])
        np.testing.assert_array_equal(board.tie_group, [0, 0])
        np.testing.assert_array_equal(board.expected_rank, [1.5, 1.5])
        np.testing.assert_array_equal(board.expected_loss, [0, 0])
        np.testing.assert_array_equal(board.rank_probabilities, 0.5)
        np.testing.assert_array_equal(board.pairwise, 0.5)


def test_one_row_is_no_proof():
    # By default two models are compared as by compare_paired, and perfection has a width.
    y, n_draws = np.tile([0, 1], 5), 40_000
    almost = np.r_[1 - y[:1], y[1:]]
    board = leaderboard([y, almost], y_true=y, n_draws=n_draws, random_state=0)
    paired = compare_paired(y, almost, y)
    assert board.p_best[0] == pytest.approx(paired.p_better, abs=4.5 * np.sqrt(0.25 / n_draws))
    assert board.interval("0").width > 0.1
    with pytest.raises(TypeError, match="prior must be a number"):
        leaderboard([y, almost], y_true=y, prior="jeffreys")


def test_models_that_are_wrong_in_other_ways():
    y, one, _ = shared_rows(0, n_classes=3)
    other = np.where(one == y, y, (y + 2) % 3)  # the same rows, the other wrong class
    board = leaderboard([one, other], y_true=y, metric="accuracy", n_draws=4000, random_state=0)
    # A tie: 4.5 standard errors of a fair coin, should rounding break it
    assert board.p_best[0] == pytest.approx(0.5, abs=4.5 * 0.5 / np.sqrt(4000))


def test_shared_rows_make_the_leader_surer(global_random_seed):
    y, one, two = shared_rows(global_random_seed)
    shared = leaderboard([one, two], y_true=y, metric="accuracy", random_state=0)
    counts = [ConfusionCounts.from_predictions(y, predicted) for predicted in (one, two)]
    apart = leaderboard(counts, metric="accuracy")
    leader = np.argmax(apart.p_best)
    assert 0.5 < apart.p_best[leader] < shared.p_best[leader]


# --------------------------------------------------------------------------------------------------
# What is returned and refused


def test_board_as_text_and_table():
    board = leaderboard(MODELS, metric="f1", level=0.9, kind="hdi")
    assert isinstance(board, Leaderboard)
    lines = repr(board).splitlines()
    assert lines[0] == "Leaderboard(3 models by f1, independent, exact, 90 % intervals)"
    assert [line.split()[0] for line in lines[2:]] == ["forest", "tree", "boost"]
    table = board.to_dict()
    assert table["model"] == list(MODELS)
    assert table["p_best"] == board.p_best.tolist()
    frame = board.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == ["forest", "tree", "boost"]
    assert frame.loc["tree", "expected_rank"] == board.expected_rank[0]
    assert repr(pickle.loads(pickle.dumps(board))) == repr(board)
    np.testing.assert_array_equal(board.order(), [1, 0, 2])
    expected = MODELS["boost"].posterior("f1").interval(0.9, "hdi")
    np.testing.assert_allclose(board.interval("boost"), expected, atol=1e-9)
    assert leaderboard(list(MODELS.values()), metric="f1").names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("prevalence", "n_new", "asked"),
    [
        (None, None, "rows like those they were tested on?"),
        (0.01, None, "rows like those of a population with prevalence 0.01?"),
        (None, 50, "50 new rows like those they were tested on?"),
    ],
)
def test_the_report_asks_about_the_population(prevalence, n_new, asked):
    posteriors = {key: one.posterior("npv", prevalence=prevalence) for key, one in MODELS.items()}
    if n_new:
        posteriors = {key: one.predictive(n_new) for key, one in posteriors.items()}
    report = leaderboard(posteriors, random_state=0).report()
    question = f"Which of these 3 models is the best on {asked}"
    assert report.to_dict()["question"] == question
    assert question in str(report)


@pytest.mark.parametrize("names", ["abc", ["tree", "a long name", "b"]])
def test_columns_of_the_board_are_aligned(names):
    models = dict(zip(names, MODELS.values(), strict=True))
    for metric in ("f1", "mcc"):
        lines = repr(leaderboard(models, metric=metric, random_state=0)).splitlines()[1:]
        assert len({len(line) for line in lines}) == 1
        assert len({line.index("]") for line in lines[1:]}) == 1
        assert "[ " not in lines[1]


ONE = MODELS["tree"]


@pytest.mark.parametrize(
    ("results", "options", "error", "message"),
    [
        ([ONE], {"metric": "f1"}, ValueError, "at least two models, got 1"),
        ([ONE, ONE], {}, TypeError, "metric is missing"),
        ([ONE, [0, 1]], {"metric": "f1"}, TypeError, "with y_true=, predicted labels, got list"),
        ([[0.8, 0.9], [0.7, 0.9]], {}, TypeError, "Models of which only fold.*compare_cv"),
        ([ONE, ONE], {"metric": "f1", "labels": [0, 1]}, TypeError, "give y_true as well"),
        ([ONE, ONE], {"metric": "prevalence"}, ValueError, "cannot be ranked by it"),
        ([ONE, ONE], {"metric": "f2x"}, ValueError, "not known"),
        ([ONE, ONE], {"metric": "f1", "level": 95}, ValueError, "Did you mean 0.95"),
        ([ONE, ConfusionCounts([ONE.counts] * 2)], {"metric": "f1"}, ValueError, "got a stack"),
        ([ONE.posterior("f1"), ONE.posterior("recall")], {}, ValueError, "the same metric"),
        ([ONE.posterior("f1"), ONE.posterior("f1")], {"metric": "recall"}, ValueError,
         "posterior of 'f1' was given"),
        ([proportion_posterior([1, 2], 3), ONE.posterior("f1")], {}, ValueError, "same metric"),
        ([proportion_posterior([1, 2], 3)] * 2, {}, ValueError, "a single posterior"),
        ([[0, 1], [0, 1, 1]], {"y_true": [0, 1]}, ValueError, "3"),
        ([[0, 1], [0, 2]], {"y_true": [0, 1], "labels": [0, 1]}, ValueError, "labels"),
        ([[0, 1], [0, 1]], {"y_true": [0, 1], "n_draws": 0}, ValueError, "n_draws must"),
    ],
)  # fmt: skip
def test_what_is_refused(results, options, error, message):
    with pytest.raises(error, match=message):
        leaderboard(results, **options)


# --------------------------------------------------------------------------------------------------
# Two models on several data sets


def signed_rank_loop(differences, rope, weights):
    """The definition, one pair of data sets at a time; z[0] = 0 is the pseudo data set."""
    z = [Fraction(0), *(Fraction(str(x)) for x in differences)]
    edge = 2 * Fraction(str(rope))
    counts = np.zeros(3)
    for w in weights:
        left = right = 0.0
        for i, j in np.ndindex(len(z), len(z)):
            total = z[i] + z[j]
            right += w[i] * w[j] * (1 if total > edge else 0.5 if total == edge else 0)
            left += w[i] * w[j] * (1 if total < -edge else 0.5 if total == -edge else 0)
        counts[np.argmax([left, 1 - left - right if rope else 0, right])] += 1
    return counts / len(weights)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_sign_test_by_draws(rope, n, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    differences = np.round(rng.normal(0.01, 0.03, n), 2)
    found = compare_datasets(np.zeros(n), differences, rope=rope, n_draws=1)
    worse, better = np.sum(differences < -rope), np.sum(differences > rope)
    equal = n - worse - better + 1  # one pseudo data set
    draws = 1_000_000
    if rope == 0:
        share = rng.beta(better + equal / 2, worse + equal / 2, draws)
        p = np.array([np.mean(share < 0.5), 0, np.mean(share > 0.5)])
    else:
        gammas = rng.standard_gamma([worse, equal, better], size=(draws, 3))
        p = np.bincount(gammas.argmax(axis=1), minlength=3) / draws
    # The implementation adds 1e-4 to every count
    error = 4.5 * np.sqrt(p * (1 - p) / draws) + 1e-4
    assert np.all(np.abs(np.array(found.sign) - p) < error)
    assert sum(found.sign) == pytest.approx(1)


TIES = (np.array([2, -1, 3, 0, 1, 1]) / 64, 1 / 64)  # sums that are exactly on the edge


@pytest.mark.slow
@pytest.mark.parametrize(
    ("differences", "rope"),
    [
        TIES,
        (TIES[0], 0.0),
        ([0.013, 0.024, -0.011, 0.002], 0.01),
        ([0.013, 0.024, -0.011, 0.002], 0.0),
        pytest.param(
            [0.03, -0.01, 0.03], 0.01,
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prior", [0.5, 2.0])
def test_signed_rank_test(differences, rope, prior, global_random_seed):
    zeros = np.zeros(len(differences))
    shapes = [prior, *(zeros + 1)]
    options = {"rope": rope, "prior": prior}
    few = compare_datasets(zeros, differences, n_draws=300, random_state=7, **options)
    stream = np.random.default_rng(np.random.SeedSequence(7).spawn(1)[0])
    weights = stream.standard_gamma(shapes, size=(300, len(shapes)))
    weights /= weights.sum(axis=1, keepdims=True)
    expected = signed_rank_loop(differences, rope, weights)
    np.testing.assert_allclose(few.signed_rank, expected, atol=1e-12)
    # By simulation, with random numbers of our own; both have an error.
    weights = np.random.default_rng(global_random_seed).dirichlet(shapes, 2000)
    p = signed_rank_loop(differences, rope, weights)
    many = compare_datasets(zeros, differences, n_draws=40_000, random_state=1, **options)
    error = 4.5 * np.sqrt(p * (1 - p) * (1 / 2000 + 1 / 40_000)) + 1e-3
    assert np.all(np.abs(np.array(many.signed_rank) - p) < error)
    assert (many.p_worse, many.p_equivalent, many.p_better) == many.signed_rank


def test_signed_rank_test_defaults(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a = rng.uniform(0.6, 0.9, 12)
    b = a + rng.normal(0.01, 0.02, 12)
    found = compare_datasets(a, b, rope=0.01, random_state=0)
    assert (found.n_draws, found.seed) == (50_000, 0)
    swapped = compare_datasets(b, a, rope=0.01, random_state=0)
    np.testing.assert_allclose(swapped.signed_rank, found.signed_rank[::-1])
    np.testing.assert_allclose(swapped.sign, found.sign[::-1])
    same = compare_datasets(a, a, rope=0.01, random_state=0)
    assert same.signed_rank == (0, 1, 0)
    certain = compare_datasets(a, a + 0.5, rope=0.01, random_state=0)
    assert certain.p_better > 0.99
    assert certain.sign[2] > 0.99


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_folds_of_every_data_set(n_repeats, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a = rng.uniform(0.6, 0.9, (6, 10))
    b = a + rng.normal(0.01, 0.03, (6, 10))
    found = compare_datasets(a, b, rope=0.01, n_repeats=n_repeats, n_draws=100, random_state=0)
    for k in range(6):
        row = compare_cv(a[k], b[k], rope=0.01, n_repeats=n_repeats)
        for name in ("p_worse", "p_equivalent", "p_better"):
            assert getattr(found.per_dataset, name)[k] == pytest.approx(getattr(row, name))
    means = compare_datasets(a.mean(axis=1), b.mean(axis=1), rope=0.01, n_draws=100, random_state=0)
    assert means.per_dataset is None
    assert means.signed_rank == found.signed_rank
    assert means.sign == found.sign
    np.testing.assert_allclose(means.differences, (b - a).mean(axis=1), atol=1e-12)


def test_comparison_as_text_and_table():
    a, b = [0.80, 0.71, 0.92, 0.66, 0.85], [0.83, 0.74, 0.93, 0.70, 0.84]
    found = compare_datasets(a, b, rope=0.01, names=("old", "new"), random_state=0)
    assert isinstance(found, DatasetComparison)
    assert repr(found).startswith("DatasetComparison(new against old on 5 data sets, rope=0.01;")
    table = found.to_dict()
    assert (table["a"], table["b"], table["rope"]) == ("old", "new", 0.01)
    assert table["signed_rank"]["p_better"] == found.p_better
    assert table["differences"] == [0.03, 0.03, 0.01, 0.04, -0.01]  # 0.01 is within the ROPE
    frame = found.to_frame()
    assert list(frame.index) == ["signed_rank", "sign"]
    assert frame.loc["sign", "p_worse"] == found.sign[0]
    np.testing.assert_allclose(frame.sum(axis=1), 1)
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


@pytest.mark.parametrize(
    ("a", "b", "options", "error", "message"),
    [
        ([0.1], [0.2], {}, ValueError, "at least two data sets, got 1"),
        ([0.1, 0.2], [0.2], {}, ValueError, "the same data sets and folds"),
        ([0.1, np.nan], [0.2, 0.3], {}, ValueError, "A has 1 scores that are NaN"),
        ([0.1, 0.2], ["x", "y"], {}, TypeError, "B must hold one score per data set"),
        ([[[0.1]]], [[[0.1]]], {}, TypeError, "one per data set and fold"),
        ([0.1, 0.2], [0.2, 0.3], {"n_repeats": 2}, ValueError, "n_repeats is for fold scores"),
        ([0.1, 0.2], [0.2, 0.3], {"rope": -1}, ValueError, "rope must"),
        ([0.1, 0.2], [0.2, 0.3], {"prior": 0}, ValueError, "prior must"),
        ([0.1, 0.2], [0.2, 0.3], {"n_draws": 0}, ValueError, "n_draws must"),
        ([0.1, 0.2], [0.2, 0.3], {"names": "AB"}, ValueError, "two names"),
    ],
)
def test_data_sets_that_are_refused(a, b, options, error, message):
    with pytest.raises(error, match=message):
        compare_datasets(a, b, **options)
