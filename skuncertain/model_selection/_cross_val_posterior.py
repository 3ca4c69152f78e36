"""Posteriors of a finished cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import LabelLike, MetricLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_bool,
    check_kind,
    check_level,
    check_random_state,
    data_frame,
    resolve_seed,
)
from skuncertain._utils.warnings import collect_into, silence
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import get_metric
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.model_selection._cross_val_methods import check_methods
from skuncertain.model_selection._cross_val_report import cv_report, question_text
from skuncertain.model_selection._cross_val_scores import read_scores
from skuncertain.model_selection._fold_methods import (
    FoldOptions,
    check_option,
    find_method,
)
from skuncertain.model_selection._fold_score_posterior import ScoredFolds, posterior_of_folds
from skuncertain.model_selection._fold_variance import ESTIMANDS
from skuncertain.model_selection._folds import Folds, pooled_counts, warn_of_disagreement
from skuncertain.model_selection._read_cross_validate import (
    assumed_splits,
    check_fold_counts,
    holds_only_scores,
    read_counts,
    refuse_repeats,
)
from skuncertain.model_selection._read_fold_scores import read_metrics, scored_folds
from skuncertain.model_selection._splits import Splits, warn_of_splits
from skuncertain.model_selection._stability import Stability, ask_models, check_models
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._interval import Interval


@dataclass(frozen=True, eq=False, repr=False)
class CrossValPosterior(HasReport):
    """Posteriors of the metrics of a cross-validation.

    Made by :func:`cross_val_posterior`, :class:`BayesianCrossValidator` and, from a finished
    ``cross_validate``, by `from_cv_results`; from one confusion matrix per fold by `from_counts`.

    Parameters
    ----------
    counts : ConfusionCounts
        One matrix per split that worked, shape (splits,).
    metrics : dict
        Metrics by the name that was asked for.
    options : object
        Method, omega, estimand and prior.
    splits : object
        Training and test rows per split, and repetitions.
    failed_folds : tuple of int
        Splits that failed and are left out.
    seed : int
        Seed of everything that is drawn.
    assumed : bool
        Whether the splits are not known and taken to partition the rows.
    notes : tuple of str
        Warnings that were given when it was made.
    level : float
        Probability of the intervals.
    kind : {"eti", "hdi"}
        Equal-tailed or highest-density.
    stability : object
        What the models of all folds say about the same rows; None if they were not asked.
    fold_params : list of dict or None
        Parameters that an inner search chose in every split, None for one that failed.
    moments : dict
        What the folds say about metrics of scores and probabilities, by name.

    See Also
    --------
    cross_val_posterior : Makes it.
    fold_posterior : The methods, from counts alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import cross_val_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_posterior(DecisionTreeClassifier(max_depth=2, random_state=0), X, y)
    CrossValPosterior(5 folds, n=569, pos_label=1, method='pooled', metrics=['accuracy', ...])
    """

    counts: ConfusionCounts
    metrics: dict
    options: FoldOptions
    splits: Splits
    failed_folds: tuple = ()
    seed: int = 0
    assumed: bool = False
    notes: tuple = ()
    level: float = 0.95
    kind: str = "eti"
    stability: Stability | None = None
    fold_params: list | None = None
    moments: dict = field(default_factory=dict)
    _folds: dict = field(default_factory=dict, init=False)
    _warnings: list = field(default_factory=list, init=False)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        metrics: MetricsLike | dict | None = None,
        method: str | None = None,
        omega: Any = "auto",
        estimand: str = "fitted",
        prior: PriorLike = 1.0,
        stability: bool = True,
        level: float = 0.95,
        kind: str = "eti",
        labels: Any = None,
        pos_label: LabelLike = None,
        n_repeats: int | None = None,
        random_state: RandomStateLike = None,
    ) -> Any:
        """Turn the result of ``cross_validate`` into posteriors.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate`` returned, with ``scoring=ConfusionCountsScorer(...)`` or with
            ``return_estimator=True, return_indices=True``. Scores alone allow t intervals: those
            of counts are shorter as a rule, and hold their level near 0 and 1 as well.
        X, y : array-like, default=None
            The data, needed if `cv_results` holds estimators but no counts.
        metrics : list of str, Metric or callable, default=None
            By default accuracy, precision, recall, f1 and mcc (without a positive class accuracy,
            balanced_accuracy, f1_macro and mcc), and those of scores and probabilities that the
            scorer was asked for. Any other of the confusion matrix can be asked for later. Of
            scores alone: all, or those named; ``{"score": "f1"}`` says that ``test_score`` is F1.
        method, omega, estimand, prior : object
            See :func:`fold_posterior`; scores alone allow "nadeau_bengio", "corrected_t" and "t".
        stability : bool, default=True
            Whether estimators in `cv_results` also predict the same rows, if X and y are given; see
            :class:`BayesianCrossValidator`.
        level : float, default=0.95
            Probability of the intervals.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        labels : sequence, default=None
            The classes, as they were given to the scorer. By default those of `y` or of the
            estimators, otherwise 0, ..., C - 1.
        pos_label : label, default=None
            Positive class, as it was given to the scorer.
        n_repeats : int, default=None
            Repetitions of a repeated K-fold. Told from the indices if they are there
            (``return_indices=True``), otherwise 1.
        random_state : int, Generator, RandomState or None, default=None
            Seed of metrics that are drawn.

        Returns
        -------
        CrossValPosterior or CrossValScores
            With ``posteriors``, ``intervals``, ``posterior(metric)``, ``interval(metric)``,
            ``report()``.

        See Also
        --------
        cross_val_posterior, BayesianCrossValidator : Run the cross-validation as well.
        fold_posterior : From counts alone.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import cross_validate
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from skuncertain.model_selection import CrossValPosterior
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
        >>> results = cross_validate(
        ...     tree, X, y, scoring="roc_auc", return_estimator=True, return_indices=True
        ... )
        >>> posterior = CrossValPosterior.from_cv_results(results, X, y)
        >>> posterior.interval("f1")
        Interval(low=0.917..., high=0.960...)
        """
        if holds_only_scores(cv_results, X, y, method):
            check_random_state(random_state)
            others = dict(omega=omega, estimand=estimand, prior=prior)
            others |= dict(labels=labels, pos_label=pos_label)
            return read_scores(cv_results, metrics, method, n_repeats, level, kind, others)
        counts, splits, failed_folds = read_counts(cv_results, X, y, labels, pos_label)
        asked, moments = read_metrics(cv_results, X, y, metrics, counts, failed_folds)
        method = "pooled" if method is None else method
        options = FoldOptions(method, omega, estimand, prior)
        options.prior_for(counts.n_classes)
        assumed = splits is None
        if assumed:
            splits = assumed_splits(counts, len(failed_folds), n_repeats)
        splits.refuse_repeats(n_repeats)
        if options.pools:
            splits.refuse_pooling(method)
        models = None
        if check_bool("stability", stability) and X is not None and "estimator" in cv_results:
            models = ask_models(cv_results["estimator"], X, y, counts.labels, splits, failed_folds)
        result = cls(
            counts,
            asked,
            options,
            splits,
            failed_folds,
            seed=resolve_seed(random_state),
            assumed=assumed,
            level=check_level(level),
            kind=check_kind(kind),
            stability=models,
            moments=moments,
        )
        result.warn()
        return result

    @classmethod
    def from_counts(
        cls,
        counts: ConfusionCounts,
        *,
        n_repeats: int = 1,
        metrics: MetricsLike | None = None,
        method: str = "pooled",
        omega: Any = "auto",
        estimand: str = "fitted",
        prior: PriorLike = 1.0,
        stability_counts: ArrayLike | None = None,
        level: float = 0.95,
        kind: str = "eti",
        random_state: RandomStateLike = None,
    ) -> CrossValPosterior:
        """Turn one confusion matrix per fold into posteriors.

        Parameters
        ----------
        counts : ConfusionCounts of shape (folds,)
            One matrix per fold; together they test every row `n_repeats` times.
        n_repeats : int, default=1
            Repetitions of the folds: it divides the number of folds and the rows of every class.
        metrics, method, omega, estimand, prior : object
            See :meth:`from_cv_results`.
        stability_counts : array-like of shape (folds, C, C) or (folds, 2, C, C), default=None
            Matrices of every fold's model on the same rows, see :func:`fold_posterior`.
        level, kind, random_state : object
            See :meth:`from_cv_results`.

        Returns
        -------
        CrossValPosterior
            As from :meth:`from_cv_results`.

        See Also
        --------
        fold_posterior : One metric, also for stacks of cross-validations.

        Examples
        --------
        >>> from skuncertain import ConfusionCounts
        >>> from skuncertain.model_selection import CrossValPosterior
        >>> folds = ConfusionCounts([[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]])
        >>> CrossValPosterior.from_counts(folds).interval("recall")
        Interval(low=0.577..., high=0.867...)
        """
        check_fold_counts(counts)
        options = FoldOptions(method, omega, estimand, prior)
        options.prior_for(counts.n_classes)
        splits = assumed_splits(counts, 0, n_repeats)
        refuse_repeats(counts, splits.n_repeats)
        models = None
        if stability_counts is not None:
            matrices = check_models(stability_counts, counts)
            models = Stability(matrices, counts.labels, n_repeats=splits.n_repeats)
        result = cls(
            counts,
            check_metrics(metrics, counts.labels, counts.pos_label),
            options,
            splits,
            seed=resolve_seed(random_state),
            assumed=True,
            level=check_level(level),
            kind=check_kind(kind),
            stability=models,
        )
        result.warn()
        return result

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
        total = float(pooled_counts(self.counts, self.n_repeats).n)
        return int(total) if total.is_integer() else total

    def __repr__(self):
        repeats = f" x {self.n_repeats} repetitions" if self.n_repeats > 1 else ""
        parts = [f"{self.n_folds:g} fold{'s' * (self.n_folds != 1)}{repeats}", f"n={self.n:g}"]
        if self.assumed:
            parts[0] += " (assumed to partition the rows)"
        if self.counts.pos_label is not None:
            parts.append(f"pos_label={self.counts.pos_label!r}")
        parts += [f"method={self.options.method!r}", f"metrics={list(self.metrics)}"]
        return f"CrossValPosterior({', '.join(parts)})"

    def folds(self, metric: MetricLike, pos_label: LabelLike = None) -> Folds | ScoredFolds:
        """Fold matrices with the metric that they are asked for.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.

        Returns
        -------
        Folds or ScoredFolds
            What the methods work on.
        """
        key = (metric, pos_label)
        if key not in self._folds:
            self._folds[key] = self._folds_of(metric, pos_label)
        return self._folds[key]

    def _folds_of(self, metric, pos_label):
        known = get_metric(self.metrics.get(metric, metric) if isinstance(metric, str) else metric)
        if isinstance(known, ScoreMetric):
            return scored_folds(self.moments, known, self.counts, self.n_repeats, pos_label)
        models = None if self.stability is None else self.stability.counts
        return Folds.of(
            self.counts, known, self.n_repeats, pos_label, random_state=self.seed, models=models
        )

    def posterior(
        self,
        metric: MetricLike,
        method: str | None = None,
        *,
        omega: Any = None,
        estimand: str | None = None,
        prior: PriorLike | None = None,
        rho: float | None = None,
        prior_per_fold: bool | None = None,
        pos_label: LabelLike = None,
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
        options = self._options_of(
            method,
            omega=omega,
            estimand=estimand,
            prior=prior,
            rho=rho,
            prior_per_fold=prior_per_fold,
        )
        if options.pools:
            self.splits.refuse_pooling(options.method)
        return posterior_of_folds(self.folds(metric, pos_label), options)

    def _options_of(self, method: str | None = None, **asked: Any) -> FoldOptions:
        """Options of a method: what was not asked for is as set before, if the method knows it."""
        asked = {name: value for name, value in asked.items() if value is not None}
        if method is None:
            pooled_only = {"omega", "estimand"} & asked.keys()
            method = "pooled" if pooled_only else self.options.method
        known = find_method(method).options
        for name in asked:
            check_option(method, name)
        before = {
            "omega": self.options.omega,
            "estimand": self.options.estimand,
            "prior": self.options.prior,
            "n_train": self.splits.n_train,
            "n_test": self.splits.n_test,
        }
        if asked.get("omega", "auto") != "auto":
            before["estimand"] = "fitted"  # a given omega answers no other question
        before = {name: value for name, value in before.items() if name in known}
        return FoldOptions(method, **(before | asked))

    def interval(
        self,
        metric: MetricLike,
        method: str | None = None,
        level: float | None = None,
        kind: str | None = None,
        **options: Any,
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
        **options : dict
            ``omega, estimand, prior, rho, prior_per_fold, pos_label``, see :func:`fold_posterior`.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        level = self.level if level is None else check_level(level)
        kind = self.kind if kind is None else check_kind(kind)
        return self.posterior(metric, method, **options).interval(level, kind)

    @cached_property
    def posteriors(self) -> dict:
        """Posterior of every metric that was asked for, by name."""
        with collect_into(self._warnings):
            return {name: self.posterior(name) for name in self.metrics}

    @cached_property
    def _answers(self) -> dict:
        """Posteriors of every metric, by name, for each of the three estimands."""
        found: dict = {}
        for estimand in ESTIMANDS:
            if (self.options.method, self.options.omega) == ("pooled", "auto") and (
                self.options.estimand == estimand
            ):
                found[estimand] = self.posteriors
                continue
            with silence():  # told of the estimand that was asked for
                found[estimand] = {
                    name: self.posterior(name, "pooled", omega="auto", estimand=estimand)
                    for name in self.metrics
                }
        return found

    @cached_property
    def intervals(self) -> dict:
        """Interval of every metric that was asked for, by name."""
        with collect_into([]):  # metrics that warn alike warn once
            return {
                name: posterior.interval(self.level, self.kind)
                for name, posterior in self.posteriors.items()
            }

    @property
    def question(self) -> str:
        """What the intervals are about, in words."""
        return question_text(self.options.question, len(self.counts), self.splits.n_train)

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

    def warn(self, reason: str = "") -> None:
        """One warning for failed folds, one for folds that disagree.

        Parameters
        ----------
        reason : str, default=""
            Why folds failed, where it is known.
        """
        warn_of_splits(self.splits, self.failed_folds, len(self.counts), reason)
        if found := self.disagreement():
            warn_of_disagreement(found)

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Settings, counts, and per metric the interval and the diagnostics.
        """
        prior = self.options.prior
        return {
            "method": self.options.method,
            "level": self.level,
            "kind": self.kind,
            "prior": prior if isinstance(prior, str) else np.asarray(prior).tolist(),
            "question": self.question,
            "n": self.n,
            "seed": self.seed,
            "failed_folds": list(self.failed_folds),
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
        rows = self.to_dict()["metrics"]
        return data_frame(self, list(rows.values()), index=list(rows)).rename_axis("name")

    def report(
        self,
        *,
        methods: Any = None,
        level: float | None = None,
        kind: str | None = None,
        digits: int | None = None,
    ) -> IntervalReport:
        """All metrics with their intervals, the methods side by side, and warnings.

        Parameters
        ----------
        methods : list of str or float, or dict, default=None
            Methods to show beside the one that was asked for: names of :func:`fold_posterior`,
            "auto" and "wang_li" or numbers for the omega of "pooled", or a dict of options of
            `posterior` by title. By default "auto", "wang_li", "averaged", "dirichlet",
            "bootstrap" (1,000 resamples) and "corrected_t".
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
        level = self.level if level is None else check_level(level)
        kind = self.kind if kind is None else check_kind(kind)
        return cv_report(self, level, kind, check_digits(digits), check_methods(methods))
