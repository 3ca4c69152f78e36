"""Rows that all models of a leaderboard have predicted: of one test set, or in folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skuncertain._numerics.fold_ranking import tie_groups
from skuncertain.comparison._fold_board import FoldBoard
from skuncertain.comparison._fold_rows import FoldRows, is_cross_validated, read_fold_rows
from skuncertain.comparison._leaderboard_ranks import row_draws
from skuncertain.metrics._labels import encode_together, positive_of
from skuncertain.metrics._posterior import class_of
from skuncertain.posteriors._about import About
from skuncertain.posteriors._draws import DrawsPosterior


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of the metric of every tie group.

    Attributes
    ----------
    draws : ndarray of shape (groups, n_draws)
        They rank the groups.
    posterior : DrawsPosterior or list of posteriors
        Whose means and intervals are shown.
    about : About
        What was asked.
    how : str
        How it was made, in words.
    """

    draws: np.ndarray
    posterior: Any
    about: About
    how: str


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Truth and predictions, one model of every tie group.

    Attributes
    ----------
    truth : ndarray of shape (rows,)
        True classes.
    codes : ndarray of shape (groups, rows)
        Predicted classes.
    group : ndarray of shape (m,)
        Tie group of every model.
    labels : tuple
        The classes.
    pos_label, y_true : object
        What says which class is the positive one.
    folds : FoldRows or None
        The same rows with their folds, if they were cross-validated.
    """

    truth: np.ndarray
    codes: np.ndarray
    group: np.ndarray
    labels: tuple
    pos_label: Any
    y_true: Any
    folds: FoldRows | None

    @classmethod
    def read(cls, names, entries, y_true, folds, labels, pos_label):
        """Read predictions, or cross-validators that have kept theirs."""
        said = [f"model {name!r}" for name in names]
        rows = None
        if folds is not None or any(map(is_cross_validated, entries)):
            rows = read_fold_rows(y_true, entries, said, folds, labels, pos_label)
            truth, codes, labels = rows.truth, rows.codes, rows.labels
            y_true, pos_label = None, rows.pos_label
        else:
            truth, codes, labels = encode_together(
                y_true, entries, labels, pos_label, names=said, parameter="results"
            )
        codes = np.stack(codes)
        group = tie_groups(codes)
        first = np.unique(group, return_index=True)[1]  # one model of every group
        rows = None if rows is None else rows.take(first)
        return cls(truth, codes[first], group, labels, pos_label, y_true, rows)

    @property
    def n(self):
        """Rows, each counted once."""
        return self.truth.size if self.folds is None else self.folds.n

    @property
    def n_groups(self):
        """Models that differ."""
        return len(self.codes)

    def draw(self, metric, estimand, prior, n_draws, seed):
        """Draw weights of the rows, the same for all models."""
        size = len(self.labels)
        positive = positive_of(metric, self.labels, self.pos_label, self.y_true)
        label = class_of(metric, self.labels, positive)
        about = About(metric=metric.name, range=metric.range, pos_label=label, estimand=estimand)
        board, weight = None, 1.0
        if self.folds is not None:
            board = FoldBoard.of(self.folds, metric, positive, estimand)
            weight = board.weight / self.folds.n_repeats
        cells = self.truth * size + self.codes
        draws = row_draws(cells, metric, positive, size, prior, n_draws, seed, weight)
        if board is None:
            posterior = DrawsPosterior(draws, seed=seed, about=about)
            return Drawn(draws, posterior, about, f"{self.n} shared rows")
        about = replace(about, **board.about())
        return Drawn(board.widen(draws, seed), board.posteriors(seed), about, board.method(about))
