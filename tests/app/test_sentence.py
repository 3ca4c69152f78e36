"""The sentence for the paper."""

import numpy as np
import pytest

from skuncertain import ConfusionCounts, compare, compare_paired
from skuncertain.app._sentence import (
    comparison_sentence,
    metric_title,
    posterior_sentence,
    rows_that_count,
)
from skuncertain.metrics import get_metric_names
from skuncertain.posteriors import BetaPosterior

COUNTS = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)


def sentence(metric, counts=COUNTS, *, prior="auto", **options):
    posterior = counts.posterior(metric, prior=prior, random_state=0)
    return posterior_sentence(posterior, counts, **options)


def test_example():
    said = (
        "Recall 1.00, 95 % credible interval 0.87–1.00, "
        "Jeffreys prior with calibrated ends, n = 26."
    )
    assert sentence("recall") == said


def test_level_kind_prior():
    text = sentence("specificity", prior="jeffreys", level=0.9, kind="hdi")
    low, high = COUNTS.posterior("specificity", prior="jeffreys").interval(0.9, "hdi")
    span = f"{low:.2f}–{high:.2f}"
    expected = f"90 % highest-density credible interval {span}, Jeffreys prior, n = 8."
    assert text == f"Specificity 0.75, {expected}"
    assert "prior of 0.25 per cell" in sentence("recall", prior=0.25)
    assert "prior of given pseudo-counts" in sentence("recall", prior=[[1, 2], [2, 1]])
    assert "99.9 %" in sentence("recall", level=0.999)


def test_digits_show_the_width():
    counts = ConfusionCounts.from_binary(tp=99_000, fn=1_000, fp=5, tn=5)
    low, high = counts.posterior("recall").interval()
    assert f"Recall 0.990, 95 % credible interval {low:.3f}–{high:.3f}" in sentence(
        "recall", counts
    )
    assert high - low < 0.01


def test_digits_of_draws_are_known():
    posterior = COUNTS.posterior("null_accuracy", n_draws=100, random_state=0)
    span = posterior_sentence(posterior, COUNTS).split("interval ")[1].split(",")[0]
    for end in span.split("–"):
        last = 10.0 ** -len(end.partition(".")[2])
        assert last >= 2 * posterior.interval_error() > 0.01  # the second decimal is not known


def test_negative_and_infinite_ends():
    bad = ConfusionCounts.from_binary(tp=4, fn=5, fp=6, tn=5)
    low, high = bad.posterior("informedness").interval()
    assert f"interval {low:.2f} to {high:.2f}" in sentence("informedness", bad)
    assert "–∞" in sentence("diagnostic_odds_ratio")


def test_undefined():
    empty = ConfusionCounts.from_binary(tp=0, fn=0, fp=1, tn=9)
    with pytest.warns(match="0/0"):
        text = sentence("recall", empty)
    assert text.startswith("Recall undefined, 95 % credible interval 0.00–1.00")
    assert text.endswith("n = 0.")


def test_other_population_and_new_rows():
    posterior = COUNTS.posterior("precision", prevalence=0.01)
    text = posterior_sentence(posterior, COUNTS)
    assert text.startswith(
        "Precision 0.04, 95 % credible interval 0.02–0.17, at a prevalence of 0.01"
    )
    assert text.endswith("n = 34.")
    uncertain = COUNTS.posterior("precision", prevalence=BetaPosterior(3, 197))
    assert "at a prevalence of Beta(3, 197)" in posterior_sentence(uncertain, COUNTS)
    predictive = COUNTS.posterior("accuracy").predictive(20)
    text = posterior_sentence(predictive, COUNTS)
    assert "95 % prediction interval for a new test set of 20 rows 0.75–1.00" in text


def test_class_is_named():
    counts = ConfusionCounts(
        np.diag([5, 6, 7]), labels=["cat", "dog", "\x1b[31mred"], pos_label="dog"
    )
    assert sentence("recall", counts).startswith("Recall of the class dog 1.00")
    assert sentence("recall", counts).endswith("n = 6.")
    counts = ConfusionCounts(counts.counts, labels=counts.labels, pos_label=counts.labels[2])
    assert "\x1b" not in sentence("recall", counts)
    assert sentence("accuracy", counts).startswith("Accuracy 1.00")


@pytest.mark.parametrize(
    ("metric", "rows"),
    [("recall", 26), ("fpr", 8), ("precision", 28), ("npv", 6), ("f1", 28), ("accuracy", 34)],
)
def test_rows(metric, rows):
    assert rows_that_count(COUNTS, metric) == rows
    kept = rows if metric in ("recall", "fpr") else 34
    assert rows_that_count(COUNTS, metric, prevalence=0.1) == kept


def test_weights_give_an_effective_number():
    # Mean weights, with three pseudo-rows: hits 240 / 79, errors 120 / 39; 30 % erred.
    # 100 / (.3 * 240 / 79 + .7 * 120 / 39) = 32.6; Kish's size is 33.3.
    y, p = [1, 1, 1, 0] * 10, [1, 1, 0, 0] * 10
    counts = ConfusionCounts.from_predictions(y, p, sample_weight=[1, 2, 3, 4] * 10)
    assert "effective n = 32.6" in sentence("accuracy", counts)


def test_comparison():
    a = ConfusionCounts.from_binary(tp=40, fn=10, fp=5, tn=45)
    b = ConfusionCounts.from_binary(tp=45, fn=5, fp=5, tn=45)
    result = compare(a, b, metric="recall", names=("old", "new"))
    text = comparison_sentence(result)
    low, high = result.difference.interval()
    assert text.startswith(
        f"Recall of new minus old 0.10, 95 % credible interval {low:.2f} to {high:.2f}; "
    )
    assert f"probability that new is better: {result.p_better:.2f}, that old is:" in text
    assert "equivalent" not in text
    paired = compare_paired([1] * 9, [1] * 9, [1] * 8 + [0], labels=[0, 1], rope=0.01)
    assert comparison_sentence(paired).endswith("(9 shared rows).")
    assert "that they are equivalent" in comparison_sentence(paired)


def test_titles_are_distinct():
    titles = [metric_title(name) for name in get_metric_names(needs="labels")]
    assert len(set(titles)) == len(titles)
    assert metric_title("f1_macro", start=True) == "F1 (macro average)"
    assert metric_title("balanced_accuracy", start=True) == "Balanced accuracy"
