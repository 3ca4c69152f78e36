"""Texts that fit and show literally."""

import re

_BLANK = re.compile(r"[ \t\n\r\f\v]+")
_PART = re.compile(r"\(?[^ _;=/|(-]*[_;=/|-]* *")  # a line may end behind one of these
_WORD = re.compile(r"[^ ]+ *| +")
_CHARACTER = 0.55  # mean width of a character, in font sizes


def literal(text):
    """Text that matplotlib shows as it is: a dollar would start a formula."""
    return text.replace("$", "\\$")


def visible_label(label):
    """Label that matplotlib keeps: those that begin with an underscore are left out of legends."""
    return f" {label}" if label.startswith("_") else label


def shorten(text, width):
    """Text of at most `width` characters, cut in the middle, where names differ least."""
    if len(text) <= width:
        return text
    left = width // 2
    return f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


def fit(text, width, lines=1):
    """Text in lines of `width` characters, shortened where that is not enough."""
    text, width = _BLANK.sub(" ", str(text)).strip(" "), max(int(width), 6)
    rows = _wrapped(_words(text, width), width)
    if len(rows) > lines:
        for most in (len(text), *range(width * lines, 0, -1)):
            rows = _wrapped(_PART.findall(shorten(text, most)), width)
            if len(rows) <= lines:
                break
    return literal("\n".join(rows))


def _words(text, width):
    """Words, and parts of names such as ``max_depth=3`` where a word is longer than a line."""
    for word in _WORD.findall(text):
        yield from [word] if len(word.rstrip()) <= width else _PART.findall(word)


def _wrapped(parts, width):
    """Lines filled from parts of a text."""
    rows = [""]
    for part in parts:
        if len(rows[-1]) + len(part.rstrip()) > width and rows[-1]:
            rows.append("")
        while len(part.rstrip()) > width:
            rows[-1], part = part[:width], part[width:]
            rows.append("")
        rows[-1] += part
    return [row.rstrip() for row in rows]


def characters(points, size):
    """How many characters of a font size fit into a length."""
    return max(int(points / (_CHARACTER * size)), 8)


def listed(texts, most=10):
    """Sentence of texts in a row, shortened where there are many."""
    texts = list(texts)
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return "; ".join([*texts[:most], *more]) + "."
