"""A posterior knows its question; answers to different questions are not compared."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from skuncertain import ConfusionCounts, compare, leaderboard
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    make_metric,
    metric_posterior,
    proportion_posterior,
)
from skuncertain.model_selection import cross_val_posterior, fold_posterior
from skuncertain.monitoring import SequentialPosterior
from skuncertain.planning import required_sample_size
from skuncertain.posteriors import About, BetaPosterior
from skuncertain.posteriors._difference import difference_of
from skuncertain.posteriors._question import shared_question

COUNTS = ConfusionCounts.from_binary(
    tp=92, fn=8, fp=5, tn=95, labels=["well", "ill"], pos_label="ill"
)
OTHER = ConfusionCounts.from_binary(
    tp=80, fn=20, fp=10, tn=90, labels=["well", "ill"], pos_label="ill"
)
FOLDS = ConfusionCounts([[[9, 1], [2, 8]], [[8, 2], [3, 7]], [[10, 0], [1, 9]]])
THREE = ConfusionCounts([[8, 1, 1], [2, 16, 2], [0, 3, 27]], labels=["a", "b", "c"])
RECALL, FPR = 0.92, 0.05  # of COUNTS


def bayes(prevalence):
    """Precision of COUNTS by Bayes' theorem."""
    return RECALL * prevalence / (RECALL * prevalence + FPR * (1 - prevalence))


# --------------------------------------------------------------------------------------------------
# The value that the data give to the question


@pytest.mark.parametrize("prevalence", [0.01, 0.5, 0.99])
def test_value_at_a_prevalence(prevalence):
    posterior = COUNTS.posterior("precision", prevalence=prevalence)
    assert posterior.observed == pytest.approx(bayes(prevalence), rel=1e-12)
    low, high = posterior.interval()
    assert low < posterior.observed < high
    accuracy = COUNTS.posterior("accuracy", prevalence=prevalence).observed
    assert accuracy == pytest.approx(0.92 * prevalence + 0.95 * (1 - prevalence), rel=1e-12)
    # Of the other class the prevalence is that of the other class.
    well = COUNTS.posterior("precision", prevalence=1 - prevalence, pos_label="well").observed
    share = 0.95 * (1 - prevalence)
    assert well == pytest.approx(share / (share + 0.08 * prevalence), rel=1e-12)


def test_value_of_rates_is_that_of_the_data():
    for metric in ("recall", "specificity", "balanced_accuracy", "informedness"):
        assert COUNTS.posterior(metric, prevalence=0.01).observed == COUNTS.score(metric)


def test_value_at_an_uncertain_prevalence():
    posterior = COUNTS.posterior("precision", prevalence=BetaPosterior(3, 197))
    assert posterior.observed == pytest.approx(bayes(3 / 200), rel=1e-12)
    stack = ConfusionCounts(np.stack([COUNTS.counts] * 2), labels=["well", "ill"], pos_label="ill")
    both = stack.posterior("precision", prevalence=BetaPosterior([3, 100], [197, 100]))
    assert both.observed == pytest.approx([bayes(3 / 200), bayes(0.5)], rel=1e-12)


def test_value_at_class_frequencies():
    shares = (0.5, 0.3, 0.2)
    posterior = THREE.posterior("accuracy", prevalence=shares, model="rows")
    right = 0.5 * 8 / 10 + 0.3 * 16 / 20 + 0.2 * 27 / 30
    assert posterior.observed == pytest.approx(right, rel=1e-12)
    # Said "b" of every class, and rightly so.
    said = 0.5 * 1 / 10, 0.3 * 16 / 20, 0.2 * 3 / 30
    of_b = THREE.posterior(
        "precision", prevalence=shares, model="rows", pos_label="b", random_state=0
    )
    assert of_b.observed == pytest.approx(said[1] / sum(said), rel=1e-12)
    # Specificity of one of three classes depends on how frequent the other two are.
    other = THREE.posterior(
        "specificity", prevalence=shares, model="rows", pos_label="b", random_state=0
    )
    assert other.observed == pytest.approx((0.5 * 9 / 10 + 0.2 * 27 / 30) / 0.7, rel=1e-12)


