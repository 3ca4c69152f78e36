import copy
import json
import math
import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import confusion_matrix

from skuncertain import ConfusionCounts, credible_interval
from skuncertain.datasets import load_published_classifiers
from skuncertain.metrics import intervals_at_thresholds, prior_from_metrics, proportion_posterior

Y_TRUE = np.array([0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1])
Y_PRED = np.array([0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1])
MATRIX = [[3, 2], [1, 6]]  # of the two, counted by hand
THREE = [[30, 5, 1], [2, 40, 8], [4, 6, 50]]
NAN, INF = math.nan, math.inf
CODINGS = [((0, 1), 1), ((-1, 1), 1), ((1, 2), 2), ((0, 2), None), ((False, True), True)]
CODINGS += [(("no", "yes"), None), (("1", "2"), None)]
PANDAS = [(dtype, ("no", "yes")) for dtype in ("object", "string", "category")]
PANDAS += [(dtype, (0, 1)) for dtype in ("object", "category", "int8", "Int64", "float64")]
PANDAS += [("Float64", (0, 1)), ("boolean", (False, True))]


def three_labels(seed, size=500):
    rng = np.random.default_rng(seed)
    labels = np.array(["ant", "bee", "cow"])
    return labels[rng.integers(0, 3, size)], labels[rng.integers(0, 3, size)]


@pytest.mark.parametrize("form", [list, np.asarray, lambda y: np.asarray(y, dtype=object), tuple])
@pytest.mark.parametrize(("labels", "positive"), CODINGS)
def test_from_predictions(labels, positive, form):
    y_true, y_pred = ([labels[k] for k in y] for y in (Y_TRUE, Y_PRED))
    counts = ConfusionCounts.from_predictions(form(y_true), form(y_pred))
    assert_array_equal(counts.counts, MATRIX)
    assert_array_equal(counts.counts, confusion_matrix(y_true, y_pred))
    assert counts.labels == labels
    assert list(map(type, counts.labels)) == list(map(type, labels))
    assert counts.pos_label == positive
    assert counts == ConfusionCounts(MATRIX, labels=labels)


@pytest.mark.parametrize(("dtype", "labels"), PANDAS)
def test_from_pandas(dtype, labels):
    pandas = pytest.importorskip("pandas")
    values = [[labels[k] for k in y] for y in (Y_TRUE, Y_PRED)]
    y_true, y_pred = (pandas.Series(y, dtype=dtype, index=range(100, 112)) for y in values)
    expected = ConfusionCounts(MATRIX, labels=labels)
    assert ConfusionCounts.from_predictions(y_true, y_pred) == expected
    assert ConfusionCounts.from_predictions(y_true, values[1]) == expected


def test_default_pos_label():
    assert ConfusionCounts(MATRIX, labels=[1, 0]).pos_label == 1
    assert ConfusionCounts(MATRIX, labels=["yes", "no"]).pos_label is None
    assert ConfusionCounts(THREE).pos_label is None
    assert ConfusionCounts.from_predictions([0, 1, 2], [1, 1, 2]).pos_label is None
    assert ConfusionCounts(THREE, pos_label=2).pos_label == 2


def test_one_class_only():
    for labels in ((0, 1), (-1, 1), (False, True)):
        counts = ConfusionCounts.from_predictions([labels[0]] * 4, [labels[0]] * 4)
        assert counts == ConfusionCounts([[4, 0], [0, 0]], labels=labels)
    assert ConfusionCounts.from_predictions([1], [1]) == ConfusionCounts([[0, 0], [0, 1]])


def test_constructor_has_the_orientation_of_scikit_learn(global_random_seed):
    y_true, y_pred = three_labels(global_random_seed)
    counts = ConfusionCounts(confusion_matrix(y_true, y_pred), labels=["ant", "bee", "cow"])
    assert counts == ConfusionCounts.from_predictions(y_true, y_pred)
    for label in ("ant", "bee", "cow"):
        expected = np.mean(y_pred[y_true == label] == label)
        assert counts.score("recall", pos_label=label) == pytest.approx(expected, rel=1e-12)


