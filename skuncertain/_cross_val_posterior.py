"""Posteriors of a finished cross-validation."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._counts import ConfusionCounts
from skuncertain._cv_counts import read_counts, warn_of_lost_folds
from skuncertain._cv_report import cv_report
from skuncertain._distributions import Posterior
from skuncertain._fold_methods import (
    METHODS,
    POOLING,
    Folds,
    check_omega,
    known_options,
    per_proportion,
    warn_of_disagreement,
)
from skuncertain._fold_variance import ESTIMANDS
from skuncertain._intervals import Interval
from skuncertain._metrics import get_metric
from skuncertain._priors import check_prior
from skuncertain._report import IntervalReport, check_digits
from skuncertain._splits import Splits
from skuncertain._validation import (
    check_choice,
    check_integer,
    check_kind,
    check_level,
    import_optional,
    resolve_seed,
    shown,
)
from skuncertain._warnings import recorded, warn_user

TWO_CLASS_METRICS = ("accuracy", "precision", "recall", "f1", "mcc")
MANY_CLASS_METRICS = ("accuracy", "balanced_accuracy", "f1_macro", "mcc")


@dataclass(frozen=True)
class Settings:
    """How posteriors are made from folds unless a call says otherwise."""

    method: str = "pooled"
    omega: Any = "auto"
    estimand: str = "algorithm"
    prior: Any = 1.0
    level: float = 0.95
    kind: str = "eti"

    def check(self, n_classes):
        """Refuse wrong values before anything is computed."""
        check_choice("method", self.method, METHODS)
        check_choice("estimand", self.estimand, ESTIMANDS)
        check_omega(self.omega, np.inf)
        if self.method == "dirichlet":
            check_prior(self.prior, n_classes)
        else:
            per_proportion(self.prior, n_classes)
        is_default = np.ndim(self.prior) == 0 and self.prior == 1.0
        if "prior" not in known_options(self.method) and not is_default:
            raise ValueError(f"method={self.method!r} has no prior, got {self.prior!r}.")
        check_level(self.level)
        check_kind(self.kind)
        if self.method != "pooled" and (self.omega != "auto" or self.estimand != "algorithm"):
            raise ValueError(
                f"omega and estimand belong to method='pooled', got method={self.method!r}, "
                f"omega={self.omega!r}, estimand={self.estimand!r}."
            )
        if self.estimand != "algorithm" and self.omega != "auto":
            raise ValueError(
                f"estimand={self.estimand!r} needs omega='auto', got omega={self.omega!r}."
            )
        return self


def check_metrics(metrics, n_classes, positive):
    """Return {name as asked: Metric}; None gives the usual ones."""
    if metrics is None:
        metrics = TWO_CLASS_METRICS if n_classes == 2 else MANY_CLASS_METRICS
    elif isinstance(metrics, str) or callable(metrics):
        metrics = [metrics]
    elif not isinstance(metrics, list | tuple | set | dict):
        raise TypeError(f"metrics must be a list of metrics, got {shown(metrics)}.")
    found = {}
    for name in metrics:
        metric = get_metric(name)
        if metric.average == "binary":
            metric.positive_index(n_classes, positive)
        elif metric.user:
            metric.evaluate(np.ones((2, n_classes, n_classes)))  # an early error if it is no metric
        found[name if isinstance(name, str) else metric.name] = metric
    if not found:
        raise ValueError("metrics must name at least one metric, got an empty list.")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class CrossValPosterior:
    """Posteriors of the metrics of a cross-validation.

    Made by :func:`cross_val_posterior` and :class:`BayesianCrossValidator`.

    Parameters
    ----------
    counts : ConfusionCounts
        One matrix per split that worked, shape (splits,).
    metrics : dict
        Metrics by the name that was asked for.
    settings : object
        Method, omega, estimand, prior, level and kind.
    splits : object
        Training and test rows per split, and repetitions.
    lost : tuple of int
        Splits that failed and are left out.
    seed : int
        Seed of everything that is drawn.
    assumed : bool
        Whether the splits are not known and taken to partition the rows.
    notes : tuple of str
        Warnings that were given when it was made.

    See Also
    --------
    cross_val_posterior : Makes it.
    fold_posterior : The methods, from counts alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import ConfusionCountsScorer, cross_val_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> results = cross_validate(tree, X, y, scoring=ConfusionCountsScorer(), return_indices=True)
    >>> cross_val_posterior(results)
    CrossValPosterior(5 folds, n=569, pos_label=1, method='pooled', metrics=['accuracy', ...])
    """

    counts: ConfusionCounts
    metrics: dict
    settings: Settings
    splits: Splits
    lost: tuple = ()
    seed: int = 0
    assumed: bool = False
    notes: tuple = ()
    _folds: dict = field(default_factory=dict, init=False)
    _warnings: list = field(default_factory=list, init=False)

    @property
    def n_folds(self) -> float:
        """Folds per repetition."""
        return len(self.counts) / self.splits.n_repeats

    @property
    def n_repeats(self) -> int:
        """Repetitions in which every row was tested once each."""
        return self.splits.n_repeats

    @property
    def n(self) -> float:
        """Rows that were tested, each counted once."""
        total = int(self.counts.counts.sum())
        return total // self.n_repeats if total % self.n_repeats == 0 else total / self.n_repeats

    def __repr__(self):
        repeats = f" x {self.n_repeats} repetitions" if self.n_repeats > 1 else ""
        parts = [f"{self.n_folds:g} fold{'s' * (self.n_folds != 1)}{repeats}", f"n={self.n:g}"]
        if self.assumed:
            parts[0] += " (assumed to partition the rows)"
        if self.counts.pos_label is not None:
            parts.append(f"pos_label={self.counts.pos_label!r}")
        parts += [f"method={self.settings.method!r}", f"metrics={list(self.metrics)}"]
        return f"CrossValPosterior({', '.join(parts)})"

    def folds(self, metric: Any, pos_label: Any = None) -> Folds:
        """Fold matrices with the metric that they are asked for.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        pos_label : label, default=None
            Positive class.

        Returns
        -------
        Folds
            What the methods work on.
        """
        key = (metric, pos_label)
        if key not in self._folds:
            known = self.metrics.get(metric, metric) if isinstance(metric, str) else metric
            self._folds[key] = Folds.of(
                self.counts, known, self.n_repeats, pos_label, random_state=self.seed
            )
        return self._folds[key]

    def posterior(
        self,
        metric: Any,
        method: str | None = None,
        *,
        omega: Any = None,
        estimand: str | None = None,
        prior: Any = None,
        rho: float | None = None,
        prior_per_fold: bool | None = None,
        pos_label: Any = None,
    ) -> Posterior:
        """Posterior of a metric.

        Parameters
        ----------
        metric : str, Metric or callable
            Any metric, see :func:`get_metric`.
        method : str, default=None
            See :func:`fold_posterior`; None: as set before. So are the other parameters.
        omega, estimand, prior, rho, prior_per_fold, pos_label : object
            See :func:`fold_posterior`.

        Returns
        -------
        Posterior
            The posterior, with ``diagnostics``.
        """
        asked = {"omega": omega, "estimand": estimand, "prior": prior}
        given = {name: value for name, value in asked.items() if value is not None}
        method = self._method_for(method, given)
        check_choice("method", method, METHODS)
        known = known_options(method)
        extra = {"rho": rho, "prior_per_fold": prior_per_fold}
        given |= {name: value for name, value in extra.items() if value is not None}
        foreign = [name for name in given if name not in known]
        if foreign:
            raise ValueError(f"method={method!r} has no {foreign[0]}, got {given[foreign[0]]!r}.")
        options = {"omega": self.settings.omega, "estimand": self.settings.estimand}
        if "omega" in given and given["omega"] != "auto" and "estimand" not in given:
            options["estimand"] = "algorithm"  # a given omega answers no other question
        options["prior"] = self.settings.prior
        options |= given
        if options["estimand"] != "algorithm" and options["omega"] != "auto":
            raise ValueError(f"estimand={options['estimand']!r} needs omega='auto'.")
        check_choice("estimand", options["estimand"], ESTIMANDS)
        if method in POOLING:
            self.splits.refuse_pooling(method)
        if method != "pooled":
            options |= {"omega": "auto", "estimand": "algorithm"}
        if method == "nadeau_bengio":
            options |= {"n_train": self.splits.n_train, "n_test": self.splits.n_test}
        return self.folds(metric, pos_label).posterior(method, warn=False, **options)

    def _method_for(self, method, given):
        if method is not None:
            return method
        pooled_only = {"omega", "estimand"} & set(given)
        return "pooled" if pooled_only else self.settings.method

    def interval(
        self,
        metric: Any,
        method: str | None = None,
        level: float | None = None,
        kind: str | None = None,
        *,
        omega: Any = None,
        estimand: str | None = None,
        prior: Any = None,
        rho: float | None = None,
        prior_per_fold: bool | None = None,
        pos_label: Any = None,
    ) -> Interval:
        """Interval of a metric.

        Parameters
        ----------
        metric : str, Metric or callable
            Any metric, see :func:`get_metric`.
        method : str, default=None
            See :func:`fold_posterior`; None: as set before. So are the other parameters.
        level : float, default=None
            Probability of the interval.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density.
        omega, estimand, prior, rho, prior_per_fold, pos_label : object
            See :func:`fold_posterior`.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        level = self.settings.level if level is None else check_level(level)
        kind = self.settings.kind if kind is None else check_kind(kind)
        posterior = self.posterior(
            metric,
            method,
            omega=omega,
            estimand=estimand,
            prior=prior,
            rho=rho,
            prior_per_fold=prior_per_fold,
            pos_label=pos_label,
        )
        return posterior.interval(level, kind)

    @cached_property
    def posteriors(self) -> dict:
        """Posterior of every metric that was asked for, by name."""
        with recorded(self._warnings):
            return {name: self.posterior(name) for name in self.metrics}

    @cached_property
    def intervals(self) -> dict:
        """Interval of every metric that was asked for, by name."""
        level, kind = self.settings.level, self.settings.kind
        posteriors = self.posteriors
        with recorded(self._warnings):
            return {name: p.interval(level, kind) for name, p in posteriors.items()}

    @property
    def question(self) -> str:
        """What the intervals are about, in words."""
        size = np.unique(self.splits.n_train)
        rows = f"{size[0]}" if size.size == 1 else f"{size[0]} to {size[-1]}"
        if self.settings.estimand == "model":
            return "How well does the one model do that is fitted on all rows?"
        return (
            f"How well does the algorithm do on average when it is trained on {rows} rows with "
            "these class counts?"
        )

    def disagreement(self) -> list:
        """Name the metrics on which the folds disagree more than sampling explains.

        Returns
        -------
        list of str
            One text per metric; empty if all is well.
        """
        if self.splits.obstacle:
            return []
        return [text for name in self.metrics if (text := self.folds(name).disagreement())]

    def warn(self) -> None:
        """One warning for lost folds, one for folds that disagree."""
        warn_of_lost_folds(self.lost, len(self.counts) + len(self.lost))
        if self.splits.overlap:
            warn_user(
                f"split {self.splits.overlap[0]} tests rows that it has trained on: its score says "
                "nothing about new rows.",
                UserWarning,
            )
        found = self.disagreement()
        if found:
            warn_of_disagreement(found)

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Settings, counts, and per metric the interval and the diagnostics.
        """
        settings = self.settings
        prior = settings.prior
        return {
            "method": settings.method,
            "level": settings.level,
            "kind": settings.kind,
            "prior": prior if isinstance(prior, str) else np.asarray(prior).tolist(),
            "question": self.question,
            "n": self.n,
            "seed": self.seed,
            "lost_folds": list(self.lost),
            "counts": self.counts.to_dict(),
            "metrics": {
                name: {
                    "low": self.intervals[name].low,
                    "high": self.intervals[name].high,
                    **posterior.diagnostics.to_dict(),
                }
                for name, posterior in self.posteriors.items()
            },
        }

    def to_frame(self) -> Any:
        """Table with one row per metric.

        Returns
        -------
        pandas.DataFrame
            Point values, interval, omega and diagnostics.
        """
        pandas = import_optional("pandas", "pandas", "CrossValPosterior.to_frame")
        rows = self.to_dict()["metrics"]
        frame = pandas.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "name"
        return frame

    def report(
        self, *, level: float | None = None, kind: str | None = None, digits: int | None = None
    ) -> IntervalReport:
        """All metrics with their intervals, the methods side by side, and warnings.

        Parameters
        ----------
        level : float, default=None
            Probability of the intervals; by default as set before.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density; by default as set before.
        digits : int, default=None
            Decimals; by default 3, more for narrow intervals. Never more than the Monte Carlo error
            supports.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        result = self
        if level is not None or kind is not None:
            settings = replace(
                self.settings,
                level=self.settings.level if level is None else check_level(level),
                kind=self.settings.kind if kind is None else check_kind(kind),
            )
            result = replace(self, settings=settings)
        return cv_report(result, check_digits(digits))

    def _repr_html_(self):
        return self.report()._repr_html_()


