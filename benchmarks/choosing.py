"""What is said about the best of many: P(best), the corrected score and its interval.

Leaderboards are simulated from known true rates, searches by fitting learners on samples of a
population. The rule that shrinks P(best) was chosen with "boards", "later", "third" and "searches"
in sight: on normal errors around such true values, and on the six of the nine searches that are
cheap (without the larger SVC, the trees and the Bayes classifiers of noise). "fresh" and "fresh
searches" have other shapes, sizes, learners, populations and seeds, and were written down and
committed before the rule was run on them.

P(best). "stated" is the mean P(best) of the leader, the tie group with the highest one; "right" how
often it is the best in truth (if several lead together, the mean of these: none of them is called).
The truth of a leaderboard is the rate of the model in the population
(twenty equal models: any call is 1/20 right). The truth of a search is the mean accuracy of the
candidate over training sets of the size of a fold's, here 300 of them: a call is as right as the
share of 2,000 bootstrap samples of these sets in which the candidate is the best (all candidates
alike if labels are noise). Brier is the mean of sum (p - y)^2 over tie groups, y the same truth.

The selected candidate is the one with the highest mean. "bias" is the mean of its score less the
accuracy of that candidate refitted on all rows, in the population; "covered" how often an interval
at 95 % holds that.

    python benchmarks/choosing.py [--part fresh searches ...] [--keep folder]
        [--write docs/benchmark_tables]
"""

import argparse
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import sklearn
from lab import generators as g
from scipy.special import expit, logit
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid, RepeatedStratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from tables import restructured

from skuncertain import ConfusionCounts, leaderboard, search_posterior

SEED = 20_260
BOARDS, LATER, SEARCHES, TRAINING_SETS, BOOTSTRAP = 600, 400, 300, 300, 2_000
DRAWS = 2_000


# --------------------------------------------------------------------------------------------------
# Leaderboards: true rates, and what m models did


def spread(name, m, rng):
    """Log-odds of m models around those of 80 %."""
    if name == "equal":
        return np.full(m, logit(0.8))
    how, scale = name.split()
    scale = float(scale)
    z = {
        "triangular": lambda: rng.triangular(-2.4, 0, 2.4, m),
        "clusters": lambda: -3 * rng.integers(0, 2, m) + 0.6 * rng.normal(size=m),
        "student": lambda: rng.standard_t(4, m),
        "logistic": lambda: rng.logistic(size=m),
        "weibull": lambda: -rng.weibull(1.5, m),  # many that are nearly as good as possible
        "gamma": lambda: rng.gamma(2.0, size=m),  # a few that stand out
        "normal": lambda: rng.normal(size=m),
        "secant": lambda: 2 / np.pi * np.log(np.tan(np.pi / 2 * rng.random(m))),
        "beta": lambda: (rng.beta(2, 4, m) - 1 / 3) / 0.178,
        "laplace": lambda: rng.laplace(size=m) / np.sqrt(2),
        "uniform": lambda: np.sqrt(12) * (rng.random(m) - 0.5),
        "student7": lambda: rng.standard_t(7, m),
        "half": lambda: -np.abs(rng.normal(size=m)),  # many that are nearly as good as possible
        "trio": lambda: rng.normal(size=3)[np.arange(m) % 3] + 0.5 * rng.normal(size=m),
        "reversed": lambda: -rng.gamma(1.5, size=m),  # many good
        "edge": lambda: -rng.beta(1.2, 3.0, m),  # many good
        "gumbel": lambda: rng.gumbel(size=m),
        "hat": lambda: 2 * rng.beta(2, 2, m) - 1,
        "student5": lambda: rng.standard_t(5, m),
        # variants of four architectures
        "families": lambda: rng.normal(size=4)[np.arange(m) % 4] + 0.4 * rng.normal(size=m),
    }[how]()
    return logit(0.8) + scale * z