def test_value_of_a_function_of_ones_own():
    def share_of_alarms(m):
        return m[..., :, 1].sum(-1)

    metric = make_metric(share_of_alarms, range=(0, 1))
    found = COUNTS.posterior(metric, prevalence=0.1, random_state=0).observed
    assert found == pytest.approx(0.1 * 0.92 + 0.9 * 0.05, rel=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_value_without_rows_of_a_class():
    alone = ConfusionCounts.from_binary(tp=20, fn=6, fp=0, tn=0)
    assert np.isnan(alone.posterior("precision", prevalence=0.1).observed)  # no rate of alarms
    assert alone.posterior("recall", prevalence=0.1).observed == 20 / 26
    lacking = ConfusionCounts([[8, 2, 0], [1, 9, 0], [0, 0, 0]])
    without = lacking.posterior("accuracy", prevalence=[0.5, 0.5, 0], model="rows", prior=0.5)
    assert without.observed == pytest.approx(0.5 * 0.8 + 0.5 * 0.9, rel=1e-12)
    needed = lacking.posterior("accuracy", prevalence=[0.5, 0.4, 0.1], model="rows", prior=0.5)
    assert np.isnan(needed.observed)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_interval_is_closed_where_the_question_has_its_value():
    # All alarms of the test set were right, but it had no negatives: nothing is known of a
    # population in which nearly all are negative.
    alone = ConfusionCounts.from_binary(tp=26, fn=0, fp=0, tn=0)
    assert alone.score("precision") == 1
    posterior = alone.posterior("precision", prevalence=0.01)
    assert posterior.interval().high == pytest.approx(posterior.quantile(0.975), rel=1e-12)
    assert posterior.quantile(0.975) < 1
    # All errors were made in a class that does not occur.
    counts = ConfusionCounts([[9, 0, 0], [0, 12, 0], [3, 2, 4]])
    where = counts.posterior("accuracy", prevalence=[0.4, 0.6, 0], model="rows", prior=0.5)
    assert where.observed == 1
    assert where.interval().high == 1 > where.quantile(0.975)
    data = counts.posterior("accuracy", prevalence=[0.4, 0.5, 0.1], model="rows", prior=0.5)
    assert data.interval().high == pytest.approx(data.quantile(0.975), rel=1e-12)
    assert data.quantile(0.975) < 1


def test_predictive_has_no_observed_value():
    for prevalence in (None, 0.3):
        posterior = COUNTS.posterior("accuracy", prevalence=prevalence, random_state=0)
        assert np.isnan(posterior.predictive(50).observed)


# --------------------------------------------------------------------------------------------------
# Fields


def fields_of(posterior, *names):
    return tuple(getattr(posterior.about, name) for name in names)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_fields_of_a_test_set():
    posterior = COUNTS.posterior("precision", prevalence=0.01, model="three_beta", prior=0.5)
    told = fields_of(posterior, "metric", "pos_label", "prevalence", "model", "estimand")
    assert told == ("precision", "ill", 0.01, "three_beta", "final")
    assert posterior.about.n_new is None
    assert posterior.predictive(30).about.n_new == 30
    assert posterior.predictive(30).about.prevalence == 0.01
    assert COUNTS.posterior("recall", pos_label="well").pos_label == "well"
    more = posterior.updated(OTHER)
    assert fields_of(more, "pos_label", "prevalence", "model") == ("ill", 0.01, "three_beta")


def test_class_only_where_the_metric_depends_on_it():
    for metric in ("accuracy", "matthews_corrcoef", "f1_macro", "informedness", "g_mean"):
        assert COUNTS.posterior(metric, random_state=0).pos_label is None
    assert THREE.posterior("informedness", pos_label="b").pos_label == "b"


def test_fields_of_groups():
    y = ["well", "ill"] * 20
    posterior = metric_posterior(
        y, y[::-1], metric="recall", pos_label="ill", groups=[0, 1, 2, 3] * 10
    )
    assert posterior.pos_label == "ill"
    assert posterior.about.model == posterior.description == "Bayesian bootstrap over 4 groups"


@pytest.mark.parametrize(
    "method", ["pooled", "averaged", "average_exact", "bootstrap", "dirichlet", "t", "corrected_t"]
)
def test_fields_of_folds(method):
    posterior = fold_posterior(FOLDS, "fpr", method=method, random_state=0)
    told = fields_of(posterior, "metric", "pos_label", "method", "n_folds", "n_repeats", "estimand")
    estimand = "algorithm" if method in ("t", "corrected_t") else "fitted"
    assert told == ("fpr", 1, method, 3, 1, estimand)
    assert posterior.greater_is_better is False
    assert posterior.description == f"{method}, 3 folds"


def test_fields_of_other_folds():
    model = fold_posterior(FOLDS, "recall", estimand="final")
    assert model.about.estimand == "final"
    assert model.description == "pooled, 3 folds, estimand final"
    scores = fold_posterior([0.8, 0.9, 0.7, 0.8], method="t", n_repeats=2)
    assert fields_of(scores, "method", "n_folds", "n_repeats") == ("t", 2, 2)
    assert scores.description == "t, 2 folds x 2"
    X, y = load_iris(return_X_y=True)
    result = cross_val_posterior(GaussianNB(), X, y, cv=3, metrics=["accuracy"], random_state=0)
    told = fields_of(
        result.posterior("recall", pos_label=2), "pos_label", "method", "n_folds", "estimand"
    )
    assert told == (2, "pooled", 3, "fitted")


def test_fields_of_rankings():
    rng = np.random.default_rng(0)
    y, scores = np.array(["a", "b", "c"] * 10), rng.dirichlet([1, 1, 1], size=30)
    classes = auc_posterior(y, scores, average=None)
    assert classes.pos_label == ("a", "b", "c")
    assert fields_of(classes, "method", "estimand") == ("logit_delong", "final")
    assert auc_posterior(y, scores, pos_label="b").pos_label == "b"
    two = np.array(["no", "yes"] * 15)
    assert auc_posterior(two, scores[:, 0]).pos_label is None  # the same for both
    assert average_precision_posterior(two, scores[:, 0], pos_label="yes").pos_label == "yes"


def test_fields_of_a_stream():
    watched = SequentialPosterior("recall", pos_label="ill").update(COUNTS)
    told = fields_of(watched.posterior, "metric", "pos_label", "estimand", "model")
    assert told == ("recall", "ill", "final", "dirichlet")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_copies_keep_the_question():
    posterior = COUNTS.posterior("precision", prevalence=BetaPosterior(3, 197)).predictive(20)
    copies = pickle.loads(pickle.dumps(posterior)), copy.deepcopy(posterior)
    for other in (*copies, posterior.with_about(prior="mine")):
        assert other.about.question() == posterior.about.question()
        told = other.to_dict()
        assert told["prevalence"] == {"a": 3.0, "b": 197.0}
        assert (told["pos_label"], told["n_new"]) == ("ill", 20)
        compare(other, posterior)


def test_repr_and_dict_tell_the_question():
    posterior = COUNTS.posterior("precision", prevalence=0.01)
    assert "metric='precision', pos_label='ill', prevalence=0.01" in repr(posterior)
    told = posterior.to_dict()
    assert told["observed"] == pytest.approx(bayes(0.01), rel=1e-12)
    asked = {key: told[key] for key in ("pos_label", "prevalence", "n_new", "estimand", "model")}
    assert asked == {
        "pos_label": "ill",
        "prevalence": 0.01,
        "n_new": None,
        "estimand": "final",
        "model": "dirichlet",
    }
    uncertain = COUNTS.posterior("precision", prevalence=BetaPosterior(3, 197))
    assert "prevalence=Beta(3, 197)" in repr(uncertain)
    vector = THREE.posterior("accuracy", prevalence=[0.5, 0.3, 0.2], model="rows")
    assert "prevalence=[0.5, 0.3, 0.2]" in repr(vector)
    assert vector.to_dict()["prevalence"] == [0.5, 0.3, 0.2]
    assert "description='dirichlet, predictive for n=20'" in repr(
        COUNTS.posterior("accuracy").predictive(20)
    )
    joint = COUNTS.joint_posterior(["recall", "precision"], prevalence=0.01, n=50, random_state=0)
    assert "pos_label='ill', prevalence=0.01, n_new=50" in repr(joint)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_question_in_words():
    posterior = COUNTS.posterior("precision", prevalence=0.01, random_state=0)
    assert posterior.about.question() == "precision of class ill at prevalence 0.01"
    new = posterior.predictive(50).about.question()
    assert new == "precision of class ill at prevalence 0.01 on 50 new rows"
    assert FOLDS.sum().posterior("recall").about.question() == "recall"  # of class 1
    assert fold_posterior(FOLDS, "recall", estimand="final").about.question() == (
        "recall with estimand final"
    )
    assert About().question() == "value"
    assert About(metric="f1", pos_label="\x1b[31mred").question() == "f1 of class \\x1b[31mred"


# --------------------------------------------------------------------------------------------------
# Comparisons


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prevalence": 0.5}, "the same prevalence, got 0.01 and 0.5"),
        ({"prevalence": None}, "the same prevalence, got 0.01 and that of the data"),
        ({"prevalence": BetaPosterior(1, 99)}, r"got 0.01 and Beta\(1, 99\)"),
        ({"pos_label": "well"}, "the same class, got 'ill' and 'well'"),
        ({"metric": "npv"}, "the same metric, got 'precision' and 'npv'"),
    ],
)
def test_different_questions_are_refused(asked, message):
    ours = COUNTS.posterior("precision", prevalence=0.01)
    theirs = OTHER.posterior(**{"metric": "precision", "prevalence": 0.01} | asked)
    for answer in (compare, difference_of, lambda *both: leaderboard(both)):
        with pytest.raises(ValueError, match=message):
            answer(ours, theirs)


