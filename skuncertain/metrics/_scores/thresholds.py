"""Any metric along the threshold of a classifier, and the operating point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.build import (
    check_digits,
    column,
    free_key,
    interval_cell,
    make_report,
    section,
)
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import LabelLike, MetricLike, MetricsLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import (
    as_array,
    as_numbers,
    check_integer,
    check_kind,
    check_level,
    data_frame,
    is_real,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import collect
from skuncertain._version import __version__
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels, check_pos_label
from skuncertain.metrics._priors import check_prior, describe_prior
from skuncertain.metrics._registry import named_metrics
from skuncertain.metrics._scores.scored_rows import ScoredRows, classifier_scores, of_folds
from skuncertain.posteriors._base import Posterior

_MOST = 50  # thresholds that are chosen by default
_POOLED = (
    "the scores come from several models of a cross-validation, and one threshold is applied to "
    "all of them: models whose scores have different scales do not fit together."
)
_WHOSE = {
    "fitted": "the models of these folds, on average,",
    "algorithm": "this algorithm, on average over training sets,",
    "final": "the model fitted on all rows",
}
READING = (
    "A row is called positive if its score is at least the threshold. Every interval is for that "
    "threshold alone, as if it had been chosen before looking at these rows.",
    "The best threshold of many is partly the luckiest: its score is optimistic. Choose it on "
    "other rows than those that judge it.",
)


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdIntervals(HasReport):
    """Metrics with their intervals along the threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (k,)
        Thresholds, rising.
    counts : ConfusionCounts
        One matrix per threshold, shape (k,).
    metrics : dict
        Metrics by the name that was asked for.
    values : dict of ndarray of shape (k,)
        Observed value of every metric.
    low, high : dict of ndarray of shape (k,)
        Ends of the intervals.
    operating_threshold : float or None
        Threshold that is in use.
    level, kind, prior : object
        As asked.
    interval_error : dict of ndarray of shape (k,)
        Monte Carlo error of the ends.
    seed : int
        Seed of metrics that are drawn.
    warnings : tuple of str
        Warnings that were given when it was made.
    folds : ConfusionCounts or None
        One matrix per threshold and fold, shape (k, folds), of a cross-validation.
    options : FoldOptions or None
        Weight of the rows, estimand and prior of the cross-validation.
    omega : dict of ndarray of shape (k,) or None
        What a row of a cross-validation counts for every metric.

    See Also
    --------
    intervals_at_thresholds : Makes it.

    Examples
    --------
    >>> from skuncertain.metrics import intervals_at_thresholds
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> report = intervals_at_thresholds(y, score, thresholds=[0.45, 0.75])
    >>> report.values["recall"]
    array([1. , 0.6])
    """

    thresholds: np.ndarray
    counts: ConfusionCounts
    metrics: dict
    values: dict
    low: dict
    high: dict
    operating_threshold: float | None
    level: float
    kind: str
    prior: Any
    interval_error: dict
    seed: int
    warnings: tuple = ()
    folds: ConfusionCounts | None = None
    options: Any = None
    omega: dict | None = None

    def __repr__(self):
        used = self.operating_threshold
        at = "" if used is None else f", operating at {used:.4g}"
        at += "" if self.folds is None else f", {self.folds.shape[1]} folds"
        return (
            f"ThresholdIntervals({len(self.thresholds)} thresholds, n={self.counts.n[0]}, "
            f"pos_label={self.counts.pos_label!r}, metrics={list(self.metrics)}{at})"
        )

    def operating_point(self, threshold: float | None = None) -> ConfusionCounts:
        """Confusion matrix at one of the thresholds.

        Parameters
        ----------
        threshold : float, default=None
            One of `thresholds`; by default the one that is in use.

        Returns
        -------
        ConfusionCounts
            Its ``posterior(metric)`` is that of the operating point.
        """
        return self.counts[self._place(threshold)]

    def _place(self, threshold):
        """Index of one of the thresholds."""
        threshold = self.operating_threshold if threshold is None else threshold
        refuse_if(
            threshold is None,
            "threshold",
            "there is no operating threshold: name one with threshold=.",
        )
        number = as_numbers("threshold", threshold)
        refuse_if(
            number.ndim, "threshold", "threshold must be one number, got {value}.", value=threshold
        )
        threshold = float(number)
        found = np.flatnonzero(self.thresholds == threshold)
        if not found.size:
            found = np.flatnonzero(np.isclose(self.thresholds, threshold, rtol=1e-12, atol=0))
        if not found.size:
            near = self.thresholds[np.argmin(np.abs(self.thresholds - threshold))]
            raise InvalidParameterError(
                f"threshold must be one of the reported ones, got {threshold:g}; the nearest is "
                f"{near:g}. Give thresholds=[...] to look at others.",
                parameter="threshold",
            )
        return int(found[0])

    def posterior(self, metric: MetricLike, threshold: float | None = None) -> Posterior:
        """Posterior of a metric at one of the thresholds.

        Parameters
        ----------
        metric : str, Metric or callable
            Any metric, see :func:`get_metric`.
        threshold : float, default=None
            One of `thresholds`; by default the one that is in use.

        Returns
        -------
        Posterior
            The posterior.
        """
        place = self._place(threshold)
        if self.folds is not None:
            return self.options.answer(self.folds[place], metric, self.prior, self.seed)
        return self.counts[place].posterior(metric, prior=self.prior, random_state=self.seed)

    def best(self, metric: MetricLike | None = None) -> float:
        """Threshold at which a metric was best in these rows.

        Parameters
        ----------
        metric : str, default=None
            One of the reported metrics; by default the first.

        Returns
        -------
        float
            The threshold. The score there is optimistic, because it was chosen for it.
        """
        name: Any = next(iter(self.metrics)) if metric is None else metric
        refuse_if(
            name not in self.metrics,
            "metric",
            f"metric must be one of {list(self.metrics)}, got {{value}}.",
            value=metric,
        )
        up = self.metrics[name].greater_is_better
        refuse_if(
            up is None,
            "metric",
            f"metric {name!r} has no direction: neither more nor less is better.",
        )
        values = self.values[name] if up else -self.values[name]
        refuse_if(
            np.all(np.isnan(values)), "metric", f"metric {name!r} is undefined at all thresholds."
        )
        return float(self.thresholds[np.nanargmax(values)])

    def _columns(self):
        table = {"threshold": self.thresholds}
        for name in self.metrics:
            ends = {f"{name}_low": self.low[name], f"{name}_high": self.high[name]}
            table |= {name: self.values[name], **ends}
        return table

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One list per column, and what was asked.
        """
        return {
            **{name: values.tolist() for name, values in self._columns().items()},
            "operating_threshold": self.operating_threshold,
            "level": self.level,
            "kind": self.kind,
            "prior": self.prior if isinstance(self.prior, str) else np.asarray(self.prior).tolist(),
            "counts": self.counts.to_dict(),
            "n_folds": None if self.folds is None else self.folds.shape[1],
            "estimand": "final" if self.folds is None else self.options.pooling.question,
            "omega": self.omega and {name: w.tolist() for name, w in self.omega.items()},
            "seed": self.seed,
            "warnings": list(self.warnings),
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Table with one row per threshold.

        Returns
        -------
        pandas.DataFrame
            Every metric with its interval.
        """
        return data_frame(self, self._columns()).set_index("threshold")

    def _cells(self, k):
        """Every metric with its interval at the threshold of index `k`."""
        return [
            interval_cell(
                (self.low[name][k], self.high[name][k]),
                self.values[name][k],
                self.interval_error[name][k],
            )
            for name in self.metrics
        ]

    def _weight_text(self):
        """Least and largest weight of a row, and where it is from; None without folds."""
        if self.omega is None:
            return None
        weights = np.concatenate([np.ravel(w) for w in self.omega.values()])
        given = self.options.pooling.omega
        ways = {"auto": "estimated from the folds", "wang_li": "by Wang and Li"}
        low, high = f"{weights.min():.2f}", f"{weights.max():.2f}"
        span = low if low == high else f"{low} to {high}"
        return f"{span}, {ways.get(given, 'as given')}"

    def _prior_text(self):
        auto = isinstance(self.prior, str) and self.prior == "auto"
        prior = self.options.pooling.prior if auto and self.folds is not None else self.prior
        return describe_prior(prior)

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """All thresholds in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        used = self.operating_threshold
        names = [free_key(name, ("threshold",)) for name in self.metrics]
        rows = [
            {
                "threshold": f"{'* ' if threshold == used else ''}{threshold:.4g}",
                **dict(zip(names, self._cells(k), strict=True)),
            }
            for k, threshold in enumerate(self.thresholds)
        ]
        notes = [] if used is None else ["*: the threshold in use"]
        part = section(
            "Thresholds",
            ["threshold", *(column(name) for name in names)],
            rows,
            notes=notes,
            figure={"type": "methods", "columns": names} if len(rows) <= 60 else None,
        )
        n, folds = int(self.counts.n[0]), None if self.folds is None else self.folds.shape[1]
        whose = "this one model"
        if folds is not None:
            whose = _WHOSE[self.options.pooling.question]
        drawn = [name for name in self.metrics if np.any(self.interval_error[name] > 0)]
        return make_report(
            "thresholds",
            "Threshold report",
            settings={
                "level": self.level,
                "kind": self.kind,
                "prior": self._prior_text(),
                "method": "Dirichlet posterior of one test set, for every threshold"
                if folds is None
                else "pooled folds, for every threshold",
                "n": n,
                "k": None if folds is None else f"{folds} folds",
                "omega": self._weight_text(),
                "pos_label": self.counts.pos_label,
                "draws": f"for {', '.join(drawn)}, seed {self.seed}" if drawn else None,
            },
            question=(
                f"What are the metrics of {whose} on rows like these {n}, if rows are called "
                "positive from that threshold on?"
            ),
            sections={"thresholds": part},
            warnings=self.warnings,
            reading=READING,
            digits=check_digits(digits),
        )


def intervals_at_thresholds(
    y_true: ArrayLike,
    y_score: Any,
    thresholds: Any = None,
    *,
    X: Any = None,
    metrics: MetricsLike = ("precision", "recall", "f1"),
    operating_threshold: float | None = None,
    level: float = 0.95,
    kind: str = "eti",
    prior: PriorLike = "auto",
    labels: Any = None,
    pos_label: LabelLike = None,
    random_state: RandomStateLike = None,
) -> ThresholdIntervals:
    """Look at any metric along the threshold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,), BayesianCrossValidator or classifier
        Scores of the positive class. A :class:`BayesianCrossValidator` with
        ``keep_predictions=True`` brings its out-of-fold scores, pooled, and its omega, estimand and
        prior: rows of folds count less than 1 each. A fitted classifier scores
        `X`; scikit-learn's ``TunedThresholdClassifierCV`` and ``FixedThresholdClassifier`` bring
        their threshold as well, turned round if `pos_label` is not the class that it is for.
    thresholds : array-like, int or None, default=None
        Thresholds; or how many, spread evenly over the scores. By default at most 50.
    X : array-like, default=None
        Rows, if `y_score` is a classifier.
    metrics : str or list of str, Metric or callable, default=("precision", "recall", "f1")
        See :func:`get_metric`.
    operating_threshold : float, default=None
        Threshold that is in use; it is added to the others and marked.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    prior : str, float or array-like of shape (2, 2), default="auto"
        See :meth:`ConfusionCounts.posterior`.
    labels, pos_label : object, default=None
        See :func:`average_precision_posterior`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of metrics that are drawn.

    Returns
    -------
    ThresholdIntervals
        Values and intervals; `operating_point` gives the counts at a threshold.

    See Also
    --------
    roc_band : All thresholds at once.
    interval_report : One confusion matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skuncertain.metrics import intervals_at_thresholds
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> tuned = TunedThresholdClassifierCV(GaussianNB(), scoring="f1").fit(X_train, y_train)
    >>> report = intervals_at_thresholds(y_test, tuned, X=X_test)
    >>> report.posterior("f1").interval()
    Interval(low=0.900..., high=0.971...)
    """
    level, kind = check_level(level), check_kind(kind)
    scores, pos_label, found = _read_scores(y_score, X, pos_label, y_true)
    operating_threshold = found if operating_threshold is None else operating_threshold
    pooled = of_folds(scores)
    pooling = "pooled" if pooled else None
    rows = ScoredRows.of(y_true, scores, labels, pos_label, pooling, what="a threshold")
    refuse_if(
        rows.n_scored > 1,
        "pos_label",
        f"a threshold is about one class, and there are {rows.n_scored}: name it with pos_label=.",
    )
    score = rows.problem(0)[1]
    places = _check_thresholds(thresholds, score, operating_threshold)
    counts, folds = rows.counts_at(places), None
    seed, prior = resolve_seed(random_state), check_prior(prior, 2)
    asked = dict(named_metrics(metrics))
    posterior = partial(counts.posterior, prior=prior, random_state=seed)
    if pooled:
        folds, counts = counts, counts.sum(axis=1)
        posterior = partial(rows.options.answer, folds, prior=prior, random_state=seed)
    with collect() as caught:
        posteriors = {name: posterior(metric) for name, metric in asked.items()}
        ends = {name: one.interval(level, kind) for name, one in posteriors.items()}
        errors = {name: one.interval_error(level, kind) for name, one in posteriors.items()}
    return ThresholdIntervals(
        thresholds=places,
        counts=counts,
        metrics=asked,
        values={k: np.broadcast_to(one.observed, places.shape) for k, one in posteriors.items()},
        low={name: np.broadcast_to(low, places.shape) for name, (low, _) in ends.items()},
        high={name: np.broadcast_to(high, places.shape) for name, (_, high) in ends.items()},
        operating_threshold=None if operating_threshold is None else float(operating_threshold),
        level=level,
        kind=kind,
        prior=prior,
        interval_error={k: np.broadcast_to(error, places.shape) for k, error in errors.items()},
        seed=seed,
        # Beyond the highest score nothing is predicted positive: told in the report, not raised.
        warnings=tuple(dict.fromkeys([*([_POOLED] if pooled else []), *caught.texts])),
        folds=folds,
        options=rows.options,
        omega={name: one.diagnostics.omega for name, one in posteriors.items()} if pooled else None,
    )


def _read_scores(y_score, X, pos_label, y_true):
    """Scores, the class they are about, and the threshold of a classifier."""
    scored = not hasattr(y_score, "predict")
    if scored or hasattr(y_score, "result_"):
        why = "scores need no rows" if scored else "a cross-validator has its scores already"
        refuse_if(X is not None, "X", f"X is for a classifier; {why}.")
        return y_score, pos_label, None
    refuse_if(X is None, "X", "X is missing: a classifier needs rows to score.")
    labels = as_labels(list(getattr(y_score, "classes_", (0, 1))))
    if pos_label is None and check_pos_label(labels) is None:
        pos_label = check_pos_label(labels, None, y_true)  # if it is a matter of order
    return _of_classifier(y_score, X, pos_label)


def _of_classifier(classifier, X, pos_label):
    """Scores of a fitted classifier, the class they are about, and its threshold."""
    inner = _innermost(classifier)
    method = getattr(inner, "response_method", "auto")

    def about(wanted):
        score, label, name = classifier_scores(classifier, X, wanted, method)
        return score, label, _threshold_of(inner, name, score, label == classifier.classes_[0])

    two = len(getattr(classifier, "classes_", ())) == 2
    if pos_label is not None and two and (hasattr(inner, "best_threshold_") or _is_fixed(inner)):
        score, label, name = classifier_scores(classifier, X, pos_label, method)
        own_score, own_label, threshold = _own_threshold(classifier, X, about)
        if label != own_label:
            middle = 0.5 if name == "predict_proba" else 0.0
            threshold = _turned(threshold, middle, score[own_score >= threshold])
        return score, label, threshold
    wanted = pos_label if pos_label is not None else getattr(inner, "pos_label", None)
    labels = as_labels(list(getattr(classifier, "classes_", (0, 1))))
    if wanted is not None or not two or check_pos_label(labels) is None:
        return about(wanted)
    return _own_threshold(classifier, X, about)


def _own_threshold(classifier, X, about):
    """Scores, class and threshold by which a classifier of two classes predicts.

    Which class is positive for a tuned classifier is a secret of its scorer: its predictions tell.
    Where they fit both classes it is the one that is positive everywhere else.
    """
    wanted = getattr(_innermost(classifier), "pos_label", None)
    if wanted is not None:
        return about(wanted)
    said = np.asarray(classifier.predict(X))
    usual = check_pos_label(as_labels(list(classifier.classes_)))
    usual = classifier.classes_[-1] if usual is None else usual
    other = next(label for label in classifier.classes_ if label != usual)
    found = [about(label) for label in (usual, other)]
    for score, label, threshold in found:
        if np.array_equal(score >= threshold, said == label):
            return score, label, threshold
    return found[0]


def _innermost(classifier):
    """Classifier inside searches and pipelines, which knows its threshold."""
    if hasattr(classifier, "best_estimator_"):
        return _innermost(classifier.best_estimator_)
    return _innermost(classifier.steps[-1][1]) if hasattr(classifier, "steps") else classifier


def _is_fixed(classifier):
    """Whether it is a ``FixedThresholdClassifier``, or one that works like it."""
    fixed = getattr(classifier, "threshold", None)
    return isinstance(fixed, int | float) or fixed == "auto"


def _turned(threshold, middle, negative):
    """Threshold of the other class, which the scores of `negative` rows must not reach."""
    turned, highest = 2 * middle - threshold, negative.max(initial=-np.inf)
    return float(np.nextafter(highest, np.inf) if highest >= turned else turned)


def _threshold_of(classifier, response, score, first):
    """Threshold in use: tuned, fixed, or the one that `predict` has by itself."""
    tuned = getattr(classifier, "best_threshold_", None)
    if tuned is not None:  # of the type of the scores, such as np.float32
        return float(tuned)
    fixed = getattr(classifier, "threshold", None)
    if isinstance(fixed, int | float):
        return float(fixed)
    if response != "predict_proba":
        return 0.0
    # Of two equal probabilities `predict` takes the first class.
    tied = not first and fixed != "auto" and np.any(score == 0.5)
    return float(np.nextafter(0.5, 1.0)) if tied else 0.5


def _check_thresholds(thresholds, score, operating):
    if thresholds is None or isinstance(thresholds, int | np.integer):
        number = _MOST if thresholds is None else check_integer("thresholds", thresholds, low=1)
        found = np.unique(score)
        if found.size > number:
            found = np.unique(np.quantile(score, np.linspace(0, 1, number), method="nearest"))
    else:
        found = as_array("thresholds", thresholds)
        numbers = found.dtype.kind in "iuf" and found.ndim == 1 and found.size > 0
        large = numbers and found.dtype.kind in "iu" and np.any(abs(found.astype(float)) > 2**53)
        rule = "thresholds must be at most 2**53, beyond which floats skip integers, got {value}."
        refuse_if(large, "thresholds", rule, value=thresholds)
        found = np.unique(found.astype(float)) if numbers else found
        refuse_if(
            not numbers or np.isnan(found).any(),
            "thresholds",
            "thresholds must be a list of numbers, got {value}.",
            value=thresholds,
        )
    if operating is not None:
        number = as_numbers("operating_threshold", operating) if is_real(operating) else np.nan
        refuse_if(
            not abs(number) < 1e308,
            "operating_threshold",
            "operating_threshold must be a number, got {value}.",
            value=operating,
        )
        found = np.union1d(found, [float(number)])
    return found
