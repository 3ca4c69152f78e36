"""The report of a cross-validation: what it says on either side of every decision."""

import numpy as np
import pytest
from scipy.stats import beta, t

from skuncertain import ConfusionCounts
from skuncertain.metrics import make_metric
from skuncertain.metrics._report_parts import MOST_CLASSES
from skuncertain.model_selection import fold_interval
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_val_report import selected_confusion
from skuncertain.model_selection._fold_methods import FoldOptions
from skuncertain.model_selection._splits import Splits

FOLDS = [[[8, 2], [1, 9]], [[7, 3], [2, 8]], [[9, 1], [3, 7]], [[9, 1], [0, 10]]]
POOLED = np.sum(FOLDS, axis=0)  # [[33, 7], [6, 34]]
OBSTACLE = "rows are tested between 0 and 2 times"

pytestmark = pytest.mark.filterwarnings(
    "ignore::skuncertain.exceptions.DegenerateIntervalWarning",
    "ignore::skuncertain.exceptions.SmallSampleWarning",
    "ignore::sklearn.exceptions.UndefinedMetricWarning",
)


def report_of(matrices, metrics="recall", *, n_repeats=1, failed=(), assumed=False, **settings):
    """Report of fold matrices, as a dict."""
    shown = settings.pop("methods", None)
    counts = ConfusionCounts(np.asarray(matrices))
    size = np.asarray(counts.n)
    found = {name: settings.pop(name) for name in ("obstacle", "overlap") if name in settings}
    splits = Splits(size.sum() // n_repeats - size, size, n_repeats, **found)
    asked = check_metrics(metrics, counts.labels, counts.pos_label)
    options = FoldOptions(**settings)
    result = CrossValPosterior(counts, asked, options, splits, failed, seed=7, assumed=assumed)
    return result.report(methods=shown).to_dict()


def part(report, name):
    return report["sections"][name]


def keys(section):
    return [column["key"] for column in section["columns"]]


# --------------------------------------------------------------------------------------------------
# Settings


@pytest.mark.parametrize(
    ("matrices", "options", "text"),
    [
        (FOLDS[:1], {}, "1 fold"),
        (FOLDS[:2], {}, "2 folds"),
        (FOLDS, {"n_repeats": 2}, "2 folds, repeated 2 times"),
        (FOLDS[:2], {"n_repeats": 2}, "1 fold, repeated 2 times"),
        (FOLDS[:3], {"n_repeats": 2}, "1.5 folds, repeated 2 times"),  # one of four has failed
        (FOLDS, {"assumed": True}, "4 folds (assumed to partition the rows)"),
        (
            FOLDS,
            {"n_repeats": 2, "assumed": True},
            "2 folds, repeated 2 times (assumed to partition the rows)",
        ),
    ],
)
def test_folds_in_words(matrices, options, text):
    assert report_of(matrices, **options)["settings"]["k"] == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "estimated from the folds (Wang and Li: 0.625)"),  # (4 + 1) / 8
        ({"omega": "wang_li"}, "0.625, (K + 1) / (2 K) as published by Wang and Li"),
        ({"omega": 0.7}, "0.7 (Wang and Li: 0.625)"),
        ({"omega": 0.7, "n_repeats": 2}, "0.7 (Wang and Li: 0.750)"),  # (2 + 1) / 4
    ],
)
def test_omega_in_words(options, text):
    assert report_of(FOLDS, **options)["settings"]["omega"] == text


def test_methods_without_omega_or_prior_say_so():
    assert report_of(FOLDS, method="averaged")["settings"]["omega"] is None
    assert report_of(FOLDS, method="averaged")["settings"]["prior"] == "1, shared by the folds"
    for method in ("bootstrap", "t", "corrected_t", "nadeau_bengio"):
        settings = report_of(FOLDS, method=method)["settings"]
        assert (settings["omega"], settings["prior"]) == (None, None)


def test_priors_that_differ_are_told_with_their_metrics():
    one = report_of(FOLDS, ["recall", "accuracy"])["settings"]["prior"]
    assert one == "1 on each side of the proportion"
    two = report_of(FOLDS, ["recall", "mcc", "accuracy", "kappa"])["settings"]["prior"]
    first, second = two.split("; ")
    assert first == f"{one} (recall, accuracy)"
    assert second.endswith(" (mcc, kappa)")


