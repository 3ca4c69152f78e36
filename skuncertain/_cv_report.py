"""The text report of a cross-validation."""

import warnings

import numpy as np

from skuncertain._fold_variance import wang_li_omega


def report_lines(result):
    """Lines of the text report of a CrossValPosterior."""
    settings, counts = result.settings, result.counts
    kind = {"eti": "equal-tailed", "hdi": "highest-density"}[settings.kind]
    prior = settings.prior if np.ndim(settings.prior) == 0 else "array"
    with_prior = settings.method not in ("bootstrap", "t", "corrected_t", "nadeau_bengio")
    lines = [
        f"{settings.level * 100:g} % {kind} intervals, method '{settings.method}'"
        + (f", prior {prior}" if with_prior else ""),
        f"K = {result.n_folds:g} fold{'s' * (result.n_folds != 1)}"
        + (f", repeated {result.n_repeats} times" if result.n_repeats > 1 else "")
        + (" (assumed to partition the rows)" if result.assumed else "")
        + f", n = {result.n:g} rows, {counts.n_classes} classes"
        + (f", positive class {counts.pos_label!r}" if counts.pos_label is not None else ""),
        result.question,
        "",
    ]
    notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lines += _main_table(result)
    notes += [str(warning.message) for warning in caught]
    if not result.splits.obstacle:
        lines += ["", *_methods_table(result)]
    if result.lost:
        notes.append(f"folds {list(result.lost)} failed and are left out.")
    notes += [
        f"folds disagree more than sampling explains on {text}." for text in result.disagreement()
    ]
    if notes:
        lines += ["", "Warnings", *(f"- {note}" for note in dict.fromkeys(notes))]
    return lines


def _main_table(result):
    pooled = result.settings.method == "pooled"
    header = ["metric", "micro", "macro", "interval", "omega", "published", "fold variance", "p"]
    rows = []
    for name, posterior in result.posteriors.items():
        about = posterior.diagnostics
        rows.append(
            [
                name,
                f"{about.micro:.3f}",
                f"{about.macro:.3f}",
                _show(posterior, result.intervals[name]),
                f"{about.omega:.2f}" if pooled else "",
                f"{wang_li_omega(result.n_folds):.2f}" if pooled else "",
                f"{about.variance_ratio:.2f}",
                f"{about.p_value:.2f}",
            ]
        )
    note = [
        "micro: pooled counts; macro: mean of folds; fold variance: over binomial variance;",
        "p: chance of folds that differ so much",
    ]
    return [*_table(header, rows), *note]


def _methods_table(result):
    """The same metrics by other methods."""
    level, kind = result.settings.level, result.settings.kind
    others: dict = {
        "auto": {"method": "pooled", "omega": "auto"},
        "wang-li": {"method": "pooled", "omega": "wang-li"},
        "averaged": {"method": "averaged"},
        "corrected_t": {"method": "corrected_t"},
        "nadeau_bengio": {"method": "nadeau_bengio"},
    }
    if result.settings.method == "pooled":  # shown above
        others.pop(result.settings.omega, None)
    if result.n < 5 * result.n_folds:  # there its intervals are too short
        others.pop("averaged")
    rows, beyond = [], False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is told of the method that was asked for
        for name, metric in result.metrics.items():
            row = [name]
            for options in others.values():
                try:
                    posterior = result.posterior(name, **options)
                except ValueError:  # not for this metric or this number of folds
                    row.append("-")
                    continue
                low, high = interval = posterior.interval(level, kind)
                beyond |= low < metric.range[0] or high > metric.range[1]
                row.append(_show(posterior, interval))
            rows.append(row)
    table = ["Other methods", *_table(["metric", *others], rows)]
    return [*table, "t intervals know no limits"] if beyond else table


def _show(posterior, interval):
    """Both ends, without digits that the draws do not support."""
    digits = 3
    if not posterior.exact:
        error = float(np.max(posterior.monte_carlo_error(0.5)))
        digits = 3 if error == 0 else int(np.clip(np.floor(-np.log10(2 * error)), 1, 3))
    return f"[{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def _table(header, rows):
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *rows)
    ]
