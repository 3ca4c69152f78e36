"""Distributions of one number, behind one protocol.

Every posterior has ``mean``, ``median``, ``mode``, ``std``, ``skewness``, ``pdf``, ``cdf``,
``quantile``, ``interval``, ``prob`` and ``sample``, whether it is a Beta, an integral, Student's t
or draws; ``exact`` says which. :class:`DirichletPosterior` is that of a whole confusion matrix.
"""

from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._dirichlet import DirichletPosterior, DirichletPredictive
from skuncertain.posteriors._interval import Interval
from skuncertain.posteriors._joint import JointPosterior

__all__ = [
    "About",
    "BetaPosterior",
    "DirichletPosterior",
    "DirichletPredictive",
    "Interval",
    "JointPosterior",
    "Posterior",
]
