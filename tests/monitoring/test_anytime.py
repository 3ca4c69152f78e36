"""Intervals and alarms that hold at all looks together."""

import json
import pickle

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain._numerics.confidence_sequence import confidence_sequence
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics import get_metric, get_metric_names, proportion_posterior
from skuncertain.monitoring import SequentialPosterior
from skuncertain.monitoring._anytime import streams_of

_NAMES = [
    name
    for name in get_metric_names(needs="labels")
    if not name.startswith(("fbeta_", "expected", "net"))
]
_WITHOUT = ("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "null_accuracy")
_WITHOUT += ("null_error_rate",)


def _metrics():
    for name in _NAMES:
        if name not in _WITHOUT and (not name.endswith("_weighted") or name == "recall_weighted"):
            yield get_metric("f2" if name == "fbeta" else name)
    yield from (get_metric("f2_macro"), get_metric("f0.5_micro"))
    yield get_metric("net_benefit", threshold=0.2)


_METRICS = list(_metrics())


def _streams(metric, n_classes):
    return streams_of(metric, n_classes, 1 if metric.average == "binary" else None)


def _batch(tp, fn, fp=20, tn=180):
    return ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn)


def _watch(hits, **options):
    watch = SequentialPosterior(**{"metric": "recall", "anytime": True} | options)
    for tp in hits:
        watch.update(_batch(tp, 100 - tp))
    return watch


# --------------------------------------------------------------------------------------------------
# Metrics of streams


@pytest.mark.parametrize(
    ("metric", "n_classes"),
    [(m, c) for m in _METRICS for c in (2, 4) if c == 2 or m.name != "matthews_corrcoef"],
    ids=lambda part: getattr(part, "name", part),
)
def test_streams_give_the_metric(metric, n_classes, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    matrices = rng.integers(1, 40, size=(50, n_classes, n_classes))
    streams = _streams(metric, n_classes)
    hits, misses = streams.counts(matrices)
    seen = hits / (hits + misses)
    positive = 1 if metric.average == "binary" else None
    wanted = metric.evaluate(matrices.astype(float), positive=positive)
    for end in streams.combine(seen, seen):
        np.testing.assert_allclose(end, wanted, rtol=1e-12, atol=1e-12)
    low, high = streams.interval(matrices, 0.95)
    assert np.all((low < wanted) & (wanted < high))
    # Whatever rates are within the ends of the streams: the metric is within its own.
    ends = streams.rates(matrices, 0.95)
    for _ in range(20):
        inner = ends[0] + rng.random(seen.shape) * (ends[1] - ends[0])
        some = streams.combine(inner, inner)[0]
        assert np.all((low - 1e-12 <= some) & (some <= high + 1e-12))


@pytest.mark.parametrize("metric", _METRICS, ids=lambda metric: metric.name)
def test_nothing_seen_is_the_whole_range(metric):
    low, high = _streams(metric, 2).interval(np.zeros((2, 2)), 0.95)
    assert (float(low), float(high)) == metric.range


def test_expected_cost(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    matrices = rng.integers(0, 40, size=(50, 3, 3))
    for cost in ([[0, 1, 5], [2, 0, 5], [-3, 1, 0]], [[1, 2, 3], [4, 1, 2], [2, 3, 1]]):
        metric = get_metric("expected_cost", cost=cost)
        low, high = _streams(metric, 3).interval(matrices, 0.95)
        wanted = metric.evaluate(matrices.astype(float))
        assert np.all((low <= wanted) & (wanted <= high))
        assert np.all((low >= metric.range[0]) & (high <= metric.range[1]))
    # Two costs are one proportion.
    metric = get_metric("expected_cost", cost=[[0, 4], [4, 0]])
    low, high = _streams(metric, 2).interval(np.array([[70, 5], [8, 30]]), 0.9)
    ends = confidence_sequence(13, 100, 0.1)
    assert (low / 4, high / 4) == pytest.approx([float(end) for end in ends], rel=1e-14)


def test_f1_is_that_of_its_own_rows():
    watch = SequentialPosterior("f1", anytime=True)
    interval = watch.update(_batch(80, 12, fp=7, tn=1)).interval()
    low, high = (float(end) for end in confidence_sequence(80, 19, 0.05))
    assert interval == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), rel=1e-14)
    assert watch.update(_batch(0, 0, fp=0, tn=10**9)).interval() == interval


