"""Labels as they come: one column is a row of labels, two are not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skuncertain import ConfusionCounts
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._labels import one_column, plain_label


@pytest.mark.parametrize("n", [0, 1, 5])
def test_one_column_is_taken(n):
    column = np.arange(n)[:, None]
    assert_array_equal(one_column("y", column), np.arange(n))
    assert one_column("y", column).shape == (n,)
    assert_array_equal(one_column("y", np.arange(n)), np.arange(n))


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (3, 0), (3, 1, 1), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(InvalidParameterError, match="y must have one entry per row") as caught:
        one_column("y", np.zeros(shape, dtype=int))
    assert str(shape) in str(caught.value)
    assert caught.value.parameter == "y"


def test_columns_of_labels_are_counted():
    y, pred = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1])
    flat = ConfusionCounts.from_predictions(y, pred)
    assert_array_equal(flat.counts, [[2, 0], [1, 2]])
    assert ConfusionCounts.from_predictions(y[:, None], pred[:, None]) == flat
    assert ConfusionCounts.from_predictions(y[:, None], pred) == flat
    for wrong in (np.stack([y, y], axis=1), y[None, :]):
        with pytest.raises(InvalidParameterError, match="y_true") as caught:
            ConfusionCounts.from_predictions(wrong, pred)
        assert caught.value.parameter == "y_true"


def test_whole_labels_end_at_1e300():
    assert plain_label(10**300) == 10**300
    assert plain_label(-(10**300)) == -(10**300)
    for wrong in (10**300 + 1, -(10**300) - 1):
        with pytest.raises(InvalidParameterError, match="within 1e300"):
            plain_label(wrong)


def test_float_labels_end_where_whole_numbers_do():
    y = np.array([0.0, 2.0**53])
    assert ConfusionCounts.from_predictions(y, y).labels == (0, 2**53)
    with pytest.raises(InvalidParameterError, match=r"beyond 2\*\*53") as caught:
        ConfusionCounts.from_predictions(np.array([0.0, 2.0**53 + 2]), y)
    assert caught.value.parameter == "y_true"


def test_mixed_labels_are_told_with_18_characters_each():
    with pytest.raises(InvalidParameterError, match="mix strings and numbers") as caught:
        ConfusionCounts.from_predictions([1, 2, 2], ["a" * 30] * 3)
    shown = f"'{'a' * 14}..."
    assert len(shown) == 18
    assert f"{shown}, 1, 2. Make them one type." in str(caught.value)


@pytest.mark.parametrize("labels", [["a"], []])
def test_one_class_is_none(labels):
    with pytest.raises(InvalidParameterError, match="labels must name at least two classes") as e:
        ConfusionCounts.from_predictions(["a", "a"], ["a", "a"], labels=labels)
    assert e.value.parameter == "labels"
