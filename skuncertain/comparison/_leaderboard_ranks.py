"""Three ways to the ranking of a leaderboard.

Independent Betas exactly, independent posteriors by draws of every model, models on the same rows
by draws of these rows.
"""

from dataclasses import replace

import numpy as np

from skuncertain._numerics.best_of_many import (
    PAIR_LIMIT,
    rank_betas,
    rank_draws,
    rank_equals,
    shrink_betas,
    shrink_draws,
)
from skuncertain._utils.validation import resolve_seed
from skuncertain.comparison._paired import indicator
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._draws import default_draws, seeded_chunks

_RANK_DRAWS = 4000  # behind rank probabilities that would take too long exactly
_FINITE = 1e12  # ratios of rates beyond this are as good as infinite


def rank_exactly(betas, up, random_state, shrinkage):
    """Ranking of independent Betas and how it was made, without random numbers but for ranks."""
    a, b, odds, mean = betas.a, betas.b, betas.odds, betas.mean()
    if not up:
        a, b, odds, mean = b, a, 1 / odds, 1 - mean
    m = a.size
    ranking = rank_betas(a, b, mean, odds)
    about: dict = {"method": "independent, exact"}
    if shrinkage:
        a, b, found = shrink_betas(a, b)
        if found.weight != 1:
            mean = BetaPosterior(a, b, odds=odds).mean()
            order = rank_equals(np.arange(m))
            if not found.equal:
                order = rank_betas(a, b, mean, odds, keep_pairs=False)
            ranking = replace(order, pairwise=ranking.pairwise)
        about |= _shrunk(found)
    if ranking.rank_probabilities is None and m <= PAIR_LIMIT:
        seed = resolve_seed(random_state)
        draws = np.random.default_rng(seed).beta(a, b, size=(_RANK_DRAWS, m)).T
        drawn = rank_draws(draws)
        ranking = replace(ranking, rank_probabilities=drawn.rank_probabilities)
        about["method"] += f"; rank probabilities from {_RANK_DRAWS} draws, seed {seed}"
        about["rank_draws"] = _RANK_DRAWS
    return ranking, about


def rank_by_draws(posteriors, up, n_draws, random_state, shrinkage):
    """Ranking of independent posteriors of any kind, and how it was made."""
    seed = resolve_seed(random_state)
    n_draws = default_draws(4, len(posteriors)) if n_draws is None else n_draws
    streams = np.random.SeedSequence(seed).spawn(len(posteriors))
    draws = np.stack(
        [
            posterior.sample(n_draws, np.random.default_rng(stream))
            for posterior, stream in zip(posteriors, streams, strict=True)
        ]
    )
    ranking, about = rank_drawn(draws, None, up, posteriors[0].about.range, seed, shrinkage)
    return ranking, about | about_draws("independent", n_draws, seed)


def rank_drawn(draws, group, up, limits, seed, shrinkage, shared=False):
    """Ranking from draws of groups: pairs from the draws as they are, the order from shrunk ones.

    Models that are `shared` were tested on the same rows.
    """
    sign = 1.0 if up else -1.0
    ranking = rank_draws(sign * draws, group)
    ratio = tuple(limits) == (0.0, np.inf)  # such as likelihood ratios, whose logarithms have means
    if ratio:
        draws = np.log(np.clip(draws, 1 / _FINITE, _FINITE))
    if not shrinkage or not np.isfinite(draws).all():
        return ranking, {}
    shrunk, found = shrink_draws(sign * draws, shared)
    if found.weight != 1:
        if found.equal:
            order = rank_equals(np.arange(len(draws)) if group is None else group, seed)
        else:
            order = rank_draws(sign * np.exp(sign * shrunk) if ratio else shrunk, group)
        ranking = replace(order, pairwise=ranking.pairwise)
    return ranking, _shrunk(found)


def _shrunk(found):
    """What a leaderboard says about its shrinkage."""
    return {"all_equal": found.equal, "shrinkage_weight": found.weight}


def row_draws(cells, metric, positive, size, prior, n_draws, seed, row_weight=1.0):
    """Draws of the metric of every model, from the cells ``(models, rows)`` of the same rows.

    Every row counts `row_weight`.
    """
    # Rows on which all models agree in the same way are one row with a gamma weight.
    kinds, number = np.unique(cells.T, axis=0, return_counts=True)
    number = number * row_weight
    more, weight = _pseudo_rows(len(cells), size, prior)
    kinds, number = np.concatenate([kinds, more]), np.concatenate([number, weight])
    to_matrix = [indicator(cell, size**2) for cell in kinds.T]
    draws = np.empty((len(cells), n_draws))
    for place, rng in seeded_chunks(n_draws, max(1, 2**22 // len(kinds)), seed):
        weight = rng.standard_gamma(number, size=(place.stop - place.start, number.size))
        for k, matrix in enumerate(to_matrix):
            matrices = (matrix @ weight.T).T.reshape(-1, size, size)
            draws[k, place] = metric.evaluate(matrices, positive=positive, zero_division=0.0)
    return draws


def about_draws(how, n_draws, seed):
    """What a leaderboard says about its draws."""
    return {
        "method": f"{how}, {n_draws} draws, seed {seed}",
        "n_draws": n_draws,
        "seed": seed,
        "rank_draws": n_draws,
    }


def _pseudo_rows(m, size, prior):
    """Cells of every model, and weights, of rows that were not observed.

    Without them a model that is right wherever another is, and once more, would be better for sure.
    """
    truth = np.arange(size)[:, None]
    right, wrong = truth * size + truth, truth * size + (truth + 1) % size
    one = np.eye(m, dtype=bool)[:, None]  # model that differs from the others
    alike = [np.repeat(part, m, axis=1) for part in (right, wrong)]
    rows = np.concatenate([*alike, *np.where(one, right, wrong), *np.where(one, wrong, right)])
    weight = np.full(len(rows), prior / (m * size))  # "one differs": m patterns twice, 2 prior / 2
    weight[: 2 * size] = prior / size
    return rows[weight > 0], weight[weight > 0]
