"""What every report says: level, prior, question, warnings, and no digit too many."""

import html
import json
import pickle
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB

import skuncertain
from report_cases import (
    ASK,
    EMPTY,
    GRID,
    KINDS,
    NB,
    PETS,
    THREE,
    TREE,
    TWO,
    X,
    Y,
    ends,
    quiet,
    rows_of,
    same,
    shared_rows,
    table,
    texts,
    two_models,
)
from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_paired,
    interval_report,
    leaderboard,
    search_posterior,
)
from skuncertain.exceptions import DegenerateIntervalWarning, SmallSampleWarning
from skuncertain.metrics import metric_posterior
from skuncertain.model_selection import fold_posterior


@pytest.mark.parametrize("name", KINDS)
def test_what_every_report_says(name):
    make, _, settings, question, _ = KINDS[name]
    report = make()
    keys = ("level", "kind", "prior", "method", "row weight", "n", "K")
    values = ("90 %", "highest-density (hdi)", *settings.split(" & "))
    between = {"text": " +", "markdown": ": ", "html": r"\n+"}
    for form, text in texts(report).items():
        for key, expected in zip(keys, values, strict=True):
            value = "" if expected == "-" else f"{re.escape(expected)}$"
            line = rf"^(- )?{key}{between[form]}{value}"
            found = re.search(line, text, flags=re.MULTILINE)
            assert bool(found) == (expected != "-"), (form, key)
        assert question in text
    assert report.to_dict()["warnings"] == []
    assert all("Warnings" not in text for text in texts(report).values())


@pytest.mark.filterwarnings("ignore")  # it is about them
@pytest.mark.parametrize("name", KINDS)
def test_every_report_lists_its_warnings(name):
    _, make, *_, warning = KINDS[name]
    report = make()
    assert any(text.startswith(warning) for text in report.to_dict()["warnings"])
    found = texts(report)
    assert f"\n- {warning}" in found["text"].split("\n\nWarnings")[1]
    assert f"\n- {warning}" in found["markdown"].split("\n## Warnings\n")[1]
    assert f"\n{warning}" in found["html"]
    assert report.to_frame().attrs["warnings"] == report.to_dict()["warnings"]


def test_warnings_do_not_depend_on_what_was_asked_before():
    bcv = BayesianCrossValidator(NB, cv=5, method="nadeau_bengio", metrics=["recall"], level=0.999)
    fresh = bcv.fit(X, Y).report().to_dict()["warnings"]
    with pytest.warns(DegenerateIntervalWarning):
        assert bcv.fit(X, Y).intervals_["recall"].high == 1  # cut off
    assert len(fresh) == 1
    assert bcv.report().to_dict()["warnings"] == fresh
    assert bcv.report(level=0.5).to_dict()["warnings"] == []  # that one is within the range


@quiet
@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_warnings_of_the_fit_are_listed():
    bcv = BayesianCrossValidator(NB, cv=KFold(6), metrics=["accuracy"])
    with pytest.warns(UserWarning, match="class") as caught:
        bcv.fit(X, np.repeat([0, 1, 2], [100, 100, 40]))
    assert str(caught[0].message) in bcv.report().to_dict()["warnings"]


def test_warnings_of_a_search_are_listed_and_not_raised():
    rows, classes = (part[::6] for part in load_iris(return_X_y=True))
    scorer = ConfusionCountsScorer(metrics=["f1_macro"])
    search = GridSearchCV(TREE, GRID, cv=3, scoring=scorer, refit="f1_macro").fit(rows, classes)
    with pytest.warns(SmallSampleWarning, match="few rows"):
        result = search_posterior(search)
    assert "f1_macro averages over classes with few rows" in str(result.report())


class PickyNB(GaussianNB):
    """Wants to see the first row."""

    def fit(self, X, y, sample_weight=None):
        if X[0, 0] != globals()["X"][0, 0]:
            raise ValueError("no")
        return super().fit(X, y)


@pytest.mark.filterwarnings(r"ignore:\s+1 fits failed")
def test_lost_folds_are_listed():
    bcv = BayesianCrossValidator(PickyNB(), cv=KFold(5), error_score=np.nan, metrics=["f1"])
    with pytest.warns(FitFailedWarning, match="left out"):
        report = bcv.fit(X, Y).report()
    assert "- folds [0] failed and are left out." in str(report)
    assert [row["split"] for row in rows_of(report, "folds")] == [1, 2, 3, 4]


