"""Rows that come in groups: a number for every group, and sums of rows per group.

Nothing here depends on the order of the rows or on the names of the groups: groups get numbers in
any order, and `merged_groups` sorts them by what is in them.
"""

import numbers
from collections import defaultdict
from itertools import count

import numpy as np
from scipy.sparse import coo_array

from skuncertain._utils.validation import as_array, quoted, refuse_if
from skuncertain.exceptions import InvalidParameterError
from skuncertain.metrics._labels import is_missing, one_column

_DENSE = 8  # entries per row up to which the table of sums is dense


def encode_groups(groups, n_rows):
    """Number of the group of every row, from 0 on, and the number of groups.

    Groups are named by numbers, strings or dates, all of one type; those without a name, and fewer
    than two, are refused.
    """
    codes = getattr(getattr(groups, "cat", groups), "codes", None)  # a categorical has them
    if codes is not None and hasattr(groups, "dtype"):
        codes = one_column("groups", np.asarray(codes))
        _refuse_missing(int((codes < 0).sum()))
        categories = getattr(groups, "cat", groups).categories
        # `categories` may be equal as numbers, or of several types: they are encoded as well
        codes = _encode(as_array("groups", categories))[0][codes] if codes.size else codes
        codes, number = _whole(codes)
    elif isinstance(groups, list | tuple) and str in set(map(type, groups)):
        codes, number = _by_table(groups)  # an array would turn None and 1 into text
    else:
        array = as_array("groups", groups)
        refuse_if(
            array.ndim == 0, "groups", "groups must have one name per row, got {value}.", groups
        )
        codes, number = _encode(array)
    refuse_if(
        codes.size != n_rows, "groups", f"groups must have {n_rows} entries, got {codes.size}."
    )
    refuse_if(number < 2, "groups", "groups must name at least two groups, got one.")
    return codes, number


def _encode(array):
    """Codes of an array of names, and how many there are."""
    array, kind = one_column("groups", array), array.dtype.kind
    if kind in "iub":
        return _whole(array)
    if kind in "fmM":
        missing = np.isnan(array) if kind == "f" else np.isnat(array)
        _refuse_missing(int(missing.sum()))
        names, codes = np.unique(array, return_inverse=True)
        return codes.reshape(-1), names.size
    if kind in "cV":
        raise InvalidParameterError(
            f"groups must be numbers or strings, got an array of {array.dtype}.", parameter="groups"
        )
    return _by_table(array.tolist())


def _whole(array):
    """Codes of whole numbers: by counting if they are not too far apart."""
    if array.size == 0:
        return array.astype(np.intp), 0
    array = array.view(np.uint8) if array.dtype.kind == "b" else array
    low, high = int(array.min()), int(array.max())
    if high - low >= 4 * array.size + 1024:
        names, codes = np.unique(array, return_inverse=True)
        return codes.reshape(-1), names.size
    # Beyond 2**62 the difference, not the number, is what fits into an integer.
    far = max(abs(low), abs(high)) >= 2**62
    codes = (array - array.min() if far else array).astype(np.intp, copy=False)
    codes = codes if far or low == 0 else codes - low
    present = np.bincount(codes, minlength=high - low + 1) > 0
    number = int(np.count_nonzero(present))
    return (codes if number == present.size else (np.cumsum(present) - 1)[codes]), number


def _by_table(names):
    """Codes of Python objects: equal ones are one group. All loops are in the interpreter's C."""
    table = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(table.__getitem__, names), dtype=np.intp, count=len(names))
    except TypeError:
        raise InvalidParameterError(
            f"groups must be numbers or strings, got {quoted(names[len(table)])}.",
            parameter="groups",
        ) from None
    kinds = set(map(type, names))
    for one in (str, bytes, numbers.Number):
        if all(issubclass(kind, one) for kind in kinds):
            break
    else:
        _refuse_missing(sum(map(is_missing, names)))
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InvalidParameterError(
            f"groups must be numbers or strings, all of one type, got {found}.", parameter="groups"
        )
    if one is numbers.Number and any(map(is_missing, table)):
        _refuse_missing(sum(map(is_missing, names)))
    return codes, len(table)


def _refuse_missing(number):
    refuse_if(
        number > 0,
        "groups",
        f"groups has {number} missing name{'s' * (number != 1)} (None, NaN or NA): drop those "
        "rows, or give each of them a group.",
    )


def place_sums(place, n_groups, n_cells):
    """How many rows of every group are in every cell, ``(n_groups, n_cells)``.

    `place` is where a row is counted: the number of its group times `n_cells` plus its cell. An
    array, or a sparse one where most entries would be 0: memory grows with the rows only.
    """
    if n_groups * n_cells <= _DENSE * place.size + 2**16:
        flat = np.bincount(place, minlength=n_groups * n_cells)
        return flat.reshape(n_groups, n_cells)
    ones = np.ones(place.size, dtype=np.int64)
    return coo_array((ones, divmod(place, n_cells)), shape=(n_groups, n_cells)).tocsr()


def merged_groups(sums):
    """Distinct rows of `place_sums` in a fixed order, and how often each occurs.

    Sparse rows are sorted, and not merged.
    """
    if not isinstance(sums, np.ndarray):
        return sums[np.lexsort(_fingerprints(sums))], np.ones(sums.shape[0])
    key, span = np.zeros(len(sums), dtype=np.int64), 1
    for column in sums.T:
        width = int(column.max()) + 1  # one column after another: numpy is slow on narrow arrays
        if span * width >= 2**62:
            names, key = np.unique(key, return_inverse=True)
            key, span = key.reshape(-1), names.size
        key, span = key * width + column, span * width
    if span <= 4 * len(sums) + 1024:
        repeats = np.bincount(key, minlength=span)
        first = np.empty(span, dtype=np.intp)
        first[key] = np.arange(key.size)
        occurs = np.flatnonzero(repeats)
        return sums[first[occurs]], repeats[occurs]
    _, first, repeats = np.unique(key, return_index=True, return_counts=True)
    return sums[first], repeats


def _fingerprints(sums):
    """Two numbers per row that equal rows share, and different ones hardly ever do."""
    rng = np.random.default_rng(0)
    return [sums @ rng.integers(1, 2**52, sums.shape[1]) for _ in range(2)]
