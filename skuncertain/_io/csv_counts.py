"""Counting the combinations of values in some columns of a CSV stream, in constant memory.

A block of lines is cut into fields by numpy, if every line is as wide as the header and quotation
marks are where they belong. Anything else is left to the csv module of the standard library, from
that block on: it skips blank lines, and says what is wrong with the others.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import operator
import sys
import zlib
from collections import Counter
from contextlib import contextmanager, suppress

import numpy as np

from skuncertain._utils.validation import nearest_name, quoted, refuse_if
from skuncertain.exceptions import InvalidParameterError, TableFileError

MOST_LABELS = 1000  # different values of a column; more are no classes
_CHUNK = 2**18  # bytes read at once: what fits into a cache
_LONGEST_LINE = 2**24
_LONGEST_LABEL = 256  # bytes; longer ones are left to the csv module
_ROWS = 2000  # that it reads at once
_DELIMITERS = ",\t;"
_MASKS = np.array([256**k - 1 for k in range(9)], dtype=np.uint64)  # the first k of eight bytes


def refuse_file(condition, message):
    """Raise an error about a file where the condition holds."""
    if condition:
        raise TableFileError(message)


def count_cells(file, columns, *, progress=None):
    """Count the combinations of texts in named columns.

    `file` is a path, "-" for standard input, or an open file, binary or text; gz is recognised by
    its first bytes. `columns` maps what a column is for to its name in the header. `progress` is
    called with the number of bytes that were read. Returns ``{texts: [number, (first line, last
    line)]}``; the lines tell where the combination was first seen.
    """
    with _opened(file) as read:
        return _Table(read, shown_name(file), columns).count(progress)


def column_names(file):
    """Names in the header of a table."""
    name = shown_name(file)
    with _opened(file) as read:
        return _header(_without_mark(next(_blocks(read, name), b""), name), name)[1]


def shown_name(file):
    """What to call a file in messages."""
    if isinstance(file, str) and file == "-":
        return "standard input"
    if hasattr(file, "read"):
        name = getattr(file, "name", None)
        return name if isinstance(name, str) else "the table"
    return str(file)


def read_text(file, most):
    """Return the whole text of a file that is not long."""
    name, parts, size = shown_name(file), [], 0
    with _opened(file) as read:
        for block in _blocks(read, name):
            parts.append(block)
            size += len(block)
            refuse_file(size > most, f"{name} is too long: more than {most:,} bytes.")
    text = _without_mark(b"".join(parts), name)
    refuse_file(not text.strip(), f"{name} is empty.")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise TableFileError(f"{name}, line {line}: not UTF-8 text. Save it as UTF-8.") from None


def read_rows(file, most, name=None):
    """Return all rows of a small table as (line, fields): as wide as the header, none blank."""
    name = shown_name(file) if name is None else name
    text = read_text(file, most)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise TableFileError(f"{name}, line {reader.line_num}: {error}.") from None
    rows = [(line, row) for line, row in rows if any(field.strip() for field in row)]
    refuse_file(not rows, f"{name} is empty: there is no header.")
    width = len(rows[0][1])
    for line, row in rows:
        text = f"{name}, line {line}: {len(row)} fields, but the header has {width}."
        refuse_file(len(row) != width, text)
    return rows


# --------------------------------------------------------------------------------------------------
# From a file to blocks of whole lines


class _Joined:
    """Bytes that were read ahead, then the rest of the file; texts become UTF-8."""

    def __init__(self, file):
        self.file, self.ahead = file, b""

    def read(self, size=_CHUNK):
        if self.ahead:
            part, self.ahead = self.ahead[:size], self.ahead[size:]
            return part
        part = self.file.read(size)
        return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


@contextmanager
def _opened(file):
    """Give the function that reads the next bytes, decompressed."""
    if hasattr(file, "read"):
        source = _Joined(file)
        source.ahead = source.read(_CHUNK)
        if source.ahead.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=source, mode="rb") as unpacked:
                yield unpacked.read
        else:
            yield source.read
    elif file == "-":
        refuse_file(sys.stdin is None, "standard input is closed.")
        with _opened(sys.stdin.buffer) as read:
            yield read
    else:
        with open(file, "rb") as raw, _opened(raw) as read:
            yield read


def _blocks(read, name):
    """Yield bytes that end with a line, except perhaps the last ones."""
    rest, size = [], 0
    while part := _read(read, name):
        refuse_file(
            b"\0" in part,
            f"{name} holds NUL bytes, so it is no text file, or one in UTF-16: save it as CSV in "
            "UTF-8.",
        )
        cut = part.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, part[:cut]])
            rest, size = [], 0
        rest.append(part[cut:])
        size += len(part) - cut
        text = f"{name} holds a line of more than {_LONGEST_LINE:,} bytes: is it a table?"
        refuse_file(size > _LONGEST_LINE, text)
    if size:
        yield b"".join(rest)


def _read(read, name):
    try:
        return read(_CHUNK)
    except EOFError:
        raise TableFileError(f"{name} is a gz file that ends too early: it is truncated.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise TableFileError(f"{name} is a damaged gz file: {error}.") from None


def _without_mark(block, name):
    """Return the first block without the mark that some programs put before UTF-8."""
    utf_16 = block[:2] in (b"\xff\xfe", b"\xfe\xff")
    refuse_file(utf_16, f"{name} is in UTF-16: save it as CSV in UTF-8.")
    return block.removeprefix(b"\xef\xbb\xbf")


# --------------------------------------------------------------------------------------------------
# The header


def _from_latin(text):
    """Text of bytes that were read as Latin-1; bytes that are no UTF-8 stay recognisable."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def _delimiter(text):
    """Return the delimiter that makes the most of the first row; a comma if in doubt."""

    def fields(delimiter):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        with suppress(csv.Error):  # told when the rows are read
            return len(next((row for row in reader if any(row)), []))
        return 0

    return max(_DELIMITERS, key=fields)


