"""Confidence sequences of a proportion: intervals that hold at all looks together.

If every row is a hit with probability p, the wealth B(s + a, f + b) / B(a, b) / (p**s (1 - p)**f)
after s hits and f misses is a martingale that starts at 1 (Robbins: a Beta mixture of likelihood
ratios). By Ville's inequality it ever reaches 1 / alpha with probability alpha at most, so that the
rates at which it has not reached it are a confidence set at every look. Here a = b = 1/2.
"""

import numpy as np
from scipy.special import expit, xlog1py

from skuncertain._numerics.beta import log_beta_density_at_mean, logit_density_drop

_MOST_STEPS = 200  # Newton's iteration takes a dozen; two hundred where alpha is 1e-300


def log_wealth_at_best(hits, misses):
    """Log wealth at the observed rate hits / n: where it is smallest, and never above 0."""
    n = hits + misses
    a, b = hits + 0.5, misses + 0.5
    # log B(a, b) from Stirling remainders, and logs of ratios near 1: n may be 1e9 and more.
    mean_odds = 0.5 * (np.log(a / (n + 1.0)) + np.log(b / (n + 1.0)))
    shift = 0.5 * (misses - hits) / (n + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = xlog1py(hits, np.where(hits > 0, shift / hits, 0.0))
        moved = moved + xlog1py(misses, np.where(misses > 0, -shift / misses, 0.0))
    return moved + mean_odds - log_beta_density_at_mean(a, b) - np.log(np.pi)


def confidence_sequence(hits, misses, alpha):
    """Ends of the rates that are not refuted after `hits` and `misses`, elementwise.

    Without a row that is [0, 1]; without a hit the lower end is 0, without a miss the upper one 1.
    """
    hits, misses, alpha = np.broadcast_arrays(
        *(np.asarray(part, dtype=float) for part in (hits, misses, alpha))
    )
    shape = hits.shape
    hits, misses = hits.ravel(), misses.ravel()
    room = -np.log(alpha.ravel()) - log_wealth_at_best(hits, misses)
    low, high = np.zeros(hits.shape), np.ones(hits.shape)
    none, all_ = (hits == 0) & (misses > 0), (misses == 0) & (hits > 0)
    high[none] = -np.expm1(-room[none] / misses[none])
    low[all_] = np.exp(-room[all_] / hits[all_])
    rows = np.flatnonzero((hits > 0) & (misses > 0))
    if rows.size:
        s, f, far = hits[rows], misses[rows], room[rows]
        centre = np.log(s) - np.log(f)
        low[rows] = expit(centre - _distance(f, s, far))
        high[rows] = expit(centre + _distance(s, f, far))
    return low.reshape(shape), high.reshape(shape)


def _distance(s, f, room):
    """Solve for the distance d > 0 from the logit of s / n at which the wealth has grown by `room`.

    The growth is convex in d and linear in the end: from the right of its minimum the first step of
    Newton's iteration leads beyond the solution, and all others towards it.
    """
    spread = s * f / (s + f)
    d = np.sqrt(2.0 * room / spread)
    active = np.arange(d.size)
    for _ in range(_MOST_STEPS):
        here, a, b = d[active], s[active], f[active]
        grown = -logit_density_drop(here, a, b)
        odds = np.expm1(np.minimum(here, 300.0))
        slope = spread[active] * odds / (1.0 + a / (a + b) * odds)
        step = (grown - room[active]) / slope
        d[active] = here - step
        active = active[np.abs(step) > 1e-14 * here]
        if active.size == 0:
            break
    return d
