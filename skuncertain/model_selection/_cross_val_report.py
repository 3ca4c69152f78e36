"""The report of a cross-validation."""

from collections import Counter
from dataclasses import replace

import numpy as np

from skuncertain._reporting.build import column, free_key, interval_cell, make_report, section
from skuncertain._reporting.text import folds_text, params_texts
from skuncertain._utils.warnings import collect_into, silence
from skuncertain.metrics._posterior import cell_tables
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._report_parts import MOST_CLASSES, confusion_section
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._cross_val_methods import SideBySide, has_fold_mean
from skuncertain.model_selection._fold_methods import (
    METHODS,
    FoldOptions,
    make_fold_posterior,
)
from skuncertain.model_selection._fold_variance import ESTIMANDS
from skuncertain.model_selection._folds import Folds, fold_matrices, pooled_counts
from skuncertain.posteriors._about import About
from skuncertain.posteriors._beta import BetaPosterior

_MOST_NAMED = 5
_VANISHES = (
    "so the learner may stop predicting {} on another sample of this size: no interval for "
    "algorithm or final can be trusted."
)
READING = (
    "Each interval holds the answer to the question above with the probability that is given as "
    "level, given the folds, the prior and the method.",
    "pooled is the metric of all folds added up, mean the average of the fold values. Folds share "
    "most of their training rows, so n rows are not n independent ones: they count as omega times "
    "n. The row weight omega is estimated from how much the folds disagree (auto, experimental), "
    "or it is (K + 1) / (2 K) as published by Wang and Li.",
    "fold variance is the variance between folds over what chance alone gives: about 1 for a "
    "stable learner. p is the probability of folds that differ so much by chance.",
    "The interval says nothing about data from elsewhere. Two intervals that overlap are no proof "
    "that two models are equal: use compare_cv on the same folds.",
)


def cv_report(result, level, kind, digits=None, methods=None):
    """Report of a CrossValPosterior; `methods` are those of `check_methods`."""
    options, counts = result.options, result.counts
    warnings: list = []
    with silence(), collect_into(warnings):  # they are told in the report
        cells = {
            name: interval_cell(
                posterior.interval(level, kind),
                error=posterior.interval_error(level, kind),
                point=posterior.observed,
            )
            for name, posterior in result.posteriors.items()
        }
    sections = {"scores": _scores(result, cells)}
    if options.method == "pooled":
        sections["questions"] = _questions(result, level, kind)
    if result.fold_params:
        sections["choices"] = _choices(result.fold_params)
    side_by_side = SideBySide(result, level, kind, methods)
    if not result.splits.obstacle:
        sections["methods"] = side_by_side.metric_section(cells)
    if counts.n_classes > 2 or counts.pos_label is None:
        sections["classes"] = side_by_side.class_section()
    sections["folds"] = _folds(result, cells)
    sections["confusion"] = _confusion(result, level, kind)
    return make_report(
        "cross-validation",
        "Cross-validation report",
        settings={
            "level": level,
            "kind": kind,
            "prior": _prior_text(result) if "prior" in METHODS[options.method].options else None,
            "method": options.method,
            "omega": _weight_text(result) if options.method == "pooled" else None,
            "n": result.n,
            "k": folds_text(result.n_folds, result.n_repeats)
            + (" (assumed to partition the rows)" if result.assumed else ""),
            "estimand": options.question,
            "classes": counts.n_classes,
            "pos_label": counts.pos_label,
            "draws": _draws_text(result),
        },
        question=result.question,
        sections=sections,
        warnings=_warnings(result, warnings),
        reading=READING,
        digits=digits,
    )


# Who is asked about, by estimand; {folds} models were trained on {rows} rows.
_WHO = {
    "fitted": "the {folds} models of the folds, on average",
    "algorithm": "the same algorithm on other training sets of {rows} rows with these class counts",
    "final": "the one model fitted on all rows",
}
_ALIKE = 1.25  # widths that differ by less are not worth a word


def _who(estimand, n_splits, n_train):
    low, high = np.min(n_train), np.max(n_train)
    rows = f"{low}" if low == high else f"{low} to {high}"
    return _WHO[estimand].format(folds=n_splits, rows=rows)


def question_text(estimand, n_splits, n_train):
    """What the intervals of a cross-validation are about, as a question."""
    who = _who(estimand, n_splits, n_train)
    if estimand == "fitted":
        return f"How well do {who.removesuffix(', on average')} do on average?"
    on_average = " on average" if estimand == "algorithm" else ""
    return f"How well does {who} do{on_average}?"


def _choices(fold_params):
    """Table of what the inner search chose, the most frequent first."""
    chosen = [params for params in fold_params if params is not None]
    whole = [", ".join(f"{key}={value}" for key, value in params.items()) for params in chosen]
    names = [text or all_of for text, all_of in zip(params_texts(chosen), whole, strict=True)]
    number = Counter(names).most_common()
    rows = [{"choice": name, "folds": count} for name, count in number]
    told = [f"{name} in {count}" for name, count in number[:_MOST_NAMED]]
    told[0] += f" of {len(chosen)} folds"
    more = [f"{len(number) - len(told)} others"] if len(number) > len(told) else []
    return section(
        "Chosen by the inner search",
        ["choice", "folds"],
        rows,
        notes=[f"the inner search chose {', '.join([*told, *more])}"],
        in_text=True,
    )


