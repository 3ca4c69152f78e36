"""The package credible: Beta posteriors, draws for F1, averages over folds, areas of ROC bands."""

import numpy as np
from credible.bayesian import kfold, metrics, utils
from credible.frequentist import metrics as frequentist
from protocol import main

NAMES = ("precision", "recall", "specificity", "accuracy", "jaccard", "f1")


def one_table(data, seed):
    y, pred = data["y_true"], data["y_pred"]
    rng = {"f1": {"rng": np.random.default_rng(seed)}}
    return [getattr(metrics, f"{name}_score")(y, pred, **rng.get(name, {}))[2:] for name in NAMES]


def f1(data, seed):
    found = metrics.f1_score(data["y_true"], data["y_pred"], rng=np.random.default_rng(seed))
    return [found[2:]]


def folds(data, seed):
    rng = np.random.default_rng(seed)
    y, pred = list(data["y_true"]), list(data["y_pred"])
    return [getattr(kfold, f"{name}_score")(y, pred, rng)[2:] for name in NAMES]


def folds_f1(data, seed):
    rng = np.random.default_rng(seed)
    return [kfold.f1_score(list(data["y_true"]), list(data["y_pred"]), rng)[2:]]


def bootstrap_f1(data, seed):
    found = frequentist.f1_score(
        data["y_true"],
        data["y_pred"],
        n_bootstraps=int(data["n_resamples"]),
        rng=np.random.default_rng(seed),
    )
    return [found[2:]]


def auc(data, seed):
    return [metrics.roc_auc_score(data["y_true"], data["score"])[1:]]


def compare_f1(data, seed):
    (_, fp, fn, tp), (_, fp2, fn2, tp2) = data["matrix_b"].ravel(), data["matrix_a"].ravel()
    rng = np.random.default_rng(seed)
    return [utils.compare_f1_scores(tp, fp, fn, tp2, fp2, fn2, 1.0, 100_000, rng)]


def compare_paired(data, seed):
    y, a, b = data["y_true"], data["pred_a"] == data["y_true"], data["pred_b"] == data["y_true"]
    n = np.sum(b & ~a), np.sum(a & ~b), y.size - np.sum(a != b)
    rng = np.random.default_rng(seed)
    return [utils.compare_systems(n, (0.5, 0.5, 0.5), 100_000, rng)]


if __name__ == "__main__":
    main(
        "credible",
        {
            "one_table": one_table,
            "f1": f1,
            "folds": folds,
            "folds_f1": folds_f1,
            "bootstrap_f1": bootstrap_f1,
            "auc": auc,
            "compare_f1": compare_f1,
            "compare_paired": compare_paired,
        },
    )
