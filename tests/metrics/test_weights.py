"""Rows with weights: what they are worth to a metric, and the posteriors that rest on it."""

import json
import math
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import beta
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
)

from skuncertain import (
    ConfusionCounts,
    confidence_interval,
    credible_interval,
    interval_report,
    leaderboard,
)
from skuncertain._numerics.row_weights import RowWeights
from skuncertain.exceptions import InvalidParameterError, SmallSampleWarning
from skuncertain.metrics import bootstrap_distribution, get_metric, metric_posterior
from skuncertain.model_selection import CrossValPosterior, fold_posterior
from skuncertain.monitoring import SequentialPosterior
from tests.support.report_cases import ends, table

METRICS = (
    *("accuracy", "error_rate", "recall", "precision", "specificity", "f1", "jaccard"),
    *(
        "prevalence",
        "true_positive_odds",
        "f1_macro",
        "f1_micro",
        "recall_weighted",
        "balanced_accuracy",
    ),
    *("mcc", "cohen_kappa", "g_mean", "lr+", "dor", "informedness", "f2"),
)
# Some seeds make few rows of many; one test is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")


def rows_of(n, seed, classes=2, slope=0.8, sigma=0.9):
    """True and predicted labels, and weights: with a positive slope heavy rows err more."""
    rng = np.random.default_rng(seed)
    y, z = rng.integers(classes, size=n), rng.normal(size=n)
    wrong = rng.random(n) < expit(-1.8 + slope * z)
    return y, np.where(wrong, (y + 1) % classes, y), np.exp(sigma * z)


def worth_by_rows(hit, inside, w):
    """Effective size of a proportion, row by row, from the formula in the method notes."""
    w, e = w[inside], 1.0 - hit[inside]
    total = math.fsum(w)
    rate = math.fsum(w * e) / total
    pseudo = 3 * math.fsum(w**2) / total, 3 * math.fsum(w**3) / total
    mean = [
        (math.fsum(w[e == k] ** 2) + pseudo[1]) / (math.fsum(w[e == k]) + pseudo[0]) for k in (0, 1)
    ]
    return min(total / (mean[0] * rate + mean[1] * (1 - rate)), len(w))


@pytest.mark.parametrize("slope", [-0.8, 0.0, 0.8])
def test_proportions_have_the_size_of_their_denominator(slope, global_random_seed):
    y, p, w = rows_of(300, global_random_seed, slope=slope)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    hit = y == p
    for metric, inside in {
        "accuracy": np.full(300, True),
        "recall": y == 1,
        "specificity": y == 0,
        "precision": p == 1,
        "npv": p == 0,
        "jaccard": (y == 1) | (p == 1),
        "f1": (y == 1) | (p == 1),
    }.items():
        n = worth_by_rows(hit, inside, w)
        assert counts.effective_rows(metric) == pytest.approx(n, rel=1e-10)
        posterior = counts.posterior(metric)
        rate = np.average(hit[inside], weights=w[inside])
        assert_allclose([posterior.a, posterior.b], [n * rate + 0.5, n * (1 - rate) + 0.5], 1e-10)


def test_one_class_among_many_has_its_own_size(global_random_seed):
    y, p, w = rows_of(400, global_random_seed, classes=3)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    for label in range(3):
        inside = (y == label) | (p == label)
        n = worth_by_rows(y == p, inside, w)
        assert counts.effective_rows("f1", pos_label=label) == pytest.approx(n, rel=1e-10)
        single = counts.one_vs_rest(label)
        assert single.effective_rows("f1") == pytest.approx(n, rel=1e-10)
        assert single.posterior("recall").interval() == pytest.approx(
            counts.posterior("recall", pos_label=label).interval(), rel=1e-12
        )


def slopes_by_cell(function, y, p, w):
    """Derivative of a score of scikit-learn with respect to the weight of every row."""
    found = np.empty(len(y))
    for i in np.unique(y):
        for j in np.unique(p):
            cell = (y == i) & (p == j)
            if cell.any():
                step = np.zeros(len(y))
                step[np.flatnonzero(cell)[0]] = 1e-5 * w.sum()
                change = [function(y, p, sample_weight=w + s * step) for s in (1, -1)]
                found[cell] = (change[0] - change[1]) / (2e-5 * w.sum())
    return found


