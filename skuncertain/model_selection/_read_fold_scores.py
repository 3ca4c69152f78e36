"""Metrics of scores in folds: whether a model can answer, and reading what it has answered."""

import numpy as np
from sklearn.base import clone

from skuncertain._utils.validation import refuse_if
from skuncertain._utils.warnings import silence_foreign, warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._labels import check_pos_label, to_numpy
from skuncertain.metrics._registry import get_metric
from skuncertain.metrics._scorer_keys import MOMENTS, moments_of
from skuncertain.metrics._scores.fold_values import (
    Responses,
    class_asked,
    fold_moments,
    lacks_method,
    scoring_method,
)
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.model_selection._asked_metrics import check_metrics
from skuncertain.model_selection._fold_score_posterior import FoldMoments, ScoredFolds
from skuncertain.model_selection._read_cross_validate import take_rows
from skuncertain.model_selection._stability import spread_rows

_PROBE_ROWS = 50


def score_metrics(metrics):
    """Those of the metrics that need scores, probabilities or single rows."""
    return [metric for metric in metrics if isinstance(metric, ScoreMetric)]


def base_of(metric):
    """What a metric is the negative of, or itself."""
    return metric.negated or metric


def check_answers(estimator, X, target, metrics):
    """Refuse metrics that need what an estimator does not give, before the long work.

    Some estimators know it only when they are fitted, so that a copy is, on a few rows.
    """
    metrics = score_metrics(metrics)
    if all(scoring_method(metric, estimator) for metric in metrics):
        return
    rows = spread_rows(target.codes, _PROBE_ROWS)
    try:
        with silence_foreign():
            probe = clone(estimator).fit(take_rows(X, rows), to_numpy("y", target.y)[rows])
    except Exception:  # so few rows may not be enough; the folds will tell
        return
    for metric in metrics:
        refuse_if(
            scoring_method(metric, probe) is None,
            "metrics",
            lacks_method(metric, estimator),
            remedy="Leave the metric out, or take another estimator (CalibratedClassifierCV gives "
            "probabilities to any classifier).",
        )


def read_moments(cv_results, metrics, failed_folds=()):
    """Return {name: FoldMoments} of all metrics of scores in a result of ``cross_validate``.

    Losses are stored as losses, whatever their sign in the results. `metrics` holds those that a
    name does not tell.
    """
    columns = {
        str(key)[5:]: value for key, value in cv_results.items() if str(key).startswith("test_")
    }
    own = {metric.name: metric for metric in score_metrics(metrics)}
    found = {}
    for key in columns:
        parts = moments_of(columns, key)
        metric, sign = (None, 1.0) if parts is None else metric_of_key(key, own)
        if parts is not None and metric is not None:
            kept = np.delete(np.arange(len(parts[0])), list(failed_folds))
            moments = FoldMoments(*parts).take(kept)
            found[metric.name] = moments if sign > 0 else moments.negated()
    return found


def metric_of_key(key, own=()):
    """Metric that a key of the scorer stands for, without ``neg_``, and its sign there.

    `own` are metrics by name that the registry does not know.
    """
    for name, sign in ((key, 1.0), (key.removeprefix("neg_"), -1.0)):
        if name in own:
            base = base_of(own[name])
            return base, sign if base is own[name] else -sign
    try:
        metric = get_metric(key)
    except InvalidParameterError:
        return None, 1.0
    if not isinstance(metric, ScoreMetric):
        return None, 1.0
    return base_of(metric), 1.0 if metric.negated is None else -1.0


