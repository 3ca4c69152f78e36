"""The fold methods: from fold matrices to one posterior.

The folds of a cross-validation share most of their training rows, so K fold values are not K
independent observations, and pooled counts are not n independent rows. Every method here is a way
of dealing with that; the table `METHODS` lists them with the options that they know.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.beta_sums import BetaSum
from skuncertain._numerics.quadrature import Link
from skuncertain._utils.validation import (
    check_bool,
    check_choice,
    check_draws,
    check_number,
    is_real,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import silence, warn_user
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    SmallSampleWarning,
)
from skuncertain.metrics._bootstrap import multinomial_replicates
from skuncertain.metrics._few_rows import warn_weighted
from skuncertain.metrics._formulas import collapse, proportion_counts, two_by_two
from skuncertain.metrics._posterior import PosteriorOptions, posterior_of, warn_small
from skuncertain.metrics._priors import (
    PER_CELL,
    check_prior,
    describe_prior,
    resolve_number,
    scale_prior,
)
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._fold_t import score_posterior
from skuncertain.model_selection._fold_variance import ESTIMANDS, FoldVariance
from skuncertain.model_selection._folds import Folds, warn_of_disagreement
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import DrawsPosterior, default_draws
from skuncertain.posteriors._integral import IntegralPosterior
from skuncertain.posteriors._student_normal import AffinePosterior

_MOMENT_DRAWS = 2000  # per fold: enough for its mean and variance
_MOST_SUMS = 1000  # beyond, averages of fold posteriors are drawn


@dataclass(frozen=True)
class Method:
    """A fold method.

    Attributes
    ----------
    build : callable
        ``build(folds, options, weight)`` makes the posterior.
    options : tuple of str
        Options that it knows; others are refused.
    pools : bool
        Whether it adds up the folds, so that all rows must have been tested equally often.
    estimand : str
        What it is about, if that is not an option.
    """

    build: Callable
    options: tuple[str, ...] = ()
    pools: bool = True
    estimand: str = "fitted"


@dataclass(frozen=True, eq=False)
class FoldOptions:
    """A fold method and its options, checked when they are put together.

    Attributes
    ----------
    method, omega, estimand, prior, rho, prior_per_fold, n_train, n_test : object
        See `fold_posterior`.
    """

    method: str = "pooled"
    omega: Any = "auto"
    estimand: str = "fitted"
    prior: Any = 1.0
    rho: float | None = None
    prior_per_fold: bool | None = None
    n_train: Any = None
    n_test: Any = None

    def __post_init__(self):
        find_method(self.method)
        for option in fields(self)[1:]:
            value = getattr(self, option.name)
            value = value.item() if isinstance(value, np.generic) else value
            plain = isinstance(value, str | int | float)
            if value is not option.default and not (plain and value == option.default):
                check_option(self.method, option.name)
        check_choice("estimand", self.estimand, ESTIMANDS)
        check_omega(self.omega)
        refuse_if(
            self.estimand != "fitted" and self.omega != "auto",
            "estimand",
            f"estimand={self.estimand!r} needs omega='auto': a given omega answers no other "
            f"question, got omega={self.omega!r}.",
        )
        if self.rho is not None:
            check_number("rho", self.rho, low=0, high=1)
        if self.prior_per_fold is not None:
            check_bool("prior_per_fold", self.prior_per_fold)

    @property
    def pools(self):
        """Whether the method adds up the folds."""
        return METHODS[self.method].pools

    @property
    def question(self):
        """Estimand of the method."""
        found = METHODS[self.method]
        return self.estimand if "estimand" in found.options else found.estimand

    @property
    def pooling(self):
        """These options if they pool folds, otherwise the default ones."""
        return self if self.method == "pooled" else FoldOptions()

    def answer(self, counts, metric, prior="auto", random_state=None):
        """Posterior of other counts ``(..., splits)`` of the same folds, such as at a threshold.

        Nothing is known of the models there. `prior` "auto" is that of the cross-validation.
        """
        options = self.pooling
        if not (isinstance(prior, str) and prior == "auto"):
            options = replace(options, prior=prior)
        folds = Folds.of(counts, metric, 1, random_state=random_state)
        return make_fold_posterior(folds, options)

    def weight(self, counts, metric):
        """One weight of the rows for a metric at several thresholds, counts ``(k, splits)``."""
        options, folds = self.pooling, Folds.of(counts, metric, 1)
        if check_omega(options.omega, folds.n_folds) != "auto":
            return float(_pooled_weight(folds, options)[0])
        needed = folds.variance.needed(options.estimand).sum()
        return float(folds.variance.binomial.sum() / needed) if needed > 0 else 1.0

    def weight_of(self, influence, variance, fewest):
        """Weight of the rows for an estimate that is no metric of counts.

        `influence` (splits,) is what the rows of every fold add to its error, `variance` that of
        independent rows, and `fewest` the size of the smaller class.
        """
        options, k = self.pooling, len(influence)
        omega = check_omega(options.omega, k)
        if omega == "auto":
            between = k / (k - 1) * np.square(influence).sum() if k > 1 else 0.0
            binomial, found = np.asarray(variance), np.asarray(fewest)
            spread = FoldVariance(binomial, between, binomial, np.nan, found, k, 1)
            return float(spread.omega(options.estimand))
        return wang_li_omega(k) if omega == "wang_li" else omega

    def prior_for(self, n_classes):
        """Prior as the method needs it: per cell for "dirichlet", otherwise per proportion.

        That is λ, the same on each side of a proportion, or an array per cell.
        """
        prior = check_prior(self.prior, n_classes)
        if self.method == "dirichlet":
            return prior
        prior = resolve_number(prior, 1.0)
        refuse_if(
            isinstance(prior, str) and prior not in PER_CELL,
            "prior",
            f"prior={prior!r} is a prior of one matrix; for folds give a number per proportion, "
            f"{', '.join(map(repr, PER_CELL))} or an array (C, C).",
        )
        return PER_CELL[prior] if isinstance(prior, str) else prior


def find_method(name):
    """Look a fold method up by its name."""
    return METHODS[check_choice("method", name, METHODS)]


def check_option(method, name):
    """Refuse an option that a method does not know, instead of ignoring it."""
    methods = [repr(m) for m, known in METHODS.items() if name in known.options]
    refuse_if(
        name not in METHODS[method].options,
        name,
        f"{name} is used by method {', '.join(methods)} only, got method={method!r}.",
    )


def check_omega(omega, n_folds=np.inf):
    """Return "auto", "wang_li" or a number in [1/K, 1]; as long as K is not known, in (0, 1]."""
    if isinstance(omega, str):
        return check_choice("omega", omega, ("auto", "wang_li"))
    known = f" = [{1 / n_folds:g}, 1]" if np.isfinite(n_folds) else ""
    refuse_if(
        not is_real(omega) or not 0 < omega <= 1 or omega < 1 / n_folds - 1e-12,
        "omega",
        f"omega must be in [1/K, 1]{known}, got {{value}}.",
        omega,
    )
    return float(omega)


def make_fold_posterior(folds: Folds, options: FoldOptions, *, warn: bool = False) -> Any:
    """Posterior by one of the METHODS, with its diagnostics."""
    method = METHODS[options.method]
    weight = np.full(folds.shape, 1.0 if method.pools else np.nan)
    if options.method == "pooled":
        weight = _pooled_weight(folds, options)
    if method.pools and not np.all(folds.matrices.sum(axis=(-3, -2, -1)) > 0):
        warn_user("there are no rows in any fold: the answer is the prior.", UndefinedMetricWarning)
    if method.pools and folds.rows is not None and options.method != "dirichlet":  # it warns itself
        warn_weighted(folds.pooled, folds.rows, folds.metric, folds.positive)
    result = method.build(folds, options, weight)
    if warn and method.pools and (text := folds.disagreement()):
        warn_of_disagreement([text])
    return result.with_about(
        diagnostics=folds.diagnostics(options.method, weight, options.question),
        **folds.question(options.method, options.question),
    )


def _pooled_weight(folds, options):
    """Omega of every problem of the stack."""
    omega = check_omega(options.omega, folds.n_folds)
    if omega == "auto":
        return folds.variance.omega(options.estimand)
    return np.full(folds.shape, wang_li_omega(folds.n_folds) if omega == "wang_li" else omega)


def _proportion_prior(folds, prior):
    """Pseudo-counts on both sides of the proportion."""
    if isinstance(prior, float):
        return prior, prior
    return proportion_counts(prior, folds.metric, folds.positive)[:2]


# --------------------------------------------------------------------------------------------------
# Pooled counts


def _pooled(folds, options, weight):
    """Beta posterior of a proportion, the ordinary posterior of any other metric."""
    matrix = weight[..., None, None] * folds.pooled
    prior = options.prior_for(matrix.shape[-1])
    found = proportion_counts(matrix, folds.metric, folds.positive)
    if found is None:
        return _of_cells(folds, matrix, prior)
    hits, misses, odds = found
    if np.any((hits + misses == 0) & (folds.pooled.sum(axis=(-2, -1)) > 0)):
        warn_user(
            f"{folds.metric.name} is 0/0 in the pooled folds: the interval leans on the prior.",
            UndefinedMetricWarning,
        )
    before = _proportion_prior(folds, prior)
    a, b = hits + before[0], misses + before[1]
    if np.any((a == 0) | (b == 0)):
        warn_user(
            f"the prior puts no mass on an outcome of {folds.metric.name} that was not observed:"
            " its posterior is a point mass or undefined. Use a prior above 0.",
            UndefinedMetricWarning,
        )
    alike = isinstance(prior, float)
    text = f"{prior:g} on each side of the proportion" if alike else describe_prior(prior)
    return BetaPosterior(a, b, odds=odds, about=folds.about(text))


def _of_cells(folds, matrix, prior, n_draws=None):
    """Ordinary posterior, under `prior` times the default prior of a single matrix."""
    positive = folds.positive
    if isinstance(prior, float):
        if folds.metric.average == "binary":
            matrix, positive = two_by_two(*collapse(matrix, positive)), 1
        prior = scale_prior(prior, matrix)
    n_draws = n_draws if folds.n_draws is None else folds.n_draws
    options = PosteriorOptions(prior, n_draws=n_draws, random_state=folds.random_state)
    # Few rows are few rows; that they count less in folds is another matter.
    with silence(SmallSampleWarning):
        result = posterior_of(matrix, folds.metric, positive, options)
    if matrix.shape[-1] > 2:
        warn_small(folds.pooled, folds.metric)
    return result


def _dirichlet(folds, options, weight):
    ordinary = PosteriorOptions(
        options.prior, n_draws=folds.n_draws, random_state=folds.random_state
    ).checked(folds.pooled.shape[-1])
    return posterior_of(folds.pooled, folds.metric, folds.positive, ordinary, rows=folds.rows)


def _bootstrap(folds, options, weight):
    seed = resolve_seed(folds.random_state)
    flat = folds.pooled.reshape(-1, *folds.pooled.shape[-2:])
    n_draws = _number_of_draws(folds, len(flat))
    draws = np.full((len(flat), n_draws), np.nan)
    children = np.random.SeedSequence(seed).spawn(len(flat))
    for row, (matrix, child) in enumerate(zip(flat, children, strict=True)):
        if np.rint(matrix.sum()) >= 1:
            draws[row] = multinomial_replicates(
                matrix * (np.rint(matrix.sum()) / matrix.sum()),
                lambda m: folds.metric.evaluate(m, positive=folds.positive),
                n_draws,
                np.random.default_rng(child),
            )
    if np.any(draws.min(axis=-1) == draws.max(axis=-1)):  # infinities have no difference
        warn_user(
            f"all bootstrap replicates of {folds.metric.name} are equal: the bootstrap cannot "
            "produce what was not observed. Use method='pooled'.",
            DegenerateIntervalWarning,
        )
    about = folds.about(None, closing=False)
    return DrawsPosterior(draws.reshape(*folds.shape, n_draws), seed=seed, about=about)


def _number_of_draws(folds, size):
    n_draws = folds.n_draws
    if n_draws is None:
        n_draws = default_draws(folds.matrices.shape[-1] ** 2, size)
    return check_draws(n_draws, size)


# --------------------------------------------------------------------------------------------------
# Averages of fold posteriors


def _fold_shapes(folds, prior, per_fold):
    """Beta shapes of every fold, which folds have cases, and the odds factor; or None."""
    found = proportion_counts(folds.matrices, folds.metric, folds.positive)
    if found is None:
        return None
    hits, misses, odds = found
    used = hits + misses > 0
    number = np.maximum(used.sum(axis=-1, keepdims=True), 1) / folds.n_repeats
    share = 1.0 if per_fold else 1 / number
    before = _proportion_prior(folds, prior)
    return hits + share * before[0], misses + share * before[1], used, odds


def _fold_posteriors(folds, prior, per_fold, n_draws=None):
    """Posterior of every fold, for a metric that is no proportion."""
    with silence(UndefinedMetricWarning):  # folds that lack a class are reported as left out
        prior = prior if per_fold else prior / folds.n_folds
        return _of_cells(folds, folds.matrices, prior, n_draws)


def _folds_to_average(folds, cases, defined, per_fold):
    """Which folds are averaged, given which have `cases` and whose posterior is `defined`.

    A fold with the whole prior has a posterior without any case, too. The published formulas
    average it with the others, and so does `per_fold`. If the prior is shared, such a fold says
    nothing.
    """
    if cases.all():
        return cases
    used = cases | (defined & per_fold)
    fate = "they are left out and K is adjusted."
    if used.all():
        fate = "they count as their prior, as published. prior_per_fold=False leaves them out."
    warn_user(
        f"{folds.metric.name} has no case in {int((~cases).sum())} of {cases.size} folds: {fate}",
        UndefinedMetricWarning,
    )
    return used


# Who gets the prior, by `prior_per_fold`.
_SHARED = {True: " in every fold", False: ", shared by the folds"}


def _fold_moments(folds, prior, per_fold):
    """Mean and variance of every fold posterior, on the scale from 0 to 1.

    Returns (mean, variance, which folds have cases, odds factor, text of the prior, draws); no
    odds if the metric is no proportion, no draws if the moments are exact.
    """
    shapes = _fold_shapes(folds, prior, per_fold)
    if shapes is not None:
        a, b, used, odds = shapes
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = a / (a + b)
            variance = mean * (1 - mean) / (a + b + 1)
        return mean, variance, used, odds, describe_prior(prior), None
    low, high = folds.metric.range
    refuse_if(
        not np.isfinite([low, high]).all(),
        "method",
        f"method='averaged' needs a metric with a finite range, {folds.metric.name!r} "
        f"has ({low:g}, {high:g}): use method='pooled'.",
    )
    inner = _fold_posteriors(folds, prior, per_fold, _MOMENT_DRAWS)
    mean = (np.asarray(inner.mean()) - low) / (high - low)
    variance = (np.asarray(inner.std()) / (high - low)) ** 2
    return mean, variance, ~np.isnan(folds.values), None, inner.prior, inner.n_draws


def _averaged(folds, options, weight):
    """Beta with the moments of the average of the fold posteriors."""
    prior, per_fold = options.prior_for(folds.matrices.shape[-1]), bool(options.prior_per_fold)
    mean, variance, cases, odds, text, n_draws = _fold_moments(folds, prior, per_fold)
    used = _folds_to_average(folds, cases, np.isfinite(mean), per_fold)
    number = used.sum(axis=-1)
    if not per_fold and np.any(folds.matrices.sum(axis=(-3, -2, -1)) < 5 * number):
        warn_user(
            "method='averaged' needs folds of more than a few rows: with hardly any prior in "
            "each, their posteriors collapse and the interval is too short. Use "
            "method='pooled'.",
            SmallSampleWarning,
        )
    k = number / folds.n_repeats
    correlation = 1 / np.maximum(k, 1) if options.rho is None else options.rho
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(used, mean, 0.0).sum(axis=-1) / number
        delta = np.where(used, variance, 0.0).sum(axis=-1) / number
        spread = delta / k * (1 + np.maximum(k - 1, 0) * correlation)
        size = (centre - centre**2 - spread) / spread
        # Without any case the prior is all there is, however many folds say so.
        alone = prior if isinstance(prior, float) else 1.0
        a, b = (np.where(cases.any(axis=-1), part * size, alone) for part in (centre, 1 - centre))
    refuse_if(
        not np.all(np.isfinite(a) & np.isfinite(b)),
        "prior",
        "the fold posteriors have no variance, so there is no Beta with their moments: "
        f"use a prior above 0, got prior={prior!r}.",
    )
    about = folds.about(text + _SHARED[per_fold])
    low, high = folds.metric.range
    if n_draws is not None:
        # Mean of K drawn means, and about two standard deviations of a drawn width.
        typical = (high - low) * np.sqrt(delta / number)
        about = replace(about, moment_error=2 * typical / np.sqrt(n_draws))
    if odds is None and (low, high) != (0.0, 1.0):
        return AffinePosterior(BetaPosterior(a, b), about)
    return BetaPosterior(a, b, odds=1.0 if odds is None else odds, about=about)


def _average_exact(folds, options, weight):
    """Distribution of the average of the fold posteriors, taken as independent."""
    refuse_if(
        folds.n_repeats > 1,
        "method",
        "method='average_exact' takes the folds as independent, which repetitions of the "
        f"same rows are not, got n_repeats={folds.n_repeats}: use method='pooled'.",
    )
    prior = options.prior_for(folds.matrices.shape[-1])
    per_fold = options.prior_per_fold is None or bool(options.prior_per_fold)
    shapes = _fold_shapes(folds, prior, per_fold)
    cases = ~np.isnan(folds.values) if shapes is None else shapes[2]
    refuse_if(
        not cases.any(axis=-1).all(),
        "metric",
        f"metric {folds.metric.name!r} has no case in any fold: nothing can be averaged.",
    )
    if shapes is None:
        inner = _fold_posteriors(folds, prior, per_fold)
        defined = np.isfinite(inner.mean())
    else:
        a, b, _, odds = shapes
        defined = (a > 0) & (b > 0)
    used = _folds_to_average(folds, cases, defined, per_fold)
    share = used / used.sum(axis=-1, keepdims=True)
    about = folds.about(describe_prior(prior) + _SHARED[per_fold], closing=False)
    if shapes is not None:
        if folds.metric.base == "f1" and isinstance(prior, float):
            # The thesis puts the prior on each of TP, FP and FN: failures get it twice.
            b = b + prior * (1.0 if per_fold else 1 / folds.n_folds)
        flat = [part.reshape(-1, part.shape[-1]) for part in (a, b, share)]
        if np.all(a > 0) and np.all(b > 0) and len(flat[0]) <= _MOST_SUMS:
            family = BetaSum(*flat, Link(0.0, 1.0), odds)
            if family.resolved:
                return IntegralPosterior(family, folds.shape, about)
        inner = BetaPosterior(a, b, odds=odds)
    seed = resolve_seed(folds.random_state)
    draws = inner.sample(_number_of_draws(folds, int(np.prod(inner.shape))), seed)
    draws = np.where(used[..., None], draws, 0.0)
    return DrawsPosterior((draws * share[..., None]).sum(axis=-2), seed=seed, about=about)


# --------------------------------------------------------------------------------------------------
# Fold values


def _of_values(folds, options, weight):
    """Student's t around the mean of the fold values."""
    n_test, n_train = options.n_test, options.n_train
    if n_test is None:
        n_test = folds.matrices.sum(axis=(-2, -1))
    if n_train is None:
        n_train = folds.pooled.sum(axis=(-2, -1))[..., None] - n_test
    return score_posterior(
        folds.values,
        options.method,
        folds.n_repeats,
        rho=options.rho,
        n_train=n_train,
        n_test=n_test,
        metric=folds.metric.name,
        range=folds.metric.range,
    )


METHODS = {
    "pooled": Method(_pooled, ("omega", "estimand", "prior")),
    "averaged": Method(_averaged, ("prior", "rho", "prior_per_fold")),
    "average_exact": Method(_average_exact, ("prior", "prior_per_fold")),
    "bootstrap": Method(_bootstrap),
    "dirichlet": Method(_dirichlet, ("prior",)),
    "t": Method(_of_values, pools=False, estimand="algorithm"),
    "corrected_t": Method(_of_values, ("rho",), pools=False, estimand="algorithm"),
    "nadeau_bengio": Method(_of_values, ("n_train", "n_test"), pools=False, estimand="algorithm"),
}

# What reports and plots show beside the method that was asked for.
SIDE_BY_SIDE: dict[str, dict] = {
    "auto": {"method": "pooled", "omega": "auto"},
    "wang_li": {"method": "pooled", "omega": "wang_li"},
    "averaged": {"method": "averaged"},
    "dirichlet": {"method": "dirichlet", "prior": "auto"},  # 1 per cell is a lot in many classes
    "bootstrap": {"method": "bootstrap"},
    "corrected_t": {"method": "corrected_t"},
}
