"""After a search: how sure is the choice?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._numerics.best_of_many import PAIR_LIMIT, RANK_LIMIT, DrawCounter
from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._reporting.text import distinct
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_draws,
    check_kind,
    check_level,
    check_rope,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import remember_warnings
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.model_selection._cross_val_report import selected_confusion
from skuncertain.model_selection._fold_t import CUT, correlated_t, is_cut, round_gaps
from skuncertain.model_selection._read_search import read_search
from skuncertain.model_selection._search_intervals import (
    both_ends,
    interval_options,
    own_intervals,
    usable_options,
)
from skuncertain.model_selection._search_report import others, search_report
from skuncertain.posteriors._about import About

_SMALL_FOLD = 20  # rows; below, the best of a fold is mostly luck
_CHUNK = 500_000  # numbers worked on at once: 4 MiB, of which there are a few
_COLUMNS = (
    *("low", "high", "p_best", "expected_rank", "expected_loss"),
    *("p_worse", "p_equivalent", "p_better", "difference", "difference_low", "difference_high"),
    "equivalent",
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SearchPosterior(HasReport):
    """What a finished search says about its candidates.

    Arrays have one entry per candidate of the search, NaN for those that were not considered
    (failed fits, early levels of a halving search).

    Parameters
    ----------
    rope, level : float
        As asked.
    kind : str
        "eti" or "hdi".
    method, prior, omega : str or None
        How the interval of every candidate was made.
    seed, n_draws : int
        Of P(best), ranks and losses.
    mean, low, high : ndarray
        Mean over folds, and the interval of the candidate on its own, by `method`; t intervals are
        cut off at the range of the metric. All that compares candidates comes from one joint model,
        the correlated t, whatever the method.
    interval_error : ndarray
        Monte Carlo error of the ends of the intervals.
    p_best, expected_rank, expected_loss : ndarray
        P(being the best), mean rank (1 is the best), and how much worse than the best on average.
    p_worse, p_equivalent, p_better : ndarray
        Against the selected candidate, with the ROPE.
    difference, difference_low, difference_high : ndarray
        Difference to the selected candidate, and its interval.
    equivalent : ndarray of bool
        Candidates that are not distinguishable from the selected one: P(worse) is below the level.
    metric : str
        Name of the score.
    greater_is_better : bool
        Direction of the metric.
    selected_index : int
        The candidate that the search chose.
    best_score_corrected : float
        Score of the selected candidate less the optimism of choosing the best (Tibshirani and
        Tibshirani); NaN if folds are known to be too small for that.
    selection_bias : float
        That optimism.
    pairwise : ndarray or None
        Among the considered candidates, P(row better than column); None beyond 1000.
    rank_probabilities : ndarray or None
        Among the considered candidates; None beyond 300.
    scores : ndarray of shape (candidates, splits)
        Fold scores, in the direction of the metric.
    counts : ConfusionCounts or None
        Fold matrices of all candidates, shape (candidates, splits), if the counts scorer was used;
        zeros where a fit failed.
    params : list or None
        Parameters of the candidates.
    n_repeats : int
        Repetitions of the cross-validation.
    test_train_ratio : float
        Test rows over training rows.
    notes : tuple of str
        What was assumed or left out.
    obstacle : str or None
        Why the folds cannot be added up, if they cannot.
    warnings : tuple of str
        Warnings that were given when it was made.
    pos_label : label or None
        Class of a metric of the counts that depends on one.

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

    # What was asked, and how it was answered.
    rope: float
    level: float
    kind: str
    method: str
    prior: str | None
    omega: str | None
    seed: int
    n_draws: int
    # One entry per candidate.
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    interval_error: np.ndarray
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
    # The search.
    metric: str
    greater_is_better: bool
    selected_index: int
    best_score_corrected: float
    selection_bias: float
    pairwise: np.ndarray | None
    rank_probabilities: np.ndarray | None
    scores: np.ndarray
    counts: ConfusionCounts | None
    params: Any
    n_repeats: int
    test_train_ratio: float
    notes: tuple
    obstacle: str | None = None
    warnings: tuple = ()
    pos_label: Any = None

    @property
    def question(self) -> str:
        """Metric with its class, in words."""
        return About(metric=self.metric, pos_label=self.pos_label).question()

    @property
    def n_splits(self) -> int:
        """Folds of all repetitions."""
        return self.scores.shape[1]

    @property
    def n(self) -> float | None:
        """Rows that were tested, if they are known."""
        if self.counts is None:
            return None
        total = float(np.sum(self.counts[self.selected_index].n)) / self.n_repeats
        return int(total) if total.is_integer() else total

    @property
    def names(self) -> tuple:
        """Short texts for the candidates: the parameters in which they differ."""
        if self.params is None:
            return tuple(str(k) for k in range(self.mean.size))
        texts = [{str(key): str(value) for key, value in row.items()} for row in self.params]
        keys = dict.fromkeys(key for row in texts for key in row)
        varying = [key for key in keys if len({row.get(key) for row in texts}) > 1]
        last = [key.rsplit("__", 1)[-1] for key in varying]
        short = [
            (key, end if last.count(end) == 1 else key)
            for key, end in zip(varying, last, strict=True)
        ]
        names = [
            ", ".join(f"{name}={row[key]}" for key, name in short if key in row) or str(k)
            for k, row in enumerate(texts)
        ]
        return tuple(distinct(names))

    def __repr__(self):
        k = self.selected_index
        choice = "" if self.params is None else f" {self.params[k]}"
        repeats = f" in {self.n_repeats} repetitions" if self.n_repeats > 1 else ""
        parts = [
            f"{self.mean.size} candidate{'s' * (self.mean.size != 1)} by {self.question}",
            f"selected {k}{choice}: {self.mean[k]:.3f} [{self.low[k]:.3f}, {self.high[k]:.3f}], "
            f"P(best) = {self.p_best[k]:.2f}",
            f"{others(self)} (rope={self.rope:g})",
            f"{self.n_splits} folds{repeats}, n_test/n_train = {self.test_train_ratio:.3g}",
            *self.notes,
        ]
        if np.isfinite(self.best_score_corrected):
            parts.insert(3, f"corrected for choosing the best: {self.best_score_corrected:.3f}")
        return f"SearchPosterior({'; '.join(parts)})"

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
            counts = self.counts[self.selected_index]
            confusion = selected_confusion(
                counts, self.n_repeats, self.level, self.kind, self.obstacle
            )
        return search_report(self, confusion, check_digits(digits))

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
        first = {} if self.params is None else {"params": self.params}
        return data_frame(self, {**first, f"mean_test_{self.metric}": self.mean, **self.to_dict()})


