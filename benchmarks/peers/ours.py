"""skuncertain, asked the same questions with the same input as each peer."""

from protocol import main

from skuncertain import (
    ConfusionCounts,
    compare,
    compare_cv,
    compare_paired,
    confidence_interval,
    credible_interval,
    search_posterior,
)
from skuncertain.comparison import compare_auc
from skuncertain.metrics import auc_posterior
from skuncertain.model_selection import fold_posterior

# The metrics that a peer has, in our names.
SETS = {
    "confidenceinterval": ("accuracy", "precision", "npv", "recall", "fpr", "specificity", "f1"),
    "credible": ("precision", "recall", "specificity", "accuracy", "jaccard", "f1"),
    "prob-conf-mat": (
        "accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "f2", "informedness", "markedness",
        "precision", "npv", "recall", "specificity", "fpr", "fnr", "fdr", "false_omission_rate",
        "jaccard", "lr+", "lr-", "dor", "prevalence", "prevalence_threshold",
    ),
    "scipy": (
        "accuracy", "precision", "recall", "f1", "balanced_accuracy", "matthews_corrcoef",
        "cohen_kappa",
    ),
}  # fmt: skip


def from_labels(names):
    def job(data, seed):
        counts = ConfusionCounts.from_predictions(data["y_true"], data["y_pred"])
        return [counts.posterior(name).interval() for name in names]

    return job


def from_matrix(names):
    def job(data, seed):
        counts = ConfusionCounts(data["matrix"])
        return [counts.posterior(name, random_state=seed).interval() for name in names]

    return job


def f1(data, seed):
    return [credible_interval(data["y_true"], data["y_pred"], metric="f1")]


def macro_f1_labels(data, seed):
    y, pred = data["y_true"], data["y_pred"]
    return [credible_interval(y, pred, metric="f1_macro", random_state=seed)]


def folds(names):
    def job(data, seed):
        counts = ConfusionCounts(data["matrices"])
        return [fold_posterior(counts, name).interval() for name in names]

    return job


def folds_f1(data, seed):
    pairs = zip(data["y_true"], data["y_pred"], strict=True)
    folds = [ConfusionCounts.from_predictions(y, p, labels=[0, 1]).counts for y, p in pairs]
    return [fold_posterior(ConfusionCounts(folds), "f1", estimand="algorithm").interval()]


def folds_labels(data, seed):
    pairs = zip(data["y_true"], data["y_pred"], strict=True)
    found = [ConfusionCounts.from_predictions(y, p, labels=[0, 1]).counts for y, p in pairs]
    return folds(SETS["credible"])({"matrices": found}, seed)


def bootstrap_f1(data, seed):
    return [
        confidence_interval(
            data["y_true"],
            data["y_pred"],
            metric="f1",
            method="bootstrap",
            n_resamples=int(data["n_resamples"]),
            random_state=seed,
        )
    ]


def auc(data, seed):
    return [auc_posterior(data["y_true"], data["score"]).interval()]


def compare_f1(data, seed):
    a, b = ConfusionCounts(data["matrix_a"]), ConfusionCounts(data["matrix_b"])
    return [compare(a, b, metric="f1").p_better]


def compare_f1_rope(data, seed):
    a, b = ConfusionCounts(data["matrix_a"]), ConfusionCounts(data["matrix_b"])
    return [compare(a, b, metric="f1", rope=0.01).p_better]


def compare_rows(metric):
    def job(data, seed):
        found = compare_paired(
            data["y_true"], data["pred_a"], data["pred_b"], metric=metric, random_state=seed
        )
        return [found.p_better]

    return job


def compare_areas(data, seed):
    return [compare_auc(data["y_true"], data["score"], data["other"]).p_better]


def compare_folds(data, seed):
    found = compare_cv(data["scores_a"], data["scores_b"], rope=0.01)
    return [found.p_worse, found.p_equivalent, found.p_better]


def search(data, seed):
    scores = data["scores"]
    results = {f"split{k}_test_score": scores[:, k] for k in range(scores.shape[1])}
    return search_posterior(results, n_repeats=1, random_state=seed).p_best


def search_counts(data, seed):
    cells = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    results = {
        f"split{k}_test_{name}": data["cells"][:, k, i, j]
        for name, (i, j) in cells.items()
        for k in range(data["cells"].shape[1])
    }
    found = search_posterior(results, metric="accuracy", n_repeats=1, random_state=seed)
    return found.p_best


if __name__ == "__main__":
    main(
        "skuncertain",
        {
            **{f"one_table:{peer}": from_labels(names) for peer, names in SETS.items()},
            "one_table:prob-conf-mat": from_matrix(SETS["prob-conf-mat"]),
            "f1": f1,
            "macro_f1": from_matrix(["f1_macro"]),
            "macro_f1:labels": macro_f1_labels,
            "folds": folds(["precision", "recall", "accuracy", "f1"]),
            "folds:labels": folds_labels,
            "folds_f1": folds_f1,
            "bootstrap_f1": bootstrap_f1,
            "auc": auc,
            "compare_f1": compare_f1,
            "compare_f1:rope": compare_f1_rope,
            "compare_f1:paired": compare_rows("f1"),
            "compare_paired": compare_rows("accuracy"),
            "compare_auc": compare_areas,
            "compare_folds": compare_folds,
            "search": search,
            "search:counts": search_counts,
        },
    )
