"""The report of one confusion matrix, by class or by metric, and the parts it is built from."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._reporting.build import (
    check_digits,
    column,
    interval_cell,
    make_report,
    section,
)
from skuncertain._reporting.report import IntervalReport
from skuncertain._utils.typing import LabelLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    as_list,
    check_kind,
    check_level,
    quoted,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import collect, warn_user
from skuncertain.metrics._formulas import proportion_odds
from skuncertain.metrics._gradients import rows_behind
from skuncertain.metrics._posterior import (
    PosteriorOptions,
    cell_rates,
    class_posterior,
    question_of,
    warn_small,
    warn_undefined,
    weak_prior,
)
from skuncertain.metrics._priors import cell_prior, check_prior, join_texts, resolve_prior
from skuncertain.metrics._registry import count_metric, named_metrics
from skuncertain.posteriors._about import About, plain_prevalence, prevalence_text
from skuncertain.posteriors._draws import DrawsPosterior

BASES = ("precision", "recall", "f1")
MOST_CLASSES = 20  # of a confusion matrix; more do not fit on a page
_MOST_CONFUSIONS = 100
_MOST_DRAWN = 100  # classes; a picture of more is longer than it is useful
_JOINTLY_DRAWN = ("precision_weighted", "f1_weighted")  # macro F1 needs fewer numbers on its own
_AVERAGES = {
    "accuracy": {"f1": "accuracy"},
    "macro avg": {base: f"{base}_macro" for base in BASES},
    "weighted avg": {base: f"{base}_weighted" for base in BASES},
}
_METHODS = {
    "dirichlet": "Dirichlet posterior of one test set",
    "three_beta": "three Betas of one test set: prevalence, recall and specificity",
    "rows": "a Dirichlet for each true class of one test set and one for the class frequencies",
}
_INTERVAL = (
    "Each interval holds the true value with the probability that is given as level, if the rows "
    "are a random sample of the rows that the model will meet, drawn independently of each other."
)
_WORTH = "rows: what the weighted rows are worth to the metric, in rows that count alike"
_SUPPORT = (
    "support: what the weighted rows of the class are worth to its recall, all of them to the "
    "accuracy, and by Kish's formula to the averages"
)
_BY_CLASS = (
    _INTERVAL,
    "The numbers before the intervals are those of scikit-learn's classification_report: what was "
    "seen in these rows. Where a score is 0/0, scikit-learn prints 0 and warns; here it is "
    "undefined. support is the number of rows of the class; accuracy stands in the column "
    "of F1 as it does there.",
    "Two intervals that overlap are no proof that two classes or models are equal. Compare models "
    "with compare_paired (same rows) or compare (different rows).",
)
_BY_METRIC = (
    _INTERVAL,
    "score is what was seen in these rows, as scikit-learn computes it; where that is 0/0 it is "
    "undefined here, and 0 with a warning there. computed says whether the "
    "interval is exact, has the first three cumulants of the posterior, or comes from random "
    "draws; no digit is shown that they do not support.",
)
_ELSEWHERE = (
    "Each interval holds the true value in a population with that prevalence, with the probability "
    "that is given as level, if the classifier treats each class as it did here.",
    "value is the metric of the rates that were observed within each class, weighted with that "
    "prevalence: there is no score, because no rows of that population were seen.",
)


class MatrixReport:
    """Parts of the report of one confusion matrix, and how they are put together.

    Python, the command line and the web page use the same parts.

    Parameters
    ----------
    counts : ConfusionCounts
        A single matrix.
    level, kind, prior, model, n_draws, random_state : object
        See :meth:`ConfusionCounts.posterior` and :func:`interval_report`. The classes are reported
        by the model "dirichlet" only.
    target_names : sequence of str, default=None
        What to call the classes.
    """

    def __init__(
        self,
        counts,
        *,
        level=0.95,
        kind="eti",
        prior="auto",
        model="dirichlet",
        n_draws=None,
        random_state=None,
        target_names=None,
    ):
        self.counts, self.matrix = counts, np.asarray(counts.counts, dtype=float)
        self.level, self.kind = check_level(level), check_kind(kind)
        self.prior = check_prior(prior, counts.n_classes)
        self.names = _check_names(target_names, counts.labels)
        self.seed, self.weights = resolve_seed(random_state), counts._weights
        options = PosteriorOptions(self.prior, model, None, n_draws, self.seed)
        self.model = options.checked(counts.n_classes).model
        self.method = _METHODS[self.model]
        self.options = {"prior": self.prior, "n_draws": n_draws, "random_state": self.seed}
        if self.model != "dirichlet":
            self.options["model"] = self.model
        self.used: list = []  # posteriors whose prior and draws the report tells

    # ----------------------------------------------------------------------------------------------
    # Posteriors

    def posteriors_of_classes(self, base):
        """One posterior with a member per class."""
        return class_posterior(self.matrix, base, self.prior, self.weights)

    def posterior_of_average(self, name):
        """Posterior of an average over classes; with `n_draws` those without formula are drawn."""
        if name not in _JOINTLY_DRAWN or self.options["n_draws"] is None:
            return self.counts.posterior(name, **self.options)
        used, text, *_ = resolve_prior(self.prior, self.counts.n_classes)
        metric = count_metric(name)
        observed, pseudo = metric.evaluate(self.matrix), cell_prior(used, self.matrix)
        warn_undefined(observed, metric, self.matrix, proper=bool(np.all(self.matrix + pseudo > 0)))
        if isinstance(used, str) and used == "shared":
            warn_small(self.matrix, metric, PosteriorOptions(self.prior))
        about = About(
            observed=observed,
            prior=text,
            closing=weak_prior(self.matrix, pseudo),
            **question_of(metric, PosteriorOptions(), None),
        )
        return DrawsPosterior(self._joint[name], seed=self._joint.seed, about=about)

    @cached_property
    def _joint(self):
        """Draws that serve all averages: with many classes it is they that cost."""
        return self.counts.joint_posterior(_JOINTLY_DRAWN, **self.options)

    def cell_rates(self):
        """Posterior of the rate of every cell, or None."""
        return cell_rates(self.matrix, self.prior, self.weights)

    # ----------------------------------------------------------------------------------------------
    # Sections

    def metric_cells(self, metrics, *, prevalence=None, n_new=None):
        """Return {metric: (posterior, cell)}; with `n_new` of the score in so many new rows.

        The value is what the data give to the question; beside a predictive distribution, too.
        """
        found, named = {}, dict.fromkeys(metric for _, metric in named_metrics(metrics))
        together = self._new_test_sets(named, n_new, prevalence)
        for metric in named:
            posterior = self.counts.posterior(metric, prevalence=prevalence, **self.options)
            self.used.append(posterior)
            value = posterior.observed
            if n_new is not None:
                posterior = together.get(metric) or posterior.predictive(n_new)
            found[metric] = posterior, self._cell(posterior, value)
        return found

    def _new_test_sets(self, metrics, n, prevalence):
        """Return {metric: distribution} of metrics of many classes on the same new test sets.

        A test set has a random number for every cell: with many cells it is these that cost.
        """
        drawn = [
            metric
            for metric in metrics
            if metric.average != "binary" and proportion_odds(metric) is None
        ]
        if n is None or self.counts.n_classes == 2 or len(drawn) < 2:
            return {}
        joint = self.counts.joint_posterior(drawn, n=n, prevalence=prevalence, **self.options)
        found = {}
        for metric in drawn:
            about = replace(
                joint.about,
                metric=metric.name,
                range=metric.range,
                greater_is_better=metric.greater_is_better,
            )
            found[metric] = DrawsPosterior(joint[metric.name], seed=joint.seed, about=about)
            if np.any(found[metric].undefined > 0):
                warn_user(
                    f"{metric.name} is 0/0 on some of the new test sets of {n} rows; they are "
                    "left out.",
                    UndefinedMetricWarning,
                )
        return found

    def _cell(self, posterior, value):
        interval = posterior.interval(self.level, self.kind)
        error = posterior.interval_error(self.level, self.kind)
        return interval_cell(interval, value, error)

    def metric_section(self, metrics, *, prevalence=None, others=()):
        """Table with a row per metric, and `others` that are made elsewhere."""
        name = "score" if prevalence is None else "value"
        cells = {}
        if metrics or not others:
            cells = self.metric_cells(metrics, prevalence=prevalence)
        rows = [
            {
                "metric": metric.name,
                name: cell,
                "computed": how_computed(posterior),
            }
            for metric, (posterior, cell) in cells.items()
        ]
        columns = ["metric", name, "computed"]
        if self.counts.weighted:
            columns.insert(2, column("rows", digits=1))
            for row, metric in zip(rows, cells, strict=True):
                row["rows"] = whole(self._worth(metric, prevalence))
        notes = [_WORTH] if self.counts.weighted else []
        return section("Scores", columns, [*rows, *others], notes=notes)

    def _worth(self, metric, prevalence=None, pos_label=None):
        """Rows that the data are worth to a metric."""
        positive = self.counts.positive_index(metric, pos_label)
        matrix = self.counts._matrix_for([count_metric(metric)], positive, prevalence)
        apart = prevalence is not None
        return matrix.sum() if apart else rows_behind(matrix, count_metric(metric), positive)

    def class_section(self, title="Scores", drawn=True):
        """Table with a row per class, and their averages, as `classification_report` has it."""
        rows = self._class_rows()
        n = whole(self.matrix.sum())
        right = whole(self._worth("accuracy"))
        for name, metrics in _AVERAGES.items():
            aside = name == "accuracy"
            row = {"name": name, "support": right if aside else n, "aside": aside}
            for base, metric in metrics.items():
                posterior = self.posterior_of_average(metric)
                row[base] = self._cell(posterior, posterior.observed)
                self.used.append(posterior)
            rows.append(row)
        drawn = drawn and len(self.names) <= _MOST_DRAWN
        return section(
            title,
            [column("name", "class"), *BASES, "support"],
            rows,
            notes=[*self._medical_names(), *([_SUPPORT] if self.counts.weighted else [])],
            figure={"type": "methods", "columns": list(BASES)} if drawn else None,
        )

    def _class_rows(self):
        support = self.matrix.sum(axis=-1)
        if self.counts.weighted:
            support = np.array([self._worth("recall", None, k) for k in self.counts.labels])
        rows = [
            {"name": name, "support": whole(n)} for name, n in zip(self.names, support, strict=True)
        ]
        for base in BASES:
            posterior = self.posteriors_of_classes(base)
            self.used.append(posterior)
            low, high = np.broadcast_arrays(*posterior.interval(self.level, self.kind))
            errors = np.broadcast_to(posterior.interval_error(self.level, self.kind), support.shape)
            for k, row in enumerate(rows):
                row[base] = interval_cell((low[k], high[k]), posterior.observed[k], errors[k])
        return rows

    def _medical_names(self):
        """Where to find what medicine calls by other names: two classes only."""
        if len(self.names) != 2 or self.counts.pos_label is None:
            return []
        positive = self.counts.labels.index(self.counts.pos_label)
        yes, no = self.names[positive], self.names[1 - positive]
        return [
            f"positive class {yes}: its recall is the sensitivity, its precision the PPV; "
            f"recall and precision of {no} are specificity and NPV"
        ]

    def confusion_section(self):
        """Confusion matrix with an interval for every rate."""
        return confusion_section(self.matrix, self.names, self.cell_rates(), self.level, self.kind)

    # ----------------------------------------------------------------------------------------------
    # Reports

    def by_class(self, digits=None, scored=None):
        """Report of all classes; warnings are listed in it and not raised.

        `scored` are the probabilities of the rows, if there are any.
        """
        with collect() as caught:
            sections = {"scores": self.class_section()}
            if scored is not None:
                sections["probabilities"] = scored.section(self.level, self.kind)
        return self.make(
            "classification",
            "Classification report",
            question=(
                "What are precision, recall and F1 of this one model on rows like these "
                f"{self._rows_text()}, of which they are a random sample?"
            ),
            sections=sections | {"confusion": self.confusion_section()},
            warnings=[*caught.texts, *self._few_rows()],
            reading=_BY_CLASS if scored is None else (*_BY_CLASS, scored.reading),
            digits=digits,
        )

    def by_metric(self, metrics, prevalence=None, digits=None, scored=None, of_scores=()):
        """Report with one row per metric; warnings are listed in it and not raised.

        `scored` are the probabilities of the rows, and `of_scores` metrics of these.
        """
        more = (scored.reading,) if of_scores else ()
        with collect() as caught:
            others = scored.metric_rows(of_scores, self.level, self.kind) if of_scores else ()
            scores = self.metric_section(metrics, prevalence=prevalence, others=others)
            scores["notes"] += scored.notes(of_scores) if of_scores else []
        where = f"these {self._rows_text()}, of which they are a random sample"
        if prevalence is not None:
            where = f"those of a population with prevalence {prevalence_text(prevalence)}"
        return self.make(
            "metrics",
            "Metrics with intervals",
            question=f"What are these metrics of this one model on rows like {where}?",
            sections={"scores": scores, "confusion": self.confusion_section()},
            warnings=caught.texts,
            reading=(*(_BY_METRIC if prevalence is None else _ELSEWHERE), *more),
            digits=digits,
            prevalence=plain_prevalence(prevalence),
            pos_label=self.positive_text(),
        )

    def make(
        self, kind_of_report, title, *, question, sections, warnings, reading, digits=None, **more
    ):
        """Report of some sections; `more` are settings beside those that all reports tell."""
        drawn = next((one for one in self.used if one.n_draws is not None), None)
        settings = {
            "level": self.level,
            "kind": self.kind,
            "prior": join_texts(one.prior for one in self.used) if self.used else None,
            "method": self.method if self.used else "influences of the rows of one test set",
            "n": whole(self.matrix.sum()),
            "weighted": self.counts.weighted,
            "prior_array": self.prior if isinstance(self.prior, np.ndarray) else None,
            "classes": len(self.names),
            "draws": drawn and f"{drawn.n_draws} where not exact, seed {drawn.seed}",
        }
        return make_report(
            kind_of_report,
            title,
            settings=settings | more,
            question=question,
            sections=sections,
            warnings=warnings,
            reading=reading,
            digits=digits,
        )

    def positive_text(self):
        """Positive class and how often it occurs, so that a table read the wrong way is noticed."""
        label = self.counts.pos_label
        if label is None:
            return None
        k = self.counts.labels.index(label)
        real, said = self.matrix[k].sum(), self.matrix[:, k].sum()
        return f"{label}: {real:g} real, {said:g} predicted"

    def _rows_text(self):
        n = whole(self.matrix.sum())
        return f"{n}" if isinstance(n, int) else f"{n:.1f} (effective)"

    def _few_rows(self):
        support = self.matrix.sum(axis=-1)
        few = [name for name, n in zip(self.names, support, strict=True) if n < 5]
        if not few:
            return []
        listed = ", ".join(few[:10]) + (" and others" if len(few) > 10 else "")
        return [f"fewer than 5 rows in class {listed}: its intervals lean on the prior."]


def how_computed(posterior):
    """In words: exactly, by cumulants or from draws."""
    if posterior.exact:
        return "exactly"
    if posterior.n_draws is None:
        return "by three cumulants"
    return f"from {posterior.n_draws} draws"


def check_single(name, counts):
    """Refuse a stack of confusion matrices."""
    refuse_if(
        counts.shape,
        name,
        f"{name} must be a single confusion matrix for a report, got a stack of shape "
        f"{counts.shape}: add it up with sum(), or use fold_posterior for folds.",
    )


def refuse_one_of_many(counts, pos_label):
    """Refuse a class of more than two for a report in which all of them are alike."""
    refuse_if(
        pos_label is not None and counts.n_classes > 2,
        "pos_label",
        f"pos_label needs metrics: without, all {counts.n_classes} classes are reported alike.",
    )


def _check_names(target_names, labels):
    if target_names is None:
        return [str(label) for label in labels]
    names = as_list("target_names", target_names)
    unordered = isinstance(target_names, str | bytes | set | frozenset)
    refuse_if(
        unordered or as_array("target_names", names).shape != (len(labels),),
        "target_names",
        f"target_names must name the {len(labels)} classes {quoted(list(labels))}, in this "
        "order, got {value}.",
        target_names,
    )
    return [str(name) for name in names]


class HasMatrixReport:
    """Base of ConfusionCounts: the report of a single matrix."""

    def report(
        self,
        metrics: MetricsLike | None = None,
        *,
        target_names: Any = None,
        level: float = 0.95,
        kind: str = "eti",
        prior: PriorLike = "auto",
        model: str = "dirichlet",
        prevalence: Any = None,
        pos_label: LabelLike = None,
        digits: int | None = None,
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
    ) -> IntervalReport:
        """Report with an interval beside every number.

        Parameters
        ----------
        metrics : str, Metric, callable or list of them, default=None
            A row for each; by default all classes and their averages, as
            ``classification_report`` has them.
        target_names : sequence of str, default=None
            What to call the classes.
        level : float, default=0.95
            Probability of the intervals.
        kind : {"eti", "hdi"}, default="eti"
            Equal-tailed or highest-density.
        prior : str, float or array-like of shape (C, C), default="auto"
            See :meth:`ConfusionCounts.posterior`.
        model : {"dirichlet", "three_beta", "rows"}, default="dirichlet"
            With `metrics`, see :meth:`ConfusionCounts.posterior`.
        prevalence : object, default=None
            With `metrics`, see :meth:`ConfusionCounts.posterior`.
        pos_label : label, default=None
            Positive class, by default that of the counts. With more than two classes it needs
            `metrics`.
        digits : int, default=None
            Decimals, see :func:`interval_report`.
        n_draws, random_state : object, default=None
            See :meth:`ConfusionCounts.posterior`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        digits = check_digits(digits)
        check_single("counts", self)
        counts: Any = self
        if pos_label is not None:
            counts = counts._make(counts._cells, counts.labels, pos_label)
        parts = MatrixReport(
            counts,
            level=level,
            kind=kind,
            prior=prior,
            model=model,
            n_draws=n_draws,
            random_state=random_state,
            target_names=target_names,
        )
        if metrics is not None:
            return parts.by_metric(metrics, prevalence, digits)
        refuse_if(
            prevalence is not None,
            "prevalence",
            "prevalence needs metrics: without, all classes are reported as they are.",
        )
        refuse_one_of_many(counts, pos_label)
        refuse_if(
            parts.model != "dirichlet",
            "model",
            f"model={model!r} needs metrics: without, all classes are reported by the model "
            "'dirichlet'.",
        )
        return parts.by_class(digits)


