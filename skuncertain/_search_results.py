"""Reading ``cv_results_`` of a finished search: scores, counts, and how it was split."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

from skuncertain._counts import ConfusionCounts
from skuncertain._labels import as_labels, check_pos_label
from skuncertain._metrics import get_metric
from skuncertain._scorers import directed, is_count_key, read_cells
from skuncertain._splits import Splits
from skuncertain._validation import as_numbers, check_integer, check_number, shown

HOW = (
    "Pass a fitted GridSearchCV, RandomizedSearchCV or halving search, or its cv_results_ (a dict "
    "or a DataFrame)."
)
_SPLIT = re.compile(r"split(\d+)_test_(.+)")


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
        That metric.
    considered : ndarray of shape (candidates,)
        Candidates of the last resource level whose scores are all there.
    n_repeats : int
        Repetitions of the cross-validation.
    ratio : float
        Test rows over training rows.
    selected : int
        Index of the candidate that the search chose, or the best mean.
    n_total : int
        Number of candidates in the results.
    counts : ConfusionCounts or None
        Fold matrices of shape (candidates, splits), if the counts scorer was used.
    sign : float
        1, or -1 for a metric of which less is better (the scores are then negative).
    params : list or None
        Parameters of the candidates.
    notes : tuple of str
        What was assumed or left out.
    """

    scores: np.ndarray
    metric: str
    metric_object: Any
    considered: np.ndarray
    n_repeats: int
    ratio: float
    selected: int
    n_total: int
    counts: ConfusionCounts | None
    sign: float
    params: Any
    notes: tuple


def read_search(search, metric, n_repeats, ratio, labels=None, pos_label=None):
    """Scores of all candidates of a search or of its saved results."""
    fitted = hasattr(search, "cv_results_")
    results = search.cv_results_ if fitted else search
    if hasattr(results, "columns") and hasattr(results, "to_dict"):  # a DataFrame
        results = {str(name): results[name].to_numpy() for name in results.columns}
    if not hasattr(results, "keys"):
        raise TypeError(f"search must be a finished search, got {type(search).__name__}. {HOW}")
    table = _score_table(results)
    if not table:
        raise ValueError(f"there are no columns split<k>_test_<score>. {HOW}")
    notes = []
    scoring = getattr(search, "scoring", None)
    default = getattr(search, "refit", None)
    default = getattr(default, "metric", default)  # a rule of ours knows what it looked at
    default = default if isinstance(default, str) else None
    cells = read_cells(table)
    if cells is None:
        name = _plain_name(table, metric, default, scoring, fitted)
        counts, chosen, sign = None, None, 1.0
        scores = table[name] if name in table else table["score"]
    else:
        classes = getattr(search, "classes_", None)
        counts, chosen = _counted(
            table, cells, metric, default, labels, pos_label, scoring, classes
        )
        if chosen is None:
            counts, scores, name, sign = None, table["score"], "score", 1.0
        else:
            sign = 1.0 if chosen.greater_is_better else -1.0
            failed = np.isnan(cells).any(axis=(-2, -1))
            scores = np.where(failed, np.nan, sign * counts.score(chosen, zero_division=0.0))
            asked = default if metric is None else metric
            plain = isinstance(asked, str) and asked != "score" and not asked.startswith("neg_")
            name = asked if plain else chosen.name
    considered = np.isfinite(scores).all(axis=1)
    failed = int((~considered).sum())
    if failed:
        notes.append(f"{failed} of {len(scores)} candidates have missing scores and are left out")
    if "iter" in results and "n_resources" in results:
        last = np.asarray(results["iter"]) == np.max(results["iter"])
        considered &= last
        notes.append(
            f"halving search: only the {int(last.sum())} candidates of the last resource level"
        )
    if not considered.any():
        raise ValueError("no candidate has all its scores: there is nothing to compare.")
    repeats, ratio, assumed = _how_split(
        search.cv if fitted else None, scores.shape[1], n_repeats, ratio, fitted
    )
    notes += assumed
    selected = getattr(search, "best_index_", None) if fitted else None
    mean = np.where(considered, np.nan_to_num(scores).mean(axis=1), -np.inf)
    if selected is None or not considered[selected]:
        selected = int(np.argmax(mean))
        notes.append("the selected candidate is taken to be the one with the best mean")
    params = results.get("params") if hasattr(results, "get") else None
    if params is not None and (not hasattr(params, "__len__") or len(params) != len(scores)):
        raise ValueError(
            f"cv_results must hold the params of all {len(scores)} candidates, got {shown(params)}."
        )
    return SearchScores(
        scores, name, chosen, considered, repeats, ratio, int(selected), len(scores), counts, sign,
        None if params is None else list(params), tuple(notes),
    )  # fmt: skip


def _score_table(results):
    """Columns of split scores: {score: array of shape (candidates, splits)}."""
    columns: dict[str, dict[int, Any]] = {}
    for key in results:
        match = _SPLIT.fullmatch(str(key))
        if match:
            columns.setdefault(match[2], {})[int(match[1])] = results[key]
    for name, found in columns.items():
        if sorted(found) != list(range(len(found))):
            raise ValueError(
                f"cv_results lacks splits of {name!r}: got {sorted(found)} of {max(found) + 1}."
            )
    return {name: _as_table(name, found) for name, found in columns.items()}


def _as_table(name, found):
    """Scores of all splits, shape (candidates, splits)."""
    splits = [as_numbers(f"cv_results['split{k}_test_{name}']", found[k]) for k in sorted(found)]
    shapes = {split.shape for split in splits}
    if len(shapes) > 1 or splits[0].ndim != 1:
        raise ValueError(
            f"cv_results must hold one number per candidate in every split of {name!r}, got arrays "
            f"of shape {' and '.join(map(str, sorted(shapes)))}."
        )
    return np.stack(splits, axis=1)


