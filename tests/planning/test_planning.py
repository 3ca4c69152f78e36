import itertools
import json
import pickle

import numpy as np
import pytest
from scipy import stats

from skuncertain import ConfusionCounts, compare, compare_paired, required_sample_size
from skuncertain.metrics import proportion_posterior
from skuncertain.planning import comparison_sample_size, expected_width
from skuncertain.posteriors import BetaPosterior

PILOT = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)


# --------------------------------------------------------------------------------------------------
# An independent calculation: scipy's Beta quantiles for every outcome


def _widths(n, prior=None, level=0.95, f1=False):
    """Lengths of the equal-tailed intervals of all k = 0 ... n, closed where nothing failed.

    `prior` are the shapes to add. None is the default, with the modified Jeffreys intervals of
    Brown, Cai and DasGupta: Clopper and Pearson's end for 0 or n, up to the end for 1 or n - 1.
    """
    k = np.arange(n + 1)
    tail = (1 - level) / 2
    a0, b0 = (0.5, 0.5) if prior is None else prior
    low, high = (stats.beta.ppf(q, k + a0, n - k + b0) for q in (tail, 1 - tail))
    if prior is None:
        low[:2], high[-2:] = 0.0, 1.0
        low[-1], high[0] = stats.beta.ppf(tail, n, 1), stats.beta.ppf(1 - tail, 1, n)
    if b0 <= 1:
        high[-1] = 1.0
    if a0 <= 1:
        low[0] = 0.0
    if f1:
        low, high = 2 * low / (1 + low), 2 * high / (1 + high)
    return high - low


def _mass(n, expected, f1=False):
    """Probabilities of k = 0 ... n."""
    k = np.arange(n + 1)
    if isinstance(expected, tuple):
        mode, weight = expected
        mode = mode / (2 - mode) if f1 else mode
        expected = BetaPosterior(mode * (weight - 2) + 1, (1 - mode) * (weight - 2) + 1)
    if isinstance(expected, BetaPosterior):
        return stats.betabinom.pmf(k, n, float(expected.a), float(expected.b))
    return stats.binom.pmf(k, n, expected / (2 - expected) if f1 else expected)


def _holds(n, expected, width, power, prior=None, **settings):
    narrow = _widths(n, prior, **settings) <= width
    return _mass(n, expected, settings.get("f1", False))[narrow].sum() >= power - 1e-12


def _scan(expected, width, power, prior=None, **settings):
    """Smallest n from which on it holds, and first n, by looking at every n."""
    last, first, n = 0, None, 0
    while True:
        n += 1
        if _holds(n, expected, width, power, prior, **settings):
            first = n if first is None else first
        else:
            last = n
        # A lopsided prior keeps the longest intervals out of sight at first.
        if n >= 5 * max(prior or (1, 1)) and n > 4 and _widths(n, prior, **settings).max() <= width:
            return last + 1, first


# --------------------------------------------------------------------------------------------------
# The length


@pytest.mark.parametrize("expected", [0.9, 0.5, 1.0, (0.8, 10), BetaPosterior(0.3, 7.0)])
@pytest.mark.parametrize("n", [1, 17, 200])
def test_distribution_of_the_length(n, expected):
    found = expected_width(n, metric="recall", expected=expected, prior=0.5, power=0.8)
    widths, mass = _widths(n, (0.5, 0.5)), _mass(n, expected)
    order = np.argsort(widths)
    reached = np.cumsum(mass[order])
    assert found.mean == pytest.approx(mass @ widths, rel=1e-9)
    # Outcomes k and n - k have the same length up to rounding, so any of the two may be chosen.
    assert found.median == pytest.approx(widths[order][np.argmax(reached > 0.5 - 1e-9)], rel=1e-9)
    assert found.quantile == pytest.approx(widths[order][np.argmax(reached > 0.8 - 1e-9)], rel=1e-9)
    middle = (found.mean + found.quantile) / 2 + 1e-7
    assert found.prob(middle) == pytest.approx(mass[widths <= middle].sum(), rel=1e-9)
    assert found.prob(1.0) == pytest.approx(1.0)
    assert found.rule == pytest.approx(2 / np.sqrt(n))
    assert found.rule_error == pytest.approx(2 / np.sqrt(n) / found.median - 1)
    assert (found.mean_error, found.quantile_error, found.seed) == (0.0, 0.0, None)


