"""What is asked of every batch, and the answers to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import check_level, refuse_if
from skuncertain._utils.warnings import silence
from skuncertain.comparison._compare import compare
from skuncertain.metrics._posterior import class_of
from skuncertain.monitoring._anytime import streams_of
from skuncertain.posteriors._about import About
from skuncertain.posteriors._interval import make_interval

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
    anytime: bool = False
    threshold: float | None = None

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

    def interval(self, counts, posterior=None, level=None, kind=None):
        """Interval of counts, by default the one that was asked for; `posterior` saves its work."""
        level = self.level if level is None else check_level(level)
        if self.anytime:
            refuse_if(
                kind is not None,
                "kind",
                "kind is how a posterior is cut, and with anytime=True the interval is no part of "
                "one: leave it out, or use posterior.interval(kind=...).",
            )
            return make_interval(*self.streams(counts).interval(counts.counts, level))
        posterior = self.posterior(counts) if posterior is None else posterior
        return posterior.interval(level, self.kind if kind is None else kind)

    def streams(self, counts):
        """Streams of rows that a confidence sequence rests on."""
        positive = counts.positive_index(self.metric, self.pos_label)
        return streams_of(self.metric, counts.n_classes, positive)

    def alarm(self, low, high):
        """Whether a whole interval is worse than the threshold."""
        return high < self.threshold if self.metric.greater_is_better else low > self.threshold

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