def test_labels_order_and_classes_that_do_not_occur(global_random_seed):
    y_true, y_pred = three_labels(global_random_seed)
    labels = ["cow", "dog", "ant", "bee"]
    counts = ConfusionCounts.from_predictions(y_true, y_pred, labels=labels, pos_label="ant")
    assert_array_equal(counts.counts, confusion_matrix(y_true, y_pred, labels=labels))
    assert (counts.labels, counts.pos_label) == (tuple(labels), "ant")
    never = ConfusionCounts.from_predictions(y_true, np.full(500, "bee"), labels=labels)
    assert never.counts[:, 3].sum() == never.n == 500


def test_chunks_add_up(global_random_seed):
    y_true, y_pred = three_labels(global_random_seed)
    count = partial(ConfusionCounts.from_predictions, labels=["ant", "bee", "cow"])
    chunks = [slice(k, k + 2) for k in range(0, 500, 2)]  # every chunk lacks a class
    parts = [count(y_true[chunk], y_pred[chunk]) for chunk in chunks]
    assert sum(parts) == ConfusionCounts.from_predictions(y_true, y_pred)
    assert parts[0] + parts[1] == count(y_true[:4], y_pred[:4])


def test_from_binary():
    counts = ConfusionCounts.from_binary(tp=1, fn=2, fp=3, tn=4)
    assert_array_equal(counts.counts, [[4, 3], [2, 1]])
    assert (counts.labels, counts.pos_label, counts.shape, counts.n) == ((0, 1), 1, (), 10)
    stack = ConfusionCounts.from_binary(tp=[1, 5], fn=[2, 6], fp=3, tn=[4, 7])
    assert_array_equal(stack.counts, [[[4, 3], [2, 1]], [[7, 3], [6, 5]]])
    names = ["sick", "well"]
    first = ConfusionCounts.from_binary(tp=1, fn=2, fp=3, tn=4, labels=names, pos_label="sick")
    assert_array_equal(first.counts, [[1, 2], [3, 4]])
    assert first.score("recall") == counts.score("recall") == 1 / 3
    assert first.score("precision") == counts.score("precision") == 1 / 4
    last = ConfusionCounts.from_binary(tp=1, fn=2, fp=3, tn=4, labels=names, pos_label="well")
    assert (last.pos_label, last.counts[1, 1]) == ("well", 1)
    with pytest.raises(
        ValueError, match=r"the table is about the positive class.*'sick' or 'well'"
    ):
        ConfusionCounts.from_binary(tp=1, fn=2, fp=3, tn=4, labels=names)


def test_repr():
    cells = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}
    counts = ConfusionCounts.from_binary(**cells, labels=["no", "yes"], pos_label="yes")
    assert repr(ConfusionCounts(counts.counts, labels=["no", "yes"])).startswith(
        "ConfusionCounts(n=34)"
    )
    head, *lines = repr(counts).splitlines()
    positives = "26 real positives, 28 predicted positives"
    assert head == f"ConfusionCounts(n=34, pos_label='yes': {positives})"
    cells = [["true", "\\", "predicted", "no", "yes"], ["no", "6", "2"], ["yes", "0", "26"]]
    assert [line.split() for line in lines] == cells
    assert len({len(line) for line in lines}) == 1
    assert repr(ConfusionCounts(THREE)).startswith("ConfusionCounts(n=146)\n")
    stack = ConfusionCounts([MATRIX, MATRIX, MATRIX])
    assert repr(stack) == "ConfusionCounts(shape=(3,), classes=2, pos_label=1)"
    assert repr(ConfusionCounts(np.eye(11, dtype=int))) == "ConfusionCounts(n=11)"


def test_repr_shows_every_digit_of_a_count():
    text = repr(ConfusionCounts([[1_234_567, 2], [3, 7_654_321]]))
    assert "n=8888893" in text
    assert "7654324 real positives" in text
    assert "1234567" in text.splitlines()[2]