def _is_open(text, delimiter):
    """Whether a text ends inside quotation marks."""
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def _header(block, name):
    """Return delimiter, column names, number of lines and bytes that the header takes."""
    text = block.decode("latin-1")  # one letter per byte
    try:
        delimiter = _delimiter(text)
        lines = io.StringIO(text, newline="")
        reader = csv.reader(iter(lines.readline, ""), delimiter=delimiter)
        names = next((row for row in reader if any(field.strip() for field in row)), None)
    except csv.Error as error:
        raise TableFileError(f"{name}, first line: {error}.") from None
    refuse_file(names is None, f"{name} is empty.")
    unclosed = lines.tell() == len(text) and _is_open(text, delimiter)
    refuse_file(unclosed, f"{name}, first line: a quotation mark is not closed.")
    names = [_from_latin(field).strip() for field in names]
    return delimiter, names, reader.line_num, lines.tell()


def find_columns(columns, names, name):
    """Places of the wanted columns; a name that is not there is the caller's mistake."""
    listed = ", ".join(quoted(field, 40) for field in names[:20])
    listed += ", ..." if len(names) > 20 else ""
    places = []
    for purpose, column in columns.items():
        text = f"{purpose} is missing: name a column of {name}: {listed}."
        refuse_if(column is None, purpose, text)
        if column not in names:
            hint = nearest_name(column, names)
            if all(field.replace(".", "").lstrip("-").isdigit() for field in names):
                hint = " The first line must name the columns."
            raise InvalidParameterError(
                f"{purpose}={column!r} is not a column of {name}; its columns are {listed}.{hint}",
                parameter=purpose,
            )
        number = names.count(column)
        refuse_file(number > 1, f"{name} has {number} columns called {column!r}.")
        refuse_if(
            names.index(column) in places,
            purpose,
            f"{purpose}={column!r} is named twice, but truth and predictions"
            f"{' and folds' * ('fold' in columns)} must be different columns; those of {name} are "
            f"{listed}.",
        )
        places.append(names.index(column))
    return places


# --------------------------------------------------------------------------------------------------
# Counting


