"""What is known about a posterior besides its distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class About:
    """What a posterior is about, and how it was made.

    Parameters
    ----------
    metric : str, default=None
        Name of the metric.
    range : tuple of float, default=(0, 1)
        Smallest and largest possible value.
    observed : float or ndarray, default=nan
        Value seen in the data, for the boundary rule of `Posterior.interval`. It stays the one of
        the data when the posterior is about a population with another prevalence, and may then lie
        far outside the interval.
    prior : str, default=None
        Prior that was used.
    description : str, default=None
        How the posterior was made: the model of the counts, the method and number of folds, and
        the like.
    greater_is_better : bool or None, default=True
        Direction of the metric; None if it has none.
    closing : bool or ndarray, default=True
        Whether the prior is weak enough for the boundary rule.
    successes_failures : tuple of ndarray, default=None
        Rows on the two sides of a proportion, for intervals with calibrated ends (see
        `Posterior.interval`); None if the ends are those of the posterior.
    origin : object, default=None
        What `Posterior.updated` and `Posterior.predictive` go back to.
    diagnostics : FoldDiagnostics, default=None
        How much the folds disagree, if there were folds.
    moment_error : float or ndarray, default=0.0
        Monte Carlo error that parameters have because they were fitted to draws.

    See Also
    --------
    Posterior.with_about : Copy of a posterior with something else known about it.

    Examples
    --------
    >>> from skuncertain.posteriors import About, BetaPosterior
    >>> BetaPosterior(27, 3, about=About(metric="recall", prior="expert"))
    BetaPosterior(metric='recall', a=27, b=3, prior='expert')
    """

    metric: str | None = None
    range: tuple[float, float] = (0.0, 1.0)
    observed: float | np.ndarray = np.nan
    prior: str | None = None
    description: str | None = None
    greater_is_better: bool | None = True
    closing: bool | np.ndarray = True
    successes_failures: tuple[np.ndarray, np.ndarray] | None = None
    origin: Any = None
    diagnostics: Any = None
    moment_error: float | np.ndarray = 0.0
