"""Comparisons in folds at the edges: odd labels, odd folds, models without an error."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import BayesianCrossValidator, compare, compare_cv, compare_paired, leaderboard
from skuncertain.display import ComparisonDisplay
from skuncertain.exceptions import InvalidParameterError

STUMP, BAYES = DecisionTreeClassifier(max_depth=1, random_state=0), GaussianNB()
CV = StratifiedKFold(5, shuffle=True, random_state=1)


class Oracle(ClassifierMixin, BaseEstimator):
    """The first feature is the label."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[X[:, 0].astype(int)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = rng.permutation(np.arange(120) % 3 > 0).astype(int)
    return np.column_stack([y, rng.normal(size=(120, 3)) + 0.7 * y[:, None]]), y


def validator(model, X, y, cv=CV, **options):
    bcv = BayesianCrossValidator(model, cv=cv, keep_predictions=True, refit=False, **options)
    return bcv.fit(X, y)


def numbers(result):
    return result.p_worse, result.p_better, *result.interval(), result.omega


@pytest.mark.parametrize("labels", [np.array([-1, 1]), np.array(["ill", "well"])], ids=str)
def test_labels_of_cross_validators(labels, data):
    X, y = data
    options = {} if labels.dtype.kind == "i" else {"pos_label": "well"}
    for metric in ("accuracy", "recall"):
        pairs = [
            [validator(model, X[:, 1:], target, **more) for model in (STUMP, BAYES)]
            for target, more in ((y, {}), (labels[y], options))
        ]
        first, second = (compare(*pair, metric=metric) for pair in pairs)
        assert numbers(second) == pytest.approx(numbers(first), abs=1e-12)
    assert second.difference.about.pos_label == labels[1]
    boards = [leaderboard(dict(zip("ab", pair, strict=True)), metric="f1", random_state=0)
              for pair in pairs]  # fmt: skip
    np.testing.assert_array_equal(boards[0].pairwise, boards[1].pairwise)


def test_cross_validators_that_were_cloned_or_pickled(data):
    X, y = data
    pair = [validator(model, X[:, 1:], y) for model in (STUMP, BAYES)]
    expected = numbers(compare(*pair))
    copies = pickle.loads(pickle.dumps(pair))
    assert numbers(compare(*copies)) == expected
    assert numbers(compare(*[clone(x).fit(X[:, 1:], y) for x in pair])) == expected


def test_a_fold_without_positives(data):
    """Rows sorted by class: some folds hold one class only, and their recall is 0 / 0."""
    X, y = data
    order = np.argsort(y, kind="stable")
    X, y, cv = X[order, 1:], y[order], KFold(10)
    assert any(y[test].sum() == 0 for _, test in cv.split(X))
    a, b = (cross_val_predict(model, X, y, cv=cv) for model in (STUMP, BAYES))
    for metric in ("accuracy", "recall", "precision", "f1", "mcc"):
        result = compare_paired(y, a, b, folds=cv, metric=metric, random_state=0)
        low, high = result.interval()
        assert -1 <= low < high <= 1
        assert 0 < result.omega < 1
    # What folds without a positive contribute to recall is 0, and they are no reason for doubt.
    fold = np.concatenate([np.full(len(test), k) for k, (_, test) in enumerate(cv.split(X))])
    d = ((b == 1).astype(float) - (a == 1))[y == 1]
    u = [(d - d.mean())[fold[y == 1] == k].sum() / d.size for k in range(10)]
    found = compare_paired(y, a, b, folds=cv, metric="recall").difference.diagnostics
    row = (d**2).mean() - d.mean() ** 2
    expected = 10 / 9 * np.square(u).sum() / (row / d.size)
    assert found.variance_ratio == pytest.approx(expected, rel=0.1)  # pseudo-rows


def test_models_without_an_error(data):
    X, y = data
    both = compare(validator(Oracle(), X, y), validator(Oracle(), X, y))
    assert both.omega == pytest.approx(1 / (1 + 5 / 4))  # folds that cannot disagree
    assert both.p_better == pytest.approx(0.5)
    # Half a row that only the one gets right, half a row of the other, and what the rest counts
    rng = np.random.default_rng(0)
    share = rng.beta(1, 120 * both.omega + 1, size=400_000)
    drawn = share * (2 * rng.beta(0.5, 0.5, size=400_000) - 1)
    assert both.interval() == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.001)
    one = compare(validator(STUMP, X[:, 1:], y), validator(Oracle(), X, y))
    assert one.p_better > 0.99
    assert 0 < one.omega <= 1
    none = DummyClassifier(strategy="constant", constant=0)
    never = compare(validator(Oracle(), X, y), validator(none, X, y), metric="recall")
    assert never.p_worse > 0.9999
    board = leaderboard(
        {"oracle": validator(Oracle(), X, y), "stump": validator(STUMP, X[:, 1:], y)},
        random_state=0,
    )
    assert board.p_best[0] > 0.99


