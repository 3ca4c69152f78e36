"""How sure are you of that score? Credible and confidence intervals for classification metrics."""

from skuncertain._auc import auc_posterior, average_precision_posterior, compare_auc
from skuncertain._comparison import compare, compare_cv, compare_paired
from skuncertain._comparison_result import ComparisonResult
from skuncertain._counts import ConfusionCounts
from skuncertain._coverage_study import CoverageStudy, coverage_study
from skuncertain._cross_val_posterior import CrossValPosterior, cross_val_posterior
from skuncertain._cross_validation import BayesianCrossValidator
from skuncertain._curve_bands import PrecisionRecallBand, RocBand, pr_band, roc_band
from skuncertain._dataset_comparison import DatasetComparison, compare_datasets
from skuncertain._datasets import load_published_classifiers
from skuncertain._distributions import BetaPosterior
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
from skuncertain._version import __version__ as __version__
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    FoldDisagreementWarning,
    SmallSampleWarning,
)

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
