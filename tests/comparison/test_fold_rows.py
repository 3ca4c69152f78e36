"""Comparisons of predictions from folds: the ways to tell the folds, and what is refused."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare,
    compare_cv,
    compare_paired,
    cross_val_posterior,
)
from skuncertain.exceptions import InvalidParameterError

CV = StratifiedKFold(5, shuffle=True, random_state=3)
STUMP, BAYES = DecisionTreeClassifier(max_depth=1, random_state=0), GaussianNB()


def sample(n=120, seed=0):
    """Two classes, and features that tell them apart a little."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3 > 0).astype(int)
    return rng.normal(size=(n, 4)) + 0.8 * y[:, None], y


def validator(estimator, X, y, **options):
    options = {"cv": CV, "keep_predictions": True, "refit": False, **options}
    return BayesianCrossValidator(estimator, **options).fit(X, y)


@pytest.fixture(scope="module")
def data():
    X, y = sample()
    a, b = (cross_val_predict(model, X, y, cv=CV) for model in (STUMP, BAYES))
    return X, y, a, b


def numbers(result):
    return result.p_worse, result.p_better, *result.interval(), result.omega


# --------------------------------------------------------------------------------------------------
# Ways to tell the folds


def test_all_ways_to_tell_the_folds_agree(data):
    X, y, a, b = data
    splits = list(CV.split(X, y))
    fold = np.empty(len(y), dtype=int)
    for k, (_, test) in enumerate(splits):
        fold[test] = k
    masks = [np.isin(np.arange(len(y)), test) for _, test in splits]
    tests = [test for _, test in splits]
    names = np.array(["one", "two", "three", "four", "five"])[fold]
    ways = [CV, splits, tuple(splits), tests, [t.tolist() for t in tests], masks, fold]
    ways += [fold.tolist(), names, fold[:, None], PredefinedSplit(fold)]
    expected = numbers(compare_paired(y, a, b, folds=CV))
    for way in ways:
        assert numbers(compare_paired(y, a, b, folds=way)) == pytest.approx(expected, abs=1e-12)
    assert expected[-1] < 1


def test_a_number_of_folds_is_that_of_cross_val_predict(data):
    X, y, *_ = data
    a, b = (cross_val_predict(model, X, y, cv=4) for model in (STUMP, BAYES))
    same = compare_paired(y, a, b, folds=StratifiedKFold(4))
    assert numbers(compare_paired(y, a, b, folds=4)) == numbers(same)
    assert same.n_folds == 4


def test_one_row_per_fold(data):
    _X, y, a, b = data
    result = compare_paired(y, a, b, folds=LeaveOneOut())
    assert result.n_folds == len(y)
    assert 0 < result.omega < 1


