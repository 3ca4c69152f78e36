"""Rules for ``refit=`` of a search: callables that take ``cv_results_`` and return an index."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skuncertain._utils.validation import (
    check_integer,
    check_level,
    check_number,
    check_rope,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.model_selection._search_posterior import search_posterior


@dataclass(frozen=True, kw_only=True)
class RefitRule:
    """A rule for ``refit=``; picklable, with a readable repr.

    Parameters
    ----------
    metric : str
        Key of the score.
    rope, level : float
        As asked.
    n_repeats, test_train_ratio : object
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
        try:
            found = search_posterior(
                cv_results,
                metric=self.metric,
                n_repeats=1 if self.n_repeats is None else self.n_repeats,
                test_train_ratio=self.test_train_ratio,
                rope=self.rope,
                level=self.level,
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
    """The simplest candidate that is not distinguishable from the best."""

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
        candidates = np.flatnonzero(found.equivalent)
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
    """The candidate with the highest probability of being the best."""

    def _choose(self, found):
        return np.nanargmax(found.p_best)


def simplest_equivalent(
    metric: str,
    *,
    rope: float,
    complexity: str | Callable,
    level: float = 0.95,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
) -> RefitRule:
    """Refit the simplest candidate that is not distinguishable from the best.

    Parameters
    ----------
    metric : str
        Key of the score, such as "f1" or "score".
    rope : float
        Region of practical equivalence: being worse by that much is no loss.
    complexity : str or callable
        A parameter of the search, smaller is simpler (a leading "-": larger is simpler; None is
        the most complex); or a function of the dict of parameters that returns a number.
    level : float, default=0.95
        A candidate is out if the probability that it is worse by more than the ROPE reaches it.
    n_repeats : int, default=None
        Repetitions of a repeated K-fold; the results that the rule gets do not know it. None is 1.
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
    {'max_depth': 1}
    """
    return SimplestEquivalent(
        metric=metric,
        rope=rope,
        level=level,
        n_repeats=n_repeats,
        test_train_ratio=test_train_ratio,
        complexity=complexity,
    )


def best_lower_bound(
    metric: str,
    level: float = 0.95,
    *,
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
    n_repeats, test_train_ratio : object, default=None
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
        metric=metric, level=level, n_repeats=n_repeats, test_train_ratio=test_train_ratio
    )


def most_probable_best(
    metric: str,
    *,
    n_repeats: int | None = None,
    test_train_ratio: float | None = None,
) -> RefitRule:
    """Refit the candidate that is most probably the best.

    Parameters
    ----------
    metric : str
        Key of the score.
    n_repeats, test_train_ratio : object, default=None
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
    return MostProbableBest(metric=metric, n_repeats=n_repeats, test_train_ratio=test_train_ratio)
