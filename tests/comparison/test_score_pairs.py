"""Models compared by metrics of scores and probabilities of the same rows."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.naive_bayes import GaussianNB

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare,
    compare_paired,
    credible_interval,
    leaderboard,
)
from skuncertain.comparison import compare_auc
from skuncertain.display import ComparisonDisplay
from skuncertain.exceptions import DegenerateIntervalWarning, InvalidParameterError
from skuncertain.metrics import get_metric, make_metric, metric_posterior


def models(seed, n=150, n_classes=2, number=2):
    """True classes, and probabilities of several models that share what makes rows difficult."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    common = rng.normal(size=(n, n_classes)) + np.eye(n_classes)[y]
    found = []
    for _ in range(number):
        odds = common + 0.7 * rng.normal(size=(n, n_classes))
        found.append(np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True))
    return y, found


def losses(name, y, p):
    own = p[np.arange(y.size), y]
    if name == "log_loss":
        return -np.log(own)
    return np.square(p - np.eye(p.shape[1])[y]).sum(axis=1) / (2 if p.shape[1] == 2 else 1)


# --------------------------------------------------------------------------------------------------
# Two models


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["log_loss", "brier_score"])
def test_losses_are_the_paired_t_test(name, n_classes, global_random_seed):
    y, (a, b) = models(global_random_seed, n_classes=n_classes)
    result = compare_paired(y, a, b, metric=name)
    expected = stats.ttest_rel(losses(name, y, b), losses(name, y, a))
    assert_allclose(result.interval(0.9), expected.confidence_interval(0.9), rtol=1e-9)
    p_value = 2 * min(result.p_better, result.p_worse)
    assert_allclose(p_value, expected.pvalue, rtol=1e-9)
    assert (result.p_better > 0.5) == (losses(name, y, b).mean() < losses(name, y, a).mean())
    negative = compare_paired(y, a, b, metric=f"neg_{name}")
    assert_allclose(negative.p_better, result.p_better, rtol=1e-9)
    assert_allclose(negative.difference.mean(), -result.difference.mean(), rtol=1e-12)
    own = make_metric(row_loss=lambda t, p: losses(name, t, p), name="own", greater_is_better=False)
    assert_allclose(compare_paired(y, a, b, metric=own).p_better, result.p_better, rtol=1e-9)


@pytest.mark.parametrize("case", ["two", "two names", "three", "weighted", "perfect", "one row"])
def test_areas_are_those_of_compare_auc(case, global_random_seed):
    y, (a, b) = models(global_random_seed, n_classes=3 if case in ("three", "weighted") else 2)
    name, options = "roc_auc", {}
    if case == "weighted":
        name, options = "roc_auc_ovr_weighted", {"average": "weighted"}
    if case == "two names":
        y = np.array(["no", "yes"])[y]
    if case == "perfect":
        a = np.column_stack([1 - y, y]) * 0.9 + 0.05 + np.arange(y.size)[:, None] * [-1e-4, 1e-4]
    if case == "one row":
        y = np.where(np.arange(y.size) == 3, 1, 0)
    given = (a, b) if len(np.unique(y)) > 2 else (a[:, 1], b[:, 1])
    found = compare_paired(y, *given, metric=name, rope=0.01)
    expected = compare_auc(y, *given, rope=0.01, **options)
    q = [0.001, 0.025, 0.4, 0.9]
    assert_allclose(found.difference.quantile(q), expected.difference.quantile(q), rtol=1e-12)
    for part in ("p_worse", "p_equivalent", "p_better"):
        assert getattr(found, part) == pytest.approx(getattr(expected, part), rel=1e-12)


def test_shares_are_compared_as_accuracy_is(global_random_seed):
    y, (a, b) = models(global_random_seed, n_classes=3)
    found = compare_paired(y, a, b, metric="top_1_accuracy", prior=1.0)
    expected = compare_paired(y, a.argmax(axis=1), b.argmax(axis=1), prior=1.0)
    assert found.p_better == pytest.approx(expected.p_better, rel=1e-12)
    assert_allclose(found.interval(), expected.interval(), rtol=1e-12)


@pytest.mark.parametrize("name", ["average_precision", "d2_log_loss_score", "precision_at_30"])
def test_the_difference_varies_as_much_as_over_samples(name, global_random_seed):
    metric = get_metric(name)
    values, variances = [], []
    for seed in range(300):
        y, (a, b) = models(1000 * global_random_seed + seed, n=200)
        result = compare_paired(y, a[:, 1], b[:, 1], metric=metric)
        values.append(metric(y, b[:, 1]) - metric(y, a[:, 1]))
        assert result.difference.median() == pytest.approx(values[-1], abs=1e-12)
        variances.append(result.difference.scale**2)
    # The variance of 300 values has a relative error of about 8 %.
    assert_allclose(np.mean(variances), np.var(values, ddof=1), rtol=0.3)


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "average_precision", "top_1_accuracy"])
def test_the_same_model_is_equivalent_for_sure(name, global_random_seed):
    y, (a, _) = models(global_random_seed)
    result = compare_paired(y, a[:, 1], a[:, 1].copy(), metric=name, rope=0.05)
    if name == "top_1_accuracy":  # half a row on each side, as for accuracy
        assert result.p_equivalent > 0.95
    else:
        assert (result.p_equivalent, result.interval()) == (1.0, (0.0, 0.0))
    if name in ("roc_auc", "average_precision"):  # only the order matters
        assert compare_paired(y, a[:, 1], a[:, 1] ** 3, metric=name).p_equivalent == 1.0


