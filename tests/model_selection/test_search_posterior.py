"""search_posterior and selection_corrected_score, against hand calculation and simulation."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCounts, ConfusionCountsScorer, compare_cv, search_posterior
from skuncertain.metrics import get_metric, make_metric
from skuncertain.model_selection import SearchPosterior, fold_interval, fold_posterior

X, Y = make_classification(400, 8, flip_y=0.15, random_state=1)
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 4, 8]}
MOONS_GRID = [{"kernel": ["linear"]}, {"kernel": ["poly"], "degree": [2, 3]}, {"kernel": ["rbf"]}]


class StubbornTree(DecisionTreeClassifier):
    """Fails to fit with some depths."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth in (2, 8, 9):
            raise ValueError("no")
        return super().fit(X, y)


def table(scores, name="score", **more):
    """What a search would save, from scores of shape (candidates, splits)."""
    columns = np.asarray(scores, dtype=float).T
    return {**{f"split{k}_test_{name}": column for k, column in enumerate(columns)}, **more}


def count_table(counts, **more):
    """The same from two-by-two matrices of shape (candidates, splits, 2, 2)."""
    places = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    for name, (i, j) in places.items():
        more = table(np.asarray(counts)[..., i, j], name, **more)
    return more


def candidate_counts(search, k):
    """Fold matrices of one candidate, read from the columns of the counts scorer."""
    results, folds = search.cv_results_, search.n_splits_
    tn, fp, fn, tp = (
        [results[f"split{j}_test_{key}"][k] for j in range(folds)]
        for key in ("tn", "fp", "fn", "tp")
    )
    return ConfusionCounts.from_binary(tp=tp, fp=fp, fn=fn, tn=tn)


def counting_search(X=X, y=Y, cv=5, refit="f1", **options):
    scorer = ConfusionCountsScorer(**{"metrics": ["f1"], **options})
    return GridSearchCV(TREE, GRID, cv=cv, scoring=scorer, refit=refit).fit(X, y)


@pytest.fixture(scope="module")
def counted():
    return counting_search()


@pytest.fixture(scope="module")
def moons():
    rows, classes = make_moons(noise=0.352, random_state=1, n_samples=100)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    search = GridSearchCV(SVC(random_state=0), MOONS_GRID, scoring="roc_auc", cv=cv)
    return search.fit(rows, classes)


# --------------------------------------------------------------------------------------------------
# Numbers known from elsewhere


def test_moons_as_published(moons):
    kernels = [params["kernel"] for params in moons.cv_results_["params"]]
    linear, rbf = kernels.index("linear"), kernels.index("rbf")
    frame = pd.DataFrame(moons.cv_results_)
    for found in (
        search_posterior(moons, random_state=0),
        search_posterior(moons.cv_results_, n_repeats=10, random_state=0),
        search_posterior(frame, n_repeats=10, random_state=0),
        search_posterior(moons.cv_results_, cv=moons.cv, random_state=0),
    ):
        assert isinstance(found, SearchPosterior)
        assert found.pairwise[rbf, linear] == pytest.approx(0.7725770289866335, abs=1e-10)
        assert found.selected_index == rbf
        ends = found.difference_low[linear], found.difference_high[linear]
        expected = -0.03644520029613861, 0.016445200296138635
        np.testing.assert_allclose(ends, expected, atol=1e-10)
        np.testing.assert_allclose(found.mean, moons.cv_results_["mean_test_score"])
        assert (found.n_splits, found.n_repeats) == (100, 10)
        assert found.test_train_ratio == pytest.approx(1 / 9)
        assert "assumed" not in repr(found)
    plain = search_posterior(moons.cv_results_, random_state=0)
    assert plain.pairwise[rbf, linear] == pytest.approx(0.9657, abs=5e-5)
    assert "assumed: one repetition of K-fold (n_repeats=1)" in repr(plain)


