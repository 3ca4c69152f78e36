"""From a form to an answer: all that a page shows comes from one posterior."""

from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

from skuncertain._reporting.density import density_curve, drawn_height
from skuncertain._reporting.figures import FIGURES
from skuncertain._reporting.report import IntervalReport
from skuncertain._reporting.text import clean, table_texts
from skuncertain._utils.warnings import collect
from skuncertain.posteriors._draws import DrawsPosterior

SEED = 0  # the same input always gives the same numbers
_POINTS = 121
_BINS = 50


@dataclass
class Answer:
    """What a page shows; only texts, so that script and templates can show them alike.

    Parameters
    ----------
    title, value, span : str
        The metric, its value and its interval.
    sentence : str
        The sentence for the paper.
    facts : list of (str, str)
        Names and numbers.
    pictures : list of (str, str)
        Headings and SVG that was made here, with all names escaped.
    tables : list of dict
        With ``title``, ``head``, ``rows``, ``notes`` and ``prose``.
    notes : list of str
        Warnings.
    report : IntervalReport
        The same to be downloaded.
    table : str
        Section of the report that is the table to be downloaded.
    formula : str
        Formula of the metric.
    """

    title: str
    value: str
    span: str
    sentence: str
    facts: list
    pictures: list
    tables: list
    report: IntervalReport = field(repr=False)
    table: str
    formula: str = ""
    notes: list = field(default_factory=list)

    def to_dict(self) -> dict:
        """Plain representation for the script.

        Returns
        -------
        dict
            All but the report.
        """
        return {
            name: value for name, value in vars(self).items() if name not in ("report", "table")
        }


def answered(form, work):
    """Run `work(form)` and collect its warnings; a problem of the library becomes one of the form.

    Returns None where the form has problems.
    """
    with collect() as caught:
        try:
            answer = work(form)
        except (ValueError, TypeError) as error:
            form.fail("form", clean(error))
    if form.errors:
        return None
    answer.notes = list(dict.fromkeys([*answer.notes, *map(clean, caught.texts)]))
    answer.report.summary["warnings"] = list(answer.notes)
    return answer


# --------------------------------------------------------------------------------------------------
# Pictures and tables


def curve(name, posterior, cell, predictive=False):
    """Points of a density for the figure "posteriors", with its interval cell."""
    if predictive and isinstance(posterior, DrawsPosterior):
        x, y = _histogram(posterior.draws)
    else:
        x, y = density_curve(posterior, cell["low"], cell["high"], _POINTS)
    return {"name": name, "x": x.tolist(), "y": y.tolist(), **cell}


def _histogram(draws):
    """Steps: what a test set can give are single values, which a smooth curve would hide."""
    known = np.ravel(draws)[np.isfinite(np.ravel(draws))]
    if not known.size:
        return np.empty(0), np.empty(0)
    low, high = np.quantile(known, [0.0005, 0.9995])
    if low == high:
        return np.array([low]), np.array([np.inf])
    height, edges = np.histogram(known, _BINS, (low, high), density=True)
    return np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(height, 2), [0.0]])


def posteriors(curves, level, what, asked=()):
    """Describe the figure "posteriors"."""
    heights = [drawn_height(np.array(c["y"]), level, c["low"], c["high"]) for c in curves]
    return {
        "type": "posteriors",
        "what": what,
        "curves": curves,
        "top": float(max(heights)) or 1.0,
        "asked": [value for value in asked if value is not None],
    }


def picture(section):
    """SVG of a section, or an empty text if there is nothing to draw."""
    tree = FIGURES[section["figure"]["type"]](section, None)
    return "" if tree is None else ElementTree.tostring(tree, encoding="unicode", method="html")


def computed(posterior):
    """How the numbers of a posterior came about."""
    if posterior.exact:
        return "exact, without random numbers"
    if posterior.n_draws is None:
        return "three cumulants of the posterior, without random numbers"
    return f"{posterior.n_draws:,} draws, seed {posterior.seed}"


def texts(section, prose=False):
    """Table of a section as texts; `prose` says that the last column holds words."""
    head, rows, _ = table_texts(section, None)
    return {
        "title": section["title"],
        "head": list(map(clean, head)),
        "rows": rows,
        "notes": list(map(clean, section["notes"])),
        "prose": prose,
    }
