"""Scorer for scikit-learn's ``scoring=`` that counts per fold."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names, make_scorer
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
)

from skuncertain._utils.typing import LabelLike, LabelsLike, MetricsLike
from skuncertain._utils.validation import (
    as_list,
    check_bool,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import one_vs_rest
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    check_targets,
    complete_single_label,
    plain_label,
    sorted_labels,
    with_positive,
)
from skuncertain.metrics._registry import Metric, directed, get_metric
from skuncertain.metrics._scorer_keys import (
    BINARY_KEYS,
    cell_keys,
    fold_score,
    is_count_key,
    moment_keys,
)
from skuncertain.metrics._scores.fold_values import (
    Responses,
    check_class_of,
    fold_moments,
    warn_undefined,
)
from skuncertain.metrics._scores.metrics import ScoreMetric

MOST_CLASSES = 30  # beyond, a key per cell is asked for with cells=True
_PREDICTIONS = "predict"  # key under which scikit-learn's scorers pass their predictions on


def scored_labels(estimator, y_true, y_pred):
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
    breaks, or keeps an array of objects. It does not know which fold it is asked for, so it does
    not warn: `errors` has what went wrong in this process.
    """

    def __init__(self, scorer, keys):
        self.scorer, self.keys, self.errors = scorer, keys, []

    def __call__(self, estimator, X, y):
        try:
            return self.scorer(estimator, X, y)
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")
            return dict.fromkeys(self.keys, np.nan)


class Choice:
    """Parameters that a search chose in a fold. scikit-learn passes it on as if it were a score."""

    def __init__(self, params):
        self.params = params

    def __format__(self, how):  # progress messages show scores with three decimals
        return str(self.params)


numbers.Number.register(Choice)


