"""Calibration curves with intervals in every bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import level_text, spoken, spoken_interval
from skuncertain._utils.typing import LabelLike, PriorLike
from skuncertain._utils.validation import check_bool, check_choice, refuse_if
from skuncertain.display._base import Display, merged, style
from skuncertain.display._inputs import as_named, scores_of_folds
from skuncertain.display._text import listed, visible_label
from skuncertain.metrics._scores.calibration import CalibrationBand, calibration_band
from skuncertain.metrics._scores.scored_rows import classifier_scores, of_folds
from skuncertain.posteriors._about import label_text

_STYLES = ("bars", "band")
_STRIP = (0.0, -0.27, 1.0, 0.17)  # place of the histogram, in shares of the axes
_PAD = 0.25  # by which the label below it moves
_OPTIONS = ("n_bins", "strategy", "level", "kind", "prior", "clip", "ax")


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationBandDisplay(Display):
    """Observed share of positives against the predicted probability, with intervals.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    bands : dict
        :class:`CalibrationBand` by the name of the model; a single one has the name None.

    Attributes
    ----------
    ax_, figure_ : object
        Where it is drawn.
    lines_, fills_ : list
        Curves, and intervals.
    diagonal_ : object
        Where calibrated models are.
    histogram_ax_ : object or None
        Axes of the histogram of predictions.
    legend_ : object
        The legend.

    See Also
    --------
    calibration_band : The numbers.
    RocBandDisplay : How well the probabilities rank.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.display import CalibrationBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=400)
    >>> display = CalibrationBandDisplay.from_predictions(rng.uniform(size=400) < p, p)
    >>> display.to_frame().shape
    (10, 8)
    """

    bands: dict

    @classmethod
    def from_band(
        cls, bands: Any, *, ax: Any = None, name: str | None = None, **plot_kwargs: Any
    ) -> CalibrationBandDisplay:
        """Plot bands that are computed already.

        Parameters
        ----------
        bands : CalibrationBand or dict
            A band, or bands by the name of the model.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        CalibrationBandDisplay
            The display, plotted.
        """
        entries = as_named(bands, CalibrationBand, "bands")
        return cls._shown({"bands": entries}, ax, name, plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: Any,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        level: float = 0.95,
        kind: str = "eti",
        prior: PriorLike = "auto",
        clip: float = 1e-6,
        labels: Any = None,
        pos_label: LabelLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> CalibrationBandDisplay:
        """Plot from true labels and probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_proba : array-like of shape (n,) or (n, C), BayesianCrossValidator or dict
            Probabilities, see :func:`calibration_band`, or those of several models by name.
        n_bins, strategy, level, kind, prior, clip, labels, pos_label : object
            See :func:`calibration_band`.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        CalibrationBandDisplay
            The display, plotted.
        """
        cls._check_options(plot_kwargs)
        if name is None and of_folds(y_proba):
            name = "folds pooled"
        options = {
            "n_bins": n_bins,
            "strategy": strategy,
            "level": level,
            "kind": kind,
            "prior": prior,
            "clip": clip,
            "labels": labels,
            "pos_label": pos_label,
        }
        models = y_proba if isinstance(y_proba, dict) else {None: y_proba}
        bands = {key: calibration_band(y_true, one, **options) for key, one in models.items()}
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
    ) -> CalibrationBandDisplay:
        """Plot from a fitted classifier and test rows.

        Parameters
        ----------
        estimator : object
            Fitted classifier with ``predict_proba``.
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
        CalibrationBandDisplay
            The display, plotted.
        """
        cls._check_options([key for key in options if key not in _OPTIONS])
        _refuse_without_probabilities(estimator, "estimator")
        proba, label, _ = classifier_scores(
            estimator, X, pos_label, "predict_proba", parameter="estimator", y=y
        )
        return cls.from_predictions(
            y,
            proba,
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
    ) -> CalibrationBandDisplay:
        """Plot from the result of ``cross_validate``.

        Parameters
        ----------
        cv_results : dict
            Of ``cross_validate(..., return_estimator=True, return_indices=True)``, every row
            tested once. The rows of all folds are pooled and count less than independent ones.
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
        CalibrationBandDisplay
            The display, plotted.
        """
        for model in cv_results.get("estimator", ()):
            _refuse_without_probabilities(model, "cv_results")
        scores = scores_of_folds(cv_results, X, y, pos_label, "predict_proba")
        return cls.from_predictions(y, scores, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        style: str = "bars",
        histogram: bool = False,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> CalibrationBandDisplay:
        """Draw the curves and their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Label of a single model, title of several.
        style : {"bars", "band"}, default="bars"
            A bar in every bin, or a band through their ends.
        histogram : bool, default=False
            Whether to draw how often probabilities were predicted, below the curve.
        line_kwargs, fill_kwargs, legend_kwargs : dict, default=None
            Options for the curves, the intervals and the legend.

        Returns
        -------
        CalibrationBandDisplay
            The display itself.
        """
        check_bool("histogram", histogram)
        check_choice("style", style, _STYLES)
        ax = self._start(ax, 6.1 if histogram else 4.9, 5.2)
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
        self.lines_, self.fills_ = [], []
        before = len(ax.get_legend_handles_labels()[1])  # models of an earlier display
        for k, (key, found) in enumerate(self.bands.items()):
            title = key if key is not None else name if len(self.bands) == 1 else None
            self._draw(ax, before + k, found, _text(title, found), style, line_kwargs, fill_kwargs)
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        self.histogram_ax_ = self._draw_histogram(ax, before) if histogram else None
        first, shown = next(iter(self.bands.values())), {"bars": "bars", "band": "shaded"}[style]
        return self._finish(
            xlabel=f"predicted probability{self._class()}; {shown}: {level_text(first.level)} "
            "intervals, for each bin",
            ylabel=f"observed share{self._class()}",
            title=name if len(self.bands) > 1 else None,
            legend=ax.get_legend_handles_labels(),
            legend_kwargs=legend_kwargs,
        )

    def _draw(self, ax, k, found, text, how, line_kwargs, fill_kwargs):
        """Draw one curve, in the k-th style."""
        colour, marker, dashes = style(k)
        x = found.mean_predicted
        if how == "bars":
            bar = {"color": colour, "linewidth": 1.6, "alpha": 0.8}
            bar = merged("fill_kwargs", bar, fill_kwargs)
            self.fills_.append(ax.vlines(x, found.low, found.high, **bar))
        else:
            fill = {"color": colour, "alpha": 0.18, "linewidth": 0.0}
            fill = merged("fill_kwargs", fill, fill_kwargs)
            self.fills_.append(ax.fill_between(x, found.low, found.high, **fill))
        line = {
            "color": colour,
            "linewidth": 0.9,
            "linestyle": dashes,
            "marker": marker,
            "markersize": 6.0,
            "markeredgecolor": "white",
            "markeredgewidth": 0.6,
            "zorder": 3,
            "label": visible_label(text),
        }
        line = merged("line_kwargs", line, line_kwargs)
        self.lines_ += ax.plot(x, found.observed, **line)

    def _draw_histogram(self, ax, before):
        """Draw how often probabilities were predicted into axes below."""
        strip = ax.inset_axes(_STRIP, sharex=ax)
        for k, found in enumerate(self.bands.values()):
            edges = np.linspace(0.0, 1.0, found.histogram.size + 1)
            strip.stairs(found.histogram, edges, color=style(before + k)[0], fill=before + k == 0,
                         alpha=0.5 if before + k == 0 else 1.0)  # fmt: skip
        strip.tick_params(labelbottom=False, labelsize=8)
        strip.spines[["top", "right"]].set_visible(False)
        strip.set_ylabel("rows", fontsize=8)
        self._settle()
        ax.xaxis.labelpad = _PAD * ax.get_window_extent().height * 72 / ax.figure.dpi
        return strip

    def _class(self):
        """Class that all curves are about, in words; empty for 1, the usual one."""
        found = {band.pos_label for band in self.bands.values()}
        if len(found) > 1 or found <= {1, None}:
            return ""
        return f" of class {label_text(*found)}"

    def _columns(self):
        parts = [found._columns() for found in self.bands.values()]
        sizes = [len(part["low"]) for part in parts]
        names = np.repeat(np.array(list(self.bands), dtype=object), sizes)
        return {
            "name": names,
            **{key: np.concatenate([part[key] for part in parts]) for key in parts[0]},
        }

    def _sentences(self):
        first = next(iter(self.bands.values()))
        yield (
            f"Observed share{self._class()} against the predicted probability in "
            f"{first.strategy} bins with {level_text(first.level)} intervals."
        )
        texts = []
        for key, found in self.bands.items():
            ends = [
                f"{spoken(p)}: {spoken_interval(*rest)}"
                for p, *rest in zip(
                    found.mean_predicted, found.observed, found.low, found.high, strict=True
                )
            ]
            away = f"{found.outside.sum()} of {len(ends)} intervals miss the prediction"
            texts.append(f"{_text(key, found)}, {away}, at {', '.join(ends[:12])}")
        yield listed(texts)


def _text(title, found):
    """Slope and intercept for the legend."""
    parts = []
    for name in ("slope", "intercept"):
        posterior = getattr(found, name)
        if posterior is not None:
            ends = posterior.interval(found.level, found.kind)
            parts.append(f"{name}\u00a0{_two_decimals(posterior.observed, *ends)}")
    text = ", ".join(parts) or "all probabilities equal"
    return f"{title}: {text}" if title else text


def _two_decimals(value, low, high):
    text = f"{spoken(value, 2)} [{spoken(low, 2)}, {spoken(high, 2)}]"
    return text.replace(" ", "\u00a0")


def _refuse_without_probabilities(estimator, parameter):
    refuse_if(
        hasattr(estimator, "classes_") and not hasattr(estimator, "predict_proba"),
        parameter,
        f"{parameter}: {{value}} has no predict_proba, and decision values are no probabilities: "
        "CalibratedClassifierCV makes some.",
        estimator,
    )
