"""The package prob-conf-mat: draws of confusion matrices, flat priors."""

import numpy as np
from prob_conf_mat import Study
from prob_conf_mat.stats import summarize_posterior
from protocol import main

NAMES = (
    "acc", "ba", "mcc", "kappa", "f1", "fbeta+beta=2.0", "informedness", "markedness", "ppv",
    "npv", "tpr", "tnr", "fpr", "fnr", "fdr", "for", "jaccard", "plr", "nlr", "dor",
    "prevalence", "prev_thresh",
)  # fmt: skip
PRIORS = {"prevalence_prior": "ones", "confusion_prior": "ones"}


def study_of(matrices, metrics, seed, num_samples=10_000, **options):
    study = Study(seed=seed, num_samples=num_samples, ci_probability=0.95)
    for name, matrix in matrices.items():
        study.add_experiment(name, confusion_matrix=matrix.tolist(), **PRIORS)
    for metric in metrics:
        study.add_metric(metric, **options)
    return study


def summary(study, metric, experiment="g/a", label=1):
    values = study.get_metric_samples(metric, experiment, "posterior").values
    return summarize_posterior(values[:, min(label, values.shape[1] - 1)], 0.95).hdi


def one_table(data, seed):
    study = study_of({"g/a": data["matrix"]}, NAMES, seed)
    return [summary(study, name) for name in NAMES]


def f1(data, seed):
    pairs = np.bincount(2 * data["y_true"] + data["y_pred"], minlength=4)
    study = study_of({"g/a": pairs.reshape(2, 2)}, ["f1"], seed)
    return [summary(study, "f1")]


def macro_f1(data, seed):
    draws = int(data.get("n_draws", 10_000))
    study = study_of({"g/a": data["matrix"]}, ["f1@macro"], seed, draws)
    return [summary(study, "f1@macro")]


def folds(data, seed):
    return [_folds(data["matrices"], name, seed) for name in ("ppv", "tpr", "acc", "f1")]


def _folds(matrices, metric, seed):
    named = {f"g/{k}": matrix for k, matrix in enumerate(matrices)}
    study = study_of(named, [metric], seed, aggregation="beta")
    return summary(study, metric, "g/aggregated")


def folds_f1(data, seed):
    cells = 2 * data["y_true"] + data["y_pred"]
    matrices = np.reshape([np.bincount(fold, minlength=4) for fold in cells], (-1, 2, 2))
    return [_folds(matrices, "f1", seed)]


def compare_f1(data, seed):
    study = study_of({"a/a": data["matrix_a"], "b/b": data["matrix_b"]}, ["f1"], seed)
    found = study.get_pairwise_comparison(
        metric="f1", class_label=1, experiment_a="b/b", experiment_b="a/a", min_sig_diff=0.01
    )
    return [found.p_direction]


def search(data, seed):
    """Ranks of all candidates by their pooled counts: it does not read fold scores."""
    named = {f"{k}/{k}": matrix for k, matrix in enumerate(data["pooled"])}
    study = study_of(named, ["acc"], seed)
    found = study.get_listwise_comparsion_result(metric="acc")
    return found.p_rank_given_experiment[:40]


if __name__ == "__main__":
    main(
        "prob-conf-mat",
        {
            "one_table": one_table,
            "f1": f1,
            "macro_f1": macro_f1,
            "folds": folds,
            "folds_f1": folds_f1,
            "compare_f1": compare_f1,
            "search": search,
        },
    )
