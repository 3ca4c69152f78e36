"""interval_report and IntervalReport: numbers and text, against scikit-learn and the posteriors."""

import csv
import html
import io
import json
import pickle
import re
import sys
import unicodedata
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError, UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import classification_report, confusion_matrix
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skuncertain
from skuncertain import (
    BayesianCrossValidator,
    BetaPosterior,
    ConfusionCounts,
    ConfusionCountsScorer,
    DegenerateIntervalWarning,
    IntervalReport,
    compare,
    compare_cv,
    compare_datasets,
    compare_paired,
    cross_val_posterior,
    fold_interval,
    fold_posterior,
    interval_report,
    leaderboard,
    make_metric,
    metric_posterior,
    search_posterior,
    threshold_report,
)

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
NB = GaussianNB()
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 4]}
PETS = ConfusionCounts([[35, 5], [10, 50]], labels=["cat", "dog"])
THREE = ConfusionCounts([[30, 2, 3], [1, 25, 4], [2, 2, 31]], labels=["ant", "bee", "cow"])
EMPTY = ConfusionCounts([[40, 0], [0, 0]])  # no positives
MODELS = {
    "tree": ConfusionCounts.from_binary(tp=40, fp=3, fn=5, tn=60),
    "forest": ConfusionCounts.from_binary(tp=42, fp=6, fn=2, tn=58),
    "boost": ConfusionCounts.from_binary(tp=39, fp=1, fn=7, tn=60),
}
BASES = ("precision", "recall", "f1")
CHANCES = ("p_worse", "p_equivalent", "p_better")
RATES = ("specificity", "fpr", "fnr", "recall")  # the cells of two classes, row by row
LABELS = {
    "two": [0, 1],
    "three": ["ant", "bee", "cow"],
    "ten": list(range(10)),
    "signs": [-1, 1],
    "bools": [False, True],
    "never": ["a", "b", "c", "d"],  # d does not occur
}
# The posteriors that a report is compared with warn; the report lists the same instead.
quiet = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.UndefinedMetricWarning",
    "ignore::skuncertain.SmallSampleWarning",
    "ignore::skuncertain.DegenerateIntervalWarning",
)


def predictions(case, rng, n=150):
    """True and predicted labels, right in about three quarters of the rows."""
    labels = np.array(LABELS[case])
    used = labels[:3] if case == "never" else labels
    truth = np.concatenate([np.arange(used.size), rng.integers(used.size, size=n)])
    guess = np.where(rng.random(truth.size) < 0.7, truth, rng.integers(used.size, size=truth.size))
    guess[: used.size] = truth[: used.size]
    return used[truth], used[guess], labels.tolist()


def two_models(n=200):
    """True labels, and predictions of two models for the same rows."""
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=n)
    return truth, *(np.where(rng.random(n) < p, truth, 1 - truth) for p in (0.8, 0.85))


def score_table(scores, **more):
    """What a search would save, from scores of shape (candidates, splits)."""
    columns = np.asarray(scores, dtype=float).T
    return {**{f"split{k}_test_score": column for k, column in enumerate(columns)}, **more}


def rows_of(report, section):
    return report.to_dict()["sections"][section]["rows"]


def table(report, section=None):
    """Rows of a section by the entry of the first column."""
    sections = report.to_dict()["sections"]
    part = sections[next(iter(sections)) if section is None else section]
    return {row[part["columns"][0]["key"]]: row for row in part["rows"]}


def ends(cell):
    return cell["low"], cell["high"]


def value(cell):
    return cell["value"] if isinstance(cell, dict) else cell


def same(found, expected, atol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


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
    plain = interval_report(y_true, y_pred, random_state=0)
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
        same(row["support"], expected[name]["support"] / weight.sum() * effective)
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
    assert str(prior) in shown
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


BOARD = leaderboard(MODELS, metric="f1")


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
        ([0, 1, 1], {}, TypeError, "needs true and predicted labels.*got list alone"),
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


def test_the_level_of_the_result_is_no_contradiction():
    assert str(interval_report(BOARD, level=0.95, kind="eti")) == str(BOARD.report())


# --------------------------------------------------------------------------------------------------
# Cross-validation

REPEATED = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cv", "omega", "prior"),
    [
        (6, "auto", 1.0),
        (6, "wang-li", 1.0),
        (6, "auto", 0.5),
        (6, 0.7, "jeffreys"),
        (6, "auto", np.array([[3.0, 1.0], [0.5, 2.0]])),
        (REPEATED, "auto", 1.0),
        (REPEATED, "wang-li", 2.0),
    ],
)
def test_cross_validation(cv, omega, prior):
    options = {"omega": omega, "prior": prior, "random_state": 0}
    bcv = BayesianCrossValidator(NB, cv=cv, level=0.9, refit=False, **options).fit(X, Y)
    report, counts = bcv.report(), bcv.counts_
    repeats = 1 if cv == 6 else 3
    for name, row in table(report).items():
        posterior = fold_posterior(counts, name, n_repeats=repeats, **options)
        same(ends(row["interval"]), posterior.interval(0.9))
        same(row["omega"], posterior.diagnostics.omega)
        values = np.array([one.score(name) for one in counts])
        same(row["pooled"], counts.sum().score(name))
        same(row["mean"], values.mean())
        same([row["lowest_fold"], row["highest_fold"]], [values.min(), values.max()])
        same([fold[name] for fold in rows_of(report, "folds")], values)
    assert list(table(report)) == ["accuracy", "precision", "recall", "f1", "mcc"]
    assert [fold["n"] for fold in rows_of(report, "folds")] == counts.n.tolist()
    # The rates of the confusion matrix have the intervals of the metrics that they are.
    rates = rows_of(report, "confusion")
    for row, metric in zip(rates, RATES, strict=True):
        same(ends(row["rate"]), bcv.interval(metric))
        same(row["rate"]["value"], counts.sum().score(metric))
    same([row["count"] for row in rates], counts.counts.sum(axis=0).ravel() / repeats)
    # Methods side by side.
    row = table(report, "methods")["recall"]
    settings = {"level": 0.9, "n_repeats": repeats}
    for method in ("averaged", "corrected_t", "nadeau_bengio"):
        more = {"prior": prior} if method == "averaged" else {}
        same(ends(row[method]), fold_interval(counts, "recall", method=method, **settings, **more))
    for other in ("auto", "wang-li"):
        expected = fold_interval(counts, "recall", omega=other, prior=prior, **settings)
        same(ends(row[other]), expected)
    assert str(report) == str(interval_report(bcv))


