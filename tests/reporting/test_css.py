"""The style sheet of the reports: one colour per model, and tables that fit a narrow window."""

import re
import subprocess
from importlib import resources

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from skuncertain import BayesianCrossValidator, ConfusionCounts, interval_report, search_posterior

# Puts the width of every table beside the room that it has.
MEASURE = """<script>addEventListener("load", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const boxes = [...document.querySelectorAll(".scroll")];
  document.title = [innerWidth, ...boxes.map(b => b.scrollWidth - b.clientWidth)].join(" ");
});</script>"""


def test_a_model_has_one_colour():
    css = (
        resources.files("skuncertain._reporting").joinpath("report.css").read_text(encoding="utf-8")
    )

    def colour(rule):
        return re.search(rf"^\.sku {re.escape(rule)} {{[^}}]*?(var\(--\w+\))", css, re.M)[1]

    assert colour(".a0") == colour(".mark") == "var(--accent)"
    assert colour(".a2") == colour(".m1") == "var(--second)"


# The same of the whole page.
MEASURE_PAGE = """<script>addEventListener("load", () => {
  const page = document.documentElement;
  document.title = [innerWidth, page.scrollWidth - page.clientWidth].join(" ");
});</script>"""


def too_wide(chromium, page, width, folder, measure=MEASURE):
    """By how many pixels each table is wider than its room in a window of that width."""
    page = re.sub(r"<meta [^>]*Content-Security-Policy[^>]*>", "", page)  # lets the script run
    file = folder / "report.html"
    file.write_text(page + measure, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    options += [f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900"]
    options += ["--virtual-time-budget=2000", "--dump-dom", file.as_uri()]
    done = subprocess.run([chromium, *options], capture_output=True, timeout=60, check=True)
    title = re.search(r"<title>([^<]*)", done.stdout.decode("utf-8"))[1]
    seen, *excess = (int(text) for text in title.split())
    assert seen == width
    return excess


def test_a_cross_validation_fits_900_pixels(chromium, tmp_path):
    rows, y = make_classification(120, 4, flip_y=0.2, random_state=1)
    metrics = ["accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc"]
    page = BayesianCrossValidator(GaussianNB(), metrics=metrics).fit(rows, y).report().to_html()
    excess = too_wide(chromium, page, 900, tmp_path)
    assert len(excess) == 7
    assert max(excess) == 0
    assert max(too_wide(chromium, page, 500, tmp_path)) > 0  # what is too wide would be seen


def big_search():
    rng = np.random.default_rng(0)
    depths, leaves = (1, 2, 3, 5, None), (1, 5, 20)
    params = [
        {"criterion": criterion, "max_depth": depth, "min_samples_leaf": leaf}
        for criterion in ("gini", "entropy")
        for depth in depths
        for leaf in leaves
    ]
    scores = rng.normal(0.8, 0.02, (len(params), 10))
    saved = {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
    return search_posterior(saved | {"params": params}, random_state=0, n_draws=1000).report()


def ten_classes():
    return interval_report(ConfusionCounts(90 * np.eye(10, dtype=int) + 3), n_draws=100)


@pytest.mark.parametrize("make", [big_search, ten_classes])
def test_what_is_printed_fits_the_paper(chromium, tmp_path, make):
    """A4 has 718 pixels between usual margins; what is wider is printed smaller."""
    page = make().to_html()
    assert page.count("@media print") == 1
    printed = page.replace("@media print", "@media all")
    (excess,) = too_wide(chromium, printed, 718, tmp_path, MEASURE_PAGE)
    assert excess <= 0
    wide = printed.replace("<h1>", '<h1 style="width: 900px">')
    (excess,) = too_wide(chromium, wide, 718, tmp_path, MEASURE_PAGE)
    assert excess > 0  # what is too wide would be seen
