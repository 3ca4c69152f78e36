"""BayesianCrossValidator and cross_val_posterior."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skuncertain import BayesianCrossValidator
from skuncertain.exceptions import FoldDisagreementWarning
from skuncertain.metrics import get_metric, make_metric
from skuncertain.model_selection import CrossValPosterior, fold_interval

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
GROUPS = np.arange(240) // 8
NB = GaussianNB()


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


def again(bcv, metric, **options):
    """Interval from the counts alone, and from those of the models on the same rows."""
    return fold_interval(bcv.counts_, metric, stability_counts=bcv.stability_.counts, **options)


def test_fitted_attributes():
    bcv = BayesianCrossValidator(NB, cv=StratifiedKFold(6), random_state=0).fit(X, Y)
    plain = cross_validate(NB, X, Y, cv=StratifiedKFold(6), scoring=["f1", "accuracy"])
    np.testing.assert_allclose(bcv.cv_results_["test_f1"], plain["test_f1"])
    assert len(bcv.cv_results_["indices"]["test"]) == 6
    assert bcv.counts_.shape == (6,)
    assert bcv.counts_.sum().n == 240
    assert list(bcv.posteriors_) == ["accuracy", "precision", "recall", "f1", "mcc"]
    for name, interval in bcv.intervals_.items():
        assert interval == bcv.interval(name) == again(bcv, name)
        assert interval == bcv.posteriors_[name].interval()
    np.testing.assert_array_equal(bcv.classes_, [0, 1])
    assert bcv.n_features_in_ == 6
    np.testing.assert_array_equal(bcv.predict(X), clone(NB).fit(X, Y).predict(X))
    assert bcv.predict_proba(X).shape == (240, 2)
    assert bcv.predict_log_proba(X[:3]).shape == (3, 2)
    assert bcv.score(X, Y) == clone(NB).fit(X, Y).score(X, Y)
    assert not hasattr(bcv, "decision_function")
    assert isinstance(bcv.result_, CrossValPosterior)


@pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.DegenerateIntervalWarning"
)  # t beyond 1
def test_other_methods_and_settings_after_fit():
    bcv = BayesianCrossValidator(NB, cv=5, omega="wang_li", level=0.9, kind="hdi").fit(X, Y)
    counts = bcv.counts_
    options = {"level": 0.9, "kind": "hdi"}
    assert bcv.interval("f1") == fold_interval(counts, "f1", omega="wang_li", **options)
    assert bcv.interval("f1", omega="auto") == again(bcv, "f1", **options)
    for method in ("averaged", "average_exact", "t", "corrected_t", "nadeau_bengio", "dirichlet"):
        assert bcv.interval("recall", method, 0.95, "eti") == fold_interval(
            counts, "recall", method=method
        )
    assert bcv.interval("f1", estimand="final", omega="auto") == again(
        bcv, "f1", estimand="final", **options
    )
    assert bcv.interval("npv", prior=0.5) == fold_interval(
        counts, "npv", omega="wang_li", prior=0.5, **options
    )
    assert bcv.posterior("recall", pos_label=0).interval() == fold_interval(
        counts, "specificity", omega="wang_li"
    )
    with pytest.raises(ValueError, match="omega is used by method 'pooled' only, got method='t'"):
        bcv.interval("f1", "t", omega="auto")
    with pytest.raises(ValueError, match="needs omega='auto'"):
        bcv.interval("f1", estimand="final", omega="wang_li")
    model = BayesianCrossValidator(NB, cv=5, estimand="final").fit(X, Y)
    assert model.interval("f1") == again(model, "f1", estimand="final")
    assert model.interval("f1", omega="wang_li") == fold_interval(counts, "f1", omega="wang_li")
    assert "the one model" in str(model.report())


def test_averaged_as_default_method():
    bcv = BayesianCrossValidator(NB, cv=5, method="averaged", metrics="f1").fit(X, Y)
    assert bcv.interval("f1") == fold_interval(bcv.counts_, "f1", method="averaged")
    assert bcv.interval("f1", omega="wang_li") == fold_interval(bcv.counts_, "f1", omega="wang_li")


def test_report_says_what_was_done():
    text = str(BayesianCrossValidator(NB, cv=5).fit(X, Y).report())
    for part in (
        "level           95 %",
        "kind            equal-tailed (eti)",
        "prior           1 on each side of the proportion",
        "method          pooled",
        "row weight      estimated from the folds (Wang and Li: 0.600)",
        "n               240 rows",
        "K               5 folds",
        "positive class  1",
        "Question: How well do the 5 models of the folds do on average?",
        "other training sets of 192 rows with these class counts",
        "wang_li",
        "corrected_t",
    ):
        assert part in text


def test_more_classes_and_strings():
    rows, species = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    bcv = BayesianCrossValidator(NB, cv=5).fit(rows, names)
    assert list(bcv.intervals_) == ["accuracy", "balanced_accuracy", "f1_macro", "mcc"]
    assert bcv.counts_.labels == ("setosa", "versicolor", "virginica")
    assert bcv.counts_.pos_label is None
    low, high = bcv.interval("recall", pos_label="virginica")
    assert 0.7 < low < high < 1
    with pytest.raises(ValueError, match="Name the class with pos_label"):
        bcv.interval("recall")
    with pytest.raises(ValueError, match="Name the class with pos_label"):
        BayesianCrossValidator(NB, metrics=["recall"]).fit(rows, names)
    assert "classes     3" in str(bcv.report())


def test_metrics_of_all_sorts():
    own = make_metric(lambda p: p[..., 1, 1], name="own", range=(0, 1))
    metrics = ["f1", get_metric("npv"), "prevalence", "fpr", own]
    bcv = BayesianCrossValidator(NB, cv=5, metrics=metrics, random_state=0).fit(X, Y)
    assert list(bcv.intervals_) == ["f1", "npv", "prevalence", "fpr", "own"]
    assert "test_neg_fpr" in bcv.cv_results_
    assert bcv.interval(own) == bcv.intervals_["own"]
    assert "own" in str(bcv.report())


# --------------------------------------------------------------------------------------------------
# Splitters


@pytest.mark.parametrize(
    ("cv", "n_repeats", "n_folds", "n"),
    [
        (None, 1, 5, 240),
        (KFold(4, shuffle=True, random_state=0), 1, 4, 240),
        (RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0), 3, 5, 240),
        (GroupKFold(5), 1, 5, 240),
        (StratifiedGroupKFold(5), 1, 5, 240),
        (LeaveOneGroupOut(), 1, 30, 240),
        (PredefinedSplit(np.arange(240) % 5 - 1), 1, 4, 192),
        ([(np.arange(150), np.arange(150, 240))], 1, 1, 90),
        (ShuffleSplit(1, test_size=0.3, random_state=0), 1, 1, 72),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_splits_that_can_be_pooled(cv, n_repeats, n_folds, n):
    bcv = BayesianCrossValidator(NB, cv=cv).fit(X, Y, groups=GROUPS if _grouped(cv) else None)
    result = bcv.result_
    assert (result.n_repeats, result.n_folds, result.n) == (n_repeats, n_folds, n)
    assert len(bcv.counts_) == n_repeats * n_folds
    assert bcv.interval("recall") == again(bcv, "recall", n_repeats=n_repeats)


def _grouped(cv):
    return isinstance(cv, GroupKFold | StratifiedGroupKFold | LeaveOneGroupOut)


def test_leave_one_and_two_out():
    bcv = BayesianCrossValidator(NB, cv=LeaveOneOut(), metrics=["accuracy", "f1"]).fit(X, Y)
    assert bcv.result_.n_folds == 240
    assert bcv.interval("f1") == again(bcv, "f1")
    pairs = BayesianCrossValidator(NB, cv=LeavePOut(2), metrics=["accuracy"])
    pairs.fit(X[:21], Y[:21])
    assert (pairs.result_.n_repeats, pairs.result_.n_folds, pairs.result_.n) == (20, 10.5, 21)
    assert pairs.result_.disagreement() == []


@pytest.mark.parametrize(
    ("cv", "reason"),
    [
        (ShuffleSplit(6, test_size=0.3, random_state=0), "tested between"),
        (TimeSeriesSplit(5), "serve for training between 0 and 4 times"),
        (TimeSeriesSplit(5, max_train_size=40), "serve for training"),
        (TimeSeriesSplit(5, gap=3), "serve for training"),
    ],
    ids=["shuffle", "time", "window", "gap"],
)
def test_splits_that_cannot_be_pooled(cv, reason):
    with pytest.raises(ValueError, match=f"{reason}.*Use method='nadeau_bengio'"):
        BayesianCrossValidator(_NeverFit(), cv=cv).fit(X, Y)
    bcv = BayesianCrossValidator(NB, cv=cv, method="nadeau_bengio").fit(X, Y)
    n_train = np.array([len(train) for train, _ in cv.split(X)])
    n_test = np.array([len(test) for _, test in cv.split(X)])
    expected = fold_interval(
        bcv.cv_results_["test_f1"], method="nadeau_bengio", n_train=n_train, n_test=n_test
    )
    np.testing.assert_allclose(bcv.interval("f1"), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="Use method='nadeau_bengio'"):
        bcv.interval("f1", omega="wang_li")
    assert "nadeau_bengio" in str(bcv.report())


class _NeverFit(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("splits are looked at before anything is fitted")


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")  # by chance
def test_a_splitter_without_seed_is_asked_once():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2)  # other folds at every call
    bcv = BayesianCrossValidator(NB, cv=cv, keep_predictions=True).fit(X, Y)
    again = np.array(
        [
            confusion_matrix(Y[rows], predicted)
            for rows, predicted in zip(
                bcv.cv_results_["indices"]["test"], bcv.predictions_, strict=True
            )
        ]
    )
    np.testing.assert_array_equal(again, bcv.counts_.counts)


def test_nested_cross_validation(routing):
    search = GridSearchCV(NB, {"var_smoothing": [1e-9, 1e-3]})
    bcv = BayesianCrossValidator(search, cv=StratifiedGroupKFold(5)).fit(X, Y, groups=GROUPS)
    counts = []
    for train, test in StratifiedGroupKFold(5).split(X, Y, GROUPS):
        inner = clone(search).fit(X[train], Y[train])
        counts.append(confusion_matrix(Y[test], inner.predict(X[test])))
    np.testing.assert_array_equal(bcv.counts_.counts, counts)
    assert bcv.estimator_.best_params_ == clone(search).fit(X, Y).best_params_


def test_groups_reach_the_inner_search_with_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(NB, {"var_smoothing": [1e-9, 1e-3]}, cv=GroupKFold(3))
        bcv = BayesianCrossValidator(search, cv=GroupKFold(4)).fit(X, Y, groups=GROUPS)
        assert bcv.counts_.sum().n == 240
        with pytest.raises(TypeError, match="groups"):
            BayesianCrossValidator(NB, cv=3).fit(X, Y, groups=GROUPS)


def test_weights_of_the_fit(routing):
    model = GaussianNB()
    if routing:
        model.set_fit_request(sample_weight=True)
    weight = np.where(Y == 1, 20.0, 0.05)
    bcv = BayesianCrossValidator(model, cv=4).fit(X, Y, sample_weight=weight)
    plain = BayesianCrossValidator(GaussianNB(), cv=4).fit(X, Y)
    assert bcv.counts_.sum().n == 240  # rows, not weights
    assert bcv.counts_.counts[:, 1, 1].sum() > plain.counts_.counts[:, 1, 1].sum()
    assert bcv.predict(X).sum() > plain.predict(X).sum()
    if routing:  # under another name
        model = GaussianNB().set_fit_request(sample_weight="w")
        again = BayesianCrossValidator(model, cv=4).fit(X, Y, w=weight)
        assert again.counts_ == bcv.counts_


# --------------------------------------------------------------------------------------------------
# Failures, workers, labels


class FailsOnSomeFolds(GaussianNB):
    """Fails when the row that is named is among the training rows' absentees."""

    def fit(self, X, y, sample_weight=None):
        if not np.any(X[:, -1] == 7777.0):
            raise ValueError("this fold fails")
        return super().fit(X, y)


