"""Posteriors of metrics: many classes, predictive, joint, undefined and stacked ones."""

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts, credible_interval
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics import get_metric, make_metric, metric_posterior, prior_from_metrics
from skuncertain.posteriors import BetaPosterior

CAELEN_A = {"tp": 65, "fn": 15, "fp": 35, "tn": 30}
CAELEN_B = {"tp": 50, "fn": 30, "fp": 30, "tn": 35}
SMALL = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}


# --------------------------------------------------------------------------------------------------
# More than two classes

THREE = [[50, 3, 2], [4, 40, 6], [1, 2, 30]]


@pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.SmallSampleWarning"
)  # see the next test
@pytest.mark.parametrize(
    "matrix", [THREE, [[20, 0, 0], [0, 25, 0], [0, 0, 30]], [[9, 1, 0], [2, 7, 3], [0, 1, 8]]]
)
@pytest.mark.parametrize("prior", ["shared", 0.5, 1.0])
@pytest.mark.parametrize("name", ["balanced_accuracy", "precision_macro", "accuracy"])
def test_many_class_exact_against_draws(matrix, prior, name, global_random_seed):
    counts = ConfusionCounts(matrix)
    posterior = counts.posterior(name, prior=prior)
    assert posterior.exact
    pseudo = prior
    if prior == "shared":  # maths: one pseudo-observation per class, as right as the whole matrix
        total, trace = np.sum(matrix), np.trace(matrix)
        q = min((trace + 0.5) / (total + 1), 1 - 1 / 6)
        pseudo = np.where(np.eye(3, dtype=bool), q, (1 - q) / 2)
    n = 400_000
    rng = np.random.default_rng(global_random_seed)
    cells = rng.standard_gamma(np.asarray(matrix) + pseudo, size=(n, 3, 3))
    values = get_metric(name).evaluate(cells)
    for p in (0.025, 0.3, 0.5, 0.8, 0.975):
        q = posterior.quantile(p)
        assert abs(np.mean(values <= q) - p) < 4.5 * np.sqrt(p * (1 - p) / n), p
    assert values.mean() == pytest.approx(posterior.mean(), abs=5 * posterior.std() / np.sqrt(n))


def test_few_rows_per_class_earn_a_warning():
    few = ConfusionCounts([[9, 1, 0], [2, 7, 3], [0, 1, 8]])
    for name in ("balanced_accuracy", "f1_macro"):
        few.posterior(name, random_state=0)  # wider instead
        with pytest.warns(SmallSampleWarning, match="in simulations"):
            few.posterior(name, prior="shared", random_state=0)
    few.posterior("accuracy")  # no warning: it does not average over classes
    ConfusionCounts(np.array(THREE) * 2).posterior("balanced_accuracy")


def test_many_class_sum_agrees_with_two_class_integral():
    # With a third class of weight zero, accuracy at given frequencies is a sum of two terms.
    counts = ConfusionCounts([[30, 1, 0], [2, 8, 0], [0, 0, 5]])
    three = counts.posterior("accuracy", prior=0.4, model="rows", prevalence=[0.3, 0.7, 0.0])
    prior = np.array([[30.4, 1.8], [2.8, 8.4]])
    two = ConfusionCounts([[0, 0], [0, 0]]).posterior("accuracy", prior=prior, prevalence=0.7)
    for p in (0.025, 0.5, 0.975):
        assert two.cdf(three.quantile(p)) == pytest.approx(p, abs=1e-8)


