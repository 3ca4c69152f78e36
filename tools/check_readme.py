"""Follow the README from top to bottom in a fresh clone and a fresh virtual environment.

Every block is run as it stands, in the order of the page: ``console`` blocks line by line in a
shell, ``python`` blocks as programs, ``pycon`` blocks as doctests. What is not committed is not
there.

Run: python tools/check_readme.py [--without COMMAND ...]
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RUNNABLE = ("console", "python", "pycon")
DOCTEST = """
import doctest, sys
flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
sys.exit(doctest.testfile(sys.argv[1], module_relative=False, optionflags=flags).failed > 0)
"""


class Block(NamedTuple):
    """A fenced block of a Markdown file."""

    language: str
    text: str
    line: int


def fenced_blocks(markdown):
    """All fenced blocks, in their order."""
    found, start, language, lines = [], None, "", []
    for number, line in enumerate(markdown.splitlines(), start=1):
        fence = re.fullmatch(r"```(\w*)", line.rstrip())
        if start is None and fence:
            start, language, lines = number + 1, fence[1], []
        elif start is not None and fence and not fence[1]:
            found.append(Block(language, "\n".join(lines) + "\n", start))
            start = None
        elif start is not None:
            lines.append(line)
    if start is not None:
        raise ValueError(f"the block in line {start - 1} has no end")
    return found


def commands(block):
    """Commands of a console block, without comments and prompts."""
    lines = (line.removeprefix("$ ") for line in block.text.splitlines())
    return [line for line in lines if shlex.split(line, comments=True)]


def programs(blocks, without=()):
    """Yield (line, what it is, command as a list, input or None) for everything to run."""
    for block in blocks:
        if block.language == "console":
            for command in commands(block):
                plain = shlex.join(shlex.split(command, comments=True))
                if plain not in without:
                    yield block.line, plain, ["sh", "-ec", command], None
        elif block.language == "python":
            yield block.line, "a program", ["python", "-"], block.text
    # The examples of a page belong together: names of an earlier block are used in later ones.
    if any(block.language == "pycon" for block in blocks):
        yield 1, "all examples", ["python", "-c", DOCTEST, "README.md"], None


def main(arguments=None):
    """Run everything; the number of failures is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without", action="append", default=[], help="leave out this command")
    without = parser.parse_args(arguments).without
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        clone, environment = Path(directory) / "clone", Path(directory) / "environment"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        venv.create(environment, with_pip=True)
        variables = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        variables["VIRTUAL_ENV"] = str(environment)
        variables["PATH"] = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
        blocks = fenced_blocks((clone / "README.md").read_text(encoding="utf-8"))
        for line, what, command, text in programs(blocks, without):
            print(f"README.md, line {line}: {what}", flush=True)
            done = subprocess.run(command, cwd=clone, env=variables, input=text, text=True)
            if done.returncode:
                failures += 1
                print(f"FAILED with exit code {done.returncode}", flush=True)
    print("Everything works." if not failures else f"{failures} failed.")
    return failures


if __name__ == "__main__":
    sys.exit(main())
