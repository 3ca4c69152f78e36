"""Fold scores and what is known about their folds, from arrays, results or cross-validators."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._cross_val_posterior import CrossValPosterior, cross_val_posterior
from skuncertain._scorers import directed
from skuncertain._splits import Splits
from skuncertain._validation import rectangular, shown


@dataclass(frozen=True, eq=False)
class FoldScores:
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
    if a.values.shape != b.values.shape:
        raise ValueError(
            f"{first} has {a.values.shape[-1]} folds and {second} {b.values.shape[-1]}: they "
            "must be the same folds."
        )
    if a.metric != b.metric:
        raise ValueError(f"the metrics differ: {a.metric!r} and {b.metric!r}.")
    both, reason = ~np.isnan(a.values) & ~np.isnan(b.values), None
    if a.tests is not None and b.tests is not None and a.tests != b.tests:
        reason = "their test rows differ"
    elif np.ndim(a.n_test) and np.any((a.n_test != b.n_test) & both):
        reason = "their folds have different sizes"
    elif _differ(a.class_counts, b.class_counts, both):
        reason = "their folds hold different numbers of the classes"
    if reason:
        raise ValueError(
            f"{first} and {second} were not tested on the same splits ({reason}), so their "
            "folds cannot be paired. Use the same splitter with the same random_state, or "
            "compare(...) on pooled counts of different rows."
        )


def _differ(a, b, both):
    """Whether class counts are known and differ in a fold that both have."""
    if a is None or b is None:
        return False
    return a.shape != b.shape or bool(np.any(a[both] != b[both]))


def fold_scores(x, metric, n_train, n_test, n_repeats, name):
    """Scores of a model given in one of several forms."""
    if hasattr(x, "result_"):
        x = x.result_
    given = n_train is not None or n_test is not None
    if isinstance(x, CrossValPosterior) or (hasattr(x, "keys") and not hasattr(x, "iloc")):
        if given:
            raise ValueError(f"n_train and n_test are for plain scores; {name} knows its folds.")
        found = (
            _of_posterior(x, metric, name)
            if isinstance(x, CrossValPosterior)
            else _of_results(x, metric, name)
        )
        if n_repeats not in (1, found.n_repeats):
            raise ValueError(
                f"n_repeats={n_repeats} does not fit {name}, whose rows are tested "
                f"{found.n_repeats} times."
            )
        return found
    values = rectangular("the scores of a and b", x)
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(f"{name} holds infinite scores, which have no mean.")
    if values.dtype.kind == "f" and np.any(np.abs(values.astype(float)) > 1e100):
        raise ValueError(f"the scores of {name} must be within 1e100, got {shown(values)}.")
    if values.dtype.kind not in "iuf" or values.ndim == 0:
        raise TypeError(
            f"{name} must be fold scores, a fitted BayesianCrossValidator, a CrossValPosterior or "
            f"the dict that cross_validate returns, got {type(x).__name__}."
        )
    if metric is not None:
        raise ValueError("metric is for results of a cross-validation; scores are what they are.")
    splits = values.shape[-1]
    if splits % n_repeats:
        raise ValueError(f"n_repeats={n_repeats} must divide the number of folds, {splits}.")
    if (n_train is None) != (n_test is None):
        raise ValueError("n_train and n_test must be given together, or neither of them.")
    if n_train is None:
        folds = splits // n_repeats
        if folds < 2:
            raise ValueError(
                f"{name} has {folds} fold per repetition: n_test / n_train is not known. Give "
                "n_train and n_test."
            )
        n_train, n_test = folds - 1, 1
    for parameter, size in (("n_train", n_train), ("n_test", n_test)):
        shape = rectangular(parameter, size).shape
        if shape not in ((), (splits,)):
            raise ValueError(
                f"{parameter} must be a number or have one entry per fold, {splits}, got shape "
                f"{shape}."
            )
    return FoldScores(values.astype(float), n_train, n_test)


def _refuse_unknown_splits(name):
    raise ValueError(
        f"{name} does not hold the indices of its splits, so it cannot be known whether the folds "
        "are the same. Call cross_validate(..., return_indices=True), or pass the fold scores "
        "themselves if you are sure."
    )


def _of_posterior(result, metric, name):
    if result.splits.tests is None:
        _refuse_unknown_splits(name)
    metric = directed("accuracy" if metric is None else metric)
    total = len(result.counts) + len(result.lost)
    kept = [k for k in range(total) if k not in result.lost]

    def spread(values, fill):
        full = np.full((total, *np.shape(values)[1:]), fill, dtype=float)
        full[kept] = values
        return full

    return FoldScores(
        spread(result.folds(metric).values, np.nan),
        spread(result.splits.n_train, np.nan),
        spread(result.splits.n_test, np.nan),
        metric.name,
        metric.greater_is_better,
        result.splits.tests,
        spread(result.counts.counts.sum(axis=-1), np.nan),
        result.n_repeats,
    )


def _of_results(results, metric, name):
    scored = [key for key in results if str(key).startswith("test_")]
    key = None if not isinstance(metric, str) else f"test_{metric}"
    if all(f"test_{cell}" in results for cell in ("tn", "fp", "fn", "tp")) or any(
        str(k).startswith("test_n_") for k in scored
    ):
        if "indices" not in results:
            _refuse_unknown_splits(name)
        return _of_posterior(cross_val_posterior(results, method="nadeau_bengio"), metric, name)
    if metric is None and len(scored) == 1:
        key = scored[0]
    if key is None or key not in results:
        raise ValueError(
            f"{name} holds the scores {[k[5:] for k in scored]}: name one of them with metric=, "
            f"got {shown(metric)}."
        )
    if "indices" not in results:
        _refuse_unknown_splits(name)
    splits = Splits.of(results["indices"]["train"], results["indices"]["test"])
    return FoldScores(
        np.asarray(results[key], dtype=float),
        splits.n_train,
        splits.n_test,
        key[5:],
        True,
        splits.tests,
        n_repeats=splits.n_repeats,
    )
