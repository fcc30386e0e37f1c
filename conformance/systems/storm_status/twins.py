"""Broken twins of Storm's backpressure status: the reference, with one hook overridden.

Named after the issue of the real bug where there was one, else after the remark
of docs/sources (D4, D5, …) whose reading of the text it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from ....reference.storm.status import RemoteFlags, Sent, Status, StatusTracker, Steps
from ...suites.twin import Twins
from .adapter import ReferenceStatus

__all__ = ["TWINS"]

Put = Callable[[], object]


def _parts_of(bug: type[StatusTracker] | type[RemoteFlags]) -> Mapping[str, type]:
    return {"tracker" if issubclass(bug, StatusTracker) else "view": bug}


TWINS: Final = Twins(
    "storm.status", ReferenceStatus, ("reference.storm.status",), _parts_of)


# ---- the receiving worker: flags and statuses -------------------------------------------------


@TWINS.twin(
    "STORM-3141", "STORM-O1", "only the first task is known to the tracker",
    "STORM-3141: tuples for an executor's other tasks")
class FirstTaskOnly(StatusTracker):
    """Only an executor's first task is known to the tracker."""

    def _mark(self, task: int, before: int) -> bool:
        return task == min(self._flags) and super()._mark(task, before)


@TWINS.twin(
    "STORM-3141-review", "STORM-O1", "a status is sent at every spill but the first",
    "STORM-3141, in review: getAndSet without its negation")
class NotNegated(StatusTracker):
    """``recordBackPressure`` returns the result of getAndSet: true if the flag was set before."""

    def _mark(self, task: int, before: int) -> bool:
        was_set = self._flags[task]
        super()._mark(task, before)
        return was_set


@TWINS.twin(
    "STORM-1087", "STORM-O1", "backpressure is never switched on",
    "STORM-1087: automatic backpressure stays off")
class NeverOn(StatusTracker):
    """No task is ever marked: backpressure is off."""

    def _mark(self, task: int, before: int) -> bool:
        return False


@TWINS.twin("no-reminder", "STORM-O2", "ON is sent once, and not again", "a lost ON stays lost")
class NoReminder(StatusTracker):
    """ON is sent only once."""

    def _is_reminder_due(self, task: int, before: int) -> bool:
        return False


@TWINS.twin("early-reminder", "STORM-O4", "the reminder comes one tuple early", ">= for >")
class EarlyReminder(StatusTracker):
    """The growth is compared with >= instead of >."""

    def _is_reminder_due(self, task: int, before: int) -> bool:
        return before - self._told_at[task] >= self.reminder


@TWINS.twin(
    "PR-2502-review", "STORM-O1", "a flag is looked up, and set later",
    "storm#review-2502: a task is moved between two maps while the receiver writes")
class LookingInTwoMaps(StatusTracker):
    """A task is looked up in one map, and moved to the other one later.

    Meanwhile the check may have moved it back: then no status is sent, and the tuple waits in
    the overflowQ of a task that counts as free.
    """

    def _spill(self, task: int, before: int, put: Put) -> Steps:
        was_set = self._flags[task]
        yield ()
        put()
        yield ()
        if not was_set or self._is_reminder_due(task, before):
            self._mark(task, before)
            yield from self._tell()


@TWINS.twin(
    "put-last", "STORM-O6", "the tuple is put after its flag was set",
    "WorkerState.transferLocalBatch: ON is sent, then the tuple is put")
class MarkedBeforePut(StatusTracker):
    """The flag is set, and only then the tuple is put into the overflowQ."""

    def _spill(self, task: int, before: int, put: Put) -> Steps:
        worth = self._mark(task, before)
        yield ()
        if worth:
            yield from self._tell()
        put()
        yield ()


@TWINS.twin(
    "STORM-3751", "STORM-O1", "a stray tuple ends the receiving thread",
    "STORM-3751: a tuple for a task that is no longer local")
class DyingOfStrays(StatusTracker):
    """A tuple for a task that is no longer here ends the receiving thread."""

    def spill(self, task: int, before: int, put: Put) -> Steps:
        """Do nothing once the thread has died."""
        if self.__dict__.get("_is_dead", False):
            return iter(())
        self.__dict__["_is_dead"] = task not in self._flags
        return super().spill(task, before, put)


