"""What is installed, for bug reports and for the methods section of a paper."""

import importlib.metadata
import platform

from skuncertain._version import __version__

_PACKAGES = (
    *("scikit-learn", "numpy", "scipy", "joblib"),
    *("matplotlib", "pandas", "distributed", "flask"),
)


def show_versions() -> None:
    """Print the versions of skuncertain and of what it works with.

    See Also
    --------
    interval_report : Reports hold the version, too.

    Examples
    --------
    >>> from skuncertain import show_versions
    >>> show_versions()
    skuncertain   ...
    Python        ...
    scikit-learn  ...
    """
    versions = {
        "skuncertain": __version__,
        "Python": platform.python_version(),
        "system": platform.platform(),
    }
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    width = max(map(len, versions))
    order = ["skuncertain", "Python", *_PACKAGES, "system"]
    print("\n".join(f"{name:<{width}}  {versions[name]}" for name in order))
