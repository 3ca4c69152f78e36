"""Two cross-validations of learners on the same splits, with what only the population knows.

The two learners see their own block of features. Blocks are drawn alike given the class (twins), or
are two noisy images of the same rows (images), so that without a handicap neither is better.
"""

import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import sklearn
from sklearn.model_selection import StratifiedKFold

from lab.simulate import _path, _seed, count, fitted
from skuncertain.model_selection._stability import Reference


@dataclass(frozen=True)
class PairCell:
    """One configuration: two learners on two blocks of features of the same rows.

    `shared` is 0 for blocks that are independent given the class; otherwise both blocks are the
    same rows with noise of that standard deviation. `handicap` is the share of the rows of block A
    whose features are exchanged for those of a row of any class: A is worse.
    """

    name: str
    make: Any
    learner: Any
    counts: tuple
    n_folds: int
    n_repeats: int = 1
    shared: float = 0.0
    handicap: float = 0.0
    other: Any = None  # learner of block A, if it is another one
    n_test: int = 4_000


def simulate_pair(cell, n_replications, seed, folder):
    """Arrays of a cell, from its file if it was simulated before."""
    path = _path(Path(folder), cell)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _run(cell, n_replications, seed, path)
    return dict(np.load(path))


def _run(cell, n_replications, seed, path):
    sklearn.set_config(skip_parameter_validation=True, assume_finite=True)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = None
        if cell.n_test:
            rng = np.random.default_rng((*seed, 10**9))
            size = (cell.n_test // len(cell.counts),) * len(cell.counts)
            A, B = blocks(cell, rng, size)
            # Blocks that are drawn alike are tested on the same rows: no luck of one of them.
            test = A if cell.handicap else B, B, np.repeat(np.arange(len(size)), size)
        found = [_one(cell, test, np.random.default_rng((*seed, r))) for r in range(n_replications)]
    arrays = {name: np.array([part[name] for part in found]) for name in found[0]}
    arrays["cpu"] = time.process_time() - start
    draft = path.with_suffix(".part.npz")
    np.savez_compressed(draft, **arrays)
    draft.rename(path)
    print(f"{cell.name}: {arrays['cpu']:.0f} s", flush=True)


def blocks(cell, rng, counts):
    """Features of A and of B, rows of class 0 first."""
    if cell.shared:
        X = cell.make(rng, counts)
        A, B = (X + cell.shared * rng.standard_normal(X.shape) for _ in range(2))
    else:
        A, B = cell.make(rng, counts), cell.make(rng, counts)
    if cell.handicap:
        spoilt = np.flatnonzero(rng.random(len(A)) < cell.handicap)
        A[spoilt] = A[rng.permutation(len(A))[: spoilt.size]]
    return A, B


def _one(cell, test, rng):
    blocks_ = blocks(cell, rng, cell.counts)
    y = np.repeat(np.arange(len(cell.counts)), cell.counts)
    order = rng.permutation(len(y))
    y, Xs = y[order], [X[order] for X in blocks_]
    labels = tuple(range(len(cell.counts)))
    shares = np.array(cell.counts) / len(y)
    learners = (cell.other or cell.learner, cell.learner)
    predicted = np.empty((2, cell.n_repeats, len(y)), dtype=np.int8)
    fold = np.empty((cell.n_repeats, len(y)), dtype=np.int8)
    models, truths = [[], []], [[], []]
    references = [Reference.of(X, y, labels) for X in Xs]
    for r in range(cell.n_repeats):
        splitter = StratifiedKFold(cell.n_folds, shuffle=True, random_state=_seed(rng))
        for k, (train, rows) in enumerate(splitter.split(Xs[0], y)):
            fold[r, rows] = k
            for side, (X, learner) in enumerate(zip(Xs, learners, strict=True)):
                model = fitted(learner, X[train], y[train], rng)
                said = model.predict(references[side].X)
                models[side].append(count(y, said, labels))
                predicted[side, r, rows] = said[rows]
                if test is not None:
                    truths[side].append(_truth(model, test[side], test[2], labels, shares))
    found = {
        "y": y.astype(np.int8), "predicted": predicted, "fold": fold,
        "models": np.array(models, dtype=np.int32),
    }  # fmt: skip
    if test is not None:
        final = [
            _truth(fitted(learner, X, y, rng), test[side], test[2], labels, shares)
            for side, (X, learner) in enumerate(zip(Xs, learners, strict=True))
        ]
        found |= {"truths": np.array(truths), "final": np.array(final)}
    return found


def _truth(model, X, y, labels, shares):
    matrix = count(y, model.predict(X), labels).astype(float)
    return matrix / matrix.sum(axis=1, keepdims=True) * shares[:, None]
