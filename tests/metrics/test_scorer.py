"""Scorers inside scikit-learn's own tools."""

import inspect
import pickle
import warnings
from typing import ClassVar

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    class_likelihood_ratios,
    confusion_matrix,
    f1_score,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skuncertain import ConfusionCounts, ConfusionCountsScorer
from skuncertain.metrics import get_metric, make_bound_scorer, make_metric
from skuncertain.model_selection import CrossValPosterior

X, Y = make_classification(300, 5, flip_y=0.1, random_state=0)
X3, Y3 = make_classification(300, 6, n_informative=4, n_classes=3, class_sep=0.8, random_state=0)
MODEL = make_pipeline(StandardScaler(), LogisticRegression())
GRID = {"logisticregression__C": [0.01, 1.0]}
CV = StratifiedKFold(5)
NONE: dict = {}  # scikit-learn 1.6.0 with routing cannot do without params


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


def predicted_matrix(y, labels=None):
    matrices = []
    predicted = cross_val_predict(MODEL, X if len(np.unique(y)) == 2 else X3, y, cv=CV, params=NONE)
    for _, test in CV.split(X, y):
        matrices.append(confusion_matrix(y[test], predicted[test], labels=labels))
    return np.array(matrices)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_binary_keys_are_the_confusion_matrix(routing, n_jobs):
    results = cross_validate(
        MODEL, X, Y, cv=CV, scoring=ConfusionCountsScorer(), n_jobs=n_jobs, params=NONE
    )
    expected = predicted_matrix(Y)
    for key, cell in {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}.items():
        np.testing.assert_array_equal(results[f"test_{key}"], expected[:, cell[0], cell[1]])
        assert results[f"test_{key}"].dtype.kind == "i"
    np.testing.assert_array_equal(results["test_n"], expected.sum(axis=(1, 2)))
    accuracy = np.trace(expected, axis1=1, axis2=2) / results["test_n"]
    np.testing.assert_allclose(results["test_score"], accuracy)


def test_one_key_per_cell_for_more_classes(routing):
    scorer = ConfusionCountsScorer(metrics=["f1_macro", "recall"], pos_label=2)
    results = cross_validate(MODEL, X3, Y3, cv=CV, scoring=scorer, params=NONE)
    expected = predicted_matrix(Y3)
    for i in range(3):
        for j in range(3):
            np.testing.assert_array_equal(results[f"test_n_{i}_{j}"], expected[:, i, j])
    np.testing.assert_allclose(results["test_score"], results["test_f1_macro"])
    np.testing.assert_allclose(
        results["test_recall"], expected[:, 2, 2] / expected[:, 2].sum(axis=1)
    )


def _names(y):
    return np.array(["ham", "spam"])[y]


@pytest.mark.parametrize(
    ("convert", "pos_label", "flipped"),
    [
        (_names, "spam", False),
        (_names, "ham", True),
        (lambda y: 2 * y - 1, None, False),
        (lambda y: y + 1, None, False),  # labels {1, 2}: 2 is positive
        (lambda y: y.astype(bool), None, False),
        (lambda y: y.astype(float), None, False),
    ],
    ids=["strings", "other class", "-1 and 1", "1 and 2", "bool", "float"],
)
def test_labels(convert, pos_label, flipped):
    scorer = ConfusionCountsScorer(pos_label=pos_label)
    results = cross_validate(MODEL, X, convert(Y), cv=CV, scoring=scorer)
    plain = cross_validate(MODEL, X, Y, cv=CV, scoring=ConfusionCountsScorer())
    other = {"tp": "tn", "tn": "tp", "fp": "fn", "fn": "fp"}
    for key in other:
        np.testing.assert_array_equal(
            results[f"test_{key}"], plain[f"test_{other[key] if flipped else key}"]
        )


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "category", "string", "Float64"])
def test_pandas_nullable_types(dtype):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(_names(Y) if dtype == "string" else Y, dtype=dtype)
    scorer = ConfusionCountsScorer(pos_label="spam" if dtype == "string" else None)
    results = cross_validate(MODEL, X, y, cv=CV, scoring=scorer)
    plain = cross_validate(MODEL, X, Y, cv=CV, scoring=ConfusionCountsScorer())
    np.testing.assert_array_equal(results["test_tp"], plain["test_tp"])


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV])
def test_searches(routing, search):
    scorer = ConfusionCountsScorer(metrics=["f1", "fpr"])
    options = {"n_iter": 2, "random_state": 0} if search is RandomizedSearchCV else {}
    found = search(MODEL, GRID, scoring=scorer, refit="f1", cv=CV, **options).fit(X, Y)
    assert found.best_score_ == found.cv_results_["mean_test_f1"][found.best_index_]
    assert found.score(X, Y) == pytest.approx(f1_score(Y, found.predict(X)))
    named = clone(scorer).set_params(pos_label="spam")
    assert clone(found).set_params(cv=3, scoring=named).fit(X, _names(Y)).best_score_ > 0.5
    if search is not HalvingGridSearchCV:
        # refit by a metric of which less is better takes the best, not the worst
        again = search(MODEL, GRID, scoring=scorer, refit="neg_fpr", cv=CV, **options).fit(X, Y)
        assert again.best_score_ == -np.min(-again.cv_results_["mean_test_neg_fpr"])


