"""The page "From the papers to the calls": its calls run, and give what it says.

The page is read, not copied: every row is evaluated, so that a row cannot be wrong and pass.
"""

import ast
import doctest
import re
from pathlib import Path

import numpy as np
import pytest

from skuncertain.posteriors import BetaPosterior

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "methods" / "papers.rst"
SOURCES = ("Caelen", "The thesis", "Wang and Li", "Tötsch and Hoffmann", "A post")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")
DASH = "–"

# Values that were computed apart from this package, for rows whose source prints no number.
REFERENCES = {
    # Exact for the five folds of the page, prior 1 on each side of the proportion
    # (fold_methods.json).
    'fold_interval(folds, "precision", omega="wang_li", prior=1)': (0.602556, 0.846538),
    'fold_interval(folds, "recall", omega="wang_li", prior=1)': (0.584796, 0.830847),
    'fold_interval(folds, "precision", **published)': (0.585738, 0.826854),
    'fold_interval(folds, "recall", **published)': (0.573220, 0.812903),
    'fold_interval(folds, "precision", method="averaged", prior=1)': (0.603549, 0.848537),
    'fold_interval(folds, "precision", method="t")': (0.606103, 0.876446),
    'fold_interval(folds, "precision", method="corrected_t")': (0.494486, 0.988063),
    # Exact average of five independent fold posteriors, prior 1; F1 is that of
    # J ~ Beta(TP + 1, FP + FN + 2) (average_of_fold_posteriors.json).
    'fold_interval(splits, "precision", method="average_exact", prior=1)': (0.657127, 0.848427),
    'fold_interval(splits, "recall", method="average_exact", prior=1)': (0.603841, 0.800518),
    'fold_interval(splits, "specificity", method="average_exact", prior=1)': (0.792798, 0.913596),
    'fold_interval(splits, "accuracy", method="average_exact", prior=1)': (0.758596, 0.867801),
    'fold_interval(splits, "jaccard", method="average_exact", prior=1)': (0.512038, 0.708003),
    'fold_interval(splits, "f1", method="average_exact", prior=1)': (0.638486, 0.800400),
    # Goutte and Gaussier's systems, exact (goutte_gaussier_examples.json).
    'first.posterior("f1", prior=1).interval()': (0.3659, 0.7312),
    'compare(first, second, metric="f1", prior=0.5).p_better': (0.426307,),
    'compare(first, second, metric="recall", prior=0.5).p_better': (0.237182,),
    'compare(first, second, metric="recall", prior=1).p_better': (1774 / 7429,),
    # Caelen's model B, the posterior of theta (caelen_example.json).
    'B.posterior("mcc", prior=0).interval(kind="hdi")': (0.0033, 0.3225),
    # Tötsch and Hoffmann's classifiers, three Betas, each flat (toetsch_table_s1.csv).
    'of("7a").posterior("tpr", **flat).interval(kind="hdi")': (0.8950, 1.0),
    'of("7a").posterior("tnr", **flat).interval(kind="hdi")': (0.4324, 0.9458),
    'of("8").better_than_chance(**flat).p_worse': (0.1427,),
}


def tables():
    """Rows (section, place, call, printed, ours) of all tables of the page."""
    section, rows = None, []
    lines = PAGE.read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        if set(line) == {"-"}:
            section = lines[number - 1]
        if line.startswith("   * - "):
            rows.append([section, line[7:]])
        elif line.startswith("     - "):
            rows[-1].append(line[7:])
        elif line.startswith("       ") and rows and lines[number - 1].startswith("     "):
            rows[-1][-1] += " " + line.strip()
    return [row for row in rows if row[1] != "where, and what it says"]


def literal(cell):
    """Expression in a cell that holds nothing else, or None."""
    found = re.fullmatch(r"``(.+)``", cell.partition(";")[0])
    if not found or "``" in found[1] or found[1].startswith("reproductions/"):
        return None
    return found[1]


def numbers(text):
    """Numbers before the first remark, and half a unit of the last decimal of each."""
    found = NUMBER.findall(text.partition(";")[0])
    decimals = [len(one.partition(".")[2]) for one in found]
    halves = [0.5 * 10.0**-digits if digits else 0.0 for digits in decimals]
    return np.array([float(one) for one in found]), np.array(halves)