def test_predictive_is_not_compared_with_posterior():
    ours, theirs = COUNTS.posterior("accuracy"), OTHER.posterior("accuracy")
    with pytest.raises(ValueError, match="got posterior and predictive: a predictive distribution"):
        compare(ours, theirs.predictive(50))
    with pytest.raises(ValueError, match="got predictive and posterior"):
        leaderboard([ours.predictive(50), theirs])
    found = compare(ours.predictive(40), theirs.predictive(50), random_state=0)
    assert found.differs == "A: new rows 40; B: new rows 50"
    assert found.to_dict()["n_new"] is None  # two numbers
    assert compare(ours.predictive(50), theirs.predictive(50), random_state=0).differs is None


def test_estimands_are_not_mixed():
    one = FOLDS.sum().posterior("recall")
    algorithm, model = (fold_posterior(FOLDS, "recall", estimand=e) for e in ("algorithm", "final"))
    for pair in ((algorithm, model), (one, algorithm)):
        with pytest.raises(ValueError, match=r"the same estimand.*average over training sets"):
            compare(*pair)
    assert compare(one, model).p_better > 0


def test_classes_are_compared_by_value():
    ours = ConfusionCounts([[9, 1], [2, 8]], labels=np.array([0, 1])).posterior("recall")
    by_hand = BetaPosterior(5, 3, about=About(metric="recall", pos_label=np.int64(1)))
    compare(ours, by_hand)
    with pytest.raises(ValueError, match="the same class, got 1 and '1'"):
        compare(ours, by_hand.with_about(pos_label="1"))
    compare(ours, by_hand.with_about(pos_label=None))  # nobody knows which


