"""Families about confusion matrices, single ones and stacks."""

import pickle

import numpy as np

from skuncertain import ConfusionCounts, confidence_interval, credible_interval
from skuncertain.metrics import (
    get_metric,
    make_metric,
    metric_posterior,
    prior_from_metrics,
    proportion_posterior,
)
from skuncertain.posteriors import BetaPosterior
from tools.fuzz import make, naive
from tools.fuzz.checks import (
    at_one_float,
    check_everything,
    check_interval,
    check_posterior,
    check_quantiles,
    close,
    plain,
    require_all,
)
from tools.fuzz.runner import family, require

# How long a stack may be for a metric, so that a call takes some ten milliseconds.
LONG, SHORT = 256, 12
PROPORTIONS = (
    "accuracy",
    "recall",
    "precision",
    "f1",
    "jaccard",
    "specificity",
    "npv",
    "fpr",
    "fnr",
    "fdr",
    "error_rate",
    "false_omission_rate",
    "prevalence",
    "predicted_positive_rate",
    "predicted_negative_rate",
    "precision_micro",
    "f1_micro",
)


def compare_with_textbook(posterior, name, cells, positive):
    """The observed value is that of the textbook formula, up to rounding of large sums."""
    if name == "expected_cost":
        return  # the error rate, with our costs
    expected = naive.value(name, cells, positive)
    n = cells.sum((-1, -2))
    expected = np.where(n < 2**50, expected, np.nan)  # squares of sums lose digits
    tolerance = 1e-7 if "kappa" in name or "matthews" in name else 1e-9
    close(posterior.observed, expected, f"{name} differs", rtol=tolerance, atol=tolerance)


@family(share=60)
def stack_of_proportions(source):
    """Exact Betas: one call for many two-by-two tables."""
    name = source.pick(PROPORTIONS)
    n = source.pick((1, LONG, LONG, 4 * LONG))
    cells = make.matrices(source, (n,), 2)
    prior, proper, default = make.prior(source, 2)
    level, kind = make.level(source), make.interval_kind(source)
    source.note(metric=name, prior=prior, level=level, kind=kind, cells=cells)
    posterior = ConfusionCounts(cells).posterior(name, prior=prior)
    check_posterior(posterior, level, kind, proper=proper, default=default)
    compare_with_textbook(posterior, name, cells, 1)
    if proper:
        check_quantiles(posterior)
    return n


@family(share=8)
def stack_of_two_classes(source):
    """Any metric, model and prior: one call for some two-by-two tables."""
    name = source.pick(make.OF_TWO)
    metric = make.metric_of(name)
    model = source.pick(("dirichlet", "dirichlet", "three_beta", "rows"))
    slow = model != "dirichlet" or "kappa" in name or "matthews" in name
    n = source.pick((1, 2, 3) if slow else (1, SHORT, SHORT))
    # Highest-density intervals of two-dimensional integrals take too long for larger counts.
    cells = make.matrices(source, (n,), 2, largest=10**6 if slow else 10**9)
    prior, proper, default = make.prior(source, 2)
    level, kind = make.level(source), make.interval_kind(source)
    source.note(metric=name, prior=prior, model=model, level=level, kind=kind, cells=cells)
    counts = ConfusionCounts(cells)
    posterior = counts.posterior(metric, prior=prior, model=model, n_draws=400, random_state=1)
    drawn = not posterior.exact
    check_posterior(
        posterior,
        min(level, 0.99) if drawn else level,
        kind,
        proper=proper,
        default=default and name in PROPORTIONS and model == "dirichlet",
    )
    compare_with_textbook(posterior, name, cells, 1)
    one = counts[n - 1].posterior(metric, prior=prior, model=model, n_draws=400, random_state=1)
    if one.exact and posterior.exact:  # a stack is drawn if one of its matrices has to be
        low, high = one.interval(level, kind)
        same_low, same_high = np.array(posterior.interval(level, kind))[:, n - 1]
        if kind == "eti":
            close([low, high], [same_low, same_high], "not as in a stack")
        elif np.isfinite(high):
            # Ends of a shortest interval are not unique, its width and its mass are.
            close(high - low, same_high - same_low, "another width than in a stack")
            masses = [one.prob(low, high), one.prob(same_low, same_high)]
            close(*masses, "another mass than in a stack", rtol=1e-6, atol=1e-6)
    return n


