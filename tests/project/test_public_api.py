"""The public names, where they are documented, and what importing them does."""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skuncertain

API_PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.rst"
SUBMODULES = {info.name for info in pkgutil.iter_modules(skuncertain.__path__)}
# Imports all that is public.
EVERYTHING = "import skuncertain; [getattr(skuncertain, room) for room in skuncertain._SUBMODULES]"
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


def _room(name):
    return importlib.import_module(f"skuncertain.{name}")


PUBLIC = [f"{room}.{name}" for room in PUBLIC_SUBMODULES for name in _room(room).__all__]
AT_TOP_LEVEL = {f"{home}.{name}" for name, home in skuncertain._HOME_OF.items()}


def _resolve(name):
    obj = skuncertain
    for part in name.split("."):
        obj = getattr(obj, part)
    return obj


def test_every_public_submodule_is_loaded_on_demand():
    assert sorted(skuncertain._SUBMODULES) == PUBLIC_SUBMODULES


@pytest.mark.parametrize("module", [skuncertain, *map(_room, PUBLIC_SUBMODULES)], ids=repr)
def test_all_is_sorted_and_complete(module):
    assert module.__all__ == sorted(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_every_name_has_one_home():
    names = [name.partition(".")[2] for name in PUBLIC]
    assert len(names) == len(set(names))


def test_top_level_names():
    assert set(skuncertain.__all__) == {
        "BayesianCrossValidator",
        "ConfusionCounts",
        "ConfusionCountsScorer",
        "compare",
        "compare_cv",
        "compare_paired",
        "confidence_interval",
        "credible_interval",
        "cross_val_posterior",
        "interval_report",
        "leaderboard",
        "required_sample_size",
        "search_posterior",
        "show_versions",
        "simplest_equivalent",
    }


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
    assert seen == skuncertain._HOME_OF


def test_names_are_imported_when_they_are_used():
    code = """
import sys
import skuncertain
assert not {"numpy", "scipy", "sklearn"} & set(sys.modules)
assert skuncertain.exceptions.SmallSampleWarning
assert not {"numpy", "scipy", "sklearn"} & set(sys.modules)
assert "ConfusionCounts" in dir(skuncertain) and "ConfusionCounts" not in vars(skuncertain)
assert skuncertain.ConfusionCounts is skuncertain.metrics.ConfusionCounts
assert "ConfusionCounts" in vars(skuncertain)
assert "skuncertain.comparison" not in sys.modules
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr


def test_help_on_the_command_line_needs_no_numerics():
    result = _run("""
import sys
from skuncertain._cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
sys.exit(", ".join({"numpy", "scipy", "sklearn"} & set(sys.modules)) or None)
""")
    assert result.returncode == 0, result.stderr


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="'skuncertain' has no attribute 'ConfusionCount'"):
        skuncertain.ConfusionCount  # noqa: B018
    assert not hasattr(skuncertain, "_private")


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - AT_TOP_LEVEL))
def test_a_name_of_a_room_is_answered_with_its_home(name):
    room, _, name = name.partition(".")
    told = f"{name} is in skuncertain.{room}: from skuncertain.{room} import {name}"
    with pytest.raises(AttributeError, match=re.escape(told)):
        getattr(skuncertain, name)
    with pytest.raises(ImportError, match=re.escape(told)):
        exec(f"from skuncertain import {name}")


def test_nothing_else_is_public():
    public = {name for name in dir(skuncertain) if not name.startswith("_")}
    assert public - set(skuncertain.__all__) - SUBMODULES == set()


def test_api_page_lists_the_public_names_by_room():
    documented = _documented()
    assert len(documented) == len(set(documented))
    assert set(documented) == {*PUBLIC, "show_versions"}
    rooms = [room for room, _ in itertools.groupby(name.partition(".")[0] for name in documented)]
    assert len(rooms) == len(set(rooms))  # no room is begun twice


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
{EVERYTHING}
optional = {sorted(OPTIONAL)}
for name in list(sys.modules):
    if name.partition(".")[0] in [*optional, "skuncertain"]:
        del sys.modules[name]
{EVERYTHING}
sys.exit(", ".join(name for name in optional if name in sys.modules) or None)
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr


def test_import_works_without_optional_packages():
    # None in sys.modules makes every attempt to import the name fail.
    code = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(OPTIONAL)}))
{EVERYTHING}
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr


def test_import_has_no_side_effects():
    # The side effects of the dependencies do not count, so everything that the
    # package imports is imported before the state is recorded.
    listed = _run(f"{EVERYTHING}; import sys; print(*sys.modules)")
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
{EVERYTHING}
after = state()
sys.exit(", ".join(key for key in before if before[key] != after[key]) or None)
"""
    result = _run(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""


def test_metrics_page_names_every_metric():
    text = (Path(__file__).resolve().parents[2] / "docs" / "metrics.rst").read_text("utf-8")
    suffixes = ("_micro", "_macro", "_weighted")
    bases = {name for name in skuncertain.metrics.get_metric_names() if not name.endswith(suffixes)}
    assert [name for name in sorted(bases) if f"``{name}``" not in text] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_public_signatures_are_annotated(name):
    thing = _resolve(name)
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


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(_resolve(name))])
def test_help_fits_on_a_screen(name):
    function = _resolve(name)
    assert len(inspect.getdoc(function).splitlines()) <= 57
    assert len(f"{function.__name__}{inspect.signature(function)}") <= 550
