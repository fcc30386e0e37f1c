"""The suite ``timer``: tasks are added, added anew, cancelled, and time passes."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....spec.kafka.observed_timer import Law, ObservedTimer
from ....spec.notation.errors import InputError
from ....spec.notation.interpreter import Step
from ....spec.notation.rules import Rule
from ...ports.base import Message, Session, excerpt, is_count
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Program, Suite, Watch

__all__ = ["DELAYS", "DRIVES", "START", "TASKS", "SUITE", "WAITS", "TimerConversation"]

TASKS: Final = 4
START: Final = 10
DELAYS: Final = (0, 1, 2, 2, 3, 4, 5, 9)
WAITS: Final = (1, 1, 1, 1, 2, 2, 2, 9)
"""Milliseconds: with wheels of two or three buckets they reach the fifth wheel. Short waits come
more often than long ones; a timer that starts at 10 starts in the middle of its upper ticks."""
DRIVES: Final = (0, 1, 3, 9)
"""For how long nobody drives the timer before it is driven once, in milliseconds."""
DELAY_MAX: Final = 60
"""Of any delay or wait, those of ``meeting`` included."""

_PICKS: Final = TASKS * len(DELAYS)
_WHEELS_MAX: Final = 12

_LAWS: Final[Mapping[str, Law]] = {
    "tick": Law.TICK, "deadline": Law.DEADLINE, "in-order": Law.IN_ORDER, "timeout": Law.TIMEOUT}


_IN_TURN: Final = ("ran", "stray", "rest")
"""What an answer shows one after the other: what ran, until nothing runs any more."""


class TimerConversation(PlainConversation):
    """One session with a timer. Its policy is among what it ``can``: rules depend on it."""

    acts = ("add", "cancel", "elapse", "drive")

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
        about = dict(act.about)
        if act.do == "add":
            delay = DELAYS[act.pick // TASKS % len(DELAYS)]
            return request | {"task": act.pick % TASKS, "delay": delay} | about
        if act.do in ("cancel", "fail"):
            return request | {"task": act.pick % TASKS}
        if act.do in ("elapse", "drive"):
            waits = WAITS if act.do == "elapse" else DRIVES
            wait = int(about.get("wait", waits[act.pick % len(waits)]))
            return request | {"now": self._now + wait}
        return request

    def act_for(self, request: Mapping[str, Any]) -> Act:
        """See ``Conversation``: what is asked for does not depend on the answers before."""
        act = super().act_for(request) or self._act_about(request)
        if act is None:
            raise InputError(f"{excerpt(dict(request))} is not what this suite would ask for here")
        return act

    def _act_about(self, request: Mapping[str, Any]) -> Act | None:
        """The act that says itself what it is about, as those of ``meeting`` do."""
        do = request["do"]
        told = ("now", "task", "delay") if do == "add" else ("now",)
        if not all(is_count(request.get(name)) for name in told):
            return None
        wait = request["now"] - self._now
        if do == "add" and wait == 0 and request["task"] < TASKS and (
                request["delay"] <= DELAY_MAX):
            return Act(do, about=(("task", request["task"]), ("delay", request["delay"])))
        if do == "elapse" and 0 < wait <= DELAY_MAX:
            return Act(do, about=(("wait", wait),))
        return None

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "elapse":
            return f"time passes, to {request['now']} ms"
        if request["do"] == "drive":
            return f"nobody drives the timer until {request['now']} ms"
        if request["do"] == "fail":
            return f"task {request['task']} will raise when it runs"
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
        elif do != "fail":
            first = self._now + 1 if do == "elapse" else self._now
            for task in range(TASKS):
                # All instants in between would take longer to judge than the rest of a run.
                for at in sorted({first, self._asked.get(task, first), request["now"]}):
                    if first <= at <= request["now"]:
                        yield Answer(f"task {task} runs at {at} ms", self._ran(task, at),
                                     instead_of=_IN_TURN)
            yield Answer("nothing runs any more", self._rest(), instead_of=_IN_TURN)
            if do == "drive":
                for due in (False, True):
                    yield Answer(_was_due(due), _answered(due), instead_of=("answered",))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do in ("size", "entries"):
            return Seen((_count(do, min(answer, self._counts_max)),), str(answer))
        if do == "queue":
            buckets, wheels = answer["buckets"], min(answer["wheels"], _WHEELS_MAX)
            step = _queued(min(buckets, self._wheel * _WHEELS_MAX), wheels)
            return Seen((step,), f"{buckets} buckets queued, {wheels} wheels")
        if do == "fail":
            return Seen((self._call(request),), "done")
        self._now = request["now"]
        if do == "add":
            self._asked[request["task"]] = self._now + request["delay"]
        runs = [(each["task"], each["at"])
                for each in (answer["runs"] if do == "drive" else answer)]
        words = ", ".join(f"task {task} runs at {at} ms" for task, at in runs) or "nothing runs"
        steps = [self._call(request), *(self._ran(*each) for each in runs), self._rest()]
        if do == "drive":
            steps.append(_answered(answer["due"]))
            words += f", {_was_due(answer['due'])}"
        return Seen(tuple(steps), words)

    def _call(self, request: Message) -> Step:
        if request["do"] in ("elapse", "drive"):
            return request["do"], (("until", request["now"]),)
        if request["do"] in ("cancel", "fail"):
            return request["do"], (("task", request["task"]),)
        return "add", (
            ("task", request["task"]), ("delay", request["delay"]), ("law", self._law))

    def _ran(self, task: int, at: int) -> Step:
        if task >= TASKS:
            return "stray", ()
        # What is beyond the machine's horizon is as wrong as the horizon.
        return "ran", (("task", task), ("at", min(at, self._horizon)), ("law", self._law))

    def _rest(self) -> Step:
        return "rest", (("law", self._law),)


def _answered(due: bool) -> Step:
    return "answered", (("due", int(due)),)


def _was_due(due: bool) -> str:
    return "and something was due" if due else "and nothing was due"


def _count(do: str, count: int) -> Step:
    return "sized" if do == "size" else "held", (("count", count),)


def _queued(buckets: int, wheels: int) -> Step:
    return "queued", (("buckets", buckets), ("wheels", wheels))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "wheel": max(2, capacity)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    # Whatever a program does, no time and no count reaches these.
    instants = START + (items_max + 4) * DELAY_MAX
    return {
        "u": capacity, "n": _settings(capacity)["wheel"], "K": TASKS, "D": DELAY_MAX,
        "H": instants, "T": items_max + TASKS, "M": _WHEELS_MAX, "S": START,
    }


# --- where two buckets expire together -----------------------------------------------------------

def meeting(draw: random.Random, capacity: int) -> Program:
    """Buckets of two wheels expire together, at ``meet``: one of an upper wheel, with a task for
    one round of the lowest wheel later, and one of the lowest, with a task that is due.

    The lowest wheel gets there because the clock was moved to the tick before.
    """
    tick, size = capacity, _settings(capacity)["wheel"]
    round_, coarse = tick * size, tick * size * size
    first = (START + 2 * coarse) // coarse * coarse     # beyond the reach of the second wheel
    meet = first + coarse * draw.randrange(3)
    if meet + round_ - START > DELAY_MAX:
        meet = first
    before = meet - tick
    later, helper, due = draw.sample(range(TASKS), 3)
    early = draw.randrange(tick)
    return (
        _add(later, meet + round_ - START), _add(helper, before - START),
        Act("elapse", about=(("wait", before - START + early),)), _add(due, tick - early),
        Act("elapse", about=(("wait", tick - early),)), Act("elapse", about=(("wait", round_),)),
    )


def _add(task: int, delay: int) -> Act:
    return Act("add", about=(("task", task), ("delay", delay)))


@dataclass(frozen=True)
class TimerSuite(Suite):
    """A suite some of whose programs are built: what they need to happen is rare by chance."""

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """See ``AnySuite``."""
        built = examples // 4 if focus.id in _BUILT else 0
        super().explore(can, focus, seed, examples - built, attempt)
        epilogue = tuple(act for act in self.epilogue if act.do in can)
        for number in range(built):
            draw = random.Random(f"{seed} {number}")
            attempt(meeting(draw, draw.choice(self.capacities)) + epilogue)


_BUILT: Final = ("KAFKA-W22", "KAFKA-W23")
_TO_RUN: Final = (("add",), ("elapse",))
_EXACT: Final = ("deadline", "in-order", "timeout")
_FROM_ABOVE: Final = tuple(
    task + TASKS * DELAYS.index(delay) for delay in (4, 9) for task in range(TASKS))
"""Adds that go through upper wheels, and meet others of them in a lower one as time passes."""

SUITE: Final = TimerSuite(
    name="timer",
    version=2,
    port="timer",
    watches=(Watch(ObservedTimer),),
    weights={"add": 6, "elapse": 4, "cancel": 2, "size": 1, "entries": 1, "queue": 1, "drive": 2,
             "fail": 1},
    needs={
        "KAFKA-W1": _TO_RUN,
        "KAFKA-W1C": (*_TO_RUN, ("cancel",)),
        "KAFKA-W22": (*_TO_RUN, ("tick",)),
        "KAFKA-W23": (*_TO_RUN, ("tick",)),
        "KAFKA-W24": (*_TO_RUN, _EXACT),
        "KAFKA-W25": (*_TO_RUN, _EXACT),
        "KAFKA-W26": (("add",), ("timeout",)),
        "KAFKA-W27": (*_TO_RUN, ("in-order", "timeout")),
        "KAFKA-W2": (("add",), ("size",)),
        "KAFKA-W29": (("add",), ("queue",)),
        "KAFKA-W30": (("add",), ("queue",)),
        "KAFKA-W31": (("add",), ("entries",)),
        "KAFKA-W34": (("add",), ("drive",)),
        "KAFKA-W35": (*_TO_RUN, ("fail",)),
    },
    epilogue=(Act("size"), Act("entries"), Act("queue"), *[Act("elapse", len(WAITS) - 1)] * 3,
              Act("size"), Act("entries")),
    constants=_constants,
    converse=TimerConversation,
    settings=_settings,
    scene="A timer. Tick, if it has one: {capacity} ms; buckets of a wheel, if any: {wheel}.",
    favoured={"KAFKA-W29": ("add", "queue"), "KAFKA-W34": ("add", "cancel", "drive"),
              "KAFKA-W35": ("add", "fail", "elapse"), "KAFKA-W36": ("add", "drive"),
              "KAFKA-W22": ("add", "elapse"), "KAFKA-W23": ("add", "elapse")},
    favoured_picks={"KAFKA-W22": {"add": _FROM_ABOVE, "elapse": (0,)}},
    picks=_PICKS,
)