@pytest.mark.parametrize(
    ("metric", "classes", "function"),
    [
        ("mcc", 2, matthews_corrcoef),
        ("balanced_accuracy", 2, balanced_accuracy_score),
        ("cohen_kappa", 2, cohen_kappa_score),
        ("f1", 2, f1_score),
        ("precision", 2, precision_score),
        ("mcc", 3, matthews_corrcoef),
        ("f1_macro", 3, lambda *a, **k: f1_score(*a, average="macro", **k)),
        ("balanced_accuracy", 3, balanced_accuracy_score),
    ],
)
def test_the_posterior_has_the_linearised_variance(metric, classes, function, global_random_seed):
    """In many rows the variance is the sum of (w dM/dw)², whatever weights and errors share."""
    y, p, w = rows_of(20_000, global_random_seed, classes=classes)
    variance = math.fsum((w * slopes_by_cell(function, y, p, w)) ** 2)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    found = counts.posterior(metric, random_state=0)
    # 1.5 % of what prior and pseudo-rows do in 20,000 rows, 1.5 % for 20,000 draws
    assert found.std() ** 2 == pytest.approx(variance, rel=0.04)
    kish = ConfusionCounts._make(counts.counts, counts.labels, counts.pos_label)
    assert kish.posterior(metric, random_state=0).std() ** 2 < 0.85 * variance
    assert found.observed == pytest.approx(function(y, p, sample_weight=w), rel=1e-10)


def test_variance_at_another_prevalence(global_random_seed):
    y, p, w = rows_of(20_000, global_random_seed)

    def precision(y, p, sample_weight):
        tpr, fpr = (np.average(p[y == k], weights=sample_weight[y == k]) for k in (1, 0))
        return 0.1 * tpr / (0.1 * tpr + 0.9 * fpr)

    variance = math.fsum((w * slopes_by_cell(precision, y, p, w)) ** 2)
    found = metric_posterior(y, p, metric="precision", prevalence=0.1, sample_weight=w)
    assert found.std() ** 2 == pytest.approx(variance, rel=0.03)


def test_a_metric_of_the_user_and_many_classes(global_random_seed):
    y, p, w = rows_of(2_000, global_random_seed)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)

    def informedness(m):
        return m[..., 1, 1] / m[..., 1, :].sum(-1) + m[..., 0, 0] / m[..., 0, :].sum(-1) - 1

    own = counts.effective_rows(informedness)
    assert own == pytest.approx(counts.effective_rows("informedness"), rel=1e-6)
    y, p, w = rows_of(3_000, global_random_seed, classes=120)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    assert 0 < counts.effective_rows(lambda m: m[..., 0, 0] / m.sum((-2, -1))) <= 3_000


# --------------------------------------------------------------------------------------------------
# Weights of one size, and their scale


@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0, 1e300, 1e-300])
def test_equal_weights_give_exactly_the_answer_without(weight, global_random_seed):
    y, p, _ = rows_of(250, global_random_seed)
    plain = ConfusionCounts.from_predictions(y, p)
    equal = ConfusionCounts.from_predictions(y, p, sample_weight=np.full(250, weight))
    assert equal == plain
    assert equal.weighted == (weight != 1)
    for metric in METRICS:
        one, two = (x.posterior(metric, random_state=0).interval() for x in (plain, equal))
        assert one == two, metric
        assert equal.effective_rows(metric) == plain.effective_rows(metric)
    folds = [ConfusionCounts.stack([x] * 4) for x in (plain, equal)]
    for metric in ("recall", "mcc"):
        one, two = (fold_posterior(x, metric, random_state=0).interval() for x in folds)
        assert one == two
    reports = [x.report(random_state=0).to_dict()["sections"] for x in (plain, equal)]
    for name, part in reports[0].items():
        assert reports[1][name]["rows"] == part["rows"]


def test_weights_of_one_are_no_weights():
    y, p, _ = rows_of(60, 0)
    plain = interval_report(y, p, random_state=0)
    assert interval_report(y, p, sample_weight=np.ones(60), random_state=0).to_dict() == (
        plain.to_dict()
    )


@pytest.mark.parametrize("factor", [7.3, 1e6, 1e300, 1e-300])
def test_the_scale_does_not_matter(factor, global_random_seed):
    y, p, w = rows_of(200, global_random_seed)
    w = w / w.max()
    one, two = (ConfusionCounts.from_predictions(y, p, sample_weight=x) for x in (w, factor * w))
    for metric in METRICS:
        assert two.effective_rows(metric) == pytest.approx(one.effective_rows(metric), rel=1e-11)


