"""Priors of the rates of a model, and of a metric itself; few draws beyond a quantile."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts, credible_interval
from skuncertain.exceptions import FewDrawsWarning, InvalidParameterError
from skuncertain.metrics import proportion_posterior
from skuncertain.posteriors import BetaPosterior

COUNTS = ConfusionCounts.from_binary(tp=26, fn=4, fp=5, tn=65)
THREE = ConfusionCounts([[20, 3, 1], [4, 15, 2], [1, 5, 30]])
PRIOR = {"prevalence": (2, 8), "recall": 1, "specificity": BetaPosterior(4, 0.5)}


@pytest.mark.parametrize(
    ("metric", "a", "b"),
    [
        ("prevalence", 30 + 2, 70 + 8),
        ("recall", 26 + 1, 4 + 1),
        ("specificity", 65 + 4, 5 + 0.5),
        ("fpr", 5 + 0.5, 65 + 4),
    ],
)
def test_every_rate_has_its_own_beta(metric, a, b):
    for model in ("three_beta", "rows"):
        found = COUNTS.posterior(metric, model=model, prior=PRIOR)
        assert (found.a, found.b) == (pytest.approx(a), pytest.approx(b))
    swapped = ConfusionCounts(COUNTS.counts[::-1, ::-1], pos_label=0)
    found = swapped.posterior(metric, model="three_beta", prior=PRIOR)
    assert (found.a, found.b) == (pytest.approx(a), pytest.approx(b))


def test_precision_by_draws_of_the_three_betas(global_random_seed):
    rng, size = np.random.default_rng(global_random_seed), 400_000
    phi, recall = rng.beta(32, 78, size), rng.beta(27, 5, size)
    fpr = rng.beta(5.5, 69, size)
    draws = phi * recall / (phi * recall + (1 - phi) * fpr)
    found = COUNTS.posterior("precision", model="three_beta", prior=PRIOR)
    assert found.exact
    for q in (0.025, 0.5, 0.975):
        error = np.sqrt(q * (1 - q) / size) / found.pdf(found.quantile(q))
        assert found.quantile(q) == pytest.approx(np.quantile(draws, q), abs=5 * error)
    joint = COUNTS.joint_posterior(["precision"], model="rows", prior=PRIOR, random_state=0)
    assert joint["precision"].mean() == pytest.approx(draws.mean(), abs=5 * draws.std() / 141)


def test_rates_that_are_not_named_are_neutral():
    found = COUNTS.posterior("recall", model="three_beta", prior={"prevalence": 5})
    assert (found.a, found.b) == (pytest.approx(26 + 1 / 3), pytest.approx(4 + 1 / 3))
    assert (
        found.prior
        == "prevalence Beta(5, 5), recall Beta(0.333, 0.333), specificity Beta(0.333, 0.333)"
    )


def test_rates_by_their_other_names():
    named = {"prevalence": (2, 8), "recall": 1, "specificity": (4, 0.5)}
    other = {"base rate": (2, 8), "TPR": 1, "true-negative rate": (4, 0.5)}
    found, same = (COUNTS.posterior("fpr", model="rows", prior=one) for one in (named, other))
    assert (found.a, found.b, found.prior) == (same.a, same.b, same.prior) == (5.5, 69, found.prior)


@pytest.mark.parametrize("model", ["three_beta", "rows"])
def test_a_rate_without_prior_leaves_the_others_exact(model):
    """Haldane's prior: TPR of 26 hits and no miss is improper, TNR and prevalence are Betas."""
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    for metric, a, b in (("specificity", 6, 2), ("fpr", 2, 6), ("prevalence", 26, 8)):
        found = counts.posterior(metric, model=model, prior=0)
        expected = stats.beta(a, b)
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-12)
        assert tuple(found.interval()) == pytest.approx(expected.ppf([0.025, 0.975]), rel=1e-8)
    odds = counts.posterior("false_positive_odds", model=model, prior=0)
    assert odds.cdf(1 / 3) == pytest.approx(stats.beta.cdf(1 / 4, 2, 6), rel=1e-10)
    with pytest.warns(UndefinedMetricWarning, match="point mass"):
        found = counts.posterior("recall", model=model, prior=0)
    assert (found.a, found.b) == (26, 0)


def test_more_classes(global_random_seed):
    prior = {"prevalence": [100, 0, 0], "rows": np.eye(3)}
    found = THREE.posterior("accuracy", model="rows", prior=prior, random_state=global_random_seed)
    rng = np.random.default_rng(global_random_seed)
    share = rng.dirichlet(THREE.counts.sum(axis=1) + np.array([100, 0, 0]), 20_000)
    right = np.diag(THREE.counts) + 1
    rates = rng.beta(right, THREE.counts.sum(axis=1) + 1 - right, (20_000, 3))
    draws = (share * rates).sum(axis=1)
    assert found.mean() == pytest.approx(draws.mean(), abs=7 * draws.std() / np.sqrt(20_000))
    assert pickle.loads(pickle.dumps(found)).mean() == found.mean()