def test_a_failing_fold_is_named_and_left_out():
    marked = X.copy()
    marked[5, -1] = 7777.0  # the fold that tests row 5 does not train on it
    bcv = BayesianCrossValidator(FailsOnSomeFolds(), cv=KFold(5), error_score=np.nan)
    with pytest.warns(FitFailedWarning) as caught:
        bcv.fit(marked, Y)
    ours = [str(w.message) for w in caught if "folds [0] of 5" in str(w.message)]
    assert len(ours) == 1
    assert "rests on 4 folds" in ours[0]
    assert bcv.counts_.shape == (4,)
    assert (bcv.result_.failed_folds, bcv.result_.n) == ((0,), 192)
    assert bcv.interval("f1") == again(bcv, "f1")
    assert "folds [0] failed" in str(bcv.report())
    bcv = BayesianCrossValidator(FailsOnSomeFolds(), cv=KFold(5), method="nadeau_bengio")
    with pytest.raises(ValueError, match="this fold fails"):
        bcv.fit(marked, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        bcv.set_params(error_score=np.nan, keep_predictions=True).fit(marked, Y)
    assert bcv.predictions_[0] is None
    assert len(bcv.predictions_[1]) == 48
    repeated = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        bcv = BayesianCrossValidator(FailsOnSomeFolds(), cv=repeated, error_score=np.nan)
        bcv.fit(marked, Y)
    assert bcv.result_.n_folds == 4
    assert bcv.interval("f1").width > 0


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_results_do_not_depend_on_the_workers(n_jobs, backend):
    expected = BayesianCrossValidator(NB, cv=5, random_state=0).fit(X, Y)
    with joblib.parallel_config(backend=backend):
        found = BayesianCrossValidator(NB, cv=5, n_jobs=n_jobs, random_state=0).fit(X, Y)
    assert found.counts_ == expected.counts_
    assert found.intervals_ == expected.intervals_


def test_verbose_shows_progress(capsys):
    BayesianCrossValidator(NB, cv=3, verbose=2).fit(X, Y)
    printed = capsys.readouterr()
    assert "[CV]" in printed.out + printed.err


class Moody(DummyClassifier):
    """Predicts one class for all rows: which one, two training rows decide."""

    def predict(self, X):
        return np.full(len(X), int(self.class_prior_[1] > 0.5))


def test_unstable_learner_is_reported_once():
    y = np.tile([0, 1], 120)
    y[:3] = 1
    bcv = BayesianCrossValidator(Moody(), cv=KFold(8), metrics=["recall", "accuracy"])
    with pytest.warns(FoldDisagreementWarning, match="recall") as caught:
        bcv.fit(X, y)
    assert [w.category for w in caught].count(FoldDisagreementWarning) == 1
    text = str(bcv.report())
    assert "times the variance of chance, given class counts" in text
    row = text.split("Scores\n")[1].splitlines()[1]
    assert row.split()[0] == "recall"
    assert row.split()[-1] == "<0.01"  # a probability is never rounded to 0


@pytest.mark.parametrize(
    ("y", "positives"),
    [
        (np.where(Y == 1, 1, -1), 1),
        (Y.astype(bool), True),
        (np.array(["no", "yes"])[Y], "yes"),
    ],
    ids=["-1 and 1", "bool", "strings"],
)
def test_labels(y, positives):
    plain = BayesianCrossValidator(NB, cv=5).fit(X, Y)
    named = positives if isinstance(positives, str) else None
    bcv = BayesianCrossValidator(NB, cv=5, pos_label=named).fit(X, y)
    assert bcv.counts_.pos_label == positives
    np.testing.assert_array_equal(bcv.counts_.counts, plain.counts_.counts)
    np.testing.assert_array_equal(bcv.classes_, np.unique(y))


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    y = pandas.Series(np.array(["no", "yes"])[Y], dtype="string")
    options = {"keep_predictions": True, "pos_label": "yes"}
    bcv = BayesianCrossValidator(NB, cv=5, **options).fit(frame, y)
    assert bcv.interval("f1") == BayesianCrossValidator(NB, cv=5).fit(X, Y).interval("f1")
    assert list(bcv.feature_names_in_) == list("abcdef")
    table = bcv.result_.to_frame()
    assert table.loc["recall", "high"] == bcv.interval("recall").high
    y = pandas.Series(Y, dtype="Int64", index=np.arange(240) + 1000)
    assert BayesianCrossValidator(NB, cv=5).fit(frame, y).interval("f1") == bcv.interval("f1")


def test_kept_predictions():
    bcv = BayesianCrossValidator(NB, cv=5, keep_predictions=True, refit=False).fit(X, Y)
    assert "estimator" not in bcv.cv_results_
    for rows, labels, scores in zip(
        bcv.cv_results_["indices"]["test"], bcv.predictions_, bcv.scores_, strict=True
    ):
        np.testing.assert_array_equal(labels, scores.argmax(axis=1))
        assert len(rows) == len(labels)
    svc = BayesianCrossValidator(LinearSVC(), cv=3, keep_predictions=True).fit(X, Y)
    assert svc.scores_[0].ndim == 1
    assert svc.decision_function(X).shape == (240,)


def test_without_refit_nothing_is_predicted():
    bcv = BayesianCrossValidator(NB, cv=3, refit=False).fit(X, Y)
    assert not hasattr(bcv, "predict")
    assert not hasattr(bcv, "estimator_")
    assert bcv.n_features_in_ == 6
    with pytest.raises(AttributeError, match="has no attribute 'predict'"):
        bcv.predict(X)


def test_ordinary_object():
    bcv = BayesianCrossValidator(KNeighborsClassifier(3), cv=3, omega=0.7)
    with pytest.raises(NotFittedError):
        bcv.interval("f1")
    with pytest.raises(AttributeError, match="not fitted yet"):
        bcv.counts_  # noqa: B018
    bcv.fit(X, Y)
    again = pickle.loads(pickle.dumps(bcv))
    assert again.intervals_ == bcv.intervals_
    assert pickle.loads(pickle.dumps(again.result_)).interval("f1") == bcv.interval("f1")
    assert clone(bcv).get_params(deep=False)["omega"] == 0.7
    assert not hasattr(clone(bcv), "result_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "mean"}, "method must be one of"),
        ({"omega": "auto ", "method": "pooled"}, "omega must be one of"),
        ({"omega": 0.1}, r"omega must be in \[1/K, 1\]"),
        ({"omega": 0.5, "method": "t"}, "omega is used by method 'pooled' only"),
        ({"estimand": "final", "omega": "wang_li"}, "needs omega='auto'"),
        ({"level": 95}, "Did you mean 0.95"),
        ({"metrics": ["f1", "prcision"]}, "Did you mean 'precision'"),
        ({"metrics": []}, "at least one metric"),
        ({"labels": [0, 2]}, "y holds the label 1, which is not in labels"),
        ({"pos_label": "x"}, "pos_label 'x' is not one of the labels"),
        ({"error_score": 0.0}, "error_score must be 'raise' or nan"),
        ({"prior": [1, 2]}, "array prior must have shape"),
        ({"prior": "shared"}, "is a prior of one matrix"),
        ({"prior": 0.5, "method": "t"}, "prior is used by method .* only, got method='t'"),
        ({"metrics": [lambda p: p]}, "must map an array"),
        ({"cv": []}, "no split at all"),
    ],
)
def test_what_is_refused_before_the_work(options, message):
    def attempt():
        bcv = BayesianCrossValidator(_NeverFit(), **{"cv": 3} | options).fit(X, Y)
        return bcv

    with pytest.raises(ValueError, match=message):
        attempt()


