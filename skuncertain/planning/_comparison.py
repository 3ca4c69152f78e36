"""How many rows does it take to find the better of two models?"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import betainc, ndtri

from skuncertain._utils.typing import MetricLike
from skuncertain._utils.validation import check_bool, check_number, check_rope, refuse_if
from skuncertain.metrics._registry import count_metric
from skuncertain.planning._report import comparison_words
from skuncertain.planning._studies import (
    TOLERANCE,
    Plan,
    Successes,
    last_true,
    rows_to_collect,
    share_that_counts,
)
from skuncertain.posteriors._beta import BetaPosterior
from skuncertain.posteriors._difference import (
    difference_of,
    discordance_posterior,
    probability_below,
)

_COUNTED = {"accuracy": "rows", "recall": "real positives", "specificity": "real negatives"}
_MOST_ROWS = 1_000_000
_NEGLIGIBLE = 1e-11  # probability of an outcome that is left out


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonSampleSize(Plan):
    """How many rows show which of two models is better.

    Parameters
    ----------
    n : int
        Smallest number of rows from which on the better model is found with the wanted chance.
    counted : str
        What `n` counts.
    chance : float
        Chance that `n` rows show it.
    first_n : int
        First number of rows with the wanted chance; larger ones up to `n` may miss it again.
    checked_to : int
        Every number of rows from `n` to this one has the wanted chance.
    difference : float
        True difference b - a.
    disagreement : float or None
        Share of the rows on which exactly one model is right, for models on the same rows.
    rate : float or None
        True rate of the worse model, for models on different rows.
    paired : bool
        Whether both models predict the same rows.
    probability : float
        What the probability that b is better must reach.
    power : float
        The wanted chance.
    rope : float
        By how much b must be better.
    prior : float
        Prior of the planned comparison.
    metric : str
        "accuracy", "recall" or "specificity".
    rows : int or None
        Rows to collect (for each model, if they are different) so that at least `n` of them count,
        with probability `power`. None if it is not known how many of the rows count.
    rows_on_average : int or None
        Rows that bring `n` on average: about every second time they are too few.

    See Also
    --------
    comparison_sample_size : Makes it.
    SampleSize : For the interval of one model.

    Examples
    --------
    >>> from skuncertain.planning import comparison_sample_size
    >>> comparison_sample_size(difference=0.05, disagreement=0.1)
    ComparisonSampleSize(235 rows that both models predict: a true difference of 0.05 shows, with
    P(b better) at least 0.95, with chance 0.801; disagreement on 10 % of the rows)
    """

    n: int
    counted: str
    chance: float
    first_n: int
    checked_to: int
    difference: float
    disagreement: float | None
    rate: float | None
    paired: bool
    probability: float
    power: float
    rope: float
    prior: float
    metric: str = "accuracy"
    rows: int | None = None
    rows_on_average: int | None = None
    _words = comparison_words

    def __repr__(self):
        better = "b better" + (f" by more than {self.rope:g}" if self.rope else "")
        if self.paired:
            about = f"disagreement on {self.disagreement * 100:.3g} % of the rows"
        else:
            about = f"rates {self.rate:g} and {self.rate + self.difference:g}"
        if self.rows is not None and self.rows != self.n:
            about += f"; {self.rows} rows bring that many with probability {self.power:g}"
        return (
            f"ComparisonSampleSize({self.n} {self.counted}: a true difference of "
            f"{self.difference:g} shows, with P({better}) at least {self.probability:g}, with "
            f"chance {self.chance:.3f}; {about})"
        )


def comparison_sample_size(
    *,
    difference: float,
    disagreement: float | None = None,
    rate: float | None = None,
    paired: bool = True,
    probability: float = 0.95,
    power: float = 0.8,
    rope: float = 0.0,
    prior: float = 0.5,
    metric: MetricLike = "accuracy",
    prevalence: float | None = None,
) -> ComparisonSampleSize:
    """Number of rows that show which of two models is better.

    Parameters
    ----------
    difference : float
        True difference b - a of the metric, above `rope`.
    disagreement : float, default=None
        For the same rows: share of the rows (that count) on which exactly one of the models is
        right; at least `difference`. Models that are alike disagree on few.
    rate : float, default=None
        For different rows: metric of model a; that of b is `difference` more.
    paired : bool, default=True
        Whether both models predict the same rows, as in :func:`compare_paired`, or each its own, as
        in :func:`compare`.
    probability : float, default=0.95
        The study is a success if P(b is better than a) reaches this.
    power : float, default=0.8
        Wanted chance of a success.
    rope : float, default=0.0
        Region of practical equivalence: b must be better by more than this.
    prior : float, default=0.5
        Prior of the planned comparison. For the same rows as in :func:`compare_paired`; for
        different rows on each side of each rate, as in :func:`proportion_posterior`.
    metric : {"accuracy", "recall", "specificity"}, default="accuracy"
        Which rows count: all, real positives or real negatives.
    prevalence : float, default=None
        Share of real positives, for recall and specificity: the result then says how many rows to
        collect.

    Returns
    -------
    ComparisonSampleSize
        The number of rows (of each model, if they are different), and the chance.

    See Also
    --------
    compare_paired : The comparison on the same rows.
    compare : The comparison on different rows.
    required_sample_size : For the interval of one model.

    Notes
    -----
    Exact, by the probabilities of all outcomes. The chance is a sawtooth in the number of rows;
    those after the answer are checked one by one, `checked_to` says how far.

    Examples
    --------
    >>> from skuncertain.planning import comparison_sample_size
    >>> comparison_sample_size(difference=0.05, disagreement=0.1).n
    235
    >>> comparison_sample_size(difference=0.05, rate=0.85, paired=False).n  # of each model
    537
    >>> of_recall = {"metric": "recall", "prevalence": 0.2}
    >>> comparison_sample_size(difference=0.05, disagreement=0.1, **of_recall).rows
    1232
    """
    found = count_metric(metric)
    refuse_if(
        found.name not in _COUNTED,
        "metric",
        f"metric must be one of {', '.join(map(repr, _COUNTED))}, got {metric!r}: other "
        "metrics depend on more than a difference and a disagreement.",
    )
    share = share_that_counts(found.name, _COUNTED[found.name], prevalence)
    paired = check_bool("paired", paired)
    rope = check_rope(rope)
    difference = check_number("difference", difference, low=0, high=1, percent=0)
    refuse_if(
        difference <= rope,
        "difference",
        f"difference must exceed rope={rope:g}, got {difference:g}: otherwise there is nothing "
        "to find. Exchange the models if a is the better one.",
    )
    probability = check_number(
        "probability", probability, low=0.5, high=1, closed=False, percent=0.5
    )
    power = check_number("power", power, low=0, high=1, closed=False, percent=0.5)
    prior = check_number("prior", prior, low=0, high=1e6, closed=False)
    make = _PairedStudy if paired else _UnpairedStudy
    study = make(difference, disagreement, rate, (probability, rope, prior))
    n, first_n, checked_to = _search(study, power - TOLERANCE)
    counted = _COUNTED[found.name]
    return ComparisonSampleSize(
        n=n,
        counted=f"{counted} that both models predict" if paired else f"{counted} for each model",
        chance=study.chance(n),
        first_n=first_n,
        checked_to=checked_to,
        difference=difference,
        disagreement=None if disagreement is None else float(disagreement),
        rate=None if rate is None else float(rate),
        paired=paired,
        probability=probability,
        power=power,
        rope=rope,
        prior=prior,
        metric=found.name,
        **rows_to_collect(share, n, power),
    )


def _exclusive_share(name, value, other, other_value, setting, percent):
    """Return the value that this kind of study needs; the other one must not be there."""
    refuse_if(
        other_value is not None,
        other,
        f"{other} cannot be used with {setting}: give {name} instead.",
    )
    refuse_if(value is None, name, f"{name} is missing: it is needed with {setting}.")
    return check_number(name, value, low=0, high=1, percent=percent)


def _search(study, power):
    """Smallest n that holds together with the numbers after it, first n, and how far was looked."""

    @cache
    def holds(n):
        return study.chance(n) >= power

    def fails(n, _):
        return np.array([[not holds(n.item())]])

    high = min(max(1, study.guess(power)), _MOST_ROWS)
    while not holds(high):
        refuse_if(
            high >= _MOST_ROWS,
            "difference",
            f"difference is too small: more than {_MOST_ROWS:,} rows would be needed. Plan for "
            "a larger one, or ask for a lower probability or power.",
        )
        high = min(2 * high, _MOST_ROWS)
    last = high = last_true(fails, [0], [high], ways=2).item() + 1
    # Smaller numbers may hold, too, and larger ones may not. The teeth are about sqrt(n) long where
    # there are any: rates near 1/2, or models that disagree on every row.
    window = 10 + 2 * int(np.sqrt(high))
    if not study.cheap:
        window = min(window, 30)
    first = next((n for n in range(max(1, high - window), high) if holds(n)), high)
    while gap := next((n for n in range(last, last + window + 1) if not holds(n)), None):
        last = gap + 1
    return last, first, last + window


def _likely(successes, n):
    """Outcomes that are not negligible, and their probabilities."""
    number, mass = successes.mass(n)
    kept = mass > _NEGLIGIBLE
    return number[kept], mass[kept]


class _ComparisonStudy:
    """What the studies of two models share."""

    cheap = False
    variance: float  # of the difference of one row

    def __init__(self, difference, probability, rope, prior):
        self.difference, self.rope, self.prior = difference, rope, prior
        self.probability = probability - TOLERANCE
        self.known = None  # outcomes that were just convincing for the last n

    def guess(self, power):
        """Number of rows from normal distributions."""
        z = ndtri(self.probability) + max(ndtri(max(power, 1e-12)), -ndtri(self.probability) / 2)
        effect = max(self.difference - self.rope, 1e-9)  # its square must not vanish
        return int((z**2 * max(self.variance, 0.01)) / effect**2)

    def _threshold(self, convinced, given, low, high, guess):
        """Smallest outcome from `low` to `high` that convinces; `high` + 1 if none does.

        One for every entry of `given`, the other outcome. `convinced(outcome, rows)` turns from
        False to True. An integral costs a tenth of a millisecond, so the first guess should be
        right: where there are thresholds for another n, they are better than `guess`.
        """
        if self.known is not None:
            guess = np.interp(given, *self.known)
        guess = np.rint(guess).astype(np.int64)
        start, stop = np.full(given.shape, low - 1), np.full(given.shape, high + 1)
        for offset in (-1, 0, -4, 3):
            at = np.clip(guess + offset, low, high)
            rows = np.flatnonzero((at > start) & (at < stop))
            if rows.size:
                yes = convinced(at[rows], rows)
                stop[rows[yes]], start[rows[~yes]] = at[rows[yes]], at[rows[~yes]]
        first = 1 + last_true(
            lambda outcome, rows: ~convinced(outcome[:, 0], rows)[:, None], start, stop, ways=2
        )
        self.known = given, first
        return first


class _PairedStudy(_ComparisonStudy):
    """Outcomes: rows on which exactly one model is right, and on how many of them it is b."""

    def __init__(self, difference, disagreement, rate, criterion):
        super().__init__(difference, *criterion)
        disagreement = _exclusive_share(
            "disagreement", disagreement, "rate", rate, "paired=True", percent=0
        )
        refuse_if(
            disagreement < difference,
            "disagreement",
            f"disagreement must be at least the difference {difference:g}, got "
            f"{disagreement:g}: models differ only by rows on which one of them is right.",
        )
        self.discordant = Successes(rate=disagreement)
        self.share = Successes(rate=(disagreement + difference) / (2 * disagreement))
        self.variance = disagreement - difference**2
        self.cheap = self.rope == 0

    def _convinced(self, only_b, discordant, n):
        """Whether P(b better) is high enough, with the posterior of `compare_paired`."""
        only_a, only_b = discordant - only_b + self.prior, only_b + self.prior
        if self.rope == 0:
            return betainc(only_b, only_a, 0.5) <= 1 - self.probability
        rest = n - discordant + 2 * self.prior
        posterior = discordance_posterior(only_a, only_b, rest, only_b.shape)
        return 1 - posterior.cdf(self.rope * (1 + 1e-12)) >= self.probability

    def chance(self, n):
        """Chance that n rows show that b is better."""
        number, mass = _likely(self.discordant, n)
        spread = ndtri(self.probability) * np.sqrt(number + 1.0)
        guess = (number + n * self.rope + spread) / 2
        total = number.astype(float)

        def convinced(only_b, rows):
            some = only_b <= number[rows]
            value = np.ones(rows.size, dtype=bool)  # more than all: ends the search
            at = rows[some]
            value[some] = self._convinced(only_b[some].astype(float), total[at], float(n))
            return value

        first = self._threshold(convinced, number, 0, int(number.max()), guess)
        found = self.share.failures().at_most(number - first, number)
        return float(np.clip(mass @ np.where(first <= number, found, 0.0), 0, 1))


class _UnpairedStudy(_ComparisonStudy):
    """Outcomes: the successes of each model."""

    def __init__(self, difference, disagreement, rate, criterion):
        super().__init__(difference, *criterion)
        rate = _exclusive_share(
            "rate", rate, "disagreement", disagreement, "paired=False", percent=0.1
        )
        refuse_if(
            rate + difference > 1,
            "rate",
            f"rate must be at most 1 - difference = {1 - difference:g}, got {rate:g}.",
        )
        self.a, self.b = Successes(rate=rate), Successes(rate=min(rate + difference, 1.0))
        self.variance = sum(x.rate * (1 - x.rate) for x in (self.a, self.b))

    def _convinced(self, of_a, of_b, n):
        """Whether P(b better) is high enough, with the posterior of `compare`."""
        shapes = [(k + self.prior, n - k + self.prior) for k in (of_a, of_b)]
        if self.rope == 0 and self.prior >= 0.5:
            return probability_below(*shapes) >= self.probability
        posterior = difference_of(*(BetaPosterior(*shape) for shape in shapes))
        return 1 - posterior.cdf(self.rope * (1 + 1e-12)) >= self.probability

    def chance(self, n):
        """Chance that n rows of each model show that b is better."""
        of_a, mass = _likely(self.a, n)
        of_b = _likely(self.b, n)[0]
        share = (of_a + 1.0) / (n + 2)
        spread = np.sqrt(n * (share * (1 - share) + self.b.rate * (1 - self.b.rate)))
        guess = of_a + n * self.rope + ndtri(self.probability) * spread
        exact = of_a.astype(float)

        def convinced(k, rows):
            return self._convinced(exact[rows], k.astype(float), float(n))

        first = self._threshold(convinced, of_a, of_b[0], of_b[-1], guess)
        found = self.b.failures().at_most(n - first, n)
        return float(np.clip(mass @ np.where(first <= of_b[-1], found, 0.0), 0, 1))
