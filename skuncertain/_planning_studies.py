"""What planning rests on: the outcomes of a study that has not been made yet."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betainc
from sklearn.exceptions import UndefinedMetricWarning

from skuncertain._beta_posteriors import BetaBinomialPosterior
from skuncertain._counts import ConfusionCounts
from skuncertain._differences import probability_below
from skuncertain._posterior import build_model
from skuncertain._proportions import proportion_cells
from skuncertain._special import beta_logpdf
from skuncertain._validation import import_optional, shown
from skuncertain._version import __version__
from skuncertain._warnings import dropped
from skuncertain.exceptions import SmallSampleWarning

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


class Plan:
    """What the results of planning share; not constructed by users."""

    __dataclass_fields__: Any

    def to_dict(self) -> dict:
        """Plain representation.

        Returns
        -------
        dict
            One entry per attribute, and the version.
        """
        names = [name for name, part in self.__dataclass_fields__.items() if part.repr]
        values = {name: getattr(self, name) for name in names}
        return {**values, "skuncertain": __version__}

    def to_frame(self) -> Any:
        """Table with one row.

        Returns
        -------
        pandas.DataFrame
            The entries of `to_dict`.
        """
        pandas = import_optional("pandas", "pandas", f"{type(self).__name__}.to_frame")
        return pandas.DataFrame([self.to_dict()])


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
            if high > 2**53:
                raise ValueError("prevalence is too small: more than 2**53 rows would be needed.")
        return int(last_true(too_few, [n - 1], [high]).item()) + 1


def _refuse_zero(a, b, prior):
    if np.any(np.less_equal(a, 0)) or np.any(np.less_equal(b, 0)):
        raise ValueError(
            f"prior must be above 0 for every outcome, got {shown(prior)}: otherwise a study "
            "without a failure has an interval of length 0. Use 'neutral'."
        )


class ProportionStudy:
    """A study of a proportion, or of F1: every outcome is a number of successes.

    The intervals are those of the library, for matrices with that many successes.
    """

    n_studies = seed = None

    def __init__(self, metric, successes, prior, level, kind, n_classes=2, positive=1):
        self.metric, self.successes, self.prior = metric, successes, prior
        self.level, self.kind = level, kind
        self.n_classes, self.positive = n_classes, positive
        hits, misses, _ = proportion_cells(metric)
        if isinstance(hits, str):
            self.cells = [{"trace": (0, 0), "off": (0, 1)}[side] for side in (hits, misses)]
            self.mask = (1, 1, 1, 1)
        else:
            other = (positive + 1) % n_classes
            where = [(r, c) for r in (positive, other) for c in (positive, other)]
            self.cells = [where[side.index(1.0)] for side in (hits, misses)]
            self.mask = tuple(int(h + m) for h, m in zip(hits, misses, strict=True))
            if isinstance(prior, str) and prior == "shared":
                raise ValueError(
                    f"prior 'shared' looks at the whole matrix, of which {metric.name} sees a part "
                    "only: choose another prior, or plan for accuracy."
                )
        self.counted = _COUNTED[self.mask]
        with dropped(UndefinedMetricWarning):
            ends = self._posterior(np.array([0, 1]), np.array([1, 0]))
        _refuse_zero(ends.a, ends.b, prior)
        self.prior_text = ends.prior
        # From here on the longest interval can be observed, however lopsided the prior is: it is
        # that of a mean of 1/2, for F1 of a Jaccard index of .22.
        self.lopsided = int(np.ceil(5 * max(ends.a.max(), ends.b.max())))

    def _posterior(self, hits, misses):
        matrix = np.zeros((hits.size, self.n_classes, self.n_classes))
        for cell, number in zip(self.cells, (hits, misses), strict=True):
            matrix[:, cell[0], cell[1]] = number
        labels = tuple(range(self.n_classes))
        counts = ConfusionCounts._make(matrix, labels, self.positive)
        return counts.posterior(self.metric, prior=self.prior)

    def widths(self, hits, n):
        """Length of the interval after `hits` successes among `n`."""
        hits, n = np.broadcast_arrays(hits, n)
        flat, rest = hits.ravel(), (n - hits).ravel()
        size = max(1, _CELLS_AT_ONCE // self.n_classes**2)
        parts = []
        for start in range(0, flat.size, size):
            part = slice(start, start + size)
            interval = self._posterior(flat[part], rest[part]).interval(self.level, self.kind)
            parts.append(interval.high - interval.low)
        return np.concatenate(parts).reshape(hits.shape)

    def distribution(self, n):
        """Lengths and their probabilities."""
        k, mass = self.successes.mass(n)
        return self.widths(k, n), mass

    def _worst(self, n):
        """Number of successes with the longest interval: the length rises, then falls."""
        return 1 + last_true(
            lambda k, rows: self.widths(k + 1, n[rows, None]) > self.widths(k, n[rows, None]),
            np.full(n.shape, -1),
            n,
        )

    def _narrow(self, n, width):
        """Most successes, and most failures, up to which outcomes are narrow enough; -1 for none.

        They count from the two ends towards the worst outcome. Neither falls as n grows: one more
        sample that leads away from the worst outcome makes an interval shorter.
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
            flat = n.ravel()
            return (self.widths(self._worst(flat), flat) > width).reshape(n.shape)

        high = max(int(np.ceil(4 / width**2)), self.lopsided)
        while worst_is_wide(np.array([high]), None).item():
            high *= 2
        top = last_true(worst_is_wide, [self.lopsided - 1], [high]).item() + 1

        def scan(low, high, last):
            """Last n that fails, or first n that holds, in a block; None if there is none."""
            points = np.unique(np.linspace(low, high, _BLOCKS + 1).astype(int))
            hits, misses = self._narrow(points, width)
            holds = self._probability((hits, misses), points) >= power
            ends = (slice(None, -1), slice(1, None))
            start, stop = ends if last else ends[::-1]
            bound = self._probability((hits[start], misses[start]), points[stop])
            decided = bound >= power if last else bound < power
            wanted = ~holds if last else holds
            order = range(points.size)
            for k in reversed(order) if last else order:
                if wanted[k]:
                    return int(points[k])
                block = k - 1 if last else k
                open_block = 0 <= block < decided.size and not decided[block]
                if open_block and points[block + 1] - points[block] > 1:
                    found = scan(points[block] + 1, points[block + 1] - 1, last)
                    if found is not None:
                        return found
            return None

        failing = scan(1, top, last=True)
        return (0 if failing is None else failing) + 1, scan(1, top, last=False)


