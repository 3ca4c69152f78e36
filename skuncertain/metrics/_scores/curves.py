"""Bands around ROC and precision-recall curves, for the whole curve or for one threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.scores.delong import area, average_precision
from skuncertain._numerics.scores.rate_boxes import Boxes
from skuncertain._utils.typing import LabelLike
from skuncertain._utils.validation import (
    as_numbers,
    check_choice,
    check_level,
    check_number,
    data_frame,
    refuse_if,
)
from skuncertain._version import __version__
from skuncertain.metrics._scores.pointwise import RateAtRate, Technique
from skuncertain.metrics._scores.ranking import ranking_posterior
from skuncertain.metrics._scores.scored_rows import ScoredRows, of_folds
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._beta import calibrated_beta

BANDS = ("simultaneous", "pointwise")
_MOST_EXACT = 1001  # places at which a pointwise band is solved for
_GRID = 201  # places at which a pointwise band is given


@dataclass(frozen=True, eq=False, repr=False)
class _Band:
    """What both bands share."""

    level: float
    band: str
    n_positive: int
    n_negative: int
    pos_label: Any
    area: Posterior
    low: np.ndarray
    high: np.ndarray
    thresholds: np.ndarray
    boxes: Boxes
    rate: RateAtRate | None
    omega: tuple[float, float]

    _axes = ("x", "y")

    @property
    def method(self) -> str | None:
        """How single rates get their intervals in a pointwise band."""
        return None if self.rate is None else self.rate.technique.method

    def __repr__(self):
        low, high = self.area.interval(self.level)
        label = "" if self.pos_label == 1 else f"pos_label={self.pos_label!r}, "
        return (
            f"{type(self).__name__}({self.band}, level={self.level:g}, {label}"
            f"{self.n_positive} positives, {self.n_negative} negatives, {self.area.metric}="
            f"{float(self.area.observed):.3f} [{low:.3f}, {high:.3f}]{self._weights()})"
        )

    def _weights(self):
        """Weights of the rows in words; empty without folds."""
        same = self.omega == (1.0, 1.0)
        return "" if same else ", omega {:.2f} and {:.2f}".format(*self.omega)

    def _arrays(self):
        x, y = self._axes
        names = (x, "low", "high", f"curve_{x}", f"curve_{y}", "thresholds")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            The arrays as lists, and what was asked.
        """
        return {
            **{name: values.tolist() for name, values in self._arrays().items()},
            "band": self.band,
            "method": self.method,
            "level": self.level,
            "n_positive": self.n_positive,
            "n_negative": self.n_negative,
            "omega": list(self.omega),
            "pos_label": self.pos_label,
            "area": self.area.to_dict(self.level),
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Band as a table.

        Returns
        -------
        pandas.DataFrame
            One row per step of the band.
        """
        size = len(getattr(self, self._axes[0]))
        return data_frame(self, {k: v for k, v in self._arrays().items() if len(v) == size})


@dataclass(frozen=True, eq=False, repr=False)
class RocBand(_Band):
    """ROC curve with a band.

    Parameters
    ----------
    level : float
        Probability of the band.
    band : str
        "simultaneous" or "pointwise".
    n_positive, n_negative : int
        Rows of both classes.
    pos_label : label
        The positive class.
    area : Posterior
        Posterior of the area under the curve.
    low, high : ndarray of shape (k,)
        Smallest and largest true positive rate at the false positive rates `fpr`.
    thresholds : ndarray
        Thresholds of the empirical curve.
    boxes : Boxes
        Rectangles around its points, whose hull is the simultaneous band.
    rate : RateAtRate or None
        Distributions of the true positive rate at false positive rates, of a pointwise band.
    omega : tuple of two float
        What a positive and a negative row count: less than 1 in folds.
    fpr : ndarray of shape (k,)
        Where the band is given.
    curve_fpr, curve_tpr : ndarray
        The empirical curve, as ``sklearn.metrics.roc_curve`` draws it.

    See Also
    --------
    roc_band : Makes it.

    Examples
    --------
    >>> from skuncertain.metrics import roc_band
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> roc_band(y, score)
    RocBand(simultaneous, level=0.95, 5 positives, 5 negatives, roc_auc=0.880 [0.272, 0.993])
    """

    fpr: np.ndarray
    curve_fpr: np.ndarray
    curve_tpr: np.ndarray

    _axes = ("fpr", "tpr")

    def at(self, fpr: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Give both ends of the band at false positive rates.

        Of a pointwise band they are the ends of an interval of the true positive rate there.

        Parameters
        ----------
        fpr : float or array-like
            False positive rates.

        Returns
        -------
        tuple of two ndarray
            Smallest and largest true positive rate.
        """
        fpr = as_numbers("fpr", fpr)
        if self.rate is None:
            return self.boxes.lowest_tpr(fpr), self.boxes.highest_tpr(fpr)
        return _at_places(partial(self.rate.interval, level=self.level), fpr)


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallBand(_Band):
    """Precision-recall curve with a band.

    Parameters
    ----------
    level : float
        Probability of the band.
    band : str
        "simultaneous" or "pointwise".
    n_positive, n_negative : int
        Rows of both classes.
    pos_label : label
        The positive class.
    area : Posterior
        Posterior of the average precision.
    low, high : ndarray of shape (k,)
        Smallest and largest precision at the recalls `recall`.
    thresholds : ndarray
        Thresholds of the empirical curve.
    boxes : Boxes
        Rectangles around its points, whose hull is the simultaneous band.
    rate : RateAtRate or None
        Distributions of the false positive rate at recalls, of a pointwise band.
    omega : tuple of two float
        What a positive and a negative row count: less than 1 in folds.
    recall : ndarray of shape (k,)
        Where the band is given.
    curve_recall, curve_precision : ndarray
        The empirical curve.
    prevalence : tuple of two float
        Range of the prevalence that the simultaneous band allows for.
    known : bool
        Whether the prevalence was given.

    See Also
    --------
    precision_recall_band : Makes it.

    Examples
    --------
    >>> from skuncertain.metrics import precision_recall_band
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> score = [0.1, 0.3, 0.4, 0.6, 0.7, 0.5, 0.65, 0.8, 0.85, 0.9]
    >>> precision_recall_band(y, score, prevalence=0.5)
    PrecisionRecallBand(simultaneous, level=0.95, 5 positives, 5 negatives,
    average_precision=0.903 [0.389, 0.993])
    """

    recall: np.ndarray
    curve_recall: np.ndarray
    curve_precision: np.ndarray
    prevalence: tuple
    known: bool

    _axes = ("recall", "precision")

    def at(self, recall: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Give both ends of the band at recalls.

        Of a pointwise band they are the ends of an interval of the precision there.

        Parameters
        ----------
        recall : float or array-like
            Recalls.

        Returns
        -------
        tuple of two ndarray
            Smallest and largest precision.
        """
        recall = as_numbers("recall", recall)
        if self.rate is None:
            return (
                _precision(recall, self.boxes.highest_fpr(recall), self.prevalence[0]),
                _precision(recall, self.boxes.lowest_fpr(recall), self.prevalence[1]),
            )
        share: Any = self.n_positive + 0.5, self.n_negative + 0.5
        share = self.prevalence[0] if self.known else share
        return _at_places(partial(self.rate.precision, prevalence=share, level=self.level), recall)


def _at_places(ends, x):
    """Both ends at many places; between neighbours on a grid if there are thousands of them."""
    places, which = np.unique(x, return_inverse=True)
    if places.size > _MOST_EXACT:
        share = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, _MOST_EXACT))
        grid = places[0] + (places[-1] - places[0]) * share
        found = [np.interp(places, grid, end) for end in ends(grid)]
    else:
        found = ends(places)
    return tuple(end[which].reshape(x.shape) for end in found)


def roc_band(
    y_true: ArrayLike,
    y_score: Any,
    *,
    level: float = 0.95,
    band: str = "simultaneous",
    method: str | None = None,
    prior: float | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
) -> RocBand:
    """ROC curve with a band around it.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, two classes (or one against the rest, by `pos_label`).
    y_score : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores, see :func:`auc_posterior`. Those of the folds of a cross-validator are ranked
        together; its rows count less than 1 each, as in its intervals of recall and false positive
        rate.
    level : float, default=0.95
        Probability of the band.
    band : {"simultaneous", "pointwise"}, default="simultaneous"
        For the whole curve at once, or for the true positive rate at one false positive rate.
    method : str, default=None
        Of single rates in a pointwise band: "beta" (the default), "wilson", "clopper_pearson",
        "agresti_coull" or "jeffreys".
    prior : float, default=None
        Pseudo-rows on each side of a rate, for method "beta"; by default 1/2.
    labels, pos_label : object, default=None
        See :func:`average_precision_posterior`.

    Returns
    -------
    RocBand
        The band as steps, the empirical curve and the area.

    See Also
    --------
    RocBandDisplay : Draws it.
    auc_posterior : Interval of the area; the area between the bands is far too wide for that.

    Notes
    -----
    "simultaneous": in both classes all order statistics lie within Beta quantiles of one local
    level, chosen so that they do so together. The band is the hull of the boxes that this leaves
    for (false positive rate, true positive rate). "pointwise": the threshold that has a false
    positive rate is uncertain by a binomial number of negatives; the true positive rate is a
    mixture over it, as the slope of the curve says. A threshold that is known is easier:
    :func:`intervals_at_thresholds`.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.metrics import roc_band
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> band = roc_band(y, y + rng.normal(size=200))
    >>> low, high = band.at(0.2)
    >>> bool(low < 0.6 < high)
    True
    """
    level, band = check_level(level), check_choice("band", band, BANDS)
    technique = Technique.checked(method, prior, band)
    rows = _one_ranking(y_true, y_score, labels, pos_label)
    positive, score = rows.problem(0)
    omega = rows.rate_weights()
    boxes = Boxes.of(positive, score, level, technique, omega)
    rate = technique and RateAtRate.of(score[positive], score[~positive], technique, omega)
    hits, false = _curve(positive, score)
    found = RocBand(
        level=level,
        band=band,
        n_positive=int(positive.sum()),
        n_negative=int((~positive).sum()),
        pos_label=rows.labels[rows.classes[0]],
        area=ranking_posterior(rows, area, "roc_auc"),
        fpr=_places(boxes.fpr, rate),
        low=np.empty(0),
        high=np.empty(0),
        curve_fpr=np.r_[0.0, false / false[-1]],
        curve_tpr=np.r_[0.0, hits / hits[-1]],
        thresholds=boxes.thresholds[:-1],
        boxes=boxes,
        rate=rate,
        omega=omega,
    )
    return _with_ends(found)


def precision_recall_band(
    y_true: ArrayLike,
    y_score: Any,
    *,
    level: float = 0.95,
    band: str = "simultaneous",
    method: str | None = None,
    prior: float | None = None,
    prevalence: float | None = None,
    labels: Any = None,
    pos_label: LabelLike = None,
) -> PrecisionRecallBand:
    """Precision-recall curve with a band around it.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Scores, see :func:`roc_band`.
    level : float, default=0.95
        Probability of the band.
    band : {"simultaneous", "pointwise"}, default="simultaneous"
        For the whole curve at once, or for the precision at one recall.
    method, prior : object, default=None
        Of single rates in a pointwise band, see :func:`roc_band`.
    prevalence : float, default=None
        Share of positives, if it is known or that of another population is meant. By default it is
        as uncertain as the rows leave it.
    labels, pos_label : object, default=None
        See :func:`average_precision_posterior`.

    Returns
    -------
    PrecisionRecallBand
        The band as steps, the empirical curve and the average precision.

    See Also
    --------
    PrecisionRecallBandDisplay : Draws it.
    average_precision_posterior : Interval of the area.

    Notes
    -----
    Precision is a function of recall, false positive rate and prevalence. The band is that of
    :func:`roc_band`, seen from the recall; a simultaneous one has the least and the greatest
    prevalence, a pointwise one the distribution of its odds.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.metrics import precision_recall_band
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> precision_recall_band(y, y + rng.normal(size=200)).area.metric
    'average_precision'
    """
    level, band = check_level(level), check_choice("band", band, BANDS)
    technique = Technique.checked(method, prior, band)
    rows = _one_ranking(y_true, y_score, labels, pos_label)
    positive, score = rows.problem(0)
    m1, m0 = int(positive.sum()), int((~positive).sum())
    if prevalence is None:
        share = level ** (1 / 3)  # three things must hold
        shares: Any = calibrated_beta(m1, m0).interval(share)
        curve_level = share**2
    else:
        prevalence = check_number("prevalence", prevalence, low=1e-12, high=1 - 1e-12, percent=0)
        shares, curve_level = (prevalence, prevalence), level
    omega = rows.rate_weights()
    boxes = Boxes.of(positive, score, curve_level, technique, omega)
    rate = technique and RateAtRate.of(score[~positive], score[positive], technique, omega[::-1])
    estimate = partial(average_precision, prevalence=prevalence)
    hits, false = _curve(positive, score)
    recall, observed = hits / m1, prevalence or m1 / (m1 + m0)
    found = PrecisionRecallBand(
        level=level,
        band=band,
        n_positive=m1,
        n_negative=m0,
        pos_label=rows.labels[rows.classes[0]],
        area=ranking_posterior(rows, estimate, "average_precision"),
        recall=_places(boxes.tpr, rate),
        low=np.empty(0),
        high=np.empty(0),
        curve_recall=recall,
        curve_precision=_precision(recall, false / m0, observed),
        thresholds=boxes.thresholds[1:-1],
        prevalence=(float(shares[0]), float(shares[1])),
        known=prevalence is not None,
        boxes=boxes,
        rate=rate,
        omega=omega,
    )
    return _with_ends(found)


def _places(ends, rate):
    """Where a band is given: where its steps are, or on a grid."""
    if rate is not None:
        return np.linspace(0, 1, _GRID)
    return np.unique(np.concatenate([[0.0, 1.0], *ends]))


def _with_ends(found):
    low, high = found.at(getattr(found, found._axes[0]))
    return replace(found, low=low, high=high)


def _precision(tpr, fpr, prevalence):
    """Precision; where nothing is found at all it is not contradicted: 1."""
    found = prevalence * tpr + (1 - prevalence) * fpr
    return np.where(found > 0, prevalence * tpr / np.where(found > 0, found, 1.0), 1.0)


def _curve(positive, score):
    """True and false positives at every distinct threshold, from the highest down."""
    _, group = np.unique(-score, return_inverse=True)
    hits = np.bincount(group, weights=positive)
    return np.cumsum(hits), np.cumsum(np.bincount(group) - hits)


def _one_ranking(y_true, y_score, labels, pos_label):
    pooling = "pooled" if of_folds(y_score) else None
    rows = ScoredRows.of(y_true, y_score, labels, pos_label, pooling, what="the curve")
    refuse_if(
        rows.n_scored > 1,
        "pos_label",
        f"a curve is about one class, and there are {rows.n_scored}: name it with pos_label=.",
    )
    return rows
