"""Rows of the study: what every method covers in every cell, kept beside the results."""

import gzip
import hashlib
import json
import warnings
from pathlib import Path

import skuncertain
from lab.intervals import evaluate, truth_error
from lab.resample import load

METRICS = (
    "accuracy", "recall", "precision", "f1", "matthews_corrcoef", "balanced_accuracy",
)  # fmt: skip
WALD = "Wald on 10 folds"


def _fingerprint():
    """Of everything that intervals are made by: rows of another version are made again."""
    names = ("metrics", "model_selection", "posteriors", "_numerics")
    paths = [p for name in names for p in Path(skuncertain.__file__).parent.glob(f"{name}/**/*.py")]
    paths += [p for p in Path(__file__).parent.glob("*.py") if p.stem != "study_tables"]
    return hashlib.sha256(b"".join(p.read_bytes() for p in sorted(paths))).hexdigest()[:16]


VERSION = _fingerprint()  # of the code that was imported


def rows_of(cells, folder, archive):
    """One dict per cell, metric and method, of the cells that are complete.

    Cells that were run elsewhere, of which the folder has nothing, come from the archive.
    """
    found, archived = [], read_archive(archive)
    for cell in cells:
        path = Path(folder) / f"{cell.key}.rows.json"
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["version"] == VERSION:
                found += kept["rows"]
                continue
        results = load(folder, cell)
        if results is None:
            print(
                f"{cell.key}: {'archived' if cell.key in archived else 'not complete'}", flush=True
            )
            found += archived.get(cell.key, [])
            continue
        rows = _evaluated(cell, results)
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps({"version": VERSION, "rows": rows}), encoding="utf-8")
        draft.rename(path)
        print(f"{cell.key}: evaluated", flush=True)
        found += rows
    return found


def read_archive(path):
    """Rows by cell."""
    if not Path(path).exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write_archive(path, rows):
    """Keep the rows of all cells, old and new, without the results that they were made from."""
    cells = {row["cell"] for row in rows}
    kept = read_archive(path) | {
        cell: [row for row in rows if row["cell"] == cell] for cell in cells
    }
    text = json.dumps(kept, sort_keys=True).encode()
    # Without a time, equal rows are equal files.
    Path(path).write_bytes(gzip.compress(text, mtime=0))


def _evaluated(cell, results):
    about = {
        "cell": cell.key, "set": cell.population, "learner": cell.name, "n": cell.n,
        "expensive": cell.expensive, "replications": cell.replications, "cpu": results["cpu"],
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
