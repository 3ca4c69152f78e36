"""One classifier: four counts, or a table of labels, and one metric."""

import math
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._reporting.build import column, section
from skuncertain._reporting.text import (
    cell_ends,
    cell_text,
    clean,
    interval_name,
    kind_name,
    level_text,
    number_text,
    probability,
)
from skuncertain._utils.warnings import collect, silence
from skuncertain.app._answers import SEED, Answer, computed, curve, picture, posteriors, texts
from skuncertain.app._forms import MODELS, MOST_NEW_ROWS
from skuncertain.app._sentence import (
    named_metric,
    posterior_sentence,
    rows_that_count,
)
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._report_parts import MatrixReport

_OTHERS = (
    "accuracy",
    "balanced_accuracy",
    "recall",
    "specificity",
    "precision",
    "npv",
    "f1",
    "informedness",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "matthews_corrcoef",
)
_OTHERS_OF_SEVERAL = (
    "accuracy",
    "balanced_accuracy",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "cohen_kappa",
    "matthews_corrcoef",
)
_ALSO = {"recall": "sensitivity", "precision": "ppv"}  # what medicine calls them
_READING = (
    "The interval holds the true value with the probability that is given as level, if the rows "
    "are a random sample of the rows that the classifier will meet, drawn independently of each "
    "other.",
    "The number before an interval is what was seen in these rows.",
    "Better than guessing means that informedness, recall + specificity - 1, is above 0; worse "
    "than guessing, that it is below 0.",
)
_NOTES = {
    UndefinedMetricWarning: "Some of these metrics are 0/0, in the data or on some of the new test "
    "sets: their intervals lean on the prior, or leave these test sets out.",
    SmallSampleWarning: "Averages over classes with few rows have intervals that are somewhat too "
    "short.",
}
_MODELS = {
    "dirichlet": "Dirichlet model",
    "three_beta": "Model of three Betas (prevalence, recall, specificity)",
    "rows": "Model of a Dirichlet per true class",
}
_AT_PREVALENCE = (
    "At another prevalence the number before an interval is the metric of the observed rates of "
    "the two classes, weighted with that prevalence."
)


def answer_one(form):
    """Answer of the page for one classifier, or None if the form has problems."""
    asked = _read(form)
    if form.errors:
        return None
    counts, metric, level, kind = asked.counts, asked.metric, asked.level, asked.kind
    parts = MatrixReport(
        counts, level=level, kind=kind, prior=asked.prior, model=asked.model, random_state=SEED
    )
    ((posterior, cell),) = asked.cells(parts, [metric]).values()
    facts = [
        *interval_probability(posterior, asked),
        *_better_than_guessing(counts, asked.prior, asked.model),
        *_facts(posterior, asked, cell["value"]),
    ]
    sections = _sections(parts, asked, posterior, cell, facts)
    report = parts.make(
        "metric",
        f"{asked.title} of one classifier",
        question=f"What is the {asked.name} of this classifier on {asked.rows}?",
        sections=sections,
        warnings=(),
        reading=_READING if asked.prevalence is None else (*_READING, _AT_PREVALENCE),
        method=f"{_MODELS[asked.model]} of one test set: {asked.what[:1].lower()}{asked.what[1:]}",
        metric=metric.name,
        prevalence=asked.prevalence,
        n_new=asked.n_new,
        pos_label=parts.positive_text(),
    )
    sections = report.to_dict()["sections"]
    kind_of = "prediction" if asked.n_new is not None else f"{kind_name(kind)} credible"
    return Answer(
        title=asked.title,
        value="undefined" if math.isnan(cell["value"]) else cell_text(cell).partition(" ")[0],
        span=f"{level_text(level)} {kind_of} interval: {cell_ends(cell)}",
        sentence=posterior_sentence(
            posterior,
            counts,
            level=level,
            kind=kind,
            value=cell["value"],
            ends=(cell["low"], cell["high"], cell["error"]),
        ),
        facts=facts,
        pictures=[(asked.what, picture(sections["answer"]))],
        tables=[
            _with_other_names(texts(sections["metrics"], prose=True)),
            *(texts(sections[key]) for key in ("scores",) if key in sections),
            matrix_texts(counts, form.values["source"] == "counts"),
        ],
        report=report,
        table="metrics",
        formula=formula(metric),
    )


