"""The sentence for the paper: a result in one line of plain text."""

import math

import numpy as np

from skuncertain._reporting.text import (
    clean,
    ends_text,
    few_decimals,
    known_digits,
    level_text,
    number,
    probability,
)
from skuncertain.metrics._formulas import RATE_OF_ODDS, proportion_counts, proportion_odds
from skuncertain.metrics._posterior import class_of, value_at
from skuncertain.metrics._priors import prior_title
from skuncertain.metrics._registry import count_metric
from skuncertain.posteriors._about import prevalence_text

_TITLES = {
    "npv": "negative predictive value",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "fdr": "false discovery rate",
    "f1": "F1",
    "jaccard": "Jaccard index",
    "g_score": "G-score",
    "g_mean": "G-mean",
    "matthews_corrcoef": "Matthews correlation coefficient",
    "cohen_kappa": "Cohen's kappa",
    "cohen_kappa_linear": "Cohen's kappa with linear weights",
    "cohen_kappa_quadratic": "Cohen's kappa with quadratic weights",
}
WITHIN_A_CLASS = ("recall", "fnr", "specificity", "fpr", *RATE_OF_ODDS)  # at any prevalence
_KINDS = {"eti": "credible interval", "hdi": "highest-density credible interval"}

_MODELS = {"three_beta": "three-Beta model", "rows": "model of the rows"}
_HOW = {
    "pooled": "pooled counts",
    "averaged": "average of the folds",
    "dirichlet": "pooled counts, one Dirichlet",
    "bootstrap": "bootstrap of the pooled counts",
    "corrected_t": "corrected t",
    "nadeau_bengio": "Nadeau and Bengio's t",
}
_WEIGHTS = {"auto": ", row weight from the folds", "wang_li": ", row weight of Wang and Li"}


def metric_title(name, start=False):
    """Name of a metric in prose, with a capital letter at the start of a sentence."""
    base, _, average = name.rpartition("_")
    if average in ("micro", "macro", "weighted") and base:
        text = f"{metric_title(base)} ({average} average)"
    else:
        text = _TITLES.get(name, name.replace("_", " "))
    return text[:1].upper() + text[1:] if start else text


def rows_that_count(counts, metric, prevalence=None, model="dirichlet"):
    """Rows on which a metric rests: real positives for recall, all rows for accuracy.

    At another prevalence, and in models that have a prevalence of its own, only what lies within
    one true class still rests on a part of the rows.
    """
    metric = count_metric(metric)
    positive = counts.positive_index(metric)
    matrix = counts._matrix_for([metric], positive, prevalence)
    within = metric.base in WITHIN_A_CLASS and metric.average == "binary"
    rate = count_metric(RATE_OF_ODDS.get(metric.name, metric))
    apart = prevalence is not None or model in _MODELS
    if proportion_odds(rate) is None or (apart and not within):
        return float(matrix.sum())
    hits, misses, _ = proportion_counts(matrix, rate, positive)
    return float(hits + misses)


def posterior_sentence(posterior, counts, *, level=0.95, kind="eti", value=None, ends=None):
    """Sentence on one metric of one classifier.

    Parameters
    ----------
    posterior : Posterior
        Of one metric, or its predictive distribution.
    counts : ConfusionCounts
        What it was made from.
    level, kind : float, str
        Which interval.
    value : float, default=None
        Point estimate; by default the metric of the counts, at the prevalence that was asked for.
        A predictive distribution is told beside what was seen in the old test set.
    ends : (float, float, object), default=None
        Ends of that interval and their error, where they are known: some take long to compute.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.app._sentence import posterior_sentence
    >>> counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    >>> posterior_sentence(counts.posterior("recall"), counts)
    'Recall 1.00, 95 % credible interval 0.87–1.00, Jeffreys prior with calibrated ends, n = 26.'
    """
    if ends is None:
        ends = (*posterior.interval(level, kind), posterior.interval_error(level, kind))
    low, high, error = ends
    metric = count_metric(posterior.metric)
    prevalence, n_new, model = (
        getattr(posterior.about, name) for name in ("prevalence", "n_new", "model")
    )
    if value is None:
        matrix = np.asarray(counts.counts, dtype=float)
        value = value_at(matrix, metric, counts.positive_index(metric), prevalence)
    digits = few_decimals(low, high)
    name = named_metric(metric, counts, start=True)
    shown = "undefined" if math.isnan(value) else number(float(value), digits)
    test_set = f"prediction interval for a new test set of {n_new} rows"
    what = _KINDS[kind] if n_new is None else test_set
    rows = rows_that_count(counts, metric, prevalence, model)
    parts = [
        f"{name} {shown}",
        f"{level_text(level)} {what} {ends_text(low, high, known_digits(error, digits))}",
        *([] if prevalence is None else [f"at a prevalence of {prevalence_text(prevalence)}"]),
        prior_title(posterior.prior),
        *([_MODELS[model]] if model in _MODELS else []),
        f"n = {rows:.0f}" if rows.is_integer() else f"effective n = {rows:.1f}",
    ]
    return ", ".join(parts) + "."


