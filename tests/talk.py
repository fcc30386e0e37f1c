"""A design of two tasks that talk, live and deadlocked, and git without the machine's settings."""

from __future__ import annotations

import subprocess
from pathlib import Path

LIVE = """\
checkvalve: 2
name: talk
tasks:
  a: {kind: script, steps: [{write: r}, {read: q}]}
  b: {kind: script, steps: [{read: r}, {write: q}]}
links:
  - {from: b, to: a, name: q, capacity: 1}
  - {from: a, to: b, name: r, capacity: 1}
"""
DEAD = LIVE.replace("[{write: r}, {read: q}]", "[{read: q}, {write: r}]")


def git(folder: Path, *arguments: str) -> str:
    """The output of git in a folder, without the line's end."""
    own = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(folder), *own, *arguments], check=True,
                          capture_output=True, text=True).stdout.strip()
