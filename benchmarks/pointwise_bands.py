"""Pointwise bands: how often the true rate lies inside, at places that were fixed before.

ROC: the true positive rate at a false positive rate. Precision-recall: the precision at a recall,
where the classes of the rows are drawn as well. Samples are drawn from score distributions with a
known curve; with rounded scores the curve is straight between its corners. A cell is *low* if its
coverage lies below 93 % for sure: the one-sided 99 % upper limit of Clopper and Pearson is below.
Mean widths, of the first 200 samples, are printed beside it.

    python benchmarks/pointwise_bands.py [--part roc pr] [--write docs/benchmark_tables]
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.special import betainc
from scipy.stats import beta, gamma, norm

from skuncertain.metrics._scores.pointwise import RateAtRate, Technique, _nodes_of

SEED, LEVEL, LOW = 20261118, 0.95, 0.93
WIDTHS = 200  # samples whose ends are solved for; the others are asked on which side they are
RATES = np.array([0.05, 0.1, 0.2, 0.5])
RECALLS = np.array([0.2, 0.5, 0.8])
SIZES = ((30, 30), (50, 50), (100, 100), (200, 200), (500, 500), (30, 200), (200, 30), (50, 500))


class Smooth:
    """Two continuous score distributions."""

    def __init__(self, positives, negatives):
        self.positives, self.negatives = positives, negatives

    def draw(self, rng, m1, m0):
        return self.positives.rvs(m1, random_state=rng), self.negatives.rvs(m0, random_state=rng)

    def tpr(self, fpr):
        return self.positives.sf(self.negatives.isf(fpr))

    def fpr(self, tpr):
        return self.negatives.sf(self.positives.isf(tpr))


class Rounded(Smooth):
    """The same with scores that are rounded to multiples of a step."""

    def __init__(self, positives, negatives, step):
        super().__init__(positives, negatives)
        self.step = step
        cuts = step * (np.arange(40, -41, -1) + 0.5)
        self.corners = [np.r_[0.0, one.sf(cuts), 1.0] for one in (negatives, positives)]

    def draw(self, rng, m1, m0):
        return tuple(np.round(one / self.step) for one in super().draw(rng, m1, m0))

    def tpr(self, fpr):
        return np.interp(fpr, *self.corners)

    def fpr(self, tpr):
        return np.interp(tpr, *self.corners[::-1])


KINDS = {
    "normal, area .86": Smooth(norm(1.53), norm()),
    "normal, unequal variances": Smooth(norm(1.5, 2), norm()),
    "exponential, area .80": Smooth(gamma(1, scale=4), gamma(1)),
    "gamma, shapes 4 and 2": Smooth(gamma(4), gamma(2)),
    "normal, rounded to 0.5": Rounded(norm(1.53), norm(), 0.5),
    "normal, rounded to 1.5": Rounded(norm(1.53), norm(), 1.5),
}


def inside(below, seen, n):
    """Whether ends that leave half of 1 - level outside hold what has this probability below it.

    A rate that was seen at 0 or 1 has an end there.
    """
    tail = (1 - LEVEL) / 2
    return ((below >= tail) | (seen <= 0)) & ((below <= 1 - tail) | (seen >= n))


def beta_below(rate, hits, n):
    """Beta distributions of the technique, at a rate."""
    prior = Technique().prior
    return betainc(hits + prior, n - hits + prior, rate)


def roc(kind, m1, m0, runs, rng):
    """Hits and mean width at every false positive rate."""
    truth, parts, ends, hits = kind.tpr(RATES), [], [], []
    for run in range(runs):
        positives, negatives = kind.draw(rng, m1, m0)
        rate = RateAtRate.of(positives, negatives, Technique())
        parts.append((*rate.mixture(RATES), rate.observed(RATES)))
        if run < WIDTHS:
            ends.append(rate.interval(RATES, LEVEL))
    for chunk in chunks(parts):
        numbers, weight, seen = chunk
        below = (weight * beta_below(truth[:, None], numbers, m1)).sum(axis=-1)
        hits.append(inside(below, seen, m1))
    return checked(np.concatenate(hits), ends, truth)


def precision_recall(kind, m1, m0, runs, rng):
    """Hits and mean width at every recall; the rows of both classes are binomial."""
    n, share = m1 + m0, m1 / (m1 + m0)
    fpr = kind.fpr(RECALLS)
    truth = share * RECALLS / (share * RECALLS + (1 - share) * fpr)
    parts, ends, hits = [], [], []
    for run in range(runs):
        k = min(max(rng.binomial(n, share), 2), n - 2)
        positives, negatives = kind.draw(rng, k, n - k)
        rate = RateAtRate.of(negatives, positives, Technique())
        shape = k + 0.5, n - k + 0.5
        shares, chance = _nodes_of(shape)
        parts.append((*rate.mixture(RECALLS, 32), rate.observed(RECALLS), shares, chance, n - k))
        if run < WIDTHS:
            ends.append(rate.precision(RECALLS, shape, LEVEL))
    for numbers, weight, seen, shares, chance, negative in chunks(parts):
        # The false positive rate that has this precision at every recall and prevalence.
        odds = (shares / (1 - shares))[:, None, :, None]
        at = np.minimum((RECALLS * (1 - truth) / truth)[:, None, None] * odds, 1.0)
        above = beta_below(at, numbers[:, :, None], negative[:, None, None, None])
        above = (above * weight[:, :, None]).sum(axis=-1) * chance[:, None]
        # No false positive: the upper end is 1. The lower end is never 0.
        above = above.sum(axis=-1)
        hits.append(inside(1 - above, negative[:, None], np.where(seen > 0, np.inf, 0)))
    return checked(np.concatenate(hits), ends, truth)


def chunks(parts, size=250):
    """Arrays of some samples at once."""
    for first in range(0, len(parts), size):
        yield [np.array(one) for one in zip(*parts[first : first + size], strict=True)]


def checked(hits, ends, truth):
    """Number of hits, and mean widths; where ends were solved for, they say the same."""
    low, high = np.moveaxis(np.array(ends), 1, 0)
    solved = (low <= truth) & (truth <= high)
    assert np.array_equal(solved, hits[: len(ends)]), "the shortcut and the ends differ"
    return hits.sum(axis=0), np.mean(high - low, axis=0)


def is_low(hits, runs):
    return beta.ppf(0.99, hits + 1, runs - hits) < LOW if hits < runs else False


def cell(hits, runs):
    return f"{100 * hits / runs:.1f}{' low' if is_low(hits, runs) else ''}"


def table(title, place, places, simulate, runs):
    """A list-table of reStructuredText: a column per pair of sizes."""
    rows = [["scores", place, *(f"{m1} + {m0}" for m1, m0 in SIZES)]]
    for number, (name, kind) in enumerate(KINDS.items()):
        found = []
        for m1, m0 in SIZES:
            rng = np.random.default_rng([SEED, number, m1, m0])
            hits, width = simulate(kind, m1, m0, runs, rng)
            found.append([cell(one, runs) for one in hits])
            texts = [f"{a}, {w:.3f}" for a, w in zip(found[-1], width, strict=True)]
            print(name, f"{m1} + {m0}", *texts, sep=" | ", flush=True)
        for k, at in enumerate(places):
            rows.append([name if k == 0 else "", f"{at:.2g}", *(one[k] for one in found)])
    return as_list_table(title, rows)


def as_list_table(title, rows):
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if k == 0 else '  -'} {text}" for k, text in enumerate(row)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


PARTS = {
    "roc": ("Pointwise ROC bands", "FPR", RATES, roc),
    "pr": ("Pointwise precision-recall bands", "recall", RECALLS, precision_recall),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="samples per line")
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    args = parser.parse_args()
    what = "coverage of 95 % intervals in %, by rows of both classes"
    for part in args.part:
        title, *asked = PARTS[part]
        title = f"{title}: {what} (positives + negatives), {args.runs:,} samples each"
        found = table(title, *asked, args.runs)
        if args.write:
            (args.write / f"pointwise_{part}.rst.inc").write_text(found, "utf-8")


if __name__ == "__main__":
    main()
