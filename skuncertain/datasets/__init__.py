"""Small tables that come with the package, read from files beside this one."""

import csv
from importlib.resources import files

from sklearn.utils import Bunch

from skuncertain.metrics._counts import ConfusionCounts

__all__ = ["load_published_classifiers"]


def load_published_classifiers() -> Bunch:
    """Confusion matrices of 24 published classifiers with small test sets.

    Returns
    -------
    sklearn.utils.Bunch
        ``names`` (labels of the table), ``counts`` (:class:`ConfusionCounts` of shape (24,)),
        ``doi`` and ``location`` (where each matrix was published).

    See Also
    --------
    ConfusionCounts : What ``counts`` is.

    References
    ----------
    .. [1] N. Tötsch, D. Hoffmann (2021). Classifier uncertainty: evidence, potential impact, and
       probabilistic treatment. PeerJ Computer Science 7, e398. Table S1.

    Examples
    --------
    >>> from skuncertain.datasets import load_published_classifiers
    >>> table = load_published_classifiers()
    >>> table.names[9], table.counts[9].score("recall")
    ('7a', 1.0)
    """
    text = files("skuncertain.datasets").joinpath("published_classifiers.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    cells = {cell: [int(row[cell]) for row in rows] for cell in ("tp", "fn", "fp", "tn")}
    return Bunch(
        names=[row["name"] for row in rows],
        counts=ConfusionCounts.from_binary(**cells),
        doi=[row["doi"] for row in rows],
        location=[row["location"] for row in rows],
    )