def test_one_class_of_many():
    counts = ConfusionCounts(THREE, labels=["a", "b", "c"])
    tp, fn, fp = 40, 10, 5
    # Jeffreys on the score's own proportion
    for name, successes, failures in (("recall", tp, fn), ("precision", tp, fp)):
        posterior = counts.posterior(name, pos_label="b")
        expected = stats.beta(successes + 0.5, failures + 0.5).ppf([0.025, 0.975])
        assert posterior.interval() == pytest.approx(expected, abs=1e-9)
    j = stats.beta(tp + 0.5, fn + fp + 0.5).ppf([0.025, 0.975])
    assert counts.posterior("f1", pos_label="b").interval() == pytest.approx(2 * j / (1 + j))
    # others: 1/3 per cell of the collapsed table
    collapsed = counts.one_vs_rest("b")
    for name in ("specificity", "informedness", "dor"):
        one = counts.posterior(name, pos_label="b")
        assert one.exact
        assert one.interval() == pytest.approx(collapsed.posterior(name).interval(), rel=1e-12)
    there = counts.posterior("precision", pos_label="b", prevalence=0.05)
    assert there.interval() == collapsed.posterior("precision", prevalence=0.05).interval()
    # a fixed prior is per cell of the whole matrix
    fixed = counts.posterior("precision", pos_label="b", prior=1)
    assert (float(fixed.a), float(fixed.b)) == (tp + 1, fp + 2)
    whole = collapsed.posterior("informedness", prior=np.array([[4.0, 2.0], [2.0, 1.0]]))
    one = counts.posterior("informedness", pos_label="b", prior=1)
    assert one.exact
    assert one.interval() == whole.interval()
    assert one.prior == "1"
    predictive = counts.posterior("recall", pos_label="b", random_state=0).predictive(146)
    assert predictive.mean() == pytest.approx(tp / (tp + fn), abs=0.02)


def test_macro_f1_draws_against_direct_sampling(global_random_seed):
    counts = ConfusionCounts(THREE)
    posterior = counts.posterior("f1_macro", prior=0.5, n_draws=50_000, random_state=1)
    assert not posterior.exact
    assert posterior.n_draws == 50_000
    assert posterior.seed == 1
    rng = np.random.default_rng(global_random_seed + 1000)
    theta = rng.dirichlet(np.ravel(THREE) + 0.5, size=200_000).reshape(-1, 3, 3)
    f1 = 2 * np.diagonal(theta, axis1=1, axis2=2) / (theta.sum(1) + theta.sum(2))
    truth = f1.mean(axis=1)
    for p in (0.025, 0.5, 0.975):
        share = np.mean(truth <= posterior.quantile(p))
        assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) * (1 / 200_000 + 1 / 50_000))
    assert posterior.monte_carlo_error() == pytest.approx(posterior.std() / np.sqrt(50_000))
    # The error of a quantile is that of a share over the density. From the 70 draws between plus
    # and minus one standard error it is known to 12 %, from ten seeds to 4 %.
    near = np.quantile(truth, [0.02, 0.03])
    wanted = np.sqrt(0.025 * 0.975 / 50_000) * np.diff(near).item() / 0.01
    found = [
        counts.posterior("f1_macro", prior=0.5, n_draws=50_000, random_state=seed)
        for seed in range(10)
    ]
    errors = [posterior.monte_carlo_error(0.025) for posterior in found]
    assert np.mean(errors) == pytest.approx(wanted, rel=0.17)


def test_draws_with_tiny_shapes_are_defined(global_random_seed):
    # Plain gamma variates underflow: at this shape 0.26 % of the draws would be 0/0.
    counts = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    n = 50_000
    joint = counts.joint_posterior(
        ["precision"], prior=0.004, n_draws=n, random_state=global_random_seed
    )
    truth = stats.beta(0.004, 0.004)
    draws = joint["precision"]
    assert np.isnan(draws).mean() < 5e-4
    for x in (1e-3, 0.5, 0.999):
        share = np.mean(draws[~np.isnan(draws)] <= x)
        assert share == pytest.approx(truth.cdf(x), abs=4.5 * 0.5 / np.sqrt(n))


def test_rows_model_of_many_classes(global_random_seed):
    counts = ConfusionCounts(THREE)
    frequencies = np.array([0.1, 0.1, 0.8])
    posterior = counts.posterior("accuracy", prior=0.5, model="rows", prevalence=frequencies)
    assert posterior.exact
    rng = np.random.default_rng(global_random_seed)
    n = 300_000
    rows = np.asarray(THREE)
    recalls = np.stack(
        [rng.beta(rows[k, k] + 0.5, rows[k].sum() - rows[k, k] + 1.0, size=n) for k in range(3)], 1
    )
    values = recalls @ frequencies
    for p in (0.025, 0.5, 0.975):
        share = np.mean(values <= posterior.quantile(p))
        assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) / n)
    drawn = counts.posterior(
        "f1_macro", prior=0.5, model="rows", prevalence=frequencies, random_state=0
    )
    assert not drawn.exact
    plain = counts.posterior("f1_macro", prior=0.5, random_state=0)
    assert drawn.mean() != pytest.approx(plain.mean(), abs=0.01)


