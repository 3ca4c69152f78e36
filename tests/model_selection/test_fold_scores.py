"""Metrics of scores and probabilities over folds: the rule, and every door to it."""

import itertools
import pickle
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from scipy.special import logit, ndtri, stdtrit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCountsScorer,
    compare,
    compare_cv,
    cross_val_posterior,
    search_posterior,
    simplest_equivalent,
)
from skuncertain.exceptions import (
    DegenerateIntervalWarning,
    FoldDisagreementWarning,
    InvalidParameterError,
    SmallSampleWarning,
)
from skuncertain.metrics import get_metric, make_metric
from skuncertain.model_selection import CrossValPosterior, fold_interval, fold_posterior
from skuncertain.model_selection._fold_methods import FoldOptions
from skuncertain.model_selection._fold_score_posterior import (
    FoldMoments,
    ScoredFolds,
    posterior_of_folds,
)

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
X3, Y3 = make_classification(
    240, 6, n_informative=4, n_classes=3, class_sep=0.7, flip_y=0.1, random_state=2
)
GROUPS = np.arange(240) // 8
MODEL, NB = LogisticRegression(), GaussianNB()
CV = StratifiedKFold(5, shuffle=True, random_state=0)
NAMES = ["f1", "roc_auc", "neg_log_loss", "average_precision", "neg_brier_score", "top_k_accuracy"]
pytestmark = pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.FoldDisagreementWarning",
)


def moments_of_rows(folds):
    """Moments of the mean of every fold, from its rows."""
    parts = []
    for rows in folds:
        n, mean = rows.size, rows.mean()
        parts.append((mean, rows.var(ddof=1) / n, np.mean((rows - mean) ** 3) / n**2, n))
    return FoldMoments(*np.array(parts, dtype=float).T)


