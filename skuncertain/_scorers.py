"""Scorers for scikit-learn's ``scoring=``: counts per fold, and credible bounds."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import make_scorer

from skuncertain._counts import ConfusionCounts
from skuncertain._labels import (
    as_labels,
    check_pos_label,
    check_targets,
    complete_single_label,
    plain_label,
    sorted_labels,
)
from skuncertain._metric_formulas import one_vs_rest, two_by_two
from skuncertain._metrics import get_metric
from skuncertain._priors import check_prior
from skuncertain._validation import (
    as_list,
    as_numbers,
    check_bool,
    check_choice,
    check_kind,
    check_level,
    rectangular,
)

BINARY_KEYS = ("tn", "fp", "fn", "tp")
MOST_CLASSES = 30  # beyond, a key per cell is asked for with cells=True
BOUNDS = ("lower", "upper")


def cell_key(true: int, predicted: int) -> str:
    """Key of a cell in the scorer's dict, for more than two classes."""
    return f"n_{true}_{predicted}"


def is_count_key(key: str) -> bool:
    """Whether a key of the scorer's dict is a count, and no score."""
    return key in (*BINARY_KEYS, "n") or key.startswith(("n_", "tp_", "fp_", "fn_"))


def _alike(columns, keys):
    """The columns as arrays of floats of one shape."""
    arrays = [as_numbers(f"the counts of {key!r}", columns[key]) for key in keys]
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{k!r} {a.shape}" for k, a in zip(keys, arrays, strict=True))
        raise ValueError(f"cv_results must hold as many counts of every cell, got {shapes[:200]}.")
    return arrays


def read_cells(columns):
    """Matrices ``(..., C, C)`` from arrays under the scorer's keys, or None if they are not there.

    With two classes the positive one is last.
    """
    if all(key in columns for key in BINARY_KEYS):
        tn, fp, fn, tp = _alike(columns, BINARY_KEYS)
        return two_by_two(tp, fn, fp, tn)
    found = [match for key in columns if (match := re.fullmatch(r"n_(\d+)_(\d+)", str(key)))]
    if not found:
        return None
    size = 1 + max(int(index) for match in found for index in match.groups())
    if len(found) != size**2:
        raise ValueError(
            f"the results hold {len(found)} of the {size**2} cells of {size} classes: a fold "
            "lacked a class. Name all classes: ConfusionCountsScorer(labels=[...])."
        )
    cells = _alike(columns, [cell_key(i, j) for i in range(size) for j in range(size)])
    return np.stack(cells, axis=-1).reshape(*cells[0].shape, size, size)


def _targets(estimator, y_true, y_pred):
    """Checked labels; predictions of an estimator that is no classifier are refused by its name."""
    try:
        return check_targets(y_true, y_pred)
    except ValueError as error:
        typed = hasattr(estimator, "__sklearn_tags__")
        if not (typed and str(error).startswith("y_pred")) or is_classifier(estimator):
            raise
        raise ValueError(
            f"estimator must be a classifier, got {type(estimator).__name__}, which predicts no "
            f"class labels. ({error})"
        ) from error


class TolerantScorer:
    """A counts scorer that answers a fold that fails with NaN, under every key.

    scikit-learn leaves a dict of a fold that works and a number of one that fails side by side: it
    breaks, or keeps an array of objects.
    """

    def __init__(self, scorer, keys):
        self.scorer, self.keys = scorer, keys

    def __call__(self, estimator, X, y):
        try:
            return self.scorer(estimator, X, y)
        except Exception as error:
            warnings.warn(
                f"the predictions of a fold cannot be counted, the fold is left out: "
                f"{type(error).__name__}: {error}",
                UserWarning,
                stacklevel=2,
            )
            return dict.fromkeys(self.keys, np.nan)

    @classmethod
    def of(cls, scorer, y):
        """Around a scorer; `y` holds all labels."""
        return cls(scorer, tuple(scorer(_Echo(), y, y)))


class _Echo:
    """Classifier that predicts what it gets."""

    def predict(self, X):
        return X


