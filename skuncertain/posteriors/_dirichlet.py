"""The whole confusion matrix: a Dirichlet over its cells, and new matrices of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from skuncertain._numerics.beta import stirling_remainder
from skuncertain._numerics.gamma_draws import log_gamma
from skuncertain._utils.typing import RandomStateLike
from skuncertain._utils.validation import as_numbers, check_integer, refuse_if, resolve_seed
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import fits, plain
from skuncertain.posteriors._beta import LARGEST_SHAPE, BetaPosterior

_AT_ONCE = 2**20  # cells drawn at once
_MOST_COVARIANCES = 2**27  # 1 GiB
_MOST_CELLS = 2.5e8  # of all draws together: 2 GB
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


class _OfMatrices:
    """What the distributions of whole matrices share: cells, stacks and draws."""

    alpha: np.ndarray

    @property
    def shape(self) -> tuple:
        """Shape of the stack, ``()`` for one matrix."""
        return self.alpha.shape[:-2]

    @property
    def n_classes(self) -> int:
        """Number of classes C."""
        return self.alpha.shape[-1]

    def _total(self):
        return self.alpha.sum(axis=(-2, -1), keepdims=True)

    def _share(self):
        """Means of the cells; NaN where all shapes are 0."""
        with np.errstate(invalid="ignore"):
            return self.alpha / self._total()

    def _check_matrices(self, parameter, x):
        x = as_numbers(parameter, x)
        refuse_if(
            x.shape[-2:] != self.alpha.shape[-2:] or not fits(x.shape[:-2], self.shape),
            parameter,
            f"{parameter} must have shape (..., {self.n_classes}, {self.n_classes}) that fits the "
            f"stack {self.shape}, got shape {x.shape}.",
        )
        return x

    def _covariance(self, factor):
        """Covariances `factor` (diag m - m m') of the cells in the order of their rows."""
        cells = self.n_classes**2
        number = cells**2 * int(np.prod(self.shape))
        refuse_if(
            number > _MOST_COVARIANCES,
            "self",
            f"the covariance of {cells} cells has {number} entries: use variance(), or fewer "
            "classes or matrices.",
        )
        mean = self._share().reshape(*self.shape, cells)
        found = -mean[..., :, None] * mean[..., None, :]
        found[..., np.arange(cells), np.arange(cells)] = mean * (1 - mean)
        return factor * found

    def _draw(self, size, random_state, dtype, values):
        """Array (size, ..., C, C), filled by ``values(rng, number)`` so many draws at a time."""
        size = check_integer("size", size, low=1, high=10**9)
        refuse_if(
            size * self.alpha.size > _MOST_CELLS,
            "size",
            f"size={size} draws of {self.alpha.size} cells do not fit into memory: draw fewer at "
            "a time.",
        )
        rng = np.random.default_rng(resolve_seed(random_state))
        drawn = np.empty((size, *self.alpha.shape), dtype=dtype)
        step = max(1, _AT_ONCE // max(self.alpha.size, 1))
        for start in range(0, size, step):
            number = min(step, size - start)
            drawn[start : start + number] = values(rng, number)
        return drawn

    def _thetas(self, rng, number):
        """Draws of the probabilities of all cells."""
        if np.all(self.alpha.max(axis=(-2, -1), initial=0.0) >= 0.1):
            cells = rng.standard_gamma(self.alpha, size=(number, *self.alpha.shape))
        else:  # all gammas of a matrix could be rounded to 0
            logs = log_gamma(rng, self.alpha, number)
            with np.errstate(invalid="ignore"):
                logs -= logs.max(axis=(-2, -1), keepdims=True)
                cells = np.exp(logs, out=logs)
        with np.errstate(invalid="ignore"):
            cells /= cells.sum(axis=(-2, -1), keepdims=True)
        return cells


class DirichletPosterior(_OfMatrices):
    """Dirichlet posterior of the probabilities of all cells of a confusion matrix.

    Parameters
    ----------
    alpha : array-like of shape (..., C, C)
        Shapes: counts plus prior, rows true. A cell with the shape 0 has the probability 0; a
        matrix of zeros is undefined (NaN).
    n : int or array-like, default=None
        Number of rows that were observed, the default of `predictive`.
    prior : str, default=None
        Prior that was used.

    See Also
    --------
    ConfusionCounts.dirichlet_posterior : Makes it.
    ConfusionCounts.posterior : Posterior of one metric.
    DirichletPredictive : Counts of new rows.

    Notes
    -----
    Caelen [1]_, section 3. Density and covariance are those of ``scipy.stats.dirichlet`` for the
    flattened matrix, where that is defined; they keep their digits at counts of 1e9.

    References
    ----------
    .. [1] O. Caelen (2017). A Bayesian interpretation of the confusion matrix. Annals of
       Mathematics and Artificial Intelligence 81.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> posterior = counts.dirichlet_posterior(prior="laplace")
    >>> posterior.alpha
    array([[31., 36.],
           [16., 66.]])
    >>> posterior.mean().round(3)
    array([[0.208, 0.242],
           [0.107, 0.443]])
    >>> posterior.sample(1000, random_state=0).shape
    (1000, 2, 2)
    """

    def __init__(self, alpha: ArrayLike, *, n: Any = None, prior: str | None = None) -> None:
        given = as_numbers("alpha", alpha)
        refuse_if(
            given.ndim < 2 or given.shape[-1] != given.shape[-2] or given.shape[-1] < 2,
            "alpha",
            f"alpha must have shape (..., C, C) with C >= 2, got shape {given.shape}.",
        )
        refuse_if(
            not np.all((given >= 0) & (given <= LARGEST_SHAPE)),
            "alpha",
            f"alpha must be finite and >= 0 (at most {LARGEST_SHAPE:g}), got {{value}}.",
            alpha,
        )
        self.alpha = given
        self.alpha.flags.writeable = False
        self.n, self.prior = n, prior

    def __repr__(self):
        shape = f"shape={self.shape}, " if self.shape else ""
        prior = "" if self.prior is None else f", prior={self.prior!r}"
        return f"DirichletPosterior({shape}classes={self.n_classes}{prior})"

    def mean(self) -> np.ndarray:
        """Posterior mean of every cell.

        Returns
        -------
        ndarray of shape (..., C, C)
            Probabilities that sum to 1.
        """
        return self._share()

    def variance(self) -> np.ndarray:
        """Posterior variance of every cell.

        Returns
        -------
        ndarray of shape (..., C, C)
            The variances.
        """
        mean, total = self._share(), self._total()
        with np.errstate(invalid="ignore"):
            return mean * (1 - mean) / (total + 1)

    def covariance(self) -> np.ndarray:
        """Posterior covariance of the cells.

        Returns
        -------
        ndarray of shape (..., C * C, C * C)
            Covariances of the cells in the order of ``alpha.ravel()``. Refused where they take
            more than 1 GiB (more than 107 classes): see `variance`.
        """
        return self._covariance(1 / (self._total() + 1))

    def marginals(self) -> BetaPosterior:
        """Posterior of the probability of every cell.

        Returns
        -------
        BetaPosterior
            A stack of shape (..., C, C).
        """
        rest = self._total() - self.alpha
        about = About(metric="probability of a cell", prior=self.prior)
        return BetaPosterior(self.alpha, np.maximum(rest, 0.0), about=about)

    def logpdf(self, theta: ArrayLike) -> Any:
        """Log density of matrices of probabilities.

        Parameters
        ----------
        theta : array-like of shape (..., C, C)
            Probabilities of all cells, which sum to 1; broadcast against the stack.

        Returns
        -------
        float or ndarray
            Log density with respect to all cells but one. Cells with the shape 0 are no part of
            it: their probability is 0, and anything else has the density 0.
        """
        x = self._check_matrices("theta", theta)
        refuse_if(
            not np.all((x >= 0) & (abs(x.sum(axis=(-2, -1), keepdims=True) - 1) < 1e-8)),
            "theta",
            "theta must hold probabilities >= 0 that sum to 1 over all cells of a matrix.",
        )
        a, x = np.broadcast_arrays(self.alpha, x)
        used, total, mean = a > 0, self._total(), self._share()
        p, m = np.where(used, a, 1.0), np.where(used, mean, 1.0)
        # At the mean by Stirling, and from there by relative distances r, whose sum with weights
        # p is 0: differences of gammaln and of logs have no digits left at counts of 1e9.
        with np.errstate(divide="ignore", invalid="ignore"):
            r = (x - m) / m
            near = p * (_log_ratio(x, m, r) - r) - np.log(x)
            cells = np.where(x > 0, near, xlogy(p - 1, x) - p * np.log(m) - p * r)
            cells += 0.5 * np.log(p) - _HALF_LOG_2PI - stirling_remainder(p)
            value = np.where(used, cells, np.where(x > 0, -np.inf, 0.0)).sum(axis=(-2, -1))
            whole = stirling_remainder(total) + _HALF_LOG_2PI - 0.5 * np.log(total)
            value = np.where(total[..., 0, 0] > 0, value + whole[..., 0, 0], np.nan)
        return plain(value)

    def pdf(self, theta: ArrayLike) -> Any:
        """Density of matrices of probabilities.

        Parameters
        ----------
        theta : array-like of shape (..., C, C)
            Probabilities of all cells, which sum to 1; broadcast against the stack.

        Returns
        -------
        float or ndarray
            The density, see `logpdf`.
        """
        with np.errstate(over="ignore"):
            return plain(np.exp(self.logpdf(theta)))

    def sample(self, size: int = 1, random_state: RandomStateLike = None) -> np.ndarray:
        """Random matrices of probabilities.

        Parameters
        ----------
        size : int, default=1
            Number of draws.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (size, ..., C, C)
            The draws; each matrix sums to 1.
        """
        return self._draw(size, random_state, float, self._thetas)

    def predictive(self, n: int | None = None) -> DirichletPredictive:
        """Distribution of the counts of a new test set.

        Parameters
        ----------
        n : int, default=None
            Number of rows of the new test set; by default as many as were observed.

        Returns
        -------
        DirichletPredictive
            Whole matrices of counts (Caelen 2017, algorithm 1).
        """
        if n is None:
            totals = np.unique([np.nan] if self.n is None else np.asarray(self.n, dtype=float))
            refuse_if(
                totals.size != 1 or totals[0] != np.rint(totals[0]) or totals[0] < 1,
                "n",
                "n must be given: there is no common whole number of observed rows.",
            )
            n = int(totals[0])
        return DirichletPredictive(self.alpha, check_integer("n", n, low=1, high=2**53))


class DirichletPredictive(_OfMatrices):
    """Counts of new rows whose probabilities are a Dirichlet: the Dirichlet-multinomial.

    Parameters
    ----------
    alpha : ndarray of shape (..., C, C)
        Shapes of the Dirichlet.
    n : int
        Number of new rows.

    See Also
    --------
    DirichletPosterior.predictive : Makes it.
    Posterior.predictive : The same for one metric.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> new = counts.dirichlet_posterior(prior="laplace").predictive(20)
    >>> new.sample(3, random_state=0).sum(axis=(1, 2))
    array([20, 20, 20])
    >>> round(new.pmf([[4, 5], [2, 9]]), 4)
    0.0113
    """

    def __init__(self, alpha: np.ndarray, n: int) -> None:
        self.alpha, self.n = alpha, n

    def __repr__(self):
        shape = f"shape={self.shape}, " if self.shape else ""
        return f"DirichletPredictive({shape}classes={self.n_classes}, n={self.n})"

    def mean(self) -> np.ndarray:
        """Mean of every cell.

        Returns
        -------
        ndarray of shape (..., C, C)
            Counts that sum to `n`.
        """
        return self.n * self._share()

    def covariance(self) -> np.ndarray:
        """Covariance of the cells.

        Returns
        -------
        ndarray of shape (..., C * C, C * C)
            Covariances of the cells in the order of ``alpha.ravel()``.
        """
        total = self._total()
        return self._covariance(self.n * (total + self.n) / (total + 1))

    def logpmf(self, counts: ArrayLike) -> Any:
        """Log probability of matrices of counts.

        Parameters
        ----------
        counts : array-like of shape (..., C, C)
            Counts; broadcast against the stack.

        Returns
        -------
        float or ndarray
            Log probability; -inf for what cannot be: counts that do not sum to `n`, are no whole
            numbers, or stand in a cell with the shape 0.
        """
        x = self._check_matrices("counts", counts)
        possible = np.all((x >= 0) & (x == np.rint(x)), axis=(-2, -1))
        with np.errstate(invalid="ignore"):
            possible &= x.sum(axis=(-2, -1)) == self.n
        a, x = np.broadcast_arrays(self.alpha, np.where(np.isfinite(x) & (x >= 0), x, 0.0))
        total, n = self._total(), float(self.n)
        occupied = (x > 0) & (a > 0)
        p, k = np.where(a > 0, a, 1.0), np.where(occupied, x, 1.0)
        # -log k - betaln(p, k) of every cell and the same of the totals, by Stirling. What would
        # cancel between cells and totals at large counts is written with the distances d and e.
        with np.errstate(divide="ignore", invalid="ignore"):
            both = a + x
            gap = a * n - total * x
            d, e = gap / (total * both), -gap / (n * both)
            share, rest = total / (total + n), n / (total + n)
            drop = p * (_log_ratio(p / both, share, d) - d) * (a > 0)
            drop += np.where(occupied, k * (_log_ratio(k / both, rest, e) - e), 0.0)
            drop = np.where(both > 0, drop + gap**2 / (both * total * n), 0.0)
            single = np.where(occupied, -np.log(k) - _log_beta_rest(p, k), 0.0)
            value = (single - drop).sum(axis=(-2, -1))
            value = value + (np.log(n) + _log_beta_rest(total, n))[..., 0, 0]
        possible = possible & ~np.any((x > 0) & (a == 0), axis=(-2, -1))
        value = np.where(possible, value, -np.inf)
        return plain(np.where(total[..., 0, 0] > 0, value, np.nan))

    def pmf(self, counts: ArrayLike) -> Any:
        """Probability of matrices of counts.

        Parameters
        ----------
        counts : array-like of shape (..., C, C)
            Counts; broadcast against the stack.

        Returns
        -------
        float or ndarray
            The probability, see `logpmf`.
        """
        return plain(np.exp(self.logpmf(counts)))

    def sample(self, size: int = 1, random_state: RandomStateLike = None) -> np.ndarray:
        """Random matrices of counts: probabilities are drawn first, then rows.

        Parameters
        ----------
        size : int, default=1
            Number of draws.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (size, ..., C, C)
            Whole numbers; each matrix sums to `n`.
        """
        refuse_if(
            not np.all(self.alpha.sum(axis=(-2, -1)) > 0),
            "alpha",
            "alpha must have a shape above 0 in every matrix: nothing can be drawn otherwise.",
        )

        def values(rng, number):
            theta = self._thetas(rng, number)
            flat = theta.reshape(*theta.shape[:-2], -1)
            return rng.multinomial(self.n, flat).reshape(theta.shape)

        return self._draw(size, random_state, np.int64, values)


def _log_ratio(x, y, r):
    """log(x / y), from r = x / y - 1 where they are close."""
    return np.where(np.abs(r) < 0.5, np.log1p(r), np.log(x) - np.log(y))


def _log_beta_rest(p, q):
    """Log of B(p, q) without p log(p / (p + q)) + q log(q / (p + q))."""
    remainder = stirling_remainder(p) + stirling_remainder(q) - stirling_remainder(p + q)
    return _HALF_LOG_2PI + 0.5 * (np.log(p + q) - np.log(p) - np.log(q)) + remainder
