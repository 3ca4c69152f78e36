"""Texts that fit and show literally, and numbers as readers want them."""

import re

import numpy as np

KINDS = {"eti": "equal-tailed ", "hdi": "highest-density ", None: ""}
_BLANK = re.compile(r"[ \t\n\r\f\v]+")
_PART = re.compile(r"\(?[^ _;=/|(-]*[_;=/|-]* *")  # a line may end behind one of these
_WORD = re.compile(r"[^ ]+ *| +")
_CHARACTER = 0.55  # mean width of a character, in font sizes


def literal(text):
    """Text that matplotlib shows as it is: a dollar would start a formula."""
    return text.replace("$", "\\$")


def kept(label):
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


def show(value, digits=3):
    """A number as readers want it."""
    if not np.isfinite(value):
        return {np.inf: "infinity", -np.inf: "-infinity"}.get(float(value), "undefined")
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.4g}"


def interval_name(level, kind):
    """Such as "95 % equal-tailed interval"."""
    return f"{100 * level:g} % {KINDS[kind]}interval"


def interval_text(estimate, low, high, digits=3):
    """Such as "0.870 [0.802, 0.921]", kept on one line."""
    text = f"{show(estimate, digits)} [{show(low, digits)}, {show(high, digits)}]"
    return text.replace(" ", "\u00a0")


def listed(texts, most=10):
    """Texts in a row, shortened where there are many."""
    texts = list(texts)
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return "; ".join([*texts[:most], *more])


def probability(p):
    """A probability, never rounded to certainty."""
    if 0 < p < 0.001 or 0.999 < p < 1:
        return "<0.001" if p < 0.5 else ">0.999"
    return f"{p:.3f}" if p < 0.01 or p > 0.99 else f"{p:.2f}"
