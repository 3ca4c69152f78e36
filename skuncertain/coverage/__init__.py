"""The laboratory: how often does an interval contain the true value?

Populations whose true value is known, tasks that cut a study into resumable pieces, and the study.
"""

from skuncertain.coverage._learners import EstimatorPopulation, SubsamplePopulation
from skuncertain.coverage._populations import (
    BinomialPopulation,
    MarkovPopulation,
    MultinomialPopulation,
)
from skuncertain.coverage._study import CoverageStudy, coverage_study

__all__ = [
    "BinomialPopulation",
    "CoverageStudy",
    "EstimatorPopulation",
    "MarkovPopulation",
    "MultinomialPopulation",
    "SubsamplePopulation",
    "coverage_study",
]