def test_stack_protocol():
    count = partial(ConfusionCounts, labels=["a", "b"], pos_label="a")
    stack = count(np.arange(24).reshape(2, 3, 2, 2))
    assert (stack.shape, len(stack), stack.n_classes) == ((2, 3), 2, 2)
    assert_array_equal(stack.n, [[6, 22, 38], [54, 70, 86]])
    assert_array_equal(stack[1].counts, np.arange(12, 24).reshape(3, 2, 2))
    assert_array_equal(stack[-1, 0].counts, [[12, 13], [14, 15]])
    assert stack[:, 1:].shape == (2, 2)
    assert stack[[True, False]].shape == (1, 3)
    assert (stack[0, 0].labels, stack[0, 0].pos_label) == (("a", "b"), "a")
    assert [part.n for part in stack[0]] == [6, 22, 38]
    assert_array_equal(stack.sum().counts, [[60, 66], [72, 78]])
    assert_array_equal(stack.sum(axis=0).counts[0], [[12, 14], [16, 18]])
    assert stack.sum(axis=-1) == count([[[12, 15], [18, 21]], [[48, 51], [54, 57]]])
    assert stack.sum(axis=(0, 1)) == stack.sum()
    assert stack[0, 0].sum() == stack[0, 0]


@pytest.mark.parametrize("index", [2, (0, 0), (slice(None), 0), "a", (0, 0, 0)])
def test_cells_and_missing_matrices_cannot_be_indexed(index):
    stack = ConfusionCounts(np.arange(8).reshape(2, 2, 2))
    with pytest.raises(IndexError):
        stack[index]


def test_single_matrix_is_no_sequence():
    counts = ConfusionCounts(MATRIX)
    with pytest.raises(TypeError, match="single confusion matrix has no length"):
        len(counts)
    with pytest.raises(IndexError, match="single confusion matrix cannot be indexed"):
        counts[0]
    with pytest.raises(ValueError, match="axis must be a stack axis"):
        counts.sum(axis=0)


def test_one_vs_rest():
    counts = ConfusionCounts([THREE, np.transpose(THREE)], labels=["ant", "bee", "cow"])
    bee = counts.one_vs_rest("bee")
    tn, fp, fn, tp = 30 + 1 + 4 + 50, 5 + 6, 2 + 8, 40
    assert_array_equal(bee.counts, [[[tn, fp], [fn, tp]], [[tn, fn], [fp, tp]]])
    assert (bee.labels, bee.pos_label) == (("rest", "bee"), "bee")
    assert_array_equal(bee.score("f1"), counts.score("f1", pos_label="bee"))
    first = ConfusionCounts(MATRIX).one_vs_rest(0)
    assert_array_equal(first.counts, [[6, 1], [2, 3]])
    with pytest.raises(ValueError, match=r"pos_label 'be' is not one of.*Did you mean 'bee'"):
        counts.one_vs_rest("be")


def test_one_vs_rest_of_a_class_named_rest():
    rest = ConfusionCounts(THREE, labels=["rest", "bee", "cow"]).one_vs_rest("rest")
    assert_array_equal(rest.counts, [[40 + 8 + 6 + 50, 2 + 4], [5 + 1, 30]])
    assert rest.score("recall") == 30 / 36


def test_equality_and_hash():
    counts = ConfusionCounts(MATRIX)
    same = ConfusionCounts(np.array(MATRIX, dtype=float), labels=np.array([0, 1]), pos_label=1.0)
    assert counts == same
    assert hash(counts) == hash(same)
    others = [ConfusionCounts(np.transpose(MATRIX)), ConfusionCounts(MATRIX, pos_label=0)]
    others += [ConfusionCounts(MATRIX, labels=[7, 1]), ConfusionCounts([MATRIX])]
    assert all(counts != other for other in [*others, MATRIX])
    assert len({counts, same, *others}) == 5


def test_equal_counts_have_equal_hashes_whatever_their_type():
    plain = ConfusionCounts.from_predictions([0, 1, 1, 0], [0, 1, 0, 0])
    weighted = ConfusionCounts.from_predictions([0, 1, 1, 0], [0, 1, 0, 0], sample_weight=[2] * 4)
    assert plain == weighted
    assert hash(plain) == hash(weighted)


