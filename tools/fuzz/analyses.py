"""Families about rankings, reports, planning, monitoring and coverage studies."""

import numpy as np

from skuncertain import ConfusionCounts, compare, interval_report, leaderboard, required_sample_size
from skuncertain.comparison import compare_auc
from skuncertain.coverage import (
    BinomialPopulation,
    MarkovPopulation,
    MultinomialPopulation,
    coverage_study,
)
from skuncertain.metrics import (
    auc_posterior,
    average_precision_posterior,
    intervals_at_thresholds,
    precision_recall_band,
    roc_band,
)
from skuncertain.monitoring import SequentialPosterior
from skuncertain.planning import comparison_sample_size, expected_width
from tools.fuzz import make
from tools.fuzz.checks import check_interval, check_posterior, check_three, close, plain
from tools.fuzz.runner import family, require


def ranked(source):
    """Labels with both classes, and scores."""
    (y, _), labels, true, _ = make.rows(source, 2)
    n = len(true)
    if len(set(true.tolist())) < 2:
        true = np.concatenate([true, [0, 1]])
        y = [labels[k] for k in true]
        n += 2
    return y, labels, true, n


def area(true, score):
    """The share of pairs in which the positive has the higher score; ties count half."""
    above = score[true == 1][:, None] - score[true == 0]
    return ((above > 0) + 0.5 * (above == 0)).mean()


@family(share=10)
def rankings(source):
    """Areas under curves and the bands around them."""
    y, labels, true, _ = ranked(source)
    score = make.scores(source, true)
    level, kind = make.level(source), make.interval_kind(source)
    chosen = {"labels": labels, "pos_label": labels[1]}
    method = source.pick(("logit_delong", "bayesian_bootstrap", "delong"))
    source.note(true=true, score=score, method=method, level=level, kind=kind)
    posterior = auc_posterior(y, score, method=method, **chosen)
    close(posterior.observed, area(true, score), "not the share of pairs")
    # Scores that are all tied have no variance; DegenerateIntervalWarning says so.
    varied = len(set(score.tolist())) > 1
    check_posterior(posterior, level, kind, proper=varied, bounded=method != "delong")
    precision = average_precision_posterior(y, score, **chosen)
    check_posterior(precision, level, kind, proper=varied)
    result = compare_auc(y, score, make.scores(source, true), **chosen)
    check_three(result, 0.0)
    plain(result.to_dict())
    where = source.pick(("simultaneous", "pointwise"))
    roc = roc_band(y, score, level=min(level, 0.99), band=where, **chosen)
    pr = precision_recall_band(y, score, level=min(level, 0.99), band=where, **chosen)
    for band in (roc, pr):
        check_interval((band.low, band.high), (0, 1), open_width=False)
        plain(band.to_dict())
        check_interval(band.at(source.pick((0.0, 0.3, 1.0))), (0, 1), open_width=False)


@family(share=20)
def rankings_of_classes(source):
    """Areas with more than two classes."""
    n_classes = source.pick((3, 4))
    rng = source.rng()
    true = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=source.below(30))])
    score = make.scores(source, true, n_classes)
    average = source.pick(("macro", "weighted", None))
    source.note(true=true, score=score, average=average)
    for function in (auc_posterior, average_precision_posterior):
        posterior = function(true, score, average=average)
        check_posterior(posterior, 0.95, "eti", proper=len(set(score.ravel().tolist())) > 1)
    if average is not None:
        check_three(compare_auc(true, score, score[::-1], average=average), 0.0)


@family(share=10)
def thresholds(source):
    y, labels, true, _ = ranked(source)
    score = make.scores(source, true)
    source.note(true=true, score=score)
    report = intervals_at_thresholds(
        y,
        score,
        source.pick((None, 5, [0.5], [-1e300, 0.0, 1e300])),
        metrics=source.pick((("precision", "recall", "f1"), ("accuracy",), ("informedness",))),
        operating_threshold=source.pick((None, 0.5)),
        kind=make.interval_kind(source),
        labels=labels,
        pos_label=labels[1],
        random_state=0,
    )
    for name in report.metrics:
        check_interval((report.low[name], report.high[name]), (-1, 1))
    require(np.all(report.counts.n == len(true)), "rows were lost")
    for threshold, matrix in zip(report.thresholds, report.counts.counts, strict=True):
        said = score >= threshold
        require(matrix[1, 1] == np.sum(said & (true == 1)), "true positives")
    plain(report.to_dict())
    str(report.report())


def render(report):
    """Every rendering of a report."""
    import json

    text = str(report)
    require("nan" not in text.lower().split(), "nan in the text")
    json.loads(report.to_json(), parse_constant=_refuse_constant)
    page = report.to_html()
    require("<script>alert" not in page, "a label became code")
    for rendered in (report.to_markdown(), report.to_csv(), page):
        require(rendered.strip(), "an empty rendering")
    report.to_frame()
    plain(report.to_dict())


def _refuse_constant(name):
    require(False, f"{name} in JSON")


