"""What a metric is on the data, and what is said where it is 0/0."""

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.warnings import warn_user


def score_of(metric, matrix, positive, zero_division):
    """Return the value (a float if scalar), with one warning if there is a 0/0 without a value.

    Averages then leave out the classes that are 0/0. The average over all classes, which posteriors
    are about, is undefined in that case.
    """
    value = metric.evaluate(matrix, positive=positive, zero_division=zero_division)
    undefined = np.isnan(value)
    if np.isnan(zero_division) and undefined.any():
        value = metric.evaluate(matrix, positive=positive, leave_out=True)
        nan = np.isnan(value[undefined]).all()
        what = "and therefore undefined" if nan else "for some classes"
        where = f" for {undefined.sum()} of {value.size} matrices" if value.ndim else ""
        then = "NaN" if nan else "the average leaves them out"
        warn_user(
            f"{metric.name} is 0/0 {what}{where}: {then}. "
            "Use zero_division= to choose another value.",
            UndefinedMetricWarning,
        )
    return float(value) if value.ndim == 0 else value
