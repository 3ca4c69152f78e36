"""False alarms and power of comparisons of two cross-validations, row by row.

Two learners see two blocks of features that are drawn alike given the class, so that neither is
better: 500 or 200 pairs of cross-validations per cell, and a false alarm is P(better) or P(worse)
above .975, 5 % nominally. Where the learners are different ones, or one block has a handicap, an
alarm is an interval that misses the true difference (mean over all fitted models of the cell, in
the population). The constants of DifferenceVariance and rules_of_pairs in
skuncertain/model_selection/_fold_variance.py were chosen on cells with other populations (the set
"tuning" of fold_questions.py), other learners' settings and other seeds. What follows was written
down and committed before it was run.

A cell is "high" if the one-sided 99 % Clopper-Pearson lower bound of its rate is above 7 %, "low"
if the upper bound is below 2 %.

    python benchmarks/paired_folds.py [--folder FOLDER] [--write docs/benchmark_tables]
"""

import argparse
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from fold_questions import RBF, STUMP, scaled, tree
from lab import generators as g
from lab.pairs import PairCell, simulate_pair
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from tables import restructured

from skuncertain import compare_cv
from skuncertain.comparison._fold_rows import FoldRows
from skuncertain.comparison._paired import PairedCounts
from skuncertain.metrics import get_metric

# The first cells are stump, tree, 5-NN and logistic regression once per row, the promise of the
# documentation: 500 runs each. The others have 200 each, for want of time.
REPLICATIONS, FIRST, OTHERS, SEED, DRAWS = 500, 24, 200, 4001, 4000
METRICS = ("accuracy", "recall", "f1")
MANY = ("accuracy", "balanced_accuracy", "f1_macro")
TREE, KNN, LOGIT = (
    tree(max_depth=4, min_samples_leaf=4),
    KNeighborsClassifier(5),
    LogisticRegression(),
)

