"""Do folds disagree? Variances and the p-value of small tables, in plain arithmetic."""

import numpy as np
import pytest
from scipy.stats import chi2

from skuncertain import ConfusionCounts
from skuncertain.model_selection import fold_posterior

HITS = {3: [9, 6, 3], 4: [9, 6, 8, 3], 6: [9, 6, 8, 3, 10, 4]}


def folds_of(hits, rows=10):
    """Folds in which so many of ten positives were found; the negatives are all alike."""
    hits = np.asarray(hits)
    return ConfusionCounts.from_binary(
        tp=hits, fn=rows - hits, fp=np.ones_like(hits), tn=np.full_like(hits, 11)
    )


def by_hand(hits, rows=10, n_repeats=1):
    """Ratio of variances and statistic of a recall, K folds of one repetition."""
    k = len(hits) / n_repeats
    total, found = k * rows, sum(hits) / n_repeats
    theta, smooth = found / total, (found + 0.5) / (total + 1)
    binomial = smooth * (1 - smooth) / total
    squares = sum((a - theta * rows) ** 2 for a in hits) / n_repeats
    between = k / (k - 1) * squares / total**2
    # Derivatives are taken with half a pseudo-count in every cell, hence total + 1.
    statistic = (k - 1) * k / (k - 1) * squares / (total + 1) ** 2 / binomial
    return between / binomial, statistic


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
@pytest.mark.parametrize("k", HITS)
def test_ratio_and_p_value_have_k_minus_one_degrees_of_freedom(k):
    about = fold_posterior(folds_of(HITS[k]), "recall").diagnostics
    ratio, statistic = by_hand(HITS[k])
    assert about.variance_ratio == pytest.approx(ratio, rel=1e-12)
    assert about.p_value == pytest.approx(chi2.sf(statistic, df=k - 1), rel=1e-10)
    for other in (k - 2, k):  # far enough to be told apart
        assert about.p_value != pytest.approx(chi2.sf(statistic, df=other), rel=0.05)


def test_three_folds_in_numbers():
    # 9, 6 and 3 of 10: theta = 18/30, deviations 3, 0, -3; smooth = 18.5/31, over 30 rows.
    binomial = 18.5 * 12.5 / 31**2 / 30
    about = fold_posterior(folds_of([9, 6, 3]), "recall", omega=0.5).diagnostics
    assert about.variance_ratio == pytest.approx(1.5 * 18 / 900 / binomial, rel=1e-12)
    # Chi-squared with 2 degrees of freedom is exponential: P(> x) = exp(-x / 2).
    assert about.p_value == pytest.approx(np.exp(-3 * 18 / 31**2 / binomial / 2), rel=1e-12)


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_repetitions_do_not_add_degrees_of_freedom():
    hits = [9, 6, 3, 8, 6, 4]  # two repetitions of three folds
    about = fold_posterior(folds_of(hits), "recall", n_repeats=2).diagnostics
    ratio, statistic = by_hand(hits, n_repeats=2)
    assert about.variance_ratio == pytest.approx(ratio, rel=1e-12)
    assert about.p_value == pytest.approx(chi2.sf(statistic, df=2), rel=1e-10)


def test_folds_that_agree_and_a_single_fold():
    about = fold_posterior(folds_of([7, 7, 7]), "recall").diagnostics
    assert (about.variance_ratio, about.p_value) == (0, 1)
    assert about.omega == about.omega_wang_li  # that they agree is no reason to trust them more
    # Two repetitions of one fold: there is no spread between folds to speak of.
    about = fold_posterior(folds_of([9, 3]), "recall", n_repeats=2).diagnostics
    assert (about.variance_ratio, about.p_value, about.omega) == (0, 1, 1)
