"""Public docstrings follow the numpydoc standard.

The examples in them are run by ``pytest --doctest-modules``.
"""

import functools
import importlib
import inspect
import pkgutil
import types

import pytest

import skuncertain

validate = pytest.importorskip("numpydoc.validate").validate

# Codes of numpydoc.validate that are not errors here, with the reason. Never list
# GL08 (no docstring), PR01, PR02, PR03 or PR10 (parameters and signature differ).
IGNORED = {
    "ES01": "a summary line may say everything",
    "RT02": "a single return value may have a name, as in scikit-learn",
}
IGNORED_FOR_METHODS = {
    "EX01": "the example of the class shows its methods",
    "SA01": "the class has the references",
}
MEMBER_TYPES = (
    types.FunctionType,
    classmethod,
    staticmethod,
    property,
    functools.cached_property,
)


def _public_objects():
    """Yield the dotted names of the public functions and classes."""
    submodules = [
        importlib.import_module(f"skuncertain.{info.name}")
        for info in pkgutil.iter_modules(skuncertain.__path__)
        if not info.name.startswith("_")
    ]
    seen = set()
    for module in [skuncertain, *submodules]:
        for name in module.__all__:
            obj = getattr(module, name)
            if (inspect.isroutine(obj) or inspect.isclass(obj)) and obj not in seen:
                seen.add(obj)
                yield f"{module.__name__}.{name}", obj


def _public_members(cls):
    """Yield the names of the public methods and properties written in this package."""
    for name in sorted(dir(cls)):
        member = inspect.getattr_static(cls, name)
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if (
            not name.startswith("_")
            and isinstance(member, MEMBER_TYPES)
            and owner.__module__.partition(".")[0] == "skuncertain"
        ):
            yield name


def _cases():
    """Return (dotted name, codes to ignore) for every public object and its members."""
    for_methods = set(IGNORED) | set(IGNORED_FOR_METHODS)
    cases = []
    for name, obj in _public_objects():
        cases.append(pytest.param(name, set(IGNORED), id=name))
        if inspect.isclass(obj):
            members = [f"{name}.{member}" for member in _public_members(obj)]
            cases.extend(pytest.param(member, for_methods, id=member) for member in members)
    return cases


@pytest.mark.parametrize(("name", "ignored"), _cases())
def test_docstring_follows_numpydoc(name, ignored):
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in ignored]
    assert errors == []
