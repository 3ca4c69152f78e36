"""Which of two models is better? `compare` on different rows, `compare_cv` on the same folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.fold_ranking import round_gaps
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_integer,
    check_names,
    check_rope,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import remember_warnings, silence, warn_user
from skuncertain.comparison._advice import advice_on_scores
from skuncertain.comparison._fold_difference import check_estimand
from skuncertain.comparison._fold_rows import is_cross_validated, read_fold_rows
from skuncertain.comparison._fold_scores import check_same_splits, fold_scores
from skuncertain.comparison._paired import PairedCounts
from skuncertain.comparison._result import ComparisonResult, judge
from skuncertain.comparison._score_pairs import refuse_folds, score_metric
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._priors import resolve_number
from skuncertain.metrics._registry import canonical_name, check_direction
from skuncertain.model_selection._fold_t import score_posterior
from skuncertain.model_selection._score_names import fits_range, known_range
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._difference import difference_of, probability_below
from skuncertain.posteriors._question import ways_that_differ

_WANTED = (
    "a and b must be ConfusionCounts, posteriors or two fitted BayesianCrossValidators, got {}. "
    "Predictions of the same rows go to compare_paired, fold scores to compare_cv."
)


@remember_warnings
def compare(
    a: Any,
    b: Any,
    *,
    metric: MetricLike | None = None,
    rope: float = 0.0,
    prior: PriorLike = "auto",
    pos_label: LabelLike = None,
    estimand: str | None = None,
    names: Any = ("A", "B"),
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> ComparisonResult:
    """Compare two models that were tested on different rows, or two cross-validators.

    Parameters
    ----------
    a, b : ConfusionCounts, Posterior or BayesianCrossValidator
        Counts, or posteriors of the same question: metric, class, prevalence, estimand. They are
        taken as independent: models that were tested on the same rows belong into
        :func:`compare_paired`, which is far more powerful. Two cross-validators that were fitted
        on the same splits with ``keep_predictions=True`` are compared row by row, as there.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. Needed for counts; posteriors bring theirs; of cross-validators it
        is accuracy by default.
    rope : float, default=0.0
        Region of practical equivalence: differences up to `rope`, in units of the metric, count as
        none.
    prior : str, float or array-like of shape (C, C), default="auto"
        For counts, see :meth:`ConfusionCounts.posterior`; for cross-validators a number, see
        :func:`compare_paired`.
    pos_label : label, default=None
        For counts and cross-validators, the positive class.
    estimand : {"algorithm", "fitted", "final"}, default=None
        For cross-validators, see :func:`compare_paired`.
    names : tuple of two str, default=("A", "B")
        What to call them.
    n_draws : int, default=None
        Number of draws where one of the two is drawn, or for stacks other than proportions and F1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    ComparisonResult
        Difference is b - a; ``p_better`` is the probability that b is better.

    See Also
    --------
    compare_paired : Two models on the same rows.
    compare_cv : Two models on the same folds.
    leaderboard : Many models.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, compare
    >>> a = ConfusionCounts.from_binary(tp=10, fn=5, fp=10, tn=5)
    >>> b = ConfusionCounts.from_binary(tp=3, fn=3, fp=2, tn=4)
    >>> round(compare(a, b, metric="f1").p_better, 3)
    0.457
    """
    if is_cross_validated(a) or is_cross_validated(b):
        return _cross_validators(
            (a, b), metric, rope, prior, pos_label, estimand, names, n_draws, random_state
        )
    refuse_if(
        estimand is not None,
        "estimand",
        "estimand is for cross-validators; counts are those of one model, and posteriors have "
        "theirs.",
    )
    names, seed = check_names(names), resolve_seed(random_state)
    options = {"prior": prior, "pos_label": pos_label, "n_draws": n_draws, "random_state": seed}
    left, right = (
        as_posterior(x, metric, wanted=_WANTED, parameter=parameter, **options)
        for parameter, x in (("a", a), ("b", b))
    )
    difference = difference_of(left, right, n_draws, seed)
    rows = [x.n for x in (a, b) if isinstance(x, ConfusionCounts) and not x.shape]
    return judge(
        difference,
        rope,
        metric=left.metric,
        names=names,
        method="independent test sets",
        greater_is_better=check_direction(left.metric, left.greater_is_better, "compared"),
        below_zero=_below(left, right) if check_rope(rope) == 0 else None,
        n=f"{rows[0]:g} and {rows[1]:g}" if len(rows) == 2 else None,
        prior="; ".join(dict.fromkeys(p.prior for p in (left, right) if p.prior)) or None,
        differs=ways_that_differ(zip(names, (left, right), strict=True)),
    )


def _cross_validators(pair, metric, rope, prior, pos_label, estimand, names, n_draws, random_state):
    """Two cross-validators on the same splits, row by row."""
    for side, x in zip(("a", "b"), pair, strict=True):
        refuse_if(not is_cross_validated(x), side, _WANTED.format(type(x).__name__))
    scored = score_metric(metric)
    if scored is not None:
        refuse_folds(scored, None, pair)
    rows = read_fold_rows(None, list(pair), ("a", "b"), None, None, pos_label)
    return PairedCounts.from_fold_rows(rows).compare(
        metric="accuracy" if metric is None else metric,
        rope=rope,
        prior=resolve_number(prior, 0.5),
        names=names,
        n_draws=n_draws,
        random_state=random_state,
        folds=rows,
        estimand=check_estimand(estimand, folded=True),
    )


def _below(a, b):
    """P(b < a) of two Betas, whose order does not change if the odds of both are multiplied."""
    betas = isinstance(a, BetaPosterior) and isinstance(b, BetaPosterior)
    if not betas or a.odds != b.odds:
        return None
    shapes = np.broadcast_arrays(b.a, b.b, a.a, a.b)
    if not all(np.all(part >= 0.5) for part in shapes):
        return None
    flat = [part.reshape(-1) for part in shapes]
    return probability_below(tuple(flat[:2]), tuple(flat[2:])).reshape(shapes[0].shape)


def as_posterior(x, metric, *, wanted, parameter, **options):
    """Return the posterior of counts, or a posterior itself; `wanted` is told of anything else."""
    if isinstance(x, ConfusionCounts):
        refuse_if(metric is None, "metric", "metric is missing: counts need the name of a metric.")
        return x.posterior(metric, **options)
    refuse_if(not isinstance(x, Posterior), parameter, wanted.format(type(x).__name__))
    refuse_if(
        metric is not None and x.metric is not None and canonical_name(metric) != x.metric,
        "metric",
        f"metric is {metric!r}, but a posterior of {x.metric!r} was given.",
    )
    return x


# --------------------------------------------------------------------------------------------------
# The same folds


@remember_warnings
def compare_cv(
    a: Any,
    b: Any,
    *,
    metric: MetricLike | None = None,
    rope: float = 0.0,
    n_train: ArrayLike | None = None,
    n_test: ArrayLike | None = None,
    n_repeats: int = 1,
    names: Any = ("A", "B"),
) -> ComparisonResult:
    """Compare two models by their scores on the same folds.

    Parameters
    ----------
    a, b : array-like of shape (K,), BayesianCrossValidator, CrossValPosterior or dict
        Fold scores (more is better), fitted cross-validators, or results of ``cross_validate``. All
        folds must be the same for both.
    metric : str, Metric or callable, default=None
        Metric to take from cross-validators or results: for counts any metric, otherwise the name
        of a score. By default the only score, or accuracy of counts.
    rope : float, default=0.0
        Region of practical equivalence, in units of the metric.
    n_train, n_test : int or array-like of shape (K,), default=None
        Rows per fold, for plain scores. By default n_test / n_train = 1 / (K - 1), as in K-fold
        cross-validation.
    n_repeats : int, default=1
        For plain scores: repetitions of the K-fold cross-validation.
    names : tuple of two str, default=("A", "B")
        What to call the models.

    Returns
    -------
    ComparisonResult
        Difference is b - a, mean over folds; ``p_better`` is the probability that b is better.

    See Also
    --------
    compare_paired : From predictions of the same rows.
    search_posterior : All candidates of a search.

    Notes
    -----
    The correlated t test: mean difference, variance s² (1/J + n_test/n_train), J - 1 degrees of
    freedom, J the number of folds of all repetitions. Different splits are refused if the results
    hold the indices (``return_indices=True``; always for BayesianCrossValidator), or if sizes or
    class counts differ. For plain scores it cannot be known: both must come from the same splitter
    with the same ``random_state``. Folds in which a score is missing are left out of both.

    Of two cross-validators believe :func:`compare` where it applies: it also sees rows and models.

    Examples
    --------
    >>> from skuncertain import compare_cv
    >>> a = [0.80, 0.82, 0.79, 0.84, 0.81, 0.83, 0.78, 0.85, 0.80, 0.82]
    >>> b = [0.82, 0.83, 0.80, 0.83, 0.84, 0.85, 0.80, 0.86, 0.83, 0.81]
    >>> result = compare_cv(a, b, rope=0.01)
    >>> round(result.p_worse, 3), round(result.p_equivalent, 3), round(result.p_better, 3)
    (0.003, 0.325, 0.672)
    """
    names = check_names(names)
    n_repeats = check_integer("n_repeats", n_repeats, low=1)
    left, right = (
        fold_scores(x, metric, n_train, n_test, n_repeats, side)
        for side, x in {"a": a, "b": b}.items()
    )
    check_same_splits(left, right, names)
    values, n_train, n_test = _differences(left, right)
    with silence(UndefinedMetricWarning):  # told above
        difference = score_posterior(
            values,
            "nadeau_bengio",
            n_train=n_train,
            n_test=n_test,
            metric=left.metric and f"difference in {left.metric}",
            range=_difference_range(left, right),
        )
    difference = difference.with_about(estimand="algorithm")
    repeats = max(n_repeats, left.n_repeats)
    return judge(
        difference,
        rope,
        metric=left.metric,
        names=names,
        method=f"{values.shape[-1]} shared folds",
        greater_is_better=left.greater_is_better,
        n=_tested(n_test, values, repeats),
        prior="none: Student's t on the differences of the folds",
        n_folds=values.shape[-1] / repeats,
        n_repeats=repeats,
        advice=advice_on_scores(a, b, metric),
    )


def _difference_range(left, right):
    """Range of a difference, as far as the name of the metric tells."""
    low, high = (-np.inf, np.inf) if left.metric is None else known_range(left.metric)[0]
    fit = all(fits_range(side.values, (low, high)) for side in (left, right))
    return (low - high, high - low) if fit else (-np.inf, np.inf)


def _differences(left, right):
    """Differences b - a of the folds that both have, and the rows of these folds."""
    values, sizes = right.values - left.values, (left.n_train, left.n_test)
    missing = np.isnan(values)
    if missing.any():
        warn_user(
            f"a score is missing in {int(missing.sum())} of {missing.size} folds: they are left "
            "out of both.",
            UndefinedMetricWarning,
        )
    if values.ndim == 1:
        sizes = tuple(size[~missing] if np.ndim(size) else size for size in map(np.asarray, sizes))
        values = values[~missing]
        refuse_if(
            values.size < 2, "a", f"at least two folds need a score of both, got {values.size}."
        )
    return round_gaps(values, left.values, right.values), *sizes


def _tested(n_test, values, n_repeats):
    """Rows that were tested, each counted once; None if it is not known."""
    if n_test is None or np.ndim(n_test) != 1 or values.ndim != 1:
        return None
    total = float(np.sum(n_test)) / n_repeats
    return int(total) if total.is_integer() else total
