"""What the splits of a cross-validation allow: told from their indices, never from their class."""

from dataclasses import dataclass

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
    """

    n_train: np.ndarray
    n_test: np.ndarray
    n_repeats: int
    obstacle: str | None = None

    @classmethod
    def of(cls, train, test):
        """Look at the indices of the training and test rows of every split."""
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
        )

    def without(self, lost):
        """Splits that are left when some have failed."""
        keep = np.ones(self.n_test.size, dtype=bool)
        keep[list(lost)] = False
        return Splits(self.n_train[keep], self.n_test[keep], self.n_repeats, self.obstacle)

    def refuse_pooling(self, method):
        """Raise an error that offers the method which works."""
        if self.obstacle:
            raise ValueError(
                f"method={method!r} adds up the folds, but {self.obstacle}. "
                "Use method='nadeau_bengio', which looks at the fold values."
            )