def test_groups_of_splits(data):
    X, y = data
    groups = [np.arange(120) // 6, np.arange(120) % 20]
    first, second = (
        BayesianCrossValidator(
            model, cv=GroupKFold(5), keep_predictions=True, refit=False, metrics=["accuracy"]
        ).fit(X[:, 1:], y, groups=group)
        for model, group in zip((STUMP, BAYES), groups, strict=True)
    )
    for call in (
        lambda: compare(first, second),
        lambda: compare_paired(y, first, second),
        lambda: leaderboard({"a": first, "b": second}),
    ):
        with pytest.raises(InvalidParameterError, match="were not tested on the same splits"):
            call()
    again = clone(second).fit(X[:, 1:], y, groups=groups[0])
    result = compare(first, again)
    tests = [test for _, test in GroupKFold(5).split(X, y, groups[0])]
    a, b = (
        cross_val_predict(model, X[:, 1:], y, groups=groups[0], cv=GroupKFold(5))
        for model in (STUMP, BAYES)
    )
    told = compare_paired(y, a, b, folds=tests)
    assert result.difference.diagnostics.pooled == pytest.approx(told.difference.diagnostics.pooled)


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(0, 1, X.shape)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    models = DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()
    pair = [validator(model, X, names) for model in models]
    predicted = [cross_val_predict(model, X, names, cv=CV) for model in models]
    scores = [balanced_accuracy_score(names, said) for said in predicted]
    result = compare(*pair, metric="balanced_accuracy", random_state=0)
    assert result.difference.diagnostics.pooled == pytest.approx(scores[1] - scores[0], abs=1e-12)
    assert result.difference.mean() == pytest.approx(scores[1] - scores[0], abs=0.01)
    one = compare(*pair, metric="recall", pos_label="virginica")
    matrices = [confusion_matrix(names == "virginica", said == "virginica") for said in predicted]
    recalls = [matrix[1, 1] / matrix[1].sum() for matrix in matrices]
    assert one.difference.diagnostics.pooled == pytest.approx(recalls[1] - recalls[0], abs=1e-12)
    board = leaderboard(dict(zip("ab", pair, strict=True)), metric="f1_macro", random_state=0)
    pairwise = compare(*pair, metric="f1_macro", random_state=0).p_better
    assert board.pairwise[1, 0] == pytest.approx(pairwise, abs=0.03)


def test_repeated_boards(data):
    X, y = data
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    pair = [validator(model, X[:, 1:], y, cv=cv) for model in (STUMP, BAYES)]
    board = leaderboard(dict(zip("ab", pair, strict=True)), random_state=0)
    assert (board.n, board.about.n_folds, board.about.n_repeats) == (120, 4, 3)
    assert board.pairwise[1, 0] == pytest.approx(compare(*pair).p_better, abs=0.02)
    # Rows are those of the data, not of the repetitions.
    assert board.interval("b") == pytest.approx(
        pair[1].interval("accuracy", estimand="algorithm"), abs=1e-12
    )


def test_display_of_cross_validators(data):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    X, y = data
    pair = [validator(model, X[:, 1:], y) for model in (STUMP, BAYES)]
    display = ComparisonDisplay.from_predictions(y, *pair, names=("stump", "bayes"))
    expected = compare(*pair, names=("stump", "bayes"))
    assert (display.low, display.high) == expected.interval()
    assert (display.p_worse, display.p_better) == (expected.p_worse, expected.p_better)
    assert "Compared on 120 shared rows, 5 folds." in display.alt_text()
    plt.close("all")


def test_reports_say_which_comparison_to_believe(data):
    X, y = data
    pair = [validator(model, X[:, 1:], y) for model in (STUMP, BAYES)]
    rows, scores = compare(*pair), compare_cv(*pair)
    assert rows.advice.startswith("this comparison rather than compare_cv")
    assert scores.advice.startswith("compare(a, b) rather than this comparison")
    for result in (rows, scores):
        for text in (str(result.report()), result.report().to_markdown()):
            assert result.advice in " ".join(text.replace("\\", "").split())
        assert result.to_dict()["advice"] == result.advice
    bare = [x.result_ for x in pair]
    assert "keep_predictions=True" in compare_cv(*bare).advice
    said = [cross_val_predict(model, X[:, 1:], y, cv=CV) for model in (STUMP, BAYES)]
    assert compare_paired(y, *said, folds=CV).advice.startswith("two cross-validators")
    # Where there is nothing to choose from
    shuffled = [
        validator(model, X[:, 1:], y, cv=ShuffleSplit(4, random_state=0), method="nadeau_bengio")
        for model in (STUMP, BAYES)
    ]
    for alone in (
        compare_cv(*shuffled),
        compare_cv([0.8, 0.7, 0.9], [0.7, 0.7, 0.8]),
        compare_paired(y, *said),
    ):
        assert alone.advice is None
        assert "believe" not in str(alone.report())
