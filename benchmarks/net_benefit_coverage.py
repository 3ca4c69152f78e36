"""Net benefits at a threshold that was fixed before: how often the truth lies inside.

The log odds of a row are normal, so that a model with a known area is calibrated for rows of any
prevalence; "overconfident" ones have their log odds stretched and shifted. Counts of the four cells
are multinomial. Asked are the net benefit of the model, its difference to treating all, its gain
(the difference to the better of treating all and none), and the net benefit at a given prevalence
of .1, where the numbers of both classes are fixed. A cell is *low* if its coverage lies below 93 %
for sure: the one-sided 99 % upper limit of Clopper and Pearson is below. *Enough rows* are at least
10 positives and 10 rows that are called positive, as expected.

    python benchmarks/net_benefit_coverage.py [--set third] [--write docs/benchmark_tables]
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import logit
from scipy.stats import beta, norm

from skuncertain._numerics.scores.net_benefit import Contrast, RateContrast
from skuncertain.metrics import net_benefit_curve

LEVEL, LOW, PRIOR, ELSEWHERE = 0.95, 0.93, 0.5, 0.1
# Distance of the classes, stretch and shift of the log odds.
MODELS = {
    "good": (2.33, 1.0, 0.0),
    "poor": (0.43, 1.0, 0.0),
    "overconfident": (1.2, 2.0, 0.5),
    "useful": (1.8, 1.0, 0.0),
    "weak": (0.6, 1.0, 0.0),
    "shy": (1.5, 0.5, 0.0),
    "plain": (1.4, 1.0, 0.0),
    "flat": (0.3, 0.6, 0.0),
    "keen": (1.0, 1.6, -0.7),
}
# The rule of the gain was chosen on the first set, that of cells that were not seen on the second;
# the third was written down when all was fixed.
SETS = {
    "first": [
        (20261118, *one)
        for one in product(
            ("good", "poor", "overconfident"),
            (60, 150, 500, 2000),
            (0.05, 0.2, 0.5),
            (0.05, 0.1, 0.2, 0.4, 0.8),
        )
    ],
    "second": [
        (20261119, model, n, prevalence, threshold)
        for model, n, prevalence, times in product(
            ("useful", "weak", "shy"), (80, 250, 800), (0.08, 0.15, 0.35), (0.6, 1.0, 1.3, None)
        )
        for threshold in [0.7 if times is None else round(times * prevalence, 4)]
    ],
    "third": [
        (20261120, *one)
        for one in product(
            ("plain", "flat", "keen"),
            (70, 200, 700, 1500),
            (0.07, 0.12, 0.3, 0.4),
            (0.06, 0.12, 0.3, 0.5, 0.75),
        )
    ],
}
ASKED = ("net_benefit", "difference", "gain", "given prevalence")
CHECKED = 3  # samples of a cell whose ends are asked for, instead of the side of the truth


def rates(model, prevalence, threshold):
    """Shares of both classes that are called positive."""
    distance, stretch, shift = MODELS[model]
    cut = (logit(threshold) - shift) / stretch - logit(prevalence)
    return [norm.sf(cut, side * distance**2 / 2, distance) for side in (1, -1)]


def hits(asked, counts, odds, truth):
    """Whether the truth lies inside, for tables (rows, 4) of tp, fn, fp, tn."""
    tp, fn, fp, tn = counts.T + PRIOR
    one, odds = np.ones(tp.size), np.full(tp.size, odds)
    known = {
        "net_benefit": (Contrast(tp, fp, fn + tn, one, odds), tp > PRIOR, fp > PRIOR),
        "difference": (Contrast(tn, fn, tp + fp, odds, one), tn > PRIOR, fn > PRIOR),
    }
    if asked == "given prevalence":
        shares = ELSEWHERE * one, (1 - ELSEWHERE) * odds
        return np.logical_and(*sides(RateContrast((tp, fn), (fp, tn), *shares), truth))
    if asked in known:
        return np.logical_and(*sides(known[asked][0], truth, *known[asked][1:]))
    # The ends of the gain are the smaller ones of two.
    low, high = zip(*(sides(one, truth, *seen) for one, *seen in known.values()), strict=True)
    return np.logical_or(*low) & np.logical_and(*high)


def sides(one, truth, *seen):
    """Whether the lower end is below the truth, and the upper end above it."""
    truth, tail = np.full(one.mean.size, truth), (1 - LEVEL) / 2
    below = one.cdf(truth, np.arange(truth.size))
    low, high = below >= tail, below <= 1 - tail
    if seen:
        lowest, highest = one.limits(LEVEL)
        low |= ~seen[0] & (lowest <= truth)
        high |= ~seen[1] & (truth <= highest)
    return low, high


def tables_and_truths(model, n, prevalence, threshold, runs, rng):
    """Sampled counts and the true value, for everything that is asked."""
    tpr, fpr = rates(model, prevalence, threshold)
    odds = threshold / (1 - threshold)
    shares = np.array([prevalence * tpr, prevalence * (1 - tpr)])
    shares = np.r_[shares, (1 - prevalence) * fpr, (1 - prevalence) * (1 - fpr)]
    counts = rng.multinomial(n, shares, size=runs)
    benefit = shares[0] - odds * shares[2]
    difference = odds * shares[3] - shares[1]
    yield "net_benefit", counts, benefit
    yield "difference", counts, difference
    yield "gain", counts, min(benefit, difference)
    m1 = round(n * prevalence)
    tp, fp = rng.binomial(m1, tpr, size=runs), rng.binomial(n - m1, fpr, size=runs)
    fixed = np.stack([tp, m1 - tp, fp, n - m1 - fp], axis=1)
    yield "given prevalence", fixed, ELSEWHERE * tpr - odds * (1 - ELSEWHERE) * fpr


def check(asked, table, threshold, truth, inside):
    """Whether the ends of the public function say the same; one class alone has no curve."""
    tp, fn, fp, tn = table
    if tp + fn == 0 or fp + tn == 0:
        return
    y = np.repeat([1, 1, 0, 0], table)
    proba = np.repeat([1.0, 0.0, 1.0, 0.0], table)
    given = ELSEWHERE if asked == "given prevalence" else None
    curve = net_benefit_curve(y, proba, thresholds=[threshold], level=LEVEL, prevalence=given)
    name = asked if asked in curve.low else "net_benefit"
    found = curve.low[name][0] <= truth <= curve.high[name][0]
    assert found == inside, (asked, table, threshold, truth)


def run_cell(seed, number, model, n, prevalence, threshold, runs):
    """Hits of everything that is asked."""
    rng = np.random.default_rng([seed, number])
    found = {}
    for asked, counts, truth in tables_and_truths(model, n, prevalence, threshold, runs, rng):
        different, where = np.unique(counts, axis=0, return_inverse=True)
        inside = hits(asked, different, threshold / (1 - threshold), truth)[where.ravel()]
        for k in range(CHECKED):
            check(asked, counts[k], threshold, truth, inside[k])
        found[asked] = int(inside.sum())
    return found


def is_low(hits, runs):
    return bool(beta.ppf(0.99, hits + 1, runs - hits) < LOW) if hits < runs else False


def summary(cells, runs):
    """Rows of a table: what is asked, with enough rows and elsewhere."""
    yield ["asked", "rows", "cells", "mean", "least", "94 to 97 %", "low"]
    for asked in ASKED:
        for enough in (True, False):
            hits = np.array([found[asked] for *_, found, some in cells if some == enough])
            share = 100 * hits / runs
            lows = sum(is_low(one, runs) for one in hits)
            middle = ((share >= 94) & (share <= 97)).sum()
            where = "enough" if enough else "fewer"
            yield [
                asked,
                where,
                len(hits),
                f"{share.mean():.1f}",
                f"{share.min():.1f}",
                middle,
                lows,
            ]


def lows(cells, runs):
    """Rows of a table: every low cell."""
    yield ["asked", "model", "n", "prevalence", "threshold", "coverage", "rows"]
    for model, n, prevalence, threshold, found, enough in cells:
        for asked in ASKED:
            if is_low(found[asked], runs):
                share = f"{100 * found[asked] / runs:.1f}"
                where = "enough" if enough else "fewer"
                yield [asked, model, n, prevalence, threshold, share, where]


def as_list_table(title, rows):
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if k == 0 else '  -'} {text}" for k, text in enumerate(row)]
    return "\n".join(lines) + "\n"


def low_table(name, rows):
    if len(rows) == 1:
        return f"No cell of the {name} set is low.\n"
    return as_list_table(f"Net benefit: low cells, {name} set", rows)


def run_set(name, runs):
    """All cells of a set, with what was found and whether there are enough rows."""
    cells = []
    for number, (seed, model, n, prevalence, threshold) in enumerate(SETS[name]):
        found = run_cell(seed, number, model, n, prevalence, threshold, runs)
        tpr, fpr = rates(model, prevalence, threshold)
        called = n * (prevalence * tpr + (1 - prevalence) * fpr)
        enough = bool(n * prevalence >= 10 and called >= 10)
        cells.append((model, n, prevalence, threshold, found, enough))
        texts = [f"{asked} {100 * hits / runs:.1f}" for asked, hits in found.items()]
        where = "enough" if enough else "fewer"
        print(model, n, prevalence, threshold, where, *texts, sep=" | ", flush=True)
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="samples per cell")
    parser.add_argument("--set", choices=SETS, nargs="+", default=list(SETS))
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    args = parser.parse_args()
    for name in args.set:
        cells = run_set(name, args.runs)
        about = f"{name} set, {len(cells)} cells of {args.runs:,} samples"
        title = f"Net benefit: coverage of 95 % intervals in %, {about}"
        tables = {
            f"net_benefit_{name}": as_list_table(title, summary(cells, args.runs)),
            f"net_benefit_{name}_low": low_table(name, list(lows(cells, args.runs))),
        }
        for file, text in tables.items():
            print(text)
            if args.write:
                (args.write / f"{file}.rst.inc").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
