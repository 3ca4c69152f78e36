"""What a typed program sees: checked by mypy in strict mode, never run."""

from pathlib import Path
from typing import assert_type

import numpy as np

import skuncertain
from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_paired,
    confidence_interval,
    credible_interval,
    interval_report,
    leaderboard,
    required_sample_size,
    search_posterior,
    simplest_equivalent,
)
from skuncertain.comparison import ComparisonResult, Leaderboard
from skuncertain.metrics import IntervalReport, auc_posterior, proportion_posterior
from skuncertain.model_selection import SearchPosterior, fold_interval
from skuncertain.monitoring import SequentialPosterior
from skuncertain.planning import SampleSize
from skuncertain.posteriors import About, BetaPosterior, Interval

y_true, y_pred = np.array([0, 1, 1, 0]), [0, 1, 0, 0]

counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
assert_type(counts, ConfusionCounts)
assert_type(counts + counts, ConfusionCounts)
assert_type(counts[0], ConfusionCounts)
assert_type([one for one in counts], list[ConfusionCounts])
assert_type(credible_interval(y_true, y_pred, metric="f1", level=0.9), Interval)
assert_type(confidence_interval(counts, metric="recall", method="wilson"), Interval)
assert_type(fold_interval(counts, "recall"), Interval)
assert_type(interval_report(y_true, y_pred), IntervalReport)
assert_type(interval_report(counts).to_json(), str)
assert_type(interval_report(counts).save("report.html"), Path)
assert_type(compare(counts, counts, metric="f1"), ComparisonResult)
assert_type(compare_paired(y_true, y_pred, y_pred), ComparisonResult)
assert_type(leaderboard([counts, counts]), Leaderboard)
assert_type(required_sample_size(expected=0.9, width=0.1), SampleSize)
assert_type(required_sample_size(expected=0.9, width=0.1).n, int)
assert_type(search_posterior({}), SearchPosterior)
assert_type(proportion_posterior(9, 1, metric="recall", pos_label="ill"), BetaPosterior)
assert_type(counts.posterior("precision", prevalence=0.01).about, About)
assert_type(counts.posterior("precision").about.question(), str)
low, high = counts.posterior("recall").interval(kind="hdi")
auc = auc_posterior(y_true, [0.1, 0.4, 0.35, 0.8]).interval(0.9)
rule = simplest_equivalent("f1", rope=0.01, complexity="C")
scorer = ConfusionCountsScorer(metrics=["f1"])
validator = BayesianCrossValidator(None, cv=10, n_jobs=2)
watched = SequentialPosterior("mcc")
assert_type(skuncertain.__version__, str)
