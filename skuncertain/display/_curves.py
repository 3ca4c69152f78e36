"""ROC and precision-recall curves with their bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import level_text, spoken, spoken_interval
from skuncertain._utils.typing import LabelLike
from skuncertain._utils.validation import check_bool
from skuncertain.display._base import Display, draw_iso_f1, merged, style
from skuncertain.display._inputs import as_named, scores_of_folds
from skuncertain.display._text import listed, visible_label
from skuncertain.metrics._scores.curves import (
    PrecisionRecallBand,
    RocBand,
    precision_recall_band,
    roc_band,
)
from skuncertain.metrics._scores.scored_rows import classifier_scores, of_folds
from skuncertain.posteriors._about import label_text

_POINTS = 501


@dataclass(kw_only=True, eq=False, repr=False)
class _CurveDisplay(Display):
    """What both curves share: constructors and the drawing of band and curve."""

    _make: ClassVar[Callable]
    _wanted: ClassVar[type]
    _area_name: ClassVar[str]
    _drawstyle: ClassVar[str] = "default"
    bands: dict

    @classmethod
    def from_band(
        cls, bands: Any, *, ax: Any = None, name: str | None = None, **plot_kwargs: Any
    ) -> Self:
        """Plot bands that are computed already.

        Parameters
        ----------
        bands : RocBand, PrecisionRecallBand or dict
            A band, or bands by the name of the model.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
        entries = as_named(bands, cls._wanted, "bands")
        return cls._shown({"bands": entries}, ax, name, plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        level: float = 0.95,
        band: str = "simultaneous",
        labels: Any = None,
        pos_label: LabelLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot from true labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_score : array-like of shape (n,), BayesianCrossValidator or dict
            Scores of the positive class, or scores by the name of the model.
        level : float, default=0.95
            Probability of the band.
        band : {"simultaneous", "pointwise"}, default="simultaneous"
            For the whole curve at once, or for one place on the x axis.
        labels, pos_label : object, default=None
            See :func:`average_precision_posterior`.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        Display
            The display, plotted.
        """
        cls._check_options(plot_kwargs)
        if name is None and of_folds(y_score):
            name = "folds pooled"  # not the mean of the areas of the folds
        scores = y_score if isinstance(y_score, dict) else {None: y_score}
        options = {"level": level, "band": band, "labels": labels, "pos_label": pos_label}
        bands = {key: cls._make(y_true, score, **options) for key, score in scores.items()}
        return cls.from_band(bands, ax=ax, name=name, **plot_kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        pos_label: LabelLike = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Plot from a fitted classifier and test rows.

        Parameters
        ----------
        estimator : object
            Fitted classifier with ``predict_proba`` or ``decision_function``.
        X : array-like of shape (n, features)
            Test rows.
        y : array-like of shape (n,)
            True labels.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.
        name : str, default=None
            Name of the model; by default the class of the estimator.
        **options : dict
            All other arguments of `from_predictions`.

        Returns
        -------
        Display
            The display, plotted.
        """
        cls._check_options([key for key in options if key not in ("level", "band", "ax")])
        score, label, _ = classifier_scores(estimator, X, pos_label, parameter="estimator", y=y)
        return cls.from_predictions(
            y,
            score,
            labels=list(estimator.classes_),
            pos_label=label,
            name=type(estimator).__name__ if name is None else name,
            **options,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict,
        X: Any,
        y: ArrayLike,
        *,
        pos_label: LabelLike = None,
        **options: Any,
    ) -> Self:
        """Plot from the result of ``cross_validate``.

        Parameters
        ----------
        cv_results : dict
            Of ``cross_validate(..., return_estimator=True, return_indices=True)``, every row
            tested once. The scores of all test rows are ranked together. In the area rows count
            less than independent ones, see :func:`auc_posterior`.
        X : array-like of shape (n, features)
            The rows.
        y : array-like of shape (n,)
            True labels.
        pos_label : label, default=None
            Positive class, see :class:`ConfusionCounts`.
        **options : dict
            All other arguments of `from_predictions`.

        Returns
        -------
        Display
            The display, plotted.
        """
        return cls.from_predictions(y, scores_of_folds(cv_results, X, y, pos_label), **options)

    def _band_text(self, key, found, name):
        text = spoken_interval(float(found.area.observed), *found.area.interval(found.level))
        title = name if key is None else key
        return f"{title}: {self._area_name} {text}" if title else f"{self._area_name} {text}"

    def _draw(self, ax, name, line_kwargs, fill_kwargs):
        self.lines_, self.fills_ = [], []
        before = len(ax.get_legend_handles_labels()[1])  # models of an earlier display
        grid = np.linspace(0, 1, _POINTS)
        for k, (key, found) in enumerate(self.bands.items()):
            colour, _, dashes = style(before + k)
            low, high = found.at(grid)
            fill = {"color": colour, "alpha": 0.18, "linewidth": 0.0}
            self.fills_.append(
                ax.fill_between(grid, low, high, **merged("fill_kwargs", fill, fill_kwargs))
            )
            for end in (low, high):
                ax.plot(grid, end, color=colour, linewidth=0.8, linestyle=dashes, alpha=0.8)
            text = self._band_text(key, found, name if len(self.bands) == 1 else None)
            line = {
                "color": colour,
                "linewidth": 1.8,
                "linestyle": dashes,
                "drawstyle": self._drawstyle,
                "label": visible_label(text),
            }
            line = merged("line_kwargs", line, line_kwargs)
            self.lines_ += ax.plot(*self._curve(found), **line)
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")

    def _about(self):
        first = next(iter(self.bands.values()))
        return f"{level_text(first.level)} {first.band} band"

    def _class(self):
        """Class that all curves are about, in words; empty for 1, the usual one."""
        found = {band.pos_label for band in self.bands.values()}
        if len(found) > 1 or found <= {1, None}:
            return ""
        return f" of class {label_text(*found)}"

    def _columns(self):
        grid, first = np.linspace(0, 1, _POINTS), next(iter(self.bands.values()))
        names = np.repeat(np.array(list(self.bands), dtype=object), _POINTS)
        low, high = np.concatenate([found.at(grid) for found in self.bands.values()], axis=1)
        x = np.tile(grid, len(self.bands))
        return {"name": names, first._axes[0]: x, "low": low, "high": high}

    def _sentences(self):
        first = next(iter(self.bands.values()))
        x, y = first._axes
        what = f"{type(self).__name__[:-7]} of {y} against {x}{self._class()}"
        yield f"{what} with a {self._about()}."
        texts = []
        for key, found in self.bands.items():
            ends = " to ".join(spoken(float(end)) for end in found.at(0.5))
            texts.append(f"{self._band_text(key, found, None)}, band at {x} 0.5 from {ends}")
        yield listed(texts)


class RocBandDisplay(_CurveDisplay):
    """ROC curves with bands, and the area in the legend.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    bands : dict
        :class:`RocBand` by the name of the model; a single one has the name None.

    Attributes
    ----------
    ax_, figure_ : object
        Where it is drawn.
    lines_, fills_ : list
        Curves and bands.
    legend_ : object
        The legend.

    See Also
    --------
    roc_band : The numbers.
    PrecisionRecallBandDisplay : The other curve.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.display import RocBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> display = RocBandDisplay.from_predictions(y, y + rng.normal(size=200))
    >>> display.to_frame().shape
    (501, 4)
    """

    _make = staticmethod(roc_band)
    _wanted = RocBand
    _area_name = "AUC"

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        plot_chance_level: bool = True,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> RocBandDisplay:
        """Draw curves and bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Label of a single model, title of several.
        plot_chance_level : bool, default=True
            Whether to draw the diagonal.
        line_kwargs, fill_kwargs, legend_kwargs : dict, default=None
            Options for the curves, the bands and the legend.

        Returns
        -------
        RocBandDisplay
            The display itself.
        """
        check_bool("plot_chance_level", plot_chance_level)
        ax = self._start(ax, 4.9, 5.2)
        self.chance_line_ = None
        if plot_chance_level:
            (self.chance_line_,) = ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
        self._draw(ax, name, line_kwargs, fill_kwargs)
        return self._finish(
            xlabel=f"false positive rate{self._class()}; shaded: {self._about()}",
            ylabel=f"true positive rate{self._class()}",
            title=name if len(self.bands) > 1 else None,
            legend=ax.get_legend_handles_labels(),
            legend_kwargs=legend_kwargs,
        )

    @staticmethod
    def _curve(found):
        return found.curve_fpr, found.curve_tpr


class PrecisionRecallBandDisplay(_CurveDisplay):
    """Precision-recall curves with bands, and the average precision in the legend.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    bands : dict
        :class:`PrecisionRecallBand` by the name of the model; a single one has the name None.

    Attributes
    ----------
    ax_, figure_ : object
        Where it is drawn.
    lines_, fills_, iso_lines_ : list
        Curves, bands and lines of equal F1.
    legend_ : object
        The legend.

    See Also
    --------
    precision_recall_band : The numbers.
    RocBandDisplay : The other curve.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.display import PrecisionRecallBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> display = PrecisionRecallBandDisplay.from_predictions(y, y + rng.normal(size=200))
    >>> display.to_frame().shape
    (501, 4)
    """

    _make = staticmethod(precision_recall_band)
    _wanted = PrecisionRecallBand
    _area_name = "AP"
    _drawstyle = "steps-pre"  # as average precision adds up the area

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        iso_f1: bool = False,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> PrecisionRecallBandDisplay:
        """Draw curves and bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Label of a single model, title of several.
        iso_f1 : bool, default=False
            Whether to draw lines of equal F1.
        line_kwargs, fill_kwargs, legend_kwargs : dict, default=None
            Options for the curves, the bands and the legend.

        Returns
        -------
        PrecisionRecallBandDisplay
            The display itself.
        """
        check_bool("iso_f1", iso_f1)
        ax = self._start(ax, 4.9, 5.2)
        self._draw(ax, name, line_kwargs, fill_kwargs)
        self.iso_lines_ = draw_iso_f1(ax) if iso_f1 else []
        return self._finish(
            xlabel=f"recall{self._class()}; shaded: {self._about()}",
            ylabel=f"precision{self._class()}",
            title=name if len(self.bands) > 1 else None,
            legend=ax.get_legend_handles_labels(),
            legend_kwargs=legend_kwargs,
        )

    @staticmethod
    def _curve(found):
        # From recall 0 on, at the precision of the first rows that are found.
        return np.r_[0.0, found.curve_recall], np.r_[
            found.curve_precision[:1], found.curve_precision
        ]