def test_cross_validation_of_three_classes():
    rows, classes = load_iris(return_X_y=True)
    bcv = BayesianCrossValidator(NB, cv=5, metrics=["accuracy"]).fit(rows, classes)
    cells = rows_of(bcv.report(kind="hdi"), "confusion")
    for k in range(3):
        same(ends(cells[4 * k]["rate"]), bcv.interval("recall", kind="hdi", pos_label=k))


@quiet
def test_other_methods():
    bcv = BayesianCrossValidator(NB, cv=5, method="nadeau_bengio", random_state=0).fit(X, Y)
    report = bcv.report()
    same(ends(table(report)["f1"]["interval"]), bcv.interval("f1"))
    assert re.search(r"^prior +none$", str(report), flags=re.MULTILINE)
    pooled = fold_interval(bcv.counts_, "recall")  # rates have no fold values to make a t of
    same(ends(rows_of(report, "confusion")[3]["rate"]), pooled)
    assert "intervals of the rates are pooled with omega auto and prior 1" in report.to_markdown()


def test_splits_that_cannot_be_pooled():
    cv = ShuffleSplit(8, test_size=0.2, random_state=0)
    report = BayesianCrossValidator(NB, cv=cv, method="nadeau_bengio").fit(X, Y).report()
    assert "methods" not in report.to_dict()["sections"]
    assert "- the folds cannot be pooled" in str(report)
    assert all("low" not in row["rate"] for row in rows_of(report, "confusion"))


def test_cross_val_posterior_and_level():
    results = cross_validate(NB, X, Y, scoring=ConfusionCountsScorer(), return_indices=True)
    posterior = cross_val_posterior(results, metrics=["f1", "npv"], random_state=0)
    for given in ({}, {"level": 0.5}, {"kind": "hdi"}, {"level": 0.8, "kind": "hdi"}):
        report = interval_report(posterior, **given)
        for name, row in table(report).items():
            same(ends(row["interval"]), posterior.interval(name, **given))
            published = posterior.interval(name, omega="wang-li", **given)
            same(ends(table(report, "methods")[name]["wang-li"]), published)
        assert f"{given.get('level', 0.95) * 100:g} %" in str(report)
        assert f"({given.get('kind', 'eti')})" in str(report)
    del results["indices"]
    assumed = cross_val_posterior(results, n_repeats=1).report()
    assert "5 folds (assumed to partition the rows)" in str(assumed)


# --------------------------------------------------------------------------------------------------
# Comparisons

TWO = MODELS["tree"], MODELS["forest"]
FOLDS = [0.8, 0.82, 0.79, 0.84, 0.7, 0.8], [0.8, 0.8, 0.9, 0.7, 0.8, 0.7]


@pytest.mark.parametrize(
    "result",
    [
        compare(*TWO, metric="recall", rope=0.01),
        compare(*TWO, metric="fpr", rope=0.02),  # less is better
        compare(*TWO, metric="cohen_kappa", n_draws=500, random_state=1),
        compare_paired(*two_models()),
        compare_paired(*two_models(), metric="f1", rope=0.02, n_draws=800, random_state=0),
        compare_cv(*FOLDS, rope=0.01, names=("x", "y")),
        compare_cv(*FOLDS, n_repeats=2),
    ],
    ids=["recall", "fpr", "drawn", "paired", "paired f1", "folds", "repeated"],
)
def test_comparisons(result):
    for given in ({}, {"level": 0.8, "kind": "hdi"}):
        report = interval_report(result, **given)
        (row,) = table(report).values()
        same(ends(row["value"]), result.interval(**given))
        same(row["value"]["value"], result.difference.median())
        same([value(row[name]) for name in CHANCES], [getattr(result, name) for name in CHANCES])
        # What was counted has an error.
        assert isinstance(row["p_better"], dict) == (not result.difference.exact)
        assert f"{result.names[1]} - {result.names[0]}" in str(report)
        if not result.difference.exact:
            assert f"seed {result.difference.seed}" in str(report)
    # The areas of the plot are named by who is better there, also if less is better.
    left, _, right = report.to_dict()["sections"]["difference"]["figure"]["areas"]
    a, b = result.names if result.greater_is_better else result.names[::-1]
    assert (left[0], right[0]) == (f"{a} better", f"{b} better")
    same(left[1], result.difference.cdf(-result.rope), atol=1e-6)
    same(right[1], 1 - result.difference.cdf(result.rope), atol=1e-6)


def test_stack_of_comparisons():
    many = ConfusionCounts([[[30, 5], [4, 40]], [[28, 7], [9, 35]], [[33, 2], [1, 43]]])
    result = compare(PETS.posterior("accuracy"), many.posterior("accuracy"), rope=0.01)
    rows = table(result.report(level=0.9))
    assert list(rows) == ["B - A [0]", "B - A [1]", "B - A [2]"]
    same([ends(row["value"]) for row in rows.values()], np.transpose(result.interval(0.9)))
    same([row["p_better"] for row in rows.values()], result.p_better)


@pytest.mark.parametrize("folds", [True, False])
def test_datasets(folds):
    rng = np.random.default_rng(0)
    a = rng.uniform(0.7, 0.8, size=(6, 10) if folds else 6)
    b = a + rng.normal(0.01, 0.02, size=a.shape)
    result = compare_datasets(a, b, rope=0.01, random_state=4, n_draws=2000)
    report = interval_report(result, level=0.8, kind="hdi")
    for name, expected in (("signed rank", result.signed_rank), ("sign", result.sign)):
        same([value(table(report, "tests")[name][key]) for key in CHANCES], expected)
    cells = [row["difference"] for row in rows_of(report, "datasets")]
    same([value(cell) for cell in cells], result.differences)
    if folds:
        intervals = np.transpose(result.per_dataset.interval(0.8, "hdi"))
        same([ends(cell) for cell in cells], intervals)


