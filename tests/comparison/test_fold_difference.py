"""Variances of differences in folds, against definitions written out row by row."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.metrics import f1_score, matthews_corrcoef
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import BayesianCrossValidator, compare, compare_paired
from skuncertain.comparison._fold_difference import difference_variance
from skuncertain.comparison._fold_rows import FoldRows
from skuncertain.metrics import get_metric
from skuncertain.model_selection._fold_variance import DifferenceVariance, rules_of_pairs
from skuncertain.model_selection._stability import alike, gain_of_tests, optimism


def random_rows(seed=0, n=90, size=2, m=2, splits=5, n_repeats=1, models=False):
    """Truth, predictions of m models that are right more often than not, and folds."""
    rng = np.random.default_rng(seed)
    truth = np.tile(rng.integers(size, size=n), n_repeats)
    codes = [
        np.where(rng.random(truth.size) < 0.7, truth, rng.integers(size, size=truth.size))
        for _ in range(m)
    ]
    fold = np.concatenate(
        [rng.permutation(np.arange(n) % splits) + r * splits for r in range(n_repeats)]
    )
    found = None
    if models:
        rows = np.bincount(truth[:n], minlength=size)
        found = [_matrices(rng, rows, splits * n_repeats) for _ in range(m)]
    return FoldRows(
        truth, codes, fold, n_repeats, tuple(range(size)), 1 if size == 2 else None, found,
        np.ones(truth.size, dtype=bool),
    )  # fmt: skip


def _matrices(rng, rows, splits):
    """Matrices of models that predict rows with these class counts."""
    share = np.full((rows.size,) * 2, 0.3 / (rows.size - 1)) + np.eye(rows.size) * 0.7
    share /= share.sum(axis=1, keepdims=True)
    return np.array(
        [[[rng.multinomial(n, p) for n, p in zip(rows, share, strict=True)]] for _ in range(splits)]
    ).astype(float)


def slope_by_hand(matrix, metric):
    """Central differences of a metric at a matrix."""
    result = np.zeros(matrix.shape)
    for i, j in np.ndindex(*matrix.shape):
        step = np.zeros(matrix.shape)
        step[i, j] = 1e-4
        result[i, j] = np.diff([metric(matrix - step), metric(matrix + step)])[0] / 2e-4
    return result


METRICS = {
    "accuracy": lambda m: np.trace(m) / m.sum(),
    "recall": lambda m: m[1, 1] / m[1].sum(),
    "precision": lambda m: m[1, 1] / m[:, 1].sum(),
    "f1": lambda m: 2 * m[1, 1] / (2 * m[1, 1] + m[0, 1] + m[1, 0]),
    "balanced_accuracy": lambda m: (np.diag(m) / m.sum(axis=1)).mean(),
}


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("name", METRICS)
def test_variances_by_definition(name, n_repeats):
    rows = random_rows(n_repeats=n_repeats, models=True)
    k, n = 5, 90
    influence, slopes = [], []
    for code in rows.codes:
        matrix = np.zeros((2, 2))
        np.add.at(matrix, (rows.truth, code), 1 / n_repeats)
        slopes.append(slope_by_hand(matrix + 0.5, METRICS[name]))
        influence.append(slopes[-1][rows.truth, code])
    u = influence[1] - influence[0]
    # Half a pseudo-row for each of the four kinds of agreement, one of each class.
    more = [
        slopes[1][t, t if right_b else 1 - t] - slopes[0][t, t if right_a else 1 - t]
        for t, right_a, right_b in itertools.product((0, 1), repeat=3)
    ]
    weight = np.r_[np.full(u.size, 1 / n_repeats), np.full(8, 0.25)]
    every = np.r_[u, more]
    centre = (weight * every).sum() / weight.sum()
    binomial = (weight * (every - centre) ** 2).sum() * n / weight.sum()
    of_folds = [(u - u.mean())[rows.fold == f].sum() for f in range(k * n_repeats)]
    theta = [
        (rows.models[1][f, 0] * slopes[1]).sum() - (rows.models[0][f, 0] * slopes[0]).sum()
        for f in range(k * n_repeats)
    ]
    found = difference_variance(rows, get_metric(name), 1).pair(0, 1)
    assert found.binomial == pytest.approx(binomial, rel=1e-6)
    assert found.between == pytest.approx(
        k / (k - 1) * np.square(of_folds).sum() / n_repeats, rel=1e-6
    )
    jack = (k - 1) / k * np.square(np.array(theta) - np.mean(theta)).sum() / n_repeats
    assert found.jackknife == pytest.approx(jack, rel=1e-6)
    counts = rows.truth == 1 if name == "recall" else np.ones(u.size, dtype=bool)
    differ = (rows.codes[0] != rows.codes[1]) & counts
    assert found.fewest == pytest.approx(differ.sum() / n_repeats)


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "matthews_corrcoef", "cohen_kappa"])
def test_variances_of_more_classes(name):
    rows = random_rows(1, size=3, m=3, splits=4)
    metric = get_metric(name)
    found = difference_variance(rows, metric, None)
    assert found.binomial.shape == (3, 3)
    np.testing.assert_allclose(found.binomial, found.binomial.T, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.between), 0, atol=1e-20)
    one = difference_variance(
        FoldRows(rows.truth, [rows.codes[2], rows.codes[0]], rows.fold, 1, rows.labels),
        metric,
        None,
    ).pair(0, 1)
    assert found.between[0, 2] == pytest.approx(one.between, rel=1e-9)
    # As many bootstrap samples of rows as it takes to see the variance.
    rng = np.random.default_rng(2)
    draws = rng.multinomial(90, np.full(90, 1 / 90), size=4000)
    values = []
    for code in (rows.codes[2], rows.codes[0]):
        cells = np.zeros((90, 9))
        cells[np.arange(90), rows.truth * 3 + code] = 1
        values.append(metric.evaluate((draws @ cells).reshape(-1, 3, 3)))
    assert one.binomial == pytest.approx(np.var(values[1] - values[0]), rel=0.15)


def test_one_class_of_many_is_one_against_the_rest():
    rows = random_rows(3, size=4, n=200)
    two = FoldRows(
        (rows.truth == 2).astype(int),
        [(c == 2).astype(int) for c in rows.codes],
        rows.fold,
        1,
        (0, 1),
    )
    for name in ("recall", "f1", "precision"):
        found = difference_variance(rows, get_metric(name), 2).pair(0, 1)
        expected = difference_variance(two, get_metric(name), 1).pair(0, 1)
        assert found.omega("algorithm") == pytest.approx(
            float(expected.omega("algorithm")), rel=1e-12
        )


def test_beta_of_weighed_rows():
    """Accuracy by hand: V of the folds, omega, and the Beta of the rows that differ."""
    rng = np.random.default_rng(5)
    y, a, b = (rng.random((3, 200)) < 0.5).astype(int)
    a, b = np.where(rng.random(200) < 0.6, y, a), np.where(rng.random(200) < 0.8, y, b)
    fold = rng.permutation(np.arange(200) % 10)
    result = compare_paired(y, a, b, folds=fold)
    d = (b == y).astype(float) - (a == y)
    n10, n01 = int((d < 0).sum()), int((d > 0).sum())
    mean = d.sum() / 202
    v_row = ((n10 + n01 + 1) / 202 - mean**2) / 200  # half a pseudo-row on either side
    u = [(d - d.mean())[fold == k].sum() / 200 for k in range(10)]
    v_fold = 10 / 9 * np.square(u).sum()
    few = 2 / (2 + n10 + n01)
    usual = 1.631585  # .9 quantile of chi-squared with 9 degrees of freedom, over 9
    fitted = 20 / 11 * v_row + 1.5 * max(v_fold - usual * v_row, 0)
    needed = max(fitted, v_row + 10 / 9 * max(v_fold, few * v_row))
    assert result.omega == pytest.approx(v_row / needed, rel=1e-3)
    shapes = result.omega * n01 + 0.5, result.omega * n10 + 0.5
    assert result.p_better == pytest.approx(beta.sf(0.5, *shapes), rel=1e-9)


def test_drawn_metrics_weigh_rows_alike():
    rng = np.random.default_rng(6)
    y = rng.integers(2, size=600)
    a, b = (np.where(rng.random(600) < p, y, 1 - y) for p in (0.8, 0.84))
    fold = np.arange(600) % 6
    for metric, score in (("f1", f1_score), ("mcc", matthews_corrcoef)):
        result = compare_paired(y, a, b, metric=metric, folds=fold, random_state=0)
        plain = compare_paired(y, a, b, metric=metric, random_state=0)
        assert result.difference.mean() == pytest.approx(score(y, b) - score(y, a), abs=0.01)
        # The draws have the variance that is needed.
        ratio = (plain.difference.std() / result.difference.std()) ** 2
        assert ratio == pytest.approx(result.omega, rel=0.08)


# --------------------------------------------------------------------------------------------------
# The rule


def test_rule_of_pairs():
    """A quiet learner, one that learns by heart, a chaotic one and one with few rules."""
    moved, hope, same = [1.0, 1.0, 20.0, 20.0], [0.0, 0.9, 0.1, 0.1], [0.1, 0.1, 0.1, 0.6]
    gain = np.array([0.0, -0.2, -0.1, -0.05])
    found = rules_of_pairs(np.array(moved), np.array(hope), np.array(same), gain, 10)
    quiet, heart, chaos, lumps = np.diagonal(found["factor"])
    assert quiet == pytest.approx(1.1)
    assert heart == pytest.approx(1.7)
    assert chaos == lumps == pytest.approx(1.9)
    parts = np.diagonal(found["part"])
    assert parts[0] == parts[1] == pytest.approx(2 * 10 / 81)
    assert parts[2] == pytest.approx(0.02 * 10 / 81)
    assert parts[3] == pytest.approx(5.42 * 10 / 81)
    assert found["factor"][0, 1] == pytest.approx((quiet + heart) / 2)
    assert found["movement"][0, 2] == 20
    assert found["tipped"] == pytest.approx(0.0)  # only the last one repeats itself
    both = rules_of_pairs(np.ones(3), np.zeros(3), np.array([0.6, 0.4, 0.2]), gain[1:], 10)
    assert both["tipped"][0] == pytest.approx([0, 0.5 * 0.6 * 0.1**2, 0])
    assert both["tipped"] == pytest.approx(both["tipped"].T)


def test_what_the_estimands_add():
    numbers = dict(
        binomial=1.0, between=1.0, stratified=1.0, statistic=9.0, fewest=1e9, jackknife=5.0
    )
    arrays = {name: np.array(value) for name, value in numbers.items()}
    one = DifferenceVariance(
        **arrays, n_folds=10, n_repeats=1, movement=np.array(3.0), factor=np.array(1.5),
        part=np.array(0.2), tipped=np.array(0.3),
    )  # fmt: skip
    assert one.needed("fitted") == pytest.approx(1.5)
    assert one.needed("algorithm") == pytest.approx(1.5 + 0.2 * 4)
    assert one.needed("final") == pytest.approx(1.5 + 11 / 81 * 5)
    assert one.omega("fitted") == pytest.approx(1 / 1.5)
    tipped = replace(one, tipped=np.array(2.5))  # more than what the jackknife shows
    assert tipped.needed("algorithm") == pytest.approx(1.5 + 2.5)
    assert tipped.needed("final") == one.needed("final")
    most = replace(one, tipped=np.array(99.0))
    assert most.needed("algorithm") == pytest.approx(1.5 + 40)


def test_nothing_differs():
    """Two models that always agree: no reason to prefer one, and none for certainty."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    pred = np.where(rng.random(100) < 0.8, y, 1 - y)
    result = compare_paired(y, pred, pred, folds=np.arange(100) % 10)
    assert result.omega == pytest.approx(1 / (1 + 10 / 9))
    assert (result.p_better, result.p_worse) == pytest.approx((0.5, 0.5))
    plain = compare_paired(y, pred, pred)
    assert result.interval().width > 1.5 * plain.interval().width
    perfect = compare_paired(y, y, y, folds=np.arange(100) % 10, metric="recall")
    assert perfect.omega == pytest.approx(1 / (1 + 10 / 9))


