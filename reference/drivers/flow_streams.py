"""Links and stages for asyncio, over connections: one link is one connection.

A frame is a byte and four more, big-endian: 0 and a length for an element, of which the bytes
follow; or 1 and a count for permits. The receiving end speaks first: its first message has a permit
for each of its slots, so that the sender need not know how many there are. After the last element
the sender says so (a half-close), and the receiver closes.

Nothing here waits for space in a connection: permits bound what is under way. A peer that
breaks the rules of the link ends it with ``LinkMisuse``, and one that goes away with
``ConnectionError``.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterable, AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeVar

from ..flow.chains import Window
from ..flow.link import LinkMisuse, LinkReceiver, LinkSender
from ..flow.stages import Pumped, Stage, Transform

__all__ = ["Channel", "received", "relay", "send_all"]

E = TypeVar("E")

HEAD: Final = struct.Struct(">BI")
DATA: Final = 0
PERMITS: Final = 1
LONGEST: Final = 1 << 20
"""Bytes of an element, at most."""


class Channel(NamedTuple):
    """A connection, as asyncio has it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def element(self) -> bytes | None:
        """The next element; None at the end. Raises ``LinkMisuse`` for what is none."""
        length = await self._head(DATA)
        if length is None:
            return None
        if length > LONGEST:
            raise LinkMisuse(f"an element of {length} bytes, and {LONGEST} are the most")
        return await self.reader.readexactly(length)

    async def permits(self) -> int | None:
        """The next message with credits; None at the end. Raises ``LinkMisuse``."""
        return await self._head(PERMITS)

    async def _head(self, kind: int) -> int | None:
        try:
            found, number = HEAD.unpack(await self.reader.readexactly(HEAD.size))
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise ConnectionError("the connection ended within a frame") from None
            return None
        if found != kind:
            raise LinkMisuse(f"a frame of kind {found}, where {kind} was to come")
        return int(number)

    def send(self, element: bytes) -> None:
        """An element goes down the link."""
        self.writer.write(HEAD.pack(DATA, len(element)) + element)

    def grant(self, permits: int) -> None:
        """A message with so many goes up the link."""
        self.writer.write(HEAD.pack(PERMITS, permits))

    async def finish(self) -> None:
        """Say that no more elements come, and wait until the receiver has had them all: what closes
        earlier with credits unread may lose what it has sent."""
        self.writer.write_eof()
        while await self.permits() is not None:
            pass
        await self.close()

    async def close(self) -> None:
        """Close the connection; the receiving end does so once all has come."""
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


async def send_all(elements: AsyncIterable[bytes], down: Channel) -> None:
    """Send elements as credits come; the next is asked for once the one before was sent."""
    sender: LinkSender[bytes] = LinkSender(0)
    async for element in elements:
        going = sender.offer([element])
        while sender.waiting:
            going += sender.permit(await _permits_from(down))
        for each in going:
            down.send(each)
    await down.finish()


async def received(up: Channel, window: Window) -> AsyncIterator[bytes]:
    """The elements that come. The slot of one is free when the next is asked for."""
    receiver: LinkReceiver[bytes] = LinkReceiver(*window)
    news = asyncio.Event()

    async def read() -> None:
        while (element := await up.element()) is not None:
            receiver.arrive(element)
            news.set()

    up.grant(window.capacity)
    reading = asyncio.get_running_loop().create_task(read())
    try:
        while True:
            while len(receiver):
                element, permits = receiver.process()
                yield element
                if permits:
                    up.grant(permits)
            if reading.done():
                break
            news.clear()
            await _unless_ended(reading, news.wait())
        reading.result()
    finally:
        await _ended(reading)
        await up.close()


async def relay(transform: Transform[bytes, bytes], up: Channel, window: Window,
                down: Channel) -> None:
    """Be a stage between two connections, until what comes by the one has gone by the other.

    Raises ``LinkMisuse``, ``ConnectionError``, and what the transform raises.
    """
    stage = Stage(transform, *window, permits=0)

    def do(pumped: Pumped[bytes]) -> None:
        for permits in pumped.permits:
            up.grant(permits)
        for element in pumped.elements:
            down.send(element)

    async def from_below() -> None:
        while True:
            do(stage.permit(await _permits_from(down)))
            news.set()

    news = asyncio.Event()
    up.grant(window.capacity)
    hearing = asyncio.get_running_loop().create_task(from_below())
    try:
        while (element := await _unless_failed(hearing, up.element())) is not None:
            do(stage.arrive(element))
        while len(stage.inlet) or transform.ready:
            news.clear()
            await _unless_failed(hearing, news.wait())
    finally:
        await _ended(hearing)
    await down.finish()
    await up.close()


async def _permits_from(down: Channel) -> int:
    permits = await down.permits()
    if permits is None:
        raise ConnectionError("the receiver has gone")
    return permits


async def _unless_ended(other: asyncio.Task[None], wanted: Coroutine[Any, Any, E]) -> E | None:
    """The result of ``wanted``; None if another task has ended meanwhile."""
    task = asyncio.get_running_loop().create_task(wanted)
    await asyncio.wait({other, task}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        return task.result()
    await _ended(task)
    return None


async def _unless_failed(other: asyncio.Task[None], wanted: Coroutine[Any, Any, E]) -> E | None:
    """The same; and what the other task has raised is raised."""
    found = await _unless_ended(other, wanted)
    if other.done():
        other.result()
    return found


async def _ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task, and wait until it has ended."""
    task.cancel()
    await asyncio.wait([task])
