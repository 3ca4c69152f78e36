"""The benchmark of Schulz-Kümpel et al. (2024), again, for accuracy and five other metrics.

Samples of 100 and 500 rows from six sets (class counts are random), six learners, 300 samples per
cell (100 for the forest), nominal 95 %. Every method is asked for four truths: the expected
performance of the algorithm at the training size of the method and at n, the mean of the models
that it has fitted, and the model fitted on all rows. benchmarks/lab/resample.py says what is saved,
lab/intervals.py what the methods make of it.

Cells, seeds and replications were committed before the first run. A run that was killed goes on
where it was; the real sets are read from the folder that SKUNCERTAIN_DATA names (letter.csv.gz and
magic.csv.gz, with a column "target"), else skipped. What the methods covered in every cell is kept
in study.json.gz beside this file, and the tables are made from it; cells that are in it are not run
again unless --again says so, as it should after a change of a rule. All of it takes about two and a
half hours of one core: 0.7 for 100 rows, 1.3 for 500, 0.5 for the forests.

    python benchmarks/study.py [--folder FOLDER] [--write docs/benchmark_tables] [--only TEXT]
        [--again]
"""

import argparse
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from lab.resample import StudyCell, run
from lab.sets import SETS
from lab.study_tables import tables
from lab.summaries import read_archive, rows_of, write_archive
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from tables import restructured

SEED = 2409
ARCHIVE = Path(__file__).with_name("study.json.gz")


def tree(**options):
    return lambda seed: DecisionTreeClassifier(**options, random_state=seed)


TREES = {
    "tree": tree(min_samples_split=20, min_samples_leaf=7),
    "stump": tree(max_depth=1),
    "balanced-tree": tree(max_depth=4, min_samples_leaf=7, class_weight="balanced"),
    "forest": lambda seed: RandomForestClassifier(50, random_state=seed),
}
LINEAR = {
    "logistic": lambda seed: LogisticRegression(solver="newton-cholesky"),
    "ridge": lambda seed: RidgeClassifier(),
}


CHEAP, WIDE = ("logistic", "stump", "ridge"), ("blocks_50", "bates_100")
# Learners and sets in the order in which they are run: most cells per hour first. The random
# numbers of a cell do not depend on the order.
STAGES = (
    (100, ("tree", "logistic", "stump", "balanced-tree", "ridge"), tuple(SETS)),
    (
        500,
        ("logistic", "tree", "stump", "ridge", "balanced-tree"),
        ("bates_20", "letter", "magic", "factors_20"),
    ),
    (500, CHEAP, WIDE),
    (100, ("forest",), ("magic", "bates_20")),
    (500, ("balanced-tree", "tree"), WIDE),
)


def cells():
    """All cells."""
    for n, learners, sets in STAGES:
        for learner in learners:
            for name in sets:
                yield cell(name, learner, n)


def cell(name, learner, n):
    # Half of the cells: trees and logistic regression everywhere, stumps in few rows, one forest.
    expensive = learner in ("tree", "logistic") or (learner, n) == ("stump", 100)
    replications, chunk = (100, 25) if learner == "forest" else (300, 100)
    return StudyCell(
        name,
        learner,
        (TREES | LINEAR)[learner],
        n,
        replications,
        expensive or (name, learner) == ("bates_20", "forest"),
        learner in TREES,
        chunk,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="benchmarks/.results/study")
    parser.add_argument("--write", help="folder for the tables")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--no-fits", action="store_true", help="evaluate what is there")
    parser.add_argument("--again", action="store_true", help="run cells of the archive, too")
    options = parser.parse_args()
    chosen = [one for one in cells() if options.only in one.key]
    if not options.no_fits:
        known = {} if options.again else read_archive(ARCHIVE)
        run([one for one in chosen if one.key not in known], SEED, options.folder)
    rows = rows_of(chosen, options.folder, ARCHIVE)
    write_archive(ARCHIVE, rows)
    print(summary := budget(rows, len(chosen)))
    written = {"study_budget": summary}
    for name, (header, lines) in tables(rows).items():
        print(f"\n{name}")
        for line in [header, *lines]:
            print(" | ".join(map(str, line)))
        written[name] = restructured(header, lines)
    if options.write:
        for name, text in written.items():
            (Path(options.write) / f"{name}.rst.inc").write_text(text, encoding="utf-8")


def budget(rows, number):
    """How much has been run, what it cost, and how well the truths are known."""
    cpu = {row["cell"]: row["cpu"] for row in rows}
    error = max((row["truth"] for row in rows), default=0.0)
    return (
        f"{len(cpu)} of {number} cells have been run, in {sum(cpu.values()) / 3600:.1f} hours of "
        f"one core. The truths are known to {error:.2f} standard errors of the Wald interval "
        "or better.\n"
    )


if __name__ == "__main__":
    main()