def pickled(counts):
    return pickle.loads(pickle.dumps(counts))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
def test_copies_are_equal(duplicate):
    counts = ConfusionCounts([THREE, THREE], labels=["ant", "bee", "cow"], pos_label="bee")
    assert duplicate(counts) == counts
    assert_array_equal(duplicate(counts).score("recall"), [0.8, 0.8])


@pytest.mark.parametrize("make", [pickled, copy.deepcopy, copy.copy, lambda c: c + c, lambda c: c])
def test_counts_are_read_only(make):
    matrix = np.array(MATRIX)
    counts = make(ConfusionCounts(matrix))
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[...] = 1
    expected = counts.counts.copy()
    matrix[...] = 99
    assert_array_equal(counts.counts, expected)


def test_attributes_cannot_be_replaced():
    counts = ConfusionCounts(MATRIX)
    with pytest.raises(AttributeError):
        counts.pos_label = 0


def test_to_dict_of_float_codes():
    counts = ConfusionCounts.from_predictions(Y_TRUE.astype(float), Y_PRED.astype(float))
    text = json.dumps(counts.to_dict())
    assert text == '{"counts": [[3, 2], [1, 6]], "labels": [0, 1], "pos_label": 1}'
    assert ConfusionCounts(**json.loads(text)) == counts == ConfusionCounts(MATRIX)


def test_to_frame():
    pytest.importorskip("pandas")
    frame = ConfusionCounts(THREE, labels=["ant", "bee", "cow"]).to_frame()
    assert frame.loc["bee", "cow"] == 8
    assert frame.loc["cow", "bee"] == 6
    assert (frame.index.name, frame.columns.name) == ("true", "predicted")
    with pytest.raises(ValueError, match="single matrix"):
        ConfusionCounts([THREE, THREE]).to_frame()


def test_sample_weight(global_random_seed):
    y_true, y_pred = three_labels(global_random_seed)
    weight = np.random.default_rng(global_random_seed).exponential(size=500)
    counts = ConfusionCounts.from_predictions(y_true, y_pred, sample_weight=weight)
    kish = math.fsum(weight) ** 2 / math.fsum(weight**2)
    shares = confusion_matrix(y_true, y_pred, sample_weight=weight, normalize="all")
    assert counts.n == pytest.approx(kish, rel=1e-12)
    assert_allclose(counts.counts, shares * kish, rtol=1e-12)
    scaled = ConfusionCounts.from_predictions(y_true, y_pred, sample_weight=weight * 1e6)
    assert_allclose(scaled.counts, counts.counts, rtol=1e-12)
    for factor in (1e-200, 1e200):  # squares of these would vanish or overflow
        extreme = ConfusionCounts.from_predictions(y_true, y_pred, sample_weight=weight * factor)
        assert_allclose(extreme.counts, counts.counts, rtol=1e-12)
    equal = ConfusionCounts.from_predictions(y_true, y_pred, sample_weight=np.full(500, 0.3))
    assert_allclose(equal.counts, confusion_matrix(y_true, y_pred), rtol=1e-12)


