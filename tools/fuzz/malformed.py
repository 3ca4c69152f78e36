"""Families of malformed inputs: valid calls with one argument, or two, gone wrong."""

import inspect
import re

import numpy as np

import skuncertain as sk
from tools.fuzz import make
from tools.fuzz.checks import check_interval
from tools.fuzz.junk import junk, spoiled
from tools.fuzz.models import Guesser, cv_results
from tools.fuzz.runner import ERRORS, Violation, family, require

Y = [0, 1, 1, 0, 1, 1, 0, 0, 1, 0]
P = [0, 1, 0, 0, 1, 1, 1, 0, 1, 0]
Q = [1, 1, 0, 0, 1, 0, 1, 0, 1, 0]
S = [0.1, 0.8, 0.4, 0.3, 0.9, 0.7, 0.6, 0.2, 0.5, 0.35]
TABLE = [[40, 6], [9, 45]]
FOLDS = [[[8, 2], [1, 9]], [[7, 3], [2, 8]], [[9, 1], [3, 7]]]
SCORES = [0.8, 0.82, 0.79, 0.84, 0.81]
OTHERS = [0.82, 0.83, 0.8, 0.83, 0.84]
FAST = {"n_draws": 50, "random_state": 0}


def counts():
    return sk.ConfusionCounts(TABLE)


