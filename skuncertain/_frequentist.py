"""Frequentist baselines: binomial intervals and the bootstrap."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._counts import ConfusionCounts
from skuncertain._intervals import Interval, make_interval
from skuncertain._labels import group_matrices
from skuncertain._metrics import get_metric
from skuncertain._proportions import proportion_counts
from skuncertain._resampling import (
    bca_interval,
    group_replicates,
    jackknife_cells,
    jackknife_groups,
    multinomial_replicates,
    percentile_interval,
)
from skuncertain._special import beta_quantile, scale_odds
from skuncertain._validation import (
    check_bool,
    check_choice,
    check_integer,
    check_level,
    resolve_seed,
)
from skuncertain._warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning

_BINOMIAL = ("wilson", "clopper-pearson", "agresti-coull", "jeffreys")
_METHODS = (*_BINOMIAL, "bootstrap", "bca")


def confidence_interval(
    data: ConfusionCounts | tuple,
    metric: Any = "accuracy",
    *,
    method: str = "wilson",
    level: float = 0.95,
    labels: Any = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    stratified: bool = False,
    n_resamples: int | None = None,
    random_state: Any = None,
) -> Interval:
    """Confidence interval of a metric: the baselines that people know.

    Parameters
    ----------
    data : ConfusionCounts or tuple (y_true, y_pred)
        Counts, or true and predicted labels.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`. Binomial methods need a proportion such as accuracy, precision or
        recall, or F1 (through the Jaccard index); the bootstrap takes any metric.
    method : str, default="wilson"
        "wilson", "clopper-pearson", "agresti-coull", "jeffreys"; "bootstrap" (percentile) or "bca".
    level : float, default=0.95
        Confidence level.
    labels : sequence, default=None
        All classes, when `data` are labels.
    pos_label : label, default=None
        Positive class.
    groups : array-like of shape (n,), default=None
        Group of every row (patient, document, user) when `data` are labels. Whole groups are
        resampled.
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
    >>> confidence_interval(counts, "recall", method="wilson")
    Interval(low=0.871..., high=1.0)
    >>> confidence_interval(counts, "f1", method="bca", random_state=0)
    Interval(low=0.87..., high=1.0)
    """
    check_choice("method", method, _METHODS)
    level = check_level(level)
    if not isinstance(metric, str) and not callable(metric):
        raise TypeError(
            "metric must be a name, a Metric or a function. Labels go in as one argument: "
            "confidence_interval((y_true, y_pred), metric)."
        )
    metric, stratified = get_metric(metric), check_bool("stratified", stratified)
    if method in _BINOMIAL:
        for name, value in (("n_resamples", n_resamples), ("random_state", random_state)):
            if value is not None:
                raise ValueError(f"{name} belongs to the bootstrap, not to method={method!r}.")
        if stratified or groups is not None:
            raise ValueError(
                f"method={method!r} knows neither groups nor strata: use method='bootstrap'."
            )
    by_group = None
    if isinstance(data, ConfusionCounts):
        if labels is not None or groups is not None:
            raise ValueError("labels and groups need data=(y_true, y_pred), not counts.")
        counts = data
    elif isinstance(data, tuple) and len(data) == 2:
        counts = ConfusionCounts.from_predictions(*data, labels=labels, pos_label=pos_label)
        if groups is not None:
            by_group = group_matrices(*data, groups, counts.labels)
    else:
        raise TypeError(
            f"data must be ConfusionCounts or a tuple (y_true, y_pred), got {type(data).__name__}."
        )
    positive = counts.positive_index(metric, pos_label)
    matrix = counts.counts.astype(float)
    if method in _BINOMIAL:
        found = proportion_counts(matrix, metric, positive)
        if found is None:
            raise ValueError(
                f"metric {metric.name!r} is not a proportion, so method={method!r} does not apply. "
                "Use method='bca', or credible_interval."
            )
        hits, misses, odds = found
        if np.any(hits + misses == 0):
            warn_user(
                f"{metric.name} is 0/0 in the data: the interval is its whole range.",
                UndefinedMetricWarning,
            )
        low, high = _binomial(hits, misses, level, method)
        return make_interval(scale_odds(low, odds), scale_odds(high, odds))
    n_resamples = 9_999 if n_resamples is None else check_integer("n_resamples", n_resamples, low=2)
    if n_resamples > 10**8:
        raise ValueError(f"n_resamples must be at most 1e8, got {n_resamples}.")
    if matrix.size and np.any(matrix != np.rint(matrix)):
        raise ValueError(
            "the bootstrap needs whole counts, but these come from sample weights. "
            "Use credible_interval, which takes the effective sample size."
        )
    if stratified and groups is not None:
        raise ValueError("stratified and groups exclude each other: groups mix the classes.")

    def value_of(matrices):
        return metric.evaluate(matrices, positive=positive)

    seed = resolve_seed(random_state)  # one for all matrices: a stack equals a loop
    ends = []
    for one in matrix.reshape(-1, *matrix.shape[-2:]):
        ends.append(
            _bootstrap(one, by_group, value_of, method, level, n_resamples, seed, stratified)
        )
    low, high = np.array(ends).T.reshape(2, *matrix.shape[:-2])
    _warn_degenerate(metric, low, high)
    return make_interval(low, high)


def _bootstrap(matrix, by_group, value_of, method, level, n_resamples, seed, stratified):
    if matrix.sum() == 0:
        warn_user("a matrix without rows cannot be resampled: NaN.", UndefinedMetricWarning)
        return np.nan, np.nan
    if by_group is None:
        values = multinomial_replicates(matrix, value_of, n_resamples, seed, stratified)
    else:
        values = group_replicates(by_group, value_of, n_resamples, seed)
    undefined = np.isnan(values).mean()
    if undefined > 0:
        warn_user(
            f"the metric is 0/0 in {undefined:.1%} of the bootstrap replicates; they are left out.",
            UndefinedMetricWarning,
        )
    if method == "bootstrap":
        return percentile_interval(values, level)
    influence = (
        jackknife_cells(matrix, value_of, stratified)
        if by_group is None
        else jackknife_groups(by_group, value_of)
    )
    return bca_interval(values, float(value_of(matrix[None])[0]), influence, level)


def _warn_degenerate(metric, low, high):
    if np.any(low == high):
        exact = (
            "confidence_interval(method='clopper-pearson')"
            if proportion_counts(np.ones((2, 2)), metric, 1) is not None
            else "ConfusionCounts.posterior(...).interval()"
        )
        warn_user(
            f"the bootstrap of {metric.name} has no width: every replicate has the same value, "
            f"because resampling cannot produce errors that were not observed. Use {exact}.",
            DegenerateIntervalWarning,
        )


def _binomial(hits, misses, level, method):
    """Interval of a binomial proportion, elementwise."""
    n = hits + misses
    alpha = 1 - level
    z2 = ndtri(1 - alpha / 2) ** 2
    if method == "clopper-pearson":
        low = beta_quantile(alpha / 2, hits, misses + 1)
        high = beta_quantile(1 - alpha / 2, hits + 1, misses)
        return low, high
    if method == "jeffreys":
        low = beta_quantile(alpha / 2, hits + 0.5, misses + 0.5)
        high = beta_quantile(1 - alpha / 2, hits + 0.5, misses + 0.5)
    else:
        centre = (hits + z2 / 2) / (n + z2)
        if method == "agresti-coull":
            half = np.sqrt(z2 * centre * (1 - centre) / (n + z2))
            return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
        with np.errstate(invalid="ignore"):
            spread = np.where(n > 0, hits * misses / np.maximum(n, 1e-300), 0.0)
        half = np.sqrt(z2 * (spread + z2 / 4)) / (n + z2)
        low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    # Wilson ends there by algebra, Jeffreys by the usual modification (Brown, Cai, DasGupta 2001).
    return np.where(hits == 0, 0.0, low), np.where(misses == 0, 1.0, high)
