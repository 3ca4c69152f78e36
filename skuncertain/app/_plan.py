"""Sample size: how many rows for a narrow interval, and how wide with so many."""

import math

from skuncertain._metrics import get_metric
from skuncertain._planning import expected_width, required_sample_size
from skuncertain._report import column, make_report, section
from skuncertain._sentence import level_title, metric_title
from skuncertain.app._answers import Answer, texts
from skuncertain.app._forms import KINDS
from skuncertain.app._one import formula

_MOST = 100_000
_NARROWEST = 0.01
_LADDER = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_READING = (
    "The width of an interval is known only when the data are there. Before, it has a "
    "distribution: half of all studies get an interval that is at most as wide as the median.",
    "The rule of thumb is 2 / sqrt(N) for the width, and 4 / width**2 for N. It is about right for "
    "a 95 % interval of a rate near 1/2, and too careful elsewhere.",
)


def answer_plan(form):
    """Answer of the page for sample sizes, or None if the form has problems."""
    metric = get_metric(form.metric())
    level, kind, prior = form.interval()
    expected = form.number("expected", 0, 1)
    concentration = form.number("concentration", 2, 1e6, closed=False, optional=True)
    width = form.number("width", _NARROWEST, 1, closed=True)
    if width == 1:
        form.fail("width", "Must be less than 1.")
    n = form.count("n", _MOST, low=1)
    power = form.number("power", 0, 1, closed=False)
    prevalence = form.number("prevalence", 0, 1, closed=False, optional=True)
    within = metric.base in ("recall", "fnr", "specificity", "fpr")
    if prevalence is not None and not within:
        form.fail(
            "prevalence",
            "It says how many rows to collect only for recall, specificity, fpr and fnr. Leave it "
            "empty.",
        )
    if form.errors:
        return None
    known = expected if concentration is None else (expected, concentration)
    about = {"metric": metric, "expected": known, "level": level, "kind": kind, "prior": prior}
    about["power"] = power
    plan = required_sample_size(width=width, prevalence=prevalence, **about)
    sizes = sorted({*_LADDER, n})
    widths = {size: expected_width(size, **about) for size in sizes}
    mine = widths[n]
    percent = level_title(level)
    name = metric_title(metric.name)
    rows = [
        {
            "n": f"{size:,}" + (" (yours)" if size == n else ""),
            "median": w.median,
            "quantile": w.quantile,
            "rule": w.rule,
        }
        for size, w in widths.items()
    ]
    columns = [
        column("n", f"N ({plan.counted})"),
        column("median", "width, median", 4),
        column("quantile", f"width, at most, with probability {power:g}", 4),
        column("rule", "rule 2 / sqrt(N)", 4),
    ]
    table = section("Width of the interval by sample size", columns, rows)
    facts = [
        (f"N for a width of {width:g}, exact", f"{plan.n:,} {plan.counted}"),
        (f"N for a width of {width:g}, rule of thumb 4 / width²", f"{plan.rule_n:,}"),
        (f"P(width ≤ {width:g}) with {plan.n:,}", f"{plan.probability:.3f}"),
    ]
    if plan.rows is not None and plan.rows != plan.n:
        facts.append(
            (f"Rows to collect, with probability {power:g} enough", f"{plan.rows:,}"),
        )
    facts += [
        (f"Width with N = {n:,}, median", f"{mine.median:.3g}"),
        (f"Width with N = {n:,}, at most, with probability {power:g}", f"{mine.quantile:.3g}"),
        (f"Width with N = {n:,}, rule of thumb 2 / √N", f"{mine.rule:.3g}"),
        ("Expected", plan.expected),
        ("Prior of the planned analysis", plan.prior),
    ]
    answer = section(
        "Sample size",
        [column("name", "question"), column("value", "answer")],
        [{"name": fact, "value": text} for fact, text in facts],
    )
    kinds = KINDS[kind].partition(" ")[0]
    report = make_report(
        "plan",
        f"Sample size for an interval of {name}",
        settings={
            "level": level,
            "kind": kind,
            "prior": plan.prior,
            "method": "exact enumeration of all outcomes",
            "omega": None,
            "n": None,
            "k": None,
            "metric": metric.name,
        },
        question=f"How many samples make the {percent} interval of {name} {width:g} wide?",
        sections={"answer": answer, "widths": table},
        warnings=(),
        reading=_READING,
    )
    sentence = (
        f"With {plan.n:,} {plan.counted} the {percent} {kinds} credible interval of {name} is at "
        f"most {width:g} wide with probability {math.floor(plan.probability * 1000) / 1000:g}, "
        f"expecting {plan.expected}."
    )
    return Answer(
        title=f"N for a width of {width:g}",
        value=f"{plan.n:,}",
        span=f"{plan.counted}; the rule of thumb says {plan.rule_n:,}",
        sentence=sentence,
        facts=facts,
        pictures=[],
        tables=[texts(table)],
        report=report,
        table="widths",
        formula=formula(metric),
    )
