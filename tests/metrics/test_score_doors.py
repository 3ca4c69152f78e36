"""Every door of one test set knows the metrics of scores and probabilities."""

import re

import numpy as np
import pytest
import sklearn.metrics as sk
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from report_cases import quiet
from skuncertain import (
    ConfusionCounts,
    compare,
    confidence_interval,
    coverage,
    credible_interval,
    display,
    interval_report,
    leaderboard,
    metrics,
    monitoring,
    planning,
)
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    InvalidParameterError,
    SmallSampleWarning,
)
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    bootstrap_distribution,
    get_metric,
    make_bound_scorer,
    metric_posterior,
)

NAMES = {2: ("no", "yes"), 3: ("a", "b", "c")}


def rows_of(seed, n=120, n_classes=2):
    """Labels, features and a fitted model that knows something about them."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, 3)) + np.eye(3)[y]
    return X, y


def coded(y, codes):
    """The same labels as names."""
    return np.array(codes)[y]


def response(model, X, metric):
    """What the metric needs."""
    methods = getattr(metric, "responses", ()) or ("predict",)
    return getattr(model, next(one for one in methods if hasattr(model, one)))(X)


# --------------------------------------------------------------------------------------------------
# All scorers of scikit-learn

OTHERS = {  # which are no scores of rows with one label each
    name
    for name in sk.get_scorer_names()
    if name.endswith("_samples")
    or re.search("error|deviance|r2|variance|mutual_info|rand_|mallows", name)
    or name in ("completeness_score", "homogeneity_score", "v_measure_score")
}
SCORERS = sorted(set(sk.get_scorer_names()) - OTHERS)


class Known(ClassifierMixin, BaseEstimator):
    """A classifier whose answers are known."""

    def __init__(self, labels, probability):
        self.labels, self.probability = labels, probability
        self.classes_ = np.array([False, True])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.labels

    def predict_proba(self, X):
        return np.column_stack([1 - self.probability, self.probability])


def test_the_walk_is_not_empty():
    assert {"f1", "roc_auc", "neg_log_loss", "average_precision", "accuracy"} <= set(SCORERS)
    assert len(SCORERS) >= 28


@quiet
@pytest.mark.parametrize("codes", [(0, 1), (-1, 1), ("no", "yes")], ids=str)
@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_of_two_classes(name, codes, global_random_seed):
    X, y = rows_of(global_random_seed)
    plain = LogisticRegression().fit(X, y)
    labels = coded(y, codes)
    model = LogisticRegression().fit(X, labels)
    # The names are in the same order, so the numbers are those of 0 and 1.
    expected = sk.get_scorer(name)(plain, X, y)
    if not isinstance(codes[0], str):
        assert_allclose(sk.get_scorer(name)(model, X, labels), expected, rtol=1e-12)
    options = {"pos_label": "yes"} if isinstance(codes[0], str) else {}
    given = response(model, X, get_metric(name))
    found = metric_posterior(labels, given, metric=name, random_state=0, **options)
    assert_allclose(found.observed, expected, rtol=1e-12)
    low, high = credible_interval(labels, given, metric=name, random_state=0, **options)
    assert low <= expected <= high


@quiet
@pytest.mark.parametrize("codes", [(0, 1, 2), ("a", "b", "c")], ids=str)
@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_of_three_classes(name, codes, global_random_seed):
    X, y = rows_of(global_random_seed, n_classes=3)
    labels = coded(y, codes)
    model = LogisticRegression().fit(X, labels)
    metric, options = get_metric(name), {}
    try:
        expected = sk.get_scorer(name)(model, X, labels)
    except ValueError:  # scikit-learn knows it of two classes only: one class against the rest
        options = {"pos_label": codes[1]}
        one = Known(model.predict(X) == codes[1], model.predict_proba(X)[:, 1])
        expected = sk.get_scorer(name)(one, X, labels == codes[1])
    given = response(model, X, metric)
    if options and metric.needs == "scores":
        given = model.predict_proba(X)
    if name in ("neg_brier_score", "d2_brier_score") and options:  # of all classes here
        share = np.eye(3)[y] if name == "neg_brier_score" else None
        pytest.skip("scikit-learn before 1.7 knows it of two classes only") if share is None else 0
        expected, options = -np.square(given - share).sum(axis=1).mean(), {}
    found = metric_posterior(labels, given, metric=name, random_state=0, **options)
    assert_allclose(found.observed, expected, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(OTHERS - {"fowlkes_mallows_score"}))
def test_other_scorers_are_refused_with_the_reason(name):
    reason = "multilabel|regression|clusterings"
    with pytest.raises(InvalidParameterError, match=reason) as caught:
        credible_interval([0, 1, 0, 1], [0, 1, 1, 1], metric=name)
    assert caught.value.parameter == "metric"


# --------------------------------------------------------------------------------------------------
# The detailed functions


def same_posterior(one, other):
    q = [0.001, 0.025, 0.3, 0.5, 0.8, 0.975]
    assert_allclose(one.quantile(q), other.quantile(q), rtol=1e-12)
    assert one.observed == other.observed


def test_posteriors_of_rankings_are_the_detailed_ones(global_random_seed):
    X, y = rows_of(global_random_seed)
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    same_posterior(metric_posterior(y, p, metric="roc_auc"), auc_posterior(y, p))
    same_posterior(
        metric_posterior(y, p, metric="average_precision"), average_precision_posterior(y, p)
    )
    perfect = np.where(y == 1, 2.0, 1.0) + np.arange(y.size) / 1000
    same_posterior(metric_posterior(y, perfect, metric="roc_auc"), auc_posterior(y, perfect))
    X, y = rows_of(global_random_seed, n_classes=3)
    p = LogisticRegression().fit(X, y).predict_proba(X)
    for name, average in (("roc_auc_ovr", "macro"), ("roc_auc_ovr_weighted", "weighted")):
        same_posterior(metric_posterior(y, p, metric=name), auc_posterior(y, p, average=average))
    same_posterior(metric_posterior(y, p, metric="roc_auc"), auc_posterior(y, p))
    same_posterior(
        metric_posterior(y, p, metric="average_precision"), average_precision_posterior(y, p)
    )
    for name, detailed in (
        ("roc_auc", auc_posterior),
        ("average_precision", average_precision_posterior),
    ):
        same_posterior(
            metric_posterior(y, p, metric=name, pos_label=1), detailed(y, p, pos_label=1)
        )


def test_few_rows_of_a_ranking_are_told_as_there():
    y, score = [0] * 20 + [1] * 6, np.arange(26) % 11
    with pytest.warns(SmallSampleWarning, match="average precision of 6"):
        credible_interval(y, score, metric="average_precision")


# --------------------------------------------------------------------------------------------------
# Reports


def probabilities(report):
    return {
        row["metric"]: row["score"] for row in report.to_dict()["sections"]["probabilities"]["rows"]
    }


def test_the_report_has_the_intervals(global_random_seed):
    X, y = rows_of(global_random_seed)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    report = interval_report(y, model.predict(X), y_proba=p[:, 1], level=0.9, kind="hdi")
    found = probabilities(report)
    assert list(found) == ["roc_auc", "average_precision", "log_loss", "brier_score"]
    for name, cell in found.items():
        posterior = metric_posterior(y, p, metric=name)
        assert cell["value"] == pytest.approx(posterior.observed, rel=1e-12)
        assert_allclose((cell["low"], cell["high"]), posterior.interval(0.9, "hdi"), rtol=1e-12)
    whole = interval_report(y, model.predict(X), y_proba=p, level=0.9, kind="hdi")
    assert_allclose(
        [cell["low"] for cell in probabilities(whole).values()],
        [cell["low"] for cell in found.values()],
        rtol=1e-12,
    )
    plain = interval_report(y, model.predict(X), level=0.9, kind="hdi", random_state=0)
    assert "probabilities" not in plain.to_dict()["sections"]
    assert "less is better" in str(report)
    assert "log_loss" in report.to_html()


def test_notes_are_paragraphs_of_their_own_in_markdown(global_random_seed):
    _, y = rows_of(global_random_seed)
    text = interval_report(y, y_proba=np.where(y == 1, 0.7, 0.2)).to_markdown()
    assert "\n\npositive class 1\n\nof log\\_loss and brier\\_score less is better\n\n" in text


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predicted_labels_may_be_left_out(n_classes, global_random_seed):
    X, y = rows_of(global_random_seed, n_classes=n_classes)
    labels = coded(y, NAMES[n_classes])
    model = LogisticRegression().fit(X, labels)
    p = model.predict_proba(X)
    given = p[:, 1] if n_classes == 2 else p
    found = interval_report(labels, y_proba=given, random_state=0).to_dict()
    expected = interval_report(labels, model.predict(X), y_proba=p, random_state=0).to_dict()
    assert found["sections"]["scores"] == expected["sections"]["scores"]
    names = [row["metric"] for row in found["sections"]["probabilities"]["rows"]]
    if n_classes == 2:  # nothing says which one is positive
        assert names == ["roc_auc", "log_loss", "brier_score"]
    else:
        assert names == ["roc_auc_ovr", "average_precision", "log_loss", "brier_score"]


def test_one_column_is_that_of_the_positive_class(global_random_seed):
    X, y = rows_of(global_random_seed)
    labels = coded(y, NAMES[2])
    p = LogisticRegression().fit(X, labels).predict_proba(X)
    by_name = interval_report(labels, y_proba=p[:, 0], pos_label="no", random_state=0)
    both = interval_report(labels, y_proba=p, pos_label="no", random_state=0)
    assert list(probabilities(by_name)) == list(probabilities(both))
    for name, cell in probabilities(both).items():
        assert_allclose(probabilities(by_name)[name]["low"], cell["low"], rtol=1e-9)
    assert probabilities(both)["average_precision"]["value"] == pytest.approx(
        sk.average_precision_score(labels == "no", p[:, 0]), rel=1e-12
    )


def test_a_tie_is_predicted_as_scikit_learn_does():
    report = interval_report([0, 1] * 20, y_proba=[0.5] * 40)
    rows = {row["name"]: row for row in report.to_dict()["sections"]["scores"]["rows"]}
    assert rows["0"]["recall"]["value"] == 1
    assert rows["1"]["recall"]["value"] == 0


def test_scores_in_a_report_are_ranked_only(global_random_seed):
    X, y = rows_of(global_random_seed)
    model = LinearSVC().fit(X, y)
    score = model.decision_function(X)
    report = interval_report(y, model.predict(X), y_proba=score)
    assert list(probabilities(report)) == ["roc_auc", "average_precision"]
    assert "scores and no probabilities" in str(report)
    with pytest.raises(InvalidParameterError, match="y_pred is missing") as caught:
        interval_report(y, y_proba=score)
    assert caught.value.parameter == "y_pred"


BAD = [
    ([[0.3, 0.6]] * 4, "sum to 1"),
    ([0.2, np.nan, 0.1, 0.3], "finite"),
    (["a", "b", "a", "b"], "labels"),
    ([[0.2, 0.3, 0.5]] * 4, "one column per class, 2, got 3"),
    ([0.2, 0.8], "same length"),
    ([[[0.2]]] * 4, "dimensions"),
]


@pytest.mark.parametrize(("given", "told"), BAD)
def test_bad_probabilities_of_a_report(given, told):
    with pytest.raises(InvalidParameterError, match=told) as caught:
        interval_report([0, 1, 1, 0], [0, 1, 0, 0], y_proba=given)
    assert caught.value.parameter in ("y_proba", "y_true")
    assert "y_score" not in str(caught.value)


def test_what_a_report_with_probabilities_refuses():
    with pytest.raises(InvalidParameterError, match=r"at least two classes for y_proba, got \[0\]"):
        interval_report([0, 0], y_proba=[0.2, 0.3])
    y, p = [0, 1] * 5, [0.2, 0.8] * 5
    for name, value in {"sample_weight": [1.0, 2.0] * 5, "groups": [1, 1, 2, 2, 3] * 2}.items():
        with pytest.raises(InvalidParameterError, match="y_proba cannot be combined"):
            interval_report(y, y, y_proba=p, **{name: value})
    for given in (
        ConfusionCounts([[5, 1], [2, 6]]),
        ConfusionCounts([[5, 1], [2, 6]]).posterior("f1"),
    ):
        with pytest.raises(InvalidParameterError):
            interval_report(given, y_proba=p)
    with pytest.raises(InvalidParameterError, match="two classes"):
        interval_report([1, 1, 1], y_proba=[0.2, 0.3, 0.4])


# --------------------------------------------------------------------------------------------------
# Scorers

POINTS = {
    "log_loss": "neg_log_loss",
    "neg_log_loss": "neg_log_loss",
    "brier_score": "neg_brier_score",
}


@quiet
@pytest.mark.parametrize(
    "name",
    [
        "roc_auc",
        "log_loss",
        "neg_log_loss",
        "average_precision",
        "brier_score",
        "d2_log_loss_score",
    ],
)
@pytest.mark.parametrize("classifier", [LogisticRegression, LinearSVC])
def test_bound_scorers(name, classifier, global_random_seed):
    X, y = rows_of(global_random_seed)
    model, metric = classifier().fit(X, y), get_metric(name)
    if metric.needs == "probabilities" and classifier is LinearSVC:
        with pytest.raises(AttributeError):  # as scikit-learn says it
            make_bound_scorer(name)(model, X, y)
        return
    low, high = credible_interval(y, response(model, X, metric), metric=name, level=0.9)
    if metric.greater_is_better is False:
        low, high = -high, -low
    scorers = [make_bound_scorer(name, bound=bound, level=0.9) for bound in ("lower", "upper")]
    assert_allclose([scorer(model, X, y) for scorer in scorers], (low, high), rtol=1e-12)
    known = {"log_loss": "neg_log_loss", "brier_score": "neg_brier_score"}.get(name, name)
    if known in sk.get_scorer_names():  # not all of them before 1.8
        assert low < sk.get_scorer(known)(model, X, y) < high


@quiet
@pytest.mark.parametrize("classifier", [LogisticRegression, LinearSVC])
def test_a_bound_scorer_knows_its_class(classifier, global_random_seed):
    X, y = rows_of(global_random_seed)
    labels = coded(y, NAMES[2])
    model, plain = classifier().fit(X, labels), classifier().fit(X, 1 - y)
    found = make_bound_scorer("average_precision", pos_label="no")(model, X, labels)
    # Scores of the other class are negated, so that rounding may move a tie.
    assert_allclose(found, make_bound_scorer("average_precision")(plain, X, 1 - y), rtol=1e-6)
    with pytest.raises(InvalidParameterError, match="pos_label"):
        make_bound_scorer("average_precision")(model, X, labels)
    one = make_bound_scorer("roc_auc")(model, X, labels)
    assert_allclose(make_bound_scorer("roc_auc", pos_label="no")(model, X, labels), one, rtol=1e-9)


@quiet
def test_bound_scorers_in_a_search_and_of_three_classes(global_random_seed):
    X, y = rows_of(global_random_seed, n_classes=3)
    labels = coded(y, NAMES[3])
    scorer = make_bound_scorer("log_loss", labels=["a", "b", "c"])
    cv, model = StratifiedKFold(3), LogisticRegression()
    search = GridSearchCV(model, {"C": [1e-3, 1.0]}, scoring=scorer, cv=cv).fit(X, labels)
    highs = []
    for train, test in cv.split(X, labels):
        p = model.fit(X[train], labels[train]).predict_proba(X[test])
        highs.append(credible_interval(labels[test], p, metric="log_loss").high)
    assert_allclose(search.cv_results_["mean_test_score"][1], -np.mean(highs), rtol=1e-12)
    values = cross_val_score(
        LogisticRegression(), X, labels, scoring=make_bound_scorer("roc_auc_ovo")
    )
    assert np.isfinite(values).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["roc_auc_ovr", "log_loss"])
def test_labels_of_a_bound_scorer_may_be_in_any_order(name, n_classes, global_random_seed):
    X, y = rows_of(global_random_seed, n_classes=n_classes)
    model = LogisticRegression().fit(X, y)
    expected = make_bound_scorer(name)(model, X, y)
    backwards = list(range(n_classes))[::-1]
    assert make_bound_scorer(name, labels=backwards)(model, X, y) == pytest.approx(expected)


def test_what_a_bound_scorer_of_scores_refuses():
    with pytest.raises(InvalidParameterError, match="prior is for counts"):
        make_bound_scorer("roc_auc", prior="jeffreys")
    with pytest.raises(InvalidParameterError, match="pos_label"):
        make_bound_scorer("average_precision", labels=["a", "b"])


# --------------------------------------------------------------------------------------------------
# Confidence intervals


def test_wald_is_the_normal_interval_of_a_mean(global_random_seed):
    X, y = rows_of(global_random_seed)
    p = LogisticRegression().fit(X, y).predict_proba(X)
    losses = -np.log(p[np.arange(y.size), y])
    half = 1.959963984540054 * losses.std(ddof=1) / np.sqrt(y.size)
    found = confidence_interval(y, p, metric="log_loss", method="wald")
    assert_allclose(found, (losses.mean() - half, losses.mean() + half), rtol=1e-10)
    area = auc_posterior(y, p[:, 1], method="delong")
    assert_allclose(
        confidence_interval(y, p, metric="roc_auc", method="wald"), area.interval(), rtol=1e-10
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log_loss", "roc_auc", "d2_brier_score"])
def test_the_bootstrap_of_rows(name, global_random_seed):
    """Against a loop over scikit-learn's scores of resampled rows, with its Monte Carlo error."""
    X, y = rows_of(global_random_seed, n=80)
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]

    def value(rows):
        if name == "roc_auc":
            return sk.roc_auc_score(y[rows], p[rows])
        if name == "log_loss":
            return sk.log_loss(y[rows], p[rows])
        share = y[rows].mean()
        return 1 - np.mean((y[rows] - p[rows]) ** 2) / (share * (1 - share))

    rng = np.random.default_rng(global_random_seed + 1)
    replicates = np.array([value(rng.integers(80, size=80)) for _ in range(2000)])
    found = bootstrap_distribution(y, p, metric=name, n_resamples=2000, random_state=0)
    assert_allclose(found.observed, value(np.arange(80)), rtol=1e-12)
    noise = replicates.std() * np.sqrt(2 / 2000)
    assert abs(found.draws.mean() - replicates.mean()) < 5 * noise
    assert found.draws.std() == pytest.approx(replicates.std(), rel=0.12)
    same = confidence_interval(
        y, p, metric=name, method="bootstrap", n_resamples=2000, random_state=0
    )
    assert same == tuple(
        np.quantile(found.draws, [(1 - 0.95) / 2, (1 + 0.95) / 2], method="inverted_cdf")
    )


