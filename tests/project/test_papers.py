"""The page "From the papers to the calls": its calls run, and give what it says.

The page is read, not copied: every row is evaluated, so that a row cannot be wrong and pass.
"""

import ast
import doctest
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from skuncertain import ConfusionCounts, ConfusionCountsScorer, compare
from skuncertain.metrics import precision_recall_band, proportion_posterior, roc_band
from skuncertain.model_selection import fold_interval, search_posterior
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
    # Coverage of F1 over precision and recall, 100 rows, prior 1: sum of the trinomial
    # probabilities of (TP, FP + FN) whose interval holds it, with SciPy.
    "surface.coverage[0][8, 8]": (0.941466,),
    "surface.coverage[0][5, 3]": (0.953467,),
    # The first candidate has the folds of Eq. 3.8.
    'search_posterior(results, metric="precision", random_state=0, **published).low': (
        0.585738,
        0.538342,
    ),
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
    makers |= {"search_posterior"}
    makers |= {"fold_posterior", "expected_width", "required_sample_size", "better_than_chance"}
    for row in CALLS:
        for node in ast.walk(ast.parse(literal(row[2]), mode="eval")):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            given = {keyword.arg for keyword in node.keywords}  # None is **flat and its like
            if name in makers and "next_mcc" not in row[2]:
                assert given & {"prior", None}, row[2]


def test_results_of_long_scripts_are_those_of_the_pages_about_them():
    # No test runs the scripts; what this page says of them must not drift from where it is told.
    pages = {
        "wang_li": (ROOT / "docs/methods/folds.rst").read_text("utf-8"),
        "caelen_tables": (ROOT / "docs/guide/coverage.rst").read_text("utf-8"),
    }
    checked = dict.fromkeys(pages, 0)
    for _, place, call, printed, ours in ROWS:
        if "wang_li.py" in call and "%" in printed:
            found, theirs = (
                re.match(r"([\d.]+) %, (\.\d+)", text).groups() for text in (ours, printed)
            )
            assert f"{', '.join(found)} [{', '.join(theirs)}]" in pages["wang_li"], place
            checked["wang_li"] += 1
        if "caelen_tables.py" in call and "[" in ours:
            for text in (ours, printed):
                for pair in re.findall(r"\[\.\d+, \.\d+\]", text):
                    assert pair in pages["caelen_tables"], place
            checked["caelen_tables"] += 1
    assert checked == {"wang_li": 9, "caelen_tables": 5}


# --------------------------------------------------------------------------------------------------
# Against SciPy, and what is known otherwise

CAELEN_A = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
SHAPES = np.array([31, 36, 16, 66])  # with one pseudo-row per cell, in the order of the rows


def test_dirichlet_of_caelen_and_of_toetsch():
    posterior, known = CAELEN_A.dirichlet_posterior(prior=1), stats.dirichlet(SHAPES)
    theta = np.array([[0.2, 0.25], [0.1, 0.45]])
    assert posterior.pdf(theta) == pytest.approx(known.pdf(theta.ravel()), rel=1e-10)
    assert posterior.mean().ravel() == pytest.approx(known.mean(), rel=1e-12)
    assert posterior.variance().ravel() == pytest.approx(known.var(), rel=1e-12)
    assert posterior.covariance() == pytest.approx(known.cov(), rel=1e-10)


def test_new_matrices_of_caelen_and_of_toetsch():
    predictive = CAELEN_A.dirichlet_posterior(prior=1).predictive(145)
    known = stats.dirichlet_multinomial(SHAPES, 145)
    counts = CAELEN_A.counts
    assert predictive.pmf(counts) == pytest.approx(known.pmf(counts.ravel()), rel=1e-9)
    assert predictive.mean().ravel() == pytest.approx(known.mean(), rel=1e-12)
    assert predictive.covariance() == pytest.approx(known.cov(), rel=1e-10)


def test_skewness_and_mode_as_defined():
    posterior = CAELEN_A.posterior("precision", prior=1)
    assert posterior.skewness() == pytest.approx(stats.beta(66, 36).stats("s"), rel=1e-10)
    assert posterior.mode() == pytest.approx(65 / 100, rel=1e-10)


def test_prior_with_two_sides():
    posterior = proportion_posterior(10, 5, prior=(27, 2))
    assert (posterior.a, posterior.b) == (37, 7)
    assert posterior.interval() == pytest.approx(stats.beta.ppf([0.025, 0.975], 37, 7), rel=1e-8)