def scored(metric, folds, n_repeats=1, **known):
    """Folds of a mean of rows."""
    counts = np.array([[rows.size // 2, rows.size - rows.size // 2] for rows in folds])
    return ScoredFolds(get_metric(metric), moments_of_rows(folds), counts, None, n_repeats, **known)


# --------------------------------------------------------------------------------------------------
# The rule


def test_moments_of_unequal_folds_are_those_of_all_rows():
    """Value, variance and third cumulant of a mean, from those of its parts."""
    rng = np.random.default_rng(0)
    rows = rng.gamma(0.7, size=200)
    folds = np.split(rows, [10, 60, 65, 150])
    value, variance, third = scored("log_loss", folds)._estimate
    assert value == pytest.approx(rows.mean(), rel=1e-12)
    assert variance == pytest.approx(rows.var(ddof=1) / 200, rel=1e-12)
    assert third == pytest.approx(np.mean((rows - rows.mean()) ** 3) / 200**2, rel=1e-12)


def test_variance_between_folds_of_a_mean():
    rng = np.random.default_rng(1)
    folds = np.split(rng.exponential(size=120), [20, 50, 80])
    rows = np.concatenate(folds)
    influence = np.array([(part - rows.mean()).sum() for part in folds]) / rows.size
    found = scored("log_loss", folds).variance
    assert found.between == pytest.approx(4 / 3 * np.sum(influence**2), rel=1e-12)
    assert found.binomial == pytest.approx(rows.var(ddof=1) / rows.size, rel=1e-12)


@pytest.mark.parametrize("omega", [0.3, 0.8, 1.0])
def test_zeros_and_ones_are_the_pooled_beta(omega):
    """Rows of 0 and 1: mean, variance and skewness are those of Beta(w A, w B), prior 0.

    The variance of the rows over omega is that of the Beta with w N + 1 = omega (N - 1).
    """
    rng = np.random.default_rng(2)
    folds = np.split((rng.random(500) < 0.8).astype(float), 5)
    hits = np.array([part.sum() for part in folds])
    found = posterior_of_folds(scored("brier_score", folds), FoldOptions(omega=omega))
    weight = (omega * 499 - 1) / 500
    matrices = np.array([[[0, 0], [100 - hit, hit]] for hit in hits])
    beta = fold_posterior(matrices, "recall", omega=weight, prior=0.0)
    assert found.mean() == pytest.approx(beta.mean(), rel=1e-12)
    assert found.std() == pytest.approx(beta.std(), rel=1e-12)
    assert found.skewness() == pytest.approx(beta.skewness(), rel=1e-10)
    assert found.diagnostics.omega == pytest.approx(omega, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.8, 2.0], ids=["skewed", "light"])
def test_gamma_weighted_rows(shape):
    """Three moments, and quantiles within .05 standard deviations, of 1e6 Gamma-weighted means."""
    rng = np.random.default_rng(3)
    rows = rng.gamma(shape, size=120)
    loss = make_metric(row_loss=np.subtract, range=(0, 100), greater_is_better=False)
    found = posterior_of_folds(scored(loss, np.split(rows, 4)), FoldOptions(omega=0.6))
    total = rows.var() / found.std() ** 2 - 1  # all weights together
    draws = []
    for _ in range(20):
        weights = rng.standard_gamma(total / 120, (50_000, 120))
        draws.append(weights @ rows / weights.sum(axis=1))
    draws = np.concatenate(draws)
    sd, away = found.std(), draws - found.mean()
    assert abs(away.mean()) < 4 * sd / 1e3
    assert away.var() == pytest.approx(sd**2, rel=0.01)
    assert np.mean((away / sd) ** 3) == pytest.approx(found.skewness(), abs=0.03)
    levels = np.array([0.025, 0.975])
    drawn, normal = np.quantile(draws, levels), found.mean() + sd * ndtri(levels)
    error = np.abs(found.quantile(levels) - drawn) / sd
    assert error.max() < 0.05
    assert np.all(error < np.abs(normal - drawn) / sd)


def test_repetitions_count_rows_once():
    rng = np.random.default_rng(4)
    folds = np.split(rng.exponential(size=100), 5)
    once, twice = scored("log_loss", folds), scored("log_loss", folds * 2, 2)
    assert twice.n_folds == 5
    assert twice.n == 100
    assert twice.variance.binomial == pytest.approx(once.variance.binomial, rel=1e-12)
    assert twice.variance.between == pytest.approx(once.variance.between, rel=1e-12)


def ranked(values, variances, counts, metric="roc_auc", positive=1):
    """Folds of a ranking."""
    values = np.asarray(values, dtype=float)
    n = np.sum(counts, axis=1).astype(float)
    moments = FoldMoments(values, np.asarray(variances, dtype=float), np.zeros(values.size), n)
    return ScoredFolds(get_metric(metric), moments, np.asarray(counts), positive)


def test_a_ranking_is_the_mean_of_folds_on_the_logit_scale():
    values, variances = np.array([0.8, 0.85, 0.9, 0.75]), np.array([2.0, 3.0, 2.5, 4.0]) / 1000
    folds = ranked(values, variances, [[40, 10]] * 4)
    options = FoldOptions(omega=0.5)
    rows = variances.sum() / 16
    assert folds.variance.binomial == pytest.approx(rows, rel=1e-12)
    assert folds.variance.between == pytest.approx(values.var(ddof=1) / 4, rel=1e-12)
    mean, reach = values.mean(), stdtrit(39, 0.975)  # 40 positives
    scale = np.sqrt(rows / 0.5) / (mean * (1 - mean))
    ends = logit(posterior_of_folds(folds, options).interval())
    np.testing.assert_allclose(ends, logit(mean) + reach * scale * np.array([-1, 1]), rtol=1e-9)


def test_perfect_rankings_prove_as_much_as_their_rows():
    folds = ranked(np.ones(5), np.zeros(5), [[30, 4]] * 5)
    low, high = posterior_of_folds(folds, FoldOptions()).interval()
    single = ranked([1.0], [0.0], [[150, 20]])
    assert high == 1.0
    assert low == pytest.approx(posterior_of_folds(single, FoldOptions()).interval().low)
    assert 0.8 < low < 0.95


def test_folds_with_one_positive_vary_as_folds_do():
    """The placement of a single positive shows no spread in its fold."""
    values = np.array([1.0, 0.4, 0.9, 0.7, 0.95])
    folds = ranked(values, np.full(5, 1e-4), [[30, 1]] * 5)
    assert folds.variance.binomial == pytest.approx(values.var(ddof=1) / 5, rel=1e-12)


def test_few_positives_in_folds_raise_the_average_precision():
    """Every order of 3 positives among 10 rows is as likely; the mean is far above 3 / 10."""
    orders = [np.isin(np.arange(10), some) for some in itertools.combinations(range(10), 3)]
    rank = -np.arange(10)
    mean = np.mean([sklearn.metrics.average_precision_score(order, rank) for order in orders])
    assert mean == pytest.approx(0.45, abs=0.001)
    folds = ranked([0.6, 0.7, 0.5], [0.02] * 3, [[7, 3]] * 3, "average_precision")
    with pytest.warns(SmallSampleWarning, match=r"3 positive rows each is about 0\.1 too high"):
        found = posterior_of_folds(folds, FoldOptions())
    # P (1 - P) H(3) / 3, seven tenths of it: the interval is moved, the value is not.
    optimism = 0.7 * np.mean([p * (1 - p) for p in (0.6, 0.7, 0.5)]) * (1 + 1 / 2 + 1 / 3) / 3
    assert folds.optimism == pytest.approx(optimism, rel=1e-12)
    assert found.observed == pytest.approx(0.6)
    assert found.median() == pytest.approx(0.6 - optimism, rel=1e-12)
    enough = ranked([0.6, 0.7, 0.5], [0.02] * 3, [[70, 30]] * 3, "average_precision")
    assert posterior_of_folds(enough, FoldOptions()).observed == pytest.approx(0.6)


def test_identical_losses_are_told():
    folds = scored("log_loss", [np.full(20, 0.5)] * 4)
    with pytest.warns(DegenerateIntervalWarning, match="same log_loss"):
        assert posterior_of_folds(folds, FoldOptions()).interval() == (0.5, 0.5)


@pytest.mark.parametrize("method", ["averaged", "average_exact", "dirichlet", "bootstrap"])
def test_methods_of_matrices_are_refused(method):
    folds = scored("log_loss", [np.arange(9.0)] * 3)
    with pytest.raises(InvalidParameterError, match="looks at confusion matrices"):
        posterior_of_folds(folds, FoldOptions(method))


# --------------------------------------------------------------------------------------------------
# Every scorer of scikit-learn

NOISY = make_classification(240, 6, flip_y=0.4, random_state=1)  # no fold is without error
PROBLEMS = {
    "0 and 1": NOISY,
    "-1 and 1": (NOISY[0], 2 * NOISY[1] - 1),
    "three classes": (X3, Y3),
}


def works(name, X, y):
    """Whether scikit-learn itself can score a classifier by it."""
    if refusal(name):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.isfinite(get_scorer(name)(MODEL.fit(X, y), X, y))
        except ValueError:
            return False


def refusal(name):
    """Why a scorer is none of a single-label classification, or None."""
    try:
        get_metric(name)
    except InvalidParameterError as error:
        return str(error)
    return None


def test_only_scorers_of_other_problems_are_refused():
    words = ("multilabel", "clusterings", "regression")
    refused = {name: text for name in get_scorer_names() if (text := refusal(name))}
    assert all(any(word in text for word in words) for text in refused.values())
    for name in ("f1_samples", "r2", "rand_score", "fowlkes_mallows_score"):
        with pytest.raises(InvalidParameterError, match="|".join(words)):
            BayesianCrossValidator(NB, metrics=[name]).fit(X, Y)
    # All that scikit-learn's own documentation lists under classification is there.
    assert not {"roc_auc_ovo_weighted", "neg_log_loss", "top_k_accuracy"} & refused.keys()


@pytest.mark.parametrize("model", [MODEL, NB], ids=["decision_function", "predict_proba"])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.filterwarnings("ignore")
def test_walk_over_all_scorers(problem, model):
    X, y = PROBLEMS[problem]
    names = [name for name in get_scorer_names() if works(name, X, y)]
    assert len(names) >= 20
    expected = cross_validate(model, X, y, cv=CV, scoring=names)
    bcv = BayesianCrossValidator(model, cv=CV, metrics=names, refit=False).fit(X, y)
    other = BayesianCrossValidator(
        clone(model).set_params(**({"C": 0.01} if model is MODEL else {"var_smoothing": 0.1})),
        cv=CV,
        metrics=names,
        refit=False,
    ).fit(X, y)
    scorer = ConfusionCountsScorer(metrics=names)
    grid = {"C": [0.01, 1.0]} if model is MODEL else {"var_smoothing": [1e-9, 0.1]}
    search = GridSearchCV(model, grid, scoring=scorer, cv=CV, refit=names[0]).fit(X, y)
    for name in names:
        values = expected[f"test_{name}"]
        np.testing.assert_allclose(bcv.result_.folds(name).values, values, rtol=1e-12, atol=1e-14)
        low, high = bcv.intervals_[name]
        assert low < bcv.posteriors_[name].observed < high or name == "top_k_accuracy"
        found = search_posterior(search, metric=name, random_state=0)
        np.testing.assert_allclose(found.scores[-1 if model is MODEL else 0], values, rtol=1e-12)
        assert found.method == "pooled"
        assert np.all(found.low < found.high)
        result = compare_cv(bcv, other, metric=name)
        assert result.metric == get_metric(name).name
        assert 0 <= result.p_better <= 1


# --------------------------------------------------------------------------------------------------
# BayesianCrossValidator


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.mark.filterwarnings("ignore:'k' .2. greater:UserWarning")
def test_values_intervals_and_methods(routing):
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=NAMES).fit(X, Y)
    # Before 1.7 routing needs params to be given.
    expected = cross_validate(MODEL, X, Y, cv=CV, scoring=NAMES, params={})
    for name in NAMES:
        np.testing.assert_allclose(bcv.cv_results_[f"test_{name}"], expected[f"test_{name}"])
    fold_means = bcv.posteriors_["roc_auc"].observed
    assert fold_means == pytest.approx(expected["test_roc_auc"].mean(), rel=1e-12)
    assert bcv.pos_label_ == 1
    sizes = {"n_train": bcv.result_.splits.n_train, "n_test": bcv.result_.splits.n_test}
    for name in ("roc_auc", "neg_log_loss"):
        values = expected[f"test_{name}"]
        for method, known in (("nadeau_bengio", sizes), ("corrected_t", {}), ("t", {})):
            found = bcv.interval(name, method)
            np.testing.assert_allclose(found, fold_interval(values, name, method=method, **known))
        about = bcv.posterior(name).about
        assert (about.method, about.n_folds, about.estimand) == ("pooled", 5, "fitted")
        narrow, wide = bcv.interval(name, omega=1.0), bcv.interval(name, omega=0.3)
        assert wide.width > narrow.width
        three = [bcv.interval(name, estimand=one).width for one in ("fitted", "algorithm", "final")]
        assert three[0] <= three[1] <= three[2]
    loss, minus = bcv.interval("log_loss"), bcv.interval("neg_log_loss")
    np.testing.assert_allclose(loss, (-minus.high, -minus.low), rtol=1e-12)


def test_point_of_unequal_folds_is_that_of_all_rows():
    splits = [(np.delete(np.arange(240), part), part) for part in np.split(np.arange(240), [30])]
    bcv = BayesianCrossValidator(MODEL, cv=splits, metrics=["log_loss"]).fit(X, Y)
    losses = np.empty(240)
    for train, test in splits:
        p = MODEL.fit(X[train], Y[train]).predict_proba(X[test])
        losses[test] = -np.log(p[np.arange(test.size), Y[test]])
    assert bcv.posteriors_["log_loss"].observed == pytest.approx(losses.mean(), rel=1e-12)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_clones_and_copies(backend):
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=NAMES)
    plain = clone(bcv).fit(X, Y)
    with joblib.parallel_config(backend=backend):
        bcv.set_params(n_jobs=2).fit(X, Y)
    again = pickle.loads(pickle.dumps(bcv))
    for name in NAMES:
        np.testing.assert_allclose(again.intervals_[name], plain.intervals_[name], rtol=1e-12)


