"""Binomial intervals, the bootstrap, and the Bayesian bootstrap over groups."""

import warnings

import numpy as np
import pytest
import scipy.stats
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts, confidence_interval, credible_interval
from skuncertain.exceptions import DegenerateIntervalWarning, InvalidParameterError
from skuncertain.metrics import bootstrap_distribution, metric_posterior

BINOMIAL = ("wilson", "clopper_pearson", "agresti_coull", "jeffreys")
BOOTSTRAP = ("bootstrap", "bca")
Z = scipy.stats.norm.ppf(0.975)


def _recall(hits, misses):
    return ConfusionCounts.from_binary(tp=hits, fn=misses, fp=0, tn=0)


def _rows(tp, fn, fp, tn):
    y_true = np.repeat([1, 1, 0, 0], [tp, fn, fp, tn])
    y_pred = np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])
    return y_true, y_pred


ROWS = _rows(tp=24, fn=4, fp=6, tn=26)
SKEWED = _rows(tp=24, fn=2, fp=4, tn=50)  # here BCa and percentile differ visibly


def _matthews_of_rows(y_true, y_pred, axis=-1):
    """Correlation of two arrays of zeros and ones."""
    p, q = y_true.mean(axis=axis), y_pred.mean(axis=axis)
    return ((y_true * y_pred).mean(axis=axis) - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))


def _assert_same_interval(one, other, n_resamples, bca):
    """Both intervals come from independent replicates: allow 5 standard errors.

    The error of a tail quantile is sqrt(q (1 - q) / B) over the density there, that of a normal
    with the same 95 % interval. For BCa the share of replicates below the observed value is random,
    too, and its normal score counts twice; the two errors are added up.
    """
    sd = (other.high - other.low) / (2 * Z)
    error = np.sqrt(0.025 * 0.975) / scipy.stats.norm.pdf(Z)
    if bca:
        error += 2 * 0.5 / scipy.stats.norm.pdf(0)
    tolerance = 5 * np.sqrt(2 / n_resamples) * error * sd
    np.testing.assert_allclose((one.low, one.high), (other.low, other.high), rtol=0, atol=tolerance)
    return tolerance


@pytest.mark.parametrize(
    ("method", "hits", "misses", "low", "high"),
    [
        ("clopper_pearson", 1, 1, 0.01257911709342505, 0.9874208829065749),
        ("clopper_pearson", 10, 0, 0.6915028921812392, 1.0),
        ("clopper_pearson", 0, 10, 0.0, 0.3084971078187608),
        ("agresti_coull", 1, 1, 0.09453120573423074, 0.9054687942657693),
        ("wilson", 1, 1, 0.09453120573423074, 0.9054687942657693),
        ("wilson", 10, 0, 0.7224672001371107, 1.0),
        ("wilson", 0, 10, 0.0, 0.2775327998628892),
    ],
)
def test_reference_values(method, hits, misses, low, high):
    interval = confidence_interval(_recall(hits, misses), metric="recall", method=method)
    # Sixteen digits are given: a few roundings.
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-14, abs=0)