def test_few_rows_that_differ_do_not_jump():
    y = np.ones(100, dtype=int)
    omegas = []
    for few in range(6):
        b = y.copy()
        b[:few] = 0
        omegas.append(compare_paired(y, y, b, folds=np.arange(100) % 10, labels=[0, 1]).omega)
    assert np.all(np.abs(np.diff(omegas)) < 0.1)


def test_folds_whose_rows_depend_on_each_other():
    """Every fold is one group in which the same model is always right: five rows, not 500."""
    fold = np.repeat(np.arange(5), 100)
    y = np.ones(500, dtype=int)
    a, b = fold % 2, 1 - fold % 2
    result = compare_paired(y, a, b, folds=fold)
    assert result.omega < 0.02
    assert 0.05 < result.p_worse < 0.95
    assert compare_paired(y, a, b).p_worse < 1e-5


def test_signs_of_models_by_definition():
    matrices = np.array([[[[8, 2], [1, 9]]], [[[7, 3], [2, 8]]], [[[8, 2], [1, 9]]]], dtype=float)
    assert alike(matrices, 1) == 1.0  # all predict the second class 11 times
    moved = matrices.copy()  # models 0 and 2 do, model 1 does not: a third of the pairs
    moved[1, 0] = [[5, 5], [2, 8]]
    assert alike(moved, 1) == pytest.approx(1 / 3)
    assert alike(np.concatenate([moved, moved]), 2) == pytest.approx(1 / 3)
    # 20 rows, 8 errors when tested; three models make 11 errors in all, 3 when they know the row.
    tested = np.array([[6.0, 4.0], [4.0, 6.0]])
    shown = 3 + 5 + 3
    assert optimism(matrices, tested, 1) == pytest.approx((8 - (shown - 8) / 2) / (8 + 2))


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_gain_of_tests_row_by_row(n_repeats):
    """Accuracy of models on the rows of their fold minus that on all others, row by row."""
    rng = np.random.default_rng(4)
    n, k = 60, 5
    truth = rng.integers(2, size=n)
    right, known, matrices, tested = [], [], [], np.zeros((2, 2))
    for _ in range(n_repeats):
        fold = rng.permutation(np.arange(n) % k)
        for j in range(k):
            said = np.where(rng.random(n) < np.where(fold == j, 0.6, 0.8), truth, 1 - truth)
            matrix = np.bincount(2 * truth + said, minlength=4).reshape(1, 2, 2)
            matrices.append(matrix.astype(float))
            mine = fold == j
            tested += np.bincount(2 * truth[mine] + said[mine], minlength=4).reshape(2, 2)
            right.append((said == truth)[mine])
            known.append((said == truth)[~mine])
    gain = gain_of_tests(np.array(matrices), tested / n_repeats, np.eye(2) / n, n_repeats)
    assert gain == pytest.approx(np.concatenate(right).mean() - np.concatenate(known).mean())