def test_groups_and_repeats():
    grouped = cross_val_posterior(
        MODEL, X, Y, groups=GROUPS, cv=GroupKFold(6), metrics=["roc_auc", "log_loss"]
    )
    assert grouped.n_folds == 6
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    repeated = cross_val_posterior(MODEL, X, Y, cv=cv, metrics=["roc_auc", "log_loss"])
    assert repeated.posteriors["log_loss"].about.n_repeats == 4
    once = cross_val_posterior(MODEL, X, Y, cv=CV, metrics=["roc_auc", "log_loss"])
    for name in ("roc_auc", "log_loss"):  # repetitions tell more, but rows are not copied
        ratio = repeated.intervals[name].width / once.intervals[name].width
        assert 0.6 < ratio < 1.1


def test_splits_that_cannot_be_pooled_have_their_t():
    cv = ShuffleSplit(6, test_size=0.3, random_state=0)
    with pytest.raises(InvalidParameterError, match="nadeau_bengio"):
        BayesianCrossValidator(MODEL, cv=cv, metrics=["roc_auc"]).fit(X, Y)
    bcv = BayesianCrossValidator(MODEL, cv=cv, metrics=["roc_auc"], method="nadeau_bengio")
    low, high = bcv.fit(X, Y).interval("roc_auc")
    assert 0 < low < high <= 1
    assert "roc_auc" in str(bcv.report())


