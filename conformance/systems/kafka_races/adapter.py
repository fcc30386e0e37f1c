"""The reference timer and purgatory under the controlled scheduler: the port ``kafka.races``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from typing import Any, ClassVar, Final, TypeVar

from ....reference.drivers.schedules.scheduling import Scheduler, SchedulingMisuse, Standing, Task
from ....reference.kafka import (
    delay_queue, delayed_operation, owners, purgatory, timer, timing_wheel, watcher_lists,
)
from ....reference.kafka.delayed_operation import DelayedOperation
from ....reference.kafka.owners import Group, Partition
from ....reference.kafka.purgatory import PURGE_INTERVAL, Purgatory
from ....reference.kafka.timer import Timer, TimerTask
from ....reference.kafka.timing_wheel import WHEEL_SIZE_MAX, TimingWheel
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from ..timer.adapter import PlannedError
from .port import CALLS, PORT

__all__ = ["HARNESS", "Bench", "Kit", "ReferenceRaces"]

R = TypeVar("R")

HARNESS: Final = "harness"
"""The name of the thread that makes the calls of ``perform``."""

STEPS_MAX: Final = 50_000
"""Steps of all threads in a session: a long program takes some 20,000, and a loop has no end."""

_MODULES = tuple(module.__name__ for module in (
    delay_queue, delayed_operation, owners, purgatory, timer, timing_wheel, watcher_lists))


@dataclass(frozen=True, slots=True)
class Kit:
    """The classes under test, which a twin replaces."""

    timer: type[Timer] = Timer
    purgatory: type[Purgatory] = Purgatory
    operation: type[DelayedOperation] = DelayedOperation
    task: type[TimerTask] = TimerTask
    group: type[Group] = Group
    partition: type[Partition] = Partition

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules with lines that are steps."""
        own = (getattr(self, field.name).__module__ for field in fields(self))
        return tuple(dict.fromkeys((*_MODULES, *own)))


