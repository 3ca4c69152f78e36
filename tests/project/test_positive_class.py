"""The positive class of two names is never guessed, whatever the door."""

import json
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, check_cv, cross_validate

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_paired,
    confidence_interval,
    credible_interval,
    cross_val_posterior,
    interval_report,
    leaderboard,
    search_posterior,
)
from skuncertain.comparison import compare_auc
from skuncertain.coverage import SubsamplePopulation, coverage_study
from skuncertain.display import (
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    PrecisionRecallBandDisplay,
    RocBandDisplay,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    bootstrap_distribution,
    intervals_at_thresholds,
    make_bound_scorer,
    metric_posterior,
    precision_recall_band,
    roc_band,
)
from skuncertain.model_selection import (
    CrossValPosterior,
    conservative_z_intervals,
    fold_posterior,
    most_probable_best,
    nested_cv_intervals,
    selection_corrected_score,
)
from skuncertain.monitoring import SequentialPosterior
from skuncertain.planning import expected_width, required_sample_size
from tests.support.estimator_cases import CountsFits

rng = np.random.default_rng(0)
CODES = rng.permutation(np.repeat([0, 1], [70, 30]))
X = CODES[:, None] + rng.normal(size=(100, 2))
PRED = np.where(rng.random(100) < 0.2, 1 - CODES, CODES)
PRED_B = np.where(rng.random(100) < 0.3, 1 - CODES, CODES)
SCORE = CODES + rng.normal(size=100)


class Case:
    """The same rows under other labels; `labels` are those of the codes 0 and 1."""

    def __init__(self, labels, pos_label=None):
        self.labels, self.pos_label = list(labels), pos_label
        self.y, self.a, self.b = (np.array(labels)[part] for part in (CODES, PRED, PRED_B))
        count = ConfusionCounts.from_predictions
        self.folds = np.stack(
            [count(self.y[k::4], self.a[k::4], labels=labels).counts for k in range(4)]
        )

    def counts(self, pos_label=None, matrix=None):
        matrix = self.folds.sum(axis=0) if matrix is None else matrix
        return ConfusionCounts(matrix, labels=self.labels, pos_label=pos_label)

    @property
    def model(self):
        return LogisticRegression().fit(X, self.y)

    def cross_validated(self):
        scorer = ConfusionCountsScorer(pos_label=self.pos_label)
        found = cross_validate(
            self.model, X, self.y, scoring=scorer, cv=4, return_indices=True, error_score="raise"
        )
        options = {"metrics": ["f1"], "pos_label": self.pos_label}
        return CrossValPosterior.from_cv_results(found, y=self.y, **options)

    def saved_search(self):
        """Results of a search as they are saved, with the counts of two candidates."""
        found = {}
        for k, m in enumerate(self.folds):
            cells = {f"n_{i}_{j}": m[i, j] for i in range(2) for j in range(2)}
            for key, value in (cells | {"n": m.sum()}).items():
                found[f"split{k}_test_{key}"] = np.array([value, value])
        return found


def _score_in_report(report):
    return report.to_dict()["sections"]["scores"]["rows"][0]["score"]["low"]


def _study(c):
    study = coverage_study(
        ["wilson"],
        SubsamplePopulation(LogisticRegression(), X, c.y, cv=2, n_models=4),
        n=40,
        metric="recall",
        pos_label=c.pos_label,
        n_replications=4,
        random_state=0,
    )
    return np.ravel(study.truth)[0]


