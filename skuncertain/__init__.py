"""How sure are you of that score? Credible and confidence intervals for classification metrics."""

import importlib as _importlib
import typing as _typing

from skuncertain._version import __version__ as __version__

# Names are imported when they are first used, so that the command line answers --help at once. Type
# checkers and editors read the imports; tests/test_public_api.py compares them with the table.
if _typing.TYPE_CHECKING:
    from skuncertain._auc import auc_posterior, average_precision_posterior, compare_auc
    from skuncertain._beta_posteriors import BetaPosterior
    from skuncertain._comparison import compare, compare_cv, compare_paired
    from skuncertain._comparison_result import ComparisonResult
    from skuncertain._counts import ConfusionCounts
    from skuncertain._coverage_study import CoverageStudy, coverage_study
    from skuncertain._cross_val_posterior import CrossValPosterior, cross_val_posterior
    from skuncertain._cross_validation import BayesianCrossValidator
    from skuncertain._curve_bands import PrecisionRecallBand, RocBand, pr_band, roc_band
    from skuncertain._dataset_comparison import DatasetComparison, compare_datasets
    from skuncertain._datasets import load_published_classifiers
    from skuncertain._folds import fold_interval, fold_posterior
    from skuncertain._frequentist import confidence_interval
    from skuncertain._functions import credible_interval, metric_posterior, proportion_posterior
    from skuncertain._interval_report import interval_report
    from skuncertain._intervals import Interval
    from skuncertain._leaderboard import Leaderboard, leaderboard
    from skuncertain._learner_truths import EstimatorTruth, SubsampleTruth
    from skuncertain._metrics import Metric, get_metric, get_metric_names, make_metric
    from skuncertain._planning import (
        ExpectedWidth,
        SampleSize,
        expected_width,
        required_sample_size,
    )
    from skuncertain._planning_comparison import ComparisonSampleSize, comparison_sample_size
    from skuncertain._plot._comparison import ComparisonDisplay
    from skuncertain._plot._coverage import CoverageDisplay
    from skuncertain._plot._curves import PrecisionRecallBandDisplay, RocBandDisplay
    from skuncertain._plot._folds import FoldDisplay
    from skuncertain._plot._intervals import IntervalDisplay
    from skuncertain._plot._joint import JointDisplay
    from skuncertain._plot._posteriors import PosteriorDisplay
    from skuncertain._plot._ranks import RankDisplay
    from skuncertain._priors import prior_from_metrics
    from skuncertain._refit_rules import (
        RefitRule,
        best_lower_bound,
        most_probable_best,
        simplest_equivalent,
    )
    from skuncertain._report import IntervalReport
    from skuncertain._results import FoldDiagnostics, InformativeResult, JointPosterior
    from skuncertain._scorers import ConfusionCountsScorer, make_bound_scorer
    from skuncertain._search import SearchPosterior, search_posterior
    from skuncertain._selection import BBCScore, bbc_score
    from skuncertain._sequential import SequentialHistory, SequentialPosterior, SequentialStep
    from skuncertain._show_versions import show_versions
    from skuncertain._thresholds import ThresholdReport, threshold_report
    from skuncertain._truths import BinomialTruth, MarkovTruth, MultinomialTruth
    from skuncertain.exceptions import (
        DegenerateIntervalWarning,
        FoldDisagreementWarning,
        SmallSampleWarning,
    )