def test_all_pairs_are_correlated_t_tests(moons):
    found = search_posterior(moons, rope=0.02, level=0.9, random_state=0)
    keys = [f"split{k}_test_score" for k in range(100)]
    scores = np.stack([moons.cv_results_[key] for key in keys], axis=1)
    k = found.selected_index
    for i, j in np.ndindex(4, 4):
        if i != j:
            pair = compare_cv(scores[j], scores[i], n_repeats=10)
            assert found.pairwise[i, j] == pytest.approx(pair.p_better, abs=1e-10)
    np.testing.assert_array_equal(np.diagonal(found.pairwise), 0.5)
    for i in set(range(4)) - {k}:
        pair = compare_cv(scores[k], scores[i], n_repeats=10, rope=0.02)
        for name in ("p_worse", "p_equivalent", "p_better"):
            assert getattr(found, name)[i] == pytest.approx(getattr(pair, name), abs=1e-10)
        ends = found.difference_low[i], found.difference_high[i]
        np.testing.assert_allclose(ends, pair.interval(0.9), atol=1e-10)
    assert (found.p_equivalent[k], found.difference[k]) == (1, 0)
    np.testing.assert_array_equal(found.distinguishable, found.p_worse >= 0.9)
    np.testing.assert_array_equal(found.as_good, found.difference >= -0.02)
    assert found.reference_index == k
    spread = stats.t(99).ppf(0.95) * scores.std(axis=1, ddof=1) * np.sqrt(1 / 100 + 1 / 9)
    np.testing.assert_allclose(found.high - found.mean, spread)
    np.testing.assert_allclose(found.mean - found.low, spread)


def test_candidates_that_hardly_differ():
    base = np.linspace(-0.5, -0.3, 10)  # log loss with C = 1e6 and 1e8, say
    scores = np.stack([base, base + 1e-8 * np.array([3, -2, 1, -1, 2, -3, 1, 0, 2, -1])])
    expected = compare_cv(scores[0], scores[1]).p_better
    assert 0.5 < expected < 0.8
    found = search_posterior(table(scores), rope=0, n_repeats=1, random_state=0)
    assert found.selected_index == 1
    assert found.p_best[1] == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(found.n_draws))
    assert found.pairwise[1, 0] == pytest.approx(expected, abs=1e-4)
    assert found.p_worse[0] == pytest.approx(expected, abs=1e-4)


