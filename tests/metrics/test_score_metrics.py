"""Metrics of scores and probabilities on one test set."""

from functools import partial

import numpy as np
import pytest
import sklearn.metrics as sk
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts, credible_interval
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    InvalidParameterError,
    SmallSampleWarning,
)
from skuncertain.metrics import (
    auc_posterior,
    calibration_band,
    get_metric,
    get_metric_names,
    make_metric,
    metric_posterior,
    net_benefit_curve,
)
from skuncertain.metrics._scores.posterior import third_moment
from skuncertain.metrics._scores.row_scores import RowScores
from skuncertain.posteriors._shifted_gamma import ShiftedGammaPosterior

BRIER_OF_MANY = hasattr(sk, "d2_brier_score")  # scikit-learn 1.7 and later


def rows_of(seed, n=120, n_classes=2, spread=1.5):
    """Labels and probabilities that know something about them, with ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    odds = rng.normal(size=(n, n_classes)) + spread * np.eye(n_classes)[y]
    p = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    return y, np.round(p, 3) / np.round(p, 3).sum(axis=1, keepdims=True)


def brier_of_many(y, p):
    return np.square(p - np.eye(p.shape[1])[y]).sum(axis=1).mean()


# --------------------------------------------------------------------------------------------------
# Values and influences


TWO = {
    "roc_auc": lambda y, p, w: sk.roc_auc_score(y, p, sample_weight=w),
    "roc_auc_ovo": lambda y, p, w: sk.roc_auc_score(y, p, sample_weight=w),
    "average_precision": lambda y, p, w: sk.average_precision_score(y, p, sample_weight=w),
    "log_loss": lambda y, p, w: sk.log_loss(y, p, sample_weight=w),
    "brier_score": lambda y, p, w: sk.brier_score_loss(y, p, sample_weight=w),
    "d2_log_loss_score": lambda y, p, w: sk.d2_log_loss_score(y, p, sample_weight=w),
    "top_1_accuracy": lambda y, p, w: sk.top_k_accuracy_score(y, p, k=1, sample_weight=w),
}
THREE = {
    "roc_auc_ovr": lambda y, p, w: sk.roc_auc_score(y, p, multi_class="ovr", sample_weight=w),
    "average_precision": lambda y, p, w: sk.average_precision_score(y, p, sample_weight=w),
    "log_loss": lambda y, p, w: sk.log_loss(y, p, sample_weight=w),
    "d2_log_loss_score": lambda y, p, w: sk.d2_log_loss_score(y, p, sample_weight=w),
    "top_k_accuracy": lambda y, p, w: sk.top_k_accuracy_score(y, p, sample_weight=w),
}


def check_influences(name, function, y, p, given):
    """Derivatives with respect to the weight of a row, scaled for an unbiased variance."""
    metric = get_metric(name)
    rows = RowScores.of(y, given, metric)
    found = metric.estimate(rows)
    assert_allclose(found.value, function(y, given, None), rtol=1e-12)
    step, n = 1e-6, y.size
    slopes = np.empty(n)
    for i in range(n):
        up, down = np.ones(n), np.ones(n)
        up[i], down[i] = 1 + step, 1 - step
        slopes[i] = (function(y, given, up) - function(y, given, down)) / (2 * step)
    if metric.family in ("mean", "share", "skill"):
        assert_allclose(found.influence, slopes * np.sqrt(n / (n - 1)), atol=1e-7)
        return
    if p.shape[1] > 2:  # averages of rankings have the averaged influences of two classes
        return
    # Rankings estimate the variance within every class without bias.
    for c in range(p.shape[1]):
        mine = y == c
        m = mine.sum()
        expected = slopes[mine] - slopes[mine].mean()
        own = found.influence[mine] - found.influence[mine].mean()
        assert_allclose(own, expected * np.sqrt(m / (m - 1)), atol=1e-7)


@pytest.mark.parametrize("name", TWO)
def test_two_classes_agree_with_weighted_scores_of_scikit_learn(name, global_random_seed):
    y, p = rows_of(global_random_seed, n=60)
    check_influences(name, TWO[name], y, p, p[:, 1])


@pytest.mark.parametrize("name", THREE)
def test_three_classes_agree_with_weighted_scores_of_scikit_learn(name, global_random_seed):
    y, p = rows_of(global_random_seed, n=60, n_classes=3)
    check_influences(name, THREE[name], y, p, p)


def test_values_of_averages_and_squared_errors(global_random_seed):
    y, p = rows_of(global_random_seed, n_classes=4)
    for how in ("ovr", "ovo"):
        for average, ending in (("macro", ""), ("weighted", "_weighted")):
            expected = sk.roc_auc_score(y, p, multi_class=how, average=average)
            assert_allclose(get_metric(f"roc_auc_{how}{ending}")(y, p), expected, rtol=1e-12)
    assert_allclose(get_metric("brier")(y, p), brier_of_many(y, p), rtol=1e-12)
    share = np.bincount(y) / y.size
    expected = 1 - brier_of_many(y, p) / (1 - np.square(share).sum())
    assert_allclose(get_metric("d2_brier_score")(y, p), expected, rtol=1e-12)
    if BRIER_OF_MANY:
        assert_allclose(get_metric("d2_brier_score")(y, p), sk.d2_brier_score(y, p), rtol=1e-12)


@pytest.mark.slow
def test_one_vs_one_varies_as_much_as_over_samples(global_random_seed):
    values, variances = [], []
    for seed in range(400):
        y, p = rows_of(1000 * global_random_seed + seed, n=150, n_classes=3)
        found = get_metric("roc_auc_ovo").estimate(RowScores.of(y, p, get_metric("roc_auc_ovo")))
        values.append(found.value)
        variances.append(found.variance)
    # The variance of 400 values has a relative error of about 7 %.
    assert_allclose(np.mean(variances), np.var(values, ddof=1), rtol=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["precision_at_40", "recall_at_40"])
def test_at_k_varies_as_much_as_over_samples(name, global_random_seed):
    metric, values, variances = get_metric(name), [], []
    for seed in range(600):
        y, p = rows_of(1000 * global_random_seed + seed, n=300, spread=2.0)
        found = metric.estimate(RowScores.of(y, p[:, 1], metric))
        values.append(found.value)
        variances.append(found.variance)
    assert_allclose(np.mean(variances), np.var(values, ddof=1), rtol=0.25)


def test_at_k_counts_the_rows_with_the_highest_scores():
    y, score = [1, 0, 1, 1, 0, 0], [9, 8, 7, 3, 2, 1]
    assert get_metric("precision_at_3")(y, score) == pytest.approx(2 / 3)
    assert get_metric("recall_at_2")(y, score) == pytest.approx(1 / 3)
    assert get_metric("precision_at_k", k=6)(y, score) == 0.5


@pytest.mark.parametrize(("k", "hits"), [(1, 1), (2, 1 + 2 / 3), (3, 1 + 4 / 3), (4, 3), (5, 3)])
def test_rows_that_are_tied_with_the_last_place_share_it(k, hits):
    y, score = np.array([1, 0, 1, 1, 0, 0]), np.array([9, 7, 7, 7, 2, 1])
    for order in ([0, 1, 2, 3, 4, 5], [3, 5, 2, 1, 4, 0], [1, 0, 3, 2, 5, 4]):
        found = get_metric(f"precision_at_{k}")(y[order], score[order])
        assert found == pytest.approx(hits / k)
        assert get_metric(f"recall_at_{k}")(y[order], score[order]) == pytest.approx(hits / 3)


@pytest.mark.parametrize("name", ["precision_at_40", "recall_at_40"])
def test_at_k_with_ties_varies_as_much_as_over_samples(name, global_random_seed):
    metric, values, variances = get_metric(name), [], []
    for seed in range(600):
        y, p = rows_of(1000 * global_random_seed + seed, n=300, spread=2.0)
        found = metric.estimate(RowScores.of(y, np.round(3 * p[:, 1]), metric))
        values.append(found.value)
        variances.append(found.variance)
    assert_allclose(np.mean(variances), np.var(values, ddof=1), rtol=0.25)


# --------------------------------------------------------------------------------------------------
# Posteriors


def test_a_share_is_a_proportion(global_random_seed):
    y, p = rows_of(global_random_seed, n_classes=3)
    hits = round(sk.top_k_accuracy_score(y, p, k=1) * y.size)
    counts = ConfusionCounts.from_binary(tp=hits, fn=y.size - hits, fp=0, tn=0)
    assert credible_interval(y, p, metric="top_1_accuracy") == counts.posterior("recall").interval()


@pytest.mark.parametrize("skewness", [-3.0, -0.4, -1e-3, 0.0, 1e-3, 0.7, 2.5])
def test_shifted_gamma_is_pearsons_third_type(skewness):
    mean, std = 0.7, 0.2
    found = ShiftedGammaPosterior(mean, std**2, skewness * std**3)
    exact = stats.pearson3(skewness, loc=mean, scale=std)
    q = np.array([1e-4, 0.025, 0.5, 0.9, 0.999])
    assert_allclose(found.quantile(q), exact.ppf(q), rtol=1e-9)
    x = exact.ppf(q)
    assert_allclose(found.cdf(x), q, rtol=1e-8)
    assert_allclose(found.pdf(x), exact.pdf(x), rtol=1e-6)
    assert_allclose([found.mean(), found.std()], [mean, std], rtol=1e-12)
    draws = found.sample(200_000, random_state=0)
    assert_allclose(draws.mean(), mean, atol=4 * std / np.sqrt(2e5))
    about = found.with_about(range=(-np.inf, np.inf))
    low, high = about.interval(0.9, "hdi")
    assert_allclose(about.prob(low, high), 0.9, rtol=1e-6)
    if abs(skewness) < 2:  # otherwise the density has a pole at its end
        assert_allclose(about.pdf(low), about.pdf(high), rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["light", "heavy"])
@pytest.mark.parametrize("n", [100, 400])
def test_three_moments_are_close_to_the_bayesian_bootstrap(kind, n, global_random_seed):
    """Quantiles against gamma-weighted draws, closer than the normal's."""
    rng = np.random.default_rng(global_random_seed)
    losses = rng.gamma(2.0, 0.3, n) if kind == "light" else rng.lognormal(0, 1.2, n)
    draws = np.empty(200_000)
    for part in np.split(np.arange(draws.size), 20):
        weight = rng.standard_gamma(1.0, (part.size, n))
        draws[part] = weight @ losses / weight.sum(axis=1)
    metric = make_metric(
        row_loss=lambda y, loss: loss, needs="scores", range=(0, 1e6), greater_is_better=False
    )
    found = metric_posterior([0, 1] * (n // 2), losses, metric=metric)
    q = [0.025, 0.975]
    error = np.abs(found.quantile(q) - np.quantile(draws, q)) / draws.std()
    normal = np.abs(stats.norm(losses.mean(), draws.std()).ppf(q) - np.quantile(draws, q))
    limit = 0.05 if kind == "light" else 0.15
    noise = 3 * 2.7 / np.sqrt(draws.size)  # of a quantile of the draws
    assert np.all(error < limit + noise)
    assert np.mean(error) < np.mean(normal / draws.std()) + noise


def test_moments_are_those_of_weighted_rows(global_random_seed):
    """A Bayesian bootstrap whose variance is estimated without bias: n - 1 for n + 1 weights."""
    losses = np.random.default_rng(global_random_seed).exponential(size=50)
    n, second = 50, losses.var()
    third = np.mean((losses - losses.mean()) ** 3)
    variance = second / (n - 1)
    assert_allclose(
        third_moment(variance, third / n**2, n, variance), 2 * third / ((n - 1) * n), rtol=1e-12
    )


def test_losses_without_a_limit_have_the_tails_of_their_skewness(global_random_seed):
    """The variance grows by Student's quantile with 2 n / (3 g^2) degrees of freedom."""
    losses = np.random.default_rng(global_random_seed).exponential(size=400)
    known = {"row_loss": lambda y, loss: loss, "needs": "scores", "greater_is_better": False}
    found = [
        metric_posterior([0, 1] * 200, losses, metric=make_metric(**known, range=(0, high)))
        for high in (np.inf, 1e6)
    ]
    df = 2 * 400 / (3 * stats.skew(losses) ** 2)
    ratio = stats.t(df).ppf(0.975) / stats.norm.ppf(0.975)
    assert_allclose(found[0].std() / found[1].std(), ratio, rtol=1e-6)
    heavy = np.r_[np.full(99, 0.1), 30.0]
    with pytest.warns(SmallSampleWarning, match="a few rows with large losses"):
        metric_posterior([0, 1] * 50, heavy, metric=make_metric(**known, range=(0, np.inf)))


def test_negative_scores_are_mirrored(global_random_seed):
    y, p = rows_of(global_random_seed)
    for name, given in (("log_loss", p), ("brier_score", p[:, 1])):
        loss, negative = (metric_posterior(y, given, metric=m) for m in (name, f"neg_{name}"))
        assert negative.observed == -loss.observed
        low, high = loss.interval()
        assert_allclose(negative.interval(), (-high, -low), rtol=1e-12)
        assert_allclose(negative.cdf(-low), 1 - loss.cdf(low), rtol=1e-12)
        assert_allclose(negative.quantile(0.2), -loss.quantile(0.8), rtol=1e-12)
    labels = (p[:, 1] > 0.5).astype(int)
    low, high = credible_interval(y, labels, metric="negative_likelihood_ratio")
    found = credible_interval(y, labels, metric="neg_negative_likelihood_ratio")
    assert_allclose(found, (-high, -low), rtol=1e-12)
    counts = ConfusionCounts.from_predictions(y, labels)
    expected = -sk.class_likelihood_ratios(y, labels)[1]
    assert_allclose(counts.score("neg_negative_likelihood_ratio"), expected, rtol=1e-12)


def test_intervals_stay_in_the_range():
    y, p = [0, 1] * 20, [0.0, 1.0] * 19 + [0.0, 0.2]
    low, high = credible_interval(y, p, metric="brier_score")
    assert low == 0.0 < high < 1
    assert credible_interval(y, p, metric="d2_brier_score").high == 1.0
    many = np.eye(3)[[0, 1, 2] * 10]
    with pytest.warns(DegenerateIntervalWarning, match="no width"):
        assert credible_interval([0, 1, 2] * 10, many, metric="brier_score") == (0.0, 0.0)


@pytest.mark.parametrize("n", [3, 29])
def test_few_rows_are_told(n):
    y = [0, 1] * 15
    with pytest.warns(SmallSampleWarning, match="so few may hold none"):
        credible_interval(y[:n], np.linspace(0.1, 0.8, n), metric="log_loss")
    with pytest.warns(SmallSampleWarning, match="so few may hold none"):
        credible_interval(y[:n], np.linspace(0.1, 0.8, n), metric="d2_brier_score")


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "d2_log_loss_score", "d2_brier_score"])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, np.float32(0.7)])
def test_rows_that_differ_by_rounding_have_no_spread(name, p):
    y = np.repeat([0, 1], 30)
    with pytest.warns(DegenerateIntervalWarning, match="no width"):
        low, high = credible_interval(y, np.where(y == 1, p, 1 - p), metric=name)
    assert low == high


