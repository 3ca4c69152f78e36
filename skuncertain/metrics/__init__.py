"""One test set: what is measured, what was seen, and what follows from it.

Predictions or a published table become :class:`ConfusionCounts`; a metric of the registry and a
prior turn them into a posterior, and that into an interval. Scores (AUC, curves, thresholds,
calibration) and scorers for ``scoring=`` live here too.
"""

from skuncertain._reporting.report import IntervalReport
from skuncertain.metrics._bound_scorer import make_bound_scorer
from skuncertain.metrics._confidence import bootstrap_distribution, confidence_interval
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._credible import credible_interval, metric_posterior, proportion_posterior
from skuncertain.metrics._posterior import BetterThanChance
from skuncertain.metrics._priors import prior_from_metrics
from skuncertain.metrics._registry import Metric, get_metric, get_metric_names, make_metric
from skuncertain.metrics._report import interval_report
from skuncertain.metrics._scorer import ConfusionCountsScorer
from skuncertain.metrics._scores.calibration import CalibrationBand, calibration_band
from skuncertain.metrics._scores.curves import (
    PrecisionRecallBand,
    RocBand,
    precision_recall_band,
    roc_band,
)
from skuncertain.metrics._scores.net_benefit import NetBenefitCurve, net_benefit_curve
from skuncertain.metrics._scores.ranking import auc_posterior, average_precision_posterior
from skuncertain.metrics._scores.thresholds import ThresholdIntervals, intervals_at_thresholds

__all__ = [
    "BetterThanChance",
    "CalibrationBand",
    "ConfusionCounts",
    "ConfusionCountsScorer",
    "IntervalReport",
    "Metric",
    "NetBenefitCurve",
    "PrecisionRecallBand",
    "RocBand",
    "ThresholdIntervals",
    "auc_posterior",
    "average_precision_posterior",
    "bootstrap_distribution",
    "calibration_band",
    "confidence_interval",
    "credible_interval",
    "get_metric",
    "get_metric_names",
    "interval_report",
    "intervals_at_thresholds",
    "make_bound_scorer",
    "make_metric",
    "metric_posterior",
    "net_benefit_curve",
    "precision_recall_band",
    "prior_from_metrics",
    "proportion_posterior",
    "roc_band",
]