def test_equal_weights_within_a_class_are_rows_of_that_class():
    """Balancing weights: recall does not care."""
    y, p, _ = rows_of(500, 3)
    w = np.where(y == 1, 10.0, 1.0)
    plain = ConfusionCounts.from_predictions(y, p)
    balanced = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    for metric in ("recall", "specificity", "fpr", "true_positive_odds"):
        assert balanced.posterior(metric).interval() == plain.posterior(metric).interval()
    assert balanced.effective_rows("accuracy") < 500


def test_weights_are_no_frequencies():
    y, p = np.array([0, 1] * 20), np.array([0, 1] * 15 + [1, 0] * 5)
    tripled = ConfusionCounts.from_predictions(y, p, sample_weight=np.full(40, 3))
    assert tripled.n == 40
    w = np.where(np.arange(40) % 2 == 0, 3, 1)
    assert ConfusionCounts.from_predictions(y, p, sample_weight=w).effective_rows("accuracy") < 40


# --------------------------------------------------------------------------------------------------
# The ends


def worth_of_one_error(weight):
    w = np.ones(100)
    w[0] = weight
    y, p = np.ones(100, dtype=int), np.ones(100, dtype=int)
    p[0] = 0
    return ConfusionCounts.from_predictions(y, p, sample_weight=w, labels=[0, 1])


def test_one_light_and_one_heavy_error():
    light = [worth_of_one_error(w).effective_rows("accuracy") for w in (1e-6, 0.01, 0.1, 0.5, 1)]
    heavy = [worth_of_one_error(w).effective_rows("accuracy") for w in (1, 2, 5, 20, 100, 1e4)]
    assert max(light) <= 100
    assert min(light) > 95  # the linearised size alone is 98,012 at .01
    assert_allclose(heavy, sorted(heavy, reverse=True))
    assert 1 < heavy[-1] < 1.02  # that row is all there is
    lows = [worth_of_one_error(w).posterior("accuracy").interval().low for w in (0.1, 1, 5, 20)]
    assert lows == sorted(lows, reverse=True)
    for weight in (0.01, 1, 20):
        assert worth_of_one_error(weight).posterior("accuracy").interval().high == 1.0


def test_ends_go_by_the_number_of_rows():
    """Two light errors are two errors, though they count for less than one effective row."""
    w = np.ones(100)
    w[:2] = 0.1
    y, p = np.ones(100, dtype=int), np.ones(100, dtype=int)
    p[:2] = 0
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w, labels=[0, 1])
    posterior = counts.posterior("recall")
    assert float(posterior.b) - 0.5 < 1
    assert posterior.interval().high == pytest.approx(beta.ppf(0.975, posterior.a, posterior.b))
    assert posterior.interval().high < 1


def test_perfect_scores(global_random_seed):
    w = rows_of(80, global_random_seed)[2]
    y = np.arange(80) % 2
    counts = ConfusionCounts.from_predictions(y, y, sample_weight=w)
    worth = w.sum() * (w**2).sum() / (w**3).sum()  # as if errors went with the weight
    assert counts.effective_rows("accuracy") == pytest.approx(worth, rel=1e-10)
    assert worth < w.sum() ** 2 / (w**2).sum()
    low, high = counts.posterior("accuracy").interval()
    assert (low, high) == pytest.approx((0.025 ** (1 / worth), 1.0), rel=1e-10)
    for metric in METRICS:
        assert 0 < counts.effective_rows(metric) <= 80


def test_never_more_than_the_rows(global_random_seed):
    for slope in (-2.0, 0.0, 2.0):
        y, p, w = rows_of(60, global_random_seed, slope=slope, sigma=1.5)
        plain = ConfusionCounts.from_predictions(y, p)
        counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
        for metric in METRICS:
            assert 0 < counts.effective_rows(metric) <= plain.effective_rows(metric)


def test_rows_of_weight_zero_are_no_rows():
    y, p, w = rows_of(90, 5)
    w[::3] = 0
    kept = w > 0
    one = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    two = ConfusionCounts.from_predictions(y[kept], p[kept], sample_weight=w[kept])
    assert one == two
    assert one.effective_rows("f1") == pytest.approx(two.effective_rows("f1"), rel=1e-12)


# --------------------------------------------------------------------------------------------------
# Sums, parts and files


