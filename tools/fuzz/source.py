"""Where the random choices of a case come from: a seed, a recorded list, or hypothesis.

Every choice is an integer in [0, n). A list of them is the whole case, and 0 is meant to be the
simplest choice everywhere, so that a failing case can be made smaller by making numbers smaller.
"""

import random

import numpy as np


class Source:
    """Choices from a seed, or those of a recorded list (0 when it is used up)."""

    def __init__(self, seed=None, *, choices=None):
        self._random = random.Random(seed)
        self._given = choices
        self.choices = []
        self.made = {}

    def note(self, **made):
        """Remember what was made, for the message about a violation."""
        self.made.update(made)

    def notes(self, place=None):
        """What was made, as text; of arrays only the part at `place` of the stack."""
        parts = []
        for name, value in self.made.items():
            if isinstance(value, np.ndarray):
                part = value if place is None or value.ndim <= len(place) else value[place]
                value = part.tolist() if part.size < 50 else f"array{part.shape}"
            parts.append(f"{name}={value!r}")
        return f" [{', '.join(parts)}]" if parts else ""

    def _next(self, n):
        if self._given is None:
            return self._random.randrange(n)
        place = len(self.choices)
        return min(self._given[place], n - 1) if place < len(self._given) else 0

    def below(self, n):
        self.choices.append(self._next(n))
        return self.choices[-1]

    def pick(self, options):
        return options[self.below(len(options))]

    def integer(self, low, high):
        return low + self.below(high - low + 1)

    def rarely(self, n=8):
        return self.below(n) == n - 1

    def real(self, low, high):
        return low + (high - low) * self.below(1025) / 1024

    def rng(self):
        """A numpy generator, for arrays: one choice for all of its numbers."""
        return np.random.default_rng(self.below(2**32))


class HypothesisSource(Source):
    """Choices that hypothesis makes and shrinks."""

    def __init__(self, data):
        super().__init__()
        self._data = data

    def _next(self, n):
        from hypothesis import strategies as st

        return self._data.draw(st.integers(0, n - 1))


def shrink(choices, still_fails, tries=400):
    """A shorter or smaller list of choices that fails in the same way."""
    best = list(choices)
    while tries > 0:
        candidates = [best[:k] for k in (0, len(best) // 2, len(best) - 1) if k < len(best)]
        candidates += [
            [*best[:k], smaller, *best[k + 1 :]]
            for k in range(len(best))
            for smaller in sorted(
                {0, *(best[k] - (best[k] >> j) for j in range(1, 32)), best[k] - 1}
            )
            if 0 <= smaller < best[k]
        ]
        for candidate in candidates:
            tries -= 1
            if still_fails(candidate):
                best = candidate
                break
            if tries <= 0:
                break
        else:
            return best
    return best