class Bench:
    """A fresh kit, the threads that use it, and the log of their actions.

    It is created under a scheduler and uses its locks; ``events`` grows as threads run.
    """

    def __init__(
        self, kit: Kit, scheduler: Scheduler, wheel_size: int, purge_interval: int,
    ) -> None:
        self.events: list[Message] = []
        self._kit = kit
        self._scheduler = scheduler
        # The factory reaches every wheel, so it carries the callback for new ones.
        lock: Any = partial(scheduler.lock)
        lock.made = lambda tick: self.note("makes wheel", tick=tick)
        timer: Any = kit.timer      # mypy does not accept a class of these as hashable
        self._timer: Timer = _observed(timer)(1, wheel_size, 0, lock=lock)
        self._purgatory = kit.purgatory(
            purge_interval, timer=self._timer, lock=lock, shards=1)
        self._group = kit.group(lock("the group's lock"), self._tell)
        self._partition = kit.partition(
            scheduler.shared_lock("the partition's lock"), self._tell)
        self._requests: dict[str, DelayedOperation] = {}
        self._tasks: dict[str, TimerTask] = {}
        self._true: set[str] = set()        # ready requests that have no owner
        self._telling: dict[str, str] = {}

    # --- observations --------------------------------------------------------------------

    def note(self, does: str, **more: object) -> None:
        """Log an event of the running thread."""
        running = self._scheduler.running
        name = HARNESS if running is None else running.name
        self.events.append({"thread": name, "does": does, **more})

    def size(self) -> int:
        """The number of entries that the timer counts."""
        return self._timer.size

    def keys(self) -> int:
        """The number of keys with a watcher list."""
        return len(self._purgatory.lists.keys)

    # --- calls ---------------------------------------------------------------------------

    def body(self, calls: Sequence[Mapping[str, Any]]) -> Callable[[], None]:
        """The function of a thread that makes these calls."""
        def run() -> None:
            for call in calls:
                try:
                    _CALLS[call["call"]](self, call)
                except SchedulingMisuse:
                    raise
                except Exception as error:      # noqa: BLE001 a twin may raise anything
                    self.note("fails", error=type(error).__name__)
                    return
        return run

    def _logged(self, call: str, action: Callable[[], object], **more: object) -> None:
        self.note("calls", call=call, **more)
        with suppress(PlannedError):
            action()
        self.note("returns", call=call, **more)

    def _watch(self, call: Mapping[str, Any]) -> None:
        name, now = call["request"], call["now"]
        request = self._request(call)

        def watch() -> bool:
            return self._purgatory.try_complete_else_watch(request, call["keys"], now)
        if call.get("under"):
            self._logged("watch", lambda: self._group.join(watch), request=name)
        else:
            self._logged("watch", watch, request=name)

    def _request(self, call: Mapping[str, Any]) -> DelayedOperation:
        name, owner = call["request"], call.get("of", "")
        owned = {"group": self._group.is_ready, "partition": self._partition.is_ready}
        is_ready = owned.get(owner, self._true.__contains__)
        mutex = self._group.lock if call.get("locked_by") == "group" else None
        operation: Any = self._kit.operation
        made: DelayedOperation = _request_of(operation)(
            call["timeout"], self._scheduler.lock, mutex, self, name, is_ready)
        made.raises = bool(call.get("raises"))      # type: ignore[attr-defined]
        self._requests[name] = made
        return made

    def _add(self, call: Mapping[str, Any]) -> None:
        kind: Any = self._kit.task
        task: TimerTask = _task_of(kind)(
            call["delay"], self._scheduler.lock, self, call["task"])
        self._tasks[call["task"]] = task
        self._logged("add", lambda: self._timer.add(task, call["now"]), request=call["task"])

    def _ready(self, call: Mapping[str, Any]) -> None:
        name = call["request"]
        self._logged("ready", lambda: self._true.add(name), request=name)

    def _check(self, call: Mapping[str, Any]) -> None:
        self._tell(call["key"])

    def _force(self, call: Mapping[str, Any]) -> None:
        request = self._requests[call["request"]]
        self._logged("force", request.force_complete, request=call["request"])

    def _cancel(self, call: Mapping[str, Any]) -> None:
        self._logged("cancel", self._tasks[call["task"]].cancel, request=call["task"])

    def _advance(self, call: Mapping[str, Any]) -> None:
        self._logged("advance", lambda: self._purgatory.advance(call["to"]), to=call["to"])

    # --- owners --------------------------------------------------------------------------

    def _change(self, call: Mapping[str, Any]) -> None:
        self._owners_event(self._group.change, call)

    def _append(self, call: Mapping[str, Any]) -> None:
        self._owners_event(self._partition.append, call)

    def _owners_event(self, event: Callable[[str, str], int], call: Mapping[str, Any]) -> None:
        self.note("calls", call="ready", request=call["request"])
        self._telling[self._name()] = call["request"]
        event(call["request"], call["key"])

    def _tell(self, key: Any) -> int:
        """An owner reports an event to the purgatory: its request has become ready by now."""
        request = self._telling.pop(self._name(), None)
        if request is not None:
            self.note("returns", call="ready", request=request)
        self.note("calls", call="check", key=key)
        count = 0
        with suppress(PlannedError):
            count = self._purgatory.check_and_complete(key)
        self.note("returns", call="check", key=key, completed=count)
        return count

    def _elect(self, call: Mapping[str, Any]) -> None:
        self._logged("elect", self._partition.elect)

    def _heartbeat(self, call: Mapping[str, Any]) -> None:
        self._logged("heartbeat", self._group.heartbeat)

    def _name(self) -> str:
        running = self._scheduler.running
        return HARNESS if running is None else running.name


_CALLS: Final[Mapping[str, Callable[[Bench, Mapping[str, Any]], None]]] = {
    name: getattr(Bench, f"_{name}") for name in CALLS}


@lru_cache(maxsize=64)
def _observed(timer: Any) -> Any:
    """The timer's class; its lock factory is notified of each overflow wheel, with its tick."""
    wheel = timer.wheel

    def init(self: TimingWheel, tick: int, *rest: Any) -> None:
        if tick > 1:
            rest[-1].made(tick)
        wheel.__init__(self, tick, *rest)

    kind = type("ObservedWheel", (wheel,), {"__slots__": (), "__init__": init})
    return type("ObservedTimer", (timer,), {"__slots__": (), "wheel": kind})


