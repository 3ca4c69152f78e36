"""The report of some metrics of one confusion matrix: a row with an interval for each."""

import numpy as np

from skuncertain._class_rates import cell_rates
from skuncertain._confusion_section import confusion_section
from skuncertain._metrics import get_metric
from skuncertain._priors import check_prior
from skuncertain._report import interval_cell, make_report, section
from skuncertain._validation import check_kind, check_level, resolve_seed
from skuncertain._warnings import kept

READING = (
    "Each interval holds the true value with the probability that is given as level, if the rows "
    "are a random sample of the rows that the model will meet, drawn independently of each other.",
    "score is what was seen in these rows, as scikit-learn computes it; where that is 0/0 it is "
    "undefined here, and 0 with a warning there. computed says whether the "
    "interval is exact or comes from random draws; no digit is shown that they do not support.",
)
ELSEWHERE = (
    "Each interval holds the true value in a population with that prevalence, with the probability "
    "that is given as level, if the classifier treats each class as it did here.",
    "median is the middle of the posterior: there is no score, because no rows of that population "
    "were seen.",
)


def metrics_report(
    counts,
    metrics,
    *,
    level=0.95,
    kind="eti",
    prior="auto",
    prevalence=None,
    pos_label=None,
    digits=None,
    n_draws=None,
    random_state=None,
):
    """Report with one row per metric; warnings are listed in it and not raised."""
    level, kind = check_level(level), check_kind(kind)
    prior, seed = check_prior(prior, counts.n_classes), resolve_seed(random_state)
    metrics = list(dict.fromkeys(get_metric(metric) for metric in metrics))
    rows, priors, draws = [], [], None
    with kept() as caught:
        for metric in metrics:
            posterior = counts.posterior(
                metric,
                prior=prior,
                prevalence=prevalence,
                pos_label=pos_label,
                n_draws=n_draws,
                random_state=seed,
            )
            rows.append(_row(metric, posterior, prevalence, level, kind))
            priors.append(posterior.prior)
            draws = draws or posterior.n_draws
        rates = cell_rates(np.asarray(counts.counts, dtype=float), prior)
    names = [str(label) for label in counts.labels]
    columns = ["metric", "score" if prevalence is None else "median", "computed"]
    matrix = np.asarray(counts.counts, dtype=float)
    where = f"these {counts.n}, of which they are a random sample"
    if prevalence is not None:
        where = f"those of a population with prevalence {_shares(prevalence)}"
    return make_report(
        "metrics",
        "Metrics with intervals",
        settings={
            "level": level,
            "kind": kind,
            "prior": "; ".join(dict.fromkeys(text for text in priors if text)),
            "method": "Dirichlet posterior of one test set",
            "omega": None,
            "n": counts.n,
            "k": None,
            "prevalence": prevalence,
            "classes": counts.n_classes,
            "pos_label": _positive(counts, pos_label),
            "draws": None if draws is None else f"{draws} where not exact, seed {seed}",
        },
        question=f"What are these metrics of this one model on rows like {where}?",
        sections={
            "scores": section("Scores", columns, rows),
            "confusion": confusion_section(matrix, names, rates, level, kind),
        },
        warnings=caught.texts,
        reading=READING if prevalence is None else ELSEWHERE,
        digits=digits,
    )


def _row(metric, posterior, prevalence, level, kind):
    name, value, error = "score", posterior.observed, 0.0
    if prevalence is not None:
        name, value, error = "median", posterior.median(), posterior.monte_carlo_error(0.5)
    ends, ends_error = posterior.interval(level, kind), posterior.interval_error(level, kind)
    return {
        "metric": metric.name,
        name: interval_cell(ends, value, ends_error, error),
        "computed": "exactly" if posterior.exact else f"from {posterior.n_draws} draws",
    }


def _shares(prevalence):
    return ", ".join(f"{share:g}" for share in np.atleast_1d(prevalence))


def _positive(counts, pos_label):
    """Positive class and how often it is there, so that a table read the wrong way is noticed."""
    label = counts.pos_label if pos_label is None else pos_label
    if label is None:
        return None
    k = counts.labels.index(label)
    real, said = counts.counts[k].sum(), counts.counts[:, k].sum()
    return f"{label}: {real:g} real, {said:g} predicted"
