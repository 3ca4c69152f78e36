"""The names that metrics go by: spellings of the literature, and what a slip may have meant."""

import re

from skuncertain._utils.validation import alternatives, nearest_name
from skuncertain.metrics._formulas import AVERAGED, AVERAGES

# Other names of a metric; the first ones are the usual ones, which lists of metrics show.
_OTHER_NAMES = {
    "accuracy": "acc classification_accuracy overall_accuracy",
    "error_rate": "error misclassification_rate misclassification_error classification_error "
    "zero_one_loss",
    "precision": "ppv positive_predictive_value",
    "npv": "negative_predictive_value",
    "recall": "tpr sensitivity true_positive_rate tp_rate hit_rate probability_of_detection power",
    "specificity": "tnr true_negative_rate selectivity tn_rate",
    "fpr": "false_positive_rate fall_out fallout fp_rate false_alarm_rate "
    "probability_of_false_alarm type_i_error type_i_error_rate type_1_error type_1_error_rate",
    "fnr": "false_negative_rate miss_rate fn_rate "
    "type_ii_error type_ii_error_rate type_2_error type_2_error_rate",
    "fdr": "false_discovery_rate false_alarm_ratio",
    "false_omission_rate": "for",
    "prevalence": "base_rate",
    "predicted_positive_rate": "ppr positive_labeling_rate labeling_rate "
    "positive_labelling_rate labelling_rate selection_rate",
    "predicted_negative_rate": "pnr negative_labeling_rate negative_labelling_rate",
    "jaccard": "iou csi jaccard_index jaccard_coefficient jaccard_similarity "
    "intersection_over_union critical_success_index threat_score",
    "f1": "dice f_score f_measure f1_measure f_1 dice_coefficient dice_index "
    "dice_similarity_coefficient sorensen_dice",
    "fbeta": "f_beta f_beta_measure fbeta_measure",
    "g_score": "fowlkes_mallows fowlkes_mallows_index",
    "informedness": "bm youden_j bookmaker_informedness youden youden_index youden_j_index "
    "youden_j_statistic youden_statistic youdens_j youdens_index true_skill_statistic tss",
    "markedness": "mk",
    "matthews_corrcoef": "mcc matthews_correlation matthews_correlation_coefficient "
    "phi_coefficient",
    "cohen_kappa": "kappa cohens_kappa",
    "cohen_kappa_linear": "linear_weighted_kappa",
    "cohen_kappa_quadratic": "quadratic_weighted_kappa",
    "positive_likelihood_ratio": "lr+ plr",
    "negative_likelihood_ratio": "lr- nlr",
    "diagnostic_odds_ratio": "dor odds_ratio",
    "balanced_accuracy": "bacc balanced_acc",
    "null_error_rate": "null_error",
    "roc_auc": "auc auroc rocauc auc_roc area_under_roc area_under_the_roc area_under_roc_curve "
    "area_under_the_roc_curve area_under_the_receiver_operating_characteristic_curve "
    "area_under_the_receiver_operating_characteristic c_statistic",
    "average_precision": "ap pr_auc auprc",
    "log_loss": "logloss cross_entropy",
    "brier_score": "brier brier_loss brier_score_loss",
}
ALIASES = {alias: name for name, others in _OTHER_NAMES.items() for alias in others.split()}
# Names that the literature gives to more than one metric.
_AMBIGUOUS = {
    "j_index": ("jaccard", "informedness"),
    "jindex": ("jaccard", "informedness"),
    "g_measure": ("g_score", "g_mean"),
    "geometric_mean": ("g_score", "g_mean"),
    "lr": ("lr+", "lr-"),
    "likelihood_ratio": ("lr+", "lr-"),
    "predictive_value": ("ppv", "npv"),
    "phi": ("phi_coefficient", "prevalence"),  # φ is the prevalence where rates are modelled
    "φ": ("phi_coefficient", "prevalence"),
    "ϕ": ("phi_coefficient", "prevalence"),
    "beta": ("fbeta", "fnr"),  # β is the type II error
    "weighted_kappa": ("cohen_kappa_linear", "cohen_kappa_quadratic"),
    "kappa_weighted": ("cohen_kappa_linear", "cohen_kappa_quadratic"),
}
_CELLS = {"tp": "true positives", "fn": "false negatives", "fp": "false positives"}
_CELLS["tn"] = "true negatives"
_REGRESSION = (
    *("r2", "explained_variance", "d2_absolute_error", "neg_max_error"),
    *(f"neg_mean_{end}" for end in ("absolute_error", "squared_error", "squared_log_error")),
    *(f"neg_mean_{end}" for end in ("absolute_percentage_error", "gamma_deviance")),
    *("neg_mean_poisson_deviance", "neg_median_absolute_error"),
    *(f"neg_root_mean_squared{end}_error" for end in ("", "_log")),
)
_CLUSTERS = (
    *("adjusted_mutual_info", "adjusted_rand", "completeness", "homogeneity", "mutual_info"),
    *("normalized_mutual_info", "rand", "v_measure"),
    "fowlkes_mallows_score",  # without the ending it is a metric of one class
)
_WHICH = "|".join(AVERAGES)
_AVERAGE_FIRST = re.compile(rf"({_WHICH})(?:_?averag(?:e|ed|ing)|_avg)?_(.+)")
_AVERAGE_LAST = re.compile(rf"(.+)_({_WHICH})(?:_averaged?|_avg)?")