def test_prior_of_the_prevalence_moves_the_precision():
    prior = {"prevalence": (2, 8), "recall": 1, "specificity": 1}
    found = CAELEN_A.posterior("precision", model="three_beta", prior=prior)
    rng = np.random.default_rng(0)
    phi, tpr, tnr = (rng.beta(*ab, 1_000_000) for ab in ((82, 73), (66, 16), (31, 36)))
    draws = phi * tpr / (phi * tpr + (1 - phi) * (1 - tnr))
    assert found.mean() == pytest.approx(draws.mean(), abs=4.5 * draws.std() / 1000)


def test_probability_of_a_cell_of_toetsch(names):
    # theta_TP = TPR phi: P(theta_TP <= t) is the mean of P(phi <= t / TPR).
    phi, tpr = stats.beta(81, 66), stats.beta(66, 16)
    for t, level in zip(names["theta"](1, 1).interval(), (0.025, 0.975), strict=True):
        below = integrate.quad(lambda x, t=t: tpr.pdf(x) * phi.cdf(min(t / x, 1)), 0, 1)[0]
        assert below == pytest.approx(level, abs=1e-7)
    means = [names["theta"](i, j).mean() for i in (0, 1) for j in (0, 1)]
    assert sum(means) == pytest.approx(1, rel=1e-10)


def shortest(a, b):
    """Length of the highest-density interval of Beta(a, b), both shapes at least 1."""
    beta = stats.beta(a, b)
    return optimize.minimize_scalar(
        lambda q: beta.ppf(q + 0.95) - beta.ppf(q), bounds=(0, 0.05), options={"xatol": 1e-10}
    ).fun


def test_metric_uncertainty_of_toetsch(names):
    counts = names["table"].counts.counts + 0.0
    (tn, fp), (fn, tp) = np.moveaxis(counts, 0, -1)
    shapes = {"prevalence": (tp + fn, fp + tn), "tpr": (tp, fn), "tnr": (tn, fp)}
    for name, (a, b) in shapes.items():
        known = [shortest(*pair) for pair in zip(a + 1, b + 1, strict=True)]
        assert names["hdi_width"](name) == pytest.approx(known, abs=1e-6)


def test_places_and_prizes_of_toetsch(names):
    betas = [stats.beta(right + 1, 15123 - right + 1) for right in names["hits"].values()]
    x = np.linspace(0.994, 1, 60_001)
    density, below = (np.array([getattr(b, of)(x) for b in betas]) for of in ("pdf", "cdf"))
    places = np.empty((3, 3))
    for k in range(3):
        one, two = (below[j] for j in range(3) if j != k)
        chances = one * two, one * (1 - two) + two * (1 - one), (1 - one) * (1 - two)
        places[k] = [integrate.simpson(density[k] * chance, x=x) for chance in chances]
    board = names["board"]
    assert board.metric == "accuracy"
    assert board.rank_probabilities == pytest.approx(places, abs=1e-7)
    prizes = np.array([10_000, 2_000, 1_000])
    assert board.expected_prize(prizes) == pytest.approx(places @ prizes, rel=1e-6)


def test_prior_of_the_accuracy_is_a_u():
    # Density of phi x + (1 - phi) y for three variables Beta(1/2, 1/2), x = sin(u)**2 and so on.
    nothing = ConfusionCounts.from_binary(tp=0, fn=0, fp=0, tn=0)
    posterior = nothing.posterior("accuracy", model="three_beta", prior=0.5)
    u = (np.arange(400) + 0.5) * np.pi / 800
    phi, x = np.sin(u)[:, None] ** 2, np.sin(u)[None, :] ** 2
    half = stats.beta(0.5, 0.5)
    for low, high in ((0.04, 0.06), (0.49, 0.51)):
        known = np.diff([half.cdf((t - phi * x) / (1 - phi)).mean() for t in (low, high)])[0]
        assert np.diff(posterior.cdf([low, high]))[0] == pytest.approx(known, abs=5e-5)
    assert posterior.pdf(0.05) > posterior.pdf(0.5) < posterior.pdf(0.95)


