"""After a search: how sure is the choice?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._comparison_result import check_rope
from skuncertain._counts import ConfusionCounts
from skuncertain._cv_report import selected_confusion
from skuncertain._fold_methods import Folds
from skuncertain._fold_scores import score_posterior
from skuncertain._location_scale import StudentPosterior
from skuncertain._ranking import PAIR_LIMIT, RANK_LIMIT, DrawCounter
from skuncertain._ranking_report import others, search_report
from skuncertain._report import IntervalReport, check_digits
from skuncertain._report_cells import distinct
from skuncertain._search_results import read_search
from skuncertain._validation import (
    check_draws,
    check_kind,
    check_level,
    import_optional,
    resolve_seed,
)
from skuncertain._warnings import remember_warnings

_SMALL_FOLD = 20  # rows; below, the best of a fold is mostly luck
_CHUNK = 500_000  # numbers worked on at once: 4 MiB, of which there are a few
_COLUMNS = (
    *("low", "high", "p_best", "expected_rank", "expected_loss"),
    *("p_worse", "p_equivalent", "p_better", "difference", "difference_low", "difference_high"),
    "equivalent",
)


@dataclass(frozen=True, eq=False, repr=False)
class SearchPosterior:
    """What a finished search says about its candidates.

    Arrays have one entry per candidate of the search, NaN for those that were not considered
    (failed fits, early levels of a halving search).

    Parameters
    ----------
    metric : str
        Name of the score.
    mean, low, high : ndarray
        Mean over folds, and the interval of the candidate on its own.
    p_best, expected_rank, expected_loss : ndarray
        P(being the best), mean rank (1 is the best), and how much worse than the best on average.
    p_worse, p_equivalent, p_better : ndarray
        Against the selected candidate, with the ROPE.
    difference, difference_low, difference_high : ndarray
        Difference to the selected candidate, and its interval.
    equivalent : ndarray of bool
        Candidates that cannot be told from the selected one: P(worse) is below the level.
    pairwise : ndarray or None
        Among the considered candidates, P(row better than column); None beyond 1000.
    rank_probabilities : ndarray or None
        Among the considered candidates; None beyond 300.
    selected_index : int
        The candidate that the search chose.
    best_score_corrected : float
        Score of the selected candidate less the optimism of choosing the best (Tibshirani and
        Tibshirani); NaN if folds are known to be too small for that.
    selection_bias : float
        That optimism.
    rope, level : float
        As asked.
    greater_is_better : bool
        Direction of the metric.
    n_splits, n_repeats : int
        Folds of all repetitions, and repetitions.
    test_train_ratio : float
        Test rows over training rows.
    params : list or None
        Parameters of the candidates.
    notes : tuple of str
        What was assumed or left out.
    seed, n_draws : int
        Of P(best), ranks and losses.
    kind : str
        "eti" or "hdi".
    method, prior, omega : str or None
        How the interval of every candidate was made.
    n : int or None
        Rows that were tested, if they are known.
    scores : ndarray of shape (candidates, splits)
        Fold scores, in the direction of the metric.
    counts : ConfusionCounts or None
        Fold matrices of the selected candidate, if the counts scorer was used.
    interval_error : ndarray
        Monte Carlo error of the ends of the intervals.
    warnings : tuple of str
        Warnings that were given when it was made.

    See Also
    --------
    search_posterior : Makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> search = GridSearchCV(tree, {"max_depth": [1, 2, 4, 8]}, cv=10).fit(X, y)
    >>> search_posterior(search, random_state=0).equivalent
    array([False,  True,  True,  True])
    """

    metric: str
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_best: np.ndarray
    expected_rank: np.ndarray
    expected_loss: np.ndarray
    p_worse: np.ndarray
    p_equivalent: np.ndarray
    p_better: np.ndarray
    difference: np.ndarray
    difference_low: np.ndarray
    difference_high: np.ndarray
    equivalent: np.ndarray
    pairwise: np.ndarray | None
    rank_probabilities: np.ndarray | None
    selected_index: int
    best_score_corrected: float
    selection_bias: float
    rope: float
    level: float
    greater_is_better: bool
    n_splits: int
    n_repeats: int
    test_train_ratio: float
    params: Any
    notes: tuple
    seed: int
    n_draws: int
    kind: str
    method: str
    prior: str | None
    omega: str | None
    n: Any
    scores: np.ndarray
    counts: ConfusionCounts | None
    interval_error: np.ndarray
    warnings: tuple = ()

    @property
    def names(self) -> tuple:
        """Short texts for the candidates: the parameters in which they differ."""
        if self.params is None:
            return tuple(str(k) for k in range(self.mean.size))
        return short_names(self.params)

    def __repr__(self):
        k = self.selected_index
        choice = "" if self.params is None else f" {self.params[k]}"
        parts = [
            f"{self.mean.size} candidate{'s' * (self.mean.size != 1)} by {self.metric}",
            f"selected {k}{choice}: {self.mean[k]:.3f} [{self.low[k]:.3f}, {self.high[k]:.3f}], "
            f"P(best) = {self.p_best[k]:.2f}",
            f"{others(self)} cannot be told from it (rope={self.rope:g})",
        ]
        if np.isfinite(self.best_score_corrected):
            parts.append(f"corrected for choosing the best: {self.best_score_corrected:.3f}")
        repeats = f" in {self.n_repeats} repetitions" if self.n_repeats > 1 else ""
        parts.append(
            f"{self.n_splits} folds{repeats}, n_test/n_train = {self.test_train_ratio:.3g}"
        )
        return "SearchPosterior(" + "; ".join([*parts, *self.notes]) + ")"

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """All candidates in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        confusion = None
        if self.counts is not None:
            confusion = selected_confusion(self.counts, self.n_repeats, self.level, self.kind)
        return search_report(self, confusion, check_digits(digits))

    def _repr_html_(self):
        return self.report()._repr_html_()

    def to_dict(self) -> dict:
        """Give the columns in the grammar of ``cv_results_``, to be merged with it.

        Returns
        -------
        dict
            Arrays named ``p_best_test_<metric>``, ``low_test_<metric>`` and so on.
        """
        return {f"{name}_test_{self.metric}": getattr(self, name) for name in _COLUMNS}

    def to_frame(self) -> Any:
        """Table with one row per candidate.

        Returns
        -------
        pandas.DataFrame
            Parameters, mean and the columns of `to_dict`.
        """
        pandas = import_optional("pandas", "pandas", "SearchPosterior.to_frame")
        first = {} if self.params is None else {"params": self.params}
        return pandas.DataFrame({**first, f"mean_test_{self.metric}": self.mean, **self.to_dict()})


