"""Broken twins of Storm's backpressure status: the reference, with one hook overridden.

Named after the issue of the real bug where there was one, else after the remark
of docs/sources (D4, D5, …) whose reading of the text it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ....reference.storm.status import RemoteFlags, Sent, Status, StatusTracker, Steps
from .adapter import ReferenceStatus

__all__ = ["TWINS", "StatusTwin"]

Put = Callable[[], object]


@dataclass(frozen=True, slots=True)
class StatusTwin:
    """Two workers of which one has a bug: see ``catalogue.Specimen``."""

    name: str
    rule: str
    bug: str
    history: str
    tracker: type[StatusTracker] = StatusTracker
    view: type[RemoteFlags] = RemoteFlags
    suite: str = "storm.status"
    equivalent: str = ""

    def adapter(self) -> ReferenceStatus:
        """A new adapter of this twin, behind the port ``storm.status``."""
        adapter = ReferenceStatus()
        adapter.tracker, adapter.view = self.tracker, self.view
        adapter.name = f"zoo:{self.name}"
        return adapter


# ---- the receiving worker: what is marked and told --------------------------------------------


class FirstTaskOnly(StatusTracker):
    """Only an executor's first task is known to the tracker."""

    def _mark(self, task: int, before: int) -> bool:
        return task == min(self._flags) and super()._mark(task, before)


class NotNegated(StatusTracker):
    """``recordBackPressure`` returns what getAndSet returns: whether the flag was set before."""

    def _mark(self, task: int, before: int) -> bool:
        was_set = self._flags[task]
        super()._mark(task, before)
        return was_set


class NeverOn(StatusTracker):
    """No task is ever marked: backpressure is off."""

    def _mark(self, task: int, before: int) -> bool:
        return False


class NoReminder(StatusTracker):
    """ON is told once."""

    def _is_reminder_due(self, task: int, before: int) -> bool:
        return False


class EarlyReminder(StatusTracker):
    """The growth is compared with >= instead of >."""

    def _is_reminder_due(self, task: int, before: int) -> bool:
        return before - self._told_at[task] >= self.reminder