# Every question that depends on the positive class, as a number.
DOORS = {
    "counts.posterior": lambda c: c.counts().posterior("f1", pos_label=c.pos_label).mean(),
    "counts.score": lambda c: c.counts().score("f1", pos_label=c.pos_label),
    "counts.joint_posterior": lambda c: (
        c.counts()
        .joint_posterior(["mcc", "f1"], pos_label=c.pos_label, n_draws=50, random_state=0)["f1"]
        .shape[0]
    ),
    "counts.report": lambda c: _score_in_report(c.counts().report("f1", pos_label=c.pos_label)),
    "prevalence": lambda c: (
        c.counts().posterior("accuracy", prevalence=0.1, pos_label=c.pos_label).observed
    ),
    "prevalence of a symmetric metric": lambda c: (
        c.counts(c.pos_label).posterior("markedness", prevalence=0.1, random_state=0).observed
    ),
    "prior of the rates": lambda c: (
        c.counts(c.pos_label)
        .posterior("accuracy", model="three_beta", prior={"recall": (90, 10)})
        .mean()
    ),
    "from_predictions": lambda c: ConfusionCounts.from_predictions(
        c.y, c.a, pos_label=c.pos_label
    ).score("f1"),
    "from_binary": lambda c: ConfusionCounts.from_binary(
        tp=24, fn=6, fp=13, tn=57, labels=c.labels, pos_label=c.pos_label
    ).score("f1"),
    "metric_posterior": lambda c: metric_posterior(
        c.y, c.a, metric="recall", pos_label=c.pos_label
    ).mean(),
    "metric_posterior, groups": lambda c: (
        metric_posterior(
            c.y, c.a, metric="recall", pos_label=c.pos_label, groups=np.arange(100) // 2
        ).observed
    ),
    "credible_interval": lambda c: (
        credible_interval(c.y, c.a, metric="f1", pos_label=c.pos_label).low
    ),
    "credible_interval, counts": lambda c: (
        credible_interval(c.counts(), metric="npv", pos_label=c.pos_label).low
    ),
    "confidence_interval": lambda c: (
        confidence_interval(c.y, c.a, metric="f1", pos_label=c.pos_label).low
    ),
    "bootstrap_distribution": lambda c: (
        bootstrap_distribution(
            c.y, c.a, metric="f1", pos_label=c.pos_label, n_resamples=9, random_state=0
        ).observed
    ),
    "average_precision": lambda c: (
        average_precision_posterior(c.y, SCORE, pos_label=c.pos_label).observed
    ),
    "roc_band": lambda c: roc_band(c.y, SCORE, pos_label=c.pos_label).area.observed,
    "precision_recall_band": lambda c: (
        precision_recall_band(c.y, SCORE, pos_label=c.pos_label).area.observed
    ),
    "thresholds": lambda c: intervals_at_thresholds(
        c.y, SCORE, [0.5], pos_label=c.pos_label
    ).values["f1"][0],
    "thresholds of a classifier": lambda c: (
        intervals_at_thresholds(c.y, c.model, X=X, pos_label=c.pos_label).posterior("f1").mean()
    ),
    "fold_posterior": lambda c: fold_posterior(
        c.counts(matrix=c.folds), "f1", pos_label=c.pos_label
    ).mean(),
    "CrossValPosterior.from_counts": lambda c: (
        CrossValPosterior.from_counts(c.counts(c.pos_label, c.folds), metrics=["f1"])
        .interval("f1")
        .low
    ),
    "CrossValPosterior.posterior": lambda c: (
        CrossValPosterior.from_counts(c.counts(matrix=c.folds))
        .posterior("f1", pos_label=c.pos_label)
        .mean()
    ),
    "CrossValPosterior.from_cv_results": lambda c: c.cross_validated().interval("f1").low,
    "cross_val_posterior": lambda c: (
        cross_val_posterior(c.model, X, c.y, cv=4, metrics=["f1"], pos_label=c.pos_label)
        .interval("f1")
        .low
    ),
    "nested_cv_intervals": lambda c: nested_cv_intervals(
        c.model, X, c.y, n_repeats=1, metrics=["f1"], pos_label=c.pos_label, random_state=0
    ).estimate("f1"),
    "conservative_z_intervals": lambda c: conservative_z_intervals(
        c.model, X, c.y, n_pairs=1, metrics=["f1"], pos_label=c.pos_label, random_state=0
    ).estimate("f1"),
    "search_posterior, saved": lambda c: search_posterior(
        c.saved_search(), metric="f1", labels=c.labels, pos_label=c.pos_label, n_repeats=1
    ).mean[0],
    "selection_corrected_score": lambda c: (
        selection_corrected_score(
            c.y, [c.a, c.b], metric="f1", pos_label=c.pos_label, n_resamples=20, random_state=0
        ).naive
    ),
    "compare": lambda c: compare(
        c.counts(), c.counts(matrix=c.folds[0]), metric="recall", pos_label=c.pos_label
    ).difference.mean(),
    "compare_paired": lambda c: compare_paired(
        c.y, c.a, c.b, metric="recall", pos_label=c.pos_label
    ).difference.mean(),
    "leaderboard": lambda c: leaderboard(
        [c.counts(), c.counts(matrix=c.folds[0])], metric="f1", pos_label=c.pos_label
    ).mean[0],
    "leaderboard, same rows": lambda c: leaderboard(
        [c.a, c.b], y_true=c.y, metric="f1", pos_label=c.pos_label, n_draws=9, random_state=0
    ).p_best.sum(),
    "SequentialPosterior": lambda c: (
        SequentialPosterior("f1", labels=c.labels, pos_label=c.pos_label)
        .update(c.y, c.a)
        .posterior.mean()
    ),
    "SequentialPosterior, first batch": lambda c: (
        SequentialPosterior("f1", pos_label=c.pos_label).update(c.y, c.a).posterior.mean()
    ),
    "expected_width": lambda c: (
        expected_width(200, metric="recall", expected=c.counts(), pos_label=c.pos_label).median
    ),
    "required_sample_size": lambda c: (
        required_sample_size(
            width=0.2, metric="precision", expected=c.counts(), pos_label=c.pos_label
        ).n
    ),
    "coverage_study": _study,
    "ConfusionCountsScorer": lambda c: ConfusionCountsScorer(metrics=["f1"], pos_label=c.pos_label)(
        c.model, X, c.y
    )["f1"],
    "ConfusionCountsScorer, labels": lambda c: ConfusionCountsScorer(
        metrics=["f1"], labels=c.labels, pos_label=c.pos_label
    )(c.model, X, c.y)["f1"],
    "make_bound_scorer": lambda c: make_bound_scorer("f1", pos_label=c.pos_label)(c.model, X, c.y),
    "make_bound_scorer, labels": lambda c: make_bound_scorer(
        "f1", labels=c.labels, pos_label=c.pos_label
    )(c.model, X, c.y),
}


