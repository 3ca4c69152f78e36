"""Argument checks. A message names the parameter, the rule, the value and the remedy."""

import importlib
import numbers
import re
import secrets
import sys
from functools import lru_cache

import numpy as np

from skuncertain.exceptions import InvalidParameterError

LARGEST_FLOAT = sys.float_info.max  # no numpy number: integers of any length are compared with it
LARGEST_INTEGER = 2**63 - 1
LARGEST_LEVEL = 1 - 1e-12  # floats cannot hold the tails of more
MOST_AXES = 30  # two less than numpy 1 allows


def quoted(value, most=120):
    """A value in a message: one line, cut where it gets long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # integers of more than 4300 digits, among others
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def refuse_if(condition, parameter, message, value=None, remedy=""):
    """Raise an error about a parameter where the condition holds.

    ``{value}`` in the message stands for the value, which is written out only then.
    """
    if condition:
        text = message.replace("{value}", quoted(value))
        raise InvalidParameterError(text, parameter, remedy)


def refuse_mask(parameter, value, what=None):
    """Refuse a masked array: what is under the mask would be taken for data."""
    message = f"{what or parameter} must not have masked entries: fill or drop them; got {{value}}."
    refuse_if(np.ma.is_masked(value), parameter, message, value)


def as_numbers(parameter, value, what=None):
    """Return `value` as an array of floats; anything but numbers is refused."""
    refuse_mask(parameter, value, what)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # such as Python integers beyond 2**63, or Fractions
            array = np.array([float(part) for part in array.ravel()]).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):
        array = np.array("")
    rule = "must be a number or a rectangular array of numbers"
    wrong = array.dtype.kind not in "biuf" or array.ndim > MOST_AXES
    refuse_if(wrong, parameter, f"{what or parameter} {rule}, got {{value}}.", value)
    return array.astype(float)


def as_array(parameter, value, what=None):
    """Array of any type; ragged ones are refused."""
    refuse_mask(parameter, value, what)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # ragged, or no array at all
        array = None
    rule = "must be a rectangular array, one value per place"
    wrong = array is None or array.ndim > MOST_AXES
    refuse_if(wrong, parameter, f"{what or parameter} {rule}, got {{value}}.", value)
    return array


def as_list(parameter, value):
    """Return a list: of one if `value` is a name or a function, otherwise of its entries."""
    if isinstance(value, str) or callable(value):
        return [value]
    try:
        return list(value)
    except (TypeError, ValueError):
        message = f"{parameter} must be a list, got {quoted(value)}."
        raise InvalidParameterError(message, parameter) from None


def nearest_name(name, valid, meaning=None):
    """Return ``" Did you mean 'x'?"`` for the valid name that `name` may be a slip of, or nothing.

    A slip is another case or separator, one or two wrong letters, or a word left out at the end.
    Numbers are never taken for slips. Where several valid names are as near, and `meaning` (a dict)
    does not say that they are the same, all are named; nothing is where they are more than three.
    """
    text, *texts = (x if isinstance(x, str) else quoted(x) for x in (name, *valid))
    if len(text) > 100:  # no slip of the pen
        return ""
    found = {}
    for one, other in zip(valid, texts, strict=True):
        distance = _slips(text, other)
        if distance is not None:
            found.setdefault(distance, {}).setdefault(one if not meaning else meaning[one], one)
    nearest = list(found[min(found)].values()) if found else []
    return f" Did you mean {alternatives(nearest)}?" if 1 <= len(nearest) <= 3 else ""


def alternatives(values):
    """``'a', 'b' or 'c'``."""
    *others, last = map(quoted, values)
    return f"{', '.join(others)} or {last}" if others else last


def _slips(text, other):
    """How many slips turn one text into the other; None if they must be different things."""
    if text == other:
        return 0
    (digits, a), (others, b) = _digits_letters(text), _digits_letters(other)
    if digits != others or _is_number(text):
        return None  # class_1 and class_2, 1 and -1
    longest = max(len(a), len(b))
    most = 0 if longest < 3 else 1 if longest < 6 else 2
    distance = _edits(a, b) if abs(len(a) - len(b)) <= most else most + 1
    if distance == 2 and a[:1] != b[:1]:  # detection and selection are two words
        return None
    if distance <= most:
        return distance
    return most + 1 if len(a) >= 4 and b.startswith(a) else None


@lru_cache(maxsize=4096)
def _digits_letters(text):
    """The numbers in a text, and the text without case and separators of words."""
    letters = re.sub(r"(?<=\w)[\s_-]+(?=\w)", "", text.casefold())
    return re.findall(r"\d+", text), letters


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _edits(a, b):
    """Letters to insert, drop, replace or swap with their neighbour."""
    before, above = [], list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            best = min(above[j + 1] + 1, row[j] + 1, above[j] + (x != y))
            if i and j and x == b[j - 1] and a[i - 1] == y:
                best = min(best, before[j - 1] + 1)
            row.append(best)
        before, above = above, row
    return above[-1]


def is_real(value):
    """Whether `value` is one real number. Booleans and time spans are not meant as numbers."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.timedelta64)