_HOMES = {
    "_auc": "auc_posterior average_precision_posterior compare_auc",
    "_beta_posteriors": "BetaPosterior",
    "_comparison": "compare compare_cv compare_paired",
    "_comparison_result": "ComparisonResult",
    "_counts": "ConfusionCounts",
    "_coverage_study": "CoverageStudy coverage_study",
    "_cross_val_posterior": "CrossValPosterior cross_val_posterior",
    "_cross_validation": "BayesianCrossValidator",
    "_curve_bands": "PrecisionRecallBand RocBand pr_band roc_band",
    "_dataset_comparison": "DatasetComparison compare_datasets",
    "_datasets": "load_published_classifiers",
    "_folds": "fold_interval fold_posterior",
    "_frequentist": "confidence_interval",
    "_functions": "credible_interval metric_posterior proportion_posterior",
    "_interval_report": "interval_report",
    "_intervals": "Interval",
    "_leaderboard": "Leaderboard leaderboard",
    "_learner_truths": "EstimatorTruth SubsampleTruth",
    "_metrics": "Metric get_metric get_metric_names make_metric",
    "_planning": "ExpectedWidth SampleSize expected_width required_sample_size",
    "_planning_comparison": "ComparisonSampleSize comparison_sample_size",
    "_plot._comparison": "ComparisonDisplay",
    "_plot._coverage": "CoverageDisplay",
    "_plot._curves": "PrecisionRecallBandDisplay RocBandDisplay",
    "_plot._folds": "FoldDisplay",
    "_plot._intervals": "IntervalDisplay",
    "_plot._joint": "JointDisplay",
    "_plot._posteriors": "PosteriorDisplay",
    "_plot._ranks": "RankDisplay",
    "_priors": "prior_from_metrics",
    "_refit_rules": "RefitRule best_lower_bound most_probable_best simplest_equivalent",
    "_report": "IntervalReport",
    "_results": "FoldDiagnostics InformativeResult JointPosterior",
    "_scorers": "ConfusionCountsScorer make_bound_scorer",
    "_search": "SearchPosterior search_posterior",
    "_selection": "BBCScore bbc_score",
    "_sequential": "SequentialHistory SequentialPosterior SequentialStep",
    "_show_versions": "show_versions",
    "_thresholds": "ThresholdReport threshold_report",
    "_truths": "BinomialTruth MarkovTruth MultinomialTruth",
    "exceptions": "DegenerateIntervalWarning FoldDisagreementWarning SmallSampleWarning",
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "BBCScore",
    "BayesianCrossValidator",
    "BetaPosterior",
    "BinomialTruth",
    "ComparisonDisplay",
    "ComparisonResult",
    "ComparisonSampleSize",
    "ConfusionCounts",
    "ConfusionCountsScorer",
    "CoverageDisplay",
    "CoverageStudy",
    "CrossValPosterior",
    "DatasetComparison",
    "DegenerateIntervalWarning",
    "EstimatorTruth",
    "ExpectedWidth",
    "FoldDiagnostics",
    "FoldDisagreementWarning",
    "FoldDisplay",
    "InformativeResult",
    "Interval",
    "IntervalDisplay",
    "IntervalReport",
    "JointDisplay",
    "JointPosterior",
    "Leaderboard",
    "MarkovTruth",
    "Metric",
    "MultinomialTruth",
    "PosteriorDisplay",
    "PrecisionRecallBand",
    "PrecisionRecallBandDisplay",
    "RankDisplay",
    "RefitRule",
    "RocBand",
    "RocBandDisplay",
    "SampleSize",
    "SearchPosterior",
    "SequentialHistory",
    "SequentialPosterior",
    "SequentialStep",
    "SmallSampleWarning",
    "SubsampleTruth",
    "ThresholdReport",
    "auc_posterior",
    "average_precision_posterior",
    "bbc_score",
    "best_lower_bound",
    "compare",
    "compare_auc",
    "compare_cv",
    "compare_datasets",
    "compare_paired",
    "comparison_sample_size",
    "confidence_interval",
    "coverage_study",
    "credible_interval",
    "cross_val_posterior",
    "expected_width",
    "fold_interval",
    "fold_posterior",
    "get_metric",
    "get_metric_names",
    "interval_report",
    "leaderboard",
    "load_published_classifiers",
    "make_bound_scorer",
    "make_metric",
    "metric_posterior",
    "most_probable_best",
    "pr_band",
    "prior_from_metrics",
    "proportion_posterior",
    "required_sample_size",
    "roc_band",
    "search_posterior",
    "show_versions",
    "simplest_equivalent",
    "threshold_report",
]

if not _typing.TYPE_CHECKING:

    def __getattr__(name):
        if name in _MODULE_OF:
            module = _importlib.import_module(f"skuncertain.{_MODULE_OF[name]}")
            return globals().setdefault(name, getattr(module, name))
        if name == "exceptions":
            return _importlib.import_module("skuncertain.exceptions")
        raise AttributeError(f"module 'skuncertain' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__, "exceptions"})