# name, population, learner, rows of the classes, folds, repetitions, noise of images (0: twins)
ALIKE = [
    ("stump-skewed", g.skewed(5, 2, 2.5), STUMP, (50, 50), 5),
    ("stump-levels", g.levels(6, 0.8), STUMP, (50, 50), 10),
    ("stump-heavy", g.heavy(5, 0.8), STUMP, (100, 100), 5),
    ("stump-factors", g.factors(6, 1.5), STUMP, (100, 100), 10),
    ("stump-wavy", g.wavy(5, 5.0), STUMP, (130, 70), 10),
    ("stump-heavy-image", g.heavy(5, 1.0), STUMP, (60, 40), 10, 1, 0.7),
    ("tree-ring", g.ring(3, 2.0, 0.4), TREE, (50, 50), 5),
    ("tree-heavy", g.heavy(4, 1.0), TREE, (50, 50), 10),
    ("tree-wavy", g.wavy(6, 5.0), TREE, (100, 100), 5),
    ("tree-squares", g.squares(4, 4.0), TREE, (100, 100), 10),
    ("tree-levels", g.levels(8, 1.0), TREE, (140, 60), 10),
    ("tree-ring-image", g.ring(4, 2.2, 0.4), TREE, (120, 80), 5, 1, 0.5),
    ("knn5-ring", g.ring(3, 1.8, 0.5), KNN, (50, 50), 5),
    ("knn5-heavy", g.heavy(4, 1.0), KNN, (50, 50), 10),
    ("knn5-wavy", g.wavy(5, 5.0), KNN, (100, 100), 5),
    ("knn5-factors", g.factors(6, 1.5), KNN, (100, 100), 10),
    ("knn5-xor", g.xor(4, 1.5), KNN, (70, 30), 10),
    ("knn5-ring-image", g.ring(3, 2.0, 0.5), KNN, (120, 80), 10, 1, 0.5),
    ("logistic-skewed", g.skewed(5, 3, 2.0), scaled(LOGIT), (50, 50), 5),
    ("logistic-factors", g.factors(8, 1.2), LOGIT, (50, 50), 10),
    ("logistic-wavy", g.wavy(6, 5.0), LOGIT, (100, 100), 5),
    ("logistic-heavy", g.heavy(8, 0.7), LOGIT, (100, 100), 10),
    ("logistic-levels", g.levels(6, 0.8), LOGIT, (140, 60), 10),
    ("logistic-heavy-image", g.heavy(6, 1.0), LOGIT, (60, 40), 5, 1, 0.7),
    ("bayes-ring", g.ring(4, 2.0, 0.5), GaussianNB(), (60, 40), 10),
    ("bayes-skewed", g.skewed(4, 2, 2.5), GaussianNB(), (100, 100), 5),
    ("bernoulli-levels", g.levels(10, 0.7), BernoulliNB(binarize=1.5), (80, 60), 10),
    ("lda-factors", g.factors(10, 1.2), LinearDiscriminantAnalysis(), (60, 40), 10),
    ("lda-wavy", g.wavy(5, 5.0), LinearDiscriminantAnalysis(), (130, 70), 5),
    ("qda-squares", g.squares(4, 4.0), QuadraticDiscriminantAnalysis(reg_param=0.01), (60, 60), 10),
    ("ridge-heavy", g.heavy(6, 1.0), RidgeClassifier(alpha=5.0), (100, 60), 10),
    ("centroid-skewed", g.skewed(5, 2, 3.0), scaled(NearestCentroid()), (60, 40), 5),
    ("rbf-ring", g.ring(3, 1.6, 0.5), RBF, (60, 40), 10),
    ("rbf-xor", g.xor(4, 1.5), RBF, (100, 100), 5),
    ("depth2-skewed", g.skewed(4, 2, 3.0), tree(max_depth=2), (100, 100), 10),
    ("full-tree-wavy", g.wavy(5, 5.0), tree(criterion="entropy"), (50, 50), 10),
    ("full-tree-heavy", g.heavy(5, 1.0), tree(), (130, 70), 5),
    ("knn1-levels", g.levels(5, 1.2), KNeighborsClassifier(1), (60, 60), 5),
    ("knn11-heavy", g.heavy(5, 1.0), KNeighborsClassifier(11), (100, 60), 10),
    (
        "boost-levels",
        g.levels(6, 0.8),
        GradientBoostingClassifier(n_estimators=15, max_depth=2),
        (60, 60),
        5,
    ),
    ("bagging-ring", g.ring(3, 1.8, 0.4), BaggingClassifier(n_estimators=8), (60, 40), 5),
    ("forest-skewed", g.skewed(5, 3, 2.2), RandomForestClassifier(12, max_depth=4), (60, 60), 5),
    ("extra-trees-wavy", g.wavy(6, 5.0), ExtraTreesClassifier(10), (60, 60), 5),
    ("sgd-factors", g.factors(8, 1.2), scaled(SGDClassifier(max_iter=10, tol=None)), (100, 60), 10),
    ("perceptron-wavy", g.wavy(5, 5.0), scaled(Perceptron(max_iter=8, tol=None)), (60, 60), 5),
    ("easy-lda", g.factors(10, 6.0), LinearDiscriminantAnalysis(), (60, 60), 10),
    ("easy-knn", g.ring(2, 4.0, 0.4), KNN, (80, 40), 10),
    ("stump-repeated", g.factors(6, 1.5), STUMP, (60, 60), 5, 2),
    ("tree-repeated", g.wavy(5, 5.0), TREE, (60, 60), 10, 2),
    ("knn5-repeated", g.heavy(4, 1.0), KNN, (60, 40), 5, 5),
    ("logistic-repeated", g.skewed(5, 3, 2.0), scaled(LOGIT), (60, 60), 5, 5),
    ("logistic-twofold", g.heavy(5, 1.0), LOGIT, (60, 60), 2),
    ("tree-twentyfold", g.levels(6, 1.0), TREE, (60, 60), 20),
    ("three-tree", g.clouds(3, 4, 1.0), TREE, (50, 40, 30), 10),
    ("three-lda", g.clouds(3, 5, 0.9), LinearDiscriminantAnalysis(), (60, 60, 40), 5),
    ("five-knn", g.clouds(5, 5, 1.2), KNN, (40, 40, 40, 40, 40), 10),
]
# name, population, learner A, learner B, rows, folds
DIFFERENT = [
    ("stump-logistic", g.factors(6, 1.5), STUMP, LOGIT, (60, 60), 10),
    ("tree-bayes", g.ring(4, 2.0, 0.5), TREE, GaussianNB(), (100, 100), 5),
    ("knn5-rbf", g.xor(4, 1.5), KNN, RBF, (60, 60), 10),
    ("stump-tree", g.wavy(5, 5.0), STUMP, TREE, (120, 80), 10),
    ("lda-logistic", g.heavy(6, 1.0), LinearDiscriminantAnalysis(), LOGIT, (100, 60), 5),
]
# Share of the rows of A whose features are those of any row, for the power
HANDICAPS = (0.15, 0.3, 0.45)
POWER = [
    ("stump", g.skewed(5, 2, 3.0), STUMP, (100, 100), 10),
    ("tree", g.ring(3, 2.2, 0.4), TREE, (100, 100), 10),
    ("knn5", g.ring(3, 2.0, 0.5), KNN, (100, 100), 10),
    ("logistic", g.skewed(5, 3, 2.0), scaled(LOGIT), (100, 100), 10),
    ("bayes", g.ring(4, 2.2, 0.5), GaussianNB(), (60, 60), 5),
]


