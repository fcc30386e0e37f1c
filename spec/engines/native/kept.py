"""Machine code that is kept from one run to the next, in the user's folder of caches.

To compile a machine for logs takes 0.05 to 2 s, and the same text gives the same code again. What
is kept is only found under a hash of the text, of this compiler and of this processor, only used
if it is as it was written, and only where nobody else can write to the folder; any trouble with
files means that the code is made anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["BYTES_MAX", "VARIABLE", "folder", "key_of", "read", "written"]

VARIABLE: Final = "CHECKVALVE_CACHE"
"""The variable of the environment that names the folder; empty: nothing is kept."""

BYTES_MAX: Final = 64 << 20
"""Bytes of all files together; beyond that, those that were not used for longest go."""

_FILE_MAX: Final = 8 << 20
_BEGIN: Final = b"checkvalve code 1\n"
_ENDING: Final = ".code"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def folder() -> Path | None:
    """The folder of what is kept, whether it is there or not; None: nothing is kept."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return Path(given) if given else None
    try:
        return _caches() / "checkvalve" / "code"
    except RuntimeError:    # there is no home
        return None


def _caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".cache"


def key_of(parts: Sequence[str]) -> str:
    """A name for what is made of some texts, and of nothing else."""
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:{part}".encode())
    return found.hexdigest()


def read(key: str) -> bytes | None:
    """The bytes under a key; None if there are none, or they cannot be trusted."""
    place = folder()
    if place is None:
        return None
    with suppress(OSError):
        if not _is_own(os.stat(place)):
            return None
        with (place / f"{key}{_ENDING}").open("rb") as file:
            if not _is_own(os.fstat(file.fileno())):
                return None
            found = file.read(_FILE_MAX)
            with suppress(OSError):
                os.utime(file.name)     # it was used now
        head = _head(key, found[len(_BEGIN) + 32:])
        return found[len(head):] if found.startswith(head) else None
    return None


def written(key: str, data: bytes) -> bool:
    """Keep something under a key; False if that cannot be."""
    place = folder()
    if place is None or len(data) > _FILE_MAX // 2:
        return False
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(os.stat(place)):
            return False
        number, half = tempfile.mkstemp(dir=place)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(_head(key, data) + data)
            os.replace(half, place / f"{key}{_ENDING}")
        except OSError:
            os.unlink(half)
            raise
        _clear(place)
    except OSError:
        return False
    return True


def _head(key: str, data: bytes) -> bytes:
    return _BEGIN + hashlib.sha256(key.encode() + data).digest()


def _is_own(found: os.stat_result) -> bool:
    """True if only this user writes there: code that others could change is not run."""
    if sys.platform == "win32":
        return True     # a user's folders are closed to others
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def _clear(place: Path) -> None:
    """Remove what was not used for longest, if there is too much."""
    files = []
    with os.scandir(place) as entries:
        for entry in entries:
            with suppress(OSError):     # another process removed it
                found = entry.stat(follow_symlinks=False)
                files.append((found.st_mtime_ns, found.st_size, entry.path))
    size = sum(each for _, each, _ in files)
    for _, each, path in sorted(files):
        if size <= BYTES_MAX:
            return
        size -= each
        with suppress(OSError):
            os.unlink(path)