@pytest.mark.parametrize(
    ("counts", "settings", "error", "message"),
    [
        ([[1, -1], [0, 2]], {}, ValueError, "counts must be >= 0, got -1"),
        ([[1, NAN], [0, 2]], {}, ValueError, "counts must be finite"),
        ([[1, INF], [0, 2]], {}, ValueError, "counts must be finite"),
        ([[0.9, 0.1], [0.2, 0.8]], {}, ValueError, "whole numbers.*normalised.*raw counts"),
        ([[1, 2, 3], [4, 5, 6]], {}, ValueError, r"shape \(\.\.\., C, C\).*got shape \(2, 3\)"),
        ([[5]], {}, ValueError, "at least two classes.*1 x 1"),
        ([5, 2], {}, ValueError, r"got shape \(2,\).*from_binary"),
        ([[5, 2], [1]], {}, (TypeError, ValueError), "counts must be a rectangular array"),
        ([[True, False], [True, True]], {}, TypeError, "counts must hold whole numbers"),
        ([[1e16, 1], [1, 1]], {}, ValueError, r"at most 2\*\*53"),
        (np.array([[2**63, 1], [1, 1]], dtype=np.uint64), {}, ValueError, "must be at most"),
        (MATRIX, {"labels": ["a", "a"]}, ValueError, r"labels must be distinct, got \['a', 'a'\]"),
        (MATRIX, {"labels": ["a", "b", "c"]}, ValueError, "2 classes of the matrix, got 3 labels"),
        (MATRIX, {"labels": "ab"}, TypeError, "sequence of labels, got the string 'ab'"),
        (MATRIX, {"labels": [0, NAN]}, ValueError, "must not be NaN"),
        (MATRIX, {"labels": [0, None]}, ValueError, "None"),
        (MATRIX, {"pos_label": 2}, ValueError, r"pos_label 2 is not one of the labels \[0, 1\]"),
        (MATRIX, {"pos_label": "1"}, ValueError, r"pos_label '1' is not.* Did you mean 1\?"),
        (MATRIX, {"labels": ["cat", "dog"], "pos_label": "dgo"}, ValueError, "mean 'dog'"),
        (MATRIX, {"positive": 1}, TypeError, "unexpected keyword argument 'positive'"),
    ],
)
def test_counts_refused(counts, settings, error, message):
    with pytest.raises(error, match=message):
        ConfusionCounts(counts, **settings)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "settings", "error", "message"),
    [
        ([0, 1], [0, 1, 1], {}, ValueError, "same length, got 2 and 3"),
        ([], [], {}, ValueError, "empty"),
        (np.eye(2, dtype=int), np.eye(2, dtype=int), {}, ValueError, "multilabel"),
        ([0, 1], [0.2, 0.7], {}, ValueError, "y_pred must hold.*continuous.*threshold"),
        ([0.0, NAN], [0, 1], {}, ValueError, "y_true has 1 missing label .*: drop those rows"),
        ([0, 1], [None, None], {}, ValueError, "y_pred has 2 missing"),
        (["a", None], ["a", "b"], {}, ValueError, "y_true has 1 missing"),
        (["a", NAN], ["a", "b"], {}, ValueError, "y_true has 1 missing"),
        (np.array(["a", NAN], object), ["a", "b"], {}, ValueError, "y_true has 1 missing"),
        (["a", 1], ["a", "b"], {}, TypeError, "one type, got int, str"),
        (np.array(["a", 1], object), ["a", "b"], {}, TypeError, "one type, got int, str"),
        (["0", "1"], [0, 1], {}, TypeError, "mix strings and numbers: '0', '1', 0, 1. Make"),
        (["0", "1"], ["0", "1"], {"labels": [0, 1]}, ValueError, r"label '0'.*Did you mean 0\?"),
        ([0, 2], [0, 1], {"labels": [0, 1]}, ValueError, r"y_true holds the label 2.*\[0, 1\]"),
        (["cat"], ["dgo"], {"labels": ["cat", "dog"]}, ValueError, "y_pred.*Did you mean 'dog'"),
        ([0, 1], [0, 1], {"labels": [0, 1, 1]}, ValueError, "labels must be distinct"),
        (["a"], ["a"], {}, ValueError, r"only the label 'a' occurs: give labels="),
        ([0, 1], [0, 1], {"normalize": "all"}, TypeError, "unexpected keyword"),
        ([0, 1], [0, 1], {"sample_weight": [1]}, ValueError, "must have 2 entries, got 1"),
        ([0, 1], [0, 1], {"sample_weight": [1, -1]}, ValueError, "sample_weight must be finite"),
        ([0, 1], [0, 1], {"sample_weight": [0, 0]}, ValueError, "not all zero"),
    ],
)
def test_predictions_refused(y_true, y_pred, settings, error, message):
    with pytest.raises(error, match=message):
        ConfusionCounts.from_predictions(y_true, y_pred, **settings)


