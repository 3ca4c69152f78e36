"""Data for ``bench_peers.py``: arrays in .npz files, the same for all peers."""

import numpy as np
from scipy.special import ndtr

SEED = 0
RUNS, FOLDS, ROWS, FEATURES = 1000, 10, 200, 5
FEW = {"n_resamples": np.full(RUNS, 200)}  # for who resamples too slowly to be measured otherwise


def _saved(folder, name, **arrays):
    path = folder / f"{name}.npz"
    np.savez(path, **arrays)
    return path


def _labels(rng, matrix):
    """Rows in random order that have this confusion matrix."""
    classes = len(matrix)
    cell = rng.permutation(np.repeat(np.arange(classes * classes), matrix.ravel()))
    return cell // classes, cell % classes


def _matrix(y, pred, classes):
    return np.bincount(classes * y + pred, minlength=classes**2).reshape(classes, classes)


def _many_classes(rng, classes, rows, accuracy=0.8):
    y = rng.integers(classes, size=rows)
    pred = np.where(rng.random(rows) < accuracy, y, rng.integers(classes, size=rows))
    return {"y_true": y, "y_pred": pred, "matrix": _matrix(y, pred, classes)}


def _binary(rng, shape, prevalence, recall, fpr):
    y = (rng.random(shape) < prevalence).astype(int)
    return y, (rng.random(shape) < np.where(y == 1, recall, fpr)).astype(int)


def timing_data(folder):
    """Files for the timings, by name."""
    rng = np.random.default_rng(SEED)
    files = {}
    table = np.array([[150, 9], [12, 80]])
    y, pred = _labels(rng, table)
    files["table"] = _saved(folder, "table", y_true=y, y_pred=pred, matrix=table)
    y, pred = _binary(rng, (10, 100), 0.4, 0.85, 0.1)
    folds = np.array([_matrix(*pair, 2) for pair in zip(y, pred, strict=True)])
    files["folds"] = _saved(folder, "folds", y_true=y, y_pred=pred, matrices=folds)
    files["ten"] = _saved(folder, "ten", **_many_classes(rng, 10, 2000))
    for name, n, few in (("1e3", 10**3, 0), ("1e5", 10**5, 20), ("1e6", 10**6, 5)):
        y, pred = _binary(rng, n, 0.3, 0.8, 0.1)
        files[f"rows{name}"] = _saved(folder, name, y_true=y, y_pred=pred, n_resamples=1000)
        if few:
            files[f"rows{name}few"] = _saved(
                folder, f"{name}few", y_true=y, y_pred=pred, n_resamples=few
            )
    y = (rng.random(10**5) < 0.3).astype(int)
    score, other = 1.8 * y + rng.normal(size=y.size), 1.5 * y + rng.normal(size=y.size)
    for name, resamples in (("scores", 1000), ("scores_few", 10)):
        files[name] = _saved(
            folder, name, y_true=y, score=score, other=other, n_resamples=resamples
        )
    files["two"] = _saved(folder, "two", **_two_models(rng))
    for name, candidates in (("search", 10_000), ("search_1000", 1000), ("search_50", 50)):
        files[name] = _saved(folder, name, **_search(np.random.default_rng(SEED), candidates))
    for classes, rows in ((100, 20_000), (1000, 100_000)):
        arrays = _many_classes(rng, classes, rows)
        files[f"classes{classes}"] = _saved(folder, f"classes{classes}", **arrays)
    files["classes1000_part"] = _saved(folder, "classes1000_part", **arrays, n_draws=100)
    return files


