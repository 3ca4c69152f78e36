"""What fuzzing has found: each of these once broke a promise of docs/robustness.rst."""

import io
import warnings

import numpy as np
import pytest
from scipy.special import logit, ndtr
from scipy.stats import betabinom, binom
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import (
    BetaPosterior,
    BinomialTruth,
    ConfusionCounts,
    DegenerateIntervalWarning,
    MultinomialTruth,
    SequentialPosterior,
    auc_posterior,
    bbc_score,
    compare,
    compare_cv,
    compare_datasets,
    compare_paired,
    comparison_sample_size,
    confidence_interval,
    coverage_study,
    credible_interval,
    fold_posterior,
    get_metric,
    get_metric_names,
    interval_report,
    leaderboard,
    make_bound_scorer,
    make_metric,
    metric_posterior,
    most_probable_best,
    proportion_posterior,
    roc_band,
    search_posterior,
    threshold_report,
)
from skuncertain._csv_counts import TableFileError
from skuncertain._search_files import read_search_results
from skuncertain._table_files import read_matrix, read_predictions

COUNTS = ConfusionCounts([[40, 6], [9, 45]])
Y, P = [0, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1]
FOLDS = [[[8, 2], [1, 9]], [[7, 3], [2, 8]], [[9, 1], [3, 7]]]
RAGGED = [[1, 2], [3]]
HUGE = 10**400
UNSHOWN = 10**5000  # Python writes no integer of more than 4300 digits
SPAN = np.timedelta64(3, "D")  # an integer, says numpy
MASKED = np.ma.array(Y, mask=[0, 1, 0, 0, 0, 0])


# --------------------------------------------------------------------------------------------------
# Numbers


@pytest.mark.parametrize("shape", [1e9, 1e11, 1e13, 1e15])
@pytest.mark.parametrize("z", [-2.5, -0.3, 0.0, 1.7])
def test_cdf_of_huge_counts(shape, z):
    # Equal shapes: logit X is symmetric, and normal up to 1/shape. betainc was off by 0.1 at 1e15.
    sd = np.sqrt(2 / shape)
    x = 0.5 + 0.25 * z * sd
    expected = ndtr(logit(x) / sd)
    assert BetaPosterior(shape, shape).cdf(x) == pytest.approx(expected, abs=3e-8)


