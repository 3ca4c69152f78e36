"""What is expected of a study that has not been made yet: its outcomes, and the rows that count."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betainc
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._numerics.beta import beta_logpdf, scale_odds
from skuncertain._reporting.build import check_digits
from skuncertain._reporting.report import HasReport, IntervalReport
from skuncertain._utils.validation import (
    as_array,
    check_integer,
    check_kind,
    check_level,
    check_number,
    data_frame,
    is_real,
    refuse_if,
    resolve_seed,
)
from skuncertain._utils.warnings import silence
from skuncertain._version import __version__
from skuncertain.exceptions import SmallSampleWarning
from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._formulas import collapse, proportion_masks, proportion_odds
from skuncertain.metrics._model import build_model
from skuncertain.metrics._posterior import PosteriorOptions
from skuncertain.metrics._priors import PER_CELL, check_prior, resolve_prior
from skuncertain.metrics._registry import count_metric
from skuncertain.planning._report import make_plan_report
from skuncertain.posteriors._base import Posterior
from skuncertain.posteriors._beta import BetaBinomialPosterior, BetaPosterior
from skuncertain.posteriors._difference import probability_below

MOST = 10_000_000  # samples whose outcomes can be listed
TOLERANCE = 1e-12
_BLOCKS = 32
_CELLS_AT_ONCE = 2**22
# (tp, fn, fp, tn) that belong to the denominator, and what they are called
_COUNTED = {
    (1, 1, 0, 0): "real positives",
    (0, 0, 1, 1): "real negatives",
    (1, 0, 1, 0): "predicted positives",
    (0, 1, 0, 1): "predicted negatives",
    (1, 1, 1, 0): "rows that are positive or predicted positive",
    (1, 1, 1, 1): "rows",
}


class Plan(HasReport):
    """What the results of planning share; not constructed by users."""

    __dataclass_fields__: Any
    _words: Any  # function of the plan: title, question, rows, settings and reading of the report

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One entry per attribute, and the version.
        """
        fields = self.__dataclass_fields__.items()
        values = {name: getattr(self, name) for name, part in fields if part.repr}
        return {**values, "skuncertain": __version__}

    def to_frame(self) -> Any:
        """Table with one row.

        Returns
        -------
        pandas.DataFrame
            The entries of `to_dict`.
        """
        return data_frame(self, [self.to_dict()])

    def report(self, *, digits: int | None = None) -> IntervalReport:
        """Plan in words and numbers.

        Parameters
        ----------
        digits : int, default=None
            Decimals, see :func:`interval_report`.

        Returns
        -------
        IntervalReport
            ``print`` it, or use its `to_frame`, `to_html`, `save` and so on.
        """
        return make_plan_report(self, *self._words(), digits=check_digits(digits))