@pytest.mark.parametrize("door", DOORS)
def test_without_a_positive_class_it_is_refused(door):
    """Such data gave the F1 of "legit", because it comes last in the alphabet."""
    with pytest.raises(InvalidParameterError) as caught:
        DOORS[door](Case(["legit", "fraud"]))
    assert caught.value.parameter == "pos_label"
    for text in ("'fraud'", "'legit'", "pos_label="):
        assert text in str(caught.value)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("labels", "pos_label"), [(["legit", "fraud"], "fraud"), ([3, 7], 7), ([7, 3], 3)]
)
def test_a_named_class_is_that_of_the_codes_0_and_1(door, labels, pos_label):
    named, coded = (DOORS[door](case) for case in (Case(labels, pos_label), Case([0, 1])))
    assert named == pytest.approx(coded, rel=1e-6)


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_class_is_refused(door):
    with pytest.raises(ValueError, match="frud") as caught:
        DOORS[door](Case(["legit", "fraud"], "frud"))
    assert "'fraud'" in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], 1),
        ([1, 0], 1),
        ([-1, 1], 1),
        ([1, 2], 2),
        ([2, 1], 2),
        ([False, True], True),
        ([0.0, 1.0], 1),
        (np.array([0, 1], dtype=np.uint8), 1),
        ([0, 2], None),
        ([3, 7], None),
        ([-1, 0], None),
        (["0", "1"], None),
        (["no", "yes"], None),
        (["negative", "positive"], None),
        ([0, 1, 2], None),
    ],
)
def test_labels_that_have_a_positive_class(labels, expected):
    size = len(labels)
    assert ConfusionCounts(np.eye(size, dtype=int) * 5, labels=labels).pos_label == expected
    assert ConfusionCounts.from_predictions(list(labels), list(labels)).pos_label == expected


