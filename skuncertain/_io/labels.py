"""From the texts of a file to labels, by one rule for all of its columns.

Equal numbers are one label however they are spelled (1, +1, 1.0, 1e0), and so are true and TRUE.
A whole number with leading zeros is a code, such as 007: a text, and so are all other labels then.
Words are taken as they are written. Where two texts could be one label or two, the file is refused,
unless the caller names both.
"""

import itertools
import re
import unicodedata
from decimal import Decimal

from skuncertain._utils.validation import quoted
from skuncertain._utils.warnings import warn_user
from skuncertain.exceptions import TableFileError
from skuncertain.metrics._labels import plain_label

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,4})?|[-+]?inf(inity)?", re.ASCII | re.I)
_CODE = re.compile(r"[-+]?0\d", re.ASCII)
_MOST_DIGITS = 300  # of a number; Python reads no more than 4300, and a label has no use for them
_MISSING = {"", "na", "n/a", "#n/a", "nan", "<na>", "null"}
_BOOLEANS = {"true": True, "false": False}
_MOST_TOLD = 3  # pairs of words in one warning


def labels_of(columns, names, name, *, labels=None, allowed=()):
    """``{text: label}`` for the texts of all columns.

    `columns` holds the texts of every column, or ``{text: (first line, last line)}``; `names` says
    what to call them. `labels` are the classes that the caller has named, if there are any;
    `allowed` are texts that only look like missing values.
    """
    named = set() if labels is None else {str(label).strip() for label in labels}
    meant = named.union(allowed)
    for column, texts in zip(names, columns, strict=True):
        for text in texts:
            _check_text(text, column, _place(texts, text, name), meant)
    stripped = {text: text.strip() for texts in columns for text in texts}
    as_named = named.issuperset(stripped.values())
    if as_named and _two_spellings(named):  # who names both of them means two classes
        return stripped
    kinds = [
        _kind([stripped[text] for text in texts], column, name)
        for column, texts in zip(names, columns, strict=True)
    ]
    if set(kinds) == {"whole numbers"}:
        return {text: int(Decimal(label)) for text, label in stripped.items()}
    if set(kinds) == {"true or false"}:
        return {text: _BOOLEANS[label.lower()] for text, label in stripped.items()}
    _refuse_two_spellings(columns, names, kinds, name)
    if not as_named:
        _tell_alike(sorted(set(stripped.values())), name)
    return stripped


def folds_of(texts, column, name):
    """``{text: fold}`` for ``{text: (first line, last line)}`` of a column of folds, in order.

    Whole numbers are folds by their value, however they are spelled, and codes such as 01 as well;
    otherwise folds are texts as they are written.
    """
    for text in texts:
        where = _place(texts, text, name)
        if text.strip().lower() in _MISSING:
            raise TableFileError(
                f"{where}: {column}, the fold, is missing ({text!r}). Drop such rows, or name "
                "their fold."
            )
        _check_text(text, column, where, ())
    numbers = {text: _number(text.strip()) for text in texts}
    known = [number for number in numbers.values() if number is not None]
    if len(known) < len(numbers):
        return {text: text.strip() for text in sorted(texts, key=str.strip)}
    for number in known:
        if not _is_whole(number) or number.adjusted() >= _MOST_DIGITS:
            raise TableFileError(
                f"{column} of {name} holds numbers such as {str(number)[:40]}, which do not tell "
                "the folds. Number them 0, 1, 2, ..., or name them."
            )
    return {text: int(numbers[text]) for text in sorted(texts, key=numbers.get)}


def labels_like(typed, classes):
    """Labels that a user has typed, as what the labels of the file are."""
    known = type(next(iter(classes)))

    def convert(label):
        text = label.strip() if isinstance(label, str) else ""
        if known is bool and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        if known is int and _is_label(_number(text), text):
            return int(Decimal(text))
        return label if isinstance(label, str | bool) else plain_label(label)

    return [convert(label) for label in typed]


