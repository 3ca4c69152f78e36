"""Two models that predicted the same rows: the counts of their answers, and the comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import betainc
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.typing import LabelLike, MetricLike, RandomStateLike
from skuncertain._utils.validation import check_draws, check_names, check_number, resolve_seed
from skuncertain._utils.warnings import remember_warnings, warn_user
from skuncertain.comparison._advice import advice_on_rows
from skuncertain.comparison._fold_difference import about_difference, check_estimand
from skuncertain.comparison._fold_rows import FoldRows, is_cross_validated, read_fold_rows
from skuncertain.comparison._result import ComparisonResult, judge
from skuncertain.comparison._score_pairs import compare_scores, refuse_folds, score_metric
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import check_pos_label, encode_together, positive_of
from skuncertain.metrics._posterior import class_of
from skuncertain.metrics._registry import check_direction, directed
from skuncertain.posteriors._about import About, folds_of
from skuncertain.posteriors._difference import discordance_posterior
from skuncertain.posteriors._draws import DrawsPosterior, default_draws, seeded_chunks

_EXACT = ("accuracy", "error_rate", "recall", "fnr", "specificity", "fpr")
_MOST_JOINT_CELLS = 40_000  # beyond (34 classes), the prior goes to cells that were observed


@remember_warnings
def compare_paired(
    y_true: ArrayLike,
    pred_a: Any,
    pred_b: Any,
    *,
    metric: MetricLike = "accuracy",
    rope: float = 0.0,
    prior: float = 0.5,
    folds: Any = None,
    estimand: str | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    names: Any = ("A", "B"),
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> ComparisonResult:
    """Compare two models that predicted the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    pred_a, pred_b : array-like of shape (n,) or (n, R), or BayesianCrossValidator
        Predicted labels, R times if folds are repeated; or cross-validators with kept predictions.
        For "roc_auc", "log_loss" and the like scores or probabilities, see `metric_posterior`.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    rope : float, default=0.0
        Region of practical equivalence, in units of the metric.
    prior : float, default=0.5
        Pseudo-rows on each of four cells: both right, only A, only B, neither. Spread evenly over
        what the cell consists of.
    folds : int, splitter, list or array-like of shape (n,) or (n, R), default=None
        Of ``cross_val_predict``: its ``cv``, the test rows of all folds, or the fold of every row.
    estimand : {"algorithm", "fitted", "final"}, default=None
        In folds: the algorithms on average (default), the fitted models, or those of all rows.
    labels, pos_label : sequence and label, default=None
        All classes, by default those that occur; the positive one, see :class:`ConfusionCounts`.
    names : tuple of two str, default=("A", "B")
        What to call the models.
    n_draws : int, default=None
        Draws for metrics of labels other than accuracy, recall, specificity and their complements.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    ComparisonResult
        Difference is b - a; ``p_better`` is the probability that b is better.

    See Also
    --------
    compare : Two models on different test sets.
    leaderboard : Many models.

    Notes
    -----
    Rows on which both are right, or both wrong, say nothing about who is better. Pairing removes
    their noise: at 5 % disagreement it is worth about three times the rows.

    Out-of-fold predictions come from K models that share training rows: with folds known, rows
    count omega < 1 each. Two cross-validators also know how much their models differ.
    Metrics of scores have Student's t with the variance of the differences of rows' influences.

    Examples
    --------
    >>> from skuncertain import compare_paired
    >>> y_true = [1] * 50
    >>> pred_a = [1] * 45 + [0] * 5
    >>> pred_b = [1] * 37 + [0] * 8 + [1] * 5
    >>> result = compare_paired(y_true, pred_a, pred_b, labels=[0, 1])
    >>> round(result.p_worse, 4)  # A is right on 8 rows that B gets wrong, B on 5
    0.7967
    """
    scored = score_metric(metric)
    if scored is not None:
        check_direction(scored.name, scored.greater_is_better, "compared")
        refuse_folds(scored, folds, (pred_a, pred_b))
        check_estimand(estimand, folded=False)
        about = {"labels": labels, "pos_label": pos_label, "names": names}
        return compare_scores(y_true, pred_a, pred_b, scored, rope=rope, prior=prior, **about)
    folded = folds is not None or is_cross_validated(pred_a) or is_cross_validated(pred_b)
    estimand, rows = check_estimand(estimand, folded), None
    if folded:
        rows = read_fold_rows(
            y_true, [pred_a, pred_b], ("pred_a", "pred_b"), folds, labels, pos_label
        )
        paired = PairedCounts.from_fold_rows(rows)
    else:
        paired = PairedCounts.from_predictions(y_true, pred_a, pred_b, labels, pos_label)
    return paired.compare(
        metric=metric,
        rope=rope,
        prior=prior,
        names=names,
        n_draws=n_draws,
        random_state=random_state,
        folds=rows,
        estimand=estimand,
    )


@dataclass(frozen=True, eq=False)
class PairedCounts:
    """How often two models gave which answers to which truth.

    Parameters
    ----------
    cells : ndarray of shape (m, 3)
        Places of the labels: truth, answer of a, answer of b; no combination twice.
    numbers : ndarray of shape (m,)
        How many rows.
    labels : tuple
        The labels.
    pos_label : label or None
        The positive class, if it is known.
    """

    cells: np.ndarray
    numbers: np.ndarray
    labels: tuple
    pos_label: Any = None

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, pred_a: ArrayLike, pred_b: ArrayLike, labels: Any, pos_label: Any
    ) -> PairedCounts:
        """Count the rows of two lists of predictions.

        Parameters
        ----------
        y_true, pred_a, pred_b, labels, pos_label : object
            See :func:`compare_paired`.

        Returns
        -------
        PairedCounts
            The counts.
        """
        y, (a, b), labels = encode_together(
            y_true, [pred_a, pred_b], labels, pos_label, names=("pred_a", "pred_b")
        )
        pos_label = check_pos_label(labels, pos_label, y_true, pred_a, pred_b)
        cells, numbers = _count(y, a, b, len(labels))
        return cls(cells, numbers, labels, pos_label)

    @classmethod
    def from_fold_rows(cls, rows: FoldRows) -> PairedCounts:
        """Count the rows of two models in folds; a row that was tested R times counts once.

        Parameters
        ----------
        rows : FoldRows
            The rows.

        Returns
        -------
        PairedCounts
            The counts.
        """
        first, second = rows.codes
        cells, numbers = _count(rows.truth, first, second, len(rows.labels))
        return cls(cells, numbers / rows.n_repeats, rows.labels, rows.pos_label)

    def counts(self, model: int) -> ConfusionCounts:
        """Confusion matrix of one of the models.

        Parameters
        ----------
        model : {0, 1}
            Which one.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        matrix = np.zeros((len(self.labels),) * 2, dtype=np.int64)
        np.add.at(matrix, (self.cells[:, 0], self.cells[:, 1 + model]), self.numbers)
        return ConfusionCounts(matrix, labels=self.labels, pos_label=self.pos_label)

    @remember_warnings
    def compare(
        self,
        *,
        metric: MetricLike = "accuracy",
        rope: float = 0.0,
        prior: float = 0.5,
        names: Any = ("A", "B"),
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
        folds: FoldRows | None = None,
        estimand: str = "final",
    ) -> ComparisonResult:
        """Compare the models.

        Parameters
        ----------
        metric, rope, prior, names, n_draws, random_state, estimand : object
            See :func:`compare_paired`.
        folds : FoldRows, default=None
            The rows behind the counts, if they were tested in folds.

        Returns
        -------
        ComparisonResult
            What `compare_paired` returns for the rows.
        """
        found, names = directed(metric, use="compared"), check_names(names)
        prior = check_number("prior", prior, low=0, high=1e12, closed=True)
        positive = positive_of(found, self.labels, self.pos_label)
        low, high = found.range
        about = About(
            metric=f"difference in {found.name}",
            range=(low - high, high - low),
            prior=f"{prior:g} per agreement cell",
            closing=False,
            pos_label=class_of(found, self.labels, positive),
            estimand=estimand,
        )
        weighed = self
        if folds is not None:
            known = about_difference(folds, found, positive, estimand)
            about = replace(about, **known)
            weighed = replace(self, numbers=known["diagnostics"].omega * self.numbers)
        if found.name in _EXACT and prior > 0:
            difference, below_zero = weighed._discordance(found.name, positive, prior, about)
        else:
            below_zero = None
            difference = weighed._joint_draws(found, positive, prior, n_draws, random_state, about)
        n = int(self.numbers.sum()) if folds is None else folds.n
        return judge(
            difference,
            rope,
            metric=found.name,
            names=names,
            method=f"{n} shared rows" + ("" if folds is None else f", {folds_of(about)}"),
            greater_is_better=found.greater_is_better,
            below_zero=below_zero,
            n=n,
            prior=about.prior,
            n_folds=about.n_folds,
            n_repeats=about.n_repeats,
            advice=advice_on_rows(folds),
        )

    def _discordance(self, name, positive, prior, about):
        """Exact difference of two shares of the same rows: only rows where they differ count."""
        (y, a, b), numbers = self.cells.T, self.numbers
        rows = np.ones(y.shape, dtype=bool)
        right_a, right_b = a == y, b == y
        if name in ("recall", "fnr"):
            rows = y == positive
        elif name in ("specificity", "fpr"):  # right means: not called positive
            rows, right_a, right_b = y != positive, a != positive, b != positive
        total = numbers[rows].sum()
        if total == 0:
            warn_user(
                f"{name} is 0/0: the class does not occur, so the answer is the prior.",
                UndefinedMetricWarning,
            )
        only_a = numbers[rows & right_a & ~right_b].sum() + prior
        only_b = numbers[rows & right_b & ~right_a].sum() + prior
        if name in ("error_rate", "fnr", "fpr"):
            only_a, only_b = only_b, only_a
        rest = total + 4 * prior - only_a - only_b
        difference = discordance_posterior(only_a, only_b, rest, about=about)
        return difference, betainc(only_b, only_a, 0.5)

    def _joint_draws(self, metric, positive, prior, n_draws, random_state, about):
        """Dirichlet draws of the cells (truth, answer of A, answer of B)."""
        size = len(self.labels)
        codes, counts = self._all_cells()
        truth, of_a, of_b = _parts(codes, size)
        agreement = 2 * (of_a == truth) + (of_b == truth)
        shapes = counts + prior / np.bincount(agreement, minlength=4)[agreement]
        used = shapes > 0
        shapes, counts = shapes[used], counts[used]
        to_a, to_b = (indicator((truth * size + of_x)[used], size**2) for of_x in (of_a, of_b))

        def scores(to, sample):
            matrices = (to @ sample.T).T.reshape(-1, size, size)
            return metric.evaluate(matrices, positive=positive)

        seed = resolve_seed(random_state)
        n_draws = default_draws(shapes.size, 1) if n_draws is None else check_draws(n_draws, 1)
        draws = np.empty(n_draws)
        chunk = max(1, 2**21 // (shapes.size + 2 * size**2))
        for place, rng in seeded_chunks(n_draws, chunk, seed):
            sample = rng.standard_gamma(shapes, size=(place.stop - place.start, shapes.size))
            draws[place] = scores(to_b, sample) - scores(to_a, sample)
        if np.isnan([scores(to, counts) for to in (to_a, to_b)]).any():
            warn_user(
                f"{metric.name} is 0/0 in the data (a class that never occurs or is never "
                "predicted): the answer leans on the prior.",
                UndefinedMetricWarning,
            )
        return DrawsPosterior(draws, seed=seed, about=about)

    def _all_cells(self):
        """Codes and counts of the cells that get a prior: all, or some of each kind of agreement.

        One empty cell per class and kind of agreement is enough for no kind to lack its prior.
        """
        size = len(self.labels)
        y, a, b = self.cells.T
        codes = (y * size + a) * size + b
        if size**3 <= _MOST_JOINT_CELLS:
            full = np.zeros(size**3)
            full[codes] = self.numbers
            return np.arange(size**3), full
        truth = np.arange(size)
        wrong = (truth + 1) % size
        pairs = ((truth, truth), (truth, wrong), (wrong, truth), (wrong, wrong))
        more = np.concatenate([(truth * size + a) * size + b for a, b in pairs])
        more, order = np.setdiff1d(more, codes), np.argsort(codes)
        counts = np.concatenate([self.numbers[order], np.zeros(more.size)])
        return np.concatenate([codes[order], more]), counts


def _count(y, a, b, size):
    """Cells (truth, answer of A, answer of B) that occur, and how often."""
    codes = (y * size + a) * size + b
    if size**3 <= _MOST_JOINT_CELLS:  # counting is much faster than sorting
        numbers = np.bincount(codes, minlength=size**3)
        codes = np.flatnonzero(numbers)
        numbers = numbers[codes]
    else:
        codes, numbers = np.unique(codes, return_counts=True)
    return np.column_stack(_parts(codes, size)), numbers


def _parts(codes, size):
    """Truth, answer of A and answer of B of coded cells."""
    return codes // size**2, codes // size % size, codes % size


def indicator(index, size):
    """Sparse matrix that adds up the joint cells of every cell of one model."""
    return csr_array((np.ones(index.size), (index, np.arange(index.size))), (size, index.size))
