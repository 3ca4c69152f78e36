"""The positive class of two names is never guessed, whatever the door."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from tests.support.estimator_cases import CountsFits

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
    fold_posterior,
    most_probable_best,
    selection_corrected_score,
)
from skuncertain.monitoring import SequentialPosterior
from skuncertain.planning import expected_width, required_sample_size

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