def test_draws_are_told_of_the_metrics_that_have_them():
    three = [np.diag([9, 8, 7]) + 1] * 3
    assert report_of(FOLDS)["settings"]["draws"] is None
    assert report_of(three, ["accuracy"])["settings"]["draws"] is None
    corner = make_metric(lambda m: m[..., 0, 0] / m.sum(axis=(-2, -1)), name="corner")
    assert report_of(three, ["mcc", "f1_macro"])["settings"]["draws"] is None
    told = report_of(three, ["accuracy", corner])["settings"]["draws"]
    assert told.endswith(" for corner, seed 7")
    assert int(told.split()[0]) > 1000


# --------------------------------------------------------------------------------------------------
# Warnings


def test_a_clean_run_has_no_warnings():
    assert report_of(FOLDS)["warnings"] == []


def test_warnings_of_failed_folds_overlap_and_obstacles():
    report = report_of(FOLDS, failed=(1, 4), overlap=(2, 3))
    assert report["warnings"] == [
        "folds [1, 4] failed and are left out.",
        "split 2 tests rows that it has trained on: its score says nothing about new rows.",
    ]
    report = report_of(FOLDS, method="t", obstacle=OBSTACLE)
    assert report["warnings"][-1] == f"the folds cannot be pooled: {OBSTACLE}."


@pytest.mark.filterwarnings("ignore::skuncertain.exceptions.FoldDisagreementWarning")
def test_folds_that_disagree_are_told_unless_they_cannot_be_pooled():
    far = [[[8, 2], [0, 10]], [[8, 2], [0, 10]], [[8, 2], [10, 0]], [[8, 2], [9, 1]]]
    (text,) = report_of(far)["warnings"]
    assert text.startswith("folds disagree more than sampling explains on recall: ")
    told = report_of(far, method="t", obstacle=OBSTACLE)["warnings"]
    assert not any("disagree" in text for text in told)


# --------------------------------------------------------------------------------------------------
# Scores


def test_scores_of_recall():
    (row,) = part(report_of(FOLDS, omega=0.5), "scores")["rows"]
    assert row["pooled"] == pytest.approx(34 / 40)
    assert row["mean"] == pytest.approx((0.9 + 0.8 + 0.7 + 1) / 4)
    assert (row["lowest_fold"], row["highest_fold"], row["omega"]) == (0.7, 1.0, 0.5)
    expected = beta(0.5 * 34 + 1, 0.5 * 6 + 1).ppf([0.025, 0.975])
    assert (row["interval"]["low"], row["interval"]["high"]) == pytest.approx(expected)
    assert row["interval"]["point"] == pytest.approx(0.85)


def test_folds_that_are_all_undefined_are_no_evidence():
    never = [[[8, 0], [3, 0]]] * 4
    some = [*never[:3], [[7, 1], [3, 0]]]  # one of four has a precision, 0
    empty = part(report_of(never, "precision"), "scores")["rows"][0]
    seen = ("omega", "lowest_fold", "highest_fold", "fold_variance", "p_value")
    assert [empty[key] for key in seen] == [None] * 5
    found = part(report_of(some, "precision"), "scores")["rows"][0]
    assert None not in [found[key] for key in seen]
    assert (found["lowest_fold"], found["highest_fold"]) == (0, 0)


def test_p_value_is_a_share_with_two_digits():
    """A p-value that is not 0 must not look like 0."""
    scores = part(report_of(FOLDS), "scores")
    column = scores["columns"][keys(scores).index("p_value")]
    assert (column["digits"], column["share"]) == (2, True)
    ratio = scores["columns"][keys(scores).index("fold_variance")]
    assert (ratio["digits"], ratio.get("share", False)) == (2, False)


def test_omega_is_a_column_of_pooled_counts_only():
    pooled, averaged = (
        part(report_of(FOLDS, method=method), "scores") for method in ("pooled", "averaged")
    )
    assert "omega" in keys(pooled)
    assert keys(averaged) == [key for key in keys(pooled) if key != "omega"]
    assert averaged["rows"][0].get("omega") is None