def test_wrong_types_are_refused():
    for options in ({"refit": "f1"}, {"keep_predictions": 1}, {"metrics": 5}):
        with pytest.raises(TypeError, match=next(iter(options))):
            BayesianCrossValidator(_NeverFit(), **options).fit(X, Y)


def test_masks_and_negative_indices_are_rows():
    expected = BayesianCrossValidator(NB, cv=KFold(2)).fit(X, Y)
    half = np.arange(240) < 120
    masks = BayesianCrossValidator(NB, cv=[(~half, half), (half, ~half)]).fit(X, Y)
    assert masks.counts_ == expected.counts_
    assert masks.result_.n_folds == 2
    rows = np.arange(240)
    cv = [(rows[120:], rows[:120]), (rows[:120], rows[120:] - 240)]
    negative = BayesianCrossValidator(NB, cv=cv).fit(X, Y)
    assert negative.counts_ == expected.counts_


def test_splits_that_cannot_be_meant():
    rows = np.arange(240)
    leaky = [(rows, test) for _, test in KFold(5).split(X)]
    with pytest.warns(UserWarning, match="split 0 tests rows that it has trained on"):
        BayesianCrossValidator(NB, cv=leaky).fit(X, Y)
    iris, species = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="split 0 tests rows of class 0 but trains on none"):
        bcv = BayesianCrossValidator(NB, cv=KFold(3)).fit(iris, species)
    # 0 of 150 right: half a pseudo-row keeps a width, whatever the average.
    for metric in ("accuracy", "balanced_accuracy", "f1_macro"):
        low, high = bcv.interval(metric)
        assert low == 0
        assert 0.005 < high < 0.1