def named_metric(metric, counts, start=False):
    """Title of a metric, with its class where that is not the 1 of 0 and 1."""
    name = metric_title(metric.name, start)
    label = class_of(metric, counts.labels, counts.positive_index(metric))
    if label is not None and tuple(counts.labels) != (0, 1):
        name += f" of the class {clean(label)}"
    return name


def fold_sentence(result, posterior, ends, *, level=0.95, kind="eti"):
    """Sentence on one metric of a cross-validation.

    Parameters
    ----------
    result : CrossValPosterior
        The cross-validation.
    posterior : Posterior
        Of one of its metrics.
    ends : (float, float, object)
        Ends of the interval and their error.
    level, kind : float, str
        Which interval.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.app._sentence import fold_sentence
    >>> from skuncertain.model_selection import CrossValPosterior
    >>> folds = ConfusionCounts([[[21, 3], [4, 12]], [[19, 5], [6, 10]], [[22, 2], [2, 14]]])
    >>> result = CrossValPosterior.from_counts(folds, omega="wang_li")
    >>> recall = result.posterior("recall")
    >>> print(fold_sentence(result, recall, (*recall.interval(), 0.0)))
    Recall 0.75, 95 % credible interval 0.58–0.87, 3-fold cross-validation (pooled counts, row
    weight of Wang and Li), n = 120.
    """
    low, high, error = ends
    metric, value = count_metric(posterior.metric), float(posterior.observed)
    digits, options = few_decimals(low, high), result.options
    how, what = _HOW.get(options.method, options.method), _KINDS[kind]
    if options.method == "bootstrap":
        what = what.replace("credible", "bootstrap")
    if options.method == "pooled":
        how += _WEIGHTS.get(options.omega, f", row weight {options.omega}")
    repeats = f", {result.n_repeats} repetitions" if result.n_repeats > 1 else ""
    parts = [
        f"{named_metric(metric, result.counts, start=True)} "
        f"{'undefined' if math.isnan(value) else number(value, digits)}",
        f"{level_text(level)} {what} {ends_text(low, high, known_digits(error, digits))}",
        f"{result.n_folds:g}-fold cross-validation{repeats} ({how})",
        f"n = {result.n}",
    ]
    return ", ".join(parts) + "."


def comparison_sentence(result, *, level=0.95, kind="eti"):
    """Sentence on the difference of two models.

    Parameters
    ----------
    result : ComparisonResult
        A single comparison.
    level, kind : float, str
        Which interval of the difference.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, compare
    >>> from skuncertain.app._sentence import comparison_sentence
    >>> a = ConfusionCounts.from_binary(tp=40, fn=10, fp=5, tn=45)
    >>> b = ConfusionCounts.from_binary(tp=45, fn=5, fp=5, tn=45)
    >>> print(comparison_sentence(compare(a, b, metric="recall")))
    Recall of B minus A 0.10, 95 % credible interval -0.04 to 0.24; probability that B is better:
    0.92, that A is: 0.08 (independent test sets).
    """
    a, b = map(clean, result.names)
    difference = result.difference
    low, high = difference.interval(level, kind)
    digits = few_decimals(low, high)
    middle = number(difference.median(), known_digits(difference.monte_carlo_error(0.5), digits))
    span = ends_text(low, high, known_digits(difference.interval_error(level, kind), digits))
    name = metric_title(result.metric or "score", start=True)
    label = difference.about.pos_label
    name += " of" if label in (None, 1) else f" of the class {clean(label)},"
    by = f" by more than {result.rope:g}" if result.rope else ""
    chances = [
        f"probability that {b} is better{by}: {probability(result.p_better)}",
        f"that {a} is: {probability(result.p_worse)}",
    ]
    if result.rope:
        chances.append(f"that they are equivalent: {probability(result.p_equivalent)}")
    return (
        f"{name} {b} minus {a} {middle}, {level_text(level)} {_KINDS[kind]} {span}; "
        f"{', '.join(chances)} ({result.method})."
    )
