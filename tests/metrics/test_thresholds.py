"""intervals_at_thresholds, against scikit-learn's metrics of predictions by a threshold."""

import json
import pickle
import sys
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    confusion_matrix,
    f1_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skuncertain import BayesianCrossValidator, ConfusionCounts
from skuncertain.metrics import ThresholdIntervals, get_metric, intervals_at_thresholds
from skuncertain.model_selection import fold_posterior

SCORERS = {
    "precision": lambda y, p: precision_score(y, p, zero_division=np.nan),
    "recall": recall_score,
    "f1": f1_score,
    "mcc": matthews_corrcoef,
    "fpr": lambda y, p: 1 - recall_score(y, p, pos_label=0),
}


def sample(seed, m1=30, m0=40, digits=1):
    """Labels 0 and 1 in random order, with scores and ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [m1, m0]))
    return y, (y + rng.normal(size=y.size)).round(digits)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(300, n_features=8, flip_y=0.2, weights=[0.7], random_state=1)
    return X[:150], y[:150], X[150:], y[150:]


# --------------------------------------------------------------------------------------------------
# Counts, values, intervals


def test_values_are_those_of_thresholded_predictions(global_random_seed):
    y, score = sample(global_random_seed)
    thresholds = [-1.0, 0.3, 0.5, score[0], 1.2]
    report = intervals_at_thresholds(
        y, score, thresholds, metrics=list(SCORERS), random_state=global_random_seed
    )
    assert isinstance(report, ThresholdIntervals)
    np.testing.assert_array_equal(report.thresholds, np.unique(thresholds))
    assert report.counts.shape == (len(report.thresholds),)
    for k, threshold in enumerate(report.thresholds):
        predicted = (score >= threshold).astype(int)  # a score at the threshold is positive
        np.testing.assert_array_equal(report.counts[k].counts, confusion_matrix(y, predicted))
        for name, scorer in SCORERS.items():
            assert report.values[name][k] == pytest.approx(scorer(y, predicted), abs=1e-12)
    assert report.warnings == ()


@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize("prior", ["auto", "laplace", 0.3])
def test_intervals_are_those_of_the_counts(kind, prior, global_random_seed):
    y, score = sample(global_random_seed)
    options = {"level": 0.8, "kind": kind, "prior": prior}
    names = ["precision", "f1", "mcc"]
    report = intervals_at_thresholds(
        y, score, [0.2, 0.7], metrics=names, random_state=global_random_seed, **options
    )
    for k, threshold in enumerate((0.2, 0.7)):
        counts = ConfusionCounts.from_predictions(y, (score >= threshold).astype(int))
        for name in names:
            posterior = counts.posterior(name, prior=prior, random_state=global_random_seed)
            low, high = posterior.interval(0.8, kind)
            error = 0.0
            if name == "mcc":  # drawn, for one threshold or for two at once
                both = (report.interval_error[name][k], posterior.interval_error(0.8, kind))
                assert max(both) < 0.01
                error = 5 * np.hypot(*both)
            assert report.low[name][k] == pytest.approx(low, abs=error + 1e-9)
            assert report.high[name][k] == pytest.approx(high, abs=error + 1e-9)
        single = report.posterior("recall", threshold)
        expected = counts.posterior("recall", prior=prior).interval()
        np.testing.assert_allclose(single.interval(), expected)
    assert (report.level, report.kind, report.prior) == (0.8, kind, prior)
    assert report.seed == global_random_seed
    again = intervals_at_thresholds(
        y, score, [0.2, 0.7], metrics=names, random_state=report.seed, **options
    )
    np.testing.assert_array_equal(again.low["mcc"], report.low["mcc"])


def test_default_thresholds():
    y, score = sample(0, digits=0)
    np.testing.assert_array_equal(intervals_at_thresholds(y, score).thresholds, np.unique(score))
    y, score = sample(0, 300, 300, digits=5)
    report = intervals_at_thresholds(y, score)
    assert 45 <= len(report.thresholds) <= 50
    assert (report.thresholds[0], report.thresholds[-1]) == (score.min(), score.max())
    assert np.isin(report.thresholds, score).all()
    # Spread evenly over the rows, not over the scale.
    shares = [np.mean(score >= threshold) for threshold in report.thresholds]
    np.testing.assert_allclose(np.diff(shares), -1 / 49, atol=0.004)
    assert len(intervals_at_thresholds(y, score, 7).thresholds) == 7
    assert (
        len(intervals_at_thresholds(y, score, 7, operating_threshold=0.123456789).thresholds) == 8
    )


def test_labels_of_all_kinds():
    y, score = sample(0)
    expected = intervals_at_thresholds(y, score, [0.5]).counts[0].counts
    for named, label in (
        (np.array(["no", "yes"])[y], "yes"),
        (np.array(["yes", "no"])[y], "no"),
        (2 * y - 1, 1),
        (y.astype(bool), True),
    ):
        counts = intervals_at_thresholds(named, score, [0.5], pos_label=label).operating_point(0.5)
        assert counts.pos_label == label
        assert counts.labels == tuple(sorted(set(named.tolist())))
        index = counts.labels.index(label)
        found = counts.counts if index == 1 else counts.counts[::-1, ::-1]
        np.testing.assert_array_equal(found, expected)


def test_one_class_against_the_rest():
    X, y = load_iris(return_X_y=True)
    names = np.array(["x", "y", "z"])[y]
    fitted = GaussianNB().fit(X[::2, :2], names[::2])
    proba = fitted.predict_proba(X[1::2, :2])
    truth = names[1::2]
    for given, more in (
        (proba, {}),
        (proba[:, 1], {}),
        (fitted, {"X": X[1::2, :2]}),
    ):
        report = intervals_at_thresholds(truth, given, [0.3, 0.5], pos_label="y", **more)
        assert report.counts.pos_label == "y"
        for threshold in (0.3, 0.5):
            expected = confusion_matrix(truth == "y", proba[:, 1] >= threshold)
            np.testing.assert_array_equal(report.operating_point(threshold).counts, expected)
    with pytest.raises(ValueError, match="a threshold is about one class, and there are 3"):
        intervals_at_thresholds(truth, proba)
    with pytest.raises(ValueError, match="one score per row: name the class"):
        intervals_at_thresholds(truth, proba[:, 0])
    with pytest.raises(ValueError, match=r"3 classes .*: name the one that is meant"):
        intervals_at_thresholds(truth, fitted, X=X[1::2, :2])


def test_best_threshold(global_random_seed):
    y, score = sample(global_random_seed)
    names = ["f1", "fpr", "mcc"]
    report = intervals_at_thresholds(y, score, metrics=names, random_state=0)
    for name in names:
        values = np.array([SCORERS[name](y, score >= t) for t in report.thresholds])
        best = report.best(name)
        place = np.flatnonzero(report.thresholds == best)[0]
        goal = values.min() if name == "fpr" else values.max()
        assert values[place] == pytest.approx(goal)
    assert report.best() == report.best("f1")
    with pytest.raises(ValueError, match="metric must be one of"):
        report.best("recall")
    undefined = intervals_at_thresholds(y, score, [99.0], metrics="precision")
    with pytest.raises(ValueError, match="'precision' is undefined at all"):
        undefined.best()
    above = intervals_at_thresholds(y, score, [0.5, 99.0], metrics="precision")
    assert above.best() == 0.5  # where it is undefined it is not best
    rate = intervals_at_thresholds(y, score, [0.5], metrics="predicted_positive_rate")
    with pytest.raises(ValueError, match="has no direction"):
        rate.best()


def test_metrics_of_all_kinds():
    y, score = sample(0)
    one = intervals_at_thresholds(y, score, [0.5], metrics=get_metric("f1"))
    assert list(one.metrics) == ["f1"]

    def lift(m):
        return m[..., 1, 1] / m.sum(axis=(-1, -2))

    for given in (lift, [lift]):
        mine = intervals_at_thresholds(y, score, [0.5], metrics=given, random_state=0)
        assert list(mine.metrics) == ["lift"]
        assert mine.values["lift"][0] == pytest.approx(np.mean((score >= 0.5) & (y == 1)))


# --------------------------------------------------------------------------------------------------
# Classifiers


def predicted(classifier, X, y):
    return confusion_matrix(y, classifier.predict(X), labels=classifier.classes_)


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("names", [(0, 1), ("no", "yes"), (-1, 1)], ids=str)
def test_classifiers_are_judged_at_their_own_threshold(estimator, names, data):
    X, y, X_test, y_test = data
    y, y_test = np.array(names)[y], np.array(names)[y_test]
    probabilities = hasattr(estimator, "predict_proba")
    fixed = 0.3 if probabilities else -0.2
    scoring = make_scorer(f1_score, pos_label=names[1])
    candidates = [
        (estimator, 0.5 if probabilities else 0.0),
        (FixedThresholdClassifier(estimator), 0.5 if probabilities else 0.0),
        (FixedThresholdClassifier(estimator, threshold=fixed), fixed),
        (TunedThresholdClassifierCV(estimator, scoring=scoring, cv=2, thresholds=20), None),
    ]
    for classifier, threshold in candidates:
        classifier = classifier.fit(X, y)
        positive = names[1] if isinstance(names[1], str) else None
        report = intervals_at_thresholds(y_test, classifier, X=X_test, pos_label=positive)
        threshold = classifier.best_threshold_ if threshold is None else threshold
        assert report.operating_threshold == threshold
        expected = predicted(classifier, X_test, y_test)
        np.testing.assert_array_equal(report.operating_point().counts, expected)
        counts = ConfusionCounts(expected, labels=names, pos_label=names[1])
        np.testing.assert_allclose(
            report.posterior("f1").interval(), counts.posterior("f1").interval()
        )
        assert f"operating at {threshold:.4g}" in repr(report)


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("response", ["auto", "decision_function"])
def test_first_class_as_the_positive_one(estimator, response, data):
    X, y, X_test, y_test = data
    classifier = FixedThresholdClassifier(
        estimator, threshold=0.2, pos_label=0, response_method=response
    ).fit(X, y)
    report = intervals_at_thresholds(y_test, classifier, X=X_test)
    assert report.counts.pos_label == 0
    expected = predicted(classifier, X_test, y_test)
    np.testing.assert_array_equal(report.operating_point().counts, expected)
    plain = intervals_at_thresholds(y_test, estimator.fit(X, y), X=X_test, pos_label=0)
    np.testing.assert_array_equal(
        plain.operating_point().counts, predicted(estimator, X_test, y_test)
    )


def test_response_method(data):
    X, y, X_test, y_test = data
    classifier = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.5, response_method="decision_function"
    ).fit(X, y)
    report = intervals_at_thresholds(y_test, classifier, [-1, 0], X=X_test)
    np.testing.assert_array_equal(report.thresholds, [-1, 0, 0.5])
    for threshold in report.thresholds:
        expected = confusion_matrix(y_test, classifier.decision_function(X_test) >= threshold)
        np.testing.assert_array_equal(report.operating_point(threshold).counts, expected)


def test_given_operating_threshold_wins(data):
    X, y, X_test, y_test = data
    fitted = GaussianNB().fit(X, y)
    report = intervals_at_thresholds(y_test, fitted, 3, X=X_test, operating_threshold=0.25)
    assert report.operating_threshold == 0.25
    assert 0.25 in report.thresholds
    expected = confusion_matrix(y_test, fitted.predict_proba(X_test)[:, 1] >= 0.25)
    np.testing.assert_array_equal(report.operating_point().counts, expected)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}).fit(X, y)
    found = intervals_at_thresholds(y_test, search, X=X_test).operating_point().counts
    np.testing.assert_array_equal(found, predicted(search, X_test, y_test))


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
def test_cross_validator(refit, estimator, data):
    X, y, _, _ = data
    folds = StratifiedKFold(5)
    bcv = BayesianCrossValidator(estimator, cv=folds, keep_predictions=True, refit=refit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bcv.fit(X, y)
    way = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    score = cross_val_predict(estimator, X, y, cv=folds, method=way)
    score = score if score.ndim == 1 else score[:, 1]
    report = intervals_at_thresholds(y, bcv, [0.1, 0.4])
    for threshold in (0.1, 0.4):
        expected = confusion_matrix(y, score >= threshold)
        np.testing.assert_array_equal(report.operating_point(threshold).counts, expected)
    assert report.operating_threshold is None
    assert "several models of a cross-validation" in report.warnings[0]
    assert "several models" in " ".join(str(report.report()).split())
    with pytest.raises(ValueError, match="there is no operating threshold"):
        report.operating_point()
    if refit:
        with pytest.raises(ValueError, match="a cross-validator has its scores already"):
            intervals_at_thresholds(y, bcv, X=X)


def test_folds_of_a_cross_validator_weigh_their_rows(data):
    X, y, _, _ = data
    folds = StratifiedKFold(5)
    bcv = BayesianCrossValidator(GaussianNB(), cv=folds, keep_predictions=True, refit=False)
    bcv.fit(X, y)
    report = intervals_at_thresholds(y, bcv, [0.3, 0.5], metrics=["recall", "f1", "mcc"])
    score = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")[:, 1]
    for k, threshold in enumerate((0.3, 0.5)):
        matrices = [
            confusion_matrix(y[test], score[test] >= threshold) for _, test in folds.split(X, y)
        ]
        for name in ("recall", "f1", "mcc"):
            expected = fold_posterior(matrices, name, random_state=report.seed)
            assert report.omega[name][k] == pytest.approx(expected.diagnostics.omega, rel=1e-12)
            ends = report.low[name][k], report.high[name][k]
            assert ends == pytest.approx(expected.interval(), abs=5e-3 if name == "mcc" else 1e-12)
            found = report.posterior(name, threshold)
            assert found.interval() == pytest.approx(expected.interval(), abs=1e-12)
            assert (found.about.n_folds, found.about.estimand) == (5, "fitted")
    assert "5 folds" in repr(report)
    plain = json.loads(json.dumps(report.to_dict()))
    assert (plain["n_folds"], plain["estimand"]) == (5, "fitted")
    assert plain["omega"]["recall"] == report.omega["recall"].tolist()
    text = " ".join(str(report.report()).split())
    assert "estimated from the folds" in text
    assert "models of these folds, on average" in text
    again = pickle.loads(pickle.dumps(report))
    assert again.posterior("f1", 0.5).interval() == report.posterior("f1", 0.5).interval()
    # Another prior, and an omega that was given
    flat = intervals_at_thresholds(y, bcv, [0.5], metrics=["recall"], prior=3.0)
    expected = fold_posterior(matrices, "recall", prior=3.0).interval()
    assert (flat.low["recall"][0], flat.high["recall"][0]) == pytest.approx(expected, abs=1e-12)
    bcv.set_params(omega="wang_li").fit(X, y)
    published = intervals_at_thresholds(y, bcv, [0.5], metrics=["recall"])
    assert published.omega["recall"] == pytest.approx([0.6])
    assert "0.60, by Wang and Li" in str(published.report())
    # Thresholds pool the folds, whatever the intervals of the cross-validator do.
    bcv.set_params(omega="auto", method="nadeau_bengio").fit(X, y)
    other = intervals_at_thresholds(y, bcv, [0.5], metrics=["recall"])
    assert other.posterior("recall", 0.5).about.estimand == other.to_dict()["estimand"] == "fitted"
    assert (other.low["recall"][0], other.high["recall"][0]) == pytest.approx(
        (report.low["recall"][1], report.high["recall"][1]), abs=1e-12
    )


# --------------------------------------------------------------------------------------------------
# Tables and reports


def test_tables():
    pd = pytest.importorskip("pandas")
    y, score = sample(0)
    report = intervals_at_thresholds(
        y, score, [0.2, 0.6], metrics=["precision", "mcc"], operating_threshold=0.4, random_state=7
    )
    frame = report.to_frame()
    assert frame.index.name == "threshold"
    assert frame.index.tolist() == [0.2, 0.4, 0.6]
    names = ["precision", "mcc"]
    assert frame.columns.tolist() == [n + end for n in names for end in ("", "_low", "_high")]
    for name in names:
        np.testing.assert_array_equal(frame[f"{name}_low"], report.low[name])
        assert (frame[f"{name}_low"] <= frame[name]).all()
        assert (frame[name] <= frame[f"{name}_high"]).all()
    assert isinstance(frame, pd.DataFrame)
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["threshold"] == [0.2, 0.4, 0.6]
    assert plain["mcc_high"] == report.high["mcc"].tolist()
    assert (plain["operating_threshold"], plain["seed"]) == (0.4, 7)
    assert (plain["level"], plain["kind"], plain["prior"]) == (0.95, "eti", "auto")
    assert plain["warnings"] == []
    matrix = intervals_at_thresholds(y, score, [0.2], prior=[[1, 2], [3, 4]]).to_dict()["prior"]
    assert matrix == [[1, 2], [3, 4]]
    assert repr(report) == (
        "ThresholdIntervals(3 thresholds, n=70, pos_label=1, metrics=['precision', 'mcc'], "
        "operating at 0.4)"
    )


def test_report_says_what_was_asked():
    y, score = sample(0)
    found = intervals_at_thresholds(
        np.array(["bad", "good"])[y],
        score,
        [0.2, 99.0],
        pos_label="good",
        metrics=["precision", "recall"],
        operating_threshold=0.4,
        level=0.9,
        kind="hdi",
        prior="laplace",
    )
    report = found.report(digits=3)
    text = str(report)
    one_line = " ".join(text.split())
    for words in (
        *("Threshold report", "90 %", "hdi", "laplace", "70 rows", "positive class good"),
        "Question: What are the metrics of this one model on rows like these 70",
        "called positive from that threshold on?",
        "* 0.4",
        "*: the threshold in use",
        "precision is 0/0 in the data",
    ):
        assert words in one_line
    cell = f"{found.values['recall'][0]:.3f} [{found.low['recall'][0]:.3f}, "
    cell += f"{found.high['recall'][0]:.3f}]"
    assert cell in one_line
    assert "undefined" in one_line
    assert any("0/0" in words for words in found.warnings)
    assert "threshold" in report.to_html()
    assert "<table" in found._repr_html_()
    assert "at least the threshold" in " ".join(report.to_html().split())


def test_reports_of_all_sizes():
    pytest.importorskip("pandas")
    y, score = sample(0, 100, 100, digits=9)
    for number in (1, 50, 150):
        found = intervals_at_thresholds(y, score, number).report()
        assert str(found).count("\n") > number
        assert len(found.to_frame()) >= number


# --------------------------------------------------------------------------------------------------
# Wrong input


@pytest.mark.parametrize(
    ("thresholds", "error", "message"),
    [
        ([[0.1, 0.2]], ValueError, "thresholds must be a list of numbers"),
        ([0.1, np.nan], ValueError, "thresholds must be a list of numbers"),
        ([], ValueError, "thresholds must be a list of numbers"),
        (0.5, ValueError, r"thresholds must be a list of numbers, got 0\.5"),
        (0, ValueError, "thresholds must be an integer >= 1"),
        (True, TypeError, "thresholds must be an integer >= 1"),
    ],
)
def test_wrong_thresholds(thresholds, error, message):
    with pytest.raises(error, match=message):
        intervals_at_thresholds(*sample(0), thresholds)


def test_errors(data, monkeypatch):
    X, y, X_test, y_test = data
    scores = sample(0)
    fitted = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="X is for a classifier; scores need no rows"):
        intervals_at_thresholds(*scores, X=X)
    with pytest.raises(ValueError, match="X is missing: a classifier needs rows to score"):
        intervals_at_thresholds(y, fitted)
    with pytest.raises(ValueError, match="a fitted classifier with classes_ is needed"):
        intervals_at_thresholds(y_test, GaussianNB(), X=X_test)
    with pytest.raises(ValueError, match=r"metric 'f3x' is not known"):
        intervals_at_thresholds(*scores, metrics="f3x")
    with pytest.raises(ValueError, match="metrics must name at least one metric"):
        intervals_at_thresholds(*scores, metrics=[])
    with pytest.raises(ValueError, match="operating_threshold must be a number, got nan"):
        intervals_at_thresholds(*scores, operating_threshold=np.nan)
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\)"):
        intervals_at_thresholds(*scores, level=95)
    with pytest.raises(ValueError, match="kind must be one of"):
        intervals_at_thresholds(*scores, kind="central")
    with pytest.raises(ValueError, match="same length, got 150 and 70"):
        intervals_at_thresholds(y, scores[1])
    with pytest.raises(ValueError, match="finite numbers"):
        intervals_at_thresholds([0, 1, 1], [0.1, np.nan, 1])
    report = intervals_at_thresholds(*scores, [0.2, 0.4])
    with pytest.raises(ValueError, match=r"one of the reported ones, got 0.3.*thresholds=\[...\]"):
        report.operating_point(0.3)
    with pytest.raises(ValueError, match=r"the nearest is 0\.4"):
        report.posterior("f1", 0.45)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"ThresholdIntervals.to_frame needs pandas"):
        report.to_frame()


# --------------------------------------------------------------------------------------------------
# Found by looking for trouble


@pytest.mark.parametrize(
    ("estimator", "response"),
    [(LogisticRegression(), "auto"), (LogisticRegression(), "decision_function")],
)
def test_tuned_for_the_first_class(estimator, response, data):
    X, y, X_test, y_test = data
    tuned = TunedThresholdClassifierCV(
        estimator, scoring=make_scorer(f1_score, pos_label=0), response_method=response, cv=2
    ).fit(X, y)
    report = intervals_at_thresholds(y_test, tuned, X=X_test)
    expected = predicted(tuned, X_test, y_test)
    np.testing.assert_array_equal(report.operating_point().counts, expected)


@pytest.mark.parametrize("names", [(0, 1), ("no", "yes")], ids=str)
@pytest.mark.parametrize("estimator", [LogisticRegression(), KNeighborsClassifier(4), LinearSVC()])
def test_threshold_for_the_other_class(estimator, names, data):
    X, y, X_test, y_test = data
    y, y_test = np.array(names)[y], np.array(names)[y_test]
    first = make_scorer(f1_score, pos_label=names[0])
    candidates = [
        TunedThresholdClassifierCV(estimator, scoring="balanced_accuracy", cv=2, thresholds=20),
        TunedThresholdClassifierCV(estimator, scoring=first, cv=2, thresholds=20),
        FixedThresholdClassifier(estimator),
        FixedThresholdClassifier(estimator, pos_label=names[0]),
        FixedThresholdClassifier(estimator, threshold=0.25),
        FixedThresholdClassifier(estimator, threshold=0.25, pos_label=names[0]),
    ]
    for classifier in candidates:
        expected = predicted(classifier.fit(X, y), X_test, y_test)
        for label in names:
            report = intervals_at_thresholds(y_test, classifier, [0.9], X=X_test, pos_label=label)
            assert report.counts.pos_label == label
            np.testing.assert_array_equal(report.operating_point().counts, expected)
    with pytest.raises(ValueError, match="pos_label 'other' is not one of the labels"):
        intervals_at_thresholds(y_test, classifier, X=X_test, pos_label="other")


@pytest.mark.parametrize("outer", ["pipeline", "search"])
def test_thresholds_inside_other_estimators(outer, data):
    X, y, X_test, y_test = data
    inner = FixedThresholdClassifier(GaussianNB(), threshold=0.1)
    if outer == "pipeline":
        classifier = make_pipeline(StandardScaler(), inner)
    else:
        classifier = GridSearchCV(inner, {"threshold": [0.1]}, cv=2)
    classifier.fit(X, y)
    report = intervals_at_thresholds(y_test, classifier, X=X_test)
    expected = predicted(classifier, X_test, y_test)
    np.testing.assert_array_equal(report.operating_point().counts, expected)


def test_plain_classifiers_with_ties_at_one_half(data):
    X, y, X_test, y_test = data
    classifier = KNeighborsClassifier(4).fit(X, y)
    report = intervals_at_thresholds(y_test, classifier, X=X_test)
    expected = predicted(classifier, X_test, y_test)
    np.testing.assert_array_equal(report.operating_point().counts, expected)


def test_a_class_with_the_name_of_the_rest():
    y = np.array(["rest", "a", "b"])[np.arange(30) % 3]
    assert intervals_at_thresholds(y, np.arange(30), pos_label="rest").counts.pos_label == "rest"


def test_cross_validator_without_scores(data):
    X, y, _, _ = data
    bcv = BayesianCrossValidator(GaussianNB(), cv=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="keep_predictions=True"):
        intervals_at_thresholds(y, bcv)


@pytest.mark.parametrize(
    "options", [{"thresholds": "many"}, {"operating_threshold": "low"}], ids=str
)
def test_texts_as_thresholds(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        intervals_at_thresholds(*sample(0), **options)
