"""How sure are you of that score? Credible and confidence intervals for classification metrics."""

from skuncertain._counts import ConfusionCounts
from skuncertain._datasets import load_published_classifiers
from skuncertain._distributions import BetaPosterior
from skuncertain._frequentist import confidence_interval
from skuncertain._functions import credible_interval, metric_posterior, proportion_posterior
from skuncertain._intervals import Interval
from skuncertain._metrics import Metric, get_metric, get_metric_names, make_metric
from skuncertain._priors import prior_from_metrics
from skuncertain._results import InformativeResult, JointPosterior
from skuncertain.exceptions import DegenerateIntervalWarning, SmallSampleWarning

__version__ = "0.1.0.dev0"

__all__ = [
    "BetaPosterior",
    "ConfusionCounts",
    "DegenerateIntervalWarning",
    "InformativeResult",
    "Interval",
    "JointPosterior",
    "Metric",
    "SmallSampleWarning",
    "confidence_interval",
    "credible_interval",
    "get_metric",
    "get_metric_names",
    "load_published_classifiers",
    "make_metric",
    "metric_posterior",
    "prior_from_metrics",
    "proportion_posterior",
]
