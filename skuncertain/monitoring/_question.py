"""What is asked of every batch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.warnings import silence
from skuncertain.comparison._compare import compare
from skuncertain.metrics._posterior import class_of
from skuncertain.posteriors._about import About

_NAMES = ("past", "batch")


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of every batch."""

    metric: Any
    pos_label: Any
    prior: Any
    level: float
    kind: str
    rope: float
    n_draws: int | None
    seed: int

    def posterior(self, counts):
        """Posterior of the metric."""
        return counts.posterior(self.metric, **self._model_options())

    def _model_options(self):
        return {
            "pos_label": self.pos_label,
            "prior": self.prior,
            "n_draws": self.n_draws,
            "random_state": self.seed,
        }

    def interval_of(self, posterior, level=None, kind=None):
        """Interval of a posterior, by default the one that was asked for."""
        return posterior.interval(
            self.level if level is None else level, self.kind if kind is None else kind
        )

    def value(self, counts):
        """Value of the metric; NaN, without a warning, where it is 0/0."""
        with silence(UndefinedMetricWarning):
            return counts.score(self.metric, pos_label=self.pos_label)

    def compare(self, past, batch):
        """Comparison of the batch with the past, or None where one of them says nothing."""
        undirected = self.metric.greater_is_better is None
        if undirected or np.isnan([self.value(past), self.value(batch)]).any():
            return None
        options = {"metric": self.metric, "rope": self.rope, "names": _NAMES}
        return compare(past, batch, **options, **self._model_options())

    def class_in(self, counts):
        """Class that the metric depends on, or None."""
        positive = counts.positive_index(self.metric, self.pos_label)
        return class_of(self.metric, counts.labels, positive)

    def title(self, counts):
        """Metric with its class, in words."""
        return About(metric=self.metric.name, pos_label=self.class_in(counts)).question()