def test_quantiles_and_cdf_of_huge_counts_agree():
    posterior = proportion_posterior([3 * 10**14, 10**11], [10**13, 4 * 10**12])
    for q in (0.001, 0.3, 0.975):
        assert posterior.cdf(posterior.quantile(q)) == pytest.approx([q, q], abs=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("prior", [1e-6, 1e-3, 0.02])
@pytest.mark.parametrize("model", ["dirichlet", "rows"])
def test_tiny_priors_leave_no_draw_undefined(prior, model, global_random_seed):
    # The recall of the class without rows is 0 or 1, and on average 1/3: not 0/0.
    cells = np.array([[8, 2, 0], [1, 9, 0], [0, 0, 0]])
    macro = make_metric(
        lambda p: (np.diagonal(p, 0, -2, -1) / p.sum(-1)).mean(-1), range=(0, 1), name="macro"
    )
    n = 4000
    posterior = ConfusionCounts(cells).posterior(
        macro, prior=prior, model=model, n_draws=n, random_state=global_random_seed
    )
    assert posterior.undefined == 0
    rows = cells + prior
    expected = np.mean(np.diag(rows) / rows.sum(axis=1))
    assert posterior.mean() == pytest.approx(expected, abs=5 * posterior.std() / np.sqrt(n))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("prior", [1e-6, 0.01])
@pytest.mark.parametrize("flipped", [False, True])
def test_one_class_holds_nearly_everything(prior, flipped, global_random_seed):
    # The rest was what a subtraction left: 0/0 in all draws, and in 16 % of them.
    cells = np.array([[0, 5, 0], [0, 4, 0], [0, 2, 0]])
    counts = ConfusionCounts(cells.T if flipped else cells)
    metric, n = "fpr_macro" if flipped else "false_omission_rate_macro", 4000
    posterior = counts.posterior(metric, prior=prior, n_draws=n, random_state=global_random_seed)
    assert posterior.undefined == 0
    # fn / (fn + tn) of one class is Beta(fn, tn), with the prior of two and of four cells
    misses, others = np.array([5, 0, 2]) + 2 * prior, np.array([6, 0, 9]) + 4 * prior
    expected = np.mean(misses / (misses + others))
    assert posterior.mean() == pytest.approx(expected, abs=5 * posterior.std() / np.sqrt(n))


@pytest.mark.parametrize("scale", [1, 1e-8, 1e-200])
def test_cells_of_all_classes_are_sums(scale, global_random_seed):
    # Against the sums of one class at a time, with one row and one column far above the others
    matrix = np.random.default_rng(global_random_seed).random((7, 2, 4, 4)) * scale
    matrix[..., 1, :] = 1.0
    for name in ("npv", "specificity", "markedness"):
        one = [get_metric(name).evaluate(matrix, positive=k) for k in range(4)]
        found = get_metric(f"{name}_macro").evaluate(matrix)
        np.testing.assert_allclose(found, np.mean(one, axis=0), rtol=1e-9, atol=1e-12)


def test_steep_integrals_are_refined(global_random_seed):
    # cdf(quantile(0.3)) was 0.302, and the density jumped between 240 and 440.
    counts = ConfusionCounts([[977637, 414412], [0, 0]])
    posterior = counts.posterior("kappa", prior="shared", prevalence=BetaPosterior(2, 4000))
    x = np.linspace(3e-4, 6e-4, 7)
    cdf = posterior.cdf(x)
    n = 200_000
    draws = posterior.sample(n, global_random_seed)
    if posterior.exact:
        assert posterior.cdf(posterior.quantile(0.3)) == pytest.approx(0.3, abs=1e-6)
    share = np.mean(draws[:, None] <= x, axis=0)
    assert np.all(np.abs(cdf - share) < 5 * np.sqrt(cdf * (1 - cdf) / n))


def test_quantiles_of_a_beta_next_to_one():
    # The error that the interpolation of the root finder told was too small by far.
    posterior = BetaPosterior(80646101.18854785, 0.0034706343914195983)
    x = posterior.quantile(0.025)
    ulp = posterior.cdf(np.nextafter(x, 1)) - posterior.cdf(x)
    assert posterior.cdf(x) == pytest.approx(0.025, abs=2 * ulp)


def test_ratios_of_nearly_empty_shapes_are_drawn():
    # P(recall / fpr > 1e50) = P(fpr < 1e-50), about (1e-50)**0.001 = 0.89; the integral said 0.
    posterior = ConfusionCounts([[2, 0], [0, 3]]).posterior(
        "lr+", prior=0.001, n_draws=4000, random_state=0
    )
    n, p = 4000, 1e-50**0.001
    assert 1 - posterior.cdf(1e50) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n) + 0.01)


def test_moments_of_f1_next_to_zero():
    # Beta(0.01, 6e14): the quadrature rule failed, and the mean was NaN. F1 is 2 X there.
    posterior = ConfusionCounts([[7621910466772, 0], [634040278236365, 0]]).posterior(
        "f1", prior=0.01
    )
    a, b = 0.01, 634040278236365 + 0.02
    assert posterior.mean() == pytest.approx(2 * a / (a + b), rel=1e-9)
    assert posterior.std() == pytest.approx(2 * np.sqrt(a * b / (a + b + 1)) / (a + b), rel=1e-9)


