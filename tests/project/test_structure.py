"""The house stays a house: small rooms, small files, short functions, public imports only."""

import ast
from pathlib import Path

import pytest

import skuncertain

ROOT = Path(skuncertain.__file__).parent
PATHS = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py"))}
MOST_MODULES = {"metrics": 26}  # every other room: 22
MOST_LINES = 600
MOST_LINES_OF_A_FUNCTION = 60
EXCUSE = "# long: "  # on a line of the function, with the reason


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", sorted({path.parent.name for path in PATHS.values()}))
def test_rooms_are_small_and_say_what_they_hold(room):
    folder = ROOT if room == ROOT.name else next(ROOT.rglob(room))
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES.get(room, 22)
    assert ast.get_docstring(parsed(folder / "__init__.py"))


@pytest.mark.parametrize("name", PATHS)
def test_files_and_functions_are_short(name):
    lines = PATHS[name].read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    for node in ast.walk(parsed(PATHS[name])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = ast.get_docstring(node, clean=False) is not None
            docstring = first.end_lineno - first.lineno + 1 if documented else 0
            code = node.end_lineno - node.lineno + 1 - docstring
            excused = any(EXCUSE in line for line in lines[node.lineno - 1 : node.end_lineno])
            assert code <= MOST_LINES_OF_A_FUNCTION or excused, f"{node.name}: {code} lines"


@pytest.mark.parametrize("name", PATHS)
def test_only_public_names_of_scikit_learn_are_imported(name):
    for node in ast.walk(parsed(PATHS[name])):
        modules = []
        if isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            top, *rest = module.split(".")
            private = [part for part in rest if part.startswith("_") and not part.endswith("__")]
            assert top != "sklearn" or not private, module
