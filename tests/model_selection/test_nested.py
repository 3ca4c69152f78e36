"""Nested cross-validation and conservative-z, against row-by-row loops and closed forms."""

import pickle

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skuncertain.exceptions import DegenerateIntervalWarning, InvalidParameterError
from skuncertain.metrics import get_metric, make_metric
from skuncertain.metrics._gradients import metric_influence
from skuncertain.model_selection import conservative_z_intervals, nested_cv_intervals
from skuncertain.model_selection._nested_designs import (
    conservative_z_estimate,
    nested_estimate,
)

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
X, Y = make_classification(103, 5, flip_y=0.2, random_state=1)
ACCURACY = get_metric("accuracy")


class Threshold(ClassifierMixin, BaseEstimator):
    """A rule that learns nothing: the sign of the first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


class Weighed(GaussianNB):
    """Remembers that it got weights, and how many it was fitted on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen.append((len(X), sample_weight is not None and len(sample_weight) == len(X)))
        return super().fit(X, y, sample_weight)


def _losses(model, train, test, X, y):
    return (clone(model).fit(X[train], y[train]).predict(X[test]) == y[test]).astype(float)


def nested_by_rows(model, X, y, n_folds, n_repeats, seed, level):
    """The published algorithm, row losses in lists; every pair of folds is fitted twice."""
    rng, n = np.random.default_rng(seed), len(y)
    squares, variances, inner_rows, outer_rows = [], [], [], []
    for _ in range(n_repeats):
        fold = rng.permutation(np.arange(n) % n_folds)
        for out in range(n_folds):
            tested = _losses(model, fold != out, fold == out, X, y)
            inner = [
                _losses(model, (fold != out) & (fold != j), fold == j, X, y)
                for j in range(n_folds)
                if j != out
            ]
            inner = np.concatenate(inner)
            squares.append((inner.mean() - tested.mean()) ** 2)
            variances.append(np.var(tested, ddof=1) / len(tested))
            inner_rows.append(inner)
            outer_rows.append(tested)
    inner, outer = np.concatenate(inner_rows), np.concatenate(outer_rows)
    mse = (n_folds - 1) / n_folds * np.mean(np.subtract(squares, variances))
    least = np.std(inner, ddof=1) / np.sqrt(n)
    error = max(least, min(np.sqrt(max(mse, 0)), np.sqrt(n_folds) * least))
    bias = (1 + (n_folds - 2) / n_folds) * (inner.mean() - outer.mean())
    z = norm.ppf((1 + level) / 2)
    middle = inner.mean() - bias
    return middle, error, (middle - z * error, middle + z * error)


def conservative_by_rows(model, X, y, n_splits, n_pairs, test_size, seed, score):
    """Nadeau and Bengio's estimate, one split after the other."""
    rng, n = np.random.default_rng(seed), len(y)
    n_test = n - round((1 - test_size) * n)

    def mean(rows):
        values = []
        for mixed in [rng.permutation(rows) for _ in range(n_splits)]:
            test, train = mixed[:n_test], mixed[n_test:]
            values.append(score(y[test], clone(model).fit(X[train], y[train]).predict(X[test])))
        return np.mean(values)

    middle, gaps = mean(np.arange(n)), []
    for _ in range(n_pairs):
        mixed, half = rng.permutation(n), n // 2
        gaps.append(mean(mixed[:half]) - mean(mixed[half : 2 * half]))
    return middle, np.sqrt(np.sum(np.square(gaps)) / (2 * n_pairs))


# --------------------------------------------------------------------------------------------------
# Against row-by-row loops


