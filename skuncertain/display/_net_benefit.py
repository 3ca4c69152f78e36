"""Decision curves: net benefits along the threshold probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import level_text, spoken_interval
from skuncertain._utils.typing import LabelLike, PriorLike
from skuncertain._utils.validation import check_bool, refuse_if
from skuncertain.display._text import listed
from skuncertain.display._thresholds import GREY, AlongThresholds
from skuncertain.metrics._scores.net_benefit import NetBenefitCurve, net_benefit_curve
from skuncertain.metrics._scores.scored_rows import classifier_scores

_BELOW = 0.2  # of the height above 0 that is shown below 0


@dataclass(kw_only=True, eq=False, repr=False)
class NetBenefitDisplay(AlongThresholds):
    """Decision curves: net benefits along the threshold probability, with pointwise intervals.

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    curves : dict
        :class:`NetBenefitCurve` by the name of the model; a single one has the name None.

    Attributes
    ----------
    ax_, figure_ : object
        Where it is drawn.
    lines_, fills_ : list
        Curves of the models and their bands.
    all_lines_, none_line_ : object
        Treating all (one line for each set of rows) and treating none.
    legend_ : object
        The legend.

    See Also
    --------
    net_benefit_curve : The numbers.
    ThresholdDisplay : Other metrics along the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.display import NetBenefitDisplay
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.uniform(size=200)
    >>> y = (rng.uniform(size=200) < proba).astype(int)
    >>> NetBenefitDisplay.from_predictions(y, proba).to_frame().shape
    (99, 17)
    """

    _wanted = NetBenefitCurve
    _field = "curves"
    _response = "predict_proba"
    curves: dict

    @classmethod
    def from_curve(
        cls, curves: Any, *, ax: Any = None, name: str | None = None, **plot_kwargs: Any
    ) -> Self:
        """Plot curves that are computed already.

        Parameters
        ----------
        curves : NetBenefitCurve or dict
            That of one model, or those of several by name.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        NetBenefitDisplay
            The display, plotted.
        """
        return cls._of_results(curves, ax, name, plot_kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: Any,
        *,
        thresholds: Any = None,
        level: float = 0.95,
        prior: PriorLike = "auto",
        prevalence: float | None = None,
        labels: Any = None,
        pos_label: LabelLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Plot from true labels and probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_proba : array-like of shape (n,), BayesianCrossValidator or dict
            Probabilities of the positive class, or probabilities by the name of the model.
        thresholds, level, prior, prevalence, labels, pos_label : object
            See :func:`net_benefit_curve`.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        NetBenefitDisplay
            The display, plotted.
        """
        options = {
            "thresholds": thresholds,
            "level": level,
            "prior": prior,
            "prevalence": prevalence,
            "labels": labels,
            "pos_label": pos_label,
        }
        return cls._of_scores(net_benefit_curve, y_true, y_proba, options, ax, name, plot_kwargs)

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
        NetBenefitDisplay
            The display, plotted.
        """
        known = ("thresholds", "level", "prior", "prevalence", "ax")
        cls._check_options([key for key in options if key not in known])
        refuse_if(
            not hasattr(estimator, "predict_proba"),
            "estimator",
            "estimator must have predict_proba: a net benefit needs probabilities, got {value}.",
            value=estimator,
            remedy="Wrap it in sklearn's CalibratedClassifierCV.",
        )
        score, label, _ = classifier_scores(
            estimator, X, pos_label, cls._response, parameter="estimator", y=y
        )
        name = type(estimator).__name__ if name is None else name
        labels = list(estimator.classes_)
        return cls.from_predictions(y, score, labels=labels, pos_label=label, name=name, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        plot_treat_all: bool = True,
        line_kwargs: dict | None = None,
        fill_kwargs: dict | None = None,
        legend_kwargs: dict | None = None,
    ) -> NetBenefitDisplay:
        """Draw curves and bands; far below 0, where no model is of use, they are cut off.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Label of a single model, title of several.
        plot_treat_all : bool, default=True
            Whether to draw what treating all rows is worth, with its interval.
        line_kwargs, fill_kwargs, legend_kwargs : dict, default=None
            Options for the curves, the bands and the legend.

        Returns
        -------
        NetBenefitDisplay
            The display itself.
        """
        check_bool("plot_treat_all", plot_treat_all)
        ax = self._start(ax, 4.2)
        self.lines_, self.fills_, self.all_lines_ = [], [], []
        drawn = ax.get_legend_handles_labels()[1]  # by an earlier display
        earlier = (ax.get_xlim(), ax.get_ylim()) if drawn else ((), ())
        before = sum(not text.startswith("treat ") for text in drawn)
        for k, (key, found) in enumerate(self.curves.items()):
            text = key if key is not None else name or "model"
            ends = (part["net_benefit"] for part in (found.values, found.low, found.high))
            self._band(ax, before + k, found.thresholds, ends, str(text), line_kwargs, fill_kwargs)
        if plot_treat_all:
            self._draw_treat_all(ax, "treat all" in drawn)
        label = {} if "treat none" in drawn else {"label": "treat none"}
        self.none_line_ = ax.axhline(0.0, color="black", linewidth=0.9, zorder=1, **label)
        self._limit_thresholds(ax, earlier[0])
        self._limit_benefits(ax, earlier[1])
        return self._finish(
            xlabel=f"threshold probability{self._class()}; shaded: {self._shaded()}",
            ylabel="net benefit" + self._where(),
            title=name if len(self.curves) > 1 else None,
            legend=ax.get_legend_handles_labels(),
            legend_kwargs=legend_kwargs,
        )

    def _draw_treat_all(self, ax, labelled):
        """Draw what treating all is worth: once, unless the curves are about different rows."""
        seen = []
        for found in self.curves.values():
            same = [found.thresholds, *(part["treat_all"] for part in (found.values, found.low))]
            if any(all(map(np.array_equal, same, other)) for other in seen):
                continue
            label = {} if labelled or seen else {"label": "treat all"}
            seen.append(same)
            ends = found.low["treat_all"], found.high["treat_all"]
            ax.fill_between(found.thresholds, *ends, color="0.5", alpha=0.15, linewidth=0.0)
            self.all_lines_ += ax.plot(
                *(found.thresholds, found.values["treat_all"]),
                **{"color": GREY, "linewidth": 1.4, "linestyle": (0, (4, 2)), **label},
            )

    def _limit_benefits(self, ax, earlier):
        """Show all that is above 0, and a little below it."""
        tops = [found.high["net_benefit"] for found in self.curves.values()]
        tops += [line.get_ydata() for line in self.all_lines_]
        top = 1.05 * max(max(np.max(one) for one in tops), 1e-3)
        top = max(top, *earlier) if earlier else top
        least = min(np.min(found.low["net_benefit"]) for found in self.curves.values())
        bottom = -_BELOW * top if least < -_BELOW * top else min(1.1 * least, -0.05 * top)
        ax.set_ylim(bottom, top)

    def _where(self):
        """Prevalence that was given for all curves, in words."""
        given = {found.prevalence for found in self.curves.values()}
        only = given.pop() if len(given) == 1 else None
        return "" if only is None else f" at prevalence {only:g}"

    def _columns(self):
        tables = [found._columns() for found in self.curves.values()]
        sizes = [len(table["threshold"]) for table in tables]
        names = np.repeat(np.array(list(self.curves), dtype=object), sizes)
        joined = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
        return {"name": names, **joined}

    def _sentences(self):
        about = f"{self._class()}{self._where()} with {self._shaded()}"
        yield f"Net benefit along the threshold probability{about}."
        texts = []
        for key, found in self.curves.items():
            useful = found.thresholds[found.p_useful >= found.level]
            k = len(found.thresholds) // 2
            ends = (part["net_benefit"][k] for part in (found.values, found.low, found.high))
            text = f"{key or 'model'} {spoken_interval(*ends)} at {found.thresholds[k]:.3g}"
            reach = f"{useful.min():.3g} to {useful.max():.3g}" if useful.size else "no threshold"
            sure = f"better than treating all and none with {level_text(found.level)} probability"
            texts.append(f"{text}, {sure} at {reach}")
        yield listed(texts)
