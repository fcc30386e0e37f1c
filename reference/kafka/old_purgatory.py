"""The purgatory before the timing wheels: one delay queue of requests, purged by its length.

The timer cannot remove a request, so a completed one stays in it until its timeout or until a
purge. After every request that expires, and once more when none is due, the reaper looks at two
lengths, of the watcher lists together and of the delay queue; whichever has reached
``purge_interval`` is scanned for completed requests. Both are long as well when many requests are
pending, and then every single expiry costs a scan.

It keeps the rules of the new one about completion: once, for each trigger, and with
``on_expiration`` for the winner only and after ``on_complete``. The original called that first, and
also of requests that were completed long before (KAFKA-1989); this one does not. Between two rounds
fewer than ``purge_interval`` entries of the watcher lists are of completed requests. It has no
estimate, ``delayed`` is not the number of pending requests, and it cannot cancel a key.

Sans-I/O, with the same calls as the new one.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels", 'Old Purgatory Design';
DelayedOperationPurgatory of Kafka 0.8.2.
"""

from __future__ import annotations

from typing import Final

from .delay_queue import DelayQueue, LockedDelayQueue
from .delayed_operation import DelayedOperation
from .locks import LockFactory
from .purgatory import PURGE_INTERVAL, Waiting
from .raising import raise_all
from .watcher_lists import SHARDS

__all__ = ["OldPurgatory"]


class OldPurgatory(Waiting):
    """The purgatory over one delay queue. See ``Purgatory`` for the arguments."""

    __slots__ = ("_queue",)

    def __init__(
        self, purge_interval: int = PURGE_INTERVAL, start: int = 0, *,
        lock: LockFactory | None = None, shards: int = SHARDS,
    ) -> None:
        super().__init__(purge_interval, start, lock, shards)
        self._queue: Final[DelayQueue[DelayedOperation]] = (
            DelayQueue() if lock is None else LockedDelayQueue(lock))

    @property
    def delayed(self) -> int:
        """Requests in the delay queue, completed ones included."""
        return len(self._queue)

    def next_expiration(self) -> int | None:
        """The earliest timeout in the queue (ms), of a completed request or not."""
        return self._queue.first_time()

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        self._queue.offer(operation, now + operation.delay)

    def advance(self, now: int, rounds: int | None = None) -> bool:
        """Run rounds until nothing is due at ``now`` (ms), or at most ``rounds`` of them.

        True if anything was due. Raises ``PurgatoryMisuse`` if the time goes backwards, and at the
        end the exceptions of callbacks.
        """
        self._tell_time(now)
        done = 0
        errors: list[Exception] = []
        while self._go_round(now, errors):
            done += 1
            if done == rounds:
                break
        raise_all("requests", errors)
        return done > 0

    def _go_round(self, now: int, errors: list[Exception]) -> bool:
        operation = self._queue.poll(now)
        if operation is not None:
            try:
                self._expire(operation)
            except Exception as error:      # noqa: BLE001 raised when the round is over
                errors.append(error)
        if self.watched >= self.purge_interval:
            self._purge_lists()
        if self.delayed >= self.purge_interval:
            self._queue.discard(_is_completed)
        return operation is not None

    def _expire(self, operation: DelayedOperation) -> None:
        operation.run()


def _is_completed(operation: DelayedOperation) -> bool:
    return operation.completed
