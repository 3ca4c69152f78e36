"""`interval_report`: from labels, counts or any result to a report."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import LabelLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import check_kind, check_level, quoted, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._bootstrap import group_posterior
from skuncertain.metrics._count import GroupedRows
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._posterior import PosteriorOptions
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._report_parts import MatrixReport, check_single, refuse_one_of_many
from skuncertain.metrics._scores.report import ScoredPart
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import StackedPosterior


def interval_report(
    y_true: Any,
    y_pred: ArrayLike | None = None,
    *,
    y_proba: ArrayLike | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
    target_names: Any = None,
    level: float | None = None,
    kind: str | None = None,
    prior: PriorLike | None = None,
    digits: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> IntervalReport:
    """Report with an interval beside every number.

    Parameters
    ----------
    y_true : array-like of shape (n,), ConfusionCounts or a result
        True labels; or counts; or a result that has a report, such as a fitted
        :class:`BayesianCrossValidator` or what :func:`compare` and :func:`leaderboard` return.
    y_pred : array-like of shape (n,), default=None
        Predicted labels; by default the classes with the highest `y_proba`.
    y_proba : array-like of shape (n,) or (n, C), default=None
        Probabilities of the classes, in order; one column is of the positive or the last one. They
        add roc_auc, average_precision, log_loss and brier_score; other scores the first two.
    labels, pos_label : sequence and label, default=None
        All classes, in order, by default those that occur; and the positive one of two.
    target_names : sequence of str, default=None
        With labels or counts: what to call the classes.
    level, kind : float and {"eti", "hdi"}, default=None
        Probability of the intervals, equal-tailed or highest-density: by default 0.95 and "eti", or
        what the result was made with.
    prior : str, float or array-like of shape (C, C), default=None
        With labels or counts, see :meth:`ConfusionCounts.posterior`; by default "auto".
    digits : int, default=None
        Decimals: by default 3, more for narrow intervals; never more than draws support.
    sample_weight, groups, n_draws, random_state : object, default=None
        With labels, see :func:`metric_posterior`; the last two with counts as well.

    Returns
    -------
    IntervalReport
        ``print`` it, or use its `to_frame`, `to_html`, `to_markdown`, `to_json` and `save`. The
        HTML page is complete in itself. Warnings are listed in the report and not raised.

    See Also
    --------
    ConfusionCounts.report : The same of counts, with chosen metrics as well.
    credible_interval : One interval.
    BayesianCrossValidator.report : The same for a cross-validation.

    Examples
    --------
    >>> from skuncertain import interval_report
    >>> y_true = ["cat"] * 40 + ["dog"] * 60
    >>> y_pred = ["cat"] * 35 + ["dog"] * 55 + ["cat"] * 10
    >>> report = interval_report(y_true, y_pred, random_state=0)
    >>> print(report)
    Classification report
    =====================
    <BLANKLINE>
    ...
    class                    precision                recall                    f1  support
    cat           0.778 [0.642, 0.880]  0.875 [0.748, 0.951]  0.824 [0.722, 0.897]       40
    dog           0.909 [0.812, 0.964]  0.833 [0.724, 0.911]  0.870 [0.793, 0.924]       60
    accuracy                         -                     -  0.850 [0.770, 0.910]      100
    macro avg     0.843 [0.762, 0.904]  0.854 [0.773, 0.912]    0.847 [0.76, 0.91]      100
    weighted avg    0.857 [0.78, 0.91]  0.850 [0.770, 0.910]    0.851 [0.77, 0.91]      100
    ...
    >>> report.save("report.html")  # doctest: +SKIP
    """
    level = None if level is None else check_level(level)
    kind = None if kind is None else check_kind(kind)
    digits = check_digits(digits)
    for_rows = {
        "y_pred": y_pred,
        "y_proba": y_proba,
        "labels": labels,
        "sample_weight": sample_weight,
        "groups": groups,
    }
    for_counts = {
        "pos_label": pos_label,
        "target_names": target_names,
        "prior": prior,
        "n_draws": n_draws,
        "random_state": random_state,
    }
    options = {"level": level, "kind": kind, **for_counts}
    options = {name: value for name, value in options.items() if value is not None}
    if isinstance(y_true, ConfusionCounts):
        _refuse(for_rows, "counts", "pass true and predicted labels instead.")
        check_single("y_true", y_true)
        return y_true.report(digits=digits, **options)
    if y_pred is None and y_proba is None:
        _check_result(y_true)
        _refuse(for_rows | for_counts, "a finished result", "it was decided when it was made.")
        return _of_result(y_true, options, digits)
    about = {"labels": labels, "pos_label": options.pop("pos_label", None)}
    if y_pred is None:
        y_pred = ScoredPart.of(y_true, y_proba, **about).predicted()
    counts = ConfusionCounts.from_predictions(y_true, y_pred, sample_weight=sample_weight, **about)
    refuse_one_of_many(counts, pos_label)
    if y_proba is not None:
        told = "y_proba cannot be combined with sample_weight or groups: leave it out."
        refuse_if(sample_weight is not None or groups is not None, "y_proba", told)
        scored = ScoredPart.of(y_true, y_proba, counts.labels, counts.pos_label)
        return MatrixReport(counts, **options).by_class(digits, scored)
    if groups is None:
        return MatrixReport(counts, **options).by_class(digits)
    refuse_if(sample_weight is not None, "groups", "groups cannot be combined with sample_weight.")
    return _GroupedReport(counts, y_true, y_pred, groups, **options).by_class(digits)


class _GroupedReport(MatrixReport):
    """Rows that come in groups: whole groups are drawn."""

    def __init__(self, counts, y_true, y_pred, groups, **options):
        super().__init__(counts, **options)
        self.grouped = GroupedRows(y_true, y_pred, groups, counts.labels)
        self.group_options = PosteriorOptions(**self.options).checked(counts.n_classes)
        self.method = f"Bayesian bootstrap over {self.grouped.n_groups} groups"

    def _posterior(self, name, label=None):
        metric = count_metric(name)
        positive = self.counts.positive_index(metric, label)
        return group_posterior(
            self.grouped, self.counts.counts, metric, positive, self.group_options
        )

    def posterior_of_average(self, name):
        return self._posterior(name)

    def posteriors_of_classes(self, base):
        parts = [self._posterior(base, label) for label in self.counts.labels]
        closing = np.array([bool(part.about.closing) for part in parts])
        about = About(metric=parts[0].metric, prior=parts[0].prior, closing=closing)
        return StackedPosterior(parts, about)

    def cell_rates(self):
        return None  # their intervals would ignore the groups


def _of_result(result, given, digits):
    free = "level" in inspect.signature(result.report).parameters
    for name, value in given.items():
        if not free and value != getattr(result, name):
            raise InvalidParameterError(
                f"{name} must be that of the result, {getattr(result, name)!r}, got "
                f"{quoted(value)}: give {name}= where the result is made.",
                parameter=name,
            )
    return result.report(digits=digits, **(given if free else {}))


def _check_result(result):
    """Refuse what has no report; it may be that the predicted labels were forgotten."""
    if isinstance(result, HasReport):
        return
    refuse_if(
        hasattr(result, "cv_results_"),
        "y_true",
        f"y_true is a finished {type(result).__name__}, whose posterior is still to be "
        "computed: use search_posterior(search).report().",
        remedy="search_posterior(search).report()",
    )
    raise InvalidParameterError(
        "y_true must come with y_pred, or be ConfusionCounts or a result that has a report; "
        f"got {type(result).__name__} alone.",
        parameter="y_true",
    )


def _refuse(options, what, why):
    for name, value in options.items():
        refuse_if(value is not None, name, f"{name} cannot be combined with {what}: {why}")