def test_values_of_metrics_are_those_of_scikit_learn():
    names = ["f1", "precision", "recall", "balanced_accuracy", "matthews_corrcoef", "jaccard"]
    results = cross_validate(MODEL, X, Y, cv=CV, scoring=ConfusionCountsScorer(metrics=names))
    expected = cross_validate(MODEL, X, Y, cv=CV, scoring=names)
    for name in names:
        np.testing.assert_allclose(results[f"test_{name}"], expected[f"test_{name}"])
    results = cross_validate(
        DummyClassifier(strategy="constant", constant=0),
        X,
        Y,
        scoring=ConfusionCountsScorer(metrics=["precision"]),
    )
    assert results["test_precision"].tolist() == [0] * 5  # 0/0 must not poison a ranking


def test_folds_that_lack_a_class():
    y = np.sort(Y3)  # without shuffling every fold holds one class
    results = cross_validate(
        DummyClassifier(), X3, y, cv=KFold(3), scoring=ConfusionCountsScorer(metrics=["f1_macro"])
    )
    assert all(f"test_n_{i}_{j}" in results for i in range(3) for j in range(3))
    only = np.zeros(40, dtype=int)
    only[-1] = 1
    results = cross_validate(
        DummyClassifier(), X[:40], only, cv=KFold(4), scoring=ConfusionCountsScorer()
    )
    np.testing.assert_array_equal(results["test_tn"] + results["test_fn"], results["test_n"])


def test_counts_that_are_incomplete_are_refused_by_the_reader():
    # A split by time: the first training sets know two classes of three.
    y = np.repeat([0, 1, 2], 40)
    rows = np.random.default_rng(0).normal(size=(120, 2))
    cv = TimeSeriesSplit(3)
    options = {"cv": cv, "return_indices": True}
    results = cross_validate(
        DummyClassifier(), rows, y, scoring=ConfusionCountsScorer(labels=[0, 1, 2]), **options
    )
    found = CrossValPosterior.from_cv_results(results, method="nadeau_bengio", metrics=["accuracy"])
    assert found.counts.counts.sum() == 90
    # scikit-learn drops keys that the first fold lacks, and says nothing.
    lacking = {key: value for key, value in results.items() if key != "test_n_2_2"}
    with pytest.raises(ValueError, match=r"8 of the 9 cells.*labels=\[\.\.\.\]"):
        CrossValPosterior.from_cv_results(lacking)
    fullest = max(
        (f"test_n_{i}_{j}" for i in range(3) for j in range(3)), key=lambda k: max(results[k])
    )
    for without in ("indices", "test_n"):  # either of them is enough to notice
        tampered = {key: value for key, value in results.items() if key != without}
        tampered[fullest] = np.zeros(3)
        with pytest.raises(ValueError, match=r"add up to \d+, but it has 30 rows"):
            CrossValPosterior.from_cv_results(tampered, method="nadeau_bengio")
    with pytest.raises(ValueError, match="neither 'test_n' nor 'indices'"):
        CrossValPosterior.from_cv_results(
            {k: v for k, v in results.items() if k not in ("test_n", "indices")}
        )