def test_joint_model_by_simulation(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    shared = rng.normal(0.8, 0.03, 12)
    scores = shared + rng.normal([[0.0], [0.005], [0.01], [0.012], [-0.02]], 0.02, (5, 12))
    options = {"test_train_ratio": 0.2, "random_state": global_random_seed}
    found = search_posterior(table(scores), n_repeats=1, shrinkage=False, **options)
    assert (found.all_equal, found.shrinkage_weight) == (False, 1)
    shape = np.cov(scores) * (1 / 12 + 0.2)
    n = 400_000
    draws = stats.multivariate_t(scores.mean(axis=1), shape, df=11).rvs(n, random_state=rng)
    share = np.bincount(draws.argmax(axis=1), minlength=5) / n
    error = np.sqrt(share * (1 - share) * (1 / n + 1 / found.n_draws))
    assert np.all(np.abs(found.p_best - share) < 4 * error + 1e-9)
    assert found.p_best.sum() == pytest.approx(1, abs=1e-9)
    rank = 1 + (draws[:, None, :] > draws[:, :, None]).sum(axis=2)
    assert np.all(np.abs(found.expected_rank - rank.mean(axis=0)) < 4 * rank.std(axis=0) / n**0.5)
    assert found.expected_rank.sum() == pytest.approx(15)
    places = np.stack([(rank == k + 1).mean(axis=0) for k in range(5)], axis=1)
    error = np.sqrt(places * (1 - places) * (1 / n + 1 / found.n_draws))
    assert np.all(np.abs(found.rank_probabilities - places) < 4 * error + 1e-4)
    loss = draws.max(axis=1, keepdims=True) - draws
    error = loss.std(axis=0) * np.sqrt(1 / n + 1 / found.n_draws)
    assert np.all(np.abs(found.expected_loss - loss.mean(axis=0)) < 4 * error)


@pytest.mark.slow
def test_many_candidates(global_random_seed):
    scores = np.random.default_rng(global_random_seed).normal(0.8, 0.02, (1200, 5))
    found = search_posterior(table(scores), n_repeats=1, random_state=0)
    assert found.pairwise is None
    assert found.rank_probabilities is None
    assert found.p_best.sum() == pytest.approx(1, abs=1e-9)
    assert found.expected_rank.sum() == pytest.approx(1200 * 1201 / 2)


def test_constant_candidates():
    scores = np.repeat([[0.8], [0.9], [0.9], [0.7]], 5, axis=1)
    found = search_posterior(table(scores), n_repeats=1, random_state=0)
    np.testing.assert_array_equal(found.p_best, [0, 1, 1, 0])
    np.testing.assert_array_equal(found.tie_group, [0, 1, 1, 2])
    np.testing.assert_allclose(found.expected_rank, [3, 1.5, 1.5, 4])
    np.testing.assert_allclose(found.expected_loss, [0.1, 0, 0, 0.2], atol=1e-12)
    np.testing.assert_array_equal(found.p_worse, [1, 0, 0, 1])
    np.testing.assert_array_equal(found.as_good, [False, True, True, False])
    np.testing.assert_array_equal(found.distinguishable, [True, False, False, True])
    np.testing.assert_allclose(found.low, scores[:, 0])
    np.testing.assert_allclose(found.difference_low, [-0.1, 0, 0, -0.2], atol=1e-12)


# --------------------------------------------------------------------------------------------------
# Searches of all kinds


@pytest.mark.parametrize("metric", ["f1", "mcc", "accuracy", "npv"])
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_any_metric_from_counts(counted, metric, kind):
    found = search_posterior(counted, metric=metric, level=0.9, kind=kind, random_state=0)
    for k in range(4):
        counts = candidate_counts(counted, k)
        expected = fold_interval(counts, metric, level=0.9, kind=kind, random_state=0)
        posterior = fold_posterior(counts, metric, random_state=0)
        # Two drawn ends; those of the shortest interval wander more than quantiles do.
        error = 0 if posterior.exact else posterior.monte_carlo_error(0.05)
        slack = 1e-9 + (6 if kind == "eti" else 20) * error
        np.testing.assert_allclose((found.low[k], found.high[k]), expected, atol=slack)
        assert found.mean[k] == pytest.approx(counts.score(metric).mean())
    assert found.metric == metric
    assert search_posterior(counted, random_state=0).metric == "f1"  # what it was refitted by


METHODS = [
    {"method": "pooled"},
    {"omega": "wang_li"},
    {"method": "pooled", "omega": 0.7, "prior": 0.5},
    {"method": "averaged"},
    {"method": "averaged", "prior_per_fold": True, "prior": 2.0},
    {"method": "average_exact"},
    {"method": "dirichlet", "prior": "jeffreys"},
    {"method": "bootstrap"},
    {"method": "t"},
    {"method": "corrected_t"},
    {"method": "nadeau_bengio"},
]


@pytest.mark.parametrize("options", METHODS, ids=str)
@pytest.mark.parametrize("metric", ["f1", "precision"])
def test_every_fold_method(counted, metric, options):
    """The interval of a candidate is that of the method on its folds; comparisons stay."""
    plain = search_posterior(counted, metric=metric, random_state=0)
    found = search_posterior(counted, metric=metric, random_state=0, level=0.9, **options)
    assert found.counts.shape == (4, 5)
    assert found.method == options.get("method", "pooled")
    for k in range(4):
        assert found.counts[k] == candidate_counts(counted, k)
        posterior = fold_posterior(found.counts[k], metric, random_state=0, **options)
        slack = 1e-9 if posterior.exact else 6 * posterior.monte_carlo_error(0.05)
        ends = found.low[k], found.high[k]
        np.testing.assert_allclose(ends, posterior.interval(0.9), rtol=0, atol=slack)
    for name in ("mean", "p_best", "expected_rank", "pairwise", "difference", "p_worse"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    text = str(found.report())
    assert f"{found.method}; comparisons: correlated t on the shared folds" in text
    assert "whatever the method of the intervals" in found.report().to_html()


def test_weight_of_the_rows_in_words(counted):
    told = {
        omega: search_posterior(counted, omega=omega).omega for omega in ("auto", "wang_li", 0.7)
    }
    assert told["auto"] == "auto, per candidate"
    assert told["wang_li"].startswith("0.600, (K + 1) / (2 K)")  # five folds
    assert told[0.7] == "0.7"
    assert search_posterior(counted, method="averaged").omega is None


def test_methods_on_saved_results(counted):
    saved = {key: value for key, value in counted.cv_results_.items() if key != "params"}
    found = search_posterior(saved, metric="f1", method="averaged", n_repeats=1, random_state=0)
    known = search_posterior(counted, method="averaged", random_state=0)
    np.testing.assert_array_equal(found.low, known.low)
    assert found.counts == known.counts


@pytest.mark.parametrize(
    "method", ["pooled", "averaged", "average_exact", "dirichlet", "bootstrap"]
)
def test_scores_alone_do_not_allow_what_needs_counts(moons, method):
    with pytest.raises(ValueError, match=f"{method!r} needs the counts .*ConfusionCountsScorer"):
        search_posterior(moons, method=method)
    with pytest.raises(ValueError, match=r"needs the counts .* without omega, prior"):
        search_posterior(moons, omega="wang_li")


@pytest.mark.parametrize("method", ["t", "corrected_t", "nadeau_bengio"])
def test_scores_alone_allow_the_t_family(moons, method):
    found = search_posterior(moons, method=method, random_state=0)
    sizes = {"n_train": 90, "n_test": 10} if method == "nadeau_bengio" else {"n_repeats": 10}
    for k, scores in enumerate(found.scores):
        expected = fold_posterior(scores, method=method, **sizes).quantile([0.025, 0.975])
        expected = np.clip(expected, 0, 1)  # accuracy, the score of a classifier
        np.testing.assert_allclose((found.low[k], found.high[k]), expected, rtol=1e-12)
    default = search_posterior(moons, random_state=0)
    assert np.array_equal(default.low, found.low) == (method == "nadeau_bengio")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pool"}, "Did you mean 'pooled'"),
        ({"omega": 1.2}, r"omega must be in \[1/K, 1\], got 1.2"),
        ({"omega": 0.1}, r"omega must be in \[1/K, 1\] = \[0.2, 1\], got 0.1"),
        ({"method": "t", "omega": 0.5}, "omega is used by method 'pooled' only"),
        ({"prior_per_fold": True}, "prior_per_fold is used by method 'averaged'"),
        ({"prior": -1}, "prior"),
    ],
)
def test_options_of_methods_that_are_refused(counted, options, message):
    with pytest.raises(ValueError, match=message):
        search_posterior(counted, **options)


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(6, test_size=0.25, random_state=0),
        list(ShuffleSplit(6, test_size=0.25, random_state=0).split(X)),
        TimeSeriesSplit(4),
    ],
    ids=["shuffled", "shuffled, as a list", "in time"],
)
def test_folds_that_cannot_be_added_up(cv):
    search = counting_search(cv=cv)
    found = search_posterior(search, random_state=0)
    assert found.method == "nadeau_bengio"
    gap = stats.t(found.n_splits - 1).ppf(0.975) * np.sqrt(
        found.scores.var(axis=1, ddof=1) * (1 / found.n_splits + found.test_train_ratio)
    )
    np.testing.assert_allclose(found.high - found.low, 2 * gap, rtol=1e-9)
    assert "the folds are not added up" in repr(found)
    rows = found.report().to_dict()["sections"]["confusion"]["rows"]
    assert all("low" not in row["rate"] for row in rows)
    with pytest.raises(ValueError, match=r"'pooled' adds up the folds, but .*nadeau_bengio"):
        search_posterior(search, method="pooled")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_candidate_that_a_method_cannot_answer_for():
    """The first candidate never predicts the positive class: no precision to average."""
    never = [[[20, 0], [8, 0]]] * 3
    other = [[[17, 3], [2, 6]], [[18, 2], [3, 5]], [[19, 1], [2, 6]]]
    results = count_table([never, other])
    options = {"metric": "precision", "method": "average_exact", "n_repeats": 1}
    with pytest.warns(UserWarning, match="1 candidates have no interval"):
        found = search_posterior(results, random_state=0, **options)
    assert np.isnan([found.low[0], found.high[0]]).all()
    expected = fold_interval(other, "precision", method="average_exact")
    np.testing.assert_allclose((found.low[1], found.high[1]), expected, atol=1e-9)
    with pytest.raises(ValueError, match="nothing can be averaged"):
        search_posterior(count_table([never, never]), **options)


