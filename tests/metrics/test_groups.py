"""Rows in groups: encoding, sums per group, and the bootstraps over groups."""

import sys
import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from skuncertain import (
    ConfusionCounts,
    confidence_interval,
    credible_interval,
    interval_report,
)
from skuncertain.metrics import get_metric, get_metric_names, metric_posterior
from skuncertain.metrics._count import GroupedRows
from skuncertain.metrics._groups import encode_groups, merged_groups, place_sums

NAMES = [7, 3, 3, 9, 7, 3]
KINDS = {
    "integers": np.array(NAMES),
    "column": np.array(NAMES)[:, None],
    "small": np.array(NAMES, dtype=np.uint8),
    "negative": np.array(NAMES) - 8,
    "far apart": np.array(NAMES) * 10**15,
    "unsigned": np.array(NAMES, dtype=np.uint64) + np.uint64(2**63),
    "floats": np.array(NAMES) + 0.5,
    "strings": np.array(NAMES).astype(str),
    "bytes": np.array(NAMES).astype(str).astype("S"),
    "objects": np.array([f"patient {name}" for name in NAMES], dtype=object),
    "numbers as objects": np.array([7, 3, 3.0, 9, 7.0, 3], dtype=object),
    "list": [f"patient {name}" for name in NAMES],
    "tuple": tuple(NAMES),
    "days": np.datetime64("2020-01-01") + np.array(NAMES),
}


def same_groups(codes, names):
    """Whether rows share a code exactly when they share a name."""
    names = np.asarray(names)
    return np.array_equal(codes[:, None] == codes, names[:, None] == names)


@pytest.mark.parametrize("groups", KINDS.values(), ids=KINDS)
def test_codes(groups):
    codes, number = encode_groups(groups, 6)
    assert number == 3
    assert sorted(set(codes.tolist())) == [0, 1, 2]
    assert same_groups(codes, NAMES)


@pytest.mark.parametrize("dtype", ["string", "category", "Int64", "object"])
def test_codes_of_pandas(dtype):
    pandas = pytest.importorskip("pandas")
    names = NAMES if dtype == "Int64" else [f"p{name}" for name in NAMES]
    series = pandas.Series(names, dtype=dtype)
    for groups in (series, series.array, series[::-1]):
        codes, number = encode_groups(groups, 6)
        assert number == 3
        assert same_groups(codes, np.asarray(groups))
    if dtype == "category":  # those that do not occur are no groups
        assert encode_groups(series.cat.add_categories(["p0", "p99"]), 6)[1] == 3
    series[2] = None
    with pytest.raises(ValueError, match=r"groups has 1 missing name \(None, NaN or NA\)"):
        encode_groups(series, 6)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, None, 2], "groups has 1 missing name "),
        (["a", None, float("nan")], "groups has 2 missing names "),
        ([1.0, float("nan"), 2], "groups has 1 missing name "),
        (np.array([1, float("nan"), "a"], dtype=object), "groups has 1 missing name "),
        (np.array([1, float("nan"), 2], dtype=object), "groups has 1 missing name "),
        (np.array(["2020", "NaT", "2021"], dtype="M8[D]"), "groups has 1 missing name "),
        ([1, "a", 2], "groups must be numbers or strings, all of one type, got int, str"),
        ([[1], "a", 2], "groups must be"),
        (np.array([{1}, {2}, {3}], dtype=object), "groups must be numbers or strings, got"),
        ([1j, 2, 3], "groups must be numbers or strings"),
        ([1, 2], "groups must have 3 entries, got 2"),
        ("abc", "groups must have one name per row"),
        (np.zeros((3, 2)), "groups must have one entry per row"),
        (["a"] * 3, "groups must name at least two groups"),
        ([], "groups must have 3 entries, got 0"),
    ],
)
def test_groups_that_are_refused(groups, message):
    for function in (credible_interval, metric_posterior, interval_report):
        with pytest.raises(ValueError, match=message) as caught:
            function([0, 1, 1], [0, 1, 0], groups=groups)
        assert caught.value.parameter == "groups"