@pytest.mark.parametrize(("method", "name"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_scipy_agrees(method, name, level, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    n = rng.integers(1, 3000, size=60)
    hits = rng.binomial(n, rng.uniform(size=60))
    found = confidence_interval(
        _recall(hits, n - hits), metric="recall", method=method, level=level
    )
    expected = [
        scipy.stats.binomtest(int(k), int(m)).proportion_ci(level, method=name)
        for k, m in zip(hits, n, strict=True)
    ]
    np.testing.assert_allclose(
        np.stack([found.low, found.high], axis=-1), expected, rtol=0, atol=1e-10
    )


def test_jeffreys_is_a_beta_closed_at_the_ends():
    n = 40
    hits = np.arange(n + 1)
    found = confidence_interval(
        _recall(hits, n - hits), metric="recall", method="jeffreys", level=0.9
    )
    beta = scipy.stats.beta(hits + 0.5, n - hits + 0.5)
    assert found.low[0] == 0
    assert found.high[-1] == 1
    np.testing.assert_allclose(found.low[1:], beta.ppf(0.05)[1:], rtol=1e-10)
    np.testing.assert_allclose(found.high[:-1], beta.ppf(0.95)[:-1], rtol=1e-10)


@pytest.mark.parametrize("method", BINOMIAL)
def test_f1_is_mapped_from_the_jaccard_index(method):
    counts = ConfusionCounts.from_binary(tp=30, fn=7, fp=9, tn=54)
    jaccard = confidence_interval(_recall(30, 16), metric="recall", method=method)
    f1 = confidence_interval(counts, metric="f1", method=method)
    for share, value in zip((jaccard.low, jaccard.high), (f1.low, f1.high), strict=True):
        assert value == pytest.approx(2 * share / (1 + share), rel=1e-14)


@pytest.mark.parametrize("method", BINOMIAL)
@pytest.mark.parametrize(("metric", "hits", "misses"), [("accuracy", 76, 24), ("precision", 17, 6)])
def test_five_classes(method, metric, hits, misses):
    matrix = [
        [20, 2, 0, 0, 0],
        [4, 17, 2, 0, 0],
        [0, 4, 15, 2, 0],
        [0, 0, 4, 14, 2],
        [0, 0, 0, 4, 10],
    ]
    counts = ConfusionCounts(matrix, labels=list("abcde"))
    found = confidence_interval(counts, metric=metric, method=method, pos_label="b")
    assert found == confidence_interval(_recall(hits, misses), metric="recall", method=method)


@pytest.mark.parametrize("method", [*BINOMIAL, *BOOTSTRAP])
def test_stacks_equal_loops(method, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    counts = ConfusionCounts(rng.integers(1, 60, size=(2, 3, 2, 2)))
    whole, parts = {"method": method}, {"method": method}
    if method in BOOTSTRAP:
        whole |= {"n_resamples": 200, "random_state": 1}
        parts |= {"n_resamples": 200, "random_state": 1}
    stacked = confidence_interval(counts, metric="f1", **whole)
    loop = [[confidence_interval(one, metric="f1", **parts) for one in row] for row in counts]
    # Arrays and scalars may take different code paths in numpy: equal up to rounding.
    for end in ("low", "high"):
        expected = [[getattr(one, end) for one in row] for row in loop]
        np.testing.assert_allclose(getattr(stacked, end), expected, rtol=1e-14)


def test_agresti_coull_is_clipped():
    counts = _recall([0, 1, 9, 10], [10, 9, 1, 0])
    found = confidence_interval(counts, metric="recall", method="agresti_coull")
    # Without clipping 0 of 10 would start at -.033 and 1 of 10 at -.004.
    assert found.low[:2].tolist() == [0, 0]
    assert found.high[2:].tolist() == [1, 1]


@pytest.mark.parametrize("method", BINOMIAL)
def test_no_data_is_the_whole_range(method):
    counts = ConfusionCounts.from_binary(tp=0, fn=0, fp=2, tn=8)
    with pytest.warns(UndefinedMetricWarning, match="recall is 0/0") as record:
        found = confidence_interval(counts, metric="recall", method=method)
    # Not exactly: Wilson and Agresti-Coull are 1/2 plus and minus a square root.
    assert (found.low, found.high) == pytest.approx((0, 1), abs=1e-15)
    assert record[0].filename == __file__


@pytest.mark.parametrize(
    ("method", "mean", "lowest"),
    [
        ("wilson", 0.9492, 0.9206),
        ("clopper_pearson", 0.9649, 0.9543),
        ("agresti_coull", 0.9543, 0.9398),
        ("jeffreys", 0.9496, 0.9212),
    ],
)
def test_exact_coverage(method, mean, lowest):
    """Mean and smallest coverage of 95 % intervals, n = 100, p = .01, .02, ..., .99."""
    n, p = 100, np.arange(1, 100)[:, None] / 100
    hits = np.arange(n + 1)
    found = confidence_interval(_recall(hits, n - hits), metric="recall", method=method)
    inside = (found.low <= p) & (p <= found.high)
    coverage = np.sum(scipy.stats.binom.pmf(hits, n, p) * inside, axis=1)
    assert coverage.mean() == pytest.approx(mean, abs=5.1e-5)  # four digits are given
    assert coverage.min() == pytest.approx(lowest, abs=5.1e-5)


@pytest.mark.parametrize(("method", "name"), [("bootstrap", "percentile"), ("bca", "BCa")])
def test_bootstrap_of_rows_by_scipy_agrees(method, name, global_random_seed):
    n_resamples = 50_000
    expected = scipy.stats.bootstrap(
        SKEWED,
        _matthews_of_rows,
        paired=True,
        vectorized=True,
        method=name,
        n_resamples=n_resamples,
        random_state=np.random.default_rng(1000 + global_random_seed),
    ).confidence_interval
    found, other = (
        confidence_interval(
            *SKEWED,
            metric="mcc",
            method=m,
            n_resamples=n_resamples,
            random_state=global_random_seed,
        )
        for m in (method, "bca" if method == "bootstrap" else "bootstrap")
    )
    tolerance = _assert_same_interval(found, expected, n_resamples, method == "bca")
    # The check can tell the two methods apart.
    assert max(abs(found.low - other.low), abs(found.high - other.high)) > tolerance


@pytest.mark.parametrize(
    ("metric", "stratified", "hits", "n"),
    [("accuracy", False, 84, 105), ("recall", True, 30, 42), ("specificity", True, 54, 63)],
)
def test_some_replicates_are_binomial(metric, stratified, hits, n, global_random_seed):
    counts = ConfusionCounts.from_binary(tp=30, fn=12, fp=9, tn=54)
    options = {"n_resamples": 20_000, "random_state": global_random_seed}
    found = confidence_interval(
        counts, metric=metric, method="bootstrap", stratified=stratified, **options
    )
    for share, q in ((found.low, 0.025), (found.high, 0.975)):
        k = np.rint(share * n)
        assert share == pytest.approx(k / n, rel=1e-14)
        error = 5 * np.sqrt(q * (1 - q) / 20_000)
        assert scipy.stats.binom.cdf(k - 1, n, hits / n) < q + error
        assert scipy.stats.binom.cdf(k, n, hits / n) > q - error


@pytest.mark.parametrize("method", BOOTSTRAP)
def test_stratified_keeps_class_counts(method, global_random_seed):
    counts = ConfusionCounts.from_binary(tp=30, fn=12, fp=9, tn=54)
    options = {"method": method, "n_resamples": 100, "random_state": global_random_seed}
    with pytest.warns(DegenerateIntervalWarning):
        found = confidence_interval(counts, metric="prevalence", stratified=True, **options)
    assert found.low == found.high == 42 / 105
    free = confidence_interval(counts, metric="prevalence", **options)
    assert free.low < 42 / 105 < free.high


@pytest.mark.parametrize("method", BOOTSTRAP)
@pytest.mark.parametrize("repeats", [1, 10])
def test_groups_of_equal_rows_count_once(method, repeats, global_random_seed):
    grouped = confidence_interval(
        *(np.repeat(y, repeats) for y in SKEWED),
        metric="mcc",
        method=method,
        groups=np.repeat(np.arange(80), repeats),
        n_resamples=50_000,
        random_state=global_random_seed,
    )
    plain = confidence_interval(
        *SKEWED,
        metric="mcc",
        method=method,
        n_resamples=50_000,
        random_state=1000 + global_random_seed,
    )
    _assert_same_interval(grouped, plain, 50_000, method == "bca")


@pytest.mark.parametrize("metric", ["mcc", "accuracy"])
def test_bayesian_bootstrap_of_single_rows_is_the_dirichlet_posterior(metric, global_random_seed):
    n_draws = 20_000
    found = credible_interval(
        *ROWS,
        metric=metric,
        prior="jeffreys",
        groups=np.arange(60),
        n_draws=n_draws,
        random_state=global_random_seed,
    )
    exact = metric_posterior(*ROWS, metric=metric, prior="jeffreys")
    assert exact.exact
    for value, q in ((found.low, 0.025), (found.high, 0.975)):
        expected = exact.quantile(q)
        error = np.sqrt(q * (1 - q) / n_draws) / exact.pdf(expected)
        assert value == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize("metric", ["mcc", "accuracy", "f1"])
def test_groups_widen_credible_intervals(metric, global_random_seed):
    y_true, y_pred = (np.repeat(y, 10) for y in _rows(tp=80, fn=16, fp=24, tn=80))
    ignored = credible_interval(y_true, y_pred, metric=metric)
    grouped = credible_interval(
        y_true,
        y_pred,
        metric=metric,
        groups=np.repeat(np.arange(200), 10),
        random_state=global_random_seed,
    )
    ratio = (grouped.high - grouped.low) / (ignored.high - ignored.low)
    # 20,000 draws leave about 1 % of the width; prior and skewness of order 1/200 the rest.
    assert ratio == pytest.approx(np.sqrt(10), rel=0.06)


def test_perfect_classifier_with_groups_has_width():
    y = np.repeat([0, 1], [30, 20])
    groups = np.repeat(np.arange(10), 5)
    found = credible_interval(y, y, groups=groups)
    # Ten equal groups without an error are worth ten rows without an error: they all are right
    # with probability 0.025 at the lower end.
    assert found.high == 1
    assert found.low**10 == pytest.approx(0.025, rel=1e-9)


@pytest.mark.parametrize(
    ("prior", "automatic"), [("auto", True), ("jeffreys", False), (1.0, False)]
)
def test_posterior_over_groups_names_its_prior(prior, automatic):
    posterior = metric_posterior(*ROWS, prior=prior, groups=np.arange(60) // 3, n_draws=100)
    assert posterior.prior.startswith("default") == automatic
    assert "20 groups" in posterior.description


@pytest.mark.parametrize("method", BOOTSTRAP)
@pytest.mark.parametrize(
    ("metric", "advice"),
    [
        ("accuracy", r"confidence_interval\(method='clopper_pearson'\)"),
        ("f1", r"confidence_interval\(method='clopper_pearson'\)"),
        ("mcc", r"ConfusionCounts.posterior\(...\).interval\(\)"),
    ],
)
def test_perfect_matrix_warns_with_the_exact_method(method, metric, advice):
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=0, tn=8)
    with pytest.warns(DegenerateIntervalWarning, match=advice) as record:
        found = confidence_interval(
            counts, metric=metric, method=method, n_resamples=500, random_state=0
        )
    assert (found.low, found.high) == (1, 1)
    assert record[0].filename == __file__


@pytest.mark.parametrize("method", BOOTSTRAP)
def test_undefined_replicates_are_left_out_with_a_warning(method):
    counts = ConfusionCounts.from_binary(tp=2, fn=1, fp=5, tn=42)
    with pytest.warns(UndefinedMetricWarning, match=r"0/0 in \d\.\d% of the boot") as record:
        found = confidence_interval(counts, metric="recall", method=method, random_state=0)
    # No positive row in (47 / 50)**50 = 4.5 % of the replicates.
    assert 0 <= found.low < 2 / 3 < found.high <= 1
    assert record[0].filename == __file__


@pytest.mark.parametrize("method", BOOTSTRAP)
@pytest.mark.parametrize("grouped", [False, True])
def test_seeds(method, grouped):
    options = {"method": method, "n_resamples": 500}
    options["groups"] = np.arange(60) // 2 if grouped else None

    def interval(random_state):
        return confidence_interval(*ROWS, metric="mcc", random_state=random_state, **options)

    for make in (int, np.random.default_rng, np.random.RandomState):
        assert interval(make(3)) == interval(make(3))
        assert interval(make(3)) != interval(make(4))
    generator = np.random.default_rng(3)
    assert interval(generator) != interval(generator)  # it advances


@pytest.mark.parametrize("method", BOOTSTRAP)
def test_weighted_counts_are_refused(method):
    weight = np.linspace(1, 3, 60)
    counts = ConfusionCounts.from_predictions(*ROWS, sample_weight=weight)
    with pytest.raises(ValueError, match=r"whole counts.*sample weights.*credible_interval"):
        confidence_interval(counts, metric="f1", method=method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 100}, "n_resamples belongs to the bootstrap, not to method='wilson'"),
        ({"random_state": 0}, "random_state belongs to the bootstrap"),
        ({"stratified": True}, "knows neither groups nor strata: use method='bootstrap'"),
        ({"groups": [0] * 60}, "knows neither groups nor strata"),
        ({"labels": [0, 1]}, "labels cannot be combined with counts"),
        ({"groups": [0] * 60, "method": "bca"}, "groups cannot be combined with counts"),
        ({"method": "wilsson"}, r"method must be one of .* Did you mean 'wilson'\?"),
        ({"method": "clopper"}, r"Did you mean 'clopper_pearson'\?"),
        ({"metric": "mcc"}, "'matthews_corrcoef' is not a proportion.*method='bca'"),
        ({"level": 95}, r"level must be a number in \(0, 1\), got 95. Did you mean 0.95\?"),
        ({"method": "bca", "n_resamples": 1}, "n_resamples must be an integer >= 2"),
    ],
)
def test_misuse_of_counts_is_refused(options, message):
    counts = ConfusionCounts.from_binary(tp=24, fn=4, fp=6, tn=26)
    with pytest.raises(ValueError, match=message):
        confidence_interval(counts, **{"metric": "recall"} | options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": np.arange(60), "stratified": True}, "stratified and groups exclude"),
        ({"groups": np.arange(59)}, "groups must have 60 entries, got 59"),
        ({"groups": np.zeros(60)}, "at least two groups"),
    ],
)
def test_misuse_of_groups_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        confidence_interval(*ROWS, method="bootstrap", **options)


