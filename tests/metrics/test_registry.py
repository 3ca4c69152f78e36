import math
import pickle
import re
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain import ConfusionCounts
from skuncertain.metrics import Metric, get_metric, get_metric_names, make_metric

AVERAGES = ["micro", "macro", "weighted"]
SIZES = [2, 3, 7, 20]


def by_definition(tp, fn, fp, tn):
    """Every metric of one positive class, from definitions other than the registry's weights."""
    n, covariance = tp + fn + fp + tn, tp * tn - fp * fn
    recall, specificity = tp / (tp + fn), tn / (tn + fp)
    precision, npv = tp / (tp + fp), tn / (tn + fn)
    values = {"recall": recall, "specificity": specificity, "precision": precision, "npv": npv}
    values |= {"fnr": 1 - recall, "fpr": 1 - specificity, "fdr": 1 - precision}
    return values | {
        "false_omission_rate": 1 - npv,
        "prevalence": (tp + fn) / n,
        "predicted_positive_rate": (tp + fp) / n,
        "predicted_negative_rate": 1 - (tp + fp) / n,
        "true_positive_odds": recall / (1 - recall),
        "false_positive_odds": (1 - specificity) / specificity,
        "jaccard": 1 / (1 / precision + 1 / recall - 1),
        "f1": 2 / (1 / precision + 1 / recall),
        "fbeta": 5 / (1 / precision + 4 / recall),  # beta = 2
        "g_score": tp / math.sqrt((tp + fp) * (tp + fn)),
        "g_mean": math.sqrt(tp * tn / ((tp + fn) * (tn + fp))),
        "informedness": covariance / ((tp + fn) * (tn + fp)),
        "markedness": covariance / ((tp + fp) * (tn + fn)),
        "positive_likelihood_ratio": tp * (tn + fp) / (fp * (tp + fn)),
        "negative_likelihood_ratio": fn * (tn + fp) / (tn * (tp + fn)),
        "diagnostic_odds_ratio": tp / fn / (fp / tn),
        "prevalence_threshold": 1 / (1 + math.sqrt(tp * (fp + tn) / (fp * (tp + fn)))),
        "net_benefit": (tp - fp * 3 / 7) / n,  # threshold 0.3
    }


def test_formulas_in_words_give_the_metric():
    """What people read is evaluated, and compared with what is computed."""
    cells = {"tp": 41.0, "fn": 9.0, "fp": 4.0, "tn": 46.0}
    counts = ConfusionCounts.from_binary(**{name: int(n) for name, n in cells.items()})
    n, accuracy = sum(cells.values()), counts.score("accuracy")
    chance = (50 * 45 + 50 * 55) / n**2
    names = {**cells, "n": n, "accuracy": accuracy, "chance": chance, "sqrt": math.sqrt}
    names |= {"max": max, "min": min}
    for name in ("recall", "specificity", "precision", "npv", "fpr", "fnr", "prevalence"):
        names[name] = counts.score(name)
    checked = []
    for name in get_metric_names(needs="labels"):
        if name in ("expected_cost", "fbeta", "net_benefit") or name.endswith(tuple(AVERAGES)):
            continue
        words = get_metric(name).description
        if "|i - j|" in words or "**2" in words:  # the same as without weights for two classes
            continue
        text = words.rpartition("of two classes ")[2].partition(", with")[0]
        text = re.sub(r"(?<=[\d)a-z]) (?=\(|[tf][pn]\b)", "*", text)  # "2 tp" is a product
        assert eval(text, {"__builtins__": {}}, names) == pytest.approx(counts.score(name)), words
        checked.append(name)
    assert len(checked) >= 25


