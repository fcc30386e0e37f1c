"""A pull consumer of a JetStream stream, in a real NATS server in real time; a server for each
session.

Both consumers of the suite pull from one consumer of JetStream, as workers do that share the work.
An ack, a nak and a term are sent with a wish for a reply, so that the server has handled them. The
reply is the same for what it ignores: an ack or a term was taken if afterwards one message less
awaits an ack, and a nak was, as the adapter answers, if its delivery is still in flight by the
ticks. As clients of NATS do, the adapter answers a delivery once.

A dead letter is an advisory: the server says so once, and an own stream keeps what it says, as the
documents have it. It says so when a worker asks, so that the adapter does not answer for dead
letters before one has asked in vain. The limit of deliveries can be changed while nothing is out
alone: for a message that was given more often already the server would say nothing at all.

The count is what the server wrote on the latest delivery of a message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar, Final

from ...adapters.base import Declined, missing
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from ...services.nats import Nats
from .clock import RealTicks
from .port import PORT

__all__ = ["JetStream"]

Item = int | str

_TICK_SECONDS: Final = 1.0
_SLACK_SECONDS: Final = 0.4
"""AckWait is so much less than its ticks."""
_LATE_SECONDS: Final = 0.5
_ANSWER_SECONDS: Final = 5.0
_QUEUE: Final = "queue"
_WORKERS: Final = "workers"
_SAID: Final = "advisories"
_SUBJECT: Final = "queue.in"
_ADVISORIES: Final = [f"$JS.EVENT.ADVISORY.CONSUMER.{kind}.{_QUEUE}.{_WORKERS}"
                      for kind in ("MAX_DELIVERIES", "MSG_TERMINATED")]
_NEXT: Final = "$JS.API.CONSUMER.MSG.NEXT"
_AT_ONCE: Final = b'{"batch":1,"expires":40000000}'
"""A wish for one message that waits for 40 ms: one that does not wait (``no_wait``) is never
answered by this server where all that has come back was given as often as it may be."""


class JetStream(PortAdapter):
    """A stream of files. What comes back is given before what is new, in the order in which it came
    back."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "any-order"
    name = "a pull consumer of JetStream"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh server, two streams, and a consumer of each."""
        try:
            import nats
        except ImportError as error:
            raise missing("nats-py", "brokers") from error
        self._nats = nats
        self._ticks = RealTicks(_TICK_SECONDS, settings["timeout"], late=_LATE_SECONDS)
        self._wait = settings["timeout"] * _TICK_SECONDS - _SLACK_SECONDS
        self._latest: dict[tuple[int, Item], Any] = {}
        self._counts: dict[Item, int] = {}
        self._asked_in_vain = True
        self._loop = asyncio.new_event_loop()
        self._server = Nats(durable=True).start()
        self._connect()
        self._do(self._js.add_stream(name=_QUEUE, subjects=[_SUBJECT]))
        self._do(self._js.add_stream(name=_SAID, subjects=_ADVISORIES))
        self._consume(_QUEUE, _WORKERS, ack_wait=self._wait, max_ack_pending=-1)
        self._consume(_SAID, _WORKERS)

    def publish(self, message: Item) -> bool:
        self._do(self._js.publish(_SUBJECT, json.dumps(message).encode()))
        return True

    def receive(self, consumer: int) -> Item | None:
        self._ticks.check()
        letter = self._next(_QUEUE)
        if letter is None:
            self._asked_in_vain = True
            return None
        message: Item = json.loads(letter.data)
        self._counts[message] = letter.metadata.num_delivered
        # What comes back is given first: one that is new says that nothing has come back.
        self._asked_in_vain = self._asked_in_vain or letter.metadata.num_delivered == 1
        self._latest[consumer, message] = letter
        self._ticks.given(message, consumer)
        return message

    def ack(self, consumer: int, message: Item) -> bool:
        return self._ends(consumer, message, b"+ACK")

    def reject(self, consumer: int, message: Item) -> bool:
        return self._ends(consumer, message, b"+TERM")

    def requeue(self, consumer: int, message: Item) -> bool:
        self._asked_in_vain = False
        in_flight = self._ticks.holds(consumer, message)
        if not self._answers(consumer, message, b"-NAK"):
            return False
        if in_flight:
            self._ticks.over(message)
        return in_flight

    def tries(self, most: int) -> bool:
        if self._counts:
            raise Declined("messages-are-out")
        self._consume(_QUEUE, _WORKERS, ack_wait=self._wait, max_ack_pending=-1,
                      max_deliver=most or -1)
        return True

    def dead(self) -> Item | None:
        if not self._asked_in_vain:
            raise Declined("nobody-has-asked-since-one-came-back")
        letter = self._next(_SAID)
        if letter is None:
            return None
        self._do(letter.ack_sync())
        number = json.loads(letter.data)["stream_seq"]
        message: Item = json.loads(self._do(self._js.get_msg(_QUEUE, number)).data)
        return message

    def count(self, message: Item) -> int | None:
        return self._counts.get(message, 0)

    def advance(self, ticks: int) -> bool:
        self._ticks.advance(ticks)
        self._asked_in_vain = False
        return True

    def restart(self) -> bool:
        self._server.kill()
        self._do(self._client.close())
        self._server.start()
        self._ticks.clear()
        self._latest.clear()
        self._asked_in_vain = False
        self._connect()
        return True

    def close(self) -> None:
        """Close the connection, and end the server."""
        if hasattr(self, "_server"):
            self._server.close()
        if hasattr(self, "_client"):
            self._do(self._client.close())
        if hasattr(self, "_loop"):
            self._loop.close()

    def _connect(self) -> None:
        self._client = self._do(self._nats.connect(
            f"nats://{self._server.address}", allow_reconnect=False, error_cb=_ignore))
        self._js = self._client.jetstream(timeout=_ANSWER_SECONDS)

    def _do(self, work: Awaitable[Any]) -> Any:
        return self._loop.run_until_complete(asyncio.ensure_future(work, loop=self._loop))

    def _consume(self, stream: str, durable: str, **more: Any) -> None:
        api = self._nats.js.api
        config = api.ConsumerConfig(
            durable_name=durable, ack_policy=api.AckPolicy.EXPLICIT, **more)
        self._do(self._js.add_consumer(stream, config))

    def _next(self, stream: str) -> Any:
        """The next message of a consumer, or None if there is none at this moment."""
        letter = self._do(self._client.request(
            f"{_NEXT}.{stream}.{_WORKERS}", _AT_ONCE, timeout=_ANSWER_SECONDS, old_style=True))
        return None if (letter.headers or {}).get("Status") else letter

    def _awaited(self) -> int:
        """How many messages await an ack."""
        info = self._do(self._js.consumer_info(_QUEUE, _WORKERS))
        return int(info.num_ack_pending)

    def _ends(self, consumer: int, message: Item, how: bytes) -> bool:
        before = self._awaited()
        taken = self._answers(consumer, message, how) and self._awaited() < before
        if taken:
            self._ticks.over(message)
        return taken

    def _answers(self, consumer: int, message: Item, how: bytes) -> bool:
        """Answer the latest delivery of a message to a consumer; False if there is none, or it was
        answered."""
        self._ticks.check()
        letter = self._latest.pop((consumer, message), None)
        if letter is None:
            return False
        self._do(self._client.request(letter.reply, how, timeout=_ANSWER_SECONDS))
        return True


async def _ignore(error: Exception) -> None:
    """A connection that is lost is what a restart is for."""
