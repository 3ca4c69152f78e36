"""Names of metrics: those of the literature, and what is said about names that are none."""

import itertools
import re

import pytest

from skuncertain import ConfusionCounts
from skuncertain._utils.validation import nearest_name
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import get_metric, get_metric_names
from skuncertain.metrics._names import ALIASES

TP, FN, FP, TN = 41, 9, 4, 146
N = TP + FN + FP + TN
MATRIX = [[TN, FP], [FN, TP]]
# What the texts of the field write, and the value by hand.
SPELLED_OUT = {
    "True positive rate": TP / (TP + FN),
    "sensitivity": TP / (TP + FN),
    "hit rate": TP / (TP + FN),
    "TP rate": TP / (TP + FN),
    "FN rate": FN / (TP + FN),
    "FP rate": FP / (TN + FP),
    "TN rate": TN / (TN + FP),
    "power": TP / (TP + FN),
    "True-negative rate": TN / (TN + FP),
    "selectivity": TN / (TN + FP),
    "false-positive rate": FP / (TN + FP),
    "fall-out": FP / (TN + FP),
    "Type-I-error rate": FP / (TN + FP),
    "type I error": FP / (TN + FP),
    "false alarm rate": FP / (TN + FP),
    "FALSE_NEGATIVE_RATE": FN / (TP + FN),
    "miss rate": FN / (TP + FN),
    "Type-II error rate": FN / (TP + FN),
    "type 2 error": FN / (TP + FN),
    "positive predictive value": TP / (TP + FP),
    "negative predictive value": TN / (TN + FN),
    "false discovery rate": FP / (TP + FP),
    "false alarm ratio": FP / (TP + FP),
    "false omission rate": FN / (TN + FN),
    "misclassification rate": (FN + FP) / N,
    "misclassification error": (FN + FP) / N,
    "Error": (FN + FP) / N,
    "zero_one_loss": (FN + FP) / N,
    "null error rate": 50 / N,
    "null accuracy": 150 / N,
    "prevalence": 50 / N,
    "positive labeling rate": (TP + FP) / N,
    "labelling rate": (TP + FP) / N,
    "negative labeling rate": (TN + FN) / N,
    "predicted negative rate": (TN + FN) / N,
    "Jaccard index": TP / (TP + FP + FN),
    "critical success index": TP / (TP + FP + FN),
    "threat score": TP / (TP + FP + FN),
    "F-measure": 2 * TP / (2 * TP + FP + FN),
    "F-score": 2 * TP / (2 * TP + FP + FN),
    "F1 score": 2 * TP / (2 * TP + FP + FN),
    "F_1": 2 * TP / (2 * TP + FP + FN),
    "Dice coefficient": 2 * TP / (2 * TP + FP + FN),
    "G-score": TP / ((TP + FP) * (TP + FN)) ** 0.5,
    "bookmaker informedness": TP / (TP + FN) - FP / (TN + FP),
    "Youden's index": TP / (TP + FN) - FP / (TN + FP),
    "Youden\N{RIGHT SINGLE QUOTATION MARK}s J statistic": TP / (TP + FN) - FP / (TN + FP),
    "markedness": TP / (TP + FP) - FN / (TN + FN),
    "Matthews correlation coefficient": (TP * TN - FP * FN)
    / ((TP + FP) * (TP + FN) * (TN + FP) * (TN + FN)) ** 0.5,
    "Cohen's kappa": 1 - (FN + FP) / N / (1 - (50 * 45 + 150 * 155) / N**2),
    "positive likelihood ratio": TP / (TP + FN) / (FP / (TN + FP)),
    "LR +": TP / (TP + FN) / (FP / (TN + FP)),
    "LR\N{MINUS SIGN}": FN / (TP + FN) / (TN / (TN + FP)),
    "diagnostic odds ratio": TP * TN / (FP * FN),
    "true positive odds": TP / FN,
    "false-positive odds": FP / TN,
    "balanced accuracy": (TP / (TP + FN) + TN / (TN + FP)) / 2,
    "macro-averaged recall": (TP / (TP + FN) + TN / (TN + FP)) / 2,
    "Macroaveraged precision": (TP / (TP + FP) + TN / (TN + FN)) / 2,
    "micro-averaged F1": (TP + TN) / N,
    "macro average sensitivity": (TP / (TP + FN) + TN / (TN + FP)) / 2,
}


@pytest.mark.parametrize("name", SPELLED_OUT)
def test_names_of_the_literature(name):
    value = ConfusionCounts(MATRIX).score(name)
    assert value == pytest.approx(SPELLED_OUT[name], rel=1e-12)