def test_rules_that_tie_are_not_certain():
    """Two rules of equal worth: models alternate, and every one is bad on the fold it left out."""
    n, k = 100, 10
    truth, fold = np.tile([0, 1], n // 2), np.repeat(np.arange(k), n // k)
    steady = truth.copy()
    steady[::8], steady[1::8] = 1 - steady[::8], 1 - steady[1::8]  # 26 errors, whoever learns
    tossed = truth.copy()
    tossed[::5], tossed[1::5] = 1 - tossed[::5], 1 - tossed[1::5]  # 40 errors in the tests
    still = np.tile(np.array([[37.0, 13.0], [13.0, 37.0]]), (k, 1, 1, 1))
    turns = np.array([[[[50.0, 0.0], [25.0, 25.0]]], [[[25.0, 25.0], [0.0, 50.0]]]] * (k // 2))
    rows = FoldRows(
        truth, [steady, tossed], fold, 1, (0, 1), 1, [still, turns], np.ones(n, dtype=bool)
    )
    found = difference_variance(rows, get_metric("accuracy"), 1).pair(0, 1)
    assert found.jackknife == pytest.approx(0.0, abs=1e-12)  # all models of B make 25 errors
    learnt = (k * 25 - 40) / (k - 1)
    gap = (40 - learnt) / (n + 2)  # derivatives have half a row more per cell; A has no gap
    assert alike(turns, 1) == pytest.approx(20 / 45)
    weight = (20 / 45 - 0.25) / 0.25  # B repeats itself less than A
    assert found.tipped == pytest.approx(0.5 * weight * gap**2)
    added = found.needed("algorithm") - found.needed("fitted")
    assert added == pytest.approx(found.tipped)


# --------------------------------------------------------------------------------------------------
# Many rows, many classes


@pytest.mark.parametrize("name", ["accuracy", "f1"])
def test_a_part_of_the_rows_stands_for_all(name):
    """Models that were asked about a tenth of the rows vary as those asked about all of them."""
    rows = random_rows(n=300, models=True)
    tenfold = [np.concatenate([code] * 10) for code in rows.codes]
    many = replace(
        rows, truth=np.tile(rows.truth, 10), codes=tenfold, fold=np.tile(rows.fold, 10),
        models=[10 * part for part in rows.models], reference=np.ones(3000, dtype=bool),
    )  # fmt: skip
    asked = replace(many, models=rows.models, reference=np.arange(3000) < 300)
    whole, part = (difference_variance(r, get_metric(name), 1).pair(0, 1) for r in (many, asked))
    # Of one half there is no noise to be told from the models: it stays as it is.
    assert part.jackknife == pytest.approx(whole.jackknife)
    assert part.tipped == pytest.approx(whole.tipped)
    assert whole.jackknife > 0


def test_more_reference_rows_than_are_taken():
    """Beyond 2,000 rows the models are asked about a part of them, in two halves."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=2600)
    X = rng.normal(size=(2600, 3)) + 0.7 * y[:, None]
    cv = StratifiedKFold(5)
    models = [
        BayesianCrossValidator(model, cv=cv, keep_predictions=True, refit=False).fit(X, y)
        for model in (DecisionTreeClassifier(random_state=0), GaussianNB())
    ]
    result = compare(*models)
    assert models[0].stability_.counts.shape[1] == 2
    # The full tree knows the rows that it learnt from by heart.
    assert 1 / 1.5 < result.omega < 1 / 1.1 + 0.01
    assert result.difference.diagnostics.movement < 30


def test_a_million_rows():
    rng = np.random.default_rng(0)
    n = 1_000_000
    y = rng.integers(3, size=n)
    a, b = (np.where(rng.random(n) < p, y, rng.integers(3, size=n)) for p in (0.8, 0.801))
    fold = rng.integers(10, size=n)
    result = compare_paired(y, a, b, folds=fold)
    assert result.n == n
    assert 0.4 < result.omega < 0.7


def test_many_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(300, size=3000)
    a, b = (np.where(rng.random(3000) < p, y, rng.integers(300, size=3000)) for p in (0.5, 0.6))
    result = compare_paired(y, a, b, folds=np.arange(3000) % 10)
    assert result.p_better > 0.999
    assert 0.4 < result.omega < 0.7


@pytest.mark.slow
def test_out_of_fold_predictions_of_equal_learners_seldom_alarm():
    """Stumps on two blocks of features: rows alone say 'better' four times as often as they may."""
    rng = np.random.default_rng(11)
    stump, cv = DecisionTreeClassifier(max_depth=1, random_state=0), StratifiedKFold(10)
    alarms = np.zeros(2, dtype=int)
    for _ in range(60):
        y = np.arange(100) % 2
        blocks = rng.normal(size=(2, 100, 5)) + np.array([0.8, 0.8, 0, 0, 0]) * y[:, None]
        a, b = (cross_val_predict(stump, X, y, cv=cv) for X in blocks)
        for k, folds in enumerate((None, cv)):
            result = compare_paired(y, a, b, folds=folds)
            alarms[k] += max(result.p_better, result.p_worse) > 0.975
    assert alarms[1] < alarms[0]
    assert alarms[1] <= 11  # of 60: P(more) = 0.001 at 7 %