def test_as_many_places_as_classes_are_told():
    with pytest.warns(UndefinedMetricWarning, match="top_3_accuracy is 1 .* 3 classes"):
        credible_interval([0, 1, 2] * 20, np.eye(3)[[0, 1, 1] * 20], metric="top_3_accuracy")


def test_losses_of_a_user(global_random_seed):
    y, p = rows_of(global_random_seed, n_classes=3)

    def spherical(y_true, probability):
        own = probability[np.arange(y_true.size), y_true]
        return -own / np.linalg.norm(probability, axis=1)

    metric = make_metric(row_loss=spherical, range=(-1, 0))
    assert metric.greater_is_better is False
    assert make_metric(row_loss=spherical, greater_is_better=True).greater_is_better is True
    with pytest.raises(InvalidParameterError, match="greater_is_better"):
        make_metric(row_loss=spherical, greater_is_better="less")
    assert (metric.name, metric.needs) == ("spherical", "probabilities")
    losses = spherical(y, p)
    assert_allclose(metric(y, p), losses.mean(), rtol=1e-12)
    posterior = metric_posterior(y, p, metric=metric)
    assert_allclose(posterior.std(), losses.std(ddof=1) / np.sqrt(y.size), rtol=1e-12)
    labels = make_metric(row_loss=lambda a, b: np.abs(a - b), needs="labels", name="distance")
    assert labels(y, (y + 1) % 3) == np.abs(y - (y + 1) % 3).mean()


