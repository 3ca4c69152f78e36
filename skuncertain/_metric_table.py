"""The table of metrics: formulas, ranges, directions and aliases."""

from functools import partial

import numpy as np

from skuncertain import _metric_formulas as formulas

AVERAGES = ("micro", "macro", "weighted")
# name: weights of (tp, fn, fp, tn) above and below, direction, formula
LINEAR_FRACTIONAL = {
    "precision": ((1, 0, 0, 0), (1, 0, 1, 0), True, "tp / (tp + fp)"),
    "npv": ((0, 0, 0, 1), (0, 1, 0, 1), True, "tn / (tn + fn)"),
    "recall": ((1, 0, 0, 0), (1, 1, 0, 0), True, "tp / (tp + fn)"),
    "specificity": ((0, 0, 0, 1), (0, 0, 1, 1), True, "tn / (tn + fp)"),
    "fpr": ((0, 0, 1, 0), (0, 0, 1, 1), False, "fp / (fp + tn)"),
    "fnr": ((0, 1, 0, 0), (1, 1, 0, 0), False, "fn / (fn + tp)"),
    "fdr": ((0, 0, 1, 0), (1, 0, 1, 0), False, "fp / (fp + tp)"),
    "false_omission_rate": ((0, 1, 0, 0), (0, 1, 0, 1), False, "fn / (fn + tn)"),
    "prevalence": ((1, 1, 0, 0), (1, 1, 1, 1), None, "(tp + fn) / n"),
    "predicted_positive_rate": ((1, 0, 1, 0), (1, 1, 1, 1), None, "(tp + fp) / n"),
    "jaccard": ((1, 0, 0, 0), (1, 1, 1, 0), True, "tp / (tp + fp + fn)"),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0), True, "2 tp / (2 tp + fp + fn)"),
}
OF_CELLS = {
    "g_score": (formulas.g_score, (0, 1), True, "sqrt(precision * recall)"),
    "g_mean": (formulas.g_mean, (0, 1), True, "sqrt(recall * specificity)"),
    "informedness": (formulas.informedness, (-1, 1), True, "recall + specificity - 1"),
    "markedness": (formulas.markedness, (-1, 1), True, "precision + npv - 1"),
    "positive_likelihood_ratio": (formulas.lr_positive, (0, np.inf), True, "recall / fpr"),
    "negative_likelihood_ratio": (formulas.lr_negative, (0, np.inf), False, "fnr / specificity"),
    "diagnostic_odds_ratio": (formulas.odds_ratio, (0, np.inf), True, "tp tn / (fp fn)"),
    "prevalence_threshold": (
        formulas.prevalence_threshold,
        (0, 1),
        False,
        "sqrt(fpr) / (sqrt(recall) + sqrt(fpr))",
    ),
}
OF_MATRIX = {
    "accuracy": (
        formulas.accuracy,
        (0, 1),
        True,
        "share of right predictions; of two classes (tp + tn) / n",
    ),
    "error_rate": (
        formulas.error_rate,
        (0, 1),
        False,
        "share of wrong predictions; of two classes (fn + fp) / n",
    ),
    "balanced_accuracy": (
        formulas.balanced_accuracy,
        (0, 1),
        True,
        "mean of the recalls; of two classes (recall + specificity) / 2",
    ),
    "matthews_corrcoef": (
        partial(formulas.of_classes, function=formulas.matthews),
        (-1, 1),
        True,
        "correlation of truth and prediction; of two classes "
        "(tp tn - fp fn) / sqrt((tp + fp) (tp + fn) (tn + fp) (tn + fn))",
    ),
    "cohen_kappa": (
        partial(formulas.of_classes, function=formulas.kappa),
        (-1, 1),
        True,
        "(accuracy - chance) / (1 - chance), with the accuracy that chance would give",
    ),
    "cohen_kappa_linear": (
        partial(formulas.weighted_kappa, weights="linear"),
        (-1, 1),
        True,
        "1 - disagreement / that of chance, errors weighted with |i - j|",
    ),
    "cohen_kappa_quadratic": (
        partial(formulas.weighted_kappa, weights="quadratic"),
        (-1, 1),
        True,
        "1 - disagreement / that of chance, errors weighted with (i - j)**2",
    ),
    "null_accuracy": (
        formulas.null_accuracy,
        (0, 1),
        None,
        "share of the largest class; of two classes max(prevalence, 1 - prevalence)",
    ),
    "null_error_rate": (
        formulas.null_error_rate,
        (0, 1),
        None,
        "1 - share of the largest class; of two classes min(prevalence, 1 - prevalence)",
    ),
}
TWO_CLASS_WEIGHTS = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "error_rate": ((0, 1, 1, 0), (1, 1, 1, 1)),
}
AVERAGED = [
    "precision",
    "npv",
    "recall",
    "specificity",
    "fpr",
    "fnr",
    "fdr",
    "false_omission_rate",
    "f1",
    "fbeta",
    "jaccard",
    "g_score",
    "g_mean",
    "informedness",
    "markedness",
]
ALIASES = {
    "acc": "accuracy",
    "ppv": "precision",
    "tpr": "recall",
    "sensitivity": "recall",
    "tnr": "specificity",
    "for": "false_omission_rate",
    "fowlkes_mallows": "g_score",
    "bm": "informedness",
    "youden_j": "informedness",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "lr+": "positive_likelihood_ratio",
    "lr-": "negative_likelihood_ratio",
    "dor": "diagnostic_odds_ratio",
    "bacc": "balanced_accuracy",
    "dice": "f1",
}