def _two_models(rng):
    y, a = _binary(rng, 1000, 0.4, 0.85, 0.1)
    b = np.where(rng.random(y.size) < 0.9, a, _binary(rng, y.size, 0.4, 0.85, 0.1)[1])
    score = y + rng.normal(size=y.size)
    scores_a = rng.normal(0.80, 0.03, FOLDS)
    return {
        "y_true": y, "pred_a": a, "pred_b": b,
        "matrix_a": _matrix(y, a, 2), "matrix_b": _matrix(y, b, 2),
        "score": score, "other": score + rng.normal(size=y.size),
        "scores_a": scores_a, "scores_b": scores_a + rng.normal(0.01, 0.02, FOLDS),
    }  # fmt: skip


def _search(rng, candidates):
    accuracy = np.clip(rng.normal(0.8, 0.02, (candidates, 1)), 0.5, 0.95)
    hits = rng.binomial(50, accuracy[..., None], (candidates, FOLDS, 2))
    cells = np.empty((candidates, FOLDS, 2, 2), dtype=int)
    for k in range(2):
        cells[:, :, k, k], cells[:, :, k, 1 - k] = hits[:, :, k], 50 - hits[:, :, k]
    scores = hits.sum(axis=2) / 100
    return {"scores": scores, "cells": cells, "pooled": cells.sum(axis=1)}


def coverage_data(folder):
    """Files for the coverage, by name: many samples, and the true F1."""
    files = {}
    for name, rows, prevalence, recall, fpr in (
        ("rare", 200, 0.05, 0.7, 0.02),
        ("perfect", 100, 0.4, 0.99, 0.01),
        ("balanced", 200, 0.5, 0.8, 0.2),
    ):
        rng = np.random.default_rng([SEED, rows, int(1000 * prevalence)])
        y, pred = _binary(rng, (RUNS, rows), prevalence, recall, fpr)
        truth = _f1(prevalence * recall, prevalence * (1 - recall), (1 - prevalence) * fpr)
        files[name] = _saved(folder, name, y_true=y, y_pred=pred, truth=truth, **FEW)
    files["cv"] = _saved(folder, "cv", **_cross_validated(), **FEW)
    return files


def _f1(tp, fn, fp):
    return 2 * tp / (2 * tp + fn + fp)


def _cross_validated():
    """Linear discriminants in 10-fold cross-validation, and the F1 that such training expects.

    Rows of two normal classes, 30 % of them positive. The true rates of a linear rule are known, so
    that the expectation over training sets of 180 rows has an error of less than 0.001.
    """
    rng = np.random.default_rng([SEED, 10])
    shift = np.full(FEATURES, 1.0) / np.sqrt(FEATURES) * 1.7
    y = (rng.random((RUNS, ROWS)) < 0.3).astype(int)
    x = rng.normal(size=(RUNS, ROWS, FEATURES)) + y[..., None] * shift
    pred, rates = np.empty_like(y), []
    size = ROWS // FOLDS
    for run in range(RUNS):
        for fold in range(FOLDS):
            test = slice(fold * size, (fold + 1) * size)
            keep = np.r_[0 : test.start, test.stop : ROWS]
            weight, cut = _discriminant(x[run, keep], y[run, keep])
            pred[run, test] = x[run, test] @ weight > cut
            norm = np.sqrt(weight @ weight)
            rates.append((ndtr((weight @ shift - cut) / norm), ndtr(-cut / norm)))
    recall, fpr = np.mean(rates, axis=0)
    truth = _f1(0.3 * recall, 0.3 * (1 - recall), 0.7 * fpr)
    shape = (RUNS, FOLDS, size)
    return {"y_true": y.reshape(shape), "y_pred": pred.reshape(shape), "truth": truth}


def _discriminant(x, y):
    """Weights and threshold of Fisher's discriminant."""
    one, zero = x[y == 1], x[y == 0]
    mean = one.mean(axis=0), zero.mean(axis=0)
    within = (one - mean[0]).T @ (one - mean[0]) + (zero - mean[1]).T @ (zero - mean[1])
    weight = np.linalg.solve(within / (len(x) - 2), mean[0] - mean[1])
    return weight, weight @ (mean[0] + mean[1]) / 2 - np.log(len(one) / len(zero))