# --------------------------------------------------------------------------------------------------
# Predictive, updates, joint questions


def test_predictive_accuracy_is_beta_binomial():
    counts = ConfusionCounts.from_binary(**SMALL)
    predictive = counts.posterior("accuracy", prior=0.5).predictive(50)
    assert predictive.exact
    reference = stats.betabinom(50, 33, 3)
    assert predictive.mean() == pytest.approx(reference.mean() / 50)
    assert predictive.std() == pytest.approx(reference.std() / 50)
    for k in (30, 45, 50):
        assert predictive.pdf(k / 50) == pytest.approx(reference.pmf(k), rel=1e-9)
        assert predictive.cdf(k / 50) == pytest.approx(reference.cdf(k), rel=1e-9)
    assert predictive.quantile([0.025, 0.975]) * 50 == pytest.approx(reference.ppf([0.025, 0.975]))
    low, high = predictive.interval(kind="hdi")
    assert reference.cdf(high * 50) - reference.cdf(low * 50 - 1) >= 0.95


def test_predictive_of_a_single_row():
    # Tötsch & Hoffmann, Fig. 2: one true positive; a new test set of one row is right or wrong.
    counts = ConfusionCounts.from_binary(tp=1, fn=0, fp=0, tn=0)
    predictive = counts.posterior("accuracy", prior=1).predictive()
    assert predictive.pdf(1.0) == pytest.approx(3 / 5)
    assert predictive.pdf(0.0) == pytest.approx(2 / 5)
    flat = counts.posterior("accuracy", prior=1, model="three_beta")
    assert flat.mean() == pytest.approx(11 / 18, abs=1e-9)


def test_updates_add_up_for_fixed_priors():
    first, second = ConfusionCounts.from_binary(**SMALL), ConfusionCounts.from_binary(**CAELEN_A)
    for metric in ("f1", "informedness", "accuracy"):
        stepwise = first.posterior(metric, prior="jeffreys").updated(second)
        at_once = (first + second).posterior(metric, prior="jeffreys")
        assert stepwise.interval() == at_once.interval()
        assert stepwise.prior == "jeffreys"
    with pytest.raises(TypeError, match="made from counts"):
        BetaPosterior(2, 3).updated(second)
    with pytest.raises(TypeError, match="ConfusionCounts"):
        first.posterior("f1").updated([[1, 2], [3, 4]])


def test_shared_prior_is_recomputed_by_updates():
    first, second = ConfusionCounts(THREE), ConfusionCounts(np.array(THREE) * 3)
    stepwise = first.posterior("accuracy").updated(second)
    assert stepwise.interval() == (first + second).posterior("accuracy").interval()


def test_joint_posterior_answers_questions_about_several_metrics():
    counts = ConfusionCounts.from_binary(**CAELEN_A)
    joint = counts.joint_posterior(["accuracy", "null_accuracy", "f1"], prior=0.5, random_state=3)
    assert joint.draws.shape == (3, 20_000)
    assert joint["f1"] is not None
    both = joint.prob(lambda accuracy, null, f1: (accuracy > null) & (f1 > 0.7))
    assert both <= min(joint.prob(lambda a, n, f: a > n), joint.prob(lambda a, n, f: f > 0.7))
    exact = counts.posterior("f1", prior=0.5).prob(0.7, 1)
    assert joint.prob(lambda a, n, f: f > 0.7) == pytest.approx(exact, abs=4.5 * 0.5 / np.sqrt(2e4))
    pytest.importorskip("pandas")
    assert list(joint.to_frame().columns) == ["accuracy", "null_accuracy", "f1"]


def test_prior_alone_can_be_asked_for():
    # Figs S1-S2 of Tötsch & Hoffmann: what three flat priors say about other metrics.
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    informedness = nothing.posterior("informedness", prior=1, model="three_beta")
    # difference of two uniforms: triangular
    assert informedness.cdf([-0.5, 0.0, 0.5]) == pytest.approx([0.125, 0.5, 0.875], abs=1e-10)
    precision = nothing.posterior("precision", prior=1, model="three_beta")
    assert precision.median() == pytest.approx(0.5, abs=1e-8)
    accuracy = nothing.posterior("accuracy", prior=1)
    assert accuracy.interval() == pytest.approx(stats.beta(2, 2).interval(0.95))


