"""The report of a search."""

import numpy as np

from skuncertain._reporting.build import column, interval_cell, make_report, section
from skuncertain._reporting.ranking import (
    MOST_SHOWN,
    RANKING_COLUMNS,
    SELECTED,
    rank_section,
    ranking_cells,
)
from skuncertain._reporting.text import folds_text
from skuncertain.posteriors._about import label_text

_FOLD_ROWS = 8
READING = (
    "Each candidate's interval is about that candidate alone, by the method above. P(best), ranks "
    "and differences come from one joint model of all candidates, the correlated t of their fold "
    "scores, whatever the method of the intervals. All candidates were tested on the same folds, "
    "so differences are known better than single scores: look at the differences.",
    "A candidate is not distinguishable from the selected one if P(worse) is below the level; "
    "worse means worse by more than the region of practical equivalence (ROPE).",
    "The score of the selected candidate is optimistic, because it was chosen for it. The "
    "corrected score (Tibshirani and Tibshirani) subtracts that optimism; nested cross-validation "
    "or fresh rows are better.",
)


def others(result):
    """Say how many candidates are not distinguishable from the selected one."""
    count = int(np.sum(result.equivalent) - result.equivalent[result.selected_index])
    which = "candidate is" if count == 1 else "candidates are"
    return f"{count} other {which} not distinguishable from it"


def search_report(result, confusion, digits=None):
    """Report of a SearchPosterior; `confusion` is the section of the selected one, or None."""
    considered = np.flatnonzero(np.isfinite(result.p_best))
    order = considered[np.lexsort((-result.p_best[considered], result.expected_rank[considered]))]
    known = result.names  # made from the parameters, which may take long to print
    names = [known[k] for k in order]
    marks = [bool(k == result.selected_index) for k in order]
    shown = list(zip(order, names, marks, strict=True))
    scores = _score_section(result, shown)
    ranks = result.rank_probabilities  # of those considered, in the order of the candidates
    if ranks is not None:
        ranks = ranks[np.searchsorted(considered, order)]
    sections = {
        "candidates": scores,
        "differences": _difference_section(result, shown),
        "ranks": rank_section(names, ranks, scores, result.n_draws, marks),
        "folds": _fold_section(result, shown),
    }
    if confusion is not None:
        sections["confusion"] = confusion
    size = result.mean.size
    return make_report(
        "search",
        f"Search over {size} candidate{'s' * (size != 1)} by {result.question}",
        settings={
            "level": result.level,
            "kind": result.kind,
            "prior": result.prior,
            "method": f"{result.method}; comparisons: correlated t on the shared folds",
            "omega": result.omega,
            "n": result.n,
            "k": f"{folds_text(result.n_splits / result.n_repeats, result.n_repeats)}, "
            f"n_test / n_train = {result.test_train_ratio:.3g}",
            "metric": result.metric,
            "pos_label": None if result.pos_label is None else label_text(result.pos_label),
            "rope": result.rope,
            "draws": f"{result.n_draws} for P(best), ranks and losses, seed {result.seed}",
        },
        question=(
            f"Which candidate has the best {result.question} on average, when it is trained on as "
            "many rows as in these folds, and how sure is that?"
        ),
        sections=sections,
        warnings=[*result.warnings, *result.notes],
        reading=READING,
        digits=digits,
    )


def _score_section(result, shown):
    # Expected ranks come from the pairs, which are exact, as long as all pairs are known.
    exact_ranks = result.pairwise is not None
    rows = [
        {
            "candidate": name,
            "index": k,
            **ranking_cells(result, k, exact_ranks),
            "equivalent": bool(result.equivalent[k]),
            "selected": mark,
        }
        for k, name, mark in shown
    ]
    notes = [f"*: selected; {others(result)}"]
    if np.isfinite(result.best_score_corrected):
        corrected = f"{result.best_score_corrected:.3f}"
        notes.append(f"score of the selected one, corrected for being chosen: {corrected}")
    columns = ["candidate", column("mean", f"{result.metric}, mean"), *RANKING_COLUMNS]
    columns += [column("equivalent", "not clearly worse"), SELECTED]
    return section("Candidates", columns, rows, notes=notes, ranked=True)


def _difference_section(result, shown):
    chances = {"p_worse": "P(worse)", "p_equivalent": "P(equivalent)", "p_better": "P(better)"}
    ends = list(zip(result.difference_low, result.difference_high, strict=True))
    rows = [
        {
            "candidate": name,
            "difference": interval_cell(ends[k], result.difference[k]),
            **{key: getattr(result, key)[k] for key in chances},
            "selected": mark,
        }
        for k, name, mark in shown
    ]
    return section(
        "Difference to the selected candidate",
        [
            *("candidate", "difference"),
            *(column(key, title, share=True) for key, title in chances.items()),
            SELECTED,
        ],
        rows,
        notes=[f"grey: region of practical equivalence, ± {result.rope:g}"],
        figure={
            "type": "differences",
            "column": "difference",
            "rope": result.rope,
            "most": MOST_SHOWN,
            "numbers_aside": True,
        },
        ranked=True,
        in_text=False,
    )


def _fold_section(result, candidates):
    """Fold scores of the first few candidates."""
    shown = candidates[:_FOLD_ROWS]
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
    if len(candidates) > len(shown):
        notes.append(f"the first {len(shown)} of {len(candidates)} candidates")
    return section(
        "Fold spread",
        ["split", *(column(name, f"* {name}" if mark else name) for _, name, mark in shown)],
        rows,
        notes=notes,
        figure={"type": "folds", "entries": entries, "numbers_aside": True},
        in_text=False,
    )