def rows_alike(odds, n, difficulty, rng):
    """Right answers of models to the same rows, of which some are hard for all, some for a few.

    The rates have the order of the odds.
    """
    hard = difficulty * rng.logistic(size=(n, 1))
    angle = 2 * np.pi * rng.random(odds.size)
    kind = rng.normal(size=(n, 2)) @ np.stack([np.cos(angle), np.sin(angle)])
    rate = expit(odds + hard + 0.5 * kind)
    return rng.random(rate.shape) < rate


# Models, rows (or their limits), shape of the log-odds, difficulty of rows.
SHARED = {
    "10 models, 300 shared rows": (10, 300, "triangular 0.3", 1.0),
    "25 models, 500 shared rows, two clusters": (25, 500, "clusters 0.25", 1.5),
    "16 models, 150 shared rows": (16, 150, "student 0.3", 0.7),
    "20 equal models, 250 shared rows": (20, 250, "equal", 1.0),
}
INDEPENDENT = {
    "15 models, 200 to 600 rows each": (15, (200, 600), "logistic 0.2"),
    "40 models, 150 rows each, many good": (40, (150, 150), "weibull 0.6"),
    "7 models, 500 rows each, few good": (7, (500, 500), "gamma 0.15"),
    "20 equal models, 300 rows each": (20, (300, 300), "equal"),
}

# Written after the boards above had been seen, which did not lead to another rule.
LATER_SHARED = {
    "12 models, 1,000 shared rows, normal": (12, 1_000, "normal 0.15", 1.2),
    "30 models, 400 shared rows, normal": (30, 400, "normal 0.15", 1.0),
    "6 models, 250 shared rows, normal": (6, 250, "normal 0.2", 0.8),
    "16 models, 600 shared rows, four families": (16, 600, "families 0.2", 1.0),
    "20 equal models, 600 shared rows": (20, 600, "equal", 1.3),
}
LATER_INDEPENDENT = {
    "9 models, 800 rows each, normal": (9, (800, 800), "normal 0.12"),
    "18 models, 100 to 2,000 rows each": (18, (100, 2_000), "secant 0.15"),
    "50 models, 1,000 rows each, normal": (50, (1_000, 1_000), "normal 0.15"),
    "10 models, 400 rows each, skewed": (10, (400, 400), "beta 0.2"),
    "20 equal models, 1,000 rows each": (20, (1_000, 1_000), "equal"),
}


THIRD_SHARED = {
    "14 models, 500 shared rows, normal": (14, 500, "normal 0.18", 0.9),
    "8 models, 800 shared rows, Laplace": (8, 800, "laplace 0.12", 1.1),
    "40 models, 300 shared rows, normal": (40, 300, "normal 0.2", 1.0),
    "20 equal models, 400 shared rows": (20, 400, "equal", 0.9),
    "24 models, 700 shared rows, three families": (24, 700, "trio 0.15", 1.2),
}
THIRD_INDEPENDENT = {
    "11 models, 300 rows each, uniform": (11, (300, 300), "uniform 0.15"),
    "5 models, 1,500 rows each, normal": (5, (1_500, 1_500), "normal 0.1"),
    "22 models, 250 to 1,500 rows each": (22, (250, 1_500), "student7 0.18"),
    "20 equal models, 150 rows each": (20, (150, 150), "equal"),
    "30 models, 400 rows each, many good": (30, (400, 400), "half 0.3"),
}


# Written for the rule that was chosen with all of the boards above in sight, before its run.
FRESH_SHARED = {
    "18 models, 200 shared rows, logistic": (18, 200, "logistic 0.15", 0.8),
    "20 equal models, 150 shared rows": (20, 150, "equal", 1.1),
    "26 models, 250 shared rows, many good": (26, 250, "reversed 0.25", 1.0),
}
FRESH_INDEPENDENT = {
    "13 models, 700 rows each, Gumbel": (13, (700, 700), "gumbel 0.12"),
    "28 models, 600 rows each, many good": (28, (600, 600), "edge 0.9"),
    "35 models, 500 rows each, normal": (35, (500, 500), "normal 0.18"),
    "10 models, 900 rows each, bounded": (10, (900, 900), "hat 0.35"),
    "17 models, 300 to 900 rows each, Student": (17, (300, 900), "student5 0.15"),
    "30 equal models, 200 rows each": (30, (200, 200), "equal"),
}


