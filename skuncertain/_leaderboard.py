"""Many models: who is best, and how sure is the ranking?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._counts import ConfusionCounts
from skuncertain._distributions import Posterior
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._intervals import Interval
from skuncertain._labels import encode_together, positive_of
from skuncertain._metrics import get_metric
from skuncertain._posterior import default_draws
from skuncertain._ranking import PAIR_LIMIT, RANK_LIMIT, DrawCounter, rank_betas
from skuncertain._ranking_report import leaderboard_report
from skuncertain._report import IntervalReport, check_digits
from skuncertain._scorers import directed
from skuncertain._validation import (
    as_list,
    as_numbers,
    check_draws,
    check_kind,
    check_level,
    check_number,
    import_optional,
    resolve_seed,
    shown,
)
from skuncertain._version import __version__
from skuncertain._warnings import remember_warnings


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
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
        Probability of being the best; sums to 1.
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
    warnings : tuple of str
        Warnings that were given when it was made.

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
    array([0.071, 0.929])
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
    warnings: tuple = ()

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
        if values.ndim != 1 or values.size > len(self.names) or not np.all(np.isfinite(values)):
            raise ValueError(
                f"prizes must be a list of at most {len(self.names)} numbers, all finite, got "
                f"{shown(prizes)}."
            )
        return self.rank_probabilities[:, : values.size] @ values

    def order(self) -> np.ndarray:
        """Sort the models by expected rank.

        Returns
        -------
        ndarray of shape (m,)
            The indices.
        """
        return np.lexsort((-self.p_best, self.expected_rank))

    def __repr__(self):
        lines = [
            f"Leaderboard({len(self.names)} models by {self.metric}, {self.method}, "
            f"{self.level * 100:g} % intervals)"
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

    def _repr_html_(self):
        return self.report()._repr_html_()

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One list per column, in the order in which the models were given.
        """
        columns = ("mean", "low", "high", "p_best", "expected_rank", "expected_loss")
        return {
            "model": list(self.names),
            **{name: getattr(self, name).tolist() for name in columns},
            "metric": self.metric,
            "level": self.level,
            "kind": self.kind,
            "prior": self.prior,
            "method": self.method,
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
        pandas = import_optional("pandas", "pandas", "Leaderboard.to_frame")
        columns = {name: v for name, v in self.to_dict().items() if name != "warnings"}
        frame = pandas.DataFrame(columns).set_index("model")
        return frame.iloc[self.order()]


@remember_warnings
def leaderboard(
    results: Any,
    *,
    metric: Any = None,
    y_true: ArrayLike | None = None,
    prior: Any = "auto",
    labels: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    kind: str = "eti",
    n_draws: int | None = None,
    random_state: Any = None,
) -> Leaderboard:
    """Rank many models, with the probability of every claim.

    Parameters
    ----------
    results : dict or list
        Name and result of every model; a list is numbered. A result is ConfusionCounts, a posterior
        or, with `y_true`, an array of predicted labels.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`. Posteriors bring theirs.
    y_true : array-like of shape (n,), default=None
        True labels of the rows that all models have predicted. Give it whenever rows are shared:
        the models are then compared on the same rows, by the Bayesian bootstrap over rows.
    prior : str, float or array-like of shape (C, C), default="auto"
        For counts, see :meth:`ConfusionCounts.posterior`. With `y_true` a number, by default 1/2:
        that many pseudo-rows each on "all right", "all wrong" and, shared by the models, "one is
        right that the others get wrong" and the reverse; for two models that of
        :func:`compare_paired`.
    labels : sequence, default=None
        With `y_true`: all classes.
    pos_label : label, default=None
        Positive class.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    n_draws : int, default=None
        Number of draws where they are needed; proportions and F1 from counts are exact.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

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
    Counts and posteriors are taken as independent. For models that were tested on the same rows
    that wastes what the rows have in common; the leader then seems less sure than it is.

    Examples
    --------
    Only the accuracies of four competitors on 15,123 test images are known (these are invented);
    the prizes are 10,000, 2,000 and 1,000:

    >>> from skuncertain import leaderboard, proportion_posterior
    >>> known = {"first": 0.99763, "second": 0.99761, "third": 0.99742, "fourth": 0.99734}
    >>> posteriors = {
    ...     name: proportion_posterior(successes=round(p * 15123), failures=round((1 - p) * 15123))
    ...     for name, p in known.items()
    ... }
    >>> board = leaderboard(posteriors)
    >>> board.p_best.round(2)
    array([0.34, 0.34, 0.17, 0.14])
    >>> board.expected_prize([10_000, 2_000, 1_000]).round(-1)
    array([4220., 4220., 2490., 2060.])
    """
    level, kind = check_level(level), check_kind(kind)
    names, entries = _named(results)
    stacks = [x.shape for x in entries if isinstance(x, ConfusionCounts) and x.shape]
    if stacks:
        raise ValueError(f"every model must have one matrix, got a stack of shape {stacks[0]}.")
    if y_true is not None:
        prior = check_number(
            "prior", 0.5 if isinstance(prior, str) and prior == "auto" else prior, low=0, high=1e6
        )
        return _of_rows(
            names, entries, metric, y_true, labels, pos_label, level, kind, n_draws, random_state,
            prior,
        )  # fmt: skip
    if labels is not None:
        raise TypeError("labels belong to predictions: give y_true as well.")
    whole, posteriors = _posteriors(entries, metric, prior, pos_label, n_draws, random_state)
    first = posteriors[0] if whole is None else whole
    drawn: dict[str, Any] = {}
    name, up = first.metric, first.greater_is_better
    if up is None:
        raise ValueError(
            f"metric {name!r} is a description, neither more nor less of it is better: there is "
            "no ranking by it."
        )
    if whole is None:
        mean = np.array([posterior.mean() for posterior in posteriors])
        ends = np.array([posterior.interval(level, kind) for posterior in posteriors])
        error = np.array([posterior.interval_error(level, kind) for posterior in posteriors])
        mean_error = np.array([posterior.monte_carlo_error() for posterior in posteriors])
    else:
        mean, ends = whole.mean(), np.stack(whole.interval(level, kind), axis=1)
        error = mean_error = np.zeros(len(mean))
    # Shapes below 0.1 are nearly atoms at the ends, which the grid cannot see.
    if whole is not None and min(whole.a.min(), whole.b.min()) >= 0.1:
        a, b, odds = whole.a, whole.b, whole.odds
        if not up:
            a, b, odds = b, a, 1 / odds
        p_best, rank, best, pairs, ranks = rank_betas(a, b, odds)
        loss = np.maximum(best - (mean if up else 1 - mean), 0.0)
        method = "independent, exact"
        if ranks is None and len(names) <= PAIR_LIMIT:
            seed = resolve_seed(random_state)
            ranks = _count(np.random.default_rng(seed).beta(a, b, size=(4000, a.size)).T)[4]
            method += f"; rank probabilities from 4000 draws, seed {seed}"
            drawn = {"rank_draws": 4000}
    else:
        posteriors = posteriors or [_member(whole, k) for k in range(len(names))]
        size = len(posteriors)
        seed = resolve_seed(random_state)
        n_draws = default_draws(4, size) if n_draws is None else n_draws
        streams = np.random.SeedSequence(seed).spawn(size)
        draws = np.stack(
            [
                posterior.sample(n_draws, np.random.default_rng(stream))
                for posterior, stream in zip(posteriors, streams, strict=True)
            ]
        )
        p_best, rank, loss, pairs, ranks = _count(draws if up else -draws)
        method = f"independent, {n_draws} draws, seed {seed}"
        drawn = {"n_draws": n_draws, "seed": seed, "rank_draws": n_draws}
    p_best = p_best / p_best.sum()
    known = [x.n for x in entries if isinstance(x, ConfusionCounts)]
    priors = [p.prior for p in posteriors or [first] if p.prior]
    texts = "; ".join(dict.fromkeys(priors)) or None
    return Leaderboard(
        names, name or "score", mean, ends[:, 0], ends[:, 1], p_best, rank, loss, pairs, ranks,
        method, level, kind, texts, np.array(known) if len(known) == len(names) else None,
        interval_error=error, mean_error=mean_error, **drawn,
    )  # fmt: skip


def _named(results):
    if hasattr(results, "items"):
        pairs = list(results.items())
        names, entries = tuple(name for name, _ in pairs), [entry for _, entry in pairs]
    else:
        entries = as_list("results", results)
        names = tuple(str(k) for k in range(len(entries)))
    if len(entries) < 2:
        raise ValueError(f"results must hold at least two models, got {len(entries)}.")
    return names, entries


def _posteriors(entries, metric, prior, pos_label, n_draws, random_state):
    """One BetaPosterior for all models and None, or None and a posterior per model."""
    same = all(isinstance(x, ConfusionCounts) for x in entries)
    if same and len({(x.labels, x.pos_label) for x in entries}) == 1 and metric is not None:
        first = entries[0]
        matrices = np.stack([x.counts for x in entries])
        together = first._make(matrices, first.labels, first.pos_label)
        posterior = _posterior(together, metric, prior, pos_label, n_draws, random_state)
        if isinstance(posterior, BetaPosterior):
            return posterior, None
    posteriors = [_posterior(x, metric, prior, pos_label, n_draws, random_state) for x in entries]
    found = {posterior.metric for posterior in posteriors}
    if len(found) > 1:
        raise ValueError(f"all models must have the same metric, got {sorted(map(str, found))}.")
    if any(posterior.shape for posterior in posteriors):
        raise ValueError("every model must have a single posterior, got a stack.")
    first = posteriors[0]
    if not all(isinstance(p, BetaPosterior) and p.odds == first.odds for p in posteriors):
        return None, posteriors
    a, b, observed = (
        np.array([float(np.asarray(getattr(p, part))) for p in posteriors])
        for part in ("a", "b", "observed")
    )
    info = {"metric": first.metric, "greater_is_better": first.greater_is_better}
    info["prior"] = first.prior
    return BetaPosterior(a, b, odds=first.odds, observed=observed, **info), posteriors


def _member(whole, k):
    return BetaPosterior(whole.a[k], whole.b[k], odds=whole.odds, metric=whole.metric)


def _posterior(x, metric, prior, pos_label, n_draws, random_state):
    if isinstance(x, ConfusionCounts):
        if metric is None:
            raise TypeError("metric is missing: counts need the name of a metric.")
        seed = None if random_state is None else resolve_seed(random_state)
        return x.posterior(
            metric, prior=prior, pos_label=pos_label, n_draws=n_draws, random_state=seed
        )
    if not isinstance(x, Posterior):
        raise TypeError(
            "every model must be ConfusionCounts, a single posterior or, with y_true=, predicted "
            f"labels; got {type(x).__name__}. Models on the same folds are compared two at a time: "
            "compare_cv."
        )
    if metric is not None and x.metric is not None and get_metric(metric).name != x.metric:
        raise ValueError(f"metric is {metric!r}, but a posterior of {x.metric!r} was given.")
    return x


def _pseudo_rows(m, size, prior):
    """Cells of every model, and weights, of rows that were not observed.

    Without them a model that is right wherever another is, and once more, would be better for sure.
    """
    truth = np.arange(size)
    right, wrong = truth * size + truth, truth * size + (truth + 1) % size
    one_right = np.repeat(wrong[:, None], m, axis=1)[None].repeat(m, axis=0)
    one_wrong = np.repeat(right[:, None], m, axis=1)[None].repeat(m, axis=0)
    one_right[np.arange(m), :, np.arange(m)] = right
    one_wrong[np.arange(m), :, np.arange(m)] = wrong
    alike = np.stack([np.repeat(part[:, None], m, axis=1) for part in (right, wrong)])
    rows = np.concatenate([part.reshape(-1, m) for part in (alike, one_right, one_wrong)])
    weight = np.full(len(rows), prior / (m * size))  # "one differs": m patterns twice, 2 prior / 2
    weight[: 2 * size] = prior / size
    return rows[weight > 0], weight[weight > 0]


def _count(draws):
    """Ranking from joint draws of shape (m, n_draws)."""
    m = len(draws)
    counter = DrawCounter(m, m <= PAIR_LIMIT, m <= RANK_LIMIT)
    step = max(1, 2_000_000 // m)
    for start in range(0, draws.shape[1], step):
        counter.add(draws[:, start : start + step])
    return counter.tables()


def _of_rows(
    names, entries, metric, y_true, labels, pos_label, level, kind, n_draws, random_state, prior
):
    """Bayesian bootstrap: every row gets an exponential weight, the same for all models."""
    metric = directed("accuracy" if metric is None else metric)
    whose = [f"model {name!r}" for name in names]
    truth, codes, labels = encode_together(y_true, entries, labels, names=whose)
    positive, size, n = positive_of(metric, labels, pos_label), len(labels), truth.size
    cells = [truth * size + code for code in codes]
    seed = resolve_seed(random_state)
    if n_draws is None:
        n_draws = int(np.clip(4e9 / (n * len(names)), 1000, 10_000))
    check_draws(n_draws, 1)
    # Rows on which all models agree in the same way are one row with a gamma weight.
    kinds, number = np.unique(np.stack(cells, axis=1), axis=0, return_counts=True)
    more, weight = _pseudo_rows(len(names), size, prior)
    kinds, number = np.concatenate([kinds, more]), np.concatenate([number, weight])
    chunk = max(1, 2**22 // len(kinds))
    starts = range(0, n_draws, chunk)
    draws = np.empty((len(names), n_draws))
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        stop = min(start + chunk, n_draws)
        rng = np.random.default_rng(child)
        weight = rng.standard_gamma(number, size=(stop - start, number.size))
        for k in range(len(names)):
            where = csr_array(
                (np.ones(len(kinds)), (kinds[:, k], np.arange(len(kinds)))),
                (size**2, len(kinds)),
            )
            matrices = (where @ weight.T).T.reshape(-1, size, size)
            draws[k, start:stop] = metric.evaluate(matrices, positive=positive, zero_division=0.0)
    up = metric.greater_is_better
    p_best, rank, loss, pairs, ranks = _count(draws if up else -draws)
    posterior = DrawsPosterior(draws, seed=seed, metric=metric.name, range=metric.range)
    low, high = posterior.interval(level, kind)
    return Leaderboard(
        names, metric.name, posterior.mean(), low, high, p_best, rank, loss, pairs, ranks,
        f"{n} shared rows, {n_draws} draws, seed {seed}", level, kind,
        f"{prior:g} pseudo-rows per kind of agreement", n, n_draws, seed, n_draws,
        posterior.interval_error(level, kind), posterior.monte_carlo_error(),
    )  # fmt: skip