class ConfusionCountsScorer(BaseEstimator):
    """Scorer that returns the confusion matrix of every fold, one number per cell.

    It is a value for ``scoring=`` in ``cross_validate``, ``GridSearchCV``, ``RandomizedSearchCV``
    and the halving searches. It does not work in ``cross_val_score`` and ``learning_curve``, which
    refuse scorers that return several numbers.

    Parameters
    ----------
    labels : sequence, default=None
        All classes, in order. By default the classes that the estimator was trained on or that
        occur in the test rows, sorted. Give it with more than two classes if a training set may
        lack one (``TimeSeriesSplit``, halving searches).
    metrics : list of str, Metric or callable, default=None
        Metrics whose value is returned as well, under the name that was asked for, so that
        ``refit="f1"`` works. A metric of which less is better appears as ``neg_<name>``, with its
        sign changed, as in scikit-learn.
    pos_label : label, default=None
        Positive class. With two classes the default is 1 if 1 is a label, otherwise the last label.
    cells : bool, default=False
        With more than 30 classes: return every cell instead of tp, fp and fn of every class.

    See Also
    --------
    cross_val_posterior : Turns the result of ``cross_validate`` into posteriors.
    BayesianCrossValidator : Does all of it.
    make_bound_scorer : Scorer for a credible bound.

    Notes
    -----
    Keys: ``tn, fp, fn, tp`` for two classes. With more, ``n_<i>_<j>`` counts the rows of the i-th
    class that were predicted as the j-th, i and j from 0 in the order of `labels`; with more than
    30 classes ``tp_<i>, fp_<i>, fn_<i>`` unless `cells`. Always ``n``, the number of rows, and
    ``score``: the first of `metrics`, otherwise the accuracy. 0/0 counts as 0 in metrics, as in
    scikit-learn; posteriors are made from the counts and do not depend on that.

    There is no `sample_weight`: weighted sums are no counts, and an effective sample size cannot be
    added up over folds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import ConfusionCountsScorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = ConfusionCountsScorer(metrics=["f1"])
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> results = cross_validate(tree, X, y, cv=3, scoring=scorer)
    >>> results["test_tp"], results["test_n"]
    (array([115, 114, 103]), array([190, 190, 189]))
    """

    def __init__(
        self,
        *,
        labels: Any = None,
        metrics: Any = None,
        pos_label: Any = None,
        cells: bool = False,
    ) -> None:
        self.labels = labels
        self.metrics = metrics
        self.pos_label = pos_label
        self.cells = cells
        # Here and not in the call: a search would turn the error into NaN and go on.
        scorer_metrics(metrics)
        check_bool("cells", cells)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> dict:
        """Counts of one fold.

        Parameters
        ----------
        estimator : object
            Fitted classifier.
        X : array-like
            Test rows.
        y : array-like of shape (n,)
            True labels.

        Returns
        -------
        dict
            One number per key.
        """
        asked = scorer_metrics(self.metrics)
        y_true, y_pred = _targets(estimator, y, estimator.predict(X))
        labels = self._labels(estimator, y_true, y_pred)
        if labels is None:  # one class, and no way to know the other: refused by the reader
            values = dict.fromkeys((*BINARY_KEYS, "score", *(key for key, *_ in asked)), np.nan)
            return {**values, "n": len(y_true)}
        counts = ConfusionCounts.from_predictions(
            y_true, y_pred, labels=labels, pos_label=self.pos_label
        )
        result: dict[str, Any] = self._cells(counts)
        result["n"] = len(y_true)
        for key, metric, sign in asked:
            result[key] = sign * counts.score(metric, zero_division=0.0)
        result["score"] = result[asked[0][0]] if asked else counts.score("accuracy")
        return result

    def _labels(self, estimator, y_true, y_pred):
        if self.labels is not None:
            return as_labels(self.labels)
        labels = set(sorted_labels(y_true, y_pred))
        labels |= {plain_label(label) for label in getattr(estimator, "classes_", ())}
        if len(labels) == 1 and self.pos_label is not None:
            labels.add(plain_label(self.pos_label))
        labels = sorted(labels)
        if len(labels) == 1:
            try:
                labels = complete_single_label(labels)
            except ValueError:
                return None
        return as_labels(labels)

    def _cells(self, counts):
        matrix = counts.counts
        size = counts.n_classes
        if size == 2:
            tn, fp, fn, tp = oriented(matrix, counts).ravel().tolist()
            return dict(zip(BINARY_KEYS, (tn, fp, fn, tp), strict=True))
        if size <= MOST_CLASSES or self.cells:
            flat = matrix.ravel().tolist()
            keys = [cell_key(i, j) for i in range(size) for j in range(size)]
            return dict(zip(keys, flat, strict=True))
        tp, fn, fp, _ = (part.astype(int).tolist() for part in one_vs_rest(matrix))
        return {
            f"{name}_{i}": part[i]
            for name, part in (("tp", tp), ("fp", fp), ("fn", fn))
            for i in range(size)
        }


