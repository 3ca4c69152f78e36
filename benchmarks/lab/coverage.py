"""Is a coverage low? And intervals of many simulated cross-validations at once."""

import numpy as np
from scipy import stats

from skuncertain.metrics import get_metric
from skuncertain.model_selection._fold_methods import METHODS, FoldOptions
from skuncertain.model_selection._folds import Folds


def low(hits, number, limit):
    """Whether the one-sided 99 % Clopper-Pearson upper bound of a coverage is below a limit."""
    hits = np.asarray(hits)
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = stats.beta.ppf(0.99, hits + 1, number - hits)
    return np.where(hits >= number, 1.0, upper) < limit


def values(metric, matrices):
    """Metric of matrices; 0/0 is left out of means as NaN, but MCC is then 0 as in scikit-learn."""
    known = get_metric(metric)
    found = known.evaluate(matrices, positive=1)
    return np.nan_to_num(found) if known.name == "matthews_corrcoef" else found


def folds_of(found, metric, n_repeats, models=True):
    """Fold matrices of all replications of a cell, as a stack."""
    asked = found["models"].astype(float) if models else None
    matrices = found["folds"].astype(float)
    return Folds(
        matrices, get_metric(metric), 1, n_repeats, n_draws=2000, random_state=0, models=asked
    )


def pooled_interval(folds, weight, level=0.95):
    """Ends of the pooled intervals of all replications, each with its own weight."""
    found = METHODS["pooled"].build(folds, FoldOptions(), weight)
    return found.interval(level)