# --------------------------------------------------------------------------------------------------
# Undefined cases and bookkeeping


def test_haldane_prior_warns_and_is_never_invented():
    counts = ConfusionCounts.from_binary(**SMALL)
    with pytest.warns(UndefinedMetricWarning, match="no mass"):
        posterior = counts.posterior("recall", prior="haldane")
    assert posterior.interval() == (1.0, 1.0)
    never = ConfusionCounts.from_binary(tp=0, fn=5, fp=0, tn=9)
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(never.posterior("precision", prior=0).mean())


def test_class_never_predicted_gets_a_wide_interval_and_a_warning():
    counts = ConfusionCounts([[40, 5, 0], [3, 30, 0], [4, 6, 0]])
    with pytest.warns(UndefinedMetricWarning, match="0/0 in the data"):
        posterior = counts.posterior("precision", pos_label=2)
    assert posterior.quantile(0.025) == pytest.approx(0.00154, abs=1e-5)  # Beta(1/2, 1/2)
    assert posterior.interval() == (0, 1)  # without any row everything is possible
    with pytest.warns(UndefinedMetricWarning):
        macro = counts.posterior("precision_macro")
    assert np.isfinite(macro.interval()).all()


def test_a_strong_prior_leaves_the_interval_open():
    counts = ConfusionCounts.from_binary(**SMALL)
    for prior in (5, prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=1000)):
        posterior = counts.posterior("recall", prior=prior)
        assert posterior.interval().high == posterior.quantile(0.975) < 1
    perfect = ConfusionCounts.from_binary(tp=30, fn=0, fp=0, tn=30)
    assert perfect.posterior("mcc").interval().high == 1
    strong = perfect.posterior("mcc", prior=2)
    assert strong.interval().high == strong.quantile(0.975) < 1
    assert perfect.posterior("accuracy", prior="jeffreys").interval().high == 1  # Beta(61, 1)
    assert perfect.posterior("accuracy", prior="laplace").interval().high < 1  # Beta(62, 2)


@pytest.mark.parametrize("name", ["dor", "lr+"])
def test_hdi_of_an_infinite_observation_is_one_sided(name):
    posterior = ConfusionCounts([[10, 0], [0, 10]]).posterior(name)
    low, high = posterior.interval(0.9, "hdi")
    assert high == np.inf
    assert posterior.cdf(low) == pytest.approx(0.1, abs=1e-9)


@pytest.mark.filterwarnings("ignore:recall_macro is 0/0")
@pytest.mark.parametrize("matrix", [[[0, 0], [0, 977851]], [[977851, 0], [0, 0]]])
@pytest.mark.parametrize("level", [0.25, 0.8])
def test_hdi_next_to_an_end_without_mass(matrix, level):
    # One recall is 1, nothing is known of the other: their mean is above 1/2, and U-shaped.
    posterior = ConfusionCounts(matrix).posterior("recall_macro")
    low, high = posterior.interval(level, "hdi")
    tails = np.r_[1e-12, np.linspace(0.001, 0.999, 201), 1 - 1e-12] * (1 - level)
    shortest = (posterior.quantile(tails + level) - posterior.quantile(tails)).min()
    assert high - low <= shortest + 1e-6
    assert posterior.prob(low, high) == pytest.approx(level, abs=1e-6)


def test_interval_membership():
    interval = ConfusionCounts.from_binary(**SMALL).posterior("f1").interval()
    assert 0.95 in interval
    assert 0.5 not in interval


def test_predictive_says_how_often_it_is_undefined():
    counts = ConfusionCounts.from_binary(tp=3, fn=1, fp=2, tn=60)
    with pytest.warns(UndefinedMetricWarning, match="of the new test sets of 5 rows"):
        predictive = counts.posterior("recall", random_state=0).predictive(5)
    # P(no positives among 5) with prevalence ~ Beta(4 + 2/3, 62 + 2/3)
    a, b = 4 + 2 / 3, 62 + 2 / 3
    nothing = np.exp(betaln(a, b + 5) - betaln(a, b))
    error = 4.5 * np.sqrt(nothing * (1 - nothing) / predictive.n_draws)
    assert predictive.undefined == pytest.approx(nothing, abs=error)


