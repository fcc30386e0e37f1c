"""A queue of a real RabbitMQ, classic or quorum; a fresh queue for each session.

A consumer of the suite is a connection with a channel. RabbitMQ pushes to those that have
subscribed. So a consumer that asks a classic queue subscribes with a prefetch of one, and ends that
when what has come has come; the limit is the prefetch of its channel, which counts all that the
channel has not acknowledged. Quorum queues have no such limit, and are asked by ``basic.get``.

An ack has no answer. That of an unknown delivery closes its channel, and gives back all that the
channel has, so the adapter sends none: it answers that it was ignored.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ...adapters.base import Declined, missing
from ...adapters.port_adapter import PortAdapter
from ...computer.patience import Countdown
from ...ports.base import Port
from ...services.rabbitmq import RabbitMQ
from ...services.server import HOST, shared
from .port import PORT

__all__ = ["RabbitClassic", "RabbitDropHead", "RabbitQuorum"]

Item = int | str

_LIMIT_MAX: Final = (1 << 16) - 1
_NUMBERS: Final = itertools.count()
_DEAD_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.01
_SETTLE_SECONDS: Final = 1.5
"""A queue that is younger when RabbitMQ 3.10.8 is killed may be gone, although it was declared
durable; a quorum queue is there without a leader, and answers nobody for more than a minute."""


class _Rabbit(PortAdapter):
    """A queue of any type."""

    port: ClassVar[Port] = PORT

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh queue, and a connection for each consumer; the server is the one of
        this process."""
        try:
            import pika
        except ImportError as error:
            raise missing("pika", "brokers") from error
        self._amqp: Any = pika
        self._queue = f"queue-{next(_NUMBERS)}"
        self._dead = f"dead-{self._queue}"
        self._arguments = dict(self.arguments(settings["capacity"]))
        self._consumers: list[Any] = [None] * settings["consumers"]
        self._letters: dict[tuple[int, Item], Any] = {}
        self._server = shared(RabbitMQ)
        self._connect()
        self._producer.queue_declare(self._dead, durable=True)
        self._declare()

    def arguments(self, capacity: int) -> Mapping[str, Any]:
        """The arguments of the queue."""
        raise NotImplementedError

    def fetch(self, channel: Any) -> Any:
        """The next message for a channel, as (tag, headers, body), or None."""
        method, properties, body = channel.basic_get(self._queue)
        return None if method is None else (method.delivery_tag, properties.headers, body)

    def publish(self, message: Item) -> bool:
        try:
            self._producer.basic_publish(
                "", self._queue, json.dumps(message).encode(),
                self._amqp.BasicProperties(delivery_mode=2))
        except self._amqp.exceptions.NackError:
            return False
        return True

    def receive(self, consumer: int) -> Item | None:
        fetched = self.fetch(self._consumers[consumer])
        if fetched is None:
            return None
        message: Item = json.loads(fetched[2])
        self._letters[consumer, message] = fetched
        return message

    def ack(self, consumer: int, message: Item) -> bool:
        return self._answers("basic_ack", consumer, message)

    def requeue(self, consumer: int, message: Item) -> bool:
        return self._answers("basic_nack", consumer, message, requeue=True)

    def disconnect(self, consumer: int) -> bool:
        self._consumers[consumer].connection.close()
        self._forget(consumer)
        self._consumers[consumer] = self._channel()
        return True

    def restart(self) -> bool:
        self._kill()
        self._server.start()
        self._connect()
        return True

    def close(self) -> None:
        """Remove the queue, and close the connections; the server serves the next session."""
        if not hasattr(self, "_producer"):
            return
        if self._server.is_running and self._producer.is_open:
            self._producer.queue_delete(self._queue)
            self._producer.queue_delete(self._dead)
        self._close()

    def _channel(self) -> Any:
        channel = self._amqp.BlockingConnection(self._amqp.ConnectionParameters(
            HOST, self._server.port, heartbeat=0)).channel()
        channel.basic_qos(prefetch_count=1)
        return channel

    def _connect(self) -> None:
        self._producer = self._channel()
        self._producer.confirm_delivery()
        self._consumers = [self._channel() for _ in self._consumers]

    def _declare(self) -> None:
        self._producer.queue_declare(self._queue, durable=True, arguments=self._arguments)
        self._settled = Countdown(_SETTLE_SECONDS)

    def _kill(self) -> None:
        """Kill the server, once the queue is old enough to be there afterwards."""
        while not self._settled.over:
            time.sleep(self._settled.slice())
        self._server.kill()
        self._close()

    def _forget(self, consumer: int) -> None:
        """Its deliveries were those of a channel that is closed."""
        for key in [key for key in self._letters if key[0] == consumer]:
            del self._letters[key]

    def _answers(self, how: str, consumer: int, message: Item, **more: Any) -> bool:
        letter = self._letters.pop((consumer, message), None)
        if letter is None:
            return False
        channel = self._consumers[consumer]
        getattr(channel, how)(letter[0], **more)
        channel.queue_declare(self._queue, passive=True)    # the queue has handled it before this
        return True

    def _close(self) -> None:
        self._letters.clear()
        for channel in (self._producer, *self._consumers):
            with contextlib.suppress(self._amqp.exceptions.AMQPError):    # the server has
                channel.connection.close()


