"""`ComparisonResult`: three probabilities and the posterior of a difference."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.validation import (
    check_kind,
    check_level,
    check_rope,
    data_frame,
)
from skuncertain._utils.warnings import silence
from skuncertain._version import __version__
from skuncertain.comparison._report import comparison_report
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.posteriors._about import QUESTION
from skuncertain.posteriors._base import Posterior, plain
from skuncertain.posteriors._interval import Interval


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(HasReport):
    """How sure it is that b is better than a.

    Parameters
    ----------
    p_worse : float or ndarray
        P(b is worse than a by more than the ROPE).
    p_equivalent : float or ndarray
        P(the difference is within the ROPE); 0 without a ROPE, unless there is no doubt that both
        are equal.
    p_better : float or ndarray
        P(b is better than a by more than the ROPE).
    difference : Posterior
        Posterior of b - a, in units of the metric.
    metric : str or None
        Name of the metric.
    rope : float
        Half-width of the region of practical equivalence.
    names : tuple of two str
        What a and b are called.
    method : str
        How the two were compared.
    greater_is_better : bool
        Direction of the metric.
    n : int, str or None
        Rows: shared ones, or those of a and of b; None if they are not known.
    prior : str or None
        Prior that was used.
    n_folds, n_repeats : float, int
        Folds per repetition (None without folds), and repetitions.
    differs : str or None
        Prior, model, method or new rows of the two, where these are not the same.
    advice : str or None
        Which comparison to believe, where the same models can be compared in two ways.
    warnings : tuple of str
        Warnings that were given when it was made.

    See Also
    --------
    compare : Two models on different test sets.
    compare_paired : Two models on the same rows.
    compare_cv : Two models on the same folds.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, compare
    >>> a = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> b = ConfusionCounts.from_binary(tp=50, fn=30, fp=30, tn=35)
    >>> compare(a, b, metric="recall", rope=0.01)
    ComparisonResult(B worse than A in recall with probability 0.99, equivalent 0.00, better 0.00;
    B - A = -0.186, 95 % interval [-0.319, -0.049]; independent test sets, rope=0.01)
    """

    p_worse: Any
    p_equivalent: Any
    p_better: Any
    difference: Posterior
    metric: str | None
    rope: float
    names: tuple[str, str]
    method: str
    greater_is_better: bool = True
    n: Any = None
    prior: str | None = None
    n_folds: float | None = None
    n_repeats: int = 1
    differs: str | None = None
    advice: str | None = None
    warnings: tuple = ()

    @property
    def question(self) -> str | None:
        """Metric with its class, prevalence and rows, in words; None without a metric."""
        return self.metric and self.difference.about.question(self.metric)

    @property
    def estimand(self) -> str | None:
        """Whose difference: "algorithm", "fitted", "final", or None if it is not known."""
        return self.difference.about.estimand

    @property
    def omega(self) -> float | None:
        """Weight of a row, where rows were tested in folds; otherwise None."""
        found = self.difference.about.diagnostics
        return None if found is None else found.omega

    def interval(self, level: float = 0.95, kind: str = "eti") -> Interval:
        """Interval of the difference b - a.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        return self.difference.interval(level, kind)

    def __repr__(self):
        a, b = self.names
        of = f" in {self.question}" if self.metric else ""
        weight = (
            "" if self.omega is None else f"omega={self.omega:.2f}, estimand={self.estimand!r}, "
        )
        tail = f"{self.method}, {weight}rope={self.rope:g}"
        tail += f"; {self.differs}" if self.differs else ""
        if self.difference.shape:
            return f"ComparisonResult({b} against {a}{of}, shape={self.difference.shape}; {tail})"
        with silence(DegenerateIntervalWarning):
            low, high = self.interval()
            middle = self.difference.median()
        chances = {"better": self.p_better, "worse": self.p_worse, "equivalent": self.p_equivalent}
        first = max(chances, key=lambda word: chances[word])
        verdict = {
            "better": f"{b} better than {a}",
            "worse": f"{b} worse than {a}",
            "equivalent": f"{a} and {b} equivalent",
        }[first]
        rest = ", ".join(
            f"{word} {chances[word]:.2f}"
            for word in ("worse", "equivalent", "better")
            if word != first
        )
        return (
            f"ComparisonResult({verdict}{of} with probability {chances[first]:.2f}, {rest}; "
            f"{b} - {a} = {middle:.3f}, 95 % interval [{low:.3f}, {high:.3f}]; {tail})"
        )

    def report(
        self, *, level: float = 0.95, kind: str = "eti", digits: int | None = None
    ) -> IntervalReport:
        """Comparison in words, numbers and a plot.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval of the difference.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        return comparison_report(self, check_level(level), check_kind(kind), check_digits(digits))

    def to_dict(self, level: float = 0.95) -> dict:
        """Plain representation.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval of the difference.

        Returns
        -------
        dict
            Probabilities, median, ends of the interval, and what was asked.
        """
        low, high = self.interval(check_level(level))
        asked = self.difference.about.to_dict()
        numbers = {
            "p_worse": self.p_worse,
            "p_equivalent": self.p_equivalent,
            "p_better": self.p_better,
            "difference": self.difference.median(),
            "low": low,
            "high": high,
        }
        return {
            "a": self.names[0],
            "b": self.names[1],
            "metric": self.metric,
            "rope": self.rope,
            "level": level,
            **{name: np.asarray(value).tolist() for name, value in numbers.items()},
            "method": self.method,
            "n": self.n,
            "prior": self.prior,
            **{name: asked[name] for name in QUESTION},
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "omega": self.omega,
            "differs": self.differs,
            "advice": self.advice,
            "seed": self.difference.seed,
            "warnings": list(self.warnings),
            "skuncertain": __version__,
        }

    def to_frame(self, level: float = 0.95) -> Any:
        """Table with one row per comparison.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the interval of the difference.

        Returns
        -------
        pandas.DataFrame
            The entries of `to_dict`.
        """
        columns = {
            name: np.ravel(value) if isinstance(value, list) else value  # lists are those of stacks
            for name, value in self.to_dict(level).items()
            if name != "warnings"
        }
        return data_frame(self, columns if self.difference.shape else [columns])


def judge(
    difference, rope, *, metric, names, method, greater_is_better=True, below_zero=None, **about
):
    """Three probabilities from the posterior of b - a; `below_zero` is P(b < a) if it is known."""
    rope = check_rope(rope, difference.range[1], metric or "the score")
    if rope == 0 and below_zero is not None:
        below, above = below_zero, 1 - below_zero
    else:
        # Strictly below and above: a difference that is surely 0 is equivalent, even without ROPE.
        edge = rope * (1 + 1e-12)  # a difference of exactly the ROPE is within it
        below = np.asarray(difference.cdf(np.nextafter(-edge, -np.inf)))
        above = np.maximum(1 - np.asarray(difference.cdf(edge)), 0.0)
    middle = 1 - below - above
    middle = np.where(middle < 1e-12, 0.0, middle)  # rounding, where nothing lies between
    total = below + middle + above
    below, middle, above = below / total, middle / total, above / total
    worse, better = (below, above) if greater_is_better else (above, below)
    return ComparisonResult(
        p_worse=plain(worse),
        p_equivalent=plain(middle),
        p_better=plain(better),
        difference=difference,
        metric=metric,
        rope=rope,
        names=names,
        method=method,
        greater_is_better=greater_is_better,
        **about,
    )
