"""One classifier in the folds of a cross-validation; without folds, in one test set."""

import math

from skuncertain._reporting.build import column, interval_cell, section
from skuncertain._reporting.text import (
    cell_ends,
    clean,
    interval_name,
    kind_name,
    level_text,
    number_text,
)
from skuncertain._utils.warnings import silence
from skuncertain.app._answers import SEED, Answer, computed, curve, picture, posteriors, texts
from skuncertain.app._forms import FOLD_METHODS, MODELS
from skuncertain.app._one import (
    Question,
    answer_one,
    asked_range,
    formula,
    interval_probability,
    matrix_texts,
)
from skuncertain.app._sentence import fold_sentence
from skuncertain.exceptions import FoldDisagreementWarning, InvalidParameterError
from skuncertain.metrics._registry import count_metric
from skuncertain.model_selection._asked_metrics import usual_metrics
from skuncertain.model_selection._cross_val_posterior import CrossValPosterior
from skuncertain.model_selection._cross_val_report import tell_folds
from skuncertain.model_selection._fold_methods import SIDE_BY_SIDE

_MOST_REPEATS = 1000


def answer_classifier(form):
    """Answer of the page for one classifier, or None if the form has problems."""
    if form.values["source"] == "rows" and form.text("fold"):
        return _answer_folds(form)
    return answer_one(form)


def _answer_folds(form):
    asked, method, n_repeats = _read(form)
    if form.errors:
        return None
    metric, level, kind = asked.metric, asked.level, asked.kind
    others = usual_metrics(asked.counts.labels, asked.counts.pos_label)
    others = [name for name in others if count_metric(name).name != metric.name]
    how = SIDE_BY_SIDE.get(method, {"method": method})
    how = how | ({} if asked.prior == "auto" else {"prior": asked.prior})
    try:
        with silence(FoldDisagreementWarning):  # the report tells it
            result = CrossValPosterior.from_counts(
                asked.counts,
                n_repeats=n_repeats,
                metrics=[metric.name, *others],
                level=level,
                kind=kind,
                random_state=SEED,
                **how,
            )
            report = result.report()
    except InvalidParameterError as error:
        name = error.parameter if error.parameter in form.values else "form"
        form.fail(name, clean(error.message))
        return None
    tell_folds(report, asked.counts, form.folds)
    return _answer(asked, result, report)


def _read(form):
    """Question of the form, the method and the repetitions."""
    counts = form.table("pred")
    metric = count_metric(form.metric())
    level, kind, prior = form.interval()
    method = form.choice("method", FOLD_METHODS)
    n_repeats = form.count("n_repeats", _MOST_REPEATS, low=1, optional=True) or 1
    low, high = asked_range(form)
    one = "This is about one test set, not about folds."
    show = form.choice("show", ("posterior", "predictive"))
    form.fail("show", f"{one} Ask for the true value.", show != "posterior")
    form.fail("prevalence", f"{one} Leave it empty.", bool(form.text("prevalence")))
    model = form.choice("model", MODELS)
    form.fail("model", f"{one} Choose the first one.", model != "dirichlet")
    if counts is not None:
        form.needs_positive(counts, metric)
    return Question(counts, metric, level, kind, prior, None, low, high), method, n_repeats


def _answer(asked, result, report):
    """All that the page shows of a cross-validation."""
    metric, level, kind = asked.metric, asked.level, asked.kind
    posterior = result.posteriors[metric.name]
    value, error = float(posterior.observed), posterior.interval_error(level, kind)
    cell = interval_cell(posterior.interval(level, kind), value, error)
    answer = section(
        asked.what,
        [column("name", "metric"), column("value", interval_name(level))],
        [{"name": asked.title, "value": cell}],
        figure=posteriors(
            [curve(asked.title, posterior, cell)], level, asked.what, (asked.low, asked.high)
        ),
    )
    report.summary["sections"] = {"answer": answer, **report.summary["sections"]}
    sections = report.to_dict()["sections"]
    shown = [key for key in ("scores", "methods", "classes", "folds") if key in sections]
    sort = "bootstrap" if result.options.method == "bootstrap" else "credible"
    drawn = [(sections[key]["title"], picture(sections[key])) for key in ("folds", "methods")]
    return Answer(
        title=asked.title,
        value="undefined" if math.isnan(value) else number_text(value),
        span=f"{level_text(level)} {kind_name(kind)} {sort} interval: {cell_ends(cell)}",
        sentence=fold_sentence(
            result, posterior, (cell["low"], cell["high"], error), level=level, kind=kind
        ),
        facts=[*interval_probability(posterior, asked), *_facts(result, posterior)],
        pictures=[(asked.what, picture(sections["answer"])), *drawn],
        tables=[
            *(texts(sections[key]) for key in shown),
            matrix_texts(result.counts.sum(), False, "Counts, all folds"),
        ],
        report=report,
        table="scores",
        formula=formula(metric),
        notes=list(map(clean, report.summary["warnings"])),
    )


def _facts(result, posterior):
    about = posterior.diagnostics
    repeats = f" x {result.n_repeats} repetitions" if result.n_repeats > 1 else ""
    weight = [] if math.isnan(about.omega) else [("Row weight", number_text(about.omega))]
    return [
        ("All folds added up", number_text(about.pooled)),
        ("Mean of the folds", number_text(about.fold_mean)),
        ("Median", number_text(posterior.median(), posterior.monte_carlo_error(0.5))),
        ("Rows", f"{result.n:,}"),
        ("Folds", f"{result.n_folds:g}{repeats}"),
        *(weight if result.options.method == "pooled" else []),
        ("Prior", posterior.prior or "none"),
        ("Computed", computed(posterior)),
    ]
