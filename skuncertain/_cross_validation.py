"""`BayesianCrossValidator`: cross-validation whose scores come with intervals."""

import time
from concurrent.futures import BrokenExecutor, CancelledError
from copy import copy
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
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from skuncertain._counts import ConfusionCounts
from skuncertain._cross_val_posterior import CrossValPosterior, Settings, check_metrics
from skuncertain._cv_counts import predict_folds, read_counts
from skuncertain._distributions import Posterior
from skuncertain._fold_methods import POOLING, check_omega
from skuncertain._intervals import Interval
from skuncertain._labels import as_labels, check_pos_label, encode, sorted_labels, to_numpy
from skuncertain._report import IntervalReport
from skuncertain._scorers import ConfusionCountsScorer, TolerantScorer
from skuncertain._splits import Splits, as_rows
from skuncertain._validation import check_bool, resolve_seed, shown
from skuncertain._warnings import recorded, warn_user

# A process that died (out of memory, a machine that went away) takes its folds with it, and joblib
# its whole call: loky says BrokenExecutor, dask says CancelledError.
_WORKER_LOST = (BrokenExecutor, CancelledError)
_ATTEMPTS = 3


def _run_again_if_a_worker_dies(function, *args, **kwargs):
    """Call a function that works in parallel; folds are clones, so a second run gives the same."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return function(*args, **kwargs)
        except _WORKER_LOST as error:
            if attempt == _ATTEMPTS:
                raise
            warn_user(
                f"a worker was lost ({type(error).__name__}: {str(error)[:100]}...): all folds are "
                f"run again, attempt {attempt + 1} of {_ATTEMPTS}.",
                RuntimeWarning,
            )


def _warn_of_unknown_classes(splits, codes, labels):
    """Tell if a split tests rows of a class that it could not learn."""
    for k, (train, test) in enumerate(splits):
        known, tested = (
            np.bincount(codes[part], minlength=len(labels)) > 0 for part in (train, test)
        )
        unknown = np.flatnonzero(tested & ~known)
        if unknown.size:
            warn_user(
                f"split {k} tests rows of class {labels[unknown[0]]!r} but trains on none: no "
                "model can get them right. Use a stratified or shuffled splitter.",
                UserWarning,
            )
            return


def _delegates(name):
    """Whether the refitted, or else the given, estimator has a method."""

    def check(self):
        if not self.refit:
            raise AttributeError(f"{name} needs the estimator fitted on all rows: set refit=True.")
        return hasattr(getattr(self, "estimator_", self.estimator), name)

    return check


def _align_columns(scores, estimators):
    """Give all folds the columns of all classes; a class that was not learnt has the score 0."""
    known = [getattr(estimator, "classes_", None) for estimator in estimators]
    known = [None if part is None else list(part) for part in known]
    classes = sorted({label for part in known for label in part or ()})
    for k, (part, labels) in enumerate(zip(scores, known, strict=True)):
        if part is None or labels is None or part.ndim != 2 or labels == classes:
            continue
        whole = np.zeros((len(part), len(classes)))
        whole[:, [classes.index(label) for label in labels]] = part
        scores[k] = whole
    return np.array(classes)


class BayesianCrossValidator(MetaEstimatorMixin, BaseEstimator):
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
        balanced_accuracy, f1_macro and mcc. Any other can be asked for after `fit`.
    method : str, default="pooled"
        See :func:`fold_posterior`. Splits in which rows are tested unequally often
        (``ShuffleSplit``) or learnt from unequally often (``TimeSeriesSplit``) allow
        "nadeau_bengio" only.
    omega : {"auto", "wang-li"} or float, default="auto"
        Weight of the pooled counts.
    estimand : {"algorithm", "model"}, default="algorithm"
        Whose performance: that of the algorithm on average over training sets of this size and
        class counts, or that of the one model fitted on all rows.
    prior : float, str or array-like of shape (C, C), default=1.0
        On each side of a proportion, see :func:`fold_posterior`.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    labels : sequence, default=None
        All classes; by default those in `y`.
    pos_label : label, default=None
        Positive class. With two classes the default is 1 if 1 is a label, otherwise the last label.
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
    predictions_ : list of ndarray
        Predicted labels of the test rows of every split (their rows are in
        ``cv_results_["indices"]["test"]``); None for a split that failed. With `keep_predictions`.
    score_classes_ : ndarray
        Classes of the columns of `scores_`; one column speaks for the last.
    scores_ : list of ndarray or None
        The same for ``predict_proba`` or else ``decision_function``, if there is one.
    refit_time_ : float
        Seconds for the fit on all rows.

    See Also
    --------
    cross_val_posterior : From the result of ``cross_validate``.
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
    Interval(low=0.967..., high=0.992...)
    >>> bcv.interval("f1", omega="wang-li")  # as published
    Interval(low=0.966..., high=0.992...)
    >>> bcv.predict(X[:3])
    array([0, 0, 0])
    """

    # A router, not a consumer: there is nothing to request for `groups` itself.
    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = None,
        metrics: Any = None,
        method: str = "pooled",
        omega: Any = "auto",
        estimand: str = "algorithm",
        prior: Any = 1.0,
        level: float = 0.95,
        kind: str = "eti",
        labels: Any = None,
        pos_label: Any = None,
        keep_predictions: bool = False,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        error_score: Any = "raise",
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.metrics = metrics
        self.method = method
        self.omega = omega
        self.estimand = estimand
        self.prior = prior
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
    ) -> "BayesianCrossValidator":
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
        for name in ("refit", "keep_predictions"):
            check_bool(name, getattr(self, name))
        y, codes, labels = self._check_y(X, y)
        pos_label = check_pos_label(labels, self.pos_label)
        positive = None if pos_label is None else labels.index(pos_label)
        settings = Settings(
            self.method, self.omega, self.estimand, self.prior, self.level, self.kind
        ).check(len(labels))
        asked = check_metrics(self.metrics, len(labels), positive)
        self._check_error_score()
        seed = resolve_seed(self.random_state)
        groups_for_split, fold_params, fit_params = self._route(groups, params)
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        # Split once, and look before the long work begins.
        n_rows = len(codes)
        splits = [
            (as_rows(train, n_rows), as_rows(test, n_rows))
            for train, test in cv.split(X, y, **groups_for_split)
        ]
        about = Splits.of([train for train, _ in splits], [test for _, test in splits])
        if self.method in POOLING:
            about.refuse_pooling(self.method)
        if self.method == "pooled":
            check_omega(self.omega, len(splits) / about.n_repeats)
        told: list = []
        with recorded(told):
            _warn_of_unknown_classes(splits, codes, labels)
        scorer = ConfusionCountsScorer(
            labels=labels,
            pos_label=pos_label,
            metrics=[
                metric if metric.name == name else name  # an alias stays the key
                for name, metric in asked.items()
                if metric.greater_is_better is not None
            ],
            cells=True,
        )
        results = _run_again_if_a_worker_dies(
            cross_validate,
            self.estimator,
            X,
            y,
            scoring=scorer if self.error_score == "raise" else TolerantScorer.of(scorer, y),
            cv=splits,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            params=fold_params,
            return_estimator=self.keep_predictions,
            return_indices=True,
            error_score=self.error_score,
        )
        if self.keep_predictions:
            self._keep_predictions(results.pop("estimator"), X, results["indices"]["test"])
        self.cv_results_ = results
        counts, left, lost = read_counts(results, None, None, labels, pos_label)
        self.result_ = CrossValPosterior(
            counts, asked, settings, left, lost, seed, notes=tuple(told)
        )
        if self.refit:
            start = time.perf_counter()
            self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
            self.refit_time_ = time.perf_counter() - start
        self._set_fitted_names(X, labels)
        self.result_.warn()
        return self

    def _check_y(self, X, y):
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        array = to_numpy("y", y)
        if array.size == 0:
            raise ValueError("y is empty: there are 0 sample(s), at least two are needed.")
        if array.dtype.kind == "f":
            assert_all_finite(array, input_name="y")
        check_classification_targets(array)
        if array.ndim > 1:
            raise ValueError(
                f"y must hold one class label per row, got shape {array.shape}. Multilabel targets "
                "have one confusion matrix per label."
            )
        found = sorted_labels(array, array)
        if self.labels is None and len(found) < 2:
            raise ValueError(
                f"y holds only one class, {found[0]!r}, so there is nothing to learn. Name all "
                "classes with labels=[...] if this is meant."
            )
        labels = as_labels(found if self.labels is None else self.labels)
        return y, encode(array, labels, "y"), labels

    def _check_error_score(self):
        value = self.error_score
        is_nan = isinstance(value, float) and np.isnan(value)
        if not (is_nan or (isinstance(value, str) and value == "raise")):
            raise ValueError(
                "error_score must be 'raise' or nan (the fold is left out): a number cannot stand "
                f"for a confusion matrix, got {shown(value)}."
            )

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
            if all(hasattr(estimator, name) for estimator in estimators):
                self.scores_ = predict_folds(estimators, X, tests, name)
                self.score_classes_ = _align_columns(self.scores_, estimators)
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
    # What it says

    @property
    def counts_(self) -> ConfusionCounts:
        """One confusion matrix per split that worked."""
        return self._result().counts

    @property
    def posteriors_(self) -> dict:
        """Posterior of every metric, by name."""
        return dict(self._result().posteriors)

    @property
    def intervals_(self) -> dict:
        """Interval of every metric, by name."""
        return dict(self._result().intervals)

    def _result(self):
        if not hasattr(self, "result_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet: call fit.")
        return self.result_

    def posterior(self, metric: Any, method: str | None = None, **options: Any) -> Posterior:
        """Posterior of any metric.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        method : str, default=None
            See :func:`fold_posterior`; by default that of the constructor.
        **options : dict
            ``omega, estimand, prior, rho, prior_per_fold, pos_label``, see :func:`fold_posterior`.

        Returns
        -------
        Posterior
            The posterior, with ``diagnostics``.
        """
        check_is_fitted(self)
        return self.result_.posterior(metric, method, **options)

    def interval(
        self,
        metric: Any,
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
        check_is_fitted(self)
        return self.result_.interval(metric, method, level, kind, **options)

    def report(
        self, *, level: float | None = None, kind: str | None = None, digits: int | None = None
    ) -> IntervalReport:
        """All metrics with their intervals, the methods side by side, and warnings.

        Parameters
        ----------
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
        check_is_fitted(self)
        return self.result_.report(level=level, kind=kind, digits=digits)

    # ----------------------------------------------------------------------------------------------
    # The estimator fitted on all rows

    @available_if(_delegates("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predicted labels of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The labels.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The probabilities.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_delegates("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The logarithms.
        """
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_delegates("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the estimator fitted on all rows.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            The values.
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @available_if(_delegates("score"))
    def score(self, X: Any, y: ArrayLike) -> float:
        """Score of the estimator fitted on all rows, as that estimator defines it.

        Parameters
        ----------
        X : array-like
            Rows.
        y : array-like
            True labels.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        return self.estimator_.score(X, y)
