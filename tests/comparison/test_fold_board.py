"""Leaderboards of cross-validators, against compare_paired and the posteriors of the folds."""

import itertools
import json
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare,
    compare_paired,
    leaderboard,
)
from skuncertain.comparison._fold_board import FoldBoard
from skuncertain.comparison._fold_rows import read_fold_rows
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import get_metric
from skuncertain.model_selection import fold_posterior

CV = StratifiedKFold(10, shuffle=True, random_state=0)
LEARNERS = {
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "bayes": GaussianNB(),
    "knn": KNeighborsClassifier(5),
}


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.normal(size=(300, 5)) + np.array([0.8, 0.6, 0.4, 0, 0]) * y[:, None]
    return X, y, {
        name: BayesianCrossValidator(
            learner, cv=CV, metrics=["accuracy"], keep_predictions=True, refit=False
        ).fit(X, y)
        for name, learner in LEARNERS.items()
    }  # fmt: skip


@pytest.mark.parametrize(("metric", "error"), [("accuracy", 0.02), ("f1", 0.02), ("recall", 0.06)])
def test_pairs_are_those_of_compare(metric, error, models):
    # recall of a stump counts a tenth of the rows: a normal and a Dirichlet differ there
    _, _, fitted = models
    board = leaderboard(fitted, metric=metric, random_state=0)
    for i, j in itertools.permutations(range(4), 2):
        a, b = list(fitted.values())[j], list(fitted.values())[i]
        one = compare(a, b, metric=metric, random_state=0)
        assert board.pairwise[i, j] == pytest.approx(one.p_better, abs=error)


def test_intervals_are_those_of_the_cross_validators(models):
    _, _, fitted = models
    for estimand in ("algorithm", "fitted", "final"):
        board = leaderboard(fitted, metric="f1", estimand=estimand, random_state=0)
        for name, bcv in fitted.items():
            expected = bcv.interval("f1", estimand=estimand)
            assert board.interval(name) == pytest.approx(expected, abs=1e-12)
        assert board.about.estimand == estimand


def test_every_pair_has_its_variance(models):
    _, _y, fitted = models
    rows = read_fold_rows(None, list(fitted.values()), list(fitted), None, None, None)
    metric = get_metric("accuracy")
    board = FoldBoard.of(rows, metric, 1, "algorithm")
    for i, j in itertools.combinations(range(4), 2):
        pair = compare(*[list(fitted.values())[k] for k in (i, j)])
        assert board.omega[i, j] == pytest.approx(pair.omega, rel=1e-9)
    noise = board.widen(np.zeros((4, 200_000)), 0)
    for i, j in itertools.combinations(range(4), 2):
        found = np.var(noise[i] - noise[j])
        # Distances that no four points have are only made larger.
        assert found > 0.97 * board.beyond[i, j]
        assert found < 1.1 * board.beyond[i, j] + 0.1 * board.beyond.max()


def test_predictions_with_folds(models):
    X, y, fitted = models
    predictions = {name: cross_val_predict(model, X, y, cv=CV) for name, model in LEARNERS.items()}
    board = leaderboard(predictions, y_true=y, folds=CV, random_state=0)
    alone = leaderboard(predictions, y_true=y, random_state=0)
    first, second = next(iter(predictions)), list(predictions)[2]
    pair = compare_paired(y, predictions[second], predictions[first], folds=CV)
    assert board.pairwise[0, 2] == pytest.approx(pair.p_better, abs=0.02)
    assert board.p_best.max() < alone.p_best.max()
    matrices = [confusion_matrix(y[test], predictions[first][test]) for _, test in CV.split(X, y)]
    expected = fold_posterior(matrices, "accuracy", estimand="algorithm").interval()
    assert board.interval(first) == pytest.approx(expected, abs=1e-12)
    # One cross-validator among predictions brings its folds.
    mixed = leaderboard({**predictions, "bayes": fitted["bayes"]}, random_state=0)
    np.testing.assert_allclose(mixed.pairwise, board.pairwise, atol=1e-12)


def test_what_a_board_of_folds_tells(models):
    _, _, fitted = models
    board = leaderboard(fitted, random_state=0)
    assert "10 folds, omega" in repr(board)
    assert "estimand algorithm" in repr(board)
    plain = json.loads(json.dumps(board.to_dict()))
    assert (plain["n_folds"], plain["n_repeats"], plain["estimand"]) == (10, 1, "algorithm")
    assert pickle.loads(pickle.dumps(board)).to_dict() == board.to_dict()
    assert "10 folds" in str(board.report())
    again = leaderboard(fitted, random_state=0)
    np.testing.assert_array_equal(again.p_best, board.p_best)
    assert board.n == 300


def test_equal_models_have_equal_chances(models):
    _X, y, _ = models
    rng = np.random.default_rng(3)
    said = {str(k): np.where(rng.random(300) < 0.8, y, 1 - y) for k in range(3)}
    said["again"] = said["2"].copy()
    board = leaderboard(said, y_true=y, folds=CV, random_state=0)
    assert board.pairwise[2, 3] == 0.5
    assert board.tie_group.tolist() == [0, 1, 2, 2]
    assert board.p_best[2] == board.p_best[3]
    assert board.p_best[:3].sum() == pytest.approx(1)
    alike = leaderboard([said["2"], said["again"]], y_true=y, folds=CV, random_state=0)
    assert alike.p_best.tolist() == [1, 1]
    assert alike.mean[0] == alike.mean[1]


def test_more_classes_and_refusals(models):
    X, y, fitted = models
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=200)
    said = {k: np.where(rng.random(200) < p, truth, 0) for k, p in (("a", 0.5), ("b", 0.9))}
    board = leaderboard(said, y_true=truth, folds=5, metric="f1_macro", random_state=0)
    assert board.pairwise[1, 0] > 0.99
    with pytest.raises(InvalidParameterError, match="is a question about folds"):
        leaderboard(said, y_true=truth, estimand="fitted")
    other = BayesianCrossValidator(
        LogisticRegression(), cv=5, keep_predictions=True, refit=False
    ).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'bayes' and model 'other' were not tested"):
        leaderboard({"bayes": fitted["bayes"], "other": other})
    without = BayesianCrossValidator(GaussianNB(), cv=CV, refit=False).fit(X, y)
    with pytest.raises(InvalidParameterError, match="model 'without' has not kept"):
        leaderboard({"bayes": fitted["bayes"], "without": without})
    with pytest.raises(InvalidParameterError, match="must be"):
        leaderboard({"bayes": fitted["bayes"], "counts": ConfusionCounts([[40, 10], [12, 38]])})
