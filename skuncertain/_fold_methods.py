"""The fold methods: from fold matrices to one posterior.

The folds of a cross-validation share most of their training rows, so K fold values are not K
independent observations, and pooled counts are not n independent rows. Every method here is a way
of dealing with that; `METHODS` lists them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._fold_scores import SCORE_METHODS, score_posterior
from skuncertain._fold_variance import FoldVariance, fold_variance, wang_li_omega
from skuncertain._location_scale import AffinePosterior
from skuncertain._metric_formulas import collapse, two_by_two
from skuncertain._metrics import get_metric
from skuncertain._pairs import Link
from skuncertain._posterior import default_draws, posterior_of, warn_small
from skuncertain._priors import PER_CELL, cell_prior, check_prior, describe_prior
from skuncertain._proportions import proportion_counts
from skuncertain._quadrature_posterior import QuadraturePosterior
from skuncertain._resampling import multinomial_replicates
from skuncertain._results import FoldDiagnostics
from skuncertain._sums import BetaSum
from skuncertain._validation import check_choice, check_draws, check_number, resolve_seed, shown
from skuncertain._warnings import dropped, warn_user
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    FoldDisagreementWarning,
    SmallSampleWarning,
)

POOLING = ("pooled", "averaged", "average-exact", "bootstrap", "dirichlet")
METHODS = (*POOLING, *SCORE_METHODS)
DISAGREEMENT = 0.01  # chance of a false alarm per metric
_MOMENT_DRAWS = 2000  # per fold: enough for its mean and variance
_MOST_SUMS = 1000  # beyond, averages of fold posteriors are drawn

# What a method does not know is refused, not ignored: parameter, default, who knows it.
OPTIONS = (
    ("omega", "auto", ("pooled",)),
    ("estimand", "algorithm", ("pooled",)),
    ("prior", 1.0, ("pooled", "averaged", "average-exact", "dirichlet")),
    ("rho", None, ("averaged", "corrected_t")),
    ("prior_per_fold", None, ("averaged", "average-exact")),
    ("n_train", None, ("nadeau_bengio",)),
    ("n_test", None, ("nadeau_bengio",)),
)


def known_options(method: str) -> list[str]:
    """Names of the optional parameters that a method uses."""
    return [name for name, _, methods in OPTIONS if method in methods]


def check_omega(omega, n_folds):
    """Return "auto", "wang-li" or a number in [1/K, 1]."""
    if isinstance(omega, str):
        return check_choice("omega", omega, ("auto", "wang-li"))
    value = check_number("omega", omega, low=0, high=1)
    if value < 1 / n_folds - 1e-12:
        raise ValueError(f"omega must be in [1/K, 1] = [{1 / n_folds:g}, 1], got {shown(omega)}.")
    return value


@dataclass(frozen=True, eq=False)
class Folds:
    """Fold matrices and the metric that they are asked for.

    Attributes
    ----------
    matrices : ndarray of shape (..., splits, C, C)
        Counts as floats.
    metric : Metric
        The metric.
    positive : int or None
        Index of the positive class.
    n_repeats : int
        Repetitions R; there are K = splits / R folds in each.
    n_draws, random_state : object
        For methods that draw.
    """

    matrices: np.ndarray
    metric: Any
    positive: int | None
    n_repeats: int = 1
    n_draws: int | None = None
    random_state: Any = None

    @classmethod
    def of(cls, counts, metric, n_repeats, pos_label=None, n_draws=None, random_state=None):
        """Folds of counts whose shape ends with the number of splits."""
        metric = get_metric(metric)
        positive = counts.positive_index(metric, pos_label)
        return cls(counts.counts.astype(float), metric, positive, n_repeats, n_draws, random_state)

    @property
    def n_folds(self):
        """K, folds of one repetition; fractional if one was lost."""
        return self.matrices.shape[-3] / self.n_repeats

    @property
    def shape(self):
        """Shape of the stack of problems."""
        return self.matrices.shape[:-3]

    @cached_property
    def pooled(self):
        """Summed folds; a row that was tested R times counts once."""
        return self.matrices.sum(axis=-3) / self.n_repeats

    @cached_property
    def values(self):
        """Value of the metric in every fold."""
        return self.metric.evaluate(self.matrices, positive=self.positive)

    @cached_property
    def observed(self):
        """Value of the metric in the pooled counts."""
        return self.metric.evaluate(self.pooled, positive=self.positive)

    @cached_property
    def variance(self) -> FoldVariance:
        """How much the folds disagree."""
        return fold_variance(self.matrices, self.metric, self.positive, self.n_repeats)

    def posterior(self, method, *, warn, omega="auto", estimand="algorithm", **options):
        """Posterior by one of the METHODS, with its diagnostics."""
        if method in SCORE_METHODS:
            result = self._of_scores(method, **options)
            weight = np.full(self.shape, np.nan)
        else:
            weight = self._omega(method, omega, estimand)
            if not np.all(self.matrices.sum(axis=(-3, -2, -1)) > 0):
                warn_user(
                    "there are no rows in any fold: the answer is the prior.",
                    UndefinedMetricWarning,
                )
            options = {name: options.get(name) for name in known_options(method)}
            options = {k: v for k, v in options.items() if k not in ("omega", "estimand")}
            if "prior" in options and method != "dirichlet":
                options["prior"] = per_proportion(options["prior"], self.matrices.shape[-1])
            build: Callable = getattr(self, "_" + method.replace("-", "_"))
            result = build(weight, **options)
            if warn:
                self.warn_if_folds_disagree()
        result.model = f"{method}, {_count(self.n_folds)} folds" + (
            f" x {self.n_repeats}" if self.n_repeats > 1 else ""
        )
        result.diagnostics = self.diagnostics(method, weight, estimand)
        return result

    def diagnostics(self, method, weight, estimand):
        """What was done and how much the folds disagree."""
        defined = np.where(np.isfinite(self.values), self.values, 0.0).sum(axis=-1)
        number = np.isfinite(self.values).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            macro = np.where(number > 0, defined / number, np.nan)
        plain = {
            "omega": weight,
            "micro": self.observed,
            "macro": macro,
            "variance_ratio": self.variance.ratio(),
            "p_value": self.variance.p_value,
        }
        plain = {name: v.item() if np.ndim(v) == 0 else v for name, v in plain.items()}
        return FoldDiagnostics(
            metric=self.metric.name,
            method=method,
            estimand=estimand,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            omega_wang_li=wang_li_omega(self.n_folds),
            **plain,
        )

    def disagreement(self):
        """Text if the folds disagree more than sampling explains, otherwise None."""
        p_value = np.asarray(self.variance.p_value)
        if not np.any(p_value < DISAGREEMENT / p_value.size):
            return None
        worst = np.unravel_index(np.argmin(p_value), p_value.shape)
        spread = self.variance.statistic[worst] / max(self.n_folds - 1, 1)
        where = "" if p_value.ndim == 0 else f" (problem {tuple(map(int, worst))} of the stack)"
        times = f"{spread:.1f} times the variance of chance, given class counts"
        return f"{self.metric.name}{where}: {times}"

    def warn_if_folds_disagree(self):
        """One warning in words that tell what to do."""
        found = self.disagreement()
        if found:
            warn_of_disagreement([found])

    def _info(self, prior_text):
        return {
            "metric": self.metric.name,
            "range": self.metric.range,
            "observed": self.observed,
            "prior": prior_text,
            "greater_is_better": self.metric.greater_is_better,
        }

    def _omega(self, method, omega, estimand):
        if method != "pooled":
            return np.ones(self.shape)
        omega = check_omega(omega, self.n_folds)
        if omega == "auto":
            return self.variance.omega(estimand)
        if omega == "wang-li":
            omega = wang_li_omega(self.n_folds)
        return np.full(self.shape, omega)

    def _pooled(self, weight, *, prior):
        return self._of_matrix(weight[..., None, None] * self.pooled, prior)

    def _of_matrix(self, matrix, prior):
        """Beta posterior of a proportion, the ordinary posterior of any other metric."""
        found = proportion_counts(matrix, self.metric, self.positive)
        if found is None:
            return self._of_cells(matrix, prior)
        hits, misses, odds = found
        if isinstance(prior, float):
            before, text = (prior, prior), f"{prior:g} on each side of the proportion"
        else:
            before = proportion_counts(prior, self.metric, self.positive)[:2]
            text = describe_prior(prior)
        if np.any((hits + misses == 0) & (self.pooled.sum(axis=(-2, -1)) > 0)):
            warn_user(
                f"{self.metric.name} is 0/0 in the pooled folds: the interval leans on the prior.",
                UndefinedMetricWarning,
            )
        a, b = hits + before[0], misses + before[1]
        if np.any((a == 0) | (b == 0)):
            warn_user(
                f"the prior puts no mass on an outcome of {self.metric.name} that was not observed:"
                " its posterior is a point mass or undefined. Use a prior above 0.",
                UndefinedMetricWarning,
            )
        return BetaPosterior(a, b, odds=odds, **self._info(text))

    def _of_cells(self, matrix, prior, few_draws=False):
        """Ordinary posterior, under `prior` times the default prior of a single matrix."""
        positive, text = self.positive, describe_prior(prior)
        n_draws = _MOMENT_DRAWS if few_draws and self.n_draws is None else self.n_draws
        if isinstance(prior, float):
            if self.metric.average == "binary":
                index = self.metric.positive_index(matrix.shape[-1], positive)
                matrix, positive = two_by_two(*collapse(matrix, index)), 1
            name = "neutral" if matrix.shape[-1] == 2 else "shared"
            text = f"auto: {name}" if prior == 1 else f"{prior:g} x {name}"
            prior = "auto" if prior == 1 else prior * cell_prior(name, matrix)
        # Few rows are few rows; that they count less in folds is another matter.
        with dropped(SmallSampleWarning):
            result = posterior_of(
                matrix,
                self.metric,
                positive=positive,
                prior=prior,
                model="dirichlet",
                prevalence=None,
                n_draws=n_draws,
                random_state=self.random_state,
            )
        if matrix.shape[-1] > 2:
            warn_small(self.pooled, self.metric)
        result.prior = text
        return result

    def _dirichlet(self, weight, *, prior):
        return posterior_of(
            self.pooled,
            self.metric,
            positive=self.positive,
            prior=check_prior(prior, self.pooled.shape[-1]),
            model="dirichlet",
            prevalence=None,
            n_draws=self.n_draws,
            random_state=self.random_state,
        )

    def _bootstrap(self, weight):
        seed = resolve_seed(self.random_state)
        flat = self.pooled.reshape(-1, *self.pooled.shape[-2:])
        n_draws = self.n_draws
        n_draws = default_draws(flat[0].size, len(flat)) if n_draws is None else n_draws
        check_draws(n_draws, len(flat))
        draws = np.full((len(flat), n_draws), np.nan)
        children = np.random.SeedSequence(seed).spawn(len(flat))
        for row, (matrix, child) in enumerate(zip(flat, children, strict=True)):
            if np.rint(matrix.sum()) >= 1:
                draws[row] = multinomial_replicates(
                    matrix * (np.rint(matrix.sum()) / matrix.sum()),
                    lambda m: self.metric.evaluate(m, positive=self.positive),
                    n_draws,
                    np.random.default_rng(child),
                )
        if np.any(draws.min(axis=-1) == draws.max(axis=-1)):  # infinities have no difference
            warn_user(
                f"all bootstrap replicates of {self.metric.name} are equal: the bootstrap cannot "
                "produce what was not observed. Use method='pooled'.",
                DegenerateIntervalWarning,
            )
        info = self._info(None) | {"closing": False}
        return DrawsPosterior(draws.reshape(*self.shape, n_draws), seed=seed, **info)

    # ----------------------------------------------------------------------------------------------
    # Averages of fold posteriors

    def _fold_shapes(self, prior, per_fold):
        """Beta shapes of every fold, which folds have cases, and the odds factor; or None."""
        found = proportion_counts(self.matrices, self.metric, self.positive)
        if found is None:
            return None
        hits, misses, odds = found
        used = hits + misses > 0
        number = np.maximum(used.sum(axis=-1, keepdims=True), 1) / self.n_repeats
        share = 1.0 if per_fold else 1 / number
        if isinstance(prior, float):
            before = prior, prior
        else:
            before = proportion_counts(prior, self.metric, self.positive)[:2]
        return hits + share * before[0], misses + share * before[1], used, odds

    def _warn_unused(self, used):
        lost = int((~used).sum())
        if lost:
            warn_user(
                f"{self.metric.name} has no case in {lost} of {used.size} folds: they are left out "
                "and K is adjusted.",
                UndefinedMetricWarning,
            )

    def _averaged(self, weight, *, prior, rho, prior_per_fold):
        shapes = self._fold_shapes(prior, bool(prior_per_fold))
        low, high = self.metric.range
        n_draws = None
        if shapes is not None:
            a, b, used, odds = shapes
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = a / (a + b)
                variance = mean * (1 - mean) / (a + b + 1)
            text = describe_prior(prior)
        else:
            if not np.isfinite([low, high]).all():
                raise ValueError(
                    f"method='averaged' needs a metric with a finite range, {self.metric.name!r} "
                    f"has ({low:g}, {high:g}): use method='pooled'."
                )
            inner = self._fold_posteriors(prior, bool(prior_per_fold), few_draws=True)
            mean = (np.asarray(inner.mean()) - low) / (high - low)
            variance = (np.asarray(inner.std()) / (high - low)) ** 2
            used, odds, text = ~np.isnan(self.values), 1.0, inner.prior
            n_draws = inner.n_draws
        self._warn_unused(used)
        number = used.sum(axis=-1)
        if not prior_per_fold and np.any(self.matrices.sum(axis=(-3, -2, -1)) < 5 * number):
            warn_user(
                "method='averaged' needs folds of more than a few rows: with hardly any prior in "
                "each, their posteriors collapse and the interval is too short. Use "
                "method='pooled'.",
                SmallSampleWarning,
            )
        k = number / self.n_repeats
        correlation = (
            1 / np.maximum(k, 1) if rho is None else check_number("rho", rho, low=0, high=1)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = np.where(used, mean, 0.0).sum(axis=-1) / number
            delta = np.where(used, variance, 0.0).sum(axis=-1) / number
            spread = delta / k * (1 + np.maximum(k - 1, 0) * correlation)
            size = (centre - centre**2 - spread) / spread
            a, b = centre * size, (1 - centre) * size
        nothing = number == 0  # then the prior is all there is
        alone = prior if isinstance(prior, float) else 1.0
        a, b = np.where(nothing, alone, a), np.where(nothing, alone, b)
        if not np.all(np.isfinite(a) & np.isfinite(b)):
            raise ValueError(
                "the fold posteriors have no variance, so there is no Beta with their moments: "
                f"use a prior above 0, got prior={prior!r}."
            )
        text += " in every fold" if prior_per_fold else ", shared by the folds"
        info = self._info(text)
        if shapes is not None or (low, high) == (0.0, 1.0):
            result = BetaPosterior(a, b, odds=odds, **info)
        else:
            result = AffinePosterior(BetaPosterior(a, b), **info)
        if n_draws is not None:
            # Mean of K drawn means, and about two standard deviations of a drawn width.
            typical = (high - low) * np.sqrt(delta / number)
            result._moment_error = 2 * typical / np.sqrt(n_draws)
        return result

    def _fold_posteriors(self, prior, per_fold, few_draws=False):
        """Posterior of every fold, for a metric that is no proportion."""
        with dropped(UndefinedMetricWarning):  # folds that lack a class are reported as left out
            if not isinstance(prior, float):
                prior = prior if per_fold else prior / self.n_folds
            elif not per_fold:
                prior = prior / self.n_folds
            return self._of_cells(self.matrices, prior, few_draws)

    def _average_exact(self, weight, *, prior, prior_per_fold):
        per_fold = prior_per_fold is None or bool(prior_per_fold)
        if self.n_repeats > 1:
            raise ValueError(
                "method='average-exact' takes the folds as independent, which repetitions of the "
                f"same rows are not, got n_repeats={self.n_repeats}: use method='pooled'."
            )
        shapes = self._fold_shapes(prior, per_fold)
        used = ~np.isnan(self.values) if shapes is None else shapes[2]
        self._warn_unused(used)
        share = used / np.maximum(used.sum(axis=-1, keepdims=True), 1)
        text = describe_prior(prior) + (" in every fold" if per_fold else ", shared by the folds")
        info = self._info(text) | {"closing": False}
        if np.any(used.sum(axis=-1) == 0):
            raise ValueError(
                f"{self.metric.name} has no case in any fold: there is nothing to average."
            )
        if shapes is not None:
            a, b, _, odds = shapes
            if self.metric.base == "f1" and isinstance(prior, float):
                # The thesis puts the prior on each of TP, FP and FN: failures get it twice.
                b = b + prior * (1.0 if per_fold else 1 / self.n_folds)
            flat = [part.reshape(-1, part.shape[-1]) for part in (a, b, share)]
            if np.all(a > 0) and np.all(b > 0) and len(flat[0]) <= _MOST_SUMS:
                family = BetaSum(*flat, Link(0.0, 1.0), odds)
                if family.resolved:
                    return QuadraturePosterior(family, self.shape, **info)
            inner = BetaPosterior(a, b, odds=odds)
        else:
            inner = self._fold_posteriors(prior, per_fold)
        seed = resolve_seed(self.random_state)
        size = int(np.prod(inner.shape))
        n_draws = self.n_draws
        if n_draws is None:
            n_draws = default_draws(self.matrices.shape[-1] ** 2, size)
        draws = inner.sample(check_draws(n_draws, size), seed)
        draws = np.where(used[..., None], draws, 0.0)
        return DrawsPosterior((draws * share[..., None]).sum(axis=-2), seed=seed, **info)

    def _of_scores(self, method, *, rho=None, n_train=None, n_test=None, **_):
        size = self.matrices.sum(axis=(-2, -1))
        if n_test is None:
            n_test = size
        if n_train is None:
            n_train = self.pooled.sum(axis=(-2, -1))[..., None] - n_test
        return score_posterior(
            self.values,
            method,
            self.n_repeats,
            rho,
            n_train,
            n_test,
            metric=self.metric.name,
            range=self.metric.range,
        )


def warn_of_disagreement(found):
    """Tell once which metrics differ between folds more than sampling explains."""
    warn_user(
        "the folds disagree more than sampling explains on " + "; ".join(found) + ". The learner "
        "may be unstable, or the folds may differ (groups, time). The interval is about the "
        "algorithm on average: test the one model that you will use on rows that were held out, or "
        "repeat the cross-validation 5 times and ask for estimand='model'.",
        FoldDisagreementWarning,
    )


def per_proportion(prior, n_classes):
    """Return λ, the same on each side of a proportion, or an array per cell."""
    prior = check_prior(prior, n_classes)
    if isinstance(prior, str):
        if prior == "auto":
            return 1.0
        if prior not in PER_CELL:
            raise ValueError(
                f"prior={prior!r} is a prior of one matrix; for folds give a number per "
                "proportion, 'jeffreys', 'laplace', 'haldane' or an array (C, C)."
            )
        return PER_CELL[prior]
    return prior


def _count(number):
    return f"{number:g}" if number == int(number) else f"{number:.2f}"
