"""net_benefit_curve, against the plain formula, draws, closed forms and the registry."""

import json
import pickle
import sys

import numpy as np
import pytest
from scipy.stats import beta, binom
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skuncertain import BayesianCrossValidator, ConfusionCounts
from skuncertain.metrics import NetBenefitCurve, get_metric, net_benefit_curve
from skuncertain.model_selection import fold_posterior

PLACES = [0.02, 0.1, 0.3, 0.5, 0.8]
NAMES = ("net_benefit", "treat_all", "difference", "gain")
TABLES = [  # tp, fn, fp, tn
    (30, 10, 12, 90),
    (0, 12, 0, 60),
    (5, 0, 40, 0),
    (40, 0, 0, 60),
    (3, 2, 1, 900),
    (400, 30, 900, 5000),
]


def sample(seed, n=200, digits=2):
    """Labels 0 and 1 with probabilities that are about right, and ties."""
    rng = np.random.default_rng(seed)
    proba = rng.beta(0.8, 1.6, size=n).round(digits)
    return (rng.uniform(size=n) < proba).astype(int), proba


def rows_of(table):
    """Labels and probabilities that have this table at every threshold."""
    return np.repeat([1, 1, 0, 0], table), np.repeat([1.0, 0.0, 1.0, 0.0], table)


@pytest.fixture(scope="module")
def data():
    return make_classification(240, n_features=6, flip_y=0.2, weights=[0.7], random_state=1)


# --------------------------------------------------------------------------------------------------
# Values


def test_values_are_the_plain_formula(global_random_seed):
    y, proba = sample(global_random_seed)
    curve = net_benefit_curve(y, proba, thresholds=[*PLACES, proba[0].clip(0.01, 0.99)])
    assert isinstance(curve, NetBenefitCurve)
    share = y.mean()
    for k, t in enumerate(curve.thresholds):
        called = proba >= t  # a probability at the threshold is positive
        benefit = np.mean(called & (y == 1)) - np.mean(called & (y == 0)) * t / (1 - t)
        everyone = share - (1 - share) * t / (1 - t)
        assert curve.values["net_benefit"][k] == pytest.approx(benefit, abs=1e-12)
        assert curve.values["treat_all"][k] == pytest.approx(everyone, abs=1e-12)
        assert curve.values["difference"][k] == pytest.approx(benefit - everyone, abs=1e-12)
        assert curve.values["gain"][k] == pytest.approx(benefit - max(everyone, 0), abs=1e-12)


def test_values_at_another_prevalence():
    y, proba = sample(3)
    t, share = 0.3, 0.04
    curve = net_benefit_curve(y, proba, thresholds=[t], prevalence=share)
    tpr, fpr = np.mean(proba[y == 1] >= t), np.mean(proba[y == 0] >= t)
    benefit = share * tpr - (1 - share) * fpr * t / (1 - t)
    everyone = share - (1 - share) * t / (1 - t)
    assert curve.values["net_benefit"][0] == pytest.approx(benefit, abs=1e-12)
    for ends in (curve.values, curve.low, curve.high):
        assert ends["treat_all"][0] == pytest.approx(everyone, abs=1e-12)
        # Treating all is known, and here it is worth less than treating none.
        assert ends["difference"][0] == pytest.approx(ends["net_benefit"][0] - everyone)
        assert ends["gain"][0] == pytest.approx(ends["net_benefit"][0])
    assert "prevalence=0.04" in repr(curve)


def test_thresholds():
    y, proba = sample(0)
    usual = net_benefit_curve(y, proba)
    np.testing.assert_allclose(usual.thresholds, np.arange(1, 100) / 100, rtol=1e-15)
    np.testing.assert_allclose(
        net_benefit_curve(y, proba, thresholds=3).thresholds, [0.25, 0.5, 0.75]
    )
    mixed = net_benefit_curve(y, proba, thresholds=[0.5, 0.2, 0.5])
    np.testing.assert_array_equal(mixed.thresholds, [0.2, 0.5])
    for name in NAMES:  # every interval is for its own threshold
        np.testing.assert_allclose(mixed.low[name], usual.low[name][[19, 49]], atol=1e-9)
        np.testing.assert_allclose(mixed.high[name], usual.high[name][[19, 49]], atol=1e-9)


# --------------------------------------------------------------------------------------------------
# Intervals and probabilities


