"""The interval of every candidate of a search on its own, by any fold method."""

from dataclasses import replace

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import is_real, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._scores.scored_rows import wang_li_omega
from skuncertain.model_selection._fold_methods import FoldOptions
from skuncertain.model_selection._fold_score_posterior import posterior_of_folds
from skuncertain.model_selection._fold_t import SCORE_METHODS, score_posterior
from skuncertain.model_selection._folds import Folds


def both_ends(posterior, level, limits):
    """Ends of the interval, cut off at the limits, without the warnings of `interval`."""
    tails = np.array([1 - level, 1 + level]) / 2
    return tuple(np.clip(np.moveaxis(posterior.quantile(tails), -1, 0), *limits))


def interval_options(method, omega, prior, prior_per_fold):
    """Fold method that was asked for, checked before anything is read; None: none was."""
    given = [omega != "auto" if isinstance(omega, str) else True, prior_per_fold is not None]
    given.append(not (is_real(prior) and prior == 1))
    options = FoldOptions(
        "pooled" if method is None else method, omega, prior=prior, prior_per_fold=prior_per_fold
    )
    return None if method is None and not any(given) else options


def usable_options(asked, found):
    """Options of the method for the candidates; what the results cannot answer is refused."""
    if found.scores_only:
        fix = "Search with scoring=ConfusionCountsScorer(metrics=[...])"
        if found.counts is not None:
            fix = "Ask for a metric of the counts"
        refuse_if(
            asked is not None and asked.method not in SCORE_METHODS,
            "method",
            f"method={getattr(asked, 'method', None)!r} needs the counts of every fold, but "
            f"{found.metric!r} is known by its scores alone, which allow "
            f"{', '.join(map(repr, SCORE_METHODS))}, without omega, prior or prior_per_fold. "
            f"{fix}.",
        )
    elif asked is not None and asked.pools:
        refuse_if(
            found.obstacle,
            "method",
            f"method={asked.method!r} adds up the folds, but {found.obstacle}. Use "
            "method='nadeau_bengio', which looks at the fold values.",
        )
    if asked is None:
        by_scores = found.scores_only or found.obstacle
        asked = FoldOptions("nadeau_bengio" if by_scores else "pooled")
    if asked.method == "nadeau_bengio":  # the same ratio as in the joint model
        asked = replace(asked, n_train=1.0, n_test=found.ratio)
    return asked


def own_intervals(found, kept, options, level, kind):
    """Interval of every candidate on its own, and how it was made."""
    if found.scores_only or (found.scored is not None and options.method in SCORE_METHODS):
        posterior = score_posterior(
            found.sign * found.scores[kept],
            options.method,
            found.n_repeats,
            n_train=options.n_train,
            n_test=options.n_test,
        )
        low, high = both_ends(posterior, level, found.range)  # symmetric: the shortest one, too
        about = {"method": f"{options.method} (t on fold scores)", "prior": None, "omega": None}
        return {"low": low, "high": high, "interval_error": np.zeros(len(kept))}, about
    size = 500 if found.scored is None else 1
    parts = np.array_split(kept, max(len(kept) // size, 1))
    found_parts = [_intervals_of(found, part, len(kept), options, level, kind) for part in parts]
    ends, priors = zip(*found_parts, strict=True)
    low, high, error = np.concatenate(ends, axis=1)
    omega = None
    if options.method == "pooled":
        omega = {
            "auto": "auto, per candidate",
            "wang_li": f"{wang_li_omega(found.scores.shape[1] / found.n_repeats):.3f}, (K + 1) / "
            "(2 K) as published by Wang and Li",
        }.get(options.omega, f"{options.omega}")
    about = {"method": options.method, "prior": priors[0], "omega": omega}
    return {"low": low, "high": high, "interval_error": error}, about


def _intervals_of(found, part, number, options, level, kind):
    """Ends of the intervals of some candidates and their errors, and the prior.

    A candidate that the method cannot answer for, such as one that never predicts the positive
    class, has none; the others have theirs.
    """
    try:
        posterior = posterior_of_folds(_folds_of(found, part, number), options)
    except InvalidParameterError:
        if len(part) == 1:
            raise
        return _one_by_one(found, part, number, options, level, kind)
    values = (*posterior.interval(level, kind), posterior.interval_error(level, kind))
    return np.array([np.broadcast_to(value, len(part)) for value in values]), posterior.prior


def _folds_of(found, part, number):
    if found.scored is not None:
        return found.folds_of(part[0])
    return Folds.of(
        found.counts[part],
        found.metric_object,
        found.n_repeats,
        n_draws=1000 if number > 200 and found.metric_object.user else None,
        random_state=0,
    )


def _one_by_one(found, part, number, options, level, kind):
    ends, errors, prior = np.full((3, len(part)), np.nan), [], None
    for k in range(len(part)):
        try:
            one, prior = _intervals_of(found, part[[k]], number, options, level, kind)
            ends[:, k] = one[:, 0]
        except InvalidParameterError as error:
            errors.append(error)
    if len(errors) == len(part):
        raise errors[0]
    warn_user(
        f"{len(errors)} candidates have no interval by method={options.method!r}: {errors[0]}",
        UndefinedMetricWarning,
    )
    return ends, prior
