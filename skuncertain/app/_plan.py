"""Sample size: how many rows for a narrow interval, and how wide with so many."""

import math

from skuncertain._reporting.build import column, section
from skuncertain._reporting.report import IntervalReport
from skuncertain._reporting.text import kind_name, level_text
from skuncertain.app._answers import Answer, texts
from skuncertain.app._one import formula
from skuncertain.app._sentence import WITHIN_A_CLASS, metric_title
from skuncertain.metrics._registry import count_metric
from skuncertain.planning._width import expected_width, required_sample_size

_MOST = 100_000
_NARROWEST = 0.01
_LADDER = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def answer_plan(form):
    """Answer of the page for sample sizes, or None if the form has problems."""
    about, width, n, prevalence = _read(form)
    if form.errors:
        return None
    plan = required_sample_size(width=width, prevalence=prevalence, **about)
    widths = {size: expected_width(size, **about) for size in sorted({*_LADDER, n})}
    summary = plan.report().to_dict()
    table = summary["sections"]["widths"] = _width_section(plan, widths, n)
    return Answer(
        title=f"N for a width of {width:g}",
        value=f"{plan.n:,}",
        span=f"{plan.counted}; the rule of thumb says {plan.rule_n:,}",
        sentence=(
            f"With {plan.n:,} {plan.counted} the {level_text(plan.level)} {kind_name(plan.kind)} "
            f"credible interval of {metric_title(plan.metric)} is at most {width:g} wide with "
            f"probability {math.floor(plan.probability * 1000) / 1000:g}, expecting "
            f"{plan.expected}."
        ),
        facts=_facts(plan, widths[n]),
        pictures=[],
        tables=[texts(table)],
        report=IntervalReport(summary),
        table="widths",
        formula=formula(about["metric"]),
    )


def _read(form):
    """What is planned; it counts only if the form has no problems."""
    metric = count_metric(form.metric())
    level, kind, prior = form.interval()
    expected = form.number("expected", 0, 1, percent=0.1)
    concentration = form.number("concentration", 2, 1e6, closed=False, optional=True)
    width = form.number("width", _NARROWEST, 1, closed=True, percent=0)
    form.fail("width", "Must be less than 1.", width == 1)
    n = form.count("n", _MOST, low=1)
    power = form.number("power", 0, 1, closed=False, percent=0.5)
    prevalence = form.number("prevalence", 0, 1, closed=False, optional=True, percent=0)
    form.fail(
        "prevalence",
        "It says how many rows to collect only for recall, specificity, fpr and fnr. Leave it "
        "empty.",
        prevalence is not None and metric.base not in WITHIN_A_CLASS,
    )
    known = expected if concentration is None else (expected, concentration)
    about = {"metric": metric, "expected": known, "level": level, "kind": kind, "prior": prior}
    return about | {"power": power}, width, n, prevalence


def _width_section(plan, widths, n):
    rows = [
        {
            "n": f"{size:,}" + (" (yours)" if size == n else ""),
            "median": found.median,
            "quantile": found.quantile,
            "rule": found.rule,
        }
        for size, found in widths.items()
    ]
    return section(
        "Width of the interval by sample size",
        [
            column("n", f"N ({plan.counted})"),
            column("median", "width, median", 4),
            column("quantile", f"width, at most, with probability {plan.power:g}", 4),
            column("rule", "rule 2 / sqrt(N)", 4),
        ],
        rows,
    )


def _facts(plan, mine):
    width, power = f"{plan.width:g}", f"{plan.power:g}"
    rows = []
    if plan.rows is not None and plan.rows != plan.n:
        rows = [(f"Rows to collect, with probability {power} enough", f"{plan.rows:,}")]
    return [
        (f"N for a width of {width}, exact", f"{plan.n:,} {plan.counted}"),
        (f"N for a width of {width}, rule of thumb 4 / width²", f"{plan.rule_n:,}"),
        (f"P(width ≤ {width}) with {plan.n:,}", f"{plan.probability:.3f}"),
        *rows,
        (f"Width with N = {mine.n:,}, median", f"{mine.median:.3g}"),
        (f"Width with N = {mine.n:,}, at most, with probability {power}", f"{mine.quantile:.3g}"),
        (f"Width with N = {mine.n:,}, rule of thumb 2 / √N", f"{mine.rule:.3g}"),
        ("Expected", plan.expected),
        ("Prior of the planned analysis", plan.prior),
    ]