@pytest.mark.parametrize(("n_folds", "n_repeats"), [(5, 2), (3, 1), (10, 1)])
@pytest.mark.parametrize("model", [TREE, LogisticRegression()], ids=["tree", "logistic"])
def test_nested_accuracy_is_the_published_algorithm(model, n_folds, n_repeats, global_random_seed):
    seed = global_random_seed
    result = nested_cv_intervals(
        model, X, Y, n_folds=n_folds, n_repeats=n_repeats, level=0.9, random_state=seed
    )
    middle, error, ends = nested_by_rows(model, X, Y, n_folds, n_repeats, seed, 0.9)
    assert result.estimate("accuracy") == pytest.approx(middle, abs=1e-12)
    assert result.standard_error("accuracy") == pytest.approx(error, abs=1e-12)
    assert result.interval("accuracy") == pytest.approx(np.clip(ends, 0, 1), abs=1e-12)
    assert result.n_fits == len(result.counts) == n_repeats * n_folds * (n_folds + 1) / 2


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_conservative_z_is_the_published_estimate(metric, global_random_seed):
    score = {"accuracy": accuracy_score, "f1": f1_score, "mcc": matthews_corrcoef}[metric]
    seed = global_random_seed
    result = conservative_z_intervals(
        TREE, X, Y, n_splits=3, n_pairs=4, test_size=0.2, random_state=seed
    )
    middle, error = conservative_by_rows(TREE, X, Y, 3, 4, 0.2, seed, score)
    assert result.estimate(metric) == pytest.approx(middle, abs=1e-12)
    assert result.standard_error(metric) == pytest.approx(error, abs=1e-12)
    low, high = result.interval(metric, level=0.9)
    assert low == pytest.approx(max(middle - norm.ppf(0.95) * error, get_metric(metric).range[0]))
    assert high == pytest.approx(min(middle + norm.ppf(0.95) * error, 1))
    assert result.n_fits == len(result.counts) == 3 * 9


def test_no_rows_are_lost(global_random_seed):
    result = nested_cv_intervals(
        TREE, X, Y, n_folds=4, n_repeats=2, random_state=global_random_seed
    )
    # Every row is tested once per repetition, and 3 times without a second fold.
    assert result.counts.counts.sum() == 2 * (1 + 3) * len(Y)
    assert (result.counts.counts.sum(axis=(0, 1, 3)) == 8 * np.bincount(Y)).all()


# --------------------------------------------------------------------------------------------------
# Other metrics: a row counts as its influence


