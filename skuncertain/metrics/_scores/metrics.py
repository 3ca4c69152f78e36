"""Metrics of scores and probabilities: each gives its value and the influence of every row.

Three families. The *mean* of a loss per row (log loss, Brier score, your own). A *share* of rows
(top k): a mean of zeros and ones. A *ranking* within [0, 1] (AUC, average precision, precision at
k). A *skill* at most 1 (D2 scores), a ratio of two means.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.scores.delong import Estimate, area, average_precision, mean_of
from skuncertain._numerics.scores.row_scores import (
    at_k,
    brier_losses,
    frequencies,
    log_losses,
    one_vs_one,
    row_mean,
    skill,
    top_k_hits,
)
from skuncertain._utils.validation import as_numbers, check_integer, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._metric import Metric

# Which scorer methods of an estimator give what a metric needs, in scikit-learn's order.
RESPONSES = {
    "labels": ("predict",),
    "scores": ("decision_function", "predict_proba"),
    "probabilities": ("predict_proba",),
}
_ROUNDING = 1e-9  # by how much a loss of a row may leave its range


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMetric(Metric):
    """A function of true labels and of scores or probabilities, with what is known about it.

    Obtain one from :func:`get_metric`, or from ``make_metric(row_loss=...)``.

    Parameters
    ----------
    family : {"mean", "share", "ranking", "skill"}
        What kind of a number it is, see the module.
    k : int or None
        Parameter of "top_k_accuracy", "precision_at_k" and "recall_at_k".
    responses : tuple of str
        Methods of an estimator that give what it needs; the first one that exists is used.
    """

    family: str = "mean"
    k: int | None = None
    responses: tuple[str, ...] = ()

    @property
    def one_class(self) -> bool:
        """Whether it is said of one positive class, also of two."""
        return self.average == "binary"

    @property
    def limitless(self) -> bool:
        """Whether single rows may have losses of any size."""
        if self.family == "mean":
            return not bool(np.isfinite(self.range).all())
        return self.base == "d2_log_loss_score"

    @property
    def needs_all_classes(self) -> bool:
        """Whether rows of a single class leave it undefined."""
        return self.family in ("ranking", "skill")

    def __repr__(self):
        return (
            super().__repr__().replace("Metric(", "ScoreMetric(", 1)[:-1]
            + f", needs={self.needs!r})"
        )

    def __call__(  # type: ignore[override]  # of rows, not of a matrix
        self, y_true: ArrayLike, y_score: Any, **options: Any
    ) -> float:
        """Value of the metric.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_score : array-like of shape (n,) or (n, C)
            Scores or probabilities.
        **options : dict
            ``labels`` and ``pos_label``, see :func:`metric_posterior`.

        Returns
        -------
        float
            The value, that of scikit-learn where it has the metric.
        """
        from skuncertain.metrics._scores.row_scores import RowScores  # which needs the registry

        return self.estimate(RowScores.of(y_true, y_score, self, **options)).value

    def evaluate(self, matrix, **options):
        """Refuse a confusion matrix."""
        raise InvalidParameterError(
            f"metric {self.name!r} needs {self.needs}: no confusion matrix has it.",
            parameter="metric",
            remedy=data_needed(self),
        )

    def range_for(self, n_classes: int) -> tuple[float, float]:
        """Smallest and largest value with so many classes.

        Parameters
        ----------
        n_classes : int
            Number of classes.

        Returns
        -------
        tuple of float
            The range; a Brier score of two classes is at most 1.
        """
        low, high = self.range
        return (max(low, -1.0), min(high, 1.0)) if self._halved and n_classes == 2 else self.range

    @property
    def _halved(self):
        """Whether it is half of what it would be of two classes."""
        return self.base.removeprefix("neg_") == "brier_score"

    def estimate(self, rows: Any) -> Estimate:
        """Value and influences.

        Parameters
        ----------
        rows : RowScores
            True classes and scores.

        Returns
        -------
        Estimate
            What every row contributes.
        """
        if self.negated is None:
            return self.function(rows)
        found = self.negated.function(rows)
        return replace(found, value=-found.value, influence=-found.influence)


def data_needed(metric):
    """What to pass for a metric of scores or probabilities, in words."""
    return (
        f"Pass {metric.needs} in place of predicted labels: credible_interval(y_true, y_score, "
        f"metric={metric.name!r}), or cross-validate with BayesianCrossValidator(..., "
        f"metrics=[{metric.name!r}])."
    )


# --------------------------------------------------------------------------------------------------
# What is done with the rows


def _log_loss(rows):
    return row_mean(log_losses(rows.codes, rows.probability))


def _brier(rows):
    return row_mean(brier_losses(rows.codes, rows.probability))


def _skill(rows, losses):
    plain = frequencies(rows.codes, rows.n_classes)
    return skill(losses(rows.codes, rows.probability), losses(rows.codes, plain))


def _ranking(rows, estimate, average):
    """One class against the rest, or the mean over classes."""
    if rows.positive is not None:
        return estimate(rows.codes == rows.positive, rows.scores_of(rows.positive))
    parts = [estimate(rows.codes == c, rows.scores_of(c)) for c in range(rows.n_classes)]
    share = np.bincount(rows.codes, minlength=rows.n_classes) / rows.codes.size
    return mean_of(parts, share if average == "weighted" else np.full(len(parts), 1 / len(parts)))


def _pairs(rows, average):
    if rows.positive is not None:
        return area(rows.codes == rows.positive, rows.scores_of(rows.positive))
    return one_vs_one(rows.codes, rows.scores, average == "weighted")


def _top_k(rows, k):
    return row_mean(top_k_hits(rows.codes, rows.scores, k))


def _at_k(rows, k, of_positives):
    positive = rows.codes == rows.positive
    refuse_if(
        k > positive.size,
        "metric",
        f"metric must look at no more rows than there are, {positive.size}, got k={k}.",
    )
    return at_k(positive, rows.scores_of(rows.positive), k, of_positives)


def _user_loss(rows, function, name, limits):
    losses = function(rows.y_true, rows.given)
    losses = as_numbers("metric", losses, what=f"what row_loss {name!r} returns")
    refuse_if(
        losses.shape != rows.codes.shape,
        "metric",
        f"row_loss must return one number per row, shape {rows.codes.shape}, got shape "
        f"{losses.shape}.",
    )
    refuse_if(
        not np.all(np.isfinite(losses)), "metric", f"row_loss {name!r} must return finite numbers."
    )
    low, high = limits
    slack = _ROUNDING * max(abs(end) for end in (*limits, 1.0) if np.isfinite(end))
    outside = (losses < low - slack) | (losses > high + slack)
    if outside.any():
        refuse_if(
            True,
            "metric",
            f"row_loss {name!r} must stay within its range [{low:g}, {high:g}], got "
            f"{losses[outside][0]:g}.",
            remedy="Give make_metric the range of the loss of a row.",
        )
    return row_mean(losses)


# --------------------------------------------------------------------------------------------------
# The table


def _metric(name, function, description, **known):
    known = {"needs": "scores", "family": "ranking"} | known
    responses = known.pop("responses", RESPONSES[known["needs"]])
    return ScoreMetric(
        name, function, base=name, description=description, responses=responses, **known
    )


def negative(metric):
    """The metric with its sign changed; None unless less of it is better."""
    if metric.greater_is_better is not False:
        return None
    low, high = metric.range
    function = metric.function
    if not isinstance(metric, ScoreMetric):
        function = partial(_minus, function=metric.function)
    return replace(
        metric,
        name=f"neg_{metric.name}",
        base=f"neg_{metric.base}",
        function=function,
        range=(0.0 - high, 0.0 - low),
        greater_is_better=True,
        numerator=None,
        denominator=None,
        description=f"minus {metric.description}",
        negated=metric,
    )


def _minus(*arguments, function, **options):
    return -np.asarray(function(*arguments, **options))


def top_k_metric(k):
    """Share of rows whose class is among the k with the highest scores."""
    k = check_integer("k", k, low=1)
    name = "top_k_accuracy" if k == 2 else f"top_{k}_accuracy"
    known = {"family": "share", "k": k, "depends_on_prevalence": True}
    what = f"share of rows whose class has one of the {k} highest scores"
    return _metric(name, partial(_top_k, k=k), what, **known)


def at_k_metric(base, k):
    """Precision or recall of the k rows with the highest scores."""
    k = check_integer("k", k, low=1)
    of_positives = base == "recall_at_k"
    what = "positives" if of_positives else "these rows"
    return _metric(
        base.replace("_k", f"_{k}"),
        partial(_at_k, k=k, of_positives=of_positives),
        f"positives among the {k} rows with the highest scores, over {what}",
        average="binary",
        k=k,
    )


def row_metric(function, name, limits, greater_is_better, needs):
    """Metric of a user's loss per row."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some builtins have no signature
        parameters = {"y_true": None, "y_score": None}
    refuse_if(
        len(parameters) < 2,
        "row_loss",
        "row_loss must be a function of y_true and of what is predicted, got {value}.",
        function,
    )
    return ScoreMetric(
        name,
        partial(_user_loss, function=function, name=name, limits=limits),
        base=name,
        description="mean of a user's loss per row",
        range=limits,
        greater_is_better=greater_is_better,
        needs=needs,
        family="mean",
        user=True,
        depends_on_prevalence=None,
        responses=RESPONSES[needs],
    )


