"""The suite ``awaits.condition``: no notification lost, and no wait that ends without its lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.errors import TargetError
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.conditions import NOT_MORE, ConditionVariable, FrugalCondition
from ...ports.base import Message, Session, excerpt
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite, steps_of
from .port import PORT

__all__ = ["SUITE", "ConditionConversation"]

CALLS_MAX: Final = 12
"""Calls of wait in one program."""
COUNT_MAX: Final = 2
"""Sleepers that one call of notify wakes."""

_ACTIONS: Final[Mapping[str, str]] = {
    "goes on": "goes_on", "cancelled": "is_cancelled", "left": "leaves",
    "has no lock": "has_no_lock"}
_STATES: Final[Mapping[str, str]] = {"sleeps": "asleep", "goes on": "inside"}
_UNDER_WAY: Final = ("begun", "asleep", "stopping")


class ConditionConversation(PlainConversation):
    """One session. Waits are named c1, c2, … and notifiers n1, n2, … as they begin."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, PORT.name, {"capacity": capacity})
        self._states: dict[str, str] = {}       # begun, asleep, stopping, inside, over
        self._numbers: dict[str, int] = {}      # of the waits, as they went to sleep
        self._counts: dict[str, int] = {}       # of the notifiers that have not notified

    # --- what makes sense ----------------------------------------------------------------

    def _in(self, *states: str) -> list[str]:
        return [name for name, state in self._states.items() if state in states]

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "wait":
            number = sum(name.startswith("c") for name in self._states)
            room = number < CALLS_MAX and len(self._in(*_UNDER_WAY)) < STEPS_MAX
            return {"do": "wait", "by": f"c{number + 1}"} if room else None
        if act.do == "notify":
            if len(self._counts) >= COUNT_MAX:
                return None
            number = sum(name.startswith("n") for name in self._states)
            return {"do": "notify", "by": f"n{number + 1}", "count": 1 + act.pick % COUNT_MAX}
        if act.do in ("leave", "interrupt"):
            which = self._in("inside" if act.do == "leave" else "asleep")
            return {"do": act.do, "by": which[act.pick % len(which)]} if which else None
        if act.do == "run":
            ready = self._counts or self._in(*_UNDER_WAY)
            return {"do": "run", "steps": steps_of(act)} if ready else None
        return {"do": act.do}

    # --- words ---------------------------------------------------------------------------

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "run":
            return f"run up to {counted(request['steps'], 'callback')}"
        words = {"wait": "{by} waits", "notify": "{by} notifies {count}",
                 "leave": "{by} gives the lock back", "interrupt": "{by} is told to stop",
                 "settle": "all runs that can run"}
        return words[request["do"]].format_map(request)

    # --- what is seen --------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "settle":
            yield Answer("nothing else happens", ("settled", ()))
        if do in ("run", "settle"):
            for name in self._in("asleep", "stopping"):
                call = (("call", self._numbers[name]),)
                yield Answer(f"{name} goes on", ("goes_on", call))
                yield Answer(f"{name} ends without the lock", ("has_no_lock", call),
                             instead_of=("is_cancelled",))
            for name in self._in("stopping"):
                call = (("call", self._numbers[name]),)
                yield Answer(f"{name} is cancelled", ("is_cancelled", call))
        if do in ("notify", "wait"):
            yield Answer("it has the lock", ("notifies", (("count", 0),)))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        steps: list[Step] = []
        if do in ("wait", "notify"):
            self._states[request["by"]] = "begun"
        if do == "notify":
            self._counts[request["by"]] = request["count"]
        if do == "interrupt":
            self._states[request["by"]] = "stopping"
            steps.append(("stops", (("call", self._numbers[request["by"]]),)))
        steps += [self._step(event) for event in answer]
        told = [f"{event['by']} {_words(event['does'])}" for event in answer]
        if do == "settle":
            steps.append(("settled", ()))
        return Seen(tuple(steps), "; ".join(told) or "nothing is to be seen")

    def _step(self, event: Message) -> Step:
        name, does = event["by"], event["does"]
        if does == "notifies" and name in self._counts:
            self._states[name] = "over"
            return "notifies", (("count", self._counts.pop(name) - 1),)
        if does == "sleeps" and self._states.get(name) == "begun":
            self._states[name] = "asleep"
            self._numbers[name] = len(self._numbers)
            return "sleeps", ()
        if does in _ACTIONS and name in self._numbers:
            self._states[name] = _STATES.get(does, "over")
            return _ACTIONS[does], (("call", self._numbers[name]),)
        raise TargetError(
            f"the target reports {excerpt(event)}, which cannot be of that call",
            next_step="Mend the adapter: a wait sleeps once, and a notifier notifies once.")


def _words(does: str) -> str:
    return {"cancelled": "is cancelled, with the lock", "left": "has given the lock back"}.get(
        does, does)


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": CALLS_MAX, "N": COUNT_MAX}


_FIRST: Final = (Act("interrupt", 0),)
_ONE: Final = (Act("notify", 0),)
_SLEEP: Final = ("wait", "wait", "settle")
_ALL: Final = (("wait",), ("notify",), ("leave",), ("run",), ("settle",))

SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=1,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(
        Watch(ConditionVariable),
        Watch(FrugalCondition, adds=NOT_MORE, base=ConditionVariable),
    ),
    weights={"wait": 5, "notify": 3, "leave": 3, "interrupt": 3, "run": 4, "settle": 1},
    needs={
        "COND-1": _ALL, "COND-2": (*_ALL, ("interrupt",)), "COND-3": _ALL,
        "COND-4": (*_ALL, ("interrupt",)), "COND-5": (*_ALL, ("interrupt",)), "COND-6": _ALL,
    },
    epilogue=(Act("settle"), *(Act("leave"), Act("settle")) * 3),
    constants=_constants,
    converse=ConditionConversation,
    capacities=(1,),
    scene="A condition variable for coroutines. Callbacks of their event loop run one by one.",
    courses={
        "COND-2": (
            (*_SLEEP, (Act("notify", 1),), "run", "run", _FIRST, "run", _FIRST, "leave",
             "settle"),),
        "COND-4": ((*_SLEEP, _ONE, _FIRST, "settle"), (*_SLEEP, _ONE, "run", _FIRST, "settle")),
    },
)
