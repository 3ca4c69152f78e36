"""Cumulants of averages over the classes of a Dirichlet, and the Beta that has three of them.

The score of one class is a function of its four cells, which are sums of independent gamma
variates. Its own distribution is known (a Beta, or a map of one); what an average needs besides is
how the classes move together, and for that the linear terms suffice. So every class brings its own
cumulants, and only what two or three classes have in common comes from the delta method.
"""

import numpy as np
from scipy.special import poch

_MANY = 1e4  # shapes from which cumulants come from an expansion: moments would cancel
_STEP = 1e-3  # of second differences, relative
_TERMS = 56  # of a series whose terms halve
_AT_ONCE = 2048  # classes, so that their terms stay in cache


# --------------------------------------------------------------------------------------------------
# Cumulants of one class: mean, variance and third central moment


def beta_cumulants(a, b):
    """Mean, variance and third cumulant of Beta(a, b)."""
    total = a + b
    mean, other = a / total, b / total
    variance = mean * other / (total + 1)
    return mean, variance, 2 * variance * (other - mean) / (total + 2)


def f1_cumulants(a, b):
    """Mean, variance and third cumulant of 2X / (1 + X), X ~ Beta(a, b)."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    shape, a, b = a.shape, a.ravel(), b.ravel()
    result = np.empty((3, a.size))
    few = a + b < _MANY
    rows = np.flatnonzero(few)
    if rows.size < few.size:
        result[:, ~few] = _f1_by_taylor(a[~few], b[~few])
    for start in range(0, rows.size, _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        result[:, part] = _f1_by_series(a[part], b[part])
    return tuple(result.reshape(3, *shape))


def _f1_by_series(a, b):
    """Cumulants of the smaller of F and 1 - F, so that nothing cancels.

    With Y the smaller of X and 1 - X that is 2Y / (1 + Y) or Y / (2 - Y). Their moments of order k
    are sums over j of positive terms, (k)_j / j! 2**-j times a ratio of Pochhammer symbols.
    """
    flip = b < a
    y, z = np.where(flip, b, a), np.where(flip, a, b)
    k, j = np.arange(1.0, 4.0)[:, None, None], np.arange(_TERMS)
    total = (y + z)[:, None]
    first = np.cumprod((y[:, None] + j[:3]) / (total + j[:3]), axis=-1).T
    first = np.where(flip, 0.5 ** k[..., 0], 1.0) * first
    ahead = np.where(flip, y, z)[:, None] + np.where(flip, k[..., 0], 0.0)[..., None]
    terms = np.cumprod((ahead + j) / (total + k + j) * ((k + j) / (2 * j + 2)), axis=-1)
    mean, variance, third = of_moments(*(first * (1 + terms.sum(axis=-1))))
    return np.where(flip, 1 - mean, mean), variance, np.where(flip, -third, third)


def _f1_by_taylor(a, b):
    mean, variance, third = beta_cumulants(a, b)
    size = 1 + mean
    slope, bend, twist = 2 / size**2, -4 / size**3, 12 / size**4
    second = slope * bend * third + variance**2 * (0.5 * bend**2 + slope * twist)
    return (
        2 * mean / size + 0.5 * bend * variance,
        slope**2 * variance + second,
        slope**3 * third + 3 * slope**2 * bend * variance**2,
    )


def root_product_cumulants(u, v):
    """Mean, variance and third cumulant of sqrt(XY), X ~ Beta(*u), Y ~ Beta(*v) independent."""
    moments = [np.ones_like(u[0] + v[0])] * 3
    for a, b in (u, v):
        total = a + b
        with np.errstate(all="ignore"):
            half = poch(a, 0.5) / poch(total, 0.5)
        moments = [
            moments[0] * half,
            moments[1] * (a / total),
            moments[2] * half * (a + 0.5) / (total + 0.5),
        ]
    return of_moments(*moments)


def of_moments(first, second, third):
    """Mean, variance and third cumulant from three moments about 0."""
    variance = np.maximum(second - first**2, 0.0)
    return first, variance, third - 3 * first * second + 2 * first**3


def gauss_beta(a, b, n=10):
    """Nodes and weights of Gauss's rule for Beta(a, b), shapes (..., n), by Golub and Welsch."""
    a, b = a[..., None], b[..., None]
    total, k = a + b, np.arange(1, n, dtype=float)
    even = total + 2 * k
    matrix = np.zeros((*total.shape[:-1], n, n))
    at = np.arange(n - 1)
    matrix[..., 0, 0] = (a / total)[..., 0]
    matrix[..., at + 1, at + 1] = 0.5 + 0.5 * (a - b) * (total - 2) / ((even - 2) * even)
    # For k = 1 the factor total - 1 is above and below, and may be 0.
    above, below = (np.where(k == 1, 1.0, part) for part in (total + k - 2, even - 3))
    square = k * (a + k - 1) * (b + k - 1) * above / ((even - 2) ** 2 * (even - 1) * below)
    matrix[..., at, at + 1] = matrix[..., at + 1, at] = np.sqrt(square)
    nodes, vectors = np.linalg.eigh(matrix)
    return np.clip(nodes, 0.0, 1.0), vectors[..., 0, :] ** 2


