"""Fold scores and what is known about their folds, from arrays, results or cross-validators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._utils.validation import as_array, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._registry import directed, get_metric
from skuncertain.metrics._scorer_keys import is_moment_key, moment_keys
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_val_scores import CrossValScores
from skuncertain.model_selection._fold_t import check_score_values
from skuncertain.model_selection._read_cross_validate import score_columns
from skuncertain.model_selection._splits import Splits


@dataclass(frozen=True, eq=False)
class ModelFolds:
    """Scores of the folds of one model.

    Attributes
    ----------
    values : ndarray of shape (..., splits)
        Scores, NaN where a fold failed.
    n_train, n_test : ndarray or number
        Rows per fold.
    metric : str or None
        Name of the metric.
    greater_is_better : bool
        Its direction.
    tests : tuple or None
        A fingerprint of the test rows of every fold, if they are known.
    class_counts : ndarray of shape (splits, C) or None
        True classes in every fold, if they are known.
    n_repeats : int
        How often every row was tested.
    """

    values: np.ndarray
    n_train: Any
    n_test: Any
    metric: str | None = None
    greater_is_better: bool = True
    tests: tuple | None = None
    class_counts: np.ndarray | None = None
    n_repeats: int = 1


def check_same_splits(a, b, names):
    """Refuse folds that are known to differ."""
    first, second = names
    refuse_if(
        a.values.shape != b.values.shape,
        "b",
        f"{first} has {a.values.shape[-1]} folds and {second} {b.values.shape[-1]}: they "
        "must be the same folds.",
    )
    refuse_if(
        a.metric != b.metric,
        "metric",
        f"the metrics of a and b differ: {a.metric!r} and {b.metric!r}.",
    )
    both, reason = ~np.isnan(a.values) & ~np.isnan(b.values), None
    if a.tests is not None and b.tests is not None and a.tests != b.tests:
        reason = "their test rows differ"
    elif np.ndim(a.n_test) and np.any((a.n_test != b.n_test) & both):
        reason = "their folds have different sizes"
    elif (
        a.class_counts is not None
        and b.class_counts is not None
        and not np.array_equal(a.class_counts[both], b.class_counts[both])
    ):
        reason = "their folds hold different numbers of the classes"
    refuse_if(
        reason,
        "b",
        f"{first} and {second} were not tested on the same splits ({reason}), so their "
        "folds cannot be paired. Use the same splitter with the same random_state, or "
        "compare(...) on pooled counts of different rows.",
    )


def fold_scores(x, metric, n_train, n_test, n_repeats, name):
    """Scores of a model given in one of several forms."""
    x = getattr(x, "result_", x)
    if isinstance(x, CrossValPosterior):
        found = _of_posterior(x, metric, name)
    elif isinstance(x, CrossValScores):
        found = _of_score_posterior(x, metric, name)
    elif hasattr(x, "keys") and not hasattr(x, "iloc"):
        found = _of_results(x, metric, name)
    else:
        return _of_scores(x, metric, n_train, n_test, n_repeats, name)
    refuse_if(
        n_train is not None or n_test is not None,
        "n_train",
        f"n_train and n_test are for plain scores; {name} knows its folds.",
    )
    refuse_if(
        n_repeats not in (1, found.n_repeats),
        "n_repeats",
        f"n_repeats={n_repeats} does not fit {name}, whose rows are tested "
        f"{found.n_repeats} times.",
    )
    return found


def _of_scores(x, metric, n_train, n_test, n_repeats, name):
    """Plain scores, one per fold."""
    values = as_array(name, x, what=f"the scores of {name}")
    if values.dtype.kind == "f":
        check_score_values(values.astype(float), name)
    refuse_if(
        values.dtype.kind not in "iuf" or values.ndim == 0,
        name,
        f"{name} must be fold scores, a fitted BayesianCrossValidator, a CrossValPosterior or "
        f"the dict that cross_validate returns, got {type(x).__name__}.",
    )
    refuse_if(
        metric is not None,
        "metric",
        "metric is for results of a cross-validation; scores are what they are.",
    )
    n_train, n_test = _fold_sizes(n_train, n_test, values.shape[-1], n_repeats, name)
    return ModelFolds(values.astype(float), n_train, n_test)


def _fold_sizes(n_train, n_test, splits, n_repeats, name):
    """Rows per fold; by default those of K-fold cross-validation, in units of a test set."""
    refuse_if(
        splits % n_repeats,
        "n_repeats",
        f"n_repeats={n_repeats} must divide the number of folds, {splits}.",
    )
    refuse_if(
        (n_train is None) != (n_test is None),
        "n_train",
        "n_train and n_test must be given together, or neither of them.",
    )
    if n_train is None:
        folds = splits // n_repeats
        refuse_if(
            folds < 2,
            name,
            f"{name} has {folds} fold per repetition: n_test / n_train is not known. Give "
            "n_train and n_test.",
        )
        n_train, n_test = folds - 1, 1
    for parameter, size in (("n_train", n_train), ("n_test", n_test)):
        shape = as_array(parameter, size).shape
        refuse_if(
            shape not in ((), (splits,)),
            parameter,
            f"{parameter} must be a number or have one entry per fold, {splits}, got shape "
            f"{shape}.",
        )
    return n_train, n_test


def _check_indices(known, name):
    """Refuse results whose splits are not known."""
    refuse_if(
        not known,
        name,
        f"{name} does not hold the indices of its splits, so it cannot be known whether the folds "
        "are the same. Call cross_validate(..., return_indices=True), or pass the fold scores "
        "themselves if you are sure.",
    )


def _of_posterior(result, metric, name):
    _check_indices(result.splits.tests is not None, name)
    metric = "accuracy" if metric is None else metric
    own = result.metrics.get(metric, metric) if isinstance(metric, str) else metric
    metric = directed(own, find=get_metric)
    total = len(result.counts) + len(result.failed_folds)
    kept = [k for k in range(total) if k not in result.failed_folds]

    def spread(values, fill):
        full = np.full((total, *np.shape(values)[1:]), fill, dtype=float)
        full[kept] = values
        return full

    return ModelFolds(
        spread(result.folds(metric).values, np.nan),
        spread(result.splits.n_train, np.nan),
        spread(result.splits.n_test, np.nan),
        metric.name,
        metric.greater_is_better,
        result.splits.tests,
        spread(result.counts.counts.sum(axis=-1), np.nan),
        result.n_repeats,
    )


def _of_score_posterior(result, metric, name):
    _check_indices(result.splits is not None, name)
    metric = _named_score(list(result.scores), metric, name)
    splits = result.splits
    return ModelFolds(
        result.scores[metric],
        splits.n_train,
        splits.n_test,
        metric,
        True,
        splits.tests,
        n_repeats=splits.n_repeats,
    )


def _named_score(scored, metric, name):
    """Name of the score that was asked for, or of the only one."""
    if metric is None and len(scored) == 1:
        return scored[0]
    refuse_if(
        not isinstance(metric, str) or metric not in scored,
        name,
        f"{name} holds the scores {scored}: name one of them with metric=, got {{value}}.",
        value=metric,
    )
    return metric


def _is_plain_score(results, metric):
    """Whether a name is that of a score which neither counts nor moments give."""
    if not isinstance(metric, str) or f"test_{metric}" not in results:
        return False
    try:
        scored = isinstance(get_metric(metric), ScoreMetric)
    except InvalidParameterError:
        return True
    return scored and any(f"test_{key}" not in results for key in moment_keys(metric))


def _of_results(results, metric, name):
    scored = [key for key in score_columns(results) if not is_moment_key(key)]
    counted = all(cell in scored for cell in ("tn", "fp", "fn", "tp")) or any(
        key.startswith("n_") for key in scored
    )
    counted &= not _is_plain_score(results, metric)
    metric = metric if counted else _named_score(scored, metric, name)
    _check_indices("indices" in results, name)
    if counted:
        own = [metric] if isinstance(metric, ScoreMetric) else None
        result = CrossValPosterior.from_cv_results(results, method="nadeau_bengio", metrics=own)
        return _of_posterior(result, metric, name)
    splits = Splits.of(results["indices"]["train"], results["indices"]["test"])
    return ModelFolds(
        np.asarray(results[f"test_{metric}"], dtype=float),
        splits.n_train,
        splits.n_test,
        metric,
        True,
        splits.tests,
        n_repeats=splits.n_repeats,
    )
