"""Bands around curves and their displays, against scikit-learn, brute force and simulation."""

import io
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skuncertain import (
    BayesianCrossValidator,
    PrecisionRecallBandDisplay,
    RocBand,
    RocBandDisplay,
    auc_posterior,
    average_precision_posterior,
    pr_band,
    roc_band,
)

BANDS = ["simultaneous", "pointwise"]
MAKERS = [roc_band, pr_band]


def sample(seed, m1=30, m0=40, shift=1.0, digits=None):
    """Labels 0 and 1 in random order, with scores; fewer digits make ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [m1, m0]))
    score = shift * y + rng.normal(size=y.size)
    return y, score if digits is None else score.round(digits)


def precision(recall, fpr, prevalence):
    """Precision by the theorem of Bayes."""
    hits, false = prevalence * recall, (1 - prevalence) * fpr
    total = np.maximum(hits + false, 1e-300)
    return np.where(hits + false > 0, hits / total, 1.0)


def local_tail(n):
    """Tail probability of single order statistics that a simultaneous band uses for n rows.

    Where all negatives are accepted the true positive rate is at least its quantile for n of n,
    which is ``tail ** (1 / n)``.
    """
    y = np.repeat([1, 0], [n, 1])
    return roc_band(y, np.arange(n + 1.0)).low[-1] ** n


def boxes(y, score, level, band):
    """Ranges of both rates between all neighbouring scores, in plain loops: (thresholds, 2, 2)."""
    y = np.asarray(y).astype(bool)
    found = []
    for threshold in [np.inf, *sorted(set(score), reverse=True), -np.inf]:
        ranges = []
        for part in (score[~y], score[y]):
            n, k = len(part), int(np.sum(part >= threshold))
            if band == "pointwise":
                tail = (1 - np.sqrt(level)) / 2
                beta = stats.beta(k + 0.5, n - k + 0.5)
                low, high = beta.ppf(tail), beta.ppf(1 - tail)
            else:
                tail = local_tail(n)
                low = stats.beta(k, n + 1 - k).ppf(tail) if k else 0.0
                high = stats.beta(k + 1, n - k).ppf(1 - tail) if k < n else 1.0
            ranges.append((low if k else 0.0, high if k < n else 1.0))
        found.append(ranges)
    return np.array(found)


# --------------------------------------------------------------------------------------------------
# Curves


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_empirical_roc_curve(digits, global_random_seed):
    y, score = sample(global_random_seed, digits=digits)
    found = roc_band(y, score)
    fpr, tpr, thresholds = roc_curve(y, score, drop_intermediate=False)
    np.testing.assert_allclose(found.curve_fpr, fpr, atol=1e-15)
    np.testing.assert_allclose(found.curve_tpr, tpr, atol=1e-15)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert (found.n_positive, found.n_negative) == (30, 40)
    assert found.area.interval() == auc_posterior(y, score).interval()


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_empirical_precision_recall_curve(digits, global_random_seed):
    y, score = sample(global_random_seed, digits=digits)
    found = pr_band(y, score)
    values, recall, thresholds = precision_recall_curve(y, score)
    used = recall[:-1] > 0
    np.testing.assert_allclose(found.curve_recall, recall[:-1][used][::-1], atol=1e-15)
    np.testing.assert_allclose(found.curve_precision, values[:-1][used][::-1], atol=1e-14)
    np.testing.assert_array_equal(found.thresholds, thresholds[used][::-1])
    assert found.area.interval() == average_precision_posterior(y, score).interval()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("sizes", [(30, 40), (1, 8), (9, 1), (100, 5)])
def test_band_holds_the_curve(make, band, digits, sizes, global_random_seed):
    y, score = sample(global_random_seed, *sizes, digits=digits)
    found = make(y, score, band=band)
    if make is roc_band:
        x, curve = found.curve_fpr, found.curve_tpr
        assert np.all(np.diff(found.low) >= 0)
        assert np.all(np.diff(found.high) >= 0)
        where = found.fpr
    else:
        x, curve = found.curve_recall, found.curve_precision
        assert np.all(np.diff(found.recall) > 0)
        assert found.prevalence[0] < sizes[0] / sum(sizes) < found.prevalence[1]
        where = found.recall
    assert np.all(np.diff(where) > 0)
    assert (where[0], where[-1]) == (0, 1)
    low, high = found.at(x)
    # A rate of 1 is reached by every curve: only the upper end of a vertical piece counts there.
    beyond = (x == 1) & (make is roc_band)
    assert np.all(low <= np.where(beyond, 1.0, curve) + 1e-12)
    assert np.all(curve <= high + 1e-12)
    for ends in ((found.low, found.high), found.at(np.linspace(0, 1, 301))):
        assert np.all(ends[0] >= 0)
        assert np.all(ends[0] <= ends[1])
        assert np.all(ends[1] <= 1)
    at_steps = found.at(where)
    np.testing.assert_allclose(at_steps, (found.low, found.high), atol=1e-15)


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("sizes", [(4, 5), (7, 3)])
def test_roc_band_is_the_hull_of_boxes(band, digits, sizes, global_random_seed):
    y, score = sample(global_random_seed, *sizes, digits=digits)
    found = roc_band(y, score, band=band)
    fpr, tpr = np.moveaxis(boxes(y, score, 0.95, band), 1, 0)
    for f in np.r_[np.linspace(0, 1, 57), fpr.ravel() - 1e-9, fpr.ravel() + 1e-9].clip(0, 1):
        low = max(tpr[fpr[:, 1] <= f, 0], default=0.0)
        high = max(tpr[fpr[:, 0] <= f, 1])
        # Rows with equal scores cannot be parted: a line joins the boxes before and behind them.
        for k, value in enumerate(sorted(set(score), reverse=True), start=1):
            left, right = fpr[k - 1, 0], fpr[k, 0]
            if np.sum(score == value) > 1 and left <= f < right:
                share = (f - left) / (right - left)
                high = max(high, tpr[k - 1, 1] + share * (tpr[k, 1] - tpr[k - 1, 1]))
        assert found.at(f) == (pytest.approx(low, abs=1e-8), pytest.approx(high, abs=1e-8))


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("prevalence", [0.02, 0.4, 0.9])
def test_pr_band_is_the_image_of_the_roc_band(band, prevalence, global_random_seed):
    y, score = sample(global_random_seed, 12, 15)
    found = pr_band(y, score, band=band, prevalence=prevalence)
    assert found.prevalence == (prevalence, prevalence)
    roc = roc_band(y, score, band=band)
    np.testing.assert_allclose(
        found.curve_precision,
        precision(roc.curve_tpr[1:], roc.curve_fpr[1:], prevalence)[roc.curve_tpr[1:] > 0],
        atol=1e-14,
    )
    # A point (f, t) is inside both or outside both.
    fpr, recall = np.meshgrid(np.linspace(0.001, 0.999, 211), np.linspace(0.001, 0.999, 207))
    low, high = roc.at(fpr)
    inside = (low < recall) & (recall < high)
    value = precision(recall, fpr, prevalence)
    low, high = found.at(recall)
    also = (low < value) & (value < high)
    assert np.mean(inside != also) < 1e-3  # but for edges
    assert 0.05 < inside.mean() < 0.95


@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
def test_a_negative_on_top_proves_nothing_about_small_recalls(band):
    """The best row is a negative one, and still there may be positives above all negatives."""
    y, score = np.repeat([0, 1], 30), np.r_[np.arange(29), 100.0, 10 + np.arange(30)]
    found = pr_band(y, score, band=band)
    _, high = found.at([0, 1e-12, 1e-6, 1e-3])
    np.testing.assert_array_equal(high, 1)
    assert found.high[0] == 1
    # As many positives as could be above the best row: the rate of 0 hits among 30.
    edge = found.boxes.tpr[1][0]
    assert 0.05 < edge < 0.3
    assert found.at(edge)[1] == 1
    assert found.at(edge + 1e-9)[1] < 1


def test_unknown_prevalence_widens_the_band(global_random_seed):
    y, score = sample(global_random_seed)
    unknown, known = pr_band(y, score), pr_band(y, score, prevalence=30 / 70)
    grid = np.linspace(0.01, 1, 100)
    (a, b), (c, d) = unknown.at(grid), known.at(grid)
    assert np.all(a <= c)
    assert np.all(b >= d)
    share = 0.95 ** (1 / 3)
    expected = stats.beta(30.5, 40.5).ppf([(1 - share) / 2, (1 + share) / 2])
    np.testing.assert_allclose(unknown.prevalence, expected, rtol=1e-9)


@pytest.mark.parametrize("make", MAKERS)
def test_levels_and_kinds_of_bands_are_nested(make, global_random_seed):
    y, score = sample(global_random_seed)
    grid = np.linspace(0, 1, 201)
    ends = [make(y, score, level=level).at(grid) for level in (0.5, 0.8, 0.95, 0.99)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert np.all(lower <= low)
        assert np.all(higher >= high)
    for level in (0.8, 0.95):
        wide, narrow = (make(y, score, band=band, level=level).at(grid) for band in BANDS)
        assert np.all(wide[0] <= narrow[0] + 1e-12)
        assert np.all(wide[1] >= narrow[1] - 1e-12)
        assert np.mean(wide[1] - wide[0]) > 1.1 * np.mean(narrow[1] - narrow[0])


@pytest.mark.parametrize("n", [10, 50])
def test_all_order_statistics_hold_together(n):
    tail, samples = local_tail(n), 100_000
    uniform = np.sort(np.random.default_rng(n).random((samples, n)), axis=1)
    place = np.arange(1, n + 1)
    low = stats.beta(place, n + 1 - place).ppf(tail)
    high = stats.beta(place, n + 1 - place).ppf(1 - tail)
    held = np.mean(np.all((low <= uniform) & (uniform <= high), axis=1))
    # The level was found by 4,000 simulated samples, of which 2.5 % fall outside: s.e. .0025;
    # those here add .0005.
    wanted = np.sqrt(0.95)
    error = np.sqrt(wanted * (1 - wanted) * (1 / 4000 + 1 / samples))
    assert abs(held - wanted) < 4 * error


def test_simultaneous_band_of_many_rows(global_random_seed):
    """Beyond 400 rows the order statistics are looked at in 400 places: still enough."""
    n, samples = 1500, 2000
    tail = local_tail(n)
    rng = np.random.default_rng(global_random_seed)
    place = np.arange(1, n + 1)
    low = stats.beta(place, n + 1 - place).ppf(tail)
    uniform = np.sort(rng.random((samples, n)), axis=1)
    held = np.mean(np.all((low <= uniform) & (uniform <= 1 - low[::-1]), axis=1))
    wanted = np.sqrt(0.95)
    error = np.sqrt(wanted * (1 - wanted) * (1 / 4000 + 1 / samples))  # .0043
    assert abs(held - wanted) < 4 * error


def test_same_band_for_everybody():
    y, score = sample(0)
    np.testing.assert_array_equal(roc_band(y, score).high, roc_band(y, score).high)
    rank = stats.rankdata(score)
    np.testing.assert_array_equal(roc_band(y, rank).high, roc_band(y, score).high)
    np.testing.assert_array_equal(pr_band(y, rank).low, pr_band(y, score).low)


def test_labels_and_classes():
    y, score = sample(0)
    expected = roc_band(y, score)
    named = np.array(["yes", "no"])[y]
    for found in (
        roc_band(named, score, pos_label="no"),
        roc_band(np.array(["no", "yes"])[y], np.c_[-score, score]),
        roc_band(2 * y - 1, score),
    ):
        np.testing.assert_array_equal(found.low, expected.low)
    turned = roc_band(y, -score, pos_label=0)
    assert (turned.n_positive, turned.n_negative) == (40, 30)
    assert turned.area.observed == pytest.approx(expected.area.observed)
    X, y = load_iris(return_X_y=True)
    proba = GaussianNB().fit(X[:, 1:2], y).predict_proba(X[:, 1:2])
    one = pr_band(y, proba, pos_label=2)
    np.testing.assert_array_equal(one.low, pr_band(y == 2, proba[:, 2]).low)
    for make in MAKERS:
        with pytest.raises(ValueError, match="a curve is about one class, and there are 3"):
            make(y, proba)


def test_rows_beyond_all_others():
    y = np.repeat([0, 1], [6, 8])
    best, worst = roc_band(y, y), roc_band(y, 1 - y)
    assert best.at(0.9)[1] == 1
    assert worst.at(0.1)[0] == 0
    for found in (best, worst):
        assert np.all(found.high > found.low)
    assert pr_band(y, y).at(0.5)[1] == 1


@pytest.mark.parametrize("make", MAKERS)
def test_many_rows(make):
    y, score = sample(0, 2_000, 98_000)
    found = make(y, score, band="pointwise")
    x, curve = (
        (found.curve_fpr[1:-1], found.curve_tpr[1:-1])
        if make is roc_band
        else (found.curve_recall, found.curve_precision)
    )
    low, high = found.at(x)
    assert np.all((low <= curve) & (curve <= high))


@pytest.mark.parametrize("make", MAKERS)
def test_band_errors(make):
    y, score = sample(0)
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\), got 95"):
        make(y, score, level=95)
    with pytest.raises(ValueError, match=r"band must be one of .* Did you mean 'pointwise'\?"):
        make(y, score, band="point")
    with pytest.raises(ValueError, match="finite numbers"):
        make(y, np.where(score > 1, np.nan, score))
    with pytest.raises(ValueError, match="no rows of class 1"):
        make([0, 0, 0], [1, 2, 3], labels=[0, 1])
    for prevalence in (0, 1, 1.5, np.nan):
        with pytest.raises(ValueError, match="prevalence must be a number in"):
            pr_band(y, score, prevalence=prevalence)


@pytest.mark.parametrize("make", MAKERS)
def test_tables_of_bands(make):
    pytest.importorskip("pandas")
    y, score = sample(0, digits=1)
    found = make(y, score, level=0.9, band="pointwise")
    low, high = found.area.interval(0.9)
    name = "roc_auc" if make is roc_band else "average_precision"
    kind = "RocBand" if make is roc_band else "PrecisionRecallBand"
    assert repr(found) == (
        f"{kind}(pointwise, level=0.9, 30 positives, 40 negatives, "
        f"{name}={found.area.observed:.3f} [{low:.3f}, {high:.3f}])"
    )
    frame = found.to_frame()
    x = frame.columns[0]
    assert x == ("fpr" if make is roc_band else "recall")
    np.testing.assert_allclose(found.at(frame[x]), frame[["low", "high"]].to_numpy().T)
    plain = found.to_dict()
    assert plain["low"] == found.low.tolist()
    assert (plain["band"], plain["level"]) == ("pointwise", 0.9)
    assert (plain["n_positive"], plain["n_negative"]) == (30, 40)
    assert plain["area"]["level"] == 0.9
    assert plain["area"]["low"] == low
    assert plain["thresholds"][-1] == score.min()


# --------------------------------------------------------------------------------------------------
# Cross-validation


@pytest.fixture(scope="module")
def data():
    return make_classification(160, n_features=6, flip_y=0.25, weights=[0.6], random_state=3)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_band_of_pooled_folds(make, estimator, pos_label, data):
    X, y = data
    folds = StratifiedKFold(4)
    bcv = BayesianCrossValidator(
        estimator, cv=folds, keep_predictions=True, refit=False, pos_label=pos_label
    ).fit(X, y)
    found = make(y, bcv)
    way = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    score = cross_val_predict(estimator, X, y, cv=folds, method=way)
    if score.ndim == 2:
        score = score[:, pos_label]
    elif pos_label == 0:
        score = -score
    expected = make(y, score, pos_label=pos_label)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.high, expected.high)
    assert found.area.observed == pytest.approx(expected.area.observed)
    # Rows count less in the area, not in the band.
    assert np.ptp(found.area.interval()) > np.ptp(expected.area.interval())


# --------------------------------------------------------------------------------------------------
# Displays

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

DISPLAYS = [(RocBandDisplay, roc_band), (PrecisionRecallBandDisplay, pr_band)]
LONG = [
    "an extremely long $name$ with_many_parts <and> more, which nobody would type",
    "GradientBoostingClassifier(learning_rate=0.05, n_estimators=300, max_depth=3)",
    "_hidden",
]
display_and_band = pytest.mark.parametrize(("cls", "make"), DISPLAYS)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def legend_texts(display):
    texts = [text.get_text() for text in display.legend_.get_texts()]
    return [text.replace("\u00a0", " ").replace("\n", " ").strip() for text in texts]


def area_text(found):
    low, high = found.area.interval(found.level)
    kind = "AUC" if isinstance(found, RocBand) else "AP"
    return f"{kind} {found.area.observed:.3f} [{low:.3f}, {high:.3f}]"


def band_of(fill):
    """Lower and upper ends of a filled band, by its corners."""
    corners = fill.get_paths()[0].vertices
    table = pd.DataFrame(corners.round(9), columns=["x", "y"]).groupby("x")["y"]
    return table.min(), table.max()


@display_and_band
def test_artists_show_the_band(cls, make):
    y, score = sample(0, digits=1)
    display = cls.from_predictions(y, score, level=0.9)
    found = make(y, score, level=0.9)
    low, high = band_of(display.fills_[0])
    np.testing.assert_allclose((low, high), found.at(low.index.to_numpy()), atol=1e-8)
    assert (low.index[0], low.index[-1]) == (0, 1)
    assert len(low) > 300
    (line,) = display.lines_
    x, curve = line.get_data()
    if cls is RocBandDisplay:
        expected = roc_curve(y, score, drop_intermediate=False)[:2]
        np.testing.assert_allclose((x, curve), expected, atol=1e-15)
        assert line.get_drawstyle() == "default"
        np.testing.assert_array_equal(display.chance_line_.get_data(), [[0, 1], [0, 1]])
        bare = cls.from_predictions(y, score, plot_chance_level=False)
        assert bare.chance_line_ is None
    else:
        values, recall, _ = precision_recall_curve(y, score)
        used = recall > 0
        np.testing.assert_allclose(x[1:], recall[used][::-1])
        np.testing.assert_allclose(curve[1:], values[used][::-1])
        assert (x[0], curve[0]) == (0, curve[1])
        assert line.get_drawstyle() == "steps-pre"  # as average precision adds up
        assert display.iso_lines_ == []
    assert legend_texts(display) == [area_text(found)]
    ax = display.ax_
    names = ("false positive rate", "true positive rate")
    names = names if cls is RocBandDisplay else ("recall", "precision")
    assert ax.get_xlabel() == f"{names[0]}; shaded: 90 % simultaneous band"
    assert ax.get_ylabel() == names[1]
    assert ax.get_title() == ""
    assert ax.get_aspect() == 1


@display_and_band
def test_several_models(cls, make):
    y, score = sample(0)
    rng = np.random.default_rng(1)
    scores = {"old": score, "new": score + y, "noise": rng.normal(size=y.size)}
    display = cls.from_predictions(y, scores, name="three", band="pointwise")
    bands = {name: make(y, one, band="pointwise") for name, one in scores.items()}
    assert legend_texts(display) == [f"{name}: {area_text(b)}" for name, b in bands.items()]
    assert display.ax_.get_title() == "three"
    assert len({line.get_color() for line in display.lines_}) == 3
    assert len({line.get_linestyle() for line in display.lines_}) == 3
    frame = display.frame()
    assert frame["name"].unique().tolist() == list(scores)
    for (name, found), fill in zip(bands.items(), display.fills_, strict=True):
        part = frame[frame["name"] == name]
        np.testing.assert_allclose(found.at(part.iloc[:, 1]), part[["low", "high"]].to_numpy().T)
        low, high = band_of(fill)
        np.testing.assert_allclose((low, high), found.at(low.index.to_numpy()), atol=1e-8)
    again = cls.from_band(bands)
    pd.testing.assert_frame_equal(again.frame(), frame)
    # One after the other on the same axes: other colours, one legend of both.
    first = cls.from_predictions(y, score, name="old")
    second = cls.from_predictions(y, score + y, name="new", ax=first.ax_)
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    assert [text.partition(":")[0] for text in legend_texts(second)] == ["old", "new"]


@display_and_band
def test_display_of_an_estimator(cls, make, data):
    X, y = data
    names = np.array(["good", "bad"])[y]  # the first class is "bad"
    for estimator in (GaussianNB(), LinearSVC()):
        fitted = estimator.fit(X[:80], names[:80])
        for pos_label in (None, "bad"):
            display = cls.from_estimator(fitted, X[80:], names[80:], pos_label=pos_label, level=0.8)
            if isinstance(estimator, LinearSVC):
                score = fitted.decision_function(X[80:]) * (1 if pos_label is None else -1)
            else:
                score = fitted.predict_proba(X[80:])[:, 1 if pos_label is None else 0]
            found = make(names[80:], score, pos_label=pos_label or "good", level=0.8)
            assert legend_texts(display) == [f"{type(estimator).__name__}: {area_text(found)}"]
            np.testing.assert_array_equal(display.bands[None].low, found.low)
    assert legend_texts(cls.from_estimator(fitted, X, names, name="mine"))[0].startswith("mine: ")


@display_and_band
def test_display_of_one_class_of_three(cls, make):
    X, y = load_iris(return_X_y=True)
    fitted = GaussianNB().fit(X[::2, :2], y[::2])
    display = cls.from_estimator(fitted, X[1::2, :2], y[1::2], pos_label=1)
    found = make(y[1::2] == 1, fitted.predict_proba(X[1::2, :2])[:, 1])
    np.testing.assert_array_equal(display.bands[None].high, found.high)
    with pytest.raises(ValueError, match=r"3 classes \[0, 1, 2\]: name the one .* pos_label="):
        cls.from_estimator(fitted, X[:, :2], y)
    with pytest.raises(ValueError, match="a fitted classifier with classes_ is needed"):
        cls.from_estimator(GaussianNB(), X, y)


@display_and_band
def test_display_of_cross_validations(cls, make, data):
    X, y = data
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    options = {"cv": folds, "return_estimator": True, "return_indices": True}
    for estimator, way in ((GaussianNB(), "predict_proba"), (LinearSVC(), "decision_function")):
        results = cross_validate(estimator, X, y, **options)
        display = cls.from_cv_results(results, pd.DataFrame(X), y, pos_label=0, name="cv")
        score = cross_val_predict(estimator, X, y, cv=folds, method=way)
        expected = make(y, -score if score.ndim == 1 else score[:, 0], pos_label=0)
        np.testing.assert_array_equal(display.bands[None].low, expected.low)
        np.testing.assert_array_equal(display.bands[None].high, expected.high)
        text = legend_texts(display)[0]
        assert text.startswith(f"cv: {'AUC' if make is roc_band else 'AP'} ")
        assert f"{expected.area.observed:.3f}" in text
        bcv = BayesianCrossValidator(
            estimator, cv=folds, keep_predictions=True, refit=False, pos_label=0
        )
        area = make(y, bcv.fit(X, y)).area  # rows count less than independent ones
        assert display.bands[None].area.interval() == area.interval()
        assert area.interval().length > expected.area.interval().length
        assert "folds pooled" in area.model
    bcv = BayesianCrossValidator(GaussianNB(), cv=folds, keep_predictions=True, refit=False)
    display = cls.from_predictions(y, bcv.fit(X, y), name="bcv")
    np.testing.assert_array_equal(display.bands[None].low, make(y, bcv).low)
    # Without a name the legend says that this is not the mean of the areas of the folds.
    assert legend_texts(cls.from_predictions(y, bcv))[0].startswith("folds pooled: A")
    with pytest.raises(ValueError, match="return_estimator=True, return_indices=True"):
        cls.from_cv_results(cross_validate(GaussianNB(), X, y), X, y)
    options["cv"] = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    with pytest.raises(ValueError, match="every row must be tested once"):
        cls.from_cv_results(cross_validate(GaussianNB(), X, y, **options), X, y)


def test_lines_of_equal_f1():
    y, score = sample(0)
    display = PrecisionRecallBandDisplay.from_predictions(y, score, iso_f1=True)
    assert len(display.iso_lines_) > 3
    for line in display.iso_lines_:
        recall, values = line.get_data()
        f1 = 2 * recall * values / (recall + values)
        assert np.ptp(f1) < 1e-9
    labels = [text.get_text() for text in display.ax_.texts]
    assert "F1 0.8" in labels


@display_and_band
def test_what_all_displays_promise(cls, make, tmp_path):
    y, score = sample(0)
    before = dict(matplotlib.rcParams)
    display = cls.from_predictions(y, {"a": score, "b": -score}, name="some title")
    assert dict(matplotlib.rcParams) == before
    buffer = io.BytesIO()
    display.figure_.savefig(buffer, dpi=60)
    buffer.seek(0)
    image = plt.imread(buffer)
    assert len(np.unique(image.reshape(-1, image.shape[-1]), axis=0)) > 30
    text = display.alt_text()
    assert "\n" not in text
    assert text.endswith(".")
    for name, found in display.bands.items():
        assert f"{name}: {area_text(found)}" in text.replace("\u00a0", " ")
        low, high = found.at(0.5)
        assert f"0.5 from {low:.3f} to {high:.3f}" in text
    assert "95 % simultaneous band" in text
    display.save(tmp_path / "figure.png", dpi=50)
    with pytest.importorskip("PIL.Image").open(tmp_path / "figure.png") as saved:
        assert saved.text["Description"] == text
        assert saved.text["Title"] == "some title"
    assert display.plot() is display  # again, on a figure of its own
    assert len(plt.get_fignums()) == 2
    many = cls.from_predictions(y, {f"model {k}": score + k * y for k in range(12)})
    assert "and 2 more" in many.alt_text()


@display_and_band
def test_names_stay_inside_the_figure(cls, make):
    y, score = sample(0)
    display = cls.from_predictions(y, {name: score for name in LONG}, name="costs in $ or $$ " * 3)
    display.figure_.canvas.draw()
    edge = display.figure_.bbox
    ax = display.ax_
    legend = display.legend_.get_texts()
    assert len(legend) == 3
    boxes = []
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *legend):
        box = text.get_window_extent()
        assert box.x0 >= edge.x0 - 1
        assert box.x1 <= edge.x1 + 1
        assert box.y0 >= edge.y0 - 1
        assert box.y1 <= edge.y1 + 1
        boxes.append(box.shrunk(0.9, 0.9))
    assert not [a for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]
    assert legend[2].get_text().strip().startswith("_hidden")
    assert all(area_text(display.bands[LONG[0]])[:9] in text for text in legend_texts(display))


@display_and_band
def test_given_axes(cls, make):
    y, score = sample(0)
    figure, axes = plt.subplots(1, 2, figsize=(10, 5))
    display = cls.from_predictions(y, score, ax=axes[1], name="given")
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    figure.canvas.draw()
    assert axes[1].get_tightbbox().x0 >= axes[0].get_tightbbox().x1 - 1
    assert axes[1].get_tightbbox().y1 <= figure.bbox.y1 + 1


@display_and_band
def test_options_reach_the_artists(cls, make):
    y, score = sample(0)
    display = cls.from_predictions(
        y,
        score,
        line_kwargs={"c": "red", "lw": 5},
        fill_kwargs={"alpha": 0.5},
        legend_kwargs={"loc": "lower right"},
    )
    assert display.lines_[0].get_color() == "red"
    assert display.lines_[0].get_linewidth() == 5
    assert display.fills_[0].get_alpha() == 0.5


@display_and_band
def test_display_errors(cls, make, monkeypatch):
    y, score = sample(0)
    other = pr_band if make is roc_band else roc_band
    with pytest.raises(TypeError, match=r"bands must be .*Band, or a dict of them by name, got"):
        cls.from_band(other(y, score))
    with pytest.raises(ValueError, match="at least one band, got an empty dict"):
        cls.from_band({})
    with pytest.raises(TypeError, match=r"'line_kwarg' here. Did you mean 'line_kwargs'\?"):
        cls.from_predictions(y, score, line_kwarg={})
    fitted = GaussianNB().fit(score[:, None], y)
    with pytest.raises(TypeError, match=r"no option 'bands' here."):
        cls.from_estimator(fitted, score[:, None], y, bands="pointwise")
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, got ndarray"):
        cls.from_predictions(y, score, ax=plt.subplots(1, 2)[1])
    display = cls.from_predictions(y, score)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"plot needs matplotlib.*skuncertain\[plot\]"):
        display.plot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"frame needs pandas.*skuncertain\[pandas\]"):
        display.frame()
    with pytest.raises(ImportError, match=r"to_frame needs pandas.*skuncertain\[pandas\]"):
        make(y, score).to_frame()


# --------------------------------------------------------------------------------------------------
# Found by looking for trouble


@pytest.mark.parametrize("cuts", [[], [0.5], [0.0, 1.0]], ids=["constant", "two", "three"])
@pytest.mark.parametrize("band", BANDS)
def test_band_holds_the_line_between_tied_rows(cuts, band):
    y, score = sample(0, 200, 200)
    score = np.digitize(score, cuts)
    found = roc_band(y, score, band=band)
    grid = np.linspace(0, 1, 101)
    line = np.interp(grid, found.curve_fpr, found.curve_tpr)
    low, high = found.at(grid)
    assert np.all(low <= line + 1e-12)
    assert np.all(line <= high + 1e-12)


@pytest.mark.parametrize("band", BANDS)
def test_pr_band_holds_the_step_between_tied_rows(band):
    y = np.repeat([0, 1], 200)
    found = pr_band(y, np.zeros(400), band=band)
    low, high = found.at(np.linspace(0.05, 1, 96))
    assert np.all(low <= 0.5)
    assert np.all(high >= 0.5)


def test_area_beside_a_curve_of_another_prevalence():
    y, score = sample(0)
    found = pr_band(y, score, prevalence=0.01)
    weight = np.where(y == 1, 0.01 / 30, 0.99 / 40)
    expected = average_precision_score(y, score, sample_weight=weight)
    assert found.area.observed == pytest.approx(expected)
