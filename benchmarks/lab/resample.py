"""Everything that the methods of the study need of one sample: counts of models, and their truths.

What is saved per replication, as counts of two classes (rows true, columns predicted):

* ``folds``, ``models``, ``truths``: the 5 x 10 models of repeated cross-validation (stratified) on
  their test rows, on all rows of the sample, and in the population;
* ``splits``, ``split_truths``: 25 models of random tenths left out;
* ``holdout``, ``holdout_truth``: a model of two thirds of the rows;
* ``final``, ``blocks``: the model of all rows, in the population and in parts of its rows;
* ``halves``: 5 models of splits of either half of the rows, 10 times (conservative-z);
* ``outer``, ``inner``: 3 times nested cross-validation in 5 folds; ``inner[r, i, j]`` are the rows
  of fold j, predicted by the model that has seen neither them nor fold i.

Rules can be evaluated again from these numbers without fitting anything.
"""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import sklearn
from sklearn.model_selection import StratifiedKFold

from lab.sets import BLOCKS, Truth, population

REPEATS, FOLDS = 5, 10
SPLITS, LEFT_OUT = 25, 0.1
PAIRS, SPLITS_OF_HALF = 10, 5
NESTED_REPEATS, NESTED_FOLDS = 3, 5


@dataclass(frozen=True)
class StudyCell:
    """A set, a learner and a number of rows.

    `learner` is a function of a seed. With `expensive`, conservative-z and nested cross-validation
    are run, too; trees get rows in single precision. A file holds `chunk` replications.
    """

    population: str
    name: str
    learner: Any
    n: int
    replications: int
    expensive: bool
    tree: bool
    chunk: int = 100

    @property
    def key(self):
        """Name of the cell in files and tables."""
        return f"{self.population}-{self.name}-{self.n}"

    @property
    def chunks(self):
        """First replication and number of replications of every file."""
        starts = range(0, self.replications, self.chunk)
        return [(start, min(self.chunk, self.replications - start)) for start in starts]


class Constant:
    """What a model is without a second class to learn."""

    def __init__(self, label):
        self.label = label

    def predict(self, X):
        return np.full(len(X), self.label)


def path_of(folder, cell, start):
    return Path(folder) / f"{cell.key}.{start:04d}.npz"


