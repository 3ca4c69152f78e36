"""Two models on several data sets: the Bayesian sign and signed-rank tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaln

from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    check_draws,
    check_integer,
    check_kind,
    check_level,
    check_names,
    check_number,
    check_rope,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._version import __version__
from skuncertain.comparison._compare import compare_cv
from skuncertain.comparison._report import datasets_report
from skuncertain.comparison._result import ComparisonResult
from skuncertain.posteriors._draws import seeded_chunks

_CHUNK = 2**21


@dataclass(frozen=True, eq=False, repr=False)
class DatasetComparison(HasReport):
    """Two models on several data sets.

    Parameters
    ----------
    sign : tuple of three float
        Sign test: P(worse), P(equivalent), P(better) on most data sets.
    signed_rank : tuple of three float
        The same by the signed-rank test, which weighs how much they differ.
    per_dataset : ComparisonResult or None
        The correlated t test on every data set, if fold scores were given.
    differences : ndarray of shape (datasets,)
        Mean of b - a on every data set.
    rope : float
        Half-width of the region of practical equivalence.
    names : tuple of two str
        What a and b are called.
    seed : int
        Seed of the signed-rank test.
    n_draws : int
        Its number of draws.
    prior : float
        Weight of one more data set without a difference.

    See Also
    --------
    compare_datasets : Makes it.

    Examples
    --------
    >>> from skuncertain.comparison import compare_datasets
    >>> a, b = [0.80, 0.71, 0.92, 0.66, 0.85], [0.83, 0.74, 0.93, 0.70, 0.84]
    >>> compare_datasets(a, b, rope=0.01, random_state=0).p_better > 0.8
    True
    """

    sign: tuple
    signed_rank: tuple
    per_dataset: ComparisonResult | None
    differences: np.ndarray
    rope: float
    names: tuple
    seed: int
    n_draws: int
    prior: float = 0.5

    @property
    def p_worse(self) -> float:
        """P(b worse than a on most data sets), signed-rank test."""
        return self.signed_rank[0]

    @property
    def p_equivalent(self) -> float:
        """P(the two equivalent on most data sets), signed-rank test."""
        return self.signed_rank[1]

    @property
    def p_better(self) -> float:
        """P(b better than a on most data sets), signed-rank test."""
        return self.signed_rank[2]

    def __repr__(self):
        a, b = self.names

        def words(p):
            return f"worse {p[0]:.2f}, equivalent {p[1]:.2f}, better {p[2]:.2f}"

        return (
            f"DatasetComparison({b} against {a} on {self.differences.size} data sets, "
            f"rope={self.rope:g}; signed-rank test: {words(self.signed_rank)}; "
            f"sign test: {words(self.sign)})"
        )

    def report(
        self, *, level: float = 0.95, kind: str = "eti", digits: int | None = None
    ) -> IntervalReport:
        """Comparison in words, numbers and a plot.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the intervals on single data sets.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        return datasets_report(self, check_level(level), check_kind(kind), check_digits(digits))

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Probabilities of both tests, and the mean difference on every data set.
        """
        keys = ("p_worse", "p_equivalent", "p_better")
        return {
            "a": self.names[0],
            "b": self.names[1],
            "rope": self.rope,
            "signed_rank": dict(zip(keys, self.signed_rank, strict=True)),
            "sign": dict(zip(keys, self.sign, strict=True)),
            "differences": self.differences.tolist(),
            "seed": self.seed,
            "n_draws": self.n_draws,
            "prior": self.prior,
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Table with one row per test.

        Returns
        -------
        pandas.DataFrame
            P(worse), P(equivalent) and P(better).
        """
        return data_frame(
            self,
            {"signed_rank": self.signed_rank, "sign": self.sign},
            index=["p_worse", "p_equivalent", "p_better"],
        ).T


