"""Confidence interval of a metric, from labels or counts: binomial formulas and the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.beta import beta_quantile, scale_odds
from skuncertain._utils.typing import (
    LabelLike,
    LabelsLike,
    MetricLike,
    RandomStateLike,
)
from skuncertain._utils.validation import (
    check_bool,
    check_choice,
    check_draws,
    check_integer,
    check_kind,
    check_level,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics._bootstrap import (
    bca_interval,
    group_replicates,
    jackknife_cells,
    jackknife_groups,
    multinomial_replicates,
    percentile_interval,
)
from skuncertain.metrics._count import GroupedRows
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._credible import counts_of, refuse_counts
from skuncertain.metrics._formulas import RATE_OF_ODDS, proportion_counts, proportion_odds
from skuncertain.metrics._posterior import class_of
from skuncertain.metrics._registry import count_metric, get_metric
from skuncertain.metrics._scores.confidence import (
    bootstrap_interval,
    group_codes,
    score_replicates,
    wald_interval,
)
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.posterior import checked_estimate, question_of_scores
from skuncertain.metrics._scores.row_scores import RowScores, scores_called
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._draws import DrawsPosterior
from skuncertain.posteriors._interval import Interval, make_interval

BINOMIAL = ("wilson", "clopper_pearson", "agresti_coull", "jeffreys")
_FORMULAS = (*BINOMIAL, "wald")  # nothing is resampled
_METHODS = (*_FORMULAS, "bootstrap", "bca")


def confidence_interval(
    y_true: ArrayLike | ConfusionCounts,
    y_pred: ArrayLike | None = None,
    *,
    metric: MetricLike = "accuracy",
    method: str = "wilson",
    level: float = 0.95,
    kind: str = "eti",
    labels: LabelsLike | None = None,
    pos_label: LabelLike = None,
    groups: ArrayLike | None = None,
    stratified: bool = False,
    n_resamples: int | None = None,
    random_state: RandomStateLike = None,
) -> Interval:
    """Confidence interval of a metric: the baselines that people know.

    Parameters
    ----------
    y_true : array-like of shape (n,) or ConfusionCounts
        True labels, or counts; with counts there is no `y_pred`.
    y_pred : array-like of shape (n,) or (n, C), default=None
        Predicted labels, or the scores or probabilities that the metric needs; see
        :func:`metric_posterior`.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`. Binomial methods need a proportion such as accuracy, precision or
        recall, or F1 (through the Jaccard index); the bootstrap takes any metric.
    method : str, default="wilson"
        "wilson", "clopper_pearson", "agresti_coull", "jeffreys"; "bootstrap" (percentile) or "bca";
        for metrics of scores or probabilities also "wald", normal with the variance of the
        influences of rows, cut off at the ends of the range.
    level : float, default=0.95
        Confidence level.
    kind : {"eti", "hdi"}, default="eti"
        Equal tails, or for method "bootstrap" the shortest interval of the replicates.
    labels : sequence, default=None
        All classes; by default those that occur.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`.
    groups : array-like of shape (n,), default=None
        Group of every row (patient, document, user). Whole groups are resampled.
    stratified : bool, default=False
        Bootstrap: keep the number of rows of every true class.
    n_resamples : int, default=None
        Bootstrap: number of replicates, by default 9,999.
    random_state : int, Generator, RandomState or None, default=None
        Bootstrap: seed.

    Returns
    -------
    Interval
        Ends ``low`` and ``high``; arrays for stacked counts.

    See Also
    --------
    credible_interval : The Bayesian interval, which has width for a perfect classifier, too.

    Notes
    -----
    A bootstrap of a matrix without errors has no width; a warning names what to use instead.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, confidence_interval
    >>> counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    >>> confidence_interval(counts, metric="recall", method="wilson")
    Interval(low=0.871..., high=1.0)
    >>> confidence_interval(counts, metric="f1", method="bca", random_state=0)
    Interval(low=0.87..., high=1.0)
    >>> y_true, p = [0, 1] * 40, [0.2, 0.7, 0.4, 0.9, 0.3, 0.6, 0.6, 0.5] * 10
    >>> confidence_interval(y_true, p, metric="log_loss", method="wald")
    Interval(low=0.40..., high=0.51...)
    """
    check_choice("method", method, _METHODS)
    level, found = check_level(level), get_metric(metric)
    resampling = _Resampling(
        method, level, check_bool("stratified", stratified), n_resamples, random_state, kind
    ).checked(groups)
    if isinstance(found, ScoreMetric):
        rows = _scored_rows(found, y_true, y_pred, labels, pos_label)
        return _of_scores(found, rows, resampling, groups)
    refuse_if(
        method == "wald",
        "method",
        "method='wald' is for metrics of scores or probabilities, such as 'log_loss': for "
        f"{found.name!r} use 'wilson' (a proportion) or 'bca'.",
    )
    counts = counts_of(y_true, y_pred, groups, labels=labels, pos_label=pos_label)
    # The positive class of labels is known by now.
    positive = counts.positive_index(found, pos_label if counts is y_true else None)
    if method in BINOMIAL:
        matrix = counts._matrix_for([found], positive)
        return _of_proportion(matrix, found, positive, level, method)
    matrix = _whole_counts(counts)
    named = groups is not None
    grouped = GroupedRows(y_true, y_pred, groups, counts.labels) if named else None
    return resampling.interval(matrix, grouped, found, positive)


def bootstrap_distribution(
    y_true: ArrayLike | ConfusionCounts,
    y_pred: ArrayLike | None = None,
    *,
    metric: MetricLike = "accuracy",
    labels: LabelsLike | None = None,
    pos_label: LabelLike = None,
    groups: ArrayLike | None = None,
    stratified: bool = False,
    n_resamples: int | None = None,
    random_state: RandomStateLike = None,
) -> Posterior:
    """Bootstrap replicates of a metric, to be looked at, plotted and compared.

    Parameters
    ----------
    y_true : array-like of shape (n,) or ConfusionCounts
        True labels, or counts; with counts there is no `y_pred`.
    y_pred : array-like of shape (n,) or (n, C), default=None
        Predicted labels, or the scores or probabilities that the metric needs; see
        :func:`metric_posterior`.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    labels, pos_label, groups, stratified, n_resamples, random_state : object
        See :func:`confidence_interval`.

    Returns
    -------
    Posterior
        The replicates, in ``draws``, behind the protocol of posteriors: mean, quantiles, intervals.
        It is no posterior: it says how an estimate varies, not where the truth is.

    See Also
    --------
    confidence_interval : Interval of the replicates with ``method="bootstrap"``.
    metric_posterior : Posterior of the metric.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.metrics import bootstrap_distribution
    >>> counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> replicates = bootstrap_distribution(counts, metric="mcc", random_state=0)
    >>> replicates.draws.shape
    (9999,)
    >>> replicates.interval(kind="hdi")
    Interval(low=0.14..., high=0.45...)
    """
    found = get_metric(metric)
    resampling = _Resampling(
        "bootstrap", 0.95, check_bool("stratified", stratified), n_resamples, random_state
    ).checked(groups)
    if isinstance(found, ScoreMetric):
        rows = _scored_rows(found, y_true, y_pred, labels, pos_label)
        return _score_distribution(found, rows, resampling, groups)
    counts = counts_of(y_true, y_pred, groups, labels=labels, pos_label=pos_label)
    positive = counts.positive_index(found, pos_label if counts is y_true else None)
    named = groups is not None
    grouped = GroupedRows(y_true, y_pred, groups, counts.labels) if named else None
    about = About(
        metric=found.name,
        range=found.range,
        greater_is_better=found.greater_is_better,
        closing=False,
        pos_label=class_of(found, counts.labels, positive),
        method="bootstrap",
        estimand="final",
    )
    value_of = partial(found.evaluate, positive=positive)
    return resampling.distribution(_whole_counts(counts), grouped, value_of, about)


def _scored_rows(metric, y_true, y_score, labels, pos_label):
    refuse_counts(metric, y_true, y_score)
    with scores_called("y_pred"):
        return RowScores.of(y_true, y_score, metric, labels=labels, pos_label=pos_label)


def _of_scores(metric, rows, resampling, groups):
    """Interval of a metric of scores or probabilities."""
    method, level = resampling.method, resampling.level
    if method == "wald":
        return Interval(*wald_interval(metric, rows, level))
    if method not in BINOMIAL:
        return Interval(*bootstrap_interval(metric, rows, resampling, groups))
    refuse_if(
        metric.family != "share",
        "method",
        f"metric {metric.name!r} is not a proportion, so method={method!r} does not apply. "
        "Use method='wald', 'bootstrap' or 'bca', or credible_interval.",
    )
    n = rows.codes.size
    hits = round(metric.estimate(rows).value * n)
    return make_interval(*binomial_interval(np.float64(hits), np.float64(n - hits), level, method))


def _score_distribution(metric, rows, resampling, groups):
    """Replicates of a metric of scores or probabilities."""
    seed = resolve_seed(resampling.random_state)
    check_draws(resampling.n_resamples, 1)
    values = score_replicates(
        metric, rows, replace(resampling, random_state=seed), group_codes(groups, rows)
    )
    about = replace(
        question_of_scores(metric, rows),
        observed=checked_estimate(metric, rows).value,
        closing=False,
        method="bootstrap",
    )
    return DrawsPosterior(values, seed=seed, about=about)


def _of_proportion(matrix, metric, positive, level, method):
    """Binomial interval of a proportion, of its odds, or of a metric with a multiple of them."""
    of_odds = metric.name in RATE_OF_ODDS
    rate = count_metric(RATE_OF_ODDS[metric.name]) if of_odds else metric
    found = proportion_counts(matrix, rate, positive)
    refuse_if(
        found is None,
        "metric",
        f"metric {metric.name!r} is not a proportion, so method={method!r} does not apply. "
        "Use method='bca', or credible_interval.",
    )
    hits, misses, odds = found
    if np.any(hits + misses == 0):
        warn_user(
            f"{metric.name} is 0/0 in the data: the interval is its whole range.",
            UndefinedMetricWarning,
        )
    low, high = binomial_interval(hits, misses, level, method)
    if of_odds:
        with np.errstate(divide="ignore"):
            return make_interval(low / (1 - low), high / (1 - high))
    return make_interval(scale_odds(low, odds), scale_odds(high, odds))


@dataclass(frozen=True)
class _Resampling:
    """How to resample: what `confidence_interval` was told about the bootstrap."""

    method: str
    level: float
    stratified: bool
    n_resamples: int | None
    random_state: RandomStateLike
    kind: str = "eti"

    def checked(self, groups):
        """Return the settings with a number of replicates; what does not fit is refused."""
        refuse_if(
            check_kind(self.kind) == "hdi" and self.method != "bootstrap",
            "kind",
            f"kind='hdi' is for method='bootstrap', not for method={self.method!r}.",
        )
        if self.method in _FORMULAS:
            for name in ("n_resamples", "random_state"):
                refuse_if(
                    getattr(self, name) is not None,
                    name,
                    f"{name} belongs to the bootstrap, not to method={self.method!r}.",
                )
            refuse_if(
                self.stratified or groups is not None,
                "method",
                f"method={self.method!r} knows neither groups nor strata: use method='bootstrap'.",
            )
            return self
        number = 9_999 if self.n_resamples is None else self.n_resamples
        number = check_integer("n_resamples", number, low=2)
        refuse_if(number > 10**8, "n_resamples", f"n_resamples must be at most 1e8, got {number}.")
        refuse_if(
            self.stratified and groups is not None,
            "groups",
            "stratified and groups exclude each other: groups mix the classes.",
        )
        return replace(self, n_resamples=number)

    def interval(self, matrix, grouped, metric, positive):
        """Bootstrap interval of every matrix of a stack."""
        value_of = partial(metric.evaluate, positive=positive)
        seed = resolve_seed(self.random_state)  # one for all matrices: a stack equals a loop
        flat = matrix.reshape(-1, *matrix.shape[-2:])
        ends = [self._ends(one, grouped, value_of, seed) for one in flat]
        low, high = np.array(ends).T.reshape(2, *matrix.shape[:-2])
        _warn_degenerate(metric, low, high)
        return make_interval(low, high)

    def distribution(self, matrix, grouped, value_of, about):
        """Replicates of every matrix of a stack."""
        seed = resolve_seed(self.random_state)
        flat = matrix.reshape(-1, *matrix.shape[-2:])
        check_draws(self.n_resamples, len(flat))
        values = [self._replicates(one, grouped, value_of, seed) for one in flat]
        about = replace(about, observed=value_of(matrix))
        return DrawsPosterior(np.reshape(values, (*matrix.shape[:-2], -1)), seed=seed, about=about)

    def _replicates(self, matrix, grouped, value_of, seed):
        if matrix.sum() == 0:
            warn_user("a matrix without rows cannot be resampled: NaN.", UndefinedMetricWarning)
            return np.full(self.n_resamples, np.nan)
        if grouped is None:
            values = multinomial_replicates(
                matrix, value_of, self.n_resamples, seed, self.stratified
            )
        else:
            values = group_replicates(grouped, value_of, self.n_resamples, seed)
        undefined = np.isnan(values).mean()
        if undefined > 0:
            warn_user(
                f"the metric is 0/0 in {undefined:.1%} of the bootstrap replicates; they are left "
                "out.",
                UndefinedMetricWarning,
            )
        return values

    def _ends(self, matrix, grouped, value_of, seed):
        values = self._replicates(matrix, grouped, value_of, seed)
        if self.method == "bootstrap" or matrix.sum() == 0:
            return percentile_interval(values, self.level, self.kind)
        if grouped is None:
            influence = jackknife_cells(matrix, value_of, self.stratified)
        else:
            influence = jackknife_groups(grouped, value_of)
        return bca_interval(values, float(value_of(matrix[None])[0]), influence, self.level)


def _whole_counts(counts):
    """Matrix of floats that rows can be drawn from; equal weights do no harm."""
    matrix = counts.counts.astype(float)
    refuse_if(
        np.any(matrix != np.rint(matrix)) or np.any(matrix != counts._row_weights.rows),
        "y_true",
        "the bootstrap needs whole counts, but these come from sample weights. "
        "Use credible_interval, which takes the effective sample size.",
    )
    return matrix


def _warn_degenerate(metric, low, high):
    if np.any(low == high):
        exact = (
            "confidence_interval(method='clopper_pearson')"
            if metric.name in RATE_OF_ODDS or proportion_odds(metric) is not None
            else "ConfusionCounts.posterior(...).interval()"
        )
        warn_user(
            f"the bootstrap of {metric.name} has no width: every replicate has the same value, "
            f"because resampling cannot produce errors that were not observed. Use {exact}.",
            DegenerateIntervalWarning,
        )


def binomial_interval(hits, misses, level, method):
    """Interval of a binomial proportion, elementwise."""
    n = hits + misses
    alpha = 1 - level
    z2 = ndtri(1 - alpha / 2) ** 2
    tails = alpha / 2, 1 - alpha / 2
    if method == "clopper_pearson":
        return beta_quantile(tails[0], hits, misses + 1), beta_quantile(tails[1], hits + 1, misses)
    if method == "jeffreys":
        low, high = (beta_quantile(tail, hits + 0.5, misses + 0.5) for tail in tails)
    else:
        centre = (hits + z2 / 2) / (n + z2)
        if method == "agresti_coull":
            half = np.sqrt(z2 * centre * (1 - centre) / (n + z2))
            return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
        spread = hits * misses / np.maximum(n, 1e-300)
        half = np.sqrt(z2 * (spread + z2 / 4)) / (n + z2)
        low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    # Wilson ends there by algebra, Jeffreys by the usual modification (Brown, Cai, DasGupta 2001).
    return np.where(hits == 0, 0.0, low), np.where(misses == 0, 1.0, high)
