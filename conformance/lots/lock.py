"""One campaign at a time runs in a folder of this machine.

The lock is the operating system's, on a file of the folder: it ends with the processes that hold
it, so a run that was killed leaves none. The file says which run that is. It stays, and is empty
while nothing runs. A store at a URL has no such lock, and no way to write a file only if there is
none: two runs there may write over each other's rows.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from checkvalve.spec.notation.errors import InputError

from ..computer.storage import Place

__all__ = ["LOCK", "alone"]

LOCK: Final = ".running"


@contextmanager
def alone(folder: Place) -> Iterator[None]:
    """Be the only one that runs in a folder that is there. Raises InputError if another does."""
    if not folder.is_here:
        yield
        return
    import fcntl

    path = Path(folder.path) / LOCK
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(f"the folder cannot be locked: {error.strerror}", str(path),
                         "Give a folder that can be written.") from error
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"another run of a campaign is in this folder: {_words(_holder(file))}", str(path),
                "Wait until it ends, or end it, and run this again: it continues.") from error
        except OSError:
            pass        # a file system without locks: what the file says is all there is
        _must_be_over(_holder(file), path)
        _write(file, {"pid": os.getpid(), "host": socket.gethostname()})
        try:
            yield
        finally:
            os.ftruncate(file, 0)
    finally:
        os.close(file)


def _must_be_over(holder: dict[str, Any], path: Path) -> None:
    """The process that the file names has let go of the lock; but locks may not reach from one
    machine to another."""
    if holder and holder.get("host") != socket.gethostname():
        raise InputError(
            f"another run of a campaign may be in this folder: {_words(holder)}", str(path),
            "If it has ended, remove this file and run this again: it continues.")


def _holder(file: int) -> dict[str, Any]:
    try:
        found = json.loads(os.pread(file, 1024, 0) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _words(holder: dict[str, Any]) -> str:
    return (f"process {holder['pid']} on {holder['host']}" if {"pid", "host"} <= holder.keys()
            else "it does not say which")


def _write(file: int, holder: dict[str, Any]) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, json.dumps(holder).encode(), 0)