# Every public function that takes data, with arguments that are right.
FUNCTIONS = {
    "ConfusionCounts": (sk.ConfusionCounts, lambda: {"counts": TABLE}),
    "from_predictions": (
        sk.ConfusionCounts.from_predictions,
        lambda: {"y_true": Y, "y_pred": P},
    ),
    "from_binary": (
        sk.ConfusionCounts.from_binary,
        lambda: {"tp": 26, "fn": 0, "fp": 2, "tn": 6},
    ),
    "BetaPosterior": (sk.posteriors.BetaPosterior, lambda: {"a": 3.0, "b": 2.0}),
    "credible_interval": (
        sk.credible_interval,
        lambda: {"y_true": Y, "y_pred": P, "metric": "f1", **FAST},
    ),
    "metric_posterior": (
        sk.metrics.metric_posterior,
        lambda: {"y_true": Y, "y_pred": P, "metric": "mcc", **FAST},
    ),
    "proportion_posterior": (
        sk.metrics.proportion_posterior,
        lambda: {"successes": 9, "failures": 2},
    ),
    "confidence_interval": (
        sk.confidence_interval,
        lambda: {
            "y_true": Y,
            "y_pred": P,
            "method": "bca",
            "n_resamples": 50,
            "random_state": 0,
        },
    ),
    "fold_posterior": (
        sk.model_selection.fold_posterior,
        lambda: {"counts": FOLDS, "metric": "f1", **FAST},
    ),
    "fold_interval": (
        sk.model_selection.fold_interval,
        lambda: {"counts": SCORES, "method": "corrected_t"},
    ),
    "compare": (
        sk.compare,
        lambda: {"a": counts(), "b": counts(), "metric": "f1", **FAST},
    ),
    "compare_paired": (
        sk.compare_paired,
        lambda: {"y_true": Y, "pred_a": P, "pred_b": Q, "metric": "f1", **FAST},
    ),
    "compare_cv": (sk.compare_cv, lambda: {"a": SCORES, "b": OTHERS}),
    "compare_datasets": (
        sk.comparison.compare_datasets,
        lambda: {"a": SCORES, "b": OTHERS, **FAST},
    ),
    "leaderboard": (
        sk.leaderboard,
        lambda: {"results": {"p": P, "q": Q}, "y_true": Y, "metric": "accuracy", **FAST},
    ),
    "interval_report": (sk.interval_report, lambda: {"y_true": Y, "y_pred": P, **FAST}),
    "auc_posterior": (sk.metrics.auc_posterior, lambda: {"y_true": Y, "y_score": S}),
    "average_precision_posterior": (
        sk.metrics.average_precision_posterior,
        lambda: {"y_true": Y, "y_score": S},
    ),
    "compare_auc": (
        sk.comparison.compare_auc,
        lambda: {"y_true": Y, "score_a": S, "score_b": S[::-1]},
    ),
    "roc_band": (sk.metrics.roc_band, lambda: {"y_true": Y, "y_score": S}),
    "precision_recall_band": (
        sk.metrics.precision_recall_band,
        lambda: {"y_true": Y, "y_score": S},
    ),
    "net_benefit_curve": (sk.metrics.net_benefit_curve, lambda: {"y_true": Y, "y_proba": S}),
    "intervals_at_thresholds": (
        sk.metrics.intervals_at_thresholds,
        lambda: {"y_true": Y, "y_score": S, "thresholds": [0.5]},
    ),
    "required_sample_size": (
        sk.required_sample_size,
        lambda: {"expected": 0.9, "width": 0.2, "n_studies": 20},
    ),
    "expected_width": (
        sk.planning.expected_width,
        lambda: {"n": 50, "expected": 0.9, "n_studies": 20},
    ),
    "comparison_sample_size": (
        sk.planning.comparison_sample_size,
        lambda: {"difference": 0.2, "disagreement": 0.3},
    ),
    "SequentialPosterior": (
        lambda y_true=Y, y_pred=P, **options: sk.monitoring.SequentialPosterior(
            **{"metric": "accuracy"} | options
        ).update(y_true, y_pred),
        lambda: {
            "y_true": Y,
            "y_pred": P,
            "metric": "accuracy",
            "level": 0.9,
            "kind": "eti",
            "prior": "auto",
            "discount": 0.9,
            "rope": 0.0,
            "labels": [0, 1],
            "anytime": False,
            "threshold": None,
            **FAST,
        },
    ),
    "coverage_study": (
        sk.coverage.coverage_study,
        lambda: {"methods": ["wilson"], "population": sk.coverage.BinomialPopulation(0.5), "n": 5},
    ),
    "BinomialPopulation": (sk.coverage.BinomialPopulation, lambda: {"p": 0.5}),
    "MultinomialPopulation": (
        sk.coverage.MultinomialPopulation,
        lambda: {"matrix": [[0.5, 0.1], [0.1, 0.3]]},
    ),
    "MarkovPopulation": (sk.coverage.MarkovPopulation, lambda: {"recall": 0.5, "specificity": 0.5}),
    "search_posterior": (sk.search_posterior, lambda: {"search": None, "n_repeats": 1, **FAST}),
    "selection_corrected_score": (
        sk.model_selection.selection_corrected_score,
        lambda: {"y_true": Y, "predictions": [P, Q], "n_resamples": 20, "random_state": 0},
    ),
    "prior_from_metrics": (
        sk.metrics.prior_from_metrics,
        lambda: {"precision": 0.6, "recall": 0.65, "accuracy": 0.6, "weight": 1},
    ),
    "make_metric": (sk.metrics.make_metric, lambda: {"function": lambda p: p[..., 0, 0]}),
    "get_metric": (
        lambda name, **params: sk.metrics.get_metric(name, **params),
        lambda: {"name": "fbeta", "beta": 2},
    ),
    "get_metric_names": (sk.metrics.get_metric_names, lambda: {"n_classes": 3}),
    "make_bound_scorer": (
        lambda metric="f1", y=Y, **options: sk.metrics.make_bound_scorer(metric, **options)(
            Guesser().fit(np.zeros((2, 1)), [0, 1]), np.zeros((10, 1)), y
        ),
        lambda: {
            "metric": "f1",
            "y": Y,
            "level": 0.9,
            "prior": "auto",
            "kind": "eti",
            "bound": "lower",
            "labels": [0, 1],
            "pos_label": 1,
        },
    ),
    "ConfusionCountsScorer": (
        lambda y=Y, **options: sk.ConfusionCountsScorer(**options)(
            Guesser().fit(np.zeros((2, 1)), [0, 1]), np.zeros((10, 1)), y
        ),
        lambda: {"y": Y, "labels": [0, 1], "metrics": ["f1"], "pos_label": 1, "cells": False},
    ),
    "CrossValPosterior.from_cv_results": (
        sk.model_selection.CrossValPosterior.from_cv_results,
        lambda: {
            "cv_results": {
                f"test_{key}": np.array(values)
                for key, values in {
                    "tn": [8, 7],
                    "fp": [2, 3],
                    "fn": [1, 2],
                    "tp": [9, 8],
                    "n": [20, 20],
                    "score": [0.85, 0.75],
                }.items()
            },
            "n_repeats": 1,
        },
    ),
    "simplest_equivalent": (
        sk.simplest_equivalent,
        lambda: {"metric": "score", "rope": 0.01, "complexity": "C"},
    ),
    "best_lower_bound": (sk.model_selection.best_lower_bound, lambda: {"metric": "score"}),
    "most_probable_best": (sk.model_selection.most_probable_best, lambda: {"metric": "score"}),
}
# The methods of results, of objects that are right.
METHODS = {
    "posterior": (
        lambda **k: counts().posterior(**k),
        lambda: {
            "metric": "mcc",
            "prior": "auto",
            "model": "rows",
            "prevalence": 0.3,
            "pos_label": 1,
            **FAST,
        },
    ),
    "score": (
        lambda **k: counts().score(**k),
        lambda: {"metric": "f1", "pos_label": 1, "zero_division": 0.0},
    ),
    "sum": (lambda axis: sk.ConfusionCounts(FOLDS).sum(axis), lambda: {"axis": 0}),
    "one_vs_rest": (lambda pos_label: counts().one_vs_rest(pos_label), lambda: {"pos_label": 1}),
    "joint_posterior": (
        lambda **k: counts().joint_posterior(**k),
        lambda: {"metrics": ["f1", "mcc"], "n": 5, "prior": 1, **FAST},
    ),
    "informative": (
        lambda **k: counts().better_than_chance(**k),
        lambda: {"rope": 0.1, "prior": "auto", "model": "dirichlet", "pos_label": 1},
    ),
    "interval": (
        lambda **k: counts().posterior("f1").interval(**k),
        lambda: {"level": 0.9, "kind": "eti"},
    ),
    "quantile": (lambda q: counts().posterior("g_mean").quantile(q), lambda: {"q": [0.1, 0.5]}),
    "cdf": (lambda x: counts().posterior("f1").cdf(x), lambda: {"x": [0.1, 0.5]}),
    "pdf": (lambda x: counts().posterior("g_mean").pdf(x), lambda: {"x": [0.1, 0.5]}),
    "prob": (
        lambda **k: counts().posterior("f1").prob(**k),
        lambda: {"low": 0.1, "high": 0.5},
    ),
    "sample": (
        lambda **k: counts().posterior("f1").sample(**k),
        lambda: {"size": 3, "random_state": 0},
    ),
    "updated": (
        lambda new_counts: counts().posterior("f1").updated(new_counts),
        lambda: {"new_counts": counts()},
    ),
    "predictive": (lambda n: counts().posterior("f1").predictive(n), lambda: {"n": 10}),
    "to_json": (
        lambda indent: sk.interval_report(counts()).to_json(indent),
        lambda: {"indent": 2},
    ),
    "to_csv": (
        lambda section: sk.interval_report(counts()).to_csv(section),
        lambda: {"section": None},
    ),
    "at": (lambda fpr: sk.metrics.roc_band(Y, S).at(fpr), lambda: {"fpr": 0.3}),
    "expected_prize": (
        lambda prizes: sk.leaderboard([counts(), counts()], metric="f1").expected_prize(prizes),
        lambda: {"prizes": [3, 1]},
    ),
    "operating_point": (
        lambda threshold: sk.metrics.intervals_at_thresholds(Y, S, [0.5]).operating_point(
            threshold
        ),
        lambda: {"threshold": 0.5},
    ),
    "metric_value": (
        lambda **k: sk.metrics.get_metric("f1")(**k),
        lambda: {"matrix": TABLE, "positive": 1, "zero_division": 0.0},
    ),
}
# They reach the file system or start processes.
LEFT_OUT = {"n_jobs", "verbose", "checkpoint", "self", "X"}
# A message about one of these speaks of the parameter, too.
OTHER_WORDS = {
    "y_true": ("y_true", "labels", "label", "y_pred", "row"),
    "y_pred": ("y_pred", "labels", "label", "y_true"),
    "pred_a": ("y_pred", "prediction", "pred_a", "label", "y_true"),
    "pred_b": ("y_pred", "prediction", "pred_b", "label", "y_true"),
    "predictions": ("prediction", "y_true", "y_pred", "label"),
    "y": ("y_true", "label", "y"),
    "data": ("data", "y_true", "y_pred", "label"),
    "results": ("results", "result", "model", "y_pred", "label", "prediction", "y_true"),
    "y_score": ("y_score", "score", "class", "label"),
    "score_a": ("score", "class"),
    "score_b": ("score", "class"),
    "search": ("search", "cv_results", "counts"),
    "cv_results": ("cv_results", "cross_validate", "test_", "counts"),
    "groups": ("groups", "group"),
    "labels": ("labels", "label"),
    "pos_label": ("pos_label", "class", "positive"),
    "metrics": ("metric",),
    "metric": ("metric", "expected"),
    "counts": ("counts", "fold", "score", "class", "matrix", "metric"),
    "a": ("a", "scores", "fold", "counts", "posterior", "data set"),
    "b": ("b", "scores", "fold", "counts", "posterior", "data set"),
    "tp": ("tp", "cells", "counts"),
    "fn": ("fn", "cells", "counts"),
    "fp": ("fp", "cells", "counts"),
    "tn": ("tn", "cells", "counts"),
    "prior": ("prior",),
    "methods": ("method", "prior"),
    "sample_weight": ("sample_weight", "weight"),
    "thresholds": ("threshold",),
    "function": ("metric", "function"),
    "new_counts": ("counts", "labels"),
    "population": ("population",),
    "expected": ("expected",),
    "name": ("metric", "name"),
    "beta": ("beta", "fbeta"),
    "target_names": ("target_names", "name"),
    "names": ("names", "name"),
    "n_train": ("n_train", "n_test"),
    "n_test": ("n_test", "n_train"),
    "omega": ("omega",),
    "n_repeats": ("n_repeats", "repetition"),
    "prevalence": ("prevalence", "frequencies"),
}