def chunks_of(y, p, w, k=4, classes=2):
    labels = list(range(classes))
    return [
        ConfusionCounts.from_predictions(y[i::k], p[i::k], sample_weight=w[i::k], labels=labels)
        for i in range(k)
    ]


def test_chunks_add_up(global_random_seed):
    y, p, w = rows_of(300, global_random_seed)
    w[::4] = 2.0  # one chunk has equal weights, which still have a size
    whole = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    parts = chunks_of(y, p, w)
    stacked = ConfusionCounts.stack(parts)
    updated = parts[0].posterior("f1")
    for part in parts[1:]:
        updated = updated.updated(part)
    for metric in METRICS:
        expected = whole.effective_rows(metric)
        assert sum(parts).effective_rows(metric) == pytest.approx(expected, rel=1e-11)
        assert stacked.sum().effective_rows(metric) == pytest.approx(expected, rel=1e-11)
        assert_allclose(
            stacked.effective_rows(metric), [part.effective_rows(metric) for part in parts], 1e-11
        )
    assert updated.interval() == pytest.approx(whole.posterior("f1").interval(), rel=1e-11)
    assert stacked[1:3][0] == stacked[1]
    assert [part == again for part, again in zip(parts, stacked, strict=True)] == [True] * 4


def test_rows_without_weights_have_the_weight_one():
    y, p, w = rows_of(200, 1)
    w[:100] = 1.0
    whole = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    first = ConfusionCounts.from_predictions(y[:100], p[:100])
    rest = ConfusionCounts.from_predictions(y[100:], p[100:], sample_weight=w[100:])
    for both in (first + rest, rest + first):
        assert both.effective_rows("mcc") == pytest.approx(whole.effective_rows("mcc"), rel=1e-11)
    tiny = ConfusionCounts.from_predictions(y, p, sample_weight=w * 1e-300)
    nothing = ConfusionCounts(np.zeros((2, 2), dtype=int))
    assert (nothing + tiny).effective_rows("f1") == pytest.approx(whole.effective_rows("f1"))


def test_pickle_dict_and_json(global_random_seed):
    y, p, w = rows_of(120, global_random_seed)
    plain = ConfusionCounts.from_predictions(y, p)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    folds = ConfusionCounts.stack(chunks_of(y, p, w))
    for one in (plain, counts, folds):
        for again in (
            pickle.loads(pickle.dumps(one)),
            ConfusionCounts.from_dict(one.to_dict()),
            ConfusionCounts.from_dict(json.loads(json.dumps(one.to_dict()))),
        ):
            assert again == one
            assert again.weighted == one.weighted
            assert_allclose(again.effective_rows("f1"), one.effective_rows("f1"), rtol=0)
    assert counts != plain
    assert counts != ConfusionCounts._make(counts.counts, counts.labels, counts.pos_label)
    with pytest.raises(InvalidParameterError, match=r"known must be what .*to_dict"):
        ConfusionCounts.from_dict({"counts": [[1, 2], [3, 4]]})
    broken = counts.to_dict()
    broken["weights"]["squares"] = [1.0, 2.0]
    with pytest.raises(InvalidParameterError, match=r"weights of known must be sums"):
        ConfusionCounts.from_dict(broken)


def test_what_cannot_be_stacked():
    for nothing in ([], [[[1, 2], [3, 4]]], 3):
        with pytest.raises(InvalidParameterError, match=r"parts must be ConfusionCounts"):
            ConfusionCounts.stack(nothing)
    table = [[1, 2], [3, 4]]
    with pytest.raises(InvalidParameterError, match=r"same labels"):
        ConfusionCounts.stack([ConfusionCounts(table), ConfusionCounts(table, labels=[5, 6])])


# --------------------------------------------------------------------------------------------------
# Where weighted counts go


def test_all_ways_lead_to_one_interval(global_random_seed):
    y, p, w = rows_of(200, global_random_seed)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    for metric in ("recall", "f1", "mcc"):
        expected = counts.posterior(metric).interval()
        assert credible_interval(y, p, metric=metric, sample_weight=w) == expected
        assert metric_posterior(y, p, metric=metric, sample_weight=w).interval() == expected
        row = table(counts.report([metric]))[counts.posterior(metric).metric]
        assert ends(row["score"]) == pytest.approx(expected, abs=1e-12)
        assert row["rows"] == pytest.approx(counts.effective_rows(metric))
    report = table(interval_report(y, p, sample_weight=w))
    for label in (0, 1):
        for metric in ("precision", "recall", "f1"):
            expected = counts.posterior(metric, pos_label=label).interval()
            assert ends(report[str(label)][metric]) == pytest.approx(expected, abs=1e-12)
        worth = counts.effective_rows("recall", pos_label=label)
        assert report[str(label)]["support"] == pytest.approx(worth)


