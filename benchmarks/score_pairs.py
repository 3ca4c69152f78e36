"""How often compare_paired finds a difference between two models that are equally good.

Two models see the same hidden score of every row, each with noise of its own and of the same size,
so that no metric tells them apart in the population. A 95 % interval of the difference should hold
0 in 95 % of the samples. Cells, seeds and replications are fixed here.

Run it with ``python benchmarks/score_pairs.py``.
"""

from itertools import product

import numpy as np
from scipy.special import expit
from scipy.stats import beta

from skuncertain import compare_paired
from skuncertain._utils.warnings import silence

METRICS = ("log_loss", "brier_score", "d2_log_loss_score", "roc_auc", "average_precision")
ROWS = (40, 100, 400)
PREVALENCES = (0.5, 0.1)
TEMPERATURES = (1.0, 3.0)  # 3: probabilities that are far too sure, so that losses have heavy tails
REPLICATIONS, SEED = 1000, 20


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


def main():
    """Print coverage and the median width of every cell."""
    print("metric              n    prevalence  temperature  coverage  low at 93 %")
    for k, (n, prevalence, temperature) in enumerate(product(ROWS, PREVALENCES, TEMPERATURES)):
        rng = np.random.default_rng([SEED, k])
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
    main()