def run_board(name, number):
    """Stated, right, Brier and that of the uniform vector, of both rules."""
    shared = SHARED | LATER_SHARED | THIRD_SHARED | FRESH_SHARED
    independent = INDEPENDENT | LATER_INDEPENDENT | THIRD_INDEPENDENT | FRESH_INDEPENDENT
    many = SHARED | INDEPENDENT | FRESH_SHARED | FRESH_INDEPENDENT
    rng = np.random.default_rng([SEED, number])
    found = []
    for _ in range(BOARDS if name in many else LATER):
        if name in shared:
            m, n, shape, difficulty = shared[name]
            odds = spread(shape, m, rng)
            right = rows_alike(odds, n, difficulty, rng)
            truth = odds
            given = {"results": list(right.T.astype(int)), "y_true": np.ones(n, int)}
            given |= {"labels": [0, 1], "n_draws": DRAWS}
        else:
            m, (low, high), shape = independent[name]
            truth = odds = spread(shape, m, rng)
            n = rng.integers(low, high + 1, m)
            hits = rng.binomial(n, expit(odds))
            given = {
                "results": [
                    ConfusionCounts([[h, k - h], [0, 0]]) for h, k in zip(hits, n, strict=True)
                ]
            }
        line = []
        for shrinkage in (True, False):
            board = leaderboard(metric="accuracy", random_state=0, shrinkage=shrinkage, **given)
            line += score(board.p_best, board.tie_group, share_of_best(truth))
        found.append(line)
    return summary(name, np.array(found))


def share_of_best(truth):
    best = truth >= truth.max() - 1e-12
    return best / best.sum()


def score(p_best, group, share):
    """P(best) of the leader, how right that is, Brier score, that of the uniform vector."""
    first = np.unique(group, return_index=True)[1]
    p, y = p_best[first], np.bincount(group, weights=share)
    lead = p >= p.max() - 1e-12
    brier = float(np.sum(p**2) - 2 * np.sum(p * y) + 1)
    return [p.max(), y[lead].mean(), brier, 1 - 1 / p.size]


def summary(name, found):
    """Line of the table of P(best), and the difference with its standard error."""
    mean, n = found.mean(axis=0), len(found)
    error = np.std(found[:, 0] - found[:, 1]) / np.sqrt(n)
    excess = found[:, 2] - found[:, 3]
    beyond = np.std(excess) / np.sqrt(n)
    print(
        name,
        mean.round(3),
        f"error {error:.3f}, excess {excess.mean():.5f} ± {beyond:.5f}",
        flush=True,
    )
    return [
        name,
        f"{mean[0]:.2f} / {mean[1]:.2f}",
        f"{mean[0] - mean[1]:+.2f} ± {error:.2f}",
        f"{mean[4]:.2f} / {mean[5]:.2f}",
        f"{mean[2]:.3f}",
        f"{mean[6]:.3f}",
        f"{mean[3]:.3f}",
        f"{excess.mean():+.4f} ± {beyond:.4f}",
    ]


# --------------------------------------------------------------------------------------------------
# Searches


@dataclass(frozen=True)
class Search:
    """A population with equally frequent classes, a learner with its grid, rows, folds."""

    make: Callable
    learner: Any
    grid: Any
    n: int
    n_folds: int
    n_repeats: int = 1
    noise: bool = False


def noise(d):
    """Heavy-tailed features that say nothing about the class."""
    return g.by_class(lambda rng, n, c: rng.standard_t(3, (n, d)))


def powers(low, high, number):
    return np.logspace(low, high, number).tolist()


