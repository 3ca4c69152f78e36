"""`coverage_study`: how often the intervals of a method hold the truth, and how long they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.typing import LabelLike, MetricLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    check_integer,
    check_kind,
    check_level,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._version import __version__
from skuncertain.coverage._methods import Question, check_methods
from skuncertain.coverage._populations import Population, describe_grid
from skuncertain.coverage._run import Checkpoint, ProgressBar, fingerprint
from skuncertain.coverage._tasks import StudyPlan
from skuncertain.metrics._labels import check_pos_label
from skuncertain.metrics._registry import count_metric


@dataclass(frozen=True, eq=False, repr=False)
class CoverageStudy:
    """Coverage and width of interval methods, with their Monte Carlo errors.

    Parameters
    ----------
    methods : tuple of str
        Names, in the order of the first axis of the arrays.
    points : dict
        By name (a parameter of the population, ``n``), its value at every point; shape (...).
    truth, truth_error : ndarray of shape (...)
        True value of the metric, and its standard error where it was estimated.
    coverage, coverage_error : ndarray of shape (methods, ...)
        Share of intervals that hold the truth. The standard error is 0 if all outcomes were
        enumerated; it contains that of the truth.
    width, width_error : ndarray of shape (methods, ...)
        Mean width of the intervals that are defined, and its standard error.
    failed : ndarray of shape (methods, ...)
        Share of samples for which the method gave no interval; they count as not holding the truth.
    failures : tuple
        ``(method, reason, number)`` for every reason; the method is "" where the sample itself
        could not be drawn. Such samples are left out.
    n_replications : ndarray of shape (...)
        Simulated samples behind each point; for an exact study the number of outcomes.
    exact : bool
        Whether all outcomes were enumerated.
    metric : str
        What was asked.
    level : float
        Nominal level.
    kind : str
        "eti" or "hdi".
    seed : int
        Seed of the study.
    warnings : tuple of str
        Warnings of the methods, each once.
    version : str
        Version of skuncertain.

    See Also
    --------
    coverage_study : Makes it.
    CoverageDisplay : Plots it.

    Examples
    --------
    >>> from skuncertain.coverage import BinomialPopulation, coverage_study
    >>> study = coverage_study(["jeffreys", "wilson"], BinomialPopulation([0.5, 0.9, 0.99]), n=50)
    >>> study.to_frame()[["method", "p", "coverage", "width"]].round(3)
         method     p  coverage  width
    0  jeffreys  0.50     0.935   0.268
    1  jeffreys  0.90     0.942   0.162
    2  jeffreys  0.99     0.986   0.067
    3    wilson  0.50     0.935   0.265
    4    wilson  0.90     0.970   0.166
    5    wilson  0.99     0.911   0.085
    """

    methods: tuple
    points: dict
    truth: np.ndarray
    truth_error: np.ndarray
    coverage: np.ndarray
    coverage_error: np.ndarray
    width: np.ndarray
    width_error: np.ndarray
    failed: np.ndarray
    failures: tuple
    n_replications: np.ndarray
    exact: bool
    metric: str
    level: float
    kind: str
    seed: int
    warnings: tuple = ()
    version: str = field(default=__version__)

    def __repr__(self):
        points = self.truth.size
        how = "exact" if self.exact else f"{int(self.n_replications.max(initial=0))} replications"
        show = (
            "{mean_coverage:.3f} (min {min_coverage:.3f})" if points > 1 else "{mean_coverage:.3f}"
        )
        texts = [f"{name} {show.format(**figures)}" for name, figures in self.summary().items()]
        lost = sum(number for _, _, number in self.failures)
        return (
            f"CoverageStudy({self.metric}, level={self.level:g}, {len(self.methods)} "
            f"method{'s' * (len(self.methods) != 1)} x {points} point{'s' * (points != 1)}, {how}"
            + (f", {lost} interval{'s' * (lost != 1)} failed" if lost else "")
            + f": {', '.join(texts)})"
        )

    def summary(self) -> dict:
        """Coverage over the whole grid.

        Returns
        -------
        dict
            By method: ``mean_coverage``, ``min_coverage`` and ``mean_width`` over the points that
            can be.
        """
        found = {}
        for name, covered, width in zip(self.methods, self.coverage, self.width, strict=True):
            kept, long = covered[~np.isnan(covered)], width[~np.isnan(width)]
            found[name] = {
                "mean_coverage": float(kept.mean()) if kept.size else np.nan,
                "min_coverage": float(kept.min()) if kept.size else np.nan,
                "mean_width": float(long.mean()) if long.size else np.nan,
            }
        return found

    def to_frame(self) -> Any:
        """Tidy table.

        Returns
        -------
        pandas.DataFrame
            One row per method and point.
        """
        number = len(self.methods)
        columns: dict = {"method": np.repeat(np.array(self.methods, dtype=object), self.truth.size)}
        at_point = self.points | {"truth": self.truth, "truth_error": self.truth_error}
        columns |= {name: np.tile(values.ravel(), number) for name, values in at_point.items()}
        by_method = ("coverage", "coverage_error", "width", "width_error", "failed")
        columns |= {name: getattr(self, name).ravel() for name in by_method}
        columns["n_replications"] = np.tile(self.n_replications.ravel(), number)
        return data_frame(self, columns)

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One entry per attribute, arrays as nested lists.
        """
        plain = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "points":
                value = {key: values.tolist() for key, values in value.items()}
            elif isinstance(value, tuple):
                value = [list(item) if isinstance(item, tuple) else item for item in value]
            plain[name] = value.tolist() if isinstance(value, np.ndarray) else value
        return plain


