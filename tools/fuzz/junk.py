"""Values that nobody should pass."""

import datetime
import decimal
import fractions
import sys

import numpy as np


def _frame():
    import pandas

    return pandas.DataFrame({"a": [1, None], "b": ["x", "y"]})


def _series():
    import pandas

    return pandas.Series([1, 0, None, 1], dtype="Int64")


def _categories():
    import pandas

    return pandas.Categorical(["a", None, "b"])


def _sparse():
    from scipy.sparse import csr_matrix

    return csr_matrix(np.eye(3))


def _nullable(values, dtype):
    import pandas

    return pandas.array(values, dtype=dtype)


def _polars(values):
    import polars

    return polars.Series(values)


def _nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


class _NoRepr:
    """An object that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("no repr")


def _own_tail():
    endless = [1]
    endless.append(endless)
    return endless


# Functions, so that every case gets its own object.
MAKERS = (
    lambda: None,
    lambda: -1,
    lambda: 0,
    lambda: True,
    lambda: 1.5,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: float("-inf"),
    lambda: 10**30,
    lambda: -(10**400),
    lambda: 1e308,
    lambda: 5e-324,
    lambda: 2 + 1j,
    lambda: "",
    lambda: "acuracy",
    lambda: "f1\n",
    lambda: "x" * 5000,
    lambda: "\ud800",
    lambda: b"bytes",
    lambda: [],
    lambda: [[]],
    lambda: (),
    lambda: {},
    lambda: set(),
    lambda: {1: 2},
    lambda: {"a": None},
    lambda: [None],
    lambda: [float("nan"), 1],
    lambda: [1, "a", None],
    lambda: ["a"],
    lambda: [[1, 2], [3]],
    lambda: [[[]]],
    lambda: [0.5],
    lambda: [1, 2, 3],
    lambda: [0, 1],
    lambda: ["a", "b", "a"],
    lambda: [[1, 2], [3, 4]],
    lambda: [[-1, 2], [3, 4]],
    lambda: [[0.5, 2], [3, 4]],
    lambda: [["1", "2"], ["3", "4"]],
    lambda: object(),
    lambda: object,
    lambda: len,
    lambda: lambda: 1,
    lambda: lambda x: None,
    lambda: lambda *args, **kwargs: "text",
    lambda: lambda matrix: matrix,
    lambda: np.array([]),
    lambda: np.zeros((0, 0)),
    lambda: np.zeros((0, 2, 2), dtype=int),
    lambda: np.zeros((2, 3)),
    lambda: np.ones((1, 1), dtype=int),
    lambda: np.full((2, 2), np.nan),
    lambda: np.full((2, 2), np.inf),
    lambda: np.full((2, 2), -1),
    lambda: np.full((2, 2), 1e300),
    lambda: np.full((2, 2), 2**63, dtype=np.uint64),
    lambda: np.zeros((2, 2), dtype=bool),
    lambda: np.eye(3) * 0.5,
    lambda: np.ones((3, 3), dtype=int),
    lambda: np.zeros(5),
    lambda: np.arange(60),
    lambda: np.linspace(0, 1, 60),
    lambda: np.array([1 + 2j, 0]),
    lambda: np.array("x"),
    lambda: np.array(3),
    lambda: np.array([1, "a", None], dtype=object),
    lambda: np.array([[1, 2], [3, None]], dtype=object),
    lambda: np.array([b"a", b"b"]),
    lambda: np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    lambda: np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    lambda: np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    lambda: np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]),
    lambda: np.ma.masked,
    lambda: np.float16(0.5),
    lambda: np.float32(0.95),
    lambda: np.longdouble(0.9),
    lambda: np.timedelta64(3, "D"),
    lambda: 10**5000,
    lambda: 2**64,
    lambda: 1 - 2**-53,
    lambda: -0.0,
    lambda: np.arange(10, dtype=np.float16),
    lambda: np.arange(10).astype("m8[s]"),
    lambda: np.arange(10).astype("M8[ns]"),
    lambda: np.array([0, 1] * 5, dtype=">i8")[::-1],
    lambda: np.array([0, np.nan] * 5, dtype=object),
    lambda: np.array([decimal.Decimal(1), 0] * 5, dtype=object),
    lambda: np.full((2, 2), 5e-324),
    lambda: np.zeros((1,) * 31),
    lambda: np.array(None, dtype=object),
    lambda: ["a\0", "\ud800"] * 5,
    lambda: ["x" * 100_000, "b"] * 5,
    lambda: [-0.0, 1.0] * 5,
    lambda: {0, 1},
    lambda: bytearray(10),
    lambda: sys.stdout,
    lambda: _nested(60),
    lambda: _nested(500),
    _NoRepr,
    lambda: _nullable([True, None] * 5, "boolean"),
    lambda: _nullable(["a", None] * 5, "string"),
    lambda: _nullable([0.5, None] * 5, "Float64"),
    lambda: _polars([0, None] * 5),
    lambda: _polars(["a", "b"] * 5),
    lambda: _polars([0.1, float("nan")] * 5),
    lambda: _polars([datetime.date(2020, 1, 1)] * 10),
    lambda: np.int8(-3),
    lambda: np.datetime64("2020-01-01"),
    lambda: datetime.date(2020, 1, 1),
    lambda: decimal.Decimal("0.5"),
    lambda: decimal.Decimal("NaN"),
    lambda: decimal.Decimal("sNaN"),
    lambda: [decimal.Decimal("sNaN"), 1] * 5,
    lambda: np.array([0, decimal.Decimal("sNaN")] * 5, dtype=object),
    lambda: [decimal.Decimal("Infinity"), decimal.Decimal(0)] * 5,
    lambda: fractions.Fraction(1, 3),
    lambda: fractions.Fraction(10**400, 3),
    lambda: [fractions.Fraction(k, 3) for k in range(10)],
    lambda: [fractions.Fraction(k) for k in (0, 1)] * 5,
    lambda: [1e308] * 10,
    lambda: np.array([1e308, 1.0] * 5),
    lambda: [2**53 + k for k in range(10)],
    lambda: np.arange(10) + 2**62,
    lambda: [2**70 + k for k in range(10)],
    lambda: np.arange(10, dtype=np.uint64) + np.uint64(2**63),
    lambda: range(3),
    lambda: iter([1, 2]),
    lambda: (value for value in (1, 0)),
    lambda: memoryview(b"abc"),
    lambda: slice(None),
    lambda: ...,
    lambda: NotImplemented,
    _own_tail,
    _frame,
    _series,
    _categories,
    _sparse,
)


def junk(source):
    return source.pick(MAKERS)()


def spoiled(source, value):
    """A valid array or list in which something is wrong, or junk."""
    kind = source.below(5)
    try:
        array = np.array(value, dtype=object)
    except ValueError:
        return junk(source)
    if kind == 0 or array.ndim == 0 or array.size == 0:
        return junk(source)
    if kind == 1:  # one entry is wrong
        array.ravel()[source.below(array.size)] = junk(source)
        return array.tolist()
    if kind == 2:  # something is missing
        return array[: source.below(len(array))].tolist()
    if kind == 3:  # another axis
        return array[None].tolist() if source.below(2) else array[..., None].tolist()
    return np.concatenate([array, array]).tolist()