def test_results_remember_their_warnings():
    for make in (
        lambda: compare(TWO[0], EMPTY, metric="recall"),
        lambda: leaderboard([TWO[0], EMPTY], metric="recall"),
    ):
        with pytest.warns(UndefinedMetricWarning, match="recall is 0/0") as caught:
            result = make()
        assert caught[0].filename == __file__  # they still point to the caller
        assert result.warnings == (str(caught[0].message),)
        assert result.to_dict()["warnings"] == list(result.warnings)
        assert pickle.loads(pickle.dumps(result)).warnings == result.warnings
    assert compare(*TWO, metric="recall").warnings == ()


# --------------------------------------------------------------------------------------------------
# Digits


def printed(report, heading):
    """Cells of a table in Markdown, by row and column."""
    block = report.to_markdown().split(f"## {heading}\n\n")[1].split("\n\n")[0]
    header, _, *lines = ([c.strip() for c in line[1:-1].split(" | ")] for line in block.split("\n"))
    return {line[0]: dict(zip(header, line, strict=True)) for line in lines}


def numbers_in(text):
    """Numbers in a text, and the units of their last digits."""
    found = re.findall(r"-?\d+(?:\.\d+)?", text)
    return [(float(one), 10.0 ** -len(one.partition(".")[2])) for one in found]


def units_apart(text, values):
    """How many units of the last digit printed numbers differ from the rounded truth."""
    return [
        abs(shown - round(value / unit) * unit) / unit
        for (shown, unit), value in zip(numbers_in(text), values, strict=True)
    ]


def drawn_reports(make, global_random_seed, number):
    return (make(random_state=1000 * global_random_seed + k + 1) for k in range(number))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_printed_ends_agree_with_many_more_draws(kind, global_random_seed):
    """The error is half a unit at most: two units are seen one time in a hundred at worst."""

    def make(n_draws=2000, **options):
        return interval_report(THREE, kind=kind, level=0.9, n_draws=n_draws, **options)

    many = table(make(n_draws=200_000, random_state=global_random_seed))
    apart = []
    for report in drawn_reports(make, global_random_seed, 30):
        for name, base in (("macro", "f1"), ("weighted", "precision"), ("weighted", "f1")):
            text = printed(report, "Scores")[f"{name} avg"][base]
            apart += units_apart(text.split(" ", 1)[1], ends(many[f"{name} avg"][base]))
    assert np.mean(np.array(apart) > 1.01) <= 0.03
    assert np.mean(np.array(apart) > 0.99) > 0.01  # and there is no digit to spare


@pytest.mark.parametrize("what", ["P(best)", "rank", "loss", "mean", "ranks", "pairs"])
def test_printed_rankings_agree_with_many_more_draws(what, global_random_seed):
    many = shared_rows(n_draws=50_000, random_state=global_random_seed)
    apart = []
    for board in drawn_reports(
        lambda **options: shared_rows(n_draws=200, **options), global_random_seed, 25
    ):
        report = board.report()
        for k, name in enumerate(many.names[:3]):
            heading, key, expected = {
                "P(best)": ("Models", "P(best)", many.p_best[k]),
                "rank": ("Models", "rank", many.expected_rank[k]),
                "loss": ("Models", "loss", many.expected_loss[k]),
                "mean": ("Models", "f1, mean", many.mean[k]),
                "ranks": ("Probability of every rank", "rank 2", many.rank_probabilities[k, 1]),
                "pairs": ("Probability of being better", "better than second", many.pairwise[k, 1]),
            }[what]
            apart += units_apart(printed(report, heading)[name][key].split(" ")[0], [expected])
    assert np.mean(np.array(apart) > 1.01) <= 0.05


def test_printed_median_agrees_with_many_more_draws(global_random_seed):
    def make(n_draws=200, **options):
        return compare_paired(*two_models(), metric="f1", n_draws=n_draws, **options)

    many = make(n_draws=50_000, random_state=global_random_seed).difference.median()
    apart = []
    for result in drawn_reports(make, global_random_seed, 25):
        text = printed(result.report(), "Difference")["B - A"]["f1, median"]
        apart += units_apart(text.split(" ")[0], [many])
    assert np.mean(np.array(apart) > 1.01) <= 0.05


