"""Populations with a learner in them: data are drawn, models are fitted and folds counted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skuncertain._utils.validation import check_choice, check_integer, refuse_if
from skuncertain._utils.warnings import silence_foreign
from skuncertain.coverage._populations import Population, Sample, sequence
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._labels import encode, plain_label, to_numpy
from skuncertain.model_selection._fold_variance import ESTIMANDS
from skuncertain.model_selection._read_cross_validate import take_rows
from skuncertain.model_selection._splits import Splits, as_rows


class LearnerPopulation(Population):
    """What `EstimatorPopulation` and `SubsamplePopulation` share; not constructed by users."""

    _layout = "folds"
    _chunk = 5
    estimator: Any
    cv: Any
    estimand: str
    n_models: int

    def _check(self, estimator, cv, estimand, n_models):
        self._varied = {}
        for method in ("fit", "predict", "get_params"):
            refuse_if(
                not hasattr(estimator, method),
                "estimator",
                f"estimator must be a scikit-learn classifier; {type(estimator).__name__} has "
                f"no method {method!r}.",
            )
        self.estimator, self.cv = estimator, cv
        self.estimand = check_choice("estimand", estimand, ESTIMANDS)
        self.n_models = check_integer("n_models", n_models, low=2)

    def _data(self, n, rng):
        """Draw n rows and return (X, codes of y, draw or take test rows)."""
        raise NotImplementedError

    def _preview(self, n):
        """Splits of a sample; nothing is fitted."""
        rng = np.random.default_rng(0)
        X, y, _ = self._data(n, rng)
        pairs = self._splits(X, y, rng)
        return Splits.of([train for train, _ in pairs], [test for _, test in pairs])

    def _splits(self, X, y, rng):
        cv = check_cv(self.cv, y, classifier=True)
        if getattr(cv, "random_state", 0) is None and getattr(cv, "shuffle", True):
            cv = copy.copy(cv)  # an unseeded splitter must not make the study depend on the worker
            cv.random_state = int(rng.integers(2**31 - 1))
        return [(as_rows(train, len(y)), as_rows(test, len(y))) for train, test in cv.split(X, y)]

    def _fitted(self, X, y, rows, rng):
        model = clone(self.estimator)
        seeds = {
            name: int(rng.integers(2**31 - 1))
            for name, value in sorted(model.get_params().items())
            if (name == "random_state" or name.endswith("__random_state")) and value is None
        }  # nor must an unseeded learner
        with silence_foreign():  # of convergence and the like: thousands of fits
            labels = np.asarray(self.labels)[y[rows]]
            return model.set_params(**seeds).fit(take_rows(X, rows), labels)

    def _count(self, model, X, codes):
        predicted = encode(to_numpy("y_pred", model.predict(X)), self.labels, "y_pred")
        size = len(self.labels)
        return np.bincount(codes * size + predicted, minlength=size**2).reshape(size, size)

    def _performance(self, model, test_rows, metric, positive):
        matrix = self._count(model, *test_rows)
        return float(metric.evaluate(matrix.astype(float), positive=positive))

    def _draw(self, point, n, size, seed, metric, positive):
        splits: list = []  # of the samples before

        def one(rng):
            X, y, test_rows = self._data(n, rng)
            pairs = self._splits(X, y, rng)
            found = Splits.of([a for a, _ in pairs], [b for _, b in pairs])
            models = [self._fitted(X, y, train, rng) for train, _ in pairs]
            counted = [
                self._count(model, take_rows(X, test), y[test])
                for model, (_, test) in zip(models, pairs, strict=True)
            ]
            if self.estimand == "final":
                models = [self._fitted(X, y, np.arange(len(y)), rng)]
            truth = np.nan
            if self.estimand != "algorithm":
                rows = test_rows()
                found_values = [self._performance(one, rows, metric, positive) for one in models]
                truth = float(np.mean(found_values))
            refuse_if(
                splits and len(found.n_test) != len(splits[0].n_test),
                "cv",
                "cv gives a different number of splits for every sample.",
            )
            splits.append(found)
            return counted, truth

        drawn, failures = _attempts(one, seed, size)
        n_classes = len(self.labels)
        shape = (len(drawn), len(splits[0].n_test) if splits else 1, n_classes, n_classes)
        counts = np.reshape([counted for counted, _ in drawn], shape).astype(np.int64)
        return Sample(
            ConfusionCounts(counts, labels=self.labels),
            truth=None if self.estimand == "algorithm" else np.array([t for _, t in drawn]),
            splits=splits[0] if splits else None,
            failures=tuple(failures),
        )

    def _performances(self, n, size, seed, metric, positive):
        """Metric of models that were trained on as many rows as those of a fold, and reasons."""

        def one(rng):
            X, y, test_rows = self._data(n, rng)
            model = self._fitted(X, y, self._splits(X, y, rng)[0][0], rng)
            return self._performance(model, test_rows(), metric, positive)

        return _attempts(one, seed, size)


def _attempts(one, seed, size):
    """Results of `one` with generators of its own, and why it failed: that must not end a study."""
    found, failures = [], []
    for child in sequence(seed).spawn(size):
        try:
            found.append(one(np.random.default_rng(child)))
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")
    return found, failures


class EstimatorPopulation(LearnerPopulation):
    """A classifier, cross-validated on data that can be drawn at will.

    Parameters
    ----------
    estimator : object
        Classifier. Where its ``random_state`` is None, every fit gets a seed of its own.
    make_data : callable
        ``make_data(n_samples=..., random_state=...)`` returns ``(X, y)``: independent rows, every
        time from the same population. scikit-learn's ``make_hastie_10_2`` does so, and
        ``make_blobs`` with fixed centers (and fixed class counts); ``make_classification`` makes
        another problem for every seed, ``make_moons`` spaces its points evenly.
    cv : int or splitter, default=10
        As in scikit-learn; a number of folds is stratified. Where it shuffles and its
        ``random_state`` is None, every sample gets a seed of its own.
    estimand : {"fitted", "algorithm", "final"}, default="fitted"
        What the interval is to hold: the mean performance of the models of the sample's folds, that
        of models trained on as many rows of other samples, or the performance of the one model
        fitted on all rows of the sample.
    n_models : int, default=200
        Models of other samples behind "algorithm".
    n_test : int, default=5000
        Rows, fresh for every model, on which a model's performance is measured.

    See Also
    --------
    coverage_study : Uses it.
    SubsamplePopulation : The same with rows of a large data set.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skuncertain.coverage import EstimatorPopulation, coverage_study
    >>> make_data = partial(make_blobs, centers=[[0, 0], [1, 1]])
    >>> population = EstimatorPopulation(GaussianNB(), make_data, cv=5, n_models=50)
    >>> study = coverage_study(
    ...     ["pooled", "t"], population, metric="recall", n=60, n_replications=50, random_state=0
    ... )
    >>> study.coverage > 0.9
    array([ True,  True])
    >>> bool(abs(study.truth - 0.75) < 5 * study.truth_error)
    True
    """

    def __init__(
        self,
        estimator: Any,
        make_data: Callable,
        *,
        cv: Any = 10,
        estimand: str = "fitted",
        n_models: int = 200,
        n_test: int = 5000,
    ) -> None:
        self._check(estimator, cv, estimand, n_models)
        refuse_if(
            not callable(make_data),
            "make_data",
            "make_data must be a function of n_samples and random_state that returns (X, y), "
            "got {value}. For a data set use SubsamplePopulation.",
            value=make_data,
        )
        self.make_data = make_data
        self.n_test = check_integer("n_test", n_test, low=100)
        self.labels = tuple(sorted({plain_label(v) for v in np.unique(self._make(1000, 0)[1])}))
        refuse_if(
            len(self.labels) < 2,
            "make_data",
            f"make_data gives one class only, {self.labels[0]!r}, in 1000 rows.",
        )

    def __repr__(self):
        return (
            f"EstimatorPopulation({type(self.estimator).__name__}, cv={self.cv!r}, "
            f"estimand={self.estimand!r}, n_models={self.n_models}, n_test={self.n_test})"
        )

    def _make(self, n, seed):
        X, y = self.make_data(n_samples=n, random_state=seed)
        y = to_numpy("y", y)
        refuse_if(
            len(y) != n, "make_data", f"make_data must return n_samples={n} rows, got {len(y)}."
        )
        return X, y

    def _data(self, n, rng):
        X, y = self._make(n, int(rng.integers(2**31 - 1)))
        test_seed = int(rng.integers(2**31 - 1))

        def test_rows():
            X_test, y_test = self._make(self.n_test, test_seed)
            return X_test, encode(y_test, self.labels, "y")

        return X, encode(y, self.labels, "y"), test_rows


class SubsamplePopulation(LearnerPopulation):
    """A classifier, cross-validated on samples of a large data set; the rest is the truth.

    Parameters
    ----------
    estimator : object
        Classifier. Where its ``random_state`` is None, every fit gets a seed of its own.
    X : array-like of shape (rows, features)
        A data set that is much larger than the samples.
    y : array-like of shape (rows,)
        Its labels.
    cv : int or splitter, default=10
        As in scikit-learn; a number of folds is stratified.
    estimand : {"fitted", "algorithm", "final"}, default="fitted"
        See :class:`EstimatorPopulation`.
    n_models : int, default=200
        Models of other samples behind "algorithm", each tested on all rows that it has not seen.

    See Also
    --------
    coverage_study : Uses it.
    EstimatorPopulation : The same with data from a generator.

    Notes
    -----
    Samples are drawn without replacement, so the data set stands for an infinite population only
    while samples are a small part of it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skuncertain.coverage import SubsamplePopulation, coverage_study
    >>> X, y = load_digits(return_X_y=True)
    >>> population = SubsamplePopulation(GaussianNB(), X, y > 4, cv=5, n_models=50)
    >>> study = coverage_study(["pooled"], population, n=100, n_replications=40, random_state=0)
    >>> bool(abs(study.truth - 0.62) < 5 * study.truth_error), bool(study.coverage[0] > 0.8)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        cv: Any = 10,
        estimand: str = "fitted",
        n_models: int = 200,
    ) -> None:
        self._check(estimator, cv, estimand, n_models)
        self.X: Any = X if hasattr(X, "shape") else np.asarray(X)
        labels = to_numpy("y", y)
        refuse_if(
            self.X.shape[0] != len(labels),
            "y",
            f"X and y must have the same number of rows, got {self.X.shape[0]} and {len(labels)}.",
        )
        self.labels = tuple(sorted({plain_label(value) for value in np.unique(labels)}))
        refuse_if(
            len(self.labels) < 2, "y", f"y must hold at least two classes, got {list(self.labels)}."
        )
        self.y = encode(labels, self.labels, "y")

    def __repr__(self):
        return (
            f"SubsamplePopulation({type(self.estimator).__name__}, {len(self.y)} rows, "
            f"cv={self.cv!r}, estimand={self.estimand!r}, n_models={self.n_models})"
        )

    def _check_size(self, n):
        refuse_if(
            n >= len(self.y),
            "n",
            f"n must be less than the {len(self.y)} rows of the data, got {n}.",
        )

    def _data(self, n, rng):
        order = rng.permutation(len(self.y))
        taken, rest = order[:n], np.sort(order[n:])
        return (
            take_rows(self.X, taken),
            self.y[taken],
            lambda: (take_rows(self.X, rest), self.y[rest]),
        )
