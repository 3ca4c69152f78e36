"""Two models by their areas under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from skuncertain._numerics.scores.delong import area, mean_of
from skuncertain._utils.typing import LabelLike
from skuncertain._utils.validation import check_choice, check_names, refuse_if
from skuncertain._utils.warnings import remember_warnings
from skuncertain.comparison._result import ComparisonResult, judge
from skuncertain.comparison._score_gap import difference_around, gap_of, ranking_variance
from skuncertain.metrics._scores.ranking import AVERAGES, _name
from skuncertain.metrics._scores.scored_rows import ScoredRows
from skuncertain.posteriors._about import About

METHODS = ("delong_t", "delong")


@remember_warnings
def compare_auc(
    y_true: ArrayLike,
    score_a: Any,
    score_b: Any,
    *,
    rope: float = 0.0,
    method: str = "delong_t",
    average: str = "macro",
    labels: Any = None,
    pos_label: LabelLike = None,
    names: Any = ("A", "B"),
) -> ComparisonResult:
    """Compare the areas under the ROC curves of two models on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    score_a, score_b : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores of the two models, see :func:`auc_posterior`. Two cross-validators that tested the
        same rows are compared by the means of their folds; the splits may differ.
    rope : float, default=0.0
        Region of practical equivalence, in units of the area.
    method : {"delong_t", "delong"}, default="delong_t"
        Student's t with DeLong's covariance and the rows of the smaller class less 1 as degrees of
        freedom (of averages: Satterthwaite's); or the normal, as DeLong et al. have it.
    average : {"macro", "weighted"}, default="macro"
        With more than two classes.
    labels, pos_label : object, default=None
        See :func:`auc_posterior`.
    names : tuple of two str, default=("A", "B")
        What to call the models.

    Returns
    -------
    ComparisonResult
        Difference is b - a; ``p_better`` is the probability that b is better. With ``rope=0`` the
        two-sided p-value is ``2 * min(p_worse, p_better) + p_equivalent``, that of DeLong's test
        with ``method="delong"``; scores that rank all rows alike are equivalent for sure, with a
        p-value of 1.

    See Also
    --------
    auc_posterior : One model.
    compare_paired : Metrics of predicted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.comparison import compare_auc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> good, weak = y + rng.normal(size=200), 0.5 * y + rng.normal(size=200)
    >>> compare_auc(y, weak, good, names=("weak", "good"))
    ComparisonResult(good better than weak in roc_auc with probability 0.84, worse 0.16,
    equivalent 0.00; good - weak = 0.054, 95 % interval [-0.052, 0.160]; 200 shared rows, DeLong,
    t with 99 df, rope=0)
    """
    names = check_names(names)
    sides = [ScoredRows.of(y_true, score, labels, pos_label, None) for score in (score_a, score_b)]
    _check_same_rows(*sides)
    check_choice("average", average, AVERAGES)
    check_choice("method", method, METHODS)
    weights = [1.0] if sides[0].n_scored == 1 else sides[0].class_weights(average)
    left, right = (
        mean_of([side.estimate(area, k, True) for k in range(side.n_scored)], weights)
        for side in sides
    )
    gap = gap_of(left, right)
    metric = "roc_auc" if sides[0].n_scored == 1 else _name("roc_auc", average)
    alike = all(
        np.array_equal(rankdata(a), rankdata(b))
        for a, b in zip(sides[0].scores.T, sides[1].scores.T, strict=True)
    )
    student, variance = method == "delong_t", 0.0
    if not alike:
        variance = ranking_variance(left, right, gap, moderated=student)
    about = About(
        metric=f"difference in {metric}",
        range=(-1.0, 1.0),
        estimand=sides[0].question()["estimand"],
    )
    how = dict.fromkeys(side.describe("DeLong") for side in sides)  # one, or one for each
    place = 0.0 if alike else gap.value
    difference, freedom = difference_around(
        place, variance, gap.df, about, normal=alike or not student
    )
    return judge(
        difference,
        rope,
        metric=metric,
        names=names,
        method=f"{sides[0].n} shared rows, {' and '.join(how)}{freedom}",
        n=sides[0].n,
        prior=f"none: {'t' if freedom else 'normal'} with DeLong's covariance",
    )


def _check_same_rows(left, right):
    """Refuse models that were not asked the same."""
    refuse_if(
        left.n_scored != right.n_scored,
        "score_a",
        "score_a and score_b must have the same number of columns, got "
        f"{left.n_scored} and {right.n_scored}.",
    )
    refuse_if(
        left.folded != right.folded,
        "score_a",
        "score_a and score_b must both be scores, or both cross-validators: the mean of folds "
        "and the area of one ranking are different things.",
    )
    refuse_if(
        left.folded and not np.array_equal(np.unique(left.row), np.unique(right.row)),
        "score_a",
        "score_a and score_b must be cross-validators that tested the same rows.",
    )
