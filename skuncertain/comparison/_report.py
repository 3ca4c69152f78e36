"""The reports of comparisons of two models."""

import numpy as np

from skuncertain._reporting.build import (
    column,
    interval_cell,
    make_report,
    question_settings,
    section,
)
from skuncertain._reporting.text import folds_text, share_cell
from skuncertain._utils.warnings import collect, silence
from skuncertain.exceptions import FewDrawsWarning

_POINTS = 241
READING = (
    "The difference is B - A, in units of the metric. Each of the three probabilities is the "
    "probability of that statement, given the data and the prior; they sum to 1.",
    "Equivalent means: the difference is within the region of practical equivalence (ROPE), "
    "which is a choice and not a result. With a ROPE of 0 nothing is equivalent.",
    "A high probability of a tiny difference is still a tiny difference: look at the interval.",
)


def comparison_report(result, level, kind, digits=None):
    """Report of a ComparisonResult."""
    a, b = result.names
    difference, n_folds = result.difference, result.n_folds
    with collect() as caught:
        low, high = (np.ravel(end) for end in difference.interval(level, kind))
    middle = np.ravel(difference.median())
    error, middle_error = (
        np.ravel(np.broadcast_to(part, difference.shape))
        for part in (difference.interval_error(level, kind), difference.monte_carlo_error(0.5))
    )
    chances = [np.ravel(p) for p in (result.p_worse, result.p_equivalent, result.p_better)]
    rows = []
    for k in range(middle.size):
        row = {"difference": f"{b} - {a}" + (f" [{k}]" if difference.shape else "")}
        row["value"] = interval_cell((low[k], high[k]), middle[k], error[k], middle_error[k])
        row |= _chance_cells([float(p[k]) for p in chances], difference.n_draws)
        if result.rope == chances[1][k] == 0:
            # Without a ROPE nothing is equivalent: that does not come from the draws.
            row["p_equivalent"] = 0.0
        rows.append(row)
    of = result.question or "the score"
    columns = [
        "difference",
        column("value", f"{of}, median"),
        *_chance_columns(b),
    ]
    figure = None if difference.shape else _density(result, a, b)
    return make_report(
        "comparison",
        f"Comparison of {b} with {a} by {of}",
        settings={
            "level": level,
            "kind": kind,
            "prior": result.prior,
            "method": result.method,
            "n": result.n,
            "k": None if n_folds is None else folds_text(n_folds, result.n_repeats),
            "omega": _weight_text(difference.about.diagnostics),
            "metric": result.metric,
            **question_settings(difference.about),
            "differs": result.differs,
            "believe": result.advice,
            "rope": result.rope,
            "draws": None
            if difference.exact
            else f"{difference.n_draws} for the difference, seed {difference.seed}",
        },
        question=_question(result, of),
        sections={"difference": section("Difference", columns, rows, figure=figure)},
        warnings=[*result.warnings, *caught.texts],
        reading=[text.replace("B - A", f"{b} - {a}") for text in READING],
        digits=digits,
    )


def _weight_text(diagnostics):
    """Weight of a row in folds, and where it is from; None without one."""
    if diagnostics is None:
        return None
    source = "the folds" if diagnostics.movement is None else "the folds and their models"
    published = f"Wang and Li: {diagnostics.omega_wang_li:.3f}"
    return f"{diagnostics.omega:.3f}, estimated from {source} ({published})"


def _chance_columns(b):
    return [
        column("p_worse", f"P({b} worse)", share=True),
        column("p_equivalent", "P(equivalent)", share=True),
        column("p_better", f"P({b} better)", share=True),
    ]


def _chance_cells(chances, n_draws):
    keys = ("p_worse", "p_equivalent", "p_better")
    return {key: share_cell(p, n_draws) for key, p in zip(keys, chances, strict=True)}


