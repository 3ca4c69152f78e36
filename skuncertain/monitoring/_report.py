"""The words of a watch: its report, and parts of sentences that others share."""

from skuncertain._reporting.build import column, interval_cell, make_report, section
from skuncertain._reporting.text import (
    cell_text,
    few_decimals,
    kind_text,
    level_text,
    number,
)

_AGAIN = (
    "The intervals hold at one look that was fixed before. Looked at after every batch, 95 % "
    "intervals miss the truth at some time in 17 to 28 % of the watches of 20 batches and in 32 to "
    "40 % of those of 100; with anytime=True in 5 % at most."
)
_READING_ONE = (
    "The interval after a batch is about all rows up to it. P(worse) is the probability that the "
    "batch was worse than the rows before it; if nothing ever changes, one batch in twenty has "
    "more than .95.",
)
_READING_ALL = (
    "If the metric never changes, all intervals of the watch hold it together with the stated "
    "probability, however many looks there are and whenever one stops.",
    "If the metric is never worse than the threshold, a watch without end raises an alarm with one "
    "minus that probability at most; and so it does report a change where there is none.",
    "P(worse) compares a batch with the rows before it and is about that look alone.",
)


def interval_words(asked):
    """Such as "95 % interval", or "95 % interval at all looks"."""
    return f"{level_text(asked.level)} interval" + " at all looks" * asked.anytime


def alarm_words(asked, alarm):
    """Continue a sentence: an alarm, and that of which batch where it is known."""
    if asked.threshold is None or not alarm:
        return ""
    since = "" if alarm is True else f" since batch {alarm}"
    return f", alarm{since}: worse than {asked.threshold:g}"


def answer(history):
    """Sentence that says how it stands."""
    metric, number_of = history.title, len(history)
    if not number_of:
        return f"There was no batch yet: nothing is known about {metric}."
    last = {name: float(history.columns[name][-1]) for name in ("overall", "low", "high")}
    digits = max(few_decimals(last["low"], last["high"]), 3)
    value, *ends = (number(last[name], digits) for name in ("overall", "low", "high"))
    count = f"{number_of} batch" + "es" * (number_of > 1)
    state = f"{value}, {interval_words(history)} [{', '.join(ends)}]"
    changed = f"by batch {history.change} it had changed"
    if history.alarm is not None:
        also = "" if history.change is None else f", and {changed}"
        start = f"Alarm since batch {history.alarm}: {metric} was worse than {history.threshold:g}"
        return f"{start}{also}; after {count} it is {state}, all in all."
    if history.change is not None:
        start = f"No constant value of {metric} fits: {changed}"
        return f"{start}; after {count} it is {state}, all in all."
    if history.threshold is not None:
        start = f"No alarm in {count}: {metric} is not shown to be worse than"
        return f"{start} {history.threshold:g}; it is {state}."
    return f"After {count} {metric} is {state}."


def _question(history):
    if history.threshold is not None:
        return f"Is {history.title} worse than {history.threshold:g}, on rows like these?"
    return f"How good is the model by {history.title}, on rows like these?"


def watch_report(history, digits=None):
    """Report of a SequentialHistory."""
    columns = [
        column("step", "batch"),
        column("n", "rows"),
        column("value", f"{history.metric} of the batch"),
        column("overall", "all in all"),
        column("p_worse", "P(worse)", share=True),
    ]
    columns += [column("changed")] * history.anytime
    if history.threshold is not None:
        columns.append(column("worse_than_threshold", "worse than threshold"))
    table = {name: values.tolist() for name, values in history.columns.items()}
    rows = []
    for k in reversed(range(len(history))):
        row = {column["key"]: table[column["key"]][k] for column in columns}
        row["step"] = f"{row['step']}"
        row["overall"] = interval_cell((table["low"][k], table["high"][k]), row["overall"])
        rows.append(row)
    repeated = len(history) > 1 and not history.anytime
    return make_report(
        "watch",
        answer(history),
        settings=_settings(history),
        question=_question(history),
        sections={"batches": section("Batches, the newest first", columns, rows, ranked=True)},
        warnings=[_AGAIN] * repeated,
        reading=_READING_ALL if history.anytime else _READING_ONE,
        digits=digits,
    )


def _settings(history):
    known = {
        name: value for name, value in history.to_dict().items() if name not in history.columns
    }
    sequence = "confidence sequence (Beta mixture)"
    rows = history.columns["n"].sum() if len(history) else 0
    shown = {
        "metric": history.metric,
        "level": level_text(history.level),
        "intervals": sequence if history.anytime else kind_text(history.kind),
        "prior": history.prior,
        "n": f"{cell_text(rows)} rows in {len(history)} batches",
        "discount": None if history.discount == 1 else f"{history.discount:g}",
        "rope": f"{history.rope:g}" if history.rope else None,
        "threshold": None if history.threshold is None else f"{history.threshold:g}",
    }
    shown = [[name, text] for name, text in shown.items() if text is not None]
    return {**known, "shown": shown}