CELLS = {
    "SVC, 40 candidates, n = 150, K = 5": Search(
        g.squares(6, 5.3), SVC(), {"C": powers(-1, 3, 8), "gamma": powers(-2, 0, 5)}, 150, 5
    ),
    "SVC, 200 candidates, n = 100, K = 5": Search(
        g.wavy(8, 3.0), SVC(), {"C": powers(-1, 3, 10), "gamma": powers(-3, 1, 20)}, 100, 5
    ),
    "trees, 60 candidates, n = 200, K = 10": Search(
        g.levels(8, 0.8),
        DecisionTreeClassifier(random_state=0),
        {
            "max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32, 64],
            "min_impurity_decrease": [0.0, 0.01, 0.02],
            "criterion": ["gini", "log_loss"],
        },
        200,
        10,
    ),
    "logistic, 40 candidates, n = 60, K = 10": Search(
        g.heavy(12, 0.8),
        LogisticRegression(solver="liblinear"),
        {"C": powers(-3, 2, 20), "penalty": ["l1", "l2"]},
        60,
        10,
    ),
    "Bernoulli Bayes, 100 candidates, n = 80, K = 5": Search(
        g.skewed(10, 3, 1.8),
        BernoulliNB(),
        {"binarize": np.linspace(0.3, 3, 20).tolist(), "alpha": powers(-2, 1, 5)},
        80,
        5,
    ),
    "QDA, 20 candidates, n = 300, K = 10": Search(
        g.factors(8, 1.0),
        QuadraticDiscriminantAnalysis(),
        {"reg_param": np.linspace(0.0, 0.95, 20).tolist()},
        300,
        10,
    ),
    "noise: random trees, 100 candidates, n = 100, K = 5": Search(
        noise(12),
        ExtraTreeClassifier(),
        {"max_depth": [1, 2, 3, 5, 8], "random_state": list(range(20))},
        100,
        5,
        noise=True,
    ),
    "noise: Bernoulli Bayes, 200 candidates, n = 60, K = 10": Search(
        noise(20),
        BernoulliNB(),
        {"binarize": np.linspace(-2, 2, 40).tolist(), "alpha": powers(-2, 1, 5)},
        60,
        10,
        noise=True,
    ),
    "LDA, 10 candidates, n = 100, K = 5, repeated 4 times": Search(
        g.heavy(12, 0.6),
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": np.linspace(0.05, 0.95, 10).tolist()},
        100,
        5,
        n_repeats=4,
    ),
}


# Written for the rule that was chosen with the searches above in sight, before its run.
FRESH_CELLS = {
    "Gaussian Bayes, 20 candidates, n = 120, K = 5": Search(
        g.ring(4, 2.0, 0.8), GaussianNB(), {"var_smoothing": powers(-4, 2, 20)}, 120, 5
    ),
    "nearest centroids, 15 candidates, n = 100, K = 10": Search(
        g.gauss(0.7, 12, 3),
        NearestCentroid(),
        {"shrink_threshold": np.linspace(0.1, 2.9, 15).tolist()},
        100,
        10,
    ),
    "ridge, 24 candidates, n = 80, K = 5, repeated twice": Search(
        g.linear(1.0, 15, 4),
        RidgeClassifier(),
        {"alpha": powers(-2, 4, 24)},
        80,
        5,
        n_repeats=2,
    ),
    "trees, 32 candidates, n = 150, K = 5": Search(
        g.threshold(0.2, 6),
        DecisionTreeClassifier(random_state=0),
        {
            "min_samples_leaf": [1, 2, 3, 5, 8, 12, 20, 30],
            "max_depth": [1, 2, 4, 8],
        },
        150,
        5,
    ),
    "noise: ridge, 30 candidates, n = 90, K = 5": Search(
        noise(15), RidgeClassifier(), {"alpha": powers(-2, 4, 30)}, 90, 5, noise=True
    ),
}


def candidates(cell):
    return [
        cell.learner.__class__(**{**cell.learner.get_params(), **p})
        for p in ParameterGrid(cell.grid)
    ]