@remember_warnings
def search_posterior(
    search: Any,
    *,
    metric: MetricLike | None = None,
    method: str | None = None,
    omega: Any = "auto",
    prior: PriorLike = 1.0,
    prior_per_fold: bool | None = None,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
    rope: float = 0.01,
    level: float = 0.95,
    kind: str = "eti",
    labels: Any = None,
    pos_label: LabelLike = None,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> SearchPosterior:
    """Analyse a finished search: which candidates could be the best, and by how much.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, halving search, dict or DataFrame
        A fitted search, or its saved ``cv_results_``. With ``scoring=ConfusionCountsScorer(...)``
        candidates get their intervals from their counts.
    metric : str, Metric or callable, default=None
        Which score; by default the one that the search refitted by. With counts any metric.
    method, omega, prior, prior_per_fold : object
        How every candidate gets its interval, see :func:`fold_posterior`: by default "pooled" if
        there are counts that can be added up, otherwise "nadeau_bengio". Scores alone allow that,
        "t" and "corrected_t".
    n_repeats : int, default=None
        Repetitions of a repeated K-fold; by default read from ``search.cv``, or 1.
    test_train_ratio : float, default=None
        Test rows over training rows; by default read from ``search.cv``, or 1 / (K - 1).
    rope : float, default=0.01
        Region of practical equivalence, in units of the score.
    level, kind : float and str, default=0.95 and "eti"
        Probability of the intervals; equal-tailed or highest-density ("hdi").
    labels, pos_label : object, default=None
        Of the counts scorer, if only its results were saved.
    n_draws, random_state : int, default=None
        Draws for P(best), ranks and losses, and their seed; everything about pairs is exact.

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
    One joint model describes all candidates, which share their folds: every pair is exactly the
    correlated t test, and P(best) knows what the folds have in common. `method` changes ``low`` and
    ``high``, nothing that compares candidates. The selected candidate's score is optimistic;
    ``best_score_corrected`` subtracts Tibshirani and Tibshirani's estimate of that.
    :func:`selection_corrected_score` needs out-of-fold predictions and is better.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import ConfusionCountsScorer, search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree, scorer = DecisionTreeClassifier(random_state=0), ConfusionCountsScorer(metrics=["f1"])
    >>> grid = {"max_depth": [1, 2, 4, 8]}
    >>> search = GridSearchCV(tree, grid, scoring=scorer, refit="f1", cv=10).fit(X, y)
    >>> analysis = search_posterior(search, metric="f1", random_state=0)
    >>> analysis.p_best.round(2)
    array([0.  , 0.35, 0.47, 0.17])
    """
    level, kind, rope = check_level(level), check_kind(kind), check_rope(rope)
    asked = interval_options(method, omega, prior, prior_per_fold)
    found = read_search(search, metric, n_repeats, test_train_ratio, labels, pos_label)
    options = usable_options(asked, found)
    kept = np.flatnonzero(found.considered)
    scores = found.scores[kept]
    refuse_if(
        scores.shape[1] < 2,
        "search",
        f"a search needs at least two folds to be analysed, got {scores.shape[1]}.",
    )
    if np.nanmax(np.abs(scores)) <= 1:
        check_rope(rope, 1, "the score")
    seed = resolve_seed(random_state)
    ranks, joint = _ranks(scores, found.ratio, n_draws, seed)
    own, about = own_intervals(found, kept, options, level, kind)
    columns = {
        "mean": found.sign * scores.mean(axis=1),
        **own,
        **ranks,
        **_against_selected(found, kept, rope, level),
    }
    # A candidate that is worse on average was not chosen for its luck: its distance is no optimism.
    bias = float(np.mean(scores.max(axis=0) - scores[np.argmax(scores.mean(axis=1))]))
    columns = {name: _spread(values, found.considered) for name, values in columns.items()}
    corrected = float(np.clip(columns["mean"][found.selected] - found.sign * bias, *found.range))
    notes, small = _notes_on_folds(found, kept, columns, options)
    return SearchPosterior(
        **columns,
        **about,
        **joint,
        rope=rope,
        level=level,
        kind=kind,
        seed=seed,
        best_score_corrected=np.nan if small else corrected,
        selection_bias=bias,
        notes=notes,
        **_what_was_read(found),
    )


def _what_was_read(found):
    """Attributes that come from the search as they are."""
    return {
        "metric": found.metric,
        "greater_is_better": found.sign > 0,
        "selected_index": found.selected,
        "scores": found.sign * found.scores,
        "counts": found.counts,
        "pos_label": found.pos_label,
        "params": found.params,
        "n_repeats": found.n_repeats,
        "test_train_ratio": found.ratio,
        "obstacle": found.obstacle,
    }


def _notes_on_folds(found, kept, columns, options):
    """Remarks on the folds, and whether they are too small to correct the best score."""
    notes = list(found.notes)
    if found.counts is not None and found.obstacle:
        notes.append(f"the folds are not added up: {found.obstacle}")
    if found.metric_object is None:
        cut = int(np.sum(is_cut(columns["low"], columns["high"], found.range)))
        if cut:
            notes.append(f"{CUT}: {cut} candidate{'s' * (cut != 1)}")
        return tuple(notes), False
    rows = np.median(found.counts[kept].n)
    if rows < _SMALL_FOLD:
        notes.append(f"folds of {rows:g} rows are too small to correct the best score")
    outside = np.sum((columns["mean"] < columns["low"]) | (columns["mean"] > columns["high"]))
    if outside and options.pools:
        notes.append(
            f"the mean over folds is outside the interval of the pooled counts for {outside} "
            "candidates: the folds are too small for this metric"
        )
    return tuple(notes), rows < _SMALL_FOLD


def _spread(values, considered):
    """Entries of the considered candidates among those of all; NaN, or False, for the others."""
    values = np.asarray(values)
    full = np.full(considered.size, False if values.dtype == bool else np.nan, dtype=values.dtype)
    full[considered] = values
    return full


def _against_selected(found, kept, rope, level):
    """Columns about the difference to the selected candidate, by the correlated t."""
    scores = found.scores[kept]
    gaps = round_gaps(scores - found.scores[found.selected], scores)
    difference = correlated_t(gaps, found.ratio)
    p_worse = np.clip(difference.cdf(np.nextafter(-rope, -np.inf)), 0, 1)
    p_better = np.clip(1 - difference.cdf(rope), 0, 1)
    span = found.range[1] - found.range[0]
    low, high = both_ends(difference, level, (-span, span))
    if found.sign < 0:
        low, high = -high, -low
    return {
        "p_worse": p_worse,
        "p_equivalent": np.clip(1 - p_worse - p_better, 0, 1),
        "p_better": p_better,
        "difference": found.sign * difference.loc,
        "difference_low": low,
        "difference_high": high,
        "equivalent": p_worse < level,
    }


def _ranks(scores, ratio, n_draws, seed):
    """Columns about the order of the candidates, and what is known about all pairs and ranks."""
    if n_draws is None:
        n_draws = int(np.clip(4e7 / len(scores), 2000, 20_000))
    n_draws = check_draws(n_draws, 1)
    ranking = _draw_ranks(scores, ratio, n_draws, seed)
    pairwise, rank = None, ranking.expected_rank
    if len(scores) <= PAIR_LIMIT:
        # P(row better than column) for all pairs, each by its own correlated t.
        pairwise = np.empty((len(scores), len(scores)))
        for i, row in enumerate(scores):
            gap = correlated_t(round_gaps(row - scores, scores), ratio)
            above, below = 1 - gap.cdf(0.0), gap.cdf(np.nextafter(0.0, -1.0))
            pairwise[i] = above + 0.5 * (1 - above - below)  # ties count half
        rank = 1 + pairwise.sum(axis=0) - 0.5  # how many are better, on average
    columns = {
        "p_best": ranking.p_best,
        "expected_rank": rank,
        "expected_loss": ranking.expected_loss,
    }
    joint = {"rank_probabilities": ranking.rank_probabilities, "n_draws": n_draws}
    return columns, joint | {"pairwise": pairwise}


def _draw_ranks(scores, ratio, n_draws, seed):
    """P(best), ranks and losses by draws of the joint model."""
    m, n = scores.shape
    unique, where = np.unique(scores, axis=0, return_inverse=True)
    where = where.ravel()  # equal candidates must tie to the last bit
    if len(unique) == m:
        unique, where = scores, slice(None)
    ranked = min(n_draws, max(1000, int(1e7 / m)))  # sorting is what costs
    counter = DrawCounter(m, m <= RANK_LIMIT, False)
    mean = unique.mean(axis=1, keepdims=True)
    weight = (unique - mean) * np.sqrt((1 / n + ratio) / (n - 1))
    chunk = max(1, _CHUNK // m)
    starts = range(0, n_draws, chunk)
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        size = min(chunk, n_draws - start)
        rng = np.random.default_rng(child)
        z = rng.standard_normal((n, size)) / np.sqrt(rng.chisquare(n - 1, size) / (n - 1))
        counter.add((mean + weight @ z)[where], rank=start < ranked)
    return counter.ranking()