@pytest.mark.parametrize("data", [[[26, 4], [6, 24]], np.eye(2), ([0, 1], [0, 1], [1, 1])])
def test_other_data_are_refused(data):
    with pytest.raises(TypeError, match="pass y_true and y_pred, or ConfusionCounts alone"):
        confidence_interval(data)


def test_bca_of_odds_ratios_that_can_be_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        interval = confidence_interval(
            ConfusionCounts([[9, 1], [2, 8]]),
            metric="dor",
            method="bca",
            n_resamples=200,
            random_state=0,
        )
    assert interval.low < 36 < interval.high


@pytest.mark.parametrize("method", ["wilson", "agresti_coull", "jeffreys", "clopper_pearson"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_without_rows_anything_is_possible(method, level):
    # Agresti and Coull's half-width is exactly 1/2 there; rounding must not show.
    counts = ConfusionCounts([[0, 0], [0, 0]])
    assert confidence_interval(counts, metric="accuracy", method=method, level=level) == (0, 1)


# --------------------------------------------------------------------------------------------------
# The replicates, and their shortest interval


def test_shortest_interval_of_the_replicates(global_random_seed):
    counts = ConfusionCounts.from_binary(tp=19, fn=1, fp=2, tn=18)
    options = {"metric": "accuracy", "random_state": global_random_seed}
    replicates = bootstrap_distribution(counts, **options)
    assert replicates.draws.shape == (9999,)
    shortest = confidence_interval(counts, method="bootstrap", kind="hdi", **options)
    equal = confidence_interval(counts, method="bootstrap", **options)
    inside = (replicates.draws >= shortest.low) & (replicates.draws <= shortest.high)
    assert inside.mean() >= 0.95
    assert shortest.high - shortest.low <= equal.high - equal.low
    assert shortest == replicates.interval(kind="hdi")
    # The replicates are binomial shares.
    error = np.sqrt(0.925 * 0.075 / 40 / 9999)
    assert replicates.mean() == pytest.approx(0.925, abs=5 * error)
    assert replicates.std() == pytest.approx(np.sqrt(0.925 * 0.075 / 40), rel=0.05)


def test_replicates_of_a_stack_and_of_groups():
    stack = ConfusionCounts(np.array([[[5, 3], [2, 9]], [[7, 1], [1, 7]]]))
    found = bootstrap_distribution(stack, metric="mcc", n_resamples=200, random_state=0)
    one = bootstrap_distribution(stack[1], metric="mcc", n_resamples=200, random_state=0)
    assert found.draws.shape == (2, 200)
    np.testing.assert_array_equal(found.draws[1], one.draws)
    y = np.repeat([0, 1], 20)
    by_group = bootstrap_distribution(
        y, np.roll(y, 3), groups=np.arange(40) // 4, n_resamples=50, random_state=0
    )
    assert by_group.draws.shape == (50,)
    with pytest.raises(InvalidParameterError, match="kind='hdi' is for method='bootstrap'"):
        confidence_interval(y, y, kind="hdi")
    with pytest.raises(InvalidParameterError, match="kind='hdi' is for method='bootstrap'"):
        confidence_interval(y, y, kind="hdi", method="bca")