# --------------------------------------------------------------------------------------------------
# Ordered categoricals


def _pandas(values, order):
    pandas = pytest.importorskip("pandas")
    return pandas.Series(pandas.Categorical(values, categories=order, ordered=True))


def _polars(values, order):
    polars = pytest.importorskip("polars")
    return polars.Series(values.tolist(), dtype=polars.Enum(order))


def _fitted(y):
    return LogisticRegression().fit(X, np.asarray(y))


# Doors that see the rows: y, the predictions of two models, and options.
BY_ROWS = {
    "from_predictions": lambda y, a, b, **o: ConfusionCounts.from_predictions(y, a, **o).score(
        "f1"
    ),
    "metric_posterior": lambda y, a, b, **o: metric_posterior(y, a, metric="f1", **o).mean(),
    "credible_interval": lambda y, a, b, **o: credible_interval(y, a, metric="f1", **o).low,
    "confidence_interval": lambda y, a, b, **o: confidence_interval(y, a, metric="f1", **o).low,
    "compare_paired": lambda y, a, b, **o: compare_paired(
        y, a, b, metric="recall", **o
    ).difference.mean(),
    "leaderboard": lambda y, a, b, **o: leaderboard(
        [a, b], y_true=y, metric="f1", n_draws=50, random_state=0, **o
    ).mean[0],
    "selection_corrected_score": lambda y, a, b, **o: (
        selection_corrected_score(y, [a, b], metric="f1", n_resamples=20, random_state=0, **o).naive
    ),
    "SequentialPosterior": lambda y, a, b, **o: (
        SequentialPosterior("f1", **o).update(y, a).posterior.mean()
    ),
    "average_precision": lambda y, a, b, **o: average_precision_posterior(y, SCORE, **o).observed,
    "roc_band": lambda y, a, b, **o: roc_band(y, SCORE, **o).area.observed,
    "precision_recall_band": lambda y, a, b, **o: (
        precision_recall_band(y, SCORE, **o).area.observed
    ),
    "thresholds": lambda y, a, b, **o: intervals_at_thresholds(y, SCORE, [0.5], **o).values["f1"][
        0
    ],
    "thresholds of a classifier": lambda y, a, b, **o: (
        intervals_at_thresholds(y, _fitted(y), X=X, **o).posterior("f1").mean()
    ),
    "cross_val_posterior": lambda y, a, b, **o: (
        cross_val_posterior(LogisticRegression(), X, y, cv=4, metrics=["f1"], **o)
        .interval("f1")
        .low
    ),
    "nested_cv_intervals": lambda y, a, b, **o: nested_cv_intervals(
        LogisticRegression(), X, y, n_repeats=1, n_folds=3, metrics=["f1"], random_state=0, **o
    ).estimate("f1"),
    "ConfusionCountsScorer": lambda y, a, b, **o: ConfusionCountsScorer(metrics=["f1"], **o)(
        _fitted(y), X, y
    )["f1"],
    "make_bound_scorer": lambda y, a, b, **o: make_bound_scorer("f1", **o)(_fitted(y), X, y),
}


@pytest.mark.parametrize("make", [_pandas, _polars])
@pytest.mark.parametrize("door", BY_ROWS)
def test_the_last_category_is_positive(door, make):
    """Of "ill" < "well" as of "well" < "ill", whatever the alphabet says."""
    plain = [np.array(["well", "ill"])[part] for part in (CODES, PRED, PRED_B)]
    values = []
    for order in (["well", "ill"], ["ill", "well"]):
        found = BY_ROWS[door](*(make(part, order) for part in plain))
        assert found == pytest.approx(BY_ROWS[door](*plain, pos_label=order[1]), rel=1e-9)
        values.append(found)
    assert values[0] != pytest.approx(values[1], rel=1e-3)