@family(share=20)
def stack_of_many_classes(source):
    """Any metric of three to six classes."""
    n_classes = source.pick((3, 4, 6))
    metric, name, positive = make.metric_for(source, n_classes)
    slow = name in ("net_benefit", "expected_cost", "cohen_kappa", "matthews_corrcoef")
    n = source.pick((1, 3) if slow else (1, SHORT))
    cells = make.matrices(source, (n,), n_classes, largest=10**6 if slow else 10**9)
    prior, proper, default = make.prior(source, n_classes)
    model = source.pick(("dirichlet", "dirichlet", "rows"))
    level, kind = min(make.level(source), 0.99), make.interval_kind(source)
    source.note(metric=name, prior=prior, model=model, level=level, kind=kind, cells=cells)
    source.note(positive=positive)
    counts = ConfusionCounts(cells)
    posterior = counts.posterior(
        metric, prior=prior, model=model, pos_label=positive, n_draws=400, random_state=1
    )
    check_posterior(
        posterior,
        level,
        kind,
        proper=proper,
        default=default and name in PROPORTIONS and model == "dirichlet",
    )
    compare_with_textbook(posterior, name, cells, positive)
    return n


@family(share=2)
def one_matrix(source):
    """Every method of the posterior of one matrix."""
    n_classes = source.pick((2, 2, 3))
    metric, name, positive = make.metric_for(source, n_classes)
    model = source.pick(("dirichlet", "dirichlet", "rows"))
    movable = n_classes == 2 and name != "prevalence"  # it cannot be asked for and given
    elsewhere = make.prevalence(source) if movable and source.rarely(6) else None
    slow = model == "rows" or elsewhere is not None or "kappa" in name or "matthews" in name
    cells = make.matrices(source, (), n_classes, largest=10**6 if slow else 2**50)
    labels = source.pick(make.LABELS)[:n_classes]
    counts = ConfusionCounts(cells, labels=labels)
    prior, proper, default = make.prior(source, n_classes)
    level, kind = make.level(source), make.interval_kind(source)
    pos_label = make.positive_of(labels, positive)
    question = {
        "prior": prior,
        "model": model,
        "prevalence": elsewhere,
        "pos_label": pos_label,
        "n_draws": 400,
        "random_state": 5,
    }
    source.note(metric=name, level=level, kind=kind, cells=cells, labels=labels, **question)
    posterior = counts.posterior(metric, **question)
    usual = default and elsewhere is None and model == "dirichlet" and name in PROPORTIONS
    level = level if posterior.exact else min(level, 0.99)
    check_everything(posterior, level, kind, proper=proper, default=usual)
    if elsewhere is None:
        where = 1 if positive is None and n_classes == 2 else positive
        compare_with_textbook(posterior, name, cells, where)
    same = credible_interval(counts, metric=metric, level=level, kind=kind, **question)
    require(np.array_equal(same, posterior.interval(level, kind), equal_nan=True), "another answer")
    if source.rarely(3) and cells.sum() < 2**40:
        later = posterior.updated(counts)
        check_posterior(later, level, kind, proper=proper)
    if source.rarely(3) and proper:
        ahead = posterior.predictive(source.pick((5, 1, 200)))
        check_posterior(ahead, level, kind, proper=False)


@family(share=20)
def shapes_of_betas(source):
    """Beta posteriors with shapes of all magnitudes."""
    rng = source.rng()
    n = source.pick((1, 64))
    size = source.pick((2, 6, 12))
    a, b = 10.0 ** rng.uniform(-size / 2, size, size=(2, n))
    posterior = BetaPosterior(a, b)
    level, kind = make.level(source), make.interval_kind(source)
    source.note(a=a, b=b, level=level, kind=kind)
    low, high, _ = check_interval(posterior.interval(level, kind), (0, 1), open_width=False)
    require_all((low < high) | at_one_float(posterior, low, high, level), "no width", low, high)
    check_quantiles(posterior)
    require(np.all(np.isfinite(posterior.mean()) & np.isfinite(posterior.std())), "NaN: moments")
    return n


