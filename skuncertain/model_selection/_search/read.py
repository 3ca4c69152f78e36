"""Reading ``cv_results_`` of a finished search: scores, counts, and how it was split."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupShuffleSplit

from skuncertain._utils.validation import (
    as_numbers,
    check_integer,
    check_number,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import as_labels, check_pos_label, refuse_nameless
from skuncertain.metrics._posterior import class_of
from skuncertain.metrics._registry import Metric, count_metric, directed
from skuncertain.metrics._scorer import ConfusionCountsScorer, scorer_metrics
from skuncertain.metrics._scorer_keys import (
    fold_score,
    has_positive,
    is_count_key,
    is_moment_key,
    numbered_labels,
    read_cells,
)
from skuncertain.model_selection._read_fold_scores import base_of, scored_folds
from skuncertain.model_selection._score_names import fits_range, known_range
from skuncertain.model_selection._search.score_columns import (
    ScoredColumn,
    find_scored,
    refuse_other_class,
)
from skuncertain.model_selection._splits import Splits

HOW = (
    "Pass a fitted GridSearchCV, RandomizedSearchCV or halving search, or its cv_results_ (a dict "
    "or a DataFrame)."
)


@dataclass(frozen=True, eq=False)
class SearchScores:
    """Fold scores of the candidates of a search.

    Attributes
    ----------
    scores : ndarray of shape (candidates, splits)
        More is better; NaN where a fit failed.
    metric : str
        Key of the score, or name of the metric computed from counts.
    metric_object : Metric or None
        That metric; None for a score that no counts give.
    counts : ConfusionCounts or None
        Fold matrices of shape (candidates, splits), if the counts scorer was used.
    considered : ndarray of shape (candidates,)
        Candidates of the last resource level whose scores are all there.
    selected : int
        Index of the candidate that the search chose, or the best mean.
    n_repeats : int
        Repetitions of the cross-validation.
    ratio : float
        Test rows over training rows.
    obstacle : str or None
        Why counts of these splits cannot be pooled, if the splitter tells.
    params : list or None
        Parameters of the candidates.
    notes : tuple of str
        What was assumed or left out.
    range : tuple of float
        Smallest and largest possible value of the metric, as far as its name tells.
    scored : ScoredColumn or None
        A metric of scores with the moments of its folds, if the counts scorer has computed it.
    """

    scores: np.ndarray
    metric: str
    metric_object: Any
    counts: ConfusionCounts | None
    considered: np.ndarray
    selected: int
    n_repeats: int
    ratio: float
    obstacle: str | None
    params: Any
    notes: tuple
    range: tuple[float, float] = (-np.inf, np.inf)
    scored: ScoredColumn | None = None

    @property
    def pos_label(self):
        """Class that the metric depends on, or None."""
        if self.metric_object is None:
            return None if self.scored is None else self.folds_of(0).pos_label
        positive = self.counts.positive_index(self.metric_object)
        return class_of(self.metric_object, self.counts.labels, positive)

    @property
    def sign(self):
        """1, or -1 for a metric of which less is better (the scores are then negative)."""
        metric = self.metric_object if self.scored is None else self.scored.metric
        return -1.0 if metric is not None and metric.greater_is_better is False else 1.0

    @property
    def scores_only(self):
        """Whether nothing but the fold scores is known of the metric."""
        return self.metric_object is None and self.scored is None

    def folds_of(self, candidate):
        """Folds of one candidate, of a metric of scores."""
        metric, moments = self.scored.metric, self.scored.moments.of(candidate)
        known = {base_of(metric).name: moments}
        return scored_folds(known, metric, self.counts[candidate], self.n_repeats)


def read_search(search, metric, n_repeats, ratio, labels=None, pos_label=None, cv=None):
    """Scores of all candidates of a search or of its saved results."""
    results, known = _results_of(search)
    table = _score_table(results)
    refuse_if(
        isinstance(metric, str) and is_moment_key(metric),
        "metric",
        "metric must be a score, got {value}, which goes with one.",
        metric,
    )
    refuse_if(not table, "search", f"there are no columns split<k>_test_<score>. {HOW}")
    refit = getattr(known, "refit", None)
    refit = getattr(refit, "metric", refit)  # a rule of ours knows what it looked at
    refit = refit if isinstance(refit, str) else None
    cells = read_cells(table)
    chosen = counts = scored = None
    told: tuple = ()
    if cells is None:
        name, scores = _computed_scores(known, table, metric, refit)
    else:
        counts = _fold_counts(known, table, cells, labels, pos_label)
        asked = refit if metric is None else metric
        name, chosen, scores, told = _scores_of_counts(known, table, asked, counts, pos_label)
        if isinstance(chosen, ScoredColumn):
            scored, chosen = chosen, None
        scores = np.where(np.isnan(cells).any(axis=(-2, -1)), np.nan, scores)
    considered, left_out = _considered(results, scores, name)
    told_cv = known is not None or cv is not None
    cv = _splitter(known, cv, scores.shape[1], n_repeats)
    repeats, ratio, assumed = _how_split(cv, scores.shape[1], n_repeats, ratio)
    if not told_cv and n_repeats is None:
        assumed.append("assumed: one repetition of K-fold (n_repeats=1)")
    selected = getattr(known, "best_index_", None)
    if selected is None or not considered[selected]:
        selected = np.argmax(np.where(considered, np.nan_to_num(scores).mean(axis=1), -np.inf))
        assumed.append("the selected candidate is taken to be the one with the best mean")
    params = results.get("params") if hasattr(results, "get") else None
    refuse_if(
        params is not None and (not hasattr(params, "__len__") or len(params) != len(scores)),
        "search",
        f"cv_results must hold the params of all {len(scores)} candidates, got {{value}}.",
        params,
    )
    return SearchScores(
        scores=scores,
        metric=name,
        metric_object=chosen,
        counts=counts,
        considered=considered,
        selected=int(selected),
        n_repeats=repeats,
        ratio=ratio,
        obstacle=_obstacle(cv, scores.shape[1]),
        params=None if params is None else list(params),
        notes=(*left_out, *told, *assumed),
        range=_range(known, name, chosen, scores[considered])
        if scored is None
        else scored.metric.range_for(counts.n_classes),
        scored=scored,
    )


def _results_of(search):
    """Results of a search as a dict, and the search itself, if it is there."""
    results, known = search, None
    if hasattr(search, "cv_results_"):
        results, known = search.cv_results_, search
    if hasattr(results, "columns") and hasattr(results, "to_dict"):  # a DataFrame
        results = {str(name): results[name].to_numpy() for name in results.columns}
    refuse_if(
        not hasattr(results, "keys"),
        "search",
        f"search must be a finished search, got {type(search).__name__}. {HOW}",
    )
    return results, known


def _range(search, name, chosen, scores):
    """Range of the score, by the metric or by a name that the scores fit."""
    if chosen is not None:
        return chosen.range
    scoring = getattr(search, "scoring", None)
    if name == "score" and isinstance(scoring, str):
        name = scoring
    elif name == "score" and search is not None and scoring is None and is_classifier(search):
        name = "accuracy"  # the score of classifiers
    limits = known_range(name)[0]
    return limits if fits_range(scores, limits) else (-np.inf, np.inf)


def _considered(results, scores, name):
    """Which candidates can be compared, and notes about the others."""
    complete, notes = np.isfinite(scores).all(axis=1), []
    if not complete.all():
        failed = np.sum(~complete)
        notes.append(f"{failed} of {len(scores)} candidates have missing scores and are left out")
    if "iter" in results and "n_resources" in results:
        last = np.asarray(results["iter"]) == np.max(results["iter"])
        complete &= last
        notes.append(
            f"halving search: only the {np.sum(last)} candidates of the last resource level"
        )
    refuse_if(
        not complete.any(),
        "search",
        f"no candidate has the score {name!r} in all folds: there is nothing to compare.",
        remedy="A fit may have failed (error_score='raise' shows why), or a fold lacks a class "
        "that the score needs (StratifiedKFold gives every fold its share).",
    )
    return complete, notes


def count_splits(results):
    """Number of splits that ``cv_results_`` has scores of."""
    found = (re.match(r"split(\d+)_test_", str(key)) for key in results)
    return len({match[1] for match in found if match})


def _score_table(results):
    """Columns of split scores: {score: array of shape (candidates, splits)}."""
    columns: dict[str, dict[int, Any]] = {}
    for key in results:
        if match := re.fullmatch(r"split(\d+)_test_(.+)", str(key)):
            what = f"cv_results[{str(key)!r}]"
            scores = as_numbers("search", results[key], what=what)
            columns.setdefault(match[2], {})[int(match[1])] = scores
    return {name: _as_table(name, found) for name, found in columns.items()}


def _as_table(name, found):
    """Scores of all splits, shape (candidates, splits)."""
    refuse_if(
        sorted(found) != list(range(len(found))),
        "search",
        f"cv_results lacks splits of {name!r}: got {sorted(found)} of {max(found) + 1}.",
    )
    shapes = sorted({split.shape for split in found.values()})
    refuse_if(
        len(shapes) > 1 or len(shapes[0]) != 1,
        "search",
        f"cv_results must hold one number per candidate in every split of {name!r}, got arrays "
        f"of shape {' and '.join(map(str, shapes))}.",
    )
    return np.stack([found[k] for k in sorted(found)], axis=1)


# --------------------------------------------------------------------------------------------------
# Scores that the search has computed


def _computed_scores(search, table, metric, refit):
    """Name of one of the scores of the search, and the scores."""
    if metric is None:
        names = [name for name in table if not is_moment_key(name)]
        metric = refit if refit in table else _only_one(names)
    if isinstance(metric, str) and metric in table:
        return metric, table[metric]
    refuse_if(
        list(table) != ["score"] or not isinstance(metric, str),
        "metric",
        f"metric must be one of the scores {list(table)}, got {{value}}.",
        metric,
    )
    # A single score has no name of its own in the results; the search may know it.
    known = getattr(search, "scoring", None)
    refuse_if(
        search is not None
        and (known is None or isinstance(known, str))
        and not _same_metric(known, metric),
        "metric",
        f"the search computed {known or 'the score of the estimator'!r}, not {metric!r}: leave "
        "metric out, or use scoring=ConfusionCountsScorer() for any metric.",
    )
    return metric, table["score"]


def _only_one(names):
    """Name of the only score, or None if there is none."""
    refuse_if(len(names) > 1, "metric", f"metric is missing: name one of the scores {names}.")
    return names[0] if names else None


def _same_metric(first, second):
    try:
        return first == second or count_metric(first).name == count_metric(second).name
    except (TypeError, ValueError):
        return False


# --------------------------------------------------------------------------------------------------
# Scores of the counts scorer


def _fold_counts(search, table, cells, labels, pos_label):
    """Fold matrices of all candidates, with the names of the classes if they are known."""
    scoring = getattr(search, "scoring", None)
    labels = getattr(scoring, "labels", None) if labels is None else labels
    labels = getattr(search, "classes_", None) if labels is None else labels
    whole, size = np.nan_to_num(cells), cells.shape[-1]
    _check_totals(table, whole.sum(axis=(-2, -1)))
    if labels is None:
        refuse_if(
            pos_label is not None,
            "pos_label",
            "pos_label={value} needs labels, too: the results do not know the "
            "names of the classes.",
            pos_label,
        )
        return ConfusionCounts(whole, labels=numbered_labels(size, has_positive(table)))
    labels = as_labels(labels)
    refuse_if(
        len(labels) != size,
        "labels",
        f"labels must name the {size} classes that were counted: {{value}}.",
        labels,
    )
    # What the scorer took for positive is in the last row; another class can be asked for.
    counted = pos_label if scoring is None else getattr(scoring, "pos_label", None)
    counted = check_pos_label(labels, counted)
    if has_positive(table):
        if counted is None:
            refuse_nameless("the count tp", labels)
        if labels.index(counted) == 0:
            whole = whole[..., ::-1, ::-1]
    return ConfusionCounts(
        whole, labels=labels, pos_label=counted if pos_label is None else pos_label
    )


def _check_totals(table, total):
    """Refuse counts that do not add up: a search drops keys that the first fold lacks."""
    expected = table.get("n", total)
    refuse_if(
        expected.shape != total.shape,
        "search",
        f"cv_results must hold as many splits of 'n' as of the counts, got "
        f"{expected.shape[1]} and {total.shape[1]}.",
    )
    refuse_if(
        np.any(np.nan_to_num(expected) != total),
        "search",
        "the counts of a fold do not add up to its number of rows: a fold lacked a class. Name "
        "all classes: ConfusionCountsScorer(labels=[...]).",
    )


def _scores_of_counts(search, table, asked, counts, pos_label):
    """Name, Metric, scores and notes; no Metric if the scores are those of a column.

    A metric of scores is a ScoredColumn in place of the Metric.
    """
    scoring = getattr(search, "scoring", None)
    written = {}
    if isinstance(scoring, ConfusionCountsScorer):
        written = {name: how for name, how, _ in scorer_metrics(scoring.metrics)}
    key = asked
    if key is None and scoring is None:
        key = _only_one([name for name in table if not is_count_key(name) and name != "score"])
    if key is None or (scoring is not None and _is_text(key, "score")):
        key = next(iter(written), "accuracy")  # what the scorer calls its "score"
    column = find_scored(written, table, key)
    if column is not None:
        refuse_other_class(column, scoring, counts.labels, pos_label)
        return column.name, column, column.scores, ()
    if not isinstance(key, str):
        chosen, notes = directed(key), ()
    elif key in written or isinstance(written.get(f"neg_{key}"), Metric):
        chosen, notes = written.get(key, written.get(f"neg_{key}")), ()
    else:
        compare = scoring is None or pos_label is None
        chosen, notes = _metric_of_column(key, table, counts, compare)
    if not isinstance(chosen, Metric):  # a scorer of scikit-learn, or a column
        return key, None, table[key], notes
    scores = fold_score(counts, chosen)
    alias = isinstance(asked, str) and asked != "score" and not asked.startswith("neg_")
    name = asked if alias else chosen.name
    return name, chosen, scores if chosen.greater_is_better else -scores, notes


def _is_text(value, text):
    return isinstance(value, str) and value == text


def _metric_of_column(key, table, counts, compare):
    """Metric that a name stands for, and notes; None if it stands for the column of that name."""
    if key == "score" and key in table:
        return None, ()
    written = key in table
    try:
        chosen = directed(key.removeprefix("neg_") if written else key)
    except InvalidParameterError:
        if not written:
            raise
        return None, ()
    column = key if written else f"neg_{key}"
    if column in table and compare:
        found, sign = table[column], -1.0 if column.startswith("neg_") else 1.0
        expected = sign * fold_score(counts, chosen)
        there = np.isfinite(found)
        # Saved results may be rounded.
        if not np.allclose(found[there], expected[there], rtol=0, atol=1e-3, equal_nan=True):
            note = f"the scores {column!r} are not the {chosen.name} of the counts: taken as given"
            return None, (note,)
    return chosen, ()


# --------------------------------------------------------------------------------------------------
# How it was split


def _obstacle(cv, n_splits):
    """Why counts of these splits cannot be added up, or None; as far as the splitter tells."""
    if hasattr(cv, "train_size"):  # the ShuffleSplit family
        return "rows are tested unequally often, as by ShuffleSplit"
    if hasattr(cv, "max_train_size"):
        return "the folds have learnt from different amounts of data, as with TimeSeriesSplit"
    if isinstance(cv, list | tuple) and len(cv) == n_splits:
        return Splits.of(*zip(*cv, strict=True)).obstacle
    return None


def check_splitter(cv):
    """Refuse what does not tell how a search was split."""
    refuse_if(
        isinstance(cv, bool)
        or not (isinstance(cv, int | list | tuple | None) or hasattr(cv, "get_n_splits")),
        "cv",
        "cv must be what the search has: a number of folds, a splitter or a list of splits (an "
        "iterator can be used once only), got {value}.",
        cv,
    )


def _splitter(search, cv, n_splits, n_repeats):
    """What the splits were made by: of the search, or told for saved results."""
    if cv is None:
        return getattr(search, "cv", None)
    refuse_if(search is not None, "cv", "cv is for saved results: this search knows its own.")
    check_splitter(cv)
    refuse_if(n_repeats is not None, "n_repeats", "cv tells n_repeats: give one of the two.")
    if isinstance(cv, int):
        expected = cv
    elif isinstance(cv, list | tuple):
        expected = len(cv)
    else:  # some need the rows to know
        expected = cv.get_n_splits() if hasattr(cv, "n_repeats") else n_splits
    refuse_if(
        expected != n_splits,
        "cv",
        f"cv makes {expected} splits, but the results have {n_splits}: {{value}}.",
        cv,
    )
    return cv


def _how_split(cv, n_splits, n_repeats, ratio):
    """Repetitions and test/train ratio: given, or read from the splitter; and what is assumed."""
    notes: list = []
    repeats = getattr(cv, "n_repeats", None)
    if n_repeats is not None:
        repeats = check_integer("n_repeats", n_repeats, low=1)
    elif not isinstance(repeats, int) or n_splits % repeats:
        repeats = 1
    refuse_if(
        n_splits % repeats,
        "n_repeats",
        f"n_repeats={repeats} must divide the number of splits, {n_splits}.",
    )
    folds = n_splits // repeats
    if ratio is not None:
        ratio = check_number("test_train_ratio", ratio, low=0, high=np.inf, closed=False)
        return repeats, ratio, notes
    if hasattr(cv, "train_size"):  # the ShuffleSplit family
        return repeats, _shuffle_ratio(cv), notes
    if isinstance(cv, list | tuple) and len(cv) == n_splits:
        known = Splits.of(*zip(*cv, strict=True))
        repeats = known.n_repeats if n_repeats is None else repeats
        return repeats, float(np.mean(known.n_test / known.n_train)), notes
    if cv is not None and not isinstance(cv, int) and not hasattr(cv, "split"):
        notes.append("assumed: K-fold, because the splits of cv are used up")
    refuse_if(
        folds < 2,
        "test_train_ratio",
        "there is one fold per repetition, so the ratio of test to training rows is not known:",
        remedy="give test_train_ratio=.",
    )
    if hasattr(cv, "max_train_size"):  # a split by time: training sets of 1, 2, ... parts
        return repeats, float(np.mean(1 / np.arange(1, folds + 1))), notes
    return repeats, 1 / (folds - 1), notes


def _shuffle_ratio(cv):
    test, train = cv.test_size, cv.train_size
    if test is None and train is None:  # scikit-learn's defaults
        test = 0.2 if isinstance(cv, GroupShuffleSplit) else 0.1
    if isinstance(test, float) and train is None:
        return test / (1 - test)
    if isinstance(train, float) and test is None:
        return (1 - train) / train
    if test is not None and train is not None and type(test) is type(train):
        return test / train
    raise InvalidParameterError(
        f"test_size={test!r} and train_size={train!r} do not tell the ratio of test to training "
        "rows:",
        parameter="test_train_ratio",
        remedy="give test_train_ratio=.",
    )
