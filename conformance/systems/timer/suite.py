"""The suite ``timer``: tasks are added, added anew, cancelled, and time passes."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....spec.kafka.observed_timer import Law, ObservedTimer
from ....spec.notation.errors import InputError
from ....spec.notation.rules import Rule
from ...ports.base import excerpt
from ...suites.besides import (
    asked, at_least, at_most, below, by_policy, given, looked_up, minus, plus, same, told,
    unequal, value,
)
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation
from ...suites.remembered import highest, kept, latest, those
from ...suites.says import ANY, Fields, Says, each, ends, on, one, over, says, table
from ...suites.suite import Act, Program, Suite, Watch

__all__ = ["DELAYS", "DRIVES", "START", "TASKS", "SUITE", "WAITS", "TimerConversation"]

TASKS: Final = 4
START: Final = 10
DELAYS: Final = (0, 1, 2, -3, 3, 4, 5, 9)
WAITS: Final = (1, 1, 1, 1, 2, 2, 2, 9)
"""Milliseconds: with wheels of two or three buckets they reach the fifth wheel.

Short waits come more often than long ones; a timer that starts at 10 starts in the middle of its
upper ticks. With a delay below 0 the deadline has passed: the observer gets a delay of 0.
"""
DRIVES: Final = (0, 1, 3, 9)
"""Milliseconds without driving the timer before it is driven once."""

TASKS_OF_LONG: Final = 24
DELAYS_OF_LONG: Final = (
    0, 1, 1, 2, 3, 5, 9, 9, 60, 60, 300, 1_000, 20_001, 65_535, 65_536, 65_537, 2**31 - 1, 2**31,
    2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 2**53 - 2**44 - 1)
WAITS_OF_LONG: Final = (1, 1, 1, 2, 2, 9, 9, 60, 300, 1_000, 30_000, 65_536, 2**31 + 7, 2**32 + 7)
"""Numbers of long programs: many tasks, often with the same deadline, and delays around the limits
of 16 and 32 bits. The longest ends before 2^53 ms, whenever it begins: no later instant is a
number in every language.
"""

DELAY_MAX: Final = max(*DELAYS_OF_LONG, *WAITS_OF_LONG)
"""The largest delay or wait, those of ``meeting`` included."""
TIMEOUT_MAX: Final = 2**31 - 1
"""The largest delay of setTimeout: the HTML standard uses a number of 32 bits."""

_ADDS: Final = [{"task": task, "delay": delay} for delay in DELAYS for task in range(TASKS)]
_ADDS_OF_LONG: Final = [
    {"task": task, "delay": delay} for delay in DELAYS_OF_LONG for task in range(TASKS_OF_LONG)]
_PICKS: Final = len(_ADDS)
"""Picks from here on are those of long programs."""
_PICKS_OF_LONG: Final[Mapping[str, tuple[int, ...]]] = {
    "add": tuple(range(_PICKS, _PICKS + TASKS_OF_LONG * len(DELAYS_OF_LONG))),
    "elapse": tuple(range(_PICKS, _PICKS + len(WAITS_OF_LONG))),
    **dict.fromkeys(("cancel", "fail"), tuple(range(_PICKS, _PICKS + TASKS_OF_LONG))),
}
_AMID: Final = ("add_amid", "cancel_amid", "add_two")
"""Operations in which two threads call the timer at once."""
_STEPS: Final = range(12)
_DELAYS_AMID: Final = (1, 2, 5)
_PICKS_AMID: Final = len(_STEPS) * TASKS * len(_DELAYS_AMID) * (TASKS - 1)
"""Values from which those pick: after how many steps the second comes, and delays."""
_WHEELS_MAX: Final = 60
"""More wheels than ``DELAY_MAX`` needs with two buckets each."""

_LAWS: Final[Mapping[str, Law]] = {
    "tick": Law.TICK, "deadline": Law.DEADLINE, "in-order": Law.IN_ORDER, "timeout": Law.TIMEOUT}
_LONGEST: Final = {**dict.fromkeys(_LAWS, DELAY_MAX), "timeout": TIMEOUT_MAX}
"""By policy, the longest delay that may be asked for."""


def _instants(talk: TimerConversation, request: Fields) -> Iterator[Fields]:
    first = talk.now + (request["do"] in ("elapse", "add_amid", "cancel_amid"))
    for task in range(max(TASKS, 1 + max(talk.asked_for, default=0))):
        # All instants in between would take longer to judge than the rest of a run.
        for at in sorted({first, talk.asked_for.get(task, first), request["now"]}):
            if first <= at <= request["now"]:
                yield {"task": task, "at": at}


_RAN: Final = "task {task} runs at {at} ms"
_RAN_OR_STRAY: Final = (
    over(_instants, says(ANY, "ran", _RAN, gives="task at", where="ours")),
    says(ANY, "stray", "", _RAN))
_REST: Final = ends("rest", "nothing more runs")
_RUNS: Final = each(*_RAN_OR_STRAY, _REST, nothing="nothing runs", joined=", ")
# A task that is cancelled while the timer runs may have run before; if not, it does not after that.
_RUNS_AND_CANCEL: Final = each(
    *_RAN_OR_STRAY, ends("cancel", ""), _REST, nothing="nothing runs", joined=", ")
_DUE: Final = one(says(ANY, "answered", "and {something} was due", gives="due"))
_QUEUED: Final = "{buckets} buckets queued, {wheels} wheels"


def _count(action: str) -> Says:
    return says(ANY, action, "{count}", gives="count",
                among=lambda talk, request: range(len(talk.asked_for) + 2))


def _queued(words: str, buckets: int, wheels: int) -> Says:
    return says(words, "queued", words,
                among=lambda talk, request: [{"buckets": buckets, "wheels": wheels}])


def _next_due(talk: TimerConversation, request: Fields) -> list[int]:
    """The next instant at which a task is due, if there is one soon."""
    due = [at for task, at in talk.asked_for.items()
           if task in talk.pending and talk.now < at <= talk.now + max(WAITS)]
    return sorted(due)[:1]


_LAPSE: Final = "time passes, to {now} ms; after step {steps} of the timer, another thread "
_IDLE: Final = those(range(TASKS), outside="pending")
_SHORT_WAITS: Final = WAITS * (_PICKS // len(WAITS))
_TASKS: Final = [each["task"] for each in _ADDS + _ADDS_OF_LONG]
_NOW: Final = {"now": value("now")}
_LATER: Final = {"now": plus("wait", "now")}
_ABOUT_A_TASK: Final = {**_NOW, "task": same("task")}
_DELAYED: Final = {"delay": same("delay")}


class TimerConversation(PlainConversation):
    """One session with a timer. Its policy is in ``can``, since rules depend on it."""

    starts = START
    now = highest("now", "add cancel elapse drive", first=START)
    asked_for = latest("due_at", "add", of="task")      # its last requested instant
    pending = kept("task", adds="add", drops="ran cancel", once=True)

    knows = (
        given("", law=by_policy(_LAWS)),
        asked("now", until=same("now")),
        asked("delay", due_at=plus("delay", "now")),
        told("task", ours=below("task", TASKS_OF_LONG)),
        told("due", something=looked_up("due", {True: "something", False: "nothing"})),
    )
    carries = {"add": {"task": same("task"), "delay": same("delay")},
               "elapse": {"wait": minus("now", "now")}}
    says = table(
        ObservedTimer,
        on("add", "at {now} ms add task {task}, delay {delay} ms", _RUNS, tells="add",
           picks={"": _ADDS + _ADDS_OF_LONG}, if_all=(
               below("task", TASKS_OF_LONG), at_least("delay", min(DELAYS)),
               at_most("delay", by_policy(_LONGEST))), sends=_ABOUT_A_TASK | _DELAYED),
        on("cancel", "at {now} ms cancel task {task}", _RUNS, tells="cancel",
           picks={"task": _TASKS}, sends=_ABOUT_A_TASK),
        on("elapse", "time passes, to {now} ms", _RUNS, tells="elapse",
           picks={"wait": _SHORT_WAITS + WAITS_OF_LONG}, sends=_LATER,
           if_all=(at_least("wait", 1), at_most("wait", max(WAITS_OF_LONG)))),
        on("add_amid", _LAPSE + "adds task {task}, delay {delay} ms", _RUNS, tells="elapse add",
           picks={"now": _next_due, "steps": _STEPS, "task": _IDLE, "delay": _DELAYS_AMID}),
        on("cancel_amid", _LAPSE + "cancels task {task}", _RUNS_AND_CANCEL, tells="elapse",
           picks={"now": _next_due, "steps": _STEPS, "task": "pending"}),
        on("add_two", "at {now} ms two threads add task {task}, delay {delay} ms, and, after step "
           "{steps} of the first, task {other}, delay 1 ms longer", _RUNS, tells="add", picks={
               "steps": _STEPS, "task": _IDLE, "delay": _DELAYS_AMID, "other": _IDLE},
           if_all=(unequal("other", same("task")),), sends=_ABOUT_A_TASK | _DELAYED | {
               "steps": same("steps"), "other": same("other")},
           second={**_NOW, "task": same("other"), "delay": plus("delay", 1)}),
        on("drive", "the timer is not driven until {now} ms", {"runs": _RUNS, "due": _DUE},
           tells="drive", picks={"wait": DRIVES}, sends=_LATER),
        on("fail", "task {task} will raise when it runs", says(True, "fail", "done"),
           picks={"task": _TASKS}, sends=_ABOUT_A_TASK),
        on("size", "at {now} ms size", _count("sized"), sends=_NOW),
        on("entries", "at {now} ms entries", _count("held"), sends=_NOW),
        on("queue", "at {now} ms queue",
           says(ANY, "queued", "", _QUEUED, gives="buckets wheels"),
           _queued("no more buckets and wheels than the delays need", 0, 1),
           _queued("a bucket too many", 1, 0), _queued("wheels too many", 0, _WHEELS_MAX),
           sends=_NOW),
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.can |= {self.policy}

    def act_for(self, request: Mapping[str, Any]) -> Act:
        """The act that makes this request; requests do not depend on earlier answers."""
        act = super().act_for(request)
        if act is None:
            raise InputError(f"{excerpt(dict(request))} is not a request that this suite sends")
        return act


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "wheel": max(2, capacity)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    # No time and no count of a program reaches these.
    instants = START + (items_max + 4) * max(WAITS_OF_LONG) + DELAY_MAX
    return {
        "u": capacity, "n": _settings(capacity)["wheel"], "K": TASKS_OF_LONG, "D": DELAY_MAX,
        "H": instants, "T": items_max + TASKS, "M": _WHEELS_MAX, "S": START,
    }


_MEETING_MAX: Final = 60
"""The longest delay of a meeting, if there is a choice."""


# --- programs in which two buckets expire together -----------------------------------------------

def meeting(draw: random.Random, capacity: int) -> Program:
    """Buckets of two wheels expire together, at ``meet``: one of an upper wheel, with a task for
    one round of the lowest wheel later, and one of the lowest, with a task that is due.

    The lowest wheel gets there because the clock advanced to the tick before.
    """
    tick, size = capacity, _settings(capacity)["wheel"]
    round_, coarse = tick * size, tick * size * size
    first = (START + 2 * coarse) // coarse * coarse     # beyond the reach of the second wheel
    meet = first + coarse * draw.randrange(3)
    if meet + round_ - START > _MEETING_MAX:
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
    """A suite with some constructed programs, for situations that are rare by chance."""

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """Explore, with some constructed programs for the rules in ``_BUILT``."""
        built = examples // 4 if focus.id in _BUILT else 0
        super().explore(can, focus, seed, examples - built, attempt)
        epilogue = tuple(act for act in self.epilogue if act.do in can)
        for number in range(built):
            draw = random.Random(f"{seed} {number}")
            attempt(meeting(draw, draw.choice(self.capacities)) + epilogue)


_BUILT: Final = ("KAFKA-W22", "KAFKA-W23")
_FROM_ABOVE: Final = tuple(
    task + TASKS * DELAYS.index(delay) for delay in (4, 9) for task in range(TASKS))
"""Adds that go through upper wheels, and meet others of them in a lower one as time passes."""
_LAST: Final = Act("add", TASKS * DELAYS.index(4))
"""A timer that has stopped before the end shows that only if a task is still pending."""

SUITE: Final = TimerSuite(
    name="timer",
    version=6,
    port="timer",
    watches=(Watch(ObservedTimer),),
    weights={"add": 6, "elapse": 4, "cancel": 2, "size": 1, "entries": 1, "queue": 1, "drive": 2,
             "fail": 1, "add_amid": 3, "cancel_amid": 3, "add_two": 3},
    own_picks=dict.fromkeys(_AMID, range(_PICKS_AMID)),
    epilogue=(Act("size"), Act("entries"), Act("queue"), *[Act("elapse", len(WAITS) - 1)] * 3,
              Act("size"), Act("entries"), _LAST, Act("elapse", len(WAITS) - 1)),
    constants=_constants,
    long=Long(fills=("add",), drains=("elapse", "cancel"), sizes=(20,), picks=_PICKS_OF_LONG),
    conversation=TimerConversation,
    settings=_settings,
    scene="A timer. Tick, if it has one: {capacity} ms; buckets of a wheel, if any: {wheel}.",
    favoured={"KAFKA-W29": ("add", "queue"), "KAFKA-W34": ("add", "cancel", "drive"),
              "KAFKA-W35": ("add", "fail", "elapse"), "KAFKA-W36": ("add", "drive"),
              "KAFKA-W22": ("add", "elapse"), "KAFKA-W23": ("add", "elapse")},
    favoured_picks={"KAFKA-W22": {"add": _FROM_ABOVE, "elapse": (0,)}},
    picks=_PICKS,
)
