"""Net benefit along the threshold probability: decision curves with pointwise intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.beta import beta_cdf
from skuncertain._numerics.scores.net_benefit import Contrast, RateContrast
from skuncertain._reporting.build import check_digits, column, interval_cell, make_report, section
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import LabelLike, PriorLike
from skuncertain._utils.validation import (
    as_array,
    as_numbers,
    check_integer,
    check_level,
    check_number,
    data_frame,
    is_integer,
    refuse_if,
    share_hint,
)
from skuncertain._version import __version__
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import collapse
from skuncertain.metrics._priors import cell_prior, check_prior, describe_prior
from skuncertain.metrics._registry import get_metric
from skuncertain.metrics._scores.probabilities import check_sums
from skuncertain.metrics._scores.scored_rows import ScoredRows, of_folds
from skuncertain.posteriors._beta import BetaPosterior, calibrated_beta

_MOST = 99  # thresholds by default: .01, .02, ...
_REPORTED = 25  # thresholds of a report
_HALF = 0.5  # rows of the default prior in every cell
_LEAST = 1e-3  # rows of a prior in a cell: with fewer an empty cell has no distribution
_NEAR = 1e-9  # how near a threshold may be to 0 and 1
_POOLED = (
    "the probabilities come from several models of a cross-validation, and one threshold is "
    "applied to all of them."
)
_TITLES = {
    "net_benefit": "model",
    "treat_all": "treat all",
    "difference": "model - treat all",
    "gain": "model - better of all, none",
}
_PROBABILITIES = ("p_above_all", "p_above_none", "p_useful")
_READING = (
    "A row is treated if its probability is at least the threshold. The net benefit is the share "
    "of true positives, less the share of false positives times threshold / (1 - threshold). "
    "Treating none has a net benefit of 0.",
    "Every interval is for its own threshold (pointwise), fixed before looking at these rows. The "
    "threshold says how much worse it is to miss a positive than to treat a negative: choose it by "
    "that, not by the curve.",
    "P(useful) is the probability that the model is better than both, treating all and none.",
)


@dataclass(frozen=True, eq=False, repr=False)
class NetBenefitCurve(HasReport):
    """Net benefit along the threshold probability, with pointwise intervals.

    The dicts have the keys "net_benefit" (of the model), "treat_all", "difference" (model less
    treat all) and "gain" (model less the better one of treating all and treating none).

    Parameters
    ----------
    thresholds : ndarray of shape (k,)
        Threshold probabilities, rising.
    counts : ConfusionCounts
        One matrix per threshold, shape (k,).
    values, low, high : dict of ndarray of shape (k,)
        Observed values and ends of the intervals.
    p_above_all, p_above_none, p_useful : ndarray of shape (k,)
        Probability that the model is better than treating all, than treating none, and than both.
    level : float
        Probability of the intervals.
    prior : str, float or ndarray
        As asked.
    prevalence : float or None
        Share of positives, if it was given.
    warnings : tuple of str
        What is to be known about the numbers.
    omega : dict of ndarray of shape (k,) or None
        What a row of a cross-validation counts.
    n_folds : int or None
        Folds of a cross-validation.
    estimand : str
        Whose net benefit it is: "final" is the one model that gave the probabilities.

    See Also
    --------
    net_benefit_curve : Makes it.
    NetBenefitDisplay : Draws it.

    Examples
    --------
    >>> from skuncertain.metrics import net_benefit_curve
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> proba = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> curve = net_benefit_curve(y, proba, thresholds=[0.2, 0.5])
    >>> curve.values["net_benefit"]
    array([0.4, 0.3])
    """

    thresholds: np.ndarray
    counts: ConfusionCounts
    values: dict
    low: dict
    high: dict
    p_above_all: np.ndarray
    p_above_none: np.ndarray
    p_useful: np.ndarray
    level: float
    prior: Any
    prevalence: float | None = None
    warnings: tuple = ()
    omega: dict | None = None
    n_folds: int | None = None
    estimand: str = "final"

    def __repr__(self):
        given = "" if self.prevalence is None else f", prevalence={self.prevalence:g}"
        given += "" if self.n_folds is None else f", {self.n_folds} folds"
        return (
            f"NetBenefitCurve({len(self.thresholds)} thresholds, pointwise, level={self.level:g}, "
            f"n={self.counts.n[0]}, pos_label={self.counts.pos_label!r}{given})"
        )

    def _columns(self):
        table = {"threshold": self.thresholds}
        for name in _TITLES:
            ends = {f"{name}_low": self.low[name], f"{name}_high": self.high[name]}
            table |= {name: self.values[name], **ends}
        return table | {name: getattr(self, name) for name in _PROBABILITIES}

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One list per column, and what was asked.
        """
        return {
            **{name: values.tolist() for name, values in self._columns().items()},
            "level": self.level,
            "prior": self.prior if isinstance(self.prior, str) else np.asarray(self.prior).tolist(),
            "prevalence": self.prevalence,
            "counts": self.counts.to_dict(),
            "n_folds": self.n_folds,
            "estimand": self.estimand,
            "omega": self.omega and {name: w.tolist() for name, w in self.omega.items()},
            "warnings": list(self.warnings),
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Table with one row per threshold.

        Returns
        -------
        pandas.DataFrame
            Net benefits with their intervals, and probabilities.
        """
        return data_frame(self, self._columns()).set_index("threshold")

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """Net benefits in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        size = len(self.thresholds)
        shown = np.unique(np.linspace(0, size - 1, min(size, _REPORTED)).round().astype(int))
        rows = [
            {
                "threshold": f"{self.thresholds[k]:.4g}",
                **{title: self._cell(name, k) for name, title in _TITLES.items()},
                "P(useful)": self.p_useful[k],
            }
            for k in shown
        ]
        part_of = f"{len(shown)} of {size} thresholds; to_frame() has all"
        titles = [column(title) for title in _TITLES.values()]
        part = section(
            "Net benefit, pointwise intervals",
            ["threshold", *titles, column("P(useful)", share=True)],
            rows,
            notes=[part_of] if len(shown) < size else [],
            figure={"type": "methods", "columns": list(_TITLES.values())},
        )
        n = int(self.counts.n[0])
        return make_report(
            "net_benefit",
            "Net benefit report",
            settings={
                "level": self.level,
                "kind": "eti",
                "prior": self._prior_text(),
                "method": self._method_text(),
                "n": n,
                "k": None if self.n_folds is None else f"{self.n_folds} folds",
                "omega": self._weight_text(),
                "pos_label": self.counts.pos_label,
                "prevalence": self.prevalence,
            },
            question=(
                f"What is the net benefit on rows like these {n}, if rows are treated from that "
                "probability on, and is it more than that of treating all or none?"
            ),
            sections={"net_benefit": part},
            warnings=self.warnings,
            reading=_READING,
            digits=check_digits(digits),
        )

    def _cell(self, name, k):
        return interval_cell((self.low[name][k], self.high[name][k]), self.values[name][k])

    def _prior_text(self):
        if isinstance(self.prior, str) and self.prior == "auto":
            ends = "; calibrated ends" if self.prevalence is None else ""
            return f"default (half a row per cell{ends})"
        return describe_prior(self.prior)

    def _method_text(self):
        if self.prevalence is not None:
            return "two Beta posteriors, of both rates"
        return "Dirichlet posterior" if self.n_folds is None else "pooled folds"

    def _weight_text(self):
        if self.omega is None:
            return None
        weights = np.concatenate(list(self.omega.values()))
        return f"{weights.min():.2f} to {weights.max():.2f}, for every threshold"


def net_benefit_curve(
    y_true: ArrayLike,
    y_proba: Any,
    *,
    thresholds: Any = None,
    level: float = 0.95,
    prior: PriorLike = "auto",
    prevalence: float | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
) -> NetBenefitCurve:
    """Look at the net benefit along the threshold probability: a decision curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Probabilities of the positive class, or one column per class. A
        :class:`BayesianCrossValidator` with ``keep_predictions=True`` brings those of its folds.
    thresholds : array-like, int or None, default=None
        Threshold probabilities in (0, 1); or how many, evenly spread. By default .01 to .99.
    level : float, default=0.95
        Probability of every interval. They are pointwise and equal-tailed.
    prior : str, float or array-like of shape (2, 2), default="auto"
        Pseudo-rows per cell, see :meth:`ConfusionCounts.posterior`. Here "auto" is half a row, and
        a cell without a row moves no end inwards.
    prevalence : float, default=None
        Share of positives in the population that is meant, if it is known. By default it is that
        of the rows, as uncertain as they leave it.
    labels, pos_label : object, default=None
        See :func:`average_precision_posterior`.

    Returns
    -------
    NetBenefitCurve
        Net benefits of the model and of treating all, their differences, and P(useful).

    See Also
    --------
    NetBenefitDisplay : Draws it.
    intervals_at_thresholds : Other metrics along the threshold.

    Notes
    -----
    True and false positives are shares of one Dirichlet distribution, so that the intervals are
    inverses of one integral, without random numbers. The gain is the smaller one of two differences
    and has the smaller ones of their ends. The probabilities are Beta functions: a model is better
    than treating none where its precision is above the threshold, and than treating all where the
    share of positives among the untreated is below it.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.metrics import net_benefit_curve
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.uniform(size=500)
    >>> y = (rng.uniform(size=500) < proba).astype(int)
    >>> curve = net_benefit_curve(y, proba, thresholds=[0.3])
    >>> curve.low["gain"].round(3), curve.high["gain"].round(3)
    (array([0.03]), array([0.07]))
    """
    level, prior = check_level(level), check_prior(prior, 2)
    if prevalence is not None:
        prevalence = check_number("prevalence", prevalence, low=0, high=1, closed=False, percent=0)
    places = _check_thresholds(thresholds)
    rows = _read_probabilities(y_true, y_proba, labels, pos_label)
    counts, folds, omega = rows.counts_at(places), None, None
    if rows.tested_in is not None:
        folds, counts = counts, counts.sum(axis=1)
        omega = _weights(rows.options, folds, places, prevalence)
    index = counts.labels.index(counts.pos_label)
    pseudo = collapse(_pseudo_rows(prior, rows.options, counts.counts), index)
    cells, odds = collapse(counts.counts.astype(float), index), places / (1 - places)
    if prevalence is None:
        auto = isinstance(prior, str) and prior == "auto"
        found = _of_dirichlet(cells, odds, pseudo, omega, level, auto)
        found["treat_all"] = _treat_all(cells, odds, pseudo, prior, level)
    else:
        found = _at_prevalence(cells, odds, pseudo, omega, level, prevalence)
    values = _observed(cells, odds, prevalence)
    low, high = (
        # At thresholds next to 0 or 1 an empty cell would put the observed value outside.
        {name: end(found[name][side], values[name]) for name in _TITLES}
        for side, end in enumerate((np.minimum, np.maximum))
    )
    return NetBenefitCurve(
        thresholds=places,
        counts=counts,
        values=values,
        low=low,
        high=high,
        **{name: found[name] for name in _PROBABILITIES},
        level=level,
        prior=prior,
        prevalence=prevalence,
        warnings=() if folds is None else (_POOLED,),
        omega=omega,
        n_folds=None if folds is None else folds.shape[1],
        estimand="final" if folds is None else rows.options.pooling.question,
    )


def _check_thresholds(thresholds):
    """Distinct threshold probabilities, rising."""
    if thresholds is None or is_integer(thresholds):
        number = _MOST if thresholds is None else check_integer("thresholds", thresholds, low=1)
        refuse_if(
            number > 10_000, "thresholds", "thresholds must be at most 10000, got {value}.", number
        )
        return np.linspace(0, 1, number + 2)[1:-1].round(15)
    found = as_numbers("thresholds", thresholds)
    rule = "thresholds must be a list of probabilities in (0, 1)"
    refuse_if(
        found.ndim != 1 or found.size == 0, "thresholds", f"{rule}, got {{value}}.", thresholds
    )
    refuse_if(np.isnan(found).any(), "thresholds", f"{rule}, got NaN in {{value}}.", thresholds)
    outside = found[(found < _NEAR) | (found > 1 - _NEAR)]
    if outside.size:
        raise InvalidParameterError(
            f"{rule}, got {outside[0]:g}: at 0 all rows are treated, at 1 none is, whatever the "
            f"model says.{share_hint(outside[0])}",
            parameter="thresholds",
        )
    return np.unique(found)


def _read_probabilities(y_true, y_proba, labels, pos_label):
    """Rows with the probabilities of one class; anything that is none is refused."""
    pooled = of_folds(y_proba)
    remedy = "Take predict_proba, or calibrate the scores (sklearn's CalibratedClassifierCV)."
    rule = "y_proba must hold probabilities in [0, 1]"
    values = any(np.ndim(part) == 1 for part in getattr(y_proba, "scores_", None) or ())
    refuse_if(
        pooled and values,
        "y_proba",
        f"{rule}, but the classifier of this cross-validation has decision values.",
        remedy=remedy,
    )
    if not pooled:
        refuse_if(
            hasattr(y_proba, "predict"),
            "y_proba",
            f"{rule}, got a classifier: give its predict_proba(X).",
        )
        given = as_array("y_proba", y_proba)
        refuse_if(
            given.dtype.kind in "biuUS",
            "y_proba",
            f"{rule}, got an array of type {given.dtype}: these look like labels.",
            remedy=remedy,
        )
    try:
        pooling = "pooled" if pooled else None
        rows = ScoredRows.of(y_true, y_proba, labels, pos_label, pooling, what="the net benefit")
    except InvalidParameterError as error:  # which knows them by another name
        named = "y_proba" if error.parameter == "y_score" else error.parameter
        message, told = (t.replace("y_score", "y_proba") for t in (error.message, error.remedy))
        raise InvalidParameterError(message, named, told) from None
    refuse_if(
        rows.n_scored > 1,
        "pos_label",
        f"a net benefit is about one class, and there are {rows.n_scored}: name it with "
        "pos_label=.",
    )
    proba = rows.problem(0)[1]
    outside = proba[(proba < 0) | (proba > 1)]
    refuse_if(
        outside.size > 0,
        "y_proba",
        f"{rule}, got {outside[0] if outside.size else 0:g}: these look like scores.",
        remedy=remedy,
    )
    if not pooled and given.ndim == 2 and given.shape[1] > 1:
        check_sums(given)
    return rows


def _pseudo_rows(prior, options, matrix):
    """Pseudo-rows of the cells; of folds a number is so many times the default."""
    auto = isinstance(prior, str) and prior == "auto"
    if options is not None:
        pooling = options.pooling if auto else replace(options.pooling, prior=prior)
        prior = pooling.prior_for(2)
        prior = prior * _HALF if isinstance(prior, float) else prior
    elif auto:
        prior = _HALF
    pseudo = cell_prior(prior, matrix)
    refuse_if(
        np.min(pseudo) < _LEAST,
        "prior",
        f"prior must put at least {_LEAST:g} of a row on every cell, because cells of a curve may "
        "be empty; got {value}.",
        value=prior,
    )
    return pseudo


def _weights(options, folds, places, prevalence):
    """What a row of the folds counts at every threshold, for each of the questions."""
    index = folds.labels.index(folds.pos_label)
    tp, fn, fp, tn = collapse(folds.counts, index)
    counts = ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn)  # the positive class last

    def of(metrics):
        return np.array([options.weight(counts[k : k + 1], one) for k, one in enumerate(metrics)])

    if prevalence is not None:
        return {name: of([name] * len(places)) for name in ("recall", "fpr")}
    # The difference to treating all is minus a cost: that of a missed positive is 1.
    costs = [np.array([[-t / (1 - t), 0.0], [1.0, 0.0]]) for t in places]
    return {
        "net_benefit": of([get_metric("net_benefit", threshold=float(t)) for t in places]),
        "difference": of([get_metric("expected_cost", cost=cost) for cost in costs]),
    }


