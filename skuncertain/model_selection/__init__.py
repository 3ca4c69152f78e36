"""Folds and searches.

Matrices or scores of folds, a finished ``cross_validate``, a cross-validation that is run here, and
a finished search become posteriors; rules for ``refit=`` and the correction for having searched.
"""

from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_val_run import cross_val_posterior
from skuncertain.model_selection._cross_val_scores import CrossValScores
from skuncertain.model_selection._cross_validator import BayesianCrossValidator
from skuncertain.model_selection._fold_posterior import fold_interval, fold_posterior
from skuncertain.model_selection._folds import FoldDiagnostics
from skuncertain.model_selection._nested import (
    ResampledIntervals,
    conservative_z_intervals,
    nested_cv_intervals,
)
from skuncertain.model_selection._search.posterior import SearchPosterior, search_posterior
from skuncertain.model_selection._search.refit_rules import (
    RefitRule,
    best_lower_bound,
    most_probable_best,
    simplest_equivalent,
)
from skuncertain.model_selection._search.selection_bias import (
    SelectionCorrectedScore,
    selection_corrected_score,
)

__all__ = [
    "BayesianCrossValidator",
    "CrossValPosterior",
    "CrossValScores",
    "FoldDiagnostics",
    "RefitRule",
    "ResampledIntervals",
    "SearchPosterior",
    "SelectionCorrectedScore",
    "best_lower_bound",
    "conservative_z_intervals",
    "cross_val_posterior",
    "fold_interval",
    "fold_posterior",
    "most_probable_best",
    "nested_cv_intervals",
    "search_posterior",
    "selection_corrected_score",
    "simplest_equivalent",
]