def compare_datasets(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rope: float = 0.0,
    prior: float = 0.5,
    n_repeats: int = 1,
    names: Any = ("A", "B"),
    n_draws: int = 50_000,
    random_state: RandomStateLike = None,
) -> DatasetComparison:
    """Compare two models on several data sets.

    Parameters
    ----------
    a, b : array-like of shape (datasets,) or (datasets, folds)
        Scores on every data set, more is better: one per data set, or one per fold of the same
        folds.
    rope : float, default=0.0
        Region of practical equivalence, in units of the score.
    prior : float, default=0.5
        Weight of one more data set without a difference, in the signed-rank test. In the sign test
        it is 1.
    n_repeats : int, default=1
        Repetitions of the cross-validation, if there are fold scores.
    names : tuple of two str, default=("A", "B")
        What to call the models.
    n_draws : int, default=50000
        Number of draws of the signed-rank test. The sign test and the tests on single data sets
        are exact.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    DatasetComparison
        ``p_better`` is the probability that b is better on most data sets.

    See Also
    --------
    compare_cv : One data set.

    Notes
    -----
    Bayesian tests of Benavoli and others [1]_. A data set is drawn from a Dirichlet process; the
    three probabilities say which of worse, equivalent and better is the most frequent outcome. With
    ``rope=0`` data sets without a difference count half for each side.

    References
    ----------
    .. [1] A. Benavoli, F. Mangili, G. Corani, M. Zaffalon, F. Ruggeri (2014). A Bayesian Wilcoxon
       signed-rank test based on the Dirichlet process. ICML.

    Examples
    --------
    >>> from skuncertain.comparison import compare_datasets
    >>> a, b = [0.80, 0.71, 0.92, 0.66, 0.85], [0.83, 0.74, 0.93, 0.70, 0.84]
    >>> compare_datasets(a, b, rope=0.01, random_state=0)
    DatasetComparison(B against A on 5 data sets, rope=0.01; signed-rank test: worse 0.00,
    equivalent 0.10, better 0.90; sign test: worse 0.00, equivalent 0.50, better 0.50)
    """
    names, rope = check_names(names), check_rope(rope)
    prior = check_number("prior", prior, low=0, high=1e6, closed=False)
    n_draws = check_draws(n_draws, 1)
    first, second = _check_scores("a", names[0], a), _check_scores("b", names[1], b)
    refuse_if(
        first.shape != second.shape,
        "b",
        f"a and b must have the same data sets and folds, got shapes {first.shape} and "
        f"{second.shape}.",
    )
    if first.ndim == 2:
        per_dataset = compare_cv(first, second, rope=rope, n_repeats=n_repeats, names=names)
        difference = (second - first).mean(axis=1)
    else:
        refuse_if(
            check_integer("n_repeats", n_repeats, low=1) != 1,
            "n_repeats",
            "n_repeats is for fold scores, shape (datasets, folds).",
        )
        per_dataset, difference = None, second - first
    difference = np.round(difference, 12)  # 0.85 - 0.84 is not more than a ROPE of 0.01
    refuse_if(
        difference.size < 2, "a", f"there must be at least two data sets, got {difference.size}."
    )
    seed = resolve_seed(random_state)
    return DatasetComparison(
        sign=_sign_test(difference, rope),
        signed_rank=_signed_rank_test(difference, rope, prior, n_draws, seed),
        per_dataset=per_dataset,
        differences=difference,
        rope=rope,
        names=names,
        prior=prior,
        seed=seed,
        n_draws=n_draws,
    )


def _check_scores(parameter, name, scores):
    scores = as_array(parameter, scores, f"the scores of {name}")
    refuse_if(
        scores.dtype.kind not in "iuf" or scores.ndim not in (1, 2),
        parameter,
        f"{name} must hold one score per data set, or one per data set and fold; got {{value}}.",
        value=scores,
    )
    missing = np.sum(~np.isfinite(scores))
    refuse_if(
        missing,
        parameter,
        f"{name} has {missing} scores that are NaN or infinite: leave the data set out for both "
        "models.",
    )
    refuse_if(
        np.any(np.abs(scores) > 1e100),  # their squares must be floats
        parameter,
        f"the scores of {name} must be within 1e100, got {{value}}.",
        value=scores,
    )
    return scores.astype(float)


def _sign_test(difference, rope):
    """Which of three outcomes is the most frequent? One pseudo-count on "equivalent"."""
    worse, better = np.sum(difference < -rope), np.sum(difference > rope)
    shapes = np.array([worse, difference.size - worse - better + 1.0, better]) + 1e-4
    if rope == 0:  # data sets without a difference count half for each side
        first, second = _largest(shapes[[0, 2]] + shapes[1] / 2)
        return first, 0.0, second
    return tuple(_largest(shapes))


def _largest(shapes):
    """P(each of independent gamma variables is the largest), by one integral."""
    # Trapezoid in log x, on which the gamma density is smooth and dies out at both ends.
    low = np.log(1e-22) / shapes.max() + np.log(shapes.max())
    grid = np.linspace(min(low, -5.0), np.log(shapes.max() + 12 * np.sqrt(shapes.max()) + 45), 4001)
    x = np.exp(grid)
    density = np.exp(shapes[:, None] * grid - x - gammaln(shapes)[:, None]) * (grid[1] - grid[0])
    below = gammainc(shapes[:, None], x)
    p = [
        float((density[k] * np.prod(np.delete(below, k, axis=0), axis=0)).sum())
        for k in range(len(shapes))
    ]
    return [value / sum(p) for value in p]


def _signed_rank_test(difference, rope, prior, n_draws, seed):
    """The same for the mean of two data sets: a Bayesian bootstrap over pairs of them."""
    z = np.concatenate([[0.0], difference])
    weights = np.concatenate([[prior], np.ones(difference.size)])
    total = z[:, None] + z  # rounded: decimals that are equal must tie
    above = np.heaviside(np.round(total - 2 * rope, 12), 0.5)
    below = np.heaviside(np.round(-total - 2 * rope, 12), 0.5)
    counts = np.zeros(3)
    for place, rng in seeded_chunks(n_draws, max(1, _CHUNK // z.size), seed):
        w = rng.standard_gamma(weights, size=(place.stop - place.start, z.size))
        w /= w.sum(axis=1, keepdims=True)
        left, right = ((w @ side * w).sum(axis=1) for side in (below, above))
        shares = np.stack([left, 1 - left - right, right])
        if rope == 0:
            shares[1] = -1.0
        winners = shares >= shares.max(axis=0) - 1e-12
        counts += (winners / winners.sum(axis=0)).sum(axis=1)
    return tuple((counts / n_draws).tolist())
