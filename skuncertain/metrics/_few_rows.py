"""Averages over classes with few rows each: when their intervals are widened, and when to warn."""

import numpy as np

from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._formulas import one_vs_rest
from skuncertain.metrics._registry import class_function, get_metric
from skuncertain.posteriors._few_rows import FewRows

# Scores whose macro average was simulated with the correction, see docs/methods/averages.rst.
_MEASURED = ("precision", "fdr", "recall", "fnr", "f1", "fbeta", "jaccard", "g_score", "g_mean")
_HARDLY_SEEN = 0.35  # share of the classes with fewer than two rows


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
    average = get_metric("recall_macro") if metric.average is None else metric
    score = class_function(average).keywords["function"]
    with np.errstate(divide="ignore", invalid="ignore"):
        smoothed, raw = (score(*one_vs_rest(part), np.nan) for part in (shapes, matrix))
        # A class that was not seen says nothing: it stays as the prior has it.
        raw = np.where(np.isnan(raw), smoothed, raw)
        rows = 1 / (1 / (matrix.sum(axis=-1) + 1)).mean(axis=-1) - 1
    return FewRows(smoothed.mean(axis=-1), raw.mean(axis=-1), rows)


def hardly_seen(matrix):
    """Whether so many classes have fewer than two rows that the correction does not mend it."""
    return (matrix.sum(axis=-1) < 2).mean(axis=-1) > _HARDLY_SEEN


def warn_small(matrix, metric, options=None):
    """One warning if an average over classes rests on few rows and no correction mends it."""
    support = matrix.sum(axis=-1)
    total = support.sum(axis=-1)
    few = (total / matrix.shape[-1] < 20) | (support.min(axis=-1) < 5)
    text = "few rows (fewer than 20 per class, or fewer than 5 in one class)"
    covered = "75 to 95 %"
    if options is not None and _corrected(metric, options, matrix.shape[-1]):
        few = hardly_seen(matrix)
        text, covered = f"fewer than two rows in more than {_HARDLY_SEEN:.0%} of them", "30 to 95 %"
    if _is_average(metric) and np.any(few & (total > 0)):
        warn_user(
            f"{metric.name} averages over classes with {text}: in simulations its 95 % intervals "
            f"covered {covered} there.",
            SmallSampleWarning,
        )
