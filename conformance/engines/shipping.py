"""Sending checkvalve itself, and files of the user's, to a cluster with nodes that lack them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from checkvalve.spec.notation.errors import InputError

from .session import scratch
from .task import PACKAGES, edition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_shippable", "pack", "pack_folder", "ship_checkvalve", "ship_files"]

_LEFT_OUT = {"__pycache__"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ARCHIVES = (".zip", ".egg", ".whl")
_COMPILED = (".so", ".pyd", ".dylib")
"""Ends of files that Python cannot import out of an archive."""


def ship_checkvalve(session: SparkSession) -> None:
    """Make the checkvalve of this process importable on the executors of ``session``.

    Sends its code only, through ``addArtifacts``, which Spark Connect has too. What it
    depends on (pyarrow, pandas) has to be there; programs in other languages that
    come with checkvalve are not run from inside an archive.
    """
    # Spark refuses a second file of the same name with another content, and executors that
    # come later fetch it again from where it was.
    path = scratch() / f"checkvalve-{edition()}.zip"
    pack(path)
    session.addArtifacts(str(path), pyfile=True)


def pack(path: Path) -> None:
    """Write the packages of checkvalve to a zip at ``path``: same code, same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # Python finds a package without an __init__.py only where the archive lists its folder.
        archive.writestr(zipfile.ZipInfo("checkvalve/", _EPOCH), b"")
        for package in PACKAGES:
            root = package.replace(".", "/")
            for name, content in sorted(_entries(resources.files(package), root)):
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)


def _entries(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    yield f"{name}/", b""
    for entry in folder.iterdir():
        if entry.name in _LEFT_OUT:
            continue
        if entry.is_dir():
            yield from _entries(entry, f"{name}/{entry.name}")
        else:
            yield f"{name}/{entry.name}", entry.read_bytes()


def check_shippable(paths: Iterable[Path]) -> None:
    """Raise InputError for a path that is not there, or has code that no archive can hold."""
    for path in paths:
        if not path.exists():
            raise InputError("there is no such file or folder to send", str(path),
                             "Give a Python file, a package, a folder of sources, or a wheel.")
        if not path.is_dir() and path.suffix.lower() not in _ARCHIVES:
            continue
        if path.is_file() and not zipfile.is_zipfile(path):
            raise InputError("this is not a zip, though its name says so", str(path),
                             "Build it anew.")
        names = zipfile.ZipFile(path).namelist() if path.is_file() else [
            str(file) for file in path.rglob("*")]
        compiled = next((name for name in names if name.endswith(_COMPILED)), None)
        if compiled is not None:
            raise InputError(f"{compiled} is compiled, and Python cannot import it out of an "
                             "archive", str(path),
                             "Install it on the nodes, or send an environment: docs/spark.md.")


def ship_files(session: SparkSession, paths: Iterable[Path]) -> None:
    """Send files to the executors of ``session``: what Python can import (a file, a package, a
    folder of sources, a zip, a wheel) is on their search path, and any other file in their folder.

    Raises InputError as ``check_shippable`` does.
    """
    paths = [*paths]
    check_shippable(paths)
    for path in paths:
        if path.is_dir():
            session.addArtifacts(str(pack_folder(path, scratch())), pyfile=True)
        elif path.suffix.lower() in _ARCHIVES:
            # Spark looks into what is called a zip, which a wheel is.
            session.addArtifacts(str(_named(path.read_bytes(), path.stem, scratch())), pyfile=True)
        else:
            session.addArtifacts(str(path.resolve()), **{
                "pyfile" if path.suffix == ".py" else "file": True})


def pack_folder(folder: Path, into: Path) -> Path:
    """A zip of a folder in ``into``: of a package under its own name, else of what is in it."""
    folder = folder.resolve()
    base = folder.parent if (folder / "__init__.py").is_file() else folder
    draft = into / f"{folder.name}.draft"
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(base).parts
            if any(part in _LEFT_OUT or part.startswith(".") for part in parts):
                continue
            # Python finds a package without an __init__.py only where its folder is listed.
            name = "/".join(parts) + ("/" if path.is_dir() else "")
            archive.writestr(zipfile.ZipInfo(name, _EPOCH),
                             b"" if path.is_dir() else path.read_bytes())
    packed = _named(draft.read_bytes(), folder.name, into)
    draft.unlink()
    return packed


def _named(content: bytes, name: str, into: Path) -> Path:
    """A zip with this content: Spark refuses a second one of the same name with another."""
    path = into / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    path.write_bytes(content)
    return path