def _plain_name(table, metric, default, scoring, fitted):
    """Name of the score to look at, among those that the search has computed."""
    names = list(table)
    if metric is None:
        metric = default if default in table else names[0] if len(names) == 1 else None
        if metric is None:
            raise ValueError(f"metric is missing: name one of the scores {names}.")
    if isinstance(metric, str) and metric in table:
        return metric
    if names == ["score"] and isinstance(metric, str):
        # A single score has no name of its own in the results; the search may know it.
        known = scoring if isinstance(scoring, str) else None
        if not fitted or known == metric or _same_metric(known, metric):
            return metric
        if known is None and scoring is not None:
            return metric
        raise ValueError(
            f"the search computed {known or 'the score of the estimator'!r}, not {metric!r}: leave "
            "metric out, or use scoring=ConfusionCountsScorer() for any metric."
        )
    raise ValueError(f"metric must be one of the scores {names}, got {shown(metric)}.")


def _same_metric(first, second):
    try:
        return get_metric(first).name == get_metric(second).name
    except (TypeError, ValueError):
        return False


def _counted(table, cells, metric, default, labels, pos_label, scoring, classes):
    """Counts (candidates, splits) and the metric to compute from them; None for "score" itself."""
    labels = getattr(scoring, "labels", None) if labels is None else labels
    labels = classes if labels is None else labels
    # What the scorer took for positive is in the last row; another class can be asked for.
    orientation = getattr(scoring, "pos_label", pos_label if scoring is None else None)
    whole, size = np.nan_to_num(cells), cells.shape[-1]
    if labels is not None:
        labels = as_labels(labels)
        if len(labels) != size:
            raise ValueError(
                f"labels must name the {size} classes that were counted: {shown(labels)}."
            )
        orientation = check_pos_label(labels, orientation)
        if size == 2 and labels.index(orientation) == 0:
            whole = whole[..., ::-1, ::-1]
        pos_label = orientation if pos_label is None else pos_label
    elif pos_label is not None:
        raise ValueError(
            f"pos_label={shown(pos_label)} needs labels=[...]: the results do not know the names "
            "of the classes."
        )
    counts = ConfusionCounts(whole, labels=labels, pos_label=pos_label)
    total = whole.sum(axis=(-2, -1))
    if "n" in table and table["n"].shape != total.shape:
        raise ValueError(
            f"cv_results must hold as many splits of 'n' as of the counts, got "
            f"{table['n'].shape[1]} and {total.shape[1]}."
        )
    if "n" in table and np.any(np.nan_to_num(table["n"]) != total):
        raise ValueError(
            "the counts of a fold do not add up to its number of rows: a fold lacked a class. Name "
            "all classes: ConfusionCountsScorer(labels=[...])."
        )
    if metric is None:
        metric = default
    if metric is None and scoring is None:  # saved results: what else was saved is what was asked
        metric = _saved_metric(table)
    if metric is None or (isinstance(metric, str) and metric == "score" and scoring is not None):
        asked = getattr(scoring, "metrics", None)
        asked = [asked] if isinstance(asked, str) or callable(asked) else list(asked or ())
        metric = asked[0] if asked else "accuracy"
    if isinstance(metric, str) and metric == "score":
        return counts, None
    if isinstance(metric, str) and metric.startswith("neg_") and metric in table:
        metric = metric[4:]
    return counts, directed(metric)


def _saved_metric(table):
    """Name of the only metric beside the counts in saved results, or None if there is none."""
    names = [name for name in table if not is_count_key(name) and name != "score"]
    if len(names) > 1:
        raise ValueError(f"metric is missing: name one of the scores {names}.")
    return names[0] if names else None


def _how_split(cv, n_splits, n_repeats, ratio, fitted):
    """Repetitions and test/train ratio: given, read from the splitter, or assumed and said so."""
    notes = []
    if n_repeats is not None:
        repeats = check_integer("n_repeats", n_repeats, low=1)
    else:
        repeats = getattr(cv, "n_repeats", None)
        if not isinstance(repeats, int) or n_splits % repeats:
            repeats = 1
            if not fitted:
                notes.append("assumed: one repetition of K-fold (n_repeats=1)")
    if n_splits % repeats:
        raise ValueError(f"n_repeats={repeats} must divide the number of splits, {n_splits}.")
    if ratio is not None:
        ratio = check_number("test_train_ratio", ratio, low=0, high=np.inf, closed=False)
        return repeats, ratio, notes
    if hasattr(cv, "train_size"):  # the ShuffleSplit family
        return repeats, _shuffle_ratio(cv), notes
    if isinstance(cv, list | tuple) and len(cv) == n_splits:
        about = Splits.of([train for train, _ in cv], [test for _, test in cv])
        repeats = about.n_repeats if n_repeats is None else repeats
        return repeats, float(np.mean(about.n_test / about.n_train)), notes
    if fitted and cv is not None and not isinstance(cv, int) and not hasattr(cv, "split"):
        notes.append("assumed: K-fold, because the splits of cv are used up")
    folds = n_splits // repeats
    if folds < 2:
        raise ValueError(
            "there is one fold per repetition, so the ratio of test to training rows is not known: "
            "give test_train_ratio=."
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
    raise ValueError(
        f"test_size={test!r} and train_size={train!r} do not tell the ratio of test to training "
        "rows: give test_train_ratio=."
    )
