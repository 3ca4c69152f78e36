"""Tables of the page about the study, from its rows."""

import numpy as np

from lab.coverage import low
from lab.intervals import SHARES
from lab.summaries import METRICS, WALD

TITLES = {"matthews_corrcoef": "MCC", "balanced_accuracy": "balanced accuracy", "f1": "F1"}
TRUTHS = {
    "trained": "at the training size", "at n": "at n", "fitted": "fitted models",
    "final": "final model",
}  # fmt: skip
# What each method is asked for where there is room for one truth only.
CLAIMS = {
    "hold-out": "fitted", "Wald": "fitted", "Nadeau-Bengio": "trained", "corrected t": "trained",
    "conservative z": "trained", "nested": "final", "fitted": "fitted", "algorithm": "trained",
    "final": "final", "Wang and Li": "fitted", "omega before": "fitted",
}  # fmt: skip
CORRECTED, NESTED = "corrected t, 10 splits", "nested cross-validation, 3 x 5"
PUBLISHED = (
    "hold-out, Wald", WALD, "Nadeau-Bengio on 10 folds", CORRECTED, "corrected t, 25 splits",
    "conservative z, 10 x 5", NESTED,
)  # fmt: skip
RULES = ("fitted", "algorithm", "final")
FOLDS = ("10 folds", "2 x 10 folds", "5 x 10 folds")
OURS = tuple(f"{rule}, {folds}" for folds in FOLDS for rule in (*RULES, "Wang and Li"))
ALONE = tuple(f"{rule} without models, 10 folds" for rule in RULES)


def tables(rows):
    """Header and lines of every table, by the name of its file."""
    found = {"study_cells": _cells(rows)}
    half = [row for row in rows if row["expensive"]]
    for n in sorted({row["n"] for row in half}):
        mine = [row for row in half if row["n"] == n]
        accuracy = [row for row in mine if row["metric"] == "accuracy"]
        found[f"study_accuracy_{n}"] = _by_method(accuracy)
        found[f"study_metrics_{n}"] = _by_metric(mine, _coverage, (*PUBLISHED, *OURS))
    accuracy = [row for row in rows if row["metric"] == "accuracy"]
    return found | {
        "study_widths": _by_metric(half, _width, (*PUBLISHED, *OURS)),
        "study_all": _by_metric(rows, _coverage, (*OURS, *ALONE)),
        "study_learners": _by_learner(accuracy),
        "study_low": _low_cells(rows),
        "study_shares": _shares(accuracy),
    }


def claim(method):
    return next(what for name, what in CLAIMS.items() if method.startswith(name))


def _chosen(rows, method, **other):
    return [
        row
        for row in rows
        if row["method"] == method and all(row[key] == value for key, value in other.items())
    ]


def _hits(rows, estimand=None):
    """Numbers of intervals that hold the truth, and of intervals, of the rows that were asked."""
    pairs = [row.get(estimand or claim(row["method"])) for row in rows]
    return np.array([pair for pair in pairs if pair]).reshape(-1, 2).T


def _coverage(rows, estimand=None):
    """Such as "95.1 / 92.3, 1": mean, minimum, number of low cells."""
    hits, number = _hits(rows, estimand)
    if not len(hits):
        return ""
    cover = 100 * hits / number
    return f"{cover.mean():.1f} / {cover.min():.1f}, {int(low(hits, number, 0.93).sum())}"


def _width(rows):
    return f"{np.mean([row['ratio'] for row in rows]):.2f}" if rows else ""


def _cells(rows):
    """Replications by learner, rows and set; with a star if the expensive methods were run."""
    done = {
        (row["learner"], row["n"], row["set"]): f"{row['replications']}{'*' * row['expensive']}"
        for row in rows
    }
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = [
        [learner, n, *(done.get((learner, n, name), "-") for name in sets)]
        for learner, n in _learners(rows)
    ]
    return ["learner", "n", *sets], lines


def _learners(rows):
    return sorted(dict.fromkeys((row["learner"], row["n"]) for row in rows))


def _by_method(rows):
    lines = []
    for method in (*PUBLISHED, *OURS):
        mine = _chosen(rows, method)
        if mine:
            cover = [_coverage(mine, estimand) for estimand in TRUTHS]
            lines.append([method, mine[0]["fits"], *cover, _width(mine)])
    return ["method", "fits", *TRUTHS.values(), "width / Wald"], lines


def _by_metric(rows, entry, methods):
    lines = [
        [method, *(entry(_chosen(rows, method, metric=metric)) for metric in METRICS)]
        for method in methods
        if _chosen(rows, method)
    ]
    return ["method", *(TITLES.get(metric, metric) for metric in METRICS)], lines


def _by_learner(rows):
    methods = (CORRECTED, NESTED, *(f"{rule}, 10 folds" for rule in RULES))
    lines = []
    for learner, n in _learners(rows):
        line = [learner, n]
        for method in methods:
            mine = _chosen(rows, method, learner=learner, n=n)
            line.append(f"{_coverage(mine)}; {_width(mine)}" if mine else "")
        lines.append(line)
    return ["learner", "n", *methods], lines


def _shares(rows):
    """Accuracy with a share of the variance that our rules ask for."""
    lines = []
    for rule in RULES:
        for share in (1, *SHARES):
            name = rule if share == 1 else f"{rule} with {share} V"
            mine = [_chosen(rows, f"{name}, {folds}") for folds in FOLDS]
            lines.append([rule, share, *(f"{_coverage(part)}; {_width(part)}" for part in mine)])
    return ["rule", "share of V", *FOLDS], lines


def _low_cells(rows):
    """Cells in which our rules are low on 10 folds, with the coverage."""
    lines = []
    for rule in RULES:
        for metric in METRICS:
            mine = _chosen(rows, f"{rule}, 10 folds", metric=metric)
            hits, number = _hits(mine)
            found = [
                f"{row['cell']} {100 * hit / size:.1f}"
                for row, hit, size in zip(mine, hits, number, strict=True)
                if low(hit, size, 0.93)
            ]
            lines.append([rule, TITLES.get(metric, metric), ", ".join(found) or "none"])
    return ["rule", "metric", "low cells and their coverage"], lines