@dataclass
class Question:
    """What was asked; `n_new` is None for the posterior itself."""

    counts: Any
    metric: Any
    level: float
    kind: str
    prior: Any
    n_new: int | None
    low: float | None
    high: float | None
    prevalence: float | None = None
    model: str = "dirichlet"

    @property
    def title(self):
        """Metric with its class, as a heading."""
        return named_metric(self.metric, self.counts, start=True)

    @property
    def name(self):
        """Metric with its class, within a sentence."""
        return named_metric(self.metric, self.counts)

    @property
    def what(self):
        """Name of the distribution."""
        which = "Posterior" if self.n_new is None else "Predictive"
        text = f"{which} distribution of {self.name}"
        if self.n_new is not None:
            text += f" on {self.n_new:,} new row{'s' * (self.n_new != 1)}"
        return text + (f" at a prevalence of {self.prevalence:g}" if self.prevalence else "")

    @property
    def rows(self):
        """Rows that the answer is about."""
        new = "" if self.n_new is None else f"{self.n_new:,} new "
        if self.prevalence is None:
            return f"{new}rows like these"
        return f"{new}rows of a population with prevalence {self.prevalence:g}"

    def cells(self, parts, metrics):
        """Return {metric: (posterior, cell)}; the value is that of the observed rates."""
        return parts.metric_cells(metrics, prevalence=self.prevalence, n_new=self.n_new)


def _read(form):
    """Question of the form; it counts only if the form has no problems."""
    counts = _counts(form)
    metric = count_metric(form.metric())
    level, kind, prior = form.interval()
    show = form.choice("show", ("posterior", "predictive"))
    n_new = form.count("n_new", MOST_NEW_ROWS, low=1, optional=True)
    low, high = asked_range(form)
    prevalence = form.number("prevalence", 0, 1, closed=False, optional=True, percent=0)
    model = form.choice("model", MODELS)
    if counts is not None:
        _check(form, counts, metric, show, n_new, prevalence)
        only_two = "The three Betas are for two classes. Choose another model."
        form.fail("model", only_two, model == "three_beta" and counts.n_classes > 2)
        n_new = None if show == "posterior" else n_new or int(counts.n)
    return Question(counts, metric, level, kind, prior, n_new, low, high, prevalence, model)


def asked_range(form):
    """Ends between which the metric is asked for; None where there is no end."""
    low, high = (form.number(end, -math.inf, math.inf, optional=True) for end in ("low", "high"))
    if None not in (low, high) and low >= high:
        form.fail("high", f"Must be more than {low:g}.")
    return low, high


def formula(metric):
    """Formula of a metric."""
    if metric.average in ("micro", "macro", "weighted"):
        return (
            f"{metric.average} average over the classes of {count_metric(metric.base).description}"
        )
    return metric.description


def _with_other_names(table):
    for row in table["rows"]:
        row[0] += f" ({_ALSO[row[0]]})" if row[0] in _ALSO else ""
    return table


def _counts(form):
    if form.choice("source", ("counts", "rows")) == "rows":
        return form.table("pred")
    cells = form.binary()
    nothing = cells is not None and not any(cells.values())
    form.fail("tp", "All four counts are 0: there is nothing to say.", nothing)
    return None if cells is None else ConfusionCounts.from_binary(**cells)


def _check(form, counts, metric, show, n_new, prevalence):
    """Problems that depend on several fields."""
    form.needs_positive(counts, metric)
    given = prevalence is not None
    several = "Only two classes have one prevalence. Leave it empty."
    itself = "It is the metric itself. Leave it empty, or choose another one."
    form.fail("prevalence", several, given and counts.n_classes > 2)
    form.fail("prevalence", itself, given and metric.name == "prevalence")
    nameless = given and counts.n_classes == 2 and counts.pos_label is None
    form.fail("pos_label", f"A prevalence is that of one class. {form.choose(counts)}", nameless)
    too_many = show == "predictive" and n_new is None and counts.n > MOST_NEW_ROWS
    form.fail("n_new", f"Write how many new rows, at most {MOST_NEW_ROWS:,}.", too_many)


