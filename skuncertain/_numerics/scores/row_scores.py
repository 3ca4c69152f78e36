"""Scores of rows with the influence of every row: losses, ratios of losses, top k, averages.

Each function returns an :class:`Estimate`, as the rankings of ``delong`` do: a value, and what
every row contributes to its error. The sum of the squared influences is the variance of the value.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from skuncertain._numerics.scores.delong import Estimate, area, freedom, mean_of


def row_mean(values):
    """Mean of the rows, whose variance is that of the rows over n, estimated without bias.

    Rows that differ by rounding errors are equal: they have no spread.
    """
    n, mean = values.size, float(values.mean())
    rounding = 16 * np.finfo(values.dtype).eps * np.abs(values).max(initial=0.0)
    spread = values - mean if np.ptp(values) > rounding else np.zeros(n)
    influence = spread / np.sqrt(n * max(n - 1, 1))
    return Estimate(mean, influence, n, freedom(n))


def skill(losses, plain):
    """Share of the losses of a plain forecast that is avoided: 1 - mean(losses) / mean(plain).

    `plain` are the losses of the class frequencies of these rows. They are the best of all constant
    forecasts, so that their own error does not matter in first order.
    """
    model, base = row_mean(losses), row_mean(plain)
    if base.value == 0:
        return Estimate(np.nan, np.zeros(losses.size), losses.size, freedom(losses.size))
    ratio = model.value / base.value
    influence = (ratio * base.influence - model.influence) / base.value
    return Estimate(1 - ratio, influence, losses.size, freedom(losses.size))


def log_losses(codes, probability):
    """Minus the logarithm of the probability of the true class, as scikit-learn clips it."""
    tiny = np.finfo(probability.dtype).eps
    own = probability[np.arange(codes.size), codes]
    return -np.log(np.clip(own, tiny, 1 - tiny))


def brier_losses(codes, probability):
    """Squared distance from the true class; half of it for two classes, as in scikit-learn."""
    truth = np.zeros_like(probability)
    truth[np.arange(codes.size), codes] = 1.0
    loss = np.square(probability - truth).sum(axis=1)
    return loss / 2 if probability.shape[1] == 2 else loss


def frequencies(codes, n_classes):
    """Class frequencies, as the forecast for every row."""
    share = np.bincount(codes, minlength=n_classes) / codes.size
    return np.broadcast_to(share, (codes.size, n_classes))


def top_k_hits(codes, scores, k):
    """Whether the true class is among the k with the highest scores (ties as scikit-learn)."""
    if scores.ndim == 1:  # of the second of two classes
        if k > 1:
            return np.ones(codes.size)
        share = scores.size and scores.min() >= 0 and scores.max() <= 1
        return ((scores > (0.5 if share else 0.0)) == (codes == 1)).astype(float)
    order = np.argsort(scores, axis=1, kind="mergesort")[:, ::-1]
    return (order[:, :k] == codes[:, None]).any(axis=1).astype(float)


def at_k(positive, score, k, of_positives):
    """Share of positives among the k rows with the highest scores, or share of them found there.

    In the population the k rows are a share q of all rows, and rows near the k-th score decide
    where it ends: a row there is positive with the local rate, which is that of its neighbours. Of
    rows that are tied with the k-th as many count as there are places left, each the same part.
    """
    n = positive.size
    order = np.argsort(-score, kind="stable")
    hit = positive[order].astype(float)
    tied = np.flatnonzero(score[order] == score[order[k - 1]])
    first, end = tied[0], tied[-1] + 1
    top = np.zeros(n)
    top[:first] = 1.0
    top[first:end] = (k - first) / (end - first)
    reach = max(5, k // 4)
    local = hit[max(0, min(first, k - reach)) : max(end, k + reach)].mean()
    found, total = top @ hit, hit.sum()
    moved = top * (hit - local) + (k / n) * local  # what a row adds to the hits at share q
    if of_positives:
        value = found / total
        own, size = (moved - value * hit) / total, int(total)
    else:
        value = found / k
        own, size = (moved - (k / n) * value) / k, int(k)
    influence = np.empty(n)
    influence[order] = (own - own.mean()) * np.sqrt(n / max(n - 1, 1))
    return Estimate(float(value), influence, size, freedom(size))


def one_vs_one(codes, scores, weighted):
    """Area of every pair of classes, both directions averaged, and their mean over pairs."""
    size = np.bincount(codes, minlength=scores.shape[1])
    parts, weight = [], []
    for a, b in combinations(range(scores.shape[1]), 2):
        rows = np.flatnonzero((codes == a) | (codes == b))
        both = [_within(area(codes[rows] == c, scores[rows, c]), rows, codes.size) for c in (a, b)]
        parts.append(mean_of(both, [0.5, 0.5]))
        weight.append(size[a] + size[b] if weighted else 1.0)
    weight = np.asarray(weight, dtype=float)
    return mean_of(parts, weight / weight.sum()) if len(parts) > 1 else parts[0]


def _within(found, rows, n):
    """The same estimate as one of all n rows, most of which do not matter to it."""
    influence = np.zeros(n)
    influence[rows] = found.influence
    return Estimate(found.value, influence, found.size, found.df)