@remember_warnings
def search_posterior(
    search: Any,
    *,
    metric: Any = None,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
    rope: float = 0.01,
    level: float = 0.95,
    kind: str = "eti",
    labels: Any = None,
    pos_label: Any = None,
    n_draws: int | None = None,
    random_state: Any = None,
) -> SearchPosterior:
    """Analyse a finished search: which candidates could be the best, and by how much.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, halving search, dict or DataFrame
        A fitted search, or its saved ``cv_results_`` as a dict or DataFrame. With
        ``scoring=ConfusionCountsScorer(...)`` every candidate gets its interval from its counts,
        and any metric can be asked for.
    metric : str, Metric or callable, default=None
        Which score; by default the one that the search refitted by, or the only one. With counts
        any metric, see :func:`get_metric`.
    n_repeats : int, default=None
        Repetitions of a repeated K-fold; by default read from ``search.cv``. Saved results do not
        know it: without it one repetition is assumed, and the repr says so.
    test_train_ratio : float, default=None
        Test rows over training rows; by default read from ``search.cv``, or 1 / (K - 1).
    rope : float, default=0.01
        Region of practical equivalence, in units of the score.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    labels, pos_label : object, default=None
        Of the counts scorer, if only its results were saved.
    n_draws : int, default=None
        Draws for P(best), ranks and losses; everything about pairs is exact.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    SearchPosterior
        One entry per candidate.

    See Also
    --------
    simplest_equivalent : A rule for ``refit=``.
    compare_cv : Two models on the same folds.

    Notes
    -----
    All candidates share their folds. One joint model describes them: candidate i has the value
    mean_i + sqrt(1/n + n_test/n_train) Σ_k (s_ik - mean_i) z_k / sqrt(n - 1), with z multivariate t
    with n - 1 degrees of freedom, the same z for all. So every pair is exactly the correlated t
    test, and P(best) knows what the folds have in common.

    The selected candidate's score is optimistic. ``best_score_corrected`` subtracts the mean over
    folds of (best score of the fold - score of the candidate with the best mean) [1]_; with folds
    of fewer than about 20 rows that is mostly luck. A candidate that was selected by a rule or by
    another metric is less lucky than the best, so for it the correction is cautious.
    :func:`bbc_score` needs out-of-fold predictions and is better;
    ``BayesianCrossValidator(search)`` is nested cross-validation and costs refits.

    References
    ----------
    .. [1] R. J. Tibshirani, R. Tibshirani (2009). A bias correction for the minimum error rate in
       cross-validation. Annals of Applied Statistics 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import ConfusionCountsScorer, search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = GridSearchCV(
    ...     DecisionTreeClassifier(random_state=0),
    ...     {"max_depth": [1, 2, 4, 8]},
    ...     scoring=ConfusionCountsScorer(metrics=["f1"]),
    ...     refit="f1",
    ...     cv=10,
    ... ).fit(X, y)
    >>> analysis = search_posterior(search, metric="f1", random_state=0)
    >>> analysis.p_best.round(2)
    array([0.  , 0.35, 0.47, 0.17])
    """
    level, kind, rope = check_level(level), check_kind(kind), check_rope(rope)
    found = read_search(search, metric, n_repeats, test_train_ratio, labels, pos_label)
    seed = resolve_seed(random_state)
    kept = np.flatnonzero(found.considered)
    scores = found.scores[kept]
    n = scores.shape[1]
    if n < 2:
        raise ValueError(f"a search needs at least two folds to be analysed, got {n}.")
    correction = 1 / n + found.ratio
    if rope >= 1 and np.nanmax(np.abs(scores)) <= 1:
        raise ValueError(
            f"rope must be in units of the score, which is at most 1, got {rope:g}. Did you mean "
            f"{rope / 100:g}?"
        )
    low, high, error, about = _own_intervals(found, kept, level, kind)
    ranking, n_draws = _rank(scores, correction, n_draws, seed)
    p_best, rank, loss, _, ranks = ranking
    pairs = None
    if len(kept) <= PAIR_LIMIT:
        pairs = pairwise_t(scores, correction)
        rank = 1 + pairs.sum(axis=0) - 0.5  # how many are better, on average
    against = differences(scores, scores[list(kept).index(found.selected)], correction)
    below = against.cdf(np.nextafter(-rope, -np.inf))
    above = 1 - against.cdf(rope)
    ends = _quiet(against, level)
    # A candidate that is worse on average was not chosen for its luck: its distance is no optimism.
    bias = float(np.mean(scores.max(axis=0) - scores[np.argmax(scores.mean(axis=1))]))
    notes = list(found.notes)
    mean = found.sign * scores.mean(axis=1)
    corrected = mean[list(kept).index(found.selected)] - found.sign * bias
    if found.counts is not None:
        rows = np.median(found.counts[kept].n)
        if rows < _SMALL_FOLD:
            corrected = np.nan
            notes.append(f"folds of {rows:g} rows are too small to correct the best score")
        outside = int(((mean < low) | (mean > high)).sum())
        if outside:
            notes.append(
                f"the mean over folds is outside the interval of the pooled counts for {outside} "
                "candidates: the folds are too small for this metric"
            )
    if found.sign < 0:
        ends = (-ends[1], -ends[0])

    def spread(values, fill=np.nan):
        full = np.full(found.n_total, fill, dtype=np.asarray(values).dtype)
        full[kept] = values
        return full

    p_worse, p_better = np.clip(below, 0, 1), np.clip(above, 0, 1)
    return SearchPosterior(
        metric=found.metric,
        mean=spread(mean),
        low=spread(low),
        high=spread(high),
        p_best=spread(p_best),
        expected_rank=spread(rank),
        expected_loss=spread(loss),
        p_worse=spread(p_worse),
        p_equivalent=spread(np.clip(1 - p_worse - p_better, 0, 1)),
        p_better=spread(p_better),
        difference=spread(found.sign * against.loc),
        difference_low=spread(ends[0]),
        difference_high=spread(ends[1]),
        equivalent=spread(p_worse < level, fill=False),
        pairwise=pairs,
        rank_probabilities=ranks,
        selected_index=found.selected,
        best_score_corrected=float(corrected),
        selection_bias=bias,
        rope=rope,
        level=level,
        greater_is_better=found.sign > 0,
        n_splits=n,
        n_repeats=found.n_repeats,
        test_train_ratio=found.ratio,
        params=found.params,
        notes=tuple(notes),
        seed=seed,
        n_draws=n_draws,
        kind=kind,
        scores=found.sign * found.scores,
        counts=None if found.counts is None else found.counts[found.selected],
        n=_tested_rows(found),
        interval_error=spread(error),
        **about,
    )