def test_no_probability_is_rounded_to_certainty():
    good, poor = ConfusionCounts([[90, 10], [10, 90]]), ConfusionCounts([[60, 40], [40, 60]])
    exact = compare(poor, good, metric="accuracy", rope=0.01)
    assert 0 < exact.p_worse < 1e-6
    for digits, zero, one in ((None, "<0.001", ">0.999"), (2, "<0.01", ">0.99"), (0, "0", "1")):
        row = printed(exact.report(digits=digits), "Difference")["B - A"]
        shown = [row[key].replace("\\", "") for key in row if key.startswith("P(")]
        assert shown == [zero, zero, one]
    truth = np.array([0, 1] * 100)
    guesses = np.where(np.arange(200) % 5, truth, 1 - truth), truth
    drawn = compare_paired(truth, *guesses, metric="f1", n_draws=400, random_state=0)
    assert (drawn.p_worse, drawn.p_equivalent, drawn.p_better) == (0, 0, 1)
    row = printed(drawn.report(), "Difference")["B - A"]
    shown = [row[key].replace("\\", "") for key in row if key.startswith("P(")]
    assert shown == ["<0.01", "0.000", ">0.99"]  # without a ROPE nothing is equivalent
    text = html.unescape(drawn.report().to_html())
    assert "A better: <0.01; equivalent: 0.00; B better: >0.99" in text
    frame = drawn.report().to_frame()
    assert frame.loc["B - A", ["p_worse", "p_better"]].tolist() == [0, 1]


def test_few_draws_print_fewer_digits():
    units = []
    for n_draws in (100, 5000, 200_000):
        report = interval_report(THREE, n_draws=n_draws, random_state=0)
        text = printed(report, "Scores")["macro avg"]["f1"].split(" ", 1)[1]
        units += {unit for _, unit in numbers_in(text)}
    assert units == [0.1, 0.01, 0.001]


@pytest.mark.parametrize("digits", [0, 2, 6])
def test_digits_that_are_asked_for(digits):
    report = interval_report(THREE, n_draws=2000, random_state=0, digits=digits)
    shown, found = printed(report, "Scores"), table(report)
    exact = numbers_in(shown["ant"]["recall"])
    assert [unit for _, unit in exact] == [10.0**-digits] * 3
    cell = found["ant"]["recall"]
    same([number for number, _ in exact], np.round([cell["value"], *ends(cell)], digits))
    drawn = numbers_in(shown["macro avg"]["f1"].split(" ", 1)[1])
    assert all(unit >= 2 * found["macro avg"]["f1"]["error"] for _, unit in drawn)


def test_narrow_intervals_get_more_digits():
    report = interval_report(ConfusionCounts([[10**9, 10**6], [10**6, 10**9]]), n_draws=100)
    _, (low, unit), (high, _) = numbers_in(printed(report, "Scores")["accuracy"]["f1"])
    assert unit < 1e-5
    assert 0 < high - low < 1e-5


def in_groups(seed):
    """Bayesian bootstrap over fifteen groups, of a metric that is drawn."""
    truth, guess = [0, 1, 1] * 20, [0, 1, 0] * 15 + [0, 1, 1] * 5
    options = {"metric": "mcc", "groups": np.arange(60) // 4, "n_draws": 600}
    return metric_posterior(truth, guess, random_state=seed, **options)


@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize(
    ("make", "number"),
    [
        (lambda seed: THREE.posterior("f1_macro", n_draws=600, random_state=seed), 200),
        (in_groups, 200),
        (
            lambda seed: fold_posterior(PARTS, "mcc", n_draws=600, random_state=seed),
            40,
        ),  # a fitted family
    ],
    ids=["dirichlet", "groups", "folds"],
)
def test_interval_error(make, number, kind, global_random_seed):
    """The error that is claimed is about the one that is seen between seeds."""
    posteriors = [make(1000 * global_random_seed + k) for k in range(number)]
    seen = np.std([posterior.interval(0.9, kind) for posterior in posteriors], axis=0, ddof=1).max()
    claimed = np.mean([posterior.interval_error(0.9, kind) for posterior in posteriors])
    assert 0.6 < claimed / seen < 1.8


PARTS = ConfusionCounts(np.stack([THREE.counts + k for k in range(5)]))


def test_exact_intervals_have_no_error():
    assert PETS.posterior("f1").interval_error() == 0
    assert fold_posterior(PARTS, "accuracy").interval_error(0.9, "hdi") == 0
    np.testing.assert_array_equal(PARTS.posterior("accuracy").interval_error(), np.zeros(5))


@pytest.mark.parametrize(
    "posterior",
    [PETS.posterior("f1"), THREE.posterior("f1_macro", n_draws=500, random_state=7)],
    ids=["exact", "drawn"],
)
def test_posteriors_as_dicts(posterior):
    found = posterior.to_dict(**ASK)
    same((found["low"], found["high"]), posterior.interval(**ASK))
    same(found["interval_error"], posterior.interval_error(**ASK))
    assert found["skuncertain"] == skuncertain.__version__
    assert (found["seed"], found["n_draws"]) == (posterior.seed, posterior.n_draws)
    assert found["prior"] == posterior.prior
    assert json.loads(json.dumps(found, allow_nan=False)) == found
