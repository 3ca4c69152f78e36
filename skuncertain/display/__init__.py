"""Plots, and the only room that uses matplotlib, which is imported when something is drawn."""

from skuncertain.display._comparison import ComparisonDisplay
from skuncertain.display._coverage import CoverageDisplay
from skuncertain.display._curves import PrecisionRecallBandDisplay, RocBandDisplay
from skuncertain.display._folds import FoldDisplay
from skuncertain.display._intervals import IntervalDisplay
from skuncertain.display._joint import JointDisplay
from skuncertain.display._net_benefit import NetBenefitDisplay
from skuncertain.display._posteriors import PosteriorDisplay
from skuncertain.display._ranks import RankDisplay
from skuncertain.display._sequential import SequentialDisplay
from skuncertain.display._thresholds import ThresholdDisplay

__all__ = [
    "ComparisonDisplay",
    "CoverageDisplay",
    "FoldDisplay",
    "IntervalDisplay",
    "JointDisplay",
    "NetBenefitDisplay",
    "PosteriorDisplay",
    "PrecisionRecallBandDisplay",
    "RankDisplay",
    "RocBandDisplay",
    "SequentialDisplay",
    "ThresholdDisplay",
]