@pytest.mark.parametrize("table", TABLES)
def test_intervals_are_those_of_dirichlet_draws(table):
    size, level = 200_000, 0.9
    rng = np.random.default_rng(sum(table))
    tp, fn, fp, tn = rng.dirichlet(np.array(table) + 0.5, size=size).T
    y, proba = rows_of(table)
    curve = net_benefit_curve(y, proba, thresholds=PLACES, level=level, prior="jeffreys")
    error = 5 * np.sqrt(0.05 * 0.95 / size)
    for k, t in enumerate(PLACES):
        odds = t / (1 - t)
        benefit, difference = tp - odds * fp, odds * tn - fn
        for name, draws in (("net_benefit", benefit), ("difference", difference)):
            assert np.mean(draws < curve.low[name][k]) == pytest.approx(0.05, abs=error)
            assert np.mean(draws > curve.high[name][k]) == pytest.approx(0.05, abs=error)
        for end in (curve.low, curve.high):
            smaller = min(end["net_benefit"][k], end["difference"][k])
            assert end["gain"][k] == pytest.approx(smaller, abs=1e-12)
        error_p = 5 * np.sqrt(0.25 / size)
        assert curve.p_above_none[k] == pytest.approx(np.mean(benefit > 0), abs=error_p)
        assert curve.p_above_all[k] == pytest.approx(np.mean(difference > 0), abs=error_p)
        useful = np.mean((benefit > 0) & (difference > 0))
        assert curve.p_useful[k] == pytest.approx(useful, abs=error_p)


@pytest.mark.parametrize("table", TABLES)
def test_cells_that_were_not_seen_move_no_end_inwards(table):
    y, proba = rows_of(table)
    found = net_benefit_curve(y, proba, thresholds=PLACES)
    plain = net_benefit_curve(y, proba, thresholds=PLACES, prior="jeffreys")
    tp, fn, fp, tn = table
    odds = found.thresholds / (1 - found.thresholds)
    # Weights of the cell that counts for and of the one that counts against, and the other rows.
    asked = {"net_benefit": (tp, fp, 1.0, odds), "difference": (tn, fn, odds, 1.0)}
    for name, (more, less, gain, loss) in asked.items():
        rest = sum(table) - more - less + 1
        low, high = plain.low[name], plain.high[name]
        if not more:
            low = -loss * beta.ppf(0.975, less + 0.5, rest)
            assert np.all(low <= plain.low[name])
        if not less:
            high = gain * beta.ppf(0.975, more + 0.5, rest)
            assert np.all(high >= plain.high[name])
        np.testing.assert_allclose(found.low[name], low, atol=1e-9)
        np.testing.assert_allclose(found.high[name], high, atol=1e-9)
    np.testing.assert_allclose(found.p_useful, plain.p_useful)


@pytest.mark.parametrize("table", TABLES)
def test_intervals_at_a_prevalence_are_those_of_beta_draws(table):
    size, share = 200_000, 0.15
    rng = np.random.default_rng(sum(table))
    tp, fn, fp, tn = np.array(table) + 0.5
    tpr, fpr = rng.beta(tp, fn, size=size), rng.beta(fp, tn, size=size)
    curve = net_benefit_curve(*rows_of(table), thresholds=PLACES, level=0.9, prevalence=share)
    error = 5 * np.sqrt(0.05 * 0.95 / size)
    for k, t in enumerate(PLACES):
        odds = t / (1 - t)
        benefit, everyone = share * tpr - (1 - share) * odds * fpr, share - (1 - share) * odds
        assert np.mean(benefit < curve.low["net_benefit"][k]) == pytest.approx(0.05, abs=error)
        if fn == fp == 0.5:  # no error was seen: the upper end is the end of the range
            assert curve.high["net_benefit"][k] == pytest.approx(share)
        else:
            above = np.mean(benefit > curve.high["net_benefit"][k])
            assert above == pytest.approx(0.05, abs=error)
        error_p = 5 * np.sqrt(0.25 / size)
        above = [np.mean(benefit > level) for level in (0, everyone, max(everyone, 0))]
        found = [p[k] for p in (curve.p_above_none, curve.p_above_all, curve.p_useful)]
        np.testing.assert_allclose(found, above, atol=error_p)


@pytest.mark.parametrize("prevalence", [None, 0.02, 0.6])
@pytest.mark.parametrize("prior", ["jeffreys", 0.2, [[0.4, 1.0], [0.3, 2.0]]])
def test_intervals_are_those_of_the_metric(prior, prevalence):
    y, proba = sample(5)
    curve = net_benefit_curve(
        y, proba, thresholds=[0.1, 0.6], prior=prior, prevalence=prevalence, level=0.8
    )
    for k, t in enumerate((0.1, 0.6)):
        metric = get_metric("net_benefit", threshold=t)
        counts = ConfusionCounts.from_predictions(y, (proba >= t).astype(int))
        posterior = counts.posterior(metric, prior=prior, prevalence=prevalence)
        assert posterior.exact
        found = curve.low["net_benefit"][k], curve.high["net_benefit"][k]
        np.testing.assert_allclose(found, posterior.interval(0.8), atol=1e-9)
        assert curve.p_above_none[k] == pytest.approx(1 - posterior.cdf(0), abs=1e-9)