def test_repetitions(data):
    X, y, *_ = data
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    models = [validator(model, X, y, cv=cv, stability=False) for model in (STUMP, BAYES)]
    result = compare_paired(y, *models)
    assert (result.n_folds, result.n_repeats, result.n) == (4, 3, len(y))
    # The same by hand: a column per repetition
    tests = models[0].cv_results_["indices"]["test"]
    columns = [np.empty((len(y), 3), dtype=int) for _ in models]
    fold = np.empty((len(y), 3), dtype=int)
    for k, test in enumerate(tests):
        fold[test, k // 4] = k % 4
        for column, model in zip(columns, models, strict=True):
            column[test, k // 4] = model.predictions_[k]
    for folds in (fold, tests, cv):
        again = compare_paired(y, *columns, folds=folds)
        assert numbers(again) == pytest.approx(numbers(result), abs=1e-12)
    with pytest.raises(InvalidParameterError, match=r"pred_a must hold .* 3 repetitions"):
        compare_paired(y, columns[0][:, 0], columns[1], folds=cv)


def test_repetitions_count_as_one_set_of_rows(data):
    # Three times the same predictions in the same folds say no more than once.
    _, y, a, b = data
    once = compare_paired(y, a, b, folds=CV, estimand="fitted")
    thrice = compare_paired(
        y, *(np.column_stack([p] * 3) for p in (a, b)), folds=list(CV.split(y, y)) * 3,
        estimand="fitted",
    )  # fmt: skip
    assert thrice.difference.mean() == pytest.approx(once.difference.mean(), rel=0.05)
    assert thrice.n == once.n
    assert once.omega < thrice.omega < 1  # repetitions would even out the luck of a split


def test_strings_and_other_labels(data):
    _X, y, a, b = data
    expected = numbers(compare_paired(y, a, b, folds=CV, metric="recall"))
    names = np.array(["well", "ill"])
    texts = [names[part] for part in (y, a, b)]
    found = compare_paired(*texts, folds=CV, metric="recall", pos_label="ill")
    assert numbers(found) == pytest.approx(expected, abs=1e-12)
    assert found.difference.about.pos_label == "ill"
    signs = [2 * part - 1 for part in (y, a, b)]
    assert numbers(compare_paired(*signs, folds=CV, metric="recall")) == pytest.approx(expected)
    pd = pytest.importorskip("pandas")
    columns = [pd.Series(part, index=np.arange(len(y))[::-1]) for part in (y, a, b)]
    assert numbers(compare_paired(*columns, folds=CV, metric="recall")) == pytest.approx(expected)


# --------------------------------------------------------------------------------------------------
# Cross-validators


def test_cross_validators_know_their_folds(data):
    X, y, a, b = data
    models = [validator(model, X, y, stability=False) for model in (STUMP, BAYES)]
    expected = numbers(compare_paired(y, a, b, folds=CV))
    for result in (
        compare_paired(y, *models),
        compare(*models, metric="accuracy"),
        compare(*models),
    ):
        assert numbers(result) == pytest.approx(expected, abs=1e-12)
        assert (result.n_folds, result.estimand, result.n) == (5, "algorithm", len(y))
    # One of them, and predictions of the other
    mixed = compare_paired(y, models[0], b)
    assert numbers(mixed) == pytest.approx(expected, abs=1e-12)


def test_models_of_cross_validators_matter(data):
    X, y, *_ = data
    models = [validator(model, X, y) for model in (STUMP, BAYES)]
    found = {e: compare(*models, estimand=e).omega for e in ("fitted", "algorithm", "final")}
    assert found["fitted"] >= found["algorithm"] > 0
    assert found["fitted"] > found["final"] > 0
    assert compare(*models).difference.diagnostics.movement > 2  # the stump
    alone = [validator(model, X, y, stability=False) for model in (STUMP, BAYES)]
    assert compare(*alone).difference.diagnostics.movement is None


def test_results_carry_folds_omega_and_estimand(data):
    X, y, *_ = data
    models = [validator(model, X, y) for model in (STUMP, BAYES)]
    result = compare(
        *models, metric="f1", estimand="fitted", names=("stump", "bayes"), random_state=0
    )
    about = result.difference.about
    assert (about.n_folds, about.n_repeats, about.estimand) == (5, 1, "fitted")
    assert about.diagnostics.omega == result.omega
    assert f"5 folds, omega={result.omega:.2f}, estimand='fitted'" in repr(result)
    plain = result.to_dict()
    assert (plain["n_folds"], plain["omega"], plain["estimand"]) == (5, result.omega, "fitted")
    text = " ".join(str(result.report()).split())
    assert f"{result.omega:.3f}, estimated from the folds and their models" in text
    assert "the models of bayes and stump that were fitted in these folds" in text
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == plain
    alone = compare_paired(y, *[np.concatenate(m.predictions_) for m in models], folds=CV)
    assert "estimated from the folds (Wang" in str(alone.report())
    final = compare(*models, estimand="final")
    assert "models of B and A that are fitted on all rows" in " ".join(str(final.report()).split())
    with pytest.raises(AttributeError, match=r"can't set|cannot assign|no setter"):
        result.omega = 1.0


def test_folds_that_failed_are_left_out_of_both(data):
    X, y, *_ = data

    class Moody(GaussianNB):
        def fit(self, X, y, **more):
            if abs(X[:, 0].sum() - bad) < 1e-9:
                raise ValueError("not today")
            return super().fit(X, y, **more)

    bad = X[next(CV.split(X, y))[0], 0].sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fold failed
        first = validator(Moody(), X, y, error_score=np.nan)
    second = validator(STUMP, X, y)
    result = compare(first, second)
    kept = np.concatenate([test for _, test in list(CV.split(X, y))[1:]])
    assert result.n == len(kept)
    assert result.n_folds == 4
    parts = [np.concatenate(model.predictions_[1:]) for model in (first, second)]
    fold = np.repeat(np.arange(4), [len(part) for part in first.predictions_[1:]])
    alone = compare_paired(y[kept], *parts, folds=fold)
    assert alone.difference.diagnostics.pooled == pytest.approx(
        result.difference.diagnostics.pooled
    )
    assert result.difference.diagnostics.movement is not None


def test_rows_that_are_never_tested(data):
    X, y, *_ = data
    fold = np.arange(len(y)) % 5 - 1
    models = [validator(model, X, y, cv=PredefinedSplit(fold)) for model in (STUMP, BAYES)]
    result = compare(*models)
    assert result.n == (fold >= 0).sum()
    assert result.n_folds == 4
    with pytest.raises(InvalidParameterError, match="folds must not be negative"):
        compare_paired(y, y, y, folds=fold)


# --------------------------------------------------------------------------------------------------
# Refusals


def test_different_splits_labels_and_targets_are_refused(data):
    X, y, _a, _b = data
    first = validator(STUMP, X, y)
    other = validator(BAYES, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=4))
    with pytest.raises(InvalidParameterError, match=r"not tested on the same splits.*random_state"):
        compare(first, other)
    folds = list(CV.split(X, y))
    flipped = validator(BAYES, X, 1 - y, cv=folds)
    with pytest.raises(InvalidParameterError, match="fitted with different labels y"):
        compare(first, flipped)
    with pytest.raises(InvalidParameterError, match="y_true must be the labels that pred_a"):
        compare_paired(1 - y, first, validator(BAYES, X, y))
    three = validator(BAYES, X, y, labels=[0, 1, 2], pos_label=1)
    with pytest.raises(InvalidParameterError, match="know different classes"):
        compare(first, three)
    turned = validator(BAYES, X, y, pos_label=0)
    with pytest.raises(InvalidParameterError, match="positive class of a is 1, that of b 0"):
        compare(first, turned, metric="recall")
    assert compare(first, turned, metric="recall", pos_label=1).difference.about.pos_label == 1


def test_predictions_are_needed(data):
    X, y, _a, b = data
    with_rows = validator(STUMP, X, y)
    without = validator(BAYES, X, y, keep_predictions=False)
    posterior = cross_val_posterior(BAYES, X, y, cv=CV)
    for x in (without, posterior, without.result_):
        for call in (lambda x=x: compare(with_rows, x), lambda x=x: compare_paired(y, x, b)):
            with pytest.raises(InvalidParameterError, match=r"keep_predictions=True.*compare_cv"):
                call()
    with pytest.raises(ValueError, match="not fitted"):
        compare(with_rows, BayesianCrossValidator(BAYES))
    with pytest.raises(InvalidParameterError, match="two fitted BayesianCrossValidators"):
        compare(with_rows, ConfusionCounts([[40, 10], [12, 38]]))


def test_splits_that_cannot_be_paired(data):
    X, y, a, b = data
    shuffled = ShuffleSplit(4, random_state=0)
    models = [
        validator(model, X, y, cv=shuffled, method="nadeau_bengio") for model in (STUMP, BAYES)
    ]
    with pytest.raises(InvalidParameterError, match=r"as by ShuffleSplit.*compare_cv"):
        compare(*models)
    assert compare_cv(*models).n_folds == 4
    with pytest.raises(InvalidParameterError, match="every row must be tested equally often"):
        compare_paired(y, a, b, folds=shuffled)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (StratifiedKFold(5, shuffle=True), "splits differently every time.*random_state"),
        (GroupKFold(3), "cannot split these rows .*folds=\\[test for"),
        (1, "folds must be"),
        (10**6, "folds must be"),
        (np.zeros(7), "got an array of shape"),
        (np.zeros(120), "at least two folds"),
        ([np.arange(60), np.arange(50, 120)], "tested between 1 and 2 times"),
        ([np.arange(60), np.arange(60, 200)], "rows beyond the 120"),
        ([np.arange(60)], "tested between 0 and 1 times"),
        (np.where(np.arange(120) < 3, np.nan, 1.0), "negative or NaN"),
        ("five", "folds must be"),
    ],
    ids=str,
)
def test_folds_that_make_no_sense(folds, message, data):
    _, y, a, b = data
    with pytest.raises(InvalidParameterError, match=message) as caught:
        compare_paired(y, a, b, folds=folds)
    assert caught.value.parameter == "folds"


