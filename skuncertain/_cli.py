"""The command line: ``skuncertain`` and ``python -m skuncertain``.

Here are errors and exit codes. Options are in `_cli_options`, which needs only the standard
library, so that ``--help``, ``--version`` and a mistyped option are answered at once;
`_cli_commands` does the work.
"""

import os
import re
import sys
import traceback

from skuncertain._cli_options import USAGE, Progress, build_parser, say

FAILURE, INTERRUPTED = 1, 130


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : list of str, default=None
        Arguments, by default those of the process.

    Returns
    -------
    int
        Exit code: 0, 1 (it failed), 2 (it was called wrongly) or 130 (it was interrupted).
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a letter that a terminal lacks is no reason to die
                stream.reconfigure(errors="backslashreplace")
        code = _run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except OSError as error:
        return _fail(error, _os_text(error), FAILURE)


def _run(argv):
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as stop:  # --help, --version or a wrong argument
        return int(stop.code or 0)
    from skuncertain._cli_commands import COMMANDS  # takes a second
    from skuncertain._csv_counts import TableFileError

    try:
        return COMMANDS[args.command](args, Progress(args.quiet)) or 0
    except (TableFileError, ImportError, MemoryError) as error:
        return _fail(error, _as_options(str(error)) or type(error).__name__, FAILURE)
    except (ValueError, TypeError) as error:
        return _fail(error, _as_options(str(error)), USAGE)
    except (BrokenPipeError, KeyboardInterrupt, OSError):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error} (SKUNCERTAIN_TRACEBACK=1 shows where)"
        return _fail(error, told, FAILURE)


# How a message of the library names a parameter, and what it is called here. A word such as
# "labels" is left alone where it is no parameter.
_OPTIONS = (
    (r"get_metric_names\(\)", "'skuncertain metrics'"),
    (r"\bpos_label(=\.\.\.|=(?=\S)|(?= ))", lambda m: "--pos-label" + " " * (m[1] == "=")),
    (r"\blabels=\[\.\.\.\]", "--labels"),
    (r"\blabels=(?=\[)", "--labels "),
    (r"^labels(?= must)", "--labels"),
    (r"(?<=\bin )labels\b", "--labels"),
    (r"^(true|pred)(?= is missing)", r"--\1"),
    (r"^(true|pred)=(?=['\"])", r"--\1 "),
    (
        r"^expected must be ConfusionCounts of a pilot study for (\S+), or their posterior[^:]*",
        r"\1 needs a pilot study (--tp --fn --fp --tn, --file or --matrix), not --expected",
    ),
    (r"^true and pred( of a and pred of b)?(?= must be different)", "--true and --pred"),
)


def _as_options(text):
    """Text of an error in the words of the command line."""
    for pattern, option in _OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def _fail(error, text, code):
    if os.environ.get("SKUNCERTAIN_TRACEBACK"):
        traceback.print_exception(error)
    say(f"error: {text}")
    return code


def _os_text(error):
    """Text of an error of the system, in the order in which people say it."""
    if error.filename is None:
        return error.strerror or str(error)
    return f"{error.filename}: {error.strerror}"