def all_cells():
    for name, make, learner, counts, k, *more in ALIKE:
        repeats, noise = more + [1, 0.0][len(more) :]
        yield PairCell(name, make, learner, counts, k, repeats, noise, n_test=2_000)
    for name, make, first, second, counts, k in DIFFERENT:
        name = f"different-{name}"
        yield PairCell(name, make, second, counts, k, other=first, n_test=4_000)
    for name, make, learner, counts, k in POWER:
        for handicap in HANDICAPS:
            name_ = f"power-{name}-{handicap}"
            yield PairCell(name_, make, learner, counts, k, handicap=handicap, n_test=4_000)


# --------------------------------------------------------------------------------------------------
# Comparisons


def rows_of(found, s, models):
    """Rows of one replication, as two cross-validators know them, or without their models."""
    fold, predicted = found["fold"][s].astype(int), found["predicted"][s].astype(int)
    repeats, _n = fold.shape
    k = fold.max() + 1
    truth = np.tile(found["y"][s].astype(int), repeats)
    known = [part[:, None].astype(float) for part in found["models"][s]] if models else None
    return FoldRows(
        truth, [code.ravel() for code in predicted],
        (fold + k * np.arange(repeats)[:, None]).ravel(), repeats,
        tuple(range(found["truths"].shape[-1])), 1 if found["truths"].shape[-1] == 2 else None,
        known, np.ones(truth.size, dtype=bool),
    )  # fmt: skip


def compare_all(found, s, metric):
    """Result of every way to compare the two cross-validations of one replication."""
    known, alone = rows_of(found, s, True), rows_of(found, s, False)
    options = {"metric": metric, "n_draws": DRAWS, "random_state": s}
    first = alone.fold < alone.n_folds  # cross_val_predict knows one repetition
    one = replace(
        alone, truth=alone.truth[first], codes=[c[first] for c in alone.codes],
        fold=alone.fold[first], n_repeats=1,
    )  # fmt: skip
    results = {
        "rows": PairedCounts.from_fold_rows(one).compare(**options),
        "folds": PairedCounts.from_fold_rows(alone).compare(
            folds=alone, estimand="algorithm", **options
        ),
    }
    paired = PairedCounts.from_fold_rows(known)
    for estimand in ("algorithm", "fitted", "final"):
        results[estimand] = paired.compare(folds=known, estimand=estimand, **options)
    scores = [
        get_metric(metric).evaluate(known.matrices(model), positive=1, zero_division=0.0)
        for model in (0, 1)
    ]
    results["compare_cv"] = compare_cv(*scores, n_repeats=known.n_repeats)
    return results