# --------------------------------------------------------------------------------------------------
# Labels and columns


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("a", "b")])
def test_one_column_speaks_for_the_last_label(labels, global_random_seed):
    codes, p = rows_of(global_random_seed)
    y = np.array(labels)[codes]
    for name in ("roc_auc", "log_loss", "brier_score", "d2_log_loss_score"):
        expected = get_metric(name)(codes, p[:, 1])
        assert_allclose(get_metric(name)(y, p), expected, rtol=1e-12)
        assert get_metric(name)(y, p[:, 1]) == expected
        other = get_metric(name)(y, p[:, 0], pos_label=labels[0])
        assert_allclose(other, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "log_loss", "d2_brier_score"])
def test_one_column_is_of_the_class_that_an_order_makes_positive(name, global_random_seed):
    pd = pytest.importorskip("pandas")
    codes, p = rows_of(global_random_seed)
    expected = get_metric(name)(codes, p[:, 1])
    ordered = pd.Categorical(np.array(["good", "bad"])[codes], ["good", "bad"], ordered=True)
    assert_allclose(get_metric(name)(ordered, p[:, 1]), expected, rtol=1e-12)
    assert_allclose(get_metric(name)(ordered, p[:, 1], pos_label="bad"), expected, rtol=1e-12)
    assert_allclose(get_metric(name)(codes, p[:, 1], labels=[1, 0]), expected, rtol=1e-12)
    assert_allclose(get_metric(name)(codes, p[:, ::-1], labels=[1, 0]), expected, rtol=1e-12)