def test_published_lengths():
    # Tötsch and Hoffmann (2020), Fig. 7 and the text: mode 0.8, concentration 10, N = 100, length
    # of the 95 % highest-density interval at most 19 points with probability 95 %; flat prior.
    found = expected_width(100, metric="recall", expected=(0.8, 10), kind="hdi", prior=1)
    assert found.quantile == pytest.approx(0.19, abs=0.005)
    # At a rate of 0.9 the length is 0.117 where their rule of thumb says 0.200.
    found = expected_width(100, metric="recall", expected=0.9, kind="hdi", prior=1)
    assert found.median == pytest.approx(0.117, abs=5e-4)
    assert found.rule == pytest.approx(0.2)
    # So it is with the default: half of the samples have 90 successes or more.
    found = expected_width(100, metric="recall", expected=0.9)
    assert found.median == pytest.approx(np.ptp(stats.beta.ppf([0.025, 0.975], 90.5, 10.5)))
    assert found.median == pytest.approx(0.117, abs=1e-3)


def test_highest_density():
    n, prior = 40, 0.5
    tail = np.linspace(0, 0.05, 4001)[:, None]
    k = np.arange(n + 1)
    ends = [stats.beta.ppf(q, k + prior, n - k + prior) for q in (tail, tail + 0.95)]
    shortest = np.min(ends[1] - ends[0], axis=0)
    found = expected_width(n, metric="recall", expected=(0.7, 6), kind="hdi", prior=prior)
    assert found.mean == pytest.approx(_mass(n, (0.7, 6)) @ shortest, rel=1e-5)


@pytest.mark.parametrize(
    ("metric", "counted"),
    [
        ("recall", "real positives"),
        ("fnr", "real positives"),
        ("specificity", "real negatives"),
        ("precision", "predicted positives"),
        ("npv", "predicted negatives"),
        ("accuracy", "rows"),
        ("prevalence", "rows"),
        ("jaccard", "rows that are positive or predicted positive"),
        ("f1", "rows that are positive or predicted positive"),
    ],
)
def test_what_is_counted_and_the_default_prior(metric, counted):
    found = expected_width(30, metric=metric, expected=0.7)
    f1 = metric == "f1"
    assert found.counted == counted
    assert found.mean == pytest.approx(_mass(30, 0.7, f1) @ _widths(30, f1=f1), rel=1e-9)


def test_more_classes_come_with_a_pilot():
    pilot = ConfusionCounts([[30, 3, 2], [4, 40, 6], [1, 5, 9]], labels=["a", "b", "c"])
    found = expected_width(50, metric="recall", expected=pilot, pos_label="b")
    believed = BetaPosterior(40.5, 10.5)  # half a row on each side, one class of three
    assert found.mean == pytest.approx(_mass(50, believed) @ _widths(50), rel=1e-9)
    found = expected_width(50, metric="accuracy", expected=pilot)
    believed = BetaPosterior(79.5, 21.5)  # whatever the number of classes
    assert found.mean == pytest.approx(_mass(50, believed) @ _widths(50), rel=1e-9)


def test_a_shared_prior_looks_at_the_data():
    # Its mass is 3, one row per class, as much of it right as seen.
    pilot = ConfusionCounts([[30, 3, 2], [4, 40, 6], [1, 5, 9]])
    k = np.arange(51)
    right = 3 * np.clip((k + 0.5) / 51, 1 / 6, 5 / 6)
    low, high = (stats.beta.ppf(q, k + right, 50 - k + 3 - right) for q in (0.025, 0.975))
    low[0], high[-1] = 0.0, 1.0
    share = 3 * (79.5 / 101)
    mass = stats.betabinom.pmf(k, 50, 79 + share, 21 + 3 - share)
    found = expected_width(50, metric="accuracy", expected=pilot, prior="shared")
    assert found.mean == pytest.approx(mass @ (high - low), rel=1e-9)


