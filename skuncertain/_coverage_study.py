"""`coverage_study`: how often the intervals of a method hold the truth, and how long they are."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._coverage_tasks import Plan
from skuncertain._labels import check_pos_label
from skuncertain._metrics import get_metric
from skuncertain._plot._coverage import CoverageDisplay
from skuncertain._study_methods import Question, check_methods
from skuncertain._study_runs import Checkpoint, Progress, fingerprint
from skuncertain._truths import Truth, describe_grid
from skuncertain._validation import (
    check_integer,
    check_kind,
    check_level,
    import_optional,
    rectangular,
    resolve_seed,
    shown,
)
from skuncertain._version import __version__


@dataclass(frozen=True, eq=False, repr=False)
class CoverageStudy:
    """Coverage and length of interval methods, with their Monte Carlo errors.

    Parameters
    ----------
    methods : tuple of str
        Names, in the order of the first axis of the arrays.
    points : dict
        By name (a parameter of the truth, ``n``), its value at every point; shape (...).
    truth, truth_error : ndarray of shape (...)
        True value of the metric, and its standard error where it was estimated.
    coverage, coverage_error : ndarray of shape (methods, ...)
        Share of intervals that hold the truth. The standard error is 0 if all outcomes were
        enumerated; it contains that of the truth.
    length, length_error : ndarray of shape (methods, ...)
        Mean length of the intervals that are defined, and its standard error.
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
    >>> from skuncertain import BinomialTruth, coverage_study
    >>> study = coverage_study(["jeffreys", "wilson"], BinomialTruth([0.5, 0.9, 0.99]), n=50)
    >>> study.to_frame()[["method", "p", "coverage", "length"]].round(3)
         method     p  coverage  length
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
    length: np.ndarray
    length_error: np.ndarray
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
        texts = []
        for name, figures in self.summary().items():
            text = f"{name} {figures['mean_coverage']:.3f}"
            texts.append(text + (f" (min {figures['min_coverage']:.3f})" if points > 1 else ""))
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
            By method: ``mean_coverage``, ``min_coverage`` and ``mean_length`` over the points that
            can be.
        """
        found = {}
        for name, covered, length in zip(self.methods, self.coverage, self.length, strict=True):
            kept, long = covered[~np.isnan(covered)], length[~np.isnan(length)]
            found[name] = {
                "mean_coverage": float(kept.mean()) if kept.size else np.nan,
                "min_coverage": float(kept.min()) if kept.size else np.nan,
                "mean_length": float(long.mean()) if long.size else np.nan,
            }
        return found

    def to_frame(self) -> Any:
        """Tidy table.

        Returns
        -------
        pandas.DataFrame
            One row per method and point.
        """
        pandas = import_optional("pandas", "pandas", "CoverageStudy.to_frame")
        number = len(self.methods)
        columns: dict = {"method": np.repeat(np.array(self.methods, dtype=object), self.truth.size)}
        for name, values in self.points.items():
            columns[name] = np.tile(values.ravel(), number)
        for name in ("truth", "truth_error"):
            columns[name] = np.tile(getattr(self, name).ravel(), number)
        for name in ("coverage", "coverage_error", "length", "length_error", "failed"):
            columns[name] = getattr(self, name).ravel()
        columns["n_replications"] = np.tile(self.n_replications.ravel(), number)
        return pandas.DataFrame(columns)

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

    def plot(self, *, ax: Any = None, name: str | None = None, **options: Any) -> CoverageDisplay:
        """Coverage against what varies between the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Title.
        **options : object
            See :meth:`CoverageDisplay.plot`.

        Returns
        -------
        CoverageDisplay
            The display, plotted.
        """
        return CoverageDisplay.from_study(self, ax=ax, name=name, **options)


def coverage_study(
    methods: Any,
    truth: Any,
    *,
    n: ArrayLike,
    metric: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    kind: str = "eti",
    n_replications: int | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
    checkpoint: Any = None,
) -> CoverageStudy:
    """Coverage of interval methods: how often their intervals hold the truth.

    Parameters
    ----------
    methods : list of str or dict
        Names, or a dict ``{name: what}`` with a name, a dict of options or a function. Names are
        the priors of :func:`credible_interval` ("auto", "neutral", "jeffreys", "laplace", ...), the
        methods of :func:`confidence_interval` ("wilson", "clopper-pearson", "agresti-coull",
        "bootstrap", "bca") and, for truths with folds, those of :func:`fold_interval` ("pooled",
        "averaged", "corrected_t", ..., and "wang-li" for the published weight). Options are those
        of the three functions; without a "method" they are of :func:`credible_interval`. A function
        gets :class:`ConfusionCounts` (of K folds if the truth has folds) and returns
        ``(low, high)``; it may work on a stack of counts. Parameters of it that are called
        ``level``, ``metric``, ``kind``, ``pos_label`` or ``random_state`` are filled in.
    truth : BinomialTruth, MultinomialTruth, MarkovTruth, EstimatorTruth or SubsampleTruth
        Where samples come from.
    n : int or array-like of int
        Rows of a sample; an array is one more axis of the grid.
    metric : str, Metric or callable, default=None
        See :func:`get_metric`; by default accuracy, or recall for :class:`BinomialTruth`.
    pos_label : label, default=None
        Positive class.
    level : float, default=0.95
        Nominal level.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density; confidence intervals have no kind.
    n_replications : int, default=None
        Simulated samples per point. None: all outcomes are enumerated where that is feasible, which
        is exact; otherwise 1000 samples.
    n_jobs : int, default=None
        Workers, as in joblib. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        With 1, a progress bar on stderr.
    checkpoint : str or path, default=None
        A file for finished tasks: lines of JSON, one written whenever a task is done. After an
        interruption of any kind the same call goes on from there; only samples that were being
        worked on are lost.

    Returns
    -------
    CoverageStudy
        Coverage and length with their errors, and what failed.

    See Also
    --------
    BinomialTruth : A proportion.
    MultinomialTruth : Any metric of a confusion matrix.
    EstimatorTruth : A classifier, cross-validated.
    MarkovTruth : Rows that depend on each other.

    Notes
    -----
    Enumeration needs methods that draw no random numbers. For proportions and F1 the outcomes are
    (successes, failures, other rows); for other metrics, and for functions of your own, all
    confusion matrices of n rows, up to about 100 rows of two classes for proportions and 30 for
    other metrics.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain import BinomialTruth, coverage_study
    >>> def wald(counts):
    ...     share, n = counts.score("recall", zero_division=0), counts.n
    ...     half = 1.96 * np.sqrt(share * (1 - share) / n)
    ...     return share - half, share + half
    >>> study = coverage_study({"Wald": wald, "Jeffreys": "jeffreys"}, BinomialTruth(0.99), n=50)
    >>> study.coverage.round(3)
    array([0.395, 0.986])
    """
    if not isinstance(truth, Truth):
        raise TypeError(
            "truth must be a BinomialTruth, MultinomialTruth, MarkovTruth, EstimatorTruth or "
            f"SubsampleTruth, got {type(truth).__name__}. Rates p go in as BinomialTruth(p)."
        )
    level, kind = check_level(level), check_kind(kind)
    if n_replications is not None:
        check_integer("n_replications", n_replications, low=2, high=10**9)
    check_integer("verbose", verbose, low=0)
    sizes = _check_sizes(n, truth)
    asked = truth._default_metric if metric is None else metric
    found = get_metric(asked)
    pos_label = None if pos_label is None else check_pos_label(truth.labels, pos_label)
    question = Question(asked, pos_label, level, kind)
    resolved = check_methods(methods, truth._layout, kind)
    store = Checkpoint(checkpoint)
    seed = store.seed if random_state is None and store.seed is not None else None
    seed = resolve_seed(random_state) if seed is None else seed
    plan = Plan.make(truth, sizes, resolved, question, found, n_replications, seed)
    store.open(
        {
            "methods": fingerprint([vars(method) for method in resolved]),
            "truth": fingerprint(truth),
            "n": sizes.tolist(),
            "metric": fingerprint(asked),
            "pos_label": fingerprint(pos_label),
            "level": level,
            "kind": kind,
            "n_replications": n_replications,
            "random_state": seed,
            "version": __version__,
        },
        seed,
    )
    progress = Progress(plan.n_tasks, verbose)
    results = plan.run(n_jobs, store, progress)
    return CoverageStudy(
        methods=tuple(m.name for m in resolved),
        points=describe_grid(truth, sizes),
        exact=plan.exact,
        metric=found.name,
        level=level,
        kind=kind,
        seed=seed,
        **results,
    )


def _check_sizes(n, truth):
    """Return the numbers of rows as an array with no axis or one."""
    sizes = rectangular("n", n)
    if sizes.dtype.kind not in "iu" or sizes.ndim > 1 or sizes.size == 0:
        raise TypeError(f"n must be a number of rows or a list of them, got {shown(n)}.")
    if np.any(sizes < 1):
        raise ValueError(f"n must be at least 1, got {sizes.min()}.")
    for size in sizes.ravel().tolist():
        truth._check_size(size)
    return sizes.astype(np.int64)
