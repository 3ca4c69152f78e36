"""What the reports of sample sizes and expected widths say."""

from skuncertain._reporting.build import column, make_report, section
from skuncertain._reporting.text import level_text, relative_text

READING = (
    "The width goes from the lower to the upper end of the interval. It is not known before the "
    "data are: the plan says how likely it is to be at most so wide.",
    "The rules of thumb, 4 / width**2 and 2 / sqrt(n), are for a rate of one half. Its error is "
    "the share by which it is too high or too low.",
)
READING_COMPARISON = (
    "The study is a success if the probability that b is better reaches the wanted one. The chance "
    "is that of a success, if the difference is truly what was assumed.",
)


def make_plan_report(plan, title, question, rows, shown, reading, *, digits=None):
    """Report of a plan: its numbers by name, and what was assumed; None is left out."""
    shown = [[name, text] for name, text in shown.items() if text is not None]
    table = [{"what": what, "value": value} for what, value in rows.items() if value is not None]
    return make_report(
        "planning",
        title,
        settings={**plan.to_dict(), "shown": shown},
        question=question,
        sections={"plan": section("Plan", ["what", column("value")], table)},
        warnings=[],
        reading=reading,
        digits=digits,
    )


def _interval_settings(plan):
    drawn = plan.n_studies is not None
    studies = f"{plan.n_studies} simulated studies, seed {plan.seed}"
    return {
        "metric": plan.metric,
        "expected": plan.expected,
        "level": level_text(plan.level),
        "kind": plan.kind,
        "prior": plan.prior,
        "method": studies if drawn else "exact, all outcomes",
    }


def _give_or_take(error, digits):
    """Monte Carlo error in words, where there is one."""
    return f" (± {error:.{digits}g})" if error else ""


def sample_size_words(plan):
    """Title, question, rows, settings and reading of a SampleSize."""
    needed = {
        f"{plan.counted} needed{_give_or_take(plan.n_error, 2)}": plan.n,
        "probability of an interval that narrow"
        f"{_give_or_take(plan.probability_error, 1)}": plan.probability,
        "median width": plan.median_width,
        f"width with probability {plan.power:g}": plan.power_width,
        f"rows that bring them with probability {plan.power:g}": plan.rows,
        "rows that bring them on average": plan.rows_on_average,
        "rule of thumb, 4 / width**2": plan.rule_n,
        "error of the rule": relative_text(plan.rule_error),
    }
    if plan.counted == "rows":
        needed = {what: value for what, value in needed.items() if "bring" not in what}
    question = (
        f"How many {plan.counted} make the interval of {plan.metric} at most {plan.width:g} wide, "
        f"with probability {plan.power:g}?"
    )
    return f"Sample size for {plan.metric}", question, needed, _interval_settings(plan), READING


def expected_width_words(plan):
    """Title, question, rows, settings and reading of an ExpectedWidth."""
    rows = {
        "median width": plan.median,
        f"mean width{_give_or_take(plan.mean_error, 1)}": plan.mean,
        f"width with probability {plan.power:g}{_give_or_take(plan.quantile_error, 1)}": (
            plan.quantile
        ),
        "rule of thumb, 2 / sqrt(n)": plan.rule,
        "error of the rule": relative_text(plan.rule_error),
    }
    question = f"How wide will the interval of {plan.metric} be with {plan.n} {plan.counted}?"
    return f"Expected width for {plan.metric}", question, rows, _interval_settings(plan), READING


def comparison_words(plan):
    """Title, question, rows, settings and reading of a ComparisonSampleSize."""
    by = f" by more than {plan.rope:g}" if plan.rope else ""
    question = (
        f"How many {plan.counted} show with a chance of {plan.power:g} that b is better{by}, if it "
        f"truly is by {plan.difference:g}?"
    )
    shown = {
        "difference": f"{plan.difference:g}",
        "disagreement": None if plan.disagreement is None else f"{plan.disagreement:g}",
        "rate of a": None if plan.rate is None else f"{plan.rate:g}",
        "P(b better)": f"at least {plan.probability:g}",
        "rope": f"{plan.rope:g}",
        "prior": f"{plan.prior:g}",
        "method": "exact, all outcomes",
    }
    rows = {f"{plan.counted} needed": plan.n, "chance of a success": plan.chance}
    return "Sample size for a comparison", question, rows, shown, READING_COMPARISON
