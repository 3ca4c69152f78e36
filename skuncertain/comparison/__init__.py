"""Two models and many: differences with a region of practical equivalence, and leaderboards."""

from skuncertain.comparison._auc import compare_auc
from skuncertain.comparison._compare import compare, compare_cv
from skuncertain.comparison._datasets import DatasetComparison, compare_datasets
from skuncertain.comparison._leaderboard import Leaderboard, leaderboard
from skuncertain.comparison._paired import compare_paired
from skuncertain.comparison._result import ComparisonResult

__all__ = [
    "ComparisonResult",
    "DatasetComparison",
    "Leaderboard",
    "compare",
    "compare_auc",
    "compare_cv",
    "compare_datasets",
    "compare_paired",
    "leaderboard",
]