def _tested_rows(found):
    if found.counts is None:
        return None
    total = float(np.sum(found.counts[found.selected].n)) / found.n_repeats
    return int(total) if total.is_integer() else total


def short_names(params):
    """One text per candidate, of the parameters that are not the same in all of them."""
    texts = [{str(key): str(value) for key, value in row.items()} for row in params]
    keys = list(dict.fromkeys(key for row in texts for key in row))
    varying = [key for key in keys if len({row.get(key) for row in texts}) > 1]
    last = [key.rsplit("__", 1)[-1] for key in varying]
    short = {
        key: end if last.count(end) == 1 else key for key, end in zip(varying, last, strict=True)
    }
    names = [
        ", ".join(f"{short[key]}={row[key]}" for key in varying if key in row) or str(k)
        for k, row in enumerate(texts)
    ]
    return tuple(distinct(names))


def _quiet(posterior, level):
    """Both ends, without the warning about the selected candidate's own zero difference."""
    tails = np.array([1 - level, 1 + level]) / 2
    return tuple(np.moveaxis(posterior.quantile(tails), -1, 0))


def differences(scores, reference, correction):
    """Correlated t of every candidate less a reference, from fold scores ``(m, n)``."""
    return _student(_rounded(scores - reference, scores), correction)


def _rounded(gap, scores):
    """Gaps without the rounding errors of the scores, so that equal ones are equal."""
    unit = 2.0**-47 * np.abs(scores).max() or 1.0
    return np.round(gap / unit) * unit


