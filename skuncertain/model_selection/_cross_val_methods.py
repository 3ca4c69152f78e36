"""The same scores of a cross-validation by several methods, side by side."""

from dataclasses import replace

import numpy as np

from skuncertain._reporting.build import column, interval_cell, section
from skuncertain._utils.validation import (
    as_list,
    check_choice,
    is_real,
    refuse_if,
)
from skuncertain._utils.warnings import silence
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import one_vs_rest, two_by_two
from skuncertain.metrics._posterior import class_posterior
from skuncertain.metrics._registry import count_metric
from skuncertain.metrics._report_parts import BASES
from skuncertain.metrics._scores.metrics import ScoreMetric
from skuncertain.model_selection._fold_methods import (
    METHODS,
    SIDE_BY_SIDE,
    FoldOptions,
)
from skuncertain.model_selection._fold_score_posterior import ScoredFolds, posterior_of_folds
from skuncertain.model_selection._fold_t import CUT, SCORE_METHODS, is_cut
from skuncertain.model_selection._folds import Folds, fold_matrices, pooled_counts

_RESAMPLES = 1000  # of the bootstrap: its ends are known to a third of a digit
_MOST_PRINTED = 10  # classes; more are in the other renderings
_MOST_COMPARED = 100  # classes that are shown by all methods


def check_methods(methods):
    """Return {title: options} of the methods to show; None gives the usual ones."""
    if methods is None:
        return None
    if hasattr(methods, "items"):
        named = {str(name): dict(how) for name, how in methods.items()}
    else:
        entries = [methods] if is_real(methods) else as_list("methods", methods)
        named = dict(_named_method(entry) for entry in entries)
    for how in named.values():
        unknown = how.keys() - {"method", "omega", "estimand", "prior", "rho", "prior_per_fold"}
        refuse_if(
            unknown,
            "methods",
            "methods must hold options of CrossValPosterior.posterior, got {value}.",
            sorted(unknown),
        )
        FoldOptions(**how)  # an early error for options that the method does not know
    return named


def _named_method(entry):
    if is_real(entry):
        return f"omega {entry:g}", {"method": "pooled", "omega": entry}
    check_choice("methods", entry, dict.fromkeys((*SIDE_BY_SIDE, *METHODS)))
    if entry == "pooled":
        return "auto", SIDE_BY_SIDE["auto"]
    return entry, SIDE_BY_SIDE.get(entry, {"method": entry})


