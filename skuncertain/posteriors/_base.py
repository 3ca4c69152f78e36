"""Univariate posteriors with one protocol, whatever their family.

Every posterior answers ``mean median mode std skewness pdf cdf quantile interval prob sample`` and
says whether it is ``exact``. Stacked parameters give stacked answers: ``cdf``, ``pdf`` and ``prob``
broadcast their argument against the stack, ``quantile`` and ``sample`` add the new axes at the end.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.typing import RandomStateLike
from skuncertain._utils.validation import (
    as_numbers,
    check_integer,
    check_kind,
    check_level,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import collect_into
from skuncertain._version import __version__
from skuncertain.posteriors._about import About
from skuncertain.posteriors._interval import Interval, make_interval


def plain(value):
    """Return a float for a scalar answer, the array otherwise."""
    value = np.asarray(value)
    return value.item() if value.ndim == 0 else value


def check_probability(q):
    """Return `q` as an array of probabilities."""
    given, q = q, as_numbers("q", q)
    refuse_if(np.any(~((q >= 0) & (q <= 1))), "q", "q must be in [0, 1], got {value}.", given)
    return q


def fits(shape, other):
    """Whether arrays of these shapes can be broadcast."""
    try:
        np.broadcast_shapes(shape, other)
    except ValueError:
        return False
    return True


def _is_at(value, end):
    """Whether values are an end of a range, up to rounding."""
    if np.isinf(end):
        return np.equal(value, end)
    return np.abs(np.subtract(value, end)) <= 1e-12 * (1 + abs(end))


class Posterior:
    """What all posteriors share; not constructed by users.

    Parameters
    ----------
    shape : tuple of int
        Shape of the stack; ``()`` for a single posterior.
    about : About, default=About()
        Metric name, prior, observed value and the like.

    See Also
    --------
    BetaPosterior : Posterior of a proportion.
    skuncertain.metrics.metric_posterior : Posterior of a metric from predictions.
    skuncertain.model_selection.fold_posterior : Posterior of a metric from the counts of folds.

    Examples
    --------
    >>> from skuncertain.posteriors import BetaPosterior, Posterior
    >>> def worst_case(posterior: Posterior) -> float:
    ...     return posterior.quantile(0.01)
    >>> round(worst_case(BetaPosterior(27, 3)), 2)
    0.74
    """

    exact = True
    # What a family supplies: the answers above, without checks, as arrays. Instead of `_mean` and
    # `_std` it may have `_moments`: mean and variance.
    _moments: Any
    _pdf: Any
    _cdf: Any
    _quantile: Any
    _quantile_each: Any  # of probabilities (..., *stack); averages over classes only
    _sample: Any
    _hdi: Any
    _skewness: Any
    _mode: Any
    seed: int | None = None
    n_draws: int | None = None

    def __init__(self, shape: tuple[int, ...], about: About = About()) -> None:
        wrong = not isinstance(about, About)
        refuse_if(wrong, "about", "about must be an About, got {value}.", about)
        self.shape = tuple(shape)
        self._about = about

    metric = property(attrgetter("_about.metric"), doc="Name of the metric.")
    range = property(attrgetter("_about.range"), doc="Smallest and largest possible value.")
    prior = property(attrgetter("_about.prior"), doc="Prior that was used.")
    pos_label = property(attrgetter("_about.pos_label"), doc="Class of the metric, if known.")
    prevalence = property(
        attrgetter("_about.prevalence"), doc="Prevalence that was put in place of the data's."
    )
    greater_is_better = property(
        attrgetter("_about.greater_is_better"), doc="Direction of the metric; None if it has none."
    )
    diagnostics = property(
        attrgetter("_about.diagnostics"), doc="How much the folds disagree; None without folds."
    )

    @property
    def about(self) -> About:
        """What the posterior is about, and how it was made."""
        return self._about

    @property
    def observed(self) -> Any:
        """Value that the data give to the question, or NaN."""
        return plain(self._about.observed)

    @property
    def description(self) -> str | None:
        """How the posterior was made."""
        return self._about.made()

    def with_about(self, **changes: Any) -> Self:
        """Return a copy that is about something else.

        Parameters
        ----------
        **changes : dict
            Fields of `About` and their new values.

        Returns
        -------
        Posterior
            The same distribution; this one stays as it is.
        """
        other = copy.copy(self)
        other._about = replace(self._about, **changes)
        return other

    def __repr__(self):
        told = {"shape": self.shape or None, "prior": self.prior, "description": self.description}
        parts = [] if self.metric is None else [f"metric={self.metric!r}"]
        parts += self._about.named()
        parts += self._describe()
        parts += [f"{key}={it!r}" for key, it in told.items() if it not in (None, "dirichlet")]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _describe(self):
        return [f"exact={self.exact}"]

    def _mean(self):
        return self._moments()[0]

    def _std(self):
        return np.sqrt(self._moments()[1])

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

    def skewness(self) -> Any:
        """Posterior skewness: the third central moment in units of the standard deviation.

        Returns
        -------
        float or ndarray
            Below 0 if the longer tail is the left one. NaN for a point mass and where the variance
            is infinite, infinite where only the third moment is. From draws it is theirs.
        """
        return plain(self._skewness())

    def mode(self) -> Any:
        """Posterior mode: where the density is highest.

        Returns
        -------
        float or ndarray
            An end of the range where the density has its pole, or highest value, there; of two
            poles the stronger one. NaN where no single value is the mode: a uniform density, two
            equal poles. From draws it is the half-sample mode [1]_, or the most frequent value
            where one has 1 % of the draws; its error shrinks with the cube root of their number
            only. Of shares k / n it is the likeliest one.

        References
        ----------
        .. [1] D. Bickel, R. Frühwirth (2006). On a fast, robust estimator of the mode.
           Computational Statistics & Data Analysis 50.
        """
        return plain(self._mode())

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
        refuse_if(
            not fits(x.shape, self.shape),
            parameter,
            f"{parameter} must have a shape that fits the stack {self.shape}, got shape {x.shape}.",
        )
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

    def sample(self, size: int = 1, random_state: RandomStateLike = None) -> np.ndarray:
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
        refuse_if(
            not fits(below.shape, above.shape),
            "low",
            f"low and high must have shapes that fit, got {below.shape} and {above.shape}.",
        )
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
        interval is closed there: it reaches up to 1 instead of stopping at 0.9999. At another
        prevalence that is the value at the rates observed within each class. An equal-tailed
        interval then holds that tail as well, a highest-density one becomes one-sided. `quantile`
        stays the plain quantile. A prior with more than 1/2 on an empty cell (for a proportion:
        more than 1 on the empty side) is an opinion of its own and leaves the interval open.

        Proportions (and F1) under the default prior have calibrated ends, because the posterior
        alone is too sure of a perfect score: n of n rows give (alpha / 2)**(1 / n) to 1, with
        alpha = 1 - level (alpha**(1 / n), the rule of three, for "hdi"), and an equal-tailed
        interval reaches up to 1 with one failure, too; likewise at 0.

        Under the default prior the equal-tailed interval of an average over classes with few rows
        is wider than its quantiles are apart: the posterior alone would be too short.
        """
        return make_interval(*self._ends(check_level(level), check_kind(kind)))

    def _ends(self, level, kind):
        # Whether the observed value sits at an end of the range, up to rounding
        at_low, at_high = (
            _is_at(self.observed, end) & closing
            for end, closing in zip(self.range, self._closes(), strict=True)
        )
        if kind == "eti" and self._about.few_rows is not None:
            tails = self._about.few_rows.tails(self._cdf, level)
            low, high = self._quantile_each(np.stack(tails))
        elif kind == "eti":
            ends = self._quantile(np.array([1 - level, 1 + level]) / 2)
            # Quantiles that are one but for rounding may have changed places.
            low, high = np.moveaxis(np.sort(ends, axis=-1), -1, 0)
        else:
            low, high = self._hdi(level)
            # Unless it reaches that end anyway
            to_low, to_high = at_low & (low > self.range[0]), at_high & (high < self.range[1])
            if np.any(to_low | to_high):
                tails = np.moveaxis(self._quantile(np.array([1 - level, level])), -1, 0)
                low, high = np.where(to_high, tails[0], low), np.where(to_low, tails[1], high)
        return np.where(at_low, self.range[0], low), np.where(at_high, self.range[1], high)

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
        return plain(self._monte_carlo_error(None if q is None else check_probability(q)))

    def _monte_carlo_error(self, q):
        return np.broadcast_to(self._about.moment_error, self.shape)

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
            Standard error of the less certain end; 0 if nothing was drawn. For highest-density
            intervals it is taken from the spread between batches of the draws, and shrinks with the
            cube root of their number.
        """
        return plain(self._interval_error(check_level(level), check_kind(kind)))

    def _interval_error(self, level, kind):
        return np.broadcast_to(self._about.moment_error, self.shape)

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
            Observed value, mean, median, interval, what was asked and how it was answered.
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
            **self._about.to_dict(),
            "exact": self.exact,
            "n_draws": self.n_draws,
            "seed": self.seed,
            "skuncertain": __version__,
        }

    def _closes(self):
        """Whether the prior allows closing at the lower and at the upper end."""
        return self._about.closing, self._about.closing

    def updated(self, new_counts: Any) -> Posterior:
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

    def predictive(self, n: int | None = None) -> Posterior:
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

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet shapes of the cells that the metric was computed from, rows true.

        One class among many is a two-by-two table of its own. Posteriors of another model, or with
        a prior on a proportion, have no such shapes.
        """
        found = getattr(self._about.origin, "alpha", None)
        if found is None:
            raise AttributeError(
                "this posterior is no function of one Dirichlet over the cells: "
                "ConfusionCounts.dirichlet_posterior(...) has that."
            )
        return found

    def _source(self, what):
        if self._about.origin is None:
            raise TypeError(
                f"{what}() needs a posterior that was made from counts: "
                "use ConfusionCounts.posterior(...)."
            )
        return self._about.origin


class StackedPosterior(Posterior):
    """Single posteriors of any families as one stack.

    Parameters
    ----------
    parts : list of Posterior
        The members, each a single one.
    about : About
        Metric name, prior and the like; the observed values are those of the members.
    """

    def __init__(self, parts, about):
        observed = np.array([float(part.observed) for part in parts])
        super().__init__((len(parts),), replace(about, observed=observed))
        self._parts = list(parts)
        self.exact = all(part.exact for part in parts)
        drawn = next((part for part in parts if part.n_draws is not None), self)
        self.seed, self.n_draws = drawn.seed, drawn.n_draws

    def _each(self, name, *arguments):
        return np.array([getattr(part, name)(*arguments) for part in self._parts])

    def _mean(self):
        return self._each("mean")

    def _std(self):
        return self._each("std")

    def _skewness(self):
        return self._each("skewness")

    def _mode(self):
        return self._each("mode")

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

    def _ends(self, level, kind):
        with collect_into([]):  # members that warn alike warn once
            return self._each("interval", level, kind).T

    def _monte_carlo_error(self, q):
        return self._each("monte_carlo_error", q)

    def _interval_error(self, level, kind):
        return self._each("interval_error", level, kind)