def test_what_is_made_by_hand_is_compared():
    assert compare(BetaPosterior(3, 4), BetaPosterior(5, 6)).differs is None
    board = leaderboard([BetaPosterior(30, 4), BetaPosterior(5, 6)])
    assert board.question == "score"
    named = BetaPosterior(3, 4, about=About(metric="recall"))
    with pytest.raises(ValueError, match="the same metric, got None and 'recall'"):
        compare(BetaPosterior(3, 4), named)


def test_another_prior_or_model_is_named():
    options = {"prevalence": 0.01, "metric": "precision"}
    ours = COUNTS.posterior(**options)
    theirs = OTHER.posterior(**options, prior="jeffreys", model="three_beta")
    found = compare(ours, theirs, names=("ours", "theirs"))
    said = f"ours: prior {ours.prior}, model dirichlet; theirs: prior jeffreys, model three_beta"
    assert found.differs == said == found.to_dict()["differs"]
    assert repr(found).endswith(f"{said})")
    assert "in precision of class ill at prevalence 0.01 with probability" in repr(found)
    assert found.to_dict()["prevalence"] == 0.01
    assert said in str(found.report())
    assert said in found.report().to_html()
    assert found.report().to_dict()["settings"]["differs"] == said
    assert found.report().to_dict()["settings"]["prevalence"] == 0.01
    board = leaderboard({"ours": ours, "theirs": theirs}, random_state=0)
    assert board.differs == said
    assert repr(board).endswith(said)
    assert "by precision of class ill at prevalence 0.01" in repr(board)
    assert said in str(board.report())
    assert board.to_dict()["pos_label"] == "ill"
    assert compare(ours, OTHER.posterior(**options)).differs is None


