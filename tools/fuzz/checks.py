"""What must be true of every result."""

import json
import pickle

import numpy as np

from tools.fuzz.runner import Violation, require

PROBABILITIES = np.array([0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999])


def require_all(good, what, *arrays):
    """`good` everywhere; the message shows the values at the first place where it is not."""
    good = np.asarray(good)
    if not np.all(good):
        place = tuple(np.argwhere(~good)[0])
        shown = [np.broadcast_to(np.asarray(a), good.shape)[place].item() for a in arrays]
        raise Violation(f"{what}: {shown}", place)


def check_interval(interval, limits=(-np.inf, np.inf), *, proper=True, open_width=True):
    """Ordered, in the range, with width; `proper` says that it must exist everywhere."""
    low, high = (np.asarray(end, dtype=float) for end in interval)
    missing = np.isnan(low) | np.isnan(high)
    if proper:
        require_all(~missing, "NaN: the interval does not exist", low, high)
    require_all(missing | (low <= high), "low > high", low, high)
    require_all(missing | ((limits[0] <= low) & (high <= limits[1])), "out of range", low, high)
    if proper and open_width:
        require_all(low < high, "no width", low, high)
    return low, high, ~missing


LARGEST = 1e300


def at_one_float(posterior, low, high, level):
    """Whether the interval has no width because floats cannot show any: Beta(1e-6, 5), say."""
    low, high = (np.clip(end, -LARGEST, LARGEST) for end in (low, high))  # infinite odds ratios
    step = 8 * np.spacing(np.abs(low)) + 1e-300
    above = np.where(high == LARGEST, np.inf, high + step)
    inside = posterior.cdf(above) - posterior.cdf(low - step)
    return inside >= level - 1e-6


def check_quantiles(posterior, tolerance=1e-6):
    """cdf(quantile(q)) is q, as far as neighbouring floats can tell."""
    x = np.asarray(posterior.quantile(PROBABILITIES))
    require(np.all(np.isnan(x) | (np.diff(x, axis=-1, prepend=-np.inf) >= 0)), "quantiles fall")
    step = 8 * np.spacing(np.abs(x)) + 1e-299
    for k, q in enumerate(PROBABILITIES):
        below = np.asarray(posterior.cdf(x[..., k] - step[..., k]))
        above = np.asarray(posterior.cdf(x[..., k] + step[..., k]))
        right = (below <= q + tolerance) & (above >= q - tolerance)
        at = x[..., k]
        require_all(np.isnan(at) | right, f"cdf(quantile({q:g}))", below, above, at)


def check_posterior(posterior, level, kind, *, proper, default=False, bounded=True):
    """All promises of a posterior; `default`: under the default prior."""
    limits = posterior.range if bounded else (-np.inf, np.inf)
    interval = posterior.interval(level, kind)
    require(np.shape(interval.low) == posterior.shape, "the shape of the interval")
    low, high, exists = check_interval(interval, limits, proper=proper, open_width=False)
    if proper and (posterior.exact or level > 0.5):
        wide = low < high
        if not np.all(wide):
            wide |= at_one_float(posterior, low, high, level)
        require_all(wide, "no width", low, high)
    again = posterior.interval(level, kind)
    require(np.array_equal([low, high], again, equal_nan=True), "two calls disagree")
    median, mean, std = (
        np.asarray(value) for value in (posterior.median(), posterior.mean(), posterior.std())
    )
    if proper:
        require_all(~np.isnan(median), "NaN: median", low, high)
        require_all(~np.isnan(mean), "NaN: mean", low, high)
        require_all(~np.isnan(std) | ~np.isfinite(mean), "NaN: std", mean)
    require_all(np.isnan(std) | (std >= 0), "std < 0", std)
    if kind == "eti":
        inside = (low <= median) & (median <= high)
        require_all(inside | ~exists, "median outside", low, median, high)
    observed = np.asarray(posterior.observed, dtype=float)
    if default and kind == "eti" and level >= 0.5:
        slack = 1e-9 * np.maximum(1, np.abs(observed))
        inside = (low - slack <= observed) & (observed <= high + slack)
        none = ~exists | ~np.isfinite(observed)
        require_all(inside | none, "observed outside", low, observed, high)
    at = np.asarray(posterior.cdf(median))
    require(np.all(np.isnan(at) | ((at >= 0) & (at <= 1))), "cdf out of [0, 1]")
    return low, high


def check_everything(posterior, level, kind, *, proper, default=False, bounded=True):
    """The slower promises too, for single posteriors."""
    check_posterior(posterior, level, kind, proper=proper, default=default, bounded=bounded)
    if posterior.exact and proper:
        check_quantiles(posterior)
    median = np.asarray(posterior.median())
    density = np.asarray(posterior.pdf(median))
    require(np.all(np.isnan(density) | (density >= 0)), "a negative density")
    inside = np.asarray(posterior.prob(*posterior.interval(level, "eti")))
    require(np.all(np.isnan(inside) | ((inside >= 0) & (inside <= 1))), "prob out of [0, 1]")
    draws = posterior.sample(3, random_state=0)
    require(draws.shape == (*posterior.shape, 3), "the shape of a sample")
    require(np.array_equal(draws, posterior.sample(3, 0), equal_nan=True), "samples disagree")
    require("\n" not in repr(posterior), "repr of more than one line")
    plain(posterior.to_dict(level, kind))
    copy = pickle.loads(pickle.dumps(posterior))
    same = copy.interval(level, kind), posterior.interval(level, kind)
    require(np.array_equal(*same, equal_nan=True), "a pickled copy differs")


def plain(value, *, strict=False):
    """`value` holds plain Python values only; `strict`: no NaN and no infinity."""
    try:
        text = json.dumps(value, allow_nan=not strict)
    except (TypeError, ValueError) as error:
        require(False, f"not plain: {error}")
    return json.loads(text)


def close(found, expected, what, *, rtol=1e-9, atol=1e-9):
    """Equal where `expected` is a finite number."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    require(found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}")
    same = np.isclose(found, expected, rtol=rtol, atol=atol) | ~np.isfinite(expected)
    require_all(same, what, found, expected)


def check_three(result, rope):
    """Three probabilities that sum to 1."""
    three = np.array([result.p_worse, result.p_equivalent, result.p_better], dtype=float)
    require(np.all(np.isfinite(three)), f"NaN: a probability of {three}")
    require(np.all((three >= -1e-12) & (three <= 1 + 1e-12)), f"no probabilities: {three}")
    require(np.allclose(three.sum(0), 1, atol=1e-6), f"sum of probabilities: {three.sum(0)}")
    return three