def test_closed_forms():
    y, proba = sample(7)
    curve = net_benefit_curve(y, proba, thresholds=PLACES)
    for k, t in enumerate(PLACES):
        called = proba >= t
        tp, fp = np.sum(called & (y == 1)) + 0.5, np.sum(called & (y == 0)) + 0.5
        fn, tn = np.sum(~called & (y == 1)) + 0.5, np.sum(~called & (y == 0)) + 0.5
        precise, missed = beta.sf(t, tp, fp), beta.cdf(t, fn, tn)
        assert curve.p_above_none[k] == pytest.approx(precise, rel=1e-9)
        assert curve.p_above_all[k] == pytest.approx(missed, rel=1e-9)
        assert curve.p_useful[k] == pytest.approx(precise * missed, rel=1e-9)
        # Treating all is a function of the prevalence alone.
        m1 = y.sum()
        ends = beta.ppf([0.025, 0.975], m1 + 0.5, y.size - m1 + 0.5)
        ends = ends - (1 - ends) * t / (1 - t)
        np.testing.assert_allclose((curve.low["treat_all"][k], curve.high["treat_all"][k]), ends)


def test_intervals_hold_the_observed_value_and_stay_in_range():
    places = [1e-6, 1e-3, 0.2, 0.9, 0.999]
    tables = [*TABLES, (1, 0, 0, 1), (0, 1, 1, 0), (1, 0, 999, 0), (0, 1, 0, 999)]
    for table in tables:
        curve = net_benefit_curve(*rows_of(table), thresholds=places)
        odds = curve.thresholds / (1 - curve.thresholds)
        for name in NAMES:
            assert np.all(curve.low[name] <= curve.values[name])
            assert np.all(curve.values[name] <= curve.high[name])
            assert np.all(curve.low[name] < curve.high[name])
        assert np.all(curve.low["net_benefit"] >= -odds)
        assert np.all(curve.high["net_benefit"] <= 1)
        assert np.all(curve.high["difference"] <= odds)
        assert np.all(curve.low["difference"] >= -1)


@pytest.mark.slow
@pytest.mark.slow
def test_coverage(global_random_seed):
    # 600 samples: at a coverage of 93 % 536 hits or fewer have a probability below .001.
    rng, runs, n, t = np.random.default_rng(global_random_seed), 600, 150, 0.2
    shares = np.array([0.13, 0.05, 0.12, 0.70])  # tp, fn, fp, tn
    odds = t / (1 - t)
    benefit, difference = shares[0] - odds * shares[2], odds * shares[3] - shares[1]
    truth = {"net_benefit": benefit, "difference": difference, "gain": min(benefit, difference)}
    truth["treat_all"] = benefit - difference
    hits = dict.fromkeys(truth, 0)
    for table in rng.multinomial(n, shares, size=runs):
        curve = net_benefit_curve(*rows_of(table), thresholds=[t])
        for name, value in truth.items():
            hits[name] += int(curve.low[name][0] <= value <= curve.high[name][0])
    assert binom.cdf(536, runs, 0.93) < 1e-3
    assert min(hits.values()) > 536


def test_nested_levels():
    y, proba = sample(2)
    wide, narrow = (net_benefit_curve(y, proba, thresholds=9, level=one) for one in (0.99, 0.5))
    for name in NAMES:
        assert np.all(wide.low[name] < narrow.low[name])
        assert np.all(wide.high[name] > narrow.high[name])


# --------------------------------------------------------------------------------------------------
# Labels, columns, folds


def test_labels_and_columns():
    y, proba = sample(0)
    expected = net_benefit_curve(y, proba, thresholds=PLACES)
    both = np.stack([1 - proba, proba], axis=1)
    for labels, given, label in (
        (np.array(["no", "yes"])[y], both, "yes"),
        (np.array(["yes", "no"])[y], both[:, ::-1], "no"),  # its column is the first one
        (2 * y - 1, proba, None),
        (y.astype(bool), both, None),
    ):
        found = net_benefit_curve(labels, given, thresholds=PLACES, pos_label=label)
        np.testing.assert_array_equal(found.low["gain"], expected.low["gain"])
        assert found.counts.pos_label == (1 if label is None else label)
    assert "pos_label='yes'" in repr(
        net_benefit_curve(np.array(["no", "yes"])[y], proba, pos_label="yes", thresholds=1)
    )


