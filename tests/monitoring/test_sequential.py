import json
import pickle

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts, compare
from skuncertain.monitoring import SequentialPosterior


def _batch(tp, fn, fp=3, tn=20, **labels):
    return ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn, **labels)


def _random(seed, number, n=40):
    rng = np.random.default_rng(seed)
    labels = np.array(["bad", "good"])
    y = rng.integers(0, 2, size=(number, n))
    wrong = rng.random((number, n)) < 0.2
    return labels[y], labels[np.where(wrong, 1 - y, y)]


# --------------------------------------------------------------------------------------------------
# What is known


@pytest.mark.parametrize("metric", ["recall", "f1", "balanced_accuracy", "mcc"])
def test_batches_equal_all_rows_together(metric, global_random_seed):
    y_true, y_pred = _random(global_random_seed, number=7)
    watch = SequentialPosterior(metric, pos_label="bad")
    for k in range(7):
        step = watch.update(y_true[k], y_pred[k])
    counts = ConfusionCounts.from_predictions(y_true.ravel(), y_pred.ravel(), pos_label="bad")
    assert watch.counts == counts
    assert watch.interval() == counts.posterior(metric).interval() == step.interval()
    assert watch.posterior.quantile(0.3) == counts.posterior(metric).quantile(0.3)
    assert (step.step, step.n, step.effective_n, watch.n_batches) == (7, 40, 280, 7)
    assert step.value == counts.from_predictions(y_true[-1], y_pred[-1], pos_label="bad").score(
        metric
    )


def test_order_and_sizes_of_batches_do_not_matter():
    one, other = SequentialPosterior("recall"), SequentialPosterior("recall")
    for tp, fn in ((1, 4), (30, 2), (0, 0)):
        one.update(_batch(tp, fn))
    other.update(_batch(31, 6, fp=9, tn=60))
    assert one.interval(0.8, "hdi") == other.interval(0.8, "hdi")


@pytest.mark.parametrize("discount", [0.9, 0.5, 0.0])
def test_forgetting(discount):
    hits, misses = np.array([30, 25, 8, 19]), np.array([2, 5, 7, 1])
    watch = SequentialPosterior("recall", discount=discount, prior="laplace")
    for tp, fn in zip(hits, misses, strict=True):
        step = watch.update(_batch(tp, fn))
    weight = discount ** np.arange(3, -1, -1)
    assert float(watch.posterior.a) == pytest.approx(weight @ hits + 1, rel=1e-12)
    assert float(watch.posterior.b) == pytest.approx(weight @ misses + 1, rel=1e-12)
    assert step.effective_n == pytest.approx(weight @ (hits + misses + 23), rel=1e-12)
    # The past is discounted once more before the last batch is added.
    assert step.past.counts[1, 1] == pytest.approx(weight[:3] @ hits[:3], rel=1e-12)


def test_forgetting_rests_on_a_number_of_batches():
    watch = SequentialPosterior("recall", discount=0.95)
    for _ in range(500):
        step = watch.update(_batch(30, 10, fp=10, tn=50))
    assert step.effective_n == pytest.approx(100 / (1 - 0.95), rel=1e-9)


# --------------------------------------------------------------------------------------------------
# This batch against the past


@pytest.mark.parametrize("metric", ["recall", "fpr", "f1"])
@pytest.mark.parametrize("rope", [0.0, 0.03])
def test_comparison_with_the_past(metric, rope):
    batches = [_batch(30, 2), _batch(25, 5), _batch(18, 9, fp=8, tn=15)]
    watch = SequentialPosterior(metric, rope=rope)
    steps = [watch.update(batch) for batch in batches]
    assert steps[0].comparison is None
    assert np.isnan(steps[0].p_worse)
    for k in (1, 2):
        wanted = compare(sum(batches[:k]), batches[k], metric=metric, rope=rope)
        assert steps[k].p_worse == wanted.p_worse
        assert steps[k].comparison.p_better == wanted.p_better
        assert steps[k].comparison.names == ("past", "batch")
    # Lower is better for fpr: its last batch, 8 of 23, is worse as well.
    assert steps[2].p_worse > 0.8


def test_false_alarms(global_random_seed):
    # If nothing changes, one batch in twenty has P(worse) above .95. With 2,000 batches the
    # standard error is .005, and five of them are allowed; the prior costs less than .01.
    rng = np.random.default_rng(global_random_seed)
    watch = SequentialPosterior("recall")
    for tp in rng.binomial(100, 0.8, size=2000):
        watch.update(_batch(int(tp), 100 - int(tp)))
    worse = watch.history.columns["p_worse"][200:]
    assert np.mean(worse > 0.95) == pytest.approx(0.05, abs=0.035)
    assert np.mean(worse) == pytest.approx(0.5, abs=0.05)


