"""The same numbers from every container, and what the package never does."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import skuncertain
from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare_paired,
    credible_interval,
    interval_report,
)
from skuncertain.metrics import auc_posterior, intervals_at_thresholds

PACKAGE = Path(skuncertain.__file__).parent
RNG = np.random.default_rng(0)
TRUE = RNG.integers(2, size=60)
FIRST, SECOND = (np.where(RNG.random(60) < p, TRUE, 1 - TRUE) for p in (0.8, 0.7))
SCORE = FIRST + RNG.normal(size=60)
X = np.column_stack([SCORE, RNG.normal(size=60)])
WORDS = np.array(["no", "yes"])


def _numpy(dtype, words=False):
    return lambda y: (WORDS[y] if words else y).astype(dtype)


def _pandas(dtype, words=True):
    def convert(y):
        pandas = pytest.importorskip("pandas")
        if "pyarrow" in dtype:
            pytest.importorskip("pyarrow")
        return pandas.Series(WORDS[y] if words else y, index=range(60, 0, -1)).astype(dtype)

    return convert


def _polars(dtype):
    def convert(y):
        polars = pytest.importorskip("polars")
        kind = {"Enum": polars.Enum(list(WORDS))}.get(dtype) or getattr(polars, dtype)
        words = dtype in ("String", "Categorical", "Enum")
        return polars.Series(WORDS[y] if words else y).cast(kind)

    return convert


CONTAINERS = {
    "list": lambda y: y.tolist(),
    "tuple of text": lambda y: tuple(WORDS[y].tolist()),
    "column": lambda y: y[:, None],
    "strided": lambda y: np.repeat(y, 2)[::2],
    "read-only": lambda y: np.frombuffer(y.astype(np.int64).tobytes(), dtype=np.int64),
    "big-endian": _numpy(">i4"),
    "masked array": lambda y: np.ma.masked_array(y),
    **{dtype: _numpy(dtype) for dtype in ("int8", "uint64", "float32", "bool", "object")},
    "numpy text": _numpy("U3", words=True),
    "objects of text": _numpy("object", words=True),
    **{f"pandas {d}": _pandas(d) for d in ("object", "category", "string", "string[pyarrow]")},
    **{
        f"pandas {d}": _pandas(d, words=False)
        for d in ("int8", "Int64", "boolean", "float64", "int64[pyarrow]")
    },
    **{
        f"polars {d}": _polars(d)
        for d in ("Int64", "UInt8", "Boolean", "String", "Categorical", "Enum")
    },
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_every_container_of_labels_gives_the_same_numbers(container):
    make = CONTAINERS[container]
    true, first, second = map(make, (TRUE, FIRST, SECOND))
    pos_label = max(np.unique(np.asarray(true)))
    assert credible_interval(true, first, metric="f1", pos_label=pos_label) == credible_interval(
        TRUE, FIRST, metric="f1"
    )
    np.testing.assert_array_equal(
        ConfusionCounts.from_predictions(true, first).counts,
        ConfusionCounts.from_predictions(TRUE, FIRST).counts,
    )
    assert compare_paired(true, first, second).p_better == (
        compare_paired(TRUE, FIRST, SECOND).p_better
    )
    report = interval_report(true, first).to_dict()["sections"]["scores"]["rows"]
    plain = interval_report(TRUE, FIRST).to_dict()["sections"]["scores"]["rows"]
    assert [row["f1"] for row in report[:3]] == [row["f1"] for row in plain[:3]]
    assert auc_posterior(true, SCORE).interval() == auc_posterior(TRUE, SCORE).interval()
    if container == "object":  # numbers as objects: scikit-learn's classifiers refuse them
        return
    bcv = BayesianCrossValidator(GaussianNB(), cv=4, pos_label=pos_label).fit(X, true)
    assert bcv.interval("f1") == BayesianCrossValidator(GaussianNB(), cv=4).fit(X, TRUE).interval(
        "f1"
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_features_and_columns_of_scores(library):
    frames = pytest.importorskip(library)
    if library == "polars":
        pytest.importorskip("pyarrow", reason="scikit-learn needs it to select rows of polars")
    frame = frames.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": TRUE})
    bcv = BayesianCrossValidator(GaussianNB(), cv=4, keep_predictions=True)
    bcv.fit(frame[["a", "b"]], frame["y"])
    plain = BayesianCrossValidator(GaussianNB(), cv=4, keep_predictions=True).fit(X, TRUE)
    assert bcv.interval("mcc") == plain.interval("mcc")
    assert list(bcv.feature_names_in_) == ["a", "b"]
    assert auc_posterior(frame["y"], bcv).interval() == auc_posterior(TRUE, plain).interval()
    assert auc_posterior(frame["y"], frame["a"]).mean() == auc_posterior(TRUE, SCORE).mean()
    asked = {"metrics": ["recall"], "random_state": 0}
    ours = intervals_at_thresholds(frame["y"], frame["a"], [0.0, 0.5], **asked).to_dict()
    assert ours == intervals_at_thresholds(TRUE, SCORE, [0.0, 0.5], **asked).to_dict()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_labels_are_refused_whatever_holds_them(library):
    frames = pytest.importorskip(library)
    with pytest.raises(ValueError, match="missing label"):
        credible_interval(frames.Series(["a", None, "b"]), ["a", "b", "b"])


# --------------------------------------------------------------------------------------------------
# What the package never does


def _called_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        elif isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"import {node.module}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_nothing_is_evaluated_unpickled_or_fetched(path):
    modules = "pickle marshal shelve subprocess urllib.request requests http.client ftplib smtplib"
    forbidden = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "joblib.load"}
    forbidden |= {f"import {name}" for name in modules.split()}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path == PACKAGE / "app" / "_workers.py":  # it starts Python, and nothing else, once
        forbidden -= {"import subprocess"}
        names = [name for name in _called_names(tree) if name.startswith("subprocess.")]
        assert names == ["subprocess.Popen"]
        assert "command = [sys.executable, '-c', _START, given]" in ast.unparse(tree)
    assert forbidden.isdisjoint(_called_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.load":
            assert "allow_pickle=False" in ast.unparse(node)


def test_no_connection_is_made():
    code = """
import sys

def refuse(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "urllib")):
        raise RuntimeError(f"{event} {args}")

sys.addaudithook(refuse)
import skuncertain
counts = skuncertain.ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
report = skuncertain.interval_report(counts)
report.to_html(), report.to_json(), str(report)
skuncertain.datasets.load_published_classifiers()
"""
    # -P: the installed package, not whatever lies in the working directory.
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