def test_joint_posterior_refuses_what_is_no_event():
    joint = ConfusionCounts.from_binary(**CAELEN_A).joint_posterior(["recall"], random_state=0)
    with pytest.raises(KeyError, match="'f1' is not one of the drawn metrics"):
        joint["f1"]
    with pytest.raises(TypeError, match="event must be a function"):
        joint.prob("recall > 0.8")
    with pytest.raises(ValueError, match="one True or False per draw"):
        joint.prob(lambda recall: recall)


def test_stacks_equal_single_posteriors():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 60, size=(4, 5))
    stack = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    for name in ("f1", "balanced_accuracy", "mcc", "lr+", "precision"):
        together = stack.posterior(name).interval()
        for k, one in enumerate(stack):
            alone = one.posterior(name).interval()
            assert (together.low[k], together.high[k]) == pytest.approx(alone, rel=1e-9)
    assert stack.posterior("f1").cdf(0.5).shape == (5,)
    assert stack.posterior("g_mean").quantile([0.1, 0.2]).shape == (5, 2)


def test_large_stacks_of_mcc_are_drawn():
    cells = np.full(40, 30)
    stack = ConfusionCounts.from_binary(tp=cells, fn=cells, fp=cells, tn=cells)
    posterior = stack.posterior("mcc", n_draws=4000, random_state=0)
    assert not posterior.exact
    exact = stack[0].posterior("mcc")
    error = exact.std() * 4.5 * np.sqrt(0.25 / 4000) / stats.norm.pdf(0)
    assert posterior.median() == pytest.approx(exact.median(), abs=error)


def test_same_seed_same_draws_and_records():
    counts = ConfusionCounts(THREE)
    first = counts.posterior("f1_macro", n_draws=20_000, random_state=5)
    again = counts.posterior("f1_macro", n_draws=20_000, random_state=5)
    np.testing.assert_array_equal(first.draws, again.draws)
    fresh = counts.posterior("f1_macro", n_draws=20_000)
    np.testing.assert_array_equal(
        fresh.draws, counts.posterior("f1_macro", n_draws=20_000, random_state=fresh.seed).draws
    )
    generator = counts.posterior("f1_macro", n_draws=20_000, random_state=np.random.default_rng(0))
    assert generator.seed is not None
    with pytest.raises(ValueError, match="read-only"):
        first.draws[0] = 1
    assert repr(first) == (
        "DrawsPosterior(metric='f1_macro', n_draws=20000, seed=5, "
        "prior='default (one pseudo-row per class)')"
    )


def test_fewer_draws_do_not_change_the_first_chunks():
    counts = ConfusionCounts(THREE)
    many = counts.posterior("f1_macro", n_draws=40_000, random_state=5).draws
    few = counts.posterior("f1_macro", n_draws=20_000, random_state=5).draws
    assert np.mean(many[:10_000] == few[:10_000]) == 1


@pytest.mark.parametrize("name", ["f1", "mcc", "g_mean", "balanced_accuracy", "f1_macro"])
def test_posteriors_can_be_pickled(name):
    posterior = ConfusionCounts.from_binary(**SMALL).posterior(name, random_state=0)
    restored = pickle.loads(pickle.dumps(posterior))
    assert restored.interval() == posterior.interval()
    assert repr(restored) == repr(posterior)


def test_memory_guard():
    counts = ConfusionCounts(np.ones((20_000, 2, 2), dtype=int))
    with pytest.raises(ValueError, match=r"n_draws=100000 for 20000 matrices would need 16 GB"):
        counts.posterior("mcc", n_draws=100_000)


def test_functional_form_equals_the_method():
    y_true, y_pred = [0, 0, 1, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1, 0]
    counts = ConfusionCounts.from_predictions(y_true, y_pred)
    posterior = metric_posterior(y_true, y_pred, metric="f1", prior="laplace")
    assert posterior.interval() == counts.posterior("f1", prior="laplace").interval()
    again = credible_interval(counts, metric="f1", prior="laplace", pos_label=1)
    assert again == posterior.interval()
    other = credible_interval(counts, metric="f1", prior="laplace", pos_label=0)
    assert other == counts.posterior("f1", prior="laplace", pos_label=0).interval()
    with pytest.raises(TypeError, match="labels cannot be combined with counts"):
        credible_interval(counts, labels=[0, 1])
    with pytest.raises(TypeError, match="y_pred is missing"):
        credible_interval(y_true)