def coverage_study(
    methods: Any,
    population: Any,
    *,
    n: ArrayLike,
    metric: MetricLike | None = None,
    pos_label: LabelLike = None,
    level: float = 0.95,
    kind: str = "eti",
    n_replications: int | None = None,
    n_jobs: int | None = None,
    random_state: RandomStateLike = None,
    verbose: int = 0,
    checkpoint: Any = None,
) -> CoverageStudy:
    """Coverage of interval methods: how often their intervals hold the truth.

    Parameters
    ----------
    methods : list of str or dict
        Names, or a dict ``{name: what}`` with a name, a dict of options or a function. Names are
        the priors of :func:`credible_interval`, the methods of :func:`confidence_interval` and, for
        populations with folds, those of :func:`fold_interval` and "wang_li". A function gets
        :class:`ConfusionCounts` (of K folds if there are folds), one or a stack, and returns
        ``(low, high)``; ``level``, ``metric``, ``kind``, ``pos_label`` and ``random_state`` are
        filled in if it asks for them.
    population : Population
        Where samples come from, such as :class:`BinomialPopulation`.
    n : int or array-like of int
        Rows of a sample; an array is one more axis of the grid.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`; by default accuracy, or recall for :class:`BinomialPopulation`.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`.
    level, kind : float and str, default=0.95 and "eti"
        Nominal level; equal-tailed or highest-density ("hdi"). Confidence intervals have no kind.
    n_replications : int, default=None
        Simulated samples per point. None: all outcomes where methods draw no random numbers and
        that is feasible (some 100 rows of two classes for proportions, 30 for other metrics), which
        is exact; otherwise 1000 samples.
    n_jobs, random_state : int, default=None
        Workers, as in joblib, on which the result does not depend; and the seed.
    verbose : int, default=0
        With 1, a progress bar on stderr.
    checkpoint : str or path, default=None
        A file for finished tasks. After an interruption the same call goes on from there.

    Returns
    -------
    CoverageStudy
        Coverage and width with their errors, and what failed.

    See Also
    --------
    BinomialPopulation : A proportion.
    MultinomialPopulation : Any metric of a confusion matrix.
    EstimatorPopulation, SubsamplePopulation : A classifier, cross-validated.
    MarkovPopulation : Rows that depend on each other.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.coverage import BinomialPopulation, coverage_study
    >>> def wald(counts):
    ...     share, n = counts.score("recall", zero_division=0), counts.n
    ...     half = 1.96 * np.sqrt(share * (1 - share) / n)
    ...     return share - half, share + half
    >>> methods = {"Wald": wald, "Jeffreys": "jeffreys"}
    >>> study = coverage_study(methods, BinomialPopulation(0.99), n=50)
    >>> study.coverage.round(3)
    array([0.395, 0.986])
    """
    refuse_if(
        not isinstance(population, Population),
        "population",
        "population must be a BinomialPopulation, MultinomialPopulation, MarkovPopulation, "
        f"EstimatorPopulation or SubsamplePopulation, got {type(population).__name__}. Rates p "
        "go in as BinomialPopulation(p).",
    )
    level, kind = check_level(level), check_kind(kind)
    if n_replications is not None:
        check_integer("n_replications", n_replications, low=2, high=10**9)
    check_integer("verbose", verbose, low=0)
    sizes = _check_sizes(n, population)
    asked = population._default_metric if metric is None else metric
    found = count_metric(asked)
    pos_label = None if pos_label is None else check_pos_label(population.labels, pos_label)
    question = Question(asked, pos_label, level, kind)
    resolved = check_methods(methods, population._layout, kind)
    store = Checkpoint(checkpoint)
    stored = random_state is None and store.seed is not None
    seed = store.seed if stored else resolve_seed(random_state)
    plan = StudyPlan.make(population, sizes, resolved, question, found, n_replications, seed)
    store.open(_fingerprints(plan, n_replications), seed)
    results = plan.run(n_jobs, store, ProgressBar(plan.n_tasks, verbose))
    return CoverageStudy(
        methods=tuple(method.name for method in resolved),
        points=describe_grid(population, sizes),
        exact=plan.exact,
        metric=found.name,
        level=level,
        kind=kind,
        seed=seed,
        **results,
    )


def _fingerprints(plan, n_replications):
    """What must be the same for a study to go on from a checkpoint."""
    question = plan.question
    return {
        "methods": fingerprint([vars(method) for method in plan.methods]),
        "population": fingerprint(plan.population),
        "n": plan.sizes.tolist(),
        "metric": fingerprint(question.metric),
        "pos_label": fingerprint(question.pos_label),
        "level": question.level,
        "kind": question.kind,
        "n_replications": n_replications,
        "random_state": plan.seed,
        "version": __version__,
    }


def _check_sizes(n, population):
    """Return the numbers of rows as an array with no axis or one."""
    sizes = as_array("n", n)
    refuse_if(
        sizes.dtype.kind not in "iu" or sizes.ndim > 1 or sizes.size == 0,
        "n",
        "n must be a number of rows or a list of them, got {value}.",
        value=n,
    )
    refuse_if(np.any(sizes < 1), "n", f"n must be at least 1, got {sizes.min()}.")
    refuse_if(np.any(sizes > 2**53), "n", f"n must be at most 2**53, got {sizes.max()}.")
    for size in sizes.ravel().tolist():
        population._check_size(size)
    return sizes.astype(np.int64)
