"""Time and size of the report of a search over 1000 candidates, for every rendering.

CPU time of one thread. The page must stay below 1 MB, and report and renderings together below five
seconds. Run: python benchmarks/bench_reports.py
"""

import numpy as np
from timing import cpu, seconds

from skuncertain import search_posterior

SEED = 0
CANDIDATES, SPLITS = 1000, 10
RENDERINGS = ("__str__", "to_html", "_repr_html_", "to_markdown", "to_json", "to_csv")


def saved_search(rng, counts):
    """What a search would save: scores of the folds, or confusion matrices."""
    skill = rng.normal(0.8, 0.02, (CANDIDATES, 1))
    results = {
        "params": [{"model__C": c, "model__gamma": g} for c, g in rng.random((CANDIDATES, 2))]
    }
    cells = {"score": rng.normal(skill, 0.02, (CANDIDATES, SPLITS))}
    if counts:
        tp, tn = (rng.binomial(50, skill, (CANDIDATES, SPLITS)) for _ in range(2))
        cells = {"tp": tp, "fn": 50 - tp, "fp": 50 - tn, "tn": tn}
    for name, values in cells.items():
        results |= {f"split{k}_test_{name}": column for k, column in enumerate(values.T)}
    return results


def timed(function):
    """CPU seconds of a call, and what it returned."""
    found = []
    return cpu(lambda: found.append(function())), found[0]


def measure(kind):
    """Print the lines of one kind of search."""
    results = saved_search(np.random.default_rng(SEED), kind == "counts")
    options = {"n_repeats": 1, "test_train_ratio": 1 / 9, "random_state": SEED}
    metric = {"metric": "f1"} if kind == "counts" else {}
    total, posterior = timed(lambda: search_posterior(results, **options, **metric))
    print(f"| {kind} | search_posterior | {seconds(total)} | |")
    rendering, report = timed(posterior.report)
    print(f"| {kind} | report | {seconds(rendering)} | |")
    for name in RENDERINGS:
        one, text = timed(getattr(report, name))
        rendering += one
        print(f"| {kind} | {name} | {seconds(one)} | {len(text.encode()) / 1000:.1f} kB |")
    print(f"| {kind} | report and all renderings | {seconds(rendering)} | |", flush=True)


def main():
    print("| search | step | CPU time | size |")
    print("|---|---|---|---|")
    for kind in ("scores", "counts"):
        measure(kind)


if __name__ == "__main__":
    main()
