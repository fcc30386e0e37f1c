"""Sending checkvalve itself to a cluster whose nodes do not have it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from .session import scratch
from .task import PACKAGES, edition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["pack", "ship_checkvalve"]

_LEFT_OUT = {"__pycache__"}
_EPOCH = (1980, 1, 1, 0, 0, 0)


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