# --------------------------------------------------------------------------------------------------
# The number of samples


@pytest.mark.parametrize(
    ("metric", "expected", "width", "power"),
    [
        *itertools.product(["recall"], [0.5, 0.9, 0.99, (0.8, 10)], [0.4, 0.25], [0.5, 0.95]),
        ("recall", 1.0, 0.2, 0.9),
        ("recall", 0.03, 0.2, 0.9),
        ("recall", BetaPosterior(0.2, 3.0), 0.3, 0.8),
        ("recall", BetaPosterior(900.0, 100.0), 0.2, 0.9),
        ("f1", 0.9, 0.25, 0.9),
        ("f1", 0.35, 0.3, 0.9),
        ("f1", (0.8, 10), 0.3, 0.6),
    ],
)
def test_required_number_against_every_number(metric, expected, width, power):
    f1 = metric == "f1"
    plan = required_sample_size(metric=metric, expected=expected, width=width, power=power)
    assert (plan.n, plan.first_n) == _scan(expected, width, power, f1=f1)
    mass, widths = _mass(plan.n, expected, f1), _widths(plan.n, f1=f1)
    assert plan.probability == pytest.approx(mass[widths <= width].sum(), rel=1e-9)
    assert plan.mean_width == pytest.approx(mass @ widths, rel=1e-9)
    assert plan.power_width <= width


# The interval of 1 success is longer than that of 2 for a handful of samples (width 0.71), and for
# any number of them at low levels: with 50 % as soon as a rate is around 2 / n.
@pytest.mark.parametrize("metric", ["recall", "f1"])
@pytest.mark.parametrize(
    ("expected", "width", "power", "level"),
    [
        *itertools.product([0.5, (0.6, 4)], [0.71, 0.85], [0.2, 0.9], [0.95]),
        *itertools.product([0.02, 0.97], [0.05, 0.09], [0.3, 0.95], [0.5]),
        ((0.05, 20), 0.09, 0.6, 0.2),
    ],
)
def test_required_number_where_a_calibrated_interval_sticks_out(
    metric, expected, width, power, level
):
    plan = required_sample_size(
        metric=metric, expected=expected, width=width, power=power, level=level
    )
    found = plan.n, plan.first_n
    assert found == _scan(expected, width, power, level=level, f1=metric == "f1")


@pytest.mark.parametrize(
    ("prior", "expected", "width", "power"),
    [
        ((12, 4), 0.9, 0.3, 0.95),
        ((40, 1), 0.3, 0.2, 0.9),  # one sample is enough, ten are not
        ((1, 40), 0.8, 0.15, 0.6),
        ((0.01, 0.02), (0.9, 10), 0.3, 0.8),
    ],
)
def test_required_number_with_an_opinionated_prior(prior, expected, width, power):
    cells = [[9, 9], [prior[1], prior[0]]]
    plan = required_sample_size(expected=expected, width=width, power=power, prior=cells)
    assert (plan.n, plan.first_n) == _scan(expected, width, power, prior)


def test_required_number_of_rows_with_three_classes():
    pilot = ConfusionCounts([[30, 3, 2], [4, 40, 6], [1, 5, 9]])
    plan = required_sample_size(metric="accuracy", expected=pilot, width=0.3, power=0.8)
    holds = [
        expected_width(n, metric="accuracy", expected=pilot, power=0.8).quantile <= 0.3
        for n in range(1, 60)
    ]
    assert plan.n == 60 - holds[::-1].index(False)
    assert plan.first_n == 1 + holds.index(True)


