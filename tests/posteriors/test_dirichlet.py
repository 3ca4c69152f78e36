"""The Dirichlet of a whole matrix, and matrices of new counts."""

import pickle

import mpmath
import numpy as np
import pytest
from scipy import stats

from skuncertain import ConfusionCounts
from skuncertain.exceptions import InvalidParameterError
from skuncertain.posteriors import DirichletPosterior

COUNTS = ConfusionCounts([[30, 35], [15, 65]])
THREE = ConfusionCounts([[20, 3, 1], [4, 15, 2], [0, 5, 30]])


@pytest.mark.parametrize("counts", [COUNTS, THREE])
@pytest.mark.parametrize("prior", ["laplace", "jeffreys", 0.1])
def test_against_scipy(counts, prior, global_random_seed):
    posterior = counts.dirichlet_posterior(prior=prior)
    peer = stats.dirichlet(posterior.alpha.ravel())
    np.testing.assert_allclose(posterior.mean().ravel(), peer.mean(), rtol=1e-13)
    np.testing.assert_allclose(posterior.variance().ravel(), peer.var(), rtol=1e-12)
    np.testing.assert_allclose(posterior.covariance(), peer.cov(), rtol=1e-12, atol=1e-18)
    thetas = peer.rvs(20, random_state=global_random_seed)
    thetas = thetas[np.all(thetas > 0, axis=1)]
    found = posterior.logpdf(thetas.reshape(-1, *posterior.alpha.shape))
    np.testing.assert_allclose(found, [peer.logpdf(t) for t in thetas], rtol=1e-11, atol=1e-11)
    assert posterior.pdf(posterior.mean()) == pytest.approx(peer.pdf(peer.mean()), rel=1e-11)


def test_counts_of_a_billion_keep_their_digits():
    posterior = ConfusionCounts(10**9 * np.array([[3, 1], [2, 5]])).dirichlet_posterior(prior=1)
    alpha = posterior.alpha.ravel()
    theta = posterior.mean() + 1e-6 * np.array([[3.0, -1.0], [-4.0, 2.0]])
    with mpmath.workdps(60):
        x = [mpmath.mpf(float(t)) for t in theta.ravel()]
        total = mpmath.fsum(x)  # rounded numbers miss 1 by 1e-16, times 1e10 in the exponent
        truth = mpmath.loggamma(mpmath.mpf(alpha.sum()))
        for a, t in zip(alpha, x, strict=True):
            truth += (mpmath.mpf(a) - 1) * mpmath.log(t / total) - mpmath.loggamma(mpmath.mpf(a))
    assert posterior.logpdf(theta) == pytest.approx(float(truth), abs=1e-5)
    new = posterior.predictive(10**9)
    counts = np.rint(new.mean()).astype(int) + np.array([[20_000, -30_000], [9_000, 1_000]])
    counts[0, 0] += 10**9 - counts.sum()
    with mpmath.workdps(60):
        a_all, n = mpmath.mpf(alpha.sum()), mpmath.mpf(10**9)
        truth = mpmath.loggamma(a_all) + mpmath.loggamma(n + 1) - mpmath.loggamma(a_all + n)
        for a, k in zip(alpha, counts.ravel(), strict=True):
            a, k = mpmath.mpf(a), mpmath.mpf(int(k))
            truth += mpmath.loggamma(a + k) - mpmath.loggamma(a) - mpmath.loggamma(k + 1)
    assert new.logpmf(counts) == pytest.approx(float(truth), rel=1e-8)


def test_predictive_against_scipy(global_random_seed):
    alpha = THREE.dirichlet_posterior(prior="jeffreys").alpha
    new = THREE.dirichlet_posterior(prior="jeffreys").predictive(17)
    peer = stats.dirichlet_multinomial(alpha.ravel(), 17)
    np.testing.assert_allclose(new.mean().ravel(), peer.mean(), rtol=1e-12)
    np.testing.assert_allclose(new.covariance(), peer.cov(), rtol=1e-10, atol=1e-15)
    rng = np.random.default_rng(global_random_seed)
    drawn = rng.multinomial(17, np.full(9, 1 / 9), size=50)
    found = new.logpmf(drawn.reshape(-1, 3, 3))
    np.testing.assert_allclose(found, [peer.logpmf(k) for k in drawn], rtol=1e-11)