def test_categories_without_order_tell_nothing():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(pandas.Categorical(["a", "b", "b"]))
    assert ConfusionCounts.from_predictions(y, y).pos_label is None
    three = _pandas(np.array(["low", "high", "low"]), ["low", "middle", "high"])
    assert ConfusionCounts.from_predictions(three, three).pos_label == "high"
    all_three = _pandas(np.array(["low", "high", "middle"]), ["low", "middle", "high"])
    assert ConfusionCounts.from_predictions(all_three, all_three).pos_label is None


def test_an_order_completes_a_single_class():
    y = _pandas(np.array(["well"] * 3), ["well", "ill"])
    counts = ConfusionCounts.from_predictions(y, y)
    assert (counts.labels, counts.pos_label) == (("ill", "well"), "ill")
    assert counts.posterior("specificity").observed == 1
    model = DummyClassifier(strategy="most_frequent").fit(X, ["well"] * 100)  # knows no other class
    found = ConfusionCountsScorer(metrics=["fpr"])(model, X[:3], y)
    assert (found["n_1_1"], found["n"], found["neg_fpr"]) == (3, 3, 0)
    assert 0 < make_bound_scorer("specificity")(model, X[:3], y) < 1


# --------------------------------------------------------------------------------------------------
# What needs no positive class


@pytest.mark.parametrize(
    "metric",
    [
        *("accuracy", "error_rate", "balanced_accuracy", "mcc", "cohen_kappa", "null_accuracy"),
        *("cohen_kappa_linear", "f1_macro", "f1_weighted", "f1_micro", "precision_macro"),
        *("recall_macro", "jaccard_weighted", "informedness", "markedness", "g_mean"),
        *("diagnostic_odds_ratio",),
    ],
)
@pytest.mark.parametrize("model", ["dirichlet", "three_beta", "rows"])
def test_symmetric_metrics_need_no_class(metric, model):
    named, coded = Case(["legit", "fraud"]), Case([0, 1])
    options = {"model": model, "random_state": 0}
    one, other = (case.counts().posterior(metric, **options) for case in (named, coded))
    assert one.interval() == other.interval()
    assert one.pos_label is None
    assert named.counts().score(metric) == coded.counts().score(metric)
    by_class = named.counts("fraud").posterior(metric, **options)
    assert one.mean() == pytest.approx(by_class.mean(), rel=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "mcc", "f1_macro", "informedness"])
def test_symmetric_metrics_at_every_door(metric):
    found = []
    for c in (Case(["ham", "spam"]), Case([0, 1])):  # in the same order: the draws are the same
        folds = c.counts(matrix=c.folds)
        options = {"n_draws": 200, "random_state": 0}
        found.append(
            [
                credible_interval(c.y, c.a, metric=metric, **options).low,
                fold_posterior(folds, metric, **options).mean(),
                compare_paired(c.y, c.a, c.b, metric=metric, **options).p_better,
                compare(c.counts(), folds[0], metric=metric, **options).p_better,
                *leaderboard([c.a, c.b], y_true=c.y, metric=metric, **options).p_best,
                confidence_interval(
                    c.y, c.a, metric=metric, method="bca", n_resamples=99, random_state=0
                ).high,
                SequentialPosterior(metric, **options).update(c.y, c.a).posterior.mean(),
                make_bound_scorer(metric)(c.model, X, c.y),
            ]
        )
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_areas_under_roc_curves_need_no_class():
    names = np.array(["a", "b"])[CODES]
    expected = auc_posterior(CODES, SCORE)
    assert auc_posterior(names, SCORE).interval() == expected.interval()
    both = auc_posterior(names, np.c_[-SCORE, SCORE])
    assert both.interval() == expected.interval()
    result = compare_auc(names, SCORE, SCORE + CODES)
    assert result.p_better == compare_auc(CODES, SCORE, SCORE + CODES).p_better