def truths_of(found, metric):
    """True differences of every replication: of the algorithms, the fitted and the final models."""

    def of(matrices):
        values = get_metric(metric).evaluate(matrices, positive=1, zero_division=0.0)
        return values[:, 1] - values[:, 0]

    fitted = of(found["truths"]).mean(axis=1)
    return {
        "algorithm": np.full(len(fitted), fitted.mean()),
        "fitted": fitted,
        "final": of(found["final"]),
    }  # fmt: skip


def evaluate(cell, found):
    """One row per metric and way: share of alarms, of intervals that miss, and of finds of B."""
    rows = []
    many = len(cell.counts) > 2
    exchangeable = not cell.handicap and cell.other is None
    for metric in MANY if many else METRICS:
        truths = truths_of(found, metric)
        tally = {}
        for s in range(len(found["y"])):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for way, result in compare_all(found, s, metric).items():
                    asked = way if way in truths else "algorithm"
                    true = 0.0 if exchangeable and asked == "algorithm" else truths[asked][s]
                    # Whether the 95 % interval ends before the truth; a single mass may lie on it.
                    below = result.difference.cdf(true + 1e-12) < 0.025
                    above = result.difference.cdf(true - 1e-12) > 0.975
                    tally.setdefault(way, []).append(
                        (max(result.p_better, result.p_worse) > 0.975, below or above,
                         result.p_better > 0.975, result.omega or 1.0)
                    )  # fmt: skip
        for way, values in tally.items():
            alarm, missed, better, omega = np.array(values, dtype=float).T
            rows.append({
                "cell": cell.name, "metric": metric, "way": way, "alarm": int(alarm.sum()),
                "missed": int(missed.sum()), "better": int(better.sum()), "number": len(alarm),
                "omega": float(omega.mean()), "true": float(truths["algorithm"][0]),
            })  # fmt: skip
    return rows


def evaluated(number, cell, folder):
    """Rows of a cell, from the file beside its simulation if they are there."""
    found = simulate_pair(cell, REPLICATIONS if number < FIRST else OTHERS, (SEED, number), folder)
    path = Path(folder) / f"{cell.name}.json"
    if not path.exists():
        path.write_text(json.dumps(evaluate(cell, found)), encoding="utf-8")
        print(cell.name, flush=True)
    return json.loads(path.read_text(encoding="utf-8"))


def high(hits, number):
    return stats.beta.ppf(0.01, hits, number - hits + 1) > 0.07 if hits else False


def low(hits, number):
    return stats.beta.ppf(0.99, hits + 1, number - hits) < 0.02


# --------------------------------------------------------------------------------------------------
# Tables

WAYS = {
    "rows": "rows taken as independent",
    "folds": "folds known",
    "algorithm": "two cross-validators",
    "compare_cv": "compare_cv",
}


def alarm_table(rows, cells):
    """False alarms of cells in which neither is better."""
    names = {name for name, *_ in cells}
    table = []
    for metric in dict.fromkeys(r["metric"] for r in rows):
        for way, text in WAYS.items():
            mine = [
                r for r in rows if (r["metric"], r["way"]) == (metric, way) and r["cell"] in names
            ]
            if not mine:
                continue
            share = np.array([100 * r["alarm"] / r["number"] for r in mine])
            table.append([
                metric, text, len(mine), f"{share.mean():.1f}", f"{share.min():.1f}",
                f"{share.max():.1f}", sum(bool(high(r["alarm"], r["number"])) for r in mine),
                sum(bool(low(r["alarm"], r["number"])) for r in mine),
            ])  # fmt: skip
    header = ["metric", "comparison", "cells", "mean", "least", "most", "cells high", "cells low"]
    return header, table