def test_a_constant_difference_has_no_silent_zero_width():
    y = [0, 1] * 32
    metric = make_metric(row_loss=lambda t, s: s, needs="scores", name="s", greater_is_better=False)
    a = np.random.default_rng(0).integers(8, size=64) / 8.0  # sums without rounding
    result = compare_paired(y, a, a + 0.25, metric=metric)
    assert (result.difference.scale, result.p_worse) == (0.0, 1.0)
    with pytest.warns(DegenerateIntervalWarning, match="variance of 0"):
        result.interval()


@pytest.mark.parametrize("name", ["d2_log_loss_score", "d2_brier_score"])
def test_a_skill_is_never_surer_than_its_loss(name, global_random_seed):
    """The class frequencies are the same for both models: the skill divides losses by them."""
    y, (a, b) = models(global_random_seed, n=60)
    loss = name.removeprefix("d2_").removesuffix("_score").replace("brier", "brier_score")
    skill, losses_ = (compare_paired(y, a, b, metric=m) for m in (name, loss))
    sure = [max(result.p_better, result.p_worse) for result in (skill, losses_)]
    assert 0.5 < sure[0] <= sure[1] + 1e-12
    assert (skill.p_better > 0.5) == (losses_.p_better > 0.5)
    board = leaderboard([a, b], y_true=y, metric=name, random_state=0, n_draws=20_000)
    assert board.pairwise[1, 0] == pytest.approx(skill.p_better, abs=0.015)


def test_names_and_reports(global_random_seed):
    y, (a, b) = models(global_random_seed)
    labels = np.array(["no", "yes"])[y]
    result = compare_paired(
        labels, a[:, 0], b[:, 0], metric="average_precision", pos_label="no", names=("one", "two")
    )
    swapped = compare_paired(1 - y, a[:, 0], b[:, 0], metric="average_precision")
    assert result.p_better == swapped.p_better
    assert "no" in result.question
    text = str(result.report())
    assert "average_precision" in text
    assert "influences of rows" in text
    assert "150 shared rows" in repr(result)
    display = ComparisonDisplay.from_predictions(y, a[:, 1], b[:, 1], metric="log_loss")
    assert display.metric == "log_loss"


def test_different_test_sets(global_random_seed):
    """Posteriors of scores are compared as others are."""
    y, (a, b) = models(global_random_seed, n=400)
    left, right = (metric_posterior(y, p, metric="log_loss") for p in (a, b))
    result = compare(left, right, metric="log_loss", random_state=0)
    gap = right.mean() - left.mean()
    assert_allclose(result.difference.mean(), gap, atol=0.01)
    assert result.greater_is_better is False
    with pytest.raises(InvalidParameterError, match="posterior of 'log_loss'"):
        compare(left, right, metric="roc_auc")


Y = [0, 1] * 20
P = np.linspace(0.1, 0.9, 40)


@pytest.mark.parametrize(
    ("arguments", "options", "parameter", "told"),
    [
        ((Y, P, P), {"metric": "roc_auc", "folds": 5}, "metric", "not in folds"),
        ((Y, P, P), {"metric": "log_loss", "prior": 1.0}, "prior", "prior is for counts"),
        ((Y, P, P[:-1]), {"metric": "log_loss"}, "y_true", "same length"),
        ((Y, P, ["a"] * 40), {"metric": "log_loss"}, "pred_b", "pred_b must hold the probabil"),
        ((Y, P + 1, P), {"metric": "log_loss"}, "pred_a", r"pred_a must hold .* \[0, 1\]"),
        ((Y, P, P), {"metric": "log_loss", "estimand": "fitted"}, "estimand", "estimand"),
        ((Y, P, P), {"metric": "log_loss", "rope": -1}, "rope", "rope"),
        (([0] * 40, P, P), {"metric": "roc_auc", "labels": [0, 1]}, "y_true", "every class"),
        (([0] * 40, P, P), {"metric": "roc_auc"}, "y_true", "at least two classes"),
        ((Y, P, np.column_stack([P, P, P])), {"metric": "roc_auc"}, "pred_b", "one column per"),
    ],
)
def test_what_is_refused(arguments, options, parameter, told):
    with pytest.raises(InvalidParameterError, match=told) as caught:
        compare_paired(*arguments, **options)
    assert caught.value.parameter == parameter