def test_one_unknown_class_gives_no_counts_but_no_error():
    class Constant(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.array(["a"] * len(X))

    found = ConfusionCountsScorer(metrics=["f1"])(Constant(), X[:9], ["a"] * 9)
    assert found["n"] == 9
    assert np.isnan(found["n_1_1"])
    assert np.isnan(found["f1"])
    found = ConfusionCountsScorer(pos_label="b")(Constant(), X[:9], ["a"] * 9)
    assert (found["tn"], found["tp"]) == (9, 0)


def test_many_classes():
    n = 40
    y = np.repeat(np.arange(n), 5)
    rows = np.eye(n)[y]
    scorer = ConfusionCountsScorer(metrics=["accuracy"])
    results = cross_validate(LogisticRegression(), rows, y, cv=5, scoring=scorer)
    assert "test_n_0_0" not in results
    np.testing.assert_array_equal(
        sum(results[f"test_tp_{i}"] + results[f"test_fn_{i}"] for i in range(n)), results["test_n"]
    )
    with pytest.raises(ValueError, match="cells=True"):
        CrossValPosterior.from_cv_results(results)
    scorer.set_params(cells=True)
    results = cross_validate(LogisticRegression(), rows, y, cv=5, scoring=scorer)
    assert (
        CrossValPosterior.from_cv_results(
            results, metrics=["accuracy"], n_repeats=1
        ).counts.n_classes
        == n
    )


def test_weights_reach_the_fit_but_never_the_counts(routing):
    model = LogisticRegression()
    if routing:
        model.set_fit_request(sample_weight=True)
    weight = np.where(Y == 1, 10.0, 0.1)
    results = cross_validate(
        model, X, Y, cv=CV, scoring=ConfusionCountsScorer(), params={"sample_weight": weight}
    )
    cells = sum(results[f"test_{key}"] for key in ("tn", "fp", "fn", "tp"))
    np.testing.assert_array_equal(cells, [60] * 5)
    plain = cross_validate(model, X, Y, cv=CV, scoring=ConfusionCountsScorer(), params=NONE)
    assert results["test_tp"].sum() > plain["test_tp"].sum()  # the fit was weighted


# --------------------------------------------------------------------------------------------------
# Scores of scikit-learn in the same pass

OTHERS = {
    "f1": "f1",
    "auc": "roc_auc",
    "loss": "neg_log_loss",
    "jac": make_scorer(jaccard_score, pos_label=0),
    "f2": get_metric("fbeta", beta=2),
}


class CountingModel(ClassifierMixin, BaseEstimator):
    """Notes what it is asked."""

    asked: ClassVar[list] = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.asked.append("predict")
        return (np.asarray(X)[:, 0] > 0).astype(int)

    def predict_proba(self, X):
        self.asked.append("predict_proba")
        share = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.stack([1 - share, share], axis=1)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_scores_of_scikit_learn(routing, backend):
    scorer = pickle.loads(pickle.dumps(clone(ConfusionCountsScorer(metrics=OTHERS))))
    names = {**OTHERS, "f2": make_scorer(fbeta_score, beta=2)}
    expected = cross_validate(MODEL, X, Y, cv=CV, scoring=names, params=NONE)
    with parallel_config(backend=backend):
        found = cross_validate(MODEL, X, Y, cv=CV, scoring=scorer, n_jobs=2, params=NONE)
    for name in names:
        np.testing.assert_allclose(found[f"test_{name}"], expected[f"test_{name}"], rtol=1e-12)
    np.testing.assert_array_equal(found["test_tp"], predicted_matrix(Y)[:, 1, 1])
    np.testing.assert_array_equal(found["test_score"], found["test_f1"])


def test_names_of_scikit_learn_that_work_from_labels():
    """Every name that scikit-learn has for binary labels gives what scikit-learn gives."""
    names = [
        *("accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_micro", "f1_weighted"),
        *("jaccard", "jaccard_macro", "jaccard_weighted", "matthews_corrcoef"),
        *("precision", "precision_macro", "recall", "recall_weighted", "adjusted_rand_score"),
        *("homogeneity_score", "mutual_info_score", "positive_likelihood_ratio"),
        *("neg_negative_likelihood_ratio", "average_precision", "neg_brier_score"),
    ]
    found = cross_validate(MODEL, X, Y, cv=CV, scoring=ConfusionCountsScorer(metrics=names))
    expected = cross_validate(MODEL, X, Y, cv=CV, scoring=names)
    for name in names:
        np.testing.assert_allclose(found[f"test_{name}"], expected[f"test_{name}"], rtol=1e-12)


def test_names_of_scikit_learn_with_three_classes():
    names = ["f1_macro", "roc_auc_ovr", "neg_log_loss", "top_k_accuracy"]
    found = cross_validate(MODEL, X3, Y3, cv=CV, scoring=ConfusionCountsScorer(metrics=names))
    expected = cross_validate(MODEL, X3, Y3, cv=CV, scoring=names)
    for name in names:
        np.testing.assert_allclose(found[f"test_{name}"], expected[f"test_{name}"], rtol=1e-12)


@pytest.mark.parametrize("refit", ["f1", "auc", "loss", "jac"])
def test_refit_by_any_of_the_scores(routing, refit):
    scorer = ConfusionCountsScorer(metrics=OTHERS)
    found = GridSearchCV(MODEL, GRID, scoring=scorer, refit=refit, cv=CV).fit(X, Y)
    plain = GridSearchCV(MODEL, GRID, scoring=OTHERS[refit], cv=CV).fit(X, Y)
    assert found.best_index_ == plain.best_index_
    assert found.best_score_ == pytest.approx(plain.best_score_, rel=1e-12)
    assert found.score(X, Y) == pytest.approx(plain.score(X, Y), rel=1e-12)


def test_every_fold_predicts_once_for_all_scores():
    CountingModel.asked.clear()
    labels = {"labels": make_scorer(jaccard_score), "again": make_scorer(f1_score)}
    scorer = ConfusionCountsScorer(
        metrics={"f1": "f1", **labels, "a": "roc_auc", "b": "neg_log_loss"}
    )
    scorer(CountingModel().fit(X, Y), X, Y)
    assert sorted(CountingModel.asked) == ["predict", "predict_proba"]


def test_scores_that_fail_are_nan_and_told():
    """A margin classifier has no probabilities; counts and other scores are there."""
    model = LinearSVC().fit(X, Y)
    scorer = ConfusionCountsScorer(metrics=["neg_log_loss", "roc_auc", "f1"])
    with pytest.warns(UserWarning, match="'neg_log_loss' of a fold cannot be computed and is NaN"):
        found = scorer(model, X, Y)
    assert np.isnan(found["neg_log_loss"])
    assert found["roc_auc"] == pytest.approx(roc_auc_score(Y, model.decision_function(X)))
    assert found["f1"] == pytest.approx(f1_score(Y, model.predict(X)))
    assert found["n"] == 300

    def broken(estimator, X, y):
        raise RuntimeError("no such thing")

    with pytest.warns(UserWarning, match="'mine' .* RuntimeError: no such thing"):
        found = ConfusionCountsScorer(metrics={"mine": broken, "auc": "roc_auc"})(model, X, Y)
    assert np.isnan(found["mine"])
    assert found["auc"] == pytest.approx(roc_auc_score(Y, model.decision_function(X)))


def test_weights_reach_the_scores_that_request_them_and_never_the_counts():
    weight = np.where(Y == 1, 3.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = make_scorer(f1_score).set_score_request(sample_weight=True)
        scorer = ConfusionCountsScorer(metrics={"weighted": weighted, "f1": "f1"})
        model = LogisticRegression().set_fit_request(sample_weight=False)
        params = {"sample_weight": weight}
        found = cross_validate(model, X, Y, cv=CV, scoring=scorer, params=params)
        expected = cross_validate(model, X, Y, cv=CV, scoring=weighted, params=params)
        plain = cross_validate(model, X, Y, cv=CV, scoring="f1", params=NONE)
        search = GridSearchCV(model, {"C": [1.0]}, scoring=scorer, refit="weighted", cv=CV)
        search.fit(X, Y, sample_weight=weight)
        score = search.score(X, Y, sample_weight=weight)
    np.testing.assert_allclose(found["test_weighted"], expected["test_score"], rtol=1e-12)
    np.testing.assert_allclose(found["test_f1"], plain["test_score"], rtol=1e-12)
    assert np.all(found["test_weighted"] != found["test_f1"])
    np.testing.assert_array_equal(found["test_n"], [60] * 5)
    assert score == pytest.approx(f1_score(Y, search.predict(X), sample_weight=weight))


def test_scorer_is_an_ordinary_object():
    scorer = ConfusionCountsScorer(labels=["a", "b"], metrics=["f1"], pos_label="b")
    assert clone(scorer).get_params() == scorer.get_params()
    assert pickle.loads(pickle.dumps(scorer)).labels == ["a", "b"]
    assert repr(ConfusionCountsScorer(metrics=["f1"])) == "ConfusionCountsScorer(metrics=['f1'])"
    with pytest.raises(ValueError, match="scoring"):
        cross_val_score(MODEL, X, Y, scoring=ConfusionCountsScorer())


# --------------------------------------------------------------------------------------------------
# Metrics of scores and probabilities: moments of their folds

SCORED = ["roc_auc", "log_loss", "neg_brier_score", "average_precision", "d2_log_loss_score"]


class Columns(ClassifierMixin, BaseEstimator):
    """Classifier whose classes are in any order, and whose probabilities are told."""

    def __init__(self, classes, probabilities):
        self.classes_, self.probabilities = np.asarray(classes), probabilities

    def predict(self, X):
        return self.classes_[np.argmax(self.probabilities, axis=1)]

    def predict_proba(self, X):
        return self.probabilities


def test_moments_beside_the_counts():
    """The value is scikit-learn's; the moments of a mean are those of its rows."""
    model = clone(MODEL).fit(X[:150], Y[:150])
    X_test, y_test = X[150:], Y[150:]
    found = ConfusionCountsScorer(metrics=SCORED)(model, X_test, y_test)
    for name in (*SCORED[:1], "neg_log_loss", *SCORED[2:]):
        if name in get_scorer_names():  # some are new in scikit-learn
            expected = get_scorer(name)(model, X_test, y_test)
            assert found[name] == pytest.approx(expected, rel=1e-12)
        assert found[f"{name}__variance"] > 0
        assert found[f"{name}__n"] == 150
    assert found["score"] == found["roc_auc"]
    losses = -np.log(model.predict_proba(X_test)[np.arange(150), y_test])
    assert found["neg_log_loss__variance"] == pytest.approx(losses.var(ddof=1) / 150, rel=1e-9)
    third = -np.mean((losses - losses.mean()) ** 3) / 150**2
    assert found["neg_log_loss__third"] == pytest.approx(third, rel=1e-9)
    assert found["tp"] + found["fp"] + found["fn"] + found["tn"] == 150


@pytest.mark.parametrize("labels", [None, ["a", "b", "c"], ["c", "a", "b"]])
def test_columns_are_found_by_value(labels):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 80)]
    p = rng.dirichlet(np.ones(3), 80)
    names = ["neg_log_loss", "roc_auc_ovr", "roc_auc_ovo_weighted", "top_k_accuracy"]
    scorer = ConfusionCountsScorer(metrics=names, labels=labels)
    mixed = scorer(Columns(["b", "c", "a"], p[:, [1, 2, 0]]), X[:80], y)
    plain = Columns(["a", "b", "c"], p)
    for name in names:
        expected = get_scorer(name)(plain, X[:80], y)
        assert mixed[name] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("labels", [None, [0, 1], [1, 0]])
