"""Runs cases and judges what became of them."""

import json
import signal
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field

from sklearn.exceptions import UndefinedMetricWarning

import skuncertain
from tools.fuzz.source import Source, shrink

ERRORS = (ValueError, TypeError)  # what docs/robustness.rst promises for bad input
WARNINGS = (
    skuncertain.exceptions.SmallSampleWarning,
    skuncertain.exceptions.FewDrawsWarning,
    skuncertain.exceptions.DegenerateIntervalWarning,
    skuncertain.exceptions.FoldDisagreementWarning,
    UndefinedMetricWarning,
)
MOST_WARNINGS = 6  # with one text, in one case of several calls; more is a storm
MOST_TEXTS = 30  # different ones of a case
TIME_LIMIT = 60.0  # CPU seconds of one case; more is a hang
WAITING_LIMIT = 20  # times as long by the clock, for what waits and does nothing
SHRINKING = 5.0  # CPU seconds to make a case smaller, about


class Violation(Exception):
    """A promise was broken; `place` says for which matrix of a stack."""

    def __init__(self, what, place=None):
        super().__init__(what)
        self.place = place


class TimeLimit(BaseException):
    """A case took too long. No `except Exception` may swallow it."""


def require(condition, what):
    if not condition:
        raise Violation(what)


@dataclass
class Family:
    """A kind of case: `make(source)` makes and checks one, and returns how many it was."""

    name: str
    make: object
    share: float  # of the calls; the cheaper a family is, the larger
    malformed: bool
    refusals: bool  # whether ValueError and TypeError are proper answers


FAMILIES = {}


def family(share=1.0, *, malformed=False, refusals=False):
    """Register a function of a source as a family of cases."""

    def register(make):
        name = make.__name__
        FAMILIES[name] = Family(name, make, share, malformed, refusals or malformed)
        return make

    return register


@dataclass
class Tally:
    """What became of many cases."""

    cases: Counter = field(default_factory=Counter)  # by family
    outcomes: Counter = field(default_factory=Counter)  # by (family, outcome)
    seconds: Counter = field(default_factory=Counter)
    slowest: dict = field(default_factory=dict)
    violations: list = field(default_factory=list)

    def add(self, other):
        self.cases += other.cases
        self.outcomes += other.outcomes
        self.seconds += other.seconds
        for name, seconds in other.slowest.items():
            self.slowest[name] = max(seconds, self.slowest.get(name, 0.0))
        self.violations += other.violations


def _alarm(*_):
    raise TimeLimit


def judge(family, source, *, limit=TIME_LIMIT):
    """Run one case: (number of cases, outcome, violation or None)."""
    timers = []
    if hasattr(signal, "setitimer"):
        timers += [(signal.SIGVTALRM, signal.ITIMER_VIRTUAL, limit)]
        timers += [(signal.SIGALRM, signal.ITIMER_REAL, limit * WAITING_LIMIT)]
    before = [signal.signal(alarm, _alarm) for alarm, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            number = family.make(source)
        number, outcome, broken = (1 if number is None else number), "valid", None
    except Violation as error:
        number, outcome, broken = 1, "violation", f"{error}{source.notes(error.place)}"
    except TimeLimit:
        number, outcome, broken = 1, "violation", f"hang: over {limit:g} s{source.notes()}"
    except ERRORS as error:
        number, outcome, broken = 1, type(error).__name__, None
        if not family.refusals:
            outcome = "violation"
            broken = f"refused: {type(error).__name__}: {error}{source.notes()}"
    except Exception as error:
        number, outcome = 1, "violation"
        broken = f"{type(error).__name__}: {error}{source.notes()}"
    finally:
        for (alarm, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(alarm, handler)
    foreign = foreign_warning(caught)
    if broken is None and foreign is not None:
        broken = f"{foreign}{source.notes()}"
    return number, "violation" if broken else outcome, broken


def foreign_warning(caught):
    """What is wrong with the warnings of a case, or None."""
    for warning in caught:
        plain_note = warning.category is UserWarning  # remarks of ours and scikit-learn's on data
        if not (plain_note or issubclass(warning.category, WARNINGS)):
            return f"warning {warning.category.__name__}: {warning.message}"
    # A case of few draws asks for far quantiles again and again, and is told so every time.
    few = skuncertain.exceptions.FewDrawsWarning
    texts = Counter(str(w.message) for w in caught if not issubclass(w.category, few))
    if texts and max(texts.values()) > MOST_WARNINGS:
        return f"a storm of {max(texts.values())} warnings: {texts.most_common(1)[0][0]}"
    if len(texts) > MOST_TEXTS:
        return f"a storm of {len(texts)} different warnings"
    return None


def run_chunk(name, seed, start, stop, *, shrinking=True):
    """The calls of one family with indices from `start` to `stop`; a call can be many cases."""
    family, tally, known = FAMILIES[name], Tally(), set()
    for index in range(start, stop):
        source = Source(f"{seed}/{name}/{index}")
        begun = time.process_time()
        number, outcome, broken = judge(family, source)
        spent = time.process_time() - begun
        tally.cases[name] += number
        tally.outcomes[name, outcome] += number
        tally.seconds[name] += spent
        tally.slowest[name] = max(spent, tally.slowest.get(name, 0.0))
        if broken is not None:
            choices = source.choices
            if shrinking and spent < 1.0 and _kind(broken) not in known:  # one of a kind is enough
                known.add(_kind(broken))
                tries = min(400, int(SHRINKING / max(spent, 1e-3)))
                choices = shrink(choices, lambda c, b=broken: _same(family, c, b), tries)
                broken = judge(family, Source(choices=choices))[2] or broken
            tally.violations.append(
                json.dumps({"family": name, "choices": choices, "what": broken[:600]})
            )
    return tally


def _kind(broken):
    """What was broken, without the numbers of the case."""
    return ":".join(broken.partition("[")[0].split(":")[:2])


def _same(family, choices, broken):
    found = judge(family, Source(choices=choices))[2]
    return found is not None and _kind(found) == _kind(broken)


def replay(line):
    """Run the case of a stored violation again: the violation, or None if it is gone."""
    entry = json.loads(line)
    return judge(FAMILIES[entry["family"]], Source(choices=entry["choices"]))[2]
