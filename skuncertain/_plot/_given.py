"""What a display is given, and the numbers that it computes before anything is drawn."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._beta_posteriors import BetaBinomialPosterior
from skuncertain._counts import ConfusionCounts
from skuncertain._cross_val_posterior import CrossValPosterior, cross_val_posterior
from skuncertain._cv_report import SIDE_BY_SIDE
from skuncertain._fold_methods import METHODS
from skuncertain._search import SearchPosterior, search_posterior
from skuncertain._validation import check_choice
from skuncertain._warnings import dropped

# Columns of the text report, and what they ask for.
_REPORT_METHODS = {
    f"pooled, ω {name}" if how["method"] == "pooled" else name: how
    for name, how in SIDE_BY_SIDE.items()
}


def as_named(given, wanted, what):
    """Return {name: one}; a single one has the name None."""
    entries = dict(given) if hasattr(given, "items") else {None: given}
    if not entries:
        raise ValueError(f"{what} must hold at least one, got an empty dict.")
    for name, one in entries.items():
        where = what if name is None else f"{what}[{name!r}]"
        if not isinstance(one, wanted):
            raise TypeError(
                f"{where} must be {wanted.__name__}, or {what} a dict of them by name, got "
                f"{type(one).__name__}."
            )
        if getattr(one, "shape", ()):
            raise ValueError(
                f"{where} must be a single one, got a stack of shape {one.shape}: index it, or "
                "give a dict with names."
            )
    return entries


def as_cross_validations(results):
    """Return {name: CrossValPosterior}; a single one has the name None."""
    entries = dict(results) if hasattr(results, "items") else {None: results}
    found = {name: getattr(one, "result_", one) for name, one in entries.items()}
    if all(isinstance(one, CrossValPosterior) for one in found.values()):
        return as_named(found, CrossValPosterior, "results")
    wrong = next(one for one in found.values() if not isinstance(one, CrossValPosterior))
    hint = " Call its fit first." if hasattr(wrong, "fit") else ""
    raise TypeError(
        "results must be a fitted BayesianCrossValidator, a CrossValPosterior or a dict of them by "
        f"name, got {type(wrong).__name__}.{hint} The dict that cross_validate returns belongs to "
        "from_cv_results."
    )


def as_search(search, **options):
    """SearchPosterior of itself, or of a finished search."""
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(search, SearchPosterior):
        return search_posterior(search, **given)
    if given:
        name = next(iter(given))
        raise TypeError(f"{name} belongs to a search; this SearchPosterior is computed already.")
    return search


def search_order(found):
    """Indices of the considered candidates, the best first."""
    kept = np.flatnonzero(~np.isnan(found.p_best))
    return kept[np.lexsort((-found.p_best[kept], found.expected_rank[kept]))]


class FromCounts:
    """Constructors of displays that are made from counts; not constructed by users."""

    @classmethod
    def from_counts(cls, counts: Any, **options: Any) -> Self:
        """Plot from counts; every display has options of its own."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: Any = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Plot from true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels.
        labels, pos_label, sample_weight : object, default=None
            See :meth:`ConfusionCounts.from_predictions`.
        **options : dict
            All other arguments of `from_counts`, among them `ax`, `name` and those of `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
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
        if not hasattr(estimator, "predict"):
            raise TypeError(
                f"estimator must be a fitted classifier with predict, got {estimator!r}."
            )
        name = type(estimator).__name__ if name is None else name
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
        pos_label: Any = None,
        n_repeats: int | None = None,
        random_state: Any = None,
        **options: Any,
    ) -> Self:
        """Plot from the result of ``cross_validate``.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate`` returned, see :func:`cross_val_posterior`.
        X, y : array-like, default=None
            The data, needed if `cv_results` holds estimators but no counts.
        labels, pos_label, n_repeats, random_state : object, default=None
            See :func:`cross_val_posterior`.
        **options : dict
            All other arguments of `from_cross_validation`, among them `ax`, `name` and those of
            `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
        result = cross_val_posterior(
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


# --------------------------------------------------------------------------------------------------
# Intervals by several methods


def numbers(posterior, level, kind):
    """Observed value and both ends."""
    low, high = posterior.interval(level, kind)
    return float(posterior.observed), low, high


def fold_numbers(result, metric, how, level, kind, quiet):
    """Numbers by one method; one that nobody asked for may fail or warn without a word."""
    if not quiet:
        return numbers(result.posterior(metric, **how), level, kind)
    with dropped():
        try:
            return numbers(result.posterior(metric, **how), level, kind)
        except ValueError:  # not for this metric or this number of folds
            return np.nan, np.nan, np.nan


def fold_methods(methods, result, several):
    """Return {text: (options, whether it was not asked for)}; by default as the text report."""
    if methods is None:
        return _as_set(result) if several else _as_set(result) | _as_reported(result)
    chosen = {}
    for text in [methods] if isinstance(methods, str) else methods:
        check_choice("methods", text, (*METHODS, "wang-li"))
        known = {"wang-li": "pooled, ω wang-li"}.get(text, text)
        chosen[known] = (_REPORT_METHODS.get(known, {"method": text}), False)
    if len(chosen) < 1 or (several and len(chosen) > 1):
        wanted = "one method for several cross-validations" if several else "at least one method"
        raise ValueError(f"methods must name {wanted}, got {methods!r}.")
    return chosen


def _as_set(result):
    settings = result.settings
    omega = f", ω {settings.omega}" if settings.method == "pooled" else ""
    return {settings.method + omega: ({}, False)}


def _as_reported(result):
    if result.splits.obstacle:
        return {}
    others = {text: (how, True) for text, how in _REPORT_METHODS.items()}
    if result.n < 5 * result.n_folds:  # there its intervals are too short
        others.pop("averaged")
    return {text: how for text, how in others.items() if text not in _as_set(result)}


# --------------------------------------------------------------------------------------------------
# Densities


def density_curve(posterior, low, high, n_points=None):
    """Points of the density of a single posterior, the ends of its interval among them.

    A point mass is one point of infinite density, an undefined posterior none. Fewer points than by
    default do for a small picture that must be there at once.
    """
    first, last = (float(end) for end in posterior.quantile([0.0005, 0.9995]))
    if np.isnan(first) or np.isposinf(first) or np.isneginf(last):
        return np.empty(0), np.empty(0)
    if first == last:
        return np.array([first]), np.array([np.inf])
    if isinstance(posterior, BetaBinomialPosterior):
        share = np.arange(posterior.n + 1) / posterior.n
        edges = (np.arange(posterior.n + 2) - 0.5) / posterior.n
        height = posterior.n * np.asarray(posterior.pdf(share))
        return np.repeat(edges, 2)[1:-1], np.repeat(height, 2)
    middle = float(posterior.median())
    if np.isposinf(high):  # the curve must end somewhere
        high = low + 3 * (middle - low) if np.isfinite(middle) else 10 * max(low, 1.0)
    low = high - 3 * (high - middle) if np.isneginf(low) else low
    reach = 0.6 * (high - low)  # heavy tails would leave no room for the rest
    first, last = max(first, low - reach), min(last, high + reach)
    if n_points is None:
        n_points = 401 if posterior.exact else 161  # kernel estimates are slow
    return _curve(posterior, np.linspace(first, last, n_points), low, high)


def _curve(posterior, grid, low, high):
    """Density on a grid that becomes finer towards ends of the range, where there may be poles."""
    bottom, top = posterior.range
    span = grid[-1] - grid[0]
    near = span * 10.0 ** -np.arange(2, 9)
    points = [grid, [low, high]]
    points += [bottom + near] if grid[0] - bottom < 0.02 * span else []
    points += [top - near] if top - grid[-1] < 0.02 * span else []
    x = np.unique(np.concatenate(points))
    return x, np.asarray(posterior.pdf(np.clip(x, bottom + near[-1], top - near[-1])))


def drawn_height(density, level, low, high):
    """Height up to which a density is drawn: its peak, or less where it has a pole at an end."""
    finite = density[np.isfinite(density)]
    if not finite.size:
        return 0.0
    if finite.max() in (density[0], density[-1]) and 0 < high - low < np.inf:
        return min(finite.max(), 4 * level / (high - low))
    return finite.max()
