"""The package MLstatkit: bootstrap by rows, DeLong's test."""

from MLstatkit import Bootstrapping, Delong_test
from protocol import main


def bootstrap_f1(data, seed):
    found = Bootstrapping(
        data["y_true"],
        data["y_pred"],
        "f1",
        n_bootstraps=int(data.get("n_resamples", 1000)),
        average="binary",
        random_state=seed,
    )
    return [found[1:]]


def auc(data, seed):
    """Its DeLong interval comes with a test of two scores: the second one is noise."""
    found = Delong_test(data["y_true"], data["score"], data["other"], return_ci=True)
    return [found[2]]


def compare_auc(data, seed):
    return [Delong_test(data["y_true"], data["score"], data["other"])[1]]


def folds_as_one(data, seed):
    """No method for folds: all out-of-fold predictions as if they were one test set."""
    rows = {name: data[name].ravel() for name in ("y_true", "y_pred")}
    return bootstrap_f1({**data, **rows}, seed)


if __name__ == "__main__":
    main(
        "MLstatkit",
        {
            "f1": bootstrap_f1,
            "bootstrap_f1": bootstrap_f1,
            "auc": auc,
            "compare_auc": compare_auc,
            "folds_f1": folds_as_one,
        },
    )
