"""Reports as HTML: valid, safe, right in every picture."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from html_cases import EVIL, KINDS, PLAIN, of_class, parse, report_of, score_table, text_of
from skuncertain import (
    ConfusionCounts,
    compare,
    compare_cv,
    compare_paired,
    interval_report,
    leaderboard,
    search_posterior,
)

# --------------------------------------------------------------------------------------------------
# Valid, complete in itself, and readable without seeing the pictures


@pytest.mark.parametrize("names", [PLAIN, EVIL], ids=["plain", "evil"])
@pytest.mark.parametrize("kind", KINDS)
def test_pages(kind, names):
    report = report_of(kind, names)
    page = report.to_html()
    title = report.to_dict()["title"]
    for text in (page, "<!DOCTYPE html><title>x</title>" + report._repr_html_()):
        tree = parse(text)
        tags = {node.tag for node in tree.iter() if isinstance(node.tag, str)}
        assert not tags & {
            "script",
            "img",
            "iframe",
            "object",
            "embed",
            "link",
            "a",
            "base",
            "form",
        }
        assert len(list(tree.iter("style"))) == 1
        for node in tree.iter():
            for name in node.attrib:
                assert not str(name).lower().startswith("on")
                assert name not in ("src", "href", "srcset", "action", "data", "xlink:href")
            if node.tag == "style":
                assert "url(" not in node.text
                assert "@import" not in node.text
            assert "url(" not in node.get("style", "")
        check_pictures(tree)
        heading = next(node for node in tree.iter() if node.tag in ("h1", "h2"))
        assert text_of(heading) == title
    assert text_of(next(parse(page).iter("title"))) == title
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page  # belt and braces
    assert len(page) < 100_000
    # Names are there, as text, and nowhere as anything else.
    shown = text_of(next(parse(page).iter("body")))
    spoken = " ".join(node.get("aria-label", "") for node in parse(page).iter())
    used = [name for name in names if any(name in text for text in strings(report.to_dict()))]
    assert len(used) >= 2
    for name in used:
        assert name in shown
    if kind in ("classification", "cross-validation", "comparison", "search"):
        assert any(name in spoken for name in used)
    # Markdown may hold HTML, too.
    assert not re.search(r"(?<!\\)<", report.to_markdown())


def strings(value):
    """All texts in a summary."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [text for entry in inner for text in strings(entry)]
    return [value] if isinstance(value, str) else []


def check_pictures(node, described=False):
    """Every picture has a text, or is hidden, or is a part of one that has."""
    if node.tag == "svg":
        hidden = node.get("aria-hidden") == "true"
        assert described or hidden or (node.get("role") == "img" and node.get("aria-label"))
        described = True
    for child in node:
        check_pictures(child, described)


@pytest.mark.skipif(shutil.which("tidy") is None, reason="there is no tidy")
@pytest.mark.parametrize("kind", KINDS)
def test_tidy_finds_no_error(kind):
    """Its warnings are about attributes of SVG, which it does not know."""
    page = report_of(kind, EVIL).to_html().encode()
    command = ["tidy", "-quiet", "-errors", "-utf8"]
    done = subprocess.run(command, input=page, capture_output=True, timeout=60, check=False)
    found = done.stderr.decode()
    assert done.returncode in (0, 1), found
    assert "Error" not in re.sub("<[^>]*>", "", found)


def test_style_stays_with_the_report():
    """The piece of a page for notebooks leaves the rest of the page alone."""
    tree = parse("<!DOCTYPE html><title>x</title>" + report_of("paired")._repr_html_())
    (style,) = tree.iter("style")
    without = re.sub(r"@media[^{]*\{", "", style.text)
    selectors = [part.rpartition("}")[2].strip() for part in without.split("{")[:-1]]
    assert len(selectors) > 50
    for selector in selectors:
        for one in selector.split(","):
            assert ".sku" in one


# --------------------------------------------------------------------------------------------------
# The pictures hold the right numbers