class Fails(ClassifierMixin, BaseEstimator):
    """Fails in the fold whose first training row is not the first row."""

    def fit(self, X, y):
        if X[0, 0] != self.first:
            raise RuntimeError("no")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    first = X[0, 0]

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_failed_folds_are_left_out():
    bcv = BayesianCrossValidator(
        Fails(), cv=KFold(5), metrics=["f1", "roc_auc", "log_loss"], error_score=np.nan, refit=False
    )
    with pytest.warns(FitFailedWarning):
        bcv.fit(X, Y)
    assert bcv.result_.failed_folds == (0,)
    assert bcv.result_.folds("roc_auc").values.size == 4
    assert np.isnan(bcv.cv_results_["test_neg_log_loss__variance"][0])
    assert np.isfinite(bcv.intervals_["log_loss"]).all()


def test_a_fold_of_one_class_loses_that_metric_alone():
    order = np.argsort(Y, kind="stable")
    cv = [(np.delete(np.arange(240), rows), rows) for rows in np.split(np.arange(240), 8)]
    names = ["accuracy", "roc_auc", "log_loss"]
    with pytest.warns(UserWarning, match="'roc_auc' of a fold .* class"):
        bcv = BayesianCrossValidator(MODEL, cv=cv, metrics=names).fit(X[order], Y[order])
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined"):
        found = bcv.intervals_
    assert np.isfinite(list(found.values())).all()
    assert np.isfinite(bcv.result_.folds("log_loss").values).all()
    assert np.isnan(bcv.result_.folds("roc_auc").values).any()


@pytest.mark.filterwarnings("ignore")
def test_no_fold_has_the_metric():
    """Nothing else is lost."""
    cv = [(np.delete(np.arange(240), rows), rows) for rows in np.split(np.argsort(Y), 2)]
    y = np.zeros(240, dtype=int)
    y[np.argsort(Y)[120:]] = 1
    bcv = BayesianCrossValidator(DummyClassifier(), cv=cv, metrics=["accuracy", "roc_auc"])
    bcv.fit(X, y)
    assert np.isnan(bcv.intervals_["roc_auc"]).all()
    assert np.isfinite(bcv.intervals_["accuracy"]).all()
    assert "roc_auc" in str(bcv.report())


@pytest.mark.filterwarnings("ignore")
def test_no_fold_has_the_metric_by_t():
    """Nothing else is lost where folds cannot be pooled, either."""
    order = np.argsort(Y, kind="stable")
    rows = np.arange(240)
    cv = [(np.setdiff1d(rows, test), test) for test in (rows[:40], rows[20:60], rows[200:])]
    names = ["accuracy", "roc_auc", "top_k_accuracy", "average_precision", "d2_brier_score"]
    bcv = BayesianCrossValidator(MODEL, cv=cv, metrics=names, method="nadeau_bengio", refit=False)
    found = bcv.fit(X[order], Y[order]).intervals_
    assert np.isfinite([found["accuracy"], found["top_k_accuracy"]]).all()
    assert np.isnan([found["roc_auc"], found["average_precision"]]).all()
    assert np.isnan(found["d2_brier_score"]).all()
    for text in (str(bcv.report()), bcv.report().to_html(), bcv.report().to_json()):
        assert "roc_auc" in text