class _Table:
    """One pass over a table."""

    def __init__(self, read, name, columns):
        self.name, self.columns = name, columns
        self.blocks = _blocks(read, name)
        first = _without_mark(next(self.blocks, b""), name)
        self.delimiter, names, self.line, start = _header(first, name)
        self.first, self.width = first[start:], len(names)
        self.places = find_columns(columns, names, name)
        self.cells: dict = {}
        self.seen: list = [set() for _ in self.places]  # values of every column
        self.words: dict = {}

    def count(self, progress):
        blocks = itertools.chain([self.first], self.blocks)
        done, rest = 0, b""
        for block in blocks:
            block = _longer(rest + block, 2 * len(rest), blocks) if rest else block
            used = self._count_block(block) if block.strip() else len(block)
            if used is None or len(block) - used > _LONGEST_LINE:
                self._count_rows(itertools.chain([block], blocks), done, progress)
                rest = b""
                break
            self.line += block.count(b"\n", 0, used)
            done, rest = done + used, block[used:]
            if progress is not None:
                progress(done)
        if rest:
            self._count_rows([rest], done, progress)  # says that a quotation mark is missing
        refuse_file(not self.cells, f"{self.name} has a header but no rows.")
        return self.cells

    def _include(self, key, number, lines):
        """Add to a cell, which remembers the lines among which it was first seen."""
        cell = self.cells.get(key)
        if cell is not None:
            cell[0] += number
            return
        self.cells[key] = [number, lines]
        for column, (field, seen) in enumerate(zip(key, self.seen, strict=True)):
            seen.add(field)
            if len(seen) > MOST_LABELS:
                self._too_many(column)

    def _too_many(self, column):
        purpose, name = list(self.columns.items())[column]
        if purpose == "fold":
            raise TableFileError(
                f"the column {name!r} of {self.name} has more than {MOST_LABELS:,} different "
                "values, so it does not tell the folds. Is it the right one? Join small folds to "
                "larger ones, such as those of leave-one-out."
            )
        raise TableFileError(
            f"the column {name!r} of {self.name} has more than {MOST_LABELS:,} different values, "
            f"so it holds no class labels. Is it the right one for {purpose}? Scores need a "
            "threshold."
        )

    # With numpy

    def _count_block(self, block):
        """Count a block and return how much of it; None if it is not as it has to be."""
        found = _plain_fields(block, ord(self.delimiter), self.width, self.places)
        if found is None:
            return None
        block, used, lines, fields = found
        if not used:
            return 0
        cell, size = np.zeros(len(fields[0][0]), dtype=np.int64), 1
        for column, (start, end) in enumerate(fields):
            for k, word in enumerate(_words(block, start, end)):
                code, number = self._codes(column, k, word)
                if size * number > 2**62:
                    some, cell = np.unique(cell, return_inverse=True)
                    size = some.size
                cell, size = cell * number + code, size * number
        if size > 4 * cell.size:
            some, cell = np.unique(cell, return_inverse=True)
            size = some.size
        counts = np.bincount(cell, minlength=size)
        first = np.zeros(size, dtype=np.int64)
        first[cell[::-1]] = np.arange(cell.size)[::-1]  # the last one written stays
        order = first[counts > 0]
        line, place = self.line + 1, 0
        for row in order[np.argsort(order)].tolist():
            key = tuple(_unquoted(block[start[row] : end[row]]) for start, end in fields)
            if key not in self.cells:  # only its line will be told; no line is counted twice
                line += block.count(b"\n", place, lines[row])
                place = lines[row]
            self._include(key, int(counts[cell[row]]), (line, line))
        return used

    def _codes(self, column, k, word):
        """Place of every word among the different ones, and how many there are."""
        known = self.words.get((column, k))
        if known is None:
            known = np.unique(word)
        code = np.minimum(np.searchsorted(known, word), known.size - 1)
        new = known[code] != word
        if new.any():
            known = np.union1d(known, word[new])
            code = np.searchsorted(known, word)
        if known.size > MOST_LABELS:
            self._too_many(column)
        self.words[column, k] = known
        return code, known.size

    # With the csv module

    def _count_rows(self, blocks, done, progress):
        def lines(block):
            nonlocal done
            done += len(block)
            if progress is not None:
                progress(done)
            return io.StringIO(block.decode("utf-8", "surrogateescape"), newline="")

        text = itertools.chain.from_iterable(map(lines, blocks))
        reader = csv.reader(text, delimiter=self.delimiter, strict=True)
        wanted, width, before = operator.itemgetter(*self.places), self.width, self.line
        try:
            while True:
                start = reader.line_num
                keys = [
                    wanted(row)
                    for row in itertools.islice(reader, _ROWS)
                    if len(row) == width or self._is_row(row, before + reader.line_num)
                ]
                if reader.line_num == start:
                    break
                numbers, found = Counter(keys), {}
                one_each = reader.line_num - start == len(keys)
                if one_each and not self.cells.keys() >= numbers.keys():  # a new one has its line
                    last = range(reader.line_num, start, -1)
                    found = dict(zip(keys[::-1], last, strict=True))  # the first one stays
                for key, number in numbers.items():
                    place = (found.get(key, start + 1), found.get(key, reader.line_num))
                    self._include(key, number, tuple(before + line for line in place))
        except csv.Error as error:
            raise TableFileError(
                f"{self.name}, line {before + reader.line_num}: {error}. Are the quotation "
                "marks in pairs?"
            ) from None

    def _is_row(self, row, line):
        """Return False for a blank line; anything else that is not as wide as the header fails."""
        if len(row) <= 1 and not "".join(row).strip():
            return False
        number = f"{len(row)} field{'s' * (len(row) != 1)}"
        raise TableFileError(
            f"{self.name}, line {line}: {number}, but the header has {self.width}."
        )