@family(share=30)
def proportions(source):
    n = source.pick((1, 64))
    hits, misses = make.matrices(source, (n,), 2)[:, 0].T
    prior, proper = source.pick(
        (
            *(("auto", True), ("auto", True), (0.5, True), (1, True), ("neutral", True)),
            *(("haldane", False), (1e-3, True), (50, True)),
        )
    )
    level, kind = make.level(source), make.interval_kind(source)
    source.note(hits=hits, misses=misses, prior=prior, level=level, kind=kind)
    posterior = proportion_posterior(hits, misses, prior=prior)
    low, high = check_posterior(
        posterior, level, kind, proper=proper, default=prior in ("auto", 0.5)
    )
    if prior == "auto":
        ends = naive.calibrated_ends(hits, misses, (1 - level) / 2 if kind == "eti" else 1 - level)
        close(low, np.where(np.isnan(ends[0]), low, ends[0]), "the lower end")
        close(high, np.where(np.isnan(ends[1]), high, ends[1]), "the upper end")
        if kind == "eti":
            require(np.all(low[(hits == 1) & (misses > 0)] == 0), "one success, low above 0")
            require(np.all(high[(misses == 1) & (hits > 0)] == 1), "one failure, high below 1")
    close(posterior.observed, naive.ratio(hits, hits + misses), "the share differs")
    return n


@family(share=15)
def labels(source):
    """Labels in all array types, with weights or groups."""
    (y_true, y_pred), labels, true, (predicted,) = make.rows(source)
    n_classes = len(labels)
    metric, name, positive = make.metric_for(source, n_classes)
    level, kind = min(make.level(source), 0.99), make.interval_kind(source)
    question = {"labels": labels, "n_draws": 400, "random_state": 3}
    question["pos_label"] = make.positive_of(labels, positive)
    counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels)
    cells = np.zeros((n_classes, n_classes), dtype=int)
    for t, p in zip(true, predicted, strict=True):
        cells[t, p] += 1
    require(np.array_equal(counts.counts, cells), "counts differ")
    more = source.below(3)
    if more == 1:
        question["sample_weight"] = make.column(
            source, source.rng().integers(1, 5, len(true)), (0, 1, 2, 3, 4, 5)
        )
    elif more == 2 and len(true) > 3:
        question["groups"] = np.arange(len(true)) % source.pick((2, 3))
    posterior = metric_posterior(y_true, y_pred, metric=metric, **question)
    check_posterior(posterior, level, kind, proper=True, bounded=True)
    if more == 0:
        where = 1 if positive is None and n_classes == 2 else positive
        compare_with_textbook(posterior, name, cells, where)


@family(share=80)
def confidence(source):
    """Frequentist intervals and the bootstrap."""
    n_classes = source.pick((2, 2, 3))
    method = source.pick(
        ("wilson", "clopper_pearson", "agresti_coull", "jeffreys", "bootstrap", "bca")
    )
    level = source.pick((0.95, 0.5, 0.99, 0.999))
    if method in ("bootstrap", "bca"):
        metric, _, positive = make.metric_for(source, n_classes)
        counts = make.counts(source, (), n_classes, largest=10**4, filled=True)
        source.note(counts=counts.counts, metric=metric.name, method=method, level=level)
        interval = confidence_interval(
            counts,
            metric=metric,
            method=method,
            level=level,
            pos_label=None if positive is None else counts.labels[positive],
            stratified=source.rarely(3),
            n_resamples=source.pick((200, 2, 50)),
            random_state=1,
        )
        check_interval(interval, metric.range, proper=False)
        return 1
    n = source.pick((1, 64))
    name = source.pick(("accuracy", "error_rate") if n_classes > 2 else PROPORTIONS)
    counts = make.counts(source, (n,), n_classes)
    source.note(counts=counts.counts, metric=name, method=method, level=level)
    interval = confidence_interval(counts, metric=name, method=method, level=level)
    low, high, exists = check_interval(interval, (0, 1), proper=False)
    observed = np.asarray(counts.score(name))
    require(np.all(exists), "NaN")
    whole = (low == 0) & (high == 1)
    inside = (low - 1e-9 <= observed) & (observed <= high + 1e-9)
    require_all(np.where(np.isnan(observed), whole, inside), "observed outside", low, observed)
    require_all(low < high, "no width", low, high)
    return n