def test_other_bootstraps(global_random_seed):
    X, y = rows_of(global_random_seed)
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    options = {"metric": "roc_auc", "n_resamples": 500, "random_state": 0}
    low, high = confidence_interval(y, p, method="bca", **options)
    assert low < sk.roc_auc_score(y, p) < high
    alone = confidence_interval(y, p, method="bootstrap", groups=np.arange(120), **options)
    plain = confidence_interval(y, p, method="bootstrap", **options)
    assert_allclose(alone, plain, atol=0.03)
    twice = confidence_interval(
        np.tile(y, 4), np.tile(p, 4), method="bca", groups=np.tile(np.arange(120), 4), **options
    )
    assert_allclose(twice, (low, high), atol=0.03)  # four copies of a row are one row
    stratified = bootstrap_distribution(y, p, stratified=True, **options)
    assert np.isfinite(stratified.draws).all()
    losses = confidence_interval(
        y, p, method="bca", metric="log_loss", n_resamples=500, random_state=0, stratified=True
    )
    assert losses.low < sk.log_loss(y, p) < losses.high


def test_binomial_intervals_of_a_share(global_random_seed):
    X, y = rows_of(global_random_seed, n_classes=3)
    model = LogisticRegression().fit(X, y)
    for method in ("wilson", "clopper_pearson", "agresti_coull", "jeffreys"):
        expected = confidence_interval(y, model.predict(X), method=method)
        found = confidence_interval(
            y, model.predict_proba(X), metric="top_1_accuracy", method=method
        )
        assert_allclose(found, expected, rtol=1e-12)


