"""Coverage studies: exact figures against independent enumeration, results, bad input."""

import itertools
import json
import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skuncertain import ConfusionCounts, credible_interval
from skuncertain.coverage import BinomialPopulation, MultinomialPopulation, coverage_study
from skuncertain.display import CoverageDisplay
from skuncertain.metrics import get_metric, proportion_posterior

GRID = np.arange(1, 100) / 100


@pytest.mark.parametrize(
    ("method", "mean", "lowest"),
    [
        # The figures of the five methods of an Idiap thesis on bob.measure (its Fig. 5, there by
        # simulation), n = 100, rates .01 to .99; computed independently with scipy's binomial.
        ("laplace", 0.9492, 0.9206),
        ("jeffreys", 0.9496, 0.9212),
        ("clopper_pearson", 0.9649, 0.9543),
        ("agresti_coull", 0.9543, 0.9398),
        ("wilson", 0.9492, 0.9206),
    ],
)
def test_five_methods_at_100_rows(method, mean, lowest):
    study = coverage_study([method], BinomialPopulation(GRID), n=100)
    assert study.exact
    found = study.summary()[method]
    assert_allclose([found["mean_coverage"], found["min_coverage"]], [mean, lowest], atol=5e-5)
    assert_array_equal(study.coverage_error, 0)


def test_exact_coverage_against_scipy():
    n, k = 40, np.arange(41)
    mass = stats.binom.pmf(k, n, GRID[:, None])
    low, high = stats.beta.ppf([[0.025], [0.975]], k + 0.5, n - k + 0.5)
    low[0], high[-1] = 0, 1  # the rule at the ends
    inside = (low <= GRID[:, None]) & (GRID[:, None] <= high)
    study = coverage_study(["jeffreys"], BinomialPopulation(GRID), n=n)
    assert_allclose(study.coverage[0], (mass * inside).sum(axis=1), rtol=1e-10)
    assert_allclose(study.width[0], mass @ (high - low), rtol=1e-10)
    assert_array_equal(study.n_replications, 41)


def test_plain_quantiles_differ_at_the_ends_only():
    # The thesis takes plain quantiles; the library closes intervals at 0 and 1. On the grid of its
    # figure, which starts at .01, that changes nothing; near 0 plain quantiles never hold the rate.
    def plain(counts, level):
        hits, misses = counts.counts[..., 1, 1], counts.counts[..., 1, 0]
        posterior = proportion_posterior(hits, misses, prior="laplace")
        return posterior.quantile((1 - level) / 2), posterior.quantile((1 + level) / 2)

    methods = {"plain": plain, "closed": "laplace"}
    study = coverage_study(methods, BinomialPopulation(GRID), n=100)
    assert_allclose(study.coverage[0], study.coverage[1], rtol=1e-12)
    study = coverage_study(methods, BinomialPopulation(1e-4), n=100)
    assert study.coverage[0] < 0.01
    assert study.coverage[1] > 0.99