@family(share=40)
def counts_arithmetic(source):
    """Constructors, sums, parts, pickles and reprs of counts."""
    depth = source.pick(((), (3,), (2, 3)))
    n_classes = source.pick((2, 3, 6, 12))
    labels = tuple(range(n_classes)) if n_classes > 6 else source.pick(make.LABELS)[:n_classes]
    cells = make.matrices(source, depth, n_classes, largest=10**9)
    counts = ConfusionCounts(cells.tolist(), labels=labels)
    require(pickle.loads(pickle.dumps(counts)) == counts, "a pickled copy differs")
    require(hash(pickle.loads(pickle.dumps(counts))) == hash(counts), "another hash")
    require(np.array_equal((counts + counts).counts, 2 * cells), "the sum")
    require(sum([counts, counts, counts]).n is not None, "sum()")
    require(np.array_equal(counts.n, cells.sum((-1, -2))), "n")
    plain(counts.to_dict())
    repr(counts)
    if depth:
        require(
            np.array_equal(counts.sum().counts, cells.reshape(-1, n_classes, n_classes).sum(0)),
            "the sum over the stack",
        )
        require(counts[-1] == list(counts)[-1], "the last")
    else:
        counts.to_frame()
        require(
            ConfusionCounts(counts.to_frame()) == ConfusionCounts(cells, labels=labels),
            "not the same from its table",
        )
    k = source.below(n_classes)
    two = counts.one_vs_rest(labels[k])
    expected = naive.cells(cells.astype(float), k)
    found = [
        two.counts[..., 1, 1],
        two.counts[..., 1, 0],
        two.counts[..., 0, 1],
        two.counts[..., 0, 0],
    ]
    close(np.array(found), np.array(expected), "one against the rest")
    if n_classes == 2:
        tp, fn, fp, tn = naive.cells(cells, 1)
        again = ConfusionCounts.from_binary(
            tp=tp, fn=fn, fp=fp, tn=tn, labels=labels, pos_label=labels[1]
        )
        require(np.array_equal(again.counts, cells), "from_binary")


@family(share=50)
def joint(source):
    """Several metrics together; better than guessing."""
    n_classes = source.pick((2, 2, 3))
    counts = make.counts(source, (), n_classes)
    asked = [make.metric_for(source, n_classes) for _ in range(source.integer(1, 4))]
    prior, proper, _ = make.prior(source, n_classes)
    pos_label = counts.labels[source.below(n_classes)]
    source.note(counts=counts.counts, asked=[name for _, name, _ in asked], prior=prior)
    together = counts.joint_posterior(
        [metric for metric, _, _ in asked],
        n=source.pick((None, None, 7)),
        prior=prior,
        pos_label=pos_label,
        n_draws=200,
        random_state=2,
    )
    if proper and together.draws.shape[-1]:
        repr(together)
        together.correlation()
    if proper:
        three = counts.better_than_chance(
            rope=source.pick((0.0, 0.1)), prior=prior, pos_label=pos_label
        )
        total = three.p_better + three.p_equivalent + three.p_worse
        require(abs(total - 1) < 1e-9, f"the probabilities sum to {total}")
        plain(three.to_dict())


@family(share=30)
def own_metrics(source):
    """Metrics of the user, and expected values as a prior."""
    share = source.real(0.0, 1.0)
    metric = make_metric(
        lambda p: p[..., 0, 1] - share * p[..., 1, 0],
        name=source.pick(("skew", "ß", "a b")),
        range=source.pick(((-1.0, 1.0), (-np.inf, np.inf))),
        greater_is_better=source.pick((True, False, None)),
    )
    counts = make.counts(source, (source.integer(1, 3),), source.pick((2, 3)), largest=10**6)
    posterior = counts.posterior(metric, n_draws=300, random_state=0)
    check_posterior(posterior, 0.9, make.interval_kind(source), proper=True)
    beta = source.pick((0.5, 2.0, 1e-6, 1e6))
    require(get_metric("fbeta", beta=beta).range == (0.0, 1.0), "the range of F-beta")
    p, r, a = (source.real(0.02, 0.98) for _ in range(3))
    if 1 / r + 1 / p - 1 / a > 1 + 1e-9:
        cells = prior_from_metrics(precision=p, recall=r, accuracy=a, weight=10.0)
        require(np.all(cells > -1e-9), f"negative pseudo-counts {cells.tolist()}")
        for name, expected in (("precision", p), ("recall", r), ("accuracy", a)):
            close(naive.value(name, cells), expected, f"{name} of the prior")
