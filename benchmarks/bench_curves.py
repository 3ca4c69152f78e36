"""Areas under curves and bands: cost, and how often they hold the truth.

Times are CPU time of one thread, the median of repetitions; the two sides of a ratio alternate.
Coverage is that of 95 % intervals and bands for binormal scores, with its standard error in
brackets. Run: python benchmarks/bench_curves.py [replications, default 2000]
"""

import argparse
import statistics
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.metrics import average_precision_score, roc_auc_score
from timing import cpu, cpu_pair, seconds

from skuncertain.comparison import compare_auc
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    precision_recall_band,
    proportion_posterior,
    roc_band,
)

SEED = 0
N, N_DRAWS = 100_000, 1000
AREAS = (0.63, 0.86, 0.93, 0.97)
SIZES = ((50, 50), (100, 100), (15, 200))
FEW_SIZES, FEW_AREAS = (
    ((15, 200), (30, 1000)),
    (0.63, 0.8, 0.84, 0.86, 0.91, 0.93, 0.97, 0.99, 0.998),
)
BAND_AREA, BAND_SIZES = 0.9, ((50, 50), (200, 200), (50, 500))
GRID = np.linspace(0, 1, 501)


def line(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def header(title, *cells):
    print(f"\n{title}\n")
    line(*cells)
    line(*["---"] * len(cells))


def share(hits):
    """Share of hits with its standard error."""
    p, n = np.mean(hits), len(hits)
    return f"{p:.3f} ({np.sqrt(max(p * (1 - p), 1 / n) / n):.3f})"


# --------------------------------------------------------------------------------------------------
# Cost


def faster(name, ours, baseline, at_least=None):
    ratio = baseline / ours
    goal = "report only" if at_least is None else f">= {at_least:g} x"
    verdict = "" if at_least is None else "ok" if ratio >= at_least else "behind"
    line(name, seconds(ours), f"{seconds(baseline)}, {ratio:.3g} x", goal, verdict)


def limit(name, ours, at_most):
    line(name, seconds(ours), "", f"< {at_most:g} s", "ok" if ours < at_most else "behind")


def cost():
    header(f"Cost, {N:,} rows", "what", "ours", "baseline", "goal", "")
    rng = np.random.default_rng(SEED)
    for name, prevalence in (("balanced", 0.5), ("1 % positives", 0.01)):
        y = (rng.random(N) < prevalence).astype(int)
        score = 1.8 * y + rng.normal(size=N)
        other = 0.8 * score + 0.5 * rng.normal(size=N)

        def plain(y=y, score=score):
            return roc_auc_score(y, score)

        def ours(y=y, score=score, **options):
            return auc_posterior(y, score, **options).interval()

        assert abs(auc_posterior(y, score).observed - plain()) < 1e-9
        times = cpu_pair(ours, plain, 11)
        faster(f"auc_posterior, {name}, vs roc_auc_score alone", *times, 1)
        times = cpu_pair(lambda: ours(method="bayesian_bootstrap"), plain, 11)
        faster(f"the same, Bayesian bootstrap without draws, {name}", *times, 1)
        drawn = cpu(lambda: ours(method="bayesian_bootstrap", n_draws=N_DRAWS, random_state=SEED))
        weights = [rng.standard_exponential(N) for _ in range(5)]
        weighted = [
            cpu(lambda w=w, y=y, s=score: roc_auc_score(y, s, sample_weight=w)) for w in weights
        ]
        faster(
            f"{N_DRAWS:,} draws of the Bayesian bootstrap, {name}, vs weighted roc_auc_score x "
            f"{N_DRAWS:,} (from 5)",
            drawn,
            N_DRAWS * statistics.median(weighted),
            2,
        )
        times = cpu_pair(
            lambda y=y, a=score, b=other: compare_auc(y, a, b),
            lambda y=y, a=score, b=other: (roc_auc_score(y, a), roc_auc_score(y, b)),
            7,
        )
        faster(f"compare_auc, {name}, vs two roc_auc_score", *times, 1)
        times = cpu_pair(
            lambda y=y, s=score: average_precision_posterior(y, s).interval(),
            lambda y=y, s=score: average_precision_score(y, s),
            7,
        )
        faster(f"average_precision_posterior, {name}, vs average_precision_score", *times, 1)
        first = cpu(lambda y=y, s=score: roc_band(y, s))
        limit(f"roc_band, {name}, the first of these class counts", first, 2)
        limit(f"roc_band, {name}, again", cpu(lambda y=y, s=score: roc_band(y, s)), 2)


# --------------------------------------------------------------------------------------------------
# Coverage


def distance(area):
    return np.sqrt(2) * norm.ppf(area)


def labels_and_scores(rng, runs, area, m1, m0):
    y = np.repeat([1, 0], [m1, m0])
    return y, distance(area) * y + rng.normal(size=(runs, y.size))


def between_pointwise_bands(y, score, tables):
    """Areas under pointwise ROC bands, as if they were an interval for the area.

    Jeffreys intervals of the true positive rate at the observed false positive rates, and boxes of
    both rates at every threshold.
    """
    y = y.astype(bool)
    cuts = np.r_[np.inf, np.sort(score)[::-1]]
    found = []
    for part, (low, high) in zip((score[~y], score[y]), tables, strict=True):
        reached = part.size - np.searchsorted(np.sort(part), cuts)
        found.append((reached / part.size, low[reached], high[reached]))
    (fpr, fpr_low, fpr_high), (_, low, high) = found
    vertical = np.trapezoid(low, fpr), np.trapezoid(high, fpr)
    ends = [np.r_[0.0, fpr_high, 1.0], np.r_[0.0, fpr_low, 1.0]]
    both = (
        np.trapezoid(np.r_[0.0, low, low[-1]], ends[0]),
        np.trapezoid(np.r_[high[0], high, 1.0], ends[1]),
    )
    return vertical, both


def between_ellipses(y, score, tables):
    """Areas under the curves that bob.measure draws around a ROC curve.

    Every point (true negative rate, true positive rate) is moved towards the origin and away from
    it, to the edge of the ellipse whose half axes are the distances to the ends of the intervals of
    the two rates (flat prior).
    """
    y = y.astype(bool)
    cuts = np.r_[-np.inf, np.sort(score), np.inf]
    negative, positive = np.sort(score[~y]), np.sort(score[y])
    true = np.searchsorted(negative, cuts), positive.size - np.searchsorted(positive, cuts)
    rates = np.array([k / part.size for k, part in zip(true, (negative, positive), strict=True)])
    found = []
    for end, sign in ((0, -1), (1, 1)):
        axes = [table[end][k] for table, k in zip(tables, true, strict=True)]
        axes = np.maximum(sign * (np.array(axes) - rates), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            move = 1 / np.sqrt(((rates / axes) ** 2).sum(axis=0))
        x, height = rates * (1 + sign * np.nan_to_num(move))
        found.append(abs(np.trapezoid(height, x)))
    return tuple(found)


def intervals_of_rates(m, prior="jeffreys"):
    """Pointwise intervals of a rate for 0, ..., m hits."""
    hits = np.arange(m + 1)
    return proportion_posterior(hits, m - hits, prior=prior).interval()


METHODS = {
    "default: logit_delong": {},
    "bayesian_bootstrap": {"method": "bayesian_bootstrap"},
    "delong": {"method": "delong"},
}


def areas(runs):
    header(
        f"Area under the curve: coverage of 95 % intervals (s.e.) and mean length, {runs:,} runs",
        *("area", "rows", "method", "coverage", "below / above the truth", "length", "x default"),
    )
    for area in AREAS:
        for m1, m0 in SIZES:
            rng = np.random.default_rng([SEED, int(1000 * area), m1, m0])
            y, scores = labels_and_scores(rng, runs, area, m1, m0)
            found = {
                name: [auc_posterior(y, score, **options).interval() for score in scores]
                for name, options in METHODS.items()
            }
            tables = intervals_of_rates(m0), intervals_of_rates(m1)
            flat = intervals_of_rates(m0, "laplace"), intervals_of_rates(m1, "laplace")
            peers = [between_pointwise_bands(y, score, tables) for score in scores]
            found["area between pointwise bands of the TPR"] = [one for one, _ in peers]
            found["area between pointwise bands of both rates"] = [both for _, both in peers]
            found["area between ellipses, as bob.measure"] = [
                between_ellipses(y, score, flat) for score in scores
            ]
            first = None
            for name, intervals in found.items():
                low, high = np.array(intervals).T
                length = np.mean(high - low)
                first = length if first is None else first
                line(
                    area,
                    f"{m1}+{m0}",
                    name,
                    share((low <= area) & (area <= high)),
                    f"{np.mean(high < area):.3f} / {np.mean(low > area):.3f}",
                    f"{length:.4f}",
                    f"{length / first:.2f}",
                )


def few_positives(runs):
    header(
        f"Area, few positives: coverage of the default 95 % interval (s.e.), {runs:,} runs",
        *("area", *(f"{m1}+{m0}" for m1, m0 in FEW_SIZES)),
    )
    for area in FEW_AREAS:
        cells = []
        for m1, m0 in FEW_SIZES:
            rng = np.random.default_rng([SEED, int(1000 * area), m1, m0])
            y, scores = labels_and_scores(rng, runs, area, m1, m0)
            low, high = np.array([auc_posterior(y, score).interval() for score in scores]).T
            cells.append(share((low <= area) & (area <= high)))
        line(area, *cells)


def average_precisions(runs):
    header(
        f"Average precision: coverage of 95 % intervals (s.e.), random prevalence, {runs:,} runs",
        *("area", "rows", "prevalence", "coverage", "length"),
    )
    for area, n, prevalence in ((0.75, 200, 0.5), (0.86, 200, 0.3), (0.93, 400, 0.1)):
        rng = np.random.default_rng([SEED, n, int(100 * area)])
        many = rng.random(2_000_000) < prevalence
        truth = average_precision_score(many, distance(area) * many + rng.normal(size=many.size))
        intervals = []
        for _ in range(runs):
            y = rng.random(n) < prevalence
            score = distance(area) * y + rng.normal(size=n)
            intervals.append(average_precision_posterior(y, score).interval())
        low, high = np.array(intervals).T
        inside = share((low <= truth) & (truth <= high))
        line(area, n, prevalence, inside, f"{np.mean(high - low):.4f}")


def dkw(y, score, level=0.95):
    """Hull of the boxes by Dvoretzky, Kiefer and Wolfowitz on the grid."""
    y = y.astype(bool)
    cuts = np.r_[np.inf, np.sort(score)[::-1]]
    rates = []
    for part in (score[~y], score[y]):
        half = np.sqrt(np.log(2 / (1 - np.sqrt(level))) / (2 * part.size))
        reached = (part.size - np.searchsorted(np.sort(part), cuts)) / part.size
        rates.append((np.maximum(reached - half, 0), np.minimum(reached + half, 1)))
    (fpr_low, fpr_high), (tpr_low, tpr_high) = rates
    below = np.searchsorted(fpr_high, GRID, side="right") - 1
    low = np.where(below >= 0, tpr_low[below], 0.0)
    return low, tpr_high[np.searchsorted(fpr_low, GRID, side="right") - 1]


def steps(x):
    """Next to both ends of every step, where a band is nearest to a rising curve."""
    return np.clip(np.r_[x[:-1] + 1e-12, x[1:] - 1e-12], 1e-12, 1 - 1e-12)


def bands(runs):
    header(
        f"ROC bands, area {BAND_AREA}: share of runs with the whole curve inside (s.e.) and mean "
        f"width, {runs:,} runs",
        *("positives + negatives", "band", "whole curve", "one rate (0.1)", "width", "x DKW"),
    )
    d = distance(BAND_AREA)
    whole, point = norm.cdf(d + norm.ppf(GRID)), int(np.flatnonzero(np.isclose(GRID, 0.1))[0])
    for m1, m0 in BAND_SIZES:
        rng = np.random.default_rng([SEED, m1, m0])
        y, scores = labels_and_scores(rng, runs, BAND_AREA, m1, m0)
        table = {}
        for score in scores:
            for name in ("simultaneous",):
                found = roc_band(y, score, band=name)
                x = steps(found.fpr)
                (low, high), truth = found.at(x), norm.cdf(d + norm.ppf(x))
                inside = np.all((low <= truth) & (truth <= high))
                low, high = found.at(GRID)
                one = low[point] <= whole[point] <= high[point]
                table.setdefault(name, []).append((inside, one, np.mean(high - low)))
            low, high = dkw(y, score)
            inside = np.all((low <= whole) & (whole <= high))
            one = low[point] <= whole[point] <= high[point]
            table.setdefault("DKW", []).append((inside, one, np.mean(high - low)))
        reference = np.mean(table["DKW"], axis=0)[2]
        for name, values in table.items():
            inside, one, width = np.array(values).T
            line(
                f"{m1} + {m0}",
                name,
                share(inside),
                share(one),
                f"{width.mean():.4f} ({width.std() / np.sqrt(runs):.4f})",
                f"{width.mean() / reference:.3f}",
            )


def precision_recall_bands(runs):
    header(
        f"Precision-recall bands, area {BAND_AREA}, random prevalence: whole curve inside (s.e.), "
        f"{runs:,} runs",
        *("rows", "prevalence", "band", "whole curve", "mean width"),
    )
    d = distance(BAND_AREA)
    for n, prevalence in ((120, 0.4), (300, 0.1)):
        for name in ("simultaneous",):
            rng = np.random.default_rng([SEED, n])
            inside, widths = [], []
            for _ in range(runs):
                y = rng.random(n) < prevalence
                found = precision_recall_band(y, d * y + rng.normal(size=n), band=name)
                x = steps(found.recall)
                false = norm.cdf(norm.ppf(x) - d)
                truth = prevalence * x / (prevalence * x + (1 - prevalence) * false)
                low, high = found.at(x)
                inside.append(np.all((low <= truth + 1e-9) & (truth <= high + 1e-9)))
                low, high = found.at(GRID[1:])
                widths.append(np.mean(high - low))
            line(n, prevalence, name, share(inside), f"{np.mean(widths):.4f}")


def ties(runs):
    header(
        f"ROC bands of scores with few values, area {BAND_AREA}: whole curve, with straight lines "
        f"between its corners (s.e.), {runs:,} runs",
        *("positives + negatives", "values", "simultaneous", "DKW"),
    )
    d = distance(BAND_AREA)
    for m in (50, 200):
        for cuts in (np.array([0.9]), np.linspace(-0.5, 2.5, 4), np.linspace(-2, 4, 31)):
            rng = np.random.default_rng([SEED, m, cuts.size])
            y, scores = labels_and_scores(rng, runs, BAND_AREA, m, m)
            fpr, tpr = (np.r_[0, norm.sf(cuts - shift)[::-1], 1] for shift in (0, d))
            truth, ours, theirs = np.interp(GRID, fpr, tpr), [], []
            for score in np.digitize(scores, cuts):
                for ends, hits in (
                    (roc_band(y, score).at(GRID), ours),
                    (dkw(y, score), theirs),
                ):
                    low, high = ends
                    hits.append(np.all((low <= truth + 1e-9) & (truth <= high + 1e-9)))
            line(f"{m} + {m}", cuts.size + 1, share(ours), share(theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=2000, help="replications per line")
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", DegenerateIntervalWarning)  # of method="delong"
    cost()
    areas(runs)
    few_positives(runs)
    average_precisions(runs)
    bands(max(runs // 5, 20))
    precision_recall_bands(max(runs // 5, 20))
    ties(max(runs // 10, 20))


if __name__ == "__main__":
    main()