# --------------------------------------------------------------------------------------------------
# Rankings


def shared_rows(**options):
    truth, a, b = two_models()
    models = {"first": a, "second": b, "both": np.where(a == b, a, truth), "none": 1 - a}
    return leaderboard(models, y_true=truth, metric="f1", **options)


@pytest.mark.parametrize(
    "board",
    [
        leaderboard(MODELS, metric="f1", level=0.9, kind="hdi"),
        leaderboard(MODELS, metric="fpr"),
        leaderboard(MODELS, metric="mcc", n_draws=2000, random_state=1),
        shared_rows(n_draws=1000, random_state=0),
    ],
    ids=["exact", "less is better", "drawn", "shared rows"],
)
def test_leaderboards(board):
    report = interval_report(board)
    assert list(table(report)) == [board.names[k] for k in board.order()]
    for k, name in enumerate(board.names):
        row, ranks = table(report)[name], table(report, "ranks")[name]
        same(ends(row["mean"]), board.interval(name))
        same(row["mean"]["value"], board.mean[k])
        numbers = [row[key] for key in ("p_best", "rank", "loss")]
        expected = [board.p_best[k], board.expected_rank[k], board.expected_loss[k]]
        same([value(cell) for cell in numbers], expected)
        assert all(isinstance(cell, dict) == (board.n_draws is not None) for cell in numbers)
        shown = [value(ranks[f"rank {place + 1}"]) for place in range(len(board.names))]
        same(shown, board.rank_probabilities[k])
        for j, other in enumerate(board.names):
            pair = table(report, "pairs")[name][f"better than {other}"]
            same(value(pair), board.pairwise[k, j])
    assert board.method in str(report)


def test_models_of_the_same_name():
    board = leaderboard({1: TWO[0], "1": TWO[1], "x": MODELS["boost"]}, metric="f1")
    order = board.order()
    same(board.report().to_frame("pairs").to_numpy(), board.pairwise[np.ix_(order, order)])


def test_leaderboard_of_posteriors_with_different_priors():
    models = {prior: PETS.posterior("accuracy", prior=prior) for prior in ("jeffreys", "laplace")}
    assert "laplace" in leaderboard(models).report().to_dict()["settings"]["prior"]


@pytest.fixture(scope="module")
def searches():
    """Finished searches of several kinds."""
    scorer = ConfusionCountsScorer(metrics=["f1"])
    depths = {"max_depth": [1, 2, 3, 4, 5, 6]}
    found = {
        "counts": GridSearchCV(TREE, GRID, cv=5, scoring=scorer, refit="f1"),
        "repeated": GridSearchCV(TREE, GRID, cv=REPEATED, scoring=scorer, refit="f1"),
        "plain": GridSearchCV(TREE, GRID, cv=5, scoring="balanced_accuracy"),
        "random": RandomizedSearchCV(TREE, GRID, n_iter=2, cv=5, random_state=0),
        "halving": HalvingGridSearchCV(TREE, depths, cv=4, random_state=0),
    }
    return {name: search.fit(X, Y) for name, search in found.items()}


@quiet
@pytest.mark.parametrize("name", ["counts", "repeated", "plain", "random", "halving"])
def test_searches(searches, name):
    search = searches[name]
    result = search_posterior(search, random_state=0)
    report = interval_report(result)
    rows = {row["index"]: row for row in rows_of(report, "candidates")}
    gaps, folds = table(report, "differences"), report.to_frame("folds")
    assert sorted(rows) == np.flatnonzero(np.isfinite(result.p_best)).tolist()
    assert np.all(np.diff([result.expected_rank[k] for k in rows]) >= 0)
    best = search.best_index_
    repeats = {"n_repeats": result.n_repeats}
    for k, row in rows.items():
        label = row["candidate"]
        assert (label, row["selected"]) == (result.names[k], k == best)
        same(ends(row["mean"]), (result.low[k], result.high[k]))
        same(value(row["p_best"]), result.p_best[k])
        assert row["equivalent"] == result.equivalent[k]
        same(folds[label], result.scores[k])
        if k != best:
            sizes = {"n_train": 1.0, "n_test": result.test_train_ratio}
            pair = compare_cv(result.scores[best], result.scores[k], rope=0.01, **sizes, **repeats)
            same(ends(gaps[label]["difference"]), pair.interval(), atol=1e-9)
            expected = [getattr(pair, key) for key in CHANCES]
            same([gaps[label][key] for key in CHANCES], expected, atol=1e-9)
    counted = name in ("counts", "repeated")
    assert ("confusion" in report.to_dict()["sections"]) == counted
    if counted:
        for row, metric in zip(rows_of(report, "confusion"), RATES, strict=True):
            same(ends(row["rate"]), fold_interval(result.counts, metric, **repeats))
        same(ends(rows[best]["mean"]), fold_interval(result.counts, "f1", **repeats))
        assert "240 rows" in str(report)
    assert ("halving search: only" in str(report)) == (name == "halving")
    # The search itself can be given, with another level and kind.
    other = {"level": 0.8, "kind": "hdi"}
    expected = search_posterior(search, random_state=0, **other)
    for row in rows_of(interval_report(search, **other), "candidates"):
        same(ends(row["mean"]), (expected.low[row["index"]], expected.high[row["index"]]))