def test_prior_arrays_follow_the_labels():
    y, proba = sample(0)
    prior = np.array([[0.2, 3.0], [1.0, 5.0]])
    expected = net_benefit_curve(y, proba, thresholds=PLACES, prior=prior)
    names = np.array(["yes", "no"])[y]  # "no" is positive and comes first
    found = net_benefit_curve(
        names, proba, thresholds=PLACES, prior=prior[::-1, ::-1], pos_label="no"
    )
    for name in NAMES:
        np.testing.assert_allclose(found.low[name], expected.low[name], atol=1e-12)


def test_one_class_against_the_rest():
    X, y = load_iris(return_X_y=True)
    proba = GaussianNB().fit(X[::2, :2], y[::2]).predict_proba(X[1::2, :2])
    found = net_benefit_curve(y[1::2], proba, pos_label=2, thresholds=PLACES)
    expected = net_benefit_curve(y[1::2] == 2, proba[:, 2], thresholds=PLACES)
    np.testing.assert_array_equal(found.high["difference"], expected.high["difference"])
    with pytest.raises(ValueError, match="about one class, and there are 3"):
        net_benefit_curve(y[1::2], proba)


def test_folds_have_the_weights_of_their_questions(data):
    X, y = data
    model = LogisticRegression()
    bcv = BayesianCrossValidator(model, cv=4, keep_predictions=True, refit=False).fit(X, y)
    curve = net_benefit_curve(y, bcv, thresholds=PLACES)
    proba = cross_val_predict(model, X, y, cv=4, method="predict_proba")[:, 1]
    plain = net_benefit_curve(y, proba, thresholds=PLACES)
    tests = bcv.cv_results_["indices"]["test"]
    for k, t in enumerate(PLACES):
        folds = [ConfusionCounts.from_predictions(y[i], (proba[i] >= t).astype(int)) for i in tests]
        counts = ConfusionCounts([one.counts for one in folds])
        metric = get_metric("net_benefit", threshold=t)
        posterior = fold_posterior(counts, metric)
        assert curve.omega["net_benefit"][k] == pytest.approx(posterior.diagnostics.omega)
        pooled = curve.omega["net_benefit"][k] * counts.sum().counts + 0.5
        shares = np.random.default_rng(k).dirichlet(pooled.ravel(), size=100_000)
        benefit = shares[:, 3] - t / (1 - t) * shares[:, 1]
        error = 5 * np.sqrt(0.025 * 0.975 / 100_000)
        below = np.mean(benefit < curve.low["net_benefit"][k])
        assert below == pytest.approx(0.025, abs=error)
    for name in NAMES:
        np.testing.assert_allclose(curve.values[name], plain.values[name], atol=1e-12)
    wider = curve.high["net_benefit"] - curve.low["net_benefit"]
    assert np.all(wider > plain.high["net_benefit"] - plain.low["net_benefit"])
    # No model has a say in the prevalence.
    np.testing.assert_allclose(curve.low["treat_all"], plain.low["treat_all"])
    assert (curve.n_folds, curve.estimand) == (4, "fitted")
    assert "4 folds" in repr(curve)
    assert "several models" in curve.warnings[0]
    assert "row weight" in str(curve.report())
    elsewhere = net_benefit_curve(y, bcv, thresholds=PLACES, prevalence=0.1)
    assert set(elsewhere.omega) == {"recall", "fpr"}
    stronger = net_benefit_curve(y, bcv, thresholds=PLACES, prior=2)
    again = BayesianCrossValidator(model, cv=4, keep_predictions=True, refit=False, prior=2)
    np.testing.assert_allclose(
        stronger.low["gain"], net_benefit_curve(y, again.fit(X, y), thresholds=PLACES).low["gain"]
    )
    assert not np.allclose(stronger.low["gain"], curve.low["gain"])


def test_folds_of_decision_values_are_refused(data):
    X, y = data
    bcv = BayesianCrossValidator(LinearSVC(), cv=3, keep_predictions=True, refit=False).fit(X, y)
    with pytest.raises(ValueError, match=r"decision values.*CalibratedClassifierCV"):
        net_benefit_curve(y, bcv)
    bcv = BayesianCrossValidator(GaussianNB(), cv=3, refit=False).fit(X, y)
    with pytest.raises(ValueError, match="keep_predictions=True"):
        net_benefit_curve(y, bcv)