def test_sawtooth():
    plan = required_sample_size(metric="recall", expected=0.99, width=0.1, power=0.9)
    assert plan.first_n < plan.n
    settings = (0.99, 0.1, 0.9)
    assert _holds(plan.first_n, *settings)
    assert not _holds(plan.n - 1, *settings)


def test_a_narrow_interval():
    plan = required_sample_size(metric="recall", expected=0.9, width=0.01)
    assert plan.n == pytest.approx(0.9 * 0.1 * (2 * 1.96 / 0.01) ** 2, rel=0.05)

    def holds(n):
        k = np.arange(int(0.88 * n), int(0.92 * n))  # ten standard deviations at least
        low, high = (stats.beta.ppf(q, k + 0.5, n - k + 0.5) for q in (0.025, 0.975))
        return stats.binom.pmf(k, n, 0.9)[high - low <= 0.01].sum() >= 0.95

    assert not holds(plan.n - 1)
    assert all(holds(n) for n in range(plan.n, plan.n + 12))
    assert not holds(plan.first_n - 1)
    assert holds(plan.first_n)
    # The rule of thumb is made for a rate of one half, where it is 4 % off.
    assert (plan.rule_n, round(plan.rule_error, 1)) == (40_000, 1.8)
    half = required_sample_size(metric="recall", expected=0.5, width=0.01)
    assert half.rule_error == pytest.approx(4 / 3.8415 - 1, abs=0.005)


def test_rows():
    plan = required_sample_size(metric="recall", expected=0.9, width=0.2, prevalence=0.07)
    enough = stats.binom.sf(plan.n - 1, [plan.rows - 1, plan.rows], 0.07)
    assert enough[0] < 0.95 <= enough[1]
    assert plan.rows_on_average == np.ceil(plan.n / 0.07)
    plan = required_sample_size(metric="fpr", expected=0.1, width=0.2, prevalence=0.07)
    enough = stats.binom.sf(plan.n - 1, [plan.rows - 1, plan.rows], 0.93)
    assert enough[0] < 0.95 <= enough[1]
    plan = required_sample_size(metric="accuracy", expected=0.9, width=0.2)
    assert (plan.rows, plan.rows_on_average) == (plan.n, plan.n)
    assert required_sample_size(metric="recall", expected=0.9, width=0.2).rows is None


@pytest.mark.parametrize(
    ("metric", "inside"), [("recall", 80), ("specificity", 65), ("precision", 100), ("f1", 115)]
)
def test_rows_from_a_pilot(metric, inside):
    plan = required_sample_size(metric=metric, expected=PILOT, width=0.2)
    cells = 3 if metric == "f1" else 2
    shapes = inside + cells / 3, 145 - inside + (4 - cells) / 3
    enough = stats.betabinom.sf(plan.n - 1, [plan.rows - 1, plan.rows], *shapes)
    assert enough[0] < 0.95 <= enough[1]


@pytest.mark.parametrize("metric", ["recall", "f1", "accuracy"])
def test_counts_and_posterior_of_a_pilot_agree(metric):
    counts = required_sample_size(metric=metric, expected=PILOT, width=0.2)
    posterior = required_sample_size(metric=metric, expected=PILOT.posterior(metric), width=0.2)
    assert counts.n == posterior.n
    assert counts.probability == posterior.probability


# --------------------------------------------------------------------------------------------------
# Simulated studies


def _right(matrix):
    """Accuracy, but nobody knows it."""
    return np.trace(matrix, axis1=-2, axis2=-1)


