"""`cross_val_posterior`: a cross-validation as a function."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from skuncertain._utils.typing import LabelLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import refuse_if
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_validator import BayesianCrossValidator


def cross_val_posterior(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
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
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Any = None,
    random_state: RandomStateLike = None,
    error_score: Any = "raise",
) -> CrossValPosterior:
    """Cross-validate a classifier and return the posteriors of its metrics.

    Parameters
    ----------
    estimator : object
        Classifier, pipeline or search.
    X : array-like of shape (n, features)
        Rows.
    y : array-like of shape (n,)
        Class labels.
    groups : array-like of shape (n,), default=None
        Groups for the splitter.
    cv : int, splitter or iterable, default=None
        As in ``cross_validate``: None is 5 folds, stratified for classifiers.
    metrics : list of str, Metric or callable, default=None
        By default the usual ones; any other of the confusion matrix can be asked for later, those
        of scores and probabilities only here.
    method, omega, estimand, prior : object
        See :func:`fold_posterior`.
    stability, level, kind, labels, pos_label : object
        See :class:`BayesianCrossValidator`.
    n_jobs : int, default=None
        Folds to fit at the same time, as in ``cross_validate``.
    verbose : int, default=0
        Progress messages.
    params : dict, default=None
        Further arguments for the estimator's `fit`, such as `sample_weight`. With metadata routing
        they go where they are requested.
    random_state : int, Generator, RandomState or None, default=None
        Seed of metrics whose posterior is drawn.
    error_score : "raise" or nan, default="raise"
        What to do if a fold fails: stop, or leave the fold out with a warning.

    Returns
    -------
    CrossValPosterior
        With ``posteriors``, ``intervals``, ``posterior(metric)``, ``interval(metric)`` and
        ``report()``.

    See Also
    --------
    BayesianCrossValidator : The same as an estimator, which also predicts.
    CrossValPosterior.from_cv_results : From the result of ``cross_validate``.
    fold_posterior : From counts alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import cross_val_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> posterior = cross_val_posterior(tree, X, y, cv=5)
    >>> posterior.interval("f1")
    Interval(low=0.917..., high=0.960...)
    """
    refuse_if(
        hasattr(estimator, "keys"),
        "estimator",
        "estimator must be a classifier, got the result of cross_validate: use "
        "CrossValPosterior.from_cv_results(results).",
    )
    validator = BayesianCrossValidator(
        estimator,
        cv=cv,
        metrics=metrics,
        method=method,
        omega=omega,
        estimand=estimand,
        prior=prior,
        stability=stability,
        level=level,
        kind=kind,
        labels=labels,
        pos_label=pos_label,
        refit=False,
        n_jobs=n_jobs,
        verbose=verbose,
        random_state=random_state,
        error_score=error_score,
    )
    return validator.fit(X, y, groups, **(params or {})).result_