def test_difference_of_posteriors_that_fill_little_of_their_range(global_random_seed):
    # "The number of derivatives at boundaries does not match", from a spline
    a, b = ConfusionCounts([[34, 0], [221, 0]]), ConfusionCounts([[406702, 0], [21036, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = compare(a, b, metric="mcc")
        one, two = (
            x.posterior("mcc").sample(100_000, global_random_seed + k) for k, x in enumerate((a, b))
        )
    share = np.mean(two > one)
    assert result.p_better == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 100_000))


def test_predictions_from_huge_counts():
    # Differences of log beta functions of 1e15: the cdf was 5. The share is as good as known.
    rate = 0.25
    counts = ConfusionCounts.from_binary(tp=10**15, fn=3 * 10**15, fp=0, tn=0)
    ahead = counts.posterior("accuracy", prior=0.5).predictive(5)
    np.testing.assert_allclose(
        ahead.cdf([0.0, 0.2, 0.4, 0.6, 0.8]), binom.cdf(range(5), 5, rate), rtol=1e-12
    )
    counts = ConfusionCounts.from_binary(tp=7, fn=2, fp=0, tn=0)
    few = counts.posterior("accuracy", prior=0.5).predictive(400)
    shares, (a, b) = np.arange(401) / 400, (7 + 1, 2 + 1)
    np.testing.assert_allclose(few.pdf(shares), betabinom.pmf(range(401), 400, a, b), rtol=1e-9)


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_bootstrap_of_folds_with_infinite_odds(kind):
    folds = [[[240, 0], [0, 242]], [[3, 0], [0, 3]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        posterior = fold_posterior(folds, "dor", method="bootstrap", n_draws=300, random_state=1)
        assert posterior.interval(0.5, kind) == (np.inf, np.inf)  # all draws are


def test_prior_of_nothing_beside_counts_of_1e15():
    # Integrals over Beta(1e-6, 1e15) were NaN.
    counts = ConfusionCounts([[0, 65780532382143], [0, 1073447260645807]])
    found = counts.informative(prior=1e-6)
    assert sum((found.p_informative, found.p_uninformative, found.p_deceptive)) == 1


def test_sums_with_a_term_that_is_known_well(global_random_seed):
    # An ordinary matrix of three classes: "Array must not contain infs or nans", from a spline.
    cells = np.array([[4200, 19500, 0], [1, 1, 0], [1, 1, 1]])
    posterior = ConfusionCounts(cells).posterior(
        "balanced_accuracy", prior=1.0, random_state=global_random_seed
    )
    rng, n = np.random.default_rng(global_random_seed), 100_000
    shapes = cells + 1.0
    hits, total = np.diag(shapes), shapes.sum(axis=1)
    draws = rng.beta(hits, total - hits, size=(n, 3)).mean(axis=1)
    for q in (0.025, 0.5, 0.975):
        at = posterior.quantile(q)
        error = 5 * np.sqrt(q * (1 - q) * (1 / n + (0 if posterior.exact else 1 / 20_000)))
        assert np.mean(draws <= at) == pytest.approx(q, abs=error)


def test_folds_that_agree_have_no_spread():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        posterior = fold_posterior([0.9, 0.9, 0.9], method="t")
        assert posterior.std() == 0
        assert fold_posterior([0.9, 0.9], method="t").mean() == 0.9


def test_tied_scores_warn_that_there_is_no_width():
    with pytest.warns(DegenerateIntervalWarning, match="variance of 0"):
        low, high = auc_posterior([0, 1, 0, 1], [3.0, 3.0, 3.0, 3.0]).interval()
    assert low == high == 0.5


def test_a_stack_warns_once():
    y, score = [0, 1, 2, 0, 1, 2], np.zeros((6, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        auc_posterior(y, score, average=None).interval()
    assert len(caught) == 1


def test_bca_of_odds_ratios_that_can_be_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        interval = confidence_interval(
            ConfusionCounts([[9, 1], [2, 8]]), "dor", method="bca", n_resamples=200, random_state=0
        )
    assert interval.low < 36 < interval.high


def test_correlation_with_a_metric_that_does_not_vary():
    constant = make_metric(lambda p: np.zeros(p.shape[:-2]), name="constant")
    joint = COUNTS.joint_posterior(["f1", constant, "recall"], n_draws=100, random_state=0)
    with pytest.warns(UndefinedMetricWarning, match="correlation"):
        found = joint.correlation()
    assert np.isnan(found[1]).all()
    assert found[0, 2] == pytest.approx(np.corrcoef(joint["f1"], joint["recall"])[0, 1])


def test_predictive_without_counts_and_prior_is_undefined():
    empty = ConfusionCounts([[0, 0], [0, 0]])
    draws = empty.joint_posterior(["f1"], n=5, prior="haldane", n_draws=20, random_state=0).draws
    assert np.isnan(draws).all()


# --------------------------------------------------------------------------------------------------
# Messages


class NoText:
    def __repr__(self):
        raise RuntimeError


REFUSED = [
    (lambda: get_metric_names(n_classes=[1, 2]), "n_classes"),
    (lambda: credible_interval(Y, P, level=np.full((9, 9), 0.5)), "level"),
    (lambda: credible_interval(Y, P, labels=RAGGED), "labels"),
    (lambda: credible_interval(Y, P, labels=3.5), "labels"),
    (lambda: credible_interval(Y, P, pos_label=np.zeros(3)), "pos_label"),
    (lambda: credible_interval(Y, P, pos_label=float("nan")), "pos_label"),
    (lambda: credible_interval(Y, P, sample_weight={"a": None}), "sample_weight"),
    (lambda: credible_interval(Y, P, groups=np.zeros((2, 2))), "groups"),
    (lambda: credible_interval([0, [1], 1, 0, 1, 1], P), "y_true"),
    (lambda: credible_interval(np.array(Y) * 1e300, P), "y_true"),
    (lambda: credible_interval(np.array(Y) * 1j, P), "y_true"),
    (lambda: metric_posterior(Y, P, metric="x" * 5000), "metric"),
    (lambda: metric_posterior(Y, P, metric=lambda: 1), "metric"),
    (lambda: metric_posterior(Y, P, prior=RAGGED), "prior"),
    (lambda: proportion_posterior(3, 4, prior=1e308), "prior"),
    (lambda: BetaPosterior("a", 1), "shape a"),
    (lambda: BetaPosterior(1, HUGE), "shape b"),
    (lambda: BetaPosterior([1, 2], [1, 2, 3]), "shapes a and b"),
    (lambda: BetaPosterior(1, 2, odds=-HUGE), "odds"),
    (lambda: COUNTS.posterior("f1").quantile(RAGGED), "q"),
    (lambda: COUNTS.posterior("f1").cdf("x"), "x"),
    (lambda: COUNTS.posterior("f1").pdf(1j), "x"),
    (lambda: COUNTS.posterior("f1").prob(-HUGE, 1), "low"),
    (lambda: COUNTS.posterior("f1").prob([0, 0], [1, 1, 1]), "low and high"),
    (lambda: ConfusionCounts(FOLDS).posterior("f1").cdf([0.1, 0.2]), "x"),
    (lambda: COUNTS.posterior("f1").predictive(10**30), "n"),
    (lambda: COUNTS.joint_posterior(5), "metrics"),
    (lambda: COUNTS.score("f1", zero_division=HUGE), "zero_division"),
    (lambda: ConfusionCounts(FOLDS).sum(0.5), "axis"),
    (lambda: ConfusionCounts.from_binary(tp=b"3", fn=1, fp=1, tn=1), "tp"),
    (lambda: ConfusionCounts.from_binary(tp=[1, 2], fn=[1, 2, 3], fp=1, tn=1), "cells"),
    (lambda: get_metric("f1")([["a", 1], [2, 3]]), "matrix"),
    (lambda: get_metric("f1")([[1, 1], [2, 3]], positive=1.5), "positive"),
    (lambda: get_metric("f1")([[1, 1], [2, 3]], positive=-1), "positive"),
    (lambda: get_metric("expected_cost", cost=RAGGED), "cost"),
    (lambda: get_metric("kappa", weights=np.zeros(2)), "weights"),
    (lambda: make_metric(len, range=(1, "a")), "range"),
    (lambda: make_metric(len, name=5), "name"),
    (lambda: make_metric(len, greater_is_better="yes"), "greater_is_better"),
    (lambda: fold_posterior(FOLDS, "f1", estimand=np.zeros(2)), "estimand"),
    (lambda: fold_posterior(FOLDS, "f1", rho=RAGGED), "rho"),
    (lambda: fold_posterior(RAGGED, method="t"), "counts"),
    (lambda: fold_posterior([0.1, 0.2], method="nadeau_bengio", n_train=RAGGED, n_test=1), "n_tr"),
    (lambda: compare(COUNTS, COUNTS, metric="f1", rope=np.zeros(2)), "rope"),
    (lambda: compare_cv([0.1, 0.2], [0.1, 0.2], names=np.zeros((9, 9))), "names"),
    (lambda: compare_cv([0.1, 0.2], [0.1, [0.2]]), "a and b"),
    (lambda: compare_datasets([0.1, 0.2], [0.1, 0.2], n_repeats=np.zeros(2)), "n_repeats"),
    (lambda: compare_paired(Y, P, Y, metric="f1", n_draws=10**30), "n_draws"),
    (lambda: comparison_sample_size(difference=5e-324, disagreement=0.5), "rows"),
    (lambda: confidence_interval(COUNTS, stratified=np.zeros(2)), "stratified"),
    (lambda: coverage_study(["wilson"], BinomialTruth(0.5), n=RAGGED), "n"),
    (
        lambda: coverage_study(["wilson"], BinomialTruth(0.5), n=9, n_replications=10**30),
        "n_replications",
    ),
    (lambda: coverage_study(5, BinomialTruth(0.5), n=9), "methods"),
    (lambda: MultinomialTruth([[0.5, [0.1]], [0.2, 0.2]]), "matrix"),
    (lambda: leaderboard(5, metric="f1"), "results"),
    (lambda: leaderboard([COUNTS, COUNTS], metric="f1").expected_prize(["a"]), "prizes"),
    (lambda: interval_report(COUNTS, target_names=5), "target_names"),
    (lambda: interval_report(COUNTS).to_json(indent=RAGGED), "indent"),
    (lambda: bbc_score(Y, lambda: 1), "predictions"),
    (lambda: COUNTS.posterior("f1").sample(10**30), "size"),
    (lambda: make_bound_scorer("f1", prior=RAGGED), "prior"),
    (lambda: compare_cv([0.1, 0.2], [0.1, 0.3], rope=1e308), "rope"),
    (lambda: compare_cv([0.1, 0.2], [0.1, 0.3], n_train=RAGGED, n_test=1), "n_train"),
    (lambda: ConfusionCounts.from_predictions([0], [1], labels=[0, NoText()]), "y_pred"),
    (
        lambda: search_posterior(
            {"split0_test_score": [0.1, 0.2], "split1_test_score": [0.1, 0.2], "params": len}
        ),
        "params",
    ),
    (lambda: bbc_score([0], [[0], [1]], labels=[0, 1]), "y_true"),
    (lambda: roc_band(Y, [0.1, 0.9, 0.3, 0.2, 0.8, 0.7]).at("x"), "fpr"),
    (lambda: threshold_report(Y, [0, 1, 0, 0, 1, 1], [0.5]).operating_point([1, 2]), "threshold"),
    (lambda: make_bound_scorer("f1", pos_label=np.zeros(2)), "pos_label"),
    (lambda: most_probable_best("score", test_train_ratio="x"), "test_train_ratio"),
    (lambda: SequentialPosterior("f1").update(RAGGED, [0, 1]), "y_true"),
    (lambda: credible_interval(Y, P, level=UNSHOWN), "level"),
    (lambda: credible_interval(Y, P, level=SPAN), "level"),
    (lambda: credible_interval(Y, P, level=1 - 2**-53), "level"),
    (lambda: credible_interval(Y, P, prior=SPAN), "prior"),
    (lambda: credible_interval(Y, P, kind=UNSHOWN), "kind"),
    (lambda: credible_interval(Y, P, pos_label=UNSHOWN), "pos_label"),
    (lambda: credible_interval(Y, P, pos_label=memoryview(bytearray(2))), "pos_label"),
    (lambda: credible_interval(Y, P, random_state=SPAN), "random_state"),
    (lambda: credible_interval(Y, P, random_state=UNSHOWN), "random_state"),
    (lambda: credible_interval(Y, P, labels={0, 1}), "labels.*set"),
    (lambda: credible_interval(Y, P, labels=b"ab"), "labels"),
    (lambda: credible_interval(Y, P, labels=["x" * 5000] * 2), "labels must be distinct"),
    (lambda: credible_interval(MASKED, P), "y_true.*masked"),
    (lambda: credible_interval(Y, MASKED), "y_pred.*masked"),
    (lambda: credible_interval(Y, P, sample_weight=MASKED), "sample_weight.*masked"),
    (lambda: credible_interval(Y, P, groups=MASKED), "groups.*masked"),
    (lambda: credible_interval(np.arange(6).astype("M8[ns]"), P), "y_true.*dates"),
    (lambda: credible_interval(np.arange(6).astype("m8[s]"), P), "y_true.*dates"),
    (lambda: credible_interval([UNSHOWN, *Y[1:]], P), "y_true"),
    (lambda: auc_posterior(Y, MASKED), "y_score.*masked"),
    (lambda: credible_interval(Y, P, groups=Y, model=np.zeros(2)), "model"),
    (lambda: ConfusionCounts(COUNTS.counts, labels=[0, UNSHOWN]), "labels"),
    (lambda: compare_datasets([0.1, 0.2], [0.1, 1e308]), "scores"),
    (lambda: compare_cv([0.1, 0.2], [0.1, 1e308]), "scores"),
    (lambda: compare_datasets([0.1, 0.2], np.ma.array([0.1, 0.2], mask=[0, 1])), "scores"),
    (lambda: roc_band([UNSHOWN, *Y[1:]], Y), "label|class"),
    (lambda: ConfusionCounts(np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])), "counts"),
    (lambda: ConfusionCounts.from_binary(tp=np.ma.masked, fn=1, fp=1, tn=1), "tp.*masked"),
    (lambda: ConfusionCounts.from_binary(tp=np.ones((1,) * 31), fn=1, fp=1, tn=1), "tp"),
    (lambda: BetaPosterior(np.ones((1,) * 31), 1), "shape a"),
    (lambda: BetaPosterior(1, 2, odds=UNSHOWN), "odds"),
    (lambda: fold_posterior(np.zeros((0, 0)), method="t"), "fold scores"),
    (lambda: fold_posterior([0.1, 0.2], method="t", n_repeats=UNSHOWN), "n_repeats"),
    (lambda: get_metric("f1")([[5]]), "matrix"),
    (lambda: leaderboard([COUNTS, COUNTS], metric="f1").expected_prize([np.inf, 1]), "prizes"),
    (lambda: interval_report(COUNTS, target_names={"a", "b"}), "target_names"),
    (lambda: interval_report(COUNTS, target_names=np.eye(2)), "target_names"),
    (lambda: metric_posterior(Y, P, prevalence=np.ones((1,) * 31)), "prevalence"),
    (
        lambda: bbc_score(Y, [P, Y], metric=make_metric(lambda p: np.full(p.shape[:-2], np.nan))),
        "metric.*NaN",
    ),
    (
        lambda: search_posterior({"split0_test_score": [0.1], "split2_test_score": [0.2]}),
        "cv_results",
    ),
    (
        lambda: search_posterior({"split0_test_score": [0.1], "split1_test_score": [0.2, 0.3]}),
        "cv_results",
    ),
]


@pytest.mark.parametrize(("call", "word"), REFUSED)
def test_bad_input_is_refused_in_one_line_that_names_it(call, word):
    with pytest.raises((TypeError, ValueError), match=word) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500


def test_a_tiny_power_is_no_problem():
    assert comparison_sample_size(difference=0.2, disagreement=0.3, power=5e-324).n >= 1


def test_numpy_floats_of_any_width_are_numbers():
    # 1e12, the largest prior, is beyond the range of half floats: a warning from numpy
    half = COUNTS.posterior("f1", prior=np.float16(0.5)).interval()
    assert half == COUNTS.posterior("f1", prior=0.5).interval()


class Unshown:
    def __repr__(self):
        raise RuntimeError("no repr")


def test_an_object_without_a_repr_is_named_by_its_type():
    with pytest.raises(TypeError, match=r"level.*Unshown"):
        credible_interval(Y, P, level=Unshown())


def test_half_floats_are_labels_and_thresholds():
    # 2**53 and 1e308, with which they were compared, are beyond their range: warnings from numpy
    half = np.array(Y, dtype=np.float16)
    assert credible_interval(half, P) == credible_interval(Y, P)
    assert ConfusionCounts(np.array([[40, 6], [9, 45]], dtype=np.float16)) == COUNTS
    score = [0.1, 0.9, 0.3, 0.2, 0.8, 0.7]
    report = threshold_report(Y, score, [0.25], operating_threshold=np.float16(0.5))
    assert report.thresholds.tolist() == [0.25, 0.5]


# --------------------------------------------------------------------------------------------------
# Files


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1f", "empty"),  # str.strip takes control characters for blanks
        (b" \n\n", "empty"),
        (b",a,b\na,99999999999999999,1\nb,1,1\n", r"line 2.*2\*\*53"),
        (b",a,b\na," + b"9" * 5000 + b",1\nb,1,1\n", r"line 2.*2\*\*53"),
    ],
)
def test_matrix_files_that_hold_no_matrix(data, text):
    with pytest.raises(TableFileError, match=text):
        read_matrix(io.BytesIO(data), rows="true")


def test_labels_of_more_digits_than_python_reads_are_names():
    digits = "9" * 5000
    file = io.BytesIO(f"y,yhat\n{digits},1\n1,1\n".encode())
    assert read_predictions(file, true="y", pred="yhat").labels == ("1", digits)


@pytest.mark.parametrize(
    ("score", "text"),
    [
        ("9" * 400, "split0_test_score.*numbers"),  # OverflowError
        ("9" * 5000, "JSON"),
        ("true", "split0_test_score.*numbers, got True"),
        ('"1_0"', "split0_test_score.*numbers, got '1_0'"),
        ('0.1], "split0_test_score": [0.1', "twice"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_search_files_that_hold_no_scores(score, text):
    data = f'{{"split0_test_score": [{score}], "split1_test_score": [0.5]}}'
    with pytest.raises(TableFileError, match=text) as caught:
        read_search_results(io.StringIO(data))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("params", [r"{'C': '\d'}", "{'C': 1if 2else 3}", "{[]: 1}", "{{}}"])
def test_parameters_that_are_no_dict(params):
    # Remarks of Python's compiler, and a TypeError
    data = f'params,split0_test_score,split1_test_score\n"{params}",0.8,0.9\n"{{}}",0.7,0.9\n'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = read_search_results(io.StringIO(data))
    assert results["split1_test_score"] == [0.9, 0.9]


def test_half_characters_in_a_report():
    counts = ConfusionCounts([[4, 1], [2, 5]], labels=["\ud800", "b"])
    report = interval_report(counts, random_state=0)
    for text in (report.to_json(), report.to_html(), report.to_markdown()):
        assert text.encode("utf-8")
    results = {f"split{k}_test_score": [0.1 + 0.1 * k, 0.2] for k in range(3)}
    results["params"] = [{"C": "\ud800"}, {"C": "b"}]
    found = search_posterior(results, n_repeats=1, n_draws=50, random_state=0).report()
    assert found.to_json().encode("utf-8")  # in the name of a column, too


def test_the_smallest_prior():
    prior = np.full((2, 2), 5e-324)
    posterior = ConfusionCounts([[5, 0], [5, 0]]).posterior("balanced_accuracy", prior=prior)
    assert posterior.interval() == (0.5, 0.5)  # no float shows its width
