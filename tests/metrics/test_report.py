"""interval_report of one test set, against scikit-learn and the posteriors."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import classification_report, confusion_matrix
from sklearn.model_selection import GridSearchCV

from report_cases import (
    BASES,
    BOARD,
    LABELS,
    NB,
    PETS,
    THREE,
    ends,
    predictions,
    quiet,
    rows_of,
    same,
    table,
)
from skuncertain import BayesianCrossValidator, ConfusionCounts, interval_report
from skuncertain.metrics import metric_posterior
from skuncertain.posteriors import BetaPosterior

# --------------------------------------------------------------------------------------------------
# Classification


@pytest.mark.parametrize("case", LABELS)
def test_points_are_those_of_scikit_learn(case, global_random_seed):
    y_true, y_pred, labels = predictions(case, np.random.default_rng(global_random_seed))
    given = labels if case == "never" else None
    found = table(interval_report(y_true, y_pred, labels=given, n_draws=50))
    expected = classification_report(
        y_true, y_pred, labels=given, output_dict=True, zero_division=np.nan
    )
    assert list(found) == list(expected)
    same(found["accuracy"]["f1"]["value"], expected.pop("accuracy"))
    assert found["accuracy"]["support"] == len(y_true)
    if case == "never":  # scikit-learn leaves it out of the average: that is another metric
        macro, _ = found["macro avg"], expected.pop("macro avg")
        assert np.isnan([macro[base]["value"] for base in BASES]).all()
    for name, row in expected.items():
        assert found[name]["support"] == row["support"]
        points = [row["precision"], row["recall"], row["f1-score"]]
        same([found[name][base]["value"] for base in BASES], points)


@quiet
@pytest.mark.parametrize(("level", "kind"), [(0.9, "eti"), (0.95, "hdi")])
@pytest.mark.parametrize("prior", ["auto", "jeffreys", 0.25, "array"])
@pytest.mark.parametrize("case", ["signs", "three", "ten", "never"])
def test_intervals_are_those_of_the_posteriors(case, prior, level, kind, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y_true, y_pred, labels = predictions(case, rng)
    if prior == "array":
        prior = rng.uniform(0.1, 1.5, size=(len(labels), len(labels)))  # in no way symmetric
    options = {"prior": prior, "random_state": 3, "n_draws": 400}
    report = interval_report(y_true, y_pred, labels=labels, level=level, kind=kind, **options)
    found = table(report)
    counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels)
    expected = {(str(c), base): (base, c) for c in labels for base in BASES}
    for average in ("macro", "weighted"):
        expected |= {(f"{average} avg", base): (f"{base}_{average}", None) for base in BASES}
    expected["accuracy", "f1"] = "accuracy", None
    for (name, base), (metric, label) in expected.items():
        posterior = counts.posterior(metric, pos_label=label, **options)
        same(ends(found[name][base]), posterior.interval(level, kind))
        same(found[name][base]["error"], posterior.interval_error(level, kind))
    # The confusion matrix: shares of the rows, and recall on the diagonal.
    matrix = confusion_matrix(y_true, y_pred, labels=labels)
    rows = rows_of(report, "confusion")
    assert [row["count"] for row in rows] == matrix.ravel().tolist()
    with np.errstate(invalid="ignore"):
        shares = matrix / matrix.sum(axis=1, keepdims=True)
    same([row["rate"]["value"] for row in rows], shares.ravel())
    for name, row in zip(map(str, labels), rows[:: len(labels) + 1], strict=True):
        assert (row["true"], row["predicted"]) == (name, name)
        same(ends(row["rate"]), ends(found[name]["recall"]))


def test_rates_of_confusions():
    """Off the diagonal: Beta of the cell against the rest of its row."""
    prior = np.array([[1.0, 0.2, 0.3], [0.4, 1.5, 0.6], [0.7, 0.8, 1.9]])
    rows = rows_of(interval_report(THREE, prior=prior), "confusion")
    for row, (i, j) in zip(rows, np.ndindex(3, 3), strict=True):
        cells = THREE.counts[i] + prior[i]
        expected = BetaPosterior(cells[j], cells.sum() - cells[j]).interval()
        same(ends(row["rate"]), expected)


def test_counts_and_names():
    y_true = np.repeat(["cat", "dog"], [40, 60])
    y_pred = np.repeat(["cat", "dog", "cat", "dog"], [35, 5, 10, 50])
    plain = interval_report(y_true, y_pred, pos_label="dog", random_state=0)
    assert plain.to_json() == interval_report(PETS, random_state=0).to_json()
    report = interval_report(PETS, target_names=["Katze", "Hund"], random_state=0)
    assert list(table(report))[:2] == ["Katze", "Hund"]
    assert table(report)["Hund"]["f1"] == table(plain)["dog"]["f1"]
    assert [row["true"] for row in rows_of(report, "confusion")] == ["Katze"] * 2 + ["Hund"] * 2


def test_weights():
    rng = np.random.default_rng(0)
    y_true, y_pred, labels = predictions("three", rng)
    weight = rng.uniform(0.2, 3.0, size=y_true.size)
    report = interval_report(y_true, y_pred, sample_weight=weight, random_state=0)
    expected = classification_report(y_true, y_pred, sample_weight=weight, output_dict=True)
    effective = weight.sum() ** 2 / np.square(weight).sum()
    for name in labels:
        row = table(report)[name]
        same(row["recall"]["value"], expected[name]["recall"])
        # What the rows of the class are worth to its recall, no longer a share of Kish's size
        counts = ConfusionCounts.from_predictions(y_true, y_pred, sample_weight=weight)
        same(row["support"], counts.effective_rows("recall", pos_label=name))
        interval = metric_posterior(
            y_true, y_pred, metric="recall", pos_label=name, sample_weight=weight
        ).interval()
        same(ends(row["recall"]), interval)
    assert f"{effective:.1f} (effective) rows" in str(report)


def test_whole_effective_size():
    weight = np.repeat([1.0, 3.0], 50)  # 200² / 500 = 80 of 100 rows
    report = interval_report([0, 1] * 50, [0, 1, 1, 1] * 25, sample_weight=weight)
    assert "(effective)" in str(report)


def test_groups():
    y_true, y_pred, _ = predictions("three", np.random.default_rng(1))
    groups = np.arange(y_true.size) // 9
    options = {"groups": groups, "n_draws": 300, "random_state": 5}
    report = interval_report(y_true, y_pred, kind="hdi", **options)
    for name, base, metric, label in (
        ("bee", "precision", "precision", "bee"),
        ("cow", "f1", "f1", "cow"),
        ("macro avg", "f1", "f1_macro", None),
        ("accuracy", "f1", "accuracy", None),
    ):
        posterior = metric_posterior(y_true, y_pred, metric=metric, pos_label=label, **options)
        cell = table(report)[name][base]
        same(ends(cell), posterior.interval(kind="hdi"))
        same(cell["error"], posterior.interval_error(kind="hdi"))
    assert f"Bayesian bootstrap over {np.unique(groups).size} groups" in str(report)
    # Intervals of the rates would ignore the groups.
    assert all("low" not in row["rate"] for row in rows_of(report, "confusion"))


def test_groups_with_weights():
    with pytest.raises(ValueError, match="groups cannot be combined"):
        interval_report([0, 1] * 9, [0, 1] * 9, groups=[1, 2, 3] * 6, sample_weight=[1, 2] * 9)


def test_no_interval_no_word_of_it():
    report = interval_report([0, 1] * 9, [0, 1] * 9, groups=[1, 2, 3] * 6, n_draws=50)
    assert "with its interval" not in report.to_markdown()


@pytest.mark.parametrize("counts", [PETS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("prior", ["auto", "jeffreys", 0.25])
def test_prior_as_it_was_given(counts, prior):
    shown = dict(interval_report(counts, prior=prior).to_dict()["settings"]["shown"])["prior"]
    assert ("default" if prior == "auto" else str(prior)) in shown
    assert "array" not in shown


@pytest.mark.parametrize("matrix", [[[9, 0], [4, 0]], [[9, 1, 0], [2, 8, 0], [0, 0, 0]]])
def test_the_warnings_of_the_posteriors_are_listed(matrix):
    counts = ConfusionCounts(matrix)
    listed = interval_report(counts, n_draws=200).to_dict()["warnings"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for base in BASES:
            for label in counts.labels:
                counts.posterior(base, pos_label=label)
            for average in ("macro", "weighted"):
                counts.posterior(f"{base}_{average}", n_draws=200)
    assert {str(warning.message) for warning in caught} <= set(listed)


@quiet
@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[0, 0], [0, 9]], "undefined"),  # one class only
        ([[20, 0], [0, 20]], "1.000 [0."),  # perfect
        ([[0, 0], [0, 0]], "0 rows"),
        (np.zeros((3, 3), dtype=int), "undefined [0.0"),
        ([[10**9, 10**8], [10**7, 10**9]], "2110000000 rows"),
        (np.eye(100, dtype=int) * 9 + 1, "100 classes: the 100 most frequent confusions"),
    ],
)
def test_extremes(matrix, expected):
    report = interval_report(ConfusionCounts(matrix), n_draws=300, random_state=0)
    assert expected in report.to_markdown()
    assert len(report.to_frame()) == len(matrix) + 3
    for row in table(report).values():
        for base in set(BASES) & set(row):
            low, high = ends(row[base])
            assert 0 <= low < high <= 1
            assert high == 1 or row[base]["value"] != 1  # what was perfect may be perfect


def test_many_classes_list_the_worst_confusions():
    matrix = np.full((30, 30), 1) + 50 * np.eye(30, dtype=int)
    matrix[3, 7] = 9
    rows = rows_of(interval_report(ConfusionCounts(matrix), n_draws=100), "confusion")
    assert len(rows) == 100
    assert (rows[0]["true"], rows[0]["predicted"], rows[0]["count"]) == ("3", "7", 9)
    same(rows[0]["rate"]["value"], 9 / matrix[3].sum())


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        (ConfusionCounts(np.ones((4, 2, 2), int)), {}, ValueError, r"stack of shape \(4,\).*sum"),
        (PETS, {"y_pred": [0, 1]}, TypeError, "y_pred cannot be combined with counts"),
        (PETS, {"labels": [0, 1]}, TypeError, "labels cannot be combined with counts"),
        (PETS, {"groups": [1]}, TypeError, "groups cannot be combined with counts"),
        (PETS, {"sample_weight": [1]}, TypeError, "sample_weight cannot be combined with counts"),
        (PETS, {"level": 95}, ValueError, "level"),
        (PETS, {"kind": "sdi"}, ValueError, "kind"),
        (PETS, {"digits": -1}, ValueError, "digits"),
        (PETS, {"digits": 2.5}, TypeError, "digits"),
        (PETS, {"prior": "laplac"}, ValueError, "laplace"),
        (PETS, {"prior": np.ones((3, 3))}, ValueError, "shape"),
        (PETS, {"target_names": ["a"]}, ValueError, "target_names must name the 2 classes"),
        (PETS, {"target_names": "ab"}, ValueError, "target_names must name the 2 classes"),
        ([0, 1, 1], {}, TypeError, "y_true must come with y_pred.*got list alone"),
        ([0, 1, 1], {"n_draws": 100}, TypeError, "y_true must come with y_pred.*got list alone"),
        (GridSearchCV(NB, {}), {}, TypeError, "GridSearchCV alone"),
        (BayesianCrossValidator(NB), {}, NotFittedError, "not fitted"),
        (BOARD, {"prior": 1}, TypeError, "prior cannot be combined with a finished result"),
        (BOARD, {"random_state": 0}, TypeError, "random_state cannot be combined"),
        (BOARD, {"target_names": ["a"]}, TypeError, "target_names cannot be combined"),
        (BOARD, {"level": 0.9}, ValueError, "level must be that of the result, 0.95, got 0.9"),
        (BOARD, {"kind": "hdi"}, ValueError, "kind must be that of the result"),
    ],
)
def test_refused(given, options, error, message):
    with pytest.raises(error, match=message):
        interval_report(given, **options)


def test_a_finished_search_is_told_its_way():
    search = GridSearchCV(NB, {}, cv=3).fit(np.arange(12).reshape(-1, 1), [0, 1] * 6)
    with pytest.raises(ValueError, match=r"GridSearchCV.*use search_posterior\(search\)\.report"):
        interval_report(search)


def test_the_level_of_the_result_is_no_contradiction():
    assert str(interval_report(BOARD, level=0.95, kind="eti")) == str(BOARD.report())


def test_numbers_of_rows_are_whole():
    report = interval_report(THREE)
    assert report.to_frame("confusion")["count"].dtype.kind == "i"
    assert {type(row["count"]) for row in rows_of(report, "confusion")} == {int}
    weighted = interval_report([0, 0, 1, 1], [0, 1, 1, 1], sample_weight=[1, 1, 1, 2])
    assert float in {type(row["count"]) for row in rows_of(weighted, "confusion")}


def test_more_classes_have_no_sensitivity():
    assert "sensitivity" not in str(interval_report([0, 1, 2, 2], [0, 1, 2, 1], random_state=0))