def _brute_force(matrix, n, metric, prior):
    """Coverage by a loop over all confusion matrices."""
    truth, covered = get_metric(metric)(matrix), 0.0
    for cells in itertools.product(range(n + 1), repeat=3):
        if sum(cells) <= n:
            counts = np.reshape([*cells, n - sum(cells)], (2, 2))
            mass = stats.multinomial.pmf(counts.ravel(), n, np.ravel(matrix))
            low, high = credible_interval(ConfusionCounts(counts), metric=metric, prior=prior)
            covered += mass * (low <= truth <= high)
    return covered


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("metric", ["f1", "precision", "accuracy", "balanced_accuracy", "npv"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_matrices_against_brute_force(metric, pos_label):
    matrix, n = np.array([[0.45, 0.2], [0.05, 0.3]]), 5
    study = coverage_study(
        {"a": {"prior": "neutral"}},
        MultinomialPopulation(matrix),
        n=n,
        metric=metric,
        pos_label=pos_label,
    )
    assert study.exact
    turned = matrix if pos_label == 1 else matrix[::-1, ::-1]
    assert_allclose(study.coverage[0], _brute_force(turned, n, metric, "neutral"), rtol=1e-9)


def test_functions_of_counts_stacked_or_not():
    population = MultinomialPopulation([[0.5, 0.1], [0.15, 0.25]])

    def stacked(counts):
        return credible_interval(counts, metric="f1", prior="laplace")

    def one_by_one(counts):
        assert counts.shape == ()
        return tuple(credible_interval(counts, metric="f1", prior="laplace"))

    def deceptive(counts):  # has the right shape for a stack, but is right for one matrix only
        low, high = credible_interval(counts, metric="f1", prior="laplace")
        return (low, high) if counts.shape == () else (np.zeros_like(low), high)

    methods = {
        "name": "laplace",
        "options": {"prior": 1.0},
        "partial": partial(credible_interval, prior="laplace"),
        "stacked": stacked,
        "one by one": one_by_one,
        "deceptive": deceptive,
    }
    study = coverage_study(methods, population, n=10, metric="f1")
    assert study.exact
    assert_allclose(study.coverage, study.coverage[0], rtol=1e-12)
    # three kinds of rows are enough for the first two: the same figures from fewer outcomes
    reduced = coverage_study(["laplace"], population, n=10, metric="f1")
    assert reduced.n_replications < study.n_replications
    assert_allclose(reduced.coverage[0], study.coverage[0], rtol=1e-10)


def test_what_a_function_is_given():
    seen = {}

    def method(counts, *, level, kind, metric, pos_label):
        seen.update(level=level, kind=kind, metric=metric, pos_label=pos_label)
        return 0.0, 1.0

    coverage_study({"mine": method}, BinomialPopulation(0.5), n=5, level=0.8, kind="hdi")
    assert seen == {"level": 0.8, "kind": "hdi", "metric": "recall", "pos_label": None}


def test_three_classes_accuracy():
    matrix = np.array([[0.3, 0.03, 0.02], [0.02, 0.3, 0.03], [0.03, 0.02, 0.25]])
    study = coverage_study(["wilson", "laplace"], MultinomialPopulation(matrix), n=50)
    binomial = coverage_study(["wilson"], BinomialPopulation(0.85), n=50)
    assert_allclose(study.coverage[0], binomial.coverage[0], rtol=1e-10)
    recall = coverage_study(
        ["jeffreys"], MultinomialPopulation(matrix), n=25, metric="recall", pos_label=2
    )
    assert recall.exact
    assert_allclose(recall.truth, 25 / 30)


def test_surface_of_f1(global_random_seed):
    # Precision against recall; pairs that would need more negatives than there are stay empty.
    rates = np.array([0.1, 0.5, 0.9])
    population = MultinomialPopulation.from_rates(precision=rates[:, None], recall=rates)
    study = coverage_study(["laplace", "neutral"], population, n=60, metric="f1")
    assert study.coverage.shape == (2, 3, 3)
    possible = rates * (1 - rates[:, None]) / rates[:, None] <= 1
    assert_array_equal(np.isfinite(study.coverage), np.stack([possible, possible]))
    p, r = rates[:, None], rates
    assert_allclose(study.truth[possible], (2 * p * r / (p + r))[possible])
    assert_array_equal(study.n_replications == 0, ~possible)
    drawn = coverage_study(
        ["laplace", "neutral"],
        population,
        n=60,
        metric="f1",
        n_replications=1500,
        random_state=global_random_seed,
    )
    gap = np.abs(drawn.coverage - study.coverage) / drawn.coverage_error
    assert np.nanmax(gap) < 4.5  # 14 normal deviates
    assert_array_equal(np.isnan(gap), np.isnan(study.coverage))
    assert_allclose(drawn.width, study.width, atol=5 * np.nanmax(drawn.width_error))


def test_functions_see_the_positive_class():
    population = MultinomialPopulation([[0.5, 0.1], [0.15, 0.25]])

    def mine(counts, level):
        return credible_interval(counts, metric="recall", prior="jeffreys", level=level)

    for replications in (None, 300):
        study = coverage_study(
            {"mine": mine, "named": "jeffreys"},
            population,
            n=15,
            metric="recall",
            pos_label=0,
            n_replications=replications,
            random_state=0,
        )
        assert_allclose(study.truth, 0.5 / 0.6)
        assert study.exact == (replications is None)
        assert_allclose(study.coverage[0], study.coverage[1])


def test_several_numbers_of_rows():
    study = coverage_study(["jeffreys"], BinomialPopulation([0.2, 0.7]), n=[10, 20, 40])
    assert study.coverage.shape == (1, 2, 3)
    for k, n in enumerate((10, 20, 40)):
        one = coverage_study(["jeffreys"], BinomialPopulation([0.2, 0.7]), n=n)
        assert_array_equal(study.coverage[..., k], one.coverage)
    assert_array_equal(study.points["n"], [[10, 20, 40]] * 2)
    assert_array_equal(study.points["p"], [[0.2] * 3, [0.7] * 3])


def test_methods_that_draw_are_simulated(global_random_seed):
    population = MultinomialPopulation([[0.45, 0.05], [0.1, 0.4]])
    study = coverage_study(
        {"bootstrap": {"method": "bootstrap", "n_resamples": 200}},
        population,
        n=40,
        n_replications=60,
        random_state=global_random_seed,
    )
    assert not study.exact
    assert 0.7 < study.coverage[0] <= 1  # .93 expected, 60 samples
    perfect = coverage_study(
        {"bootstrap": {"method": "bootstrap", "n_resamples": 50}},
        MultinomialPopulation([[0.5, 0.0], [0.0, 0.5]]),
        n=10,
        n_replications=5,
        random_state=0,
    )
    (text,) = perfect.warnings
    assert text.startswith("bootstrap: DegenerateIntervalWarning: ")


# --------------------------------------------------------------------------------------------------
# What fails


def test_methods_that_fail_are_counted():
    def picky(counts):
        hits = int(counts.counts[..., 1, 1])
        if hits == 3:
            raise ArithmeticError("three is too many")
        if hits == 4:
            return np.nan, np.nan
        return credible_interval(counts, metric="recall", prior="jeffreys")

    study = coverage_study({"picky": picky, "jeffreys": "jeffreys"}, BinomialPopulation(0.5), n=10)
    mass = stats.binom.pmf(np.arange(11), 10, 0.5)
    assert study.exact
    assert_allclose(study.failed, [mass[3] + mass[4], 0], atol=1e-12)
    # an interval that is not there does not hold the truth
    assert_allclose(study.coverage[1] - study.coverage[0], mass[3] + mass[4])
    assert set(study.failures) == {
        ("picky", "ArithmeticError: three is too many", 1),
        ("picky", "an end of the interval is NaN", 1),
    }


def test_a_method_that_always_fails_is_an_error():
    with pytest.raises(ValueError, match="method 'mine' failed on every sample: ZeroDivisionError"):
        coverage_study({"mine": lambda counts: 1 / 0}, BinomialPopulation(0.5), n=4)
    with pytest.raises(ValueError, match=r"must return a pair \(low, high\)"):
        coverage_study({"mine": lambda counts: 0.5}, BinomialPopulation(0.5), n=4)


@pytest.mark.parametrize("stacked", [False, True])
def test_ends_that_were_exchanged_are_failures(stacked):
    def share(counts):
        hits = counts.counts[..., 1, 1]
        return hits / 4 if stacked else float(hits) / 4

    with pytest.raises(ValueError, match=r"every sample: ValueError: must return low <= high, got"):
        coverage_study({"mine": lambda c: (share(c) + 1, share(c))}, BinomialPopulation(0.5), n=4)
    study = coverage_study(
        {"mine": lambda c: (share(c), 1 - share(c))}, BinomialPopulation(0.5), n=4
    )
    assert_allclose(study.failed, 5 / 16)  # 3 or 4 hits
    assert "2 intervals failed" in repr(study)


# --------------------------------------------------------------------------------------------------
# The result


def test_result():
    study = coverage_study(
        ["jeffreys", "wilson"],
        BinomialPopulation([0.3, 0.6]),
        n=20,
        n_replications=500,
        random_state=7,
    )
    assert study.seed == 7
    again = pickle.loads(pickle.dumps(study))
    assert_array_equal(study.coverage, again.coverage)
    assert repr(study) == repr(again)
    plain = json.loads(json.dumps(study.to_dict()))
    assert plain["coverage"] == study.coverage.tolist()
    assert plain["points"] == {"p": [0.3, 0.6], "n": [20, 20]}
    assert plain["seed"] == 7
    with pytest.raises(AttributeError):
        study.level = 0.9
    frame = study.to_frame()
    assert len(frame) == 4
    assert_array_equal(frame["coverage"], study.coverage.ravel())
    assert list(frame["method"]) == ["jeffreys"] * 2 + ["wilson"] * 2
    assert "\n" not in repr(study)
    assert "500 replications" in repr(study)


def test_errors_of_simulated_figures(global_random_seed):
    # Twenty studies of the same point scatter as much as their errors say.
    studies = [
        coverage_study(
            ["jeffreys"],
            BinomialPopulation(0.9),
            n=30,
            n_replications=400,
            random_state=100 * global_random_seed + k,
        )
        for k in range(40)
    ]
    exact = coverage_study(["jeffreys"], BinomialPopulation(0.9), n=30)
    for name in ("coverage", "width"):
        values = np.array([getattr(s, name)[0] for s in studies])
        errors = np.array([getattr(s, f"{name}_error")[0] for s in studies])
        score = (values - getattr(exact, name)[0]) / errors
        # sum of squares: chi-squared with 40 degrees of freedom, once in a hundred thousand
        assert np.sum(score**2) < stats.chi2.ppf(1 - 1e-5, 40)
        assert np.sum(score**2) > stats.chi2.ppf(1e-5, 40)


def test_display_from_study():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    exact = coverage_study(["jeffreys", "wilson"], BinomialPopulation(GRID), n=30)
    display = CoverageDisplay.from_study(exact, name="thirty rows")
    assert isinstance(display, CoverageDisplay)
    assert_array_equal(display.lines_[0].get_ydata(), exact.coverage[0])
    assert display.error is None
    assert display.ax_.get_title() == "thirty rows"
    sizes = CoverageDisplay.from_study(
        coverage_study(
            ["wilson"], BinomialPopulation(0.9), n=[10, 50], n_replications=200, random_state=0
        )
    )
    assert_array_equal(sizes.x, [10, 50])
    assert len(sizes.errors_) == 1
    pyplot.close("all")


def f1_coverage_in_plain_loops(precision, recall, n, prevalence=0.5, level=0.95):
    """Probability of all matrices whose interval of F1 holds it, one pseudo-row per cell.

    F1 = 2 J / (1 + J) rises with the Jaccard index J, which is Beta(TP + 1, FP + FN + 2).
    """
    tp = prevalence * recall
    fn, fp = prevalence - tp, tp * (1 - precision) / precision
    truth, total = 2 * tp / (2 * tp + fn + fp), 0.0
    tail = (1 - level) / 2
    for a, b, c in itertools.product(range(n + 1), repeat=3):
        if a + b + c > n:
            continue
        j = stats.beta(a + 1, b + c + 2).ppf([tail, 1 - tail])
        low, high = 2 * j / (1 + j)
        if a == 0 and b + c > 0:  # nothing found: closed at 0. The density at 1 is 0: open there
            low = 0.0
        if low <= truth <= high:
            shares = [tp, fn, fp, 1 - tp - fn - fp]
            total += stats.multinomial(n, shares).pmf([a, b, c, n - a - b - c])
    return total


def test_image_over_precision_and_recall():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    precision, recall = np.array([0.9, 0.2, 0.6]), np.array([0.3, 0.95])
    study = coverage_study(
        ["laplace", "auto"],
        MultinomialPopulation.from_rates(precision=precision[:, None], recall=recall),
        metric="f1",
        n=8,
    )
    display = CoverageDisplay.from_study(study, method="laplace", name="eight rows")
    frame = display.to_frame()
    assert list(frame) == ["method", "precision", "recall", "coverage"]
    assert set(frame["method"]) == {"laplace"}
    possible = frame.dropna()
    assert len(possible) == 4
    for row in possible.itertuples():
        expected = f1_coverage_in_plain_loops(row.precision, row.recall, 8)
        assert row.coverage == pytest.approx(expected, abs=1e-9)
    # The image has its rows and columns in rising order, whatever that of the study was.
    drawn = display.image_.get_array().reshape(3, 2)
    expected = study.coverage[0][[1, 2, 0]]
    assert_allclose(drawn.filled(np.nan), expected, rtol=1e-12)
    assert display.image_.get_clim() == pytest.approx((0.9, 1.0))
    assert (display.ax_.get_ylabel(), display.ax_.get_title()) == ("precision", "eight rows")
    assert display.ax_.get_xlabel().startswith("recall; hatched: not possible")
    assert len(display.marks_.get_xdata()) == np.sum(expected < 0.9)
    text = display.alt_text()
    assert "over precision from 0.2 to 0.9 and recall from 0.3 to 0.95" in text
    assert "2 of 6 points are not possible" in text
    pyplot.close("all")


def test_image_over_a_rate_and_the_number_of_rows():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    study = coverage_study(["jeffreys"], BinomialPopulation([0.5, 0.9, 0.99]), n=[10, 40])
    display = CoverageDisplay.from_study(study, xscale="log", image_kwargs={"cmap": "PuOr"})
    assert_array_equal(display.x, [10, 40])
    assert_array_equal(display.y, [0.5, 0.9, 0.99])
    assert (display.x_name, display.y_name) == ("number of rows", "true recall")
    assert display.image_.get_cmap().name == "PuOr"
    assert_array_equal(display.coverage["jeffreys"], study.coverage[0])
    pyplot.close("all")


def test_what_an_image_cannot_show():
    pytest.importorskip("matplotlib.pyplot")
    rates = MultinomialPopulation.from_rates(precision=[[0.5], [0.9]], recall=[0.5, 0.9])
    two = coverage_study(["neutral", "laplace"], rates, metric="f1", n=10)
    with pytest.raises(ValueError, match="shows one method, and the study has neutral, laplace"):
        CoverageDisplay.from_study(two)
    with pytest.raises(ValueError, match="method must be one of"):
        CoverageDisplay.from_study(two, method="wilson")
    with pytest.raises(ValueError, match="line_kwargs does not go with an image"):
        CoverageDisplay.from_study(two, method="laplace", line_kwargs={"color": "red"})
    three = coverage_study(["neutral"], rates, metric="f1", n=[5, 10])
    with pytest.raises(ValueError, match="differ in precision and recall and n"):
        CoverageDisplay.from_study(three)
    along = MultinomialPopulation.from_rates(precision=[0.5, 0.9], recall=[0.5, 0.9])
    both = coverage_study(["neutral"], along, metric="f1", n=10)
    with pytest.raises(ValueError, match="if each has an axis of its own"):
        CoverageDisplay.from_study(both)
    one = coverage_study(["neutral", "laplace"], BinomialPopulation([0.5, 0.9]), n=10)
    with pytest.raises(ValueError, match="image_kwargs does not go with curves"):
        CoverageDisplay.from_study(one, image_kwargs={"cmap": "PuOr"})
    assert list(CoverageDisplay.from_study(one, method="laplace").coverage) == ["laplace"]


# --------------------------------------------------------------------------------------------------
# Bad input


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (
            {"population": 0.5},
            TypeError,
            r"population must be a BinomialPopulation.*BinomialPopulation\(p\)",
        ),
        ({"n": 0}, ValueError, "n must be at least 1, got 0"),
        ({"n": 2**60}, ValueError, r"n must be at most 2\*\*53, got 1152921504606846976"),
        ({"n": 2.5}, TypeError, "n must be a number of rows"),
        ({"level": 95}, ValueError, "Did you mean 0.95"),
        ({"kind": "central"}, ValueError, "kind must be one of"),
        ({"n_replications": 1}, ValueError, "n_replications must be an integer >= 2"),
        ({"n_replications": 10.0}, TypeError, "n_replications must be an integer"),
        ({"verbose": -1}, ValueError, "verbose must be an integer >= 0"),
        ({"metric": "f1"}, ValueError, "BinomialPopulation needs a metric that is a proportion"),
        ({"metric": "acuracy"}, ValueError, "accuracy"),
        ({"pos_label": 7}, ValueError, "pos_label 7 is not one of the labels"),
        ({"random_state": "x"}, TypeError, "random_state must be"),
        ({"checkpoint": "no/such/place/a.jsonl"}, ValueError, "directory that exists"),
        ({"methods": []}, ValueError, "at least one method"),
        ({"methods": ["wilsn"]}, ValueError, "Did you mean 'wilson'"),
        ({"methods": ["pooled"]}, ValueError, "'pooled' needs folds: use EstimatorPopulation"),
        ({"methods": ["wilson", "wilson"]}, ValueError, "distinct"),
        ({"methods": lambda counts: (0, 1)}, TypeError, "must be a list of names or a dict"),
        ({"methods": {"a": 3}}, TypeError, "must be a name, a dict of options or a function"),
        ({"methods": {"a": {"priors": 1}}}, ValueError, "unknown option 'priors'.*'prior'"),
        ({"methods": {"a": {"level": 0.9}}}, ValueError, "argument of the whole study"),
        (
            {"methods": {"a": {"prior": "jefreys"}}},
            ValueError,
            "method 'a' does not work.*jeffreys",
        ),
        (
            {"methods": {"a": {"thin": 3}}},
            ValueError,
            "need rows in an order. Use MarkovPopulation",
        ),
        ({"kind": "hdi", "methods": ["wilson"]}, ValueError, "none of the methods is one"),
    ],
)
def test_bad_arguments(change, error, match):
    arguments = {"methods": ["jeffreys"], "population": BinomialPopulation([0.5]), "n": 10} | change
    with pytest.raises(error, match=match):
        coverage_study(**arguments)