def test_drift_shows_in_the_comparison_and_forgetting_follows_it():
    watch, faithful = SequentialPosterior("recall", discount=0.8), SequentialPosterior("recall")
    for tp in [90] * 30 + [70] * 20:
        step = watch.update(_batch(tp, 100 - tp))
        faithful.update(_batch(tp, 100 - tp))
        if watch.n_batches == 31:
            assert step.p_worse > 0.99
    low, high = watch.interval()
    assert low < 0.7 < high
    assert faithful.interval().low > 0.79


def test_a_description_is_not_compared():
    watch = SequentialPosterior("prevalence")
    watch.update(_batch(30, 2))
    step = watch.update(_batch(5, 1))
    assert step.comparison is None
    assert np.isnan(watch.history.columns["p_worse"]).all()
    assert "worse" not in repr(step)


# --------------------------------------------------------------------------------------------------
# Thin batches


def test_a_batch_without_positives():
    watch = SequentialPosterior("recall")
    watch.update(_batch(30, 2))
    before = watch.interval()
    step = watch.update(_batch(0, 0))
    assert np.isnan(step.value)
    assert step.comparison is None
    assert step.interval() == before
    assert watch.update(_batch(20, 12)).p_worse > 0.9


def test_no_positives_yet():
    watch = SequentialPosterior("recall")
    step = watch.update(_batch(0, 0))
    with pytest.warns(UndefinedMetricWarning, match="leans on the prior"):
        low, high = step.interval()
    assert (low < 0.01, high > 0.99) == (True, True)
    assert watch.update(_batch(20, 12)).comparison is None
    assert np.isnan(watch.history.columns["p_worse"]).all()


def test_an_empty_batch():
    watch = SequentialPosterior("accuracy", labels=["no", "yes"])
    assert "no batch yet" in repr(watch)
    prior = watch.interval()
    assert watch.update([], []).interval() == prior
    watch.update(["no", "yes"], ["no", "no"])
    step = watch.update(np.array([]), np.array([]))
    assert (step.n, step.effective_n, step.comparison) == (0, 2, None)
    forgetful = SequentialPosterior("accuracy", labels=[0, 1], discount=0.5)
    forgetful.update([0, 1, 1, 1], [0, 1, 1, 0])
    assert forgetful.update([], []).effective_n == 2  # time passes


def test_one_label_in_a_batch():
    watch = SequentialPosterior("accuracy", labels=["no", "yes"])
    watch.update(["no"] * 5, ["no"] * 5)
    assert watch.counts.counts.tolist() == [[5, 0], [0, 0]]
    with pytest.raises(ValueError, match="only the label 'no' occurs: give labels"):
        SequentialPosterior("accuracy").update(["no"] * 5, ["no"] * 5)


# --------------------------------------------------------------------------------------------------
# History


@pytest.mark.parametrize("discount", [1.0, 0.7])
@pytest.mark.parametrize("metric", ["recall", "f1", "informedness"])
def test_history_equals_the_steps(metric, discount, global_random_seed):
    y_true, y_pred = _random(global_random_seed, number=9)
    options = {"labels": ["bad", "good"], "pos_label": "good", "discount": discount}
    watch = SequentialPosterior(metric, rope=0.02, level=0.9, random_state=0, **options)
    steps = [watch.update(y_true[k], y_pred[k]) for k in range(4)]
    steps += [watch.update([], []), *(watch.update(y_true[k], y_pred[k]) for k in range(4, 9))]
    history = watch.history
    assert len(history) == 10
    rows = [step.to_dict() for step in steps]
    for name, values in history.columns.items():
        wanted = [row[name] for row in rows]
        # The difference of two informednesses is exact for a step, drawn for many at once.
        error = 0.02 if (metric, name) == ("informedness", "p_worse") else 1e-9
        np.testing.assert_allclose(values, wanted, atol=error, rtol=0, err_msg=name)


def test_history_in_several_parts(monkeypatch):
    batches = [_batch(30 - k, k) for k in range(8)]
    watch = SequentialPosterior("recall", discount=0.9)
    for batch in batches:
        watch.update(batch)
    whole = watch.history.columns
    monkeypatch.setattr(
        "skuncertain.monitoring._sequential._CELLS_AT_ONCE", 12
    )  # three matrices at a time
    for name, values in watch.history.columns.items():
        np.testing.assert_allclose(values, whole[name], rtol=1e-12, err_msg=name)


def test_history_is_a_table():
    watch = SequentialPosterior("recall")
    assert len(watch.history) == 0
    for tp in (20, 22, 9):
        watch.update(_batch(tp, 25 - tp))
    table = watch.history.to_dict()
    assert table["n"] == [48, 48, 48]
    assert table["overall"][-1] == 51 / 75
    assert json.loads(json.dumps(table))["value"] == [0.8, 0.88, 0.36]
    frame = pytest.importorskip("pandas") and watch.history.to_frame()
    assert frame.index.tolist() == [1, 2, 3]
    assert frame.loc[3, "p_worse"] > 0.99
    assert "3 batches" in repr(watch.history)
    assert "worse than before with probability 1.00" in repr(watch.update(_batch(1, 24)))
    assert "recall after 4 batches, 192 rows: 0.520" in repr(watch)


