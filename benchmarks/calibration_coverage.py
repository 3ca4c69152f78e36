"""Calibration bands: how often intervals hold the truth, in bins and for slope and intercept.

Rows are drawn from populations in which the probability of every row is known. The truth of a bin
is the mean true probability of the rows that fell into it; that of slope and intercept the line
that turns predicted logits into true ones. *In the large*: the intercept that makes the mean
prediction right, and the mean true probability less the mean predicted one, of the rows of the
sample. Samples with a single class are drawn again. In folds the truth of slope and intercept is
the line that fits the true probabilities of the rows best.

A cell is *low* if its coverage lies below 93 % for sure: the one-sided 99 % upper limit of Clopper
and Pearson is below. Cells of the part "earlier" were looked at while the rules were written; all
others were written down before they were run.

    python benchmarks/calibration_coverage.py [--part bins ...] [--results folder] [--write folder]
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tables import restructured

from skuncertain import BayesianCrossValidator
from skuncertain._numerics.scores.calibration import ShiftedMean, bin_edges, bin_numbers
from skuncertain.exceptions import FoldDisagreementWarning
from skuncertain.metrics import calibration_band, proportion_posterior

SEED, LEVEL, LOW, BINS = 20261119, 0.95, 0.93, 10
SIZES = (100, 300, 1000, 5000)
STRATEGIES = ("quantile", "uniform")
COEFFICIENTS = ("slope", "intercept", "intercept_in_the_large", "observed_minus_predicted")
RUNS = {"bins": 2000, "coefficients": 1000, "earlier": 300, "folds": 100}


class Line:
    """Normal logits of the predictions; true logits are a line of them."""

    def __init__(self, centre, spread, intercept=0.0, slope=1.0):
        self.centre, self.spread, self.intercept, self.slope = centre, spread, intercept, slope

    def draw(self, rng, n):
        x = rng.normal(self.centre, self.spread, n)
        return expit(x), expit(self.intercept + self.slope * x)


class Votes:
    """True probabilities, predicted by the share of votes of 40 trees that agree by chance."""

    def draw(self, rng, n):
        true = rng.beta(0.6, 0.9, n)
        return rng.binomial(40, true) / 40, true


class Bent:
    """Predictions whose truth is no line of logits."""

    def draw(self, rng, n):
        p = rng.beta(1.5, 1.5, n)
        return p, np.where(p < 0.5, p**2, 0.9 * p)


KINDS = {
    "calibrated": Line(0.0, 1.5),
    "overconfident": Line(0.2, 2.6, 0.0, 0.5),
    "underconfident": Line(-0.3, 0.7, 0.0, 1.9),
    "too low": Line(-1.0, 1.2, 0.8, 1.0),
    "rare, 5 %": Line(-3.4, 1.0),
    "rare, 2 %, overconfident": Line(-5.0, 1.7, -1.2, 0.65),
    "votes of 40 trees": Votes(),
    "bent": Bent(),
}
EARLIER = {"flat": Line(0.5, 0.9, 0.3, 0.8), "rare, 8 %": Line(-2.8, 0.8, 0.0, 1.2)}
OF_COEFFICIENTS = [
    ("calibrated", 100),
    ("calibrated", 500),
    ("overconfident", 100),
    ("rare, 5 %", 500),
    ("rare, 2 %, overconfident", 500),
    ("too low", 100),
    ("underconfident", 100),
]


def sample(kind, n, rng):
    """Predicted and true probabilities, and labels of two classes."""
    while True:
        p, true = kind.draw(rng, n)
        y = rng.random(n) < true
        if 0 < y.sum() < n:
            return p, true, y


def bins(name, n, runs):
    """Hits and tries of every bin, and mean width, by strategy."""
    rng = np.random.default_rng([SEED, 1, list(KINDS).index(name), n])
    counts = {strategy: np.zeros((runs, 3, BINS)) for strategy in STRATEGIES}
    for run in range(runs):
        p, true, y = sample(KINDS[name], n, rng)
        for strategy, found in counts.items():
            number = bin_numbers(p, bin_edges(p, BINS, strategy))
            for k, weights in enumerate((y, ~y, true)):
                found[run, k] = np.bincount(number, weights, minlength=BINS)
    result = {}
    for strategy, found in counts.items():
        hits, misses, true = np.moveaxis(found, 1, 0)
        rows = hits + misses
        low, high = proportion_posterior(hits, misses).interval(LEVEL)
        truth = true / np.maximum(rows, 1)
        inside = (low <= truth) & (truth <= high) & (rows > 0)
        width = ((high - low) * (rows > 0)).sum() / (rows > 0).sum()
        result[strategy] = {
            "hits": inside.sum(axis=0).tolist(),
            "tries": (rows > 0).sum(axis=0).tolist(),
            "width": float(width),
        }
    return result


def in_the_large(p, true):
    """Intercept of slope 1 that makes the mean right, and the difference of the means."""
    mean = ShiftedMean(logit(p), np.ones(p.size), 0.0)
    return float(mean.to_line(true.mean())), true.mean() - p.mean()


def coefficients(name, n, runs, kinds=KINDS, part=2):
    """Hits and mean width of slope and intercepts."""
    rng = np.random.default_rng([SEED, part, list(kinds).index(name), n])
    kind, found = kinds[name], []
    for _ in range(runs):
        p, true, y = sample(kind, n, rng)
        found.append(ends(calibration_band(y, p), (kind.slope, kind.intercept), p, true))
    return summary(found)


def ends(band, line, p, true):
    """Whether every interval holds its truth, how wide it is, and on which side it errs."""
    row = []
    for name, truth in zip(COEFFICIENTS, (*line, *in_the_large(p, true)), strict=True):
        low, high = getattr(band, name).interval(LEVEL)
        row.append((low <= truth <= high, high - low, truth < low))
    return row


def summary(found):
    table = np.array(found, dtype=float)
    return {
        "hits": table[:, :, 0].sum(axis=0).tolist(),
        "width": np.median(table[:, :, 1], axis=0).tolist(),
        "too_high": table[:, :, 2].sum(axis=0).tolist(),
    }


def earlier(name, n, runs):
    return coefficients(name, n, runs, EARLIER, 3)


LEARNERS = {
    "naive Bayes": GaussianNB(),
    "logistic": LogisticRegression(),
    "small tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
}
OF_FOLDS = [(f"{name}, {k} folds", n) for name in LEARNERS for k, n in [(5, 200)]]


def best_line(p, true):
    """Intercept and slope that fit true probabilities best, whatever y was drawn."""
    rows = np.stack([np.ones(p.size), logit(np.clip(p, 1e-6, 1 - 1e-6))], axis=1)

    def loss(theta):
        eta = rows @ theta
        return np.logaddexp(0, eta).sum() - true @ eta, rows.T @ (expit(eta) - true)

    def hessian(theta):
        rate = expit(rows @ theta)
        return (rows * (rate * (1 - rate))[:, None]).T @ rows

    found = minimize(loss, np.zeros(2), jac=True, hess=hessian, method="trust-exact")
    assert np.abs(found.jac).max() < 1e-3 * len(p) ** 0.5, found
    return found.x[::-1]


def folds(name, n, runs):
    """The same of cross-validations, with the bins of all runs together."""
    rng = np.random.default_rng([SEED, 4, [one for one, _ in OF_FOLDS].index(name), n])
    learner, k = name.split(", ")
    found, in_bins, tries = [], np.zeros(BINS), np.zeros(BINS)
    for _ in range(runs):
        X = rng.normal(size=(n, 4))
        X[:, 3] = X[:, 0] + 0.5 * X[:, 3]  # what naive Bayes counts twice
        true = expit(-0.5 + 1.2 * X[:, 0] - 0.8 * X[:, 1])
        y = rng.random(n) < true
        validator = BayesianCrossValidator(
            LEARNERS[learner], cv=int(k.split()[0]), keep_predictions=True, refit=False
        ).fit(X, y)
        band = calibration_band(y, validator)
        p = np.empty(n)
        for test, part in zip(
            validator.cv_results_["indices"]["test"], validator.scores_, strict=True
        ):
            p[test] = part[:, 1]
        number = np.unique(bin_numbers(p, bin_edges(p, BINS, "quantile")), return_inverse=True)[1]
        truth = np.bincount(number, true) / np.bincount(number)
        inside = (band.low <= truth) & (truth <= band.high)
        in_bins[: truth.size] += inside
        tries[: truth.size] += 1
        clipped = np.clip(p, 1e-6, 1 - 1e-6)
        found.append(ends(band, best_line(p, true), clipped, true - p + clipped))
    return {**summary(found), "in_bins": in_bins.tolist(), "tries": tries.tolist()}


PARTS = {
    "bins": (bins, [(name, n) for name in KINDS for n in SIZES]),
    "earlier": (earlier, [(name, n) for name in EARLIER for n in (150, 600)]),
    "coefficients": (coefficients, OF_COEFFICIENTS),
    "folds": (folds, OF_FOLDS),
}


def is_low(hits, runs):
    return hits < runs and beta.ppf(0.99, hits + 1, runs - hits) < LOW


def percent(hits, runs):
    return f"{100 * hits / runs:.1f}{' low' if is_low(hits, runs) else ''}"


def bin_rows(results):
    for (name, n), found in results.items():
        row = [name, n]
        for strategy in STRATEGIES:
            hits, tries = (np.array(found[strategy][key]) for key in ("hits", "tries"))
            seen = np.flatnonzero(tries >= 100)  # a bin that is hardly ever seen tells nothing
            worst = seen[np.argmin(hits[seen] / tries[seen])]
            low = sum(is_low(hits[k], tries[k]) for k in seen)
            row += [
                percent(hits.sum(), tries.sum()),
                percent(hits[worst], tries[worst]),
                f"{low} of {seen.size}",
            ]
        yield row


def coefficient_rows(results, runs):
    for (name, n), found in results.items():
        bins = [percent(sum(found["in_bins"]), sum(found["tries"]))] if "in_bins" in found else []
        yield [name, n, *bins, *(percent(hits, runs) for hits in found["hits"])]


def run(part, runs, folder):
    simulate, cells = PARTS[part]
    results = {}
    for name, n in cells:
        file = folder / f"{part}-{name.replace(' ', '_')}-{n}-{runs}.json"
        if not file.exists():
            file.write_text(json.dumps(simulate(name, n, runs)), encoding="utf-8")
        results[name, n] = json.loads(file.read_text(encoding="utf-8"))
        print(part, name, n, results[name, n], flush=True)
    return results


def table(part, results, runs):
    if part == "bins":
        head = [f"{s}: {what}" for s in STRATEGIES for what in ("all bins", "worst bin", "low")]
        return restructured(["population", "rows", *head], bin_rows(results))
    head = ["slope", "intercept", "in the large", "observed - predicted"]
    head = ["bins", *head] if part == "folds" else head
    return restructured(["population", "rows", *head], coefficient_rows(results, runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / ".results")
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    args = parser.parse_args()
    warnings.simplefilter("ignore", FoldDisagreementWarning)
    args.results.mkdir(parents=True, exist_ok=True)
    for part in args.part:
        text = table(part, run(part, RUNS[part], args.results), RUNS[part])
        print(text)
        if args.write is not None:
            (args.write / f"calibration_{part}.rst.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
