"""From numbers to the summary of a report: columns, sections, cells, settings."""

import numbers

import numpy as np

from skuncertain._reporting.report import IntervalReport
from skuncertain._reporting.text import kind_text, level_text
from skuncertain._utils.validation import check_integer
from skuncertain._version import __version__
from skuncertain.posteriors._about import label_text, plain_prevalence, prevalence_text

SCHEMA_VERSION = 1


def check_digits(digits):
    """Return the number of decimals that was asked for, or None."""
    return None if digits is None else check_integer("digits", digits, low=0)


def column(key, title=None, digits=None, share=False):
    """Describe a column of a table; a `share` is a probability, never rounded to certainty."""
    about = {"key": key, "title": key if title is None else title, "digits": digits}
    return about | ({"share": True} if share else {})


def section(title, columns, rows, *, notes=(), figure=None, ranked=False, in_text=True):
    """Describe a table; `ranked` ones may be cut in print, the best rows come first."""
    return {
        "title": title,
        "columns": [column(c) if isinstance(c, str) else c for c in columns],
        "rows": rows,
        "notes": list(notes),
        "figure": figure,
        "ranked": ranked,
        "in_text": in_text,
    }


def interval_cell(interval, value=None, error=0.0, value_error=0.0, point=None):
    """Describe an entry with an interval; the errors are those of its ends and of its value.

    A `point` is drawn and not printed, because it stands in another column.
    """
    cell = {"low": interval[0], "high": interval[1], "error": error}
    cell |= {} if point is None else {"point": point}
    return cell if value is None else {"value": value, **cell, "value_error": value_error}


def free_key(name, taken):
    """Key of a column that users name: not one of ours."""
    return f"{name} (metric)" if name in taken else name


def make_report(
    kind_of_report, title, *, settings, question, sections, warnings, reading, digits=None
):
    """Report of a summary.

    `settings` must tell level, kind, prior and method, or what is to be ``shown``; it may tell
    omega, n (rows), k (folds) and more, see `shown_settings`.
    """
    if "shown" not in settings:
        unused = {"omega": None, "n": None, "k": None}
        settings = {**unused, **settings, "shown": shown_settings(settings)}
    summary = {
        "schema_version": SCHEMA_VERSION,
        "skuncertain": __version__,
        "report": kind_of_report,
        "title": title,
        "settings": settings,
        "question": question,
        "sections": sections,
        "warnings": list(dict.fromkeys(str(text) for text in warnings)),
        "reading": list(reading),
        "digits": check_digits(digits),
    }
    return IntervalReport(_plain(summary))


def shown_settings(settings):
    """Pairs (name, text) of everything that was asked; what does not apply is left out."""
    rows, rope, sure = (settings.get(name) for name in ("n", "rope", "probability"))
    known = {
        "level": level_text(settings["level"]),
        "kind": kind_text(settings["kind"]),
        "prior": settings["prior"] or "none",
        "method": settings["method"],
        "row weight": settings.get("omega"),
        "n": None if rows is None else f"{_count(rows, settings.get('weighted'))} rows",
        "K": settings.get("k"),
        "metric": settings.get("metric"),
        "rope": None if rope is None else f"{rope:g}",
        "as good": None if sure is None else f"not worse by more with probability {sure:g}",
        "shrinkage": settings.get("shrinkage"),
        "classes": settings.get("classes"),
        "positive class": settings.get("pos_label"),
        "prevalence": prevalence_text(settings.get("prevalence")) or None,
        "new rows": settings.get("n_new"),
        "differs": settings.get("differs"),
        "believe": settings.get("believe"),
        "draws": settings.get("draws"),
    }
    return [[name, str(text)] for name, text in known.items() if text is not None]


def question_settings(about):
    """Settings that tell class, prevalence and new rows of a question."""
    return {
        "pos_label": None if about.pos_label is None else label_text(about.pos_label),
        "prevalence": plain_prevalence(about.prevalence),
        "n_new": about.n_new,
    }


def _count(rows, weighted):
    if not isinstance(rows, numbers.Real):
        return str(rows)
    if weighted or not float(rows).is_integer():
        return f"{rows:.1f} (effective)"
    return f"{int(rows)}"


def _plain(value):
    """The same in types that JSON and other programs know."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return str(value)
