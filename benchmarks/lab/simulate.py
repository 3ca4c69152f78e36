"""Cross-validations of learners on samples of a population, with what only the population knows.

A cell is saved as soon as it is done, and not run again.
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
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold

from skuncertain.model_selection._stability import Reference, Stability


@dataclass(frozen=True)
class Cell:
    """One configuration.

    `counts` are the rows of every class; with `shares`, they are drawn anew for every sample (and
    the truth has these shares). With `groups` = (number, size), rows come in groups, which folds
    keep together.
    """

    name: str
    make: Any
    learner: Any
    counts: tuple
    n_folds: int
    n_repeats: int = 1
    shares: tuple | None = None
    groups: tuple | None = None
    n_test: int = 10_000


def simulate(cells, n_replications, seed, folder, n_jobs=2):
    """Run the cells that are not in the folder yet; results are arrays by cell."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    Parallel(n_jobs=n_jobs, batch_size=1)(
        delayed(_run)(cell, n_replications, (seed, k), folder) for k, cell in enumerate(cells)
    )
    return {cell.name: dict(np.load(_path(folder, cell))) for cell in cells}


def _path(folder, cell):
    return folder / f"{cell.name}.npz"


def _run(cell, n_replications, seed, folder):
    if _path(folder, cell).exists():
        return
    sklearn.set_config(skip_parameter_validation=True, assume_finite=True)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = _test_rows(cell, np.random.default_rng((*seed, 10**9)))
        found = [_one(cell, test, np.random.default_rng((*seed, r))) for r in range(n_replications)]
    arrays = {name: np.array([part[name] for part in found]) for name in found[0]}
    arrays["cpu"] = time.process_time() - start
    draft = _path(folder, cell).with_suffix(".part.npz")
    np.savez_compressed(draft, **arrays)
    draft.rename(_path(folder, cell))
    print(f"{cell.name}: {arrays['cpu']:.0f} s", flush=True)


def _test_rows(cell, rng):
    """Rows that stand for the population, and their labels; classes are equally frequent."""
    if cell.groups:
        X, y, _ = cell.make(rng, cell.n_test // 2, 2)
        return X, y
    size = (cell.n_test // len(cell.counts),) * len(cell.counts)
    return cell.make(rng, size), np.repeat(np.arange(len(size)), size)


def _sample(cell, rng):
    """X, y, groups or None, and the class shares of the truth (None: those of the test rows)."""
    if cell.groups:
        while True:
            X, y, group = cell.make(rng, *cell.groups)
            if 0.1 < y.mean() < 0.9:
                return X, y, rng.permutation(cell.groups[0])[group], None
    counts = np.array(cell.counts)
    if cell.shares is not None:
        counts = rng.multinomial(counts.sum(), cell.shares)
        counts = np.maximum(counts, cell.n_folds)  # every fold has every class
    X, y = cell.make(rng, counts), np.repeat(np.arange(counts.size), counts)
    order = rng.permutation(len(y))
    shares = counts / counts.sum() if cell.shares is None else np.array(cell.shares)
    return X[order], y[order], None, shares


def _one(cell, test, rng):
    X, y, group, shares = _sample(cell, rng)
    labels = tuple(range(max(len(cell.counts), 2)))
    reference = Reference.of(X, y, labels)
    folds, models, margins, truths = [], [], [], []
    for _ in range(cell.n_repeats):
        if group is None:
            splitter = StratifiedKFold(cell.n_folds, shuffle=True, random_state=_seed(rng))
        else:
            splitter = GroupKFold(cell.n_folds)
        for train, rows in splitter.split(X, y, group):
            model = fitted(cell.learner, X[train], y[train], rng)
            folds.append(count(y[rows], model.predict(X[rows]), labels))
            asked, margin = reference.ask(model)
            models.append(asked)
            margins.append(np.full(len(labels), np.nan) if margin is None else margin)
            truths.append(_truth(model, test, labels, shares))
    final = fitted(cell.learner, X, y, rng)
    known = not np.isnan(margins).all()
    stability = Stability(
        np.array(models, dtype=float),
        labels,
        np.array(margins) if known else None,
        cell.n_repeats,
    )
    return {
        "folds": np.array(folds, dtype=np.int32),
        "models": np.array(models, dtype=np.int32),
        "truths": np.array(truths),
        "final": _truth(final, test, labels, shares),
        "margins": np.array(margins),
        "warned": bool(stability.vanishing()),
    }


def fitted(learner, X, y, rng):
    """Copy of a learner with a seed of its own, fitted."""
    model = clone(learner)
    seeds = {
        name: _seed(rng)
        for name, value in model.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    return model.set_params(**seeds).fit(X, y)


def _seed(rng):
    return int(rng.integers(2**31 - 1))


def count(y, predicted, labels):
    size = len(labels)
    return np.bincount(size * y + predicted, minlength=size**2).reshape(size, size)


def _truth(model, test, labels, shares):
    """Confusion matrix of the population, as shares of its rows."""
    matrix = count(test[1], model.predict(test[0]), labels).astype(float)
    if shares is None:
        return matrix / matrix.sum()
    return matrix / matrix.sum(axis=1, keepdims=True) * shares[:, None]