def test_two_rates_share_the_error():
    interval = _watch([90], metric="balanced_accuracy", level=0.9).interval()
    recall, specificity = confidence_sequence(90, 10, 0.05), confidence_sequence(180, 20, 0.05)
    wanted = [(float(a) + float(b)) / 2 for a, b in zip(recall, specificity, strict=True)]
    assert interval == pytest.approx(wanted, rel=1e-14)


def test_a_thousand_classes():
    counts = ConfusionCounts(np.eye(1000, dtype=int) * 50)
    watch = SequentialPosterior("balanced_accuracy", anytime=True, threshold=0.5)
    low, high = watch.update(counts).interval()
    one = confidence_sequence(50, 0, 0.05 / 1000)
    assert (low, high) == pytest.approx((float(one[0]), 1.0))
    assert watch.alarm is None


# --------------------------------------------------------------------------------------------------
# All looks together


@pytest.mark.parametrize("metric", ["accuracy", "recall", "f1", "balanced_accuracy", "mcc"])
def test_missed_at_some_look(metric, global_random_seed):
    # 400 watches of 100 looks of 5 rows of a random class. The standard error of 5 % is 1.1 %.
    rng, metric = np.random.default_rng(global_random_seed), get_metric(metric)
    cells = np.array([[0.55, 0.05], [0.08, 0.32]])
    truth = float(metric.evaluate(cells, positive=1))
    matrices = rng.multinomial(5, cells.ravel(), size=(400, 100)).cumsum(axis=1)
    streams = _streams(metric, 2)
    low, high = streams.interval(matrices.reshape(400, 100, 2, 2), 0.95)
    assert np.mean(np.any((low > truth) | (high < truth), axis=1)) <= 0.05 + 3 * 0.011
    hits, misses = streams.counts(matrices.reshape(400, 100, 2, 2))
    if hits.shape[-1] == 1:  # the ordinary interval does not hold at all of them
        usual = streams.combine(*proportion_posterior(hits, misses).interval())
        missed = np.any((usual[0] > truth) | (usual[1] < truth), axis=1)
        assert np.mean(missed) > 0.15
        width = (high - low)[:, -1].mean() / (usual[1] - usual[0])[:, -1].mean()
        assert 1 < width < 2


# --------------------------------------------------------------------------------------------------
# Alarms


def test_an_alarm_stays():
    watch = _watch([], threshold=0.85)
    alarms = []
    for tp in (80, 78, 70, 60, 99, 99, 99, 99, 99):
        step = watch.update(_batch(tp, 100 - tp))
        alarms.append(step.alarm)
        assert step.alarm == (step.interval().high < 0.85)
    first = alarms.index(True) + 1
    assert alarms[-1] is False  # this look alone
    assert watch.alarm == watch.history.alarm == first
    assert watch.history.columns["worse_than_threshold"].tolist() == alarms
    assert f"alarm since batch {first}: worse than 0.85" in repr(watch)


