"""How many samples does an interval of a wanted width need, and how wide will it be?"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skuncertain._beta_posteriors import BetaPosterior
from skuncertain._counts import ConfusionCounts
from skuncertain._metric_formulas import collapse
from skuncertain._metrics import get_metric
from skuncertain._planning_studies import (
    MOST,
    TOLERANCE,
    Plan,
    ProportionStudy,
    SimulatedStudy,
    Successes,
)
from skuncertain._priors import PER_CELL, check_prior
from skuncertain._proportions import proportion_cells
from skuncertain._special import scale_odds
from skuncertain._validation import (
    check_integer,
    check_kind,
    check_level,
    check_number,
    is_real,
    rectangular,
    resolve_seed,
    shown,
)

_NARROWEST = 1e-3  # about four million samples


@dataclass(frozen=True, eq=False, repr=False)
class SampleSize(Plan):
    """How many samples make an interval narrow enough.

    Parameters
    ----------
    metric : str
        Name of the metric.
    n : int
        Smallest number of samples from which on the interval is narrow enough with the wanted
        probability, for this and for every larger number.
    counted : str
        What `n` counts: rows, real positives, predicted positives and so on.
    width : float
        The wanted length of the interval, from its lower to its upper end.
    power : float
        The wanted probability.
    probability : float
        Probability that the interval of `n` samples is at most `width` long.
    probability_error : float
        Monte Carlo error of `probability`; 0 if nothing was drawn.
    n_error : float
        Monte Carlo error of `n`; 0 if nothing was drawn.
    first_n : int or None
        First number with the wanted probability; larger numbers up to `n` may miss it again. None
        if it was drawn.
    mean_width, median_width, power_width : float
        Mean, median and `power` quantile of the length with `n` samples.
    rows : int or None
        Rows to collect so that at least `n` of them count, with probability `power`. None if it is
        not known how many of the rows count.
    rows_on_average : int or None
        Rows that bring `n` on average: about every second time they are too few.
    rule_n : int
        What the rule of thumb 2 / sqrt(N) asks for, 4 / width**2.
    rule_error : float
        Relative error of the rule: 1.0 means twice as many as needed.
    expected : str
        What was expected of the metric.
    level, kind, prior : float, str, str
        Which interval.
    n_studies, seed : int or None
        Simulated studies and their seed; None if nothing was drawn.

    See Also
    --------
    required_sample_size : Makes it.
    ExpectedWidth : The other way round.

    Examples
    --------
    >>> from skuncertain import required_sample_size
    >>> plan = required_sample_size(metric="recall", expected=0.9, width=0.1)
    >>> plan.n, plan.counted, plan.rule_n
    (182, 'real positives', 400)
    """

    metric: str
    n: int
    counted: str
    width: float
    power: float
    probability: float
    probability_error: float
    n_error: float
    first_n: int | None
    mean_width: float
    median_width: float
    power_width: float
    rows: int | None
    rows_on_average: int | None
    rule_n: int
    rule_error: float
    expected: str
    level: float
    kind: str
    prior: str
    n_studies: int | None = None
    seed: int | None = None

    def __repr__(self):
        about = "about " if self.n_studies else ""
        text = (
            f"SampleSize({about}{self.n} {self.counted}: the {self.level * 100:g} % {self.kind} of "
            f"{self.metric} is at most {self.width:g} long with probability "
            f"{self.probability:.3f}, expecting {self.expected}; prior {self.prior}; the rule "
            f"4 / width**2 says {self.rule_n} ({self.rule_error:+.0%})"
        )
        if self.rows is not None and self.rows != self.n:
            text += f"; {self.rows} rows bring that many with probability {self.power:g}"
        return text + ")"


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedWidth(Plan):
    """How long an interval will be.

    Parameters
    ----------
    metric : str
        Name of the metric.
    n : int
        Number of samples.
    counted : str
        What `n` counts: rows, real positives, predicted positives and so on.
    mean, median, quantile : float
        Mean, median and `power` quantile of the length.
    power : float
        Probability that the length is at most `quantile`.
    mean_error, quantile_error : float
        Monte Carlo errors; 0 if nothing was drawn.
    rule : float
        The rule of thumb 2 / sqrt(N).
    rule_error : float
        Relative error of the rule against the median: 0.7 means 70 % too long.
    expected : str
        What was expected of the metric.
    level, kind, prior : float, str, str
        Which interval.
    n_studies, seed : int or None
        Simulated studies and their seed; None if nothing was drawn.
    widths, probabilities : ndarray
        The possible lengths in increasing order, and the probability of each.

    See Also
    --------
    expected_width : Makes it.
    SampleSize : The other way round.

    Examples
    --------
    >>> from skuncertain import expected_width
    >>> width = expected_width(100, metric="recall", expected=0.9)
    >>> round(width.median, 3), width.rule
    (0.117, 0.2)
    >>> round(width.prob(0.13), 2)  # a length of at most 0.13
    0.8
    """

    metric: str
    n: int
    counted: str
    mean: float
    median: float
    quantile: float
    power: float
    mean_error: float
    quantile_error: float
    rule: float
    rule_error: float
    expected: str
    level: float
    kind: str
    prior: str
    n_studies: int | None
    seed: int | None
    widths: np.ndarray = field(repr=False)
    probabilities: np.ndarray = field(repr=False)

    def __repr__(self):
        return (
            f"ExpectedWidth({self.n} {self.counted}: the {self.level * 100:g} % {self.kind} of "
            f"{self.metric} will be {self.median:.3f} long (median), at most {self.quantile:.3f} "
            f"with probability {self.power:g}, expecting {self.expected}; prior {self.prior}; the "
            f"rule 2 / sqrt(N) says {self.rule:.3f} ({self.rule_error:+.0%}))"
        )

    def prob(self, width: float) -> float:
        """Probability of an interval that is at most that long.

        Parameters
        ----------
        width : float
            Length, from the lower to the upper end.

        Returns
        -------
        float
            The probability.
        """
        width = check_number("width", width, low=0, high=np.inf)
        return float(self.probabilities[self.widths <= width].sum())


# --------------------------------------------------------------------------------------------------
# What is expected


def required_sample_size(
    *,
    metric: Any = "recall",
    expected: Any,
    width: float,
    level: float = 0.95,
    power: float = 0.95,
    kind: str = "eti",
    prior: Any = "auto",
    prevalence: float | None = None,
    pos_label: Any = None,
    n_studies: int = 1000,
    n_draws: int | None = None,
    random_state: Any = None,
) -> SampleSize:
    """Number of samples that makes an interval narrow enough.

    Parameters
    ----------
    metric : str, Metric or callable, default="recall"
        See :func:`get_metric`.
    expected : float, pair of float, Posterior or ConfusionCounts
        What the metric is expected to be. A number is taken as its true value. A pair (mode,
        concentration) is a Beta distribution: its peak, and how many samples this opinion is worth
        (more than 2). A posterior, or the counts, of a pilot study bring their own uncertainty.
        Metrics other than proportions and F1 need one of these two, because their intervals depend
        on all cells.
    width : float
        Wanted length of the interval, from its lower to its upper end: 0.1 for plus or minus 0.05.
    level : float, default=0.95
        Probability of the interval.
    power : float, default=0.95
        Probability with which the interval is to be that narrow.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    prior : str, float or array-like of shape (C, C), default="auto"
        Prior of the planned analysis, see :meth:`ConfusionCounts.posterior`. Two classes are
        assumed unless counts say otherwise. The pilot study is not part of the planned analysis.
    prevalence : float, default=None
        Share of real positives, for metrics that count real positives or real negatives: the
        result then says how many rows to collect. By default that of the counts, if there are any.
    pos_label : label, default=None
        Positive class of the counts.
    n_studies : int, default=1000
        Simulated studies, where the answer is not exact.
    n_draws : int, default=None
        Draws per simulated study, where the posterior has no exact form; by default 4,000, fewer
        for more than three classes.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the simulated studies.

    Returns
    -------
    SampleSize
        The number, what it counts, and how long the interval will then be.

    See Also
    --------
    expected_width : The other way round.
    comparison_sample_size : To find the better of two models.

    Notes
    -----
    For proportions and F1 the answer is exact: every number of successes has its interval and its
    binomial (or, with an uncertain rate, beta-binomial) probability. F1 is a function of the
    Jaccard index, a proportion of the rows that are positive or predicted positive, so these rows
    are counted. A pair then means the mode of F1, and the concentration of the Jaccard index.

    The probability is a sawtooth in the number of samples. The answer is the smallest number from
    which on it never falls below `power`. All larger numbers are covered: up to the one at which
    even the worst outcome is narrow enough, blocks of numbers are bounded from below, and divided
    until the bounds decide. Simulated answers are found to two per cent.

    Examples
    --------
    >>> from skuncertain import required_sample_size
    >>> plan = required_sample_size(metric="recall", expected=0.9, width=0.1, prevalence=0.2)
    >>> plan.n, plan.counted, plan.rows
    (182, 'real positives', 1012)
    >>> required_sample_size(metric="accuracy", expected=(0.8, 10), width=0.1).n  # an opinion
    380
    """
    simulation = n_studies, n_draws, random_state
    study, rows, text = _study(
        metric, expected, level, kind, prior, prevalence, pos_label, simulation
    )
    low, high = study.metric.range
    width = check_number("width", width, low=0, high=high - low, closed=False)
    if width < _NARROWEST:
        raise ValueError(
            f"width must be at least {_NARROWEST:g}, got {width:g}: that takes millions of "
            "samples. The rule 4 / width**2 is good enough there."
        )
    power = check_number("power", power, low=0, high=1, closed=False)
    n, first_n = study.required(width, power)
    widths, mass = study.distribution(n)
    mean, median, quantile = _summary(widths, mass, power)
    chance = float(np.minimum(mass[widths <= width].sum(), 1.0))
    simulated = study.n_studies is not None
    error = _share_error(chance, study.n_studies) if simulated else 0.0
    rule = int(np.ceil(4 / width**2 - 1e-9))
    return SampleSize(
        metric=study.metric.name,
        n=n,
        counted=study.counted,
        width=width,
        power=power,
        probability=chance,
        probability_error=error,
        # The length falls like 1 / sqrt(n).
        n_error=2 * n * _quantile_error(widths, power) / quantile if simulated else 0.0,
        first_n=first_n,
        mean_width=mean,
        median_width=median,
        power_width=quantile,
        rows=None if rows is None else rows.rows_for(n, power),
        rows_on_average=None if rows is None else int(np.ceil(n / rows.mean() - 1e-9)),
        rule_n=rule,
        rule_error=rule / n - 1,
        expected=text,
        level=study.level,
        kind=study.kind,
        prior=study.prior_text,
        n_studies=study.n_studies,
        seed=study.seed,
    )


def expected_width(
    n: int,
    *,
    metric: Any = "recall",
    expected: Any,
    level: float = 0.95,
    power: float = 0.95,
    kind: str = "eti",
    prior: Any = "auto",
    pos_label: Any = None,
    n_studies: int = 1000,
    n_draws: int | None = None,
    random_state: Any = None,
) -> ExpectedWidth:
    """Length of an interval before there are data.

    Parameters
    ----------
    n : int
        Number of samples. What is counted depends on the metric: real positives for recall,
        predicted positives for precision, all rows for accuracy; the result says it.
    metric : str, Metric or callable, default="recall"
        See :func:`get_metric`.
    expected : float, pair of float, Posterior or ConfusionCounts
        What the metric is expected to be, see :func:`required_sample_size`.
    level : float, default=0.95
        Probability of the interval.
    power : float, default=0.95
        Which quantile of the length to report.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    prior : str, float or array-like of shape (C, C), default="auto"
        Prior of the planned analysis, see :func:`required_sample_size`.
    pos_label : label, default=None
        Positive class of the counts.
    n_studies : int, default=1000
        Simulated studies, where the answer is not exact.
    n_draws : int, default=None
        Draws per simulated study, see :func:`required_sample_size`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the simulated studies.

    Returns
    -------
    ExpectedWidth
        Mean, median and quantile of the length, and its whole distribution.

    See Also
    --------
    required_sample_size : The other way round.

    Examples
    --------
    Tötsch and Hoffmann's example: 100 samples, a rate of about .8 that is hardly known, highest
    density, flat prior. The interval is at most 19 points long with probability 95 %.

    >>> from skuncertain import expected_width
    >>> width = expected_width(100, metric="recall", expected=(0.8, 10), kind="hdi", prior=1)
    >>> round(width.quantile, 3)
    0.192
    """
    n = check_integer("n", n, low=1)
    if n > MOST:
        raise ValueError(f"n must be at most {MOST:,}, got {n}: use the rule 2 / sqrt(n) there.")
    simulation = n_studies, n_draws, random_state
    study, _, text = _study(metric, expected, level, kind, prior, None, pos_label, simulation)
    power = check_number("power", power, low=0, high=1, closed=False)
    widths, mass = study.distribution(n)
    mean, median, quantile = _summary(widths, mass, power)
    simulated = study.n_studies is not None
    order = np.argsort(widths, kind="stable")
    rule = 2 / np.sqrt(n)
    return ExpectedWidth(
        metric=study.metric.name,
        n=n,
        counted=study.counted,
        mean=mean,
        median=median,
        quantile=quantile,
        power=power,
        mean_error=float(widths.std() / np.sqrt(widths.size)) if simulated else 0.0,
        quantile_error=_quantile_error(widths, power) if simulated else 0.0,
        rule=float(rule),
        rule_error=float(rule / median - 1) if median > 0 else np.nan,
        expected=text,
        level=study.level,
        kind=study.kind,
        prior=study.prior_text,
        n_studies=study.n_studies,
        seed=study.seed,
        widths=widths[order],
        probabilities=mass[order],
    )


def _study(metric, expected, level, kind, prior, prevalence, pos_label, simulation):
    """Study, distribution of the rows that count (None if it is not known), and a text."""
    n_studies, n_draws, random_state = simulation
    metric, level, kind = get_metric(metric), check_level(level), check_kind(kind)
    n_studies = check_integer("n_studies", n_studies, low=2)
    if n_draws is not None:
        n_draws = check_integer("n_draws", n_draws, low=100)
    seed = resolve_seed(random_state)
    pilot = expected if isinstance(expected, ConfusionCounts) else None
    if pilot is not None and (pilot.shape or pilot.n == 0):
        raise ValueError("expected must be counts of one pilot study with rows: index or sum them.")
    if pilot is None and pos_label is not None:
        raise ValueError(
            f"pos_label={shown(pos_label)} says which class of the counts is positive, but "
            "expected holds no counts: leave it out."
        )
    prior = check_prior(prior, 2 if pilot is None else pilot.n_classes)
    if proportion_cells(metric) is None:
        believed = prior
        if pilot is None:
            pilot, believed, pos_label = _pilot_behind(metric, expected)
        if prevalence is not None:
            raise ValueError(
                f"prevalence cannot be used for {metric.name}: n counts rows, as they were in the "
                "pilot study."
            )
        study = SimulatedStudy(
            metric, (pilot, believed), prior, level, kind, pos_label, n_studies, n_draws, seed
        )
        return study, Successes(rate=1.0), f"what a pilot of {pilot.n:g} rows says"
    if pilot is None:
        successes, text = _successes(metric, expected)
        study = ProportionStudy(metric, successes, prior, level, kind)
    else:
        positive = pilot.positive_index(metric, pos_label)
        believed = pilot.posterior(metric, prior=prior, pos_label=pos_label)
        successes, text = _of_posterior(metric, believed)
        positive = 1 if positive is None else positive
        study = ProportionStudy(metric, successes, prior, level, kind, pilot.n_classes, positive)
    return study, _rows_that_count(study, pilot, prevalence), text


def _pilot_behind(metric, expected):
    """Counts, prior and positive class that a posterior of the metric was made from."""
    asked = getattr(expected, "_origin", None)
    if asked is None or asked.metric.name != metric.name:
        raise TypeError(
            f"expected must be ConfusionCounts of a pilot study for {metric.name}, or their "
            f"posterior of it, got {shown(expected)}: the length of its interval depends on all "
            "cells, not on its value alone."
        )
    if asked.counts.shape:
        raise ValueError("expected must be one posterior, got a stack: index the counts first.")
    if asked.model != "dirichlet" or asked.prevalence is not None:
        raise ValueError(
            "expected must be a posterior with model='dirichlet' and the prevalence of the counts: "
            "the planned analysis has these."
        )
    labels = asked.counts.labels
    return asked.counts, asked.prior, None if asked.positive is None else labels[asked.positive]


def _successes(metric, expected):
    """Distribution of the successes from a number, a pair or a posterior, and a text."""
    odds = proportion_cells(metric)[2]
    if isinstance(expected, BetaPosterior):
        return _of_posterior(metric, expected)
    if is_real(expected):
        value = check_number("expected", expected, low=0, high=1)
        return Successes(rate=float(scale_odds(value, 1 / odds))), f"{value:g}"
    pair = rectangular("expected", expected)
    if isinstance(expected, str) or pair.ndim != 1 or len(pair) != 2:
        raise TypeError(
            "expected must be a number, a pair (mode, concentration), a BetaPosterior or "
            f"ConfusionCounts of a pilot study, got {shown(expected)}."
        )
    mode = check_number("the mode in expected", expected[0], low=0, high=1)
    weight = check_number(
        "the concentration in expected", expected[1], low=2, high=1e12, closed=False
    )
    share = float(scale_odds(mode, 1 / odds))
    a, b = share * (weight - 2) + 1, (1 - share) * (weight - 2) + 1
    return Successes(a=a, b=b), f"mode {mode:g} with concentration {weight:g}"


def _of_posterior(metric, posterior):
    if posterior.shape:
        raise ValueError("expected must be one posterior, got a stack: index the counts first.")
    odds = proportion_cells(metric)[2]
    other = posterior.metric not in (None, "proportion", metric.name)
    if other or posterior.odds != odds:
        raise ValueError(
            f"expected must be a posterior of {metric.name}, got {posterior!r}: use "
            f"counts.posterior({metric.name!r})."
        )
    a, b = float(posterior.a), float(posterior.b)
    if a <= 0 or b <= 0:
        raise ValueError(f"expected must be a proper posterior, got {posterior!r}.")
    low, high = posterior.interval()
    return Successes(a=a, b=b), f"a posterior of {low:.3g} to {high:.3g} (95 %)"


def _rows_that_count(study, pilot, prevalence):
    """Distribution of the rows that count among all rows, or None."""
    if study.counted == "rows":
        if prevalence is not None:
            raise ValueError(
                f"prevalence cannot be used for {study.metric.name}: every row counts."
            )
        return Successes(rate=1.0)
    if prevalence is not None:
        share = check_number("prevalence", prevalence, low=0, high=1, closed=False)
        if study.counted not in ("real positives", "real negatives"):
            raise ValueError(
                f"prevalence cannot be used for {study.metric.name}, which counts {study.counted}: "
                "it does not say how many they are. Give expected=ConfusionCounts of a pilot study."
            )
        return Successes(rate=share if study.counted == "real positives" else 1 - share)
    if pilot is None:
        return None
    cells = np.array(collapse(pilot.counts, study.positive)) + PER_CELL["neutral"]
    counts = np.array(study.mask, dtype=bool)
    return Successes(a=float(cells[counts].sum()), b=float(cells[~counts].sum()))


def _summary(widths, mass, power):
    """Mean, median and `power` quantile of the length."""
    order = np.argsort(widths)
    reached = np.cumsum(mass[order])
    places = np.searchsorted(reached, np.array([0.5, power]) - TOLERANCE)
    median, quantile = widths[order][np.minimum(places, widths.size - 1)]
    return float(mass @ widths), float(median), float(quantile)


def _share_error(share, size):
    share = (share * size + 1) / (size + 2)  # so that 0 of n is not known for sure
    return float(np.sqrt(share * (1 - share) / size))


def _quantile_error(values, q):
    """Standard error of a quantile of simulated values, from the order statistics around it."""
    step = np.sqrt(q * (1 - q) / values.size)
    low, high = np.quantile(values, np.clip([q - step, q + step], 0, 1))
    return float(high - low) / 2
