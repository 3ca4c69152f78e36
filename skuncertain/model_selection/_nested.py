"""Confidence intervals that fit models of their own: nested cross-validation and conservative-z.

The folds of one cross-validation cannot tell how far its score is from the truth. Two published
methods ask for more fits to tell it: Bates, Hastie and Tibshirani compare the score of an inner
cross-validation with the rows that it has never seen; Nadeau and Bengio compare the scores of two
halves of the rows that have nothing in common.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import cross_validate

from skuncertain._reporting.build import check_digits, column, interval_cell, make_report, section
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.retry import retry_lost_workers
from skuncertain._utils.typing import LabelLike, MetricLike, MetricsLike, RandomStateLike
from skuncertain._utils.validation import (
    check_level,
    data_frame,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import collect_into, silence, warn_user
from skuncertain.exceptions import DegenerateIntervalWarning
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._scorer import scored_labels
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.model_selection._nested_designs import (
    ConservativeDesign,
    NestedDesign,
    normal_ends,
)
from skuncertain.model_selection._splits import check_target, warn_of_unknown_classes
from skuncertain.posteriors._interval import Interval

_NO_WIDTH = 1e-12  # of the range: rounding
MOST_CLASSES = 100  # beyond, the cells of so many tests would cost more than the fits


# --------------------------------------------------------------------------------------------------
# The result


@dataclass(frozen=True, eq=False, repr=False)
class ResampledIntervals(HasReport):
    """Confidence intervals from models that were fitted for them.

    Made by :func:`nested_cv_intervals` and :func:`conservative_z_intervals`.

    Parameters
    ----------
    counts : ConfusionCounts
        Confusion matrices of the two halves of every test, shape (fits, 2).
    metrics : dict
        Metrics by the name that was asked for.
    design : object
        What was trained on and tested.
    n : int
        Number of rows.
    level : float
        Confidence level of the intervals.
    seed : int
        Seed of the splits.

    See Also
    --------
    nested_cv_intervals, conservative_z_intervals : Make it.
    CrossValPosterior : From one cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.model_selection import nested_cv_intervals
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> nested_cv_intervals(tree, X, y, n_repeats=2, random_state=0)
    ResampledIntervals(method='nested_cv', n=569, 30 fits, pos_label=1, metrics=['accuracy', ...])
    """

    counts: ConfusionCounts
    metrics: dict
    design: NestedDesign | ConservativeDesign
    n: int
    level: float = 0.95
    seed: int = 0
    _known: dict = field(default_factory=dict, init=False)
    _warnings: list = field(default_factory=list, init=False)

    @property
    def method(self) -> str:
        """Either "nested_cv" or "conservative_z"."""
        return self.design.method

    @property
    def estimand(self) -> str:
        """Whose performance is meant: "final" or "algorithm", as in :func:`fold_posterior`."""
        return self.design.estimand

    @property
    def n_fits(self) -> int:
        """Number of models that were fitted."""
        return self.design.n_fits

    @property
    def question(self) -> str:
        """What the intervals are about, in words."""
        return self.design.question(self.n)

    def __repr__(self):
        parts = [f"method={self.method!r}", f"n={self.n}", f"{self.n_fits} fits"]
        if self.counts.pos_label is not None:
            parts.append(f"pos_label={self.counts.pos_label!r}")
        return f"ResampledIntervals({', '.join(parts)}, metrics={list(self.metrics)})"

    def _estimate(self, metric, pos_label):
        """Numbers of a metric by name, and the metric."""
        key = (metric, pos_label)
        if key not in self._known:
            known = self.metrics.get(metric, metric) if isinstance(metric, str) else metric
            known = count_metric(known)
            _refuse_unbounded(known)
            positive = self.counts.positive_index(known, pos_label)
            matrices = self.counts.counts.astype(float)
            found = self.design.estimate(matrices, known, positive)
            found = {name: float(value) for name, value in found.items()}
            found["estimate"] = float(np.clip(found["estimate"], *known.range))
            if np.isnan(found["estimate"]):
                warn_user(
                    f"{known.name} is 0/0 in all tests: it has no value here.",
                    UndefinedMetricWarning,
                )
            if found["standard_error"] <= _NO_WIDTH * np.ptp(known.range):
                warn_user(
                    f"all tests have the same {known.name}: the interval has no width, which says "
                    "nothing about uncertainty. cross_val_posterior gives one with a width.",
                    DegenerateIntervalWarning,
                )
            self._known[key] = found, known
        return self._known[key]

    def estimate(self, metric: MetricLike, pos_label: LabelLike = None) -> float:
        """Value of a metric, which the interval is around.

        Parameters
        ----------
        metric : str, Metric or callable
            Any metric with a finite range, see :func:`get_metric`.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.

        Returns
        -------
        float
            The value, corrected for the rows that models lacked if that was asked for.
        """
        return self._estimate(metric, pos_label)[0]["estimate"]

    def standard_error(self, metric: MetricLike, pos_label: LabelLike = None) -> float:
        """Estimate of the root mean squared error of `estimate`.

        Parameters
        ----------
        metric : str, Metric or callable
            Any metric with a finite range, see :func:`get_metric`.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.

        Returns
        -------
        float
            The standard error.
        """
        return self._estimate(metric, pos_label)[0]["standard_error"]

    def interval(
        self, metric: MetricLike, level: float | None = None, pos_label: LabelLike = None
    ) -> Interval:
        """Normal interval of a metric, cut off at its range.

        Parameters
        ----------
        metric : str, Metric or callable
            Any metric with a finite range, see :func:`get_metric`.
        level : float, default=None
            Confidence level; by default as set before.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        level = self.level if level is None else check_level(level)
        found, known = self._estimate(metric, pos_label)
        ends = normal_ends(found["estimate"], found["standard_error"], level, known.range)
        return Interval(*(float(end) for end in ends))

    @cached_property
    def intervals(self) -> dict:
        """Interval of every metric that was asked for, by name."""
        with collect_into(self._warnings):
            return {name: self.interval(name) for name in self.metrics}

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Settings, counts, and per metric the value, its standard error and the interval.
        """
        return {
            "method": self.method,
            "level": self.level,
            "question": self.question,
            "n": self.n,
            "n_fits": self.n_fits,
            "seed": self.seed,
            "design": dict(vars(self.design)),
            "counts": self.counts.to_dict(),
            "metrics": {
                name: {"low": low, "high": high, **self._estimate(name, None)[0]}
                for name, (low, high) in self.intervals.items()
            },
        }

    def to_frame(self) -> Any:
        """Table with one row per metric.

        Returns
        -------
        pandas.DataFrame
            Value, standard error and interval.
        """
        rows = self.to_dict()["metrics"]
        return data_frame(self, list(rows.values()), index=list(rows)).rename_axis("name")

    def report(self, *, level: float | None = None, digits: int | None = None) -> IntervalReport:
        """All metrics with their intervals, and warnings.

        Parameters
        ----------
        level : float, default=None
            Confidence level; by default as set before.
        digits : int, default=None
            Decimals; by default 3, more for narrow intervals.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        return _report(
            self, self.level if level is None else check_level(level), check_digits(digits)
        )


