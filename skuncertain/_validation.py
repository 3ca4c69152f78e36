"""Argument checks. A message names the parameter, the rule, the value and the remedy."""

import difflib
import importlib
import numbers
import secrets
import sys

import numpy as np

LARGEST_FLOAT = sys.float_info.max  # no numpy number: integers of any length are compared with it
LARGEST_INTEGER = 2**63 - 1
LARGEST_LEVEL = 1 - 1e-12  # floats cannot hold the tails of more
MOST_AXES = 30  # two less than numpy 1 allows


def shown(value, most=120):
    """A value in a message: one line, cut where it gets long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # integers of more than 4300 digits, among others
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def refuse_mask(parameter, value):
    """Refuse a masked array: what is under the mask would be taken for data."""
    if np.ma.is_masked(value):
        raise ValueError(
            f"{parameter} must not have masked entries: fill or drop them; got {shown(value)}."
        )


def as_numbers(parameter, value):
    """Return `value` as an array of floats; anything but numbers is refused."""
    refuse_mask(parameter, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # such as Python integers beyond 2**63, or Fractions
            array = np.array([float(part) for part in array.ravel()]).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):
        array = np.array("")
    if array.dtype.kind not in "biuf" or array.ndim > MOST_AXES:
        raise TypeError(
            f"{parameter} must be a number or a rectangular array of numbers, got {shown(value)}."
        )
    return array.astype(float)


def rectangular(name, value):
    """Array of any type; ragged ones are refused."""
    refuse_mask(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # ragged, or no array at all
        array = None
    if array is None or array.ndim > MOST_AXES:
        raise ValueError(
            f"{name} must be a rectangular array, one value per place, got {shown(value)}."
        )
    return array


def as_list(parameter, value):
    """Return a list: of one if `value` is a name or a function, otherwise of its entries."""
    if isinstance(value, str) or callable(value):
        return [value]
    try:
        return list(value)
    except (TypeError, ValueError):
        raise TypeError(f"{parameter} must be a list, got {shown(value)}.") from None


def nearest_name(name, valid):
    """Return ``" Did you mean 'x'?"`` for the valid name nearest to `name`, or an empty string."""
    text, *texts = (x if isinstance(x, str) else shown(x) for x in (name, *valid))
    if len(text) > 100:  # no slip of the pen
        return ""
    by_text = dict(zip(texts, valid, strict=True))
    found = difflib.get_close_matches(text, by_text, n=1, cutoff=0.5)
    return f" Did you mean {shown(by_text[found[0]])}?" if found else ""


def is_real(value):
    """Whether `value` is one real number. Booleans and time spans are not meant as numbers."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.timedelta64)


def is_integer(value):
    """Whether `value` is one whole number; numpy calls its time spans integers."""
    return isinstance(value, numbers.Integral) and is_real(value)


def check_choice(parameter, value, valid):
    """Return `value` if it is one of `valid`, otherwise say which are."""
    if not isinstance(value, str) or value not in valid:
        options = ", ".join(repr(v) for v in valid)
        hint = nearest_name(value, valid)
        raise ValueError(f"{parameter} must be one of {options}; got {shown(value)}.{hint}")
    return value


def check_level(level):
    """Return `level` as a float in (0, 1)."""
    rule = "level must be a number in (0, 1)"
    if not is_real(level):
        raise TypeError(f"{rule}, got {shown(level)}.")
    if not 0 < level < 1:
        raise ValueError(f"{rule}, got {shown(level)}.{share_hint(level)}")
    if level > LARGEST_LEVEL:
        raise ValueError(f"{rule}, at most 1 - 1e-12, got {float(level)!r}.")
    return float(level)


def share_hint(value):
    """Return ``" Did you mean 0.9?"`` for a share that was given in percent, or an empty string."""
    return f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""


def check_kind(kind):
    """Return `kind` if it names an interval: equal-tailed or highest-density."""
    return check_choice("kind", kind, ("eti", "hdi"))


def check_integer(parameter, value, *, low, high=None):
    """Return `value` as an int that is at least `low` and at most `high`."""
    if not is_integer(value):
        raise TypeError(f"{parameter} must be an integer >= {low}, got {shown(value)}.")
    if value < low:
        raise ValueError(f"{parameter} must be an integer >= {low}, got {shown(value)}.")
    high = LARGEST_INTEGER if high is None else high
    if value > high:
        raise ValueError(f"{parameter} must be at most {high}, got {shown(value)}.")
    return int(value)


def check_draws(n_draws, size):
    """Return `n_draws` unless storing them would not fit into memory."""
    n_draws = check_integer("n_draws", n_draws, low=1)
    if n_draws * size > 2.5e8:
        raise ValueError(
            f"n_draws={n_draws} for {size} matrices would need {n_draws * size * 8e-9:.0f} GB. "
            "Use fewer draws, or work through the stack in parts."
        )
    return n_draws


def check_number(parameter, value, *, low, high, closed=True):
    """Return `value` as a float between `low` and `high`."""

    def rule():
        end = "]" if closed and np.isfinite(high) else ")"
        return f"{parameter} must be a number in {'[' if closed else '('}{low:g}, {high:g}{end}"

    if not is_real(value):
        raise TypeError(f"{rule()}, got {shown(value)}.")
    value = float(value) if isinstance(value, np.floating) else value  # half floats end at 65504
    inside = low <= value <= high if closed else low < value < high
    if not inside or abs(value) > LARGEST_FLOAT:
        hint = share_hint(value) if (low, high) == (0, 1) else ""
        raise ValueError(f"{rule()}, got {shown(value)}.{hint}")
    return float(value)


def check_bool(parameter, value):
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{parameter} must be True or False, got {shown(value)}.")
    return bool(value)


def check_zero_division(value):
    """Return the value that 0/0 is to have."""
    if not is_real(value):
        raise TypeError(f"zero_division must be a number such as 0, 1 or nan, got {shown(value)}.")
    return float(as_numbers("zero_division", value))


def check_random_state(random_state):
    """Refuse what `resolve_seed` cannot use, without drawing from it."""
    if random_state is None or random_state is np.random:
        return
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return
    if not is_integer(random_state):
        raise TypeError(
            "random_state must be None, an integer, a numpy Generator or a numpy RandomState, "
            f"got {shown(random_state)}."
        )
    if random_state < 0:
        raise ValueError(f"random_state must be non-negative, got {shown(random_state)}.")
    if random_state >= 2**128:
        raise ValueError(f"random_state must be below 2**128, got {shown(random_state)}.")


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
