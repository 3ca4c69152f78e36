"""The report of a leaderboard."""

import numpy as np

from skuncertain._reporting.build import column, make_report, question_settings, section
from skuncertain._reporting.ranking import (
    LARGEST_GRID,
    RANKING_COLUMNS,
    TIE_GROUP,
    has_ties,
    rank_section,
    ranking_cells,
    reading_of_ranks,
    shrinkage_text,
)
from skuncertain._reporting.text import distinct, share_cell
from skuncertain.posteriors._about import circumstances, prevalence_text

READING = (
    "P(best) is the probability that a model is the best of all, given the data; they sum to 1, "
    "where models with the same predictions are a tie group and count once. "
    "rank is the expected rank, 1 is the best. loss is how much worse than the best one a model is "
    "expected to be, in units of the metric.",
    "The score of the winner is optimistic: the best of many is partly the luckiest. Test it once "
    "more on fresh rows.",
    "Two intervals that overlap are no proof that two models are equal; P(best), the ranks and the "
    "pairwise probabilities use more than the intervals show.",
)


def leaderboard_report(result, digits=None):
    """Report of a Leaderboard."""
    order = result.order()
    known = distinct(result.names)
    names = [known[k] for k in order]
    exact_ranks, groups = result.n_draws is None, result.tie_group
    sizes = None if result.n is None or np.ndim(result.n) == 0 else np.asarray(result.n)
    rows = [
        {"model": name, **ranking_cells(result, k, exact_ranks), "tie_group": int(groups[k])}
        | ({} if sizes is None else {"n": sizes[k]})
        for k, name in zip(order, names, strict=True)
    ]
    columns = ["model", column("mean", f"{result.question}, mean"), *RANKING_COLUMNS]
    columns += [TIE_GROUP] if has_ties(groups) else []
    scores = section("Models", columns + (["n"] if sizes is not None else []), rows, ranked=True)
    probabilities = result.rank_probabilities
    ranks = None if probabilities is None else probabilities[order]
    sections = {"models": scores, "ranks": rank_section(names, ranks, scores, result.rank_draws)}
    if result.pairwise is not None:
        pairs = result.pairwise[np.ix_(order, order)]
        sections["pairs"] = _pair_section(names, pairs, result.n_draws)
    n = result.n if sizes is None else f"{sizes.min()} to {sizes.max()}"
    if sizes is not None and sizes.min() == sizes.max():
        n = int(sizes[0])
    shared = sizes is None and result.n is not None
    where = f"these {result.n}, which all have predicted" if shared else "those they were tested on"
    asked = result.about
    if asked.prevalence is not None:
        where = f"those of a population with prevalence {prevalence_text(asked.prevalence)}"
    rows_asked = "rows" if asked.n_new is None else circumstances(asked)["n_new"]
    return make_report(
        "leaderboard",
        f"Leaderboard of {len(names)} models by {result.question}",
        settings={
            "level": result.level,
            "kind": result.kind,
            "prior": result.prior,
            "method": result.method,
            "n": n,
            "metric": result.metric,
            **question_settings(result.about),
            "differs": result.differs,
            "shrinkage": shrinkage_text(result),
        },
        question=f"Which of these {len(names)} models is the best on {rows_asked} like {where}?",
        sections=sections,
        warnings=result.warnings,
        reading=(*READING, reading_of_ranks(result)),
        digits=digits,
    )


def _pair_section(names, pairwise, n_draws):
    shown = min(len(names), LARGEST_GRID)
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
    return section(
        "Probability of being better",
        ["name", *(column(key, share=True) for key in keys)],
        rows,
        notes=[f"the first {shown} of {len(names)}"] if len(names) > shown else [],
        figure=figure,
        in_text=False,
    )
