"""What is known about a posterior besides its distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skuncertain.posteriors._few_rows import FewRows


@dataclass(frozen=True, eq=False)
class About:
    """What a posterior is about, and how it was made.

    Parameters
    ----------
    metric : str, default=None
        Name of the metric.
    range : tuple of float, default=(0, 1)
        Smallest and largest possible value.
    observed : float or ndarray, default=nan
        Value that the data give to the question: the metric of the counts or, at another
        prevalence, of the rates observed within each class. NaN of a predictive distribution. The
        boundary rule of `Posterior.interval` uses it.
    prior : str, default=None
        Prior that was used.
    description : str, default=None
        How the posterior was made, in words of your own; by default `made` puts it together.
    greater_is_better : bool or None, default=True
        Direction of the metric; None if it has none.
    closing : bool or ndarray, default=True
        Whether the prior is weak enough for the boundary rule.
    successes_failures : tuple of ndarray, default=None
        Rows on the two sides of a proportion, for intervals with calibrated ends (see
        `Posterior.interval`); None if the ends are those of the posterior.
    origin : object, default=None
        What `Posterior.updated` and `Posterior.predictive` go back to.
    diagnostics : FoldDiagnostics, default=None
        How much the folds disagree, if there were folds.
    moment_error : float or ndarray, default=0.0
        Monte Carlo error that parameters have because they were fitted to draws.
    pos_label : label or tuple of labels, default=None
        Class of a metric that depends on it, of a stack one for each; None if it is not known.
    model : str, default=None
        Model of the counts.
    prevalence : float, BetaPosterior or tuple of float, default=None
        Prevalence, or class frequencies, of another population; None for that of the data.
    n_new : int, default=None
        Rows of the new test set of a predictive distribution; None for a posterior.
    method : str, default=None
        Method of the folds, or of the ranking.
    n_folds, n_repeats : float and int, default=None and 1
        Folds of a repetition (None without folds), and repetitions.
    estimand : str, default=None
        "final", the one model that was tested or will be used; "fitted", the models of the folds
        on average; "algorithm", the average over training sets; None if it is not known.
    few_rows : FewRows, default=None
        What widens equal-tailed intervals of averages over classes with few rows.

    See Also
    --------
    Posterior.with_about : Copy of a posterior with something else known about it.

    Examples
    --------
    >>> from skuncertain.posteriors import About, BetaPosterior
    >>> BetaPosterior(27, 3, about=About(metric="recall", prior="expert"))
    BetaPosterior(metric='recall', a=27, b=3, prior='expert')
    """

    metric: str | None = None
    range: tuple[float, float] = (0.0, 1.0)
    observed: float | np.ndarray = np.nan
    prior: str | None = None
    description: str | None = None
    greater_is_better: bool | None = True
    closing: bool | np.ndarray = True
    successes_failures: tuple[np.ndarray, np.ndarray] | None = None
    origin: Any = None
    diagnostics: Any = None
    moment_error: float | np.ndarray = 0.0
    pos_label: Any = None
    model: str | None = None
    prevalence: Any = None
    n_new: int | None = None
    method: str | None = None
    n_folds: float | None = None
    n_repeats: int = 1
    estimand: str | None = None
    few_rows: FewRows | None = None

    def made(self) -> str | None:
        """Say how the posterior was made.

        Returns
        -------
        str or None
            The description that was given, otherwise method or model, folds and new rows.
        """
        if self.description is not None:
            return self.description
        parts = [self.method or self.model, folds_of(self)]
        if self.method == "pooled" and self.estimand in ("algorithm", "final"):
            parts.append(f"estimand {self.estimand}")
        if self.n_new is not None:
            parts.append(f"predictive for n={self.n_new}")
        return ", ".join(part for part in parts if part) or None

    def question(self, metric: str | None = None) -> str:
        """Say what is asked: the metric, its class, the population and the rows.

        Parameters
        ----------
        metric : str, default=None
            What to call the metric; by default its name, or "value".

        Returns
        -------
        str
            Such as "precision of class ill at prevalence 0.01". The class is left out if it is 1,
            the usual name of the positive one.
        """
        own = circumstances(self)
        if isinstance(self.pos_label, tuple) or self.pos_label == 1:
            own.pop("pos_label", None)
        if self.method != "pooled" or self.estimand == "fitted":  # what anybody expects
            own.pop("estimand", None)
        words = {"pos_label": "of", "prevalence": "at", "n_new": "on", "estimand": "with"}
        asked = [f" {words[key]} {text}" for key, text in own.items()]
        return (metric or self.metric or "value") + "".join(asked)

    def named(self) -> list[str]:
        """Class and prevalence as they stand in a repr.

        Returns
        -------
        list of str
            Such as ``["pos_label='ill'", "prevalence=0.01"]``; empty if there is nothing to say.
        """
        shares = prevalence_text(self.prevalence)
        texts = {
            "pos_label": repr(self.pos_label),
            "prevalence": f"[{shares}]" if isinstance(self.prevalence, tuple) else shares,
        }
        return [f"{name}={text}" for name, text in texts.items() if getattr(self, name) is not None]

    def asked(self) -> About:
        """Keep the question and forget the answer.

        Returns
        -------
        About
            Only what other posteriors of the same question share; no data, no prior.
        """
        kept = ("metric", "range", "greater_is_better", *QUESTION)
        return About(**{name: getattr(self, name) for name in kept})

    def to_dict(self) -> dict:
        """Plain representation of the question and of how it was answered.

        Returns
        -------
        dict
            Metric, class, prevalence and so on; texts, numbers, lists, dicts and None.
        """
        return {
            "metric": self.metric,
            "pos_label": _plain_label(self.pos_label),
            "prevalence": plain_prevalence(self.prevalence),
            "n_new": self.n_new,
            "estimand": self.estimand,
            "prior": self.prior,
            "model": self.model,
            "method": self.method,
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "description": self.made(),
        }


# What makes two questions two, besides the metric.
QUESTION = ("pos_label", "prevalence", "n_new", "estimand")


def circumstances(about):
    """Return {field: words} of what the question names besides the metric."""
    texts = {
        "pos_label": f"class {label_text(about.pos_label)}",
        "prevalence": f"prevalence {prevalence_text(about.prevalence)}",
        "n_new": f"{about.n_new} new row{'s' * (about.n_new != 1)}",
        "estimand": f"estimand {about.estimand}",
    }
    return {key: texts[key] for key in QUESTION if getattr(about, key) is not None}


def folds_of(about):
    """Such as "10 folds x 3", or None."""
    if about.n_folds is None:
        return None
    number = f"{about.n_folds:g}" if float(about.n_folds).is_integer() else f"{about.n_folds:.2f}"
    return f"{number} folds" + (f" x {about.n_repeats}" if about.n_repeats > 1 else "")


def label_text(label):
    """Class, or classes of a stack, in words; what a terminal could obey is spelled out."""
    text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _plain_label(label):
    if isinstance(label, tuple):
        return [_plain_label(one) for one in label]
    label = label.item() if isinstance(label, np.generic) else label
    return label if label is None or isinstance(label, str | int | float) else str(label)


def plain_prevalence(prevalence):
    """Prevalence in numbers, lists and dicts; a Beta is told by its shapes."""
    if hasattr(prevalence, "odds"):
        return {"a": np.asarray(prevalence.a).tolist(), "b": np.asarray(prevalence.b).tolist()}
    return None if prevalence is None else np.asarray(prevalence, dtype=float).tolist()


def prevalence_text(prevalence):
    """Prevalence, or what `plain_prevalence` made of it, in words; an empty text without one.

    It is a number, a Beta with its shapes, or the frequency of every class.
    """
    plain = prevalence if isinstance(prevalence, dict) else plain_prevalence(prevalence)
    if isinstance(plain, dict):
        single = np.ndim(plain["a"]) == 0
        return f"Beta({plain['a']:g}, {plain['b']:g})" if single else "Beta, a stack"
    shares = np.ravel([] if plain is None else plain)
    shown = [f"{share:g}" for share in shares[:10]]
    return ", ".join(shown + ["..."] * (shares.size > 10))
