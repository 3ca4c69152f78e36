"""What a metric is on the data, and what is said where it is 0/0."""

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.warnings import warn_user


def value_if_defined(metric, matrix, positive=None):
    """Value of the data, averages without classes that are 0/0; and where there is any 0/0."""
    value = metric.evaluate(matrix, positive=positive)
    undefined = np.isnan(value)
    if undefined.any():
        value = metric.evaluate(matrix, positive=positive, leave_out=True)
    return value, undefined


def score_of(metric, matrix, positive, zero_division):
    """Return the value (a float if scalar), with one warning if there is a 0/0 without a value."""
    if np.isnan(zero_division):
        value, undefined = value_if_defined(metric, matrix, positive)
        if undefined.any():
            number = int(undefined.sum())
            where = "" if value.ndim == 0 else f" for {number} of {value.size} matrices"
            nan = np.isnan(value[undefined])
            what = "and therefore undefined" if nan.all() else "for some classes"
            then = "NaN" if nan.all() else "the average leaves them out"
            warn_user(
                f"{metric.name} is 0/0 {what}{where}: {then}. "
                "Use zero_division= to choose another value.",
                UndefinedMetricWarning,
            )
    else:
        value = metric.evaluate(matrix, positive=positive, zero_division=zero_division)
    return float(value) if value.ndim == 0 else value
