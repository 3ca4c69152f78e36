"""Fold scores, of any metric, become Student's t around their mean."""

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._location_scale import StudentPosterior
from skuncertain._validation import check_number, rectangular, shown
from skuncertain._warnings import warn_user

SCORE_METHODS = ("t", "corrected_t", "nadeau_bengio")
GRANDVALET_RHO = 0.7
_EPSILON = np.finfo(float).eps


def score_posterior(
    scores, method, n_repeats, rho=None, n_train=None, n_test=None, *, metric=None, range=None
):
    """Posterior of the mean score from fold scores ``(..., splits)``.

    "t" divides the variance of the folds by K; "corrected_t" divides it by 1 - rho as well; in
    "nadeau_bengio" it is multiplied with 1/splits + n_test/n_train instead.
    """
    usable = ~np.isnan(scores)
    complete, number = usable.all(), usable.sum(axis=-1)
    if metric is None and (number < 2).all():
        raise ValueError(
            f"method={method!r} needs a score in at least two folds, got {int(number.max())}."
        )
    # In a stack, a problem with a single score has no answer; the others have theirs.
    number = np.where(number < 2, np.nan, number)
    name = metric or "score"
    if not complete:
        warn_user(
            f"{name} is undefined (0/0) in {int((~usable).sum())} of {usable.size} folds: they are "
            "left out, so the mean is not that of all rows.",
            UndefinedMetricWarning,
        )
    if np.isinf(scores).any():
        warn_user(
            f"{name} is infinite in a fold: mean and variance of the folds do not exist. Use "
            "method='pooled'.",
            UndefinedMetricWarning,
        )
    values = scores if complete else np.where(usable, scores, 0.0)
    with np.errstate(invalid="ignore"):
        mean = values.sum(axis=-1) / number
        deviation = values - mean[..., None]
    # Equal scores have no variance at all, whatever the rounding of their mean.
    scale = np.abs(values).max(axis=-1, keepdims=True)
    ignored = (np.abs(deviation) <= 4 * _EPSILON * scale) | ~usable
    deviation = np.where(ignored, 0.0, deviation)
    variance = np.square(deviation).sum(axis=-1) / (number - 1)
    folds = number / n_repeats  # repetitions of the same rows are no further folds
    if method == "nadeau_bengio":
        ratio = _test_over_train(scores.shape, usable, n_train, n_test)
        df, spread = number - 1, variance * (1 / number + ratio)
    else:
        if np.any(folds <= 1):
            raise ValueError(
                f"method={method!r} needs at least two folds in a repetition, got "
                f"{float(np.nanmin(folds)):g}: use method='nadeau_bengio'."
            )
        df, spread = folds - 1, variance / folds
        if method == "corrected_t":
            rho = GRANDVALET_RHO if rho is None else check_number("rho", rho, low=0, high=1)
            if rho == 1:
                raise ValueError("rho must be below 1: the variance is divided by 1 - rho.")
            spread = spread / (1 - rho)
    with np.errstate(invalid="ignore"):
        return StudentPosterior(
            df,
            mean,
            np.sqrt(spread),
            metric=metric,
            range=(-np.inf, np.inf) if range is None else range,
            observed=mean,
        )


def _test_over_train(shape, usable, n_train, n_test):
    """Mean over the folds of n_test / n_train."""
    sizes = []
    for parameter, value in (("n_train", n_train), ("n_test", n_test)):
        if value is None:
            raise ValueError(
                f"method='nadeau_bengio' needs {parameter}, the number of rows per fold: a number, "
                f"or one per fold ({shape[-1]})."
            )
        array = rectangular(parameter, value)
        if array.dtype.kind not in "iuf" or not ((array > 0) & (array < np.inf)).all():
            raise ValueError(f"{parameter} must hold positive numbers of rows, got {shown(value)}.")
        if array.ndim:
            try:
                array = np.broadcast_to(array, shape)
            except ValueError:
                raise ValueError(
                    f"{parameter} must be a number or have one entry per fold, {shape[-1]}, got "
                    f"shape {array.shape}."
                ) from None
        sizes.append(array)
    ratio = sizes[1] / sizes[0]
    if not np.ndim(ratio):
        return ratio
    ratio = np.where(usable, ratio, 0.0)
    return ratio.sum(axis=-1) / np.maximum(usable.sum(axis=-1), 1)
