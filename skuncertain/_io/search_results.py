"""Saved results of a search: ``cv_results_`` as CSV or JSON."""

import ast
import io
import json
import re
from collections import Counter
from typing import Any

from skuncertain._io.csv_counts import read_rows, read_text, refuse_file, shown_name
from skuncertain._utils.validation import quoted
from skuncertain._utils.warnings import silence_foreign
from skuncertain.exceptions import TableFileError

_LARGEST = 2**28  # bytes
_MOST_GAPS = 100  # cells of a table for every one that is filled
_NUMBERS = re.compile(r"split\d+_test_.+|mean_test_.+|iter|n_resources")


def read_search_results(file: Any) -> dict:
    """Read ``cv_results_`` that was saved.

    Parameters
    ----------
    file : str, Path or file object
        CSV, as ``pandas.DataFrame(search.cv_results_).to_csv`` writes it, or JSON: a dict of lists,
        or one of the forms of ``DataFrame.to_json`` with the names of the columns; "-" is standard
        input, gz is recognised.

    Returns
    -------
    dict
        Columns, for :func:`search_posterior`.
    """
    name = shown_name(file)
    data = read_text(file, _LARGEST)
    if data.lstrip()[:1] in ("{", "["):
        columns = _from_json(data, name)
    else:
        (_, header), *rows = read_rows(io.StringIO(data), _LARGEST, name)
        column, number = _most_frequent(header)
        refuse_file(number > 1, f"{name} has {number} columns called {quoted(column)}.")
        columns = {key: [row[k] for _, row in rows] for k, key in enumerate(header)}
    listed = ", ".join(quoted(column, 40) for column in list(columns)[:10])
    refuse_file(
        not any(re.fullmatch(r"split\d+_test_.+", key) for key in columns),
        f"{name} has no columns split0_test_score, split1_test_score, ...: it is no cv_results_ "
        f"of a search. Its columns are {listed}.",
    )
    refuse_file(not next(iter(columns.values())), f"{name} has a header but no rows.")
    params = _params(columns)
    columns = {
        key: [_number(value, key, name) for value in values]
        for key, values in columns.items()
        if _NUMBERS.fullmatch(key)
    }
    return columns if params is None else {**columns, "params": params}


def _from_json(text, name):
    """Columns from the usual forms of a table in JSON."""
    try:
        found = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise TableFileError(f"{name} is not JSON: {error}.") from None
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        keys = dict.fromkeys(key for row in found for key in row)
        _refuse_gaps(found, keys, name)
        return {key: [row.get(key) for row in found] for key in keys}
    if isinstance(found, dict):
        if all(isinstance(values, dict) for values in found.values()):
            places = dict.fromkeys(place for values in found.values() for place in values)
            _refuse_gaps(found.values(), places, name)
            return {key: [values.get(place) for place in places] for key, values in found.items()}
        columns = {key: values for key, values in found.items() if isinstance(values, list)}
        if columns and len({len(values) for values in columns.values()}) == 1:
            return columns
    raise TableFileError(
        f"{name} must be JSON of a table: lists of the same length by name of the column, or a "
        "list of rows."
    )


def unique_keys(pairs):
    """Dict of a JSON object; of two values with one key it is not clear which is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        key, _ = _most_frequent(key for key, _ in pairs)
        raise ValueError(f"the key {quoted(key)} is there twice")
    return found


def _most_frequent(names):
    """A name and how often it is there; of those that are there equally often, the first."""
    return Counter(names).most_common(1)[0]


def _refuse_gaps(parts, keys, name):
    """Refuse a table that is almost empty: filled up, it would be far larger than its file."""
    refuse_file(
        len(parts) * len(keys) > _MOST_GAPS * (1000 + sum(map(len, parts))),
        f"{name} must be JSON of a table: its {len(parts):,} rows or columns should have the same "
        f"keys, but there are {len(keys):,} different ones.",
    )


def _number(value, key, name):
    try:
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            raise ValueError  # float() would take True and 1_000
        return float("nan") if value is None or value == "" else float(value)
    except (TypeError, ValueError, OverflowError):
        raise TableFileError(
            f"{name}: {quoted(key)} must hold numbers, got {quoted(value)}."
        ) from None


def _params(columns):
    """Parameters of the candidates: dicts, or texts of dicts, or the columns param_*."""
    found = columns.get("params")
    if found is not None:
        with silence_foreign():  # Python's remarks on the style of a text
            dicts = [_dict(value) for value in found]
        if all(isinstance(value, dict) for value in dicts):
            return dicts
    names = [key for key in columns if key.startswith("param_")]
    if not names:
        return None
    rows = zip(*(columns[key] for key in names), strict=True)
    return [
        {
            key.removeprefix("param_"): value
            for key, value in zip(names, row, strict=True)
            if value not in ("", None)
        }
        for row in rows
    ]


def _dict(value):
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