def test_columns_of_two_classes(labels):
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 60), rng.random(60)
    names = ["neg_log_loss", "roc_auc", "average_precision"]
    scorer = ConfusionCountsScorer(metrics=names, labels=labels)
    found = scorer(Columns([1, 0], np.stack([p, 1 - p], axis=1)), X[:60], y)
    margin = LinearSVC().fit(X, Y)
    reverse = ConfusionCountsScorer(metrics=["roc_auc"], labels=labels)(margin, X, Y)
    assert reverse["roc_auc"] == pytest.approx(roc_auc_score(Y, margin.decision_function(X)))
    for name in names:
        expected = get_scorer(name)(Columns([0, 1], np.stack([1 - p, p], axis=1)), X[:60], y)
        assert found[name] == pytest.approx(expected, rel=1e-9)


def test_a_class_that_was_not_learnt_has_no_probability():
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    scorer = ConfusionCountsScorer(metrics=["log_loss", "top_k_accuracy"], labels=[0, 1, 2])
    found = scorer(Columns([0, 2], p), X[:3], [0, 2, 1])
    tiny = np.finfo(float).eps
    assert found["neg_log_loss"] == pytest.approx(np.log([0.9, 0.8, tiny]).mean(), rel=1e-12)
    assert found["top_k_accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("p", "y", "lost", "problem"),
    [
        ([0.2, 0.8, 0.4, np.nan], [0, 1, 0, 1], {"roc_auc", "neg_log_loss"}, "NaN or infinity"),
        ([0.2, 0.8, 0.4, 0.6], [1, 1, 1, 1], {"roc_auc"}, "no row of another class"),
        ([0.2, 0.8, 0.4, 0.6], [0, 0, 0, 0], {"roc_auc"}, "no row of class 1"),
        ([0.2, 0.8, 0.4, 1.7], [0, 1, 0, 1], {"neg_log_loss"}, "sum to 1|in .0, 1."),
    ],
)
def test_what_a_fold_cannot_tell_is_nan_alone(p, y, lost, problem):
    probabilities = np.stack([np.full(4, 0.5), p], axis=1)
    probabilities[:, 0] = 1 - np.clip(p, 0, 1)
    scorer = ConfusionCountsScorer(metrics=["accuracy", "roc_auc", "neg_log_loss"], labels=[0, 1])
    with pytest.warns(UserWarning, match=problem):
        found = scorer(Columns([0, 1], probabilities), X[:4], y)
    assert {name for name in ("accuracy", "roc_auc", "neg_log_loss") if np.isnan(found[name])} == (
        lost
    )
    assert found["n"] == 4


