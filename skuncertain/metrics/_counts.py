"""`ConfusionCounts`: an immutable stack of confusion matrices with its labels."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._numerics.row_weights import RowWeights
from skuncertain._utils.typing import (
    LabelLike,
    LabelsLike,
    MetricLike,
    MetricsLike,
    PrevalenceLike,
    PriorLike,
    RandomStateLike,
)
from skuncertain._utils.validation import (
    check_integer,
    check_number,
    check_zero_division,
    import_optional,
    is_integer,
    refuse_if,
)
from skuncertain.metrics._count import HasRowWeights, check_counts, count_labels, fitting_counts
from skuncertain.metrics._formulas import collapse, score_of, two_by_two
from skuncertain.metrics._labels import (
    as_labels,
    check_pos_label,
    frame_labels,
    index_without,
    plain_label,
    refuse_nameless,
)
from skuncertain.metrics._model import build_model, draw_metrics
from skuncertain.metrics._posterior import (
    BetterThanChance,
    PosteriorOptions,
    PosteriorRequest,
    class_of,
    question_of,
)
from skuncertain.metrics._priors import cell_prior, check_prior, resolve_prior
from skuncertain.metrics._registry import canonical_name, count_metric, is_symmetric, named_metrics
from skuncertain.metrics._report_parts import HasMatrixReport
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import Posterior, plain
from skuncertain.posteriors._dirichlet import DirichletPosterior
from skuncertain.posteriors._joint import JointPosterior


class ConfusionCounts(HasRowWeights, HasMatrixReport):
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
        The positive class. By default the larger one of the labels 0 and 1, -1 and 1, 1 and 2,
        or False and True. Other labels have none unless it is given: metrics that depend on it
        are then refused.

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
    Interval(low=0.867..., high=1.0)

    Predictions that do not fit into memory are counted in chunks, and counts add up:

    >>> labels = ["cat", "dog"]
    >>> chunks = [(["cat", "dog"], ["cat", "cat"]), (["dog"], ["dog"])]
    >>> sum(ConfusionCounts.from_predictions(t, p, labels=labels) for t, p in chunks).n
    3
    """

    counts: np.ndarray
    labels: tuple
    pos_label: LabelLike
    _positive: int | None
    _weights: RowWeights | None

    def __init__(
        self, counts: ArrayLike, *, labels: LabelsLike | None = None, pos_label: LabelLike = None
    ) -> None:
        if hasattr(counts, "index") and hasattr(counts, "columns"):  # a pandas table of counts
            labels = frame_labels(counts) if labels is None else labels
        self._set(check_counts(counts), labels, pos_label)

    def _set(self, counts, labels, pos_label, *columns):
        weights = counts if isinstance(counts, RowWeights) else None
        counts = counts if weights is None else weights.counts
        n_classes = counts.shape[-1]
        labels = tuple(range(n_classes)) if labels is None else as_labels(labels)
        refuse_if(
            len(labels) != n_classes,
            "labels",
            f"labels must name the {n_classes} classes of the matrix, got {len(labels)} labels.",
        )
        counts = np.array(counts)
        counts.flags.writeable = False
        pos_label = check_pos_label(labels, pos_label, *columns)
        positive = None if pos_label is None else labels.index(pos_label)
        vars(self).update(counts=counts, labels=labels, pos_label=pos_label)
        vars(self).update(_positive=positive, _weights=weights)
        return self

    def __setattr__(self, name, value):
        raise AttributeError(f"ConfusionCounts cannot be changed: make new ones to set {name!r}.")

    def __reduce__(self):
        return self._make, (self._cells, self.labels, self.pos_label)

    @classmethod
    def _make(cls, counts, labels, pos_label):
        """Counts that are known to be right, also fractional ones, or the weights of rows."""
        return cls.__new__(cls)._set(counts, labels, pos_label)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: LabelsLike | None = None,
        pos_label: LabelLike = None,
        sample_weight: ArrayLike | None = None,
    ) -> ConfusionCounts:
        """Count true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels: integers, booleans or strings; lists, numpy or pandas.
        labels : sequence, default=None
            All classes, in order. By default those that occur, sorted. Give it when a chunk or fold
            may lack a class; labels outside it are refused.
        pos_label : label, default=None
            The positive class, see :class:`ConfusionCounts`. Of two classes of an ordered
            categorical (pandas, or an Enum of polars) the later one is the default.
        sample_weight : array-like of shape (n,), default=None
            Importance of the rows, not their frequencies: a row of weight 3 is one row. `counts`
            are then the weighted shares times Kish's effective size (sum w)**2 / sum w**2, and
            fractional. A posterior rests on the size of its own metric, see `effective_rows`.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        counts, labels = count_labels(y_true, y_pred, labels, sample_weight)
        return cls.__new__(cls)._set(counts, labels, pos_label, y_true, y_pred)

    @classmethod
    def from_binary(
        cls,
        *,
        tp: ArrayLike,
        fn: ArrayLike,
        fp: ArrayLike,
        tn: ArrayLike,
        labels: LabelsLike = (0, 1),
        pos_label: LabelLike = None,
    ) -> ConfusionCounts:
        """Counts of a published two-by-two table.

        Parameters
        ----------
        tp, fn, fp, tn : int or array-like of int
            True positives, false negatives, false positives, true negatives. Arrays give a stack.
        labels : sequence of 2 labels, default=(0, 1)
            Labels of the two classes.
        pos_label : label, default=None
            Which of them is the positive class, see :class:`ConfusionCounts`; with names it must
            be given.

        Returns
        -------
        ConfusionCounts
            The counts.
        """
        names = as_labels(labels)
        refuse_if(len(names) != 2, "labels", f"labels must hold two labels, got {len(names)}.")
        pos_label = check_pos_label(names, pos_label)
        if pos_label is None:
            refuse_nameless("the table", names)
        rows = two_by_two(*fitting_counts("the cells", tp=tp, fn=fn, fp=fp, tn=tn))
        if names.index(pos_label) == 0:
            rows = rows[..., ::-1, ::-1]
        return cls(rows, labels=names, pos_label=pos_label)

    # ----------------------------------------------------------------------------------------------
    # Attributes

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
        return plain(self.counts.sum(axis=(-2, -1)))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single confusion matrix has no length; its counts are in .counts")
        return self.shape[0]

    def __getitem__(self, index: Any) -> ConfusionCounts:
        if not self.shape:
            raise IndexError("a single confusion matrix cannot be indexed; use .counts")
        # Only the stack axes are indexed; cells are in .counts
        which = np.arange(int(np.prod(self.shape))).reshape(self.shape)[index]
        return self._apply(lambda x: x.reshape(-1, *x.shape[-2:])[which])

    def __iter__(self) -> Iterator[ConfusionCounts]:
        return (self[k] for k in range(len(self)))

    def __add__(self, other: Any) -> ConfusionCounts:
        if isinstance(other, numbers.Integral) and other == 0:  # so that sum(...) works
            return self
        if not isinstance(other, ConfusionCounts):
            return NotImplemented
        if self.labels != other.labels or self.pos_label != other.pos_label:
            raise ValueError(
                "counts can be added only if labels and pos_label agree: "
                f"{list(self.labels)} (pos_label={self.pos_label!r}) and "
                f"{list(other.labels)} (pos_label={other.pos_label!r}). Pass the same labels= when "
                "counting."
            )
        if not (self.weighted or other.weighted):
            return self._make(self.counts + other.counts, self.labels, self.pos_label)
        return self._make(self._row_weights + other._row_weights, self.labels, self.pos_label)

    __radd__ = __add__

    def __eq__(self, other):
        if not isinstance(other, ConfusionCounts):
            return NotImplemented
        return (
            self.labels == other.labels
            and self.pos_label == other.pos_label
            and np.array_equal(self.counts, other.counts)
            and self._row_weights.same_spread(other._row_weights)
        )

    def __hash__(self):
        return hash((self.labels, self.counts.shape, self.counts.astype(float).tobytes()))

    def sum(self, axis: int | tuple[int, ...] | None = None) -> ConfusionCounts:
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
        refuse_if(
            not all(map(is_integer, wanted)),
            "axis",
            "axis must be an integer or a tuple of them, got {value}.",
            axis,
        )
        axes = tuple(k + depth if k < 0 else k for k in wanted)
        refuse_if(
            any(not 0 <= k < depth for k in axes) or len(set(axes)) < len(axes),
            "axis",
            f"axis must be a stack axis in 0..{depth - 1}, got {{value}}.",
            axis,
        )
        return self._apply(lambda x: x.sum(axis=axes))

    def one_vs_rest(self, pos_label: LabelLike) -> ConfusionCounts:
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
        rest_label = "rest" if self.labels[index] != "rest" else "others"
        labels = rest_label, self.labels[index]
        return self._apply(lambda x: two_by_two(*collapse(x, index)), labels, labels[1])

    def __repr__(self):
        def show(number):  # all digits of a count; fractional ones come from weights
            return str(number) if self.counts.dtype.kind in "iu" else f"{number:g}"

        head = (
            f"shape={self.shape}, classes={self.n_classes}" if self.shape else f"n={show(self.n)}"
        )
        if self.pos_label is not None:
            head += f", pos_label={self.pos_label!r}"
            if not self.shape:
                k = self._positive
                real, said = show(self.counts[k].sum()), show(self.counts[:, k].sum())
                head += f": {real} real positives, {said} predicted positives"
        if self.shape or self.n_classes > 10:
            return f"ConfusionCounts({head})"
        names = [str(label) for label in self.labels]
        cells = [[show(value) for value in row] for row in self.counts]
        width = max(len(entry) for row in [names, *cells] for entry in row)
        corner = " true \\ predicted"
        left = max(len(corner), width)
        lines = [
            name.rjust(left) + "".join(f"   {value:>{width}}" for value in row)
            for name, row in zip([corner, *names], [names, *cells], strict=True)
        ]
        return "\n".join([f"ConfusionCounts({head})", *lines])

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            Keys ``counts``, ``labels``, ``pos_label``; with weights also ``weights``, the sums
            ``total`` and ``squares`` (in units of ``2**exponent``) and the ``rows`` of every cell.
        """
        weights = {"weights": self._weights.to_dict()} if self._weights is not None else {}
        return {
            "counts": self.counts.tolist(),
            "labels": list(self.labels),
            "pos_label": self.pos_label,
            **weights,
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
        rows, columns = (pandas.Index(self.labels, name=name) for name in ("true", "predicted"))
        return pandas.DataFrame(self.counts, index=rows, columns=columns)

    def _index(self, label):
        """Index of a class that was named."""
        plain_label(label, "pos_label")  # None is not a name
        return self.labels.index(check_pos_label(self.labels, label))

    # ----------------------------------------------------------------------------------------------
    # Posteriors and intervals

    def positive_index(self, metric: MetricLike, pos_label: LabelLike = None) -> int | None:
        """Index of the positive class, or None if there is none and the metric needs none.

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
        label = self.pos_label if pos_label is None else check_pos_label(self.labels, pos_label)
        if label is not None:
            return self.labels.index(label)
        return index_without(count_metric(metric), self.labels)

    def score(
        self, metric: MetricLike, *, pos_label: LabelLike = None, zero_division: float = np.nan
    ) -> Any:
        """Value of a metric, as scikit-learn computes it.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        pos_label : label, default=None
            Positive class, by default that of the counts.
        zero_division : float, default=nan
            Value of 0/0. With NaN, macro and weighted averages leave such classes out.

        Returns
        -------
        float or ndarray
            The value of each matrix.
        """
        found, zero_division = count_metric(metric), check_zero_division(zero_division)
        positive = self.positive_index(found, pos_label)
        return score_of(found, self.counts.astype(float), positive, zero_division)

    def posterior(
        self,
        metric: MetricLike,
        *,
        prior: PriorLike = "auto",
        model: str = "dirichlet",
        prevalence: PrevalenceLike | None = None,
        pos_label: LabelLike = None,
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
    ) -> Posterior:
        """Posterior distribution of a metric.

        Parameters
        ----------
        metric : str, Metric or callable
            See :func:`get_metric`.
        prior : str, float or array-like of shape (C, C), default="auto"
            "neutral" (1/3 per cell), "jeffreys" (1/2), "laplace" (1), "haldane" (0), "shared",
            "total_one", a number per cell, or pseudo-counts for all cells, rows true. "auto" is 1/2
            on each side of a proportion, with calibrated ends (see :meth:`Posterior.interval`);
            for other metrics "neutral" with two classes, "shared" with more. A BetaPosterior is a
            prior of the metric itself, if that is a proportion. In the models "three_beta" and
            "rows" a number stands on each side of each proportion, and a dict gives each its own:
            ``{"prevalence": (2, 8), "recall": 1}``, "specificity"; with more classes "prevalence"
            (C,) and "rows" (C, C). What it leaves out has 1/3.
        model : {"dirichlet", "three_beta", "rows"}, default="dirichlet"
            One Dirichlet over all cells; or a Dirichlet per true class and one for the class
            frequencies ("rows"), which with two classes is "three_beta".
        prevalence : float, BetaPosterior or array-like of shape (C,), default=None
            The same classifier in another population: prevalence of the positive class, or the
            class frequencies in the order of the labels. ``posterior.observed`` is then the value
            at the rates observed within each class; of a Beta, at its mean.
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
        found = count_metric(metric)
        options = PosteriorOptions(prior, model, prevalence, n_draws, random_state)
        options = options.checked(self.n_classes, one_metric=True)
        positive = self._positive_for(found, options, pos_label)
        return PosteriorRequest(self, found, positive, options).posterior()

    def _positive_for(self, metric, options, pos_label):
        """Index of the positive class of a question, whose prior or prevalence may need one."""
        about = options.about_positive()
        if about and self.n_classes == 2 and pos_label is None and self.pos_label is None:
            refuse_nameless(about, self.labels)
        return self.positive_index(metric, pos_label)

    def joint_posterior(
        self,
        metrics: MetricsLike,
        *,
        n: int | None = None,
        prior: PriorLike = "auto",
        model: str = "dirichlet",
        prevalence: PrevalenceLike | None = None,
        pos_label: LabelLike = None,
        n_draws: int | None = None,
        random_state: RandomStateLike = None,
    ) -> JointPosterior:
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
        found = [metric for _, metric in named_metrics(metrics)]
        options = PosteriorOptions(prior, model, prevalence, n_draws, random_state).checked(
            self.n_classes
        )
        binary = [metric for metric in found if metric.average == "binary"]
        of_one_class = next((m for m in binary if not is_symmetric(m)), (*binary, *found)[0])
        positive = self._positive_for(of_one_class, options, pos_label)
        positive = self.n_classes - 1 if positive is None else positive
        n = None if n is None else check_integer("n", n, low=1, high=2**53)
        resolved = resolve_prior(options.prior, self.n_classes, positive=positive)
        matrix = self._matrix_for(found, positive, options.prevalence)
        joint = build_model(matrix, resolved, options, positive)
        draws, seed = draw_metrics(joint, found, positive, options, n=n)
        draws.flags.writeable = False
        names = tuple(metric.name for metric in found)
        label = class_of(of_one_class, self.labels, positive)
        question = question_of(of_one_class, options, label, n) | {"metric": None}
        about = About(prior=resolved.text, **question)
        return JointPosterior(names, draws, seed, resolved.text, canonical_name, about)

    def dirichlet_posterior(self, *, prior: PriorLike = "auto") -> DirichletPosterior:
        """Posterior of the probabilities of all cells together.

        Parameters
        ----------
        prior : str, float or array-like of shape (C, C), default="auto"
            As in :meth:`posterior`. "auto" is "neutral" for two classes and "shared" for more.

        Returns
        -------
        DirichletPosterior
            With ``alpha``, density, moments, draws of whole matrices, and ``predictive``.
        """
        resolved = resolve_prior(check_prior(prior, self.n_classes), self.n_classes)
        matrix = self.counts.astype(float)
        return DirichletPosterior(
            matrix + cell_prior(resolved.value, matrix), n=self.n, prior=resolved.text
        )

    def better_than_chance(
        self,
        *,
        rope: float = 0.0,
        prior: PriorLike = "auto",
        model: str = "dirichlet",
        pos_label: LabelLike = None,
    ) -> BetterThanChance:
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
        BetterThanChance
            Three probabilities that sum to 1.
        """
        rope = check_number("rope", rope, low=0, high=1, percent=0)
        posterior = self.posterior("informedness", prior=prior, model=model, pos_label=pos_label)
        below, above = posterior.cdf(-rope), 1 - np.asarray(posterior.cdf(rope))
        middle = np.maximum(1 - below - above, 0.0) if rope else np.zeros_like(above)
        return BetterThanChance(plain(above), plain(middle), plain(below))
