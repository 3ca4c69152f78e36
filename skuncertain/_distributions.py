"""Univariate posteriors with one protocol, whatever their family.

Every posterior answers ``mean median std pdf cdf quantile interval prob sample`` and says whether
it is ``exact``. Stacked parameters give stacked answers: ``cdf``, ``pdf`` and ``prob`` broadcast
their argument against the stack, ``quantile`` and ``sample`` add the new axes at the end.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._intervals import Interval, make_interval
from skuncertain._validation import (
    as_numbers,
    check_integer,
    check_kind,
    check_level,
    resolve_seed,
    shown,
)
from skuncertain._version import __version__
from skuncertain._warnings import recorded


def plain(value):
    """Return a float for a scalar answer, the array otherwise."""
    value = np.asarray(value)
    return value.item() if value.ndim == 0 else value


def check_probability(q):
    """Return `q` as an array of probabilities."""
    given, q = q, as_numbers("q", q)
    if np.any(~((q >= 0) & (q <= 1))):
        raise ValueError(f"q must be in [0, 1], got {shown(given)}.")
    return q


def _reaches(observed, end):
    """Whether the observed value sits at an end of the range, up to rounding."""
    if np.isinf(end):
        return observed == end
    return np.abs(observed - end) <= 1e-12 * (1 + abs(end))


class Posterior:
    """What all posteriors share; not constructed by users.

    Parameters
    ----------
    shape : tuple of int
        Shape of the stack; ``()`` for a single posterior.
    metric : str, default=None
        Name of the metric.
    range : tuple of float, default=(0, 1)
        Smallest and largest possible value.
    observed : float or ndarray, default=None
        Value seen in the data, for the boundary rule of `interval`. It stays the one of the data
        when the posterior is about a population with another prevalence, and may then lie far
        outside the interval.
    prior, model : str, default=None
        What was used.
    closing : bool or ndarray, default=True
        Whether the prior is weak enough for the boundary rule.
    origin : object, default=None
        What `updated` and `predictive` go back to.
    greater_is_better : bool or None, default=True
        Direction of the metric.
    """

    exact = True
    _hdi_reaches_ends = False
    # What a family supplies: the answers above, without checks, as arrays.
    _mean: Any
    _std: Any
    _pdf: Any
    _cdf: Any
    _quantile: Any
    _sample: Any
    _hdi: Any
    seed: int | None = None
    n_draws: int | None = None
    diagnostics: Any = None  # of fold methods

    def __init__(
        self,
        shape,
        *,
        metric=None,
        range=(0.0, 1.0),
        observed=None,
        prior=None,
        model=None,
        closing=True,
        origin=None,
        greater_is_better=True,
    ):
        self.shape = tuple(shape)
        self.metric, self.range = metric, range
        self.prior, self.model = prior, model
        self.observed = np.nan if observed is None else observed
        self.greater_is_better = greater_is_better
        self._closing = closing
        self._origin = origin

    def __repr__(self):
        parts = [] if self.metric is None else [f"metric={self.metric!r}"]
        parts += self._describe()
        if self.shape:
            parts.append(f"shape={self.shape}")
        if self.prior is not None:
            parts.append(f"prior={self.prior!r}")
        if self.model not in (None, "dirichlet"):
            parts.append(f"model={self.model!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _describe(self):
        return [f"exact={self.exact}"]

    def mean(self) -> Any:
        """Posterior mean.

        Returns
        -------
        float or ndarray
            The mean; infinite where the integral diverges, as for a likelihood ratio with no false
            positives.
        """
        return plain(self._mean())

    def std(self) -> Any:
        """Posterior standard deviation.

        Returns
        -------
        float or ndarray
            The standard deviation.
        """
        return plain(self._std())

    def pdf(self, x: ArrayLike) -> Any:
        """Density of the metric.

        Parameters
        ----------
        x : float or array-like
            Where; broadcast against the stack.

        Returns
        -------
        float or ndarray
            The density. From draws it is a kernel estimate: good for a plot, not for computing.
        """
        return plain(self._pdf(self._broadcastable("x", x)))

    def cdf(self, x: ArrayLike) -> Any:
        """Probability that the metric is at most x.

        Parameters
        ----------
        x : float or array-like
            Where; broadcast against the stack.

        Returns
        -------
        float or ndarray
            The probability.
        """
        return plain(self._cdf(self._broadcastable("x", x)))

    def _broadcastable(self, parameter, x):
        """Numbers whose shape fits that of the stack."""
        x = as_numbers(parameter, x)
        try:
            np.broadcast_shapes(x.shape, self.shape)
        except ValueError:
            raise ValueError(
                f"{parameter} must have a shape that fits the stack {self.shape}, got shape "
                f"{x.shape}."
            ) from None
        return x

    def quantile(self, q: ArrayLike) -> Any:
        """Quantile.

        Parameters
        ----------
        q : float or array-like
            Probabilities; its axes follow those of the stack.

        Returns
        -------
        float or ndarray
            The quantiles.
        """
        return plain(self._quantile(check_probability(q)))

    def sample(self, size: int = 1, random_state: Any = None) -> np.ndarray:
        """Random draws from the posterior.

        Parameters
        ----------
        size : int, default=1
            Number of draws.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (..., size)
            The draws.
        """
        size = check_integer("size", size, low=1, high=10**9)
        return self._sample(size, np.random.default_rng(resolve_seed(random_state)))

    def median(self) -> Any:
        """Posterior median.

        Returns
        -------
        float or ndarray
            The 0.5 quantile.
        """
        return self.quantile(0.5)

    def prob(self, low: ArrayLike = -np.inf, high: ArrayLike = np.inf) -> Any:
        """Probability that the metric lies in (low, high].

        Parameters
        ----------
        low, high : float or array-like
            Ends; the default is open-ended.

        Returns
        -------
        float or ndarray
            The probability.
        """
        below, above = self._broadcastable("low", low), self._broadcastable("high", high)
        try:
            np.broadcast_shapes(below.shape, above.shape)
        except ValueError:
            raise ValueError(
                f"low and high must have shapes that fit, got {below.shape} and {above.shape}."
            ) from None
        value = np.asarray(self._cdf(above)) - np.asarray(self._cdf(below))
        return plain(np.maximum(value, 0.0))

    def interval(self, level: float = 0.95, kind: str = "eti") -> Interval:
        """Credible interval.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.

        Notes
        -----
        Where the observed value sits at an end of the metric's range (26 hits out of 26), the
        interval is closed there: it reaches up to 1 instead of stopping at 0.9999. An equal-tailed
        interval then holds that tail as well, a highest-density one becomes one-sided. `quantile`
        stays the plain quantile. A prior with more than 1/2 on an empty cell (for a proportion:
        more than 1 on the empty side) is an opinion of its own and leaves the interval open.
        """
        level, kind = check_level(level), check_kind(kind)
        at_low, at_high = (
            _reaches(self.observed, end) & closing
            for end, closing in zip(self.range, self._closes(), strict=True)
        )
        if kind == "eti":
            ends = self._quantile(np.array([1 - level, 1 + level]) / 2)
            low, high = ends[..., 0], ends[..., 1]
        else:
            low, high = self._hdi(level)
            if not self._hdi_reaches_ends and np.any(at_low | at_high):
                tails = np.moveaxis(self._quantile(np.array([1 - level, level])), -1, 0)
                low, high = np.where(at_high, tails[0], low), np.where(at_low, tails[1], high)
        low = np.where(at_low, self.range[0], low)
        high = np.where(at_high, self.range[1], high)
        return make_interval(low, high)

    _moment_error: Any = 0.0  # of a family whose parameters were fitted to draws

    def monte_carlo_error(self, q: float | None = None) -> Any:
        """Monte Carlo error of the mean or of a quantile.

        Parameters
        ----------
        q : float, default=None
            Of the quantile at `q`; by default of the mean.

        Returns
        -------
        float or ndarray
            Standard error that the number of draws leaves; 0 if nothing was drawn.
        """
        return plain(np.broadcast_to(self._moment_error, self.shape))

    def interval_error(self, level: float = 0.95, kind: str = "eti") -> Any:
        """Monte Carlo error of the ends of an interval.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        float or ndarray
            Standard error of the less certain end; 0 if nothing was drawn.
        """
        return plain(np.broadcast_to(self._moment_error, self.shape))

    def to_dict(self, level: float = 0.95, kind: str = "eti") -> dict:
        """Plain representation.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        dict
            Observed value, mean, median, interval, and how they were made.
        """
        low, high = self.interval(level, kind)
        numbers = {
            "observed": self.observed,
            "mean": self.mean(),
            "median": self.median(),
            "std": self.std(),
            "low": low,
            "high": high,
            "interval_error": self.interval_error(level, kind),
        }
        return {
            "metric": self.metric,
            **{name: np.asarray(value).tolist() for name, value in numbers.items()},
            "level": level,
            "kind": kind,
            "prior": self.prior,
            "model": self.model,
            "exact": self.exact,
            "n_draws": self.n_draws,
            "seed": self.seed,
            "skuncertain": __version__,
        }

    def _closes(self):
        """Whether the prior allows closing at the lower and at the upper end."""
        return self._closing, self._closing

    def updated(self, new_counts: Any) -> "Posterior":
        """Posterior after more data.

        Parameters
        ----------
        new_counts : ConfusionCounts
            Counts of the new rows, with the same labels.

        Returns
        -------
        Posterior
            With a fixed prior the old posterior is the prior of the new one: shapes add. The priors
            "auto" (more than two classes) and "shared" look at the data, so they are recomputed
            from all counts.
        """
        return self._source("updated").updated(new_counts)

    def predictive(self, n: int | None = None) -> "Posterior":
        """Distribution of the metric on another test set.

        Parameters
        ----------
        n : int, default=None
            Number of rows of the new test set; by default as many as were observed.

        Returns
        -------
        Posterior
            The posterior is the uncertainty of the true metric; the predictive distribution adds
            the noise of a new sample of `n` rows (Caelen 2017, algorithm 1).
        """
        return self._source("predictive").predictive(n)

    def _source(self, what):
        if self._origin is None:
            raise TypeError(
                f"{what}() needs a posterior that was made from counts: "
                "use ConfusionCounts.posterior(...)."
            )
        return self._origin


class StackedPosterior(Posterior):
    """Single posteriors of any families as one stack.

    Parameters
    ----------
    parts : list of Posterior
        The members, each a single one.
    **info : dict
        Metric name, prior and the like.
    """

    def __init__(self, parts, **info):
        observed = np.array([float(part.observed) for part in parts])
        super().__init__((len(parts),), observed=observed, **info)
        self._parts = list(parts)
        self.exact = all(part.exact for part in parts)
        self.seed = next((part.seed for part in parts if part.seed is not None), None)
        self.n_draws = next((part.n_draws for part in parts if part.n_draws is not None), None)

    def _each(self, name, *arguments):
        return np.array([getattr(part, name)(*arguments) for part in self._parts])

    def _mean(self):
        return self._each("mean")

    def _std(self):
        return self._each("std")

    def _along(self, name, x):
        x = np.broadcast_to(x, np.broadcast_shapes(np.shape(x), self.shape))
        values = [getattr(part, name)(x[..., k]) for k, part in enumerate(self._parts)]
        return np.stack(values, axis=-1)

    def _pdf(self, x):
        return self._along("pdf", x)

    def _cdf(self, x):
        return self._along("cdf", x)

    def _quantile(self, q):
        return np.stack([np.asarray(part.quantile(q)) for part in self._parts])

    def _sample(self, size, rng):
        return np.stack([part._sample(size, rng) for part in self._parts])

    def interval(self, level: float = 0.95, kind: str = "eti") -> Interval:
        """Credible interval of every member.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        with recorded([]):  # members that warn alike warn once
            low, high = self._each("interval", level, kind).T
        return make_interval(low, high)

    def interval_error(self, level: float = 0.95, kind: str = "eti") -> Any:
        """Monte Carlo error of the ends of every interval.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        ndarray
            Standard errors; 0 if nothing was drawn.
        """
        return self._each("interval_error", level, kind)