def test_positive_classes_of_scores():
    y = np.where(Y == 1, "ill", "well")
    model = clone(MODEL).fit(X, y)
    with pytest.raises(ValueError, match="pos_label"):
        ConfusionCountsScorer(metrics=["average_precision"], labels=["ill", "well"])
    with pytest.raises(ValueError, match="pos_label"):
        ConfusionCountsScorer(metrics=["average_precision"])(model, X, y)
    found = ConfusionCountsScorer(metrics=["average_precision"], pos_label="ill")(model, X, y)
    expected = average_precision_score(y == "ill", -model.decision_function(X))
    assert found["average_precision"] == pytest.approx(expected, rel=1e-12)
    assert ConfusionCountsScorer(metrics=["roc_auc"])(model, X, y)["roc_auc"] > 0.5


def test_every_method_is_asked_once():
    CountingModel.asked.clear()
    names = ["f1", "roc_auc", "neg_log_loss", "average_precision", "top_k_accuracy"]
    ConfusionCountsScorer(metrics=names)(CountingModel().fit(X, Y), X, Y)
    assert sorted(CountingModel.asked) == ["predict", "predict_proba"]


def test_keys_of_a_fold_that_fails():
    scorer = ConfusionCountsScorer(metrics=SCORED, labels=[0, 1])
    assert set(scorer._keys_of(Y)) == set(scorer(clone(MODEL).fit(X, Y), X, Y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["prevalence"]}, "no better or worse direction"),
        ({"metrics": ["f3.x"]}, "is not known"),
        ({"labels": [0, 1], "pos_label": 7}, "pos_label 7 is not one of the labels"),
        ({"pos_label": 7}, "pos_label 7 is not one of the labels"),
        ({"labels": [5, 6]}, "y_true holds the label 0, which is not in labels"),
        ({"metrics": [make_metric(lambda p: p[..., 0, 0], name="tp")]}, "cannot be called 'tp'"),
        ({"metrics": [make_scorer(f1_score)]}, "must give a scorer a name"),
        ({"metrics": {"tp": "f1"}}, "cannot be called 'tp'"),
        ({"metrics": {"score": "f1"}}, "cannot be called 'score'"),
        ({"metrics": {1: "f1"}}, "a dict by name, got the key 1"),
        ({"metrics": {"a": "roc_auk"}}, "'roc_auk' is not known"),
        ({"metrics": {"a": f1_score}}, "takes one argument"),
        ({"metrics": ["f1", make_metric(lambda p: p[..., 0, 0], name="f1")]}, "different names"),
    ],
)
def test_what_the_counts_scorer_refuses(options, message):
    model = MODEL.fit(X, Y)
    with pytest.raises(ValueError, match=message):
        ConfusionCountsScorer(**options)(model, X, Y)