def axis_of(node):
    """Function from the per cent of a picture to values, and what one hundredth is worth."""
    axis = of_class(node, "svg", "axis")[-1]
    at = [float(text.get("x").rstrip("%")) for text in axis.iter("text")]
    marks = [float(text_of(text)) for text in axis.iter("text")]
    assert len(marks) >= 2
    spoken = axis.get("aria-label").partition(" at ")[2].split(", ")
    assert [float(text) for text in spoken] == marks
    slope, start = np.polyfit(at, marks, 1)
    np.testing.assert_allclose(np.polyval([slope, start], at), marks, atol=abs(slope) * 0.02)
    return lambda text: start + slope * float(text.rstrip("%")), 0.03 * slope


def marks(row, value):
    """Where the marks of a row are: small pictures within the picture."""
    return [
        value(mark.get("x"))
        for mark in of_class(row, "svg", "mark")
        if mark.get("overflow") == "visible"
    ]


def bars(row, value):
    """Ends of the intervals in a row of a figure."""
    return [(value(bar.get("x1")), value(bar.get("x2"))) for bar in of_class(row, "line", "bar")]


def part(report, name):
    return of_class(parse(report.to_html()), "section", name)[0]


def rows_with_pictures(node):
    return [
        row for row in node.iter("tr")
        if of_class(row, "svg", "plot") and not of_class(row, "svg", "axis")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "section", "columns"),
    [
        ("classification", "scores", ("precision", "recall", "f1")),
        ("cross-validation", "scores", ("interval",)),
        ("cross-validation", "methods", ("auto", "wang_li", "averaged")),
        ("datasets", "datasets", ("difference",)),
        ("leaderboard", "models", ("mean",)),
        ("search", "candidates", ("mean",)),
        ("search", "differences", ("difference",)),
    ],
)
def test_intervals_are_drawn_where_they_are(kind, section, columns):
    report = report_of(kind)
    node = part(report, section)
    value, tolerance = axis_of(node)
    summary = report.to_dict()["sections"][section]
    first = summary["columns"][0]["key"]
    asked = columns
    for drawn, row in zip(rows_with_pictures(node), summary["rows"], strict=True):
        star = "* " if row.get("selected") else ""
        assert text_of(next(drawn.iter("th"))) == star + str(row[first])
        if row.get("aside"):  # accuracy, which stands in the column of F1 but is none
            assert of_class(drawn, "line", "m3")
            assert not of_class(drawn, "line", "m2")
        columns = ("f1",) if row.get("aside") else asked
        expected = [(row[key]["low"], row[key]["high"]) for key in columns]
        np.testing.assert_allclose(
            bars(drawn, value)[: len(columns)], expected, rtol=0, atol=tolerance
        )
        points = [row[key].get("value", row[key].get("point")) for key in columns]
        assert np.isfinite(points).all()
        found = marks(drawn, value)[: len(columns)]
        np.testing.assert_allclose(found, points, rtol=0, atol=tolerance)
        spoken = of_class(drawn, "svg", "plot")[0].get("aria-label")
        said = re.findall(r"\[(-?[\d.]+), (-?[\d.]+)\]", spoken)[: len(columns)]
        for text, end in zip(np.ravel(said), np.ravel(expected), strict=True):
            assert text == f"{end:.{len(text.partition('.')[2])}f}"


@pytest.mark.parametrize("kind", ["cross-validation", "search"])
def test_folds_are_dots(kind):
    report = report_of(kind)
    node = part(report, "folds")
    value, tolerance = axis_of(node)
    for drawn, entry in zip(
        rows_with_pictures(node),
        report.to_dict()["sections"]["folds"]["figure"]["entries"],
        strict=True,
    ):
        dots = [value(dot.get("cx")) for dot in of_class(drawn, "circle", "fold")]
        np.testing.assert_allclose(dots, entry["values"], rtol=0, atol=tolerance)
        (band,) = of_class(drawn, "rect", "band")
        assert value(band.get("x")) == pytest.approx(entry["interval"]["low"], abs=tolerance)
        (line,) = of_class(drawn, "line", "pooled")
        assert value(line.get("x1")) == pytest.approx(entry["interval"]["value"], abs=tolerance)
        text = f"5 folds, {min(entry['values']):.3f} to {max(entry['values']):.3f}"
        assert text in of_class(drawn, "svg", "plot")[0].get("aria-label")