def test_simulated_studies_of_a_metric_with_an_exact_answer(global_random_seed):
    settings = {"n_studies": 400, "n_draws": 3000, "random_state": global_random_seed}
    exact = expected_width(80, metric="accuracy", expected=PILOT)
    found = expected_width(80, metric=_right, expected=PILOT, **settings)
    assert found.counted == "rows"
    # A quantile of draws is nearly unbiased: the length comes out a thousandth too small.
    assert found.mean == pytest.approx(exact.mean, abs=5 * found.mean_error + 1e-3)
    assert 0 < found.mean_error < 1e-3
    plan = required_sample_size(metric=_right, expected=PILOT, width=0.2, **settings)
    exact = required_sample_size(metric="accuracy", expected=PILOT, width=0.2)
    # The noise of the draws, 1.5 % of a length, is added to the longest ones.
    assert plan.n == pytest.approx(exact.n, abs=5 * plan.n_error + 0.08 * exact.n)
    assert plan.probability == pytest.approx(0.95, abs=0.06)
    assert (plan.first_n, plan.rows, plan.seed) == (None, plan.n, global_random_seed)
    assert 0 < plan.probability_error < 0.02


def test_simulated_studies_of_balanced_accuracy(global_random_seed):
    found = expected_width(
        60, metric="balanced_accuracy", expected=PILOT, n_studies=300, random_state=1
    )
    rng = np.random.default_rng(global_random_seed)
    shares = rng.dirichlet(PILOT.counts.ravel() + 1 / 3, size=300)
    tables = np.array([rng.multinomial(60, share) for share in shares]).reshape(-1, 2, 2)
    # sum of two Beta variances, normal: for a mean of many studies good to 2 %
    tp, fn, fp, tn = (tables[:, r, c] + 1 / 3 for r, c in ((1, 1), (1, 0), (0, 1), (0, 0)))
    sd = np.sqrt((stats.beta.var(tp, fn) + stats.beta.var(tn, fp)) / 4)
    widths = 2 * 1.96 * sd
    error = np.hypot(found.mean_error, widths.std() / np.sqrt(300))
    assert found.mean == pytest.approx(widths.mean(), abs=5 * error + 0.02 * found.mean)
    again = expected_width(
        60, metric="balanced_accuracy", expected=PILOT, n_studies=300, random_state=1
    )
    assert again.mean == found.mean


def test_simulated_studies_from_a_posterior():
    settings = {"metric": "mcc", "n_studies": 200, "random_state": 3}
    counts = expected_width(60, expected=PILOT, **settings)
    same = expected_width(60, expected=PILOT.posterior("mcc"), **settings)
    assert same.mean == counts.mean
    # A strong opinion that the cells are alike: MCC 0, where intervals are longest.
    strong = PILOT.posterior("mcc", prior=1e4)
    found = expected_width(60, expected=strong, **settings)
    even = ConfusionCounts(np.full((2, 2), 10_000))
    assert found.mean == pytest.approx(expected_width(60, expected=even, **settings).mean, rel=0.02)
    assert found.mean > counts.mean + 5 * counts.mean_error
    assert found.prior == counts.prior  # that of the planned analysis
    other = ConfusionCounts(PILOT.counts, labels=["a", "b"], pos_label="a")
    turned = expected_width(
        60, expected=other.posterior("f2", pos_label="a"), **settings | {"metric": "f2"}
    )
    direct = expected_width(60, expected=other, pos_label="a", **settings | {"metric": "f2"})
    assert turned.mean == direct.mean


# --------------------------------------------------------------------------------------------------
# Two models


def _paired_chance(n, difference, disagreement, probability, prior=0.5):
    """Chance without a ROPE, by a double loop over both discordant counts."""
    better, worse = (disagreement + difference) / 2, (disagreement - difference) / 2
    only_a, only_b = np.divmod(np.arange((n + 1) ** 2), n + 1)
    fits = only_a + only_b <= n
    only_a, only_b = only_a[fits], only_b[fits]
    mass = stats.multinomial.pmf(
        np.stack([only_a, only_b, n - only_a - only_b], axis=-1),
        n,
        [worse, better, 1 - worse - better],
    )
    return mass[stats.beta.sf(0.5, only_b + prior, only_a + prior) >= probability].sum()


