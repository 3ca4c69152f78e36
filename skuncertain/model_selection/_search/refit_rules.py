"""Rules for ``refit=`` of a search: callables that take ``cv_results_`` and return an index."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain._utils.validation import (
    check_integer,
    check_level,
    check_number,
    check_rope,
    refuse_if,
)
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.model_selection._search.posterior import search_posterior
from skuncertain.model_selection._search.read import check_splitter, count_splits


@dataclass(frozen=True, kw_only=True)
class RefitRule:
    """A rule for ``refit=``; picklable, with a readable repr.

    Parameters
    ----------
    metric : str
        Key of the score.
    rope, level, probability : float
        As asked.
    cv, n_repeats, test_train_ratio : object
        How the search was split.

    See Also
    --------
    simplest_equivalent, best_lower_bound, most_probable_best : Make it.

    Examples
    --------
    >>> from skuncertain.model_selection import RefitRule, most_probable_best
    >>> rule = most_probable_best("f1")
    >>> rule
    MostProbableBest(metric='f1', ...)
    >>> isinstance(rule, RefitRule)
    True
    """

    metric: str
    rope: float = 0.0
    level: float = 0.95
    probability: float = 0.5
    cv: Any = None
    n_repeats: int | None = None
    test_train_ratio: float | None = None

    def __post_init__(self):
        refuse_if(
            not isinstance(self.metric, str),
            "metric",
            'metric must be the name of a score, such as "score", got {value}.',
            self.metric,
        )
        check_rope(self.rope)
        check_level(self.level)
        check_number("probability", self.probability, low=0, high=1, closed=False)
        refuse_if(
            self.cv is not None and self.n_repeats is not None,
            "n_repeats",
            "give cv or n_repeats, not both: a splitter knows its repetitions, got {value}.",
            self.n_repeats,
        )
        check_splitter(self.cv)
        if self.n_repeats is not None:
            check_integer("n_repeats", self.n_repeats, low=1)
        if self.test_train_ratio is not None:
            check_number(
                "test_train_ratio", self.test_train_ratio, low=0, high=np.inf, closed=False
            )

    def __call__(self, cv_results: dict) -> int:
        """Index of the candidate to refit.

        Parameters
        ----------
        cv_results : dict
            What the search passes.

        Returns
        -------
        int
            The index.
        """
        n_splits = count_splits(cv_results)
        if self.cv is not None or self.n_repeats is not None:
            return self._chosen(cv_results, self.n_repeats)
        # Nobody said whether the folds are those of one repetition. Mostly it does not matter.
        first = self._chosen(cv_results, 1)
        others = [r for r in range(2, n_splits // 2 + 1) if n_splits % r == 0]
        for repeats in others:
            if self._chosen(cv_results, repeats) != first:
                warn_user(
                    f"the {n_splits} splits are taken as the {n_splits} folds of one "
                    f"cross-validation. If it was repeated, as {repeats} x {n_splits // repeats}, "
                    f"{type(self).__name__} chooses another candidate: tell it, by "
                    f"n_repeats={repeats} or by cv=, the splitter of the search. n_repeats=1 says "
                    "that it was not.",
                    UserWarning,
                )
                break
        return first

    def _chosen(self, cv_results, n_repeats):
        """Index of the candidate, if the search was split like this."""
        try:
            found = search_posterior(
                cv_results,
                metric=self.metric,
                cv=self.cv,
                n_repeats=n_repeats,
                test_train_ratio=self.test_train_ratio,
                rope=self.rope,
                level=self.level,
                probability=self.probability,
                random_state=0,
            )
        except InvalidParameterError as error:
            if error.parameter != "pos_label":
                raise
            remedy = "Tell the scorer: ConfusionCountsScorer(pos_label=...)."
            raise InvalidParameterError(error.message, "pos_label", remedy) from None
        return int(self._choose(found))

    def _choose(self, found):
        """Index of the candidate, from the SearchPosterior."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class SimplestEquivalent(RefitRule):
    """The simplest candidate that is as good as the one with the highest mean."""

    complexity: str | Callable

    def __post_init__(self):
        super().__post_init__()
        refuse_if(
            not isinstance(self.complexity, str) and not callable(self.complexity),
            "complexity",
            "complexity must be the name of a parameter or a function, got {value}.",
            self.complexity,
        )

    def _choose(self, found):
        refuse_if(
            found.params is None,
            "cv_results",
            "cv_results must hold the params of the candidates: they tell which is simpler.",
        )
        candidates = np.flatnonzero(found.as_good)
        cost = np.array([self._cost(found.params[k]) for k in candidates])
        # The simplest; among equally simple ones the best mean.
        sign = -1 if found.greater_is_better else 1
        return candidates[np.lexsort((sign * found.mean[candidates], cost))[0]]

    def _cost(self, params):
        if callable(self.complexity):
            value, sign = self.complexity(params), 1.0
        else:
            name = self.complexity.removeprefix("-")
            refuse_if(
                name not in params,
                "complexity",
                f"complexity must be a parameter that every candidate has, got "
                f"{self.complexity!r}, which {params} lacks: pass a function of the "
                "parameters.",
            )
            value, sign = params[name], -1.0 if self.complexity.startswith("-") else 1.0
            if value is None:  # no limit is the most complex choice: max_depth=None, for example
                return np.inf
        try:
            number = sign * float(value)
        except (TypeError, ValueError):
            number = np.nan
        refuse_if(
            np.isnan(number),
            "complexity",
            f"complexity must be a number for every candidate, got {{value}} for "
            f"{params}: pass a function of the parameters that returns one.",
            value,
        )
        return number