@family(share=1)
def reports(source):
    """Reports of labels, counts, comparisons and leaderboards in every form."""
    kind = source.below(4)
    question = {"level": make.level(source), "kind": make.interval_kind(source)}
    if kind == 0:
        (y, p), labels, _, _ = make.rows(source)
        source.note(y=list(y), p=list(p), **question)
        report = interval_report(y, p, labels=labels, n_draws=300, random_state=0, **question)
    elif kind == 1:
        counts = make.counts(source, largest=10**6)
        names = [f"<script>alert({k})</script>" for k in range(counts.n_classes)]
        source.note(counts=counts.counts, **question)
        report = interval_report(
            counts, target_names=names, n_draws=300, random_state=0, **question
        )
    else:
        a, b = (ConfusionCounts(make.matrices(source, (), 2, largest=10**4)) for _ in range(2))
        source.note(a=a.counts, b=b.counts, **question)
        if kind == 2:
            report = interval_report(
                compare(a, b, metric=source.pick(("f1", "mcc")), n_draws=300, random_state=0),
                **question,
            )
        else:
            report = leaderboard({"ä": a, "|b|": b, "c": a}, metric="f1", **question).report()
    render(report)


@family(share=0.7, refusals=True)
def planning(source):
    """Sample sizes; impossible wishes are refused."""
    kind = source.below(3)
    level = source.pick((0.95, 0.9, 0.5))
    expected = source.pick((0.9, 0.5, 0.01, (0.8, 10), (0.5, 100)))
    metric = source.pick(("recall", "precision", "f1", "accuracy"))
    if kind == 0:
        source.note(n=None, metric=metric, expected=expected, level=level)
        width = expected_width(
            source.pick((50, 1, 7, 400)),
            metric=metric,
            expected=expected,
            level=level,
            kind=make.interval_kind(source),
            prior=source.pick(("auto", 1, "jeffreys")),
        )
        require(0 < width.mean <= 1 and 0 < width.quantile <= 1, "a width that cannot be")
        plain(width.to_dict())
    elif kind == 1:
        wanted = source.pick((0.2, 0.1, 0.5, 0.03))
        source.note(width=wanted, metric=metric, expected=expected, level=level)
        plan = required_sample_size(
            metric=metric, expected=expected, width=wanted, level=level, power=0.8
        )
        require(plan.n >= 1 and plan.probability >= 0.8 - 1e-9, f"{plan!r}")
        plain(plan.to_dict())
    else:
        difference = source.pick((0.05, 0.1, 0.3))
        question = {"difference": difference, "rope": source.pick((0.0, 0.01))}
        if source.below(2):
            question["disagreement"] = difference + source.pick((0.05, 0.0, 0.2))
        else:
            question.update(paired=False, rate=source.pick((0.5, 0.1, 0.65)))
        source.note(**question)
        plan = comparison_sample_size(**question, power=source.pick((0.8, 0.5)))
        require(plan.n >= 1 and 0 < plan.chance <= 1, f"{plan!r}")
        plain(plan.to_dict())


@family(share=0.3)
def monitoring(source):
    """Batches one after the other are all rows together."""
    metric = source.pick(("accuracy", "error_rate", "mcc"))
    discount = source.pick((1.0, 0.9, 0.5))
    kind = make.interval_kind(source)
    anytime = discount == 1.0 and kind == "eti" and source.pick((False, True))
    watch = SequentialPosterior(
        metric,
        labels=(0, 1),
        discount=discount,
        kind=kind,
        rope=source.pick((0.0, 0.05)),
        n_draws=300,
        random_state=0,
        anytime=anytime,
        threshold=source.pick((None, 0.5)) if anytime else None,
    )
    rng, total = source.rng(), 0
    for _ in range(source.integer(1, 4)):
        y, p = rng.integers(2, size=(2, source.integer(1, 30)))
        step = watch.update(y, p)
        total += len(y)
        check_interval(watch.interval(make.level(source)), (-1, 1))
        repr(step)
    if discount == 1.0:
        require(watch.counts.n == total, "rows were lost")
    plain(watch.history.to_dict())
    require(watch.alarm == watch.history.alarm, "alarms differ")
    plain(watch.report().to_dict())
    repr(watch)


@family(share=30)
def studies(source):
    """Tiny coverage studies."""
    kind = source.below(3)
    question = {"n": source.pick((5, 12, 20)), "level": source.pick((0.95, 0.5))}
    if kind == 0:
        population = BinomialPopulation(source.pick((0.5, 0.0, 1.0, [0.1, 0.9])))
    elif kind == 1:
        cells = source.rng().dirichlet(np.full(4, source.pick((1.0, 0.1)))).reshape(2, 2)
        population = MultinomialPopulation(cells / cells.sum())
        question.update(metric=source.pick(("accuracy", "f1")), n=source.pick((5, 12)))
    else:
        population = MarkovPopulation(
            recall=source.real(0, 1), specificity=source.real(0, 1), hit_correlation=0.5
        )
        question["n_replications"] = 20
    methods = source.pick((["jeffreys"], ["wilson", "auto"], ["laplace", "clopper_pearson"]))
    study = coverage_study(methods, population, random_state=0, **question)
    covered = study.coverage[np.isfinite(study.coverage)]
    require(np.all((covered >= -1e-12) & (covered <= 1 + 1e-12)), "coverage out of [0, 1]")
    require(np.all(study.failed == 0), f"failures {study.failures}")
    plain(study.to_dict())
    repr(study)