def test_t_intervals_of_recall(names):
    values = names["tp_k"] / 16
    center, error = values.mean(), values.std(ddof=1) / np.sqrt(5)
    found = fold_interval(names["folds"], "recall", method="t")
    assert tuple(found) == pytest.approx(stats.t.interval(0.95, 4, center, error), rel=1e-10)
    found = fold_interval(names["folds"], "recall", method="corrected_t", level=0.9)
    known = stats.t.interval(0.9, 4, center, error / np.sqrt(0.3))
    assert tuple(found) == pytest.approx(known, rel=1e-10)


def test_table_s1_is_that_of_toetsch(names):
    # TP, FN, TN, FP of every row of the supplement
    known = """1 5 0 3 0; 2 10 0 3 1; 3 6 0 7 1; 4a 5 1 10 1; 4b 4 2 10 1; 5a 16 1 3 2; 5b 8 9 4 1;
        6a 2 12 19 1; 6b 10 4 20 0; 7a 26 0 6 2; 7b 24 2 6 2; 8 28 9 3 4; 9a 19 3 18 10;
        9b 21 1 20 8; 10 31 5 24 4; 11 40 7 15 8; 12 31 9 20 13; 13a 79 14 19 0; 13b 89 4 16 3;
        14a 136 2 2 12; 15a 3 12 150 0; 15b 6 9 150 0; 16 188 0 13 2; 14b 253 27 11 59"""
    rows = {row.split()[0]: [int(x) for x in row.split()[1:]] for row in known.split(";")}
    assert set(rows) == set(names["table"].names)
    for name, (tp, fn, tn, fp) in rows.items():
        assert names["of"](name).counts.tolist() == [[tn, fp], [fn, tp]]


def test_what_is_said_beside_the_numbers_of_caelen(names):
    # The MCC of the population, beside that of another test set; 1,000,000 draws of SciPy.
    matrices = {}
    for seed, name in enumerate("AB"):
        shapes = names[name].counts.ravel()
        draws = stats.dirichlet(shapes).rvs(1_000_000, random_state=seed)
        tn, fp, fn, tp = draws.T
        matrices[name] = (tp * tn - fp * fn) / np.sqrt(
            (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        )
    remarks = [row[4] for row in ROWS if "Of the true MCC" in row[4]]
    told = [float(re.search(r"it is (0\.\d+)", text)[1]) for text in remarks]
    known = (matrices["B"] > 0).mean(), (matrices["A"] > matrices["B"]).mean()
    assert told == pytest.approx(known, abs=0.0005 + 4.5 * 0.5 / 1000)
    exact = [names[name].posterior("mcc", prior=0) for name in "BA"]
    assert told == pytest.approx([exact[0].prob(0), compare(*exact).p_better], abs=5e-4)


def test_pointwise_band_of_the_thesis():
    y_true = np.repeat([0, 1], 50)
    y_score = y_true + np.random.default_rng(0).normal(size=100)
    low, high = roc_band(y_true, y_score, band="pointwise", method="beta", prior=1).at(0.2)
    lowest, highest = roc_band(y_true, y_score).at(0.2)
    assert lowest < low < high < highest
    # A known threshold leaves less doubt than a known false positive rate.
    threshold = np.quantile(y_score[y_true == 0], 0.8)
    hits = (y_score[y_true == 1] >= threshold).sum()
    assert high - low > proportion_posterior(hits, 50 - hits, prior=1).interval().width
    # The other technique, and another prior, move both ends a little.
    others = [{"method": "wilson"}, {"method": "clopper_pearson"}, {"prior": 4}]
    for make, place in ((roc_band, 0.2), (precision_recall_band, 0.5)):
        usual = make(y_true, y_score, band="pointwise", prior=1).at(place)
        for options in others:
            found = make(y_true, y_score, band="pointwise", **options).at(place)
            assert np.all(np.abs(np.subtract(found, usual)) > 1e-4)
            assert np.all(np.abs(np.subtract(found, usual)) < 0.06)


def test_candidates_of_a_search_by_wang_and_li():
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"max_depth": [1, 3]}
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        grid,
        cv=5,
        scoring=ConfusionCountsScorer(),
        refit=False,
    ).fit(X, y)
    published = {"method": "averaged", "prior_per_fold": True, "prior": 1}
    found = search_posterior(search, metric="precision", random_state=0, **published)
    for place in range(2):
        expected = fold_interval(found.counts[place], "precision", **published)
        assert (found.low[place], found.high[place]) == pytest.approx(tuple(expected), rel=1e-10)