def _sections(parts, asked, posterior, cell, facts):
    """Sections of the report to be downloaded; the page shows the same."""
    level = asked.level
    drawn = curve(asked.title, posterior, cell, asked.n_new is not None)
    rows = [{"name": name, "value": text} for name, text in facts]
    answer = section(
        asked.what,
        [column("name", "metric"), column("value", interval_name(level))],
        [{"name": asked.title, "value": cell}, *rows],
        figure=posteriors([drawn], level, asked.what, (asked.low, asked.high)),
    )
    two = asked.counts.n_classes == 2 and asked.counts.pos_label is not None
    own, listed = asked.metric, _OTHERS if two else _OTHERS_OF_SEVERAL
    others = [name for name in listed if name != own.name]
    with collect() as caught:  # one note instead of a dozen
        cells = {own: (posterior, cell)} | asked.cells(parts, others)
        classes = {}
        if not two and asked.model == "dirichlet":  # the only model that the classes have
            classes["scores"] = parts.class_section("Classes", drawn=False)
    rows = [
        {"name": metric.name, "value": cell, "formula": formula(metric)}
        for metric, (_, cell) in cells.items()
    ]
    metrics = section(
        f"Metrics with {interval_name(level)}s",
        [column("name", "metric"), column("value", "value [interval]"), "formula"],
        rows,
        notes=[
            text
            for category, text in _NOTES.items()
            if any(issubclass(found, category) for _, found in caught.collected)
        ],
    )
    return {
        "answer": answer,
        "metrics": metrics,
        **classes,
        "confusion": parts.confusion_section(),
    }


def interval_probability(posterior, asked):
    """Probability that the metric lies where the user asks."""
    low, high = asked.low, asked.high
    if low is None and high is None:
        return []
    name, less = asked.name, "<" if asked.n_new is None else "≤"
    if low is None:
        text = f"P({name} {less} {high:g})"
    elif high is None:
        text = f"P({name} > {low:g})"
    else:
        text = f"P({low:g} < {name} {less} {high:g})"
    ends = -math.inf if low is None else low, math.inf if high is None else high
    return [(text, probability(posterior.prob(*ends), posterior.n_draws))]


def _facts(posterior, asked, value):
    counts = asked.counts
    rows = rows_that_count(counts, asked.metric, asked.prevalence, asked.model)
    part = "" if rows == counts.n else f", of which {rows:,.0f} count here"
    return [
        ("Point estimate", number_text(value)),
        ("Mean", number_text(posterior.mean(), posterior.monte_carlo_error())),
        ("Median", number_text(posterior.median(), posterior.monte_carlo_error(0.5))),
        ("Rows", f"{int(counts.n):,}{part}"),
        ("Prior", posterior.prior),
        ("Computed", computed(posterior)),
    ]


def _better_than_guessing(counts, prior, model):
    if counts.n_classes > 2 and counts.pos_label is None:
        return []
    with silence():  # on informedness, which was not asked for
        found = counts.better_than_chance(prior=prior, model=model)
    return [
        ("P(better than guessing)", probability(found.p_better)),
        ("P(worse than guessing)", probability(found.p_worse)),
    ]


def matrix_texts(counts, unnamed, title="Counts"):
    """Confusion matrix as texts."""
    names = ["negative", "positive"] if unnamed else [clean(label) for label in counts.labels]
    entries = [
        dict(zip(["true", *names], [name, *(f"{int(n):,}" for n in row)], strict=True))
        for name, row in zip(names, counts.counts, strict=True)
    ]
    return texts(section(title, [column("true", "true \\ predicted"), *names], entries))