# --------------------------------------------------------------------------------------------------
# Methods side by side


@pytest.mark.parametrize(("rows", "shown"), [(5, True), (4, False)])
def test_averaged_needs_five_rows_per_fold(rows, shown):
    """Of four folds three have five rows; the last one decides."""
    matrices = [[[2, 1], [1, 1]]] * 3 + [[[2, 1], [1, rows - 4]]]
    methods = part(report_of(matrices, "accuracy"), "methods")
    assert ("averaged" in keys(methods)) == shown
    assert ("averaged" in methods["rows"][0]) == shown
    # It is shown, too, if it was asked for.
    asked = part(report_of(matrices, "accuracy", method="averaged"), "methods")
    assert keys(asked)[1] == "averaged"


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({}, "auto"),
        ({"omega": "wang_li"}, "wang_li"),
        ({"omega": 0.7}, "omega 0.7"),
        ({"method": "averaged"}, "averaged"),
        ({"method": "corrected_t"}, "corrected_t"),
        ({"method": "bootstrap"}, "bootstrap"),
    ],
)
def test_the_method_that_was_asked_for_is_first_and_not_repeated(options, first):
    report = report_of(FOLDS, **options)
    methods = part(report, "methods")
    others = ["auto", "wang_li", "averaged", "dirichlet", "bootstrap", "corrected_t"]
    assert keys(methods) == ["metric", first, *(name for name in others if name != first)]
    titles = [column["title"] for column in methods["columns"]]
    told = f"{first}, λ=0.25" if first == "averaged" else first  # of four folds
    assert [title for title in titles if "asked" in title] == [f"{told} (asked)"]
    assert methods["rows"][0][first] == part(report, "scores")["rows"][0]["interval"]


@pytest.mark.parametrize(
    ("hits", "leaves"),
    [
        ([10, 10, 10], False),  # t: from 1 to 1, which is the end itself
        ([0, 0, 0], False),
        ([10, 9, 8], True),  # t alone reaches above 1
        ([0, 1, 2], True),  # below 0
    ],
)
def test_intervals_that_leave_the_range(hits, leaves):
    matrices = [[[9, 1], [10 - hit, hit]] for hit in hits]
    methods = part(report_of(matrices, methods=["t", "nadeau_bengio"]), "methods")
    cells = [methods["rows"][0][name] for name in ("t", "nadeau_bengio")]
    half = t(2).ppf(0.975) * np.std(hits, ddof=1) / 10 * np.sqrt(1 / 3)
    expected = np.clip([np.mean(hits) / 10 - half, np.mean(hits) / 10 + half], 0, 1)
    assert (cells[0]["low"], cells[0]["high"]) == pytest.approx(tuple(expected))
    assert all(0 <= cell["low"] <= cell["high"] <= 1 for cell in cells)
    assert any(note.startswith("t intervals") for note in methods["notes"]) == leaves


def test_methods_that_cannot_answer():
    one = part(report_of(FOLDS[:1]), "methods")
    assert [note for note in one["notes"] if note.startswith("-: corrected_t cannot answer")]
    assert "corrected_t" not in one["rows"][0]
    assert not any(note.startswith("-:") for note in part(report_of(FOLDS[:2]), "methods")["notes"])


def test_methods_of_the_users():
    """Names, weights and dicts of options; each column is what the method gives by itself."""
    found = part(report_of(FOLDS, methods=["average_exact", 0.7, "t", "pooled"]), "methods")
    assert keys(found) == ["metric", "auto", "average_exact", "omega 0.7", "t"]
    titles = [column["title"] for column in found["columns"]]
    assert titles[2] == "average_exact, λ=1"
    published = {"published": {"method": "averaged", "prior_per_fold": True}}
    second = part(report_of(FOLDS, methods=published), "methods")
    assert second["columns"][2]["title"] == "published, λ=1"
    (row,), (other,) = found["rows"], second["rows"]
    for cell, options in (
        (row["average_exact"], {"method": "average_exact"}),
        (row["omega 0.7"], {"omega": 0.7}),
        (row["t"], {"method": "t"}),
        (other["published"], published["published"]),
    ):
        expected = fold_interval(FOLDS, "recall", **options)
        assert (cell["low"], cell["high"]) == pytest.approx(tuple(expected))


