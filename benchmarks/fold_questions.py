"""Coverage of the three answers of a cross-validation: fitted, algorithm and final.

Every cell is a population, a learner, a number of rows and folds; 500 cross-validations each, level
95 %. A truth is the mean, over the models that are asked about, of their metric in the population:
"fitted" the models of that cross-validation, "algorithm" those of all 500, "final" the one fitted
on all rows. The constants of skuncertain/model_selection/_fold_variance.py and the limits of
_stability.py were chosen on the set "tuning". The sets "fresh" (other populations, other learners,
other seeds) were written down and committed before they were run.

"low at x": the one-sided 99 % Clopper-Pearson upper bound of the coverage is below x. A learner
collapses in a cell if between 5 and 95 % of its models never predict a class (less than 1 % of the
rows of the population); that is told from the populations alone.

    python benchmarks/fold_questions.py [--set fresh] [--folder FOLDER] [--write FOLDER]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from lab import generators as g
from lab.coverage import folds_of, low, pooled_interval, values
from lab.simulate import Cell, simulate
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tables import restructured

REPLICATIONS = 500
ESTIMANDS = ("fitted", "algorithm", "final")
TWO = ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "matthews_corrcoef")
MANY = ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef")


def tree(**options):
    return DecisionTreeClassifier(**options)


def scaled(learner):
    return make_pipeline(StandardScaler(), learner)


# --------------------------------------------------------------------------------------------------
# Tuning: what the rules were chosen on

_POPULATIONS = {
    "g1": g.gauss(1.0, 5, 2), "g05": g.gauss(0.6, 10, 3), "th": g.threshold(0.15, 4),
    "lg": g.linear(1.0, 10, 4), "mx": g.blobs(4, 1.8), "gs": g.gauss(0.8, 6, 6, 0.3, 1.5),
    "e2": g.gauss(2.2, 4, 1), "e3": g.gauss(3.2, 4, 1), "e4": g.gauss(1.8, 6, 4),
    "th1": g.threshold(0.02, 3),
}  # fmt: skip
_LEARNERS = {
    "stump": tree(max_depth=1), "tree": tree(min_samples_split=20, min_samples_leaf=7),
    "full": tree(), "baltree": tree(max_depth=4, class_weight="balanced"),
    "centroid": NearestCentroid(), "nb": GaussianNB(), "logit": LogisticRegression(),
    "ridge": RidgeClassifier(), "qda": QuadraticDiscriminantAnalysis(reg_param=1e-3),
    "knn5": KNeighborsClassifier(5), "svm": SVC(),
    "boost": GradientBoostingClassifier(n_estimators=20, max_depth=2),
    "perc": Perceptron(max_iter=5, tol=None),
    "ballog": LogisticRegression(class_weight="balanced"),
    "rf": RandomForestClassifier(15, max_depth=6),
}  # fmt: skip
_FIXED = """
stump g1 100 30 10, stump g05 200 60 5, stump th 100 50 10, stump lg 200 100 10, stump mx 300 60 5,
stump gs 100 50 5, tree g1 200 100 10, tree g05 100 50 5, tree mx 300 90 10, tree lg 200 60 5,
full g1 100 50 10, full lg 300 90 5, full gs 200 50 10, baltree g05 200 40 10, baltree th 100 30 5,
baltree lg 300 60 10, baltree mx 200 40 5, baltree g1 150 30 10, centroid g05 60 30 10,
centroid g1 100 20 5, centroid gs 200 60 10, centroid mx 100 50 5, nb g1 100 30 10,
nb lg 200 100 5, nb mx 60 30 10, logit lg 100 50 10, logit g05 200 40 5, logit mx 300 150 10,
ridge g1 60 20 10, ridge lg 300 60 5, qda gs 100 40 10, qda g05 200 100 5, knn5 g1 100 40 10,
knn5 mx 200 60 5, svm g05 100 30 10, svm mx 150 50 5, svm lg 200 100 10, boost g1 100 30 10,
boost lg 200 100 5, boost mx 200 50 10, perc g05 200 60 10, perc lg 100 50 5, ballog g05 200 40 10,
ballog lg 100 25 5, rf g1 100 40 5, rf lg 150 60 5, nb e2 100 50 10, nb e3 60 30 10,
logit e3 200 40 5, tree e3 100 50 10, stump e3 200 60 10, knn5 e4 100 40 5, full e4 100 50 10,
centroid e4 60 20 10, stump th1 100 30 10, tree th1 200 60 5, baltree e2 150 30 10,
boost e4 100 50 5, logit e4 300 60 10, stump lg 100 50 2, nb g1 100 30 2, tree mx 200 60 2,
logit g05 200 60 3, stump g1 150 60 3, centroid mx 100 50 3, stump lg 200 100 20,
tree g1 100 50 20, nb mx 100 40 20, baltree lg 200 60 20, centroid g05 60 30 20, logit lg 60 30 20,
stump lg 200 100 10x2, tree g1 200 100 5x2, logit mx 150 60 5x2, perc lg 200 80 10x2,
nb g1 100 30 5x2, stump g05 150 75 5x5, tree lg 200 60 10x5, logit g05 150 50 5x5,
baltree g1 150 40 5x5, centroid mx 100 50 10x5, perc g05 200 60 5x5
"""
_RANDOM = """
stump lg 200 .5 10, stump g1 150 .4 5, stump g05 120 .5 10, tree g1 200 .4 10, tree lg 100 .5 5,
full mx 150 .4 10, baltree g05 200 .25 10, baltree lg 150 .3 5, centroid mx 100 .5 10,
nb g1 100 .3 5, nb mx 200 .3 10, logit lg 100 .4 10, logit mx 200 .5 5, ridge g05 150 .3 10,
qda gs 200 .4 10, knn5 lg 100 .5 10, svm g1 100 .4 5, boost g05 100 .4 10, perc lg 200 .5 10,
ballog g1 100 .2 10, stump th 100 .4 5, logit lg 500 .5 10, tree mx 500 .3 5
"""


def _tuning():
    for text in (part.split() for part in _FIXED.replace("\n", " ").split(",")):
        learner, population, n, positive, folds = text
        k, _, r = folds.partition("x")
        yield Cell(
            "-".join(text), _POPULATIONS[population], _LEARNERS[learner],
            (int(n) - int(positive), int(positive)), int(k), int(r or 1),
        )  # fmt: skip
    for text in (part.split() for part in _RANDOM.replace("\n", " ").split(",")):
        learner, population, n, share, k = text
        yield Cell(
            "random-" + "-".join(text), _POPULATIONS[population], _LEARNERS[learner],
            (int(n) - 1, 1), int(k), shares=(1 - float(share), float(share)),
        )  # fmt: skip
    for name, learner, counts, k in (
        ("three-tree", "tree", (60, 60, 60), 10), ("three-nb", "nb", (80, 50, 30), 5),
        ("four-logit", "logit", (40, 40, 40, 40), 10), ("six-full", "full", (30,) * 6, 5),
    ):  # fmt: skip
        make = g.clouds(len(counts), 4, 1.1, seed=1)
        yield Cell(f"clouds-{name}", make, _LEARNERS[learner], counts, k)
    for learner, icc, groups, k in (
        ("nb", 0.1, (30, 10), 10), ("nb", 0.3, (30, 10), 10), ("logit", 0.3, (50, 20), 10),
        ("tree", 0.3, (30, 10), 5), ("stump", 0.2, (50, 20), 10), ("logit", 0.1, (50, 20), 5),
        ("centroid", 0.5, (30, 10), 10), ("tree", 0.1, (50, 20), 10),
    ):  # fmt: skip
        name = f"groups-{learner}-{icc}-{groups[0]}x{groups[1]}-{k}"
        yield Cell(name, g.grouped(icc, 5, 3, 0.8), _LEARNERS[learner], (0, 0), k, groups=groups)


# --------------------------------------------------------------------------------------------------
# Fresh: written down before they were run

STUMP = tree(max_depth=1, criterion="entropy")
BALANCED = tree(max_depth=3, min_samples_leaf=5, class_weight="balanced")
CENTROID = scaled(NearestCentroid())
RBF = scaled(SVC(C=3.0))
BOOST = GradientBoostingClassifier(n_estimators=30, learning_rate=0.2, max_depth=1)
FRESH = [
    # name, population, learner, rows of the two classes, folds, repetitions
    ("stump-ring", g.ring(3, 1.8, 0.5), STUMP, (90, 60), 10),
    ("stump-skewed", g.skewed(6, 3, 2.5), STUMP, (60, 60), 5),
    ("stump-levels", g.levels(8, 0.6), STUMP, (100, 100), 10),
    ("stump-heavy", g.heavy(6, 0.6), STUMP, (140, 60), 10),
    ("stump-factors", g.factors(8, 1.0), STUMP, (70, 50), 5),
    ("stump-wavy", g.wavy(6, 4.0), STUMP, (200, 100), 20),
    ("balanced-tree-ring", g.ring(4, 2.0, 0.4), BALANCED, (160, 40), 10),
    ("balanced-tree-wavy", g.wavy(7, 5.0), BALANCED, (120, 40), 5),
    ("balanced-tree-levels", g.levels(10, 0.8), BALANCED, (200, 60), 10),
    ("balanced-tree-heavy", g.heavy(5, 1.0), BALANCED, (80, 30), 10),
    ("balanced-tree-xor", g.xor(5, 1.5), BALANCED, (150, 50), 5),
    ("centroid-skewed", g.skewed(5, 2, 3.0), CENTROID, (40, 30), 10),
    ("centroid-factors", g.factors(12, 1.2), CENTROID, (80, 20), 5),
    ("centroid-levels", g.levels(6, 0.8), CENTROID, (60, 60), 10),
    ("centroid-squares", g.squares(4, 4.0), CENTROID, (50, 50), 5),
    ("centroid-heavy", g.heavy(8, 0.8), CENTROID, (120, 60), 20),
    ("rbf-ring", g.ring(3, 1.6, 0.5), RBF, (70, 50), 10),
    ("rbf-xor", g.xor(4, 1.5), RBF, (100, 100), 5),
    ("rbf-skewed", g.skewed(8, 4, 2.0), RBF, (60, 40), 10),
    ("rbf-wavy", g.wavy(6, 5.0), RBF, (110, 40), 5),
    ("rbf-heavy", g.heavy(6, 1.0), RBF, (75, 75), 2),
    ("boost-levels", g.levels(8, 0.8), BOOST, (100, 60), 10),
    ("boost-squares", g.squares(5, 5.0), BOOST, (80, 80), 5),
    ("boost-factors", g.factors(6, 1.5), BOOST, (60, 30), 10),
    ("boost-heavy", g.heavy(7, 0.7), BOOST, (120, 80), 5),
    ("adaboost-ring", g.ring(4, 2.2, 0.5), AdaBoostClassifier(n_estimators=15), (60, 60), 5),
    ("depth2-wavy", g.wavy(5, 5.0), tree(max_depth=2), (90, 60), 10),
    ("depth2-skewed", g.skewed(4, 2, 3.0), tree(max_depth=2), (150, 50), 5),
    ("depth5-levels", g.levels(6, 1.0), tree(max_depth=5), (80, 80), 10),
    ("full-tree-squares", g.squares(3, 3.0), tree(criterion="entropy"), (60, 40), 10),
    ("bagging-ring", g.ring(3, 1.8, 0.4), BaggingClassifier(n_estimators=8), (60, 40), 5),
    ("extra-trees-wavy", g.wavy(6, 5.0), ExtraTreesClassifier(12), (60, 60), 5),
    ("knn9-ring", g.ring(3, 1.8, 0.5), scaled(KNeighborsClassifier(9)), (80, 50), 10),
    ("knn1-levels", g.levels(5, 1.2), KNeighborsClassifier(1), (70, 70), 5),
    ("lda-factors", g.factors(10, 1.2), LinearDiscriminantAnalysis(), (70, 50), 10),
    ("lda-heavy", g.heavy(12, 0.8), LinearDiscriminantAnalysis(), (60, 40), 5),
    ("logistic-levels", g.levels(8, 0.8), LogisticRegression(C=0.1), (90, 30), 10),
    ("logistic-skewed", g.skewed(5, 3, 2.0), scaled(LogisticRegression()), (120, 120), 5),
    ("logistic-wavy", g.wavy(8, 5.0), scaled(LogisticRegression(C=10.0)), (60, 40), 20),
    ("naive-bayes-ring", g.ring(5, 2.0, 0.5), GaussianNB(), (70, 40), 10),
    ("naive-bayes-skewed", g.skewed(4, 2, 2.5), GaussianNB(), (100, 60), 5),
    ("bernoulli-levels", g.levels(12, 0.7), BernoulliNB(binarize=1.5), (80, 60), 10),
    ("qda-squares", g.squares(4, 4.0), QuadraticDiscriminantAnalysis(reg_param=0.01), (90, 70), 10),
    ("ridge-heavy", g.heavy(6, 1.0), RidgeClassifier(alpha=5.0), (100, 40), 5),
    ("sgd-factors", g.factors(8, 1.2), scaled(SGDClassifier(max_iter=10, tol=None)), (100, 60), 10),
    ("perceptron-wavy", g.wavy(5, 5.0), scaled(Perceptron(max_iter=8, tol=None)), (120, 60), 5),
    ("forest-skewed", g.skewed(6, 3, 2.2), RandomForestClassifier(12, max_depth=4), (60, 40), 5),
    ("easy-lda", g.factors(10, 5.0), LinearDiscriminantAnalysis(), (60, 60), 10),
    ("easy-knn", g.ring(2, 4.0, 0.4), KNeighborsClassifier(5), (80, 40), 10),
    ("repeated-tree", g.wavy(5, 5.0), tree(max_depth=4), (100, 60), 5, 2),
    ("repeated-lda", g.heavy(6, 1.0), LinearDiscriminantAnalysis(), (60, 40), 10, 2),
    ("repeated-stump", g.skewed(5, 2, 3.0), STUMP, (80, 60), 5, 5),
    ("repeated-rbf", g.ring(3, 1.8, 0.5), RBF, (60, 40), 5, 5),
]
# Class counts drawn with the rows: "algorithm", which is given the class counts, is not asked for.
FRESH_RANDOM = [
    ("random-stump-wavy", g.wavy(5, 5.0), STUMP, 150, 0.4, 10),
    ("random-stump-skewed", g.skewed(5, 2, 3.0), STUMP, 100, 0.5, 5),
    ("random-balanced-ring", g.ring(3, 2.0, 0.4), BALANCED, 200, 0.25, 10),
    ("random-centroid-heavy", g.heavy(5, 1.0), CENTROID, 80, 0.5, 10),
    ("random-rbf-levels", g.levels(6, 0.8), RBF, 120, 0.35, 5),
    ("random-boost-factors", g.factors(6, 1.5), BOOST, 120, 0.4, 10),
    ("random-lda-wavy", g.wavy(6, 5.0), LinearDiscriminantAnalysis(), 100, 0.3, 10),
    ("random-logistic-heavy", g.heavy(6, 0.8), LogisticRegression(), 300, 0.2, 5),
    ("random-bayes-squares", g.squares(3, 3.0), GaussianNB(), 150, 0.5, 10),
    ("random-depth3-levels", g.levels(8, 1.0), tree(max_depth=3), 200, 0.4, 5),
]
FRESH_MANY = [
    ("three-tree", g.clouds(3, 4, 1.0), tree(max_depth=4), (60, 50, 40), 10),
    ("three-stumps", g.clouds(3, 3, 1.3), tree(max_depth=2), (50, 50, 50), 5),
    ("three-lda", g.clouds(3, 5, 0.9), LinearDiscriminantAnalysis(), (90, 40, 20), 10),
    ("five-bayes", g.clouds(5, 5, 1.0), GaussianNB(), (40, 40, 40, 40, 40), 10),
    ("five-rbf", g.clouds(5, 4, 1.2), RBF, (60, 50, 40, 30, 20), 5),
    ("five-balanced-tree", g.clouds(5, 4, 1.5), BALANCED, (80, 60, 40, 30, 20), 10),
    ("ten-centroid", g.clouds(10, 8, 1.0), CENTROID, (25,) * 10, 5),
    ("ten-tree", g.clouds(10, 6, 1.5), tree(min_samples_leaf=3), (30,) * 10, 10),
]
FRESH_GROUPS = [
    # name, intraclass correlation, learner, groups, folds
    ("groups-bayes-30x10", 0.2, GaussianNB(), (30, 10), 5),
    ("groups-lda-30x10", 0.4, LinearDiscriminantAnalysis(), (30, 10), 10),
    ("groups-depth3-30x10", 0.15, tree(max_depth=3), (30, 10), 10),
    ("groups-logistic-50x20", 0.2, LogisticRegression(), (50, 20), 5),
    ("groups-rbf-50x20", 0.1, RBF, (50, 20), 10),
    ("groups-centroid-50x20", 0.4, CENTROID, (50, 20), 10),
]


def _fresh():
    for name, make, learner, counts, k, *r in FRESH:
        yield Cell(name, make, learner, counts, k, *r, n_test=6_000)
    for name, make, learner, n, share, k in FRESH_RANDOM:
        shares = (1 - share, share)
        yield Cell(name, make, learner, (n - 1, 1), k, shares=shares, n_test=6_000)
    for name, make, learner, counts, k in FRESH_MANY:
        yield Cell(name, make, learner, counts, k, n_test=6_000)
    for name, icc, learner, groups, k in FRESH_GROUPS:
        make = g.grouped(icc, 6, 2, 1.0, shared=0.2)
        yield Cell(name, make, learner, (0, 0), k, groups=groups, n_test=6_000)


SETS = {"tuning": (_tuning, 101), "fresh": (_fresh, 202)}

# --------------------------------------------------------------------------------------------------
# Coverage


def weights(folds):
    """Weight of the pooled counts by every rule."""
    with_models = folds.variance
    k, r = with_models.n_folds, with_models.n_repeats
    blind = np.where(with_models.fewest == 0, with_models.binomial, with_models.between)
    before = with_models.binomial + k / (k - 1) * (1 + 1 / r) / 2 * blind
    alone = type(with_models)(**{**vars_of(with_models), "jackknife": None, "movement": None})
    found = {name: with_models.omega(name) for name in ESTIMANDS}
    found |= {f"{name}, folds alone": alone.omega(name) for name in ESTIMANDS}
    with np.errstate(invalid="ignore"):
        found["auto before"] = np.where(before > 0, with_models.binomial / before, 1.0)
    found["wang_li"] = np.full_like(before, (k + 1) / (2 * k))
    return found


def vars_of(variance):
    return {name: getattr(variance, name) for name in variance.__dataclass_fields__}


def truths(found, metric, n_repeats):
    """Truth of every estimand, one per replication."""
    models = values(metric, found["truths"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models without a prediction of the class
        return {
            "fitted": np.nanmean(models, axis=1),
            "algorithm": np.full(len(models), np.nanmean(models)),
            "final": values(metric, found["final"]),
        }


def collapses(found):
    """Share of the models that never predict some class."""
    predicted = found["truths"].sum(axis=-2)  # (replications, models, C)
    return float((predicted < 0.01).any(axis=-1).mean())


def evaluate(cells, results):
    """One row per cell, metric and rule: hits and width."""
    rows = []
    for cell in cells:
        found = results[cell.name]
        metrics = TWO if found["folds"].shape[-1] == 2 else MANY
        share = collapses(found)
        about = {
            "cell": cell.name,
            "kind": cell.name.partition("-")[0] if cell.groups or cell.shares else "fixed",
            "collapse": share,
            "warned": float(found["warned"].mean()),
        }
        for metric in metrics:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                folds = folds_of(found, metric, cell.n_repeats)
                truth = truths(found, metric, cell.n_repeats)
                for rule, weight in weights(folds).items():
                    low_end, high_end = pooled_interval(folds, weight)
                    row = {**about, "metric": metric, "rule": rule}
                    row["width"] = float(np.nanmean(high_end - low_end))
                    for name, true in truth.items():
                        inside = (true >= low_end - 1e-12) & (true <= high_end + 1e-12)
                        known = ~np.isnan(true)
                        row[name] = int((inside & known).sum()), int(known.sum())
                    rows.append(row)
        print(cell.name, f"collapse {share:.2f}", f"warned {about['warned']:.2f}", flush=True)
    return rows


ASKED = {
    "fitted": ("fitted", "fitted, folds alone", "wang_li", "auto before"),
    "algorithm": ("algorithm", "algorithm, folds alone", "wang_li", "auto before"),
    "final": ("final", "final, folds alone", "wang_li", "auto before"),
}


def summary(rows):
    """Learners that do not collapse: every question and rule."""
    published = {(r["cell"], r["metric"]): r["width"] for r in rows if r["rule"] == "wang_li"}
    before = {(r["cell"], r["metric"]): r for r in rows if r["rule"] == "auto before"}
    table = []
    for estimand, rules in ASKED.items():
        for kind in ("fixed", "random", "groups"):
            if estimand == "algorithm" and kind == "groups":
                continue  # means over samples whose groups are others
            for rule in rules:
                mine = [r for r in rows if r["rule"] == rule and r["kind"] == kind]
                chosen = [r for r in mine if not _collapsed(r)]
                if chosen:
                    line = _line(chosen, estimand, published, before)
                    table.append([estimand, kind, rule, *line])
    header = [
        "question", "class counts", "rule", "cells", "mean", "least", "low at 93",
        "low at 92", "width / Wang and Li", "median width / before",
    ]  # fmt: skip
    return header, table


def collapsing(rows):
    """Learners that collapse, one by one: lowest coverage of all metrics."""
    table = []
    for name in dict.fromkeys(r["cell"] for r in rows if _collapsed(r)):
        mine = [r for r in rows if r["cell"] == name]
        line = [name, f"{100 * mine[0]['collapse']:.0f}", f"{100 * mine[0]['warned']:.0f}"]
        for estimand in ESTIMANDS:
            found = {r["metric"]: r[estimand] for r in mine if r["rule"] == estimand}
            cover = {metric: 100 * hits / n for metric, (hits, n) in found.items()}
            worst = min(cover, key=cover.get)
            line.append(f"{cover[worst]:.1f} ({worst})")
        table.append(line)
    return ["cell", "models without a class", "warned", *ESTIMANDS], table


def _collapsed(row):
    return 0.05 <= row["collapse"] <= 0.95


def _line(rows, estimand, published, before):
    hits, number = np.array([r[estimand] for r in rows]).T
    cover = hits / number
    width = np.array([r["width"] for r in rows])
    keys = [(r["cell"], r["metric"]) for r in rows]
    fine = [not low(*before[key]["algorithm"], 0.93) for key in keys]
    ratio = np.array([w / before[key]["width"] for w, key in zip(width, keys, strict=True)])
    return [
        len(rows), f"{100 * cover.mean():.1f}", f"{100 * cover.min():.1f}",
        int(low(hits, number, 0.93).sum()), int(low(hits, number, 0.92).sum()),
        f"{np.mean([w / published[key] for w, key in zip(width, keys, strict=True)]):.2f}",
        f"{np.median(ratio[fine]):.2f}",
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="fresh", choices=SETS)
    parser.add_argument("--folder", default="benchmarks/.results/fold_questions")
    parser.add_argument("--write", help="folder for the table")
    options = parser.parse_args()
    make, seed = SETS[options.set]
    cells = list(make())
    assert len({cell.name for cell in cells}) == len(cells)
    results = simulate(cells, REPLICATIONS, seed, Path(options.folder) / options.set)
    rows = evaluate(cells, results)
    report(rows, options.set, options.write)


def report(rows, chosen, folder=None):
    """Print the tables and all cells that are low, and write the tables."""
    tables = {
        f"fold_questions_{chosen}": summary(rows),
        f"fold_collapse_{chosen}": collapsing(rows),
    }
    for name, (header, table) in tables.items():
        for line in [header, *table]:
            print(" | ".join(map(str, line)))
        if folder:
            path = Path(folder) / f"{name}.rst.inc"
            path.write_text(restructured(header, table), encoding="utf-8")
    for r in rows:
        if r["rule"] in ESTIMANDS and low(*r[r["rule"]], 0.93):
            hits, number = r[r["rule"]]
            print(f"low: {r['rule']} {r['cell']} {r['metric']} {100 * hits / number:.1f}")
    often = {r["cell"]: r["warned"] for r in rows if r["warned"] > 0.5 and not _collapsed(r)}
    print("others that warn in more than half of the runs:", often)


if __name__ == "__main__":
    main()
