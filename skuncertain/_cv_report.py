"""The report of a cross-validation."""

import numpy as np

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._class_rates import cell_tables
from skuncertain._confusion_section import MOST_CLASSES, confusion_section
from skuncertain._fold_methods import Folds, per_proportion
from skuncertain._fold_variance import wang_li_omega
from skuncertain._metrics import get_metric
from skuncertain._report import column, free_key, interval_cell, make_report, section
from skuncertain._warnings import dropped

# What is shown beside the method that was asked for.
SIDE_BY_SIDE: dict = {
    "auto": {"method": "pooled", "omega": "auto"},
    "wang-li": {"method": "pooled", "omega": "wang-li"},
    "averaged": {"method": "averaged"},
    "corrected_t": {"method": "corrected_t"},
    "nadeau_bengio": {"method": "nadeau_bengio"},
}
_WITHOUT_PRIOR = ("bootstrap", "t", "corrected_t", "nadeau_bengio")
READING = (
    "Each interval holds the answer to the question above with the probability that is given as "
    "level, given the folds, the prior and the method.",
    "pooled is the metric of all folds added up, mean the average of the fold values. Folds share "
    "most of their training rows, so n rows are not n independent ones: they count as omega times "
    "n. omega is estimated from how much the folds disagree (auto, experimental), or it is "
    "(K + 1) / (2 K) as published by Wang and Li.",
    "fold variance is the variance between folds over what chance alone gives: about 1 for a "
    "stable learner. p is the probability of folds that differ so much by chance.",
    "The interval says nothing about data from elsewhere. Two intervals that overlap are no proof "
    "that two models are equal: use compare_cv on the same folds.",
)


def cv_report(result, digits=None):
    """Report of a CrossValPosterior."""
    settings, counts = result.settings, result.counts
    with dropped():  # the result remembers them
        sections = {"scores": _scores(result)}
    if not result.splits.obstacle:
        sections["methods"] = _methods(result)
    sections["folds"] = _folds(result)
    sections["confusion"] = _confusion(result)
    pooled = settings.method == "pooled"
    omega = settings.omega if isinstance(settings.omega, str) else f"{settings.omega:g}"
    return make_report(
        "cross-validation",
        "Cross-validation report",
        settings={
            "level": settings.level,
            "kind": settings.kind,
            "prior": None if settings.method in _WITHOUT_PRIOR else _prior_text(result),
            "method": settings.method,
            "omega": f"{omega}; published (K + 1) / (2 K) = {wang_li_omega(result.n_folds):.3f}"
            if pooled
            else None,
            "n": result.n,
            "k": _folds_text(result),
            "estimand": settings.estimand,
            "classes": counts.n_classes,
            "pos_label": counts.pos_label,
            "draws": _draws_text(result),
        },
        question=result.question,
        sections=sections,
        warnings=_warnings(result),
        reading=READING,
        digits=digits,
    )


def _prior_text(result):
    """Priors of the metrics; those that are not proportions have another."""
    metrics: dict = {}
    for name, posterior in result.posteriors.items():
        metrics.setdefault(posterior.prior, []).append(name)
    if len(metrics) == 1:
        return next(iter(metrics))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in metrics.items())


def _folds_text(result):
    text = f"{result.n_folds:g} fold{'s' * (result.n_folds != 1)}"
    if result.n_repeats > 1:
        text += f", repeated {result.n_repeats} times"
    return text + (" (assumed to partition the rows)" if result.assumed else "")


def _draws_text(result):
    drawn = [name for name, posterior in result.posteriors.items() if posterior.n_draws]
    if not drawn:
        return None
    number = result.posteriors[drawn[0]].n_draws
    return f"{number} for {', '.join(drawn)}, seed {result.seed}"


def _warnings(result):
    notes = [*result.notes, *result._warnings]
    if result.lost:
        notes.append(f"folds {list(result.lost)} failed and are left out.")
    if result.splits.overlap:
        notes.append(
            f"split {result.splits.overlap[0]} tests rows that it has trained on: its score says "
            "nothing about new rows."
        )
    if result.splits.obstacle:
        notes.append(f"the folds cannot be pooled: {result.splits.obstacle}.")
    notes += [
        f"folds disagree more than sampling explains on {text}." for text in result.disagreement()
    ]
    return notes


def _scores(result):
    level, kind = result.settings.level, result.settings.kind
    pooled = result.settings.method == "pooled"
    rows = []
    for name, posterior in result.posteriors.items():
        about = posterior.diagnostics
        values = _defined(result, name)
        # Folds that are all 0/0 cannot disagree: that is no evidence of anything.
        seen = values.size > 0
        rows.append(
            {
                "metric": name,
                "pooled": about.micro,
                "mean": about.macro,
                "interval": interval_cell(
                    result.intervals[name],
                    error=posterior.interval_error(level, kind),
                    point=posterior.observed,
                ),
                "omega": about.omega if pooled and seen else None,
                "lowest_fold": values.min() if seen else None,
                "highest_fold": values.max() if seen else None,
                "fold_variance": about.variance_ratio if seen else None,
                "p_value": about.p_value if seen else None,
            }
        )
    columns = [
        *("metric", "pooled", "mean", "interval"),
        column("omega", digits=2),
        column("lowest_fold", "lowest fold"),
        column("highest_fold", "highest"),
        column("fold_variance", "fold variance", digits=2),
        column("p_value", "p", digits=2, share=True),
    ]
    if not pooled:
        columns = [c for c in columns if not isinstance(c, dict) or c["key"] != "omega"]
    notes = [
        "pooled: all folds added up; mean: of the fold values; fold variance: over that of chance;",
        "p: probability of folds that differ so much by chance",
    ]
    return section("Scores", columns, rows, notes=notes)


