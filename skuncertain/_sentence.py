"""The sentence for the paper: a result in one line of plain text."""

import math

import numpy as np

from skuncertain._metrics import get_metric
from skuncertain._plot._text import probability
from skuncertain._proportions import proportion_cells, proportion_counts
from skuncertain._report_cells import clean, known_digits, number

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
_PRIORS = {
    "auto: neutral, 1/3 per cell": "neutral prior",
    "auto: 1/2 on each side of the proportion": "Jeffreys prior",
    "auto: shared": "shared prior",
    "jeffreys": "Jeffreys prior",
    "laplace": "Laplace prior",
    "haldane": "Haldane prior",
    "total-one": "total-one prior",
    "array": "prior of given pseudo-counts",
}
_KINDS = {"eti": "credible interval", "hdi": "highest-density credible interval"}


def metric_title(name, start=False):
    """Name of a metric in prose, with a capital letter at the start of a sentence."""
    base, _, average = name.rpartition("_")
    if average in ("micro", "macro", "weighted") and base:
        text = f"{metric_title(base)} ({average} average)"
    else:
        text = _TITLES.get(name, name.replace("_", " "))
    return text[:1].upper() + text[1:] if start else text


def prior_title(text):
    """Prior in prose."""
    if text in _PRIORS:
        return _PRIORS[text]
    try:
        return f"prior of {float(text):g} per cell"
    except (TypeError, ValueError):
        return f"{text} prior"


def level_title(level):
    """Level in per cent."""
    return f"{level * 100:.12g} %"


def rows_that_count(counts, metric, prevalence=None):
    """Rows on which a metric rests: real positives for recall, all rows for accuracy.

    At another prevalence only what lies within one true class still rests on a part of the rows.
    """
    metric = get_metric(metric)
    matrix = np.asarray(counts.counts, dtype=float)
    cells = proportion_cells(metric)
    within = metric.base in ("recall", "fnr", "specificity", "fpr") and metric.average == "binary"
    if cells is None or (prevalence is not None and not within):
        return float(matrix.sum())
    hits, misses, _ = proportion_counts(matrix, metric, counts.positive_index(metric))
    return float(hits + misses)


def posterior_sentence(
    posterior, counts, *, level=0.95, kind="eti", value=None, prevalence=None, n_new=None
):
    """Sentence on one metric of one classifier.

    Parameters
    ----------
    posterior : Posterior
        Of one metric; with `n_new`, what ``predictive(n_new)`` returned.
    counts : ConfusionCounts
        What it was made from.
    level, kind : float, str
        Which interval.
    value : float, default=None
        Point estimate; by default the metric of the counts.
    prevalence : float, default=None
        The prevalence that was put in place of that of the data.
    n_new : int, default=None
        Rows of the new test set, for a predictive distribution.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain._sentence import posterior_sentence
    >>> counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    >>> posterior_sentence(counts.posterior("recall"), counts)
    'Recall 1.00, 95 % credible interval 0.93–1.00, neutral prior, n = 26.'
    """
    low, high = posterior.interval(level, kind)
    error = posterior.interval_error(level, kind)
    metric = get_metric(posterior.metric)
    value = metric.evaluate(
        np.asarray(counts.counts, dtype=float), positive=counts.positive_index(metric)
    ) if value is None else value  # fmt: skip
    digits = _decimals(low, high)
    name = metric_title(metric.name, start=True)
    if metric.average == "binary" and tuple(counts.labels) != (0, 1):
        name += f" of the class {clean(counts.labels[counts.positive_index(metric)])}"
    shown = "undefined" if math.isnan(value) else number(float(value), digits)
    what = _KINDS[kind]
    if n_new is not None:
        what = f"prediction interval for a new test set of {n_new} rows"
    parts = [
        f"{name} {shown}",
        f"{level_title(level)} {what} {_span(low, high, known_digits(error, digits))}",
    ]
    if prevalence is not None:
        parts.append(f"at a prevalence of {prevalence:g}")
    parts.append(prior_title(posterior.prior))
    rows = rows_that_count(counts, metric, prevalence)
    parts.append(f"n = {rows:.0f}" if rows.is_integer() else f"effective n = {rows:.1f}")
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
    >>> from skuncertain._sentence import comparison_sentence
    >>> a = ConfusionCounts.from_binary(tp=40, fn=10, fp=5, tn=45)
    >>> b = ConfusionCounts.from_binary(tp=45, fn=5, fp=5, tn=45)
    >>> print(comparison_sentence(compare(a, b, metric="recall")))
    Recall of B minus A 0.10, 95 % credible interval -0.04 to 0.24; probability that B is better:
    0.92, that A is: 0.08 (independent test sets).
    """
    a, b = map(clean, result.names)
    difference = result.difference
    low, high = difference.interval(level, kind)
    digits = _decimals(low, high)
    middle = number(difference.median(), known_digits(difference.monte_carlo_error(0.5), digits))
    span = _span(low, high, known_digits(difference.interval_error(level, kind), digits))
    name = metric_title(result.metric or "score", start=True)
    by = f" by more than {result.rope:g}" if result.rope else ""
    chances = [
        f"probability that {b} is better{by}: {chance(result.p_better)}",
        f"that {a} is: {chance(result.p_worse)}",
    ]
    if result.rope:
        chances.append(f"that they are equivalent: {chance(result.p_equivalent)}")
    return (
        f"{name} of {b} minus {a} {middle}, {level_title(level)} {_KINDS[kind]} {span}; "
        f"{', '.join(chances)} ({result.method})."
    )


def chance(p):
    """Probability with two or three digits, never rounded to certainty."""
    return "undefined" if math.isnan(p) else probability(p)


def _decimals(low, high):
    """Two decimals, or as many as show the width of the interval."""
    width = high - low
    if not (width > 0 and math.isfinite(width)):
        return 2
    return min(max(2, math.ceil(-math.log10(width))), 9)


def _span(low, high, digits):
    ends = number(low, digits), number(high, digits)
    return " to ".join(ends) if low < 0 else "–".join(ends)
