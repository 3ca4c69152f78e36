"""Rows of scores that are the same."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skuncertain._numerics.fold_ranking import tie_groups


def test_groups_are_numbered_in_the_order_of_their_first_row():
    rows = np.array([[0.3, 0.1], [0.1, 0.2], [0.3, 0.1], [0.0, 0.0], [0.1, 0.2]])
    assert_array_equal(tie_groups(rows), [0, 1, 0, 2, 1])
    assert_array_equal(tie_groups((10 * rows).astype(int)), [0, 1, 0, 2, 1])


def test_rounding_errors_and_the_sign_of_zero_make_no_difference():
    rows = np.array([[0.1 + 0.2, 0.0], [0.3, -0.0], [0.3, 1e-17], [0.3, 1e-3]])
    assert_array_equal(tie_groups(rows), [0, 0, 0, 1])


@pytest.mark.parametrize("columns", [1, 7])
def test_groups_are_those_of_unique_rows(columns, global_random_seed):
    rows = np.random.default_rng(global_random_seed).integers(0, 3, (40, columns)) / 4
    found = tie_groups(np.asfortranarray(rows))
    same = (rows[:, None] == rows[None]).all(axis=-1)
    assert_array_equal(found[:, None] == found[None], same)