def test_a_rate_of_a_cell_is_the_recall_of_a_table(global_random_seed):
    y, p, w = rows_of(300, global_random_seed, classes=3)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    rows = counts.report().to_dict()["sections"]["confusion"]["rows"]
    for row in rows:
        i, j = int(row["true"]), int(row["predicted"])
        n = worth_by_rows(p == j, y == i, w)
        rate = np.average(p[y == i] == j, weights=w[y == i])
        if 1 < (p[y == i] == j).sum() < (y == i).sum() - 1:
            shapes = n * rate + 0.5, n * (1 - rate) + 0.5
            assert ends(row["rate"]) == pytest.approx(beta.ppf([0.025, 0.975], *shapes), rel=1e-8)


def test_several_metrics_together_have_the_smallest_size(global_random_seed):
    y, p, w = rows_of(300, global_random_seed)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    alone = counts.joint_posterior(["mcc"], random_state=0)["mcc"]
    # 20,000 draws: the standard error of their standard deviation is 0.5 %
    assert np.std(alone) == pytest.approx(counts.posterior("mcc").std(), rel=0.025)
    both = counts.joint_posterior(["mcc", "recall", "precision"], random_state=0)
    sizes = [counts._matrix_for([get_metric(m)], 1).sum() for m in ("mcc", "recall", "precision")]
    ratio = np.var(both["mcc"]) / np.var(alone)
    assert ratio == pytest.approx(sizes[0] / min(sizes), rel=0.08)


def test_binomial_intervals_and_the_bootstrap():
    y, p, w = rows_of(300, 2)
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    n, rate = counts.effective_rows("recall"), counts.score("recall")
    found = confidence_interval(counts, metric="recall", method="clopper_pearson")
    hits, misses = n * rate, n * (1 - rate)
    expected = beta.ppf(0.025, hits, misses + 1), beta.ppf(0.975, hits + 1, misses)
    assert found == pytest.approx(expected, rel=1e-8)
    # Cells that happen to be whole are no counts either.
    whole = ConfusionCounts.from_predictions(
        [0, 1] * 50, [0, 1] * 50, sample_weight=np.repeat([1, 3], 50)
    )
    assert whole.counts.tolist() == [[40, 0], [0, 40]]  # 200² / 500 = 80 of 100 rows
    for one in (counts, whole):
        with pytest.raises(ValueError, match="whole counts"):
            bootstrap_distribution(one, metric="accuracy")


def test_leaderboard_of_weighted_counts():
    models = {}
    for name, seed in (("a", 0), ("b", 1)):
        y, p, w = rows_of(300, seed)
        models[name] = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    board = leaderboard(models, metric="f1", random_state=0)
    frame = board.to_frame().set_index("model") if "model" in board.to_frame() else board.to_frame()
    for name, counts in models.items():
        expected = counts.posterior("f1").interval()
        assert (frame.loc[name, "low"], frame.loc[name, "high"]) == pytest.approx(expected)


def test_folds_have_the_size_of_their_sum(global_random_seed):
    y, p, w = rows_of(400, global_random_seed)
    folds = ConfusionCounts.stack(chunks_of(y, p, w, 5))
    whole = ConfusionCounts.from_predictions(y, p, sample_weight=w)
    for metric in ("accuracy", "recall", "f1", "precision"):
        found = fold_posterior(folds, metric, omega=1.0)
        n = whole.effective_rows(metric)
        assert float(found.a + found.b) == pytest.approx(n + 2, rel=1e-10)
        assert found.observed == pytest.approx(whole.score(metric), rel=1e-10)
    twice = ConfusionCounts.stack([*folds, *folds])
    found = fold_posterior(twice, "recall", omega=1.0, n_repeats=2)
    assert float(found.a + found.b) == pytest.approx(whole.effective_rows("recall") + 2, rel=1e-10)
    dirichlet = fold_posterior(folds, "recall", method="dirichlet", prior="auto")
    assert dirichlet.interval() == pytest.approx(whole.posterior("recall").interval(), rel=1e-10)
    result = CrossValPosterior.from_counts(folds, random_state=0)
    assert result.n == pytest.approx(whole.n)
    assert "training sets of 320 rows" in " ".join(str(result.report()).split())
    assert result.interval("recall") == pytest.approx(fold_posterior(folds, "recall").interval())