def _refuse_unbounded(metric):
    refuse_if(
        not np.isfinite(metric.range).all(),
        "metrics",
        f"metric {metric.name!r} has no finite range: a normal interval does not fit it. Ask for "
        "the rates that it is made of; make_metric(function, range=(low, high)) gives a range.",
    )


_READING = {
    "nested_cv": (
        "The standard error compares an inner cross-validation with the fold that it has not seen, "
        "and lies between that of independent rows and the square root of the folds times it.",
        "Metrics that are no mean over rows are taken as linear in the counts.",
    ),
    "conservative_z": (
        "The standard error compares scores of two halves of the rows that share none. Models of "
        "half the rows vary more, so it is too large rather than too small.",
    ),
}


def _report(result, level, digits):
    found: list = []
    with silence(), collect_into(found):
        rows = []
        for name in result.metrics:
            numbers = result._estimate(name, None)[0]
            low, high = result.interval(name, level)
            cell = interval_cell((low, high), point=numbers["estimate"])
            rows.append({"metric": name, **numbers, "interval": cell})
    columns = ["metric", column("estimate"), "interval", column("standard_error", "standard error")]
    notes = ["intervals are cut off at the range of the metric"]
    if result.method == "nested_cv":
        columns += [
            column("cross_validation", "cross-validation"),
            column("independent_error", "of independent rows"),
        ]
        notes.append("of independent rows: standard error that they would have")
    positive = result.counts.pos_label
    settings = {
        "level": level,
        "kind": "eti",
        "prior": None,
        "method": f"{result.method}, {result.design.text()}, {result.n_fits} fits",
        "n": result.n,
        "pos_label": None if positive is None else str(positive),
        "estimand": result.estimand,
    }
    return make_report(
        "resampling",
        "Report of resampled intervals",
        settings=settings,
        question=result.question,
        sections={"scores": section("Scores", columns, rows, notes=notes)},
        warnings=found + list(result._warnings),
        reading=(
            "An interval of this kind holds the answer to the question above in about the share "
            "of the samples that is given as level.",
            *_READING[result.method],
        ),
        digits=digits,
    )