@TWINS.twin(
    "strays", "STORM-O12", "a stray tuple makes its task a backlogged one",
    "a worker that answers for tasks it lost in a rebalance")
class TellingOfStrays(StatusTracker):
    """A tuple for a task that is no longer here makes the task a backlogged one."""

    def spill(self, task: int, before: int, put: Put) -> Steps:
        """Track the task, local or not."""
        self._flags.setdefault(task, False)
        self._told_at.setdefault(task, 0)
        return super().spill(task, before, put)


@TWINS.twin(
    "STORM-3148", "STORM-O5", "the system task is reported as backlogged",
    "STORM-3148: task -1 in a status, and the client fails on it")
class SystemTask(StatusTracker):
    """The system task, -1, counts as one that may be backlogged."""

    def _read(self, number: int) -> Status:
        status = super()._read(number)
        return replace(status, blocked=status.blocked | {-1}) if status.blocked else status


@TWINS.twin(
    "one-task", "STORM-O5", "a status names one backlogged task only",
    "a delta where a snapshot was promised")
class OneTaskAStatus(StatusTracker):
    """A status names the task that was marked first, not all of them."""

    def _read(self, number: int) -> Status:
        status = super()._read(number)
        return replace(status, blocked=frozenset(sorted(status.blocked)[:1]))


# ---- the receiving worker: OFF, repetition, new connections -----------------------------------


@TWINS.twin(
    "D6", "STORM-O8", "no status is ever sent again",
    "WorkerState.refreshBackPressureStatus; JStorm #404: a lost 'stop'")
class NeverRepeating(StatusTracker):
    """A status that was sent once is not sent again."""

    def _is_repetition_due(self) -> bool:
        return False


@TWINS.twin(
    "STORM-1949", "STORM-O8", "an OFF that was lost is not sent again",
    "STORM-1949: the flag was changed before its writing had succeeded")
class NeverRepeatingOff(StatusTracker):
    """The flag is cleared before OFF is known to have been written, and then is forgotten."""

    def _is_repetition_due(self) -> bool:
        return bool(self.blocked) and super()._is_repetition_due()


@TWINS.twin(
    "repeating", "STORM-O13", "the status is sent at every check, changed or not",
    "a mutant of the repetition: each check for every n-th")
class RepeatingAlways(StatusTracker):
    """The status is sent at every check, changed or not."""

    def _is_repetition_due(self) -> bool:
        return True


@TWINS.twin(
    "repeating-from-then-on", "STORM-O13", "after one repetition the status is sent at every check",
    "a count of checks that is not reset")
class RepeatingFromThenOn(StatusTracker):
    """The checks are counted, and the count is not reset when the status has been sent."""

    def _is_repetition_due(self) -> bool:
        self._checks = getattr(self, "_checks", 0) + 1
        return self._checks >= self.repeat


@TWINS.twin(
    "silent-off", "STORM-O3", "OFF waits for the next repetition",
    "a sender is held back for no reason")
class SilentOff(StatusTracker):
    """The check clears the flags and sends no status until the next repetition."""

    def check(self, overflow_sizes: Mapping[int, int]) -> tuple[Sent, ...]:
        """Send only a repetition that is due anyway."""
        for task in self.blocked:
            if not overflow_sizes.get(task, 0):
                self._clear(task)
        return super().check(overflow_sizes)


@TWINS.twin("off-early", "STORM-O5", "OFF is sent with one tuple left", "off by one")
class OffTooEarly(StatusTracker):
    """OFF is sent while one tuple is left in the overflowQ."""

    def check(self, overflow_sizes: Mapping[int, int]) -> tuple[Sent, ...]:
        """Take an overflowQ of one tuple for empty."""
        return super().check({task: size - 1 for task, size in overflow_sizes.items() if size})


@TWINS.twin(
    "D4-number", "STORM-O10", "the number is taken after the flags were read",
    "BackPressureStatus's constructor")
class StatusNumberedLate(StatusTracker):
    """The number is taken after the flags were read."""

    def _tell(self, only: str | None = None) -> Steps:
        unnumbered = self._read(0)
        yield ()
        status = replace(unnumbered, number=self._take_number())
        yield ()
        if only is None:
            self._quiet_checks = 0
        yield tuple(Sent(each, status) for each in self._connections if only in (None, each))


@TWINS.twin(
    "D5", "STORM-O10", "a new connection is added after its snapshot", "Server.authenticated")
