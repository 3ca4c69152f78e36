"""Modules import only from lower layers, and other packages only as agreed."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = "skuncertain"
ROOT = Path(__file__).resolve().parents[1] / PACKAGE

# A module may import modules of lower layers only ...
LAYERS = {
    "exceptions": 0,
    "_validation": 0,
    "_version": 0,
    "_warnings": 0,
    "_files": 0,
    "_report_cells": 0,
    "_report_figures": 1,
    "_report_html": 2,
    "_report": 3,
    "_intervals": 1,
    "_labels": 1,
    "_metric_formulas": 1,
    "_gamma_draws": 1,
    "_metric_table": 2,
    "_metrics": 3,
    "_priors": 2,
    "_proportions": 2,
    "_special": 2,
    "_quadrature": 3,
    "_distributions": 4,
    "_beta_posteriors": 5,
    "_gradients": 4,
    "_fold_variance": 5,
    "_ranking": 5,
    "_location_scale": 5,
    "_fold_scores": 6,
    "_draws_posterior": 5,
    "_pairs": 5,
    "_quadrature_posterior": 5,
    "_results": 5,
    "_sums": 5,
    "_rates": 6,
    "_posterior": 7,
    "_comparison_result": 6,
    "_differences": 8,
    "_resampling": 8,
    "_counts": 8,
    "_datasets": 9,
    "_frequentist": 9,
    "_functions": 9,
    "_fold_methods": 9,
    "_scorers": 9,
    "_splits": 1,
    "_confusion_section": 6,
    "_class_rates": 8,
    "_counts_report": 9,
    "_cv_report": 10,
    "_comparison_report": 5,
    "_ranking_report": 5,
    "_interval_report": 15,
    "_show_versions": 1,
    "_plot._text": 1,
    "_plot._given": 15,
    "_folds": 10,
    "_cv_counts": 10,
    "_cross_val_posterior": 11,
    "_cross_validation": 12,
    "_cv_scores": 12,
    "_comparison": 13,
    "_dataset_comparison": 14,
    "_planning_studies": 14,
    "_planning": 15,
    "_planning_comparison": 15,
    "_sequential": 14,
    "_leaderboard": 10,
    "_search_results": 10,
    "_search": 11,
    "_refit_rules": 12,
    "_selection": 10,
    "_plot.__init__": 15,
    "_plot._base": 14,
    "_plot._comparison": 16,
    "_plot._curves": 16,
    "_ranked_scores": 1,
    "_score_input": 6,
    "_auc": 7,
    "_curve_bands": 8,
    "_thresholds": 9,
    "_plot._coverage": 16,
    "_plot._folds": 16,
    "_plot._intervals": 16,
    "_plot._joint": 16,
    "_plot._posteriors": 16,
    "_plot._ranks": 16,
    "_truths": 9,
    "_learner_truths": 11,
    "_study_methods": 11,
    "_study_runs": 1,
    "_coverage_tasks": 12,
    "_coverage_study": 17,
    "_csv_counts": 1,
    "_table_files": 14,
    "_search_files": 2,
    "_metrics_report": 9,
    "_planning_report": 16,
    "_demo": 13,
    "_cli_options": 1,
    "_cli": 19,
    "_cli_commands": 18,
    "__main__": 20,
    "_sentence": 4,
    "app._forms": 18,
    "app._answers": 18,
    "app._one": 19,
    "app._two": 20,
    "app._plan": 20,
    "app._pages": 21,
    "app._server": 22,
    "app.__init__": 23,
    "__init__": 99,
}
# ... and of its own layer where the pair (importing, imported) is listed here.
SIDEWAYS: set[tuple[str, str]] = set()
# Never imported by importing a module; functions that need them import them.
OPTIONAL = {"dask", "distributed", "flask", "matplotlib", "pandas", "werkzeug"}

PATHS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")
}


def _imports(tree, module):
    """Return (line, dotted name, runs when the module is imported) for every import.

    ``from a import b`` gives ``a.b``, whether ``b`` is a module or not.
    """
    found = []

    def visit(node, at_import):
        if isinstance(node, ast.Import):
            found.extend((node.lineno, alias.name, at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = [PACKAGE, *module.split(".")][: -node.level]
                base = ".".join([*package, *([base] if base else [])])
            found.extend((node.lineno, f"{base}.{alias.name}", at_import) for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            at_import = False
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                visit(child, False)
            for child in node.orelse:
                visit(child, at_import)
            return
        for child in ast.iter_child_nodes(node):
            visit(child, at_import)

    visit(tree, True)
    return found


def _target(name):
    """Return the module of the package that importing the dotted name reaches."""
    parts = name.split(".")[1:]
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        for found in (module, f"{module}.__init__"):
            if found in PATHS.keys() | LAYERS.keys():
                return found
    return "__init__"


def _is_private(part):
    return part.startswith("_") and not part.endswith("__")


def _violations(source, module):
    found = []
    for line, name, at_import in _imports(ast.parse(source), module):
        top, *rest = name.split(".")
        if top == PACKAGE:
            target = _target(name)
            if target not in LAYERS:
                found.append(f"{line}: {target} has no layer")
            elif LAYERS[target] > LAYERS[module]:
                found.append(f"{line}: {target} is in a higher layer")
            elif LAYERS[target] == LAYERS[module] and (module, target) not in SIDEWAYS:
                found.append(f"{line}: {target} is in the same layer")
        elif top == "sklearn" and any(map(_is_private, rest)):
            found.append(f"{line}: {name} is private")
        elif top in OPTIONAL and at_import:
            found.append(f"{line}: {top} is optional")
    return found


@pytest.mark.parametrize("module", sorted(PATHS))
def test_imports_follow_the_layers(module):
    assert module in LAYERS, f"{module} has no layer: add it to LAYERS"
    assert _violations(PATHS[module].read_text(encoding="utf-8"), module) == []


def test_sideways_imports_are_within_a_layer_and_one_way():
    for importing, imported in SIDEWAYS:
        assert LAYERS[importing] == LAYERS[imported]
        assert (imported, importing) not in SIDEWAYS


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import skuncertain", "__init__ is in a higher layer"),
        ("from skuncertain import anything", "__init__ is in a higher layer"),
        ("from skuncertain import _counts", "_counts is in a higher layer"),
        ("import skuncertain._counts as c", "_counts is in a higher layer"),
        ("def f():\n    from skuncertain._counts import g", "_counts is in a higher layer"),
        ("from ._counts import g", "_counts is in a higher layer"),
        ("from . import _counts", "_counts is in a higher layer"),
        ("from skuncertain._special import g", "_special is in the same layer"),
        ("from sklearn.utils._param_validation import g", "is private"),
        ("from sklearn.utils import _safe_indexing", "is private"),
        ("import sklearn._config", "is private"),
        ("import pandas as pd", "pandas is optional"),
        ("try:\n    import matplotlib.pyplot\nexcept ImportError:\n    pass", "is optional"),
    ],
)
def test_violations_are_found(source, reason):
    (violation,) = _violations(source, "_priors")
    assert violation.endswith(reason)


@pytest.mark.parametrize(
    "source",
    [
        "from skuncertain._intervals import g",
        "from skuncertain import exceptions",
        "from sklearn.utils import check_random_state",
        "from sklearn import __version__",
        "def f():\n    import pandas",
        "if TYPE_CHECKING:\n    import pandas",
    ],
)
def test_accepted_imports(source):
    assert _violations(source, "_priors") == []


def test_the_page_on_architecture_has_every_module_in_its_layer():
    page = ROOT.parent / "docs" / "develop" / "architecture.rst"
    if not page.exists():
        pytest.skip("the documentation is not here")
    rows = re.findall(r"\* - (\d[\d, to]*)\n +- (.+)\n", page.read_text(encoding="utf-8"))
    told = {}
    for numbers, modules in rows:
        ends = [part.split(" to ") for part in numbers.split(", ")]
        layers = {n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)}
        told |= dict.fromkeys(re.findall(r"``([\w.]+)``", modules), layers)
    for module, layer in LAYERS.items():
        known = told.get(module, told.get(module.split(".")[0]))
        assert module == "__init__" or layer in known, module
    assert all(name in LAYERS or f"{name}.__init__" in LAYERS for name in told)