def parameters(function, given):
    """Names that can be spoiled: those given and those of the signature."""
    signature = inspect.signature(function).parameters
    named = [
        name
        for name, parameter in signature.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    return sorted({*given, *named} - LEFT_OUT)


def attempt(source, table):
    """Spoil one argument of a call (sometimes two) and judge what comes of it."""
    name = source.pick(sorted(table))
    function, valid = table[name]
    arguments = valid()
    if name == "search_posterior":
        arguments["search"] = cv_results(source)[0]
    wrong = {source.pick(parameters(function, arguments)) for _ in range(1 + source.rarely(6))}
    for key in sorted(wrong):
        whole = arguments.get(key)
        arguments[key] = junk(source) if whole is None else spoiled(source, whole)
    if name == "search_posterior" and "search" in wrong:
        arguments["search"] = damaged_search(source)
    shown = {key: describe(arguments[key]) for key in sorted(wrong)}
    source.note(call=name, **shown)
    try:
        result = function(**arguments)
    except ERRORS as error:
        check_message(error, name, wrong)
        raise
    check_result(result)


def describe(value):
    try:
        text = repr(value)
    except (RuntimeError, ValueError):  # the latter for integers of more than 4300 digits
        text = f"no repr of {type(value).__name__}"
    return text if len(text) < 120 else f"{text[:117]}..."


def damaged_search(source):
    """cv_results_ with a key lost, or with a column that is wrong."""
    results = cv_results(source)[0]
    key = source.pick(sorted(results))
    if source.below(2):
        del results[key]
    else:
        results[key] = junk(source) if source.below(2) else spoiled(source, results[key])
    return results


def check_message(error, name, wrong):
    """One line that names a parameter that is wrong."""
    text = str(error)
    require(text, f"{type(error).__name__} without a message")
    require("\n" not in text.strip(), f"a message of several lines: {text}")
    require(len(text) < 1000, f"a message of {len(text)} characters: {text[:200]}")
    words = [word for key in wrong for word in OTHER_WORDS.get(key, (key,))]
    named = any(re.search(rf"(?<![A-Za-z]){re.escape(word)}", text) for word in words)
    if not named:
        raise Violation(f"vague {type(error).__name__} of {name}: {text}")


def check_result(result):
    """What was accepted must be a proper answer."""
    if isinstance(result, sk.posteriors.Interval):
        check_interval(result, proper=False)
    elif hasattr(result, "interval") and hasattr(result, "quantile"):
        check_interval(result.interval(), proper=False)
    text = repr(result)
    require("object at 0x" not in text or "Metric" in text or "function" in text, "no repr")


@family(share=500, malformed=True)
def wrong_arguments(source):
    attempt(source, FUNCTIONS)


@family(share=150, malformed=True)
def wrong_arguments_of_methods(source):
    attempt(source, METHODS)


@family(share=100, malformed=True)
def unknown_keywords(source):
    """A misspelt keyword is an error, never ignored."""
    name = source.pick(sorted(FUNCTIONS))
    function, valid = FUNCTIONS[name]
    arguments = valid()
    if name == "search_posterior":
        arguments["search"] = cv_results(source)[0]
    word = source.pick(("alpha", "levle", "Prior", "confidence", "target", "n_draw", "seed"))
    source.note(call=name, word=word)
    try:
        function(**arguments, **{word: 0.1})
    except ERRORS as error:
        require(word in str(error), f"vague {type(error).__name__}: {error}")
        raise
    raise Violation(f"{name} ignored the keyword {word}")


@family(share=150, malformed=True)
def wrong_matrices(source):
    """Tables of counts with entries that are no counts."""
    n_classes = source.pick((2, 3))
    cells = make.matrices(source, source.pick(((), (2,))), n_classes).astype(object)
    bad = source.pick(
        (-1, 0.5, float("nan"), float("inf"), None, "3", 1j, 2**60, -(2**70), 1e300, [1], b"1")
    )
    cells[tuple(source.below(size) for size in cells.shape)] = bad
    source.note(bad=bad)
    try:
        sk.ConfusionCounts(cells.tolist())
    except ERRORS as error:
        check_message(error, "ConfusionCounts", {"counts"})
        raise
    raise Violation(f"a cell of {bad!r} was accepted")