def run(cells, seed, folder):
    """Run what is not in the folder yet, in the order of the cells."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sklearn.set_config(skip_parameter_validation=True, assume_finite=True)
    for cell in cells:
        if population(cell.population) is None:
            print(f"{cell.key}: skipped, SKUNCERTAIN_DATA does not name its folder", flush=True)
            continue
        for start, number in cell.chunks:
            if not path_of(folder, cell, start).exists():
                _run_chunk(cell, seed, path_of(folder, cell, start), start, number)


def _run_chunk(cell, seed, path, start, number):
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            replicate(cell, np.random.default_rng((seed, crc32(cell.key.encode()), r)))
            for r in range(start, start + number)
        ]
    arrays = {name: np.array([part[name] for part in found]) for name in found[0]}
    arrays["cpu"] = np.array(time.process_time() - began)
    draft = path.with_suffix(".part.npz")
    np.savez_compressed(draft, **arrays)
    draft.rename(path)
    print(f"{path.stem}: {arrays['cpu']:.0f} s", flush=True)


def load(folder, cell):
    """Arrays of all replications of a cell, or None if some are missing."""
    paths = [path_of(folder, cell, start) for start, _ in cell.chunks]
    if not all(path.exists() for path in paths):
        return None
    parts = [dict(np.load(path)) for path in paths]
    cpu = sum(float(part.pop("cpu")) for part in parts)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} | {
        "cpu": cpu
    }


# --------------------------------------------------------------------------------------------------
# One replication


class Sample:
    """A sample and the learner: fits models and counts what they say."""

    def __init__(self, cell, rng):
        people = population(cell.population)
        X, self.y, left = people.sample(rng, cell.n)
        self.X = X.astype(np.float32) if cell.tree else X
        self.truth = Truth(people, left, cell.tree)
        self.learner, self.rng, self.n = cell.learner, rng, cell.n

    def fit(self, rows):
        y = self.y[rows]
        seed = int(self.rng.integers(2**31 - 1))
        if y.min() == y.max():
            return Constant(y[0])
        return self.learner(seed).fit(self.X[rows], y)

    def count(self, model, rows):
        return self.tally(rows, model.predict(self.X[rows]))

    def tally(self, rows, predicted):
        return np.bincount(2 * self.y[rows] + predicted, minlength=4).reshape(2, 2)

    def split(self, rows, n_test):
        """Test rows and training rows of a random split of some rows."""
        mixed = self.rng.permutation(rows)
        return mixed[:n_test], mixed[n_test:]


def replicate(cell, rng):
    """Counts and truths of one sample."""
    sample = Sample(cell, rng)
    found = _folds(sample) | _single(sample) | _splits(sample)
    if cell.expensive:
        found |= {"halves": _halves(sample)} | _nested(sample)
    truths = {"truths", "split_truths", "holdout_truth", "final", "blocks"}
    return {
        name: np.array(part, dtype=np.float32 if name in truths else np.int16)
        for name, part in found.items()
    }


def _folds(sample):
    folds, models, truths = [], [], []
    for _ in range(REPEATS):
        seed = int(sample.rng.integers(2**31 - 1))
        splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        for train, test in splitter.split(sample.X, sample.y):
            model = sample.fit(train)
            predicted = model.predict(sample.X)
            folds.append(sample.tally(test, predicted[test]))
            models.append(sample.tally(slice(None), predicted))
            truths.append(sample.truth.ask(model))
    return {"folds": folds, "models": models, "truths": truths}


def _single(sample):
    rows = np.arange(sample.n)
    final = sample.fit(rows)
    test, train = sample.split(rows, sample.n - round(2 / 3 * sample.n))
    model = sample.fit(train)
    return {
        "final": sample.truth.ask(final),
        "blocks": sample.truth.ask(final, BLOCKS),
        "holdout": sample.count(model, test),
        "holdout_truth": sample.truth.ask(model),
    }


def _splits(sample):
    counts, truths = [], []
    for _ in range(SPLITS):
        test, train = sample.split(np.arange(sample.n), round(LEFT_OUT * sample.n))
        model = sample.fit(train)
        counts.append(sample.count(model, test))
        truths.append(sample.truth.ask(model))
    return {"splits": counts, "split_truths": truths}


def _halves(sample):
    n_test, half = round(LEFT_OUT * sample.n), sample.n // 2
    found = np.zeros((PAIRS, 2, SPLITS_OF_HALF, 2, 2))
    for pair in range(PAIRS):
        mixed = sample.rng.permutation(sample.n)
        for side in range(2):
            rows = mixed[side * half : (side + 1) * half]
            for k in range(SPLITS_OF_HALF):
                test, train = sample.split(rows, n_test)
                found[pair, side, k] = sample.count(sample.fit(train), test)
    return found


def _nested(sample):
    size = NESTED_FOLDS
    outer = np.zeros((NESTED_REPEATS, size, 2, 2))
    inner = np.zeros((NESTED_REPEATS, size, size, 2, 2))
    for r in range(NESTED_REPEATS):
        fold = sample.rng.permutation(np.arange(sample.n) % size)
        for i in range(size):
            model = sample.fit(np.flatnonzero(fold != i))
            outer[r, i] = sample.count(model, np.flatnonzero(fold == i))
            for j in range(i):  # one model has seen neither fold: it serves both
                model = sample.fit(np.flatnonzero((fold != i) & (fold != j)))
                inner[r, i, j] = sample.count(model, np.flatnonzero(fold == j))
                inner[r, j, i] = sample.count(model, np.flatnonzero(fold == i))
    return {"outer": outer, "inner": inner}