def is_integer(value):
    """Whether `value` is one whole number; numpy calls its time spans integers."""
    return isinstance(value, numbers.Integral) and is_real(value)


def check_choice(parameter, value, valid):
    """Return `value` if it is one of `valid`, otherwise say which are."""
    if not isinstance(value, str) or value not in valid:
        rule = f"must be one of {', '.join(map(repr, valid))}; got {quoted(value)}."
        raise InvalidParameterError(f"{parameter} {rule}{nearest_name(value, valid)}", parameter)
    return value


def check_level(level):
    """Return `level` as a float in (0, 1)."""
    rule = "level must be a number in (0, 1)"
    refuse_if(not is_real(level), "level", f"{rule}, got {{value}}.", level)
    outside = not 0 < level < 1
    refuse_if(outside, "level", f"{rule}, got {{value}}.{share_hint(level, 0.5)}", level)
    message = f"{rule}, at most 1 - 1e-12, got {{value}}."
    refuse_if(level > LARGEST_LEVEL, "level", message, float(level))
    return float(level)


def share_hint(value, least=0.0):
    """Return ``" Did you mean 0.9?"`` for a share that was given in percent, or an empty string.

    `least` is the smallest share that is plausible: nobody asks for intervals at a level of 2 %.
    """
    return f" Did you mean {value / 100:g}?" if 1 < value < 100 and value >= 100 * least else ""


def check_kind(kind):
    """Return `kind` if it names an interval: equal-tailed or highest-density."""
    if isinstance(kind, str) and kind.lower() in ("hpd", "hpdi", "hdr"):  # what others call it
        kinds = "kind must be one of 'eti', 'hdi'"
        refuse_if(True, "kind", f"{kinds}; got {{value}}. Did you mean 'hdi'?", kind)
    return check_choice("kind", kind, ("eti", "hdi"))


def check_integer(parameter, value, *, low, high=LARGEST_INTEGER):
    """Return `value` as an int that is at least `low` and at most `high`."""
    small = not is_integer(value) or value < low
    refuse_if(small, parameter, f"{parameter} must be an integer >= {low}, got {{value}}.", value)
    refuse_if(value > high, parameter, f"{parameter} must be at most {high}, got {{value}}.", value)
    return int(value)


def check_draws(n_draws, size):
    """Return `n_draws` unless storing them would not fit into memory."""
    n_draws = check_integer("n_draws", n_draws, low=1)
    refuse_if(
        n_draws * size > 2.5e8,
        "n_draws",
        f"n_draws={n_draws} for {size} matrices would need {n_draws * size * 8e-9:.0f} GB. "
        "Use fewer draws, or work through the stack in parts.",
    )
    return n_draws