@lru_cache(maxsize=64)
def _request_of(operation: Any) -> Any:
    """A request with callbacks that are logged, over a kit's own operation."""
    def init(self: Any, delay: int, lock: Any, mutex: Any, bench: Bench, name: str,
             is_ready: Callable[[str], bool]) -> None:
        operation.__init__(self, delay, lock, mutex)
        self.bench, self.name, self.is_ready = bench, name, is_ready

    def try_complete(self: Any) -> bool:
        return bool(self.is_ready(self.name)) and self.force_complete()

    def on_complete(self: Any) -> None:
        self.bench.note("completes", request=self.name)
        if self.raises:
            raise PlannedError

    def on_expiration(self: Any) -> None:
        self.bench.note("expires", request=self.name)

    def run(self: Any) -> None:
        self.bench.note("runs", request=self.name)
        operation.run(self)

    return type("Request", (operation,), {
        "__slots__": ("bench", "is_ready", "name", "raises"), "__init__": init, "run": run,
        "try_complete": try_complete, "on_complete": on_complete,
        "on_expiration": on_expiration})


@lru_cache(maxsize=64)
def _task_of(task: Any) -> Any:
    """A task that logs when it runs."""
    def init(self: Any, delay: int, lock: Any, bench: Bench, name: str) -> None:
        task.__init__(self, delay, lock)
        self.bench, self.name = bench, name

    def run(self: Any) -> None:
        self.bench.note("runs", request=self.name)

    return type("Task", (task,), {"__slots__": ("bench", "name"), "__init__": init, "run": run})


class ReferenceRaces(PortAdapter):
    """The reference under a controlled scheduler; twins replace ``kit``."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "steps"
    name = "reference races"
    kit: Kit = Kit()

    def __init__(self) -> None:
        self._scheduler: Scheduler | None = None

    def start(self, settings: Mapping[str, Any]) -> None:
        """A new scheduler and bench for these settings; declined for an unsupported wheel size."""
        if not 2 <= settings["buckets"] <= WHEEL_SIZE_MAX:
            raise Declined("unsupported-capacity")
        self.close()
        self._scheduler = Scheduler(self.kit.modules, steps_max=STEPS_MAX)
        self._bench = Bench(
            self.kit, self._scheduler, settings["buckets"], settings.get("purge", PURGE_INTERVAL))
        self._threads: dict[str, Task] = {}
        self._told = 0

    def close(self) -> None:
        """End all threads of the session."""
        if self._scheduler is not None:
            self._scheduler.close()
            self._scheduler = None

    def perform(self, calls: list[Message]) -> Message:
        """Make calls while no thread is under way."""
        scheduler = self._under_way()
        if any(not task.done for task in scheduler.tasks):
            raise Declined("threads-under-way")
        self._call(self._bench.body(calls))
        return self._rest(())

    def spawn(self, thread: str, calls: list[Message]) -> bool:
        """Create a thread, which takes no step yet."""
        if thread in self._threads or thread == HARNESS:
            raise Declined("name-in-use")
        self._threads[thread] = self._under_way().spawn(thread, self._bench.body(calls))
        return True

    def run(self, thread: str, steps: int) -> Message:
        """Let a thread take some steps."""
        task = self._threads.get(thread)
        if task is None or task.done:
            raise Declined("no-such-thread")
        standing = self._call(lambda: self._under_way().run(task, steps))
        return {"events": self._news(), "standing": _plain(standing)}

    def settle(self) -> Message:    # type: ignore[override]
        """Let all threads run to their end, or into a deadlock."""
        scheduler = self._under_way()
        self._call(scheduler.settle)
        return self._rest(scheduler.deadlock())

    def _under_way(self) -> Scheduler:
        assert self._scheduler is not None, "hello is the first request"
        return self._scheduler

    def _call(self, action: Callable[[], R]) -> R:
        try:
            return action()
        except SchedulingMisuse as misuse:
            raise Declined(str(misuse)[:200], definite=False) from None

    def _news(self) -> list[Message]:
        news = self._bench.events[self._told:]
        self._told = len(self._bench.events)
        return news

    def _rest(self, stuck: Sequence[Standing]) -> Message:
        size, keys = (0, 0) if stuck else (self._bench.size(), self._bench.keys())
        return {"events": self._news(), "stuck": [_plain(each) for each in stuck],
                "size": size, "keys": keys}


def _plain(standing: Standing) -> Message:
    return {"thread": standing.task, "at": standing.at, "text": standing.text,
            "waits_for": standing.waits_for, "held_by": list(standing.held_by),
            "done": standing.done}