@dataclass(frozen=True, kw_only=True)
class BestLowerBound(RefitRule):
    """The candidate whose interval has the best worse end."""

    def _choose(self, found):
        return np.nanargmax(found.low) if found.greater_is_better else np.nanargmin(found.high)


@dataclass(frozen=True, kw_only=True)
class MostProbableBest(RefitRule):
    """The candidate with the highest probability of being the best.

    Of several the one with the best mean; of a tie group the first.
    """

    def _choose(self, found):
        lead = found.p_best >= np.nanmax(found.p_best) * (1 - 1e-12)
        sign = 1.0 if found.greater_is_better else -1.0
        return np.argmax(np.where(lead, sign * found.mean, -np.inf))


def simplest_equivalent(
    metric: str,
    *,
    rope: float,
    complexity: str | Callable,
    probability: float = 0.5,
    cv: Any = None,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
) -> RefitRule:
    """Refit the simplest candidate that is as good as the one with the highest mean.

    Parameters
    ----------
    metric : str
        Key of the score, such as "f1" or "score".
    rope : float
        Region of practical equivalence: being worse by that much is no loss.
    complexity : str or callable
        A parameter of the search, smaller is simpler (a leading "-": larger is simpler; None is
        the most complex); or a function of the dict of parameters that returns a number.
    probability : float, default=0.5
        A candidate is as good if, with this probability, it is not worse by more than the ROPE.
        One half asks that its mean is within the ROPE of the highest; more is more careful.
    cv : int, splitter or list, default=None
        What the search splits by, if it splits repeatedly: the results that the rule gets do not
        tell. Without `cv` and `n_repeats` it warns if repetitions would change the choice.
    n_repeats : int, default=None
        Repetitions of a repeated K-fold, instead of `cv`.
    test_train_ratio : float, default=None
        Test rows over training rows; by default 1 / (K - 1).

    Returns
    -------
    RefitRule
        A value for ``refit=``.

    See Also
    --------
    search_posterior : The analysis behind it.
    best_lower_bound : Another rule.

    Notes
    -----
    "Not proven worse" is another thing, and costs more: see ``distinguishable`` of
    :class:`SearchPosterior`. With ``probability=0.5`` repetitions do not matter.

    After a callable ``refit`` scikit-learn sets ``best_index_`` and ``best_params_`` but no
    ``best_score_``; and ``search.score`` fails if the scorer returns several numbers. Use
    ``search.best_estimator_`` with a scorer of your own.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain import simplest_equivalent
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rule = simplest_equivalent("score", rope=0.01, complexity="max_depth")
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> search = GridSearchCV(tree, {"max_depth": [1, 2, 4, 8]}, scoring="f1", refit=rule, cv=10)
    >>> search.fit(X, y).best_params_
    {'max_depth': 2}
    """
    return SimplestEquivalent(
        metric=metric,
        rope=rope,
        probability=probability,
        cv=cv,
        n_repeats=n_repeats,
        test_train_ratio=test_train_ratio,
        complexity=complexity,
    )


def best_lower_bound(
    metric: str,
    level: float = 0.95,
    *,
    cv: Any = None,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
) -> RefitRule:
    """Refit the candidate whose interval has the highest lower end.

    Parameters
    ----------
    metric : str
        Key of the score.
    level : float, default=0.95
        Probability of the interval.
    cv, n_repeats, test_train_ratio : object, default=None
        See :func:`simplest_equivalent`.

    Returns
    -------
    RefitRule
        A value for ``refit=``.

    See Also
    --------
    simplest_equivalent : Another rule.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.model_selection import best_lower_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> rule = best_lower_bound("score")
    >>> search = GridSearchCV(tree, {"max_depth": [1, 2, 4]}, scoring="f1", refit=rule, cv=10)
    >>> search.fit(X, y).best_params_
    {'max_depth': 2}
    """
    return BestLowerBound(
        metric=metric, level=level, cv=cv, n_repeats=n_repeats, test_train_ratio=test_train_ratio
    )


def most_probable_best(
    metric: str,
    *,
    cv: Any = None,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
) -> RefitRule:
    """Refit the candidate that is most probably the best.

    Of candidates that are as probable as each other, the one with the best mean is refitted; of
    those with the same scores in all folds, the first.

    Parameters
    ----------
    metric : str
        Key of the score.
    cv, n_repeats, test_train_ratio : object, default=None
        See :func:`simplest_equivalent`.

    Returns
    -------
    RefitRule
        A value for ``refit=``.

    See Also
    --------
    simplest_equivalent : Another rule.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skuncertain.model_selection import most_probable_best
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> rule = most_probable_best("score")
    >>> search = GridSearchCV(tree, {"max_depth": [1, 2, 4]}, scoring="f1", refit=rule, cv=10)
    >>> search.fit(X, y).best_params_
    {'max_depth': 4}
    """
    return MostProbableBest(
        metric=metric, cv=cv, n_repeats=n_repeats, test_train_ratio=test_train_ratio
    )