class LookingInTwoMaps(StatusTracker):
    """A task is looked up in one map, and moved to the other one later.

    Meanwhile the check may have moved it back: then nobody is told, and the tuple waits in
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


class MarkedBeforePut(StatusTracker):
    """The flag is set, and only then the tuple is put into the overflowQ."""

    def _spill(self, task: int, before: int, put: Put) -> Steps:
        worth = self._mark(task, before)
        yield ()
        if worth:
            yield from self._tell()
        put()
        yield ()


class DyingOfStrays(StatusTracker):
    """A tuple for a task that is no longer here ends the receiving thread."""

    def spill(self, task: int, before: int, put: Put) -> Steps:
        """Nothing, once it has died."""
        if self.__dict__.get("_is_dead", False):
            return iter(())
        self.__dict__["_is_dead"] = task not in self._flags
        return super().spill(task, before, put)


class TellingOfStrays(StatusTracker):
    """A tuple for a task that is no longer here makes the task a backlogged one."""

    def spill(self, task: int, before: int, put: Put) -> Steps:
        """Any task is tracked, local or not."""
        self._flags.setdefault(task, False)
        self._told_at.setdefault(task, 0)
        return super().spill(task, before, put)


class SystemTask(StatusTracker):
    """The system task, -1, counts as one that may be backlogged."""

    def _read(self, number: int) -> Status:
        status = super()._read(number)
        return replace(status, blocked=status.blocked | {-1}) if status.blocked else status


class OneTaskAStatus(StatusTracker):
    """A status names the task that was marked first, not all of them."""

    def _read(self, number: int) -> Status:
        status = super()._read(number)
        return replace(status, blocked=frozenset(sorted(status.blocked)[:1]))


# ---- the receiving worker: OFF, repetition, new connections -----------------------------------


class NeverRepeating(StatusTracker):
    """What was told once is not told again."""

    def _is_repetition_due(self) -> bool:
        return False


class NeverRepeatingOff(StatusTracker):
    """The flag is cleared before OFF is known to have been written, and then is forgotten."""

    def _is_repetition_due(self) -> bool:
        return bool(self.blocked) and super()._is_repetition_due()


class RepeatingAlways(StatusTracker):
    """The status is told at every check, changed or not."""

    def _is_repetition_due(self) -> bool:
        return True


class RepeatingFromThenOn(StatusTracker):
    """The checks are counted, and not counted anew when the status has been told."""

    def _is_repetition_due(self) -> bool:
        self._checks = getattr(self, "_checks", 0) + 1
        return self._checks >= self.repeat


class SilentOff(StatusTracker):
    """The check clears the flags and tells nobody, until the next repetition."""

    def check(self, overflow_sizes: Mapping[int, int]) -> tuple[Sent, ...]:
        """Only what is due anyway."""
        for task in self.blocked:
            if not overflow_sizes.get(task, 0):
                self._clear(task)
        return super().check(overflow_sizes)


class OffTooEarly(StatusTracker):
    """One tuple is left in the overflowQ, and OFF is told."""

    def check(self, overflow_sizes: Mapping[int, int]) -> tuple[Sent, ...]:
        """A size of one counts as none."""
        return super().check({task: size - 1 for task, size in overflow_sizes.items() if size})


class NumberedAfterReading(StatusTracker):
    """The number is taken after the flags were read."""

    def _tell(self, only: str | None = None) -> Steps:
        unnumbered = self._read(0)
        yield ()
        status = replace(unnumbered, number=self._take_number())
        yield ()
        if only is None:
            self._quiet_checks = 0
        yield tuple(Sent(each, status) for each in self._connections if only in (None, each))


class AddedAfterSnapshot(StatusTracker):
    """A new connection gets its snapshot first, and is added to those that are told later."""

    def _connect(self, connection: str) -> Steps:
        status = self._read(self._take_number())
        yield ()
        yield (Sent(connection, status),)
        self._connections[connection] = None
        yield ()


class NoSnapshot(StatusTracker):
    """A new connection is told of the next change only."""

    def _connect(self, connection: str) -> Steps:
        self._connections[connection] = None
        yield ()


# ---- the sending worker -----------------------------------------------------------------------


class BelievingAll(RemoteFlags):
    """Numbers are not compared."""

    def _is_news(self, status: Status) -> bool:
        return True


class GlobalThrottle(RemoteFlags):
    """One flag for all: where any task is backlogged, the sender holds back from everybody."""

    def _apply(self, status: Status) -> None:
        super()._apply(status)
        self._flags = dict.fromkeys(self._flags, any(self._flags.values()))


class SayingAllIsNews(RemoteFlags):
    """An older status is ignored, and said to be news."""

    def hear(self, status: Status) -> bool:
        """Whatever is heard counts as news."""
        super().hear(status)
        return True


class OneIncarnation(RemoteFlags):
    """Numbers are compared across restarts of the worker, where they begin anew."""

    def _is_news(self, status: Status) -> bool:
        return status.number > self._newest[status.worker][1]


class DeafDuringHandshake(RemoteFlags):
    """The first status of a new connection comes before the handshake is over."""

    def disconnected(self, worker: str) -> None:
        """The next status will be the first one."""
        super().disconnected(worker)
        self._is_shaking_hands = True

    def hear(self, status: Status) -> bool:
        """Ignore the first one."""
        if self.__dict__.pop("_is_shaking_hands", False):
            return False
        return super().hear(status)


class ForgettingOnDisconnect(RemoteFlags):
    """A sender that lost its connection forgets what it was told."""

    def disconnected(self, worker: str) -> None:
        """A lost connection sets all flags free."""
        super().disconnected(worker)
        self._flags = dict.fromkeys(self._flags, False)


class OnlyOn(RemoteFlags):
    """What a status says of free tasks is not applied."""

    def _apply(self, status: Status) -> None:
        super()._apply(replace(status, free=frozenset()))


class SystemTaskInStatus(StatusTracker):
    """Statuses name the system task, -1, as well."""

    def _read(self, number: int) -> Status:
        status = super()._read(number)
        return replace(status, free=status.free | {-1})


class FailingOnSystemTask(RemoteFlags):
    """A task that is out of range ends the reading of a status; what follows is not applied."""

    def _apply(self, status: Status) -> None:
        if -1 not in status.blocked | status.free:
            super()._apply(status)


def _twins() -> Iterable[StatusTwin]:
    yield from _of_trackers()
    yield StatusTwin(
        "D4", "STORM-O9", "the sender believes every status, however old",
        "StormClientHandler: the id is never compared", view=BelievingAll)
    yield StatusTwin(
        "global-throttle", "STORM-O9", "a sender stops for all tasks as soon as one is backlogged",
        "Storm 1.x: one 'throttle' flag for the topology", view=GlobalThrottle)
    yield StatusTwin(
        "all-is-news", "STORM-O9", "the sender says of every status that it is news",
        "an answer that nobody looks at", view=SayingAllIsNews)
    yield StatusTwin(
        "D4-incarnation", "STORM-O9", "numbers are compared across restarts",
        "ids restart at 0 with the worker", view=OneIncarnation)
    yield StatusTwin(
        "STORM-3763", "STORM-O9", "the first status of a connection is ignored",
        "STORM-3763: sent before the handshake was over, and ignored", view=DeafDuringHandshake)
    yield StatusTwin(
        "STORM-3148-client", "STORM-O9", "the system task in a status ends the reading of it",
        "STORM-3148: an index out of bounds in the client aborts the rest of the status",
        tracker=SystemTaskInStatus, view=FailingOnSystemTask)
    yield StatusTwin(
        "forgetting", "STORM-O9", "flags are forgotten when the connection breaks",
        "a reconnecting sender floods a backlogged task", view=ForgettingOnDisconnect)
    yield StatusTwin(
        "STORM-2744", "STORM-O9", "OFF is not applied",
        "STORM-2744, STORM-1696: backpressure stays on", view=OnlyOn)


def _of_trackers() -> Iterable[StatusTwin]:
    rows: tuple[tuple[str, str, str, str, type[StatusTracker]], ...] = (
        ("STORM-3141", "STORM-O1", "only the first task is known to the tracker",
         "STORM-3141: tuples for an executor's other tasks", FirstTaskOnly),
        ("STORM-3141-review", "STORM-O1", "told at every spill but the first",
         "STORM-3141, in review: getAndSet without its negation", NotNegated),
        ("STORM-1087", "STORM-O1", "backpressure is never switched on",
         "STORM-1087: automatic backpressure stuck off", NeverOn),
        ("no-reminder", "STORM-O2", "ON is told once, and not again", "a lost ON stays lost",
         NoReminder),
        ("early-reminder", "STORM-O4", "the reminder comes one tuple early", ">= for >",
         EarlyReminder),
        ("PR-2502-review", "STORM-O1", "a flag is looked up, and set later",
         "storm#review-2502: a task is moved between two maps while the receiver writes",
         LookingInTwoMaps),
        ("put-last", "STORM-O6", "the tuple is put after its flag was set",
         "WorkerState.transferLocalBatch: ON is sent, then the tuple is put", MarkedBeforePut),
        ("STORM-3751", "STORM-O1", "a stray tuple ends the receiving thread",
         "STORM-3751: a tuple for a task that is no longer local", DyingOfStrays),
        ("strays", "STORM-O12", "a stray tuple makes its task a backlogged one",
         "a worker that answers for tasks it lost in a rebalance", TellingOfStrays),
        ("STORM-3148", "STORM-O5", "the system task is reported as backlogged",
         "STORM-3148: task -1 in a status, and the client fails on it", SystemTask),
        ("one-task", "STORM-O5", "a status names one backlogged task only",
         "a delta where a snapshot was promised", OneTaskAStatus),
        ("D6", "STORM-O8", "nothing is ever told again",
         "WorkerState.refreshBackPressureStatus; JStorm #404: a lost 'stop'", NeverRepeating),
        ("STORM-1949", "STORM-O8", "an OFF that was lost is not told again",
         "STORM-1949: the flag was changed before its writing had succeeded", NeverRepeatingOff),
        ("repeating", "STORM-O13", "the status is told at every check, changed or not",
         "a mutant of the repetition: each check for every n-th", RepeatingAlways),
        ("repeating-from-then-on", "STORM-O13", "once it was told again, it is at every check",
         "a count of checks that nobody sets back", RepeatingFromThenOn),
        ("silent-off", "STORM-O3", "OFF waits for the next repetition",
         "a sender that is held back for no reason", SilentOff),
        ("off-early", "STORM-O5", "OFF is told with one tuple left", "off by one", OffTooEarly),
        ("D4-number", "STORM-O10", "the number is taken after the flags were read",
         "BackPressureStatus's constructor", NumberedAfterReading),
        ("D5", "STORM-O10", "a new connection is added after its snapshot",
         "Server.authenticated", AddedAfterSnapshot),
        ("no-snapshot", "STORM-O7", "a new connection gets no snapshot",
         "a sender that waits for the next change", NoSnapshot),
    )
    return (StatusTwin(*row) for row in rows)


TWINS: Final[dict[str, StatusTwin]] = {twin.name: twin for twin in _twins()}
"""The twins by name; ``zoo:NAME`` is the target."""
