"""After a search: how sure is the choice?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skuncertain._numerics.fold_ranking import FoldRanking, round_gaps
from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._reporting.text import distinct, params_texts
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_bool,
    check_draws,
    check_kind,
    check_level,
    check_number,
    check_rope,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import remember_warnings
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.model_selection._cross_val_report import selected_confusion
from skuncertain.model_selection._fold_t import CUT, correlated_t, is_cut
from skuncertain.model_selection._search.intervals import (
    both_ends,
    interval_options,
    own_intervals,
    usable_options,
)
from skuncertain.model_selection._search.read import read_search
from skuncertain.model_selection._search.report import search_report, selected_text, shares_text
from skuncertain.model_selection._search.selection_bias import score_of_left_out
from skuncertain.posteriors._about import About
from skuncertain.posteriors._interval import Interval

_COLUMNS = (
    *("low", "high", "p_best", "tie_group", "expected_rank", "expected_loss"),
    *("p_worse", "p_equivalent", "p_better", "difference", "difference_low", "difference_high"),
    *("as_good", "distinguishable"),
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SearchPosterior(HasReport):
    """What a finished search says about its candidates.

    Arrays have one entry per candidate of the search, NaN for those that were not considered
    (failed fits, early levels of a halving search). Differences are to the candidate with the
    highest mean, `reference_index`. P(best), ranks and losses are computed when they are asked for.

    Parameters
    ----------
    rope, probability, level : float
        As asked.
    kind : str
        "eti" or "hdi".
    shrinkage : bool
        Whether P(best), ranks and losses are shrunk.
    method, prior, omega : str or None
        How the interval of every candidate was made.
    seed, n_draws : int
        Of P(best), ranks and losses.
    mean, low, high : ndarray
        Mean over folds, and the interval of the candidate on its own, by `method`, as if it had
        not been chosen; t intervals are cut off at the range of the metric. All that compares
        candidates comes from one joint model, the correlated t, whatever the method.
    interval_error : ndarray
        Monte Carlo error of the ends of the intervals.
    p_worse, p_equivalent, p_better : ndarray
        Against the candidate with the highest mean, with the ROPE.
    difference, difference_low, difference_high : ndarray
        Difference to the candidate with the highest mean, and its interval.
    as_good : ndarray of bool
        Candidates that are as good as the one with the highest mean: with `probability` they are
        not worse by more than the ROPE.
    distinguishable : ndarray of bool
        Candidates that are worse than it by more than the ROPE with the probability `level`.
    considered : ndarray of bool
        Candidates that were looked at.
    metric : str
        Name of the score.
    greater_is_better : bool
        Direction of the metric.
    selected_index : int
        The candidate that the search chose.
    reference_index : int
        The candidate with the highest mean (the lowest, if less is better).
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
    range : tuple of float
        Smallest and largest value of the metric, as far as they are known.
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
    >>> found = search_posterior(search, random_state=0)
    >>> found.as_good
    array([False,  True,  True,  True])
    >>> found.distinguishable
    array([ True, False, False, False])
    """

    # What was asked, and how it was answered.
    rope: float
    probability: float
    level: float
    kind: str
    shrinkage: bool
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
    p_worse: np.ndarray
    p_equivalent: np.ndarray
    p_better: np.ndarray
    difference: np.ndarray
    difference_low: np.ndarray
    difference_high: np.ndarray
    as_good: np.ndarray
    distinguishable: np.ndarray
    considered: np.ndarray
    # The search.
    metric: str
    greater_is_better: bool
    selected_index: int
    reference_index: int
    scores: np.ndarray
    counts: ConfusionCounts | None
    params: Any
    n_repeats: int
    test_train_ratio: float
    range: tuple
    notes: tuple
    obstacle: str | None = None
    warnings: tuple = ()
    pos_label: Any = None

    # ----------------------------------------------------------------------------------------------
    # The order of all candidates

    @cached_property
    def _ranking(self):
        return FoldRanking(
            self._sign * self.scores[self.considered],
            self.test_train_ratio,
            self.n_draws,
            self.seed,
            self.shrinkage,
        )

    @property
    def _sign(self):
        return 1.0 if self.greater_is_better else -1.0

    @property
    def tie_group(self) -> np.ndarray:
        """Number of the group of candidates with the same fold scores; -1: not considered."""
        return _spread(self._ranking.tie_group, self.considered)

    @property
    def p_best(self) -> np.ndarray:
        """Probability that the group of a candidate is the best; sums to 1 over groups."""
        return _spread(self._ranking.p_best, self.considered)

    @property
    def expected_rank(self) -> np.ndarray:
        """Mean rank; 1 is the best."""
        return _spread(self._ranking.expected_rank, self.considered)

    @property
    def expected_loss(self) -> np.ndarray:
        """How much worse than the best one, on average."""
        return _spread(self._ranking.expected_loss, self.considered)

    @property
    def pairwise(self) -> np.ndarray | None:
        """Among the considered ones, P(row better than column); None beyond 1000."""
        return self._ranking.pairwise

    @property
    def rank_probabilities(self) -> np.ndarray | None:
        """Among the considered ones, P(row has rank column + 1); None beyond 300."""
        return self._ranking.rank_probabilities

    @property
    def all_equal(self) -> bool:
        """Whether candidates differ by no more than noise explains; False without shrinkage."""
        return self._ranking.all_equal

    @property
    def shrinkage_weight(self) -> float:
        """Share of the variance of a candidate that shrinkage leaves; 1 without shrinkage."""
        return self._ranking.weight

    def order(self) -> np.ndarray:
        """Sort the candidates by expected rank; where it is the same, by their mean.

        Returns
        -------
        ndarray of int
            The indices of those that were considered.
        """
        kept = np.flatnonzero(self.considered)
        keys = (-self._sign * self.mean, -self.p_best, self.expected_rank)
        return kept[np.lexsort([key[kept] for key in keys])]

    # ----------------------------------------------------------------------------------------------
    # The selected candidate

    @cached_property
    def best_score_corrected(self) -> float:
        """Score of the selected candidate without the optimism of choosing the best."""
        scores = self._sign * self.scores[self.considered]
        left_out = score_of_left_out(scores, self.n_repeats)
        shrunk, common = self._ranking.shrunk, self._ranking.mean.mean()
        equal = 0.0 if shrunk is None else min(1.0, 2 * shrunk.p_value)
        expected = equal * common + (1 - equal) * left_out
        # Who scores less than that was not chosen for its luck.
        return float(self._sign * min(self._sign * self.mean[self.selected_index], expected))

    @property
    def selection_bias(self) -> float:
        """Optimism of the selected candidate's score, at least 0."""
        return abs(float(self.mean[self.selected_index]) - self.best_score_corrected)

    @property
    def selected_interval(self) -> Interval:
        """Interval of the selected candidate, moved for having been chosen.

        The worse end moves by the whole optimism, the better one by half of it, because the
        optimism is an estimate itself.
        """
        k, bias = self.selected_index, self.selection_bias
        worse, better = (1.0, 0.5) if self.greater_is_better else (0.5, 1.0)
        ends = self.low[k] - self._sign * worse * bias, self.high[k] - self._sign * better * bias
        return Interval(*(float(end) for end in np.clip(ends, *self.range)))

    # ----------------------------------------------------------------------------------------------
    # As text and tables

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
        names = [text or str(k) for k, text in enumerate(params_texts(self.params))]
        return tuple(distinct(names))

    def __repr__(self):
        k = self.selected_index
        choice = "" if self.params is None else f" {self.params[k]}"
        repeats = f" in {self.n_repeats} repetitions" if self.n_repeats > 1 else ""
        parts = [
            f"{self.mean.size} candidate{'s' * (self.mean.size != 1)} by {self.question}",
            f"selected {k}{choice}: {selected_text(self)}",
            f"P(best) = {self.p_best[k]:.2f}",
            f"{shares_text(self)} (rope={self.rope:g})",
            f"{self.n_splits} folds{repeats}, n_test/n_train = {self.test_train_ratio:.3g}",
            *self.notes,
        ]
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
    cv: Any = None,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
    rope: float = 0.01,
    probability: float = 0.5,
    level: float = 0.95,
    kind: str = "eti",
    shrinkage: bool = True,
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
        candidates get their intervals from their counts, or from the moments of their scores.
    metric : str, Metric or callable, default=None
        Which score; by default the one that the search refitted by. With counts any metric of them.
    method, omega, prior, prior_per_fold : object
        How every candidate gets its interval, see :func:`fold_posterior`: by default "pooled" with
        counts that can be added up, otherwise "nadeau_bengio".
    cv, n_repeats, test_train_ratio : object, default=None
        For saved results: what the search had split by, or repetitions and the ratio of test to
        training rows; by default one repetition and 1 / (K - 1).
    rope : float, default=0.01
        Region of practical equivalence, in units of the score.
    probability : float, default=0.5
        A candidate is as good as the highest mean if, with this probability, it is not worse by
        more than the ROPE. One half asks that its mean is within the ROPE.
    level, kind : float and str, default=0.95 and "eti"
        Probability of the intervals; equal-tailed or highest-density ("hdi").
    shrinkage : bool, default=True
        Whether P(best), ranks and losses allow for the luck of the best of many.
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
    Every pair is the correlated t test. Candidates with the same fold scores share their P(best).
    ``selected_interval`` and ``best_score_corrected`` allow for having chosen the best.

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
    array([0.  , 0.36, 0.47, 0.17])
    """
    level, kind, rope = check_level(level), check_kind(kind), check_rope(rope)
    probability = check_number("probability", probability, low=0, high=1, closed=False)
    check_bool("shrinkage", shrinkage)
    asked = interval_options(method, omega, prior, prior_per_fold)
    found = read_search(search, metric, n_repeats, test_train_ratio, labels, pos_label, cv)
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
    if n_draws is None:
        n_draws = int(np.clip(4e7 / len(scores), 2000, 20_000))
    own, about = own_intervals(found, kept, options, level, kind)
    best = _best_mean(found)
    columns = {
        "mean": found.sign * scores.mean(axis=1),
        **own,
        **_against(found.scores[best], found, kept, rope, level, probability),
    }
    columns = {name: _spread(values, found.considered) for name, values in columns.items()}
    return SearchPosterior(
        **columns,
        **about,
        rope=rope,
        probability=probability,
        level=level,
        kind=kind,
        shrinkage=shrinkage,
        seed=resolve_seed(random_state),
        n_draws=check_draws(n_draws, 1),
        reference_index=best,
        notes=_notes(found, columns, options),
        **_what_was_read(found),
    )


def _best_mean(found):
    """Index of the highest mean: the selected one if it has it, otherwise the first."""
    means = np.where(found.considered, found.scores.mean(axis=1), -np.inf)
    rounded = round_gaps(means, found.scores[found.considered])  # so that equal ones are equal
    selected = found.selected
    return selected if rounded[selected] == rounded.max() else int(np.argmax(rounded))


def _what_was_read(found):
    """Attributes that come from the search as they are."""
    return {
        "metric": found.metric,
        "greater_is_better": found.sign > 0,
        "selected_index": found.selected,
        "considered": found.considered,
        "scores": found.sign * found.scores,
        "counts": found.counts,
        "pos_label": found.pos_label,
        "params": found.params,
        "n_repeats": found.n_repeats,
        "test_train_ratio": found.ratio,
        "range": found.range,
        "obstacle": found.obstacle,
    }


def _notes(found, columns, options):
    """Remarks on the folds and the intervals."""
    notes = list(found.notes)
    if found.counts is not None and found.obstacle:
        notes.append(f"the folds are not added up: {found.obstacle}")
    if found.scores_only:
        cut = int(np.sum(is_cut(columns["low"], columns["high"], found.range)))
        if cut:
            notes.append(f"{CUT}: {cut} candidate{'s' * (cut != 1)}")
        return tuple(notes)
    outside = np.sum((columns["mean"] < columns["low"]) | (columns["mean"] > columns["high"]))
    if outside and options.pools:
        notes.append(
            f"the mean over folds is outside the interval of the pooled counts for {outside} "
            "candidates: the folds are too small for this metric"
        )
    return tuple(notes)


def _spread(values, considered):
    """Entries of the considered candidates among those of all; the others are missing."""
    values = np.asarray(values)
    missing = {"b": False, "i": -1}.get(values.dtype.kind, np.nan)
    full = np.full(considered.size, missing, dtype=values.dtype)
    full[considered] = values
    return full


def _against(reference, found, kept, rope, level, probability):
    """Columns about the difference to the candidate with these scores, by the correlated t."""
    scores = found.scores[kept]
    difference = correlated_t(round_gaps(scores - reference, scores), found.ratio)
    beyond = rope + 2.0**-44 * np.abs(scores).max()  # a gap of exactly the ROPE is none
    p_worse = np.clip(difference.cdf(-beyond), 0, 1)
    p_better = np.clip(1 - difference.cdf(beyond), 0, 1)
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
        "as_good": p_worse <= 1 - probability + 1e-9,
        "distinguishable": p_worse >= level,
    }
