"""How sure are you of that score? Credible and confidence intervals for classification metrics.

The names that most people need are here; everything else is in the submodules ``metrics``,
``model_selection``, ``comparison``, ``posteriors``, ``planning``, ``monitoring``, ``coverage``,
``display``, ``datasets``, ``exceptions`` and ``app``.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

from skuncertain._version import __version__ as __version__

# Submodules and names are imported when they are first used, so that the command line answers
# --help at once. Type checkers and editors read these imports instead.
if _typing.TYPE_CHECKING:
    from skuncertain._utils.show_versions import show_versions as show_versions
    from skuncertain.comparison import (
        compare as compare,
        compare_cv as compare_cv,
        compare_paired as compare_paired,
        leaderboard as leaderboard,
    )
    from skuncertain.metrics import (
        ConfusionCounts as ConfusionCounts,
        ConfusionCountsScorer as ConfusionCountsScorer,
        confidence_interval as confidence_interval,
        credible_interval as credible_interval,
        interval_report as interval_report,
    )
    from skuncertain.model_selection import (
        BayesianCrossValidator as BayesianCrossValidator,
        cross_val_posterior as cross_val_posterior,
        search_posterior as search_posterior,
        simplest_equivalent as simplest_equivalent,
    )
    from skuncertain.planning import required_sample_size as required_sample_size

_SUBMODULES = (
    *("app", "comparison", "coverage", "datasets", "display", "exceptions", "metrics"),
    *("model_selection", "monitoring", "planning", "posteriors"),
)
_HOMES = {
    "_utils.show_versions": "show_versions",
    "comparison": "compare compare_cv compare_paired leaderboard",
    "metrics": (
        "ConfusionCounts ConfusionCountsScorer confidence_interval credible_interval "
        "interval_report"
    ),
    "model_selection": (
        "BayesianCrossValidator cross_val_posterior search_posterior simplest_equivalent"
    ),
    "planning": "required_sample_size",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)

if not _typing.TYPE_CHECKING:

    def __getattr__(name):
        if name in _SUBMODULES:
            return _importlib.import_module(f"skuncertain.{name}")
        if name in _HOME_OF:
            home = _importlib.import_module(f"skuncertain.{_HOME_OF[name]}")
            return globals().setdefault(name, getattr(home, name))
        text = f"module 'skuncertain' has no attribute {name!r}"
        for room in () if name.startswith("_") else _SUBMODULES:
            if name in _importlib.import_module(f"skuncertain.{room}").__all__:
                text = f"{name} is in skuncertain.{room}: from skuncertain.{room} import {name}"
                # "from skuncertain import name" would replace the text of an AttributeError.
                if _sys._getframe(1).f_globals["__name__"] == "importlib._bootstrap":
                    raise ImportError(text)
        raise AttributeError(text)

    def __dir__():
        return sorted({*globals(), *__all__, *_SUBMODULES})