def test_the_usual_methods_by_hand():
    report = report_of(FOLDS)
    (row,) = part(report, "methods")["rows"]
    titles = {c["key"]: c["title"] for c in part(report, "methods")["columns"]}
    assert titles["averaged"] == "averaged, λ=0.25"
    assert titles["dirichlet"] == "dirichlet, auto prior"
    hits, misses = 34, 6
    expected = beta(hits * 0.625 + 1, misses * 0.625 + 1).ppf([0.025, 0.975])  # (4 + 1) / 8
    assert (row["wang_li"]["low"], row["wang_li"]["high"]) == pytest.approx(expected)
    values = np.array([0.9, 0.8, 0.7, 1.0])
    half = t(3).ppf(0.975) * np.sqrt(values.var(ddof=1) / 4 / (1 - 0.7))
    ends = values.mean() - half, 1.0  # cut off: the t goes on to 1.225
    assert values.mean() + half > 1
    assert (row["corrected_t"]["low"], row["corrected_t"]["high"]) == pytest.approx(ends)
    # The bootstrap of a recall: hits among the positives, whose number is random as well.
    rng = np.random.default_rng(0)
    draws = rng.multinomial(80, POOLED.ravel() / 80, size=200_000)
    expected = np.quantile(draws[:, 3] / draws[:, 2:].sum(axis=1), [0.025, 0.975])
    # Quantiles of 1000 draws: the density there is about 1 per unit, and steps are of 1/40.
    assert (row["bootstrap"]["low"], row["bootstrap"]["high"]) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("averages", "methods must be one of"),
        ([1.5], r"omega must be in \[1/K, 1\]"),
        ({"a": {"method": "t", "omega": 0.5}}, "omega is used by method 'pooled' only"),
        ({"a": {"metod": "t"}}, "options of CrossValPosterior.posterior, got .*metod"),
    ],
)
def test_methods_that_are_refused(methods, message):
    with pytest.raises(ValueError, match=message):
        report_of(FOLDS, methods=methods)


# --------------------------------------------------------------------------------------------------
# Classes

SHARES = [0.30, 0.02, 0.03, 0.05, 0.20, 0.05, 0.01, 0.04, 0.30]
THREE = np.random.default_rng(3).multinomial(40, SHARES, 5).reshape(5, 3, 3)


@pytest.mark.parametrize("prior", [1.0, 0.5, np.arange(1.0, 10).reshape(3, 3)])
@pytest.mark.parametrize("method", ["pooled", "averaged", "dirichlet", "bootstrap", "corrected_t"])
def test_classes_by_the_method_that_was_asked_for(method, prior):
    """Each row is the metric with that class as the positive one."""
    options = {"method": method}
    if method in ("pooled", "averaged", "dirichlet"):
        options["prior"] = prior
    section = part(report_of(THREE, "accuracy", **options), "classes")
    names = [f"{metric} of {k}" for metric in ("precision", "recall", "f1") for k in range(3)]
    assert [row["metric"] for row in section["rows"]] == names
    first = keys(section)[2]
    for row in section["rows"]:
        metric, _, label = row["metric"].split()
        draws = {"n_draws": 200_000, "random_state": 0} if method == "bootstrap" else {}
        expected = fold_interval(THREE, metric, pos_label=int(label), **options, **draws)
        slack = 0.03 if method == "bootstrap" else 1e-9  # 1000 draws against many
        found = row[first]["low"], row[first]["high"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=slack)
        assert row["pooled"] == pytest.approx(
            ConfusionCounts(THREE.sum(axis=0)).score(metric, pos_label=int(label))
        )