def test_odds_ratio_is_the_ratio_of_the_odds():
    counts = ConfusionCounts(MATRIX)
    ratio = counts.score("true_positive_odds") / counts.score("false_positive_odds")
    assert ratio == pytest.approx(counts.score("dor"), rel=1e-14)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("brier score", "brier_score"),
        ("AUROC", "roc_auc"),
        ("Area under the receiver operating characteristic", "roc_auc"),
        ("Cross-entropy", "log_loss"),
    ],
)
def test_names_of_scores_and_probabilities(name, metric):
    assert get_metric(name).name == metric


def test_names_are_unique_and_spelling_does_not_matter():
    assert not set(ALIASES) & set(get_metric_names())
    for alias in ALIASES:
        if ALIASES[alias] == "fbeta":
            continue
        found = get_metric(alias)
        for text in (alias.upper(), alias.replace("_", " "), alias.replace("_", "-")):
            assert get_metric(text) is found


def told(name):
    with pytest.raises(InvalidParameterError) as error:
        get_metric(name)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("recal", "'recall'"),
        ("acuracy", "'accuracy'"),
        ("true_negative_rat", "'true_negative_rate'"),
        ("true-positve-rate", "'true_positive_rate'"),
        ("fasle discovery rate", "'false_discovery_rate'"),
        ("sensitvity", "'sensitivity'"),
        ("tpr_marco", "'tpr_macro'"),
        ("macro_recal", "'recall_macro'"),
        ("f2_marco", "'f2_macro'"),
        ("trp", "'tpr'"),
        ("true_positive", "'true_positive_odds' or 'true_positive_rate'"),
        ("balanced", "'balanced_accuracy'"),
    ],
)
def test_slips(name, meant):
    assert told(name).count(f" Did you mean {meant}?") == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("J-index", "more than one meaning: 'jaccard' or 'informedness'."),
        ("geometric mean", "more than one meaning: 'g_score' or 'g_mean'."),
        ("LR", "more than one meaning: 'lr+' or 'lr-'."),
        ("weighted kappa", "'cohen_kappa_linear' or 'cohen_kappa_quadratic'."),
        ("fp", "It is the number of false positives, not a metric."),
        ("phi", "more than one meaning: 'phi_coefficient' or 'prevalence'."),
        ("beta", "more than one meaning: 'fbeta' or 'fnr'."),
        ("mcc_macro", "'matthews_corrcoef' has no macro average."),
    ],
)
def test_what_cannot_be_answered_is_explained(name, text):
    assert text in told(name)
    assert "Did you mean" not in told(name)


OTHERS = ["fqr", "xyz", "type_3_error", "true_discovery_rate", "f3_x", "q"]
# Quantities of the literature that are no metric here, each near the name of another one
OTHERS += ["gss", "bss", "ppa", "npa", "far", "tqr", "detection rate", "rejection rate"]


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_quantity_is_proposed(name):
    assert "Did you mean" not in told(name)


@pytest.mark.slow
def test_a_slip_of_one_letter_never_leads_to_another_quantity():
    # Whatever letter is lost or doubled: what is proposed is the quantity, or several things.
    names = {**ALIASES, **{name: name for name in get_metric_names()}}
    proposed = 0
    for alias, k in itertools.product(names, range(3, 30)):
        for slip in (alias[:k] + alias[k + 1 :], alias[:k] + alias[k : k + 1] + alias[k:]):
            if k >= len(alias) or len(slip) < 8 or re.search(r"\d", alias):
                continue
            try:
                get_metric(slip)
            except InvalidParameterError as error:
                found = re.search(r"Did you mean '([^']+)'\?", str(error))
                if found:
                    proposed += 1
                    assert names.get(found[1], found[1]) == names[alias], (alias, slip)
    assert proposed > 500


@pytest.mark.parametrize(
    ("name", "valid", "meant"),
    [
        ("HDI", ("eti", "hdi"), "'hdi'"),
        ("three beta", ("dirichlet", "three_beta"), "'three_beta'"),
        ("clopper", ("wilson", "clopper_pearson"), "'clopper_pearson'"),
        ("dgo", ("cat", "dog"), "'dog'"),
        ("1", (0, 1), "1"),
        ("bat", ("cat", "dog", "hat"), "'cat' or 'hat'"),
        (3, (1, 2), None),
        (-1, (0, 1), None),
        ("10", (1, 0), None),
        ("class_3", ("class_1", "class_2"), None),
        ("bat", ("cat", "hat", "rat", "mat"), None),
        ("a", ("b", "c"), None),
        ("x" * 101, ("x" * 100,), None),
    ],
)
def test_nearest_name(name, valid, meant):
    assert nearest_name(name, valid) == (f" Did you mean {meant}?" if meant else "")


@pytest.mark.parametrize("valid", ["a", "auto", "jeffreys"])
def test_nothing_is_no_slip(valid):
    assert nearest_name("", [valid]) == nearest_name(valid, [""]) == ""