def test_default_metrics_are_symmetric_ones():
    usual = ["accuracy", "balanced_accuracy", "f1_macro", "mcc"]
    c = Case(["legit", "fraud"])
    bcv = BayesianCrossValidator(LogisticRegression(), cv=4).fit(X, c.y)
    assert list(bcv.intervals_) == usual
    rows = bcv.report().to_dict()["sections"]["classes"]["rows"]
    expected = {f"{m} of {c}" for m in ("precision", "recall", "f1") for c in ("fraud", "legit")}
    assert {row["metric"] for row in rows} == expected
    named = BayesianCrossValidator(LogisticRegression(), cv=4, pos_label="fraud").fit(X, c.y)
    assert list(named.intervals_) == ["accuracy", "precision", "recall", "f1", "mcc"]
    assert "positive class  fraud" in str(named.report())
    result = CrossValPosterior.from_counts(c.counts(matrix=c.folds))
    assert list(result.metrics) == usual


def test_reports_show_both_classes():
    c = Case(["legit", "fraud"])
    report = interval_report(c.y, c.a, random_state=0)
    names = [row["name"] for row in report.to_dict()["sections"]["scores"]["rows"]]
    assert names[:2] == ["fraud", "legit"]
    assert "sensitivity" not in str(report)
    for given in ((c.y, c.a), (c.counts(),)):
        named = interval_report(*given, pos_label="fraud", random_state=0)
        assert "positive class fraud: its recall is the sensitivity" in str(named)
        with pytest.raises(InvalidParameterError, match="'frud' is not one of"):
            interval_report(*given, pos_label="frud")
    three = ConfusionCounts(np.eye(3, dtype=int) * 9)
    with pytest.raises(InvalidParameterError, match="pos_label needs metrics"):
        three.report(pos_label=2)
    with pytest.raises(InvalidParameterError, match="pos_label needs metrics"):
        interval_report([0, 1, 2], [0, 1, 2], pos_label=2)


# --------------------------------------------------------------------------------------------------
# Before the long work


@pytest.fixture
def fits():
    CountsFits.fits = 0
    return lambda: CountsFits.fits


def test_cross_validations_are_refused_before_the_fits(fits):
    y = Case(["legit", "fraud"]).y
    for metrics in (["accuracy", "f1"], "recall"):
        with pytest.raises(InvalidParameterError, match=r"'fraud' or 'legit'.*pos_label="):
            BayesianCrossValidator(CountsFits(), metrics=metrics).fit(X, y)
        with pytest.raises(InvalidParameterError, match=r"'fraud' or 'legit'.*pos_label="):
            cross_val_posterior(CountsFits(), X, y, metrics=metrics)
    with pytest.raises(InvalidParameterError, match="'frud' is not one of the labels"):
        BayesianCrossValidator(CountsFits(), pos_label="frud").fit(X, y)
    assert fits() == 0


def test_scorers_with_labels_are_refused_when_they_are_made():
    labels = ["legit", "fraud"]
    for make in (
        lambda **more: ConfusionCountsScorer(labels=labels, metrics=["accuracy", "f1"], **more),
        lambda **more: make_bound_scorer("f1", labels=labels, **more),
    ):
        with pytest.raises(InvalidParameterError, match=r"'legit' or 'fraud'.*pos_label="):
            make()
        with pytest.raises(InvalidParameterError, match="'frud' is not one of the labels"):
            make(pos_label="frud")
        make(pos_label="fraud")
    ConfusionCountsScorer(labels=labels, metrics=["accuracy", "informedness"])
    make_bound_scorer("mcc", labels=labels)


@pytest.mark.parametrize(
    "scoring",
    [ConfusionCountsScorer(metrics=["f1"]), make_bound_scorer("f1")],
    ids=["counts", "bound"],
)
def test_searches_end_with_the_first_score(fits, scoring):
    """Labels are not known before; a bound of the other class was optimised without a word."""
    refit = "f1" if isinstance(scoring, ConfusionCountsScorer) else True
    search = GridSearchCV(
        CountsFits(), {"random_state": [0, 1, 2]}, scoring=scoring, refit=refit, error_score="raise"
    )
    with pytest.raises(InvalidParameterError, match=r"'fraud' or 'legit'.*pos_label="):
        search.fit(X, Case(["legit", "fraud"]).y)
    assert fits() == 1