@pytest.mark.parametrize("metric", ["recall", "fpr"])  # more is better, less is better
def test_areas_of_the_density_are_the_probabilities(metric):
    a, b = (ConfusionCounts.from_binary(tp=40 + k, fp=9, fn=9 - k, tn=60) for k in (0, 4))
    result = compare(a, b, metric=metric, rope=0.03)
    tree = parse(result.report().to_html())
    chances = result.p_worse, result.p_equivalent, result.p_better
    areas = []  # the first one is where the first model is better, on either side
    for k in range(3):
        (path,) = of_class(tree, "path", f"a{k}")
        x, y = np.array(re.findall(r"-?[\d.]+", path.get("d")), dtype=float).reshape(-1, 2).T
        areas.append(abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2)
    np.testing.assert_allclose(np.array(areas) / np.sum(areas), chances, atol=0.01)
    spoken = of_class(tree, "svg", "tall")[0].get("aria-label")
    sides = chances if metric == "recall" else chances[::-1]
    assert re.findall(r"\d\.\d\d", spoken) == [f"{p:.2f}" for p in sides]
    swatches = [
        span.get("class") for span in tree.iter("span") if "swatch" in span.get("class", "")
    ]
    order = (0, 1, 2) if metric == "recall" else (2, 1, 0)
    assert swatches == [f"swatch a{k}" for k in order]


def units(texts):
    """Units of the last digits of numbers."""
    return [10.0 ** -len(text.partition(".")[2]) for text in texts]


def test_digits_of_areas_from_few_draws():
    a, b = np.array([0, 1] * 30), np.array([0, 1, 1, 1, 1, 0] * 10)
    result = compare_paired(a, b, b[::-1], metric="f1", rope=0.02, n_draws=40, random_state=0)
    (row,) = result.report().to_dict()["sections"]["difference"]["rows"]
    (areas,) = of_class(parse(result.report().to_html()), "div", "areas")
    shown = units(re.findall(r": [<>]?([\d.]+)", text_of(areas)))
    errors = [row[key]["error"] for key in ("p_worse", "p_equivalent", "p_better")]
    assert np.all(np.array(shown) >= 2 * np.array(errors))


def test_ranks_that_were_not_drawn():
    models = [ConfusionCounts.from_binary(tp=40 - 3 * k, fp=3, fn=3 * k, tn=60) for k in range(3)]
    report = leaderboard(models, metric="mcc", n_draws=40, random_state=0).report()
    cells = [text_of(cell) for cell in of_class(part(report, "ranks"), "td", "cell")]
    assert "<0.01" not in cells
    assert min(units(cells)) == 0.1


def test_matrices():
    report = report_of("classification")
    figure = report.to_dict()["sections"]["confusion"]["figure"]
    cells = of_class(part(report, "confusion"), "td", "cell")
    counts, rates = np.ravel(figure["counts"]), [r for row in figure["rates"] for r in row]
    for cell, count, rate in zip(cells, counts, rates, strict=True):
        expected = f"{count:.0f}{rate['value']:.2f} [{rate['low']:.2f}, {rate['high']:.2f}]"
        assert text_of(cell) == expected
        assert cell.get("style") == f"--share: {rate['value']:.3f}"
    board = report_of("leaderboard")
    shares = np.ravel(board.to_dict()["sections"]["ranks"]["figure"]["shares"])
    cells = of_class(part(board, "ranks"), "td", "cell")
    shown = [f"{share:.2f}" if share >= 0.005 else "<0.01" for share in shares]
    assert [text_of(cell) for cell in cells] == shown


# --------------------------------------------------------------------------------------------------
# Large and degenerate ones