@pytest.mark.parametrize("dtype", ["object", "string", "category", "Int64", "boolean"])
def test_missing_labels_of_pandas_are_refused(dtype):
    pandas = pytest.importorskip("pandas")
    labels = {"Int64": [0, 1], "boolean": [False, True]}.get(dtype, ["a", "b"])
    y_true = pandas.Series([*labels, None], dtype=dtype)
    with pytest.raises(ValueError, match="y_true has 1 missing"):
        ConfusionCounts.from_predictions(y_true, [*labels, labels[0]])


def test_table_of_pandas_brings_its_labels():
    pandas = pytest.importorskip("pandas")
    table = pandas.crosstab(
        pandas.Series(["cat", "dog", "dog"], name="true"), pandas.Series(["cat", "cat", "dog"])
    )
    assert ConfusionCounts(table) == ConfusionCounts([[1, 0], [1, 1]], labels=["cat", "dog"])
    with pytest.raises(ValueError, match="same labels, in the same order"):
        ConfusionCounts(table[["dog", "cat"]])


def test_counts_of_different_labels_cannot_be_added():
    counts = ConfusionCounts(MATRIX)
    for other in (ConfusionCounts(MATRIX, labels=["a", "b"]), ConfusionCounts(MATRIX, pos_label=0)):
        with pytest.raises(ValueError, match="only if labels and pos_label agree"):
            counts + other
    with pytest.raises(TypeError):
        counts + 1


def test_binary_metric_of_many_classes_needs_a_class():
    counts = ConfusionCounts(THREE)
    for ask in (counts.score, counts.posterior, lambda m: counts.joint_posterior([m])):
        with pytest.raises(ValueError, match=r"3 classes.*pos_label=.*'precision_macro'"):
            ask("precision")
    with pytest.raises(TypeError, match="unexpected keyword argument 'average'"):
        counts.score("precision", average="macro")


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"prior": [0.5, 0.5]}, ValueError, r"shape \(C, C\) = \(2, 2\).*got shape \(2,\)"),
        ({"prior": np.ones((3, 3))}, ValueError, r"got shape \(3, 3\)"),
        ({"prior": [[1, -1], [1, 1]]}, ValueError, "finite numbers >= 0"),
        ({"prior": [[1, NAN], [1, 1]]}, ValueError, "finite numbers >= 0"),
        ({"prior": -1}, ValueError, "finite number >= 0.*got -1"),
        ({"prior": "jefreys"}, ValueError, "'jefreys'.*Did you mean 'jeffreys'"),
        ({"prior": True}, TypeError, "prior must be a name, a number or an array.*True"),
        ({"model": "three-beta"}, ValueError, "Did you mean 'three_beta'"),
        ({"prevalence": 2.0}, ValueError, r"prevalence must be in \(0, 1\), got 2.0"),
        ({"prevalence": "x"}, TypeError, "prevalence must be a number.*got 'x'"),
        ({"prevalence": [0.2, 0.3, 0.5]}, ValueError, r"one entry per class, 2, got shape \(3,\)"),
        ({"prevalence": [0.5, 0.6]}, ValueError, "sum to 1"),
        ({"seed": 0}, TypeError, "unexpected keyword argument 'seed'"),
        ({"n_draws": 0}, ValueError, "n_draws must be an integer >= 1, got 0"),
        ({"random_state": "x"}, TypeError, "random_state must be .*got 'x'"),
    ],
)
def test_posterior_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        ConfusionCounts(MATRIX).posterior("precision", **settings)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_draws": 0}, ValueError, "n_draws must be an integer >= 1, got 0"),
        ({"n_draws": 10.5}, TypeError, "n_draws must be an integer"),
        ({"random_state": "x"}, TypeError, "random_state must be .*got 'x'"),
        ({"random_state": 1.5}, TypeError, "random_state must be"),
        ({"random_state": -1}, ValueError, "random_state must be non-negative, got -1"),
        ({"model": "three_beta"}, ValueError, "is for two classes, got 3.*'rows'"),
        ({"prevalence": 0.2}, ValueError, "prevalence is one number, but there are 3 classes"),
    ],
)
def test_posterior_of_three_classes_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        ConfusionCounts(THREE).posterior("mcc", **settings)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"level": 95}, ValueError, r"level must be .*got 95\. Did you mean 0\.95\?"),
        ({"level": "0.95"}, TypeError, "level must be"),
        ({"kind": "hpd"}, ValueError, "kind must be one of 'eti', 'hdi'; got 'hpd'.*'hdi'"),
    ],
)
def test_interval_refuses(settings, error, message):
    with pytest.raises(error, match=message):
        ConfusionCounts(MATRIX).posterior("recall").interval(**settings)
    with pytest.raises(error, match=message):
        credible_interval(Y_TRUE, Y_PRED, metric="recall", **settings)