class StubbornTree(DecisionTreeClassifier):
    """Fails to fit with one depth."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth == 2:
            raise ValueError("no")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_failed_candidates():
    search = GridSearchCV(StubbornTree(random_state=0), GRID, cv=4, error_score=np.nan)
    with pytest.warns(FitFailedWarning):
        search.fit(X, Y)
    report = interval_report(search)
    assert [row["index"] for row in rows_of(report, "candidates")] in ([0, 2], [2, 0])
    assert "- 1 of 3 candidates have missing scores and are left out" in str(report)


def test_candidates_of_the_same_name():
    scores = [[0.7, 0.71, 0.72], [0.6, 0.65, 0.64], [0.8, 0.82, 0.83]]
    params = [{"a": 1}, {"a": "1"}, {"a": 2}]
    report = search_posterior(score_table(scores, params=params)).report()
    same(report.to_frame("folds").to_numpy().T, [scores[2], scores[0], scores[1]])


class Verbose:
    """Parameter that counts how often it is printed."""

    printed = 0

    def __str__(self):
        Verbose.printed += 1
        return f"value {id(self)}"


def test_names_of_candidates_are_made_once():
    scores = np.random.default_rng(0).normal(0.8, 0.02, (50, 5))
    params = [{"a": Verbose()} for _ in range(50)]
    search_posterior(score_table(scores, params=params), n_draws=50).report()
    assert Verbose.printed <= 10 * 50


def test_metric_called_split():
    mine = make_metric(lambda m: m[..., 1, 1] / m[..., 1, :].sum(-1), name="split", range=(0, 1))
    bcv = BayesianCrossValidator(NB, cv=3, metrics=[mine], random_state=0).fit(X, Y)
    assert [row["split"] for row in rows_of(bcv.report(), "folds")] == [0, 1, 2]


# --------------------------------------------------------------------------------------------------
# What every report says

ASK = {"level": 0.9, "kind": "hdi"}


def cv_case(y):
    bcv = BayesianCrossValidator(NB, cv=KFold(6), metrics=["recall"], omega="wang-li", **ASK)
    return bcv.fit(X, y).report()


def cv_posterior_case(y):
    options = {"scoring": ConfusionCountsScorer(), "return_indices": True}
    results = cross_validate(NB, X, y, cv=KFold(6), **options)
    chosen = {"metrics": ["recall"], "method": "nadeau_bengio"}
    return cross_val_posterior(results, **chosen, **ASK).report()


FLAT = np.array([[0.5, 0.625, 0.75], [0.5, 0.5, 0.5], [0.25, 0.25, 0.25]])  # two without spread


def datasets_case():
    a = np.linspace(0.7, 0.8, 40).reshape(8, 5)
    return compare_datasets(a, a + 0.01 * np.sin(100 * a), random_state=0).report(**ASK)


# For every kind of report: without a warning; with one; settings; question; that warning.
KINDS = {
    "predictions": (
        lambda: interval_report([0] * 40 + [1] * 60, [0, 1] * 50, **ASK),
        lambda: interval_report([0] * 4 + [1] * 60, [0, 1] * 32, **ASK),
        "auto: neutral, 1/3 per cell & Dirichlet posterior of one test set & not used & 100 rows & "
        "no folds",
        "What are precision, recall and F1 of this one model on rows like these 100",
        "fewer than 5 rows in class 0",
    ),
    "classification": (
        lambda: interval_report(PETS, **ASK),
        lambda: interval_report(ConfusionCounts([[3, 1], [2, 40]]), **ASK),
        "auto: neutral, 1/3 per cell & Dirichlet posterior of one test set & not used & 100 rows & "
        "no folds",
        "What are precision, recall and F1 of this one model on rows like these 100",
        "fewer than 5 rows in class 0",
    ),
    "cross-validation": (
        lambda: cv_case(Y),
        lambda: cv_case(np.where(np.arange(240) < 80, 1 - Y, Y)),  # two folds of another world
        "1 on each side of the proportion & pooled & wang-li; published (K + 1) / (2 K) = 0.583 & "
        "240 rows & 6 folds",
        "How well does the algorithm do on average when it is trained on 200 rows",
        "folds disagree more than sampling explains on recall",
    ),
    "cross_val_posterior": (
        lambda: cv_posterior_case(Y),
        lambda: cv_posterior_case(np.where(np.arange(240) < 80, 1 - Y, Y)),
        "none & nadeau_bengio & not used & 240 rows & 6 folds",
        "How well does the algorithm do on average when it is trained on 200 rows",
        "folds disagree more than sampling explains on recall",
    ),
    "compare": (
        lambda: compare(*TWO, metric="recall").report(**ASK),
        lambda: compare(TWO[0], EMPTY, metric="recall").report(**ASK),
        "auto: neutral, 1/3 per cell & independent test sets & not used & 108 and 108 rows & "
        "no folds",
        "By how much do the models B and A differ in recall",
        "recall is 0/0 in the data",
    ),
    "compare_paired": (
        lambda: compare_paired(*two_models(), metric="f1", n_draws=500).report(**ASK),
        lambda: compare_paired(
            *([0] * 99 for _ in range(3)), labels=[0, 1], metric="f1", n_draws=500
        ).report(**ASK),
        "0.5 per agreement cell & 200 shared rows & not used & 200 rows & no folds",
        "on rows like these 200, which both have predicted?",
        "f1 is 0/0 in the data",
    ),
    "compare_cv": (
        lambda: compare_cv(*FOLDS).report(**ASK),
        lambda: compare_cv([*FOLDS[0], np.nan], [*FOLDS[1], 0.8]).report(**ASK),
        "none: Student's t on the differences of the folds & 6 shared folds & not used & not known"
        " & 6 folds",
        "By how much do B and A differ in the score on average",
        "a score is missing in 1 of 7 folds",
    ),
    "datasets": (
        datasets_case,
        lambda: compare_datasets(FLAT, FLAT[:, ::-1] + 0.1).report(**ASK),
        "0.5 data sets without a difference & Bayesian signed-rank and sign tests; correlated t on "
        "each data set & not used & not known & 5 folds on each data set",
        "On most data sets like these 8, is B better or worse than A?",
        "all folds of data set 1, 2 have the same difference",
    ),
    "leaderboard": (
        lambda: leaderboard(MODELS, metric="recall", **ASK).report(),
        lambda: leaderboard(MODELS | {"none": EMPTY}, metric="recall", **ASK).report(),
        "auto: neutral, 1/3 per cell & independent, exact & not used & 107 to 108 rows & no folds",
        "Which of these 3 models is the best",
        "recall is 0/0 in the data",
    ),
    "thresholds": (
        lambda: threshold_report(
            [0, 1] * 50, np.linspace(0, 1, 100), [0.5], prior=0.25, **ASK
        ).report(),
        lambda: threshold_report([0, 1] * 50, np.linspace(0, 1, 100), [2], **ASK).report(),
        "0.25 & Dirichlet posterior of one test set, for every threshold & not used & 100 rows & "
        "no folds",
        "What are the metrics of this one model on rows like these 100, if rows are called "
        "positive from that threshold on?",
        "precision is 0/0 in the data",
    ),
    "search": (
        lambda: interval_report(GridSearchCV(TREE, GRID, cv=4).fit(X, Y), **ASK),
        lambda: interval_report(search_posterior(score_table(FOLDS), **ASK)),
        "none & nadeau_bengio (t on fold scores); candidates: correlated t on the shared folds & "
        "not used & not known & 4 folds, n_test / n_train = 0.333",
        "Which candidate has the best score on average",
        "assumed: one repetition of K-fold (n_repeats=1)",
    ),
}


def texts(report):
    """Return the three renderings that are read, without their markup."""
    markdown = re.sub(r"\\(.)", r"\1", report.to_markdown()).replace("&amp;", "&")
    page = html.unescape(re.sub("<[^>]+>", "\n", report.to_html()))
    return {"text": str(report), "markdown": markdown, "html": page}


@pytest.mark.parametrize("name", KINDS)
def test_what_every_report_says(name):
    make, _, settings, question, _ = KINDS[name]
    report = make()
    keys = ("level", "kind", "prior", "method", "omega", "n", "K")
    values = ("90 %", "highest-density (hdi)", *settings.split(" & "))
    between = {"text": " +", "markdown": ": ", "html": r"\n+"}
    for form, text in texts(report).items():
        for key, expected in zip(keys, values, strict=True):
            line = rf"^(- )?{key}{between[form]}{re.escape(expected)}$"
            assert re.search(line, text, flags=re.MULTILINE), (form, key)
        assert question in text
    assert report.to_dict()["warnings"] == []
    assert str(report).endswith("\n\nWarnings\n- none")
    assert "\n## Warnings\n\n- none\n" in report.to_markdown()
    assert "Warnings: none." in report.to_html()


@pytest.mark.filterwarnings("ignore")  # it is about them
@pytest.mark.parametrize("name", KINDS)
def test_every_report_lists_its_warnings(name):
    _, make, *_, warning = KINDS[name]
    report = make()
    assert any(text.startswith(warning) for text in report.to_dict()["warnings"])
    found = texts(report)
    assert f"\n- {warning}" in found["text"].split("\n\nWarnings")[1]
    assert f"\n- {warning}" in found["markdown"].split("\n## Warnings\n")[1]
    assert f"\n{warning}" in found["html"]
    assert report.to_frame().attrs["warnings"] == report.to_dict()["warnings"]


def test_warnings_do_not_depend_on_what_was_asked_before():
    bcv = BayesianCrossValidator(NB, cv=5, method="nadeau_bengio", metrics=["recall"], level=0.999)
    fresh = bcv.fit(X, Y).report().to_dict()["warnings"]
    with pytest.warns(DegenerateIntervalWarning):
        assert bcv.fit(X, Y).intervals_["recall"].high > 1
    assert len(fresh) == 1
    assert bcv.report().to_dict()["warnings"] == fresh
    assert bcv.report(level=0.5).to_dict()["warnings"] == []  # that one is within the range


@quiet
@pytest.mark.filterwarnings("ignore::skuncertain.FoldDisagreementWarning")
def test_warnings_of_the_fit_are_listed():
    bcv = BayesianCrossValidator(NB, cv=KFold(6), metrics=["accuracy"])
    with pytest.warns(UserWarning, match="class") as caught:
        bcv.fit(X, np.repeat([0, 1, 2], [100, 100, 40]))
    assert str(caught[0].message) in bcv.report().to_dict()["warnings"]


def test_warnings_of_a_search_are_listed_and_not_raised():
    rows, classes = (part[::6] for part in load_iris(return_X_y=True))
    scorer = ConfusionCountsScorer(metrics=["f1_macro"])
    search = GridSearchCV(TREE, GRID, cv=3, scoring=scorer, refit="f1_macro").fit(rows, classes)
    report = interval_report(search)
    assert "f1_macro averages over classes with few rows" in str(report)


class PickyNB(GaussianNB):
    """Wants to see the first row."""

    def fit(self, X, y, sample_weight=None):
        if X[0, 0] != globals()["X"][0, 0]:
            raise ValueError("no")
        return super().fit(X, y)


@pytest.mark.filterwarnings(r"ignore:\s+1 fits failed")
def test_lost_folds_are_listed():
    bcv = BayesianCrossValidator(PickyNB(), cv=KFold(5), error_score=np.nan, metrics=["f1"])
    with pytest.warns(FitFailedWarning, match="left out"):
        report = bcv.fit(X, Y).report()
    assert "- folds [0] failed and are left out." in str(report)
    assert [row["split"] for row in rows_of(report, "folds")] == [1, 2, 3, 4]


def test_results_remember_their_warnings():
    for make in (
        lambda: compare(TWO[0], EMPTY, metric="recall"),
        lambda: leaderboard([TWO[0], EMPTY], metric="recall"),
    ):
        with pytest.warns(UndefinedMetricWarning, match="recall is 0/0") as caught:
            result = make()
        assert caught[0].filename == __file__  # they still point to the caller
        assert result.warnings == (str(caught[0].message),)
        assert result.to_dict()["warnings"] == list(result.warnings)
        assert pickle.loads(pickle.dumps(result)).warnings == result.warnings
    assert compare(*TWO, metric="recall").warnings == ()


# --------------------------------------------------------------------------------------------------
# Digits


def printed(report, heading):
    """Cells of a table in Markdown, by row and column."""
    block = report.to_markdown().split(f"## {heading}\n\n")[1].split("\n\n")[0]
    header, _, *lines = ([c.strip() for c in line[1:-1].split(" | ")] for line in block.split("\n"))
    return {line[0]: dict(zip(header, line, strict=True)) for line in lines}


def numbers_in(text):
    """Numbers in a text, and the units of their last digits."""
    found = re.findall(r"-?\d+(?:\.\d+)?", text)
    return [(float(one), 10.0 ** -len(one.partition(".")[2])) for one in found]


def units_apart(text, values):
    """How many units of the last digit printed numbers differ from the rounded truth."""
    return [
        abs(shown - round(value / unit) * unit) / unit
        for (shown, unit), value in zip(numbers_in(text), values, strict=True)
    ]


def drawn_reports(make, global_random_seed, number):
    return (make(random_state=1000 * global_random_seed + k + 1) for k in range(number))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_printed_ends_agree_with_many_more_draws(kind, global_random_seed):
    """The error is half a unit at most: two units are seen one time in a hundred at worst."""

    def make(n_draws=2000, **options):
        return interval_report(THREE, kind=kind, level=0.9, n_draws=n_draws, **options)

    many = table(make(n_draws=200_000, random_state=global_random_seed))
    apart = []
    for report in drawn_reports(make, global_random_seed, 30):
        for name, base in (("macro", "f1"), ("weighted", "precision"), ("weighted", "f1")):
            text = printed(report, "Scores")[f"{name} avg"][base]
            apart += units_apart(text.split(" ", 1)[1], ends(many[f"{name} avg"][base]))
    assert np.mean(np.array(apart) > 1.01) <= 0.03
    assert np.mean(np.array(apart) > 0.99) > 0.01  # and there is no digit to spare


@pytest.mark.parametrize("what", ["P(best)", "rank", "loss", "mean", "ranks", "pairs"])
def test_printed_rankings_agree_with_many_more_draws(what, global_random_seed):
    many = shared_rows(n_draws=50_000, random_state=global_random_seed)
    apart = []
    for board in drawn_reports(
        lambda **options: shared_rows(n_draws=200, **options), global_random_seed, 25
    ):
        report = board.report()
        for k, name in enumerate(many.names[:3]):
            heading, key, expected = {
                "P(best)": ("Models", "P(best)", many.p_best[k]),
                "rank": ("Models", "rank", many.expected_rank[k]),
                "loss": ("Models", "loss", many.expected_loss[k]),
                "mean": ("Models", "f1, mean", many.mean[k]),
                "ranks": ("Probability of every rank", "rank 2", many.rank_probabilities[k, 1]),
                "pairs": ("Probability of being better", "better than second", many.pairwise[k, 1]),
            }[what]
            apart += units_apart(printed(report, heading)[name][key].split(" ")[0], [expected])
    assert np.mean(np.array(apart) > 1.01) <= 0.05


def test_printed_median_agrees_with_many_more_draws(global_random_seed):
    def make(n_draws=200, **options):
        return compare_paired(*two_models(), metric="f1", n_draws=n_draws, **options)

    many = make(n_draws=50_000, random_state=global_random_seed).difference.median()
    apart = []
    for result in drawn_reports(make, global_random_seed, 25):
        text = printed(result.report(), "Difference")["B - A"]["f1, median"]
        apart += units_apart(text.split(" ")[0], [many])
    assert np.mean(np.array(apart) > 1.01) <= 0.05


def test_no_probability_is_rounded_to_certainty():
    good, poor = ConfusionCounts([[90, 10], [10, 90]]), ConfusionCounts([[60, 40], [40, 60]])
    exact = compare(poor, good, metric="accuracy", rope=0.01)
    assert 0 < exact.p_worse < 1e-6
    for digits, zero, one in ((None, "<0.001", ">0.999"), (2, "<0.01", ">0.99"), (0, "0", "1")):
        row = printed(exact.report(digits=digits), "Difference")["B - A"]
        shown = [row[key].replace("\\", "") for key in row if key.startswith("P(")]
        assert shown == [zero, zero, one]
    truth = np.array([0, 1] * 100)
    guesses = np.where(np.arange(200) % 5, truth, 1 - truth), truth
    drawn = compare_paired(truth, *guesses, metric="f1", n_draws=400, random_state=0)
    assert (drawn.p_worse, drawn.p_equivalent, drawn.p_better) == (0, 0, 1)
    row = printed(drawn.report(), "Difference")["B - A"]
    shown = [row[key].replace("\\", "") for key in row if key.startswith("P(")]
    assert shown == ["<0.01", "0.000", ">0.99"]  # without a ROPE nothing is equivalent
    text = html.unescape(drawn.report().to_html())
    assert "A better: <0.01; equivalent: 0.00; B better: >0.99" in text
    frame = drawn.report().to_frame()
    assert frame.loc["B - A", ["p_worse", "p_better"]].tolist() == [0, 1]


def test_few_draws_print_fewer_digits():
    units = []
    for n_draws in (100, 5000, 200_000):
        report = interval_report(THREE, n_draws=n_draws, random_state=0)
        text = printed(report, "Scores")["macro avg"]["f1"].split(" ", 1)[1]
        units += {unit for _, unit in numbers_in(text)}
    assert units == [0.1, 0.01, 0.001]


@pytest.mark.parametrize("digits", [0, 2, 6])
def test_digits_that_are_asked_for(digits):
    report = interval_report(THREE, n_draws=2000, random_state=0, digits=digits)
    shown, found = printed(report, "Scores"), table(report)
    exact = numbers_in(shown["ant"]["recall"])
    assert [unit for _, unit in exact] == [10.0**-digits] * 3
    cell = found["ant"]["recall"]
    same([number for number, _ in exact], np.round([cell["value"], *ends(cell)], digits))
    drawn = numbers_in(shown["macro avg"]["f1"].split(" ", 1)[1])
    assert all(unit >= 2 * found["macro avg"]["f1"]["error"] for _, unit in drawn)


def test_narrow_intervals_get_more_digits():
    report = interval_report(ConfusionCounts([[10**9, 10**6], [10**6, 10**9]]), n_draws=100)
    _, (low, unit), (high, _) = numbers_in(printed(report, "Scores")["accuracy"]["f1"])
    assert unit < 1e-5
    assert 0 < high - low < 1e-5


def in_groups(seed):
    """Bayesian bootstrap over fifteen groups."""
    truth, guess = [0, 1, 1] * 20, [0, 1, 0] * 15 + [0, 1, 1] * 5
    options = {"metric": "f1", "groups": np.arange(60) // 4, "n_draws": 600}
    return metric_posterior(truth, guess, random_state=seed, **options)


@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize(
    ("make", "number"),
    [
        (lambda seed: THREE.posterior("f1_macro", n_draws=600, random_state=seed), 200),
        (in_groups, 200),
        (lambda seed: fold_posterior(PARTS, "mcc", random_state=seed), 40),  # a fitted family
    ],
    ids=["dirichlet", "groups", "folds"],
)
def test_interval_error(make, number, kind, global_random_seed):
    """The error that is claimed is about the one that is seen between seeds."""
    posteriors = [make(1000 * global_random_seed + k) for k in range(number)]
    seen = np.std([posterior.interval(0.9, kind) for posterior in posteriors], axis=0, ddof=1).max()
    claimed = np.mean([posterior.interval_error(0.9, kind) for posterior in posteriors])
    assert 0.6 < claimed / seen < 1.8


PARTS = ConfusionCounts(np.stack([THREE.counts + k for k in range(5)]))


def test_exact_intervals_have_no_error():
    assert PETS.posterior("f1").interval_error() == 0
    assert fold_posterior(PARTS, "accuracy").interval_error(0.9, "hdi") == 0
    np.testing.assert_array_equal(PARTS.posterior("accuracy").interval_error(), np.zeros(5))


@pytest.mark.parametrize(
    "posterior",
    [PETS.posterior("f1"), THREE.posterior("f1_macro", n_draws=500, random_state=7)],
    ids=["exact", "drawn"],
)
def test_posteriors_as_dicts(posterior):
    found = posterior.to_dict(**ASK)
    same((found["low"], found["high"]), posterior.interval(**ASK))
    same(found["interval_error"], posterior.interval_error(**ASK))
    assert found["skuncertain"] == skuncertain.__version__
    assert (found["seed"], found["n_draws"]) == (posterior.seed, posterior.n_draws)
    assert found["prior"] == posterior.prior
    assert json.loads(json.dumps(found, allow_nan=False)) == found


# --------------------------------------------------------------------------------------------------
# The renderings

HOSTILE = [
    *("a|b", "c`d`e", "f\ng", "h\ri", "\x1b[31mred\x1b[0m", "\x9b31m", "\u202egnp.exe", "中文标签"),
    *("*bold* _it_ [x](y)", "\x00", "\u2028", "lone \udc80", "<b>", "&lt;", "\\|", "e\u0301"),
]


@pytest.fixture(scope="module")
def hostile():
    matrix = 20 * np.eye(len(HOSTILE), dtype=int) + 1
    return interval_report(ConfusionCounts(matrix, labels=HOSTILE), n_draws=100, random_state=0)


def test_dict_is_a_copy_of_plain_types():
    report = interval_report(PETS, random_state=0)
    before, found = str(report), report.to_dict()
    found["sections"]["scores"]["rows"][0]["recall"]["low"] = -1
    found["warnings"].append("changed")
    assert str(report) == before

    def check(entry):
        assert type(entry) in (dict, list, str, int, float, bool, type(None))
        if isinstance(entry, dict | list):
            for inner in entry.values() if isinstance(entry, dict) else entry:
                check(inner)

    check(report.to_dict())


@quiet
@pytest.mark.parametrize("name", [*KINDS, "hostile", "undefined"])
def test_json_reads_back(name, hostile):
    if name in KINDS:
        report = KINDS[name][0]()
    else:
        report = hostile if name == "hostile" else interval_report(EMPTY, n_draws=100)
    text = report.to_json()
    text.encode("utf-8")
    again = IntervalReport(json.loads(text, parse_constant=lambda found: pytest.fail(found)))
    assert json.loads(report.to_json(indent=None)) == json.loads(text)
    assert str(again) == str(report)
    if name == "hostile":  # half a character stays an escape
        return
    assert again.to_markdown() == report.to_markdown()
    assert again.to_html() == report.to_html()
    pd.testing.assert_frame_equal(again.to_frame(), report.to_frame(), check_dtype=False)


def infinite():
    models = [ConfusionCounts([[20, 0], [0, 20]]), MODELS["tree"]]
    options = {"n_draws": 300, "random_state": 0}
    return leaderboard(models, metric="positive_likelihood_ratio", **options).report()


def test_infinities_are_texts_in_json():
    assert "∞]" in str(infinite())
    found = json.loads(infinite().to_json(), parse_constant=lambda text: pytest.fail(text))
    assert found["sections"]["models"]["rows"][0]["mean"]["high"] == "inf"


def test_infinities_read_back():
    report = infinite()
    assert str(IntervalReport(json.loads(report.to_json()))) == str(report)


def test_frames_and_csv():
    bcv = BayesianCrossValidator(NB, cv=5, metrics=["f1", "mcc"], random_state=0).fit(X, Y)
    for report in (interval_report(PETS, random_state=0), bcv.report(), BOARD.report()):
        for name, section in report.to_dict()["sections"].items():
            frame = report.to_frame(name)
            first, *keys = (column["key"] for column in section["columns"])
            assert frame.index.tolist() == [row[first] for row in section["rows"]]
            for line, row in zip(frame.to_dict("records"), section["rows"], strict=True):
                for key, cell in ((key, row[key]) for key in keys if row.get(key) is not None):
                    if isinstance(cell, dict):
                        same([line.get(f"{key}_{end}") for end in ("low", "high")], ends(cell))
                    if not isinstance(cell, dict) or "value" in cell:
                        assert line[key] == value(cell)
            text = {"true": str, "predicted": str}
            read = pd.read_csv(io.StringIO(report.to_csv(name)), dtype=text).set_index(first)
            pd.testing.assert_frame_equal(read, frame, check_dtype=False, check_index_type=False)
        assert report.to_frame().attrs["question"] == report.to_dict()["question"]
    with pytest.raises(ValueError, match="section must be one of 'models', 'ranks', 'pairs'"):
        BOARD.report().to_frame("nothing")


def test_csv_of_undefined_values():
    assert "nan" not in interval_report(EMPTY, n_draws=100).to_csv()


SUFFIXES = {".html": "to_html", ".md": "to_markdown", ".json": "to_json", ".csv": "to_csv"}
SUFFIXES |= {".HTM": "to_html", ".markdown": "to_markdown", ".txt": "__str__"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_save(tmp_path, hostile, suffix):
    report = interval_report(PETS, random_state=0)
    path = tmp_path / f"report{suffix}"
    assert report.save(str(path)) == path
    expected = getattr(report, SUFFIXES[suffix])().rstrip("\n") + "\n"
    assert path.read_bytes().decode("utf-8") == expected
    hostile.save(path)  # half a character does not stop it
    assert "中文标签" in path.read_text(encoding="utf-8")


def test_unknown_suffix():
    with pytest.raises(ValueError, match=r"path must end with one of \.html, .*got 'report\.pdf'"):
        interval_report(PETS).save("report.pdf")


def test_labels_cannot_command_a_terminal(hostile):
    for text in (str(hostile), hostile.to_markdown(), hostile.to_html()):
        odd = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert odd == {"\n"}
        for shown in (r"x1b", r"u202egnp.exe", r"ng", r"ri", "x9b31m", "udc80"):
            assert "\\" + shown in text


def test_every_label_is_one_line_and_columns_are_aligned(hostile):
    def width(line):
        return sum(
            0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
            for c in line
        )

    lines = str(hostile).split("\nScores\n")[1].split("\n\n")[0].split("\n")
    assert len(lines) == 1 + len(HOSTILE) + 3
    assert len({width(line) for line in lines}) == 1


def test_markdown_tables_are_whole(hostile):
    text = hostile.to_markdown()
    for block in text.split("\n\n"):
        if block.startswith("|"):
            bars = [re.findall(r"(?<!\\)(?:\\\\)*\|", line) for line in block.split("\n")]
            assert len({len(found) for found in bars}) == 1, block
    for shown in (r"c\`d\`e", r"\*bold\* \_it\_ \[x\](y)", r"\<b\>", "&amp;lt;"):
        assert shown in text


@pytest.mark.parametrize("label", HOSTILE)
def test_csv_keeps_labels_as_they_are(label):
    report = interval_report(ConfusionCounts([[9, 1], [2, 8]], labels=[label, "x"]), n_draws=50)
    rows = list(csv.reader(io.StringIO(report.to_csv(), newline="")))
    assert rows[1][0] == label


def test_long_rankings_are_cut_in_text_but_not_in_frames(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    report = search_posterior(score_table(rng.normal(0.8, 0.02, (60, 5))), random_state=0).report()
    assert "... and 40 more" in str(report)
    assert "... and 40 more" in report.to_markdown()
    assert len(report.to_frame()) == 60
    assert len(report.to_csv().splitlines()) == 61


def test_without_optional_packages(monkeypatch, tmp_path):
    fitted = BayesianCrossValidator(NB, cv=5, random_state=0).fit(X, Y)  # scikit-learn looks for it
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for report in (fitted.report(), BOARD.report(), datasets_case(), interval_report(PETS)):
        for suffix in SUFFIXES:
            report.save(tmp_path / f"report{suffix}")
        assert report._repr_html_()
        with pytest.raises(ImportError, match=r"skuncertain\[pandas\]"):
            report.to_frame()


def test_pickles():
    bcv = BayesianCrossValidator(NB, cv=5, metrics=["f1", "mcc"], random_state=0).fit(X, Y)
    search = search_posterior(score_table(FOLDS), random_state=0)
    for result in (bcv, bcv.result_, BOARD, compare(*TWO, metric="f1"), search):
        report = result.report()
        assert str(pickle.loads(pickle.dumps(report))) == str(report)
        assert str(pickle.loads(pickle.dumps(result)).report()) == str(report)


def test_repr():
    text = repr(compare(*TWO, metric="f1", names=("a\n", "\x1b[2J")).report())
    assert "1 rows; print() it, or use to_frame(), save(path)>" in text
    assert text.isprintable()


def test_no_level_is_certain():
    assert "100 %" not in str(interval_report(PETS, level=0.9999999))


@pytest.mark.parametrize("pos_label", ["sick", "well"])
def test_two_classes_say_where_sensitivity_and_specificity_are(pos_label):
    counts = ConfusionCounts([[26, 0], [2, 6]], labels=["sick", "well"], pos_label=pos_label)
    report = interval_report(counts)
    other = {"sick": "well", "well": "sick"}[pos_label]
    rows = {row["name"]: row for row in report.to_dict()["sections"]["scores"]["rows"]}
    for base, name, label in (
        ("recall", "sensitivity", pos_label),
        ("recall", "specificity", other),
        ("precision", "ppv", pos_label),
        ("precision", "npv", other),
    ):
        low, high = counts.posterior(name).interval()
        assert (rows[label][base]["low"], rows[label][base]["high"]) == pytest.approx((low, high))
    assert f"positive class {pos_label}: its recall is the sensitivity" in str(report)
    assert f"precision of {other} are specificity and NPV" in str(report)


def test_more_classes_have_no_sensitivity():
    assert "sensitivity" not in str(interval_report([0, 1, 2, 2], [0, 1, 2, 1], random_state=0))
