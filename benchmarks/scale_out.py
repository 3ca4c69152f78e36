"""The same work on a cluster of processes: a search, and counts of many files; and a worker dies.

Needs dask.distributed (``pip install "skuncertain[dask]"``). The cluster is local here; an address
of a scheduler takes its place elsewhere. Every result is compared with that of one process.

Run: python benchmarks/scale_out.py [--rows 100000000] [--chunks 100] [--write DIRECTORY]
"""

import argparse
import os
import signal
import tempfile
import time
import warnings
from concurrent.futures import CancelledError
from pathlib import Path
from threading import Thread

import joblib
import numpy as np
from distributed import Client, KilledWorker, LocalCluster
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV
from tables import markdown, restructured

from skuncertain import ConfusionCounts, ConfusionCountsScorer, search_posterior

WORKERS, CANDIDATES, FOLDS, SEED = 2, 200, 10, 0
LABELS = [0, 1, 2]


def write_chunk(path, rows, seed):
    """One file of true and predicted labels: three classes, one byte each."""
    rng = np.random.default_rng([SEED, seed])
    y = rng.choice(3, size=rows, p=[0.7, 0.25, 0.05]).astype(np.uint8)
    pred = np.where(rng.random(rows) < 0.9, y, rng.integers(3, size=rows, dtype=np.uint8))
    np.save(path, np.stack([y, pred]))


def count_file(path):
    """Map: the counts of one file. They add up, whatever the order."""
    y, pred = np.load(path, mmap_mode="r")
    return ConfusionCounts.from_predictions(y, pred, labels=LABELS)


def add(parts):
    """Reduce: the sum of some counts."""
    return sum(parts[1:], start=parts[0])


def map_reduce(client, paths, width=10):
    """Counts of all files; sums of `width` at a time, made where the parts are."""
    parts = client.map(count_file, paths, pure=False)
    while len(parts) > 1:
        groups = [parts[k : k + width] for k in range(0, len(parts), width)]
        parts = client.map(add, groups, pure=False)
    return parts[0].result()


def clock(function):
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def search():
    """Candidates of a logistic regression, scored by their counts in every fold."""
    space = {"C": np.logspace(-4, 4, CANDIDATES), "class_weight": [None, "balanced"]}
    return RandomizedSearchCV(
        LogisticRegression(max_iter=200),
        space,
        n_iter=CANDIDATES,
        scoring=ConfusionCountsScorer(metrics=["f1"]),
        refit="f1",
        cv=FOLDS,
        random_state=SEED,
    )


def same_search(one, other):
    """Whether two finished searches have the same counts and the same analysis."""
    names = [name for name in one.cv_results_ if name.startswith("split")]
    counts = all(np.array_equal(one.cv_results_[n], other.cv_results_[n]) for n in names)
    a, b = (search_posterior(s, metric="f1", random_state=SEED) for s in (one, other))
    return counts and np.array_equal(a.p_best, b.p_best)


def kill_one(client, after):
    """Kill the process of one worker in a moment; its nanny starts another one."""
    pid = next(iter(client.run(os.getpid).values()))
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    return pid


def searches(client, rows):
    X, y = make_classification(1000, 10, flip_y=0.1, weights=[0.7], random_state=SEED)
    alone, seconds = clock(lambda: search().fit(X, y))
    what = f"search, {CANDIDATES} candidates x {FOLDS} folds"
    rows.append([what, "one process", f"{seconds:.1f}", "", ""])

    def spread():
        with joblib.parallel_config(backend="dask", n_jobs=-1):
            return search().fit(X, y)

    def spread_with_a_death():
        """scikit-learn does not repeat what was lost with a worker: start again, once."""
        killer = Thread(target=kill_one, args=(client, seconds / 4))
        killer.start()
        try:
            fitted, attempts = spread(), 1
        except (CancelledError, KilledWorker):
            fitted, attempts = spread(), 2
        killer.join()
        rows.append([f"{what}: attempts", "dask, one worker killed", attempts, "", ""])
        return fitted

    for how, run in (("dask", spread), ("dask, one worker killed", spread_with_a_death)):
        found, needed = clock(run)
        same = "yes" if same_search(alone, found) else "NO"
        how = f"{how}, {WORKERS} processes"
        rows.append([what, how, f"{needed:.1f}", ratio(seconds, needed), same])
        print(*rows[-1], sep=" | ", flush=True)


def ratio(one, other):
    return f"{one / other:.2f}"


def files(client, rows, n, chunks, folder):
    paths = [str(folder / f"{k:04d}.npy") for k in range(chunks)]
    client.gather(client.map(write_chunk, paths, [n // chunks] * chunks, range(chunks)))
    size = sum(os.path.getsize(path) for path in paths) / 2**20
    what = f"counts of {n:,} predictions, {chunks} files, {size:.0f} MiB"
    alone, seconds = clock(lambda: add([count_file(path) for path in paths]))
    rows.append([what, "one process", f"{seconds:.1f}", "", ""])

    def with_a_death():
        killer = Thread(target=kill_one, args=(client, seconds / 6))
        killer.start()
        found = map_reduce(client, paths)
        killer.join()
        return found

    for how, run in (
        ("dask", lambda: map_reduce(client, paths)),
        ("dask, one worker killed", with_a_death),
    ):
        found, needed = clock(run)
        same = "yes" if found == alone and int(found.n) == n else "NO"
        rows.append(
            [what, f"{how}, {WORKERS} processes", f"{needed:.1f}", ratio(seconds, needed), same]
        )
        print(*rows[-1], sep=" | ", flush=True)
    print(f"accuracy {alone.posterior('accuracy').interval()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--chunks", type=int, default=100)
    parser.add_argument("--write", type=Path, help="directory for the table of the docs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=folder,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        files(client, rows, options.rows, options.chunks, Path(folder))
        searches(client, rows)
    header = ["what", "how", "seconds", "one process / this", "the same result"]
    print(f"\n{markdown(header, rows)}")
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        (options.write / "scale_out.rst.inc").write_text(restructured(header, rows))


if __name__ == "__main__":
    main()