def test_names_of_classes_need_no_positive_one():
    y = np.where(Y == 1, "ill", "well")
    names = ["roc_auc", "log_loss", "brier_score", "d2_log_loss_score", "top_k_accuracy"]
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=names).fit(X, y)
    plain = BayesianCrossValidator(MODEL, cv=CV, metrics=names).fit(X, 1 - Y)
    assert bcv.pos_label_ is None
    for name in names:
        np.testing.assert_allclose(bcv.intervals_[name], plain.intervals_[name], rtol=1e-6)
    with pytest.raises(InvalidParameterError, match="pos_label"):
        BayesianCrossValidator(MODEL, cv=CV, metrics=["average_precision"]).fit(X, y)
    named = BayesianCrossValidator(
        MODEL, cv=CV, metrics=["average_precision"], pos_label="ill"
    ).fit(X, y)
    expected = cross_validate(MODEL, X, Y, cv=CV, scoring="average_precision")["test_score"]
    np.testing.assert_allclose(named.result_.folds("average_precision").values, expected)
    with pytest.raises(InvalidParameterError, match="computed for pos_label='ill'"):
        named.interval("average_precision", pos_label="well")
    for name in ("roc_auc", "log_loss"):  # it does not matter to them
        assert bcv.interval(name, pos_label="ill") == bcv.interval(name)
        with pytest.raises(InvalidParameterError, match="pos_label"):
            bcv.interval(name, pos_label="dead")
    three = BayesianCrossValidator(NB, cv=CV, metrics=["roc_auc"]).fit(X3, Y3)
    with pytest.raises(InvalidParameterError, match="computed for pos_label=None"):
        three.interval("roc_auc", pos_label=1)


def test_a_metric_that_was_not_asked_for():
    bcv = BayesianCrossValidator(MODEL, cv=CV).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"metrics=\['roc_auc'"):
        bcv.interval("roc_auc")
    with pytest.raises(InvalidParameterError, match="asked for before"):
        compare_cv(bcv, bcv, metric="log_loss")
    loss = make_metric(row_loss=column_of(0), name="miss")
    with pytest.raises(InvalidParameterError, match=r"metrics=\[miss, "):  # the metric, no name
        bcv.interval(loss)


class Late(ClassifierMixin, BaseEstimator):
    """Has probabilities once it is fitted, and counts its fits."""

    fitted_rows: list = []  # noqa: RUF012

    def __init__(self, gives=True):
        self.gives = gives

    def fit(self, X, y):
        self.fitted_rows.append(len(y))
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        if self.gives:
            self.predict_proba = self.model_.predict_proba
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_what_an_estimator_gives_is_known_before_the_long_work():
    Late.fitted_rows.clear()
    assert BayesianCrossValidator(Late(), metrics=["roc_auc"]).fit(X, Y).interval("roc_auc")
    assert Late.fitted_rows[0] <= 50
    Late.fitted_rows.clear()
    with pytest.raises(InvalidParameterError, match="'log_loss' needs probabilities, but Late"):
        BayesianCrossValidator(Late(False), metrics=["f1", "log_loss"]).fit(X, Y)
    assert len(Late.fitted_rows) == 1
    with pytest.raises(InvalidParameterError, match="'roc_auc_ovr' needs probabilities, but"):
        BayesianCrossValidator(LinearSVC(), metrics=["roc_auc_ovr"]).fit(X3, Y3)
    with pytest.raises(InvalidParameterError, match="LinearSVC has no predict_proba"):
        BayesianCrossValidator(LinearSVC(), metrics=["roc_auc", "neg_log_loss"]).fit(X, Y)
    assert BayesianCrossValidator(LinearSVC(), metrics=["roc_auc"]).fit(X, Y).interval("roc_auc")
    stack = StackingClassifier([("nb", NB), ("svc", SVC())], final_estimator=MODEL)
    assert BayesianCrossValidator(stack, cv=3, metrics=["log_loss"]).fit(X, Y).intervals_


def test_a_loss_of_ones_own():
    def miss(y_true, p):
        return 1 - p[np.arange(len(y_true)), y_true]

    loss = make_metric(row_loss=miss, range=(0, 1), greater_is_better=False)
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=["accuracy", loss]).fit(X, Y)
    p = np.empty(240)
    for train, test in CV.split(X, Y):
        answer = MODEL.fit(X[train], Y[train]).predict_proba(X[test])
        p[test] = answer[np.arange(test.size), Y[test]]
    assert bcv.posteriors_["miss"].observed == pytest.approx(1 - p.mean(), rel=1e-12)
    low, high = bcv.interval(loss)
    assert low < 1 - p.mean() < high
    # The mean of independent rows, widened as published by Wang and Li.
    row_error = np.sqrt(p.var(ddof=1) / 240 / 0.6)
    assert bcv.posterior("miss", omega="wang_li").std() == pytest.approx(row_error, rel=1e-9)