def _question(result, of):
    a, b = result.names
    if result.n_folds is not None:
        whose = {
            "fitted": f"the models of {b} and {a} that were fitted in these folds differ in {of}, "
            "on average over the folds?",
            "final": f"the two models of {b} and {a} that are fitted on all rows differ in {of}?",
        }
        average = (
            f"{b} and {a} differ in {of} on average, when both are trained on as many rows as in "
            "these folds?"
        )
        return f"By how much do {whose.get(result.estimand, average)}"
    where = "those on which each was tested"
    if result.difference.about.prevalence is not None:
        return f"By how much do the models {b} and {a} differ in {of}?"
    if isinstance(result.n, int):
        where = f"these {result.n}, which both have predicted"
    return f"By how much do the models {b} and {a} differ in {of} on rows like {where}?"


def _density(result, a, b):
    difference = result.difference
    with silence(FewDrawsWarning):  # where a picture ends
        ends = [float(end) for end in difference.quantile([0.0005, 0.9995])]
    x, y = [float(difference.median())], [0.0]
    if not np.isfinite([*ends, *x]).all():
        return None
    if ends[1] > ends[0]:
        # The edges of the ROPE are shown if they are near.
        reach = ends[1] - ends[0]
        ends[0] = min(ends[0], max(-result.rope * 1.2, ends[0] - 0.5 * reach))
        ends[1] = max(ends[1], min(result.rope * 1.2, ends[1] + 0.5 * reach))
        x = np.linspace(*ends, _POINTS)
        y = np.minimum(np.nan_to_num(difference.pdf(x), posinf=1e3), 1e6)
        if not np.max(y) > 0:  # masses at single points
            x, y = x[:1] * 0 + float(difference.median()), [0.0]
    areas = [[f"{a} better", result.p_worse], [f"{b} better", result.p_better]]
    below, above = areas if result.greater_is_better else areas[::-1]
    return {
        "type": "density",
        "x": x,
        "y": y,
        "rope": result.rope,
        "n_draws": difference.n_draws,
        "areas": [below, ["equivalent", result.p_equivalent], above],
        # Of the model that is better there: the first one keeps its colour on either side.
        "looks": [0, 1, 2] if result.greater_is_better else [2, 1, 0],
    }


def datasets_report(result, level, kind, digits=None):
    """Report of a DatasetComparison."""
    a, b = result.names
    n = result.n_draws
    tests = {"signed rank": (result.signed_rank, n), "sign": (result.sign, None)}
    rows = [{"test": name, **_chance_cells(*about)} for name, about in tests.items()]
    sets = [{"data set": str(k), "difference": d} for k, d in enumerate(result.differences)]
    notes = []
    if result.per_dataset is not None:
        with silence():  # the report says which data set it is
            ends = result.per_dataset.interval(level, kind)
        notes = [*result.per_dataset.warnings, *_flat_data_sets(ends)]
        for row, low, high in zip(sets, *ends, strict=True):
            row["difference"] = interval_cell((low, high), row["difference"])
    folds = result.per_dataset and result.per_dataset.n_folds
    return make_report(
        "datasets",
        f"Comparison of {b} with {a} on {len(sets)} data sets",
        settings={
            "level": level,
            "kind": kind,
            "prior": f"{result.prior:g} data sets without a difference",
            "method": "Bayesian signed-rank and sign tests; correlated t on each data set",
            "k": None if folds is None else f"{folds:g} folds on each data set",
            "rope": result.rope,
            "draws": f"{n} for the signed-rank test, seed {result.seed}",
        },
        question=f"On most data sets like these {len(sets)}, is {b} better or worse than {a}?",
        sections={
            "tests": section("Tests", ["test", *_chance_columns(b)], rows),
            "datasets": section("Data sets", ["data set", "difference"], sets),
        },
        warnings=notes,
        reading=[
            "A data set is drawn at random from all data sets like these. The probabilities say "
            "which of worse, equivalent and better is the most frequent outcome there.",
            *READING[1:],
        ],
        digits=digits,
    )


def _flat_data_sets(ends):
    """What to say of data sets on which all folds have the same difference."""
    flat = np.flatnonzero(np.isclose(*ends, rtol=0, atol=1e-12)).tolist()  # 0.9 - 0.8 is not 0.1
    if not flat:
        return []
    named = ", ".join(map(str, flat[:10])) + (" and others" if len(flat) > 10 else "")
    return [
        f"all folds of data set {named} have the same difference: its interval has no width, which "
        "says nothing about uncertainty."
    ]
