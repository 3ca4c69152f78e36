"""The public names, where they are documented, and what importing them does."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skuncertain

API_PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.rst"
SUBMODULES = {info.name for info in pkgutil.iter_modules(skuncertain.__path__)}
OPTIONAL = {"dask", "distributed", "flask", "matplotlib", "pandas"}
PUBLIC_SUBMODULES = sorted(name for name in SUBMODULES if not name.startswith("_"))


def _documented():
    """Return the entries of all autosummary directives of the API page."""
    entries, inside = [], False
    for line in API_PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. autosummary::"):
            inside = True
        elif line and not line[0].isspace():
            inside = False
        elif inside and re.fullmatch(r"\s+~?[\w.]+", line):
            entries.append(line.strip().lstrip("~"))
    return entries


def _resolve(name):
    obj = skuncertain
    for part in name.split("."):
        if inspect.ismodule(obj) and part in SUBMODULES:
            importlib.import_module(f"skuncertain.{part}")
        obj = getattr(obj, part)
    return obj


def test_all_is_sorted_and_without_duplicates():
    assert skuncertain.__all__ == sorted(set(skuncertain.__all__))


def test_every_public_name_exists():
    assert [name for name in skuncertain.__all__ if not hasattr(skuncertain, name)] == []


def test_what_type_checkers_see_is_what_is_imported():
    tree = ast.parse(Path(skuncertain.__file__).read_text(encoding="utf-8"))
    (checked,) = (
        node.body
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "_typing.TYPE_CHECKING"
    )
    seen = {
        alias.name: node.module.removeprefix("skuncertain.")
        for node in checked
        for alias in node.names
    }
    assert seen == skuncertain._MODULE_OF
    assert sorted(seen) == skuncertain.__all__


def test_names_are_imported_when_they_are_used():
    code = """
import sys
import skuncertain
assert not {"numpy", "scipy", "sklearn"} & set(sys.modules)
assert skuncertain.exceptions.SmallSampleWarning is skuncertain.SmallSampleWarning
assert "ConfusionCounts" in dir(skuncertain) and "ConfusionCounts" not in vars(skuncertain)
assert skuncertain.ConfusionCounts.__module__ == "skuncertain._counts"
assert "ConfusionCounts" in vars(skuncertain)
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="'skuncertain' has no attribute 'ConfusionCount'"):
        skuncertain.ConfusionCount  # noqa: B018


def test_nothing_else_is_public():
    public = {name for name in dir(skuncertain) if not name.startswith("_")}
    assert public - set(skuncertain.__all__) - SUBMODULES == set()


def test_api_page_lists_the_public_names():
    documented = _documented()
    assert len(documented) == len(set(documented))
    names = {name for name in documented if "." not in name}
    public = {
        name
        for name in skuncertain.__all__
        if not name.startswith("_") and not inspect.ismodule(getattr(skuncertain, name))
    }
    assert names == public
    for name in documented:
        _resolve(name)


@pytest.mark.parametrize("submodule", PUBLIC_SUBMODULES)
def test_api_page_lists_the_public_submodules(submodule):
    module = importlib.import_module(f"skuncertain.{submodule}")
    assert module.__all__ == sorted(set(module.__all__))
    documented = {_resolve(name) for name in _documented()}
    assert [name for name in module.__all__ if getattr(module, name) not in documented] == []


def _run(code):
    # -P: the installed package, not whatever lies in the working directory.
    return subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False
    )


def test_import_leaves_optional_packages_alone():
    # The package is imported twice: the first time also imports its dependencies,
    # and scikit-learn imports pandas where it finds it.
    code = f"""
import sys
from skuncertain import *
optional = {sorted(OPTIONAL)}
for name in list(sys.modules):
    if name.partition(".")[0] in [*optional, "skuncertain"]:
        del sys.modules[name]
from skuncertain import *
sys.exit(", ".join(name for name in optional if name in sys.modules) or None)
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr


def test_import_works_without_optional_packages():
    # None in sys.modules makes every attempt to import the name fail.
    code = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(OPTIONAL)}))
from skuncertain import *
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr


def test_import_has_no_side_effects():
    # The side effects of the dependencies do not count, so everything that the
    # package imports is imported before the state is recorded.
    listed = _run("from skuncertain import *; import sys; print(*sys.modules)")
    assert listed.returncode == 0, listed.stderr
    modules = [name for name in listed.stdout.split() if name.partition(".")[0] != "skuncertain"]
    code = f"""
import contextlib, importlib, logging, os, random, sys, warnings
import numpy as np
import sklearn

def state():
    return {{
        "environment": dict(os.environ),
        "logging": (logging.root.level, list(logging.root.handlers)),
        "numpy error handling": np.geterr(),
        "numpy print options": repr(np.get_printoptions()),
        "numpy random state": repr(np.random.get_state()[1:]),
        "random state": random.getstate(),
        "scikit-learn configuration": sklearn.get_config(),
        "sys.path": list(sys.path),
        "warning filters": list(warnings.filters),
    }}

for name in {modules}:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
assert "skuncertain" not in sys.modules
before = state()
from skuncertain import *
after = state()
sys.exit(", ".join(key for key in before if before[key] != after[key]) or None)
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""


def test_metrics_page_names_every_metric():
    text = (Path(__file__).resolve().parents[1] / "docs" / "metrics.rst").read_text("utf-8")
    suffixes = ("_micro", "_macro", "_weighted")
    bases = {name for name in skuncertain.get_metric_names() if not name.endswith(suffixes)}
    assert [name for name in sorted(bases) if f"``{name}``" not in text] == []


@pytest.mark.parametrize("name", skuncertain.__all__)
def test_public_signatures_are_annotated(name):
    thing = getattr(skuncertain, name)
    function = thing.__init__ if inspect.isclass(thing) else thing
    if inspect.isclass(thing) and "__init__" not in vars(thing):
        return
    signature = inspect.signature(function)
    bare = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is inspect.Parameter.empty and parameter.name != "self"
    ]
    assert bare == []
    assert signature.return_annotation is not inspect.Signature.empty
