"""Reports as HTML, and how to read them."""

import functools

import html5lib
import numpy as np
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare,
    compare_paired,
    interval_report,
    leaderboard,
    search_posterior,
)
from skuncertain.comparison import compare_datasets
from skuncertain.metrics import make_metric

X, Y = make_classification(120, 4, n_informative=2, n_redundant=0, flip_y=0.2, random_state=1)
PLAIN = ("cat", "dog", "a name of many words that is a good deal longer", "x" * 90)
LONG = ("w" * 90, "ü_" * 40, "a name of many words that is a good deal longer " * 4, "x" * 90)
EVIL = (
    "<script>document.title='hacked'</script>",
    "<script>alert(1)</script>",
    "<img src=x onerror=\"document.title='hacked'\">",
    "\" onload=\"document.title='hacked'",
    "</style></title><script>document.title='hacked'</script>",
    "&lt;b&gt; {{7*7}} ${7*7} <!-- ]]>",
    "'><svg onload=document.title='hacked'><a href=javascript:alert(1)>",
)
KINDS = ("classification", "groups", "cross-validation", "comparison", "paired", "datasets")
KINDS += ("leaderboard", "drawn leaderboard", "search", "counts search")


def score_table(scores, name="score", **more):
    """What a search would save, from scores of shape (candidates, splits)."""
    columns = np.asarray(scores, dtype=float).T
    return {**{f"split{k}_test_{name}": column for k, column in enumerate(columns)}, **more}


@functools.cache
def report_of(kind, names=PLAIN):
    """Report of any kind in which everything that can have a name has one of these."""
    rng = np.random.default_rng(0)
    size = len(names)
    options = {"n_draws": 400, "random_state": 0}
    mine = make_metric(lambda m: m[..., 1, 1] / m[..., 1].sum(-1), name=names[0], range=(0, 1))
    counts = [
        ConfusionCounts.from_binary(tp=40 + k, fp=3 + k, fn=9 - k, tn=60 - k) for k in range(size)
    ]
    truth = rng.integers(2, size=120)
    a, b = (np.where(rng.random(120) < p, truth, 1 - truth) for p in (0.8, 0.85))
    two = {"names": names[:2]}
    if kind == "classification":
        matrix = rng.poisson(3, size=(size, size)) + 20 * np.eye(size, dtype=int)
        return interval_report(ConfusionCounts(matrix, labels=names), **options)
    if kind == "groups":
        groups = np.arange(120) // 5
        return interval_report(truth, a, target_names=names[-2:], groups=groups, **options)
    if kind == "cross-validation":
        classes = np.array(names[:2])[Y]
        options = {"metrics": [mine, "f1"], "pos_label": names[1], "random_state": 0}
        bcv = BayesianCrossValidator(GaussianNB(), cv=5, **options)
        return bcv.fit(X, classes).report()
    if kind == "comparison":
        return compare(*counts[:2], metric=mine, rope=0.02, **two, **options).report()
    if kind == "paired":
        return compare_paired(truth, a, b, rope=0.02, **two).report()
    if kind == "datasets":
        scores = rng.uniform(0.7, 0.8, size=(2, 6, 5))
        return compare_datasets(*scores, rope=0.01, **two, **options).report()
    if kind.endswith("leaderboard"):
        metric = "recall" if kind == "leaderboard" else mine
        named = dict(zip(names, counts, strict=True))
        return leaderboard(named, metric=metric, **(options if metric is mine else {})).report()
    params = [{names[0]: name, "c": 1} for name in names]
    if kind == "search":
        scores = rng.normal(0.8, 0.03, size=(size, 5))
        saved = score_table(scores, names[1], params=params)
        return search_posterior(saved, metric=names[1], **options).report()
    saved = {"params": params}
    tp, tn = rng.binomial(20, 0.8, size=(size, 5)), rng.binomial(30, 0.8, size=(size, 5))
    for name, cells in {"tp": tp, "fn": 20 - tp, "fp": 30 - tn, "tn": tn}.items():
        saved |= score_table(cells, name)
    about = {"labels": names[:2], "pos_label": names[1]}
    return search_posterior(saved, metric=mine, **about, **options).report()


def parse(page):
    """Tree of a page that has no error."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parse(page)
    for node in tree.iter():
        if isinstance(node.tag, str):
            node.tag = node.tag.rpartition("}")[2]
    return tree


def text_of(node):
    return "".join(node.itertext())


def of_class(tree, tag, name):
    return [node for node in tree.iter(tag) if name in node.get("class", "").split()]