@pytest.mark.parametrize("metric", ["recall", "balanced_accuracy", "positive_likelihood_ratio"])
@pytest.mark.parametrize("chunk", [2**20, 12])
def test_asked_now_and_then_or_at_the_end(metric, chunk, monkeypatch):
    monkeypatch.setattr("skuncertain.monitoring._sequential._CELLS_AT_ONCE", chunk)
    hits = (95, 97, 94, 96, 98, 95, 97, 70, 60, 55, 60, 50)
    late = _watch(hits, metric=metric, threshold=0.9)
    often = _watch([], metric=metric, threshold=0.9)
    for k, tp in enumerate(hits):
        often.update(_batch(tp, 100 - tp))
        assert often.alarm in (None, late.alarm)
        if k == 4:
            often = pickle.loads(pickle.dumps(often))
    assert (late.alarm, late.change) == (often.alarm, often.change)
    assert (late.alarm, late.change) == (late.history.alarm, late.history.change)
    assert late.change is not None
    low, high = (late.history.columns[name] for name in ("low", "high"))
    if metric == "recall":
        gone = np.maximum.accumulate(low) > np.minimum.accumulate(high)
        assert late.change == np.argmax(gone) + 1
        assert late.history.columns["changed"].tolist() == gone.tolist()


def test_less_is_better():
    watch = SequentialPosterior("fpr", anytime=True, threshold=0.1)
    assert watch.update(_batch(90, 10, fp=2, tn=198)).alarm is False
    assert watch.update(_batch(90, 10, fp=90, tn=110)).alarm is True
    assert watch.alarm == 2


def test_no_alarm_and_no_change_without_a_reason():
    watch = _watch([90] * 30, threshold=0.85)
    assert (watch.alarm, watch.change) == (None, None)
    assert not watch.history.columns["changed"].any()
    assert _watch([50]).alarm is None  # no threshold
    usual = SequentialPosterior("recall")
    usual.update(_batch(50, 50))
    assert (usual.alarm, usual.change) == (None, None)
    assert not {"worse_than_threshold", "changed"} & set(usual.history.columns)


# --------------------------------------------------------------------------------------------------
# The watch


@pytest.mark.parametrize("metric", ["recall", "f1", "informedness"])
def test_history_equals_the_steps(metric):
    options = {"labels": ["bad", "good"], "pos_label": "good", "anytime": True}
    watch = SequentialPosterior(metric, threshold=0.9, **options)
    rng, labels = np.random.default_rng(0), np.array(["bad", "good"])
    steps = []
    for n in (0, 1, 5, 50, 3):
        y = rng.integers(0, 2, size=n)
        steps.append(watch.update(labels[y], labels[np.where(rng.random(n) < 0.3, 1 - y, y)]))
    for name in ("low", "high", "worse_than_threshold", "overall"):
        wanted = [step.to_dict()[name] for step in steps]
        np.testing.assert_allclose(watch.history.columns[name], wanted, rtol=1e-12, err_msg=name)
    assert watch.interval() == steps[-1].interval()
    assert steps[0].interval() == get_metric(metric).range  # without a warning
    of_class = "" if metric == "informedness" else " of class good"
    assert f" in 5 batches: {metric}{of_class} is" in str(watch.report()) or watch.alarm
    plain = json.loads(json.dumps(watch.history.to_dict()))
    assert (plain["anytime"], plain["threshold"], plain["alarm"]) == (True, 0.9, watch.alarm)


def test_levels_and_counts_of_billions():
    watch = SequentialPosterior("recall", anytime=True)
    watch.update(_batch(900_000_000, 100_000_000))
    wider, narrower = watch.interval(0.99), watch.interval(0.8)
    assert wider.low < narrower.low < 0.9 < narrower.high < wider.high
    # By Laplace's method the mixture is sqrt(2 pi / n) / pi of the largest likelihood.
    reach = np.log(100 * np.sqrt(np.pi * 1e9 / 2))
    assert wider.width == pytest.approx(2 * np.sqrt(0.09e-9 * 2 * reach), rel=1e-4)


def test_the_posterior_stays():
    watch, usual = _watch([90, 80]), _watch([90, 80], anytime=False)
    assert watch.posterior.interval(kind="hdi") == usual.interval(kind="hdi")
    assert watch.interval().width > usual.interval().width
    np.testing.assert_array_equal(
        watch.history.columns["p_worse"], usual.history.columns["p_worse"]
    )


