"""Fold scores, of any metric, become Student's t around their mean."""

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import as_array, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.posteriors._about import About
from skuncertain.posteriors._student_normal import StudentPosterior

SCORE_METHODS = ("t", "corrected_t", "nadeau_bengio")
GRANDVALET_RHO = 0.7
MISSING = "NaN: 0/0, or a fit that failed"  # of scores that others have computed
CUT = "t intervals are cut off at the range of the metric"
_EPSILON = np.finfo(float).eps


def score_posterior(
    scores,
    method,
    n_repeats=1,
    *,
    rho=None,
    n_train=None,
    n_test=None,
    metric=None,
    range=(-np.inf, np.inf),
    missing="0/0",
):
    """Posterior of the mean score from fold scores ``(..., splits)``.

    "t" divides the variance of the folds by K; "corrected_t" divides it by 1 - rho as well; in
    "nadeau_bengio" it is multiplied with 1/splits + n_test/n_train instead. `missing` says why a
    score can be NaN.
    """
    usable = ~np.isnan(scores)
    number = usable.sum(axis=-1)
    refuse_if(
        (metric is None or missing == MISSING) and (number < 2).all(),
        "method",
        f"method={method!r} needs a score in at least two folds, got {{value}}.",
        np.max(number, initial=0).item(),
    )
    _warn_of_unusable(scores, usable, metric or "score", missing)
    # In a stack, a problem with a single score has no answer; the others have theirs.
    number = np.where(number < 2, np.nan, number)
    mean, variance = _moments(scores, usable, number)
    if method == "nadeau_bengio":
        ratio = _test_over_train(scores.shape, usable, n_train, n_test)
        df, spread = number - 1, variance * (1 / number + ratio)
    else:
        folds = number / n_repeats  # repetitions of the same rows are no further folds
        refuse_if(
            np.any(folds <= 1),
            "method",
            f"method={method!r} needs at least two folds in a repetition, got "
            f"{np.fmin.reduce(folds, axis=None, initial=np.inf):g}: use method='nadeau_bengio'.",
        )
        df, spread = folds - 1, variance / folds
        if method == "corrected_t":
            rho = GRANDVALET_RHO if rho is None else rho
            refuse_if(rho == 1, "rho", "rho must be below 1: the variance is divided by 1 - rho.")
            spread = spread / (1 - rho)
    with np.errstate(invalid="ignore"):
        about = About(metric=metric, range=range, observed=mean)
        return StudentPosterior(df, mean, np.sqrt(spread), about=about)


def correlated_t(gaps, test_train_ratio):
    """Correlated t of every row of gaps between fold scores, shape (pairs, splits)."""
    return score_posterior(gaps, "nadeau_bengio", n_train=1.0, n_test=test_train_ratio)


def check_score_values(scores, parameter):
    """Refuse fold scores that have no mean, or whose squares no float holds."""
    refuse_if(
        np.isinf(scores).any(),
        parameter,
        f"{parameter} holds infinite scores, which have no mean.",
    )
    refuse_if(
        np.any(np.abs(scores) > 1e100),
        parameter,
        f"the scores of {parameter} must be within 1e100, got {{value}}.",
        scores,
    )


def split_repeats(n_splits, n_repeats):
    """Repetitions of plain scores, and (n_train, n_test) of K-fold in units of a test set.

    Where nobody said how many repetitions there are, one is assumed, and said where the number of
    scores allows others.
    """
    repeats = 1 if n_repeats is None else n_repeats
    refuse_if(
        n_splits % repeats,
        "n_repeats",
        f"n_repeats={repeats} must divide the number of folds, {n_splits}.",
    )
    folds = n_splits // repeats
    refuse_if(
        folds < 2,
        "n_repeats",
        f"there is {folds} fold per repetition, so n_test / n_train is not known: give n_train and "
        "n_test, or another n_repeats, got {value}.",
        repeats,
    )
    divisor = next((d for d in range(2, int(n_splits**0.5) + 1) if n_splits % d == 0), None)
    if n_repeats is None and divisor:
        warn_user(
            f"{n_splits} scores are taken as the {n_splits} folds of one cross-validation. If it "
            f"was repeated, as {divisor} x {n_splits // divisor}, say n_repeats={divisor}; "
            "n_repeats=1 says that it was not.",
            UserWarning,
        )
    return repeats, (folds - 1, 1)


def is_cut(low, high, limits):
    """Whether a t interval was cut off; one without width may end there by itself."""
    return (low < high) & ((low <= limits[0]) | (high >= limits[1]))


def _warn_of_unusable(scores, usable, name, missing):
    if not usable.all():
        which = ""
        if usable.ndim == 1:
            places = np.flatnonzero(~usable)
            shown = ", ".join(map(str, places[:10])) + ", ..." * (places.size > 10)
            which = f" (fold{'s' * (places.size > 1)} {shown}, counted from 0)"
        warn_user(
            f"{name} is undefined ({missing}) in {int((~usable).sum())} of {usable.size} folds"
            f"{which}: they are left out, so the mean is not that of all rows.",
            UndefinedMetricWarning,
        )
    if np.isinf(scores).any():
        warn_user(
            f"{name} is infinite in a fold: mean and variance of the folds do not exist. Use "
            "method='pooled'.",
            UndefinedMetricWarning,
        )


def _moments(scores, usable, number):
    """Mean and variance of the usable scores."""
    values = scores if usable.all() else np.where(usable, scores, 0.0)
    with np.errstate(invalid="ignore"):
        mean = values.sum(axis=-1) / number
        deviation = values - mean[..., None]
    # Equal scores have no variance at all, whatever the rounding of their mean.
    scale = np.abs(values).max(axis=-1, keepdims=True)
    ignored = (np.abs(deviation) <= 4 * _EPSILON * scale) | ~usable
    deviation = np.where(ignored, 0.0, deviation)
    return mean, np.square(deviation).sum(axis=-1) / (number - 1)


def _test_over_train(shape, usable, n_train, n_test):
    """Mean over the folds of n_test / n_train."""
    sizes = []
    for parameter, value in (("n_train", n_train), ("n_test", n_test)):
        refuse_if(
            value is None,
            parameter,
            f"method='nadeau_bengio' needs {parameter}, the number of rows per fold: a number, "
            f"or one per fold ({shape[-1]}).",
        )
        array = as_array(parameter, value)
        refuse_if(
            array.dtype.kind not in "iuf" or not ((array > 0) & (array < np.inf)).all(),
            parameter,
            f"{parameter} must hold positive numbers of rows, got {{value}}.",
            value,
        )
        try:
            sizes.append(np.broadcast_to(array, shape) if array.ndim else array)
        except ValueError:
            raise InvalidParameterError(
                f"{parameter} must be a number or have one entry per fold, {shape[-1]}, got "
                f"shape {array.shape}.",
                parameter=parameter,
            ) from None
    ratio = sizes[1] / sizes[0]
    if not np.ndim(ratio):
        return ratio
    return np.where(usable, ratio, 0.0).sum(axis=-1) / np.maximum(usable.sum(axis=-1), 1)