def test_cross_validators_are_sent_to_compare_cv():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.array(Y)
    bcv = BayesianCrossValidator(GaussianNB(), cv=2, keep_predictions=True).fit(X, y)
    for door in (
        lambda: compare_paired(y, bcv, bcv, metric="roc_auc"),
        lambda: leaderboard({"a": bcv, "b": bcv}, metric="roc_auc"),
    ):
        with pytest.raises(InvalidParameterError, match="not in folds") as caught:
            door()
        assert "compare_cv" in caught.value.remedy


# --------------------------------------------------------------------------------------------------
# Many models


@pytest.mark.parametrize("name", ["log_loss", "roc_auc", "average_precision", "top_1_accuracy"])
def test_pairs_of_a_leaderboard_are_those_of_comparisons(name, global_random_seed):
    y, found = models(global_random_seed, number=3)
    board = leaderboard(found, y_true=y, metric=name, random_state=0, n_draws=20_000)
    for i, j in combinations(range(3), 2):
        result = compare_paired(y, found[i], found[j], metric=name)
        error = 4 * np.sqrt(0.25 / 20_000)
        assert board.pairwise[j, i] == pytest.approx(result.p_better, abs=error)
    for k, p in enumerate(found):
        expected = credible_interval(y, p, metric=name)
        assert_allclose((board.low[k], board.high[k]), expected, rtol=1e-12)
    assert board.n == 150
    assert board.metric == name


def test_pairs_of_averages_over_classes(global_random_seed):
    y, found = models(global_random_seed, n_classes=3, number=2)
    board = leaderboard(found, y_true=y, metric="roc_auc_ovo", random_state=0, n_draws=20_000)
    result = compare_paired(y, *found, metric="roc_auc_ovo")
    assert board.pairwise[1, 0] == pytest.approx(result.p_better, abs=0.015)


def test_the_draws_have_the_covariance_of_influences(global_random_seed):
    from skuncertain.comparison._leaderboard_scores import ScoreBoard

    y, found = models(global_random_seed, number=4)
    board = ScoreBoard.read(list("abcd"), found, y, get_metric("log_loss"), None, None)
    draws = board.draw(0.5, 200_000, 0)
    rows = np.array([losses("log_loss", y, p) for p in found])
    covariance = np.cov(rows) / y.size
    for i, j in combinations(range(4), 2):
        expected = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        # Student's t with 149 degrees of freedom has a slightly larger variance.
        assert_allclose(np.var(draws[i] - draws[j]), expected * 149 / 147, rtol=0.02)
    assert_allclose(draws.mean(axis=1), rows.mean(axis=1), atol=5e-4)


def test_ties_are_those_of_the_data(global_random_seed):
    y, (a, b) = models(global_random_seed)
    entries = {"a": a[:, 1], "b": b[:, 1], "same order": a[:, 1] ** 2, "again": b[:, 1].copy()}
    areas = leaderboard(entries, y_true=y, metric="roc_auc", random_state=0)
    assert areas.tie_group.tolist() == [0, 1, 0, 1]
    assert areas.p_best[0] == areas.p_best[2]
    assert areas.p_best[:2].sum() == pytest.approx(1)
    board = leaderboard(entries, y_true=y, metric="brier_score", random_state=0)
    assert len(set(board.tie_group)) == 3
    assert board.tie_group[1] == board.tie_group[3]


def test_equal_models_are_shrunk(global_random_seed):
    y, found = models(global_random_seed, number=12)
    shrunk = leaderboard(found, y_true=y, metric="log_loss", random_state=0)
    plain = leaderboard(found, y_true=y, metric="log_loss", random_state=0, shrinkage=False)
    assert shrunk.p_best.max() <= plain.p_best.max()
    assert shrunk.shrinkage_weight < 1
    assert_allclose(shrunk.low, plain.low)
    assert "log_loss" in str(shrunk.report())


def test_the_smaller_loss_is_better(global_random_seed):
    y, (a, _) = models(global_random_seed)
    bad = 0.5 + 0.5 * (0.5 - a)
    board = leaderboard({"bad": bad, "good": a}, y_true=y, metric="log_loss", random_state=0)
    assert board.order().tolist() == [1, 0]
    assert board.p_best[1] > 0.999


@pytest.mark.parametrize(
    ("options", "parameter", "told"),
    [
        (
            {"metric": "log_loss", "results": {"a": P, "b": P + 1}},
            "results",
            r"results\['b'\] must hold",
        ),
        ({"metric": "log_loss", "folds": 5}, "metric", "not in folds"),
        ({"metric": "log_loss", "prior": 2.0}, "prior", "prior is for counts"),
        ({"metric": "roc_auc", "y_true": None}, "results", "ndarray"),
    ],
)
def test_what_a_leaderboard_refuses(options, parameter, told):
    options = {"results": {"a": P, "b": P[::-1]}, "y_true": Y} | options
    with pytest.raises(InvalidParameterError, match=told) as caught:
        leaderboard(**options)
    assert caught.value.parameter == parameter


def test_counts_have_no_scores():
    counts = ConfusionCounts([[5, 1], [2, 6]])
    with pytest.raises(InvalidParameterError, match="needs scores"):
        compare(counts, counts, metric="roc_auc")