def test_predictive_probabilities_sum_to_one():
    posterior = DirichletPosterior([[0.3, 2.0], [0.0, 5.0]])
    new = posterior.predictive(6)
    every = np.array(np.meshgrid(*[range(7)] * 4)).reshape(4, -1).T.reshape(-1, 2, 2)
    mass = new.pmf(every)
    assert mass.sum() == pytest.approx(1, rel=1e-12)
    assert np.all(mass[(every.sum(axis=(1, 2)) != 6) | (every[:, 1, 0] > 0)] == 0)
    assert new.pmf([[0.5, 1], [0, 4.5]]) == 0


def test_large_shapes_are_a_multinomial():
    share = np.array([[0.3, 0.1], [0.2, 0.4]])
    new = DirichletPosterior(1e13 * share).predictive(12)
    counts = [[4, 1], [2, 5]]
    peer = stats.multinomial(12, share.ravel()).pmf(np.ravel(counts))
    assert new.pmf(counts) == pytest.approx(peer, rel=1e-8)


@pytest.mark.parametrize("prior", ["laplace", "haldane", 0.01])
def test_draws_have_the_moments(prior, global_random_seed):
    posterior = THREE.dirichlet_posterior(prior=prior)
    draws = posterior.sample(20_000, random_state=global_random_seed)
    assert draws.shape == (20_000, 3, 3)
    np.testing.assert_allclose(draws.sum(axis=(1, 2)), 1, rtol=1e-12)
    error = np.sqrt(posterior.variance() / 20_000)
    assert np.all(np.abs(draws.mean(axis=0) - posterior.mean()) <= 5 * error)
    new = posterior.predictive(40)
    counts = new.sample(20_000, random_state=global_random_seed)
    assert counts.dtype.kind == "i"
    assert np.all(counts.sum(axis=(1, 2)) == 40)
    spread = np.sqrt(np.diag(new.covariance()).reshape(3, 3))
    assert np.all(np.abs(counts.mean(axis=0) - new.mean()) <= 5 * spread / np.sqrt(20_000))
    covered = spread > 0.2
    ratio = counts.std(axis=0)[covered] / spread[covered]
    np.testing.assert_allclose(ratio, 1, atol=0.06)


def test_draws_of_tiny_shapes_are_corners(global_random_seed):
    posterior = DirichletPosterior(1e-6 * np.array([[1.0, 2.0], [3.0, 4.0]]))
    draws = posterior.sample(4000, random_state=global_random_seed)
    assert np.isfinite(draws).all()
    assert np.mean(draws.max(axis=(1, 2)) > 1 - 1e-9) > 0.99
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean(), atol=0.04)


def test_a_stack_is_a_loop(global_random_seed):
    stack = ConfusionCounts(np.stack([COUNTS.counts, 2 * COUNTS.counts, COUNTS.counts.T]))
    posterior = stack.dirichlet_posterior(prior="laplace")
    theta = posterior.mean()
    assert posterior.shape == (3,)
    assert posterior.sample(7, random_state=global_random_seed).shape == (7, 3, 2, 2)
    assert posterior.predictive(9).sample(7, random_state=0).shape == (7, 3, 2, 2)
    new = np.array([[2, 3], [1, 3]])
    for k, counts in enumerate(stack):
        one = counts.dirichlet_posterior(prior="laplace")
        assert posterior.logpdf(theta)[k] == pytest.approx(one.logpdf(theta[k]), rel=1e-12)
        assert posterior.predictive(9).pmf(new)[k] == pytest.approx(one.predictive(9).pmf(new))
        np.testing.assert_allclose(posterior.covariance()[k], one.covariance())
    with pytest.raises(InvalidParameterError, match="n must be given"):
        posterior.predictive()
    assert COUNTS.dirichlet_posterior().predictive().n == 145


