"""What the name of a score tells about it: its range and its direction."""

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._registry import Metric, get_metric

_UNKNOWN = (-np.inf, np.inf)
_SHARE, _LOSS, _AT_MOST_1 = (0.0, 1.0), (-np.inf, 0.0), (-np.inf, 1.0)
# Scorers of scikit-learn that no confusion matrix gives. The others are in the registry.
_RANGES = {
    **dict.fromkeys(("roc_auc", "average_precision", "top_k_accuracy", "rand_score"), _SHARE),
    "fowlkes_mallows_score": _SHARE,
    **dict.fromkeys((f"roc_auc_ov{end}" for end in ("r", "o", "r_weighted", "o_weighted")), _SHARE),
    **dict.fromkeys((f"{base}_samples" for base in ("f1", "jaccard")), _SHARE),
    **dict.fromkeys((f"{base}_samples" for base in ("precision", "recall")), _SHARE),
    "neg_log_loss": _LOSS,
    "neg_brier_score": (-2.0, 0.0),  # -1 with two classes
    **dict.fromkeys(("d2_log_loss_score", "d2_brier_score", "d2_absolute_error_score"), _AT_MOST_1),
    **dict.fromkeys(("r2", "explained_variance"), _AT_MOST_1),
    **dict.fromkeys((f"neg_mean_{end}_error" for end in ("absolute", "squared")), _LOSS),
    **dict.fromkeys(("neg_mean_squared_log_error", "neg_mean_absolute_percentage_error"), _LOSS),
    **dict.fromkeys((f"neg_root_mean_squared{end}_error" for end in ("", "_log")), _LOSS),
    **dict.fromkeys((f"neg_mean_{end}_deviance" for end in ("poisson", "gamma")), _LOSS),
    **dict.fromkeys(("neg_median_absolute_error", "neg_max_error"), _LOSS),
}


def known_range(name):
    """Range and direction of a score that is called so, as scikit-learn scores: more is better.

    Returns ((low, high), greater_is_better); ``neg_<metric>`` has its sign changed. A name that is
    not known has no limits.
    """
    if isinstance(name, Metric):
        return name.range, name.greater_is_better
    if name in _RANGES:
        return _RANGES[name], True
    try:
        metric = get_metric(name.removeprefix("neg_"))
    except InvalidParameterError:
        return _UNKNOWN, True
    if not name.startswith("neg_"):
        return metric.range, metric.greater_is_better
    low, high = metric.range
    better = metric.greater_is_better
    return (0.0 - high, 0.0 - low), None if better is None else not better


def is_known(name):
    """Whether a name tells what a score is."""
    return name in _RANGES or known_range(name)[0] != _UNKNOWN


def fits_range(scores, limits):
    """Whether all scores are within the limits, up to rounding; those that are missing are."""
    low, high = (end + side * 1e-9 for end, side in zip(limits, (-1, 1), strict=True))
    return not np.any((scores < low) | (scores > high))


def named_range(name, scores, parameter, what):
    """Range and direction of scores by their name; scores that cannot be that metric are refused.

    `what` says which scores these are.
    """
    limits, better = known_range(name)
    if not fits_range(scores, limits):
        title, ends = getattr(name, "name", name), f"[{limits[0]:g}, {limits[1]:g}]"
        changed = " A score with its sign changed is called neg_<metric>." * (limits[0] == 0)
        refuse_if(
            True,
            parameter,
            f"{what} must be within the range of {title!r}, {ends}, got {{value}}: give another "
            f"score another name.{changed}",
            scores[(scores < limits[0]) | (scores > limits[1])][0].item(),
        )
    return limits, better