def test_report():
    text = str(_watch([90, 70, 60, 60], threshold=0.85).report())
    assert text.startswith("Alarm since batch 3: recall was worse than 0.85; after 4 batches it is")
    assert "95 % interval at all looks [" in text.partition("\n")[0]
    assert "miss the truth at some time" not in text
    calm = _watch([90, 91], threshold=0.85).report().to_dict()
    assert calm["title"].startswith("No alarm in 2 batches: recall is not shown to be worse than")
    rows = calm["sections"]["batches"]["rows"]
    assert [row["step"] for row in rows] == ["2", "1"]
    assert rows[0]["overall"]["low"] == _watch([90, 91]).interval().low
    changed = _watch([90] * 20 + [60] * 20).report().to_dict()["title"]
    assert changed.startswith("No constant value of recall fits: by batch ")
    both = _watch([95] * 20 + [60] * 20, threshold=0.85).report().to_dict()["title"]
    assert "and by batch" in both


def test_the_ordinary_report_says_what_looking_again_does():
    report = str(_watch([90, 91], anytime=False).report())
    assert report.startswith("After 2 batches recall is 0.905, 95 % interval [")
    assert "miss the truth at some time" in report
    assert "miss the truth" not in str(_watch([90], anytime=False).report())
    empty = SequentialPosterior("recall")
    assert str(empty.report()).startswith("There was no batch yet")
    assert "<html" in _watch([90, 91]).report().to_html()
    assert _watch([90, 91])._repr_html_().startswith("<")


@pytest.mark.parametrize(
    ("settings", "parameter", "message"),
    [
        ({"anytime": 1}, "anytime", "anytime must be True or False"),
        ({"discount": 0.9}, "discount", "discount=0.9 does not go with anytime=True"),
        ({"kind": "hdi"}, "kind", "kind='hdi' does not go with anytime=True"),
        ({"metric": "kappa"}, "metric", r"has no confidence sequence: .* Watch 'accuracy'"),
        ({"metric": "f1_weighted"}, "metric", "its weights.* or 'f1_macro' with anytime=True"),
        ({"metric": lambda m: m[..., 0, 0]}, "metric", "a function of your own"),
        ({"metric": "mcc", "labels": [0, 1, 2]}, "metric", "with 3 classes"),
        ({"threshold": 85}, "threshold", "Did you mean 0.85"),
        ({"threshold": "high"}, "threshold", "threshold must be a number"),
        ({"threshold": 0.9, "anytime": False}, "threshold", "threshold needs anytime=True"),
        ({"threshold": 0.9, "metric": "prevalence"}, "threshold", "neither more nor less"),
    ],
)
def test_what_is_refused(settings, parameter, message):
    with pytest.raises(InvalidParameterError, match=message) as caught:
        SequentialPosterior(**{"metric": "recall", "anytime": True} | settings)
    assert caught.value.parameter == parameter


def test_what_batches_refuse():
    watch = _watch([90])
    weighted = ConfusionCounts.from_predictions(
        [0, 1, 1, 0], [0, 1, 0, 0], sample_weight=[1, 2, 1, 1]
    )
    with pytest.raises(InvalidParameterError, match="whole numbers of rows with anytime=True"):
        watch.update(weighted)
    assert watch.n_batches == 1
    with pytest.raises(InvalidParameterError, match="kind is how a posterior is cut"):
        watch.interval(kind="hdi")
    with pytest.raises(InvalidParameterError, match="with 3 classes"):
        SequentialPosterior("mcc", anytime=True).update(ConfusionCounts(np.eye(3, dtype=int)))
    cost = get_metric("expected_cost", cost=np.arange(121).reshape(11, 11))
    with pytest.raises(InvalidParameterError, match=r"at most 100 different costs.*got 121"):
        SequentialPosterior(cost, anytime=True, labels=list(range(11)))
