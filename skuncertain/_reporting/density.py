"""Points of a density that show its poles, its steps and its tails."""

import numpy as np

from skuncertain._utils.warnings import silence
from skuncertain.exceptions import FewDrawsWarning
from skuncertain.posteriors._beta import BetaBinomialPosterior


def density_curve(posterior, low, high, n_points=None):
    """Points of the density of a single posterior, the ends of its interval among them.

    A point mass is one point of infinite density, an undefined posterior none. Fewer points than by
    default do for a small picture that must be there at once.
    """
    with silence(FewDrawsWarning):  # where a picture ends
        first, last = (float(end) for end in posterior.quantile([0.0005, 0.9995]))
    if np.isnan(first) or np.isposinf(first) or np.isneginf(last):
        return np.empty(0), np.empty(0)
    if first == last:
        return np.array([first]), np.array([np.inf])
    if isinstance(posterior, BetaBinomialPosterior):
        share = np.arange(posterior.n + 1) / posterior.n
        edges = (np.arange(posterior.n + 2) - 0.5) / posterior.n
        height = posterior.n * np.asarray(posterior.pdf(share))
        return np.repeat(edges, 2)[1:-1], np.repeat(height, 2)
    middle = float(posterior.median())
    if np.isposinf(high):  # the curve must end somewhere
        high = low + 3 * (middle - low) if np.isfinite(middle) else 10 * max(low, 1.0)
    low = high - 3 * (high - middle) if np.isneginf(low) else low
    reach = 0.6 * (high - low)  # heavy tails would leave no room for the rest
    first, last = max(first, low - reach), min(last, high + reach)
    if n_points is None:
        n_points = 401 if posterior.n_draws is None else 161  # kernel estimates are slow
    return _curve(posterior, np.linspace(first, last, n_points), low, high)


def _curve(posterior, grid, low, high):
    """Density on a grid that becomes finer towards ends of the range, where there may be poles."""
    bottom, top = posterior.range
    span = grid[-1] - grid[0]
    near = span * 10.0 ** -np.arange(2, 9)
    points = [grid, [low, high]]
    points += [bottom + near] if grid[0] - bottom < 0.02 * span else []
    points += [top - near] if top - grid[-1] < 0.02 * span else []
    x = np.unique(np.concatenate(points))
    return x, np.asarray(posterior.pdf(np.clip(x, bottom + near[-1], top - near[-1])))


def drawn_height(density, level, low, high):
    """Height up to which a density is drawn: its peak, or less where it has a pole at an end."""
    finite = density[np.isfinite(density)]
    if not finite.size:
        return 0.0
    if finite.max() in (density[0], density[-1]) and 0 < high - low < np.inf:
        return min(finite.max(), 4 * level / (high - low))
    return finite.max()