@pytest.mark.parametrize(
    ("difference", "disagreement", "probability", "power", "prior"),
    [(0.3, 0.5, 0.95, 0.8, 0.5), (0.3, 1.0, 0.9, 0.7, 1.0), (0.2, 0.2, 0.975, 0.6, 0.1)],
)
def test_paired_models_against_all_outcomes(difference, disagreement, probability, power, prior):
    plan = comparison_sample_size(
        difference=difference,
        disagreement=disagreement,
        probability=probability,
        power=power,
        prior=prior,
    )
    chances = {
        n: _paired_chance(n, difference, disagreement, probability, prior)
        for n in range(1, plan.n + 15)
    }
    assert plan.chance == pytest.approx(chances[plan.n], abs=1e-8)
    holds = {n for n, chance in chances.items() if chance >= power}
    assert plan.first_n == min(holds)
    assert plan.n == 1 + max(set(chances) - holds)
    assert plan.checked_to >= plan.n + 10


def _labels(only_a, only_b, n):
    """Predictions for n rows of class 1, of which only one model gets some right."""
    pred_a, pred_b = np.ones((2, n), dtype=int)
    pred_b[:only_a] = 0
    pred_a[only_a : only_a + only_b] = 0
    return np.ones(n, dtype=int), pred_a, pred_b


@pytest.mark.parametrize("rope", [0.0, 0.05])
def test_paired_models_against_simulated_comparisons(rope, global_random_seed):
    plan = comparison_sample_size(difference=0.3, disagreement=0.5, power=0.7, rope=rope)
    rng = np.random.default_rng(global_random_seed)
    tables = rng.multinomial(plan.n, [0.1, 0.4, 0.5], size=2000)
    outcomes, number = np.unique(tables[:, :2], axis=0, return_counts=True)
    convinced = [
        compare_paired(*_labels(a, b, plan.n), labels=[0, 1], rope=rope).p_better >= 0.95
        for a, b in outcomes
    ]
    assert number @ convinced / 2000 == pytest.approx(plan.chance, abs=5 * np.sqrt(0.25 / 2000))
    assert plan.chance >= 0.7


@pytest.mark.parametrize(("rope", "prior"), [(0.0, 0.5), (0.0, 0.2), (0.05, 1.0)])
def test_unpaired_models_against_all_comparisons(rope, prior):
    plan = comparison_sample_size(
        difference=0.35, rate=0.5, paired=False, power=0.75, rope=rope, prior=prior
    )

    def chance(n):
        k = np.arange(n + 1)
        a, b = (
            proportion_posterior(successes, n - successes, prior=prior)
            for successes in (k[:, None], k[None, :])
        )
        convinced = compare(a, b, rope=rope).p_better >= 0.95
        return stats.binom.pmf(k, n, 0.5) @ convinced @ stats.binom.pmf(k, n, 0.85)

    assert plan.chance == pytest.approx(chance(plan.n), abs=1e-8)
    assert chance(plan.n - 1) < 0.75 <= chance(plan.n + 1)


@pytest.mark.parametrize(("metric", "share"), [("recall", 0.2), ("tnr", 0.8), ("accuracy", 1.0)])
@pytest.mark.parametrize("models", [{"disagreement": 0.5}, {"rate": 0.6, "paired": False}])
def test_rows_of_a_comparison(metric, share, models):
    prevalence = None if share == 1 else 0.2
    plan = comparison_sample_size(
        difference=0.3, power=0.7, metric=metric, prevalence=prevalence, **models
    )
    assert plan.n == comparison_sample_size(difference=0.3, power=0.7, **models).n
    assert stats.binom.sf(plan.n - 1, plan.rows, share) >= 0.7 - 1e-12
    assert share == 1 or stats.binom.sf(plan.n - 1, plan.rows - 1, share) < 0.7
    assert plan.rows_on_average == np.ceil(plan.n / share)
    word = {"recall": "real positives", "tnr": "real negatives", "accuracy": "rows"}[metric]
    assert plan.counted.startswith(word)
    assert (f"{plan.rows} rows bring that many with probability 0.7" in repr(plan)) == (share < 1)
    if share < 1:
        assert comparison_sample_size(difference=0.3, metric=metric, **models).rows is None