def _student(gap, correction):
    mean = gap.mean(axis=1)
    deviation = gap - mean[:, None]
    # Equal gaps have no variance, whatever the rounding of their mean.
    scale = np.abs(gap).max(axis=1, keepdims=True)
    deviation = np.where(np.abs(deviation) <= 4 * np.finfo(float).eps * scale, 0.0, deviation)
    spread = np.square(deviation).sum(axis=1) / (gap.shape[1] - 1)
    df = np.full(mean.shape, gap.shape[1] - 1.0)
    return StudentPosterior(df, mean, np.sqrt(spread * correction))


def pairwise_t(scores, correction):
    """P(row better than column) for all pairs, each by its own correlated t."""
    pairs = np.empty((len(scores), len(scores)))
    for i, row in enumerate(scores):
        gap = _student(_rounded(row - scores, scores), correction)
        above, below = 1 - gap.cdf(0.0), gap.cdf(np.nextafter(0.0, -1.0))
        pairs[i] = above + 0.5 * (1 - above - below)  # ties count half
    return pairs


def _own_intervals(found, kept, level, kind):
    """Interval of every candidate on its own: from its counts, or from its fold scores."""
    if found.counts is not None:
        many = len(kept) > 200  # then metrics that are drawn get fewer draws, a part at a time
        parts = np.array_split(kept, max(len(kept) // 500, 1))
        ends, errors = [], []
        for part in parts:
            folds = Folds.of(
                found.counts[part],
                found.metric_object,
                found.n_repeats,
                n_draws=1000 if many else None,
                random_state=0,
            )
            posterior = folds.posterior("pooled", warn=False, prior=1.0)
            ends.append(np.broadcast_arrays(*posterior.interval(level, kind)))
            errors.append(np.broadcast_to(posterior.interval_error(level, kind), len(part)))
        low, high = (np.concatenate([np.atleast_1d(end[k]) for end in ends]) for k in (0, 1))
        about = {"method": "pooled", "prior": posterior.prior, "omega": "auto, per candidate"}
        return low, high, np.concatenate(errors), about
    posterior = score_posterior(
        found.scores[kept], "nadeau_bengio", found.n_repeats, None, 1.0, found.ratio
    )
    low, high = _quiet(posterior, level)  # symmetric: the shortest one, too
    about = {"method": "nadeau_bengio (t on fold scores)", "prior": None, "omega": None}
    return low, high, np.zeros(len(kept)), about


def _rank(scores, correction, n_draws, seed):
    """P(best), ranks and losses by draws of the joint model."""
    m, n = scores.shape
    unique, where = np.unique(scores, axis=0, return_inverse=True)
    if len(unique) == m:
        unique, where = scores, slice(None)
    else:
        where = where.ravel()  # equal candidates must tie to the last bit
    if n_draws is None:
        n_draws = int(np.clip(4e7 / m, 2000, 20_000))
    n_draws = check_draws(n_draws, 1)
    ranked = min(n_draws, max(1000, int(1e7 / m)))  # sorting is what costs
    counter = DrawCounter(m, m <= RANK_LIMIT, False)
    mean = unique.mean(axis=1)
    weight = (unique - mean[:, None]) * np.sqrt(correction / (n - 1))
    chunk = max(1, _CHUNK // m)
    starts = range(0, n_draws, chunk)
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        size = min(chunk, n_draws - start)
        rng = np.random.default_rng(child)
        z = rng.standard_normal((n, size)) / np.sqrt(rng.chisquare(n - 1, size) / (n - 1))
        values = mean[:, None] + weight @ z
        counter.add(values[where], rank=start < ranked)
    return counter.tables(), n_draws
