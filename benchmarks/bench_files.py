"""Counting predictions in files: CPU time against pandas and scikit-learn, and memory.

Times are CPU time of one thread, the median of repetitions; the two sides of a ratio alternate.
Memory is the peak of `skuncertain report` on the file, imports included. pandas is needed.
Run: python benchmarks/bench_files.py [rows, default 5,000,000]
"""

import argparse
import gzip
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.metrics import confusion_matrix
from timing import cpu, seconds

from skuncertain._io.tables import read_predictions

SEED = 0
AT_MOST = 1.5  # times pandas and scikit-learn
MEGABYTES = 500
PART = 100_000  # different rows; the file repeats them
TEXTS = np.array(["negative", "positive_case"])


def write(path, rows, labels, columns):
    """Write a table of labels, with an id, a score or a text beside them."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(2, size=PART)
    p = np.where(rng.random(PART) < 0.9, y, 1 - y)
    if labels == "texts":
        y, p = TEXTS[y], TEXTS[p]
    parts = {"y": y, "yhat": p}
    if "wide" in columns:
        parts = {"id": np.arange(PART), **parts, "score": rng.random(PART).round(12)}
    if "prose" in columns:
        parts["text"] = np.full(PART, '"a, b and ""c"""')
    lines = [",".join(map(str, row)) for row in zip(*parts.values(), strict=True)]
    block = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as file:
        file.write(",".join(parts).encode() + b"\n")
        for _ in range(rows // PART):
            file.write(block)
    return path


# A process starts with the memory of the one that it was forked from, so a small one starts it.
LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
assert status == 0
print(usage.ru_maxrss)
"""


def peak(path):
    """Peak memory in MB of the program that reads a file."""
    words = f"-m skuncertain report --file {path} --true y --pred yhat --format csv".split()
    python = sys.executable
    out = subprocess.run(
        [python, "-c", LAUNCHER, python, *words], capture_output=True, check=True
    ).stdout
    return int(out) / (2**20 if sys.platform == "darwin" else 2**10)


def measure(name, path, repeats):
    import pandas

    def baseline():
        frame = pandas.read_csv(path)
        return confusion_matrix(frame["y"], frame["yhat"])

    def ours():
        return read_predictions(path, true="y", pred="yhat").counts

    assert np.array_equal(ours(), baseline())  # warms up as well
    times = [(cpu(ours), cpu(baseline)) for _ in range(repeats)]
    mine, theirs = map(statistics.median, zip(*times, strict=True))
    ratio, memory = mine / theirs, peak(path)
    verdict = "ok" if ratio <= AT_MOST and memory < MEGABYTES else "behind"
    size = f"{path.stat().st_size / 1e6:,.0f} MB"
    cells = (
        name,
        size,
        seconds(mine),
        seconds(theirs),
        f"{ratio:.2f}",
        f"{memory:.0f} MB",
        verdict,
    )
    print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="?", type=int, default=5_000_000)
    rows = parser.parse_args().rows
    try:
        import pandas  # noqa: F401
    except ImportError:
        print("pandas is not installed: there is nothing to compare with.")
        return
    print(f"{rows:,} rows; goal: at most {AT_MOST} x the CPU time, less than {MEGABYTES} MB\n")
    print("| file | size | ours | pandas + confusion_matrix | ratio | memory | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.csv"
        for labels in ("integers", "texts"):
            repeats = 3 if labels == "integers" else 1  # scikit-learn sorts texts for seconds
            for columns in ("two columns", "wide: id and score as well"):
                write(path, rows, labels, columns)
                measure(f"{labels}, {columns}", path, repeats)
        write(path, rows, "integers", "prose")
        measure("integers, and a quoted text with commas", path, 1)
        write(path, rows, "integers", "wide")
        packed = path.with_suffix(".csv.gz")
        with path.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target)
        measure("integers, wide, gz", packed, 1)


if __name__ == "__main__":
    main()