def _of_dirichlet(cells, odds, pseudo, omega, level, calibrated):
    """Intervals and probabilities where all cells are one Dirichlet."""
    one = np.ones(odds.size)
    weights = omega or {"net_benefit": one, "difference": one}
    threshold, above = odds / (1 + odds), 1 / (1 + odds)

    def shapes(weight):
        return (weight * cell + more for cell, more in zip(cells, pseudo, strict=True))

    def better(tp, fn, fp, tn):
        """Precision is above the threshold; the share of positives among the others is below."""
        than_none = beta_cdf(above, fp, tp, complement=threshold)
        return than_none, beta_cdf(threshold, fn, tn, complement=above)

    def ends(contrast, *seen):
        return contrast.calibrated(level, *seen) if calibrated else contrast.interval(level)

    some_tp, some_fn, some_fp, some_tn = (cell > 0 for cell in cells)
    tp, fn, fp, tn = shapes(weights["net_benefit"])
    model = ends(Contrast(tp, fp, fn + tn, one, odds), some_tp, some_fp)
    than_none = better(tp, fn, fp, tn)[0]
    tp, fn, fp, tn = shapes(weights["difference"])
    difference = ends(Contrast(tn, fn, tp + fp, odds, one), some_tn, some_fn)
    than_all = better(tp, fn, fp, tn)[1]
    return {
        "net_benefit": model,
        "difference": difference,
        # Quantiles of the smaller one of both would lie too low where both are alike.
        "gain": [np.minimum(*both) for both in zip(model, difference, strict=True)],
        "p_above_none": than_none,
        "p_above_all": than_all,
        "p_useful": np.multiply(*better(*shapes(np.minimum(*weights.values())))),
    }