def test_user_metrics_see_probabilities():
    seen = []

    def share_right(p):
        seen.append(np.allclose(p.sum(axis=(-2, -1)), 1))
        return p[..., 0, 0] + p[..., 1, 1]

    counts = ConfusionCounts.from_binary(**CAELEN_A)
    posterior = counts.posterior(make_metric(share_right, range=(0, 1)), prior=0.5, random_state=0)
    assert all(seen)
    exact = counts.posterior("accuracy", prior=0.5)
    assert posterior.mean() == pytest.approx(exact.mean(), abs=4.5 * exact.std() / np.sqrt(20_000))


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


def test_ratios_of_nearly_empty_shapes_are_drawn():
    # P(recall / fpr > 1e50) = P(fpr < 1e-50), about (1e-50)**0.001 = 0.89; the integral said 0.
    posterior = ConfusionCounts([[2, 0], [0, 3]]).posterior(
        "lr+", prior=0.001, n_draws=4000, random_state=0
    )
    n, p = 4000, 1e-50**0.001
    assert 1 - posterior.cdf(1e50) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n) + 0.01)


def test_the_smallest_prior():
    prior = np.full((2, 2), 5e-324)
    posterior = ConfusionCounts([[5, 0], [5, 0]]).posterior("balanced_accuracy", prior=prior)
    assert posterior.interval() == (0.5, 0.5)  # no float shows its width


def test_numpy_floats_of_any_width_are_numbers():
    counts = ConfusionCounts([[40, 6], [9, 45]])
    # 1e12, the largest prior, is beyond the range of half floats: a warning from numpy
    half = counts.posterior("f1", prior=np.float16(0.5)).interval()
    assert half == counts.posterior("f1", prior=0.5).interval()


def test_predictions_from_huge_counts():
    # Differences of log beta functions of 1e15: the cdf was 5. The share is as good as known.
    rate = 0.25
    counts = ConfusionCounts.from_binary(tp=10**15, fn=3 * 10**15, fp=0, tn=0)
    ahead = counts.posterior("accuracy", prior=0.5).predictive(5)
    np.testing.assert_allclose(
        ahead.cdf([0.0, 0.2, 0.4, 0.6, 0.8]), stats.binom.cdf(range(5), 5, rate), rtol=1e-12
    )
    counts = ConfusionCounts.from_binary(tp=7, fn=2, fp=0, tn=0)
    few = counts.posterior("accuracy", prior=0.5).predictive(400)
    shares, (a, b) = np.arange(401) / 400, (7 + 1, 2 + 1)
    np.testing.assert_allclose(
        few.pdf(shares), stats.betabinom.pmf(range(401), 400, a, b), rtol=1e-9
    )


def test_predictive_without_counts_and_prior_is_undefined():
    empty = ConfusionCounts([[0, 0], [0, 0]])
    draws = empty.joint_posterior(["f1"], n=5, prior="haldane", n_draws=20, random_state=0).draws
    assert np.isnan(draws).all()


def test_correlation_with_a_metric_that_does_not_vary():
    constant = make_metric(lambda p: np.zeros(p.shape[:-2]), name="constant")
    joint = ConfusionCounts([[40, 6], [9, 45]]).joint_posterior(
        ["f1", constant, "recall"], n_draws=100, random_state=0
    )
    with pytest.warns(UndefinedMetricWarning, match="correlation"):
        found = joint.correlation()
    assert np.isnan(found[1]).all()
    assert found[0, 2] == pytest.approx(np.corrcoef(joint["f1"], joint["recall"])[0, 1])


def test_ends_at_a_prevalence_next_to_nothing_are_in_order():
    # MCC is 0 but for rounding there: its quantiles have no digits that could tell them apart.
    counts = ConfusionCounts.from_binary(tp=8, fn=2, fp=1, tn=9)
    for metric in ("matthews_corrcoef", "precision", "cohen_kappa", "f1"):
        low, high = counts.posterior(metric, prevalence=5e-324).interval()
        assert low <= high
