"""How often compare_paired finds a difference between two models that are equally good.

Two models see the same hidden score of every row, each with noise of its own and of the same size,
so that no metric tells them apart in the population. A 95 % interval of the difference should hold
0 in 95 % of the samples. Cells, seeds and replications are fixed here.

On the first cells the D2 scores held 0 too rarely with few positives, and their variance was given
a floor. "fresh" are cells that the floor was not chosen on.

Run it with ``python benchmarks/score_pairs.py [first|fresh]``.
"""

import sys
from itertools import product

import numpy as np
from scipy.special import expit
from scipy.stats import beta

from skuncertain import compare_paired
from skuncertain._utils.warnings import silence

METRICS = ("log_loss", "brier_score", "d2_log_loss_score", "roc_auc", "average_precision")
# Rows, prevalences, temperatures and seed. A temperature of 2 or 3 makes probabilities that are far
# too sure, so that losses have heavy tails.
CELLS = {
    "first": ((40, 100, 400), (0.5, 0.1), (1.0, 3.0), 20),
    "fresh": ((30, 60, 200), (0.3, 0.07), (0.7, 2.0), 21),
}
REPLICATIONS = 1000


def sample(n, prevalence, temperature, rng):
    """Labels and probabilities of two models that are equally good; both classes occur."""
    while True:
        y = (rng.random(n) < prevalence).astype(int)
        if 1 < y.sum() < n - 1:
            break
    hidden = 1.2 * rng.normal(size=n) + 1.5 * y
    odds = np.log(prevalence / (1 - prevalence)) - 0.75
    noise = 0.7 * rng.normal(size=(2, n))
    return y, expit(temperature * (hidden + noise + odds))


def upper(hits, n):
    """One-sided 99 % Clopper-Pearson bound."""
    return 1.0 if hits == n else float(beta.ppf(0.99, hits + 1, n - hits))


def main(which):
    """Print the coverage of every cell."""
    rows, prevalences, temperatures, seed = CELLS[which]
    print("metric              n    prevalence  temperature  coverage  low at 93 %")
    for k, (n, prevalence, temperature) in enumerate(product(rows, prevalences, temperatures)):
        rng = np.random.default_rng([seed, k])
        held = dict.fromkeys(METRICS, 0)
        for _ in range(REPLICATIONS):
            y, (a, b) = sample(n, prevalence, temperature, rng)
            for name in METRICS:
                with silence():
                    low, high = compare_paired(y, a, b, metric=name).interval()
                held[name] += low <= 0 <= high
        for name, hits in held.items():
            mark = "low" if upper(hits, REPLICATIONS) < 0.93 else ""
            share = hits / REPLICATIONS
            print(f"{name:<18}  {n:<4} {prevalence:<10}  {temperature:<11}  {share:.3f}     {mark}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["fresh"]))