def check_number(parameter, value, *, low, high, closed=True, what=None, percent=None):
    """Return `value` as a float between `low` and `high`.

    A share that people also give in percent has `percent`, the smallest one that is plausible.
    """
    hint = ""
    if is_real(value):
        value = float(value) if isinstance(value, np.floating) else value  # halves end at 65504
        inside = low <= value <= high if closed else low < value < high
        if inside and abs(value) <= LARGEST_FLOAT:
            return float(value)
        hint = "" if percent is None else share_hint(value, percent)
    left, right = "[" if closed else "(", "]" if closed and np.isfinite(high) else ")"
    rule = f"must be a number in {left}{low:g}, {high:g}{right}"
    raise InvalidParameterError(
        f"{what or parameter} {rule}, got {quoted(value)}.{hint}", parameter=parameter
    )


def check_bool(parameter, value):
    """Return `value` if it is True or False."""
    wrong = not isinstance(value, bool | np.bool_)
    refuse_if(wrong, parameter, f"{parameter} must be True or False, got {{value}}.", value)
    return bool(value)


def check_zero_division(value):
    """Return the value that 0/0 is to have."""
    message = "zero_division must be a number such as 0, 1 or nan, got {value}."
    refuse_if(not is_real(value), "zero_division", message, value)
    return float(as_numbers("zero_division", value))


def check_random_state(random_state):
    """Refuse what `resolve_seed` cannot use, without drawing from it."""
    generators = np.random.Generator | np.random.RandomState
    if random_state is None or random_state is np.random or isinstance(random_state, generators):
        return
    rule = "must be None, an integer, a numpy Generator or a numpy RandomState"
    if is_integer(random_state):
        rule = "must be non-negative" if random_state < 0 else "must be below 2**128"
    wrong = not is_integer(random_state) or not 0 <= random_state < 2**128
    refuse_if(wrong, "random_state", f"random_state {rule}, got {{value}}.", random_state)


def resolve_seed(random_state):
    """Turn any `random_state` into one integer that can be recorded and reused.

    ``None`` gives a fresh seed, an integer is its own seed, and a ``RandomState`` or ``Generator``
    is asked for one (so it advances, as everywhere in scikit-learn).
    """
    check_random_state(random_state)
    if random_state is None or random_state is np.random:
        return secrets.randbits(63)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def import_optional(module, extra, caller):
    """Import an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{caller} needs {module.split('.')[0]}. Install it with: "
            f'pip install "skuncertain[{extra}]"'
        ) from error


def data_frame(owner, data, **options):
    """Table for the `to_frame` of a result; pandas is an optional package."""
    caller = f"{type(owner).__name__}.to_frame"
    return import_optional("pandas", "pandas", caller).DataFrame(data, **options)


def check_rope(rope, limit=np.inf, of="the metric"):
    """Return the half-width of the region of practical equivalence, which is below `limit`."""
    rope = check_number("rope", rope, low=0, high=np.inf)
    if rope >= limit or rope > 1e100:  # its square must be a float
        most = f", which can differ by at most {limit:g}" if np.isfinite(limit) else ""
        hint = f" Did you mean {rope / 100:g}?" if most and rope / 100 < 0.5 * limit else ""
        raise InvalidParameterError(
            f"rope must be in units of {of}{most}, got {rope:g}.{hint}", parameter="rope"
        )
    return rope


def check_names(names):
    """Return two names as texts."""
    pair = as_array("names", names)
    two = pair.ndim == 1 and len(pair) == 2 and hasattr(names, "__len__")
    message = "names must be two names, for a and for b, got {value}."
    refuse_if(isinstance(names, str) or not two, "names", message, names)
    return tuple(str(name) for name in names)


def plain_fields(result):
    """Fields of a dataclass as Python numbers, strings and lists."""
    return {
        name: np.asarray(getattr(result, name)).tolist() for name in result.__dataclass_fields__
    }
