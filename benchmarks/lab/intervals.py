"""Intervals of every method of the study, from the counts of all replications of a cell."""

from dataclasses import replace

import numpy as np

from lab.coverage import pooled_interval, values
from lab.resample import FOLDS, LEFT_OUT, NESTED_FOLDS, NESTED_REPEATS, PAIRS, SPLITS_OF_HALF
from skuncertain.metrics import ConfusionCounts, get_metric
from skuncertain.metrics._gradients import metric_influence
from skuncertain.model_selection._fold_t import score_posterior
from skuncertain.model_selection._folds import Folds
from skuncertain.model_selection._nested_designs import (
    conservative_z_estimate,
    nested_estimate,
    normal_ends,
)

LEVEL = 0.95
ESTIMANDS = ("fitted", "algorithm", "final")
REPEATS = (1, 2, 5)
SHARES = (0.9, 0.85)  # of the variance of a rule
DRAWS = 2000  # of MCC: ends are known to about 1.5 % of the width


def intervals(found, metric, n):
    """Ends, number of fits, and models that were fitted, by the name of the method.

    The last is (name of their truths, how many of them), or None if there is no such mean.
    """
    known = get_metric(metric)
    yield "hold-out, Wald", wald(found["holdout"], known), 1, ("holdout_truth", 1)
    single = ConfusionCounts(found["holdout"].astype(int)).posterior(metric, n_draws=DRAWS)
    yield "hold-out, credible", single.interval(LEVEL), 1, ("holdout_truth", 1)
    pooled = found["folds"][:, :FOLDS].sum(axis=1)
    yield "Wald on 10 folds", wald(pooled, known), FOLDS, ("truths", FOLDS)
    ends = corrected_t(found["folds"][:, :FOLDS], known, n)
    yield "Nadeau-Bengio on 10 folds", ends, FOLDS, ("truths", FOLDS)
    for number in (10, 25):
        ends = corrected_t(found["splits"][:, :number], known, n)
        yield f"corrected t, {number} splits", ends, number, ("split_truths", number)
    if "halves" in found:
        splits = found["splits"][:, :SPLITS_OF_HALF]
        ends = normal(conservative_z_estimate(splits, found["halves"], known, 1), known)
        fits = SPLITS_OF_HALF * (2 * PAIRS + 1)
        yield "conservative z, 10 x 5", ends, fits, ("split_truths", SPLITS_OF_HALF)
        ends = normal(nested_estimate(found["outer"], found["inner"], known, 1), known)
        fits = NESTED_REPEATS * NESTED_FOLDS * (NESTED_FOLDS + 1) // 2
        yield "nested cross-validation, 3 x 5", ends, fits, None
    for repeats in REPEATS:
        number = repeats * FOLDS
        folds = Folds(
            found["folds"][:, :number].astype(float), known, 1, repeats, n_draws=DRAWS,
            random_state=0, models=found["models"][:, :number, None].astype(float),
        )  # fmt: skip
        shown = "10 folds" if repeats == 1 else f"{repeats} x 10 folds"
        for rule, weight in weights(folds).items():
            ends = pooled_interval(folds, weight, LEVEL)
            yield f"{rule}, {shown}", ends, number, ("truths", number)


def weights(folds):
    """Weight of the pooled counts by the rules of the package, by the one before, and published."""
    variance = folds.variance
    k, r = variance.n_folds, variance.n_repeats
    blind = np.where(variance.fewest == 0, variance.binomial, variance.between)
    before = variance.binomial + k / (k - 1) * (1 + 1 / r) / 2 * blind
    found = {name: variance.omega(name) for name in ESTIMANDS}
    if r == 1:
        alone = replace(variance, jackknife=None, movement=None)
        found |= {f"{name} without models": alone.omega(name) for name in ESTIMANDS}
        with np.errstate(invalid="ignore"):
            found["omega before"] = np.where(before > 0, variance.binomial / before, 1.0)
    found["Wang and Li"] = np.full_like(before, (k + 1) / (2 * k))
    if folds.metric.name == "accuracy":  # is there room for shorter intervals?
        for share in SHARES:
            found |= {f"{name} with {share} V": found[name] / share for name in ESTIMANDS}
    return found


def wald(counts, metric):
    """Normal interval with the variance of independent rows, by the influence of each."""
    counts = counts.astype(float)
    value = metric_influence(counts, metric, 1)
    size = counts.sum(axis=(-2, -1))
    mean = (counts * value).sum(axis=(-2, -1)) / size
    away = np.square(value - mean[:, None, None])
    error = np.sqrt((counts * away).sum(axis=(-2, -1)) / (size - 1) / size)
    return normal_ends(values(metric, counts), error, LEVEL, metric.range)


def corrected_t(counts, metric, n):
    """Correlated t of the values of the tests; of values that are 0/0 the others are taken."""
    scores = values(metric, counts.astype(float))
    tested = round(LEFT_OUT * n)
    posterior = score_posterior(
        scores, "nadeau_bengio", n_train=n - tested, n_test=tested, metric=metric.name
    )
    return tuple(np.clip(end, *metric.range) for end in posterior.interval(LEVEL))


def normal(estimate, metric):
    return normal_ends(
        np.clip(estimate["estimate"], *metric.range), estimate["standard_error"], LEVEL,
        metric.range,
    )  # fmt: skip


def truths(found, metric):
    """Values of all models in the population, and what they are on average."""
    names = ("truths", "split_truths", "holdout_truth", "final")
    models = {name: values(metric, np.maximum(found[name], 0.0)) for name in names}
    models["holdout_truth"] = models["holdout_truth"][:, None]
    return models, {name: np.nanmean(part) for name, part in models.items()}


def evaluate(found, metric, n):
    """One dict per method: hits and number of every estimand, mean width, fits."""
    models, average = truths(found, metric)
    rows = []
    for name, (low, high), fits, fitted in intervals(found, metric, n):
        asked = {"at n": average["final"], "final": models["final"]}
        if fitted is not None:
            which, number = fitted
            asked["trained"] = average[which]
            asked["fitted"] = np.nanmean(models[which][:, :number], axis=1)
        row = {"metric": metric, "method": name, "fits": fits}
        row["width"] = float(np.nanmean(high - low))
        row["undefined"] = int(np.isnan(low).sum())
        for estimand, truth in asked.items():
            truth = np.broadcast_to(truth, low.shape)
            with np.errstate(invalid="ignore"):
                inside = (truth >= low - 1e-9) & (truth <= high + 1e-9)
            known = ~np.isnan(truth)
            row[estimand] = [int((inside & known).sum()), int(known.sum())]
        rows.append(row)
    return rows


def truth_error(found, metric):
    """Standard error of a truth by the noise of the test rows, from the parts of them."""
    blocks = values(metric, np.maximum(found["blocks"], 0.0))
    mean = np.nanmean(blocks, axis=0)  # over the models: what is left is the rows
    return float(np.nanstd(mean, ddof=1) / np.sqrt(len(mean)))