def test_a_prior_of_the_metric_itself():
    prior = BetaPosterior(27, 2)
    found = COUNTS.posterior("precision", prior=prior)
    assert (found.a, found.b) == (26 + 27, 5 + 2)
    assert found.prior == "Beta(27, 2) on the metric"
    again = found.updated(ConfusionCounts.from_binary(tp=1, fn=0, fp=1, tn=0))
    assert (again.a, again.b) == (54, 8)
    interval = credible_interval(COUNTS, metric="precision", prior=prior)
    assert interval.low == pytest.approx(stats.beta(53, 7).ppf(0.025))
    of_many = THREE.posterior("recall", pos_label=0, prior=prior)
    assert (of_many.a, of_many.b) == (20 + 27, 4 + 2)
    # F1 has twice the odds of the Jaccard index: a prior with the same map is conjugate.
    f1 = COUNTS.posterior("f1", prior=BetaPosterior(3, 1, odds=2))
    assert (f1.a, f1.b, f1.odds) == (29, 10, 2)


def test_predictive_of_a_prior_of_the_metric():
    found = COUNTS.posterior("accuracy", prior=BetaPosterior(3, 1)).predictive(50)
    assert found.mean() == pytest.approx((91 + 3) / 104)
    with pytest.raises(InvalidParameterError, match="other cells"):
        COUNTS.posterior("precision", prior=BetaPosterior(3, 1)).predictive(50)


def test_the_prior_of_each_proportion():
    """Recall of (10, 5) and (3, 3) with Be(1, 1): the second is better in 24 % of the cases."""
    first, second = proportion_posterior(10, 5, prior=1), proportion_posterior(3, 3, prior=(1, 1))
    for found, shapes in ((first, (11, 6)), (second, (4, 4))):
        assert (found.a, found.b) == shapes
    x = np.linspace(0, 1, 20_001)
    better = np.mean(second.pdf(x) * first.cdf(x))
    assert better == pytest.approx(0.24, abs=0.01)
    given = proportion_posterior([1, 2], [3, 4], prior=BetaPosterior(2, 5))
    np.testing.assert_allclose((given.a, given.b), ([3, 4], [8, 9]))


@pytest.mark.parametrize(
    ("metric", "options", "match"),
    [
        ("recall", {"prior": {"recall": 1}}, "model='three_beta' or 'rows'"),
        ("recall", {"prior": {"recal": 1}, "model": "rows"}, "Did you mean 'recall'"),
        ("recall", {"prior": {}, "model": "rows"}, "empty"),
        ("recall", {"prior": {"recall": 1, "tpr": 2}, "model": "rows"}, "names recall twice"),
        ("recall", {"prior": {"recall_macro": 1}, "model": "rows"}, "got 'recall_macro'"),
        ("recall", {"prior": {"npv": 1}, "model": "rows"}, "got 'npv'"),
        ("recall", {"prior": {1: 1}, "model": "rows"}, "got 1"),
        ("recall", {"prior": {"recall": (1, 2, 3)}, "model": "rows"}, "pair"),
        ("recall", {"prior": {"recall": -1}, "model": "rows"}, ">= 0"),
        ("fpr", {"prior": {"prevalence": 1}, "model": "rows", "prevalence": 0.2}, "Leave one out"),
        ("mcc", {"prior": BetaPosterior(2, 2)}, "is none"),
        ("f1", {"prior": BetaPosterior(2, 2)}, r"odds=2\)"),
        ("recall", {"prior": BetaPosterior([1, 2], 2)}, "single Beta"),
        ("recall", {"prior": BetaPosterior(1, 2), "model": "rows"}, "model='dirichlet'"),
        ("precision", {"prior": BetaPosterior(1, 2), "prevalence": 0.1}, "no prevalence"),
    ],
)
def test_what_cannot_be_is_refused(metric, options, match):
    with pytest.raises(InvalidParameterError, match=match):
        COUNTS.posterior(metric, **options)


def test_few_draws_beyond_a_quantile_warn():
    posterior = THREE.posterior("f1_macro", random_state=0, n_draws=20_000)
    with pytest.warns(FewDrawsWarning, match="1 of 20000 draws.* n_draws=1000000"):
        posterior.interval(0.9999)
    with pytest.warns(FewDrawsWarning, match="n_draws="):
        posterior.quantile([0.5, 0.999])
    with pytest.warns(FewDrawsWarning, match="n_draws="):
        posterior.interval(0.999, kind="hdi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior.interval()
        posterior.interval(0.99)
        posterior.quantile([0, 0.5, 1])
        THREE.posterior("f1_macro", random_state=0, n_draws=1000).interval()
        COUNTS.posterior("f1").interval(0.999999)  # nothing was drawn