def last_true(predicate, low, high, ways=16):
    """Largest integers at which a predicate holds that is true up to some point, then false.

    It holds at `low` and does not at `high`, arrays of the same length, where it is not asked. It
    gets candidates of shape (rows, ways - 1) and the rows that they belong to: many at once save
    calls.
    """
    low, high = (np.array(end, dtype=np.int64) for end in np.broadcast_arrays(low, high))
    while (rows := np.flatnonzero(high - low > 1)).size:
        start, stop = low[rows, None], high[rows, None]
        points = np.clip(start + (stop - start) * np.arange(1, ways) // ways, start + 1, stop - 1)
        number = predicate(points, rows).sum(axis=1)  # of candidates at which it holds
        known = np.concatenate([start, points, stop], axis=1)
        here = np.arange(rows.size)
        low[rows], high[rows] = known[here, number], known[here, number + 1]
    return low


@dataclass(frozen=True)
class Successes:
    """Distribution of the successes among n: binomial, or beta-binomial if the rate is uncertain.

    Attributes
    ----------
    rate : float or None
        The rate, if it is a number.
    a, b : float
        Shapes of the Beta distribution of the rate otherwise.
    """

    rate: float | None = None
    a: float = np.nan
    b: float = np.nan

    def mean(self):
        """Expected share of successes."""
        return self.a / (self.a + self.b) if self.rate is None else self.rate

    def failures(self):
        """Distribution of the failures."""
        if self.rate is not None:
            return replace(self, rate=1 - self.rate)
        return replace(self, a=self.b, b=self.a)

    def at_most(self, k, n):
        """P(at most k of n).

        At most k of n uniform numbers are below the rate if the next one, a Beta(k + 1, n - k), is
        above it. So an uncertain rate asks which of two Beta variables is larger.
        """
        k, n = np.broadcast_arrays(np.asarray(k, dtype=float), np.asarray(n, dtype=float))
        inside = (k >= 0) & (k < n)
        c, d = np.where(inside, k + 1, 1.0), np.where(inside, n - k, 1.0)
        if self.rate is not None:
            value = betainc(d, c, 1 - self.rate)
        else:
            rate = np.full(k.size, self.a), np.full(k.size, self.b)
            value = probability_below(rate, (c.ravel(), d.ravel())).reshape(k.shape)
        return np.where(inside, value, (k >= n) * 1.0)

    def mass(self, n):
        """Numbers of successes that matter, and their probabilities."""
        if self.rate is None:
            k = np.arange(n + 1)
            mass = BetaBinomialPosterior(self.a, self.b, n).pdf(k / n)
        else:
            reach = 10 * np.sqrt(n * self.rate * (1 - self.rate)) + 50
            ends = np.clip([n * self.rate - reach, n * self.rate + reach], 0, n).astype(int)
            k = np.arange(ends[0], ends[1] + 1)
            # The density of Beta(k + 1, n - k + 1) is n + 1 times the binomial probability.
            mass = np.exp(beta_logpdf(self.rate, k + 1.0, n - k + 1.0))
        return k, mass / mass.sum()

    def rows_for(self, n, power):
        """Rows that hold at least n successes with probability `power`."""

        def too_few(total, _):
            return self.at_most(n - 1, total) > 1 - power + TOLERANCE

        high = n
        while too_few(high, None):
            high *= 2
            refuse_if(
                high > 2**53,
                "prevalence",
                "prevalence is too small: more than 2**53 rows would be needed.",
            )
        return int(last_true(too_few, [n - 1], [high]).item()) + 1


def _refuse_zero(a, b, prior):
    refuse_if(
        np.any(np.less_equal(a, 0)) or np.any(np.less_equal(b, 0)),
        "prior",
        "prior must be above 0 for every outcome, got {value}: otherwise a study "
        "without a failure has an interval of width 0. Use 'neutral'.",
        value=prior,
    )


class _Study:
    """What the studies of an interval share."""

    def describe(self):
        """Attributes of a plan that say which interval of which study it is about."""
        return {
            "metric": self.metric.name,
            "counted": self.counted,
            "level": self.level,
            "kind": self.kind,
            "prior": self.prior_text,
            "n_studies": self.n_studies,
            "seed": self.seed,
        }


class ProportionStudy(_Study):
    """A study of a proportion, or of F1: every outcome is a number of successes.

    The intervals are those of the library, for matrices with that many successes.
    """

    n_studies = seed = None

    def __init__(self, metric, successes, prior, level, kind, n_classes=2, positive=1):
        self.metric, self.successes, self.prior = metric, successes, prior
        self.level, self.kind = level, kind
        self.n_classes, self.positive = n_classes, positive
        # One cell stands for all that are successes, another one for all that are failures.
        self.cells = [
            tuple(np.argwhere(mask)[0]) for mask in proportion_masks(metric, n_classes, positive)
        ]
        of_two_classes = np.logical_or(*proportion_masks(metric, 2, 1))
        self.mask = tuple(int(cell) for cell in collapse(of_two_classes, 1))
        refuse_if(
            metric.average == "binary" and isinstance(prior, str) and prior == "shared",
            "prior",
            f"prior 'shared' looks at the whole matrix, of which {metric.name} sees a part "
            "only: choose another prior, or plan for accuracy.",
        )
        self.counted = _COUNTED.get(self.mask, "rows that count")
        with silence(UndefinedMetricWarning):
            ends = self._posterior(np.array([0, 1]), np.array([1, 0]))
        _refuse_zero(ends.a, ends.b, prior)
        self.prior_text = ends.prior
        # From here on the longest interval can be observed, however lopsided the prior is: it is
        # that of a mean of 1/2, for F1 of a Jaccard index of .22.
        self.lopsided = int(np.ceil(5 * max(ends.a.max(), ends.b.max())))
        # With calibrated ends, so many outcomes at either end are not in line with the others.
        self.edge = 0 if ends.about.successes_failures is None else 2

    def _posterior(self, hits, misses):
        matrix = np.zeros((hits.size, self.n_classes, self.n_classes))
        for cell, number in zip(self.cells, (hits, misses), strict=True):
            matrix[:, cell[0], cell[1]] = number
        counts = ConfusionCounts._make(matrix, tuple(range(self.n_classes)), self.positive)
        return counts.posterior(self.metric, prior=self.prior)

    def widths(self, hits, n):
        """Length of the interval after `hits` successes among `n`."""
        hits, n = np.broadcast_arrays(hits, n)
        flat, rest = hits.ravel(), (n - hits).ravel()
        size = max(1, _CELLS_AT_ONCE // self.n_classes**2)
        parts = [slice(start, start + size) for start in range(0, max(flat.size, 1), size)]
        posteriors = (self._posterior(flat[part], rest[part]) for part in parts)
        widths = [posterior.interval(self.level, self.kind).width for posterior in posteriors]
        return np.concatenate(widths).reshape(hits.shape)

    def distribution(self, n):
        """Lengths and their probabilities."""
        k, mass = self.successes.mass(n)
        return self.widths(k, n), mass

    def _worst(self, n):
        """Number of successes with the longest interval: the width rises, then falls.

        Outcomes with calibrated ends are left out: 1 success may have a longer interval than 2.
        """
        return 1 + last_true(
            lambda k, rows: self.widths(k + 1, n[rows, None]) > self.widths(k, n[rows, None]),
            np.full(n.shape, self.edge - 1),
            n - self.edge,
        )

    def _longest(self, n):
        """Length of the longest interval, those with calibrated ends among them."""
        ends = np.arange(self.edge), n[:, None] - np.arange(self.edge)
        lengths = [self.widths(k, n[:, None]) for k in (self._worst(n)[:, None], *ends)]
        return np.concatenate(lengths, axis=1).max(axis=1)

    def _irregular(self, n, width):
        """Whether a narrow outcome lies between a calibrated one that is wide and the worst."""
        if not self.edge:
            return np.zeros(n.shape, dtype=bool)
        near, irregular = np.arange(self.edge + 1), n <= self.lopsided
        for k in (near, n[:, None] - near):
            narrow = self.widths(np.clip(k, 0, n[:, None]), n[:, None]) <= width
            irregular = irregular | np.any(narrow[:, 1:] & ~narrow[:, :-1], axis=1)
        return irregular

    def _narrow(self, n, width):
        """Most successes, and most failures, up to which outcomes are narrow enough; -1 for none.

        They count from the two ends towards the worst outcome. Neither falls as n grows: one more
        sample that leads away from the worst outcome makes an interval shorter. No n is irregular.
        """
        worst = self._worst(n)
        wide = self.widths(worst, n) > width
        none = np.full(n.shape, -1)
        few_hits = last_true(lambda k, r: self.widths(k, n[r, None]) <= width, none, worst)
        few_misses = last_true(
            lambda k, r: self.widths(n[r, None] - k, n[r, None]) <= width, none, n - worst
        )
        return few_hits, np.where(wide, few_misses, n - worst)

    def _probability(self, narrow, n):
        hits, misses = narrow
        both = self.successes.at_most(hits, n) + self.successes.failures().at_most(misses, n)
        return np.minimum(both, 1.0)

    def required(self, width, power):
        """Smallest n from which on `power` is reached, and the first n that reaches it.

        From `top` on even the worst outcome is narrow enough. Before, the probability is a sawtooth
        in n. Blocks of n are bounded: with the narrow outcomes of its first n fixed, the
        probability falls until its last n, so that is a lower bound for the whole block; the other
        way round is an upper one. Blocks that the bounds do not decide are cut into smaller ones.
        """
        power = power - TOLERANCE

        def worst_is_wide(n, _):
            return (self._longest(n.ravel()) > width).reshape(n.shape)

        high = max(int(np.ceil(4 / width**2)), self.lopsided)
        while worst_is_wide(np.array([high]), None).item():
            high *= 2
        top = last_true(worst_is_wide, [self.lopsided - 1], [high]).item() + 1

        def scan(low, high, last):
            """Last n that fails, or first n that holds, in a block; None if there is none."""
            points = np.unique(np.linspace(low, high, _BLOCKS + 1).astype(int))
            hits, misses = np.full((2, points.size), -1 if last else MOST)  # nothing is decided
            odd = self._irregular(points, width)
            hits[~odd], misses[~odd] = self._narrow(points[~odd], width)
            reached = self._probability((hits, misses), points)
            for k in np.flatnonzero(odd):
                lengths, mass = self.distribution(points[k])
                reached[k] = mass[lengths <= width].sum()
            holds = reached >= power
            ends = (slice(None, -1), slice(1, None))
            start, stop = ends if last else ends[::-1]
            bound = self._probability((hits[start], misses[start]), points[stop])
            decided = bound >= power if last else bound < power
            wanted = ~holds if last else holds
            for k in range(points.size)[:: -1 if last else 1]:
                if wanted[k]:
                    return int(points[k])
                block = k - 1 if last else k
                open_block = 0 <= block < decided.size and not decided[block]
                if open_block and points[block + 1] - points[block] > 1:
                    found = scan(points[block] + 1, points[block + 1] - 1, last)
                    if found is not None:
                        return found
            return None

        return (scan(1, top, last=True) or 0) + 1, scan(1, top, last=False)


class SimulatedStudy(_Study):
    """A study of any other metric: tables drawn from the posterior of a pilot study."""

    counted = "rows"

    def __init__(self, metric, belief, prior, level, kind, pos_label, n_studies, n_draws, seed):
        pilot, believed = belief  # counts, and the prior with which they tell what to expect
        self.metric, self.pilot, self.prior = metric, pilot, prior
        self.level, self.kind, self.pos_label = level, kind, pos_label
        self.n_studies, self.seed = n_studies, seed
        cells = pilot.n_classes**2
        # Fewer draws for large matrices; each width is then known to a few per cent.
        default = int(np.clip(5e7 / (cells * n_studies), 500, 4000))
        self.n_draws = default if n_draws is None else n_draws
        _refuse_zero(self._model(prior).rows - pilot.counts, 1.0, prior)
        draws = self._model(believed).sample(np.random.default_rng([seed, 0]), n_studies)
        draws = draws.reshape(n_studies, cells)
        self.shares = draws / draws.sum(axis=1, keepdims=True)
        options = {"pos_label": pos_label, "n_draws": 1, "random_state": 0}
        self.about = pilot.posterior(metric, prior=prior, **options).about
        self.prior_text = self.about.prior

    def _model(self, prior):
        """Joint posterior of the cells after the pilot study."""
        prior = resolve_prior(prior, self.pilot.n_classes)
        return build_model(self.pilot.counts.astype(float), prior, PosteriorOptions(), None)

    def distribution(self, n):
        """Lengths and their probabilities."""
        # The same seed for every n: studies of similar size are similar, and the search is calm.
        tables = np.random.default_rng([self.seed, 1]).multinomial(n, self.shares)
        size = self.pilot.n_classes
        counts = ConfusionCounts._make(
            tables.reshape(-1, size, size), self.pilot.labels, self.pilot.pos_label
        )
        # A small study may lack a class: its long interval is part of the answer.
        with silence(UndefinedMetricWarning, SmallSampleWarning):
            posterior = counts.posterior(
                self.metric,
                prior=self.prior,
                pos_label=self.pos_label,
                n_draws=self.n_draws,
                random_state=self.seed,
            )
            widths = np.asarray(posterior.interval(self.level, self.kind).width)
        return widths, np.full(self.n_studies, 1 / self.n_studies)

    def required(self, width, power):
        """Number of rows, to two per cent: widths fall like 1 / sqrt(n)."""
        n = max(1, int(4 / width**2))
        for _ in range(50):
            ratio = np.quantile(self.distribution(n)[0], power) / width
            before, n = n, int(np.ceil(n * np.clip(ratio**2, 0.1, 10)))
            refuse_if(
                n > MOST,
                "width",
                f"width={width:g} would need more than {MOST:,} rows: ask for a larger one.",
            )
            if abs(n - before) <= max(1, before // 50):
                break
        return n, None


# --------------------------------------------------------------------------------------------------
# The study that is expected


def expected_study(metric, expected, *, level, kind, prior, pos_label, simulation, prevalence=None):
    """Study, distribution of the rows that count (None if it is not known), and a text."""
    n_studies, n_draws, random_state = simulation
    metric, level, kind = count_metric(metric), check_level(level), check_kind(kind)
    n_studies = check_integer("n_studies", n_studies, low=2)
    if n_draws is not None:
        n_draws = check_integer("n_draws", n_draws, low=100)
    seed = resolve_seed(random_state)
    pilot = expected if isinstance(expected, ConfusionCounts) else None
    refuse_if(
        isinstance(expected, Posterior) and expected.shape,
        "expected",
        "expected must be one posterior, got a stack: index the counts first.",
    )
    refuse_if(
        pilot is not None and (pilot.shape or pilot.n == 0),
        "expected",
        "expected must be counts of one pilot study with rows: index or sum them.",
    )
    refuse_if(
        pilot is None and pos_label is not None,
        "pos_label",
        "pos_label={value} says which class of the counts is positive, but "
        "expected holds no counts: leave it out.",
        value=pos_label,
    )
    prior = check_prior(prior, 2 if pilot is None else pilot.n_classes)
    if proportion_odds(metric) is None:
        believed = prior
        if pilot is None:
            pilot, believed, pos_label = _pilot_behind(metric, expected)
        refuse_if(
            prevalence is not None,
            "prevalence",
            f"prevalence cannot be used for {metric.name}: n counts rows, as they were in the "
            "pilot study.",
        )
        study = SimulatedStudy(
            metric, (pilot, believed), prior, level, kind, pos_label, n_studies, n_draws, seed
        )
        text = study.about.question(f"what a pilot of {pilot.n:g} rows says")
        return study, Successes(rate=1.0), text
    if pilot is None:
        successes, text = _successes(metric, expected)
        study = ProportionStudy(metric, successes, prior, level, kind)
    else:
        positive = pilot.positive_index(metric, pos_label)
        classes = pilot.n_classes, 1 if positive is None else positive
        believed = pilot.posterior(metric, prior=prior, pos_label=pos_label)
        successes, text = _of_posterior(metric, believed)
        study = ProportionStudy(metric, successes, prior, level, kind, *classes)
    return study, _rows_that_count(study, pilot, prevalence), text


def _pilot_behind(metric, expected):
    """Counts, prior and positive class that a posterior of the metric was made from."""
    asked = expected.about.origin if isinstance(expected, Posterior) else None
    refuse_if(
        asked is None or asked.metric.name != metric.name,
        "expected",
        f"expected={{value}} is not enough for {metric.name}: the width of its "
        "interval depends on all cells, not on its value alone.",
        value=expected,
        remedy="It must be ConfusionCounts of a pilot study, or their posterior of it.",
    )
    refuse_if(
        expected.about.model != "dirichlet" or expected.about.prevalence is not None,
        "expected",
        "expected must be a posterior with model='dirichlet' and the prevalence of the counts: "
        "the planned analysis has these.",
    )
    return (
        asked.counts,
        asked.options.prior,
        None if asked.positive is None else asked.counts.labels[asked.positive],
    )


def _successes(metric, expected):
    """Distribution of the successes from a number, a pair or a posterior, and a text."""
    odds = proportion_odds(metric)
    if isinstance(expected, BetaPosterior):
        return _of_posterior(metric, expected)
    if is_real(expected):
        value = check_number("expected", expected, low=0, high=1, percent=0.1)
        return Successes(rate=float(scale_odds(value, 1 / odds))), f"{value:g}"
    pair = as_array("expected", expected)
    refuse_if(
        isinstance(expected, str) or pair.ndim != 1 or len(pair) != 2,
        "expected",
        "expected must be a number, a pair (mode, concentration), a BetaPosterior or "
        "ConfusionCounts of a pilot study, got {value}.",
        value=expected,
    )
    mode = check_number(
        "expected", expected[0], low=0, high=1, what="the mode in expected", percent=0.1
    )
    weight = check_number(
        "expected",
        expected[1],
        low=2,
        high=1e12,
        closed=False,
        what="the concentration in expected",
    )
    share = float(scale_odds(mode, 1 / odds))
    a, b = share * (weight - 2) + 1, (1 - share) * (weight - 2) + 1
    return Successes(a=a, b=b), f"mode {mode:g} with concentration {weight:g}"


def _of_posterior(metric, posterior):
    about = posterior.about
    of_it = about.metric in (None, "proportion", metric.name) and about.n_new is None
    elsewhere = about.prevalence is not None and metric.depends_on_prevalence is not False
    refuse_if(
        not of_it or elsewhere or posterior.odds != proportion_odds(metric),
        "expected",
        f"expected must be a posterior of {metric.name}, got {{value}}: use "
        f"counts.posterior({metric.name!r}).",
        value=posterior,
    )
    a, b = float(posterior.a), float(posterior.b)
    refuse_if(
        a <= 0 or b <= 0,
        "expected",
        "expected must be a proper posterior, got {value}.",
        value=posterior,
    )
    text = "a posterior of {:.3g} to {:.3g} (95 %)".format(*posterior.interval())
    return Successes(a=a, b=b), about.question(text)


def _rows_that_count(study, pilot, prevalence):
    """Distribution of the rows that count among all rows, or None."""
    if pilot is None or prevalence is not None or study.counted == "rows":
        return share_that_counts(study.metric.name, study.counted, prevalence)
    cells = np.array(collapse(pilot.counts, study.positive)) + PER_CELL["neutral"]
    counts = np.array(study.mask, dtype=bool)
    return Successes(a=float(cells[counts].sum()), b=float(cells[~counts].sum()))


def share_that_counts(metric, counted, prevalence):
    """Distribution of the rows that count among all rows; None if it is not known."""
    if counted == "rows":
        refuse_if(
            prevalence is not None,
            "prevalence",
            f"prevalence cannot be used for {metric}: every row counts.",
        )
        return Successes(rate=1.0)
    if prevalence is None:
        return None
    share = check_number("prevalence", prevalence, low=0, high=1, closed=False, percent=0)
    refuse_if(
        counted not in ("real positives", "real negatives"),
        "prevalence",
        f"prevalence cannot be used for {metric}, which counts {counted}: it does not say how "
        "many they are.",
        remedy="Give expected=ConfusionCounts of a pilot study.",
    )
    return Successes(rate=share if counted == "real positives" else 1 - share)


def rows_to_collect(share, n, power):
    """Rows that bring n that count: with probability `power`, and on average."""
    if share is None:
        return {"rows": None, "rows_on_average": None}
    rows = share.rows_for(n, power)  # a share that is too small is refused here
    return {"rows": rows, "rows_on_average": int(np.ceil(n / share.mean() - 1e-9))}
