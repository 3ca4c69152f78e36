"""scipy.stats.bootstrap on rows, with statistics of whole arrays, as its manual advises."""

import numpy as np
from protocol import main
from scipy.stats import bootstrap, rankdata


def cells(y, pred, axis):
    """tp, fn, fp, tn along an axis."""
    hits = (y & pred).sum(axis=axis)
    positives, predicted = y.sum(axis=axis), pred.sum(axis=axis)
    return hits, positives - hits, predicted - hits, y.shape[axis] - positives - predicted + hits


def f1_of(y, pred, axis=-1):
    tp, fn, fp, _ = cells(y, pred, axis)
    return 2 * tp / (2 * tp + fp + fn)


def mcc_of(y, pred, axis=-1):
    tp, fn, fp, tn = cells(y, pred, axis)
    below = np.sqrt((tp + fn) * (tp + fp) * (tn + fn) * (tn + fp) * 1.0)
    return (tp * tn - fp * fn) / below


def kappa_of(y, pred, axis=-1):
    tp, fn, fp, tn = cells(y, pred, axis)
    return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


METRICS = {
    "accuracy": lambda y, p, axis=-1: (y == p).mean(axis=axis),
    "precision": lambda y, p, axis=-1: (y & p).sum(axis=axis) / p.sum(axis=axis),
    "recall": lambda y, p, axis=-1: (y & p).sum(axis=axis) / y.sum(axis=axis),
    "f1": f1_of,
    "balanced_accuracy": lambda y, p, axis=-1: (
        0.5 * ((y & p).sum(axis=axis) / y.sum(axis=axis))
        + 0.5 * ((1 - y) & (1 - p)).sum(axis=axis) / (1 - y).sum(axis=axis)
    ),
    "matthews_corrcoef": mcc_of,
    "cohen_kappa": kappa_of,
}


def interval(y, pred, statistic, seed, n_resamples=9999, method="BCa", vectorized=True):
    found = bootstrap(
        (y, pred),
        statistic,
        paired=True,
        vectorized=vectorized,
        n_resamples=n_resamples,
        method=method,
        batch=max(1, 2_000_000 // y.size),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return found.low, found.high


def one_table(data, seed):
    return [interval(data["y_true"], data["y_pred"], f, seed) for f in METRICS.values()]


def f1(data, seed):
    return [interval(data["y_true"], data["y_pred"], f1_of, seed)]


def bootstrap_f1(data, seed):
    resamples = int(data["n_resamples"])
    return [interval(data["y_true"], data["y_pred"], f1_of, seed, resamples, "percentile")]


def macro_f1(data, seed):
    classes = int(data["y_true"].max()) + 1

    def statistic(y, pred):
        hits = np.bincount(y[y == pred], minlength=classes)
        both = np.bincount(y, minlength=classes) + np.bincount(pred, minlength=classes)
        return np.mean(2 * hits / both)

    y, pred = data["y_true"], data["y_pred"]
    return [interval(y, pred, statistic, seed, 9999, "percentile", vectorized=False)]


def auc(data, seed):
    def statistic(y, score):
        rank, m = rankdata(score)[y == 1].sum(), y.sum()
        return (rank - m * (m + 1) / 2) / (m * (y.size - m))

    resamples = int(data["n_resamples"])
    y, score = data["y_true"], data["score"]
    return [interval(y, score, statistic, seed, resamples, "percentile", vectorized=False)]


def compare_f1(data, seed):
    def statistic(y, a, b, axis=-1):
        return f1_of(y, b, axis) - f1_of(y, a, axis)

    found = bootstrap(
        (data["y_true"], data["pred_a"], data["pred_b"]),
        statistic,
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(seed),
        batch=1000,
    )
    return [found.confidence_interval]


def folds_as_one(data, seed):
    """No method for folds: all out-of-fold predictions as if they were one test set."""
    return f1({"y_true": data["y_true"].ravel(), "y_pred": data["y_pred"].ravel()}, seed)


if __name__ == "__main__":
    main(
        "scipy",
        {
            "one_table": one_table,
            "f1": f1,
            "bootstrap_f1": bootstrap_f1,
            "macro_f1": macro_f1,
            "auc": auc,
            "compare_f1": compare_f1,
            "folds_f1": folds_as_one,
        },
    )