def _check_text(text, column, where, allowed):
    """Refuse a missing value, and bytes that are no text."""
    if text.strip().lower() in _MISSING and text.strip() not in allowed:
        raise TableFileError(
            f"{where}: {column} is missing ({text!r}). Drop such rows, or, if that is a class,",
            parameter="labels",
            remedy="name it with all others in labels.",
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise TableFileError(
            f"{where}: {column} is not UTF-8 text. Save the file as UTF-8."
        ) from None


def _place(texts, text, name):
    """Where in the file a text was first seen."""
    if not isinstance(texts, dict):
        return name
    first, last = texts[text]
    return f"{name}, line {first}" if first == last else f"{name}, lines {first} to {last}"


def _number(text):
    """Value of a text that is a number, with all of its digits; otherwise None."""
    is_number = len(text) <= _MOST_DIGITS and _NUMBER.fullmatch(text)
    return Decimal(text) if is_number else None


def _is_whole(number):
    return number.is_finite() and number == number.to_integral_value()


def _is_label(number, text):
    """Whether a number can be a label: whole, of a usual length, and no code."""
    return (
        number is not None
        and _is_whole(number)
        and number.adjusted() < _MOST_DIGITS
        and not _CODE.match(text)
    )


def _kind(texts, column, name):
    """What the texts of a column are."""
    numbers = [_number(text) for text in texts]
    if None not in numbers:
        if all(map(_is_label, numbers, texts)):
            return "whole numbers"
        for number, text in zip(numbers, texts, strict=True):
            if not _is_whole(number):
                raise TableFileError(
                    f"{column} of {name} holds numbers such as {text[:40]}, no class labels. Turn "
                    "scores into labels with a threshold."
                )
    return "true or false" if all(text.lower() in _BOOLEANS for text in texts) else "texts"


# --------------------------------------------------------------------------------------------------
# Texts that may be one label


def _two_spellings(texts):
    """Two texts that are one number or one truth value; or one of each, which may be; or None."""
    seen: dict = {}
    for text in sorted(texts):
        number = _number(text)
        value = _BOOLEANS.get(text.lower()) if number is None else number
        if value is None:
            continue
        # True == 1 in Python, and who writes both has hardly meant three classes.
        other = seen.setdefault(value, text)
        if other != text:
            return other, text
        if number is None:
            seen.setdefault("truth value", text)
        elif number in (0, 1):
            seen.setdefault("0 or 1", text)
    both = seen.get("truth value"), seen.get("0 or 1")
    return None if None in both else both


def _refuse_two_spellings(columns, names, kinds, name):
    """Refuse columns of texts that hold one number twice, and columns without a common label."""
    sets = [{text.strip() for text in texts} for texts in columns]
    only_kinds = set(kinds) == {"whole numbers", "true or false"}
    found = None if only_kinds else _two_spellings(set().union(*sets))
    if found is not None:
        one, other = (_told(text, columns, names) for text in found)
        raise TableFileError(
            f"{name} holds {one} and {other}: is that one label in two spellings? Then spell it "
            "alike; or, if they are two classes,",
            parameter="labels",
            remedy="name all classes in labels.",
        )
    # Classes "10" and "unknown", of which one column has only the first, are texts.
    together = all(one & other for one, other in itertools.combinations(sets, 2))
    if len(set(kinds)) > 1 and not together:
        told = ", ".join(map(" ".join, zip(names, kinds, strict=True)))
        raise TableFileError(f"the columns of {name} hold different things: {told}.")


def _told(label, columns, names):
    """A label with the column and the line where it was first seen."""
    for texts, column in zip(columns, names, strict=True):
        for text in texts:
            if text.strip() == label:
                line = _place(texts, text, "").removeprefix(", ")
                return f"{quoted(label, 60)} ({', '.join(filter(None, (line, column)))})"
    return quoted(label, 60)


def _tell_alike(words, name):
    """Warn of words that differ in nothing but capitals or in how a letter is encoded."""
    seen: dict = {}
    pairs = []
    for word in words:
        form = unicodedata.normalize("NFKC", word)
        other, other_form = seen.setdefault(form.casefold(), (word, form))
        if other != word:
            show = ascii if form == other_form else repr  # what looks the same is spelled out
            pairs.append(f"{show(other)[:60]} and {show(word)[:60]}")
    if pairs:
        more = f" (and {len(pairs) - _MOST_TOLD} more pairs)" * (len(pairs) > _MOST_TOLD)
        warn_user(
            f"{name}: {'; '.join(pairs[:_MOST_TOLD])}{more} are counted as different labels, as "
            "they are written. If they are one, spell them alike.",
            UserWarning,
        )