# --------------------------------------------------------------------------------------------------
# Results and errors


def test_results_are_portable(monkeypatch):
    pd = pytest.importorskip("pandas")
    y, proba = sample(0)
    curve = net_benefit_curve(y, proba, thresholds=PLACES)
    assert repr(curve) == (
        "NetBenefitCurve(5 thresholds, pointwise, level=0.95, n=200, pos_label=1)"
    )
    plain = json.loads(json.dumps(curve.to_dict()))
    assert plain["threshold"] == PLACES
    assert plain["gain_low"] == curve.low["gain"].tolist()
    frame = pickle.loads(pickle.dumps(curve)).to_frame()
    pd.testing.assert_frame_equal(frame, curve.to_frame())
    assert frame.index.name == "threshold"
    assert frame.loc[0.3, "p_useful"] == curve.p_useful[2]
    text = str(curve.report(digits=2))
    assert "pointwise" in text
    assert "default (half a row per cell; calibrated ends)" in text
    low, high = curve.low["net_benefit"][2], curve.high["net_benefit"][2]
    assert f"{curve.values['net_benefit'][2]:.2f} [{low:.2f}, {high:.2f}]" in text
    assert "25 of 99 thresholds" in str(net_benefit_curve(y, proba).report())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame needs pandas"):
        curve.to_frame()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": [0.0, 0.5]}, r"in \(0, 1\), got 0: at 0 all rows are treated"),
        ({"thresholds": [1.0]}, r"in \(0, 1\), got 1"),
        ({"thresholds": [-0.1]}, r"got -0.1"),
        ({"thresholds": [20]}, r"got 20.*Did you mean 0.2\?"),
        ({"thresholds": [0.1, np.nan]}, r"got NaN"),
        ({"thresholds": []}, r"list of probabilities in \(0, 1\), got \[\]"),
        ({"thresholds": [[0.1]]}, r"list of probabilities"),
        ({"thresholds": "all"}, r"thresholds must be"),
        ({"thresholds": 0}, r"integer >= 1"),
        ({"thresholds": 10**6}, r"at most 10000"),
        ({"thresholds": 0.5}, r"list of probabilities"),
        ({"prior": "haldane"}, r"at least 0.001 of a row on every cell"),
        ({"prior": 0}, r"at least 0.001 of a row on every cell"),
        ({"prevalence": 20}, r"prevalence must be a number in \(0, 1\).*Did you mean 0.2\?"),
        ({"level": 95}, r"Did you mean 0.95\?"),
    ],
)
def test_wrong_options(options, message):
    y, proba = sample(0)
    with pytest.raises(ValueError, match=message) as caught:
        net_benefit_curve(y, proba, **options)
    assert caught.value.parameter == next(iter(options))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: 2 * p, r"probabilities in \[0, 1\], got .*look like scores. Take predict_proba"),
        (lambda p: np.log(p + 0.01), r"look like scores"),
        (lambda p: (p > 0.5).astype(int), r"type int64: these look like labels"),
        (lambda p: p > 0.5, r"type bool: these look like labels"),
        (lambda p: np.where(p > 0.5, "a", "b"), r"these look like labels"),
        (lambda p: np.where(p > 0.5, np.nan, p), r"y_proba must hold finite numbers"),
        (lambda p: p[:-1], r"y_true and y_proba must have the same length"),
        (
            lambda p: np.stack([p, p, p], axis=1),
            r"y_proba must have one column per class, 2, got 3",
        ),
        (lambda p: GaussianNB(), r"got a classifier: give its predict_proba\(X\)"),
    ],
)
def test_wrong_probabilities(change, message):
    y, proba = sample(0)
    with pytest.raises(ValueError, match=message) as caught:
        net_benefit_curve(y, change(proba))
    assert caught.value.parameter in ("y_proba", "y_true")


def test_wrong_labels():
    y, proba = sample(0)
    with pytest.raises(ValueError, match="rows of at least two classes"):
        net_benefit_curve(0 * y, proba)
    with pytest.raises(ValueError, match=r"holds no rows of class 1"):
        net_benefit_curve(0 * y, proba, labels=[0, 1])
    with pytest.raises(ValueError, match=r"nothing tells whether that is 'no' or 'yes'"):
        net_benefit_curve(np.array(["no", "yes"])[y], proba)
    # Probabilities of 0 and 1 are those of a model that is sure, such as a tree.
    sure = net_benefit_curve(y, y.astype(float), thresholds=[0.5])
    assert sure.values["net_benefit"][0] == pytest.approx(y.mean())