# --------------------------------------------------------------------------------------------------
# The confusion matrix


def whole(value):
    """A number of rows: an int, unless rows have weights or were tested several times."""
    return int(value) if float(value).is_integer() else float(value)


def confusion_section(matrix, names, rates, level, kind, notes=()):
    """Section with counts and rates of the cells; `rates` is a (C, C) BetaPosterior or None."""
    size = len(names)
    small = size <= MOST_CLASSES
    if small:
        places = [(i, j) for i in range(size) for j in range(size)]
    else:
        errors = np.where(np.eye(size, dtype=bool), 0, matrix)
        order = np.argsort(-errors, axis=None, kind="stable")[:_MOST_CONFUSIONS]
        places = [divmod(int(k), size) for k in order if errors.flat[k] > 0]
        notes = (*notes, f"{size} classes: the {len(places)} most frequent confusions.")
    cells = _cells(matrix, rates, places, level, kind)
    rows = [
        {"true": names[i], "predicted": names[j], "count": whole(matrix[i, j]), "rate": cell}
        for (i, j), cell in zip(places, cells, strict=True)
    ]
    figure = {
        "type": "matrix",
        "instead": True,
        "labels": list(names),
        "counts": matrix,
        "rates": [cells[i * size : (i + 1) * size] for i in range(size)],
    }
    told = "rate: share of the true class that was predicted so"
    notes = (*notes, f"{told}." if rates is None else f"{told}, with its interval.")
    return section(
        "Confusion matrix",
        ["true", "predicted", column("count", digits=0), "rate"],
        rows,
        notes=notes,
        figure=figure if small else None,
        ranked=not small,
        in_text=False,
    )


def _cells(matrix, rates, places, level, kind):
    """Rates at some places; a million cells have as many intervals, of which few are shown."""
    at = tuple(np.array(places, dtype=int).reshape(-1, 2).T)
    with np.errstate(invalid="ignore"):
        shares = matrix[at] / matrix.sum(axis=-1)[at[0]]
    if rates is None:
        return [{"value": share} for share in shares]
    shown = rates._members(at)
    ends = (np.broadcast_to(end, shares.shape) for end in shown.interval(level, kind))
    return [
        interval_cell((low, high), share) for low, high, share in zip(*ends, shares, strict=True)
    ]
