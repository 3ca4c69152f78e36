"""The pages: complete, up to date with the code, and in the promised style.

Their examples are run as doctests, and ``make docs`` builds them with warnings as errors.
"""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import skuncertain

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = {"_build", "auto_examples", "generated"}
PAGES = sorted(
    path
    for suffix in ("*.rst", "*.md")
    for path in [*DOCS.rglob(suffix), *ROOT.glob(suffix)]
    if not GENERATED & set(path.relative_to(ROOT).parts)
)
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
# What a reader asks, and where the answer is.
QUESTIONS = {
    "meaning": "What does the interval mean?",
    "which_method": "Which method when?",
    "priors": "Which prior?",
    "predictive": "Posterior or predictive?",
    "cross_validation": "whose performance?",
    "fold_spread": "2·std",
    "choosing": "Choosing between models",
    "search": "grid search",
    "prevalence": "prevalence",
    "curves": "ROC",
    "thresholds": "Which threshold",
    "overlap": "Do the intervals overlap?",
    "sample_size": "How many samples do I need?",
    "monitoring": "still as good",
    "dependence": "Grouped, weighted and dependent",
    "large_data": "clusters",
    "published": "published table",
}


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_has_its_page_with_code(name):
    text = (DOCS / "guide" / f"{name}.rst").read_text("utf-8")
    assert QUESTIONS[name] in text.partition("\n===")[0]
    assert ">>> " in text or name == "which_method"  # that one is a tree and tables
    assert f"   {name}\n" in (DOCS / "guide" / "index.rst").read_text("utf-8")


def test_all_code_of_the_guide_is_run():
    # What is no doctest is not run.
    pages = [*(DOCS / "guide").glob("*.rst"), DOCS / "index.rst"]
    assert len(pages) > len(QUESTIONS)
    assert [page.name for page in pages if "block:: python" in page.read_text("utf-8")] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_style(path):
    text = path.read_text("utf-8")
    assert re.findall(r"\b(simply|obviously|of course|easily)\b", text, re.IGNORECASE) == []
    assert re.findall(r"(?:^|[\s`(])/(?:tmp|root|home|work)\b\S*", text) == []
    # docutils reads \frac12 as 12 over whatever follows
    assert re.findall(r"\\[td]?frac(?!\{).*", text) == []
    # nothing that was to be filled in later
    assert re.findall(r"\b(?:TODO|FIXME|XXX|TBD)\b|^[A-Z]+_[A-Z_]+$", text, re.MULTILINE) == []


def formulas(text):
    """Formulas of a page, and whether they stand alone."""
    lines = iter(text.split("\n"))
    for line in lines:
        yield from ((found, False) for found in re.findall(r":math:`([^`]*)`", line))
        if not (start := re.match(r"( *)\.\. math::(.*)", line)):
            continue
        body = [start[2].strip()]
        for below in lines:
            if below.strip() and not below.startswith(start[1] + " "):
                break
            body.append(below.strip())
        for part in "\n".join(body).strip().split("\n\n"):
            yield (f"\\begin{{aligned}}{part}\\end{{aligned}}" if r"\\" in part else part), True


def test_formulas_can_be_drawn():
    # What docutils cannot draw would stop the build, which takes minutes.
    latex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml")
    number = 0
    for path in (DOCS / "methods").glob("*.rst"):
        for formula, block in formulas(path.read_text("utf-8")):
            latex2mathml.tex2mathml(formula, as_block=block)
            number += 1
    assert number > 100


def test_the_gallery_is_large_enough():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_a_title_plots_and_data_that_are_here(path):
    tree = ast.parse(path.read_text("utf-8"))
    title, rule, *_ = ast.get_docstring(tree).splitlines()
    assert set(rule) == {"="}
    assert len(rule) == len(title)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "plt" in names or any(name.endswith("Display") for name in names)
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert [name for name in imported if name.startswith("fetch_")] == []


@pytest.mark.parametrize("what", ["metric", "fold_method", "prior", "report_format"])
def test_pages_on_extending_name_tests_that_exist(what):
    text = (DOCS / "develop" / f"add_{what}.rst").read_text("utf-8")
    files = re.findall(r"^``(tests/[\w/]+\.py)``", text, re.MULTILINE)
    assert files
    functions = set(re.findall(r"``(test_\w+)``", text))
    known = "".join((ROOT / name).read_text("utf-8") for name in files)
    assert [name for name in sorted(functions) if f"def {name}(" not in known] == []


@pytest.mark.parametrize("name", skuncertain.__all__)
def test_public_objects_show_an_example_and_relatives(name):
    # numpydoc.validate asks for the sections; here they must hold something.
    text = getattr(skuncertain, name).__doc__
    relatives, _, example = text.partition("See Also\n")[2].partition("Examples\n")
    assert re.search(r"^\s+[\w., ]+ : \S", relatives, re.MULTILINE)
    assert ">>> " in example


def test_policy_names_the_oldest_versions():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    text = (DOCS / "develop" / "policy.rst").read_text("utf-8")
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in text
    for requirement in [
        *project["dependencies"],
        *(extras[name][0] for name in ("plot", "pandas", "dask")),
    ]:
        assert requirement.replace(">=", " ") in text


def test_citation_has_the_version():
    version = skuncertain.__version__.partition(".dev")[0]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_picture_can_be_drawn_again(tmp_path):
    pytest.importorskip("matplotlib")
    _load(ROOT / "tools" / "make_picture.py").main(tmp_path / "picture.svg")
    new, old = (
        re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text("utf-8"))
        for path in (tmp_path / "picture.svg", DOCS / "_static" / "same_scores.svg")
    )
    assert new == old
    assert "recall" in new


def test_links_that_lead_nowhere_are_found(tmp_path):
    check_html = _load(ROOT / "tools" / "check_html.py")
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="sub/">ok</a><a href="#top">ok</a>'
        '<a href="sub/index.html#a">ok</a>'
        '<a href="https://example.org/">elsewhere</a><link rel="canonical" href="https://example.org">'
        '<a href="gone.html">1</a><a href="#gone">2</a><a href="sub/#gone">3</a>'
        '<img src="gone.png"><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "sub" / "index.html").write_text('<p id="a">x</p><a href="../index.html">ok</a>')
    number, found = check_html.problems(tmp_path)
    assert number == 2
    assert [text.partition(": ")[2] for text in sorted(found)] == [
        "needs a network: https://example.org/x.js",
        "there is no gone.html",
        "there is no gone.png",
        "there is no place #gone",
        "there is no place sub/#gone",
    ]
    assert check_html.main(tmp_path) == 1