def test_thousand_candidates():
    rng = np.random.default_rng(0)
    params = [{"model__C": c} for c in rng.uniform(size=1000)]
    scores = rng.normal(0.8, 0.02, (1000, 10)) + rng.normal(0, 0.02, (1000, 1))
    result = search_posterior(score_table(scores, params=params), n_draws=2000, random_state=0)
    report = result.report()
    page = report.to_html()
    parse(page)
    assert len(page) < 1e6
    assert re.search(r"… and 9\d\d more, in to_frame\(\) and CSV\.", page)
    assert "... and 980 more" in str(report)
    assert len(str(report)) < 10_000
    frame = report.to_frame()
    assert sorted(frame.index) == sorted(result.names)
    # There are no probabilities of ranks any more: bars of P(best) in their place, longest first.
    drawn = rows_with_pictures(part(report, "ranks"))
    best = np.argsort(-result.p_best, kind="stable")[:30]
    widths = [float(next(row.iter("rect")).get("width").rstrip("%")) for row in drawn]
    np.testing.assert_allclose(widths, 100 * result.p_best[best], atol=0.01)
    named = [text_of(next(row.iter("th"))).removeprefix("* ") for row in drawn]
    np.testing.assert_allclose(
        [result.p_best[result.names.index(name)] for name in named], result.p_best[best]
    )
    assert "the 30 most probable of 1000" in page
    assert len(report.to_markdown()) < 20_000


@pytest.mark.parametrize("size", [100, 1000])
def test_many_classes(size):
    rng = np.random.default_rng(0)
    matrix = rng.poisson(0.05, size=(size, size)) + 30 * np.eye(size, dtype=int)
    names = [f"a class with a name that is rather long, number {k}" for k in range(size)]
    counts = ConfusionCounts(matrix, labels=names)
    page = interval_report(counts, n_draws=50, random_state=0).to_html()
    tree = parse(page)
    assert len(page.encode()) < 5e5
    assert names[-1] in page
    # A picture of a thousand rows would be longer than it is useful.
    (scores,) = of_class(tree, "section", "scores")
    assert bool(rows_with_pictures(scores)) == (size == 100)


def test_tables_scroll_with_the_keyboard():
    for kind in KINDS:
        tree = parse(report_of(kind).to_html())
        boxes = of_class(tree, "div", "scroll")
        assert boxes
        for box in boxes:
            assert (box.get("tabindex"), box.get("role")) == ("0", "region")
            assert box.get("aria-label")
        assert len(boxes) == len(list(tree.iter("table")))


PERFECT = ConfusionCounts([[20, 0], [0, 20]])


@pytest.mark.filterwarnings("ignore")  # they are in the report
@pytest.mark.parametrize(
    "make",
    [
        lambda: interval_report(ConfusionCounts([[0, 0], [0, 0]]), n_draws=50),
        lambda: interval_report(ConfusionCounts([[0, 0], [0, 9]]), prior="haldane", n_draws=50),
        lambda: interval_report(PERFECT, prior="haldane", n_draws=50),
        lambda: interval_report(ConfusionCounts([[10**9, 1], [1, 10**9]]), n_draws=50),
        lambda: leaderboard(
            [PERFECT, PERFECT], metric="diagnostic_odds_ratio", n_draws=50
        ).report(),
        lambda: search_posterior(score_table(np.full((3, 4), 0.8))).report(),
        lambda: compare_cv([0.8, 0.8, 0.8], [0.9, 0.9, 0.9]).report(),
        lambda: compare(PERFECT, PERFECT, metric="positive_likelihood_ratio").report(),
        lambda: compare(PERFECT, PERFECT, metric="f1", prior="haldane").report(),
    ],
    ids=[
        *("no rows", "one class", "perfect", "narrow", "infinite", "equal candidates"),
        *("equal folds", "infinite difference", "point masses"),
    ],
)
def test_degenerate(make):
    report = make()
    tree = parse(report.to_html())
    check_pictures(tree)
    for node in tree.iter():
        places = [value for name, value in node.attrib.items() if name != "aria-label"]
        assert not re.search("nan|inf", " ".join(places))