_PROBABILITIES = {"needs": "probabilities"}
_LOSS = _PROBABILITIES | {"family": "mean", "greater_is_better": False}
_D2 = _PROBABILITIES | {"family": "skill", "range": (-np.inf, 1.0)}
_OF_PROBABILITIES = {"responses": RESPONSES["probabilities"]}

SCORE_METRICS = {
    metric.name: metric
    for metric in (
        _metric(
            "roc_auc",
            partial(_ranking, estimate=area, average=None),
            "area under the ROC curve",
            depends_on_prevalence=False,
        ),
        *(
            _metric(
                f"roc_auc_{how}" + (f"_{average}" if average else ""),
                partial(function, average=average or "macro", **more),
                f"{average or 'macro'} average of the area under the ROC curve, {words}",
                depends_on_prevalence=average is not None or how == "ovr",
                **_OF_PROBABILITIES,
            )
            for how, function, more, words in (
                ("ovr", _ranking, {"estimate": area}, "each class against the rest"),
                ("ovo", _pairs, {}, "each pair of classes"),
            )
            for average in (None, "weighted")
        ),
        _metric(
            "average_precision",
            partial(_ranking, estimate=average_precision, average="macro"),
            "average precision, the area under the precision-recall curve",
            average="binary",
        ),
        _metric("log_loss", _log_loss, "mean of -log p(true class)", **_LOSS, range=(0.0, np.inf)),
        _metric("brier_score", _brier, "mean squared error of p", **_LOSS, range=(0.0, 2.0)),
        *(
            _metric(
                name,
                partial(_skill, losses=losses),
                f"1 - {what} / that of the class frequencies",
                **_D2,
            )
            for name, losses, what in (
                ("d2_log_loss_score", log_losses, "log loss"),
                ("d2_brier_score", brier_losses, "Brier score"),
            )
        ),
        top_k_metric(2),
    )
}