# --------------------------------------------------------------------------------------------------
# Searches


@pytest.fixture(params=[False, True], ids=["", "routing"])
def routing(request):
    with config_context(enable_metadata_routing=request.param):
        yield


GRID = {"C": [0.3, 1.0, 100.0]}


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_bound_scorer_optimises_the_class_that_is_named(routing, jobs):
    c = Case(["legit", "fraud"])
    searches = [
        GridSearchCV(LogisticRegression(), GRID, scoring=scorer, cv=4, n_jobs=jobs).fit(X, y)
        for scorer, y in (
            (make_bound_scorer("f1", pos_label="fraud"), c.y),
            (make_bound_scorer("f1"), CODES),
        )
    ]
    named, coded = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(named, coded, rtol=1e-9)


def test_a_search_names_its_class(routing):
    c, coded = Case(["legit", "fraud"]), Case([0, 1])
    found = []
    for y, pos_label in ((c.y, "fraud"), (coded.y, None)):
        scorer = ConfusionCountsScorer(metrics=["f1"], pos_label=pos_label)
        rule = most_probable_best("f1")
        search = GridSearchCV(LogisticRegression(), GRID, scoring=scorer, refit=rule, cv=4)
        found.append(search_posterior(search.fit(X, y), random_state=0))
    np.testing.assert_allclose(found[0].mean, found[1].mean, rtol=1e-9)
    assert found[0].pos_label == "fraud"
    assert "by f1 of class fraud" in repr(found[0])
    assert "by f1 of class fraud" in str(found[0].report())
    assert "of class" not in repr(found[1])


def test_a_search_without_a_class():
    y = Case(["legit", "fraud"]).y
    search = GridSearchCV(
        LogisticRegression(), GRID, scoring=ConfusionCountsScorer(), refit="score", cv=4
    ).fit(X, y)
    assert search_posterior(search, metric="mcc", random_state=0).pos_label is None
    with pytest.raises(InvalidParameterError, match=r"'fraud' or 'legit'.*pos_label="):
        search_posterior(search, metric="f1")
    for label, code in (("fraud", 1), ("legit", 0)):
        found = search_posterior(search, metric="f1", pos_label=label, random_state=0)
        expected = [np.mean([_f1(C, *split, code) for split in _splits(y)]) for C in GRID["C"]]
        np.testing.assert_allclose(found.mean, expected, rtol=1e-9)
    with pytest.raises(InvalidParameterError, match=r"ConfusionCountsScorer\(pos_label="):
        most_probable_best("f1")(search.cv_results_)
    saved = search_posterior(
        search.cv_results_, metric="f1", labels=["fraud", "legit"], pos_label="fraud", n_repeats=1
    )
    assert saved.mean == pytest.approx(
        search_posterior(search, metric="f1", pos_label="fraud").mean
    )


def _f1(C, train, test, code):
    model = LogisticRegression(C=C).fit(X[train], CODES[train])
    return f1_score(CODES[test], model.predict(X[test]), pos_label=code)


def _splits(y):
    return list(check_cv(4, y, classifier=True).split(X, y))


# --------------------------------------------------------------------------------------------------
# It is kept


def test_it_survives_clone_params_and_pickle():
    scorer = ConfusionCountsScorer(metrics=["f1"], pos_label="fraud")
    assert clone(scorer).get_params()["pos_label"] == "fraud"
    bcv = BayesianCrossValidator(LogisticRegression(), cv=4, pos_label="fraud")
    assert clone(bcv).pos_label == "fraud"
    y = Case(["legit", "fraud"]).y
    fitted = pickle.loads(pickle.dumps(bcv.fit(X, y)))
    assert fitted.counts_.pos_label == "fraud"
    for pos_label in ("fraud", "legit", None):
        counts = Case(["legit", "fraud"]).counts(pos_label)
        again = pickle.loads(pickle.dumps(counts))
        assert again == counts
        assert again.pos_label == pos_label
        assert ConfusionCounts(**json.loads(json.dumps(counts.to_dict()))) == counts
        assert (counts + counts).pos_label == pos_label
    watch = SequentialPosterior("f1", pos_label="fraud")
    watch.update(y, y)
    assert "f1 of class fraud" in repr(pickle.loads(pickle.dumps(watch)))
    assert watch.history.pos_label == "fraud"
    assert "f1 of class fraud" in repr(watch.history)