# --------------------------------------------------------------------------------------------------
# Scores that no counts give, beside the counts

MIXED = {
    "f1": make_scorer(f1_score, average="macro"),  # not the metric of that name
    "auc": "roc_auc",
    "rate": "recall",
    "wrong": "fpr",
}


@pytest.fixture(scope="module")
def mixed():
    return counting_search(metrics=MIXED, refit="auc")


@pytest.mark.parametrize("saved", [False, True])
def test_scores_beside_counts(mixed, saved):
    search = mixed.cv_results_ if saved else mixed
    more = {"n_repeats": 1, "random_state": 0}
    for name in ("auc", "f1"):
        found = search_posterior(search, metric=name, **more)
        np.testing.assert_array_equal(found.mean, mixed.cv_results_[f"mean_test_{name}"])
        pooled = name == "auc"  # an alias of the registry, so that its folds have moments
        assert found.method == ("pooled" if pooled else "nadeau_bengio (t on fold scores)")
        assert found.counts.shape == (4, 5)  # they are there for other metrics
        assert ("taken as given" in repr(found)) == (saved and name == "f1")
        if not pooled:
            with pytest.raises(ValueError, match="Ask for a metric of the counts"):
                search_posterior(search, metric=name, method="pooled", **more)
    assert search_posterior(search, metric="accuracy", **more).method == "pooled"
    if not saved:
        assert search_posterior(search, **more).metric == "auc"
        for name, metric in (("rate", "recall"), ("wrong", "fpr"), ("neg_wrong", "fpr")):
            found = search_posterior(search, metric=name, **more)
            np.testing.assert_array_equal(found.low, search_posterior(search, metric=metric).low)
            assert found.method == "pooled"