def _treat_all(cells, odds, pseudo, prior, level):
    """Interval of the net benefit of treating all: of the prevalence alone."""
    tp, fn, fp, tn = (cell[0] for cell in cells)
    if isinstance(prior, str) and prior == "auto":
        share = calibrated_beta(tp + fn, fp + tn)
    else:
        share = BetaPosterior(tp + fn + sum(pseudo[:2]).item(), fp + tn + sum(pseudo[2:]).item())
    return [end - (1 - end) * odds for end in share.interval(level)]


def _at_prevalence(cells, odds, pseudo, omega, level, prevalence):
    """Intervals and probabilities of two independent rates: treating all is known."""
    one = np.ones(odds.size)
    weights = (one, one) if omega is None else (omega["recall"], omega["fpr"])
    tp, fn = (weights[0] * cells[k] + pseudo[k] for k in (0, 1))
    fp, tn = (weights[1] * cells[k] + pseudo[k] for k in (2, 3))
    gain, loss = prevalence * one, (1 - prevalence) * odds
    model = RateContrast((tp, fn), (fp, tn), gain, loss)
    treat_all = gain - loss
    low, high = model.interval(level)
    known = {"net_benefit": 0.0 * one, "difference": treat_all, "gain": np.maximum(treat_all, 0.0)}
    found = {name: (low - less, high - less) for name, less in known.items()}
    names = ("p_above_none", "p_above_all", "p_useful")
    for name, less in zip(names, known.values(), strict=True):
        at = np.clip(less, model.low, model.high)
        found[name] = 1 - model.cdf(at, np.arange(odds.size))
    return found | {"treat_all": (treat_all, treat_all)}


def _observed(cells, odds, prevalence):
    """Observed net benefits."""
    tp, fn, fp, tn = cells
    share = (tp + fn) / (tp + fn + fp + tn) if prevalence is None else prevalence
    model = share * tp / (tp + fn) - (1 - share) * fp / (fp + tn) * odds
    treat_all = share - (1 - share) * odds
    values = {"net_benefit": model, "treat_all": treat_all, "difference": model - treat_all}
    return values | {"gain": model - np.maximum(treat_all, 0.0)}