class SimulatedStudy:
    """A study of any other metric: tables drawn from the posterior of a pilot study."""

    counted = "rows"

    def __init__(self, metric, belief, prior, level, kind, pos_label, n_studies, n_draws, seed):
        pilot, believed = belief  # counts, and the prior with which they tell what to expect
        self.metric, self.pilot, self.prior = metric, pilot, prior
        self.level, self.kind, self.pos_label = level, kind, pos_label
        self.n_studies, self.seed = n_studies, seed
        cells = pilot.n_classes**2
        # Fewer draws for large matrices; each length is then known to a few per cent.
        default = int(np.clip(5e7 / (cells * n_studies), 500, 4000))
        self.n_draws = default if n_draws is None else n_draws
        _refuse_zero(self._model(prior).rows - pilot.counts, 1.0, prior)
        model = self._model(believed)
        draws = model.sample(np.random.default_rng([seed, 0]), n_studies).reshape(n_studies, cells)
        self.shares = draws / draws.sum(axis=1, keepdims=True)
        self.prior_text = pilot.posterior(
            metric, prior=prior, pos_label=pos_label, n_draws=1, random_state=0
        ).prior

    def _model(self, prior):
        """Joint posterior of the cells after the pilot study."""
        if isinstance(prior, str) and prior == "auto":
            prior = "neutral" if self.pilot.n_classes == 2 else "shared"
        return build_model(self.pilot.counts.astype(float), prior, "dirichlet", None, None)

    def distribution(self, n):
        """Lengths and their probabilities."""
        # The same seed for every n: studies of similar size are similar, and the search is calm.
        tables = np.random.default_rng([self.seed, 1]).multinomial(n, self.shares)
        size = self.pilot.n_classes
        counts = ConfusionCounts._make(
            tables.reshape(-1, size, size), self.pilot.labels, self.pilot.pos_label
        )
        # A small study may lack a class: its long interval is part of the answer.
        with dropped(UndefinedMetricWarning, SmallSampleWarning):
            posterior = counts.posterior(
                self.metric,
                prior=self.prior,
                pos_label=self.pos_label,
                n_draws=self.n_draws,
                random_state=self.seed,
            )
            low, high = posterior.interval(self.level, self.kind)
        return np.asarray(high - low), np.full(self.n_studies, 1 / self.n_studies)

    def required(self, width, power):
        """Number of rows, to two per cent: lengths fall like 1 / sqrt(n)."""
        n = max(1, int(4 / width**2))
        for _ in range(50):
            ratio = np.quantile(self.distribution(n)[0], power) / width
            before, n = n, int(np.ceil(n * np.clip(ratio**2, 0.1, 10)))
            if n > MOST:
                raise ValueError(
                    f"width={width:g} would need more than {MOST:,} rows: ask for a larger one."
                )
            if abs(n - before) <= max(1, before // 50):
                break
        return n, None
