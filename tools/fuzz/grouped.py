"""Families about rows in groups: neither their order nor the names of the groups matter."""

import numpy as np

from skuncertain import confidence_interval
from skuncertain.metrics import metric_posterior
from tools.fuzz.checks import check_interval, check_quantiles, close
from tools.fuzz.runner import family, require

N_DRAWS = 200
NAMES = (
    lambda codes: codes,
    lambda codes: -3 * codes - 7,  # the other way round
    lambda codes: np.char.add("g", codes.astype(str)),
    lambda codes: (codes * 7919) % 1_000_003,  # a prime: no two become one
)


def grouped_rows(source):
    """Labels of few rows or, rarely, up to a million; one group for two rows or for many."""
    rng = source.rng()
    n = source.pick((10**5, 10**5, 10**6)) if source.rarely(30) else source.integer(4, 300)
    n_classes = source.pick((2, 2, 3))
    true = rng.integers(n_classes, size=n)
    said = np.where(
        rng.random(n) < source.pick((0.8, 0.5, 1.0)), true, rng.integers(n_classes, size=n)
    )
    groups = rng.integers(source.pick((2, max(2, n // 10), n)), size=n)
    groups[:2] = 0, 1
    return true, said, groups, list(range(n_classes))


@family(share=20)
def groups(source):
    """Rows shuffled: the same answer, to the last bit. Groups renamed: within the draws' error."""
    true, said, codes, labels = grouped_rows(source)
    order = source.rng().permutation(len(true))
    metric = source.pick(("accuracy", "balanced_accuracy", "mcc", "error_rate"))
    name = source.pick(NAMES)
    source.note(n=len(true), groups=len(np.unique(codes)), metric=metric)
    options = {"metric": metric, "labels": labels, "random_state": 0}
    if source.rarely(4):
        options |= {"method": source.pick(("bootstrap", "bca")), "n_resamples": N_DRAWS}
        source.note(method=options["method"])
        one = confidence_interval(true, said, groups=codes, **options)
        check_interval(one, proper=False)
        two = confidence_interval(true[order], said[order], groups=codes[order], **options)
        require(np.array_equal(one, two, equal_nan=True), f"the order matters: {one}, {two}")
        return
    if len(true) > 10**4 and source.rarely(4):  # as many draws as anybody gets
        check_interval(metric_posterior(true, said, groups=codes, **options).interval(), (-1, 1))
    options["n_draws"] = N_DRAWS
    one = metric_posterior(true, said, groups=codes, **options)
    two = metric_posterior(true[order], said[order], groups=codes[order], **options)
    check_interval(one.interval(), one.range)
    same = np.array_equal(one.interval(), two.interval())
    require(same, f"the order of rows matters: {one.interval()}, {two.interval()}")
    three = metric_posterior(true, said, groups=name(codes), **options)
    close(three.observed, one.observed, "the names of groups change the observed value")
    if one.exact:
        check_quantiles(one)
        ends = np.array(one.interval()), np.array(three.interval())
        close(*ends, "the names of groups matter", rtol=1e-7, atol=1e-7)
    error = 6 * np.hypot(one.monte_carlo_error(), three.monte_carlo_error()) + 1e-7
    close(three.mean(), one.mean(), "the names of groups matter", rtol=0, atol=error)
