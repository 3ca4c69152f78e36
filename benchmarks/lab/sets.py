"""Populations of the study: how a sample is drawn, and rows that stand for the population.

Synthetic sets know the probability of class 1 in every row. Their truths use it in place of drawn
labels, which leaves only the noise of the features. Real sets are finite: a sample is drawn without
replacement, and the rows that are not in it stand for the population.
"""

import gzip
import os
from functools import cache, cached_property
from pathlib import Path

import numpy as np

N_TEST = 20_000  # rows that stand for a synthetic population
BLOCKS = 10  # of these rows: their differences tell the error of a truth


class Population:
    """Rows `X` that stand for a population, and the probability of class 1 in each: `positive`."""

    X: np.ndarray
    positive: np.ndarray

    @cached_property
    def singles(self):
        """The rows in single precision, which trees would otherwise make of them every time."""
        return self.X.astype(np.float32)


class Synthetic(Population):
    """Gaussian features and a logistic response.

    `draw(rng, n)` returns features; `score(X)` their log-odds.
    """

    def __init__(self, draw, score, seed):
        self.draw, self.score = draw, score
        rng = np.random.default_rng(seed)
        self.X = draw(rng, N_TEST)
        self.positive = _sigmoid(score(self.X))

    def sample(self, rng, n):
        """X, y, and None: the sample is not among the test rows."""
        X = self.draw(rng, n)
        return X, (rng.random(n) < _sigmoid(self.score(X))).astype(np.int64), None


class Real(Population):
    """Rows of a data set in random order, with standardised features and labels 0 and 1."""

    def __init__(self, X, y):
        order = np.random.default_rng(15).permutation(len(X))
        self.X = ((X - X.mean(axis=0)) / X.std(axis=0))[order]
        self.positive = y.astype(float)[order]

    def sample(self, rng, n):
        """X, y, and which rows of the set are not in the sample."""
        rows = rng.choice(len(self.X), n, replace=False)
        left = np.ones(len(self.X), dtype=bool)
        left[rows] = False
        return self.X[rows], self.positive[rows].astype(np.int64), left


class Truth:
    """Confusion matrices of models in the population, as shares of its rows."""

    def __init__(self, population, left, in_singles):
        self.X = population.singles if in_singles else population.X
        self.left = left
        self.positive = population.positive

    def ask(self, model, blocks=1):
        """Matrix of a model, or those of equal parts of the rows."""
        predicted, positive = model.predict(self.X).astype(float), self.positive
        if self.left is not None:
            predicted, positive = predicted[self.left], positive[self.left]
        size = len(predicted) // blocks
        predicted = predicted[: size * blocks].reshape(blocks, size)
        positive = positive[: size * blocks].reshape(blocks, size)
        tp = (predicted * positive).mean(axis=1)
        p, q = positive.mean(axis=1), predicted.mean(axis=1)
        found = np.stack([1 - p - q + tp, q - tp, p - tp, tp], axis=-1)
        found = found.reshape(blocks, 2, 2).astype(np.float32)
        return found[0] if blocks == 1 else found


def _sigmoid(score):
    return 1 / (1 + np.exp(-score))


# --------------------------------------------------------------------------------------------------
# The sets


def bates(p):
    """Bates, Hastie and Tibshirani: independent features, five of which have the coefficient 1."""
    return Synthetic(
        lambda rng, n: rng.standard_normal((n, p)), lambda X: X[:, :5].sum(axis=1), (11, p)
    )


def factors(p):
    """In the manner of Janitza et al.: features of one covariance, effects of many sizes.

    The covariance is that of five factors with loadings drawn once, and noise of variance 1/2;
    effects on standardised features are drawn once from -3, -2, -1, -1/2, 0, 1/2, 1, 2, 3.
    """
    rng = np.random.default_rng((12, p))
    loadings = rng.standard_normal((5, p)) / np.sqrt(5)
    spread = np.sqrt(np.square(loadings).sum(axis=0) + 0.5)
    effects = rng.choice([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3], p) / spread

    def draw(rng, n):
        common = rng.standard_normal((n, 5)) @ loadings
        return common + np.sqrt(0.5) * rng.standard_normal((n, p))

    return Synthetic(draw, lambda X: X @ effects, (13, p))


def blocks(n_blocks, size, correlation, intercept):
    """Blocks of equally correlated features, the first of which has the coefficient 1."""

    def draw(rng, n):
        own = rng.standard_normal((n, n_blocks, size))
        common = rng.standard_normal((n, n_blocks, 1))
        X = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common
        return X.reshape(n, -1)

    return Synthetic(draw, lambda X: X[:, ::size].sum(axis=1) + intercept, (14, n_blocks, size))


def _read(name):
    """Features and labels of ``name.csv.gz`` in the folder SKUNCERTAIN_DATA; None without it."""
    folder = os.environ.get("SKUNCERTAIN_DATA")
    path = Path(folder) / f"{name}.csv.gz" if folder else None
    if path is None or not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header, *rows = (line.rstrip("\n").split(",") for line in file)
    target = header.index("target")
    y = np.array([row.pop(target) for row in rows])
    return np.array(rows, dtype=float), y


def letter():
    """Letters A to M (class 1) against N to Z."""
    found = _read("letter")
    return found and Real(found[0], found[1] <= "M")


def magic():
    """Gamma rays against hadrons (class 1)."""
    found = _read("magic")
    return found and Real(found[0], found[1] == "h")


SETS = {
    "bates_20": lambda: bates(20),
    "letter": letter,
    "magic": magic,
    "factors_20": lambda: factors(20),
    "blocks_50": lambda: blocks(10, 5, 0.8, -3.0),
    "bates_100": lambda: bates(100),
}


@cache
def population(name):
    """One of the SETS, or None if its file is not there."""
    return SETS[name]()
