"""What is known about a posterior: read-only, copied by `with_about`, kept by pickle."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain.metrics import auc_posterior
from skuncertain.model_selection import fold_posterior
from skuncertain.posteriors import About, BetaPosterior

COUNTS = ConfusionCounts([[30, 4], [6, 50]])
FOLDS = ConfusionCounts([[[9, 1], [2, 8]], [[8, 2], [3, 7]], [[10, 0], [1, 9]]])


def test_nobody_changes_a_posterior():
    posterior = BetaPosterior(3, 4, about=About(metric="recall"))
    for field in fields(About):
        if hasattr(posterior, field.name):
            with pytest.raises(AttributeError):
                setattr(posterior, field.name, None)
    with pytest.raises(FrozenInstanceError):
        posterior.about.metric = "precision"


def test_a_copy_is_about_something_else():
    posterior = COUNTS.posterior("mcc")
    other = posterior.with_about(prior="mine", description="by hand")
    assert (other.prior, other.description, other.metric) == ("mine", "by hand", posterior.metric)
    assert posterior.description == "dirichlet"
    assert other.interval() == posterior.interval()
    assert "description='by hand'" in repr(other)
    assert other.to_dict()["description"] == "by hand"
    with pytest.raises(TypeError, match="colour"):
        posterior.with_about(colour="red")


@pytest.mark.parametrize(
    "posterior",
    [
        *(
            COUNTS.posterior(name, random_state=0)
            for name in (
                *("accuracy", "f1", "f2", "mcc", "cohen_kappa", "g_mean", "g_score"),
                *("informedness", "balanced_accuracy", "positive_likelihood_ratio"),
                *("diagnostic_odds_ratio", "prevalence_threshold", "f1_macro"),
                *("true_positive_odds", "false_positive_odds"),
            )
        ),
        COUNTS.posterior("accuracy").predictive(20),
        COUNTS.posterior("precision", prevalence=0.1),
        auc_posterior([0, 0, 1, 1, 0, 1], [0.1, 0.5, 0.4, 0.8, 0.2, 0.9]),
        *(fold_posterior(FOLDS, "recall", method=method) for method in ("pooled", "nadeau_bengio")),
        *(fold_posterior(FOLDS, "mcc", method=method) for method in ("averaged", "t")),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_pickles(posterior):
    again = pickle.loads(pickle.dumps(posterior))
    assert repr(again) == repr(posterior)
    assert again.interval() == posterior.interval()
    assert again.mean() == posterior.mean()


def test_monte_carlo_error_of_drawn_members():
    y, scores = [0, 1, 2] * 60, np.random.default_rng(0).random((180, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    drawn = auc_posterior(
        y, scores, average=None, method="bayesian_bootstrap", n_draws=1000, random_state=0
    )
    for error in (drawn.monte_carlo_error(), drawn.monte_carlo_error(0.5), drawn.interval_error()):
        assert error.shape == (3,)
        assert (error > 0).all()


def test_errors_of_what_was_not_drawn():
    posterior = BetaPosterior([3, 4], 5)
    assert (posterior.monte_carlo_error() == 0).all()
    assert (posterior.interval_error() == 0).all()
    with pytest.raises(ValueError, match="level"):
        posterior.interval_error(95)