@pytest.mark.parametrize(
    ("prior", "pseudo"),
    [(0.5, 0.5), (0.25, 0.25), ("neutral", 1 / 3), ("jeffreys", 0.5), ("laplace", 1)],
)
def test_proportion_posterior(prior, pseudo):
    posterior = proportion_posterior([435, 3], [65, 900], prior=prior)
    expected = stats.beta(np.array([435, 3]) + pseudo, np.array([65, 900]) + pseudo)
    assert_allclose(posterior.mean(), expected.mean(), rtol=1e-10)
    assert_allclose(posterior.std(), expected.std(), rtol=1e-10)
    assert_allclose(posterior.cdf([0.85, 0.005]), expected.cdf([0.85, 0.005]), rtol=1e-10)
    assert_allclose(posterior.pdf([0.85, 0.005]), expected.pdf([0.85, 0.005]), rtol=1e-10)
    interval = posterior.interval(0.9)
    assert_allclose([interval.low, interval.high], expected.interval(0.9), rtol=1e-10)


def test_proportion_posterior_at_the_edge():
    interval = proportion_posterior(26, 0).interval()
    assert_allclose(interval.low, 0.025 ** (1 / 26), rtol=1e-10)  # Clopper and Pearson's end
    assert interval.high == 1.0


@pytest.mark.parametrize(
    ("successes", "failures", "prior", "error", "message"),
    [
        (-1, 2, 0.5, ValueError, "successes must be >= 0"),
        (1, 0.5, 0.5, ValueError, "failures must be whole numbers"),
        (NAN, 2, 0.5, ValueError, "successes must be finite"),
        (1, 2, True, TypeError, "prior must be a number"),
        (1, 2, "jefreys", ValueError, "Did you mean 'jeffreys'"),
    ],
)
def test_proportion_posterior_refuses(successes, failures, prior, error, message):
    with pytest.raises(error, match=message):
        proportion_posterior(successes, failures, prior=prior)


def test_published_classifiers():
    table = load_published_classifiers()
    names = "1 2 3 4a 4b 5a 5b 6a 6b 7a 7b 8 9a 9b 10 11 12 13a 13b 14a 15a 15b 16 14b"
    totals = [8, 14, 14, 17, 17, 22, 22, 34, 34, 34, 34, 44, 50, 50, 64, 70, 73, 112, 112]
    totals += [152, 165, 165, 203, 350]
    expected = dict(zip(names.split(), totals, strict=True))
    assert dict(zip(table.names, table.counts.n.tolist(), strict=True)) == expected
    assert len(table.names) == len(table.counts) == len(table.doi) == len(table.location) == 24
    assert table.counts[table.names.index("7a")] == ConfusionCounts([[6, 2], [0, 26]])


def test_prior_from_metrics_as_printed_by_caelen():
    prior = prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=1)
    tp, tn, fp, fn = 0.331914893617021, 0.268085106382979, 0.221276595744681, 0.178723404255319
    assert_allclose(prior, [[tn, fp], [fn, tp]], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("weight", "printed"),
    [(72.5, (74.063, 54.436, 46.042, 42.957)), (725, (290.638, 229.361, 190.425, 159.574))],
)
def test_posteriors_as_printed_by_caelen(weight, printed):
    tp, tn, fp, fn = printed  # truncated, not rounded
    prior = prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=weight)
    counts = ConfusionCounts.from_binary(tp=50, fn=30, fp=30, tn=35)
    assert_allclose(counts.counts + prior, [[tn, fp], [fn, tp]], rtol=0, atol=1e-3)
    for metric, shapes in (("recall", (tp, fn)), ("precision", (tp, fp)), ("tnr", (tn, fp))):
        posterior = counts.posterior(metric, prior=prior)
        assert_allclose([posterior.a, posterior.b], shapes, rtol=0, atol=1e-3)


