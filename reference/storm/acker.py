"""The acker: one number for each tuple tree, and nothing but those numbers.

Theory of operation
-------------------
Every edge of a tree has an id of 64 bits, which is xored into the root's number once when the
tuple is emitted and once when it is acked. INIT brings the ids of the spout's own edges and
names the spout task to answer; an ACK brings a bolt's edge with those of the tuples that the
bolt emitted from it. Messages come in any order. A root's tree is complete when INIT has come
and the number is zero.

    INIT            creates the entry if there is none, adds its value, names the task
    ACK             creates the entry if there is none, adds its value
    FAIL            creates the entry if there is none, marks it, and renews its lifetime
    RESET_TIMEOUT   creates the entry if there is none, and renews its lifetime
    tick            rotates; entries that have not been renewed for ``buckets`` ticks are dropped

After each message about a root of a known task: zero sends ack; otherwise a mark sends fail;
either forgets the root; otherwise a RESET_TIMEOUT is passed on. Zero comes first: a tree that is
complete was processed, even if one of its tuples was failed. An expiry sends nothing,
since the spout has its own timeout, which is shorter.

Invariants
----------
* for an entry, ``value`` is the xor of all values received for it;
* an entry that is left after a call is not both known and either complete or failed;
* no entry survives ``buckets`` ticks without FAIL or RESET_TIMEOUT;
* a call that raises has changed nothing.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, NamedTuple

from .rotating import RotatingMap

__all__ = ["BUCKETS", "Acker", "AckerMisuse", "Entry", "Statistics", "Tell", "Telling"]

BUCKETS: Final = 3
"""One more than the spout has, so that a spout gives a root up before its acker does."""

ID_BITS: Final = 64


class AckerMisuse(ValueError):
    """A message that no spout and no bolt could have sent; the acker is as it was before.

    Usual causes: an id that is negative or longer than 64 bits, a negative task.
    """


class Telling(enum.Enum):
    """A message to a spout task about one of its roots."""

    ACK = "ack"
    FAIL = "fail"
    RESET_TIMEOUT = "reset_timeout"


class Tell(NamedTuple):
    """A message to the spout task ``to`` about ``root``."""

    to: int
    telling: Telling
    root: int


@dataclass(frozen=True, slots=True)
class Entry:
    """The acker's record of a root. ``task`` is None until INIT has come."""

    value: int = 0
    task: int | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts since the acker was made: entries now, at most, and how they ended."""

    entries: int
    peak: int
    acked: int
    failed: int
    expired: int


class Acker:
    """Follows any number of roots. ``buckets`` is the lifetime of an entry in ticks.

    Raises ``RotatingMisuse`` for a number of buckets out of range. Each call returns what is
    to be sent to spouts: nothing, or one message.
    """

    def __init__(self, buckets: int = BUCKETS) -> None:
        self._entries: RotatingMap[int, Entry] = RotatingMap(buckets)
        self._peak = self._acked = self._failed = self._expired = 0

    # -- messages -----------------------------------------------------------------------------

    def init(self, root: int, value: int, task: int) -> tuple[Tell, ...]:
        """INIT: the xor of the edges that the spout task emitted (0 if none)."""
        self._check(root=root, value=value)
        if type(task) is not int or task < 0:
            raise AckerMisuse(f"a spout task is an integer from 0 up, not {task!r}")
        entry = self._entries.get(root) or Entry()
        self._keep(root, Entry(self._with_init(entry, value), task, entry.failed))
        return self._conclude(root)

    def ack(self, root: int, value: int) -> tuple[Tell, ...]:
        """ACK: the xor of an edge with those of the tuples emitted from it."""
        self._check(root=root, value=value)
        entry = self._entries.get(root) or Entry()
        self._keep(root, Entry(self._with_ack(entry, value), entry.task, entry.failed))
        return self._conclude(root)

    def fail(self, root: int) -> tuple[Tell, ...]:
        """FAIL: a bolt has failed a tuple of the tree."""
        self._check(root=root)
        entry = self._entries.get(root) or Entry()
        self._renew(root, Entry(entry.value, entry.task, failed=True))
        return self._conclude(root)

    def reset_timeout(self, root: int) -> tuple[Tell, ...]:
        """RESET_TIMEOUT: a bolt is still at work, and asks for more time."""
        self._check(root=root)
        self._renew(root, self._entries.get(root) or Entry())
        told = self._conclude(root)
        entry = self._entries.get(root)
        if told or entry is None or entry.task is None:
            return told
        return (Tell(entry.task, Telling.RESET_TIMEOUT, root),)

    def tick(self) -> tuple[Tell, ...]:
        """A period of the message timeout has passed: the oldest entries expire silently."""
        self._expired += len(self._entries.rotate())
        return ()

    # -- looking at it ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, root: int) -> Entry | None:
        """The entry of a root, if there is one."""
        return self._entries.get(root)

    def statistics(self) -> Statistics:
        """A snapshot; nothing in it changes later."""
        return Statistics(
            len(self._entries), self._peak, self._acked, self._failed, self._expired)

    # -- the few places where something changes -----------------------------------------------

    def _check(self, **ids: int) -> None:
        for name, number in ids.items():
            if type(number) is not int or not 0 <= number < 1 << ID_BITS:
                raise AckerMisuse(f"a {name} is an integer of {ID_BITS} bits, not {number!r}")

    def _with_init(self, entry: Entry, value: int) -> int:
        return entry.value ^ value

    def _with_ack(self, entry: Entry, value: int) -> int:
        return entry.value ^ value

    def _keep(self, root: int, entry: Entry) -> None:
        """Store an entry without renewing its lifetime, which begins if the entry is new."""
        if root in self._entries:
            self._entries.replace(root, entry)
        else:
            self._renew(root, entry)

    def _renew(self, root: int, entry: Entry) -> None:
        self._entries.put(root, entry)
        self._peak = max(self._peak, len(self._entries))

    def _conclude(self, root: int) -> tuple[Tell, ...]:
        entry = self._entries.get(root)
        telling = None if entry is None else self._telling(entry)
        if entry is None or telling is None:
            return ()
        self._forget(root)
        if telling is Telling.ACK:
            self._acked += 1
        else:
            self._failed += 1
        return (Tell(self._task_of(entry), telling, root),)

    def _telling(self, entry: Entry) -> Telling | None:
        """The message of an entry to its spout, if that is known: zero first, then the mark."""
        if entry.task is None:
            return None
        if entry.value == 0:
            return Telling.ACK
        return Telling.FAIL if entry.failed else None

    def _task_of(self, entry: Entry) -> int:
        return 0 if entry.task is None else entry.task

    def _forget(self, root: int) -> None:
        if root in self._entries:
            self._entries.remove(root)