def test_what_confidence_intervals_of_scores_refuse():
    y, p = [0, 1] * 20, [0.2, 0.8] * 20
    for options, told in (
        ({"metric": "roc_auc"}, "Use method='wald'"),
        ({"metric": "recall", "method": "wald"}, "method='wald' is for metrics of scores"),
        ({"metric": "log_loss", "method": "wald", "groups": y}, "neither groups nor strata"),
        ({"metric": "log_loss", "method": "wald", "random_state": 0}, "belongs to the bootstrap"),
        ({"metric": "log_loss", "method": "bootstrap", "groups": [1]}, "one entry per row"),
    ):
        with pytest.raises(InvalidParameterError, match=told):
            confidence_interval(y, p if options["metric"] != "recall" else y, **options)
    with pytest.raises(InvalidParameterError, match="needs scores: no confusion matrix"):
        confidence_interval(ConfusionCounts([[5, 1], [2, 6]]), metric="roc_auc", method="wald")
    for method in ("wald", "bootstrap", "bca"):
        with pytest.warns(DegenerateIntervalWarning, match="no width"):
            confidence_interval(y, p, metric="log_loss", method=method)


# --------------------------------------------------------------------------------------------------
# Doors that have counts alone

COUNTS = ConfusionCounts([[40, 10], [12, 38]])
Y, P = [0, 1] * 20, [0, 1, 1, 1] * 10
DOORS = {
    "posterior": lambda m: COUNTS.posterior(m),
    "score": lambda m: COUNTS.score(m),
    "joint_posterior": lambda m: COUNTS.joint_posterior([m, "recall"]),
    "report": lambda m: COUNTS.report([m]),
    "credible_interval": lambda m: credible_interval(COUNTS, metric=m),
    "confidence_interval": lambda m: confidence_interval(COUNTS, metric=m),
    "bootstrap_distribution": lambda m: bootstrap_distribution(COUNTS, metric=m),
    "proportion_posterior": lambda m: metrics.proportion_posterior(5, 3, metric=m),
    "intervals_at_thresholds": lambda m: metrics.intervals_at_thresholds(Y, P, [0.5], metrics=[m]),
    "required_sample_size": lambda m: planning.required_sample_size(
        metric=m, expected=0.9, width=0.1
    ),
    "expected_width": lambda m: planning.expected_width(metric=m, expected=0.9, n=100),
    "SequentialPosterior": lambda m: monitoring.SequentialPosterior(metric=m).update(COUNTS),
    "coverage_study": lambda m: coverage.coverage_study(
        ["wilson"], coverage.MultinomialPopulation([[0.4, 0.1], [0.1, 0.4]]), metric=m, n=[20]
    ),
    "IntervalDisplay": lambda m: display.IntervalDisplay.from_counts(COUNTS, metrics=[m]),
    "PosteriorDisplay": lambda m: display.PosteriorDisplay.from_counts(COUNTS, metric=m),
    "JointDisplay": lambda m: display.JointDisplay.from_counts(COUNTS, metrics=[m, "recall"]),
    "JointDisplay, predictions": lambda m: display.JointDisplay.from_predictions(
        Y, P, metrics=[m, "recall"]
    ),
    "compare": lambda m: compare(COUNTS, COUNTS, metric=m),
    "leaderboard": lambda m: leaderboard({"a": COUNTS, "b": COUNTS}, metric=m),
}


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss", "top_k_accuracy"])
@pytest.mark.parametrize("door", DOORS)
def test_doors_of_counts_say_what_is_needed(door, metric):
    needs = get_metric(metric).needs
    with pytest.raises(InvalidParameterError, match=f"{metric!r}.* needs {needs}") as caught:
        DOORS[door](metric)
    assert caught.value.parameter in ("metric", "metrics")
    assert "y_score" in caught.value.remedy
