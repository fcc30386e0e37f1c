"""The suite ``awaits.permits``: no permit lost or doubled, and nobody asleep beside a free one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.errors import TargetError
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.permits import IN_TURN, OrderlyPermits, Permits
from ...ports.base import Message, Session, excerpt
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite, steps_of
from .port import PORT

__all__ = ["SUITE", "PermitsConversation"]

CALLS_MAX: Final = 12
"""Calls of acquire in one program."""

_ACTIONS: Final[Mapping[str, str]] = {
    "has": "woken", "cancelled": "cancelled", "released": "released"}
_WORDS: Final[Mapping[str, str]] = {
    "has": "{by} has a permit", "waits": "{by} waits", "cancelled": "{by} is cancelled",
    "released": "{by} has given its permit back"}


class PermitsConversation(PlainConversation):
    """One session. Calls are named c1, c2, … in the order in which they begin."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, PORT.name, {"capacity": capacity})
        self._states: list[str] = []        # by number of the call: waits, stopping, has, over

    # --- what makes sense ----------------------------------------------------------------

    def _in(self, *states: str) -> list[int]:
        return [number for number, state in enumerate(self._states) if state in states]

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "acquire":
            number = len(self._states)
            room = number < CALLS_MAX and len(self._in("waits", "stopping")) < STEPS_MAX
            return {"do": "acquire", "by": f"c{number + 1}"} if room else None
        if act.do in ("release", "interrupt"):
            which = self._in("has" if act.do == "release" else "waits")
            return {"do": act.do, "by": f"c{which[act.pick % len(which)] + 1}"} if which else None
        if act.do == "run":
            ready = self._in("waits", "stopping")
            return {"do": "run", "steps": steps_of(act)} if ready else None
        return {"do": act.do}

    # --- words ---------------------------------------------------------------------------

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "run":
            return f"run up to {counted(request['steps'], 'callback')}"
        words = {"acquire": "{by} acquires", "release": "{by} releases",
                 "interrupt": "{by} is told to stop", "locked": "is it locked",
                 "settle": "all runs that can run"}
        return words[request["do"]].format_map(request)

    # --- what is seen --------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "acquire":
            yield Answer("it has a permit", ("acquire_done", ()))
            yield Answer("it waits", ("acquire_waits", ()))
        elif do == "locked":
            yield Answer("yes", ("seen_locked", ()))
            yield Answer("no", ("seen_free", ()))
        elif do in ("run", "settle"):
            if do == "settle":
                yield Answer("nobody else is told anything", ("settled", ()))
            for number in self._in("waits", "stopping", "over"):
                call = (("call", number),)
                yield Answer(f"c{number + 1} has a permit", ("woken", call))
            for number in self._in("stopping"):
                call = (("call", number),)
                yield Answer(f"c{number + 1} is cancelled", ("cancelled", call))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "locked":
            return Seen((("seen_locked" if answer else "seen_free", ()),),
                        "yes" if answer else "no")
        steps: list[Step] = []
        if do == "interrupt":
            number = _number(request)
            self._states[number] = "stopping"
            steps.append(("stops", (("call", number),)))
        if do == "acquire":
            self._states.append("")
        steps += [self._step(request, event) for event in answer]
        told = [_WORDS[event["does"]].format_map(event) for event in answer]
        if do == "settle":
            steps.append(("settled", ()))
        return Seen(tuple(steps), "; ".join(told) or "nothing is to be seen")

    def _step(self, request: Message, event: Message) -> Step:
        number, does = _number(event), event["does"]
        if not 0 <= number < len(self._states):
            raise TargetError(
                f"the target reports {excerpt(event)}, and there is no such call",
                next_step="Mend the adapter: an event has the name that acquire gave.")
        begins = request["do"] == "acquire" and not self._states[number]
        self._states[number] = {"has": "has", "waits": "waits"}.get(does, "over")
        if begins and does in ("has", "waits"):
            return ("acquire_done" if does == "has" else "acquire_waits"), ()
        if does not in _ACTIONS:
            raise TargetError(
                f"the target reports {excerpt(event)}, though that call began earlier",
                next_step="Mend the adapter: a call waits once, when it begins.")
        return _ACTIONS[does], (("call", number),)


def _number(message: Message) -> int:
    """The number of the call that a request or an event names; -1 for a name of another form."""
    name = str(message["by"])
    return int(name[1:]) - 1 if name.startswith("c") and name[1:].isdecimal() else -1


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "K": CALLS_MAX, "W": STEPS_MAX}


_FIRST: Final = (Act("interrupt", 0),)
_HOLD: Final = ("acquire",)
_ALL: Final = (("acquire",), ("release",), ("settle",))

SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=1,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(Watch(Permits), Watch(OrderlyPermits, adds=IN_TURN, base=Permits)),
    weights={"acquire": 5, "release": 3, "interrupt": 3, "run": 4, "locked": 1, "settle": 1},
    needs={
        "PERMIT-2": (*_ALL, ("locked",)),
        "PERMIT-3": _ALL,
        "PERMIT-4": (*_ALL, ("interrupt",)),
        "PERMIT-5": (*_ALL, ("interrupt",)),
        "PERMIT-6": _ALL,
    },
    epilogue=(Act("settle"), Act("locked"), *(Act("release"),) * 3, Act("settle"), Act("locked"),
              Act("release"), Act("release"), Act("settle"), Act("locked")),
    constants=_constants,
    converse=PermitsConversation,
    scene="Permits for coroutines: {capacity}. Callbacks of their event loop run one by one.",
    courses={"PERMIT-4": ((*_HOLD * 5, "release", _FIRST, "settle"),)},
)
