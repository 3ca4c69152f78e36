"""How many samples does an interval of a wanted width need, and how wide will it be?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skuncertain._reporting.text import level_text, relative_text
from skuncertain._utils.typing import LabelLike, MetricLike, PriorLike, RandomStateLike
from skuncertain._utils.validation import check_integer, check_number, refuse_if
from skuncertain.planning._report import expected_width_words, sample_size_words
from skuncertain.planning._studies import MOST, TOLERANCE, Plan, expected_study, rows_to_collect

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
        The wanted width of the interval, from its lower to its upper end.
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
        Mean, median and `power` quantile of the width with `n` samples.
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
    _words = sample_size_words

    def __repr__(self):
        about = "about " if self.n_studies else ""
        text = (
            f"SampleSize({about}{self.n} {self.counted}: the {level_text(self.level)} {self.kind} "
            f"of {self.metric} is at most {self.width:g} long with probability "
            f"{self.probability:.3f}, expecting {self.expected}; prior {self.prior}; the rule "
            f"4 / width**2 says {self.rule_n} ({relative_text(self.rule_error)})"
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
        Mean, median and `power` quantile of the width.
    power : float
        Probability that the width is at most `quantile`.
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
        The possible widths in increasing order, and the probability of each.

    See Also
    --------
    expected_width : Makes it.
    SampleSize : The other way round.

    Examples
    --------
    >>> from skuncertain.planning import expected_width
    >>> width = expected_width(100, metric="recall", expected=0.9)
    >>> round(width.median, 3), width.rule
    (0.117, 0.2)
    >>> round(width.prob(0.13), 2)  # a width of at most 0.13
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
    _words = expected_width_words

    def __repr__(self):
        return (
            f"ExpectedWidth({self.n} {self.counted}: the {level_text(self.level)} {self.kind} of "
            f"{self.metric} will be {self.median:.3f} long (median), at most {self.quantile:.3f} "
            f"with probability {self.power:g}, expecting {self.expected}; prior {self.prior}; the "
            f"rule 2 / sqrt(N) says {self.rule:.3f} ({relative_text(self.rule_error)}))"
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


def required_sample_size(
    *,
    metric: MetricLike = "recall",
    expected: Any,
    width: float,
    level: float = 0.95,
    power: float = 0.95,
    kind: str = "eti",
    prior: PriorLike = "auto",
    prevalence: float | None = None,
    pos_label: LabelLike = None,
    n_studies: int = 1000,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
) -> SampleSize:
    """Number of samples that makes an interval narrow enough.

    Parameters
    ----------
    metric : str, Metric or callable, default="recall"
        See :func:`get_metric`.
    expected : float, pair of float, Posterior or ConfusionCounts
        What the metric is expected to be: its true value; a pair (mode, concentration) of a Beta,
        its peak and how many samples this opinion is worth; or the posterior, or the counts, of a
        pilot study. Metrics other than proportions and F1 need one of the last two.
    width : float
        Wanted width of the interval, from its lower to its upper end: 0.1 for plus or minus 0.05.
    level : float, default=0.95
        Probability of the interval.
    power : float, default=0.95
        Probability with which the interval is to be that narrow.
    kind : {"eti", "hdi"}, default="eti"
        Equal-tailed or highest-density.
    prior : str, float or array-like of shape (C, C), default="auto"
        Prior of the planned analysis, of which the pilot study is no part.
    prevalence : float, default=None
        Share of real positives, for metrics that count real positives or real negatives: the
        result then says how many rows to collect. By default that of the counts.
    pos_label : label, default=None
        Positive class of the counts.
    n_studies : int, default=1000
        Simulated studies, where the answer is not exact.
    n_draws : int, default=None
        Draws per simulated study, where the posterior has no exact form.
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
    For proportions and F1 the answer is exact; for F1 the rows that are positive or predicted
    positive are counted. The probability is a sawtooth in the number of samples: the answer is the
    smallest number from which on it never falls below `power`. Simulated answers are found to two
    per cent.

    Examples
    --------
    >>> from skuncertain import required_sample_size
    >>> plan = required_sample_size(metric="recall", expected=0.9, width=0.1, prevalence=0.2)
    >>> plan.n, plan.counted, plan.rows
    (182, 'real positives', 1012)
    >>> required_sample_size(metric="accuracy", expected=(0.8, 10), width=0.1).n  # an opinion
    380
    """
    study, rows, text = expected_study(
        metric,
        expected,
        level=level,
        kind=kind,
        prior=prior,
        pos_label=pos_label,
        prevalence=prevalence,
        simulation=(n_studies, n_draws, random_state),
    )
    low, high = study.metric.range
    width = check_number("width", width, low=0, high=high - low, closed=False, percent=0)
    refuse_if(
        width < _NARROWEST,
        "width",
        f"width must be at least {_NARROWEST:g}, got {width:g}: that takes millions of "
        "samples. The rule 4 / width**2 is good enough there.",
    )
    power = check_number("power", power, low=0, high=1, closed=False, percent=0.5)
    n, first_n = study.required(width, power)
    widths, mass = study.distribution(n)
    mean, median, quantile = _summary(widths, mass, power)
    chance = float(np.minimum(mass[widths <= width].sum(), 1.0))
    simulated = study.n_studies is not None
    rule = int(np.ceil(4 / width**2 - 1e-9))
    return SampleSize(
        n=n,
        width=width,
        power=power,
        probability=chance,
        probability_error=_share_error(chance, study.n_studies) if simulated else 0.0,
        # The width falls like 1 / sqrt(n).
        n_error=2 * n * _quantile_error(widths, power) / quantile if simulated else 0.0,
        first_n=first_n,
        mean_width=mean,
        median_width=median,
        power_width=quantile,
        rule_n=rule,
        rule_error=rule / n - 1,
        expected=text,
        **rows_to_collect(rows, n, power),
        **study.describe(),
    )


def expected_width(
    n: int,
    *,
    metric: MetricLike = "recall",
    expected: Any,
    level: float = 0.95,
    power: float = 0.95,
    kind: str = "eti",
    prior: PriorLike = "auto",
    pos_label: LabelLike = None,
    n_studies: int = 1000,
    n_draws: int | None = None,
    random_state: RandomStateLike = None,
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
        Which quantile of the width to report.
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
        Mean, median and quantile of the width, and its whole distribution.

    See Also
    --------
    required_sample_size : The other way round.

    Examples
    --------
    Tötsch and Hoffmann's example: 100 samples, a rate of about .8 that is hardly known, highest
    density, flat prior. The interval is at most 19 points long with probability 95 %.

    >>> from skuncertain.planning import expected_width
    >>> width = expected_width(100, metric="recall", expected=(0.8, 10), kind="hdi", prior=1)
    >>> round(width.quantile, 3)
    0.192
    """
    n = check_integer("n", n, low=1)
    refuse_if(
        n > MOST, "n", f"n must be at most {MOST:,}, got {n}: use the rule 2 / sqrt(n) there."
    )
    study, _, text = expected_study(
        metric,
        expected,
        level=level,
        kind=kind,
        prior=prior,
        pos_label=pos_label,
        simulation=(n_studies, n_draws, random_state),
    )
    power = check_number("power", power, low=0, high=1, closed=False, percent=0.5)
    widths, mass = study.distribution(n)
    mean, median, quantile = _summary(widths, mass, power)
    simulated = study.n_studies is not None
    order = np.argsort(widths, kind="stable")
    rule = 2 / np.sqrt(n)
    return ExpectedWidth(
        n=n,
        mean=mean,
        median=median,
        quantile=quantile,
        power=power,
        mean_error=float(widths.std() / np.sqrt(widths.size)) if simulated else 0.0,
        quantile_error=_quantile_error(widths, power) if simulated else 0.0,
        rule=float(rule),
        rule_error=float(rule / median - 1) if median > 0 else np.nan,
        expected=text,
        widths=widths[order],
        probabilities=mass[order],
        **study.describe(),
    )


def _summary(widths, mass, power):
    """Mean, median and `power` quantile of the width."""
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
