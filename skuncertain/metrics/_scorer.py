"""Scorers for scikit-learn's ``scoring=``: counts per fold, and credible bounds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import make_scorer

from skuncertain._utils.typing import LabelLike, LabelsLike, MetricLike, MetricsLike, PriorLike
from skuncertain._utils.validation import (
    as_array,
    as_numbers,
    check_bool,
    check_choice,
    check_kind,
    check_level,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import one_vs_rest, two_by_two
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    check_targets,
    complete_single_label,
    plain_label,
    sorted_labels,
    with_positive,
)
from skuncertain.metrics._priors import check_prior
from skuncertain.metrics._registry import directed, named_metrics

BINARY_KEYS = ("tn", "fp", "fn", "tp")
MOST_CLASSES = 30  # beyond, a key per cell is asked for with cells=True
BOUNDS = ("lower", "upper")


def _cell_keys(size):
    """Keys of all cells in the scorer's dict, for more than two classes."""
    return [f"n_{true}_{predicted}" for true in range(size) for predicted in range(size)]


def is_count_key(key: str) -> bool:
    """Whether a key of the scorer's dict is a count, and no score."""
    return key in (*BINARY_KEYS, "n") or key.startswith(("n_", "tp_", "fp_", "fn_"))


def _alike(columns, keys):
    """The columns as arrays of floats of one shape."""
    arrays = [as_numbers("cv_results", columns[key], what=f"the counts of {key!r}") for key in keys]
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{k!r} {a.shape}" for k, a in zip(keys, arrays, strict=True))
        raise InvalidParameterError(
            f"cv_results must hold as many counts of every cell, got {shapes[:200]}.",
            parameter="cv_results",
        )
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
    refuse_if(
        len(found) != size**2,
        "cv_results",
        f"the results hold {len(found)} of the {size**2} cells of {size} classes: a fold "
        "lacked a class. Name all classes: ConfusionCountsScorer(labels=[...]).",
    )
    cells = _alike(columns, _cell_keys(size))
    return np.stack(cells, axis=-1).reshape(*cells[0].shape, size, size)


def _targets(estimator, y_true, y_pred):
    """Checked labels; predictions of an estimator that is no classifier are refused by its name."""
    try:
        return check_targets(y_true, y_pred)
    except InvalidParameterError as error:
        typed = hasattr(estimator, "__sklearn_tags__")
        if not (typed and error.parameter == "y_pred") or is_classifier(estimator):
            raise
        raise InvalidParameterError(
            f"estimator must be a classifier, got {type(estimator).__name__}, which predicts no "
            f"class labels. ({error})",
            parameter="estimator",
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
    CrossValPosterior.from_cv_results : Turns the result of ``cross_validate`` into posteriors.
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
        labels: LabelsLike | None = None,
        metrics: MetricsLike | None = None,
        pos_label: LabelLike = None,
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
        values = {
            key: sign * counts.score(metric, zero_division=0.0) for key, metric, sign in asked
        }
        score = values[asked[0][0]] if asked else counts.score("accuracy")
        return {**self._cells(counts), "n": len(y_true), **values, "score": score}

    def _labels(self, estimator, y_true, y_pred):
        if self.labels is not None:
            return as_labels(self.labels)
        labels = set(sorted_labels(y_true, y_pred))
        labels |= {plain_label(label) for label in getattr(estimator, "classes_", ())}
        labels = with_positive(labels, self.pos_label)
        if len(labels) == 1:
            try:
                labels = complete_single_label(labels)
            except ValueError:
                return None
        return as_labels(labels)

    def _cells(self, counts):
        matrix, size = counts.counts, counts.n_classes
        if size == 2:
            matrix = matrix if counts._positive == 1 else matrix[::-1, ::-1]
            return dict(zip(BINARY_KEYS, matrix.ravel().tolist(), strict=True))
        if size <= MOST_CLASSES or self.cells:
            return dict(zip(_cell_keys(size), matrix.ravel().tolist(), strict=True))
        tp, fn, fp, _ = (part.astype(int).tolist() for part in one_vs_rest(matrix))
        return {
            f"{name}_{i}": part[i]
            for name, part in (("tp", tp), ("fp", fp), ("fn", fn))
            for i in range(size)
        }


def scorer_metrics(metrics):
    """Return (key, metric, sign) of every metric that a scorer is asked for."""
    found = []
    for key, metric in named_metrics([] if metrics is None else metrics, least=0):
        directed(metric, "metrics")
        refuse_if(
            is_count_key(key) or key == "score",
            "metrics",
            f"a metric cannot be called {key!r}: the scorer uses that name.",
        )
        sign = 1.0 if metric.greater_is_better else -1.0
        found.append((key if metric.greater_is_better else f"neg_{key}", metric, sign))
    return found


def make_bound_scorer(
    metric: MetricLike,
    *,
    bound: str = "lower",
    level: float = 0.95,
    prior: PriorLike = "auto",
    kind: str = "eti",
    labels: LabelsLike | None = None,
    pos_label: LabelLike = None,
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
    >>> from skuncertain.metrics import make_bound_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> cross_val_score(tree, X, y, cv=3, scoring=make_bound_scorer("f1")).round(3)
    array([0.884, 0.921, 0.867])
    """
    check_choice("bound", bound, BOUNDS)
    check_level(level)
    check_kind(kind)
    if isinstance(prior, str) or as_array("prior", prior).ndim == 0:
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
        labels = with_positive(sorted_labels(y_true, y_pred), pos_label)
        nameless = metric.average != "binary" and pos_label is None and isinstance(labels[0], str)
        if len(labels) == 1 and nameless:
            labels = [*labels, f"not {labels[0]}"]  # its name does not matter
        labels = labels if len(labels) > 1 else None
    counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels, pos_label=pos_label)
    low, high = counts.posterior(metric, prior=prior, random_state=0).interval(level, kind)
    lower, upper = (low, high) if metric.greater_is_better else (-high, -low)
    return lower if bound == "lower" else upper
