"""Which comparison of two cross-validations to believe, where there are several."""

from __future__ import annotations

from typing import Any

from skuncertain.comparison._fold_rows import FoldRows
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_validator import BayesianCrossValidator
from skuncertain.model_selection._fold_score_posterior import ScoredFolds

_WHY = "it sees every row and how much the models of the folds differ, {} only the scores of folds"
_UNSTABLE = (
    "two cross-validators (keep_predictions=True) rather than this comparison, if a learner may be "
    "unstable, such as a small tree: predictions alone do not show how much the models differ"
)


def advice_on_rows(rows: FoldRows | None) -> str | None:
    """For a comparison of rows in folds; None without folds."""
    if rows is None:
        return None
    if rows.models is None:
        return _UNSTABLE
    return f"this comparison rather than compare_cv: {_WHY.format('compare_cv')}"


def advice_on_scores(a: Any, b: Any, metric: Any = None) -> str | None:
    """For `compare_cv`; None if rows cannot be paired, or `metric` is no matter of counts."""
    results = [getattr(x, "result_", x) for x in (a, b)]
    if not all(isinstance(x, CrossValPosterior) for x in results):
        return None
    if any(x.splits.obstacle for x in results):
        return None
    if metric is not None and isinstance(results[0].folds(metric), ScoredFolds):
        return None
    kept = all(isinstance(x, BayesianCrossValidator) and hasattr(x, "predictions_") for x in (a, b))
    ready = "compare(a, b)" if kept else "compare(a, b) of cross-validators (keep_predictions=True)"
    return f"{ready} rather than this comparison: {_WHY.format('this one')}"
