"""Calibration of predicted probabilities: shares of positives in bins, slope and intercept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.scores.calibration import bin_edges, bin_numbers, mean_deviation
from skuncertain._reporting.build import check_digits, column, interval_cell, make_report, section
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.typing import LabelLike, PriorLike
from skuncertain._utils.validation import (
    check_choice,
    check_integer,
    check_kind,
    check_level,
    check_number,
    data_frame,
)
from skuncertain._version import __version__
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._credible import proportion_posterior
from skuncertain.metrics._priors import LARGEST, PER_CELL
from skuncertain.metrics._scores.probabilities import probability_rows
from skuncertain.metrics._scores.recalibration import CLIP, recalibrate
from skuncertain.posteriors._base import Posterior

STRATEGIES = ("quantile", "uniform")
_HISTOGRAM = np.linspace(0.0, 1.0, 21)
_READING = (
    "A model is calibrated if, among rows with a predicted probability of 0.3, 30 % are positive. "
    "Every interval is for its bin alone: among ten 95 % intervals of a calibrated model at least "
    "one misses the predicted mean in two of five test sets.",
    "A slope below 1 says that predictions are too extreme, above 1 that they are too moderate. "
    "The intercept in the large is above 0 if predictions are too low as a whole.",
    "The expected calibration error (ECE) of a finite test set is above 0 even if the model is "
    "calibrated: compare it with its mean in that case, not with 0.",
)
_POOLED = "the probabilities come from several models of a cross-validation, whose rows are pooled."


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationBand(HasReport):
    """Share of positives along the predicted probability, with intervals.

    Parameters
    ----------
    left, right : ndarray of shape (k,)
        Edges of the bins that hold rows; a probability on an edge belongs to the bin below it.
    n_rows : ndarray of int of shape (k,)
        Rows of every bin.
    mean_predicted, observed : ndarray of shape (k,)
        Mean predicted probability, and share of rows that are positive.
    low, high : ndarray of shape (k,)
        Ends of the intervals of that share.
    shares : Posterior
        Posterior of the shares, a stack of shape (k,).
    slope, intercept : Posterior or None
        Of logit P(y = 1) = intercept + slope * logit(p); None if all probabilities are equal.
    intercept_in_the_large : Posterior
        Of the intercept if the slope is 1.
    observed_minus_predicted : Posterior
        Of the share of positives less the mean predicted probability, all rows together.
    ece, expected_ece : float
        Expected calibration error of these bins, and its mean if the model were calibrated.
    level, kind, prior, n_bins, strategy, clip : object
        As asked.
    n : int
        Number of rows.
    n_clipped : int
        Rows whose probability was moved to `clip` or 1 - `clip` for the coefficients.
    pos_label : label
        The positive class.
    n_folds : int or None
        Folds of a cross-validation.
    omega : dict or None
        What a row of a cross-validation counts, by what is asked.
    histogram : ndarray of int of shape (20,)
        Rows by their probability, in steps of .05.
    warnings : tuple of str
        What is told in the report.

    See Also
    --------
    calibration_band : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.metrics import calibration_band
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=400)
    >>> calibration_band(rng.uniform(size=400) < p, p)
    CalibrationBand(10 quantile bins, level=0.95, n=400, slope=1.03 [0.84, 1.27],
    intercept=-0.04 [-0.29, 0.21], ece=0.052 (0.049 if calibrated))
    """

    left: np.ndarray
    right: np.ndarray
    n_rows: np.ndarray
    mean_predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shares: Posterior
    slope: Posterior | None
    intercept: Posterior | None
    intercept_in_the_large: Posterior
    observed_minus_predicted: Posterior
    ece: float
    expected_ece: float
    level: float
    kind: str
    prior: Any
    n_bins: int
    strategy: str
    clip: float
    n: int
    n_clipped: int
    pos_label: Any
    n_folds: int | None
    omega: dict | None
    histogram: np.ndarray
    warnings: tuple = ()

    def __repr__(self):
        label = "" if self.pos_label == 1 else f"pos_label={self.pos_label!r}, "
        folds = "" if self.n_folds is None else f"{self.n_folds} folds, "
        return (
            f"CalibrationBand({len(self.n_rows)} {self.strategy} bins, level={self.level:g}, "
            f"n={self.n}, {folds}{label}{self.coefficients_text()}, ece={self.ece:.3f} "
            f"({self.expected_ece:.3f} if calibrated))"
        )

    def coefficients_text(self) -> str:
        """Slope and intercept with their intervals.

        Returns
        -------
        str
            Such as "slope=1.03 [0.84, 1.27], intercept=-0.04 [-0.29, 0.21]".
        """
        parts = []
        for name in ("slope", "intercept"):
            posterior = getattr(self, name)
            if posterior is None:
                parts.append(f"{name}=undefined")
                continue
            low, high = posterior.interval(self.level, self.kind)
            parts.append(f"{name}={posterior.observed:.2f} [{low:.2f}, {high:.2f}]")
        return ", ".join(parts)

    @property
    def outside(self) -> np.ndarray:
        """Whether the mean predicted probability of a bin lies outside its interval."""
        return (self.mean_predicted < self.low) | (self.mean_predicted > self.high)

    def _columns(self):
        names = ("left", "right", "n_rows", "mean_predicted", "observed", "low", "high")
        return {name: getattr(self, name) for name in names}

    def _coefficients(self):
        """Posteriors by name; those that are not defined are left out."""
        names = ("slope", "intercept", "intercept_in_the_large", "observed_minus_predicted")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            The columns of the bins as lists, every coefficient, and what was asked.
        """
        found = {
            name: one.to_dict(self.level, self.kind) for name, one in self._coefficients().items()
        }
        return {
            **{name: values.tolist() for name, values in self._columns().items()},
            "slope": None,
            "intercept": None,
            **found,
            "ece": self.ece,
            "expected_ece": self.expected_ece,
            "level": self.level,
            "kind": self.kind,
            "prior": self.prior,
            "n_bins": self.n_bins,
            "strategy": self.strategy,
            "clip": self.clip,
            "n": self.n,
            "n_clipped": self.n_clipped,
            "pos_label": self.shares.about.to_dict()["pos_label"],
            "n_folds": self.n_folds,
            "omega": self.omega and {k: np.asarray(w).tolist() for k, w in self.omega.items()},
            "histogram": self.histogram.tolist(),
            "warnings": list(self.warnings),
            "skuncertain": __version__,
        }

    def to_frame(self) -> Any:
        """Table with one row per bin.

        Returns
        -------
        pandas.DataFrame
            Edges, rows, mean predicted probability, observed share and its interval.
        """
        return data_frame(self, self._columns())

    def _bin_section(self):
        ends = zip(self.left, self.right, strict=True)
        cells = zip(self.low, self.high, self.observed, strict=True)
        rows = [
            {"bin": f"{a:.3g} to {b:.3g}", "rows": int(n), "predicted": float(p), "observed": cell}
            for (a, b), n, p, cell in zip(
                ends,
                self.n_rows,
                self.mean_predicted,
                (interval_cell((low, high), value) for low, high, value in cells),
                strict=True,
            )
        ]
        away = int(self.outside.sum())
        return section(
            "Bins of the predicted probability",
            ["bin", column("rows", digits=0), "predicted", "observed"],
            rows,
            notes=[f"{away} of {len(rows)} intervals do not hold the mean predicted probability"],
            figure={"type": "methods", "columns": ["observed"]},
        )

    def _coefficient_section(self):
        wanted = {"slope": 1.0}
        rows = [
            {
                "name": name.replace("_", " "),
                "if calibrated": wanted.get(name, 0.0),
                "found": interval_cell(one.interval(self.level, self.kind), float(one.observed)),
            }
            for name, one in self._coefficients().items()
        ]
        rows.append({"name": "ECE", "if calibrated": self.expected_ece, "found": self.ece})
        return section("Recalibration", ["name", "if calibrated", "found"], rows)

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """Show bins and coefficients in words, numbers and plots.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        weights = None
        if self.omega is not None:
            every = np.concatenate([np.ravel(w) for w in self.omega.values()])
            weights = f"{every.min():.2f} to {every.max():.2f}"
        whose = "this model" if self.n_folds is None else "the models of these folds"
        return make_report(
            "calibration",
            "Calibration report",
            settings={
                "level": self.level,
                "kind": self.kind,
                "prior": f"{self.shares.prior} for shares, Jeffreys' for slope and intercept",
                "method": f"{self.n_bins} {self.strategy} bins and a logistic recalibration",
                "n": self.n,
                "k": None if self.n_folds is None else f"{self.n_folds} folds",
                "omega": weights,
                "pos_label": self.pos_label,
            },
            question=f"Are the probabilities of {whose} right, on rows like these {self.n}?",
            sections={"bins": self._bin_section(), "recalibration": self._coefficient_section()},
            warnings=self.warnings,
            reading=_READING,
            digits=check_digits(digits),
        )


def calibration_band(
    y_true: ArrayLike,
    y_proba: Any,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    level: float = 0.95,
    kind: str = "eti",
    prior: PriorLike = "auto",
    clip: float = CLIP,
    labels: Any = None,
    pos_label: LabelLike = None,
) -> CalibrationBand:
    """Compare predicted probabilities with what was observed, with intervals.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels, two classes (or one against the rest, by `pos_label`).
    y_proba : array-like of shape (n,) or (n, C), or BayesianCrossValidator
        Probabilities of the positive class, or of all classes: rows must add up to 1 within .001. A
        :class:`BayesianCrossValidator` with ``keep_predictions=True`` brings its out-of-fold
        probabilities, and its omega and prior: rows of folds count less than 1 each.
    n_bins : int, default=10
        Number of bins; those without a row are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins with about equally many rows, or of equal width, as scikit-learn makes them.
    level : float, default=0.95
        Probability of the intervals.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    prior : str or float, default="auto"
        Of the shares, see :func:`proportion_posterior`; that of the folds in a cross-validation.
    clip : float, default=1e-6
        Probabilities below it, or above 1 less it, count as that in slope and intercepts.
    labels, pos_label : object, default=None
        See :func:`average_precision_posterior`.

    Returns
    -------
    CalibrationBand
        Bins, slope and intercept, calibration in the large, and ECE beside its mean by chance.

    See Also
    --------
    CalibrationBandDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.metrics import calibration_band
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=400)
    >>> band = calibration_band(rng.uniform(size=400) < p**2, p, n_bins=4)
    >>> band.to_frame()[["mean_predicted", "low", "high"]].round(2).to_numpy()[1]
    array([0.42, 0.1 , 0.24])
    """
    level, kind = check_level(level), check_kind(kind)
    n_bins = check_integer("n_bins", n_bins, low=1, high=10**6)
    strategy = check_choice("strategy", strategy, STRATEGIES)
    clip = check_number("clip", clip, low=1e-300, high=0.1)
    prior = _check_prior(prior)
    rows = probability_rows(y_true, y_proba, labels, pos_label)
    positive, p = rows.problem(0)
    edges = bin_edges(p, n_bins, strategy)
    used, number = np.unique(bin_numbers(p, edges), return_inverse=True)
    n_rows = np.bincount(number)
    shares = _shares(rows, number, prior)
    low, high = shares.interval(level, kind)
    found = recalibrate(rows, clip)
    observed = np.bincount(number, weights=positive) / n_rows
    predicted = np.bincount(number, weights=p) / n_rows
    deviations = [mean_deviation(p[number == k]) for k in range(used.size)]
    return CalibrationBand(
        left=edges[used],
        right=edges[used + 1],
        n_rows=n_rows,
        mean_predicted=predicted,
        observed=observed,
        low=low,
        high=high,
        shares=shares,
        **found.posteriors,
        ece=float(n_rows @ np.abs(observed - predicted) / p.size),
        expected_ece=float(np.sum(deviations) / p.size),
        level=level,
        kind=kind,
        prior=prior,
        n_bins=n_bins,
        strategy=strategy,
        clip=clip,
        n=p.size,
        n_clipped=found.n_clipped,
        pos_label=rows.labels[rows.classes[0]],
        n_folds=_n_folds(rows),
        omega=_omega(shares, found),
        histogram=np.histogram(p, _HISTOGRAM)[0],
        warnings=(*([] if rows.options is None else [_POOLED]), *found.warnings),
    )


def _check_prior(prior):
    """Name or number: pseudo-rows on each side of a share."""
    if isinstance(prior, str):
        return check_choice("prior", prior, ("auto", *PER_CELL))
    return check_number("prior", prior, low=0, high=LARGEST)


def _n_folds(rows):
    return None if rows.tested_in is None else int(rows.tested_in.max()) + 1


def _shares(rows, number, prior):
    """Posterior of the share of positives in every bin."""
    positive, _ = rows.problem(0)
    label = rows.labels[rows.classes[0]]
    about = {"metric": "share of positives", "pos_label": label, "greater_is_better": None}
    k = int(number.max()) + 1
    if rows.options is None:
        hits, all_rows = (np.bincount(number[part], minlength=k) for part in (positive, ...))
        posterior = proportion_posterior(hits, np.ravel(all_rows) - hits, prior=prior)
        return posterior.with_about(**about, estimand="final")
    # What lies in a bin is called positive, as above a threshold: the share is its precision.
    folds = _n_folds(rows)
    place = number * folds + rows.tested_in
    hits, misses = (
        np.bincount(place[part], minlength=k * folds).reshape(k, folds)
        for part in (positive, ~positive)
    )
    counts = ConfusionCounts.from_binary(
        tp=hits, fp=misses, fn=hits.sum(axis=0) - hits, tn=misses.sum(axis=0) - misses
    )
    return rows.options.answer(counts, "precision", prior).with_about(**about)


def _omega(shares, found):
    """What a row counts; None without folds."""
    if found.omega is None:
        return None
    return {"shares": shares.diagnostics.omega, **found.omega}
