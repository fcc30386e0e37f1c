"""Saving the fixtures of a run, and the command that runs one again."""

from __future__ import annotations

import os
import re
import shlex
from hashlib import sha256
from pathlib import Path

from ..computer.files import write_whole
from ..foreign.place import is_named
from ..suites.fixture import Fixture

__all__ = ["fixture_name", "replay_command", "save_fixture"]

_LONGEST = 80
"""Characters of a target in the name of a file."""


def fixture_name(fixture: Fixture, target: str) -> str:
    """The name of the file of a fixture that was found on ``target``: the same for the same suite,
    target and rule."""
    named = re.sub(r"[^A-Za-z0-9.]+", "-", target).strip("-")
    if len(named) > _LONGEST:  # two long commands may begin alike
        named = f"{named[:_LONGEST - 9]}-{sha256(target.encode()).hexdigest()[:8]}"
    return f"{fixture.suite}-{named}-{fixture.rule_id}.json"


def save_fixture(fixture: Fixture, target: str, folder: Path) -> Path:
    """Write a fixture that was found on ``target`` into ``folder``; the path of the file."""
    path = folder / fixture_name(fixture, target)
    write_whole(path, fixture.to_json())
    return path


def replay_command(
    path: Path | str, target: str, *, folder: Path | None = None, timeout: float | None = None,
) -> str:
    """The shell command that replays the fixture at ``path``, or at a URL, on a target that is
    looked for in ``folder``; None: in the current folder."""
    before = ""
    if folder is not None and folder.resolve() != Path.cwd() and (
            is_named(target) or target.startswith("command:")):
        before = f"cd {shlex.quote(os.path.relpath(folder))} && "
        path = Path(os.path.relpath(path, folder))
    options = [] if timeout is None else ["--timeout", f"{timeout:g}"]
    return before + shlex.join(["checkvalve", "replay", str(path), target, *options])