BINARY = list(by_definition(1, 1, 1, 1))
AVERAGED = [
    *("precision", "npv", "recall", "specificity", "fpr", "fnr", "fdr", "false_omission_rate"),
    *("f1", "fbeta", "jaccard", "g_score", "g_mean", "informedness", "markedness"),
]
OF_MATRIX = [
    *("accuracy", "error_rate", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa"),
    *("cohen_kappa_linear", "cohen_kappa_quadratic", "null_accuracy", "null_error_rate"),
    "expected_cost",
]
NO_BINARY = sorted(OF_MATRIX + [f"{base}_{average}" for base in AVERAGED for average in AVERAGES])
ALL_NAMES = sorted(BINARY + NO_BINARY)

SKLEARN = {
    "accuracy": sk.accuracy_score,
    "error_rate": sk.zero_one_loss,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}
for kind in ("linear", "quadratic"):
    SKLEARN[f"cohen_kappa_{kind}"] = partial(sk.cohen_kappa_score, weights=kind)
SKLEARN_CLASS = {
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "fbeta": partial(sk.fbeta_score, beta=2),
    "f0.5": partial(sk.fbeta_score, beta=0.5),
    "jaccard": sk.jaccard_score,
}
SKLEARN |= {
    f"{name}_{average}": partial(function, average=average)
    for name, function in SKLEARN_CLASS.items()
    for average in AVERAGES
}


def metric_of(name, n_classes=2):
    """The metric of any name, with a parameter where it needs one."""
    if name == "expected_cost":
        return get_metric(name, cost=np.arange(n_classes**2).reshape(n_classes, n_classes) % 5)
    params = {"beta": 2} if name.startswith("fbeta") else {}
    return get_metric(name, **({"threshold": 0.3} if name == "net_benefit" else params))


def random_matrix(seed, n_classes, smallest=0):
    """Counts with a positive diagonal, so without empty rows and columns."""
    rng = np.random.default_rng([seed, n_classes])
    matrix = rng.integers(smallest, 30, (n_classes, n_classes))
    return matrix + np.diag(rng.integers(1, 60, n_classes))


def predictions(matrix):
    """y_true and y_pred that have this confusion matrix."""
    matrix = np.asarray(matrix)
    cell = np.repeat(np.arange(matrix.size), matrix.ravel())
    return np.divmod(cell, len(matrix))


def cells_by_class(matrix):
    """(tp, fn, fp, tn) of every class, as scikit-learn counts them."""
    for (tn, fp), (fn, tp) in sk.multilabel_confusion_matrix(*predictions(matrix)).tolist():
        yield tp, fn, fp, tn


@pytest.mark.parametrize("n_classes", SIZES)
@pytest.mark.parametrize("name", SKLEARN)
def test_equals_scikit_learn(name, n_classes, global_random_seed):
    matrix = random_matrix(global_random_seed, n_classes)
    expected = SKLEARN[name](*predictions(matrix))
    metric = metric_of(name)
    assert_allclose(metric(matrix), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(ConfusionCounts(matrix).score(metric), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("name", SKLEARN_CLASS)
def test_equals_scikit_learn_for_every_positive_class(name, n_classes, global_random_seed):
    matrix, metric = random_matrix(global_random_seed, n_classes), metric_of(name)
    y_true, y_pred = (np.array(list("abcde"))[y] for y in predictions(matrix))
    expected = SKLEARN_CLASS[name](y_true, y_pred, average=None)
    for k, label in enumerate("abcde"[:n_classes]):
        counts = ConfusionCounts(matrix, labels=list("abcde"[:n_classes]), pos_label=label)
        values = [metric(matrix, positive=k), counts.score(metric)]
        counts = ConfusionCounts.from_predictions(y_true, y_pred)
        values.append(counts.score(metric, pos_label=label))
        if n_classes == 2:
            values.append(SKLEARN_CLASS[name](y_true, y_pred, pos_label=label))
        assert_allclose(values, expected[k], rtol=1e-12)


def test_rates_and_their_ratios_equal_scikit_learn(global_random_seed):
    matrix = random_matrix(global_random_seed, 2, smallest=1)
    y = predictions(matrix)
    specificity, npv = sk.recall_score(*y, pos_label=0), sk.precision_score(*y, pos_label=0)
    ratios = sk.class_likelihood_ratios(*y)
    expected = {
        "specificity": specificity,
        "fpr": 1 - specificity,
        "npv": npv,
        "informedness": sk.balanced_accuracy_score(*y, adjusted=True),
        "markedness": sk.precision_score(*y) + npv - 1,
        "lr+": ratios[0],
        "lr-": ratios[1],
        "dor": ratios[0] / ratios[1],
    }
    values = [ConfusionCounts(matrix).score(name) for name in expected]
    assert_allclose(values, list(expected.values()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", SIZES)
def test_class_metrics_follow_their_definition(n_classes, global_random_seed):
    matrix = random_matrix(global_random_seed, n_classes, smallest=1)
    for positive, cells in enumerate(cells_by_class(matrix)):
        for name, expected in by_definition(*cells).items():
            value = metric_of(name)(matrix, positive=positive)
            assert_allclose(value, expected, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("n_classes", SIZES)
def test_averages_follow_their_definition(n_classes, global_random_seed):
    matrix = random_matrix(global_random_seed, n_classes, smallest=1)
    cells = np.array(list(cells_by_class(matrix)))
    by_class = [by_definition(*row) for row in cells.tolist()]
    micro = by_definition(*cells.sum(axis=0).tolist())
    for base in AVERAGED:
        values = [value[base] for value in by_class]
        weighted = np.average(values, weights=matrix.sum(axis=1))
        expected = [micro[base], sum(values) / n_classes, weighted]
        result = [metric_of(f"{base}_{average}")(matrix) for average in AVERAGES]
        assert_allclose(result, expected, rtol=1e-12, atol=1e-12, err_msg=base)


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("net_benefit", {"threshold": 0.2}, (64 - 4 / 4) / 200),
        ("expected_cost", {"cost": [[0, 1], [10, 0]]}, (4 + 360) / 200),
        ("expected_cost", {"cost": [[-1, 1], [10, -2]]}, (-96 + 4 + 360 - 128) / 200),
        ("prevalence_threshold", {}, 0.2),  # recall 0.64, fpr 0.04
        ("g_score", {}, math.sqrt(0.64 * 64 / 68)),
        ("g_mean", {}, 0.8 * math.sqrt(0.96)),
        ("markedness", {}, 64 / 68 - 36 / 132),
        ("dor", {}, 128 / 3),
    ],
)
def test_hand_computed_two_classes(name, params, expected):
    assert_allclose(get_metric(name, **params)([[96, 4], [36, 64]]), expected, rtol=1e-14)


def test_hand_computed_three_classes():
    matrix = [[5, 1, 0], [2, 6, 4], [0, 1, 1]]  # supports 6, 12, 2
    cost = get_metric("expected_cost", cost=[[0, 1, 4], [2, 0, 1], [8, 3, -1]])
    benefit = get_metric("net_benefit", threshold=0.5)(matrix, positive=2)
    values = [get_metric(name)(matrix) for name in ("null_accuracy", "null_error_rate")]
    values += [cost(matrix), get_metric("specificity")(matrix, positive=1), benefit]
    assert_allclose(values, [0.6, 0.4, (1 + 4 + 4 + 3 - 1) / 20, 6 / 8, (1 - 4) / 20], rtol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", ALL_NAMES)
def test_stacks_equal_loops_and_scale_is_irrelevant(name, n_classes, global_random_seed):
    metric = metric_of(name, n_classes)
    stack = [random_matrix(global_random_seed + k, n_classes, smallest=1) for k in range(6)]
    stack = np.reshape(stack, (2, 3, n_classes, n_classes))
    expected = np.array([[metric(matrix, positive=1) for matrix in row] for row in stack])
    assert type(metric(stack[0, 0], positive=1)) is float
    for factor in (1, 7, 1 / stack[0, 0].sum(), 1e-9):
        values = metric(factor * stack, positive=1)
        assert values.shape == (2, 3)
        assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


def exact_values(matrix):
    """MCC (Gorodkin's formula) and the three kappas, in integers, rounded only at the end."""
    classes = range(len(matrix))
    true = [sum(row) for row in matrix]
    said = [sum(column) for column in zip(*matrix, strict=True)]
    total = sum(true)
    covariance = sum(matrix[k][k] * total - true[k] * said[k] for k in classes)
    square = (total**2 - sum(t * t for t in true)) * (total**2 - sum(s * s for s in said))
    with localcontext() as context:
        context.prec = 60
        values = [float(Decimal(covariance) / Decimal(square).sqrt())]
    for power in (0, 1, 2):
        weight = {(i, j): abs(i - j) ** power for i in classes for j in classes if i != j}
        observed = sum(w * matrix[i][j] for (i, j), w in weight.items())
        expected = sum(w * true[i] * said[j] for (i, j), w in weight.items())
        values.append(float(1 - Fraction(observed * total, expected)))
    return values


@pytest.mark.parametrize(
    "matrix",
    [
        [[10**9 + 7, 123_456_789], [987_654_321, 2 * 10**9 + 1]],
        [[10**9, 10**9], [10**9, 10**9 + 1]],  # almost independent
        [[10**9, 1], [1, 10**9]],  # almost perfect
        [[10**9, 0], [1, 3]],  # very unequal classes
        [[10**9, 3, 5], [7, 10**9 + 9, 10**8], [10**6, 10**9 + 1, 2]],
    ],
)
def test_counts_of_billions(matrix):
    names = ["mcc", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"]
    values = [ConfusionCounts(matrix).score(name) for name in names]
    assert_allclose(values, exact_values(matrix), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_perfect_and_worst_classifiers_score_exactly_the_ends(n_classes, global_random_seed):
    # Intervals are closed at the end of the range where the observed value equals it.
    rng = np.random.default_rng(global_random_seed)
    for _ in range(50):
        matrix = np.diag(rng.integers(1, 1000, n_classes))
        for name in ("mcc", "kappa", "accuracy", "f1_macro", "f1_weighted", "balanced_accuracy"):
            assert get_metric(name)(matrix) == 1.0, (name, matrix)
        if n_classes == 2:
            assert get_metric("mcc")(matrix[::-1]) == -1.0, matrix[::-1]


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("name", ALL_NAMES)
def test_range(name, n_classes, global_random_seed):
    metric = metric_of(name, n_classes)
    rng = np.random.default_rng(global_random_seed)
    low, high = metric.range
    dense = rng.integers(1, 30, (300, n_classes, n_classes))
    strong = dense + 500 * np.eye(n_classes, dtype=int)
    perfect = dense * np.eye(n_classes, dtype=int)
    defined = np.concatenate([dense, strong, strong[..., ::-1]])
    values = metric(defined, positive=0), metric(perfect, positive=0, zero_division=low)
    assert np.ptp(values[0]) > 0
    for value in values:
        assert np.all((low <= value) & (value <= high))


# Class 1 is never predicted, class 2 never occurs, class 3 is not there at all.
GAPS = np.array([[3, 0, 2, 0], [1, 0, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize("name", SKLEARN_CLASS)
def test_zero_division_equals_scikit_learn(name, zero_division):
    function = partial(SKLEARN_CLASS[name], labels=range(4), zero_division=zero_division)
    score = partial(ConfusionCounts(GAPS).score, zero_division=zero_division)
    for average in AVERAGES:
        expected = function(*predictions(GAPS), average=average)
        assert_allclose(score(metric_of(f"{name}_{average}")), expected, rtol=1e-12)
    values = [score(metric_of(name), pos_label=k) for k in range(4)]
    assert_allclose(values, function(*predictions(GAPS), average=None), rtol=1e-12)


@pytest.mark.parametrize("matrix", [GAPS, [[3, 0], [2, 0]], [[3, 2], [0, 0]], np.diag([2, 0, 0])])
@pytest.mark.parametrize("name", SKLEARN_CLASS)
def test_nan_leaves_classes_out_of_averages_as_scikit_learn_does(name, matrix):
    matrix = np.asarray(matrix)
    function = partial(SKLEARN_CLASS[name], labels=range(len(matrix)), zero_division=np.nan)
    if name == "jaccard":  # it has no zero_division=nan: the mean of the classes that are defined
        tp, true, said = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
        used = true + said > 0
        values = tp[used] / (true + said - tp)[used]
        weighted = np.average(values, weights=true[used])
        expected = {"macro": values.mean(), "weighted": weighted}
    else:
        y = predictions(matrix)
        expected = {average: function(*y, average=average) for average in AVERAGES[1:]}
    left_out = 0
    for average, value in expected.items():
        metric = metric_of(f"{name}_{average}")
        undefined = np.isnan(metric.evaluate(matrix.astype(float)))
        left_out += undefined
        for ask in (metric, lambda m, metric=metric: ConfusionCounts(m).score(metric)):
            with warnings.catch_warnings(record=True) as record:
                warnings.simplefilter("always")
                assert ask(matrix) == pytest.approx(value, rel=1e-12), average
            assert len(record) == undefined
            assert all("the average leaves them out" in str(one.message) for one in record)
    if matrix is GAPS:
        assert left_out > 0


def test_balanced_accuracy_leaves_out_classes_that_never_occur():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = sk.balanced_accuracy_score(*predictions(GAPS))
    with pytest.warns(UndefinedMetricWarning, match="balanced_accuracy is 0/0 for some classes"):
        assert get_metric("balanced_accuracy")(GAPS) == pytest.approx(expected, rel=1e-14)
    stack = np.array([GAPS, GAPS + np.eye(4, dtype=int), 0 * GAPS])
    with pytest.warns(UndefinedMetricWarning, match=r"for 2 of 3 matrices") as record:
        values = get_metric("balanced_accuracy")(stack)
    assert len(record) == 1
    assert values[0] == pytest.approx(expected, rel=1e-14)
    assert np.isnan(values).tolist() == [False, False, True]
    # A number is given to the classes, not to the average.
    filled = get_metric("balanced_accuracy")(stack, zero_division=0)
    assert filled[0] == pytest.approx(expected / 2, rel=1e-14)


@pytest.mark.parametrize("name", ALL_NAMES)
def test_dependence_on_prevalence_is_what_the_formulas_do(name):
    # The same rates within the true classes, other frequencies of the classes
    binary = name in BINARY
    matrix = np.array([[50, 30, 20], [15, 60, 25], [5, 12, 83]]) / 100
    if name in OF_MATRIX or binary:
        matrix = np.array([[0.7, 0.3], [0.2, 0.8]])
    metric = metric_of(name, len(matrix))
    if name == "expected_cost":
        metric = get_metric(name, cost=[[0, 1], [2, 0]])
    values = [
        metric(matrix * np.array(share)[: len(matrix), None])
        for share in ((1, 1, 1), (1, 5, 2), (9, 2, 4), (0.1, 0.3, 7))
    ]
    moves = np.ptp(values) > 1e-12
    assert metric.depends_on_prevalence is bool(moves)
    assert (name in get_metric_names(depends_on_prevalence=True)) is bool(moves)
    assert (name in get_metric_names(depends_on_prevalence=False)) is not bool(moves)


def test_dependence_on_prevalence_of_a_function_is_not_known():
    assert make_metric(overcall).depends_on_prevalence is None
    with pytest.raises(TypeError, match="depends_on_prevalence must be True or False"):
        get_metric_names(depends_on_prevalence="no")


UNDEFINED = {
    "precision fdr mcc g_score markedness": [[3, 0], [2, 0]],
    "npv false_omission_rate": [[0, 3], [0, 2]],
    "recall fnr true_positive_odds prevalence_threshold": [[3, 2], [0, 0]],
    "specificity fpr false_positive_odds informedness g_mean lr+ lr-": [[0, 0], [1, 4]],
    "f1 f2 jaccard dor kappa cohen_kappa_linear cohen_kappa_quadratic": [[3, 0], [0, 0]],
    "accuracy recall_weighted f1_micro prevalence null_error_rate": [[0, 0], [0, 0]],
    "precision_macro recall_macro f1_weighted balanced_accuracy": [[0, 0], [0, 0]],
}


@pytest.mark.parametrize("names", UNDEFINED)
def test_undefined_is_nan_with_one_warning(names):
    matrix = UNDEFINED[names]
    for name in names.split():
        for ask in (get_metric(name), partial(ConfusionCounts(matrix).score, name)):
            with pytest.warns(UndefinedMetricWarning, match="0/0.*zero_division") as record:
                value = ask(matrix) if isinstance(ask, Metric) else ask()
            assert math.isnan(value), name
            assert [warning.filename for warning in record] == [__file__], name


@pytest.mark.parametrize("name", ["mcc", "kappa", "f1", "jaccard", "dor"])
def test_zero_division_replaces_only_what_is_undefined(name):
    stack = np.array([[[3, 0], [0, 0]], [[5, 1], [2, 7]], [[9, 0], [0, 0]]])
    with pytest.warns(UndefinedMetricWarning, match="2 of 3 matrices") as record:
        values = get_metric(name)(stack)
    assert len(record) == 1
    assert np.isnan(values).tolist() == [True, False, True]
    for zero_division in (0.0, 0.25, 1.0):
        replaced = ConfusionCounts(stack).score(name, zero_division=zero_division)
        assert replaced.tolist() == [zero_division, values[1], zero_division]


@pytest.mark.parametrize("zero_division", [0, 1])
def test_zero_division_in_sums_of_rates(zero_division):
    for matrix in ([[0, 0], [1, 3]], [[3, 1], [0, 0]], [[0, 3], [0, 1]], [[3, 0], [1, 0]]):
        score = partial(ConfusionCounts(matrix).score, zero_division=zero_division)
        expected = [score("recall") + score("specificity") - 1, score("ppv") + score("npv") - 1]
        assert_allclose([score("informedness"), score("markedness")], expected, rtol=1e-12)


def test_defined_values_do_not_warn():
    for name in ("dor", "lr+", "false_positive_odds"):  # a positive number over zero
        matrix = [[0, 5], [2, 3]] if "odds" in name else [[5, 0], [2, 3]]
        assert get_metric(name)(matrix) == math.inf
        assert get_metric(name)(matrix, zero_division=0) == math.inf
    # Classes without rows have weight 0, so their recall does not matter.
    assert get_metric("recall_weighted")(GAPS) == pytest.approx(3 / 10, rel=1e-14)


def test_names():
    assert get_metric_names() == get_metric_names(n_classes=2)
    assert get_metric_names(needs="labels") == ALL_NAMES
    assert get_metric_names(n_classes=3, needs="labels") == NO_BINARY
    scores, shares = (get_metric_names(needs=needs) for needs in ("scores", "probabilities"))
    assert sorted([*ALL_NAMES, *scores, *shares]) == get_metric_names()


@pytest.mark.parametrize("name", get_metric_names(needs="labels"))
def test_every_name_works_and_can_be_pickled(name):
    for matrix in ([[40, 10], [5, 45]], [[30, 5, 1], [2, 40, 8], [4, 6, 50]]):
        metric = metric_of(name, len(matrix))
        copy = pickle.loads(pickle.dumps(metric))
        assert isinstance(copy, Metric)
        assert repr(copy) == repr(metric)
        if name in get_metric_names(n_classes=len(matrix)):
            assert math.isfinite(ConfusionCounts(matrix).score(metric))
            assert copy(matrix) == metric(matrix)
            continue
        with pytest.raises(ValueError, match="Name the class with pos_label"):
            ConfusionCounts(matrix).score(metric)
        with pytest.raises(ValueError, match="Name the class with pos_label"):
            metric(matrix)


ALIASES = (
    "acc=accuracy ppv=precision tpr=recall sensitivity=recall tnr=specificity dice=f1 f1.0=f1 "
    "for=false_omission_rate fowlkes_mallows=g_score bm=informedness youden_j=informedness "
    "mcc=matthews_corrcoef kappa=cohen_kappa lr+=positive_likelihood_ratio "
    "lr-=negative_likelihood_ratio dor=diagnostic_odds_ratio bacc=balanced_accuracy "
    "tpr_macro=recall_macro dice_weighted=f1_weighted MCC=matthews_corrcoef"
)


def test_lookup():
    for pair in ALIASES.split():
        assert get_metric(pair.split("=")[0]).name == pair.split("=")[1]
    metric = get_metric("f1")
    assert get_metric(metric) is metric
    assert get_metric(" Balanced Accuracy ").name == "balanced_accuracy"
    assert get_metric("fbeta", beta=0.5).name == get_metric("f0.5").name == "f0.5"
    assert get_metric("fbeta", beta=1).name == "f1"
    assert get_metric("fbeta_macro", beta=2).name == get_metric("f2_macro").name == "f2_macro"
    assert get_metric("cohen_kappa", weights=None).name == "cohen_kappa"
    assert get_metric("kappa", weights="quadratic").name == "cohen_kappa_quadratic"


WORSE = [
    *("error_rate", "expected_cost", "negative_likelihood_ratio", "prevalence_threshold"),
    "false_positive_odds",
    *("fpr", "fnr", "fdr", "false_omission_rate"),
]
NEUTRAL = ["prevalence", "predicted_positive_rate", "null_accuracy", "null_error_rate"]
NEUTRAL += ["predicted_negative_rate"]


@pytest.mark.parametrize("name", ALL_NAMES)
def test_direction(name):
    metric = metric_of(name)
    worse = name in WORSE or name.rpartition("_")[0] in WORSE
    assert metric.greater_is_better is (None if name in NEUTRAL else not worse)
    if name == "expected_cost":
        metric = get_metric(name, cost=[[0, 1], [2, 0]])
    gain = metric([[90, 10], [10, 90]]) - metric([[60, 40], [40, 60]])
    assert np.sign(gain) == {True: 1, False: -1, None: 0}[metric.greater_is_better]


def test_repr():
    expected = "Metric('recall_macro', range=(0, 1), greater_is_better=True, average='macro')"
    assert repr(get_metric("recall_macro")) == expected
    expected = "Metric('expected_cost', range=(-1, 10), greater_is_better=False, average=None)"
    assert repr(get_metric("expected_cost", cost=[[0, 1], [10, -1]])) == expected


@pytest.mark.parametrize(
    "pair", ["precison precision", "recal_macro recall_macro", "mathews_corrcoef matthews_corrcoef"]
)
def test_unknown_name_suggests_the_nearest(pair):
    name, nearest = pair.split()
    with pytest.raises(ValueError, match=f"'{name}' is not known.*Did you mean '{nearest}'"):
        get_metric(name)


@pytest.mark.parametrize(
    ("name", "params", "error", "message"),
    [
        ("fbeta", {}, ValueError, "needs the parameter 'beta'"),
        ("expected_cost", {}, ValueError, "needs the parameter 'cost'"),
        ("net_benefit", {}, ValueError, "needs the parameter 'threshold'"),
        ("net_benefit", {"beta": 2}, ValueError, r"'threshold' and no other.*\['beta'\]"),
        ("f1", {"beta": 2}, TypeError, r"'f1' takes no parameters, got \['beta'\]"),
        ("fbeta", {"beta": 0}, ValueError, r"beta must be a number in \(0, inf\), got 0"),
        ("fbeta", {"beta": "2"}, TypeError, "beta must be"),
        ("f0", {}, ValueError, "beta must be"),
        ("cohen_kappa", {"weights": "cubic"}, ValueError, "None, 'linear' or 'quadratic'"),
        ("net_benefit", {"threshold": 1}, ValueError, r"threshold must be a number in \(0, 1\)"),
        ("expected_cost", {"cost": [1, 2]}, ValueError, "square matrix"),
        ("expected_cost", {"cost": [[0, math.nan], [1, 0]]}, ValueError, "finite"),
        ("expected_cost", {"cost": [[1, 1], [1, 1]]}, ValueError, "constant"),
        (5, {}, TypeError, "must be a name, a Metric or a function, got 5"),
        (get_metric("f1"), {"beta": 2}, TypeError, "takes no parameters"),
    ],
)
def test_parameters_refused(name, params, error, message):
    with pytest.raises(error, match=message):
        get_metric(name, **params)


def test_matrix_must_fit():
    for matrix in ([1, 2], 5, np.ones((2, 3)), np.ones((2, 3, 2))):
        with pytest.raises(ValueError, match=r"matrix must have shape \(\.\.\., C, C\)"):
            get_metric("f1")(matrix)
    with pytest.raises(ValueError, match=r"shape of the matrix, \(2, 2\), got \(3, 3\)"):
        get_metric("expected_cost", cost=np.eye(3))([[1, 2], [3, 4]])


@pytest.mark.parametrize("positive", [-1, 2])
def test_positive_must_be_an_index(positive):
    with pytest.raises((IndexError, ValueError)):
        get_metric("recall")([[6, 2], [3, 26]], positive=positive)


def overcall(p):
    return p[..., 0, 1] - p[..., 1, 0]


def test_make_metric():
    metric = make_metric(overcall, range=(-1, 1), greater_is_better=None)
    expected = "Metric('overcall', range=(-1, 1), greater_is_better=None, average=None)"
    assert repr(metric) == repr(pickle.loads(pickle.dumps(metric))) == expected
    stack = [[[80, 20], [10, 90]], [[1, 0], [1, 2]]]
    assert_allclose(metric(stack), [0.05, -0.25], rtol=1e-14)  # it sees shares, not counts
    assert_allclose(ConfusionCounts(stack).score(overcall), [0.05, -0.25], rtol=1e-14)
    metric = make_metric(partial(overcall), name="mine")
    assert (metric.name, metric.range) == ("mine", (-math.inf, math.inf))


def test_make_metric_that_is_undefined():
    def share(p):
        return p[..., 0, 0] / p[..., 0, :].sum(axis=-1)

    with pytest.warns(UndefinedMetricWarning, match="share is 0/0 .* for 1 of 2") as record:
        values = make_metric(share)([[[0, 0], [1, 2]], [[3, 1], [1, 2]]])
    assert len(record) == 1
    assert_allclose(values, [math.nan, 0.75], rtol=1e-14)


@pytest.mark.parametrize("function", [np.sum, lambda p: p.sum(axis=-1), lambda p: p])
def test_make_metric_wrong_shape(function):
    with pytest.raises(ValueError, match=r"metric 'wrong' must map .*\(\.\.\., C, C\).*axis="):
        make_metric(function, name="wrong")(np.ones((3, 2, 2)))


def test_make_metric_refuses():
    with pytest.raises(TypeError, match="function must be callable, got 'f1'"):
        make_metric("f1")
    with pytest.raises(ValueError, match="low < high"):
        make_metric(overcall, range=(1, 1))


def test_names_of_sklearn_functions():
    for name in ("f1_score", "accuracy_score", "balanced_accuracy_score", "cohen_kappa_score"):
        assert get_metric(name).name == name.removesuffix("_score")
    assert get_metric("g_score").name == "g_score"
    with pytest.raises(TypeError, match=r"one argument.*pass its name, such as 'f1'"):
        get_metric(sk.f1_score)


def test_zero_division_must_be_a_number():
    with pytest.raises(TypeError, match=r"zero_division must be a number.*got 'warn'"):
        ConfusionCounts([[1, 2], [3, 4]]).score("f1", zero_division="warn")
    with pytest.raises(TypeError, match=r"use counts.score\('f1'\)"):
        get_metric("f1")(ConfusionCounts([[1, 2], [3, 4]]))


@pytest.mark.parametrize("scale", [1, 1e-8, 1e-200])
def test_cells_of_all_classes_are_sums(scale, global_random_seed):
    # Against the sums of one class at a time, with one row and one column far above the others
    matrix = np.random.default_rng(global_random_seed).random((7, 2, 4, 4)) * scale
    matrix[..., 1, :] = 1.0
    for name in ("npv", "specificity", "markedness"):
        one = [get_metric(name).evaluate(matrix, positive=k) for k in range(4)]
        found = get_metric(f"{name}_macro").evaluate(matrix)
        np.testing.assert_allclose(found, np.mean(one, axis=0), rtol=1e-9, atol=1e-12)
