"""Metrics of scores and probabilities among the columns of a search."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._labels import check_pos_label
from skuncertain.metrics._registry import check_direction, get_metric
from skuncertain.metrics._scorer_keys import moments_of
from skuncertain.metrics._scores.metrics import ScoreMetric, negative
from skuncertain.model_selection._fold_score_posterior import FoldMoments
from skuncertain.model_selection._read_fold_scores import (
    base_of,
    metric_of_key,
    refuse_missing,
)


@dataclass(frozen=True, eq=False)
class ScoredColumn:
    """A metric of scores that a search has computed, with the moments of its folds.

    Attributes
    ----------
    name : str
        As it was asked for.
    metric : ScoreMetric
        The metric.
    moments : FoldMoments
        Of the metric, or of what it is the negative of, shape (candidates, splits).
    """

    name: str
    metric: ScoreMetric
    moments: FoldMoments

    @property
    def scores(self) -> np.ndarray:
        """Fold scores of all candidates; more is better."""
        loss = base_of(self.metric).greater_is_better is False
        return -self.moments.value if loss else self.moments.value


def find_scored(written: dict, table: dict, key: Any) -> ScoredColumn | None:
    """Metric of scores that a key or Metric stands for; None if it is none.

    One whose moments the search has not computed is refused, unless its plain scores are there.
    `written` are the metrics of the scorer by their column.
    """
    metric = _asked(written, key)
    if metric is None:
        return None
    check_direction(metric.name, metric.greater_is_better)
    own = {how.name: how for how in written.values() if isinstance(how, ScoreMetric)}
    own |= {base_of(metric).name: base_of(metric)}
    for column in table:
        parts = moments_of(table, column)
        if parts is None:
            continue
        base, sign = metric_of_key(column, own)
        if column in written:  # a name that somebody else has given
            base = base_of(written[column])
            lost = base.greater_is_better is False
            sign = -1.0 if lost else 1.0
        if base is not None and base.name == base_of(metric).name:
            moments = FoldMoments(*parts)
            name = key if isinstance(key, str) else metric.name
            return ScoredColumn(name, metric, moments if sign > 0 else moments.negated())
    if not (isinstance(key, str) and key in table):
        refuse_missing({}, metric)
    return None


def _asked(written, key):
    """Metric of scores that was asked for, or None."""
    if isinstance(key, str) and isinstance(how := written.get(key), ScoreMetric):
        loss = how.greater_is_better is False and key.startswith("neg_")
        return negative(how) if loss else how
    own = {how.name: how for how in written.values() if isinstance(how, ScoreMetric)}
    try:
        metric = own.get(key) if isinstance(key, str) and key in own else get_metric(key)
    except InvalidParameterError:
        return None
    return metric if isinstance(metric, ScoreMetric) else None


def refuse_other_class(column, scoring, labels, pos_label):
    """Refuse a positive class that the scores were not computed for."""
    if scoring is None or pos_label is None or not column.metric.one_class:
        return
    counted = check_pos_label(labels, getattr(scoring, "pos_label", None))
    refuse_if(
        counted != check_pos_label(labels, pos_label),
        "pos_label",
        f"metric {column.name!r} was computed for pos_label={counted!r} by the scorer of the "
        "search, got {value}.",
        pos_label,
    )
