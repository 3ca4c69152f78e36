"""Many models on a leaderboard by a metric of scores or probabilities of the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from skuncertain._numerics.fold_ranking import tie_groups
from skuncertain.comparison._leaderboard_ranks import row_draws
from skuncertain.comparison._score_gap import (
    gap_of,
    loss_influence,
    ranking_variance,
    what_counts,
)
from skuncertain.comparison._score_pairs import hits_of, read_scores, refuse_prior
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._scores.posterior import checked_estimate, of_rows, question_of_scores


@dataclass(frozen=True, eq=False)
class ScoreBoard:
    """Rows and estimates of one model of every tie group.

    Attributes
    ----------
    metric : ScoreMetric
        The metric.
    rows : list of RowScores
        Scores of every group.
    estimates : list of Estimate
        Value and influences of every group.
    group : ndarray of shape (m,)
        Tie group of every model.
    """

    metric: Any
    rows: list
    estimates: list
    group: np.ndarray

    @classmethod
    def read(cls, names, entries, y_true, metric, labels, pos_label):
        """Read the scores of all models."""
        said = [f"results[{name!r}]" for name in names]
        rows = read_scores(y_true, entries, metric, said, labels, pos_label, "results")
        estimates = [checked_estimate(metric, one) for one in rows]
        pairs = zip(rows, estimates, strict=True)
        group = tie_groups(np.stack([what_counts(metric, *pair) for pair in pairs]))
        first = np.unique(group, return_index=True)[1]  # one model of every group
        return cls(metric, [rows[k] for k in first], [estimates[k] for k in first], group)

    @property
    def n(self):
        """Number of rows."""
        return self.rows[0].codes.size

    @property
    def n_groups(self):
        """Models that differ."""
        return len(self.rows)

    @property
    def about(self):
        """What is asked of every model."""
        return question_of_scores(self.metric, self.rows[0])

    def posteriors(self):
        """Posterior of every group, as of that model alone."""
        return [of_rows(self.metric, one, self.about) for one in self.rows]

    def draw(self, prior, n_draws, seed):
        """Draws ``(groups, n_draws)`` whose differences are those of `compare_scores`."""
        if self.metric.family == "share":
            hits = np.array([hits_of(self.metric, one) for one in self.rows])
            share = count_metric("accuracy")  # of rows of class 1, where a hit is predicted as 1
            return row_draws(2 + hits, share, None, 2, prior, n_draws, seed)
        refuse_prior(self.metric, prior)
        variance, df = self._differences()
        m = self.n_groups
        centring = np.eye(m) - 1 / m
        # Squared distances between points that are the errors of the models
        values, vectors = np.linalg.eigh(-0.5 * centring @ variance @ centring)
        axes = vectors * np.sqrt(np.maximum(values, 0.0))
        rng = np.random.default_rng(seed)
        errors = axes @ rng.standard_normal((m, n_draws))
        if np.isfinite(df):
            errors /= np.sqrt(rng.chisquare(df, n_draws) / df)
        return np.array([one.value for one in self.estimates])[:, None] + errors

    def _differences(self):
        """Variances of the differences of all pairs, and the smallest degrees of freedom."""
        if self.metric.family != "ranking":
            variance = _squared_distances([one.influence for one in self.estimates])
            if self.metric.family == "skill":
                pairs = zip(self.rows, self.estimates, strict=True)
                least = _squared_distances([loss_influence(self.metric, *pair) for pair in pairs])
                variance = np.maximum(variance, least)
            return variance, min(one.df for one in self.estimates)
        variance, df = np.zeros((self.n_groups,) * 2), np.inf
        for i, j in combinations(range(self.n_groups), 2):
            left, right = self.estimates[i], self.estimates[j]
            gap = gap_of(left, right)
            variance[i, j] = variance[j, i] = ranking_variance(left, right, gap)
            df = min(df, gap.df)
        return variance, df

    def method(self):
        """How it was made, in words."""
        how = "" if self.metric.family == "share" else ", influences of rows"
        return f"{self.n} shared rows{how}"

    def prior(self, number):
        """Prior, in words."""
        if self.metric.family == "share":
            return f"{number:g} pseudo-rows per kind of agreement"
        return "none: covariance of the influences"


def _squared_distances(influences):
    """Sums of squared differences of all pairs."""
    influence = np.array(influences)
    products = influence @ influence.T
    own = np.diag(products)
    return np.maximum(own[:, None] + own - 2 * products, 0.0)
