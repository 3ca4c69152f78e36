"""Families about distribution functions: monotone, and inverted by the quantiles."""

import numpy as np

from skuncertain import ConfusionCounts
from tools.fuzz import make
from tools.fuzz.checks import check_quantiles, require_all
from tools.fuzz.runner import family
from tools.fuzz.shortest import TWO_INTEGRALS, cells

PRIORS = ("auto", 0.1, 0.02, 0.5, 1.0, "jeffreys")
GRID = np.linspace(0.005, 0.995, 34)
RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio")
FALL = 1e-9  # by which rounding may let a cdf fall


def check_monotone(posterior):
    """The cdf does not fall: between its quantiles, and far away from them."""
    inner = np.asarray(posterior.quantile(GRID))
    inner = inner[np.isfinite(inner)]
    between = (inner[1:] + inner[:-1]) / 2
    around = [f * end for end in (inner.min(), inner.max()) for f in (0.5, 2.0, 1e3, 1e-3)]
    x = np.unique(np.concatenate([inner, between, around, [0.0]]))
    p = np.asarray(posterior.cdf(x))
    require_all((p >= 0) & (p <= 1), "cdf out of [0, 1]", x, p)
    require_all(np.diff(p) >= -FALL, "the cdf falls", x[:-1], p[:-1], p[1:])


def odd_cells(source):
    """One cell that holds everything, an empty class, or cells of any size."""
    kind = source.below(3)
    if kind == 0:
        table = np.zeros(4, dtype=np.int64)
        table[source.below(4)] = 2 ** source.integer(0, 50)
        return table.reshape(2, 2)
    table = cells(source, 10**9)
    if kind == 1:
        table[source.below(2)] = 0
    return table


@family(share=200)
def inverses(source):
    """Exact posteriors of two classes; ratios, whose tails are long, more often."""
    name = source.pick((*make.OF_TWO, *RATIOS, *RATIOS))
    table = odd_cells(source)
    prior = source.pick(PRIORS)
    model = source.pick(("dirichlet", "dirichlet", "three_beta"))
    if name in TWO_INTEGRALS:
        model = "dirichlet"
    source.note(metric=name, model=model, prior=prior, cells=table)
    posterior = ConfusionCounts(table).posterior(
        make.metric_of(name), prior=prior, model=model, n_draws=400, random_state=0
    )
    if posterior.exact:
        check_quantiles(posterior)
        check_monotone(posterior)
