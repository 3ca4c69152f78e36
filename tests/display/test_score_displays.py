"""Displays of metrics of scores and probabilities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from skuncertain import credible_interval
from skuncertain.display import IntervalDisplay, JointDisplay, PosteriorDisplay
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import get_metric


@pytest.fixture
def rows(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = rng.permutation(np.arange(120) % 2)
    X = rng.normal(size=(120, 3)) + y[:, None]
    labels = np.array(["bad", "good"])[y]
    return X, labels, LogisticRegression().fit(X, labels)


def test_intervals_of_probabilities(rows):
    X, labels, model = rows
    p = model.predict_proba(X)
    names = ["roc_auc", "neg_log_loss"]
    shown = IntervalDisplay.from_predictions(labels, p, metrics=names, level=0.9, kind="hdi")
    frame = shown.to_frame().set_index("metric")
    assert list(frame.index) == names
    for name in names:
        expected = credible_interval(labels, p, metric=name, level=0.9, kind="hdi")
        assert_allclose(frame.loc[name, ["low", "high"]].astype(float), expected, rtol=1e-12)
        assert frame.loc[name, "estimate"] == pytest.approx(get_metric(name)(labels, p))
    again = IntervalDisplay.from_estimator(model, X, labels, metrics=names, level=0.9, kind="hdi")
    assert_allclose(again.low, shown.low, rtol=1e-9)


def test_a_density_of_a_loss(rows):
    X, labels, model = rows
    p = model.predict_proba(X)[:, 1]
    shown = PosteriorDisplay.from_predictions(labels, p, metric="log_loss", name="logistic")
    assert_allclose((shown.low[0], shown.high[0]), credible_interval(labels, p, metric="log_loss"))
    assert "log_loss" in shown.alt_text()
    assert "log_loss" in shown.ax_.get_xlabel()


@pytest.mark.parametrize("pos_label", ["bad", "good"])
def test_an_estimator_is_asked_for_the_right_class(rows, pos_label):
    X, labels, _ = rows
    model = LinearSVC().fit(X, labels)
    score = model.decision_function(X) * (1 if pos_label == "good" else -1)
    shown = IntervalDisplay.from_estimator(
        model, X, labels, metrics=["average_precision"], pos_label=pos_label
    )
    expected = credible_interval(labels, score, metric="average_precision", pos_label=pos_label)
    assert_allclose((shown.low[0, 0], shown.high[0, 0]), expected, rtol=1e-12)


def test_what_displays_refuse(rows):
    X, labels, model = rows
    p = model.predict_proba(X)
    for call, told in (
        (
            lambda: IntervalDisplay.from_predictions(labels, p, metrics=["roc_auc", "accuracy"]),
            "must not mix",
        ),
        (
            lambda: JointDisplay.from_predictions(labels, p, metrics=["roc_auc", "log_loss"]),
            "JointDisplay is for metrics of labels; 'roc_auc' needs scores",
        ),
        (
            lambda: IntervalDisplay.from_estimator(
                LinearSVC().fit(X, labels), X, labels, metrics=["log_loss"]
            ),
            "estimator must have predict_proba",
        ),
        (
            lambda: PosteriorDisplay.from_predictions(
                labels, p, metric="log_loss", sample_weight=np.ones(120)
            ),
            "sample_weight cannot be combined",
        ),
    ):
        with pytest.raises(InvalidParameterError, match=told):
            call()
