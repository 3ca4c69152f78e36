"""Properties that hold for every matrix, checked on matrices that hypothesis makes up."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from skuncertain import ConfusionCounts
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics import get_metric, get_metric_names

COUNT = st.integers(0, 400)
CELLS = st.tuples(COUNT, COUNT, COUNT, COUNT).filter(lambda cells: sum(cells) > 0)
PRIOR = st.sampled_from([1 / 3, 0.5, 1.0, 2.5])
QUICK = ["accuracy", "precision", "recall", "f1", "jaccard", "specificity", "npv"]
PAIRS = ["informedness", "g_mean", "balanced_accuracy", "lr+", "dor", "markedness", "g_score", "f2"]


def counts_of(cells):
    return ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))


pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.UndefinedMetricWarning"  # empty rows are made on purpose
)


@given(cells=CELLS, prior=PRIOR)
def test_the_four_usefulness_conditions_are_one_event(cells, prior):
    # DOR > 1, PPV > prevalence, NPV > 1 - prevalence, TPR > FPR
    counts = counts_of(cells)
    dor = 1 - counts.posterior("dor", prior=prior).cdf(1.0)
    informedness = 1 - counts.posterior("informedness", prior=prior).cdf(0.0)
    markedness = 1 - counts.posterior("markedness", prior=prior).cdf(0.0)
    lr = 1 - counts.posterior("lr+", prior=prior).cdf(1.0)
    assert dor == pytest.approx(informedness, abs=1e-9)
    # PPV > phi is PPV > FOR, the sign of markedness; NPV > 1 - phi is its mirror image.
    assert markedness == pytest.approx(informedness, abs=1e-9)
    assert lr == pytest.approx(informedness, abs=1e-9)
    joint = counts.joint_posterior(
        ["precision", "npv", "prevalence", "recall", "specificity"],
        prior=prior,
        n_draws=500,
        random_state=0,
    )
    by_precision = joint.prob(lambda ppv, npv, phi, tpr, tnr: ppv > phi)
    by_npv = joint.prob(lambda ppv, npv, phi, tpr, tnr: npv > 1 - phi)
    by_rates = joint.prob(lambda ppv, npv, phi, tpr, tnr: tpr > 1 - tnr)
    assert by_precision == by_npv == by_rates


@given(cells=CELLS, name=st.sampled_from(QUICK + PAIRS), prior=PRIOR)
def test_swapping_the_labels_changes_nothing(cells, name, prior):
    tp, fn, fp, tn = cells
    one = ConfusionCounts([[tn, fp], [fn, tp]], labels=["no", "yes"], pos_label="yes")
    other = ConfusionCounts([[tp, fn], [fp, tn]], labels=["yes", "no"], pos_label="yes")
    expected = one.posterior(name, prior=prior).interval()
    assert other.posterior(name, prior=prior).interval() == pytest.approx(expected, rel=1e-12)


@given(data=st.data(), n_classes=st.integers(3, 5))
def test_permuting_classes_changes_nothing(data, n_classes):
    size = n_classes**2
    flat = data.draw(st.lists(st.integers(0, 80), min_size=size, max_size=size))
    matrix = np.array(flat).reshape(n_classes, n_classes) + 5 * np.eye(n_classes, dtype=int)
    order = data.draw(st.permutations(range(n_classes)))
    one, other = ConfusionCounts(matrix), ConfusionCounts(matrix[np.ix_(order, order)])
    for name in ("accuracy", "mcc", "f1_macro", "precision_weighted"):
        assert one.score(name) == pytest.approx(other.score(name), abs=1e-12)
    assert one.posterior("accuracy").interval() == pytest.approx(
        other.posterior("accuracy").interval(), rel=1e-12
    )


@given(cells=CELLS, name=st.sampled_from(QUICK), kind=st.sampled_from(["eti", "hdi"]))
def test_intervals_grow_with_the_level(cells, name, kind):
    posterior = counts_of(cells).posterior(name)
    previous = posterior.interval(0.3, kind)
    for level in (0.5, 0.8, 0.95, 0.999):
        interval = posterior.interval(level, kind)
        assert interval.low <= previous.low + 1e-12
        assert interval.high >= previous.high - 1e-12
        previous = interval


@given(cells=CELLS, name=st.sampled_from(QUICK), level=st.floats(0.5, 0.999), prior=PRIOR)
def test_hdi_is_never_longer_than_eti(cells, name, level, prior):
    posterior = counts_of(cells).posterior(name, prior=prior)
    low, high = posterior.quantile([(1 - level) / 2, (1 + level) / 2])
    assert posterior.interval(level, "hdi").width <= high - low + 1e-9


@given(cells=CELLS, name=st.sampled_from(PAIRS))
def test_hdi_of_integrals_is_never_longer_than_eti(cells, name):
    posterior = counts_of(cells).posterior(name, prior=1.5)  # one-peaked
    low, high = posterior.quantile([0.05, 0.95])
    shortest = posterior.interval(0.9, "hdi").width
    assert shortest <= (high - low) * (1 + 1e-7)


@given(cells=CELLS, level=st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_default_interval_contains_the_observed_value(cells, level):
    counts = counts_of(cells)
    for name in [*QUICK, "informedness", "g_mean", "dor", "f2"]:
        observed = get_metric(name).evaluate(counts.counts.astype(float))
        if np.isnan(observed):
            continue
        low, high = counts.posterior(name).interval(level)
        assert low - 1e-12 <= observed <= high + 1e-12, name
        assert low < high


@given(first=CELLS, second=CELLS, name=st.sampled_from(QUICK + PAIRS), prior=PRIOR)
def test_updates_are_additive_for_fixed_priors(first, second, name, prior):
    one, two = counts_of(first), counts_of(second)
    stepwise = one.posterior(name, prior=prior).updated(two)
    assert stepwise.interval() == (one + two).posterior(name, prior=prior).interval()


@given(cells=CELLS, prior=PRIOR, name=st.sampled_from(["precision", "accuracy", "f1", "npv"]))
def test_joint_dirichlet_is_three_matched_betas(cells, prior, name):
    # An array prior gives the class frequencies the row sums, which is the matched case.
    counts = counts_of(cells)
    whole = counts.posterior(name, prior=prior)
    rows = counts.posterior(name, prior=np.full((2, 2), prior), model="three_beta")
    assert rows.interval() == pytest.approx(whole.interval(), rel=1e-9)


@given(cells=CELLS, prior=PRIOR)
def test_matched_prevalence_reproduces_the_dirichlet(cells, prior):
    # The same statement through the two-dimensional integral, which knows nothing of Betas.
    from skuncertain.posteriors import BetaPosterior

    tp, fn, fp, tn = np.array(cells) + prior
    counts = counts_of(cells)
    matched = counts.posterior("precision", prior=prior, prevalence=BetaPosterior(tp + fn, fp + tn))
    if matched.exact:  # else the prevalence dominates so much that it is drawn
        exact = counts.posterior("precision", prior=prior)
        for p in (0.1, 0.9):
            assert exact.cdf(matched.quantile(p)) == pytest.approx(p, abs=1e-7)


@given(cells=CELLS, name=st.sampled_from(QUICK + PAIRS), seed=st.integers(0, 2**31))
def test_eti_agrees_with_draws(cells, name, seed):
    counts = counts_of(cells)
    posterior = counts.posterior(name, prior=0.5)
    n = 2000
    draws = counts.joint_posterior([name], prior=0.5, n_draws=n, random_state=seed)[name]
    for p in (0.025, 0.975):
        error = 5 * np.sqrt(p * (1 - p) / n)
        assert np.mean(draws <= posterior.quantile(p)) == pytest.approx(p, abs=error)


@given(data=st.data(), n_classes=st.integers(3, 6))
def test_many_classes_stay_in_range_and_contain_the_observed_value(data, n_classes):
    size = n_classes**2
    flat = data.draw(st.lists(st.integers(0, 60), min_size=size, max_size=size))
    matrix = np.array(flat).reshape(n_classes, n_classes) + 20 * np.eye(n_classes, dtype=int)
    counts = ConfusionCounts(matrix)
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "kappa", "f1_weighted"):
        posterior = counts.posterior(name, n_draws=4000, random_state=0)
        low, high = posterior.interval()
        metric = get_metric(name)
        assert metric.range[0] <= low < high <= metric.range[1]
        assert low <= counts.score(name) <= high
    for name in ("recall", "precision", "f1", "specificity"):
        low, high = counts.posterior(name, pos_label=1).interval()
        assert 0 <= low <= counts.score(name, pos_label=1) <= high <= 1
        assert low < high


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning")
@pytest.mark.parametrize("name", get_metric_names(n_classes=3, needs="labels"))
@pytest.mark.parametrize(
    "matrix", [np.diag([12, 9, 20]), np.array([[12, 0, 0], [9, 0, 0], [7, 0, 0]])]
)
def test_perfect_and_constant_classifiers_of_three_classes(name, matrix):
    params = {"fbeta": {"beta": 2}, "expected_cost": {"cost": 1 - np.eye(3)}}
    metric = get_metric(name, **params.get(name.split("_m")[0].split("_w")[0], {}))
    posterior = ConfusionCounts(matrix).posterior(metric, random_state=0, n_draws=2000)
    low, high = posterior.interval()
    assert metric.range[0] <= low < high <= metric.range[1]
    assert SmallSampleWarning is not None