def test_own_metric(counted):
    two = get_metric("fbeta", beta=2)
    assert search_posterior(counted, metric=two, random_state=0).metric == "f2"


def test_metric_of_the_users(counted):
    mine = make_metric(lambda m: m[..., 1, 1] / m[..., 1, :].sum(-1), name="mine", range=(0, 1))
    found = search_posterior(counted, metric=mine, random_state=0)
    np.testing.assert_allclose(found.mean, search_posterior(counted, metric="recall").mean)


@pytest.mark.parametrize(
    ("names", "given"),
    [
        *((names, given) for names in [(0, 1), (1, 2), (-1, 1)] for given in (None, 0, 1)),
        *((("bad", "good"), given) for given in (0, 1)),
    ],
)
def test_labels_and_positive_class(names, given):
    y = np.array(names)[Y]
    pos_label = None if given is None else names[given]
    search = counting_search(y=y, pos_label=pos_label)
    for results, options in ((search, {}), (search.cv_results_, {"n_repeats": 1})):
        found = search_posterior(results, metric="f1", random_state=0, **options)
        np.testing.assert_allclose(found.mean, search.cv_results_["mean_test_f1"])
        recall = search_posterior(results, metric="recall", random_state=0, **options)
        expected = [candidate_counts(search, k).score("recall").mean() for k in range(4)]
        np.testing.assert_allclose(recall.mean, expected)


def test_another_positive_class(counted):
    expected = search_posterior(counted, metric="specificity", random_state=0).mean
    try:
        found = search_posterior(counted, metric="recall", pos_label=0, random_state=0).mean
    except ValueError:
        return
    np.testing.assert_allclose(found, expected)


def test_three_classes():
    rows, species = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    search = counting_search(rows, names, metrics=["f1_macro"], refit="f1_macro")
    found = search_posterior(search, random_state=0)
    np.testing.assert_allclose(found.mean, search.cv_results_["mean_test_f1_macro"])
    recall = search_posterior(search, metric="recall", pos_label="virginica", random_state=0)
    keys = [[f"split{k}_test_n_2_{j}" for j in range(3)] for k in range(5)]
    cells = np.array([[search.cv_results_[key] for key in fold] for fold in keys])
    np.testing.assert_allclose(recall.mean, (cells[:, 2] / cells.sum(axis=1)).mean(axis=0))
    saved = search.cv_results_
    with pytest.raises(ValueError, match="labels must name the 3 classes"):
        search_posterior(saved, metric="accuracy", labels=[0, 1], n_repeats=1)
    fewer = {key: value for key, value in saved.items() if not key.endswith("_n_1_2")}
    with pytest.raises(ValueError, match="8 of the 9 cells"):
        search_posterior(fewer, n_repeats=1)


