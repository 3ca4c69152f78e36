"""Pseudo-counts of the named priors by hand, and the ends of what is a prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skuncertain import ConfusionCounts
from skuncertain.metrics._priors import cell_prior, check_prior, join_texts, scale_prior

ABOVE = np.nextafter(1e12, np.inf)


# Half a row is spread over the C cells of the diagonal, half over the C (C - 1) beside it.
@pytest.mark.parametrize(
    ("size", "right", "wrong"), [(2, 1 / 4, 1 / 4), (3, 1 / 6, 1 / 12), (5, 1 / 10, 1 / 40)]
)
def test_total_one_is_one_pseudo_row(size, right, wrong):
    found = cell_prior("total_one", np.ones((size, size)))
    expected = np.full((size, size), wrong)
    np.fill_diagonal(expected, right)
    assert_allclose(found, expected, rtol=1e-15)
    assert np.trace(found) == pytest.approx(1 / 2, rel=1e-15)
    assert found.sum() == pytest.approx(1, rel=1e-15)


def test_total_one_in_a_posterior():
    # Accuracy sees half a pseudo-row on each side; recall of class 0 its own row, 1/6 and 2/12.
    counts = ConfusionCounts([[7, 2, 1], [0, 5, 0], [1, 1, 9]])
    accuracy = counts.posterior("accuracy", prior="total_one")
    assert (accuracy.a, accuracy.b) == pytest.approx((21.5, 5.5), rel=1e-14)
    recall = counts.posterior("recall", prior="total_one", pos_label=0)
    assert (recall.a, recall.b) == pytest.approx((7 + 1 / 6, 3 + 1 / 6), rel=1e-14)


# Three classes; of one pseudo-row per class the share that is right is (trace + 1/2) / (n + 1), at
# least 1/6 and at most 5/6, so that right and wrong get half a row each in all.
@pytest.mark.parametrize(
    ("matrix", "share"),
    [
        ([[0, 50, 50], [50, 0, 50], [50, 50, 0]], 1 / 6),  # 0.5 / 301
        ([[1, 3, 0], [0, 0, 0], [0, 0, 0]], 1.5 / 5),
        ([[0, 2, 0], [0, 0, 0], [0, 0, 0]], 1 / 6),  # 0.5 / 3 itself, the lower end
        ([[0, 3, 0], [0, 0, 0], [0, 0, 0]], 1 / 6),  # 0.5 / 4
        ([[2, 0, 0], [0, 0, 0], [0, 0, 0]], 5 / 6),  # 2.5 / 3 itself, the upper end
        ([[50, 0, 0], [0, 50, 0], [0, 0, 50]], 5 / 6),  # 150.5 / 151
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], 1 / 2),
    ],
)
def test_shared_prior_is_clipped_at_both_ends(matrix, share):
    expected = np.full((3, 3), (1 - share) / 2)
    np.fill_diagonal(expected, share)
    assert_allclose(cell_prior("shared", np.array(matrix, dtype=float)), expected, rtol=1e-14)


def test_shared_prior_of_a_stack_looks_at_every_matrix():
    wrong, right = 10.0 * (1 - np.eye(4)), 10.0 * np.eye(4)
    found = cell_prior("shared", np.array([wrong, right]))
    assert found.shape == (2, 4, 4)
    assert_allclose(np.diagonal(found, axis1=-2, axis2=-1), [[1 / 8] * 4, [7 / 8] * 4])
    assert_allclose(found.sum(axis=-1), 1)


@pytest.mark.parametrize("largest", [1e12, 10**12, np.float64(1e12), 0, 0.0])
def test_ends_of_a_number(largest):
    found = check_prior(largest, 2)
    assert type(found) is float
    assert found == largest


@pytest.mark.parametrize("beyond", [ABOVE, 10**12 + 1, np.inf, np.nan, -5e-324, -1])
def test_numbers_beyond_the_ends(beyond):
    with pytest.raises(ValueError, match=r"prior must be a finite number >= 0 \(at most 1e12\)"):
        check_prior(beyond, 2)
    with pytest.raises(ValueError, match=r"an array prior must hold finite numbers >= 0"):
        check_prior([[1.0, 1.0], [1.0, beyond]], 2)


def test_ends_of_an_array():
    given = np.array([[1e12, 0.0], [0.5, 1e12]])
    found = check_prior(given, 2)
    assert_array_equal(found, given)
    assert not found.flags.writeable
    assert given.flags.writeable


def test_the_largest_prior_has_a_posterior():
    counts = ConfusionCounts([[8, 2], [1, 9]])
    posterior = counts.posterior("recall", prior=1e12)
    assert (posterior.a, posterior.b) == (1e12 + 9, 1e12 + 1)
    with pytest.raises(ValueError, match="at most 1e12"):
        counts.posterior("recall", prior=ABOVE)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 3.0])
def test_the_default_prior_so_many_times(factor):
    # Two classes: 1/3 per cell. Three classes: one pseudo-row per class.
    two, three = np.ones((2, 2)), np.ones((3, 3))
    assert_allclose(cell_prior(scale_prior(factor, two).value, two), factor / 3, rtol=1e-15)
    rows = cell_prior(scale_prior(factor, three).value, three).sum(axis=-1)
    assert_allclose(rows, factor, rtol=1e-14)


OWN = "proportions: half a success and half a failure, calibrated ends"


@pytest.mark.parametrize(
    ("n_classes", "metrics", "said"),
    [
        (2, ["accuracy", "recall"], "half a success and half a failure; calibrated ends"),
        (2, ["mcc", "accuracy"], f"{OWN}; other metrics: 1/3 of a row per cell"),
        (2, None, f"{OWN}; other metrics: 1/3 of a row per cell"),
        (3, None, f"{OWN}; other metrics: one pseudo-row per class"),
        (10, None, f"{OWN}; other metrics: one pseudo-row per class"),
        (3, ["mcc"], "one pseudo-row per class"),
    ],
)
def test_a_report_names_its_priors_in_one_line(n_classes, metrics, said):
    counts = ConfusionCounts(30 * np.eye(n_classes, dtype=int) + 3)
    report = counts.report(metrics=metrics, random_state=0)
    assert report.to_dict()["settings"]["prior"] == f"default ({said})"
    line = next(line for line in str(report).splitlines() if line.startswith("prior"))
    assert line.endswith(f"default ({said})")
    assert f"default ({said})" in report.to_html()


def test_priors_of_one_class_and_of_all():
    counts = ConfusionCounts(30 * np.eye(3, dtype=int) + 3)
    texts = [
        counts.posterior(name, pos_label=0, n_draws=10, random_state=0).prior
        for name in ("dor", "f1_macro", "recall")
    ]
    assert join_texts(texts) == (
        f"default ({OWN}; others of one class: 1/3 of a row per cell; "
        "others of all classes: one pseudo-row per class)"
    )
    assert join_texts([texts[2], "jeffreys"]) == f"{texts[2]}; jeffreys"
    assert join_texts([None, "0.5", "0.5"]) == "0.5"
