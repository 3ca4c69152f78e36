"""The bare operation that a job cannot avoid: what nobody can be faster than by much."""

import numpy as np
from protocol import main
from scipy.special import betaincinv


def count_and_invert(data, seed):
    """Count the four cells, and invert as many Beta distributions as there are metrics."""
    _, _, fn, tp = np.bincount(2 * data["y_true"] + data["y_pred"], minlength=4) + 0.5
    ends = np.array([[0.025], [0.975]])
    return betaincinv(np.full(7, tp), np.full(7, fn), ends).T


def gamma_draws(data, seed):
    """As many draws of all cells as we take: 20,000, fewer for many classes, 1,000 at least."""
    rng = np.random.default_rng(seed)
    matrix = data["matrix"].ravel() + 0.1
    n_draws = int(data.get("n_draws", np.clip(5e7 / matrix.size, 1000, 20_000)))
    step = max(1, 131_072 // matrix.size)
    total = 0.0
    for _ in range(0, n_draws, step):
        total += rng.standard_gamma(matrix, size=(step, matrix.size))[0, 0]
    return [total]


def count_and_resample(data, seed):
    """Count the four cells, and draw the resamples of their counts."""
    cells = np.bincount(2 * data["y_true"] + data["y_pred"], minlength=4)
    resamples = int(data["n_resamples"])
    drawn = np.random.default_rng(seed).multinomial(cells.sum(), cells / cells.sum(), resamples)
    return np.quantile(drawn[:, 3], [0.025, 0.975])


def sort(data, seed):
    """Sort the scores."""
    return [np.argsort(data["score"])[0]]


def moments(data, seed):
    """Mean and variance of the difference to the best candidate."""
    scores = data["scores"]
    gap = scores - scores[scores.mean(axis=1).argmax()]
    return [gap.mean(axis=1)[0], gap.var(axis=1)[0]]


def sum_folds(data, seed):
    matrix = data["matrices"].sum(axis=0) + 1.0
    return betaincinv(matrix[1, 1], matrix[0, 1], [0.025, 0.975])


if __name__ == "__main__":
    main(
        "numpy",
        {
            "one_table": count_and_invert,
            "macro_f1": gamma_draws,
            "bootstrap_f1": count_and_resample,
            "auc": sort,
            "search": moments,
            "folds": sum_folds,
        },
    )
