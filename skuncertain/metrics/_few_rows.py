"""Few rows: when intervals of averages over classes are widened, and when to warn.

Rows with weights are few if they are worth few rows to the metric.
"""

import numpy as np

from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._formulas import one_vs_rest
from skuncertain.metrics._gradients import rows_behind
from skuncertain.metrics._registry import class_function, count_metric
from skuncertain.posteriors._few_rows import ENOUGH, FewRows

# Scores whose macro average was simulated with the correction, see docs/methods/averages.rst:
# those that are curved in the cells, and those that the prior of a class moves more.
_CURVED = ("f1",)
_MEASURED = (*_CURVED, "precision", "fdr", "recall", "fnr", "jaccard")
FEW_WEIGHTED = 10  # effective rows; below, benchmarks/weights_coverage.py found short intervals
_COVERED = {True: "43 to 95 %", False: "69 to 95 %"}  # where the correction is not enough


def _is_average(metric):
    return metric.average == "macro" or metric.name == "balanced_accuracy"


def _corrected(metric, options, n_classes):
    """Whether the intervals of this metric are widened in few rows."""
    auto = isinstance(options.prior, str) and options.prior == "auto"
    measured = metric.base in _MEASURED or metric.name == "balanced_accuracy"
    one = options.model == "dirichlet" and options.prevalence is None
    return auto and measured and one and n_classes > 2 and _is_average(metric)


def few_rows(matrix, shapes, metric, options):
    """What widens the interval of an average over classes; None for any other metric."""
    if not _corrected(metric, options, matrix.shape[-1]):
        return None
    rows = 1 / (1 / (matrix.sum(axis=-1) + 1)).mean(axis=-1) - 1
    if np.all(rows >= ENOUGH):
        return None
    average = count_metric("recall_macro") if metric.average is None else metric
    score = class_function(average).keywords["function"]
    with np.errstate(divide="ignore", invalid="ignore"):
        smoothed, raw = (score(*one_vs_rest(part), np.nan) for part in (shapes, matrix))
        # A class that was not seen says nothing: it stays as the prior has it.
        raw = np.where(np.isnan(raw), smoothed, raw)
    return FewRows(smoothed.mean(axis=-1), raw.mean(axis=-1), rows)


def not_mended(matrix, metric):
    """Whether too little is known about too many classes for the correction to mend it."""
    support = matrix.sum(axis=-1)
    unseen = (support < 2).mean(axis=-1)
    if metric.base in _CURVED:
        return unseen > 0.35
    if matrix.shape[-1] <= 15:
        return (unseen > 0.2) & ((support < 5).mean(axis=-1) > 0.1)
    wrong = np.sum(matrix * (1 - np.eye(matrix.shape[-1])), axis=-2)
    sink = wrong.max(axis=-1) >= 0.5 * np.maximum(wrong.sum(axis=-1), 1)
    return sink | ((support < 5).mean(axis=-1) > 0.1)


def warn_small(matrix, metric, options=None):
    """One warning if an average over classes rests on few rows and no correction mends it."""
    if not _is_average(metric):
        return
    support = matrix.sum(axis=-1)
    total = support.sum(axis=-1)
    few = (total / matrix.shape[-1] < 20) | (support.min(axis=-1) < 5)
    covered = "19 to 98 %"  # of posteriors as they are
    if options is not None and _corrected(metric, options, matrix.shape[-1]):
        few = few & not_mended(matrix, metric)
        covered = _COVERED[metric.base in _CURVED]
    if np.any(few & (total > 0)):
        warn_user(
            f"{metric.name} averages over classes with few rows (fewer than 20 per class, or fewer "
            f"than 5 in one class): in simulations 95 % intervals covered {covered} here.",
            SmallSampleWarning,
        )


def warn_weighted(matrix, rows, metric, positive):
    """One warning if weighted rows are worth very few rows to a metric."""
    size, raw = (rows_behind(part, metric, positive) for part in (matrix, rows))
    few = (size < FEW_WEIGHTED) & (size > 0) & (size < (1 - 1e-9) * raw)
    if np.any(few):
        warn_user(
            f"the weighted rows are worth only {size[few].min():.1f} rows to {metric.name}, fewer "
            f"than {FEW_WEIGHTED}: in simulations of one test set 95 % intervals covered 85 to "
            "100 % here.",
            SmallSampleWarning,
        )
