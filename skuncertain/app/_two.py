"""Two classifiers: two tables, or one table with the predictions of both."""

from skuncertain._reporting.build import column, interval_cell, section
from skuncertain._reporting.report import IntervalReport
from skuncertain._reporting.text import (
    cell_ends,
    cell_text,
    interval_name,
    number_text,
    probability,
    share_cell,
)
from skuncertain.app._answers import SEED, Answer, computed, curve, picture, posteriors, texts
from skuncertain.app._one import formula
from skuncertain.app._sentence import comparison_sentence, metric_title, named_metric
from skuncertain.comparison._compare import compare
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import count_metric

_PAIRED = (
    "Both have predicted the same rows, so the difference is computed from the rows on which they "
    "disagree, with 1/2 pseudo-row on each kind of agreement. The prior that was chosen belongs to "
    "the distributions of A and B."
)


def answer_two(form):
    """Answer of the page for two classifiers, or None if the form has problems."""
    counts, paired = _read(form)
    metric = count_metric(form.metric())
    level, kind, prior = form.interval()
    rope = _rope(form, metric)
    if counts is not None:
        form.needs_positive(counts[0], metric)
    if form.errors:
        return None
    a, b = both = [one.posterior(metric, prior=prior, random_state=SEED) for one in counts]
    if paired is None:
        result = compare(a, b, rope=rope, random_state=SEED)
    else:
        result = paired.compare(metric=metric, rope=rope, random_state=SEED)
    summary = result.report(level=level, kind=kind).to_dict()
    difference = summary["sections"]["difference"]
    name = named_metric(metric, counts[0])
    models = _models_section(name, both, result, difference["rows"][0]["value"], level, kind)
    summary["sections"] = {"models": models, **summary["sections"]}
    if paired is not None:
        summary["reading"].append(_PAIRED)
    else:
        text = f"{counts[0].n} and {counts[1].n} rows"
        shown = dict(summary["settings"]["shown"]) | {"n": text}
        summary["settings"] |= {"n": text, "shown": [list(pair) for pair in shown.items()]}
    pictures = [(models["title"], picture(models))]
    if difference["figure"] is not None:
        pictures.append((f"Difference B - A in {name}", picture(difference)))
    of_class = "" if name == metric_title(metric.name) else f" in {name}"
    better, p = max(("B", result.p_better), ("A", result.p_worse), key=lambda pair: pair[1])
    return Answer(
        title=f"P({better} better{of_class}{_by(rope)})",
        value=probability(p, result.difference.n_draws),
        span=f"{interval_name(level, kind)} of B - A: {cell_ends(difference['rows'][0]['value'])}",
        sentence=comparison_sentence(result, level=level, kind=kind),
        facts=_facts(name, both, models["rows"], result, counts, paired),
        pictures=pictures,
        tables=[texts({**models, "title": "Both classifiers"})],
        report=IntervalReport(summary),
        table="models",
        formula=formula(metric),
        notes=[*result.warnings, *([_PAIRED] if paired is not None else [])],
    )


def _read(form):
    """Counts of both, and those of the pairs where they have predicted the same rows."""
    if form.choice("source", ("counts", "rows")) == "rows":
        paired = form.table("pred_a", "pred_b")
        return paired and [paired.counts(model) for model in (0, 1)], paired
    cells = [form.binary(prefix) for prefix in ("a_", "b_")]
    for prefix, found in zip(("a_", "b_"), cells, strict=True):
        nothing = found is not None and not any(found.values())
        form.fail(f"{prefix}tp", "All four counts are 0: there is nothing to compare.", nothing)
    if None in cells:
        return None, None
    return [ConfusionCounts.from_binary(**found) for found in cells], None


def _rope(form, metric):
    reach = metric.range[1] - metric.range[0]
    rope = form.number("rope", 0, reach, percent=0)
    form.fail("rope", f"Must be less than {reach:g}.", rope is not None and rope >= reach)
    return rope


def _by(rope):
    return f" by more than {rope:g}" if rope else ""


def _models_section(name, both, result, difference, level, kind):
    """Table and picture of both posteriors."""
    cells = {
        name: interval_cell(
            one.interval(level, kind), float(one.observed), one.interval_error(level, kind)
        )
        for name, one in zip("AB", both, strict=True)
    }
    p_a, p_none, p_b = (
        share_cell(p, result.difference.n_draws)
        for p in (result.p_worse, result.p_equivalent, result.p_better)
    )
    what = f"Posterior distributions of {name}"
    curves = [curve(*pair, cells[pair[0]]) for pair in zip("AB", both, strict=True)]
    return section(
        what,
        [
            column("name", "classifier"),
            column("value", f"{name[:1].upper()}{name[1:]}, {interval_name(level)}"),
            column("p_better", "P(better)", share=True),
            column("p_equivalent", "P(equivalent)", share=True),
        ],
        [
            {"name": "A", "value": cells["A"], "p_better": p_a},
            {"name": "B", "value": cells["B"], "p_better": p_b},
            {"name": "B - A", "value": difference, "p_equivalent": p_none},
        ],
        figure=posteriors(curves, level, what),
    )


def _facts(name, both, rows, result, counts, paired):
    title, by = f"{name[:1].upper()}{name[1:]}", _by(result.rope)
    n_draws, middle = result.difference.n_draws, rows[2]["value"]
    equivalent = (
        f"P(equivalent, within {result.rope:g})",
        probability(result.p_equivalent, n_draws),
    )
    n_a, n_b = (int(one.n) for one in counts)
    prior = both[0].prior
    return [
        (f"P(A better{by})", probability(result.p_worse, n_draws)),
        (f"P(B better{by})", probability(result.p_better, n_draws)),
        *([equivalent] if result.rope or result.p_equivalent else []),
        (f"{title} of A", cell_text(rows[0]["value"])),
        (f"{title} of B", cell_text(rows[1]["value"])),
        ("B - A, median", number_text(middle["value"], middle["value_error"])),
        ("Rows", f"{n_a:,}, the same" if paired else f"{n_a:,} and {n_b:,}, different"),
        ("Prior", prior if paired is None else f"{prior}; difference: {result.prior}"),
        ("Computed", computed(result.difference)),
    ]