def test_less_is_better(counted):
    found = search_posterior(counted, metric="fpr", rope=0.02, random_state=0)
    other = search_posterior(counted, metric="specificity", rope=0.02, random_state=0)
    np.testing.assert_allclose(found.mean, 1 - other.mean)
    np.testing.assert_allclose(found.low, 1 - other.high, atol=1e-9)
    np.testing.assert_allclose(found.difference_low, -other.difference_high, atol=1e-12)
    for name in ("p_best", "expected_rank", "expected_loss", "p_worse", "p_better", "pairwise"):
        np.testing.assert_allclose(getattr(found, name), getattr(other, name), atol=1e-9)
    assert found.best_score_corrected == pytest.approx(1 - other.best_score_corrected)
    with pytest.raises(ValueError, match="has no better or worse direction"):
        search_posterior(counted, metric="prevalence")


def test_negated_columns_are_shown_as_the_metric():
    search = counting_search(metrics=["fpr"], refit="neg_fpr")
    found = search_posterior(search, random_state=0)
    assert found.metric == "fpr"
    np.testing.assert_allclose(found.mean, -search.cv_results_["mean_test_neg_fpr"])


def test_refitted_by_the_score():
    search = counting_search(metrics=["mcc"], refit="score")
    found = search_posterior(search, random_state=0)
    np.testing.assert_allclose(found.mean, search.cv_results_["mean_test_score"])


def test_several_scores():
    scoring = ["accuracy", "roc_auc"]
    search = GridSearchCV(TREE, GRID, scoring=scoring, refit="roc_auc", cv=5).fit(X, Y)
    for metric, options in (("roc_auc", {}), ("accuracy", {"metric": "accuracy"})):
        found = search_posterior(search, random_state=0, **options)
        np.testing.assert_allclose(found.mean, search.cv_results_[f"mean_test_{metric}"])
        assert found.metric == metric
        assert found.selected_index == search.best_index_
    with pytest.raises(ValueError, match=r"one of the scores \['accuracy', 'roc_auc'\]"):
        search_posterior(search, metric="f1")
    with pytest.raises(ValueError, match="metric is missing: name one of the scores"):
        search_posterior(search.cv_results_, n_repeats=1)
    found = search_posterior(search.set_params(refit=False), metric="accuracy", random_state=0)
    assert "best mean" not in repr(found)  # best_index_ is still there


def test_a_single_score_may_be_named(moons):
    found = search_posterior(moons, metric="roc_auc", random_state=0)
    assert "by roc_auc" in repr(found)
    np.testing.assert_allclose(found.mean, moons.cv_results_["mean_test_score"])


def test_a_single_score_with_a_wrong_name(moons):
    with pytest.raises(ValueError, match="roc_auc"):
        search_posterior(moons, metric="f1", random_state=0)


def test_random_search():
    search = RandomizedSearchCV(TREE, {"max_depth": range(1, 20)}, n_iter=6, random_state=0)
    found = search_posterior(search.fit(X, Y), random_state=0)
    assert found.mean.shape == (6,)
    assert found.params == search.cv_results_["params"]
    assert f"selected {search.best_index_} {search.best_params_}" in repr(found)


@pytest.mark.parametrize("kind", [HalvingGridSearchCV, HalvingRandomSearchCV])
@pytest.mark.parametrize("counts", [False, True])
def test_halving(kind, counts):
    grid = {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8]}
    options = {"n_candidates": 8} if kind is HalvingRandomSearchCV else {}
    if counts:
        options.update(scoring=ConfusionCountsScorer(), refit="score")
    search = kind(TREE, grid, min_resources=100, factor=2, cv=5, random_state=0, **options)
    search.fit(X, Y)
    found = search_posterior(search, random_state=0)
    last = search.cv_results_["iter"] == search.cv_results_["iter"].max()
    assert 2 <= last.sum() < last.size
    for name in ("mean", "low", "p_best", "expected_rank", "p_worse", "difference"):
        np.testing.assert_array_equal(np.isfinite(getattr(found, name)), last)
    assert not found.as_good[~last].any()
    assert not found.distinguishable[~last].any()
    np.testing.assert_array_equal(found.tie_group >= 0, last)
    assert found.p_best[last].sum() == pytest.approx(1)
    assert found.pairwise.shape == (last.sum(), last.sum())
    assert f"only the {last.sum()} candidates of the last resource level" in repr(found)
    assert found.selected_index == search.best_index_
    np.testing.assert_allclose(found.mean[last], search.cv_results_["mean_test_score"][last])


