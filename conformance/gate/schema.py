"""The shape of a checkvalve.toml, as it is shipped for editors; the reader's keys are its keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["keys_of", "text"]


def text() -> str:
    """The JSON Schema of the file, as it is shipped for editors."""
    return files(__package__ or "").joinpath("schema.json").read_text(encoding="utf-8")


@cache
def _schema() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads(text())
    return loaded


def keys_of(table: str = "") -> tuple[str, ...]:
    """The keys of a table, ``designs``, ``suites`` or ``limits``; of the file without one."""
    of = _schema()["$defs"][table] if table else _schema()
    return tuple(of["properties"])
