"""Writing a file wholly or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from checkvalve.spec.notation.errors import InputError

from .streams import ESCAPE

__all__ = ["check_writable", "write_whole"]


def check_writable(path: Path) -> None:
    """Make the folder of ``path``, and try to write there; InputError if it cannot be done."""
    if _takes_writes_only(path):
        _write_into(path, "")
        return
    handle, name = _draft(path)
    os.close(handle)
    os.unlink(name)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` and make its folder; a reader sees the old file or all of it.

    A device or a pipe is written to, and never replaced by a file; a link leads to the file that
    is replaced. Raises InputError if it cannot be written.
    """
    if _takes_writes_only(path):
        _write_into(path, content)
        return
    path = path.resolve()
    handle, name = _draft(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_encoded(content))
            file.flush()
            os.fsync(handle)    # some file systems find out only now that they are full
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise


def _takes_writes_only(path: Path) -> bool:
    """True if it is a device, a pipe or a socket, as /dev/null and /dev/stdout are."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _encoded(content: str | bytes) -> bytes:
    return content.encode("utf-8", ESCAPE) if isinstance(content, str) else content


def _write_into(path: Path, content: str | bytes) -> None:
    try:
        with path.open("wb") as file:
            file.write(_encoded(content))
    except OSError as error:
        raise _unwritable(path, error) from error


def _draft(path: Path) -> tuple[int, str]:
    """A new file beside ``path``, in a folder that is made: its descriptor and its name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error


def _umask() -> int:
    # The system returns the mask only to a caller that sets it. mkstemp has made the file private.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _unwritable(path: Path, error: OSError) -> InputError:
    what = f"cannot write this file: {error.strerror or error}"
    return InputError(what, str(path), "Give a path that you may write.")