# --------------------------------------------------------------------------------------------------
# Bounds


def test_bound_is_the_end_of_the_interval(routing):
    model = clone(MODEL).fit(X, Y)
    counts = ConfusionCounts.from_predictions(Y, model.predict(X))
    low, high = counts.posterior("f1", prior="jeffreys").interval(0.9, "hdi")
    options = {"level": 0.9, "kind": "hdi", "prior": "jeffreys"}
    assert make_bound_scorer("f1", **options)(model, X, Y) == low
    assert make_bound_scorer("f1", bound="upper", **options)(model, X, Y) == high
    low, high = counts.posterior("fpr").interval()
    assert make_bound_scorer("fpr")(model, X, Y) == -high
    assert make_bound_scorer("fpr", bound="upper")(model, X, Y) == -low
    drawn = make_bound_scorer(make_metric(_own, name="own"))
    assert drawn(model, X, Y) == drawn(model, X, Y)


def _own(p):
    return p[..., 0, 0] * p[..., 1, 1]


def test_bound_scorer_in_a_search(routing):
    scorer = make_bound_scorer("recall", pos_label="spam")
    search = GridSearchCV(MODEL, GRID, scoring=scorer, cv=CV, n_jobs=2).fit(X, _names(Y))
    assert 0 < search.best_score_ < search.cv_results_["mean_test_score"].max() + 1e-12
    pickle.loads(pickle.dumps(scorer))
    clone(search)
    scores = cross_val_score(MODEL, X, _names(Y), scoring=scorer, cv=CV, params=NONE)
    assert scores.shape == (5,)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_bound_scorer_on_a_fold_without_positives():
    model = clone(MODEL).fit(X, _names(Y))
    rows = Y == 0
    scorer = make_bound_scorer("recall", pos_label="spam")
    assert 0 <= scorer(model, X[rows], _names(Y)[rows]) < 0.5


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("f1",), {"bound": "low"}, "bound must be one of 'lower', 'upper'; got 'low'"),
        (("f1",), {"level": 95}, "Did you mean 0.95"),
        (("f1",), {"kind": "hpd"}, "kind must be one of"),
        (("f1",), {"prior": "jeffrey"}, "Did you mean 'jeffreys'"),
        (("prevalence",), {}, "no better or worse direction"),
    ],
)
def test_what_make_bound_scorer_refuses(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        make_bound_scorer(*arguments, **options)


@pytest.mark.parametrize(
    ("predicted", "positive", "negative"),
    [
        ([0, 0, 1, 1, 0], 1.0, 1 / 3),  # no false positive
        ([0, 0, 0, 0, 0], 1.0, 1.0),  # nothing is called positive
        ([1, 1, 1, 1, 1], 1.0, 1.0),  # no true negative
        ([1, 1, 0, 0, 1], 1 / 3, 1.0),
    ],
)
def test_likelihood_ratios_without_a_denominator_are_1(predicted, positive, negative):
    """As scikit-learn's scorers have it, so that folds and candidates keep a finite mean."""
    names = ["positive_likelihood_ratio", "neg_negative_likelihood_ratio"]
    estimator = DummyClassifier().fit(np.zeros((5, 1)), [0, 0, 1, 1, 1])
    estimator.predict = lambda X: np.array(predicted)
    found = ConfusionCountsScorer(metrics=names)(estimator, np.zeros((5, 1)), [0, 0, 1, 1, 1])
    assert [found[name] for name in names] == pytest.approx([positive, -negative], rel=1e-12)
    if "replace_undefined_by" in inspect.signature(class_likelihood_ratios).parameters:
        with warnings.catch_warnings(action="ignore"):  # of scikit-learn's own function
            ratios = class_likelihood_ratios([0, 0, 1, 1, 1], predicted, replace_undefined_by=1.0)
        assert (positive, negative) == pytest.approx(ratios, rel=1e-12)
