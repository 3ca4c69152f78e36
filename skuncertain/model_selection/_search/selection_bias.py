"""The score of a selected model, without the optimism of having selected it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.typing import LabelLike, MetricLike, RandomStateLike
from skuncertain._utils.validation import (
    as_list,
    check_integer,
    check_level,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics._labels import encode_together, positive_of, to_numpy
from skuncertain.metrics._posterior import class_of
from skuncertain.metrics._registry import directed
from skuncertain.posteriors._interval import Interval


@dataclass(frozen=True, eq=False)
class SelectionCorrectedScore:
    """Score of the best of many candidates, corrected for choosing it.

    Parameters
    ----------
    score : float
        Mean over bootstrap samples of the score out of the bag.
    naive : float
        Score of the best candidate on all rows, which is optimistic.
    low, high : float
        Interval of the corrected score, from the same samples.
    selected : int
        Index of the candidate that is best on all rows.
    metric : str
        Name of the metric.
    level : float
        Probability of the interval.
    n_resamples : int
        Bootstrap samples.
    seed : int
        Seed of the samples.
    pos_label : label, default=None
        Class of a metric that depends on it.

    See Also
    --------
    selection_corrected_score : Makes it.

    Examples
    --------
    >>> from skuncertain.model_selection import selection_corrected_score
    >>> y = [0, 1] * 30
    >>> coins = [[(i * k) % 7 > 3 for i in range(60)] for k in range(1, 6)]
    >>> result = selection_corrected_score(y, coins, metric="accuracy", random_state=0)
    >>> result.score < result.naive
    True
    """

    score: float
    naive: float
    low: float
    high: float
    selected: int
    metric: str
    level: float
    n_resamples: int
    seed: int
    pos_label: Any = None

    def interval(self) -> Interval:
        """Interval of the corrected score.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        return Interval(self.low, self.high)


def score_of_left_out(scores, n_repeats=1):
    """Mean score of folds, each by the candidate that is best in the other folds.

    `scores` are those of all candidates, ``(m, n_repeats * K)``, more is better. The same rows are
    tested in every repetition, so the others have to be folds of the same one. Candidates that are
    equally good in the other folds share the fold.
    """
    m, n = scores.shape
    n_folds = n // n_repeats
    folds = scores.reshape((m, 1, n) if n_folds == 1 else (m, n_repeats, n_folds))
    others = folds.sum(axis=2, keepdims=True) - folds
    best = others.max(axis=0)
    # Equal sums of the same scores may differ in their last digits.
    chosen = others >= best - 2.0**-40 * np.abs(folds).max() * folds.shape[2]
    return float(np.mean((folds * chosen).sum(axis=0) / chosen.sum(axis=0)))


def _scores_outside(values, n, n_resamples, rng):
    """Score of the best candidate of every bootstrap sample, on the rows that are not in it."""
    outside = np.full(n_resamples, np.nan)
    for k in range(n_resamples):
        drawn = np.bincount(rng.integers(n, size=n), minlength=n)
        if not drawn.all():
            outside[k] = values(drawn == 0)[np.argmax(values(drawn))]
    return outside[~np.isnan(outside)]


def selection_corrected_score(
    y_true: ArrayLike,
    predictions: Any,
    *,
    metric: MetricLike = "accuracy",
    labels: Any = None,
    pos_label: LabelLike = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomStateLike = None,
) -> SelectionCorrectedScore:
    """Correct the score of the best of many candidates by bootstrapping the choice.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    predictions : sequence, dict or DataFrame of arrays of shape (n,)
        Out-of-fold predictions of every candidate, such as ``cross_val_predict`` returns.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    labels : sequence, default=None
        All classes; by default those that occur.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`.
    level : float, default=0.95
        Probability of the interval.
    n_resamples : int, default=1000
        Bootstrap samples.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples.

    Returns
    -------
    SelectionCorrectedScore
        Corrected score, its interval, and the naive one.

    See Also
    --------
    search_posterior : Has a correction that needs only the split scores.
    BayesianCrossValidator : Around a search it is nested cross-validation.

    Notes
    -----
    Bootstrap bias corrected cross-validation [1]_: in every sample of rows the best candidate is
    chosen, and it is scored on the rows that are not in the sample.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation. Machine Learning 107.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.model_selection import selection_corrected_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trees = [DecisionTreeClassifier(max_depth=k, random_state=0) for k in (1, 2, 3, 5)]
    >>> predictions = [cross_val_predict(tree, X, y, cv=5) for tree in trees]
    >>> result = selection_corrected_score(y, predictions, metric="f1", random_state=0)
    >>> result.score < result.naive
    True
    """
    chosen, level = directed(metric), check_level(level)
    n_resamples = check_integer("n_resamples", n_resamples, low=2, high=10**8)
    truth, codes, labels = encode_together(
        y_true, _check(y_true, predictions), labels, pos_label, parameter="predictions"
    )
    n, size, positive = truth.size, len(labels), positive_of(chosen, labels, pos_label, y_true)
    rule = "y_true must have at least two rows: a sample must leave some out, got 1."
    refuse_if(n < 2, "y_true", rule)
    cells = [truth * size + code for code in codes]
    sign = 1.0 if chosen.greater_is_better else -1.0

    def values(weights):
        """Signed metric of every candidate, with rows counted `weights` times."""
        counts = [np.bincount(row, weights=weights, minlength=size**2) for row in cells]
        matrices = np.stack(counts).reshape(-1, size, size)
        return sign * chosen.evaluate(matrices, positive=positive, zero_division=0.0)

    seed, whole = resolve_seed(random_state), values(np.ones(n))
    outside = sign * _scores_outside(values, n, n_resamples, np.random.default_rng(seed))
    refuse_if(
        outside.size == 0 and np.isnan(whole).any(),
        "metric",
        f"metric {chosen.name!r} is NaN, so no candidate is the best.",
    )
    refuse_if(
        outside.size == 0,
        "n_resamples",
        f"n_resamples={n_resamples} samples of {n} rows leave none out: take more of them.",
    )
    low, high = np.quantile(outside, [(1 - level) / 2, (1 + level) / 2])
    if low == high:
        warn_user(
            f"all bootstrap samples have the same {chosen.name}: the interval has no width, which "
            "says nothing about uncertainty.",
            DegenerateIntervalWarning,
        )
    selected = int(np.argmax(whole))
    return SelectionCorrectedScore(
        score=float(outside.mean()),
        naive=float(sign * whole[selected]),
        low=float(low),
        high=float(high),
        selected=selected,
        metric=chosen.name,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        pos_label=class_of(chosen, labels, positive),
    )


def _check(y_true, predictions):
    """Predictions of every candidate as arrays."""
    n_rows = len(to_numpy("y_true", y_true))
    if hasattr(predictions, "items"):  # a dict or a DataFrame of candidates
        predictions = [predicted for _, predicted in predictions.items()]
    predictions = [to_numpy("predictions", p) for p in as_list("predictions", predictions)]
    for predicted in predictions:
        refuse_if(
            len(predicted) != n_rows,
            "predictions",
            f"predictions must hold one array of {n_rows} labels per candidate, got one of "
            f"{len(predicted)}. A table with candidates in its columns must be transposed.",
        )
    refuse_if(
        len(predictions) < 2,
        "predictions",
        f"predictions must hold at least two candidates, got {len(predictions)}.",
    )
    return predictions
