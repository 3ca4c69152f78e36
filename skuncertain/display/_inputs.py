"""What a display is given, and the numbers that it computes before anything is drawn."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.typing import LabelLike, RandomStateLike
from skuncertain._utils.validation import check_choice, check_kind, check_level, refuse_if
from skuncertain._utils.warnings import silence
from skuncertain.comparison._leaderboard import Leaderboard
from skuncertain.display._base import Display
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._credible import metric_posterior
from skuncertain.metrics._labels import as_labels
from skuncertain.metrics._registry import get_metric, named_metrics
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.posterior import score_posterior
from skuncertain.metrics._scores.scored_rows import OutOfFoldScores, classifier_scores
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_val_scores import CrossValScores
from skuncertain.model_selection._fold_methods import METHODS, SIDE_BY_SIDE, FoldOptions
from skuncertain.model_selection._read_cross_validate import take_rows
from skuncertain.model_selection._search.posterior import SearchPosterior, search_posterior

# Columns of the text report, and what they ask for.
_REPORT_METHODS = {
    f"pooled, ω {name}" if how["method"] == "pooled" else name: how
    for name, how in SIDE_BY_SIDE.items()
}


def as_named(given, wanted, what):
    """Return {name: one}; a single one has the name None."""
    entries = dict(given) if hasattr(given, "items") else {None: given}
    refuse_if(not entries, what, f"{what} must hold at least one, got an empty dict.")
    for name, one in entries.items():
        where = what if name is None else f"{what}[{name!r}]"
        refuse_if(
            not isinstance(one, wanted),
            what,
            f"{where} must be {wanted.__name__}, or {what} a dict of them by name, got "
            f"{type(one).__name__}.",
        )
        shape = getattr(one, "shape", ())
        refuse_if(
            shape,
            what,
            f"{where} must be a single one, got a stack of shape {shape}: index it, or give a "
            "dict with names.",
        )
    return entries


def scores_of_folds(cv_results, X, y, pos_label=None, response="auto"):
    """Out-of-fold scores of the positive class, from the result of ``cross_validate``."""
    refuse_if(
        "estimator" not in cv_results or "indices" not in cv_results,
        "cv_results",
        "cv_results must hold estimators and indices: call "
        "cross_validate(..., return_estimator=True, return_indices=True).",
    )
    tests = cv_results["indices"]["test"]
    row = np.concatenate([np.asarray(test) for test in tests])
    refuse_if(
        np.unique(row).size < row.size,
        "cv_results",
        "every row must be tested once, got cv_results of repeated folds, which overlap in a "
        "curve.",
    )
    found = [
        classifier_scores(model, take_rows(X, test), pos_label, response, "cv_results", y)
        for model, test in zip(cv_results["estimator"], tests, strict=True)
    ]
    parts, positive = [part for part, _, _ in found], found[-1][1]
    labels = as_labels(list(cv_results["estimator"][0].classes_))
    return OutOfFoldScores(tests, parts, labels, positive, len(tests), True, FoldOptions())


def with_own(names, own):
    """Names that say what is asked of them alone, such as "clinic (prevalence 0.01)"."""
    return [
        name if not text else text if name is None else f"{name} ({text})"
        for name, text in zip(names, own, strict=True)
    ]


def as_cross_validations(results):
    """Return {name: CrossValPosterior}; a single one has the name None."""
    entries = dict(results) if hasattr(results, "items") else {None: results}
    found = {name: getattr(one, "result_", one) for name, one in entries.items()}
    for one in found.values():
        hint = " Call its fit first." if hasattr(one, "fit") else ""
        if isinstance(one, CrossValScores):
            hint = " It has scores alone; plots need counts: scoring=ConfusionCountsScorer()."
        refuse_if(
            not isinstance(one, CrossValPosterior),
            "results",
            "results must be a fitted BayesianCrossValidator, a CrossValPosterior or a dict of "
            f"them by name, got {type(one).__name__}.{hint} The dict that cross_validate returns "
            "belongs to from_cv_results.",
        )
    return as_named(found, CrossValPosterior, "results")


def as_search(search, **options):
    """SearchPosterior of itself, or of a finished search."""
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(search, SearchPosterior):
        return search_posterior(search, **given)
    name = next(iter(given), "")
    refuse_if(given, name, f"{name} belongs to a search; this SearchPosterior is computed already.")
    return search


def scored_metrics(cls, options):
    """``{name: metric}`` of scores or probabilities, if these are asked for; otherwise none."""
    word = "metric" if "metric" in options else "metrics"
    asked = options.get(word)
    if asked is None:
        return {}
    found = dict(named_metrics(asked, find=get_metric))
    scored = {name: one for name, one in found.items() if isinstance(one, ScoreMetric)}
    if not scored:
        return {}
    first = next(iter(scored.values()))
    refuse_if(
        not cls._takes_scores,
        word,
        f"{cls.__name__} is for metrics of labels; {first.name!r} needs {first.needs}.",
        remedy=f"Plot IntervalDisplay.from_predictions(y_true, y_score, metrics=[{first.name!r}]).",
    )
    others = [name for name in found if name not in scored]
    refuse_if(
        others,
        word,
        f"{word} must not mix metrics of predicted labels, such as {others[:1]}, with metrics of "
        f"scores or probabilities, such as {first.name!r}: make two displays.",
    )
    return scored


def response_of(estimator, X, metric):
    """Scores or probabilities of an estimator, from the first of its methods that gives them."""
    for method in metric.responses:
        if hasattr(estimator, method):
            return getattr(estimator, method)(X)
    raise InvalidParameterError(
        f"estimator must have {' or '.join(metric.responses)} for metric {metric.name!r}, got "
        f"{type(estimator).__name__}.",
        parameter="estimator",
    )


class FromCounts:
    """Constructors of displays that are made from counts; not constructed by users."""

    _takes_scores = False  # whether metrics of scores or probabilities can be shown

    @classmethod
    def from_counts(cls, counts: Any, **options: Any) -> Self:
        """Plot from counts; every display has options of its own."""
        raise NotImplementedError

    @classmethod
    def _from_scores(cls, posteriors: dict, **options: Any) -> Self:
        """Plot posteriors by the names of their metrics, which are of scores or probabilities."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: Any = None,
        pos_label: LabelLike = None,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Plot from true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels; in place of the latter the scores or probabilities, of shape
            (n,) or (n, C), that metrics such as "roc_auc" or "log_loss" need.
        labels, pos_label, sample_weight : object, default=None
            See :meth:`ConfusionCounts.from_predictions`.
        **options : dict
            All other arguments of `from_counts`, among them `ax`, `name` and those of `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
        if scored := scored_metrics(cls, options):
            refuse_if(
                sample_weight is not None,
                "sample_weight",
                "sample_weight cannot be combined with metrics of scores or probabilities.",
            )
            about = {"labels": labels, "pos_label": pos_label}
            posteriors = {
                name: metric_posterior(y_true, y_pred, metric=metric, **about)
                for name, metric in scored.items()
            }
            return cls._from_scores(posteriors, **options)
        counts = ConfusionCounts.from_predictions(
            y_true, y_pred, labels=labels, pos_label=pos_label, sample_weight=sample_weight
        )
        return cls.from_counts(counts, **options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, **options: Any
    ) -> Self:
        """Plot from a fitted classifier and test rows.

        Parameters
        ----------
        estimator : object
            Fitted classifier.
        X : array-like of shape (n, features)
            Test rows.
        y : array-like of shape (n,)
            True labels.
        name : str, default=None
            Name of the model; by default the class of the estimator.
        **options : dict
            All other arguments of `from_predictions` and `from_counts`.

        Returns
        -------
        Display
            The display, plotted.
        """
        refuse_if(
            not hasattr(estimator, "predict"),
            "estimator",
            "estimator must be a fitted classifier with predict, got {value}.",
            value=estimator,
        )
        name = type(estimator).__name__ if name is None else name
        if scored := scored_metrics(cls, options):
            about = {"labels": options.pop("labels", None), "oriented": True}
            about["pos_label"] = options.pop("pos_label", None)
            if about["labels"] is None:
                about["labels"] = getattr(estimator, "classes_", None)
            posteriors = {
                key: score_posterior(y, response_of(estimator, X, metric), metric, **about)
                for key, metric in scored.items()
            }
            return cls._from_scores(posteriors, name=name, **options)
        return cls.from_predictions(y, estimator.predict(X), name=name, **options)


class FromFolds:
    """Constructor of displays that are made from cross-validations; not constructed by users."""

    @classmethod
    def from_cross_validation(cls, results: Any, **options: Any) -> Self:
        """Plot from a cross-validation; every display has options of its own."""
        raise NotImplementedError

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        labels: Any = None,
        pos_label: LabelLike = None,
        n_repeats: int | None = None,
        random_state: RandomStateLike = None,
        **options: Any,
    ) -> Self:
        """Plot from the result of ``cross_validate``.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate`` returned, see :meth:`CrossValPosterior.from_cv_results`.
        X, y : array-like, default=None
            The data, needed if `cv_results` holds estimators but no counts.
        labels, pos_label, n_repeats, random_state : object, default=None
            See :meth:`CrossValPosterior.from_cv_results`.
        **options : dict
            All other arguments of `from_cross_validation`, among them `ax`, `name` and those of
            `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
        result = CrossValPosterior.from_cv_results(
            cv_results,
            X,
            y,
            metrics=options.get("metrics"),
            labels=labels,
            pos_label=pos_label,
            n_repeats=n_repeats,
            random_state=random_state,
        )
        return cls.from_cross_validation(result, **options)