def test_average_precision_asks_for_the_class_of_two_names(global_random_seed):
    codes, p = rows_of(global_random_seed)
    y = np.array(["no", "yes"])[codes]
    with pytest.raises(InvalidParameterError, match=r"'average_precision'.*'no', 'yes'|pos_label"):
        credible_interval(y, p[:, 1], metric="average_precision")
    expected = sk.average_precision_score(codes == 0, p[:, 0])
    for given in (p, p[:, 0]):
        found = metric_posterior(y, given, metric="average_precision", pos_label="no")
        assert (found.observed, found.pos_label) == (pytest.approx(expected, rel=1e-12), "no")


def test_one_class_of_three(global_random_seed):
    y, p = rows_of(global_random_seed, n_classes=3)
    expected = sk.roc_auc_score(y == 2, p[:, 2])
    for given in (p, p[:, 2]):
        found = metric_posterior(y, given, metric="roc_auc", pos_label=2)
        assert_allclose(found.observed, expected, rtol=1e-12)
        assert found.pos_label == 2
    with pytest.raises(InvalidParameterError, match="3 classes"):
        credible_interval(y, p[:, 2], metric="roc_auc")


def test_classes_that_do_not_occur_are_named(global_random_seed):
    y, p = rows_of(global_random_seed, n_classes=3)
    kept = y != 1
    with pytest.raises(InvalidParameterError, match="one column per class, 2, got 3"):
        credible_interval(y[kept], p[kept], metric="log_loss")
    found = get_metric("log_loss")(y[kept], p[kept], labels=[0, 1, 2])
    assert_allclose(found, sk.log_loss(y[kept], p[kept], labels=[0, 1, 2]), rtol=1e-12)
    with pytest.raises(InvalidParameterError, match=r"rows of every class, but has none of \[1\]"):
        credible_interval(y[kept], p[kept], metric="roc_auc_ovr", labels=[0, 1, 2])


