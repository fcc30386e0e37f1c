"""A table of a real PostgreSQL as a queue: consumers take rows by SELECT … FOR UPDATE SKIP LOCKED.

What is in flight is a row that a transaction has locked. The transaction's commit deletes the row,
which is the ack; its rollback, or the end of its connection, unlocks it. So each delivery has a
connection of its own. The server ends a transaction that has been idle for too long
(``idle_in_transaction_session_timeout``), which is the timeout. Nothing is kept of a delivery that
is rolled back, so no deliveries are counted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.notation.errors import TargetError
from ...adapters.base import missing
from ...adapters.port_adapter import PortAdapter
from ...computer.patience import Countdown
from ...ports.base import Port
from ...services.postgresql import USER, PostgreSQL
from ...services.server import HOST, shared
from .clock import RealTicks
from .port import PORT

__all__ = ["SkipLocked"]

Item = int | str

_TICK_SECONDS: Final = 0.6
_SLACK_SECONDS: Final = 0.3
"""A transaction may be idle for so much less than its ticks."""
_LATE_SECONDS: Final = 0.25
_GONE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.005

_MAKE: Final = """
    DROP TABLE IF EXISTS queue;
    CREATE TABLE queue (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message text NOT NULL,
        dead boolean NOT NULL DEFAULT false)"""
_PUBLISH: Final = "INSERT INTO queue (message) VALUES (%s)"
_RECEIVE: Final = (
    "SELECT message FROM queue WHERE NOT dead ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1")
_ACK: Final = "DELETE FROM queue WHERE message = %s"
_REJECT: Final = "UPDATE queue SET dead = true WHERE message = %s"
_BURY: Final = (
    "DELETE FROM queue WHERE id = (SELECT id FROM queue WHERE dead ORDER BY id LIMIT 1) "
    "RETURNING message")
_ARE_THERE: Final = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"


class SkipLocked(PortAdapter):
    """The oldest row that no transaction has locked is given."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    name = "a table of PostgreSQL, by SKIP LOCKED"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with an empty table; the server is the one of this process."""
        try:
            import psycopg
        except ImportError as error:
            raise missing("psycopg", "brokers") from error
        self._sql: Any = psycopg
        self._ticks = RealTicks(_TICK_SECONDS, settings["timeout"], late=_LATE_SECONDS)
        idle = int(1000 * (settings["timeout"] * _TICK_SECONDS - _SLACK_SECONDS))
        self._options = f"-c idle_in_transaction_session_timeout={idle}"
        self._held: dict[tuple[int, Item], Any] = {}
        self._spare: Any = None
        self._server = shared(PostgreSQL)
        self._producer = self._connect(autocommit=True)
        self._producer.execute(_MAKE)

    def publish(self, message: Item) -> bool:
        self._producer.execute(_PUBLISH, [json.dumps(message)])
        return True

    def receive(self, consumer: int) -> Item | None:
        self._ticks.check()
        connection, self._spare = self._spare or self._connect(), None
        row = connection.execute(_RECEIVE).fetchone()
        if row is None:
            connection.rollback()
            self._spare = connection
            return None
        message: Item = json.loads(row[0])
        self._held[consumer, message] = connection
        self._ticks.given(message, consumer)
        return message

    def ack(self, consumer: int, message: Item) -> bool:
        return self._commits(consumer, message, _ACK)

    def reject(self, consumer: int, message: Item) -> bool:
        return self._commits(consumer, message, _REJECT)

    def requeue(self, consumer: int, message: Item) -> bool:
        return self._commits(consumer, message, "")

    def dead(self) -> Item | None:
        row = self._producer.execute(_BURY).fetchone()
        message: Item | None = None if row is None else json.loads(row[0])
        return message

    def disconnect(self, consumer: int) -> bool:
        self._ticks.check()
        self._ticks.left(consumer)
        ended = [key for key in self._held if key[0] == consumer]
        processes = [self._held[key].info.backend_pid for key in ended]
        for key in ended:
            self._held.pop(key).close()
        left = Countdown(_GONE_SECONDS)    # the server learns of it a little later than we
        while self._producer.execute(_ARE_THERE, [processes]).fetchone()[0]:
            if left.over:
                raise TargetError("PostgreSQL keeps the transaction of a connection that is closed")
            time.sleep(_LOOK_SECONDS)
        return True

    def advance(self, ticks: int) -> bool:
        self._ticks.advance(ticks)
        return True

    def restart(self) -> bool:
        self._close()
        self._server.restart()
        self._ticks.clear()
        self._producer = self._connect(autocommit=True)
        return True

    def close(self) -> None:
        """Close the connections; the server serves the next session."""
        if hasattr(self, "_producer"):
            self._close()

    def _connect(self, *, autocommit: bool = False) -> Any:
        return self._sql.connect(
            host=HOST, port=self._server.port, user=USER, dbname=USER, options=self._options,
            autocommit=autocommit)

    def _commits(self, consumer: int, message: Item, command: str) -> bool:
        """Run a command in the transaction of a delivery, and commit; without one, roll it back.
        False if there is no such transaction any more."""
        self._ticks.check()
        connection = self._held.pop((consumer, message), None)
        if connection is None:
            return False
        try:
            with connection:
                if not command:
                    connection.rollback()
                    return True
                return bool(connection.execute(command, [json.dumps(message)]).rowcount == 1)
        except self._sql.OperationalError:
            return False    # the server has ended it
        finally:
            if self._ticks.holds(consumer, message):
                self._ticks.over(message)

    def _close(self) -> None:
        for connection in (self._producer, self._spare, *self._held.values()):
            if connection is not None:
                connection.close()
        self._held.clear()
        self._spare = None
