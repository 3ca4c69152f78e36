"""The command line: ``skuncertain`` and ``python -m skuncertain``.

Here are errors and exit codes. Options are in `_cli.options`, which needs only the standard
library, so that ``--help``, ``--version`` and a mistyped option are answered at once;
`_cli.commands` does the work.
"""

import errno
import os
import sys
import traceback

from skuncertain._cli.options import USAGE, Progress, UsageError, as_option, build_parser, say

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
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except OSError as error:
        if isinstance(error, BrokenPipeError) and error.filename is None:
            # Whoever read our output has seen enough. Python must not complain when it closes it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        where = "" if error.filename is None else f"{error.filename}: "  # as people say it
        return _fail(error, f"{where}{error.strerror or error}", FAILURE)


def _run(argv):
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as stop:  # --help, --version or a wrong argument
        if not stop.code:
            _check_stdout()
        return int(stop.code or 0)
    if args.command != "app" and getattr(args, "output", None) is None:
        _check_stdout()
    from skuncertain._cli.commands import run_command  # takes a second
    from skuncertain.exceptions import InvalidParameterError, TableFileError

    try:
        run_command(args, Progress(args.quiet))
        return 0
    except (InvalidParameterError, TableFileError) as error:
        code = USAGE if isinstance(error, InvalidParameterError) else FAILURE
        return _fail(error, _as_options(error, args), code)
    except (UsageError, ValueError, TypeError) as error:
        return _fail(error, str(error), USAGE)
    except (ImportError, MemoryError) as error:
        return _fail(error, str(error) or type(error).__name__, FAILURE)
    except (BrokenPipeError, KeyboardInterrupt, OSError):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error} (SKUNCERTAIN_TRACEBACK=1 shows where)"
        return _fail(error, told, FAILURE)


def _check_stdout():
    """Refuse to work for nobody: without stdout, Python drops what is printed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")


_OPTIONS = {
    "pred_a": "pred",
    "pred_b": "pred",
    "metrics": "metric",
    "y_proba": "proba",
    "y_pred": "pred",
}  # of other names
_PILOT = "Give a pilot study (--tp --fn --fp --tn, --file or --matrix)."
_REMEDIES = {  # in place of what the library says to those who write Python
    "metric": "'skuncertain metrics' lists all names.",
    "pos_label": "Name the class with --pos-label, or ask for an average such as 'f1_macro'.",
    "labels": "give --labels with all classes.",
    "expected": _PILOT,
    "prevalence": _PILOT,
    "test_train_ratio": "give --test-train-ratio.",
}


def _as_options(error, args):
    """Text of an error of the library in the words of the command line."""
    name, text = error.parameter, error.message.replace("y_proba", "--proba")
    parameter = _OPTIONS.get(name, name)
    if hasattr(args, parameter):
        text = text.replace(f"{name}=", f"{as_option(parameter)} ")
        word, _, rest = text.partition(" ")
        if word in (name, parameter):
            text = f"{as_option(parameter)} {rest}"
    return f"{text} {_REMEDIES.get(parameter, error.remedy)}" if error.remedy else text


def _fail(error, text, code):
    if os.environ.get("SKUNCERTAIN_TRACEBACK"):
        traceback.print_exception(error)
    say(f"error: {text}")
    return code