def test_pairing_saves_rows():
    # Rates .85 and .9 with independent mistakes: they disagree on .85 * .1 + .15 * .9 of the rows.
    # More shared mistakes, less disagreement, fewer rows.
    apart = comparison_sample_size(difference=0.05, rate=0.85, paired=False)
    independent = comparison_sample_size(difference=0.05, disagreement=0.85 * 0.1 + 0.15 * 0.9)
    alike = comparison_sample_size(difference=0.05, disagreement=0.1)
    assert independent.n == pytest.approx(apart.n, rel=0.03)
    # n grows like the variance of the difference, disagreement - difference**2
    assert alike.n / independent.n == pytest.approx((0.1 - 0.0025) / (0.22 - 0.0025), rel=0.05)


# --------------------------------------------------------------------------------------------------
# Results and refusals


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            required_sample_size(metric="recall", expected=0.9, width=0.3, prevalence=0.1),
            "26 real positives: the 95 % eti of recall is at most 0.3 long with probability 0.960",
        ),
        (
            expected_width(100, metric="accuracy", expected=(0.8, 10)),
            "100 rows: the 95 % eti of accuracy will be",
        ),
        (
            comparison_sample_size(difference=0.3, disagreement=0.5, rope=0.01),
            "P(b better by more than 0.01) at least 0.95",
        ),
        (
            comparison_sample_size(difference=0.3, rate=0.6, paired=False),
            "rows for each model: a true difference of 0.3",
        ),
    ],
)
def test_results(plan, words):
    assert words in repr(plan)
    row = plan.to_dict()
    assert json.loads(json.dumps(row)) == row
    assert pickle.loads(pickle.dumps(plan)).to_dict() == row
    frame = pytest.importorskip("pandas") and plan.to_frame()
    assert len(frame) == 1
    assert frame["n"].item() == plan.n


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"width": 0}, ValueError, r"width must be a number in \(0, 1\)"),
        ({"width": 1e-4}, ValueError, "width must be at least 0.001"),
        ({"power": 1}, ValueError, r"power must be a number in \(0, 1\)"),
        ({"level": 95}, ValueError, "Did you mean 0.95"),
        ({"kind": "hpd"}, ValueError, "kind must be one of"),
        ({"expected": 90}, ValueError, r"expected must be a number in \[0, 1\]"),
        ({"expected": True}, TypeError, "expected must be a number"),
        ({"expected": "high"}, TypeError, "pair \\(mode, concentration\\)"),
        ({"expected": (0.8, 2)}, ValueError, "the concentration in expected"),
        ({"expected": (8, 20)}, ValueError, "the mode in expected"),
        ({"expected": BetaPosterior([1, 2], 3)}, ValueError, "one posterior, got a stack"),
        ({"expected": PILOT.posterior("f1")}, ValueError, "must be a posterior of recall"),
        ({"expected": PILOT.posterior("precision")}, ValueError, r"counts.posterior\('recall'\)"),
        ({"expected": BetaPosterior(2, 0)}, ValueError, "proper posterior"),
        ({"metric": "f1", "expected": BetaPosterior(2, 3)}, ValueError, "posterior of f1"),
        ({"metric": "mcc"}, TypeError, "must be ConfusionCounts of a pilot study"),
        ({"metric": "mcc", "expected": PILOT.posterior("kappa")}, TypeError, "posterior of it"),
        (
            {"metric": "mcc", "expected": ConfusionCounts([PILOT.counts] * 2).posterior("mcc")},
            ValueError,
            "one posterior, got a stack",
        ),
        (
            {"metric": "mcc", "expected": PILOT.posterior("mcc", prevalence=0.1)},
            ValueError,
            "the prevalence of the counts",
        ),
        ({"metric": "mcc", "expected": PILOT, "prevalence": 0.1}, ValueError, "n counts rows"),
        ({"metric": "accuracy", "prevalence": 0.1}, ValueError, "every row counts"),
        ({"metric": "precision", "prevalence": 0.1}, ValueError, "predicted positives"),
        (
            {"metric": "f1", "prevalence": 0.1},
            ValueError,
            "prevalence cannot be used for f1, which counts rows that are positive or predicted",
        ),
        ({"prevalence": 0}, ValueError, "prevalence must be a number"),
        ({"pos_label": 1}, ValueError, "holds no counts: leave it out"),
        ({"prior": 0}, ValueError, "prior must be above 0"),
        ({"prior": 0, "metric": "mcc", "expected": PILOT}, ValueError, "prior must be above 0"),
        ({"prior": "shared"}, ValueError, "looks at the whole matrix"),
        ({"n_studies": 1}, ValueError, "n_studies must be an integer >= 2"),
        ({"n_draws": 10}, ValueError, "n_draws must be an integer >= 100"),
        ({"expected": ConfusionCounts([PILOT.counts] * 2)}, ValueError, "index or sum them"),
    ],
)
def test_what_required_sample_size_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        required_sample_size(**{"metric": "recall", "expected": 0.9, "width": 0.1} | settings)


