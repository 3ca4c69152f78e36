"""The report of a search."""

import numpy as np

from skuncertain._numerics.best_of_many import PAIR_LIMIT
from skuncertain._reporting.build import column, interval_cell, make_report, section
from skuncertain._reporting.ranking import (
    MOST_SHOWN,
    RANKING_COLUMNS,
    SELECTED,
    TIE_GROUP,
    has_ties,
    rank_section,
    ranking_cells,
    reading_of_ranks,
    shrinkage_text,
)
from skuncertain._reporting.text import folds_text
from skuncertain.posteriors._about import label_text

_FOLD_ROWS = 8
_VISIBLE = 0.0005  # of a correction; scores are told with three decimals
_WORDS = ("as_good", "distinguishable")
READING = (
    "Each candidate's interval is about that candidate alone, by the method above. P(best), ranks "
    "and differences come from one joint model of all candidates, the correlated t of their fold "
    "scores, whatever the method of the intervals. All candidates were tested on the same folds, "
    "so differences are known better than single scores: look at the differences.",
    "Differences are to the candidate with the highest mean. A candidate is as good as that one "
    "unless it is worse by more than the region of practical equivalence (ROPE) with more than the "
    "probability above; it is distinguishable if it is worse by more than the ROPE with the "
    "probability of the level. A candidate can be neither: not as good, and not proven worse.",
    "Candidates with the same scores in all folds are a tie group: P(best) is that of the group.",
    "The score of the selected candidate is optimistic, because it was chosen for it. The "
    "corrected score is what candidates reach on the fold that did not take part in choosing them, "
    "and its interval has moved with it; nested cross-validation or fresh rows are better.",
)


def selected_text(result):
    """Score of the selected candidate, corrected, with what was observed."""
    k, (low, high) = result.selected_index, result.selected_interval
    observed = f"{result.mean[k]:.3f} [{result.low[k]:.3f}, {result.high[k]:.3f}]"
    if result.selection_bias < _VISIBLE:
        return observed
    return (
        f"{result.best_score_corrected:.3f} [{low:.3f}, {high:.3f}], corrected for choosing the "
        f"best ({observed} observed)"
    )


def _best_mean(result):
    return "highest mean" if result.greater_is_better else "lowest mean"


def shares_text(result):
    """Say how many other candidates are as good as the best mean, and how many are not."""
    others = result.considered.copy()
    others[result.reference_index] = False
    number, good = int(others.sum()), int(np.sum(result.as_good & others))
    worse = int(np.sum(result.distinguishable & others))
    best = _best_mean(result)
    return (
        f"of {number} other{'s' * (number != 1)}, {good} {'is' if good == 1 else 'are'} as good as "
        f"the {best} and {worse} {'is' if worse == 1 else 'are'} distinguishable from it"
    )


def _verdict(result, k):
    words = [name.replace("_", " ") for name in _WORDS if getattr(result, name)[k]]
    return words[0] if words else "neither"


def search_report(result, confusion, digits=None):
    """Report of a SearchPosterior; `confusion` is the section of the selected one, or None."""
    considered = np.flatnonzero(result.considered)
    order = result.order()
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
            "probability": result.probability,
            "shrinkage": shrinkage_text(result),
            "draws": f"{result.n_draws} for P(best), ranks and losses, seed {result.seed}",
        },
        question=(
            f"Which candidate has the best {result.question} on average, when it is trained on as "
            "many rows as in these folds, and how sure is that?"
        ),
        sections=sections,
        warnings=[*result.warnings, *result.notes],
        reading=(*READING, reading_of_ranks(result)),
        digits=digits,
    )


def _score_section(result, shown):
    # Expected ranks come from the pairs, which are exact, as long as all pairs are known.
    exact_ranks, groups = int(result.considered.sum()) <= PAIR_LIMIT, result.tie_group
    rows = [
        {
            "candidate": name,
            "index": k,
            **ranking_cells(result, k, exact_ranks),
            "tie_group": int(groups[k]),
            **{name: bool(getattr(result, name)[k]) for name in _WORDS},
            "verdict": _verdict(result, k),
            "selected": mark,
        }
        for k, name, mark in shown
    ]
    notes = [f"*: selected; {shares_text(result)}"]
    if result.selection_bias >= _VISIBLE:
        notes.append(f"selected: {selected_text(result)}")
    columns = ["candidate", column("mean", f"{result.metric}, mean"), *RANKING_COLUMNS]
    columns += [TIE_GROUP] if has_ties(groups) else []
    # Two words for people; programs read the columns of both.
    columns += ["verdict", *({**column(name), "printed": False} for name in _WORDS), SELECTED]
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
        f"Difference to the candidate with the {_best_mean(result)}",
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