@pytest.mark.parametrize("jobs", [None, 2])
def test_workers_agree(jobs, routing):
    c = Case(["legit", "fraud"], "fraud")
    bcv = BayesianCrossValidator(
        LogisticRegression(), cv=4, pos_label="fraud", metrics=["f1"], n_jobs=jobs
    ).fit(X, c.y)
    plain = BayesianCrossValidator(LogisticRegression(), cv=4, metrics=["f1"]).fit(X, CODES)
    assert bcv.interval("f1") == pytest.approx(plain.interval("f1"))


# --------------------------------------------------------------------------------------------------
# It is named


def test_reprs_name_the_class():
    c = Case(["legit", "fraud"], "fraud")
    assert "pos_label='fraud'" in repr(c.counts("fraud").posterior("f1"))
    assert "pos_label='fraud'" in repr(roc_band(c.y, SCORE, pos_label="fraud"))
    assert "pos_label='fraud'" in repr(precision_recall_band(c.y, SCORE, pos_label="fraud"))
    assert roc_band(c.y, SCORE, pos_label="fraud").to_dict()["pos_label"] == "fraud"
    assert "pos_label" not in repr(roc_band(CODES, SCORE))
    assert "f1 of class fraud" in repr(
        compare_paired(c.y, c.a, c.b, metric="f1", pos_label="fraud")
    )
    board = leaderboard([c.a, c.b], y_true=c.y, metric="f1", pos_label="fraud", n_draws=99)
    assert "f1 of class fraud" in str(board.report())
    best = selection_corrected_score(
        c.y, [c.a, c.b], metric="f1", pos_label="fraud", n_resamples=9, random_state=0
    )
    assert "pos_label='fraud'" in repr(best)
    for metric in ("recall", "positive_likelihood_ratio"):
        plan = expected_width(50, metric=metric, expected=c.counts("fraud"), n_studies=9)
        assert "of class fraud" in repr(plan)
        assert "of class" not in repr(
            expected_width(50, metric=metric, expected=Case([0, 1]).counts(), n_studies=9)
        )
    step = SequentialPosterior("f1", pos_label="fraud").update(c.y, c.a)
    assert "f1 of class fraud" in repr(step)


def test_displays_name_the_class():
    pytest.importorskip("matplotlib")
    c = Case(["legit", "fraud"], "fraud")
    roc = RocBandDisplay.from_predictions(c.y, SCORE, pos_label="fraud")
    assert roc.ax_.get_ylabel() == "true positive rate of class fraud"
    assert "of class fraud" in roc.alt_text()
    curve = PrecisionRecallBandDisplay.from_estimator(c.model, X, c.y, pos_label="fraud")
    assert curve.ax_.get_ylabel() == "precision of class fraud"
    with pytest.raises(InvalidParameterError, match=r"'fraud' or 'legit'.*pos_label="):
        RocBandDisplay.from_estimator(c.model, X, c.y)
    named = PosteriorDisplay.from_counts(c.counts(), metric="f1", pos_label="fraud")
    assert "f1 of class fraud" in named.ax_.get_xlabel()
    usual = IntervalDisplay.from_counts(c.counts())
    assert "f1_macro" in usual.alt_text()
    assert "recall" not in usual.alt_text()
    joint = JointDisplay.from_counts(c.counts(), n_draws=200, random_state=0)
    assert "recall_macro" in joint.ax_.get_xlabel()
