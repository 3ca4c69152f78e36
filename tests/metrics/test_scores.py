"""Scores that floats cannot tell apart."""

from decimal import Decimal

import numpy as np
import pytest

from skuncertain.comparison import compare_auc
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    credible_interval,
    intervals_at_thresholds,
    precision_recall_band,
    roc_band,
)

Y = [0, 0, 1, 1, 0, 1]
INTEGERS = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, 2**53 + 1, 2**53 + 2]
TIED = {
    "int64": np.array(INTEGERS),
    "uint64": np.array(INTEGERS, dtype=np.uint64) + np.uint64(2**63),
    "list": INTEGERS,
    "list with a float": [*INTEGERS[:-1], 0.5],
    "object": np.array(INTEGERS, dtype=object),
    "beyond 64 bits": [2**70 + k for k in range(6)],
    "columns": np.column_stack([INTEGERS, INTEGERS]),
}
ASK = [
    auc_posterior,
    average_precision_posterior,
    roc_band,
    precision_recall_band,
    intervals_at_thresholds,
    lambda y, score: compare_auc(y, score, score),
]


@pytest.mark.parametrize("ask", ASK)
@pytest.mark.parametrize("kind", TIED)
def test_scores_that_would_be_tied_are_refused(ask, kind):
    with pytest.raises(InvalidParameterError, match=r"y_score") as caught:
        ask(Y, TIED[kind])
    assert caught.value.parameter in ("y_score", "score_a", "y_score_a")


def test_nullable_integers_and_long_doubles():
    pandas = pytest.importorskip("pandas")
    # pandas 2.1 makes objects of them, which are refused as well
    with pytest.raises(InvalidParameterError, match=r"2\*\*53|array of type object"):
        auc_posterior(Y, pandas.Series(INTEGERS, dtype="Int64"))
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        close = 1 + np.arange(6, dtype=np.longdouble) * np.finfo(np.longdouble).eps
        with pytest.raises(InvalidParameterError, match="equal as 64-bit floats"):
            auc_posterior(Y, close)


def test_large_scores_that_stay_apart_are_ranked():
    ranks = np.array([1, 2, 4, 5, 3, 6])
    expected = auc_posterior(Y, ranks).observed
    for score in (ranks * 2**55, list(map(int, ranks * 2**55)), ranks.astype(np.longdouble) / 7):
        assert auc_posterior(Y, score).observed == expected


def test_large_integer_thresholds_are_refused():
    with pytest.raises(InvalidParameterError, match="thresholds must be at most"):
        intervals_at_thresholds(Y, [1, 2, 3, 4, 5, 6], thresholds=[2**53 + 1, 2**53 + 2])


@pytest.mark.parametrize("side", ["y_true", "y_pred"])
def test_a_signalling_nan_is_a_missing_label(side):
    labels = {"y_true": [0, 1, 1], "y_pred": [0, 1, 0], side: [Decimal("sNaN"), 0, 1]}
    with pytest.raises(InvalidParameterError, match=f"{side} has 1 missing label"):
        credible_interval(**labels, metric="f1")


@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_extreme_weights_are_weights(size):  # every warning is an error
    y, p = [0, 1, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0]
    found = credible_interval(y, p, metric="f1", sample_weight=[size] * 6)
    np.testing.assert_allclose(found, credible_interval(y, p, metric="f1"), rtol=1e-12)
