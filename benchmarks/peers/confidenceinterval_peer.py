"""The package confidenceinterval: Wilson, Takahashi's delta method, DeLong, bootstrap by rows."""

import confidenceinterval as ci
from protocol import main


def one_table(data, seed):
    y, pred = data["y_true"], data["y_pred"]
    simple = (ci.accuracy_score, ci.ppv_score, ci.npv_score, ci.tpr_score, ci.fpr_score)
    found = [score(y, pred)[1] for score in (*simple, ci.tnr_score)]
    return [*found, ci.f1_score(y, pred, average="binary")[1]]


def f1(data, seed):
    return [ci.f1_score(data["y_true"], data["y_pred"], average="binary")[1]]


def macro_f1(data, seed):
    return [ci.f1_score(data["y_true"], data["y_pred"], average="macro")[1]]


def bootstrap_f1(data, seed):
    return [
        ci.f1_score(
            data["y_true"], data["y_pred"], average="binary", method="bootstrap_percentile",
            n_resamples=int(data["n_resamples"]), random_state=seed,
        )[1]
    ]  # fmt: skip


def auc(data, seed):
    return [ci.roc_auc_score(data["y_true"], data["score"])[1]]


def folds_as_one(data, seed):
    """No method for folds: all out-of-fold predictions as if they were one test set."""
    return f1({"y_true": data["y_true"].ravel(), "y_pred": data["y_pred"].ravel()}, seed)


if __name__ == "__main__":
    main(
        "confidenceinterval",
        {
            "one_table": one_table,
            "f1": f1,
            "macro_f1": macro_f1,
            "bootstrap_f1": bootstrap_f1,
            "auc": auc,
            "folds_f1": folds_as_one,
        },
    )