def _longer(block, size, blocks):
    """Block with those that follow, until it has so many bytes.

    A quoted text may go on for many blocks. As each attempt to find its end is twice as long as the
    one before, all of them together take no longer than four times the last one.
    """
    parts, missing = [block], size - len(block)
    while missing > 0 and (part := next(blocks, None)) is not None:
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _plain_fields(block, delimiter, width, places):
    """Find the wanted fields of a block; None if its lines are not like the header.

    Return the block, how much of it is whole rows, where rows start, and [(starts, ends)].
    """
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return None  # ends lines on its own, as on very old computers
    size = len(block)
    block = block.rstrip(b"\r\n") + b"\n"  # without blank lines at the end
    letters = np.frombuffer(block, dtype=np.uint8)
    found = (letters == delimiter) | (letters == 10)
    if b'"' in block:
        marks = _outside_quotes(letters, found, delimiter)
        if marks is None:
            return None
    else:
        marks = np.flatnonzero(found)
    is_end = letters[marks] == 10
    if not is_end.any():
        return block, 0, marks, []
    n_marks = is_end.size - np.argmax(is_end[::-1])  # what follows goes on in the next block
    marks, is_end = marks[:n_marks], is_end[:n_marks]
    if marks[-1] < len(block) - 1:
        size = int(marks[-1]) + 1
    if marks.size % width:
        return None
    is_end = is_end.reshape(-1, width)
    if not np.all(is_end[:, -1]) or np.any(is_end[:, :-1]):
        return None
    starts = np.empty_like(marks)
    starts[0] = 0
    np.add(marks[:-1], 1, out=starts[1:])
    starts, ends = starts.reshape(-1, width), marks.reshape(-1, width)
    if b"\r" in block:
        ends[:, -1] -= letters[ends[:, -1] - 1] == 13
    fields = [(starts[:, k], ends[:, k]) for k in places]
    if any(np.max(end - start) > _LONGEST_LABEL for start, end in fields):
        return None
    return block, size, starts[:, 0], fields


def _outside_quotes(letters, found, delimiter):
    """Delimiters and line ends that are not quoted; None if quotation marks are out of place."""
    marks = np.flatnonzero(found | (letters == 34))
    quote = letters[marks] == 34
    inside = np.cumsum(quote) % 2 == 1  # after this mark
    before = letters[marks[quote & inside] - 1]  # an opening one; before the first is a line end
    after = letters[marks[quote & ~inside] + 1]  # a closing one
    usual = np.isin(before, (delimiter, 10, 34)), np.isin(after, (delimiter, 10, 13, 34))
    if not all(map(np.all, usual)):
        return None
    return marks[~quote & ~inside]


def _unquoted(field):
    text = field.decode("utf-8", "surrogateescape")
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _words(block, start, end):
    """Bytes of every field, eight at a time, as integers; zeros after its end."""
    padded = block + bytes(_LONGEST_LABEL + 8)
    view = np.ndarray(len(padded) - 7, dtype="<u8", buffer=padded, strides=(1,))
    left = end - start
    while True:
        yield view[start] & _MASKS[np.clip(left, 0, 8)]
        start, left = start + 8, left - 8
        if not np.any(left > 0):
            return