def two_beta_cumulants(function, u, v):
    """Cumulants of ``function(x, y)``, X ~ Beta(*u), Y ~ Beta(*v) independent, by Gauss's rule."""
    (x, p), (y, q) = gauss_beta(*u), gauss_beta(*v)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = function(x[..., :, None], y[..., None, :])
    weight = p[..., :, None] * q[..., None, :]
    mean = (weight * value).sum(axis=(-2, -1))
    away = value - mean[..., None, None]
    return mean, *((weight * away**k).sum(axis=(-2, -1)) for k in (2, 3))


def linear_cumulants(function, cells, slopes):
    """Variance and third cumulant of a function of gamma variates, to leading order."""
    direction = [cell * slope for cell, slope in zip(cells, slopes, strict=True)]
    variance = sum(d * slope for d, slope in zip(direction, slopes, strict=True))
    third = sum(d * slope**2 for d, slope in zip(direction, slopes, strict=True))
    return variance, 2 * third + 3 * second_along(function, cells, direction)


def bent_mean(function, cells):
    """Mean of a function of gamma variates, with the quadratic terms."""
    mean = np.array(function(*cells), dtype=float)
    for k, cell in enumerate(cells):
        direction = [cell if j == k else np.zeros_like(cell) for j in range(len(cells))]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean += np.nan_to_num(0.5 * second_along(function, cells, direction) / cell)
    return mean


def second_along(function, cells, direction):
    """Second derivative of ``function(*cells)`` along a direction, by a difference."""
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = [
            np.abs(np.where(cell > 0, d / cell, 0.0))
            for cell, d in zip(cells, direction, strict=True)
        ]
        largest = np.maximum.reduce(np.broadcast_arrays(*relative))
        step = _STEP / np.maximum(largest, 1e-300)
        steps = np.stack([-step, 0 * step, step])  # one call for all three
        ends = function(*(cell + steps * d for cell, d in zip(cells, direction, strict=True)))
        value = (ends[0] - 2 * ends[1] + ends[2]) / step / step
    return np.where(largest > 0, value, 0.0)


# --------------------------------------------------------------------------------------------------
# Cumulants of the sum over the classes


def sum_cumulant(order, shapes, cells, function, slopes, stretch):
    """Second or third cumulant of the sum over classes of ``function(tp, fn, fp, tn)``.

    Parameters
    ----------
    order : {2, 3}
        Which one.
    shapes : ndarray of shape (..., C, C)
        Dirichlet shapes of the cells.
    cells : tuple of four ndarrays of shape (..., C)
        Their sums for every class against the rest.
    function : callable
        Term of a class.
    slopes : tuple of four ndarrays of shape (..., C)
        Its derivatives.
    stretch : ndarray of shape (..., C)
        Factor of each term that gives its linear part the variance that the term has.

    Returns
    -------
    ndarray of shape (...)
        The cumulant, to leading order.
    """
    tp, fn, fp, _ = cells
    right, missed, false, true = (stretch * slope for slope in slopes)
    # A row of class i taken for j moves all classes by fn_i + fp_j and tn of the others.
    others = true.sum(axis=-1, keepdims=True)
    right, missed, false = right - true + others, missed - true + others, false - true

    def product(vector, transposed=False):
        matrix = np.swapaxes(shapes, -2, -1) if transposed else shapes
        return (matrix @ vector[..., None])[..., 0] - tp * vector

    by_row = product(false)
    if order == 2:
        square = tp * right**2 + fn * missed**2 + fp * false**2 + 2 * missed * by_row
        return square.sum(axis=-1)
    cube = tp * right**3 + fn * missed**3 + fp * false**3 + 3 * missed**2 * by_row
    cube = cube + 3 * missed * product(false**2)
    moved = [tp * right, fn * missed + by_row, fp * false + product(missed, transposed=True)]
    moved.append(-sum(moved))  # all terms are free of scale: the total does not move
    bend = stretch * second_along(function, cells, moved)
    return (2 * cube + 3 * bend).sum(axis=-1)


# --------------------------------------------------------------------------------------------------
# A distribution with these cumulants


def match_beta(mean, variance, third, low, high):
    """Beta on a part of (low, high) that has a mean, a variance and a third cumulant.

    A Beta on the whole range with the first two has some skewness. Where less is wanted the upper
    end comes down, where more is wanted the lower end goes up; either has a closed form.

    Returns
    -------
    tuple of four ndarrays
        The ends, and the two shapes.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(variance)
        skew = third / (variance * sd)
        x, y = mean - low, high - mean
        own = 2 * (y - x) * sd / (x * y + variance)
        less = skew < own
        near, far, bend = np.where(less, x, y), np.where(less, y, x), np.where(less, skew, -skew)
        span = (4 * sd * near - bend * (near**2 - variance)) / (2 * sd - bend * near)
        rest = np.clip(span - near, 0.0, far)
        # So skewed a law on this side of the end does not exist: stay as close as can be.
        rest = np.maximum(rest, np.minimum(1.05 * variance / near, far))
        size = near * rest / variance - 1
        a, b = size * near / (near + rest), size * rest / (near + rest)
    return (
        np.where(less, low, mean - rest),
        np.where(less, mean + rest, high),
        np.where(less, a, b),
        np.where(less, b, a),
    )
