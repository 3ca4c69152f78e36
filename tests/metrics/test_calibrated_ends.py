"""The default interval of a proportion: its own two sides, calibrated at 0 and 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, binom, gamma

from skuncertain import ConfusionCounts, leaderboard
from skuncertain.metrics import credible_interval, metric_posterior, proportion_posterior
from skuncertain.metrics._posterior import class_posterior
from skuncertain.model_selection import fold_posterior
from skuncertain.posteriors import About, BetaPosterior
from skuncertain.posteriors._beta import calibrated_beta

PROPORTIONS = (
    *("accuracy", "error_rate", "precision", "recall", "specificity", "npv", "fpr", "fnr", "fdr"),
    *("false_omission_rate", "prevalence", "predicted_positive_rate", "jaccard"),
    *("precision_micro", "recall_micro", "f1_micro", "recall_weighted"),
)
TABLE = ConfusionCounts.from_binary(tp=17, fn=5, fp=3, tn=41)


@pytest.mark.parametrize("n", [1, 2, 20, 1000, 10**9])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_perfect_scores_have_the_ends_of_clopper_and_pearson(n, level):
    posterior = proportion_posterior(n, 0)
    # n of n happen with probability p**n: the rate at which that is one tail, or both.
    tail = (1 - level) / 2
    assert_allclose(posterior.interval(level), (beta.ppf(tail, n, 1), 1), rtol=1e-12)
    assert_allclose(posterior.interval(level, "hdi"), (beta.ppf(2 * tail, n, 1), 1), rtol=1e-12)
    low, high = proportion_posterior(0, n).interval(level)
    assert low == 0
    assert_allclose(high, beta.ppf(1 - tail, 1, n), rtol=1e-9)


def test_twenty_of_twenty():
    assert_allclose(proportion_posterior(20, 0).interval().low, 0.8316, atol=5e-5)
    # the clinicians' rule: with no event in n rows the rate is below 3 / n
    assert_allclose(1 - proportion_posterior(1000, 0).interval(kind="hdi").low, 0.003, rtol=5e-3)


def test_one_failure_reaches_the_end_and_two_do_not():
    one, two = proportion_posterior(19, 1), proportion_posterior(18, 2)
    assert one.interval().high == 1
    assert_allclose(one.interval().low, beta.ppf(0.025, 19.5, 1.5), rtol=1e-10)
    assert_allclose(two.interval(), beta.ppf([0.025, 0.975], 18.5, 2.5), rtol=1e-10)
    assert one.interval(kind="hdi").high < 1
    # where both rules meet, the one for no failure wins
    assert_allclose(proportion_posterior(1, 0).interval(), (0.025, 1), rtol=1e-12)
    assert proportion_posterior(1, 1).interval() == (0, 1)
    assert proportion_posterior(0, 0).interval() == (0, 1)
    assert proportion_posterior(0, 0).interval(0.5, "hdi") == (0, 1)


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_intervals_are_nested_in_the_level(kind):
    hits = np.arange(8)
    posterior = proportion_posterior(hits, hits[::-1])
    ends = [posterior.interval(level, kind) for level in np.linspace(0.05, 0.999, 60)]
    low, high = (np.array(side) for side in zip(*ends, strict=True))
    assert np.all(np.diff(low, axis=0) <= 1e-12)
    assert np.all(np.diff(high, axis=0) >= -1e-12)


def test_distribution_stays_the_plain_posterior():
    posterior = proportion_posterior(20, 0)
    exact = beta(20.5, 0.5)
    assert_allclose(posterior.quantile([0.025, 0.5]), exact.ppf([0.025, 0.5]), rtol=1e-10)
    assert_allclose(posterior.cdf(0.9), exact.cdf(0.9), rtol=1e-10)
    assert_allclose(posterior.prob(0.9, 1), exact.sf(0.9), rtol=1e-10)


@pytest.mark.parametrize("metric", PROPORTIONS)
def test_half_a_row_on_each_of_its_own_sides(metric):
    posterior = TABLE.posterior(metric)
    hits = posterior.a - 0.5
    assert_allclose(hits / (hits + posterior.b - 0.5), TABLE.score(metric), rtol=1e-12)
    assert hits == round(hits)
    assert "calibrated ends" in posterior.prior


@pytest.mark.parametrize("n_classes", [2, 3, 10, 30])
@pytest.mark.parametrize("metric", ["accuracy", "error_rate", "f1_micro"])
def test_accuracy_does_not_know_the_number_of_classes(n_classes, metric):
    matrix = np.zeros((n_classes, n_classes), dtype=int)
    matrix[0, 0], matrix[0, 1] = 18, 12
    interval = ConfusionCounts(matrix).posterior(metric).interval()
    expected = beta.ppf([0.025, 0.975], *((12.5, 18.5) if metric == "error_rate" else (18.5, 12.5)))
    assert_allclose(interval, expected, rtol=1e-10)


def test_recall_is_the_same_in_tables_of_any_size():
    two = ConfusionCounts.from_binary(tp=21, fn=0, fp=3, tn=40).posterior("recall")
    many = ConfusionCounts([[21, 0, 0], [2, 9, 1], [1, 0, 8]]).posterior("recall", pos_label=0)
    assert_allclose(two.interval(), many.interval(), rtol=1e-12)
    assert_allclose(two.interval().low, 0.025 ** (1 / 21), rtol=1e-12)


def test_f1_through_the_jaccard_index():
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    low, high = beta.ppf([0.025, 0.975], 26.5, 2.5)
    assert_allclose(counts.posterior("jaccard").interval(), (low, high), rtol=1e-10)
    expected = 2 * low / (1 + low), 2 * high / (1 + high)
    assert_allclose(counts.posterior("f1").interval(), expected, rtol=1e-10)
    perfect = ConfusionCounts.from_binary(tp=10, fn=0, fp=0, tn=6).posterior("f1").interval()
    worst = 0.025**0.1
    assert_allclose(perfect, (2 * worst / (1 + worst), 1), rtol=1e-12)


@pytest.mark.parametrize("options", [{"prevalence": 0.01}, {"model": "three_beta"}])
def test_rates_within_a_class_do_not_move_with_the_population(options):
    for metric in ("recall", "specificity", "fpr", "fnr"):
        assert_allclose(
            TABLE.posterior(metric, **options).interval(), TABLE.posterior(metric).interval()
        )
    # what depends on both classes keeps the joint prior of 1/3 per cell
    assert "1/3" in TABLE.posterior("precision", **options).prior


def test_a_prevalence_that_cannot_be_is_refused_for_recall_too():
    with pytest.raises(ValueError, match="prevalence must be in"):
        TABLE.posterior("recall", prevalence=5)


@pytest.mark.parametrize("prior", ["neutral", "jeffreys", "laplace", 0.25])
@pytest.mark.parametrize("metric", ["accuracy", "precision", "recall", "f1"])
def test_margins_are_those_of_the_joint_under_a_named_prior(prior, metric, global_random_seed):
    joint = TABLE.joint_posterior(
        [metric], prior=prior, n_draws=40_000, random_state=global_random_seed
    )[metric]
    margin = TABLE.posterior(metric, prior=prior)
    # Kolmogorov's distance of 40,000 draws exceeds 0.0123 once in 100,000 times.
    draws = np.sort(joint)
    distance = np.abs(margin.cdf(draws) - (np.arange(draws.size) + 0.5) / draws.size).max()
    assert distance < 0.0123


def test_an_opinion_has_the_ends_of_its_posterior():
    for prior in (0.5, "jeffreys"):
        low, high = proportion_posterior(20, 0, prior=prior).interval()
        assert_allclose(low, beta.ppf(0.025, 20.5, 0.5), rtol=1e-10)
        assert high == 1


def coverage(n, rates, level, kind="eti"):
    hits = np.arange(n + 1)
    low, high = proportion_posterior(hits, n - hits).interval(level, kind)
    mass = binom.pmf(hits, n, rates[:, None])
    return (mass * ((low <= rates[:, None]) & (rates[:, None] <= high))).sum(axis=1)


@pytest.mark.parametrize("n", [20, 50, 100, 300])
def test_coverage_by_summation(n):
    rates = np.linspace(0.0005, 0.9995, 1999)
    near = np.geomspace(1e-5, 0.1, 400)
    found = coverage(n, np.concatenate([rates, near, 1 - near]), 0.95)
    assert found.min() >= 0.905
    assert 0.945 <= found[: rates.size].mean() <= 0.965
    assert coverage(n, rates, 0.95, "hdi").min() >= 0.87


def test_stacks_and_members_keep_their_ends():
    hits = np.array([20, 19, 5, 0])
    stack = proportion_posterior(hits, 20 - hits)
    low, high = stack.interval()
    for k, hit in enumerate(hits):
        single = proportion_posterior(hit, 20 - hit).interval()
        assert_allclose((low[k], high[k]), single, rtol=1e-14)
        assert_allclose(stack._members(k).interval(), single, rtol=1e-14)
    board = leaderboard(
        {name: proportion_posterior(hit, 20 - hit) for name, hit in zip("abcd", hits, strict=True)}
    )
    assert_allclose(board.low, low, rtol=1e-14)
    assert_allclose(board.high, high, rtol=1e-14)


def test_a_given_beta_beside_a_proportion_keeps_its_own_ends():
    given = BetaPosterior(20.5, 0.5, about=About(metric="proportion", observed=1.0))
    board = leaderboard({"given": given, "seen": proportion_posterior(20, 0)})
    assert_allclose(board.low, [beta.ppf(0.025, 20.5, 0.5), 0.025 ** (1 / 20)], rtol=1e-10)


def test_predictive_share_of_all_rows_has_the_same_prior():
    counts = ConfusionCounts([[8, 1, 0], [0, 7, 0], [1, 0, 9]])
    new = counts.posterior("accuracy").predictive(50)
    assert_allclose(new.mean(), 24.5 / 27, rtol=1e-12)
    assert new.exact
    # More rows than outcomes are listed for are drawn from all cells, whose prior is another one.
    drawn = counts.posterior("accuracy", n_draws=10, random_state=0).predictive(10**7)
    assert not drawn.exact
    assert drawn.prior == "default (one pseudo-row per class)"


@pytest.mark.parametrize(("n_folds", "n_repeats"), [(10, 1), (5, 1), (5, 4), (2, 1)])
def test_folds_that_cannot_disagree_weigh_as_independent_ones(n_folds, n_repeats):
    perfect = np.zeros((n_folds * n_repeats, 2, 2), dtype=int)
    perfect[:, 0, 0] = perfect[:, 1, 1] = 6
    needed = 1 + n_folds / (n_folds - 1) * (1 + 1 / n_repeats) / 2
    for metric in ("recall", "accuracy", "f1", "balanced_accuracy", "matthews_corrcoef"):
        posterior = fold_posterior(ConfusionCounts(perfect), metric=metric, n_repeats=n_repeats)
        assert_allclose(posterior.diagnostics.omega, 1 / needed, rtol=1e-12)
    recall = fold_posterior(ConfusionCounts(perfect), metric="recall", n_repeats=n_repeats)
    assert_allclose((recall.a, recall.b), (6 * n_folds / needed + 1, 1), rtol=1e-12)
    assert recall.interval().high == 1


def test_no_jump_between_no_failure_and_one():
    folds = np.zeros((2, 10, 2, 2), dtype=int)
    folds[..., 0, 0], folds[..., 1, 1] = 6, 6
    folds[1, 0, 1] = 1, 5
    low = fold_posterior(ConfusionCounts(folds), metric="recall").interval().low
    assert low[1] < low[0] < low[1] + 0.05


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_odds_have_the_ends_of_their_rate(kind):
    for tp, fn in [(20, 0), (0, 20), (19, 1), (7, 9)]:
        counts = ConfusionCounts.from_binary(tp=tp, fn=fn, fp=3, tn=40)
        with np.errstate(divide="ignore"):
            low, high = (np.divide(end, 1 - end) for end in counts.posterior("recall").interval())
        found = counts.posterior("true_positive_odds").interval(kind=kind)
        if kind == "eti":
            assert_allclose(found, (low, high), rtol=1e-9)
        elif fn == 0 and tp:
            assert_allclose(found, (1 / np.expm1(-np.log(0.05) / tp), np.inf), rtol=1e-9)


def by_hand(hits, misses, level=0.95):
    """Modified Jeffreys interval, one proportion at a time."""
    tail = (1 - level) / 2
    low, high = beta.ppf([tail, 1 - tail], hits + 0.5, misses + 0.5)
    low, high = (0.0 if hits <= 1 else low), (1.0 if misses <= 1 else high)
    if misses == 0:
        low = tail ** (1 / hits)
    if hits == 0:
        high = 1 - tail ** (1 / misses)
    return low, high


@pytest.mark.parametrize("metric", ["recall", "accuracy", "f1"])
def test_a_hundred_thousand_matrices(metric, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    matrices = rng.integers(0, 4, (100_000, 2, 2))
    matrices[:, 1, 1] += 1
    low, high = ConfusionCounts(matrices).posterior(metric).interval()
    (tn, fp), (fn, tp) = matrices.transpose(1, 2, 0)
    sides = {"recall": (tp, fn), "accuracy": (tp + tn, fp + fn), "f1": (tp, fp + fn)}[metric]
    pairs, first = np.unique(np.stack(sides, axis=1), axis=0, return_inverse=True)
    expected = np.array([by_hand(*pair) for pair in pairs])
    if metric == "f1":
        expected = 2 * expected / (1 + expected)
    assert_allclose(np.stack([low, high], axis=1), expected[first.ravel()], rtol=1e-9, atol=1e-12)


def test_a_thousand_classes():
    matrix = np.diag(np.arange(1000) % 7)
    matrix[np.arange(1000), (np.arange(1000) + 1) % 1000] = np.arange(1000) % 3
    right, wrong = np.diag(matrix), np.arange(1000) % 3
    used = right + wrong > 0
    with pytest.warns(UserWarning, match="recall is 0/0 in the data"):
        low, high = class_posterior(matrix.astype(float), "recall", "auto").interval()
    expected = [by_hand(*pair) for pair in zip(right[used], wrong[used], strict=True)]
    assert_allclose(np.stack([low, high], axis=1)[used], expected, rtol=1e-9, atol=1e-12)
    assert np.all(low[~used] == 0)
    assert np.all(high[~used] == 1)
    accuracy = ConfusionCounts(matrix).posterior("accuracy").interval()
    assert_allclose(accuracy, by_hand(right.sum(), wrong.sum()), rtol=1e-9)


def test_counts_of_a_thousand_million():
    n = 10**9
    for misses in (0, 1, 2):
        counts = ConfusionCounts.from_binary(tp=n, fn=misses, fp=3, tn=n)
        low, high = counts.posterior("recall").interval()
        # The failures of so many rows are Poisson: gamma quantiles, divided by n.
        few = 3.688879454 if misses == 0 else gamma.ppf(0.975, misses + 0.5)
        assert_allclose(1 - low, few / n, rtol=1e-6)
        assert_allclose(1 - high, 0 if misses <= 1 else gamma.ppf(0.025, 2.5) / n, rtol=1e-6)


def test_labels_that_are_strings():
    y = ["ill"] * 12 + ["well"] * 30
    found = credible_interval(y, y, metric="recall", pos_label="ill")
    assert_allclose(found, by_hand(12, 0), rtol=1e-12)
    three = metric_posterior([*y, "dead"], [*y, "well"], metric="accuracy")
    assert_allclose(three.interval(), by_hand(42, 1), rtol=1e-10)
    ordered = metric_posterior([-1] * 9 + [1] * 4, [-1] * 9 + [1] * 4, metric="specificity")
    assert_allclose(ordered.interval(), by_hand(9, 0), rtol=1e-12)


def test_fractions_of_rows():
    # Weights of one size leave the rows what they are, whatever the size.
    y_true, y_pred = np.ones(20, dtype=int), np.array([1] * 20)
    for weight in (1.0, 0.25, 40.0):
        found = metric_posterior(
            y_true, y_pred, metric="recall", labels=[0, 1], sample_weight=np.full(20, weight)
        )
        assert_allclose(found.interval(), by_hand(20, 0), rtol=1e-10)
    # Less than one failure is still at most one, and no failure is none of any size.
    some = calibrated_beta(np.array([7.3, 7.3, 0.4]), np.array([0.6, 0.0, 3.2]))
    low, high = some.interval()
    assert_allclose(low, [beta.ppf(0.025, 7.8, 1.1), 0.025 ** (1 / 7.3), 0.0], rtol=1e-10)
    assert_allclose(high, [1, 1, beta.ppf(0.975, 0.9, 3.7)], rtol=1e-10)


def test_rows_behind_fractions_decide():
    # Eight failures that weigh 0.6 together are no single failure.
    posterior = calibrated_beta(7.3, 0.6, rows=(90, 8))
    assert_allclose(posterior.interval(), beta.ppf([0.025, 0.975], 7.8, 1.1), rtol=1e-10)
    perfect = calibrated_beta(7.3, 0.0, rows=(90, 0))
    assert_allclose(perfect.interval(), (0.025 ** (1 / 7.3), 1), rtol=1e-12)


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_groups_without_an_error(kind):
    tail = 0.025 if kind == "eti" else 0.05
    sizes = np.array([1, 2, 3, 10, 4])
    y = np.repeat([1, 0, 1, 1, 0], sizes)
    posterior = metric_posterior(y, y, metric="accuracy", groups=np.repeat(np.arange(5), sizes))
    worth = sizes.sum() ** 2 / np.square(sizes).sum()
    assert_allclose(posterior.interval(kind=kind), (tail ** (1 / worth), 1), rtol=1e-10)
    # F1 sees the groups of positives, and goes through the Jaccard index.
    posterior = metric_posterior(y, y, metric="f1", groups=np.repeat(np.arange(5), sizes))
    worst = tail ** ((1 + 9 + 100) / (1 + 3 + 10) ** 2)
    assert_allclose(posterior.interval(kind=kind), (2 * worst / (1 + worst), 1), rtol=1e-10)
    error = metric_posterior(y, y, metric="error_rate", groups=np.repeat(np.arange(5), sizes))
    assert_allclose(error.interval(kind=kind), (0, 1 - tail ** (1 / worth)), rtol=1e-10)


def test_groups_of_nearly_one_size_have_nearly_the_same_ends():
    y = np.ones(100, dtype=int)
    equal = np.repeat(np.arange(10), 10)
    almost = np.r_[equal[:-1], 8]
    found = [
        credible_interval(y, y, metric="recall", labels=[0, 1], groups=groups)
        for groups in (equal, almost)
    ]
    assert_allclose(found[0], by_hand(10, 0), rtol=1e-12)
    assert_allclose(found[1], found[0], rtol=2e-3)


def test_groups_with_errors_have_the_ends_of_their_posterior():
    y_true, groups = np.ones(60, dtype=int), np.repeat(np.arange(20), [2, 4] * 10)
    y_pred = np.where(np.arange(60) % 6 == 0, 0, 1)
    posterior = metric_posterior(y_true, y_pred, metric="recall", labels=[0, 1], groups=groups)
    assert_allclose(posterior.interval(), posterior.quantile([0.025, 0.975]), rtol=1e-9)