@pytest.mark.parametrize("counts", [False, True])
def test_failed_fits_are_marked(counts):
    options = {"scoring": ConfusionCountsScorer(), "refit": "score"} if counts else {}
    search = GridSearchCV(StubbornTree(random_state=0), GRID, cv=5, **options)
    with (
        pytest.warns(FitFailedWarning, match="10 fits failed"),
        pytest.warns(UserWarning, match="non-finite"),
    ):
        search.fit(X, Y)
    found = search_posterior(search, random_state=0)
    lost = np.array([False, True, False, True])
    for name in ("mean", "low", "p_best", "expected_rank", "expected_loss", "p_better"):
        np.testing.assert_array_equal(np.isnan(getattr(found, name)), lost)
    assert "2 of 4 candidates have missing scores and are left out" in found.notes
    assert found.p_best[~lost].sum() == pytest.approx(1)
    assert not found.as_good[lost].any()
    assert not found.distinguishable[lost].any()


def test_one_candidate():
    table = {f"split{k}_test_score": [0.9 + 0.01 * k] for k in range(4)}
    found = search_posterior(table, n_repeats=1, random_state=0)
    assert repr(found).startswith("SearchPosterior(1 candidate by score")
    assert str(found.report()).startswith("Search over 1 candidate by score\n")
    assert found.best_score_corrected == found.mean[0]


# --------------------------------------------------------------------------------------------------
# Splits


@pytest.mark.parametrize(
    ("cv", "repeats", "ratio"),
    [
        (7, 1, 1 / 6),
        (None, 1, 1 / 4),
        (RepeatedKFold(n_splits=4, n_repeats=3, random_state=0), 3, 1 / 3),
        (ShuffleSplit(4, test_size=0.25, random_state=0), 1, 1 / 3),
        (ShuffleSplit(4, test_size=0.2, train_size=0.4, random_state=0), 1, 1 / 2),
        (ShuffleSplit(4, test_size=40, train_size=160, random_state=0), 1, 1 / 4),
        (StratifiedShuffleSplit(4, train_size=0.5, random_state=0), 1, 1),
        (TimeSeriesSplit(3), 1, np.mean([1, 1 / 2, 1 / 3])),
        pytest.param(
            ShuffleSplit(4, random_state=0), 1, 1 / 9,
        ),
        pytest.param(
            list(ShuffleSplit(4, test_size=0.5, random_state=0).split(X)), 1, 1,
        ),
    ],
)  # fmt: skip
def test_ratio_of_the_splitter(cv, repeats, ratio):
    search = GridSearchCV(TREE, {"max_depth": [1, 3]}, cv=cv).fit(X, Y)
    found = search_posterior(search, random_state=0)
    assert found.n_repeats == repeats
    assert found.test_train_ratio == pytest.approx(ratio)
    found = search_posterior(search, n_repeats=1, test_train_ratio=0.7, random_state=0)
    assert (found.n_repeats, found.test_train_ratio) == (1, 0.7)
    scores = [[search.cv_results_[f"split{k}_test_score"][i] for k in range(found.n_splits)]
              for i in (0, 1)]  # fmt: skip
    pair = compare_cv(*scores, n_test=7, n_train=10)
    assert found.pairwise[1, 0] == pytest.approx(pair.p_better, abs=1e-10)


def test_sizes_that_are_not_known():
    cv = ShuffleSplit(4, test_size=40, random_state=0)
    search = GridSearchCV(TREE, {"max_depth": [1, 3]}, cv=cv).fit(X, Y)
    with pytest.raises(ValueError, match="give test_train_ratio="):
        search_posterior(search)
    assert search_posterior(search, test_train_ratio=1 / 9).test_train_ratio == 1 / 9


# --------------------------------------------------------------------------------------------------
# What is returned


