"""Posteriors of a finished cross-validation of which only the scores are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skuncertain._reporting.build import (
    check_digits,
    column,
    free_key,
    interval_cell,
    make_report,
    section,
)
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._reporting.text import folds_text
from skuncertain._utils.validation import (
    as_list,
    as_numbers,
    check_integer,
    check_kind,
    check_level,
    data_frame,
    nearest_name,
    refuse_if,
)
from skuncertain._utils.warnings import collect_into, silence, warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._registry import Metric
from skuncertain.model_selection._fold_methods import FoldOptions
from skuncertain.model_selection._fold_t import (
    CUT,
    MISSING,
    SCORE_METHODS,
    check_score_values,
    is_cut,
    score_posterior,
    split_repeats,
)
from skuncertain.model_selection._read_cross_validate import HOW, score_columns
from skuncertain.model_selection._score_names import named_range
from skuncertain.model_selection._splits import Splits
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._interval import Interval

ADVICE = (
    "With counts (scoring=ConfusionCountsScorer()) intervals of metrics of the confusion matrix "
    "are shorter as a rule, and hold their level near 0 and 1 as well."
)
READING = (
    "Each interval holds the answer to the question above with the probability that is given as "
    "level, given the fold scores and the method.",
    "Folds share most of their training rows, so K scores are not K independent ones. "
    "nadeau_bengio multiplies their variance with 1/J + n_test/n_train, J being all folds; "
    "corrected_t divides variance / K by 1 - 0.7; t takes the folds as independent and is too "
    "short.",
    f"Only the scores of the folds are known. {ADVICE}",
)


@dataclass(frozen=True, eq=False, repr=False)
class CrossValScores(HasReport):
    """Posteriors of the mean scores of a cross-validation, from its fold scores alone.

    Made by :meth:`CrossValPosterior.from_cv_results` if ``cross_validate`` counted nothing. The
    distribution is Student's t; intervals are cut off at the range of the metric, if its name tells
    one. With counts (``scoring=ConfusionCountsScorer()``) intervals of metrics of the confusion
    matrix are shorter as a rule, and hold their level near 0 and 1 as well.

    Parameters
    ----------
    scores : dict
        Fold scores by name, arrays of shape (splits,), NaN where a fold has none.
    metrics : dict
        What each score is: a name, as in ``scoring=``, or a Metric.
    options : object
        Method, and rows per fold.
    n_repeats : int
        Repetitions in which every row was tested once each.
    splits : object
        Training and test rows per split; None if they are not known.
    level : float
        Probability of the intervals.
    kind : {"eti", "hdi"}
        Equal-tailed or highest-density, which are the same here.

    See Also
    --------
    fold_interval : From an array of scores.
    CrossValPosterior : From counts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skuncertain.model_selection import CrossValPosterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> results = cross_validate(GaussianNB(), X, y, scoring=["f1", "roc_auc"])
    >>> found = CrossValPosterior.from_cv_results(results)
    >>> found.interval("f1")
    Interval(low=0.927..., high=0.976...)
    """

    scores: dict
    metrics: dict
    options: FoldOptions
    n_repeats: int = 1
    splits: Splits | None = None
    level: float = 0.95
    kind: str = "eti"

    @property
    def n_folds(self) -> float:
        """Folds per repetition."""
        return len(next(iter(self.scores.values()))) / self.n_repeats

    def __repr__(self):
        repeats = f" x {self.n_repeats} repetitions" if self.n_repeats > 1 else ""
        folds = f"{self.n_folds:g} folds{repeats}"
        parts = [folds if self.splits else f"{folds} (assumed to partition the rows)"]
        parts += [f"method={self.options.method!r}", f"metrics={list(self.metrics)}"]
        return f"CrossValScores({', '.join(parts)}). {ADVICE}"

    def posterior(
        self, metric: str, method: str | None = None, *, rho: float | None = None
    ) -> Posterior:
        """Posterior of the mean of a score.

        Parameters
        ----------
        metric : str
            Name of one of the scores.
        method : {"nadeau_bengio", "corrected_t", "t"}, default=None
            See :func:`fold_posterior`; None: as set before.
        rho : float, default=None
            Correlation between folds of "corrected_t", by default 0.7.

        Returns
        -------
        Posterior
            Student's t.
        """
        name, scores = metric, self._scores_of(metric)
        options = FoldOptions(self.options.method if method is None else method, rho=rho)
        refuse_if(
            options.method not in SCORE_METHODS,
            "method",
            f"there are scores and no counts, which allow method "
            f"{', '.join(map(repr, SCORE_METHODS))}, got {{value}}. {HOW}",
            options.method,
        )
        sizes = self._sizes() if options.method == "nadeau_bengio" else (None, None)
        limits, better = named_range(self.metrics[name], scores, "cv_results", f"test_{name}")
        found = score_posterior(
            scores,
            options.method,
            self.n_repeats,
            rho=options.rho,
            n_train=sizes[0],
            n_test=sizes[1],
            metric=name,
            missing=MISSING,
        )
        return found.with_about(
            range=limits,
            greater_is_better=better,
            method=options.method,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            estimand="algorithm",
        )

    def _scores_of(self, metric):
        known = isinstance(metric, str) and metric in self.scores
        close = nearest_name(metric, list(self.scores)) if isinstance(metric, str) else ""
        refuse_if(
            not known,
            "metric",
            f"metric must be one of the scores {list(self.scores)}, got {{value}}.{close} "
            "Any other metric needs counts: scoring=ConfusionCountsScorer().",
            metric,
        )
        return self.scores[metric]

    def _sizes(self):
        if self.splits is not None:
            return self.splits.n_train, self.splits.n_test
        return int(self.n_folds) - 1, 1

    def interval(
        self,
        metric: str,
        method: str | None = None,
        level: float | None = None,
        kind: str | None = None,
        **options: Any,
    ) -> Interval:
        """Interval of the mean of a score, cut off at the range of the metric.

        Parameters
        ----------
        metric : str
            Name of one of the scores.
        method : {"nadeau_bengio", "corrected_t", "t"}, default=None
            See :func:`fold_posterior`; None: as set before. So are the other parameters.
        level : float, default=None
            Probability of the interval.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density.
        **options : dict
            ``rho`` of "corrected_t".

        Returns
        -------
        Interval
            Ends ``low`` and ``high``.
        """
        level = self.level if level is None else check_level(level)
        kind = self.kind if kind is None else check_kind(kind)
        return self.posterior(metric, method, **options).interval(level, kind)

    @cached_property
    def posteriors(self) -> dict:
        """Posterior of every score, by name."""
        with collect_into([]):  # scores that warn alike warn once
            return {name: self.posterior(name) for name in self.scores}

    @cached_property
    def intervals(self) -> dict:
        """Interval of every score, by name."""
        with collect_into([]):
            return {
                name: posterior.interval(self.level, self.kind)
                for name, posterior in self.posteriors.items()
            }

    @property
    def question(self) -> str:
        """What the intervals are about, in words."""
        rows = "as many rows as in these folds"
        if self.splits is not None:
            low, high = np.min(self.splits.n_train), np.max(self.splits.n_train)
            rows = f"{low} rows" if low == high else f"{low} to {high} rows"
        return f"How well does the algorithm do on average when it is trained on {rows}?"

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Settings, fold scores, and per score the mean and the interval.
        """
        rows = {}
        for name, posterior in self.posteriors.items():
            low, high = self.intervals[name]
            rows[name] = {
                "mean": float(posterior.loc),
                "low": low,
                "high": high,
                "df": float(posterior.df),
                "scale": float(posterior.scale),
                "lowest_fold": float(np.nanmin(self.scores[name])),
                "highest_fold": float(np.nanmax(self.scores[name])),
            }
        return {
            "method": self.options.method,
            "level": self.level,
            "kind": self.kind,
            "question": self.question,
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "scores": {name: values.tolist() for name, values in self.scores.items()},
            "metrics": rows,
        }

    def to_frame(self) -> Any:
        """Table with one row per score.

        Returns
        -------
        pandas.DataFrame
            Mean, interval, parameters of the t, lowest and highest fold.
        """
        rows = self.to_dict()["metrics"]
        return data_frame(self, list(rows.values()), index=list(rows)).rename_axis("name")

    def report(
        self, *, level: float | None = None, kind: str | None = None, digits: int | None = None
    ) -> IntervalReport:
        """All scores with their intervals by three methods, and warnings.

        Parameters
        ----------
        level : float, default=None
            Probability of the intervals; by default as set before.
        kind : {"eti", "hdi"}, default=None
            Equal-tailed or highest-density; by default as set before.
        digits : int, default=None
            Decimals; by default 3, more for narrow intervals.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        level = self.level if level is None else check_level(level)
        kind = self.kind if kind is None else check_kind(kind)
        return _report(self, level, kind, check_digits(digits))


def read_scores(cv_results, metrics, method, n_repeats, level, kind, others):
    """Read the scores of a result of ``cross_validate``; `metrics` chooses among them.

    `others` are options that only counts have; the method refuses those that were changed.
    """
    labelled = next(
        (name for name in ("labels", "pos_label") if others.pop(name) is not None), None
    )
    refuse_if(
        labelled,
        labelled,
        f"{labelled} belongs to counts, but cv_results holds scores alone. {HOW}",
    )
    options = FoldOptions("nadeau_bengio" if method is None else method, **others)
    names = _chosen(score_columns(cv_results), metrics)
    scores = {name: _column(cv_results, name) for name in names}
    size = len(next(iter(scores.values())))
    if n_repeats is not None:
        n_repeats = check_integer("n_repeats", n_repeats, low=1)
    if "indices" in cv_results:
        splits = Splits.of(cv_results["indices"]["train"], cv_results["indices"]["test"])
        refuse_if(
            len(splits.n_test) != size,
            "cv_results",
            f"cv_results must hold a score for each of its {len(splits.n_test)} splits, got "
            f"{size}.",
        )
        splits.refuse_repeats(n_repeats)
        repeats, sizes = splits.n_repeats, (splits.n_train, splits.n_test)
        if splits.overlap:
            warn_user(
                f"split {splits.overlap[0]} tests rows that it has trained on: its score says "
                "nothing about new rows.",
                UserWarning,
            )
    else:
        splits = None
        repeats, sizes = split_repeats(size, n_repeats)
    if options.method == "nadeau_bengio":
        options = replace(options, n_train=sizes[0], n_test=sizes[1])
    for name, metric in names.items():
        named_range(metric, scores[name], "cv_results", f"cv_results['test_{name}']")
    return CrossValScores(
        scores, names, options, repeats, splits, check_level(level), check_kind(kind)
    )


def _chosen(columns, metrics):
    """Return {name of a score: what it is}."""
    if metrics is None:
        return {name: name for name in columns}
    asked = metrics if isinstance(metrics, dict) else {n: n for n in as_list("metrics", metrics)}
    refuse_if(not asked, "metrics", "metrics must name at least one score, got {value}.", metrics)
    for name, metric in asked.items():
        alone = ""
        if columns == ["score"] and isinstance(name, str):
            alone = f" If it is what was scored, say metrics={{'score': {name!r}}}."
        refuse_if(
            name not in columns,
            "metrics",
            f"cv_results holds no counts, only the scores {columns}, so metrics must be among "
            f"them, got {{value}}.{alone} {HOW}",
            name,
        )
        refuse_if(
            not isinstance(metric, str | Metric),
            "metrics",
            "metrics of scores must be names or Metric objects, got {value}.",
            metric,
        )
    return dict(asked)


def _column(cv_results, name):
    what = f"cv_results['test_{name}']"
    scores = as_numbers("cv_results", cv_results[f"test_{name}"], what=what)
    refuse_if(
        scores.ndim != 1 or scores.size < 2,
        "cv_results",
        f"{what} must hold one score per fold, of at least two folds, got shape {scores.shape}.",
    )
    check_score_values(scores, "cv_results")
    return scores


# --------------------------------------------------------------------------------------------------
# The report


def _report(result, level, kind, digits):
    found: list = []
    with silence(), collect_into(found):  # they are told in the report
        cells = {
            method: {name: _cell(result, name, method, level, kind) for name in result.scores}
            for method in dict.fromkeys((result.options.method, *reversed(SCORE_METHODS)))
        }
        posteriors = result.posteriors
    first = result.options.method
    ranges = {name: posterior.range for name, posterior in posteriors.items()}
    return make_report(
        "cross-validation",
        "Cross-validation report",
        settings={
            "level": level,
            "kind": kind,
            "prior": None,
            "method": f"{first} (t on fold scores)",
            "k": folds_text(result.n_folds, result.n_repeats)
            + ("" if result.splits else " (assumed to partition the rows)"),
            "estimand": "algorithm",
        },
        question=result.question,
        sections={
            "scores": _score_section(result, posteriors, cells[first], ranges),
            "methods": _method_section(cells, first, ranges),
            "folds": _fold_section(result, posteriors, cells[first]),
        },
        warnings=[text for text in dict.fromkeys(found) if "is cut off there" not in text],
        reading=READING,
        digits=digits,
    )


def _cell(result, name, method, level, kind):
    try:
        posterior = result.posterior(name, method)
    except InvalidParameterError:  # too few folds in a repetition
        if method == result.options.method:
            raise
        return None
    return interval_cell(posterior.interval(level, kind), point=posterior.observed)


def _footnote(cells, ranges):
    cut = any(cell and is_cut(cell["low"], cell["high"], ranges[name]) for name, cell in cells)
    return [CUT] if cut else []


def _score_section(result, posteriors, cells, ranges):
    rows = [
        {
            "metric": name,
            "mean": posterior.observed,
            "interval": cells[name],
            "lowest_fold": np.nanmin(result.scores[name]),
            "highest_fold": np.nanmax(result.scores[name]),
        }
        for name, posterior in posteriors.items()
    ]
    columns = ["metric", "mean", "interval", column("lowest_fold", "lowest fold")]
    columns.append(column("highest_fold", "highest"))
    notes = ["mean: of the fold scores", *_footnote(cells.items(), ranges), ADVICE]
    return section("Scores", columns, rows, notes=notes)


def _method_section(cells, first, ranges):
    rows = [
        {"metric": name, **{method: cells[method][name] for method in cells}} for name in ranges
    ]
    columns = [column(name, f"{name} (asked)" if name == first else name) for name in cells]
    notes = ["t: folds taken as independent, as a rule too short"]
    notes += _footnote([pair for part in cells.values() for pair in part.items()], ranges)
    return section(
        "Methods side by side",
        ["metric", *columns],
        rows,
        notes=notes,
        figure={"type": "methods", "columns": list(cells), "numbers_aside": True},
    )


def _fold_section(result, posteriors, cells):
    keys = {name: free_key(name, ("split",)) for name in result.scores}
    size = len(next(iter(result.scores.values())))
    rows = [
        {"split": k, **{keys[name]: values[k] for name, values in result.scores.items()}}
        for k in range(size)
    ]
    entries = [
        {
            "name": name,
            "values": result.scores[name],
            "interval": interval_cell(
                (cells[name]["low"], cells[name]["high"]), posterior.observed
            ),
        }
        for name, posterior in posteriors.items()
    ]
    return section(
        "Fold spread",
        ["split", *keys.values()],
        rows,
        notes=["dots: folds; line: their mean; shaded: the interval"],
        figure={"type": "folds", "entries": entries, "numbers_aside": True},
        in_text=False,
    )
