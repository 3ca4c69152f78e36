"""Families about comparisons on very few rows, which must be fair."""

import numpy as np

from skuncertain import ConfusionCounts, compare
from tools.fuzz.checks import check_three, close
from tools.fuzz.models import COMPARABLE, OF_CLASSES
from tools.fuzz.runner import family

N_DRAWS = 500
FAIR = 6 * 0.5 / np.sqrt(N_DRAWS)  # six standard errors of a drawn probability
METRICS = (*COMPARABLE, "precision", "specificity", "informedness", "kappa", "dor", "g_mean")


def tiny(source, n_classes):
    """A table of at most five rows."""
    table = np.zeros((n_classes, n_classes), dtype=np.int64)
    for _ in range(source.below(6)):
        table[source.below(n_classes), source.below(n_classes)] += 1
    return ConfusionCounts(table)


@family(share=80)
def tiny_comparisons(source):
    """compare(a, b) mirrors compare(b, a), and neither of two equal tables is better."""
    n_classes = source.pick((2, 2, 3))
    metric = source.pick(METRICS if n_classes == 2 else OF_CLASSES)
    a = tiny(source, n_classes)
    b = tiny(source, n_classes) if source.below(2) else a
    question = {
        "metric": metric,
        "rope": source.pick((0.0, 0.0, 0.1)),
        "prior": source.pick(("auto", "auto", 0.5, "laplace", 0.1)),
    }
    source.note(a=a.counts.tolist(), b=b.counts.tolist(), **question)
    there = compare(a, b, **question, n_draws=N_DRAWS, random_state=0)
    back = compare(b, a, **question, n_draws=N_DRAWS, random_state=0)
    exact = there.difference.exact
    source.note(exact=exact)
    check_three(there, question["rope"])
    mine, theirs = (
        np.array([result.p_worse, result.p_equivalent, result.p_better]) for result in (there, back)
    )
    atol = 1e-9 if exact else 2 * FAIR  # two independent sets of draws
    close(mine, theirs[::-1], "not antisymmetric", rtol=0, atol=atol)
    if b is a:
        fair = there.p_better + there.p_equivalent / 2
        close(fair, 0.5, "equal tables, but not P = 1/2", rtol=0, atol=1e-9 if exact else FAIR)
    if exact:
        q = np.array([0.025, 0.3, 0.5, 0.7, 0.975])
        ends = there.difference.quantile(q), -np.asarray(back.difference.quantile(1 - q))
        close(*ends, "quantiles are not mirrored", rtol=1e-6, atol=1e-6)
