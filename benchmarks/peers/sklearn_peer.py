"""scikit-learn: the values alone, without any interval; and the usual mean of folds +- 2 s.e."""

import numpy as np
from protocol import main
from scipy.stats import t
from sklearn import metrics


def one_table(data, seed):
    y, pred = data["y_true"], data["y_pred"]
    scores = (
        metrics.accuracy_score, metrics.precision_score, metrics.recall_score, metrics.f1_score,
        metrics.balanced_accuracy_score, metrics.matthews_corrcoef, metrics.cohen_kappa_score,
    )  # fmt: skip
    return [score(y, pred) for score in scores]


def f1_value(data, seed):
    return [metrics.f1_score(data["y_true"], data["y_pred"])]


def macro_f1(data, seed):
    return [metrics.f1_score(data["y_true"], data["y_pred"], average="macro")]


def auc(data, seed):
    return [metrics.roc_auc_score(data["y_true"], data["score"])]


def compare_f1(data, seed):
    y = data["y_true"]
    return [metrics.f1_score(y, data["pred_b"]) - metrics.f1_score(y, data["pred_a"])]


def folds_t(data, seed):
    """Mean of the fold scores and Student's t: what people write next to cross_val_score."""
    pairs = zip(data["y_true"], data["y_pred"], strict=True)
    scores = np.array([metrics.f1_score(y, pred, zero_division=0) for y, pred in pairs])
    error = scores.std(ddof=1) / np.sqrt(scores.size)
    return [scores.mean() + t.ppf([0.025, 0.975], scores.size - 1) * error]


if __name__ == "__main__":
    main(
        "scikit-learn",
        {
            "one_table": one_table,
            "f1_value": f1_value,
            "macro_f1": macro_f1,
            "auc": auc,
            "compare_f1": compare_f1,
            "folds_f1": folds_t,
        },
    )
