"""Truths with a learner in them: data are drawn, models fitted, folds counted."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skuncertain._counts import ConfusionCounts
from skuncertain._cv_counts import take_rows
from skuncertain._fold_variance import ESTIMANDS
from skuncertain._labels import encode, plain_label, to_numpy
from skuncertain._splits import Splits, as_rows
from skuncertain._truths import Sample, Truth, sequence
from skuncertain._validation import check_choice, check_integer, shown
from skuncertain._warnings import others_silenced


class LearnerTruth(Truth):
    """What `EstimatorTruth` and `SubsampleTruth` share; not constructed by users."""

    _layout = "folds"
    _chunk = 5
    estimator: Any
    cv: Any
    estimand: str
    n_models: int

    def _check(self, estimator, cv, estimand, n_models):
        self._varied = {}
        for method in ("fit", "predict", "get_params"):
            if not hasattr(estimator, method):
                raise TypeError(
                    f"estimator must be a scikit-learn classifier; {type(estimator).__name__} has "
                    f"no method {method!r}."
                )
        self.estimator, self.cv = estimator, cv
        self.estimand = check_choice("estimand", estimand, ESTIMANDS)
        self.n_models = check_integer("n_models", n_models, low=2)

    @property
    def shape(self) -> tuple:
        """Shape of the grid of points."""
        return ()

    def _matrices(self, metric, positive):
        return None

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
        with others_silenced():  # of convergence and the like: thousands of fits
            return model.set_params(**seeds).fit(take_rows(X, rows), self._labelled(y[rows]))

    def _labelled(self, codes):
        return np.asarray(self.labels)[codes]

    def _count(self, model, X, codes):
        predicted = encode(to_numpy("y_pred", model.predict(X)), self.labels, "y_pred")
        size = len(self.labels)
        return np.bincount(codes * size + predicted, minlength=size**2).reshape(size, size)

    def _performance(self, model, test_rows, metric, positive):
        matrix = self._count(model, *test_rows)
        return float(metric.evaluate(matrix.astype(float), positive=positive))

    def _draw(self, point, n, size, seed, metric, positive):
        folds, truths, lost, splits = [], [], [], None
        for child in sequence(seed).spawn(size):
            rng = np.random.default_rng(child)
            try:
                X, y, test_rows = self._data(n, rng)
                pairs = self._splits(X, y, rng)
                found = Splits.of([a for a, _ in pairs], [b for _, b in pairs])
                counted = [
                    self._count(self._fitted(X, y, train, rng), take_rows(X, test), y[test])
                    for train, test in pairs
                ]
                truth = np.nan
                if self.estimand == "model":
                    model = self._fitted(X, y, np.arange(len(y)), rng)
                    truth = self._performance(model, test_rows(), metric, positive)
                if splits is not None and len(found.n_test) != len(splits.n_test):
                    raise ValueError("cv gives a different number of splits for every sample.")
            except Exception as error:  # one sample that fails must not end a study of hours
                lost.append(f"{type(error).__name__}: {error}")
                continue
            folds.append(counted)
            truths.append(truth)
            splits = found if splits is None else splits
        shape = (0, 1) if splits is None else (len(folds), len(splits.n_test))
        size = len(self.labels)
        counts = ConfusionCounts(
            np.reshape(folds, (*shape, size, size)).astype(np.int64), labels=self.labels
        )
        truth = np.array(truths) if self.estimand == "model" else None
        return Sample(counts, truth=truth, splits=splits, lost=tuple(lost))

    def _performances(self, n, size, seed, metric, positive):
        """Metric of models that were trained on as many rows as those of a fold, and reasons."""
        values, lost = [], []
        for child in sequence(seed).spawn(size):
            rng = np.random.default_rng(child)
            try:
                X, y, test_rows = self._data(n, rng)
                train = self._splits(X, y, rng)[0][0]
                model = self._fitted(X, y, train, rng)
                values.append(self._performance(model, test_rows(), metric, positive))
            except Exception as error:
                lost.append(f"{type(error).__name__}: {error}")
        return values, lost


class EstimatorTruth(LearnerTruth):
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
    estimand : {"algorithm", "model"}, default="algorithm"
        What the interval is to hold: the mean performance of models trained on as many rows as
        those of a fold, or the performance of the one model fitted on all rows of the sample.
    n_models : int, default=200
        Models behind the mean performance.
    n_test : int, default=5000
        Rows, fresh for every model, on which a model's performance is measured.

    See Also
    --------
    coverage_study : Uses it.
    SubsampleTruth : The same with rows of a large data set.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skuncertain import EstimatorTruth, coverage_study
    >>> make_data = partial(make_blobs, centers=[[0, 0], [1, 1]])
    >>> truth = EstimatorTruth(GaussianNB(), make_data, cv=5, n_models=50)
    >>> study = coverage_study(
    ...     ["pooled", "t"], truth, metric="recall", n=60, n_replications=50, random_state=0
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
        estimand: str = "algorithm",
        n_models: int = 200,
        n_test: int = 5000,
    ) -> None:
        self._check(estimator, cv, estimand, n_models)
        if not callable(make_data):
            raise TypeError(
                "make_data must be a function of n_samples and random_state that returns (X, y), "
                f"got {shown(make_data)}. For a data set use SubsampleTruth."
            )
        self.make_data = make_data
        self.n_test = check_integer("n_test", n_test, low=100)
        self.labels = tuple(sorted({plain_label(v) for v in np.unique(self._make(1000, 0)[1])}))
        if len(self.labels) < 2:
            raise ValueError(f"make_data gives one class only, {self.labels[0]!r}, in 1000 rows.")

    def __repr__(self):
        return (
            f"EstimatorTruth({type(self.estimator).__name__}, cv={self.cv!r}, "
            f"estimand={self.estimand!r}, n_models={self.n_models}, n_test={self.n_test})"
        )

    def _make(self, n, seed):
        X, y = self.make_data(n_samples=n, random_state=seed)
        y = to_numpy("y", y)
        if len(y) != n:
            raise ValueError(f"make_data must return n_samples={n} rows, got {len(y)}.")
        return X, y

    def _data(self, n, rng):
        X, y = self._make(n, int(rng.integers(2**31 - 1)))
        test_seed = int(rng.integers(2**31 - 1))

        def test_rows():
            X_test, y_test = self._make(self.n_test, test_seed)
            return X_test, encode(y_test, self.labels, "y")

        return X, encode(y, self.labels, "y"), test_rows


class SubsampleTruth(LearnerTruth):
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
    estimand : {"algorithm", "model"}, default="algorithm"
        See :class:`EstimatorTruth`.
    n_models : int, default=200
        Models behind the mean performance, each tested on all rows that it has not seen.

    See Also
    --------
    coverage_study : Uses it.
    EstimatorTruth : The same with data from a generator.

    Notes
    -----
    Samples are drawn without replacement, so the data set stands for an infinite population only
    while samples are a small part of it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skuncertain import SubsampleTruth, coverage_study
    >>> X, y = load_digits(return_X_y=True)
    >>> truth = SubsampleTruth(GaussianNB(), X, y > 4, cv=5, n_models=50)
    >>> study = coverage_study(["pooled"], truth, n=100, n_replications=40, random_state=0)
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
        estimand: str = "algorithm",
        n_models: int = 200,
    ) -> None:
        self._check(estimator, cv, estimand, n_models)
        self.X: Any = X if hasattr(X, "shape") else np.asarray(X)
        labels = to_numpy("y", y)
        if self.X.shape[0] != len(labels):
            raise ValueError(
                "X and y must have the same number of rows, "
                f"got {self.X.shape[0]} and {len(labels)}."
            )
        self.labels = tuple(sorted({plain_label(value) for value in np.unique(labels)}))
        if len(self.labels) < 2:
            raise ValueError(f"y must hold at least two classes, got {list(self.labels)}.")
        self.y = encode(labels, self.labels, "y")

    def __repr__(self):
        return (
            f"SubsampleTruth({type(self.estimator).__name__}, {len(self.y)} rows, cv={self.cv!r}, "
            f"estimand={self.estimand!r}, n_models={self.n_models})"
        )

    def _check_size(self, n):
        if n >= len(self.y):
            raise ValueError(f"n must be less than the {len(self.y)} rows of the data, got {n}.")

    def _data(self, n, rng):
        order = rng.permutation(len(self.y))
        taken, rest = order[:n], np.sort(order[n:])
        return (
            take_rows(self.X, taken),
            self.y[taken],
            lambda: (take_rows(self.X, rest), self.y[rest]),
        )