# --------------------------------------------------------------------------------------------------
# Running


class HalvesScorer:
    """Scorer that counts the two halves of the test rows, of which the first may have one more.

    Parameters
    ----------
    labels : tuple
        All classes.
    """

    def __init__(self, labels):
        self.labels = labels

    @property
    def keys(self):
        """Keys of the cells, of the first half first."""
        size = range(len(self.labels))
        return [f"half{half}_{i}_{j}" for half in range(2) for i in size for j in size]

    def __call__(self, estimator, X, y):
        y_true, y_pred = scored_labels(estimator, y, estimator.predict(X))
        middle = (len(y_true) + 1) // 2
        cells: list = []
        for rows in (slice(None, middle), slice(middle, None)):
            counts = np.zeros(len(self.labels) ** 2, dtype=int)
            if len(y_true[rows]):
                counts = ConfusionCounts.from_predictions(
                    y_true[rows], y_pred[rows], labels=self.labels
                ).counts
            cells += counts.ravel().tolist()
        return dict(zip(self.keys, cells, strict=True))


def _run(owner, design, estimator, X, y, options):
    """Check everything, fit, count."""
    target = check_target(X, y, options["labels"], options["pos_label"], owner)
    level, n = check_level(options["level"]), len(target.codes)
    metrics = check_metrics(options["metrics"], target.labels, target.pos_label)
    for metric in metrics.values():
        _refuse_unbounded(metric)
    design.check(n)
    refuse_if(
        len(target.labels) > MOST_CLASSES,
        "y",
        f"y must hold at most {MOST_CLASSES} classes, got {len(target.labels)}: use "
        "cross_val_posterior.",
    )
    seed = resolve_seed(options["random_state"])
    splits = design.splits(n, np.random.default_rng(seed))
    warn_of_unknown_classes(splits, target, "cross_val_posterior has stratified folds.")
    scorer = HalvesScorer(target.labels)
    run = partial(
        cross_validate,
        estimator,
        X,
        target.y,
        scoring=scorer,
        cv=splits,
        n_jobs=options["n_jobs"],
        verbose=options["verbose"],
        params=options["params"],
        error_score="raise",
    )
    results = retry_lost_workers(run, "all models are fitted again")
    size = len(target.labels)
    cells = np.array([results[f"test_{key}"] for key in scorer.keys]).T
    counts = ConfusionCounts(
        cells.reshape(-1, 2, size, size), labels=target.labels, pos_label=target.pos_label
    )
    return ResampledIntervals(counts, metrics, design, n, level, seed)