def column_of(k):
    """Loss of a row: one of the probabilities."""
    return lambda y_true, p: p[:, k]


def test_two_metrics_have_two_names():
    """Results go by names: none of two metrics is lost."""
    first, second = (make_metric(row_loss=column_of(k)) for k in (0, 1))
    with pytest.raises(InvalidParameterError, match=r"different names, got '<lambda>'.*name='"):
        BayesianCrossValidator(MODEL, metrics=[first, second]).fit(X, Y)
    for name, other in (("roc_auc", "auc"), ("roc_auc", "roc_auc"), ("log_loss", "neg_log_loss")):
        own = make_metric(row_loss=column_of(0), name=name, greater_is_better=name == "roc_auc")
        with pytest.raises(InvalidParameterError, match=f"different names, got '{name}'"):
            BayesianCrossValidator(MODEL, metrics=[own, other]).fit(X, Y)
        with pytest.raises(InvalidParameterError, match="the name of another one"):
            ConfusionCountsScorer(metrics=[own])
    with pytest.raises(InvalidParameterError, match="'roc_auc', the name of another one"):
        ConfusionCountsScorer(metrics={"roc_auc": "average_precision"})
    with pytest.raises(InvalidParameterError, match=r"a list of metrics, .* got the dict"):
        BayesianCrossValidator(MODEL, metrics={"area": "roc_auc"}).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="'best_params': the scorer uses"):
        ConfusionCountsScorer(metrics={"best_params": "roc_auc"})
    once = BayesianCrossValidator(MODEL, metrics=[first, first, "auc", "roc_auc"]).fit(X, Y)
    assert list(once.intervals_) == ["<lambda>", "auc", "roc_auc"]


class Broken(GaussianNB):
    """Its probabilities are wrong."""

    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


def test_warnings_of_folds_name_the_method_and_the_way_out():
    bcv = BayesianCrossValidator(Broken(), cv=CV, metrics=["neg_log_loss"], refit=False)
    with pytest.warns(UserWarning, match="predict_proba of Broken must hold probabilities in"):
        bcv.fit(X, Y)
    with pytest.warns(UndefinedMetricWarning, match=r"no answer\. .*StratifiedKFold"):
        assert np.isnan(bcv.interval("neg_log_loss")).all()
    huge = make_metric(row_loss=lambda y_true, p: 1e300 * p[:, 0], name="huge")
    with pytest.warns(UserWarning, match="spread of its rows, is no finite number"):
        BayesianCrossValidator(MODEL, cv=CV, metrics=[huge], refit=False).fit(X, Y)


@pytest.mark.parametrize("model", [SVC(), make_pipeline(SVC())], ids=["alone", "pipeline"])
def test_scores_of_pairs_of_classes_are_no_scores_of_classes(model):
    """Three classes have three pairs, so the number of columns does not tell."""
    name = "decision_function_shape" if isinstance(model, SVC) else "svc__decision_function_shape"
    names = ["accuracy", "roc_auc", "top_k_accuracy"]
    bcv = BayesianCrossValidator(clone(model), cv=3, metrics=names, refit=False)
    right = clone(bcv).fit(X3, Y3).intervals_
    with pytest.warns(UserWarning, match=r"per pair of classes.*decision_function_shape='ovr'"):
        bcv.set_params(**{f"estimator__{name}": "ovo"}).fit(X3, Y3)
    with pytest.warns(UndefinedMetricWarning, match="there is no answer"):
        found = bcv.intervals_
    assert found["accuracy"] == right["accuracy"]
    assert np.isnan([found["roc_auc"], found["top_k_accuracy"]]).all()
    assert "top_k_accuracy" in str(bcv.report())


def test_a_perfect_average_precision_is_not_too_high():
    folds = ranked([1.0, 1.0], [0.0, 0.0], [[9, 3]] * 2, "average_precision")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert posterior_of_folds(folds, FoldOptions()).interval().high == 1.0


def test_a_loss_outside_its_range_is_told():
    loss = make_metric(row_loss=lambda y_true, p: 5 + p[:, 1], name="far", range=(0, 1))
    with pytest.warns(UserWarning, match=r"'far' must stay within its range \[0, 1\], got 5\."):
        bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=[loss, "accuracy"]).fit(X, Y)
    with pytest.warns(UndefinedMetricWarning, match="far is undefined"):
        assert np.isnan(bcv.interval("far")).all()


def test_report_and_tables():
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=["f1", "roc_auc", "neg_log_loss"]).fit(X, Y)
    report = bcv.report()
    sections = report.summary["sections"]
    assert [row["metric"] for row in sections["scores"]["rows"]] == list(bcv.result_.metrics)
    auc = sections["scores"]["rows"][1]
    assert auc["pooled"] is None
    assert auc["mean"] == pytest.approx(bcv.posteriors_["roc_auc"].observed)
    questions = sections["questions"]["rows"][1]
    assert questions["algorithm"]["high"] >= questions["fitted"]["high"]
    methods = sections["methods"]["rows"][1]
    assert {"auto", "wang_li", "corrected_t"} <= methods.keys()
    assert not {"averaged", "dirichlet", "bootstrap"} & methods.keys()
    assert "none (roc_auc, neg_log_loss)" in str(report)
    frame = bcv.result_.to_frame()
    assert frame.loc["neg_log_loss", "high"] == bcv.intervals_["neg_log_loss"].high
    assert (
        bcv.result_.to_dict()["metrics"]["roc_auc"]["omega"]
        == bcv.posteriors_["roc_auc"].diagnostics.omega
    )