def oriented(matrix, counts):
    """Two-by-two matrix with the positive class last."""
    positive = counts.labels.index(counts.pos_label)
    return matrix if positive == 1 else matrix[..., ::-1, ::-1]


def scorer_metrics(metrics):
    """Return (key, metric, sign) of every metric that a scorer is asked for."""
    if metrics is None:
        return []
    found = []
    for name in as_list("metrics", metrics):
        metric = directed(name)
        key = name if isinstance(name, str) else metric.name
        if is_count_key(key) or key == "score":
            raise ValueError(f"a metric cannot be called {key!r}: the scorer uses that name.")
        sign = 1.0 if metric.greater_is_better else -1.0
        found.append((key if metric.greater_is_better else f"neg_{key}", metric, sign))
    return found


def directed(name):
    """Metric of which more, or less, is better; others are no scores."""
    metric = get_metric(name)
    if metric.greater_is_better is None:
        raise ValueError(
            f"metric {metric.name!r} is a description, neither more nor less of it is better: it "
            "cannot be a score, and there is nothing to compare."
        )
    return metric


def make_bound_scorer(
    metric: Any,
    *,
    bound: str = "lower",
    level: float = 0.95,
    prior: Any = "auto",
    kind: str = "eti",
    labels: Any = None,
    pos_label: Any = None,
) -> Callable:
    """Scorer for the end of a credible interval, so that a search can maximise the lower bound.

    Parameters
    ----------
    metric : str, Metric or callable
        See :func:`get_metric`.
    bound : {"lower", "upper"}, default="lower"
        Which end. Of a metric of which less is better, the "lower" score is minus the upper end:
        the pessimistic view either way.
    level : float, default=0.95
        Probability of the interval.
    prior : str, float or array-like of shape (C, C), default="auto"
        See :meth:`ConfusionCounts.posterior`.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    labels : sequence, default=None
        All classes; by default those that occur in the test rows.
    pos_label : label, default=None
        Positive class.

    Returns
    -------
    callable
        What :func:`sklearn.metrics.make_scorer` makes: a value for any ``scoring=``.

    See Also
    --------
    ConfusionCountsScorer : Scorer that returns counts.

    Notes
    -----
    The bound is that of one test fold on its own, and the search averages it over folds. It ranks
    candidates; it is no interval of the cross-validated score: use :func:`cross_val_posterior` for
    that. Metrics that are drawn use a fixed seed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import make_bound_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> cross_val_score(tree, X, y, cv=3, scoring=make_bound_scorer("f1")).round(3)
    array([0.883, 0.92 , 0.866])
    """
    check_choice("bound", bound, BOUNDS)
    check_level(level)
    check_kind(kind)
    if isinstance(prior, str) or rectangular("prior", prior).ndim == 0:
        check_prior(prior, 2)
    if pos_label is not None:
        plain_label(pos_label, "pos_label")
        if labels is not None:
            check_pos_label(as_labels(labels), pos_label)
    return make_scorer(
        _bound_score,
        metric=directed(metric),
        bound=bound,
        level=level,
        prior=prior,
        kind=kind,
        labels=labels,
        pos_label=pos_label,
    )


def _bound_score(y_true, y_pred, *, metric, bound, level, prior, kind, labels, pos_label):
    if labels is None:
        y_true, y_pred = check_targets(y_true, y_pred)
        labels = sorted_labels(y_true, y_pred)
        if len(labels) == 1 and pos_label is not None:
            labels = sorted({*labels, plain_label(pos_label)})
        elif len(labels) == 1 and metric.average != "binary" and isinstance(labels[0], str):
            labels = [*labels, f"not {labels[0]}"]  # its name does not matter
        labels = labels if len(labels) > 1 else None
    counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels, pos_label=pos_label)
    low, high = counts.posterior(metric, prior=prior, random_state=0).interval(level, kind)
    if metric.greater_is_better:
        return low if bound == "lower" else high
    return -high if bound == "lower" else -low