def _defined(result, name):
    values = np.asarray(result.folds(name).values, dtype=float)
    return values[np.isfinite(values)]


def _methods(result):
    """The same metrics by several methods, the one that was asked for first."""
    settings = result.settings
    level, kind = settings.level, settings.kind
    others = dict(SIDE_BY_SIDE)
    first = settings.omega if settings.method == "pooled" else settings.method
    first = first if isinstance(first, str) else f"omega {first:g}"
    if result.n < 5 * result.n_folds:  # there its intervals are too short
        others.pop("averaged")
    others = {first: {}} | {name: how for name, how in others.items() if name != first}
    rows, beyond, missing = [], False, set()
    with dropped():  # what matters is told of the method that was asked for
        for name, metric in result.metrics.items():
            row = {"metric": name}
            for method, options in others.items():
                try:
                    posterior = result.posterior(name, **options)
                except ValueError:  # not for this metric or this number of folds
                    missing.add(method)
                    continue
                low, high = interval = posterior.interval(level, kind)
                beyond |= low < metric.range[0] or high > metric.range[1]
                row[method] = interval_cell(
                    interval,
                    error=posterior.interval_error(level, kind),
                    point=posterior.observed,
                )
            rows.append(row)
    titles = {name: name for name in others} | {first: f"{first} (asked)"}
    notes = ["auto, wang-li: pooled counts with that omega"]
    if beyond:
        notes.append("t intervals know no limits: they may leave the range of the metric")
    if missing:
        notes.append(f"-: {', '.join(sorted(missing))} cannot answer for that metric")
    return section(
        "Methods side by side",
        ["metric", *(column(name, titles[name]) for name in others)],
        rows,
        notes=notes,
        figure={"type": "methods", "columns": list(others), "numbers_aside": True},
    )


def _folds(result):
    level, kind = result.settings.level, result.settings.kind
    values = {name: np.asarray(result.folds(name).values, dtype=float) for name in result.metrics}
    keys = {name: free_key(name, ("split", "n")) for name in values}
    size = np.asarray(result.counts.n)
    kept = [k for k in range(len(size) + len(result.lost)) if k not in result.lost]
    rows = [
        {"split": kept[k], "n": size[k], **{keys[name]: part[k] for name, part in values.items()}}
        for k in range(len(size))
    ]
    entries = [
        {
            "name": name,
            "values": values[name],
            "interval": interval_cell(
                result.intervals[name],
                posterior.diagnostics.micro,
                posterior.interval_error(level, kind),
            ),
        }
        for name, posterior in result.posteriors.items()
    ]
    return section(
        "Fold spread",
        ["split", "n", *keys.values()],
        rows,
        notes=["dots: folds; line: all folds added up; shaded: the interval"],
        figure={"type": "folds", "entries": entries, "numbers_aside": True},
        in_text=False,
    )


def _confusion(result):
    settings, counts = result.settings, result.counts
    matrix = counts.counts.sum(axis=-3) / result.n_repeats
    pooled = settings.method == "pooled"
    rates, notes = None, []
    if result.splits.obstacle:
        notes.append(f"no intervals: {result.splits.obstacle}.")
    elif counts.n_classes <= MOST_CLASSES:
        rates = fold_rates(
            counts.counts,
            result.n_repeats,
            settings.omega if pooled else "auto",
            settings.estimand if pooled else "algorithm",
            per_proportion(settings.prior, counts.n_classes) if pooled else 1.0,
        )
        if not pooled:
            notes.append("the intervals of the rates are pooled with omega auto and prior 1.")
    if result.n_repeats > 1:
        notes.append(f"counts are averages over {result.n_repeats} repetitions.")
    labels = [str(label) for label in counts.labels]
    return confusion_section(matrix, labels, rates, settings.level, settings.kind, notes)


def selected_confusion(counts, n_repeats, level, kind):
    """Section with the confusion matrix of one candidate, from its folds."""
    rates = None
    if counts.n_classes <= MOST_CLASSES:
        rates = fold_rates(counts.counts, n_repeats)
    labels = [str(label) for label in counts.labels]
    notes = ["of the selected candidate, all folds added up; omega auto, prior 1"]
    matrix = counts.counts.sum(axis=-3) / n_repeats
    return confusion_section(matrix, labels, rates, level, kind, notes)


def fold_rates(matrices, n_repeats, omega="auto", estimand="algorithm", prior=1.0):
    """Posterior of P(predicted j | true i) for all cells, from folds ``(splits, C, C)``."""
    tables = np.moveaxis(cell_tables(np.asarray(matrices, dtype=float)), 0, -3)
    folds = Folds(tables, get_metric("recall"), 1, n_repeats)
    with dropped():  # an empty class is told of the metrics
        about = folds.posterior("pooled", warn=False, omega=omega, estimand=estimand, prior=1.0)
    weight = about.diagnostics.omega
    hits, misses = folds.pooled[..., 1, 1], folds.pooled[..., 1, 0]
    before = after = prior
    if not isinstance(prior, float):
        before, after = prior, prior.sum(axis=-1, keepdims=True) - prior
    return BetaPosterior(weight * hits + before, weight * misses + after, observed=folds.observed)