def cell_table(rows):
    """False alarms of accuracy, recall and F1 in every cell, before and after."""
    known = {r["cell"] for r in rows}
    table = []
    for name in [name for name, *_ in ALIKE if name in known]:
        mine = [r for r in rows if r["cell"] == name]
        line = [name]
        for metric in dict.fromkeys(r["metric"] for r in mine):
            of = {r["way"]: 100 * r["alarm"] / r["number"] for r in mine if r["metric"] == metric}
            line.append(" / ".join(f"{of[way]:.1f}" for way in WAYS))
        table.append(line)
    return ["cell", "accuracy", "recall (balanced accuracy)", "F1 (macro F1)"], table


def coverage_table(rows):
    """Coverage of the intervals of the difference, for each of the three questions."""
    table = []
    for estimand in ("algorithm", "fitted", "final"):
        for metric in METRICS:
            mine = [r for r in rows if (r["metric"], r["way"]) == (metric, estimand)]
            cover = np.array([100 - 100 * r["missed"] / r["number"] for r in mine])
            bad = [high(r["missed"], r["number"]) for r in mine]
            table.append([
                estimand, metric, len(mine), f"{cover.mean():.1f}", f"{cover.min():.1f}",
                int(np.sum(bad)),
            ])  # fmt: skip
    return ["estimand", "metric", "cells", "mean", "least", "cells low at 93"], table


def power_table(rows):
    """Share of runs in which the better one is found, with P(better) above .975."""
    table = []
    for name, *_ in POWER:
        for handicap in HANDICAPS:
            for metric in ("accuracy", "f1"):
                mine = [
                    r
                    for r in rows
                    if r["cell"] == f"power-{name}-{handicap}" and r["metric"] == metric
                ]
                if not mine:
                    continue
                of = {r["way"]: 100 * r["better"] / r["number"] for r in mine}
                line = [name, metric, f"{mine[0]['true']:.3f}"]
                table.append(line + [f"{of[way]:.0f}" for way in WAYS])
    return ["learner", "metric", "true difference", *WAYS.values()], table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="benchmarks/.results/paired_folds")
    parser.add_argument("--write", help="folder for the tables")
    parser.add_argument("--known", action="store_true", help="only what is in the folder")
    options = parser.parse_args()
    cells = list(all_cells())
    assert len({cell.name for cell in cells}) == len(cells)
    # The promise first, then the power, then the rest
    order = [*range(FIRST), *range(len(ALIKE), len(cells)), *range(FIRST, len(ALIKE))]
    if options.known:
        order = [k for k in order if (Path(options.folder) / f"{cells[k].name}.json").exists()]
    found = {k: evaluated(k, cells[k], options.folder) for k in order}
    rows = [row for k in sorted(found) for row in found[k]]
    tables = {
        "paired_alarms": alarm_table(rows, ALIKE[:FIRST]),
        "paired_others": alarm_table(rows, ALIKE[FIRST:]), "paired_cells": cell_table(rows),
        "paired_coverage": coverage_table(rows), "paired_power": power_table(rows),
    }  # fmt: skip
    for name, (header, table) in tables.items():
        print(f"\n{name}")
        for line in [header, *table]:
            print(" | ".join(map(str, line)))
        if options.write:
            path = Path(options.write) / f"{name}.rst.inc"
            path.write_text(restructured(header, table), encoding="utf-8")
    for r in rows:
        if r["way"] in WAYS and r["cell"] in {name for name, *_ in ALIKE}:
            if high(r["alarm"], r["number"]) and r["way"] != "rows":
                print("high:", r["way"], r["cell"], r["metric"], 100 * r["alarm"] / r["number"])
            if low(r["alarm"], r["number"]) and r["way"] == "algorithm":
                print("low:", r["cell"], r["metric"], 100 * r["alarm"] / r["number"])


if __name__ == "__main__":
    main()
