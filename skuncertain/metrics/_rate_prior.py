"""Priors of the rates of the models "three_beta" and "rows": one for each of their Betas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skuncertain._utils.validation import as_numbers, nearest_name, quoted, refuse_if
from skuncertain.posteriors._beta import BetaPosterior

_DEFAULT = 1 / 3  # pseudo-rows on each side of a rate that is not named: the neutral prior
_LARGEST = 1e12


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
        for name in prior:
            refuse_if(
                name not in names,
                "prior",
                f"a prior of the rates of {n_classes} classes has the keys "
                f"{', '.join(map(repr, names))}; got {quoted(name)}.{nearest_name(name, names)}",
            )
        refuse_if(not prior, "prior", "prior must name a rate, got an empty dict.")
        if n_classes == 2:
            given = {name: rate_pair(name, prior.get(name, _DEFAULT)) for name in names}
            told = [f"{name} Beta({a:.3g}, {b:.3g})" for name, (a, b) in given.items()]
            return cls({**given, "named": tuple(prior)}, ", ".join(told))
        shapes = {"prevalence": (n_classes,), "rows": (n_classes, n_classes)}
        given = {name: _pseudo(name, prior.get(name, _DEFAULT), shapes[name]) for name in names}
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
        found.shape not in ((), (2,)) or not np.all((found >= 0) & (found <= _LARGEST)),
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
        found.shape not in ((), shape) or not np.all((found >= 0) & (found <= _LARGEST)),
        "prior",
        f"the prior of {name} must be a number >= 0 or an array of shape {shape}, got {{value}}.",
        value,
    )
    return np.broadcast_to(found, shape)
