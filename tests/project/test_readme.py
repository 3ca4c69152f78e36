"""The README can be followed.

``tools/check_readme.py`` does so in a fresh clone; this is the fast part.
"""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _load():
    spec = importlib.util.spec_from_file_location(
        "check_readme", ROOT / "tools" / "check_readme.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_readme = _load()
BLOCKS = check_readme.fenced_blocks(README)


def test_every_block_can_be_run():
    assert {block.language for block in BLOCKS} <= set(check_readme.RUNNABLE)
    assert {"console", "pycon"} <= {block.language for block in BLOCKS}
    assert sum(block.text.count(">>> ") for block in BLOCKS) > 20


def test_the_examples_run_in_a_process_of_their_own():
    # As a reader would run them: no option of pytest, no state of another test.
    command = [sys.executable, "-W", "error", "-c", check_readme.DOCTEST, str(ROOT / "README.md")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_commands_are_known():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    found = [
        shlex.split(command, comments=True)
        for block in BLOCKS
        if block.language == "console"
        for command in check_readme.commands(block)
    ]
    assert ["make", "demo"] in found
    for program, *arguments in found:
        assert program in ("make", "pip", "skuncertain")
        if program == "make":
            assert arguments[0] in targets


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_blocks_are_found():
    text = "a\n```console\nmake demo  # x\n# y\n\n$ ls\n```\n"
    text += "```pycon\n>>> 1\n1\n```\n```python\nx\n```\n"
    blocks = check_readme.fenced_blocks(text)
    assert [(block.language, block.line) for block in blocks] == [
        ("console", 3),
        ("pycon", 9),
        ("python", 13),
    ]
    assert check_readme.commands(blocks[0]) == ["make demo  # x", "ls"]
    what = [entry[1] for entry in check_readme.programs(blocks, without=["ls"])]
    assert what == ["make demo", "a program", "all examples"]
    with pytest.raises(ValueError, match="the block in line 1 has no end"):
        check_readme.fenced_blocks("```python\nx\n")


def test_figures_of_peers_are_those_of_the_benchmarks():
    command = [sys.executable, str(ROOT / "tools" / "readme_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
