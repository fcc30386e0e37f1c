"""The suite ``timer``: tasks are added, added anew, cancelled, and time passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ...spec.engines.interpreter import Step
from ...spec.kafka.observed_timer import Law, ObservedTimer
from ...spec.notation.errors import InputError
from ..ports.base import Message, Session, excerpt
from .plain import PlainConversation, Seen
from .suite import Act, Answer, Exchange, Suite, Watch

__all__ = ["DELAYS", "START", "TASKS", "TIMER_SUITE", "WAITS", "TimerConversation"]

TASKS: Final = 4
START: Final = 10
DELAYS: Final = (0, 1, 2, 2, 3, 4, 5, 9)
WAITS: Final = (1, 1, 1, 1, 2, 2, 2, 9)
"""Milliseconds: with wheels of two or three buckets they reach the fifth wheel. Short waits come
more often than long ones; a timer that starts at 10 starts in the middle of its upper ticks."""

_PICKS: Final = TASKS * len(DELAYS)
_WHEELS_MAX: Final = 12

_LAWS: Final[Mapping[str, Law]] = {
    "tick": Law.TICK, "deadline": Law.DEADLINE, "in-order": Law.IN_ORDER, "timeout": Law.TIMEOUT}


class TimerConversation(PlainConversation):
    """One session with a timer. Its policy is among what it ``can``: rules depend on it."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "timer", _settings(capacity), START)
        self._law = _LAWS[self.policy]
        self.can = self.can | {self.policy}
        self._now = START
        self._asked: dict[int, int] = {}    # by task, when it was asked for last
        self._horizon = _constants(capacity, items_max)["H"]
        self._counts_max = _constants(capacity, items_max)["T"]
        self._wheel = _settings(capacity)["wheel"]

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        request: Message = {"do": act.do, "now": self._now}
        if act.do == "add":
            delay = DELAYS[act.pick // TASKS % len(DELAYS)]
            return request | {"task": act.pick % TASKS, "delay": delay}
        if act.do == "cancel":
            return request | {"task": act.pick % TASKS}
        if act.do == "elapse":
            return request | {"now": self._now + WAITS[act.pick % len(WAITS)]}
        return request

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``: what could be otherwise is what runs, not what is asked for."""
        exchange = super().say(act)
        if act.do in ("add", "cancel", "elapse"):
            return replace(exchange, possible=(), completions=exchange.possible)
        return exchange

    def act_for(self, request: Mapping[str, Any]) -> Act:
        """See ``Conversation``: what is asked for does not depend on the answers before."""
        act = super().act_for(request)
        if act is None:
            raise InputError(f"{excerpt(dict(request))} is not what this suite would ask for here")
        return act

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "elapse":
            return f"time passes, to {request['now']} ms"
        task = f" task {request['task']}" if "task" in request else ""
        delay = f", delay {request['delay']} ms" if "delay" in request else ""
        return f"at {request['now']} ms {request['do']}{task}{delay}"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        do = request["do"]
        if do in ("size", "entries"):
            for count in range(TASKS + 2):
                yield Answer(str(count), _count(do, count))
        elif do == "queue":
            yield Answer("no more buckets and wheels than the delays need", _queued(0, 1))
            yield Answer("a bucket too many", _queued(1, 0))
            yield Answer("wheels too many", _queued(0, _WHEELS_MAX))
        else:
            first = self._now + 1 if do == "elapse" else self._now
            for task in range(TASKS):
                # All instants in between would take longer to judge than the rest of a run.
                for at in sorted({first, self._asked.get(task, first), request["now"]}):
                    if first <= at <= request["now"]:
                        yield Answer(f"task {task} runs at {at} ms", self._ran(task, at))
            yield Answer("nothing runs any more", self._rest())

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do in ("size", "entries"):
            return Seen((_count(do, min(answer, self._counts_max)),), str(answer))
        if do == "queue":
            buckets, wheels = answer["buckets"], min(answer["wheels"], _WHEELS_MAX)
            step = _queued(min(buckets, self._wheel * _WHEELS_MAX), wheels)
            return Seen((step,), f"{buckets} buckets queued, {wheels} wheels")
        self._now = request["now"]
        if do == "add":
            self._asked[request["task"]] = self._now + request["delay"]
        runs = [(each["task"], each["at"]) for each in answer]
        words = ", ".join(f"task {task} runs at {at} ms" for task, at in runs)
        steps = [self._call(request), *(self._ran(*each) for each in runs), self._rest()]
        return Seen(tuple(steps), words or "nothing runs")

    def _call(self, request: Message) -> Step:
        if request["do"] == "elapse":
            return "elapse", (("until", request["now"]),)
        if request["do"] == "cancel":
            return "cancel", (("task", request["task"]),)
        return "add", (
            ("task", request["task"]), ("delay", request["delay"]), ("law", self._law))

    def _ran(self, task: int, at: int) -> Step:
        if task >= TASKS:
            return "stray", ()
        # What is beyond the machine's horizon is as wrong as the horizon.
        return "ran", (("task", task), ("at", min(at, self._horizon)), ("law", self._law))

    def _rest(self) -> Step:
        return "rest", (("law", self._law),)


def _count(do: str, count: int) -> Step:
    return "sized" if do == "size" else "held", (("count", count),)


def _queued(buckets: int, wheels: int) -> Step:
    return "queued", (("buckets", buckets), ("wheels", wheels))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "wheel": max(2, capacity)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    # Whatever a program does, no time and no count reaches these.
    instants = START + (items_max + 2) * max(WAITS) + 2 * max(DELAYS)
    return {
        "u": capacity, "n": _settings(capacity)["wheel"], "K": TASKS, "D": max(DELAYS),
        "H": instants, "T": items_max + TASKS, "M": _WHEELS_MAX, "S": START,
    }


_TO_RUN: Final = (("add",), ("elapse",))
_EXACT: Final = ("deadline", "in-order", "timeout")


def _add(task: int, *delays: int) -> tuple[Act, ...]:
    """One of some delays for a task."""
    return tuple(Act("add", task + TASKS * DELAYS.index(delay)) for delay in delays)


def _elapse(*waits: int) -> tuple[Act, ...]:
    return tuple(Act("elapse", WAITS.index(wait)) for wait in waits)


_FROM_ABOVE: Final = tuple(
    act.pick for delay in (4, 9) for task in range(TASKS) for act in _add(task, delay))
"""Adds that go through upper wheels, and meet others of them in a lower one as time passes."""

_MEETING: Final = (
    *(act for task in range(TASKS - 1) for act in (_add(task, 5, 9, 9), _elapse(1))),
    *(_add(TASKS - 1, 1, 2, 3), _elapse(1, 2)) * 4)
"""Tasks enter an upper wheel at each instant; while they come down, one after the other is added
to the lowest: buckets of several wheels expire at the same instant, with tasks in each."""

TIMER_SUITE: Final = Suite(
    name="timer",
    version=1,
    port="timer",
    watches=(Watch(ObservedTimer),),
    weights={"add": 6, "elapse": 4, "cancel": 2, "size": 1, "entries": 1, "queue": 1},
    needs={
        "KAFKA-W20": _TO_RUN,
        "KAFKA-W21": (*_TO_RUN, ("cancel",)),
        "KAFKA-W22": (*_TO_RUN, ("tick",)),
        "KAFKA-W23": (*_TO_RUN, ("tick",)),
        "KAFKA-W24": (*_TO_RUN, _EXACT),
        "KAFKA-W25": (*_TO_RUN, _EXACT),
        "KAFKA-W26": (("add",), ("timeout",)),
        "KAFKA-W27": (*_TO_RUN, ("in-order", "timeout")),
        "KAFKA-W28": (("add",), ("size",)),
        "KAFKA-W29": (("add",), ("queue",)),
        "KAFKA-W30": (("add",), ("queue",)),
        "KAFKA-W31": (("add",), ("entries",)),
    },
    epilogue=(Act("size"), Act("entries"), Act("queue"), *[Act("elapse", len(WAITS) - 1)] * 3,
              Act("size"), Act("entries")),
    constants=_constants,
    converse=TimerConversation,
    settings=_settings,
    scene="A timer. Tick, if it has one: {capacity} ms; buckets of a wheel, if any: {wheel}.",
    # Of wheels of three the upper ones take longer than a program lasts.
    telling={"KAFKA-W22": (1, 2, 2, 3)},
    courses={"KAFKA-W22": (_MEETING,)},
    favoured={"KAFKA-W29": ("add", "queue"), "KAFKA-W22": ("add", "elapse"),
              "KAFKA-W23": ("add", "elapse")},
    favoured_picks={"KAFKA-W22": {"add": _FROM_ABOVE, "elapse": (0,)}},
    picks=_PICKS,
)