# --------------------------------------------------------------------------------------------------
# Names


def test_names_of_the_literature():
    assert get_metric("AUC").name == get_metric("auroc").name == "roc_auc"
    assert get_metric("brier").name == get_metric("brier_score_loss").name == "brier_score"
    assert get_metric("AP").name == "average_precision"
    assert get_metric("Precision@10").name == "precision_at_10"
    assert get_metric("recall @ 5").name == "recall_at_5"
    assert get_metric("top_k_accuracy", k=5).name == "top_5_accuracy"
    assert "log_loss" in get_metric_names(needs="probabilities")
    assert "roc_auc" not in get_metric_names(needs="labels")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("f1_samples", "multilabel"),
        ("r2", "regression"),
        ("neg_mean_squared_error", "regression"),
        ("rand_score", "clusterings"),
        ("neg_f1", "more of 'f1' is better"),
        ("neg_log_los", "Did you mean 'neg_log_loss'"),
        (sk.log_loss, "pass its name"),
        (sk.roc_auc_score, "pass its name"),
    ],
)
def test_names_of_other_scores_are_refused_with_the_reason(name, reason):
    with pytest.raises(InvalidParameterError, match=reason):
        get_metric(name)


def test_counts_say_what_is_needed():
    with pytest.raises(InvalidParameterError, match="needs probabilities: no confusion matrix"):
        credible_interval(ConfusionCounts([[5, 1], [2, 6]]), metric="log_loss")
    with pytest.raises(InvalidParameterError, match="needs scores"):
        ConfusionCounts([[5, 1], [2, 6]]).posterior("roc_auc")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ([0.1, 0.2, 0.3, 1.4], r"probabilities in \[0, 1\], got 1.4 in row 3"),
        ([0.1, np.nan, 0.3, 0.4], "finite numbers, got NaN or infinity in row 1"),
        ([[0.1, 0.8]] * 4, "sum to 1 in every row, got a sum of 0.9 in row 0"),
        (["a", "b", "a", "b"], "probabilities that metric 'log_loss' needs"),
        ([0.1, 0.2], "same length, got 4 and 2"),
        ([[0.1, 0.2, 0.7]] * 4, "one column per class, 2, got 3"),
        ([0, 1, 1, 0], "zeros and ones of type int64: these look like labels"),
        ([False, True, True, False], "zeros and ones of type bool: these look like labels"),
        (np.array([0.1, None, 0.3, 0.4], dtype=object), "rectangular array of numbers"),
    ],
)
def test_bad_probabilities(given, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        credible_interval([0, 1, 0, 1], given, metric="log_loss")


def test_numbers_in_an_array_of_objects(global_random_seed):
    y, p = rows_of(global_random_seed)
    for name in ("log_loss", "roc_auc"):
        assert get_metric(name)(y, p.astype(object)) == get_metric(name)(y, p)


@pytest.mark.parametrize("ask", [credible_interval, auc_posterior, calibration_band])
def test_columns_of_a_frame_that_are_in_another_order_are_refused(ask, global_random_seed):
    pd = pytest.importorskip("pandas")
    codes, p = rows_of(global_random_seed)
    y = np.array(["a", "b"])[codes]
    frame = pd.DataFrame(p, columns=["a", "b"])
    about = {"metric": "log_loss"} if ask is credible_interval else {}
    about |= {"pos_label": "b"} if ask is calibration_band else {}
    ask(y, frame, **about)
    with pytest.raises(InvalidParameterError, match=r"in the order \['a', 'b'\].*\['b', 'a'\]"):
        ask(y, frame[["b", "a"]], **about)
    ask(y, frame[["b", "a"]], labels=["b", "a"], **about)


@pytest.mark.parametrize(
    "ask", [calibration_band, net_benefit_curve, partial(credible_interval, metric="brier_score")]
)
def test_every_door_allows_the_same_rounding_of_sums(ask, global_random_seed):
    y, p = rows_of(global_random_seed, n_classes=3)
    ask(y, p * 0.9995, pos_label=1)
    with pytest.raises(InvalidParameterError, match="sum"):
        ask(y, p * 0.99, pos_label=1)


def test_the_positive_class_of_a_cross_entropy_is_not_asked_for():
    assert "pos_label" not in repr(metric_posterior(["a", "b"] * 20, [0.2, 0.9] * 20, metric="auc"))