class _Burying(_Rabbit):
    """It has an exchange for dead letters, which puts them into a queue of their own."""

    def reject(self, consumer: int, message: Item) -> bool:
        return self._answers("basic_reject", consumer, message, requeue=False)

    def dead(self) -> Item | None:
        left = Countdown(_DEAD_SECONDS)    # a dead letter is on its way for a moment
        while True:
            method, _, body = self._producer.basic_get(self._dead, auto_ack=True)
            if method is not None:
                message: Item = json.loads(body)
                return message
            if left.over:
                return None
            time.sleep(_LOOK_SECONDS)

    def _letters_to(self) -> Mapping[str, Any]:
        return {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self._dead}


class _Classic(_Rabbit):
    """A classic queue, which pushes to a subscriber, and has a limit for each channel."""

    def limit(self, consumer: int, most: int) -> bool:
        if most > _LIMIT_MAX:
            raise Declined("more-than-16-bits")
        self._consumers[consumer].basic_qos(prefetch_count=most, global_qos=True)
        return True

    def fetch(self, channel: Any) -> Any:
        """The message that a subscription gives, or None when it has had the time to."""
        got: list[Any] = []
        tag = channel.basic_consume(self._queue, lambda _, method, properties, body: got.append(
            (method.delivery_tag, properties.headers, body)))
        # The queue answers after it has sent; the channel handles what was sent before the second.
        for _ in range(2):
            channel.queue_declare(self._queue, passive=True)
        channel.connection.process_data_events(0)
        channel.basic_cancel(tag)
        return got[0] if got else None


class RabbitClassic(_Classic, _Burying):
    """A full queue refuses: its overflow is ``reject-publish``."""

    policy: ClassVar[str] = "refuse"
    name = "a classic queue of RabbitMQ"

    def arguments(self, capacity: int) -> Mapping[str, Any]:
        """The arguments of the queue."""
        return {"x-max-length": capacity, "x-overflow": "reject-publish", **self._letters_to()}


class RabbitDropHead(_Classic):
    """A full queue drops its oldest message; it has no dead letters, among which that would be."""

    policy: ClassVar[str] = "drop-head"
    name = "a classic queue of RabbitMQ that drops its head"

    def arguments(self, capacity: int) -> Mapping[str, Any]:
        """The arguments of the queue."""
        return {"x-max-length": capacity, "x-overflow": "drop-head"}


class RabbitQuorum(_Burying):
    """A quorum queue of one node. It counts deliveries, and writes the count on a message. What
    comes back is given before what is new, in the order in which it came back."""

    policy: ClassVar[str] = "any-order"
    name = "a quorum queue of RabbitMQ"

    def arguments(self, capacity: int) -> Mapping[str, Any]:
        """The arguments of the queue."""
        self._counts: dict[Item, int] = {}
        return {"x-queue-type": "quorum", **self._letters_to()}

    def publish(self, message: Item) -> bool:
        self._counts[message] = 0
        return super().publish(message)

    def receive(self, consumer: int) -> Item | None:
        message = super().receive(consumer)
        if message is not None:
            headers = self._letters[consumer, message][1] or {}
            self._counts[message] = headers.get("x-delivery-count", 0) + 1
        return message

    def count(self, message: Item) -> int | None:
        return self._counts.get(message)

    def restart(self) -> bool:
        self._kill()
        self._server.start()
        # Before that a queue refuses what is published, and does not answer other requests.
        self._server.wait_for_leader(self._queue)
        self._connect()
        return True

    def tries(self, most: int) -> bool:
        if self._counts:
            raise Declined("the-limit-is-that-of-a-new-queue")
        self._producer.queue_delete(self._queue)
        self._arguments.pop("x-delivery-limit", None)
        if most:    # RabbitMQ counts those after the first
            self._arguments["x-delivery-limit"] = most - 1
        self._declare()
        return True
