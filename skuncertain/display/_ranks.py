"""`RankDisplay`: who is best, and how sure is the ranking?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._reporting.text import probability
from skuncertain._utils.typing import MetricLike, RandomStateLike
from skuncertain._utils.validation import check_bool, check_choice, check_integer, refuse_if
from skuncertain.display._base import (
    COLOURS,
    Display,
    extent_in_points,
    label_rows,
    merged,
    readable_on,
    rows_to_show,
    width_for,
)
from skuncertain.display._inputs import FromRanking
from skuncertain.display._text import listed

_MOST_WRITTEN = 12  # ranks; beyond, a colour bar takes the place of numbers in the cells


@dataclass(kw_only=True, eq=False, repr=False)
class RankDisplay(FromRanking, Display):
    """Probabilities of the ranks of many models: a heat map, or bars of P(best).

    It is usually made by one of the ``from_...`` methods, which compute and plot.

    Parameters
    ----------
    names : sequence of str
        Models or candidates, the best first.
    p_best : array-like of shape (m,)
        Probability of being the best; of a tie group, that one of its members is.
    expected_rank : array-like of shape (m,)
        Mean rank; 1 is the best.
    rank_probabilities : array-like of shape (m, m) or None, default=None
        Entry (i, k) is P(i has rank k + 1).
    metric : str, default=None
        Name of the metric.
    selected : int, default=None
        Row to be marked, the selected candidate of a search.
    not_considered : int, default=0
        How many candidates have no rank.
    question : str, default=None
        Metric with class, prevalence and the like; by default the metric.
    tie_group : array-like of shape (m,), default=None
        Number of the group with the same scores; a group is one bar.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    image_ : matplotlib AxesImage
        The heat map.
    bars_ : matplotlib BarContainer
        The bars.
    texts_ : list of matplotlib Text
        Numbers in the cells or beside the bars.

    See Also
    --------
    leaderboard : Ranks many models.
    search_posterior : Ranks the candidates of a search.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts, leaderboard
    >>> from skuncertain.display import RankDisplay
    >>> models = {
    ...     "tree": ConfusionCounts([[40, 10], [12, 38]]),
    ...     "forest": ConfusionCounts([[45, 5], [9, 41]]),
    ... }
    >>> board = leaderboard(models, metric="accuracy")
    >>> display = RankDisplay.from_leaderboard(board)
    >>> display.to_frame().round(3)
         name  expected_rank  p_best  p_rank_1  p_rank_2
    0  forest           1.07    0.93      0.93      0.07
    1    tree           1.93    0.07      0.07      0.93
    """

    names: Any
    p_best: ArrayLike
    expected_rank: ArrayLike
    rank_probabilities: ArrayLike | None = None
    metric: str | None = None
    selected: int | None = None
    not_considered: int = 0
    question: str | None = None
    tie_group: ArrayLike | None = None

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        metric: MetricLike | None = None,
        random_state: RandomStateLike = None,
        ax: Any = None,
        name: str | None = None,
        **plot_kwargs: Any,
    ) -> RankDisplay:
        """Plot the ranks of the candidates of a search.

        Parameters
        ----------
        search : GridSearchCV, RandomizedSearchCV, halving search, dict or SearchPosterior
            A fitted search, its ``cv_results_``, or what :func:`search_posterior` returned.
        metric, random_state : object, default=None
            See :func:`search_posterior`; not for a SearchPosterior.
        ax, name, **plot_kwargs : object
            See `plot`.

        Returns
        -------
        RankDisplay
            The display, plotted. The selected candidate is marked.
        """
        options = {"metric": metric, "random_state": random_state}
        return cls._of_search(search, options, ax, name, plot_kwargs)

    @classmethod
    def _of_ranking(cls, found, order):
        ranks = found.rank_probabilities
        if ranks is not None:  # of the considered candidates only
            ranks = ranks[np.searchsorted(np.sort(order), order)]
        return {
            "names": [str(found.names[k]) for k in order],
            "p_best": found.p_best[order],
            "expected_rank": found.expected_rank[order],
            "rank_probabilities": ranks,
            "metric": found.metric,
            "question": getattr(found, "question", None),
            "tie_group": found.tie_group[order],
        }

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        style: str = "auto",
        max_items: int = 30,
        colorbar: bool = True,
        image_kwargs: dict | None = None,
        bar_kwargs: dict | None = None,
        text_kwargs: dict | None = None,
    ) -> RankDisplay:
        """Draw the ranks.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            Title.
        style : {"auto", "heatmap", "bars"}, default="auto"
            "auto" is a heat map where rank probabilities are known of not more than `max_items`,
            otherwise bars.
        max_items : int, default=30
            Rows to draw at most; the plot says how many there are besides.
        colorbar : bool, default=True
            Whether a heat map without numbers in its cells (more than 12 ranks) has a colour bar.
        image_kwargs, bar_kwargs, text_kwargs : dict, default=None
            Options for the heat map, the bars and the numbers.

        Returns
        -------
        RankDisplay
            The display itself.
        """
        check_choice("style", style, ("auto", "heatmap", "bars"))
        most, known = check_integer("max_items", max_items, low=1), self.rank_probabilities
        refuse_if(
            style == "heatmap" and known is None,
            "style",
            f"style='heatmap' needs rank probabilities, which are not known for "
            f"{len(self.names)} items: use style='bars'.",
        )
        if style == "auto":
            style = "bars" if known is None or len(self.names) > most else "heatmap"
        order = np.arange(len(self.names))
        if style == "bars":
            order = self._one_of_every_group()
            # The longest first: who is rarely good may still be often the best.
            order = order[np.argsort(-np.asarray(self.p_best)[order], kind="stable")]
        shown, labels = self._rows(order, most, grouped=style == "bars")
        ax = self._start(ax, max(1.2 + 0.32 * len(labels), 1.8), width_for(labels))
        self.texts_: list = []
        if style == "heatmap":
            self._draw_map(ax, shown, check_bool("colorbar", colorbar), image_kwargs, text_kwargs)
        else:
            self._draw_bars(ax, shown, bar_kwargs, text_kwargs)
        selected = shown.index(self.selected) if self.selected in shown else None
        label_rows(ax, labels, selected)
        by = f" by {self.question or self.metric}" if self.metric else ""
        return self._finish(
            xlabel=f"rank{by}" if style == "heatmap" else f"probability of being the best{by}",
            title=name,
        )

    def _groups(self):
        """Number of the tie group of every item."""
        return np.arange(len(self.names)) if self.tie_group is None else np.asarray(self.tie_group)

    def _one_of_every_group(self):
        """Indices of the first item of every tie group, or of the selected one."""
        groups = self._groups()
        found = np.unique(groups, return_index=True)[1]
        if self.selected is not None:
            found = np.where(groups[found] == groups[self.selected], self.selected, found)
        return np.sort(found)

    def _rows(self, order, most, grouped):
        """Indices of the items to draw, in this order, and their labels."""
        groups = self._groups()
        others = [int(np.sum(groups == groups[k])) - 1 if grouped else 0 for k in order]
        names = [
            f"{self.names[k]} and {n} with the same scores" if n else self.names[k]
            for k, n in zip(order, others, strict=True)
        ]
        selected = None if self.selected is None else order.tolist().index(self.selected)
        places, labels = rows_to_show(names, most, selected, self.not_considered)
        return order[places].tolist(), labels

    def _draw_map(self, ax, shown, colorbar, image_kwargs, text_kwargs):
        table = np.asarray(self.rank_probabilities)[shown, : len(shown)]
        image = {"cmap": "Blues", "vmin": 0.0, "vmax": table.max(), "aspect": "auto"}
        self.image_ = ax.imshow(table, **merged("image_kwargs", image, image_kwargs))
        n_ranks = table.shape[1]
        many = n_ranks > _MOST_WRITTEN
        ticks = np.r_[0, 4:n_ranks:5] if many else np.arange(n_ranks)  # of many: 1, 5, 10, ...
        ax.set_xticks(ticks, [str(k + 1) for k in ticks])
        if many and colorbar:
            options = {"label": "probability of the rank", "fraction": 0.06, "pad": 0.02}
            self.figure_.colorbar(self.image_, ax=ax, aspect=40, **options)
        size = min(9.0, 0.42 * extent_in_points(ax)[0] / n_ranks / 1.3)
        for (row, rank), p in () if many else np.ndenumerate(table):
            colour = readable_on(self.image_.to_rgba(p))
            text = {"ha": "center", "va": "center", "fontsize": size, "color": colour}
            text = merged("text_kwargs", text, text_kwargs)
            self.texts_.append(ax.text(rank, row, f"{p:.2f}", **text))

    def _draw_bars(self, ax, shown, bar_kwargs, text_kwargs):
        p_best, y = np.asarray(self.p_best)[shown], np.arange(len(shown))
        bars = merged("bar_kwargs", {"color": COLOURS[0], "height": 0.7}, bar_kwargs)
        self.bars_ = ax.barh(y, p_best, **bars)
        ax.grid(axis="x", color="0.9")
        ax.set_xlim(0.0, 1.18 * p_best.max() or 1.0)  # room for the numbers
        size = min(9.0, 0.8 * extent_in_points(ax)[1] / len(shown))
        text = merged("text_kwargs", {"va": "center", "ha": "left", "fontsize": size}, text_kwargs)
        self.texts_ = [
            ax.text(p, row, f" {probability(p)}", **text) for row, p in enumerate(p_best)
        ]

    def _columns(self):
        ranks = () if self.rank_probabilities is None else np.asarray(self.rank_probabilities).T
        columns = {
            "name": list(self.names),
            "expected_rank": self.expected_rank,
            "p_best": self.p_best,
        }
        if self._has_ties():
            columns["tie_group"] = self._groups()
        return columns | {f"p_rank_{k + 1}": column for k, column in enumerate(ranks)}

    def _has_ties(self):
        return np.unique(self._groups()).size < len(self.names)

    def _sentences(self):
        by = f" by {self.question or self.metric}" if self.metric else ""
        yield f"Ranking of {len(self.names)}{by}, the best first: P(best) and mean rank."
        rows = zip(self.names, np.asarray(self.p_best), np.asarray(self.expected_rank), strict=True)
        yield listed(f"{name}: {probability(p)}, rank {rank:.2f}" for name, p, rank in rows)
        if self._has_ties():
            yield "Some have the same scores: their P(best) is that of the group."
        figures = [f"P(best) {probability(p)}" for p in np.asarray(self.p_best)]
        yield from self._about_search(self.names, figures)