def _questions(result, level, kind):
    """Table with the answers to all three questions, and in words whether they differ."""
    rows = []
    with silence():  # told of the estimand that was asked for
        for name in result.metrics:
            row = {"metric": name}
            for estimand, posteriors in result._answers.items():
                posterior = posteriors[name]
                row[estimand] = interval_cell(
                    posterior.interval(level, kind), error=posterior.interval_error(level, kind)
                )
            rows.append(row)
    told = [
        f"{estimand}: {_who(estimand, len(result.counts), result.splits.n_train)}"
        for estimand in ESTIMANDS
    ]
    return section(
        "Whose performance?",
        ["metric", *ESTIMANDS],
        rows,
        notes=[*told, _verdict(result, rows)],
    )


def _verdict(result, rows):
    """Whether the three answers differ, in words."""
    scored = all(isinstance(metric, ScoreMetric) for metric in result.metrics.values())
    if result.stability is None or scored:  # scores of the same rows are not asked for
        return (
            "how much the models differ is guessed from the folds alone: the models have not "
            "predicted the same rows"
        )
    wider = {
        row["metric"]: max(_width(row[one]) for one in ("algorithm", "final"))
        / max(_width(row["fitted"]), 1e-300)
        for row in rows
        if not isinstance(result.metrics[row["metric"]], ScoreMetric)
    }
    worst = max(wider, key=lambda name: np.nan_to_num(wider[name]))
    if not wider[worst] > _ALIKE:
        return (
            f"the {len(result.counts)} models agree: one trained on all rows, or on others, can be "
            "expected to do as well"
        )
    return (
        "the models change with the sample: another training set, or all rows, may give a model "
        f"that does better or worse than these ({worst}: {wider[worst]:.1f} times as wide)"
    )


def _width(cell):
    return cell["high"] - cell["low"]


def tell_folds(report, counts, names):
    """Name the folds of a report as their file does, and tell those that lack a class."""
    for row, name in zip(report.summary["sections"]["folds"]["rows"], names, strict=True):
        row["split"] = name
    lacking = counts.counts.sum(axis=-1) == 0  # (folds, classes)
    for label, folds in zip(counts.labels, lacking.T, strict=True):
        if folds.any() and not folds.all():
            some = [str(name) for name, lacks in zip(names, folds, strict=True) if lacks]
            listed = ", ".join(some[:10]) + (", ..." if len(some) > 10 else "")
            report.summary["warnings"].append(
                f"{len(some)} of {len(names)} folds hold no row of class {label}: {listed}. The "
                "class has no recall there; in the pooled counts it has."
            )


def _prior_text(result):
    """Priors of the metrics; those that are not proportions have another."""
    metrics: dict = {}
    for name, posterior in result.posteriors.items():
        metrics.setdefault(posterior.prior or "none", []).append(name)
    if len(metrics) == 1:
        return next(iter(metrics))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in metrics.items())


def _weight_text(result):
    """How much of a row each row counts, in words."""
    omega, published = result.options.omega, wang_li_omega(result.n_folds)
    if omega == "wang_li":
        return f"{published:.3f}, (K + 1) / (2 K) as published by Wang and Li"
    text = "estimated from the folds" if omega == "auto" else f"{omega:g}"
    return f"{text} (Wang and Li: {published:.3f})"


def _draws_text(result):
    drawn = [name for name, posterior in result.posteriors.items() if posterior.n_draws]
    if not drawn:
        return None
    number = result.posteriors[drawn[0]].n_draws
    return f"{number} for {', '.join(drawn)}, seed {result.seed}"


def _warnings(result, warnings):
    notes = list(dict.fromkeys([*result.notes, *result._warnings, *warnings]))
    if result.failed_folds:
        notes.append(f"folds {list(result.failed_folds)} failed and are left out.")
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
    return notes + vanishing_texts(result.stability)


def vanishing_texts(stability):
    """Say which classes the learner may stop predicting."""
    found = [] if stability is None else stability.vanishing()
    if len(found) > _MOST_NAMED:
        names = ", ".join(str(label) for label, _ in found[:_MOST_NAMED])
        return [
            f"{len(found)} classes, such as {names}, are never or hardly predicted by the models "
            f"of these folds, {_VANISHES.format('them')}"
        ]
    return [
        f"class {label} is never predicted by a model of these folds, {_VANISHES.format('it')}"
        if errors is None
        else f"the rows that are surest to be predicted as class {label} are {errors:.1f} standard "
        f"errors away from another class, {_VANISHES.format('it')}"
        for label, errors in found
    ]


