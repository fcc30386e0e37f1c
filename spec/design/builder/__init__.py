"""Designs built by a Python program: ``from checkvalve.spec.design.builder import Design``."""

from __future__ import annotations

from .build import Design
from .kinds import LinkName, Number, PoolName, TaskName
from .steps import (
    acquire, branch, cancel, close, either, join, read, read_until_closed, read_up_to, release,
    repeat, write,
)

__all__ = [
    "Design", "LinkName", "Number", "PoolName", "TaskName", "acquire", "branch", "cancel", "close",
    "either", "join", "read", "read_until_closed", "read_up_to", "release", "repeat", "write",
]