def sample(cell, rng, n):
    """Rows of two equally frequent classes."""
    counts = (n - n // 2, n // 2)
    return cell.make(rng, counts), np.repeat([0, 1], counts)


def predictions(models, X, y, test):
    """Predictions of all candidates, trained on `X` and `y`."""
    alike = {SVC: predictions_svc, BernoulliNB: predictions_bernoulli}.get(type(models[0]))
    if alike is None:
        return np.array([model.fit(X, y).predict(test) for model in models])
    return alike(models, X, y, test)


def predictions_svc(models, X, y, test):
    """The same of support vector machines: those with the same gamma share their kernel."""
    kernels = {}
    found = []
    for model in models:
        if model.gamma not in kernels:
            kernels[model.gamma] = rbf_kernel(test, X, gamma=model.gamma)
        model.fit(X, y)
        kernel = kernels[model.gamma][:, model.support_]
        found.append(kernel @ model.dual_coef_[0] + model.intercept_[0] > 0)
    return np.array(found).astype(int)


def predictions_bernoulli(models, X, y, test):
    """The same of naive Bayes with two classes: those with the same threshold share their rows."""
    rows = {}
    size = np.bincount(y)
    found = []
    for model in models:
        if model.binarize not in rows:
            ones = np.array([(X[y == c] > model.binarize).sum(axis=0) for c in (0, 1)])
            rows[model.binarize] = ones, (test > model.binarize).astype(float)
        ones, seen = rows[model.binarize]
        p = (ones + model.alpha) / (size + 2 * model.alpha)[:, None]
        log = seen @ (np.log(p) - np.log1p(-p)).T + np.log1p(-p).sum(axis=1) + np.log(size)
        found.append(log[:, 1] > log[:, 0])
    return np.array(found).astype(int)


def truth_of(cell, rng):
    """Accuracy of every candidate after every training set, in the population."""
    size = round(cell.n * (1 - 1 / cell.n_folds))
    found = []
    for _ in range(TRAINING_SETS):
        X, y = sample(cell, rng, size)
        test, labels = sample(cell, rng, 4_000)
        found.append((predictions(candidates(cell), X, y, test) == labels).mean(axis=1))
    return np.array(found)


def run_search(name, number, keep=None):
    """Lines of both tables."""
    cell = (CELLS | FRESH_CELLS)[name]
    folder = Path("." if keep is None else keep)
    file = folder / f"search_{number}.npz"
    if keep is not None and file.exists():
        with np.load(file) as saved:
            share, counts, truth = saved["share"], saved["counts"], saved["truth"]
    else:
        share, counts, truth = simulate_searches(cell, np.random.default_rng([SEED + 1, number]))
        if keep is not None:
            np.savez_compressed(file, share=share, counts=counts, truth=truth)
    chosen, corrected = [], []
    for table, accuracy in zip(counts, truth, strict=True):
        found, flat = (posterior(cell, table, shrinkage) for shrinkage in (True, False))
        chosen.append(
            [
                *score(found.p_best, found.tie_group, share),
                *score(flat.p_best, flat.tie_group, share),
            ]
        )
        corrected.append(selected(cell, found, accuracy))
    return summary(name, np.array(chosen)), selection(name, np.array(corrected))


def simulate_searches(cell, rng):
    """How right each candidate is as a call, fold counts, accuracy of the selected one.

    None of them depends on the rules that are examined.
    """
    share = np.full(len(candidates(cell)), 1 / len(candidates(cell)))
    if not cell.noise:
        known = truth_of(cell, rng)
        which = rng.integers(len(known), size=(BOOTSTRAP, len(known)))
        best = [np.argmax(known[rows].mean(axis=0)) for rows in which]
        share = np.bincount(best, minlength=share.size) / BOOTSTRAP
    counts, truth = [], []
    for _ in range(SEARCHES):
        X, y = sample(cell, rng, cell.n)
        counts.append(fold_counts(cell, X, y, int(rng.integers(2**31))))
        k = posterior(cell, counts[-1], False).selected_index
        test, labels = sample(cell, rng, 10_000)
        truth.append(np.mean(candidates(cell)[k].fit(X, y).predict(test) == labels))
    return share, np.array(counts), np.array(truth)


def fold_counts(cell, X, y, seed):
    """Cells of the confusion matrices, shape (cells, folds, candidates)."""
    splitter = RepeatedStratifiedKFold(
        n_splits=cell.n_folds, n_repeats=cell.n_repeats, random_state=seed
    )
    found = []
    for train, test in splitter.split(X, y):
        said = predictions(candidates(cell), X[train], y[train], X[test])
        kind = 2 * y[test] + said
        found.append([(kind == k).sum(axis=1) for k in range(4)])
    return np.array(found).swapaxes(0, 1).astype(np.int16)


def posterior(cell, counts, shrinkage):
    """Posterior of a search with the counts scorer."""
    results = {
        f"split{k}_test_{key}": column.astype(int)
        for key, columns in zip(("tn", "fp", "fn", "tp"), counts, strict=True)
        for k, column in enumerate(columns)
    }
    return search_posterior(
        results,
        metric="accuracy",
        n_repeats=cell.n_repeats,
        n_draws=DRAWS,
        random_state=0,
        shrinkage=shrinkage,
    )


def selected(cell, found, truth):
    """Errors of the scores of the selected one, and which intervals hold the truth."""
    k, scores = found.selected_index, found.scores
    tibshirani = scores[k].mean() - np.mean(scores.max(axis=0) - scores[k])
    low, high = found.selected_interval
    return [
        found.mean[k] - truth,
        tibshirani - truth,
        left_out(scores, cell.n_repeats) - truth,
        found.best_score_corrected - truth,
        found.low[k] <= truth <= found.high[k],
        low <= truth <= high,
        (high - low) / (found.high[k] - found.low[k]),
    ]


def left_out(scores, n_repeats):
    """Leave-one-fold-out, written as a loop."""
    parts = []
    for block in np.split(scores, n_repeats, axis=1):
        for k in range(block.shape[1]):
            others = np.delete(block, k, axis=1).mean(axis=1)
            parts.append(block[others >= others.max() - 1e-9, k].mean())
    return np.mean(parts)


def selection(name, found):
    """Line of the table of the selected candidate."""
    mean = found.mean(axis=0)
    error = found[:, 3].std() / np.sqrt(len(found))
    print(name, mean.round(3), f"error {error:.3f}", flush=True)
    return [
        name,
        *(f"{x:+.3f}" for x in mean[:3]),
        f"{mean[3]:+.3f} ± {error:.3f}",
        f"{100 * mean[4]:.0f}",
        f"{100 * mean[5]:.0f}",
        f"{mean[6]:.2f}",
    ]


HEAD_BEST = (
    "",
    "stated / right",
    "difference",
    "without shrinkage",
    "Brier",
    "without",
    "uniform",
    "excess",
)
HEAD_SELECTED = (
    "",
    "observed",
    "Tibshirani",
    "left-out folds",
    "corrected",
    "own interval covered, %",
    "moved interval covered, %",
    "width",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ["boards", "later", "third", "fresh", "searches", "fresh_searches"]
    parser.add_argument("--part", nargs="+", default=parts, choices=parts)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    parser.add_argument("--keep", type=Path, help="folder of simulated searches, to go on with")
    given = parser.parse_args()
    sklearn.set_config(skip_parameter_validation=True, assume_finite=True)
    warnings.simplefilter("ignore")
    tables = {}
    boards = {
        "boards": ([*SHARED, *INDEPENDENT], 0),
        "later": ([*LATER_SHARED, *LATER_INDEPENDENT], 100),
        "third": ([*THIRD_SHARED, *THIRD_INDEPENDENT], 200),
        "fresh": ([*FRESH_SHARED, *FRESH_INDEPENDENT], 300),
    }
    searches = {
        "searches": (CELLS, 0, "selected"),
        "fresh_searches": (FRESH_CELLS, 100, "fresh_selected"),
    }
    for part in given.part:
        if part in boards:
            names, start = boards[part]
            lines = [run_board(name, start + k) for k, name in enumerate(names)]
            tables[f"choosing_{part}"] = restructured(HEAD_BEST, lines)
        else:
            names, start, other = searches[part]
            lines = [run_search(name, start + k, given.keep) for k, name in enumerate(names)]
            best, selected_ = zip(*lines, strict=True)
            tables[f"choosing_{part}"] = restructured(HEAD_BEST, best)
            tables[f"choosing_{other}"] = restructured(HEAD_SELECTED, selected_)
    for name, table in tables.items():
        print(table)
        if given.write is not None:
            (given.write / f"{name}.rst.inc").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
