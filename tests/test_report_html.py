"""Reports as HTML: valid, safe, right in every picture, and the same in a real browser."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading

import html5lib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from skuncertain import (
    BayesianCrossValidator,
    ConfusionCounts,
    compare,
    compare_cv,
    compare_datasets,
    compare_paired,
    interval_report,
    leaderboard,
    make_metric,
    search_posterior,
)

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
        bcv = BayesianCrossValidator(GaussianNB(), cv=5, metrics=[mine, "f1"], random_state=0)
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
    return search_posterior(saved, metric=mine, labels=names[:2], **options).report()


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
        ("cross-validation", "methods", ("auto", "wang-li", "averaged")),
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


# --------------------------------------------------------------------------------------------------
# In a browser


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves a directory and remembers what was asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Local server of an empty directory."""
    folder = tmp_path_factory.mktemp("site")
    handler = functools.partial(Site, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked, server.folder = [], folder
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browse(chromium, tmp_path_factory):
    """Open an address in a real browser and return the document as it then is."""
    profile = tmp_path_factory.mktemp("profile")

    def run(address):
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-component-update"]
        options += ["--disable-sync", f"--user-data-dir={profile}"]
        options += ["--virtual-time-budget=2000", "--dump-dom", address]
        done = subprocess.run([chromium, *options], capture_output=True, timeout=60, check=True)
        return html5lib.parse(done.stdout.decode("utf-8"), namespaceHTMLElements=False)

    return run


def attack(address):
    """Names that change the title and call home, each in another way."""
    act = f"document.title='hacked';new Image().src='{address}/leak'"
    return (
        f"<script>{act}</script>",
        "<script>alert(1)</script>",
        f'<img src="{address}/leak" onerror="{act}">',
        f'" onload="{act}" style="background:url({address}/leak)',
        f"</title></style><script>{act}</script><link rel=stylesheet href={address}/leak>",
        f"<svg onload=\"{act}\"><iframe src='{address}/leak'></iframe>",
    )


@pytest.mark.parametrize("kind", ["classification", "cross-validation", "counts search"])
def test_saved_page_in_a_browser(browse, site, kind):
    """Classes, models and parameters, from a file as a colleague would open it."""
    names = attack(site.url)
    report = report_of(kind, names)
    site.asked.clear()
    tree = browse(report.save(site.folder / "report.html").as_uri())
    assert tree.find("head/title").text == report.to_dict()["title"]
    used = names[:2] if kind == "cross-validation" else names
    for name in used:
        assert name in text_of(tree.find("body"))
    assert not list(tree.iter("script"))
    assert site.asked == []


def test_the_browser_would_see_an_attack(browse, site):
    """The same harness, on a page that does not defend itself."""
    names = attack(site.url)
    page = f"<!DOCTYPE html><title>Control</title>{names[0]}{names[2]}"
    site.asked.clear()
    (site.folder / "control.html").write_text(page, encoding="utf-8")
    tree = browse((site.folder / "control.html").as_uri())
    assert tree.find("head/title").text == "hacked"
    assert "/leak" in site.asked


# A window of Chromium has 500 pixels at least; a frame may have any width.
LOOK = """<!DOCTYPE html><meta charset="utf-8"><title>frames</title>
<style>iframe { width: 360px; height: 800px; border: 0 }</style>
FRAMES
<pre id="result"></pre>
<script>
addEventListener("load", () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement;
    for (const details of page.querySelectorAll("details")) details.open = true;
    found[frame.id] = {
      title: page.title, text: page.body.textContent,
      width: root.clientWidth, needed: Math.max(root.scrollWidth, page.body.scrollWidth),
    };
  }
  document.getElementById("result").textContent = JSON.stringify(found);
});
</script>
"""


@pytest.fixture(scope="module")
def phone(browse, site):
    """What a browser says of all kinds of reports with all kinds of names on 360 pixels."""
    sets = {"plain": PLAIN, "long": LONG, "evil": attack(site.url)}
    reports = {
        f"{kind}, {name}": report_of(kind, names) for kind in KINDS for name, names in sets.items()
    }
    pages = {name: report.to_html() for name, report in reports.items()}
    pages["control"] = (
        "<!DOCTYPE html><title>Control</title><style>body { margin: 0 } p { width: 400px }</style>"
        f"<p>wide</p><script>document.title = 'hacked'</script><img src='{site.url}/control'>"
    )
    frames = []
    for k, (name, page) in enumerate(pages.items()):
        (site.folder / f"{k}.html").write_text(page, encoding="utf-8")
        frames.append(f'<iframe id="{name}" src="{k}.html"></iframe>')
    text = LOOK.replace("FRAMES", "\n".join(frames))
    (site.folder / "index.html").write_text(text, encoding="utf-8")
    site.asked.clear()
    tree = browse(f"{site.url}/index.html")
    found = json.loads(next(tree.iter("pre")).text)
    control = found.pop("control")
    assert (control["title"], control["width"], control["needed"]) == ("hacked", 360, 400)
    assert set(found) == set(reports)
    return found, reports, site.asked.copy()


def test_all_kinds_in_a_browser(phone):
    found, reports, asked = phone
    for name, page in found.items():
        summary = reports[name].to_dict()
        assert page["title"] == summary["title"]
        assert summary["question"] in page["text"]
    assert "/control" in asked
    assert not [path for path in asked if "leak" in path]


def test_no_page_scrolls_sideways_on_a_phone(phone):
    for name, page in phone[0].items():
        assert 340 <= page["width"] <= 360  # there may be a bar to scroll down
        assert page["needed"] <= page["width"], name