def aliases_of(name):
    """Other names of a metric, the usual ones first."""
    return _OTHER_NAMES.get(name, "").split()


def _spelled(name):
    """Name in lower case; blanks, hyphens and underscores between words are the same."""
    text = name.strip().lower().replace("\N{MINUS SIGN}", "-")
    text = re.sub(r"['\N{RIGHT SINGLE QUOTATION MARK}](s\b)?", "", text)  # Youden's, Cohen's
    text = re.sub(r"\s+(?=[+-]$)", "", text)
    text = re.sub(r"\s*@\s*", "_at_", text)  # precision@10
    return re.sub(r"(?<=\w)[\s_\-\N{EN DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}]+(?=\w)", "_", text)


def split_name(name, known):
    """Canonical name of a metric without its average, and the average or None.

    The average stands last or first: "f1_macro", "macro F1" and "macro-averaged F1" are the same.
    """
    key = _spelled(name)
    base, average = key, None
    if key not in known and key not in ALIASES and key not in _AMBIGUOUS:
        last, first = _AVERAGE_LAST.fullmatch(key), _AVERAGE_FIRST.fullmatch(key)
        if last:
            base, average = last.groups()
        elif first:
            average, base = first.groups()
    plain = base not in known and base not in ALIASES and base not in _CLUSTERS
    if base.endswith("_score") and plain:
        base = base[:-6]  # the name of scikit-learn's function
    return ALIASES.get(base, base), average


def name_hint(name, base, average, known):
    """What somebody may have meant who wrote a name that is not `known`."""
    key = base if average is None else f"{base}_{average}"
    if base.endswith("_samples"):
        return " It is an average over the labels of multilabel rows: here every row has one label."
    if (base.startswith("neg_") and base in _REGRESSION) or base in _REGRESSION:
        return " It is a score of regression."
    if base in _CLUSTERS:
        return " It compares clusterings, whose labels have no meaning."
    if base in _CELLS:
        return f" It is the number of {_CELLS[base]}, not a metric."
    for asked in (base, _spelled(name)):
        if asked in _AMBIGUOUS:
            return f" It has more than one meaning: {alternatives(_AMBIGUOUS[asked])}."
    if base in known:
        return f" {base!r} has no {average} average."
    meaning = {name: name for name in (*known, "f0.5", "f2") if not _AVERAGE_LAST.fullmatch(name)}
    meaning |= ALIASES
    averages = {
        f"{alias}_{of}": f"{name}_{of}"
        for alias, name in meaning.items()
        if name in AVERAGED or alias in ("f0.5", "f2")
        for of in AVERAGES
    }
    parts = [part.strip("_") for part in key.split(",")]
    if len(parts) > 1 and all(part in meaning or part in averages for part in parts):
        return " It names several metrics: give one."
    short = key.removesuffix("score").rstrip("_-")
    if short in meaning:
        return f" Did you mean {short!r}?"
    if len(key) <= 3:  # one letter of three makes another abbreviation, no slip
        meaning = {name: of for name, of in meaning.items() if sorted(name) == sorted(key)}
    if key.startswith("neg_"):
        meaning = {f"neg_{name}": f"neg_{meaning[name]}" for name in meaning if "loss" in name}
    return nearest_name(key, meaning, meaning) or nearest_name(key, averages, averages)
