"""A gate for the tasks of one event loop: all wait until it is opened, or until it breaks."""

from __future__ import annotations

import asyncio

__all__ = ["Broken", "Gate"]


class Broken(Exception):
    """The gate broke: nobody passes it any more."""


class Gate:
    """Shut at first. Not for several threads."""

    def __init__(self) -> None:
        self.is_open = False
        self.broken = False
        self.asleep: dict[asyncio.Future[None], None] = {}

    async def wait(self) -> None:
        """Wait until it is open. Raises ``Broken``, at once or once it breaks."""
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
        """Let all pass who wait, and who comes."""
        self.is_open = True
        for turn in self.asleep:
            if not turn.done():
                turn.set_result(None)

    def shut(self) -> None:
        """Let those wait who come from now on."""
        self.is_open = False

    def break_(self) -> None:
        """Tell all who wait, and who comes."""
        self.broken = True
        for turn in self.asleep:
            if not turn.done():
                turn.set_exception(Broken())
