"""Generators of valid inputs."""

import numpy as np

from skuncertain import ConfusionCounts
from skuncertain.metrics import get_metric, get_metric_names
from skuncertain.posteriors import BetaPosterior

SCALES = (5, 1, 30, 400, 10**4, 10**6, 10**9, 2**50)
NAMED_PRIORS = ("auto", "neutral", "jeffreys", "laplace", "shared", "total_one")
NUMBERS = (0.5, 1.0, 1 / 3, 2.5, 0.01, 1e-6, 40.0, 1e6, 1e12)
LABELS = (
    (0, 1, 2, 3, 4, 5),
    ("a", "b", "c", "d", "e", "f"),
    (-1, 1, 2, 7, 11, 100),
    ("Ärger", "naïve", "<b>&", "x,y", 'quo"te', "tab\t"),
    (10**12, 10**15, 10**9, 5, 6, 7),
)
OF_TWO = tuple(get_metric_names(needs="labels"))
OF_MANY = tuple(get_metric_names(n_classes=3, needs="labels"))
OF_ONE_CLASS = tuple(
    name for name in OF_TWO if get_metric_names and name not in OF_MANY and name != "fbeta"
)
ALIASES = ("mcc", "ppv", "tpr", "kappa", "lr+", "lr-", "dor", "bacc", "f0.5", "f2", "f10")


def metric_of(name, n_classes=2):
    """The metric, with the parameters that some need: those of tools.fuzz.naive."""
    if name.startswith("fbeta"):
        return get_metric(name, beta=2.0)
    if name == "expected_cost":
        return get_metric(name, cost=1.0 - np.eye(n_classes))
    return get_metric(name, threshold=0.25) if name == "net_benefit" else get_metric(name)


def level(source):
    kind = source.below(6)
    if kind < 4:
        return (0.95, 0.9, 0.5, 0.99)[kind]
    return source.pick((0.999, 1 - 1e-6, 1e-3, 0.3)) if kind == 4 else source.real(0.01, 0.99)


def interval_kind(source):
    return source.pick(("eti", "hdi"))


def prior(source, n_classes):
    """A prior, whether it is proper, and whether it is the default."""
    kind = source.below(8)
    if kind < 3:
        return "auto", True, True
    if kind < 5:
        return source.pick(NAMED_PRIORS), True, False
    if kind == 5:
        return source.pick(NUMBERS), True, False
    if kind == 6:
        return source.pick(("haldane", 0, 0.0)), False, False
    cells = source.rng().choice([0.0, 0.1, 0.5, 1.0, 3.0, 1e3], size=(n_classes, n_classes))
    return cells, bool(np.all(cells > 0)), False


def matrices(source, shape, n_classes, *, largest=2**50):
    """Counts with zeros, empty rows, empty columns and sizes of many magnitudes."""
    rng = source.rng()
    scales = [scale for scale in SCALES if scale <= largest]
    scale = source.pick(scales)
    cells = (rng.random((*shape, n_classes, n_classes)) ** 2 * (scale + 1)).astype(np.int64)
    if source.rarely(3):  # cells of different magnitudes
        other = (rng.random(cells.shape) * (source.pick(scales) + 1)).astype(np.int64)
        cells = np.where(rng.random(cells.shape) < 0.5, cells, other)
    pattern = source.below(6)
    if pattern == 1:
        cells[rng.random(cells.shape) < 0.5] = 0
    elif pattern == 2:  # nothing but hits
        cells *= np.eye(n_classes, dtype=np.int64)
    elif pattern == 3:  # a class without rows
        cells[..., rng.integers(n_classes), :] = 0
    elif pattern == 4:  # a class that is never predicted
        cells[..., rng.integers(n_classes)] = 0
    elif pattern == 5:  # rare positives
        cells[..., 0, :] = np.minimum(100 * cells[..., 0, :], largest)
    return cells


def counts(source, shape=(), n_classes=None, *, largest=2**50, filled=False):
    n_classes = source.pick((2, 2, 3, 4, 6)) if n_classes is None else n_classes
    cells = matrices(source, shape, n_classes, largest=largest)
    if filled:
        cells = cells + np.eye(n_classes, dtype=np.int64)
    labels = source.pick(LABELS)[:n_classes]
    positive = source.below(n_classes) if source.rarely(3) else None
    return ConfusionCounts(cells, labels=labels, pos_label=positive_of(labels, positive))


