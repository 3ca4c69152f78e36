"""The reports of a leaderboard and of a search."""

import numpy as np

from skuncertain._report import column, interval_cell, make_report, section
from skuncertain._report_cells import distinct, share_cell, share_of

_SHOWN = 30  # rows of a plot
_HEAT_MAP = 15
_FOLD_ROWS = 8
_LEADERBOARD = (
    "P(best) is the probability that a model is the best of all, given the data; they sum to 1. "
    "rank is the expected rank, 1 is the best. loss is how much worse than the best one a model is "
    "expected to be, in units of the metric.",
    "The score of the winner is optimistic: the best of many is partly the luckiest. Test it once "
    "more on fresh rows.",
    "Two intervals that overlap are no proof that two models are equal; P(best), the ranks and the "
    "pairwise probabilities use more than the intervals show.",
)
_SEARCH = (
    "Each candidate's interval is about that candidate alone. All candidates were tested on the "
    "same folds, so differences are known better than single scores: look at the differences.",
    "A candidate cannot be told from the selected one if P(worse) is below the level; worse means "
    "worse by more than the region of practical equivalence (ROPE).",
    "The score of the selected candidate is optimistic, because it was chosen for it. The "
    "corrected score (Tibshirani and Tibshirani) subtracts that optimism; nested cross-validation "
    "or fresh rows are better.",
)


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


def _ranking_columns(result, k, ranks_exact):
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


_COLUMNS = [
    column("p_best", "P(best)", share=True),
    column("rank", digits=2),
    column("loss", digits=4),
]

# A star tells it in print, this column where numbers are read by programs.
_SELECTED = {**column("selected"), "printed": False}


def _rank_section(names, probabilities, scores, n_draws, marks=None):
    """Heat map of the ranks, or bars of P(best) if the ranks are not known."""
    marks = [False] * len(names) if marks is None else marks
    if probabilities is None:
        name = scores["columns"][0]["key"]
        kept = (name, "p_best", "selected")
        rows = [{key: row[key] for key in kept if key in row} for row in scores["rows"]]
        # One that is rarely good may still be often the best: the bars have an order of their own.
        rows.sort(key=lambda row: -share_of(row["p_best"]))
        shown = min(len(rows), _SHOWN)
        return section(
            "Probability of being the best",
            [name, column("p_best", "P(best)", share=True)],
            rows,
            notes=[f"the {shown} most probable of {len(rows)}"] if len(rows) > shown else [],
            figure={"type": "bars", "column": "p_best", "most": shown, "instead": True},
            ranked=True,
            in_text=False,
        )
    shown = min(len(names), _HEAT_MAP)
    keys = [f"rank {k + 1}" for k in range(shown)]
    rows = [
        {"name": name, **{key: share_cell(row[k], n_draws) for k, key in enumerate(keys)}}
        | ({"selected": True} if mark else {})
        for name, row, mark in zip(names, probabilities, marks, strict=True)
    ]
    notes = []
    if len(names) > shown:
        notes.append(f"the first {shown} of {len(names)}, by expected rank")
    figure = {
        "type": "grid",
        "corner": "rank",
        "columns": [str(k + 1) for k in range(shown)],
        "names": list(names[:shown]),
        "selected": marks[:shown],
        "shares": [row[:shown] for row in probabilities[:shown]],
        "n_draws": n_draws,
        "instead": True,
    }
    return section(
        "Probability of every rank",
        ["name", *(column(key, share=True) for key in keys)],
        rows,
        notes=notes,
        figure=figure,
        ranked=True,
        in_text=False,
    )


def leaderboard_report(result, digits=None):
    """Report of a Leaderboard."""
    order = result.order()
    known = distinct(result.names)
    names = [known[k] for k in order]
    exact_ranks = result.n_draws is None
    sizes = None if result.n is None or np.ndim(result.n) == 0 else np.asarray(result.n)
    rows = []
    for k, name in zip(order, names, strict=True):
        row = {"model": name, **_ranking_columns(result, k, exact_ranks)}
        if sizes is not None:
            row["n"] = sizes[k]
        rows.append(row)
    columns = ["model", column("mean", f"{result.metric}, mean"), *_COLUMNS]
    scores = section("Models", columns + (["n"] if sizes is not None else []), rows, ranked=True)
    probabilities = result.rank_probabilities
    ranks = None if probabilities is None else probabilities[order]
    sections = {"models": scores}
    sections["ranks"] = _rank_section(names, ranks, scores, result.rank_draws)
    if result.pairwise is not None:
        pairs = result.pairwise[np.ix_(order, order)]
        sections["pairs"] = _pair_section(names, pairs, result.n_draws)
    n = result.n if sizes is None else f"{sizes.min()} to {sizes.max()}"
    if sizes is not None and sizes.min() == sizes.max():
        n = int(sizes[0])
    shared = sizes is None and result.n is not None
    where = f"these {result.n}, which all have predicted" if shared else "those they were tested on"
    return make_report(
        "leaderboard",
        f"Leaderboard of {len(names)} models by {result.metric}",
        settings={
            "level": result.level,
            "kind": result.kind,
            "prior": result.prior,
            "method": result.method,
            "omega": None,
            "n": n,
            "k": None,
            "metric": result.metric,
        },
        question=f"Which of these {len(names)} models is the best on rows like {where}?",
        sections=sections,
        warnings=result.warnings,
        reading=_LEADERBOARD,
        digits=digits,
    )