def test_many_models_are_named_briefly():
    given = {f"m{k}": proportion_posterior(40 + k, 60 - k, prior=1 + (k > 0)) for k in range(30)}
    board = leaderboard(given)
    assert board.differs == (
        "m0: prior 1 on each side; m1, m2, m3 and 26 more: prior 2 on each side"
    )


def test_difference_knows_the_question():
    difference = compare(*(c.posterior("f1", prevalence=0.2) for c in (COUNTS, OTHER))).difference
    told = fields_of(difference, "metric", "pos_label", "prevalence", "estimand")
    assert told == ("difference in f1", "ill", 0.2, "final")


def test_shared_question():
    posteriors = [COUNTS.posterior("precision", prevalence=p) for p in (0.01, None)]
    common, own = shared_question(one.about for one in posteriors)
    assert common.question() == "precision of class ill"
    assert own == ["prevalence 0.01", "prevalence of the data"]
    unknown = replace(posteriors[1].about, pos_label=None)
    assert shared_question([unknown, posteriors[1].about])[0].pos_label == "ill"


# --------------------------------------------------------------------------------------------------
# Proportions with a name


def test_proportions_have_a_name():
    ours = proportion_posterior(92, 8, metric="sensitivity", pos_label="ill")
    assert fields_of(ours, "metric", "pos_label", "greater_is_better") == ("recall", "ill", True)
    assert ours.interval() == proportion_posterior(92, 8).interval()
    theirs = OTHER.posterior("recall")
    found = compare(ours, theirs)
    assert found.metric == "recall"
    # P(B > A) of two Betas by a fine sum over one of them
    x = (np.arange(20_000) + 0.5) / 20_000
    density, below = beta.pdf(x, theirs.a, theirs.b), beta.cdf(x, 92.5, 8.5)
    assert found.p_better == pytest.approx((density * below).mean(), abs=1e-6)
    board = leaderboard({"ours": ours, "theirs": theirs})
    assert (board.metric, board.question) == ("recall", "recall of class ill")
    assert "by recall of class ill" in str(board.report())
    with pytest.raises(ValueError, match="the same class, got 'well' and 'ill'"):
        compare(ours.with_about(pos_label="well"), theirs)
    with pytest.raises(ValueError, match=r"A proportion has a name with.*metric="):
        compare(proportion_posterior(92, 8), theirs)


def test_direction_of_proportions():
    few, many = (proportion_posterior(k, 100 - k, metric="fpr") for k in (5, 40))
    assert compare(few, many).p_worse > 0.999  # more false alarms
    assert leaderboard({"few": few, "many": many}).p_best[0] > 0.999
    plain = leaderboard([proportion_posterior(k, 100 - k) for k in (5, 40)])
    assert plain.p_best[1] > 0.999
    assert plain.metric == "proportion"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f1"}, "metric must be a share of rows.*got 'f1'"),
        ({"metric": "matthews_corrcoef"}, "metric must be a share of rows"),
        ({"metric": "recal"}, "recall"),
        ({"pos_label": 1}, "pos_label belongs to a metric of one class.*metric=None"),
        ({"metric": "accuracy", "pos_label": 1}, "pos_label belongs.*metric='accuracy'"),
        ({"metric": "recall", "pos_label": [1]}, "pos_label must be numbers or strings"),
    ],
)
def test_names_that_are_no_proportion(options, message):
    with pytest.raises(ValueError, match=message):
        proportion_posterior(9, 1, **options)


# --------------------------------------------------------------------------------------------------
# Plans


def test_plans_ask_for_the_same_question():
    known = proportion_posterior(90, 10, metric="recall")
    plan = required_sample_size(metric="recall", expected=known, width=0.1)
    assert plan.n == required_sample_size(metric="recall", expected=(known), width=0.1).n > 0
    with pytest.raises(ValueError, match="expected must be a posterior of precision"):
        required_sample_size(metric="precision", expected=known, width=0.1)
    elsewhere = BetaPosterior(90, 10, about=About(metric="precision", prevalence=0.01))
    with pytest.raises(ValueError, match="expected must be a posterior of precision"):
        required_sample_size(metric="precision", expected=elsewhere, width=0.1)
    with pytest.raises(ValueError, match="prevalence of the counts"):
        required_sample_size(
            metric="informedness",
            expected=COUNTS.posterior("informedness", prevalence=0.2),
            width=0.2,
        )
