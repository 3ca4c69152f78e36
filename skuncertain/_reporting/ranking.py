"""What the reports of leaderboards and of searches share: score columns and rank probabilities."""

import numpy as np

from skuncertain._reporting.build import column, interval_cell, section
from skuncertain._reporting.text import share_cell, share_of

MOST_SHOWN = 30  # rows of a plot
LARGEST_GRID = 15


def _rank(value, size, n_draws):
    """Entry of an expected rank; its variance is at most (rank - 1)(m - rank)."""
    if n_draws is None or np.isnan(value):
        return value
    bound = max((value - 1) * (size - value), 0.0) + 1 / n_draws
    return {"value": value, "error": np.sqrt(bound / n_draws)}


def _loss(value, widths, n_draws):
    """Entry of an expected loss, whose spread is about that of the widest interval."""
    if n_draws is None or np.isnan(value):
        return value
    return {"value": value, "error": 0.5 * np.nanmax(widths) / np.sqrt(n_draws)}


# What P(best) stands for, by whether the differences were shrunk.
_SHRUNK = (
    "The best of many is partly the luckiest. P(best), ranks and losses allow for that: the scores "
    "of all describe a population, and differences shrink as far as it is narrow. Intervals, "
    "differences and pairs are not shrunk."
)
_FLAT = (
    "P(best), ranks and losses take every difference at face value: of many, the luckiest leads."
)


def reading_of_ranks(result):
    """Sentence about what P(best) stands for."""
    return _SHRUNK if result.shrinkage else _FLAT


def shrinkage_text(result):
    """How P(best) was shrunk."""
    if not result.shrinkage:
        return "none, as asked"
    if result.shrinkage_weight == 1:
        return "none: fewer than four tie groups, or nothing to shrink"
    if result.all_equal:
        return "all are taken as equally good: they differ by no more than noise explains"
    return f"{result.shrinkage_weight:.2f} of the variance is left"


def has_ties(tie_group):
    """Whether a group has more than one member; -1 is no group."""
    groups = tie_group[tie_group >= 0]
    return np.unique(groups).size < groups.size


TIE_GROUP = column("tie_group", "tie group")


def ranking_cells(result, k, ranks_exact):
    size, widths = int(np.isfinite(result.p_best).sum()), result.high - result.low
    mean_error = getattr(result, "mean_error", None)  # the mean of folds has none
    return {
        "mean": interval_cell(
            (result.low[k], result.high[k]),
            result.mean[k],
            result.interval_error[k],
            0.0 if mean_error is None else mean_error[k],
        ),
        "p_best": share_cell(result.p_best[k], result.n_draws),
        "rank": _rank(result.expected_rank[k], size, None if ranks_exact else result.n_draws),
        "loss": _loss(result.expected_loss[k], widths, result.n_draws),
    }


RANKING_COLUMNS = [
    column("p_best", "P(best)", share=True),
    column("rank", digits=2),
    column("loss", digits=4),
]

# A star tells it in print, this column where numbers are read by programs.
SELECTED = {**column("selected"), "printed": False}


def rank_section(names, probabilities, scores, n_draws, marks=None):
    """Heat map of the ranks, or bars of P(best) if the ranks are not known."""
    marks = [False] * len(names) if marks is None else marks
    if probabilities is None:
        name = scores["columns"][0]["key"]
        kept = (name, "p_best", "selected")
        rows = [{key: row[key] for key in kept if key in row} for row in scores["rows"]]
        # One that is rarely good may still be often the best: the bars have an order of their own.
        rows.sort(key=lambda row: -share_of(row["p_best"]))
        shown = min(len(rows), MOST_SHOWN)
        return section(
            "Probability of being the best",
            [name, column("p_best", "P(best)", share=True)],
            rows,
            notes=[f"the {shown} most probable of {len(rows)}"] if len(rows) > shown else [],
            figure={"type": "bars", "column": "p_best", "most": shown, "instead": True},
            ranked=True,
            in_text=False,
        )
    shown = min(len(names), LARGEST_GRID)
    keys = [f"rank {k + 1}" for k in range(shown)]
    rows = [
        {"name": name, **{key: share_cell(row[k], n_draws) for k, key in enumerate(keys)}}
        | ({"selected": True} if mark else {})
        for name, row, mark in zip(names, probabilities, marks, strict=True)
    ]
    cut = f"the first {shown} of {len(names)}, by expected rank"
    return section(
        "Probability of every rank",
        ["name", *(column(key, share=True) for key in keys)],
        rows,
        notes=[cut] if len(names) > shown else [],
        figure={
            "type": "grid",
            "corner": "rank",
            "columns": [str(k + 1) for k in range(shown)],
            "names": list(names[:shown]),
            "selected": marks[:shown],
            "shares": [row[:shown] for row in probabilities[:shown]],
            "n_draws": n_draws,
            "instead": True,
        },
        ranked=True,
        in_text=False,
    )
