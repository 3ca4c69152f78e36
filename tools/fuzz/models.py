"""Families about folds, comparisons, leaderboards, searches and cross-validation."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold, ShuffleSplit

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    ConfusionCountsScorer,
    compare,
    compare_cv,
    compare_paired,
    leaderboard,
    search_posterior,
    simplest_equivalent,
)
from skuncertain.comparison import compare_datasets
from skuncertain.metrics import make_bound_scorer
from skuncertain.model_selection import (
    CrossValPosterior,
    best_lower_bound,
    fold_interval,
    fold_posterior,
    most_probable_best,
    selection_corrected_score,
)
from tools.fuzz import make
from tools.fuzz.checks import check_interval, check_posterior, check_three, close, plain
from tools.fuzz.runner import family, require

COUNT_METHODS = (
    "pooled",
    "averaged",
    "average_exact",
    "dirichlet",
    "bootstrap",
    "t",
    "corrected_t",
    "nadeau_bengio",
)
SCORE_METHODS = ("t", "corrected_t", "nadeau_bengio")
COMPARABLE = ("accuracy", "f1", "recall", "error_rate", "mcc", "balanced_accuracy", "fpr", "lr+")
OF_CLASSES = ("accuracy", "f1_macro", "error_rate", "mcc", "balanced_accuracy", "recall_weighted")


def of_groups(found):
    """P(best) of every tie group."""
    return found.p_best[np.unique(found.tie_group, return_index=True)[1]]


@family(share=20, refusals=True)
def folds(source):
    """Matrices or scores of folds; some methods refuse some metrics."""
    level, kind = make.level(source), make.interval_kind(source)
    if source.rarely(4):
        shape = source.pick(((10,), (5,), (2,), (3, 10)))
        data = make.fold_scores(source, shape, low=-np.inf, high=np.inf)
        question = {"method": source.pick(SCORE_METHODS)}
        source.note(scores=data, **question)
        posterior = fold_posterior(data, **question)
        check_posterior(posterior, level, kind, proper=False, bounded=False)
        close(posterior.median(), data.mean(-1), "not the mean of the scores")
        return
    data = make.fold_counts(source)
    n_classes = data.shape[-1]
    metric, name, positive = make.metric_for(source, n_classes)
    method = source.pick(COUNT_METHODS)
    question = {"method": method, "n_draws": 300, "random_state": 1, "pos_label": positive}
    if method == "pooled":
        question["omega"] = source.pick(("auto", "wang_li", 1.0, 1 / len(data)))
        question["estimand"] = source.pick(("algorithm", "model"))
    if method in ("pooled", "averaged", "average_exact", "dirichlet"):
        question["prior"] = source.pick((1.0, 0.5, "jeffreys", 20, 1e-3))
    source.note(metric=name, level=level, kind=kind, **question, cells=data)
    posterior = fold_posterior(data, metric, **question)
    if not posterior.exact:
        level = min(level, 0.99)
    bounded = method not in ("t", "corrected_t", "nadeau_bengio")
    proper = method in ("pooled", "dirichlet")
    check_posterior(posterior, level, kind, proper=proper, bounded=bounded)
    same = fold_interval(data, metric, level=level, kind=kind, **question)
    close(np.array(same), np.array(posterior.interval(level, kind)), "fold_interval differs")
    if posterior.diagnostics is not None:
        plain(posterior.diagnostics.to_dict())


@family(share=10)
def comparisons(source):
    """Two models on different rows, on the same rows, on the same folds, on data sets."""
    rope = source.pick((0.0, 0.01, 0.5))
    kind = source.below(4)
    names = source.pick((("A", "B"), ("ä", "<x>")))
    if kind == 0:
        n_classes = source.pick((2, 2, 3))
        metric = source.pick(COMPARABLE if n_classes == 2 else OF_CLASSES)
        a, b = (
            ConfusionCounts(make.matrices(source, (), n_classes, largest=10**6)) for _ in range(2)
        )
        prior = source.pick(("auto", 0.5, "laplace"))
        source.note(a=a.counts, b=b.counts, metric=metric, prior=prior, rope=rope)
        result = compare(
            a, b, metric=metric, rope=rope, prior=prior, names=names, n_draws=500, random_state=0
        )
        other = compare(
            b, a, metric=metric, rope=rope, prior=prior, names=names, n_draws=500, random_state=0
        )
        if result.difference.exact:
            close(result.p_better, other.p_worse, "not antisymmetric", atol=1e-5)
    elif kind == 1:
        (y, a, b), labels, _, _ = make.rows(source, n_models=2)
        metric = source.pick(COMPARABLE if len(labels) == 2 else OF_CLASSES)
        source.note(y=list(y), a=list(a), b=list(b), metric=metric, rope=rope)
        result = compare_paired(
            y, a, b, metric=metric, labels=labels, rope=rope, n_draws=500, random_state=0
        )
    elif kind == 2:
        folds = source.pick((10, 5, 2))
        a, b = (make.fold_scores(source, (folds,)) for _ in range(2))
        source.note(a=a, b=b, rope=rope)
        result = compare_cv(a, b, rope=rope, names=names)
        close(result.difference.median(), (b - a).mean(), "not the mean difference")
    else:
        shape = (source.pick((8, 2, 20)), *source.pick(((), (5,))))
        a, b = (make.fold_scores(source, shape) for _ in range(2))
        source.note(a=a, b=b, rope=rope)
        result = compare_datasets(a, b, rope=rope, names=names, n_draws=300, random_state=0)
        check_three(result, rope)
        plain(result.to_dict())
        repr(result)
        return
    check_three(result, rope)
    check_interval(result.interval(make.level(source)), proper=False)
    plain(result.to_dict())
    repr(result)


@family(share=2)
def leaderboards(source):
    """Many models: counts of their own, or predictions of the same rows."""
    n_models = source.integer(2, 6)
    if source.below(2):
        metric = source.pick(("accuracy", "f1", "mcc", "error_rate"))
        results = {
            f"model {k}": ConfusionCounts(make.matrices(source, (), 2, largest=10**6))
            for k in range(n_models)
        }
        source.note(results={name: c.counts.tolist() for name, c in results.items()})
        question = {"metric": metric}
    else:
        (y, *predicted), labels, _, _ = make.rows(source, n_models=n_models)
        results = {f"model {k}": p for k, p in enumerate(predicted)}
        question = {"metric": source.pick(OF_CLASSES), "y_true": y, "labels": labels}
        source.note(y=list(y), predicted=[list(p) for p in predicted], metric=question["metric"])
    board = leaderboard(
        results, **question, kind=make.interval_kind(source), n_draws=500, random_state=0
    )
    require(np.all(np.isfinite(board.p_best)), f"NaN: {board.p_best}")
    close(of_groups(board).sum(), 1.0, "P(best) does not sum to 1", atol=1e-3)
    close(board.rank_probabilities.sum(-1), np.ones(n_models), "P(rank)", atol=1e-3)
    check_interval((board.low, board.high), (-1, 1))
    require(
        np.all((board.expected_rank >= 1 - 1e-6) & (board.expected_rank <= n_models + 1e-6)),
        "ranks",
    )
    plain(board.to_dict())
    repr(board)
    require(len(board.expected_prize([3.0, 1.0])) == n_models, "prizes")


def cv_results(source, *, broken=False):
    """What a search leaves behind: `cv_results_` with scores or with counts."""
    candidates, folds = source.integer(2, 6), source.pick((5, 3, 10))
    results = {
        "params": [{"C": 10.0**k, "kernel": "rbf"} for k in range(candidates)],
        "param_C": np.ma.array([10.0**k for k in range(candidates)]),
        "mean_fit_time": np.full(candidates, 0.1),
    }
    if source.below(2):
        cells = np.stack([make.matrices(source, (folds,), 2, largest=400) for _ in range(1)])
        cells = np.repeat(cells, candidates, axis=0)
        cells[..., 1, 1] += 1 + np.arange(candidates)[:, None]
        total = cells.sum((-1, -2))
        for key, (i, j) in {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}.items():
            for k in range(folds):
                results[f"split{k}_test_{key}"] = cells[:, k, i, j].astype(float)
        # Candidates are tested on the same rows
        for k in range(folds):
            shift = total[:, k] - total[0, k]
            results[f"split{k}_test_tp"] = results[f"split{k}_test_tp"] - shift
            results[f"split{k}_test_fn"] = results[f"split{k}_test_fn"]
            results[f"split{k}_test_n"] = total[[0] * candidates, k].astype(float)
            results[f"split{k}_test_score"] = (
                results[f"split{k}_test_tp"] + results[f"split{k}_test_tn"]
            ) / results[f"split{k}_test_n"]
        metric = source.pick(("accuracy", "f1", "mcc"))
    else:
        scores = make.fold_scores(source, (candidates, folds))
        for k in range(folds):
            results[f"split{k}_test_score"] = scores[:, k]
        metric = None
    table = np.stack([results[f"split{k}_test_score"] for k in range(folds)])
    results["mean_test_score"], results["std_test_score"] = table.mean(0), table.std(0)
    results["rank_test_score"] = (-table.mean(0)).argsort().argsort() + 1
    return results, metric, candidates


@family(share=2)
def searches(source):
    """Saved results of searches, rules for refit= and the bias-corrected bootstrap."""
    results, metric, candidates = cv_results(source)
    source.note(results={k: v for k, v in results.items() if k.startswith("split")}, metric=metric)
    found = search_posterior(
        results,
        metric=metric,
        rope=source.pick((0.01, 0.0)),
        kind=make.interval_kind(source),
        n_repeats=1,
        n_draws=400,
        random_state=0,
    )
    require(np.all(np.isfinite(found.p_best)), f"NaN: {found.p_best}")
    close(of_groups(found).sum(), 1.0, "P(best) does not sum to 1", atol=1e-3)
    check_interval((found.low, found.high), proper=metric is not None)
    plain(found.to_dict() and {k: np.asarray(v).tolist() for k, v in found.to_dict().items()})
    repr(found)
    for rule in (
        simplest_equivalent("score", rope=0.01, complexity="C"),
        best_lower_bound("score"),
        most_probable_best("score"),
    ):
        require(0 <= rule(results) < candidates, "no such candidate")
    if source.rarely(3):
        (y, *predicted), labels, true, _ = make.rows(source, n_models=3)
        if len(true) < 3:
            return
        score = selection_corrected_score(
            y, predicted, labels=labels, n_resamples=50, random_state=0
        )
        repr(score)


class Guesser(ClassifierMixin, BaseEstimator):
    """Predicts at random, in the proportions of the training labels."""

    def __init__(self, seed=0):
        self.seed = seed

    def fit(self, X, y):
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        self.share_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.share_, (len(X), 1))

    def predict(self, X):
        rng = np.random.default_rng(self.seed)
        return rng.choice(self.classes_, size=len(X), p=self.share_)


@family(share=1, refusals=True)
def cross_validations(source):
    """Small cross-validations, with folds that lack classes."""
    (y, _), labels, true, _ = make.rows(source, largest=40)
    X = np.zeros((len(true), 1))
    cv = source.pick((3, KFold(2), KFold(5), ShuffleSplit(4, random_state=0)))
    source.note(y=list(y), cv=cv)
    bcv = BayesianCrossValidator(
        Guesser(source.below(10)),
        cv=cv,
        labels=source.pick((None, labels)),
        method=source.pick(("pooled", "averaged", "nadeau_bengio")),
        random_state=0,
    ).fit(X, y)
    for name, interval in bcv.intervals_.items():
        low, high = interval
        require(np.isnan(low) or low <= high, f"low > high for {name}")
    result = bcv.report()
    plain(result.to_dict())
    str(result)
    require(bcv.counts_.n.sum() <= 4 * len(true), "too many rows")


@family(share=2)
def scorers(source):
    """The counts scorer and the bound scorer on test rows that may lack classes."""
    (y, _), labels, true, _ = make.rows(source)
    X = np.zeros((len(true), 1))
    guesser = Guesser().fit(X, np.array([labels[k] for k in range(len(labels))]))
    metrics = ["accuracy"] if len(labels) > 2 else ["f1", "fpr"]
    found = ConfusionCountsScorer(labels=labels, metrics=metrics)(guesser, X, y)
    require(all(np.isfinite(value) for value in found.values()), f"NaN: {found}")
    require(found["n"] == len(true), "n")
    name = source.pick(OF_CLASSES)
    bound = make_bound_scorer(name, labels=labels, bound=source.pick(("lower", "upper")))
    require(np.isfinite(bound(guesser, X, y)), "NaN: the bound")
    folds = [
        ConfusionCountsScorer(labels=labels)(guesser, X[k::2], np.asarray(y)[k::2])
        for k in range(2)
        if len(X) > 1
    ]
    if folds:
        results = {f"test_{key}": np.array([fold[key] for fold in folds]) for key in folds[0]}
        posterior = CrossValPosterior.from_cv_results(results, labels=labels, random_state=0)
        check_interval(posterior.interval("accuracy"), (0, 1))
        plain(posterior.to_dict())