def nested_cv_intervals(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    metrics: MetricsLike | None = None,
    n_folds: int = 5,
    n_repeats: int = 10,
    bias_correction: bool = True,
    level: float = 0.95,
    labels: Any = None,
    pos_label: LabelLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict | None = None,
    random_state: RandomStateLike = None,
) -> ResampledIntervals:
    """Make intervals by the nested cross-validation of Bates, Hastie and Tibshirani.

    It is not the nested cross-validation of a search: nothing is tuned (for that, see
    :class:`BayesianCrossValidator`).

    Parameters
    ----------
    estimator : object
        Classifier, pipeline or search.
    X, y : array-like of shape (n, features) and of shape (n,)
        Rows, which must be independent of each other, and their class labels.
    metrics : list of str, Metric or callable, default=None
        By default the usual ones; any other with a finite range can be asked for later.
    n_folds : int, default=5
        K, at least 3.
    n_repeats : int, default=10
        R, repetitions with other folds. R K (K + 1) / 2 models are fitted: 150 by default.
    bias_correction : bool, default=True
        Whether the value is carried forward to models of all rows. Otherwise it is that of the
        cross-validation, which is about models of (K - 1) / K of them.
    level : float, default=0.95
        Confidence level of the intervals.
    labels, pos_label, n_jobs, verbose, params : object
        See :func:`cross_val_posterior`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the splits. It does not touch the estimator.

    Returns
    -------
    ResampledIntervals
        With ``interval(metric)``, ``intervals``, ``n_fits`` and ``report()``.

    See Also
    --------
    conservative_z_intervals : The other method of this kind.
    cross_val_posterior : Needs K fits.

    Notes
    -----
    Bates, Hastie and Tibshirani (2024) estimate the mean squared error of an inner cross-validation
    from the fold that it has not seen. They do it for means over rows: accuracy, error rate, costs.
    Any other metric with a finite range is taken as linear in the counts, so that a row counts as
    its influence on the metric; with few rows of a class that is rough. Ratios without a finite
    range (likelihood ratios, odds) are refused.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.model_selection import nested_cv_intervals
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> result = nested_cv_intervals(tree, X, y, n_repeats=2, random_state=0)
    >>> result.n_fits
    30
    >>> result.interval("accuracy")
    Interval(low=0.896..., high=0.945...)
    """
    options = dict(metrics=metrics, level=level, labels=labels, pos_label=pos_label)
    options |= dict(n_jobs=n_jobs, verbose=verbose, params=params, random_state=random_state)
    design = NestedDesign(n_folds, n_repeats, bias_correction)
    return _run("nested_cv_intervals", design, estimator, X, y, options)


def conservative_z_intervals(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    metrics: MetricsLike | None = None,
    n_splits: int = 5,
    n_pairs: int = 10,
    test_size: float = 0.1,
    level: float = 0.95,
    labels: Any = None,
    pos_label: LabelLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict | None = None,
    random_state: RandomStateLike = None,
) -> ResampledIntervals:
    """Make intervals by the conservative z of Nadeau and Bengio.

    Parameters
    ----------
    estimator : object
        Classifier, pipeline or search.
    X, y : array-like of shape (n, features) and of shape (n,)
        Rows, which must be independent of each other, and their class labels.
    metrics : list of str, Metric or callable, default=None
        By default the usual ones; any other with a finite range can be asked for later.
    n_splits : int, default=5
        J, random splits of the rows, and of every half of them.
    n_pairs : int, default=10
        M, how often the rows are halved. J (2 M + 1) models are fitted: 105 by default.
    test_size : float, default=0.1
        Share of the rows that a split tests; as many rows are tested in splits of a half.
    level : float, default=0.95
        Confidence level of the intervals.
    labels, pos_label, n_jobs, verbose, params : object
        See :func:`cross_val_posterior`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the splits. It does not touch the estimator.

    Returns
    -------
    ResampledIntervals
        With ``interval(metric)``, ``intervals``, ``n_fits`` and ``report()``.

    See Also
    --------
    nested_cv_intervals : The other method of this kind.
    cross_val_posterior : Needs K fits.

    Notes
    -----
    Nadeau and Bengio (2003): the value is the mean over J splits; its variance is half the mean
    squared difference between the same means of two halves of the rows. Models of half the rows
    vary more, so intervals are wide rather than short. Any metric with a finite range will do;
    splits in which it is 0/0 are left out, with a warning. Ratios without a finite range
    (likelihood ratios, odds) are refused.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.model_selection import conservative_z_intervals
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> result = conservative_z_intervals(tree, X, y, n_pairs=4, random_state=0)
    >>> result.n_fits
    45
    >>> result.interval("accuracy")
    Interval(low=0.855..., high=1.0)
    """
    options = dict(metrics=metrics, level=level, labels=labels, pos_label=pos_label)
    options |= dict(n_jobs=n_jobs, verbose=verbose, params=params, random_state=random_state)
    design = ConservativeDesign(n_splits, n_pairs, test_size)
    return _run("conservative_z_intervals", design, estimator, X, y, options)