def test_classes_by_the_other_methods():
    section = part(report_of(THREE, "accuracy"), "classes")
    assert keys(section)[2:] == keys(part(report_of(THREE, "accuracy"), "methods"))[1:]
    for row in section["rows"]:
        metric, _, label = row["metric"].split()
        for method, options in (
            ("wang_li", {"omega": "wang_li"}),
            ("averaged", {"method": "averaged"}),
            ("dirichlet", {"method": "dirichlet", "prior": "auto"}),
            ("corrected_t", {"method": "corrected_t"}),
        ):
            expected = fold_interval(THREE, metric, pos_label=int(label), **options)
            found = row[method]["low"], row[method]["high"]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("size", "compared"), [(100, True), (101, False)])
def test_more_classes_than_are_compared(size, compared):
    section = part(report_of(many_classes(size), "accuracy"), "classes")
    assert len(section["rows"]) == 3 * size
    assert not section["in_text"]
    assert ("wang_li" in keys(section)) == compared
    assert any("left out" in note for note in section["notes"]) != compared


def test_a_class_that_was_never_predicted_has_gaps_not_errors():
    """average_exact has no precision for it; the other classes have theirs."""
    matrices = np.array(THREE)
    matrices[:, :, 1] = 0
    section = part(report_of(matrices, "accuracy", methods=["average_exact"]), "classes")
    there = {row["metric"]: "average_exact" in row for row in section["rows"]}
    assert [name for name, answered in there.items() if not answered] == ["precision of 1"]
    assert any(note.startswith("-: average_exact") for note in section["notes"])


def test_two_classes_have_no_rows_of_their_own():
    assert "classes" not in report_of(FOLDS)["sections"]


# --------------------------------------------------------------------------------------------------
# Folds without a mean


def test_leave_one_out_has_no_mean_of_f1():
    """With one row per fold the mean of F1 over the folds that have it is the Jaccard index."""
    cells = np.repeat([0, 1, 2, 3], [5, 2, 3, 6])
    folds = np.eye(4, dtype=int)[cells].reshape(-1, 2, 2)
    report = report_of(folds, ["accuracy", "precision", "recall", "f1"])
    rows = {row["metric"]: row for row in part(report, "scores")["rows"]}
    assert rows["accuracy"]["mean"] == pytest.approx(11 / 16)
    assert [rows[name]["mean"] for name in ("precision", "recall", "f1")] == [None] * 3
    assert rows["f1"]["pooled"] == pytest.approx(12 / 17)
    methods = {row["metric"]: row for row in part(report, "methods")["rows"]}
    assert "corrected_t" in methods["accuracy"]
    assert all("corrected_t" not in methods[name] for name in ("precision", "recall", "f1"))
    # Without a true negative F1 exists in every fold, and its mean is still not F1.
    always = report_of(folds[5:], ["f1"])
    assert part(always, "scores")["rows"][0]["mean"] is None


@pytest.mark.parametrize(("metric", "there"), [("recall", False), ("precision", True)])
def test_a_fold_that_lacks_the_class_has_no_mean_of_recall(metric, there):
    folds = [[[8, 2], [0, 0]], [[7, 3], [2, 8]], [[9, 1], [3, 7]]]
    scores = part(report_of(folds, metric), "scores")
    assert (scores["rows"][0]["mean"] is not None) == there
    assert any(note.startswith("no mean:") for note in scores["notes"]) != there


def test_splits_that_cannot_be_pooled_have_no_methods_and_no_rates():
    report = report_of(FOLDS, method="t", obstacle=OBSTACLE)
    assert list(report["sections"]) == ["scores", "folds", "confusion"]
    confusion = part(report, "confusion")
    assert confusion["notes"][0] == f"no intervals: {OBSTACLE}."
    assert [row["rate"] for row in confusion["rows"]] == [
        {"value": pytest.approx(rate)} for rate in (33 / 40, 7 / 40, 6 / 40, 34 / 40)
    ]


# --------------------------------------------------------------------------------------------------
# Folds


@pytest.mark.parametrize(
    ("failed", "numbers"),
    [((), [0, 1, 2, 3]), ((0,), [1, 2, 3, 4]), ((1, 3), [0, 2, 4, 5]), ((4,), [0, 1, 2, 3])],
)
def test_folds_keep_their_numbers(failed, numbers):
    folds = part(report_of(FOLDS, failed=failed), "folds")
    assert [row["split"] for row in folds["rows"]] == numbers
    assert [row["n"] for row in folds["rows"]] == [20] * 4
    assert [row["recall"] for row in folds["rows"]] == [0.9, 0.8, 0.7, 1.0]