def test_nothing_big_is_kept():
    # A batch costs its four cells: no posterior, no draws, no step.
    watch = SequentialPosterior("cohen_kappa", n_draws=5000, random_state=0)
    sizes = []
    for k in range(1, 401):
        step = watch.update(_batch(20 + k % 3, 5))
        if k % 200 == 0:
            step.posterior.mean()
            sizes.append(len(pickle.dumps(watch)))
    assert sizes[1] - sizes[0] < 200 * 300


def test_pickling_and_resuming():
    watch = SequentialPosterior("f1", discount=0.9, rope=0.01, random_state=3)
    watch.update(_batch(20, 5))
    resumed = pickle.loads(pickle.dumps(watch))
    steps = [w.update(_batch(18, 9)) for w in (watch, resumed)]
    assert steps[0].to_dict() == steps[1].to_dict()
    assert pickle.loads(pickle.dumps(steps[0])).to_dict() == steps[0].to_dict()
    assert watch.history.to_dict().keys() == resumed.history.to_dict().keys()


def test_draws_are_reproducible():
    pilot = ConfusionCounts([[30, 3, 2], [4, 40, 6], [1, 5, 19]])
    one, other = (SequentialPosterior("f1_macro", random_state=5) for _ in range(2))
    assert one.update(pilot).interval() == other.update(pilot).interval()
    assert one.history.seed == 5


# --------------------------------------------------------------------------------------------------
# Refusals


def test_a_new_label():
    watch = SequentialPosterior("accuracy")
    watch.update(["cat", "dog"], ["cat", "cat"])
    before = watch.counts
    with pytest.raises(ValueError, match=r"'fox', which is not in labels=.*first batch.*labels="):
        watch.update(["cat", "fox"], ["cat", "cat"])
    fixed = SequentialPosterior("accuracy", labels=["cat", "dog"])
    with pytest.raises(ValueError, match=r"'fox'.*fixed by labels="):
        fixed.update(["cat", "fox"], ["cat", "cat"])
    with pytest.raises(ValueError, match="the batch has the labels"):
        watch.update(_batch(1, 2))
    with pytest.raises(ValueError, match=r"pos_label='cat'\), but the posterior"):
        watch.update(_batch(1, 2, labels=["cat", "dog"], pos_label="cat"))
    assert watch.counts == before
    assert watch.n_batches == 1


def test_pos_label_is_that_of_the_watch():
    watch = SequentialPosterior("recall", pos_label="cat")
    step = watch.update(_batch(9, 1, fp=5, tn=5, labels=["cat", "dog"], pos_label="dog"))
    assert step.value == 0.5  # of the ten cats


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"metric": "recal"}, ValueError, "recall"),
        ({"discount": 1.1}, ValueError, r"discount must be a number in \[0, 1\]"),
        ({"level": 95}, ValueError, "Did you mean 0.95"),
        ({"kind": "hpd"}, ValueError, "kind must be one of"),
        ({"rope": -1}, ValueError, "rope must be"),
        ({"rope": 5}, ValueError, "Did you mean 0.05"),
        ({"metric": "prevalence", "rope": 0.1}, ValueError, "rope cannot be used"),
        ({"n_draws": 0}, ValueError, "n_draws must be"),
        ({"labels": "ab"}, TypeError, "labels must be a sequence"),
        ({"labels": [0, 1], "pos_label": 2}, ValueError, "pos_label 2 is not one of"),
        ({"labels": [0, 1], "prior": "flat"}, ValueError, "prior must be one of"),
        ({"labels": [0, 1, 2]}, ValueError, "Name the class with pos_label"),
        ({"random_state": -1}, ValueError, "random_state must be non-negative"),
    ],
)
def test_what_the_constructor_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        SequentialPosterior(**{"metric": "recall"} | settings)


def test_what_update_refuses():
    watch = SequentialPosterior("recall")
    with pytest.raises(ValueError, match="no counts yet"):
        watch.interval()
    with pytest.raises(ValueError, match="first batch is empty"):
        watch.update([], [])
    with pytest.raises(TypeError, match="y_pred is missing"):
        watch.update([0, 1])
    with pytest.raises(TypeError, match="y_pred cannot be combined"):
        watch.update(_batch(1, 2), [1])
    with pytest.raises(ValueError, match="must be one matrix, got a stack"):
        watch.update(ConfusionCounts(np.ones((2, 2, 2), dtype=int)))
    with pytest.raises(ValueError, match="Name the class with pos_label"):
        watch.update([0, 1, 2], [0, 1, 2])
    assert watch.n_batches == 0
    watch.update([0, 1, 1], [0, 1, 0])  # a refused first batch fixes nothing
    with pytest.raises(ValueError, match="same length"):
        watch.update([0, 1], [0])
    assert watch.n_batches == 1