def test_what_expected_width_refuses():
    with pytest.raises(ValueError, match="n must be an integer >= 1"):
        expected_width(0, expected=0.9)
    with pytest.raises(ValueError, match="n must be at most 10,000,000"):
        expected_width(10**8, expected=0.9)
    with pytest.raises(ValueError, match="defined for one positive class"):
        expected_width(10, expected=ConfusionCounts(np.eye(3, dtype=int) * 9))
    with pytest.raises(ValueError, match="width must be a number"):
        expected_width(10, expected=0.9).prob(-1)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"difference": 0.01, "rope": 0.01}, ValueError, "difference must exceed rope"),
        ({"difference": -0.1}, ValueError, r"difference must be a number in \[0, 1\]"),
        ({"disagreement": 0.04}, ValueError, "disagreement must be at least the difference"),
        ({"disagreement": None}, TypeError, "disagreement is missing"),
        ({"rate": 0.8}, ValueError, "rate cannot be used with paired=True"),
        ({"paired": False}, ValueError, "disagreement cannot be used with paired=False"),
        ({"paired": False, "disagreement": None}, TypeError, "rate is missing"),
        (
            {"paired": False, "disagreement": None, "rate": 0.96},
            ValueError,
            "rate must be at most 1 - difference",
        ),
        ({"paired": "yes"}, TypeError, "paired must be True or False"),
        ({"probability": 0.5}, ValueError, r"probability must be a number in \(0.5, 1\)"),
        ({"power": 0}, ValueError, "power must be a number"),
        ({"prior": 0}, ValueError, "prior must be a number"),
        ({"difference": 1e-4, "disagreement": 0.5}, ValueError, "more than 1,000,000 rows"),
        ({"metric": "precision"}, ValueError, "metric must be one of 'accuracy', 'recall', 'spec"),
        ({"prevalence": 0.2}, ValueError, "prevalence cannot be used for accuracy"),
        ({"metric": "recall", "prevalence": 1}, ValueError, "prevalence must be a number"),
    ],
)
def test_what_comparison_sample_size_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        comparison_sample_size(**{"difference": 0.05, "disagreement": 0.1} | settings)


def test_a_tiny_power_is_no_problem():
    assert comparison_sample_size(difference=0.2, disagreement=0.3, power=5e-324).n >= 1


def test_a_class_that_hardly_ever_occurs_is_refused():
    with pytest.raises(ValueError, match="prevalence is too small") as error:
        required_sample_size(metric="recall", expected=0.9, width=0.1, prevalence=5e-324)
    assert error.value.parameter == "prevalence"
