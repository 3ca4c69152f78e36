"""Coverage of bands of curves and of rates at a threshold, of a cross-validation.

Rows of folds count omega in them. The truth is that of the models of the folds: one threshold is
applied to all of them, and their rates in the population are averaged. No constant was chosen for
these cells; they were written down and committed before they were run.

    python benchmarks/fold_bands.py [--folder FOLDER] [--write docs/benchmark_tables]
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from fold_questions import scaled, tree
from lab import generators as g
from lab.coverage import low
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tables import restructured

from skuncertain import BayesianCrossValidator
from skuncertain.metrics import intervals_at_thresholds, precision_recall_band, roc_band

REPLICATIONS, SEED, TEST = 200, 5101, 6_000
FPR, RECALL, THRESHOLD = (0.1, 0.3), (0.5, 0.8), 0.5
CELLS = [
    ("bayes-ring", g.ring(4, 2.0, 0.5), GaussianNB(), (60, 40), 5),
    ("bayes-skewed", g.skewed(4, 2, 2.5), GaussianNB(), (100, 100), 10),
    ("logistic-wavy", g.wavy(6, 5.0), LogisticRegression(), (50, 50), 10),
    ("logistic-skewed", g.skewed(5, 3, 2.0), scaled(LogisticRegression()), (140, 60), 5),
    ("tree-wavy", g.wavy(6, 5.0), tree(max_depth=4, min_samples_leaf=8), (100, 100), 10),
    ("knn15-heavy", g.heavy(4, 1.0), KNeighborsClassifier(15), (100, 60), 5),
]


def truths(models, X, y, prevalence):
    """Functions: true positive rate at a false positive rate, precision at a recall, and recall."""
    score = np.array([model.predict_proba(X)[:, 1] for model in models])
    places = np.unique(score)[::-1]
    fpr, tpr = (
        1 - np.searchsorted(np.sort(score[:, y == c], axis=None), places, side="left")
        / score[:, y == c].size
        for c in (0, 1)
    )  # fmt: skip
    at = np.interp(FPR, np.r_[0, fpr], np.r_[0, tpr])
    beside = np.interp(RECALL, np.r_[0, tpr], np.r_[0, fpr])
    recall = np.array(RECALL) * prevalence
    return at, recall / (recall + beside * (1 - prevalence)), np.mean(score[:, y == 1] >= THRESHOLD)


def one(cell, test, rng):
    """Whether intervals that know of folds, and others, hold the truth; and their widths."""
    _, make, learner, counts, k = cell
    y = np.repeat([0, 1], counts)
    order = rng.permutation(y.size)
    X, y = make(rng, counts)[order], y[order]
    splits = list(
        StratifiedKFold(k, shuffle=True, random_state=int(rng.integers(2**31))).split(X, y)
    )
    models = [clone(learner).fit(X[train], y[train]) for train, _ in splits]
    at, precision, recall = truths(models, *test, y.mean())
    bcv = BayesianCrossValidator(
        learner, cv=splits, keep_predictions=True, refit=False, metrics=["recall"]
    ).fit(X, y)
    plain = np.empty(y.size)
    for (_, rows), part in zip(splits, bcv.scores_, strict=True):
        plain[rows] = part[:, 1]
    found = []
    for scores in (bcv, plain):
        roc = roc_band(y, scores, band="pointwise").at(FPR)
        pr = precision_recall_band(y, scores, band="pointwise", prevalence=y.mean()).at(RECALL)
        row = intervals_at_thresholds(y, scores, [THRESHOLD], metrics=["recall"])
        ends = np.column_stack([roc, pr, [row.low["recall"], row.high["recall"]]])
        true = np.r_[at, precision, recall]
        held = (ends[0] - 1e-9 <= true) & (true <= ends[1] + 1e-9)
        found.append([held, ends[1] - ends[0]])
    return found


def run(number, cell, folder):
    """Share of intervals that hold the truth, and mean width: (weights, 2, questions)."""
    path = Path(folder) / f"{cell[0]}.json"
    if not path.exists():
        make = cell[1]
        rng = np.random.default_rng((SEED, number, 10**9))
        test = make(rng, (TEST // 2,) * 2), np.repeat([0, 1], TEST // 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                one(cell, test, np.random.default_rng((SEED, number, r)))
                for r in range(REPLICATIONS)
            ]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(np.mean(found, axis=0, dtype=float).tolist()), encoding="utf-8")
        print(cell[0], flush=True)
    return np.array(json.loads(path.read_text(encoding="utf-8")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="benchmarks/.results/fold_bands")
    parser.add_argument("--write", help="folder for the table")
    options = parser.parse_args()
    asked = [
        *(f"TPR at FPR {x:g}" for x in FPR), *(f"precision at recall {x:g}" for x in RECALL),
        f"recall at {THRESHOLD:g}",
    ]  # fmt: skip
    table = []
    for number, cell in enumerate(CELLS):
        (with_, wide), (without, narrow) = run(number, cell, options.folder)
        line = [cell[0], f"{sum(cell[3])} rows, {cell[4]} folds"]
        for held, plain in zip(with_, without, strict=True):
            mark = " low" if low(round(held * REPLICATIONS), REPLICATIONS, 0.93) else ""
            line.append(f"{100 * held:.1f}{mark} ({100 * plain:.1f})")
        table.append([*line, f"{np.mean(wide / narrow):.2f}"])
    header = ["cell", "rows", *asked, "width / rows in full"]
    for line in [header, *table]:
        print(" | ".join(line))
    if options.write:
        path = Path(options.write) / "fold_bands.rst.inc"
        path.write_text(restructured(header, table), encoding="utf-8")


if __name__ == "__main__":
    main()
