"""Rows of the study, kept beside its results, and the tables of the page."""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np

import skuncertain
from lab.coverage import low
from lab.intervals import evaluate, truth_error
from lab.resample import load

METRICS = (
    "accuracy", "recall", "precision", "f1", "matthews_corrcoef", "balanced_accuracy",
)  # fmt: skip
TITLES = {"matthews_corrcoef": "MCC", "balanced_accuracy": "balanced accuracy", "f1": "F1"}
ESTIMANDS = ("trained", "at n", "fitted", "final")
WALD = "Wald on 10 folds"
# What each method is asked for where there is room for one truth only.
CLAIMS = {
    "hold-out": "fitted", "Wald": "fitted", "Nadeau-Bengio": "trained", "corrected t": "trained",
    "conservative z": "trained", "nested": "final", "fitted": "fitted", "algorithm": "trained",
    "final": "final", "Wang and Li": "fitted",
}  # fmt: skip
PUBLISHED = (
    "hold-out, Wald", WALD, "Nadeau-Bengio on 10 folds", "corrected t, 10 splits",
    "corrected t, 25 splits", "conservative z, 10 x 5", "nested cross-validation, 3 x 5",
)  # fmt: skip
OURS = tuple(
    f"{rule}, {folds}"
    for folds in ("10 folds", "2 x 10 folds", "5 x 10 folds")
    for rule in ("fitted", "algorithm", "final", "Wang and Li")
)
METHODS = (*PUBLISHED, *OURS)
BEFORE = "omega before, 10 folds"


def claim(method):
    return next(what for name, what in CLAIMS.items() if method.startswith(name))


def rows_of(cells, folder):
    """One dict per cell, metric and method, of the cells that are complete."""
    version, found = _fingerprint(), []
    for cell in cells:
        path = Path(folder) / f"{cell.key}.rows.json"
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["version"] == version:
                found += kept["rows"]
                continue
        results = load(folder, cell)
        if results is None:
            print(f"{cell.key}: not complete", flush=True)
            continue
        rows = _evaluated(cell, results)
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps({"version": version, "rows": rows}), encoding="utf-8")
        draft.rename(path)
        print(f"{cell.key}: evaluated", flush=True)
        found += rows
    return found


def _evaluated(cell, results):
    about = {
        "cell": cell.key, "set": cell.population, "learner": cell.name, "n": cell.n,
        "expensive": cell.expensive, "cpu": results["cpu"],
    }  # fmt: skip
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tests in which a metric is 0/0
        for metric in METRICS:
            found = evaluate(results, metric, cell.n)
            wald = next(row["width"] for row in found if row["method"] == WALD)
            error = truth_error(results, metric) / (wald / (2 * 1.96))
            rows += [about | row | {"ratio": row["width"] / wald, "truth": error} for row in found]
    return rows


def _fingerprint():
    """Of everything that intervals are made by: rows of another version are made again."""
    folders = [Path(skuncertain.__file__).parent, Path(__file__).parent]
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


# --------------------------------------------------------------------------------------------------
# Tables


def tables(rows):
    """Header and lines of every table, by the name of its file."""
    half = [row for row in rows if row["expensive"]]
    accuracy = [row for row in rows if row["metric"] == "accuracy"]
    return {
        "study_accuracy": _by_method([row for row in half if row["metric"] == "accuracy"]),
        "study_metrics": _by_metric(half, _coverage),
        "study_widths": _by_metric(half, _width),
        "study_all": _by_metric(rows, _coverage, OURS),
        "study_learners": _by_learner(accuracy),
    }


def _chosen(rows, method, **other):
    return [
        row
        for row in rows
        if row["method"] == method and all(row[key] == value for key, value in other.items())
    ]


def _coverage(rows, estimand=None):
    """Such as "95.1 / 92.3, 1": mean, minimum, number of low cells."""
    rows = [row for row in rows if (estimand or claim(row["method"])) in row]
    if not rows:
        return ""
    hits, number = np.array([row[estimand or claim(row["method"])] for row in rows]).T
    cover = 100 * hits / number
    return f"{cover.mean():.1f} / {cover.min():.1f}, {int(low(hits, number, 0.93).sum())}"


def _width(rows):
    return f"{np.mean([row['ratio'] for row in rows]):.2f}" if rows else ""


def _by_method(rows):
    header = ["method", "fits", *("at the training size", "at n", "fitted models", "final model")]
    lines = []
    for method in METHODS:
        mine = _chosen(rows, method)
        if mine:
            cover = [_coverage(mine, estimand) for estimand in ESTIMANDS]
            lines.append([method, mine[0]["fits"], *cover, _width(mine)])
    return [*header, "width / Wald"], lines


def _by_metric(rows, entry, methods=METHODS):
    lines = [
        [method, *(entry(_chosen(rows, method, metric=metric)) for metric in METRICS)]
        for method in methods
        if _chosen(rows, method)
    ]
    return ["method", *(TITLES.get(metric, metric) for metric in METRICS)], lines


def _by_learner(rows):
    methods = (
        "corrected t, 10 splits", "nested cross-validation, 3 x 5", BEFORE, "fitted, 10 folds",
        "algorithm, 10 folds", "final, 10 folds",
    )  # fmt: skip
    lines = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        for n in dict.fromkeys(row["n"] for row in rows if row["learner"] == learner):
            line = [learner, n]
            for method in methods:
                mine = _chosen(rows, method, learner=learner, n=n)
                what = "at n"
                line.append(f"{_coverage(mine, what)}; {_width(mine)}" if mine else "")
            lines.append(line)
    return ["learner", "n", *(name.replace(BEFORE, "ω before") for name in methods)], lines
