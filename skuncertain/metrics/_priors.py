"""Priors: a name, a number or an array becomes pseudo-counts for every cell.

What "auto" means is decided here, in `resolve_prior`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skuncertain._utils.validation import (
    as_array,
    as_numbers,
    check_number,
    is_real,
    nearest_name,
    quoted,
    refuse_if,
)
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._formulas import proportion_odds
from skuncertain.metrics._names import split_name
from skuncertain.posteriors._beta import HALF, BetaPosterior

PER_CELL = {"haldane": 0.0, "neutral": 1 / 3, "jeffreys": 0.5, "laplace": 1.0}
LARGEST = 1e12  # beyond, sums with the counts lose them
_OF_A_RATE = 1 / 3  # pseudo-rows on each side of a rate that is not named: the neutral prior
NAMES = ("auto", *PER_CELL, "shared", "total_one")

# Proportions of one true class, whatever is assumed of the others.
_WITHIN_A_ROW = ("recall", "fnr", "specificity", "fpr")


class ResolvedPrior(NamedTuple):
    """A prior of which nothing is left to decide.

    Attributes
    ----------
    value : str, float, ndarray of shape (C, C) or tuple of two
        What `cell_prior` takes; with `own_proportion` the pseudo-count on each side, or on both.
    text : str
        For reprs and reports.
    own_proportion : bool
        Whether it stands on each side of the metric's own proportion instead of on the cells.
    frequencies : ndarray of shape (C,) or None
        Pseudo-rows of the classes, where they have a prior of their own.
    """

    value: str | float | np.ndarray | tuple
    text: str
    own_proportion: bool = False
    frequencies: np.ndarray | None = None

    @property
    def per_cell(self) -> float | None:
        """The number that stands on every cell, None if they differ."""
        value = PER_CELL.get(self.value) if isinstance(self.value, str) else self.value
        return value if isinstance(value, float) else None


_NEUTRAL = ResolvedPrior("neutral", "default (1/3 of a row per cell)")
_SHARED = ResolvedPrior("shared", "default (one pseudo-row per class)")
OWN = ResolvedPrior(HALF, "default (half a success and half a failure; calibrated ends)", True)
_TITLES = {
    _NEUTRAL.text: "neutral prior",
    _SHARED.text: "shared prior",
    OWN.text: "Jeffreys prior with calibrated ends",
    "jeffreys": "Jeffreys prior",
    "laplace": "Laplace prior",
    "haldane": "Haldane prior",
    "array": "prior of given pseudo-counts",
}


def resolve_prior(prior, n_classes, metric=None, by_row=False, positive=1):
    """Replace "auto" by what it means, and say so in words.

    `prior` is what `check_prior` returns. For a proportion "auto" is half a row on each of its own
    two sides, in tables of any size; with `by_row` (a model of the rows, or another prevalence)
    only a rate within one true class is such a proportion. Otherwise, and without a metric, "auto"
    is neutral for two classes, or for one class among many, and shared for more.
    """
    if isinstance(prior, ResolvedPrior):
        return prior
    if isinstance(prior, BetaPosterior):
        shapes = float(prior.a), float(prior.b)
        return ResolvedPrior(shapes, "Beta({:g}, {:g}) on the metric".format(*shapes), True)
    if isinstance(prior, RatePrior):
        cells, classes = prior.pseudo_rows(positive)
        return ResolvedPrior(cells, prior.text, frequencies=classes)
    if not (isinstance(prior, str) and prior == "auto"):
        return ResolvedPrior(prior, describe_prior(prior))
    one_class = metric is not None and metric.average == "binary"
    if metric is not None and proportion_odds(metric) is not None:
        rates = _WITHIN_A_ROW if n_classes == 2 else _WITHIN_A_ROW[:2]
        if not by_row or metric.name in rates:
            return OWN
    return _NEUTRAL if one_class or n_classes == 2 else _SHARED


def resolve_number(prior, default):
    """Replace "auto" by the number that it stands for where a prior is one number."""
    return default if isinstance(prior, str) and prior == "auto" else prior


def check_prior(prior, n_classes, *, proportion=False, rates=False):
    """Return a name, a float or a (C, C) array; anything else is refused with the reason.

    `proportion` and `rates` say whether a BetaPosterior of the metric and a dict of priors of the
    rates make sense, too; the dict becomes a `RatePrior`.
    """
    if isinstance(prior, BetaPosterior):
        refuse_if(
            not proportion or prior.shape != (),
            "prior",
            "a BetaPosterior is a prior of one proportion: it needs a single Beta, one metric, "
            "model='dirichlet' and no prevalence; got {value}.",
            prior,
        )
        return prior
    if isinstance(prior, Mapping):
        refuse_if(
            not rates,
            "prior",
            "a dict is a prior of the rates of model='three_beta' or 'rows', got {value}.",
            prior,
        )
        return RatePrior.of(prior, n_classes)
    if isinstance(prior, str):
        if prior not in NAMES:
            raise InvalidParameterError(
                f"prior must be one of {', '.join(map(repr, NAMES))}, a number or an array of "
                f"shape (C, C), got {quoted(prior)}.{nearest_name(prior, NAMES)}",
                parameter="prior",
            )
        return prior
    if is_real(prior):
        # 1e12 is beyond the range of half floats.
        number = float(prior) if isinstance(prior, np.floating) else prior
        refuse_if(
            not 0 <= number <= LARGEST,
            "prior",
            "prior must be a finite number >= 0 (at most 1e12), got {value}.",
            prior,
        )
        return float(prior)
    array = as_array("prior", prior)
    refuse_if(
        array.dtype.kind not in "iuf" or array.ndim == 0,
        "prior",
        "prior must be a name, a number or an array of shape (C, C), got {value}.",
        prior,
    )
    array = array.astype(float)
    refuse_if(
        array.shape != (n_classes, n_classes),
        "prior",
        f"an array prior must have shape (C, C) = ({n_classes}, {n_classes}), rows true, "
        f"got shape {array.shape}. For one number per cell pass the number.",
    )
    refuse_if(
        not np.all((array >= 0) & (array <= LARGEST)),
        "prior",
        "an array prior must hold finite numbers >= 0 (at most 1e12).",
    )
    array.flags.writeable = False
    return array


def describe_prior(prior):
    """Short text for reprs and reports."""
    if isinstance(prior, str):
        return prior
    return f"{prior:g}" if isinstance(prior, float) else "array"


def scale_prior(factor, matrix):
    """The default prior of these matrices, so many times."""
    default = resolve_prior("auto", matrix.shape[-1])
    if factor == 1:
        return default
    pseudo = factor * cell_prior(default.value, matrix)
    return ResolvedPrior(pseudo, f"{factor:g} x {default.value}")


def prior_title(text):
    """Prior in prose: the title of what `resolve_prior` or `describe_prior` called `text`."""
    if text in _TITLES:
        return _TITLES[text]
    try:
        return f"prior of {float(text):g} per cell"
    except (TypeError, ValueError):
        return f"{text} prior"


def join_texts(texts):
    """Texts of the priors of several metrics of one matrix as one, each said once."""
    texts = [text for text in dict.fromkeys(texts) if text]
    parts = {
        OWN.text: "proportions: half a success and half a failure, calibrated ends",
        _NEUTRAL.text: "other metrics: 1/3 of a row per cell",
        _SHARED.text: "other metrics: one pseudo-row per class",
    }
    if _NEUTRAL.text in texts and _SHARED.text in texts:
        parts[_NEUTRAL.text] = "others of one class: 1/3 of a row per cell"
        parts[_SHARED.text] = "others of all classes: one pseudo-row per class"
    said = [part for text, part in parts.items() if text in texts]
    if len(texts) == 1 or len(said) < len(texts):
        return "; ".join(texts)
    return f"default ({'; '.join(said)})"


def cell_prior(prior, matrix):
    """Pseudo-counts for every cell of a stack of matrices, broadcastable to its shape.

    `prior` is a name other than "auto", a float or an array, as `check_prior` returns it.
    """
    n_classes = matrix.shape[-1]
    if isinstance(prior, str) and prior in PER_CELL:
        prior = PER_CELL[prior]
    if isinstance(prior, float):
        return np.full((n_classes, n_classes), prior)
    if isinstance(prior, np.ndarray):
        return prior
    off = 1.0 - np.eye(n_classes)
    if prior == "total_one":
        return np.eye(n_classes) / (2 * n_classes) + off / (2 * n_classes * (n_classes - 1))
    # "shared": one pseudo-observation per class, right or wrong as often as the whole matrix
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    share = (trace + 0.5) / (matrix.sum(axis=(-2, -1)) + 1)
    # right and wrong get half a pseudo-row each at least, all classes together
    share = np.clip(share, 1 / (2 * n_classes), 1 - 1 / (2 * n_classes))[..., None, None]
    return share * np.eye(n_classes) + (1 - share) / (n_classes - 1) * off


def prior_from_metrics(
    *, precision: float, recall: float, accuracy: float, weight: float
) -> np.ndarray:
    """Prior counts that say what precision, recall and accuracy were expected.

    Parameters
    ----------
    precision, recall, accuracy : float
        Expected values, each in (0, 1).
    weight : float
        How many rows this knowledge is worth.

    Returns
    -------
    ndarray of shape (2, 2)
        Pseudo-counts ``[[tn, fp], [fn, tp]]``, scikit-learn's orientation with the positive class
        last, for any ``prior=``.

    See Also
    --------
    ConfusionCounts.posterior : Takes the array as ``prior``.

    Notes
    -----
    Equation 8 of Caelen [1]_. Not every triple is possible: 1/recall + 1/precision - 1/accuracy
    must exceed 1.

    References
    ----------
    .. [1] O. Caelen (2017). A Bayesian interpretation of the confusion matrix. Annals of
       Mathematics and Artificial Intelligence 81.

    Examples
    --------
    >>> from skuncertain.metrics import prior_from_metrics
    >>> prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=1).round(3)
    array([[0.268, 0.221],
           [0.179, 0.332]])
    """
    p = check_number("precision", precision, low=0, high=1, closed=False, percent=0.1)
    r = check_number("recall", recall, low=0, high=1, closed=False, percent=0.1)
    a = check_number("accuracy", accuracy, low=0, high=1, closed=False, percent=0.1)
    m = check_number("weight", weight, low=0, high=np.inf, closed=False)
    refuse_if(
        1 / r + 1 / p - 1 / a <= 1,
        "precision",
        f"precision {p:g}, recall {r:g} and accuracy {a:g} are impossible together: "
        "1/recall + 1/precision - 1/accuracy must exceed 1, here it is "
        f"{1 / r + 1 / p - 1 / a:.3g}. Lower precision or recall, or raise accuracy.",
    )
    unit = m * (1 - a) / (p + r - 2 * r * p)
    tp = unit * r * p
    return np.array([[a * m - tp, unit * r * (1 - p)], [unit * (1 - r) * p, tp]])


# --------------------------------------------------------------------------------------------------
# Priors of the rates of the models "three_beta" and "rows": one for each of their Betas


@dataclass(frozen=True, eq=False)
class RatePrior:
    """Pseudo-rows of every rate.

    Attributes
    ----------
    given : dict
        The checked parts by their names: pairs (successes, failures) for two classes, otherwise
        pseudo-rows of the classes ("prevalence") and of the cells ("rows").
    text : str
        For reprs and reports.
    """

    given: dict
    text: str

    @classmethod
    def of(cls, prior: Mapping, n_classes: int) -> RatePrior:
        """Check a dict of priors; what cannot work is refused."""
        names = (
            ("prevalence", "recall", "specificity") if n_classes == 2 else ("prevalence", "rows")
        )
        found = {}
        for asked, value in prior.items():
            name, average = split_name(asked, names) if isinstance(asked, str) else (asked, None)
            refuse_if(
                name not in names or average is not None,
                "prior",
                f"a prior of the rates of {n_classes} classes has the keys "
                f"{', '.join(map(repr, names))}; got {quoted(asked)}.{nearest_name(asked, names)}",
            )
            refuse_if(name in found, "prior", f"prior names {name} twice, got {quoted(asked)}.")
            found[name] = value
        prior = found
        refuse_if(not prior, "prior", "prior must name a rate, got an empty dict.")
        if n_classes == 2:
            given = {name: rate_pair(name, prior.get(name, _OF_A_RATE)) for name in names}
            told = [f"{name} Beta({a:.3g}, {b:.3g})" for name, (a, b) in given.items()]
            return cls({**given, "named": tuple(prior)}, ", ".join(told))
        shapes = {"prevalence": (n_classes,), "rows": (n_classes, n_classes)}
        given = {name: _pseudo(name, prior.get(name, _OF_A_RATE), shapes[name]) for name in names}
        return cls({**given, "named": tuple(prior)}, f"of its own for {' and '.join(prior)}")

    @property
    def has_prevalence(self) -> bool:
        """Whether the prevalence was named."""
        return "prevalence" in self.given["named"]

    def pseudo_rows(self, positive: int) -> tuple[np.ndarray, np.ndarray]:
        """Pseudo-rows of the cells (C, C) and of the classes (C,)."""
        if "rows" in self.given:
            return self.given["rows"], self.given["prevalence"]
        prevalence, recall, specificity = (
            np.array(self.given[name]) for name in ("prevalence", "recall", "specificity")
        )
        # With the positive class last; turned round if it is the first.
        cells, classes = np.array([specificity, recall[::-1]]), prevalence[::-1]
        return (cells, classes) if positive == 1 else (cells[::-1, ::-1], classes[::-1])


def rate_pair(name, value):
    """Pseudo-rows (successes, failures) of one rate."""
    if isinstance(value, BetaPosterior):
        refuse_if(
            value.shape != () or value.odds != 1,
            "prior",
            f"the prior of {name} must be a single plain Beta, got {{value}}.",
            value,
        )
        return float(value.a), float(value.b)
    found = as_numbers("prior", value, what=f"the prior of {name}")
    refuse_if(
        found.shape not in ((), (2,)) or not np.all((found >= 0) & (found <= LARGEST)),
        "prior",
        f"the prior of {name} must be a number >= 0 for both sides, a pair (successes, failures) "
        "or a BetaPosterior, got {value}.",
        value,
    )
    return tuple(float(part) for part in np.broadcast_to(found, 2))


def _pseudo(name, value, shape):
    """Pseudo-rows of all classes or cells."""
    found = as_numbers("prior", value, what=f"the prior of {name}")
    refuse_if(
        found.shape not in ((), shape) or not np.all((found >= 0) & (found <= LARGEST)),
        "prior",
        f"the prior of {name} must be a number >= 0 or an array of shape {shape}, got {{value}}.",
        value,
    )
    return np.broadcast_to(found, shape)