class SideBySide:
    """The methods of a report, and their answers.

    Parameters
    ----------
    result : CrossValPosterior
        The cross-validation.
    level, kind : object
        Of the intervals.
    methods : dict or None
        Options by title, see `check_methods`; None for the usual ones.
    """

    def __init__(self, result, level, kind, methods=None):
        self.result, self.level, self.kind = result, level, kind
        options = result.options
        omega = options.omega if isinstance(options.omega, str) else f"omega {options.omega:g}"
        self.first = omega if options.method == "pooled" else options.method
        others = dict(SIDE_BY_SIDE if methods is None else methods)
        if methods is None and result.n < 5 * result.n_folds:
            others.pop("averaged")  # its intervals are too short there
        others.pop(self.first, None)
        self.others = {} if result.splits.obstacle else others
        self.options = {name: result._options_of(**how) for name, how in self.others.items()}
        self.options = {self.first: result._options_of(), **self.options}
        self.missing: set = set()

    def columns(self, names):
        """Columns of the table, the method that was asked for first."""
        titles = {name: self._title(name) for name in names}
        titles[self.first] += " (asked)"
        return [column(name, title) for name, title in titles.items()]

    def _title(self, name):
        """Title of a method; where its prior is another than the others have, it tells that."""
        options = self.options[name]
        if options.method == "dirichlet" and isinstance(options.prior, str):
            return f"{name}, {options.prior} prior"
        if not options.method.startswith("average") or not is_real(options.prior):
            return name
        whole = options.prior_per_fold
        if whole is None:
            whole = options.method == "average_exact"
        share = options.prior if whole else options.prior / self.result.n_folds
        return f"{name}, λ={share:.3g}"

    def notes(self, rows, ranges):
        """Remarks on the table."""
        names = [self.first, *self.others]
        found = []
        if {"auto", "wang_li"} & set(names):
            scored = any(isinstance(one, ScoreMetric) for one in self.result.metrics.values())
            what = "counts, or moments of scores," if scored else "counts"
            found.append(f"auto, wang_li: pooled {what} with that omega")
        methods = {options.method for options in self.options.values()}
        if any(method.startswith("average") for method in methods):
            found.append("λ: pseudo-counts on each side of the proportion in every fold")
        alone = [name for name in ("dirichlet", "bootstrap") if name in methods]
        if alone:
            found.append(f"{', '.join(alone)}: rows taken as independent, as a rule too short")
        by_t = [name for name in names if self.options[name].method in SCORE_METHODS]
        if any(
            is_cut(cell["low"], cell["high"], limits)
            for row, limits in zip(rows, ranges, strict=True)
            for name in by_t
            if (cell := row.get(name)) is not None
        ):
            found.append(CUT)
        if self.missing:
            found.append(
                f"-: {', '.join(sorted(self.missing))} cannot answer: the metric is not for it, or "
                "is 0/0 in a fold"
            )
        return found

    # ----------------------------------------------------------------------------------------------
    # Metrics

    def metric_section(self, cells):
        """Table with a row per metric; `cells` are those of the method that was asked for."""
        self.missing, rows = set(), []
        with silence():  # what matters is told of the method that was asked for
            for name in self.result.metrics:
                row = {"metric": name, self.first: cells[name]}
                for method in self.others:
                    found = self._answers(self.result.folds(name), method)
                    row |= self._cells(method, found, [0])[0]
                rows.append(row)
        ranges = [metric.range for metric in self.result.metrics.values()]
        shown = [self.first, *self.others]
        return section(
            "Methods side by side",
            ["metric", *self.columns(shown)],
            rows,
            notes=self.notes(rows, ranges),
            figure={"type": "methods", "columns": shown, "numbers_aside": True},
        )

    def _answers(self, folds, method):
        """Ends, their error and the point of every problem, shape (4, problems), or None."""
        options = self.options[method]
        resampled = options.method == "bootstrap" and not isinstance(folds, ScoredFolds)
        if resampled and method != self.first:
            # A fixed seed: a report of exact answers is the same every time.
            folds = replace(folds, n_draws=_RESAMPLES, random_state=0)
        try:
            posterior = posterior_of_folds(folds, options)
            found = self._numbers(posterior, folds.shape)
        except ValueError:  # not for this metric or this number of folds
            return None
        if options.method in SCORE_METHODS and method != self.first:
            found[:, ~np.atleast_1d(has_fold_mean(folds))] = np.nan
        return found

    def _numbers(self, posterior, shape):
        parts = (*posterior.interval(self.level, self.kind), posterior.observed)
        parts = (*parts, posterior.interval_error(self.level, self.kind))
        return np.array([np.broadcast_to(part, shape).ravel() for part in parts], dtype=float)

    def _cells(self, method, found, problems):
        """One dict per problem, with the cell of the method if there is an answer."""
        cells = []
        for k in problems:
            if found is None or np.isnan(found[:2, k]).all():
                self.missing.add(method)
                cells.append({})
                continue
            low, high, point, error = found[:, k]
            cells.append({method: interval_cell((low, high), error=error, point=point)})
        return cells

    # ----------------------------------------------------------------------------------------------
    # Classes

    def class_section(self):
        """Table with precision, recall and F1 of every class."""
        self.missing, rows = set(), []
        labels = list(map(str, self.result.counts.labels))
        size = len(labels)
        shown = [self.first, *(self.others if size <= _MOST_COMPARED else ())]
        with silence():
            for base in BASES:
                folds = self._class_folds(base)
                found = {
                    "pooled": folds.observed,
                    **{name: self._class_answers(base, folds, name) for name in shown},
                }
                for k, label in enumerate(labels):
                    row = {"metric": f"{base} of {label}", "pooled": found["pooled"][k]}
                    for name in shown:
                        row |= self._cells(name, found[name], [k])[0]
                    rows.append(row)
        notes = self.notes(rows, [(0.0, 1.0)] * len(rows))
        if len(shown) <= len(self.others):
            notes.append(f"{size} classes: other methods are left out")
        figure = {"type": "methods", "columns": shown, "numbers_aside": True}
        return section(
            "Classes",
            ["metric", "pooled", *self.columns(shown)],
            rows,
            notes=notes,
            figure=figure if size <= _MOST_PRINTED else None,
            in_text=size <= _MOST_PRINTED,
        )

    def _class_folds(self, base):
        """Folds of every class against the rest, a stack of shape (C,)."""

        def tables(matrices):
            return np.moveaxis(two_by_two(*one_vs_rest(matrices)), -3, 0)

        metric, repeats = count_metric(base), self.result.n_repeats
        stack = fold_matrices(self.result.counts, metric, 1, repeats, tables)
        stability = self.result.stability
        models = None if stability is None else tables(stability.counts)
        return Folds(stack, metric, 1, repeats, random_state=self.result.seed, models=models)

    def _class_answers(self, base, folds, method):
        options = self.options[method]
        if options.method == "bootstrap" and method == self.first:
            folds = replace(folds, n_draws=_RESAMPLES)  # 3 C times the draws of one metric are many
        if options.method == "dirichlet":  # its prior is about the cells of all classes
            pooled = pooled_counts(self.result.counts, self.result.n_repeats)
            weights = pooled._row_weights if pooled.weighted else None
            try:
                found = class_posterior(pooled.counts, base, options.prior, weights)
                return self._numbers(found, folds.shape)
            except InvalidParameterError:
                return None
        found = self._answers(folds, method) if is_real(options.prior) else None
        if found is not None:
            return found
        # Priors of cells, and classes that a method cannot answer for, go one by one.
        singles = [
            self._answers(self.result.folds(base, label), method)
            for label in self.result.counts.labels
        ]
        nothing = np.full((4, 1), np.nan)
        return np.concatenate([nothing if one is None else one for one in singles], axis=1)


def has_fold_mean(folds):
    """Whether the mean of the fold values says something, for every problem of the stack.

    It does not if the metric is 0/0 in a fold, nor, with folds of one row, unless it is the metric
    of all rows: with one row per fold the mean of F1 is the Jaccard index.
    """
    values = np.asarray(folds.values, dtype=float)
    found = ~np.isnan(values).any(axis=-1)
    if isinstance(folds, ScoredFolds):
        return found
    if np.any(folds.matrices.sum(axis=(-2, -1)) <= 1):
        with np.errstate(invalid="ignore"):
            found &= np.isclose(values.mean(axis=-1), folds.observed, rtol=0, atol=1e-9)
    return found