def measured_moments(estimators, X, y, tests, metrics, counts, failed_folds):
    """Return {name: FoldMoments} from the fitted estimators of the folds."""
    metrics = {base_of(metric).name: base_of(metric) for metric in score_metrics(metrics)}
    if not metrics:
        return {}
    labels, y = counts.labels, to_numpy("y", y)
    found: dict = {name: [] for name in metrics}
    for k, (estimator, rows) in enumerate(zip(estimators, tests, strict=True)):
        if k in failed_folds:
            continue
        part = take_rows(X, rows)
        responses = Responses(estimator, part, to_numpy("y_pred", estimator.predict(part)), labels)
        for name, metric in metrics.items():
            found[name].append(fold_moments(metric, responses, y[rows], labels, counts.pos_label))
    return {name: FoldMoments(*np.array(parts, dtype=float).T) for name, parts in found.items()}


def scored_folds(moments, metric, counts, n_repeats, pos_label=None):
    """Folds of a metric of scores; one that was not asked for in time is refused."""
    base = base_of(metric)
    refuse_missing(moments, metric)
    # It matters to a ranking of one class alone; of two classes the area is that of both.
    asked = None if pos_label is None else check_pos_label(counts.labels, pos_label)
    refuse_if(
        _ranked_class(base, counts.labels, asked)[1] is not None and counts.pos_label != asked,
        "pos_label",
        f"metric {metric.name!r} was computed for pos_label={counts.pos_label!r} when the folds "
        "were run, got {value}.",
        pos_label,
    )
    positive, label = _ranked_class(base, counts.labels, counts.pos_label)
    return ScoredFolds(
        metric, moments[base.name], counts.counts.sum(axis=-1), positive, n_repeats, label
    )


def refuse_missing(moments, metric, parameter="metric"):
    """Refuse a metric of scores that the folds do not have."""
    own = metric.name if metric.user else repr(metric.name)  # a name finds those of the registry
    refuse_if(
        base_of(metric).name not in moments,
        parameter,
        f"metric {metric.name!r} needs {metric.needs}, which are not kept: it has to be asked for "
        "before the folds are run.",
        remedy=f"BayesianCrossValidator(..., metrics=[{own}, ...]), or scoring="
        f"ConfusionCountsScorer(metrics=[{own}, ...]).",
    )


def _ranked_class(metric, labels, pos_label):
    """Index of the class that is ranked against the rest, and its name where it matters."""
    if metric.family != "ranking":
        return None, None
    label = class_asked(metric, labels, pos_label)
    if label is None:
        return None, None
    same = not metric.one_class and len(labels) == 2
    return labels.index(label), None if same else label


def read_metrics(cv_results, X, y, metrics, counts, failed_folds):
    """Metrics ``{name: Metric}`` of a finished cross-validation, and moments of those of scores.

    Without names these are the usual ones and all scores that come with moments. Estimators, with
    their data, are asked for what the results do not hold.
    """
    asked = check_metrics(metrics, counts.labels, counts.pos_label, scored=True)
    moments = read_moments(cv_results, asked.values(), failed_folds)
    if metrics is None:
        scored = {name: _known(name) for name in _scored_columns(cv_results)}
        asked |= {name: metric for name, metric in scored.items() if metric}
        nameless = [name for name, metric in scored.items() if not metric]
        if nameless:
            warn_user(
                f"the scores {nameless} are left out: their names tell no metric. Pass "
                "metrics=[...] with a metric of your own, or call the others by their names in "
                "ConfusionCountsScorer.",
                UserWarning,
            )
    missing = [m for m in score_metrics(asked.values()) if base_of(m).name not in moments]
    if missing and X is not None and y is not None and "estimator" in cv_results:
        tests = cv_results["indices"]["test"]
        moments |= measured_moments(
            cv_results["estimator"], X, y, tests, missing, counts, failed_folds
        )
    for metric in missing:
        refuse_missing(moments, metric, "metrics")
    return asked, moments


def _scored_columns(cv_results):
    """Names of the scores that come with their moments."""
    ending = f"__{MOMENTS[0]}"
    return [
        str(key)[5 : -len(ending)]
        for key in cv_results
        if str(key).startswith("test_") and str(key).endswith(ending)
    ]


def _known(name):
    """Metric of scores of that name, or None."""
    return metric_of_key(name)[0] and get_metric(name)
