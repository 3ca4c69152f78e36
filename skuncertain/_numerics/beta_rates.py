"""Metrics of prevalence, recall and false positive rate: one integral, or two.

They are needed for MCC and Cohen's kappa, and for every metric that depends on the prevalence when
that is not the one of the test set. Given prevalence and false positive rate, each of them rises or
falls with recall.
"""

import itertools
from functools import cached_property

import numpy as np

from skuncertain._numerics.quadrature import (
    BetaRule,
    BetaTable,
    Influence,
    Integrand,
    combine_to_one_peak,
    moments_by_rule,
    skewness_by_rule,
)

_NODES = (80, 112)  # of the false positive rate: a whole range, a cut one
_WEAK = 0.3  # smallest shape whose poles the integrand of the density can resolve


def _gap(x, x_, y, y_):
    """Difference x - y, of the complements where they are smaller and have more digits."""
    return np.where(x + y < 1, x - y, y_ - x_)


class _LinearInRates:
    """Metrics of which M <= t says: constant + by_x * recall + by_y * fpr <= 0.

    Subclasses have ``coefficients(t, phi, phi_, rows)``: the two slopes, and that sum in the four
    corners (0, 0), (1, 0), (0, 1), (1, 1) of recall and fpr. Starting from the nearest corner keeps
    the digits of rates next to 0 or 1; so does `phi_`, the complement of the prevalence.
    """

    def cuts(self, t, phi, phi_, rows):
        """Where the solution for x is 0 and 1, each with its complement."""
        _, by_y, at_00, at_10, at_01, at_11 = self.coefficients(t, phi, phi_, rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.where(by_y == 0, 0.0, -at_00 / by_y), np.where(by_y == 0, 1.0, at_01 / by_y)
            second = np.where(by_y == 0, 1.0, -at_10 / by_y), np.where(by_y == 0, 0.0, at_11 / by_y)
        rising = first[0] < second[0]
        return np.where(rising, first, second), np.where(rising, second, first)

    def solve(self, t, phi, phi_, y, y_, rows):
        by_x, by_y, at_00, at_10, at_01, at_11 = self.coefficients(t, phi, phi_, rows)
        from_0, step = y < 0.5, by_y * np.where(y < 0.5, y, -y_)
        point, rest = np.where(from_0, at_00, at_01) + step, np.where(from_0, at_10, at_11) + step
        return -point / by_x, rest / by_x, (by_x > 0 if np.isrealobj(by_x) else True)


class _LinearFractional(_LinearInRates):
    """A linear function of the cells divided by another."""

    def __init__(self, weights):
        # Of tp, fn, fp, tn in both, shape (2, 4, rows). Rows may have their classes swapped.
        self.weights = weights

    def swap(self, swap):
        """Exchange the classes of some rows."""
        self.weights = np.where(swap, self.weights[:, ::-1], self.weights)

    def _excess(self, t, rows):
        numerator, denominator = self.weights[..., rows]
        return numerator - t * denominator

    def coefficients(self, t, phi, phi_, rows):
        tp, fn, fp, tn = self._excess(t, rows)
        corners = [phi * p + phi_ * n for n in (tn, fp) for p in (fn, tp)]
        return phi * (tp - fn), phi_ * (fp - tn), *corners

    def kinks(self, t, rows):
        """Prevalences at which the cuts pass 0 or 1."""
        tp, fn, fp, tn = self._excess(t, rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            kinks = [n / (n - p) for p, n in itertools.product((tp, fn), (fp, tn))]
        return [np.nan_to_num(kink, nan=0.0, posinf=0.0, neginf=0.0) for kink in kinks]

    def value(self, phi, phi_, x, x_, y, y_, rows):
        cells = (phi * x, phi * x_, phi_ * y, phi_ * y_)
        top, bottom = (
            sum(part[k] * cells[k] for k in range(4)) for part in self.weights[..., rows]
        )
        return top / bottom


class _Kappa(_LinearInRates):
    """Cohen's kappa is a quotient of functions that are linear in recall and in fpr."""

    def kinks(self, t, rows):
        # kappa < t is impossible for t < 0 unless the prevalence is near one half
        v = np.where(t < 0, -t / (2 * (1 - t)), 0.0)
        edge = 2 * v / (1 + np.sqrt(np.maximum(1 - 4 * v, 0.0)))
        return [edge, 1 - edge]

    def coefficients(self, t, phi, phi_, rows):
        both, skew = 2 * phi * phi_, t * (phi_ - phi)
        swapped = -both - t * (phi * phi + phi_ * phi_)  # nobody is right
        corners = -t * phi, both * (1 - t), swapped, -t * phi_
        return both - skew * phi, -both - skew * phi_, *corners

    def value(self, phi, phi_, x, x_, y, y_, rows):
        q, q_ = phi * x + phi_ * y, phi * x_ + phi_ * y_
        chance = phi * q_ + phi_ * q
        # Nobody positive and nobody predicted so: 0/0, with weight 0
        return 2 * phi * phi_ * _gap(x, x_, y, y_) / np.where(chance == 0, 1.0, chance)


class _Matthews:
    """MCC = (x - y) sqrt(phi (1 - phi) / (q (1 - q))), q = phi x + (1 - phi) y, rising in x."""

    def value(self, phi, phi_, x, x_, y, y_, rows):
        q, q_ = phi * x + phi_ * y, phi * x_ + phi_ * y_
        return _gap(x, x_, y, y_) * np.sqrt(phi * phi_) / (np.sqrt(q) * np.sqrt(q_))

    def kinks(self, t, rows):
        return []

    def cuts(self, t, phi, phi_, rows):
        square, zero, one = t * t, np.zeros_like(t), np.ones_like(t)
        total = phi + square * phi_
        edge, edge_ = square / total, phi * (1 - t) * (1 + t) / total
        low = np.where(t < 0, (edge, edge_), (zero, one))
        return low, np.where(t > 0, (edge_, edge), (one, zero))

    def solve(self, t, phi, phi_, y, y_, rows):
        # Of x and its complement the larger one is a sum of positive terms, and the smaller one the
        # same with y and 1 - y exchanged, multiplied out so that no digits are lost.
        negative = t.real < 0
        size, square = np.where(negative, -t, t), t * t
        y, y_ = np.where(negative, y_, y), np.where(negative, y, y_)
        width = phi_ + phi * square
        root = size * np.sqrt(square + 4 * phi_ / phi * y * y_)
        large = (y * (2 * width - square) + square * y_ + root) / (2 * width)
        small = 2 * y_ * phi_ * (y_ * (1 - size) * (1 + size) - square * y / phi)
        small = small / (y_ * (2 * width - square) + square * y + root)
        return np.where(negative, small, large), np.where(negative, large, small), True


class _RatesGScore:
    """sqrt(precision * recall) when the prevalence is not that of the test set."""

    def value(self, phi, phi_, x, x_, y, y_, rows):
        with np.errstate(invalid="ignore"):
            return x * np.sqrt(phi / (phi * x + phi_ * y))

    def kinks(self, t, rows):
        return [t * t]  # where the cut below passes 1

    def cuts(self, t, phi, phi_, rows):
        high = phi * (1 - t * t) / (t * t * phi_)
        return (np.zeros_like(t), np.ones_like(t)), (high, 1 - high)

    def solve(self, t, phi, phi_, y, y_, rows):
        square = t * t
        x = 0.5 * (square + np.sqrt(square * square + 4 * square * phi_ / phi * y))
        return x, 1 - x, True


class Rates:
    """A metric of prevalence, recall and false positive rate, rising or falling in recall.

    Parameters
    ----------
    kind : {"linear", "kappa", "matthews", "g_score"}
        Which function.
    phi : tuple of two ndarrays of shape (rows,), or ndarray of shape (rows,)
        Shapes of the prevalence, or a fixed prevalence.
    recall, fpr : tuple of two ndarrays of shape (rows,)
        Shapes.
    link : Link
        Maps the range of the metric to the real line.
    weights : tuple of two sequences of 4 floats, default=None
        Numerator and denominator of a linear-fractional metric.
    """

    def __init__(self, kind, phi, recall, fpr, link, weights=None):
        self.fixed = not isinstance(phi, tuple)
        self.size, self.link = recall[0].size, link
        if kind == "linear":
            self.form = _LinearFractional(
                np.repeat(np.array(weights, float)[..., None], self.size, -1)
            )
        else:
            self.form = {"kappa": _Kappa, "matthews": _Matthews, "g_score": _RatesGScore}[kind]()
        self.phi, self.recall, self.fpr = phi, recall, fpr
        self.one_peaked = combine_to_one_peak([recall, fpr])
        self._locate()
        if kind != "g_score":
            self._swap(self.moves[1] > self.moves[0])
            self._locate()
        # The prevalence moves the metric `ratio` times as far as the inner variable does: the inner
        # probability is a step of width 1 / ratio, and the nodes must be closer than that.
        # Small shapes have singular densities and want more nodes, too.
        ratio = 0.0 if self.fixed else np.max(self.moves[2] / np.maximum(self.moves[0], 1e-300))
        smallest = min(np.min(shape) for shape in (*self.recall, *self.fpr))
        self.n_phi = int(min(40 + 24 / (0.5 + smallest) + 24 * ratio, 960.0))
        self.nodes = _NODES
        self.resolved = bool(ratio <= 36)
        # An empty cell lets a class swing between 0 and 1 and the integrands become steep.
        self.steep = smallest < 1.5 or kind == "g_score"

    def refine(self, accuracy=1e-7):
        """Take more nodes until the cdf does not change any more; `resolved` says whether it does.

        The rule above is enough for the Dirichlet over all cells, but not for every prevalence.
        """
        if not (self.steep and self.resolved):
            return self
        points = [
            self.link.to_range(self.influence.centre + z * self.scale)
            for z in (-1.5, -0.5, 0.1, 0.6, 1.3)
        ]
        t, rows = np.concatenate(points), np.tile(np.arange(self.size), len(points))
        inside = self.link.inside(t)
        t, rows = t[inside], rows[inside]
        before = self.cdf(t, rows)
        for _ in range(4):
            fewer = self.n_phi, self.nodes
            self._set_nodes(int(1.6 * self.n_phi), tuple(int(1.6 * n) for n in self.nodes))
            after = self.cdf(t, rows)
            if np.all(np.abs(after - before) <= accuracy):
                self._set_nodes(*fewer)
                return self
            before = after
        self.resolved = False
        return self

    def _set_nodes(self, n_phi, nodes):
        self.n_phi, self.nodes = n_phi, nodes
        for kept in ("_rule_phi", "_rule_fpr"):
            self.__dict__.pop(kept, None)

    @classmethod
    def of_dirichlet(cls, kind, cells, link):
        """MCC or kappa of a Dirichlet with shapes `cells` = (tp, fn, fp, tn).

        Both do not change when truth and prediction are exchanged. The Dirichlet factorises by rows
        and by columns: take the way in which the outermost variable matters less.
        """
        tp, fn, fp, tn = cells
        families = [
            cls(kind, (tp + second, third + tn), (tp, second), (third, tn), link)
            for second, third in ((fn, fp), (fp, fn))
        ]
        ratios = [found.moves[2] / np.maximum(found.moves[0], 1e-300) for found in families]
        by_column = ratios[1] < ratios[0]
        fn, fp = np.where(by_column, fp, fn), np.where(by_column, fn, fp)
        return cls(kind, (tp + fn, fp + tn), (tp, fn), (fp, tn), link)

    def _locate(self):
        variables = [self.recall, self.fpr] + ([] if self.fixed else [self.phi])
        found = Influence(self._on_line, variables)
        found.centre = np.where(np.isfinite(found.centre), found.centre, 0.0)
        self.moves = [np.nan_to_num(move, nan=1.0, posinf=100.0) for move in found.moves]
        self.scale = found.scale = np.maximum(np.sqrt(sum(m**2 for m in self.moves)), 1e-12)
        self.influence = found

    def _on_line(self, x, x_, y, y_, *phi_and_rows):
        *phi, rows = phi_and_rows
        return self.link.to_line(self.form.value(*phi or self._fixed(rows), x, x_, y, y_, rows))

    def _fixed(self, rows):
        """Given prevalences and their complements."""
        return self.phi[rows], 1 - self.phi[rows]

    def _swap(self, swap):
        """Exchange the classes where the fpr moves the metric more than recall.

        The inner variable must be the more influential one (see `Pair`). With the classes
        exchanged, specificity plays the part of recall.
        """
        (a, b), (c, d) = self.recall, self.fpr
        self.recall = np.where(swap, d, a), np.where(swap, c, b)
        self.fpr = np.where(swap, b, c), np.where(swap, a, d)
        if self.fixed:
            self.phi = np.where(swap, 1 - self.phi, self.phi)
        else:
            self.phi = tuple(np.where(swap, self.phi[::-1], self.phi))
        if isinstance(self.form, _LinearFractional):
            self.form.swap(swap)

    @cached_property
    def _rule_fpr(self):
        return BetaRule(*self.fpr).keep_nodes(self.nodes[0])

    @cached_property
    def _table(self):
        """Table of the inner cdf; none for shapes so small that it would not be exact."""
        return BetaTable(BetaRule(*self.recall)) if np.min(self.recall) >= 0.1 else None

    @cached_property
    def _rule_phi(self):
        return BetaRule(*self.phi).keep_nodes(self.n_phi)

    def _prevalences(self, t, rows):
        """Nodes for the prevalence, their complements and weights, each of shape (rows, n)."""
        if self.fixed:
            return *self._fixed((rows, None)), np.ones((rows.size, 1))
        rule = self._rule_phi.take(rows)
        kinks = self.form.kinks(t, rows)
        kinked = np.any((np.asarray(kinks) > 0) & (np.asarray(kinks) < 1))
        weak = self._least(rows).min(initial=1.0) < _WEAK  # poles want the closer nodes, too
        if not kinked and not weak:
            return rule.nodes(self.n_phi)
        edges = np.sort(np.clip([np.zeros_like(t), *kinks, np.ones_like(t)], 0.0, 1.0), axis=0)
        others = edges[::-1] if isinstance(self.form, _Kappa) else 1 - edges  # mirrored at 1/2
        panels = [
            rule.cut_nodes(low, high, np.arange(rows.size), n=3 * self.n_phi)
            for low, high in itertools.pairwise(zip(edges, others, strict=True))
        ]
        return tuple(np.concatenate(part, axis=1) for part in zip(*panels, strict=True))

    def _evaluate(self, t, rows, density, stride=1):
        phi, phi_, weight = self._prevalences(t, rows)
        if stride > 1 and not self.fixed:
            phi, phi_, weight = (part[:, ::stride] for part in (phi, phi_, stride * weight))
        lines = np.flatnonzero(weight.ravel() > 1e-17)
        line = lines // phi.shape[1]
        phi, phi_ = (np.maximum(part.ravel()[lines], 1e-290) for part in (phi, phi_))
        line_rows, line_t = rows[line], t[line]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low, high = self.form.cuts(line_t, phi, phi_, line_rows)
        low, high = (
            tuple(np.nan_to_num(part, nan=end) for part, end in zip(cut, ends, strict=True))
            for cut, ends in ((low, (0.0, 1.0)), (high, (1.0, 0.0)))
        )

        def solve(t, y, y_, part):
            given = phi[part, None], phi_[part, None]
            return self.form.solve(t, *given, y, y_, line_rows[part, None])

        integrand = Integrand(
            line_t,
            line_rows,
            self._rule_fpr,
            self.recall,
            solve,
            low,
            high,
            table=None if density else self._table,
            nodes=self.nodes,
            stride=stride,
        )
        value = np.zeros(weight.shape)
        value.ravel()[lines] = integrand.density() if density else integrand.cdf()
        return (weight * value).sum(axis=-1)

    def guess(self, p, rows):
        """Rough quantiles on the line of the link."""
        return self.influence.quantile(p, rows)

    def cdf(self, t, rows):
        """P(M <= t) for values `t` strictly inside the range."""
        return np.clip(self._evaluate(t, rows, density=False), 0.0, 1.0)

    def rough_cdf(self, t, rows):
        """Half of the digits of `cdf` for a quarter of the price."""
        return np.clip(self._evaluate(t, rows, density=False, stride=2), 0.0, 1.0)

    def density(self, t, rows):
        """Density at values `t` strictly inside the range."""
        weak = self._least(rows) < _WEAK
        value = np.empty(np.shape(t))
        if not weak.all():
            value[~weak] = self._evaluate(t[~weak], rows[~weak], density=True)
        if weak.any():
            value[weak] = self._slope_of_cdf(t[weak], rows[weak])
        return value

    def _least(self, rows):
        """Smallest shape of every row."""
        shapes = self.recall + self.fpr + (() if self.fixed else self.phi)
        return np.min(shapes, axis=0)[rows]

    def _slope_of_cdf(self, t, rows):
        """Density by differences: next to poles the integrand of the density has no good rule."""
        at, slopes = self.link.to_line(t), []
        for step in (0.02, 0.01):
            reach = step * self.scale[rows]
            low, high = (self.link.clip(self.link.to_range(at + s * reach)) for s in (-1, 1))
            gain = self.cdf(high, rows) - self.cdf(low, rows)
            with np.errstate(invalid="ignore"):  # no room between them where floats end: NaN
                slopes.append(np.maximum(gain, 0.0) / (high - low))
        return np.maximum((4 * slopes[1] - slopes[0]) / 3, 0.0)

    def moments(self):
        """Mean and variance of every row."""
        return moments_by_rule(*self._rule())

    def skewness(self):
        """Skewness of every row."""
        return skewness_by_rule(*self._rule())

    def _rule(self):
        """The metric as a function of its variables, these, and their numbers of nodes."""
        if self.fixed:
            return (
                lambda x, x_, y, y_, row: self.form.value(*self._fixed(row), x, x_, y, y_, row),
                [self.recall, self.fpr],
                [128, 128],
            )
        return (
            lambda x, x_, y, y_, *phi_row: self.form.value(*phi_row[:2], x, x_, y, y_, phi_row[2]),
            [self.recall, self.fpr, self.phi],
            [96, 96, 64],
        )

    def sample(self, rng, size):
        """Independent draws of shape (size, rows)."""
        shape = (size, self.size)
        phi = np.broadcast_to(self.phi, shape) if self.fixed else rng.beta(*self.phi, size=shape)
        x, y = rng.beta(*self.recall, size=shape), rng.beta(*self.fpr, size=shape)
        return self.form.value(phi, 1 - phi, x, 1 - x, y, 1 - y, np.arange(self.size))
