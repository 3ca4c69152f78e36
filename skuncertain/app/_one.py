"""One classifier: four counts, or a table of labels, and one metric."""

import math

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._class_rates import cell_rates
from skuncertain._confusion_section import confusion_section
from skuncertain._counts import ConfusionCounts
from skuncertain._interval_report import interval_report
from skuncertain._metrics import get_metric
from skuncertain._report import column, interval_cell, make_report, section
from skuncertain._report_cells import cell_text, clean, share_cell
from skuncertain._sentence import (
    chance,
    level_title,
    metric_title,
    posterior_sentence,
    rows_that_count,
)
from skuncertain._warnings import dropped, kept
from skuncertain.app._answers import SEED, Answer, curve, number, picture, posteriors, span, texts
from skuncertain.app._forms import KINDS, MOST_NEW_ROWS
from skuncertain.exceptions import SmallSampleWarning

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
    "Informative means that informedness, recall + specificity - 1, is above 0: the classifier is "
    "better than guessing. Deceptive means that it is below 0.",
)
_NOTES = {
    UndefinedMetricWarning: "Some of these metrics are 0/0, in the data or on some of the new test "
    "sets: their intervals lean on the prior, or leave these test sets out.",
    SmallSampleWarning: "Averages over classes with few rows have intervals that are somewhat too "
    "short.",
}
_AT_PREVALENCE = (
    "At another prevalence the number before an interval is the metric of the observed rates of "
    "the two classes, weighted with that prevalence."
)


def answer_one(form):
    """Answer of the page for one classifier, or None if the form has problems."""
    counts = _counts(form)
    metric = get_metric(form.metric())
    level, kind, prior = form.interval()
    show = form.choice("show", ("posterior", "predictive"))
    n_new = form.count("n_new", MOST_NEW_ROWS, low=1, optional=True)
    low, high = (form.number(end, -math.inf, math.inf, optional=True) for end in ("low", "high"))
    if None not in (low, high) and low >= high:
        form.fail("high", f"Must be more than {low:g}.")
    prevalence = form.number("prevalence", 0, 1, closed=False, optional=True)
    if counts is not None:
        _check(form, counts, metric, show, n_new, prevalence)
    if form.errors:
        return None
    if show == "posterior":
        n_new = None
    elif n_new is None:
        n_new = int(counts.n)
    options = {"prior": prior, "prevalence": prevalence, "random_state": SEED}

    def distribution(wanted):
        found = counts.posterior(wanted, **options)
        return found if n_new is None else found.predictive(n_new)

    def cell_of(wanted, found):
        interval, error = found.interval(level, kind), found.interval_error(level, kind)
        return interval_cell(interval, _value(counts, wanted, prevalence), error)

    posterior = distribution(metric)
    cell = cell_of(metric, posterior)
    value = cell["value"]
    title = metric_title(metric.name, start=True)
    which = "Posterior" if n_new is None else "Predictive"
    what = f"{which} distribution of {metric_title(metric.name)}"
    what += "" if n_new is None else f" on {n_new:,} new row{'s' * (n_new != 1)}"
    what += "" if prevalence is None else f" at a prevalence of {prevalence:g}"
    drawn = curve(title, posterior, cell, n_new is not None)
    facts = [
        *_asked(posterior, metric, low, high, n_new),
        *_informative(counts, prior),
        *_facts(posterior, counts, metric, value, prevalence),
    ]
    answer = section(
        what,
        [column("name", "metric"), column("value", f"{level_title(level)} interval")],
        [{"name": title, "value": cell}, *({"name": n, "value": text} for n, text in facts)],
        figure=posteriors([drawn], level, what, (low, high)),
    )
    rows = [{"name": metric.name, "value": cell, "formula": formula(metric)}]
    with kept() as caught:  # one note instead of a dozen
        for name in _OTHERS if counts.n_classes == 2 else _OTHERS_OF_SEVERAL:
            if name != metric.name:
                other = get_metric(name)
                entry = {"name": name, "value": cell_of(other, distribution(other))}
                rows.append({**entry, "formula": formula(other)})
    columns = [column("name", "metric"), column("value", "value [interval]"), "formula"]
    categories = [category for _, category in caught.found]
    told = [text for kind, text in _NOTES.items() if any(issubclass(c, kind) for c in categories)]
    title_of_table = f"Metrics with {level_title(level)} intervals"
    sections = {"answer": answer, "metrics": section(title_of_table, columns, rows, notes=told)}
    if counts.n_classes > 2:
        classes = interval_report(counts, level=level, kind=kind, prior=prior, random_state=SEED)
        sections["scores"] = {**classes.to_dict()["sections"]["scores"], "figure": None}
        sections["scores"]["title"] = "Classes"
    sections["confusion"] = _confusion(counts, prior, level, kind)
    settings = {
        "level": level,
        "kind": kind,
        "prior": posterior.prior,
        "method": f"Dirichlet model of one test set: {what[:1].lower()}{what[1:]}",
        "omega": None,
        "n": int(counts.n),
        "k": None,
        "metric": metric.name,
        "classes": counts.n_classes,
        "pos_label": None if counts.pos_label is None else clean(counts.pos_label),
        "draws": posterior.n_draws and f"{posterior.n_draws}, seed {posterior.seed}",
    }
    report = make_report(
        "metric",
        f"{title} of one classifier",
        settings=settings,
        question=f"What is the {metric_title(metric.name)} of this classifier on rows like these?",
        sections=sections,
        warnings=(),
        reading=_READING if prevalence is None else (*_READING, _AT_PREVALENCE),
    )
    sections = report.to_dict()["sections"]
    interval = KINDS[kind].partition(" ")[0]
    kind_of = f"{interval} credible interval" if n_new is None else "prediction interval"
    return Answer(
        title=title,
        value="undefined" if math.isnan(value) else cell_text(cell).partition(" ")[0],
        span=f"{level_title(level)} {kind_of}: {span(cell)}",
        sentence=posterior_sentence(
            posterior,
            counts,
            level=level,
            kind=kind,
            value=value,
            prevalence=prevalence,
            n_new=n_new,
        ),
        facts=facts,
        pictures=[(what, picture(sections["answer"]))],
        tables=[
            _with_other_names(texts(sections["metrics"], prose=True)),
            *(texts(sections[key]) for key in ("scores",) if key in sections),
            _matrix(counts, form.values["source"] == "counts"),
        ],
        report=report,
        table="metrics",
        formula=formula(metric),
    )


