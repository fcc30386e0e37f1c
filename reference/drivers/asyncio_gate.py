"""A gate for the tasks of one event loop: all wait until it is opened, or until it breaks."""

from __future__ import annotations

import asyncio

__all__ = ["Broken", "Gate"]


class Broken(Exception):
    """The gate broke: no call passes it any more."""


class Gate:
    """A gate that is shut at first. Not for several threads."""

    def __init__(self) -> None:
        self.is_open = False
        self.broken = False
        self.asleep: dict[asyncio.Future[None], None] = {}

    async def wait(self) -> None:
        """Wait until it is open. Raises ``Broken``, at once or when it breaks."""
        if self.broken:
            raise Broken
        if self.is_open:
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.asleep[turn] = None
        try:
            await turn
        finally:
            self.asleep.pop(turn, None)

    def open(self) -> None:
        """Let all waiting calls pass, and those that come later."""
        self.is_open = True
        for turn in self.asleep:
            if not turn.done():
                turn.set_result(None)

    def shut(self) -> None:
        """Make the calls wait that come from now on."""
        self.is_open = False

    def break_(self) -> None:
        """Raise ``Broken`` in all waiting calls, and in those that come later."""
        self.broken = True
        for turn in self.asleep:
            if not turn.done():
                turn.set_exception(Broken())
