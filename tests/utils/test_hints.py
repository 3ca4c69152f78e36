"""The remedy "Did you mean 0.95?" is offered where percent is a plausible slip, nowhere else."""

import numpy as np
import pytest

from skuncertain import ConfusionCounts, compare
from skuncertain.metrics import get_metric, prior_from_metrics
from skuncertain.model_selection import fold_posterior
from skuncertain.monitoring import SequentialPosterior
from skuncertain.planning import required_sample_size

COUNTS = ConfusionCounts([[40, 10], [5, 45]])
FOLDS = ConfusionCounts(np.tile([[40, 10], [5, 45]], (5, 1, 1)))


def priors(precision):
    return prior_from_metrics(precision=precision, recall=0.5, accuracy=0.7, weight=3)


CALLS = {
    "level": lambda value: COUNTS.posterior("f1").interval(value),
    "prevalence": lambda value: COUNTS.posterior("precision", prevalence=value),
    "rope": lambda value: compare(COUNTS, COUNTS, metric="f1", rope=value),
    "expected": lambda value: required_sample_size(width=0.1, expected=value),
    "power": lambda value: required_sample_size(width=0.1, expected=0.9, power=value),
    "threshold": lambda value: get_metric("net_benefit", threshold=value),
    "precision": priors,
    "omega": lambda value: fold_posterior(FOLDS, "recall", omega=value),
    "discount": lambda value: SequentialPosterior("recall", discount=value),
}


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("level", 95, "0.95"),
        ("level", 1.5, None),
        ("level", 100, None),
        ("prevalence", 5, "0.05"),
        ("prevalence", 1.2, "0.012"),
        ("prevalence", 500, None),
        ("rope", 2, "0.02"),
        ("rope", 200, None),
        ("expected", 90, "0.9"),
        ("expected", 1.2, None),
        ("power", 80, "0.8"),
        ("power", 2, None),
        ("threshold", 10, "0.1"),
        ("precision", 80, "0.8"),
        ("precision", 1.1, None),
        ("omega", 1.2, None),
        ("omega", 20, None),
        ("discount", 98, None),
    ],
)
def test_percent(name, value, meant):
    with pytest.raises(ValueError, match=name) as error:
        CALLS[name](value)
    assert ("Did you mean" in str(error.value)) is (meant is not None)
    assert f"Did you mean {meant}?" in str(error.value) or meant is None