def test_sums(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    codes, cells = rng.integers(0, 40, 300), rng.integers(0, 9, 300)
    expected = np.zeros((40, 9), dtype=int)
    for code, cell in zip(codes, cells, strict=True):
        expected[code, cell] += 1
    assert_array_equal(place_sums(codes * 9 + cells, 40, 9), expected)
    many = place_sums((codes * 9 + cells) * 10**6, 40, 9 * 10**6)  # never as one array
    assert scipy.sparse.issparse(many)
    assert_array_equal(many[:, np.arange(9) * 10**6].toarray(), expected)


@pytest.mark.parametrize("largest", [2, 10**4, 10**12])
def test_equal_groups_are_merged(largest, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    sums = rng.integers(0, 2, (200, 6)) * rng.integers(1, 3, 6) * (largest // 2)
    types, repeats = merged_groups(sums)
    assert Counter(map(tuple, sums.tolist())) == dict(
        zip(map(tuple, types.tolist()), repeats.tolist(), strict=True)
    )
    again = merged_groups(sums[rng.permutation(200)])
    assert_array_equal(again[0], types)
    assert_array_equal(again[1], repeats)


def rows(rng, n_groups, n_classes=2, most=15):
    """Labels of rows whose errors cluster in groups."""
    groups = np.repeat(np.arange(n_groups), rng.integers(1, most, n_groups))
    y_true = rng.integers(0, n_classes, groups.size)
    wrong = rng.random(groups.size) < rng.beta(0.4, 2, n_groups)[groups]
    y_pred = np.where(wrong, rng.integers(0, n_classes, groups.size), y_true)
    return y_true, y_pred, groups


def naive_draws(y_true, y_pred, groups, metric, positive, pseudo, n_draws, rng):
    """One exponential weight per group, one group after the other."""
    names, size = np.unique(groups), len(pseudo)
    cells = len(y_true) / len(names) * rng.standard_gamma(pseudo, (n_draws, size, size))
    for name in names:
        weight = rng.standard_exponential(n_draws)
        for i, j in zip(y_true[groups == name], y_pred[groups == name], strict=True):
            cells[:, i, j] += weight
    return get_metric(metric).evaluate(cells, positive=positive)


@pytest.mark.parametrize(
    ("metric", "n_classes", "positive", "prior"),
    [
        ("accuracy", 2, None, "jeffreys"),
        ("recall", 2, 1, 0.2),
        ("f1", 2, 0, 1.0),
        ("error_rate", 3, None, "jeffreys"),
        ("precision", 3, 2, "jeffreys"),
        ("jaccard_micro", 3, None, "jeffreys"),
        ("matthews_corrcoef", 2, None, "jeffreys"),
        ("informedness", 3, 1, "jeffreys"),
        ("f1_macro", 3, None, "jeffreys"),
    ],
)
def test_posterior_is_the_bayesian_bootstrap(
    metric, n_classes, positive, prior, global_random_seed
):
    rng, n_draws = np.random.default_rng(global_random_seed), 20_000
    y_true, y_pred, groups = rows(rng, 15, n_classes)
    found = metric_posterior(
        y_true,
        y_pred,
        metric=metric,
        groups=groups,
        prior=prior,
        labels=range(n_classes),
        pos_label=positive,
        random_state=global_random_seed,
    )
    pseudo = np.full((n_classes, n_classes), 0.5 if prior == "jeffreys" else prior)
    draws = naive_draws(y_true, y_pred, groups, metric, positive, pseudo, n_draws, rng)
    for p in (0.025, 0.5, 0.975):
        below = np.mean(draws <= found.quantile(p))
        error = np.sqrt(p * (1 - p) * (1 / n_draws + (0 if found.exact else 1 / n_draws)))
        assert abs(below - p) < 4.5 * error
    proportion = metric not in ("matthews_corrcoef", "informedness", "f1_macro")
    assert found.exact == proportion
    if proportion:
        assert_allclose(found.mean(), draws.mean(), atol=4.5 * draws.std() / np.sqrt(n_draws))


@pytest.mark.parametrize("metric", ["accuracy", "recall", "f1", "mcc", "balanced_accuracy"])
@pytest.mark.parametrize("size", [1, 4])
def test_groups_that_are_alike_are_single_rows(metric, size, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y_true, y_pred = rng.integers(0, 2, (2, 50))
    single = metric_posterior(y_true, y_pred, metric=metric)
    y_true, y_pred, groups = (np.repeat(y, size) for y in (y_true, y_pred, np.arange(50)))
    found = metric_posterior(y_true, y_pred, metric=metric, groups=groups)
    assert found.exact
    assert found.interval() == single.interval()
    assert "50 groups" in found.description
    with pytest.raises(TypeError, match="made from counts"):
        found.predictive()


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc", "f1_macro"])
@pytest.mark.parametrize("n_classes", [2, 40])
def test_neither_order_nor_names_matter(metric, n_classes, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y_true, y_pred, groups = rows(rng, 120, n_classes)
    options = {"metric": metric, "random_state": 1, "n_draws": 200, "labels": range(n_classes)}
    if metric == "f1":
        options["pos_label"] = 1
    resampling = options | {"method": "bca", "n_resamples": 200}
    resampling.pop("n_draws")
    shuffle, names = rng.permutation(groups.size), rng.permutation(10**6).astype(str)
    for function, given in ((credible_interval, options), (confidence_interval, resampling)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows per class
            plain = function(y_true, y_pred, groups=groups, **given)
            assert function(y_true, y_pred, groups=names[groups], **given) == plain
            other = function(y_true[shuffle], y_pred[shuffle], groups=groups[shuffle], **given)
        assert other == plain


def test_sparse_sums_are_those_of_a_dense_table(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y_true, y_pred, groups = rows(rng, 400, 40)
    grouped = GroupedRows(y_true, y_pred, groups, tuple(range(40)))
    assert scipy.sparse.issparse(grouped.table)
    types, repeats = grouped.merged
    total = np.zeros((40, 40))
    np.add.at(total, (y_true, y_pred), 1)
    assert_array_equal((repeats @ types).reshape(40, 40), total)


@pytest.mark.parametrize("metric", ["mcc", "balanced_accuracy"])
def test_a_crowd_of_different_groups_is_normal(metric, global_random_seed):
    # 4,000 different groups, of which the sums are normal, and a few that are far too large for it.
    rng, n_draws = np.random.default_rng(global_random_seed), 20_000
    y_true, y_pred, groups = rows(rng, 6000, most=80)
    groups[groups < 60] = 0
    options = {"metric": metric, "random_state": global_random_seed, "n_draws": n_draws}
    found = metric_posterior(y_true, y_pred, groups=groups, prior="jeffreys", **options)
    table = np.zeros((6000, 4))
    np.add.at(table, (groups, 2 * y_true + y_pred), 1)
    table = table[table.any(axis=1)]
    cells = np.concatenate(
        [rng.standard_exponential((1000, len(table))) @ table for _ in range(n_draws // 1000)]
    )
    cells += len(groups) / len(table) * rng.standard_gamma(0.5, cells.shape)
    draws = get_metric(metric).evaluate(cells.reshape(-1, 2, 2), positive=1)
    for p in (0.025, 0.16, 0.5, 0.84, 0.975):
        # The skewness that a normal crowd lacks moves a probability by .002 at most.
        assert (
            abs(np.mean(draws <= found.quantile(p)) - p)
            < 4.5 * np.sqrt(2 * p * (1 - p) / n_draws) + 0.002
        )


@pytest.mark.parametrize(
    ("metric", "named"), [("accuracy", False), ("accuracy", True), ("mcc", False)]
)
def test_million_rows_without_a_python_loop(metric, named):
    rng, n, n_groups = np.random.default_rng(0), 10**6, 10**5
    y_true, groups = rng.integers(0, 2, n), rng.integers(0, n_groups, n)
    y_pred = np.where(rng.random(n) < 0.1 * rng.random(n_groups)[groups], 1 - y_true, y_true)
    if named:
        groups = np.array([f"p{k}" for k in range(n_groups)], dtype=object)[groups]
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        low, high = credible_interval(y_true, y_pred, metric=metric, groups=groups, random_state=0)
    finally:
        sys.setprofile(None)
    assert 0 < high - low < 0.01
    assert calls < 20_000  # hundreds; one for every row, or every group, would be far more


def test_classes_of_a_report_share_one_encoding(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(1)
        return encode_groups(*arguments)

    monkeypatch.setattr("skuncertain.metrics._count.encode_groups", counted)
    y_true, y_pred, groups = rows(np.random.default_rng(0), 60)
    interval_report(y_true, y_pred, groups=groups, n_draws=50)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("metric", "n_classes"),
    [("mcc", 2), ("kappa", 2), ("balanced_accuracy", 2), ("mcc", 3), ("f1_macro", 3)],
)
def test_many_groups_need_no_draws(metric, n_classes, global_random_seed):
    y_true, y_pred, groups = rows(np.random.default_rng(global_random_seed), 50_000, n_classes, 3)
    posterior = metric_posterior(y_true, y_pred, metric=metric, groups=groups)
    assert posterior.n_draws is None
    drawn = metric_posterior(
        y_true, y_pred, metric=metric, groups=groups, n_draws=40_000, random_state=1
    )
    q = np.array([0.025, 0.5, 0.975])
    # 4 standard errors of a quantile of 40,000 draws, and what was measured of the approximation
    error = 4 * np.sqrt(q * (1 - q) / 40_000) / norm.pdf(norm.ppf(q)) + 0.012
    off = np.abs(posterior.quantile(q) - drawn.quantile(q)) / drawn.std()
    assert np.all(off < error)
    few = metric_posterior(y_true[:300], y_pred[:300], metric=metric, groups=groups[:300])
    assert few.n_draws > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_groups_have_intervals_of_every_metric(n_classes, global_random_seed):
    y_true, y_pred, groups = rows(np.random.default_rng(global_random_seed), 30_000, n_classes, 3)
    for name in get_metric_names(n_classes=n_classes, needs="labels"):
        if name.startswith(("net_benefit", "expected_cost", "fbeta")):  # these need a parameter
            continue
        low, high = credible_interval(
            y_true, y_pred, metric=name, pos_label=1, groups=groups, random_state=0
        )
        assert low < get_metric(name).evaluate(_counts(y_true, y_pred), positive=1) < high, name


def _counts(y_true, y_pred):
    return ConfusionCounts.from_predictions(y_true, y_pred).counts.astype(float)


@pytest.mark.parametrize("metric", ["accuracy", "error_rate", "f1_micro", "recall", "mcc"])
def test_groups_that_do_not_move_the_metric(metric):
    # Half of every group is right, in groups of two and of four rows: without a prior no weight of
    # groups changes that.
    sizes = np.tile([2, 2, 4, 4], 1500)
    groups = np.repeat(np.arange(sizes.size), sizes)
    y_true = groups % 2
    place = np.arange(groups.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    y_pred = np.where(place % 2 == 0, y_true, 1 - y_true)
    value = 0.0 if metric == "mcc" else 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = credible_interval(y_true, y_pred, metric=metric, groups=groups, prior="haldane")
    assert_allclose(found, (value, value), atol=1e-12)
