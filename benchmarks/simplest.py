"""What `simplest_equivalent` gives up on real data: F1 of the chosen model on rows it has not seen.

Five data sets that come with scikit-learn (the target of "diabetes" is above its median or not),
two searches each: trees by their number of leaves, support vector machines by C and gamma. A search
with ten folds is made in every one of 5 x 4 outer training sets (repeated five-fold
cross-validation) and scored on the outer test fold, F1 or macro F1. The rule "as good" is the
default, "not proven worse" takes the simplest candidate that is not worse by more than the ROPE
with 95 % probability. Data sets, grids, ROPE and seeds were committed before the first run.

    python benchmarks/simplest.py [--write docs/benchmark_tables]
"""

import argparse
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tables import restructured

from skuncertain import simplest_equivalent

ROPE = 0.01


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, (y > np.median(y)).astype(int)


def bundled(load):
    return lambda: load(return_X_y=True)


DATA = {
    "breast cancer": bundled(load_breast_cancer),
    "wine": bundled(load_wine),
    "iris": bundled(load_iris),
    "digits": bundled(load_digits),
    "diabetes": diabetes,
}
SEARCHES = {
    "tree": (
        DecisionTreeClassifier(random_state=0),
        {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256]},
        "max_leaf_nodes",
    ),
    "SVC": (
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.01, 0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1]},
        lambda params: params["svc__C"] * params["svc__gamma"],
    ),
}
RULES = {
    "as good": {},
    "not proven worse": {"probability": 0.05},
}


def run(data, search):
    """Outer scores of the highest mean and of both rules, and their inner means."""
    X, y = DATA[data]()
    learner, grid, complexity = SEARCHES[search]
    average = "binary" if len(np.unique(y)) == 2 else "macro"
    outer = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=11)
    rules = [
        simplest_equivalent("score", rope=ROPE, complexity=complexity, **options)
        for options in RULES.values()
    ]
    found = []
    for k, (train, test) in enumerate(outer.split(X, y)):
        inner = StratifiedKFold(10, shuffle=True, random_state=100 + k)
        scoring = "f1" if average == "binary" else "f1_macro"
        one = GridSearchCV(learner, grid, scoring=scoring, cv=inner, refit=False)
        results = one.fit(X[train], y[train]).cv_results_
        chosen = [int(np.argmax(results["mean_test_score"])), *(rule(results) for rule in rules)]
        line = []
        for index in chosen:
            model = clone(learner).set_params(**results["params"][index])
            predicted = model.fit(X[train], y[train]).predict(X[test])
            line.append(f1_score(y[test], predicted, average=average))
        found.append(line)
    return np.array(found)


def line(data, search):
    found = run(data, search)
    mean = found.mean(axis=0)
    gaps = found[:, :1] - found[:, 1:]
    error = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    print(data, search, mean.round(4), gaps.mean(axis=0).round(4), error.round(4), flush=True)
    cells = [f"{g:+.3f} ± {e:.3f}" for g, e in zip(-gaps.mean(axis=0), error, strict=True)]
    return [f"{data}, {search}", f"{mean[0]:.3f}", *cells]


HEAD = ("", "F1 of the highest mean", *(f"{name}: change" for name in RULES))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="folder of the tables of the documentation")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table = restructured(HEAD, [line(data, search) for data in DATA for search in SEARCHES])
    print(table)
    if given.write is not None:
        (given.write / "simplest.rst.inc").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