def formula(metric):
    """Formula of a metric."""
    if metric.average in ("micro", "macro", "weighted"):
        return f"{metric.average} average over the classes of {get_metric(metric.base).description}"
    return metric.description


def _with_other_names(table):
    for row in table["rows"]:
        row[0] += f" ({_ALSO[row[0]]})" if row[0] in _ALSO else ""
    return table


def _counts(form):
    if form.choice("source", ("counts", "rows")) == "rows":
        return form.table("pred")
    cells = form.binary()
    if cells is not None and not any(cells.values()):
        form.fail("tp", "All four counts are 0: there is nothing to say.")
    return None if cells is None else ConfusionCounts.from_binary(**cells)


def _check(form, counts, metric, show, n_new, prevalence):
    """Problems that depend on several fields."""
    several = counts.n_classes > 2
    if several and metric.average == "binary" and counts.pos_label is None:
        names = ", ".join(clean(label) for label in counts.labels)
        form.fail(
            "pos_label",
            f"There are {counts.n_classes} classes: name the positive one ({names}), or choose an "
            "average over classes.",
        )
    if prevalence is not None and several:
        form.fail("prevalence", "Only two classes have one prevalence. Leave it empty.")
    elif prevalence is not None and metric.name == "prevalence":
        form.fail("prevalence", "It is the metric itself. Leave it empty, or choose another one.")
    if show == "predictive" and n_new is None and counts.n > MOST_NEW_ROWS:
        form.fail("n_new", f"Write how many new rows, at most {MOST_NEW_ROWS:,}.")


def _value(counts, metric, prevalence):
    """Metric of the data; at another prevalence that of the observed rates."""
    matrix = np.asarray(counts.counts, dtype=float)
    if prevalence is not None:
        shares = [
            prevalence if label == counts.pos_label else 1 - prevalence for label in counts.labels
        ]
        with np.errstate(invalid="ignore"):
            matrix = matrix / matrix.sum(axis=1, keepdims=True) * np.array(shares)[:, None]
        if np.isnan(matrix).any():  # recall is still known if there are no real negatives
            matrix = np.nan_to_num(matrix) if _within_a_class(metric) else matrix
    return float(metric.evaluate(matrix, positive=counts.positive_index(metric)))


def _within_a_class(metric):
    return metric.name in ("recall", "fnr", "specificity", "fpr")


def _asked(posterior, metric, low, high, n_new):
    """Probability that the metric lies where the user asks."""
    if low is None and high is None:
        return []
    name, less = metric_title(metric.name), "<" if n_new is None else "≤"
    if low is None:
        text = f"P({name} {less} {high:g})"
    elif high is None:
        text = f"P({name} > {low:g})"
    else:
        text = f"P({low:g} < {name} {less} {high:g})"
    ends = -math.inf if low is None else low, math.inf if high is None else high
    return [(text, probability(posterior.prob(*ends), posterior.n_draws))]


def probability(p, n_draws):
    """Text of a probability, without digits that the draws do not support."""
    share = share_cell(p, n_draws)
    if isinstance(share, dict) and p not in (0, 1):
        return cell_text(share, 3)
    nearly = 0.5 / n_draws if n_draws else 0.0  # none of the draws is not the same as never
    return chance(min(max(p, nearly), 1 - nearly))


def _facts(posterior, counts, metric, value, prevalence):
    rows = rows_that_count(counts, metric, prevalence)
    part = "" if rows == counts.n else f", of which {rows:,.0f} count here"
    how = "exact, without random numbers"
    if not posterior.exact:
        how = f"{posterior.n_draws:,} draws, seed {posterior.seed}"
    return [
        ("Point estimate", number(value)),
        ("Mean", number(posterior.mean(), posterior.monte_carlo_error())),
        ("Median", number(posterior.median(), posterior.monte_carlo_error(0.5))),
        ("Rows", f"{int(counts.n):,}{part}"),
        ("Prior", posterior.prior),
        ("Computed", how),
    ]


def _informative(counts, prior):
    if counts.pos_label is None:
        return []
    with dropped():  # on informedness, which was not asked for
        found = counts.informative(prior=prior)
    return [
        ("P(informative), better than guessing", chance(found.p_informative)),
        ("P(deceptive), worse than guessing", chance(found.p_deceptive)),
    ]


def _confusion(counts, prior, level, kind):
    matrix = np.asarray(counts.counts, dtype=float)
    names = [clean(label) for label in counts.labels]
    return confusion_section(matrix, names, cell_rates(matrix, prior), level, kind)


def _matrix(counts, unnamed):
    """Confusion matrix as texts."""
    names = [clean(label) for label in counts.labels]
    if unnamed:
        names = ["negative", "positive"]
    rows = [
        [name, *(f"{int(n):,}" for n in row)]
        for name, row in zip(names, counts.counts, strict=True)
    ]
    columns = ["true", *names]
    entries = [dict(zip(columns, row, strict=True)) for row in rows]
    columns[0] = column("true", "true \\ predicted")
    return texts(section("Counts", columns, entries))