def test_cells_that_cannot_be():
    posterior = ConfusionCounts([[5, 0], [0, 7]]).dirichlet_posterior(prior="haldane")
    assert posterior.pdf([[0.4, 0], [0, 0.6]]) == pytest.approx(stats.beta(5, 7).pdf(0.4))
    assert posterior.pdf([[0.4, 0.1], [0, 0.5]]) == 0
    nothing = ConfusionCounts([[0, 0], [0, 0]]).dirichlet_posterior(prior="haldane")
    assert np.isnan(nothing.mean()).all()
    assert np.isnan(nothing.pdf(np.full((2, 2), 0.25)))
    assert np.isnan(nothing.sample(3, random_state=0)).all()
    with pytest.raises(InvalidParameterError, match="above 0"):
        nothing.predictive(5).sample()


def test_density_at_the_ends():
    flat = DirichletPosterior(np.ones((2, 2)))
    assert flat.pdf([[1, 0], [0, 0]]) == pytest.approx(6)  # 3!
    assert DirichletPosterior([[2, 1], [1, 1]]).pdf([[0, 0.5], [0.25, 0.25]]) == 0
    assert DirichletPosterior([[0.5, 1], [1, 1]]).pdf([[0, 0.5], [0.25, 0.25]]) == np.inf


def test_a_thousand_classes_in_bounded_memory():
    counts = ConfusionCounts(np.eye(1000, dtype=int) * 10)
    posterior = counts.dirichlet_posterior()
    draws = posterior.sample(2, random_state=0)
    assert draws.sum() == pytest.approx(2)
    assert np.isfinite(posterior.logpdf(posterior.mean()))
    assert posterior.predictive(10_000).sample(1, random_state=0).sum() == 10_000
    with pytest.raises(InvalidParameterError, match="variance"):
        posterior.covariance()
    with pytest.raises(InvalidParameterError, match="memory"):
        posterior.sample(1000)


def test_alpha_of_a_posterior():
    np.testing.assert_array_equal(COUNTS.posterior("mcc", prior=1).alpha, COUNTS.counts + 1)
    alpha = THREE.posterior("specificity", prior=1, pos_label=0).alpha
    np.testing.assert_array_equal(alpha, [[52 + 4, 4 + 2], [4 + 2, 20 + 1]])
    for posterior in (
        COUNTS.posterior("recall", prior=1, model="three_beta"),
        COUNTS.posterior("precision", prevalence=0.2),
        COUNTS.posterior("accuracy").predictive(10),
    ):
        assert not hasattr(posterior, "alpha")


def test_marginals_are_the_betas_of_the_cells():
    cells = COUNTS.dirichlet_posterior(prior=1).marginals()
    assert cells.interval().low[1, 1] == pytest.approx(stats.beta(66, 83).ppf(0.025))


def test_it_comes_back_from_a_pickle():
    posterior = COUNTS.dirichlet_posterior()
    again = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(again.alpha, posterior.alpha)
    assert repr(again) == repr(posterior)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: DirichletPosterior([1, 2]), "shape"),
        (lambda: DirichletPosterior([[1, -2], [3, 4]]), ">= 0"),
        (lambda: COUNTS.dirichlet_posterior(prior="flat"), "prior must be"),
        (lambda: COUNTS.dirichlet_posterior().pdf([[1, 1], [1, 1]]), "sum to 1"),
        (lambda: COUNTS.dirichlet_posterior().pdf([0.5, 0.5]), "shape"),
        (lambda: COUNTS.dirichlet_posterior().predictive(0), "n must be"),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(InvalidParameterError, match=match):
        call()
