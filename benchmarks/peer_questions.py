"""What ``bench_peers.py`` asks, of whom, and what our side of it is."""

from typing import NamedTuple


class Row(NamedTuple):
    """One question to one peer."""

    question: str
    peer: str
    what: str  # it does
    theirs: str  # job of the peer
    ours: str  # our job
    data: str
    scale: int = 1  # by how much the job of the peer was cut: its time is multiplied


def _rows(question, *rows):
    return [Row(question, *row) for row in rows]


_ROWS = ("confidenceinterval", "credible", "MLstatkit", "scipy")  # resample rows
QUESTIONS = [
    *_rows(
        "1. All intervals of one 2 x 2 table",
        (
            *("confidenceinterval", "7 metrics, Wilson"),
            *("one_table", "one_table:confidenceinterval", "table"),
        ),
        ("credible", "6 metrics, draws for F1", "one_table", "one_table:credible", "table"),
        (
            *("prob-conf-mat", "22 metrics, 10,000 draws"),
            *("one_table", "one_table:prob-conf-mat", "table"),
        ),
        ("scipy", "7 metrics, BCa, 9,999 resamples", "one_table", "one_table:scipy", "table"),
        ("scikit-learn", "7 values, no interval", "one_table", "one_table:scipy", "table"),
        (
            *("numpy", "bincount, betaincinv of 7 Betas"),
            *("one_table", "one_table:confidenceinterval", "table"),
        ),
    ),
    *_rows(
        "2. Intervals of 10 folds",
        ("credible", "6 metrics, 100,000 draws", "folds", "folds:labels", "folds"),
        ("prob-conf-mat", "4 metrics, 10,000 draws", "folds", "folds", "folds"),
        ("numpy", "sum, betaincinv of 1 Beta", "folds", "folds", "folds"),
    ),
    *_rows(
        "3. Macro F1 of 10 classes",
        ("confidenceinterval", "delta method", "macro_f1", "macro_f1:labels", "ten"),
        ("prob-conf-mat", "10,000 draws", "macro_f1", "macro_f1", "ten"),
        ("scipy", "percentile, 9,999 resamples", "macro_f1", "macro_f1:labels", "ten"),
        ("scikit-learn", "the value, no interval", "macro_f1", "macro_f1:labels", "ten"),
        ("numpy", "20,000 gamma draws of 100 cells", "macro_f1", "macro_f1", "ten"),
    ),
    *(
        Row(f"4. Bootstrap of F1, {n} rows, 1,000 resamples", *row)
        for n, cut, scale in (("1e3", "", 1), ("1e5", "few", 50), ("1e6", "few", 200))
        for row in (
            *(
                (peer, "rows, percentile", "bootstrap_f1", "bootstrap_f1", f"rows{n}{cut}", scale)
                for peer in _ROWS
            ),
            ("scikit-learn", "the value, no interval", "f1_value", "bootstrap_f1", f"rows{n}"),
            ("numpy", "bincount, multinomial", "bootstrap_f1", "bootstrap_f1", f"rows{n}"),
        )
    ),
    *_rows(
        "5. Area under the ROC curve, 1e5 rows",
        ("confidenceinterval", "DeLong", "auc", "auc", "scores"),
        ("credible", "area between bands", "auc", "auc", "scores"),
        ("MLstatkit", "DeLong (of two scores)", "auc", "auc", "scores"),
        ("scipy", "percentile, 1,000 resamples", "auc", "auc", "scores_few", 100),
        ("scikit-learn", "the value, no interval", "auc", "auc", "scores"),
        ("numpy", "argsort", "auc", "auc", "scores"),
    ),
    *_rows(
        "6. Compare two models",
        ("credible", "F1, 100,000 draws", "compare_f1", "compare_f1", "two"),
        ("prob-conf-mat", "F1 and ROPE, 10,000 draws", "compare_f1", "compare_f1:rope", "two"),
        ("scipy", "paired F1, 9,999 resamples", "compare_f1", "compare_f1:paired", "two"),
        ("credible", "paired accuracy, draws", "compare_paired", "compare_paired", "two"),
        ("MLstatkit", "AUC, DeLong", "compare_auc", "compare_auc", "two"),
        ("baycomp", "10 fold scores, t", "compare_folds", "compare_folds", "two"),
        ("scikit-learn", "two values of F1", "compare_f1", "compare_f1:paired", "two"),
    ),
    *_rows(
        "7. A search of 10,000 candidates x 10 folds",
        ("baycomp", "each against the best", "search", "search", "search_1000", 10),
        ("prob-conf-mat", "ranks, pooled counts", "search", "search:counts", "search_50", 200),
        ("numpy", "mean and variance of differences", "search", "search", "search"),
    ),
    *(
        Row(f"8. Macro F1 of {n} classes", *row)
        for n in (100, 1000)
        for row in (
            ("confidenceinterval", "delta method", "macro_f1", "macro_f1:labels", f"classes{n}"),
            ("prob-conf-mat", "10,000 draws", "macro_f1", "macro_f1", f"classes{n}"),
            ("scikit-learn", "the value", "macro_f1", "macro_f1:labels", f"classes{n}"),
            (
                *("numpy", "gamma draws of all cells", "macro_f1", "macro_f1"),
                *((f"classes{n}", 1) if n == 100 else ("classes1000_part", 10)),
            ),
        )
    ),
]
# Ours always does the whole job.
OUR_DATA = {
    "search_1000": "search", "search_50": "search", "scores_few": "scores",
    "classes1000_part": "classes1000",
}  # fmt: skip

# Why we are behind, where we are: (number of the question, peer).
_NORMAL = "a formula for a normal approximation, two numbers"
_VALUE = "one value, no interval"
REASONS = {
    ("1", "scikit-learn"): "values, no intervals; MCC and kappa are double integrals",
    ("1", "numpy"): "fixed cost of Python: checks, warnings and an object per metric",
    ("2", "numpy"): "fixed cost of Python; the weight of the folds is estimated",
    ("3", "confidenceinterval"): _NORMAL,
    ("3", "scikit-learn"): _VALUE,
    ("4", "numpy"): "fixed cost of Python, and the labels are checked",
    ("5", "numpy"): "two sorted classes, ties, and checks of the input",
    ("6", "scikit-learn"): "two values, no comparison",
    ("6", "baycomp"): "fixed cost of Python: checks of the folds, and an object to ask more",
    (
        "7",
        "baycomp",
    ): "it compares with the best only; ours has intervals, P(best) and ranks of all",
    ("7", "numpy"): "P(best) and ranks take thousands of joint draws",
    ("8", "confidenceinterval"): _NORMAL,
    ("8", "scikit-learn"): _VALUE,
}

# What is wrong with an answer, whatever it takes: widths beside those of 1,000 bootstrap samples,
# a quarter of 5,000 rows predicted at random.
WRONG = {
    ("8", "confidenceinterval"): "its interval is too short: a quarter of the bootstrap's width at "
    "100 classes, 50 rows each",
}

# Why we take more memory, where we take at least twice as much and 8 MB more.
MEMORY = {
    "5": "memory: checked copies of the scores",
    "6": "memory: thousands of draws of a joint matrix",
    "7": "memory: joint draws of all candidates, a part at a time",
    "8": "memory: copies of a matrix of a million cells",
}