def test_prior_from_metrics_has_these_metrics(global_random_seed):
    for weights in np.random.default_rng(global_random_seed).dirichlet(np.ones(4), size=20):
        tn, fp, fn, tp = weights
        expected = {"precision": tp / (tp + fp), "recall": tp / (tp + fn), "accuracy": tp + tn}
        prior = prior_from_metrics(**expected, weight=7)
        assert_allclose(prior, 7 * weights.reshape(2, 2), rtol=1e-9, atol=1e-12)


def test_prior_from_metrics_refuses():
    make = partial(prior_from_metrics, accuracy=0.6)
    with pytest.raises(ValueError, match=r"impossible together.*must exceed 1, here it is 0\.556"):
        make(precision=0.9, recall=0.9, weight=1)
    with pytest.raises(ValueError, match=r"precision must be a number in \(0, 1\), got 1"):
        make(precision=1, recall=0.65, weight=1)
    with pytest.raises(ValueError, match="weight must be a number"):
        make(precision=0.6, recall=0.65, weight=0)


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("int8", -128, 127), ("uint8", 0, 255), ("int16", -300, 300), ("int32", 5, 9),
        ("int64", 0, 2), ("int64", 0, 9000), ("int64", -(2**62), -(2**62) + 3),
        ("uint64", 2**63, 2**63 + 3), ("bool", 0, 2), ("float64", 0, 40),
    ],
)  # fmt: skip
def test_whole_number_labels_of_all_widths_are_counted_as_in_scikit_learn(dtype, low, high):
    rng = np.random.default_rng(0)
    y, pred = (np.array([low + int(k) for k in rng.integers(high - low, size=2000)]) for _ in "ab")
    y, pred = y.astype(dtype), pred.astype(dtype)
    labels = np.unique(np.concatenate([y, pred]))
    counts = ConfusionCounts.from_predictions(y, pred)
    assert counts.labels == tuple(labels.tolist())
    assert_array_equal(counts.counts, confusion_matrix(y, pred, labels=labels))
    given = [*labels[::-1].tolist(), int(labels.max()) + 1 if dtype != "bool" else 2]
    backwards = ConfusionCounts.from_predictions(y, pred, labels=given).counts
    assert_array_equal(backwards[:-1, :-1], counts.counts[::-1, ::-1])
    assert backwards.sum() == y.size
    with pytest.raises(ValueError, match="not in labels"):
        ConfusionCounts.from_predictions(y, pred, labels=given[1:])


def test_prior_of_nothing_beside_counts_of_1e15():
    # Integrals over Beta(1e-6, 1e15) were NaN.
    counts = ConfusionCounts([[0, 65780532382143], [0, 1073447260645807]])
    found = counts.better_than_chance(prior=1e-6)
    assert sum((found.p_better, found.p_equivalent, found.p_worse)) == 1


def test_half_floats_are_labels_and_thresholds():
    # 2**53 and 1e308, with which they were compared, are beyond their range: warnings from numpy
    y, pred = [0, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1]
    half = np.array(y, dtype=np.float16)
    assert credible_interval(half, pred) == credible_interval(y, pred)
    assert ConfusionCounts(np.array([[40, 6], [9, 45]], dtype=np.float16)) == ConfusionCounts(
        [[40, 6], [9, 45]]
    )
    score = [0.1, 0.9, 0.3, 0.2, 0.8, 0.7]
    report = intervals_at_thresholds(y, score, [0.25], operating_threshold=np.float16(0.5))
    assert report.thresholds.tolist() == [0.25, 0.5]
