"""Ways to run the command line, in a process of its own and in this one."""

import shlex
import subprocess
import sys
from pathlib import Path

from skuncertain import ConfusionCounts
from skuncertain._cli.main import main

TABLE = "--tp 26 --fn 0 --fp 2 --tn 6"
COUNTS = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
MODULE = [sys.executable, "-m", "skuncertain"]
SCRIPT = Path(sys.executable).with_name("skuncertain")


def run(arguments, program=None, **options):
    """Run the program; nothing but what is expected may be on stderr."""
    options = {"capture_output": True, "text": True, "check": False, "timeout": 300} | options
    return subprocess.run([*(program or MODULE), *shlex.split(arguments)], **options)


def succeed(arguments, **options):
    done = run(arguments, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def call(arguments, capsys):
    """Do the same in this process, which saves the imports."""
    code = main(shlex.split(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def called(arguments, capsys):
    code, out, err = call(arguments, capsys)
    assert (code, err) == (0, "")
    return out
