"""Plots say what was asked: class, prevalence, new rows, and where these differ."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from display_cases import legend_texts  # noqa: E402
from skuncertain import ConfusionCounts, compare, leaderboard  # noqa: E402
from skuncertain.display import (  # noqa: E402
    ComparisonDisplay,
    IntervalDisplay,
    JointDisplay,
    PosteriorDisplay,
    RankDisplay,
)
from skuncertain.posteriors import BetaPosterior  # noqa: E402

COUNTS = ConfusionCounts.from_binary(
    tp=92, fn=8, fp=5, tn=95, labels=["well", "ill"], pos_label="ill"
)
OTHER = ConfusionCounts.from_binary(
    tp=80, fn=20, fp=10, tn=90, labels=["well", "ill"], pos_label="ill"
)
ASKED = "precision of class ill at prevalence 0.01"


def spaced(text):
    """Text without the line breaks and fixed spaces of the layout."""
    return " ".join(text.split())


def test_point_and_words_of_another_prevalence():
    posterior = COUNTS.posterior("precision", prevalence=0.01)
    display = PosteriorDisplay.from_posterior(posterior)
    expected = 0.92 * 0.01 / (0.92 * 0.01 + 0.05 * 0.99)  # Bayes' theorem
    assert display.estimate == pytest.approx([expected], rel=1e-12)
    shown = [display.alt_text(), display.ax_.get_xlabel(), *legend_texts(display)]
    assert all(ASKED in spaced(text) for text in shown)
    assert "0.157 [0.081, 0.335]" in spaced(display.alt_text())
    assert "0.948" not in display.alt_text()


def test_predictive_density_has_a_median():
    predictive = COUNTS.posterior("accuracy").predictive(40)
    display = PosteriorDisplay.from_posterior(predictive)
    said = "Predictive density of accuracy on 40 new rows with median and"
    assert spaced(display.alt_text()).startswith(said)
    assert display.ax_.get_ylabel() == "predictive density"
    assert display.estimate == [predictive.median()]


def test_posteriors_on_one_axis_say_in_what_they_differ():
    asked = {"test set": None, "clinic": 0.01, "files": BetaPosterior(3, 197)}
    posteriors = {
        name: COUNTS.posterior("precision", prevalence=prevalence)
        for name, prevalence in asked.items()
    }
    display = PosteriorDisplay.from_posterior(posteriors)
    assert display.names == [
        "test set (prevalence of the data)",
        "clinic (prevalence 0.01)",
        "files (prevalence Beta(3, 197))",
    ]
    assert spaced(display.ax_.get_xlabel()).startswith("precision of class ill, 95 %")
    assert any("clinic (prevalence 0.01)" in spaced(text) for text in legend_texts(display))
    same = {"a": COUNTS.posterior("precision"), "b": OTHER.posterior("precision")}
    assert PosteriorDisplay.from_posterior(same).names == ["a", "b"]
    mixed = {"a": same["a"], "b": same["b"].predictive(200)}
    assert PosteriorDisplay.from_posterior(mixed).names == ["a (posterior)", "b (200 new rows)"]


def test_intervals_of_other_classes_say_so():
    turned = ConfusionCounts(OTHER.counts, labels=OTHER.labels, pos_label="well")
    display = IntervalDisplay.from_counts({"a": COUNTS, "b": turned}, metrics=["recall"])
    assert display.rows == ["a (class ill)", "b (class well)"]
    np.testing.assert_allclose(np.ravel(display.estimate), [0.92, 0.9])
    assert spaced(display.ax_.get_xlabel()).startswith("recall, 95 %")
    display = IntervalDisplay.from_counts({"a": COUNTS, "b": OTHER}, metrics=["recall"])
    assert display.rows == ["a", "b"]
    assert spaced(display.ax_.get_xlabel()).startswith("recall of class ill, 95 %")
    assert "point values of recall of class ill with" in spaced(display.alt_text())
    several = IntervalDisplay.from_counts({"a": COUNTS, "b": turned}, metrics=["accuracy", "f1"])
    assert several.marks == ["a (class ill)", "b (class well)"]


def test_intervals_of_one_cross_validation_with_several_estimands(bcv):
    display = IntervalDisplay.from_cross_validation(bcv, metrics=["recall"])
    assert not any("estimand" in row for row in display.rows)
    model = bcv.result_.posterior("recall", estimand="final")
    assert PosteriorDisplay.from_posterior(
        {"cv": bcv.result_.posterior("recall"), "model": model}
    ).names == ["cv (estimand fitted)", "model (estimand final)"]


def test_comparisons_and_rankings_say_what_was_asked():
    pair = [
        COUNTS.posterior("precision", prevalence=0.01),
        OTHER.posterior("precision", prevalence=0.01, prior="jeffreys"),
    ]
    display = ComparisonDisplay.from_comparison(compare(*pair))
    assert f"difference in {ASKED}, B − A" in spaced(display.ax_.get_xlabel())
    assert f"difference in {ASKED} between B and A" in spaced(display.alt_text())
    assert "B: prior jeffreys." in display.alt_text()
    with pytest.raises(ValueError, match="the same prevalence"):
        ComparisonDisplay.from_counts(pair[0], OTHER.posterior("precision"))
    board = leaderboard({"a": pair[0], "b": pair[1]}, random_state=0)
    for cls in (IntervalDisplay, RankDisplay):
        assert ASKED in spaced(cls.from_leaderboard(board).alt_text())


def test_joint_draws_say_in_what_they_differ():
    joints = {
        name: COUNTS.joint_posterior(
            ["recall", "precision"], prevalence=prevalence, n_draws=2000, random_state=0
        )
        for name, prevalence in {"here": None, "there": 0.1}.items()
    }
    seen = {"here": (0.92, 0.95), "there": (0.92, 0.67)}
    display = JointDisplay.from_posterior(joints, observed=seen)
    assert list(display.draws) == ["here (prevalence of the data)", "there (prevalence 0.1)"]
    assert display.observed["there (prevalence 0.1)"] == (0.92, 0.67)
    assert "0.1" not in display.ax_.get_xlabel()
    alone = JointDisplay.from_posterior({"a": joints["there"], "b": joints["there"]})
    assert list(alone.draws) == ["a", "b"]
    assert "prevalence 0.1" in spaced(alone.ax_.get_xlabel())
    assert "of recall and precision at prevalence 0.1 with the region" in spaced(alone.alt_text())
    here = JointDisplay.from_posterior(joints["here"])
    assert "prevalence" not in here.ax_.get_xlabel() + here.alt_text()
