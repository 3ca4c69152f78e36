"""Rules for ``refit=``, and the score of a selected model."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
)
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCountsScorer, search_posterior, simplest_equivalent
from skuncertain.model_selection import (
    RefitRule,
    best_lower_bound,
    most_probable_best,
    selection_corrected_score,
)

X, Y = make_classification(400, 8, flip_y=0.15, random_state=1)
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 4, 8]}


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


def counting_search(X=X, y=Y, cv=5, refit="f1", **options):
    scorer = ConfusionCountsScorer(**{"metrics": ["f1"], **options})
    return GridSearchCV(TREE, GRID, cv=cv, scoring=scorer, refit=refit).fit(X, y)


SPREAD = np.linspace(0.78, 0.86, 10)
WIGGLE = 0.002 * np.array([1, -1] * 5)
# The first is worse than the third by 0.04 in every fold, the second by 0.005.
STEPS = np.stack([SPREAD + WIGGLE, SPREAD + 0.035 - WIGGLE, SPREAD + 0.04])


@pytest.mark.parametrize(
    ("name", "values", "complexity", "rope", "expected"),
    [
        ("C", [1, 10, 100], "C", 0.01, 1),
        ("C", [1, 10, 100], "C", 0.05, 0),
        ("C", [1, 10, 100], "C", 0.0, 2),
        ("alpha", [100, 10, 1], "-alpha", 0.01, 1),
        ("alpha", [1, 10, 100], "-alpha", 0.01, 2),
        ("max_depth", [3, 5, None], "max_depth", 0.01, 1),
        ("max_depth", [3, None, 5], "max_depth", 0.01, 2),
        ("C", [1, 10, 100], lambda params: -params["C"], 0.05, 2),
        ("C", [1, 1, 1], "C", 0.05, 2),  # equally simple: the best
        pytest.param(
            "alpha", [1, 10, None], "-alpha", 0.01, 1,
        ),
    ],
)  # fmt: skip
def test_simplest_equivalent(name, values, complexity, rope, expected):
    params = [{name: value} for value in values]
    rule = simplest_equivalent("score", rope=rope, complexity=complexity)
    assert isinstance(rule, RefitRule)
    assert rule(table(STEPS, params=params)) == expected


def test_other_rules():
    # The first has the best mean, the second is the steadier one.
    scores = np.stack([0.84 + np.linspace(-0.08, 0.08, 6), 0.83 + np.linspace(-0.01, 0.01, 6)])
    for ratio in (None, 0.5):
        half = stats.t(5).ppf(0.975) * scores.std(axis=1, ddof=1)
        half *= np.sqrt(1 / 6 + (1 / 5 if ratio is None else ratio))
        assert np.argmax(scores.mean(axis=1) - half) == 1
        rule = best_lower_bound("score", test_train_ratio=ratio)
        assert rule(table(scores, params=[{}, {}])) == 1
    assert best_lower_bound("score", level=0.01)(table(scores)) == 0
    # Two that are always equal win together, and the first is taken; the third has almost 1/2.
    three = np.stack([0.799 + np.linspace(-0.05, 0.05, 6), np.full(6, 0.8), np.full(6, 0.8)])
    assert most_probable_best("score")(table(three)) == 1
    twice = simplest_equivalent("score", rope=0.0, complexity="C", n_repeats=5)
    assert twice(table(STEPS, params=[{"C": k} for k in (1, 10, 100)])) == 2


PARAMS = [{"C": k} for k in (1, 10, 100)]


@pytest.mark.parametrize("probability", [0.05, 0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
def test_as_good_with_a_probability(probability, rope, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for _ in range(10):
        scores = rng.normal([[0.78], [0.80], [0.81]], 0.03, (3, 10))
        best = np.argmax(scores.mean(axis=1))
        good = []
        for row in scores:
            gap = row - scores[best]
            spread = gap.std(ddof=1) * np.sqrt(1 / 10 + 1 / 9)
            worse = stats.t(9).cdf((-rope - gap.mean()) / spread) if spread else 0.0
            good.append(worse <= 1 - probability)
        rule = simplest_equivalent(
            "score", rope=rope, complexity="C", probability=probability, n_repeats=1
        )
        assert rule(table(scores, params=PARAMS)) == np.flatnonzero(good)[0]


def test_a_loss_of_exactly_the_rope_is_none():
    rule = simplest_equivalent("score", rope=0.01, complexity="C")
    for offset in np.linspace(0, 0.1, 30):  # whatever the last digits are
        best = SPREAD + offset
        assert rule(table([best - 0.01, best], params=PARAMS[:2])) == 0
        assert rule(table([best - 0.01001, best], params=PARAMS[:2])) == 1
        moved = best - 0.01 + 0.001 * np.array([1, -1] * 5)  # with a variance
        assert rule(table([moved, best], params=PARAMS[:2])) == 0


REPEATED = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)


def doubtful():
    """Ten scores whose reading decides: 1 x 10 and 2 x 5 folds differ in P(worse)."""
    gap = np.array([0.02, -0.01, 0.03, 0.0, 0.02, 0.01, -0.02, 0.03, 0.01, 0.02])
    return table(np.stack([SPREAD, SPREAD + gap]), params=PARAMS[:2])


def test_repetitions_that_matter_are_asked_for():
    results, gap = doubtful(), 0.011
    values = np.array([0.02, -0.01, 0.03, 0.0, 0.02, 0.01, -0.02, 0.03, 0.01, 0.02])
    worse = {
        folds: stats.t(9).sf(-gap / (values.std(ddof=1) * np.sqrt(1 / 10 + 1 / (folds - 1))))
        for folds in (10, 5, 2)
    }
    assert worse[10] > worse[5] > worse[2]
    between = 1 - (worse[10] + worse[5]) / 2
    options = {"rope": 0.0, "complexity": "C", "probability": between}
    with pytest.warns(UserWarning, match=r"as 2 x 5, .* by n_repeats=2 or by cv="):
        assert simplest_equivalent("score", **options)(results) == 1
    assert simplest_equivalent("score", n_repeats=1, **options)(results) == 1
    for told in ({"n_repeats": 2}, {"cv": REPEATED}, {"cv": list(REPEATED.split(X, Y))}):
        assert simplest_equivalent("score", **told, **options)(results) == 0
    assert simplest_equivalent("score", cv=10, **options)(results) == 1
    assert simplest_equivalent("score", test_train_ratio=0.25, **options)(results) == 0
    # The default asks for the mean, which does not depend on it: no warning (they are errors).
    assert simplest_equivalent("score", rope=0.0, complexity="C")(results) == 1


def test_a_rule_knows_the_repetitions_of_a_search():
    grid = {"max_depth": [1, 2, 4, 8]}
    for make in (best_lower_bound, most_probable_best):
        rule = make("score", cv=REPEATED)
        search = GridSearchCV(TREE, grid, cv=REPEATED, refit=rule, scoring="f1").fit(X, Y)
        assert search.best_index_ == make("score", n_repeats=2)(search.cv_results_)
        assert clone(search).refit.cv.n_repeats == 2
        assert pickle.loads(pickle.dumps(rule)).cv.n_repeats == 2


def test_splits_that_cannot_be_added_up_are_known_to_a_rule():
    cv = ShuffleSplit(6, test_size=0.25, random_state=0)
    rule = best_lower_bound("f1", cv=cv)
    search = counting_search(cv=cv, refit=rule)
    assert search.best_index_ == np.argmax(search_posterior(search, metric="f1").low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": REPEATED, "n_repeats": 2}, "cv or n_repeats, not both"),
        ({"cv": iter([1])}, "an iterator can be used once only"),
        ({"cv": "10"}, "a number of folds, a splitter or a list"),
        ({"probability": 1.0}, "probability must"),
        ({"probability": 95}, "probability must"),
    ],
)
def test_options_of_rules_that_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        simplest_equivalent("score", rope=0.01, complexity="C", **options)


def test_a_splitter_that_does_not_fit():
    with pytest.raises(ValueError, match="cv makes 5 splits, but the results have 10"):
        best_lower_bound("score", cv=5)(doubtful())
    with pytest.raises(ValueError, match="this search knows its own"):
        search_posterior(counting_search(), cv=5)


@pytest.mark.parametrize("rule", [
    best_lower_bound("fpr"), simplest_equivalent("fpr", rope=0.99, complexity="C"),
])  # fmt: skip
def test_rules_if_less_is_better(rule):
    counts = np.array([[[[90, 10], [10, 90]]] * 4, [[[60, 40], [10, 90]]] * 4])
    assert rule(count_table(counts, params=[{"C": 1}, {"C": 1}])) == 0


@pytest.mark.parametrize(
    "rule",
    [
        simplest_equivalent("score", rope=0.02, complexity="max_depth"),
        best_lower_bound("score", 0.9),
        most_probable_best("score"),
    ],
)
@pytest.mark.parametrize("counts", [False, True])
def test_rules_in_a_search(rule, counts):
    options = {"scoring": "f1", "refit": rule}
    if counts:
        options["scoring"] = ConfusionCountsScorer(metrics=["f1"])
        options["refit"] = replace(rule, metric="f1")
    search = clone(GridSearchCV(TREE, GRID, cv=5, n_jobs=2, **options))
    search = pickle.loads(pickle.dumps(search)).fit(X, Y)
    assert search.best_index_ == options["refit"](search.cv_results_)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert search.predict(X[:5]).shape == (5,)
    found = search_posterior(
        search, metric=options["refit"].metric, rope=rule.rope, level=rule.level, random_state=0
    )
    assert found.selected_index == search.best_index_
    name = type(rule).__name__
    if name == "BestLowerBound":
        assert search.best_index_ == np.argmax(found.low)
    elif name == "MostProbableBest":
        assert search.best_index_ == np.argmax(found.p_best)
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert repr(rule).startswith(f"{name}(metric='score'")


def test_rule_for_the_score_of_the_counts_scorer():
    search = counting_search(refit=best_lower_bound("score"))
    assert search.best_index_ == best_lower_bound("f1")(search.cv_results_)


def test_sizes_that_do_not_tell_the_ratio():
    cv = ShuffleSplit(4, test_size=0.2, train_size=160, random_state=0)
    search = GridSearchCV(TREE, GRID, cv=cv).fit(X, Y)
    with pytest.raises(ValueError, match="give test_train_ratio="):
        search_posterior(search)
    assert search_posterior(search, test_train_ratio=0.25, random_state=0).test_train_ratio == 0.25


def test_rope_in_the_wrong_units():
    with pytest.raises(ValueError, match=r"at most 1, got 5. Did you mean 0.05"):
        search_posterior(table(STEPS), n_repeats=1, rope=5)


def test_rules_refuse():
    results = table(STEPS, params=[{"C": "low"}, {"C": "mid"}, {"C": "high"}])
    with pytest.raises(ValueError, match="a number for every candidate, got 'mid'"):
        simplest_equivalent("score", rope=0.01, complexity="C")(results)
    with pytest.raises(ValueError, match="a parameter that every candidate has, got 'gamma'"):
        simplest_equivalent("score", rope=0.01, complexity="gamma")(results)
    with pytest.raises(TypeError, match="name of a parameter or a function"):
        simplest_equivalent("score", rope=0.01, complexity=3)
    with pytest.raises(ValueError, match="rope must"):
        simplest_equivalent("score", rope=-1, complexity="C")
    with pytest.raises(ValueError, match="level"):
        best_lower_bound("score", 95)
    with pytest.raises(ValueError, match="one of the scores"):
        most_probable_best("f1")(table(STEPS, "auc"))


# --------------------------------------------------------------------------------------------------
# selection_corrected_score


def test_bbc_removes_the_optimism_of_choosing(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    found = []
    for seed in range(30):
        y, *coins = rng.integers(0, 2, (16, 100))
        result = selection_corrected_score(y, coins, n_resamples=100, random_state=seed)
        naive = max(accuracy_score(y, coin) for coin in coins)
        assert result.naive == pytest.approx(naive)
        found.append((result.score, result.naive))
    score, naive = np.array(found).T
    assert naive.mean() > 0.56
    # Standard error over the simulated data sets
    assert abs(score.mean() - 0.5) < 3 * score.std(ddof=1) / np.sqrt(30)


@pytest.mark.parametrize("metric", ["accuracy", "error_rate", "f1"])
def test_bbc_by_hand(metric):
    y = np.array([0, 1, 1, 0, 1, 0, 1, 1])
    predictions = np.array([[0, 1, 1, 0, 0, 1, 1, 0], [0, 1, 0, 0, 1, 0, 0, 1], [1] * 8])
    names = np.array(["no", "yes"])

    def value(k, rows):
        if metric == "f1":
            return f1_score(y[rows], predictions[k][rows], zero_division=0.0)
        right = accuracy_score(y[rows], predictions[k][rows])
        return right if metric == "accuracy" else right - 1  # more is better

    rng = np.random.default_rng(5)
    outside = []
    for _ in range(50):
        rows = rng.integers(8, size=8)
        left = np.setdiff1d(np.arange(8), rows)
        if left.size:
            best = np.argmax([value(k, rows) for k in range(3)])
            outside.append(value(best, left))
    sign = -1 if metric == "error_rate" else 1
    named = names[y], list(names[predictions]), "yes"
    for truth, given, positive in ((y, predictions, None), named):
        options = {"pos_label": positive, "n_resamples": 50, "random_state": 5, "level": 0.8}
        result = selection_corrected_score(truth, given, metric=metric, **options)
        assert result.score == pytest.approx(sign * np.mean(outside))
        expected = np.quantile(sign * np.array(outside), [0.1, 0.9])
        np.testing.assert_allclose(result.interval(), expected)
        whole = [value(k, np.arange(8)) for k in range(3)]
        assert result.selected == np.argmax(whole)
        assert result.naive == pytest.approx(sign * max(whole))
        assert (result.metric, result.seed, result.n_resamples) == (metric, 5, 50)


def test_bbc_refuses():
    with pytest.raises(ValueError, match="at least two candidates, got 1"):
        selection_corrected_score([0, 1], [[0, 1]])
    with pytest.raises(ValueError, match="has no better or worse direction"):
        selection_corrected_score([0, 1], [[0, 1], [1, 1]], metric="prevalence")
    with pytest.raises(ValueError, match="n_resamples"):
        selection_corrected_score([0, 1], [[0, 1], [1, 1]], n_resamples=1)