def test_nothing_is_left_of_an_earlier_fit():
    pandas = pytest.importorskip("pandas")
    bcv = BayesianCrossValidator(NB, keep_predictions=True)
    bcv.fit(pandas.DataFrame(X).add_prefix("c"), Y)
    iris, species = load_iris(return_X_y=True)
    bcv.set_params(refit=False, keep_predictions=False).fit(iris, species)
    for name in ("feature_names_in_", "estimator_", "refit_time_", "predictions_", "scores_"):
        assert not hasattr(bcv, name)
    bcv.intervals_.pop("accuracy")
    assert "accuracy" in bcv.intervals_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.DegenerateIntervalWarning"
)  # t beyond 1
def test_an_undefined_metric_does_not_spoil_the_others():
    bcv = BayesianCrossValidator(NB, cv=LeaveOneOut(), method="nadeau_bengio").fit(X[:40], Y[:40])
    assert np.isnan(bcv.intervals_["mcc"].low)
    assert bcv.intervals_["accuracy"].width > 0
    assert "undefined" in str(bcv.report())
    assert "averaged" not in str(bcv.report())  # folds of one row


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_folds_without_a_value_have_no_spread():
    y = np.array([0, 1, 1] * 20)
    bcv = BayesianCrossValidator(
        DummyClassifier(strategy="constant", constant=0), metrics=["precision", "recall"]
    ).fit(np.zeros((60, 1)), y)
    empty, zero = bcv.report().to_dict()["sections"]["scores"]["rows"]
    spread = ("omega", "lowest_fold", "highest_fold", "fold_variance", "p_value")
    assert [empty[key] for key in spread] == [None] * 5  # nothing was predicted positive
    # Nothing was found: five folds that cannot disagree weigh as independent ones.
    assert [zero[key] for key in spread] == [pytest.approx(1 / (1 + 5 / 4)), 0.0, 0.0, 0.0, 1.0]
    line = next(line for line in str(bcv.report()).splitlines() if line.startswith("precision"))
    assert line.split()[-5:] == ["-"] * 5


def test_a_regression_is_told_first():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    bcv = BayesianCrossValidator(LinearRegression())
    with pytest.raises(ValueError, match="estimator must be a classifier, got LinearRegression"):
        bcv.fit(rows, np.array([0, 1, 1] * 20))


def test_targets_that_are_no_classes():
    with pytest.raises(ValueError, match="requires y to be passed"):
        BayesianCrossValidator(NB).fit(X, None)
    with pytest.raises(ValueError, match="Unknown label type"):
        BayesianCrossValidator(NB).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="only one class, 1"):
        BayesianCrossValidator(NB).fit(X, np.ones(240))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        BayesianCrossValidator(NB).fit(X, Y[:-1])
    with pytest.raises(ValueError, match="one class label per row"):
        BayesianCrossValidator(DecisionTreeClassifier()).fit(X, np.eye(2, dtype=int)[Y])
