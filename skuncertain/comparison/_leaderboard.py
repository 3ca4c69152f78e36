"""Many models: who is best, and how sure is the ranking?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.best_of_many import PAIR_LIMIT
from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._reporting.text import level_text
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_list,
    as_numbers,
    check_bool,
    check_draws,
    check_kind,
    check_level,
    check_number,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import remember_warnings
from skuncertain._version import __version__
from skuncertain.comparison._compare import as_posterior
from skuncertain.comparison._fold_difference import check_estimand
from skuncertain.comparison._fold_rows import is_cross_validated
from skuncertain.comparison._leaderboard_ranks import (
    about_draws,
    rank_by_draws,
    rank_drawn,
    rank_exactly,
)
from skuncertain.comparison._leaderboard_report import leaderboard_report
from skuncertain.comparison._leaderboard_rows import SharedRows
from skuncertain.comparison._leaderboard_scores import ScoreBoard
from skuncertain.comparison._score_pairs import refuse_folds, score_metric
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._priors import resolve_number
from skuncertain.metrics._registry import check_direction, directed
from skuncertain.posteriors._about import QUESTION, About
from skuncertain.posteriors._beta import BetaPosterior, stack_betas
from skuncertain.posteriors._interval import Interval
from skuncertain.posteriors._question import (
    check_same_question,
    shared_question,
    ways_that_differ,
)

_WANTED = (
    "every model in results must be ConfusionCounts, a single posterior, a fitted "
    "BayesianCrossValidator or, with y_true=, predicted labels, got {}. Models of which only fold "
    "scores are known are compared two at a time: compare_cv."
)


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(HasReport):
    """Ranking of many models, with its uncertainty.

    Parameters
    ----------
    names : tuple of str
        Models, in the order in which they were given.
    metric : str
        Name of the metric.
    mean, low, high : ndarray of shape (m,)
        Posterior mean and interval of every model.
    p_best : ndarray of shape (m,)
        Probability that the tie group of a model is the best; sums to 1 over groups.
    expected_rank : ndarray of shape (m,)
        Mean rank; 1 is the best.
    expected_loss : ndarray of shape (m,)
        How much worse than the best one a model is, on average.
    pairwise : ndarray of shape (m, m) or None
        Entry (i, j) is P(i better than j); None beyond 1000 models (300 if it would be drawn).
    rank_probabilities : ndarray of shape (m, m) or None
        Entry (i, k) is P(i has rank k + 1); None beyond 1000 models, drawn beyond 300.
    method : str
        How it was computed.
    level : float
        Probability of the intervals.
    kind : str
        "eti" or "hdi".
    prior : str or None
        Prior that was used.
    n : int, ndarray of shape (m,) or None
        Rows: shared by all, or of every model; None if they are not known.
    n_draws, seed : int or None
        Of the draws; None if nothing was drawn.
    rank_draws : int or None
        Draws behind `rank_probabilities`; None if they are exact.
    interval_error, mean_error : ndarray of shape (m,)
        Monte Carlo errors of the ends of the intervals, and of the means.
    about : About
        What was asked of every model: metric, class, prevalence and so on.
    differs : str or None
        Prior, model, method or new rows of the models, where these are not the same.
    warnings : tuple of str
        Warnings that were given when it was made.
    tie_group : ndarray of shape (m,)
        Number of the group of models that predicted the same of all shared rows.
    shrinkage : bool
        Whether P(best), ranks and losses were shrunk, as asked.
    all_equal : bool
        Whether the models differ by no more than noise explains; False without shrinkage.
    shrinkage_weight : float
        Share of the variance of a model that shrinkage left; 1 without shrinkage.

    See Also
    --------
    leaderboard : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, leaderboard
    >>> models = {
    ...     "tree": ConfusionCounts([[40, 10], [12, 38]]),
    ...     "forest": ConfusionCounts([[45, 5], [9, 41]]),
    ... }
    >>> leaderboard(models, metric="accuracy").p_best.round(3)
    array([0.07, 0.93])
    """

    names: tuple
    metric: str
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_best: np.ndarray
    expected_rank: np.ndarray
    expected_loss: np.ndarray
    pairwise: np.ndarray | None
    rank_probabilities: np.ndarray | None
    method: str
    level: float
    kind: str = "eti"
    prior: str | None = None
    n: Any = None
    n_draws: int | None = None
    seed: int | None = None
    rank_draws: int | None = None
    interval_error: Any = None
    mean_error: Any = None
    about: About = About()
    differs: str | None = None
    warnings: tuple = ()
    tie_group: Any = None
    shrinkage: bool = True
    all_equal: bool = False
    shrinkage_weight: float = 1.0

    @property
    def question(self) -> str:
        """Metric with its class, prevalence and rows, in words."""
        return self.about.question(self.metric)

    def interval(self, name: Any) -> Interval:
        """Interval of one model.

        Parameters
        ----------
        name : str
            The model.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        k = self.names.index(name)
        return Interval(float(self.low[k]), float(self.high[k]))

    def expected_prize(self, prizes: ArrayLike) -> np.ndarray:
        """Prize money weighted with the probability of every rank.

        Parameters
        ----------
        prizes : array-like of shape (k,)
            Prizes of the first, second, ... rank.

        Returns
        -------
        ndarray of shape (m,)
            Expected prize of every model.
        """
        if self.rank_probabilities is None:
            raise ValueError(f"rank probabilities are kept up to {PAIR_LIMIT} models only.")
        values = as_numbers("prizes", prizes)
        refuse_if(
            values.ndim != 1 or values.size > len(self.names) or not np.all(np.isfinite(values)),
            "prizes",
            f"prizes must be a list of at most {len(self.names)} numbers, all finite, got "
            f"{{value}}.",
            value=prizes,
        )
        return self.rank_probabilities[:, : values.size] @ values

    def order(self) -> np.ndarray:
        """Sort the models by expected rank; where it is the same, by their pairs.

        Returns
        -------
        ndarray of shape (m,)
            The indices.
        """
        wins = np.zeros(self.p_best.size) if self.pairwise is None else self.pairwise.sum(axis=1)
        return np.lexsort((-wins, -self.p_best, self.expected_rank))

    def __repr__(self):
        lines = [
            f"Leaderboard({len(self.names)} models by {self.question}, {self.method}, "
            f"{level_text(self.level)} intervals)"
        ]
        shown = self.order()[:20]
        width = max(5, *(len(str(self.names[k])) for k in shown))
        ends = [f"[{self.low[k]:.3f}, {self.high[k]:.3f}]" for k in shown]
        wide = max(map(len, ends))
        lines.append(
            f"{'model':<{width}}  {'mean':>6}  {'interval':>{wide}}  {'P(best)':>7}  {'rank':>6}  "
            f"{'loss':>6}"
        )
        lines += [
            f"{self.names[k]!s:<{width}}  {self.mean[k]:>6.3f}  "
            f"{text:>{wide}}  {self.p_best[k]:>7.3f}  "
            f"{self.expected_rank[k]:>6.2f}  {self.expected_loss[k]:>6.4f}"
            for k, text in zip(shown, ends, strict=True)
        ]
        if len(self.names) > 20:
            lines.append(f"... and {len(self.names) - 20} more")
        lines += [self.differs] if self.differs else []
        return "\n".join(lines)

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """Ranking in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        return leaderboard_report(self, check_digits(digits))

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One list per column, in the order in which the models were given.
        """
        columns = ("mean", "low", "high", "p_best", "tie_group", "expected_rank", "expected_loss")
        asked = self.about.to_dict()
        return {
            "model": list(self.names),
            **{name: getattr(self, name).tolist() for name in columns},
            "metric": self.metric,
            "level": self.level,
            "kind": self.kind,
            "prior": self.prior,
            "method": self.method,
            "n_folds": asked["n_folds"],
            "n_repeats": asked["n_repeats"],
            **{name: asked[name] for name in QUESTION},
            "differs": self.differs,
            "shrinkage": self.shrinkage,
            "all_equal": self.all_equal,
            "shrinkage_weight": self.shrinkage_weight,
            "n_draws": self.n_draws,
            "seed": self.seed,
            "warnings": list(self.warnings),
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Table with one row per model, the best first.

        Returns
        -------
        pandas.DataFrame
            The columns of `to_dict`, indexed by model.
        """
        columns = {name: v for name, v in self.to_dict().items() if name != "warnings"}
        return data_frame(self, columns).set_index("model").iloc[self.order()]


@remember_warnings
def leaderboard(
    results: Any,
    *,
    metric: MetricLike | None = None,
    y_true: ArrayLike | None = None,
    folds: Any = None,
    estimand: str | None = None,
    prior: PriorLike = "auto",
    labels: Any = None,
    pos_label: LabelLike = None,
    level: float = 0.95,
    kind: str = "eti",
    shrinkage: bool = True,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> Leaderboard:
    """Rank many models, with the probability of every claim.

    Parameters
    ----------
    results : dict or list
        Name and result of every model; a list is numbered. Results are ConfusionCounts, posteriors,
        cross-validators (``keep_predictions=True``); with `y_true` labels, scores, probabilities.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. Posteriors bring theirs.
    y_true : array-like of shape (n,), default=None
        True labels of shared rows: models are compared on them, by the Bayesian bootstrap.
    folds, estimand : object, default=None
        With `y_true`: folds of out-of-fold predictions, see :func:`compare_paired`. With these or
        cross-validators: whose performance, by default that of the algorithms.
    prior : str, float or array-like of shape (C, C), default="auto"
        For counts, see :meth:`ConfusionCounts.posterior`. With `y_true` a number, by default 1/2,
        as in :func:`compare_paired`: pseudo-rows on which all, none or one of the models is right.
    labels, pos_label : object, default=None
        With `y_true` all classes; and the positive one, see :class:`ConfusionCounts`.
    level, kind : float and str, default=0.95 and "eti"
        Probability of the intervals; equal-tailed or highest-density ("hdi").
    shrinkage : bool, default=True
        Whether P(best), ranks and losses allow for the luck of the best of many.
    n_draws, random_state : int, default=None
        Draws where they are needed, and their seed; proportions and F1 from counts are exact.

    Returns
    -------
    Leaderboard
        P(best), ranks, pairwise probabilities and expected losses.

    See Also
    --------
    compare_paired : Two models on the same rows.
    search_posterior : All candidates of a search.

    Notes
    -----
    Posteriors must answer the same question. Counts and posteriors are taken as independent: for
    models that were tested on the same rows that wastes what the rows have in common. Models that
    predicted the same of all shared rows share their P(best). Four models or more are shrunk.

    Examples
    --------
    Only the accuracies of four competitors on 15,123 test images are known (these are invented);
    the prizes are 10,000, 2,000 and 1,000:

    >>> from skuncertain import leaderboard
    >>> from skuncertain.metrics import proportion_posterior
    >>> known = {"first": 0.99763, "second": 0.99731, "third": 0.99622, "fourth": 0.99574}
    >>> right = {name: round(p * 15123) for name, p in known.items()}
    >>> posteriors = {name: proportion_posterior(k, 15123 - k) for name, k in right.items()}
    >>> board = leaderboard(posteriors)
    >>> board.p_best.round(2)
    array([0.7 , 0.29, 0.01, 0.  ])
    >>> board.expected_prize([10_000, 2_000, 1_000]).round(-1)
    array([7600., 4250.,  850.,  300.])
    """
    level, kind = check_level(level), check_kind(kind)
    check_bool("shrinkage", shrinkage)
    names, entries = _named(results)
    stack = next((x.shape for x in entries if isinstance(x, ConfusionCounts) and x.shape), None)
    refuse_if(
        stack,
        "results",
        f"every model in results must have one matrix, got a stack of shape {stack}.",
    )
    options = {"n_draws": n_draws, "random_state": random_state, "shrinkage": shrinkage}
    folded = folds is not None or any(map(is_cross_validated, entries))
    scored = score_metric(metric) if y_true is not None or folded else None
    if scored is not None:
        check_direction(scored.name, scored.greater_is_better)
        refuse_folds(scored, folds, entries)
        check_estimand(estimand, folded=False)
        board = ScoreBoard.read(names, entries, y_true, scored, labels, pos_label)
        found = _of_scores(board, level, kind, prior=prior, **options)
        return Leaderboard(names=names, level=level, kind=kind, shrinkage=shrinkage, **found)
    estimand = check_estimand(estimand, folded)
    if folded or y_true is not None:
        found = _of_shared_rows(
            SharedRows.read(names, entries, y_true, folds, labels, pos_label),
            metric,
            estimand,
            level,
            kind,
            prior=prior,
            **options,
        )
        return Leaderboard(names=names, level=level, kind=kind, shrinkage=shrinkage, **found)
    refuse_if(labels is not None, "labels", "labels belong to predictions: give y_true as well.")
    return _of_independent(
        names, entries, metric, prior=prior, pos_label=pos_label, level=level, kind=kind, **options
    )


def _of_independent(
    names, entries, metric, *, prior, pos_label, level, kind, n_draws, random_state, shrinkage
):
    """Models that were tested on different rows."""
    options = {"n_draws": n_draws, "random_state": random_state, "shrinkage": shrinkage}
    betas, posteriors = _posteriors(entries, metric, prior, pos_label, n_draws, random_state)
    first = posteriors[0] if betas is None else betas
    up = check_direction(first.metric, first.greater_is_better)
    # Shapes below 0.1 are nearly atoms at the ends, which the grid cannot see.
    if betas is not None and min(betas.a.min(), betas.b.min()) >= 0.1:
        ranking, about = rank_exactly(betas, up, random_state, shrinkage)
    else:
        members = posteriors or [betas._members(k) for k in range(len(names))]
        ranking, about = rank_by_draws(members, up, **options)
    ranking = replace(ranking, p_best=ranking.p_best / ranking.p_best.sum())
    rows = [x.n for x in entries if isinstance(x, ConfusionCounts)]
    priors = [p.prior for p in posteriors or [first] if p.prior]
    return Leaderboard(
        names=names,
        metric=first.metric or "score",
        level=level,
        kind=kind,
        prior="; ".join(dict.fromkeys(priors)) or None,
        n=np.array(rows) if len(rows) == len(names) else None,
        tie_group=np.arange(len(names)),  # independent models are no ties
        shrinkage=shrinkage,
        about=shared_question([p.about for p in posteriors or [first]])[0],
        differs=ways_that_differ(zip(names, posteriors or [first], strict=False)),
        **_intervals(posteriors if betas is None else betas, level, kind),
        **vars(ranking),
        **about,
    )


def _named(results):
    if hasattr(results, "items"):
        pairs = list(results.items())
        names, entries = tuple(name for name, _ in pairs), [entry for _, entry in pairs]
    else:
        entries = as_list("results", results)
        names = tuple(str(k) for k in range(len(entries)))
    refuse_if(
        len(entries) < 2, "results", f"results must hold at least two models, got {len(entries)}."
    )
    return names, entries


def _posteriors(entries, metric, prior, pos_label, n_draws, random_state):
    """One BetaPosterior for all models and None, or None and a posterior per model."""
    same = all(isinstance(x, ConfusionCounts) for x in entries)
    if same and len({(x.labels, x.pos_label) for x in entries}) == 1 and metric is not None:
        first = entries[0]
        together = first.stack(entries)
        posterior = _posterior(together, metric, prior, pos_label, n_draws, random_state)
        if isinstance(posterior, BetaPosterior):
            return posterior, None
    posteriors = [_posterior(x, metric, prior, pos_label, n_draws, random_state) for x in entries]
    check_same_question(posteriors, "results", "all models in results must have")
    refuse_if(
        any(posterior.shape for posterior in posteriors),
        "results",
        "every model in results must have a single posterior, got a stack.",
    )
    first = posteriors[0]
    if not all(isinstance(p, BetaPosterior) and p.odds == first.odds for p in posteriors):
        return None, posteriors
    question, _ = shared_question([p.about for p in posteriors])
    return stack_betas(posteriors, question), posteriors


def _posterior(x, metric, prior, pos_label, n_draws, random_state):
    seed = None if random_state is None else resolve_seed(random_state)
    options = {"prior": prior, "pos_label": pos_label, "n_draws": n_draws, "random_state": seed}
    return as_posterior(x, metric, wanted=_WANTED, parameter="results", **options)


def _intervals(posteriors, level, kind):
    """Means and intervals with their Monte Carlo errors, of a stack or a list of posteriors."""
    if isinstance(posteriors, list):
        parts = [_intervals(posterior, level, kind) for posterior in posteriors]
        return {name: np.array([part[name] for part in parts]) for name in parts[0]}
    low, high = posteriors.interval(level, kind)
    return {
        "mean": posteriors.mean(),
        "low": low,
        "high": high,
        "interval_error": posteriors.interval_error(level, kind),
        "mean_error": posteriors.monte_carlo_error(),
    }


def _of_scores(board, level, kind, *, prior, n_draws, random_state, shrinkage):
    """Draws of scores whose differences have the covariance of the influences of the rows."""
    prior, seed = resolve_number(prior, 0.5), resolve_seed(random_state)
    n_draws = 10_000 if n_draws is None else n_draws
    check_draws(n_draws, board.n_groups)
    draws, metric = board.draw(prior, n_draws, seed), board.metric
    limits = (-np.inf, np.inf)  # a loss has a mean, however large it may be
    up = metric.greater_is_better
    ranking, shrunk = rank_drawn(draws, board.group, up, limits, seed, shrinkage, shared=True)
    own = _intervals(board.posteriors(), level, kind)
    return {
        "metric": metric.name,
        "about": board.about,
        "prior": board.prior(prior),
        "n": board.n,
        "tie_group": board.group,
        **{name: values[board.group] for name, values in own.items()},
        **vars(ranking),
        **shrunk,
        **about_draws(board.method(), n_draws, seed),
    }


def _of_shared_rows(
    rows, metric, estimand, level, kind, *, prior, n_draws, random_state, shrinkage
):
    """Bayesian bootstrap: every row gets an exponential weight, the same for all models."""
    prior = check_number("prior", resolve_number(prior, 0.5), low=0, high=1e6)
    metric, seed = directed("accuracy" if metric is None else metric), resolve_seed(random_state)
    if n_draws is None:
        n_draws = int(np.clip(4e9 / (rows.n * rows.n_groups), 1000, 10_000))
    check_draws(n_draws, 1)
    drawn = rows.draw(metric, estimand, prior, n_draws, seed)
    own = _intervals(drawn.posterior, level, kind)
    up = metric.greater_is_better
    ranking, shrunk = rank_drawn(
        drawn.draws, rows.group, up, metric.range, seed, shrinkage, shared=True
    )
    return {
        "metric": metric.name,
        "about": drawn.about,
        "prior": f"{prior:g} pseudo-rows per kind of agreement",
        "n": rows.n,
        "tie_group": rows.group,
        **{name: np.asarray(values)[rows.group] for name, values in own.items()},
        **vars(ranking),
        **shrunk,
        **about_draws(drawn.how, n_draws, seed),
    }