class ChoiceScorer:
    """A scorer that also tells which parameters a search has chosen; the search is not kept."""

    KEY = "best_params"

    def __init__(self, scorer):
        self.scorer = scorer

    def __call__(self, estimator, X, y):
        values = self.scorer(estimator, X, y)
        steps = getattr(estimator, "steps", None)
        search = estimator if steps is None else steps[-1][1]
        lost = np.isnan(values["n"])  # a fold that could not be scored
        chosen = None if lost else getattr(search, "best_params_", None)
        return {**values, self.KEY: Choice(chosen)}

    @classmethod
    def take(cls, results):
        """Take the choices out of the result of ``cross_validate``; None if nothing was chosen."""
        column = results.pop(f"test_{cls.KEY}", ())
        found = [getattr(choice, "params", None) for choice in column]
        return None if all(params is None for params in found) else found


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
    metrics : list of str, Metric or callable, or dict, default=None
        Scores that are returned as well, under the name that was asked for, so that ``refit="f1"``
        works: metrics (see :func:`get_metric`) and names of scikit-learn's scorers. A metric of
        which less is better appears as ``neg_<name>``, with its sign changed, as in scikit-learn. A
        dict gives names: ``{"f1": "f1", "cost": make_scorer(...)}``; a metric of scores or
        probabilities cannot have the name of another one.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`. With names and without it, metrics that
        depend on it are refused: here if `labels` are given, otherwise when a fold is scored.
    cells : bool, default=False
        With more than 30 classes: return every cell instead of tp, fp and fn of every class.

    See Also
    --------
    CrossValPosterior.from_cv_results : Turns the result of ``cross_validate`` into posteriors.
    BayesianCrossValidator : Does all of it.
    make_bound_scorer : Scorer for a credible bound.

    Notes
    -----
    Keys: ``tn, fp, fn, tp`` for two classes. With more, or without a positive one, ``n_<i>_<j>``
    counts the rows of the i-th class that were predicted as the j-th, i and j from 0 in the order
    of `labels`; with more than 30 classes ``tp_<i>, fp_<i>, fn_<i>`` unless `cells`. Always ``n``,
    the number of rows, and ``score``: the first of `metrics`, otherwise the accuracy. 0/0 counts as
    0 in metrics, as in scikit-learn; posteriors are made from the counts and do not depend on that.

    Metrics of scores and probabilities, such as "roc_auc" and "neg_log_loss", have the values of
    scikit-learn's scorers and, for intervals, ``<name>__variance``, ``<name>__third`` (third
    cumulant) and ``<name>__n``: what the rows of the fold say about the error of the value. Their
    columns are found by value among the classes of the estimator, whose methods are called once for
    all metrics. What cannot be computed in a fold is NaN, alone, with a warning.

    Counts take no `sample_weight`: weighted sums are no counts, and what they are worth depends on
    the metric; :meth:`ConfusionCounts.stack` puts weighted folds together. With metadata routing, a
    scorer of scikit-learn gets what it requests.

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
    >>> both = ConfusionCountsScorer(metrics=["f1", "roc_auc"])
    >>> cross_validate(tree, X, y, cv=3, scoring=both)["test_roc_auc"].round(3)
    array([0.892, 0.961, 0.89 ])
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
        asked = scorer_metrics(metrics)
        check_bool("cells", cells)
        if pos_label is not None:
            plain_label(pos_label, "pos_label")
        if labels is not None:
            known = as_labels(labels)
            check_pos_label(known, pos_label)
            for _, how, _ in asked:
                if isinstance(how, Metric):
                    check_class_of(how, known, pos_label)

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: to scikit-learn's scorers among `metrics`, never to the counts.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        router = MetadataRouter(owner=type(self).__name__)
        mapping = MethodMapping().add(caller="score", callee="score")
        asked = scorer_metrics(self.metrics)
        others = {key: how for key, how, _ in asked if not isinstance(how, Metric)}
        return router.add(**others, method_mapping=mapping) if others else router

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **params: Any) -> dict:
        """Counts of one fold.

        Parameters
        ----------
        estimator : object
            Fitted classifier.
        X : array-like
            Test rows.
        y : array-like of shape (n,)
            True labels.
        **params : dict
            Metadata for scikit-learn's scorers among `metrics`, with metadata routing.

        Returns
        -------
        dict
            One number per key.
        """
        asked = scorer_metrics(self.metrics)
        others = {key: how for key, how, _ in asked if not isinstance(how, Metric)}
        predicted, scores = _predict_and_score(estimator, X, y, others, params)
        y_true, y_pred = scored_labels(estimator, y, predicted)
        labels = self._labels(estimator, y_true, y_pred, y)
        if labels is None:  # one class, and no way to know the other: refused by the reader
            cells = cell_keys(2) if self.pos_label is None else BINARY_KEYS
            values = dict.fromkeys((*cells, "score", *_score_keys(asked)), np.nan)
            return {**values, **scores, "n": len(y_true)}
        label = check_pos_label(labels, self.pos_label, y)
        counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels, pos_label=label)
        responses = Responses(estimator, X, y_pred, labels)
        values = {}
        for key, how, sign in asked:
            if isinstance(how, ScoreMetric):
                value, variance, third, n = fold_moments(how, responses, y_true, labels, label)
                moments = (sign * value, variance, sign * third, n)
                values |= zip((key, *moment_keys(key)), moments, strict=True)
            elif isinstance(how, Metric):
                values[key] = sign * fold_score(counts, how)
            else:
                values[key] = scores[key]
        score = values[asked[0][0]] if asked else counts.score("accuracy")
        return {**self._cells(counts), "n": len(y_true), **values, "score": score}

    def _keys_of(self, y):
        """Keys of what it returns; `y` holds all labels."""
        plain = ConfusionCountsScorer(
            labels=self.labels, pos_label=self.pos_label, cells=self.cells
        )
        return (*plain(_Echo(), y, y), *_score_keys(scorer_metrics(self.metrics)))

    def _labels(self, estimator, y_true, y_pred, given):
        if self.labels is not None:
            return as_labels(self.labels)
        labels = set(sorted_labels(y_true, y_pred))
        labels |= {plain_label(label) for label in getattr(estimator, "classes_", ())}
        labels = with_positive(labels, self.pos_label)
        if len(labels) == 1:
            try:
                labels = complete_single_label(labels, given)
            except ValueError:
                return None
        return as_labels(labels)

    def _cells(self, counts):
        matrix, size = counts.counts, counts.n_classes
        # Readers do not see the order of a categorical: without a name they get the labels' order.
        if size == 2 and check_pos_label(counts.labels, self.pos_label) is not None:
            matrix = matrix if counts._positive == 1 else matrix[::-1, ::-1]
            return dict(zip(BINARY_KEYS, matrix.ravel().tolist(), strict=True))
        if size <= MOST_CLASSES or self.cells:
            return dict(zip(cell_keys(size), matrix.ravel().tolist(), strict=True))
        tp, fn, fp, _ = (part.astype(int).tolist() for part in one_vs_rest(matrix))
        return {
            f"{name}_{i}": part[i]
            for name, part in (("tp", tp), ("fp", fp), ("fn", fn))
            for i in range(size)
        }


def scorer_metrics(metrics):
    """Return (key, Metric or scorer of scikit-learn, sign) of everything that a scorer is asked."""
    if hasattr(metrics, "items"):
        named = list(metrics.items())
    else:
        named = [(None, how) for how in as_list("metrics", [] if metrics is None else metrics)]
    found: dict = {}
    for name, how in named:
        key, how, sign = _asked_score(name, how)
        refuse_if(
            is_count_key(key) or key in ("score", _PREDICTIONS, ChoiceScorer.KEY),
            "metrics",
            f"a metric cannot be called {key!r}: the scorer uses that name.",
        )
        refuse_if(
            found.setdefault(key, (how, sign))[0] is not how,
            "metrics",
            f"metrics must have different names, got {key!r} for two of them.",
        )
    return [(key, *entry) for key, entry in found.items()]


def _score_keys(asked):
    """Keys of all scores, and of what goes with them."""
    keys = [(key, moment_keys(key) * isinstance(how, ScoreMetric)) for key, how, _ in asked]
    return [name for key, moments in keys for name in (key, *moments)]


def _asked_score(name, how):
    """Key, Metric or scorer, and sign of one entry of `metrics`; a list gives no name."""
    refuse_if(
        name is not None and not isinstance(name, str),
        "metrics",
        "metrics must be a dict by name, got the key {value}.",
        name,
    )
    if _is_scorer(how):
        refuse_if(
            name is None,
            "metrics",
            "metrics must give a scorer a name: a dict such as {{'name': scorer}}, got {value} in "
            "a list.",
            how,
        )
        return name, how, 1.0
    try:
        metric = get_metric(how)
    except InvalidParameterError as error:
        if not isinstance(how, str) or how not in get_scorer_names():
            raise InvalidParameterError(error.message, "metrics", error.remedy) from None
        return name or how, get_scorer(how), 1.0
    if not isinstance(metric, ScoreMetric):
        directed(metric, "metrics")
    key = name or (how if isinstance(how, str) else metric.name)
    if isinstance(metric, ScoreMetric):
        _refuse_name_of_another(key, metric)
    loss = metric.greater_is_better is False
    return (f"neg_{key}", metric, -1.0) if loss else (key, metric, 1.0)


def _refuse_name_of_another(key, metric):
    """Refuse the name of another metric: columns of scores are read back by their names."""
    try:
        known = get_metric(key)
    except InvalidParameterError:
        return
    refuse_if(
        (known.negated or known).name != (metric.negated or metric).name or metric.user,
        "metrics",
        f"a metric cannot be called {key!r}, the name of another one.",
        remedy="Give it a name of its own: make_metric(..., name='...'), or another key.",
    )


def _is_scorer(how):
    """Whether something is called with (estimator, X, y), as scikit-learn's scorers are."""
    if isinstance(how, str | Metric) or not callable(how):
        return False
    try:
        parameters = inspect.signature(how).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    return (
        sum(
            p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in parameters
        )
        >= 3
    )


def _predict_and_score(estimator, X, y, others, params):
    """Predicted labels, and the scores of scikit-learn's scorers; NaN for those that fail."""
    if not others:
        return estimator.predict(X), {}
    kept: list = []
    scorers = {**others, _PREDICTIONS: make_scorer(_keep, kept=kept)}
    try:  # scikit-learn predicts once for all scorers that are called together
        found = check_scoring(scoring=scorers, raise_exc=False)(estimator, X, y, **params)
    except Exception:  # the estimator lacks a method, and none of them was called
        found = {key: _score_alone(one, estimator, X, y, params) for key, one in scorers.items()}
    values = {}
    for key in others:
        values[key] = found[key]
        if isinstance(found[key], str):  # what went wrong
            warn_undefined(key, found[key].strip().splitlines()[-1])
            values[key] = np.nan
    return kept[0] if kept else estimator.predict(X), values


def _score_alone(scorer, estimator, X, y, params):
    """Score, or what went wrong."""
    wanted = get_routing_for_object(scorer).consumes(method="score", params=params.keys())
    try:
        return scorer(estimator, X, y, **{name: params[name] for name in wanted})
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _keep(y_true, y_pred, *, kept):
    """Pass the predictions on."""
    kept.append(y_pred)
    return 0.0
