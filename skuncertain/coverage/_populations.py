"""Populations whose true metric is known: what a coverage study draws its samples from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skuncertain._utils.validation import as_array, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import proportion_masks, proportion_odds, two_by_two
from skuncertain.model_selection._splits import Splits


@dataclass(frozen=True, eq=False)
class Sample:
    """Samples of one point of a study.

    Attributes
    ----------
    counts : ConfusionCounts
        One matrix per sample, or one per sample and fold.
    rows : tuple or None
        Codes of true and predicted labels, each (samples, n), where the order of rows matters.
    truth : ndarray or None
        True value for every sample, where it differs between them.
    splits : Splits or None
        The splits behind the folds.
    failures : tuple of str
        Why samples could not be drawn, one reason each; they are not among the counts.
    """

    counts: ConfusionCounts
    rows: tuple | None = None
    truth: np.ndarray | None = None
    splits: Splits | None = None
    failures: tuple = ()


class Population:
    """What all populations share; not constructed by users."""

    _layout = "counts"  # what a sample is: "counts", "folds" or "rows"
    _chunk = 250  # samples per task: fixed, so that results do not depend on the number of workers
    _default_metric = "accuracy"
    labels: tuple = (0, 1)
    _varied: dict

    @property
    def shape(self) -> tuple:
        """Shape of the grid of points."""
        return next(iter(self._varied.values())).shape if self._varied else ()

    def _coordinates(self):
        """Name and value, on the grid, of everything that tells the points apart."""
        return self._varied

    def _matrices(self, metric, positive):
        """Probabilities of the cells at every point, or None if they are not known."""

    def _check_size(self, n):
        """Refuse a number of rows that cannot be drawn."""

    def _draw(self, point, n, size, seed, metric, positive):
        """Draw samples of n independent rows; `point` is an index into the flattened grid."""
        matrices = self._matrices(metric, positive)
        one = matrices.reshape(-1, *matrices.shape[-2:])[point]
        rng = np.random.default_rng(sequence(seed))
        cells = rng.multinomial(n, one.ravel() / one.sum(), size=size)
        return Sample(ConfusionCounts(cells.reshape(size, *one.shape), labels=self.labels))


def sequence(seed):
    """Seed sequence of a task; made anew every time, because spawning changes it."""
    return np.random.SeedSequence(seed[0], spawn_key=seed[1:])


def check_numbers(parameter, value, *, low, high, closed=True):
    """Return an array of numbers in a range."""
    brackets = "[]" if closed else "()"
    rule = f"{parameter} must be in {brackets[0]}{low:g}, {high:g}{brackets[1]}"
    array = as_array(parameter, value)
    refuse_if(
        array.dtype.kind not in "iuf" or array.size == 0,
        parameter,
        f"{rule}, got {{value}}.",
        value=value,
    )
    array = array.astype(float)
    outside = ~((low <= array) & (array <= high)) if closed else ~((low < array) & (array < high))
    if outside.any():
        raise InvalidParameterError(
            f"{rule}, got {array[outside].ravel()[0]:g}.", parameter=parameter
        )
    array.flags.writeable = False
    return array


def _varied(given):
    """Broadcast parameters to one grid; keep those that vary."""
    grids = zip(given.items(), np.broadcast_arrays(*given.values()), strict=True)
    return {name: grid for (name, value), grid in grids if value.size > 1}


def _show(array):
    return f"{array:g}" if array.ndim == 0 else f"<{' x '.join(map(str, array.shape))} values>"


class BinomialPopulation(Population):
    """A proportion of known value: of n rows, a binomial number are successes.

    Parameters
    ----------
    p : float or array-like
        True value, or a grid of them, in [0, 1].

    See Also
    --------
    coverage_study : Uses it.
    MultinomialPopulation : Any metric of a confusion matrix.

    Notes
    -----
    The metric of the study may be any proportion. By default it is recall, in which one cell holds
    the successes and one the failures, so that a prior such as "laplace" counts once on each side;
    accuracy has two cells on each side and gets twice the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from skuncertain.coverage import BinomialPopulation, coverage_study
    >>> population = BinomialPopulation(np.arange(1, 100) / 100)
    >>> coverage_study(["jeffreys", "clopper_pearson"], population, n=100)
    CoverageStudy(recall, level=0.95, 2 methods x 99 points, exact: jeffreys 0.950 (min 0.921),
    clopper_pearson 0.965 (min 0.954))
    """

    _default_metric = "recall"

    def __init__(self, p: ArrayLike) -> None:
        self.p = check_numbers("p", p, low=0, high=1)
        self._varied = {"p": self.p}

    def __repr__(self):
        return f"BinomialPopulation(p={_show(self.p)})"

    def _matrices(self, metric, positive):
        refuse_if(
            proportion_odds(metric) != 1,
            "metric",
            f"BinomialPopulation needs a metric that is a proportion, such as 'recall' or "
            f"'accuracy'; got {metric.name!r}. Use MultinomialPopulation.",
        )
        matrix, shares = np.zeros((*self.p.shape, 2, 2)), (self.p, 1 - self.p)
        for mask, share in zip(proportion_masks(metric, 2, 1), shares, strict=True):
            matrix[(..., *np.argwhere(mask)[-1])] = share
        return matrix if positive != 0 else matrix[..., ::-1, ::-1]


class MultinomialPopulation(Population):
    """Independent rows that fall into the cells of a confusion matrix with known probabilities.

    Parameters
    ----------
    matrix : array-like of shape (..., C, C)
        Probabilities, rows true, columns predicted, summing to 1. Leading axes are a grid of
        points; a matrix of NaN marks a point that cannot be, its coverage is NaN.

    See Also
    --------
    coverage_study : Uses it.
    BinomialPopulation : A single proportion.

    Examples
    --------
    >>> from skuncertain.coverage import MultinomialPopulation, coverage_study
    >>> population = MultinomialPopulation([[0.60, 0.05], [0.10, 0.25]])
    >>> coverage_study(["neutral", "laplace"], population, metric="f1", n=60)
    CoverageStudy(f1, level=0.95, 2 methods x 1 point, exact: neutral 0.949, laplace 0.950)
    """

    def __init__(self, matrix: ArrayLike) -> None:
        array = as_array("matrix", matrix)
        refuse_if(
            array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2,
            "matrix",
            f"matrix must have shape (..., C, C), rows true, got shape {array.shape}.",
        )
        refuse_if(
            array.dtype.kind not in "iuf",
            "matrix",
            f"matrix must hold probabilities, got {array.dtype}.",
        )
        array = array.astype(float)
        total = array.sum(axis=(-2, -1))
        void = np.isnan(array).all(axis=(-2, -1))
        if not np.all(void | (np.abs(total - 1) < 1e-9)) or np.any(array < 0):
            worst = total[~void & (np.abs(total - 1) >= 1e-9)]
            got = f"a sum of {worst[0]:g}" if worst.size else "a negative or missing one"
            raise InvalidParameterError(
                f"matrix must hold probabilities that sum to 1 (or only NaN), got {got}. "
                "Divide counts by their sum.",
                parameter="matrix",
            )
        array.flags.writeable = False
        self.matrix = array
        self.labels = tuple(range(array.shape[-1]))
        self._shape = array.shape[:-2]
        self._varied = {}

    @classmethod
    def from_rates(
        cls, *, precision: ArrayLike, recall: ArrayLike, prevalence: ArrayLike = 0.5
    ) -> MultinomialPopulation:
        """Two classes with given precision, recall and prevalence.

        Parameters
        ----------
        precision, recall, prevalence : float or array-like
            True values in (0, 1], (0, 1] and (0, 1); arrays are broadcast to a grid.

        Returns
        -------
        MultinomialPopulation
            A pair that would need more negatives than there are is a point of NaN:
            prevalence * recall * (1 - precision) / precision is the rate of false positives and
            must not exceed 1 - prevalence.
        """
        given = {
            "precision": check_numbers("precision", precision, low=0, high=1),
            "recall": check_numbers("recall", recall, low=0, high=1),
            "prevalence": check_numbers("prevalence", prevalence, low=0, high=1, closed=False),
        }
        for name in ("precision", "recall"):
            refuse_if(
                np.any(given[name] == 0),
                name,
                f"{name} must be above 0: with 0 there is no true positive.",
            )
        p, r, share = np.broadcast_arrays(*given.values())
        tp, fn, fp = share * r, share * (1 - r), share * r * (1 - p) / p
        tn = 1 - share - fp
        tn = np.where(np.abs(tn) < 1e-12, 0.0, tn)
        population = cls(np.where((tn < 0)[..., None, None], np.nan, two_by_two(tp, fn, fp, tn)))
        population._varied = _varied(given)
        return population

    @property
    def shape(self) -> tuple:
        """Shape of the grid of points."""
        return self._shape

    def _coordinates(self):
        if self._varied or not self._shape:
            return self._varied
        return {"point": np.arange(int(np.prod(self._shape))).reshape(self._shape)}

    def __repr__(self):
        size = self.matrix.shape[-1]
        points = " x ".join(map(str, self._shape)) + " points, " if self._shape else ""
        return f"MultinomialPopulation({points}{size} classes)"

    def _matrices(self, metric, positive):
        return self.matrix


class MarkovPopulation(Population):
    """Rows in an order, each depending on the one before: frames, pixels, days.

    Parameters
    ----------
    recall, specificity : float or array-like
        True rates of hits among positive and negative rows.
    prevalence : float or array-like, default=0.5
        True share of positive rows.
    label_correlation, hit_correlation : float or array-like, default=0
        Correlation of neighbouring labels, and of neighbouring hits (exactly so if recall equals
        specificity), in [0, 1). Rows k apart have the k-th power of it.

    See Also
    --------
    coverage_study : Uses it. A method ``{"thin": 10}`` looks at every tenth row only;
        ``{"block": 25}`` takes 25 consecutive rows for one group.

    Notes
    -----
    Two chains. A label repeats the one before it with probability `label_correlation`, otherwise it
    is drawn anew; with a prevalence of 1/2 a label then equals its predecessor with probability
    (1 + label_correlation) / 2. A prediction is right where a uniform number is below the rate of
    its class; that number, too, repeats with probability `hit_correlation`. A prediction therefore
    depends on its own label and on the prediction before it, while every single row has the cell
    probabilities of independent rows, so that all true metrics are known.

    Examples
    --------
    >>> from skuncertain.coverage import MarkovPopulation, coverage_study
    >>> population = MarkovPopulation(recall=0.8, specificity=0.8, hit_correlation=0.8)
    >>> study = coverage_study(["wilson"], population, n=500, n_replications=2000, random_state=0)
    >>> bool(study.coverage[0] < 0.6)  # of 95 % intervals for independent rows
    True
    """

    _layout = "rows"

    def __init__(
        self,
        *,
        recall: ArrayLike,
        specificity: ArrayLike,
        prevalence: ArrayLike = 0.5,
        label_correlation: ArrayLike = 0.0,
        hit_correlation: ArrayLike = 0.0,
    ) -> None:
        given = {
            "recall": check_numbers("recall", recall, low=0, high=1),
            "specificity": check_numbers("specificity", specificity, low=0, high=1),
            "prevalence": check_numbers("prevalence", prevalence, low=0, high=1, closed=False),
            "label_correlation": check_numbers(
                "label_correlation", label_correlation, low=0, high=1
            ),
            "hit_correlation": check_numbers("hit_correlation", hit_correlation, low=0, high=1),
        }
        for name in ("label_correlation", "hit_correlation"):
            refuse_if(
                np.any(given[name] == 1),
                name,
                f"{name} must be below 1: with 1 all rows are one row.",
            )
        self.recall, self.specificity, self.prevalence = list(given.values())[:3]
        self.label_correlation, self.hit_correlation = list(given.values())[3:]
        self._grids = np.broadcast_arrays(*given.values())
        self._varied = _varied(given)

    def __repr__(self):
        names = ("recall", "specificity", "prevalence", "label_correlation", "hit_correlation")
        return f"MarkovPopulation({', '.join(f'{n}={_show(getattr(self, n))}' for n in names)})"

    def _matrices(self, metric, positive):
        recall, specificity, share = self._grids[:3]
        return two_by_two(
            share * recall,
            share * (1 - recall),
            (1 - share) * (1 - specificity),
            (1 - share) * specificity,
        )

    def _draw(self, point, n, size, seed, metric, positive):
        recall, specificity, share, of_labels, of_hits = (g.ravel()[point] for g in self._grids)
        rng = np.random.default_rng(sequence(seed))
        y_true = _repeating(rng, size, n, of_labels) < share
        hit = _repeating(rng, size, n, of_hits) < np.where(y_true, recall, specificity)
        y_true, y_pred = y_true.astype(np.int8), (y_true == hit).astype(np.int8)
        return Sample(count_rows(y_true, y_pred), (y_true, y_pred))


def _repeating(rng, size, n, correlation):
    """Sequences of uniform numbers, each of which repeats its predecessor now and then."""
    fresh = rng.random((size, n)) >= correlation
    fresh[:, 0] = True
    last = np.maximum.accumulate(np.where(fresh, np.arange(n), 0), axis=1)
    return np.take_along_axis(rng.random((size, n)), last, axis=1)


def count_rows(y_true, y_pred):
    """Counts of two classes, coded 0 and 1, along the last axis."""
    tp, positive, predicted = (
        np.count_nonzero(part, axis=-1) for part in (y_true & y_pred, y_true, y_pred)
    )
    fn, fp = positive - tp, predicted - tp
    return ConfusionCounts(two_by_two(tp, fn, fp, y_true.shape[-1] - tp - fn - fp))


def describe_grid(population: Any, sizes: np.ndarray) -> dict:
    """Coordinates of all points: the population's, and the number of rows as the last axis."""
    shape = (*population.shape, *sizes.shape)
    tail = (1,) * sizes.ndim
    found = {
        name: np.broadcast_to(np.reshape(value, (*value.shape, *tail)), shape).copy()
        for name, value in population._coordinates().items()
    }
    return found | {"n": np.broadcast_to(sizes, shape).copy()}
