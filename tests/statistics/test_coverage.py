"""Does a nominal 95 % interval hold the truth 95 % of the time? Simulated, defaults only."""

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain.metrics import get_metric

pytestmark = [
    pytest.mark.slow,
    # Small samples with empty rows are what these studies are about.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::skuncertain.exceptions.SmallSampleWarning"),
]


def _coverage(stack, metric, truth, **options):
    low, high = stack.posterior(metric, **options).interval()
    return np.mean((low <= truth) & (truth <= high))


def _slack(level, n):
    """Two Monte Carlo standard errors."""
    return 2 * np.sqrt(level * (1 - level) / n)


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("prevalence", [0.05, 0.5])
def test_two_classes(n, prevalence, global_random_seed):
    # 2 % errors in both classes
    replications = 2000
    rng = np.random.default_rng(global_random_seed)
    p = np.array(
        [[0.98 * (1 - prevalence), 0.02 * (1 - prevalence)], [0.02 * prevalence, 0.98 * prevalence]]
    )
    stack = ConfusionCounts(rng.multinomial(n, p.ravel(), size=replications).reshape(-1, 2, 2))
    for name in ("accuracy", "precision", "recall", "f1"):
        covered = _coverage(stack, name, get_metric(name)(p))
        assert covered >= 0.90 - _slack(0.9, replications), name
    part = stack[:500]
    covered = _coverage(part, "mcc", get_metric("mcc")(p), n_draws=2000, random_state=0)
    assert covered >= 0.90 - _slack(0.9, 500)


def test_ten_classes(global_random_seed):
    n, n_classes, accuracy, replications = 300, 10, 0.97, 400
    p = np.full((n_classes, n_classes), (1 - accuracy) / (n_classes * (n_classes - 1)))
    np.fill_diagonal(p, accuracy / n_classes)
    rng = np.random.default_rng(global_random_seed)
    stack = ConfusionCounts(
        rng.multinomial(n, p.ravel(), size=replications).reshape(-1, n_classes, n_classes)
    )
    for name, options in (
        ("accuracy", {}),
        ("balanced_accuracy", {}),
        ("f1_macro", {"random_state": 0}),
    ):
        covered = _coverage(stack, name, get_metric(name)(p), **options)
        assert covered >= 0.90 - _slack(0.9, replications), name
    for name in ("recall", "f1"):
        truth = get_metric(name)(p, positive=3)
        assert _coverage(stack, name, truth, pos_label=3) >= 0.90 - _slack(0.9, replications), name
    # What the default avoids: 1/C per cell covers next to nothing.
    naive = _coverage(stack, "accuracy", accuracy, prior=1 / n_classes)
    assert naive < 0.5
