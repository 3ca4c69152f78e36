"""Joint draws of several metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._utils.validation import import_optional, refuse_if
from skuncertain._utils.warnings import warn_user
from skuncertain.posteriors._about import About
from skuncertain.posteriors._base import plain


@dataclass(frozen=True, eq=False, repr=False)
class JointPosterior:
    """Joint draws of several metrics.

    Parameters
    ----------
    metrics : tuple of str
        Names, in the order of the first axis of `draws`.
    draws : ndarray of shape (metrics, ..., n_draws)
        The draws, read-only.
    seed : int
        Seed that produced them.
    prior : str
        Prior that was used.
    resolve_name : callable, default=str
        Turns an alias of a metric into its name in `metrics`.
    about : About, default=About()
        Class, prevalence, new rows and model, which all the metrics share.

    See Also
    --------
    ConfusionCounts.joint_posterior : Makes it.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    >>> joint = counts.joint_posterior(["precision", "recall"], random_state=0)
    >>> joint
    JointPosterior(metrics=('precision', 'recall'), pos_label=1, n_draws=20000, prior='default ...',
    seed=0)
    >>> round(float(joint.correlation()[0, 1]), 1)
    0.3
    """

    metrics: tuple
    draws: np.ndarray
    seed: int
    prior: str
    resolve_name: Callable[[str], str] = str
    about: About = About()

    @property
    def n(self) -> int | None:
        """Rows of the new test sets that the draws are of; None of draws of a posterior."""
        return self.about.n_new

    def __repr__(self):
        new = [] if self.about.n_new is None else [f"n_new={self.about.n_new}"]
        asked = "".join(f", {text}" for text in [*self.about.named(), *new])
        return (
            f"JointPosterior(metrics={self.metrics}{asked}, n_draws={self.draws.shape[-1]}, "
            f"prior={self.prior!r}, seed={self.seed})"
        )

    def __getitem__(self, name):
        wanted = name if name in self.metrics else self.resolve_name(name)
        if wanted not in self.metrics:
            raise KeyError(f"{wanted!r} is not one of the drawn metrics {list(self.metrics)}.")
        return self.draws[self.metrics.index(wanted)]

    def correlation(self) -> np.ndarray:
        """Correlation matrix of the metrics.

        Returns
        -------
        ndarray of shape (..., metrics, metrics)
            Pearson correlations over the draws in which all metrics are defined and finite; NaN,
            with a warning, for a metric that does not vary.
        """
        draws = np.moveaxis(self.draws, 0, -2)
        flat, k = draws.reshape(-1, *draws.shape[-2:]), len(self.metrics)
        stack = np.full((len(flat), k, k), np.nan)
        for place, part in enumerate(flat):
            defined = part[:, np.isfinite(part).all(axis=0)]
            if defined.shape[1] > 1:
                largest = np.abs(defined).max(axis=1, keepdims=True)  # squares must not overflow
                with np.errstate(divide="ignore", invalid="ignore"):
                    stack[place] = np.corrcoef(defined / np.where(largest > 0, largest, 1.0))
        if np.any(np.isnan(stack)):
            warn_user(
                "a correlation is undefined: a metric does not vary over the draws, or is 0/0 or "
                "infinite in nearly all of them. NaN.",
                UndefinedMetricWarning,
            )
        return stack.reshape(*draws.shape[:-2], k, k)

    def prob(self, event: Callable) -> Any:
        """Probability of an event.

        Parameters
        ----------
        event : callable
            Maps the draws, one array per metric in order, to an array of booleans.

        Returns
        -------
        float or ndarray
            Share of draws in which the event holds.
        """
        refuse_if(
            not callable(event),
            "event",
            f"event must be a function of the {len(self.metrics)} metrics, such as "
            f"lambda {', '.join(self.metrics)}: ..., got {{value}}.",
            event,
        )
        holds = np.asarray(event(*self.draws))
        refuse_if(
            holds.dtype != bool or holds.shape != self.draws.shape[1:],
            "event",
            "event must return one True or False per draw: compare the arrays.",
        )
        return plain(holds.mean(axis=-1))

    def to_frame(self) -> Any:
        """Table of the draws, a column per metric.

        Returns
        -------
        pandas.DataFrame
            The draws of a single matrix.
        """
        pandas = import_optional("pandas", "pandas", "JointPosterior.to_frame")
        if self.draws.ndim > 2:
            raise ValueError("to_frame needs a single matrix: index the stack of counts first.")
        return pandas.DataFrame(dict(zip(self.metrics, self.draws, strict=True)))