# --------------------------------------------------------------------------------------------------
# Confusion matrix


def rates_of(confusion):
    return [(row["rate"]["low"], row["rate"]["high"]) for row in confusion["rows"]]


def test_rates_with_one_prior_and_with_an_array():
    options = {"omega": 0.5}
    rows = np.array([[40.0], [40.0]])
    cells = 0.5 * POOLED
    expected = beta(cells + 1, 0.5 * rows - cells + 1)
    ends = np.stack([expected.ppf(0.025), expected.ppf(0.975)], axis=-1).reshape(-1, 2)
    confusion = part(report_of(FOLDS, **options), "confusion")
    assert np.array(rates_of(confusion)) == pytest.approx(ends)
    assert confusion["notes"][-1].endswith("with its interval.")
    prior = np.array([[3.0, 1.0], [0.5, 2.0]])
    expected = beta(cells + prior, 0.5 * rows - cells + prior[:, ::-1])
    ends = np.stack([expected.ppf(0.025), expected.ppf(0.975)], axis=-1).reshape(-1, 2)
    confusion = part(report_of(FOLDS, prior=prior, **options), "confusion")
    assert np.array(rates_of(confusion)) == pytest.approx(ends)


def test_rates_are_pooled_whatever_the_method_is():
    note = "the intervals of the rates are pooled with omega auto and prior 1."
    pooled, averaged = (
        part(report_of(FOLDS, method=method), "confusion") for method in ("pooled", "averaged")
    )
    assert note not in pooled["notes"]
    assert note in averaged["notes"]
    assert rates_of(averaged) == rates_of(pooled)


def test_counts_of_repetitions_are_averages():
    once, twice = (part(report_of(FOLDS, n_repeats=n), "confusion") for n in (1, 2))
    assert not any("averages" in note for note in once["notes"])
    assert "counts are averages over 2 repetitions." in twice["notes"]
    assert [row["count"] for row in once["rows"]] == [33, 7, 6, 34]
    assert [row["count"] for row in twice["rows"]] == [16.5, 3.5, 3, 17]


def many_classes(size):
    """Two folds of five rows per class, of which the last class loses one to the first."""
    matrix = 5 * np.eye(size, dtype=int)
    matrix[-1, -1], matrix[-1, 0] = 4, 1
    return np.array([matrix, matrix])


def test_as_many_classes_as_a_page_holds():
    confusion = part(report_of(many_classes(MOST_CLASSES), "accuracy"), "confusion")
    assert len(confusion["rows"]) == MOST_CLASSES**2
    assert all("low" in row["rate"] for row in confusion["rows"])
    assert confusion["notes"][-1].endswith("with its interval.")


def test_one_class_more():
    size = MOST_CLASSES + 1
    report = report_of(many_classes(size), "accuracy")
    confusion = part(report, "confusion")
    (row,) = confusion["rows"]
    assert (row["true"], row["predicted"], row["count"]) == (str(size - 1), "0", 2)
    assert row["rate"] == {"value": pytest.approx(0.2)}
    assert confusion["notes"][0] == f"{size} classes: the 1 most frequent confusions."
    assert not confusion["notes"][-1].endswith("with its interval.")
    note = "the intervals of the rates are pooled with omega auto and prior 1."
    averaged = report_of(many_classes(size), "accuracy", method="averaged")
    assert note not in part(averaged, "confusion")["notes"]  # there are none


@pytest.mark.parametrize(("size", "shown"), [(MOST_CLASSES, True), (MOST_CLASSES + 1, False)])
def test_classes_of_a_selected_candidate(size, shown):
    counts = ConfusionCounts(many_classes(size))
    section = selected_confusion(counts, 1, 0.95, "eti")
    assert len(section["rows"]) == (size**2 if shown else 1)
    assert all(("low" in row["rate"]) == shown for row in section["rows"])
