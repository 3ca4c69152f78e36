"""`BayesianCrossValidator`: cross-validation whose scores come with intervals."""

from __future__ import annotations

import time
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.retry import retry_lost_workers
from skuncertain._utils.typing import LabelLike, MetricLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    check_bool,
    check_kind,
    check_level,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import collect_into
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._scorer import ChoiceScorer, TolerantScorer
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._fold_methods import FoldOptions, check_omega
from skuncertain.model_selection._read_cross_validate import (
    ALL_FAILED,
    predict_folds,
    read_counts,
)
from skuncertain.model_selection._read_fold_scores import check_answers, read_moments
from skuncertain.model_selection._refitted import RefittedPredictions
from skuncertain.model_selection._splits import (
    Splits,
    align_columns,
    as_rows,
    check_target,
    counting_scorer,
    warn_of_unknown_classes,
)
from skuncertain.model_selection._stability import MOST_CLASSES, Reference, StabilityScorer
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._interval import Interval

# Errors of other processes stay there.
_SEE_ERROR = "error_score='raise' shows the error."


class BayesianCrossValidator(RefittedPredictions, MetaEstimatorMixin, BaseEstimator, HasReport):
    """Cross-validate a classifier and give every score an interval (this is not a splitter).

    Parameters
    ----------
    estimator : object
        Classifier, pipeline or search. ``BayesianCrossValidator(GridSearchCV(...))`` is nested
        cross-validation.
    cv : int, splitter or iterable, default=None
        As in ``cross_validate``: None is 5 folds, stratified for classifiers.
    metrics : list of str, Metric or callable, default=None
        By default accuracy, precision, recall, f1 and mcc; with more than two classes accuracy,
        balanced_accuracy, f1_macro and mcc. Any other metric of the confusion matrix can be asked
        for after `fit`; those of scores and probabilities ("roc_auc", "neg_log_loss") only here.
    method : str, default="pooled"
        See :func:`fold_posterior`. Splits in which rows are tested unequally often
        (``ShuffleSplit``) or learnt from unequally often (``TimeSeriesSplit``) allow
        "nadeau_bengio" only.
    omega : {"auto", "wang_li"} or float, default="auto"
        Weight of the pooled counts.
    estimand : {"fitted", "algorithm", "final"}, default="fitted"
        Whose performance: that of the models fitted here, on average over the folds; that of the
        same algorithm on other training sets of this size and class counts; or that of the one
        model fitted on all rows. `report` answers all three.
    prior : float, str or array-like of shape (C, C), default=1.0
        On each side of a proportion, see :func:`fold_posterior`.
    stability : bool, default=True
        Whether every fold's model also predicts the same rows (all, at most 2,000), which tells how
        much the models differ: intervals of stable learners get shorter, those of unstable ones
        longer. No model is kept. It costs K times as many predictions; False leaves it out.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    labels : sequence, default=None
        All classes; by default those in `y`.
    pos_label : label, default=None
        Positive class, see :class:`ConfusionCounts`; without one the metrics need none.
    keep_predictions : bool, default=False
        Whether to keep the predictions of the test rows.
    refit : bool, default=True
        Whether to fit a copy of the estimator on all rows; `predict` and its like need it.
    n_jobs : int, default=None
        Folds to fit at the same time, as in ``cross_validate``. Counts do not depend on it.
    verbose : int, default=0
        Progress messages.
    random_state : int, Generator, RandomState or None, default=None
        Seed of metrics whose posterior is drawn. It does not touch the splits or the estimator.
    error_score : "raise" or nan, default="raise"
        What to do if a fold fails: stop, or leave the fold out with a warning.

    Attributes
    ----------
    cv_results_ : dict
        What ``cross_validate`` returned, with the indices of the splits.
    counts_ : ConfusionCounts
        One matrix per split, R times K if the folds are repeated, in the order of the splits.
    stability_ : object
        What the models of all folds say about the same rows, with their confusion matrices as
        `counts`; None without `stability`.
    posteriors_ : dict
        Posterior of every metric; computed when first asked for.
    intervals_ : dict
        Interval of every metric; computed when first asked for.
    result_ : CrossValPosterior
        All of that without the data: what :func:`cross_val_posterior` returns.
    estimator_ : object
        Estimator fitted on all rows, with `refit`.
    classes_ : ndarray of shape (C,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the estimator knows them.
    fold_params_ : list of dict or None
        What a search, as `estimator`, chose in every split; None for a split that failed.
    predictions_ : list of ndarray
        Predicted labels of the test rows of every split (their rows are in
        ``cv_results_["indices"]["test"]``); None for a split that failed. With `keep_predictions`.
    y_true_ : array-like of shape (n,)
        Labels of all rows, for comparisons of several cross-validators. With `keep_predictions`.
    score_classes_ : ndarray
        Classes of the columns of `scores_`; one column speaks for the last.
    scores_ : list of ndarray or None
        The same for ``predict_proba`` or else ``decision_function``, if there is one.
    pos_label_ : label or None
        Positive class; None if nothing tells which one it is.
    refit_time_ : float
        Seconds for the fit on all rows.

    See Also
    --------
    cross_val_posterior : The same as a function, for the posteriors alone.
    CrossValPosterior.from_cv_results : From the result of ``cross_validate``.
    ConfusionCountsScorer : What collects the counts.
    fold_posterior : The methods.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skuncertain import BayesianCrossValidator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> bcv = BayesianCrossValidator(model, cv=10).fit(X, y)
    >>> bcv.interval("f1")
    Interval(low=0.970..., high=0.992...)
    >>> bcv.interval("f1", omega="wang_li")  # as published
    Interval(low=0.966..., high=0.992...)
    >>> bcv.predict(X[:3])
    array([0, 0, 0])
    >>> scored = BayesianCrossValidator(model, cv=10, metrics=["roc_auc", "neg_brier_score"])
    >>> scored.fit(X, y).intervals_
    {'roc_auc': Interval(low=0.986..., high=0.998...),
     'neg_brier_score': Interval(low=-0.0..., high=-0.0...)}
    """

    # A router, not a consumer: there is nothing to request for `groups` itself.
    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = None,
        metrics: MetricsLike | None = None,
        method: str = "pooled",
        omega: Any = "auto",
        estimand: str = "fitted",
        prior: PriorLike = 1.0,
        stability: bool = True,
        level: float = 0.95,
        kind: str = "eti",
        labels: Any = None,
        pos_label: LabelLike = None,
        keep_predictions: bool = False,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomStateLike = None,
        error_score: Any = "raise",
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.metrics = metrics
        self.method = method
        self.omega = omega
        self.estimand = estimand
        self.prior = prior
        self.stability = stability
        self.level = level
        self.kind = kind
        self.labels = labels
        self.pos_label = pos_label
        self.keep_predictions = keep_predictions
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.error_score = error_score

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy(inner.classifier_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False  # one confusion matrix per fold
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        tags.target_tags.required = True
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Where the arguments of `fit` go: to the estimator's `fit` and to the splitter.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        return (
            MetadataRouter(owner=type(self).__name__)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
            .add(
                splitter=check_cv(self.cv),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def fit(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None, **params: Any
    ) -> BayesianCrossValidator:
        """Run the cross-validation.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows.
        y : array-like of shape (n,)
            Class labels.
        groups : array-like of shape (n,), default=None
            Groups for the splitter.
        **params : dict
            Further arguments for the estimator's `fit`, such as `sample_weight` (which weights the
            fit, never the counts). With metadata routing they go where they are requested.

        Returns
        -------
        BayesianCrossValidator
            The fitted object.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # nothing of an earlier fit is to be left
        check_bool("refit", self.refit)
        check_bool("keep_predictions", self.keep_predictions)
        check_bool("stability", self.stability)
        target = check_target(X, y, self.labels, self.pos_label, type(self).__name__)
        options = FoldOptions(self.method, self.omega, self.estimand, self.prior)
        options.prior_for(len(target.labels))
        level, kind = check_level(self.level), check_kind(self.kind)
        metrics = check_metrics(self.metrics, target.labels, target.pos_label, scored=True)
        tolerant = isinstance(self.error_score, float) and np.isnan(self.error_score)
        refuse_if(
            not (tolerant or (isinstance(self.error_score, str) and self.error_score == "raise")),
            "error_score",
            "error_score must be 'raise' or nan (the fold is left out): a number cannot stand "
            "for a confusion matrix, got {value}.",
            self.error_score,
        )
        check_answers(self.estimator, X, target, metrics.values())
        seed = resolve_seed(self.random_state)
        split_params, fold_params, fit_params = self._route(groups, params)
        notes: list = []
        with collect_into(notes):
            splits, known = self._split(X, target, options, split_params)
        self.cv_results_, stability, reason = self._run(
            X, target, splits, metrics, fold_params, known.n_repeats
        )
        chosen = ChoiceScorer.take(self.cv_results_)
        counts, left, failed_folds = read_counts(
            self.cv_results_, None, None, target.labels, target.pos_label, known
        )
        with collect_into(notes):
            stability = stability and stability.without(failed_folds)
        self.result_ = CrossValPosterior(
            counts,
            metrics,
            options,
            left,
            failed_folds,
            seed,
            notes=tuple(notes),
            level=level,
            kind=kind,
            stability=stability,
            fold_params=chosen,
            moments=read_moments(self.cv_results_, metrics.values(), failed_folds),
        )
        if self.refit:
            start = time.perf_counter()
            self.estimator_ = clone(self.estimator).fit(X, target.y, **fit_params)
            self.refit_time_ = time.perf_counter() - start
        self.pos_label_ = target.pos_label
        self._set_fitted_names(X, target.labels)
        self.result_.warn(reason)
        return self

    def _split(self, X, target, options, split_params):
        """Split once, and look before the long work begins."""
        cv = check_cv(self.cv, target.y, classifier=is_classifier(self.estimator))
        n_rows = len(target.codes)
        splits = [
            (as_rows(train, n_rows), as_rows(test, n_rows))
            for train, test in cv.split(X, target.y, **split_params)
        ]
        known = Splits.of([train for train, _ in splits], [test for _, test in splits])
        if options.pools:
            known.refuse_pooling(options.method)
        check_omega(options.omega, len(splits) / known.n_repeats)
        warn_of_unknown_classes(splits, target)
        return splits, known

    def _run(self, X, target, splits, metrics, fold_params, n_repeats):
        """Result of ``cross_validate``, what models say of the same rows, why folds failed."""
        scorer = counter = counting_scorer(target, metrics)
        asking = None
        if self.stability and len(target.labels) <= MOST_CLASSES:
            scorer = asking = StabilityScorer(counter, Reference.of(X, target.codes, target.labels))
        if self.error_score != "raise":
            keys = (*counter._keys_of(target.y), *(asking.keys if asking else ()))
            scorer = TolerantScorer(scorer, keys)
        run = partial(
            cross_validate,
            self.estimator,
            X,
            target.y,
            scoring=ChoiceScorer(scorer),
            cv=splits,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            params=fold_params,
            return_estimator=self.keep_predictions,
            return_indices=True,
            error_score=self.error_score,
        )
        # Folds are clones, so a second run gives the same.
        results = retry_lost_workers(run, "all folds are run again")
        stability = asking and asking.take(results, n_repeats)
        errors = getattr(scorer, "errors", [])
        reason = f"Predictions that cannot be counted: {errors[0]}" if errors else _SEE_ERROR
        counted = next(value for key, value in results.items() if key.startswith("test_"))
        failed = np.isnan(np.asarray(counted, dtype=float))
        refuse_if(failed.all(), "estimator", f"{ALL_FAILED} {reason}".strip())
        if self.keep_predictions:
            estimators = results.pop("estimator")
            estimators = [None if lost else it for it, lost in zip(estimators, failed, strict=True)]
            self._keep_predictions(estimators, X, results["indices"]["test"])
            self.y_true_ = target.y
        return results, stability, reason

    def _route(self, groups, params):
        """Arguments of split, of cross_validate and of the fit on all rows."""
        if not get_config()["enable_metadata_routing"]:
            return {"groups": groups}, params, params
        if groups is not None:
            params = {**params, "groups": groups}
        routed = process_routing(self, "fit", **params)
        wanted = get_routing_for_object(self.estimator).consumes(method="fit", params=params.keys())
        fold_params = {name: value for name, value in params.items() if name in wanted}
        return routed.splitter.split, fold_params, routed.estimator.fit

    def _keep_predictions(self, estimators, X, tests):
        self.predictions_ = predict_folds(estimators, X, tests)
        self.scores_ = None
        for name in ("predict_proba", "decision_function"):
            if all(hasattr(estimator, name) for estimator in estimators if estimator is not None):
                self.scores_ = predict_folds(estimators, X, tests, name)
                self.score_classes_ = align_columns(self.scores_, estimators)
                break

    def _set_fitted_names(self, X, labels):
        self.classes_ = np.array(labels)
        if self.refit:
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(self.estimator_, name):
                    setattr(self, name, getattr(self.estimator_, name))
        elif np.ndim(X) == 2 or hasattr(X, "columns"):
            self.n_features_in_ = np.shape(X)[1]

    # ----------------------------------------------------------------------------------------------
    # Posteriors and intervals

    @property
    def counts_(self) -> ConfusionCounts:
        """One confusion matrix per split that worked."""
        return self._fitted("result_").counts

    @property
    def stability_(self) -> Any:
        """What the models of all folds say about the same rows; None if they were not asked."""
        return self._fitted("result_").stability

    @property
    def fold_params_(self) -> list | None:
        """Parameters that an inner search chose in every split."""
        return self._fitted("result_").fold_params

    @property
    def posteriors_(self) -> dict:
        """Posterior of every metric, by name."""
        return dict(self._fitted("result_").posteriors)

    @property
    def intervals_(self) -> dict:
        """Interval of every metric, by name."""
        return dict(self._fitted("result_").intervals)

    def posterior(self, metric: MetricLike, method: str | None = None, **options: Any) -> Posterior:
        """Posterior of any metric.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`; one of scores or probabilities must be among `metrics`.
        method : str, default=None
            See :func:`fold_posterior`; by default that of the constructor. Metrics of scores have
            "pooled", "nadeau_bengio", "corrected_t" and "t".
        **options : dict
            ``omega, estimand, prior, rho, prior_per_fold, pos_label``, see :func:`fold_posterior`.

        Returns
        -------
        Posterior
            The posterior, with ``diagnostics``.
        """
        return self._fitted("result_").posterior(metric, method, **options)

    def interval(
        self,
        metric: MetricLike,
        method: str | None = None,
        level: float | None = None,
        kind: str | None = None,
        **options: Any,
    ) -> Interval:
        """Interval of any metric.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        method : str, default=None
            See :func:`fold_posterior`; by default that of the constructor.
        level : float, default=None
            Probability of the interval; by default that of the constructor.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density; by default that of the constructor.
        **options : dict
            ``omega, estimand, prior, rho, prior_per_fold, pos_label``, see :func:`fold_posterior`.

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        return self._fitted("result_").interval(metric, method, level, kind, **options)

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
            Methods to show beside the one that was asked for, see :meth:`CrossValPosterior.report`.
        level : float, default=None
            Probability of the intervals; by default that of the constructor.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density; by default that of the constructor.
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        return self._fitted("result_").report(
            methods=methods, level=level, kind=kind, digits=digits
        )