def _pair_section(names, pairwise, n_draws):
    shown = min(len(names), _HEAT_MAP)
    keys = [f"better than {name}" for name in names[:shown]]
    rows = [
        {"name": name, **{key: share_cell(row[k], n_draws) for k, key in enumerate(keys)}}
        for name, row in zip(names[:shown], pairwise, strict=False)
    ]
    figure = {
        "type": "grid",
        "corner": "P(row better than column)",
        "columns": names[:shown],
        "names": names[:shown],
        "shares": [
            [None if i == j else pairwise[i, j] for j in range(shown)] for i in range(shown)
        ],
        "n_draws": n_draws,
        "instead": True,
    }
    notes = [f"the first {shown} of {len(names)}"] if len(names) > shown else []
    title = "Probability of being better"
    return section(
        title,
        ["name", *(column(key, share=True) for key in keys)],
        rows,
        notes=notes,
        figure=figure,
        in_text=False,
    )


# --------------------------------------------------------------------------------------------------
# Searches


def others(result):
    """How many candidates cannot be told from the selected one, itself not counted."""
    count = int(np.sum(result.equivalent) - result.equivalent[result.selected_index])
    return f"{count} other candidate{'s' * (count != 1)}"


def search_report(result, confusion, digits=None):
    """Report of a SearchPosterior; `confusion` is the section of the selected one, or None."""
    considered = np.flatnonzero(np.isfinite(result.p_best))
    order = considered[np.lexsort((-result.p_best[considered], result.expected_rank[considered]))]
    known = result.names
    names = [known[k] for k in order]
    marks = [bool(k == result.selected_index) for k in order]
    # Expected ranks come from the pairs, which are exact, as long as all pairs are known.
    exact_ranks = result.pairwise is not None
    rows, gaps = [], []
    for k, name, mark in zip(order, names, marks, strict=True):
        rows.append(
            {
                "candidate": name,
                "index": k,
                **_ranking_columns(result, k, exact_ranks),
                "equivalent": bool(result.equivalent[k]),
                "selected": mark,
            }
        )
        ends = result.difference_low[k], result.difference_high[k]
        gap = {"candidate": name, "difference": interval_cell(ends, result.difference[k])}
        gap |= {key: getattr(result, key)[k] for key in ("p_worse", "p_equivalent", "p_better")}
        gaps.append({**gap, "selected": mark})
    columns = ["candidate", column("mean", f"{result.metric}, mean"), *_COLUMNS]
    told = [f"*: selected; {others(result)} cannot be told from it"]
    if np.isfinite(result.best_score_corrected):
        told.append(
            f"score of the selected one, corrected for being chosen: "
            f"{result.best_score_corrected:.3f}"
        )
    scores = section(
        "Candidates",
        [*columns, column("equivalent", "cannot be told from *"), _SELECTED],
        rows,
        notes=told,
        ranked=True,
    )
    sections = {
        "candidates": scores,
        "differences": section(
            "Difference to the selected candidate",
            [
                *("candidate", "difference"),
                column("p_worse", "P(worse)", share=True),
                column("p_equivalent", "P(equivalent)", share=True),
                column("p_better", "P(better)", share=True),
                _SELECTED,
            ],
            gaps,
            notes=[f"grey: region of practical equivalence, ± {result.rope:g}"],
            figure={
                "type": "differences",
                "column": "difference",
                "rope": result.rope,
                "most": _SHOWN,
                "numbers_aside": True,
            },
            ranked=True,
            in_text=False,
        ),
        "ranks": _rank_section(
            names, _ordered_ranks(result, considered, order), scores, result.n_draws, marks
        ),
        "folds": _fold_section(result, order, names, marks),
    }
    if confusion is not None:
        sections["confusion"] = confusion
    return make_report(
        "search",
        f"Search over {result.mean.size} candidate{'s' * (result.mean.size != 1)} by "
        f"{result.metric}",
        settings={
            "level": result.level,
            "kind": result.kind,
            "prior": result.prior,
            "method": f"{result.method}; candidates: correlated t on the shared folds",
            "omega": result.omega,
            "n": result.n,
            "k": _folds_text(result),
            "metric": result.metric,
            "rope": result.rope,
            "draws": f"{result.n_draws} for P(best), ranks and losses, seed {result.seed}",
        },
        question=(
            f"Which candidate has the best {result.metric} on average, when it is trained on as "
            "many rows as in these folds, and how sure is that?"
        ),
        sections=sections,
        warnings=[*result.warnings, *result.notes],
        reading=_SEARCH,
        digits=digits,
    )


def _ordered_ranks(result, considered, order):
    if result.rank_probabilities is None:
        return None
    place = {k: row for row, k in enumerate(considered)}
    return result.rank_probabilities[[place[k] for k in order]]


def _folds_text(result):
    folds = result.n_splits / result.n_repeats
    repeats = f", repeated {result.n_repeats} times" if result.n_repeats > 1 else ""
    return f"{folds:g} folds{repeats}, n_test / n_train = {result.test_train_ratio:.3g}"


def _fold_section(result, order, names, marks):
    """Fold scores of the first few candidates."""
    shown = list(zip(order, names, marks, strict=True))[:_FOLD_ROWS]
    entries = [
        {
            "name": name,
            "selected": mark,
            "values": result.scores[k],
            "interval": interval_cell(
                (result.low[k], result.high[k]), result.mean[k], result.interval_error[k]
            ),
        }
        for k, name, mark in shown
    ]
    rows = [
        {"split": split, **{name: result.scores[k][split] for k, name, _ in shown}}
        for split in range(result.n_splits)
    ]
    notes = ["dots: folds; line: their mean; shaded: the interval of the candidate"]
    if len(order) > len(shown):
        notes.append(f"the first {len(shown)} of {len(order)} candidates")
    return section(
        "Fold spread",
        ["split", *(column(name, f"* {name}" if mark else name) for _, name, mark in shown)],
        rows,
        notes=notes,
        figure={"type": "folds", "entries": entries, "numbers_aside": True},
        in_text=False,
    )