def cross_val_posterior(
    cv_results: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    metrics: Any = None,
    method: str = "pooled",
    omega: Any = "auto",
    estimand: str = "algorithm",
    prior: Any = 1.0,
    level: float = 0.95,
    kind: str = "eti",
    labels: Any = None,
    pos_label: Any = None,
    n_repeats: int | None = None,
    random_state: Any = None,
) -> CrossValPosterior:
    """Turn the result of ``cross_validate`` into posteriors.

    Parameters
    ----------
    cv_results : dict
        What ``cross_validate`` returned, either with ``scoring=ConfusionCountsScorer(...)`` or with
        ``return_estimator=True, return_indices=True``.
    X, y : array-like, default=None
        The data, needed if `cv_results` holds estimators but no counts.
    metrics : list of str, Metric or callable, default=None
        By default accuracy, precision, recall, f1 and mcc; with more than two classes accuracy,
        balanced_accuracy, f1_macro and mcc. Any other can be asked for later.
    method, omega, estimand, prior : object
        See :func:`fold_posterior`.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    labels : sequence, default=None
        The classes, as they were given to the scorer. By default those of `y` or of the estimators,
        otherwise 0, ..., C - 1.
    pos_label : label, default=None
        Positive class, as it was given to the scorer.
    n_repeats : int, default=None
        Repetitions of a repeated K-fold. Told from the indices if they are there
        (``return_indices=True``), otherwise 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of metrics that are drawn.

    Returns
    -------
    CrossValPosterior
        With ``posteriors``, ``intervals``, ``posterior(metric)``, ``interval(metric)`` and
        ``report()``.

    See Also
    --------
    BayesianCrossValidator : Runs the cross-validation as well.
    fold_posterior : From counts alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import cross_val_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> results = cross_validate(
    ...     tree, X, y, scoring="roc_auc", return_estimator=True, return_indices=True
    ... )
    >>> posterior = cross_val_posterior(results, X, y)
    >>> posterior.interval("f1")
    Interval(low=0.919..., high=0.959...)
    """
    counts, splits, lost = read_counts(cv_results, X, y, labels, pos_label)
    warn_of_lost_folds(lost, len(counts) + len(lost))
    settings = Settings(method, omega, estimand, prior, level, kind).check(counts.n_classes)
    assumed = splits is None
    if splits is None:
        repeats = 1 if n_repeats is None else check_integer("n_repeats", n_repeats, low=1)
        if n_repeats is None:
            warn_user(
                "cv_results does not hold the indices of the splits: the folds are taken to "
                "test every row once. Call cross_validate(..., return_indices=True), or give "
                "n_repeats=.",
                UserWarning,
            )
        if (len(counts) + len(lost)) % repeats:
            raise ValueError(
                f"n_repeats={repeats} must divide the number of folds, {len(counts) + len(lost)}."
            )
        size = np.asarray(counts.n)
        splits = Splits(size.sum() // repeats - size, size, repeats)
    elif n_repeats is not None and n_repeats != splits.n_repeats:
        raise ValueError(
            f"n_repeats={n_repeats} does not fit the indices in cv_results, in which rows are "
            f"tested {splits.n_repeats} times."
        )
    if method in POOLING:
        splits.refuse_pooling(method)
    positive = None if counts.pos_label is None else counts.labels.index(counts.pos_label)
    asked = check_metrics(metrics, counts.n_classes, positive)
    result = CrossValPosterior(
        counts, asked, settings, splits, lost, resolve_seed(random_state), assumed
    )
    result.warn()
    return result
