"""Public docstrings follow the numpydoc standard; `make lint` runs this.

numpydoc's own hook looks at files and cannot tell what a package exports, so the public names and
their members are listed here and validated one by one. The examples in them run as doctests.
"""

import functools
import importlib
import inspect
import sys
import types

from numpydoc.validate import validate

import skuncertain

# Codes that are not errors here, with the reason. Never list GL08 (no docstring), PR01, PR02, PR03
# or PR10 (parameters and signature differ).
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


def public_objects():
    """Yield the dotted names of the public functions and classes, each once."""
    seen = set()
    rooms = [importlib.import_module(f"skuncertain.{room}") for room in skuncertain._SUBMODULES]
    for module in [*rooms, skuncertain]:
        for name in module.__all__:
            obj = getattr(module, name)
            if (inspect.isroutine(obj) or inspect.isclass(obj)) and obj not in seen:
                seen.add(obj)
                yield f"{module.__name__}.{name}", obj


def public_members(cls):
    """Yield the names of the public methods and properties that this package wrote."""
    for name in sorted(dir(cls)):
        member = inspect.getattr_static(cls, name)
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if (
            not name.startswith("_")
            and isinstance(member, MEMBER_TYPES)
            and owner.__module__.partition(".")[0] == "skuncertain"
        ):
            yield name


def main():
    checked, problems = 0, []
    for name, obj in public_objects():
        members = public_members(obj) if inspect.isclass(obj) else ()
        cases = {f"{name}.{member}": IGNORED | IGNORED_FOR_METHODS for member in members}
        for path, ignored in {name: IGNORED, **cases}.items():
            checked += 1
            errors = validate(path)["errors"]
            problems += [f"{path}: {code} {text}" for code, text in errors if code not in ignored]
    print(*problems, f"{checked} docstrings, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