def positive_of(labels, positive):
    """Label of the positive class: asked for, or one of two names, which do not tell."""
    if positive is None and (len(labels) != 2 or labels in ((0, 1), (-1, 1))):
        return None
    return labels[-1 if positive is None else positive]


def metric_for(source, n_classes):
    """Metric, its name, and the class that is to be positive (an index) or None."""
    if n_classes == 2:
        name = source.pick(OF_TWO)
        return metric_of(name), name, None
    if source.rarely(3):
        name = source.pick(OF_ONE_CLASS)
        return metric_of(name, n_classes), name, source.below(n_classes)
    name = source.pick(OF_MANY)
    return metric_of(name, n_classes), name, None


def prevalence(source):
    if source.below(2):
        return source.pick((0.01, 0.5, 1e-6, 0.999))
    return BetaPosterior(source.pick((2.0, 0.5, 300.0)), source.pick((5.0, 0.5, 4000.0)))


def rows(source, n_classes=None, *, largest=60, n_models=1):
    """True labels and the predictions of models, in one of many array types."""
    n_classes = source.pick((2, 2, 3, 4)) if n_classes is None else n_classes
    n = source.integer(1, largest)
    labels = source.pick(LABELS)[:n_classes]
    rng, skill = source.rng(), source.pick((0.8, 0.5, 1.0, 0.0))
    true = rng.integers(n_classes, size=n)
    if source.rarely(5):
        true[:] = 0
    guesses = rng.integers(n_classes, size=(n_models, n))
    predicted = np.where(rng.random((n_models, n)) < skill, true, guesses)
    return [column(source, codes, labels) for codes in (true, *predicted)], labels, true, predicted


def column(source, codes, labels):
    """Labels of the codes in one of the containers that people keep them in."""
    values = [labels[k] for k in codes]
    kind = source.below(13)
    if kind == 1:
        return values
    if kind == 2:
        return tuple(values)
    if kind == 3:
        return np.array(values, dtype=object)
    if kind >= 7:
        return odd_column(kind, values)
    if kind >= 4:
        import pandas

        if kind == 4:
            return pandas.Series(values, index=np.arange(len(values))[::-1])
        if kind == 5:
            return pandas.Series(pandas.Categorical(values, categories=list(labels)))
        return pandas.array(values, dtype="string" if isinstance(labels[0], str) else "Int64")
    return np.array(values)


def odd_column(kind, values):
    """Arrays of unusual layout, and the columns of polars."""
    array = np.array(values)
    if kind == 8:
        return np.ma.array(array)
    if kind == 9:
        return np.repeat(array, 2)[::-2][::-1]
    if kind == 10:
        array.flags.writeable = False
        return array.astype(array.dtype.newbyteorder()) if array.dtype.kind == "i" else array
    if kind == 11 and array.dtype.kind == "i" and np.all(np.abs(array) < 2000):
        return array.astype(np.float16)
    if kind == 12:
        return array[:, None][:, 0]
    import polars

    return polars.Series(values)


def scores(source, true, n_classes=2):
    """Scores with ties, perfect and useless rankings, tiny and huge numbers."""
    rng = source.rng()
    noise = source.pick((1.0, 0.3, 0.0, 1e6))
    if n_classes == 2:
        value = true + noise * rng.normal(size=len(true))
    else:
        value = np.eye(n_classes)[true] + noise * rng.normal(size=(len(true), n_classes))
    form = source.below(5)
    if form == 1:
        return np.round(value)  # ties
    if form == 2:
        return 1 / (1 + np.exp(-np.clip(value, -30, 30)))
    if form == 3:
        return value * source.pick((1e-300, 1e300, 1e-12))
    return np.zeros_like(value) if form == 4 else value


def fold_counts(source, n_classes=None, *, largest=400):
    n_classes = source.pick((2, 2, 3)) if n_classes is None else n_classes
    folds = source.pick((5, 2, 3, 10, 30))
    cells = matrices(source, (folds,), n_classes, largest=largest)
    return cells + np.eye(n_classes, dtype=np.int64)


def fold_scores(source, shape, *, low=0.0, high=1.0):
    rng = source.rng()
    spread = source.pick((0.05, 0.0, 1e-12, 0.5, 1e-3))
    centre = source.pick((0.8, 0.0, 1.0, 0.5))
    return np.clip(centre + spread * rng.normal(size=shape), low, high)
