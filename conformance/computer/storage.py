"""Files and folders wherever they are: paths of this machine, and URLs of stores.

A URL is read and written by ``pyarrow.fs``: ``s3://`` and Spark's ``s3a://``, ``gs://``,
``abfs://``, ``hdfs://``; one that begins with ``file:`` is a path. What follows a question mark is
for ``pyarrow.fs`` alone (``?region=…``, ``?endpoint_override=…``) and is never shown, since a key
may stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from checkvalve.spec.notation.errors import InputError

from .files import write_whole

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

__all__ = ["Place", "is_url", "place_at"]

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_SAME: Final = {"s3a": "s3", "s3n": "s3"}
"""Hadoop's names of a scheme, in the words of ``pyarrow.fs``."""

_AT_CLOSE: Final = ("s3", "gcs", "abfs", "mock")
"""The file systems on which a file is there from when it is closed on, all of it."""

_KNOWN: Final = ("Give a path of this machine, or a URL of s3a, s3, gs, abfs, hdfs or file; what "
                 "stands in it beside letters and figures has to be encoded (%20 for a space).")


def is_url(named: str) -> bool:
    """True if it begins as a URL does: ``s3a://bucket/folder``, ``file:/folder``."""
    return _URL.match(named) is not None


@dataclass(frozen=True)
class Place:
    """A file or a folder that need not exist: its ``path`` on a file system.

    ``shown`` is how it is written for users and for Spark: a path, or a URL.
    """

    files: FileSystem
    path: str
    shown: str

    def __str__(self) -> str:
        return self.shown

    def __truediv__(self, name: str) -> Place:
        return replace(self, path=f"{self.path.rstrip('/')}/{name}",
                       shown=f"{self.shown.rstrip('/')}/{name}")

    @property
    def is_here(self) -> bool:
        """True if it is on the file system of this machine."""
        return bool(self.files.type_name == "local")

    @property
    def url(self) -> str:
        """Its URL, also of a path."""
        return Path(self.path).resolve().as_uri() if self.is_here else self.shown

    def names(self) -> list[str]:
        """The names of what is in a folder, sorted; none if there is no such folder."""
        from pyarrow.fs import FileSelector

        with self._explained("this folder cannot be read"):
            found = self.files.get_file_info(FileSelector(self.path, allow_not_found=True))
        return sorted(each.base_name for each in found)

    def read(self, most: int | None = None) -> bytes | None:
        """The bytes of a file, no more than ``most`` bytes; None if there is none."""
        with self._explained("this file cannot be read"):
            try:
                with self.files.open_input_stream(self.path, compression=None) as file:
                    return bytes(file.read(most))
            except FileNotFoundError:
                return None

    @contextmanager
    def opened(self) -> Iterator[NativeFile]:
        """The file, to be read from any position. Raises OSError."""
        with self.files.open_input_file(self.path) as file:
            yield file

    def write(self, content: bytes) -> None:
        """Write a file and make its folder: readers see nothing, or what was there, or all of it.

        Raises InputError if it cannot be written.
        """
        if self.is_here:
            write_whole(Path(self.path), content)
            return
        folder, _, name = self.path.rpartition("/")
        whole = self.files.type_name in _AT_CLOSE
        with self._explained("this file cannot be written"):
            if not whole or self.files.type_name == "mock":
                self.files.create_dir(folder)
            draft = self.path if whole else f"{folder}/.{name}.half"
            with self.files.open_output_stream(draft, compression=None) as file:
                file.write(content)
            if not whole:
                self._move_over(draft)

    def _move_over(self, draft: str) -> None:
        """Give a draft its name. HDFS moves nothing over what is there."""
        from pyarrow.fs import FileType

        if self.files.get_file_info(self.path).type != FileType.NotFound:
            self.files.delete_file(self.path)
        self.files.move(draft, self.path)

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{what}: {_brief(error)}", self.shown, self._advice()) from error

    def _advice(self) -> str:
        if self.is_here:
            return "Give a path that you may read and write."
        return ("Give a place that this machine may read and write, by the address and the keys "
                "that `pyarrow.fs` takes from the environment (docs/campaigns.md).")


def place_at(named: str) -> Place:
    """The place of a path or a URL. Nothing is looked up yet.

    Raises InputError if it is a URL that ``pyarrow.fs`` cannot open.
    """
    import pyarrow as pa
    from pyarrow.fs import FileSystem, LocalFileSystem

    if not is_url(named):
        return Place(LocalFileSystem(), _checked(named), named)
    scheme, rest = named.split(":", 1)
    scheme = scheme.lower()
    if scheme == "file":
        return _on_this_machine(named)
    shown = _without_keys(named)
    try:
        files, path = FileSystem.from_uri(f"{_SAME.get(scheme, scheme)}:{rest}")
    except (OSError, pa.ArrowException) as error:
        what = f"this URL cannot be opened: {_brief(error).replace(named, shown)}"
        raise InputError(what, shown, _advice_for(scheme)) from error
    if not path.strip("/"):
        raise InputError("this URL names no folder", shown, _KNOWN)
    return Place(files, path, shown)


def _checked(path: str) -> str:
    """A path that Arrow can open, which knows none that is not UTF-8 text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError("this path is not UTF-8 text", repr(path), "Give another.") from None
    if not path:
        raise InputError("the path is empty", "", "Give the path of a folder, or a URL.")
    return path


def _on_this_machine(named: str) -> Place:
    from pyarrow.fs import LocalFileSystem

    parts = urlsplit(named)
    if parts.netloc not in ("", "localhost") or not parts.path.strip("/"):
        raise InputError("this URL names no folder of this machine", named,
                         "Write file:///FOLDER, with three slashes.")
    return Place(LocalFileSystem(), unquote(parts.path), unquote(parts.path))


def _without_keys(named: str) -> str:
    """A URL without what is secret in it: its query, and a password."""
    return re.sub(r"(://[^/@]*?):[^/@]*@", r"\1:…@", named.partition("?")[0])


def _advice_for(scheme: str) -> str:
    if scheme in ("hdfs", "viewfs"):
        return ("`pyarrow.fs` reaches HDFS by Hadoop's library: set JAVA_HOME, HADOOP_HOME and "
                "CLASSPATH (`hadoop classpath --glob`), or give a folder that all nodes share.")
    return _KNOWN


def _brief(error: BaseException) -> str:
    """The first line of what a library says, as the system says it where that is known."""
    said = getattr(error, "strerror", None) or str(error)
    return str(said).partition("\n")[0].rstrip(". ")[:400]