class AddedAfterSnapshot(StatusTracker):
    """A new connection gets its snapshot first, and is added to the known ones later."""

    def _connect(self, connection: str) -> Steps:
        status = self._read(self._take_number())
        yield ()
        yield (Sent(connection, status),)
        self._connections[connection] = None
        yield ()


@TWINS.twin(
    "no-snapshot", "STORM-O7", "a new connection gets no snapshot",
    "a sender that waits for the next change")
class NoSnapshot(StatusTracker):
    """A new connection gets a status only at the next change."""

    def _connect(self, connection: str) -> Steps:
        self._connections[connection] = None
        yield ()


# ---- the sending worker -----------------------------------------------------------------------


@TWINS.twin(
    "D4", "STORM-O9", "the sender believes every status, however old",
    "StormClientHandler: the id is never compared")
class BelievingAll(RemoteFlags):
    """Numbers are not compared."""

    def _is_news(self, status: Status) -> bool:
        return True


@TWINS.twin(
    "global-throttle", "STORM-O9", "a sender stops for all tasks as soon as one is backlogged",
    "Storm 1.x: one 'throttle' flag for the topology")
class StoppingForAllTasks(RemoteFlags):
    """One flag for all: while any task is backlogged, the sender holds back from all tasks."""

    def _apply(self, status: Status) -> None:
        super()._apply(status)
        self._flags = dict.fromkeys(self._flags, any(self._flags.values()))


@TWINS.twin(
    "all-is-news", "STORM-O9", "the sender reports every status as news",
    "an answer that is not checked")
class SayingAllIsNews(RemoteFlags):
    """An older status is ignored, and reported as news."""

    def hear(self, status: Status) -> bool:
        """Report every status as news."""
        super().hear(status)
        return True


@TWINS.twin(
    "D4-incarnation", "STORM-O9", "numbers are compared across restarts",
    "ids restart at 0 with the worker")
class OneIncarnation(RemoteFlags):
    """Numbers are compared across restarts of the worker, which start them over."""

    def _is_news(self, status: Status) -> bool:
        return status.number > self._newest[status.worker][1]


@TWINS.twin(
    "STORM-3763", "STORM-O9", "the first status of a connection is ignored",
    "STORM-3763: sent before the handshake was over, and ignored")
class DeafDuringHandshake(RemoteFlags):
    """The first status of a new connection comes before the handshake is over."""

    def disconnected(self, worker: str) -> None:
        """Remember that the next status will be the first one."""
        super().disconnected(worker)
        self._is_shaking_hands = True

    def hear(self, status: Status) -> bool:
        """Ignore the first status of a connection."""
        if self.__dict__.pop("_is_shaking_hands", False):
            return False
        return super().hear(status)


@TWINS.twin(
    "forgetting", "STORM-O9", "flags are forgotten when the connection breaks",
    "a reconnecting sender floods a backlogged task")
class ForgettingOnDisconnect(RemoteFlags):
    """A sender that lost its connection forgets the flags that it has heard."""

    def disconnected(self, worker: str) -> None:
        """Clear all flags when the connection is lost."""
        super().disconnected(worker)
        self._flags = dict.fromkeys(self._flags, False)


@TWINS.twin(
    "STORM-2744", "STORM-O9", "OFF is not applied",
    "STORM-2744, STORM-1696: backpressure stays on")
class OnlyOn(RemoteFlags):
    """The part of a status about free tasks is not applied."""

    def _apply(self, status: Status) -> None:
        super()._apply(replace(status, free=frozenset()))


class SystemTaskInStatus(StatusTracker):
    """Statuses name the system task, -1, as well."""

    def _read(self, number: int) -> Status:
        status = super()._read(number)
        return replace(status, free=status.free | {-1})


class FailingOnSystemTask(RemoteFlags):
    """A task that is out of range ends the reading of a status; the rest is not applied."""

    def _apply(self, status: Status) -> None:
        if -1 not in status.blocked | status.free:
            super()._apply(status)


TWINS.add(
    "STORM-3148-client", "STORM-O9", "the system task in a status ends its reading",
    "STORM-3148: an index out of bounds in the client aborts the rest of the status",
    parts={"tracker": SystemTaskInStatus, "view": FailingOnSystemTask})


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("STORM-3141", 40, 300)
