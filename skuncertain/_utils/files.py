"""Writing files whole or not at all."""

import errno
import os
import secrets
import shutil
from pathlib import Path


def write_file(path, data):
    """Write bytes to a file; until they are all on the disk, what was there before stays.

    They go into a file beside it, which then takes its place in one step: a reader never sees half
    a file, and a full disk costs nothing.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_symlink():
        raise OSError(errno.ELOOP, "the link leads back to itself, so there is no file", str(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "path must name a file, not a directory", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "the directory does not exist, make it first", str(path)
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file exists and is read-only", str(path))
    try:
        # A pipe or a terminal cannot be replaced; /dev/stdout may lead to one without a name.
        if os.path.exists(path) and not target.is_file():
            Path(path).write_bytes(data)
            return
        _replace(target, data)
    except OSError as error:
        raise OSError(
            error.errno, f"the file was not written, {error.strerror or error}", str(path)
        ) from error


def _replace(target, data):
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # gone already, if all went well