def flat(value):
    """What a call has returned as an array of numbers, or None if it holds none."""
    if isinstance(value, BetaPosterior):
        return np.ravel([value.a, value.b])
    try:
        return np.asarray(value, dtype=float).ravel()
    except (TypeError, ValueError):
        return None


ROWS = tables()
CALLS = [row for row in ROWS if literal(row[2])]


@pytest.fixture(scope="module")
def names():
    """What the examples of the page define."""
    found = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text("utf-8")):
        exec(compile(example.source, str(PAGE), "single"), found)
    return found


def test_the_page_has_a_table_for_every_source():
    sections = list(dict.fromkeys(row[0] for row in ROWS))
    pairs = zip(sections, SOURCES, strict=True)
    assert all(title.startswith(source) for title, source in pairs)
    assert {len(row) for row in ROWS} == {5}
    assert len(CALLS) > 150
    assert "   papers\n" in (PAGE.parent / "index.rst").read_text("utf-8")


@pytest.mark.parametrize("row", CALLS, ids=lambda row: f"{row[0].split()[0]}: {row[1]}")
def test_row(row, names):
    _, _, call, printed, ours = row
    found = eval(literal(call), names)
    if isinstance(found, (bool, np.bool_)):
        assert str(bool(found)) == ours.partition(";")[0]
        return
    if isinstance(found, list):
        assert ", ".join(found) == ours == printed
        return
    values, (shown, half) = flat(found), numbers(ours)
    if values is None:  # an object: that it can be made is all the page says
        assert shown.size == 0
        return
    assert values.shape == shown.shape
    drawn = "by draws" in ours
    assert np.all(np.abs(values - shown) <= (2 if drawn else 1) * half + 1e-9)
    if literal(call) in REFERENCES:
        reference = np.array(REFERENCES[literal(call)])
        assert values == pytest.approx(reference, abs=6e-5)
    compare_with_print(values, printed, ours, names)


def compare_with_print(values, printed, ours, names):
    """Check numbers against what the source prints: numbers, a range or a formula."""
    differs = re.search(r";\s*differs\b", ours) is not None
    if literal(printed):
        formula = np.ravel(eval(literal(printed), names))
        agrees = np.allclose(values, formula, rtol=1e-10, atol=0)
        assert agrees != differs
        return
    expected, half = numbers(printed)
    if expected.size == 0:
        return
    if " to " in printed:
        low, high = expected
        assert low <= values[0] <= high
        return
    assert expected.shape == values.shape
    width = 2 if re.search(r"; (about|cut off)\b", printed) else 1
    agrees = bool(np.all(np.abs(values - expected) <= width * half + 1e-9))
    assert agrees != differs


def test_references_belong_to_rows():
    assert set(REFERENCES) <= {literal(row[2]) for row in CALLS}


def test_what_is_printed_but_not_recomputed_is_marked():
    # Rows without a call name the file that repeats them, or say why nothing does.
    for _, place, call, *_, ours in (row for row in ROWS if row not in CALLS):
        files = re.findall(r"reproductions/\w+\.py", call)
        gallery = re.findall(r"auto_examples_papers_(plot_\w+\.py)", call)
        files += [f"examples/papers/{name}" for name in gallery]
        assert files or "not repeated" in ours, place
        assert [file for file in files if not (ROOT / file).exists()] == []


def test_calls_name_their_prior():
    # The default priors are not those of the sources.
    makers = {
        "posterior",
        "dirichlet_posterior",
        "joint_posterior",
        "proportion_posterior",
        "compare",
    }
    makers |= {"fold_posterior", "expected_width", "required_sample_size", "better_than_chance"}
    for row in CALLS:
        for node in ast.walk(ast.parse(literal(row[2]), mode="eval")):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            given = {keyword.arg for keyword in node.keywords}  # None is **flat and its like
            if name in makers and "next_mcc" not in row[2]:
                assert given & {"prior", None}, row[2]