class FromRanking(Display):
    """Constructors of displays of a leaderboard or a search; not constructed by users."""

    @classmethod
    def from_leaderboard(
        cls, board: Leaderboard, *, ax: Any = None, name: str | None = None, **plot_kwargs: Any
    ) -> Self:
        """Plot the models of a leaderboard, the best first.

        Parameters
        ----------
        board : Leaderboard
            What :func:`leaderboard` returned.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
        refuse_if(
            not isinstance(board, Leaderboard),
            "board",
            f"board must be a Leaderboard, got {type(board).__name__}.",
        )
        return cls._shown(cls._of_ranking(board, board.order()), ax, name, plot_kwargs)

    @classmethod
    def _of_search(cls, search, options, ax, name, plot_kwargs):
        """Plot the candidates of a search, the best first."""
        found = as_search(search, **options)
        order = found.order()
        data = cls._of_ranking(found, order) | {
            "selected": order.tolist().index(found.selected_index),
            "not_considered": found.mean.size - order.size,
        }
        return cls._shown(data, ax, name, plot_kwargs)

    @classmethod
    def _of_ranking(cls, found, order):
        """Arguments of the constructor, in this order of models or candidates."""

    def _about_search(self, names, figures):
        """Sentences about the selected candidate and those that were left out."""
        if self.selected is not None:
            k = self.selected
            yield f"Selected: {names[k]}, {figures[k]}, number {k + 1} of {len(names)}."
        if self.not_considered:
            yield f"{self.not_considered} candidates were not considered."


# --------------------------------------------------------------------------------------------------
# Intervals by several methods


def fold_question(result, metrics, level, kind):
    """Metrics, level and kind that were asked for, or those of the cross-validation."""
    asked = result.metrics
    if metrics is not None:
        asked = check_metrics(metrics, result.counts.labels, result.counts.pos_label, scored=True)
    level = result.level if level is None else check_level(level)
    return asked, level, result.kind if kind is None else check_kind(kind)


def numbers(posterior, level, kind, quiet=False):
    """Observed value and both ends; NaN without a posterior."""
    if posterior is None:
        return np.nan, np.nan, np.nan
    with silence() if quiet else nullcontext():
        low, high = posterior.interval(level, kind)
    return float(posterior.observed), low, high


def fold_posterior(result, metric, how, quiet):
    """Posterior by one method; one that nobody asked for may fail or warn without a word."""
    if not quiet:
        return result.posterior(metric, **how)
    with silence():
        try:
            return result.posterior(metric, **how)
        except ValueError:  # not for this metric or this number of folds
            return None


def fold_methods(methods, result, several):
    """Return {text: (options, whether it was not asked for)}; by default as the text report."""
    if methods is None:
        return _as_set(result) if several else _as_set(result) | _as_reported(result)
    chosen = {}
    for text in [methods] if isinstance(methods, str) else methods:
        check_choice("methods", text, (*METHODS, "wang_li"))
        known = {"wang_li": "pooled, ω wang_li"}.get(text, text)
        chosen[known] = (_REPORT_METHODS.get(known, {"method": text}), False)
    wanted = "one method for several cross-validations" if several else "at least one method"
    refuse_if(
        len(chosen) < 1 or (several and len(chosen) > 1),
        "methods",
        f"methods must name {wanted}, got {methods!r}.",
    )
    return chosen


def _as_set(result):
    options = result.options
    omega = f", ω {options.omega}" if options.method == "pooled" else ""
    return {options.method + omega: ({}, False)}


def _as_reported(result):
    if result.splits.obstacle:
        return {}
    others = {text: (how, True) for text, how in _REPORT_METHODS.items()}
    if result.n < 5 * result.n_folds:  # there its intervals are too short
        others.pop("averaged")
    return {text: how for text, how in others.items() if text not in _as_set(result)}
