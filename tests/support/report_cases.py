"""Data, models and helpers of the tests of reports."""

import html
import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_cv,
    compare_paired,
    interval_report,
    leaderboard,
    search_posterior,
)
from skuncertain.comparison import compare_datasets
from skuncertain.metrics import intervals_at_thresholds
from skuncertain.model_selection import CrossValPosterior

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
NB = GaussianNB()
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 4]}
PETS = ConfusionCounts([[35, 5], [10, 50]], labels=["cat", "dog"], pos_label="dog")
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
    "ignore::skuncertain.exceptions.SmallSampleWarning",
    "ignore::skuncertain.exceptions.DegenerateIntervalWarning",
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


BOARD = leaderboard(MODELS, metric="f1")


# --------------------------------------------------------------------------------------------------
# Comparisons

TWO = MODELS["tree"], MODELS["forest"]
FOLDS = [0.8, 0.82, 0.79, 0.84, 0.7, 0.8], [0.8, 0.8, 0.9, 0.7, 0.8, 0.7]


# --------------------------------------------------------------------------------------------------
# Rankings


def shared_rows(**options):
    truth, a, b = two_models()
    models = {"first": a, "second": b, "both": np.where(a == b, a, truth), "none": 1 - a}
    return leaderboard(models, y_true=truth, metric="f1", **options)


# --------------------------------------------------------------------------------------------------
# What every report says

ASK = {"level": 0.9, "kind": "hdi"}


def cv_case(y):
    bcv = BayesianCrossValidator(NB, cv=KFold(6), metrics=["recall"], omega="wang_li", **ASK)
    return bcv.fit(X, y).report()


def cv_posterior_case(y):
    options = {"scoring": ConfusionCountsScorer(), "return_indices": True}
    results = cross_validate(NB, X, y, cv=KFold(6), **options)
    chosen = {"metrics": ["recall"], "method": "nadeau_bengio"}
    return CrossValPosterior.from_cv_results(results, **chosen, **ASK).report()


FLAT = np.array([[0.5, 0.625, 0.75], [0.5, 0.5, 0.5], [0.25, 0.25, 0.25]])  # two without spread


def datasets_case():
    a = np.linspace(0.7, 0.8, 40).reshape(8, 5)
    return compare_datasets(a, a + 0.01 * np.sin(100 * a), random_state=0).report(**ASK)


# For every kind of report: without a warning; with one; settings ("-": not there); question; that
# warning.
KINDS = {
    "predictions": (
        lambda: interval_report([0] * 40 + [1] * 60, [0, 1] * 50, **ASK),
        lambda: interval_report([0] * 4 + [1] * 60, [0, 1] * 32, **ASK),
        "default (proportions: half a success and half a failure, calibrated ends; other metrics: "
        "1/3 of a row per cell) & Dirichlet posterior of one test set & - & 100 rows & -",
        "What are precision, recall and F1 of this one model on rows like these 100",
        "fewer than 5 rows in class 0",
    ),
    "classification": (
        lambda: interval_report(PETS, **ASK),
        lambda: interval_report(ConfusionCounts([[3, 1], [2, 40]]), **ASK),
        "default (proportions: half a success and half a failure, calibrated ends; other metrics: "
        "1/3 of a row per cell) & Dirichlet posterior of one test set & - & 100 rows & -",
        "What are precision, recall and F1 of this one model on rows like these 100",
        "fewer than 5 rows in class 0",
    ),
    "cross-validation": (
        lambda: cv_case(Y),
        lambda: cv_case(np.where(np.arange(240) < 80, 1 - Y, Y)),  # two folds of another world
        "1 on each side of the proportion & pooled & 0.583, (K + 1) / (2 K) as published by "
        "Wang and Li & 240 rows & 6 folds",
        "How well do the 6 models of the folds do on average?",
        "folds disagree more than sampling explains on recall",
    ),
    "from_cv_results": (
        lambda: cv_posterior_case(Y),
        lambda: cv_posterior_case(np.where(np.arange(240) < 80, 1 - Y, Y)),
        "none & nadeau_bengio & - & 240 rows & 6 folds",
        "How well does the same algorithm on other training sets of 200 rows with these class "
        "counts do on average?",
        "folds disagree more than sampling explains on recall",
    ),
    "compare": (
        lambda: compare(*TWO, metric="recall").report(**ASK),
        lambda: compare(TWO[0], EMPTY, metric="recall").report(**ASK),
        "default (half a success and half a failure; calibrated ends) & independent test sets & - "
        "& 108 and 108 rows & -",
        "By how much do the models B and A differ in recall",
        "recall is 0/0 in the data",
    ),
    "compare_paired": (
        lambda: compare_paired(*two_models(), metric="f1", n_draws=500).report(**ASK),
        lambda: compare_paired(
            *([0] * 99 for _ in range(3)), labels=[0, 1], metric="f1", n_draws=500
        ).report(**ASK),
        "0.5 per agreement cell & 200 shared rows & - & 200 rows & -",
        "on rows like these 200, which both have predicted?",
        "f1 is 0/0 in the data",
    ),
    "compare_cv": (
        lambda: compare_cv(*FOLDS).report(**ASK),
        lambda: compare_cv([*FOLDS[0], np.nan], [*FOLDS[1], 0.8]).report(**ASK),
        "none: Student's t on the differences of the folds & 6 shared folds & - & - & 6 folds",
        "By how much do B and A differ in the score on average",
        "a score is missing in 1 of 7 folds",
    ),
    "datasets": (
        datasets_case,
        lambda: compare_datasets(FLAT, FLAT[:, ::-1] + 0.1).report(**ASK),
        "0.5 data sets without a difference & Bayesian signed-rank and sign tests; correlated t on "
        "each data set & - & - & 5 folds on each data set",
        "On most data sets like these 8, is B better or worse than A?",
        "all folds of data set 1, 2 have the same difference",
    ),
    "leaderboard": (
        lambda: leaderboard(MODELS, metric="recall", **ASK).report(),
        lambda: leaderboard(MODELS | {"none": EMPTY}, metric="recall", **ASK).report(),
        "default (half a success and half a failure; calibrated ends) & independent, exact & - "
        "& 107 to 108 rows & -",
        "Which of these 3 models is the best",
        "recall is 0/0 in the data",
    ),
    "thresholds": (
        lambda: intervals_at_thresholds(
            [0, 1] * 50, np.linspace(0, 1, 100), [0.5], prior=0.25, **ASK
        ).report(),
        lambda: intervals_at_thresholds([0, 1] * 50, np.linspace(0, 1, 100), [2], **ASK).report(),
        "0.25 & Dirichlet posterior of one test set, for every threshold & - & 100 rows & -",
        "What are the metrics of this one model on rows like these 100, if rows are called "
        "positive from that threshold on?",
        "precision is 0/0 in the data",
    ),
    "search": (
        lambda: search_posterior(GridSearchCV(TREE, GRID, cv=4).fit(X, Y), **ASK).report(),
        lambda: search_posterior(score_table(FOLDS), **ASK).report(),
        "none & nadeau_bengio (t on fold scores); comparisons: correlated t on the shared folds & "
        "- & - & 4 folds, n_test / n_train = 0.333",
        "Which candidate has the best score on average",
        "assumed: one repetition of K-fold (n_repeats=1)",
    ),
}


def texts(report):
    """Return the three renderings that are read, without their markup."""
    markdown = re.sub(r"\\(.)", r"\1", report.to_markdown()).replace("&amp;", "&")
    page = html.unescape(re.sub("<[^>]+>", "\n", report.to_html()))
    return {"text": str(report), "markdown": markdown, "html": page}