def test_folds_that_disagree_are_told():
    """The labels of one fold are flipped."""
    rows = np.arange(240)
    splits = [(np.delete(rows, part), part) for part in np.split(rows, 6)]
    y = Y.copy()
    y[:40] = 1 - y[:40]
    with pytest.warns(FoldDisagreementWarning, match="roc_auc: "):
        BayesianCrossValidator(NB, cv=splits, metrics=["roc_auc"], refit=False).fit(X, y)


# --------------------------------------------------------------------------------------------------
# Finished runs, searches, comparisons


def test_finished_runs():
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=NAMES, refit=False).fit(X, Y)
    scorer = ConfusionCountsScorer(metrics=NAMES)
    results = cross_validate(MODEL, X, Y, cv=CV, scoring=scorer, return_indices=True)
    found = CrossValPosterior.from_cv_results(results)
    assert {"accuracy", "roc_auc", "neg_log_loss"} <= found.metrics.keys()
    models = cross_validate(MODEL, X, Y, cv=CV, return_estimator=True, return_indices=True)
    asked = CrossValPosterior.from_cv_results(models, X, Y, metrics=NAMES)
    for name in NAMES[1:]:
        np.testing.assert_allclose(found.interval(name), bcv.interval(name), rtol=1e-12)
        np.testing.assert_allclose(asked.interval(name), bcv.interval(name), rtol=1e-12)
    with pytest.raises(InvalidParameterError, match="asked for before"):
        CrossValPosterior.from_cv_results(results, metrics=["d2_brier_score"])


GRID = {"C": [0.001, 0.1, 10.0]}


def test_searches():
    names = ["accuracy", "roc_auc", "neg_log_loss"]
    scorer = ConfusionCountsScorer(metrics=names)
    search = GridSearchCV(MODEL, GRID, scoring=scorer, refit="roc_auc", cv=CV).fit(X, Y)
    plain = GridSearchCV(MODEL, GRID, scoring="roc_auc", cv=CV).fit(X, Y)
    assert search.best_index_ == plain.best_index_
    found = search_posterior(search, random_state=0)
    by_t = search_posterior(plain, metric="roc_auc", random_state=0)
    assert (found.metric, found.method) == ("roc_auc", "pooled")
    assert "t on fold scores" in by_t.method
    np.testing.assert_allclose(found.p_best, by_t.p_best)  # the joint model looks at fold scores
    for k, c in enumerate(GRID["C"]):
        bcv = BayesianCrossValidator(LogisticRegression(C=c), cv=CV, metrics=names).fit(X, Y)
        for name, better in (("roc_auc", True), ("neg_log_loss", True), ("log_loss", False)):
            one = search_posterior(search, metric=name, random_state=0)
            assert one.greater_is_better is better
            np.testing.assert_allclose((one.low[k], one.high[k]), bcv.interval(name), rtol=1e-12)
    saved = search_posterior(search.cv_results_, metric="roc_auc", n_repeats=1, random_state=0)
    np.testing.assert_allclose(saved.low, found.low, rtol=1e-12)
    t = search_posterior(search, metric="roc_auc", method="nadeau_bengio", random_state=0)
    np.testing.assert_allclose(t.low, by_t.low, rtol=1e-12)
    with pytest.raises(InvalidParameterError, match="confusion matrices"):
        search_posterior(search, metric="roc_auc", method="averaged")
    with pytest.raises(InvalidParameterError, match="goes with one"):
        search_posterior(search, metric="roc_auc__variance")
    assert "roc_auc" in str(found.report())


def test_searches_by_a_loss_of_ones_own():
    loss = make_metric(row_loss=column_of(0), name="miss", range=(0, 1), greater_is_better=False)
    scorer = ConfusionCountsScorer(metrics=[loss])
    search = GridSearchCV(MODEL, GRID, scoring=scorer, refit="neg_miss", cv=CV).fit(X, Y)
    known = search_posterior(search, metric=loss, random_state=0)
    saved = search_posterior(search.cv_results_, metric=loss, n_repeats=1, random_state=0)
    for k, c in enumerate(GRID["C"]):
        bcv = BayesianCrossValidator(LogisticRegression(C=c), cv=CV, metrics=[loss]).fit(X, Y)
        for found in (known, saved):
            np.testing.assert_allclose((found.low[k], found.high[k]), bcv.interval(loss))
    nowhere = make_metric(row_loss=column_of(0), name="shift", greater_is_better=None)
    scorer = ConfusionCountsScorer(metrics=[nowhere])
    search = GridSearchCV(MODEL, GRID, scoring=scorer, refit=False, cv=CV).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="'shift' has no better or worse direction"):
        search_posterior(search, metric="shift")


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_scores_that_a_search_lacks():
    scorer = ConfusionCountsScorer(metrics=["f1", "roc_auc"])
    search = GridSearchCV(MODEL, GRID, scoring=scorer, refit="f1", cv=CV).fit(X, Y)
    for results in (search, search.cv_results_):
        with pytest.raises(InvalidParameterError, match=r"scoring=ConfusionCountsScorer.*log_loss"):
            search_posterior(results, metric="log_loss")
    order = np.argsort(Y)
    with pytest.warns(UserWarning, match="holds no row of"):
        search = GridSearchCV(MODEL, GRID, scoring=scorer, refit="f1", cv=KFold(3)).fit(
            X[order], Y[order]
        )
    with pytest.raises(InvalidParameterError, match=r"'roc_auc'.* lacks a class .*StratifiedKFold"):
        search_posterior(search, metric="roc_auc")


