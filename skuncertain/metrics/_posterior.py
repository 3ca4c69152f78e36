"""From counts and a metric to a posterior, or to the distribution on a new test set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.typing import PrevalenceLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    check_choice,
    check_integer,
    check_random_state,
    plain_fields,
    refuse_if,
)
from skuncertain._utils.warnings import warn_user
from skuncertain.metrics._exact import beta_of, exact_posterior, matched_posterior
from skuncertain.metrics._few_rows import few_rows, warn_small, warn_weighted
from skuncertain.metrics._formulas import (
    RATE_OF_ODDS,
    collapse,
    one_vs_rest,
    proportion_counts,
    two_by_two,
)
from skuncertain.metrics._gradients import effective_matrix
from skuncertain.metrics._model import build_model, draw_metrics, given_frequencies
from skuncertain.metrics._priors import RatePrior, cell_prior, check_prior, resolve_prior
from skuncertain.metrics._registry import Metric, count_metric, is_symmetric
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import (
    BetaBinomialPosterior,
    BetaPosterior,
    OddsPosterior,
    calibrated_beta,
)
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._shifted_gamma import negated

if TYPE_CHECKING:
    from skuncertain.metrics._counts import ConfusionCounts

MODELS = ("dirichlet", "three_beta", "rows")
_LONGEST_TABLE = 1_000_000  # outcomes of a new test set that are listed


@dataclass(frozen=True, eq=False)
class PosteriorOptions:
    """Prior, model and prevalence, and how to draw where that is needed.

    See :meth:`ConfusionCounts.posterior`.
    """

    prior: PriorLike = "auto"
    model: str = "dirichlet"
    prevalence: PrevalenceLike | None = None
    n_draws: int | None = None
    random_state: RandomStateLike = None

    def checked(self, n_classes, one_metric=False):
        """Return the options with a checked prior; what cannot work is refused.

        `one_metric` says whether a prior of the metric itself makes sense.
        """
        check_choice("model", self.model, MODELS)
        check_random_state(self.random_state)
        if self.n_draws is not None:
            check_integer("n_draws", self.n_draws, low=1)
        refuse_if(
            self.model == "three_beta" and n_classes > 2,
            "model",
            f"model 'three_beta' is for two classes, got {n_classes}: use model='rows', "
            "or one_vs_rest(...).",
        )
        plain = self.model == "dirichlet"
        proportion = one_metric and plain and self.prevalence is None
        prior = check_prior(self.prior, n_classes, proportion=proportion, rates=not plain)
        refuse_if(
            self.prevalence is not None and getattr(prior, "has_prevalence", False),
            "prior",
            "prior of the prevalence: prevalence= gives the prevalence already. Leave one out.",
        )
        return replace(self, prior=prior)

    def about_positive(self):
        """What is said about the positive class here, in words; empty if nothing is."""
        shares = self.prevalence
        if isinstance(shares, BetaPosterior) or (shares is not None and np.ndim(shares) == 0):
            return "the prevalence"
        return "a prior of the rates" if isinstance(self.prior, RatePrior) else ""

    def one_dirichlet(self, prior):
        """Whether all cells together are one Dirichlet under this resolved prior."""
        without = prior.per_cell is None and prior.frequencies is None
        return self.prevalence is None and (self.model == "dirichlet" or without)


@dataclass(frozen=True, eq=False)
class PosteriorRequest:
    """What a posterior was asked for, so that it can be asked again with more data."""

    counts: ConfusionCounts
    metric: Metric
    positive: int | None
    options: PosteriorOptions

    def posterior(self):
        """Posterior of the metric."""
        if self.metric.negated is not None:
            return negated(self._positive.posterior(), self.metric, origin=self)
        label = class_of(self.metric, self.counts.labels, self.positive)
        rows = self.counts._row_weights.rows if self.counts.weighted else None
        return posterior_of(
            self._matrix, self.metric, self.positive, self.options, label, origin=self, rows=rows
        )

    @property
    def _positive(self):
        """The same request about the metric whose negative is asked for."""
        return replace(self, metric=self.metric.negated)

    @property
    def _matrix(self):
        return self.counts._matrix_for([self.metric], self.positive, self.options.prevalence)

    @property
    def alpha(self):
        """Shapes of the cells, None unless they are one Dirichlet."""
        if self.metric.negated is not None:
            return self._positive.alpha
        name = self.metric.name
        rate = count_metric(RATE_OF_ODDS[name]) if name in RATE_OF_ODDS else self.metric
        seen, _, prior = view_of(self._matrix, rate, self.positive, self.options)
        if prior.own_proportion or not self.options.one_dirichlet(prior):
            return None
        return seen + cell_prior(prior.value, seen)

    def predictive(self, n):
        """Distribution of the metric on a new test set of `n` rows."""
        if self.metric.negated is not None:
            return negated(self._positive.predictive(n), self.metric)
        label = class_of(self.metric, self.counts.labels, self.positive)
        return predictive_of(self._matrix, self.metric, self.positive, self.options, n, label)

    def updated(self, new_counts):
        """Posterior after more data."""
        refuse_if(
            not isinstance(new_counts, type(self.counts)),
            "new_counts",
            f"new_counts must be ConfusionCounts, got {type(new_counts).__name__}.",
        )
        return replace(self, counts=self.counts + new_counts).posterior()


def class_of(metric, labels, positive):
    """Class that a metric depends on, or None."""
    if positive is None or metric.average != "binary":
        return None
    return None if len(labels) == 2 and is_symmetric(metric) else labels[positive]


def question_of(metric, options, label, n_new=None):
    """What a posterior of counts is asked, as fields of `About`."""
    prevalence = options.prevalence
    if prevalence is not None and not isinstance(prevalence, BetaPosterior):
        shares = as_array("prevalence", prevalence)
        prevalence = tuple(map(float, shares)) if shares.ndim else float(shares)
    return {
        "metric": metric.name,
        "range": metric.range,
        "greater_is_better": metric.greater_is_better,
        "pos_label": label,
        "model": options.model,
        "prevalence": prevalence,
        "n_new": n_new,
        "estimand": "final",
    }


def value_at(matrix, metric, positive, prevalence):
    """Metric of the counts or, at a given prevalence, of the rates within each class.

    A Beta prevalence counts with its mean. NaN where rates are needed of a class without rows.
    """
    if prevalence is None:
        return metric.evaluate(matrix, positive=positive)
    n_classes, shape = matrix.shape[-1], matrix.shape[:-2]
    positive = n_classes - 1 if positive is None else positive
    shares, _ = given_frequencies(prevalence, n_classes, positive, shape)
    # Of the rates of one class, or of all whatever their frequencies: the value of the data.
    own = n_classes == 2 or metric.average != "binary" or metric.base in ("recall", "fnr")
    if own and metric.depends_on_prevalence is False:
        return metric.evaluate(matrix, positive=positive)
    shares = shares / shares.sum(axis=-1, keepdims=True)
    rows = matrix.sum(axis=-1)
    rates = matrix / np.where(rows > 0, rows, 1.0)[..., None]
    value = metric.evaluate(rates * shares[..., None], positive=positive)
    return np.where(np.any((rows == 0) & (shares > 0), axis=-1), np.nan, value)


def view_of(matrix, metric, positive, options):
    """Matrix, positive class and prior as the models need them.

    "auto" is resolved, and one class among many is seen as two classes where nothing is lost by it.
    """
    n_classes = matrix.shape[-1]
    positive = n_classes - 1 if positive is None else positive
    prior, prevalence = options.prior, options.prevalence
    one_number = isinstance(prevalence, BetaPosterior) or not (
        as_array("prevalence", prevalence).ndim
    )
    one_of_many = metric.average == "binary" and n_classes > 2
    as_two = one_of_many and options.model == "dirichlet" and one_number
    by_row = options.model != "dirichlet" or prevalence is not None
    resolved = resolve_prior(prior, 2 if as_two else n_classes, metric, by_row, positive)
    if not as_two:
        return matrix, positive, resolved
    if resolved.value is prior:  # it was given for the cells of the whole matrix
        pseudo = two_by_two(*collapse(cell_prior(prior, matrix), positive))
        resolved = resolved._replace(value=pseudo)
    return two_by_two(*collapse(matrix, positive)), 1, resolved


def posterior_of(matrix, metric, positive, options, label=None, origin=None, rows=None):
    """Posterior of one metric for a stack of matrices ``(..., C, C)`` of floats.

    `label` is the class that it is about, if it is about one. `rows` are the numbers of rows behind
    a matrix of weighted ones.
    """
    # Odds are what they are of: the rate has the model, the posterior is mapped at the end.
    rate = count_metric(RATE_OF_ODDS[metric.name]) if metric.name in RATE_OF_ODDS else metric
    if rows is not None:
        warn_weighted(matrix, rows, rate, positive)
    asked = positive
    seen, positive, prior = view_of(matrix, rate, positive, options)
    observed = value_at(seen, metric, positive, options.prevalence)
    about = About(
        observed=observed,
        prior=prior.text,
        origin=origin,
        **question_of(metric, options, label),
    )
    if prior.own_proportion:
        if options.prevalence is not None:
            build_model(seen, prior, options, positive)  # what cannot be a prevalence is refused
        warn_undefined(observed, metric, matrix, proper=True)
        if isinstance(options.prior, BetaPosterior):
            shapes = _own_shapes(seen, rate, positive, options.prior)
            return _shown(BetaPosterior(**shapes, about=about))
        found = proportion_counts(seen, rate, positive)
        sides = rows if rows is None else proportion_counts(rows, rate, asked)[:2]
        return _shown(calibrated_beta(*found, about, rows=sides))
    pseudo = cell_prior(prior.value, seen)
    shapes = seen + pseudo
    about = replace(about, closing=weak_prior(seen, pseudo))
    if isinstance(prior.value, str) and prior.value == "shared":
        warn_small(seen, metric, options)
    warn_undefined(observed, metric, matrix, proper=bool(np.all(shapes > 0)))
    if options.one_dirichlet(prior):
        found = proportion_counts(shapes, rate, positive)
        exact = None if found is None else _shown(beta_of(*found, about))
        if exact is not None:
            return exact
    joint = build_model(seen, prior, options, positive, shapes)
    about = replace(about, few_rows=few_rows(seen, shapes, metric, options))
    exact = _shown(exact_posterior(joint, rate, positive, about))
    if exact is not None:
        return exact
    if options.n_draws is None:
        matched = matched_posterior(joint, metric, options, about)
        if matched is not None:
            return matched
    draws, seed = draw_metrics(joint, [metric], positive, options)
    return posterior_of_draws(
        draws[0],
        seed,
        about,
        "{name} is 0/0 in {share:.2%} of the draws; they are left out. A prior above 0 on every "
        "cell avoids this.",
    )


def _own_shapes(matrix, metric, positive, prior):
    """Shapes and odds of a metric whose own proportion has a Beta for its prior."""
    found = proportion_counts(matrix, metric, positive)
    refuse_if(
        found is None,
        "prior",
        f"a BetaPosterior is a prior of a proportion, and metric {metric.name!r} is none: "
        "give pseudo-counts of the cells.",
    )
    hits, misses, odds = found
    refuse_if(
        odds != prior.odds,
        "prior",
        f"the odds of {metric.name} are {odds:g} times those of the proportion that it is "
        f"made of: its prior is BetaPosterior(a, b, odds={odds:g}).",
    )
    return {"a": hits + prior.a, "b": misses + prior.b, "odds": odds}


def _shown(posterior):
    """Posterior of the metric itself where it was modelled through the rate that it is odds of.

    None if that is a point mass: draws are the same number, or infinite, over and over.
    """
    if posterior is None or posterior.metric not in RATE_OF_ODDS:
        return posterior
    if not np.all((posterior.a > 0) & (posterior.b > 0)):
        return None
    return OddsPosterior(posterior)


def posterior_of_draws(draws, seed, about, warning):
    """Posterior of draws, with a warning if some of them are undefined."""
    posterior = DrawsPosterior(draws, seed=seed, about=about)
    share = np.max(posterior.undefined)
    if share > 0:
        warn_user(warning.format(name=about.metric, share=share), UndefinedMetricWarning)
    return posterior


def predictive_of(matrix, metric, positive, options, n, label=None):
    """Distribution of a metric on a new test set of `n` rows.

    It has no observed value: that of the old test set is no value of the new one.
    """
    if n is None:
        totals = np.unique(matrix.sum(axis=(-2, -1)))
        refuse_if(
            totals.size > 1 or totals[0] != np.rint(totals[0]),
            "n",
            "n must be given: the matrices have no common whole number of rows.",
        )
        n = int(totals[0])
    n = check_integer("n", n, low=1, high=2**53)
    matrix, positive, prior = view_of(matrix, metric, positive, options)
    given = isinstance(options.prior, BetaPosterior)
    if given:
        _own_shapes(matrix, metric, positive, options.prior)  # what is no proportion is refused
    shares = _shares_of_all_rows(matrix, metric, positive, prior)
    refuse_if(
        given and shares is None,
        "prior",
        f"the prior of {metric.name} alone does not say what other cells of a new test set hold: "
        "give pseudo-counts of the cells.",
    )
    listed = shares is not None and (given or n <= _LONGEST_TABLE)
    if prior.own_proportion and not listed:  # new tables need all cells
        prior = resolve_prior(options.prior, matrix.shape[-1])
    about = About(prior=prior.text, **question_of(metric, options, label, n))
    if listed and options.one_dirichlet(prior):
        return BetaBinomialPosterior(*shares, n, about)
    joint = build_model(matrix, prior, options, positive)
    draws, seed = draw_metrics(joint, [metric], positive, options, n=n)
    text = f"{{name}} is 0/0 on {{share:.2%}} of the new test sets of {n} rows; they are left out."
    return posterior_of_draws(draws[0], seed, about, text)


def _shares_of_all_rows(matrix, metric, positive, prior):
    """Shapes of a proportion that every row belongs to, such as accuracy; None for any other."""
    before = 0.0 if prior.own_proportion else cell_prior(prior.value, matrix)
    found = proportion_counts(matrix + before, metric, positive)
    if found is None or found[2] != 1:
        return None
    hits, misses, _ = found
    if not np.allclose(hits + misses, (matrix + before).sum(axis=(-2, -1)), rtol=1e-12):
        return None
    a, b = np.broadcast_to(prior.value if prior.own_proportion else 0.0, 2)
    return hits + a, misses + b


def weak_prior(matrix, pseudo):
    """Whether no empty cell has more than 1/2 a pseudo-row: then intervals may be closed."""
    return np.where(matrix == 0, pseudo, 0.0).max(axis=(-2, -1)) <= 0.5 + 1e-9


def warn_undefined(observed, metric, matrix, proper):
    """One warning if the data say nothing about the metric (and there are data at all)."""
    silent = np.isnan(observed) & (matrix.sum(axis=(-2, -1)) > 0)
    if np.any(silent):
        warn_user(
            f"{metric.name} is 0/0 in the data (a class that never occurs or is never predicted)"
            + (": the interval leans on the prior." if proper else ": NaN."),
            UndefinedMetricWarning,
        )


# --------------------------------------------------------------------------------------------------
# All classes, or all cells, of a matrix at once


def class_posterior(matrix, metric, prior, weights=None):
    """Posterior of precision, recall or F1 of every class, a stack of shape (C,).

    The same as asking for one class after the other with ``pos_label``, without going through the
    whole matrix for each. `weights` are those of the rows, if they have some.
    """
    metric = count_metric(metric)
    stack, rows = two_by_two(*one_vs_rest(matrix)), None
    if weights is not None:
        tables = weights.apply(lambda x: two_by_two(*one_vs_rest(x)))
        stack, rows = effective_matrix(tables, metric, 1), tables.rows
    resolved = resolve_prior(prior, matrix.shape[-1], metric)
    if not resolved.own_proportion:
        pseudo = np.broadcast_to(cell_prior(resolved.value, matrix), matrix.shape)
        resolved = resolved._replace(value=two_by_two(*one_vs_rest(pseudo)))
    return posterior_of(stack, metric, 1, PosteriorOptions(prior=resolved), rows=rows)


def cell_rates(matrix, prior, weights=None):
    """Posterior of P(predicted j | true i) for all cells, a stack of shape (C, C).

    On the diagonal it is the recall of the class. `weights` are those of the rows.
    """
    recall, sides = count_metric("recall"), None
    resolved = resolve_prior(prior, matrix.shape[-1], recall)
    others = matrix.sum(axis=-1, keepdims=True) - matrix
    if weights is not None:
        tables = weights.apply(cell_tables)
        matrix, others, _ = proportion_counts(effective_matrix(tables, recall, 1), recall, 1)
        sides = proportion_counts(tables.rows, recall, 1)[:2]
    with np.errstate(invalid="ignore"):
        observed = matrix / (matrix + others)
    about = About(metric="rate", observed=observed)
    if resolved.own_proportion:
        return calibrated_beta(matrix, others, about=about, rows=sides)
    pseudo = np.broadcast_to(cell_prior(resolved.value, matrix), matrix.shape)
    rest = pseudo.sum(axis=-1, keepdims=True) - pseudo
    return BetaPosterior(matrix + pseudo, others + rest, about=about)


def cell_tables(matrices):
    """Two-by-two tables whose recall is the rate of a cell: shape (..., C, C, 2, 2).

    So everything that is known about the recall of folds serves the rates of cells.
    """
    others = matrices.sum(axis=-1, keepdims=True) - matrices
    nothing = np.zeros_like(matrices)
    return two_by_two(matrices, others, nothing, nothing)


# --------------------------------------------------------------------------------------------------
# Against guessing


@dataclass(frozen=True)
class BetterThanChance:
    """How sure it is that a classifier is better than guessing.

    Parameters
    ----------
    p_better : float or ndarray
        P(informedness > rope).
    p_equivalent : float or ndarray
        P(-rope < informedness <= rope); 0 without a ROPE.
    p_worse : float or ndarray
        P(informedness <= -rope): worse than guessing.

    See Also
    --------
    ConfusionCounts.better_than_chance : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=28, fn=9, fp=4, tn=3)
    >>> round(counts.better_than_chance().p_worse, 2)
    0.16
    """

    p_better: float | np.ndarray
    p_equivalent: float | np.ndarray
    p_worse: float | np.ndarray

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            The three probabilities.
        """
        return plain_fields(self)
