"""ROC and precision-recall curves with their bands."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._curve_bands import PrecisionRecallBand, RocBand, pr_band, roc_band
from skuncertain._cv_counts import take_rows
from skuncertain._labels import as_labels
from skuncertain._plot._base import Display, draw_iso_f1, merged, style
from skuncertain._plot._text import interval_text, kept, listed, show
from skuncertain._score_input import FoldScores, classifier_scores, of_folds
from skuncertain._validation import check_bool

_POINTS = 501


class _CurveDisplay(Display):
    """What both curves share: constructors and the drawing of band and curve."""

    _make: ClassVar[Callable]
    _wanted: ClassVar[type]
    _area_name: ClassVar[str]
    _drawstyle: ClassVar[str] = "default"
    lines_: list
    fills_: list
    legend_: Any

    def __init__(self, *, bands: dict) -> None:
        self.bands = bands

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
        entries = dict(bands) if hasattr(bands, "items") else {None: bands}
        for one in entries.values():
            if not isinstance(one, cls._wanted):
                raise TypeError(
                    f"bands must be {cls._wanted.__name__}, or a dict of them by name, got "
                    f"{type(one).__name__}."
                )
        if not entries:
            raise ValueError("bands must hold at least one band, got an empty dict.")
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
        pos_label: Any = None,
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
            For the whole curve at once, or for one threshold that was chosen before.
        labels, pos_label : object, default=None
            See :func:`auc_posterior`.
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
        pos_label: Any = None,
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
            Positive class.
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
        score, label, _ = classifier_scores(estimator, X, pos_label)
        name = type(estimator).__name__ if name is None else name
        labels = list(estimator.classes_)
        return cls.from_predictions(y, score, labels=labels, pos_label=label, name=name, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict,
        X: Any,
        y: ArrayLike,
        *,
        pos_label: Any = None,
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
            Positive class.
        **options : dict
            All other arguments of `from_predictions`.

        Returns
        -------
        Display
            The display, plotted.
        """
        if "estimator" not in cv_results or "indices" not in cv_results:
            raise ValueError(
                "cv_results must hold estimators and indices: call "
                "cross_validate(..., return_estimator=True, return_indices=True)."
            )
        tests = cv_results["indices"]["test"]
        row = np.concatenate([np.asarray(test) for test in tests])
        if np.unique(row).size < row.size:
            raise ValueError("every row must be tested once; repeated folds overlap in a curve.")
        parts, label = [], pos_label
        for estimator, test in zip(cv_results["estimator"], tests, strict=True):
            part, label, _ = classifier_scores(estimator, take_rows(X, test), pos_label)
            parts.append(part)
        labels = as_labels(list(cv_results["estimator"][0].classes_))
        scores = FoldScores(tests, parts, labels, label, len(tests), oriented=True)
        return cls.from_predictions(y, scores, **options)

    def _band_text(self, key, found, name):
        low, high = found.area.interval(found.level)
        text = interval_text(float(found.area.observed), low, high)
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
            edge = {"color": colour, "linewidth": 0.8, "linestyle": dashes, "alpha": 0.8}
            for end in (low, high):
                ax.plot(grid, end, **edge)
            alone = len(self.bands) == 1
            text = self._band_text(key, found, name if alone else None)
            line = {"color": colour, "linewidth": 1.8, "linestyle": dashes, "label": kept(text)}
            line |= {"drawstyle": self._drawstyle}
            x, y = self._curve(found)
            self.lines_ += ax.plot(x, y, **merged("line_kwargs", line, line_kwargs))
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(-0.01, 1.01)
        ax.set_aspect("equal")

    @staticmethod
    def _curve(found):
        raise NotImplementedError

    def _about(self):
        first = next(iter(self.bands.values()))
        return f"{100 * first.level:g} % {first.band} band"

    def _columns(self):
        names, tables = [], []
        for key, found in self.bands.items():
            grid = np.linspace(0, 1, _POINTS)
            tables.append(np.stack([grid, *found.at(grid)]))
            names += [key] * _POINTS
        x, low, high = np.concatenate(tables, axis=1)
        first = next(iter(self.bands.values()))
        return {
            "name": np.array(names, dtype=object),
            first._axes[0]: x,
            "low": low,
            "high": high,
        }

    def _sentences(self):
        first = next(iter(self.bands.values()))
        x, y = first._axes
        yield f"{type(self).__name__[:-7]} of {y} against {x} with a {self._about()}."
        texts = []
        for key, found in self.bands.items():
            low, high = found.at(0.5)
            where = f"band at {x} 0.5 from {show(float(low))} to {show(float(high))}"
            texts.append(f"{self._band_text(key, found, None)}, {where}")
        yield listed(texts) + "."


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
    >>> from skuncertain import RocBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> display = RocBandDisplay.from_predictions(y, y + rng.normal(size=200))
    >>> display.frame().shape
    (501, 4)
    """

    _make = staticmethod(roc_band)
    _wanted = RocBand
    _area_name = "AUC"
    chance_line_: Any

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        plot_chance_level: bool = True,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> "RocBandDisplay":
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
            xlabel=f"false positive rate; shaded: {self._about()}",
            ylabel="true positive rate",
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
    pr_band : The numbers.
    RocBandDisplay : The other curve.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain import PrecisionRecallBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> display = PrecisionRecallBandDisplay.from_predictions(y, y + rng.normal(size=200))
    >>> display.frame().shape
    (501, 4)
    """

    _make = staticmethod(pr_band)
    _wanted = PrecisionRecallBand
    _area_name = "AP"
    _drawstyle = "steps-pre"  # as average precision adds up the area
    iso_lines_: list

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        iso_f1: bool = False,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> "PrecisionRecallBandDisplay":
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
            xlabel=f"recall; shaded: {self._about()}",
            ylabel="precision",
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