def test_tables(counted):
    found = search_posterior(counted, random_state=3)
    columns = found.to_dict()
    assert set(columns) >= {"p_best_test_f1", "low_test_f1", "difference_high_test_f1"}
    assert set(columns) >= {"tie_group_test_f1", "as_good_test_f1", "distinguishable_test_f1"}
    assert not set(columns) & set(counted.cv_results_)
    merged = pd.DataFrame({**counted.cv_results_, **columns})
    frame = found.to_frame()
    assert len(merged) == len(frame) == 4
    np.testing.assert_array_equal(frame["p_best_test_f1"], merged["p_best_test_f1"])
    np.testing.assert_allclose(frame["mean_test_f1"], merged["mean_test_f1"])
    assert list(frame["params"]) == counted.cv_results_["params"]
    text = repr(found)
    for part in ("4 candidates by f1", "P(best) = 0.", "rope=0.01", "5 folds", "corrected for"):
        assert part in text
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.p_best, found.p_best)
    assert repr(copy) == text


@pytest.mark.parametrize(
    ("others", "text"),
    [
        (0, "of 3 others, 0 are as good as the highest mean and 3 are distinguishable from it"),
        (1, "of 3 others, 1 is as good as the highest mean and 2 are distinguishable from it"),
        (2, "of 3 others, 2 are as good as the highest mean and 1 is distinguishable from it"),
    ],
)
def test_others_in_words(others, text):
    start = np.linspace(0.5, 0.52, 5)
    scores = [start + 0.2, *[start + 0.2] * others, *[start] * (3 - others)]
    results = {f"split{k}_test_score": np.array(scores)[:, k] for k in range(5)}
    results["params"] = [{"depth": k} for k in range(4)]
    found = search_posterior(results, n_repeats=1, test_train_ratio=0.25, random_state=0)
    assert int(found.as_good.sum()) == others + 1
    assert f"; {text} (rope" in repr(found)
    assert f"*: selected; {text}\n" in str(found.report())


def test_draws_are_reproducible(counted):
    one = search_posterior(counted, n_draws=500, random_state=3)
    assert (one.n_draws, one.seed) == (500, 3)
    again = search_posterior(counted, n_draws=500, random_state=3)
    other = search_posterior(counted, n_draws=500, random_state=4)
    np.testing.assert_array_equal(one.p_best, again.p_best)
    np.testing.assert_array_equal(one.rank_probabilities, again.rank_probabilities)
    assert np.any(one.p_best != other.p_best)
    np.testing.assert_array_equal(one.pairwise, other.pairwise)  # exact
    chosen = search_posterior(counted, n_draws=500)
    replayed = search_posterior(counted, n_draws=500, random_state=chosen.seed)
    np.testing.assert_array_equal(chosen.p_best, replayed.p_best)


@pytest.mark.parametrize(
    ("search", "options", "error", "message"),
    [
        (3, {}, TypeError, "must be a finished search, got int"),
        (GridSearchCV(TREE, GRID), {}, TypeError, "Pass a fitted GridSearchCV"),
        ({"mean_test_score": [1.0]}, {}, ValueError, "no columns split<k>_test_<score>"),
        (table([[0.1], [0.2]]), {}, ValueError, "one fold per repetition"),
        (table([[0.1], [0.2]]), {"test_train_ratio": 0.1}, ValueError, "at least two folds"),
        (table([[0.1, np.nan], [np.nan, 0.2]]), {}, ValueError, "nothing to compare"),
        (table([[0.1, 0.2, 0.3]]), {"n_repeats": 2}, ValueError, "must divide"),
        (table([[0.1, 0.2]], "auc"), {"metric": "f1"}, ValueError, r"one of the scores \['auc'\]"),
        (table([[0.1, 0.2]]), {"rope": -1}, ValueError, "rope must"),
        (table([[0.1, 0.2]]), {"level": 95}, ValueError, "Did you mean 0.95"),
        (table([[0.1, 0.2]]), {"kind": "best"}, ValueError, "kind must"),
        (table([[0.1, 0.2]]), {"n_draws": 0}, ValueError, "n_draws must"),
        (table([[0.1, 0.2]]), {"test_train_ratio": 0}, ValueError, "test_train_ratio must"),
        (count_table(np.ones((2, 3, 2, 2)), **table(np.full((2, 3), 5), "n")), {}, ValueError,
         "do not add up"),
    ],
)  # fmt: skip
def test_what_is_refused(search, options, error, message):
    with pytest.raises(error, match=message):
        search_posterior(search, **options)
