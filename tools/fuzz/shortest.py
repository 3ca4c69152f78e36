"""Families about highest-density intervals: shortest, with the mass that was asked for."""

import numpy as np

from skuncertain import ConfusionCounts
from skuncertain.posteriors import BetaPosterior
from tools.fuzz import make
from tools.fuzz.checks import check_interval, require_all
from tools.fuzz.runner import family

LEVELS = (0.95, 0.9, 0.5, 0.99, 0.8)
TOLERANCE = 1e-6  # of a cdf
EDGE = 0.01  # of the width: so much of an interval, at either end, must hold mass
# Of the mass outside, the shares below of other intervals. The first one is equal-tailed.
SHARES = np.array([0.5, 0.0, 1.0, 0.25, 0.75])
LONGER = 0.01  # relative, than one of these
WEAK_PRIORS = (0.5, 0.1, 0.25, 0.05, 0.02, 0.01)
SIZES = (1, 0, 0, 2, 5, 30, 10**3, 10**5, 10**6, 10**9)
TWO_INTEGRALS = ("matthews_corrcoef", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")


def check_shortest(posterior, level, *, even=False):
    """Mass, length and ends of the highest-density intervals of an exact posterior.

    `even`: the density has two equal poles, and the equal-tailed interval is the convention. An
    interval that reaches an infinite observed value is not the shortest, which is documented; nor
    is the default one of a proportion without a failure, or without a success: it is calibrated.
    """
    interval = posterior.interval(level, "hdi")
    low, high, _ = check_interval(interval, posterior.range, open_width=False)
    finite = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    below, above = (8 * np.spacing(np.abs(end)) + 1e-299 for end in finite)
    most = np.asarray(posterior.cdf(high + above)) - posterior.cdf(low - below)
    least = np.asarray(posterior.cdf(high - above)) - posterior.cdf(low + below)
    require_all(most >= level - TOLERANCE, "hdi with too little mass", low, high, most)
    plain = ~calibrated(posterior)
    exact = (least <= level + TOLERANCE) | ~plain
    require_all(exact, "hdi with too much mass", low, high, least)
    told = ~np.isinf(posterior.observed) & plain
    length = width(low, high)
    starts = (1 - level) * SHARES
    lows, highs = (np.asarray(posterior.quantile(p)) for p in (starts, starts + level))
    lengths = width(lows, highs)
    # An observed value at an end of the range closes both kinds of intervals there.
    closed = np.isin(posterior.observed, posterior.range)
    even_tails = width(*posterior.interval(level, "eti"))
    lengths = np.where(closed[..., None], even_tails[..., None], lengths)
    for k, share in enumerate(SHARES[: 1 if even else None]):
        slack = TOLERANCE if share == 0.5 else LONGER
        short = length <= lengths[..., k] * (1 + slack) + 1e-290
        name = "the equal-tailed one" if share == 0.5 else f"that with {share:g} of the rest below"
        require_all(
            short | ~told, f"hdi longer than {name}", low, high, lows[..., k], highs[..., k]
        )
    edge = EDGE * np.where(told & np.isfinite(length), length, 0.0)
    seen = (edge > below) & (edge > above)  # as far as floats can tell
    for where, mass in (
        ("low", np.asarray(posterior.cdf(low + edge)) - posterior.cdf(low)),
        ("high", np.asarray(posterior.cdf(high)) - posterior.cdf(high - edge)),
    ):
        empty = seen & (mass < 1e-6 * (1 - level))
        require_all(~empty, f"no mass at the {where} end of the hdi", low, high, mass)


def calibrated(posterior):
    """Whether the ends of an interval are those of a proportion with rows on one side only."""
    rows = posterior.about.successes_failures
    if rows is None:
        return np.zeros(posterior.shape, dtype=bool)
    return (np.asarray(rows[0]) == 0) | (np.asarray(rows[1]) == 0)


def width(low, high):
    """Length of intervals; 0 of those that are all above the largest float."""
    beyond = np.isinf(low)
    return np.where(beyond, 0.0, high) - np.where(beyond, 0.0, low)


def cells(source, largest):
    """Cells that are empty, tiny or huge, independently of each other."""
    sizes = [size for size in SIZES if size <= largest]
    return np.array([source.pick(sizes) for _ in range(4)], dtype=np.int64).reshape(2, 2)


@family(share=250)
def shortest_intervals(source):
    """Exact posteriors of every metric of two classes, one table at a time."""
    name = source.pick(make.OF_TWO)
    model = source.pick(("three_beta", "rows")) if source.rarely(10) else "dirichlet"
    # Integrals in two dimensions take seconds, and more over huge counts.
    slow = model == "rows" or (model == "three_beta" and name in TWO_INTEGRALS)
    table = cells(source, 10**5 if slow else 10**9)
    prior = source.pick(("auto", "auto", "jeffreys", "laplace", *WEAK_PRIORS))
    level = source.pick(LEVELS)
    source.note(metric=name, model=model, prior=prior, level=level, cells=table)
    posterior = ConfusionCounts(table).posterior(
        make.metric_of(name), prior=prior, model=model, n_draws=400, random_state=0
    )
    if posterior.exact:
        even = isinstance(posterior, BetaPosterior) and posterior.a == posterior.b
        check_shortest(posterior, level, even=even)


@family(share=40)
def shortest_of_betas(source):
    """Beta posteriors with poles at one end or at both, and without."""
    rng, n = source.rng(), source.pick((1, 32))
    kind = source.below(3)
    if kind == 0:  # nothing but the prior
        a, b = np.sort(rng.choice(WEAK_PRIORS, size=(2, n)), axis=0)
    elif kind == 1:
        a, b = 10.0 ** rng.uniform(-2, 0, size=(2, n))
    else:
        a, b = rng.choice(WEAK_PRIORS, size=(2, n)) + rng.choice(SIZES, size=(2, n))
    level = source.pick(LEVELS)
    source.note(a=a, b=b, level=level)
    even = a == b
    for which in (even, ~even):
        if which.any():
            check_shortest(BetaPosterior(a[which], b[which]), level, even=which is even)
    return n
