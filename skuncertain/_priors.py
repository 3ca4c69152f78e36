"""Priors: a name, a number or an array becomes pseudo-counts for every cell."""

import numpy as np

from skuncertain._validation import check_number, is_real, nearest_name, rectangular, shown

PER_CELL = {"haldane": 0.0, "neutral": 1 / 3, "jeffreys": 0.5, "laplace": 1.0}
LARGEST = 1e12  # beyond, sums with the counts lose them
NAMES = ("auto", *PER_CELL, "shared", "total-one")

# Scores of one class among many whose own proportion gets a Jeffreys prior under "auto".
OWN_PROPORTION = ("recall", "fnr", "precision", "fdr", "f1", "jaccard")


def check_prior(prior, n_classes):
    """Return a name, a float or a (C, C) array; anything else is refused with the reason."""
    if isinstance(prior, str):
        if prior not in NAMES:
            options = ", ".join(repr(name) for name in NAMES)
            raise ValueError(
                f"prior must be one of {options}, a number or an array of shape (C, C), "
                f"got {shown(prior)}.{nearest_name(prior, NAMES)}"
            )
        return prior
    if is_real(prior):
        if isinstance(prior, np.floating):  # 1e12 is beyond the range of half floats
            prior = float(prior)
        if not 0 <= prior <= LARGEST:
            raise ValueError(
                f"prior must be a finite number >= 0 (at most 1e12), got {shown(prior)}."
            )
        return float(prior)
    array = rectangular("prior", prior)
    if array.dtype.kind not in "iuf" or array.ndim == 0:
        raise TypeError(
            f"prior must be a name, a number or an array of shape (C, C), got {shown(prior)}."
        )
    array = array.astype(float)
    if array.shape != (n_classes, n_classes):
        raise ValueError(
            f"an array prior must have shape (C, C) = ({n_classes}, {n_classes}), rows true, "
            f"got shape {array.shape}. For one number per cell pass the number."
        )
    if not np.all((array >= 0) & (array <= LARGEST)):
        raise ValueError("an array prior must hold finite numbers >= 0 (at most 1e12).")
    array.flags.writeable = False
    return array


def describe_prior(prior):
    """Short text for reprs and reports."""
    if isinstance(prior, str):
        return prior
    return f"{prior:g}" if isinstance(prior, float) else "array"


def cell_prior(prior, matrix):
    """Pseudo-counts for every cell of a stack of matrices, broadcastable to its shape.

    `prior` is a name other than "auto", a float or an array, as `check_prior` returns it.
    """
    n_classes = matrix.shape[-1]
    if isinstance(prior, str) and prior in PER_CELL:
        prior = PER_CELL[prior]
    if isinstance(prior, float):
        return np.full((n_classes, n_classes), prior)
    if isinstance(prior, np.ndarray):
        return prior
    off = 1.0 - np.eye(n_classes)
    if prior == "total-one":
        return np.eye(n_classes) / (2 * n_classes) + off / (2 * n_classes * (n_classes - 1))
    # "shared": one pseudo-observation per class, right or wrong as often as the whole matrix
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    share = (trace + 0.5) / (matrix.sum(axis=(-2, -1)) + 1)
    # right and wrong get half a pseudo-row each at least, all classes together
    share = np.clip(share, 1 / (2 * n_classes), 1 - 1 / (2 * n_classes))[..., None, None]
    return share * np.eye(n_classes) + (1 - share) / (n_classes - 1) * off


def prior_from_metrics(
    *, precision: float, recall: float, accuracy: float, weight: float
) -> np.ndarray:
    """Prior counts that say what precision, recall and accuracy were expected.

    Parameters
    ----------
    precision, recall, accuracy : float
        Expected values, each in (0, 1).
    weight : float
        How many rows this knowledge is worth.

    Returns
    -------
    ndarray of shape (2, 2)
        Pseudo-counts ``[[tn, fp], [fn, tp]]``, scikit-learn's orientation with the positive class
        last, for any ``prior=``.

    See Also
    --------
    ConfusionCounts.posterior : Takes the array as ``prior``.

    Notes
    -----
    Equation 8 of Caelen [1]_. Not every triple is possible: 1/recall + 1/precision - 1/accuracy
    must exceed 1.

    References
    ----------
    .. [1] O. Caelen (2017). A Bayesian interpretation of the confusion matrix. Annals of
       Mathematics and Artificial Intelligence 81.

    Examples
    --------
    >>> from skuncertain import prior_from_metrics
    >>> prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=1).round(3)
    array([[0.268, 0.221],
           [0.179, 0.332]])
    """
    p = check_number("precision", precision, low=0, high=1, closed=False)
    r = check_number("recall", recall, low=0, high=1, closed=False)
    a = check_number("accuracy", accuracy, low=0, high=1, closed=False)
    m = check_number("weight", weight, low=0, high=np.inf, closed=False)
    if 1 / r + 1 / p - 1 / a <= 1:
        raise ValueError(
            f"precision {p:g}, recall {r:g} and accuracy {a:g} are impossible together: "
            "1/recall + 1/precision - 1/accuracy must exceed 1, here it is "
            f"{1 / r + 1 / p - 1 / a:.3g}. Lower precision or recall, or raise accuracy."
        )
    unit = m * (1 - a) / (p + r - 2 * r * p)
    tp = unit * r * p
    return np.array([[a * m - tp, unit * r * (1 - p)], [unit * (1 - r) * p, tp]])
