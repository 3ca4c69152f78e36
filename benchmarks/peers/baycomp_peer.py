"""The package baycomp: the correlated t test of fold scores."""

import baycomp
from protocol import main


def compare_folds(data, seed):
    return [baycomp.two_on_single(data["scores_a"], data["scores_b"], rope=0.01)]


def search(data, seed):
    """Every candidate against the best one."""
    scores = data["scores"]
    best = scores[scores.mean(axis=1).argmax()]
    return [baycomp.two_on_single(best, other, rope=0.01) for other in scores]


if __name__ == "__main__":
    main("baycomp", {"compare_folds": compare_folds, "search": search})