def test_batches_with_weights(global_random_seed):
    y, p, w = rows_of(400, global_random_seed)
    parts = [*chunks_of(y, p, w), ConfusionCounts.from_predictions(y, p)]
    for discount in (1.0, 0.9):
        watch = SequentialPosterior("recall", labels=[0, 1], discount=discount)
        found = [watch.update(part).posterior.interval() for part in parts]
        history = watch.history.columns
        assert_allclose(history["low"], [interval.low for interval in found], rtol=1e-10)
        assert_allclose(history["high"], [interval.high for interval in found], rtol=1e-10)
    whole = ConfusionCounts.from_predictions(y, p, sample_weight=w) + parts[-1]
    watch = SequentialPosterior("recall")
    for part in parts:
        watch.update(part)
    assert watch.posterior.interval() == pytest.approx(whole.posterior("recall").interval())


def test_warning_where_weighted_rows_are_few():
    y, p = np.array([0, 1] * 15), np.array([0, 1] * 12 + [1, 0] * 3)
    w = np.where(np.arange(30) < 2, 10.0, 1.0)
    with pytest.warns(SmallSampleWarning, match=r"worth only \d\.\d rows to recall, .* than 10"):
        credible_interval(y, p, metric="recall", sample_weight=w)
    report = interval_report(y, p, sample_weight=w)
    assert "worth only" in str(report)
    parts = [ConfusionCounts.from_predictions(y, p, sample_weight=w)]
    with pytest.warns(SmallSampleWarning, match=r"worth only"):
        fold_posterior(ConfusionCounts.stack(parts * 2), "recall", n_repeats=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        credible_interval(y[:8], p[:8], metric="accuracy", sample_weight=np.full(8, 2.0))
        y, p, w = rows_of(300, 0)
        credible_interval(y, p, metric="accuracy", sample_weight=w)


# --------------------------------------------------------------------------------------------------
# Coverage


@pytest.mark.parametrize(
    ("n", "accuracy", "slope", "kish_below"),
    [(300, 0.92, 1.0, 0.9), (200, 0.8, 1.0, 0.92), (200, 0.8, -1.0, 1.0)],
)
def test_coverage(n, accuracy, slope, kish_below, global_random_seed):
    """Accuracy, recall and F1 where weights go with errors; benchmarks/weights_coverage.py."""
    rng = np.random.default_rng(global_random_seed)
    runs, sigma = 1000, 1.0
    z = rng.normal(size=(runs, n))
    # The weighted error rate is the rate under N(sigma, 1): solve for the constant.
    nodes, mass = np.polynomial.hermite_e.hermegauss(60)
    grid = np.linspace(-12, 5, 4001)
    rates = (expit(grid[:, None] + slope * (nodes + sigma)) * mass).sum(axis=1) / mass.sum()
    wrong = rng.random((runs, n)) < expit(np.interp(1 - accuracy, rates, grid) + slope * z)
    positive = rng.random((runs, n)) < 0.4
    w = np.exp(sigma * z)
    cell = 2 * positive + (positive ^ wrong)
    sums = [np.stack([(w**k * (cell == c)).sum(axis=1) for c in range(4)], 1) for k in (1, 2, 3, 0)]
    weights = RowWeights(*(part.reshape(runs, 2, 2) for part in sums))
    j = 0.4 * accuracy / (0.4 * accuracy + 1 - accuracy)
    truths = {"accuracy": accuracy, "recall": accuracy, "f1": 2 * j / (1 + j)}
    for metric, truth in truths.items():
        inside = []
        for cells in (weights, weights.counts):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SmallSampleWarning)
                low, high = ConfusionCounts._make(cells, (0, 1), 1).posterior(metric).interval()
            inside.append(((low <= truth) & (truth <= high)).mean())
        # 93 % at least and 99.5 % at most, with four standard errors of 1000 runs
        assert 0.93 - 4 * math.sqrt(0.93 * 0.07 / runs) < inside[0] <= 0.995
        assert inside[1] < kish_below or metric != "accuracy"
