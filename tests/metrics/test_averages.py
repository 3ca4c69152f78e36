"""Averages over classes, MCC and kappa by three cumulants, against draws."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skuncertain import ConfusionCounts
from skuncertain.metrics import get_metric
from skuncertain.metrics._averages import three_cumulants
from skuncertain.metrics._priors import cell_prior
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._matched import MatchedPosterior

CHAIN = 20 * np.eye(6) + 4 * np.eye(6, k=1) + 2 * np.eye(6, k=-1)
SINK = np.diag([30.0, 12.0, 25.0, 8.0, 40.0])
SINK[1:, 0] = [3, 6, 2, 9]
TABLES = {"chain": CHAIN, "sink": SINK, "large": 25 * SINK + 1}
NAMES = [
    *(f"{base}_macro" for base in ("f1", "f2", "jaccard", "g_score", "g_mean", "npv", "fdr")),
    *(f"{base}_macro" for base in ("specificity", "informedness", "markedness")),
    *(f"{base}_weighted" for base in ("f1", "precision", "jaccard", "g_mean", "npv")),
    *("matthews_corrcoef", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"),
]


@pytest.fixture(scope="module")
def cells():
    """Unnormalised draws of the cells of every table, 200,000 each."""
    rng = np.random.default_rng(12)
    found = {}
    for name, table in TABLES.items():
        shapes = table + cell_prior("shared", table)
        found[name] = shapes, rng.standard_gamma(shapes, size=(200_000, *shapes.shape))
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("table", TABLES)
def test_cumulants_agree_with_draws(cells, table, name):
    shapes, sample = cells[table]
    metric = get_metric(name)
    values = np.sort(metric.evaluate(sample))
    (mean, variance, third), _, _ = three_cumulants(shapes, metric)
    sd = values.std()
    # The Monte Carlo error is 0.0022 of the mean, 0.16 % of the sd (more in heavy tails), and the
    # approximation itself is the rest.
    assert abs(mean - values.mean()) < 0.02 * sd
    assert np.sqrt(variance) == pytest.approx(sd, rel=0.03)
    assert third / variance**1.5 == pytest.approx(((values - mean) ** 3).mean() / sd**3, abs=0.15)
    posterior = ConfusionCounts(TABLES[table]).posterior(name, prior="shared", random_state=0)
    q = np.array([0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995])
    assert_allclose(posterior.quantile(q), np.quantile(values, q), atol=0.25 * sd)


def test_nothing_is_drawn_and_nothing_jitters():
    counts = ConfusionCounts(CHAIN)
    for name in NAMES[:-1]:  # quadratic weights hardly count errors between neighbours: drawn
        one, other = (counts.posterior(name, random_state=seed) for seed in (0, 1))
        assert one.n_draws is None, name
        assert one.seed is None, name
        assert one.interval() == other.interval(), name
        assert one.exact == (name == "fdr_macro"), name  # a sum of independent Betas
    drawn = counts.posterior("f1_macro", n_draws=5000, random_state=0)
    assert isinstance(drawn, DrawsPosterior)
    assert drawn.n_draws == 5000


def test_few_classes_with_few_rows_are_drawn():
    for table in ([[2, 1, 0], [0, 1, 1], [1, 0, 3]], [[9, 1, 0], [1, 12, 0], [0, 1, 0]]):
        posterior = ConfusionCounts(table).posterior("f1_macro", random_state=0)
        assert isinstance(posterior, DrawsPosterior), table


def _quiet(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows, and classes without any
        return ConfusionCounts(table).posterior("f1_macro", random_state=0)


def test_a_stack_gives_the_answers_of_its_members():
    rng = np.random.default_rng(3)
    share = (CHAIN[:4, :4] / CHAIN[:4, :4].sum()).ravel()
    sizes = np.repeat([8, 40, 200, 1000], 5)
    stack = np.stack([rng.multinomial(n, share).reshape(4, 4) for n in sizes])
    many = _quiet(stack.reshape(4, 5, 4, 4))
    assert isinstance(many, MatchedPosterior)
    assert many.n_draws is not None  # of those with eight rows
    low, high = many.interval()
    x = np.linspace(0.2, 0.9, 7)
    below, density = many.cdf(x[:, None, None]), many.pdf(x[:, None, None])
    quantiles, hdi = many.quantile([0.1, 0.6]), many.interval(kind="hdi")
    errors = many.interval_error()
    for k, table in enumerate(stack):
        at = divmod(k, 5)
        one = _quiet(table)
        drawn = one.n_draws is not None
        assert (errors[at] > 0) == drawn
        tolerance = 0.05 * one.std() if drawn else 1e-12
        assert_allclose((low[at], high[at]), one.interval(), atol=3 * tolerance)
        assert_allclose(quantiles[at], one.quantile([0.1, 0.6]), atol=tolerance)
        assert_allclose(below[(slice(None), *at)], one.cdf(x), atol=0.02 if drawn else 1e-12)
        assert many.mean()[at] == pytest.approx(one.mean(), abs=tolerance)
        assert many.std()[at] == pytest.approx(one.std(), rel=0.05 if drawn else 1e-12)
        if not drawn:
            assert_allclose(density[(slice(None), *at)], one.pdf(x), rtol=1e-10)
            assert_allclose([end[at] for end in hdi], one.interval(kind="hdi"), rtol=1e-7)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_stacks_of_every_metric(name):
    stack = np.stack([CHAIN, 3 * CHAIN, 10 * CHAIN])
    low, high = ConfusionCounts(stack).posterior(name, prior="shared", random_state=0).interval()
    for k in (1, 2):
        one = ConfusionCounts(stack[k]).posterior(name, prior="shared", random_state=0)
        assert_allclose((low[k], high[k]), one.interval(), rtol=1e-9)


def test_a_long_stack_is_not_drawn():
    stack = np.tile(np.array([[1, 1, 0], [0, 2, 0], [1, 0, 1]]), (2001, 1, 1))
    posterior = _quiet(stack)
    assert posterior.n_draws is None
    assert np.isfinite(posterior.interval()).all()


def test_moments_at_any_size():
    for factor in (1, 1e3, 1e6, 1e8):
        counts = ConfusionCounts(factor * CHAIN)
        for name in ("f1_macro", "f1_weighted", "g_mean_macro", "matthews_corrcoef"):
            posterior = counts.posterior(name)
            spread = posterior.std() * np.sqrt(factor)
            first = ConfusionCounts(CHAIN).posterior(name).std()
            assert spread == pytest.approx(first, rel=0.05), (name, factor)
            assert posterior.mean() == pytest.approx(counts.score(name), abs=3 * posterior.std())
            low, high = posterior.quantile([0.025, 0.975])
            assert high - low == pytest.approx(3.92 * posterior.std(), rel=0.03)


def test_two_classes():
    counts = ConfusionCounts([[400, 50], [30, 120]])
    rng = np.random.default_rng(5)
    sample = rng.standard_gamma(counts.counts + 1 / 3, size=(400_000, 2, 2))
    for name in ("f1_macro", "jaccard_macro", "f1_weighted"):
        posterior = counts.posterior(name)
        assert posterior.n_draws is None
        values = get_metric(name).evaluate(sample)
        q = [0.025, 0.5, 0.975]
        assert_allclose(posterior.quantile(q), np.quantile(values, q), atol=0.03 * values.std())


def test_draws_of_the_matched_posterior_follow_it(global_random_seed):
    posterior = ConfusionCounts(CHAIN).posterior("f1_macro")
    draws = posterior.sample(50_000, random_state=global_random_seed)
    for p in (0.025, 0.5, 0.975):
        share = np.mean(draws <= posterior.quantile(p))
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / 50_000)
    assert posterior.prob(0, 1) == pytest.approx(1)
    assert_array_equal(posterior.cdf([-1, 2]), [0, 1])


def test_other_models_are_drawn():
    posterior = ConfusionCounts(CHAIN).posterior("f1_macro", prior=0.5, model="rows")
    assert posterior.n_draws is not None
    nothing = ConfusionCounts(np.diag([5, 6, 7])).posterior(
        "f1_macro", prior="laplace", random_state=0
    )
    assert nothing.interval().high == pytest.approx(1, abs=0.3)