def test_columns_of_moments_are_no_scores():
    scorer = ConfusionCountsScorer(metrics=["roc_auc"])
    search = GridSearchCV(MODEL, GRID, scoring=scorer, refit=False, cv=CV).fit(X, Y)
    saved = search_posterior(search.cv_results_, n_repeats=1, random_state=0)
    assert saved.metric == "roc_auc"  # the only score among the columns
    rule = simplest_equivalent("roc_auc", rope=0.01, complexity="C", cv=CV)
    chosen = GridSearchCV(MODEL, GRID, scoring=scorer, refit=rule, cv=CV).fit(X, Y)
    assert search_posterior(chosen, random_state=0).metric == "roc_auc"
    with pytest.raises(InvalidParameterError, match="scorer uses that name"):
        ConfusionCountsScorer(metrics={"a__n": "roc_auc"})


def test_comparisons():
    names = ["accuracy", "roc_auc", "log_loss"]
    scorer = ConfusionCountsScorer(metrics=names)
    bcvs = [BayesianCrossValidator(m, cv=CV, metrics=names).fit(X, Y) for m in (MODEL, NB)]
    runs = [
        cross_validate(m, X, Y, cv=CV, scoring=scorer, return_indices=True) for m in (MODEL, NB)
    ]
    plain = [
        cross_validate(m, X, Y, cv=CV, scoring=["roc_auc", "neg_log_loss"], return_indices=True)
        for m in (MODEL, NB)
    ]
    for name in ("roc_auc", "neg_log_loss"):
        expected = compare_cv(*plain, metric=name)
        for pair in (bcvs, runs):
            found = compare_cv(*pair, metric=name)
            assert found.p_better == pytest.approx(expected.p_better, rel=1e-9)
            assert found.difference.mean() == pytest.approx(expected.difference.mean(), rel=1e-9)
    # Rows in folds are compared by metrics of counts alone.
    assert compare_cv(*bcvs, metric="roc_auc").advice is None
    assert "compare(a, b)" in compare_cv(*bcvs, metric="accuracy").advice
    with pytest.raises(InvalidParameterError, match=r"Compare the folds: compare_cv\(a, b"):
        compare(*bcvs, metric="roc_auc")
    loss = compare_cv(*bcvs, metric="log_loss")
    assert loss.p_better == pytest.approx(compare_cv(*plain, metric="neg_log_loss").p_better)


def test_comparisons_find_metrics_by_name():
    loss = make_metric(row_loss=column_of(0), name="miss", greater_is_better=False)
    bcvs = [BayesianCrossValidator(m, cv=CV, metrics=[loss]).fit(X, Y) for m in (MODEL, NB)]
    by_name, by_metric = (compare_cv(*bcvs, metric=metric) for metric in ("miss", loss))
    assert by_name.metric == "miss"
    assert by_name.p_better == by_metric.p_better


def test_scores_whose_name_tells_no_metric_are_told():
    loss = make_metric(row_loss=column_of(0), name="miss", greater_is_better=False)
    scorer = ConfusionCountsScorer(metrics={"area": "roc_auc", "miss": loss, "auc": "auc"})
    results = cross_validate(MODEL, X, Y, cv=CV, scoring=scorer, return_indices=True)
    with pytest.warns(UserWarning, match=r"\['area', 'neg_miss'\] are left out"):
        found = CrossValPosterior.from_cv_results(results)
    assert "auc" in found.metrics
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CrossValPosterior.from_cv_results(results, metrics=[loss]).interval("miss")


def test_categories_tell_the_positive_class():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(pandas.Categorical.from_codes(1 - Y, ["b", "a"], ordered=True))
    bcv = BayesianCrossValidator(MODEL, cv=CV, metrics=["average_precision"], refit=False).fit(X, y)
    assert bcv.pos_label_ == "a"
    values = []
    for train, test in CV.split(X, Y):
        score = -MODEL.fit(X[train], Y[train]).decision_function(X[test])
        values.append(sklearn.metrics.average_precision_score(1 - Y[test], score))
    assert roc_auc_score(1 - Y[test], score) > 0.5
    np.testing.assert_allclose(bcv.result_.folds("average_precision").values, values, rtol=1e-9)