def _scores(result, cells):
    pooled = result.options.method == "pooled"
    rows, without_mean = [], False
    for name, posterior in result.posteriors.items():
        about = posterior.diagnostics
        folds = result.folds(name)
        values = np.asarray(folds.values, dtype=float)
        values = values[np.isfinite(values)]
        # Folds that are all 0/0 cannot disagree: that is no evidence of anything.
        seen = values.size > 0
        averaged = bool(has_fold_mean(folds))
        without_mean |= not averaged
        rows.append(
            {
                "metric": name,
                "pooled": about.pooled if getattr(folds, "pools_rows", True) else None,
                "mean": about.fold_mean if averaged else None,
                "interval": cells[name],
                "omega": about.omega if pooled and seen else None,
                "lowest_fold": values.min() if seen else None,
                "highest_fold": values.max() if seen else None,
                "fold_variance": about.variance_ratio if seen else None,
                "p_value": about.p_value if seen else None,
            }
        )
    columns = [
        *("metric", "pooled", "mean", "interval"),
        *([column("omega", digits=2)] if pooled else []),
        column("lowest_fold", "lowest fold"),
        column("highest_fold", "highest"),
        column("fold_variance", "fold variance", digits=2),
        column("p_value", "p", digits=2, share=True),
    ]
    notes = [
        "pooled: all folds added up; mean: of the fold values;",
        "fold variance: spread between folds divided by the spread that chance alone gives "
        "(about 1 for a stable learner);",
        "p: probability of folds that differ so much by chance",
    ]
    if any(not getattr(result.folds(name), "pools_rows", True) for name in result.metrics):
        notes.append("no pooled value: scores of different models are not compared, only averaged")
    if without_mean:
        notes.append("no mean: the metric is 0/0 in a fold, or folds of one row do not have it")
    return section("Scores", columns, rows, notes=notes)


def _folds(result, cells):
    values = {name: np.asarray(result.folds(name).values, dtype=float) for name in result.metrics}
    keys = {name: free_key(name, ("split", "n")) for name in values}
    size = np.asarray(result.counts.n)
    kept = [k for k in range(len(size) + len(result.failed_folds)) if k not in result.failed_folds]
    rows = [
        {"split": kept[k], "n": size[k], **{keys[name]: part[k] for name, part in values.items()}}
        for k in range(len(size))
    ]
    entries = [
        {
            "name": name,
            "values": values[name],
            "interval": interval_cell(
                (cells[name]["low"], cells[name]["high"]),
                posterior.diagnostics.pooled,
                cells[name]["error"],
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


def _confusion(result, level, kind):
    notes, options = [], result.options
    if result.splits.obstacle:
        notes, options = [f"no intervals: {result.splits.obstacle}."], None
    elif options.method != "pooled":  # the rates are pooled, whatever the method of the metrics is
        options = FoldOptions()
        if result.counts.n_classes <= MOST_CLASSES:
            notes = ["the intervals of the rates are pooled with omega auto and prior 1."]
    if result.n_repeats > 1:
        notes.append(f"counts are averages over {result.n_repeats} repetitions.")
    models = None if result.stability is None else result.stability.counts
    return _confusion_of(result.counts, result.n_repeats, options, level, kind, notes, models)


def selected_confusion(counts, n_repeats, level, kind, obstacle=None):
    """Section with the confusion matrix of one candidate, from its folds."""
    if obstacle:
        notes = [f"of the selected candidate, all folds added up; no intervals: {obstacle}"]
        return _confusion_of(counts, n_repeats, None, level, kind, notes)
    notes = ["of the selected candidate, all folds added up; omega auto, prior 1"]
    return _confusion_of(counts, n_repeats, FoldOptions(), level, kind, notes)


def _confusion_of(counts, n_repeats, options, level, kind, notes, models=None):
    """Section with the sum of all folds; without options the rates have no intervals."""
    drawn = options is not None and counts.n_classes <= MOST_CLASSES
    rates = fold_rates(counts, n_repeats, options, models) if drawn else None
    matrix, labels = pooled_counts(counts, n_repeats).counts, list(map(str, counts.labels))
    return confusion_section(matrix, labels, rates, level, kind, notes)


def fold_rates(counts, n_repeats, options, models=None):
    """Posterior of P(predicted j | true i) for all cells, from the counts of folds."""

    def tables(matrices):
        return np.moveaxis(cell_tables(matrices), 0, -3)

    recall = count_metric("recall")
    if models is not None:
        models = np.moveaxis(cell_tables(models), (0, 1), (-4, -3))
    stack = fold_matrices(counts, recall, 1, n_repeats, tables)
    folds = Folds(stack, recall, 1, n_repeats, models=models)
    with silence():  # an empty class is told of the metrics
        weight = make_fold_posterior(folds, replace(options, prior=1.0)).diagnostics.omega
    hits, misses = folds.pooled[..., 1, 1], folds.pooled[..., 1, 0]
    before = after = prior = options.prior_for(counts.n_classes)
    if not isinstance(prior, float):
        after = prior.sum(axis=-1, keepdims=True) - prior
    return BetaPosterior(
        weight * hits + before, weight * misses + after, about=About(observed=folds.observed)
    )
