"""Which of two models is better? On different rows, on the same rows, on the same folds."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import betainc
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._comparison_result import ComparisonResult, check_names, check_rope, judge
from skuncertain._counts import ConfusionCounts
from skuncertain._cv_scores import check_same_splits, fold_scores
from skuncertain._differences import difference_of, discordance_posterior, probability_below
from skuncertain._distributions import Posterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._fold_scores import score_posterior
from skuncertain._labels import encode_together, positive_of
from skuncertain._metrics import get_metric
from skuncertain._posterior import default_draws
from skuncertain._validation import check_draws, check_integer, check_number, resolve_seed
from skuncertain._warnings import dropped, remember_warnings, warn_user

_PAIRED_EXACT = ("accuracy", "error_rate", "recall", "fnr", "specificity", "fpr")
_MOST_JOINT_CELLS = 40_000  # beyond (34 classes), the prior goes to cells that were observed


@remember_warnings
def compare(
    a: Any,
    b: Any,
    *,
    metric: Any = None,
    rope: float = 0.0,
    prior: Any = "auto",
    pos_label: Any = None,
    names: Any = ("A", "B"),
    n_draws: int | None = None,
    random_state: Any = None,
) -> ComparisonResult:
    """Compare two models that were tested on different rows.

    Parameters
    ----------
    a, b : ConfusionCounts or Posterior
        Counts, or posteriors of the same metric. They are taken as independent: models that were
        tested on the same rows belong into :func:`compare_paired`, which is far more powerful.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. Needed for counts; posteriors bring theirs.
    rope : float, default=0.0
        Region of practical equivalence: differences up to `rope`, in units of the metric, count as
        none.
    prior : str, float or array-like of shape (C, C), default="auto"
        For counts, see :meth:`ConfusionCounts.posterior`.
    pos_label : label, default=None
        For counts, the positive class.
    names : tuple of two str, default=("A", "B")
        What to call them.
    n_draws : int, default=None
        Number of draws where the difference has no exact form; it has one for proportions and F1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    ComparisonResult
        Difference is b - a; ``p_better`` is the probability that b is better.

    See Also
    --------
    compare_paired : Two models on the same rows.
    compare_cv : Two models on the same folds.
    leaderboard : Many models.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, compare
    >>> a = ConfusionCounts.from_binary(tp=10, fn=5, fp=10, tn=5)
    >>> b = ConfusionCounts.from_binary(tp=3, fn=3, fp=2, tn=4)
    >>> round(compare(a, b, metric="f1").p_better, 3)
    0.429
    """
    names, seed = check_names(names), resolve_seed(random_state)
    left, right = (_as_posterior(x, metric, prior, pos_label, n_draws, seed) for x in (a, b))
    if left.metric != right.metric:
        raise ValueError(
            f"a and b must be posteriors of the same metric, got {left.metric!r} and "
            f"{right.metric!r}."
        )
    direction = _direction(left.metric, left.greater_is_better)
    return judge(
        difference_of(left, right, n_draws, seed),
        rope,
        metric=left.metric,
        names=names,
        method="independent test sets",
        greater_is_better=direction,
        below_zero=_below(left, right) if check_rope(rope) == 0 else None,
        n=_rows(a, b),
        prior="; ".join(dict.fromkeys(p.prior for p in (left, right) if p.prior)) or None,
    )


def _rows(a, b):
    """Rows of both, as text; None if it is not known or there are stacks."""
    known = [x.n for x in (a, b) if isinstance(x, ConfusionCounts) and not x.shape]
    return f"{known[0]:g} and {known[1]:g}" if len(known) == 2 else None


def _below(a, b):
    """P(b < a) of two Betas, whose order does not change if the odds of both are multiplied."""
    betas = isinstance(a, BetaPosterior) and isinstance(b, BetaPosterior)
    if not betas or a.odds != b.odds:
        return None
    shapes = np.broadcast_arrays(b.a, b.b, a.a, a.b)
    if not all(np.all(part >= 0.5) for part in shapes):
        return None
    flat = [part.reshape(-1) for part in shapes]
    return probability_below(tuple(flat[:2]), tuple(flat[2:])).reshape(shapes[0].shape)


def _as_posterior(x, metric, prior, pos_label, n_draws, seed):
    if isinstance(x, ConfusionCounts):
        if metric is None:
            raise TypeError("metric is missing: counts need the name of a metric.")
        return x.posterior(
            metric, prior=prior, pos_label=pos_label, n_draws=n_draws, random_state=seed
        )
    if not isinstance(x, Posterior):
        raise TypeError(
            f"a and b must be ConfusionCounts or posteriors, got {type(x).__name__}. Predictions "
            "of the same rows go to compare_paired, fold scores to compare_cv."
        )
    if metric is not None and x.metric is not None and get_metric(metric).name != x.metric:
        raise ValueError(f"metric is {metric!r}, but a posterior of {x.metric!r} was given.")
    return x


def _direction(name, greater_is_better):
    """Whether more of a metric is better; metrics without a direction are refused."""
    if greater_is_better is None:
        raise ValueError(
            f"metric {name!r} is a description, neither more nor less of it is better: there is "
            "nothing to compare."
        )
    return greater_is_better


# --------------------------------------------------------------------------------------------------
# The same rows


@remember_warnings
def compare_paired(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    metric: Any = "accuracy",
    rope: float = 0.0,
    prior: float = 0.5,
    labels: Any = None,
    pos_label: Any = None,
    names: Any = ("A", "B"),
    n_draws: int | None = None,
    random_state: Any = None,
) -> ComparisonResult:
    """Compare two models that predicted the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    pred_a, pred_b : array-like of shape (n,)
        Predicted labels of the two models.
    metric : str, Metric or callable, default="accuracy"
        See :func:`get_metric`.
    rope : float, default=0.0
        Region of practical equivalence, in units of the metric.
    prior : float, default=0.5
        Pseudo-rows on each of four cells: both right, only A, only B, neither. Spread evenly over
        what the cell consists of.
    labels : sequence, default=None
        All classes; by default those that occur.
    pos_label : label, default=None
        Positive class.
    names : tuple of two str, default=("A", "B")
        What to call the models.
    n_draws : int, default=None
        Number of draws for metrics other than accuracy, recall and specificity (and their
        complements), which are exact.
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
    y, (a, b), labels = encode_together(
        y_true, [pred_a, pred_b], labels, pos_label, names=("pred_a", "pred_b")
    )
    size = len(labels)
    cells = (y * size + a) * size + b
    if size**3 <= _MOST_JOINT_CELLS:  # counting is much faster than sorting
        numbers = np.bincount(cells, minlength=size**3)
        cells = np.flatnonzero(numbers)
        numbers = numbers[cells]
    else:
        cells, numbers = np.unique(cells, return_counts=True)
    return compare_cells(
        *(cells // size**2, cells // size % size, cells % size),
        numbers,
        labels,
        metric=metric,
        rope=rope,
        prior=prior,
        pos_label=pos_label,
        names=names,
        n_draws=n_draws,
        random_state=random_state,
    )


@remember_warnings
def compare_cells(
    y: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    numbers: np.ndarray,
    labels: tuple,
    *,
    metric: Any = "accuracy",
    rope: float = 0.0,
    prior: float = 0.5,
    pos_label: Any = None,
    names: Any = ("A", "B"),
    n_draws: int | None = None,
    random_state: Any = None,
) -> ComparisonResult:
    """Compare two models by the numbers of rows with a truth and an answer of each.

    `y`, `a` and `b` are places of `labels`, no combination of them twice.
    """
    metric, names = get_metric(metric), check_names(names)
    direction = _direction(metric.name, metric.greater_is_better)
    prior = check_number("prior", prior, low=0, high=1e12, closed=True)
    positive = positive_of(metric, labels, pos_label)
    info = {"metric": f"difference in {metric.name}", "prior": f"{prior:g} per agreement cell"}
    below_zero = None
    if metric.name in _PAIRED_EXACT and prior > 0:
        difference, below_zero = _discordance(y, a, b, numbers, metric.name, positive, prior, info)
    else:
        difference = _joint_draws(
            y, a, b, numbers, len(labels), metric, positive, prior, n_draws, random_state, info
        )
    n = int(numbers.sum())
    return judge(
        difference,
        rope,
        metric=metric.name,
        names=names,
        method=f"{n} shared rows",
        greater_is_better=direction,
        below_zero=below_zero,
        n=n,
        prior=info["prior"],
    )


def _discordance(y, a, b, numbers, name, positive, prior, info):
    """Exact difference of two shares of the same rows: only rows where they differ count."""
    rows = np.ones(y.shape, dtype=bool)
    if name in ("recall", "fnr"):
        rows = y == positive
    elif name in ("specificity", "fpr"):
        rows = y != positive
    if name in ("specificity", "fpr"):  # right means: not called positive
        right_a, right_b = a != positive, b != positive
    else:
        right_a, right_b = a == y, b == y
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
    difference = discordance_posterior(only_a, only_b, rest, **info)
    return difference, betainc(only_b, only_a, 0.5)


def _joint_draws(y, a, b, counts, size, metric, positive, prior, n_draws, random_state, info):
    """Dirichlet draws of the cells (truth, answer of A, answer of B)."""
    cells = (y * size + a) * size + b
    order = np.argsort(cells)
    cells, counts = cells[order], counts[order]
    if size**3 <= _MOST_JOINT_CELLS:
        full = np.zeros(size**3)
        full[cells] = counts
        cells, counts = np.arange(size**3), full
    else:
        cells, counts = _with_all_agreements(cells, counts, size)
    truth, of_a, of_b = cells // size**2, cells // size % size, cells % size
    agreement = 2 * (of_a == truth) + (of_b == truth)
    number = np.bincount(agreement, minlength=4)
    shapes = counts + prior / number[agreement]
    used = shapes > 0
    truth, of_a, of_b, shapes = truth[used], of_a[used], of_b[used], shapes[used]
    seed = resolve_seed(random_state)
    n_draws = default_draws(shapes.size, 1) if n_draws is None else check_draws(n_draws, 1)
    chunk = max(1, 2**21 // (shapes.size + 2 * size**2))
    starts = range(0, n_draws, chunk)
    draws = np.empty(n_draws)
    to_a, to_b = (_indicator(truth * size + of_x, size**2) for of_x in (of_a, of_b))
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        stop = min(start + chunk, n_draws)
        sample = np.random.default_rng(child).standard_gamma(
            shapes, size=(stop - start, shapes.size)
        )
        values = [
            metric.evaluate((to @ sample.T).T.reshape(-1, size, size), positive=positive)
            for to in (to_a, to_b)
        ]
        draws[start:stop] = values[1] - values[0]
    for to in (to_a, to_b):
        if np.isnan(metric.evaluate((to @ counts[used]).reshape(size, size), positive=positive)):
            warn_user(
                f"{metric.name} is 0/0 in the data (a class that never occurs or is never "
                "predicted): the answer leans on the prior.",
                UndefinedMetricWarning,
            )
            break
    low, high = metric.range
    return DrawsPosterior(draws, seed=seed, range=(low - high, high - low), closing=False, **info)


def _with_all_agreements(cells, counts, size):
    """Add empty cells, one per class and kind of agreement, so that no kind lacks its prior."""
    truth = np.arange(size)
    wrong = (truth + 1) % size
    pairs = ((truth, truth), (truth, wrong), (wrong, truth), (wrong, wrong))
    more = np.concatenate([(truth * size + a) * size + b for a, b in pairs])
    more = np.setdiff1d(more, cells)
    return np.concatenate([cells, more]), np.concatenate([counts, np.zeros(more.size)])


def _indicator(index, size):
    """Sparse matrix that adds up the joint cells of every cell of one model."""
    return csr_array((np.ones(index.size), (index, np.arange(index.size))), (size, index.size))


# --------------------------------------------------------------------------------------------------
# The same folds


@remember_warnings
def compare_cv(
    a: Any,
    b: Any,
    *,
    metric: Any = None,
    rope: float = 0.0,
    n_train: ArrayLike | None = None,
    n_test: ArrayLike | None = None,
    n_repeats: int = 1,
    names: Any = ("A", "B"),
) -> ComparisonResult:
    """Compare two models by their scores on the same folds.

    Parameters
    ----------
    a, b : array-like of shape (K,), BayesianCrossValidator, CrossValPosterior or dict
        Fold scores (more is better), fitted cross-validators, or results of ``cross_validate``. All
        folds must be the same for both.
    metric : str, Metric or callable, default=None
        Metric to take from cross-validators or results: for counts any metric, otherwise the name
        of a score. By default the only score, or accuracy of counts.
    rope : float, default=0.0
        Region of practical equivalence, in units of the metric.
    n_train, n_test : int or array-like of shape (K,), default=None
        Rows per fold, for plain scores. By default n_test / n_train = 1 / (K - 1), as in K-fold
        cross-validation.
    n_repeats : int, default=1
        For plain scores: repetitions of the K-fold cross-validation.
    names : tuple of two str, default=("A", "B")
        What to call the models.

    Returns
    -------
    ComparisonResult
        Difference is b - a, mean over folds; ``p_better`` is the probability that b is better.

    See Also
    --------
    compare_paired : From predictions of the same rows.
    search_posterior : All candidates of a search.

    Notes
    -----
    The correlated t test: mean difference, variance s² (1/J + n_test/n_train), J - 1 degrees of
    freedom, J the number of folds of all repetitions. Different splits are refused if the results
    hold the indices (``return_indices=True``; always for BayesianCrossValidator), or if sizes or
    class counts differ. For plain scores it cannot be known: both must come from the same splitter
    with the same ``random_state``. Folds in which a score is missing are left out of both.

    Examples
    --------
    >>> from skuncertain import compare_cv
    >>> a = [0.80, 0.82, 0.79, 0.84, 0.81, 0.83, 0.78, 0.85, 0.80, 0.82]
    >>> b = [0.82, 0.83, 0.80, 0.83, 0.84, 0.85, 0.80, 0.86, 0.83, 0.81]
    >>> result = compare_cv(a, b, rope=0.01)
    >>> round(result.p_worse, 3), round(result.p_equivalent, 3), round(result.p_better, 3)
    (0.003, 0.325, 0.672)
    """
    names = check_names(names)
    n_repeats = check_integer("n_repeats", n_repeats, low=1)
    sides = [
        fold_scores(x, metric, n_train, n_test, n_repeats, name)
        for x, name in zip((a, b), names, strict=True)
    ]
    left, right = sides
    check_same_splits(left, right, names)
    values, n_train, n_test = right.values - left.values, left.n_train, left.n_test
    missing = np.isnan(values)
    if missing.any():
        warn_user(
            f"a score is missing in {int(missing.sum())} of {missing.size} folds: they are left "
            "out of both.",
            UndefinedMetricWarning,
        )
    if values.ndim == 1:
        sizes = (np.asarray(n_train), np.asarray(n_test))
        n_train, n_test = (size[~missing] if size.ndim else size for size in sizes)
        values = values[~missing]
        if values.size < 2:
            raise ValueError(f"at least two folds need a score of both, got {values.size}.")
    # Equal gaps must be equal, whatever the rounding of the scores that they come from.
    unit = 2.0**-47 * max(np.fmax.reduce(np.abs(x.values), axis=None) for x in sides) or 1.0
    values = np.round(values / unit) * unit
    with dropped(UndefinedMetricWarning):  # told above
        difference = score_posterior(
            values,
            "nadeau_bengio",
            1,
            None,
            n_train,
            n_test,
            metric=left.metric and f"difference in {left.metric}",
        )
    repeats = max(n_repeats, left.n_repeats)
    return judge(
        difference,
        rope,
        metric=left.metric,
        names=names,
        method=f"{values.shape[-1]} shared folds",
        greater_is_better=left.greater_is_better,
        n=_tested(n_test, values, repeats),
        prior="none: Student's t on the differences of the folds",
        n_folds=values.shape[-1] / repeats,
        n_repeats=repeats,
    )


def _tested(n_test, values, n_repeats):
    """Rows that were tested, each counted once; None if it is not known."""
    if n_test is None or np.ndim(n_test) != 1 or values.ndim != 1:
        return None
    total = float(np.sum(n_test)) / n_repeats
    return int(total) if total.is_integer() else total