def test_arguments_that_do_not_belong(data):
    X, y, a, b = data
    models = [validator(model, X, y) for model in (STUMP, BAYES)]
    with pytest.raises(InvalidParameterError, match="folds are known to pred_a"):
        compare_paired(y, *models, folds=CV)
    with pytest.raises(InvalidParameterError, match="labels are known"):
        compare_paired(y, *models, labels=[0, 1])
    with pytest.raises(InvalidParameterError, match="estimand='fitted' is a question about folds"):
        compare_paired(y, a, b, estimand="fitted")
    with pytest.raises(InvalidParameterError, match="estimand must be"):
        compare(*models, estimand="model")
    counts = ConfusionCounts([[40, 10], [12, 38]])
    with pytest.raises(InvalidParameterError, match="estimand is for cross-validators"):
        compare(counts, counts, metric="accuracy", estimand="fitted")
    with pytest.raises(InvalidParameterError, match="prior"):
        compare(*models, prior=[[1, 1], [1, 1]])
    assert compare_paired(y, a, b, estimand="final").estimand == "final"


def test_kept_labels_survive_and_go(data):
    X, y, *_ = data
    first = validator(LogisticRegression(), X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).y_true_, y)
    assert not hasattr(first.set_params(keep_predictions=False).fit(X, y), "y_true_")


def test_unstratified_folds_of_different_sizes(data):
    _X, y, a, b = data
    result = compare_paired(y, a, b, folds=KFold(7, shuffle=True, random_state=0), metric="f1")
    assert result.n_folds == 7
    assert 0 < result.omega < 1
