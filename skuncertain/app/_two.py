"""Two classifiers: two tables, or one table with the predictions of both."""

from skuncertain._comparison import compare
from skuncertain._counts import ConfusionCounts
from skuncertain._metrics import get_metric
from skuncertain._report import IntervalReport, column, interval_cell, section
from skuncertain._report_cells import cell_text, clean, share_cell
from skuncertain._sentence import comparison_sentence, level_title, metric_title
from skuncertain.app._answers import SEED, Answer, curve, number, picture, posteriors, span, texts
from skuncertain.app._forms import KINDS
from skuncertain.app._one import formula, probability

_PAIRED = (
    "Both have predicted the same rows, so the difference is computed from the rows on which they "
    "disagree, with 1/2 pseudo-row on each kind of agreement. The prior that was chosen belongs to "
    "the distributions of A and B."
)


def answer_two(form):
    """Answer of the page for two classifiers, or None if the form has problems."""
    paired, counts = None, None
    if form.choice("source", ("counts", "rows")) == "rows":
        paired = form.table("pred_a", "pred_b")
        counts = paired and [paired.counts(model) for model in (0, 1)]
    else:
        cells = [form.binary(prefix) for prefix in ("a_", "b_")]
        for prefix, found in zip(("a_", "b_"), cells, strict=True):
            if found is not None and not any(found.values()):
                form.fail(f"{prefix}tp", "All four counts are 0: there is nothing to compare.")
        if None not in cells:
            counts = [ConfusionCounts.from_binary(**found) for found in cells]
    metric = get_metric(form.metric())
    level, kind, prior = form.interval()
    reach = metric.range[1] - metric.range[0]
    rope = form.number("rope", 0, reach)
    if rope is not None and rope >= reach:
        form.fail("rope", f"Must be less than {reach:g}.")
    if counts is not None and metric.average == "binary" and counts[0].pos_label is None:
        names = ", ".join(clean(label) for label in counts[0].labels)
        form.fail(
            "pos_label",
            f"There are {counts[0].n_classes} classes: name the positive one ({names}), or choose "
            "an average over classes.",
        )
    if form.errors:
        return None
    a, b = (one.posterior(metric, prior=prior, random_state=SEED) for one in counts)
    if paired is None:
        result = compare(a, b, rope=rope, random_state=SEED)
    else:
        result = paired.compare(metric=metric, rope=rope, random_state=SEED)
    title = metric_title(metric.name, start=True)
    cells = {
        name: interval_cell(
            one.interval(level, kind), float(one.observed), one.interval_error(level, kind)
        )
        for name, one in (("A", a), ("B", b))
    }
    what = f"Posterior distributions of {metric_title(metric.name)}"
    curves = [curve(name, one, cells[name]) for name, one in (("A", a), ("B", b))]
    summary = result.report(level=level, kind=kind).to_dict()
    (row,) = summary["sections"]["difference"]["rows"]
    n_draws = result.difference.n_draws
    p_a, p_none, p_b = (
        share_cell(p, n_draws) for p in (result.p_worse, result.p_equivalent, result.p_better)
    )
    rows = [
        {"name": "A", "value": cells["A"], "p_better": p_a},
        {"name": "B", "value": cells["B"], "p_better": p_b},
        {"name": "B - A", "value": row["value"], "p_equivalent": p_none},
    ]
    columns = [
        column("name", "classifier"),
        column("value", f"{title}, {level_title(level)} interval"),
        column("p_better", "P(better)", share=True),
        column("p_equivalent", "P(equivalent)", share=True),
    ]
    models = section(what, columns, rows, figure=posteriors(curves, level, what))
    difference = summary["sections"]["difference"]
    sections = {"models": models, **summary["sections"]}
    if paired is not None:
        summary["reading"].append(_PAIRED)
    else:
        text = f"{counts[0].n} and {counts[1].n} rows"
        shown = dict(summary["settings"]["shown"]) | {"n": text}
        summary["settings"] |= {"n": text, "shown": [list(pair) for pair in shown.items()]}
    report = IntervalReport({**summary, "sections": sections})
    better, p = (
        ("A", result.p_worse) if result.p_worse > result.p_better else ("B", result.p_better)
    )
    by = f" by more than {rope:g}" if rope else ""
    pictures = [(what, picture(models))]
    if difference["figure"] is not None:
        pictures.append((f"Difference B - A in {metric_title(metric.name)}", picture(difference)))
    n_a, n_b = (int(one.n) for one in counts)
    equivalent = []
    if rope or result.p_equivalent:
        text = probability(result.p_equivalent, n_draws)
        equivalent.append((f"P(equivalent, within {rope:g})", text))
    kinds = KINDS[kind].partition(" ")[0]
    return Answer(
        title=f"P({better} better{by})",
        value=probability(p, n_draws),
        span=f"{level_title(level)} {kinds} interval of B - A: {span(row['value'])}",
        sentence=comparison_sentence(result, level=level, kind=kind),
        facts=[
            (f"P(A better{by})", probability(result.p_worse, n_draws)),
            (f"P(B better{by})", probability(result.p_better, n_draws)),
            *equivalent,
            (f"{title} of A", cell_text(cells["A"])),
            (f"{title} of B", cell_text(cells["B"])),
            ("B - A, median", number(row["value"]["value"], row["value"]["value_error"])),
            ("Rows", f"{counts[0].n:,}, the same" if paired else f"{n_a:,} and {n_b:,}, different"),
            ("Prior", f"{a.prior}" if paired is None else f"{a.prior}; difference: {result.prior}"),
            (
                "Computed",
                "exact, without random numbers"
                if result.difference.exact
                else f"{n_draws:,} draws, seed {result.difference.seed}",
            ),
        ],
        pictures=pictures,
        tables=[texts({**models, "title": "Both classifiers"})],
        report=report,
        table="models",
        formula=formula(metric),
        notes=[*result.warnings, *([_PAIRED] if paired is not None else [])],
    )
