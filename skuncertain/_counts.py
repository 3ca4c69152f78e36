"""`ConfusionCounts`: an immutable stack of confusion matrices with its labels."""

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._distributions import Posterior
from skuncertain._labels import (
    as_labels,
    check_counts,
    check_pos_label,
    check_targets,
    check_weights,
    check_whole,
    complete_single_label,
    count_pairs,
    encode,
    frame_labels,
    plain_label,
    sorted_labels,
)
from skuncertain._metric_formulas import collapse, two_by_two
from skuncertain._metrics import get_metric, warn_if_undefined
from skuncertain._posterior import (
    MODELS,
    PosteriorRequest,
    build_model,
    draw_metrics,
)
from skuncertain._priors import check_prior, describe_prior
from skuncertain._results import InformativeResult, JointPosterior
from skuncertain._validation import (
    as_list,
    check_choice,
    check_integer,
    check_number,
    check_random_state,
    check_zero_division,
    import_optional,
    is_integer,
    nearest_name,
    shown,
)


class ConfusionCounts:
    r"""Confusion matrix, or a stack of them, that knows its labels.

    Parameters
    ----------
    counts : array-like of shape (..., C, C)
        Whole numbers, rows true, columns predicted, classes in the order of `labels`: what
        :func:`sklearn.metrics.confusion_matrix` returns. Leading axes stack matrices (folds,
        candidates, data sets).
    labels : sequence, default=None
        The C class labels; by default those of a pandas table, otherwise 0, ..., C - 1.
    pos_label : label, default=None
        The positive class. With two classes the default is 1 if 1 is a label, otherwise the last
        label. With more classes there is none unless it is given.

    Attributes
    ----------
    counts : ndarray of shape (..., C, C)
        The matrix, read-only.
    labels : tuple
        The labels.
    pos_label : label or None
        The positive class.

    See Also
    --------
    credible_interval : Interval of a metric from predictions.
    confidence_interval : Frequentist and bootstrap intervals.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    >>> counts
    ConfusionCounts(n=34, pos_label=1: 26 real positives, 28 predicted positives)
     true \ predicted    0    1
                    0    6    2
                    1    0   26
    >>> counts.score("recall")
    1.0
    >>> counts.posterior("recall").interval()
    Interval(low=0.925..., high=1.0)

    Predictions that do not fit into memory are counted in chunks, and counts add up:

    >>> labels = ["cat", "dog"]
    >>> chunks = [(["cat", "dog"], ["cat", "cat"]), (["dog"], ["dog"])]
    >>> sum(ConfusionCounts.from_predictions(t, p, labels=labels) for t, p in chunks).n
    3
    """

    counts: np.ndarray
    labels: tuple
    pos_label: Any

    def __init__(self, counts: ArrayLike, *, labels: Any = None, pos_label: Any = None) -> None:
        if hasattr(counts, "index") and hasattr(counts, "columns"):  # a pandas table of counts
            labels = frame_labels(counts) if labels is None else labels
        self._set(check_counts(counts), labels, pos_label)

    def _set(self, counts, labels, pos_label):
        n_classes = counts.shape[-1]
        labels = tuple(range(n_classes)) if labels is None else as_labels(labels)
        if len(labels) != n_classes:
            raise ValueError(
                f"labels must name the {n_classes} classes of the matrix, got {len(labels)} labels."
            )
        counts = np.array(counts)
        counts.flags.writeable = False
        vars(self).update(
            counts=counts, labels=labels, pos_label=check_pos_label(labels, pos_label)
        )
        return self

    def __setattr__(self, name, value):
        raise AttributeError(f"ConfusionCounts cannot be changed: make new ones to set {name!r}.")

    def __reduce__(self):
        return self._make, (self.counts, self.labels, self.pos_label)

    @classmethod
    def _make(cls, counts, labels, pos_label):
        """Counts that are known to be right, also fractional ones."""
        return cls.__new__(cls)._set(counts, labels, pos_label)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: Any = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "ConfusionCounts":
        """Count true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels: integers, booleans or strings; lists, numpy or pandas.
        labels : sequence, default=None
            All classes, in order. By default those that occur, sorted. Give it when a chunk or fold
            may lack a class; labels outside it are refused.
        pos_label : label, default=None
            The positive class, see :class:`ConfusionCounts`.
        sample_weight : array-like of shape (n,), default=None
            Weights. The weighted shares of the cells are multiplied with Kish's effective sample
            size (sum w)**2 / sum w**2, so the counts are fractional.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        y_true, y_pred = check_targets(y_true, y_pred)
        found = None if sample_weight is not None else count_pairs(y_true, y_pred)
        if labels is None:
            labels = sorted_labels(y_true, y_pred) if found is None else found[0]
            if len(labels) == 1:
                labels = complete_single_label(labels)
        labels = as_labels(labels)
        if found is not None and set(found[0]) <= set(labels):
            counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
            index = [labels.index(label) for label in found[0]]
            counts[np.ix_(index, index)] = found[1]
            return cls._make(counts, labels, pos_label)
        cell = encode(y_true, labels, "y_true") * len(labels) + encode(y_pred, labels, "y_pred")
        size = len(labels) ** 2
        if sample_weight is None:
            counts = np.bincount(cell, minlength=size)
        else:
            weight = check_weights(sample_weight, cell.size)
            effective = weight.sum() ** 2 / np.square(weight).sum()
            share = np.bincount(cell, weights=weight, minlength=size) / weight.sum()
            counts = share * effective
        return cls._make(counts.reshape(len(labels), -1), labels, pos_label)

    @classmethod
    def from_binary(
        cls,
        *,
        tp: ArrayLike,
        fn: ArrayLike,
        fp: ArrayLike,
        tn: ArrayLike,
        labels: Any = (0, 1),
        pos_label: Any = None,
    ) -> "ConfusionCounts":
        """Counts of a published two-by-two table.

        Parameters
        ----------
        tp, fn, fp, tn : int or array-like of int
            True positives, false negatives, false positives, true negatives. Arrays give a stack.
        labels : sequence of 2 labels, default=(0, 1)
            Labels of the two classes.
        pos_label : label, default=None
            Which of them is the positive class, see :class:`ConfusionCounts`.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        labels = as_labels(labels)
        if len(labels) != 2:
            raise ValueError(f"labels must hold two labels, got {len(labels)}.")
        pos_label = check_pos_label(labels, pos_label)
        given = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
        cells = {name: check_whole(name, cell) for name, cell in given.items()}
        try:
            rows = two_by_two(*np.broadcast_arrays(*cells.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {cell.shape}" for name, cell in cells.items())
            raise ValueError(f"the cells must have shapes that fit, got {shapes}.") from None
        if labels.index(pos_label) == 0:
            rows = rows[..., ::-1, ::-1]
        return cls(rows, labels=labels, pos_label=pos_label)

    # ----------------------------------------------------------------------------------------------
    # What it is

    @property
    def n_classes(self) -> int:
        """Number of classes C."""
        return self.counts.shape[-1]

    @property
    def shape(self) -> tuple:
        """Shape of the stack, ``()`` for one matrix."""
        return self.counts.shape[:-2]

    @property
    def n(self) -> Any:
        """Number of rows counted, per matrix."""
        total = self.counts.sum(axis=(-2, -1))
        return total.item() if total.ndim == 0 else total

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single confusion matrix has no length; its counts are in .counts")
        return self.shape[0]

    def __getitem__(self, index: Any) -> "ConfusionCounts":
        if not self.shape:
            raise IndexError("a single confusion matrix cannot be indexed; use .counts")
        # Only the stack axes are indexed; cells are in .counts
        which = np.arange(int(np.prod(self.shape))).reshape(self.shape)[index]
        part = self.counts.reshape(-1, *self.counts.shape[-2:])[which]
        return self._make(part, self.labels, self.pos_label)

    def __iter__(self) -> "Iterator[ConfusionCounts]":
        return (self[k] for k in range(len(self)))

    def __add__(self, other: Any) -> "ConfusionCounts":
        if isinstance(other, numbers.Integral) and other == 0:  # so that sum(...) works
            return self
        if not isinstance(other, ConfusionCounts):
            return NotImplemented
        self._check_same_labels(other)
        return self._make(self.counts + other.counts, self.labels, self.pos_label)

    __radd__ = __add__

    def __eq__(self, other):
        if not isinstance(other, ConfusionCounts):
            return NotImplemented
        return (
            self.labels == other.labels
            and self.pos_label == other.pos_label
            and np.array_equal(self.counts, other.counts)
        )

    def __hash__(self):
        return hash((self.labels, self.counts.shape, self.counts.astype(float).tobytes()))

    def _check_same_labels(self, other):
        if self.labels != other.labels or self.pos_label != other.pos_label:
            raise ValueError(
                "counts can be added only if labels and pos_label agree: "
                f"{list(self.labels)} (pos_label={self.pos_label!r}) and "
                f"{list(other.labels)} (pos_label={other.pos_label!r}). Pass the same labels= when "
                "counting."
            )

    def sum(self, axis: int | tuple[int, ...] | None = None) -> "ConfusionCounts":
        """Add the matrices of a stack.

        Parameters
        ----------
        axis : int or tuple of int, default=None
            Stack axes to sum over; by default all.

        Returns
        -------
        ConfusionCounts
            The sums.
        """
        depth = len(self.shape)
        wanted = range(depth) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        if not all(map(is_integer, wanted)):
            raise TypeError(f"axis must be an integer or a tuple of them, got {shown(axis)}.")
        axes = tuple(k + depth if k < 0 else k for k in wanted)
        if any(not 0 <= k < depth for k in axes) or len(set(axes)) < len(axes):
            raise ValueError(f"axis must be a stack axis in 0..{depth - 1}, got {shown(axis)}.")
        return self._make(self.counts.sum(axis=axes), self.labels, self.pos_label)

    def one_vs_rest(self, pos_label: Any) -> "ConfusionCounts":
        """Two-by-two counts of one class against all others.

        Parameters
        ----------
        pos_label : label
            The class that is to be positive.

        Returns
        -------
        ConfusionCounts
            Counts with the labels ``("rest", pos_label)``.
        """
        index = self._index(pos_label)
        rows = two_by_two(*collapse(self.counts, index))
        rest_label = "rest" if self.labels[index] != "rest" else "others"
        return self._make(rows, (rest_label, self.labels[index]), self.labels[index])

    def __repr__(self):
        def show(number):  # all digits of a count; fractional ones come from weights
            return str(number) if self.counts.dtype.kind in "iu" else f"{number:g}"

        head = (
            f"shape={self.shape}, classes={self.n_classes}" if self.shape else f"n={show(self.n)}"
        )
        if self.pos_label is not None:
            head += f", pos_label={self.pos_label!r}"
            if not self.shape:
                k = self._index(self.pos_label)
                real, said = show(self.counts[k].sum()), show(self.counts[:, k].sum())
                head += f": {real} real positives, {said} predicted positives"
        text = f"ConfusionCounts({head})"
        if self.shape or self.n_classes > 10:
            return text
        names = [str(label) for label in self.labels]
        cells = [[show(value) for value in row] for row in self.counts]
        width = max(len(entry) for row in [names, *cells] for entry in row)
        corner = " true \\ predicted"
        left = max(len(corner), width)
        lines = [corner.rjust(left) + "".join(f"   {name:>{width}}" for name in names)]
        lines += [
            name.rjust(left) + "".join(f"   {value:>{width}}" for value in row)
            for name, row in zip(names, cells, strict=True)
        ]
        return "\n".join([text, *lines])

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Keys ``counts``, ``labels``, ``pos_label``.
        """
        return {
            "counts": self.counts.tolist(),
            "labels": list(self.labels),
            "pos_label": self.pos_label,
        }

    def to_frame(self) -> Any:
        """Matrix as a pandas DataFrame, rows true, columns predicted.

        Returns
        -------
        pandas.DataFrame
            The matrix; only for a single one.
        """
        pandas = import_optional("pandas", "pandas", "ConfusionCounts.to_frame")
        if self.shape:
            raise ValueError("to_frame needs a single matrix: index the stack first.")
        rows = pandas.Index(self.labels, name="true")
        return pandas.DataFrame(
            self.counts, index=rows, columns=pandas.Index(self.labels, name="predicted")
        )

    def _index(self, label):
        try:
            return self.labels.index(plain_label(label, "pos_label"))
        except ValueError:
            hint = nearest_name(label, self.labels)
            raise ValueError(
                f"pos_label {shown(label)} is not one of the labels "
                f"{shown(list(self.labels))}.{hint}"
            ) from None

    # ----------------------------------------------------------------------------------------------
    # What it says

    def _positive(self, pos_label):
        label = self.pos_label if pos_label is None else pos_label
        return None if label is None else self._index(label)

    def positive_index(self, metric: Any, pos_label: Any = None) -> int | None:
        """Index of the positive class, or None for a metric that needs none.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        pos_label : label, default=None
            Positive class, by default that of the counts.

        Returns
        -------
        int or None
            The index.
        """
        metric, positive = get_metric(metric), self._positive(pos_label)
        if metric.average == "binary":
            return metric.positive_index(self.n_classes, positive)
        return positive

    def score(self, metric: Any, *, pos_label: Any = None, zero_division: float = np.nan) -> Any:
        """Value of a metric, as scikit-learn computes it.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        pos_label : label, default=None
            Positive class, by default that of the counts.
        zero_division : float, default=nan
            Value of 0/0.

        Returns
        -------
        float or ndarray
            The value of each matrix.
        """
        metric, zero_division = get_metric(metric), check_zero_division(zero_division)
        value = metric.evaluate(
            self.counts.astype(float),
            positive=self._positive(pos_label),
            zero_division=zero_division,
        )
        return warn_if_undefined(metric.name, value, zero_division)

    def posterior(
        self,
        metric: Any,
        *,
        prior: Any = "auto",
        model: str = "dirichlet",
        prevalence: Any = None,
        pos_label: Any = None,
        n_draws: int | None = None,
        random_state: Any = None,
    ) -> Posterior:
        """Posterior distribution of a metric.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        prior : str, float or array-like of shape (C, C), default="auto"
            "auto", "neutral" (1/3 per cell), "jeffreys" (1/2), "laplace" (1), "haldane" (0),
            "shared", "total-one", a number per cell, or pseudo-counts for all cells, rows true. In
            the models "three-beta" and "rows" a number stands on each side of each proportion.
        model : {"dirichlet", "three-beta", "rows"}, default="dirichlet"
            One Dirichlet over all cells; or a Dirichlet per true class and one for the class
            frequencies ("rows"), which with two classes is "three-beta".
        prevalence : float, BetaPosterior or array-like of shape (C,), default=None
            The same classifier in another population: prevalence of the positive class, or the
            class frequencies in the order of the labels. ``posterior.observed`` is still the score
            in these data, which may then lie outside the interval; ``median()`` is the estimate.
        pos_label : label, default=None
            Positive class, by default that of the counts.
        n_draws : int, default=None
            Number of draws where the posterior has no exact form; by default 20,000, fewer for more
            than 50 classes or stacks of more than 5,000 matrices (1,000 at least).
        random_state : int, Generator, RandomState or None, default=None
            Seed of the draws. It is recorded in ``posterior.seed``.

        Returns
        -------
        Posterior
            With ``mean median std pdf cdf quantile interval prob sample`` and ``exact``.
        """
        request = self._request(metric, prior, model, prevalence, pos_label, n_draws, random_state)
        return request.posterior()

    def _request(self, metric, prior, model, prevalence, pos_label, n_draws, random_state):
        metric = get_metric(metric)
        check_choice("model", model, MODELS)
        check_random_state(random_state)
        if n_draws is not None:
            check_integer("n_draws", n_draws, low=1)
        if model == "three-beta" and self.n_classes > 2:
            raise ValueError(
                f"model 'three-beta' is for two classes, got {self.n_classes}: use model='rows', "
                "or one_vs_rest(...)."
            )
        if metric.cost is not None and metric.cost.shape != self.counts.shape[-2:]:
            raise ValueError(
                f"cost must have the shape of the matrix, {self.counts.shape[-2:]}, "
                f"got {metric.cost.shape}."
            )
        return PosteriorRequest(
            self,
            metric,
            check_prior(prior, self.n_classes),
            model,
            prevalence,
            self._positive(pos_label),
            n_draws,
            random_state,
        )

    def joint_posterior(
        self,
        metrics: Any,
        *,
        n: int | None = None,
        prior: Any = "auto",
        model: str = "dirichlet",
        prevalence: Any = None,
        pos_label: Any = None,
        n_draws: int | None = None,
        random_state: Any = None,
    ) -> "JointPosterior":
        """Several metrics from the same draws, for questions about them together.

        Parameters
        ----------
        metrics : list of str, Metric or callable
            See :func:`get_metric`.
        n : int, default=None
            If given, draws are of another test set of `n` rows (predictive) instead of the true
            metrics.
        prior, model, prevalence, pos_label, n_draws, random_state : object
            As in :meth:`posterior`. "auto" is "neutral" for two classes and "shared" for more.

        Returns
        -------
        JointPosterior
            The draws, with marginals, correlations and probabilities of events.
        """
        metrics = [get_metric(metric) for metric in as_list("metrics", metrics)]
        if not metrics:
            raise ValueError("metrics must name at least one metric, got an empty list.")
        request = self._request(
            "accuracy", prior, model, prevalence, pos_label, n_draws, random_state
        )
        prior = request.prior
        if isinstance(prior, str) and prior == "auto":
            prior = "neutral" if self.n_classes == 2 else "shared"
        positive = self._positive(pos_label)
        if positive is None and any(metric.average == "binary" for metric in metrics):
            next(m for m in metrics if m.average == "binary").positive_index(self.n_classes, None)
        if n is not None:
            n = check_integer("n", n, low=1, high=2**53)
        last = self.n_classes - 1 if positive is None else positive
        joint = build_model(self.counts.astype(float), prior, model, prevalence, last)
        draws, seed = draw_metrics(joint, metrics, last, n_draws, random_state, n=n)
        draws.flags.writeable = False
        return JointPosterior(tuple(m.name for m in metrics), draws, seed, describe_prior(prior))

    def informative(
        self,
        *,
        rope: float = 0.0,
        prior: Any = "auto",
        model: str = "dirichlet",
        pos_label: Any = None,
    ) -> "InformativeResult":
        """Probability that the classifier is better than guessing, or even deceptive.

        Parameters
        ----------
        rope : float, default=0.0
            Half-width of the region around 0 in which informedness (recall + specificity - 1)
            counts as no information.
        prior, model, pos_label : object
            As in :meth:`posterior`.

        Returns
        -------
        InformativeResult
            Three probabilities that sum to 1.
        """
        rope = check_number("rope", rope, low=0, high=1)
        posterior = self.posterior("informedness", prior=prior, model=model, pos_label=pos_label)
        below, above = posterior.cdf(-rope), 1 - np.asarray(posterior.cdf(rope))
        middle = np.maximum(1 - below - above, 0.0) if rope else np.zeros_like(above)
        values = (above, middle, below)
        return InformativeResult(
            *(v.item() if np.ndim(v) == 0 else v for v in map(np.asarray, values))
        )