@pytest.mark.parametrize(
    "metric", ["recall", "precision", "f1", "mcc", "balanced_accuracy", "error_rate", "jaccard"]
)
def test_influence_is_the_change_by_a_row(metric):
    metric = get_metric(metric)
    matrix = np.array([[40.0, 12.0], [7.0, 41.0]]) * 1e6
    n = matrix.sum()
    base = metric.evaluate(matrix, positive=1)
    change = [metric.evaluate(matrix + cell.reshape(2, 2), positive=1) for cell in np.eye(4)]
    expected = n * (np.array(change) - base).reshape(2, 2)
    found = metric_influence(matrix, metric, 1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_nested_recall_is_the_formula_of_its_influences():
    rng, k = np.random.default_rng(0), 4
    outer = rng.integers(3, 9, (2, k, 2, 2)).astype(float)
    inner = rng.integers(3, 9, (2, k, k, 2, 2)).astype(float)
    inner[:, np.arange(k), np.arange(k)] = 0
    pooled = outer.sum(axis=(0, 1)) / 2 + 0.5  # pseudo-counts, as in the folds
    recall, share = pooled[1, 1] / pooled[1].sum(), pooled[1].sum() / pooled.sum()
    value = np.array([[0, 0], [-recall / share, (1 - recall) / share]]).ravel()

    def rows(counts):
        return np.repeat(value, counts.reshape(-1, 4).sum(axis=0).astype(int))

    terms = [
        (rows(inner[r, i]).mean() - rows(outer[r, i]).mean()) ** 2
        - rows(outer[r, i]).var(ddof=1) / rows(outer[r, i]).size
        for r in range(2)
        for i in range(k)
    ]
    found = nested_estimate(outer, inner, get_metric("recall"), 1)
    assert found["mean_squared_error"] == pytest.approx(0.75 * np.mean(terms))
    least = rows(inner).std(ddof=1) / np.sqrt(outer[0].sum())
    assert found["independent_error"] == pytest.approx(least)
    inner_recall = inner[..., 1, 1].sum() / inner[..., 1, :].sum()
    plain = outer[..., 1, 1].sum() / outer[..., 1, :].sum()
    assert found["estimate"] == pytest.approx(inner_recall - 1.5 * (inner_recall - plain))


def test_error_rate_mirrors_accuracy():
    result = nested_cv_intervals(TREE, X, Y, n_repeats=1, random_state=3)
    low, high = result.interval("accuracy")
    assert result.interval("error_rate") == pytest.approx((1 - high, 1 - low))
    assert result.standard_error("error_rate") == pytest.approx(result.standard_error("accuracy"))


def test_standard_error_stays_between_independent_rows_and_copies_of_one_fold(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    outer = rng.multinomial(20, [0.4, 0.1, 0.2, 0.3], (200, 3, 5)).reshape(200, 3, 5, 2, 2)
    inner = rng.multinomial(20, [0.4, 0.1, 0.2, 0.3], (200, 3, 5, 5)).reshape(200, 3, 5, 5, 2, 2)
    for metric in ("accuracy", "f1", "mcc"):
        found = nested_estimate(outer, inner, get_metric(metric), 1)
        ratio = found["standard_error"] / found["independent_error"]
        assert ratio.shape == (200,)
        assert (ratio >= 1 - 1e-12).all()
        assert (ratio <= np.sqrt(5) + 1e-12).all()
        assert 1 < ratio.mean() < np.sqrt(5)  # neither end always


def test_stacks_are_problems_side_by_side():
    rng = np.random.default_rng(5)
    outer, inner = rng.integers(1, 9, (4, 2, 3, 2, 2)), rng.integers(1, 9, (4, 2, 3, 3, 2, 2))
    splits, halves = rng.integers(1, 9, (4, 6, 2, 2)), rng.integers(1, 9, (4, 5, 2, 6, 2, 2))
    metric = get_metric("f1")
    for estimate, parts in (
        (nested_estimate, (outer, inner)),
        (conservative_z_estimate, (splits, halves)),
    ):
        together = estimate(*parts, metric, 1)
        for k in range(4):
            alone = estimate(*(part[k] for part in parts), metric, 1)
            for name, value in alone.items():
                assert value == pytest.approx(together[name][k], rel=1e-12)


# --------------------------------------------------------------------------------------------------
# Closed forms: a rule that learns nothing has independent rows


def test_a_fixed_rule_gets_its_accuracy_on_all_rows(global_random_seed):
    right = np.mean(Threshold().fit(X, Y).predict(X) == Y)
    result = nested_cv_intervals(Threshold(), X, Y, n_repeats=3, random_state=global_random_seed)
    assert result.estimate("accuracy") == pytest.approx(right, abs=1e-12)


def test_expected_variances_of_a_fixed_rule(global_random_seed):
    # Nested: sigma^2 / n, without the limits. Conservative-z, of half h = n / 2 rows with J tests
    # of m rows: sigma^2 (1 / h + (1 / m - 1 / h) / J).
    rng = np.random.default_rng(global_random_seed)
    runs, n, p, k, j, m = 4000, 60, 0.7, 5, 3, 6
    right = rng.random((runs, n)) < p

    def counts(rows):
        hits, size = rows.sum(axis=-1), rows.shape[-1]
        return np.stack([hits, size - hits, 0 * hits, 0 * hits], -1).reshape(*hits.shape, 2, 2)

    folds = counts(right.reshape(runs, k, n // k))
    inner = np.broadcast_to(folds[:, None], (runs, k, k, 2, 2)) * (1 - np.eye(k))[..., None, None]
    found = nested_estimate(folds[:, None], inner[:, None], ACCURACY, 1)["mean_squared_error"]
    away = found - p * (1 - p) / n
    assert abs(away.mean()) < 4 * away.std() / np.sqrt(runs)

    order = rng.random((runs, 1, 2, j, n // 2)).argsort(axis=-1)[..., :m]
    halves = right.reshape(runs, 1, 2, 1, n // 2)
    tested = np.take_along_axis(np.broadcast_to(halves, (runs, 1, 2, j, n // 2)), order, -1)
    found = conservative_z_estimate(counts(tested[:, 0, 0]), counts(tested), ACCURACY, 1)
    variance = p * (1 - p) * (2 / n + (1 / m - 2 / n) / j)
    away = np.square(found["standard_error"]) - variance
    assert abs(away.mean()) < 4 * away.std() / np.sqrt(runs)


@pytest.mark.slow
def test_coverage_of_a_model_of_all_rows(global_random_seed):
    # Naive Bayes on two normal clouds, 60 rows; truth from 20,000. Nominal 95 %; 4 Monte Carlo
    # standard errors of 100 runs at 95 % are 9 points.
    rng = np.random.default_rng(global_random_seed)

    def draw(n):
        y = rng.integers(2, size=n)
        return rng.standard_normal((n, 3)) + 0.8 * y[:, None], y

    test, hits = draw(20_000), 0
    for run in range(100):
        X, y = draw(60)
        result = nested_cv_intervals(
            GaussianNB(), X, y, metrics=["accuracy"], n_repeats=1, random_state=run
        )
        hits += GaussianNB().fit(X, y).score(*test) in result.interval("accuracy")
    assert hits / 100 >= 0.86


# --------------------------------------------------------------------------------------------------
# As its siblings


FUNCTIONS = {
    "nested": lambda *a, **o: nested_cv_intervals(*a, n_repeats=1, n_folds=3, **o),
    "conservative": lambda *a, **o: conservative_z_intervals(*a, n_splits=2, n_pairs=2, **o),
}
both = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@both
def test_numbers_do_not_depend_on_workers(function):
    first = function(TREE, X, Y, random_state=0)
    for backend in ("threading", "loky"):
        with parallel_config(backend=backend):
            again = function(TREE, X, Y, random_state=0, n_jobs=2)
        assert first.intervals == again.intervals
    assert first.intervals != function(TREE, X, Y, random_state=1).intervals


@both
def test_results_travel(function):
    result = function(TREE, X, Y, random_state=0)
    copy = pickle.loads(pickle.dumps(result))
    assert copy.intervals == result.intervals
    assert copy.to_dict() == result.to_dict()
    plain = result.to_dict()
    assert plain["n_fits"] == result.n_fits
    assert plain["metrics"]["f1"]["low"] == result.interval("f1").low
    assert plain["design"]
    frame = result.to_frame()
    assert list(frame.index) == list(result.metrics)
    text = str(result.report(level=0.9))
    assert "90 %" in text
    assert result.question in text
    assert f"{result.n_fits} fits" in text
    with pytest.raises(AttributeError):
        result.level = 0.5


@both
def test_labels_and_classes(function):
    names = np.array(["no", "yes"])[Y]
    plain = function(TREE, X, Y, random_state=0)
    named = function(TREE, X, names, pos_label="yes", random_state=0)
    assert named.interval("f1") == plain.interval("f1")
    assert "pos_label='yes'" in repr(named)
    other = function(TREE, X, names, pos_label="no", random_state=0)
    assert other.interval("f1") != plain.interval("f1")
    assert other.interval("f1") == plain.interval("f1", pos_label=0)
    signed = function(TREE, X, 2 * Y - 1, random_state=0)
    assert signed.interval("recall") == plain.interval("recall")
    with pytest.raises(InvalidParameterError, match="pos_label"):
        function(TREE, X, names, metrics=["f1"])


@both
def test_more_classes(function):
    X, y = load_wine(return_X_y=True)
    result = function(GaussianNB(), X, y, random_state=0)
    assert list(result.metrics) == ["accuracy", "balanced_accuracy", "f1_macro", "mcc"]
    for low, high in result.intervals.values():
        assert 0.8 < low < high <= 1


@both
def test_fit_parameters_are_cut_to_the_training_rows(function):
    Weighed.seen.clear()
    result = function(Weighed(), X, Y, params={"sample_weight": np.ones(len(Y))}, random_state=0)
    assert len(Weighed.seen) == result.n_fits
    assert all(weighted for _, weighted in Weighed.seen)
    assert {size for size, _ in Weighed.seen} < set(range(20, 95))


@both
def test_metadata_routing(function):
    weights = {"sample_weight": np.linspace(0.1, 1, len(Y))}
    before = function(GaussianNB(), X, Y, params=weights, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = GaussianNB().set_fit_request(sample_weight=True)
        routed = function(asking, X, Y, params=weights, random_state=0)
        with pytest.raises(ValueError, match="sample_weight"):
            function(GaussianNB(), X, Y, params=weights, random_state=0)
    assert routed.intervals == before.intervals
    assert routed.intervals != function(GaussianNB(), X, Y, random_state=0).intervals


@both
def test_a_perfect_classifier_has_no_width_and_that_is_said(function):
    X = np.linspace(-1, 1, 40)[:, None]
    y = (X[:, 0] > 0).astype(int)
    result = function(Threshold(), X, y, metrics=["accuracy"], random_state=0)
    with pytest.warns(DegenerateIntervalWarning, match="no width"):
        assert result.interval("accuracy") == (1, 1)


def test_tests_without_a_positive_are_left_out():
    y = np.zeros(len(Y), dtype=int)
    y[:14] = 1
    result = conservative_z_intervals(TREE, X, y, metrics=["recall"], random_state=0)
    with pytest.warns(UndefinedMetricWarning, match=r"recall is undefined \(0/0\) in \d+ of 105"):
        low, high = result.interval("recall")
    assert 0 <= low <= high <= 1


def test_a_class_of_one_row_is_told_before_the_fits():
    y = np.zeros(len(Y), dtype=int)
    y[0] = 1
    with pytest.warns(UserWarning, match=r"trains on none: .* cross_val_posterior has stratified"):
        nested_cv_intervals(TREE, X, y, n_repeats=1, random_state=0)


def test_metrics_of_users():
    def overcall(matrix):
        return (matrix[..., 0, 1] - matrix[..., 1, 0]) / matrix.sum(axis=(-2, -1))

    metric = make_metric(overcall, range=(-1, 1), greater_is_better=None)
    result = nested_cv_intervals(TREE, X, Y, n_repeats=1, metrics=[metric], random_state=0)
    folds = result.counts.counts[[0, 1, 3, 6, 10]].sum(axis=(0, 1))  # single folds, then pairs
    low, high = result.interval(metric)
    assert low < high
    bias_free = nested_cv_intervals(
        TREE, X, Y, n_repeats=1, metrics=[metric], bias_correction=False, random_state=0
    )
    assert bias_free.estimate(metric) == pytest.approx((folds[0, 1] - folds[1, 0]) / folds.sum())


@pytest.mark.parametrize(
    ("function", "options", "parameter"),
    [
        (nested_cv_intervals, {"n_folds": 2}, "n_folds"),
        (nested_cv_intervals, {"n_folds": 60}, "n_folds"),
        (nested_cv_intervals, {"n_repeats": 0}, "n_repeats"),
        (nested_cv_intervals, {"bias_correction": "yes"}, "bias_correction"),
        (nested_cv_intervals, {"metrics": ["lr+"]}, "metrics"),
        (nested_cv_intervals, {"level": 95}, "level"),
        (conservative_z_intervals, {"n_splits": 0}, "n_splits"),
        (conservative_z_intervals, {"n_pairs": 0}, "n_pairs"),
        (conservative_z_intervals, {"test_size": 0.5}, "test_size"),
        (conservative_z_intervals, {"test_size": 0.001}, "test_size"),
        (conservative_z_intervals, {"test_size": 0.499}, "test_size"),
        (conservative_z_intervals, {"metrics": ["dor"]}, "metrics"),
        (conservative_z_intervals, {"random_state": "x"}, "random_state"),
    ],
)
def test_errors_come_before_the_fits(function, options, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        function(None, X, Y, **options)  # nothing that could be fitted
    assert caught.value.parameter == parameter


@both
def test_later_questions_are_checked_as_well(function):
    result = function(TREE, X, Y, random_state=0)
    with pytest.raises(InvalidParameterError, match="finite range"):
        result.interval("diagnostic_odds_ratio")
    with pytest.raises(InvalidParameterError, match="level"):
        result.interval("f1", level=1)
    with pytest.raises(InvalidParameterError, match="classifier"):
        function(LinearRegression(), X, Y)
    with pytest.raises(InvalidParameterError, match="at most 100 classes"):
        function(TREE, np.zeros((202, 1)), np.arange(202) % 101)


def test_nested_intervals_of_real_data_hold_the_cross_validated_value():
    X, y = load_breast_cancer(return_X_y=True)
    result = nested_cv_intervals(TREE, X, y, n_repeats=1, random_state=0)
    for name, (low, high) in result.intervals.items():
        assert low < result.to_dict()["metrics"][name]["cross_validation"] < high
