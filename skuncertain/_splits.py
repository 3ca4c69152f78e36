"""What the splits of a cross-validation allow: told from their indices, never from their class."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Splits:
    """Sizes and repetitions of the splits.

    Attributes
    ----------
    n_train, n_test : ndarray of shape (splits,)
        Rows per split.
    n_repeats : int
        How often every tested row was tested; 1 if that differs between rows.
    obstacle : str or None
        Why counts of these splits cannot be pooled.
    tests : tuple of str or None
        Fingerprint of the test rows of every split, of lost ones too; None if they are not known.
    overlap : tuple of int
        Splits that test rows which they have trained on.
    """

    n_train: np.ndarray
    n_test: np.ndarray
    n_repeats: int
    obstacle: str | None = None
    tests: tuple | None = None
    overlap: tuple = ()

    @classmethod
    def of(cls, train, test):
        """Look at the indices, or boolean masks, of the training and test rows of every split."""
        train, test = [as_rows(part) for part in train], [as_rows(part) for part in test]
        if not test:
            raise ValueError("cv gave no split at all: there is nothing to test.")
        size = 1 + max(int(np.max(part)) for part in (*train, *test) if len(part))
        tested = np.bincount(np.concatenate(test), minlength=size)
        trained = np.bincount(np.concatenate(train), minlength=size)[tested > 0]
        tested = tested[tested > 0]
        n_repeats, obstacle = int(tested.min()), None
        if tested.min() != tested.max():
            obstacle = (
                f"rows are tested between {tested.min()} and {tested.max()} times, as by "
                "ShuffleSplit"
            )
        elif trained.min() < trained.max() / 2:
            obstacle = (
                f"tested rows serve for training between {trained.min()} and {trained.max()} "
                "times, as with TimeSeriesSplit: the folds have learnt from different amounts of "
                "data"
            )
        return cls(
            np.array([len(part) for part in train]),
            np.array([len(part) for part in test]),
            1 if obstacle else n_repeats,
            obstacle,
            tuple(_fingerprint(part) for part in test),
            tuple(k for k in range(len(test)) if _overlap(train[k], test[k], size)),
        )

    def without(self, lost):
        """Splits that are left when some have failed."""
        keep = np.ones(self.n_test.size, dtype=bool)
        keep[list(lost)] = False
        return replace(self, n_train=self.n_train[keep], n_test=self.n_test[keep])

    def refuse_pooling(self, method):
        """Raise an error that offers the method which works."""
        if self.obstacle:
            raise ValueError(
                f"method={method!r} adds up the folds, but {self.obstacle}. "
                "Use method='nadeau_bengio', which looks at the fold values."
            )


def as_rows(part, n_rows=None):
    """Indices of rows from indices, which may count from the end, or from a boolean mask."""
    rows = np.asarray(part)
    if rows.dtype == bool:
        return np.flatnonzero(rows)
    if rows.size and rows.min() < 0:
        if n_rows is None:
            raise ValueError(f"indices of rows must be >= 0, got {rows.min()}.")
        rows = rows % n_rows
    return rows.astype(np.int64)


def _overlap(train, test, size):
    mask = np.zeros(size, dtype=bool)
    mask[test] = True
    return bool(mask[train].any())


def _fingerprint(rows):
    """Short text that differs for different sets of rows."""
    return hashlib.sha256(np.sort(rows).tobytes()).hexdigest()[:16]
